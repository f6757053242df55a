//! Arc tangent, arc sine and arc cosine.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

use super::arithmetic::*;

/// π/4, π/2, π and 3π/4 beyond their nearest numbers.
const FRAC_PI_4_LOW: f64 = 3.061616997868383e-17;
const FRAC_PI_2_LOW: f64 = 6.123233995736766e-17;
const PI_LOW: f64 = 1.2246467991473532e-16;
const THREE_FRAC_PI_4: (f64, f64) = (2.356194490192345, 9.184850993605148e-17);

/// `atan(y / x)` in 0 ..= π/2, or π less that, for nonnegative finite `y` and `x` whose sum is finite and not 0.
#[inline(always)]
fn angle(y: f64, x: f64, supplement: bool) -> f64 {
    // tan(a − π/4) = (tan a − 1) / (tan a + 1) and tan(a − π/2) = −1 / tan a bring the tangent below tan π/8.
    const TAN_PI_8: f64 = std::f64::consts::SQRT_2 - 1.0;
    let low = y <= TAN_PI_8 * x;
    let high = x <= TAN_PI_8 * y;
    let (d, d_low) = sum(y, -x);
    let (s, s_low) = sum(y, x);
    let numerator = (select(low, y, select(high, -x, d)), select(low | high, 0.0, d_low));
    let denominator = (select(low, x, select(high, y, s)), select(low | high, 0.0, s_low));
    let (t, t_low) = quotient(numerator, denominator);
    let z = t * t;
    // (atan t / t − 1) / t²: degree 10 on |t| ≤ tan π/8, error 2⁻⁵⁷ of atan t.
    let p = polynomial!(z;
        -0.3333333333333333, 0.1999999999999552, -0.14285714284666534, 0.11111111015255701, -0.0909090457809704,
        0.07692183190202043, -0.06664511438591643, 0.05858148836440617, -0.050854493383409805, 0.03923164675132557,
        -0.019176872981101354);
    let tail = t_low + t * z * p;
    let base = select(low, select(supplement, PI, 0.0), FRAC_PI_2);
    let base_low = select(low, select(supplement, PI_LOW, 0.0), FRAC_PI_2_LOW);
    let middle = !(low | high);
    let base = select(middle, select(supplement, THREE_FRAC_PI_4.0, FRAC_PI_4), base);
    let base_low = select(middle, select(supplement, THREE_FRAC_PI_4.1, FRAC_PI_4_LOW), base_low);
    let (t, tail) = (select(supplement, -t, t), select(supplement, -tail, tail));
    let (a, a_low) = ordered_sum(base, t);
    a + (a_low + (base_low + tail))
}

#[inline(always)]
pub(super) fn atan(x: f64) -> f64 {
    // Beyond 2⁵⁴ it is π/2.
    let a = clamp(x.abs(), 0.0, 18014398509481984.0);
    select(a < 1e-9, x, angle(a, 1.0, false).copysign(x))
}

#[inline(always)]
pub(super) fn atan2(y: f64, x: f64) -> f64 {
    let (b, a) = (y.abs(), x.abs());
    let larger = select(a < b, b, a);
    // Of infinities only which of the two is infinite matters, and of two zeros the sign of x.
    let infinite = larger == f64::INFINITY;
    let unit = |v: f64| select(v == f64::INFINITY, 1.0, 0.0);
    // So that no product of the quotient's underflows.
    let factor = select(larger < POWER_490, POWER_530, select(larger > POWER_1000, 1.0 / POWER_530, 1.0));
    let (b, a) = (select(infinite, unit(b), b * factor), select(infinite, unit(a), a * factor));
    let a = select(larger == 0.0, 1.0, a);
    let nan = y.is_nan() | x.is_nan();
    select(nan, f64::NAN, angle(b, a, x.is_sign_negative()).copysign(y))
}

const POWER_490: f64 = f64::from_bits((1023 + 490) << 52);
const POWER_530: f64 = f64::from_bits((1023 + 530) << 52);
const POWER_1000: f64 = f64::from_bits((1023 + 1000) << 52);

/// With `z = x²`, or `(1 − |x|) / 2` where |x| > ½: `asin √z` as a sum `(s, tail)`.
#[inline(always)]
fn arc_sine(x: f64) -> (f64, f64) {
    let a = x.abs();
    let large = a > 0.5;
    let z = select(large, 0.5 - 0.5 * a, a * a);
    let root = z.sqrt();
    let s = select(large, root, a);
    // The square root's error, to first order.
    let (square, error) = product(root, root);
    let s_low = select(large & (z > 0.0), ((z - square) - error) / (2.0 * root), 0.0);
    // (asin s / s − 1) / s²: degree 12 on |s| ≤ ½, error 2⁻⁵⁷ of asin s.
    let p = polynomial!(z;
        0.16666666666666669, 0.07499999999998433, 0.04464285714635543, 0.030381944138531243, 0.022372172942150027,
        0.01735239272086659, 0.013971212973604836, 0.01147917741466241, 0.010322814353683204, 0.00545750670322257,
        0.017400879485683144, -0.014851887139942722, 0.028757851415344905);
    (s, s_low + s * z * p)
}

#[inline(always)]
pub(super) fn asin(x: f64) -> f64 {
    let (s, tail) = arc_sine(x);
    let (high, low) = ordered_sum(FRAC_PI_2, -2.0 * s);
    let large = high + (low + (FRAC_PI_2_LOW - 2.0 * tail));
    select(x.abs() < 1e-9, x, select(x.abs() > 0.5, large, s + tail).copysign(x))
}

#[inline(always)]
pub(super) fn acos(x: f64) -> f64 {
    let (s, tail) = arc_sine(x);
    let large = x.abs() > 0.5;
    let negative = x < 0.0;
    // π/2 − asin x, or twice the arc sine for x > ½, or π less that for x < −½.
    let base = select(large, select(negative, PI, 0.0), FRAC_PI_2);
    let base_low = select(large, select(negative, PI_LOW, 0.0), FRAC_PI_2_LOW);
    let factor = select(large, 2.0, 1.0) * select(large ^ negative, 1.0, -1.0);
    let (high, low) = ordered_sum(base, factor * s);
    high + (low + (base_low + factor * tail))
}
