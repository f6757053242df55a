//! `Option` and `Result`: values that may be missing, and `?`.
//!
//! The gradient with respect to an `Option<T>` is that with respect to the `T`, whether there is one or not: a vector
//! space has no room for "none", and where there is no value no gradient comes, so that it is zero. The error of a
//! `Result` carries none.

use std::convert::Infallible;
use std::ops::ControlFlow;

use crate::boxed::SpareBoxes;
use crate::output::Output;
use crate::tangent::{Tangent, Value};

impl<T: Value> Value for Option<T> {
    type Tangent = T::Tangent;
}

impl<T: Value, E> Value for Result<T, E> {
    type Tangent = T::Tangent;
}

/// Implements [`Output`] for `$t`, of which `$there` is what `$value` has inside, if there is something.
macro_rules! output {
    ([$($generics:tt)*] $t:ty, $value:ident => $there:expr $(, { $($refill:tt)* })?) => {
        impl<$($generics)*> Output for $t {
            type Cotangent<'a> = T::Cotangent<'a>;
            type Gradient = T::Gradient;

            #[inline(always)]
            fn empty() -> T::Gradient {
                T::empty()
            }
            #[inline(always)]
            fn prepare(&self, gradient: &mut T::Gradient) {
                let $value = self;
                match $there {
                    Some(there) => there.prepare(gradient),
                    None => *gradient = T::empty(),
                }
            }
            #[inline(always)]
            fn lend(gradient: &T::Gradient) -> T::Cotangent<'_> {
                T::lend(gradient)
            }
            #[inline(always)]
            fn copy(gradient: &mut T::Gradient, cotangent: T::Cotangent<'_>) {
                T::copy(gradient, cotangent);
            }
            #[inline(always)]
            fn seed() -> Option<T::Cotangent<'static>> {
                T::seed()
            }
            $($($refill)*)?
            fn size($value: &Self) -> usize {
                $there.map_or(0, T::size)
            }
            fn gradient_size(gradient: &T::Gradient) -> usize {
                T::gradient_size(gradient)
            }
        }
    };
}
output!([T: Output] Option<T>, option => option.as_ref(), {
    fn refill(&self, copy: &mut Self, spares: &mut SpareBoxes) -> bool {
        match (self, copy) {
            (Some(there), Some(copy)) => there.refill(copy, spares),
            _ => false,
        }
    }
});
output!([T: Output, E] Result<T, E>, result => result.as_ref().ok());

/// What `?` can be applied to.
pub trait Try {
    /// What it yields.
    type Value;
    /// What it returns with.
    type Stop;
    /// The same without the value.
    type Outcome;
    /// Goes on with the value, or stops.
    fn branch(self) -> ControlFlow<Self::Stop, Self::Value>;
    /// Whether there is a value.
    fn is_there(&self) -> bool;
    /// How it ended, and the value, if there is one.
    fn split(self) -> (Self::Outcome, Option<Self::Value>);
    /// The value, if there is one.
    fn maybe(&self) -> Option<Self::Value>
    where
        Self::Value: Clone;
}

impl<T> Try for Option<T> {
    type Value = T;
    type Stop = Option<Infallible>;
    type Outcome = Option<()>;
    #[inline(always)]
    fn is_there(&self) -> bool {
        self.is_some()
    }
    #[inline(always)]
    fn split(self) -> (Option<()>, Option<T>) {
        (self.as_ref().map(|_| ()), self)
    }
    #[inline(always)]
    fn branch(self) -> ControlFlow<Self::Stop, T> {
        match self {
            Some(value) => ControlFlow::Continue(value),
            None => ControlFlow::Break(None),
        }
    }
    #[inline(always)]
    fn maybe(&self) -> Option<T>
    where
        T: Clone,
    {
        self.clone()
    }
}

impl<T, E> Try for Result<T, E> {
    type Value = T;
    type Stop = Result<Infallible, E>;
    type Outcome = Result<(), E>;
    #[inline(always)]
    fn is_there(&self) -> bool {
        self.is_ok()
    }
    #[inline(always)]
    fn split(self) -> (Result<(), E>, Option<T>) {
        match self {
            Ok(value) => (Ok(()), Some(value)),
            Err(error) => (Err(error), None),
        }
    }
    #[inline(always)]
    fn branch(self) -> ControlFlow<Self::Stop, T> {
        match self {
            Ok(value) => ControlFlow::Continue(value),
            Err(error) => ControlFlow::Break(Err(error)),
        }
    }
    #[inline(always)]
    fn maybe(&self) -> Option<T>
    where
        T: Clone,
    {
        self.as_ref().ok().cloned()
    }
}

/// What a function returns that stops with `S`.
pub trait FromStop<S> {
    /// The value of the function.
    fn from_stop(stop: S) -> Self;
}

impl<T> FromStop<Option<Infallible>> for Option<T> {
    #[inline(always)]
    fn from_stop(_: Option<Infallible>) -> Self {
        None
    }
}

impl<T, E, F: From<E>> FromStop<Result<Infallible, E>> for Result<T, F> {
    #[inline(always)]
    fn from_stop(stop: Result<Infallible, E>) -> Self {
        match stop {
            Ok(never) => match never {},
            Err(error) => Err(error.into()),
        }
    }
}

/// The value of a function that stops.
#[inline(always)]
pub fn stop<S, R: FromStop<S>>(stop: S) -> R {
    R::from_stop(stop)
}

/// An `Option` or a `Result` that several look into, of which the error need not be `Copy`.
pub trait LooksInto {
    /// What is there, and a reference to the error.
    type Found<'a>
    where
        Self: 'a;
    /// Looks into it.
    fn looked_into(&self) -> Self::Found<'_>;
}

impl<T: Clone> LooksInto for Option<T> {
    type Found<'a>
        = Option<T>
    where
        T: 'a;
    #[inline(always)]
    fn looked_into(&self) -> Option<T> {
        self.clone()
    }
}

impl<T: Clone, E> LooksInto for Result<T, E> {
    type Found<'a>
        = Result<T, &'a E>
    where
        Self: 'a;
    #[inline(always)]
    fn looked_into(&self) -> Result<T, &E> {
        self.as_ref().cloned()
    }
}

/// Pullbacks of the methods of `Option` and `Result`, named as derived functions call them. They only look.
pub trait OptionRules: Try
where
    Self::Value: Value,
{
    /// Of `maybe`.
    #[inline(always)]
    fn maybe_pullback(&self, d: <Self::Value as Value>::Tangent) -> <Self::Value as Value>::Tangent {
        d
    }

    /// Of `unwrap`.
    #[inline(always)]
    fn unwrap_pullback(&self, d: <Self::Value as Value>::Tangent) -> <Self::Value as Value>::Tangent {
        d
    }

    /// Of `expect`.
    #[inline(always)]
    fn expect_pullback(
        &self,
        _message: &str,
        d: <Self::Value as Value>::Tangent,
    ) -> (<Self::Value as Value>::Tangent, ()) {
        (d, ())
    }

    /// Of `unwrap_or`.
    #[inline(always)]
    fn unwrap_or_pullback(
        &self,
        _other: Self::Value,
        d: <Self::Value as Value>::Tangent,
    ) -> (<Self::Value as Value>::Tangent, <Self::Value as Value>::Tangent) {
        match self.is_there() {
            true => (d, Tangent::zero()),
            false => (Tangent::zero(), d),
        }
    }

    /// Of `unwrap_or_default`.
    #[inline(always)]
    fn unwrap_or_default_pullback(
        &self,
        d: <Self::Value as Value>::Tangent,
    ) -> <Self::Value as Value>::Tangent {
        match self.is_there() {
            true => d,
            false => Tangent::zero(),
        }
    }
}

impl<T: Value> OptionRules for Option<T> {}
impl<T: Value, E> OptionRules for Result<T, E> {}
