use pullback::prelude::*;

#[derive(Clone, Differentiable)]
struct State {
    x: Vec<f64>,
    p: Vec<f64>,
}

enum Either {
    One(Vec<f64>),
    Other,
}

#[differentiable]
fn made(x: &[f64]) -> State {
    State { x: x.to_vec(), p: vec![x[0]] }
}

#[differentiable]
fn field_replaced(x: &[f64]) -> f64 {
    let mut s = State { x: x.to_vec(), p: vec![1.0] };
    s.x = made(x).p;
    s.x[0] * s.p[0]
}

#[differentiable]
fn field_moved_out(x: &[f64]) -> f64 {
    let s = made(x);
    let mut p = s.p;
    p.push(x[0]);
    let q = p;
    q[1] * s.x[0]
}

#[differentiable]
fn taken_without_a_word(s: State) -> f64 {
    s.x[0] * s.p[0]
}

#[differentiable]
fn enums(x: &[f64]) -> f64 {
    let e = Either::One(x.to_vec());
    match e {
        Either::One(v) => v[0],
        Either::Other => 0.0,
    }
}

#[differentiable]
fn tuples(x: &[f64]) -> f64 {
    let pair = (x.to_vec(), x[0]);
    pair.0[0] * pair.1
}

#[derive(Clone, Differentiable)]
#[pullback(by_reference)]
struct Layer {
    weights: Vec<f64>,
    bias: Option<Vec<f64>>,
}

#[differentiable]
fn gets_another_bias(layer: &mut Layer, x: &[f64]) -> f64 {
    layer.bias = Some(x.to_vec());
    layer.weights[0]
}

#[differentiable]
fn made_with_a_bias(x: &[f64]) -> f64 {
    let layer = Layer { weights: x.to_vec(), bias: Some(vec![x[0]; 2]) };
    layer.weights[0]
}

fn main() {}
