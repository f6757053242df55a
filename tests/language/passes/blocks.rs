//! Loops whose reverse pass runs in blocks: those that reach neighbouring elements, or a number that all iterations have in common.
//! Lengths are around multiples of a block's. A polynomial makes formulas long enough for blocks to pay.

use pullback::prelude::*;
use pullback::testing::{check_gradient, check_rule};

fn wave(n: usize, start: f64) -> Vec<f64> {
    (0..n).map(|i| (0.7 * i as f64 + start).sin() + 1.2).collect()
}

/// Up and down, from loops without iterations on.
fn inputs() -> [Vec<f64>; 8] {
    let mut start = 0.0;
    [4, 5, 68, 69, 6, 132, 67, 197].map(|n| {
        start += 0.4;
        wave(n, start)
    })
}

/// Not the sum of the elements, whose seeds are all the same.
#[differentiable]
fn weighted(y: &[f64]) -> f64 {
    let mut s = 0.0;
    for (i, y) in y.iter().enumerate() {
        s += (1.0 + 0.1 * i as f64) * y * y;
    }
    s
}

#[differentiable]
fn explicit_step(u: &[f64], next: &mut [f64], k: f64) {
    let n = u.len();
    for i in 1..n - 1 {
        let w = u[i] - 1.2;
        let p = ((((((((0.1 * w + 0.2) * w - 0.3) * w + 0.4) * w - 0.5) * w + 0.1) * w + 0.3) * w - 0.2) * w
            + 0.1)
            * w;
        next[i] = u[i] + k * (u[i - 1] - 2.0 * u[i] + u[i + 1]) + 0.1 * p;
    }
}

/// The heat equation: what one step overwrites the reverse pass brings back.
#[differentiable]
fn heat(x: &[f64]) -> f64 {
    let mut u = x.to_vec();
    let mut next = x.to_vec();
    let k = 0.1 * x[0];
    for _ in 0..4 {
        explicit_step(&u, &mut next, k);
        std::mem::swap(&mut u, &mut next);
    }
    weighted(&u)
}

/// As short as it is, not in blocks.
#[differentiable]
fn short(x: &[f64]) -> f64 {
    let mut y = vec![0.0; x.len()];
    let k = 0.1 * x[0];
    for i in 1..x.len() - 1 {
        y[i] = x[i] + k * (x[i - 1] - 2.0 * x[i] + x[i + 1]);
    }
    weighted(&y)
}

/// Into a vector of its own, adding.
#[differentiable]
fn smoothed(x: &[f64]) -> f64 {
    let mut y = vec![0.5; x.len()];
    let (near, far) = (x[0] * 0.5, x[1] - x[2]);
    for i in 2..x.len() - 2 {
        let w = x[i] - 1.2;
        let p = ((((((((0.1 * w + 0.2) * w - 0.3) * w + 0.4) * w - 0.5) * w + 0.1) * w + 0.3) * w - 0.2) * w
            + 0.1)
            * w;
        let sides = near * (x[i - 1] + x[i + 1]);
        y[i] += sides + p * x[i + 1] + far * (x[i - 2] * x[i + 2]) / x[i];
    }
    weighted(&y)
}

/// A short formula with a number that all iterations have in common: in blocks if there are many.
#[differentiable]
fn combined(x: &[f64]) -> f64 {
    let (a, b) = (x[0] * x[1], x[2]);
    let mut y = vec![0.5; x.len()];
    for i in 0..x.len() {
        y[i] -= a * x[i] + b;
    }
    for i in 2..x.len() {
        y[i] = b * x[i - 2] * x[i - 2];
    }
    weighted(&y)
}

/// The sum over rows of what each of their numbers is multiplied by, for rows of a flat slice and of a part of one.
#[differentiable]
fn products_of_rows(x: &[f64]) -> f64 {
    let n = x.len() / 3;
    let (first, rest) = x.split_at(n);
    let mut c = vec![0.0; 2 * n];
    for i in 0..2 {
        for k in 0..2 {
            let factor = x[k] + 0.5 * i as f64;
            for j in 0..n {
                c[i * n + j] += factor * rest[k * n + j];
            }
            for j in 1..n {
                c[i * n + j] -= factor * x[k * n + j] * first[j - 1];
            }
        }
    }
    weighted(&c)
}

/// The number is one of those that all iterations have in common, in several terms; no neighbours.
#[differentiable]
fn scaled(x: &[f64]) -> f64 {
    let scale = x[0] * x[1];
    let shift = x[2];
    let mut y = vec![0.0; x.len()];
    for i in 0..x.len() {
        let w = x[i] - 1.2;
        let p = ((((((((0.1 * w + 0.2) * w - 0.3) * w + 0.4) * w - 0.5) * w + 0.1) * w + 0.3) * w - 0.2) * w
            + 0.1)
            * w;
        let z = scale * x[i] - shift * p;
        y[i] = z * z / scale + shift;
    }
    weighted(&y)
}

/// A vector that is returned, and a seed for each of its elements.
#[differentiable]
fn differences(x: &[f64]) -> Vec<f64> {
    let mut d = vec![0.0; x.len() - 1];
    for i in 1..x.len() {
        let w = x[i - 1] - 1.2;
        let p = ((((((((0.1 * w + 0.2) * w - 0.3) * w + 0.4) * w - 0.5) * w + 0.1) * w + 0.3) * w - 0.2) * w
            + 0.1)
            * w;
        d[i - 1] = p * x[i] + (x[i] - x[i - 1]) * (x[i] + 0.5 * x[i - 1]).sqrt();
    }
    d
}

#[differentiable]
fn rough(x: &[f64]) -> f64 {
    weighted(&differences(x))
}

/// The index as a number, numbers of the iteration's own, one of which changes, and a sum of all iterations.
#[differentiable]
fn slopes(x: &[f64]) -> f64 {
    let mut total = x[0];
    let mut y = x.to_vec();
    let c = 0.3 * x[1];
    for i in 0..x.len() - 1 {
        let w = x[i] - 1.2;
        let p = ((((((((0.1 * w + 0.2) * w - 0.3) * w + 0.4) * w - 0.5) * w + 0.1) * w + 0.3) * w - 0.2) * w
            + 0.1)
            * w;
        let t = i as f64 * 0.1;
        let mut slope = x[i + 1] - x[i] + 0.1 * p;
        slope *= 1.0 + t * c;
        slope -= 0.5 * t;
        total += slope.mul_add(x[i], c) * slope.recip().recip();
        y[i] -= slope;
    }
    total * weighted(&y)
}

/// Two arrays that reach differently far, one of which is written to elsewhere than at the index.
#[differentiable]
fn convolve(x: &[f64], kernel: &[f64]) -> Vec<f64> {
    let n = x.len();
    let mut y = vec![0.0; n];
    for i in 1..n - 3 {
        let w = x[i + 1] - 1.2;
        let p = ((((((((0.1 * w + 0.2) * w - 0.3) * w + 0.4) * w - 0.5) * w + 0.1) * w + 0.3) * w - 0.2) * w
            + 0.1)
            * w;
        y[i + 2] = p * kernel[i] + x[i] * kernel[i] + x[i + 3] * kernel[i - 1] - kernel[i + 1];
    }
    y
}

#[differentiable]
fn convolved(x: &[f64]) -> f64 {
    let squares: Vec<f64> = x.iter().map(|x| x * x).collect();
    weighted(&convolve(x, &squares))
}

/// One vector twice: what goes to either goes to both.
#[differentiable]
fn with_itself(x: &[f64]) -> f64 {
    weighted(&convolve(x, x))
}

/// Not in blocks: each element depends on the one before.
#[differentiable]
fn recurrence(x: &[f64]) -> f64 {
    let mut y = x.to_vec();
    for i in 1..y.len() {
        let w = x[i] - 1.2;
        let p = ((((((((0.1 * w + 0.2) * w - 0.3) * w + 0.4) * w - 0.5) * w + 0.1) * w + 0.3) * w - 0.2) * w
            + 0.1)
            * w;
        y[i] += 0.3 * y[i - 1] * x[i] + 0.1 * p;
    }
    weighted(&y)
}

/// Not in blocks: what is overwritten is read.
#[differentiable]
fn squared(x: &[f64]) -> f64 {
    let mut y = x.to_vec();
    let c = x[0];
    for i in 1..y.len() {
        let w = x[i] - 1.2;
        let p = ((((((((0.1 * w + 0.2) * w - 0.3) * w + 0.4) * w - 0.5) * w + 0.1) * w + 0.3) * w - 0.2) * w
            + 0.1)
            * w;
        y[i] = y[i] * y[i] * c + x[i - 1] * p;
    }
    weighted(&y)
}

/// Within other loops, which have their own number of iterations each.
#[differentiable]
fn triangle(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for level in 1..4 {
        let c = x[level] * 0.3;
        let mut y = vec![0.0; x.len()];
        for i in level..x.len() {
            let w = x[i] - 1.2;
            let p = ((((((((0.1 * w + 0.2) * w - 0.3) * w + 0.4) * w - 0.5) * w + 0.1) * w + 0.3) * w - 0.2)
                * w
                + 0.1)
                * w;
            y[i] = c * x[i] * x[i - 1] * p + y.len() as f64;
        }
        s += weighted(&y);
    }
    s
}

/// The exponentials are kept, and all of them contribute to the largest element.
#[differentiable]
fn log_sum_exp(x: &[f64]) -> f64 {
    let mut m = x[0];
    for &v in &x[1..] {
        if v > m {
            m = v;
        }
    }
    let mut s = 0.0;
    for &v in x {
        s += (v - m).exp();
    }
    m + s.ln()
}

/// Two values of each iteration, neighbours, and two numbers that all have in common.
#[differentiable]
fn saturated(x: &[f64]) -> f64 {
    let (gain, shift) = (0.3 * x[0], x[1] - x[2]);
    let mut total = gain;
    for i in 1..x.len() - 1 {
        let t = (gain * x[i - 1]).tanh();
        let e = (shift - x[i + 1]).exp_m1();
        total -= t * e * x[i] + shift;
    }
    total * total
}

/// Something else is kept beside the exponentials: not in blocks.
#[differentiable]
fn discounted(x: &[f64]) -> f64 {
    let rate = 0.1 * x[0];
    let mut y = x.to_vec();
    let mut total = 0.0;
    for i in 0..x.len() {
        y[i] = y[i] * y[i] * (-rate * x[i]).exp();
        total += y[i];
    }
    total
}

#[test]
fn gradients() {
    check_all!(inputs(); log_sum_exp, saturated, discounted);
    check_all!(inputs(); heat, short, combined, products_of_rows, smoothed, scaled, rough, slopes, convolved, with_itself, recurrence, squared, triangle);
}

#[test]
fn seeds_for_each_element() {
    let inputs = inputs();
    check_rule(differences::rule, inputs.iter().map(|x| (x.clone(),)));
    let kernels: Vec<Vec<f64>> = inputs.iter().map(|x| wave(x.len(), 2.0)).collect();
    check_rule(convolve::rule, inputs.iter().zip(&kernels).map(|(x, k)| (x.clone(), k.clone())));
    check_rule(
        explicit_step::rule,
        inputs.iter().zip(&kernels).map(|(x, next)| (x.clone(), next.clone(), 0.2)),
    );
}

macro_rules! slopes_of {
    ($name:ident, $T:ty) => {
        #[differentiable]
        fn $name(x: &[$T; 80], k: $T) -> $T {
            let mut s = 0.0;
            let mut y = [0.0; 80];
            for i in 1..79 {
                let slope = x[i + 1] - x[i - 1];
                let p = ((((0.5 * slope + 0.25) * slope - 0.125) * slope + 0.5) * slope - 0.25) * slope;
                let q = ((((0.5 * p + 0.25) * p - 0.125) * p + 0.5) * p - 0.25) * p;
                y[i] = k * slope + q * k;
            }
            for y in &y {
                s += y * y;
            }
            s
        }
    };
}

slopes_of!(single, f32);
slopes_of!(double, f64);

/// Arrays, of numbers of 32 bits: with those of 64, there are no others than small differences.
#[test]
fn of_either_float() {
    let x: [f32; 80] = std::array::from_fn(|i| ((i * i) % 17) as f32 * 0.0625);
    let (mut g, mut in_double) = (single::gradient(), double::gradient());
    let (_, d) = g.value_and_gradient(&x, 0.5);
    let wide = x.map(f64::from);
    check_gradient(
        |x| double(x[..].try_into().unwrap(), 0.5),
        |x| {
            let (value, d) = in_double.value_and_gradient(x[..].try_into().unwrap(), 0.5);
            (value, d.x.to_vec())
        },
        [wide.to_vec()],
    );
    let (_, expected) = in_double.value_and_gradient(&wide, 0.5);
    let close = |a: f32, b: f64| (f64::from(a) - b).abs() < 1e-4 * (1.0 + b.abs());
    assert!(close(d.k, expected.k) && d.x.iter().zip(expected.x).all(|(a, b)| close(*a, b)));
}

/// Without iterations the ends of a range may be anywhere.
#[test]
fn nothing_to_do() {
    #[differentiable]
    fn inner(x: &[f64], from: usize, to: usize) -> f64 {
        let mut y = x.to_vec();
        let c = x[0];
        for i in from..to {
            let w = x[i] - 1.2;
            let p = ((((((((0.1 * w + 0.2) * w - 0.3) * w + 0.4) * w - 0.5) * w + 0.1) * w + 0.3) * w - 0.2)
                * w
                + 0.1)
                * w;
            y[i] = c * (x[i + 1] - x[i - 1]) * p;
        }
        weighted(&y)
    }
    #[differentiable]
    fn decay(x: &[f64], from: usize, to: usize) -> f64 {
        let k = x[0] * x[1];
        let mut total = k;
        for i in from..to {
            total += (k * x[i]).exp();
        }
        total * total
    }
    let (mut g, mut of_decay) = (inner::gradient(), decay::gradient());
    let x = wave(5, 0.0);
    for (from, to) in [(0, 0), (9, 9), (3, 1), (9, 2), (1, 4)] {
        check_gradient(
            |x| inner(x, from, to),
            |x| {
                let (value, d) = g.value_and_gradient(x, from, to);
                (value, d.x.to_vec())
            },
            [x.clone()],
        );
        check_gradient(
            |x| decay(x, from, to),
            |x| {
                let (value, d) = of_decay.value_and_gradient(x, from, to);
                (value, d.x.to_vec())
            },
            [x.clone()],
        );
    }
}
