//! What functions that run on dual numbers have beside a gradient, each by a trait: with two numbers of directions in the bounds of one
//! function, the compiler takes one for the other.

use ndarray::ArrayView2;
use pullback_rules::__private::{LiftParameters, Liftable};
use pullback_rules::{Args, Function};

use super::problem::Solvable;
use crate::extras::Extra;
use crate::gradient::ScalarOutput;
use crate::hessian::{self, Hessian, Products};
use crate::jacobian::{self, Jacobian};
use crate::lifted::each;
use crate::rows::HasRows;

/// A function that has a Jacobian: `#[differentiable(dual)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no Jacobian",
    note = "mark the function `#[differentiable(dual)]`"
)]
pub trait HasJacobian: Solvable {
    /// What Jacobians keep from call to call.
    #[doc(hidden)]
    type Jacobian: Extra + Default;
    /// The value, and the Jacobian.
    #[doc(hidden)]
    fn jacobian<'j>(
        jacobian: &'j mut Self::Jacobian,
        args: Args<'_, Self>,
    ) -> (Self::Output, ArrayView2<'j, f64>);
}

impl<F: Solvable + Liftable<{ jacobian::WIDTH }> + HasRows> HasJacobian for F {
    type Jacobian = Jacobian<F>;

    fn jacobian<'j>(jacobian: &'j mut Jacobian<F>, args: Args<'_, F>) -> (F::Output, ArrayView2<'j, f64>) {
        jacobian.run(args)
    }
}

/// A function that has products of the Hessian with directions: `#[differentiable(dual)]`, and its value is one number.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no products of the Hessian",
    note = "mark the function `#[differentiable(dual)]`, and let it return an `f64`"
)]
pub trait HasHessianProduct: Solvable + Function<Output = f64> {
    /// What products keep from call to call.
    #[doc(hidden)]
    type Products: Extra + Default;
    /// The value. `write` gets the product, number by number.
    #[doc(hidden)]
    fn product(
        products: &mut Self::Products,
        args: Args<'_, Self>,
        direction: &[f64],
        write: &mut impl FnMut(&f64),
    ) -> f64;
}

impl<F> HasHessianProduct for F
where
    F: Solvable + Function<Output = f64> + Liftable<1, Dual: Function<Output: ScalarOutput>>,
{
    type Products = Products<F>;

    fn product(
        products: &mut Products<F>,
        args: Args<'_, F>,
        direction: &[f64],
        write: &mut impl FnMut(&f64),
    ) -> f64 {
        let (value, _, (mut product, buffers)) =
            products.run_flat(args, |flat| flat.extend_from_slice(direction));
        <F::Parameters as LiftParameters<1>>::visit_gradient(&mut product, buffers, &mut each(|d| write(d)));
        value
    }
}

/// A function that has a Hessian: `#[differentiable(dual)]`, and its value is one number.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no Hessian",
    note = "mark the function `#[differentiable(dual)]`, and let it return an `f64`"
)]
pub trait HasHessian: Solvable + Function<Output = f64> {
    /// What Hessians keep from call to call.
    #[doc(hidden)]
    type Hessian: Extra + Default;
    /// The value, and the Hessian. `write` gets the gradient, number by number.
    #[doc(hidden)]
    fn hessian<'h>(
        hessian: &'h mut Self::Hessian,
        args: Args<'_, Self>,
        write: &mut impl FnMut(&f64),
    ) -> (f64, ArrayView2<'h, f64>);
}

impl<F> HasHessian for F
where
    F: Solvable + Function<Output = f64> + Liftable<{ hessian::WIDTH }, Dual: Function<Output: ScalarOutput>>,
{
    type Hessian = Hessian<F>;

    fn hessian<'h>(
        hessian: &'h mut Hessian<F>,
        args: Args<'_, F>,
        write: &mut impl FnMut(&f64),
    ) -> (f64, ArrayView2<'h, f64>) {
        let (value, (mut gradients, buffers), hessian) = hessian.run(args);
        <F::Parameters as LiftParameters<{ hessian::WIDTH }>>::visit_gradient(
            &mut gradients,
            buffers,
            &mut each(|d| write(d)),
        );
        (value, hessian)
    }
}
