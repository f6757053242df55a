//! Products of matrices in any memory.

use ndarray::Array2;

use super::Matrices;
use crate::blas::MulInto;
use crate::fused::Real;
use crate::heap::{HeapSize, heap_size};
use crate::{Dual, DualMut, MatrixScalar, Rule, mul_into};

/// A matrix of `f32` or `f64`, wherever it is: what [`product`](fn@product) multiplies.
pub trait Matrix<T: Real + MatrixScalar>: Matrices<T> + Sized {
    /// One activation of the rule of [`product`](fn@product).
    #[doc(hidden)]
    type Product: Default + Send + HeapSize;

    #[doc(hidden)]
    fn multiply(c: &mut Self, a: &Self, b: &Self);
    #[doc(hidden)]
    fn forward(state: &mut Self::Product, c: &mut Self, a: &Self, b: &Self);
    #[doc(hidden)]
    fn pull(state: &mut Self::Product, c: DualMut<'_, Self>, a: Dual<'_, Self>, b: Dual<'_, Self>);
    #[doc(hidden)]
    fn forgo(state: &mut Self::Product);
}

/// *C ← A·B* for matrices that are all in the same memory: [`mul_into`](fn@mul_into) on the host, cuBLAS on a device.
///
/// ```
/// use ndarray::{Array2, array};
/// use pullback_rules::product;
///
/// let (a, b) = (array![[1.0, 2.0]], array![[3.0], [4.0]]);
/// let mut c = Array2::zeros((1, 1));
/// product(&mut c, &a, &b);
/// assert_eq!(c, array![[11.0]]);
/// ```
///
/// # Gradient
/// *Ȧ += Ċ·Bᵀ*, *Ḃ += Aᵀ·Ċ*, *Ċ ← 0*. The pullback brings back what *C* held.
///
/// # Panics
/// If the shapes do not fit, if a matrix on a device has gaps along both of its axes, or if the device fails.
pub fn product<T: Real + MatrixScalar, M: Matrix<T>>(c: &mut M, a: &M, b: &M) {
    M::multiply(c, a, b);
}

#[derive(Rule)]
#[rule(pub fn product<T: Real + MatrixScalar, M: Matrix<T>>(c: &mut M, a: &M, b: &M))]
struct Product<T: Real + MatrixScalar, M: Matrix<T>> {
    #[rule(restores = c)]
    activation: Activation<T, M>,
}

struct Activation<T: Real + MatrixScalar, M: Matrix<T>>(M::Product);

heap_size! { [T: Real + MatrixScalar, M: Matrix<T>] Activation<T, M> { 0 } }

impl<T: Real + MatrixScalar, M: Matrix<T>> Activation<T, M> {
    fn forgo(&mut self) {
        <M as Matrix<T>>::forgo(&mut self.0);
    }
}

impl<T: Real + MatrixScalar, M: Matrix<T>> Default for Product<T, M> {
    fn default() -> Self {
        Product { activation: Activation(Default::default()) }
    }
}

impl<T: Real + MatrixScalar, M: Matrix<T>> Product<T, M> {
    fn forward(&mut self, c: &mut M, a: &M, b: &M) {
        M::forward(&mut self.activation.0, c, a, b);
    }

    fn pullback(&mut self, c: DualMut<'_, M>, a: Dual<'_, M>, b: Dual<'_, M>) {
        M::pull(&mut self.activation.0, c, a, b);
    }
}

impl<T: Real + MatrixScalar> Matrix<T> for Array2<T> {
    type Product = MulInto<T>;

    fn multiply(c: &mut Self, a: &Self, b: &Self) {
        mul_into(c, a, b);
    }
    fn forward(state: &mut MulInto<T>, c: &mut Self, a: &Self, b: &Self) {
        state.forward(c, a, b);
    }
    fn pull(state: &mut MulInto<T>, c: DualMut<'_, Self>, a: Dual<'_, Self>, b: Dual<'_, Self>) {
        state.pullback(
            DualMut { value: c.value, shadow: c.shadow },
            Dual { value: a.value, shadow: a.shadow },
            Dual { value: b.value, shadow: b.shadow },
        );
    }
    fn forgo(state: &mut MulInto<T>) {
        state.forgo();
    }
}
