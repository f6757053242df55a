//! The frequent functions of `f32`, by shorter polynomials in `f64`: arguments and results are those of `f32`, so that there are
//! no subnormal numbers, 2⁻³⁰ is error enough, and none of the rounding matters.

use std::f64::consts::{FRAC_2_PI, LN_2, LOG2_E, LOG10_2, LOG10_E};

use super::arithmetic::*;
use super::logarithm::with_special_values;
use super::trigonometric::{blend_odd, if_near, turned};

/// `eˣ = 2ⁿ (1 + q)`: `2ⁿ` and `q`.
#[inline(always)]
fn reduce(x: f64) -> (f64, f64) {
    let n = nearest(x * LOG2_E);
    let r = x - n * LN_2;
    // (eʳ − 1 − r) / r²: degree 5 on |r| ≤ ½ ln 2, error 2⁻³² of eʳ.
    let p = polynomial!(r;
        0.5000000013457804, 0.16666666681614342, 0.041666465005270034, 0.008333310934363356,
        0.0013933641117472883, 0.00019890980964683147);
    (power_of_two(n), r + r * r * p)
}

/// −126 ln 2: below it the exponential is not a normal number of `f32`, and 0 as [that of `f64`](super::exponential) is.
const LEAST: f64 = -126.0 * LN_2;

#[inline(always)]
pub(super) fn exp(x: f64) -> f64 {
    let (power, q) = reduce(clamp(x, -110.0, 100.0));
    select(x < LEAST, 0.0, power + power * q)
}

#[inline(always)]
pub(super) fn exp2(x: f64) -> f64 {
    let x = clamp(x, -160.0, 140.0);
    let n = nearest(x);
    let r = x - n;
    // (2ʳ − 1 − r ln 2) / r²: degree 5 on |r| ≤ ½, error 2⁻³² of 2ʳ.
    let p = polynomial!(r;
        0.24022650760568204, 0.0555041087146008, 0.009618082557240575, 0.0013333522307580339,
        0.0001545316296500353, 1.5290948565225283e-5);
    let power = power_of_two(n);
    power + power * (r * LN_2 + r * r * p)
}

#[inline(always)]
pub(super) fn exp_m1(x: f64) -> f64 {
    let (power, q) = reduce(clamp(x, -40.0, 100.0));
    select(x == 0.0, x, (power - 1.0) + power * q)
}

#[inline(always)]
pub(super) fn sinh(x: f64) -> f64 {
    let m = exp_m1(x.abs());
    (0.5 * (m + m / (1.0 + m))).copysign(x)
}

#[inline(always)]
pub(super) fn cosh(x: f64) -> f64 {
    let e = exp(x.abs());
    0.5 * (e + 1.0 / e)
}

#[inline(always)]
pub(super) fn tanh(x: f64) -> f64 {
    let m = exp_m1(2.0 * x.abs());
    (m / (m + 2.0)).copysign(x)
}

#[inline(always)]
pub(super) fn sigmoid(x: f64) -> f64 {
    let e = exp(-x.abs());
    select(x < 0.0, e, 1.0) / (1.0 + e)
}

#[inline(always)]
pub(super) fn softplus(x: f64) -> f64 {
    select(x > 0.0, x, 0.0) + ln_1p(exp(-x.abs()))
}

/// `ln(1 + f)` for √½ ≤ 1 + f < √2.
#[inline(always)]
fn ln_of_significand(f: f64) -> f64 {
    let s = f / (2.0 + f);
    let z = s * s;
    // (2 artanh s / s − 2) / s²: degree 3 on |s| ≤ 0.1716, error 2⁻³⁵ of 2 artanh s.
    let p = polynomial!(z; 0.6666666655449666, 0.4000012184016053, 0.28550820775753505, 0.233304683103737);
    s * (2.0 + z * p)
}

#[inline(always)]
pub(super) fn ln(x: f64) -> f64 {
    let (e, m) = decompose_normal(x);
    with_special_values(x, e * LN_2 + ln_of_significand(m - 1.0))
}

#[inline(always)]
pub(super) fn ln_1p(x: f64) -> f64 {
    let u = 1.0 + x;
    let (e, m) = decompose_normal(u);
    let y = e * LN_2 + ln_of_significand(select(e == 0.0, x, m - 1.0));
    select(x == 0.0, x, with_special_values(u, y))
}

#[inline(always)]
pub(super) fn log2(x: f64) -> f64 {
    let (e, m) = decompose_normal(x);
    with_special_values(x, e + ln_of_significand(m - 1.0) * LOG2_E)
}

#[inline(always)]
pub(super) fn log10(x: f64) -> f64 {
    let (e, m) = decompose_normal(x);
    with_special_values(x, e * LOG10_2 + ln_of_significand(m - 1.0) * LOG10_E)
}

/// `x = n π/2 + r`: `n` in the low bits, `sin r` and `cos r`.
#[inline(always)]
fn sine_cosine(x: f64) -> (u64, f64, f64) {
    /// π/2, of which the first part has 33 bits: its product with `n` is exact.
    const HALF_PI: (f64, f64) = (1.5707963267341256, 6.077100506506192e-11);
    let shifted = x * FRAC_2_PI + SHIFTER;
    let n = shifted - SHIFTER;
    let r = (x - n * HALF_PI.0) - n * HALF_PI.1;
    let z = r * r;
    // (sin r / r − 1) / r² and (cos r − 1 + r²/2) / r⁴: degree 3 on |r| ≤ π/4, errors 2⁻³⁵ and 2⁻³⁹ of sine and cosine.
    let p = polynomial!(z;
        -0.16666666663855248, 0.00833333187469356, -0.00019840086726390552, 2.724992463681284e-6);
    let q = polynomial!(z;
        0.041666666664321166, -0.0013888887672002894, 2.480060036965003e-5, -2.730095823051661e-7);
    (shifted.to_bits(), r * (1.0 + z * p), (1.0 - 0.5 * z) + z * z * q)
}

#[inline(always)]
pub(super) fn sin_cos(x: f64) -> (f64, f64) {
    let (n, sine, cosine) = sine_cosine(x);
    let (sin, cos) = turned(n, sine, cosine);
    (if_near(x, sin), if_near(x, cos))
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
    let (n, sine, cosine) = sine_cosine(x);
    if_near(x, blend_odd(n, -cosine, sine) / blend_odd(n, sine, cosine))
}
