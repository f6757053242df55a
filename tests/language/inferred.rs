//! Numbers whose type shows late: what operators make of results of calls, changed before it is used.

use pullback::prelude::*;
use pullback::{Float, testing::check_rule};

#[differentiable]
fn square<T: Float>(x: T) -> T {
    x * x
}

#[differentiable]
fn cosine(x: f64) -> f64 {
    x.cos()
}

#[differentiable]
fn both(x: f64) -> (f64, f64) {
    (x * x, x.sin())
}

/// On the way on which nothing comes of it.
#[differentiable]
fn given_up(x: f64) -> f64 {
    let mut u = square(x) - cosine(x);
    if u > 0.0 {
        u -= x;
        x
    } else {
        -u
    }
}

#[differentiable]
fn left_early(x: f64) -> f64 {
    let mut u = square(x) - cosine(x);
    if x > 1.0 {
        u -= x;
        return x;
    }
    (-u).sin() * u.abs()
}

#[differentiable]
fn in_loops(x: &[f64]) -> f64 {
    let mut u = square(x[0]) * cosine(x[1]);
    for i in 0..x.len() {
        if x[i] > 2.0 {
            u -= x[i];
            return u * x[i];
        }
        u -= x[i] * 0.5;
    }
    while u > 3.0 {
        u -= x[0] - (1.0 - x[1]) / x[0];
    }
    if u > 1.0 { x[0] } else { -u }
}

#[differentiable]
fn quotients(x: f64) -> f64 {
    let mut u = cosine(x);
    let y = if x > 1.0 {
        u += (1.0 - x) / (x + 2.0);
        x
    } else {
        u * x
    };
    let mut v = square(x);
    if x > 1.0 {
        v += (1.0 + x) % (x - 0.5);
        return y;
    }
    y - v
}

#[differentiable]
fn of_tuples(x: f64) -> f64 {
    let (mut u, v) = both(x);
    let y = if v > 0.5 {
        u -= (2.0 * x).sqrt() - u;
        x
    } else {
        u * v
    };
    let mut pair = (square(x) - u, cosine(x) * v);
    pair.0 = -pair.0;
    pair.1 -= x;
    y - pair.0 * pair.1
}

#[differentiable]
fn generic<T: Float>(x: T, p: T) -> T {
    let mut u = square(x) - p;
    let mut v = x * p;
    if x > p {
        u -= x;
        v = x - v / p;
        return x;
    }
    -u * v
}

#[test]
fn of_calls() {
    check_rule(given_up::rule, [(0.3,), (1.3,)]);
    check_rule(left_early::rule, [(0.3,), (1.3,), (0.9,)]);
    check_rule(in_loops::rule, [(vec![0.3, 0.4],), (vec![0.5, 2.4],), (vec![1.9, 0.2],), (vec![1.7, -1.5],)]);
    check_rule(quotients::rule, [(0.3,), (1.3,)]);
    check_rule(of_tuples::rule, [(0.3,), (1.3,)]);
}

#[test]
fn of_type_parameters() {
    check_rule(generic::<f64>::rule, [(0.3, 0.7), (1.3, 0.4)]);
    let mut g = generic::<f32>::gradient();
    assert_eq!(g.value_and_gradient(2.0, 1.0).1.x, 1.0);
}

/// Flags are collected, of which their declared type tells that they carry no gradient.
#[differentiable]
fn of_signs(x: &[f64]) -> f64 {
    let shifted: Vec<f64> = x.iter().map(|v| v * v - 0.2).collect();
    let signs: Vec<bool> = shifted.iter().map(|&s| s > 0.0).collect();
    let mut total = 0.0;
    for (v, sign) in shifted.iter().zip(&signs) {
        if *sign {
            total += v * v;
        } else {
            total -= v;
        }
    }
    total
}

#[differentiable]
fn flags_of_each_pass(x: &mut [f64], n: usize) -> f64 {
    let mut total = 0.0;
    for _ in 0..n {
        let mut large: Vec<bool> = x.iter().map(|&v| v > 0.4).collect();
        large[0] = true;
        for i in 0..x.len() {
            if large[i] {
                x[i] *= x[i];
            } else {
                total += x[i].sin();
            }
        }
    }
    total + x[0]
}

#[test]
fn collected_flags() {
    check_rule(of_signs::rule, [(vec![0.3, 0.7],), (vec![0.9, 0.2, 0.5],)]);
    check_rule(flags_of_each_pass::rule, [(vec![0.3, 0.7], 2), (vec![0.9, 0.2, 0.5], 3)]);
}

/// Indices are collected from a method that changes what carries a gradient.
#[test]
fn collected_indices() {
    #[derive(Clone, Debug, Default, Differentiable)]
    struct Tree {
        nodes: Vec<f64>,
    }
    #[differentiable]
    impl Tree {
        fn leaf(&mut self, weight: f64) -> usize {
            self.nodes.push(weight);
            self.nodes.len() - 1
        }
        fn grow(&mut self, x: &[f64], k: f64) -> f64 {
            let at: Vec<usize> = x.iter().map(|w| self.leaf(w * k)).collect();
            at.iter().map(|i| self.nodes[*i] * self.nodes[at[0]]).sum()
        }
    }
    #[differentiable]
    fn grown(x: &[f64], k: f64, n: usize) -> f64 {
        let mut tree = Tree::default();
        let mut total = k;
        for _ in 0..n {
            total *= tree.grow(x, k);
            let mut level: Vec<usize> = x.iter().map(|&w| tree.leaf(w)).collect();
            level[0] += 1;
            total += tree.nodes[level[0]] * tree.nodes[level[1]];
        }
        total
    }
    check_rule(grown::rule, [(vec![0.4, 0.9, 1.3], 0.8, 2), (vec![0.4, 0.9, 1.3, -0.6, 0.7], 0.6, 1)]);
}

#[derive(Clone, Debug, Differentiable)]
struct Link {
    from: usize,
    weight: f64,
}

/// Vectors of indices, of parts of what is active.
#[differentiable]
fn indices_of_links(x: &[f64], links: &[Link]) -> f64 {
    let from: Vec<usize> = links.iter().map(|link| link.from).collect();
    let mut s = 0.0;
    for p in &from {
        s += x[*p] * x[*p] * links[*p].weight;
    }
    s
}

/// They are made once, also in loops.
#[differentiable]
fn ranks_in_a_loop(x: &[f64], k: f64) -> f64 {
    let flags: Vec<bool> = x.iter().map(|&a| a > 0.1).collect();
    let mut s: f64 = 0.0;
    for _ in 0..3 {
        let ranks: Vec<usize> = x.iter().map(|a| x.iter().filter(|b| *b < a).count()).collect();
        for (i, r) in ranks.into_iter().enumerate() {
            s += if flags[i] { x[r] * k * s.sin() } else { x[r] };
        }
    }
    s
}

#[test]
fn indices_of_parts_are_collected() {
    let link = |from, weight| Link { from, weight };
    check_rule(
        indices_of_links::rule,
        [(vec![0.2, 0.3, 0.7], vec![link(0, 0.3), link(1, 0.4)]), (vec![0.2, 0.3], vec![link(0, 0.6)])],
    );
    check_rule(ranks_in_a_loop::rule, [(vec![0.2, 0.3, 0.05], 0.3), (vec![0.7, 0.3], 0.2)]);
}
