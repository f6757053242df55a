//! Struct literals whose fields calls have made, of types that nothing tells, and that methods or functions then look at; literals that
//! are borrowed where they are passed.

use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

#[differentiable]
pub fn twice(p: &[f64]) -> Vec<f64> {
    p.iter().map(|c| 2.0 * c).collect()
}

#[differentiable]
pub fn sum(p: &[f64]) -> f64 {
    p.iter().sum()
}

#[differentiable]
pub fn reshape(p: &[f64], rows: usize, columns: usize) -> Vec<Vec<f64>> {
    p.chunks(columns).take(rows).map(|c| c.to_vec()).collect()
}

#[derive(Clone, Differentiable)]
pub struct Layer {
    weights: Vec<f64>,
    bias: f64,
}

#[derive(Clone, Differentiable)]
pub struct Embedding {
    tokens: Vec<Vec<f64>>,
    out: Vec<Vec<f64>>,
}

#[derive(Clone, Copy, Differentiable)]
pub struct Pair {
    one: f64,
    other: f64,
}

#[differentiable]
impl Layer {
    fn forward(&self, h: &[f64]) -> f64 {
        self.weights[0] * self.bias * h[0]
    }
}

#[differentiable]
impl Embedding {
    fn forward(&self, h: &[f64]) -> f64 {
        self.tokens[0][0] * self.out[0][1] * h[0]
    }
}

#[differentiable]
impl Pair {
    fn product(&self, h: &[f64]) -> f64 {
        self.one * self.other * h[0]
    }
    fn scaled(self, k: f64) -> Pair {
        Pair { one: self.one * k, other: k }
    }
}

#[differentiable]
pub fn of(layer: &Layer, p: &[f64]) -> f64 {
    layer.weights[1] * p[0]
}

#[differentiable]
pub fn from_a_call(p: &[f64]) -> f64 {
    let layer = Layer { weights: twice(p), bias: p[0] };
    layer.forward(p)
}

#[differentiable]
pub fn from_a_variable(p: &[f64]) -> f64 {
    let weights = twice(p);
    let layer = Layer { weights, bias: p[0] };
    layer.forward(p)
}

#[differentiable]
pub fn rows(p: &[f64]) -> f64 {
    let e = Embedding { tokens: reshape(p, 1, 2), out: reshape(&p[1..], 1, 2) };
    e.forward(p)
}

#[differentiable]
pub fn in_a_loop(p: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..2 {
        let layer = Layer { weights: twice(&p[i..]), bias: p[0] };
        total += layer.forward(p) * layer.bias;
    }
    total
}

#[differentiable]
pub fn passed(p: &[f64]) -> f64 {
    let layer = Layer { weights: twice(p), bias: p[0] };
    of(&layer, p) + layer.weights[0]
}

#[differentiable]
pub fn changed(p: &[f64]) -> f64 {
    let mut layer = Layer { weights: twice(p), bias: p[0] };
    layer.weights[0] *= p[1];
    layer.bias = layer.weights[0] * p[0];
    of(&layer, p) + layer.forward(p)
}

#[differentiable]
pub fn plain(p: &[f64]) -> f64 {
    let pair = Pair { one: sum(p), other: p[0] };
    let one = sum(p);
    let another = Pair { one, other: p[1] };
    pair.product(p) * pair.scaled(p[0]).product(p) + another.product(p)
}

#[differentiable]
pub fn plain_and_copied(p: &[f64]) -> f64 {
    let pair = Pair { one: sum(p), other: p[0] };
    let copy = pair;
    pair.product(p) * copy.scaled(p[0]).product(p) + copy.one
}

#[differentiable]
pub fn product(pair: &Pair, k: f64) -> f64 {
    pair.one * pair.other * k
}

#[differentiable]
pub fn sum_of_pair(pair: &(f64, f64), k: f64) -> f64 {
    pair.0 + k * pair.1
}

#[differentiable]
pub fn borrowed(x: f64, y: f64) -> f64 {
    product(&Pair { one: x, other: y }, x) * product(&Pair { one: y, other: 0.5 }, y)
        + sum_of_pair(&(x * y, y), x)
}

#[differentiable]
pub fn borrowed_with_memory(p: &[f64]) -> f64 {
    of(&Layer { weights: p.to_vec(), bias: 1.0 }, p) + of(&Layer { weights: twice(p), bias: p[0] }, p)
}

#[test]
fn literals_of_what_calls_return() {
    let p = || [(vec![0.1, 0.4, 0.5],), (vec![0.2, 0.3, 0.1, 0.7],)];
    check_rule(from_a_call::rule, p());
    check_rule(from_a_variable::rule, p());
    check_rule(rows::rule, p());
    check_rule(in_a_loop::rule, p());
    check_rule(passed::rule, p());
    check_rule(changed::rule, p());
    check_rule(plain::rule, p());
    check_rule(plain_and_copied::rule, p());
}

#[test]
fn literals_are_borrowed_where_they_are_passed() {
    check_rule(borrowed::rule, [(0.3, 0.8), (1.2, -0.4)]);
    check_rule(borrowed_with_memory::rule, [(vec![0.1, 0.4, 0.5],), (vec![0.2, 0.3, 0.1, 0.7],)]);
}

#[derive(Clone, Differentiable)]
pub struct Curve {
    #[constant]
    times: Vec<f64>,
    factors: Vec<f64>,
}

#[differentiable]
pub fn collected_constants(r: f64, n: usize) -> f64 {
    let curve = Curve { times: (0..n).map(|i| i as f64).collect(), factors: vec![r; n] };
    curve.factors[0] * curve.times[1]
}

#[differentiable]
pub fn curve(r: f64, n: usize) -> Curve {
    let times: Vec<f64> = (0..n).map(|i| i as f64).collect();
    let curve = Curve { times, factors: vec![r; n] };
    curve
}

#[differentiable]
pub fn returned_constants(r: f64, n: usize) -> f64 {
    let curve = curve(r * r, n);
    curve.factors[0] * curve.times[1]
}

#[derive(Clone, Differentiable)]
pub struct Tensor {
    data: Vec<f64>,
    #[constant]
    shape: [usize; 2],
}

#[differentiable]
pub fn zeros(h: usize, w: usize) -> Tensor {
    Tensor { data: vec![0.0; h * w], shape: [h, w] }
}

#[differentiable]
pub fn squared(t: &Tensor) -> Tensor {
    let mut out = zeros(t.shape[0], t.shape[1]);
    for i in 0..out.shape[0] {
        out.data[i] = t.data[i] * t.data[i];
    }
    out
}

#[differentiable]
pub fn shaped(x: &[f64]) -> f64 {
    let t = Tensor { data: x.to_vec(), shape: [x.len(), 1] };
    let squared = squared(&t);
    squared.data[0] * squared.data[1] * squared.shape[0] as f64
}

#[test]
fn constant_fields() {
    check_rule(collected_constants::rule, [(0.4, 2), (0.7, 3)]);
    check_rule(returned_constants::rule, [(0.4, 2), (0.7, 3)]);
    check_rule(shaped::rule, [(vec![0.4, 0.5],), (vec![0.7, 0.1, 0.3],)]);
}

#[derive(Clone, Debug, Differentiable)]
struct Picture<T> {
    pixels: Vec<T>,
    width: usize,
    gain: T,
}

/// What owns memory is written out, the rest comes from behind a reference: for that all of it is cloned.
#[differentiable]
impl<T: pullback::Float> Picture<T> {
    fn scaled(&self, k: T) -> Picture<T> {
        let pixels: Vec<T> = self.pixels.iter().map(|p| *p * k * self.gain).collect();
        Picture { pixels, ..*self }
    }

    fn halved(&self, k: T) -> Picture<T> {
        let mut pixels: Vec<T> = Vec::new();
        for i in 0..self.pixels.len() / 2 {
            pixels.push(self.pixels[2 * i] * self.pixels[2 * i + 1]);
        }
        let picture = Picture { gain: self.gain * k, width: self.width / 2, pixels, ..*self };
        picture
    }
}

#[differentiable]
fn brightness(picture: &Picture<f64>, k: f64) -> f64 {
    let mut total = 0.0;
    for i in 0..2 {
        let smaller: Picture<f64> = picture.scaled(k).halved(total);
        total += smaller.pixels[i] * smaller.gain * k;
    }
    total
}

#[test]
fn the_rest_of_what_is_behind_a_reference() {
    let picture = Picture { pixels: vec![0.3, 0.4, 0.5, 0.1], width: 2, gain: 0.7 };
    CheckRule::new(Picture::<f64>::scaled_rule).input((picture.clone(), 0.5)).allocating(4).run();
    CheckRule::new(Picture::<f64>::halved_rule).input((picture.clone(), 0.5)).allocating(4).run();
    CheckRule::new(brightness::rule).input((picture, 0.5)).allocating(16).run();
}
