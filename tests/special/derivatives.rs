//! Each function, against differences of its values and of its gradients.

use pullback::prelude::*;
use pullback::testing::{check_rule, check_second_order};
use pullback::{Float, special};

/// For each function its parameters, those that are constant in brackets, and where it is looked at.
macro_rules! functions {
    ($($f:ident($([$n:ident: $N:ty],)? $($x:ident),+): $inputs:expr;)*) => {$(
        mod $f {
            use super::*;

            #[differentiable(dual)]
            fn double($($n: $N,)? $($x: f64),+) -> f64 {
                special::$f($($n,)? $($x),+)
            }

            #[differentiable]
            fn single($($n: $N,)? $($x: f32),+) -> f32 {
                special::$f($($n,)? $($x),+)
            }

            #[test]
            fn in_double_precision() {
                // Optimised, it takes long to compile for so many functions.
                #[cfg(debug_assertions)]
                check_second_order(double::rule, $inputs);
                check_rule(double::rule, $inputs);
            }

            #[test]
            fn in_single_precision() {
                let narrow = |($($n,)? $($x,)+): ($($N,)? $(functions!(@f64 $x),)+)| ($($n,)? $($x as f32,)+);
                check_rule(single::rule, $inputs.map(narrow));
            }
        }
    )*};
    (@f64 $x:ident) => { f64 };
}

functions! {
    erf(x): [(0.3,), (-1.5,), (0.0,), (2.5,)];
    erfc(x): [(0.3,), (-1.5,), (0.0,), (3.5,)];
    norm_pdf(x): [(0.3,), (-1.5,), (0.0,), (2.5,)];
    norm_cdf(x): [(0.3,), (-1.5,), (0.0,), (-3.5,)];
    norm_quantile(p): [(0.3,), (0.45,), (0.5,), (0.9,), (0.05,)];
    gamma(x): [(0.3,), (1.0,), (4.5,), (-1.4,)];
    ln_gamma(x): [(0.3,), (1.0,), (4.5,), (30.0,), (-1.4,)];
    digamma(x): [(0.3,), (1.0,), (4.5,), (30.0,), (-1.4,)];
    trigamma(x): [(0.6,), (1.0,), (4.5,), (30.0,), (-1.4,)];
    polygamma([n: u32], x): [(0, 0.8), (1, 1.5), (3, 2.5), (2, -1.4)];
    beta(a, b): [(0.5, 0.7), (2.0, 3.5), (8.0, 12.0)];
    ln_beta(a, b): [(0.5, 0.7), (2.0, 3.5), (8.0, 12.0), (30.0, 40.0)];
    j0(x): [(0.3,), (0.0,), (5.5,), (-2.0,)];
    j1(x): [(0.3,), (0.0,), (5.5,), (-2.0,)];
    jn([n: i32], x): [(0, 0.7), (1, -1.2), (3, 2.5), (-2, 4.0), (5, 0.0)];
    y0(x): [(0.9,), (5.5,)];
    y1(x): [(0.9,), (5.5,)];
    yn([n: i32], x): [(0, 0.9), (2, 4.5), (3, 7.0)];
    i0(x): [(0.3,), (0.0,), (5.5,), (-2.0,)];
    i1(x): [(0.3,), (0.0,), (5.5,), (-2.0,)];
    i_n([n: i32], x): [(0, 0.7), (1, -1.2), (3, 2.5), (-2, 4.0), (2, 0.0)];
    i0_scaled(x): [(0.3,), (5.5,), (-2.0,), (40.0,)];
    i1_scaled(x): [(0.3,), (5.5,), (-2.0,), (40.0,)];
    i_n_scaled([n: i32], x): [(0, 0.7), (1, -1.2), (3, 2.5), (-2, 4.0)];
    sigmoid(x): [(0.3,), (-4.0,), (0.0,), (1e-8,)];
    softplus(x): [(0.3,), (-4.0,), (0.0,), (1e-8,)];
    log_sigmoid(x): [(0.3,), (-4.0,), (0.0,), (1e-8,)];
    log1mexp(x): [(-0.4,), (-4.0,), (-0.7,)];
    xlogy(x, y): [(0.3, 0.5), (-2.0, 4.0), (0.0, 2.0)];
}

#[differentiable(dual)]
fn log_sum_exp(x: &[f64]) -> f64 {
    special::log_sum_exp(x)
}

#[differentiable]
fn log_sum_exp_of_singles(x: &[f32]) -> f32 {
    special::log_sum_exp(x)
}

#[test]
fn logarithms_of_sums() {
    let inputs =
        [vec![0.5], vec![1.0, -2.0, 0.5], vec![900.0, 900.5, 899.0, 0.0], vec![1.0; 3]].map(|x| (x,));
    check_second_order(log_sum_exp::rule, inputs.clone());
    check_rule(log_sum_exp::rule, inputs);
    check_rule(log_sum_exp_of_singles::rule, [(vec![1.0, -2.0, 0.5],), (vec![],)]);
    check_rule(special::log_sum_exp::<f64>::rule, [(vec![1.0, -2.0],), (vec![],)]);
}

/// In a loop, with constants beside variables, and of several outputs, whose Jacobian goes by rows.
#[differentiable(dual)]
fn moments(x: &[f64], order: i32) -> [f64; 2] {
    let mut total = 0.0;
    let mut product = 1.0;
    for i in 0..x.len() {
        total += special::beta(2.0, x[i]) * special::xlogy(0.5, x[i]);
        product *= special::jn(order, x[i]) + special::norm_cdf(total);
    }
    [total, product]
}

#[test]
fn in_loops() {
    let x = |n: usize| (0..n).map(|i| 0.5 + 0.25 * i as f64).collect::<Vec<_>>();
    pullback::testing::check_pushforward(moments::rule, [(x(20), 2), (x(3), 0), (vec![], 1)]);
    check_rule(moments::rule, [(x(5), 2), (x(3), 0), (vec![], 1)]);
}

/// Generic code calls them, too.
#[differentiable(dual)]
fn entropy<T: Float>(p: &[T]) -> T {
    let mut total = T::zero();
    for i in 0..p.len() {
        total -= special::xlogy(p[i], p[i]) + special::digamma(p[i]);
    }
    total
}

#[test]
fn in_generic_functions() {
    check_second_order(entropy::<f64>::rule, [(vec![0.25, 0.5],), (vec![2.0],)]);
    check_rule(entropy::<f32>::rule, [(vec![0.25, 0.5],), (vec![2.0],)]);
}

/// A rule in one line of a generic function, which dual numbers have as well.
fn logit<T: Float>(p: T, scale: T) -> T {
    (p / (T::one() - p)).ln() * scale
}
scalar_rule!(fn logit<T: Float>(p: T, scale: T) -> T => scale / (p * (T::one() - p)), (p / (T::one() - p)).ln());

#[differentiable(dual)]
fn odds(p: f64, q: f64) -> f64 {
    logit(p, 2.0) * logit(q, p)
}

#[test]
fn rules_in_one_line_of_generic_functions() {
    check_rule(logit::<f32>::rule, [(0.25, 2.0), (0.5, -1.0)]);
    check_rule(logit::<f64>::rule, [(0.25, 2.0), (0.5, -1.0)]);
    check_second_order(odds::rule, [(0.25, 0.125), (0.5, 0.75)]);
}
