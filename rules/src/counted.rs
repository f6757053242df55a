//! Integers that a loop counts: see the reverse pass of `k += 1`.

use std::ops::Range;

/// An integer.
#[diagnostic::on_unimplemented(
    message = "`{Self}` counts in a loop and is no integer",
    label = "`x += 1` is taken for an integer that counts",
    note = "write `x = x + 1`, which may be anything"
)]
pub trait Counter: Copy + PartialOrd {
    /// `self - first`, if that is not negative.
    fn since(self, first: Self) -> u64;
    /// `self + steps * by`, which is within range.
    fn after(self, steps: u64, by: i64) -> Self;
}

macro_rules! counters {
    ($($ty:ty)*) => {$(
        impl Counter for $ty {
            #[inline(always)]
            fn since(self, first: Self) -> u64 {
                (self as i128).wrapping_sub(first as i128) as u64
            }
            // Modulo a power of two, what comes in between may be out of range.
            #[inline(always)]
            fn after(self, steps: u64, by: i64) -> Self {
                self.wrapping_add((steps as $ty).wrapping_mul(by as $ty))
            }
        }
    )*};
}

counters!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

/// How far `index` is from the first one.
#[inline(always)]
pub fn since<I: Counter>(first: I, index: I) -> u64 {
    index.since(first)
}

/// How many iterations a loop over `range` has.
#[inline(always)]
pub fn iterations<I: Counter>(range: &Range<I>) -> u64 {
    if range.start < range.end { range.end.since(range.start) } else { 0 }
}

/// What an integer is to which `by` is added so many times.
#[inline(always)]
pub fn counted<T: Counter>(start: T, iterations: u64, by: i64) -> T {
    start.after(iterations, by)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_in_both_directions_and_in_every_type() {
        assert_eq!(counted(250_u8, 5, 1), 255);
        assert_eq!(counted(255_u8, iterations(&(-2_i8..3)), -51), 0);
        assert_eq!(counted(i8::MIN, iterations(&(0_u64..255)), 1), i8::MAX);
        assert_eq!(counted(u128::MAX, 3, -1), u128::MAX - 3);
        let empty = Range { start: 3, end: 2 };
        assert_eq!(counted(7_usize, iterations(&empty), 1), 7);
        assert_eq!(since(i8::MIN, i8::MAX), 255);
        assert_eq!(since(3_usize, 10), 7);
    }
}
