//! Arrays that are made whole. What `x.map(f)` is called on, where the syntax does not tell, the compiler confirms to be one.

use crate::blank::Blank;

/// An array `[T; N]`.
#[diagnostic::on_unimplemented(
    message = "`map` of what nothing tells the type of is that of an array here, and this is `{Self}`",
    label = "no array `[T; N]`",
    note = "of an `Option` or a `Result` write a `match`, or put `unwrap`, `unwrap_or` or `?` behind",
    note = "of an iterator that a function returns put the consumer behind, `pairs(n).map(…).sum()`, or write a loop",
    note = "of ndarray's arrays write `mapv`, or bind them with their type before: `let w: &Array1<f64> = &s.w;`"
)]
pub trait Mapped {
    /// An array of other elements, of this length.
    type Of<U: Blank>;
    /// It, with nothing in it yet.
    fn blank<U: Blank>(&self) -> Self::Of<U>;
}

impl<T, const N: usize> Mapped for [T; N] {
    type Of<U: Blank> = [U; N];

    #[inline(always)]
    fn blank<U: Blank>(&self) -> [U; N] {
        std::array::from_fn(|_| U::blank())
    }
}

impl<A: Mapped> Mapped for &A {
    type Of<U: Blank> = A::Of<U>;

    #[inline(always)]
    fn blank<U: Blank>(&self) -> A::Of<U> {
        (**self).blank()
    }
}

/// What `array.map(f)` writes its results to.
#[inline(always)]
pub fn blank_of_array<A: Mapped, U: Blank>(array: &A) -> A::Of<U> {
    array.blank()
}

/// What `std::array::from_fn(f)` writes its results to.
#[inline(always)]
pub fn blank_array<T: Blank, const N: usize>() -> [T; N] {
    std::array::from_fn(|_| T::blank())
}
