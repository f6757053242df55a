//! Structs and tuples that own vectors, by value.

use pullback::prelude::*;
use pullback::testing::check_rule;

#[derive(Clone, Debug, Differentiable)]
struct State {
    x: Vec<f64>,
    p: Vec<f64>,
}

#[differentiable]
fn predict(s: &State, q: f64) -> State {
    let n = s.x.len();
    let mut x = s.x.clone();
    for i in 0..n {
        x[i] = 0.9 * s.x[i] * s.x[i];
    }
    let p = s.p.iter().map(|p| 0.81 * p + q).collect();
    State { x, p }
}

#[differentiable]
fn filtered(a: &[f64]) -> f64 {
    let mut s = State { x: a.to_vec(), p: vec![1.0; a.len()] };
    for _ in 0..3 {
        s = predict(&s, a[0]);
    }
    s.x[0] * s.p[1]
}

/// What is read of the fields before they are moved, and afterwards.
#[differentiable]
fn moved_in(a: &[f64], k: f64) -> f64 {
    let mut x = a.to_vec();
    let weights = vec![0.5; a.len()];
    let mut total = 0.0;
    for i in 0..x.len() {
        x[i] *= k;
        total += x[i] * x[i] * weights[i];
    }
    let mut s = State { x, p: weights };
    for i in 0..s.x.len() {
        s.x[i] *= s.x[i];
        s.p[i] += s.x[i] * total;
    }
    s.x[0] * s.p[1] + total
}

/// Returned with what is read of it afterwards.
#[differentiable]
fn normalised(a: &[f64], k: f64) -> State {
    let mut x = a.to_vec();
    let weights = vec![0.5; a.len()];
    for i in 0..x.len() {
        x[i] = x[i] * x[i] * weights[i] * k;
    }
    let total = x[0] * x[1];
    let p = vec![total * x[0], k];
    State { x, p }
}

#[derive(Clone, Debug, Differentiable)]
struct Matrix {
    rows: usize,
    cols: usize,
    data: Vec<f64>,
}

#[differentiable]
impl Matrix {
    fn zeros(rows: usize, cols: usize) -> Self {
        Matrix { rows, cols, data: vec![0.0; rows * cols] }
    }
    fn get(&self, i: usize, j: usize) -> f64 {
        self.data[i * self.cols + j]
    }
    fn set(&mut self, i: usize, j: usize, v: f64) {
        self.data[i * self.cols + j] = v;
    }
    fn matmul(&self, o: &Matrix) -> Matrix {
        let mut out = Matrix::zeros(self.rows, o.cols);
        for i in 0..self.rows {
            for j in 0..o.cols {
                let mut s = 0.0;
                for k in 0..self.cols {
                    s += self.get(i, k) * o.get(k, j);
                }
                out.set(i, j, s);
            }
        }
        out
    }
    fn transpose(&self) -> Matrix {
        let mut t = Matrix::zeros(self.cols, self.rows);
        for i in 0..self.rows {
            for j in 0..self.cols {
                t.data[j * self.rows + i] = self.data[i * self.cols + j];
            }
        }
        t
    }
    fn trace(&self) -> f64 {
        let mut t = 0.0;
        for i in 0..self.rows {
            t += self.get(i, i);
        }
        t
    }
}

#[differentiable]
fn products(a: &[f64]) -> f64 {
    let m = Matrix { rows: 2, cols: 2, data: vec![a[0], 1.0, 2.0, a[1]] };
    let p = m.matmul(&m.transpose());
    p.get(0, 1) + p.get(1, 1) * m.matmul(&p).trace()
}

#[differentiable]
fn power(m: &Matrix, n: usize) -> Matrix {
    let mut p = m.clone();
    for _ in 0..n {
        p = p.matmul(m);
    }
    p
}

#[derive(Clone, Differentiable)]
struct World {
    pos: Vec<f64>,
    vel: Vec<f64>,
    #[constant]
    dt: f64,
}

#[differentiable]
impl World {
    fn step(&mut self, k: f64) {
        for i in 0..self.pos.len() {
            self.vel[i] -= self.dt * k * self.pos[i];
            self.pos[i] += self.dt * self.vel[i];
        }
    }
    fn energy(&self) -> f64 {
        self.pos.iter().zip(&self.vel).map(|(p, v)| p * p + v * v).sum()
    }
}

#[differentiable]
fn simulated(a: &[f64]) -> f64 {
    let mut w = World { pos: vec![a[0]; 3], vel: vec![0.0; 3], dt: 0.1 };
    for _ in 0..5 {
        w.step(a[1]);
    }
    w.energy()
}

#[differentiable]
fn qr(a: &[f64], n: usize) -> (Vec<f64>, Vec<f64>) {
    let mut q = a.to_vec();
    let mut r = vec![0.0; n * n];
    for j in 0..n {
        for k in 0..j {
            let mut s = 0.0;
            for i in 0..n {
                s += q[i * n + k] * q[i * n + j];
            }
            r[k * n + j] = s;
            for i in 0..n {
                q[i * n + j] -= s * q[i * n + k];
            }
        }
        let norm = (0..n).map(|i| q[i * n + j].powi(2)).sum::<f64>().sqrt();
        r[j * n + j] = norm;
        for i in 0..n {
            q[i * n + j] /= norm;
        }
    }
    (q, r)
}

#[differentiable]
fn of_factors(a: &[f64]) -> f64 {
    let (q, r) = qr(a, 2);
    q[1] * r[3] + r[1].ln()
}

#[differentiable]
fn moments(x: &[f64]) -> (f64, Vec<f64>) {
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    let centred = x.iter().map(|v| v - mean).collect();
    (mean, centred)
}

#[differentiable]
fn of_moments(a: &[f64]) -> f64 {
    let (m, c) = moments(a);
    m * c[0] + c[1].powi(2)
}

fn state(n: usize) -> State {
    State {
        x: (0..n).map(|i| 0.5 + 0.3 * i as f64).collect(),
        p: (0..n).map(|i| 1.2 - 0.2 * i as f64).collect(),
    }
}

fn matrix(n: usize) -> Matrix {
    Matrix { rows: n, cols: n, data: (0..n * n).map(|i| (i as f64 + 0.3).sin()).collect() }
}

#[test]
fn structs_are_returned() {
    check_rule(predict::rule, [(state(3), 0.7), (state(1), 1.2)]);
    check_rule(normalised::rule, [(vec![0.7, 1.3, 0.2], 0.7), (vec![0.4, 0.2], 1.2)]);
    check_rule(power::rule, [(matrix(3), 2), (matrix(2), 0), (matrix(2), 3)]);
    check_rule(Matrix_matmul::rule, [(matrix(3), matrix(3)), (matrix(2), matrix(2))]);
}

#[test]
fn structs_are_locals() {
    check_rule(filtered::rule, [(vec![0.7, 1.3],), (vec![1.1, 0.6, 0.5],)]);
    check_rule(moved_in::rule, [(vec![0.7, 1.3], 0.8), (vec![1.1, 0.6, 0.5], 0.3)]);
    check_rule(products::rule, [(vec![0.7, 1.3],), (vec![1.1, 0.6],)]);
    check_rule(simulated::rule, [(vec![0.7, 1.3],), (vec![1.1, 0.6],)]);
}

#[test]
fn tuples_are_returned() {
    check_rule(qr::rule, [(vec![0.7, 1.3, 0.2, 0.9], 2), (vec![1.1], 1)]);
    check_rule(of_factors::rule, [(vec![0.7, 1.3, 0.2, 0.9],), (vec![1.1, 0.6, 0.3, 0.8],)]);
    check_rule(moments::rule, [(vec![0.7, 1.3, 0.2],), (vec![1.1],)]);
    check_rule(of_moments::rule, [(vec![0.7, 1.3, 0.2],), (vec![1.1, 0.3],)]);
}

// In loops and branches, with what is computed by calls, nested, and by `&mut`.

#[differentiable]
fn scaled(x: &[f64], k: f64) -> Vec<f64> {
    x.iter().map(|v| v * k).collect()
}

#[differentiable]
fn norm(x: &[f64]) -> f64 {
    x.iter().map(|v| v * v).sum::<f64>().sqrt()
}

#[derive(Clone, Debug, Differentiable)]
struct Layer {
    weights: Vec<Vec<f64>>,
    bias: Vec<f64>,
    gain: f64,
}

#[derive(Clone, Debug, Differentiable)]
#[pullback(by_reference)]
struct Model {
    inner: Layer,
    state: State,
    n: usize,
}

#[differentiable]
fn layer(a: &[f64], k: f64) -> Layer {
    let bias = scaled(a, k);
    let gain = norm(&bias);
    Layer { weights: vec![vec![a[0], 1.0], vec![k, a[1] * a[1]]], bias, gain }
}

#[differentiable]
fn applied(layer: &Layer, x: &[f64]) -> Vec<f64> {
    layer
        .weights
        .iter()
        .zip(&layer.bias)
        .map(|(row, b)| (row.iter().zip(x).map(|(w, v)| w * v).sum::<f64>() + b).tanh() * layer.gain)
        .collect()
}

/// Made anew in each iteration, of what calls return as well.
#[differentiable]
fn in_loops(a: &[f64], n: usize) -> f64 {
    let mut total = 0.0;
    let mut state = State { x: a.to_vec(), p: a.to_vec() };
    for i in 0..n {
        let l = layer(a, 0.3 + 0.1 * i as f64);
        let y = applied(&l, &state.x);
        total += y[0] * l.gain;
        state = State { x: y, p: scaled(&state.p, total) };
        if i % 2 == 0 {
            let other = State { x: state.x.iter().map(|v| v * v).collect(), p: vec![total; 2] };
            total += other.x[1] * other.p[0];
        } else {
            state.p[0] *= state.x[0];
        }
    }
    total + state.x[1] * state.p[0]
}

#[differentiable]
fn model(a: &[f64]) -> Model {
    let inner = layer(a, a[1]);
    let mut x = a.to_vec();
    x[0] = inner.gain;
    let state = State { x, p: vec![inner.bias[0] * a[0]] };
    Model { inner, state, n: 2 }
}

#[differentiable]
fn advance(m: &mut Model, k: f64) -> f64 {
    for i in 0..m.n {
        m.inner.bias[i] *= k;
        m.state.x[i] += m.inner.bias[i] * m.inner.weights[0][i];
    }
    m.inner.gain *= m.state.x[0];
    m.inner.gain
}

#[differentiable]
fn nested(a: &[f64], k: f64) -> f64 {
    let mut m = model(a);
    let mut total = m.inner.gain;
    for _ in 0..3 {
        let gain = advance(&mut m, k);
        total += gain * m.state.p[0];
    }
    let y = applied(&m.inner, &m.state.x);
    let copy = m.clone();
    let gain = advance(&mut m, total);
    total += gain;
    total * y[0] + copy.inner.gain * m.inner.bias[1]
}

/// Written to by reference, and made of what is.
#[differentiable]
fn by_reference(out: &mut [f64], s: &mut State, k: f64) -> State {
    for i in 0..out.len() {
        s.x[i] *= out[i];
        out[i] = s.x[i] * k;
    }
    let x = out.to_vec();
    let mut t = State { x, p: s.p.clone() };
    t.p[0] *= out[0];
    t.x.push(k);
    let last = t.x.len() - 1;
    t.x[last] *= t.p[0];
    t
}

#[differentiable]
fn through_a_struct(s: &State, k: f64) -> State {
    predict(s, k)
}

#[differentiable]
fn copied(s: &State, k: f64) -> State {
    let mut t = s.clone();
    t.x[0] *= k;
    for i in 0..t.p.len() {
        t.p[i] *= t.x[0];
    }
    t
}

/// The fields of a result that are numbers, alone.
#[differentiable]
fn gain_alone(a: &[f64], k: f64) -> f64 {
    let l = layer(a, k);
    l.gain * k
}

#[differentiable]
fn exchanged(a: &[f64], n: usize) -> f64 {
    let mut one = State { x: a.to_vec(), p: vec![1.0; 2] };
    let mut other = State { x: vec![0.0; a.len()], p: vec![a[0]; 2] };
    for _ in 0..n {
        for i in 0..a.len() {
            other.x[i] = one.x[i] * one.x[i] * a[i] + other.p[0];
        }
        other.p[1] = one.p[1] * other.x[0];
        std::mem::swap(&mut one, &mut other);
    }
    one.x[0] * one.p[1] + other.x[1]
}

#[differentiable]
fn extremes(a: &[f64], k: f64) -> (Vec<f64>, f64, State) {
    let s = State { x: a.to_vec(), p: vec![k; 3] };
    let t = predict(&s, k);
    let mut v = scaled(&t.p, k);
    v[0] *= t.x[0];
    let m = v[0] + v[1];
    (v, m, t)
}

#[differentiable]
fn of_extremes(a: &[f64], k: f64) -> f64 {
    let mut total = 0.0;
    for i in 0..3 {
        let (v, m, t) = extremes(a, k * (i + 1) as f64);
        total += v[0] * m + t.x[0] * t.p[1] + v[2];
    }
    let (unused, last, _state) = extremes(a, total);
    let (_, m, t) = extremes(a, last);
    total * last * m * t.x[0]
}

#[test]
fn made_in_loops_of_what_calls_return() {
    let a = vec![0.7, 0.4];
    check_rule(layer::rule, [(a.clone(), 0.7), (vec![0.3, 0.8], 1.2)]);
    check_rule(in_loops::rule, [(a.clone(), 3), (vec![0.3, 0.8], 0), (a.clone(), 1)]);
    check_rule(model::rule, [(a.clone(),), (vec![0.3, 0.8],)]);
    check_rule(nested::rule, [(a.clone(), 0.7), (vec![0.3, 0.8], 1.2)]);
    check_rule(gain_alone::rule, [(a.clone(), 0.7), (vec![0.3, 0.8], 1.2)]);
    check_rule(exchanged::rule, [(a.clone(), 3), (vec![0.3, 0.8], 0), (a.clone(), 4)]);
}

#[test]
fn with_references() {
    check_rule(by_reference::rule, [(vec![0.7, 0.4], state(2), 0.7), (vec![0.3], state(1), 1.2)]);
    check_rule(through_a_struct::rule, [(state(3), 0.7), (state(1), 1.2)]);
    check_rule(copied::rule, [(state(3), 0.7), (state(1), 1.2)]);
}

#[test]
fn tuples_of_numbers_vectors_and_structs() {
    check_rule(extremes::rule, [(vec![0.7, 0.4], 0.7), (vec![0.3], 1.2)]);
    check_rule(of_extremes::rule, [(vec![0.7, 0.4], 0.7), (vec![0.3], 0.2)]);
}

/// Of vectors of such structs.
#[differentiable]
fn pushed(x: &[f64]) -> f64 {
    let mut all = Vec::new();
    all.push(State { x: x.to_vec(), p: vec![x[0]] });
    all.push(State { x: vec![x[1]], p: vec![x[0] * x[1], x[0]] });
    all[0].x[0] * all[0].x[1] + all[0].p[0] + all[1].p[0] * all[1].x[0].sin()
}

#[test]
fn as_elements() {
    check_rule(pushed::rule, [(vec![0.7, 1.3],), (vec![0.4, -0.3, 0.2],)]);
}

#[derive(Differentiable, Clone)]
struct Line {
    weights: Vec<f64>,
    bias: f64,
}

#[differentiable]
fn fitted(x: &[f64]) -> Line {
    let weights: Vec<f64> = x.iter().map(|v| v * v).collect();
    let bias = x[0] * x[1];
    Line { weights, bias }
}

#[differentiable]
fn length(v: &[f64]) -> f64 {
    v.iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// The fields become locals, by patterns and by their names.
#[differentiable]
fn taken_apart(x: &[f64]) -> f64 {
    let Line { weights, bias } = fitted(x);
    let mut total = weights[0] * bias + length(&weights);
    let line = fitted(&x[1..]);
    let Line { weights: w, .. } = line;
    for v in &w {
        total += v * bias;
    }
    let line = Line { weights: x.to_vec(), bias: x[1] };
    let weights = line.weights;
    let last = fitted(x).weights;
    total * weights.iter().sum::<f64>() * line.bias + last[last.len() - 1]
}

#[derive(Differentiable, Clone, Copy)]
struct Point {
    x: f64,
    y: f64,
}

#[differentiable]
impl Point {
    fn along(self, other: &Point) -> f64 {
        self.x * other.x + self.y * other.y
    }
}

#[derive(Differentiable, Clone, Copy)]
struct Segment {
    start: Point,
    end: Point,
}

#[differentiable]
fn between(x: f64, y: f64) -> Segment {
    Segment { start: Point { x, y }, end: Point { x: y * y, y: x } }
}

/// Of plain structs they are copies.
#[differentiable]
fn plain_parts(x: f64, y: f64) -> f64 {
    let Segment { start, end } = between(x, y);
    let along = start.along(&end);
    along * end.along(&start) + end.along(&end)
}

#[differentiable]
fn told(x: f64) -> Result<f64, String> {
    if x > 1.0 {
        return Err(format!("{x} is too much"));
    }
    Ok(x * x)
}

#[test]
fn fields_moved_out() {
    check_rule(taken_apart::rule, [(vec![0.5, 0.7, 0.3],), (vec![0.9, 0.4, 1.2, 0.6],)]);
    check_rule(plain_parts::rule, [(0.5, 0.7), (-0.3, 1.2)]);
    check_rule(told::rule, [(0.5,), (0.7,)]);
    let mut g = told::pullback();
    assert_eq!(g.value_and_pullback(2.0, 1.0).0, Err("2 is too much".to_string()));
}

/// Rows are pushed to a part of what is returned.
#[differentiable]
fn powers(x: &[f64], n: usize) -> (f64, Vec<Vec<f64>>) {
    let mut rows: Vec<Vec<f64>> = Vec::with_capacity(n);
    for i in 0..n {
        let row: Vec<f64> = match rows.last() {
            Some(last) => last.iter().map(|v| v * x[i]).collect(),
            None => x.to_vec(),
        };
        rows.push(row);
    }
    let first = rows[0][0] * x[1];
    (first, rows)
}

#[differentiable]
fn of_pushed_rows(x: &[f64], n: usize) -> f64 {
    let (first, mut rows) = powers(x, n);
    rows[1][0] *= first;
    let (other, again) = powers(&rows[1], 2);
    rows[0][0] * rows[1][1] + again[1][0] * other
}

#[test]
fn pushed_rows() {
    let inputs = [(vec![0.4, 0.6, 0.3, 0.8], 2), (vec![0.4, 0.6, 0.3, 0.7], 4)];
    check_rule(powers::rule, inputs.clone());
    check_rule(of_pushed_rows::rule, inputs);
}

#[test]
fn literals_within_literals() {
    #[derive(Clone, Debug, Differentiable)]
    struct Inner {
        v: Vec<f64>,
        k: f64,
    }
    #[derive(Clone, Debug, Differentiable)]
    struct Outer {
        a: Inner,
        b: Vec<f64>,
    }
    #[differentiable]
    fn read(o: &Outer) -> f64 {
        o.a.v.iter().map(|x| x * x).sum::<f64>() * o.a.k + o.b.iter().sum::<f64>()
    }
    #[differentiable]
    fn moved(x: &[f64]) -> f64 {
        let v: Vec<f64> = x.iter().map(|x| x.sin()).collect();
        let w: Vec<f64> = x.iter().map(|x| x.exp()).collect();
        let s = v[0] * w[1];
        let o = Outer { a: Inner { v, k: x[0] * s }, b: w };
        read(&o) * o.a.k
    }
    #[differentiable]
    fn made(x: &[f64]) -> Outer {
        let v: Vec<f64> = x.iter().map(|x| x.sin()).collect();
        let s = v[0] * v[1];
        Outer { a: Inner { v, k: x[0] * s }, b: x.iter().map(|x| x.exp()).collect() }
    }
    let inputs = || [(vec![0.3, 0.7],), (vec![0.1, 0.2, 0.3, 0.4],)];
    check_rule(moved::rule, inputs());
    check_rule(made::rule, inputs());
}
