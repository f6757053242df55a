//! Functions that are generic over floats, lengths and lifetimes.

use std::ops::{Add, Mul};

use pullback::Float;
use pullback::prelude::*;
use pullback::testing::check_rule;

#[differentiable]
fn square<T: Float>(x: T) -> T {
    x * x
}

#[differentiable]
fn sum<T: Float>(x: &[T]) -> T {
    let mut total = T::zero();
    for i in 0..x.len() {
        total += x[i] * x[i];
    }
    total
}

/// Every kind of statement.
#[differentiable]
fn simulate<T: Float>(start: T, p: T, steps: usize, trace: &mut [T]) -> T {
    let half = T::from_f64(0.5);
    let mut s = start;
    for i in 0..steps {
        s = step(s, p) + half;
        if s > T::one() {
            s = s / p - s % (p + half);
        } else {
            s -= T::PI * s.sin().powi(2);
        }
        trace[i] = s.max(half) * s * T::max(s, p);
        s *= trace[i].exp_m1();
    }
    s + trace[0] * T::hypot(s, p)
}

#[differentiable]
fn step<T>(s: T, p: T) -> T
where
    T: Float,
{
    p * s * (T::one() - s)
}

/// Neighbours, and a fixed point of view.
#[differentiable]
fn rosenbrock<T: Float>(x: &[T]) -> T {
    let mut total = T::zero();
    for i in 0..x.len() - 1 {
        let a = x[i + 1] - x[i] * x[i];
        let b = T::one() - x[i];
        total += T::from_f64(100.0) * a * a + b * b;
    }
    total
}

#[differentiable]
fn dot<const N: usize>(a: &[f64; N], b: &[f64; N]) -> f64 {
    let mut total = 0.0;
    for i in 0..N {
        total += a[i] * b[i];
    }
    total
}

#[differentiable]
fn matrix<T: Float, const M: usize, const N: usize>(a: [[T; N]; M], x: [T; N]) -> [T; M] {
    let mut y = [T::zero(); M];
    for i in 0..M {
        for j in 0..N {
            y[i] = y[i] + a[i][j] * x[j];
        }
    }
    y
}

#[differentiable]
fn lent<'a, 'b: 'a>(x: &'a [f64], y: &'b mut [f64], #[constant] names: &'a [&'static str]) -> f64 {
    y[0] = x[0] * x[names.len()];
    y[0] * y[1]
}

#[differentiable]
fn bounded<T: Copy + Default + Add<Output = T> + Mul<Output = T>>(a: &[T], b: &[T]) -> T {
    let mut total = T::default();
    for i in 0..a.len() {
        total = total + a[i] * b[i];
    }
    total
}

/// As it is written with num-traits.
#[differentiable]
fn with_num_traits<T: num_traits::Float + num_traits::FloatConst>(x: &[T], p: T) -> T {
    let two = T::from(2.0).unwrap();
    let mut total = T::zero();
    for i in 0..x.len() {
        let scaled = x[i] / T::from(x.len()).unwrap();
        total = total + scaled.powi(2).sin() * two;
        if total.is_nan() || total > T::from(100.0).unwrap() {
            total = total.sqrt();
        }
        total = total.max(p) + p.min(T::one()).abs() * (x[i] - T::epsilon());
    }
    total.mul_add(two, square_of(p))
}

#[differentiable]
fn square_of<T>(x: T) -> T
where
    T: num_traits::Float + num_traits::FloatConst,
{
    x * x * T::PI()
}

trait Metric: num_traits::Float + std::fmt::Debug {}
impl Metric for f64 {}
impl Metric for f32 {}

/// The bound's name does not tell, so another one does.
#[differentiable]
fn distance<M: Metric + pullback::Scalar>(x: M, y: M) -> M {
    ((x - y) * (x - y)).sqrt()
}

/// Parameters that only touch constants may be anything.
#[differentiable]
fn described<T: ToString, F: Float, const N: usize>(
    #[constant] label: &T,
    x: F,
    #[constant] mask: &[F],
) -> F {
    let mut y = x;
    for i in 0..label.to_string().len() + N {
        y = y * x + mask[i % mask.len()];
    }
    y
}

/// Type parameters are inferred from arguments, literals included, or given.
#[differentiable]
fn calls(x: &[f64], y: f32, k: f64) -> f64 {
    let a = [k, 2.0, x[0]];
    let b = [1.0, 3.0, k];
    let mut trace = [0.0; 4];
    let mut total = sum(x) * sum::<f64>(&x[1..]) + square(2.0) * square(square(k));
    for i in 0..x.len() {
        let c = [k, x[i]];
        total += square(x[i] * step::<f64>(x[i], 0.5)) + dot(&a, &b) + dot::<2>(&c, &[0.5, 0.25]);
        let s = simulate(k, x[i], 3, &mut trace);
        total = total * 0.5 + s * trace[1];
        if i > 0 {
            total += step(i as f64, 1.0);
        }
    }
    let m = matrix([[k, x[0]], [1.0, k]], [x[0], 2.0]);
    let tail = m_and(m[0], m[1]);
    let (first, second) = ([y, 1.0], [2.0, y]);
    let narrow = square(y) + square::<f32>(y * 0.5);
    total * bounded(&a, &tail) + narrow as f64 + bounded(&first, &second) as f64
}

#[differentiable]
fn m_and<T: Float>(x: T, y: T) -> [T; 3] {
    [x, y, T::one()]
}

/// Generic calls in generic code.
#[differentiable]
fn nested<T: Float, const N: usize>(x: [T; N], k: T, n: usize) -> T {
    let mut state = x;
    let mut total = square(k);
    for i in 0..n {
        let next = step(state[i % N], total);
        if next > T::zero() {
            total = total + square(next) * T::from_f64(0.25);
        } else {
            total = simulate::<T>(total, k, 2, &mut state[..2]);
        }
        state[0] += sum(&state) * rosenbrock(&x[..]);
    }
    total + sum(&state) + k * k
}

#[derive(Clone, Copy, Differentiable)]
pub struct Response<T> {
    emax: T,
    ec50: T,
}

/// A parameter, a field and a local may have the name of the function.
#[differentiable(dual)]
fn emax<T: Float>(c: T, emax: T, ec50: T) -> T {
    emax * c / (ec50 + c)
}

#[differentiable]
fn ec50<T: Float>(c: T, r: &Response<T>) -> T {
    let ec50 = r.ec50 * c;
    ec50 * r.emax + emax(c, r.emax, ec50)
}

#[test]
fn names_of_functions() {
    check_rule(emax::<f64>::rule, [(0.3, 0.8, 0.4), (1.3, 0.2, 0.7)]);
    check_rule(
        ec50::<f64>::rule,
        [(0.3, Response { emax: 0.8, ec50: 0.4 }), (0.9, Response { emax: 0.1, ec50: 1.4 })],
    );
}

#[test]
fn over_floats() {
    check_rule(square::<f64>::rule, [(0.3,), (-2.0,)]);
    check_rule(sum::<f64>::rule, [(vec![0.5, 0.2, 0.3],), (vec![],), (vec![0.4, 0.2],)]);
    check_rule(rosenbrock::<f64>::rule, [(vec![0.5, 0.2, 0.3],), (vec![0.4],), (vec![0.4, 0.2],)]);
    check_rule(
        simulate::<f64>::rule,
        [(0.3, 1.7, 3, vec![0.1; 3]), (0.9, 0.3, 1, vec![0.5]), (0.2, 1.2, 0, vec![0.7])],
    );
    check_rule(bounded::<f64>::rule, [(vec![0.5, 0.2], vec![0.3, 0.7]), (vec![0.4], vec![0.4])]);
    check_rule(square::<f32>::rule, [(0.3,), (-2.0,)]);
}

#[test]
fn over_lengths() {
    check_rule(dot::<3>::rule, [([0.5, 0.2, 0.3], [0.4, 0.7, 0.1])]);
    check_rule(dot::<0>::rule, [([], [])]);
    check_rule(matrix::<f64, 2, 3>::rule, [([[0.5, 0.2, 0.3], [0.4, 0.7, 0.1]], [0.3, 0.2, 0.6])]);
}

#[test]
fn over_lifetimes_and_other_types() {
    let mut g = lent::gradient();
    let mut y = [1.0, 3.0];
    let (value, d) = g.value_and_gradient(&[2.0, 5.0], &mut y, &["one"]);
    assert_eq!((value, d.x, d.y), (30.0, &[15.0, 6.0][..], &[0.0, 10.0][..]));
    let mut g = described::<u32, f64, 1>::gradient();
    let (value, d) = g.value_and_gradient(&7, 2.0, &[1.0, 0.5]);
    assert_eq!((value, d.x), (10.5, 13.0));
}

#[test]
fn with_bounds_of_another_crate() {
    check_rule(with_num_traits::<f64>::rule, [(vec![0.5, 0.2, 0.3], 0.7), (vec![14.0], 1.2), (vec![], 0.2)]);
    check_rule(square_of::<f64>::rule, [(0.3,)]);
    check_rule(distance::<f64>::rule, [(0.3, 0.8), (0.9, 0.2)]);
}

#[test]
fn called() {
    check_rule(calls::rule, [(vec![0.5, 0.2, 0.3], 0.7, 0.4), (vec![0.4], -1.2, 0.3)]);
    check_rule(nested::<f64, 2>::rule, [([0.5, 0.2], 0.7, 2), ([0.4, 0.9], 0.2, 3), ([0.4, 0.9], 0.2, 0)]);
}

#[test]
fn gradient_objects_of_both_precisions() {
    let (mut narrow, mut wide) = (rosenbrock::<f32>::gradient(), rosenbrock::<f64>::gradient());
    assert_eq!(narrow.value_and_gradient(&[0.5, 0.25]).1.x, [-1.0_f32, 0.0]);
    assert_eq!(wide.value_and_gradient(&[0.5, 0.25]).1.x, [-1.0_f64, 0.0]);
    struct Holder<T: Float> {
        gradient: square<T>,
    }
    let mut holder = Holder { gradient: square::<f32>::gradient() };
    let (value, d) = holder.gradient.value_and_gradient(3.0);
    assert_eq!((value, d.x, format!("{d:?}").contains("x: 6.0")), (9.0, 6.0, true));
    let mut pullback = matrix::<f32, 1, 2>::pullback();
    let (y, d) = pullback.value_and_pullback([[1.0, 2.0]], [3.0, 4.0], [1.0]);
    assert_eq!((y, d.a, d.x), ([11.0], [[3.0, 4.0]], [1.0, 2.0]));
}

/// Sums of a type parameter, where the end of the function tells that.
#[differentiable]
fn series<T: num_traits::Float + std::iter::Sum>(c: &[T], x: T) -> T {
    if x < T::zero() {
        return c.iter().map(|c| *c * *c).sum::<T>();
    }
    if c.len() > 2 { c.iter().enumerate().map(|(i, &c)| c * x.powi(i as i32)).sum() } else { x }
}

/// What a type asks of its parameters may stand in a `where`.
#[derive(Clone, Differentiable)]
struct Gaussian<T, const D: usize>
where
    T: num_traits::Float,
{
    mean: [T; D],
    log_scale: [T; D],
}

#[differentiable]
impl<T, const D: usize> Gaussian<T, D>
where
    T: num_traits::Float,
{
    fn log_density(&self, x: &[T; D]) -> T {
        let mut sum = T::zero();
        for i in 0..D {
            let z = (x[i] - self.mean[i]) / self.log_scale[i].exp();
            sum = sum - z * z - self.log_scale[i];
        }
        sum
    }
}

#[differentiable]
fn of_a_density(mean: [f64; 2], log_scale: [f64; 2], x: [f64; 2]) -> f64 {
    let density = Gaussian { mean, log_scale };
    density.log_density(&x)
}

#[test]
fn at_the_end_and_in_where() {
    check_rule(series::<f64>::rule, [(vec![0.5, 0.3, 0.2], 0.4), (vec![3.5, 1.0], 0.3), (vec![0.5], -0.3)]);
    check_rule(
        of_a_density::rule,
        [([0.5, 0.2], [0.1, 0.3], [0.8, 1.5]), ([0.1, 0.5], [0.7, -0.4], [0.2, 0.3])],
    );
}

/// Lengths that only the result tells: by the type of a `let`, a pattern, what takes it, or a result's type.
#[differentiable]
fn powers<const N: usize>(x: f64) -> [f64; N] {
    let mut p = [1.0; N];
    for i in 1..N {
        p[i] = p[i - 1] * x;
    }
    p
}

#[differentiable]
fn polynomial<const N: usize>(c: &[f64; N], x: f64) -> f64 {
    let p: [f64; N] = powers(x);
    let mut sum = 0.0;
    for i in 0..N {
        sum += c[i] * p[i];
    }
    sum
}

#[differentiable]
fn product(a: &[f64; 4], b: [f64; 4]) -> f64 {
    a.iter().zip(&b).map(|(a, b)| a * b).sum()
}

#[differentiable]
fn cubic(x: f64) -> [f64; 4] {
    powers(x)
}

#[derive(Clone, Copy, Differentiable)]
struct Basis {
    values: [f64; 3],
    scale: f64,
}

#[differentiable]
fn told_by_results(a: &[f64; 4], x: f64) -> f64 {
    let [c, d, e] = powers(x);
    let basis = Basis { values: powers(c + d), scale: e };
    let mut sum = polynomial(a, d) + product(a, powers(e));
    for _ in 0..2 {
        sum += cubic(sum * 0.1)[2] + basis.values[2] * basis.scale;
    }
    sum
}

/// Likewise a type.
#[differentiable]
fn one_over<T: Float>(n: usize, #[constant] what: &str) -> T {
    T::one() / T::from_f64(n as f64)
}

#[differentiable]
fn told_by_a_number(x: f64) -> f64 {
    let w: f64 = one_over(4, "weight");
    x * w + x * x
}

/// The names of what the macro writes are no names of the user's.
#[differentiable]
fn with_a_rule(x: f64, rule: f64) -> f64 {
    x * rule
}

#[differentiable]
fn calls_it(x: f64, rule: f64) -> f64 {
    with_a_rule(rule, x) + with_a_rule(x, 2.0)
}

#[test]
fn told_by_what_is_returned() {
    check_rule(told_by_results::rule, [([0.4, 0.3, 0.2, 0.6], 0.5), ([1.4, 0.1, -0.2, 0.3], -0.7)]);
    check_rule(told_by_a_number::rule, [(0.4,), (1.7,)]);
    check_rule(calls_it::rule, [(0.4, 0.3), (1.7, 0.2)]);
}
