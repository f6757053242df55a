//! `+= -= *= /=`, `fill` and `scaled_add`: what changes an array, element by element, together with another one or with a number. The
//! array stands last among the parameters, so that the other argument is evaluated before it is borrowed.

use std::marker::PhantomData;

use ndarray::{ArrayBase, ArrayRef, Data, Zip};

use super::operators::{Operator, Set};
use super::{Entry, Marker, Rank};
use crate::activation::{Activation, Frames};
use crate::function::{Args, Function, Gradients, Mut, Ref, Shadows, Val};
use crate::heap::HeapSize;
use crate::operators::operator::{Add, Div, Mul, Rem, Sub};
use crate::saved::Saved;
use crate::shadow::{Accumulate, ArrayCells, Differentiable, Shadow};

/// What an array with elements `T` and dimensions `D` can be changed by: another array, which is broadcast, or a number.
#[diagnostic::on_unimplemented(
    message = "an array is not changed by `{Self}` differentiably",
    note = "arrays of the same elements and no more dimensions, and numbers of that type, have a rule"
)]
pub trait Change<T: Entry, D: Rank>: Differentiable + 'static {
    /// `x op= self`
    fn apply<O: Operator>(&self, x: &mut ArrayRef<T, D>);
    /// Hands the gradient with respect to the changed array, in `dx`, on; `x` is as it was before.
    fn hand_back<O: Operator>(
        &self,
        x: &ArrayRef<T, D>,
        by: Shadow<Self::Shadow<'_>>,
        dx: ArrayCells<'_, T, D>,
    );
}

impl<T: Entry, D: Rank, E: Rank> Change<T, D> for ArrayRef<T, E> {
    fn apply<O: Operator>(&self, x: &mut ArrayRef<T, D>) {
        x.zip_mut_with(self, |x, &r| *x = O::value(*x, r));
    }
    fn hand_back<O: Operator>(
        &self,
        x: &ArrayRef<T, D>,
        by: Shadow<ArrayCells<'_, T, E>>,
        dx: ArrayCells<'_, T, D>,
    ) {
        let r = self.broadcast(x.raw_dim()).expect("the forward broadcast it");
        let zip = Zip::from(dx).and(x).and(r);
        match by.get() {
            Some(cells) => {
                let cells = cells.broadcast(x.raw_dim()).expect("the forward broadcast it");
                zip.and(cells).for_each(|dx, &x, &r, cell| {
                    let d = dx.get();
                    cell.accumulate(O::right(x, r, d));
                    dx.set(O::left(x, r, d));
                });
            }
            None => zip.for_each(|dx, &x, &r| dx.set(O::left(x, r, dx.get()))),
        }
    }
}

impl<T: Entry, D: Rank> Change<T, D> for T {
    fn apply<O: Operator>(&self, x: &mut ArrayRef<T, D>) {
        x.map_inplace(|x| *x = O::value(*x, *self));
    }
    fn hand_back<O: Operator>(
        &self,
        x: &ArrayRef<T, D>,
        by: Shadow<<T as Differentiable>::Shadow<'_>>,
        dx: ArrayCells<'_, T, D>,
    ) {
        let mut total = T::ZERO;
        Zip::from(dx).and(x).for_each(|dx, &x| {
            let d = dx.get();
            total += O::right(x, *self, d);
            dx.set(O::left(x, *self, d));
        });
        if let Some(cell) = by.get() {
            Accumulate::accumulate(cell, total);
        }
    }
}

/// An operand as it is written: what its type is without its owner.
pub trait Term<T> {
    /// That type.
    type As: ?Sized;
    /// The operand.
    fn term(&self) -> &Self::As;
}

macro_rules! terms {
    ($([$($generics:tt)*] $t:ty => $As:ty;)*) => {$(
        impl<$($generics)*> Term<T> for $t {
            type As = $As;
            #[inline(always)]
            fn term(&self) -> &$As {
                self
            }
        }
    )*};
}
terms! {
    [T: Entry, S: Data<Elem = T>, E: Rank] ArrayBase<S, E> => ArrayRef<T, E>;
    [T: Entry, E: Rank] ArrayRef<T, E> => ArrayRef<T, E>;
    [T: Entry] T => T;
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
pub struct scaled_add<T, D, E> {
    marker: Marker<(T, D, E)>,
}

/// *y += s·x: ṡ = ⟨x, ẏ⟩, ẋ = s·ẏ*
pub fn scaled_add<T: Entry, D: Rank, E: Rank>(s: T, x: &ArrayRef<T, E>, y: &mut ArrayRef<T, D>) {
    y.scaled_add(s, x);
}

impl<T: Entry, D: Rank, E: Rank> Function for scaled_add<T, D, E> {
    type Parameters = (Val<T>, Ref<ArrayRef<T, E>>, Mut<ArrayRef<T, D>>);
    type Output = ();
    const NAME: &'static str = "scaled_add";

    fn primal((s, x, y): Args<'_, Self>) {
        y.scaled_add(s, x);
    }
}

impl<T: Entry, D: Rank, E: Rank> scaled_add<T, D, E> {
    /// The arguments of a call.
    #[inline(always)]
    pub fn args<'a>(s: T, x: &'a ArrayRef<T, E>, y: &'a mut ArrayRef<T, D>) -> Args<'a, Self> {
        (s, x, y)
    }
    /// The rule.
    pub fn rule() -> Frames<Changing<Self, T>> {
        Frames::default()
    }
}

impl<T: Entry, D: Rank, E: Rank> Activation for Changing<scaled_add<T, D, E>, T> {
    type Function = scaled_add<T, D, E>;

    fn forward(&mut self, (s, x, y): Args<'_, Self::Function>) {
        self.old.save_to_restore(y);
        y.scaled_add(s, x);
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
            Zip::from(dy).and(x).for_each(|dy, &x| total += x * dy.get());
            if let Some(dx) = dx.get() {
                let dx = dx.broadcast(dy.raw_dim()).expect("the forward broadcast it");
                Zip::from(dy).and(dx).for_each(|dy, dx| dx.accumulate(s * dy.get()));
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
