//! Vector registers: what there is on the machine, under one name each.

use std::arch::x86_64::*;

use super::{Columns, clear, copy, dots, kernel, pack};
use crate::blas::backend::{Native, Product};
use crate::blas::operand::Operand;

/// A vector register.
///
/// All methods are unsafe because the machine must have the instructions. Pointers are valid for as many elements as there
/// are lanes, or for `len` of them.
pub(super) trait Lanes {
    type Scalar: Native;
    type Vector: Copy;
    const LEN: usize;
    /// How many vectors there is room for in a tile.
    const TILE: usize;

    unsafe fn splat(x: Self::Scalar) -> Self::Vector;
    unsafe fn load(from: *const Self::Scalar) -> Self::Vector;
    unsafe fn load_first(len: usize, from: *const Self::Scalar) -> Self::Vector;
    unsafe fn store(to: *mut Self::Scalar, x: Self::Vector);
    unsafe fn store_first(len: usize, to: *mut Self::Scalar, x: Self::Vector);
    unsafe fn mul(x: Self::Vector, y: Self::Vector) -> Self::Vector;
    /// x·y + z
    unsafe fn mul_add(x: Self::Vector, y: Self::Vector, z: Self::Vector) -> Self::Vector;
    /// The sums over the lanes of four vectors.
    unsafe fn sums(x: [Self::Vector; 4]) -> [Self::Scalar; 4];
    /// How many rows and columns `transpose` takes.
    const BLOCK: usize;
    /// Copies a block, from rows that are `row_stride` apart to columns that are `column_stride` apart.
    unsafe fn transpose(
        from: *const Self::Scalar,
        row_stride: isize,
        to: *mut Self::Scalar,
        column_stride: isize,
    );

    /// [`kernel`], compiled for these instructions.
    unsafe fn kernel<const R: usize, const N: usize, const PARTIAL: bool>(
        product: &Product<'_, Self::Scalar>,
        a: Columns<Self::Scalar>,
        i: usize,
        j: usize,
        last: usize,
    );
    /// [`dots::multiply`], compiled for these instructions.
    unsafe fn dots(product: &Product<'_, Self::Scalar>);
    /// [`pack`], compiled for these instructions.
    unsafe fn pack(from: Operand<'_, Self::Scalar>, to: Operand<'_, Self::Scalar>);
    /// [`copy`], compiled for these instructions.
    unsafe fn copy(from: *const Self::Scalar, to: *mut Self::Scalar, len: usize);
    /// [`clear`], compiled for these instructions.
    unsafe fn clear(to: *mut Self::Scalar, len: usize);
}

/// Registers of which a block has as many as each has lanes.
pub(super) trait Square<const K: usize>: Lanes {
    /// The columns of a block whose rows are `row_stride` apart.
    ///
    /// # Safety
    /// As for [`Lanes`].
    unsafe fn transposed(from: *const Self::Scalar, row_stride: isize) -> [Self::Vector; K];
}

macro_rules! lanes {
    (
        $Lanes:ident($features:literal), $T:ident, $Vector:ident, $len:literal, $tile:literal, $splat:ident, $load:ident, $store:ident,
        $load_first:ident, $store_first:ident, $mul:ident, $mul_add:ident, $sums:ident, $transpose:ident($block:literal), |$n:ident| $mask:expr
    ) => {
        pub(super) struct $Lanes;

        impl Lanes for $Lanes {
            type Scalar = $T;
            type Vector = $Vector;
            const LEN: usize = $len;
            const TILE: usize = $tile;
            const BLOCK: usize = $block;

            #[inline(always)]
            unsafe fn splat(x: $T) -> $Vector {
                // SAFETY: the machine has the instruction, as the caller guarantees.
                unsafe { $splat(x) }
            }
            #[inline(always)]
            unsafe fn load(from: *const $T) -> $Vector {
                // SAFETY: as above; the pointer is valid.
                unsafe { $load(from) }
            }
            #[inline(always)]
            unsafe fn load_first($n: usize, from: *const $T) -> $Vector {
                // SAFETY: as above; what is masked is not accessed.
                unsafe { $load_first($mask, from) }
            }
            #[inline(always)]
            unsafe fn store(to: *mut $T, x: $Vector) {
                // SAFETY: as above; the pointer is valid.
                unsafe { $store(to, x) }
            }
            #[inline(always)]
            unsafe fn store_first($n: usize, to: *mut $T, x: $Vector) {
                // SAFETY: as above; what is masked is not accessed.
                unsafe { $store_first(to, $mask, x) }
            }
            #[inline(always)]
            unsafe fn mul(x: $Vector, y: $Vector) -> $Vector {
                // SAFETY: as above.
                unsafe { $mul(x, y) }
            }
            #[inline(always)]
            unsafe fn mul_add(x: $Vector, y: $Vector, z: $Vector) -> $Vector {
                // SAFETY: as above.
                unsafe { $mul_add(x, y, z) }
            }
            #[inline(always)]
            unsafe fn sums(x: [$Vector; 4]) -> [$T; 4] {
                // SAFETY: as above.
                unsafe { $sums(x) }
            }
            #[inline(always)]
            unsafe fn transpose(from: *const $T, row_stride: isize, to: *mut $T, column_stride: isize) {
                // SAFETY: as above; all rows and columns of the block are valid.
                unsafe { $transpose(from, row_stride, to, column_stride) }
            }
            unsafe fn kernel<const R: usize, const N: usize, const PARTIAL: bool>(
                product: &Product<'_, $T>,
                a: Columns<$T>,
                i: usize,
                j: usize,
                last: usize,
            ) {
                #[target_feature(enable = $features)]
                unsafe fn compiled<const R: usize, const N: usize, const PARTIAL: bool>(
                    product: &Product<'_, $T>,
                    a: Columns<$T>,
                    i: usize,
                    j: usize,
                    last: usize,
                ) {
                    // SAFETY: as the caller guarantees.
                    unsafe { kernel::<$Lanes, R, N, PARTIAL>(product, a, i, j, last) }
                }
                // SAFETY: as the caller guarantees.
                unsafe { compiled::<R, N, PARTIAL>(product, a, i, j, last) }
            }
            unsafe fn dots(product: &Product<'_, $T>) {
                #[target_feature(enable = $features)]
                unsafe fn compiled(product: &Product<'_, $T>) {
                    // SAFETY: as the caller guarantees.
                    unsafe { dots::multiply::<$Lanes>(product) }
                }
                // SAFETY: as the caller guarantees.
                unsafe { compiled(product) }
            }
            unsafe fn pack(from: Operand<'_, $T>, to: Operand<'_, $T>) {
                #[target_feature(enable = $features)]
                unsafe fn compiled(from: Operand<'_, $T>, to: Operand<'_, $T>) {
                    // SAFETY: as the caller guarantees.
                    unsafe { pack::<$Lanes>(from, to) }
                }
                // SAFETY: as the caller guarantees.
                unsafe { compiled(from, to) }
            }
            unsafe fn copy(from: *const $T, to: *mut $T, len: usize) {
                #[target_feature(enable = $features)]
                unsafe fn compiled(from: *const $T, to: *mut $T, len: usize) {
                    // SAFETY: as the caller guarantees.
                    unsafe { copy::<$Lanes>(from, to, len) }
                }
                // SAFETY: as the caller guarantees.
                unsafe { compiled(from, to, len) }
            }
            unsafe fn clear(to: *mut $T, len: usize) {
                #[target_feature(enable = $features)]
                unsafe fn compiled(to: *mut $T, len: usize) {
                    // SAFETY: as the caller guarantees.
                    unsafe { clear::<$Lanes>(to, len) }
                }
                // SAFETY: as the caller guarantees.
                unsafe { compiled(to, len) }
            }
        }
    };
}

lanes!(
    Avx512F64("avx512f,avx2,fma"),
    f64,
    __m512d,
    8,
    16,
    _mm512_set1_pd,
    _mm512_loadu_pd,
    _mm512_storeu_pd,
    _mm512_maskz_loadu_pd,
    _mm512_mask_storeu_pd,
    _mm512_mul_pd,
    _mm512_fmadd_pd,
    sums_8_f64,
    transpose_8x8_f64(8),
    |n| ((1u32 << n) - 1) as __mmask8
);
lanes!(
    Avx512F32("avx512f,avx2,fma"),
    f32,
    __m512,
    16,
    16,
    _mm512_set1_ps,
    _mm512_loadu_ps,
    _mm512_storeu_ps,
    _mm512_maskz_loadu_ps,
    _mm512_mask_storeu_ps,
    _mm512_mul_ps,
    _mm512_fmadd_ps,
    sums_16_f32,
    transpose_f32(4),
    |n| ((1u32 << n) - 1) as __mmask16
);
lanes!(
    Avx2F64("avx2,fma"),
    f64,
    __m256d,
    4,
    8,
    _mm256_set1_pd,
    _mm256_loadu_pd,
    _mm256_storeu_pd,
    avx2_load_first_f64,
    _mm256_maskstore_pd,
    _mm256_mul_pd,
    _mm256_fmadd_pd,
    sums_4_f64,
    transpose_f64(4),
    |n| _mm256_loadu_si256(MASK_64[4 - n..].as_ptr().cast())
);
lanes!(
    Avx2F32("avx2,fma"),
    f32,
    __m256,
    8,
    8,
    _mm256_set1_ps,
    _mm256_loadu_ps,
    _mm256_storeu_ps,
    avx2_load_first_f32,
    _mm256_maskstore_ps,
    _mm256_mul_ps,
    _mm256_fmadd_ps,
    sums_8_f32,
    transpose_f32(4),
    |n| _mm256_loadu_si256(MASK_32[8 - n..].as_ptr().cast())
);

const MASK_64: [i64; 8] = [-1, -1, -1, -1, 0, 0, 0, 0];
const MASK_32: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];

// As the intrinsics, but in the order of AVX-512's.
#[inline(always)]
unsafe fn avx2_load_first_f64(mask: __m256i, from: *const f64) -> __m256d {
    // SAFETY: as the caller guarantees.
    unsafe { _mm256_maskload_pd(from, mask) }
}
#[inline(always)]
unsafe fn avx2_load_first_f32(mask: __m256i, from: *const f32) -> __m256 {
    // SAFETY: as the caller guarantees.
    unsafe { _mm256_maskload_ps(from, mask) }
}

#[inline(always)]
unsafe fn sums_4_f64([a, b, c, d]: [__m256d; 4]) -> [f64; 4] {
    // SAFETY: as the caller guarantees.
    unsafe {
        let (ab, cd) = (_mm256_hadd_pd(a, b), _mm256_hadd_pd(c, d));
        let (lower, upper) = (_mm256_permute2f128_pd::<0x20>(ab, cd), _mm256_permute2f128_pd::<0x31>(ab, cd));
        std::mem::transmute(_mm256_add_pd(lower, upper))
    }
}
#[inline(always)]
unsafe fn sums_8_f64([a, b, c, d]: [__m512d; 4]) -> [f64; 4] {
    // SAFETY: as the caller guarantees.
    unsafe {
        // Two by two, then quarters of registers.
        let ab = _mm512_add_pd(_mm512_unpacklo_pd(a, b), _mm512_unpackhi_pd(a, b));
        let cd = _mm512_add_pd(_mm512_unpacklo_pd(c, d), _mm512_unpackhi_pd(c, d));
        let sums = _mm512_add_pd(_mm512_shuffle_f64x2::<0x88>(ab, cd), _mm512_shuffle_f64x2::<0xdd>(ab, cd));
        let (ab, cd) = (_mm512_castpd512_pd256(sums), _mm512_extractf64x4_pd::<1>(sums));
        let (lower, upper) = (_mm256_permute2f128_pd::<0x20>(ab, cd), _mm256_permute2f128_pd::<0x31>(ab, cd));
        std::mem::transmute(_mm256_add_pd(lower, upper))
    }
}
#[inline(always)]
unsafe fn sums_8_f32([a, b, c, d]: [__m256; 4]) -> [f32; 4] {
    // SAFETY: as the caller guarantees.
    unsafe {
        let sums = _mm256_hadd_ps(_mm256_hadd_ps(a, b), _mm256_hadd_ps(c, d));
        std::mem::transmute(_mm_add_ps(_mm256_castps256_ps128(sums), _mm256_extractf128_ps::<1>(sums)))
    }
}
#[inline(always)]
unsafe fn sums_16_f32(x: [__m512; 4]) -> [f32; 4] {
    // SAFETY: as the caller guarantees.
    unsafe {
        let mut halves = [_mm256_setzero_ps(); 4];
        for (half, x) in halves.iter_mut().zip(x) {
            let upper = _mm256_castpd_ps(_mm512_extractf64x4_pd::<1>(_mm512_castps_pd(x)));
            *half = _mm256_add_ps(_mm512_castps512_ps256(x), upper);
        }
        sums_8_f32(halves)
    }
}
#[inline(always)]
unsafe fn transpose_f64(from: *const f64, row_stride: isize, to: *mut f64, column_stride: isize) {
    // SAFETY: as the caller guarantees.
    unsafe {
        let [a, b, c, d] = [0, 1, 2, 3].map(|row| _mm256_loadu_pd(from.offset(row * row_stride)));
        // Two by two, then halves of registers.
        let (ab0, ab1) = (_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b));
        let (cd0, cd1) = (_mm256_unpacklo_pd(c, d), _mm256_unpackhi_pd(c, d));
        let store = |column: isize, x| _mm256_storeu_pd(to.offset(column * column_stride), x);
        store(0, _mm256_permute2f128_pd::<0x20>(ab0, cd0));
        store(1, _mm256_permute2f128_pd::<0x20>(ab1, cd1));
        store(2, _mm256_permute2f128_pd::<0x31>(ab0, cd0));
        store(3, _mm256_permute2f128_pd::<0x31>(ab1, cd1));
    }
}
#[inline(always)]
unsafe fn transpose_8x8_f64(from: *const f64, row_stride: isize, to: *mut f64, column_stride: isize) {
    // SAFETY: as the caller guarantees.
    unsafe {
        for half in [0, 4] {
            // As above, for four rows in the lower half of each register and the other four in the upper one.
            let [a, b, c, d] = [0, 1, 2, 3].map(|row| {
                let at = |row| _mm256_loadu_pd(from.offset(row * row_stride + half));
                _mm512_insertf64x4::<1>(_mm512_castpd256_pd512(at(row)), at(row + 4))
            });
            let (ab0, ab1) = (_mm512_unpacklo_pd(a, b), _mm512_unpackhi_pd(a, b));
            let (cd0, cd1) = (_mm512_unpacklo_pd(c, d), _mm512_unpackhi_pd(c, d));
            let (even, odd) =
                (_mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13), _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15));
            let store = |column: isize, x| _mm512_storeu_pd(to.offset((half + column) * column_stride), x);
            store(0, _mm512_permutex2var_pd(ab0, even, cd0));
            store(1, _mm512_permutex2var_pd(ab1, even, cd1));
            store(2, _mm512_permutex2var_pd(ab0, odd, cd0));
            store(3, _mm512_permutex2var_pd(ab1, odd, cd1));
        }
    }
}
#[inline(always)]
unsafe fn transpose_f32(from: *const f32, row_stride: isize, to: *mut f32, column_stride: isize) {
    // SAFETY: as the caller guarantees.
    unsafe {
        let [a, b, c, d] = [0, 1, 2, 3].map(|row| _mm_loadu_ps(from.offset(row * row_stride)));
        let (ab0, ab1) = (_mm_unpacklo_ps(a, b), _mm_unpackhi_ps(a, b));
        let (cd0, cd1) = (_mm_unpacklo_ps(c, d), _mm_unpackhi_ps(c, d));
        let store = |column: isize, x| _mm_storeu_ps(to.offset(column * column_stride), x);
        store(0, _mm_movelh_ps(ab0, cd0));
        store(1, _mm_movehl_ps(cd0, ab0));
        store(2, _mm_movelh_ps(ab1, cd1));
        store(3, _mm_movehl_ps(cd1, ab1));
    }
}

impl Square<4> for Avx2F64 {
    #[inline(always)]
    unsafe fn transposed(from: *const f64, row_stride: isize) -> [__m256d; 4] {
        // SAFETY: as the caller guarantees.
        unsafe {
            let a = _mm256_loadu_pd(from);
            let b = _mm256_loadu_pd(from.offset(row_stride));
            let c = _mm256_loadu_pd(from.offset(2 * row_stride));
            let d = _mm256_loadu_pd(from.offset(3 * row_stride));
            // Two by two, then halves of registers.
            let (ab0, ab1) = (_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b));
            let (cd0, cd1) = (_mm256_unpacklo_pd(c, d), _mm256_unpackhi_pd(c, d));
            [
                _mm256_permute2f128_pd::<0x20>(ab0, cd0),
                _mm256_permute2f128_pd::<0x20>(ab1, cd1),
                _mm256_permute2f128_pd::<0x31>(ab0, cd0),
                _mm256_permute2f128_pd::<0x31>(ab1, cd1),
            ]
        }
    }
}

impl Square<8> for Avx2F32 {
    #[inline(always)]
    unsafe fn transposed(from: *const f32, row_stride: isize) -> [__m256; 8] {
        // SAFETY: as the caller guarantees.
        unsafe {
            let [a, b, c, d] = columns_f32(from, row_stride);
            let [e, f, g, h] = columns_f32(from.add(4), row_stride);
            [a, b, c, d, e, f, g, h]
        }
    }
}

/// Four columns of eight elements.
#[inline(always)]
unsafe fn columns_f32(from: *const f32, row_stride: isize) -> [__m256; 4] {
    // SAFETY: as the caller guarantees.
    unsafe {
        // A row in the lower half, and the next but three in the upper half.
        let mut rows = [_mm256_setzero_ps(); 4];
        for (row, register) in rows.iter_mut().enumerate() {
            let at = from.offset(row as isize * row_stride);
            let lower = _mm256_castps128_ps256(_mm_loadu_ps(at));
            *register = _mm256_insertf128_ps::<1>(lower, _mm_loadu_ps(at.offset(4 * row_stride)));
        }
        let [a, b, c, d] = rows;
        // Two by two, then four by four.
        let (ab0, ab1) = (_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
        let (cd0, cd1) = (_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d));
        [
            _mm256_shuffle_ps::<0x44>(ab0, cd0),
            _mm256_shuffle_ps::<0xee>(ab0, cd0),
            _mm256_shuffle_ps::<0x44>(ab1, cd1),
            _mm256_shuffle_ps::<0xee>(ab1, cd1),
        ]
    }
}

impl Square<8> for Avx512F64 {
    #[inline(always)]
    unsafe fn transposed(from: *const f64, row_stride: isize) -> [__m512d; 8] {
        // SAFETY: as the caller guarantees.
        unsafe {
            let [a, b, c, d] = columns_f64(from, row_stride);
            let [e, f, g, h] = columns_f64(from.add(4), row_stride);
            [a, b, c, d, e, f, g, h]
        }
    }
}

/// Four columns of eight elements.
#[inline(always)]
unsafe fn columns_f64(from: *const f64, row_stride: isize) -> [__m512d; 4] {
    // SAFETY: as the caller guarantees.
    unsafe {
        // A row in the lower half, and the next but one in the upper half.
        let mut rows = [_mm512_setzero_pd(); 4];
        for (register, row) in [0, 1, 4, 5].iter().enumerate() {
            let at = from.offset(row * row_stride);
            let lower = _mm512_castpd256_pd512(_mm256_loadu_pd(at));
            rows[register] = _mm512_insertf64x4::<1>(lower, _mm256_loadu_pd(at.offset(2 * row_stride)));
        }
        let [a, b, c, d] = rows;
        // Two by two, then quarters of registers.
        let (ab0, ab1) = (_mm512_unpacklo_pd(a, b), _mm512_unpackhi_pd(a, b));
        let (cd0, cd1) = (_mm512_unpacklo_pd(c, d), _mm512_unpackhi_pd(c, d));
        [
            _mm512_shuffle_f64x2::<0x88>(ab0, cd0),
            _mm512_shuffle_f64x2::<0x88>(ab1, cd1),
            _mm512_shuffle_f64x2::<0xdd>(ab0, cd0),
            _mm512_shuffle_f64x2::<0xdd>(ab1, cd1),
        ]
    }
}
