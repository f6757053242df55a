//! `var_axis` and `std_axis`.

use ndarray::{Array, ArrayRef, ArrayViewMut, Axis, Dimension, RemoveAxis, Zip};

use super::operation::{Kept, Operation, operation};
use super::spare::Spare;
use super::{Entry, Rank};
use crate::function::{Args, ConstVal, Cotangent, Gradients, Ref, Shadows, Val};
use crate::heap::heap_size;
use crate::shadow::{Accumulate, ArrayCells, Shadow};

/// What is kept from call to call.
pub struct Memory<T> {
    spare: Spare<T>,
    /// One number for each lane.
    means: Vec<T>,
    /// Variances, and then what they and the gradients make.
    factors: Vec<T>,
}

impl<T> Default for Memory<T> {
    fn default() -> Self {
        Memory { spare: Spare::default(), means: Vec::new(), factors: Vec::new() }
    }
}

heap_size! { [T: Entry] Memory<T> { spare, means, factors } }

impl<T: Entry> Kept for Memory<T> {
    fn once() -> Self {
        Memory { spare: Spare::once(), ..Memory::default() }
    }
    fn settle(&mut self) {
        self.spare.settle();
    }
    fn reset(&mut self) {
        self.spare.reset();
    }
}

/// Welford's recurrence along the axis, as ndarray has it (Welford, *Note on a method for calculating corrected sums of squares and
/// products*, 1962).
fn variances<T: Entry, D: Rank + RemoveAxis<Smaller: Rank>>(
    x: &ArrayRef<T, D>,
    axis: Axis,
    ddof: T,
    means: &mut Vec<T>,
    variances: &mut ArrayRef<T, D::Smaller>,
) {
    let n = T::count(x.len_of(axis));
    assert!(
        !(ddof < T::ZERO || ddof > n),
        "`ddof` must not be less than zero or greater than the length of the axis"
    );
    let mut means = numbers(means, variances.raw_dim());
    variances.fill(T::ZERO);
    for (i, part) in x.axis_iter(axis).enumerate() {
        let count = T::count(i + 1);
        Zip::from(&mut means).and(&mut *variances).and(part).for_each(|mean, squares, &x| {
            let delta = x - *mean;
            *mean += delta / count;
            *squares = (x - *mean).fused(delta, *squares);
        });
    }
    variances.map_inplace(|squares| *squares /= n - ddof);
}

/// Zeros in `memory`.
fn numbers<T: Entry, D: Dimension>(memory: &mut Vec<T>, shape: D) -> ArrayViewMut<'_, T, D> {
    memory.clear();
    memory.resize(shape.size(), T::ZERO);
    ArrayViewMut::from_shape(shape, memory).expect("as many elements as the shape asks for")
}

/// Adds to *ẋ*, where *v̇* is `of_variance` of *ẏ* and *v*, and returns the gradient with respect to `ddof`.
fn hand_back<T: Entry, D: Rank + RemoveAxis<Smaller: Rank>>(
    Memory { means, factors, .. }: &mut Memory<T>,
    (x, axis, ddof): (&ArrayRef<T, D>, Axis, T),
    dx: Shadow<ArrayCells<'_, T, D>>,
    d: &Array<T, D::Smaller>,
    of_variance: impl Fn(T, T) -> T,
) -> T {
    let mut factors = numbers(factors, d.raw_dim());
    variances(x, axis, ddof, means, &mut factors);
    let (n, mut total) = (T::count(x.len_of(axis)), T::ZERO);
    Zip::from(&mut factors).and(d).for_each(|factor, &d| {
        let (variance, d) = (*factor, of_variance(d, *factor));
        total += d * variance / (n - ddof);
        *factor = (d + d) / (n - ddof);
    });
    if let Some(dx) = dx.get() {
        let means = ArrayViewMut::from_shape(d.raw_dim(), means).expect("one for each lane");
        for (dx, x) in dx.axis_iter(axis).zip(x.axis_iter(axis)) {
            let zip = Zip::from(dx).and(x).and(&means).and(&factors);
            zip.for_each(|dx, &x, &mean, &factor| dx.accumulate(factor * (x - mean)));
        }
    }
    total
}

/// `root` is what becomes of a variance, and `of_variance` its pullback.
macro_rules! variances {
    ($(
        $(#[$doc:meta])*
        $name:ident: |$v:ident| $root:expr; |$d:ident, $variance:ident| $of_variance:expr;
    )*) => {$(
        operation! {
            $(#[$doc])*
            $name<T: (Entry), D: (Rank + RemoveAxis<Smaller: Rank>)>(
                x: Ref<ArrayRef<T, D>> as &'a ArrayRef<T, D>,
                axis: ConstVal<Axis> as Axis,
                ddof: Val<T> as T
            ) -> Array<T, D::Smaller>;
        }

        impl<T: Entry, D: Rank + RemoveAxis<Smaller: Rank>> Operation for $name<T, D> {
            type Kept = Memory<T>;

            fn forward(kept: &mut Memory<T>, (x, axis, ddof): Args<'_, Self>) -> Array<T, D::Smaller> {
                let mut y = kept.spare.array(x.raw_dim().remove_axis(axis), false);
                variances(x, axis, ddof, &mut kept.means, &mut y);
                let of_variance = |$v: T| $root;
                y.map_inplace(|y| *y = of_variance(*y));
                y
            }
            fn pullback<'a>(
                kept: &mut Memory<T>,
                (x, axis, ddof): Args<'a, Self>,
                (dx, _, _): Shadows<'a, Self>,
                d: Cotangent<'_, Self>,
            ) -> Gradients<Self> {
                let total = hand_back(kept, (x, axis, ddof), dx, d, |$d, $variance| $of_variance);
                ((), (), total)
            }
            fn reclaim(kept: &mut Memory<T>, y: Array<T, D::Smaller>) {
                kept.spare.reclaim(y);
            }
        }
    )*};
}

variances! {
    /// `x.var_axis(axis, ddof)`: along the axis, which has *n* elements, *ẋᵢ = 2ẏ·(xᵢ - x̄)/(n - ddof)*
    var_axis: |v| v; |d, _v| d;
    /// `x.std_axis(axis, ddof)`, the root of `var_axis`; zero where that is zero
    std_axis: |v| v.root(); |d, v| if v == T::ZERO { v } else { d / (v.root() + v.root()) };
}
