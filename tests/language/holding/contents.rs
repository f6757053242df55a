//! Vectors in an `Option` or a `Result`: returned, and taken out of what a call has returned.

use ndarray::{Array1, array};
use pullback::prelude::*;
use pullback::testing::check_rule;

use crate::differences::check;

#[derive(Clone, Debug, PartialEq)]
enum Failure {
    NotPositive(usize),
    Empty,
}

#[differentiable]
fn scaled(x: &[f64], k: f64) -> Option<Vec<f64>> {
    let mut y = x.to_vec();
    for i in 0..y.len() {
        y[i] *= k * y[0];
    }
    Some(y)
}

/// Left at several places, with vectors and without.
#[differentiable]
fn early(x: &[f64], k: f64) -> Option<Vec<f64>> {
    if k < -5.0 {
        return None;
    }
    let mut y = x.to_vec();
    for i in 0..y.len() {
        y[i] *= k * y[0];
        if y[i] > 100.0 {
            return None;
        }
    }
    if x.is_empty() {
        return Some(vec![k, k * k]);
    }
    Some(y)
}

/// L with L·Lᵀ = A, for A in row-major order.
#[differentiable]
fn cholesky(a: &[f64], n: usize) -> Result<Vec<f64>, Failure> {
    if n == 0 {
        return Err(Failure::Empty);
    }
    let mut l = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let mut s = a[i * n + j];
            for k in 0..j {
                s -= l[i * n + k] * l[j * n + k];
            }
            if i == j {
                if s <= 0.0 {
                    return Err(Failure::NotPositive(i));
                }
                l[i * n + i] = s.sqrt();
            } else {
                l[i * n + j] = s / l[j * n + j];
            }
        }
    }
    Ok(l)
}

#[differentiable]
fn forward_substitution(l: &[f64], b: &[f64]) -> Vec<f64> {
    let n = b.len();
    let mut x = b.to_vec();
    for i in 0..n {
        for j in 0..i {
            let known = x[j];
            x[i] -= l[i * n + j] * known;
        }
        x[i] /= l[i * n + i];
    }
    x
}

/// ½·(bᵀ·A⁻¹·b + ln |A|)
#[differentiable]
fn negative_log_likelihood(a: &[f64], b: &[f64]) -> Result<f64, Failure> {
    let l = cholesky(a, b.len())?;
    let x = forward_substitution(&l, b);
    let mut total = 0.0;
    for i in 0..b.len() {
        total += 0.5 * x[i] * x[i] + l[i * b.len() + i].ln();
    }
    Ok(total)
}

#[differentiable]
fn tried(x: &[f64], k: f64) -> Option<f64> {
    let y = scaled(x, k)?;
    let z: Vec<f64> = early(&y, k)?;
    Some(z[0] * k + early(&z, k)?[0])
}

#[differentiable]
fn tried_and_returned(x: &[f64], k: f64) -> Option<Vec<f64>> {
    let mut y = early(x, k)?;
    y[0] *= k;
    y.push(k);
    Some(y)
}

#[differentiable]
fn passed_on(x: &[f64], k: f64) -> Option<Vec<f64>> {
    early(x, k)
}

#[differentiable]
fn if_let(x: &[f64], k: f64) -> f64 {
    let mut total = k;
    if let Some(y) = early(x, k) {
        total *= y[0];
    }
    if let Some(y) = early(x, total) { y[0] * k } else { total * k }
}

/// What is inside is changed, moved, and looked at.
#[differentiable]
fn matched(x: &[f64], k: f64) -> f64 {
    match early(x, k) {
        None => k * x[0],
        Some(mut y) => {
            y[0] *= k;
            let z = y;
            z[0] * z[z.len() - 1]
        }
    }
}

#[differentiable]
fn let_else(x: &[f64], k: f64) -> f64 {
    let Some(y) = early(x, k) else { return k * x[1] };
    let Ok(l) = cholesky(&y, 1) else {
        return y[0] * k;
    };
    l[0] * k
}

#[differentiable]
fn unwrapped(x: &[f64], k: f64) -> f64 {
    let y = scaled(x, k).unwrap();
    let z = scaled(&y, k).expect("it is always there");
    y[0] * k + z[z.len() - 1]
}

/// An error by itself, and one that another is made of.
#[differentiable]
fn by_error(a: &[f64], k: f64, n: usize) -> f64 {
    match cholesky(a, n) {
        Ok(l) => l[0] * l[l.len() - 1] * k,
        Err(Failure::NotPositive(i)) => k * a[i],
        Err(Failure::Empty) => k * k,
    }
}

#[differentiable]
fn other_error(a: &[f64], k: f64, n: usize) -> Result<Vec<f64>, String> {
    let l = match cholesky(a, n) {
        Ok(l) => l,
        Err(failure) => return Err(format!("{failure:?}")),
    };
    let mut y = vec![k; l.len()];
    for i in 0..l.len() {
        y[i] *= l[i];
    }
    Ok(y)
}

#[differentiable]
fn or_else(a: &[f64], k: f64, n: usize) -> f64 {
    let l = match cholesky(a, n) {
        Ok(l) => l,
        Err(_) => vec![k, k * a[0]],
    };
    l[0] * l[l.len() - 1]
}

/// The methods that leave what is inside as it is.
#[differentiable]
fn converted(x: &[f64], k: f64) -> Result<f64, String> {
    let y = early(x, k).ok_or("none").map_err(|error| format!("{error}!"))?;
    let z = early(&y, k).ok_or_else(String::new).ok().expect("it is there");
    Ok(y[0] * z[z.len() - 1])
}

#[differentiable]
fn in_a_loop(x: &[f64], k: f64, n: usize) -> Option<Vec<f64>> {
    let mut state = x.to_vec();
    for _ in 0..n {
        let next = early(&state, k)?;
        for j in 0..state.len() {
            state[j] += 0.1 * next[j];
        }
    }
    Some(state)
}

/// What is inside takes the place of a vector from outside.
#[differentiable]
fn replaced(x: &[f64], k: f64, n: usize) -> f64 {
    let mut state = x.to_vec();
    let mut missed = 0.0;
    for i in 0..n {
        match early(&state, k - 2.0 * i as f64) {
            Some(next) => state = next,
            None => missed += k,
        }
    }
    state[0] + missed
}

#[differentiable]
fn while_let(x: &[f64], k: f64) -> f64 {
    let (mut k, mut total) = (k, 0.0);
    while let Some(y) = early(x, k) {
        total += y[0] * k;
        k -= 2.0;
    }
    total
}

/// A parameter by value, which its rule is lent.
#[differentiable]
fn by_value(x: Vec<f64>, k: f64) -> Option<Vec<f64>> {
    if k < 0.0 {
        return None;
    }
    if k < 0.35 {
        return Some(x);
    }
    Some(vec![x[0] * k])
}

#[differentiable]
fn collected(x: &[f64], k: f64) -> Option<Vec<f64>> {
    if k < 0.0 {
        return None;
    }
    Some(x.iter().map(|v| v * k).collect())
}

#[differentiable]
fn branches(x: &[f64], k: f64) -> Result<Vec<f64>, Failure> {
    match x.len() {
        0 => Err(Failure::Empty),
        1 => Ok(vec![x[0] * k, k]),
        _ if k < 1.0 => collected(x, k).ok_or(Failure::NotPositive(0)),
        _ => {
            let mut y = x.to_vec();
            y[0] *= k;
            Ok(y)
        }
    }
}

#[differentiable]
fn of_rows(x: &[f64], k: f64) -> Option<Vec<Vec<f64>>> {
    if k < 0.0 {
        return None;
    }
    let mut rows = vec![vec![0.0; x.len()]; 2];
    for i in 0..x.len() {
        rows[0][i] = x[i] * k;
        rows[1][i] = x[i] * x[0];
    }
    Some(rows)
}

#[differentiable]
fn rows_inside(x: &[f64], k: f64) -> f64 {
    match of_rows(x, k) {
        Some(rows) => rows[0][0] * rows[1][1],
        None => k,
    }
}

#[differentiable]
fn of_arrays(x: &Array1<f64>, k: f64) -> Option<Array1<f64>> {
    if k < 0.0 {
        return None;
    }
    let y = x * k;
    Some(y)
}

#[differentiable]
fn arrays_inside(x: &Array1<f64>, k: f64) -> Option<f64> {
    let y: Array1<f64> = of_arrays(x, k)?;
    Some(y.sum() * k)
}

#[differentiable]
fn generic<T: pullback::Float>(x: &[T], k: T) -> Option<Vec<T>> {
    let mut y = Vec::new();
    for v in x {
        if *v < T::zero() {
            return None;
        }
        y.push(*v * k);
    }
    Some(y)
}

#[differentiable]
fn generic_inside<T: pullback::Float>(x: &[T], k: T) -> Option<T> {
    let y = generic(x, k)?;
    let mut total = T::zero();
    for v in &y {
        total += *v * k;
    }
    Some(total)
}

#[differentiable]
fn root(x: f64) -> Option<f64> {
    if x > 0.0 { Some(x.sqrt()) } else { None }
}

#[differentiable]
fn pair(x: f64) -> Option<[f64; 2]> {
    if x > 0.0 { Some([x.sqrt(), x]) } else { None }
}

#[differentiable]
fn squared(x: &f64) -> f64 {
    *x * *x * *x
}

/// Plain data, of which nobody can tell that it is.
#[differentiable]
fn plain(x: f64) -> f64 {
    let first = if let Some(r) = root(x) { squared(&r) } else { x };
    let Some(p) = pair(x * x) else { return first };
    first * p[0] + p[1]
}

struct Model {
    k: f64,
}

#[differentiable]
impl Model {
    fn apply(#[constant] &self, x: &[f64]) -> Option<Vec<f64>> {
        if x.len() > 3 {
            return None;
        }
        let mut y = x.to_vec();
        for v in y.iter_mut() {
            *v *= *v * self.k;
        }
        Some(y)
    }

    fn twice(#[constant] &self, x: &[f64]) -> Option<Vec<f64>> {
        let y = self.apply(x)?;
        self.apply(&y)
    }

    fn total(#[constant] &self, x: &[f64]) -> f64 {
        match self.twice(x) {
            Some(y) => y.iter().sum(),
            None => x[0],
        }
    }
}

fn inputs() -> [(Vec<f64>, f64); 3] {
    [(vec![0.5, 0.7], 0.3), (vec![0.5, 0.7, -0.2], 1.4), (vec![0.5, 0.7], -6.0)]
}

fn matrices() -> [(Vec<f64>, f64, usize); 4] {
    let (definite, indefinite) = (vec![2.0, 0.5, 0.5, 1.0], vec![2.0, 3.0, 3.0, 1.0]);
    [(definite, 0.7, 2), (indefinite, 0.4, 2), (vec![1.5], 0.3, 1), (vec![0.3], 0.6, 0)]
}

#[test]
fn returned() {
    check_rule(scaled::rule, inputs());
    check_rule(early::rule, inputs());
    check_rule(early::rule, [(vec![], 0.4), (vec![20.0, 30.0], 1.0), (vec![0.3], 0.5)]);
    check_rule(cholesky::rule, matrices().map(|(a, _, n)| (a, n)));
    check_rule(passed_on::rule, inputs());
    check_rule(tried_and_returned::rule, inputs());
    check_rule(by_value::rule, inputs());
    check_rule(collected::rule, inputs());
    check_rule(branches::rule, inputs());
    check_rule(branches::rule, [(vec![], 0.3), (vec![0.5], 3.3), (vec![0.5, 0.7], 0.6)]);
    check_rule(of_rows::rule, inputs());
    check_rule(
        generic::<f64>::rule,
        [(vec![0.5, 0.7], 0.3), (vec![0.5, 0.7, 0.2], 0.3), (vec![0.5, -0.7], 0.1)],
    );
    check_rule(of_arrays::rule, [(array![0.5, 0.3], 0.5), (array![0.5, 0.3, 0.1], -0.5)]);
}

#[test]
fn taken_out() {
    check_rule(tried::rule, inputs());
    check_rule(if_let::rule, inputs());
    check_rule(matched::rule, inputs());
    check_rule(let_else::rule, inputs());
    check_rule(unwrapped::rule, inputs());
    check_rule(converted::rule, inputs());
    check_rule(rows_inside::rule, inputs());
    check_rule(
        generic_inside::<f64>::rule,
        [(vec![0.5, 0.7], 0.3), (vec![0.5, 0.7, 0.2], 0.3), (vec![-0.7], 0.1)],
    );
    check_rule(arrays_inside::rule, [(array![0.5, 0.3], 0.5), (array![0.5, 0.3, 0.1], -0.5)]);
    check_rule(plain::rule, [(0.5,), (-0.5,)]);
}

#[test]
fn errors() {
    check_rule(by_error::rule, matrices());
    check_rule(other_error::rule, matrices());
    check_rule(or_else::rule, matrices());
    let b = vec![0.5, -0.3];
    check_rule(
        negative_log_likelihood::rule,
        [(vec![2.0, 0.5, 0.5, 1.0], b.clone()), (vec![2.0, 3.0, 3.0, 1.0], b)],
    );
    assert_eq!(negative_log_likelihood(&[2.0, 3.0, 3.0, 1.0], &[0.5, -0.3]), Err(Failure::NotPositive(1)));
}

#[test]
fn loops() {
    let steps = [(vec![0.5, 0.7], 0.3, 3), (vec![0.5, 0.7, -0.2], 0.3, 2), (vec![0.5, 0.7], -6.0, 2)];
    check_rule(in_a_loop::rule, steps.clone());
    check_rule(replaced::rule, steps);
    check_rule(replaced::rule, [(vec![0.5, 0.7], -4.0, 3)]);
    check_rule(while_let::rule, inputs());
}

/// What a call has returned, under a name and returned again.
#[differentiable]
fn multiplied(x: &[f64], k: f64) -> Vec<f64> {
    x.iter().map(|v| v * k).collect()
}

#[differentiable]
fn named(x: &[f64], k: f64) -> Option<Vec<f64>> {
    let y = multiplied(x, k);
    Some(y)
}

#[differentiable]
fn then_squared(x: &[f64], k: f64) -> Option<Vec<f64>> {
    let y = named(x, k)?;
    let z: Vec<f64> = y.iter().map(|v| v * v).collect();
    Some(z)
}

#[differentiable]
fn handed_on(x: &[f64], k: f64) -> Option<Vec<f64>> {
    match named(x, k) {
        Some(v) => Some(v),
        None => None,
    }
}

#[differentiable]
fn as_a_result(x: &[f64], k: f64) -> Result<Vec<f64>, usize> {
    let v = named(x, k).ok_or(3_usize)?;
    Ok(v)
}

#[differentiable]
fn of_both(x: &[f64], k: f64) -> f64 {
    let Some(a) = named(x, k) else { return 0.0 };
    let Some(b) = then_squared(x, k) else { return 0.0 };
    a[0] * b[0]
}

/// A parameter of a closure has the name of the vector.
#[differentiable]
fn of_one_name(x: &[f64], k: f64) -> Option<f64> {
    let y = scaled(x, k)?;
    Some(y.iter().zip(x).map(|(y, x)| y * x).sum())
}

/// None of them allocates more than its primal.
#[test]
fn returned_again() {
    let inputs = || [(vec![0.3, 0.6], 0.7), (vec![0.5, 0.2, 0.7], 1.2)];
    check_rule(named::rule, inputs());
    check_rule(then_squared::rule, inputs());
    check_rule(handed_on::rule, inputs());
    check_rule(as_a_result::rule, inputs());
    check_rule(of_both::rule, inputs());
    check_rule(of_one_name::rule, inputs());
}

#[test]
fn methods() {
    let model = Model { k: 1.5 };
    for n in [2, 4] {
        let x = [0.5, 0.8, 1.2, 0.3];
        let gradient = Model::total_gradient().value_and_gradient(&model, &x[..n]).1.x.to_vec();
        let mut expected = [0.0; 4];
        expected[..n].copy_from_slice(&gradient);
        check(x, |x| model.total(&x[..n]), expected);
    }
}

#[derive(Debug, PartialEq)]
enum Stopped {
    Diverged(f64),
    Negative { at: f64, step: usize },
}

/// Errors are made of constants.
#[differentiable]
fn run(x: f64, k: f64, steps: usize) -> Result<f64, Stopped> {
    let mut y = [x, k];
    for step in 0..steps {
        y[0] += k * y[0] * y[1];
        if y[0] > 1e3 {
            return Err(Stopped::Diverged(constant(y[0])));
        }
        if y[0] < 0.0 {
            return Err(Stopped::Negative { at: constant(y[0]), step });
        }
    }
    Ok(y[0] * y[0])
}

#[differentiable]
fn or_another(x: f64, k: f64, steps: usize) -> f64 {
    match run(x, k, steps) {
        Ok(y) => y,
        Err(Stopped::Negative { step, .. }) => x * step as f64,
        Err(_) => k,
    }
}

#[test]
fn errors_of_constants() {
    check_rule(or_another::rule, [(0.5, 0.3, 3), (-0.4, 0.2, 2), (900.0, 0.9, 4)]);
}
