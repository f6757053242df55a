//! Loops that hand numbers on from one iteration to the next: short ones, whose gradients go back as forms, and long ones, which go back
//! in blocks if there are enough iterations. The number of iterations is the length of the input, or depends on it.

use pullback::prelude::*;
use pullback::testing::{check_gradient, check_rule};

fn wave(n: usize, start: f64) -> Vec<f64> {
    (0..n).map(|i| 0.4 * (0.7 * i as f64 + start).sin() + 0.8).collect()
}

/// Lengths around multiples of a block's, up and down.
fn inputs() -> [Vec<f64>; 8] {
    let mut start = 0.0;
    [5, 16, 17, 6, 33, 48, 15, 70].map(|n| {
        start += 0.4;
        wave(n, start)
    })
}

/// One number, changed by several statements, one of which reads it twice.
#[differentiable]
fn logistic(x: &[f64]) -> f64 {
    let (r, mut p) = (x[0], x[1]);
    for _ in 0..x.len() {
        p += 0.1 * r * p * (1.0 - p);
        p *= 0.98;
        p -= 0.01 * p * x[2];
    }
    p * p
}

/// Two numbers, each of which reads what the other has become.
#[differentiable]
fn verlet(x: &[f64]) -> f64 {
    let (k, mut q, mut p) = (x[0] * x[1], x[2], x[3]);
    for i in 0..x.len() {
        p -= 0.05 * (k * q + 0.1 * q.sin());
        q += 0.1 * p;
        p -= 0.05 * (k * q + x[i] * q * q);
    }
    q + 0.5 * p
}

/// They change places, and a third one is set anew.
#[differentiable]
fn exchanged(x: &[f64]) -> f64 {
    let (mut a, mut b, mut last) = (x[0], x[1], x[2]);
    for i in 0..x.len() {
        let next = 0.6 * a + 0.3 * b * x[i];
        last = a * b;
        a = b;
        b = next;
    }
    a * b + last
}

/// With sums beside, which are read by nothing in the loop, and a number that nothing behind it reads.
#[differentiable]
fn volatility(x: &[f64]) -> f64 {
    let (w, a, b) = (0.1 * x[0], 0.2 * x[1], 0.5 * x[2]);
    let (mut v, mut likelihood, mut unused) = (x[3], 0.0, x[0]);
    for i in 1..x.len() {
        likelihood -= v.ln() + x[i] * x[i] / v;
        unused = unused * v;
        v = w + a * x[i - 1] * x[i - 1] + b * v;
    }
    likelihood
}

#[differentiable]
fn until_small(x: &[f64]) -> f64 {
    let (k, mut s) = (0.05 * x[0] + 0.05, 2.0 * x[1]);
    let mut total = 0.0;
    while s > 0.1 {
        total += s * s;
        s = s - k * s * (1.0 + 0.1 * s);
    }
    total
}

/// What a call returns, what a `let` takes apart, and an element of a local array.
#[differentiable]
fn scaled(s: f64, k: f64) -> f64 {
    s * k + 0.1
}

#[differentiable]
fn mixed(x: &[f64]) -> f64 {
    let (mut s, mut trace) = (x[0], vec![0.0; x.len()]);
    let mut count = 0;
    for i in 0..x.len() {
        let (sin, cos) = (s * x[i]).sin_cos();
        let turned = 0.5 * sin + 0.2 * cos;
        let called = scaled(turned, x[i]);
        count += i % 2;
        let weight = 1.0 / (1.0 + count as f64);
        s = 0.5 * s + called * weight;
        trace[i] = s * turned;
    }
    s + trace[0] * trace[x.len() - 1]
}

/// Prey and predators by Runge and Kutta's method.
#[differentiable]
fn lotka_volterra(x: &[f64]) -> f64 {
    let (a, b, g, d, mut p, mut q) = (x[0], x[1], x[2], x[3], x[4], x[0] * x[1]);
    let h = 0.1;
    for _ in 0..x.len() {
        let k1p = a * p - b * p * q;
        let k1q = d * p * q - g * q;
        let p2 = p + 0.5 * h * k1p;
        let q2 = q + 0.5 * h * k1q;
        let k2p = a * p2 - b * p2 * q2;
        let k2q = d * p2 * q2 - g * q2;
        p += h * k2p;
        q += h * k2q;
    }
    p * p + q
}

/// Three numbers in tuples, driven by an array, with the sum of a cost; each element is read by one iteration.
#[differentiable]
fn driven(x: &[f64]) -> f64 {
    let (s, r, b) = (x[0], x[1] + 2.0, x[2]);
    let (mut u, mut v, mut w) = (0.1, x[3], 0.2 * x[4]);
    let mut cost = 0.0;
    for i in 0..x.len() {
        let (du, dv, dw) = (s * (v - u), u * (r - w) - v, u * v - b * w);
        let (u1, v1, w1) = (u + 0.02 * du, v + 0.02 * dv, w + 0.02 * dw);
        let (eu, ev, ew) = (s * (v1 - u1) + x[i], u1 * (r - w1) - v1, (u1 * v1).tanh() - b * w1);
        u += 0.02 * eu;
        v += 0.02 * ev;
        w += 0.02 * ew;
        cost += u * u + x[i] * v;
    }
    cost + u * w
}

/// Again and again, on one stack; where it starts and how long it takes change.
#[differentiable]
fn restarted(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for j in 0..4 {
        let (k, mut q, mut p) = (x[0] * x[j], x[j], 0.3);
        for _ in 0..j * 12 {
            let force = -k * q - 0.2 * p * p * p + 0.1 * q * q - 0.1 * q * p;
            let damped = force / (1.0 + 0.1 * q * q + 0.05 * p * p);
            p += 0.1 * damped * k - 0.01 * p;
            q += 0.1 * p + 0.01 * q * p - 0.002 * q * q * q;
        }
        total += q * p;
    }
    total
}

/// The index is a number as well.
#[differentiable]
fn forced(x: &[f64]) -> f64 {
    let (k, c, mut q, mut p) = (x[0], 0.1 * x[1], x[2], 0.3);
    for i in 0..x.len() {
        let force = -k * q - c * p * p * p + 0.1 * (0.1 * i as f64).sin() * q * q - 0.1 * q * p;
        let damped = force / (1.0 + 0.1 * q * q + 0.05 * p * p);
        p += 0.1 * damped * k - 0.01 * p;
        q += 0.1 * p + 0.01 * q * p - 0.002 * q * q * q * x[i];
    }
    q * p
}

#[test]
fn all() {
    check_all!(
        inputs();
        logistic, verlet, exchanged, volatility, until_small, mixed, lotka_volterra, driven, restarted, forced
    );
}

/// Counters of other types than indices, and no iterations.
#[test]
fn counted() {
    #[differentiable]
    fn steps(x: &[f64], n: u8, from: i64) -> f64 {
        let (mut q, mut p) = (x[0], x[1]);
        for _ in 0..n {
            let (a, b) = (q * x[2] - p, p * x[2] + q);
            let (c, d) = (a * b + 0.3 * a, a - 0.1 * b * b);
            q += 0.05 * (c + 0.2 * c * d - 0.1 * d + a * d) - 0.01 * q * q;
            p -= 0.05 * (d + 0.1 * d * d + c * a - b * c) + 0.01 * p * q;
        }
        for i in from..from + 20 {
            q = 0.9 * q + 0.01 * p * i as f64;
        }
        q + p
    }
    let mut g = steps::gradient();
    for (n, from) in [(0, 0), (1, -9), (15, 3), (16, i64::MIN), (200, -20)] {
        check_gradient(
            |x| steps(x, n, from),
            |x| {
                let (value, d) = g.value_and_gradient(x, n, from);
                (value, d.x.to_vec())
            },
            [wave(3, 0.2)],
        );
    }
}

/// The same in single precision, and the value that the function has.
#[test]
fn singles() {
    macro_rules! of {
        ($name:ident, $float:ty) => {
            #[differentiable]
            fn $name(x: &[$float]) -> $float {
                let (a, b, mut p, mut q) = (x[0], x[1], x[2], 1.0);
                for _ in 0..40 {
                    let dp = a * p - b * p * q;
                    let dq = 0.8 * p * q - 2.0 * b * q;
                    let (p1, q1) = (p + 0.05 * dp, q + 0.05 * dq);
                    p += 0.1 * (a * p1 - b * p1 * q1 + 0.01 * p1.sqrt());
                    q += 0.1 * (0.8 * p1 * q1 - 2.0 * b * q1 - 0.01 * q1 * q1);
                }
                let mut s = p * q;
                for _ in 0..3 {
                    s -= 0.1 * s * s + 1.0;
                }
                s
            }
        };
    }
    of!(single, f32);
    of!(double, f64);
    let (x, wide) = ([0.6_f32, 0.5, 0.9], [0.6_f32, 0.5, 0.9].map(f64::from));
    let (mut g, mut in_double) = (single::gradient(), double::gradient());
    let (value, d) = g.value_and_gradient(&x);
    let (_, expected) = in_double.value_and_gradient(&wide);
    assert_eq!(value, single(&x));
    assert!(d.x.iter().zip(expected.x).all(|(a, b)| (f64::from(*a) - b).abs() < 1e-4 * (1.0 + b.abs())));
    check_gradient(
        |x| double(x),
        |x| {
            let (value, d) = in_double.value_and_gradient(x);
            (value, d.x.to_vec())
        },
        [wide.to_vec()],
    );
}
