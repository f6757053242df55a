//! Rules of what makes the elements of slices, and other data behind references, change places.

use std::marker::PhantomData;

use crate::activation::Activation;
use crate::exchange::{Exchange, ExchangeItems, check, has_room};
use crate::function::{Args, Gradients, Shadows};
use crate::mutation::{exchange, reverse, rotate_left, rotate_right, swap, swap_with_slice};
use crate::rows::Item;
use crate::shadow::Shadow;

/// The elements that change places, where these are more than numbers.
#[inline]
fn elements<T: Item>(x: &[T], at: impl IntoIterator<Item = usize>) -> impl Iterator<Item = (usize, &T)> {
    let at = at.into_iter().take(if <T as Item>::RESIZES { usize::MAX } else { 0 });
    at.map(|i| (i, &x[i]))
}

/// See [`check`].
#[inline]
fn check_all<'a, T: Exchange + 'a>(mut elements: impl Iterator<Item = (usize, &'a T)>) {
    if let Some((_, first)) = elements.next() {
        elements.for_each(|(_, other)| check(first, other));
    }
}

/// Rules of permutations, which are undone by their inverse.
macro_rules! permutations {
    ($($rule:ident: $function:ident($($arg:ident),*) $x:ident at $at:expr => $apply:expr, $undo:expr;)*) => {$(
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
            #[allow(unused_variables, reason = "not each says which elements change places")]
            fn room_for(&($($arg,)* ref $x,): &Args<'_, Self::Function>) -> usize {
                elements($x, $at).map(|(_, x)| x.largest()).max().unwrap_or(0)
            }
            #[inline]
            fn forward(&mut self, ($($arg,)* $x,): Args<'_, Self::Function>) {
                check_all(elements($x, $at));
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
                permutations!(@shadow shadows, $($arg)*, shadow);
                if let Some(cells) = shadow.get() {
                    has_room(elements($x, $at).all(|(i, x)| x.fits(T::shadow_at(cells, i))));
                    let $x = Permuted::<T>(cells, $x.len());
                    $undo;
                }
                permutations!(@gradients $($arg)*)
            }
        }
    )*};
    (@shadow $shadows:ident, , $shadow:ident) => { let ($shadow,) = $shadows; };
    (@shadow $shadows:ident, $a:ident, $shadow:ident) => { let (_, $shadow) = $shadows; };
    (@shadow $shadows:ident, $a:ident $b:ident, $shadow:ident) => { let (_, _, $shadow) = $shadows; };
    (@gradients) => { ((),) };
    (@gradients $a:ident) => { ((), ()) };
    (@gradients $a:ident $b:ident) => { ((), (), ()) };
}
permutations! {
    Swap: swap(i, j) x at [i, j] => x.swap(i, j), x.swap(i, j);
    Reverse: reverse() x at 0..x.len() => x.reverse(), x.reverse();
    RotateLeft: rotate_left(k) x at 0..x.len() => x.rotate_left(k), x.rotate_right(k);
    RotateRight: rotate_right(k) x at 0..x.len() => x.rotate_right(k), x.rotate_left(k);
}

/// Shadows to be permuted as a slice is.
struct Permuted<'a, T: Item>(T::Shadows<'a>, usize);

impl<T: ExchangeItems> Permuted<'_, T> {
    #[inline]
    fn swap(&self, i: usize, j: usize) {
        T::swap_shadows(self.0, i, j);
    }
    fn reverse(&self) {
        (0..self.1 / 2).for_each(|i| self.swap(i, self.1 - 1 - i));
    }
    /// Along each cycle: a gradient comes to no place that its element does not come to, or leave.
    fn rotate_left(&self, k: usize) {
        for start in 0..gcd(k, self.1) {
            let (mut i, mut next) = (start, (start + k) % self.1);
            while next != start {
                self.swap(i, next);
                (i, next) = (next, (next + k) % self.1);
            }
        }
    }
    fn rotate_right(&self, k: usize) {
        self.rotate_left(self.1 - k);
    }
}

/// The greatest common divisor.
fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[doc(hidden)]
pub struct Exchanged<T>(PhantomData<fn() -> T>);

impl<T> Default for Exchanged<T> {
    fn default() -> Self {
        Exchanged(PhantomData)
    }
}

impl<T: Exchange + 'static> Activation for Exchanged<T> {
    type Function = exchange<T>;

    #[inline]
    fn room_for((x, y): &Args<'_, Self::Function>) -> usize {
        x.largest().max(y.largest())
    }
    #[inline]
    fn forward(&mut self, (x, y): Args<'_, Self::Function>) {
        check(x, y);
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
        exchange_shadows(x, y, dx, dy);
        ((), ())
    }
}

/// Exchanges two gradients, now that `x` and `y` are back; what a constant has is nothing.
#[inline(always)]
fn exchange_shadows<'a, T: Exchange + ?Sized>(
    x: &T,
    y: &T,
    dx: Shadow<T::Shadow<'a>>,
    dy: Shadow<T::Shadow<'a>>,
) {
    has_room(dx.get().is_none_or(|dx| x.fits(dx)) && dy.get().is_none_or(|dy| y.fits(dy)));
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
    fn room_for((y, x): &Args<'_, Self::Function>) -> usize {
        T::largest_of(x).max(T::largest_of(y))
    }
    #[inline]
    fn forward(&mut self, (y, x): Args<'_, Self::Function>) {
        x.iter().zip(&*y).for_each(|(one, other)| check(one, other));
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
        exchange_shadows(x, y, dx, dy);
        ((), ())
    }
}
