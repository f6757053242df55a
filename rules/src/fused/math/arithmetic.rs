//! What the functions are made of: selection, scaling by powers of two, exact products and quotients, polynomials.

/// Adding this leaves the nearest integer, ties to even, in the low bits of the sum; valid for magnitudes below 2⁵¹.
pub(super) const SHIFTER: f64 = 6755399441055744.0; // 1.5 · 2⁵²

const SIGNIFICAND: u64 = (1 << 52) - 1;

/// `a` if the condition holds, else `b`; both have been computed, so that this is a blend and not a branch.
#[inline(always)]
pub(super) fn select<T>(condition: bool, a: T, b: T) -> T {
    if condition { a } else { b }
}

/// `a` where the mask is all ones, `b` where it is all zeros.
#[inline(always)]
pub(super) fn blend(mask: u64, a: f64, b: f64) -> f64 {
    f64::from_bits((a.to_bits() & mask) | (b.to_bits() & !mask))
}

/// Unlike `f64::clamp`, it is not a call in any build, and it cannot panic. NaN stays.
#[inline(always)]
pub(super) fn clamp(x: f64, low: f64, high: f64) -> f64 {
    let x = select(x < low, low, x);
    select(x > high, high, x)
}

/// The nearest integer, ties to even, of a number below 2⁵¹.
#[inline(always)]
pub(super) fn nearest(x: f64) -> f64 {
    (x + SHIFTER) - SHIFTER
}

/// The integer nearest to the product of two numbers, which is below 2⁵¹.
#[inline(always)]
pub(super) fn nearest_product(a: f64, b: f64) -> f64 {
    fma(a, b, SHIFTER) - SHIFTER
}

/// `2ⁿ` for an integer `n` in −1022 ..= 1023; 0 for −1023.
#[inline(always)]
pub(super) fn power_of_two(n: f64) -> f64 {
    // The biased exponent is in the low bits of the sum; what is above it is shifted out.
    f64::from_bits((n + (SHIFTER + 1023.0)).to_bits() << 52)
}

/// `x · 2ⁿ` for an integer `n` in −2044 ..= 2046: overflows to infinity and rounds to a subnormal number once.
#[inline(always)]
pub(super) fn scale(x: f64, n: f64) -> f64 {
    let half = nearest_product(0.5, n);
    x * power_of_two(half) * power_of_two(n - half)
}

/// `a + b` and its rounding error.
#[inline(always)]
pub(super) fn sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    let v = s - a;
    (s, (a - (s - v)) + (b - v))
}

/// `a + b` and its rounding error, for `a` = 0 or |a| ≥ |b|.
#[inline(always)]
pub(super) fn ordered_sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    (s, (a - s) + b)
}

/// `a · b + c`, rounded once.
#[inline(always)]
pub(super) fn fma(a: f64, b: f64, c: f64) -> f64 {
    a.mul_add(b, c)
}

/// `a · b` and its rounding error.
#[inline(always)]
pub(super) fn product(a: f64, b: f64) -> (f64, f64) {
    let p = a * b;
    (p, fma(a, b, -p))
}

/// The quotient of two sums, as a sum, to about 2⁻¹⁰⁰.
#[inline(always)]
pub(super) fn quotient(numerator: (f64, f64), denominator: (f64, f64)) -> (f64, f64) {
    let inverse = 1.0 / denominator.0;
    let q = numerator.0 * inverse;
    let rest = fma(-q, denominator.0, numerator.0) + fma(-q, denominator.1, numerator.1);
    (q, rest * inverse)
}

/// `x = m · 2ᵉ` with √½ ≤ m < √2, for a positive, normal, finite number: `(e, m)`.
#[inline(always)]
pub(super) fn decompose_normal(x: f64) -> (f64, f64) {
    const SQRT_HALF: u64 = std::f64::consts::FRAC_1_SQRT_2.to_bits();
    const TWO_52: f64 = 4503599627370496.0;
    let bits = x.to_bits().wrapping_add(1f64.to_bits() - SQRT_HALF);
    // The exponent as an integer above 2⁵² is a number whose low bits it is.
    let e = f64::from_bits((bits >> 52) | TWO_52.to_bits()) - (TWO_52 + 1023.0);
    (e, f64::from_bits((bits & SIGNIFICAND) + SQRT_HALF))
}

/// [`decompose_normal`] for subnormal numbers too.
#[inline(always)]
pub(super) fn decompose(x: f64) -> (f64, f64) {
    let small = x < f64::MIN_POSITIVE;
    let (e, m) = decompose_normal(x * select(small, 18014398509481984.0 /* 2⁵⁴ */, 1.0));
    (e - select(small, 54.0, 0.0), m)
}

/// A polynomial, coefficients in ascending order, as a balanced tree (G. Estrin, 1960): short chains of operations.
macro_rules! polynomial {
    (@pairs $x:ident; [$($done:expr),*]; $a:expr, $b:expr, $($rest:expr),+) => {
        polynomial!(@pairs $x; [$($done,)* fma($b, $x, $a)]; $($rest),+)
    };
    (@pairs $x:ident; [$($done:expr),*]; $a:expr, $b:expr) => {
        polynomial!($x * $x; $($done,)* fma($b, $x, $a))
    };
    (@pairs $x:ident; [$($done:expr),*]; $a:expr) => {
        polynomial!($x * $x; $($done,)* $a)
    };
    ($x:expr; $c:expr) => { $c };
    ($x:expr; $($c:expr),+ $(,)?) => {{
        let x = $x;
        polynomial!(@pairs x; []; $($c),+)
    }};
}
pub(super) use polynomial;
