//! Where a naive formula overflows, cancels or divides by zero.

use pullback::prelude::*;
use pullback::special;

macro_rules! slope {
    ($($name:ident: $f:ident;)*) => {$(
        fn $name(x: f64) -> (f64, f64, f64) {
            #[differentiable(dual)]
            fn f(x: f64) -> f64 {
                special::$f(x)
            }
            let mut g = f::hessian();
            let (value, d, second) = g.value_gradient_and_hessian(x);
            (value, d.x, second[[0, 0]])
        }
    )*};
}
slope! { sigmoid: sigmoid; softplus: softplus; log_sigmoid: log_sigmoid; log1mexp: log1mexp; }

#[track_caller]
fn assert_close(found: (f64, f64, f64), expected: (f64, f64, f64)) {
    for (found, expected) in [(found.0, expected.0), (found.1, expected.1), (found.2, expected.2)] {
        assert!((found - expected).abs() <= 4e-15 * expected.abs(), "{found:e}, not {expected:e}");
    }
}

/// The second derivative changes its sign there: it is as exact as numbers of the size of the first one are.
#[track_caller]
fn assert_close_at_zero(found: (f64, f64, f64), expected: (f64, f64, f64)) {
    assert_close((found.0, found.1, 0.0), (expected.0, expected.1, 0.0));
    assert!((found.2 - expected.2).abs() <= 1e-16, "{:e}, not {:e}", found.2, expected.2);
}

/// *e⁻ˣ* stands for the functions that differ from their limits by it.
#[test]
fn stable_forms_keep_their_digits() {
    for x in [44.0_f64, 90.0, 200.0] {
        let e = (-x).exp();
        assert_close(sigmoid(x), (1.0, e, -e));
        assert_close(sigmoid(-x), (e, e, e));
        assert_close(softplus(x), (x, 1.0, e));
        assert_close(softplus(-x), (e, e, e));
        assert_close(log_sigmoid(x), (-e, e, -e));
        assert_close(log_sigmoid(-x), (-x, 1.0, -e));
        assert_close(log1mexp(-x), (-e, -e, -e));
    }
    for x in [1e-8, -1e-8] {
        assert_close_at_zero(sigmoid(x), (0.5 + 0.25 * x, 0.25, -x / 8.0));
        assert_close(softplus(x), (std::f64::consts::LN_2 + 0.5 * x, 0.5 + 0.25 * x, 0.25));
        assert_close(log_sigmoid(x), (-std::f64::consts::LN_2 + 0.5 * x, 0.5 - 0.25 * x, -0.25));
    }
    // ln(1 − e⁻ʰ) = ln h − h/2 + …, whose derivatives are those with respect to −h.
    let h = 1e-8_f64;
    assert_close(log1mexp(-h), (h.ln() - 0.5 * h, -1.0 / h + 0.5, -1.0 / (h * h)));
    assert_eq!(log1mexp(0.0).1, f64::NEG_INFINITY);
    assert_eq!(log1mexp(-1e4), (0.0, 0.0, 0.0));
}

#[differentiable]
fn term(x: f64, y: f64) -> f64 {
    special::xlogy(x, y)
}

#[test]
fn nothing_times_its_logarithm() {
    let mut g = term::gradient();
    let (value, d) = g.value_and_gradient(0.0, 0.0);
    assert_eq!((value, d.x, d.y), (0.0, f64::NEG_INFINITY, 0.0));
    let (value, d) = g.value_and_gradient(0.0, 3.0);
    assert_eq!((value, d.x, d.y), (0.0, 3.0_f64.ln(), 0.0));
    assert!(special::xlogy(0.0, f64::NAN).is_nan());
}

#[differentiable]
fn total(x: &[f64]) -> f64 {
    special::log_sum_exp(x)
}

#[test]
fn sums_with_infinite_terms() {
    let (low, high) = (f64::NEG_INFINITY, f64::INFINITY);
    let mut g = total::gradient();
    let mut at = |x: &[f64]| {
        let (value, d) = g.value_and_gradient(x);
        (value, d.x.to_vec())
    };
    assert_eq!(at(&[]), (low, vec![]));
    assert_eq!(at(&[low]), (low, vec![1.0]));
    assert_eq!(at(&[2.0, low]), (2.0, vec![1.0, 0.0]));
    assert_eq!(at(&[2.0, high]), (high, vec![0.0, 1.0]));
    assert_eq!(at(&[-1e308, 1e308]), (1e308, vec![0.0, 1.0]));
    assert!(at(&[f64::NAN, 1.0]).0.is_nan() && at(&[1.0, f64::NAN]).0.is_nan() && at(&[f64::NAN]).0.is_nan());
}

#[test]
fn poles_and_bounds() {
    let (low, high) = (f64::NEG_INFINITY, f64::INFINITY);
    assert_eq!((special::norm_quantile(0.0), special::norm_quantile(1.0)), (low, high));
    let undefined = |x: f64| assert!(x.is_nan(), "{x}");
    [-0.1, 1.1, f64::NAN].into_iter().map(special::norm_quantile).for_each(undefined);
    assert_eq!((special::norm_cdf(low), special::norm_cdf(high)), (0.0, 1.0));
    assert_eq!((special::digamma(0.0), special::digamma(-0.0)), (low, high));
    [-3.0, low, f64::NAN].into_iter().map(special::digamma).for_each(undefined);
    assert_eq!((special::digamma(high), special::trigamma(high)), (high, 0.0));
    assert_eq!((special::trigamma(0.0), special::trigamma(-2.0)), (high, high));
    [special::polygamma(2, -1.0), special::polygamma(171, 1.0)].into_iter().for_each(undefined);
    assert_eq!((special::ln_gamma(0.0), special::ln_gamma(-4.0)), (high, high));
    [special::gamma(-4.0), special::beta(-1.0, 2.0), special::ln_beta(1.0, -2.0)]
        .into_iter()
        .for_each(undefined);
    assert_eq!((special::beta(0.0, 2.0), special::ln_beta(0.0, 2.0)), (high, high));
    assert_eq!((special::beta(3.0, high), special::ln_beta(3.0, high)), (0.0, low));
    assert_eq!((special::y0(0.0), special::i0(0.0), special::i_n(3, 0.0)), (low, 1.0, 0.0));
    assert_eq!((special::i0(1000.0), special::i0_scaled(high)), (high, 0.0));
}
