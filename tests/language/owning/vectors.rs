//! Vectors that are made, grown, shrunk and moved.

use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

/// As long as a parameter that carries a gradient.
#[differentiable]
fn made(x: &[f64], k: f64) -> f64 {
    let mut h = vec![0.0; x.len()];
    let g = vec![x[0] * k, k, 1.0];
    let r = vec![x[0] * k; x.len()];
    let constants = vec![0.5, 2.0];
    for i in 0..x.len() {
        h[i] = x[i] * g[i % 3] + r[i] * constants[i % 2];
    }
    let mut total = 0.0;
    for i in 0..h.len() {
        total += h[i] * h[0] * g[0];
    }
    total
}

#[differentiable]
fn prefix_sums(x: &[f64]) -> f64 {
    let mut sums = Vec::new();
    let mut sum = 0.0;
    for i in 0..x.len() {
        sum += x[i];
        sums.push(sum * sum);
    }
    let mut total = 0.0;
    for i in 0..sums.len() {
        total += sums[i] * x[i] * sums[0];
    }
    total
}

#[differentiable]
fn cumulative_products(x: &[f64]) -> f64 {
    let mut products = Vec::with_capacity(x.len() + 1);
    products.push(1.0);
    for i in 0..x.len() {
        let last = products[products.len() - 1];
        products.push(last * x[i]);
    }
    products[x.len()] * products[x.len() / 2]
}

/// Coefficients of Π (t − rᵢ), evaluated at t.
#[differentiable]
fn polynomial(roots: &[f64], t: f64) -> f64 {
    let mut c: Vec<f64> = vec![1.0];
    for i in 0..roots.len() {
        c.push(0.0);
        for j in (1..c.len()).rev() {
            c[j] -= roots[i] * c[j - 1];
        }
    }
    let mut value = 0.0;
    for i in 0..c.len() {
        value = value * t + c[i];
    }
    value
}

/// A machine with a stack: numbers are pushed, −1 adds, −2 multiplies.
#[differentiable]
fn machine(code: &[i32], x: &[f64]) -> f64 {
    let mut stack = Vec::new();
    for k in 0..code.len() {
        if code[k] >= 0 {
            stack.push(x[code[k] as usize]);
        } else {
            let b = stack.pop().unwrap();
            let a = stack.pop().expect("two operands");
            if code[k] == -1 {
                stack.push(a + b);
            } else {
                stack.push(a * b);
            }
        }
    }
    stack.pop().unwrap_or(0.0)
}

#[differentiable]
fn grown_and_cut(x: &[f64], k: f64) -> f64 {
    let mut v = vec![k, k * k];
    let mut total = 0.0;
    for i in 0..x.len() {
        v.extend_from_slice(&x[..i + 1]);
        v[i] *= x[i] * v[0];
        total += v[v.len() - 1] * v[i];
        if v.len() > 4 {
            v.truncate(3);
        }
        v.resize(6, x[i] * k);
        total *= v[5];
        v.resize(4, 0.0);
        if i == 2 {
            v.clear();
            v.push(total);
            v.push(k);
        }
    }
    for i in 0..v.len() {
        total += v[i] * v[i];
    }
    total
}

#[differentiable]
fn inserted_and_removed(x: &[f64]) -> f64 {
    let mut v = vec![x[0], 1.0];
    for i in 0..x.len() {
        v.insert(i / 2, x[i] * v[1]);
        if i % 3 == 2 {
            let removed = v.remove(1);
            v[0] += removed * x[i];
        }
        v.pop();
        v.push(v[0] * x[0]);
    }
    let mut total = 0.0;
    for i in 0..v.len() {
        total += v[i] * (i + 1) as f64 * v[0];
    }
    total
}

/// A new vector in each step, which takes the place of the old one.
#[differentiable]
fn moved_in_a_loop(x: &[f64], k: f64, steps: usize) -> f64 {
    let n = x.len();
    let mut current = vec![k; n];
    for s in 0..steps {
        let mut next = vec![0.0; n];
        for i in 0..n {
            next[i] = current[i] * x[i] + current[(i + 1) % n].sin();
        }
        current = next;
    }
    let mut total = 0.0;
    for i in 0..n {
        total += current[i] * current[i];
    }
    total
}

#[differentiable]
fn moved(x: &[f64], k: f64) -> f64 {
    let mut a = vec![k; x.len()];
    a[0] = x[0] * a[0];
    let mut b = a;
    b[0] *= b[0];
    b.push(k);
    let c = b;
    let mut d = if k > 1.0 {
        let mut inner = vec![x[0] * k];
        inner.push(inner[0] * k);
        inner
    } else {
        let n = c.len();
        vec![c[0], c[n - 1], k]
    };
    d[0] *= x[0];
    d = vec![d[0] * k, d[1]];
    d[1] *= d[0];
    d[0] * d[1]
}

#[differentiable]
fn pairs(x: f64, n: usize) -> f64 {
    let (mut a, mut b) = (vec![x; n], vec![1.0; n + 1]);
    let mut total = 0.0;
    for i in 0..n {
        b[i + 1] = a[i] * b[i];
        a[i] = b[i + 1] * x;
        total += a[i];
    }
    total * b[n]
}

#[differentiable]
fn in_a_loop(x: &[f64], k: f64) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        let mut h = vec![k; i + 1];
        for j in 0..i {
            h[j + 1] = h[j] * x[j];
            h.push(h[j] * k);
        }
        total += h[i] * h[h.len() - 1];
    }
    total
}

#[differentiable]
fn thomas(a: &[f64], b: &[f64], c: &[f64], d: &[f64]) -> f64 {
    let n = d.len();
    let mut cp = vec![0.0; n];
    let mut dp = vec![0.0; n];
    cp[0] = c[0] / b[0];
    dp[0] = d[0] / b[0];
    for i in 1..n {
        let m = b[i] - a[i] * cp[i - 1];
        cp[i] = c[i] / m;
        dp[i] = (d[i] - a[i] * dp[i - 1]) / m;
    }
    let mut x = vec![0.0; n];
    x[n - 1] = dp[n - 1];
    for i in (0..n - 1).rev() {
        x[i] = dp[i] - cp[i] * x[i + 1];
    }
    let mut norm = 0.0;
    for i in 0..n {
        norm += x[i] * x[i];
    }
    norm
}

/// Vectors extended by slices, vectors and their elements.
#[differentiable]
fn extended(x: &[f64], y: &mut [f64], rounds: usize) -> f64 {
    let mut v = Vec::with_capacity(4);
    let mut w = vec![x[0]];
    for i in 0..rounds {
        v.extend(x);
        v.extend(x.iter().copied());
        v[i] *= y[0];
        if i % 2 == 0 {
            v.extend(&y[1..]);
            y[1] *= v[i] + 0.5;
            w.extend(v[i..i + 2].iter().cloned());
        } else {
            w.extend(&v);
        }
        w[0] += v[v.len() - 1];
        v.extend(w.iter());
        v.truncate(3 + i);
    }
    let mut total = 0.0;
    for (i, a) in v.iter().enumerate() {
        total += a * a * (i + 1) as f64;
    }
    for a in &w {
        total *= 1.0 + 0.05 * a;
    }
    total
}

#[test]
fn extending() {
    check_rule(
        extended::rule,
        [
            (vec![0.3, 0.7], vec![1.2, 0.4, 0.9], 3),
            (vec![0.5, 0.2, -0.3], vec![0.7, 1.1], 4),
            (vec![0.5, 0.2], vec![0.7, 1.1], 0),
        ],
    );
}

#[test]
fn of_a_length() {
    check_rule(made::rule, [(vec![0.5, -0.4, 0.3], 0.7), (vec![0.7], 1.5)]);
    check_rule(pairs::rule, [(0.7, 3), (1.2, 1)]);
    check_rule(in_a_loop::rule, [(vec![0.5, -0.4, 0.3], 0.7), (vec![0.7], 1.5), (vec![], 1.0)]);
    check_rule(
        thomas::rule,
        [
            (vec![0.0, 0.2, 0.1], vec![2.0, 1.9, 2.1], vec![0.3, 0.4, 0.0], vec![1.0, 0.5, -0.5]),
            (vec![0.0, 0.2], vec![2.0, 1.9], vec![0.3, 0.0], vec![1.0, 0.5]),
        ],
    );
}

#[test]
fn grown() {
    check_rule(prefix_sums::rule, [vec![0.5, -0.4, 0.3], vec![0.7], vec![]].map(|x| (x,)));
    check_rule(cumulative_products::rule, [vec![0.5, -0.4, 0.3], vec![0.7], vec![]].map(|x| (x,)));
    check_rule(polynomial::rule, [(vec![0.5, -0.4, 0.3], 0.9), (vec![0.7], 0.1), (vec![], 0.3)]);
}

#[test]
fn shrunk() {
    CheckRule::new(machine::rule)
        .inputs([
            (vec![0, 1, -1, 2, -2, 0, 1, -2, -1], vec![0.5, -0.4, 0.3]),
            (vec![0, 0, -2], vec![0.7]),
            (vec![], vec![0.7]),
        ])
        .panicking((vec![-1], vec![0.7]))
        .run();
    check_rule(grown_and_cut::rule, [(vec![0.5, 0.4, 0.3, 0.9], 0.7), (vec![0.7], 1.5), (vec![], 0.3)]);
    check_rule(inserted_and_removed::rule, [vec![0.5, -0.4, 0.3, 0.9], vec![0.7]].map(|x| (x,)));
}

#[test]
fn moved_on() {
    check_rule(
        moved_in_a_loop::rule,
        [(vec![0.5, -0.4, 0.3], 0.7, 3), (vec![0.7], 1.5, 0), (vec![0.7, 0.2], 1.5, 4)],
    );
    check_rule(moved::rule, [(vec![0.5, -0.4, 0.3], 0.7), (vec![0.7], 1.5), (vec![0.7], 0.5)]);
}

#[differentiable]
fn squares(x: &[f64]) -> Vec<f64> {
    x.iter().map(|v| v * v).collect()
}

/// Vectors in blocks, of which nothing comes out.
#[differentiable]
fn made_in_vain(x: &mut [f64], k: f64) -> f64 {
    let first = if k > 0.5 {
        let mut y = x.to_vec();
        y[0] *= k;
        y[0]
    } else {
        k
    };
    for _ in 0..2 {
        let y = squares(x);
        let z = y[0] * k;
    }
    let last = {
        let y = squares(x);
        y[0] * k
    };
    k * x[0]
}

#[test]
fn unused() {
    check_rule(made_in_vain::rule, [(vec![0.5, -0.4, 0.3], 0.7), (vec![0.7], 0.3)]);
}

/// Copies by way of `Vec::from` and the path of `to_vec`.
#[differentiable]
fn quantile(x: &[f64], q: f64) -> f64 {
    let mut v = Vec::from(x);
    v.sort_unstable_by(f64::total_cmp);
    let tail = Vec::from(&x[1..]);
    let whole = <[f64]>::to_vec(x);
    q * v[0] + v[1] * tail[0] * whole[0]
}

#[differentiable]
fn copied_as_a_whole(x: &[f64]) -> Vec<f64> {
    Vec::from(x)
}

#[test]
fn copies() {
    check_rule(quantile::rule, [(vec![0.5, -0.4, 0.3], 0.7), (vec![0.7, 0.2], 0.3)]);
    check_rule(copied_as_a_whole::rule, [(vec![0.5, -0.4, 0.3],), (vec![0.7, 0.2],)]);
}
