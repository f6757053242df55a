//! Arguments whose active ones are made of the coordinates of a point.

use std::borrow::{Borrow, BorrowMut};

use pullback_rules::__private::Numbers;
use pullback_rules::{
    ConstCloned, ConstOptRef, ConstRef, ConstVal, Differentiable, Held, Output, Parameter, Parameters, Ref,
    Val, Value,
};

/// A [`Parameter`] that gets its argument from a point, or the same in each call if it is constant.
///
/// One by `&mut` is neither:
///
/// ```compile_fail,E0277
/// use pullback::interop::Problem;
/// use pullback::prelude::*;
///
/// #[differentiable]
/// fn area(x: &[f64; 2], product: &mut [f64]) -> f64 {
///     product[0] = x[0] * x[1];
///     product[0]
/// }
///
/// fn area_of(_: Problem<'_, area>) {}
/// ```
#[diagnostic::on_unimplemented(
    message = "a function of this parameter cannot be handed to a solver",
    label = "the function takes `{Self}`",
    note = "solvers call a function of `f64` that takes its arguments by value or by `&`: what it writes by `&mut` is to be returned, or made in \
            the function"
)]
pub trait PointParameter: Parameter {
    /// A copy of the argument, if it is active.
    type Owned: Send;

    /// Copies an argument.
    fn own(arg: &Self::Arg<'_>) -> Self::Owned;
    /// The argument: the copy, or the `given` one.
    fn lend<'a>(owned: &'a Self::Owned, given: &'a Self::Arg<'_>) -> Self::Arg<'a>;
    /// How many bytes of the heap a copy owns.
    fn owned_size(_owned: &Self::Owned) -> usize {
        0
    }
    /// Visits the coordinates of a copy.
    fn visit<V: FnMut(&mut f64)>(owned: &mut Self::Owned, visitor: &mut V);
    /// Visits those of a gradient, in the same order.
    fn visit_gradient<V: FnMut(&mut f64)>(
        gradient: &mut Self::Gradient,
        buffer: &mut Self::Buffer,
        visitor: &mut V,
    );
}

impl<T> PointParameter for Val<T>
where
    T: Value<Tangent: Numbers<f64>> + Numbers<f64> + Copy + Send + 'static,
{
    type Owned = T;

    fn own(arg: &T) -> T {
        *arg
    }
    fn lend<'a>(owned: &'a T, _given: &'a T) -> T {
        *owned
    }
    fn visit<V: FnMut(&mut f64)>(owned: &mut T, visitor: &mut V) {
        owned.visit(visitor);
    }
    fn visit_gradient<V: FnMut(&mut f64)>(gradient: &mut T::Tangent, (): &mut (), visitor: &mut V) {
        gradient.visit(visitor);
    }
}

impl<T> PointParameter for Ref<T>
where
    T: Differentiable<Gradient: Numbers<f64>>
        + ToOwned<Owned: BorrowMut<T> + Numbers<f64> + Output + Send>
        + ?Sized
        + 'static,
{
    type Owned = T::Owned;

    fn own(arg: &&T) -> T::Owned {
        T::to_owned(arg)
    }
    fn lend<'a>(owned: &'a T::Owned, _given: &'a &T) -> &'a T {
        owned.borrow()
    }
    fn owned_size(owned: &T::Owned) -> usize {
        T::Owned::size(owned)
    }
    fn visit<V: FnMut(&mut f64)>(owned: &mut T::Owned, visitor: &mut V) {
        owned.visit(visitor);
    }
    fn visit_gradient<V: FnMut(&mut f64)>((): &mut (), buffer: &mut T::Gradient, visitor: &mut V) {
        buffer.visit(visitor);
    }
}

macro_rules! constant {
    ([$($generics:tt)*] $Mode:ident<$A:ident>, |$given:ident| $lend:expr) => {
        impl<$($generics)*> PointParameter for $Mode<$A> {
            type Owned = ();

            fn own(_arg: &Self::Arg<'_>) {}
            fn lend<'a>((): &'a (), $given: &'a Self::Arg<'_>) -> Self::Arg<'a> {
                $lend
            }
            fn visit<V: FnMut(&mut f64)>((): &mut (), _visitor: &mut V) {}
            fn visit_gradient<V: FnMut(&mut f64)>(
                _gradient: &mut Self::Gradient,
                _buffer: &mut Self::Buffer,
                _visitor: &mut V,
            ) {
            }
        }
    };
}
constant!([A: Value + Copy + 'static] Held<A>, |given| *given);
constant!([A: Copy + 'static] ConstVal<A>, |given| *given);
constant!([A: Clone + 'static] ConstCloned<A>, |given| given.clone());
constant!([A: ?Sized + 'static] ConstRef<A>, |given| given);
constant!([A: ?Sized + 'static] ConstOptRef<A>, |given| *given);

/// A tuple of [`PointParameter`]s; implemented for up to sixteen.
pub trait PointParameters: Parameters {
    /// See [`PointParameter::Owned`].
    type Owned: Send;

    /// See [`PointParameter::own`].
    fn own(args: &Self::Args<'_>) -> Self::Owned;
    /// See [`PointParameter::lend`].
    fn lend<'a>(owned: &'a Self::Owned, given: &'a Self::Args<'_>) -> Self::Args<'a>;
    /// See [`PointParameter::owned_size`].
    fn owned_size(owned: &Self::Owned) -> usize;
    /// See [`PointParameter::visit`].
    fn visit<V: FnMut(&mut f64)>(owned: &mut Self::Owned, visitor: &mut V);
    /// See [`PointParameter::visit_gradient`].
    fn visit_gradient<V: FnMut(&mut f64)>(
        gradients: &mut Self::Gradients,
        buffers: &mut Self::Buffers,
        visitor: &mut V,
    );
}

macro_rules! parameters {
    ($($P:ident $i:tt),*) => {
        impl<$($P: PointParameter),*> PointParameters for ($($P,)*) {
            type Owned = ($($P::Owned,)*);

            #[allow(clippy::unused_unit, reason = "the empty list")]
            fn own(_args: &Self::Args<'_>) -> Self::Owned {
                ($($P::own(&_args.$i),)*)
            }
            #[allow(clippy::unused_unit, reason = "the empty list")]
            fn lend<'a>(_owned: &'a Self::Owned, _given: &'a Self::Args<'_>) -> Self::Args<'a> {
                ($($P::lend(&_owned.$i, &_given.$i),)*)
            }
            fn owned_size(_owned: &Self::Owned) -> usize {
                0 $(+ $P::owned_size(&_owned.$i))*
            }
            fn visit<Visitor: FnMut(&mut f64)>(_owned: &mut Self::Owned, _visitor: &mut Visitor) {
                $($P::visit(&mut _owned.$i, _visitor);)*
            }
            fn visit_gradient<Visitor: FnMut(&mut f64)>(
                _gradients: &mut Self::Gradients,
                _buffers: &mut Self::Buffers,
                _visitor: &mut Visitor,
            ) {
                $($P::visit_gradient(&mut _gradients.$i, &mut _buffers.$i, _visitor);)*
            }
        }
    };
}
for_tuples!(parameters);
