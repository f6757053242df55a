//! Ways out: `return`, `break`, `continue`, `?`, and loops that end by them.

use ndarray::{Array2, array};
use pullback::prelude::*;
use pullback::testing::{CheckRule, allocations_in, check_rule};

#[differentiable]
fn guard(x: f64, y: f64) -> f64 {
    if x > 1.0 {
        return x * y;
    }
    let z = x * x;
    z * y
}

#[differentiable]
fn guards(x: &[f64], y: f64) -> f64 {
    let n = x.len();
    if n == 0 {
        return 0.0;
    }
    let a = x[0] * y;
    if a < 0.0 {
        return a * a;
    }
    if n > 2 {
        let b = a.sqrt();
        if b > 1.0 {
            return b * x[1];
        }
        return b.exp();
    } else if n == 2 {
        return x[1] * y;
    }
    a.sin()
}

#[differentiable]
fn returns_in_all_branches(x: f64, n: i32) -> f64 {
    let mut a = x * x;
    if n > 0 {
        a *= x;
        if n > 1 {
            return a * 3.0;
        }
        return a;
    } else {
        return x.sin();
    }
}

#[differentiable]
fn step(s: f64, p: f64) -> f64 {
    p * s * (1.5 - s)
}

/// A return within loops within an `if let`, with a local array, state carried along, and calls that keep residuals.
#[differentiable]
fn everything(x: &[f64], p: f64, limit: usize) -> f64 {
    let mut history = [p, 0.0, 1.0];
    let mut s = p;
    if let Some(limit) = (limit > 0).then_some(limit) {
        for i in 0..x.len() {
            history[i % 3] = s * x[i];
            for j in 0..limit {
                s = step(s, x[i]);
                if s > 0.8 {
                    history[1] += s * x[i];
                    return history[0] * history[1] + s;
                }
                history[j % 3] *= s + 1.0;
            }
            s += history[2] * x[i];
        }
        s *= history[0];
    }
    s * history[0] + history[1] * history[2] * p
}

#[differentiable]
fn newton(a: f64, #[constant] tolerance: f64) -> f64 {
    let mut x = a;
    for _ in 0..50 {
        let next = 0.5 * (x + a / x);
        let change = (next - x).abs();
        x = next;
        if change < tolerance {
            break;
        }
    }
    x
}

#[differentiable]
fn bisection(a: f64, b: f64, level: f64) -> f64 {
    let (mut low, mut high) = (a, b);
    let mut steps = 0;
    loop {
        let middle = 0.5 * (low + high);
        if middle * middle * middle > level {
            high = middle;
        } else {
            low = middle;
        }
        steps += 1;
        if steps >= 8 {
            break;
        }
    }
    low + (high - low) * level
}

#[differentiable]
fn loop_with_value(x: f64, start: u64) -> f64 {
    let mut n = start;
    let mut s = x;
    let y = loop {
        if n == 1 {
            break s * x;
        }
        if n % 2 == 0 {
            n /= 2;
            s = s * 0.5 + x;
        } else {
            n = 3 * n + 1;
            s = s.sin();
            if s < -0.5 {
                break s;
            }
        }
    };
    y * s + x
}

#[differentiable]
fn skips(x: &[f64], k: f64) -> f64 {
    let mut total = k;
    for i in 0..x.len() {
        if x[i] < 0.0 {
            continue;
        }
        let y = x[i] * total;
        if y > 3.0 {
            total *= 0.5;
            continue;
        }
        total += y.sqrt() * k;
    }
    total
}

#[differentiable]
fn search(x: &[f64], level: f64) -> f64 {
    for i in 0..x.len() {
        if x[i] > level {
            return x[i] * x[i] * level;
        }
    }
    level
}

#[differentiable]
fn while_big(x: f64, k: f64) -> f64 {
    let mut y = x;
    let mut rounds = 0;
    while y > 1.0 {
        y *= k;
        rounds += 1;
        if rounds == 3 {
            y = y * y;
            break;
        }
        if y < 0.2 {
            return y * x;
        }
    }
    y + x * k
}

#[differentiable]
fn labels(x: &[f64], k: f64) -> f64 {
    let mut total = k;
    let n = x.len();
    'rows: for i in 0..n {
        let mut row = x[i];
        'columns: for j in 0..n {
            if i == j {
                continue;
            }
            row = row * x[j] + k;
            if row > 2.0 {
                total += row * k;
                continue 'rows;
            }
            if row < -2.0 {
                total -= row * row * 0.1;
                break 'columns;
            }
            if total > 5.0 {
                total *= row;
                break 'rows;
            }
        }
        total += row;
    }
    total * k
}

#[differentiable]
fn labelled_block(x: f64, y: f64) -> f64 {
    let z = 'found: {
        if x > y {
            break 'found x * y;
        }
        let a = x.sin();
        if a < 0.0 {
            break 'found a;
        }
        a * y
    };
    let mut w = x;
    'done: {
        w *= z;
        if w > 1.0 {
            break 'done;
        }
        w = w * w + y;
    }
    z * w
}

#[differentiable]
fn returns_from_everywhere(x: &mut [f64], k: f64, steps: usize) -> f64 {
    let mut s = k;
    for i in 0..x.len() {
        let old = x[i];
        x[i] = old * s;
        let mut n = 0;
        while n < steps {
            s = step(s, x[i]);
            x[i] += s;
            n += 1;
            if s > 0.9 {
                break;
            }
            if x[i] > 2.0 {
                x[0] *= s;
                return s * x[0];
            }
        }
        if n == 2 {
            continue;
        }
        s += x[i] * k;
    }
    s * k
}

/// Nothing is returned but what is left in the argument.
#[differentiable]
fn unit(x: &mut [f64], k: f64) {
    if x.len() < 2 {
        return;
    }
    for i in 1..x.len() {
        if x[i - 1] > 1.0 {
            x[i] = k;
            return;
        }
        x[i] *= x[i - 1];
    }
    x[0] += k * k;
}

#[differentiable]
fn endless(x: f64, k: f64) -> f64 {
    let mut s = x;
    loop {
        s = s * k + 0.1;
        if s < 0.5 {
            return s * s;
        }
        if s > 4.0 {
            return s * x;
        }
    }
}

#[differentiable]
fn steps_of_all_kinds(x: &[f64], k: f64) -> f64 {
    let n = x.len();
    let mut s = k;
    for i in (0..n).rev() {
        s = s * x[i] + 0.5;
        if s > 2.0 {
            break;
        }
    }
    for i in (0..n).step_by(2) {
        s += s * x[i] * k;
        if s > 3.0 {
            break;
        }
    }
    for i in (1..=n).rev().step_by(2) {
        if x[i - 1] > 1.0 {
            s *= x[i - 1];
            break;
        }
        s = s.sin() * x[i - 1];
    }
    for i in -3_i64..10 {
        s += k * i as f64;
        if i > 1 && s > 0.0 {
            break;
        }
    }
    s
}

/// Ways out in the middle of values.
#[differentiable]
fn within_values(x: &[f64], k: f64) -> f64 {
    let first = if x.is_empty() { return k * k } else { x[0] };
    let mut total = first * k;
    for i in 0..x.len() {
        let y = if x[i] > 0.0 {
            x[i].sqrt()
        } else if x[i] < -5.0 {
            break;
        } else {
            continue;
        };
        let z = y * match i {
            0 => k,
            1 => continue,
            2 | 3 => y,
            _ => return total * y,
        };
        total += z;
    }
    total
}

/// The array is moved into what the pullback keeps, from wherever the function is left.
#[differentiable]
fn with_memory(w: &Array2<f64>, x: &Array2<f64>, k: f64) -> f64 {
    let mut h = Array2::zeros((w.nrows(), x.ncols()));
    mul_into(&mut h, w, x);
    if h[[0, 0]] > 1.0 {
        return h[[0, 0]] * k;
    }
    for i in 0..h.nrows() {
        if h[[i, 0]] < 0.0 {
            return h[[i, 0]] * h[[0, 0]];
        }
        h[[i, 0]] *= k;
    }
    mul_into(&mut h, w, x);
    h[[0, 0]] + k * h[[1, 0]]
}

/// Names that are taken again, within and after what is left.
#[differentiable]
fn names(x: f64, k: f64) -> f64 {
    let a = step(x, k);
    let b = a * x;
    for i in 0..3 {
        let a = step(b, a);
        if a > 0.6 {
            let b = a * a;
            return b * k;
        }
    }
    let a = a * b;
    if a > 0.1 {
        let b = [a, x];
        return b[0] * b[1];
    }
    a * k
}

#[differentiable]
fn inner_loops_left(x: &[f64], k: f64) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        let mut y = k;
        for j in i..x.len() {
            y *= x[j];
            if y < 0.3 {
                break;
            }
        }
        let z = loop {
            y = y * 0.5 + 0.1;
            if y < 0.4 {
                break y * x[i];
            }
        };
        total += z * y;
    }
    total
}

/// A function with exits that is called many times before it is undone.
#[differentiable]
fn caller(x: &[f64], k: f64) -> f64 {
    let mut total = search(x, k);
    for i in 0..x.len() {
        total = total * 0.5 + loop_with_value(x[i], i as u64 + 2);
        if total > 10.0 {
            return search(x, total);
        }
    }
    total * search(x, 0.45)
}

#[differentiable]
fn deferred(x: f64, y: f64, n: i32) -> f64 {
    let a;
    let b;
    if x > y {
        a = x * y;
        b = 1.0;
    } else if n > 3 {
        return x;
    } else {
        a = y.sin();
        b = x;
    }
    let c;
    loop {
        c = a * x;
        break;
    }
    let d: f64;
    match n {
        0 => d = c * b,
        1 | 2 => d = c + b * y,
        _ => return a * b,
    }
    a * b + c * d
}

#[differentiable]
fn constant_loops(x: f64, codes: &[i32]) -> f64 {
    let mut last = 0;
    for i in 0..codes.len() {
        if codes[i] < 0 {
            break;
        }
        if codes[i] == 7 {
            continue;
        }
        last = codes[i];
    }
    let count = loop {
        last += 3;
        if last % 5 == 0 {
            break last;
        }
    };
    if count > 10 {
        return x * count as f64;
    }
    x * x * count as f64
}

#[differentiable]
fn stops_with_a_constant(x: f64, codes: &[i32]) -> f64 {
    for i in 0..codes.len() {
        if codes[i] == 0 {
            return 0.0;
        }
    }
    x * x
}

/// A panic is a way out as well.
#[differentiable]
fn panics(x: f64, n: usize) -> f64 {
    let a = match n {
        0 => x,
        1 => x * x,
        _ => panic!("{n} is not a power"),
    };
    let b = if a > 100.0 { unreachable!() } else { a.sin() };
    if n > 7 {
        // Does not return either: part of what is tested.
        todo!();
    }
    a * b
}

#[differentiable]
fn root(x: f64) -> Option<f64> {
    if x < 0.0 {
        return None;
    }
    Some(x.sqrt())
}

#[differentiable]
fn ratio(x: f64, y: f64) -> Result<f64, String> {
    if y.abs() < 0.1 { Err("division by zero".to_string()) } else { Ok(x / y) }
}

#[derive(Debug)]
struct Failure;

impl From<String> for Failure {
    fn from(_: String) -> Failure {
        Failure
    }
}

#[differentiable]
fn chain(x: f64, y: f64) -> Option<f64> {
    let a = root(x)?;
    let b = root(y - a)? * a + root(a * y)?;
    if b > 3.0 {
        return root(b);
    }
    Some(b * x)
}

#[differentiable]
fn chained(x: f64, y: f64) -> f64 {
    match chain(x, y) {
        Some(z) if z > 1.0 => z * z,
        Some(z) => z * y,
        None => x * y,
    }
}

#[differentiable]
fn results(x: &[f64], y: f64) -> Result<f64, Failure> {
    let mut total = y;
    for i in 0..x.len() {
        let part = ratio(total, x[i])?;
        if part < 0.0 {
            continue;
        }
        total = total + part * ratio(x[i], y)?;
    }
    Ok(total * total)
}

#[differentiable]
fn from_results(x: &[f64], y: f64) -> f64 {
    let Ok(z) = results(x, y) else { return y };
    let w = match results(x, z) {
        Err(_) if z > 1.0 => y,
        Err(Failure) => 3.0 * z,
        Ok(w) => w,
    };
    z * w
}

#[differentiable]
fn unwrapped(x: f64, y: f64) -> f64 {
    let a = root(x).unwrap() * root(y).expect("positive");
    let b = root(y - x).unwrap_or(x * y);
    let c = root(x - y).unwrap_or_default();
    if root(x).is_some() && root(x - 100.0).is_none() { a * b + c } else { a }
}

#[test]
fn early_returns() {
    check_rule(guard::rule, [(0.3, 0.7), (1.3, 0.7)]);
    check_rule(
        guards::rule,
        [
            (vec![], 0.3),
            (vec![0.5], 0.3),
            (vec![-0.5], 0.3),
            (vec![0.5, 2.0], 0.3),
            (vec![0.5, 2.0, 1.0], 0.3),
            (vec![2.5, 2.0, 1.0], 0.7),
        ],
    );
    check_rule(returns_in_all_branches::rule, [(0.7, 0), (0.7, 1), (0.7, 2)]);
    check_rule(
        everything::rule,
        [
            (vec![0.9, 1.1, 0.7, 1.3], 0.3, 3),
            (vec![0.2, 0.3, 0.1], 0.3, 2),
            (vec![1.9, 1.1, 0.7, 1.3], 0.6, 1),
            (vec![0.2, 0.3, 0.1], 0.3, 0),
        ],
    );
    check_rule(search::rule, [(vec![0.1, 0.7, 2.0], 0.5), (vec![0.1], 0.5), (vec![], 0.5)]);
    check_rule(endless::rule, [(0.7, 0.3), (1.5, 1.4)]);
    check_rule(names::rule, [(0.3, 0.7), (0.9, 1.4), (0.5, 1.9), (0.1, 0.2)]);
}

#[test]
fn loops_left_early() {
    check_rule(newton::rule, [(2.0, 1e-2), (9.0, 1e-3), (1.0, 10.0)]);
    check_rule(bisection::rule, [(0.0, 2.0, 1.7), (0.5, 1.5, 0.3)]);
    check_rule(loop_with_value::rule, [(0.3, 6), (0.7, 1), (-0.9, 7)]);
    check_rule(skips::rule, [(vec![0.5, -1.0, 2.0, 7.0, 0.1], 0.8), (vec![], 0.3), (vec![-1.0], 0.3)]);
    check_rule(while_big::rule, [(0.5, 0.7), (1.5, 0.7), (4.0, 0.8), (1.5, 0.1)]);
    check_rule(
        labels::rule,
        [
            (vec![0.5, 1.5, -0.7, 2.0], 0.3),
            (vec![3.0, -4.0, 2.0, 1.0], 0.5),
            (vec![1.2, 1.9, 0.4], 1.5),
            (vec![], 0.2),
            (vec![0.1, 0.2, 0.3], 6.0),
        ],
    );
    check_rule(labelled_block::rule, [(0.9, 0.3), (-0.5, 0.7), (0.3, 0.7), (0.6, 2.5)]);
    check_rule(
        steps_of_all_kinds::rule,
        [(vec![0.5, 1.5, 0.7, 2.0], 0.3), (vec![0.1, 0.2], 0.4), (vec![], 0.2)],
    );
    check_rule(inner_loops_left::rule, [(vec![0.9, 0.5, 0.8], 0.9), (vec![2.0], 0.1), (vec![], 0.2)]);
}

#[test]
fn with_writes() {
    check_rule(
        returns_from_everywhere::rule,
        [
            (vec![0.5, 0.7, 0.4], 0.6, 2),
            (vec![0.5, 1.9, 1.4, 0.2], 0.9, 3),
            (vec![3.0, 3.0], 0.9, 4),
            (vec![], 0.3, 1),
            (vec![0.2, 0.3, 0.4, 0.5, 0.6], 0.1, 0),
        ],
    );
    check_rule(unit::rule, [(vec![0.5, 1.7, 0.4], 0.6), (vec![0.5], 0.3), (vec![0.5, 0.7, 0.4, 0.2], 0.6)]);
    let x = array![[0.5], [0.25]];
    check_rule(
        with_memory::rule,
        [
            (array![[0.5, 0.7], [0.1, 0.9]], x.clone(), 0.7),
            (array![[5.0, 0.7], [0.1, 0.9]], x.clone(), 0.7),
            (array![[0.5, 0.7], [-0.1, -0.9]], x, 0.7),
        ],
    );
}

#[test]
fn within_values_and_statements() {
    check_rule(
        within_values::rule,
        [
            (vec![], 0.7),
            (vec![0.5, 0.2, 1.7], 0.7),
            (vec![0.5, -0.2, 1.7, 2.0, 0.3], 0.7),
            (vec![0.5, -6.0, 1.7, 2.0, 0.3], 0.7),
        ],
    );
    check_rule(deferred::rule, [(0.9, 0.4, 0), (0.3, 0.4, 1), (0.3, 0.4, 7), (0.9, 0.4, 3)]);
    check_rule(
        constant_loops::rule,
        [(0.7, vec![1, 2, 7, -1, 3]), (0.7, vec![]), (0.7, vec![7, 7]), (0.3, vec![9])],
    );
    check_rule(stops_with_a_constant::rule, [(0.7, vec![1, 0]), (0.7, vec![1])]);
    CheckRule::new(panics::rule).inputs([(0.3, 0), (0.3, 1)]).panicking((0.3, 2)).run();
}

#[test]
fn question_marks() {
    check_rule(chained::rule, [(0.3, 0.9), (-0.3, 0.9), (4.0, 0.9), (2.0, 7.0), (0.9, 1.7)]);
    check_rule(
        from_results::rule,
        [(vec![0.5, 0.7], 0.3), (vec![0.5, -0.7, 0.2], 0.3), (vec![], 0.3), (vec![0.4, 0.05], 0.9)],
    );
    check_rule(unwrapped::rule, [(0.3, 0.9), (0.9, 0.3)]);
    // The output may be an option; its seed is that of the value.
    let mut g = root::pullback();
    let (value, d) = g.value_and_pullback(4.0, 3.0);
    assert_eq!((value, d.x), (Some(2.0), 0.75));
    let (value, d) = g.value_and_pullback(-4.0, 3.0);
    assert_eq!((value, d.x), (None, 0.0));
}

#[test]
fn pending_activations() {
    check_rule(caller::rule, [(vec![0.5, 0.7, 0.2], 0.3), (vec![1.5, 0.7, 0.9, 2.5], 0.9), (vec![], 0.3)]);
    // Left at different places in turn, the stacks stay balanced.
    let mut g = labels::gradient();
    let inputs = [(vec![0.5, 1.5, -0.7, 2.0], 0.3), (vec![0.1, 0.2, 0.3], 6.0), (vec![3.0, -4.0, 2.0], 0.5)];
    let first: Vec<_> = inputs.iter().map(|(x, k)| g.value_and_gradient(x, *k).1.k).collect();
    let (second, count) = allocations_in(|| inputs.each_ref().map(|(x, k)| g.value_and_gradient(x, *k).1.k));
    assert_eq!(first, second);
    assert_eq!(count, 0);
}
