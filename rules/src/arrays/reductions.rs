//! Numbers out of arrays: `sum`, `mean`, `product`, `var`, `std`. The value is what ndarray's method returns, so that the order of
//! summation is ndarray's.

use ndarray::{ArrayRef, Zip};

use super::operation::{Operation, operation};
use super::{Entry, Rank};
use crate::function::{Args, Cotangent, Gradients, Ref, Shadows, Val};
use crate::shadow::{Accumulate, ArrayCells};

/// Reductions of all elements of `x`: `add` is what is added to the gradient of each element.
macro_rules! reductions {
    ($(
        $(#[$doc:meta])*
        $name:ident: |$x:ident| $value:expr; |$d:ident, $cells:ident| $gradients:expr;
    )*) => {$(
        operation! {
            $(#[$doc])*
            $name<T: (Entry), D: (Rank)>(x: Ref<ArrayRef<T, D>> as &'a ArrayRef<T, D>) -> T;
        }

        impl<T: Entry, D: Rank> Operation for $name<T, D> {
            type Kept = ();

            fn forward((): &mut (), ($x,): Args<'_, Self>) -> T {
                $value
            }
            #[allow(unused_variables)]
            fn pullback<'a>(
                (): &mut (),
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
    sum: |x| x.sum(); |d, cells| add_to_all(&cells, d);
    /// `x.mean().unwrap()`: *ẋᵢ = ẏ/n*
    mean: |x| {
        assert!(!x.is_empty(), "the mean of no elements");
        x.sum() / T::count(x.len())
    }; |d, cells| add_to_all(&cells, d / T::count(x.len()));
    /// `x.product()`: *ẋᵢ = ẏ·Πⱼ₌ᵢ xⱼ*, over all *j ≠ i*
    product: |x| x.product(); |d, cells| pull_product(x, &cells, d);
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

/// Where elements are zero nothing is divided by them.
pub(super) fn pull_product<T: Entry, D: Rank>(x: &ArrayRef<T, D>, cells: &ArrayCells<'_, T, D>, d: T) {
    let zeros = x.iter().filter(|x| **x == T::ZERO).count();
    let others = x.iter().filter(|x| **x != T::ZERO).fold(T::ONE, |product, &x| product * x);
    Zip::from(cells).and(x).for_each(|cell, &x| match (zeros, x == T::ZERO) {
        (0, _) => cell.accumulate(d * (others / x)),
        (1, true) => cell.accumulate(d * others),
        _ => {}
    });
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
