//! Operators whose operands may own memory: to their rules these are lent, as the arguments of a call.

use std::marker::PhantomData;
use std::ops::{Add, Div, Mul, Neg, Rem, Sub};

use crate::activation::{Activation, Frames};
use crate::call::{Call, HasRule};
use crate::function::{Args, Cotangent, Function, Gradients, Mut, Shadows, Val};
use crate::operators::{OperatorRule, operator};
use crate::rule::Rule;
use crate::shadow::{Accumulate, Differentiable, Element, Ignored};
use crate::tangent::Value;

/// The call of `F` that the operator `O` amounts to, with `Self` on its left. Operands are references, and plain data by value as well.
/// `#[differentiable]` on the `impl` of an operator derives it.
#[diagnostic::on_unimplemented(
    message = "this operator of `{Self}` and `{R}` has no rule",
    label = "mark its `impl` `#[differentiable]`, for values or for references",
    note = "an operand that another operator or a call has made is a variable of its own: `let c: Matrix = f(&a); &b * &c`",
    note = "of ndarray's arrays the macro has to see that they are: `let a: Array1<f64> = f(x);`"
)]
pub trait OperatorCall<'a, O, R, F: Function> {
    /// The arguments.
    fn args(self, right: R) -> Args<'a, F>;
}

/// An operator has one rule, for values and for references: a second one would leave open which of them is meant. The compiler's message
/// about that shows the name.
pub trait MarkedOnceForValuesOrForReferences<O, R> {}

/// The call of an operator.
#[inline(always)]
pub fn operator_call<'a, O, L, R, F>(left: L, right: R) -> Call<'a, F>
where
    L: OperatorCall<'a, O, R, F>,
    F: Function,
{
    Call::new(left.args(right))
}

/// What an operator does.
pub trait Apply<L, R> {
    /// What it returns.
    type Output;
    /// The name of the method.
    const NAME: &'static str;
    /// Does it.
    fn apply(left: L, right: R) -> Self::Output;
}

macro_rules! apply {
    ($($O:ident $method:ident;)*) => {$(
        impl<L: $O<R>, R> Apply<L, R> for operator::$O {
            type Output = L::Output;
            const NAME: &'static str = stringify!($method);
            #[inline(always)]
            fn apply(left: L, right: R) -> L::Output {
                left.$method(right)
            }
        }
    )*};
}
apply! {
    Add add;
    Sub sub;
    Mul mul;
    Div div;
    Rem rem;
}

/// Plain data that an operator takes by value.
pub trait Operand: Value + Copy + 'static {}
impl<T: Value + Copy + 'static> Operand for T {}

/// An operator of plain data, as a function.
pub struct OfValues<O, L, R>(PhantomData<fn(O, L) -> R>);

impl<O, L, R> Default for OfValues<O, L, R> {
    fn default() -> Self {
        OfValues(PhantomData)
    }
}

impl<O, L, R> Function for OfValues<O, L, R>
where
    O: Apply<L, R, Output = <L as OperatorRule<O, R>>::Output> + 'static,
    L: Operand + OperatorRule<O, R, Left = <L as Value>::Tangent, Right = <R as Value>::Tangent>,
    R: Operand,
{
    type Parameters = (Val<L>, Val<R>);
    type Output = <L as OperatorRule<O, R>>::Output;
    const NAME: &'static str = O::NAME;

    #[inline(always)]
    fn primal((l, r): Args<'_, Self>) -> Self::Output {
        O::apply(l, r)
    }
}

impl<O, L, R> Activation for OfValues<O, L, R>
where
    O: Apply<L, R, Output = <L as OperatorRule<O, R>>::Output> + 'static,
    L: Operand + OperatorRule<O, R, Left = <L as Value>::Tangent, Right = <R as Value>::Tangent>,
    R: Operand,
{
    type Function = Self;

    #[inline(always)]
    fn forward(&mut self, (l, r): Args<'_, Self>) -> <Self as Function>::Output {
        O::apply(l, r)
    }
    #[inline(always)]
    fn pullback<'a>(
        &mut self,
        (l, r): Args<'a, Self>,
        _: (Ignored, Ignored),
        d: Cotangent<'_, Self>,
    ) -> Gradients<Self> {
        L::both(|| l, || r, d)
    }
}

impl<O, L, R> HasRule for OfValues<O, L, R>
where
    O: Apply<L, R, Output = <L as OperatorRule<O, R>>::Output> + 'static,
    L: Operand + OperatorRule<O, R, Left = <L as Value>::Tangent, Right = <R as Value>::Tangent>,
    R: Operand,
{
    fn make_rule() -> impl Rule<Function = Self> + 'static {
        Frames::<Self>::default()
    }
}

/// `-x` of plain data, as a function.
pub struct Negated<T>(PhantomData<fn() -> T>);

impl<T> Default for Negated<T> {
    fn default() -> Self {
        Negated(PhantomData)
    }
}

impl<T> Function for Negated<T>
where
    T: Operand + Neg<Output = T> + OperatorRule<operator::Neg, (), Output = T, Left = <T as Value>::Tangent>,
{
    type Parameters = (Val<T>,);
    type Output = T;
    const NAME: &'static str = "neg";

    #[inline(always)]
    fn primal((x,): Args<'_, Self>) -> Self::Output {
        -x
    }
}

impl<T> Activation for Negated<T>
where
    T: Operand + Neg<Output = T> + OperatorRule<operator::Neg, (), Output = T, Left = <T as Value>::Tangent>,
{
    type Function = Self;

    #[inline(always)]
    fn forward(&mut self, (x,): Args<'_, Self>) -> T {
        -x
    }
    #[inline(always)]
    fn pullback<'a>(
        &mut self,
        (x,): Args<'a, Self>,
        _: (Ignored,),
        d: Cotangent<'_, Self>,
    ) -> Gradients<Self> {
        (T::left(|| x, || (), d),)
    }
}

impl<T> HasRule for Negated<T>
where
    T: Operand + Neg<Output = T> + OperatorRule<operator::Neg, (), Output = T, Left = <T as Value>::Tangent>,
{
    fn make_rule() -> impl Rule<Function = Self> + 'static {
        Frames::<Self>::default()
    }
}

/// `l = l op r` of plain data, as a function: *(l̇, ṙ)* are those of the operator, by what comes to the new *l*.
pub struct OntoValue<O, L, R> {
    before: Option<L>,
    marker: PhantomData<fn() -> (O, R)>,
}

impl<O, L, R> Default for OntoValue<O, L, R> {
    fn default() -> Self {
        OntoValue { before: None, marker: PhantomData }
    }
}

impl<O, L, R> Function for OntoValue<O, L, R>
where
    O: Apply<L, R, Output = L> + 'static,
    L: Operand + OperatorRule<O, R, Output = L, Left = <L as Value>::Tangent, Right = <R as Value>::Tangent>,
    L: Value<Tangent: Element>,
    R: Operand,
{
    type Parameters = (Mut<L>, Val<R>);
    type Output = ();
    const NAME: &'static str = O::NAME;

    #[inline(always)]
    fn primal((l, r): Args<'_, Self>) {
        *l = O::apply(*l, r);
    }
}

impl<O, L, R> Activation for OntoValue<O, L, R>
where
    O: Apply<L, R, Output = L> + 'static,
    L: Operand + OperatorRule<O, R, Output = L, Left = <L as Value>::Tangent, Right = <R as Value>::Tangent>,
    L: Value<Tangent: Element> + Send,
    R: Operand,
{
    type Function = Self;

    #[inline(always)]
    fn forward(&mut self, (l, r): Args<'_, Self>) {
        self.before = Some(*l);
        *l = O::apply(*l, r);
    }
    #[inline(always)]
    fn pullback<'a>(
        &mut self,
        (l, r): Args<'a, Self>,
        (dl, _): Shadows<'a, Self>,
        (): (),
    ) -> Gradients<Self> {
        let before = self.before.take().expect("a pullback follows its forward");
        *l = before;
        let Some(cells) = dl.get() else { return ((), <R::Tangent as crate::tangent::Tangent>::zero()) };
        let (d, dr) = L::both(|| before, || r, cells.take());
        cells.accumulate(d);
        ((), dr)
    }
}

impl<O, L, R> HasRule for OntoValue<O, L, R>
where
    O: Apply<L, R, Output = L> + 'static,
    L: Operand + OperatorRule<O, R, Output = L, Left = <L as Value>::Tangent, Right = <R as Value>::Tangent>,
    L: Value<Tangent: Element> + Differentiable + Send,
    R: Operand,
{
    fn make_rule() -> impl Rule<Function = Self> + 'static {
        Frames::<Self>::default()
    }
}

/// [`OperatorCall`] of plain data, by value and by reference: `$O` of `$L` and `$R`, and where it says `onto`, `$L op= $R`.
macro_rules! operator_calls {
    (@negation [$($generics:tt)*] $L:ty) => {
        operator_calls!(@negated [$($generics)*] $L: $L, |x| x);
        operator_calls!(@negated [$($generics)*] $L: &'a $L, |x| *x);
    };
    (@negated [$($generics:tt)*] $L:ty: $Left:ty, |$x:ident| $value:expr) => {
        impl<'a, $($generics)*>
            $crate::operator_calls::OperatorCall<
                'a,
                $crate::operators::operator::Neg,
                (),
                $crate::operator_calls::Negated<$L>,
            > for $Left
        {
            #[inline(always)]
            fn args(self, (): ()) -> ($L,) {
                let $x = self;
                ($value,)
            }
        }
    };
    (@form [$($generics:tt)*] $O:ident $L:ty, $R:ty: $Left:ty, $Right:ty, |$l:ident, $r:ident| $args:expr) => {
        impl<'a, $($generics)*>
            $crate::operator_calls::OperatorCall<
                'a,
                $crate::operators::operator::$O,
                $Right,
                $crate::operator_calls::OfValues<$crate::operators::operator::$O, $L, $R>,
            > for $Left
        {
            #[inline(always)]
            fn args(self, $r: $Right) -> ($L, $R) {
                let $l = self;
                $args
            }
        }
    };
    (@onto [$($generics:tt)*] $O:ident $L:ty, $R:ty: $Right:ty, |$r:ident| $value:expr) => {
        impl<'a, $($generics)*>
            $crate::operator_calls::OperatorCall<
                'a,
                $crate::operators::operator::Onto<$crate::operators::operator::$O>,
                $Right,
                $crate::operator_calls::OntoValue<$crate::operators::operator::$O, $L, $R>,
            > for &'a mut $L
        {
            #[inline(always)]
            fn args(self, $r: $Right) -> (&'a mut $L, $R) {
                (self, $value)
            }
        }
    };
    ($($generics:tt $O:ident $L:ty, $R:ty $(=> $onto:ident)?;)*) => {$(
        operator_calls!(@form $generics $O $L, $R: $L, $R, |l, r| (l, r));
        operator_calls!(@form $generics $O $L, $R: &'a $L, $R, |l, r| (*l, r));
        operator_calls!(@form $generics $O $L, $R: $L, &'a $R, |l, r| (l, *r));
        operator_calls!(@form $generics $O $L, $R: &'a $L, &'a $R, |l, r| (*l, *r));
        $(
            operator_calls!(@$onto $generics $O $L, $R: $R, |r| r);
            operator_calls!(@$onto $generics $O $L, $R: &'a $R, |r| *r);
        )?
    )*};
}
#[cfg(feature = "nalgebra")]
pub(crate) use operator_calls;

macro_rules! floats {
    ($($T:ty)*) => {$(
        operator_calls! {
            [] Add $T, $T => onto;
            [] Sub $T, $T => onto;
            [] Mul $T, $T => onto;
            [] Div $T, $T => onto;
            [] Rem $T, $T => onto;
        }
    )*};
}
floats!(f32 f64);

operator_calls!(@negation [] f32);
operator_calls!(@negation [] f64);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::{forward, pullback, rule_of};
    use crate::shadow::{Shadow, cells};

    #[test]
    fn numbers_by_value_and_by_reference() {
        let (x, y) = (6.0, 1.5);
        let mut rule = rule_of();
        let (value, residual) = forward(&mut rule, operator_call::<operator::Div, _, _, _>(&x, y));
        assert_eq!(value, 4.0);
        let call = operator_call::<operator::Div, _, _, _>(&x, y);
        assert_eq!(pullback(&mut rule, residual, call, (Ignored, Ignored), 3.0), (2.0, -8.0));
    }

    #[test]
    fn onto_a_number() {
        let (mut x, y, mut dx) = (6.0, 1.5, 3.0);
        let mut rule = rule_of();
        let call = operator_call::<operator::Onto<operator::Mul>, _, _, _>(&mut x, &y);
        let ((), residual) = forward(&mut rule, call);
        assert_eq!(x, 9.0);
        let call = operator_call::<operator::Onto<operator::Mul>, _, _, _>(&mut x, &y);
        let ((), dy) = pullback(&mut rule, residual, call, (Shadow::new(cells(&mut dx)), Ignored), ());
        assert_eq!((x, dx, dy), (6.0, 4.5, 18.0));
    }
}
