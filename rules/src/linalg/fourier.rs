//! Discrete Fourier transforms.
//!
//! A complex number is a pair of real ones, the real part first: an array of n complex numbers is n×2, with the parts along the last axis.

use std::sync::Arc;

use ndarray::{Array, Array1, Array2, ArrayRef, ArrayRef1, ArrayRef2, Axis, Dimension, Ix1, Ix2, Ix3};
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use rustfft::num_complex::Complex;
use rustfft::{Fft, FftDirection, FftNum, FftPlanner};

use super::cases::{Argument, Case, Kind};
use super::forms::forms;
use super::packed::Seed;
use super::scalar::Real;
use crate::activation::Dual;
use crate::heap::heap_size;
use crate::shadow::Accumulate;

/// A scalar that Fourier transforms are computed of: `f32` and `f64`.
pub trait Fourier: Real + FftNum {}

impl Fourier for f32 {}
impl Fourier for f64 {}

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
struct Plan<T: Fourier> {
    plans: [Vec<Arc<dyn Fft<T>>>; 2],
    buffer: Vec<Complex<T>>,
    scratch: Vec<Complex<T>>,
}

impl<T: Fourier> Default for Plan<T> {
    fn default() -> Self {
        Plan { plans: Default::default(), buffer: Vec::new(), scratch: Vec::new() }
    }
}

// The plans do not tell.
heap_size! { [T: Fourier] Plan<T> { buffer, scratch } }

impl<T: Fourier> Plan<T> {
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
    kernel FftKernel<T: Fourier, D: Series>;
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
    kernel IfftKernel<T: Fourier, D: Series>;
    constants ();
    arguments (x: &ArrayRef<T, D>);
    result Array<T, D> / ArrayRef D;
}

macro_rules! kernel {
    ($Kernel:ident, inverse: $inverse:expr) => {
        struct $Kernel<T: Fourier, D> {
            plan: Plan<T>,
            dimension: std::marker::PhantomData<D>,
        }

        impl<T: Fourier, D> Default for $Kernel<T, D> {
            fn default() -> Self {
                $Kernel { plan: Plan::default(), dimension: Default::default() }
            }
        }

        heap_size! { [T: Fourier, D] $Kernel<T, D> { plan } }

        impl<T: Fourier, D: Series> $Kernel<T, D> {
            fn shape(function: &str, x: &ArrayRef<T, D>) -> D {
                length(function, x);
                x.raw_dim()
            }

            /// By what results are multiplied.
            fn factor(n: usize) -> T {
                if $inverse { T::ONE / <T as crate::Float>::from_f64(n as f64) } else { T::ONE }
            }

            fn forward(&mut self, function: &str, x: &ArrayRef<T, D>, y: &mut ArrayRef<T, D>) {
                if x.is_empty() {
                    return;
                }
                let n = length(function, x);
                self.plan.load(pairs(x));
                self.plan.transform(n, $inverse);
                let last = Axis(y.ndim() - 1);
                for (mut pair, &value) in y.lanes_mut(last).into_iter().zip(&self.plan.buffer) {
                    pair[0] = value.re * Self::factor(n);
                    pair[1] = value.im * Self::factor(n);
                }
            }

            fn pullback(&mut self, x: Dual<'_, ArrayRef<T, D>>, seed: Seed<'_, T, D>) {
                let Some(dx) = x.shadow.get() else { return };
                if x.value.is_empty() {
                    return;
                }
                let n = length("", x.value);
                match seed {
                    Seed::Lent(dy) => self.plan.load(pairs(dy)),
                    Seed::Cells(dy) => {
                        let lanes = dy.lanes(Axis(dy.ndim() - 1));
                        self.plan.load(lanes.into_iter().map(|pair| (pair[0].get(), pair[1].get())));
                    }
                }
                self.plan.transform(n, !$inverse);
                for (pair, &value) in dx.lanes(Axis(dx.ndim() - 1)).into_iter().zip(&self.plan.buffer) {
                    pair[0].accumulate(value.re * Self::factor(n));
                    pair[1].accumulate(value.im * Self::factor(n));
                }
            }
        }
    };
}
kernel!(FftKernel, inverse: false);
kernel!(IfftKernel, inverse: true);

/// Plans, for each n that has been seen, between n real numbers and the n/2 + 1 complex ones that determine their transform.
struct RealPlan<T: Fourier> {
    forward: Vec<Arc<dyn RealToComplex<T>>>,
    inverse: Vec<Arc<dyn ComplexToReal<T>>>,
    real: Vec<T>,
    complex: Vec<Complex<T>>,
    scratch: Vec<Complex<T>>,
}

impl<T: Fourier> Default for RealPlan<T> {
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

impl<T: Fourier> RealPlan<T> {
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

    /// How many times coefficient `k` of a series of length `n` counts: with its conjugate, but for those that are their own.
    fn count(k: usize, n: usize) -> T {
        if k == 0 || 2 * k == n { T::ONE } else { T::ONE + T::ONE }
    }
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
    kernel RfftKernel<T: Fourier>;
    constants ();
    arguments (x: &ArrayRef1<T>);
    result Array2<T> / ArrayRef2 Ix2;
}

#[derive(Default)]
struct RfftKernel<T: Fourier> {
    plan: RealPlan<T>,
}

impl<T: Fourier> RfftKernel<T> {
    fn shape(function: &str, x: &ArrayRef1<T>) -> Ix2 {
        assert!(!x.is_empty(), "{function}: nothing to transform");
        Ix2(x.len() / 2 + 1, 2)
    }

    fn forward(&mut self, _: &str, x: &ArrayRef1<T>, y: &mut ArrayRef2<T>) {
        self.plan.resize(x.len());
        self.plan.real.iter_mut().zip(x).for_each(|(to, &x)| *to = x);
        self.plan.forward();
        for (mut row, value) in y.rows_mut().into_iter().zip(&self.plan.complex) {
            (row[0], row[1]) = (value.re, value.im);
        }
    }

    fn pullback(&mut self, x: Dual<'_, ArrayRef1<T>>, seed: Seed<'_, T, Ix2>) {
        let Some(dx) = x.shadow.get() else { return };
        let n = x.value.len();
        self.plan.resize(n);
        for (k, value) in self.plan.complex.iter_mut().enumerate() {
            // The plan counts conjugates, of which there are none here.
            let share = T::ONE / RealPlan::<T>::count(k, n);
            *value = Complex { re: seed.at(k, 0) * share, im: seed.at(k, 1) * share };
        }
        self.plan.inverse();
        dx.iter().zip(&self.plan.real).for_each(|(dx, &d)| dx.accumulate(d));
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
    kernel IrfftKernel<T: Fourier>;
    constants (n: [usize]);
    arguments (x: &ArrayRef2<T>);
    result Array1<T> / ArrayRef1 Ix1;
}

#[derive(Default)]
struct IrfftKernel<T: Fourier> {
    plan: RealPlan<T>,
}

impl<T: Fourier> IrfftKernel<T> {
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
        for (value, row) in self.plan.complex.iter_mut().zip(x.rows()) {
            *value = Complex { re: row[0], im: row[1] };
        }
        self.plan.inverse();
        let factor = T::ONE / <T as crate::Float>::from_f64(n as f64);
        y.iter_mut().zip(&self.plan.real).for_each(|(y, &value)| *y = value * factor);
    }

    fn pullback(&mut self, n: usize, x: Dual<'_, ArrayRef2<T>>, seed: Seed<'_, T, Ix1>) {
        let Some(dx) = x.shadow.get() else { return };
        self.plan.resize(n);
        match seed {
            Seed::Lent(dy) => self.plan.real.iter_mut().zip(dy).for_each(|(to, &d)| *to = d),
            Seed::Cells(dy) => self.plan.real.iter_mut().zip(dy).for_each(|(to, d)| *to = d.get()),
        }
        self.plan.forward();
        let factor = T::ONE / <T as crate::Float>::from_f64(n as f64);
        for (k, value) in self.plan.complex.iter().enumerate() {
            let factor = factor * RealPlan::<T>::count(k, n);
            dx[[k, 0]].accumulate(value.re * factor);
            if k > 0 && 2 * k != n {
                dx[[k, 1]].accumulate(value.im * factor);
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
    [T: Fourier] RealPlan<T> { real, complex, scratch }
    [T: Fourier] RfftKernel<T> { plan }
    [T: Fourier] IrfftKernel<T> { plan }
}
