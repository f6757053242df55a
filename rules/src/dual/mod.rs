//! Forward mode: numbers that carry derivatives along, and how a function gets to run on them.
//!
//! A *dual number* *x + Σᵢ tᵢ·εᵢ*, with *εᵢ·εⱼ = 0*, is a value and its derivatives in N directions. A function of such numbers computes
//! *f(x + t·ε) = f(x) + f′(x)·t·ε*: the value, bit for bit, and N directional derivatives in one go (Griewank & Walther, *Evaluating
//! Derivatives*, chapter 3). A gradient computed in dual numbers is a gradient and N products of the Hessian with a direction:
//! forward over reverse.

mod cast;
mod contribute;
mod direction;
mod elements;
mod lanes;
mod lift;
mod number;
mod numbers;
mod operators;
mod parameter;
mod together;

pub use cast::{Cast, Looked, value_of};
pub use contribute::{Contribute, ContributeParameter, ContributeParameters};
pub use direction::Direction;
pub(crate) use lanes::Laned;
pub use lanes::Lanes;
pub use lift::{Lift, LiftRef};
pub use number::{DualNumber, by_seed};
pub use numbers::Numbers;
pub use parameter::{LiftParameter, LiftParameters};
pub(crate) use together::Together;

use crate::call::HasRule;
use crate::float::Float;
use crate::function::Function;
use crate::output::Output;

/// What a type is: as a bound, `f64: Is<T>` tells the compiler what `T` stands for.
pub trait Is<T> {}
impl<T> Is<T> for T {}

/// A function that can be run on dual numbers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not run on dual numbers",
    label = "forward mode and second derivatives need that",
    note = "mark the function `#[differentiable(dual)]`, or make it generic over a `Float`"
)]
pub trait HasDual<T, const N: usize>: Function {
    /// The same function of dual numbers with components `T` and `N` directions.
    type Dual: HasRule;
}

/// A function whose arguments and output there are in dual numbers with components `T` and `N` directions, too.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not run on dual numbers",
    label = "forward mode and second derivatives need that",
    note = "mark the function `#[differentiable(dual)]`, or make it generic over a `Float`; its parameters and its output consist of \
            `f64`, or of structs that are generic over a `Float`"
)]
pub trait Liftable<const N: usize, T: Float = f64>:
    Function<
        Parameters: LiftParameters<N, T>,
        Output: Lift<T, N, Dual: Numbers<DualNumber<T, N>> + Output<Gradient: Numbers<DualNumber<T, N>>>>,
    > + HasDual<
        T,
        N,
        Dual: Function<
            Parameters = <Self::Parameters as LiftParameters<N, T>>::Dual,
            Output = <Self::Output as Lift<T, N>>::Dual,
        >,
    >
{
}

impl<F, const N: usize, T: Float> Liftable<N, T> for F where
    F: Function<
            Parameters: LiftParameters<N, T>,
            Output: Lift<T, N, Dual: Numbers<DualNumber<T, N>> + Output<Gradient: Numbers<DualNumber<T, N>>>>,
        > + HasDual<
            T,
            N,
            Dual: Function<
                Parameters = <F::Parameters as LiftParameters<N, T>>::Dual,
                Output = <F::Output as Lift<T, N>>::Dual,
            >,
        >
{
}
