//! saddle: minimise over one point what is maximal over another one, by gradients through the ascent to that maximum. The letters of a
//! function's name are the modes of the outer and of the inner gradient, forward or reverse.

use std::cell::RefCell;

use pullback::{DualNumber, Float, prelude::*};
use serde_json::Value;

use super::unknown;
use crate::descent::minimum;
use crate::task::{self, Task};
use crate::{forward, input};

/// *|p|² − |q|²*
#[inline]
#[differentiable]
fn height_of<T: Float>(p: [T; 2], q: [T; 2]) -> T {
    (p[0] * p[0] + p[1] * p[1]) - (q[0] * q[0] + q[1] * q[1])
}

/// The same of floats: what has derivatives that can be differentiated in reverse.
#[differentiable(dual)]
fn height(p: [f64; 2], q: [f64; 2]) -> f64 {
    height_of(p, q)
}

/// Where ascent from `start` ends: the highest *q* for this *p*. `slope` is the gradient with respect to *q*.
#[differentiable]
fn highest<T: Float>(
    slope: impl Fn([T; 2], [T; 2]) -> [T; 2],
    p: [T; 2],
    #[constant] start: [T; 2],
) -> [T; 2] {
    let depth = |q| -height_of(p, q);
    let down = |q| {
        let d = slope(p, q);
        [-d[0], -d[1]]
    };
    minimum(depth, down, start)
}

/// How high that is.
#[differentiable]
fn ridge<T: Float>(slope: impl Fn([T; 2], [T; 2]) -> [T; 2], p: [T; 2], #[constant] start: [T; 2]) -> T {
    let q = highest(slope, p, start);
    height_of(p, q)
}

/// The slope by reverse mode, to be differentiated in reverse.
#[differentiable]
fn slope_by_reverse(p: [f64; 2], q: [f64; 2]) -> [f64; 2] {
    let (_, slope) = height::grad(p, q);
    slope
}

/// The slope by forward mode, to be differentiated in reverse.
#[differentiable]
fn slope_by_forward(p: [f64; 2], q: [f64; 2]) -> [f64; 2] {
    let fixed = [0.0, 0.0];
    [height::along(p, q, fixed, [1.0, 0.0]), height::along(p, q, fixed, [0.0, 1.0])]
}

/// The slope by reverse mode, for floats and for dual numbers.
fn by_reverse<T: Float>() -> impl Fn([T; 2], [T; 2]) -> [T; 2] {
    let g = RefCell::new(height_of::gradient());
    move |p, q| g.borrow_mut().value_and_gradient(p, q).1.q
}

/// The slope by forward mode, for floats and for dual numbers.
fn by_forward<T: Float>() -> impl Fn([T; 2], [T; 2]) -> [T; 2] {
    |p, q| forward::gradient(q, |q| height_of(p.map(forward::constant), q))
}

/// The saddle point; `d` is the gradient of the ridge.
fn saddle(
    slope: impl Fn([f64; 2], [f64; 2]) -> [f64; 2] + 'static,
    d: impl Fn([f64; 2]) -> [f64; 2] + 'static,
    start: [f64; 2],
) -> Box<dyn Task> {
    task::vector(4, move |result| {
        let p = minimum(|p| ridge(&slope, p, start), &d, start);
        let q = highest(&slope, p, start);
        result.copy_from_slice([p, q].as_flattened());
    })
}

/// The functions of this eval.
pub fn task(function: &str, input: &Value) -> Result<Box<dyn Task>, String> {
    let start: [f64; 2] = input::array(input, "start")?;
    match function {
        "rr" => {
            let g = RefCell::new(ridge::<f64, slope_by_reverse>::gradient());
            Ok(saddle(by_reverse(), move |p| g.borrow_mut().value_and_gradient(p, start).1.p, start))
        }
        "rf" => {
            let g = RefCell::new(ridge::<f64, slope_by_forward>::gradient());
            Ok(saddle(by_forward(), move |p| g.borrow_mut().value_and_gradient(p, start).1.p, start))
        }
        "fr" => {
            let (slope, fixed) = (by_reverse(), start.map(DualNumber::constant));
            Ok(saddle(by_reverse(), move |p| forward::gradient(p, |p| ridge(&slope, p, fixed)), start))
        }
        "ff" => {
            let (slope, fixed) = (by_forward(), start.map(DualNumber::constant));
            Ok(saddle(by_forward(), move |p| forward::gradient(p, |p| ridge(&slope, p, fixed)), start))
        }
        _ => Err(unknown(function)),
    }
}

#[cfg(test)]
mod tests {
    use pullback::testing::check_gradient;

    use super::*;
    use crate::evals::tests::check_with;

    /// Results close to zero agree in any case by the usual measure.
    #[test]
    fn samples() {
        for function in ["rr", "rf", "fr", "ff"] {
            check_with("saddle", function, |_, _| 1e-15);
        }
    }

    #[test]
    fn reverse_over_either_mode() {
        let (points, start) = ([[1.0, 0.5], [-0.25, 2.0]], [0.5, 1.5]);
        let mut g = ridge::<f64, slope_by_reverse>::gradient();
        let d = |p: &mut [f64; 2]| {
            let (value, d) = g.value_and_gradient(*p, start);
            (value, d.p)
        };
        check_gradient(|p| ridge(slope_by_reverse, *p, start), d, points);
        let mut g = ridge::<f64, slope_by_forward>::gradient();
        let d = |p: &mut [f64; 2]| {
            let (value, d) = g.value_and_gradient(*p, start);
            (value, d.p)
        };
        check_gradient(|p| ridge(slope_by_forward, *p, start), d, points);
    }
}
