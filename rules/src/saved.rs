//! Buffers that save what a forward overwrites.

use std::ops::Range;

use ndarray::{Array, ArrayRef, Dimension};

/// A copy of something that is about to be overwritten. It allocates when it first saves, and afterwards only when it has
/// to grow.
///
/// ```
/// use pullback_rules::Saved;
///
/// let mut saved = Saved::default();
/// let mut x = [1.0, 2.0];
/// saved.save(&x[..]);
/// x[0] = 5.0;
/// saved.restore(&mut x[..]);
/// assert_eq!(x, [1.0, 2.0]);
/// ```
#[derive(Debug)]
pub struct Saved<T> {
    elements: Vec<T>,
    /// Where among `elements` is what was saved.
    place: Range<usize>,
    full: bool,
    forgone: bool,
}

impl<T> Default for Saved<T> {
    fn default() -> Self {
        Saved { elements: Vec::new(), place: 0..0, full: false, forgone: false }
    }
}

impl<T: Copy> Saved<T> {
    /// Saves `contents`, because the pullback is going to read it.
    #[inline]
    pub fn save<C: Contents<Element = T> + ?Sized>(&mut self, contents: &C) {
        self.elements.clear();
        contents.append_to(&mut self.elements);
        self.place = 0..self.elements.len();
        self.full = true;
    }

    /// Saves `contents` for no other purpose than to restore it: skipped where the caller has
    /// [forgone](crate::Rule::forgo) that.
    #[inline]
    pub fn save_to_restore<C: Contents<Element = T> + ?Sized>(&mut self, contents: &C) {
        if self.forgone {
            self.full = false;
        } else {
            self.save(contents);
        }
    }

    /// A buffer of `len` elements for the caller to save to; what is in it before does not matter. It begins where a cache
    /// line does: a vector that crosses lines takes twice as long to store.
    #[inline]
    pub(crate) fn buffer(&mut self, len: usize, filler: T) -> &mut [T] {
        if self.place.len() != len {
            self.make_room(len, filler);
        }
        self.full = true;
        &mut self.elements[self.place.clone()]
    }

    #[cold]
    fn make_room(&mut self, len: usize, filler: T) {
        const LINE: usize = 64;
        let spare = LINE / size_of::<T>().clamp(1, LINE);
        self.elements.resize(len + spare, filler);
        let start = self.elements.as_ptr().align_offset(LINE).min(spare);
        self.place = start..start + len;
    }

    /// A buffer for what is saved for no other purpose than to restore it; `None` if that is [forgone](crate::Rule::forgo).
    #[inline]
    pub(crate) fn buffer_to_restore(&mut self, len: usize, filler: T) -> Option<&mut [T]> {
        if self.forgone {
            self.full = false;
            return None;
        }
        Some(self.buffer(len, filler))
    }

    /// What was saved last, for the last time; `None` where nothing was.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<&[T]> {
        std::mem::take(&mut self.full).then_some(&self.elements[self.place.clone()])
    }

    /// The elements saved last, in the order in which [`Contents`] lists them; `None` where nothing was.
    #[inline]
    pub fn get(&self) -> Option<&[T]> {
        self.full.then_some(&self.elements[self.place.clone()])
    }

    /// Brings back what was saved last, bit for bit; leaves `contents` alone if nothing was.
    ///
    /// # Panics
    /// If `contents` has another number of elements than what was saved.
    #[inline]
    pub fn restore<C: Contents<Element = T> + ?Sized>(&mut self, contents: &mut C) {
        if self.full {
            contents.fill_from(&self.elements[self.place.clone()]);
            self.full = false;
        }
    }

    /// Saving to restore is not needed; see [`Rule::forgo`](crate::Rule::forgo).
    pub fn forgo(&mut self) {
        self.forgone = true;
    }

    /// How many elements fit without a further allocation.
    pub fn capacity(&self) -> usize {
        self.elements.capacity()
    }
}

/// Something made of elements that can be copied out and back in again.
#[diagnostic::on_unimplemented(
    message = "copies of `{Self}` cannot be kept",
    label = "not made of elements that can be copied out and back in again",
    note = "numbers, arrays, slices and vectors of what is `Copy` are, and so are ndarray's arrays"
)]
pub trait Contents {
    /// The type of an element.
    type Element: Copy;
    /// Appends all elements to `buffer`.
    fn append_to(&self, buffer: &mut Vec<Self::Element>);
    /// Takes all elements from `elements`, which lists them in the order of [`append_to`](Contents::append_to).
    ///
    /// # Panics
    /// If there are more or fewer of them.
    fn fill_from(&mut self, elements: &[Self::Element]);
}

impl<T: Copy> Contents for [T] {
    type Element = T;
    #[inline]
    fn append_to(&self, buffer: &mut Vec<T>) {
        buffer.extend_from_slice(self);
    }
    #[inline]
    fn fill_from(&mut self, elements: &[T]) {
        self.copy_from_slice(elements);
    }
}

macro_rules! one_element {
    ($($t:ty),*) => {$(
        impl Contents for $t {
            type Element = $t;
            #[inline]
            fn append_to(&self, buffer: &mut Vec<$t>) {
                buffer.push(*self);
            }
            #[inline]
            fn fill_from(&mut self, elements: &[$t]) {
                let [element] = elements else { panic!("restored with another shape than saved") };
                *self = *element;
            }
        }
    )*};
}
one_element!(f32, f64, bool, char, i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize);

impl<T: Copy, const N: usize> Contents for [T; N] {
    type Element = T;
    #[inline]
    fn append_to(&self, buffer: &mut Vec<T>) {
        self[..].append_to(buffer);
    }
    #[inline]
    fn fill_from(&mut self, elements: &[T]) {
        self[..].fill_from(elements);
    }
}

/// It may have become longer or shorter in between.
impl<T: Copy> Contents for Vec<T> {
    type Element = T;
    #[inline]
    fn append_to(&self, buffer: &mut Vec<T>) {
        self[..].append_to(buffer);
    }
    #[inline]
    fn fill_from(&mut self, elements: &[T]) {
        self.clear();
        self.extend_from_slice(elements);
    }
}

impl<T: Copy, D: Dimension> Contents for Array<T, D> {
    type Element = T;
    #[inline]
    fn append_to(&self, buffer: &mut Vec<T>) {
        (**self).append_to(buffer);
    }
    #[inline]
    fn fill_from(&mut self, elements: &[T]) {
        (**self).fill_from(elements);
    }
}

impl<T: Copy, D: Dimension> Contents for ArrayRef<T, D> {
    type Element = T;
    #[inline]
    fn append_to(&self, buffer: &mut Vec<T>) {
        match self.as_slice_memory_order() {
            Some(elements) => buffer.extend_from_slice(elements),
            None => buffer.extend(self.iter()),
        }
    }
    #[inline]
    fn fill_from(&mut self, elements: &[T]) {
        match self.as_slice_memory_order_mut() {
            Some(place) => place.copy_from_slice(elements),
            None => {
                assert_eq!(self.len(), elements.len(), "restored with another shape than saved");
                self.iter_mut().zip(elements).for_each(|(place, &element)| *place = element);
            }
        }
    }
}
