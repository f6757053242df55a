//! Methods of types that carry no gradient, on parts of what does: `self.kind.sign()`, where `kind` is a field marked `#[constant]` of an enum
//! that nobody has marked.
//!
//! Derived code calls `sign_has_no_rule_…` beside the method, which such a type does not have. What it is called on comes from
//! [`MethodOf`] therefore: of a type with gradient the receiver itself, of any other an [`UnmarkedMethod`], which derived code gives a
//! method of that name. That the type has a gradient and the compiler does not see it, as of a type parameter, is found in the pullback:
//! [`WithoutGradient`] is made of the shadows of constants alone.

use std::convert::Infallible;
use std::marker::PhantomData;
use std::ops::Deref;

use crate::call::{CallOf, HasRule, Reads};
use crate::function::{Args, ConstVal, Cotangent, Function, Gradients, Parameter, Parameters, Shadows};
use crate::held::Constant;
use crate::output::Output;
use crate::rule::Rule;
use crate::shadow::{Differentiable, Shadow};
use crate::state::State;

/// What a method is called on, by its type.
pub struct MethodOf<T: ?Sized>(PhantomData<fn(&T)>);

impl<T: ?Sized> MethodOf<T> {
    /// That of the receiver.
    #[inline(always)]
    pub fn of(_receiver: &T) -> Self {
        MethodOf(PhantomData)
    }
}

/// The receiver may carry a gradient.
pub trait OfActive {
    /// Who tells what the method is called on.
    #[inline(always)]
    fn called(&self) -> CalledByRule {
        CalledByRule
    }
}

/// It refers to what may carry a gradient.
pub trait OfReferent {
    /// Who tells what the method is called on.
    #[inline(always)]
    fn called(&self) -> CalledByRule {
        CalledByRule
    }
}

/// It carries none.
pub trait OfInert {
    /// Who tells what the method is called on.
    #[inline(always)]
    fn called(&self) -> CalledItself {
        CalledItself
    }
}

impl<T: Differentiable + ?Sized> OfActive for &&MethodOf<T> {}
impl<T: Deref<Target: Differentiable> + ?Sized> OfReferent for &MethodOf<T> {}
impl<T: ?Sized> OfInert for MethodOf<T> {}

/// A receiver that is changed: a place, or the name of a `&mut`, which need not be `mut` itself.
pub trait ToChange {
    /// It is borrowed, or borrowed anew.
    #[inline(always)]
    fn receiver_to_change(&mut self) -> &mut Self {
        self
    }
}

impl<T: ?Sized> ToChange for T {}

/// The method has a rule.
pub struct CalledByRule;

/// The method is called as it is.
pub struct CalledItself;

impl CalledByRule {
    /// The receiver; nobody calls `method`.
    #[inline(always)]
    pub fn receiver<R: Deref, A, O>(
        self,
        receiver: R,
        _method: impl FnOnce(&R::Target, A, Unreached) -> O,
    ) -> R {
        receiver
    }
}

impl CalledItself {
    /// The call, to be made by `method`.
    #[inline(always)]
    pub fn receiver<R: Deref, A, O, M: FnOnce(&R::Target, A, Reached) -> O>(
        self,
        receiver: R,
        method: M,
    ) -> UnmarkedMethod<R, M, A, O> {
        UnmarkedMethod { receiver, method, signature: PhantomData }
    }
}

/// Marks the code of a closure that nobody calls. The compiler does not ask there whether the method may take its receiver as it does.
pub struct Unreached(Infallible);

impl Unreached {
    /// There is none.
    pub fn reach(self) -> Infallible {
        self.0
    }
}

/// Marks the code of a closure that is called.
pub struct Reached;

impl Reached {
    /// Goes on.
    #[inline(always)]
    pub fn reach(self) {}
}

/// A method of a type without gradient, and what it is called on. Its arguments are `A`, it returns `O`.
pub struct UnmarkedMethod<R, M, A, O> {
    receiver: R,
    method: M,
    signature: PhantomData<fn(A) -> O>,
}

/// The call of a method of a type without gradient, with parameters `P`.
pub struct UnmarkedCall<R, M, A, O, P> {
    method: UnmarkedMethod<R, M, A, O>,
    args: A,
    parameters: PhantomData<fn() -> P>,
}

impl<R, M, A, O, P> UnmarkedCall<R, M, A, O, P> {
    /// That of `method` with `args`.
    #[inline(always)]
    pub fn new(method: UnmarkedMethod<R, M, A, O>, args: A) -> Self {
        UnmarkedCall { method, args, parameters: PhantomData }
    }
}

/// Such a method as a function, which has the value as its first argument, where the forward needs it.
pub struct Unmarked<O, P>(PhantomData<fn() -> (O, P)>);

/// The parameters of an [`Unmarked`] function.
pub trait UnmarkedParameters<O>: Parameters {
    /// The arguments: none, but for the value.
    fn of<'a>(value: Option<O>) -> Self::Args<'a>;
    /// The value.
    fn value(args: Self::Args<'_>) -> Option<O>;
    /// The gradients: there are none.
    fn gradients() -> Self::Gradients;
}

macro_rules! unmarked_parameters {
    ($([$($argument:ty),*] $($none:expr),*;)*) => {$(
        impl<O: 'static> UnmarkedParameters<O> for (OfUnmarked<O>, $($argument,)*) {
            #[inline(always)]
            fn of<'a>(value: Option<O>) -> Self::Args<'a> {
                (value, $($none,)*)
            }
            #[inline(always)]
            fn value(args: Self::Args<'_>) -> Option<O> {
                args.0
            }
            #[inline(always)]
            fn gradients() -> Self::Gradients {
                ((), $($none,)*)
            }
        }
    )*};
}
unmarked_parameters! {
    [];
    [ConstVal<()>] ();
    [ConstVal<()>, ConstVal<()>] (), ();
    [ConstVal<()>, ConstVal<()>, ConstVal<()>] (), (), ();
    [ConstVal<()>, ConstVal<()>, ConstVal<()>, ConstVal<()>] (), (), (), ();
}

/// The receiver of such a method.
pub struct OfUnmarked<O>(PhantomData<fn() -> O>);

impl<O: 'static> Parameter for OfUnmarked<O> {
    type Arg<'a> = Option<O>;
    type Shadow<'a> = WithoutGradient;
    type Gradient = ();
    type Buffer = ();

    fn buffer() {}
    fn reborrow(arg: &mut Option<O>) -> Option<O> {
        arg.take()
    }
    fn prepare((): &mut (), _: &Option<O>) {}
    fn shadow((): &mut ()) -> WithoutGradient {
        WithoutGradient
    }
}

/// The shadow of what carries no gradient.
pub struct WithoutGradient;

impl From<Shadow<&()>> for WithoutGradient {
    #[inline(always)]
    fn from(_: Shadow<&()>) -> Self {
        WithoutGradient
    }
}

impl<T: ?Sized> From<Shadow<&Constant<T>>> for WithoutGradient {
    #[inline(always)]
    fn from(_: Shadow<&Constant<T>>) -> Self {
        WithoutGradient
    }
}

impl<O: Output + 'static, P: UnmarkedParameters<O>> Function for Unmarked<O, P> {
    type Parameters = P;
    type Output = O;
    const NAME: &'static str = "a method of a type without gradient";

    fn primal(args: Args<'_, Self>) -> O {
        P::value(args).expect("computed for the forward")
    }
}

impl<O: Output + 'static, P: UnmarkedParameters<O>> HasRule for Unmarked<O, P> {
    fn make_rule() -> impl Rule<Function = Self> + 'static {
        Unmarked(PhantomData)
    }
}

impl<O, P> State for Unmarked<O, P> {
    fn reset(&mut self) {}
    fn shrink(&mut self) {}
    fn pending(&self) -> usize {
        0
    }
    fn memory(&self) -> usize {
        0
    }
}

impl<O: Output + 'static, P: UnmarkedParameters<O>> Rule for Unmarked<O, P> {
    type Function = Self;
    type Residual = ();

    #[inline(always)]
    fn forward(&mut self, args: Args<'_, Self>) -> (O, ()) {
        (Self::primal(args), ())
    }

    #[inline(always)]
    fn pullback<'a>(
        &mut self,
        (): (),
        _args: Args<'a, Self>,
        _shadows: Shadows<'a, Self>,
        _seed: Cotangent<'_, Self>,
    ) -> Gradients<Self> {
        P::gradients()
    }
}

impl<'a, R, A, O, M, P> CallOf<'a> for UnmarkedCall<R, M, A, O, P>
where
    R: Deref,
    O: Output + 'static,
    M: FnOnce(&R::Target, A, Reached) -> O,
    P: UnmarkedParameters<O>,
{
    type Function = Unmarked<O, P>;
    type Receiver = Reads;

    #[inline(always)]
    fn args(self) -> Args<'a, Unmarked<O, P>> {
        let UnmarkedMethod { receiver, method, .. } = self.method;
        P::of(Some(method(&*receiver, self.args, Reached)))
    }

    #[inline(always)]
    fn args_again(self) -> Args<'a, Unmarked<O, P>> {
        P::of(None)
    }
}
