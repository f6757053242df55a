//! Products of matrices on a device, by cuBLAS.

use ndarray::Ix2;

use super::array::{Backup, DeviceArray, DeviceRef};
use super::driver::Gemm;
use super::run;
use crate::fused::operand::Place;
use crate::fused::{Array, Real};
use crate::matrix::Matrix;
use crate::{Dual, DualMut, MatrixScalar};

/// *C ← A·B*, or *C += A·B* if it `adds`, for matrices that are stored by rows or by columns.
///
/// cuBLAS takes all of them to be stored by columns: of a matrix that is stored by rows it sees the transpose.
fn arguments<T: Real>(c: Place<T>, a: Place<T>, b: Place<T>, adds: bool) -> Gemm {
    // Cᵀ = Bᵀ·Aᵀ, if C is stored by rows.
    let (c, a, b) = if columns(&c).is_some() { (c, a, b) } else { (turned(c), turned(b), turned(a)) };
    let ldc = columns(&c).unwrap_or_else(|| panic!("product: C has gaps along both axes"));
    let operand = |place: &Place<T>| match columns(place) {
        Some(leading) => (false, leading),
        None => (
            true,
            columns(&turned(*place)).unwrap_or_else(|| panic!("product: a matrix has gaps along both axes")),
        ),
    };
    let ((ta, lda), (tb, ldb)) = (operand(&a), operand(&b));
    let bits = |value: f64| match size_of::<T>() {
        4 => u64::from((value as f32).to_bits()),
        _ => value.to_bits(),
    };
    Gemm {
        double: size_of::<T>() == 8,
        transposed: [ta, tb],
        m: c.lengths[0],
        n: c.lengths[1],
        k: a.lengths[1],
        alpha: bits(1.0),
        beta: bits(if adds { 1.0 } else { 0.0 }),
        starts: [a, b, c].map(|place| place.start.addr() as u64),
        leading: [lda, ldb, ldc],
    }
}

/// The transpose.
fn turned<T: Real>(place: Place<T>) -> Place<T> {
    let mut turned = place;
    turned.lengths.swap(0, 1);
    turned.strides.swap(0, 1);
    turned
}

/// How far the columns of a matrix are apart whose elements are adjacent in each column; `None` if they are not.
fn columns<T>(place: &Place<T>) -> Option<usize> {
    let (rows, stride) = (place.lengths[0].max(1), place.strides);
    let apart = if place.lengths[1] <= 1 { rows as isize } else { stride[1] };
    let adjacent = place.lengths[0] <= 1 || stride[0] == 1;
    (adjacent && apart >= rows as isize).then_some(apart as usize)
}

fn multiply<T: Real>(c: &DeviceRef<T, Ix2>, to: Place<T>, a: Place<T>, b: Place<T>, adds: bool) {
    let gemm = arguments(to, a, b, adds);
    if gemm.m == 0 || gemm.n == 0 || adds && gemm.k == 0 {
    } else if gemm.k == 0 {
        run::fill(c.device(), to, T::of(0.0));
    } else {
        c.device().driver().gemm(&gemm).unwrap_or_else(run::failed);
    }
}

fn check<T: Real>(c: &DeviceRef<T, Ix2>, a: &DeviceRef<T, Ix2>, b: &DeviceRef<T, Ix2>) {
    let (c_shape, a_shape, b_shape) = (c.shape(), a.shape(), b.shape());
    if a_shape[1] != b_shape[0] || c_shape != [a_shape[0], b_shape[1]] {
        panic!("product: C is {c_shape:?}, A is {a_shape:?} and B is {b_shape:?}");
    }
    if c.device() != a.device() || c.device() != b.device() {
        panic!("product: {}", super::Error::OtherDevice);
    }
}

macro_rules! on_device {
    ($array:ty) => {
        impl<T: Real + MatrixScalar> Matrix<T> for $array {
            type Product = Backup;

            fn multiply(c: &mut Self, a: &Self, b: &Self) {
                check(c, a, b);
                multiply(c, c.place(), a.place(), b.place(), false);
            }
            fn forward(old: &mut Backup, c: &mut Self, a: &Self, b: &Self) {
                Array::save(c, old);
                Self::multiply(c, a, b);
            }
            fn pull(old: &mut Backup, c: DualMut<'_, Self>, a: Dual<'_, Self>, b: Dual<'_, Self>) {
                if let Some(dc) = c.shadow.get() {
                    if let Some(da) = a.shadow.get() {
                        multiply(c.value, da.place(), dc.place(), turned(b.value.place()), true);
                    }
                    if let Some(db) = b.shadow.get() {
                        multiply(c.value, db.place(), turned(a.value.place()), dc.place(), true);
                    }
                    <Self as Array<T>>::clear_shadow(&dc);
                }
                Array::restore(c.value, old);
            }
            fn forgo(old: &mut Backup) {
                <Self as Array<T>>::forgo(old);
            }
        }
    };
}
on_device!(DeviceRef<T, Ix2>);
on_device!(DeviceArray<T, Ix2>);

#[cfg(test)]
mod tests {
    use super::arguments;
    use crate::fused::operand::Place;

    /// By rows, by columns, with gaps between rows or columns.
    fn layouts(rows: usize, columns: usize) -> [Place<f64>; 4] {
        let (r, c) = (rows as isize, columns as isize);
        [[c, 1], [1, r], [c + 2, 1], [1, r + 3]]
            .map(|strides| Place::new(std::ptr::null_mut(), &[rows, columns], &strides))
    }

    #[test]
    fn what_cublas_is_asked_for_is_the_product() {
        let value = |matrix: usize, i: usize, j: usize| (matrix * 100 + i * 10 + j) as f64;
        for (m, n, k) in [(2, 3, 4), (1, 3, 2), (3, 1, 2), (2, 2, 1), (1, 1, 1)] {
            for (c, a, b) in
                (0..64).map(|i| (layouts(m, n)[i % 4], layouts(m, k)[i / 4 % 4], layouts(k, n)[i / 16]))
            {
                let gemm = arguments(c, a, b, true);
                // The matrices as memory, in which elements that are not the matrix's are NaN.
                let memory = |matrix: usize, place: &Place<f64>| {
                    let mut memory = vec![f64::NAN; 64];
                    for i in 0..place.lengths[0] {
                        for j in 0..place.lengths[1] {
                            memory[i * place.strides[0] as usize + j * place.strides[1] as usize] =
                                value(matrix, i, j);
                        }
                    }
                    memory
                };
                let swapped = super::columns(&c).is_none();
                let (first, second) =
                    if swapped { (memory(2, &b), memory(1, &a)) } else { (memory(1, &a), memory(2, &b)) };
                let mut result = memory(3, &c);
                let at = |memory: &[f64], transposed: bool, leading: usize, i: usize, j: usize| {
                    if transposed { memory[i * leading + j] } else { memory[j * leading + i] }
                };
                for j in 0..gemm.n {
                    for i in 0..gemm.m {
                        let terms = (0..gemm.k).map(|l| {
                            at(&first, gemm.transposed[0], gemm.leading[0], i, l)
                                * at(&second, gemm.transposed[1], gemm.leading[1], l, j)
                        });
                        result[j * gemm.leading[2] + i] += terms.sum::<f64>();
                    }
                }
                for i in 0..m {
                    for j in 0..n {
                        let expected: f64 = (0..k).map(|l| value(1, i, l) * value(2, l, j)).sum();
                        let found = result[i * c.strides[0] as usize + j * c.strides[1] as usize];
                        assert_eq!(
                            found,
                            value(3, i, j) + expected,
                            "{m} {n} {k}: {:?} {:?} {:?}",
                            c.strides,
                            a.strides,
                            b.strides
                        );
                    }
                }
            }
        }
    }
}
