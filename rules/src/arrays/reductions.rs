//! Numbers out of arrays: `sum`, `mean`, `product`, `var`, `std`. The value is what ndarray's method returns, so that the order of
//! summation is ndarray's.

use ndarray::{ArrayRef, Zip};

use super::operation::{Operation, operation};
use super::order::backwards;
use super::{Entry, Rank};
use crate::Rule;
use crate::call::{Call, HasRule};
use crate::function::{Args, Cotangent, Gradients, Ref, Shadows, Val};
use crate::shadow::{Accumulate, ArrayCells};

/// Reductions of all elements of `x`: `$gradients` is added to their gradients.
macro_rules! reductions {
    ($(
        $(#[$doc:meta])*
        $name:ident, works in $Kept:ty: |$x:ident| $value:expr; |$d:ident, $cells:ident, $kept:ident| $gradients:expr;
    )*) => {$(
        operation! {
            $(#[$doc])*
            $name<T: (Entry), D: (Rank)>(x: Ref<ArrayRef<T, D>> as &'a ArrayRef<T, D>) -> T;
        }

        impl<T: Entry, D: Rank> Operation for $name<T, D> {
            type Kept = $Kept;

            fn forward(_: &mut $Kept, ($x,): Args<'_, Self>) -> T {
                $value
            }
            #[allow(unused_variables)]
            fn pullback<'a>(
                $kept: &mut $Kept,
                ($x,): Args<'a, Self>,
                (dx,): Shadows<'a, Self>,
                $d: Cotangent<'_, Self>,
            ) -> Gradients<Self> {
                if let Some($cells) = dx.get() {
                    $gradients
                }
                ((),)
            }
        }
    )*};
}

reductions! {
    /// `x.sum()`: *ẋᵢ = ẏ*
    sum, works in (): |x| x.sum(); |d, cells, kept| add_to_all(&cells, d);
    /// `x.mean().unwrap()`: *ẋᵢ = ẏ/n*
    mean, works in (): |x| {
        assert!(!x.is_empty(), "the mean of no elements");
        x.sum() / T::count(x.len())
    }; |d, cells, kept| add_to_all(&cells, d / T::count(x.len()));
    /// `x.product()`: *ẋᵢ = ẏ·Πⱼ xⱼ*, over all *j ≠ i*
    product, works in Vec<T>: |x| x.product(); |d, cells, kept| pull_product(x, cells, d, kept);
}

impl<T: Entry, D: Rank> HasRule for sum<T, D> {
    fn make_rule() -> impl Rule<Function = Self> + 'static {
        Self::rule()
    }
}

/// `x.sum()`, where nothing but the type tells that `x` is an array.
pub trait Summed<T: Entry, D: Rank> {
    #[doc(hidden)]
    fn sum_has_no_rule_mark_its_impl_differentiable<'a>(&'a self) -> Call<'a, sum<T, D>>;
}

impl<T: Entry, D: Rank> Summed<T, D> for ArrayRef<T, D> {
    #[inline(always)]
    fn sum_has_no_rule_mark_its_impl_differentiable<'a>(&'a self) -> Call<'a, sum<T, D>> {
        Call::new((self,))
    }
}

/// ndarray's `var`, in the order in which that visits the elements: Welford's recurrence.
fn variance<T: Entry, D: Rank>(x: &ArrayRef<T, D>, ddof: T) -> T {
    let n = T::count(x.len());
    assert!(
        !(ddof < T::ZERO || ddof > n),
        "`ddof` must not be less than zero or greater than the length of the axis"
    );
    let (mut count, mut mean, mut squares) = (0, T::ZERO, T::ZERO);
    x.for_each(|&x| {
        count += 1;
        let delta = x - mean;
        mean += delta / T::count(count);
        squares = (x - mean).fused(delta, squares);
    });
    squares / (n - ddof)
}

fn add_to_all<T: Entry, D: Rank>(cells: &ArrayCells<'_, T, D>, d: T) {
    Zip::from(cells).for_each(|cell| cell.accumulate(d));
}

/// The product of the others is that of those before times that of those behind: nothing is divided, since elements may be zero.
pub(super) fn pull_product<T: Entry, D: Rank>(
    x: &ArrayRef<T, D>,
    cells: ArrayCells<'_, T, D>,
    d: T,
    before: &mut Vec<T>,
) {
    let mut product = T::ONE;
    for &x in x {
        before.push(product);
        product *= x;
    }
    let mut behind = T::ONE;
    for ((cell, &x), before) in backwards(cells).zip(backwards(x.view())).zip(before.drain(..).rev()) {
        cell.accumulate(d * (before * behind));
        behind *= x;
    }
}

/// Likewise with the number that is subtracted from that of the elements; it is taken as constant.
macro_rules! deviations {
    ($(
        $(#[$doc:meta])*
        $name:ident: |$x:ident, $ddof:ident| $value:expr; |$d:ident| $factor:expr;
    )*) => {$(
        operation! {
            $(#[$doc])*
            $name<T: (Entry), D: (Rank)>(x: Ref<ArrayRef<T, D>> as &'a ArrayRef<T, D>, ddof: Val<T> as T) -> T;
        }

        impl<T: Entry, D: Rank> Operation for $name<T, D> {
            type Kept = ();

            fn forward((): &mut (), ($x, $ddof): Args<'_, Self>) -> T {
                $value
            }
            fn pullback<'a>(
                (): &mut (),
                ($x, $ddof): Args<'a, Self>,
                (dx, _): Shadows<'a, Self>,
                $d: Cotangent<'_, Self>,
            ) -> Gradients<Self> {
                // y = v or √v, where v = Σ (x - mean)²/(n - ddof)
                let n = T::count($x.len());
                let of_variance = $factor;
                if let Some(dx) = dx.get() {
                    let (mean, factor) = ($x.sum() / n, (of_variance + of_variance) / (n - $ddof));
                    Zip::from(dx).and($x).for_each(|dx, &x| dx.accumulate(factor * (x - mean)));
                }
                ((), of_variance * variance($x, $ddof) / (n - $ddof))
            }
        }
    )*};
}

deviations! {
    /// `x.var(ddof)`: *ẋᵢ = 2ẏ·(xᵢ - x̄)/(n - ddof)*
    var: |x, ddof| variance(x, ddof); |d| d;
    /// `x.std(ddof)`, the root of `var`; zero where that is zero
    std_dev: |x, ddof| variance(x, ddof).root(); |d| {
        let y = variance(x, ddof).root();
        if y == T::ZERO { y } else { d / (y + y) }
    };
}
