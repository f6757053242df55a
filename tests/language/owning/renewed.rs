//! Vectors behind `&mut` parameters that get other elements and other memory, whatever the lengths: `self.data = …`, `*v = …`,
//! `std::mem::take`, `std::mem::replace`.

use ndarray::Array2;
use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

/// Samples that come and go.
#[derive(Clone, Debug, Differentiable)]
struct Buffer {
    data: Vec<f64>,
    k: f64,
    total: f64,
}

#[differentiable]
impl Buffer {
    fn put(&mut self, x: f64) {
        self.data.push(x * self.k);
    }

    fn flush(&mut self, least: usize) -> f64 {
        if self.data.len() < least {
            return 0.0;
        }
        let data = std::mem::take(&mut self.data);
        let mut sum = 0.0;
        for v in data.iter() {
            sum += v * v * self.k;
        }
        self.total += sum;
        sum
    }

    fn reset(&mut self) {
        self.data = Vec::new();
        self.total = 0.0;
    }

    fn halve(&mut self) {
        self.data = self.data.iter().take(self.data.len() / 2).map(|v| v * self.k).collect();
    }

    /// Out of `self` and back, as the borrow checker would have it.
    fn change(&mut self) {
        let mut data = std::mem::take(&mut self.data);
        data.push(self.k);
        for v in data.iter_mut() {
            *v *= self.k;
        }
        self.data = data;
    }

    fn fill(&mut self, n: usize) {
        self.data = vec![self.k; n];
    }
}

#[differentiable]
fn of_buffer(x: &[f64], k: f64) -> f64 {
    let mut buffer = Buffer { data: vec![], k, total: 0.0 };
    let mut result = 0.0;
    for (i, v) in x.iter().enumerate() {
        buffer.put(*v);
        buffer.put(v * v);
        if i % 3 == 2 {
            let flushed = buffer.flush(2);
            result += flushed * v;
        }
        if i == 4 {
            buffer.reset();
        }
        buffer.change();
        if i % 2 == 1 {
            buffer.halve();
        }
    }
    result += buffer.total * buffer.data.iter().sum::<f64>();
    buffer.fill(3);
    result * buffer.data[1] * buffer.data[2]
}

#[test]
fn fields() {
    let x = vec![0.1, 0.7, 0.3, 0.9, 0.4, 0.2, 0.8];
    check_rule(of_buffer::rule, [(x.clone(), 0.7), (x[..3].to_vec(), 1.2), (x[..2].to_vec(), 1.2)]);
    let buffer = |data: &[f64]| Buffer { data: data.to_vec(), k: 0.4, total: 0.1 };
    check_rule(Buffer::flush_rule, [(buffer(&[1.0, 2.0]), 1), (buffer(&[1.0, 2.0]), 3)]);
    check_rule(Buffer::reset_rule, [(buffer(&[1.0, 2.0]),), (buffer(&[]),)]);
    check_rule(Buffer::halve_rule, [(buffer(&[1.0, 2.0, 0.5]),), (buffer(&[]),)]);
    check_rule(Buffer::change_rule, [(buffer(&[1.0, 2.0]),), (buffer(&[]),)]);
    check_rule(Buffer::fill_rule, [(buffer(&[1.0, 2.0]), 5), (buffer(&[1.0, 2.0]), 1)]);
}

#[differentiable]
fn scaled(v: &mut Vec<f64>, k: f64) {
    *v = v.iter().map(|x| x * k).collect();
}

#[differentiable]
fn replaced(v: &mut Vec<f64>, k: f64) -> f64 {
    let new = vec![k; 3];
    let old = std::mem::replace(v, new);
    let mut sum = 0.0;
    for x in &old {
        sum += x * x * k;
    }
    sum
}

#[differentiable]
fn sorted_out(v: &mut Vec<f64>, k: f64) -> f64 {
    let old: Vec<f64> = std::mem::take(v);
    for x in old {
        v.push(x * k);
        if x > 0.5 {
            v.push(x);
        }
    }
    v.iter().sum()
}

#[differentiable]
fn by_turns(x: &[f64], k: f64) -> f64 {
    let mut v = x.to_vec();
    let a = replaced(&mut v, k);
    v.push(a);
    scaled(&mut v, k);
    let b = sorted_out(&mut v, k);
    v[0] * v[1] * b
}

#[differentiable]
fn shorter(v: &mut Vec<f64>, x: f64) {
    let k = v[0];
    *v = vec![x * k; v.len() - 1];
}

#[differentiable]
fn down_and_up(v: &mut Vec<f64>, x: f64, n: usize) {
    if n > 0 {
        shorter(v, x);
        down_and_up(v, x * 1.1, n - 1);
        v.push(x);
    }
}

#[differentiable]
fn recursive(x: f64, n: usize) -> f64 {
    let mut v = vec![x; n + 1];
    down_and_up(&mut v, x, n);
    v[0] * v.iter().sum::<f64>()
}

#[differentiable]
fn from_checkpoints(x: f64, n: usize) -> f64 {
    let mut v = vec![x; n + 1];
    #[pullback(checkpoint = 3)]
    for i in 0..n {
        shorter(&mut v, x + i as f64 * 0.1);
    }
    v.iter().sum()
}

#[test]
fn parameters() {
    let inputs = [(vec![1.0, 2.0], 0.7), (vec![1.0, 2.0, 0.4, 0.6, 0.7], 1.7)];
    check_rule(scaled::rule, inputs.clone());
    check_rule(replaced::rule, inputs.clone());
    check_rule(sorted_out::rule, inputs.clone());
    check_rule(by_turns::rule, inputs);
    check_rule(recursive::rule, [(1.3, 4), (0.7, 0)]);
    // What a checkpoint begins with is run again.
    CheckRule::new(from_checkpoints::rule).input((1.3, 7)).input((0.8, 2)).allocating(20).run();
}

/// Elements are taken out by the one, and the rest changes places by the other.
#[differentiable]
fn cut(v: &mut Vec<f64>, w: &mut Vec<f64>) {
    let a = v.pop().unwrap();
    v.pop();
    exchanged(v, w);
    v[0] *= a;
}

#[differentiable]
fn exchanged(v: &mut Vec<f64>, w: &mut Vec<f64>) {
    std::mem::swap(v, w);
}

#[differentiable]
fn cut_and_exchanged(v: &mut Vec<f64>, w: &mut Vec<f64>) {
    let a = v.pop().unwrap();
    std::mem::swap(v, w);
    w.push(a * a);
}

#[differentiable]
fn of_cut(x: &[f64]) -> f64 {
    let mut v = x.to_vec();
    let mut w = vec![x[0] * 2.0; x.len() - 2];
    cut(&mut v, &mut w);
    let s = v[0] * w[0];
    w.push(s);
    cut_and_exchanged(&mut w, &mut v);
    v[0] * w[0] + w[w.len() - 1]
}

#[test]
fn cut_vectors_that_change_places() {
    check_rule(of_cut::rule, [(vec![1.0, 2.0, 0.3, 0.5],), (vec![1.0, 2.0, 0.3],)]);
    check_rule(cut::rule, [(vec![1.0, 2.0, 0.3, 0.5], vec![0.2, 0.3])]);
    check_rule(cut_and_exchanged::rule, [(vec![1.0, 2.0, 0.3], vec![0.2, 0.3])]);
}

#[differentiable]
fn in_slices(all: &mut [Buffer], k: f64) -> f64 {
    for buffer in all.iter_mut() {
        buffer.data = vec![buffer.k, buffer.data[0] * k, 1.0];
    }
    all[0].data = Vec::new();
    let n = all.len();
    all[n - 1].data.push(k);
    let first = &mut all[0];
    first.data = vec![k; 2];
    all[0].data[1] * all[n - 1].data[0] * all[n - 1].data[1]
}

#[differentiable]
fn pushed_in_slices(all: &mut [Vec<f64>], k: f64) -> f64 {
    let n = all.len();
    all[n - 1].push(k);
    all[0].push(k * k);
    all[n - 1][1] * all[0][1]
}

#[test]
fn of_slices() {
    let buffer = |data: &[f64]| Buffer { data: data.to_vec(), k: 0.4, total: 0.1 };
    check_rule(
        in_slices::rule,
        [(vec![buffer(&[0.1, 0.2]), buffer(&[0.3, 0.4, 0.5, 0.6])], 0.7), (vec![buffer(&[0.1])], 1.2)],
    );
    check_rule(pushed_in_slices::rule, [(vec![vec![0.1, 0.2], vec![0.3]], 0.7), (vec![vec![0.1]], 1.2)]);
}

/// What calls return: nothing tells whether that owns memory.
#[differentiable]
fn stepped(x: &[f64], k: f64) -> Vec<f64> {
    x.iter().map(|v| v - k * v * v).collect()
}

#[differentiable]
fn step(v: &mut Vec<f64>, k: f64) {
    *v = stepped(v, k);
}

#[derive(Clone, Copy, Debug, Differentiable)]
struct Vector {
    x: f64,
    y: f64,
}

#[differentiable]
fn force(p: Vector, k: f64) -> Vector {
    Vector { x: -k * p.x, y: -k * p.y * p.x }
}

#[differentiable]
fn moved(a: Vector, s: f64, b: Vector) -> Vector {
    Vector { x: a.x + s * b.x, y: a.y + s * b.y }
}

#[differentiable]
fn damped(k: f64, x: f64) -> f64 {
    k * (-x * x * 0.01).exp()
}

#[derive(Clone, Debug, Differentiable)]
struct Weights {
    w: Vec<f64>,
    b: f64,
}

#[differentiable]
fn trained(weights: &Weights, k: f64) -> Weights {
    Weights { w: weights.w.iter().map(|x| x * k).collect(), b: weights.b * k }
}

#[derive(Clone, Debug, Differentiable)]
struct Particle {
    position: Vector,
    velocity: Vector,
    k: f64,
    rest: Vec<f64>,
    steps: usize,
    #[constant]
    tolerance: f64,
    seed: u64,
}

#[differentiable]
fn tolerated(p: &Particle) -> f64 {
    p.position.x * 1e-3
}

#[differentiable]
impl Particle {
    fn count(&self) -> usize {
        self.steps + self.rest.len()
    }

    fn draw(&mut self) -> f64 {
        self.seed = self.seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.seed >> 40) as f64 / 16777216.0 * self.k
    }

    fn squares(&self) -> Vec<f64> {
        self.rest.iter().map(|x| x * x * self.k).collect()
    }

    fn advance(&mut self, dt: f64) {
        let a = force(self.position, self.k);
        self.velocity = moved(self.velocity, dt, a);
        self.position = moved(self.position, dt, self.velocity);
        self.k = damped(self.k, self.position.x);
        self.steps = self.count();
        self.tolerance = tolerated(self);
        let e = damped(self.k, 1.0);
        self.k = e;
        self.position.x = damped(self.position.x, e);
        self.rest = stepped(&self.rest, self.k);
        self.rest.push(e);
        self.rest = self.squares();
        self.velocity.y = self.draw();
        let new = self.squares();
        self.rest = new;
    }
}

#[differentiable]
fn of_particle(x: f64, k: f64) -> f64 {
    let (position, velocity) = (Vector { x, y: 1.0 }, Vector { x: 0.1, y: k });
    let mut p = Particle { position, velocity, k, rest: vec![x], steps: 0, tolerance: 0.1, seed: 3 };
    for _ in 0..3 {
        p.advance(0.1);
        p.velocity = moved(p.velocity, 0.1, p.position);
        p.rest = stepped(&p.rest, x);
        p.k = damped(p.k, x);
        p.rest = p.squares();
    }
    p.position.x * p.velocity.y + p.k * p.rest[1]
}

#[derive(Clone, Debug, Differentiable)]
#[pullback(by_reference)]
struct Trainer {
    weights: Weights,
    k: f64,
}

#[differentiable]
impl Trainer {
    fn train(&mut self) {
        self.weights = trained(&self.weights, self.k);
    }
}

#[differentiable]
fn of_trainer(x: &[f64], k: f64) -> f64 {
    let mut trainer = Trainer { weights: Weights { w: x.to_vec(), b: k }, k };
    for _ in 0..3 {
        trainer.train();
    }
    trainer.weights.w[0] * trainer.weights.b * trainer.weights.w[x.len() - 1]
}

#[test]
fn what_calls_return() {
    check_rule(step::rule, [(vec![0.5, 1.0], 0.3), (vec![0.2], -0.3)]);
    check_rule(of_particle::rule, [(1.3, 0.7), (-0.4, 0.2)]);
    check_rule(of_trainer::rule, [(vec![0.5, 1.0], 0.7), (vec![0.2], -0.3)]);
    let trainer = Trainer { weights: Weights { w: vec![0.3, 0.2], b: 0.7 }, k: 1.2 };
    check_rule(Trainer::train_rule, [(trainer,)]);
}

/// What changes places may differ in length.
#[differentiable]
fn ordered(rows: &mut [Vec<f64>], k: f64) -> f64 {
    rows.swap(0, 1);
    let last = rows.len() - 1;
    for v in rows[0].iter_mut() {
        *v *= k;
    }
    rows.swap(0, last);
    rows.reverse();
    rows.rotate_left(1);
    rows[0].push(k);
    rows.rotate_right(2);
    rows.iter().enumerate().map(|(i, row)| (i as f64 + 1.0) * row.iter().map(|v| v * v).sum::<f64>()).sum()
}

#[differentiable]
fn of_ordered(x: &[f64], k: f64) -> f64 {
    let mut rows = vec![vec![x[0]; 3], vec![x[1]], vec![x[2]; 2], vec![k; 5]];
    let a = ordered(&mut rows, k);
    rows[1].push(a);
    let b = ordered(&mut rows, x[0]);
    a * b + rows[0][0]
}

/// A rotation of more than one cycle, of rows of which those in a cycle have one length.
#[differentiable]
fn in_cycles(rows: &mut [Vec<f64>], k: f64) -> f64 {
    rows.rotate_left(2);
    rows[0][0] * rows[1][0] * k + rows[2][0] * rows[3][0] * rows[1][2]
}

#[test]
fn rows_of_different_lengths_change_places() {
    let rows = |lengths: &[usize]| -> Vec<Vec<f64>> {
        lengths
            .iter()
            .enumerate()
            .map(|(i, n)| (0..*n).map(|j| 0.3 + (2 * i + j) as f64 * 0.2).collect())
            .collect()
    };
    check_rule(ordered::rule, [(rows(&[1, 2, 3]), 0.4), (rows(&[3, 0, 1, 5]), 1.1), (rows(&[0, 4]), 0.3)]);
    check_rule(of_ordered::rule, [(vec![0.1, 0.2, 0.4], 0.4), (vec![1.1, 0.2, 0.4], 1.1)]);
    check_rule(in_cycles::rule, [(rows(&[1, 3, 1, 3]), 0.4), (rows(&[2, 3, 1, 4, 1, 1]), 0.4)]);
}

#[derive(Clone, Debug, Differentiable)]
#[pullback(by_reference)]
struct Pair {
    a: Vec<f64>,
    b: Vec<f64>,
    k: f64,
}

#[differentiable]
impl Pair {
    fn step(&mut self) -> f64 {
        std::mem::swap(&mut self.a, &mut self.b);
        self.a.push(self.k);
        for v in self.b.iter_mut() {
            *v *= self.k;
        }
        self.a.iter().sum::<f64>() * self.b.iter().sum::<f64>()
    }

    fn with_new(&mut self, k: f64) -> f64 {
        let mut new = vec![k; 4];
        std::mem::swap(&mut self.a, &mut new);
        let mut sum = 0.0;
        for v in &new {
            sum += v * v;
        }
        sum * self.a[1]
    }
}

#[differentiable]
fn of_pair(x: &[f64], k: f64, n: usize) -> f64 {
    let mut pair = Pair { a: x.to_vec(), b: vec![k], k };
    let mut sum = 0.0;
    for i in 0..n {
        sum += pair.step();
        if i % 2 == 1 {
            sum += pair.with_new(k * 0.5);
        }
    }
    sum
}

#[differentiable]
fn pairs(p: &mut Pair, q: &mut Pair) -> f64 {
    std::mem::swap(p, q);
    p.step() * q.k
}

#[differentiable]
fn by_turns_recursively(a: &mut Vec<f64>, b: &mut Vec<f64>, k: f64, n: usize) -> f64 {
    if n == 0 {
        return a.iter().sum();
    }
    std::mem::swap(a, b);
    a.push(k);
    by_turns_recursively(a, b, k * 1.1, n - 1) * b.iter().sum::<f64>()
}

#[test]
fn vectors_of_different_lengths_change_places() {
    let pair = |a: &[f64], b: &[f64]| Pair { a: a.to_vec(), b: b.to_vec(), k: 0.7 };
    let (long, short) = ([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [0.5, 0.1, 0.2]);
    check_rule(Pair::step_rule, [(pair(&[1.0, 2.0], &[0.5]),), (pair(&[], &short),)]);
    check_rule(Pair::with_new_rule, [(pair(&[1.0, 2.0], &[0.5]), 0.3), (pair(&long, &short), 0.4)]);
    check_rule(of_pair::rule, [(vec![0.1, 0.2, 0.4], 0.4, 3), (vec![1.1], 1.1, 5)]);
    check_rule(pairs::rule, [(pair(&[1.0, 2.0], &[0.5]), pair(&[1.0], &short))]);
    check_rule(
        by_turns_recursively::rule,
        [(vec![0.1, 0.2, 0.4], vec![0.4], 0.3, 4), (vec![0.3], vec![0.4, 0.7], 0.3, 3)],
    );
}

/// The shapes of arrays are known at run time alone.
#[differentiable]
fn arrays(a: &mut Array2<f64>, b: &mut Array2<f64>) -> f64 {
    std::mem::swap(a, b);
    a[[0, 0]] * b[[0, 0]]
}

#[test]
#[should_panic(expected = "arrays of different shapes")]
fn arrays_of_different_shapes_do_not() {
    let (mut a, mut b) = (Array2::ones((2, 1)), Array2::ones((1, 2)));
    arrays::gradient().value_and_gradient(&mut a, &mut b);
}

#[differentiable]
fn nested(a: &mut Vec<Vec<f64>>, b: &mut Vec<Vec<f64>>) -> f64 {
    std::mem::swap(a, b);
    a[0][0] * b[0][1]
}

#[test]
fn as_many_rows_change_places() {
    check_rule(nested::rule, [(vec![vec![0.2, 0.5], vec![]], vec![vec![0.3, 0.6, 0.7], vec![0.1]])]);
}

#[test]
#[should_panic(expected = "vectors with different numbers of rows")]
fn more_rows_do_not() {
    nested::gradient().value_and_gradient(&mut vec![vec![0.1, 0.2]], &mut vec![vec![0.1, 0.2], vec![0.3]]);
}
