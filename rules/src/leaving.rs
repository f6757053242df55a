//! What a branch moves out of the block around it, of whatever type: plain data is copied there, and anything else leaves a blank value
//! behind, so that the reverse pass, which puts it back, finds one in any case.

use std::marker::PhantomData;

use crate::blank::Blank;
use crate::local::Pool;
use crate::output::Output;
use crate::shadow::Differentiable;
use crate::tangent::{Tangent, accumulate};

/// A local that may be moved in a branch, by its type. Which of the traits below has the methods is found out by references that are
/// taken off one by one.
pub struct Leaving<T>(PhantomData<T>);

impl<T> Leaving<T> {
    /// Of this type.
    #[inline(always)]
    pub fn of(_: &T) -> Self {
        Leaving(PhantomData)
    }
}

/// Plain data, which may be used again.
pub trait LeaveCopy<T> {
    /// What is moved.
    fn leave(self, whole: &mut T) -> T;
    /// A zero gradient of the shape of what has been left.
    fn rest(self, whole: &T, pool: &mut Pool<T::Gradient>) -> T::Gradient
    where
        T: Differentiable;
    /// Undoes the move: the `value` has the gradient `d`.
    fn come_back<G: Tangent>(self, whole: &mut T, value: T, shadow: &mut G, d: G, pool: &mut Pool<G>);
}

impl<T: Copy> LeaveCopy<T> for &&&Leaving<T> {
    #[inline(always)]
    fn leave(self, whole: &mut T) -> T {
        *whole
    }
    #[inline(always)]
    fn rest(self, whole: &T, pool: &mut Pool<T::Gradient>) -> T::Gradient
    where
        T: Differentiable,
    {
        pool.take(whole)
    }
    #[inline(always)]
    fn come_back<G: Tangent>(self, whole: &mut T, value: T, shadow: &mut G, d: G, pool: &mut Pool<G>) {
        *whole = value;
        accumulate(shadow, d);
        pool.give(d);
    }
}

macro_rules! leave {
    ($(#[$doc:meta])* $name:ident [$($bound:tt)*] $of:ty, $blank:expr $(, where T: $asked:path)?) => {
        $(#[$doc])*
        pub trait $name<T> {
            /// What is moved.
            fn leave(self, whole: &mut T) -> T
            $(where T: $asked)?;
            /// A zero gradient of the shape of what has been left: where that owns nothing, no memory is asked for.
            fn rest(self, whole: &T, pool: &mut Pool<<T as Differentiable>::Gradient>) -> <T as Differentiable>::Gradient
            where
                T: Output + Differentiable;
            /// Undoes the move: the `value` has the gradient `d`.
            fn come_back<G>(self, whole: &mut T, value: T, shadow: &mut G, d: G, pool: &mut Pool<G>);
        }

        impl<T: $($bound)*> $name<T> for $of {
            #[inline(always)]
            fn leave(self, whole: &mut T) -> T
            $(where T: $asked)?
            {
                let blank = $blank;
                std::mem::replace(whole, blank)
            }
            #[inline(always)]
            fn rest(self, whole: &T, pool: &mut Pool<<T as Differentiable>::Gradient>) -> <T as Differentiable>::Gradient
            where
                T: Output + Differentiable,
            {
                pool.measured(<T as Differentiable>::gradient_size);
                if <T as Output>::size(whole) > 0 {
                    return pool.take(whole);
                }
                let mut gradient = <T as Differentiable>::empty();
                Differentiable::prepare(whole, &mut gradient);
                gradient
            }
            #[inline(always)]
            fn come_back<G>(self, whole: &mut T, value: T, shadow: &mut G, d: G, pool: &mut Pool<G>) {
                *whole = value;
                pool.give_rest(std::mem::replace(shadow, d));
            }
        }
    };
}

leave! {
    /// Blank field by field.
    LeaveBlank [Blank] &&Leaving<T>, T::blank()
}
leave! {
    /// By `Default` otherwise.
    LeaveDefault [Default] &Leaving<T>, T::default()
}
leave! {
    /// Nothing else can be left behind: an error.
    LeaveNothing [] Leaving<T>, T::blank(), where T: LeavesBlank
}

/// No type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not moved differentiably in a branch, out of the block around it",
    label = "not known what to leave behind",
    note = "derive or implement `Default` for it, or move it in the block that makes it"
)]
pub trait LeavesBlank: Sized {
    /// What would be left.
    fn blank() -> Self;
}
