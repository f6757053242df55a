//! Copies of parts that calls are given by value, and structs that own memory and are looked at on several ways.

use pullback::prelude::*;
use pullback::testing::check_rule;

#[derive(Differentiable, Clone, Debug)]
struct Net {
    weights: Vec<f64>,
    bias: f64,
}

#[derive(Differentiable, Clone, Copy, Debug)]
struct Plain {
    a: f64,
    b: [f64; 2],
}

#[derive(Differentiable, Clone, Debug)]
struct Deep {
    nets: Vec<Net>,
    plain: Plain,
    rows: Vec<Vec<f64>>,
}

#[differentiable]
fn product(v: Vec<f64>) -> f64 {
    v[0] * v[1]
}

#[differentiable]
fn changed(mut v: Vec<f64>, k: f64) -> f64 {
    v[0] *= k;
    v.push(k);
    v.iter().map(|t| t * t).sum()
}

#[differentiable]
fn of_plain(p: Plain) -> f64 {
    p.a * p.b[1]
}

#[differentiable]
fn of_array(b: [f64; 2]) -> f64 {
    b[0] * b[1]
}

#[differentiable]
impl Net {
    fn scaled(&self, x: f64) -> f64 {
        product(self.weights.clone()) * x
    }

    fn with(&self, v: Vec<f64>, p: Plain) -> f64 {
        v[0] * self.weights[1] * p.a
    }

    fn with_itself(&self, p: &Plain) -> f64 {
        self.with(self.weights.clone(), p.clone()) + of_array(p.b.clone())
    }
}

#[differentiable]
fn of_fields(d: &Deep) -> f64 {
    product(d.nets[1].weights.clone()) * of_plain(d.plain.clone())
        + of_array(d.plain.b.clone())
        + product(d.rows[0].clone())
}

#[differentiable]
fn between_writes(d: &mut Deep) -> f64 {
    let a = product(d.nets[1].weights.clone());
    d.nets[1].weights[0] *= a;
    d.plain.a = a;
    a * of_plain(d.plain.clone()) + product(d.nets[1].weights.clone())
}

#[differentiable]
fn in_a_loop(x: &[f64], n: usize) -> f64 {
    let mut net = Net { weights: x.to_vec(), bias: x[0] };
    let mut plain = Plain { a: x[0], b: [x[1], x[0]] };
    let mut t = 0.0;
    for _ in 0..n {
        t += changed(net.weights.clone(), plain.a.clone());
        net.weights[0] += 0.1 * t;
        plain.b[0] *= t;
        t += of_plain(plain.clone()) + of_array(plain.b.clone());
    }
    t
}

#[differentiable]
fn by_methods(net: &Net, p: &Plain, #[constant] other: &Net, k: f64) -> f64 {
    net.scaled(k)
        + net.with(net.weights.clone(), *p)
        + net.with_itself(p)
        + net.with(other.weights.clone(), *p)
        - k * product(other.weights.clone())
}

fn net() -> Net {
    Net { weights: vec![0.3, 0.7], bias: 0.2 }
}

fn plain() -> Plain {
    Plain { a: 0.3, b: [0.8, 1.2] }
}

#[test]
fn copies() {
    let deep = || Deep { nets: vec![net(), net()], plain: plain(), rows: vec![vec![1.3, 0.2]] };
    check_rule(of_fields::rule, [(deep(),)]);
    check_rule(between_writes::rule, [(deep(),)]);
    check_rule(in_a_loop::rule, [(vec![0.3, 0.8], 0), (vec![0.3, 0.8], 3)]);
    let mut g = by_methods::gradient();
    let (value, d) = g.value_and_gradient(&net(), &plain(), &net(), 1.3);
    assert_eq!(value, by_methods(&net(), &plain(), &net(), 1.3));
    assert!((d.k - 0.0).abs() < 1e-15);
    // k·w₀w₁ + 2·w₀w₁a + v₀w₁a
    let expected = [1.3 * 0.7 + 2.0 * 0.7 * 0.3, 1.3 * 0.3 + 3.0 * 0.3 * 0.3];
    assert!((d.net.weights[0] - expected[0]).abs() < 1e-15 && (d.net.weights[1] - expected[1]).abs() < 1e-15);
    assert!((d.p.a - 3.0 * 0.21).abs() < 1e-15 && d.p.b == [1.2, 0.8]);
}

#[differentiable]
fn made(x: f64) -> Net {
    Net { weights: vec![x, x * x], bias: x }
}

#[differentiable]
fn of_net(net: &Net) -> f64 {
    net.weights[0] * net.weights[1] + net.bias
}

#[differentiable]
fn on_both_ways(x: &[f64], i: usize) -> f64 {
    let net = made(x[i]);
    if x[0] > 0.5 {
        return of_net(&net);
    }
    of_net(&net) * x[0]
}

#[differentiable]
fn with_its_type(x: &[f64], i: usize) -> f64 {
    let net: Net = made(x[i]);
    if net.bias > 0.5 {
        return of_net(&net);
    }
    of_net(&net) * x[0]
}

#[differentiable]
fn looked_at(x: &[f64], i: usize) -> f64 {
    let net = made(x[i]);
    if net.weights[0] > 0.5 {
        return x[0];
    }
    x[1]
}

#[test]
fn structs_on_several_ways() {
    let inputs = || [(vec![0.3, 0.8], 0), (vec![0.3, 0.8], 1), (vec![0.9, 0.3], 1)];
    check_rule(on_both_ways::rule, inputs());
    check_rule(with_its_type::rule, inputs());
    check_rule(looked_at::rule, inputs());
}
