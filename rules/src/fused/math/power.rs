//! Powers and roots.

use super::arithmetic::*;
use super::exponential::{bounded, reduce};
use super::logarithm::ln_sum;

/// Whether a number, infinities included, is an integer.
#[inline(always)]
fn is_integer(x: f64) -> bool {
    const TWO_52: f64 = 4503599627370496.0;
    let a = x.abs();
    (a >= TWO_52) | ((a + TWO_52) - TWO_52 == a)
}

#[inline(always)]
pub(super) fn powf(x: f64, y: f64) -> f64 {
    let a = x.abs();
    let (ln, ln_low) = ln_sum(a);
    // What is further out is 0 or infinite, as no logarithm but 0 is below 2⁻⁵³.
    let bound = clamp(y, -1e20, 1e20);
    let (p, p_low) = product(bound, ln);
    let p_low = p_low + bound * ln_low;
    let within = bounded(p);
    let power = reduce(within).moved(select(within == p, p_low, 0.0)).value();

    let extreme = (a == 0.0) | (a == f64::INFINITY);
    let power = select(extreme, select((a == 0.0) ^ (y < 0.0), 0.0, f64::INFINITY), power);
    let integer = is_integer(y);
    let odd = integer & !is_integer(0.5 * y);
    let power = select(odd & x.is_sign_negative(), -power, power);
    let power = select((x < 0.0) & (a != f64::INFINITY) & !integer, f64::NAN, power);
    let power = select(x.is_nan() | y.is_nan(), f64::NAN, power);
    select((y == 0.0) | (x == 1.0), 1.0, power)
}

/// Squares and multiplies, all 32 bits of the exponent: what `powi` of std does, less the branches.
macro_rules! powi {
    ($name:ident, $float:ty) => {
        #[inline(always)]
        pub(super) fn $name(x: $float, n: i32) -> $float {
            let mut exponent = n.unsigned_abs();
            let mut square = x;
            let mut power = 1.0;
            for _ in 0..32 {
                power *= select(exponent & 1 == 1, square, 1.0);
                exponent >>= 1;
                square *= square;
            }
            select(n < 0, 1.0 / power, power)
        }
    };
}
powi!(powi, f64);
powi!(powi_f32, f32);

#[inline(always)]
pub(super) fn cbrt(x: f64) -> f64 {
    let a = x.abs();
    let (e, m) = decompose(a);
    let k = nearest(e * (1.0 / 3.0));
    let m = m * power_of_two(e - 3.0 * k);
    // m^(-⅓): degree 5 on 2^-1.51 to 2^1.51, error 2⁻⁷·⁶; then y ← y (1 − h)^(-⅓) with h = 1 − m y³, to h³ and to h.
    let y = polynomial!(m;
        1.9788492056852935, -2.2115554836365443, 2.017562779233549, -1.0253801555427515, 0.26482795309116725,
        -0.027095584537427594);
    let h = 1.0 - m * (y * y * y);
    let y = y + y * h * (1.0 / 3.0 + h * (2.0 / 9.0 + h * (14.0 / 81.0)));
    let h = 1.0 - m * (y * y * y);
    let y = y + y * h * (1.0 / 3.0);
    // The root is m y², up to the residual m − t³.
    let square = y * y;
    let t = m * square;
    let (t2, t2_low) = product(t, t);
    let (t3, t3_low) = product(t2, t);
    let residual = (m - t3) - (t3_low + t2_low * t);
    let root = (t + residual * (square * (1.0 / 3.0))) * power_of_two(k);
    select((a > 0.0) & (a < f64::INFINITY), root.copysign(x), x)
}

#[inline(always)]
pub(super) fn hypot(x: f64, y: f64) -> f64 {
    let (x, y) = (x.abs(), y.abs());
    let (a, b) = (select(x > y, x, y), select(x > y, y, x));
    // Neither square overflows, nor does that of the larger one underflow.
    let (large, small) = (a > POWER_500, a < 1.0 / POWER_500);
    let factor = select(large, 1.0 / POWER_600, select(small, POWER_600, 1.0));
    let inverse = select(large, POWER_600, select(small, 1.0 / POWER_600, 1.0));
    let (a, b) = (a * factor, b * factor);
    let (p, p_low) = product(a, a);
    let (s, s_low) = ordered_sum(p, b * b);
    let h = (s + (s_low + p_low)).sqrt() * inverse;
    select((x == f64::INFINITY) | (y == f64::INFINITY), f64::INFINITY, h)
}

const POWER_500: f64 = f64::from_bits((1023 + 500) << 52);
const POWER_600: f64 = f64::from_bits((1023 + 600) << 52);
