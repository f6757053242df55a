//! What is taken out of an `Option` or a `Result` that owns memory, such as an `Option<Vec<f64>>`.
//!
//! The gradient with respect to what is inside is that of the whole, and where there is nothing it is empty.

use std::convert::Infallible;

use crate::function::for_tuples;
use crate::local::Pool;
use crate::option::{FromStop, Try};
use crate::shadow::Differentiable;

/// How `whole` ended, and what is inside.
#[inline(always)]
pub fn split<W: Try>(whole: W) -> (W::Outcome, Option<W::Value>) {
    whole.split()
}

/// How `whole` ended, and each part of the tuple inside, as if it was there or not by itself.
#[inline(always)]
pub fn split_parts<W: Try<Value: TupleInside>>(whole: W) -> <W::Value as TupleInside>::Split<W::Outcome> {
    let (outcome, inside) = whole.split();
    W::Value::split(outcome, inside)
}

/// A tuple, as what may be inside.
pub trait TupleInside: Sized {
    /// How a call ended, and the parts.
    type Split<O>;
    /// Takes it apart.
    fn split<O>(outcome: O, inside: Option<Self>) -> Self::Split<O>;
}

macro_rules! tuple {
    ($($T:ident $i:tt),*) => {
        impl<$($T),*> TupleInside for ($($T,)*) {
            type Split<Outcome_> = (Outcome_, $(Option<$T>,)*);
            #[inline(always)]
            #[allow(non_snake_case, clippy::unused_unit)]
            fn split<Outcome_>(outcome: Outcome_, inside: Option<Self>) -> Self::Split<Outcome_> {
                match inside {
                    Some(($($T,)*)) => (outcome, $(Some($T),)*),
                    None => (outcome, $(none::<$T>(),)*),
                }
            }
        }
    };
}
for_tuples!(tuple);

fn none<T>() -> Option<T> {
    None
}

/// `whole`, which is an `Option` or a `Result`.
#[inline(always)]
pub fn checked<W: Try>(whole: W) -> W {
    whole
}

/// What a function returns that has ended with `outcome`: `value`, if it has one.
#[inline(always)]
pub fn fill<T, O: Fill<T>>(value: T, outcome: O) -> O::Whole {
    outcome.fill(value)
}

/// What a function returns that ends as `outcome` tells, without a value.
#[inline(always)]
pub fn stop_with<O: Stopped, R: FromStop<O::Stop>>(outcome: O) -> R {
    R::from_stop(outcome.stop())
}

/// How a call has ended, without a value.
pub trait Stopped {
    /// What `?` then returns with.
    type Stop;
    /// That.
    fn stop(self) -> Self::Stop;
}

impl Stopped for Option<()> {
    type Stop = Option<Infallible>;
    #[inline(always)]
    fn stop(self) -> Option<Infallible> {
        None
    }
}

impl<E> Stopped for Result<(), E> {
    type Stop = Result<Infallible, E>;
    #[inline(always)]
    fn stop(self) -> Result<Infallible, E> {
        Err(error_of(self))
    }
}

/// Whether the function has a value.
#[inline(always)]
pub fn is_filled(outcome: &impl Try) -> bool {
    outcome.is_there()
}

/// How a function has ended.
pub trait Fill<T> {
    /// What it returns.
    type Whole;
    /// Puts the value inside, if there is one.
    fn fill(self, value: T) -> Self::Whole;
}

impl<T> Fill<T> for Option<()> {
    type Whole = Option<T>;
    #[inline(always)]
    fn fill(self, value: T) -> Option<T> {
        self.map(|()| value)
    }
}

impl<T, E> Fill<T> for Result<(), E> {
    type Whole = Result<T, E>;
    #[inline(always)]
    fn fill(self, value: T) -> Result<T, E> {
        self.map(|()| value)
    }
}

/// The error of what has stopped with one.
///
/// # Panics
/// If it has not.
#[inline(always)]
pub fn error_of<E>(outcome: Result<(), E>) -> E {
    outcome.expect_err("asked for where there is one")
}

/// Something that may be moved out of a place, which the reverse pass finds empty then.
pub trait Contents {
    /// What is moved.
    type Value;
    /// Moves it out.
    fn take_out(&mut self) -> Self::Value;
    /// Undoes that.
    fn put_back(&mut self, value: Self::Value);
    /// What has not been moved out.
    fn rest(&self) -> Option<&Self::Value>;
}

/// # Panics
/// If there is nothing to take out.
impl<T> Contents for Option<T> {
    type Value = T;
    #[inline(always)]
    fn take_out(&mut self) -> T {
        self.take().expect("taken out where there is one")
    }
    #[inline(always)]
    fn put_back(&mut self, value: T) {
        *self = Some(value);
    }
    #[inline(always)]
    fn rest(&self) -> Option<&T> {
        self.as_ref()
    }
}

impl<T> Contents for Vec<T> {
    type Value = Vec<T>;
    #[inline(always)]
    fn take_out(&mut self) -> Vec<T> {
        std::mem::take(self)
    }
    #[inline(always)]
    fn put_back(&mut self, value: Vec<T>) {
        *self = value;
    }
    #[inline(always)]
    fn rest(&self) -> Option<&Vec<T>> {
        (!self.is_empty()).then_some(self)
    }
}

/// Moves out what is in `whole`.
#[inline(always)]
pub fn take_out<W: Contents>(whole: &mut W) -> W::Value {
    whole.take_out()
}

/// Undoes [`take_out`] of what is now `value`, with the gradient `d`.
#[inline(always)]
pub fn put_back<W: Contents, G>(whole: &mut W, value: W::Value, shadow: &mut G, d: G) {
    whole.put_back(value);
    *shadow = d;
}

impl<G> Pool<G> {
    /// A zero gradient of the shape of what is in `whole`; where that is nothing, no memory is asked for.
    pub fn take_rest<W: Contents<Value: Differentiable<Gradient = G>>>(&mut self, whole: &W) -> G {
        self.measured(W::Value::gradient_size);
        whole.rest().map_or_else(W::Value::empty, |value| self.take(value))
    }

    /// Takes back what [`take_rest`](Pool::take_rest) gave, or what has come in its place.
    pub fn give_rest(&mut self, gradient: G) {
        if self.size_of(&gradient) > 0 {
            self.give(gradient);
        }
    }
}
