//! Rules of what makes the elements of slices, and other data behind references, change places.

use std::marker::PhantomData;

use crate::activation::Activation;
use crate::exchange::{Exchange, ExchangeItems, check};
use crate::function::{Args, Gradients, Shadows};
use crate::mutation::{exchange, reverse, rotate_left, rotate_right, swap, swap_with_slice};
use crate::rows::Item;
use crate::shadow::Shadow;

/// The elements are of one shape.
fn check_all<T: ExchangeItems>(x: &[T]) {
    check(x.windows(2).all(|pair| pair[0].alike_items(&pair[1])));
}

/// Rules of permutations, which are undone by their inverse.
macro_rules! permutations {
    ($($rule:ident: $function:ident($($arg:ident),*) $x:ident if $check:expr => $apply:expr, $undo:expr;)*) => {$(
        #[doc(hidden)]
        pub struct $rule<T>(PhantomData<fn() -> T>);

        impl<T> Default for $rule<T> {
            fn default() -> Self {
                $rule(PhantomData)
            }
        }

        impl<T: ExchangeItems + 'static> Activation for $rule<T> {
            type Function = $function<T>;

            #[inline]
            fn forward(&mut self, ($($arg,)* $x,): Args<'_, Self::Function>) {
                $check;
                $apply
            }
            #[inline]
            fn pullback<'a>(
                &mut self,
                ($($arg,)* $x,): Args<'a, Self::Function>,
                shadows: Shadows<'a, Self::Function>,
                (): (),
            ) -> Gradients<Self::Function> {
                $undo;
                let len = $x.len();
                permutations!(@shadow shadows, $($arg)*, $x);
                if let Some($x) = $x.get() {
                    let $x = Permuted::<T>($x, len);
                    $undo;
                }
                permutations!(@gradients $($arg)*)
            }
        }
    )*};
    (@shadow $shadows:ident, , $x:ident) => { let ($x,) = $shadows; };
    (@shadow $shadows:ident, $a:ident, $x:ident) => { let (_, $x) = $shadows; };
    (@shadow $shadows:ident, $a:ident $b:ident, $x:ident) => { let (_, _, $x) = $shadows; };
    (@gradients) => { ((),) };
    (@gradients $a:ident) => { ((), ()) };
    (@gradients $a:ident $b:ident) => { ((), (), ()) };
}
permutations! {
    Swap: swap(i, j) x if check(x[i].alike_items(&x[j])) => x.swap(i, j), x.swap(i, j);
    Reverse: reverse() x if check_all(x) => x.reverse(), x.reverse();
    RotateLeft: rotate_left(k) x if check_all(x) => x.rotate_left(k), x.rotate_right(k);
    RotateRight: rotate_right(k) x if check_all(x) => x.rotate_right(k), x.rotate_left(k);
}

/// Shadows to be permuted as a slice is.
struct Permuted<'a, T: Item>(T::Shadows<'a>, usize);

impl<T: ExchangeItems> Permuted<'_, T> {
    #[inline]
    fn swap(&self, i: usize, j: usize) {
        T::swap_shadows(self.0, i, j);
    }
    fn reverse(&self) {
        self.reverse_part(0, self.1);
    }
    fn reverse_part(&self, start: usize, end: usize) {
        for i in 0..(end - start) / 2 {
            self.swap(start + i, end - 1 - i);
        }
    }
    /// By three reversals: nothing is allocated.
    fn rotate_left(&self, k: usize) {
        self.reverse_part(0, k);
        self.reverse_part(k, self.1);
        self.reverse();
    }
    fn rotate_right(&self, k: usize) {
        self.rotate_left(self.1 - k);
    }
}

#[doc(hidden)]
pub struct Exchanged<T> {
    room: usize,
    marker: PhantomData<fn() -> T>,
}

impl<T> Default for Exchanged<T> {
    fn default() -> Self {
        Exchanged { room: 0, marker: PhantomData }
    }
}

impl<T: Exchange + 'static> Activation for Exchanged<T> {
    type Function = exchange<T>;

    #[inline]
    fn forward(&mut self, (x, y): Args<'_, Self::Function>) {
        check(x.alike(y));
        self.room = x.largest().max(y.largest());
        std::mem::swap(x, y);
    }
    #[inline]
    fn pullback<'a>(
        &mut self,
        (x, y): Args<'a, Self::Function>,
        (dx, dy): Shadows<'a, Self::Function>,
        (): (),
    ) -> Gradients<Self::Function> {
        std::mem::swap(x, y);
        exchange_shadows::<T>(dx, dy);
        ((), ())
    }
    #[inline(always)]
    fn least_room(&self) -> usize {
        self.room
    }
}

/// Exchanges two gradients; what a constant has is nothing.
#[inline(always)]
fn exchange_shadows<'a, T: Exchange + ?Sized>(dx: Shadow<T::Shadow<'a>>, dy: Shadow<T::Shadow<'a>>) {
    match (dx.get(), dy.get()) {
        (Some(dx), Some(dy)) => T::exchange(dx, dy),
        (one, other) => one.into_iter().chain(other).for_each(T::clear),
    }
}

#[doc(hidden)]
pub struct SwapWithSlice<T>(PhantomData<fn() -> T>);

impl<T> Default for SwapWithSlice<T> {
    fn default() -> Self {
        SwapWithSlice(PhantomData)
    }
}

impl<T: ExchangeItems + 'static> Activation for SwapWithSlice<T> {
    type Function = swap_with_slice<T>;

    #[inline]
    fn forward(&mut self, (y, x): Args<'_, Self::Function>) {
        check(x.alike(y));
        x.swap_with_slice(y);
    }
    #[inline]
    fn pullback<'a>(
        &mut self,
        (y, x): Args<'a, Self::Function>,
        (dy, dx): Shadows<'a, Self::Function>,
        (): (),
    ) -> Gradients<Self::Function> {
        x.swap_with_slice(y);
        exchange_shadows::<[T]>(dx, dy);
        ((), ())
    }
}
