//! Kernels for small products: the whole of a tile of *C* stays in registers.
//!
//! A tile is some vectors of rows by some columns. For each column of *A* it takes that many loads, and for each element
//! of the same row of *B* one broadcast, which is an operand of the multiplication.

pub(super) mod dots;
mod gradient;
mod lanes;

use std::arch::asm;
use std::mem::MaybeUninit;

use super::backend::sealed::Sealed as _;
use super::backend::{MatrixScalar, Product};
use super::operand::Operand;
use super::planned::{Gradients, Kernels, Size};
use lanes::{Avx2F32, Avx2F64, Avx512F32, Avx512F64, Lanes};

/// The elements of *A* for which there is room on the stack, if it has to be rearranged.
pub(super) const PACKED: usize = 1024;

/// Vectors of it begin where cache lines do.
#[repr(C, align(64))]
struct Packed<T>([T; PACKED]);

/// A matrix with adjacent rows: where it begins and how far its columns are apart.
pub(super) type Columns<T> = (*mut T, isize);

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
                if has_avx512() {
                    run::<$Avx512>(product);
                } else if has_avx2() {
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

/// The kernels for canonical products of the sizes and strides of `product`, with adjacent rows in A and C, if the machine
/// has the instructions.
pub(super) fn kernels_f32(product: &Product<'_, f32>) -> Option<Kernels<f32>> {
    if has_avx512() {
        // With more columns than eight, wider registers win although B has to be rearranged for them.
        let narrow = product.c.rows <= 8;
        Some(kernels::<Avx512F32>(product, narrow.then_some(gradient::avx2_f32)))
    } else if has_avx2() {
        Some(kernels::<Avx2F32>(product, Some(gradient::avx2_f32)))
    } else {
        None
    }
}

/// As for the other type.
pub(super) fn kernels_f64(product: &Product<'_, f64>) -> Option<Kernels<f64>> {
    if has_avx512() {
        Some(kernels::<Avx512F64>(product, Some(gradient::avx512_f64)))
    } else if has_avx2() {
        Some(kernels::<Avx2F64>(product, Some(gradient::avx2_f64)))
    } else {
        None
    }
}

/// Chooses kernels for a size.
type GradientsOf<T> = fn(Size) -> Gradients<T>;

fn kernels<L: Lanes>(
    product: &Product<'_, L::Scalar>,
    gradients: Option<GradientsOf<L::Scalar>>,
) -> Kernels<L::Scalar> {
    // What is canonical is Cᵀ ← Bᵀ·Aᵀ.
    let (n, m, k) = product.size();
    let size = Size { m, n, k };
    Kernels {
        product: chosen::<L>(product),
        gradients: gradients.map(|gradients| {
            let chosen = gradients(size);
            Gradients { of_a: dots::gradient_of_a::<L>(size).unwrap_or(chosen.of_a), ..chosen }
        }),
        copy: L::copy,
        clear: L::clear,
    }
}

#[inline]
fn has_avx512() -> bool {
    is_x86_feature_detected!("avx512f") && has_avx2()
}

#[inline]
fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
}

/// A single tile needs no loops.
fn chosen<L: Lanes>(product: &Product<'_, L::Scalar>) -> unsafe fn(&Product<'_, L::Scalar>) {
    let (m, n, _) = product.size();
    let large = L::TILE >= 16;
    match n {
        16 if large && m == L::LEN => only_tile::<L, 1, 16>,
        8 if large && m == 2 * L::LEN => only_tile::<L, 2, 8>,
        8 if m == L::LEN => only_tile::<L, 1, 8>,
        4 if m == 2 * L::LEN => only_tile::<L, 2, 4>,
        4 if m == L::LEN => only_tile::<L, 1, 4>,
        _ => all_tiles::<L>,
    }
}

/// # Safety
/// As for [`run`]; rows of A are adjacent, and C has R vectors of rows and N columns.
unsafe fn only_tile<L: Lanes, const R: usize, const N: usize>(product: &Product<'_, L::Scalar>) {
    // SAFETY: as the caller guarantees.
    unsafe { L::kernel::<R, N, false>(product, (product.a.pointer, product.a.column_stride), 0, 0, L::LEN) }
}

/// # Safety
/// As for [`run`]; rows of A are adjacent.
unsafe fn all_tiles<L: Lanes>(product: &Product<'_, L::Scalar>) {
    // SAFETY: as the caller guarantees.
    unsafe { tiles::<L>(product, (product.a.pointer, product.a.column_stride)) }
}

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
        let mut steps = product.a.columns;
        macro_rules! step {
            () => {
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
            };
        }
        if let Some(keep) = keep {
            // One column at a time, such that the multiplications do not wait for this.
            let keep = Operand::packed(keep.as_ptr(), c.rows, c.columns);
            let (mut from, mut to) = (c.at(i, j).cast_const(), keep.at(i, j));
            for _ in 0..N {
                (0..R).for_each(|r| store(to, r, load(from, r)));
                from = from.wrapping_offset(c.column_stride);
                to = to.wrapping_offset(keep.column_stride);
                if steps > 0 {
                    steps -= 1;
                    step!();
                }
            }
        }
        for _ in 0..steps {
            step!();
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

/// Where vectors begin that cover `len` adjacent elements, at least one vector of them: the first and the last wherever
/// they have to, all others where cache lines do, because a store that crosses lines takes twice as long. Some elements are
/// covered twice.
#[inline(always)]
fn covered<T>(to: *const T, len: usize, lanes: usize, mut visit: impl FnMut(usize)) {
    const LINE: usize = 64;
    visit(0);
    let mut start = to.align_offset(LINE);
    if start == 0 || start > lanes {
        start = lanes;
    }
    while start + 4 * lanes <= len {
        for i in 0..4 {
            visit(start + i * lanes);
        }
        start += 4 * lanes;
    }
    while start + lanes <= len {
        visit(start);
        start += lanes;
    }
    if start < len {
        visit(len - lanes);
    }
}

/// Copies adjacent elements.
///
/// # Safety
/// As many are valid and do not overlap; the machine has the instructions.
#[inline(always)]
unsafe fn copy<L: Lanes>(from: *const L::Scalar, to: *mut L::Scalar, len: usize) {
    // SAFETY: all offsets are below the length.
    unsafe {
        if len < L::LEN {
            L::store_first(len, to, L::load_first(len, from));
        } else {
            covered(to, len, L::LEN, |at| L::store(to.add(at), L::load(from.add(at))));
        }
    }
}

/// Adjacent elements become 0.
///
/// # Safety
/// As many are valid; the machine has the instructions.
#[inline(always)]
unsafe fn clear<L: Lanes>(to: *mut L::Scalar, len: usize) {
    // SAFETY: all offsets are below the length.
    unsafe {
        let zero = L::splat(L::Scalar::ZERO);
        if len < L::LEN {
            L::store_first(len, to, zero);
        } else {
            covered(to, len, L::LEN, |at| L::store(to.add(at), zero));
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
    use crate::blas::planned::Copied;
    use ndarray::{Array2, ShapeBuilder};

    const SINGLE_TILES: [(usize, usize, usize); 9] = [
        (8, 16, 32),
        (16, 16, 5),
        (16, 8, 5),
        (32, 8, 5),
        (8, 8, 5),
        (4, 8, 5),
        (8, 4, 5),
        (4, 4, 5),
        (16, 4, 5),
    ];

    enum Way {
        /// Without our own kernels.
        Plan,
        Run,
        /// By the kernel for this size.
        Chosen,
    }

    /// The instructions that the machine would not choose, too, and the plans for where there are none.
    fn check<L: Lanes<Scalar: From<u8> + std::fmt::Debug>>() {
        for (m, n, k) in (1..40).map(|i| (i, (7 * i) % 23 + 1, (5 * i) % 19 + 1)).chain(SINGLE_TILES) {
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
                for way in [Way::Plan, Way::Run, Way::Chosen] {
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
                        match way {
                            Way::Plan => SmallPlan::default().execute(&product),
                            Way::Chosen if product.a.row_stride == 1 => chosen::<L>(&product)(&product),
                            _ => run::<L>(&product),
                        }
                    }
                    assert_eq!(c, expected, "{m}×{n}×{k}");
                    assert_eq!(kept, old.t().as_slice().expect("by columns"), "{m}×{n}×{k}");
                }
            }
        }
    }

    /// Ȧ, Ḃ and Ċ, beside which nothing may change; and copies of more and less than there are steps.
    fn check_gradients<T: MatrixScalar + From<u8> + std::fmt::Debug>(gradients: GradientsOf<T>) {
        for (m, n, k) in
            (1..40).map(|i| (i, (7 * i) % 23 + 1, (5 * i) % 35 + 1)).chain([(16, 8, 32), (4, 16, 64)])
        {
            // One row more than is told.
            let matrix = |rows: usize, columns: usize, salt: usize| {
                Array2::from_shape_fn((rows + 1, columns), |(i, j)| {
                    T::from(((3 * i + 5 * j + salt) % 8) as u8)
                })
            };
            let (a, b, mut dc) = (matrix(m, k, 1), matrix(k, n, 2), matrix(m, n, 3));
            let (mut da, mut db) = (matrix(m, k, 4), matrix(k, n, 5));
            let (mut expected_da, mut expected_db, mut expected_dc) = (da.clone(), db.clone(), dc.clone());
            let old: Vec<_> = (0..100 * (m % 4)).map(|i| T::from((i % 8) as u8)).collect();
            let mut restored = vec![T::ZERO; old.len()];
            for (i, j, l) in ndarray::indices((m, n, k)) {
                expected_da[[i, l]] += dc[[i, j]] * b[[l, j]];
                expected_db[[l, j]] += a[[i, l]] * dc[[i, j]];
                expected_dc[[i, j]] = T::ZERO;
            }
            let size = Size { m, n, k };
            let kernels = gradients(size);
            let copied = Copied { from: old.as_ptr(), to: restored.as_mut_ptr(), len: old.len() };
            // SAFETY: the caller has asked whether there are the instructions.
            unsafe {
                (kernels.of_a)(&size, dc.as_ptr(), b.as_ptr(), da.as_mut_ptr());
                (kernels.of_b)(&size, a.as_ptr(), dc.as_mut_ptr(), db.as_mut_ptr(), copied);
            }
            assert_eq!(da, expected_da, "{m}×{n}×{k}");
            assert_eq!(db, expected_db, "{m}×{n}×{k}");
            assert_eq!(dc, expected_dc, "{m}×{n}×{k}");
            assert_eq!(restored, old, "{m}×{n}×{k}");
        }
    }

    /// Copies of many lengths to all places relative to cache lines, and nothing beside them.
    fn check_copies<L: Lanes<Scalar: From<u8> + std::fmt::Debug>>() {
        let from: Vec<_> = (0..200).map(L::Scalar::from).collect();
        for (start, len) in (0..16).flat_map(|start| (0..180).step_by(5).map(move |len| (start, len))) {
            let mut to = vec![L::Scalar::from(255); 200];
            let mut expected = to.clone();
            expected[start..start + len].copy_from_slice(&from[..len]);
            // SAFETY: there is room for as many; the caller has asked whether there are the instructions.
            unsafe { L::copy(from.as_ptr(), to.as_mut_ptr().add(start), len) }
            assert_eq!(to, expected);
            expected[start..start + len].fill(L::Scalar::ZERO);
            // SAFETY: as above.
            unsafe { L::clear(to.as_mut_ptr().add(start), len) }
            assert_eq!(to, expected);
        }
    }

    #[test]
    fn avx2() {
        if has_avx2() {
            check::<Avx2F32>();
            check::<Avx2F64>();
            check_gradients(gradient::avx2_f32);
            check_gradients(gradient::avx2_f64);
            check_copies::<Avx2F32>();
            check_copies::<Avx2F64>();
        }
    }

    #[test]
    fn avx512() {
        if has_avx512() {
            check::<Avx512F32>();
            check::<Avx512F64>();
            check_gradients(gradient::avx512_f64);
            check_copies::<Avx512F32>();
            check_copies::<Avx512F64>();
        }
    }
}
