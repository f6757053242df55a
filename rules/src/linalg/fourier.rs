//! Discrete Fourier transforms.
//!
//! A complex number is a pair of real ones, the real part first: an array of n complex numbers is n×2, with the parts along the last axis.

use std::sync::Arc;

use ndarray::{Array, Array1, Array2, ArrayRef, ArrayRef1, ArrayRef2, Axis, Dimension, Ix1, Ix2, Ix3};
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use rustfft::num_complex::Complex;
use rustfft::{Fft, FftDirection, FftPlanner};

use super::cases::{Argument, Case, Kind};
use super::forms::forms;
use super::packed::Seed;
use super::scalar::Number;
use super::scalar::sealed::{Components, Transformed};
use crate::activation::Dual;
use crate::heap::heap_size;
use crate::shadow::Accumulate;

/// The floats that a number consists of.
type Of<T> = <T as Components>::Component;

/// What consists of the one number `component` in the place `k`, and of zeros: a transform is linear, and goes through the components one by one.
fn single<T: Number>(k: usize, component: Of<T>) -> T {
    let mut number = T::ZERO;
    number.set_component(k, component);
    number
}

/// The dimension of an array of complex numbers: one series of them, n×2, or several, m×n×2.
pub trait Series: Dimension + Copy + 'static {}

impl Series for Ix2 {}
impl Series for Ix3 {}

/// The length of the series in an array of complex numbers.
fn length<T, D: Dimension>(function: &str, x: &ArrayRef<T, D>) -> usize {
    let shape = x.shape();
    let parts = shape[shape.len() - 1];
    assert!(parts == 2, "{function}: the last axis holds real and imaginary parts, and has length {parts}");
    shape[shape.len() - 2]
}

/// That of `plans` which `fits`, or a new one: lengths may alternate.
fn planned<P: ?Sized>(
    plans: &mut Vec<Arc<P>>,
    fits: impl Fn(&P) -> bool,
    plan: impl FnOnce() -> Arc<P>,
) -> &P {
    let index = plans.iter().position(|plan| fits(plan)).unwrap_or_else(|| {
        plans.push(plan());
        plans.len() - 1
    });
    &plans[index]
}

/// Plans for each length that has been seen, forward and inverse, and room to work.
struct Plan<T: Transformed> {
    plans: [Vec<Arc<dyn Fft<T>>>; 2],
    buffer: Vec<Complex<T>>,
    scratch: Vec<Complex<T>>,
}

impl<T: Transformed> Default for Plan<T> {
    fn default() -> Self {
        Plan { plans: Default::default(), buffer: Vec::new(), scratch: Vec::new() }
    }
}

// The plans do not tell.
heap_size! { [T: Transformed] Plan<T> { buffer, scratch } }

impl<T: Transformed> Plan<T> {
    /// Transforms all series of length `n` that are in `buffer`, in place.
    fn transform(&mut self, n: usize, inverse: bool) {
        let direction = if inverse { FftDirection::Inverse } else { FftDirection::Forward };
        let plans = &mut self.plans[usize::from(inverse)];
        let plan = planned(plans, |plan| plan.len() == n, || FftPlanner::new().plan_fft(n, direction));
        let needed = plan.get_inplace_scratch_len();
        if self.scratch.len() < needed {
            self.scratch.resize(needed, Complex::default());
        }
        plan.process_with_scratch(&mut self.buffer, &mut self.scratch[..needed]);
    }

    fn load(&mut self, pairs: impl Iterator<Item = (T, T)>) {
        self.buffer.clear();
        self.buffer.extend(pairs.map(|(re, im)| Complex { re, im }));
    }
}

/// 1/n
fn reciprocal<T: Transformed>(n: usize) -> T {
    T::ONE / T::of(n as f64)
}

/// The complex numbers of an array.
fn pairs<T: Copy, D: Dimension>(x: &ArrayRef<T, D>) -> impl Iterator<Item = (T, T)> {
    x.lanes(Axis(x.ndim() - 1)).into_iter().map(|pair| (pair[0], pair[1]))
}

forms! {
    /// The discrete Fourier transform *yₖ = Σⱼ xⱼ·exp(−2πi·jk/n)* of complex numbers.
    ///
    /// `x` is n×2, with real and imaginary parts along the last axis, or m×n×2 for m series of length n; so is the result. Any n will do. With
    /// the feature `fft`.
    ///
    /// ```
    /// use ndarray::array;
    /// use pullback_rules::linalg;
    ///
    /// let y = linalg::fft(&array![[1.0, 0.0], [2.0, 0.0]]);
    /// assert_eq!(y, array![[3.0, 0.0], [-1.0, 0.0]]);
    /// ```
    ///
    /// # Gradient
    /// *ẋⱼ += Σₖ ẏₖ·exp(2πi·jk/n)*, the transform in the other direction, since the matrix of the transform is symmetric and its adjoint is its
    /// conjugate. Nothing is saved but plans.
    ///
    /// # Panics
    /// If the last axis does not have length 2.
    fn fft = FftRule;
    /// The transform as of [`fft()`], written to `y`.
    ///
    /// # Panics
    /// As [`fft()`] does, and if `y` has another shape.
    fn fft_into = FftIntoRule;
    kernel FftKernel<T: Number, D: Series>;
    constants ();
    arguments (x: &ArrayRef<T, D>);
    result Array<T, D> / ArrayRef D;
}

forms! {
    /// The inverse of [`fft()`]: *yⱼ = 1/n·Σₖ xₖ·exp(2πi·jk/n)*.
    ///
    /// `x` is n×2 or m×n×2, with real and imaginary parts along the last axis; so is the result. With the feature `fft`.
    ///
    /// ```
    /// use ndarray::array;
    /// use pullback_rules::linalg;
    ///
    /// let y = linalg::ifft(&array![[3.0, 0.0], [-1.0, 0.0]]);
    /// assert_eq!(y, array![[1.0, 0.0], [2.0, 0.0]]);
    /// ```
    ///
    /// # Gradient
    /// *ẋₖ += 1/n·Σⱼ ẏⱼ·exp(−2πi·jk/n)*. Nothing is saved but plans.
    ///
    /// # Panics
    /// If the last axis does not have length 2.
    fn ifft = Ifft;
    /// The transform as of [`ifft()`], written to `y`.
    ///
    /// # Panics
    /// As [`ifft()`] does, and if `y` has another shape.
    fn ifft_into = IfftInto;
    kernel IfftKernel<T: Number, D: Series>;
    constants ();
    arguments (x: &ArrayRef<T, D>);
    result Array<T, D> / ArrayRef D;
}

macro_rules! kernel {
    ($Kernel:ident, inverse: $inverse:expr) => {
        struct $Kernel<T: Number, D> {
            plan: Plan<Of<T>>,
            dimension: std::marker::PhantomData<D>,
        }

        impl<T: Number, D> Default for $Kernel<T, D> {
            fn default() -> Self {
                $Kernel { plan: Plan::default(), dimension: Default::default() }
            }
        }

        heap_size! { [T: Number, D] $Kernel<T, D> { plan } }

        impl<T: Number, D: Series> $Kernel<T, D> {
            fn shape(function: &str, x: &ArrayRef<T, D>) -> D {
                length(function, x);
                x.raw_dim()
            }

            /// By what results are multiplied.
            fn factor(n: usize) -> Of<T> {
                if $inverse { reciprocal(n) } else { reciprocal(1) }
            }

            fn forward(&mut self, function: &str, x: &ArrayRef<T, D>, y: &mut ArrayRef<T, D>) {
                if x.is_empty() {
                    return;
                }
                let n = length(function, x);
                let last = Axis(y.ndim() - 1);
                for k in 0..T::COUNT {
                    self.plan.load(pairs(x).map(|(re, im)| (re.component(k), im.component(k))));
                    self.plan.transform(n, $inverse);
                    for (mut pair, &value) in y.lanes_mut(last).into_iter().zip(&self.plan.buffer) {
                        pair[0].set_component(k, value.re * Self::factor(n));
                        pair[1].set_component(k, value.im * Self::factor(n));
                    }
                }
            }

            fn pullback(&mut self, x: Dual<'_, ArrayRef<T, D>>, seed: Seed<'_, T, D>) {
                let Some(dx) = x.shadow.get() else { return };
                if x.value.is_empty() {
                    return;
                }
                let n = length("", x.value);
                let last = Axis(dx.ndim() - 1);
                for k in 0..T::COUNT {
                    let component = |(re, im): (T, T)| (re.component(k), im.component(k));
                    match &seed {
                        Seed::Lent(dy) => self.plan.load(pairs(dy).map(component)),
                        Seed::Cells(dy) => {
                            let lanes = dy.lanes(last).into_iter();
                            self.plan.load(lanes.map(|pair| component((pair[0].get(), pair[1].get()))));
                        }
                    }
                    self.plan.transform(n, !$inverse);
                    for (pair, &value) in dx.lanes(last).into_iter().zip(&self.plan.buffer) {
                        pair[0].accumulate(single(k, value.re * Self::factor(n)));
                        pair[1].accumulate(single(k, value.im * Self::factor(n)));
                    }
                }
            }
        }
    };
}
kernel!(FftKernel, inverse: false);
kernel!(IfftKernel, inverse: true);

/// Plans, for each n that has been seen, between n real numbers and the n/2 + 1 complex ones that determine their transform.
struct RealPlan<T: Transformed> {
    forward: Vec<Arc<dyn RealToComplex<T>>>,
    inverse: Vec<Arc<dyn ComplexToReal<T>>>,
    real: Vec<T>,
    complex: Vec<Complex<T>>,
    scratch: Vec<Complex<T>>,
}

impl<T: Transformed> Default for RealPlan<T> {
    fn default() -> Self {
        RealPlan {
            forward: Vec::new(),
            inverse: Vec::new(),
            real: Vec::new(),
            complex: Vec::new(),
            scratch: Vec::new(),
        }
    }
}

impl<T: Transformed> RealPlan<T> {
    fn resize(&mut self, n: usize) {
        self.real.resize(n, T::ZERO);
        self.complex.resize(n / 2 + 1, Complex::default());
    }

    fn room(scratch: &mut Vec<Complex<T>>, needed: usize) -> &mut [Complex<T>] {
        if scratch.len() < needed {
            scratch.resize(needed, Complex::default());
        }
        &mut scratch[..needed]
    }

    /// From `real` to `complex`.
    fn forward(&mut self) {
        let n = self.real.len();
        let make = || RealFftPlanner::new().plan_fft_forward(n);
        let plan = planned(&mut self.forward, |plan| plan.len() == n, make);
        let scratch = Self::room(&mut self.scratch, plan.get_scratch_len());
        plan.process_with_scratch(&mut self.real, &mut self.complex, scratch).expect("lengths fit");
    }

    /// From `complex` to `real`: the sum with the conjugates that are left out. The imaginary parts that do not take part are cleared.
    fn inverse(&mut self) {
        let n = self.real.len();
        self.complex[0].im = T::ZERO;
        if n.is_multiple_of(2) {
            self.complex[n / 2].im = T::ZERO;
        }
        let make = || RealFftPlanner::new().plan_fft_inverse(n);
        let plan = planned(&mut self.inverse, |plan| plan.len() == n, make);
        let scratch = Self::room(&mut self.scratch, plan.get_scratch_len());
        plan.process_with_scratch(&mut self.complex, &mut self.real, scratch).expect("lengths fit");
    }
}

/// How many times coefficient `k` of a series of length `n` counts: with its conjugate, but for those that are their own.
fn conjugates(k: usize, n: usize) -> usize {
    if k == 0 || 2 * k == n { 1 } else { 2 }
}

forms! {
    /// The discrete Fourier transform *yₖ = Σⱼ xⱼ·exp(−2πi·jk/n)* of n real numbers, for k up to n/2; the others are conjugates of these.
    ///
    /// The result is (n/2 + 1)×2, with real and imaginary parts along the last axis. Any n but 0 will do. With the feature `fft`.
    ///
    /// ```
    /// use ndarray::array;
    /// use pullback_rules::linalg;
    ///
    /// assert_eq!(linalg::rfft(&array![1.0, 2.0]), array![[3.0, 0.0], [-1.0, 0.0]]);
    /// ```
    ///
    /// # Gradient
    /// *ẋⱼ += Re Σₖ ẏₖ·exp(2πi·jk/n)* over the k of the result, which is half of the inverse transform of a series with conjugates. Nothing is saved
    /// but plans.
    ///
    /// # Panics
    /// If n is 0.
    fn rfft = Rfft;
    /// The transform as of [`rfft()`], written to `y`.
    ///
    /// # Panics
    /// As [`rfft()`] does, and if `y` has another shape.
    fn rfft_into = RfftInto;
    kernel RfftKernel<T: Number>;
    constants ();
    arguments (x: &ArrayRef1<T>);
    result Array2<T> / ArrayRef2 Ix2;
}

#[derive(Default)]
struct RfftKernel<T: Number> {
    plan: RealPlan<Of<T>>,
}

impl<T: Number> RfftKernel<T> {
    fn shape(function: &str, x: &ArrayRef1<T>) -> Ix2 {
        assert!(!x.is_empty(), "{function}: nothing to transform");
        Ix2(x.len() / 2 + 1, 2)
    }

    fn forward(&mut self, _: &str, x: &ArrayRef1<T>, y: &mut ArrayRef2<T>) {
        self.plan.resize(x.len());
        for k in 0..T::COUNT {
            self.plan.real.iter_mut().zip(x).for_each(|(to, x)| *to = x.component(k));
            self.plan.forward();
            for (mut row, value) in y.rows_mut().into_iter().zip(&self.plan.complex) {
                row[0].set_component(k, value.re);
                row[1].set_component(k, value.im);
            }
        }
    }

    fn pullback(&mut self, x: Dual<'_, ArrayRef1<T>>, seed: Seed<'_, T, Ix2>) {
        let Some(dx) = x.shadow.get() else { return };
        let n = x.value.len();
        self.plan.resize(n);
        for part in 0..T::COUNT {
            for (k, value) in self.plan.complex.iter_mut().enumerate() {
                // The plan counts conjugates, of which there are none here.
                let share = reciprocal(conjugates(k, n));
                let [re, im] = [0, 1].map(|j| seed.at((k, j)).component(part) * share);
                *value = Complex { re, im };
            }
            self.plan.inverse();
            dx.iter().zip(&self.plan.real).for_each(|(dx, &d)| dx.accumulate(single(part, d)));
        }
    }
}

forms! {
    /// The inverse of [`rfft()`]: n real numbers, given the n/2 + 1 first coefficients of their transform.
    ///
    /// `x` is (n/2 + 1)×2, with real and imaginary parts along the last axis. The imaginary part of the first coefficient, and that of the last one if
    /// n is even, are not read. With the feature `fft`.
    ///
    /// ```
    /// use ndarray::array;
    /// use pullback_rules::linalg;
    ///
    /// assert_eq!(linalg::irfft(2, &array![[3.0, 0.0], [-1.0, 0.0]]), array![1.0, 2.0]);
    /// ```
    ///
    /// # Gradient
    /// *ẋₖ += cₖ/n·Σⱼ ẏⱼ·exp(−2πi·jk/n)*, where *cₖ* is 2, but 1 for coefficients that are their own conjugates; nothing comes to what is not read. Nothing is
    /// saved but plans.
    ///
    /// # Panics
    /// If n is 0, or if `x` has another shape.
    fn irfft = Irfft;
    /// The transform as of [`irfft()`], written to `y`.
    ///
    /// # Panics
    /// As [`irfft()`] does, and if `y` has another length than `n`.
    fn irfft_into = IrfftInto;
    kernel IrfftKernel<T: Number>;
    constants (n: [usize]);
    arguments (x: &ArrayRef2<T>);
    result Array1<T> / ArrayRef1 Ix1;
}

#[derive(Default)]
struct IrfftKernel<T: Number> {
    plan: RealPlan<Of<T>>,
}

impl<T: Number> IrfftKernel<T> {
    fn shape(function: &str, n: usize, x: &ArrayRef2<T>) -> Ix1 {
        assert!(n > 0, "{function}: nothing to transform");
        let (rows, columns) = x.dim();
        assert!(
            (rows, columns) == (n / 2 + 1, 2),
            "{function}: the transform of {n} numbers is {}×2, not {rows}×{columns}",
            n / 2 + 1
        );
        Ix1(n)
    }

    fn forward(&mut self, _: &str, n: usize, x: &ArrayRef2<T>, y: &mut ArrayRef1<T>) {
        self.plan.resize(n);
        let factor = reciprocal(n);
        for k in 0..T::COUNT {
            for (value, row) in self.plan.complex.iter_mut().zip(x.rows()) {
                *value = Complex { re: row[0].component(k), im: row[1].component(k) };
            }
            self.plan.inverse();
            y.iter_mut().zip(&self.plan.real).for_each(|(y, &value)| y.set_component(k, value * factor));
        }
    }

    fn pullback(&mut self, n: usize, x: Dual<'_, ArrayRef2<T>>, seed: Seed<'_, T, Ix1>) {
        let Some(dx) = x.shadow.get() else { return };
        self.plan.resize(n);
        for part in 0..T::COUNT {
            for (j, to) in self.plan.real.iter_mut().enumerate() {
                *to = seed.at(j).component(part);
            }
            self.plan.forward();
            for (k, value) in self.plan.complex.iter().enumerate() {
                let factor = reciprocal::<Of<T>>(n) / reciprocal(conjugates(k, n));
                dx[[k, 0]].accumulate(single(part, value.re * factor));
                if k > 0 && 2 * k != n {
                    dx[[k, 1]].accumulate(single(part, value.im * factor));
                }
            }
        }
    }
}

/// The first size is the length of a series.
pub(super) const CASES: &[Case] = &[
    Case {
        name: "fft",
        arguments: &[Argument::Matrix(Kind::Regular, 0, 1)],
        sizes: &[[4, 2, 0], [1, 2, 0], [0, 2, 0], [7, 2, 0], [60, 2, 0]],
        allocations: 1,
        benchmark: &[[64, 2, 0], [1024, 2, 0], [65536, 2, 0]],
    },
    Case {
        name: "ifft",
        arguments: &[Argument::Matrix(Kind::Regular, 0, 1)],
        sizes: &[[4, 2, 0], [1, 2, 0], [0, 2, 0], [7, 2, 0], [60, 2, 0]],
        allocations: 1,
        benchmark: &[[64, 2, 0], [1024, 2, 0], [65536, 2, 0]],
    },
    Case {
        name: "rfft",
        arguments: &[Argument::Vector(0)],
        sizes: &[[4, 0, 0], [1, 0, 0], [2, 0, 0], [7, 0, 0], [60, 0, 0]],
        allocations: 1,
        benchmark: &[[64, 0, 0], [1024, 0, 0], [65536, 0, 0]],
    },
];

// The plans do not tell.
heap_size! {
    [T: Transformed] RealPlan<T> { real, complex, scratch }
    [T: Number] RfftKernel<T> { plan }
    [T: Number] IrfftKernel<T> { plan }
}
