//! How the reverse pass undoes what changes the length of a vector: to the vector, and to its shadow.

use crate::heap::HeapSize;
use crate::held::Constant;
use crate::lengths::Cells;
use crate::local::Pool;
use crate::output::received_part;
use crate::rows::Rows;
use crate::shadow::{Accumulate, Differentiable, Element, Shadow};
use crate::state::State;
use crate::tangent::{Tangent, Value};

/// The sum of the gradients of elements that all hold one value.
#[inline]
pub fn total<'a, T: Tangent>(gradients: impl IntoIterator<Item = &'a T>) -> T {
    gradients.into_iter().fold(T::zero(), |mut total, gradient| {
        total.accumulate(*gradient);
        total
    })
}

/// The gradient of a vector, which becomes shorter with that.
pub trait Ends {
    /// The gradient of an element.
    type One;
    /// Takes the last one off.
    fn take_last(&mut self) -> Self::One;
    /// Cuts off what there are no elements for, of which there are `len`.
    fn cut(&mut self, len: usize);
}

impl<G: Tangent> Ends for Vec<G> {
    type One = G;
    #[inline(always)]
    fn take_last(&mut self) -> G {
        self.pop().expect("a shadow is as long as its vector")
    }
    #[inline(always)]
    fn cut(&mut self, len: usize) {
        self.truncate(len);
    }
}

impl<T: Differentiable> Ends for Rows<T> {
    type One = T::Gradient;
    fn take_last(&mut self) -> T::Gradient {
        self.remove(self.len() - 1)
    }
    fn cut(&mut self, len: usize) {
        self.shorten(len);
    }
}

impl<T: Value> Ends for Constant<Vec<T>> {
    type One = T::Tangent;
    #[inline(always)]
    fn take_last(&mut self) -> T::Tangent {
        T::Tangent::zero()
    }
    #[inline(always)]
    fn cut(&mut self, _: usize) {}
}

/// Undoes `push`, and returns the gradient with respect to what was pushed.
#[inline]
pub fn unpush<T, S: Ends>(v: &mut Vec<T>, shadow: &mut S) -> S::One {
    shadow.cut(v.len());
    v.pop();
    shadow.take_last()
}

/// The gradient of a vector to which something is pushed of which the syntax does not tell whether it owns memory.
pub trait Grown: Ends {
    /// Keeps the memory of one that was taken off.
    fn keep(&mut self, one: Self::One);
    /// The last one.
    fn last_one(&self) -> &Self::One;
    /// Forgets the last one, but keeps its memory.
    fn drop_last(&mut self);
}

impl<G: Tangent> Grown for Vec<G> {
    #[inline(always)]
    fn keep(&mut self, _: G) {}
    fn last_one(&self) -> &G {
        self.last().expect("a shadow is as long as its vector")
    }
    fn drop_last(&mut self) {
        self.pop();
    }
}

impl<T: Differentiable> Grown for Rows<T> {
    fn keep(&mut self, one: T::Gradient) {
        self.keep_spare(one);
    }
    fn last_one(&self) -> &T::Gradient {
        self.last().expect("a shadow is as long as its vector")
    }
    fn drop_last(&mut self) {
        self.shorten(self.len() - 1);
    }
}

/// Undoes `push`, and returns what was pushed with its gradient; the memory of the gradient comes from `pool`, and goes back there.
#[inline]
pub fn unpush_moved<T, S: Grown<One: Clone>>(
    v: &mut Vec<T>,
    shadow: &mut S,
    pool: &mut Pool<S::One>,
) -> (T, S::One) {
    let gradient = received_part(pool, shadow.last_one());
    shadow.drop_last();
    (v.pop().expect("it was pushed"), gradient)
}

/// The gradient of plain data.
#[diagnostic::on_unimplemented(
    message = "what is moved here owns memory, which the name of the call that made it does not tell",
    label = "owns memory",
    note = "push what the call returns, `v.push(f(x))`, or make the struct here by a literal"
)]
pub trait Plain {}

#[diagnostic::do_not_recommend]
impl<G: Tangent> Plain for G {}

/// Makes sure that something is the gradient of plain data.
#[inline(always)]
pub fn plain<G: Plain>(gradient: G) -> G {
    gradient
}

/// Undoes `push` where nobody looks at the vector any more, and returns the gradient with respect to what was pushed.
#[inline]
pub fn unpush_unseen<S: Grown>(shadow: &mut S) -> S::One {
    shadow.take_last()
}

/// Keeps the memory of such a gradient for later.
#[inline]
pub fn keep_pushed<S: Grown>(shadow: &mut S, gradient: S::One) {
    shadow.keep(gradient);
}

/// Undoes `push` of a row, and returns that with its gradient.
#[inline]
pub fn unpush_row<T: Differentiable>(v: &mut Vec<T>, shadow: &mut Rows<T>) -> (T, T::Gradient) {
    uninsert_row(v, v.len() - 1, shadow)
}

/// Undoes `insert` of a row at `i`, and returns that with its gradient.
#[inline]
pub fn uninsert_row<T: Differentiable>(v: &mut Vec<T>, i: usize, shadow: &mut Rows<T>) -> (T, T::Gradient) {
    (v.remove(i), shadow.remove(i))
}

/// Undoes `pop`, which returned `row`; `d` is the gradient with respect to that.
#[inline]
pub fn unpop_row<T: Differentiable>(
    v: &mut Vec<T>,
    row: T,
    shadow: &mut Rows<T>,
    d: T::Gradient,
    stock: &mut Pool<T::Gradient>,
) {
    unremove_row(v, v.len(), row, shadow, d, stock);
}

/// Undoes `remove` at `i`, which returned `row`; `d` is the gradient with respect to that.
#[inline]
pub fn unremove_row<T: Differentiable>(
    v: &mut Vec<T>,
    i: usize,
    row: T,
    shadow: &mut Rows<T>,
    d: T::Gradient,
    stock: &mut Pool<T::Gradient>,
) {
    v.insert(i, row);
    shadow.insert(i, d, stock);
}

/// Undoes `pop`, which returned `popped`; `d` is the gradient with respect to that.
#[inline]
pub fn unpop<T, G>(v: &mut Vec<T>, popped: Option<T>, shadow: &mut Vec<G>, d: G) {
    if let Some(value) = popped {
        v.push(value);
        shadow.push(d);
    }
}

/// The gradient of a vector out of which something is taken of which the syntax does not tell whether it owns memory.
pub trait Shrunk<T> {
    /// Puts zeros in for `element` at `i`.
    fn insert_zero(&mut self, i: usize, element: &T);
}

impl<T, G: Tangent> Shrunk<T> for Vec<G> {
    #[inline]
    fn insert_zero(&mut self, i: usize, _: &T) {
        self.insert(i, G::zero());
    }
}

impl<T> Shrunk<T> for Constant<Vec<T>> {
    fn insert_zero(&mut self, _: usize, _: &T) {}
}

impl<T: Differentiable> Shrunk<T> for Rows<T> {
    fn insert_zero(&mut self, i: usize, element: &T) {
        self.insert_spare(i, |gradient| element.prepare(gradient));
    }
}

/// Undoes `remove` at `i` of whatever it was, at which nobody has looked.
#[inline]
pub fn undrop<T, S: Shrunk<T>>(v: &mut Vec<T>, i: usize, element: T, shadow: &mut S) {
    shadow.insert_zero(i, &element);
    v.insert(i, element);
}

/// Undoes `pop` of whatever it was, at which nobody has looked.
#[inline]
pub fn undrop_last<T, S: Shrunk<T>>(v: &mut Vec<T>, popped: Option<T>, shadow: &mut S) {
    if let Some(element) = popped {
        undrop(v, v.len(), element, shadow);
    }
}

/// The gradient of a vector of plain data, of elements that have gradients `D`.
#[diagnostic::on_unimplemented(
    message = "what is taken out of this vector may own memory",
    label = "an element that is not plain data",
    note = "look at it where it is, `v[i]`, and take it out by a statement of its own, `v.remove(i);` or `v.pop();`"
)]
pub trait Retaken<D> {
    /// Puts the gradient of an element in.
    fn insert_one(&mut self, i: usize, d: D);
    /// Adds it at the end.
    fn push_one(&mut self, d: D);
}

impl<G: Tangent> Retaken<G> for Vec<G> {
    #[inline(always)]
    fn insert_one(&mut self, i: usize, d: G) {
        self.insert(i, d);
    }
    #[inline(always)]
    fn push_one(&mut self, d: G) {
        self.push(d);
    }
}

/// Undoes `remove` at `i` of what should be plain data; `d` is the gradient with respect to that.
#[inline]
pub fn unremove_plain<T, D, S: Retaken<D>>(v: &mut Vec<T>, i: usize, removed: T, shadow: &mut S, d: D) {
    v.insert(i, removed);
    shadow.insert_one(i, d);
}

/// Undoes `pop` of what should be plain data; `d` is the gradient with respect to that.
#[inline]
pub fn unpop_plain<T, D, S: Retaken<D>>(v: &mut Vec<T>, popped: Option<T>, shadow: &mut S, d: D) {
    if let Some(value) = popped {
        v.push(value);
        shadow.push_one(d);
    }
}

/// Undoes `remove` at `i`, or `pop`, of an element that owns memory, and at which nobody has looked.
#[inline]
pub fn undrop_row<T: Differentiable>(
    v: &mut Vec<T>,
    i: usize,
    element: T,
    shadow: &mut Rows<T>,
    stock: &mut Pool<T::Gradient>,
) {
    let zero = stock.take(&element);
    unremove_row(v, i.min(v.len()), element, shadow, zero, stock);
}

/// What is taken out of a vector and looked at.
#[diagnostic::on_unimplemented(
    message = "what is taken out of this vector may own memory",
    label = "an element that is not `Copy`",
    note = "look at it where it is, `v[i]`, and take it out by a statement of its own, `v.remove(i);` or `v.pop();`"
)]
pub trait TakenOut {}

impl<T: Copy> TakenOut for T {}

/// Makes sure that it may be both kept and looked at.
#[inline(always)]
pub fn taken<T: TakenOut>(element: &T) -> &T {
    element
}

/// Undoes `extend_from_slice` of a vector that had `len` elements before, by a slice that has the shadow `from`.
#[inline]
pub fn unextend<T: Value<Tangent: Element>>(
    v: &mut Vec<T>,
    len: usize,
    shadow: &mut Vec<T::Tangent>,
    from: Shadow<&[<T::Tangent as Element>::Cells]>,
) {
    v.truncate(len);
    if let Some(from) = from.get() {
        for (d, cell) in shadow[len..].iter().zip(from) {
            cell.accumulate(*d);
        }
    }
    shadow.truncate(len);
}

/// What was cut off vectors, the latest last.
pub struct Removed<T> {
    elements: Vec<T>,
    /// The number of elements cut off, and the length before.
    cuts: Vec<(usize, usize)>,
}

impl<T> Default for Removed<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Removed<T> {
    /// Nothing, and nothing allocated.
    pub const fn new() -> Self {
        Removed { elements: Vec::new(), cuts: Vec::new() }
    }

    /// `v.truncate(len)`
    #[inline]
    pub fn truncate(&mut self, v: &mut Vec<T>, len: usize) {
        let before = v.len();
        self.elements.extend(v.drain(len.min(before)..));
        self.cuts.push((before.saturating_sub(len), before));
    }

    /// `v.resize(len, value)`
    #[inline]
    pub fn resize(&mut self, v: &mut Vec<T>, len: usize, value: T)
    where
        T: Clone,
    {
        self.truncate(v, len);
        v.resize(len, value);
    }

    /// Undoes the latest cut, or what made the vector longer instead, and returns the gradient with respect to what that
    /// added.
    #[inline]
    pub fn undo<G: Tangent>(&mut self, v: &mut Vec<T>, shadow: &mut Vec<G>) -> G {
        let (cut, len) = self.cuts.pop().expect("a pullback follows its forward");
        let added = total(shadow.get(len..).unwrap_or_default());
        v.truncate(len);
        v.extend(self.elements.drain(self.elements.len() - cut..));
        shadow.resize(len, G::zero());
        added
    }

    /// The same of a vector behind a reference.
    #[inline]
    pub fn undo_behind<V: Cells>(&mut self, v: &mut Vec<T>, shadow: Shadow<V>) -> V::One {
        let (cut, len) = self.cuts.pop().expect("a pullback follows its forward");
        let mut added = V::One::zero();
        (len..v.len()).for_each(|i| added.accumulate(shadow.take_at(i)));
        v.truncate(len);
        (v.len()..v.len() + cut).for_each(|i| shadow.set_at(i, V::One::zero()));
        v.extend(self.elements.drain(self.elements.len() - cut..));
        added
    }

    /// Undoes the latest cut of rows.
    #[inline]
    pub fn undo_rows(&mut self, v: &mut Vec<T>, shadow: &mut Rows<T>, stock: &mut Pool<T::Gradient>)
    where
        T: Differentiable,
    {
        let (cut, _) = self.cuts.pop().expect("a pullback follows its forward");
        for row in self.elements.drain(self.elements.len() - cut..) {
            let zero = stock.take(&row);
            unpop_row(v, row, shadow, zero, stock);
        }
    }
}

impl<T: Send> State for Removed<T> {
    fn reset(&mut self) {
        self.elements.clear();
        self.cuts.clear();
    }
    fn shrink(&mut self) {
        *self = Self::new();
    }
    fn pending(&self) -> usize {
        size_of_val(&self.elements[..]) + size_of_val(&self.cuts[..])
    }
    fn memory(&self) -> usize {
        self.elements.capacity() * size_of::<T>() + self.cuts.heap_size()
    }
}
