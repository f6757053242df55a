//! Shadows of locals that one call comes to first: it writes what others would add to zeros.

use std::cell::Cell;

use pullback::Dual;
use pullback::prelude::*;
use pullback::testing::{check_gradient, check_rule};

thread_local! {
    /// How many pullbacks of [`watched`] have added to a shadow, and how many have set one.
    static SEEN: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// Σ xᵢ²
fn watched(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum()
}

#[derive(Rule, Default)]
#[rule(fn watched(x: &[f64]) -> f64)]
struct Watched {
    #[rule(overwrites = x)]
    overwrites_x: bool,
}

impl Watched {
    fn forward(&mut self, x: &[f64]) -> f64 {
        watched(x)
    }
    fn pullback(&mut self, x: Dual<'_, [f64]>, d: f64) {
        let Some(dx) = x.shadow.get() else { return };
        let (adds, sets) = SEEN.get();
        SEEN.set(if self.overwrites_x { (adds, sets + 1) } else { (adds + 1, sets) });
        for (dx, x) in dx.iter().zip(x.value) {
            dx.set(if self.overwrites_x { 0.0 } else { dx.get() } + 2.0 * x * d);
        }
    }
}

#[differentiable]
fn in_a_loop(x: &[f64], n: usize) -> f64 {
    let mut total = 0.0;
    for i in 0..n {
        let mut y = vec![0.0; x.len()];
        for j in 0..x.len() {
            y[j] = x[j] * (i + 1) as f64;
        }
        total = 0.5 * total + watched(&y);
    }
    total
}

/// The terms are independent: each iteration runs forward and backward at once.
#[differentiable]
fn at_once(x: &[f64], n: usize) -> f64 {
    let mut total = 0.0;
    for i in 0..n {
        let mut y = vec![0.0; x.len()];
        for j in 0..x.len() {
            y[j] = x[j] * (i + 1) as f64;
        }
        total += watched(&y);
    }
    total
}

#[differentiable]
fn of_many_lengths(x: &[f64], n: usize) -> f64 {
    let mut total = 0.0;
    for i in 0..n {
        let mut y = vec![0.0; x.len() - x.len().min(i)];
        for j in 0..y.len() {
            y[j] = x[j].sin();
        }
        total = total * total + watched(&y);
    }
    total
}

/// What is first in the reverse pass is the last one here.
#[differentiable]
fn of_two(x: &[f64], n: usize) -> f64 {
    let mut y = vec![0.0; x.len()];
    for j in 0..x.len() {
        y[j] = x[j] * (n + 1) as f64;
    }
    let first = watched(&y);
    let second = watched(&y);
    first * second
}

/// Both are first, of one array and then of another under the same name.
#[differentiable]
fn renewed(x: &[f64], n: usize) -> f64 {
    let mut y = vec![0.0; x.len()];
    for j in 0..x.len() {
        y[j] = x[j] * n as f64;
    }
    let first = watched(&y);
    y = vec![1.0; x.len() + 1];
    for j in 0..x.len() {
        y[j] = x[j].sin();
    }
    first + watched(&y)
}

/// Their shadows change places as they do.
#[differentiable]
fn swapped(x: &[f64], n: usize) -> f64 {
    let (mut y, mut z) = (vec![0.0; x.len()], vec![0.0; x.len()]);
    for j in 0..x.len() {
        y[j] = x[j] * 2.0;
        z[j] = x[j].cos() * n as f64;
    }
    std::mem::swap(&mut y, &mut z);
    watched(&y) * watched(&z)
}

#[differentiable]
fn and_an_element(x: &[f64], n: usize) -> f64 {
    let mut y = vec![0.0; x.len()];
    for j in 0..x.len() {
        y[j] = x[j] * n as f64;
    }
    let square = watched(&y);
    let mut rest = 0.0;
    for j in 0..y.len() {
        rest += y[j] * j as f64;
    }
    square + rest
}

#[differentiable]
fn in_a_branch(x: &[f64], n: usize) -> f64 {
    let mut total = 0.0;
    for i in 0..n {
        let mut y = vec![0.0; x.len()];
        for j in 0..x.len() {
            y[j] = x[j] * (i + 1) as f64;
        }
        if i % 2 == 0 {
            total += watched(&y);
        } else if x.len() > 0 {
            total = total * y[0];
        }
    }
    total
}

#[differentiable]
fn in_a_loop_within(x: &[f64], n: usize) -> f64 {
    let mut y = vec![0.0; x.len()];
    for j in 0..x.len() {
        y[j] = x[j] * 3.0;
    }
    let mut total = 1.0;
    for i in 0..n {
        total *= watched(&y);
    }
    total
}

#[differentiable]
fn left_early(x: &[f64], n: usize) -> f64 {
    let mut total = 0.0;
    for i in 0..n {
        let mut y = vec![0.0; x.len()];
        for j in 0..x.len() {
            y[j] = x[j] * (i + 1) as f64;
        }
        if i == 1 {
            continue;
        }
        total = total * 0.5 + watched(&y);
        if i == 3 {
            return total;
        }
    }
    total
}

#[differentiable]
fn of_a_part(x: &[f64], n: usize) -> f64 {
    let mut y = vec![0.0; x.len() + 1];
    for j in 0..x.len() {
        y[j] = x[j] * n as f64;
    }
    watched(&y[..x.len() / 2]) + y[x.len()]
}

#[differentiable]
fn product(x: &[f64], y: &[f64]) -> f64 {
    watched(x) * watched(y)
}

#[differentiable]
fn of_both_operands(x: &[f64], n: usize) -> f64 {
    let mut y = vec![0.0; x.len()];
    for j in 0..x.len() {
        y[j] = x[j] * n as f64;
    }
    product(&y, &y)
}

/// The callee hands it on.
#[differentiable]
fn through(x: &[f64], n: usize) -> f64 {
    let (mut y, mut z) = (vec![0.0; x.len()], vec![1.0; 3]);
    for j in 0..x.len() {
        y[j] = x[j] * n as f64;
        z[0] += x[j];
    }
    product(&y, &z)
}

/// Tests `$f`, and that of three runs `$adds` pullbacks of the call add, and `$sets` set.
macro_rules! check {
    ($f:ident: $adds:expr, $sets:expr) => {{
        let wave = |m: usize| (0..m).map(|i| (0.9 * i as f64 + 0.2).sin() + 1.5).collect::<Vec<_>>();
        let mut g = $f::gradient();
        check_gradient(
            |x| $f(x, 4),
            |x| {
                let (value, d) = g.value_and_gradient(x, 4);
                (value, d.x.to_vec())
            },
            [3, 7, 1, 2].map(wave),
        );
        let x = wave(5);
        let first = g.value_and_gradient(&x, 4).1.x.to_vec();
        // What a call leaves behind in memory does not matter to the next.
        g.value_and_gradient(&[f64::NAN; 5], 4);
        assert_eq!(g.value_and_gradient(&x, 4).1.x, first, stringify!($f));
        check_rule($f::rule, [(wave(5), 4), (wave(2), 3), (wave(8), 0)]);
        SEEN.set((0, 0));
        for _ in 0..3 {
            g.value_and_gradient(&x, 4);
        }
        assert_eq!(SEEN.get(), ($adds, $sets), stringify!($f));
    }};
}

#[test]
fn first_is_what_writes() {
    check!(in_a_loop: 0, 12);
    check!(at_once: 0, 12);
    check!(of_many_lengths: 0, 12);
    check!(of_two: 3, 3);
    check!(renewed: 3, 3);
    check!(swapped: 0, 6);
    check!(through: 0, 6);
}

#[test]
fn others_add() {
    check!(and_an_element: 3, 0);
    check!(in_a_branch: 6, 0);
    check!(in_a_loop_within: 12, 0);
    check!(left_early: 9, 0);
    check!(of_a_part: 3, 0);
    check!(of_both_operands: 6, 0);
}
