//! The functions of the crate `argmin_testfunctions`, whose gradients and Hessians are worked out by hand there, written as anybody
//! would write them.

use std::f64::consts::PI;

use argmin_testfunctions as reference;
use proptest::prelude::*;
use pullback::prelude::*;

#[differentiable(dual)]
fn ackley(x: &[f64]) -> f64 {
    let n = x.len() as f64;
    let mut squares = 0.0;
    let mut cosines = 0.0;
    for i in 0..x.len() {
        squares += x[i] * x[i];
        cosines += (2.0 * PI * x[i]).cos();
    }
    -20.0 * (-0.2 * (squares / n).sqrt()).exp() - (cosines / n).exp() + 20.0 + 1.0_f64.exp()
}

#[differentiable(dual)]
fn ackley_abc(x: &[f64], #[constant] a: f64, #[constant] b: f64, #[constant] c: f64) -> f64 {
    let n = x.len() as f64;
    let squares: f64 = x.iter().map(|x| x.powi(2)).sum();
    let cosines: f64 = x.iter().map(|x| (c * x).cos()).sum();
    a * (1.0 - (-b * (squares / n).sqrt()).exp()) - (cosines / n).exp() + 1.0_f64.exp()
}

#[differentiable(dual)]
fn beale(x: &[f64; 2]) -> f64 {
    let [x, y] = *x;
    let mut total = 0.0;
    for (k, c) in [1.5, 2.25, 2.625].into_iter().enumerate() {
        total += (c - x + x * y.powi(k as i32 + 1)).powi(2);
    }
    total
}

#[differentiable(dual)]
fn booth(x: &[f64; 2]) -> f64 {
    (x[0] + 2.0 * x[1] - 7.0).powi(2) + (2.0 * x[0] + x[1] - 5.0).powi(2)
}

#[differentiable(dual)]
fn bukin_n6(x: &[f64; 2]) -> f64 {
    let above = x[1] - 0.01 * x[0] * x[0];
    100.0 * above.abs().sqrt() + 0.01 * (x[0] + 10.0).abs()
}

#[differentiable(dual)]
fn cross_in_tray(x: &[f64; 2]) -> f64 {
    let radius = x[0].hypot(x[1]);
    let wave = x[0].sin() * x[1].sin() * (100.0 - radius / PI).abs().exp();
    -1e-4 * (wave.abs() + 1.0).powf(0.1)
}

#[differentiable(dual)]
fn easom(x: &[f64; 2]) -> f64 {
    let (dx, dy) = (x[0] - PI, x[1] - PI);
    -x[0].cos() * x[1].cos() * (-dx * dx - dy * dy).exp()
}

#[differentiable(dual)]
fn eggholder(x: &[f64; 2]) -> f64 {
    let &[x, y] = x;
    let y = y + 47.0;
    -y * (y + 0.5 * x).abs().sqrt().sin() - x * (x - y).abs().sqrt().sin()
}

#[differentiable(dual)]
fn goldsteinprice(x: &[f64; 2]) -> f64 {
    let (x, y) = (x[0], x[1]);
    let a = (x + y + 1.0).powi(2) * (19.0 - 14.0 * (x + y) + 3.0 * (x * x + y * y) + 6.0 * x * y);
    let b = (2.0 * x - 3.0 * y).powi(2)
        * (18.0 - 32.0 * x + 12.0 * x * x + 48.0 * y - 36.0 * x * y + 27.0 * y * y);
    (1.0 + a) * (30.0 + b)
}

#[differentiable(dual)]
fn himmelblau(x: &[f64; 2]) -> f64 {
    (x[0] * x[0] + x[1] - 11.0).powi(2) + (x[0] + x[1] * x[1] - 7.0).powi(2)
}

#[differentiable(dual)]
fn holder_table(x: &[f64; 2]) -> f64 {
    let from_circle = f64::abs(1.0 - x[0].hypot(x[1]) / PI);
    -f64::abs(x[0].sin() * x[1].cos() * from_circle.exp())
}

#[differentiable(dual)]
fn scaled(x: f64) -> f64 {
    1.0 + (x - 1.0) / 4.0
}

#[differentiable(dual)]
fn levy(x: &[f64]) -> f64 {
    let last = x.len() - 1;
    let mut total = (PI * scaled(x[0])).sin().powi(2);
    for i in 1..last {
        let w = scaled(x[i]);
        total += (w - 1.0).powi(2) * (1.0 + 10.0 * (PI * w + 1.0).sin().powi(2));
    }
    let w = scaled(x[last]);
    total + (w - 1.0).powi(2) * (1.0 + (2.0 * PI * w).sin().powi(2))
}

#[differentiable(dual)]
fn levy_n13(x: &[f64; 2]) -> f64 {
    let (x, y) = (x[0], x[1]);
    let wave = |k: f64, x: f64| (k * PI * x).sin().powi(2);
    wave(3.0, x) + (x - 1.0).powi(2) * (1.0 + wave(3.0, y)) + (y - 1.0).powi(2) * (1.0 + wave(2.0, y))
}

#[differentiable(dual)]
fn matyas(x: &[f64; 2]) -> f64 {
    0.26 * (x[0].powi(2) + x[1].powi(2)) - 0.48 * x[0] * x[1]
}

#[differentiable(dual)]
fn mccormick(x: &[f64; 2]) -> f64 {
    let [a, b] = *x;
    (a + b).sin() + (a - b).powi(2) - 1.5 * a + 2.5 * b + 1.0
}

#[differentiable(dual)]
fn picheny(x: &[f64; 2]) -> f64 {
    let stretched = [4.0 * x[0] - 2.0, 4.0 * x[1] - 2.0];
    (goldsteinprice(&stretched).log10() - 8.693) / 2.427
}

#[differentiable(dual)]
fn rastrigin(x: &[f64]) -> f64 {
    let mut total = 10.0 * x.len() as f64;
    for v in x {
        total += v.powi(2) - 10.0 * (2.0 * PI * v).cos();
    }
    total
}

#[differentiable(dual)]
fn rastrigin_a(x: &[f64], #[constant] a: f64) -> f64 {
    a * x.len() as f64 + x.iter().map(|&x| x * x - a * (2.0 * PI * x).cos()).sum::<f64>()
}

#[differentiable(dual)]
fn rosenbrock(x: &[f64]) -> f64 {
    rosenbrock_ab(x, 1.0, 100.0)
}

#[differentiable(dual)]
fn rosenbrock_ab(x: &[f64], #[constant] a: f64, #[constant] b: f64) -> f64 {
    x.windows(2).map(|pair| (a - pair[0]).powi(2) + b * (pair[1] - pair[0].powi(2)).powi(2)).sum()
}

#[differentiable(dual)]
fn damping(x: &[f64; 2]) -> f64 {
    (1.0 + 0.001 * (x[0] * x[0] + x[1] * x[1])).powi(2)
}

#[differentiable(dual)]
fn schaffer_n2(x: &[f64; 2]) -> f64 {
    0.5 + ((x[0].powi(2) - x[1].powi(2)).sin().powi(2) - 0.5) / damping(x)
}

#[differentiable(dual)]
fn schaffer_n4(x: &[f64; 2]) -> f64 {
    let difference = (x[0].powi(2) - x[1].powi(2)).abs();
    0.5 + (difference.sin().cos().powi(2) - 0.5) / damping(x)
}

#[differentiable(dual)]
fn sphere(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum()
}

#[differentiable(dual)]
fn styblinski_tang(x: &[f64]) -> f64 {
    let mut total = 0.0;
    let mut i = 0;
    while i < x.len() {
        total += x[i].powi(4) - 16.0 * x[i].powi(2) + 5.0 * x[i];
        i += 1;
    }
    total / 2.0
}

#[differentiable(dual)]
fn threehumpcamel(x: &[f64; 2]) -> f64 {
    let square = x[0] * x[0];
    square * (2.0 + square * (-1.05 + square / 6.0)) + x[0] * x[1] + x[1] * x[1]
}

#[differentiable(dual)]
fn zero(x: &[f64]) -> f64 {
    0.0 * x.len() as f64
}

/// To within 1e-10, relative to the larger one or to one.
fn close(what: &str, at: &[f64], expected: f64, got: f64) {
    let allowed = 1e-10 * expected.abs().max(got.abs()).max(1.0);
    assert!((expected - got).abs() <= allowed, "{what} at {at:?}: expected {expected:?}, got {got:?}");
}

/// Checks value, gradient, Hessian, and the product of that with a direction.
macro_rules! compare {
    ($f:ident($x:expr $(, $constant:expr)*), $derivative:ident, $hessian:expr) => {{
        let x = $x;
        let direction = std::array::from_fn::<f64, 8, _>(|i| (1.3 * i as f64 + 0.4).sin() + 0.2);
        let direction = direction[..x.len()].try_into().expect("as long as the argument");
        let mut g = super::$f::hessian();
        let gradient = reference::$derivative(&x $(, $constant)*);
        let second = $hessian;

        let (value, d, hessian) = g.value_gradient_and_hessian(&x $(, $constant)*);
        close(concat!("`", stringify!($f), "`"), &x, reference::$f(&x $(, $constant)*), value);
        assert_eq!(value, super::$f(&x $(, $constant)*));
        for i in 0..x.len() {
            close(concat!("gradient of `", stringify!($f), "`"), &x, gradient[i], d.x[i]);
            for j in 0..x.len() {
                close(concat!("Hessian of `", stringify!($f), "`"), &x, second[i][j], hessian[[i, j]]);
            }
        }

        let (value, d, product) = g.value_gradient_and_hvp(&x $(, $constant)*, direction);
        assert_eq!(value, super::$f(&x $(, $constant)*));
        for i in 0..x.len() {
            let expected = (0..x.len()).map(|j| second[i][j] * direction[j]).sum();
            close(concat!("gradient of `", stringify!($f), "`"), &x, gradient[i], d.x[i]);
            close(concat!("product with the Hessian of `", stringify!($f), "`"), &x, expected, product.x[i]);
        }
    }};
}

/// A test of each function of two numbers: at given points, and at any in a range that are not `near` a kink.
macro_rules! of_two {
    ($($f:ident, $derivative:ident, $hessian:ident, $range:expr, $points:expr $(, near $near:expr)?;)*) => {$(
        #[test]
        fn $f() {
            for x in $points {
                compare!($f(x), $derivative, reference::$hessian(&x));
            }
            proptest!(|(x in [$range, $range])| {
                $(
                    let near: fn([f64; 2]) -> bool = $near;
                    prop_assume!(!near(x));
                )?
                compare!($f(x), $derivative, reference::$hessian(&x));
            });
        }
    )*};
}

/// The same of each function of any number of numbers, and of constants.
macro_rules! of_many {
    ($($f:ident($($constant:expr),*), $derivative:ident, $hessian:expr, $range:expr;)*) => {$(
        #[test]
        fn $f() {
            let hessian: fn(&[f64]) -> Vec<Vec<f64>> = $hessian;
            for x in [vec![0.5, -0.25], vec![1.0, 1.0, 1.0], vec![0.3, -1.2, 2.1, 0.7, -0.4]] {
                compare!($f(x.as_slice() $(, $constant)*), $derivative, hessian(&x));
            }
            proptest!(|(x in prop::collection::vec($range, 2..7))| {
                compare!($f(x.as_slice() $(, $constant)*), $derivative, hessian(&x));
            });
        }
    )*};
}

mod agree {
    use super::*;

    of_two! {
        beale, beale_derivative, beale_hessian, -3.0..3.0, [[3.0, 0.5], [1.0, -1.0]];
        booth, booth_derivative, booth_hessian, -10.0..10.0, [[1.0, 3.0], [0.0, 0.0]];
        bukin_n6, bukin_n6_derivative, bukin_n6_hessian, -5.0..5.0, [[-12.0, 2.0], [1.0, 3.0]],
            near |[x, y]| (y - 0.01 * x * x).abs() < 0.1;
        cross_in_tray, cross_in_tray_derivative, cross_in_tray_hessian, -9.0..9.0, [[1.3, 1.3], [-2.0, 4.0]],
            near |[x, y]| (x.sin() * y.sin()).abs() < 0.1;
        easom, easom_derivative, easom_hessian, 0.0..6.0, [[PI, PI], [2.0, 4.0]];
        eggholder, eggholder_derivative, eggholder_hessian, -500.0..500.0, [[500.0, 404.0], [-10.0, 20.0]],
            near |[x, y]| (y + 47.0 + 0.5 * x).abs() < 1.0 || (x - y - 47.0).abs() < 1.0;
        goldsteinprice, goldsteinprice_derivative, goldsteinprice_hessian, -2.0..2.0, [[0.0, -1.0], [0.5, 0.25]];
        himmelblau, himmelblau_derivative, himmelblau_hessian, -5.0..5.0, [[3.0, 2.0], [0.5, -1.0]];
        holder_table, holder_table_derivative, holder_table_hessian, -10.0..10.0, [[8.05, 9.66], [-1.0, 0.5]],
            near |[x, y]| (x.sin() * y.cos()).abs() < 0.1 || (x.hypot(y) - PI).abs() < 0.1;
        levy_n13, levy_n13_derivative, levy_n13_hessian, -10.0..10.0, [[1.0, 1.0], [0.3, -0.2]];
        matyas, matyas_derivative, matyas_hessian, -10.0..10.0, [[0.0, 0.0], [1.0, 2.0]];
        mccormick, mccormick_derivative, mccormick_hessian, -3.0..4.0, [[-0.547, -1.547], [1.0, 2.0]];
        schaffer_n2, schaffer_n2_derivative, schaffer_n2_hessian, -10.0..10.0, [[0.0, 0.0], [1.0, 2.0]];
        schaffer_n4, schaffer_n4_derivative, schaffer_n4_hessian, -10.0..10.0, [[0.0, 1.25], [1.0, 2.0]],
            near |[x, y]| (x * x - y * y).abs() < 0.1;
        threehumpcamel, threehumpcamel_derivative, threehumpcamel_hessian, -5.0..5.0, [[0.0, 0.0], [1.0, -0.5]];
    }

    /// The crate writes its Hessian as a difference of large terms, which loses digits: here it follows from that of Goldstein and Price's
    /// function *g* at *4x − 2*. With *q = g′/g*, it is *16/(2.427·ln 10)·(g″/g − q·qᵀ)*.
    #[test]
    fn picheny() {
        let hessian = |x: &[f64; 2]| {
            let stretched = x.map(|x| 4.0 * x - 2.0);
            let value = reference::goldsteinprice(&stretched);
            let q = reference::goldsteinprice_derivative(&stretched).map(|d| d / value);
            let second = reference::goldsteinprice_hessian(&stretched);
            let scale = 16.0 / (2.427 * std::f64::consts::LN_10);
            [0, 1].map(|i| [0, 1].map(|j| scale * (second[i][j] / value - q[i] * q[j])))
        };
        for x in [[0.5, 0.25], [0.3, 0.75]] {
            compare!(picheny(x), picheny_derivative, reference::picheny_hessian(&x));
            compare!(picheny(x), picheny_derivative, hessian(&x));
        }
        proptest!(|(x in [0.05..0.95, 0.05..0.95])| {
            compare!(picheny(x), picheny_derivative, hessian(&x));
        });
    }

    of_many! {
        ackley(), ackley_derivative, |x| reference::ackley_hessian(x), 0.1..5.0;
        ackley_abc(10.0, 0.3, 1.7), ackley_abc_derivative, |x| reference::ackley_abc_hessian(x, 10.0, 0.3, 1.7), 0.1..5.0;
        levy(), levy_derivative, |x| reference::levy_hessian(x), -10.0..10.0;
        rastrigin(), rastrigin_derivative, |x| reference::rastrigin_hessian(x), -5.0..5.0;
        rastrigin_a(3.0), rastrigin_a_derivative, |x| reference::rastrigin_a_hessian(x, 3.0), -5.0..5.0;
        rosenbrock(), rosenbrock_derivative, |x| reference::rosenbrock_hessian(x), -2.0..2.0;
        // The crate takes the second derivative of (a - x)² for 2a.
        rosenbrock_ab(0.5, 7.0), rosenbrock_ab_derivative, |x| {
            let mut hessian = reference::rosenbrock_ab_hessian(x, 0.5, 7.0);
            (0..x.len() - 1).for_each(|i| hessian[i][i] += 2.0 - 2.0 * 0.5);
            hessian
        }, -2.0..2.0;
        sphere(), sphere_derivative, |x| reference::sphere_hessian(x), -5.0..5.0;
        styblinski_tang(), styblinski_tang_derivative, |x| reference::styblinski_tang_hessian(x), -5.0..5.0;
        zero(), zero_derivative, |x| reference::zero_hessian(x), -5.0..5.0;
    }
}
