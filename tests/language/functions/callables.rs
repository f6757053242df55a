//! Functions and closures as arguments.

use pullback::Float;
use pullback::prelude::*;
use pullback::testing::{check_gradient, check_rule};

/// The trapezoidal rule.
#[differentiable]
pub(super) fn integrate(f: impl Fn(f64) -> f64, a: f64, b: f64, n: usize) -> f64 {
    let h = (b - a) / n as f64;
    let mut total = 0.5 * (f(a) + f(b));
    for i in 1..n {
        total += f(a + h * i as f64);
    }
    h * total
}

/// A zero of `f`, from `x`.
#[differentiable]
pub(super) fn newton<F, D>(f: F, df: D, x: f64) -> f64
where
    F: Fn(f64) -> f64,
    D: Fn(f64) -> f64,
{
    let mut x = x;
    while f(x).abs() > 1e-12 {
        x -= f(x) / df(x);
    }
    x - f(x) / df(x)
}

/// One step of Runge and Kutta's method after the other.
#[differentiable]
pub(super) fn rk4<F: Fn(f64, &[f64], &mut [f64])>(rhs: F, y: &mut [f64], h: f64, steps: usize) {
    let mut k1 = vec![0.0; y.len()];
    let mut k2 = vec![0.0; y.len()];
    let mut k3 = vec![0.0; y.len()];
    let mut k4 = vec![0.0; y.len()];
    let mut z = vec![0.0; y.len()];
    let mut t = 0.0;
    for _ in 0..steps {
        rhs(t, y, &mut k1);
        for i in 0..y.len() {
            z[i] = y[i] + 0.5 * h * k1[i];
        }
        rhs(t + 0.5 * h, &z, &mut k2);
        for i in 0..y.len() {
            z[i] = y[i] + 0.5 * h * k2[i];
        }
        rhs(t + 0.5 * h, &z, &mut k3);
        for i in 0..y.len() {
            z[i] = y[i] + h * k3[i];
        }
        rhs(t + h, &z, &mut k4);
        for i in 0..y.len() {
            y[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
        }
        t += h;
    }
}

#[differentiable]
fn area(k: f64, b: f64, n: usize) -> f64 {
    integrate(|t| k * t * t, 0.0, b, n)
}

#[differentiable]
pub(super) fn square(x: f64) -> f64 {
    x * x
}

#[differentiable]
fn by_path(a: f64, b: f64, n: usize) -> f64 {
    integrate(square, a, b, n) * integrate(&square, 0.0, a, n) + integrate(f64::sin, a, b, n)
}

#[differentiable]
fn root(p: f64, q: f64) -> f64 {
    newton(|x| x * x * x - p * x - q, |x| 3.0 * x * x - p, 2.0)
}

/// Predators and prey, with their parameters in a slice.
#[differentiable]
fn lotka_volterra(p: &[f64], y: &mut [f64], h: f64, steps: usize) -> f64 {
    rk4(
        |_t, y, dy| {
            dy[0] = p[0] * y[0] - p[1] * y[0] * y[1];
            dy[1] = p[2] * y[0] * y[1] - p[3] * y[1];
        },
        y,
        h,
        steps,
    );
    y[0] * y[0] + y[1]
}

#[differentiable]
fn forced(p: &[f64; 3], h: f64) -> f64 {
    let mut y = [1.0, 0.5];
    let mut total = 0.0;
    for i in 0..3 {
        let drive = p[i] * p[0];
        rk4(
            |t: f64, y: &[f64], dy: &mut [f64]| {
                let force = if y[0] > 0.8 { (drive * t).sin() } else { drive };
                dy[0] = y[1];
                dy[1] = force - p[1] * y[0];
                for j in 0..2 {
                    dy[j] *= p[2];
                }
            },
            &mut y,
            h,
            2,
        );
        total += y[0] * y[1];
    }
    total
}

/// ∫∫ k·x·y dy dx
#[differentiable]
fn nested(k: f64, b: f64, n: usize) -> f64 {
    integrate(|x| integrate(|y| (k * x * y).sin() + x, 0.0, x * b, n), 0.0, 1.0, n)
}

#[differentiable]
fn named(k: f64, b: f64, n: usize) -> f64 {
    let g = |t: f64| (k * t).exp();
    let h = |t| g(t) * t;
    integrate(g, 0.0, b, n) * integrate(&h, 0.0, b, n) + g(k)
}

#[differentiable]
fn without_captures(a: f64, b: f64, n: usize) -> f64 {
    let cube = |t: f64| t * t * t;
    integrate(cube, a, b, n) + integrate(|t| 2.0 * t, 0.0, a, n)
}

#[differentiable]
pub(super) fn twice(f: &impl Fn(f64) -> f64, x: f64) -> f64 {
    f(f(x))
}

#[differentiable]
fn four_times<F: Fn(f64) -> f64>(f: &F, x: f64) -> f64 {
    let y = twice(f, x);
    twice(f, y) + twice(&|z| f(z) * x, y)
}

#[differentiable]
fn passed_on(a: f64, b: f64, x: f64) -> f64 {
    four_times(&|y| a * y + b * y * y, x)
}

/// Adaptive quadrature: the function is passed on to itself.
#[differentiable]
fn adaptive(f: &dyn Fn(f64) -> f64, a: f64, b: f64, depth: usize) -> f64 {
    let m = 0.5 * (a + b);
    let coarse = (b - a) * f(m);
    let fine = 0.5 * (b - a) * (f(0.5 * (a + m)) + f(0.5 * (m + b)));
    if depth == 0 || (coarse - fine).abs() < 1e-9 {
        return fine;
    }
    adaptive(f, a, m, depth - 1) + adaptive(f, m, b, depth - 1)
}

#[differentiable]
fn adaptively(k: f64, b: f64) -> f64 {
    adaptive(&|t| (k * t * t).sin(), 0.0, b, 4)
}

/// Calls in branches and loops, with locals that are written to.
#[differentiable]
fn scattered(f: impl Fn(&[f64], usize) -> f64, x: &mut [f64], rounds: usize) -> f64 {
    let mut last = [0.0; 3];
    let mut total = 0.0;
    for round in 0..rounds {
        for i in 0..x.len() {
            if x[i] > 0.5 {
                let v = f(x, i);
                x[i] = v * x[i];
                last[i % 3] += v;
            } else if i % 2 == 0 {
                x[i] += f(&last, i % 3) + 0.1;
            } else {
                total += f(&x[i..], 0) * f(&last[..2], 1);
            }
        }
    }
    total + last[0] * last[1] + x[0]
}

#[differentiable]
fn in_branches(w: &[f64], k: f64, x: &mut [f64], rounds: usize) -> f64 {
    let scale = k * w[0];
    if k > 1.0 {
        scattered(|x, i| (x[i] * scale).sin() * w[i % 2] + k, x, rounds)
    } else {
        let value = scattered(|y: &[f64], i: usize| y[i] * w[1] + scale, x, rounds);
        value * k
    }
}

#[derive(Clone, Copy, Differentiable)]
pub(super) struct Law {
    pub(super) strength: f64,
    pub(super) power: [f64; 2],
}

#[differentiable]
pub(super) fn fixed_point<T: Float>(f: impl Fn([T; 2]) -> [T; 2], start: [T; 2], rounds: usize) -> [T; 2] {
    let mut x = start;
    for _ in 0..rounds {
        x = f(x);
    }
    x
}

#[differentiable]
fn with_a_struct(law: Law, start: [f64; 2], rounds: usize) -> f64 {
    let fixed = fixed_point(
        |x| {
            let s = law.strength * x[0];
            [s.sin() + law.power[1], law.power[0] * x[1] * x[0]]
        },
        start,
        rounds,
    );
    fixed[0] * fixed[1] + law.strength
}

/// Ways out of a closure.
#[differentiable]
fn with_returns(k: f64, b: f64, n: usize) -> f64 {
    integrate(
        |t| {
            if t < 0.3 {
                return k * t;
            }
            let mut s = t;
            for i in 0..3 {
                s = s * k;
                if s > 1.1 {
                    return s * t;
                }
            }
            s + k
        },
        0.0,
        b,
        n,
    )
}

#[differentiable]
pub(super) fn first_some(f: impl Fn(f64) -> Option<f64>, x: f64) -> f64 {
    match f(x) {
        Some(y) => y * x,
        None => x,
    }
}

#[differentiable]
pub(super) fn logarithm(x: f64) -> Option<f64> {
    if x > 0.0 { Some(x.ln()) } else { None }
}

#[differentiable]
fn with_question_mark(k: f64, x: f64) -> f64 {
    first_some(
        |t| {
            let a = logarithm(t * k)?;
            let b = logarithm(a)?;
            Some(a * b * k)
        },
        x,
    )
}

#[differentiable]
fn constant_captures(#[constant] k: f64, n: usize, b: f64) -> f64 {
    integrate(|t| k * t.powi(n as i32), 0.0, b, 4)
}

/// Asks for no more than it needs.
#[differentiable]
fn iterated(mut f: impl FnMut(f64) -> f64, x: f64, n: usize) -> f64 {
    let mut x = x;
    for _ in 0..n {
        x = f(x);
    }
    while f(x) > 2.0 {
        x *= 0.5;
    }
    x
}

#[differentiable]
fn filled<F>(f: &mut F, y: &mut [f64])
where
    F: FnMut(usize, &mut f64),
{
    for (i, y) in y.iter_mut().enumerate() {
        f(i, y);
    }
}

#[differentiable]
fn applied<F: FnOnce(&[f64]) -> f64>(f: F, x: &[f64]) -> f64 {
    2.0 * f(x)
}

#[differentiable]
fn of_dynamic(f: &mut dyn FnMut(f64) -> f64, x: f64) -> f64 {
    f(x) * iterated(&mut *f, x, 2)
}

#[differentiable]
fn that_may_change(x: &[f64], k: f64) -> f64 {
    let mut y = vec![k; x.len()];
    filled(&mut |i, y: &mut f64| *y *= x[i] * k, &mut y);
    let mut f = |t: f64| t * k + x[0];
    let z = iterated(&mut f, x[1], 3) + iterated(square, k, 2);
    z * applied(|y| y[0] * y[1] * k, &y) + of_dynamic(&mut f, x[0])
}

#[test]
fn functions_that_may_change_something() {
    check_rule(that_may_change::rule, [(vec![0.5, 0.7], 0.6), (vec![0.9, 0.4, 1.2], 1.1)]);
    let mut g = iterated::<square>::gradient();
    check_gradient(
        |x| iterated(square, *x, 2),
        |x| {
            let (value, d) = g.value_and_gradient(*x, 2);
            (value, d.x)
        },
        [0.5, 1.3],
    );
}

#[test]
fn integrals() {
    check_rule(area::rule, [(0.7, 2.0, 5), (1.3, 0.4, 2)]);
    check_rule(by_path::rule, [(0.7, 2.0, 5), (1.3, 0.4, 2)]);
    check_rule(nested::rule, [(0.7, 2.0, 5), (1.3, 0.4, 2)]);
    check_rule(named::rule, [(0.7, 2.0, 5), (1.3, 0.4, 2)]);
    check_rule(without_captures::rule, [(0.7, 2.0, 5), (1.3, 0.4, 2)]);
    check_rule(adaptively::rule, [(0.7, 2.0), (1.3, 0.4)]);
    check_rule(with_returns::rule, [(0.7, 2.0, 5), (1.3, 0.4, 2)]);
    check_rule(constant_captures::rule, [(0.7, 2, 5.0), (1.3, 1, 2.0)]);
}

#[test]
fn roots() {
    check_rule(root::rule, [(1.0, 2.0), (0.5, 3.0)]);
    check_rule(passed_on::rule, [(0.5, 0.1, 0.7), (0.2, -0.3, 1.2)]);
    check_rule(with_question_mark::rule, [(2.0, 3.0), (1.5, 0.9), (-1.0, 2.0)]);
}

#[test]
fn differential_equations() {
    check_rule(
        lotka_volterra::rule,
        [
            (vec![0.6, 0.4, 0.3, 0.5], vec![1.0, 0.5], 0.1, 3),
            (vec![0.5, 0.3, 0.2, 0.4], vec![0.7, 1.5], 0.2, 1),
        ],
    );
    check_rule(forced::rule, [([0.6, 0.4, 0.3], 0.1), ([0.5, 1.3, 2.2], 0.4)]);
}

#[test]
fn others() {
    check_rule(
        in_branches::rule,
        [
            (vec![0.6, 0.4], 1.3, vec![0.3, 0.6, 0.9, 0.2], 2),
            (vec![0.7, 0.9], 0.8, vec![0.6, 0.2, 0.4, 0.7], 3),
        ],
    );
    let law = Law { strength: 0.8, power: [0.7, 0.3] };
    check_rule(with_a_struct::rule, [(law, [0.5, 0.4], 3), (law, [0.9, 1.4], 1)]);
}

/// The derivative by differences of the function that is given.
#[differentiable]
fn secant(f: impl Fn(f64) -> f64, x: f64, h: f64) -> f64 {
    newton(|x| f(x) - 0.5, |x| (f(x + h) - f(x - h)) / (2.0 * h), x) + newton(&f, |x| f(x) + 3.0, x)
}

#[differentiable]
fn both_call(k: f64, x: f64) -> f64 {
    secant(|t| (k * t).exp() - 1.0 + t, x, 0.1)
}

/// Closures in a loop that sums up, with parts of arrays under names.
#[differentiable]
pub(super) fn in_a_sum(p: &[f64], k: f64, n: usize) -> f64 {
    let mut total = 0.0;
    for i in 0..p.len() {
        let rest = &p[i..];
        total += integrate(|t| (p[i] * t * k).sin() * rest[0], 0.0, p[i], n);
    }
    total
}

/// A local array, written to before and after.
#[differentiable]
fn of_locals(x: f64, n: usize) -> f64 {
    let mut y = [x, 2.0 * x, 0.5];
    let mut total = 0.0;
    for i in 0..n {
        let (a, b) = (y[0] * x, y[1]);
        let mut c = a;
        c *= b;
        let part = integrate(|t| y[i % 3] * t + a * b * t * t + c, 0.0, y[2], 3);
        y[i % 3] = part.sin();
        total += part * y[2];
        c = total;
        total += integrate(|t| c * t, 0.0, 1.0, 2);
    }
    total
}

#[differentiable]
fn by_iterators(f: impl Fn(f64) -> f64, g: impl Fn(f64, f64) -> f64, x: &[f64]) -> f64 {
    let scaled: Vec<f64> = x.iter().map(|v| f(*v) * 2.0).collect();
    let pairs: f64 = x.iter().zip(&scaled).map(|(a, b)| g(*a, *b)).sum();
    let named = |v: f64| f(v) + v;
    pairs + x.iter().copied().map(&f).sum::<f64>() + named(scaled[0]) + twice(&named, x[0])
}

#[differentiable]
fn of_iterators(k: f64, x: &[f64]) -> f64 {
    by_iterators(|v| (v * k).sin(), f64::hypot, x) + by_iterators(f64::exp, |a, b| a * b * k, x)
}

#[differentiable]
fn deep(x: f64, n: usize) -> f64 {
    if n == 0 { x.sin() } else { integrate(|t| deep(t * x, n - 1) + t, 0.0, 1.0, 2) }
}

/// A right-hand side that leaves the work to another function.
#[differentiable]
fn decay(t: f64, y: &[f64], dy: &mut [f64], rates: &[f64]) {
    for i in 0..y.len() {
        dy[i] = -rates[i] * y[i] * t;
    }
}

#[differentiable]
fn pendulum(_t: f64, y: &[f64], dy: &mut [f64]) {
    dy[0] = y[1];
    dy[1] = -y[0].sin();
}

#[differentiable]
fn delegated(rates: &[f64], y: &mut [f64], h: f64) -> f64 {
    rk4(|t, y, dy| decay(t, y, dy, rates), y, h, 2);
    rk4(pendulum, y, h, 2);
    let rate = rates[0] * h;
    rk4(
        |t, y, dy: &mut [f64]| {
            pendulum(t, y, dy);
            let first = dy[0];
            decay(t, &y[..1], dy, rates);
            dy[1] = first * rate;
        },
        y,
        h,
        2,
    );
    y[0] * y[1]
}

#[differentiable]
fn patterns(x: f64, k: f64) -> f64 {
    let f = |(a, b): (f64, f64)| a * b * k;
    let g = |[a, b]: [f64; 2]| [a * k, a + b];
    let fixed = fixed_point(g, [x, k], 3);
    of_pairs(f, x)
        + fixed[0] * fixed[1]
        + of_pairs(|p| p.0 * k + p.1, x)
        + of_references(|&a, b| a * *b * k, x)
}

#[differentiable]
fn of_pairs(f: impl Fn((f64, f64)) -> f64, x: f64) -> f64 {
    f((x, x * x)) * f((2.0, x))
}

#[differentiable]
fn of_references(f: impl Fn(&f64, &f64) -> f64, x: f64) -> f64 {
    let y = x * x;
    f(&x, &y) * f(&y, &y)
}

#[differentiable]
fn of_structs(law: &Law, x: f64) -> f64 {
    of_laws(|l, i| l.power[i] * l.strength * law.strength, *law, x)
}

#[differentiable]
fn of_laws(f: impl Fn(Law, usize) -> f64, law: Law, x: f64) -> f64 {
    f(law, 0) * x + f(Law { strength: x, ..law }, 1)
}

/// Local closures that are left by `return`.
#[differentiable]
fn inlined_returns(x: &[f64], k: f64) -> f64 {
    let clipped = |v: f64| {
        if v > 1.0 {
            return 1.0 + k;
        }
        let mut w = v * k;
        for _ in 0..3 {
            if w > 0.5 {
                return w * v;
            }
            w *= 1.5;
        }
        w
    };
    let mut count = 0.0;
    let mut add = |v: f64| {
        if v < 0.2 {
            return;
        }
        count += v * k;
    };
    add(x[0]);
    add(k * x[1]);
    let mut total = x
        .iter()
        .map(|v| {
            if *v < 0.3 {
                return *v;
            }
            clipped(*v) * 2.0
        })
        .sum::<f64>();
    for i in 0..x.len() {
        if clipped(x[i]) > 0.1 {
            total += clipped(x[i]) * clipped(k);
        }
    }
    total + count
}

#[test]
fn shared_functions() {
    check_rule(both_call::rule, [(0.7, 0.4), (0.5, 0.9)]);
    check_rule(of_iterators::rule, [(0.7, vec![0.3, 0.8]), (0.9, vec![0.4])]);
    check_rule(deep::rule, [(0.7, 2), (0.4, 1), (0.3, 0)]);
}

#[test]
fn captures() {
    check_rule(in_a_sum::rule, [(vec![0.5, 0.9], 1.2, 3), (vec![0.4], 0.3, 2)]);
    check_rule(of_locals::rule, [(0.6, 4), (0.3, 1)]);
    check_rule(
        delegated::rule,
        [(vec![0.4, 0.8], vec![0.5, 0.2], 0.1), (vec![0.3, 0.7], vec![0.9, 1.2], 0.3)],
    );
    check_rule(patterns::rule, [(0.4, 0.8), (1.3, 0.7)]);
    let law = Law { strength: 0.8, power: [0.7, 0.3] };
    check_rule(of_structs::rule, [(law, 0.5), (law, 1.4)]);
    check_rule(inlined_returns::rule, [(vec![0.4, 0.8, 1.2, 0.1], 0.6), (vec![0.25, 0.9], 0.9)]);
}

#[differentiable]
fn inverse(x: f64) -> f64 {
    assert!(x != 0.0, "no inverse");
    1.0 / x
}

#[differentiable]
fn scaled<T: Float, const N: usize>(f: impl Fn(&[T; N], &mut [T; N]), x: &[T; N], k: T) -> T {
    let mut y = [T::zero(); N];
    f(x, &mut y);
    let mut total = T::zero();
    for i in 0..N {
        total += y[i] * k;
    }
    total
}

#[differentiable]
fn squares<T: Float, const N: usize>(x: &[T; N], y: &mut [T; N]) {
    for i in 0..N {
        y[i] = x[i] * x[i];
    }
}

#[test]
fn gradients_for_a_given_function() {
    let mut g = integrate::<square>::gradient();
    check_gradient(
        |(a, b)| integrate(square, *a, *b, 5),
        |(a, b)| {
            let (value, d) = g.value_and_gradient(*a, *b, 5);
            (value, (d.a, d.b))
        },
        [(0.5, 2.0), (-1.0, 1.5)],
    );
    let mut g = newton::<other_rules::cubic, other_rules::slope>::gradient();
    let (x, d) = g.value_and_gradient(2.0);
    assert!((x - 8.0_f64.cbrt()).abs() < 1e-12 && d.x.abs() < 1e-9);
    let mut g = scaled::<f64, 2, squares<f64, 2>>::gradient();
    let (value, d) = g.value_and_gradient(&[2.0, 3.0], 10.0);
    assert_eq!((value, d.x, d.k), (130.0, [40.0, 60.0], 13.0));
}

#[test]
fn a_panic_in_a_given_function_leaves_the_gradient_usable() {
    let mut g = integrate::<inverse>::gradient();
    let first = g.value_and_gradient(1.0, 2.0, 4).1.b;
    for _ in 0..2 {
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            g.value_and_gradient(-1.0, 1.0, 2);
        }));
        assert!(panicked.is_err());
        assert_eq!(g.value_and_gradient(1.0, 2.0, 4).1.b, first);
    }
    g.shrink();
    assert_eq!(g.value_and_gradient(1.0, 2.0, 4).1.b, first);
}

/// Functions of another module, with rules of every kind.
mod other_rules {
    use pullback::prelude::*;
    use pullback::{Dual, DualMut};

    pub fn cubic(x: f64) -> f64 {
        x * x * x - 8.0
    }
    scalar_rule!(pub fn cubic(x: f64) -> f64 => 3.0 * x * x);

    pub fn slope(x: f64) -> f64 {
        3.0 * x * x
    }
    non_differentiable!(pub fn slope(x: f64) -> f64);

    /// dy ← y·t
    pub fn grow(t: f64, y: &[f64], dy: &mut [f64]) {
        dy.iter_mut().zip(y).for_each(|(dy, y)| *dy = t * y);
    }

    #[derive(Rule, Default)]
    #[rule(pub fn grow(t: f64, y: &[f64], dy: &mut [f64]))]
    struct Grow {
        old: pullback::Saved<f64>,
    }

    impl Grow {
        fn forward(&mut self, t: f64, y: &[f64], dy: &mut [f64]) {
            self.old.save(dy);
            grow(t, y, dy);
        }
        fn pullback(&mut self, t: f64, y: Dual<'_, [f64]>, dy: DualMut<'_, [f64]>) -> f64 {
            let mut d_t = 0.0;
            for i in 0..y.value.len() {
                let d = dy.shadow.take(|d| &d[i]);
                d_t += d * y.value[i];
                y.shadow.accumulate(|cells| &cells[i], d * t);
            }
            self.old.restore(dy.value);
            d_t
        }
    }
}

#[differentiable]
fn of_other_rules(x: f64, y: &mut [f64]) -> f64 {
    rk4(other_rules::grow, y, x, 2);
    newton(other_rules::cubic, |x| 3.0 * x * x, x) * y[0] + integrate(other_rules::cubic, 0.0, x, 3)
}

#[test]
fn functions_with_rules_of_every_kind() {
    check_rule(of_other_rules::rule, [(0.7, vec![0.5, 0.8]), (1.4, vec![0.5])]);
}

/// A rule of quadrature.
pub trait Nodes {
    const AT: [f64; 2];
}

pub struct Gauss;
pub struct Ends;

impl Nodes for Gauss {
    const AT: [f64; 2] = [0.211, 0.789];
}

impl Nodes for Ends {
    const AT: [f64; 2] = [0.0, 1.0];
}

#[differentiable]
fn integral<Q: Nodes>(f: impl Fn(f64) -> f64, to: f64) -> f64 {
    0.5 * to * (f(Q::AT[0] * to) + f(Q::AT[1] * to))
}

/// Hands the function on, and a closure that calls it.
#[differentiable]
fn integral_twice<Q: Nodes>(f: impl Fn(f64) -> f64, to: f64) -> f64 {
    integral::<Q>(&f, to) * integral::<Q>(|x| f(x) * to, to)
}

#[differentiable]
fn iterated_with<const N: usize>(f: impl Fn(f64) -> f64, mut g: impl FnMut(f64, f64) -> f64, x: f64) -> f64 {
    (0..N).fold(x, |t, _| g(f(t), x))
}

#[differentiable]
fn of_named_types<F: Fn(f64) -> f64, Q: Nodes>(f: F, x: f64) -> f64 {
    f(x) * Q::AT[1]
}

#[differentiable]
fn by_types(k: f64, x: f64) -> f64 {
    let mut t = 0.0;
    for _ in 0..2 {
        t += integral::<Gauss>(|x| (k * x).sin(), x) + integral::<Ends>(f64::cos, x);
    }
    t + integral_twice::<Gauss>(|x| x * k, x)
        + iterated_with::<3>(f64::sin, |a, b| a * b * k, x)
        + of_named_types::<_, Gauss>(|x| x * k, x)
}

#[test]
fn generics_beside_functions() {
    check_rule(by_types::rule, [(0.4, 0.9), (1.3, 0.2)]);
}
