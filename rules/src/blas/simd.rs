//! Kernels for small products: the whole of a tile of *C* stays in registers.
//!
//! A tile is some vectors of rows by some columns. For each column of *A* it takes that many loads, and for each element
//! of the same row of *B* one broadcast, which is an operand of the multiplication.

use std::arch::asm;
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use super::backend::sealed::Sealed as _;
use super::backend::{MatrixScalar, Product};
use super::operand::Operand;

/// The elements of *A* for which there is room on the stack, if it has to be rearranged.
pub(super) const PACKED: usize = 1024;

/// Vectors of it begin where cache lines do.
#[repr(C, align(64))]
struct Packed<T>([T; PACKED]);

/// A matrix with adjacent rows: where it begins and how far its columns are apart.
type Columns<T> = (*mut T, isize);

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
    /// [`pack`], compiled for these instructions.
    unsafe fn pack(from: Operand<'_, Self::Scalar>, to: Operand<'_, Self::Scalar>);
}

macro_rules! lanes {
    (
        $Lanes:ident($features:literal), $T:ident, $Vector:ident, $len:literal, $tile:literal, $splat:ident, $load:ident, $store:ident,
        $load_first:ident, $store_first:ident, $mul:ident, $mul_add:ident, $transpose:ident($block:literal), |$n:ident| $mask:expr
    ) => {
        struct $Lanes;

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
            unsafe fn pack(from: Operand<'_, $T>, to: Operand<'_, $T>) {
                #[target_feature(enable = $features)]
                unsafe fn compiled(from: Operand<'_, $T>, to: Operand<'_, $T>) {
                    // SAFETY: as the caller guarantees.
                    unsafe { pack::<$Lanes>(from, to) }
                }
                // SAFETY: as the caller guarantees.
                unsafe { compiled(from, to) }
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
            // SAFETY: as the caller guarantees; the instructions are there.
            unsafe {
                if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("fma") {
                    run::<$Avx512>(product);
                } else if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                    run::<$Avx2>(product);
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
#[inline]
unsafe fn run<L: Lanes>(product: &Product<'_, L::Scalar>) {
    // SAFETY: as the caller guarantees.
    unsafe {
        if product.a.row_stride == 1 {
            tiles::<L>(product, (product.a.pointer, product.a.column_stride));
        } else {
            packed::<L>(product);
        }
    }
}

/// # Safety
/// As for [`run`].
#[inline(never)]
unsafe fn packed<L: Lanes>(product: &Product<'_, L::Scalar>) {
    let (m, _, k) = product.size();
    let mut packed = MaybeUninit::<Packed<L::Scalar>>::uninit();
    let packed = Operand::packed(packed.as_mut_ptr().cast(), m, k);
    // SAFETY: as the caller guarantees; the packed matrix is another one of the same contents.
    unsafe {
        L::pack(product.a, packed);
        tiles::<L>(product, (packed.pointer, packed.column_stride));
    }
}

/// # Safety
/// As for [`run`], and `a` is A.
#[inline]
unsafe fn tiles<L: Lanes>(product: &Product<'_, L::Scalar>, a: Columns<L::Scalar>) {
    let (m, n, _) = product.size();
    let mut i = 0;
    // SAFETY: the tiles cover C once and nothing else.
    unsafe {
        while i < m {
            let rows = m - i;
            let mut j = 0;
            if rows <= L::LEN {
                while n - j >= 16 && L::TILE >= 16 {
                    tile::<L, 1, 16>(product, a, i, j, rows);
                    j += 16;
                }
                while n - j >= 8 {
                    tile::<L, 1, 8>(product, a, i, j, rows);
                    j += 8;
                }
                if n - j >= 4 {
                    tile::<L, 1, 4>(product, a, i, j, rows);
                    j += 4;
                }
                while n > j {
                    tile::<L, 1, 1>(product, a, i, j, rows);
                    j += 1;
                }
            } else {
                while n - j >= 8 && L::TILE >= 16 {
                    tile::<L, 2, 8>(product, a, i, j, rows);
                    j += 8;
                }
                while n - j >= 4 {
                    tile::<L, 2, 4>(product, a, i, j, rows);
                    j += 4;
                }
                while n > j {
                    tile::<L, 2, 1>(product, a, i, j, rows);
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
#[inline]
unsafe fn tile<L: Lanes, const R: usize, const N: usize>(
    product: &Product<'_, L::Scalar>,
    a: Columns<L::Scalar>,
    i: usize,
    j: usize,
    rows: usize,
) {
    // SAFETY: as the caller guarantees.
    unsafe {
        if rows >= R * L::LEN {
            L::kernel::<R, N, false>(product, a, i, j, L::LEN);
        } else {
            L::kernel::<R, N, true>(product, a, i, j, rows - (R - 1) * L::LEN);
        }
    }
}

/// The same pointer, of which the compiler does not know that it is. Otherwise it finds out that the pointers in a loop are
/// multiples of each other, and computes all of them from one, for which it has not enough registers.
#[inline(always)]
#[allow(clippy::pointers_in_nomem_asm_block, reason = "nobody reads through it")]
fn opaque<T>(mut pointer: *const T) -> *const T {
    // SAFETY: no instruction.
    unsafe { asm!("/* {0} */", inout(reg) pointer, options(pure, nomem, nostack, preserves_flags)) }
    pointer
}

/// # Safety
/// As for [`tile`]; of the last vector of rows `last` are left, fewer than there are lanes only if `PARTIAL`.
#[inline(always)]
unsafe fn kernel<L: Lanes, const R: usize, const N: usize, const PARTIAL: bool>(
    product: &Product<'_, L::Scalar>,
    a: Columns<L::Scalar>,
    i: usize,
    j: usize,
    last: usize,
) {
    let Product { alpha, b, beta, c, keep, .. } = *product;
    // SAFETY: all elements are within the tile, and hence within the matrices.
    unsafe {
        let load = |from: *const L::Scalar, r: usize| {
            let from = from.add(r * L::LEN);
            if PARTIAL && r + 1 == R { L::load_first(last, from) } else { L::load(from) }
        };
        let store = |to: *mut L::Scalar, r: usize, x: L::Vector| {
            let to = to.add(r * L::LEN);
            if PARTIAL && r + 1 == R { L::store_first(last, to, x) } else { L::store(to, x) }
        };
        let mut sums = [[L::splat(L::Scalar::ZERO); R]; N];
        // Does what it says for each vector of the tile, with where its column begins.
        macro_rules! for_each {
            ($matrix:expr, |$column:ident, $r:ident, $sum:ident| $work:expr) => {
                let mut $column = $matrix.at(i, j);
                for sums in &mut sums {
                    for ($r, $sum) in sums.iter_mut().enumerate() {
                        $work;
                    }
                    $column = $column.wrapping_offset($matrix.column_stride);
                }
            };
        }
        if let Some(keep) = keep {
            // The multiplications do not wait for this.
            let keep = Operand::packed(keep.as_ptr(), c.rows, c.columns);
            for column in 0..N {
                let (from, to) = (c.at(i, j + column), keep.at(i, j + column));
                (0..R).for_each(|r| store(to, r, load(from, r)));
            }
        }
        let (alphas, betas) = (L::splat(alpha), L::splat(beta));
        let plain = alpha == L::Scalar::ONE;
        if plain && beta == L::Scalar::ONE {
            for_each!(c, |column, r, sum| *sum = load(column, r));
        }
        let mut left = a.0.wrapping_add(i).cast_const();
        // Columns in groups of four, for that is what x86 can address with few registers.
        let step = b.column_stride;
        let mut groups: [*const L::Scalar; 4] = std::array::from_fn(|group| {
            b.pointer.wrapping_offset((j + 4 * group) as isize * step).cast_const()
        });
        for _ in 0..product.a.columns {
            let x: [L::Vector; R] = std::array::from_fn(|r| load(left, r));
            for (sums, group) in sums.chunks_mut(4).zip(&mut groups) {
                for (sums, offset) in sums.iter_mut().zip([0, step, 2 * step, 3 * step]) {
                    let y = L::splat(*group.wrapping_offset(offset));
                    for (sum, &x) in sums.iter_mut().zip(&x) {
                        *sum = L::mul_add(x, y, *sum);
                    }
                }
                *group = opaque(group.wrapping_offset(b.row_stride));
            }
            left = left.wrapping_offset(a.1);
        }
        // For each way to use the old C a loop of its own.
        if plain && (beta == L::Scalar::ZERO || beta == L::Scalar::ONE) {
            for_each!(c, |column, r, sum| store(column, r, *sum));
        } else if beta == L::Scalar::ZERO {
            for_each!(c, |column, r, sum| store(column, r, L::mul(alphas, *sum)));
        } else {
            for_each!(c, |column, r, sum| {
                store(column, r, L::mul_add(alphas, *sum, L::mul(betas, load(column, r))))
            });
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
    let whole = |len: usize| if from.column_stride == 1 { len - len % L::BLOCK } else { 0 };
    let (whole_rows, whole_columns) = (whole(rows), whole(columns));
    // SAFETY: all indices are within the shape.
    unsafe {
        for i in (0..whole_rows).step_by(L::BLOCK) {
            for j in (0..whole_columns).step_by(L::BLOCK) {
                L::transpose(from.at(i, j), from.row_stride, to.at(i, j), to.column_stride);
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
                    let mut kept = vec![L::Scalar::ZERO; m * n];
                    let product = Product {
                        alpha: L::Scalar::from(2),
                        a: Operand::read(a),
                        b: Operand::read(&b),
                        beta,
                        c: Operand::write(&mut c),
                        keep: std::ptr::NonNull::new(kept.as_mut_ptr()),
                    };
                    assert!(takes(&product));
                    // SAFETY: C is unique; the caller has asked whether there are the instructions.
                    unsafe {
                        if planned {
                            SmallPlan::default().execute(&product);
                        } else {
                            run::<L>(&product);
                        }
                    }
                    assert_eq!(c, expected, "{m}×{n}×{k}");
                    assert_eq!(kept, old.t().as_slice().expect("by columns"), "{m}×{n}×{k}");
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
