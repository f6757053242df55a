//! Slices and vectors: of numbers and plain structs, whose gradients lie side by side in one array, and of containers, each
//! of which has a gradient of its own.

use std::any::Any;
use std::fmt;
use std::ops::Deref;

use crate::boxed::SpareBoxes;
use crate::exchange::Exchange;
use crate::heap::HeapSize;
use crate::lengths::Extent;
use crate::local::Pool;
use crate::output::Output;
use crate::shadow::{Accumulate, Differentiable, Element, slice_cells, zeros};
use crate::tangent::{Tangent, Value};

/// A type of which there are differentiable slices and vectors. `#[derive(Differentiable)]` implements it.
#[diagnostic::on_unimplemented(
    message = "a slice of `{Self}` carries no gradient",
    label = "no shadow is defined for elements of this type",
    note = "elements: f32, f64, arrays and tuples of these, `Vec` and ndarray's `Array`, and structs with `#[derive(Differentiable)]`",
    note = "mark the parameter `#[constant]` if no gradient with respect to it is wanted"
)]
pub trait Item: Sized {
    /// Owned storage for the gradients of a slice.
    type Gradients: Send + 'static;
    /// A view over the cells of the gradients of a slice.
    type Shadows<'a>: Copy + 'a;
    /// How these gradients are shown to the user.
    type Views<'a>;

    /// Storage that holds nothing yet.
    fn empty_all() -> Self::Gradients;
    /// Makes `gradients` zeros of the shapes of `items`.
    fn prepare_all(items: &[Self], gradients: &mut Self::Gradients);
    /// See [`Differentiable::prepare_to_overwrite`].
    #[inline]
    fn prepare_all_to_overwrite(items: &[Self], gradients: &mut Self::Gradients) {
        Self::prepare_all(items, gradients);
    }
    /// The cells of `gradients`.
    fn shadows(gradients: &mut Self::Gradients) -> Self::Shadows<'_>;
    /// See [`Differentiable::align`].
    fn align_all<'a>(items: &[Self], shadows: Self::Shadows<'a>) -> Self::Shadows<'a>;
    /// See [`Differentiable::shortened`].
    fn shortened_all<'a, 's: 'a>(shadows: Self::Shadows<'s>) -> Self::Shadows<'a>;
    /// See [`Differentiable::RESIZES`].
    #[doc(hidden)]
    const RESIZES: bool = true;
    /// See [`Differentiable::fit`]; the slice itself is to have `len` gradients.
    #[doc(hidden)]
    fn fit_all(items: &[Self], len: usize, gradients: &mut Self::Gradients, to: Extent);
    /// See [`Differentiable::makes_way`].
    #[doc(hidden)]
    #[inline]
    fn all_make_way(_items: &[Self], _new: &[Self]) -> bool {
        true
    }
    /// See [`Differentiable::largest`].
    #[doc(hidden)]
    #[inline]
    fn largest_of(_items: &[Self]) -> usize {
        0
    }
    /// See [`Differentiable::take_shadow`].
    #[doc(hidden)]
    fn take_shadows(shadows: Self::Shadows<'_>, gradients: &mut Self::Gradients);
    /// The shadow of one item.
    #[doc(hidden)]
    fn shadow_at<'a>(shadows: Self::Shadows<'a>, i: usize) -> Self::Shadow<'a>
    where
        Self: Differentiable;
    /// See [`Differentiable::reserve_as`].
    #[doc(hidden)]
    #[inline]
    fn reserve_all(_items: &[Self], _copies: &mut [Self]) {}
    /// What the user sees of `gradients`.
    fn views(gradients: &Self::Gradients) -> Self::Views<'_>;
    /// See [`Differentiable::gradient_size`].
    fn gradients_size(gradients: &Self::Gradients) -> usize;
    /// See [`Differentiable::prepare_from`].
    #[doc(hidden)]
    #[inline]
    fn prepare_all_from(items: &[Self], gradients: &mut Self::Gradients, _stock: &mut dyn Any) {
        Self::prepare_all(items, gradients);
    }
    /// See [`Differentiable::release`]: these go to the `stock` as well.
    #[doc(hidden)]
    #[inline]
    fn release_all(gradients: Self::Gradients, stock: &mut Vec<Self::Gradients>) {
        stock.push(gradients);
    }
    /// Likewise where the `stock` may be one for others.
    #[doc(hidden)]
    #[inline]
    fn release_to(_gradients: &mut Self::Gradients, _stock: &mut dyn Any) {}
    /// See [`Differentiable::gradient_need`].
    #[inline]
    fn gradients_need(_items: &[Self]) -> Option<usize> {
        None
    }
    /// Sets `gradients`, already of the right shape, to `seeds`.
    fn seed_all(gradients: &mut Self::Gradients, seeds: Self::Views<'_>);
    /// See [`Differentiable::copy_gradient`].
    fn copy_all(gradients: &mut Self::Gradients, others: Self::Views<'_>);
    /// How many bytes of the heap `items` own, beside the slice itself.
    fn size_all(_items: &[Self]) -> usize {
        0
    }
    /// See [`Output::refill`].
    #[inline(always)]
    fn refill_all(_items: &[Self], _copies: &mut Vec<Self>, _spares: &mut SpareBoxes) -> bool {
        false
    }
}

/// Sets `copies` to `items` in the memory of each, if there are as many.
pub fn refill_rows<T: Output>(items: &[T], copies: &mut Vec<T>, spares: &mut SpareBoxes) -> bool {
    copies.truncate(items.len());
    items.len() == copies.len() && items.iter().zip(copies).all(|(item, copy)| item.refill(copy, spares))
}

impl<T: Value<Tangent: Element>> Item for T {
    type Gradients = Vec<T::Tangent>;
    type Shadows<'a> = &'a [<T::Tangent as Element>::Cells];
    type Views<'a> = &'a [T::Tangent];
    const RESIZES: bool = false;

    #[inline]
    fn empty_all() -> Vec<T::Tangent> {
        Vec::new()
    }
    #[inline]
    fn prepare_all(items: &[T], gradients: &mut Vec<T::Tangent>) {
        zeros(gradients, items.len());
    }
    #[inline]
    fn prepare_all_to_overwrite(items: &[T], gradients: &mut Vec<T::Tangent>) {
        if gradients.len() != items.len() {
            zeros(gradients, items.len());
        }
    }
    #[inline]
    fn shadows(gradients: &mut Vec<T::Tangent>) -> Self::Shadows<'_> {
        slice_cells(gradients)
    }
    #[inline(always)]
    fn align_all<'a>(items: &[T], shadows: Self::Shadows<'a>) -> Self::Shadows<'a> {
        shadows.get(..items.len()).expect("a shadow has the length of its slice")
    }
    #[inline(always)]
    fn shortened_all<'a, 's: 'a>(shadows: Self::Shadows<'s>) -> Self::Shadows<'a> {
        shadows
    }
    #[inline]
    fn fit_all(_items: &[T], len: usize, gradients: &mut Vec<T::Tangent>, _to: Extent) {
        gradients.resize(len, T::Tangent::zero());
    }
    #[inline]
    fn take_shadows(shadows: Self::Shadows<'_>, gradients: &mut Vec<T::Tangent>) {
        gradients.iter_mut().zip(shadows).for_each(|(d, cells)| *d = cells.take());
    }
    #[inline(always)]
    fn shadow_at<'a>(shadows: Self::Shadows<'a>, i: usize) -> <T as Differentiable>::Shadow<'a> {
        &shadows[i]
    }
    #[inline]
    fn views(gradients: &Vec<T::Tangent>) -> &[T::Tangent] {
        gradients
    }
    fn gradients_size(gradients: &Vec<T::Tangent>) -> usize {
        gradients.heap_size()
    }
    #[inline]
    fn gradients_need(items: &[T]) -> Option<usize> {
        Some(items.len() * size_of::<T::Tangent>())
    }
    #[inline]
    fn seed_all(gradients: &mut Vec<T::Tangent>, seeds: &[T::Tangent]) {
        gradients.copy_from_slice(seeds);
    }
    #[inline]
    fn copy_all(gradients: &mut Vec<T::Tangent>, others: &[T::Tangent]) {
        gradients.clear();
        gradients.extend_from_slice(others);
    }
}

macro_rules! slice {
    ($t:ty, $resizes:expr, |$items:ident, $to:ident| $len:expr $(, { $($more:tt)* })?) => {
        impl<T: Item> Differentiable for $t {
            type Shadow<'a> = T::Shadows<'a>;
            type Gradient = T::Gradients;
            type View<'a> = T::Views<'a>;
            const RESIZES: bool = $resizes;

            #[inline]
            fn empty() -> T::Gradients {
                T::empty_all()
            }
            #[inline]
            fn prepare(&self, gradient: &mut T::Gradients) {
                T::prepare_all(self, gradient);
            }
            #[inline]
            fn prepare_from(&self, gradient: &mut T::Gradients, stock: &mut dyn Any) {
                T::prepare_all_from(self, gradient, stock);
            }
            #[inline]
            fn release(gradient: &mut T::Gradients, stock: &mut dyn Any) {
                T::release_to(gradient, stock);
            }
            #[inline]
            fn prepare_to_overwrite(&self, gradient: &mut T::Gradients) {
                T::prepare_all_to_overwrite(self, gradient);
            }
            #[inline]
            fn shadow(gradient: &mut T::Gradients) -> T::Shadows<'_> {
                T::shadows(gradient)
            }
            #[inline(always)]
            fn align<'a>(&self, shadow: T::Shadows<'a>) -> T::Shadows<'a> {
                T::align_all(self, shadow)
            }
            #[inline(always)]
            fn shortened<'a, 's: 'a>(shadow: T::Shadows<'s>) -> T::Shadows<'a> {
                T::shortened_all(shadow)
            }
            #[inline]
            fn fit(&self, gradient: &mut T::Gradients, to: Extent) {
                let ($items, $to) = (self, to);
                T::fit_all(self, $len, gradient, to);
            }
            #[inline]
            fn take_shadow(shadow: T::Shadows<'_>, gradient: &mut T::Gradients) {
                T::take_shadows(shadow, gradient);
            }
            #[inline]
            fn view(gradient: &T::Gradients) -> T::Views<'_> {
                T::views(gradient)
            }
            fn gradient_size(gradient: &T::Gradients) -> usize {
                T::gradients_size(gradient)
            }
            #[inline]
            fn gradient_need(&self) -> Option<usize> {
                T::gradients_need(self)
            }
            #[inline]
            fn seed(gradient: &mut T::Gradients, seed: T::Views<'_>) {
                T::seed_all(gradient, seed);
            }
            #[inline]
            fn copy_gradient(gradient: &mut T::Gradients, other: T::Views<'_>) {
                T::copy_all(gradient, other);
            }
            $($($more)*)?
        }
    };
}
slice!([T], T::RESIZES, |items, _to| items.len(), {
    #[inline]
    fn makes_way(&self, new: &[T]) -> bool {
        self.len() <= new.len() && T::all_make_way(self, new)
    }
    #[inline]
    fn largest(&self) -> usize {
        T::largest_of(self)
    }
});
slice!(Vec<T>, true, |items, to| of_vec(items, to), {
    #[inline]
    fn makes_way(&self, new: &Vec<T>) -> bool {
        T::all_make_way(self, new)
    }
    #[inline]
    fn largest(&self) -> usize {
        self.capacity().max(T::largest_of(self))
    }
    #[inline]
    fn reserve_as(&self, copy: &mut Vec<T>) {
        copy.reserve_exact(self.capacity() - copy.len());
        T::reserve_all(self, copy);
    }
    #[inline]
    fn exchange_contents(&mut self, other: &mut Vec<T>) {
        match self.capacity() != other.capacity() && self.len() == other.len() {
            true => self.swap_with_slice(other),
            false => std::mem::swap(self, other),
        }
    }
});

/// How many elements the gradient of a vector is to have.
#[inline]
fn of_vec<T>(items: &Vec<T>, to: Extent) -> usize {
    match to {
        Extent::Room(least) if size_of::<T>() > 0 => items.capacity().max(least),
        _ => items.len(),
    }
}

/// The gradients of a slice of containers: `Vec<Vec<f64>>`, `Vec<Array2<f64>>`. It derefs to the slice of their gradients.
pub struct Rows<T: Differentiable> {
    /// There may be more than there are items, so that nothing is allocated anew when there are as many again.
    gradients: Vec<T::Gradient>,
    len: usize,
    /// The shadows of the items, side by side in memory because they are selected by index. Those in here are dangling
    /// except while what [`shadows`](Rows::shadows) returned is alive, and are not looked at then.
    shadows: Vec<T::Shadow<'static>>,
}

// SAFETY: the gradients are `Send`. The shadows are not used by anyone who has not called `shadows` for the borrow
// that he holds, during which the object cannot go to another thread.
unsafe impl<T: Differentiable> Send for Rows<T> {}

impl<T: Differentiable> Rows<T> {
    /// Of an empty slice.
    pub const fn new() -> Self {
        Rows { gradients: Vec::new(), len: 0, shadows: Vec::new() }
    }

    /// Zeros of the shapes of `items`.
    pub fn prepare(&mut self, items: &[T]) {
        self.len = items.len();
        if self.gradients.len() < self.len {
            self.gradients.resize_with(self.len, T::empty);
        }
        self.shadows.clear();
        self.shadows.reserve(self.len);
        items.iter().zip(&mut self.gradients).for_each(|(item, gradient)| item.prepare(gradient));
    }

    /// The same, with memory from `stock` where there are too few.
    pub(crate) fn prepare_from(&mut self, stock: &mut Pool<T::Gradient>, items: &[T]) {
        self.refill(stock, items.len());
        self.prepare(items);
    }

    /// Takes memory from `stock` as long as there are fewer than `len` gradients.
    pub(crate) fn refill(&mut self, stock: &mut Pool<T::Gradient>, len: usize) {
        while self.gradients.len() < len
            && let Some(gradient) = stock.pop()
        {
            self.gradients.push(gradient);
        }
    }

    /// Likewise for copies of `others`, of which some may own nothing.
    pub(crate) fn refill_like(&mut self, stock: &mut Pool<T::Gradient>, others: &[T::Gradient]) {
        while let Some(other) = others.get(self.gradients.len()) {
            let need = T::gradient_size(other);
            let Some(gradient) = stock.like(need, T::gradient_size, T::empty) else { break };
            self.gradients.push(gradient);
        }
    }

    /// For how many rows there is room.
    pub(crate) fn room(&self) -> usize {
        self.gradients.capacity().min(self.shadows.capacity())
    }

    /// Gives all gradients to the `stock`, such that they come back in their order.
    pub(crate) fn return_to(&mut self, stock: &mut Pool<T::Gradient>) {
        self.len = 0;
        self.gradients.drain(..).rev().for_each(|gradient| stock.give(gradient));
    }

    /// Takes a gradient out.
    pub(crate) fn remove(&mut self, i: usize) -> T::Gradient {
        self.gradients[i..self.len].rotate_left(1);
        self.len -= 1;
        self.gradients.swap_remove(self.len)
    }

    /// The first `len` at most; the memory of the others stays.
    pub(crate) fn shorten(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Memory for one more item, which comes first: that of the last one, which was taken off, goes back to where it was.
    pub(crate) fn keep_spare(&mut self, gradient: T::Gradient) {
        self.gradients.push(gradient);
        let last = self.gradients.len() - 1;
        self.gradients.swap(self.len, last);
    }

    /// Puts a gradient in; the memory that had its place goes to the `stock`.
    pub(crate) fn insert(&mut self, i: usize, gradient: T::Gradient, stock: &mut Pool<T::Gradient>) {
        match self.gradients.get_mut(self.len) {
            Some(spare) => stock.give(std::mem::replace(spare, gradient)),
            None => self.gradients.push(gradient),
        }
        self.len += 1;
        self.gradients[i..self.len].rotate_right(1);
    }

    /// Puts a gradient in that is in the memory which is left, and made zero by `prepare`.
    pub(crate) fn insert_spare(&mut self, i: usize, prepare: impl FnOnce(&mut T::Gradient)) {
        if self.gradients.len() == self.len {
            self.gradients.push(T::empty());
        }
        prepare(&mut self.gradients[self.len]);
        self.len += 1;
        self.gradients[i..self.len].rotate_right(1);
    }

    /// How many bytes of the heap it owns.
    pub fn heap_size(&self) -> usize {
        self.gradients.capacity() * size_of::<T::Gradient>()
            + self.gradients.iter().map(T::gradient_size).sum::<usize>()
            + self.shadows.capacity() * size_of::<T::Shadow<'static>>()
    }

    /// The shadows of all items.
    #[allow(clippy::unnecessary_cast, reason = "it changes the lifetime")]
    pub fn shadows<'a>(&'a mut self) -> &'a [T::Shadow<'a>] {
        self.shadows.clear();
        for gradient in &mut self.gradients[..self.len] {
            let shadow = T::shadow(gradient);
            // SAFETY: types that differ in a lifetime alone have one layout, and a shadow is `Copy`, so that it is not dropped.
            // What is returned, the only way to it, has the right lifetime again.
            self.shadows
                .push(unsafe { std::mem::transmute_copy::<T::Shadow<'_>, T::Shadow<'static>>(&shadow) });
        }
        // SAFETY: the shadows borrow from `gradients`, which is borrowed uniquely and not touched for as long as `'a`.
        unsafe { &*(std::ptr::from_ref(&self.shadows[..]) as *const [T::Shadow<'a>]) }
    }

    /// See [`Differentiable::fit`]; there are as many as `items`.
    pub fn fit(&mut self, items: &[T], to: Extent) {
        self.len = items.len();
        if self.gradients.len() < self.len {
            self.gradients.resize_with(self.len, T::empty);
        }
        items.iter().zip(&mut self.gradients).for_each(|(item, gradient)| item.fit(gradient, to));
    }

    /// See [`Differentiable::take_shadow`].
    pub fn take(&mut self, shadows: &[T::Shadow<'_>]) {
        self.gradients[..self.len].iter_mut().zip(shadows).for_each(|(gradient, shadow)| {
            T::take_shadow(*shadow, gradient);
        });
    }

    /// See [`Differentiable::makes_way`]: there have to be as many at least.
    pub fn all_make_way(items: &[T], new: &[T]) -> bool {
        items.len() <= new.len() && items.iter().zip(new).all(|(item, new)| item.makes_way(new))
    }

    /// See [`Exchange::fits`].
    pub fn all_fit(items: &[T], shadows: &[T::Shadow<'_>]) -> bool
    where
        T: Exchange,
    {
        items.len() <= shadows.len() && items.iter().zip(shadows).all(|(item, shadow)| item.fits(*shadow))
    }

    /// See [`Differentiable::largest`].
    pub fn largest(items: &[T]) -> usize {
        items.iter().map(T::largest).max().unwrap_or(0)
    }

    /// As many shadows as there are items.
    #[inline(always)]
    pub fn align<'a>(items: &[T], shadows: &'a [T::Shadow<'a>]) -> &'a [T::Shadow<'a>] {
        shadows.get(..items.len()).expect("a shadow has the length of its slice")
    }

    /// The same shadows for a shorter time.
    #[inline(always)]
    #[allow(clippy::unnecessary_cast, reason = "it changes the lifetime")]
    pub fn shortened<'a, 's: 'a>(shadows: &'s [T::Shadow<'s>]) -> &'a [T::Shadow<'a>] {
        // SAFETY: types that differ in a lifetime alone have one layout. That a shadow, which is covariant, may be taken for one
        // that lasts for a shorter time each type shows by `Differentiable::shortened`; behind a slice of unknown type the
        // compiler does not see it.
        unsafe { &*(std::ptr::from_ref(shadows) as *const [T::Shadow<'a>]) }
    }

    /// Sets the gradients, of whatever number and shapes, to `others`.
    pub fn copy_from(&mut self, others: &[T::Gradient]) {
        self.len = others.len();
        if self.gradients.len() < self.len {
            self.gradients.resize_with(self.len, T::empty);
        }
        self.shadows.clear();
        self.shadows.reserve(self.len);
        for (gradient, other) in self.gradients.iter_mut().zip(others) {
            T::copy_gradient(gradient, T::view(other));
        }
    }

    /// Sets the gradients, already of the right shapes, to `seeds`.
    pub fn seed(&mut self, seeds: &[T::Gradient]) {
        assert_eq!(self.len, seeds.len(), "the seed has another length than the argument");
        for (gradient, seed) in self.gradients.iter_mut().zip(seeds) {
            T::seed(gradient, T::view(seed));
        }
    }
}

impl<T: Differentiable + 'static> Rows<T> {
    /// See [`Differentiable::prepare_from`].
    pub fn prepare_from_stock(&mut self, items: &[T], stock: &mut dyn Any) {
        if self.gradients.is_empty()
            && !items.is_empty()
            && let Some(spare) = stock.downcast_mut::<Vec<Self>>().and_then(Vec::pop)
        {
            *self = spare;
        }
        self.len = items.len();
        if self.gradients.len() < self.len {
            self.gradients.resize_with(self.len, T::empty);
        }
        self.shadows.clear();
        self.shadows.reserve(self.len);
        items.iter().zip(&mut self.gradients).for_each(|(item, gradient)| item.prepare_from(gradient, stock));
    }

    /// See [`Item::release_all`].
    pub fn release_all(mut self, stock: &mut Vec<Self>) {
        self.gradients.iter_mut().for_each(|gradient| T::release(gradient, stock));
        if self.gradients.capacity() > 0 {
            stock.push(self);
        }
    }

    /// See [`Item::release_to`].
    pub fn release_to(&mut self, stock: &mut dyn Any) {
        if let Some(stock) = stock.downcast_mut::<Vec<Self>>() {
            std::mem::take(self).release_all(stock);
        }
    }
}

impl<T: Differentiable> Default for Rows<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Differentiable> From<Vec<T::Gradient>> for Rows<T> {
    fn from(gradients: Vec<T::Gradient>) -> Self {
        Rows { len: gradients.len(), gradients, shadows: Vec::new() }
    }
}

impl<T: Differentiable> Deref for Rows<T> {
    type Target = [T::Gradient];

    fn deref(&self) -> &[T::Gradient] {
        &self.gradients[..self.len]
    }
}

impl<T: Differentiable> std::ops::DerefMut for Rows<T> {
    fn deref_mut(&mut self) -> &mut [T::Gradient] {
        &mut self.gradients[..self.len]
    }
}

impl<T: Differentiable<Gradient: Clone>> Clone for Rows<T> {
    fn clone(&self) -> Self {
        Rows { len: self.len, gradients: self.to_vec(), shadows: Vec::with_capacity(self.len) }
    }
    fn clone_from(&mut self, other: &Self) {
        self.copy_from(other);
    }
}

impl<T: Differentiable<Gradient: fmt::Debug>> fmt::Debug for Rows<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self[..].fmt(f)
    }
}

impl<T: Differentiable<Gradient: PartialEq>> PartialEq for Rows<T> {
    fn eq(&self, other: &Self) -> bool {
        self[..] == other[..]
    }
}

/// Implements [`Item`] for a container.
macro_rules! row {
    ([$($generics:tt)*] $t:ty $(, $size:expr)?) => {
        impl<$($generics)*> $crate::rows::Item for $t {
            type Gradients = $crate::rows::Rows<$t>;
            type Shadows<'a> = &'a [<$t as $crate::Differentiable>::Shadow<'a>];
            type Views<'a> = &'a [<$t as $crate::Differentiable>::Gradient];

            fn empty_all() -> Self::Gradients {
                $crate::rows::Rows::new()
            }
            fn prepare_all(items: &[Self], gradients: &mut Self::Gradients) {
                gradients.prepare(items);
            }
            fn shadows(gradients: &mut Self::Gradients) -> Self::Shadows<'_> {
                gradients.shadows()
            }
            #[inline(always)]
            fn align_all<'a>(items: &[Self], shadows: Self::Shadows<'a>) -> Self::Shadows<'a> {
                $crate::rows::Rows::align(items, shadows)
            }
            #[inline(always)]
            fn shortened_all<'a, 's: 'a>(shadows: Self::Shadows<'s>) -> Self::Shadows<'a> {
                $crate::rows::Rows::<Self>::shortened(shadows)
            }
            fn fit_all(items: &[Self], _len: usize, gradients: &mut Self::Gradients, to: $crate::lengths::Extent) {
                gradients.fit(items, to);
            }
            fn all_make_way(items: &[Self], new: &[Self]) -> bool {
                $crate::rows::Rows::all_make_way(items, new)
            }
            fn largest_of(items: &[Self]) -> usize {
                $crate::rows::Rows::largest(items)
            }
            fn take_shadows(shadows: Self::Shadows<'_>, gradients: &mut Self::Gradients) {
                gradients.take(shadows);
            }
            #[inline(always)]
            fn shadow_at<'a>(
                shadows: Self::Shadows<'a>,
                i: usize,
            ) -> <Self as $crate::Differentiable>::Shadow<'a> {
                shadows[i]
            }
            fn reserve_all(items: &[Self], copies: &mut [Self]) {
                items.iter().zip(copies).for_each(|(item, copy)| item.reserve_as(copy));
            }
            fn views(gradients: &Self::Gradients) -> Self::Views<'_> {
                gradients
            }
            fn gradients_size(gradients: &Self::Gradients) -> usize {
                gradients.heap_size()
            }
            fn seed_all(gradients: &mut Self::Gradients, seeds: Self::Views<'_>) {
                gradients.seed(seeds);
            }
            fn copy_all(gradients: &mut Self::Gradients, others: Self::Views<'_>) {
                gradients.copy_from(others);
            }
            $(fn size_all(items: &[Self]) -> usize {
                items.iter().map($size).sum()
            }
            fn refill_all(items: &[Self], copies: &mut Vec<Self>, spares: &mut $crate::boxed::SpareBoxes) -> bool {
                $crate::rows::refill_rows(items, copies, spares)
            })?
        }
    };
}
pub(crate) use row;

row!([T: Item + 'static] Vec<T>, |row| row.capacity() * size_of::<T>() + T::size_all(row));
