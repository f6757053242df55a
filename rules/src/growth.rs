//! How the reverse pass undoes what changes the length of a vector: to the vector, and to its shadow.

use crate::heap::HeapSize;
use crate::local::Pool;
use crate::rows::Rows;
use crate::shadow::{Accumulate, Differentiable, Element, Shadow};
use crate::state::State;
use crate::tangent::Tangent;

/// The sum of the gradients of elements that all hold one value.
#[inline]
pub fn total<T: Tangent>(gradients: &[T]) -> T {
    gradients.iter().fold(T::zero(), |mut total, gradient| {
        total.accumulate(*gradient);
        total
    })
}

/// Undoes `push`, and returns the gradient with respect to what was pushed.
#[inline]
pub fn unpush<T, G: Tangent>(v: &mut Vec<T>, shadow: &mut Vec<G>) -> G {
    v.pop();
    shadow.pop().expect("a shadow is as long as its vector")
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

/// Undoes `extend_from_slice` of a vector that had `len` elements before, by a slice that has the shadow `from`.
#[inline]
pub fn unextend<T: Element>(v: &mut Vec<T>, len: usize, shadow: &mut Vec<T>, from: Shadow<&[T::Cells]>) {
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
