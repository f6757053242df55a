//! Calls whose gradient is known before their value: both of their passes run at once, and keep nothing.

use pullback::prelude::*;
use pullback::testing::{allocations_in, check_rule};
use pullback::{Differentiable, Float};

/// The determinant of what is left of the rows from `row` on; `columns` is the set of those that remain.
#[differentiable]
fn minor(a: &[f64], n: usize, row: usize, columns: u32) -> f64 {
    let first = row * n + columns.trailing_zeros() as usize;
    if row + 1 == n {
        return a[first];
    }
    if row + 2 == n {
        let second = row * n + (columns & (columns - 1)).trailing_zeros() as usize;
        return a[first] * a[second + n] - a[second] * a[first + n];
    }
    let mut total = 0.0;
    let mut sign = 1.0;
    for column in 0..n {
        if columns >> column & 1 == 1 {
            total += sign * a[row * n + column] * minor(a, n, row + 1, columns ^ 1 << column);
            sign = -sign;
        }
    }
    total
}

/// The whole determinant.
#[differentiable]
fn determinant(a: &[f64], n: usize) -> f64 {
    minor(a, n, 0, (1 << n) - 1)
}

/// Horner's scheme by recursion, for any kind of number.
#[differentiable]
fn polynomial<T: Float>(coefficients: &[T], x: T) -> T {
    match coefficients.len() {
        0 => T::zero(),
        _ => {
            if coefficients.len() == 1 {
                coefficients[0]
            } else {
                coefficients[0] + x * polynomial(&coefficients[1..], x)
            }
        }
    }
}

/// Several calls that are added up, none of which the others' gradients depend on.
#[differentiable]
fn branches(x: f64, y: f64, n: usize) -> f64 {
    if n == 0 {
        x * y
    } else if n == 1 {
        let z = x.sin() * y;
        z - z * branches(z, x, 0)
    } else {
        -(y * branches(x * 0.5, y, n - 1) - branches(y, x.cos(), n - 2) / 2.0)
            + x.exp() * (branches(x, x, 0) + y)
    }
}

/// Calls that depend on each other: products, quotients, arguments.
#[differentiable]
fn entangled(x: f64, n: usize) -> f64 {
    if n == 0 {
        return x.sin();
    }
    if n == 1 {
        return entangled(x, 0) * entangled(x * x, 0);
    }
    if n == 2 {
        return 2.0 / entangled(x, 1) + entangled(entangled(x, 1), 0);
    }
    x * entangled(x, n - 1) + entangled(x, n - 2) * entangled(0.5 * x, n - 3) - entangled(x, 0).exp()
}

/// Loops in some branches only, with calls in them, and arrays that the branches share.
#[differentiable]
fn in_branches(x: &[f64], k: f64, depth: usize) -> f64 {
    let mut weights = vec![k; x.len()];
    for i in 0..x.len() {
        weights[i] *= x[i];
    }
    if x.is_empty() {
        return k * k;
    }
    let scale = weights[0] + k;
    if depth == 0 {
        let mut total = scale;
        for i in 0..x.len() {
            total += weights[i] * x[i].sin();
        }
        return total;
    }
    let halves = [x.len() / 2, x.len()];
    let mut start = 0;
    let mut total = k;
    for end in halves {
        total -= scale * weights[start] * in_branches(&x[start..end], k * scale, depth - 1);
        start = end / 2;
    }
    total * 0.5
}

/// Numbers from before the branches that these change, and what comes before is undone last.
#[differentiable]
fn changed(x: &[f64], k: f64, depth: usize) -> f64 {
    let mut s = k * k;
    let (mut t, scale) = (s.sin(), s + 1.0);
    if x.is_empty() {
        s *= t;
        return s * scale;
    }
    s = s * 2.0 + t;
    t *= x[0];
    if depth == 0 {
        t += s;
        return if t > 0.5 { t * s } else { s / scale };
    }
    let mut total = t;
    for v in x {
        s += 0.25;
        let w = v * scale;
        if w > 0.0 {
            total += w * t * changed(&x[1..], w, depth - 1);
        }
    }
    total * s
}

/// An `if` within a statement, before the one at the end.
#[differentiable]
fn before_branches(x: &[f64], k: f64) -> f64 {
    let mut t = k.cos();
    t += if k < 0.5 { x[0] * t } else { (t - k).sin() };
    for i in (0..2).rev() {
        t += branches(x[i], t, 1);
    }
    if t < 0.4 {
        t * x[0]
    } else {
        for v in x {
            t += v * k;
        }
        branches(t, k, 1)
    }
}

/// Two sums, of which one is added to twice, in loops within loops.
#[differentiable]
fn sums(x: &[f64], k: f64) -> f64 {
    let mut twice = 0.0;
    let mut once = k;
    for i in 0..x.len() {
        let y = x[i] * k;
        for j in 0..i {
            twice += x[j] * branches(y, x[j], 1);
            if x[j] > y {
                twice += y;
            } else if j % 2 == 0 {
                once -= k * determinant(&x[j..j + 1], 1);
            }
        }
    }
    twice + 2.0 * once
}

/// A name that means something else where the sum is added to.
#[differentiable]
fn hidden(x: &[f64], k: f64) -> f64 {
    let mut total = 0.0;
    for v in x {
        let weight = k * v;
        {
            let total = weight * weight;
            let _ = total;
        }
        total += weight * branches(*v, k, 2);
    }
    total
}

/// The function is left within the loop, too.
#[differentiable]
fn left(x: &[f64], n: usize) -> f64 {
    if n == 0 {
        return x[0];
    }
    let mut total = 0.0;
    for i in 0..x.len() {
        if x[i] < 0.0 {
            return total;
        }
        total += x[i] * left(&x[i..], n - 1);
    }
    total
}

#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Tree {
    weights: Vec<f64>,
    slope: f64,
}

#[differentiable]
impl Tree {
    /// A binary tree of nodes in an array.
    fn at(&self, node: usize, x: f64) -> f64 {
        if node >= self.weights.len() {
            return self.slope * x;
        }
        let w = self.weights[node];
        w * self.at(2 * node + 1, x + w) + x * self.at(2 * node + 2, x - w)
    }
}

#[differentiable]
fn of_tree(tree: &Tree, x: &[f64]) -> f64 {
    let mut total = 0.0;
    for v in x {
        total += v * tree.at(0, *v);
    }
    total
}

#[test]
fn recursion() {
    let a = |n: usize| (0..n * n).map(|i| ((7 * i + 3) % 11) as f64 / 5.0 - 1.0).collect::<Vec<f64>>();
    check_rule(determinant::rule, (1..6).map(|n| (a(n), n)));
    check_rule(minor::rule, [(a(4), 4, 1, 0b1011), (a(4), 4, 3, 0b1000)]);
    check_rule(polynomial::<f64>::rule, [(vec![0.5, 0.2, -0.3, 0.7], 1.3), (vec![], 0.4), (vec![0.4], 0.6)]);
    check_rule(polynomial::<f32>::rule, [(vec![0.5, 0.2, -0.3, 0.7], 1.3), (vec![], 0.4)]);
    check_rule(left::rule, [(vec![0.5, 0.2, -0.3, 0.7], 2), (vec![0.4, 0.7], 3)]);
    let tree = |n: usize| Tree { weights: a(n), slope: 0.7 };
    check_rule(of_tree::rule, [(tree(3), vec![0.4, 0.7]), (tree(1), vec![0.4]), (tree(2), vec![])]);
}

#[test]
fn values_of_branches() {
    check_rule(branches::rule, (0..5).map(|n| (0.7, 1.2, n)));
    check_rule(entangled::rule, (0..6).map(|n| (0.7, n)));
    check_rule(
        in_branches::rule,
        [
            (vec![0.5, 0.2, -0.3, 0.7], 1.1, 2),
            (vec![0.4, 0.6], 0.3, 0),
            (vec![], 0.3, 1),
            (vec![0.4], 0.6, 3),
        ],
    );
}

#[test]
fn numbers_that_branches_change() {
    let x = vec![0.5, 0.2, -0.3, 0.7];
    check_rule(
        changed::rule,
        [(x.clone(), 1.1, 2), (x.clone(), 0.3, 0), (x[..1].to_vec(), 0.7, 3), (vec![], 0.3, 1)],
    );
    check_rule(changed::rule, [(x.clone(), 0.9, 3), (vec![0.9], 1.3, 0)]);
    check_rule(before_branches::rule, [(x.clone(), 1.1), (vec![0.4, 0.6], 0.3), (vec![-0.9, -2.0], 0.3)]);
}

#[test]
fn sums_of_calls() {
    check_rule(sums::rule, [(vec![0.5, 0.2, -0.3, 0.7, 0.4], 1.1), (vec![0.4, 0.6], 0.3), (vec![], 0.3)]);
    check_rule(hidden::rule, [(vec![0.5, 0.2, -0.3], 1.1), (vec![0.4, 0.6], 0.3), (vec![], 0.3)]);
}

/// Each depth has a rule, and that is all: there are *n*!/2 calls.
#[test]
fn nothing_is_kept() {
    let a: Vec<f64> = (0..64).map(|i| ((7 * i + 3) % 11) as f64 / 5.0 - 1.0).collect();
    // Apart from the shadow.
    let memory = |n: usize| {
        let mut g = determinant::gradient();
        g.value_and_gradient(&a[..n * n], n);
        assert_eq!(allocations_in(|| _ = g.value_and_gradient(&a[..n * n], n)).1, 0);
        g.memory() - 8 * n * n
    };
    let [six, seven, eight] = [6, 7, 8].map(memory);
    assert!(six < seven);
    assert_eq!(eight - seven, seven - six);
}
