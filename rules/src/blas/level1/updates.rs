//! Vectors that are scaled and added

use ndarray::{Array1, ArrayRef1};

use super::assert_same_length;
use crate::activation::{Dual, DualMut};
use crate::blas::adjoint::place;
use crate::blas::backend::{MatrixScalar, keep, restore};
use crate::blas::cases::{Allocates, Case, LAYOUTS, Layout, Random};
use crate::blas::elementwise::{add, inner};
use crate::blas::operand::Operand;
use crate::saved::Saved;

/// *x ← α·x*; the `scal` of BLAS. The vector may have any stride.
///
/// ```
/// use ndarray::array;
/// use pullback_rules::blas::scal;
///
/// let mut x = array![1.0, 2.0];
/// scal(3.0, &mut x);
/// assert_eq!(x, array![3.0, 6.0]);
/// ```
///
/// # Gradient
/// *α̇ = ⟨ẋ, x⟩* with the old *x*, *ẋ ← α·ẋ*, where *ẋ* is the gradient with respect to the result. It keeps *x*, unless the caller has
/// [forgone](crate::Rule::forgo) both that and *α̇*.
#[inline(never)]
pub fn scal<T: MatrixScalar>(alpha: T, x: &mut ArrayRef1<T>) {
    x.map_inplace(|x| *x = alpha * *x);
}

/// x ← α·x
#[derive(pullback_macros::Rule, Default)]
#[rule(pub fn scal<T: MatrixScalar>(alpha: T, x: &mut ArrayRef1<T>))]
struct Scal<T: MatrixScalar> {
    #[rule(restores = x)]
    old_x: Saved<T>,
    #[rule(constant = alpha)]
    alpha_is_constant: bool,
}

impl<T: MatrixScalar> Scal<T> {
    fn forward(&mut self, alpha: T, x: &mut ArrayRef1<T>) {
        if let Some(place) = place(&mut self.old_x, self.alpha_is_constant, x.len()) {
            // SAFETY: the buffer is nobody else's.
            unsafe { keep(Operand::read_vector(x), place) }
        }
        scal(alpha, x);
    }

    fn pullback(&mut self, alpha: T, x: DualMut<'_, ArrayRef1<T>>) -> T {
        let mut dalpha = T::ZERO;
        // SAFETY: no shadow overlaps a primal.
        unsafe {
            if let Some(old_x) = self.old_x.take() {
                restore(Operand::write_vector(x.value), old_x);
            }
            if let Some(dx) = x.shadow.get() {
                if !self.alpha_is_constant {
                    dalpha = inner(Operand::vector_cells(dx), Operand::read_vector(x.value));
                }
                dx.iter().for_each(|dx| dx.set(alpha * dx.get()));
            }
        }
        dalpha
    }
}

/// *y ← α·x + y*; the `axpy` of BLAS. The vectors may have any stride, that of *x* may be 0. As in BLAS, *x* is not read if α is 0.
///
/// ```
/// use ndarray::array;
/// use pullback_rules::blas::axpy;
///
/// let mut y = array![1.0, 1.0];
/// axpy(2.0, &array![1.0, 2.0], &mut y);
/// assert_eq!(y, array![3.0, 5.0]);
/// ```
///
/// # Gradient
/// *α̇ = ⟨ẏ, x⟩*, *ẋ += α·ẏ*, where *ẏ* is the gradient with respect to the result, and with respect to the old *y*, too. It keeps *y*, unless
/// the caller has [forgone](crate::Rule::forgo) that.
///
/// # Panics
/// If the lengths differ.
#[inline(never)]
pub fn axpy<T: MatrixScalar>(alpha: T, x: &ArrayRef1<T>, y: &mut ArrayRef1<T>) {
    assert_same_length("axpy", x, y);
    if !alpha.is_zero() {
        // SAFETY: `y` is borrowed uniquely.
        unsafe { add(alpha, Operand::read_vector(x), Operand::write_vector(y)) }
    }
}

/// y ← α·x + y
#[derive(pullback_macros::Rule, Default)]
#[rule(pub fn axpy<T: MatrixScalar>(alpha: T, x: &ArrayRef1<T>, y: &mut ArrayRef1<T>))]
struct Axpy<T: MatrixScalar> {
    #[rule(restores = y)]
    old_y: Saved<T>,
    #[rule(constant = alpha)]
    alpha_is_constant: bool,
}

impl<T: MatrixScalar> Axpy<T> {
    fn forward(&mut self, alpha: T, x: &ArrayRef1<T>, y: &mut ArrayRef1<T>) {
        if let Some(place) = place(&mut self.old_y, true, y.len()) {
            // SAFETY: the buffer is nobody else's.
            unsafe { keep(Operand::read_vector(y), place) }
        }
        axpy(alpha, x, y);
    }

    fn pullback(&mut self, alpha: T, x: Dual<'_, ArrayRef1<T>>, y: DualMut<'_, ArrayRef1<T>>) -> T {
        let mut dalpha = T::ZERO;
        // SAFETY: no shadow overlaps a primal, nor those of x and y each other.
        unsafe {
            if let Some(old_y) = self.old_y.take() {
                restore(Operand::write_vector(y.value), old_y);
            }
            if let Some(dy) = y.shadow.get().map(Operand::vector_cells) {
                if !self.alpha_is_constant {
                    dalpha = inner(dy, Operand::read_vector(x.value));
                }
                if let Some(dx) = x.shadow.get().filter(|_| !alpha.is_zero()) {
                    add(alpha, dy, Operand::vector_cells(dx));
                }
            }
        }
        dalpha
    }
}

const SIZES: &[usize] = &[16, 1000, 100_000];

/// What tests and benchmarks call it on.
pub fn scal_case<T: MatrixScalar>() -> Case<(T, Array1<T>)> {
    let random = &mut Random::new();
    let inputs = [3, 0, 1, 16, 40, 5, 33, 8].into_iter().enumerate().map(|(number, len)| {
        ([T::of(-1.5), T::ZERO, T::ONE][number % 3], random.vector(len, LAYOUTS[number % 4]))
    });
    Case {
        name: "scal",
        allocates: Allocates::Once,
        inputs: inputs.collect(),
        panicking: Vec::new(),
        sizes: SIZES,
        sized: |n| (T::of(-1.5), Random::new().vector(n, Layout::C)),
    }
}

/// What tests and benchmarks call it on.
pub fn axpy_case<T: MatrixScalar>() -> Case<(T, Array1<T>, Array1<T>)> {
    let random = &mut Random::new();
    let mut inputs = Vec::new();
    for (number, len) in [3, 0, 1, 16, 40, 5, 33, 8].into_iter().enumerate() {
        let alpha = [T::of(-1.5), T::ZERO, T::ONE][number % 3];
        let x = random.vector(len, LAYOUTS[number % 4]);
        inputs.push((alpha, x, random.vector(len, LAYOUTS[(number / 2 + 1) % 4])));
    }
    Case {
        name: "axpy",
        allocates: Allocates::Once,
        inputs,
        panicking: vec![(T::ONE, random.vector(2, Layout::C), random.vector(3, Layout::C))],
        sizes: SIZES,
        sized: |n| {
            let random = &mut Random::new();
            (T::of(-1.5), random.vector(n, Layout::C), random.vector(n, Layout::C))
        },
    }
}
