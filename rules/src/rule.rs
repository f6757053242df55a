//! What a rule is: forward, pullback, and state that lasts.

use std::any::Any;

use crate::function::{Args, Cotangent, Function, Gradients, Parameters, Shadows};
use crate::state::State;

/// How to differentiate the function `Self::Function`: a *forward* that computes its value and keeps what the *pullback*
/// will need, plus the [`State`] that makes keeping cheap.
///
/// A rule object belongs to one call site and lives as long as the gradient object around it. Nothing is allocated until
/// the first forward, and from then on its buffers are reused.
///
/// For output *y = f(x)* and a scalar *L* that depends on *y*, the pullback maps the cotangent *∂L/∂y* to
/// *∂L/∂x = (∂y/∂x)ᵀ ∂L/∂y*.
///
/// # Contract
/// * The value of `forward` equals the primal's bit for bit.
/// * `pullback` gets the same arguments as the matching `forward`, in the state in which that forward left them. It brings
///   every `&mut` argument back to what it held before, unless that was [forgone](Rule::forgo).
/// * `pullback` is linear in the cotangents. Nothing is asked of these but arithmetic, and whether they are zero: they may hold several seeds.
/// * `pullback` *adds* to the shadows of `&` arguments. The shadow of a `&mut` argument holds the cotangent of its
///   value at exit, and the pullback replaces that with the gradient with respect to its value at entry.
/// * Calls nest like brackets: `forward` may be called again before `pullback`, and each `pullback` undoes the latest
///   forward that is still pending. After [`State::reset`] nothing is pending.
pub trait Rule: State {
    /// The function's signature.
    type Function: Function;
    /// What one forward hands to its pullback by value.
    type Residual: Send;
    /// Whether [`value_and_pullback`](Rule::value_and_pullback) is more than a forward and its pullback, and so to be tested.
    #[doc(hidden)]
    const AT_ONCE: bool = true;

    /// Computes the function and keeps what its pullback needs.
    fn forward(
        &mut self,
        args: Args<'_, Self::Function>,
    ) -> (<Self::Function as Function>::Output, Self::Residual);

    /// Undoes the matching forward and propagates gradients from the output to the arguments.
    fn pullback<'a>(
        &mut self,
        residual: Self::Residual,
        args: Args<'a, Self::Function>,
        shadows: Shadows<'a, Self::Function>,
        seed: Cotangent<'_, Self::Function>,
    ) -> Gradients<Self::Function>;

    /// Forward and pullback at once, for when the seed is known beforehand. A rule may have a faster way than one after the
    /// other; value and gradients are the same.
    #[inline]
    fn value_and_pullback<'a>(
        &mut self,
        mut args: Args<'a, Self::Function>,
        shadows: Shadows<'a, Self::Function>,
        seed: Cotangent<'_, Self::Function>,
    ) -> (<Self::Function as Function>::Output, Gradients<Self::Function>) {
        type List<R> = <<R as Rule>::Function as Function>::Parameters;
        let (value, residual) = self.forward(List::<Self>::reborrow(&mut args));
        (value, self.pullback(residual, args, shadows, seed))
    }

    /// The same for a caller that has asked the rule to [`overwrite`](Rule::overwrite) the shadows of all parameters.
    #[doc(hidden)]
    #[inline]
    fn value_and_pullback_afresh<'a>(
        &mut self,
        args: Args<'a, Self::Function>,
        shadows: Shadows<'a, Self::Function>,
        seed: Cotangent<'_, Self::Function>,
    ) -> (<Self::Function as Function>::Output, Gradients<Self::Function>) {
        self.value_and_pullback(args, shadows, seed)
    }

    /// Takes back what a forward has returned, after the matching pullback, once nobody reads it any more: the memory that it
    /// owns may serve a later forward. A caller need not do this.
    #[inline(always)]
    fn reclaim(&mut self, output: <Self::Function as Function>::Output) {
        drop(output);
    }

    /// Takes an argument that the function owns and its rule has been lent, after the matching pullback, once nobody reads it any more: its
    /// memory may serve a later forward in which the function moves that argument, or changes it. `argument` is an `Option` of it; tells whether
    /// it has been taken out. In its place `()` asks whether the rule waits for one. A caller need not do this.
    #[doc(hidden)]
    #[inline(always)]
    fn reclaim_argument(&mut self, parameter: usize, argument: &mut dyn Any) -> bool {
        let _ = (parameter, argument);
        false
    }

    /// Tells the rule what nobody will look at, so that it need not compute it. Called before the first forward.
    ///
    /// * If parameter number `parameter` is passed by `&mut`: what it held on entry. The pullback need not bring it back.
    /// * If it is passed by value: its gradient. The pullback may return anything for it.
    ///
    /// A rule may do the work all the same.
    fn forgo(&mut self, parameter: usize) {
        let _ = parameter;
    }

    /// Asks the rule to overwrite something that has not been used before. Called before the first forward.
    ///
    /// * If parameter number `parameter` is passed by `&`: its shadow. Nothing has been added to any that pullbacks are given, and what
    ///   these hold does not matter: pullbacks have to *write* instead of adding.
    /// * If it is passed by `&mut`: its value. What it holds on entry does not matter, and neither does what the pullback leaves in it and
    ///   in its shadow. Where a forward reads any of what the argument holds on entry, the rule cannot.
    ///
    /// Tells whether it will: then every pullback sets every element of the shadow, or every forward every element of the argument.
    fn overwrite(&mut self, parameter: usize) -> bool {
        let _ = parameter;
        false
    }

    /// Tells the rule that nobody will look at what the output holds, only at its shape: all of it is overwritten first. Called before
    /// the first forward. A rule may do the work all the same.
    #[doc(hidden)]
    fn forgo_output(&mut self) {}

    /// [`forgo`](Rule::forgo) as an adapter: what to write where the rule is made.
    fn forgoing(mut self, parameter: usize) -> Self
    where
        Self: Sized,
    {
        self.forgo(parameter);
        self
    }
}
