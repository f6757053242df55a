//! Elements taken out of vectors: `retain`, `dedup`, `drain`, `split_off`, `append`.

use pullback::prelude::*;
use pullback::testing::{check_gradient, check_rule};

/// Numbers, rows and pairs; what stays keeps its order.
#[differentiable]
fn retained(x: &[f64]) -> f64 {
    let mut v = x.to_vec();
    v.retain(|&a| a > 0.15);
    let mut rows: Vec<Vec<f64>> = x.iter().map(|&a| vec![a, a * a]).collect();
    rows.retain(|row| row[0] > 0.15);
    let mut pairs: Vec<(f64, usize)> = x.iter().enumerate().map(|(i, &a)| (a * a, i)).collect();
    pairs.retain(|(a, _)| *a > 0.03);
    let powers: f64 = v.iter().enumerate().map(|(i, a)| a.powi(i as i32 + 1)).sum();
    powers * rows.iter().map(|r| r[0] * r[1]).sum::<f64>()
        + pairs.iter().map(|p| p.0 * p.1 as f64).sum::<f64>()
}

#[differentiable]
fn without_repetitions(x: &[f64]) -> f64 {
    let mut v: Vec<f64> = x.iter().map(|a| a.abs()).collect();
    v.dedup();
    let mut near = v.clone();
    near.dedup_by(|a, b| (*a - *b).abs() < 0.01);
    let mut pairs: Vec<(f64, usize)> = x.iter().enumerate().map(|(i, &a)| (a * a, i / 2)).collect();
    pairs.dedup_by_key(|p| p.1);
    let mut empty: Vec<f64> = Vec::new();
    empty.dedup();
    let products: f64 = v.iter().zip(&near).map(|(a, b)| a * b).sum();
    products * pairs.iter().map(|p| p.0).product::<f64>() + empty.len() as f64
}

#[differentiable]
fn drained(x: &[f64]) -> f64 {
    let mut v: Vec<f64> = x.iter().map(|a| a * a).collect();
    let mut w = vec![x[0]];
    w.extend(v.drain(1..2));
    let first: f64 = v.drain(..=0).sum();
    v.push(first);
    let tail: Vec<f64> = w.drain(1..).map(|a| a * first).collect();
    let mut total = 0.0;
    for (i, a) in v.drain(..).enumerate() {
        if i == 3 {
            break;
        }
        total += a * (i + 1) as f64;
    }
    w.append(&mut v);
    w.extend(tail);
    w.drain(..1);
    total + w.iter().fold(1.0, |product, a| product * a) + v.len() as f64
}

/// The elements behind the first that is larger than `k`, apart from the others.
#[differentiable]
fn split(x: &[f64], k: f64) -> f64 {
    let mut low = x.to_vec();
    let at = low.iter().position(|&a| a > k).unwrap_or(low.len());
    let mut high = low.split_off(at);
    high.push(k);
    low.append(&mut high);
    high.extend_from_slice(&low[..1]);
    let mut product = high[0] * k;
    for (i, a) in low.iter().enumerate() {
        product += a * a * i as f64;
    }
    product
}

/// An element changes places with the last one, and goes.
#[differentiable]
fn swap_removed(x: &[f64], k: f64) -> f64 {
    let mut v = x.to_vec();
    v.push(k);
    v.push(k * x[0]);
    let first = v.swap_remove(0);
    let mut total = first * v[0];
    v.swap_remove(1);
    total += v.swap_remove(v.len() - 1) * first;
    total * v.iter().sum::<f64>()
}

#[test]
fn numbers() {
    check_rule(
        swap_removed::rule,
        [(vec![0.5, 0.2, 0.9, 0.3], 0.6), (vec![0.7, 0.1], 0.2), (vec![0.3], 0.4)],
    );
    check_all!([vec![0.5, 0.12, 0.9], vec![0.7, 0.1]]; retained);
    check_all!([vec![0.5, 0.503, 0.9], vec![0.7, 0.2]]; without_repetitions);
    check_all!([vec![0.5, 0.2, 0.9, 0.3], vec![0.7, 0.1]]; drained);
    check_rule(split::rule, [(vec![0.5, 0.2, 0.9, 0.3], 0.6), (vec![0.7, 0.1], 0.2), (vec![0.3], 0.4)]);
}

/// Repetitions are taken out for good: the first of them has the gradient.
#[test]
fn repetitions() {
    let mut g = without_repetitions::gradient();
    let (value, d) = g.value_and_gradient(&[0.5, 0.5]);
    assert_eq!(value, without_repetitions(&[0.5, 0.5]));
    assert_eq!(d.x, [2.0 * 0.5 * 0.25 + 0.25 * 2.0 * 0.5, 0.0]);
}

#[derive(Clone, Debug, Differentiable)]
struct Track {
    samples: Vec<f64>,
    spare: Vec<f64>,
    gain: f64,
}

/// Of fields, of which the method tells that they are vectors.
#[differentiable]
impl Track {
    fn pruned(&mut self, k: f64) -> f64 {
        self.samples.retain(|v| v.abs() > 0.5);
        let first = self.samples.swap_remove(0);
        self.samples.append(&mut self.spare);
        let rest: Vec<f64> = self.samples.split_off(1);
        self.samples.len() as f64 * self.samples[0] * k * first + rest[0] * self.gain
    }

    fn drained(&mut self, k: f64) -> f64 {
        let mut sum = 0.0;
        for v in self.samples.drain(..2) {
            sum += v * k;
        }
        let spared: f64 = self.spare.drain(..).sum();
        sum * spared * self.samples[0]
    }
}

#[differentiable]
fn of_a_copy(track: &Track, k: f64) -> f64 {
    let mut track = track.clone();
    track.samples.retain(|v| *v > 0.5);
    track.samples.dedup_by_key(|v| *v);
    track.spare.dedup();
    track.samples.iter().map(|v| v * k * track.gain).sum::<f64>() * track.spare[1]
}

#[test]
fn fields() {
    let track = || Track { samples: vec![1.0, 0.2, 2.0, 1.5], spare: vec![0.3, 0.4], gain: 0.7 };
    let longer = || Track { samples: vec![0.6, 0.9, 0.1, 1.3, 0.8], spare: vec![0.3, 0.1, 0.2], gain: 0.2 };
    check_rule(Track::pruned_rule, [(track(), 0.3), (longer(), 0.5)]);
    check_rule(Track::drained_rule, [(track(), 0.3), (longer(), 0.5)]);
    check_rule(of_a_copy::rule, [(track(), 0.3), (longer(), 0.5)]);
}
