//! Elements that are taken out of vectors by a statement of its own, `history.remove(0);`, whatever they are.

use pullback::prelude::*;
use pullback::testing::check_rule;

#[derive(Clone, Differentiable)]
struct Pair {
    s: Vec<f64>,
    y: Vec<f64>,
    rho: f64,
}

#[derive(Clone, Copy, Differentiable)]
struct Point {
    x: f64,
    weight: f64,
}

#[differentiable]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[differentiable]
fn gradient_of_energy(x: &[f64], k: f64) -> Vec<f64> {
    x.iter().enumerate().map(|(i, x)| 2.0 * k * (i + 1) as f64 * x + x.powi(3)).collect()
}

/// L-BFGS (Nocedal & Wright, algorithm 7.4), with what has come of the last two steps.
#[differentiable]
fn lbfgs(x0: &[f64], k: f64) -> f64 {
    let mut x = x0.to_vec();
    let mut g: Vec<f64> = gradient_of_energy(&x, k);
    let mut history: Vec<Pair> = Vec::new();
    for iteration in 0..4 {
        let mut q = g.clone();
        let mut alphas = vec![0.0; history.len()];
        for (i, p) in history.iter().enumerate().rev() {
            let alpha = p.rho * dot(&p.s, &q);
            for (q, y) in q.iter_mut().zip(&p.y) {
                *q -= alpha * y;
            }
            alphas[i] = alpha;
        }
        if let Some(p) = history.last() {
            let gamma = dot(&p.s, &p.y) / dot(&p.y, &p.y);
            for q in q.iter_mut() {
                *q *= gamma;
            }
        }
        for (p, alpha) in history.iter().zip(&alphas) {
            let beta = p.rho * dot(&p.y, &q);
            for (q, s) in q.iter_mut().zip(&p.s) {
                *q += (alpha - beta) * s;
            }
        }
        let step = if iteration == 0 { 0.05 } else { 0.5 };
        let next: Vec<f64> = x.iter().zip(&q).map(|(x, q)| x - step * q).collect();
        let g_next: Vec<f64> = gradient_of_energy(&next, k);
        let s: Vec<f64> = next.iter().zip(&x).map(|(a, b)| a - b).collect();
        let y: Vec<f64> = g_next.iter().zip(&g).map(|(a, b)| a - b).collect();
        let rho = 1.0 / dot(&s, &y);
        if history.len() == 2 {
            history.remove(0);
        }
        history.push(Pair { s, y, rho });
        x = next;
        g = g_next;
    }
    dot(&x, &g)
}

/// The last ones go, of structs that a function makes and of plain ones.
#[differentiable]
fn pair(x: &[f64], k: f64) -> Pair {
    Pair { s: x.iter().map(|x| x * k).collect(), y: x.to_vec(), rho: k * k }
}

#[differentiable]
fn popped(x: &[f64], k: f64) -> f64 {
    let mut pairs: Vec<Pair> = Vec::new();
    let mut points: Vec<Point> = Vec::new();
    for i in 0..x.len() + 2 {
        if pairs.len() == 2 {
            pairs.pop();
        }
        if points.len() > 1 {
            points.remove(i % 2);
        }
        pairs.push(pair(x, k * (i + 1) as f64));
        points.push(Point { x: x[0] * i as f64, weight: k });
    }
    points.pop();
    points.pop();
    points.pop();
    points.push(Point { x: k, weight: x[0] });
    pairs.iter().map(|p| dot(&p.s, &p.y) * p.rho).sum::<f64>()
        + points.iter().map(|p| p.x * p.weight).sum::<f64>()
}

#[test]
fn taken_out_unseen() {
    check_rule(lbfgs::rule, [(vec![0.5, -0.7, 0.9], 0.6), (vec![0.5], 0.3)]);
    check_rule(popped::rule, [(vec![0.5, -0.7, 0.9], 0.6), (vec![0.5], 0.3)]);
}
