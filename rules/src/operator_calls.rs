//! Operators whose operands may own memory: to their rules these are lent, as the arguments of a call.

use std::marker::PhantomData;

use crate::activation::{Activation, Frames};
use crate::call::{Call, HasRule};
use crate::function::{Args, Cotangent, Function, Gradients, Val};
use crate::operators::{OperatorRule, operator};
use crate::rule::Rule;
use crate::shadow::Ignored;

/// The call of `F` that the operator `O` amounts to, with `Self` on its left. Operands are references, and plain data by value as well.
/// `#[differentiable]` on the `impl` of an operator derives it.
#[diagnostic::on_unimplemented(
    message = "this operator of `{Self}` and `{R}` has no rule",
    label = "mark its `impl` `#[differentiable]`, for values or for references",
    note = "an operand that another operator or a call has made is a variable of its own: `let c: Matrix = f(&a); &b * &c`"
)]
pub trait OperatorCall<'a, O, R, F: Function> {
    /// The arguments.
    fn args(self, right: R) -> Args<'a, F>;
}

/// The call of an operator.
#[inline(always)]
pub fn operator_call<'a, O, L, R, F>(left: L, right: R) -> Call<'a, F>
where
    L: OperatorCall<'a, O, R, F>,
    F: Function,
{
    Call::new(left.args(right))
}

/// An operator of numbers, as a function.
pub struct OfNumbers<O, T>(PhantomData<fn() -> (O, T)>);

impl<O, T> Default for OfNumbers<O, T> {
    fn default() -> Self {
        OfNumbers(PhantomData)
    }
}

macro_rules! numbers {
    ($T:ty: $($O:ident |$l:ident, $r:ident| $value:expr;)*) => {$(
        impl Function for OfNumbers<operator::$O, $T> {
            type Parameters = (Val<$T>, Val<$T>);
            type Output = $T;
            const NAME: &'static str = stringify!($O);

            #[inline(always)]
            fn primal(($l, $r): Args<'_, Self>) -> $T {
                $value
            }
        }

        impl Activation for OfNumbers<operator::$O, $T> {
            type Function = Self;

            #[inline(always)]
            fn forward(&mut self, ($l, $r): Args<'_, Self>) -> $T {
                $value
            }
            #[inline(always)]
            fn pullback<'a>(
                &mut self,
                (l, r): Args<'a, Self>,
                _: (Ignored, Ignored),
                d: Cotangent<'_, Self>,
            ) -> Gradients<Self> {
                <$T as OperatorRule<operator::$O>>::both(|| l, || r, d)
            }
        }

        impl HasRule for OfNumbers<operator::$O, $T> {
            fn make_rule() -> impl Rule<Function = Self> + 'static {
                Frames::<Self>::default()
            }
        }

        numbers!(@form $O $T, $T, $T, |l, r| (l, r));
        numbers!(@form $O $T, &'a $T, $T, |l, r| (*l, r));
        numbers!(@form $O $T, $T, &'a $T, |l, r| (l, *r));
        numbers!(@form $O $T, &'a $T, &'a $T, |l, r| (*l, *r));
    )*};
    (@form $O:ident $T:ty, $L:ty, $R:ty, |$l:ident, $r:ident| $args:expr) => {
        impl<'a> OperatorCall<'a, operator::$O, $R, OfNumbers<operator::$O, $T>> for $L {
            #[inline(always)]
            fn args(self, $r: $R) -> ($T, $T) {
                let $l = self;
                $args
            }
        }
    };
}

macro_rules! floats {
    ($($T:ty)*) => {$(
        numbers! {
            $T:
            Add |l, r| l + r;
            Sub |l, r| l - r;
            Mul |l, r| l * r;
            Div |l, r| l / r;
            Rem |l, r| l % r;
        }
    )*};
}
floats!(f32 f64);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::{forward, pullback, rule_of};

    #[test]
    fn numbers_by_value_and_by_reference() {
        let (x, y) = (6.0, 1.5);
        let mut rule = rule_of();
        let (value, residual) = forward(&mut rule, operator_call::<operator::Div, _, _, _>(&x, y));
        assert_eq!(value, 4.0);
        let call = operator_call::<operator::Div, _, _, _>(&x, y);
        assert_eq!(pullback(&mut rule, residual, call, (Ignored, Ignored), 3.0), (2.0, -8.0));
    }
}
