//! Gradient descent with a rate that adapts: what some evals minimise by, and differentiate.

use pullback::{Float, prelude::*};

/// Where gradient descent ends that starts at `start`; `gradient` is that of `f`.
///
/// The rate is doubled after ten steps that went down, and halved where one did not, which is then not made.
#[differentiable]
pub fn minimum<T: Float, const N: usize>(
    f: impl Fn([T; N]) -> T,
    gradient: impl Fn([T; N]) -> [T; N],
    start: [T; N],
) -> [T; N] {
    let tolerance = T::from_f64(1e-5);
    let (mut rate, mut steps) = (1e-5, 0);
    let mut x = start;
    let mut value = f(x);
    let mut slope = gradient(x);
    while norm(slope) > tolerance {
        if steps == 10 {
            rate *= 2.0;
            steps = 0;
            continue;
        }
        let mut next = x;
        let mut step = x;
        for i in 0..N {
            step[i] = T::from_f64(rate) * slope[i];
            next[i] -= step[i];
        }
        if norm(step) <= tolerance {
            break;
        }
        let there = f(next);
        if there < value {
            x = next;
            value = there;
            slope = gradient(x);
            steps += 1;
        } else {
            rate /= 2.0;
            steps = 0;
        }
    }
    x
}

/// The Euclidean norm.
#[differentiable]
fn norm<T: Float, const N: usize>(x: [T; N]) -> T {
    let mut total = T::zero();
    for i in 0..N {
        total += x[i] * x[i];
    }
    total.sqrt()
}
