//! Products whose sums run along adjacent elements: rows of A times columns of B, as in *Ȧ += Ċ·Bᵀ*, the gradient of a product by rows.
//!
//! A vector of a row of A meets a vector of a column of B, and each element of C has a vector of sums, which is added up at the end.
//! Nothing has to be packed.

use super::lanes::{Avx2F32, Avx2F64, Avx512F32, Avx512F64, Lanes};
use super::{has_avx2, has_avx512};
use crate::blas::backend::sealed::Sealed as _;
use crate::blas::backend::{MatrixScalar, Product};
use crate::blas::operand::Operand;
use crate::blas::planned::{OfA, Size};

/// So many rows of A at a time.
const ROWS: usize = 4;

/// From here on a sum is long enough that adding up a vector of it takes less time than packing.
const LONG: usize = 32;

/// So many bytes of A and B are near enough to be gone through again for each few columns.
const NEAR: usize = 1 << 17;

/// Whether the product is one for [`multiply`], given the instructions.
#[inline]
pub(in crate::blas) fn takes<T: MatrixScalar>(product: &Product<'_, T>) -> bool {
    let Product { a, b, .. } = product;
    let along = a.row_stride != 1 && a.column_stride == 1 && b.row_stride == 1;
    along && pays::<T>(product.size())
}

/// Whether it pays for these sizes: sums are long for so many of them, and what they are of stays near.
fn pays<T>((m, n, k): (usize, usize, usize)) -> bool {
    let near = k >= m + n && (m + n).saturating_mul(k).saturating_mul(size_of::<T>()) <= NEAR;
    m > 1 && n > 1 && k >= LONG && (near || m.min(n) <= ROWS)
}

/// What computes *Ȧ += Ċ·Bᵀ* for a product of this size, if that is of the kind.
pub(super) fn gradient_of_a<L: Lanes>(Size { m, n, k }: Size) -> Option<OfA<L::Scalar>> {
    unsafe fn of_a<L: Lanes>(
        &Size { m, n, k }: &Size,
        dc: *const L::Scalar,
        b: *const L::Scalar,
        da: *mut L::Scalar,
    ) {
        let by_columns = |pointer: *const L::Scalar, rows, columns| {
            // What is only read is not written to.
            Operand::packed(pointer.cast_mut(), rows, columns)
        };
        let product = Product {
            alpha: L::Scalar::ONE,
            a: by_columns(b, n, k).t(),
            b: by_columns(dc, n, m),
            beta: L::Scalar::ONE,
            c: Operand::packed(da, k, m),
            keep: None,
        };
        // SAFETY: as the caller guarantees.
        unsafe { L::dots(&product) }
    }
    pays::<L::Scalar>((k, m, n)).then_some(of_a::<L> as OfA<L::Scalar>)
}

macro_rules! entry {
    ($name:ident, $T:ident, $Avx512:ident, $Avx2:ident) => {
        /// Computes `product` if the machine has the instructions for it, and says whether.
        ///
        /// # Safety
        /// [`takes`] said yes, and as for `MatMul::run`.
        #[inline(never)]
        pub(in crate::blas) unsafe fn $name(product: &Product<'_, $T>) -> bool {
            // SAFETY: as the caller guarantees; the instructions are there.
            unsafe {
                if !has_avx2() {
                    return false;
                }
                product.keep();
                if has_avx512() { $Avx512::dots(product) } else { $Avx2::dots(product) }
            }
            true
        }
    };
}
entry!(dots_f32, f32, Avx512F32, Avx2F32);
entry!(dots_f64, f64, Avx512F64, Avx2F64);

/// # Safety
/// As for the entries; the machine has the instructions.
#[inline(always)]
pub(super) unsafe fn multiply<L: Lanes>(product: &Product<'_, L::Scalar>) {
    let (_, n, _) = product.size();
    let mut j = 0;
    while j < n {
        // SAFETY: there are as many columns.
        j += unsafe {
            match n - j {
                1 => columns::<L, 1>(product, j),
                // With fewer registers.
                2.. if L::TILE < 16 => columns::<L, 2>(product, j),
                2 => columns::<L, 2>(product, j),
                3 => columns::<L, 3>(product, j),
                4 => columns::<L, 4>(product, j),
                5 => columns::<L, 5>(product, j),
                _ => columns::<L, 6>(product, j),
            }
        };
    }
}

/// N columns of C from `j` on. Returns how many.
///
/// # Safety
/// As for [`multiply`]; so many columns are left.
#[inline(always)]
unsafe fn columns<L: Lanes, const N: usize>(product: &Product<'_, L::Scalar>, j: usize) -> usize {
    let (m, ..) = product.size();
    let Product { alpha, b, beta, c, .. } = *product;
    for i in (0..m).step_by(ROWS) {
        let rows = ROWS.min(m - i);
        // SAFETY: all elements are within the matrices.
        unsafe {
            let sums = tile::<L, N>(product.a, b, i, j, rows);
            for (n, sums) in sums.into_iter().enumerate() {
                let place = c.at(i, j + n);
                if rows == ROWS && c.row_stride == 1 {
                    write::<L>(place, 1, sums, ROWS, alpha, beta);
                } else {
                    write::<L>(place, c.row_stride, sums, rows, alpha, beta);
                }
            }
        }
    }
    N
}

/// The sums for `rows` rows of C from `i` on, and N columns from `j` on.
///
/// # Safety
/// As for [`columns`].
#[inline(always)]
unsafe fn tile<L: Lanes, const N: usize>(
    a: Operand<'_, L::Scalar>,
    b: Operand<'_, L::Scalar>,
    i: usize,
    j: usize,
    rows: usize,
) -> [[L::Scalar; ROWS]; N] {
    let k = a.columns;
    // SAFETY: all elements are within the matrices.
    unsafe {
        // Instead of rows that are not there, the last one again.
        let mut lines = [a.at(i, 0).cast_const(); ROWS];
        for r in 1..ROWS {
            lines[r] = a.at(i + r.min(rows - 1), 0);
        }
        let mut other = [b.at(0, j).cast_const(); N];
        for n in 1..N {
            other[n] = b.at(0, j + n);
        }
        let mut sums = [[L::splat(L::Scalar::ZERO); ROWS]; N];
        macro_rules! step {
            (|$from:ident| $load:expr) => {
                let mut x = [L::splat(L::Scalar::ZERO); ROWS];
                for r in 0..ROWS {
                    let $from = lines[r];
                    x[r] = $load;
                }
                for n in 0..N {
                    let $from = other[n];
                    let y = $load;
                    for r in 0..ROWS {
                        sums[n][r] = L::mul_add(x[r], y, sums[n][r]);
                    }
                }
            };
        }
        let mut l = 0;
        while l + L::LEN <= k {
            step!(|from| L::load(from.add(l)));
            l += L::LEN;
        }
        if l < k {
            step!(|from| L::load_first(k - l, from.add(l)));
        }
        let mut all = [[L::Scalar::ZERO; ROWS]; N];
        for n in 0..N {
            all[n] = L::sums(sums[n]);
        }
        all
    }
}

/// *C ← α·sums + β·C* for the first `rows` of some rows of a column.
///
/// # Safety
/// They may be written.
#[inline(always)]
unsafe fn write<L: Lanes>(
    c: *mut L::Scalar,
    stride: isize,
    sums: [L::Scalar; ROWS],
    rows: usize,
    alpha: L::Scalar,
    beta: L::Scalar,
) {
    for r in 0..rows {
        // SAFETY: as the caller guarantees.
        unsafe {
            let place = c.offset(r as isize * stride);
            let sum = alpha * sums[r];
            *place = if beta == L::Scalar::ZERO { sum } else { sum + beta * *place };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, ShapeBuilder};

    fn element<T: From<u8>>((i, j): (usize, usize)) -> T {
        T::from((3 * i + 5 * j) as u8 % 8)
    }

    /// All rows and columns that may be left over, and sums of all lengths, into rows of C side by side and into such that are not.
    fn check<L: Lanes<Scalar: From<u8> + std::fmt::Debug>>() {
        for (m, n, k) in (1..90).map(|k| (k % 9 + 1, (7 * k) % 13 + 1, k)).chain([(3, 40, 130)]) {
            let a: Array2<L::Scalar> = Array2::from_shape_fn((m, k), element);
            let b: Array2<L::Scalar> = Array2::from_shape_fn((n, k), element);
            for (by_columns, beta) in [(true, 0), (false, 1), (true, 2), (false, 0)] {
                let beta = L::Scalar::from(beta);
                let old = Array2::from_shape_fn((m, n).set_f(by_columns), element);
                let expected = Array2::from_shape_fn((m, n), |(i, j)| {
                    let sum = (0..k).fold(L::Scalar::ZERO, |sum, l| sum + a[[i, l]] * b[[j, l]]);
                    L::Scalar::from(2) * sum + beta * old[[i, j]]
                });
                let mut c = old.clone();
                let product = Product {
                    alpha: L::Scalar::from(2),
                    a: Operand::read(&a),
                    b: Operand::read(&b).t(),
                    beta,
                    c: Operand::write(&mut c),
                    keep: None,
                };
                // SAFETY: C is unique; the caller has asked whether there are the instructions.
                unsafe { L::dots(&product) }
                assert_eq!(c, expected, "{m}×{n}×{k}");
            }
        }
    }

    /// Ȧ, beside which nothing may change.
    fn check_gradient<L: Lanes<Scalar: From<u8> + std::fmt::Debug>>() {
        for (m, n, k) in [(2, 128, 3), (10, 64, 7), (4, 33, 20), (6, 40, 5), (16, 100, 9)] {
            // One row more than is told.
            let matrix = |rows: usize, columns: usize| Array2::from_shape_fn((rows + 1, columns), element);
            let (dc, b, mut da) = (matrix(m, n), matrix(k, n), matrix(m, k));
            let mut expected = da.clone();
            for (i, j, l) in ndarray::indices((m, n, k)) {
                expected[[i, l]] += dc[[i, j]] * b[[l, j]];
            }
            let of_a = gradient_of_a::<L>(Size { m, n, k }).expect("sums are long");
            // SAFETY: as above.
            unsafe { of_a(&Size { m, n, k }, dc.as_ptr(), b.as_ptr(), da.as_mut_ptr()) }
            assert_eq!(da, expected, "{m}×{n}×{k}");
        }
    }

    #[test]
    fn avx2() {
        if has_avx2() {
            check::<Avx2F32>();
            check::<Avx2F64>();
            check_gradient::<Avx2F32>();
            check_gradient::<Avx2F64>();
        }
    }

    #[test]
    fn avx512() {
        if has_avx512() {
            check::<Avx512F32>();
            check::<Avx512F64>();
            check_gradient::<Avx512F32>();
            check_gradient::<Avx512F64>();
        }
    }

    #[test]
    fn sums_have_to_be_long_and_near() {
        assert!(pays::<f64>((10, 11, 128)) && pays::<f64>((2, 3, 32)) && pays::<f64>((2, 200, 200)));
        assert!(!pays::<f64>((64, 64, 64)) && !pays::<f64>((4, 4, 16)) && !pays::<f64>((100, 100, 1000)));
        assert!(!pays::<f64>((1, 4, 100)) && !pays::<f64>((4, 1, 100)));
    }
}
