//! Kernels for small products: the whole of a tile of *C* stays in registers.
//!
//! A tile is some vectors of rows by some columns. For each column of *A* it takes that many loads, and for each element
//! of the same row of *B* one broadcast, which is an operand of the multiplication.

use std::arch::x86_64::*;
use std::hint::black_box;
use std::mem::MaybeUninit;

use super::backend::sealed::Sealed as _;
use super::backend::{MatrixScalar, Product};
use super::operand::Operand;

/// The elements of *A* for which there is room on the stack, if it has to be rearranged.
pub(super) const PACKED: usize = 1024;

/// A vector register.
///
/// All methods are unsafe because the machine must have the instructions. Pointers are valid for as many elements as there
/// are lanes, or for `len` of them.
trait Lanes {
    type Scalar: MatrixScalar;
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
    /// Copies four elements from each of four rows to as many columns.
    unsafe fn transpose(from: [*const Self::Scalar; 4], to: [*mut Self::Scalar; 4]);
}

macro_rules! lanes {
    (
        $Lanes:ident, $T:ident, $Vector:ident, $len:literal, $tile:literal, $splat:ident, $load:ident, $store:ident,
        $load_first:ident, $store_first:ident, $mul:ident, $mul_add:ident, $transpose:ident, |$n:ident| $mask:expr
    ) => {
        struct $Lanes;

        impl Lanes for $Lanes {
            type Scalar = $T;
            type Vector = $Vector;
            const LEN: usize = $len;
            const TILE: usize = $tile;

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
            unsafe fn transpose(from: [*const $T; 4], to: [*mut $T; 4]) {
                // SAFETY: as above; the pointers are valid for four elements.
                unsafe { $transpose(from, to) }
            }
        }
    };
}

lanes!(
    Avx512F64,
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
    transpose_f64,
    |n| ((1u32 << n) - 1) as __mmask8
);
lanes!(
    Avx512F32,
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
    transpose_f32,
    |n| ((1u32 << n) - 1) as __mmask16
);
lanes!(
    Avx2F64,
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
    transpose_f64,
    |n| _mm256_loadu_si256(MASK_64[4 - n..].as_ptr().cast())
);
lanes!(
    Avx2F32,
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
    transpose_f32,
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
unsafe fn transpose_f64(from: [*const f64; 4], to: [*mut f64; 4]) {
    // SAFETY: as the caller guarantees.
    unsafe {
        let [a, b, c, d] = from.map(|row| _mm256_loadu_pd(row));
        // Two by two, then halves of registers.
        let (ab0, ab1) = (_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b));
        let (cd0, cd1) = (_mm256_unpacklo_pd(c, d), _mm256_unpackhi_pd(c, d));
        _mm256_storeu_pd(to[0], _mm256_permute2f128_pd::<0x20>(ab0, cd0));
        _mm256_storeu_pd(to[1], _mm256_permute2f128_pd::<0x20>(ab1, cd1));
        _mm256_storeu_pd(to[2], _mm256_permute2f128_pd::<0x31>(ab0, cd0));
        _mm256_storeu_pd(to[3], _mm256_permute2f128_pd::<0x31>(ab1, cd1));
    }
}
#[inline(always)]
unsafe fn transpose_f32(from: [*const f32; 4], to: [*mut f32; 4]) {
    // SAFETY: as the caller guarantees.
    unsafe {
        let [a, b, c, d] = from.map(|row| _mm_loadu_ps(row));
        let (ab0, ab1) = (_mm_unpacklo_ps(a, b), _mm_unpackhi_ps(a, b));
        let (cd0, cd1) = (_mm_unpacklo_ps(c, d), _mm_unpackhi_ps(c, d));
        _mm_storeu_ps(to[0], _mm_movelh_ps(ab0, cd0));
        _mm_storeu_ps(to[1], _mm_movehl_ps(cd0, ab0));
        _mm_storeu_ps(to[2], _mm_movelh_ps(ab1, cd1));
        _mm_storeu_ps(to[3], _mm_movehl_ps(cd1, ab1));
    }
}

/// Whether the kernels here can compute a canonical product, given the instructions.
#[inline]
pub(super) fn takes<T: MatrixScalar>(product: &Product<'_, T>) -> bool {
    let (m, _, k) = product.size();
    product.c.row_stride == 1 && (product.a.row_stride == 1 || m * k <= PACKED)
}

macro_rules! entry {
    ($name:ident, $T:ident, $Avx512:ident, $Avx2:ident) => {
        /// Computes `product` if the machine has the instructions for it, and says whether.
        ///
        /// # Safety
        /// [`takes`] said yes, and as for `MatMul::run`.
        #[inline]
        pub(super) unsafe fn $name(product: &Product<'_, $T>) -> bool {
            #[target_feature(enable = "avx512f,avx2,fma")]
            unsafe fn avx512(product: &Product<'_, $T>) {
                // SAFETY: as the caller guarantees.
                unsafe { run::<$Avx512>(product) }
            }
            #[target_feature(enable = "avx2,fma")]
            unsafe fn avx2(product: &Product<'_, $T>) {
                // SAFETY: as the caller guarantees.
                unsafe { run::<$Avx2>(product) }
            }
            // SAFETY: as the caller guarantees; the instructions are there.
            unsafe {
                if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("fma") {
                    avx512(product);
                } else if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                    avx2(product);
                } else {
                    return false;
                }
            }
            true
        }
    };
}
entry!(small_f32, f32, Avx512F32, Avx2F32);
entry!(small_f64, f64, Avx512F64, Avx2F64);

/// # Safety
/// As for the entries; the machine has the instructions.
#[inline(always)]
unsafe fn run<L: Lanes>(product: &Product<'_, L::Scalar>) {
    let (m, _, k) = product.size();
    // SAFETY: as the caller guarantees; the packed matrix is another one of the same contents.
    unsafe {
        if product.a.row_stride == 1 {
            tiles::<L>(product);
        } else {
            let mut packed = MaybeUninit::<[L::Scalar; PACKED]>::uninit();
            let packed = Operand::packed(packed.as_mut_ptr().cast(), m, k);
            pack::<L>(product.a, packed);
            tiles::<L>(&Product { a: packed, ..*product });
        }
    }
}

/// # Safety
/// As for [`run`], and the rows of A are adjacent.
#[inline(always)]
unsafe fn tiles<L: Lanes>(product: &Product<'_, L::Scalar>) {
    let (m, n, _) = product.size();
    let mut i = 0;
    // SAFETY: the tiles cover C once and nothing else.
    unsafe {
        while i < m {
            let rows = m - i;
            let mut j = 0;
            if rows <= L::LEN {
                while n - j >= 16 && L::TILE >= 16 {
                    tile::<L, 1, 16>(product, i, j, rows);
                    j += 16;
                }
                while n - j >= 8 {
                    tile::<L, 1, 8>(product, i, j, rows);
                    j += 8;
                }
                if n - j >= 4 {
                    tile::<L, 1, 4>(product, i, j, rows);
                    j += 4;
                }
                while n > j {
                    tile::<L, 1, 1>(product, i, j, rows);
                    j += 1;
                }
            } else {
                while n - j >= 8 && L::TILE >= 16 {
                    tile::<L, 2, 8>(product, i, j, rows);
                    j += 8;
                }
                while n - j >= 4 {
                    tile::<L, 2, 4>(product, i, j, rows);
                    j += 4;
                }
                while n > j {
                    tile::<L, 2, 1>(product, i, j, rows);
                    j += 1;
                }
            }
            i += 2 * L::LEN;
        }
    }
}

/// Rows from i on, at most R vectors of them, and N columns from j on.
///
/// # Safety
/// As for [`tiles`]; more than R - 1 vectors of rows are left, and N columns.
#[inline(always)]
unsafe fn tile<L: Lanes, const R: usize, const N: usize>(
    product: &Product<'_, L::Scalar>,
    i: usize,
    j: usize,
    rows: usize,
) {
    // SAFETY: as the caller guarantees.
    unsafe {
        if rows >= R * L::LEN {
            kernel::<L, R, N, false>(product, i, j, L::LEN);
        } else {
            kernel::<L, R, N, true>(product, i, j, rows - (R - 1) * L::LEN);
        }
    }
}

/// # Safety
/// As for [`tile`]; of the last vector of rows `last` are left, fewer than there are lanes only if `PARTIAL`.
#[inline(always)]
unsafe fn kernel<L: Lanes, const R: usize, const N: usize, const PARTIAL: bool>(
    product: &Product<'_, L::Scalar>,
    i: usize,
    j: usize,
    last: usize,
) {
    let Product { alpha, a, b, beta, c } = *product;
    // SAFETY: all elements are within the tile, and hence within the matrices.
    unsafe {
        let load = |from: *const L::Scalar, r: usize| {
            let from = from.add(r * L::LEN);
            if PARTIAL && r + 1 == R { L::load_first(last, from) } else { L::load(from) }
        };
        let mut sums = [[L::splat(L::Scalar::ZERO); R]; N];
        let mut left: *const L::Scalar = a.at(i, 0);
        let mut right: *const L::Scalar = b.at(0, j);
        // Columns in groups of four, for that is what x86 can address with few registers. The compiler must not find out that
        // one is a multiple of the other, or it makes a chain of additions out of them.
        let (step, three) = (b.column_stride, black_box(3 * b.column_stride));
        let four = black_box(4 * b.column_stride);
        for _ in 0..product.a.columns {
            let x: [L::Vector; R] = std::array::from_fn(|r| load(left, r));
            let mut group = right;
            for sums in sums.chunks_mut(4) {
                for (sums, offset) in sums.iter_mut().zip([0, step, 2 * step, three]) {
                    let y = L::splat(*group.wrapping_offset(offset));
                    for (sum, &x) in sums.iter_mut().zip(&x) {
                        *sum = L::mul_add(x, y, *sum);
                    }
                }
                group = group.wrapping_offset(four);
            }
            left = left.wrapping_offset(a.column_stride);
            right = right.wrapping_offset(b.row_stride);
        }
        let (alphas, betas) = (L::splat(alpha), L::splat(beta));
        // For each way to use the old C a loop of its own.
        macro_rules! write {
            (|$sum:ident, $column:ident, $r:ident| $result:expr) => {
                let mut $column = c.at(i, j);
                for sums in &sums {
                    for ($r, &$sum) in sums.iter().enumerate() {
                        let (to, result) = ($column.add($r * L::LEN), $result);
                        if PARTIAL && $r + 1 == R {
                            L::store_first(last, to, result)
                        } else {
                            L::store(to, result)
                        }
                    }
                    $column = $column.wrapping_offset(c.column_stride);
                }
            };
        }
        if beta == L::Scalar::ZERO {
            write!(|sum, column, r| L::mul(alphas, sum));
        } else if beta == L::Scalar::ONE {
            write!(|sum, column, r| L::mul_add(alphas, sum, load(column, r)));
        } else {
            write!(|sum, column, r| L::mul_add(alphas, sum, L::mul(betas, load(column, r))));
        }
    }
}

/// Copies `from` to `to`, which is packed: in square blocks where elements of a row are adjacent.
///
/// # Safety
/// Both are valid and have the same shape; the machine has the instructions.
#[inline(always)]
unsafe fn pack<L: Lanes>(from: Operand<'_, L::Scalar>, to: Operand<'_, L::Scalar>) {
    let (rows, columns) = (from.rows, from.columns);
    let whole = |len: usize| if from.column_stride == 1 { len - len % 4 } else { 0 };
    let (whole_rows, whole_columns) = (whole(rows), whole(columns));
    // SAFETY: all indices are within the shape.
    unsafe {
        for i in (0..whole_rows).step_by(4) {
            for j in (0..whole_columns).step_by(4) {
                L::transpose(
                    [0, 1, 2, 3].map(|r| from.at(i + r, j).cast_const()),
                    [0, 1, 2, 3].map(|c| to.at(i, j + c)),
                );
            }
        }
        for j in 0..columns {
            let done = if j < whole_columns { whole_rows } else { 0 };
            for i in done..rows {
                *to.at(i, j) = *from.at(i, j);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blas::backend::SmallPlan;
    use ndarray::{Array2, ShapeBuilder};

    #[target_feature(enable = "avx2,fma")]
    unsafe fn avx2<L: Lanes>(product: &Product<'_, L::Scalar>) {
        // SAFETY: as the caller guarantees.
        unsafe { run::<L>(product) }
    }

    /// The instructions that the machine would not choose, and the plans for where there are none.
    fn check<L: Lanes<Scalar: From<u8> + std::fmt::Debug>>() {
        for (m, n, k) in (1..40).map(|i| (i, (7 * i) % 23 + 1, (5 * i) % 19 + 1)) {
            let element = |(i, j): (usize, usize)| L::Scalar::from((3 * i + 5 * j) as u8 % 8);
            let a = [
                Array2::from_shape_fn((m, k), element),
                Array2::from_shape_fn((k, m), |(j, i)| element((i, j))).reversed_axes(),
            ];
            let b = Array2::from_shape_fn((k, n), element);
            for (a, beta) in a.iter().flat_map(|a| [0u8, 1, 2].map(|beta| (a, L::Scalar::from(beta)))) {
                let old = Array2::from_shape_fn((m, n).f(), element);
                let expected = Array2::from_shape_fn((m, n), |(i, j)| {
                    let sum = (0..k).fold(L::Scalar::ZERO, |sum, l| sum + a[[i, l]] * b[[l, j]]);
                    L::Scalar::from(2) * sum + beta * old[[i, j]]
                });
                for planned in [false, true] {
                    let mut c = old.clone();
                    let product = Product {
                        alpha: L::Scalar::from(2),
                        a: Operand::read(a),
                        b: Operand::read(&b),
                        beta,
                        c: Operand::write(&mut c),
                    };
                    assert!(takes(&product));
                    // SAFETY: C is unique; the caller has asked for the instructions.
                    unsafe {
                        if planned {
                            SmallPlan::default().execute(&product);
                        } else {
                            avx2::<L>(&product);
                        }
                    }
                    assert_eq!(c, expected, "{m}×{n}×{k}");
                }
            }
        }
    }

    #[test]
    fn avx2_and_plans() {
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            check::<Avx2F32>();
            check::<Avx2F64>();
        }
    }
}
