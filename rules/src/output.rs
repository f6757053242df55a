//! What a function returns, and how the gradient with respect to that gets to its pullback.

use ndarray::{Array, Dimension};

use crate::boxed::SpareBoxes;
use crate::float::Scalar;
use crate::function::{Cotangent, Function, for_tuples};
use crate::heap::HeapSize;
use crate::local::Pool;
use crate::rows::{Item, Rows};
use crate::rule::Rule;
use crate::shadow::{Differentiable, Element};
use crate::state::State;
use crate::tangent::Value;

/// A type that a differentiable function may return. The gradient with respect to a [`Value`] is passed by value; that with
/// respect to a vector or an array stays with the caller, who lends it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not returned by differentiable functions",
    label = "no gradient with respect to such a result is defined",
    note = "numbers, arrays of numbers, `Vec`, ndarray's `Array` of numbers, structs with `#[derive(Differentiable)]`, and tuples of \
            these are; or write through a `&mut` parameter"
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
        if !self.refill(copy, &mut SpareBoxes::new()) {
            copy.clone_from(self);
        }
    }
    /// The same, with `spares` for boxes in it.
    #[inline(always)]
    fn copy_in(&self, copy: &mut Self, spares: &mut SpareBoxes)
    where
        Self: Clone,
    {
        if !self.refill(copy, spares) {
            self.copy_to(copy);
        }
    }
    /// The same of what need not be `Clone`, in the memory that there is: tells whether that suffices. Otherwise anything may be in `copy`.
    #[inline(always)]
    fn refill(&self, _copy: &mut Self, _spares: &mut SpareBoxes) -> bool {
        false
    }
    /// How many bytes of the heap a value owns.
    fn size(value: &Self) -> usize;
    /// How many bytes of the heap `gradient` owns.
    fn gradient_size(gradient: &Self::Gradient) -> usize;
}

/// Implements [`Output`] for a [`Value`](crate::tangent::Value) `$t`, whose gradient is passed by value.
macro_rules! output_of_value {
    ([$($generics:tt)*] $t:ty $(where [$($clause:tt)*])?) => {
        impl<$($generics)*> $crate::output::Output for $t $(where $($clause)*)? {
            type Cotangent<'a> = <$t as $crate::tangent::Value>::Tangent;
            type Gradient = <$t as $crate::tangent::Value>::Tangent;

            #[inline(always)]
            fn empty() -> Self::Gradient {
                $crate::tangent::Tangent::zero()
            }
            #[inline(always)]
            fn prepare(&self, gradient: &mut Self::Gradient) {
                *gradient = $crate::tangent::Tangent::zero();
            }
            #[inline(always)]
            fn lend(gradient: &Self::Gradient) -> Self::Gradient {
                *gradient
            }
            #[inline(always)]
            fn copy(gradient: &mut Self::Gradient, cotangent: Self::Gradient) {
                *gradient = cotangent;
            }
            #[inline(always)]
            fn seed() -> Option<Self::Gradient> {
                <$t as $crate::tangent::Value>::seed()
            }
            fn size(_value: &Self) -> usize {
                0
            }
            fn gradient_size(_gradient: &Self::Gradient) -> usize {
                0
            }
        }
    };
}
pub(crate) use output_of_value;

output_of_value!([T: Scalar] T);
output_of_value!([T: Value, const N: usize] [T; N]);

macro_rules! tuple {
    ($($T:ident $i:tt),*) => {
        impl<$($T: Output),*> Output for ($($T,)*) {
            type Cotangent<'a> = ($($T::Cotangent<'a>,)*);
            type Gradient = ($($T::Gradient,)*);

            #[inline(always)]
            #[allow(clippy::unused_unit, reason = "the empty tuple")]
            fn empty() -> Self::Gradient {
                ($($T::empty(),)*)
            }
            #[inline(always)]
            fn prepare(&self, _gradient: &mut Self::Gradient) {
                $(self.$i.prepare(&mut _gradient.$i);)*
            }
            #[inline(always)]
            #[allow(clippy::unused_unit, reason = "the empty tuple")]
            fn lend(_gradient: &Self::Gradient) -> Self::Cotangent<'_> {
                ($($T::lend(&_gradient.$i),)*)
            }
            #[inline(always)]
            fn copy(_gradient: &mut Self::Gradient, _cotangent: Self::Cotangent<'_>) {
                $($T::copy(&mut _gradient.$i, _cotangent.$i);)*
            }
            fn size(_value: &Self) -> usize {
                0 $(+ $T::size(&_value.$i))*
            }
            fn gradient_size(_gradient: &Self::Gradient) -> usize {
                0 $(+ $T::gradient_size(&_gradient.$i))*
            }
        }

        impl<$($T: Output),*> Apart for ($($T,)*) {
            type Parts<'g> = ($(&'g $T::Gradient,)*);

            #[inline(always)]
            #[allow(clippy::unused_unit, reason = "the empty tuple")]
            fn lend_parts(_parts: Self::Parts<'_>) -> Self::Cotangent<'_> {
                ($($T::lend(_parts.$i),)*)
            }
        }
    };
}
for_tuples!(tuple);

/// A tuple, the gradients of whose elements are in several places.
pub trait Apart: Output {
    /// References to them.
    type Parts<'g>;

    /// These, as a pullback gets them.
    fn lend_parts(parts: Self::Parts<'_>) -> Self::Cotangent<'_>;
}

/// [`lend`] for a tuple whose elements have gradients in several places.
#[inline(always)]
pub fn lend_parts<'g, R: Rule<Function: Function<Output: Apart>>>(
    _rule: &R,
    parts: <<R::Function as Function>::Output as Apart>::Parts<'g>,
) -> Cotangent<'g, R::Function> {
    <R::Function as Function>::Output::lend_parts(parts)
}

impl<T: Item> Output for Vec<T> {
    type Cotangent<'a> = T::Views<'a>;
    type Gradient = T::Gradients;

    fn empty() -> T::Gradients {
        T::empty_all()
    }
    fn prepare(&self, gradient: &mut T::Gradients) {
        T::prepare_all(self, gradient);
    }
    fn lend(gradient: &T::Gradients) -> T::Views<'_> {
        T::views(gradient)
    }
    fn copy(gradient: &mut T::Gradients, cotangent: T::Views<'_>) {
        T::copy_all(gradient, cotangent);
    }
    #[inline(always)]
    fn refill(&self, copy: &mut Vec<T>, spares: &mut SpareBoxes) -> bool {
        T::refill_all(self, copy, spares)
    }
    fn size(value: &Vec<T>) -> usize {
        value.capacity() * size_of::<T>() + T::size_all(value)
    }
    fn gradient_size(gradient: &T::Gradients) -> usize {
        T::gradients_size(gradient)
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
        <Self as Differentiable>::copy_gradient(gradient, cotangent);
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

/// The gradient with respect to a number, or to plain data, that a call has returned, as the pullback of the call gets it: the same.
#[diagnostic::on_unimplemented(
    message = "nothing here tells that what this call returns owns memory",
    label = "owns memory",
    note = "a vector needs a type: `let v: Vec<f64> = f(x);`",
    note = "a struct is moved where the call stands: `part: f(x)` in a literal, `items.push(f(x))`"
)]
pub trait Seed<C> {
    /// The same.
    fn seed(self) -> C;
}

#[diagnostic::do_not_recommend]
impl<C> Seed<C> for C {
    #[inline(always)]
    fn seed(self) -> C {
        self
    }
}

/// See [`Seed`].
#[inline(always)]
pub fn seed<'g, R: Rule>(
    _rule: &R,
    gradient: impl Seed<Cotangent<'g, R::Function>>,
) -> Cotangent<'g, R::Function> {
    gradient.seed()
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

/// The gradient with respect to an array that a closure has returned, as its caller lends it.
#[diagnostic::on_unimplemented(
    message = "a closure that returns this is not differentiable",
    note = "a vector of numbers is, or one of ndarray's arrays: let the closure write to an argument of type `&mut` otherwise"
)]
pub trait Received {
    /// What owns such a gradient.
    type Gradient;
    /// A copy of it.
    fn receive(self, pool: &mut Pool<Self::Gradient>) -> Self::Gradient;
}

impl<T: Clone> Received for &[T] {
    type Gradient = Vec<T>;
    fn receive(self, pool: &mut Pool<Vec<T>>) -> Vec<T> {
        let mut gradient = pool.first(Vec::capacity).unwrap_or_default();
        gradient.clear();
        gradient.extend_from_slice(self);
        gradient
    }
}

impl<T: Element, D: Dimension + Copy + 'static> Received for &Array<T, D> {
    type Gradient = Array<T, D>;
    fn receive(self, pool: &mut Pool<Array<T, D>>) -> Array<T, D> {
        received::<Array<T, D>>(pool, self)
    }
}

/// The same as [`returned`] for a vector of vectors that rows are pushed to: the gradients of its rows come from the `stock` where they go.
pub fn returned_rows<T: Differentiable>(
    _rows: &[T],
    pool: &mut Pool<Rows<T>>,
    stock: &mut Pool<T::Gradient>,
    cotangent: &[T::Gradient],
) -> Rows<T> {
    let mut gradients = pool.fitting(cotangent.len());
    gradients.refill_like(stock, cotangent);
    gradients.copy_from(cotangent);
    gradients
}

/// The same for a local that is returned inside an `Option` or a `Result`, if that is `filled`; otherwise it stays empty.
pub fn returned_inside<F: Function>(
    filled: bool,
    pool: &mut Pool<<F::Output as Output>::Gradient>,
    cotangent: Cotangent<'_, F>,
) -> <F::Output as Output>::Gradient {
    if filled { returned::<F>(pool, cotangent) } else { F::Output::empty() }
}

/// The same for a local that becomes an element of a tuple.
pub fn received<O: Output>(pool: &mut Pool<O::Gradient>, cotangent: O::Cotangent<'_>) -> O::Gradient {
    let mut gradient = pool.first(O::gradient_size).unwrap_or_else(O::empty);
    O::copy(&mut gradient, cotangent);
    gradient
}

/// The same for an element of a tuple inside an `Option` or a `Result`, if that is `filled`; otherwise it stays empty.
pub fn received_inside<O: Output>(
    filled: bool,
    pool: &mut Pool<O::Gradient>,
    cotangent: O::Cotangent<'_>,
) -> O::Gradient {
    if filled { received::<O>(pool, cotangent) } else { O::empty() }
}

/// The same for a local that becomes a field of a struct.
pub fn received_part<G: Clone>(pool: &mut Pool<G>, cotangent: &G) -> G {
    match pool.oldest() {
        Some(mut gradient) => {
            gradient.clone_from(cotangent);
            gradient
        }
        None => cotangent.clone(),
    }
}

/// A field of a struct, and that of the copy.
pub struct CopyField<'f, T>(pub &'f T, pub &'f mut T);

impl<T: Clone> CopyField<'_, T> {
    /// Copies it in the memory that is there.
    #[inline]
    pub fn copy(&mut self) -> bool {
        self.1.clone_from(self.0);
        true
    }
}

/// A field that cannot be cloned by itself.
pub trait CopyAnyField {
    /// Does nothing, and says so.
    #[inline]
    fn copy(&mut self) -> bool {
        false
    }
}

impl<T> CopyAnyField for CopyField<'_, T> {}

/// Copies of what a function returns, for its pullback to read; the memory is kept from call to call.
pub struct Copies<T> {
    /// Those of pending forwards first, then memory for others.
    copies: Vec<T>,
    pending: usize,
    /// How many pullbacks have one.
    lent: usize,
    /// What one of them owns.
    measure: Option<fn(&T) -> usize>,
    boxes: SpareBoxes,
}

impl<T> Default for Copies<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Copies<T> {
    /// None yet.
    pub const fn new() -> Self {
        Copies { copies: Vec::new(), pending: 0, lent: 0, measure: None, boxes: SpareBoxes::new() }
    }

    /// Copies `value`, for the pullback of this forward.
    pub fn copy(&mut self, value: &T)
    where
        T: Output + Clone,
    {
        self.measure = Some(T::size);
        match self.copies.get_mut(self.pending) {
            Some(copy) => value.copy_in(copy, &mut self.boxes),
            None => self.copies.push(value.clone()),
        }
        self.pending += 1;
    }

    /// Gives the latest copy, which is one of `value`, as much room.
    pub fn reserve_as(&mut self, value: &T)
    where
        T: Differentiable,
    {
        value.reserve_as(&mut self.copies[self.pending - 1]);
    }

    /// The latest copy.
    pub fn take(&mut self) -> T {
        self.pending = self.pending.checked_sub(1).expect("a pullback follows its forward");
        self.lent += 1;
        self.copies.swap_remove(self.pending)
    }

    /// Takes a copy back, or what has come in its place. Returns what is neither.
    pub fn give(&mut self, copy: T) -> Option<T> {
        if self.lent == 0 {
            return Some(self.keep_larger(copy));
        }
        self.lent -= 1;
        self.copies.push(copy);
        // Where it was, since others may be of other lengths.
        let last = self.copies.len() - 1;
        self.copies.swap(self.pending.min(last), last);
        None
    }

    /// Of what came back last and of `other` returns that which owns less: it may have come back in the place of the copy, empty where the
    /// function has moved out what it returns.
    fn keep_larger(&mut self, mut other: T) -> T {
        if let (Some(size), Some(kept)) = (self.measure, self.copies.get_mut(self.pending))
            && size(&other) > size(kept)
        {
            std::mem::swap(kept, &mut other);
        }
        other
    }
}

impl<T: Output + Clone> Copies<Vec<T>> {
    /// The same for rows that the pullback takes off one by one: they come back to the `spares`.
    pub fn copy_rows(&mut self, rows: &[T], spares: &mut RowSpares<T>)
    where
        Vec<T>: Output,
    {
        self.measure = Some(Vec::size);
        if self.copies.len() == self.pending {
            self.copies.push(Vec::with_capacity(rows.len()));
        }
        let copy = &mut self.copies[self.pending];
        while copy.len() > rows.len() {
            copy.pop().into_iter().for_each(|row| spares.keep(row));
        }
        for (row, copy) in rows.iter().zip(copy.iter_mut()) {
            row.copy_to(copy);
        }
        let there = copy.len();
        copy.extend(rows[there..].iter().map(|row| spares.copy(row)));
        self.pending += 1;
    }
}

/// Memory for the rows of such copies.
pub struct RowSpares<T> {
    spares: Vec<T>,
    /// How many rows are in copies.
    lent: usize,
    /// What one of them owns.
    measure: Option<fn(&T) -> usize>,
}

impl<T> Default for RowSpares<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> RowSpares<T> {
    /// None yet.
    pub const fn new() -> Self {
        RowSpares { spares: Vec::new(), lent: 0, measure: None }
    }

    fn copy(&mut self, row: &T) -> T
    where
        T: Output + Clone,
    {
        self.measure = Some(T::size);
        // What owns nothing needs no memory, and is not recognised when it comes back.
        if T::size(row) == 0 {
            return row.clone();
        }
        self.lent += 1;
        let spare = self.fitting(T::size(row)).map(|i| self.spares.remove(i));
        // For each of them to come back.
        self.spares.reserve(self.lent);
        match spare {
            Some(mut copy) => {
                row.copy_to(&mut copy);
                copy
            }
            None => row.clone(),
        }
    }

    /// The row with least room that is `need` at least, or else with most. The latest ones are often just right.
    fn fitting(&self, need: usize) -> Option<usize>
    where
        T: Output,
    {
        let mut best = None;
        for i in (0..self.spares.len()).rev() {
            let room = T::size(&self.spares[i]);
            if room == need {
                return Some(i);
            }
            let rank = (room < need, room.abs_diff(need));
            if best.is_none_or(|(_, least)| rank < least) {
                best = Some((i, rank));
            }
        }
        best.map(|(i, _)| i)
    }

    /// Takes a row back, or what has come in its place. Returns what is neither.
    pub fn give(&mut self, row: T) -> Option<T> {
        // An empty one has been left behind where another was taken.
        let owns = self.measure.is_some_and(|measure| measure(&row) > 0);
        if self.lent == 0 || !owns {
            return Some(row);
        }
        self.keep(row);
        None
    }

    /// Takes a row back that a copy has too many. Forwards may have been forgotten since it was lent.
    fn keep(&mut self, row: T) {
        self.lent = self.lent.saturating_sub(1);
        self.spares.push(row);
    }
}

impl<T: Send> State for RowSpares<T> {
    fn reset(&mut self) {
        self.lent = 0;
    }
    fn shrink(&mut self) {
        *self = Self::new();
    }
    fn pending(&self) -> usize {
        0
    }
    fn memory(&self) -> usize {
        self.spares.capacity() * size_of::<T>()
            + self.measure.map_or(0, |measure| self.spares.iter().map(measure).sum())
    }
}

/// Memory for the parts of such copies, where a struct is taken apart.
pub struct Spares<T> {
    spares: Vec<T>,
    /// How many parts are elsewhere.
    lent: usize,
    /// What one of them owns.
    measure: Option<fn(&T) -> usize>,
    boxes: SpareBoxes,
}

impl<T> Default for Spares<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Spares<T> {
    /// None yet.
    pub const fn new() -> Self {
        Spares { spares: Vec::new(), lent: 0, measure: None, boxes: SpareBoxes::new() }
    }

    /// What `part` holds, in other memory: that of the copy stays with it, since other parts may have changed in length.
    pub fn part(&mut self, part: &T) -> T
    where
        T: Output + Clone,
    {
        self.measure = Some(T::size);
        self.lent += 1;
        match self.spares.pop() {
            Some(mut spare) => {
                part.copy_in(&mut spare, &mut self.boxes);
                spare
            }
            None => part.clone(),
        }
    }

    /// Takes memory for others, as much as is elsewhere. Returns what is more than that.
    pub fn give(&mut self, spare: T) -> Option<T> {
        if self.lent == 0 {
            return Some(spare);
        }
        self.lent -= 1;
        self.spares.push(spare);
        None
    }
}

impl<T: Send> State for Spares<T> {
    fn reset(&mut self) {
        self.lent = 0;
    }
    fn shrink(&mut self) {
        *self = Self::new();
    }
    fn pending(&self) -> usize {
        0
    }
    fn memory(&self) -> usize {
        self.spares.capacity() * size_of::<T>()
            + self.measure.map_or(0, |measure| self.spares.iter().map(measure).sum())
            + self.boxes.memory()
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
            + self.boxes.memory()
    }
}
