//! From vectors to one number

use ndarray::{Array1, ArrayRef1};

use super::assert_same_length;
use crate::activation::Dual;
use crate::blas::backend::MatrixScalar;
use crate::blas::cases::{Allocates, Case, LAYOUTS, Layout, Random};
use crate::blas::elementwise::{add, elements, inner, sum_of};
use crate::blas::operand::Operand;
use crate::shadow::Accumulate;

/// *Σᵢ xᵢ·yᵢ*; the `dot` of BLAS.
///
/// The vectors may have any stride, 0 included.
///
/// ```
/// use ndarray::array;
/// use pullback_rules::blas::dot;
///
/// assert_eq!(dot(&array![1.0, 2.0], &array![3.0, 4.0]), 11.0);
/// ```
///
/// # Gradient
/// *ẋ += d·y*, *ẏ += d·x*, for the gradient *d* with respect to the result. Nothing is kept.
///
/// # Panics
/// If the lengths differ.
#[inline(never)]
pub fn dot<T: MatrixScalar>(x: &ArrayRef1<T>, y: &ArrayRef1<T>) -> T {
    assert_same_length("dot", x, y);
    // SAFETY: both are borrowed.
    unsafe { inner(Operand::read_vector(x), Operand::read_vector(y)) }
}

/// Σ xᵢ·yᵢ
#[derive(pullback_macros::Rule, Default)]
#[rule(pub fn dot<T: MatrixScalar>(x: &ArrayRef1<T>, y: &ArrayRef1<T>) -> T)]
struct Dot<T: MatrixScalar>(std::marker::PhantomData<T>);

impl<T: MatrixScalar> Dot<T> {
    fn forward(&mut self, x: &ArrayRef1<T>, y: &ArrayRef1<T>) -> T {
        dot(x, y)
    }

    fn pullback(&mut self, x: Dual<'_, ArrayRef1<T>>, y: Dual<'_, ArrayRef1<T>>, d: T) {
        // SAFETY: no shadow overlaps a primal.
        unsafe {
            if let Some(dx) = x.shadow.get() {
                add(d, Operand::read_vector(y.value), Operand::vector_cells(dx));
            }
            if let Some(dy) = y.shadow.get() {
                add(d, Operand::read_vector(x.value), Operand::vector_cells(dy));
            }
        }
    }
}

/// *‖x‖₂ = √Σᵢ xᵢ²*; the `nrm2` of BLAS.
///
/// The vector may have any stride. The sum neither overflows nor underflows unless the norm itself does: where the sum of the squares
/// does, numbers are scaled.
///
/// ```
/// use ndarray::array;
/// use pullback_rules::blas::nrm2;
///
/// assert_eq!(nrm2(&array![3.0, 4.0]), 5.0);
/// assert!((nrm2(&array![3e200_f64, -4e200]) / 5e200 - 1.0).abs() < 1e-15);
/// ```
///
/// # Gradient
/// *ẋ += d·x/‖x‖*, for the gradient *d* with respect to the result; 0 at *x = 0*, which is the smallest of the subgradients there.
/// The norm is kept.
#[inline(never)]
pub fn nrm2<T: MatrixScalar>(x: &ArrayRef1<T>) -> T {
    let x = Operand::read_vector(x);
    // SAFETY: it is borrowed.
    unsafe {
        let squares = inner(x, x);
        // Squares too small to count are too small to be missed.
        if squares > T::SMALLEST / (T::SPACING * T::SPACING) && squares < T::ONE / T::SMALLEST {
            return squares.root();
        }
        let mut largest = T::ZERO;
        for x in elements(x) {
            let magnitude = x.magnitude();
            if magnitude.partial_cmp(&largest).is_none() {
                // Not a number.
                return x;
            }
            largest = if magnitude > largest { magnitude } else { largest };
        }
        // 0, or infinity
        if largest == T::ZERO || largest + largest == largest {
            return largest;
        }
        // A power of two, so that nothing is rounded: between those of the largest number and of the smallest.
        let power = T::SMALLEST.root() * T::SPACING;
        let power = if largest > T::ONE { power } else { T::ONE / power };
        sum_of(x, |x| x * power * (x * power)).root() / power
    }
}

/// √Σ xᵢ²
#[derive(pullback_macros::Rule, Default)]
#[rule(pub fn nrm2<T: MatrixScalar>(x: &ArrayRef1<T>) -> T)]
struct Nrm2<T: MatrixScalar> {
    norm: T,
}

impl<T: MatrixScalar> Nrm2<T> {
    fn forward(&mut self, x: &ArrayRef1<T>) -> T {
        self.norm = nrm2(x);
        self.norm
    }

    fn pullback(&mut self, x: Dual<'_, ArrayRef1<T>>, d: T) {
        let norm = self.norm;
        if let Some(dx) = x.shadow.get().filter(|_| norm != T::ZERO) {
            // The quotient is at most 1, however small the norm is.
            dx.iter().zip(x.value).for_each(|(dx, &x)| dx.accumulate(d * (x / norm)));
        }
    }
}

/// *Σᵢ |xᵢ|*; the `asum` of BLAS.
///
/// The vector may have any stride.
///
/// ```
/// use ndarray::array;
/// use pullback_rules::blas::asum;
///
/// assert_eq!(asum(&array![3.0, -4.0]), 7.0);
/// ```
///
/// # Gradient
/// *ẋᵢ += d* where *xᵢ > 0* and *ẋᵢ −= d* where *xᵢ < 0*, for the gradient *d* with respect to the result; nothing at the kink *xᵢ = 0*, as for
/// [`f64::abs`]. Nothing is kept.
#[inline(never)]
pub fn asum<T: MatrixScalar>(x: &ArrayRef1<T>) -> T {
    // SAFETY: it is borrowed.
    unsafe { sum_of(Operand::read_vector(x), |x| x.magnitude()) }
}

/// Σ |xᵢ|
#[derive(pullback_macros::Rule, Default)]
#[rule(pub fn asum<T: MatrixScalar>(x: &ArrayRef1<T>) -> T)]
struct Asum<T: MatrixScalar>(std::marker::PhantomData<T>);

impl<T: MatrixScalar> Asum<T> {
    fn forward(&mut self, x: &ArrayRef1<T>) -> T {
        asum(x)
    }

    fn pullback(&mut self, x: Dual<'_, ArrayRef1<T>>, d: T) {
        if let Some(dx) = x.shadow.get() {
            for (dx, &x) in dx.iter().zip(x.value) {
                if x > T::ZERO {
                    dx.accumulate(d);
                } else if x < T::ZERO {
                    dx.accumulate(-d);
                } else if x != T::ZERO {
                    // Not a number.
                    dx.accumulate(x);
                }
            }
        }
    }
}

/// The index of the first element whose magnitude is largest, counted from 0; the `iamax` of BLAS. What is not a number is
/// passed over.
///
/// It is a whole number and carries no gradient.
///
/// ```
/// use ndarray::array;
/// use pullback_rules::blas::iamax;
///
/// assert_eq!(iamax(&array![1.0, -4.0, 4.0]), 1);
/// ```
///
/// # Panics
/// If the vector is empty.
#[inline(never)]
pub fn iamax<T: MatrixScalar>(x: &ArrayRef1<T>) -> usize {
    assert!(!x.is_empty(), "iamax: x is empty");
    let (mut index, mut largest) = (0, -T::ONE);
    for (i, x) in x.iter().enumerate() {
        if x.magnitude() > largest {
            (index, largest) = (i, x.magnitude());
        }
    }
    index
}

/// The index of the largest: nothing to pull back.
#[derive(pullback_macros::Rule, Default)]
#[rule(pub fn iamax<T: MatrixScalar>(#[constant] x: &ArrayRef1<T>) -> usize)]
struct Iamax<T: MatrixScalar>(std::marker::PhantomData<T>);

impl<T: MatrixScalar> Iamax<T> {
    fn forward(&mut self, x: &ArrayRef1<T>) -> usize {
        iamax(x)
    }

    fn pullback(&mut self, _: &ArrayRef1<T>, (): ()) {}
}

const SIZES: &[usize] = &[16, 1000, 100_000];

/// What tests and benchmarks call it on.
pub fn dot_case<T: MatrixScalar>() -> Case<(Array1<T>, Array1<T>)> {
    let random = &mut Random::new();
    let mut inputs = Vec::new();
    for (number, len) in [3, 0, 1, 16, 40, 5, 33, 8].into_iter().enumerate() {
        let x = random.vector(len, LAYOUTS[number % 4]);
        inputs.push((x, random.vector(len, LAYOUTS[(number / 2 + 1) % 4])));
    }
    Case {
        name: "dot",
        allocates: Allocates::Nothing,
        inputs,
        panicking: vec![(random.vector(2, Layout::C), random.vector(3, Layout::C))],
        sizes: SIZES,
        sized: |n| {
            let random = &mut Random::new();
            (random.vector(n, Layout::C), random.vector(n, Layout::C))
        },
    }
}

fn of_one_vector<T: MatrixScalar>(name: &'static str) -> Case<(Array1<T>,)> {
    let random = &mut Random::new();
    let inputs = [3, 0, 1, 16, 40, 5, 33, 8].into_iter().enumerate();
    Case {
        name,
        allocates: Allocates::Nothing,
        inputs: inputs.map(|(number, len)| (random.vector(len, LAYOUTS[number % 4]),)).collect(),
        panicking: Vec::new(),
        sizes: SIZES,
        sized: |n| (Random::new().vector(n, Layout::C),),
    }
}

/// What tests and benchmarks call it on.
pub fn nrm2_case<T: MatrixScalar>() -> Case<(Array1<T>,)> {
    of_one_vector("nrm2")
}

/// What tests and benchmarks call it on.
pub fn asum_case<T: MatrixScalar>() -> Case<(Array1<T>,)> {
    of_one_vector("asum")
}

/// What tests and benchmarks call it on.
pub fn iamax_case<T: MatrixScalar>() -> Case<(Array1<T>,)> {
    let mut case = of_one_vector("iamax");
    case.inputs.retain(|(x,): &(Array1<T>,)| !x.is_empty());
    case.panicking.push((Random::new().vector(0, Layout::C),));
    case
}
