//! Sine, cosine and tangent, for arguments up to [`NEAR`].
//!
//! `x = n π/2 + r` with |r| ≤ π/4 (W. J. Cody and W. Waite, 1980): π/2 in three parts of 33 bits, whose products with `n` < 2²⁰
//! are exact, and a rest. `r` is a sum of two numbers, right to 2⁻⁵⁷ of itself however close `x` is to a multiple.

use super::arithmetic::*;

/// The largest magnitude that is reduced: 2²⁰ π/2, rounded down.
pub(super) const NEAR: f64 = 1647099.0;

const HALF_PI: [f64; 4] =
    [1.5707963267341256, 6.077100506303966e-11, 2.0222662487111665e-21, 8.4784276603689e-32];

/// `n` in the low bits, and `r`.
#[inline(always)]
fn reduce(x: f64) -> (u64, f64, f64) {
    let shifted = fma(x, std::f64::consts::FRAC_2_PI, SHIFTER);
    let n = shifted - SHIFTER;
    let a = fma(-n, HALF_PI[0], x);
    let (b, b_low) = ordered_sum(a, -(n * HALF_PI[1]));
    let (c, c_low) = ordered_sum(b, -(n * HALF_PI[2]));
    let (r, r_low) = ordered_sum(c, fma(-n, HALF_PI[3], b_low + c_low));
    (shifted.to_bits(), r, r_low)
}

/// `sin (r + low) − r`.
#[inline(always)]
fn sine_tail(r: f64, low: f64) -> f64 {
    let z = r * r;
    // (sin r / r − 1) / r²: degree 6 on |r| ≤ π/4, error 2⁻⁵⁷ of sin r.
    let p = polynomial!(z;
        -0.16666666666666666, 0.008333333333333331, -0.00019841269841265065, 2.7557319219339095e-6,
        -2.5052106232422984e-8, 1.6058531615088156e-10, -7.586696887928201e-13);
    fma(low, fma(-0.5, z, 1.0), r * z * p)
}

/// `cos (r + low)` as a sum.
#[inline(always)]
fn cosine(r: f64, low: f64) -> (f64, f64) {
    let z = r * r;
    // (cos r − 1 + r²/2) / r⁴: degree 5 on |r| ≤ π/4, error 2⁻⁵⁹ of cos r.
    let p = polynomial!(z;
        0.041666666666666664, -0.0013888888888887398, 2.4801587298765645e-5, -2.7557317271707495e-7,
        2.0876146263755416e-9, -1.1382632090665673e-11);
    let (high, rest) = ordered_sum(1.0, -0.5 * z);
    (high, rest + fma(z * z, p, -(r * low)))
}

/// `a` if `n` is odd, else `b`.
#[inline(always)]
pub(super) fn blend_odd(n: u64, a: f64, b: f64) -> f64 {
    blend(0u64.wrapping_sub(n & 1), a, b)
}

/// `-x` if the second bit of `n` is set, else `x`.
#[inline(always)]
fn negated_by(n: u64, x: f64) -> f64 {
    f64::from_bits(x.to_bits() ^ ((n & 2) << 62))
}

/// Sine and cosine of an angle to which `n` right angles are added.
#[inline(always)]
pub(super) fn turned(n: u64, sine: f64, cosine: f64) -> (f64, f64) {
    let sin = negated_by(n, blend_odd(n, cosine, sine));
    let cos = negated_by(n.wrapping_add(1), blend_odd(n, sine, cosine));
    (sin, cos)
}

/// NaN beyond [`NEAR`].
#[inline(always)]
pub(super) fn if_near(x: f64, y: f64) -> f64 {
    select(x.abs() <= NEAR, y, f64::NAN)
}

#[inline(always)]
pub(super) fn sin_cos(x: f64) -> (f64, f64) {
    let (n, r, low) = reduce(x);
    let (high, rest) = cosine(r, low);
    let (sin, cos) = turned(n, r + sine_tail(r, low), high + rest);
    (select(x.abs() < 1e-9, x, if_near(x, sin)), if_near(x, cos))
}

#[inline(always)]
pub(super) fn sin(x: f64) -> f64 {
    sin_cos(x).0
}

#[inline(always)]
pub(super) fn cos(x: f64) -> f64 {
    sin_cos(x).1
}

#[inline(always)]
pub(super) fn tan(x: f64) -> f64 {
    let (n, r, low) = reduce(x);
    let (sine, sine_low) = ordered_sum(r, sine_tail(r, low));
    let (high, rest) = cosine(r, low);
    let (cosine, cosine_low) = ordered_sum(high, rest);
    // sin / cos, or −cos / sin a right angle on.
    let (q, q_low) = quotient(
        (blend_odd(n, -cosine, sine), blend_odd(n, -cosine_low, sine_low)),
        (blend_odd(n, sine, cosine), blend_odd(n, sine_low, cosine_low)),
    );
    select(x.abs() < 1e-9, x, if_near(x, q + q_low))
}
