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
fn rest_of_another(x: &[f64]) -> f64 {
    let p = 0.5;
    let t = State { x: vec![x[0]], ..made(x) };
    t.x[0] * t.p[0] * p
}

#[differentiable]
fn left_early(x: &[f64]) -> State {
    if x.is_empty() {
        return State { x: vec![], p: vec![] };
    }
    State { x: x.to_vec(), p: vec![x[0]] }
}

#[differentiable]
fn in_branches(x: &[f64], k: f64) -> State {
    let v = x.to_vec();
    if k > 0.0 {
        let p = vec![k];
        State { x: v, p }
    } else {
        State { x: vec![k], p: v }
    }
}

#[differentiable]
fn moved_in_a_branch(x: &[f64], k: f64) -> f64 {
    let v = x.to_vec();
    let mut s = State { x: vec![k], p: vec![1.0] };
    if k > 0.0 {
        s = State { x: v, p: vec![k] };
    }
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

#[differentiable]
fn options(x: &[f64]) -> Option<State> {
    if x.is_empty() {
        return None;
    }
    let s = State { x: x.to_vec(), p: vec![x[0]] };
    Some(s)
}

fn main() {}
