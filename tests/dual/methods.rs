//! The numeric methods of floats on dual numbers: their rules are written once, for all modes and both orders.

use pullback::prelude::*;
use pullback::testing::{check_pushforward, check_second_order};

/// Methods whose domain is all numbers.
#[differentiable(dual)]
fn anywhere(x: f64, y: f64, which: usize) -> f64 {
    match which {
        0 => x.exp(),
        1 => x.exp2(),
        2 => x.exp_m1(),
        3 => x.sin(),
        4 => x.cos(),
        5 => x.tan(),
        6 => x.atan(),
        7 => x.atan2(y),
        8 => x.sinh(),
        9 => x.cosh(),
        10 => x.tanh(),
        11 => x.asinh(),
        12 => x.hypot(y),
        13 => x.cbrt(),
        14 => x.recip(),
        15 => x.powi(3) * y.powi(-2) + x.powi(1) * y.powi(0),
        16 => x.to_degrees() * y.to_radians(),
        17 => x.mul_add(y, 2.0) * y.mul_add(3.0, x),
        18 => x.abs() * y.abs(),
        19 => x.max(y) * x.min(0.5 * y),
        20 => x.clamp(-1.0, 1.0) * y,
        21 => x.copysign(y) * x + x.midpoint(y) * y.next_up(),
        22 => (x.fract() + x.rem_euclid(y) + x % y) * x * y,
        23 => {
            (x.signum()
                + x.floor()
                + y.ceil()
                + x.round()
                + y.trunc()
                + x.round_ties_even()
                + x.div_euclid(y))
                * x
                * y
        }
        _ => {
            let (sine, cosine) = x.sin_cos();
            sine * cosine * y
        }
    }
}

/// Methods of positive numbers.
#[differentiable(dual)]
fn positive(x: f64, y: f64, which: usize) -> f64 {
    match which {
        0 => x.sqrt(),
        1 => x.ln(),
        2 => x.ln_1p(),
        3 => x.log2(),
        4 => x.log10(),
        5 => x.log(y + 1.5),
        6 => x.powf(y),
        7 => x.powf(-0.5) + x.powf(0.0) * x.powf(1.0),
        8 => (2.0_f64).powf(x * y),
        _ => (x * 0.2).asin() + (x * 0.2).acos() * (x * 0.2).atanh() + (2.0 + x).acosh(),
    }
}

fn inputs<const N: usize>(
    points: [(f64, f64); N],
    methods: usize,
) -> impl Iterator<Item = (f64, f64, usize)> + Clone {
    points.into_iter().flat_map(move |(x, y)| (0..methods).map(move |which| (x, y, which)))
}

#[test]
fn agree_with_differences() {
    let everywhere = inputs([(0.3, 0.7), (-1.2, 0.8), (2.3, -0.4), (-0.6, -1.7)], 25);
    check_pushforward(anywhere::rule, everywhere.clone());
    check_second_order(anywhere::rule, everywhere);
    let above_zero = inputs([(0.3, 0.7), (1.2, 2.5), (4.3, 0.25), (0.8, -0.25)], 10);
    check_pushforward(positive::rule, above_zero.clone());
    check_second_order(positive::rule, above_zero);
}

/// A power has second derivatives where the exponent is zero, though its first one with respect to the base is zero.
#[test]
fn exponents_of_zero() {
    let mut g = positive::hessian();
    for x in [0.5, 2.0] {
        let (value, d, h) = g.value_gradient_and_hessian(x, 0.0, 6);
        let ln = f64::ln(x);
        assert_eq!((value, d.x, d.y), (1.0, 0.0, ln));
        assert_eq!(h, ndarray::array![[0.0, 1.0 / x], [1.0 / x, ln * ln]]);
        let (_, _, product) = g.value_gradient_and_hvp(x, 0.0, 6, 1.0, 2.0);
        assert_eq!((product.x, product.y), (2.0 / x, 1.0 / x + 2.0 * ln * ln));
    }
}
