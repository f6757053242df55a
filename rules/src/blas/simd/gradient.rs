//! The gradients of a small product C ← A·B, for matrices whose elements are adjacent.
//!
//! *Ḃ += Aᵀ·Ċ* adds multiples of the rows of *Ċ* to the rows of *Ḃ*. *Ȧ += Ċ·Bᵀ* adds multiples of the rows of *Bᵀ* to the
//! rows of *Ȧ*: a block of *B* is transposed in registers and stays there while all of *Ċ* passes by, so that nothing is
//! packed. The two are functions of their own, because what the second prepares can be done while the first multiplies.
//!
//! The second also copies something and empties *Ċ*, a vector with each step: many stores in a row are what a processor waits
//! for, and between multiplications they take no time.

use super::lanes::{Avx2F32, Avx2F64, Avx512F64, Lanes, Square};
use super::{copy, opaque};
use crate::blas::backend::sealed::Sealed as _;
use crate::blas::planned::{Copied, Gradients, Size};

macro_rules! gradients {
    (
        $name:ident, $T:ident, $features:literal, $Lanes:ident, $lanes:literal,
        // The tile of Ȧ, by vectors of columns; those of Ḃ, where its rows are two vectors long and where not.
        a: $a_rows:literal x $vectors:literal, b: $few:literal x 2 or $rows:literal x 1
    ) => {
        /// The kernels for products of this size.
        pub(super) fn $name(Size { m, n, k }: Size) -> Gradients<$T> {
            #[target_feature(enable = $features)]
            unsafe fn of_a<const WHOLE: bool>(size: &Size, dc: *const $T, b: *const $T, da: *mut $T) {
                // SAFETY: as the caller guarantees.
                unsafe { gradient_of_a::<$Lanes, $lanes, $vectors, $a_rows, WHOLE>(size, dc, b, da) }
            }
            #[target_feature(enable = $features)]
            unsafe fn of_b<const V: usize, const N: usize, const WHOLE: bool>(
                size: &Size,
                a: *const $T,
                dc: *mut $T,
                db: *mut $T,
                copied: Copied<$T>,
            ) {
                // SAFETY: as the caller guarantees.
                unsafe { gradient_of_b::<$Lanes, $lanes, V, N, WHOLE>(size, a, dc, db, copied) }
            }
            let vectors = n % $lanes == 0;
            Gradients {
                of_a: if vectors && m % $a_rows == 0 && k % ($lanes * $vectors) == 0 {
                    of_a::<true>
                } else {
                    of_a::<false>
                },
                of_b: if n % (2 * $lanes) == 0 && k % $few == 0 {
                    of_b::<2, $few, true>
                } else if vectors && k % $rows == 0 {
                    of_b::<1, $rows, true>
                } else {
                    of_b::<1, $rows, false>
                },
            }
        }
    };
}
gradients!(avx512_f64, f64, "avx512f,avx2,fma", Avx512F64, 8, a: 4 x 1, b: 8 x 2 or 8 x 1);
gradients!(avx2_f64, f64, "avx2,fma", Avx2F64, 4, a: 2 x 2, b: 4 x 2 or 8 x 1);
gradients!(avx2_f32, f32, "avx2,fma", Avx2F32, 8, a: 4 x 1, b: 4 x 2 or 8 x 1);

/// A matrix with adjacent elements in each row: where it begins and how far its rows are apart.
type Rows<T> = (*mut T, isize);

/// Row i from column j on.
#[inline(always)]
fn at<T>((pointer, stride): Rows<T>, i: usize, j: usize) -> *mut T {
    pointer.wrapping_offset(i as isize * stride).wrapping_add(j)
}

/// # Safety
/// The machine has the instructions; as many elements are valid.
#[inline(always)]
unsafe fn load<L: Lanes>(from: *const L::Scalar, whole: bool, len: usize) -> L::Vector {
    // SAFETY: as the caller guarantees.
    unsafe { if whole { L::load(from) } else { L::load_first(len, from) } }
}

/// # Safety
/// The machine has the instructions; as many elements are valid.
#[inline(always)]
unsafe fn store<L: Lanes>(to: *mut L::Scalar, x: L::Vector, whole: bool, len: usize) {
    // SAFETY: as the caller guarantees.
    unsafe { if whole { L::store(to, x) } else { L::store_first(len, to, x) } }
}

/// Ȧ += Ċ·Bᵀ, for one vector of columns of Ċ after the other, and for R of Ȧ and I of its rows at once. If `WHOLE`, nothing is
/// left over of any of these.
///
/// # Safety
/// As for [`Gradients`]; the machine has the instructions.
#[inline(always)]
unsafe fn gradient_of_a<L: Square<K>, const K: usize, const R: usize, const I: usize, const WHOLE: bool>(
    &Size { m, n, k }: &Size,
    dc: *const L::Scalar,
    b: *const L::Scalar,
    da: *mut L::Scalar,
) {
    let (dc, b, da) = ((dc.cast_mut(), n as isize), (b.cast_mut(), n as isize), (da, k as isize));
    for j in (0..n).step_by(K) {
        let width = K.min(n - j);
        let dc = (at(dc, 0, j), dc.1);
        let mut l = 0;
        while l < k {
            let (b, da, left) = ((at(b, l, j), b.1), (at(da, 0, l), da.1), k - l);
            // SAFETY: the elements are within the matrices; the rest is up to the caller.
            unsafe {
                if WHOLE || width == K && left >= R * K {
                    columns_of_a::<L, K, R, I, WHOLE, true>(m, dc, b, da, K, R * K);
                    l += R * K;
                } else {
                    columns_of_a::<L, K, 1, I, false, false>(m, dc, b, da, width, K.min(left));
                    l += K;
                }
            }
        }
    }
}

/// R vectors of columns of Ȧ. Unless they are `FULL`, this is a single one for `width` columns of Ċ and the first `last`
/// columns of Ȧ.
///
/// # Safety
/// As for [`gradient_of_a`].
#[inline(always)]
unsafe fn columns_of_a<
    L: Square<K>,
    const K: usize,
    const R: usize,
    const I: usize,
    const WHOLE: bool,
    const FULL: bool,
>(
    m: usize,
    mut dc: Rows<L::Scalar>,
    b: Rows<L::Scalar>,
    mut da: Rows<L::Scalar>,
    width: usize,
    last: usize,
) {
    // SAFETY: the elements are within the matrices; the rest is up to the caller.
    unsafe {
        let zero = L::splat(L::Scalar::ZERO);
        let mut bt = [[zero; K]; R];
        for r in 0..R {
            bt[r] = if FULL {
                L::transposed(at(b, r * K, 0), b.1)
            } else {
                let mut block = [zero; K];
                for row in 0..last {
                    block[row] = load::<L>(at(b, row, 0), false, width);
                }
                L::transposed(block.as_ptr().cast(), K as isize)
            };
        }
        let mut left = m;
        while left >= I {
            tile_of_a::<L, K, R, I, FULL>(&bt, dc, da, width, last);
            (dc.0, da.0, left) = (at(dc, I, 0), at(da, I, 0), left - I);
        }
        while !WHOLE && left > 0 {
            tile_of_a::<L, K, R, 1, FULL>(&bt, dc, da, width, last);
            (dc.0, da.0, left) = (at(dc, 1, 0), at(da, 1, 0), left - 1);
        }
    }
}

/// I rows of Ȧ.
///
/// # Safety
/// As for [`columns_of_a`].
#[inline(always)]
unsafe fn tile_of_a<L: Square<K>, const K: usize, const R: usize, const I: usize, const FULL: bool>(
    bt: &[[L::Vector; K]; R],
    dc: Rows<L::Scalar>,
    da: Rows<L::Scalar>,
    width: usize,
    last: usize,
) {
    // SAFETY: as the caller guarantees.
    unsafe {
        let mut sums = [[L::splat(L::Scalar::ZERO); R]; I];
        for i in 0..I {
            for r in 0..R {
                sums[i][r] = load::<L>(at(da, i, r * K), FULL, last);
            }
        }
        for j in 0..K {
            if !FULL && j >= width {
                break;
            }
            for i in 0..I {
                let y = L::splat(*at(dc, i, j));
                for r in 0..R {
                    sums[i][r] = L::mul_add(bt[r][j], y, sums[i][r]);
                }
            }
        }
        for i in 0..I {
            for r in 0..R {
                store::<L>(at(da, i, r * K), sums[i][r], FULL, last);
            }
        }
    }
}

/// Ḃ += Aᵀ·Ċ, for V vectors of columns after the other and for N rows of Ḃ at once; Ċ ← 0. If `WHOLE`, nothing is left over of
/// any of these.
///
/// # Safety
/// As for [`Gradients`]; the machine has the instructions.
#[inline(always)]
unsafe fn gradient_of_b<L: Lanes, const K: usize, const V: usize, const N: usize, const WHOLE: bool>(
    &Size { m, n, k }: &Size,
    a: *const L::Scalar,
    dc: *mut L::Scalar,
    db: *mut L::Scalar,
    mut copied: Copied<L::Scalar>,
) {
    let (a, dc, db) = ((a.cast_mut(), k as isize), (dc, n as isize), (db, n as isize));
    const { assert!(WHOLE || V == 1, "what is left over is computed by single vectors") }
    for j in (0..n).step_by(V * K) {
        let width = n - j;
        let dc = (at(dc, 0, j), dc.1);
        let mut l = 0;
        while l < k {
            let (a, db, left) = ((at(a, 0, l), a.1), (at(db, l, j), db.1), k - l);
            let copied = &mut copied;
            // SAFETY: the elements are within the matrices; the rest is up to the caller.
            unsafe {
                if WHOLE || left >= N && width >= V * K {
                    rows_of_b::<L, V, N, true>(m, a, dc, db, width, left == N, copied);
                    l += N;
                } else if left >= 4 {
                    rows_of_b::<L, 1, 4, false>(m, a, dc, db, width.min(K), left == 4, copied);
                    l += 4;
                } else {
                    rows_of_b::<L, 1, 1, false>(m, a, dc, db, width.min(K), left == 1, copied);
                    l += 1;
                }
            }
        }
    }
    // SAFETY: as the caller guarantees.
    unsafe { copy::<L>(copied.from, copied.to, copied.len) }
}

/// N rows of Ḃ, and V vectors of columns; unless they are `FULL`, the first `width` of one. If these rows are the `last`, the
/// elements of Ċ become 0. Meanwhile something is copied, a vector in each step.
///
/// # Safety
/// As for [`gradient_of_b`].
#[inline(always)]
unsafe fn rows_of_b<L: Lanes, const V: usize, const N: usize, const FULL: bool>(
    m: usize,
    mut a: Rows<L::Scalar>,
    mut dc: Rows<L::Scalar>,
    db: Rows<L::Scalar>,
    width: usize,
    last: bool,
    copied: &mut Copied<L::Scalar>,
) {
    // SAFETY: the elements are within the matrices; the rest is up to the caller.
    unsafe {
        let zero = L::splat(L::Scalar::ZERO);
        let mut sums = [[zero; V]; N];
        for (l, sums) in sums.iter_mut().enumerate() {
            for (v, sum) in sums.iter_mut().enumerate() {
                *sum = load::<L>(at(db, l, v * L::LEN), FULL, width);
            }
        }
        // In registers.
        let Copied { mut from, mut to, mut len } = *copied;
        for _ in 0..m {
            if len >= L::LEN {
                L::store(to, L::load(from));
                from = from.wrapping_add(L::LEN);
                to = to.wrapping_add(L::LEN);
                len -= L::LEN;
            }
            let x: [L::Vector; V] = std::array::from_fn(|v| load::<L>(at(dc, 0, v * L::LEN), FULL, width));
            if last {
                (0..V).for_each(|v| store::<L>(at(dc, 0, v * L::LEN), zero, FULL, width));
            }
            for (l, sums) in sums.iter_mut().enumerate() {
                let y = L::splat(*at(a, 0, l));
                for (sum, &x) in sums.iter_mut().zip(&x) {
                    *sum = L::mul_add(x, y, *sum);
                }
            }
            a.0 = opaque(at(a, 1, 0)).cast_mut();
            dc.0 = at(dc, 1, 0);
        }
        *copied = Copied { from, to, len };
        for (l, sums) in sums.iter().enumerate() {
            for (v, sum) in sums.iter().enumerate() {
                store::<L>(at(db, l, v * L::LEN), *sum, FULL, width);
            }
        }
    }
}
