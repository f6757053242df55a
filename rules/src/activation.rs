//! Rules written by hand: the author writes one activation, the engine keeps the frames.

use crate::function::{Args, Cotangent, Function, Gradients, Shadows};
use crate::rule::Rule;
use crate::shadow::{Differentiable, Shadow};
use crate::state::State;

/// One activation of a stateful rule; `#[derive(Rule)]` implements it by calling the author's `forward` and `pullback`.
pub trait Activation: Default + Send {
    /// The function's signature.
    type Function: Function;
    /// See [`Rule::forward`].
    fn forward(&mut self, args: Args<'_, Self::Function>) -> <Self::Function as Function>::Output;
    /// See [`Rule::pullback`].
    fn pullback<'a>(
        &mut self,
        args: Args<'a, Self::Function>,
        shadows: Shadows<'a, Self::Function>,
        seed: Cotangent<Self::Function>,
    ) -> Gradients<Self::Function>;
    /// See [`Rule::forgo`].
    fn forgo(&mut self, parameter: usize) {
        let _ = parameter;
    }
}

/// The rule made of activations: one frame for each forward that is pending, made when first needed and reused ever
/// after.
pub struct Frames<A> {
    frames: Vec<A>,
    pending: usize,
    forgone: u32,
}

impl<A> Default for Frames<A> {
    fn default() -> Self {
        Frames { frames: Vec::new(), pending: 0, forgone: 0 }
    }
}

impl<A: Send> State for Frames<A> {
    fn reset(&mut self) {
        self.pending = 0;
    }
    fn release(&mut self) {
        self.pending = 0;
        self.frames = Vec::new();
    }
}

impl<A: Activation> Frames<A> {
    fn make(&self) -> A {
        let mut frame = A::default();
        for parameter in (0..u32::BITS as usize).filter(|p| self.forgone >> p & 1 == 1) {
            frame.forgo(parameter);
        }
        frame
    }
}

impl<A: Activation> Rule for Frames<A> {
    type Function = A::Function;
    type Residual = ();

    #[inline]
    fn forward(&mut self, args: Args<'_, A::Function>) -> (<A::Function as Function>::Output, ()) {
        if self.pending == self.frames.len() {
            let frame = self.make();
            self.frames.push(frame);
        }
        // Counted only once the forward is through: a panic in it leaves no activation behind.
        let output = self.frames[self.pending].forward(args);
        self.pending += 1;
        (output, ())
    }

    #[inline]
    fn pullback<'a>(
        &mut self,
        (): (),
        args: Args<'a, A::Function>,
        shadows: Shadows<'a, A::Function>,
        seed: Cotangent<A::Function>,
    ) -> Gradients<A::Function> {
        self.pending = self.pending.checked_sub(1).expect("a pullback follows its forward");
        self.frames[self.pending].pullback(args, shadows, seed)
    }

    fn forgo(&mut self, parameter: usize) {
        self.forgone |= 1 << parameter;
    }
}

/// A `&T` argument in a pullback.
pub struct Dual<'a, T: Differentiable + ?Sized> {
    /// What the forward got.
    pub value: &'a T,
    /// Where its gradient is added; nothing if it is constant.
    pub shadow: Shadow<T::Shadow<'a>>,
}

/// A `&mut T` argument in a pullback.
pub struct DualMut<'a, T: Differentiable + ?Sized> {
    /// What the forward left; the pullback brings back what it got.
    pub value: &'a mut T,
    /// On entry the gradient with respect to the value at the call's exit; the pullback replaces it with the gradient
    /// with respect to the value at its entry. Nothing if the argument is constant.
    pub shadow: Shadow<T::Shadow<'a>>,
}
