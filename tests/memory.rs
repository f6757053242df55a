//! What gradient objects hold: as much as they say, to the byte, and nothing any more when they are shrunk. Arrays of ndarray have at least
//! four elements here, since a vector has room for as many as soon as it has one.

use std::collections::HashMap;

use ndarray::{Array1, Array2, array};
use pullback::linalg;
use pullback::prelude::*;
use pullback::sparse::{HessianColouring, JacobianColouring};
use pullback::testing::CountingAllocator;
use pullback::{DualMut, Saved};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Checks what an object says it holds against the allocator, from before it is made until after it is shrunk and used once more. `call`
/// returns what is to be the same in all calls.
macro_rules! holds {
    ($f:ty, |$g:ident| $call:expr) => {{
        let start = CountingAllocator::so_far().held();
        let held = || usize::try_from(CountingAllocator::so_far().held() - start).expect("more than before");
        let mut $g = <$f>::gradient();
        let fresh = $g.memory();
        assert_eq!(fresh, held(), "a new object");
        let first = $call;
        let used = $g.memory();
        let of_result = std::mem::size_of_val(&first[..]);
        assert_eq!(used, held() - of_result, "after a call");
        assert!(used > fresh, "{used}");
        let second = $call;
        assert_eq!($g.memory(), used, "after a second call");
        assert_eq!(second, first);
        drop(second);
        $g.shrink();
        assert_eq!($g.memory(), fresh, "shrunk");
        assert_eq!(fresh, held() - of_result, "shrunk");
        let third = $call;
        assert_eq!(third, first);
        drop(third);
        assert_eq!($g.memory(), used, "used again");
        drop($g);
        drop(first);
        assert_eq!(held(), 0, "everything is given back");
        (fresh, used)
    }};
}

/// Numbers in a vector that has no room for more.
fn exactly<'a>(numbers: impl IntoIterator<Item = &'a f64>) -> Vec<f64> {
    let mut numbers: Vec<f64> = numbers.into_iter().copied().collect();
    numbers.shrink_to_fit();
    numbers
}

#[differentiable]
fn logistic(x: f64, rate: f64, steps: usize) -> f64 {
    let mut x = x;
    for _ in 0..steps {
        x = rate * x * (1.0 - x);
    }
    x
}

#[test]
fn residuals_of_loops() {
    let (fresh, used) = holds!(logistic, |g| exactly(&[g.value_and_gradient(0.3, 3.5, 100).1.rate]));
    assert_eq!(used - fresh, 100 * 8);
}

#[differentiable]
fn norm(x: &[f64], y: &mut [f64]) -> f64 {
    let mut scaled = vec![0.0; x.len()];
    for i in 0..x.len() {
        scaled[i] = x[i].sin() * y[i];
        y[i] = scaled[i] * scaled[i];
    }
    let mut total = 0.0;
    for i in 0..x.len() {
        total += y[i] * scaled[i];
    }
    total
}

#[test]
fn shadows_of_arguments_and_locals() {
    let x: Vec<f64> = (0..40).map(f64::from).collect();
    let mut y = vec![0.5; 40];
    holds!(norm, |g| {
        let (_, d) = g.value_and_gradient(&x, &mut y);
        exactly(d.x.iter().chain(d.y))
    });
}

#[differentiable]
fn rows(x: &[Vec<f64>]) -> f64 {
    let mut all = Vec::new();
    for i in 0..x.len() {
        let doubled: Vec<f64> = x[i].iter().map(|x| 2.0 * x).collect();
        all.push(doubled);
    }
    let mut total = 0.0;
    for i in 0..all.len() {
        for j in 0..all[i].len() {
            total += all[i][j] * all[i][j];
        }
    }
    total
}

#[test]
fn vectors_of_vectors() {
    let x = vec![vec![1.0, 2.0], vec![3.0; 10], vec![4.0]];
    holds!(rows, |g| exactly(g.value_and_gradient(&x).1.x.iter().flatten()));
}

#[derive(Differentiable)]
struct Layer {
    weights: Array2<f64>,
    bias: Vec<f64>,
}

#[derive(Differentiable)]
#[pullback(by_reference)]
struct Model {
    layers: Vec<Layer>,
    scale: f64,
}

#[differentiable]
fn layer(layer: &Layer, x: &Array1<f64>) -> Array1<f64> {
    let weights: &Array2<f64> = &layer.weights;
    let mut y: Array1<f64> = weights.dot(x);
    for i in 0..layer.bias.len() {
        y[i] = (y[i] + layer.bias[i]).tanh();
    }
    y
}

#[differentiable]
fn network(model: &Model, x: &Array1<f64>) -> f64 {
    let first = layer(&model.layers[0], x);
    let second = layer(&model.layers[1], &first);
    model.scale * second[0] * second[1]
}

#[test]
fn containers_and_arrays() {
    let layer = |m: usize, n: usize| Layer { weights: Array2::from_elem((m, n), 0.1), bias: vec![0.2; m] };
    let model = Model { layers: vec![layer(6, 5), layer(4, 6)], scale: 0.5 };
    let x = array![1.0, 2.0, 3.0, 4.0, 5.0];
    holds!(network, |g| exactly(g.value_and_gradient(&model, &x).1.model.layers[0].weights.iter()));
}

#[differentiable]
fn product(a: &Array2<f64>, b: &Array2<f64>, c: &mut Array2<f64>) -> f64 {
    mul_into(c, a, b);
    let mut total = 0.0;
    for i in 0..3 {
        total += c[[i, i]] * c[[i, i]];
    }
    total
}

#[test]
fn products_of_matrices() {
    let (a, b) = (Array2::from_elem((3, 3), 0.5), Array2::eye(3));
    let mut c = Array2::zeros((3, 3));
    holds!(product, |g| exactly(g.value_and_gradient(&a, &b, &mut c).1.a.iter()));
}

#[differentiable]
fn factored(a: &Array2<f64>, b: &Array1<f64>) -> f64 {
    let x: Array1<f64> = linalg::solve_spd(a, b);
    linalg::logdet_spd(a) + x[0] * x[1] + x[2]
}

#[test]
fn decompositions() {
    let a = Array2::from_shape_fn((4, 4), |(i, j)| if i == j { 5.0 + i as f64 } else { 1.0 });
    let b = array![1.0, 2.0, 3.0, 4.0];
    holds!(factored, |g| exactly(g.value_and_gradient(&a, &b).1.b.iter()));
}

#[differentiable]
fn power(x: f64, n: usize) -> f64 {
    if n == 0 { 1.0 } else { x * power(x, n - 1) }
}

#[test]
fn recursion() {
    holds!(power, |g| exactly(&[g.value_and_gradient(1.5, 5).1.x]));
}

/// y ← k·y
fn scale(k: f64, y: &mut [f64]) {
    y.iter_mut().for_each(|y| *y *= k);
}

/// With a field that does not tell what it owns, and is empty.
#[derive(Rule, Default)]
#[rule(fn scale(k: f64, y: &mut [f64]))]
struct Scale {
    old: Saved<f64>,
    names: HashMap<usize, String>,
}

impl Scale {
    fn forward(&mut self, k: f64, y: &mut [f64]) {
        self.old.save(y);
        scale(k, y);
    }

    fn pullback(&mut self, k: f64, y: DualMut<'_, [f64]>) -> f64 {
        assert!(self.names.is_empty());
        self.old.restore(y.value);
        let mut d = 0.0;
        for i in 0..y.value.len() {
            let dy = y.shadow.take(|dy| &dy[i]);
            d += dy * y.value[i];
            y.shadow.accumulate(|dy| &dy[i], k * dy);
        }
        d
    }
}

#[differentiable]
fn scaled(k: f64, y: &mut [f64], steps: usize) -> f64 {
    for _ in 0..steps {
        scale(k, y);
    }
    y[0]
}

#[test]
fn rules_by_hand() {
    let mut y = vec![1.0; 10];
    holds!(scaled, |g| exactly(&[g.value_and_gradient(0.5, &mut y, 3).1.k]));
}

#[differentiable]
fn last(#[constant] order: &mut [usize], x: &[f64]) -> f64 {
    order.reverse();
    order.sort_unstable_by(|a, b| b.cmp(a));
    x[order[0]] * x[order[0]]
}

#[test]
fn copies_of_arguments() {
    let (mut order, x) = (vec![0, 1, 2], [1.0, 2.0, 3.0]);
    holds!(last, |g| exactly(g.value_and_gradient(&mut order, &x).1.x));
}

#[differentiable(dual)]
fn rosenbrock(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() - 1 {
        let a = x[i + 1] - x[i] * x[i];
        let b = 1.0 - x[i];
        total += 100.0 * a * a + b * b;
    }
    total
}

#[test]
fn second_derivatives() {
    let x: Vec<f64> = (0..20).map(|i| 0.1 * f64::from(i)).collect();
    holds!(rosenbrock, |g| exactly(g.value_gradient_and_hvp(&x, &x).2.x));
    holds!(rosenbrock, |g| exactly(g.value_gradient_and_hessian(&x).2));
    holds!(rosenbrock, |g| exactly(g.value_and_jacobian(&x).1));
    holds!(rosenbrock, |g| exactly(&[g.value_and_pushforward(&x, &x).1]));
    holds!(rosenbrock, |g| exactly(&g.value_and_pushforwards(&x, [&x, &x[..]]).1));
    let (jacobian, hessian) = {
        let mut g = rosenbrock::hessian();
        (JacobianColouring::new(g.jacobian_pattern(&x)), HessianColouring::new(g.hessian_pattern(&x)))
    };
    holds!(rosenbrock, |g| exactly(g.value_and_sparse_jacobian(&x, &jacobian).1));
    holds!(rosenbrock, |g| exactly(g.value_gradient_and_sparse_hessian(&x, &hessian).2));
}

#[differentiable]
fn slope(x: &[f64]) -> f64 {
    let d = rosenbrock::grad(x);
    let mut total = rosenbrock::along(x, x);
    for i in 0..d.len() {
        total += d[i] * d[i];
    }
    total
}

#[test]
fn derivatives_within() {
    let x = [0.5, 0.25, 0.75];
    holds!(slope, |g| exactly(g.value_and_gradient(&x).1.x));
}

#[differentiable]
fn apply(f: impl Fn(f64) -> f64, x: f64, steps: usize) -> f64 {
    let mut x = x;
    for _ in 0..steps {
        x = f(x);
    }
    x
}

#[differentiable]
fn half_sine(x: f64) -> f64 {
    0.5 * x.sin()
}

#[test]
fn functions_as_arguments() {
    holds!(apply<half_sine>, |g| exactly(&[g.value_and_gradient(0.5, 4).1.x]));
}

#[test]
fn pending_forwards() {
    use pullback::{Rule, State};

    let start = CountingAllocator::so_far().held();
    let held = || usize::try_from(CountingAllocator::so_far().held() - start).expect("more than before");
    let mut rule = logistic::rule();
    assert_eq!(State::memory(&rule), 0);
    let residual = rule.forward(logistic::args(0.3, 3.5, 50)).1;
    assert_eq!((rule.memory(), rule.pending()), (held(), 50 * 8));
    let _ = residual;
    rule.reset();
    assert_eq!((rule.memory(), rule.pending()), (50 * 8, 0));
    rule.shrink();
    assert_eq!(rule.memory(), 0);
    assert_eq!(held(), 0);
}

#[differentiable]
fn copied(x: &[f64]) -> Vec<f64> {
    x.to_owned()
}

/// A copy that is nobody's argument is not kept, but for its gradient.
#[test]
fn copies() {
    let mut g = copied::pullback();
    let (x, seed) = (vec![0.3; 1000], vec![1.0; 1000]);
    for _ in 0..3 {
        assert_eq!(g.value_and_pullback(&x, &seed).0, x);
    }
    let shadows = 2 * size_of_val(&x[..]);
    assert!((shadows..shadows + 500).contains(&g.memory()), "{}", g.memory());
}
