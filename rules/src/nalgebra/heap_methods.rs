//! Methods of matrices on the heap that yield numbers.

use super::Entry;
use super::on_heap::{OnHeap, cells};
use crate::call::{Call, HasRule};
use crate::derived::derived;
use crate::function::{Args, Function, Ref};

/// Rules of methods of a matrix `a`, and perhaps another one, `b`, of the same type: the value, and what is added to the
/// gradient of each entry, given those of both, the value `y` and the gradient `d`.
macro_rules! methods {
    ($(
        $(#[$doc:meta])*
        $Name:ident, $Trait:ident: $sibling:ident($self:ident $(, $other:ident)?) = $primal:expr;
        |$a:ident $(, $b:ident)?; $y:ident, $d:ident, $n:ident| $to_a:expr $(, $to_b:expr)?;
    )*) => {
        /// The traits alone: their names mean nothing to derived code.
        pub(crate) mod traits {
            $(pub use super::$Trait as _;)*
        }
        $(
            $(#[$doc])*
            pub struct $Name<M>(std::marker::PhantomData<fn() -> M>);

            impl<M: Numbers> Function for $Name<M> {
                type Parameters = (Ref<M>, $(methods!(@also $other Ref<M>),)?);
                type Output = M::Entry;
                const NAME: &'static str = stringify!($Name);

                fn primal(($self, $($other,)?): Args<'_, Self>) -> M::Entry {
                    $primal
                }
            }

            impl<M: Numbers> HasRule for $Name<M> {
                #[allow(unused_variables)]
                fn make_rule() -> impl crate::Rule<Function = Self> + 'static {
                    derived::<Self, _, _, _, _>(
                        (),
                        |_, args| {
                            let value = Self::primal(args);
                            (value, value)
                        },
                        |_, $y, ($self, $($other,)?), shadows, $d| {
                            let $n = $self.entries().len();
                            for (i, da) in cells::<M>(shadows.0).iter().enumerate() {
                                let $a = $self.entries()[i];
                                $(let $b = $other.entries()[i];)?
                                da.set(da.get() + $to_a);
                            }
                            $(for (i, db) in cells::<M>(shadows.1).iter().enumerate() {
                                let ($a, $b) = ($self.entries()[i], $other.entries()[i]);
                                db.set(db.get() + $to_b);
                            })?
                            ((), $(methods!(@also $other ()),)?)
                        },
                    )
                }
            }

            $(#[$doc])*
            pub trait $Trait: Numbers {
                #[doc(hidden)]
                #[inline(always)]
                fn $sibling<'a>(&'a self $(, $other: &'a Self)?) -> Call<'a, $Name<Self>> {
                    Call::new((self, $($other,)?))
                }
            }

            impl<M: Numbers> $Trait for M {}
        )*
    };
    (@also $other:ident $($tokens:tt)*) => { $($tokens)* };
}

/// The methods themselves, for whatever shape.
pub trait Numbers: OnHeap {
    /// See nalgebra's `dot`.
    fn dot(&self, other: &Self) -> Self::Entry;
    /// See nalgebra's `norm`.
    fn norm(&self) -> Self::Entry;
    /// See nalgebra's `norm_squared`.
    fn norm_squared(&self) -> Self::Entry;
    /// See nalgebra's `metric_distance`.
    fn metric_distance(&self, other: &Self) -> Self::Entry;
    /// See nalgebra's `sum`.
    fn sum(&self) -> Self::Entry;
    /// See nalgebra's `mean`.
    fn mean(&self) -> Self::Entry;
}

macro_rules! numbers {
    ($($M:ident),*) => {$(
        impl<T: Entry> Numbers for nalgebra::$M<T> {
            fn dot(&self, other: &Self) -> T {
                self.dot(other)
            }
            fn norm(&self) -> T {
                self.norm()
            }
            fn norm_squared(&self) -> T {
                self.norm_squared()
            }
            fn metric_distance(&self, other: &Self) -> T {
                self.metric_distance(other)
            }
            fn sum(&self) -> T {
                self.sum()
            }
            fn mean(&self) -> T {
                self.mean()
            }
        }
    )*};
}
numbers!(DVector, DMatrix, RowDVector);

methods! {
    /// *y = ⟨A, B⟩: Ȧ = ẏ·B, Ḃ = ẏ·A*
    Dot, DotRule: dot_has_no_rule_mark_its_impl_differentiable(this, other) = this.dot(other);
    |a, b; y, d, n| d * b, d * a;

    /// *y = ‖A - B‖: Ȧ = ẏ·(A - B)/y, Ḃ = -Ȧ*, and zero at zero
    MetricDistance, MetricDistanceRule: metric_distance_has_no_rule_mark_its_impl_differentiable(this, other)
        = this.metric_distance(other);
    |a, b; y, d, n| along(a - b, y) * d, along(b - a, y) * d;

    /// *y = ‖A‖: Ȧ = ẏ·A/y*, and zero at zero
    Norm, NormRule: norm_has_no_rule_mark_its_impl_differentiable(this) = this.norm();
    |a; y, d, n| along(a, y) * d;

    /// As `Norm`.
    Magnitude, MagnitudeRule: magnitude_has_no_rule_mark_its_impl_differentiable(this) = this.norm();
    |a; y, d, n| along(a, y) * d;

    /// *y = ⟨A, A⟩: Ȧ = 2ẏ·A*
    NormSquared, NormSquaredRule: norm_squared_has_no_rule_mark_its_impl_differentiable(this) = this.norm_squared();
    |a; y, d, n| (d + d) * a;

    /// As `NormSquared`.
    MagnitudeSquared, MagnitudeSquaredRule: magnitude_squared_has_no_rule_mark_its_impl_differentiable(this)
        = this.norm_squared();
    |a; y, d, n| (d + d) * a;

    /// *y = Σ aᵢ: ȧᵢ = ẏ*
    Sum, SumRule: sum_has_no_rule_mark_its_impl_differentiable(this) = this.sum();
    |a; y, d, n| d;

    /// *y = Σ aᵢ/n: ȧᵢ = ẏ/n*
    Mean, MeanRule: mean_has_no_rule_mark_its_impl_differentiable(this) = this.mean();
    |a; y, d, n| d / nalgebra::convert(n as f64);
}

/// *a/y* for *y = ‖A‖*; zero for zero.
fn along<T: Entry>(a: T, y: T) -> T {
    if y == nalgebra::zero() { y } else { a / y }
}
