//! LAPACK, as OpenBLAS brings it along, for what is not small. Matrices are by columns.

use std::ffi::{c_char, c_int};

use faer::dyn_stack::StackReq;
use faer::{MatMut, MatRef};

use super::packed::{Packed, Scratch};
use super::scalar::Real;
use crate::blas::openblas::use_own_threads;

/// Below this, a call takes longer than it saves.
const LARGE: usize = 96;

/// Whether LAPACK decomposes an m×n matrix: what depends on the shape alone is the same in a function and its rule.
pub(super) fn takes(m: usize, n: usize) -> bool {
    m.min(n) >= LARGE && c_int::try_from(m.max(n)).is_ok()
}

/// So many columns are reflected at once.
const BLOCK: usize = 64;

/// The length of a string in Fortran, which comes behind all arguments.
const ONE: usize = 1;

macro_rules! routines {
    ($LAPACK:ident: $T:ident, $potrf:ident, $getrf:ident, $geqrf:ident, $ormqr:ident, $syevd:ident, $gesdd:ident) => {
        unsafe extern "C" {
            fn $potrf(uplo: &c_char, n: &c_int, a: *mut $T, lda: &c_int, info: &mut c_int, _: usize);
            fn $getrf(m: &c_int, n: &c_int, a: *mut $T, lda: &c_int, pivots: *mut c_int, info: &mut c_int);
            fn $geqrf(
                m: &c_int,
                n: &c_int,
                a: *mut $T,
                lda: &c_int,
                tau: *mut $T,
                work: *mut $T,
                len: &c_int,
                info: &mut c_int,
            );
            fn $ormqr(
                side: &c_char,
                trans: &c_char,
                m: &c_int,
                n: &c_int,
                k: &c_int,
                a: *const $T,
                lda: &c_int,
                tau: *const $T,
                c: *mut $T,
                ldc: &c_int,
                work: *mut $T,
                len: &c_int,
                info: &mut c_int,
                _: usize,
                _: usize,
            );
            fn $syevd(
                job: &c_char,
                uplo: &c_char,
                n: &c_int,
                a: *mut $T,
                lda: &c_int,
                w: *mut $T,
                work: *mut $T,
                len: &c_int,
                integers: *mut c_int,
                integers_len: &c_int,
                info: &mut c_int,
                _: usize,
                _: usize,
            );
            fn $gesdd(
                job: &c_char,
                m: &c_int,
                n: &c_int,
                a: *mut $T,
                lda: &c_int,
                s: *mut $T,
                u: *mut $T,
                ldu: &c_int,
                vt: *mut $T,
                ldvt: &c_int,
                work: *mut $T,
                len: &c_int,
                integers: *mut c_int,
                info: &mut c_int,
                _: usize,
            );
        }

        pub(super) const $LAPACK: Lapack<$T> = Lapack {
            potrf: |n, (a, lda), info| {
                // SAFETY: as the caller guarantees.
                unsafe { $potrf(&letter(b'L'), &n, a, &lda, info, ONE) }
            },
            getrf: |n, (a, lda), pivots, info| {
                // SAFETY: as the caller guarantees.
                unsafe { $getrf(&n, &n, a, &lda, pivots, info) }
            },
            geqrf: |(m, n), (a, lda), tau, (work, len), info| {
                // SAFETY: as the caller guarantees.
                unsafe { $geqrf(&m, &n, a, &lda, tau, work, &len, info) }
            },
            ormqr: |transposed, (m, n, k), (a, lda), tau, (c, ldc), (work, len), info| {
                let (left, trans) = (letter(b'L'), letter(if transposed { b'T' } else { b'N' }));
                // SAFETY: as the caller guarantees.
                unsafe {
                    $ormqr(&left, &trans, &m, &n, &k, a, &lda, tau, c, &ldc, work, &len, info, ONE, ONE);
                }
            },
            syevd: |n, (a, lda), w, (work, len), (integers, integers_len), info| {
                let (vectors, lower) = (letter(b'V'), letter(b'L'));
                // SAFETY: as the caller guarantees.
                unsafe {
                    $syevd(
                        &vectors,
                        &lower,
                        &n,
                        a,
                        &lda,
                        w,
                        work,
                        &len,
                        integers,
                        &integers_len,
                        info,
                        ONE,
                        ONE,
                    );
                }
            },
            gesdd: |(m, n), (a, lda), s, (u, ldu), (vt, ldvt), (work, len), integers, info| {
                let thin = letter(b'S');
                // SAFETY: as the caller guarantees.
                unsafe {
                    $gesdd(&thin, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, work, &len, integers, info, ONE);
                }
            },
        };
    };
}
routines!(SINGLE: f32, spotrf_, sgetrf_, sgeqrf_, sormqr_, ssyevd_, sgesdd_);
routines!(DOUBLE: f64, dpotrf_, dgetrf_, dgeqrf_, dormqr_, dsyevd_, dgesdd_);

fn letter(letter: u8) -> c_char {
    letter as c_char
}

/// A matrix and its leading dimension, or memory to work in and its length.
type Out<T> = (*mut T, c_int);

/// The routines for one type; the last argument tells whether they failed.
///
/// # Safety
/// The arguments have to be right.
#[allow(clippy::type_complexity, reason = "those of LAPACK")]
pub struct Lapack<T> {
    potrf: unsafe fn(c_int, Out<T>, &mut c_int),
    getrf: unsafe fn(c_int, Out<T>, *mut c_int, &mut c_int),
    geqrf: unsafe fn((c_int, c_int), Out<T>, *mut T, Out<T>, &mut c_int),
    ormqr: unsafe fn(bool, (c_int, c_int, c_int), (*const T, c_int), *const T, Out<T>, Out<T>, &mut c_int),
    syevd: unsafe fn(c_int, Out<T>, *mut T, Out<T>, Out<c_int>, &mut c_int),
    gesdd: unsafe fn((c_int, c_int), Out<T>, *mut T, Out<T>, Out<T>, Out<T>, *mut c_int, &mut c_int),
}

fn int(n: usize) -> c_int {
    c_int::try_from(n).expect("a length that LAPACK knows")
}

/// For LAPACK.
fn out<T>(matrix: MatMut<'_, T>) -> Out<T> {
    debug_assert_eq!(matrix.row_stride(), 1);
    let stride = matrix.col_stride() as c_int;
    (matrix.as_ptr_mut(), stride)
}

fn pointer<T>(matrix: MatRef<'_, T>) -> (*const T, c_int) {
    (matrix.as_ptr(), matrix.col_stride() as c_int)
}

/// *A = L·Lᵀ* in place, out of the lower triangle. Or which pivot is not positive.
pub(super) fn cholesky<T: Real>(a: MatMut<'_, T>) -> Result<(), usize> {
    use_own_threads();
    let (n, mut info) = (int(a.nrows()), 0);
    // SAFETY: the matrix is n×n.
    unsafe { (T::lapack().potrf)(n, out(a), &mut info) }
    if info > 0 { Err(info as usize - 1) } else { Ok(()) }
}

/// *P·A = L·U* in place, where row `i` of *P·A* is row `rows[i]` of *A*, and `inverse` the other way round. Returns how often two rows were
/// exchanged.
pub(super) fn lu<T: Real>(
    a: MatMut<'_, T>,
    rows: &mut [usize],
    inverse: &mut [usize],
    scratch: &mut Scratch,
) -> usize {
    use_own_threads();
    let (n, mut info) = (a.nrows(), 0);
    let (mut pivots, _) = scratch.stack(StackReq::new::<c_int>(n)).make_with::<c_int>(n, |_| 0);
    // SAFETY: the matrix is n×n, and there are n pivots.
    unsafe { (T::lapack().getrf)(int(n), out(a), pivots.as_mut_ptr(), &mut info) }
    rows.iter_mut().enumerate().for_each(|(i, row)| *row = i);
    let mut exchanged = 0;
    for (i, &pivot) in pivots.iter().enumerate() {
        let other = pivot as usize - 1;
        rows.swap(i, other);
        exchanged += usize::from(i != other);
    }
    rows.iter().enumerate().for_each(|(i, &row)| inverse[row] = i);
    exchanged
}

/// *A = Q·R* in place, with the reflections below the diagonal, and a coefficient of each.
pub(super) fn qr<T: Real>(a: &mut Packed<T>, coefficients: &mut Packed<T>, scratch: &mut Scratch) {
    use_own_threads();
    let (m, n, len, mut info) = (a.rows(), a.columns(), a.columns() * BLOCK, 0);
    coefficients.resize(n, 1);
    let (mut work, _) = scratch.stack(StackReq::new::<T>(len)).make_with::<T>(len, |_| T::ZERO);
    let (tau, work) = (coefficients.column_mut(0).as_mut_ptr(), (work.as_mut_ptr(), int(len)));
    // SAFETY: the matrix is m×n, there are n coefficients, and as much room as LAPACK can use.
    unsafe { (T::lapack().geqrf)((int(m), int(n)), out(a.get_mut()), tau, work, &mut info) }
}

/// *B ← Q·B* or *B ← Qᵀ·B*, *Q* with all its columns.
pub(super) fn reflect<T: Real>(
    factors: &Packed<T>,
    coefficients: &Packed<T>,
    b: &mut Packed<T>,
    transposed: bool,
    scratch: &mut Scratch,
) {
    use_own_threads();
    let (m, n, k) = (b.rows(), b.columns(), factors.columns());
    // For the columns, and the triangle that a block of reflections has.
    let (len, mut info) = (n * BLOCK + (BLOCK + 1) * BLOCK, 0);
    let (mut work, _) = scratch.stack(StackReq::new::<T>(len)).make_with::<T>(len, |_| T::ZERO);
    let (tau, work) = (coefficients.column(0).as_ptr(), (work.as_mut_ptr(), int(len)));
    let (size, a) = ((int(m), int(n), int(k)), pointer(factors.get()));
    // SAFETY: the reflections are k of length m, as the rows of B, and there is as much room as LAPACK can use.
    unsafe { (T::lapack().ormqr)(transposed, size, a, tau, out(b.get_mut()), work, &mut info) }
}

/// *A = V·diag(w)·Vᵀ* of the symmetric matrix in the lower triangle of `vectors`, *w* ascending. Says whether it has converged.
pub(super) fn eigh<T: Real>(vectors: &mut Packed<T>, values: &mut [T], scratch: &mut Scratch) -> bool {
    use_own_threads();
    let (n, mut info) = (vectors.rows(), 0);
    let (len, integers_len) = (1 + 6 * n + 2 * n * n + n * BLOCK, 3 + 5 * n);
    let stack = scratch.stack(StackReq::new::<T>(len).and(StackReq::new::<c_int>(integers_len)));
    let (mut work, stack) = stack.make_with::<T>(len, |_| T::ZERO);
    let (mut integers, _) = stack.make_with::<c_int>(integers_len, |_| 0);
    let (work, integers) = ((work.as_mut_ptr(), int(len)), (integers.as_mut_ptr(), int(integers_len)));
    let w = values.as_mut_ptr();
    // SAFETY: the matrix is n×n, there are n values, and as much room as the documentation of LAPACK asks for.
    unsafe { (T::lapack().syevd)(int(n), out(vectors.get_mut()), w, work, integers, &mut info) }
    info == 0
}

/// *A = U·diag(s)·Vᵀ* with min(m, n) columns in *U* and *V*, *s* descending. Says whether it has converged.
pub(super) fn svd<T: Real>(
    a: &Packed<T>,
    u: &mut Packed<T>,
    values: &mut [T],
    v: &mut Packed<T>,
    scratch: &mut Scratch,
) -> bool {
    use_own_threads();
    let (m, n, mut info) = (a.rows(), a.columns(), 0);
    let k = m.min(n);
    let len = 4 * k * k + 7 * k + (m + n) * BLOCK;
    let request = |len| StackReq::new::<T>(len);
    let stack = scratch.stack(StackReq::all_of(&[
        request(m * n),
        request(k * n),
        request(len),
        StackReq::new::<c_int>(8 * k),
    ]));
    // LAPACK overwrites it.
    let (mut copy, stack) = stack.make_with::<T>(m * n, |i| a.column(i / m)[i % m]);
    let (mut vt, stack) = stack.make_with::<T>(k * n, |_| T::ZERO);
    let (mut work, stack) = stack.make_with::<T>(len, |_| T::ZERO);
    let (mut integers, _) = stack.make_with::<c_int>(8 * k, |_| 0);
    let (matrix, room) = ((copy.as_mut_ptr(), int(m)), (work.as_mut_ptr(), int(len)));
    let (s, transposed) = (values.as_mut_ptr(), (vt.as_mut_ptr(), int(k)));
    // SAFETY: the matrices are m×n, m×k and k×n, there are k values, and as much room as the documentation of LAPACK asks for.
    unsafe {
        let size = (int(m), int(n));
        (T::lapack().gesdd)(
            size,
            matrix,
            s,
            out(u.get_mut()),
            transposed,
            room,
            integers.as_mut_ptr(),
            &mut info,
        );
    }
    for j in 0..k {
        v.column_mut(j).iter_mut().enumerate().for_each(|(i, v)| *v = vt[i * k + j]);
    }
    info == 0
}
