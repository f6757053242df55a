//! The gamma function and its kin.

use std::f64::consts::PI;

use pullback_macros::scalar_rule;

use super::kernel::{Kernel, special};
use crate::float::Float;

special! {
    /// *Γ(x) = ∫₀^∞ t^(x−1)·e^(−t) dt* for positive *x*, and where that continues to (DLMF 5.2.1); *Γ(n + 1) = n!*. By `libm`, to 8 ulp.
    /// NaN at −1, −2, …
    ///
    /// # Gradient
    /// *ẋ += Γ(x)·ψ(x)·ẏ* (DLMF 5.2.2)
    fn gamma as Gamma(x) = y: libm::tgamma(x) => y * digamma(x);

    /// *ln |Γ(x)|*, by `libm`: to 4 ulp for positive *x*. Infinite at 0, −1, −2, …
    ///
    /// # Gradient
    /// *ẋ += ψ(x)·ẏ* (DLMF 5.2.2)
    fn ln_gamma as LnGamma(x): libm::lgamma(x) => digamma(x);

    /// *ψ(x)*, the derivative of *ln Γ* (DLMF 5.2.2), to 10⁻¹⁵ of the larger of 1 and its magnitude. Infinite at 0, NaN at −1, −2, …
    ///
    /// By recurrence (DLMF 5.5.2) up to where its asymptotic series (5.11.2) is accurate, by reflection (5.5.4) for negative *x*.
    ///
    /// # Gradient
    /// *ẋ += ψ′(x)·ẏ*
    fn digamma as Digamma(x): psi(x) => polygamma(1, x);

    /// *ψ′(x) = Σₖ 1/(x + k)²*, the derivative of [`digamma`](digamma()) (DLMF 5.15.1); see [`polygamma`](polygamma()).
    ///
    /// # Gradient
    /// *ẋ += ψ″(x)·ẏ*
    fn trigamma as Trigamma(x): psi_derived(1, x) => polygamma(2, x);

    /// *ψ⁽ⁿ⁾(x) = (−1)ⁿ⁺¹·n!·Σₖ (x + k)⁻ⁿ⁻¹*, the *n*-th derivative of [`digamma`](digamma()) (DLMF 5.15.1), which `n = 0` is; to (8 + 2·*n*)
    /// ulp for positive *x*. NaN for *n* > 170, whose factorials overflow.
    ///
    /// The sum is Hurwitz's zeta function, by the formula of Euler and Maclaurin (DLMF 25.11.5); for negative *x* it is the sum over all
    /// integers, which has the period 1, without what is beyond.
    ///
    /// # Gradient
    /// *ẋ += ψ⁽ⁿ⁺¹⁾(x)·ẏ*
    fn polygamma as Polygamma[n: u32](x): psi_derived(n, x) => polygamma(n + 1, x);

    /// *B(a, b) = Γ(a)·Γ(b)/Γ(a + b) = ∫₀¹ t^(a−1)·(1 − t)^(b−1) dt* for positive *a* and *b* (DLMF 5.12.1), to
    /// 20 + |ln B| ulp; NaN for others.
    ///
    /// # Gradient
    /// *ȧ += B·(ψ(a) − ψ(a + b))·ẏ*, and the like for *b*
    fn beta as Beta(a, b) = y: beta_function(a, b)
        => y * (digamma(a) - digamma(a + b)), y * (digamma(b) - digamma(a + b));

    /// *ln B(a, b)* for positive *a* and *b*, to 5·10⁻¹⁵ of the larger of 1 and its magnitude; NaN for others. Where one of them is large the logarithms of gamma functions would cancel: then
    /// it is their asymptotic series (DLMF 5.11.1) that are subtracted, term by term.
    ///
    /// # Gradient
    /// *ȧ += (ψ(a) − ψ(a + b))·ẏ*, and the like for *b*
    fn ln_beta as LnBeta(a, b): ln_beta_function(a, b)
        => digamma(a) - digamma(a + b), digamma(b) - digamma(a + b);
}

/// Σ cₖ·zᵏ
fn polynomial(z: f64, coefficients: &[f64]) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, c| sum * z + c)
}

/// ψ
fn psi(x: f64) -> f64 {
    if x <= 0.0 {
        let r = x - x.round();
        return match r == 0.0 {
            true if x == 0.0 => f64::INFINITY.copysign(-x),
            true => f64::NAN,
            false => psi(1.0 - x) - PI / (PI * r).tan(),
        };
    }
    let (mut x, mut below) = (x, 0.0);
    while x < 10.0 {
        below += 1.0 / x;
        x += 1.0;
    }
    // B₂ₖ/(2·k)
    const SERIES: [f64; 7] =
        [1.0 / 12.0, -1.0 / 120.0, 1.0 / 252.0, -1.0 / 240.0, 1.0 / 132.0, -691.0 / 32760.0, 1.0 / 12.0];
    let z = 1.0 / (x * x);
    x.ln() - 0.5 / x - z * polynomial(z, &SERIES) - below
}

/// ψ⁽ⁿ⁾
fn psi_derived(n: u32, x: f64) -> f64 {
    if n == 0 {
        return psi(x);
    }
    if n > 170 {
        return f64::NAN;
    }
    let s = n as i32 + 1;
    let (factorial, sum) = (libm::tgamma(f64::from(s)), hurwitz(s, x));
    if s % 2 == 0 { factorial * sum } else { -factorial * sum }
}

/// Σₖ (x + k)⁻ˢ, over k = 0, 1, …
fn hurwitz(s: i32, x: f64) -> f64 {
    if x > 0.0 {
        return hurwitz_of_positive(s, x);
    }
    let r = x - x.round();
    let even = s % 2 == 0;
    if r == 0.0 {
        return if even { f64::INFINITY } else { f64::NAN };
    }
    let mirrored = |x| if even { hurwitz_of_positive(s, x) } else { -hurwitz_of_positive(s, x) };
    let over_all = r.powi(-s) + hurwitz_of_positive(s, 1.0 + r) + mirrored(1.0 - r);
    over_all - mirrored(1.0 - x)
}

/// The same for positive x.
fn hurwitz_of_positive(s: i32, x: f64) -> f64 {
    if x == f64::INFINITY {
        return 0.0;
    }
    let (mut x, mut sum) = (x, 0.0);
    let order = f64::from(s);
    while x < 10.0 + 2.0 * order {
        sum += x.powi(-s);
        x += 1.0;
    }
    // B₂ₖ/(2·k)!
    const SERIES: [f64; 10] = [
        1.0 / 12.0,
        -1.0 / 720.0,
        1.0 / 30240.0,
        -1.0 / 1_209_600.0,
        1.0 / 47_900_160.0,
        -691.0 / 1_307_674_368_000.0,
        1.0 / 74_724_249_600.0,
        -3617.0 / 10_670_622_842_880_000.0,
        43867.0 / 5_109_094_217_170_944_000.0,
        -174_611.0 / 802_857_662_698_291_200_000.0,
    ];
    let power = x.powi(-s);
    let z = 1.0 / (x * x);
    // s·(s + 1)···(s + 2·k − 2)·x⁻ˢ⁻²ᵏ⁺¹
    let (mut term, mut factor) = (power * order / x, order);
    let mut tail = 0.0;
    for c in SERIES {
        tail += c * term;
        term *= (factor + 1.0) * (factor + 2.0) * z;
        factor += 2.0;
    }
    sum + (power * x / (order - 1.0) + 0.5 * power + tail)
}

/// ln Γ(x) without (x − ½)·ln x − x + ½·ln 2π, for x ≥ 10
fn beyond_stirling(x: f64) -> f64 {
    // B₂ₖ/(2·k·(2·k − 1))
    const SERIES: [f64; 8] = [
        1.0 / 12.0,
        -1.0 / 360.0,
        1.0 / 1260.0,
        -1.0 / 1680.0,
        1.0 / 1188.0,
        -691.0 / 360_360.0,
        1.0 / 156.0,
        -3617.0 / 122_400.0,
    ];
    polynomial(1.0 / (x * x), &SERIES) / x
}

fn beta_function(a: f64, b: f64) -> f64 {
    let (a, b) = (a.min(b), a.max(b));
    // Beyond, what *a + b* loses by rounding is more than what the exponential of a logarithm does.
    if a >= 0.0 && b < 10.0 {
        return libm::tgamma(a) / libm::tgamma(a + b) * libm::tgamma(b);
    }
    ln_beta_function(a, b).exp()
}

fn ln_beta_function(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() || a < 0.0 || b < 0.0 {
        return f64::NAN;
    }
    let (a, b) = (a.min(b), a.max(b));
    if b == f64::INFINITY {
        return if a == 0.0 { f64::NAN } else { f64::NEG_INFINITY };
    }
    if b < 10.0 {
        return libm::lgamma(a) + libm::lgamma(b) - libm::lgamma(a + b);
    }
    let beyond = beyond_stirling(b) - beyond_stirling(a + b);
    if a < 10.0 {
        return libm::lgamma(a) - (b - 0.5) * (a / b).ln_1p() - a * (a + b).ln() + a + beyond;
    }
    (a - 0.5) * (a / (a + b)).ln() - b * (a / b).ln_1p() - 0.5 * b.ln()
        + 0.5 * (2.0 * PI).ln()
        + (beyond_stirling(a) + beyond)
}
