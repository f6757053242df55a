//! Ranges of integers that are no indices: how many items there are, and which one comes at an index.

/// An integer.
pub trait Integer: Copy {
    /// How many there are from this one up to `end`.
    fn steps(self, end: Self) -> usize;
    /// Likewise, with `end`.
    fn steps_up_to(self, end: Self) -> usize;
    /// The one after so many steps, which there are.
    fn after(self, steps: usize) -> Self;
}

macro_rules! integers {
    ($($T:ident $Unsigned:ident),*) => {$(
        impl Integer for $T {
            #[inline(always)]
            fn steps(self, end: Self) -> usize {
                // The difference of two signed integers need not be one itself.
                if self < end { end.wrapping_sub(self) as $Unsigned as usize } else { 0 }
            }
            #[inline(always)]
            fn steps_up_to(self, end: Self) -> usize {
                if self <= end { end.wrapping_sub(self) as $Unsigned as usize + 1 } else { 0 }
            }
            #[inline(always)]
            fn after(self, steps: usize) -> Self {
                self.wrapping_add(steps as $T)
            }
        }
    )*};
}
integers!(
    u8 u8, u16 u16, u32 u32, u64 u64, u128 u128, usize usize, i8 u8, i16 u16, i32 u32, i64 u64, i128 u128, isize usize
);

/// How many items `start..end` has.
#[inline(always)]
pub fn items_of_range<T: Integer>(start: T, end: T) -> usize {
    start.steps(end)
}

/// How many items `start..=end` has.
#[inline(always)]
pub fn items_of_closed_range<T: Integer>(start: T, end: T) -> usize {
    start.steps_up_to(end)
}

/// The item of `start..end` at `index`.
#[inline(always)]
pub fn item_of_range<T: Integer>(start: T, index: usize) -> T {
    start.after(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_the_standard_library_does() {
        fn same<T: Integer + std::fmt::Debug + PartialEq>(start: T, end: T, items: Vec<T>, closed: usize) {
            assert_eq!(items_of_range(start, end), items.len());
            assert_eq!(items_of_closed_range(start, end), closed);
            for (index, item) in items.into_iter().enumerate() {
                assert_eq!(item_of_range(start, index), item);
            }
        }
        same(-100_i8, 120, (-100..120).collect(), (-100..=120_i8).count());
        same(3_u8, 250, (3..250).collect(), (3..=250_u8).count());
        same(i64::MAX - 2, i64::MAX, (i64::MAX - 2..i64::MAX).collect(), 3);
        same(2_i32, 2, Vec::new(), 1);
        same(5_isize, -5, Vec::new(), 0);
    }
}
