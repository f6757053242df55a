//! Parts of slices under names: `split_at_mut`, `first`, `split_last` and the like.

use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

use crate::differences::check;

/// One level of the Haar transform, into the other half of a buffer.
#[differentiable]
fn haar(x: &mut [f64], n: usize, k: f64) -> f64 {
    let (left, right) = x.split_at_mut(n);
    for i in 0..n / 2 {
        right[i] = k * (left[2 * i] + left[2 * i + 1]);
        right[n / 2 + i] = left[2 * i] * left[2 * i + 1];
    }
    left.copy_from_slice(&right[..n]);
    left[0] *= right[n - 1];
    let mut total = 0.0;
    for (a, b) in left.iter().zip(right.iter()) {
        total += a * b;
    }
    total
}

#[differentiable]
fn axpy(a: f64, x: &[f64], y: &mut [f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        y[i] += a * x[i] * x[i];
        total += y[i];
    }
    total
}

#[differentiable]
fn rotate(x: &mut [f64], y: &mut [f64], angle: f64) {
    let (c, s) = (angle.cos(), angle.sin());
    for (a, b) in x.iter_mut().zip(y.iter_mut()) {
        let old = *a;
        *a = c * old - s * *b;
        *b = s * old + c * *b;
    }
}

/// Both parts in one call, written and read, in a loop and in a branch.
#[differentiable]
fn both_parts(x: &mut Vec<f64>, angle: f64, steps: usize) -> f64 {
    let half = x.len() / 2;
    let mut total = 0.0;
    for s in 0..steps {
        let (top, bottom) = x.split_at_mut(half);
        rotate(top, bottom, angle * s as f64);
        if s % 2 == 1 {
            let one = axpy(bottom[0], top, bottom);
            total += one * top[0];
        } else {
            total += axpy(angle, bottom, top);
            std::mem::swap(&mut top[0], &mut bottom[0]);
        }
        x[0] *= 0.9;
    }
    total + x[half]
}

/// A butterfly of the fast Fourier transform, on the parts of parts.
#[differentiable]
fn butterflies(x: &mut [f64], k: f64) {
    let n = x.len();
    if n < 4 {
        return;
    }
    let (re, im) = x.split_at_mut(n / 2);
    let (a, b) = re.split_at_mut(n / 4);
    let (c, d) = im.split_at_mut(im.len() / 2);
    for i in 0..a.len() {
        let (t, u) = (b[i] * k - d[i], d[i] * k + b[i]);
        b[i] = a[i] - t;
        d[i] = c[i] - u;
        a[i] += t;
        c[i] += u;
    }
    rotate(a, d, k);
    rotate(&mut c[..1], &mut b[..1], a[0]);
    b.swap_with_slice(c);
}

/// Recursive, as in a merge sort.
#[differentiable]
fn halves(x: &mut [f64], k: f64) -> f64 {
    if x.len() < 2 {
        return x.first().copied().unwrap_or(0.5) * k;
    }
    let (left, right) = x.split_at_mut(x.len() / 2);
    let a = halves(left, k);
    let b = halves(right, 2.0 * k);
    left[0] *= b;
    right[0] += left[0] * a;
    a * b + left[0]
}

/// Of locals: an array and a vector, and read only.
#[differentiable]
fn of_locals(x: &[f64], k: f64) -> f64 {
    let mut room = [k, 1.0, x[0], 0.5];
    let mut v = x.to_vec();
    {
        let (a, b) = room.split_at_mut(2);
        a[0] *= b[0];
        b[1] = a[0] * a[1];
    }
    let (front, back) = v.split_at_mut(1);
    for b in back.iter_mut() {
        *b *= front[0];
        front[0] += 0.1 * *b;
    }
    let (_, tail) = x.split_at(x.len() / 2);
    let head = x.split_at(x.len() / 2).0;
    let mut total = room[3] * v[v.len() - 1];
    for (a, b) in head.iter().zip(tail) {
        total += a * b;
    }
    let (p, q) = (&x[..1], &v[1..]);
    total + p[0] * q[0]
}

/// Of each row of a matrix in a loop, by an index that changes.
#[differentiable]
fn of_rows(a: &mut [f64], n: usize, k: f64) -> f64 {
    let mut total = 0.0;
    let mut row = 0;
    while row + 1 < a.len() / n {
        let (above, below) = a.split_at_mut((row + 1) * n);
        let pivot = &above[row * n..];
        let factor = below[0] / pivot[0];
        for j in 0..n {
            below[j] -= factor * pivot[j] * k;
        }
        total += factor * below[n - 1];
        row += 1;
    }
    total
}

#[differentiable]
fn ends(x: &[f64], k: f64) -> f64 {
    let mut total = *x.first().unwrap() * k;
    total += x.last().unwrap().sin();
    total += x.get(1).copied().unwrap_or(k);
    total *= x.get(7).unwrap_or(&k);
    total += x.first().map(|v| v * v).unwrap_or_default();
    total
}

#[differentiable]
fn by_patterns(x: &[f64], k: f64) -> f64 {
    let mut total = 1.0;
    if let Some(first) = x.first() {
        total += first * k;
    } else {
        total *= k;
    }
    if let Some(&last) = x.last() {
        total += last * last;
    }
    if let Some((head, tail)) = x.split_first() {
        for t in tail {
            total += head * t;
        }
        total *= match tail.split_last() {
            Some((last, others)) => last * others.len() as f64 + k,
            None => *head,
        };
    }
    let second = match x.get(1) {
        None => return total,
        Some(v) => v * total,
    };
    let Some((&last, front)) = x.split_last() else { return k };
    for i in 0..front.len() {
        total += front[i] * last * second;
    }
    total
}

/// Written through, and through both parts.
#[differentiable]
fn written(x: &mut [f64], k: f64) -> f64 {
    if let Some(first) = x.first_mut() {
        *first *= k;
    }
    if let Some((head, tail)) = x.split_first_mut() {
        for t in tail.iter_mut() {
            *t *= *head;
            *head += 0.1 * *t;
        }
    }
    for i in 0..x.len() {
        if let Some((last, others)) = x[..i + 1].split_last_mut() {
            let (one, other) = others.split_at_mut(i / 2);
            let sum = axpy(*last, one, &mut other[..i / 2]);
            *last += sum * k;
        }
    }
    if let Some(v) = x.get_mut(1) {
        *v = v.sin();
    }
    *x.last_mut().unwrap() += k * x[0];
    x[0] * x.last().unwrap()
}

/// `?`, of functions that return an `Option`.
#[differentiable]
fn perhaps(x: &[f64], k: f64) -> Option<f64> {
    let (first, rest) = x.split_first()?;
    let second = *rest.first()?;
    Some(first * second * k + rest.last()? * x.get(2).copied()?)
}

#[differentiable]
fn perhaps_called(x: &[f64], k: f64) -> f64 {
    let mut total = k;
    for i in 0..x.len() {
        if let Some(v) = perhaps(&x[i..], k) {
            total += v * x[i];
        }
    }
    total
}

/// What chains pick out, taken apart by a pattern.
#[differentiable]
fn picked(x: &[f64], k: f64) -> f64 {
    let mut total = k;
    if let Some(largest) = x.iter().copied().reduce(f64::max) {
        total *= largest;
    }
    if let Some((i, v)) = x.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1)) {
        total += v * v * i as f64;
    }
    let Some(found) = x.iter().find(|v| **v > 0.5) else { return total * k };
    match x.iter().map(|v| v * k).last() {
        Some(last) => total * last * found,
        None => 0.0,
    }
}

#[derive(Differentiable)]
struct Filter {
    taps: Vec<f64>,
    rows: Vec<Vec<f64>>,
}

/// Of fields, and of rows; the parts captured by a closure and handed to adapters.
#[differentiable]
fn of_fields(filter: &mut Filter, k: f64) -> f64 {
    let (old, new) = filter.taps.split_at_mut(2);
    new[0] += old[1] * k;
    let scaled = |i: usize| old[i] * k;
    let mut total = scaled(0) * new.iter().map(|v| v * v).sum::<f64>();
    for (i, row) in filter.rows.iter_mut().enumerate() {
        if let Some((first, others)) = row.split_first_mut() {
            others[i] *= *first;
            *first += axpy(k, &others[..1], &mut [0.5, k]);
        }
    }
    let (front, back) = filter.rows.split_at(1);
    if let Some(a) = front[0].last()
        && let Some(b) = back[0].first()
    {
        total += a * b;
    }
    total * filter.taps.last().unwrap()
}

/// In a loop that is run again from checkpoints.
#[differentiable]
fn run_again(x: &mut [f64], k: f64, steps: usize) -> f64 {
    let half = x.len() / 2;
    #[pullback(checkpoint = 2)]
    for _ in 0..steps {
        let (a, b) = x.split_at_mut(half);
        for i in 0..half {
            let old = a[i];
            a[i] += k * b[i].sin();
            b[i] -= k * old * b[i];
        }
        if let Some(last) = x.last_mut() {
            *last *= 0.9;
        }
    }
    x[0] * x[half]
}

/// Patterns of slices, of any length.
#[differentiable]
fn by_length(x: &[f64], k: f64) -> f64 {
    let mut total = match x {
        [] => return k,
        [one] => one * k,
        [first, second] => first * second,
        [first, middle @ .., last] => {
            let mut sum = first * last;
            for v in middle {
                sum += v * v * k;
            }
            sum
        }
    };
    if let [_, second, rest @ ..] = x {
        total += second * rest.len() as f64;
        if let &[.., last] = rest {
            total *= last;
        }
    }
    let [first, .., last] = x else { return total };
    total + first * last
}

/// Of arrays, vectors and rows.
#[differentiable]
fn of_arrays(x: [f64; 4], rows: &[Vec<f64>], k: f64) -> f64 {
    let [a, .., z] = x;
    let [_, middle @ .., _] = &x;
    let mut total = a * z + middle[0] * middle[1] * k;
    for row in rows {
        if let [head, tail @ ..] = &row[..] {
            for t in tail.iter().rev() {
                total += head * t;
            }
        }
        total += match row.as_slice() {
            [.., before, last] => before - last * last,
            _ => k * k,
        };
    }
    total
}

/// Within lists of numbers, and of vectors.
#[differentiable]
fn in_lists(x: &[f64], t: f64) -> f64 {
    let waves = vec![0.5 * (*x.last().unwrap() * t).cos(); x.len()];
    let pair = vec![0.5 * x.last().unwrap() * t, t];
    let scale = |v: f64| v * t;
    let rows = vec![vec![scale(*x.first().unwrap()); 2], vec![t, x.iter().map(|v| v * t).sum::<f64>()]];
    waves[0] * pair[0] + pair[1] * rows[0][1] * rows[1][1]
}

/// Behind what leaves, in parentheses and without.
#[differentiable]
fn in_returned_values(x: &[f64], t: f64) -> f64 {
    if t > 0.3 {
        return (*x.last().unwrap()).tanh().exp();
    }
    if t > 0.2 {
        return (x.first().unwrap() * t).tanh();
    }
    for v in x {
        if *v > 0.9 {
            return (x.iter().sum::<f64>() * v).sin();
        }
    }
    let scale = |u: f64| u * t;
    if t > 0.05 {
        return (scale(x[0]) + scale(t)).sin().cos();
    }
    t * x[0]
}

#[test]
fn parts_in_lists() {
    check_rule(in_returned_values::rule, [(vec![0.3, 0.4], 0.4), (vec![0.3, 0.4, 0.7], 0.25)]);
    check_rule(
        in_returned_values::rule,
        [(vec![0.3, 0.95], 0.04), (vec![0.3], 0.07), (vec![0.3, 0.65], 0.03)],
    );
    check_rule(in_lists::rule, [(vec![0.3, -0.7, 1.2], 0.8), (vec![0.4], 1.3)]);
}

#[test]
fn within_others() {
    let mut filter =
        Filter { taps: vec![0.5, -0.4, 0.3], rows: vec![vec![0.7, 0.3, 0.2], vec![0.2, 0.9, 0.4]] };
    let mut g = of_fields::gradient();
    let value = |y: [f64; 10]| {
        let rows = vec![y[3..6].to_vec(), y[6..9].to_vec()];
        of_fields(&mut Filter { taps: y[..3].to_vec(), rows }, y[9])
    };
    let at = [0.5, -0.4, 0.3, 0.7, 0.3, 0.2, 0.2, 0.9, 0.4, 0.6];
    for _ in 0..2 {
        let (_, d) = g.value_and_gradient(&mut filter, 0.6);
        let (taps, rows) = (&d.filter.taps, &d.filter.rows);
        let mut gradient = [0.0; 10];
        gradient[..3].copy_from_slice(taps);
        gradient[3..6].copy_from_slice(&rows[0]);
        gradient[6..9].copy_from_slice(&rows[1]);
        gradient[9] = d.k;
        check(at, value, gradient);
    }
    assert_eq!(filter.taps, [0.5, -0.4, 0.3]);
    assert_eq!(filter.rows, [[0.7, 0.3, 0.2], [0.2, 0.9, 0.4]]);
    check_rule(
        run_again::rule,
        [(vec![0.5, -0.4, 0.3, 0.9], 0.7, 5), (vec![0.7, 0.3], 1.2, 4), (vec![0.7, 0.3], 1.2, 0)],
    );
}

#[test]
fn cut_in_two() {
    check_rule(
        haar::rule,
        [(vec![0.5, -0.4, 0.3, 0.9, 0.1, 0.2, 0.3, 0.4], 4, 0.7), (vec![0.7, 0.3, 0.1, 0.2], 2, 1.2)],
    );
    check_rule(
        both_parts::rule,
        [
            (vec![0.5, -0.4, 0.3, 0.9], 0.7, 3),
            (vec![0.7, 0.3], 1.2, 4),
            (vec![0.1, 0.3, 0.4, 0.5, 0.6, 0.7], 0.3, 0),
        ],
    );
    check_rule(
        butterflies::rule,
        [(vec![0.5, -0.4, 0.3, 0.9, 0.1, 0.2, 0.3, 0.4], 0.7), (vec![0.7, 0.3, 0.1, 0.2], 1.2)],
    );
    check_rule(
        halves::rule,
        [(vec![0.5, -0.4, 0.3, 0.9, 0.1], 0.7), (vec![0.7, 0.3, 0.1], 1.2), (vec![], 1.2)],
    );
    check_rule(of_locals::rule, [(vec![0.5, -0.4, 0.3, 0.9, 0.1], 0.7), (vec![0.7, 0.3, 0.1], 1.2)]);
    check_rule(of_rows::rule, [(vec![0.5, -0.4, 0.3, 0.9, 0.1, 0.7], 2, 0.7), (vec![0.7, 0.3], 1, 1.2)]);
}

#[test]
fn singled_out() {
    check_rule(ends::rule, [(vec![0.5, -0.4, 0.3], 0.7), (vec![0.7], 1.2)]);
    CheckRule::new(ends::rule)
        .inputs([(vec![0.5, -0.4, 0.3, 0.2, 0.5, 0.6, 0.7, 0.8, 0.9], 0.7)])
        .panicking((vec![], 0.7))
        .run();
    check_rule(by_patterns::rule, [(vec![0.5, -0.4, 0.3, 0.8], 0.7), (vec![0.7], 1.2), (vec![], 1.2)]);
    check_rule(written::rule, [(vec![0.5, -0.4, 0.3, 0.8, 0.2], 0.7), (vec![0.7], 1.2)]);
    check_rule(perhaps_called::rule, [(vec![0.5, -0.4, 0.3, 0.8], 0.7), (vec![0.7], 1.2), (vec![], 1.2)]);
    check_rule(
        by_length::rule,
        [
            (vec![0.5, -0.4, 0.3, 0.8], 0.7),
            (vec![0.7], 1.2),
            (vec![], 1.2),
            (vec![0.7, 0.3], 1.2),
            (vec![0.1, 0.2, 0.3], 0.2),
        ],
    );
    check_rule(
        of_arrays::rule,
        [
            ([0.5, -0.4, 0.3, 0.8], vec![vec![0.7, 0.2, 0.3], vec![0.4], vec![]], 0.7),
            ([0.1, 0.2, 0.3, 0.4], vec![], 0.2),
        ],
    );
    check_rule(picked::rule, [(vec![0.45, -0.4, 0.3, 0.8], 0.7), (vec![0.1, 0.2], 1.2), (vec![], 1.2)]);
}

/// Each reference has the name of what it refers to.
#[differentiable]
fn under_the_same_name(x: &[f64], y: &mut [f64]) -> f64 {
    let x = &x[1..];
    let y = &mut y[..2];
    y[0] *= x[0];
    y[1] += y[0] * x[1];
    let mut z = x.to_vec();
    z[0] *= y[1];
    let z = &z;
    let mut total = 0.0;
    for i in 0..z.len() {
        let z = &z[i..];
        let z = z.first().unwrap();
        total += z * x[i] * y[0] + total * 0.5;
    }
    let x = x.last().unwrap();
    let (z, y) = z.split_at(1);
    total * x + y[0] * z[0]
}

/// The first part is called as the whole.
#[differentiable]
fn cut_again_and_again(x: &[f64], k: f64) -> f64 {
    let mut total = k;
    let (x, rest) = x.split_at(2);
    total *= x[0] + rest[0];
    let (rest, x) = rest.split_at(1);
    for i in 0..x.len() {
        let (x, rest) = (&x[i..], &rest[..]);
        total += x[0] * rest[0] * total;
    }
    let mut y = [k, total, 0.5];
    let (y, z) = y.split_at_mut(1);
    y[0] *= z[0];
    z[1] += y[0];
    z[1] * y[0]
}

#[test]
fn named_alike() {
    check_rule(
        cut_again_and_again::rule,
        [(vec![0.5, -0.4, 0.3, 0.8], 0.7), (vec![0.1, 0.2, 0.7, 1.2, 0.3], 1.1)],
    );
    check_rule(
        under_the_same_name::rule,
        [(vec![0.5, -0.4, 0.3], vec![0.8, 0.7]), (vec![0.1, 0.2, 0.7, 1.2], vec![0.3, 0.4, 0.6])],
    );
}

#[differentiable]
fn at_the_ends(x: &[f64], k: f64) -> f64 {
    if x.len() == 1 {
        return *x.last().unwrap() * k;
    }
    let y = loop {
        break *x.first().expect("not empty") + k;
    };
    y * x[1]
}

#[test]
fn returned() {
    check_rule(at_the_ends::rule, [(vec![0.5], 0.3), (vec![0.5, 0.7], 0.4)]);
}

#[derive(Clone, Copy, Debug, Differentiable)]
struct Corner {
    x: f64,
    y: f64,
}

/// Alternatives, values behind `&`, a guard, and a recursion on the rest.
#[differentiable]
fn length_of_line(corners: &[Corner]) -> f64 {
    match corners {
        [] | [_] => 0.0,
        [a, b] => (a.x - b.x).hypot(a.y - b.y),
        [a, rest @ ..] => (a.x - rest[0].x).hypot(a.y - rest[0].y) + length_of_line(rest),
    }
}

#[differentiable]
fn by_cases(x: &[f64]) -> f64 {
    match x {
        &[a] | &[a, _] => a * a,
        &[a, b, c] if a > b => a * b * c,
        [first, .., last] => first * last,
        _ => 0.0,
    }
}

#[derive(Clone, Debug, Differentiable)]
struct Table {
    knots: Vec<f64>,
    ends: [f64; 2],
}

/// `as_slice` tells that a field is a slice.
#[differentiable]
fn of_slices_in_fields(table: &Table) -> f64 {
    let (first, last) = match table.knots.as_slice() {
        [first, .., last] => (*first, *last),
        _ => return table.ends[0] * 2.0,
    };
    let end = match table.ends.as_slice() {
        [a, rest @ ..] => a * rest[0],
        [] => 0.0,
    };
    first * last * end
}

#[test]
fn matched() {
    let corner = |x, y| Corner { x, y };
    let line = vec![corner(0.1, 0.2), corner(0.5, 0.3), corner(0.2, 0.8), corner(0.4, 0.1)];
    check_rule(length_of_line::rule, [0, 1, 2, 3, 4].map(|n| (line[..n].to_vec(),)));
    let inputs = [
        vec![0.3],
        vec![0.3, 0.5],
        vec![0.7, 0.2, 0.4],
        vec![0.1, 0.2, 0.4],
        vec![0.1, 0.2, 0.4, 0.5],
        vec![],
    ];
    check_rule(by_cases::rule, inputs.map(|x| (x,)));
    let table = |knots: &[f64]| Table { knots: knots.to_vec(), ends: [0.3, -0.7] };
    check_rule(of_slices_in_fields::rule, [&[0.3, 0.4][..], &[0.3], &[0.3, 0.7, 0.9]].map(|k| (table(k),)));
}

/// A name for the whole slice as the last arm, and as one with a guard.
#[differentiable]
fn whole_in_the_end(x: &[f64], k: f64) -> f64 {
    match &x[..] {
        [] => k,
        [a] => a * k,
        all if all.len() > 2 => all[0] * all[2] * k,
        rest => rest.iter().map(|x| x * x * k).sum(),
    }
}

#[test]
fn names_for_whole_slices() {
    let x = [0.3, 0.7, 0.2];
    check_rule(whole_in_the_end::rule, [0, 1, 2, 3].map(|n| (x[..n].to_vec(), 0.4)));
}

#[differentiable]
fn inner(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[differentiable]
fn add_times(a: &[f64], k: f64, b: &mut [f64]) {
    for (b, a) in b.iter_mut().zip(a) {
        *b += k * a;
    }
}

/// Modified Gram-Schmidt: the row that is written to has a name, which is also given twice and beside a part of the row.
#[differentiable]
fn orthonormalise(rows: &mut [Vec<f64>]) -> f64 {
    let mut total = 0.0;
    for j in 0..rows.len() {
        let (done, rest) = rows.split_at_mut(j);
        let row = &mut rest[0];
        for q in done.iter() {
            let projection = inner(q, row);
            total += projection;
            for (x, q) in row.iter_mut().zip(q) {
                *x -= projection * q;
            }
        }
        total += inner(&row[1..], row);
        let norm = inner(row, row).sqrt();
        row.iter_mut().for_each(|x| *x /= norm);
    }
    total
}

/// Likewise where both are arguments of what writes to one of them.
#[differentiable]
fn subtracted(rows: &mut [[f64; 3]]) -> f64 {
    let mut total = 0.0;
    for j in 1..rows.len() {
        let (done, rest) = rows.split_at_mut(j);
        for q in done.iter() {
            let projection = inner(q, &rest[0]);
            add_times(q, -projection, &mut rest[0]);
            total += projection;
        }
        add_times(&done[0], total, &mut rest[0]);
        total += rest[0][1] * done[0][0];
    }
    total
}

#[test]
fn rows_of_two_parts() {
    let rows = [[1.5, 0.3, 0.6], [0.2, 0.4, 0.1], [0.7, 0.1, 0.4]];
    let vectors = |n: usize| rows[..n].iter().map(|row| row.to_vec()).collect::<Vec<_>>();
    check_rule(orthonormalise::rule, [2, 3].map(|n| (vectors(n),)));
    check_rule(subtracted::rule, [2, 3].map(|n| (rows[..n].to_vec(),)));
}

#[differentiable]
fn ranges_that_may_not_be_there(x: &mut [f64], k: f64) -> f64 {
    let head = x.get(..2).map_or(k, |pair| pair[0] * pair[1]);
    let mut total = match x.get(1..=2) {
        Some(middle) => middle.iter().sum::<f64>() * k,
        None => x[0],
    };
    if let Some(tail) = x.get_mut(3..) {
        for v in tail {
            *v *= k;
            total += *v;
        }
    }
    let all = x.get(..).unwrap();
    total * head + all[all.len() - 1]
}

#[differentiable]
fn whole_vectors(x: &[f64], k: f64) -> f64 {
    let mut copy = [x[0], x[1]].to_vec();
    let all = copy.as_mut_slice();
    all[1] *= k;
    let all = copy.as_slice();
    let pair: &[f64; 2] = all.try_into().unwrap();
    let made = Vec::from([k, pair[0]]);
    pair[0] * pair[1] + made[0] * made[1]
}

#[test]
fn parts_by_range() {
    let k = 0.7;
    check_rule(
        ranges_that_may_not_be_there::rule,
        [(vec![0.3, 0.5, 1.1, 0.2, 0.9], k), (vec![0.3, 0.5], k), (vec![0.4, 0.2, 0.6], k)],
    );
    check_rule(whole_vectors::rule, [(vec![0.3, 0.5], k)]);
}
