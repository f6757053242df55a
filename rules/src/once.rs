//! Constants that are evaluated once, in the forward pass, where that can keep them: numbers, and what consists of these. Others are made
//! again, since a call may have taken them away.

use crate::tangent::Value;

/// What makes a constant.
pub struct Once<F>(pub F);

/// What the forward pass has made.
#[derive(Clone, Copy)]
pub struct Evaluated<T>(T);

/// What is made where it is needed.
#[derive(Clone, Copy)]
pub struct MadeAgain;

impl<F: FnOnce() -> T, T: Value + Copy> Once<F> {
    /// Makes what is kept.
    #[inline(always)]
    pub fn evaluate_once(self) -> Evaluated<T> {
        Evaluated((self.0)())
    }
}

/// What a method of [`Once`] itself goes before.
pub trait MakesAgain {
    /// Keeps nothing.
    fn evaluate_once(self) -> MadeAgain;
}

impl<F> MakesAgain for Once<F> {
    #[inline(always)]
    fn evaluate_once(self) -> MadeAgain {
        MadeAgain
    }
}

/// What [`Once`] has kept, or not.
pub trait OnceMore<T> {
    /// The constant, which `make` makes if it is not there.
    fn again(self, make: impl FnOnce() -> T) -> T;
}

impl<T> OnceMore<T> for Evaluated<T> {
    #[inline(always)]
    fn again(self, _: impl FnOnce() -> T) -> T {
        self.0
    }
}

impl<T> OnceMore<T> for MadeAgain {
    #[inline(always)]
    fn again(self, make: impl FnOnce() -> T) -> T {
        make()
    }
}

/// The constant of which `kept` is what [`Once`] has kept.
#[inline(always)]
pub fn once_more<T>(kept: impl OnceMore<T>, make: impl FnOnce() -> T) -> T {
    kept.again(make)
}
