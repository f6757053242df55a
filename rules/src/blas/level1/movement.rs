//! Vectors that are copied, exchanged and rotated

use ndarray::{Array1, ArrayRef1, Zip};

use super::assert_same_length;
use crate::activation::{Dual, DualMut};
use crate::blas::adjoint::place;
use crate::blas::backend::{MatrixScalar, keep, restore, scale};
use crate::blas::cases::{Allocates, Case, LAYOUTS, Layout, Random};
use crate::blas::elementwise::{add, inner};
use crate::blas::operand::Operand;
use crate::saved::Saved;

/// *y ← x*; the `copy` of BLAS. The vectors may have any stride, that of *x* may be 0.
///
/// ```
/// use ndarray::array;
/// use pullback_rules::blas::copy;
///
/// let mut y = array![0.0, 0.0];
/// copy(&array![1.0, 2.0], &mut y);
/// assert_eq!(y, array![1.0, 2.0]);
/// ```
///
/// # Gradient
/// *ẋ += ẏ*, *ẏ ← 0*, where *ẏ* is the gradient with respect to the result. It keeps *y*, unless the caller has
/// [forgone](crate::Rule::forgo) that.
///
/// # Panics
/// If the lengths differ.
#[inline(never)]
pub fn copy<T: MatrixScalar>(x: &ArrayRef1<T>, y: &mut ArrayRef1<T>) {
    assert_same_length("copy", x, y);
    y.assign(x);
}

/// y ← x
#[derive(pullback_macros::Rule, Default)]
#[rule(pub fn copy<T: MatrixScalar>(x: &ArrayRef1<T>, y: &mut ArrayRef1<T>))]
struct Copied<T: MatrixScalar> {
    #[rule(restores = y)]
    old_y: Saved<T>,
}

impl<T: MatrixScalar> Copied<T> {
    fn forward(&mut self, x: &ArrayRef1<T>, y: &mut ArrayRef1<T>) {
        if let Some(place) = place(&mut self.old_y, true, y.len()) {
            // SAFETY: the buffer is nobody else's.
            unsafe { keep(Operand::read_vector(y), place) }
        }
        copy(x, y);
    }

    fn pullback(&mut self, x: Dual<'_, ArrayRef1<T>>, y: DualMut<'_, ArrayRef1<T>>) {
        // SAFETY: no shadow overlaps a primal, nor those of x and y each other.
        unsafe {
            if let Some(old_y) = self.old_y.take() {
                restore(Operand::write_vector(y.value), old_y);
            }
            if let Some(dy) = y.shadow.get().map(Operand::vector_cells) {
                if let Some(dx) = x.shadow.get() {
                    add(T::ONE, dy, Operand::vector_cells(dx));
                }
                scale(T::ZERO, dy);
            }
        }
    }
}

/// Exchanges *x* and *y*; the `swap` of BLAS. The vectors may have any stride.
///
/// ```
/// use ndarray::array;
/// use pullback_rules::blas::swap;
///
/// let (mut x, mut y) = (array![1.0, 2.0], array![3.0, 4.0]);
/// swap(&mut x, &mut y);
/// assert_eq!((x, y), (array![3.0, 4.0], array![1.0, 2.0]));
/// ```
///
/// # Gradient
/// *ẋ* and *ẏ* are exchanged, and so are *x* and *y*: nothing is kept.
///
/// # Panics
/// If the lengths differ.
#[inline(never)]
pub fn swap<T: MatrixScalar>(x: &mut ArrayRef1<T>, y: &mut ArrayRef1<T>) {
    assert_same_length("swap", x, y);
    Zip::from(x).and(y).for_each(std::mem::swap);
}

/// x ↔ y
#[derive(pullback_macros::Rule, Default)]
#[rule(pub fn swap<T: MatrixScalar>(x: &mut ArrayRef1<T>, y: &mut ArrayRef1<T>))]
struct Swap<T: MatrixScalar>(std::marker::PhantomData<T>);

impl<T: MatrixScalar> Swap<T> {
    fn forward(&mut self, x: &mut ArrayRef1<T>, y: &mut ArrayRef1<T>) {
        swap(x, y);
    }

    fn pullback(&mut self, x: DualMut<'_, ArrayRef1<T>>, y: DualMut<'_, ArrayRef1<T>>) {
        swap(x.value, y.value);
        match (x.shadow.get(), y.shadow.get()) {
            (Some(dx), Some(dy)) => dx.iter().zip(dy).for_each(|(dx, dy)| dx.swap(dy)),
            // What came from a constant has no gradient, and what went there has lost it.
            (Some(d), None) | (None, Some(d)) => d.iter().for_each(|d| d.set(T::ZERO)),
            (None, None) => {}
        }
    }
}

/// *(xᵢ, yᵢ) ← (c·xᵢ + s·yᵢ, c·yᵢ − s·xᵢ)*, a rotation if *c² + s² = 1*; the `rot` of BLAS. The vectors may have any stride.
///
/// ```
/// use ndarray::array;
/// use pullback_rules::blas::rot;
///
/// let (mut x, mut y) = (array![1.0, 2.0], array![3.0, 4.0]);
/// rot(&mut x, &mut y, 0.0, 1.0);
/// assert_eq!((x, y), (array![3.0, 4.0], array![-1.0, -2.0]));
/// ```
///
/// # Gradient
/// With *ẋ′* and *ẏ′* for the gradients with respect to the results, and the old *x* and *y*: *ċ = ⟨ẋ′, x⟩ + ⟨ẏ′, y⟩*, *ṡ = ⟨ẋ′, y⟩ − ⟨ẏ′, x⟩*,
/// *ẋ = c·ẋ′ − s·ẏ′*, *ẏ = s·ẋ′ + c·ẏ′*. It keeps *x* and *y*, except for one that the caller has [forgone](crate::Rule::forgo) together with *ċ*
/// and *ṡ*.
///
/// # Panics
/// If the lengths differ.
#[inline(never)]
pub fn rot<T: MatrixScalar>(x: &mut ArrayRef1<T>, y: &mut ArrayRef1<T>, c: T, s: T) {
    assert_same_length("rot", x, y);
    Zip::from(x).and(y).for_each(|x, y| (*x, *y) = (c * *x + s * *y, c * *y - s * *x));
}

/// (x, y) ← (c·x + s·y, c·y − s·x)
#[derive(pullback_macros::Rule, Default)]
#[rule(pub fn rot<T: MatrixScalar>(x: &mut ArrayRef1<T>, y: &mut ArrayRef1<T>, c: T, s: T))]
struct Rot<T: MatrixScalar> {
    #[rule(restores = x)]
    old_x: Saved<T>,
    #[rule(restores = y)]
    old_y: Saved<T>,
    #[rule(constant = c)]
    c_is_constant: bool,
    #[rule(constant = s)]
    s_is_constant: bool,
}

impl<T: MatrixScalar> Rot<T> {
    fn forward(&mut self, x: &mut ArrayRef1<T>, y: &mut ArrayRef1<T>, c: T, s: T) {
        let to_restore_only = self.c_is_constant && self.s_is_constant;
        // SAFETY: the buffers are nobody else's.
        unsafe {
            if let Some(place) = place(&mut self.old_x, to_restore_only, x.len()) {
                keep(Operand::read_vector(x), place);
            }
            if let Some(place) = place(&mut self.old_y, to_restore_only, y.len()) {
                keep(Operand::read_vector(y), place);
            }
        }
        rot(x, y, c, s);
    }

    fn pullback(&mut self, x: DualMut<'_, ArrayRef1<T>>, y: DualMut<'_, ArrayRef1<T>>, c: T, s: T) -> (T, T) {
        let (mut dc, mut ds) = (T::ZERO, T::ZERO);
        // SAFETY: no shadow overlaps a primal.
        unsafe {
            if let Some(old_x) = self.old_x.take() {
                restore(Operand::write_vector(x.value), old_x);
            }
            if let Some(old_y) = self.old_y.take() {
                restore(Operand::write_vector(y.value), old_y);
            }
            let (old_x, old_y) = (Operand::read_vector(x.value), Operand::read_vector(y.value));
            if let Some(dx) = x.shadow.get().map(Operand::vector_cells) {
                dc += if self.c_is_constant { T::ZERO } else { inner(dx, old_x) };
                ds += if self.s_is_constant { T::ZERO } else { inner(dx, old_y) };
            }
            if let Some(dy) = y.shadow.get().map(Operand::vector_cells) {
                dc += if self.c_is_constant { T::ZERO } else { inner(dy, old_y) };
                ds -= if self.s_is_constant { T::ZERO } else { inner(dy, old_x) };
            }
        }
        match (x.shadow.get(), y.shadow.get()) {
            (Some(dx), Some(dy)) => {
                for (dx, dy) in dx.iter().zip(dy) {
                    let (of_x, of_y) = (dx.get(), dy.get());
                    dx.set(c * of_x - s * of_y);
                    dy.set(s * of_x + c * of_y);
                }
            }
            (Some(d), None) | (None, Some(d)) => d.iter().for_each(|d| d.set(c * d.get())),
            (None, None) => {}
        }
        (dc, ds)
    }
}

const SIZES: &[usize] = &[16, 1000, 100_000];

fn pairs<T: MatrixScalar>() -> impl Iterator<Item = (Array1<T>, Array1<T>)> {
    let mut random = Random::new();
    [3, 0, 1, 16, 40, 5, 33, 8].into_iter().enumerate().map(move |(number, len)| {
        let x = random.vector(len, LAYOUTS[number % 4]);
        (x, random.vector(len, LAYOUTS[(number / 2 + 1) % 4]))
    })
}

fn pair<T: MatrixScalar>(x: usize, y: usize) -> (Array1<T>, Array1<T>) {
    let random = &mut Random::new();
    (random.vector(x, Layout::C), random.vector(y, Layout::C))
}

/// What tests and benchmarks call it on.
pub fn copy_case<T: MatrixScalar>() -> Case<(Array1<T>, Array1<T>)> {
    Case {
        name: "copy",
        allocates: Allocates::Once,
        inputs: pairs().collect(),
        panicking: vec![pair(2, 3)],
        sizes: SIZES,
        sized: |n| pair(n, n),
    }
}

/// What tests and benchmarks call it on.
pub fn swap_case<T: MatrixScalar>() -> Case<(Array1<T>, Array1<T>)> {
    Case { name: "swap", allocates: Allocates::Nothing, ..copy_case() }
}

/// What tests and benchmarks call it on.
pub fn rot_case<T: MatrixScalar>() -> Case<(Array1<T>, Array1<T>, T, T)> {
    let turned = |(x, y)| (x, y, T::of(0.8), T::of(-0.6));
    Case {
        name: "rot",
        allocates: Allocates::Once,
        inputs: pairs().map(turned).collect(),
        panicking: vec![turned(pair(2, 3))],
        sizes: SIZES,
        sized: |n| {
            let (x, y) = pair(n, n);
            (x, y, T::of(0.8), T::of(-0.6))
        },
    }
}
