//! Operators of matrices of static dimensions: `+` and `-`, products of matrices, products with numbers, and `/` by these.
//! Each for values and for references in any combination, as nalgebra has them.

use nalgebra::SMatrix;

use super::Entry;
use crate::operator_calls::operator_calls;
use crate::operators::{OperatorRule, Source, operator};

/// The rule of an operator for two values, and with that the one for references to them: `matrices` if both may be references,
/// `left` or `right` if that one alone may be.
macro_rules! operator {
    (
        $references:ident [$($generics:tt)*] $operator:ident: $L:ty, $R:ty => $Y:ty;
        |$l:ident, $r:ident, $d:ident| left: $left:expr; right: $right:expr;
    ) => {
        impl<$($generics)*> OperatorRule<operator::$operator, $R> for $L {
            type Output = $Y;
            type Left = $L;
            type Right = $R;

            #[inline]
            #[allow(unused_variables)]
            fn both(
                $l: impl Source<Operand = $L>,
                $r: impl Source<Operand = $R>,
                $d: $Y,
            ) -> ($L, $R) {
                let (l, r) = ($l.get(), $r.get());
                let ($l, $r) = (|| l, || r);
                let left = $left;
                let ($l, $r) = (|| l, || r);
                (left, $right)
            }
            #[inline]
            #[allow(unused_variables)]
            fn left($l: impl Source<Operand = $L>, $r: impl Source<Operand = $R>, $d: $Y) -> $L {
                $left
            }
            #[inline]
            #[allow(unused_variables)]
            fn right($l: impl Source<Operand = $L>, $r: impl Source<Operand = $R>, $d: $Y) -> $R {
                $right
            }
        }
        operator!(@$references [$($generics)*] $operator: $L, $R => $Y);
    };
    (@matrices [$($generics:tt)*] $operator:ident: $L:ty, $R:ty => $Y:ty) => {
        operator!(@left [$($generics)*] $operator: $L, $R => $Y);
        operator!(@right [$($generics)*] $operator: $L, $R => $Y);
        operator!(@reference ['a, 'b, $($generics)*] $operator: $L, $R, &'a $L, &'b $R => $Y; |l| *l.get(), |r| *r.get());
    };
    (@left [$($generics:tt)*] $operator:ident: $L:ty, $R:ty => $Y:ty) => {
        operator!(@reference ['a, $($generics)*] $operator: $L, $R, &'a $L, $R => $Y; |l| *l.get(), |r| r.get());
    };
    (@right [$($generics:tt)*] $operator:ident: $L:ty, $R:ty => $Y:ty) => {
        operator!(@reference ['a, $($generics)*] $operator: $L, $R, $L, &'a $R => $Y; |l| l.get(), |r| *r.get());
    };
    (
        @reference [$($generics:tt)*] $operator:ident: $L:ty, $R:ty, $Left:ty, $Right:ty => $Y:ty;
        |$l:ident| $of_left:expr, |$r:ident| $of_right:expr
    ) => {
        impl<$($generics)*> OperatorRule<operator::$operator, $Right> for $Left {
            type Output = $Y;
            type Left = $L;
            type Right = $R;

            #[inline]
            fn both($l: impl Source<Operand = $Left>, $r: impl Source<Operand = $Right>, d: $Y) -> ($L, $R) {
                <$L as OperatorRule<operator::$operator, $R>>::both(|| $of_left, || $of_right, d)
            }
            #[inline]
            fn left($l: impl Source<Operand = $Left>, $r: impl Source<Operand = $Right>, d: $Y) -> $L {
                <$L as OperatorRule<operator::$operator, $R>>::left(|| $of_left, || $of_right, d)
            }
            #[inline]
            fn right($l: impl Source<Operand = $Left>, $r: impl Source<Operand = $Right>, d: $Y) -> $R {
                <$L as OperatorRule<operator::$operator, $R>>::right(|| $of_left, || $of_right, d)
            }
        }
    };
}

// Sums read nothing of their operands, not even where these are at hand.
macro_rules! sum {
    ($operator:ident: |$d:ident| $right:expr) => {
        impl<T: Entry, const R: usize, const C: usize> OperatorRule<operator::$operator> for SMatrix<T, R, C> {
            type Output = Self;
            type Left = Self;
            type Right = Self;

            #[inline]
            fn both(_: impl Source<Operand = Self>, _: impl Source<Operand = Self>, $d: Self) -> (Self, Self) {
                ($d, $right)
            }
        }
        operator!(@matrices [T: Entry, const R: usize, const C: usize] $operator: SMatrix<T, R, C>, SMatrix<T, R, C> => SMatrix<T, R, C>);
    };
}
sum!(Add: |d| d);
sum!(Sub: |d| -d);

// Y = A·B: Ȧ = Ẏ·Bᵀ, Ḃ = Aᵀ·Ẏ
operator! {
    matrices [T: Entry, const R: usize, const K: usize, const C: usize]
    Mul: SMatrix<T, R, K>, SMatrix<T, K, C> => SMatrix<T, R, C>;
    |a, b, d| left: d * b.get().transpose(); right: a.get().transpose() * d;
}

// Y = A·s: Ȧ = Ẏ·s, ṡ = ⟨A, Ẏ⟩
operator! {
    left [T: Entry, const R: usize, const C: usize]
    Mul: SMatrix<T, R, C>, T => SMatrix<T, R, C>;
    |a, s, d| left: d * s.get(); right: a.get().dot(&d);
}

// Y = A/s: Ȧ = Ẏ/s, ṡ = -⟨A/s, Ẏ⟩/s
operator! {
    left [T: Entry, const R: usize, const C: usize]
    Div: SMatrix<T, R, C>, T => SMatrix<T, R, C>;
    |a, s, d| left: d / s.get(); right: { let s = s.get(); -(a.get() / s).dot(&d) / s };
}

/// Y = s·A. Not generic, so that the compiler finds the type of a literal.
macro_rules! scaled {
    ($($T:ty),*) => {$(
        operator! {
            right [const R: usize, const C: usize]
            Mul: $T, SMatrix<$T, R, C> => SMatrix<$T, R, C>;
            |s, a, d| left: a.get().dot(&d); right: d * s.get();
        }
    )*};
}
scaled!(f32, f64);

impl<T: Entry, const R: usize, const C: usize> OperatorRule<operator::Neg, ()> for SMatrix<T, R, C> {
    type Output = Self;
    type Left = Self;
    type Right = ();

    #[inline]
    fn both(_: impl Source<Operand = Self>, _: impl Source<Operand = ()>, d: Self) -> (Self, ()) {
        (-d, ())
    }
}

impl<T: Entry, const R: usize, const C: usize> OperatorRule<operator::Neg, ()> for &SMatrix<T, R, C> {
    type Output = SMatrix<T, R, C>;
    type Left = SMatrix<T, R, C>;
    type Right = ();

    #[inline]
    fn both(
        _: impl Source<Operand = Self>,
        _: impl Source<Operand = ()>,
        d: SMatrix<T, R, C>,
    ) -> (SMatrix<T, R, C>, ()) {
        (-d, ())
    }
}

operator_calls! {
    [T: Entry, const R: usize, const C: usize] Add SMatrix<T, R, C>, SMatrix<T, R, C> => onto;
    [T: Entry, const R: usize, const C: usize] Sub SMatrix<T, R, C>, SMatrix<T, R, C> => onto;
    [T: Entry, const R: usize, const K: usize, const C: usize] Mul SMatrix<T, R, K>, SMatrix<T, K, C>;
    [T: Entry, const R: usize, const C: usize] Mul SMatrix<T, R, C>, T => onto;
    [T: Entry, const R: usize, const C: usize] Div SMatrix<T, R, C>, T => onto;
    [const R: usize, const C: usize] Mul f32, SMatrix<f32, R, C>;
    [const R: usize, const C: usize] Mul f64, SMatrix<f64, R, C>;
}
operator_calls!(@negation [T: Entry, const R: usize, const C: usize] SMatrix<T, R, C>);
