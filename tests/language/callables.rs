//! Functions and closures as arguments.

use pullback::Float;
use pullback::prelude::*;
use pullback::testing::{check_gradient, check_rule};

/// The trapezoidal rule.
#[differentiable]
fn integrate(f: impl Fn(f64) -> f64, a: f64, b: f64, n: usize) -> f64 {
    let h = (b - a) / n as f64;
    let mut total = 0.5 * (f(a) + f(b));
    for i in 1..n {
        total += f(a + h * i as f64);
    }
    h * total
}

/// A zero of `f`, from `x`.
#[differentiable]
fn newton<F, D>(f: F, df: D, x: f64) -> f64
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
fn rk4<F: Fn(f64, &[f64], &mut [f64])>(rhs: F, y: &mut [f64], h: f64, steps: usize) {
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
fn square(x: f64) -> f64 {
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
fn twice(f: &impl Fn(f64) -> f64, x: f64) -> f64 {
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
struct Law {
    strength: f64,
    power: [f64; 2],
}

#[differentiable]
fn fixed_point<T: Float>(f: impl Fn([T; 2]) -> [T; 2], start: [T; 2], rounds: usize) -> [T; 2] {
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
fn first_some(f: impl Fn(f64) -> Option<f64>, x: f64) -> f64 {
    match f(x) {
        Some(y) => y * x,
        None => x,
    }
}

#[differentiable]
fn logarithm(x: f64) -> Option<f64> {
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
fn in_a_sum(p: &[f64], k: f64, n: usize) -> f64 {
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
    let mut g = newton::<pullback_of_tests::cubic, pullback_of_tests::slope>::gradient();
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
    g.release();
    assert_eq!(g.value_and_gradient(1.0, 2.0, 4).1.b, first);
}

/// Functions of another module, with rules of every kind.
mod pullback_of_tests {
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
    rk4(pullback_of_tests::grow, y, x, 2);
    newton(pullback_of_tests::cubic, |x| 3.0 * x * x, x) * y[0]
        + integrate(pullback_of_tests::cubic, 0.0, x, 3)
}

#[test]
fn functions_with_rules_of_every_kind() {
    check_rule(of_other_rules::rule, [(0.7, vec![0.5, 0.8]), (1.4, vec![0.5])]);
}

/// Ways out around calls with closures, and out of the closures.
#[differentiable]
fn exits_around(x: &[f64], k: f64, limit: f64) -> f64 {
    let mut total = k;
    for i in 0..x.len() {
        if x[i] < 0.0 {
            continue;
        }
        let part = integrate(
            |t| {
                if t * x[i] > 0.5 {
                    return total * t;
                }
                t * t * k
            },
            0.0,
            x[i],
            3,
        );
        total += part;
        if total > limit {
            return integrate(|t| if t > k { t } else { return total * t }, 0.0, part, 2);
        }
        let mut rounds = 0;
        while rounds < 5 {
            rounds += 1;
            total = integrate(
                |t| {
                    for j in 0..3 {
                        if t > 0.3 * j as f64 {
                            return k * t;
                        }
                    }
                    total
                },
                0.0,
                total,
                2,
            );
            if total < 0.2 * k {
                break;
            }
        }
    }
    total
}

#[differentiable]
fn optional(x: f64, k: f64) -> Option<f64> {
    let a = logarithm(x)?;
    let b = first_some(|t| Some(logarithm(t + k)? * a), x);
    if b > 100.0 {
        return None;
    }
    let c = integrate(
        |t| {
            let Some(l) = logarithm(t + 1.0) else {
                return a;
            };
            l * b
        },
        0.0,
        a,
        2,
    );
    Some(a * b * c)
}

#[differentiable]
fn option_or_zero(x: f64, k: f64) -> f64 {
    match optional(x, k) {
        Some(y) => y * k,
        None => k,
    }
}

struct Potential {
    depth: f64,
    widths: Vec<f64>,
}

#[derive(Differentiable)]
struct Widths {
    w: Vec<f64>,
    factor: f64,
}

#[differentiable]
impl Potential {
    fn work(#[constant] &self, x: f64, n: usize) -> f64 {
        integrate(|t| self.depth * (t * self.widths[0]).sin() * x, 0.0, x, n)
    }
}

#[differentiable]
fn by_methods(#[constant] p: &Potential, x: f64) -> f64 {
    p.work(x, 3) * integrate(|t| p.work(t, 2), 0.0, x, 2)
}

#[differentiable]
fn of_containers(widths: &Widths, w: &ndarray::Array2<f64>, y: &mut [f64], k: f64) -> f64 {
    let local: Vec<f64> = widths.w.iter().map(|v| v * k).collect();
    rk4(
        |_, y, dy| {
            for i in 0..y.len() {
                dy[i] = local[i] - widths.w[i] * y[i];
                for j in 0..y.len() {
                    dy[i] += (w[[i, j]] * y[j]).tanh() * widths.factor;
                }
            }
        },
        y,
        0.1,
        2,
    );
    y[0] * y[1] + local[0]
}

#[differentiable]
fn generic<T: Float>(k: T, x: [T; 2], n: usize) -> T {
    let scale = k * x[0];
    let y = fixed_point(|v| [v[0] * scale, v[1] * k + v[0]], x, n);
    let z = fixed_point(|v: [T; 2]| [v[1].sin(), v[0] * y[0]], y, n);
    z[0] * z[1]
}

#[differentiable]
fn newton_with_slope(f: impl Fn(f64) -> (f64, f64), x: f64) -> f64 {
    let mut x = x;
    for _ in 0..5 {
        let (value, slope) = f(x);
        x -= value / slope;
    }
    x
}

#[differentiable]
fn tuples(k: f64, x: f64) -> f64 {
    newton_with_slope(|x| (x * x - k, 2.0 * x), x)
        * newton_with_slope(
            |x| {
                let y = x * x;
                (y * x - k, 3.0 * y)
            },
            x,
        )
}

#[differentiable]
fn modify(f: impl Fn(&mut f64, usize), x: &mut [f64]) {
    for i in 0..x.len() {
        f(&mut x[i], i);
        f(&mut x[0], i);
    }
}

/// Bodies that are no blocks.
#[differentiable]
fn bodies(k: &[f64], x: &mut [f64]) -> f64 {
    modify(|x, i| *x = *x * k[i % 2], x);
    modify(|x, i| *x += k[0], x);
    modify(|x, i| if i % 2 == 0 { *x *= k[1] } else { *x = x.sin() }, x);
    rk4(
        |_, y, dy| {
            for i in 0..y.len() {
                dy[i] = y[i] * k[0]
            }
        },
        x,
        0.1,
        1,
    );
    rk4(|t, y, dy| dy[0] = y[0] * t + k[1], x, 0.1, 2);
    x[0] * x[1]
}

#[differentiable]
fn repeatedly(k: f64, n: usize) -> f64 {
    let mut c = k;
    let mut total = 0.0;
    let g = move |t: f64| c * t;
    for i in 0..n {
        total += integrate(|t| c * t * t + g(t), 0.0, k, 2) * integrate(g, 0.0, c, 2);
        c = c * 0.9 + total;
    }
    total + both(g, &g, k) + twice(&g, c)
}

#[differentiable]
fn both(f: impl Fn(f64) -> f64, g: &impl Fn(f64) -> f64, x: f64) -> f64 {
    f(g(x)) * g(f(x) + 1.0)
}

/// Functions in conditions and casts.
#[differentiable]
fn in_conditions(f: impl Fn(f64) -> f64, inside: impl Fn(f64) -> bool, x: f64) -> f64 {
    let steps = (f(x).abs() * 3.0) as usize;
    let mut y = x;
    for _ in 0..steps + 1 {
        if inside(y) && f(y) > 0.1 {
            y = f(y) * 0.5;
        } else if f(y) < -0.3 || !inside(x) {
            y += f(y + 0.2);
        } else {
            y = y * 1.1 + 0.1;
        }
    }
    assert!(f(y).is_finite(), "{}", f(y));
    y
}

#[differentiable]
fn of_conditions(k: f64, x: f64) -> f64 {
    let f = |t: f64| (t * k).sin() + 0.2;
    let y = in_conditions(f, |t| t < 2.0, x);
    if integrate(f, 0.0, x, 3) > 0.2 { y * f(k) } else { y }
}

#[test]
fn exits_and_options() {
    check_rule(
        exits_around::rule,
        [(vec![0.5, -1.0, 0.9, 1.4], 0.8, 5.0), (vec![1.5, 1.2, 2.0], 0.7, 0.9), (vec![0.3, 0.2], 1.2, 2.0)],
    );
    check_rule(option_or_zero::rule, [(2.0, 1.5), (-1.0, 0.5), (3.0, 0.7)]);
    check_rule(of_conditions::rule, [(0.9, 0.7), (1.4, 1.9), (-0.8, 1.2)]);
}

#[test]
fn receivers_containers_generics() {
    let mut g = by_methods::gradient();
    let p = Potential { depth: 0.7, widths: vec![1.3] };
    check_gradient(
        |x| by_methods(&p, *x),
        |x| {
            let (value, d) = g.value_and_gradient(&p, *x);
            (value, d.x)
        },
        [0.8, 1.4],
    );
    let mut g = of_containers::gradient();
    check_gradient(
        |(w, factor, a, y, k): &mut (Vec<f64>, f64, ndarray::Array2<f64>, Vec<f64>, f64)| {
            of_containers(&Widths { w: w.clone(), factor: *factor }, a, &mut y.clone(), *k)
        },
        |(w, factor, a, y, k)| {
            let (value, d) = g.value_and_gradient(&Widths { w: w.clone(), factor: *factor }, a, y, *k);
            (value, (d.widths.w.clone(), d.widths.factor, d.w.clone(), d.y.to_vec(), d.k))
        },
        [(vec![0.4, 0.8], 0.6, ndarray::array![[0.1, 0.7], [-0.4, 0.3]], vec![0.5, 0.9], 1.2)],
    );
    check_rule(generic::<f64>::rule, [(0.7, [0.4, 0.9], 3), (0.9, [1.2, 0.3], 1)]);
    check_rule(tuples::rule, [(2.0, 1.5), (3.0, 1.2)]);
    check_rule(bodies::rule, [(vec![0.7, 1.2], vec![0.4, 0.9, 0.3]), (vec![0.3, 0.8], vec![0.6, 0.2])]);
    check_rule(repeatedly::rule, [(0.7, 3), (0.4, 1)]);
    let mut g = in_a_sum::gradient();
    check_gradient(
        |(p, k): &mut (Vec<f64>, f64)| in_a_sum(p, *k, 3),
        |(p, k)| {
            let (value, d) = g.value_and_gradient(p, *k, 3);
            (value, (d.p.to_vec(), d.k))
        },
        [(vec![0.5, 0.9], 1.2), (vec![0.3, 0.8, 0.1], 0.7)],
    );
}

/// Calls in a loop that is run again from checkpoints.
#[differentiable]
fn from_checkpoints(k: f64, x: &mut [f64], n: usize) -> f64 {
    let mut s = k;
    let shift = |t: f64| t * k + 0.1;
    #[pullback(checkpoint = 2)]
    for i in 0..n {
        let old = s;
        s = integrate(|t| (old * t + k * x[i % 2]).sin() * old, 0.0, 1.0, 2) + integrate(shift, 0.0, old, 2);
        modify(|v, j| *v += s * 0.1 * k + j as f64 * old, x);
    }
    s * x[0]
}

#[test]
fn checkpoints() {
    check_rule(from_checkpoints::rule, [(0.7, vec![0.4, 0.9], 5), (0.4, vec![0.8, 0.2], 2)]);
}

/// Functions without gradient stay what they were.
#[differentiable]
fn weighted<F: Fn(f64) -> f64 + Copy>(#[constant] weight: F, x: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        total += weight(i as f64) * x[i];
    }
    total
}

#[differentiable]
fn of_weights(x: &[f64], k: f64) -> f64 {
    weighted(constant(f64::exp), x) * k + weighted(constant(square), x)
}

/// What is captured is a `&mut` parameter, which is written to between the calls.
#[differentiable]
fn between_writes(y: &mut [f64], k: f64) -> f64 {
    let mut last = 0.0;
    for i in 0..y.len() {
        let v = integrate(|t| y[i] * t * k + y[0], 0.0, 1.0, 2);
        y[i] = v * y[0];
        y[0] += integrate(|t| helper(&t, y) + pair(t, t) * square(t), 0.0, k, 2);
        last = v;
    }
    last
}

#[differentiable]
fn helper(t: &f64, y: &[f64]) -> f64 {
    *t * y[0] * y[y.len() - 1]
}

#[differentiable]
fn pair(a: f64, b: f64) -> f64 {
    a * a * b
}

#[differentiable]
fn of_arrays(f: impl Fn(&[f64; 3], [f64; 2]) -> f64, x: &[f64; 3]) -> f64 {
    f(x, [x[0], x[1]]) * f(&[x[2], 1.0, 2.0], [x[1], 0.5])
}

#[differentiable]
fn bare_arguments(x: &[f64; 3], k: f64) -> f64 {
    of_arrays(|a, b| helper(&k, a) + sum(&b) + taken(b) * a[0], x)
        + of_arrays(|v, w| sum(v) * w[0] + sum(&w[1..]), x)
}

#[differentiable]
fn sum(x: &[f64]) -> f64 {
    x.iter().sum()
}

#[differentiable]
fn taken(x: [f64; 2]) -> f64 {
    x[0] * x[1]
}

#[test]
fn captured_and_passed() {
    check_rule(of_weights::rule, [(vec![0.4, 0.8], 0.3), (vec![0.9, 0.2, 0.7], 1.0)]);
    check_rule(between_writes::rule, [(vec![0.4, 0.8, 0.3], 0.6), (vec![0.9], 0.4)]);
    check_rule(bare_arguments::rule, [([0.4, 0.8, 0.3], 0.6), ([0.9, 0.2, 1.2], 0.4)]);
}

/// The same function twice.
#[differentiable]
fn with_itself(f: impl Fn(f64) -> f64, x: f64) -> f64 {
    both(&f, &f, x) * both(|t| f(t) * x, &f, x)
}

#[differentiable]
fn of_itself(k: f64, x: f64) -> f64 {
    with_itself(|t| (t * k).sin() + x, x)
}

#[test]
fn one_function_twice() {
    check_rule(of_itself::rule, [(0.4, 0.8), (1.2, 0.3)]);
}

/// Simpson's rule, halving intervals; what is known of the function is passed on along with it.
#[differentiable]
fn simpson<F: Fn(f64) -> f64>(f: &F, a: f64, fa: f64, b: f64, fb: f64, depth: usize) -> f64 {
    let m = 0.5 * (a + b);
    let fm = f(m);
    let whole = (b - a) / 6.0 * (fa + 4.0 * fm + fb);
    let (left, right) = (f(0.5 * (a + m)), f(0.5 * (m + b)));
    let halves = (b - a) / 12.0 * (fa + 4.0 * left + 2.0 * fm + 4.0 * right + fb);
    if depth == 0 || (whole - halves).abs() < 1e-7 {
        halves
    } else {
        simpson(f, a, fa, m, f(m), depth - 1) + simpson(f, m, fm, b, f(b), depth - 1)
    }
}

#[differentiable]
fn by_simpson(f: impl Fn(f64) -> f64, a: f64, b: f64) -> f64 {
    simpson(&f, a, f(a), b, f(b), 3) + integrate(|t| f(t) * t, f(a), f(f(b)), 2)
}

#[differentiable]
fn of_simpson(k: f64, b: f64) -> f64 {
    by_simpson(|t| (k * t * t).cos() + square(t), 0.1, b * square(k))
}

#[test]
fn functions_among_other_arguments() {
    check_rule(of_simpson::rule, [(0.7, 1.8), (1.4, 0.6)]);
}

#[differentiable]
impl Law {
    fn force(&self, x: f64) -> f64 {
        self.strength * x * self.power[0]
    }

    fn cube(x: f64) -> f64 {
        x * x * x
    }
}

#[differentiable]
fn of_laws_by_reference(f: impl Fn(&Law, f64) -> f64, law: &Law, x: f64) -> f64 {
    f(law, x) * f(law, 2.0 * x)
}

#[differentiable]
fn associated_functions(law: &Law, x: f64) -> f64 {
    of_laws_by_reference(Law::force, law, x)
        + integrate(Law::cube, 0.0, x, 3)
        + integrate(|t| law.force(t), 0.0, x, 3)
}

#[differentiable]
fn generic_methods<T: Float>(x: T) -> T {
    let start = [x, x * x];
    let mapped = mapped(T::sin, start);
    mapped[0] * mapped[1]
}

#[differentiable]
fn mapped<T: Float>(f: impl Fn(T) -> T, x: [T; 2]) -> [T; 2] {
    [f(x[0]), f(x[1])]
}

#[test]
fn functions_of_types() {
    let law = Law { strength: 0.8, power: [0.7, 0.3] };
    check_rule(associated_functions::rule, [(law, 0.5), (law, 1.4)]);
    check_rule(generic_methods::<f64>::rule, [(0.5,), (1.4,)]);
}

#[differentiable]
fn sampled(f: impl Fn() -> f64, g: impl Fn(&mut [f64; 2]) -> Option<f64>, x: f64) -> f64 {
    let mut y = [x, f()];
    let mut total = f() * x;
    while let Some(v) = g(&mut y) {
        total += v * y[0];
    }
    let last = match f() {
        v if v > 1.0 => v * v,
        v => v + total,
    };
    last + y[1]
}

/// Parameters by value that are written to, no parameters at all, ways out of a closure that writes.
#[differentiable]
fn odd_closures(k: f64, x: f64) -> f64 {
    let a = fixed_point(
        |mut v: [f64; 2]| {
            v[0] *= k;
            for _ in 0..2 {
                v[1] += v[0] * v[1];
            }
            v
        },
        [x, k],
        2,
    );
    let b = fixed_point(
        |mut v| {
            v[1] *= v[0] + x;
            v
        },
        a,
        2,
    );
    let c = sampled(
        || k * x + b[0],
        |y| {
            let old = y[0];
            y[0] += 0.7 + 0.1 * k;
            y[1] *= old;
            if y[0] > 3.0 {
                y[1] += k;
                return None;
            }
            let l = logarithm(y[0])?;
            y[0] += 0.1 * l * l;
            Some(l * y[1])
        },
        x,
    );
    a[0] * b[1] + c
}

#[test]
fn closures_of_other_shapes() {
    check_rule(odd_closures::rule, [(0.4, 0.8), (1.2, 0.3)]);
}

#[differentiable]
fn spread(f: impl Fn(f64, &mut [f64]), x: &mut [f64]) -> f64 {
    for i in 0..x.len() {
        let t = x[i] * x[0];
        f(t, x);
        f(x[i], &mut x[i..]);
    }
    x[0]
}

/// Closures that end in a branch for which they have computed something.
#[differentiable]
fn guarded(k: f64, x: &mut [f64]) -> f64 {
    let first = spread(
        |t: f64, y: &mut [f64]| {
            let r = t * k;
            let s = r.sin();
            if r > 0.2 {
                y[0] += s * t;
            }
        },
        x,
    );
    let second = spread(
        |t, y| {
            for j in 0..y.len() {
                let r = t * k * y[j];
                if r > 0.1 {
                    y[j] = r.sqrt();
                }
            }
            let u = t * t;
            if u < 0.5 {
                y[0] *= u + k;
            }
        },
        x,
    );
    first * second + x[x.len() - 1]
}

#[test]
fn closures_that_end_in_a_branch() {
    check_rule(guarded::rule, [(0.6, vec![0.4, 0.9, 0.7]), (1.1, vec![0.3, 0.5])]);
}
