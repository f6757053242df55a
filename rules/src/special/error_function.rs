//! The error function, and the normal distribution.

use pullback_macros::scalar_rule;

use super::kernel::{Kernel, special};
use crate::float::Float;
use crate::fused::Real;

special! {
    /// The error function, *erf x = 2/√π·∫₀ˣ e^(−t²) dt* (DLMF 7.2.1), to 2 ulp.
    ///
    /// # Gradient
    /// *ẋ += 2/√π·e^(−x²)·ẏ* (DLMF 7.10.1)
    fn erf as Erf(x): Real::erf(x) => T::FRAC_2_SQRT_PI * (-x * x).exp();

    /// Its complement, *erfc x = 1 − erf x* (DLMF 7.2.2), to 6 ulp, however small it is.
    ///
    /// # Gradient
    /// *ẋ −= 2/√π·e^(−x²)·ẏ*
    fn erfc as Erfc(x): Real::erfc(x) => -T::FRAC_2_SQRT_PI * (-x * x).exp();

    /// The density of the standard normal distribution, *φ(x) = e^(−x²/2)/√(2π)*, to 2 + *x²*/2 ulp.
    ///
    /// # Gradient
    /// *ẋ −= x·φ(x)·ẏ*
    fn norm_pdf as NormPdf(x) = y: density(x) => -x * y;

    /// The distribution function of the standard normal distribution, *Φ(x) = erfc(−x/√2)/2* (DLMF 7.20.1), to 7 ulp, and *x²* ulp more
    /// where *x* is negative.
    ///
    /// ```
    /// use pullback_rules::special::{norm_cdf, norm_quantile};
    ///
    /// assert_eq!(norm_cdf(0.0), 0.5);
    /// assert!((norm_quantile(norm_cdf(-8.0_f64)) + 8.0).abs() < 1e-13);
    /// ```
    ///
    /// # Gradient
    /// *ẋ += φ(x)·ẏ*
    fn norm_cdf as NormCdf(x): distribution(x) => norm_pdf(x);

    /// The inverse of [`norm_cdf`](norm_cdf()): the number below which the standard normal distribution has the share *p*. −∞ for 0, ∞ for 1, NaN beyond.
    ///
    /// It starts at Hastings' approximation (Abramowitz and Stegun, 26.2.23), and follows it by two of Halley's steps.
    ///
    /// # Gradient
    /// *ṗ += ẏ/φ(y)*
    fn norm_quantile as NormQuantile(p) = y: quantile(p) => norm_pdf(y).recip();
}

fn density(x: f64) -> f64 {
    (-0.5 * x * x).exp() * (0.5 * std::f64::consts::FRAC_2_SQRT_PI * std::f64::consts::FRAC_1_SQRT_2)
}

fn distribution(x: f64) -> f64 {
    0.5 * Real::erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
}

fn quantile(p: f64) -> f64 {
    // The distribution is symmetric. The complement of what is above ½ is exact.
    let tail = p.min(1.0 - p);
    if p.is_nan() || tail < 0.0 {
        return f64::NAN;
    }
    if tail == 0.0 {
        return f64::INFINITY.copysign(p - 0.5);
    }
    let t = (-2.0 * tail.ln()).sqrt();
    let mut z = t
        - (2.515_517 + t * (0.802_853 + t * 0.010_328))
            / (1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308)));
    for _ in 0..2 {
        // Near ½ it is the difference from ½ that has the digits.
        let excess = match tail > 0.25 {
            true => (0.5 - tail) - 0.5 * Real::erf(z * std::f64::consts::FRAC_1_SQRT_2),
            false => distribution(-z) - tail,
        };
        let step = excess / density(z);
        z += step / (1.0 - 0.5 * z * step);
    }
    z.copysign(p - 0.5)
}
