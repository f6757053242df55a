//! Logarithms, and the inverse hyperbolic functions made of them.
//!
//! `x = m · 2ᵉ` with √½ ≤ m < √2; with `f = m − 1` and `s = f / (2 + f)`, `ln m = 2 artanh s = f − f²/2 + s (f²/2 + s² P(s²))`.

use super::arithmetic::*;
use super::exponential::LN_2;

/// `ln m − f + f²/2`, and `f²/2`, for `f = m − 1`.
#[inline(always)]
fn beyond_quadratic(f: f64, s: f64) -> (f64, f64) {
    let z = s * s;
    // (2 artanh s / s − 2) / s²: degree 6 on |s| ≤ 0.1716, error 2⁻⁵⁷ of 2 artanh s.
    let p = polynomial!(z;
        0.666666666666667, 0.39999999999899505, 0.2857142862597575, 0.22222211134751835, 0.18182889128412458,
        0.15331721495826012, 0.1461645097955211);
    let square = 0.5 * f * f;
    (s * (square + z * p), square)
}

/// The logarithms at 0, below 0, at infinity and of NaN.
#[inline(always)]
pub(super) fn with_special_values(x: f64, y: f64) -> f64 {
    let y = select(x < f64::INFINITY, y, x);
    let y = select(x == 0.0, f64::NEG_INFINITY, y);
    select(x < 0.0, f64::NAN, y)
}

#[inline(always)]
pub(super) fn ln(x: f64) -> f64 {
    let (e, m) = decompose(x);
    let f = m - 1.0;
    let (rest, square) = beyond_quadratic(f, f / (2.0 + f));
    let (high, low) = ordered_sum(e * LN_2.0, f);
    with_special_values(x, high + (low - (square - (rest + e * LN_2.1))))
}

#[inline(always)]
pub(super) fn ln_1p(x: f64) -> f64 {
    let (u, error) = sum(1.0, x);
    let (e, m) = decompose_normal(u);
    // Near zero x itself is exact; elsewhere the error of 1 + x enters to first order, 1 / m = (1 − s) / (1 + s).
    let near = e == 0.0;
    let f = select(near, x, m - 1.0);
    let s = f / (2.0 + f);
    let (rest, square) = beyond_quadratic(f, s);
    let error = error * select(near | (e > 100.0), 0.0, power_of_two(-e));
    let error = error * (1.0 - 2.0 * s * (1.0 - s * (1.0 - s)));
    let (high, low) = ordered_sum(e * LN_2.0, f);
    let y = high + (low - (square - (rest + (e * LN_2.1 + error))));
    select(x.abs() < 1e-17, x, with_special_values(u, y))
}

/// `x` = 2ᵉ m, and `ln m` divided by the natural logarithm of a base, as a sum.
#[inline(always)]
fn in_base(x: f64, inverse: (f64, f64)) -> (f64, f64, f64) {
    let (e, m) = decompose(x);
    let f = m - 1.0;
    let (rest, square) = beyond_quadratic(f, f / (2.0 + f));
    let (high, low) = ordered_sum(f, -square);
    let (high, low) = ordered_sum(high, low + rest);
    let (p, p_low) = product(high, inverse.0);
    (e, p, p_low + (high * inverse.1 + low * inverse.0))
}

#[inline(always)]
pub(super) fn log2(x: f64) -> f64 {
    let (e, p, p_low) = in_base(x, (std::f64::consts::LOG2_E, 2.0355273740931033e-17));
    let (high, low) = ordered_sum(e, p);
    with_special_values(x, high + (low + p_low))
}

#[inline(always)]
pub(super) fn log10(x: f64) -> f64 {
    /// As [`LN_2`].
    const LOG10_2: (f64, f64) = (0.30102999566395283, 2.8363394551044964e-14);
    let (e, p, p_low) = in_base(x, (std::f64::consts::LOG10_E, 1.098319650216765e-17));
    let (high, low) = ordered_sum(e * LOG10_2.0, p);
    with_special_values(x, high + (low + (e * LOG10_2.1 + p_low)))
}

/// The logarithm of a positive finite number as a sum, to 2⁻⁶⁵.
#[inline(always)]
pub(super) fn ln_sum(x: f64) -> (f64, f64) {
    /// ⅔ as a sum.
    const TWO_THIRDS: (f64, f64) = (0.6666666666666666, 3.700743415417188e-17);
    let (e, m) = decompose(x);
    let f = m - 1.0;
    let (s, s_low) = quotient((f, 0.0), ordered_sum(2.0, f));
    let (z, z_low) = product(s, s);
    let z_low = z_low + 2.0 * s * s_low;
    // (2 artanh s / s − 2 − ⅔ s²) / s⁴: degree 7 on |s| ≤ 0.1716, error 2⁻⁶⁶ of 2 artanh s. Of the terms before, ⅔ s³ is
    // computed in twice the precision, too.
    let p = z
        * polynomial!(z;
        0.4, 0.28571428571429364, 0.2222222222165623, 0.1818181833531515, 0.1538459497081558, 0.13334804242570036,
        0.11706248424566981, 0.11723052244938056);
    let (c, c_low) = ordered_sum(TWO_THIRDS.0, p);
    let (t, t_low) = product(z, c);
    let t_low = t_low + (z * (c_low + TWO_THIRDS.1) + z_low * c);
    let (u, u_low) = product(s, t);
    let u_low = u_low + (s * t_low + s_low * t);
    let (a, a_low) = ordered_sum(2.0 * s, u);
    let (b, b_low) = ordered_sum(e * LN_2.0, a);
    ordered_sum(b, b_low + ((a_low + (2.0 * s_low + u_low)) + e * LN_2.1))
}

#[inline(always)]
pub(super) fn asinh(x: f64) -> f64 {
    let a = x.abs();
    // Beyond, 1 + a is a, and a² need not be.
    let large = a > 1e18;
    let square = a * a;
    let t = select(large, a, a + square / (1.0 + (square + 1.0).sqrt()));
    let y = ln_1p(t) + select(large, std::f64::consts::LN_2, 0.0);
    y.copysign(x)
}

#[inline(always)]
pub(super) fn acosh(x: f64) -> f64 {
    let large = x > 1e18;
    let t = x - 1.0;
    let t = select(large, x, t + (2.0 * t + t * t).sqrt());
    let y = ln_1p(t) + select(large, std::f64::consts::LN_2, 0.0);
    select(x < 1.0, f64::NAN, y)
}

#[inline(always)]
pub(super) fn atanh(x: f64) -> f64 {
    let a = x.abs();
    (0.5 * ln_1p(2.0 * a / (1.0 - a))).copysign(x)
}
