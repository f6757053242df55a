//! Slices and numbers that are overwritten.

use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

#[differentiable]
fn swapped(x: &mut [f64], k: f64) -> f64 {
    let n = x.len();
    let t = x[0];
    x[0] = x[n - 1];
    x[n - 1] = t * k;
    x[0] * x[n - 1] * k
}

#[differentiable]
fn reversed(x: &mut [f64], weights: &[f64]) -> f64 {
    let n = x.len();
    for i in 0..n / 2 {
        let t = x[i];
        x[i] = x[n - 1 - i];
        x[n - 1 - i] = t;
    }
    let mut total = 0.0;
    for i in 0..n {
        total += x[i] * weights[i] * x[i];
    }
    total
}

#[differentiable]
fn sorted(x: &mut [f64]) -> f64 {
    for i in 1..x.len() {
        let mut j = i;
        while j > 0 && x[j - 1] > x[j] {
            let t = x[j - 1];
            x[j - 1] = x[j];
            x[j] = t;
            j -= 1;
        }
    }
    let mut total = 0.0;
    for i in 0..x.len() {
        total += x[i] * x[i] * (i + 1) as f64;
    }
    total
}

#[differentiable]
fn prefix_sums(x: &mut [f64]) {
    for i in 1..x.len() {
        x[i] += x[i - 1];
    }
}

#[differentiable]
fn prefix_products(x: &mut [f64]) -> f64 {
    for i in 1..x.len() {
        x[i] *= x[i - 1];
    }
    let mut i = x.len();
    let mut total = 1.0;
    while i > 0 {
        i -= 1;
        total = total * 0.5 + x[i];
    }
    total
}

#[differentiable]
fn twice(x: &[f64], y: &mut [f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        y[i] = x[i] * x[i];
    }
    for i in 0..x.len() {
        total += y[i] * x[0];
    }
    for i in 0..x.len() {
        y[i] = (y[i] * x[i]).sin();
        total *= y[i] + 2.0;
    }
    total
}

#[differentiable]
fn written_then_read(y: &mut [f64], k: f64) -> f64 {
    let mut total = 0.0;
    for i in 0..y.len() {
        let before = y[i];
        y[i] = before * k;
        let middle = y[i];
        y[i] = y[i] * y[i] + before;
        y[i] += middle * y[0];
        y[i] -= y[i] * k;
        total += y[i] * before * middle;
    }
    total
}

#[differentiable]
fn numbers(a: &mut f64, b: &mut f32, x: f64) -> f64 {
    *a *= *a * x;
    let t = *a;
    *b += x as f32;
    *b = *b * *b;
    if *a > 0.5 {
        *a = t + *b as f64;
    }
    *a -= t * x;
    t * *a
}

#[differentiable]
fn counted(n: &[usize], x: &mut [f64], k: f64) {
    let mut i = 0;
    for j in 0..n.len() {
        i += n[j];
        x[i % 3] = x[(i + 1) % 3] * k + x[i % 3];
        i += 1;
        x[i % 3] *= k;
    }
}

#[differentiable]
fn stencil(u: &mut [f64], next: &mut [f64], nu: f64, steps: usize) -> f64 {
    let n = u.len();
    for _ in 0..steps {
        for i in 1..n - 1 {
            next[i] = u[i] + nu * (u[i - 1] - 2.0 * u[i] + u[i + 1]) * u[i];
        }
        for i in 1..n - 1 {
            u[i] = next[i];
        }
    }
    let mut energy = 0.0;
    for i in 0..n {
        energy += u[i] * u[i];
    }
    energy
}

#[differentiable]
fn through_aliases(m: &mut [f64], columns: usize, k: f64) -> f64 {
    let rows = m.len() / columns;
    let mut total = 0.0;
    for i in 0..rows {
        let row = &mut m[i * columns..(i + 1) * columns];
        for j in 0..row.len() {
            row[j] = row[j] * k;
            row[j] *= row[0];
        }
        let row = &m[..(i + 1) * columns];
        total += row[row.len() - 1] * row[0];
    }
    let all = &mut *m;
    all[0] = all[0] * total;
    all[0]
}

#[differentiable]
fn moving_alias(x: &mut [f64], k: f64) -> f64 {
    let mut from = 0;
    let mut total = 0.0;
    while from + 2 <= x.len() {
        let part = &mut x[from..];
        from += 1;
        part[1] = part[0] * k;
        part[0] *= part[1];
        total += part[0] * from as f64;
    }
    total
}

#[differentiable]
fn overwritten_with_constants(x: &mut [f64], k: f64) -> f64 {
    let first = x[0];
    for i in 0..x.len() {
        x[i] = i as f64;
    }
    x[0] = k;
    let mut y = x[0] * first;
    y = 2.0 * y;
    let z = y * k;
    y = 1.5;
    y * z
}

fn rotate(order: &mut [usize; 3]) {
    order.rotate_left(1);
}

/// Indices that a function changes, which nothing undoes.
#[differentiable]
fn rotated(x: &mut [f64], k: f64, n: usize) -> f64 {
    let mut order = [0, 1, 2];
    for _ in 0..n {
        x[order[0] % x.len()] = x[(order[1] + 1) % x.len()] * k;
        let part = &mut x[order[2]..];
        rotate(&mut order);
        part[0] *= k + part[0];
        x[order[0]] += x[0] * k;
    }
    x[order[0]] * x[order[2]]
}

/// Indices in an array that is written to.
#[differentiable]
fn by_changing_indices(x: &mut [f64], k: f64, n: usize) -> f64 {
    let mut order = [0, 1];
    for i in 0..n {
        x[order[0]] = x[order[1]] * k + x[order[0]];
        order[i % 2] = (order[(i + 1) % 2] + 1) % x.len();
        x[order[0]] *= x[order[1] % x.len()];
    }
    x[order[0]] * k
}

#[test]
fn of_elements() {
    CheckRule::new(swapped::rule)
        .inputs([(vec![0.5, 0.2, 0.3], 0.7), (vec![0.4], 1.2), (vec![0.4, 0.5], 1.2)])
        .panicking((vec![], 1.0))
        .run();
    check_rule(
        reversed::rule,
        [
            (vec![0.5, 0.2, 0.3], vec![1.0, 2.0, -1.0]),
            (vec![], vec![]),
            (vec![0.4, 0.5, 0.1, 0.2], vec![1.0, 0.3, 0.4, 0.2]),
        ],
    );
    check_rule(sorted::rule, [vec![0.5, -0.2, 0.3, 0.1], vec![], vec![2.0, 1.0]].map(|x| (x,)));
    check_rule(prefix_sums::rule, [vec![0.5, -0.2, 0.3, 0.1], vec![], vec![2.0]].map(|x| (x,)));
    check_rule(prefix_products::rule, [vec![0.5, -0.2, 0.3, 0.1], vec![], vec![2.0]].map(|x| (x,)));
    check_rule(twice::rule, [(vec![0.5, -0.2], vec![1.0, 2.0, 3.0]), (vec![], vec![])]);
    check_rule(written_then_read::rule, [(vec![0.5, -0.2, 0.9], 0.7), (vec![], 0.5), (vec![1.5], 1.5)]);
    check_rule(rotated::rule, [(vec![0.5, -0.2, 0.9], 0.7, 4), (vec![0.3, 0.2, 1.5], 1.5, 0)]);
    check_rule(by_changing_indices::rule, [(vec![0.5, -0.2, 0.9], 0.7, 4), (vec![0.3, 0.2], 1.5, 3)]);
    check_rule(counted::rule, [(vec![1, 0, 2, 4], vec![0.5, 0.3, -0.2], 0.7), (vec![], vec![], 0.7)]);
    check_rule(overwritten_with_constants::rule, [(vec![0.5, -0.2, 0.9], 0.7), (vec![1.5], 1.5)]);
}

#[test]
fn of_numbers() {
    check_rule(numbers::rule, [(0.9, 0.5, 0.7), (0.1, -0.5, 1.5)]);
}

#[test]
fn of_whole_slices() {
    check_rule(
        stencil::rule,
        [
            (vec![0.5, 0.1, 0.9, 0.3], vec![0.0; 4], 0.1, 3),
            (vec![0.5, 0.1], vec![0.0; 2], 0.1, 3),
            (vec![0.5, 0.1, 0.6], vec![0.3; 3], 0.1, 0),
        ],
    );
    check_rule(
        through_aliases::rule,
        [(vec![0.5, 0.2, 0.3, 0.7, 0.1, 0.4], 3, 0.7), (vec![0.4, 0.2], 1, 1.2)],
    );
    check_rule(moving_alias::rule, [(vec![0.5, 0.2, 0.3, 0.7], 0.7), (vec![0.4, 0.2], 1.2), (vec![], 1.0)]);
}

/// The index looks at what the write changes.
#[differentiable]
fn index_of_itself(z: f64, b: f64) -> f64 {
    let mut w = [b; 3];
    w[(w[2].abs() * 3.3) as usize % 3] += z;
    w[2]
}

#[differentiable]
fn indices_of_itself(z: f64, b: f64) -> f64 {
    let mut w = [b; 3];
    let mut rows = [[b, 2.0 * b], [b, b]];
    for i in 0..4 {
        w[(w[2].abs() * 3.3) as usize % 3] += z * 0.3;
        w[(w[i % 3].abs() * 2.3) as usize % 3] -= w[1];
    }
    w[(w[1].abs() * 2.7) as usize % 3] = z;
    rows[1][(rows[1][1].abs() * 2.3) as usize % 2] *= z;
    w[2] + w[1] * w[0] + rows[1][1] * rows[1][0]
}

#[test]
fn indices_that_look_at_what_is_written() {
    let inputs = [(-1.169, 0.8456), (0.3, 0.2), (0.7, -0.4)];
    check_rule(index_of_itself::rule, inputs);
    check_rule(indices_of_itself::rule, inputs);
}
