//! `zip` of iterators that make a number of items of their own, `scan` that ends or whose state has parts, `flatten` of
//! options, `rfold`, and `zip` with what a function returns.

use pullback::prelude::*;
use pullback::testing::check_rule;

#[differentiable]
fn weighted(x: &[f64], w: &[f64], k: f64) -> f64 {
    let above = x.iter().filter(|v| **v > k).zip(w).map(|(v, w)| v * w).sum::<f64>();
    let below =
        w.iter().map(|w| w.sin()).zip(x.iter().filter(|v| **v <= k)).map(|(w, v)| w * v * v).sum::<f64>();
    above * below
}

/// The weights run out first, or the items do.
#[differentiable]
fn discounted(x: &[f64], w: &[f64], k: f64) -> f64 {
    let mut total = 0.0;
    let sums = x.iter().scan(k, |sum, v| {
        *sum = *sum * k + v;
        Some(*sum)
    });
    for (i, (sum, w)) in sums.zip(w).enumerate() {
        total += sum * w * (i + 1) as f64;
    }
    total
}

#[differentiable]
fn collected(x: &[f64], y: &[f64]) -> Vec<f64> {
    x.iter().chain(y).zip(y.iter().cycle()).map(|(a, b)| a * b).collect()
}

/// Nothing of what comes after the end is seen.
#[differentiable]
fn until(x: &[f64], limit: f64) -> f64 {
    let ended = x.iter().scan(0.0, |sum, v| {
        let next = *sum + v;
        if next > limit {
            None
        } else {
            *sum = next;
            Some(next * next)
        }
    });
    let left = x.iter().scan(1.0, |product, v| {
        *product *= v;
        if *product < 0.1 * limit {
            return None;
        }
        Some(*product)
    });
    ended.sum::<f64>() * left.fold(limit, |a, b| a + b)
}

#[differentiable]
fn log_of(x: f64) -> Option<f64> {
    if x > 0.0 { Some(x.ln()) } else { None }
}

#[differentiable]
fn tried(x: &[f64], k: f64) -> f64 {
    let decayed = x.iter().scan(1.0, |weight, v| {
        *weight *= k;
        let log = log_of(*v)?;
        Some(*weight * log)
    });
    decayed.sum()
}

#[differentiable]
fn parts(x: &[f64], k: f64) -> f64 {
    let apart = x.iter().scan((0.3, 1.0, 0), |(a, b, n), &v| {
        let old = *a;
        *a = *a * k + v;
        *b *= *a;
        *n += 1;
        (*n < 4).then(|| old * *b)
    });
    let whole = x.iter().scan((0.3, k), |state, v| {
        let (a, b) = *state;
        *state = (a * k + v, b * a);
        Some(a * b)
    });
    apart.zip(x).map(|(a, b)| a - b).sum::<f64>() + whole.sum::<f64>()
}

/// What is left out is recorded all the same.
#[differentiable]
fn recorded(x: &[f64]) -> f64 {
    let mut log: Vec<f64> = Vec::new();
    let skipped: f64 = x
        .iter()
        .map(|v| {
            log.push(*v);
            v * 2.0
        })
        .skip(1)
        .sum();
    let stepped: f64 = x
        .iter()
        .map(|v| {
            log.push(v * 3.0);
            v * 2.0
        })
        .step_by(2)
        .sum();
    skipped * stepped * log.iter().sum::<f64>() * log.len() as f64
}

#[test]
fn zipped() {
    let (x, w) = (vec![0.1, 0.5, 0.3, 0.8], vec![0.7, 0.2, 0.4]);
    check_rule(
        weighted::rule,
        [(x.clone(), w.clone(), 0.2), (w.clone(), x.clone(), 0.45), (vec![], w.clone(), 0.4)],
    );
    check_rule(
        discounted::rule,
        [(x.clone(), w.clone(), 0.9), (w.clone(), x.clone(), 0.4), (x.clone(), vec![], 0.4)],
    );
    check_rule(collected::rule, [(x.clone(), w.clone()), (w, x)]);
}

#[test]
fn scanned() {
    let x = vec![0.1, 0.5, 0.3, 0.8, 0.4];
    check_rule(until::rule, [(x.clone(), 0.7), (x.clone(), 5.0), (x.clone(), 0.05)]);
    check_rule(tried::rule, [(x.clone(), 0.7), (vec![0.2, -0.1, 0.3], 0.6)]);
    check_rule(recorded::rule, [(x.clone(),), (vec![0.4, 0.2],)]);
    check_rule(parts::rule, [(x.clone(), 0.7), (x[..2].to_vec(), 0.4)]);
}

#[differentiable]
fn neighbours(x: &[f64], n: usize) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        for j in [i.checked_sub(1), (i + 1 < n).then_some(i + 1)].into_iter().flatten() {
            total += (x[i] - x[j]).powi(2) * x[i];
        }
    }
    total
}

#[differentiable]
fn made_of_items(x: &[f64], i: usize) -> f64 {
    let large = x.iter().flat_map(|v| if *v > 0.5 { Some(v * v) } else { None }).sum::<f64>();
    let there = (0..4).flat_map(|k| x.get(k + i)).map(|v| v.sin()).sum::<f64>();
    let some: f64 = (0..4).map(|k| x.get(k * i)).flatten().map(|v| v * large).sum();
    large + there * some
}

#[differentiable]
fn in_place(x: &mut [Option<f64>], k: f64) -> f64 {
    let mut total = 0.0;
    for v in x.iter().copied().flatten() {
        total += v * k;
    }
    x[0] = x[1].map(|v| v * k);
    for v in x.iter().flatten() {
        total *= v + k;
    }
    let kept: Vec<f64> = x.iter().flatten().filter(|v| **v > 0.5).map(|v| v * v).collect();
    total + kept.iter().sum::<f64>() + x.iter().flatten().count() as f64
}

#[differentiable]
fn of_arrays(x: &[Option<[f64; 2]>], k: &Vec<Option<f64>>) -> f64 {
    x.iter().flatten().map(|p| p[0] * p[1]).sum::<f64>() * k.iter().flatten().product::<f64>()
}

#[derive(Clone, Debug, Differentiable)]
struct Node {
    weight: f64,
    low: Option<f64>,
    left: Option<usize>,
    right: Option<usize>,
}

#[differentiable]
fn discounted_tree(nodes: &[Node], k: f64) -> f64 {
    let (mut stack, mut total) = (vec![(0, 1.0)], 0.0);
    while let Some((at, factor)) = stack.pop() {
        let node = &nodes[at];
        total += factor * node.weight;
        for child in [node.left, node.right].into_iter().flatten() {
            stack.push((child, factor * k));
        }
        for low in [node.low, nodes[0].low].into_iter().flatten() {
            total *= low;
        }
    }
    total
}

#[test]
fn flattened_options() {
    check_rule(neighbours::rule, [(vec![0.3, 0.7], 2), (vec![0.9, 0.2, 0.5], 3)]);
    check_rule(made_of_items::rule, [(vec![0.3, 0.7], 2), (vec![0.9, 0.2, 0.55], 1)]);
    check_rule(in_place::rule, [(vec![None, Some(0.7)], 0.2), (vec![Some(0.3), None, Some(0.6)], 1.1)]);
    let (x, k) = (vec![None, Some([0.7, 0.8])], vec![None, Some(0.4), Some(1.3)]);
    check_rule(of_arrays::rule, [(x, k), (vec![Some([0.3, 0.6]), None, Some([0.6, 1.0])], vec![Some(1.1)])]);
    let leaf = |weight| Node { weight, low: Some(0.3 + weight), left: None, right: None };
    let root = Node { weight: 0.3, low: None, left: Some(1), right: Some(2) };
    check_rule(discounted_tree::rule, [(vec![leaf(0.5)], 0.4), (vec![root, leaf(0.7), leaf(0.4)], 0.7)]);
}

/// Folded from the end.
#[test]
fn folded_backwards() {
    #[differentiable]
    fn present_value(flows: &[f64], v: f64) -> f64 {
        flows.iter().rfold(0.0, |value, flow| (value + flow) * v)
    }
    #[differentiable]
    fn of_others(flows: &[f64], v: f64) -> f64 {
        let counted = flows.iter().enumerate().rfold(1.0, |sum, (i, flow)| (sum + flow * i as f64) * v);
        counted * flows.iter().map(|flow| flow * v).rfold(0.2, |p, q| p * q + v)
    }
    check_rule(present_value::rule, [(vec![0.4, 0.9, 1.3], 0.8), (vec![0.4], 0.6)]);
    check_rule(of_others::rule, [(vec![0.4, 0.9, 1.3], 0.8), (vec![0.4], 0.6)]);
}

/// Beside what a function returns.
#[test]
fn zipped_with_calls() {
    fn positions(start: usize, n: usize) -> Vec<f64> {
        (0..n).map(|i| (start + i) as f64).collect()
    }
    #[differentiable]
    fn embedding(p: f64, n: usize) -> Vec<f64> {
        (0..n).map(|i| p * i as f64).collect()
    }
    #[differentiable]
    fn positioned(tokens: &[Vec<f64>]) -> f64 {
        let rows: Vec<Vec<f64>> = tokens
            .iter()
            .enumerate()
            .map(|(p, x)| x.iter().zip(positions(p, x.len())).map(|(a, b)| a + 0.5 * b).collect())
            .collect();
        rows.iter().flatten().map(|v| v * v).sum()
    }
    #[differentiable]
    fn embedded(x: &[f64], k: f64) -> f64 {
        let along = x.iter().zip(embedding(k, x.len())).map(|(a, b)| a * b * a).sum::<f64>();
        along + x.iter().copied().chain(embedding(along, 3)).product::<f64>() + along.sin()
    }
    check_rule(positioned::rule, [(vec![vec![0.4, 0.9, 1.3]; 2],), (vec![vec![0.4, 0.9]],)]);
    check_rule(embedded::rule, [(vec![0.4, 0.9, 1.3], 0.8), (vec![0.4], 0.6)]);
}
