//! The embedded Runge-Kutta pair of Dormand and Prince, of orders 5 and 4 (*A family of embedded Runge-Kutta formulae*, 1980), with the
//! control of step sizes of Hairer, Nørsett & Wanner, *Solving Ordinary Differential Equations I*, 1993, II.4.

use crate::heap::heap_size;
use crate::solve::fit;

/// How many values of the right-hand side make a step.
pub(super) const STAGES: usize = 6;

pub(super) const C: [f64; STAGES] = [0.0, 0.2, 0.3, 0.8, 8.0 / 9.0, 1.0];

pub(super) const A: [[f64; STAGES]; STAGES] = [
    [0.0; STAGES],
    [0.2, 0.0, 0.0, 0.0, 0.0, 0.0],
    [3.0 / 40.0, 9.0 / 40.0, 0.0, 0.0, 0.0, 0.0],
    [44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0, 0.0, 0.0, 0.0],
    [19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0, 0.0, 0.0],
    [9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0, 0.0],
];

/// The weights of the solution of order 5.
pub(super) const B: [f64; STAGES] =
    [35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0];

/// The difference between both solutions; the last weight is that of the slope at the end of the step.
const E: [f64; STAGES + 1] =
    [71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0];

/// So many steps are taken to be too many.
const MOST: usize = 1_000_000;

/// What the error of a step is measured by.
#[derive(Clone, Copy)]
pub(super) struct Tolerance {
    pub(super) relative: f64,
    pub(super) absolute: f64,
}

/// The room that a step takes.
#[derive(Default)]
pub(super) struct Stepper {
    /// The slopes, and that at the end.
    pub(super) slopes: Vec<f64>,
    pub(super) stage: Vec<f64>,
    next: Vec<f64>,
}

/// *y + h·Σⱼ aⱼ·kⱼ* to `out`
pub(super) fn advance(y: &[f64], h: f64, weights: &[f64], slopes: &[f64], out: &mut [f64]) {
    let n = y.len();
    for i in 0..n {
        let slope: f64 = weights.iter().enumerate().map(|(j, a)| a * slopes[j * n + i]).sum();
        out[i] = y[i] + h * slope;
    }
}

impl Stepper {
    pub(super) fn fit(&mut self, n: usize) {
        fit(&mut self.slopes, (STAGES + 1) * n);
        fit(&mut self.stage, n);
        fit(&mut self.next, n);
    }

    /// The slopes of stages `from` on, of a step from `y` at `t`; those before are known.
    pub(super) fn stages(
        &mut self,
        f: &mut impl FnMut(f64, &[f64], &mut [f64]),
        (t, h): (f64, f64),
        y: &[f64],
        from: usize,
    ) {
        let n = y.len();
        for i in from..STAGES {
            let (known, rest) = self.slopes.split_at_mut(i * n);
            advance(y, h, &A[i][..i], known, &mut self.stage);
            f(t + C[i] * h, &self.stage, &mut rest[..n]);
        }
    }

    /// The error of the step to `next`, in units of what is tolerated.
    fn error(&self, h: f64, y: &[f64], tolerance: Tolerance) -> f64 {
        let n = y.len();
        let mut sum = 0.0;
        for i in 0..n {
            let slope: f64 = E.iter().enumerate().map(|(j, e)| e * self.slopes[j * n + i]).sum();
            let size = y[i].abs().max(self.next[i].abs());
            let error = h * slope / (tolerance.absolute + tolerance.relative * size);
            sum += error * error;
        }
        if n == 0 { 0.0 } else { (sum / n as f64).sqrt() }
    }

    /// A first step, from how the slope at `y`, which is known, changes along it.
    fn first(
        &mut self,
        f: &mut impl FnMut(f64, &[f64], &mut [f64]),
        (t, whole): (f64, f64),
        y: &[f64],
        tolerance: Tolerance,
    ) -> f64 {
        let n = y.len();
        let Stepper { slopes, stage, next } = self;
        let slope = &slopes[..n];
        let size = |x: &dyn Fn(usize) -> f64| {
            let part = |i: usize| x(i) / (tolerance.absolute + tolerance.relative * y[i].abs());
            ((0..n).map(|i| part(i) * part(i)).sum::<f64>() / n.max(1) as f64).sqrt()
        };
        let (d0, d1) = (size(&|i| y[i]), size(&|i| slope[i]));
        let h0 = if d0 < 1e-5 || d1 < 1e-5 { 1e-6 } else { 0.01 * d0 / d1 };
        let h0 = h0.min(whole.abs()).copysign(whole);
        for i in 0..n {
            stage[i] = y[i] + h0 * slope[i];
        }
        f(t + h0, stage, next);
        let d2 = size(&|i| next[i] - slope[i]) / h0.abs();
        let steepest = d1.max(d2);
        let h1 = if steepest <= 1e-15 { (1e-3 * h0.abs()).max(1e-6) } else { (0.01 / steepest).powf(0.2) };
        (100.0 * h0.abs()).min(h1).min(whole.abs())
    }

    /// Solves *y′ = f(t, y)* from `t0` to `t1`. For each step `accept` gets the time and the size of it, the state before it, and the
    /// slopes within.
    pub(super) fn solve(
        &mut self,
        name: &str,
        mut f: impl FnMut(f64, &[f64], &mut [f64]),
        (t0, t1): (f64, f64),
        y: &mut [f64],
        tolerance: Tolerance,
        mut accept: impl FnMut(f64, f64, &[f64], &[f64]),
    ) {
        let n = y.len();
        self.fit(n);
        if t0 == t1 {
            return;
        }
        let mut t = t0;
        f(t, y, &mut self.slopes[..n]);
        let mut size = self.first(&mut f, (t, t1 - t0), y, tolerance);
        let (mut rejected, mut steps) = (false, 0);
        loop {
            // What is left is not to be less than a hundredth of a step.
            let last = 1.01 * size >= (t1 - t).abs();
            let h = if last { t1 - t } else { size.copysign(t1 - t) };
            steps += 1;
            assert!(
                steps <= MOST && h.abs() > 4.0 * f64::EPSILON * t.abs() && !h.is_nan(),
                "{name}: no step of size {h:e} at t = {t:e} is small enough for the tolerance, after {steps} steps"
            );
            self.stages(&mut f, (t, h), y, 1);
            let mut next = std::mem::take(&mut self.next);
            advance(y, h, &B, &self.slopes, &mut next);
            let end = if last { t1 } else { t + h };
            f(end, &next, &mut self.slopes[STAGES * n..]);
            self.next = next;
            let error = self.error(h, y, tolerance);
            let factor = 0.9 * error.powf(-0.2);
            if error <= 1.0 {
                accept(t, h, y, &self.slopes);
                y.copy_from_slice(&self.next);
                t = end;
                if last {
                    return;
                }
                self.slopes.copy_within(STAGES * n.., 0);
                size = h.abs() * factor.clamp(0.2, if rejected { 1.0 } else { 5.0 });
                rejected = false;
            } else {
                size = h.abs() * if error.is_nan() { 0.1 } else { factor.clamp(0.1, 1.0) };
                rejected = true;
            }
        }
    }
}

heap_size! { [] Stepper { slopes, stage, next } }
