//! Functions as arguments that make the vectors they borrow longer or shorter, or replace them.

use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

/// What it leaves has less memory than what it found.
#[differentiable]
fn shorten(v: &mut Vec<f64>) {
    let n = v.len();
    *v = vec![v[n - 1] * v[n - 2], v[n - 2] + 0.2];
}

#[differentiable]
fn apply(step: impl Fn(&mut Vec<f64>), v: &mut Vec<f64>) {
    for _ in 0..2 {
        step(v);
        v.push(v[0] * 0.7);
        v.push(v[1] + 0.3);
    }
}

/// It passes on what it has been passed, and a closure around it.
#[differentiable]
fn twice(step: impl Fn(&mut Vec<f64>), v: &mut Vec<f64>) {
    apply(
        |v: &mut Vec<f64>| {
            step(v);
            v[0] *= 1.1;
        },
        v,
    );
    apply(&step, v);
}

/// It owns the vector.
#[differentiable]
fn of_copy(step: impl Fn(&mut Vec<f64>), x: &[f64]) -> f64 {
    let mut v = x.to_vec();
    step(&mut v);
    v.push(v[0]);
    step(&mut v);
    v[0] * v[v.len() - 1]
}

#[differentiable]
fn by_name(x: &[f64], k: f64) -> f64 {
    let mut v = x.to_vec();
    apply(shorten, &mut v);
    v[0] * v[1] * k + of_copy(shorten, x)
}

#[differentiable]
fn by_closure(v: &mut Vec<f64>, k: f64) -> f64 {
    let before = of_copy(
        |v: &mut Vec<f64>| {
            shorten(v);
            v[1] *= k;
        },
        &v[1..],
    );
    twice(
        |v: &mut Vec<f64>| {
            shorten(v);
            v[0] *= k;
        },
        v,
    );
    before + v[0] * v[v.len() - 1]
}

#[differentiable]
fn written_out(x: &[f64], k: f64) -> f64 {
    let mut v = x.to_vec();
    apply(
        |v: &mut Vec<f64>| {
            let last = v.pop().unwrap();
            v[0] += k * last;
            v.insert(1, last * last);
            v.truncate(3);
        },
        &mut v,
    );
    apply(|v: &mut Vec<f64>| v.push(k * v[0]), &mut v);
    apply(|v: &mut Vec<f64>| *v = vec![k * v[v.len() - 1], v[1]], &mut v);
    apply(
        |v: &mut Vec<f64>| {
            let rest: Vec<f64> = v.iter().skip(1).map(|a| a * k).collect();
            *v = rest;
        },
        &mut v,
    );
    v[0] * v[1]
}

#[differentiable]
fn keeping_count(mut step: impl FnMut(&mut Vec<f64>, f64) -> f64, v: &mut Vec<f64>) -> f64 {
    let first = step(v, 0.3);
    step(v, 0.7) * first
}

#[differentiable]
fn changing(x: &[f64], k: f64) -> f64 {
    let mut v = x.to_vec();
    let mut total = 0.0;
    let moved = keeping_count(
        |v, a| {
            total += v[0] * k;
            v.push(a * v[0]);
            v.remove(0) * total
        },
        &mut v,
    );
    let cleared = keeping_count(
        |v: &mut Vec<f64>, a| {
            let sum: f64 = v.iter().sum();
            v.clear();
            v.push(sum * a);
            v.push(total);
            sum
        },
        &mut v,
    );
    v[0] * v[1] + moved + cleared * total
}

#[derive(Clone, Debug, Differentiable)]
struct Filter {
    gain: f64,
    window: Vec<f64>,
}

#[differentiable]
impl Filter {
    fn with(&mut self, change: impl Fn(&mut Vec<f64>, f64)) -> f64 {
        change(&mut self.window, self.gain);
        self.window.push(self.gain);
        change(&mut self.window, 0.5);
        self.window[0] * self.window[self.window.len() - 1]
    }
}

#[differentiable]
fn of_field(x: &[f64], gain: f64, k: f64) -> f64 {
    let mut filter = Filter { gain, window: x.to_vec() };
    let first = filter.with(|window, gain| {
        shorten(window);
        window.push(gain * k);
    });
    let second = filter.with(|window: &mut Vec<f64>, gain| window[0] *= gain);
    first * second + filter.window.iter().sum::<f64>()
}

#[differentiable]
fn rows_with(change: impl Fn(&mut Vec<Vec<f64>>), rows: &mut Vec<Vec<f64>>) {
    change(rows);
    change(rows);
}

#[differentiable]
fn of_rows(x: &[f64], k: f64) -> f64 {
    let mut rows = vec![x.to_vec()];
    rows_with(
        |rows: &mut Vec<Vec<f64>>| {
            let row: Vec<f64> = rows[rows.len() - 1].iter().map(|a| a * k).collect();
            rows.push(row);
        },
        &mut rows,
    );
    rows.iter().map(|row| row.iter().sum::<f64>()).product()
}

#[test]
fn vectors_that_functions_change() {
    let inputs =
        [(vec![0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.4, 0.2], 0.7), (vec![0.3, 0.4, 0.5, 0.6, 0.7], 0.3)];
    check_rule(by_name::rule, inputs.clone());
    check_rule(by_closure::rule, inputs.clone());
    check_rule(changing::rule, inputs.clone());
    check_rule(of_field::rule, inputs.clone().map(|(x, k)| (x, 1.2, k)));
    check_rule(of_rows::rule, inputs.clone());
    CheckRule::new(written_out::rule).inputs(inputs).run();
}

/// The function is known by its name alone: its rule is the gradient object's.
#[test]
fn the_gradient_of_what_calls_them() {
    let mut gradient = apply::<shorten>::gradient();
    let x = [0.3, 0.4, 0.5, 0.6, 0.7, 0.8];
    for output in 0..4 {
        let mut v = x.to_vec();
        let seed: Vec<f64> = (0..4).map(|i| f64::from(u8::from(i == output))).collect();
        let ((), gradients) = gradient.value_and_pullback(&mut v, &seed);
        let derived = gradients.v.try_into().expect("as long as the vector was");
        assert_eq!(v, x);
        let value = |x: [f64; 6]| {
            let mut v = x.to_vec();
            apply(shorten, &mut v);
            v[output]
        };
        crate::differences::check(x, value, derived);
    }
}

#[differentiable]
fn applied(f: impl Fn(&mut Vec<f64>) -> f64, v: &mut Vec<f64>) -> f64 {
    f(v)
}

/// Closures that take away what they borrow.
#[differentiable]
fn taken_away(x: &[f64], k: f64) -> f64 {
    let mut v = x.to_vec();
    let emptied = |v: &mut Vec<f64>| -> f64 {
        let w = std::mem::take(v);
        w.iter().map(|a| a * k).sum()
    };
    let sum = emptied(&mut v);
    v.push(sum * k);
    v.push(x[0]);
    let again = applied(
        |v: &mut Vec<f64>| {
            let w = std::mem::replace(v, vec![k]);
            v.push(w[1]);
            w.iter().map(|a| a * k).sum()
        },
        &mut v,
    );
    v[0] * v[1] + again * sum
}

#[test]
fn taken_away_by_closures() {
    check_rule(taken_away::rule, [(vec![0.4, 0.7, 0.1], 0.3), (vec![0.2, 0.5], 0.6)]);
}
