//! Vectors that are collected from others which are used up, `y.into_iter().map(f).collect()`: in their memory, as the standard library does.
//!
//! A rule reads in its pullback what the function has used up, so that it needs memory of its own. But what is used up is of no more use after
//! the pullback: it serves the next vector, so that the two passes allocate what the function does.

use std::any::Any;
use std::marker::PhantomData;

use crate::function::{Args, ConstVal, Cotangent, Function, Gradients, Ref, Shadows};
use crate::mutation::CopyItem;
use crate::owning::Owning;
use crate::rule::Rule;
use crate::shadow::Differentiable;
use crate::state::state_within;
use crate::tangent::Tangent;

/// `n` zeros.
#[inline(always)]
pub fn recycled<C: ?Sized, T: Collected>(_used_up: &C, n: usize) -> Vec<T> {
    vec![T::zero(); n]
}

/// What stands beside it for derived code, in which nothing but the use of the vector tells the type of the numbers.
#[allow(non_camel_case_types)]
pub enum recycled {}

impl recycled {
    /// The arguments of a call.
    #[inline(always)]
    pub fn args<C: ?Sized>(used_up: &C, n: usize) -> (&C, usize) {
        (used_up, n)
    }
    /// The rule.
    pub fn rule<C: Differentiable + ?Sized + 'static, T: Collected>() -> Recycling<C, T> {
        Recycling { owning: Owning::new(), marker: PhantomData }
    }
}

/// A number that can be collected.
pub trait Collected: CopyItem + Tangent + Send + 'static {}

impl<T: CopyItem + Tangent + Send + 'static> Collected for T {}

/// The function for numbers of one type that use up one of another.
pub struct Recycled<C: ?Sized, T>(PhantomData<fn(&C) -> T>);

impl<C: Differentiable + ?Sized + 'static, T: Collected> Function for Recycled<C, T> {
    type Parameters = (Ref<C>, ConstVal<usize>);
    type Output = Vec<T>;
    const NAME: &'static str = "recycled";

    fn primal((used_up, n): Args<'_, Self>) -> Vec<T> {
        recycled(used_up, n)
    }
}

/// The rule of `recycled`. Where `C` is a `Vec<T>`, its memory comes back.
pub struct Recycling<C: ?Sized, T: Collected> {
    owning: Owning<[T]>,
    marker: PhantomData<fn(&C)>,
}

state_within! { [C: ?Sized, T: Collected] Recycling<C, T> { owning: Owning<[T]> } }

impl<C: Differentiable + ?Sized + 'static, T: Collected> Rule for Recycling<C, T> {
    type Function = Recycled<C, T>;
    type Residual = ();
    const AT_ONCE: bool = false;

    #[inline]
    fn forward(&mut self, (used_up, n): Args<'_, Recycled<C, T>>) -> (Vec<T>, ()) {
        let zeros = self.owning.supply(
            n * size_of::<T>(),
            |spare| {
                spare.clear();
                spare.resize(n, T::zero());
            },
            || recycled(used_up, n),
        );
        (zeros, ())
    }

    #[inline]
    fn pullback<'a>(
        &mut self,
        (): (),
        _: Args<'a, Recycled<C, T>>,
        _: Shadows<'a, Recycled<C, T>>,
        _: Cotangent<'_, Recycled<C, T>>,
    ) -> Gradients<Recycled<C, T>> {
        self.owning.settle();
        ((), ())
    }

    fn reclaim(&mut self, output: Vec<T>) {
        self.reclaim_argument(0, &mut Some(output));
    }

    fn reclaim_argument(&mut self, parameter: usize, argument: &mut dyn Any) -> bool {
        self.owning.reclaim_argument(parameter, argument)
    }
}
