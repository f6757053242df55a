//! Roots of functions of one number.

use crate::{DualFn, Rule, Val};

/// The zero of `f` between `a` and `b`, where `f` has opposite signs, to within `tolerance` and rounding: by Brent's method, which
/// needs no derivative and always converges (*Algorithms for Minimization without Derivatives*, 1973, chapter 4).
///
/// ```
/// use pullback_rules::solve::zero;
///
/// // Kepler's equation
/// let e = zero(|e| e - 0.5 * e.sin() - 1.0, 0.0, 4.0, 1e-15);
/// assert!((e - 0.5 * e.sin() - 1.0).abs() < 1e-15);
/// ```
///
/// # Gradient
/// From *f(x, θ) = 0*: with *s = −x̄/f′(x)*, *θ̄ += s·∂f/∂θ*. `a` and `b` have none.
///
/// # Panics
/// If `f(a)` and `f(b)` have the same sign, or one of them is NaN; in the pullback if *f′(x) = 0*.
pub fn zero(f: impl Fn(f64) -> f64, a: f64, b: f64, tolerance: f64) -> f64 {
    let (mut a, mut b) = (a, b);
    let (mut f_a, mut f_b) = (f(a), f(b));
    let brackets = f_a <= 0.0 && f_b >= 0.0 || f_a >= 0.0 && f_b <= 0.0;
    assert!(
        brackets,
        "zero: the function has the values {f_a:e} and {f_b:e}, between which there is no zero"
    );
    // The zero is between b, which is the best yet, and c.
    let (mut c, mut f_c) = (a, f_a);
    let (mut last, mut before) = (b - a, b - a);
    loop {
        if f_c.abs() < f_b.abs() {
            (a, b, c) = (b, c, b);
            (f_a, f_b, f_c) = (f_b, f_c, f_b);
        }
        let least = 2.0 * f64::EPSILON * b.abs() + 0.5 * tolerance;
        let half = 0.5 * (c - b);
        if half.abs() <= least || f_b == 0.0 {
            return b;
        }
        let step = interpolated((a, f_a), (b, f_b), (c, f_c));
        let good = before.abs() >= least
            && f_a.abs() > f_b.abs()
            && step.is_some_and(|step| {
                // Within three quarters of the way to c, and shorter than half of the step before last.
                step * half > 0.0
                    && step.abs() < 1.5 * half.abs() - 0.5 * least
                    && step.abs() < 0.5 * before.abs()
            });
        match step {
            Some(step) if good => (before, last) = (last, step),
            _ => (before, last) = (half, half),
        }
        (a, f_a) = (b, f_b);
        b += if last.abs() > least { last } else { least.copysign(half) };
        f_b = f(b);
        assert!(!f_b.is_nan(), "zero: the function is NaN at {b:e}");
        if (f_b > 0.0) == (f_c > 0.0) {
            (c, f_c) = (a, f_a);
            (last, before) = (b - a, b - a);
        }
    }
}

/// The step from *b* to where a line through two points, or a parabola *x(f)* through three, is zero.
fn interpolated((a, f_a): (f64, f64), (b, f_b): (f64, f64), (c, f_c): (f64, f64)) -> Option<f64> {
    let s = f_b / f_a;
    let (p, q) = if a == c {
        ((c - b) * s, 1.0 - s)
    } else {
        let (q, r) = (f_a / f_c, f_b / f_c);
        (s * ((c - b) * q * (q - r) - (b - a) * (r - 1.0)), (q - 1.0) * (r - 1.0) * (s - 1.0))
    };
    let step = -p / q;
    step.is_finite().then_some(step)
}

#[derive(Default, Rule)]
#[rule(pub fn zero(
    f: impl Fn(f64) -> f64, #[constant] a: f64, #[constant] b: f64, #[constant] tolerance: f64
) -> f64)]
struct Zero {
    x: f64,
}

impl Zero {
    fn forward(&mut self, f: impl Fn(f64) -> f64, a: f64, b: f64, tolerance: f64) -> f64 {
        self.x = zero(f, a, b, tolerance);
        self.x
    }

    fn pullback(&mut self, mut f: DualFn<'_, (Val<f64>,), f64>, _a: f64, _b: f64, _tolerance: f64, d: f64) {
        let none = || (crate::Ignored,);
        let (_, (slope,)) = f.pullback_of_arguments((self.x,), none(), 1.0);
        if d == 0.0 {
            return;
        }
        assert!(
            slope != 0.0,
            "zero: the function has no slope at its zero {:e}, so that this has no gradient",
            self.x
        );
        f.pullback((self.x,), none(), -d / slope);
    }
}
