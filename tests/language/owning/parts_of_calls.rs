//! Parts of tuples that calls return and that own memory, `let y = f(x).0;`, `let (y, ..) = f(x);`, without a type.

use pullback::prelude::*;
use pullback::testing::check_rule;

#[differentiable]
fn squares(x: &[f64]) -> (Vec<f64>, f64) {
    let y: Vec<f64> = x.iter().map(|v| v * v).collect();
    let sum = y.iter().sum::<f64>();
    (y, sum)
}

#[differentiable]
fn between(x: &[f64]) -> (f64, Vec<f64>, f64) {
    let y: Vec<f64> = x.iter().map(|v| v.sin()).collect();
    let sum = y.iter().sum::<f64>();
    (sum * x[0], y, sum)
}

fn inputs() -> [(Vec<f64>,); 2] {
    [(vec![0.4, 0.3],), (vec![0.1, -0.7, 0.6],)]
}

#[test]
fn by_position() {
    #[differentiable]
    fn vector(x: &[f64]) -> f64 {
        let y = squares(x).0;
        y[0] * y[1]
    }
    #[differentiable]
    fn number(x: &[f64]) -> f64 {
        squares(x).1 * x[0]
    }
    #[differentiable]
    fn of_local(x: &[f64]) -> f64 {
        let mut total = 0.0;
        for _ in 0..3 {
            let t = between(&x[..2]);
            for v in &t.1 {
                total += v * t.0;
            }
        }
        total
    }
    #[differentiable]
    fn element(x: &[f64]) -> f64 {
        let v = between(x).1[1];
        v * x[0] * between(x).1.len() as f64
    }
    check_rule(vector::rule, inputs());
    check_rule(number::rule, inputs());
    check_rule(of_local::rule, inputs());
    check_rule(element::rule, inputs());
}

#[test]
fn iterated_over() {
    #[differentiable]
    fn chain(x: &[f64]) -> f64 {
        between(x).1.iter().zip(x).map(|(a, b)| a * b).sum::<f64>() * squares(x).0.iter().sum::<f64>()
    }
    #[differentiable]
    fn loops(x: &[f64]) -> f64 {
        let mut s = 0.0;
        for v in squares(x).0 {
            s += v * x[0];
        }
        for v in &between(x).1 {
            s *= v;
        }
        s
    }
    check_rule(chain::rule, inputs());
    check_rule(loops::rule, inputs());
}

#[test]
fn first_parts() {
    #[differentiable]
    fn one(x: &[f64]) -> f64 {
        let (y, ..) = squares(x);
        y[0] * y[1]
    }
    #[differentiable]
    fn two(x: &[f64]) -> f64 {
        let (s, y, ..) = between(x);
        s * y.iter().sum::<f64>()
    }
    #[differentiable]
    fn number(x: &[f64]) -> f64 {
        let (s, ..) = between(x);
        s
    }
    check_rule(one::rule, inputs());
    check_rule(two::rule, inputs());
    check_rule(number::rule, inputs());
}
