//! Sorting: the order is a constant, by which the reverse pass brings numbers and gradients back to where they were.

use std::cmp::Ordering;

use crate::float::Scalar;
use crate::function::for_tuples;
use crate::heap::HeapSize;
use crate::shadow::{Accumulate, Element, Shadow};
use crate::state::State;
use crate::tangent::Value;

/// The orders that slices have been brought into, the latest last.
pub struct Sorted<T: Value> {
    /// For each element of a sorted slice where it was before.
    orders: Vec<u32>,
    lens: Vec<usize>,
    /// Room to work in.
    numbers: Vec<T>,
    gradients: Vec<T::Tangent>,
    tagged: Vec<(T, u32)>,
    places: Vec<u32>,
    origins: Vec<u32>,
}

impl<T: Value> Default for Sorted<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Value> Sorted<T> {
    /// Nothing, and nothing allocated.
    pub const fn new() -> Self {
        Sorted {
            orders: Vec::new(),
            lens: Vec::new(),
            numbers: Vec::new(),
            gradients: Vec::new(),
            tagged: Vec::new(),
            places: Vec::new(),
            origins: Vec::new(),
        }
    }
}

/// An element of slices that are sorted by methods which do not keep the order of what compares as equal: equal numbers cannot be told apart.
#[diagnostic::on_unimplemented(
    message = "a slice of `{Self}` is not reordered differentiably by this method, which may exchange elements that compare as equal",
    label = "numbers are",
    note = "keep their order, by `sort_by` or `sort_by_key`, or reorder indices"
)]
pub trait Unordered: Scalar {}

#[diagnostic::do_not_recommend]
impl<T: Scalar> Unordered for T {}

impl<T: Unordered> Sorted<T> {
    /// Has `sort` reorder `x`, in whatever way, and finds out how. Of numbers that are the same bit for bit the first stays the
    /// first.
    ///
    /// # Panics
    /// If there are 2³² numbers or more.
    pub fn sort(&mut self, x: &mut [T], sort: impl FnOnce(&mut [T])) {
        let count = u32::try_from(x.len()).expect("fewer than 2³² numbers are sorted differentiably");
        self.numbers.clear();
        self.numbers.extend_from_slice(x);
        sort(x);
        // In ascending order it is known which number is which, before and after.
        let start = self.orders.len();
        self.orders.extend(0..count);
        let before = &self.numbers;
        self.orders[start..].sort_unstable_by_key(|&i| (before[i as usize].total_order(), i));
        if !x.is_sorted_by_key(|number| number.total_order()) {
            self.places.clear();
            self.places.extend(0..count);
            self.places.sort_unstable_by_key(|&i| (x[i as usize].total_order(), i));
            self.origins.clear();
            self.origins.extend_from_slice(&self.orders[start..]);
            for (place, origin) in self.places.iter().zip(&self.origins) {
                self.orders[start + *place as usize] = *origin;
            }
        }
        self.lens.push(x.len());
    }
}

impl<T: Value<Tangent: Element> + Copy> Sorted<T> {
    /// Sorts `x` by a stable sort of its elements along with where they were.
    fn sort_tagged(&mut self, x: &mut [T], sort: impl FnOnce(&mut [(T, u32)])) {
        let count = u32::try_from(x.len()).expect("fewer than 2³² elements are sorted differentiably");
        self.tagged.clear();
        self.tagged.extend(x.iter().copied().zip(0..count));
        sort(&mut self.tagged);
        for (element, (sorted, _)) in x.iter_mut().zip(&self.tagged) {
            *element = *sorted;
        }
        self.orders.extend(self.tagged.iter().map(|(_, origin)| origin));
        self.lens.push(x.len());
    }

    /// Undoes the latest sorting, of `x` and of its shadow.
    pub fn undo(&mut self, x: &mut [T], shadow: Shadow<&[<T::Tangent as Element>::Cells]>) {
        let len = self.lens.pop().expect("a pullback follows its forward");
        let start = self.orders.len() - len;
        let order = &self.orders[start..];
        self.numbers.clear();
        self.numbers.extend_from_slice(x);
        for (number, origin) in self.numbers.iter().zip(order) {
            x[*origin as usize] = *number;
        }
        if let Some(shadow) = shadow.get() {
            self.gradients.clear();
            self.gradients.extend(shadow.iter().map(Accumulate::take));
            for (d, origin) in self.gradients.iter().zip(order) {
                shadow[*origin as usize].accumulate(*d);
            }
        }
        self.orders.truncate(start);
    }
}

impl<T: SortItem> Sorted<T> {
    /// `x.sort_by(compare)`
    pub fn sort_by(&mut self, x: &mut [T], compare: impl FnMut(&T, &T) -> Ordering) {
        T::sort_by(self, x, compare);
    }

    /// `x.sort_by_key(key)`
    pub fn sort_by_key<K: Ord>(&mut self, x: &mut [T], key: impl FnMut(&T) -> K) {
        T::sort_by_key(self, x, key);
    }

    /// `x.sort_by_cached_key(key)`
    pub fn sort_by_cached_key<K: Ord>(&mut self, x: &mut [T], key: impl FnMut(&T) -> K) {
        T::sort_by_cached_key(self, x, key);
    }
}

/// An element of slices that are sorted: `#[derive(Differentiable)]` makes plain structs such. In the slice elements that
/// compare as equal keep their order, so that it is known where each was.
#[diagnostic::on_unimplemented(
    message = "a slice of `{Self}` is not sorted differentiably",
    label = "numbers, tuples and arrays of these, and plain structs with `#[derive(Differentiable)]` are",
    note = "otherwise sort indices, by `order.sort_by(|i, j| x[*i].total_cmp(&x[*j]))`"
)]
pub trait SortItem: Value<Tangent: Element> + Copy {
    /// See [`Sorted::sort_by`].
    fn sort_by(sorted: &mut Sorted<Self>, x: &mut [Self], mut compare: impl FnMut(&Self, &Self) -> Ordering) {
        sorted.sort_tagged(x, |tagged| tagged.sort_by(|(a, _), (b, _)| compare(a, b)));
    }

    /// See [`Sorted::sort_by_key`].
    fn sort_by_key<K: Ord>(sorted: &mut Sorted<Self>, x: &mut [Self], mut key: impl FnMut(&Self) -> K) {
        sorted.sort_tagged(x, |tagged| tagged.sort_by_key(|(element, _)| key(element)));
    }

    /// See [`Sorted::sort_by_cached_key`].
    fn sort_by_cached_key<K: Ord>(
        sorted: &mut Sorted<Self>,
        x: &mut [Self],
        mut key: impl FnMut(&Self) -> K,
    ) {
        sorted.sort_tagged(x, |tagged| tagged.sort_by_cached_key(|(element, _)| key(element)));
    }
}

/// Of numbers it is known which is which, whatever the comparison says: they are sorted as they are.
impl<T: Scalar> SortItem for T {
    fn sort_by(sorted: &mut Sorted<T>, x: &mut [T], compare: impl FnMut(&T, &T) -> Ordering) {
        sorted.sort(x, |numbers| numbers.sort_by(compare));
    }
    fn sort_by_key<K: Ord>(sorted: &mut Sorted<T>, x: &mut [T], key: impl FnMut(&T) -> K) {
        sorted.sort(x, |numbers| numbers.sort_by_key(key));
    }
    fn sort_by_cached_key<K: Ord>(sorted: &mut Sorted<T>, x: &mut [T], key: impl FnMut(&T) -> K) {
        sorted.sort(x, |numbers| numbers.sort_by_cached_key(key));
    }
}

impl<T: SortItem, const N: usize> SortItem for [T; N] where [T; N]: Value<Tangent: Element> {}

macro_rules! tuple {
    ($($T:ident $i:tt),*) => {
        impl<$($T: Copy),*> SortItem for ($($T,)*) where ($($T,)*): Value<Tangent: Element> {}
    };
}
for_tuples!(tuple);

impl<T: Value<Tangent: Send> + Send> State for Sorted<T> {
    fn reset(&mut self) {
        self.orders.clear();
        self.lens.clear();
    }
    fn shrink(&mut self) {
        *self = Self::new();
    }
    fn pending(&self) -> usize {
        size_of_val(&self.orders[..]) + size_of_val(&self.lens[..])
    }
    fn memory(&self) -> usize {
        self.orders.heap_size() + self.lens.heap_size()
    }
}
