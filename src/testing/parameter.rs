//! How the testers come by arguments: they own them, and lend them to each call.

use std::borrow::{Borrow, BorrowMut};

use super::coordinates::{Coordinate, Coordinates, compared};
use crate::{
    BoxMut, BoxRef, ConstCloned, ConstMut, ConstOptRef, ConstRef, ConstVal, Differentiable, Function, Held,
    Ignored, Item, Mut, OptRef, Output, Parameter, Parameters, Ref, Shadow, Untouched, Val, Value,
};

/// What a call does with an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It gets a copy.
    Value,
    /// It reads it through a shared reference.
    Shared,
    /// It reads and overwrites it.
    Mutable,
    /// It carries no gradient.
    Constant,
}

/// A [`Parameter`] for which an argument can be owned.
pub trait TestParameter: Parameter {
    /// What owns the argument: `T` itself for `x: T`, and for `x: &T` what [`ToOwned`] says. A `Vec` is for a slice, and
    /// an ndarray `Array`, with any strides, for an `ArrayRef`.
    type Owned: Clone;
    /// How it is passed.
    const MODE: Mode;

    /// The argument.
    fn lend(owned: &mut Self::Owned) -> Self::Arg<'_>;
    /// Visits the argument, unless it is constant.
    fn visit(owned: &mut Self::Owned, visitor: &mut dyn FnMut(Coordinate<'_>));
    /// Visits what `buffer` holds.
    fn visit_buffer(buffer: &mut Self::Buffer, visitor: &mut dyn FnMut(Coordinate<'_>));
    /// Visits what a pullback returned.
    fn visit_returned(returned: &mut Self::Gradient, visitor: &mut dyn FnMut(Coordinate<'_>));
    /// The shadow in `buffer`, or that of a constant where the parameter is not `active`.
    fn shadow_if(active: bool, buffer: &mut Self::Buffer) -> Self::Shadow<'_>;
}

impl<T: Value<Tangent: Coordinates> + Coordinates + Clone + 'static> TestParameter for Val<T> {
    type Owned = T;
    const MODE: Mode = Mode::Value;

    fn lend(owned: &mut T) -> T {
        owned.clone()
    }
    fn visit(owned: &mut T, visitor: &mut dyn FnMut(Coordinate<'_>)) {
        owned.visit(visitor);
    }
    fn visit_buffer((): &mut (), _: &mut dyn FnMut(Coordinate<'_>)) {}
    fn visit_returned(returned: &mut T::Tangent, visitor: &mut dyn FnMut(Coordinate<'_>)) {
        returned.visit(visitor);
    }
    fn shadow_if(_: bool, (): &mut ()) -> Ignored {
        Ignored
    }
}

impl<T> TestParameter for Ref<T>
where
    T: Differentiable<Gradient: Coordinates>
        + ToOwned<Owned: BorrowMut<T> + Coordinates + Clone>
        + ?Sized
        + 'static,
{
    type Owned = T::Owned;
    const MODE: Mode = Mode::Shared;

    fn lend(owned: &mut T::Owned) -> &T {
        (*owned).borrow()
    }
    fn visit(owned: &mut T::Owned, visitor: &mut dyn FnMut(Coordinate<'_>)) {
        owned.visit(visitor);
    }
    fn visit_buffer(buffer: &mut T::Gradient, visitor: &mut dyn FnMut(Coordinate<'_>)) {
        buffer.visit(visitor);
    }
    fn visit_returned((): &mut (), _: &mut dyn FnMut(Coordinate<'_>)) {}
    fn shadow_if(active: bool, buffer: &mut T::Gradient) -> Shadow<T::Shadow<'_>> {
        if active { Self::shadow(buffer) } else { Shadow::default() }
    }
}

impl<T> TestParameter for OptRef<T>
where
    T: Differentiable<Gradient: Coordinates> + ToOwned<Owned: Clone> + ?Sized + 'static,
    Option<T::Owned>: Coordinates,
{
    type Owned = Option<T::Owned>;
    const MODE: Mode = Mode::Shared;

    fn lend(owned: &mut Option<T::Owned>) -> Option<&T> {
        owned.as_ref().map(Borrow::borrow)
    }
    fn visit(owned: &mut Option<T::Owned>, visitor: &mut dyn FnMut(Coordinate<'_>)) {
        owned.visit(visitor);
    }
    fn visit_buffer(buffer: &mut T::Gradient, visitor: &mut dyn FnMut(Coordinate<'_>)) {
        buffer.visit(visitor);
    }
    fn visit_returned((): &mut (), _: &mut dyn FnMut(Coordinate<'_>)) {}
    fn shadow_if(active: bool, buffer: &mut T::Gradient) -> Shadow<T::Shadow<'_>> {
        if active { Self::shadow(buffer) } else { Shadow::default() }
    }
}

impl<T> TestParameter for Mut<T>
where
    T: Differentiable<Gradient: Coordinates>
        + ToOwned<Owned: BorrowMut<T> + Coordinates + Clone>
        + ?Sized
        + 'static,
{
    type Owned = T::Owned;
    const MODE: Mode = Mode::Mutable;

    fn lend(owned: &mut T::Owned) -> &mut T {
        owned.borrow_mut()
    }
    fn visit(owned: &mut T::Owned, visitor: &mut dyn FnMut(Coordinate<'_>)) {
        owned.visit(visitor);
    }
    fn visit_buffer(buffer: &mut T::Gradient, visitor: &mut dyn FnMut(Coordinate<'_>)) {
        buffer.visit(visitor);
    }
    fn visit_returned((): &mut (), _: &mut dyn FnMut(Coordinate<'_>)) {}
    fn shadow_if(active: bool, buffer: &mut T::Gradient) -> Shadow<T::Shadow<'_>> {
        if active { Self::shadow(buffer) } else { Shadow::default() }
    }
}

/// References to boxes that may be missing, by the borrow of each.
macro_rules! boxes {
    ($($Mode:ident, $mode:ident, |$owned:ident| $lent:expr;)*) => {$(
        impl<T: Item<Gradients: Coordinates> + Coordinates + Clone + 'static> TestParameter for $Mode<T> {
            type Owned = Option<Box<T>>;
            const MODE: Mode = Mode::$mode;

            fn lend($owned: &mut Option<Box<T>>) -> Self::Arg<'_> {
                $lent
            }
            fn visit(owned: &mut Option<Box<T>>, visitor: &mut dyn FnMut(Coordinate<'_>)) {
                owned.visit(visitor);
            }
            fn visit_buffer(buffer: &mut T::Gradients, visitor: &mut dyn FnMut(Coordinate<'_>)) {
                buffer.visit(visitor);
            }
            fn visit_returned((): &mut (), _: &mut dyn FnMut(Coordinate<'_>)) {}
            fn shadow_if(active: bool, buffer: &mut T::Gradients) -> Shadow<T::Shadows<'_>> {
                if active { Self::shadow(buffer) } else { Shadow::default() }
            }
        }
    )*};
}
boxes! {
    BoxRef, Shared, |owned| &*owned;
    BoxMut, Mutable, |owned| owned;
}

impl<T: Value + Copy + 'static> TestParameter for Held<T> {
    type Owned = T;
    const MODE: Mode = Mode::Constant;

    fn lend(owned: &mut T) -> T {
        *owned
    }
    fn visit(_: &mut T, _: &mut dyn FnMut(Coordinate<'_>)) {}
    fn visit_buffer((): &mut (), _: &mut dyn FnMut(Coordinate<'_>)) {}
    fn visit_returned(_: &mut T::Tangent, _: &mut dyn FnMut(Coordinate<'_>)) {}
    fn shadow_if(_: bool, (): &mut ()) -> Ignored {
        Ignored
    }
}

/// Constants by value, each with its bound.
macro_rules! constant_values {
    ($($Mode:ident: $Bound:ident),*) => {$(
        impl<T: $Bound + 'static> TestParameter for $Mode<T> {
            type Owned = T;
            const MODE: Mode = Mode::Constant;

            fn lend(owned: &mut T) -> T {
                owned.clone()
            }
            fn visit(_: &mut T, _: &mut dyn FnMut(Coordinate<'_>)) {}
            fn visit_buffer((): &mut (), _: &mut dyn FnMut(Coordinate<'_>)) {}
            fn visit_returned((): &mut (), _: &mut dyn FnMut(Coordinate<'_>)) {}
            fn shadow_if(_: bool, (): &mut ()) -> Ignored {
                Ignored
            }
        }
    )*};
}
constant_values!(ConstVal: Copy, ConstCloned: Clone);

impl<T: ToOwned<Owned: Clone> + ?Sized + 'static> TestParameter for ConstRef<T> {
    type Owned = T::Owned;
    const MODE: Mode = Mode::Constant;

    fn lend(owned: &mut T::Owned) -> &T {
        (*owned).borrow()
    }
    fn visit(_: &mut T::Owned, _: &mut dyn FnMut(Coordinate<'_>)) {}
    fn visit_buffer((): &mut (), _: &mut dyn FnMut(Coordinate<'_>)) {}
    fn visit_returned((): &mut (), _: &mut dyn FnMut(Coordinate<'_>)) {}
    fn shadow_if(_: bool, (): &mut ()) -> Ignored {
        Ignored
    }
}

impl<T: ToOwned<Owned: Clone> + ?Sized + 'static> TestParameter for ConstOptRef<T> {
    type Owned = Option<T::Owned>;
    const MODE: Mode = Mode::Constant;

    fn lend(owned: &mut Option<T::Owned>) -> Option<&T> {
        owned.as_ref().map(Borrow::borrow)
    }
    fn visit(_: &mut Option<T::Owned>, _: &mut dyn FnMut(Coordinate<'_>)) {}
    fn visit_buffer((): &mut (), _: &mut dyn FnMut(Coordinate<'_>)) {}
    fn visit_returned((): &mut (), _: &mut dyn FnMut(Coordinate<'_>)) {}
    fn shadow_if(_: bool, (): &mut ()) -> Ignored {
        Ignored
    }
}

/// What it holds is compared, number by number, and none of it has a derivative.
impl<T> TestParameter for ConstMut<T>
where
    T: ToOwned<Owned: BorrowMut<T> + Coordinates + Clone> + ?Sized + 'static,
{
    type Owned = T::Owned;
    const MODE: Mode = Mode::Mutable;

    fn lend(owned: &mut T::Owned) -> &mut T {
        owned.borrow_mut()
    }
    fn visit(owned: &mut T::Owned, visitor: &mut dyn FnMut(Coordinate<'_>)) {
        owned.visit(&mut |coordinate| visitor(compared(coordinate)));
    }
    fn visit_buffer((): &mut (), _: &mut dyn FnMut(Coordinate<'_>)) {}
    fn visit_returned((): &mut (), _: &mut dyn FnMut(Coordinate<'_>)) {}
    fn shadow_if(_: bool, (): &mut ()) -> Untouched {
        Untouched
    }
}

/// A tuple of [`TestParameter`]s; implemented for up to sixteen.
pub trait TestParameters: Parameters {
    /// See [`TestParameter::Owned`].
    type Owned: Clone;
    /// See [`TestParameter::MODE`].
    const MODES: &'static [Mode];

    /// See [`TestParameter::lend`].
    fn lend(owned: &mut Self::Owned) -> Self::Args<'_>;
    /// Visits each argument; the visitor also gets the parameter's number.
    fn visit(owned: &mut Self::Owned, visitor: &mut dyn FnMut(usize, Coordinate<'_>));
    /// Visits what each buffer holds; the visitor also gets the parameter's number.
    fn visit_buffers(buffers: &mut Self::Buffers, visitor: &mut dyn FnMut(usize, Coordinate<'_>));
    /// Visits what a pullback returned; the visitor also gets the parameter's number.
    fn visit_returned(returned: &mut Self::Gradients, visitor: &mut dyn FnMut(usize, Coordinate<'_>));
    /// The shadows of those parameters that are `active`.
    fn shadows_if<'a>(active: &dyn Fn(usize) -> bool, buffers: &'a mut Self::Buffers) -> Self::Shadows<'a>;
}

/// A visitor of one parameter. Written as a closure where it is used, it would be compiled for each list of parameters.
fn numbered<'v>(
    visitor: &'v mut dyn FnMut(usize, Coordinate<'_>),
    parameter: usize,
) -> impl FnMut(Coordinate<'_>) + 'v {
    move |coordinate| visitor(parameter, coordinate)
}

macro_rules! parameters {
    ($($P:ident $i:tt),*) => {
        impl<$($P: TestParameter),*> TestParameters for ($($P,)*) {
            type Owned = ($($P::Owned,)*);
            const MODES: &'static [Mode] = &[$($P::MODE),*];

            #[allow(clippy::unused_unit, reason = "the empty list")]
            fn lend(_owned: &mut Self::Owned) -> Self::Args<'_> {
                ($($P::lend(&mut _owned.$i),)*)
            }
            fn visit(_owned: &mut Self::Owned, _visitor: &mut dyn FnMut(usize, Coordinate<'_>)) {
                $($P::visit(&mut _owned.$i, &mut numbered(_visitor, $i));)*
            }
            fn visit_buffers(_buffers: &mut Self::Buffers, _visitor: &mut dyn FnMut(usize, Coordinate<'_>)) {
                $($P::visit_buffer(&mut _buffers.$i, &mut numbered(_visitor, $i));)*
            }
            fn visit_returned(
                _returned: &mut Self::Gradients,
                _visitor: &mut dyn FnMut(usize, Coordinate<'_>),
            ) {
                $($P::visit_returned(&mut _returned.$i, &mut numbered(_visitor, $i));)*
            }
            #[allow(clippy::unused_unit, reason = "the empty list")]
            fn shadows_if<'a>(_active: &dyn Fn(usize) -> bool, _buffers: &'a mut Self::Buffers) -> Self::Shadows<'a> {
                ($($P::shadow_if(_active($i), &mut _buffers.$i),)*)
            }
        }
    };
}
for_tuples!(parameters);

/// A [`Function`] that can be tested: one whose arguments can be owned, and whose output can be looked into.
pub trait TestFunction:
    Function<Parameters: TestParameters, Output: Coordinates + Output<Gradient: Coordinates>>
{
}

impl<F> TestFunction for F where
    F: Function<Parameters: TestParameters, Output: Coordinates + Output<Gradient: Coordinates>>
{
}
