//! Operators that take over the memory of an operand, as ndarray's do: for a function of dual numbers by itself. A rule does not, since its
//! pullback may read the operand.

use ndarray::{Array, ArrayRef};

use super::assign::{Change, Term};
use super::operation::primal;
use super::operators::{Combined, Left, Operands, Operator, Outcome, Right, Written};
use super::{Entry, Rank};
use crate::dual::DualNumber;
use crate::float::Float;
use crate::operators::operator::{Add, Div, Mul, Rem, Sub};

/// An array that may give its memory away, on the left of `B`.
pub trait Before<B: ?Sized> {
    /// The result.
    type Output;
    /// The result.
    fn before<O: Operator>(self, right: &B) -> Self::Output;
}

/// Likewise on the right of `A`.
pub trait After<A: ?Sized> {
    /// The result.
    type Output;
    /// The result.
    fn after<O: Operator>(self, left: &A) -> Self::Output;
}

type Elements<T, const N: usize, D> = ArrayRef<DualNumber<T, N>, D>;

impl<T: Float, const N: usize, D: Rank, B> Before<B> for Array<DualNumber<T, N>, D>
where
    B: Term<DualNumber<T, N>, As: Change<DualNumber<T, N>, D>> + ?Sized,
    Elements<T, N, D>: Operands<B::As, Entry = DualNumber<T, N>>,
{
    type Output = Outcome<Elements<T, N, D>, B::As>;

    fn before<O: Operator>(mut self, right: &B) -> Self::Output {
        let right = right.term();
        if right.fits(&self) {
            right.apply::<O>(&mut self);
            return same(self);
        }
        primal::<Combined<O, Elements<T, N, D>, B::As, Left>>((&self, right))
    }
}

impl<T: Float, const N: usize, D: Rank, A> After<A> for Array<DualNumber<T, N>, D>
where
    A: Term<DualNumber<T, N>> + ?Sized,
    A::As: Change<DualNumber<T, N>, D> + Operands<Elements<T, N, D>, Entry = DualNumber<T, N>>,
{
    type Output = Outcome<A::As, Elements<T, N, D>>;

    fn after<O: Operator>(mut self, left: &A) -> Self::Output {
        let left = left.term();
        if left.fits(&self) {
            left.apply_before::<O>(&mut self);
            return same(self);
        }
        primal::<Combined<O, A::As, Elements<T, N, D>, Right>>((left, &self))
    }
}

/// An array that has the dimensions of the result is of that type.
fn same<T: Entry, D: Rank, E: Rank>(array: Array<T, D>) -> Array<T, E> {
    array.into_dimensionality().expect("it has the shape of the result")
}

/// The memory of constants is too small for dual numbers.
impl<D: Rank, B: ?Sized> Before<B> for Array<f64, D>
where
    ArrayRef<f64, D>: Written<B>,
{
    type Output = Outcome<<Self as Written<B>>::Left, <Self as Written<B>>::Right>;

    fn before<O: Operator>(self, right: &B) -> Self::Output {
        primal::<Combined<O, _, _, Left>>(self.both(right))
    }
}

impl<D: Rank, A: Written<Self> + ?Sized> After<A> for Array<f64, D> {
    type Output = Outcome<A::Left, A::Right>;

    fn after<O: Operator>(self, left: &A) -> Self::Output {
        primal::<Combined<O, A::Left, A::Right, Right>>(left.both(&self))
    }
}

/// `-x`
pub fn negate_owned<T: Entry, D: Rank>(x: Array<T, D>) -> Array<T, D> {
    -x
}

/// See ndarray's `mapv_into`.
pub fn mapv_owned<T: Entry, D: Rank>(x: Array<T, D>, f: impl Fn(T) -> T) -> Array<T, D> {
    x.mapv_into(f)
}

macro_rules! names {
    ($($left:ident $right:ident: $Op:ident;)*) => {$(
        /// The operator, of an array on its left.
        pub fn $left<A: Before<B>, B: ?Sized>(l: A, r: &B) -> A::Output {
            l.before::<$Op>(r)
        }
        /// The operator, of an array on its right.
        pub fn $right<A: ?Sized, B: After<A>>(l: &A, r: B) -> B::Output {
            r.after::<$Op>(l)
        }
    )*};
}
names! {
    add_left_owned add_right_owned: Add;
    sub_left_owned sub_right_owned: Sub;
    mul_left_owned mul_right_owned: Mul;
    div_left_owned div_right_owned: Div;
    rem_left_owned rem_right_owned: Rem;
}
