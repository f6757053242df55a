//! Vectors behind `&mut` references that become longer or shorter.
//!
//! The shadow of a reference is a view, which cannot grow. So whoever owns the vector and its shadow does what is to be done around
//! the pullback of a function that changes lengths, which the type of its rule tells.
//!
//! A function that only adds elements leaves its vectors as long as they have been during the call. Its pullback gets shadows of that
//! length, and afterwards its owner cuts them off, as long as the vectors were before. Where elements have been taken out, they need room
//! in the shadow to come back: as a vector does not give memory back by itself, its capacity is enough. Where a vector has got another one's
//! memory, [`State::least_room`] tells what it had before.
//!
//! While such a pullback runs, a shadow may be longer than its vector. What is beyond does not matter: whoever brings an element back
//! sets its cell, and a rule whose arguments have longer shadows sees as much of them as there are elements.

use crate::function::Parameters;
use crate::held::Constant;
use crate::local::Pool;
use crate::rows::Item;
use crate::shadow::{Accumulate, Differentiable, Shadow};
use crate::state::State;
use crate::tangent::{Tangent, Value};

/// What a function may do to the lengths of vectors behind `&mut` references.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lengths {
    /// Nothing.
    Kept,
    /// It adds elements.
    Grow,
    /// It takes elements out, too.
    Change,
}

impl Lengths {
    /// What two may do of which one follows the other.
    pub const fn and(self, other: Lengths) -> Lengths {
        if self as u8 > other as u8 { self } else { other }
    }

    /// The same where there are vectors in what the parameters `P` refer to.
    pub const fn within<P: Parameters>(self) -> Lengths {
        if P::RESIZES { self } else { Lengths::Kept }
    }

    /// It leaves them as they are.
    pub const fn are_kept(self) -> bool {
        matches!(self, Lengths::Kept)
    }

    /// Shadows need room for what has been taken out.
    pub const fn need_room(self) -> bool {
        matches!(self, Lengths::Change)
    }
}

/// How many elements the shadow of a vector is to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// As many as there are.
    Length,
    /// As many as there is memory for, and as this at least.
    Room(usize),
}

/// Before the pullback of `rule`, which gets `value` and its `shadow`; functions that it calls ask for the room `called`.
#[inline(always)]
pub fn make_room<R: State, T: Differentiable + ?Sized>(
    rule: &R,
    called: usize,
    value: &T,
    shadow: &mut T::Gradient,
) {
    if const { R::LENGTHS.need_room() } {
        value.fit(shadow, Extent::Room(rule.least_room().max(called)));
    }
}

/// After it.
#[inline(always)]
pub fn fit<R: State, T: Differentiable + ?Sized>(_: &R, value: &T, shadow: &mut T::Gradient) {
    if const { !R::LENGTHS.are_kept() } {
        value.fit(shadow, Extent::Length);
    }
}

/// The same before and after the pullback of a function which is not known: it may change lengths.
#[inline(always)]
pub fn fit_to<T: Differentiable + ?Sized>(value: &T, shadow: &mut T::Gradient, to: Extent) {
    if const { T::RESIZES } {
        value.fit(shadow, to);
    }
}

/// The shadow of a vector behind a reference.
#[diagnostic::on_unimplemented(
    message = "behind a reference, a vector of what owns memory only gets more of it differentiably, by `push`",
    label = "something here takes such an element out, or puts one there of which nothing shows what it is",
    note = "push what the call returns, `v.push(f(x))`, or bind it with its type before, `let row: Vec<f64> = f(x);`"
)]
pub trait Cells: Copy {
    /// The gradient of an element.
    type One: Tangent;
    /// What a cell held; it is zero afterwards.
    fn take_at(self, i: usize) -> Self::One;
    /// Sets a cell.
    fn set_at(self, i: usize, d: Self::One);
}

#[diagnostic::do_not_recommend]
impl<C: Accumulate> Cells for &[C] {
    type One = C::Tangent;
    #[inline(always)]
    fn take_at(self, i: usize) -> C::Tangent {
        self[i].take()
    }
    #[inline(always)]
    fn set_at(self, i: usize, d: C::Tangent) {
        self.get(i).expect("whoever owns the shadow has made room in it").set(d);
    }
}

/// A field of a struct of views.
#[diagnostic::do_not_recommend]
impl<V: Cells> Cells for &V {
    type One = V::One;
    #[inline(always)]
    fn take_at(self, i: usize) -> V::One {
        (*self).take_at(i)
    }
    #[inline(always)]
    fn set_at(self, i: usize, d: V::One) {
        (*self).set_at(i, d);
    }
}

impl Cells for &() {
    type One = ();
    #[inline(always)]
    fn take_at(self, _: usize) {}
    #[inline(always)]
    fn set_at(self, _: usize, (): ()) {}
}

impl<T: Value> Cells for &Constant<Vec<T>> {
    type One = T::Tangent;
    #[inline(always)]
    fn take_at(self, _: usize) -> T::Tangent {
        T::Tangent::zero()
    }
    #[inline(always)]
    fn set_at(self, _: usize, _: T::Tangent) {}
}

impl<V: Cells> Shadow<V> {
    #[inline(always)]
    pub(crate) fn take_at(self, i: usize) -> V::One {
        self.get().map_or_else(V::One::zero, |view| view.take_at(i))
    }

    #[inline(always)]
    pub(crate) fn set_at(self, i: usize, d: V::One) {
        if let Some(view) = self.get() {
            view.set_at(i, d);
        }
    }
}

/// Undoes `push`, and returns the gradient with respect to what was pushed.
#[inline]
pub fn unpush_behind<T, V: Cells>(v: &mut Vec<T>, shadow: Shadow<V>) -> V::One {
    v.pop();
    shadow.take_at(v.len())
}

/// What the cells of `value` hold, which is moved elsewhere: they are zero afterwards. The memory comes from `pool`.
#[inline]
pub(crate) fn taken_off<T: Differentiable + ?Sized>(
    value: &T,
    shadow: Shadow<T::Shadow<'_>>,
    pool: &mut Pool<T::Gradient>,
) -> T::Gradient {
    let mut gradient = pool.take(value);
    if let Some(shadow) = shadow.get() {
        T::take_shadow(shadow, &mut gradient);
    }
    gradient
}

/// Undoes `push` of whatever it was, and returns that with its gradient; the memory of the gradient comes from `pool`.
#[inline]
pub fn unpush_any_behind<'a, T: Item + Differentiable>(
    v: &mut Vec<T>,
    shadow: impl Into<Shadow<T::Shadows<'a>>>,
    pool: &mut Pool<T::Gradient>,
) -> (T, T::Gradient) {
    let element = v.pop().expect("it was pushed");
    let shadow = shadow.into().map(|shadows| T::shadow_at(shadows, v.len()));
    let gradient = taken_off(&element, shadow, pool);
    (element, gradient)
}

/// Undoes `insert` at `i`, and returns the gradient with respect to what was inserted.
#[inline]
pub fn uninsert_behind<T, V: Cells>(v: &mut Vec<T>, i: usize, shadow: Shadow<V>) -> V::One {
    v.remove(i);
    let d = shadow.take_at(i);
    for j in i..v.len() {
        shadow.set_at(j, shadow.take_at(j + 1));
    }
    d
}

/// Undoes `extend_from_slice` of a vector that had `len` elements before; `hand_on` gets the gradient with respect to each element of the
/// slice.
#[inline]
pub fn unextend_behind<T, V: Cells>(
    v: &mut Vec<T>,
    len: usize,
    shadow: Shadow<V>,
    mut hand_on: impl FnMut(usize, V::One),
) {
    for (i, j) in (len..v.len()).enumerate() {
        hand_on(i, shadow.take_at(j));
    }
    v.truncate(len);
}

/// Adds gradients to those of a slice with the shadow `to`.
#[inline(always)]
pub fn handing_on<C: Accumulate>(to: Shadow<&[C]>) -> impl FnMut(usize, C::Tangent) {
    move |i, d| to.accumulate(|cells| &cells[i], d)
}

/// Undoes `remove` at `i`; `d` is the gradient with respect to what was removed.
#[inline]
pub fn unremove_behind<T, V: Cells>(v: &mut Vec<T>, i: usize, removed: T, shadow: Shadow<V>, d: V::One) {
    for j in (i..v.len()).rev() {
        shadow.set_at(j + 1, shadow.take_at(j));
    }
    v.insert(i, removed);
    shadow.set_at(i, d);
}

/// Undoes `pop`; `d` is the gradient with respect to what was popped.
#[inline]
pub fn unpop_behind<T, V: Cells>(v: &mut Vec<T>, popped: Option<T>, shadow: Shadow<V>, d: V::One) {
    if let Some(element) = popped {
        unremove_behind(v, v.len(), element, shadow, d);
    }
}
