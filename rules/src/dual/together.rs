//! Arithmetic of the derivatives of a number, all of them together.
//!
//! A loop over eight derivatives is unrolled before the compiler looks for loops to run in vectors. It finds the loop around it then, and puts the
//! first derivatives of four elements together, and so on, which it gathers from all over memory: with AVX-512 that took five times as long. So
//! floats say where their vectors are.

use std::ops::{AddAssign, MulAssign, SubAssign};

use crate::dual::{DualNumber, Lanes};
use crate::float::Float;

/// Numbers that derivatives consist of.
pub trait Together: Copy + AddAssign + SubAssign + MulAssign {
    /// From how many on these methods are used.
    const SOME: usize = usize::MAX;

    /// Adds to each.
    #[inline(always)]
    fn add_to_each<const N: usize>(of: &mut [Self; N], others: &[Self; N]) {
        for (a, b) in of.iter_mut().zip(others) {
            *a += *b;
        }
    }
    /// Subtracts from each.
    #[inline(always)]
    fn subtract_from_each<const N: usize>(of: &mut [Self; N], others: &[Self; N]) {
        for (a, b) in of.iter_mut().zip(others) {
            *a -= *b;
        }
    }
    /// Multiplies each by one number.
    #[inline(always)]
    fn multiply_each<const N: usize>(of: &mut [Self; N], factor: Self) {
        for a in of {
            *a *= factor;
        }
    }
}

impl Together for f32 {}
impl<T: Float, const N: usize> Together for DualNumber<T, N> {}
impl<const K: usize> Together for Lanes<K> {}

#[cfg(not(target_arch = "x86_64"))]
impl Together for f64 {}

#[cfg(target_arch = "x86_64")]
impl Together for f64 {
    const SOME: usize = 2;

    #[inline(always)]
    fn add_to_each<const N: usize>(of: &mut [f64; N], others: &[f64; N]) {
        vectors::each(of, others, vectors::Sum);
    }
    #[inline(always)]
    fn subtract_from_each<const N: usize>(of: &mut [f64; N], others: &[f64; N]) {
        vectors::each(of, others, vectors::Difference);
    }
    #[inline(always)]
    fn multiply_each<const N: usize>(of: &mut [f64; N], factor: f64) {
        let others = *of;
        vectors::each(of, &others, vectors::Multiple(factor));
    }
}

/// What the processor that the program is compiled for has in registers.
#[cfg(target_arch = "x86_64")]
mod vectors {
    use std::arch::x86_64::*;
    use std::ops::{Add, Mul, Sub};

    /// Some numbers in a register; a single one as well.
    pub(super) trait Vector:
        Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self>
    {
        fn splat(x: f64) -> Self;
    }

    impl Vector for f64 {
        #[inline(always)]
        fn splat(x: f64) -> f64 {
            x
        }
    }

    /// What becomes of two numbers.
    pub(super) trait Operation: Copy {
        fn of<V: Vector>(self, a: V, b: V) -> V;
    }

    #[derive(Clone, Copy)]
    pub(super) struct Sum;

    impl Operation for Sum {
        #[inline(always)]
        fn of<V: Vector>(self, a: V, b: V) -> V {
            a + b
        }
    }

    #[derive(Clone, Copy)]
    pub(super) struct Difference;

    impl Operation for Difference {
        #[inline(always)]
        fn of<V: Vector>(self, a: V, b: V) -> V {
            a - b
        }
    }

    /// Of the first.
    #[derive(Clone, Copy)]
    pub(super) struct Multiple(pub(super) f64);

    impl Operation for Multiple {
        #[inline(always)]
        fn of<V: Vector>(self, a: V, _: V) -> V {
            a * V::splat(self.0)
        }
    }

    macro_rules! vector {
        ($Vector:ident of $len:literal: $feature:literal, $Register:ident, $splat:ident, $load:ident, $store:ident, $add:ident, $sub:ident, $mul:ident) => {
            #[cfg(target_feature = $feature)]
            #[derive(Clone, Copy)]
            struct $Vector($Register);

            #[cfg(target_feature = $feature)]
            impl $Vector {
                /// Goes as far as there are whole vectors, and returns the rest.
                #[inline(always)]
                fn each<'n>(
                    a: &'n mut [f64],
                    b: &'n [f64],
                    operation: impl Operation,
                ) -> (&'n mut [f64], &'n [f64]) {
                    let ((whole, a), (others, b)) = (a.as_chunks_mut::<$len>(), b.as_chunks::<$len>());
                    for (a, b) in whole.iter_mut().zip(others) {
                        // SAFETY: the program is compiled for processors that have these instructions, and so many numbers are read and
                        // written.
                        unsafe {
                            let (x, y) = ($Vector($load(a.as_ptr())), $Vector($load(b.as_ptr())));
                            $store(a.as_mut_ptr(), operation.of(x, y).0);
                        }
                    }
                    (a, b)
                }
            }

            #[cfg(target_feature = $feature)]
            impl Vector for $Vector {
                #[inline(always)]
                fn splat(x: f64) -> Self {
                    // SAFETY: as above.
                    $Vector(unsafe { $splat(x) })
                }
            }

            vector!(@operator $Vector: $feature, Add add $add);
            vector!(@operator $Vector: $feature, Sub sub $sub);
            vector!(@operator $Vector: $feature, Mul mul $mul);
        };
        (@operator $Vector:ident: $feature:literal, $Op:ident $op:ident $intrinsic:ident) => {
            #[cfg(target_feature = $feature)]
            impl $Op for $Vector {
                type Output = Self;
                #[inline(always)]
                fn $op(self, other: Self) -> Self {
                    // SAFETY: as above.
                    $Vector(unsafe { $intrinsic(self.0, other.0) })
                }
            }
        };
    }
    vector!(Eight of 8: "avx512f", __m512d, _mm512_set1_pd, _mm512_loadu_pd, _mm512_storeu_pd, _mm512_add_pd, _mm512_sub_pd, _mm512_mul_pd);
    vector!(Four of 4: "avx", __m256d, _mm256_set1_pd, _mm256_loadu_pd, _mm256_storeu_pd, _mm256_add_pd, _mm256_sub_pd, _mm256_mul_pd);
    vector!(Two of 2: "sse2", __m128d, _mm_set1_pd, _mm_loadu_pd, _mm_storeu_pd, _mm_add_pd, _mm_sub_pd, _mm_mul_pd);

    /// Writes what becomes of `a` and `b` to `a`.
    #[inline(always)]
    pub(super) fn each<const N: usize>(a: &mut [f64; N], b: &[f64; N], operation: impl Operation) {
        let (a, b) = (&mut a[..], &b[..]);
        #[cfg(target_feature = "avx512f")]
        let (a, b) = Eight::each(a, b, operation);
        #[cfg(target_feature = "avx")]
        let (a, b) = Four::each(a, b, operation);
        #[cfg(target_feature = "sse2")]
        let (a, b) = Two::each(a, b, operation);
        for (a, b) in a.iter_mut().zip(b) {
            *a = operation.of(*a, *b);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<const N: usize>() {
        let x: [f64; N] = std::array::from_fn(|i| 1.0 + i as f64);
        let y = x.map(|x| 0.1 / x);
        let after = |change: fn(&mut [f64; N], &[f64; N])| {
            let mut x = x;
            change(&mut x, &y);
            x
        };
        let expected = |operation: fn(f64, f64) -> f64| std::array::from_fn(|i| operation(x[i], y[i]));
        assert_eq!(after(f64::add_to_each), expected(|x, y| x + y));
        assert_eq!(after(f64::subtract_from_each), expected(|x, y| x - y));
        assert_eq!(after(|x, _| f64::multiply_each(x, 0.3)), x.map(|x| x * 0.3));
    }

    #[test]
    fn each_number_is_computed_once_whatever_their_count() {
        check::<0>();
        check::<1>();
        check::<2>();
        check::<3>();
        check::<7>();
        check::<8>();
        check::<15>();
        check::<27>();
    }
}
