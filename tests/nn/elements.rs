//! Functions of each element, and losses.

use ndarray::{Array1, Array2, ArrayRef1, Axis, Ix1, Ix2, ShapeBuilder, array};
use pullback::testing::check_rule;
use pullback::{differentiable, nn};

pub(crate) fn grid(n: usize, m: usize, start: f64) -> Array2<f64> {
    Array2::from_shape_fn((n, m), |(i, j)| start + 2.5 * (0.7 * i as f64 + 0.31 * j as f64 + 0.3).sin())
}

/// Between 0 and 1.
fn shares(n: usize, m: usize) -> Array2<f64> {
    grid(n, m, 0.0).mapv(|x| 0.5 + 0.19 * x)
}

pub(crate) fn by_columns(x: Array2<f64>) -> Array2<f64> {
    let mut turned = Array2::zeros(x.raw_dim().f());
    turned.assign(&x);
    turned
}

macro_rules! of_each_element {
    ($($name:ident($($k:literal)?))*) => {$(
        check_rule(
            nn::$name::<f64, Ix2, Ix2>::rule,
            [
                (grid(3, 5, 0.1), grid(3, 5, 0.4), $($k)?),
                (by_columns(grid(2, 70, 0.1)), grid(2, 70, 0.2), $($k)?),
                (grid(7, 3, 0.1), by_columns(grid(7, 3, -0.4)), $($k)?),
                (grid(4, 3, 0.1), grid(1, 3, 0.4), $($k)?),
                (grid(0, 4, 0.1), grid(0, 4, 0.4), $($k)?),
            ],
        );
        check_rule(
            nn::$name::<f32, Ix2, Ix2>::rule,
            [(grid(3, 5, 0.1).mapv(|x| x as f32), grid(3, 5, 0.4).mapv(|x| x as f32), $($k as f32)?)],
        );
    )*};
}

#[test]
fn activations() {
    of_each_element! {
        relu() leaky_relu(0.3) elu(1.3) selu() gelu() silu() mish() softplus() softsign() hard_sigmoid() hard_swish()
    }
}

#[test]
fn gates() {
    check_rule(
        nn::glu::<f64, Ix2, Ix2, Ix1>::rule,
        [(grid(3, 5, 0.1), grid(3, 5, 0.4), grid(1, 5, 0.2).row(0).to_owned())],
    );
    check_rule(
        nn::swiglu::<f64, Ix2, Ix2, Ix2>::rule,
        [
            (grid(3, 5, 0.1), grid(3, 5, 0.4), grid(3, 5, -0.2)),
            (grid(2, 40, 0.1), grid(2, 1, 0.4), by_columns(grid(2, 40, -0.2))),
        ],
    );
}

macro_rules! losses {
    ($($name:ident($($k:literal)?) of $first:expr;)*) => {$(
        check_rule(
            nn::$name::<f64, Ix2, Ix2>::rule,
            [
                ($first(3, 5), shares(3, 5), $($k)?),
                (by_columns($first(2, 70)), shares(2, 70), $($k)?),
                ($first(4, 3), shares(1, 3), $($k)?),
            ],
        );
        check_rule(
            nn::$name::<f32, Ix2, Ix2>::rule,
            [($first(3, 5).mapv(|x| x as f32), shares(3, 5).mapv(|x| x as f32), $($k as f32)?)],
        );
    )*};
}

#[test]
fn losses() {
    let logits = |n, m| grid(n, m, 0.4);
    let probabilities = |n, m| shares(n, m).mapv(|x| 1.0 - 0.9 * x);
    losses! {
        mean_squared_error() of logits;
        mean_absolute_error() of logits;
        huber(0.7) of logits;
        smooth_l1(0.7) of logits;
        binary_cross_entropy() of probabilities;
        binary_cross_entropy_with_logits() of logits;
    }
    for axis in [Axis(0), Axis(1)] {
        let y = |n, m| if axis == Axis(0) { grid(1, m, 0.3) } else { grid(n, 1, 0.3) };
        check_rule(
            nn::kl_divergence::<f64, Ix2, Ix2, Ix2>::rule,
            [
                (y(3, 5), logits(3, 5), shares(3, 5), axis),
                (y(2, 70), by_columns(logits(2, 70)), shares(2, 70), axis),
            ],
        );
    }
}

#[differentiable]
fn all_softplus(x: &Array1<f64>) -> f64 {
    let mut y = Array1::<f64>::zeros(x.len());
    nn::softplus(&mut y, x);
    y.sum()
}

#[differentiable]
fn all_mish(x: &Array1<f64>) -> f64 {
    let mut y = Array1::<f64>::zeros(x.len());
    nn::mish(&mut y, x);
    y.sum()
}

#[differentiable]
fn all_gelu(x: &Array1<f64>) -> f64 {
    let mut y = Array1::<f64>::zeros(x.len());
    nn::gelu(&mut y, x);
    y.sum()
}

#[differentiable]
fn all_relu(x: &Array1<f64>) -> f64 {
    let mut y = Array1::<f64>::zeros(x.len());
    nn::relu(&mut y, x);
    y.sum()
}

#[differentiable]
fn all_elu(x: &Array1<f64>) -> f64 {
    let mut y = Array1::<f64>::zeros(x.len());
    nn::elu(&mut y, x, 1.0);
    y.sum()
}

#[differentiable]
fn logits(x: &ArrayRef1<f64>, #[constant] t: &Array1<f64>) -> f64 {
    nn::binary_cross_entropy_with_logits(x, t)
}

#[differentiable]
fn divergence(l: &Array2<f64>, p: &Array2<f64>) -> f64 {
    let mut y = Array2::<f64>::zeros((l.nrows(), 1));
    nn::kl_divergence(&mut y, l, p, Axis(1));
    y.sum()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-14 * (a.abs() + b.abs()) + 1e-300
}

/// Where formulas of the first kind overflow, or lose all digits.
#[test]
fn far_and_near() {
    for x in [1e-8_f64, 44.0, 90.0, 200.0, 1000.0].into_iter().flat_map(|x| [x, -x]) {
        let sigmoid = if x < 0.0 { x.exp() / (1.0 + x.exp()) } else { 1.0 / (1.0 + (-x).exp()) };
        let softplus = x.max(0.0) + (-x.abs()).exp().ln_1p();
        let mut g = all_softplus::gradient();
        let (value, d) = g.value_and_gradient(&array![x]);
        assert!(close(value, softplus) && close(d.x[0], sigmoid), "softplus at {x}: {value}, {}", d.x[0]);
        let t = softplus.tanh();
        let mut g = all_mish::gradient();
        let (value, d) = g.value_and_gradient(&array![x]);
        let slope = t + x * (1.0 - t) * (1.0 + t) * sigmoid;
        assert!(close(value, x * t) && (d.x[0] - slope).abs() < 1e-14, "mish at {x}: {value}, {}", d.x[0]);
        let mut g = all_gelu::gradient();
        let (value, d) = g.value_and_gradient(&array![x]);
        assert!(
            value.is_finite()
                && d.x[0].is_finite()
                && (x.abs() < 1.0 || close(value, x.max(0.0)) || value.abs() < 1e-300)
        );
        let mut g = all_elu::gradient();
        let (value, d) = g.value_and_gradient(&array![x]);
        let expected = if x > 0.0 { (x, 1.0) } else { (x.exp_m1(), x.exp()) };
        assert!(
            close(value, expected.0) && (d.x[0] - expected.1).abs() < 1e-15,
            "elu at {x}: {value}, {}",
            d.x[0]
        );
        for t in [0.0, 1.0] {
            let mut g = logits::gradient();
            let (value, d) = g.value_and_gradient(&array![x], &array![t]);
            let expected = if t == 0.0 { softplus } else { (-x).max(0.0) + (-x.abs()).exp().ln_1p() };
            assert!(
                (value - expected).abs() <= 1e-14 * expected.max(1e-2),
                "at {x}, {t}: {value}, not {expected}"
            );
            assert!((d.x[0] - (sigmoid - t)).abs() < 1e-15);
        }
    }
}

/// What is defined where a formula has a kink, or no value.
#[test]
fn kinks() {
    let mut g = divergence::gradient();
    let (value, d) = g.value_and_gradient(&array![[-1.0, -2.0]], &array![[0.0, 1.0]]);
    assert_eq!((value, d.l, d.p), (2.0, &array![[0.0, -1.0]], &array![[0.0, 3.0]]));
    let mut g = all_relu::gradient();
    assert_eq!(g.value_and_gradient(&array![0.0, -1.0, 2.0]).1.x, &array![0.0, 0.0, 1.0]);
    let mut y = array![7.0, 7.0, 7.0];
    nn::relu(&mut y, &array![f64::NAN, 0.0, -0.0]);
    assert!(y[0].is_nan() && y[1] == 0.0 && y[2] == 0.0);
}
