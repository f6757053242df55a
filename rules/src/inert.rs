//! What methods such as `len` return, which the macro takes to carry no gradient by their names.

use std::cell::{Cell, RefCell};
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

/// A type whose values carry no gradient.
#[diagnostic::on_unimplemented(
    message = "a method of this name is taken to carry no gradient, and returns `{Self}`",
    label = "`len`, `dim`, `shape`, `is_…` and the like are those of collections and numbers",
    note = "give the method another name, such as `length` or `norm`"
)]
pub trait Inert {}

macro_rules! inert {
    ($($T:ty),*) => {$(impl Inert for $T {})*};
}
inert!(u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, bool, char, (), str, String, Ordering);

impl<T: Inert> Inert for Option<T> {}
impl<T: Inert, E: Inert> Inert for Result<T, E> {}
impl<T: Inert> Inert for [T] {}
impl<T: Inert, const N: usize> Inert for [T; N] {}
impl<T: Inert> Inert for Vec<T> {}
impl<T: Inert + ?Sized> Inert for &T {}
impl<T: Inert + ?Sized> Inert for &mut T {}
impl<T: Inert + ?Sized> Inert for Cell<T> {}
impl<T: Inert + ?Sized> Inert for RefCell<T> {}
impl<K, V: Inert> Inert for BTreeMap<K, V> {}
impl<K, V: Inert, S> Inert for HashMap<K, V, S> {}
impl<A: Inert, B: Inert> Inert for (A, B) {}
impl<A: Inert, B: Inert, C: Inert> Inert for (A, B, C) {}
impl<A: Inert, B: Inert, C: Inert, D: Inert> Inert for (A, B, C, D) {}
impl<I: ?Sized> Inert for ndarray::Dim<I> {}

/// `value`, of which the compiler checks that it carries no gradient.
#[inline(always)]
pub fn inert<T: Inert>(value: T) -> T {
    value
}

/// What code without gradient may leave in a variable: that is read without gradient afterwards.
#[diagnostic::on_unimplemented(
    message = "this may be written to here, where no gradient passes: in a condition, a comparison, an assertion or a cast",
    label = "what is written is `{Self}`, which may carry a gradient",
    note = "compute it in a `let` before, or in a loop of its own; where it is not to carry a gradient, write `constant(…)`"
)]
pub trait Unseen {}

#[diagnostic::do_not_recommend]
impl<T: Inert> Unseen for T {}

/// `value`, which code without gradient writes to a variable.
#[inline(always)]
pub fn unseen<T: Unseen>(value: T) -> T {
    value
}

/// What may stand in an error: nobody asks that for a gradient.
#[diagnostic::on_unimplemented(
    message = "an error carries no gradient: put `constant(…)` around what it is made of",
    label = "this is `{Self}`, which may carry a gradient"
)]
pub trait Confirmed {}

#[diagnostic::do_not_recommend]
impl<T: Inert> Confirmed for T {}

/// `value`, which becomes a part of an error.
#[inline(always)]
pub fn confirmed<T: Confirmed>(value: T) -> T {
    value
}

/// `value` as an error of this type, which it may become here: `error::<Box<dyn Error>>(Box::new(e))`.
#[inline(always)]
pub fn error<E>(value: E) -> E {
    value
}

/// What only a function takes that takes anything.
pub struct TheNameConstantIsTakenByPullback;

/// `value`, which is about to be passed to what is called `constant`: the function of this crate, which takes anything.
#[inline(always)]
pub fn about_to_be_constant<T>(
    _constant: impl FnOnce(TheNameConstantIsTakenByPullback) -> TheNameConstantIsTakenByPullback,
    value: T,
) -> T {
    value
}
