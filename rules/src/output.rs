//! What a function returns, and how the gradient with respect to that gets to its pullback.

use ndarray::{Array, Dimension};

use crate::function::{Cotangent, Function};
use crate::heap::HeapSize;
use crate::local::Pool;
use crate::rows::Rows;
use crate::rule::Rule;
use crate::shadow::{Differentiable, Element};
use crate::state::State;
use crate::tangent::{Tangent, Value};

/// A type that a differentiable function may return. The gradient with respect to a [`Value`] is passed by value; that with
/// respect to a vector or an array stays with the caller, who lends it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not returned by differentiable functions",
    label = "no gradient with respect to such a result is defined",
    note = "numbers, arrays and tuples of numbers, `Vec` and ndarray's `Array` of numbers are; or write through a `&mut` parameter"
)]
pub trait Output {
    /// The gradient with respect to such a result, as a pullback gets it.
    type Cotangent<'a>;
    /// Where a caller keeps it.
    type Gradient: Send + 'static;

    /// Storage that holds nothing yet.
    fn empty() -> Self::Gradient;
    /// Brings `gradient` to the shape of `self`, filled with zeros.
    fn prepare(&self, gradient: &mut Self::Gradient);
    /// `gradient`, as a pullback gets it.
    fn lend(gradient: &Self::Gradient) -> Self::Cotangent<'_>;
    /// Sets `gradient`, of whatever shape, to `cotangent`.
    fn copy(gradient: &mut Self::Gradient, cotangent: Self::Cotangent<'_>);
    /// The seed of a gradient: one, for scalars; nothing else has one.
    #[inline(always)]
    fn seed() -> Option<Self::Cotangent<'static>> {
        None
    }
    /// Sets `copy`, of whatever shape, to `self`, in the memory that `copy` has.
    #[inline(always)]
    fn copy_to(&self, copy: &mut Self)
    where
        Self: Clone,
    {
        copy.clone_from(self);
    }
    /// How many bytes of the heap a value owns.
    fn size(value: &Self) -> usize;
    /// How many bytes of the heap `gradient` owns.
    fn gradient_size(gradient: &Self::Gradient) -> usize;
}

impl<T: Value> Output for T {
    type Cotangent<'a> = T::Tangent;
    type Gradient = T::Tangent;

    #[inline(always)]
    fn empty() -> T::Tangent {
        T::Tangent::zero()
    }
    #[inline(always)]
    fn prepare(&self, gradient: &mut T::Tangent) {
        *gradient = T::Tangent::zero();
    }
    #[inline(always)]
    fn lend(gradient: &T::Tangent) -> T::Tangent {
        *gradient
    }
    #[inline(always)]
    fn copy(gradient: &mut T::Tangent, cotangent: T::Tangent) {
        *gradient = cotangent;
    }
    #[inline(always)]
    fn seed() -> Option<T::Tangent> {
        T::seed()
    }
    fn size(_value: &T) -> usize {
        0
    }
    fn gradient_size(_gradient: &T::Tangent) -> usize {
        0
    }
}

impl<T: Value<Tangent: Element>> Output for Vec<T> {
    type Cotangent<'a> = &'a [T::Tangent];
    type Gradient = Vec<T::Tangent>;

    fn empty() -> Vec<T::Tangent> {
        Vec::new()
    }
    fn prepare(&self, gradient: &mut Vec<T::Tangent>) {
        Differentiable::prepare(self, gradient);
    }
    fn lend(gradient: &Vec<T::Tangent>) -> &[T::Tangent] {
        gradient
    }
    fn copy(gradient: &mut Vec<T::Tangent>, cotangent: &[T::Tangent]) {
        gradient.clear();
        gradient.extend_from_slice(cotangent);
    }
    fn size(value: &Vec<T>) -> usize {
        value.capacity() * size_of::<T>()
    }
    fn gradient_size(gradient: &Vec<T::Tangent>) -> usize {
        gradient.heap_size()
    }
}

impl<T: Value<Tangent: Element> + 'static> Output for Vec<Vec<T>> {
    type Cotangent<'a> = &'a [Vec<T::Tangent>];
    type Gradient = Rows<Vec<T>>;

    fn empty() -> Rows<Vec<T>> {
        Rows::new()
    }
    fn prepare(&self, gradient: &mut Rows<Vec<T>>) {
        gradient.prepare(self);
    }
    fn lend(gradient: &Rows<Vec<T>>) -> &[Vec<T::Tangent>] {
        gradient
    }
    fn copy(gradient: &mut Rows<Vec<T>>, cotangent: &[Vec<T::Tangent>]) {
        gradient.copy_from(cotangent);
    }
    fn size(value: &Vec<Vec<T>>) -> usize {
        value.capacity() * size_of::<Vec<T>>() + value.iter().map(<Vec<T> as Output>::size).sum::<usize>()
    }
    fn gradient_size(gradient: &Rows<Vec<T>>) -> usize {
        gradient.heap_size()
    }
}

impl<T: Element, D: Dimension + Copy + 'static> Output for Array<T, D> {
    type Cotangent<'a> = &'a Array<T, D>;
    type Gradient = Array<T, D>;

    fn empty() -> Array<T, D> {
        <Self as Differentiable>::empty()
    }
    fn prepare(&self, gradient: &mut Array<T, D>) {
        Differentiable::prepare(self, gradient);
    }
    fn lend(gradient: &Array<T, D>) -> &Array<T, D> {
        gradient
    }
    fn copy(gradient: &mut Array<T, D>, cotangent: &Array<T, D>) {
        Differentiable::prepare(cotangent, gradient);
        gradient.assign(cotangent);
    }
    fn size(value: &Array<T, D>) -> usize {
        value.heap_size()
    }
    fn gradient_size(gradient: &Array<T, D>) -> usize {
        gradient.heap_size()
    }
}

/// The gradient with respect to what `rule`'s function returned, lent to its pullback.
#[inline(always)]
pub fn lend<'g, R: Rule>(
    _rule: &R,
    gradient: &'g <<R::Function as Function>::Output as Output>::Gradient,
) -> Cotangent<'g, R::Function> {
    <R::Function as Function>::Output::lend(gradient)
}

/// The shadow of a local that `F` returns, out of the gradient that its pullback starts with.
pub fn returned<F: Function>(
    pool: &mut Pool<<F::Output as Output>::Gradient>,
    cotangent: Cotangent<'_, F>,
) -> <F::Output as Output>::Gradient {
    // What has changed places with what is returned was given back last, and may be smaller.
    let mut gradient = pool.first(F::Output::gradient_size).unwrap_or_else(F::Output::empty);
    F::Output::copy(&mut gradient, cotangent);
    gradient
}

/// Copies of what a function returns, for its pullback to read; the memory is kept from call to call.
pub struct Copies<T> {
    /// Those of pending forwards first, then memory for others.
    copies: Vec<T>,
    pending: usize,
    /// How many pullbacks have one.
    lent: usize,
    /// What one of them owns.
    measure: Option<fn(&T) -> usize>,
}

impl<T> Default for Copies<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Copies<T> {
    /// None yet.
    pub const fn new() -> Self {
        Copies { copies: Vec::new(), pending: 0, lent: 0, measure: None }
    }

    /// Copies `value`, for the pullback of this forward.
    pub fn copy(&mut self, value: &T)
    where
        T: Output + Clone,
    {
        self.measure = Some(T::size);
        match self.copies.get_mut(self.pending) {
            Some(copy) => value.copy_to(copy),
            None => self.copies.push(value.clone()),
        }
        self.pending += 1;
    }

    /// The latest copy.
    pub fn take(&mut self) -> T {
        self.pending = self.pending.checked_sub(1).expect("a pullback follows its forward");
        self.lent += 1;
        self.copies.swap_remove(self.pending)
    }

    /// Takes a copy back, or what has come in its place.
    pub fn give(&mut self, copy: T) {
        if self.lent > 0 {
            self.lent -= 1;
            self.copies.push(copy);
            // Where it was, since others may be of other lengths.
            let last = self.copies.len() - 1;
            self.copies.swap(self.pending.min(last), last);
        }
    }
}

impl<T: Send> State for Copies<T> {
    fn reset(&mut self) {
        self.pending = 0;
        self.lent = 0;
    }
    fn shrink(&mut self) {
        *self = Self::new();
    }
    fn pending(&self) -> usize {
        self.pending * size_of::<T>()
    }
    fn memory(&self) -> usize {
        self.copies.capacity() * size_of::<T>()
            + self.measure.map_or(0, |measure| self.copies.iter().map(measure).sum())
    }
}
