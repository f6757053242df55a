//! Functions and closures under names of their own, and chosen as the program runs.

use pullback::prelude::*;
use pullback::testing::{check_gradient, check_rule};

use crate::callables::{integrate, square};

#[differentiable]
fn cube(x: f64) -> f64 {
    x * x * x
}

#[differentiable]
fn closure_by_reference(x: &[f64]) -> f64 {
    let f = |t: f64| t * t * x[0];
    let g = &f;
    g(x[0]) + g(x[1])
}

#[differentiable]
fn closure_renamed(x: &[f64]) -> f64 {
    let f = |t: f64| t * t * x[0];
    let g = f;
    let h = g;
    let x = [x[1], 2.0];
    h(x[0]) + g(x[1])
}

#[differentiable]
fn changing_closure_by_reference(x: &[f64]) -> f64 {
    let mut n = 0;
    let mut total = x[0];
    let mut add = |t: f64| {
        total += t * total;
        n += 1;
    };
    let again = &mut add;
    again(x[1]);
    again(x[2]);
    add(x[0]);
    total * n as f64
}

#[differentiable]
fn one_function(x: &[f64]) -> f64 {
    let f = f64::sin;
    let g = square;
    f(x[0]) + g(f(x[1])) * x.iter().copied().map(g).map(f).sum::<f64>()
}

#[differentiable]
fn by_condition(x: &[f64]) -> f64 {
    let f: fn(f64) -> f64 = if x.len() > 3 { square } else { cube };
    f(x[0]) + f(f(x[1]))
}

enum Kernel {
    Square,
    Cube,
}

#[differentiable]
fn by_match(x: &[f64]) -> f64 {
    let kernel = if x.len() > 3 { Kernel::Square } else { Kernel::Cube };
    let kernel: fn(f64) -> f64 = match kernel {
        Kernel::Square => square,
        Kernel::Cube => cube,
    };
    let other = match x.len() {
        3 => square as fn(f64) -> f64,
        4 => cube,
        _ => f64::sin,
    };
    let mut total = 0.0;
    for i in 0..x.len() {
        for j in 0..i {
            total += kernel(x[i] - x[j]) * other(x[i]);
        }
    }
    total
}

#[differentiable]
fn closures_in_arms(x: &[f64]) -> f64 {
    let k = x[0];
    let f: &dyn Fn(f64) -> f64 = match x.len() {
        3 => &|t: f64| t * k,
        4 => &|t: f64| t + k,
        _ => &|t: f64| {
            let s = t * k;
            s.sin()
        },
    };
    let k = 2.0;
    f(x[1]) * f(k)
}

#[differentiable]
fn elements(x: &[f64]) -> f64 {
    let functions = [f64::sin, f64::cos];
    let mut total = 0.0;
    for (i, &t) in x.iter().enumerate() {
        total += functions[i % 2](t);
    }
    for f in [f64::tanh, f64::exp] {
        total += f(x[0]) * x[1];
    }
    total
}

#[differentiable]
fn through_iterators(x: &[f64]) -> f64 {
    let functions: Vec<fn(f64) -> f64> = vec![square, f64::tanh, |t| t * 2.0];
    let mut total = 0.0;
    for (f, t) in functions.iter().zip(x) {
        total += f(*t);
    }
    for (k, f) in functions.iter().enumerate() {
        total += f(x[k]) * k as f64;
    }
    total * functions.iter().map(|f| f(x[0])).sum::<f64>() + functions.len() as f64
}

#[differentiable]
fn boxed(x: &[f64]) -> f64 {
    let k = x[0];
    let stages: [Box<dyn Fn(f64) -> f64>; 2] = [Box::new(|t| t * k), Box::new(f64::sin)];
    stages.iter().fold(x[1], |t, stage| stage(t))
}

#[differentiable]
fn of_others(x: &[f64]) -> f64 {
    let functions: [fn(f64) -> f64; 3] = [f64::sin, f64::exp, square];
    let f = functions[1];
    let more = [f, cube, functions[0]];
    functions.iter().fold(x[0], |t, f| f(t)) + more[0](x[1]) * more[2](x[2]) + more[1](x[2])
}

#[differentiable]
fn doubles(x: &mut [f64]) {
    for v in x {
        *v *= 2.0;
    }
}

#[differentiable]
fn squares(x: &mut [f64]) {
    for v in x {
        *v *= *v;
    }
}

#[differentiable]
fn that_write(x: &[f64]) -> f64 {
    let steps = [doubles, squares];
    let mut y = x.to_vec();
    for k in 0..3 {
        let step = steps[k % 2];
        step(&mut y);
        steps[1 - k % 2](&mut y[..1]);
    }
    for step in &steps {
        step(&mut y);
    }
    y.iter().sum()
}

#[differentiable]
fn passed_on(x: &[f64]) -> f64 {
    let f: fn(f64) -> f64 = if x.len() > 3 { square } else { f64::exp };
    let g = f64::cos;
    let product = integrate(f, x[0], x[1], 4) * integrate(g, x[0], x[1], 3);
    product + integrate(|t| f(t) * g(t) * x[2], 0.0, x[0], 3) + integrate(&f, 0.0, x[1], 2)
}

#[differentiable]
fn either(f: impl Fn(f64) -> f64, g: impl Fn(f64) -> f64, x: f64) -> f64 {
    let h: &dyn Fn(f64) -> f64 = if x > 0.5 { &f } else { &g };
    let k = &f;
    h(x) * h(x * x) * k(x)
}

#[differentiable]
fn among_parameters(x: &[f64]) -> f64 {
    let p = square;
    either(p, |t| t * x[1], x[0]) + either(f64::sin, &p, x[1])
}

#[differentiable]
fn in_conditions(x: &[f64]) -> f64 {
    let f: &dyn Fn(f64) -> f64 = if x.len() > 3 { &square } else { &|t| t * t * x[0] };
    let mut t = x[0];
    while f(t) < 4.0 && f(t) > -1.0 {
        t = f(t) + 1.1;
    }
    if f(x[1]) > 0.3 { t * f(x[1]) } else { t }
}

#[differentiable]
fn of_constants(x: &[f64]) -> f64 {
    let f: fn(f64) -> f64 = if x.len() > 3 { square } else { cube };
    let k = |t: f64| t + 1.0;
    let n = [1.0, 2.0].iter().filter(|t| f(**t) * k(1.0) > 2.5).count();
    f(2.0) * f(x[0]) * n as f64 + k(x[1])
}

/// Made `mut`, as what is called to change something has to be.
#[differentiable]
fn renamed(x: &[f64], f: impl FnMut(f64) -> f64) -> f64 {
    let mut f = f;
    let first = f(x[0]);
    let mut g = f;
    first * g(x[1])
}

#[differentiable]
fn of_renamed(x: &[f64]) -> f64 {
    let k = x[2];
    renamed(x, |t| k * t * t)
}

fn inputs() -> [Vec<f64>; 3] {
    [vec![0.3, 0.8, 0.45], vec![0.7, 0.2, 0.9, 0.55, 0.6], vec![0.6, 0.4, 0.8, 0.1]]
}

#[test]
fn under_other_names() {
    check_all!(inputs(); closure_by_reference, closure_renamed, changing_closure_by_reference, one_function, of_renamed);
}

#[test]
fn chosen() {
    check_all!(inputs(); by_condition, by_match, closures_in_arms, in_conditions, of_constants);
}

#[test]
fn in_arrays() {
    check_all!(inputs(); elements, through_iterators, of_others, that_write);
    // The primal allocates its boxes, the gradient does not.
    check_all!(inputs(); boxed);
}

#[test]
fn handed_on() {
    check_all!(inputs(); passed_on, among_parameters);
}
