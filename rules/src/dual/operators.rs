//! Arithmetic of dual numbers, with each other and with constants: what each operator does to values, and to derivatives.

use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Rem, RemAssign, Sub, SubAssign};

use crate::dual::number::DualNumber;
use crate::float::Float;
use crate::operators::{OperatorRule, ScalarOperand, Source, operator};

impl<T: Float, const N: usize> Neg for DualNumber<T, N> {
    type Output = Self;
    #[inline(always)]
    fn neg(mut self) -> Self {
        self.value = -self.value;
        if const { Self::IN_VECTORS } {
            T::multiply_each(&mut self.tangent, -T::one());
        } else {
            for t in &mut self.tangent {
                *t = -*t;
            }
        }
        self
    }
}

impl<T: Float, const N: usize> Neg for &DualNumber<T, N> {
    type Output = DualNumber<T, N>;
    #[inline(always)]
    fn neg(self) -> DualNumber<T, N> {
        -*self
    }
}

/// One operator in all its forms. `dual` is that of two dual numbers; where one is a constant *c*, only its value takes part.
macro_rules! operator {
    ($Op:ident $op:ident $OpAssign:ident $op_assign:ident:
        dual |$a:ident, $b:ident| $dual:expr;
        constant |$l:ident, $c:ident| $constant:expr;
        of_constant |$d:ident, $r:ident| $of_constant:expr;
    ) => {
        impl<T: Float, const N: usize> $Op for DualNumber<T, N> {
            type Output = Self;
            #[inline(always)]
            fn $op(self, $b: Self) -> Self {
                let $a = self;
                $dual
            }
        }
        impl<T: Float, const N: usize> $Op<f64> for DualNumber<T, N> {
            type Output = Self;
            #[inline(always)]
            fn $op(self, $c: f64) -> Self {
                let ($l, $c) = (self, T::from_f64($c));
                $constant
            }
        }
        impl<T: Float, const N: usize> $Op<DualNumber<T, N>> for f64 {
            type Output = DualNumber<T, N>;
            #[inline(always)]
            fn $op(self, $r: DualNumber<T, N>) -> DualNumber<T, N> {
                let $d = T::from_f64(self);
                $of_constant
            }
        }
        operator!(@references $Op $op DualNumber<T, N>, DualNumber<T, N>);
        operator!(@references $Op $op DualNumber<T, N>, f64);
        operator!(@references $Op $op f64, DualNumber<T, N>);
        operator!(@assign $Op $op $OpAssign $op_assign DualNumber<T, N>);
        operator!(@assign $Op $op $OpAssign $op_assign f64);
        operator!(@assign $Op $op $OpAssign $op_assign &DualNumber<T, N>);
        operator!(@assign $Op $op $OpAssign $op_assign &f64);
        operator!(@rule $Op);
    };
    (@references $Op:ident $op:ident $L:ty, $R:ty) => {
        impl<T: Float, const N: usize> $Op<&$R> for $L {
            type Output = DualNumber<T, N>;
            #[inline(always)]
            fn $op(self, right: &$R) -> DualNumber<T, N> {
                self.$op(*right)
            }
        }
        impl<T: Float, const N: usize> $Op<$R> for &$L {
            type Output = DualNumber<T, N>;
            #[inline(always)]
            fn $op(self, right: $R) -> DualNumber<T, N> {
                (*self).$op(right)
            }
        }
        impl<T: Float, const N: usize> $Op<&$R> for &$L {
            type Output = DualNumber<T, N>;
            #[inline(always)]
            fn $op(self, right: &$R) -> DualNumber<T, N> {
                (*self).$op(*right)
            }
        }
    };
    (@assign $Op:ident $op:ident $OpAssign:ident $op_assign:ident $R:ty) => {
        impl<T: Float, const N: usize> $OpAssign<$R> for DualNumber<T, N> {
            #[inline(always)]
            fn $op_assign(&mut self, right: $R) {
                *self = (*self).$op(right);
            }
        }
    };
    // The operator of a dual number and a constant, which has no gradient.
    (@rule $Op:ident) => {
        operator!(@rule_with_constant $Op [] DualNumber<T, N>, f64, |l| l, |c| c);
        operator!(@rule_with_constant $Op ['a] DualNumber<T, N>, &'a f64, |l| l, |c| *c);
        operator!(@rule_with_constant $Op ['a] &'a DualNumber<T, N>, f64, |l| *l, |c| c);
        operator!(@rule_with_constant $Op ['a, 'b] &'a DualNumber<T, N>, &'b f64, |l| *l, |c| *c);
        operator!(@rule_of_constant $Op [] f64, DualNumber<T, N>, |c| c, |r| r);
        operator!(@rule_of_constant $Op ['a] &'a f64, DualNumber<T, N>, |c| *c, |r| r);
        operator!(@rule_of_constant $Op ['a] f64, &'a DualNumber<T, N>, |c| c, |r| *r);
        operator!(@rule_of_constant $Op ['a, 'b] &'a f64, &'b DualNumber<T, N>, |c| *c, |r| *r);
        operator!(@rule_of_references $Op ['a] DualNumber<T, N>, &'a DualNumber<T, N>, |l| l.get(), |r| *r.get());
        operator!(@rule_of_references $Op ['a] &'a DualNumber<T, N>, DualNumber<T, N>, |l| *l.get(), |r| r.get());
        operator!(@rule_of_references $Op ['a, 'b] &'a DualNumber<T, N>, &'b DualNumber<T, N>, |l| *l.get(), |r| *r.get());
    };
    (
        @rule_with_constant $Op:ident [$($lifetime:lifetime),*] $L:ty, $R:ty,
        |$l:ident| $left:expr, |$c:ident| $constant:expr
    ) => {
        impl<$($lifetime,)* T: Float, const N: usize> OperatorRule<operator::$Op, $R> for $L {
            type Output = DualNumber<T, N>;
            type Left = DualNumber<T, N>;
            type Right = ();
            #[inline(always)]
            fn both(
                left: impl Source<Operand = $L>,
                right: impl Source<Operand = $R>,
                d: DualNumber<T, N>,
            ) -> (DualNumber<T, N>, ()) {
                let left = || {
                    let $l = left.get();
                    $left
                };
                let right = || {
                    let $c = right.get();
                    DualNumber::constant($constant)
                };
                (<DualNumber<T, N> as OperatorRule<operator::$Op>>::left(left, right, d), ())
            }
        }
    };
    (
        @rule_of_constant $Op:ident [$($lifetime:lifetime),*] $L:ty, $R:ty,
        |$c:ident| $constant:expr, |$r:ident| $right:expr
    ) => {
        impl<$($lifetime,)* T: Float, const N: usize> OperatorRule<operator::$Op, $R> for $L {
            type Output = DualNumber<T, N>;
            type Left = ();
            type Right = DualNumber<T, N>;
            #[inline(always)]
            fn both(
                left: impl Source<Operand = $L>,
                right: impl Source<Operand = $R>,
                d: DualNumber<T, N>,
            ) -> ((), DualNumber<T, N>) {
                let left = || {
                    let $c = left.get();
                    DualNumber::constant($constant)
                };
                let right = || {
                    let $r = right.get();
                    $right
                };
                ((), <DualNumber<T, N> as OperatorRule<operator::$Op>>::right(left, right, d))
            }
        }
    };
    (
        @rule_of_references $Op:ident [$($lifetime:lifetime),*] $L:ty, $R:ty,
        |$l:ident| $left:expr, |$r:ident| $right:expr
    ) => {
        impl<$($lifetime,)* T: Float, const N: usize> OperatorRule<operator::$Op, $R> for $L {
            type Output = DualNumber<T, N>;
            type Left = DualNumber<T, N>;
            type Right = DualNumber<T, N>;
            #[inline(always)]
            fn both(
                $l: impl Source<Operand = $L>,
                $r: impl Source<Operand = $R>,
                d: DualNumber<T, N>,
            ) -> (DualNumber<T, N>, DualNumber<T, N>) {
                <DualNumber<T, N> as OperatorRule<operator::$Op>>::both(|| $left, || $right, d)
            }
            #[inline(always)]
            fn left(
                $l: impl Source<Operand = $L>,
                $r: impl Source<Operand = $R>,
                d: DualNumber<T, N>,
            ) -> DualNumber<T, N> {
                <DualNumber<T, N> as OperatorRule<operator::$Op>>::left(|| $left, || $right, d)
            }
            #[inline(always)]
            fn right(
                $l: impl Source<Operand = $L>,
                $r: impl Source<Operand = $R>,
                d: DualNumber<T, N>,
            ) -> DualNumber<T, N> {
                <DualNumber<T, N> as OperatorRule<operator::$Op>>::right(|| $left, || $right, d)
            }
        }
    };
}

impl<T: Float, const N: usize> ScalarOperand for &DualNumber<T, N> {
    type Owned = DualNumber<T, N>;
}

operator! {
    Add add AddAssign add_assign:
    dual |a, b| DualNumber { value: a.value + b.value, tangent: a.tangent }.plus_tangent_of(b);
    constant |a, c| DualNumber { value: a.value + c, tangent: a.tangent };
    of_constant |c, b| DualNumber { value: c + b.value, tangent: b.tangent };
}
operator! {
    Sub sub SubAssign sub_assign:
    dual |a, b| DualNumber { value: a.value - b.value, tangent: a.tangent }.minus_tangent_of(b);
    constant |a, c| DualNumber { value: a.value - c, tangent: a.tangent };
    of_constant |c, b| {
        let tangent = (-b).tangent;
        DualNumber { value: c - b.value, tangent }
    };
}
operator! {
    Mul mul MulAssign mul_assign:
    dual |a, b| {
        let mut result = DualNumber { value: a.value * b.value, tangent: a.tangent };
        if const { Self::IN_VECTORS } {
            return result.chain_finite(result.value, b.value).plus_tangent_of(b.chain_finite(b.value, a.value));
        }
        for (t, u) in result.tangent.iter_mut().zip(b.tangent) {
            *t = *t * b.value + a.value * u;
        }
        result
    };
    constant |a, c| a.chain_finite(a.value * c, c);
    of_constant |c, b| b.chain_finite(c * b.value, c);
}
operator! {
    Div div DivAssign div_assign:
    // (a/b)˙ = (ȧ - (a/b)·ḃ)/b
    dual |a, b| {
        let (quotient, inverse) = (a.value / b.value, b.value.recip());
        let mut result = DualNumber { value: quotient, tangent: a.tangent };
        if const { Self::IN_VECTORS } {
            return result.minus_tangent_of(b.chain_finite(b.value, quotient)).chain_finite(quotient, inverse);
        }
        for (t, u) in result.tangent.iter_mut().zip(b.tangent) {
            *t = (*t - quotient * u) * inverse;
        }
        result
    };
    constant |a, c| a.chain_finite(a.value / c, c.recip());
    of_constant |c, b| {
        let quotient = c / b.value;
        // Whoever divides by the same number has its inverse at hand.
        b.chain_finite(quotient, -quotient * b.value.recip())
    };
}
operator! {
    Rem rem RemAssign rem_assign:
    // a % b = a - b·trunc(a/b)
    dual |a, b| {
        let quotient = (a.value / b.value).trunc();
        let rest = DualNumber { value: a.value % b.value, tangent: a.tangent };
        rest.minus_tangent_of(b.chain_finite(b.value, quotient))
    };
    constant |a, c| DualNumber { value: a.value % c, tangent: a.tangent };
    of_constant |c, b| b.chain_finite(c % b.value, -(c / b.value).trunc());
}
