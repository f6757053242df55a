//! Vectors that are collected into the memory of others, as the standard library does, and parameters by value.

use ndarray::Array1;
use pullback::prelude::*;
use pullback::testing::check_rule;

#[differentiable]
fn softmax(x: &[f64]) -> Vec<f64> {
    let top = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let exponentials: Vec<f64> = x.iter().map(|x| (x - top).exp()).collect();
    let sum: f64 = exponentials.iter().sum();
    exponentials.into_iter().map(|e| e / sum).collect()
}

/// Where no type tells what the elements are.
#[differentiable]
fn standardised(x: &[f64]) -> (f64, Vec<f64>) {
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    let centred: Vec<_> = x.iter().map(|x| x - mean).collect();
    let deviation = (centred.iter().map(|c| c * c).sum::<f64>() / (x.len() - 1) as f64).sqrt();
    (deviation, centred.into_iter().map(|c| c / deviation).collect())
}

#[differentiable]
fn iterated(x: &[f64], k: f64, n: usize) -> f64 {
    let mut v: Vec<f64> = x.iter().map(|x| x * k).collect();
    for _ in 0..n {
        let norm = v.iter().map(|v| v * v).sum::<f64>().sqrt();
        if norm > 10.0 {
            v = v.into_iter().map(|v| v / norm).collect();
            continue;
        }
        let w: Vec<f64> = v.iter().map(|v| v.sin() + k).collect();
        let u: Vec<f64> = w.into_iter().zip(v.iter()).map(|(w, v)| w * v * norm).collect();
        v = u.into_iter().enumerate().map(|(i, u)| (u * i as f64).exp()).collect();
    }
    v.into_iter().map(|v| v * v).sum()
}

/// Numbers of another type need other memory, of parameters as well.
#[differentiable]
fn converted(x: Vec<f64>, k: f32) -> Vec<f32> {
    x.into_iter().map(|x| x as f32 * k).collect()
}

#[differentiable]
fn array(x: &[f64]) -> Array1<f64> {
    let squares = Array1::from_iter(x.iter().map(|x| x * x));
    squares.iter().map(|s| s.sin()).collect()
}

#[test]
fn by_collect() {
    check_rule(standardised::rule, [(vec![0.3, 0.7, 0.4],), (vec![0.1, 0.9],)]);
    check_rule(softmax::rule, [(vec![0.3, 0.1, 0.5],), (vec![1.0, 0.3],)]);
    check_rule(iterated::rule, [(vec![0.3, 0.1, 0.5], 0.4, 3), (vec![12.0, 3.0], 0.9, 2)]);
    check_rule(converted::rule, [(vec![0.3, 0.1, 0.5], 0.5), (vec![1.0, 0.3], 0.75)]);
    check_rule(array::rule, [(vec![0.3, 0.1, 0.5],), (vec![1.0, 0.3],)]);
}

#[differentiable]
fn returns(prices: &[f64]) -> Vec<f64> {
    prices.windows(2).map(|p| p[1] / p[0] - 1.0).collect()
}

#[differentiable]
fn sharpe(prices: &[f64], risk_free: f64) -> f64 {
    let excess: Vec<f64> = returns(prices).into_iter().map(|r| r - risk_free).collect();
    let mean = excess.iter().sum::<f64>() / excess.len() as f64;
    mean / excess.iter().map(|e| (e - mean).powi(2)).sum::<f64>().sqrt()
}

/// The memory of what has come from the call goes to the next vector that is collected from such, whether the caller gets that or not.
#[test]
fn what_calls_return() {
    #[differentiable]
    fn growth(prices: &[f64]) -> Vec<f64> {
        returns(prices).into_iter().enumerate().map(|(i, r)| (1.0 + r).ln() * i as f64).collect()
    }
    #[differentiable]
    fn in_a_loop(prices: &[f64], n: usize) -> f64 {
        let mut total = 0.0;
        for i in 0..n {
            let r = returns(prices);
            if i % 2 == 0 {
                let powers: Vec<f64> = r.into_iter().map(|r| (1.0 + r).powi(i as i32)).collect();
                total += powers[0] * powers[1];
            }
        }
        total
    }
    #[differentiable]
    fn three(k: f64) -> [f64; 3] {
        [k, k * k, 1.0]
    }
    #[differentiable]
    fn of_an_array(k: f64) -> f64 {
        let powers = three(k);
        let sines: Vec<f64> = powers.into_iter().map(|p| p.sin()).collect();
        sines.iter().zip(&powers).map(|(s, p)| s * p).sum()
    }
    let prices = [vec![1.0, 1.1, 0.9, 1.3], vec![0.8, 1.2, 1.1, 1.5, 1.2]];
    let [few, more] = &prices;
    check_rule(sharpe::rule, [(few.clone(), 0.01), (more.clone(), 0.02)]);
    check_rule(in_a_loop::rule, [(few.clone(), 3), (more.clone(), 1)]);
    check_rule(of_an_array::rule, [(0.3,), (0.7,)]);
    check_rule(growth::rule, prices.map(|prices| (prices,)));
}

/// Functions that use up what they are given, one after the other.
#[test]
fn parameters_in_chains_of_calls() {
    #[differentiable]
    fn scaled(x: Vec<f64>, k: f64) -> Vec<f64> {
        x.into_iter().map(|x| x * k).collect()
    }
    #[differentiable]
    fn twice(x: Vec<f64>, k: f64) -> Vec<f64> {
        scaled(scaled(x, k), k + 1.0)
    }
    #[differentiable]
    fn again_and_again(x: &[f64], k: f64, n: usize) -> f64 {
        let mut y = x.to_vec();
        for _ in 0..n {
            y = scaled(y, k);
        }
        y.iter().sum()
    }
    check_rule(twice::rule, [(vec![0.3, 0.1, 0.5], 0.4), (vec![1.0, 0.3], 0.75)]);
    check_rule(again_and_again::rule, [(vec![0.3, 0.1, 0.5], 0.4, 3), (vec![1.0, 0.3], 0.75, 2)]);
}
