//! Integers that are no indices: ranges of them, in chains and loops.

use pullback::Float;
use pullback::prelude::*;
use pullback::testing::check_rule;

#[differentiable]
fn powers(s: f64) -> f64 {
    let k: Vec<f64> = (1..=5i32).map(|i| s.powi(i)).collect();
    k[0] * k[4] - k[1]
}

#[differentiable]
fn unsigned(s: f64, n: u32) -> Vec<f64> {
    (0..n).map(|i| (s * i as f64).sin()).collect()
}

#[differentiable]
fn around_zero(s: f64, r: i32) -> f64 {
    let k: Vec<f64> = (-r..=r).map(|i| s.powi(i) + i as f64 * s).collect();
    k.iter().product()
}

#[differentiable]
fn wrapped(x: &[f64], i: isize) -> f64 {
    x[i.rem_euclid(x.len() as isize) as usize]
}

#[differentiable]
fn convolution(x: &[f64], k: &[f64]) -> f64 {
    let mut t = 0.0;
    for (i, w) in (-1isize..=1).zip(k) {
        t += w * wrapped(x, 1 + i);
    }
    t
}

#[differentiable]
fn whole_convolution(x: &[f64], k: &[f64]) -> Vec<f64> {
    let r = (k.len() / 2) as isize;
    (0..x.len() as isize).map(|i| (-r..=r).zip(k).map(|(j, w)| w * wrapped(x, i + j)).sum()).collect()
}

#[differentiable]
fn zipped(s: &[f64], r: u8) -> f64 {
    s.iter().zip(0..r).map(|(s, i)| s.powi(i32::from(i))).sum::<f64>()
        + s.iter().zip(1u64..).map(|(s, i)| s * i as f64).product::<f64>()
}

#[differentiable]
fn backwards(s: f64, n: i64) -> f64 {
    let k: Vec<f64> = (2..n).rev().map(|i| s / i as f64).collect();
    let l: Vec<f64> = (0..n).step_by(2).enumerate().map(|(j, i)| s * (i + j as i64) as f64).collect();
    let m: Vec<f64> = (-1..n).skip(1).take(2).map(|i| s.powi(i as i32)).collect();
    k.iter().fold(1.0, |t, k| t * k + s) + l.iter().map(|l| l.sin()).sum::<f64>() + m[0] * m[1]
}

/// Only what is done with the items tells the type.
#[differentiable]
fn literals(s: f64) -> f64 {
    let k: Vec<f64> = (0..4).map(|i| s.powi(i)).collect();
    let mut t = k[2] * k[3];
    for (i, k) in (1..4).zip(&k) {
        t += k * s.powi(i);
    }
    t
}

#[differentiable]
fn of_what_has_been_computed(s: f64, order: usize) -> f64 {
    let n = order as i32;
    let m = n + 1;
    let mut t = 0.0;
    for i in 0..m {
        let row: Vec<f64> = (i..m).map(|j| s.powi(j - i)).collect();
        t += row.iter().sum::<f64>() * s;
    }
    t
}

#[differentiable]
fn degrees(s: f64, degrees: &[i32]) -> f64 {
    let k: Vec<f64> = (0..=degrees[0]).map(|i| s.powi(i.min(degrees[1]))).collect();
    k.iter().map(|k| k * s).sum()
}

#[test]
fn ranges_of_any_integers() {
    check_rule(powers::rule, [(0.7,), (1.3,)]);
    check_rule(unsigned::rule, [(0.7, 3), (1.3, 5), (0.3, 0)]);
    check_rule(around_zero::rule, [(0.7, 1), (1.3, 2), (1.3, 0)]);
    check_rule(
        convolution::rule,
        [(vec![0.3, 0.8, 0.4], vec![0.3, 0.2, 0.9]), (vec![0.3, 0.8], vec![0.4; 2])],
    );
    check_rule(
        whole_convolution::rule,
        [(vec![0.3, 0.8, 0.4], vec![0.3, 0.2, 0.9]), (vec![0.3, 0.8], vec![0.4])],
    );
    check_rule(zipped::rule, [(vec![0.3, 0.8, 0.4], 3), (vec![0.3, 0.8], 1), (vec![], 4)]);
    check_rule(backwards::rule, [(0.7, 4), (0.8, 7)]);
    check_rule(literals::rule, [(0.7,), (1.3,)]);
    check_rule(of_what_has_been_computed::rule, [(0.7, 3), (0.8, 1), (0.8, 0)]);
    check_rule(degrees::rule, [(0.7, vec![3, 2]), (0.8, vec![0, 0])]);
}

#[derive(Clone, Differentiable)]
pub struct Xorshift(u64);

#[differentiable]
impl Xorshift {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn next_by_a_local(&mut self) -> u64 {
        let mut x = self.0;
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.0 = x;
        x
    }
}

#[derive(Clone, Differentiable)]
pub struct Walk {
    state: u64,
    at: f64,
}

#[differentiable]
impl Walk {
    fn step(&mut self, size: f64) {
        self.state = self.state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let u = (self.state >> 33) as f64 / (1u64 << 31) as f64;
        self.at = self.at * size + (u - 0.5) * size;
    }

    fn shifted(&mut self, size: f64) -> f64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        let ones = self.state.count_ones() + self.state.leading_zeros();
        self.at *= size + 0.01 * ones as f64;
        self.at
    }
}

#[differentiable]
fn walked(at: f64, size: f64, seed: u64, n: usize) -> f64 {
    let mut walk = Walk { state: seed, at };
    for _ in 0..n {
        walk.step(size);
        let t = walk.shifted(size * 0.01);
        walk.at += t.sin();
    }
    walk.at
}

#[test]
fn integers_beside_numbers() {
    check_rule(walked::rule, [(0.3, 0.8, 7, 3), (0.4, 0.2, 12345, 5)]);
    check_rule(Walk::step_rule, [(Walk { state: 7, at: 0.4 }, 0.3), (Walk { state: 99, at: 0.7 }, 0.9)]);
}

/// Methods of integers that are no indices: what a closure takes, a declared local, and the items of a range with such an end.
#[differentiable]
fn around<T: Float>(u: &[T], turns: i64) -> T {
    let n = u.len() as i64;
    let at = |i: i64| u[i.rem_euclid(n) as usize];
    let mut total = (0..n).map(|i| at(i) * at(i - 1)).sum::<T>() * at(-2);
    total += (0..n as i32).map(|i| u[(i - 1).rem_euclid(n as i32) as usize].powi(i.pow(2) % 3)).sum::<T>();
    for i in 0..turns {
        let j: i64 = i - 3;
        total = total * at(i + 1) + u[j.rem_euclid(n) as usize];
    }
    total
}

#[test]
fn methods_of_integers() {
    check_rule(around::<f64>::rule, [(vec![0.3, 1.2, 0.7, -0.4, 0.15], 2), (vec![0.3, 1.2], 5)]);
    check_rule(around::<f32>::rule, [(vec![0.3, 1.2, 0.7], 3), (vec![0.3, 1.2], 0)]);
}

/// The literals tell that these are integers, which fields of what carries a gradient may be.
#[derive(Clone, Debug, Differentiable)]
struct Schedule {
    rate: f64,
    warmup: usize,
    total: usize,
}

#[differentiable]
impl Schedule {
    fn at(&self, step: usize) -> f64 {
        let progress = (step - self.warmup) as f64 / (self.total - self.warmup).max(1) as f64;
        let capped = (self.total + step).min(6) as f64;
        self.rate * progress + capped * (1.0 + self.rate * progress).cos()
    }
}

#[test]
fn bounds_of_integers() {
    let schedule = |total| Schedule { rate: 0.7, warmup: 1, total };
    check_rule(Schedule::at_rule, [(schedule(5), 3), (schedule(1), 2)]);
}

/// What has a method of such a name itself.
#[derive(Clone, Copy, Debug, Differentiable)]
struct Pair {
    first: f64,
    second: f64,
}

#[differentiable]
impl Pair {
    fn min(self, index: usize) -> f64 {
        if index > 0 { self.first } else { self.first * self.second }
    }
}

#[differentiable]
impl Schedule {
    fn with_bounds(&self, x: f64) -> f64 {
        let (steps, powers) = (self.total, [self.warmup, self.total]);
        let mut sum =
            steps.max(2) as f64 * x.powi(powers[1].max(1) as i32) + self.rate * self.total.min(3) as f64;
        for k in 0..self.total.min(4) {
            sum += x.powi(k as i32) / (self.total.pow(2) as f64).sqrt();
        }
        sum
    }
}

#[differentiable]
fn of_both(pair: Pair, schedule: &Schedule) -> f64 {
    pair.min(1) * schedule.rate + pair.min(0) * schedule.total.min(2) as f64
}

#[test]
fn bounds_and_powers_of_fields() {
    let schedule = |total| Schedule { rate: 0.7, warmup: 1, total };
    check_rule(Schedule::with_bounds_rule, [(schedule(5), 0.3), (schedule(1), 0.8)]);
    let pair = Pair { first: 0.3, second: 1.2 };
    check_rule(of_both::rule, [(pair, schedule(5)), (pair, schedule(1))]);
}

trait Half {
    fn half(self) -> f64;
}

impl Half for usize {
    fn half(self) -> f64 {
        self as f64 / 2.0
    }
}

/// What starts as a constant that is made of an integer or a text may get a gradient later.
#[differentiable]
fn made_into_floats(x: &[f64], n: usize, text: &str) -> f64 {
    let mut parsed = text.trim().parse::<f64>().unwrap();
    let mut half = n.half();
    let mut scaled = n.pow(2).half() * 2.0;
    for v in x {
        parsed += v * v;
        half *= v;
        scaled -= half;
    }
    parsed * half + scaled
}

#[test]
fn integers_and_texts_become_floats() {
    check_rule(made_into_floats::rule, [(vec![0.3, 0.7], 3, " 1.5 ".to_owned())]);
}
