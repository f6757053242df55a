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

#[differentiable]
fn another(x: f64) -> Net {
    Net { weights: vec![x * x * x, x], bias: 2.0 * x }
}

#[differentiable]
fn by_if(x: f64, first: bool) -> f64 {
    let net: Net = if first {
        made(x)
    } else {
        let y = x * x;
        another(y)
    };
    of_net(&net)
}

#[differentiable]
fn by_match(x: f64, way: usize) -> f64 {
    let net = match way {
        0 => made(x),
        1 => {
            if x > 0.3 {
                another(x)
            } else {
                made(x * x)
            }
        }
        _ => made(2.0 * x),
    };
    of_net(&net) * net.weights[0]
}

#[differentiable]
fn side_by_side(x: f64) -> f64 {
    let (a, b): (Net, Net) = (made(x), another(x));
    let (c, d) = (made(x * x), another(x));
    let e: Net = { another(a.bias * x) };
    of_net(&a) * of_net(&b) + of_net(&c) * d.weights[0] + of_net(&e)
}

#[differentiable]
fn in_a_vector(x: f64) -> f64 {
    let nets: Vec<Net> = vec![made(x), another(x)];
    of_net(&nets[0]) * of_net(&nets[1])
}

/// Only a part of it is asked for.
#[differentiable]
fn by_parts(x: f64, n: usize) -> f64 {
    let mut total = 0.0;
    for i in 0..n {
        let net: Net = if i % 2 == 0 { made(x) } else { another(total) };
        total += net.weights[0] * net.weights[1] * net.bias;
    }
    total
}

#[differentiable]
fn changed_after(x: f64, first: bool) -> f64 {
    let mut net: Net = if first { made(x) } else { another(x) };
    net.weights[0] *= net.bias;
    net.bias = of_net(&net);
    of_net(&net) * net.weights[0]
}

#[differentiable]
fn make_plain(x: f64) -> Plain {
    Plain { a: x, b: [x * x, 0.5] }
}

#[differentiable]
fn by_reference(p: &Plain) -> f64 {
    p.a * p.b[0]
}

#[differentiable]
fn square(x: f64) -> f64 {
    x * x
}

#[differentiable]
fn read(x: &f64) -> f64 {
    *x * *x
}

/// The same of plain structs, which may be used again, and of numbers.
#[differentiable]
fn of_plain_data(x: f64, first: bool) -> f64 {
    let p: Plain = if first { make_plain(x) } else { make_plain(square(x)) };
    let q = match first {
        true => make_plain(p.a),
        false => make_plain(x),
    };
    let s = if first { square(x) } else { square(x * x) };
    let (t, u) = (square(s), square(x));
    let v = vec![square(x), square(t)];
    by_reference(&p) * of_plain(p) + of_plain(q) * q.a * read(&s) + read(&t) * t + v[0] * v[1] * read(&u)
}

#[test]
fn structs_of_one_of_several_calls() {
    check_rule(by_if::rule, [(0.3, true), (0.4, false)]);
    check_rule(by_match::rule, [(0.3, 0), (0.4, 1), (0.2, 1), (0.4, 2)]);
    check_rule(side_by_side::rule, [(0.7,)]);
    check_rule(in_a_vector::rule, [(0.7,)]);
    check_rule(by_parts::rule, [(0.7, 3), (0.7, 0)]);
    check_rule(changed_after::rule, [(0.3, true), (0.4, false)]);
    check_rule(of_plain_data::rule, [(0.8, true), (0.9, false)]);
}
