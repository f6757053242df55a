//! How a table of methods becomes rules.
//!
//! Derived code calls, in the place of a method `f`, the method `f_has_no_rule_mark_its_impl_differentiable`, which brings the
//! arguments together for the rule of a function: that name is what the compiler shows where there is none. Each such
//! method is in a trait of its own, which derived code has in scope.

use crate::shadow::{Accumulate, Shadow};

/// The shadow of an argument by reference, as a pullback adds to it.
pub(super) trait Add<G> {
    /// Adds what `gradient` computes, which is nothing where the argument is constant.
    fn add(self, gradient: impl FnOnce() -> G);
}

impl<C: Accumulate> Add<C::Tangent> for Shadow<&C> {
    #[inline(always)]
    fn add(self, gradient: impl FnOnce() -> C::Tangent) {
        if let Some(cells) = self.get() {
            cells.accumulate(gradient());
        }
    }
}

/// Adds to each element of a shadow what `gradient` says.
pub(super) fn add_each<C: Accumulate>(shadow: Shadow<&[C]>, gradient: impl Fn(usize) -> C::Tangent) {
    if let Some(cells) = shadow.get() {
        cells.iter().enumerate().for_each(|(k, cell)| cell.accumulate(gradient(k)));
    }
}

/// Rules of methods and associated functions, of matrices with entries of type `T`.
///
/// ```text
/// Name[N, M]<K> where [bounds], Trait for Type: name(&self a: Type, b: Ref<B>, …) -> Y = value; keeps y; |d, da, db| (…, …);
/// ```
/// `[…]` are the lengths that the types tell, `<…>` those that a caller writes out. The pullback has the arguments, the value if
/// that is kept, the gradient `d` with respect to it, and the shadows; it yields what the arguments by value get, and what
/// [`Add::add`] does for the others.
macro_rules! rules {
    ($(
        $(#[$doc:meta])*
        $Name:ident [$($N:ident)*] $(<$($K:ident)*>)? $(where [$($bound:tt)*])?, $Trait:ident for $Self:ty:
        $sibling:ident($(&$receiver:ident $self:ident $(,)?)? $($b:ident: $Mode:ident<$B:ty>),*) -> $Y:ty = $primal:expr;
        $(keeps $y:ident;)?
        |$d:ident $(, $shadow:ident)*| $gradients:expr;
    )*) => {
        /// The traits alone: their names mean nothing to derived code.
        pub(crate) mod traits {
            $(pub use super::$Trait as _;)*
        }
        $(
            $(#[$doc])*
            pub struct $Name<T $(, const $N: usize)* $($(, const $K: usize)*)?>(std::marker::PhantomData<fn() -> T>);

            impl<T: Entry $(, const $N: usize)* $($(, const $K: usize)*)?> crate::Function for $Name<T $(, $N)* $($(, $K)*)?>
            $(where $($bound)*)?
            {
                type Parameters = ($(rules!(@receiver $self $Self),)? $($Mode<$B>,)*);
                type Output = $Y;
                const NAME: &'static str = stringify!($Name);

                fn primal(($($self,)? $($b,)*): crate::Args<'_, Self>) -> $Y {
                    $primal
                }
            }

            impl<T: Entry $(, const $N: usize)* $($(, const $K: usize)*)?> crate::call::HasRule
                for $Name<T $(, $N)* $($(, $K)*)?>
            $(where $($bound)*)?
            {
                fn make_rule() -> impl crate::Rule<Function = Self> + 'static {
                    crate::derived::derived::<Self, _, _, _, _>(
                        (),
                        |_, ($($self,)? $($b,)*)| {
                            let value = $primal;
                            (value, rules!(@kept value $($y)?))
                        },
                        #[allow(unused_variables)]
                        |_, rules!(@pattern $($y)?), ($($self,)? $($b,)*), ($($shadow,)*), $d| $gradients,
                    )
                }
            }

            $(#[$doc])*
            pub trait $Trait<T: Entry $(, const $N: usize)*> {
                #[doc(hidden)]
                #[allow(clippy::wrong_self_convention, reason = "the name of a method of nalgebra's")]
                fn $sibling<'a $($(, const $K: usize)*)?>(
                    $(&'a $receiver,)?
                    $($b: <$Mode<$B> as crate::Parameter>::Arg<'a>),*
                ) -> crate::call::Call<'a, $Name<T $(, $N)* $($(, $K)*)?>>
                $(where $($bound)*)?;
            }

            impl<T: Entry $(, const $N: usize)*> $Trait<T $(, $N)*> for $Self {
                #[inline(always)]
                fn $sibling<'a $($(, const $K: usize)*)?>(
                    $(&'a $receiver,)?
                    $($b: <$Mode<$B> as crate::Parameter>::Arg<'a>),*
                ) -> crate::call::Call<'a, $Name<T $(, $N)* $($(, $K)*)?>>
                $(where $($bound)*)?
                {
                    crate::call::Call::new(($(rules!(@this $receiver $self),)? $($b,)*))
                }
            }
        )*
    };
    (@receiver $self:ident $Self:ty) => { crate::Ref<$Self> };
    (@this $receiver:ident $self:ident) => { $receiver };
    (@kept $value:ident) => { () };
    (@kept $value:ident $y:ident) => { $value };
    (@pattern) => { () };
    (@pattern $y:ident) => { $y };
}
pub(super) use rules;
