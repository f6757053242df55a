//! particle: where a charge has to be so that a particle, which the gradient of the potential drives, lands as close to the origin as it
//! can. Descent follows a gradient that contains another one. Of a function's name the first letter is the mode of the outer one,
//! forward or reverse, and the second that of the inner one.

use std::cell::RefCell;

use pullback::{Float, prelude::*};
use serde_json::Value;

use super::unknown;
use crate::descent::minimum;
use crate::task::{self, Task};
use crate::{forward, input};

/// The potential of two charges, one of which `w` moves down.
#[inline]
#[differentiable]
fn potential_of<T: Float>(x: [T; 2], w: T) -> T {
    let ten = T::from_f64(10.0);
    let mut total = T::zero();
    for y in [ten - w, T::zero()] {
        total += T::one() / ((x[0] - ten).powi(2) + (x[1] - y).powi(2)).sqrt();
    }
    total
}

/// The same of floats: what has derivatives that can be differentiated in reverse.
#[differentiable(dual)]
fn potential(x: [f64; 2], w: f64) -> f64 {
    potential_of(x, w)
}

/// The square of where the particle crosses the line *y = 0*; `slope` is the gradient of the potential with respect to *x*.
#[differentiable]
fn landing<T: Float>(slope: impl Fn([T; 2], T) -> [T; 2], w: T) -> T {
    let h = T::from_f64(0.1);
    let mut x = [T::zero(), T::from_f64(8.0)];
    let mut v = [T::from_f64(0.75), T::zero()];
    loop {
        let a = slope(x, w);
        x = [x[0] + h * v[0], x[1] + h * v[1]];
        if x[1] <= T::zero() {
            let t = -x[1] / v[1];
            let end = x[0] + t * v[0];
            return end * end;
        }
        v = [v[0] - h * a[0], v[1] - h * a[1]];
    }
}

/// The slope by reverse mode, to be differentiated in reverse.
#[differentiable]
fn slope_by_reverse(x: [f64; 2], w: f64) -> [f64; 2] {
    let (slope, _) = potential::grad(x, w);
    slope
}

/// The slope by forward mode, to be differentiated in reverse.
#[differentiable]
fn slope_by_forward(x: [f64; 2], w: f64) -> [f64; 2] {
    [potential::along(x, w, [1.0, 0.0], 0.0), potential::along(x, w, [0.0, 1.0], 0.0)]
}

/// The slope by reverse mode, for floats and for dual numbers.
fn by_reverse<T: Float>() -> impl Fn([T; 2], T) -> [T; 2] {
    let g = RefCell::new(potential_of::gradient());
    move |x, w| g.borrow_mut().value_and_gradient(x, w).1.x
}

/// The slope by forward mode, for floats and for dual numbers.
fn by_forward<T: Float>() -> impl Fn([T; 2], T) -> [T; 2] {
    |x, w| forward::gradient(x, |x| potential_of(x, forward::constant(w)))
}

/// The best `w` by descent from `start`; `d` is the derivative of the landing.
fn best(
    slope: impl Fn([f64; 2], f64) -> [f64; 2] + 'static,
    d: impl Fn([f64; 1]) -> [f64; 1] + 'static,
    start: f64,
) -> Box<dyn Task> {
    task::number(move || {
        let [w] = minimum(|[w]| landing(&slope, w), &d, [start]);
        w
    })
}

/// The functions of this eval.
pub fn task(function: &str, input: &Value) -> Result<Box<dyn Task>, String> {
    let start = input::number(input, "w")?;
    match function {
        "rr" => {
            let g = RefCell::new(landing::<f64, slope_by_reverse>::gradient());
            Ok(best(by_reverse(), move |[w]| [g.borrow_mut().value_and_gradient(w).1.w], start))
        }
        "rf" => {
            let g = RefCell::new(landing::<f64, slope_by_forward>::gradient());
            Ok(best(by_forward(), move |[w]| [g.borrow_mut().value_and_gradient(w).1.w], start))
        }
        "fr" => {
            let slope = by_reverse();
            Ok(best(by_reverse(), move |w| forward::gradient(w, |[w]| landing(&slope, w)), start))
        }
        "ff" => {
            let slope = by_forward();
            Ok(best(by_forward(), move |w| forward::gradient(w, |[w]| landing(&slope, w)), start))
        }
        _ => Err(unknown(function)),
    }
}

#[cfg(test)]
mod tests {
    use pullback::testing::check_gradient;

    use super::*;
    use crate::evals::tests::check_with;

    #[test]
    fn samples() {
        for function in ["rr", "rf", "fr", "ff"] {
            check_with("particle", function, |_, _| 1e-12);
        }
    }

    #[test]
    fn reverse_over_either_mode() {
        let mut g = landing::<f64, slope_by_reverse>::gradient();
        let d = |w: &mut f64| {
            let (value, d) = g.value_and_gradient(*w);
            (value, d.w)
        };
        check_gradient(|w| landing(slope_by_reverse, *w), d, [0.2, 0.25]);
        let mut g = landing::<f64, slope_by_forward>::gradient();
        let d = |w: &mut f64| {
            let (value, d) = g.value_and_gradient(*w);
            (value, d.w)
        };
        check_gradient(|w| landing(slope_by_forward, *w), d, [0.2, 0.25]);
    }
}
