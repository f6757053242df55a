//! Vectors and structs that calls have returned, of which nothing but what is done with them tells that they own memory; and plain data that
//! the same is done with.

use pullback::prelude::*;
use pullback::testing::check_rule;

#[derive(Clone, Debug, Differentiable)]
struct Owner {
    w: Vec<f64>,
    k: f64,
}

#[derive(Clone, Copy, Debug, Differentiable)]
struct Plain {
    w: [f64; 2],
    k: f64,
}

#[differentiable]
fn vector(x: &[f64], k: f64) -> Vec<f64> {
    x.iter().map(|y| y * k + 0.1).collect()
}

#[differentiable]
fn array(x: &[f64], k: f64) -> [f64; 2] {
    [x[0] * k, x[1] + k]
}

#[differentiable]
fn vector_and_number(x: &[f64], k: f64) -> (Vec<f64>, f64) {
    let v: Vec<f64> = x.iter().map(|y| y * k + 0.1).collect();
    (v, k * k)
}

#[differentiable]
fn sum(x: &[f64]) -> f64 {
    x.iter().sum()
}

/// The same function for what `next` returns and `State` holds.
macro_rules! of_results {
    ($($module:ident $State:ident $next:ident $W:ty;)*) => {$(
        mod $module {
            use super::*;

            #[differentiable]
            fn in_a_literal(x: &[f64]) -> f64 {
                let w = $next(x, x[1]);
                let t = w[0] * w[1];
                let s = $State { w, k: t };
                t * s.w[0] * s.k
            }

            #[differentiable]
            fn in_what_is_returned(x: &[f64]) -> $State {
                let w = $next(x, x[1]);
                let e = w[0];
                $State { w, k: x[0] * e }
            }

            #[differentiable]
            fn returned_by_name(x: &[f64]) -> $State {
                let w = $next(x, x[1]);
                let s = $State { w, k: x[0] };
                s
            }

            #[differentiable]
            fn of_a_pair(x: &[f64]) -> f64 {
                let (w, k) = ($next(x, x[1]), x[0]);
                let s = $State { w, k };
                s.w[0] * s.k
            }

            #[differentiable]
            fn behind_reference(x: &[f64], p: &mut $State, v: &mut $W) -> f64 {
                let w = $next(&p.w, x[1]);
                let change = w[0] - p.w[0];
                let many = w.len() as f64;
                p.w = w;
                let u = $next(x, change);
                if u[0] > 0.2 {
                    p.k *= many;
                }
                *v = u;
                change * change * p.k * v[1]
            }

            #[differentiable]
            fn of_a_local(x: &[f64], n: usize) -> f64 {
                let start: $W = $next(x, 0.9);
                let mut s = $State { w: start, k: x[0] };
                for i in 0..n {
                    let w = $next(&s.w, x[i]);
                    let change = w[1] - s.w[1];
                    s.w = w;
                    s.k *= 1.0 + change;
                }
                s.w[0] * s.k
            }

            #[differentiable]
            fn looked_at_and_pushed(x: &[f64], n: usize) -> f64 {
                let mut rows = Vec::new();
                let mut t = 1.0;
                for i in 0..n {
                    let w = $next(x, x[i]);
                    if w[0] > 0.4 {
                        t *= sum(&w);
                    }
                    for y in w.iter() {
                        t += y * x[0];
                    }
                    rows.push(w);
                }
                t * rows[0][1] * rows[n - 1][0]
            }

            #[test]
            fn moved() {
                let (x, y) = (vec![0.7131, 0.5337, 1.1339], vec![0.3317, 0.8229, 0.4471, 1.2093]);
                check_rule(in_a_literal::rule, [(x.clone(),), (y.clone(),)]);
                check_rule(in_what_is_returned::rule, [(x.clone(),), (y.clone(),)]);
                check_rule(returned_by_name::rule, [(x.clone(),), (y.clone(),)]);
                check_rule(of_a_pair::rule, [(x.clone(),), (y.clone(),)]);
                let w = <$W>::from([0.4, 0.7]);
                let state = $State { w: w.clone(), k: 1.1 };
                check_rule(
                    behind_reference::rule,
                    [(x.clone(), state.clone(), w.clone()), (y.clone(), state, w)],
                );
                check_rule(of_a_local::rule, [(x.clone(), 3), (y.clone(), 2)]);
                check_rule(looked_at_and_pushed::rule, [(x, 3), (y, 1)]);
            }
        }
    )*};
}

of_results! {
    of_vectors Owner vector Vec<f64>;
    of_arrays Plain array [f64; 2];
}

/// What a pair has held is pushed, and the memory of its gradient comes back.
#[differentiable]
fn pairs_pushed(x: &[f64], n: usize) -> f64 {
    let mut rows = Vec::new();
    let mut k = 1.0;
    for i in 0..n {
        let (w, z) = vector_and_number(x, x[i]);
        k *= z;
        rows.push(w);
    }
    let (w, z) = vector_and_number(&rows[0], k);
    let last = w;
    last[0] * rows[n - 1][1] * z
}

#[test]
fn parts_of_pairs() {
    let (x, y) = (vec![0.7131, 0.5337, 1.1339], vec![0.3317, 0.8229, 0.4471, 1.2093]);
    check_rule(pairs_pushed::rule, [(x, 3), (y, 2)]);
}
