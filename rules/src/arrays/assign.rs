//! `+= -= *= /=`, `fill` and `scaled_add`: what changes an array, element by element, together with another one or with a number. The
//! array stands last among the parameters, so that the other argument is evaluated before it is borrowed.

use std::marker::PhantomData;

use ndarray::{ArrayBase, ArrayRef, Data, Zip};

use super::meets::Meets;
use super::operators::{Operator, Set};
use super::{Entry, Marker, Rank};
use crate::activation::{Activation, Frames};
use crate::dual::DualNumber;
use crate::float::Float;
use crate::function::{Args, Function, Gradients, Mut, Ref, Shadows, Val};
use crate::heap::HeapSize;
use crate::operators::operator::{Add, Div, Mul, Rem, Sub};
use crate::saved::Saved;
use crate::shadow::{ArrayCells, Differentiable, Shadow};

/// What an array with elements `T` and dimensions `D` can be changed by: another array, which is broadcast, or a number.
#[diagnostic::on_unimplemented(
    message = "an array is not changed by `{Self}` differentiably",
    note = "arrays of the same elements and no more dimensions, and numbers of that type, have a rule"
)]
pub trait Change<T: Entry, D: Rank>: Differentiable + 'static {
    /// Whether `x` has the shape of the result.
    fn fits(&self, x: &ArrayRef<T, D>) -> bool;
    /// `x op= self`
    fn apply<O: Operator>(&self, x: &mut ArrayRef<T, D>);
    /// `x = self op x`
    fn apply_before<O: Operator>(&self, x: &mut ArrayRef<T, D>);
    /// Hands the gradient with respect to the changed array, in `dx`, on; `x` is as it was before.
    fn hand_back<O: Operator>(
        &self,
        x: &ArrayRef<T, D>,
        by: Shadow<Self::Shadow<'_>>,
        dx: ArrayCells<'_, T, D>,
    );
}

impl<T: Meets<U, Both = T>, D: Rank, U: Meets<T, Both = T>, E: Rank> Change<T, D> for ArrayRef<U, E> {
    fn fits(&self, x: &ArrayRef<T, D>) -> bool {
        self.broadcast(x.raw_dim()).is_some()
    }
    fn apply<O: Operator>(&self, x: &mut ArrayRef<T, D>) {
        x.zip_mut_with(self, |x, &r| *x = O::value(*x, r));
    }
    fn apply_before<O: Operator>(&self, x: &mut ArrayRef<T, D>) {
        x.zip_mut_with(self, |x, &l| *x = O::value(l, *x));
    }
    fn hand_back<O: Operator>(
        &self,
        x: &ArrayRef<T, D>,
        by: Shadow<ArrayCells<'_, U, E>>,
        dx: ArrayCells<'_, T, D>,
    ) {
        let r = self.broadcast(x.raw_dim()).expect("the forward broadcast it");
        let zip = Zip::from(dx).and(x).and(r);
        match by.get() {
            Some(cells) => {
                let cells = cells.broadcast(x.raw_dim()).expect("the forward broadcast it");
                zip.and(cells).for_each(|dx, &x, &r, cell| {
                    let d = dx.get();
                    T::to_right(cell, O::right(x, r, d));
                    dx.set(O::left(x, r, d));
                });
            }
            None => zip.for_each(|dx, &x, &r| dx.set(O::left(x, r, dx.get()))),
        }
    }
}

macro_rules! by_number {
    ($([$($generics:tt)*] $T:ty, $S:ty;)*) => {$(
        impl<$($generics)* D: Rank> Change<$T, D> for $S {
            fn fits(&self, _: &ArrayRef<$T, D>) -> bool {
                true
            }
            fn apply<O: Operator>(&self, x: &mut ArrayRef<$T, D>) {
                x.map_inplace(|x| *x = O::value(*x, *self));
            }
            fn apply_before<O: Operator>(&self, x: &mut ArrayRef<$T, D>) {
                x.map_inplace(|x| *x = O::value(*self, *x));
            }
            fn hand_back<O: Operator>(
                &self,
                x: &ArrayRef<$T, D>,
                by: Shadow<<$S as Differentiable>::Shadow<'_>>,
                dx: ArrayCells<'_, $T, D>,
            ) {
                let mut total = <$T>::default();
                Zip::from(dx).and(x).for_each(|dx, &x| {
                    let d = dx.get();
                    total += O::right(x, *self, d);
                    dx.set(O::left(x, *self, d));
                });
                if let Some(cell) = by.get() {
                    <$T as Meets<$S>>::to_right(cell, total);
                }
            }
        }
    )*};
}
by_number! {
    [T: Entry,] T, T;
    [T: Float, const N: usize,] DualNumber<T, N>, f64;
}

/// An operand as it is written: what its type is without its owner.
pub trait Term<T> {
    /// That type.
    type As: ?Sized;
    /// The operand.
    fn term(&self) -> &Self::As;
}

macro_rules! terms {
    ($([$($generics:tt)*] $t:ty => $T:ty, $As:ty;)*) => {$(
        impl<$($generics)*> Term<$T> for $t {
            type As = $As;
            #[inline(always)]
            fn term(&self) -> &$As {
                self
            }
        }
    )*};
}
terms! {
    [T: Entry, S: Data, E: Rank] ArrayBase<S, E> => T, ArrayRef<S::Elem, E>;
    [T: Entry, U, E: Rank] ArrayRef<U, E> => T, ArrayRef<U, E>;
    [T: Entry] T => T, T;
    [T: Float, const N: usize] f64 => DualNumber<T, N>, f64;
}

/// `x op= r`
pub struct Changed<O, T, D, R: ?Sized>(Marker<(O, T, D, PhantomData<R>)>);

/// What is overwritten, kept to bring it back, or since a gradient reads it.
pub struct Changing<F, T> {
    old: Saved<T>,
    function: PhantomData<fn() -> F>,
}

impl<F, T> Default for Changing<F, T> {
    fn default() -> Self {
        Changing { old: Saved::default(), function: PhantomData }
    }
}

impl<O: Operator, T: Entry, D: Rank, R: Change<T, D> + ?Sized> Function for Changed<O, T, D, R> {
    type Parameters = (Ref<R>, Mut<ArrayRef<T, D>>);
    type Output = ();
    const NAME: &'static str = "assignment";

    fn primal((r, x): Args<'_, Self>) {
        r.apply::<O>(x);
    }
}

impl<O: Operator, T: Entry, D: Rank, R: Change<T, D> + ?Sized> Changed<O, T, D, R> {
    /// The arguments of a call.
    #[inline(always)]
    pub fn args<'a, B: Term<T, As = R> + ?Sized>(r: &'a B, x: &'a mut ArrayRef<T, D>) -> Args<'a, Self> {
        (r.term(), x)
    }
    /// The rule.
    pub fn rule() -> Frames<Changing<Self, T>> {
        Frames::default()
    }
}

impl<O: Operator, T: Entry, D: Rank, R: Change<T, D> + ?Sized> Activation
    for Changing<Changed<O, T, D, R>, T>
{
    type Function = Changed<O, T, D, R>;

    fn forward(&mut self, (r, x): Args<'_, Self::Function>) {
        match O::READS_LEFT {
            true => self.old.save(x),
            false => self.old.save_to_restore(x),
        }
        r.apply::<O>(x);
    }
    fn pullback<'a>(
        &mut self,
        (r, x): Args<'a, Self::Function>,
        (dr, dx): Shadows<'a, Self::Function>,
        (): (),
    ) -> Gradients<Self::Function> {
        self.old.restore(x);
        if let Some(dx) = dx.get() {
            r.hand_back::<O>(x, dr, dx);
        }
        ((), ())
    }
    fn heap_size(&self) -> usize {
        self.old.heap_size()
    }
    fn forgo(&mut self, parameter: usize) {
        if parameter == 1 {
            self.old.forgo();
        }
    }
}

macro_rules! names {
    ($($name:ident: $Op:ident;)*) => {$(
        /// The assignment as a function.
        pub fn $name<T: Entry, D: Rank, B>(r: &B, x: &mut ArrayRef<T, D>)
        where
            B: Term<T, As: Change<T, D>> + ?Sized,
        {
            r.term().apply::<$Op>(x);
        }
        /// The rule of the assignment.
        #[allow(non_camel_case_types)]
        pub type $name<T, D, R> = Changed<$Op, T, D, R>;
    )*};
}
names! {
    add_assign: Add;
    sub_assign: Sub;
    mul_assign: Mul;
    div_assign: Div;
    rem_assign: Rem;
    fill: Set;
}

/// `y.scaled_add(s, x)`
#[allow(non_camel_case_types)]
pub struct scaled_add<T, D, U, E> {
    marker: Marker<(T, D, U, E)>,
}

/// *y += s·x: ṡ = ⟨x, ẏ⟩, ẋ = s·ẏ*
pub fn scaled_add<T, D, U, E>(s: T, x: &ArrayRef<U, E>, y: &mut ArrayRef<T, D>)
where
    T: Meets<U, Both = T>,
    D: Rank,
    U: Entry,
    E: Rank,
{
    y.zip_mut_with(x, |y, &x| *y += s * x);
}

impl<T: Meets<U, Both = T>, D: Rank, U: Entry, E: Rank> Function for scaled_add<T, D, U, E> {
    type Parameters = (Val<T>, Ref<ArrayRef<U, E>>, Mut<ArrayRef<T, D>>);
    type Output = ();
    const NAME: &'static str = "scaled_add";

    fn primal((s, x, y): Args<'_, Self>) {
        scaled_add(s, x, y);
    }
}

impl<T: Meets<U, Both = T>, D: Rank, U: Entry, E: Rank> scaled_add<T, D, U, E> {
    /// The arguments of a call.
    #[inline(always)]
    pub fn args<'a>(s: T, x: &'a ArrayRef<U, E>, y: &'a mut ArrayRef<T, D>) -> Args<'a, Self> {
        (s, x, y)
    }
    /// The rule.
    pub fn rule() -> Frames<Changing<Self, T>> {
        Frames::default()
    }
}

impl<T: Meets<U, Both = T>, D: Rank, U: Entry, E: Rank> Activation for Changing<scaled_add<T, D, U, E>, T> {
    type Function = scaled_add<T, D, U, E>;

    fn forward(&mut self, (s, x, y): Args<'_, Self::Function>) {
        self.old.save_to_restore(y);
        scaled_add(s, x, y);
    }
    fn pullback<'a>(
        &mut self,
        (s, x, y): Args<'a, Self::Function>,
        (_, dx, dy): Shadows<'a, Self::Function>,
        (): (),
    ) -> Gradients<Self::Function> {
        self.old.restore(y);
        let mut total = T::ZERO;
        if let Some(dy) = dy.get() {
            let x = x.broadcast(dy.raw_dim()).expect("the forward broadcast it");
            Zip::from(dy).and(x).for_each(|dy, &x| total += dy.get() * x);
            if let Some(dx) = dx.get() {
                let dx = dx.broadcast(dy.raw_dim()).expect("the forward broadcast it");
                Zip::from(dy).and(dx).for_each(|dy, dx| T::to_right(dx, dy.get() * s));
            }
        }
        (total, (), ())
    }
    fn heap_size(&self) -> usize {
        self.old.heap_size()
    }
    fn forgo(&mut self, parameter: usize) {
        if parameter == 2 {
            self.old.forgo();
        }
    }
}
