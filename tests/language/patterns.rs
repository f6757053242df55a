//! Patterns: `match`, `if let`, `while let`, `let … else`, and in `let`.

use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

#[differentiable]
fn of_integers(x: f64, y: f64, n: i32) -> f64 {
    let a = match n {
        i32::MIN..=-1 => x * y,
        0 => 1.0,
        1 | 2 => {
            let t = x.sin();
            t * t
        }
        3..10 => y.exp(),
        _ => x,
    };
    match n % 3 {
        0 => a * a,
        1 => a * x,
        _ => a,
    }
}

#[differentiable]
fn of_everything_constant(x: f64, flag: bool, letter: char, n: u8) -> f64 {
    let word = if n > 2 { "many" } else { "few" };
    let mut a = match (flag, letter) {
        (true, 'a'..='f') => x * 2.0,
        (true, _) => x * x,
        (false, c) if c.is_uppercase() => x.sin(),
        (false, _) => x.cos(),
    };
    match word {
        "many" => a *= x,
        _ => {}
    }
    match (n, flag) {
        (k @ 1..=3, true) => a += x * k as f64,
        (k, false) if k > 4 => a = a * a,
        _ => (),
    }
    a
}

#[differentiable]
fn statements(x: &mut [f64], k: f64) -> f64 {
    let mut s = k;
    for i in 0..x.len() {
        match i % 4 {
            0 => {
                x[i] *= s;
                s += x[i];
            }
            1 => s = s.sin() * x[i],
            2 if x[i] > 0.0 => x[i] = s * s,
            _ => s *= 1.1,
        }
    }
    s
}

#[differentiable]
fn of_an_active_value(x: f64, y: f64) -> f64 {
    let z = match x * y {
        z if z > 1.0 => z * z,
        0.5 => x,
        z @ 0.0..=0.2 => z * y,
        z => z.sin(),
    };
    match (x, z) {
        (a, b) if a > b => a * b,
        (a, _) => a * a,
    }
}

#[differentiable]
fn of_places(x: &[f64; 3], p: (f64, (f64, usize))) -> f64 {
    let [a, b, c] = x;
    let (q, (r, n)) = p;
    let [first, ..] = *x;
    let &[_, mut second, _] = x;
    second *= q;
    let (u, [v, w]) = (a * b, [*c, r]);
    u * v + w * first + second * n as f64 + *a
}

#[differentiable]
fn of_arrays(x: f64, y: f64) -> f64 {
    let mut total = 0.0;
    let points = [(x, y), (y, x * y), (x * x, 1.0)];
    for i in 0..3 {
        let (a, b) = points[i];
        total += a * b;
    }
    let [p, (q, r), _] = points;
    match points {
        [(a, d), ..] if a > 0.5 => total * a * d,
        [_, (b, c), _] => total + b * c * p.0 * q * r,
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Op {
    Push(f64),
    Input,
    Add,
    Mul,
    Scale { factor: f64, twice: bool },
    Stop,
}

/// A calculator with a stack.
#[differentiable]
fn machine(#[constant] code: &[Op], x: f64) -> f64 {
    let mut stack = [0.0; 8];
    let mut top = 0;
    let mut pc = 0;
    while pc < code.len() {
        match code[pc] {
            Op::Push(v) => {
                stack[top] = v * x;
                top += 1;
            }
            Op::Input => {
                stack[top] = x;
                top += 1;
            }
            Op::Add => {
                top -= 1;
                stack[top - 1] += stack[top];
            }
            Op::Mul => {
                top -= 1;
                stack[top - 1] *= stack[top];
            }
            Op::Scale { factor, twice } => {
                stack[top - 1] *= factor;
                if twice {
                    stack[top - 1] *= factor * x;
                }
            }
            Op::Stop => return stack[top - 1] * x,
        }
        pc += 1;
    }
    stack[0]
}

/// By reference, and with the interesting part in a guard.
#[differentiable]
fn machine_too(#[constant] code: &[Op], x: f64) -> f64 {
    let mut s = x;
    for i in 0..code.len() {
        let factor = match &code[i] {
            Op::Push(v) if *v > 2.0 => s * *v,
            Op::Scale { factor: v, .. } | Op::Push(v) if *v < 0.0 => s,
            Op::Push(v) => *v * x,
            Op::Scale { factor, twice: true } => *factor,
            Op::Scale { .. } => continue,
            op if *op == Op::Stop => break,
            Op::Input | Op::Add | Op::Mul | Op::Stop => s.sin(),
        };
        s = s * 0.5 + factor * x;
    }
    s
}

#[differentiable]
fn maybe(x: f64) -> Option<f64> {
    if x > 0.5 { Some(x * x) } else { None }
}

#[differentiable]
fn pair(x: f64, y: f64) -> (Option<f64>, f64) {
    (maybe(x), x * y)
}

#[differentiable]
fn if_lets(x: f64, y: f64) -> f64 {
    let mut a = y;
    if let Some(z) = maybe(x) {
        a *= z;
    }
    if let Some(mut z) = maybe(x * y) {
        z *= z;
        a += z * x;
    } else {
        a *= a;
    }
    let b = if let Some(z) = maybe(a) {
        z * x
    } else if let Some(w) = maybe(a + 0.5) {
        w
    } else {
        x * y
    };
    a * b
}

#[differentiable]
fn chains(x: f64, y: f64, n: usize) -> f64 {
    let mut a = x;
    if n > 1
        && let Some(z) = maybe(x)
    {
        a *= z;
    }
    let b = if let Some(z) = maybe(x)
        && z > 0.5
        && let Some(w) = maybe(z * y)
    {
        z * w
    } else {
        y * y
    };
    if let (Some(z), w) = pair(x, y)
        && w < 2.0
    {
        return z * w * a;
    }
    a * b
}

#[differentiable]
fn let_elses(x: &[f64], y: f64) -> f64 {
    let Some(a) = maybe(y) else { return y * 3.0 };
    let mut total = a;
    for i in 0..x.len() {
        let Some(b) = maybe(x[i]) else { continue };
        let (Some(c), d) = pair(b, a) else {
            total *= b;
            break;
        };
        total += b * c * d;
    }
    total * a
}

#[differentiable]
fn while_lets(x: f64, n: usize) -> f64 {
    let mut work: Vec<f64> = (0..n).map(|i| i as f64 * 0.3).collect();
    let mut total = x;
    while let Some(w) = work.pop() {
        if w > 1.0 {
            work.push(w - 1.0);
            continue;
        }
        total += w * total * x;
    }
    let mut s = x;
    while let Some(z) = maybe(s) {
        s = z * 0.5 + 0.1;
        if s > 100.0 {
            break;
        }
        total += s;
    }
    total * s
}

#[differentiable]
fn nested(x: f64, y: f64, n: usize) -> f64 {
    let a = match maybe(x) {
        Some(z) => match maybe(z * y) {
            Some(w) if n > 1 => w * z,
            Some(w) => {
                let mut s = w;
                for i in 0..n + 2 {
                    match i {
                        0 => s *= z,
                        1 => s += y,
                        _ => s = s.sin(),
                    }
                }
                s
            }
            None => z,
        },
        None => {
            if n == 0 {
                return y;
            }
            x * y
        }
    };
    a * x
}

#[differentiable]
fn in_expressions(x: f64, n: usize) -> f64 {
    2.0 * match n {
        0 => x,
        _ => x * x,
    } + x * if let Some(z) = maybe(x) { z } else { 1.0 }
}

/// Ways out from where nothing comes back.
#[differentiable]
fn that_panic(x: f64, y: f64) -> f64 {
    let Some(z) = maybe(x) else { panic!("{x} is too small") };
    if y < 0.0 {
        if y < -1.0 {
            return z;
        }
        panic!("no way to go on");
    }
    let Some(w) = maybe(z + y) else {
        if y > 0.1 {
            return z * z * y;
        }
        unreachable!();
    };
    w * z
}

/// `match`es that nobody has to remember.
#[differentiable]
fn in_a_loop(x: &[f64], codes: &[u8]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        match codes[i] {
            0 => total += x[i],
            1 => total -= x[i] * x[i],
            2..=9 => total += x[i].sin(),
            _ => {}
        }
    }
    total
}

#[test]
fn constant_scrutinees() {
    let numbers = [-3, 0, 1, 2, 5, 30].map(|n| (0.3, 0.7, n));
    check_rule(of_integers::rule, numbers);
    check_rule(
        of_everything_constant::rule,
        [(0.3, true, 'b', 2), (0.3, true, 'z', 9), (0.7, false, 'Z', 5), (0.7, false, 'z', 1)],
    );
    check_rule(statements::rule, [(vec![0.3, 0.7, 0.2, 0.5, 0.4, 0.6, -0.2], 0.9), (vec![], 0.3)]);
    check_rule(
        in_a_loop::rule,
        [(vec![0.3, 0.7, 0.2, 0.5], vec![1, 0, 7, 20]), (vec![0.3], vec![0]), (vec![], vec![])],
    );
    check_rule(in_expressions::rule, [(0.3, 0), (0.7, 1)]);
}

#[test]
fn active_scrutinees() {
    check_rule(of_an_active_value::rule, [(0.3, 0.7), (1.3, 0.9), (0.3, 0.2), (0.9, 0.4), (-0.5, 0.3)]);
    check_rule(of_places::rule, [([0.3, 0.7, 0.2], (0.5, (0.4, 3))), ([1.3, -0.7, 0.2], (0.5, (0.4, 0)))]);
    check_rule(of_arrays::rule, [(0.3, 0.7), (0.8, 0.2)]);
    check_rule(if_lets::rule, [(0.3, 0.7), (0.8, 0.9), (1.3, 0.9), (0.7, 0.2), (0.2, 1.4)]);
    check_rule(chains::rule, [(0.3, 0.7, 0), (0.8, 0.9, 2), (1.3, 0.9, 0), (1.3, 1.9, 3), (1.1, 2.2, 0)]);
    check_rule(nested::rule, [(0.3, 0.7, 0), (0.3, 0.7, 1), (0.9, 0.4, 1), (0.9, 1.4, 1), (0.9, 1.4, 2)]);
}

#[test]
fn that_leave() {
    check_rule(
        let_elses::rule,
        [
            (vec![0.3, 0.9, 0.6], 0.3),
            (vec![0.3, 0.9, 1.6], 0.8),
            (vec![0.3, 0.6, 1.6, 2.0], 0.8),
            (vec![], 0.9),
        ],
    );
    CheckRule::new(that_panic::rule)
        .inputs([(0.6, 0.9), (0.6, -2.0), (0.6, 0.12)])
        .panicking((0.3, 0.9))
        .panicking((0.6, -0.5))
        .panicking((0.6, 0.01))
        .run();
    check_rule(while_lets::rule, [(0.3, 4), (1.3, 9), (0.9, 0)]);
}

#[test]
fn machines() {
    use Op::*;
    let code = vec![Push(2.0), Input, Mul, Scale { factor: 0.5, twice: true }, Push(3.0), Add, Input, Mul];
    let mut stopped = code.clone();
    stopped.insert(4, Stop);
    let mut g = machine::gradient();
    for code in [&code, &stopped, &vec![Input], &code] {
        for x in [0.3, 0.8] {
            let (value, d) = g.value_and_gradient(code, x);
            assert_eq!(value, machine(code, x));
            let slope = (machine(code, x + 1e-6) - machine(code, x - 1e-6)) / 2e-6;
            assert!((d.x - slope).abs() < 1e-8, "{} instead of {slope}", d.x);
        }
    }
    let mut g = machine_too::gradient();
    for code in [&code, &stopped, &vec![], &vec![Scale { factor: 0.3, twice: false }, Push(0.7), Stop]] {
        for x in [0.3, 0.8] {
            let (value, d) = g.value_and_gradient(code, x);
            assert_eq!(value, machine_too(code, x));
            let slope = (machine_too(code, x + 1e-6) - machine_too(code, x - 1e-6)) / 2e-6;
            assert!((d.x - slope).abs() < 1e-8, "{} instead of {slope}", d.x);
        }
    }
}

/// Names that patterns bind and that get further values.
#[differentiable]
fn changed(s: Option<f64>, a: &[f64], mut k: f64) -> f64 {
    match s {
        Some(mut u) if u > 0.0 => {
            u *= k;
            u *= u;
            k *= u;
        }
        Some(u) => k -= u,
        None => {}
    }
    if let &[mut x, mut y] = a {
        x *= y;
        y *= x;
        k += x * y * k;
    }
    let Some(mut u) = s else { return k };
    u *= k;
    u * u
}

#[test]
fn names_that_change() {
    check_rule(changed::rule, [(Some(0.7), vec![0.3, 0.8], 1.2), (Some(-0.3), vec![0.4, 0.6], 0.8)]);
    check_rule(changed::rule, [(None, vec![0.3, 0.8], 0.7), (None, vec![], 0.4)]);
}
