//! `&mut` parameters without gradient: permutations, counters, and room to work in.

use pullback::prelude::*;
use pullback::testing::{CheckRule, Coordinate, Coordinates, check_rule};

/// LU decomposition in place, the rows exchanged as `order` says.
#[differentiable]
fn decompose(a: &mut [f64], n: usize, order: &mut [usize]) {
    for i in 0..n {
        order[i] = i;
    }
    for k in 0..n {
        let mut pivot = k;
        for i in k + 1..n {
            if a[i * n + k].abs() > a[pivot * n + k].abs() {
                pivot = i;
            }
        }
        if pivot != k {
            for j in 0..n {
                a.swap(k * n + j, pivot * n + j);
            }
            let row = order[k];
            order[k] = order[pivot];
            order[pivot] = row;
        }
        for i in k + 1..n {
            a[i * n + k] /= a[k * n + k];
            let factor = a[i * n + k];
            for j in k + 1..n {
                a[i * n + j] -= factor * a[k * n + j];
            }
        }
    }
}

/// A·x = b
#[differentiable]
fn solve(a: &mut [f64], b: &[f64], x: &mut [f64], order: &mut [usize]) -> f64 {
    let n = b.len();
    decompose(a, n, order);
    for i in 0..n {
        x[i] = b[order[i]];
        for j in 0..i {
            x[i] -= a[i * n + j] * x[j];
        }
    }
    for i in (0..n).rev() {
        for j in i + 1..n {
            x[i] -= a[i * n + j] * x[j];
        }
        x[i] /= a[i * n + i];
    }
    let mut norm = 0.0;
    for value in &*x {
        norm += value * value;
    }
    norm
}

/// The permutation is a local here.
#[differentiable]
fn solved(a: &[f64], b: &[f64]) -> f64 {
    let mut lu = a.to_vec();
    let mut x = vec![0.0; b.len()];
    let mut order = vec![0usize; b.len()];
    let norm = solve(&mut lu, b, &mut x, &mut order);
    norm + x[order[0]]
}

/// By a method of slices, which nothing undoes.
#[differentiable]
fn sorted(x: &[f64], order: &mut [usize]) -> f64 {
    for i in 1..order.len() {
        let mut j = i;
        while j > 0 && x[order[j - 1]] > x[order[j]] {
            order.swap(j - 1, j);
            j -= 1;
        }
    }
    let mut total = 0.0;
    for (rank, i) in order.iter().enumerate() {
        total += x[*i] * x[*i] * rank as f64;
    }
    order.reverse();
    for rank in 0..order.len() {
        total *= 1.0 + 0.1 * x[order[rank]];
    }
    total
}

#[differentiable]
fn histogram(x: &[f64], counts: &mut Vec<u32>, calls: &mut usize) -> f64 {
    *calls += 1;
    counts.clear();
    counts.resize(3, 0);
    let mut total = 0.0;
    for i in 0..x.len() {
        let bin = (x[i].abs() * 2.0).floor().min(2.0) as usize;
        counts[bin] += 1;
        if counts[bin] % 2 == 1 {
            total += x[i] * x[i] * counts[bin] as f64;
        } else {
            total *= x[i].cos();
        }
        if bin == 2 {
            counts.push(bin as u32);
        }
    }
    *calls += counts.len();
    total * *calls as f64
}

#[differentiable]
fn counted(x: f64, calls: &mut usize) -> f64 {
    let mut y = x;
    while y > 1.0 {
        y = y.sqrt() - 0.1 * x.sin() / *calls as f64;
        *calls += 1;
        if *calls > 6 {
            *calls = 1;
            return y * y * *calls as f64;
        }
    }
    y * *calls as f64
}

#[differentiable]
fn counted_twice(x: f64, n: usize) -> f64 {
    let mut calls = 1;
    let mut total = 0.0;
    for i in 0..n {
        let value = counted(x + i as f64, &mut calls);
        total += value * calls as f64;
    }
    total
}

/// A loop that runs again from checkpoints, which finds what it has counted as it was.
#[differentiable]
fn checkpointed(x: f64, n: usize, order: &mut [usize], calls: &mut usize) -> f64 {
    let mut y = x;
    #[pullback(checkpoint = 3)]
    for i in 0..n {
        order[i % 3] += i;
        *calls += order[0];
        y = y.sin() * (1.0 + *calls as f64 * 0.1) + order[(i + 1) % 3] as f64 * x * y;
    }
    y
}

/// What is in `room` is constant, and so is what comes from there.
#[differentiable]
fn weighted(x: &[f64], #[constant] weights: &[f64], #[constant] room: &mut [f64]) -> f64 {
    let total: f64 = weights.iter().sum();
    for i in 0..room.len() {
        room[i] = weights[i] / total;
    }
    let mut sum = 0.0;
    for i in 0..x.len() {
        sum += room[i] * x[i] * x[i];
        room[i] *= 2.0;
    }
    room.fill(0.5);
    for r in room.iter_mut() {
        *r += 1.0;
    }
    sum * room[0]
}

#[differentiable]
fn weighted_twice(x: &mut [f64], #[constant] room: &mut [f64]) -> f64 {
    let weights = [1.0, 2.0, 3.0];
    let first = weighted(x, &weights, room);
    x[0] *= first * room[0];
    x[1] = x[0].sin();
    let second = weighted(x, &weights[..], &mut room[..]);
    first * second
}

/// Constant code calls a function without a rule.
fn shuffle(order: &mut [usize], seed: u64) {
    let n = order.len();
    for i in 0..n {
        order.swap(i, (seed as usize * 7 + i * i) % n);
    }
}

#[differentiable]
fn shuffled(x: &[f64], y: &mut [f64], order: &mut [usize], seed: u64) -> f64 {
    let mut total = 0.0;
    for round in 0..3 {
        shuffle(order, seed + round);
        for i in 0..x.len() {
            y[order[i]] += x[i] * y[i];
            total += y[i] * x[order[i]];
        }
        order[0] = order[1];
    }
    total
}

#[derive(Debug, PartialEq)]
struct Statistics {
    steps: usize,
    worst: f64,
    sizes: Vec<usize>,
}

/// As derived, but that memory is used again.
impl Clone for Statistics {
    fn clone(&self) -> Self {
        Statistics { sizes: self.sizes.clone(), ..*self }
    }
    fn clone_from(&mut self, other: &Self) {
        (self.steps, self.worst) = (other.steps, other.worst);
        self.sizes.clone_from(&other.sizes);
    }
}

impl Statistics {
    fn note(&mut self, size: usize) {
        self.sizes.push(size);
        self.worst = self.worst.max(size as f64);
    }
}

impl Coordinates for Statistics {
    fn visit(&mut self, visitor: &mut dyn FnMut(Coordinate<'_>)) {
        self.steps.visit(visitor);
        self.worst.visit(visitor);
        self.sizes.visit(visitor);
    }
}

#[differentiable]
fn observed(x: f64, #[constant] statistics: &mut Statistics) -> f64 {
    let mut y = x;
    for _ in 0..4 {
        y = y * y - 0.5 * x;
        statistics.steps += 1;
        statistics.worst = statistics.worst * 0.9 + 0.2;
        if statistics.steps % 2 == 0 {
            y *= statistics.worst;
        }
    }
    y * statistics.steps as f64
}

#[differentiable]
fn noted(x: f64, #[constant] statistics: &mut Statistics) -> f64 {
    let mut y = x * statistics.worst;
    for i in 0..3 {
        statistics.note(i);
        y = y * x + statistics.worst * x;
    }
    let sizes = &mut statistics.sizes;
    sizes.clear();
    statistics.sizes.push(7);
    y * statistics.sizes[0] as f64
}

struct Counter {
    calls: usize,
    scale: f64,
}

impl Clone for Counter {
    fn clone(&self) -> Self {
        Counter { ..*self }
    }
}

impl Coordinates for Counter {
    fn visit(&mut self, visitor: &mut dyn FnMut(Coordinate<'_>)) {
        self.calls.visit(visitor);
        self.scale.visit(visitor);
    }
}

#[differentiable]
impl Counter {
    fn energy(#[constant] &mut self, x: f64) -> f64 {
        self.calls += 1;
        self.scale *= 0.5;
        self.scale * x * x
    }
}

#[differentiable]
fn energies(x: f64, #[constant] counter: &mut Counter) -> f64 {
    let first = Counter::energy(counter, x);
    let second = Counter::energy(counter, first);
    first * second * counter.calls as f64
}

/// Newton's step with a slope that is kept for the next call, and held constant.
#[differentiable]
fn step(x: f64, #[constant] slope: &mut f64) -> f64 {
    let y = x * x - 2.0;
    *slope = constant(2.0 * x);
    x - y / *slope
}

fn matrix(n: usize) -> Vec<f64> {
    (0..n * n)
        .map(|i| ((i * i + 3 * i) as f64 * 0.7).sin() + if i % (n + 1) == 1 { 2.0 } else { 0.0 })
        .collect()
}

#[test]
fn permutations() {
    check_rule(
        decompose::rule,
        [(matrix(3), 3, vec![5, 5, 5]), (matrix(1), 1, vec![0]), (matrix(4), 4, vec![0; 5])],
    );
    let b = |n| (0..n).map(|i| 0.5 + i as f64).collect::<Vec<_>>();
    CheckRule::new(solve::rule)
        .inputs([(matrix(3), b(3), vec![0.0; 3], vec![9; 3]), (matrix(4), b(4), vec![1.0; 4], vec![0; 4])])
        .run();
    check_rule(solved::rule, [(matrix(3), b(3)), (matrix(4), b(4)), (matrix(2), b(2))]);
    check_rule(sorted::rule, [(vec![0.3, -0.2, 0.9, 0.1], vec![0, 1, 2, 3]), (vec![0.7, 0.2], vec![0, 1])]);
    check_rule(shuffled::rule, [(vec![0.3, -0.2, 0.9], vec![0.5, 1.5, 2.5], vec![0, 1, 2], 3)]);
}

#[test]
fn counters() {
    check_rule(
        histogram::rule,
        [(vec![0.3, 0.2, 0.8, 1.7, 0.9], vec![], 3), (vec![1.2, 0.4], vec![7, 8, 9, 10, 11], 0)],
    );
    check_rule(counted::rule, [(5.0, 1), (0.3, 2), (1e4, 4)]);
    check_rule(
        checkpointed::rule,
        [(0.3, 7, vec![1, 0, 2], 3), (0.4, 3, vec![0, 1, 1], 0), (0.2, 0, vec![], 5)],
    );
    check_rule(counted_twice::rule, [(5.0, 3), (0.3, 2), (700.0, 4)]);
}

#[test]
fn room() {
    check_rule(weighted::rule, [(vec![0.3, 0.2], vec![1.0, 4.0], vec![9.0, f64::NAN])]);
    check_rule(weighted_twice::rule, [(vec![0.3, 0.2, 0.7], vec![9.0, -0.0, f64::NAN])]);
}

#[test]
fn constant_structs() {
    let statistics = |steps| Statistics { steps, worst: 0.7, sizes: vec![4, 5] };
    check_rule(observed::rule, [(0.8, statistics(0)), (1.3, statistics(3))]);
    CheckRule::new(noted::rule).inputs([(0.8, statistics(0)), (1.3, statistics(3))]).run();
    check_rule(Counter::energy_rule, [(Counter { calls: 1, scale: 3.0 }, 0.7)]);
    check_rule(energies::rule, [(0.7, Counter { calls: 1, scale: 3.0 })]);
}

#[test]
fn what_is_held_constant() {
    let mut g = step::gradient();
    let mut slope = 7.0;
    let (value, d) = g.value_and_gradient(2.0, &mut slope);
    assert_eq!((value, d.x, slope), (1.5, 1.0 - 2.0 * 2.0 / 4.0, 7.0));
}
