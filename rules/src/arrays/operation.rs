//! Rules that keep nothing of a single call, but memory from call to call.

use crate::function::{Args, Cotangent, Function, Gradients, Parameters, Shadows};
use crate::heap::HeapSize;
use crate::rule::Rule;
use crate::state::State;
use crate::tangent::Tangent;

/// A function whose pullback reads its arguments alone.
pub trait Operation: Function {
    /// What lasts from call to call: memory for outputs, plans.
    type Kept: Kept;

    /// See [`Rule::forward`].
    fn forward(kept: &mut Self::Kept, args: Args<'_, Self>) -> Self::Output;
    /// See [`Rule::pullback`].
    fn pullback<'a>(
        kept: &mut Self::Kept,
        args: Args<'a, Self>,
        shadows: Shadows<'a, Self>,
        seed: Cotangent<'_, Self>,
    ) -> Gradients<Self>;
    /// See [`Rule::reclaim`].
    fn reclaim(kept: &mut Self::Kept, output: Self::Output) {
        let _ = (kept, output);
    }
}

/// What lasts from call to call.
pub trait Kept: Default + Send + HeapSize {
    /// For one forward, without a pullback.
    fn once() -> Self {
        Self::default()
    }
    /// The pullback of the latest forward has run.
    fn settle(&mut self) {}
    /// Forwards whose pullbacks have not run are forgotten, along with what they returned.
    fn reset(&mut self) {}
    /// See [`Rule::forgo_output`].
    fn forgo_output(&mut self) {}
    /// Gives back the memory.
    fn shrink(&mut self) {
        *self = Self::default();
    }
}

impl Kept for () {}

/// Memory to work in.
impl<T: Copy + Send> Kept for Vec<T> {}

/// The rule of an [`Operation`].
pub struct Operated<F: Operation> {
    kept: F::Kept,
    /// The parameters, as bits, that nobody asks for.
    forgone: u32,
}

impl<F: Operation> Default for Operated<F> {
    fn default() -> Self {
        Operated { kept: F::Kept::default(), forgone: 0 }
    }
}

impl<F: Operation> State for Operated<F> {
    fn reset(&mut self) {
        self.kept.reset();
    }
    fn shrink(&mut self) {
        self.kept.shrink();
    }
    fn pending(&self) -> usize {
        0
    }
    fn memory(&self) -> usize {
        self.kept.heap_size()
    }
}

impl<F: Operation> Rule for Operated<F> {
    type Function = F;
    type Residual = ();

    #[inline]
    fn forward(&mut self, args: Args<'_, F>) -> (F::Output, ()) {
        (F::forward(&mut self.kept, args), ())
    }

    #[inline]
    fn pullback<'a>(
        &mut self,
        (): (),
        args: Args<'a, F>,
        shadows: Shadows<'a, F>,
        seed: Cotangent<'_, F>,
    ) -> Gradients<F> {
        self.kept.settle();
        let asked = F::Parameters::SHADOWED | F::Parameters::RETURNED & !self.forgone;
        if asked == 0 {
            return Tangent::zero();
        }
        F::pullback(&mut self.kept, args, shadows, seed)
    }

    fn forgo(&mut self, parameter: usize) {
        self.forgone |= 1 << parameter;
    }

    fn forgo_output(&mut self) {
        self.kept.forgo_output();
    }

    #[inline]
    fn reclaim(&mut self, output: F::Output) {
        F::reclaim(&mut self.kept, output);
    }
}

/// A function for what an operation does, and the type of the same name that has its rule.
macro_rules! operation {
    (
        $(#[$doc:meta])*
        $name:ident<$($G:ident: ($($bound:tt)*)),*>($($arg:ident: $mode:ty as $ty:ty),*) -> $Y:ty
        $(where [$($clause:tt)*])?;
    ) => {
        $(#[$doc])*
        pub fn $name<'a, $($G: $($bound)*),*>($($arg: $ty),*) -> $Y $(where $($clause)*)? {
            $crate::arrays::operation::primal::<$name<$($G),*>>(($($arg,)*))
        }

        $(#[$doc])*
        #[allow(non_camel_case_types)]
        pub struct $name<$($G),*> {
            marker: ::std::marker::PhantomData<fn() -> ($(::std::marker::PhantomData<$G>,)*)>,
        }

        impl<$($G: $($bound)*),*> $crate::function::Function for $name<$($G),*> $(where $($clause)*)? {
            type Parameters = ($($mode,)*);
            type Output = $Y;
            const NAME: &'static str = stringify!($name);

            fn primal(args: $crate::function::Args<'_, Self>) -> Self::Output {
                $crate::arrays::operation::primal::<Self>(args)
            }
        }

        impl<$($G: $($bound)*),*> $name<$($G),*> $(where $($clause)*)? {
            /// The arguments of a call.
            #[inline(always)]
            pub fn args<'a>($($arg: $ty),*) -> $crate::function::Args<'a, Self> {
                ($($arg,)*)
            }
            /// The rule.
            pub fn rule() -> $crate::arrays::operation::Operated<Self> {
                Default::default()
            }
        }
    };
}
pub(super) use operation;

/// The function by itself, in memory of its own.
pub(super) fn primal<F: Operation>(args: Args<'_, F>) -> F::Output {
    F::forward(&mut F::Kept::once(), args)
}

#[cfg(test)]
mod tests {
    use crate::Rule;
    use crate::arrays::construct::from_elem;

    /// The gradient with respect to a constant is not computed.
    #[test]
    fn what_is_forgone_is_zero() {
        let d = ndarray::array![1.0, 2.0];
        let mut asked = from_elem::<f64, usize>::rule();
        let (_, ()) = asked.forward((2, 0.0));
        assert_eq!(asked.pullback((), (2, 0.0), Default::default(), &d), ((), 3.0));
        let mut forgone = from_elem::<f64, usize>::rule().forgoing(1);
        let (_, ()) = forgone.forward((2, 0.0));
        assert_eq!(forgone.pullback((), (2, 0.0), Default::default(), &d), ((), 0.0));
    }
}
