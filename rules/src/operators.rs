//! Rules of operators where the types are not known to be floats: the compiler selects them by the operands.

use std::marker::PhantomData;

use crate::float::Scalar;
use crate::tangent::{Tangent, Value};

/// Where the pullback of an operator has an operand from, should it need it: a closure, or what the forward kept.
pub trait Source {
    /// The operand.
    type Operand;
    /// The operand.
    fn get(self) -> Self::Operand;
}

impl<T, F: FnOnce() -> T> Source for F {
    type Operand = T;
    #[inline(always)]
    fn get(self) -> T {
        self()
    }
}

/// An operand that was not kept, since the pullbacks of floats do without.
pub struct Spared<T>(PhantomData<fn() -> T>);

impl<T> Source for Spared<T> {
    type Operand = T;
    fn get(self) -> T {
        unreachable!("the pullbacks of floats do not ask for operands that cancel")
    }
}

/// An operand that was kept.
pub struct Whole<T>(T);

impl<T> Source for Whole<T> {
    type Operand = T;
    #[inline(always)]
    fn get(self) -> T {
        self.0
    }
}

/// The operands of one operation, to keep what its pullback may ask for.
pub struct Operands<'a, L, R>(pub &'a L, pub &'a R);

/// A float, or a reference to one, or nothing: what the pullbacks of operators read no more of than they have to.
pub trait ScalarOperand {
    /// What a reference refers to.
    type Owned;
}
impl<T: Scalar> ScalarOperand for T {
    type Owned = T;
}
impl ScalarOperand for () {
    type Owned = ();
}
impl ScalarOperand for &f32 {
    type Owned = f32;
}
impl ScalarOperand for &f64 {
    type Owned = f64;
}

/// Of floats nothing is kept.
pub trait ScalarOperands<L: ScalarOperand, R: ScalarOperand> {
    /// The left operand.
    fn left(&self) -> Spared<L::Owned>;
    /// The right operand.
    fn right(&self) -> Spared<R::Owned>;
}

impl<L: ScalarOperand, R: ScalarOperand> ScalarOperands<L, R> for Operands<'_, L, R> {
    #[inline(always)]
    fn left(&self) -> Spared<L::Owned> {
        Spared(PhantomData)
    }
    #[inline(always)]
    fn right(&self) -> Spared<R::Owned> {
        Spared(PhantomData)
    }
}

/// Of other types the operand itself is.
pub trait OtherOperands<L, R> {
    /// The left operand.
    fn left(&self) -> Whole<L>;
    /// The right operand.
    fn right(&self) -> Whole<R>;
}

impl<L: Copy, R: Copy> OtherOperands<L, R> for &Operands<'_, L, R> {
    #[inline(always)]
    fn left(&self) -> Whole<L> {
        Whole(*self.0)
    }
    #[inline(always)]
    fn right(&self) -> Whole<R> {
        Whole(*self.1)
    }
}

/// An operator, in types.
pub mod operator {
    /// `+`
    pub struct Add;
    /// `-`
    pub struct Sub;
    /// `*`
    pub struct Mul;
    /// `/`
    pub struct Div;
    /// `%`
    pub struct Rem;
    /// `-` before its operand; the other one is `()`.
    pub struct Neg;
    /// `+=` and the like, of the operator `O`.
    pub struct Onto<O>(std::marker::PhantomData<O>);
}

/// The pullback of the operator `O` with `Self` on its left. `#[differentiable]` on the `impl` of an operator derives it.
#[diagnostic::on_unimplemented(
    message = "this operator of `{Self}` and `{R}` has no rule",
    label = "mark its `impl` `#[differentiable]`",
    note = "a type parameter that stands for a float has the bound `pullback::Scalar`, or one whose name tells",
    note = "one that stands for a number or for plain data names its operators, `S: Add<Output = S> + Mul<f64, Output = S>`, in the function or in a \
            trait with `#[differentiable]`"
)]
#[cfg_attr(
    feature = "nalgebra",
    diagnostic::on_unimplemented(
        note = "the macro has to see that a `DVector` or `DMatrix` is one: bind it by `let x: DVector<f64> = …`, outside of closures",
        note = "a view of a constant matrix becomes a matrix by `into_owned()`"
    )
)]
pub trait OperatorRule<O, R = Self>: Sized {
    /// What the operator returns.
    type Output: Value;
    /// The gradient with respect to the left operand.
    type Left: Tangent;
    /// The gradient with respect to the right operand.
    type Right: Tangent;

    /// The gradients with respect to both operands; `d` is the one with respect to the result.
    fn both(
        left: impl Source<Operand = Self>,
        right: impl Source<Operand = R>,
        d: <Self::Output as Value>::Tangent,
    ) -> (Self::Left, Self::Right);

    /// The gradient with respect to the left operand alone.
    #[inline(always)]
    fn left(
        left: impl Source<Operand = Self>,
        right: impl Source<Operand = R>,
        d: <Self::Output as Value>::Tangent,
    ) -> Self::Left {
        Self::both(left, right, d).0
    }

    /// The gradient with respect to the right operand alone.
    #[inline(always)]
    fn right(
        left: impl Source<Operand = Self>,
        right: impl Source<Operand = R>,
        d: <Self::Output as Value>::Tangent,
    ) -> Self::Right {
        Self::both(left, right, d).1
    }
}

/// The pullbacks of floats: what `left` does not name is not read by the one of the left operand.
macro_rules! scalar_operator {
    ($operator:ident: |$l:ident, $r:ident, $d:ident| left: $left:expr; right: $right:expr; both: $both:expr;) => {
        impl<T: Scalar> OperatorRule<operator::$operator> for T {
            type Output = T;
            type Left = T;
            type Right = T;

            #[inline(always)]
            #[allow(unused_variables)]
            fn both($l: impl Source<Operand = T>, $r: impl Source<Operand = T>, $d: T) -> (T, T) {
                $both
            }
            #[inline(always)]
            #[allow(unused_variables)]
            fn left($l: impl Source<Operand = T>, $r: impl Source<Operand = T>, $d: T) -> T {
                $left
            }
            #[inline(always)]
            #[allow(unused_variables)]
            fn right($l: impl Source<Operand = T>, $r: impl Source<Operand = T>, $d: T) -> T {
                $right
            }
        }
        scalar_operator!(@references $operator f32);
        scalar_operator!(@references $operator f64);
    };
    (@references $operator:ident $t:ty) => {
        scalar_operator!(@reference $operator $t, ['a] $t, &'a $t, |l| l.get(), |r| *r.get());
        scalar_operator!(@reference $operator $t, ['a] &'a $t, $t, |l| *l.get(), |r| r.get());
        scalar_operator!(@reference $operator $t, ['a, 'b] &'a $t, &'b $t, |l| *l.get(), |r| *r.get());
    };
    (
        @reference $operator:ident $t:ty, [$($lifetime:lifetime),*] $left:ty, $right:ty,
        |$l:ident| $of_left:expr, |$r:ident| $of_right:expr
    ) => {
        impl<$($lifetime),*> OperatorRule<operator::$operator, $right> for $left {
            type Output = $t;
            type Left = $t;
            type Right = $t;

            #[inline(always)]
            fn both($l: impl Source<Operand = $left>, $r: impl Source<Operand = $right>, d: $t) -> ($t, $t) {
                <$t as OperatorRule<operator::$operator>>::both(|| $of_left, || $of_right, d)
            }
            #[inline(always)]
            fn left($l: impl Source<Operand = $left>, $r: impl Source<Operand = $right>, d: $t) -> $t {
                <$t as OperatorRule<operator::$operator>>::left(|| $of_left, || $of_right, d)
            }
            #[inline(always)]
            fn right($l: impl Source<Operand = $left>, $r: impl Source<Operand = $right>, d: $t) -> $t {
                <$t as OperatorRule<operator::$operator>>::right(|| $of_left, || $of_right, d)
            }
        }
    };
}

scalar_operator! {
    Add: |l, r, d|
    left: d;
    right: d;
    both: (d, d);
}
scalar_operator! {
    Sub: |l, r, d|
    left: d;
    right: -d;
    both: (d, -d);
}
scalar_operator! {
    Mul: |l, r, d|
    left: d * r.get();
    right: d * l.get();
    both: (d * r.get(), d * l.get());
}
scalar_operator! {
    Div: |l, r, d|
    left: d / r.get();
    right: { let r = r.get(); -d * (l.get() / r) / r };
    both: { let r = r.get(); (d / r, -d * (l.get() / r) / r) };
}
scalar_operator! {
    // a % b = a - b·trunc(a/b)
    Rem: |l, r, d|
    left: d;
    right: -d * l.get().truncated_quotient(r.get());
    both: (d, -d * l.get().truncated_quotient(r.get()));
}

impl<T: Scalar> OperatorRule<operator::Neg, ()> for T {
    type Output = T;
    type Left = T;
    type Right = ();

    #[inline(always)]
    fn both(_left: impl Source<Operand = T>, _right: impl Source<Operand = ()>, d: T) -> (T, ()) {
        (-d, ())
    }
}

macro_rules! negated_references {
    ($($t:ty)*) => {$(
        impl OperatorRule<operator::Neg, ()> for &$t {
            type Output = $t;
            type Left = $t;
            type Right = ();

            #[inline(always)]
            fn both(_left: impl Source<Operand = Self>, _right: impl Source<Operand = ()>, d: $t) -> ($t, ()) {
                (-d, ())
            }
        }
    )*};
}
negated_references!(f32 f64);

/// Integers, such as the fields of a struct, have no gradient.
macro_rules! integers {
    ($($t:ty),*) => {$(
        impl ScalarOperand for $t {
            type Owned = $t;
        }

        impl<O: IntegerOperator> OperatorRule<O> for $t {
            type Output = $t;
            type Left = ();
            type Right = ();

            #[inline(always)]
            fn both(_left: impl Source<Operand = $t>, _right: impl Source<Operand = $t>, _d: ()) -> ((), ()) {
                ((), ())
            }
        }

        impl OperatorRule<operator::Neg, ()> for $t {
            type Output = $t;
            type Left = ();
            type Right = ();

            #[inline(always)]
            fn both(_left: impl Source<Operand = $t>, _right: impl Source<Operand = ()>, _d: ()) -> ((), ()) {
                ((), ())
            }
        }
    )*};
}
integers!(i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize);

/// An operator of two integers.
pub trait IntegerOperator {}
impl IntegerOperator for operator::Add {}
impl IntegerOperator for operator::Sub {}
impl IntegerOperator for operator::Mul {}
impl IntegerOperator for operator::Div {}
impl IntegerOperator for operator::Rem {}

/// The gradient with respect to the sum of a constant float and of what the macro takes for a number.
#[diagnostic::on_unimplemented(
    message = "the macro takes this sum with a float for one of numbers",
    label = "this is the gradient with respect to a `{Self}`",
    note = "bind the other operand with its type before: `let z: Complex = …;`"
)]
pub trait OfNumber {}
impl<T: Scalar> OfNumber for T {}

/// Numbers behind however many references, by the rules of methods.
pub trait NumberBehind: Sized {
    /// The number itself.
    #[inline(always)]
    fn number_behind(self) -> Self {
        self
    }
}
impl<T: Scalar> NumberBehind for T {}

/// See `OfNumber`.
#[inline(always)]
pub fn of_number<T: OfNumber>(d: T) -> T {
    d
}

type Seed<O, L, R> = <<L as OperatorRule<O, R>>::Output as Value>::Tangent;

/// See [`OperatorRule::both`].
#[inline(always)]
pub fn pull_both<O, L: OperatorRule<O, R>, R>(
    left: impl Source<Operand = L>,
    right: impl Source<Operand = R>,
    d: Seed<O, L, R>,
    _operator: O,
) -> (L::Left, L::Right) {
    L::both(left, right, d)
}

/// See [`OperatorRule::left`].
#[inline(always)]
pub fn pull_left<O, L: OperatorRule<O, R>, R>(
    left: impl Source<Operand = L>,
    right: impl Source<Operand = R>,
    d: Seed<O, L, R>,
    _operator: O,
) -> L::Left {
    L::left(left, right, d)
}

/// See [`OperatorRule::right`].
#[inline(always)]
pub fn pull_right<O, L: OperatorRule<O, R>, R>(
    left: impl Source<Operand = L>,
    right: impl Source<Operand = R>,
    d: Seed<O, L, R>,
    _operator: O,
) -> L::Right {
    L::right(left, right, d)
}
