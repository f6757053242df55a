//! `+ - * / %` of arrays, element by element, with broadcasting, and with numbers on either side.
//!
//! The gradient with respect to an operand that was broadcast is summed over the axes along which it was.

use std::marker::PhantomData;

use ndarray::{Array, ArrayBase, ArrayRef, ArrayView, Data, DimMax, Dimension, Zip};

use super::meets::Meets;
use super::operation::{Operated, Operation, primal};
use super::spare::{Spare, zips_by_columns};
use super::{Entry, Marker, Rank};
use crate::dual::DualNumber;
use crate::float::{Float, Scalar};
use crate::function::{Args, Cotangent, Function, Gradients, Ref, Shadows};
use crate::operators::operator::{Add, Div, Mul, Rem, Sub};
use crate::shadow::{ArrayCells, Differentiable, Shadow};

/// An operator: its value, and what its pullback adds to the gradients of either operand.
pub trait Operator: 'static {
    /// A gradient reads the left operand.
    const READS_LEFT: bool;

    /// The value.
    fn value<L: Meets<R>, R: Entry>(l: L, r: R) -> L::Both;
    /// For the left operand.
    fn left<L: Meets<R>, R: Entry>(l: L, r: R, d: L::Both) -> L::Both;
    /// For the right operand.
    fn right<L: Meets<R>, R: Entry>(l: L, r: R, d: L::Both) -> L::Both;
}

/// What replaces the left operand by the right one.
pub struct Set;

macro_rules! operators {
    ($($Op:ident, reads left: $reads:literal; |$l:ident, $r:ident, $d:ident| $value:expr, left: $left:expr, right: $right:expr;)*) => {$(
        #[allow(unused_variables)]
        impl Operator for $Op {
            const READS_LEFT: bool = $reads;

            #[inline(always)]
            fn value<L: Meets<R>, R: Entry>($l: L, $r: R) -> L::Both {
                $value
            }
            #[inline(always)]
            fn left<L: Meets<R>, R: Entry>($l: L, $r: R, $d: L::Both) -> L::Both {
                $left
            }
            #[inline(always)]
            fn right<L: Meets<R>, R: Entry>($l: L, $r: R, $d: L::Both) -> L::Both {
                $right
            }
        }
    )*};
}
operators! {
    Add, reads left: false; |l, r, d| l + r, left: d, right: d;
    Sub, reads left: false; |l, r, d| l - r, left: d, right: -d;
    Mul, reads left: true; |l, r, d| l * r, left: d * r, right: d * l;
    Div, reads left: true; |l, r, d| l / r,
        left: if d.vanishes() { d } else { d / r },
        right: if d.vanishes() { d } else { -(d / r) * (l / r) };
    Set, reads left: false; |l, r, d| L::of_right(r), left: L::Both::default(), right: d;
    Rem, reads left: true; |l, r, d| l % r, left: d, right: -d * L::of_left(l).truncated_quotient(L::of_right(r));
}

/// Whose layout the result has.
pub trait Layout: 'static {
    /// That of the operand.
    const OF: Of;
}

/// See [`Layout`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// As both together suggest: they are borrowed.
    Both,
    /// That of the left operand, which is owned, if it has the shape of the result.
    Left,
    /// That of the right operand, likewise.
    Right,
}

macro_rules! layouts {
    ($($Name:ident)*) => {$(
        /// See [`Layout`].
        pub struct $Name;
        impl Layout for $Name {
            const OF: Of = Of::$Name;
        }
    )*};
}
layouts!(Both Left Right);

/// Two operands: arrays whatever owns them, or an array and a number.
#[diagnostic::on_unimplemented(
    message = "this operation of `{Self}` and `{R}` has no rule",
    note = "arrays of `f32` or `f64` of one to six dimensions have one, with each other and with numbers"
)]
pub trait Operands<R: Differentiable + ?Sized + 'static>: Differentiable + 'static {
    /// An element.
    type Entry: Entry;
    /// The dimensions of the result.
    type Rank: Rank;

    /// The result.
    fn combine<O: Operator>(
        &self,
        right: &R,
        of: Of,
        spare: &mut Spare<Self::Entry>,
    ) -> Array<Self::Entry, Self::Rank>;
    /// Hands `d`, the gradient with respect to the result, on.
    fn hand_back<O: Operator>(
        &self,
        right: &R,
        to_left: Shadow<Self::Shadow<'_>>,
        to_right: Shadow<R::Shadow<'_>>,
        d: &Array<Self::Entry, Self::Rank>,
    );
}

/// The dimensions that both arrays are broadcast to.
type Larger<D, E> = <D as DimMax<E>>::Output;

/// The shape that both arrays are broadcast to.
///
/// # Panics
/// If there is none.
fn shape_of_both<D: Dimension + DimMax<E>, E: Dimension>(left: &[usize], right: &[usize]) -> Larger<D, E> {
    let mut shape = <Larger<D, E>>::zeros(left.len().max(right.len()));
    let from_last = |lens: &[usize], i: usize| lens.iter().rev().nth(i).copied().unwrap_or(1);
    let n = shape.ndim();
    for i in 0..n {
        let (l, r) = (from_last(left, i), from_last(right, i));
        assert!(
            l == r || l == 1 || r == 1,
            "arrays of shapes {left:?} and {right:?} are not broadcast together"
        );
        shape[n - 1 - i] = if l == 1 { r } else { l };
    }
    shape
}

/// `array`, in the shape that it is broadcast to.
fn stretched<'a, T, D: Dimension, F: Dimension>(array: &'a ArrayRef<T, D>, shape: &F) -> ArrayView<'a, T, F> {
    array.broadcast(shape.clone()).expect("checked before")
}

/// Likewise the cells of a shadow: what is added to a cell several times is summed up.
fn stretched_cells<'a, T: Entry, D: Rank, F: Dimension>(
    cells: &'a ArrayCells<'_, T, D>,
    shape: &F,
) -> ArrayCells<'a, T, F> {
    cells.broadcast(shape.clone()).expect("checked before")
}

impl<T, U, D, E> Operands<ArrayRef<U, E>> for ArrayRef<T, D>
where
    T: Meets<U>,
    U: Entry,
    D: Rank + DimMax<E, Output: Rank>,
    E: Rank,
{
    type Entry = T::Both;
    type Rank = Larger<D, E>;

    fn combine<O: Operator>(
        &self,
        right: &ArrayRef<U, E>,
        of: Of,
        spare: &mut Spare<T::Both>,
    ) -> Array<T::Both, Larger<D, E>> {
        let shape = shape_of_both::<D, E>(self.shape(), right.shape());
        let (l, r) = (stretched(self, &shape), stretched(right, &shape));
        let mut result = match of {
            Of::Left if self.shape() == shape.slice() => spare.same(&l),
            Of::Right if right.shape() == shape.slice() => spare.same(&r),
            _ => spare.array(shape, zips_by_columns(&l, &r)),
        };
        Zip::from(&mut result).and(l).and(r).for_each(|y, &l, &r| *y = O::value(l, r));
        result
    }

    fn hand_back<O: Operator>(
        &self,
        right: &ArrayRef<U, E>,
        to_left: Shadow<ArrayCells<'_, T, D>>,
        to_right: Shadow<ArrayCells<'_, U, E>>,
        d: &Array<T::Both, Larger<D, E>>,
    ) {
        let shape = d.raw_dim();
        let (l, r) = (stretched(self, &shape), stretched(right, &shape));
        let (to_left, to_right) = (to_left.get(), to_right.get());
        let to_left = to_left.as_ref().map(|cells| stretched_cells(cells, &shape));
        let to_right = to_right.as_ref().map(|cells| stretched_cells(cells, &shape));
        let of_d = Zip::from(d).and(l).and(r);
        match (to_left, to_right) {
            (Some(to_left), Some(to_right)) => {
                of_d.and(to_left).and(to_right).for_each(|&d, &l, &r, to_left, to_right| {
                    T::to_left(to_left, O::left(l, r, d));
                    T::to_right(to_right, O::right(l, r, d));
                })
            }
            (Some(cells), None) => {
                of_d.and(cells).for_each(|&d, &l, &r, cell| T::to_left(cell, O::left(l, r, d)))
            }
            (None, Some(cells)) => {
                of_d.and(cells).for_each(|&d, &l, &r, cell| T::to_right(cell, O::right(l, r, d)))
            }
            (None, None) => {}
        }
    }
}

/// An array and a number; `l` and `r` are the operands, elements of types `A` and numbers of type `S`.
macro_rules! with_number {
    (
        [$($generics:tt)*] $A:ty, $S:ty => $Both:ty;
        $L:ty, $R:ty: $this:ident, $right:ident, $to_left:ident, $to_right:ident;
        $array:ident and $number:ident; |$x:ident, $s:ident| $l:ident, $r:ident;
        $to_array:ident, $to_number:ident: $left:ident to $element:expr, $other:ident to $cell:expr
    ) => {
        impl<$($generics)*> Operands<$R> for $L {
            type Entry = $Both;
            type Rank = D;

            fn combine<O: Operator>(&self, $right: &$R, _: Of, spare: &mut Spare<$Both>) -> Array<$Both, D> {
                let $this = self;
                let (mut result, $s) = (spare.like($array), *$number);
                Zip::from(&mut result).and($array).for_each(|y, &$x| *y = O::value($l, $r));
                result
            }

            fn hand_back<O: Operator>(
                &self,
                $right: &$R,
                $to_left: Shadow<<$L as Differentiable>::Shadow<'_>>,
                $to_right: Shadow<<$R as Differentiable>::Shadow<'_>>,
                d: &Array<$Both, D>,
            ) {
                let $this = self;
                let $s = *$number;
                if let Some(cells) = $to_array.get() {
                    Zip::from(d).and($array).and(cells).for_each(|&d, &$x, cell| ($element)(cell, O::$left($l, $r, d)));
                }
                if let Some(cell) = $to_number.get() {
                    let mut total = <$Both>::default();
                    Zip::from(d).and($array).for_each(|&d, &$x| total += O::$other($l, $r, d));
                    ($cell)(cell, total);
                }
            }
        }
    };
}

/// An array of elements on the left, a number on the right.
macro_rules! number_last {
    ($([$($generics:tt)*] $A:ty, $S:ty => $Both:ty;)*) => {$(
        with_number! {
            [$($generics)* D: Rank] $A, $S => $Both;
            ArrayRef<$A, D>, $S: this, right, to_left, to_right;
            this and right; |x, s| x, s;
            to_left, to_right: left to <$A as Meets<$S>>::to_left, right to <$A as Meets<$S>>::to_right
        }
    )*};
}
number_last! {
    [T: Entry,] T, T => T;
    [T: Float, const N: usize,] DualNumber<T, N>, f64 => DualNumber<T, N>;
    [T: Float, const N: usize,] f64, DualNumber<T, N> => DualNumber<T, N>;
}

/// The other way round. Floats are not generic, so that the compiler finds the type of a literal.
macro_rules! number_first {
    ($([$($generics:tt)*] $S:ty, $A:ty => $Both:ty;)*) => {$(
        with_number! {
            [$($generics)* D: Rank] $A, $S => $Both;
            $S, ArrayRef<$A, D>: this, right, to_left, to_right;
            right and this; |x, s| s, x;
            to_right, to_left: right to <$S as Meets<$A>>::to_right, left to <$S as Meets<$A>>::to_left
        }
    )*};
}
number_first! {
    [] f32, f32 => f32;
    [] f64, f64 => f64;
    [T: Float, const N: usize,] f64, DualNumber<T, N> => DualNumber<T, N>;
    [T: Float, const N: usize,] DualNumber<T, N>, f64 => DualNumber<T, N>;
    [T: Float, const N: usize,] DualNumber<T, N>, DualNumber<T, N> => DualNumber<T, N>;
}

/// Operands as they are written, by reference: what their types are without their owners.
#[diagnostic::on_unimplemented(
    message = "this operation of `{Self}` and `{B}` has no rule",
    note = "arrays of `f32` or `f64` of one to six dimensions have one, with each other and with numbers"
)]
pub trait Written<B: ?Sized> {
    /// The left operand.
    type Left: Operands<Self::Right> + ?Sized;
    /// The right operand.
    type Right: Differentiable + ?Sized + 'static;
    /// Both.
    fn both<'a>(&'a self, right: &'a B) -> (&'a Self::Left, &'a Self::Right);
}

impl<S: Data, D: Dimension, B: ?Sized> Written<B> for ArrayBase<S, D>
where
    ArrayRef<S::Elem, D>: Written<B>,
{
    type Left = <ArrayRef<S::Elem, D> as Written<B>>::Left;
    type Right = <ArrayRef<S::Elem, D> as Written<B>>::Right;
    #[inline(always)]
    fn both<'a>(&'a self, right: &'a B) -> (&'a Self::Left, &'a Self::Right) {
        (**self).both(right)
    }
}

/// `Left` is what has no owner.
macro_rules! written {
    ($([$($generics:tt)*] $Left:ty, $R:ty => $Right:ty;)*) => {$(
        impl<$($generics)*> Written<$R> for $Left
        where
            $Left: Operands<$Right>,
            $Right: Differentiable + 'static,
        {
            type Left = $Left;
            type Right = $Right;
            #[inline(always)]
            fn both<'a>(&'a self, right: &'a $R) -> (&'a $Left, &'a $Right) {
                (self, right)
            }
        }
    )*};
}
written! {
    [T, D: Dimension, S: Data, E: Dimension] ArrayRef<T, D>, ArrayBase<S, E> => ArrayRef<S::Elem, E>;
    [T, D: Dimension, U, E: Dimension] ArrayRef<T, D>, ArrayRef<U, E> => ArrayRef<U, E>;
    [T, D: Dimension] ArrayRef<T, D>, f32 => f32;
    [T, D: Dimension] ArrayRef<T, D>, f64 => f64;
    [T, D: Dimension, U: Float, const N: usize] ArrayRef<T, D>, DualNumber<U, N> => DualNumber<U, N>;
    [S: Data, D: Dimension] f32, ArrayBase<S, D> => ArrayRef<S::Elem, D>;
    [S: Data, D: Dimension] f64, ArrayBase<S, D> => ArrayRef<S::Elem, D>;
    [T: Float, const N: usize, S: Data, D: Dimension] DualNumber<T, N>, ArrayBase<S, D> => ArrayRef<S::Elem, D>;
    [T, D: Dimension] f32, ArrayRef<T, D> => ArrayRef<T, D>;
    [T, D: Dimension] f64, ArrayRef<T, D> => ArrayRef<T, D>;
    [T: Float, const N: usize, U, D: Dimension] DualNumber<T, N>, ArrayRef<U, D> => ArrayRef<U, D>;
}

/// An operator of two operands.
pub struct Combined<O, L: ?Sized, R: ?Sized, W>(Marker<(O, PhantomData<L>, PhantomData<R>, W)>);

/// What an operator makes of its operands.
pub(super) type Outcome<L, R> = Array<<L as Operands<R>>::Entry, <L as Operands<R>>::Rank>;

impl<O, L, R, W> Function for Combined<O, L, R, W>
where
    O: Operator,
    L: Operands<R> + ?Sized,
    R: Differentiable + ?Sized + 'static,
    W: Layout,
{
    type Parameters = (Ref<L>, Ref<R>);
    type Output = Outcome<L, R>;
    const NAME: &'static str = "operator";

    fn primal(args: Args<'_, Self>) -> Outcome<L, R> {
        primal::<Self>(args)
    }
}

impl<O, L, R, W> Operation for Combined<O, L, R, W>
where
    O: Operator,
    L: Operands<R> + ?Sized,
    R: Differentiable + ?Sized + 'static,
    W: Layout,
{
    type Kept = Spare<L::Entry>;

    fn forward(spare: &mut Spare<L::Entry>, (l, r): Args<'_, Self>) -> Outcome<L, R> {
        l.combine::<O>(r, W::OF, spare)
    }
    fn pullback<'a>(
        _: &mut Spare<L::Entry>,
        (l, r): Args<'a, Self>,
        (dl, dr): Shadows<'a, Self>,
        d: Cotangent<'_, Self>,
    ) -> Gradients<Self> {
        l.hand_back::<O>(r, dl, dr, d);
        ((), ())
    }
    fn reclaim(spare: &mut Spare<L::Entry>, output: Outcome<L, R>) {
        spare.reclaim(output);
    }
}

impl<O, L, R, W> Combined<O, L, R, W>
where
    O: Operator,
    L: Operands<R> + ?Sized,
    R: Differentiable + ?Sized + 'static,
    W: Layout,
{
    /// The arguments of a call.
    #[inline(always)]
    pub fn args<'a, A, B>(l: &'a A, r: &'a B) -> Args<'a, Self>
    where
        A: Written<B, Left = L, Right = R> + ?Sized,
        B: ?Sized,
    {
        l.both(r)
    }
    /// The rule.
    pub fn rule() -> Operated<Self> {
        Operated::default()
    }
}

macro_rules! names {
    ($($name:ident: $Op:ident, $Layout:ident;)*) => {$(
        /// The operator as a function.
        pub fn $name<A, B>(l: &A, r: &B) -> Outcome<A::Left, A::Right>
        where
            A: Written<B> + ?Sized,
            B: ?Sized,
        {
            primal::<Combined<$Op, A::Left, A::Right, $Layout>>(l.both(r))
        }
        /// The rule of the operator.
        #[allow(non_camel_case_types)]
        pub type $name<L, R> = Combined<$Op, L, R, $Layout>;
    )*};
}
names! {
    add: Add, Both;
    add_left: Add, Left;
    add_right: Add, Right;
    sub: Sub, Both;
    sub_left: Sub, Left;
    sub_right: Sub, Right;
    mul: Mul, Both;
    mul_left: Mul, Left;
    mul_right: Mul, Right;
    div: Div, Both;
    div_left: Div, Left;
    div_right: Div, Right;
    rem: Rem, Both;
    rem_left: Rem, Left;
    rem_right: Rem, Right;
}
