//! Functions of networks that are fused, on dual numbers, and a whole network.

use ndarray::{Array1, Array2, Axis, ShapeBuilder, s};
use pullback::fused;
use pullback::nn::{self, generic};
use pullback::prelude::*;
use pullback::testing::{CheckRule, allocations_in, check_second_order};

use super::linear_algebra::some_number;
use crate::random::Random;

#[differentiable(dual)]
fn rectified(y: &mut Array2<f64>, x: &Array2<f64>, slope: f64, alpha: f64) -> f64 {
    nn::relu(y, x);
    let mut total = some_number(&*y);
    nn::leaky_relu(y, x, slope);
    total += 0.5 * some_number(&*y);
    nn::elu(y, x, alpha);
    total += 0.25 * some_number(&*y);
    nn::selu(y, x);
    total += 0.75 * some_number(&*y);
    nn::hard_sigmoid(y, x);
    total += 1.5 * some_number(&*y);
    nn::hard_swish(y, x);
    total + 1.25 * some_number(&*y)
}

#[differentiable(dual)]
fn smooth(y: &mut Array2<f64>, x: &Array2<f64>, gate: &Array1<f64>) -> f64 {
    nn::gelu(y, x);
    let mut total = some_number(&*y);
    nn::gelu_tanh(y, x);
    total += 0.5 * some_number(&*y);
    nn::silu(y, x);
    total += 0.25 * some_number(&*y);
    nn::mish(y, x);
    total += 0.75 * some_number(&*y);
    nn::softplus(y, x);
    total += 1.5 * some_number(&*y);
    nn::softsign(y, x);
    total += 1.25 * some_number(&*y);
    nn::glu(y, x, gate);
    total += 1.75 * some_number(&*y);
    nn::swiglu(y, x, gate);
    total - some_number(&*y)
}

#[test]
fn activations() {
    let random = &mut Random(71);
    let inputs = [(0, 2), (1, 1), (2, 3)].map(|(rows, columns)| {
        let (y, x) = (random.matrix((rows, columns), false), random.matrix((rows, columns), true));
        (y, 4.0 * x, random.vector(columns))
    });
    check_second_order(rectified::rule, inputs.clone().map(|(y, x, _)| (y, x, 0.1, 0.7)));
    check_second_order(smooth::rule, inputs);
}

#[differentiable(dual)]
fn of_rows(y: &mut Array2<f64>, r: &mut Array2<f64>, x: &Array2<f64>, t: &Array2<f64>) -> f64 {
    nn::softmax(y, x, Axis(1));
    let mut total = some_number(&*y);
    nn::log_softmax(y, x, Axis(0));
    total += 0.5 * some_number(&*y);
    nn::log_sum_exp(r, x, Axis(1));
    total += 0.25 * some_number(&*r);
    nn::cross_entropy(r, x, t, Axis(1));
    total += 0.75 * some_number(&*r);
    nn::kl_divergence(r, x, t, Axis(1));
    total * some_number(&*r)
}

#[differentiable(dual)]
fn normed(y: &mut Array2<f64>, x: &Array2<f64>, gain: &Array1<f64>, bias: &Array1<f64>, epsilon: f64) -> f64 {
    nn::layer_norm(y, x, gain, bias, epsilon, Axis(1));
    let first = some_number(&*y);
    nn::rms_norm(y, x, gain, epsilon, Axis(0));
    first * some_number(&*y)
}

#[test]
fn rows() {
    let random = &mut Random(72);
    let inputs = [(2, 3), (3, 1), (1, 4)].map(|(rows, columns)| {
        let [y, x, t] = [false, false, true].map(|f| random.matrix((rows, columns), f));
        (y, random.matrix((rows, 1), false), 3.0 * x, t.mapv(|t| t * t + 0.1))
    });
    let norms = inputs.clone().map(|(y, _, x, _)| {
        let n = x.ncols();
        (y, x, random.vector(n), random.vector(n), 0.25)
    });
    check_second_order(of_rows::rule, inputs);
    check_second_order(normed::rule, norms);
}

#[differentiable(dual)]
fn losses(x: &Array2<f64>, t: &Array2<f64>, width: f64) -> f64 {
    let squares = nn::mean_squared_error(x, t) * nn::mean_absolute_error(x, t);
    let both = nn::huber(x, t, width) * nn::smooth_l1(x, t, width);
    squares + both * nn::binary_cross_entropy_with_logits(x, t)
}

/// Targets are constants, in any layout.
#[differentiable(dual)]
fn losses_to_constants(x: &Array2<f64>, #[constant] t: &Array2<f64>) -> f64 {
    let part = t.slice(s![.., ..;-1]);
    let squares = nn::mean_squared_error(x, t) * nn::mean_absolute_error(x, &part);
    let both = nn::huber(x, t, 0.5) * nn::smooth_l1(&part, x, 0.25);
    squares + both * nn::binary_cross_entropy_with_logits(x, t)
}

#[differentiable(dual)]
fn probable(p: &Array1<f64>, #[constant] t: &Array1<f64>) -> f64 {
    nn::binary_cross_entropy(p, t) * nn::binary_cross_entropy(p, p)
}

#[test]
fn numbers() {
    let random = &mut Random(73);
    let inputs = [(2, 3), (1, 1), (4, 2)]
        .map(|(rows, columns)| [false, true].map(|by_columns| random.matrix((rows, columns), by_columns)));
    check_second_order(losses::rule, inputs.clone().map(|[x, t]| (x, t, 0.7)));
    check_second_order(losses_to_constants::rule, inputs.map(|[x, t]| (x, t)));
    let inputs = [3, 1].map(|n| [(); 2].map(|()| random.vector(n).mapv(|p| 0.5 + 0.4 * p)));
    check_second_order(probable::rule, inputs.map(|[p, t]| (p, t)));
}

#[differentiable(dual)]
fn recurrent(
    y: &mut Array1<f64>,
    state: &Array1<f64>,
    i: &Array1<f64>,
    f: &Array1<f64>,
    g: &Array1<f64>,
    #[constant] before: &Array1<f64>,
) -> f64 {
    let mut z = Array1::<f64>::zeros(state.len());
    nn::lstm_state(y, before, i, f, g);
    nn::lstm_output(&mut z, &*y, state);
    nn::gru(y, state, i, f, g, &z);
    y.mapv(|y| y.sin() + y * y).sum()
}

#[test]
fn cells() {
    let random = &mut Random(74);
    let inputs = [3, 1].map(|n| {
        let [y, c, i, f, g, b] = [(); 6].map(|()| random.vector(n));
        (y, c, i, f, g, b)
    });
    check_second_order(recurrent::rule, inputs);
}

/// Layers that are the same in any memory.
#[differentiable(dual)]
fn in_any_memory(
    y: &mut Array2<f64>,
    h: &mut Array2<f64>,
    x: &Array2<f64>,
    w: &Array2<f64>,
    b: &Array1<f64>,
) -> f64 {
    generic::linear(h, x, w, b);
    generic::gelu(y, h);
    generic::softmax(h, y, Axis(1));
    generic::feed_forward(y, h, x, w, b, w, b, generic::Activation::GeluTanh);
    let total = some_number(&*y) * some_number(&*h);
    generic::feed_forward(h, y, x, w, b, w, b, generic::Activation::Relu);
    total + some_number(&*y) * some_number(&*h)
}

#[test]
fn layers_in_any_memory() {
    let random = &mut Random(75);
    let inputs = [(2, 3), (1, 1)].map(|(rows, n)| {
        let [y, h, x] = [(); 3].map(|()| random.matrix((rows, n), false));
        (y, h, x, random.matrix((n, n), false), random.vector(n))
    });
    check_second_order(in_any_memory::rule, inputs);
}

fused! {
    fn tanh(x) { x.tanh() }

    fn step(x, d, rate: T) { x - rate * d }

    /// Elements of two arrays, with a weight for each row.
    fn weighted(w, x, z) { sum(w * (x - z).sin()) }
}

/// A network of two layers: the mean of its cross entropy to the targets `t` for the samples `x`, one in each row.
#[differentiable(dual)]
fn network(
    w1: &Array2<f64>,
    b1: &Array1<f64>,
    w2: &Array2<f64>,
    b2: &Array1<f64>,
    #[constant] x: &Array2<f64>,
    #[constant] t: &Array2<f64>,
) -> f64 {
    let z = x.dot(w1) + b1;
    let mut h = Array2::<f64>::zeros((x.nrows(), w1.ncols()));
    tanh(&mut h, &z);
    let logits = h.dot(w2) + b2;
    let mut losses = Array2::<f64>::zeros((x.nrows(), 1));
    nn::cross_entropy(&mut losses, &logits, t, Axis(1));
    losses.sum() / x.nrows() as f64
}

#[test]
fn networks() {
    let random = &mut Random(76);
    let inputs = [(5, 3, 4, 2), (1, 1, 2, 3)].map(|(samples, width, hidden, classes)| {
        let x = random.matrix((samples, width), true);
        let t = Array2::from_shape_fn((samples, classes).f(), |(i, j)| f64::from((i % classes == j) as u8));
        let (w1, w2) = (random.matrix((width, hidden), false), random.matrix((hidden, classes), false));
        (w1, random.vector(hidden), w2, random.vector(classes), x, t)
    });
    check_second_order(network::rule, inputs.clone());

    // As one asks for it.
    let (w1, b1, w2, b2, x, t) = &inputs[0];
    let v =
        (Array2::ones(w1.dim()), Array1::zeros(b1.len()), -Array2::ones(w2.dim()), Array1::ones(b2.len()));
    let mut g = network::hvp();
    let mut product = || {
        let (_, _, product) = g.value_gradient_and_hvp(w1, b1, w2, b2, x, t, &v.0, &v.1, &v.2, &v.3);
        product.w1.sum() + product.b1.sum() + product.w2.sum() + product.b2.sum()
    };
    let first = product();
    let mut again = 0.0;
    let ((), allocations) = allocations_in(|| again = product());
    // Of floats as of dual numbers, `zeros` allocates, and nothing else.
    assert_eq!((again, allocations), (first, 2));
}

/// The same by layers that are one call each, of samples that are constants.
#[differentiable(dual)]
fn layered(
    w1: &Array2<f64>,
    b1: &Array1<f64>,
    w2: &Array2<f64>,
    b2: &Array1<f64>,
    #[constant] x: &Array2<f64>,
    #[constant] t: &Array2<f64>,
) -> f64 {
    let mut h = Array2::<f64>::zeros((x.nrows(), w1.ncols()));
    let mut logits = Array2::<f64>::zeros((x.nrows(), w2.ncols()));
    generic::feed_forward(&mut logits, &mut h, x, w1, b1, w2, b2, generic::Activation::GeluTanh);
    let mut direct = Array2::<f64>::zeros((x.nrows(), w1.ncols()));
    generic::linear(&mut direct, x, w1, b1);
    let mut losses = Array2::<f64>::zeros((x.nrows(), 1));
    nn::cross_entropy(&mut losses, &logits, t, Axis(1));
    losses.sum() + some_number(&direct)
}

#[test]
fn layers_of_constants() {
    let random = &mut Random(78);
    let inputs = [(3, 2, 3, 2), (1, 1, 2, 1)].map(|(samples, width, hidden, classes)| {
        let (x, t) = (random.matrix((samples, width), true), random.matrix((samples, classes), false));
        let (w1, w2) = (random.matrix((width, hidden), false), random.matrix((hidden, classes), false));
        (w1, random.vector(hidden), w2, random.vector(classes), x, t)
    });
    check_second_order(layered::rule, inputs);
}

#[differentiable(dual)]
fn fitted(w: &Array2<f64>, #[constant] x: &Array2<f64>, #[constant] t: &Array2<f64>) -> f64 {
    let mut y = Array2::<f64>::zeros(t.dim());
    let z = x.dot(w);
    tanh(&mut y, &z);
    nn::mean_squared_error(&y, t)
}

/// What is left after a step of gradient descent.
#[differentiable]
fn after_a_step(w: &Array2<f64>, #[constant] x: &Array2<f64>, #[constant] t: &Array2<f64>, rate: f64) -> f64 {
    let d = fitted::grad(w, x, t);
    let mut v = Array2::<f64>::zeros(w.dim());
    step(&mut v, w, &d, rate);
    fitted(&v, x, t)
}

#[test]
fn gradients_in_functions() {
    let random = &mut Random(79);
    let inputs = [(3, 2, 2), (1, 1, 3)].map(|(samples, width, classes)| {
        let w = random.matrix((width, classes), false);
        (w, random.matrix((samples, width), false), random.matrix((samples, classes), true), 0.5)
    });
    CheckRule::new(after_a_step::rule).inputs(inputs).allocating(4).run();
}

/// Constants come first, and are broadcast; the number is what a derivative is taken by.
#[differentiable(dual)]
fn weighted_by_constants(#[constant] w: &Array2<f64>, x: &Array2<f64>, #[constant] z: &Array2<f64>) -> f64 {
    weighted(w, x, z) * weighted(&w.slice(s![..1, ..]), z, &x.slice(s![..1, ..;-1]))
}

#[differentiable(dual)]
fn by_the_width(#[constant] x: &Array1<f64>, #[constant] t: &Array1<f64>, width: f64) -> f64 {
    let loss = nn::huber(x, t, width);
    loss * loss
}

#[test]
fn constants() {
    let random = &mut Random(77);
    let inputs = [(3, 2), (1, 33)].map(|(rows, columns)| {
        let w = random.matrix((rows, 1), false);
        (w, random.matrix((rows, columns), false), random.matrix((rows, columns), true))
    });
    check_second_order(weighted_by_constants::rule, inputs);
    check_second_order(by_the_width::rule, [(random.vector(4), random.vector(4), 0.4)]);
}
