//! Closures that are passed on: what they capture, how they are left, in the company of everything else.

use pullback::Float;
use pullback::prelude::*;
use pullback::testing::{check_gradient, check_rule};

use super::callables::{Law, first_some, fixed_point, in_a_sum, integrate, logarithm, rk4, square, twice};

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

/// Flat matrices within closures: of the caller's, of the function's own, and with a closure's own vector.
#[differentiable]
fn neural(w: &[f64], b: &[f64], y: &mut [f64], h: f64) -> f64 {
    let n = b.len();
    let own: Vec<f64> = w.iter().map(|v| v * h + 0.1).collect();
    rk4(
        |_, y, dy| {
            for i in 0..n {
                let mut sum = b[i];
                for j in 0..n {
                    sum += w[i * n + j] * y[j];
                }
                dy[i] = sum.tanh();
            }
        },
        y,
        h,
        2,
    );
    rk4(
        |t, y: &[f64], dy: &mut [f64]| {
            let mut hidden = vec![t; n];
            for i in 0..n {
                for j in 0..n {
                    hidden[i] += own[i * n + j] * y[j];
                }
            }
            for i in 0..n {
                dy[i] = 0.0;
                for j in 0..n {
                    dy[i] += own[j * n + i] * hidden[j].sin();
                }
            }
        },
        y,
        h,
        1,
    );
    y[0] * y[n - 1]
}

#[test]
fn matrices_in_closures() {
    check_rule(
        neural::rule,
        [
            (vec![0.3, -0.2, 0.5, 0.7], vec![0.1, 0.4], vec![0.5, 0.8], 0.2),
            (vec![0.6], vec![0.2], vec![0.7], 0.3),
        ],
    );
}
