//! References to constants: what searches have found there, names that go on to something else, and those that a branch chooses.

use std::collections::{BTreeMap, VecDeque};

use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

#[differentiable]
fn indices(x: &[f64], #[constant] k: &[usize]) -> f64 {
    let p = k.iter().max();
    let mut total = p.map(|&i| x[i] * x[0]).unwrap_or(0.0) + p.map_or(0.0, |i| x[*i].sin());
    let i = k.iter().min().unwrap_or(&0);
    total += x[*i] * x[0];
    if let Some(i) = k.iter().find(|i| **i > 0) {
        total += x[*i].cos();
    }
    let first = k.first();
    match first {
        Some(i) => total * x[*i],
        None => total,
    }
}

/// Of a local, which is no longer there when the pullback runs.
#[differentiable]
fn of_locals(x: &[f64], offset: usize) -> f64 {
    let k = [offset, 0, 1];
    let (i, j) = (k.iter().max().unwrap(), k.iter().min().unwrap());
    let &last = k.last().unwrap();
    let chosen = match k.iter().find(|i| **i == 1) {
        Some(i) => i,
        None => &0,
    };
    let either = if offset > 0 { &k[0] } else { &k[1] };
    let mut total = x[*i] * x[*j] + x[last] * x[*chosen] + x[*either].exp();
    for q in 0..2 {
        let i = k.iter().find(|i| **i >= q).unwrap();
        let j = *i;
        total += x[*i] * x[j] * x[q];
    }
    let Some(i) = k.iter().rev().next() else { return total };
    total * x[*i]
}

#[differentiable]
fn of_queues_and_texts(x: &[f64], s: &str) -> f64 {
    let queue: VecDeque<usize> = VecDeque::from([1, 0]);
    let (front, back) = (queue.front().unwrap(), queue.back().unwrap());
    let i = s.split(',').next().unwrap().parse::<usize>().unwrap();
    x[*front] * x[*back] + x[0].sin() * x[i % x.len()]
}

#[differentiable]
fn numbers(x: &[f64], scale: f64) -> f64 {
    let weights: [f64; 3] = [0.5, 0.35, 0.7];
    let greatest = weights.iter().max_by(|a, b| a.total_cmp(b)).unwrap();
    let found = weights.iter().find(|w| **w < 0.4);
    let mut total = match found {
        Some(w) => x[0] * w * scale,
        None => 0.0,
    };
    let pairs = [(1usize, 0.5), (0, 1.5)];
    let (i, w) = pairs.iter().max_by_key(|p| p.0).unwrap();
    let &(j, v) = pairs.iter().min_by_key(|p| p.0).unwrap();
    let p = pairs.iter().find(|p| p.1 > 1.0);
    total += x[*i] * *w * x[j] * v + p.map_or(0.0, |p| x[p.0] * p.1 * x[0]);
    total * greatest + x[0].powf(*greatest)
}

#[differentiable]
fn of_maps(x: &[f64], key: usize) -> f64 {
    let mut places: BTreeMap<usize, usize> = BTreeMap::new();
    places.insert(1, 0);
    places.insert(0, 1);
    let mut total = 0.0;
    for q in 0..2 {
        if let Some(i) = places.get(&q) {
            total += x[*i] * x[q];
        }
        // What has been looked up is no longer there.
        places.insert(q, 0);
    }
    let (a, b) = places.iter().next().unwrap();
    let weights = BTreeMap::from([(1usize, 0.5), (0, 0.7)]);
    let w = weights.get(&key);
    total + x[*a] * x[*b] + w.map(|w| x[0] * w * x[1]).unwrap_or(0.0)
}

/// The best so far, by reference: the name stands for what it has come to refer to.
#[differentiable]
fn best(x: &[f64], #[constant] table: &[(usize, f64)]) -> f64 {
    let mut best = &table[0];
    for row in table {
        if row.1 < best.1 {
            best = row;
        }
    }
    let costs = [0.5, 0.25, 0.7];
    let mut least = &costs[0];
    for c in &costs {
        if c < least {
            least = c;
        }
    }
    let mut any: Option<&f64> = None;
    for c in &costs {
        if any.map_or(true, |b| c > b) {
            any = Some(c);
        }
    }
    let mut set = costs.first().unwrap();
    costs.iter().for_each(|c| {
        if c > set {
            set = c;
        }
    });
    x[0] * x[best.0] * best.1 + x[0] * x[1] * least + x[1].sin() * any.unwrap() + x[0].exp() * *set
}

#[differentiable]
fn moving(x: &[f64], swapped: bool) -> f64 {
    let (left, right) = ([0.5, 0.25, 0.7], [0.1, 0.2, 0.3]);
    let mut a = &left;
    let mut b = &right;
    if swapped {
        std::mem::swap(&mut a, &mut b);
    }
    let rows = [[0.5, 0.25], [0.1, 0.9]];
    let mut row = &rows[0];
    let mut total = a[0] * x[0] * x[1] + b[0] * x[0];
    for r in &rows {
        if r[0] < row[0] {
            row = r;
        }
        total += row[1] * x[0] * x[0];
    }
    let (mut low, mut high) = (&left[2], &left[1]);
    if low > high {
        (low, high) = (high, low);
    }
    let late;
    if swapped {
        late = &right[0];
    } else {
        late = &left[0];
    }
    total * low + x[1].cos() * high + x[0] * late * x[1]
}

#[test]
fn referred_to() {
    let x = vec![0.3, 0.52, 0.11];
    check_rule(indices::rule, [(x.clone(), vec![1, 2, 0]), (vec![0.7, 0.2], vec![1]), (vec![0.4], vec![])]);
    check_rule(of_locals::rule, [(x.clone(), 2), (vec![0.7, 0.2], 0)]);
    let texts = [(x.clone(), "2,1".to_string()), (vec![0.7, 0.2], "1".to_string())];
    CheckRule::new(of_queues_and_texts::rule).inputs(texts).run();
    check_rule(numbers::rule, [(x.clone(), 1.3), (vec![0.7, 0.2], 0.4)]);
    CheckRule::new(of_maps::rule).inputs([(x.clone(), 1), (vec![0.7, 0.2], 3)]).run();
    check_rule(
        best::rule,
        [(x.clone(), vec![(1, 0.5), (0, 0.25), (2, 0.4)]), (vec![0.7, 0.2], vec![(0, 1.5)])],
    );
    check_rule(moving::rule, [(x, true), (vec![0.7, 0.2], false)]);
}

/// What owns memory is copied.
#[differentiable]
fn rows(x: &[f64], n: usize) -> f64 {
    let rows = vec![vec![0.5; n], vec![0.25, 0.4]];
    let mut row = &rows[0];
    for r in &rows {
        if r[0] < row[0] {
            row = r;
        }
    }
    let longest = rows.iter().max_by_key(|r| r.len()).unwrap();
    let mut rest = &longest[..];
    let mut total = row.iter().zip(x).map(|(a, b)| a * b * b).sum::<f64>();
    while let Some((first, others)) = rest.split_first() {
        total += first * x[0] * x[1];
        rest = others;
    }
    let names = ["a".to_string(), "bb".to_string()];
    let name = names.iter().max_by_key(|s| s.len()).unwrap();
    total * x[0].powi(name.len() as i32)
}

#[test]
fn copied() {
    CheckRule::new(rows::rule).inputs([(vec![0.3, 0.52, 0.11], 3), (vec![0.7, 0.2], 1)]).allocating(16).run();
}
