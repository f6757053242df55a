//! Iterators of users' types, and others that are none of the standard library's over slices and ranges: their items carry no gradient, and what
//! closures make of them does.

use std::collections::{BTreeMap, BTreeSet};

use pullback::prelude::*;
use pullback::testing::check_rule;

/// All pairs of numbers below `n`, the smaller one first.
struct Pairs {
    i: usize,
    j: usize,
    n: usize,
}

impl Iterator for Pairs {
    type Item = (usize, usize);
    fn next(&mut self) -> Option<(usize, usize)> {
        if self.j >= self.n {
            self.i += 1;
            self.j = self.i + 1;
        }
        if self.j >= self.n {
            return None;
        }
        self.j += 1;
        Some((self.i, self.j - 1))
    }
}

fn pairs(n: usize) -> Pairs {
    Pairs { i: 0, j: 1, n }
}

/// Numbers from 0 to 1, without end.
struct Uniform(u64);

impl Iterator for Uniform {
    type Item = f64;
    fn next(&mut self) -> Option<f64> {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        Some((self.0 >> 11) as f64 / (1_u64 << 53) as f64)
    }
}

macro_rules! all_pairs {
    ($a:expr, $b:expr) => {
        ($a).flat_map(move |i| ($b).map(move |j| (i, j)))
    };
}

#[differentiable]
fn consumed(q: &[f64]) -> f64 {
    let n = q.len();
    let mut total: f64 = pairs(n).map(|(i, j)| q[i] * q[j]).sum();
    total += pairs(n).fold(0.5, |a, (i, j)| a * q[i] + q[j]);
    total += pairs(n).map(|(i, j)| q[i] - q[j]).fold(f64::MIN, f64::max);
    total += Pairs { i: 0, j: 1, n }.map(|(i, j)| q[i] * q[j]).fold(0.0, f64::max);
    total += pairs(n).map(|(i, j)| q[i] + q[j]).max_by(|a, b| a.total_cmp(b)).unwrap().powi(2);
    pairs(n).for_each(|(i, j)| total += q[i] * q[i] * q[j]);
    total += pairs(n).filter(|&(i, j)| q[i] < q[j]).count() as f64 * q[0];
    if pairs(n).any(|(i, j)| q[i] > 2.0 * q[j]) { total * q[1] } else { total }
}

#[differentiable]
fn adapted(q: &[f64]) -> f64 {
    let n = q.len();
    let mut total: f64 = pairs(n).filter(|(i, j)| (i + j) % 2 == 1).map(|(i, j)| q[i] * q[j]).sum();
    total += pairs(n).skip(1).fold(0.5, |a, (i, j)| a + q[i] * q[j]);
    total += pairs(n).filter_map(|(i, j)| if i + j > 1 { Some(q[i] / q[j]) } else { None }).sum::<f64>();
    total += pairs(n).enumerate().map(|(k, (i, j))| k as f64 * q[i] * q[j]).product::<f64>();
    let weighed = |(d, i): (f64, usize)| d * i as f64;
    total += pairs(n).map(|(i, j)| (q[i] * q[j], i)).filter(|(d, _)| *d > 0.1).map(weighed).sum::<f64>();
    total + pairs(n).zip(q).map(|((i, j), v)| q[i] * q[j] * v).sum::<f64>()
}

#[differentiable]
fn gone_through(q: &[f64]) -> f64 {
    let (n, mut g) = (q.len(), q.to_vec());
    for (i, j) in pairs(n).skip(1) {
        g[i] += q[j];
        g[j] += q[i] * q[i];
    }
    for (k, (i, j)) in pairs(n).enumerate() {
        g[i] += k as f64 * g[j];
    }
    'pairs: for v in pairs(n).filter(|p| p.0 != 1).map(|(i, j)| q[i] * q[j]) {
        for k in 0..3 {
            if v > 0.3 * k as f64 {
                continue 'pairs;
            }
            g[0] += v * v;
        }
    }
    g.iter().map(|v| v * v).sum()
}

#[differentiable]
fn collected(q: &[f64]) -> f64 {
    let products: Vec<f64> = pairs(q.len()).map(|(i, j)| q[i] * q[j]).collect();
    products.windows(2).map(|w| w[0] * w[1]).sum()
}

/// Ways out of iterators without end.
#[differentiable]
fn without_end(q: &[f64]) -> f64 {
    let all: f64 = Uniform(7).map(|u| u * q[0] + q[1]).take(5).sum();
    let small: f64 = Uniform(7).take_while(|u| *u < 0.5 + q[1]).map(|u| u * q[0]).take(9).sum();
    let mut product = 1.0;
    for u in Uniform(3).map(|u| u + q[0]).take_while(|u| *u < 1.3).take(6) {
        product *= u * q[1];
    }
    all * small + product + Uniform(9).zip(q).map(|(u, v)| u * v * v).sum::<f64>()
}

#[differentiable]
fn out_of_macros(q: &[f64]) -> f64 {
    let n = q.len();
    all_pairs!(0..n, 0..2).map(|(i, j)| q[i] * q[j]).sum()
}

/// Maps and sets, and texts.
#[differentiable]
fn looked_up(x: &[f64], text: &str) -> f64 {
    let weights: BTreeMap<usize, f64> = (0..x.len()).map(|i| (i, 0.5 + i as f64)).collect();
    let mut total: f64 = weights.iter().map(|(i, w)| x[*i] * w).sum();
    total += weights.values().enumerate().map(|(i, w)| x[i].powi(2) * w).sum::<f64>();
    total *= weights.keys().zip(x).map(|(i, v)| v * *i as f64).sum::<f64>();
    for (n, i) in weights.keys().rev().enumerate() {
        total += x[n] * x[*i];
    }
    total += weights.into_iter().map(|(i, w)| x[i] / w).fold(0.0, |a, v| a + v * v);
    let chosen: BTreeSet<usize> = [0, 2].into();
    total += chosen.range(1..).map(|&i| x[i] * i as f64).sum::<f64>();
    let digits = text.bytes().chain(text.bytes()).map(|b| x[(b % 2) as usize] * 0.1).sum::<f64>();
    total * digits
        + text.char_indices().skip(1).map(|(i, c)| x[i] * c.to_digit(10).unwrap() as f64).sum::<f64>()
}

/// A grid whose methods hand out an iterator, and a vector.
struct Grid(usize);

impl Grid {
    fn cells(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.0).flat_map(|i| (0..i).map(move |j| (i, j)))
    }
    fn order(&self) -> Vec<usize> {
        (0..self.0).rev().collect()
    }
}

/// Loops without adapters.
#[differentiable]
fn plain_loops(x: &[f64], text: &str) -> f64 {
    let mut total = 0.5;
    for (i, j) in pairs(x.len()) {
        total += x[i] * x[j];
    }
    let grid = Grid(x.len());
    for (i, j) in grid.cells() {
        if i + j > 3 {
            break;
        }
        total = total * x[i] + x[j];
    }
    for i in grid.order() {
        total = total * 0.5 + x[i];
    }
    'text: for c in text.chars() {
        let named = Pairs { i: 0, j: 1, n: 3 };
        for (i, _) in named {
            if c == '4' {
                continue 'text;
            }
            total += x[i] * total;
        }
    }
    for _ in text.bytes() {
        total = total * x[1] + x[0];
    }
    total
}

/// Maps and sets by their types, and what is handed out of them.
#[differentiable]
fn entries(x: &[f64]) -> f64 {
    let weights: BTreeMap<usize, f64> = (0..x.len()).map(|i| (i, 0.5 + i as f64)).collect();
    let chosen: BTreeSet<usize> = [0, 2].into();
    let mut total = 0.5;
    for (i, w) in &weights {
        total = total * w + x[*i];
    }
    for i in &chosen {
        total += x[*i] * total;
    }
    for i in chosen {
        total += x[i];
    }
    for (i, w) in weights {
        total *= x[i] + w;
    }
    total
}

/// A map as a parameter, and a loop over lines that the function is left from.
#[differentiable]
fn until_an_empty_line(x: f64, text: &str, #[constant] powers: &BTreeMap<usize, f64>) -> f64 {
    let mut total = 0.0;
    for (k, w) in powers {
        total += w * x.powi(*k as i32);
    }
    for line in text.lines() {
        if line.is_empty() {
            return total * x;
        }
        total = total * x + 1.0;
    }
    total * total
}

/// Iterators that are asked by hand, where nothing becomes of the items: they are not asked again by the reverse pass.
#[differentiable]
fn asked_by_hand(x: &[f64], text: &str) -> f64 {
    let (mut letters, mut total) = (text.chars(), 0.5);
    if let Some(_) = letters.next() {
        total = total * x[1] + x[0];
    }
    match letters.next() {
        Some(_) => total *= total,
        None => total *= x[0],
    }
    while let Some(_) = letters.next() {
        total = total * x[1] + x[0];
    }
    let words = &mut text.split('4');
    while let Some(_) = words.next() {
        total = total * x[0] + x[1];
    }
    let (mut range, mut once) = (0..text.len(), Some(2));
    while let Some(_) = range.nth(1) {
        match once.take() {
            Some(_) => total *= x[0],
            None => total = total * x[1] + 1.0,
        }
    }
    total
}

/// Not a value, though something is done.
#[differentiable]
fn discarded(x: &[f64]) -> f64 {
    let mut v = x.to_vec();
    _ = v.pop();
    _ = std::mem::replace(&mut v[0], x[1] * 2.0);
    v[0] * v[1] * x[0]
}

#[test]
fn chains_over_maps_and_texts() {
    let inputs = [(vec![0.3, 0.8, 0.5], "241".to_string()), (vec![0.7, 0.2, 0.4, 0.9], "35".to_string())];
    check_rule(looked_up::rule, inputs);
    check_rule(discarded::rule, [(vec![0.3, 0.8, 0.5],), (vec![0.7, 0.2, 0.4, 0.9],)]);
}

#[test]
fn loops_over_other_iterators() {
    let inputs = [(vec![0.3, 0.8, 0.5], "241".to_string()), (vec![0.7, 0.2, 0.4, 0.9], "35".to_string())];
    check_rule(plain_loops::rule, inputs.clone());
    check_rule(entries::rule, inputs.clone().map(|(x, _)| (x,)));
    check_rule(asked_by_hand::rule, inputs);
    let powers = BTreeMap::from([(1, 0.5), (3, -0.25)]);
    check_rule(
        until_an_empty_line::rule,
        [(1.25, "a\nb\n\nc".into(), powers.clone()), (0.75, "a".into(), powers)],
    );
}

#[test]
fn chains_over_other_iterators() {
    let inputs = [(vec![0.1, 0.2, 0.9, 0.4],), (vec![0.9, 0.4, 0.7],)];
    check_rule(consumed::rule, inputs.clone());
    check_rule(adapted::rule, inputs.clone());
    check_rule(gone_through::rule, inputs.clone());
    check_rule(collected::rule, inputs.clone());
    check_rule(without_end::rule, inputs.clone());
    check_rule(out_of_macros::rule, inputs);
}
