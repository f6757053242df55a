//! Layers of networks and random numbers, on dual numbers.

use ndarray::{Array, Array1, Array2, Array4, Ix4};
use pullback::nn::{self, Convolution, Mask, Pooling};
use pullback::prelude::*;
use pullback::random;
use pullback::testing::check_second_order;

use super::linear_algebra::some_number;
use crate::random::Random;

fn planes(random: &mut Random, shape: [usize; 4]) -> Array4<f64> {
    Array::from_shape_simple_fn(Ix4(shape[0], shape[1], shape[2], shape[3]), || random.next())
}

/// A function of all elements that is not linear in any of them.
#[differentiable(dual)]
fn of_planes(y: &Array4<f64>) -> f64 {
    y.mapv(|y| (y + 0.25).sin() + y * y * y).sum()
}

#[differentiable(dual)]
fn convolved(
    y: &mut Array4<f64>,
    x: &Array4<f64>,
    kernel: &Array4<f64>,
    bias: &Array1<f64>,
    #[constant] options: Convolution<2>,
) -> f64 {
    nn::conv2d(y, x, kernel, bias, options);
    of_planes(&*y)
}

#[test]
fn convolution() {
    let random = &mut Random(41);
    let options = Convolution { padding: [1, 0], groups: 2, ..Convolution::default() };
    let input = (
        planes(random, [2, 2, 3, 2]),
        planes(random, [2, 2, 3, 3]),
        planes(random, [2, 1, 3, 2]),
        random.vector(2),
        options,
    );
    check_second_order(convolved::rule, [input]);
}

#[differentiable(dual)]
fn pooled(y: &mut Array4<f64>, z: &mut Array4<f64>, x: &Array4<f64>, #[constant] options: Pooling<2>) -> f64 {
    nn::max_pool2d(y, x, options);
    nn::avg_pool2d(z, x, options);
    of_planes(&*y) * of_planes(&*z)
}

#[test]
fn pooling() {
    let random = &mut Random(42);
    let [y, z] = [(); 2].map(|()| planes(random, [1, 2, 2, 2]));
    check_second_order(
        pooled::rule,
        [(y, z, planes(random, [1, 2, 4, 4]), Pooling { window: [2, 2], stride: [2, 2], padding: [0, 0] })],
    );
}

#[differentiable(dual)]
#[allow(clippy::too_many_arguments)]
fn normed(
    y: &mut Array2<f64>,
    x: &Array2<f64>,
    gain: &Array1<f64>,
    bias: &Array1<f64>,
    mean: &mut Array1<f64>,
    variance: &mut Array1<f64>,
    momentum: f64,
    epsilon: f64,
) -> f64 {
    nn::batch_norm(y, x, gain, bias, mean, variance, momentum, epsilon);
    let first = some_number(&*y);
    nn::batch_norm_inference(y, x, gain, bias, &*mean, &*variance, epsilon);
    let second = some_number(&*y);
    nn::group_norm(y, x, gain, bias, 2, epsilon);
    first * second + some_number(&*y)
}

#[test]
fn norms() {
    let random = &mut Random(43);
    let inputs = [(3, 4), (2, 2)].map(|(members, channels)| {
        (
            random.matrix((members, channels), false),
            random.matrix((members, channels), true),
            random.vector(channels),
            random.vector(channels),
            random.vector(channels),
            random.vector(channels).mapv(|v| 1.0 + v * v),
            0.25,
            0.125,
        )
    });
    check_second_order(normed::rule, inputs);
}

#[differentiable(dual)]
fn attended(
    y: &mut Array4<f64>,
    q: &Array4<f64>,
    k: &Array4<f64>,
    v: &Array4<f64>,
    scale: f64,
    #[constant] mask: Mask,
) -> f64 {
    nn::attention(y, q, k, v, scale, mask);
    of_planes(&*y)
}

#[test]
fn attention() {
    let random = &mut Random(44);
    let inputs = [Mask::None, Mask::Causal].map(|mask| {
        let [y, q, k, v] =
            [[1, 2, 2, 1], [1, 2, 2, 2], [1, 2, 3, 2], [1, 2, 3, 1]].map(|s| planes(random, s));
        (y, q, k, v, 0.7, mask)
    });
    check_second_order(attended::rule, inputs);
}

/// Keys of one block are the same as those of another: nothing changes there but the derivatives.
#[test]
fn attention_to_equal_keys() {
    let (keys, mut y) = (70, Array4::zeros((1, 1, 1, 1)));
    let (q, k) = (Array4::ones((1, 1, 1, 1)), Array4::zeros((1, 1, keys, 1)));
    let v = Array4::from_shape_fn((1, 1, keys, 1), |(.., i, _)| if i < 64 { 0.0 } else { 1.0 });
    let mut direction = Array4::zeros((1, 1, keys, 1));
    direction[[0, 0, keys - 1, 0]] = 1.0;
    let (zero, none) = (Array4::zeros((1, 1, 1, 1)), Array4::zeros((1, 1, keys, 1)));
    let (_, tangent, _) = attended::pushforward().value_and_pushforward(
        &mut y,
        &q,
        &k,
        &v,
        1.0,
        Mask::None,
        &zero,
        &zero,
        &direction,
        &none,
        0.0,
    );
    // Of the mean m of the values: p·(1 − m) for the last key, whose weight p is one of as many.
    let (n, mean) = (keys as f64, 6.0 / keys as f64);
    let slope = (mean + 0.25).cos() + 3.0 * mean * mean;
    assert!((tangent - slope * (1.0 - mean) / n).abs() < 1e-14, "{tangent}");
}

#[differentiable(dual)]
fn looked_up(x: &Array2<f64>, #[constant] indices: &[usize], y: &mut Array2<f64>) -> f64 {
    nn::embedding(y, x, indices);
    some_number(&*y)
}

#[differentiable(dual)]
fn likelihood(x: &Array2<f64>, weights: &Array1<f64>, #[constant] targets: &[usize]) -> f64 {
    let l = nn::negative_log_likelihood(x, weights, targets);
    l * l
}

#[differentiable(dual)]
fn cross_entropy(
    x: &Array2<f64>,
    weights: &Array1<f64>,
    smoothing: f64,
    #[constant] targets: &[usize],
) -> f64 {
    nn::sparse_cross_entropy(x, weights, smoothing, targets)
}

#[test]
fn embeddings() {
    let random = &mut Random(45);
    let [x, y] = [(); 2].map(|()| random.matrix((3, 2), false));
    check_second_order(looked_up::rule, [(x, vec![2, 0, 2], y)]);
}

#[test]
fn likelihoods() {
    let random = &mut Random(46);
    let weights = random.vector(3).mapv(|w| 0.5 + w * w);
    check_second_order(likelihood::rule, [(random.matrix((3, 3), false), weights, vec![2, 0, 2])]);
}

#[test]
fn cross_entropies() {
    let random = &mut Random(47);
    // Without smoothing there is a derivative with respect to it.
    let inputs = [0.0, 0.25].map(|smoothing| {
        let weights = random.vector(3).mapv(|w| 0.5 + w * w);
        (random.matrix((3, 3), false), weights, smoothing, vec![2, 0, 2])
    });
    check_second_order(cross_entropy::rule, inputs);
}

#[differentiable(dual)]
fn dropped(y: &mut Array2<f64>, x: &Array2<f64>, rate: f64) -> f64 {
    nn::dropout(y, x, rate, 42, 0);
    some_number(&*y)
}

#[differentiable(dual)]
fn normally(y: &mut Array2<f64>, mean: &Array1<f64>, deviation: &Array1<f64>) -> f64 {
    random::normal(y, mean, deviation, 42, 1);
    some_number(&*y)
}

#[differentiable(dual)]
fn uniformly(y: &mut Array2<f64>, low: f64, high: f64) -> f64 {
    random::uniform(y, low, low * high, 42, 2);
    some_number(&*y)
}

#[test]
fn dropout() {
    let random = &mut Random(48);
    let [y, x] = [(); 2].map(|()| random.matrix((3, 2), false));
    check_second_order(dropped::rule, [(y, x, 0.4)]);
}

#[test]
fn random_numbers() {
    let random = &mut Random(49);
    let y = random.matrix((3, 2), false);
    check_second_order(normally::rule, [(y.clone(), random.vector(2), random.vector(1))]);
    check_second_order(uniformly::rule, [(y, 0.5, 2.0)]);
}
