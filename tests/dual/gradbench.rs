//! GradBench's `particle` and `saddle`: derivatives within what is differentiated, in all four combinations of forward and reverse mode.

use pullback::prelude::*;
use pullback::testing::check_rule;
use pullback::{DualNumber, Float};

type Dual<T> = DualNumber<T, 1>;
type Plane<T> = DualNumber<T, 2>;

/// The potential of two charges, of which one moves away.
#[differentiable(dual)]
fn potential(x: [f64; 2], w: f64) -> f64 {
    let mut total = 0.0;
    for charge in [[10.0, 10.0 - w], [10.0, 0.0]] {
        total += 1.0 / ((x[0] - charge[0]).powi(2) + (x[1] - charge[1]).powi(2)).sqrt();
    }
    total
}

/// The same for any number.
#[differentiable]
fn potential_of<T: Float>(x: [T; 2], w: T) -> T {
    let ten = T::from_f64(10.0);
    let mut total = T::zero();
    for y in [ten - w, T::zero()] {
        total += T::one() / ((x[0] - ten).powi(2) + (x[1] - y).powi(2)).sqrt();
    }
    total
}

/// *(x² + y²) − (z² + w²)*, to be minimised over the first two and maximised over the others.
#[differentiable(dual)]
fn surface(below: [f64; 2], above: [f64; 2]) -> f64 {
    (below[0] * below[0] + below[1] * below[1]) - (above[0] * above[0] + above[1] * above[1])
}

/// The same for any number.
#[differentiable]
fn surface_of<T: Float>(below: [T; 2], above: [T; 2]) -> T {
    (below[0] * below[0] + below[1] * below[1]) - (above[0] * above[0] + above[1] * above[1])
}

/// Where the particle hits the ground, squared: `slope` is the gradient of the potential.
fn landing<T: Float>(w: T, mut slope: impl FnMut([T; 2], T) -> [T; 2]) -> T {
    let number = T::from_f64;
    let (mut x, mut v) = ([number(0.0), number(8.0)], [number(0.75), number(0.0)]);
    let h = number(0.1);
    loop {
        let a = slope(x, w);
        x = [x[0] + h * v[0], x[1] + h * v[1]];
        if x[1] <= number(0.0) {
            let t = -x[1] / v[1];
            let end = x[0] + t * v[0];
            break end * end;
        }
        v = [v[0] - h * a[0], v[1] - h * a[1]];
    }
}

/// The same by a gradient, which reverse mode computes.
#[differentiable]
fn landing_by_gradient(w: f64) -> f64 {
    let (mut x, mut v) = ([0.0, 8.0], [0.75, 0.0]);
    let h = 0.1;
    loop {
        let (a, _) = potential::grad(x, w);
        x = [x[0] + h * v[0], x[1] + h * v[1]];
        if x[1] <= 0.0 {
            let t = -x[1] / v[1];
            let end = x[0] + t * v[0];
            break end * end;
        }
        v = [v[0] - h * a[0], v[1] - h * a[1]];
    }
}

/// The same by derivatives along directions, which forward mode computes.
#[differentiable]
fn landing_by_directions(w: f64) -> f64 {
    let (mut x, mut v) = ([0.0, 8.0], [0.75, 0.0]);
    let h = 0.1;
    loop {
        let a = [potential::along(x, w, [1.0, 0.0], 0.0), potential::along(x, w, [0.0, 1.0], 0.0)];
        x = [x[0] + h * v[0], x[1] + h * v[1]];
        if x[1] <= 0.0 {
            let t = -x[1] / v[1];
            let end = x[0] + t * v[0];
            break end * end;
        }
        v = [v[0] - h * a[0], v[1] - h * a[1]];
    }
}

/// Where gradient descent ends that starts at `x`; `f` gives values, and `slope` gradients.
fn descend<T: Float, const N: usize>(
    start: [T; N],
    mut f: impl FnMut([T; N]) -> T,
    mut slope: impl FnMut([T; N]) -> [T; N],
) -> [T; N] {
    let norm = |x: [T; N]| x.iter().map(|x| x.to_f64().powi(2)).sum::<f64>().sqrt();
    let (mut x, mut rate, mut good) = (start, 1e-5, 0);
    let (mut value, mut g) = (f(x), slope(x));
    while norm(g) > 1e-5 {
        if good == 10 {
            rate *= 2.0;
            good = 0;
            continue;
        }
        let next: [T; N] = std::array::from_fn(|i| x[i] - T::from_f64(rate) * g[i]);
        if norm(std::array::from_fn(|i| x[i] - next[i])) <= 1e-5 {
            break;
        }
        let there = f(next);
        if there < value {
            (x, value, good) = (next, there, good + 1);
            g = slope(x);
        } else {
            rate /= 2.0;
            good = 0;
        }
    }
    x
}

/// The lowest landing, with the derivative of the distance that `d` computes.
fn particle(mut d: impl FnMut(f64) -> f64) -> f64 {
    let distance = |w| landing(w, |x, w| potential_of::gradient().value_and_gradient(x, w).1.x);
    descend([0.0], |[w]| distance(w), |[w]| [d(w)])[0]
}

fn variable<T: Float>(x: T) -> Dual<T> {
    Dual::variable(x, [T::one()])
}

/// The gradient of a function of two numbers by forward mode.
fn forward_gradient<T: Float>(x: [T; 2], f: impl FnOnce([Plane<T>; 2]) -> Plane<T>) -> [T; 2] {
    let (one, zero) = (T::one(), T::zero());
    f([Plane::variable(x[0], [one, zero]), Plane::variable(x[1], [zero, one])]).tangent()
}

fn constants<T: Float>(x: [T; 2]) -> [Plane<T>; 2] {
    x.map(|x| Plane::variable(x, [T::zero(); 2]))
}

mod particle_is_found {
    use super::*;

    /// The results of the samples.
    fn is_right(w: f64) {
        assert!((w - 0.207_191_874_648_611_6).abs() < 1e-9, "{w}");
    }

    #[test]
    fn forward_over_forward() {
        is_right(particle(|w| {
            let slope = |x, w: Dual<f64>| {
                forward_gradient(x, |x| potential_of(x, Plane::variable(w, [Dual::constant(0.0); 2])))
            };
            landing(variable(w), slope).tangent()[0]
        }));
    }

    #[test]
    fn forward_over_reverse() {
        let mut g = potential_of::<Dual<f64>>::gradient();
        is_right(particle(|w| landing(variable(w), |x, w| g.value_and_gradient(x, w).1.x).tangent()[0]));
    }

    #[test]
    fn reverse_over_forward() {
        let mut g = landing_by_directions::gradient();
        is_right(particle(|w| g.value_and_gradient(w).1.w));
    }

    #[test]
    fn reverse_over_reverse() {
        check_rule(landing_by_gradient::rule, [(0.2,), (0.25,)]);
        let mut g = landing_by_gradient::gradient();
        let (value, d) = g.value_and_gradient(0.2071918746486116);
        assert!(value < 1e-8 && d.w.abs() < 1e-2, "{value} {}", d.w);
        is_right(particle(|w| g.value_and_gradient(w).1.w));
    }
}

/// The height of the surface where gradient ascent in the second argument ends: `slope` is its gradient with respect to that.
fn ridge<T: Float>(
    below: [T; 2],
    start: [f64; 2],
    mut slope: impl FnMut([T; 2], [T; 2]) -> [T; 2],
) -> ([T; 2], T) {
    let top = descend(start.map(T::from_f64), |x| -surface_of(below, x), |x| slope(below, x).map(|d| -d));
    (top, surface_of(below, top))
}

/// The same by a gradient, which reverse mode computes.
#[differentiable]
fn ridge_by_gradient(below: [f64; 2], #[constant] start: [f64; 2]) -> f64 {
    let (mut x, mut rate, mut good) = (start, 1e-5, 0);
    let mut value = surface(below, x);
    let (_, mut g) = surface::grad(below, x);
    while (g[0] * g[0] + g[1] * g[1]).sqrt() > 1e-5 {
        if good == 10 {
            rate *= 2.0;
            good = 0;
            continue;
        }
        let next = [x[0] + rate * g[0], x[1] + rate * g[1]];
        if (x[0] - next[0]).hypot(x[1] - next[1]) <= 1e-5 {
            break;
        }
        let there = surface(below, next);
        if there > value {
            x = next;
            value = there;
            good += 1;
            let (_, d) = surface::grad(below, x);
            g = d;
        } else {
            rate /= 2.0;
            good = 0;
        }
    }
    surface(below, x)
}

/// The same by derivatives along directions, which forward mode computes.
#[differentiable]
fn ridge_by_directions(below: [f64; 2], #[constant] start: [f64; 2]) -> f64 {
    let (mut x, mut rate, mut good) = (start, 1e-5, 0);
    let mut value = surface(below, x);
    let mut g = slope(below, x);
    while (g[0] * g[0] + g[1] * g[1]).sqrt() > 1e-5 {
        if good == 10 {
            rate *= 2.0;
            good = 0;
            continue;
        }
        let next = [x[0] + rate * g[0], x[1] + rate * g[1]];
        if (x[0] - next[0]).hypot(x[1] - next[1]) <= 1e-5 {
            break;
        }
        let there = surface(below, next);
        if there > value {
            x = next;
            value = there;
            good += 1;
            g = slope(below, x);
        } else {
            rate /= 2.0;
            good = 0;
        }
    }
    surface(below, x)
}

#[differentiable]
fn slope(below: [f64; 2], above: [f64; 2]) -> [f64; 2] {
    let still = [0.0, 0.0];
    [surface::along(below, above, still, [1.0, 0.0]), surface::along(below, above, still, [0.0, 1.0])]
}

const START: [f64; 2] = [1.0, 1.0];

/// The saddle point, with the gradient of the ridge that `d` computes.
fn saddle(d: impl FnMut([f64; 2]) -> [f64; 2]) {
    let mut g = surface_of::gradient();
    let mut slope = |below, above| g.value_and_gradient(below, above).1.above;
    let below = descend(START, |below| ridge(below, START, &mut slope).1, d);
    let (above, _) = ridge(below, START, &mut slope);
    // The results of the samples.
    for (x, expected) in below.into_iter().chain(above).zip([8.246_324_826e-06; 4]) {
        assert!((x - expected).abs() < 1e-14, "{below:?} {above:?}");
    }
}

mod saddle_is_found {
    use super::*;

    /// The gradient of a function of two numbers by forward mode, one after the other.
    fn each(below: [f64; 2], mut ridge: impl FnMut([Dual<f64>; 2]) -> Dual<f64>) -> [f64; 2] {
        [0, 1].map(|i| {
            let mut duals = below.map(Dual::constant);
            duals[i] = variable(below[i]);
            ridge(duals).tangent()[0]
        })
    }

    #[test]
    fn forward_over_forward() {
        let slope = |below, above| forward_gradient(above, |above| surface_of(constants(below), above));
        saddle(|below| each(below, |below| ridge(below, START, slope).1));
    }

    #[test]
    fn forward_over_reverse() {
        let mut g = surface_of::<Dual<f64>>::gradient();
        let mut slope = |below, above| g.value_and_gradient(below, above).1.above;
        saddle(|below| each(below, |below| ridge(below, START, &mut slope).1));
    }

    #[test]
    fn reverse_over_forward() {
        let mut g = ridge_by_directions::gradient();
        saddle(|below| g.value_and_gradient(below, START).1.below);
    }

    #[test]
    fn reverse_over_reverse() {
        let mut g = ridge_by_gradient::gradient();
        saddle(|below| g.value_and_gradient(below, START).1.below);
    }
}

#[test]
fn derivatives_along_directions() {
    assert_eq!(surface::along([1.0, 2.0], [3.0, 4.0], [1.0, 0.0], [0.0, 10.0]), 2.0 - 80.0);
    check_rule(surface::along_rule, [([1.0, 2.0], [3.0, 4.0], [1.0, 0.5], [0.25, -1.0])]);
    check_rule(landing_by_directions::rule, [(0.2,), (0.25,)]);
}

#[differentiable(dual)]
fn bowl(x: &[f64], k: f64, #[constant] centre: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        total += k * (x[i] - centre[i]).powi(3) + x[i].sin();
    }
    total
}

/// A step along the steepest descent, and how steep it is.
#[differentiable]
fn steepness(x: &[f64], k: f64, #[constant] centre: &[f64]) -> f64 {
    let (d, _) = (bowl::along(x, k, centre, x, 1.0), k);
    d * bowl::along(x, d, centre, centre, 0.0)
}

#[test]
fn directions_in_slices() {
    let (x, centre) = (vec![0.5, -0.25, 0.75], vec![0.1, 0.2, 0.3]);
    check_rule(steepness::rule, [(x.clone(), 0.5, centre.clone())]);
    let direction = vec![1.0, 2.0, -1.0];
    check_rule(bowl::along_rule, [(x, 0.5, centre, direction, 0.75)]);
}
