//! How much memory something owns.

use ndarray::{Array, Dimension};

use crate::function::for_tuples;
use crate::output::Output;
use crate::saved::Saved;

/// Something that can tell how many bytes of the heap it owns. `#[derive(Rule)]` adds up the fields of a rule that can.
///
/// ```
/// use pullback_rules::HeapSize;
///
/// let mut numbers = Vec::with_capacity(10);
/// numbers.push(1.0);
/// assert_eq!(numbers.heap_size(), 80);
/// ```
pub trait HeapSize {
    /// How many bytes of the heap it owns.
    fn heap_size(&self) -> usize;
}

impl<T: Copy> HeapSize for Vec<T> {
    #[inline]
    fn heap_size(&self) -> usize {
        self.capacity() * size_of::<T>()
    }
}

impl<T: Copy> HeapSize for Saved<T> {
    #[inline]
    fn heap_size(&self) -> usize {
        self.capacity() * size_of::<T>()
    }
}

/// By the number of elements: an array does not tell how many more there is room for.
impl<T: Copy, D: Dimension> HeapSize for Array<T, D> {
    #[inline]
    fn heap_size(&self) -> usize {
        self.len() * size_of::<T>()
    }
}

impl<T: HeapSize> HeapSize for Option<T> {
    #[inline]
    fn heap_size(&self) -> usize {
        self.as_ref().map_or(0, T::heap_size)
    }
}

impl<T: HeapSize> HeapSize for [T] {
    #[inline]
    fn heap_size(&self) -> usize {
        self.iter().map(T::heap_size).sum()
    }
}

impl<T: HeapSize, const N: usize> HeapSize for [T; N] {
    #[inline]
    fn heap_size(&self) -> usize {
        self[..].heap_size()
    }
}

macro_rules! tuple {
    ($($T:ident $i:tt),*) => {
        impl<$($T: HeapSize),*> HeapSize for ($($T,)*) {
            #[inline]
            fn heap_size(&self) -> usize {
                0 $(+ self.$i.heap_size())*
            }
        }
    };
}
for_tuples!(tuple);

/// Adds up fields: those named, of structs that own nothing else.
macro_rules! heap_size {
    ($([$($generics:tt)*] $t:ty { $($field:tt),* $(,)? })*) => {$(
        impl<$($generics)*> $crate::heap::HeapSize for $t {
            #[inline]
            fn heap_size(&self) -> usize {
                0 $(+ $crate::heap::HeapSize::heap_size(&self.$field))*
            }
        }
    )*};
}
pub(crate) use heap_size;

/// A field of a rule. Where its type is no [`HeapSize`], it counts as nothing.
pub struct OfField<'f, T: ?Sized>(pub &'f T);

impl<T: HeapSize + ?Sized> OfField<'_, T> {
    /// What the field owns.
    #[inline]
    pub fn heap_size(&self) -> usize {
        self.0.heap_size()
    }
}

/// What a field owns that functions return: a vector of structs that own memory.
pub trait OfReturnedField {
    /// What the field owns.
    fn heap_size(&self) -> usize;
}

impl<T: Output> OfReturnedField for OfField<'_, T> {
    #[inline]
    fn heap_size(&self) -> usize {
        T::size(self.0)
    }
}

/// What a field owns that does not tell. Of these three, the compiler takes the first that there is for `(&OfField(…)).heap_size()`.
pub trait OfAnyField {
    /// Nothing is known of.
    #[inline]
    fn heap_size(&self) -> usize {
        0
    }
}

impl<T: ?Sized> OfAnyField for &OfField<'_, T> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_tell_are_counted() {
        struct Other(Vec<Vec<f64>>);
        let (known, other) = (vec![1.0_f32; 3], Other(vec![vec![1.0]]));
        let (one, two) = (&OfField(&known), &OfField(&other));
        let (three, four) = (&OfField(&[vec![1_u8], vec![2, 3]]), &OfField(&other.0));
        assert_eq!((one.heap_size(), two.heap_size()), (12, 0));
        assert_eq!((three.heap_size(), four.heap_size()), (3, size_of::<Vec<f64>>() + 8));
    }
}
