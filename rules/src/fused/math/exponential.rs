//! Exponentials, the hyperbolic functions made of them, and the logistic function.
//!
//! `x = n ln 2 + r` with |r| ≤ ½ ln 2, the rounding error of `r` is kept, and `eʳ = 1 + r + r² P(r)`.
//!
//! The exponential is 0 where it would not be a normal number, and so is what is made of it, the logistic function and softplus. They
//! are weights and probabilities for the most part, which at that size add nothing to any sum; but on many processors each
//! multiplication by a subnormal number takes a hundred times as long, and products of matrices do many.

use super::arithmetic::*;
use super::logarithm::ln_1p;

/// The upper 42 bits of ln 2, whose products with exponents are exact, and the rest.
pub(super) const LN_2: (f64, f64) = (0.6931471805598903, 5.497923018708371e-14);

/// `eˣ = 2ⁿ (1 + r + tail)`, the error of the tail 2⁻⁵⁷.
pub(super) struct Reduced {
    n: f64,
    r: f64,
    tail: f64,
}

#[inline(always)]
pub(super) fn reduce(x: f64) -> Reduced {
    let n = nearest_product(x, std::f64::consts::LOG2_E);
    let high = fma(-n, LN_2.0, x);
    let correction = n * LN_2.1;
    let r = high - correction;
    let r_low = (high - r) - correction;
    Reduced { n, r, tail: fma(r * r, quadratic(r), fma(r, r_low, r_low)) }
}

/// (eʳ − 1 − r) / r²: degree 10 on |r| ≤ ½ ln 2, error 2⁻⁶¹ of eʳ.
#[inline(always)]
fn quadratic(r: f64) -> f64 {
    polynomial!(r;
        0.5, 0.1666666666666667, 0.04166666666666667, 0.008333333333326141, 0.0013888888888883752,
        0.00019841269874800683, 2.4801587325533502e-5, 2.75572554255029e-6, 2.7557273661174726e-7,
        2.5105206475334834e-8, 2.091467944897855e-9)
}

impl Reduced {
    /// That of `x + low`, to first order.
    #[inline(always)]
    pub(super) fn moved(self, low: f64) -> Self {
        let tail = self.tail + low * (1.0 + (self.r + self.tail));
        Reduced { tail, ..self }
    }

    /// `1 + r + tail` as a sum of `1 + r`, rounded, and the rest.
    #[inline(always)]
    fn significand(&self) -> (f64, f64) {
        let (high, low) = ordered_sum(1.0, self.r);
        (high, low + self.tail)
    }

    /// The exponential.
    #[inline(always)]
    pub(super) fn value(&self) -> f64 {
        let (high, low) = self.significand();
        scale(high + low, self.n)
    }

    /// The exponential times a number.
    #[inline(always)]
    pub(super) fn times(&self, factor: f64) -> f64 {
        let (high, low) = self.significand();
        scale((high + low) * factor, self.n)
    }

    /// A quarter of the exponential less one, as a sum, not normalised; exponents up to 1025.
    #[inline(always)]
    fn quarter_less_one(&self) -> (f64, f64) {
        let quarter = power_of_two(self.n - 2.0);
        let (a, a_low) = sum(quarter, -0.25);
        let (high, low) = ordered_sum(a, quarter * self.r);
        (high, (low + a_low) + quarter * self.tail)
    }
}

/// Arguments beyond which the exponential is 0 or infinite; the reduction is valid between them.
#[inline(always)]
pub(super) fn bounded(x: f64) -> f64 {
    clamp(x, -746.0, 710.0)
}

/// The argument for which `n` is −1022, so that [`half_power`] is 0.
const LEAST: f64 = -708.5;

/// `2ⁿ⁻¹` for `n` up to 1024, down to −1021; 0 for −1022.
#[inline(always)]
fn half_power(n: f64) -> f64 {
    power_of_two(n - 1.0)
}

#[inline(always)]
pub(super) fn exp(x: f64) -> f64 {
    let e = reduce(clamp(x, LEAST, 710.0));
    2.0 * (1.0 + (e.r + e.tail)) * half_power(e.n)
}

#[inline(always)]
pub(super) fn exp2(x: f64) -> f64 {
    let x = clamp(x, -1076.0, 1025.0);
    let n = nearest(x);
    let r = x - n;
    // (2ʳ − 1 − r ln 2) / r²: degree 10 on |r| ≤ ½, error 2⁻⁵⁸ of 2ʳ.
    let p = polynomial!(r;
        0.24022650695910072, 0.0555041086648216, 0.009618129107628479, 0.0013333558146416936,
        0.00015403530393375914, 1.525273382983615e-5, 1.3215486802903946e-6, 1.017806244582691e-7,
        7.0548999563633115e-9, 4.4549606019592226e-10, 2.572508059551054e-11);
    let (high, low) = ordered_sum(1.0, r * std::f64::consts::LN_2);
    scale(high + (low + r * r * p), n)
}

#[inline(always)]
pub(super) fn exp_m1(x: f64) -> f64 {
    let (high, low) = reduce(clamp(x, -40.0, 710.0)).quarter_less_one();
    select(x.abs() < 1e-17, x, 4.0 * (high + low))
}

#[inline(always)]
pub(super) fn sinh(x: f64) -> f64 {
    // With m = e^|x| − 1, sinh |x| = (m + m / (1 + m)) / 2; the quotient is 1 to all bits long before m overflows.
    let (high, low) = reduce(clamp(x.abs(), 0.0, 710.6)).quarter_less_one();
    let (high, low) = ordered_sum(high, low);
    let bound = clamp(high, 0.0, 1e30);
    let (d, d_low) = sum(4.0 * bound, 1.0);
    let (q, q_low) = quotient((bound, low), (d, d_low + 4.0 * low));
    let (y, y_low) = ordered_sum(high, q);
    let y = 2.0 * (y + (y_low + (low + q_low)));
    select(x.abs() < 1e-9, x, y.copysign(x))
}

#[inline(always)]
pub(super) fn cosh(x: f64) -> f64 {
    let e = reduce(clamp(x.abs(), 0.0, 710.6));
    let quarter = power_of_two(e.n - 2.0);
    let (high, low) = e.significand();
    let (high, low) = ordered_sum(quarter * high, quarter * low);
    2.0 * (high + (low + 0.0625 / high))
}

#[inline(always)]
pub(super) fn tanh(x: f64) -> f64 {
    // With m = e^(−2|x|) − 1, tanh |x| = −m / (m + 2). Of the argument's reduction nothing is lost where n is 0, and elsewhere m
    // is not small; hence no sums of twice the precision.
    let x2 = -2.0 * clamp(x.abs(), 0.0, 22.0);
    let n = nearest_product(x2, std::f64::consts::LOG2_E);
    let r = fma(-n, LN_2.1, fma(-n, LN_2.0, x2));
    let power = power_of_two(n);
    let m = fma(power, fma(r * r, quadratic(r), r), power - 1.0);
    (m / (m + 2.0)).copysign(x)
}

#[inline(always)]
pub(super) fn sigmoid(x: f64) -> f64 {
    // 1 / (1 + e) or e / (1 + e) with e = e^-|x|, which cannot overflow.
    let e = reduce(clamp(-x.abs(), LEAST, 0.0));
    let (high, low) = e.significand();
    let (high, low) = ordered_sum(high, low);
    let twice = 2.0 * half_power(e.n);
    let (high, low) = (high * twice, low * twice);
    let (d, d_low) = ordered_sum(1.0, high);
    let negative = x < 0.0;
    let (q, q_low) = quotient((select(negative, high, 1.0), select(negative, low, 0.0)), (d, d_low + low));
    q + q_low
}

#[inline(always)]
pub(super) fn softplus(x: f64) -> f64 {
    select(x > 0.0, x, 0.0) + ln_1p(exp(-x.abs()))
}
