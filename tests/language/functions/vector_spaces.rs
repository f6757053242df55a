//! Type parameters that stand for numbers and for plain data with operators alike: what has sums, and products with a number.

use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};

use pullback::prelude::*;
use pullback::testing::check_rule;

#[derive(Clone, Copy, Debug, Default, PartialEq, Differentiable)]
struct State {
    q: f64,
    p: f64,
}

#[differentiable]
impl Add for State {
    type Output = State;
    fn add(self, other: State) -> State {
        State { q: self.q + other.q, p: self.p + other.p }
    }
}

#[differentiable]
impl Sub for State {
    type Output = State;
    fn sub(self, other: State) -> State {
        State { q: self.q - other.q, p: self.p - other.p }
    }
}

#[differentiable]
impl Neg for State {
    type Output = State;
    fn neg(self) -> State {
        State { q: -self.q, p: -self.p }
    }
}

#[differentiable]
impl Mul<f64> for State {
    type Output = State;
    fn mul(self, factor: f64) -> State {
        State { q: self.q * factor, p: self.p * factor }
    }
}

#[differentiable]
impl Div<f64> for State {
    type Output = State;
    fn div(self, divisor: f64) -> State {
        State { q: self.q / divisor, p: self.p / divisor }
    }
}

#[differentiable]
impl Mul<State> for f64 {
    type Output = State;
    fn mul(self, s: State) -> State {
        State { q: self * s.q, p: self * s.p }
    }
}

#[differentiable]
impl Mul for State {
    type Output = f64;
    fn mul(self, other: State) -> f64 {
        self.q * other.q + self.p * other.p
    }
}

impl AddAssign for State {
    fn add_assign(&mut self, other: State) {
        *self = *self + other;
    }
}

#[differentiable]
fn lerp<T: Copy + Add<Output = T> + Mul<f64, Output = T>>(a: T, b: T, t: f64) -> T {
    a * (1.0 - t) + b * t
}

/// One function for a number and for a struct, which is a closure's parameter as well.
#[differentiable]
fn rk4<S>(y: S, t: f64, h: f64, f: impl Fn(f64, S) -> S) -> S
where
    S: Copy + Add<Output = S> + Mul<f64, Output = S>,
{
    let k1 = f(t, y);
    let k2 = f(t + h / 2.0, y + k1 * (h / 2.0));
    let k3 = f(t + h / 2.0, y + k2 * (h / 2.0));
    let k4 = f(t + h, y + k3 * h);
    y + (k1 + k2 * 2.0 + k3 * 2.0 + k4) * (h / 6.0)
}

#[differentiable]
fn oscillator(start: State, k: f64, n: usize) -> f64 {
    let mut s = start;
    let h = 1.0 / n as f64;
    for i in 0..n {
        s = rk4(s, i as f64 * h, h, |t, s: State| State { q: s.p, p: -k * s.q + 0.1 * t });
    }
    s = lerp(s, start, k * k);
    0.5 * s.p * s.p + 0.5 * k * s.q * s.q
}

#[differentiable]
fn decay(y: f64, k: f64, n: usize) -> f64 {
    let mut y = y;
    for _ in 0..n {
        y = rk4(y, 0.0, 0.1, |_, y| -k * y);
    }
    lerp(y, k, 0.3 * y)
}

/// Slices, arrays and vectors of them, written to and built.
#[differentiable]
fn de_casteljau<P>(points: &[P], t: f64) -> P
where
    P: Copy + Add<Output = P> + Mul<f64, Output = P>,
{
    let mut q = points.to_vec();
    for r in 1..points.len() {
        for i in 0..points.len() - r {
            q[i] = lerp(q[i], q[i + 1], t);
        }
    }
    q[0]
}

#[differentiable]
fn chaikin<P: Copy + Add<Output = P> + Mul<f64, Output = P>>(points: &[P]) -> Vec<P> {
    let mut out = Vec::with_capacity(2 * points.len());
    for w in points.windows(2) {
        out.push(w[0] * 0.75 + w[1] * 0.25);
        out.push(w[0] * 0.25 + w[1] * 0.75);
    }
    out
}

#[differentiable]
fn ends<P: Copy + Add<Output = P> + Mul<f64, Output = P>>([a, b, c]: [P; 3]) -> (P, P) {
    (a + b * 0.5, b * 0.5 + c)
}

#[differentiable]
fn weighted<P: Copy + Add<Output = P> + Mul<f64, Output = P>>(p: &[P], w: &[f64]) -> P {
    p.iter().zip(w).skip(1).fold(p[0] * w[0], |sum, (p, w)| sum + *p * *w)
}

#[differentiable]
fn of_states(p: &[State], w: &[f64], t: f64) -> f64 {
    let (b, s) = (de_casteljau(p, t), weighted(p, w));
    let c: Vec<State> = chaikin(p);
    let (d, e) = ends([p[0], p[1], s]);
    b * s + c[1].q * c[0].p + d * e
}

#[differentiable]
fn of_numbers(p: &[f64], w: &[f64], t: f64) -> f64 {
    let (b, s) = (de_casteljau(p, t), weighted(p, w));
    let c: Vec<f64> = chaikin(p);
    let (d, e) = ends([p[0], p[1], s]);
    b * s + c[1] * c[0] + d * e
}

/// A number from the left, a result of another type, differences, signs and quotients.
#[differentiable]
fn quadratic<P: Copy + Add<Output = P>>(p: [P; 3], t: f64) -> P
where
    f64: Mul<P, Output = P>,
{
    let (a, b, c): (f64, f64, f64) = ((1.0 - t).powi(2), t.sin(), t.powi(2));
    a * p[0] + b * p[1] + c * p[2]
}

#[differentiable]
fn length<T: Copy + Mul<Output = f64> + Sub<Output = T>>(p: &[T]) -> f64 {
    let mut sum = 0.0;
    for w in p.windows(2) {
        let d = w[1] - w[0];
        sum += (d * d).sqrt();
    }
    sum
}

#[differentiable]
fn mirrored_mean<P>(p: &[P]) -> P
where
    P: Copy + Default + AddAssign + Add<Output = P> + Div<f64, Output = P> + Neg<Output = P>,
{
    let mut sum = P::default();
    for p in p {
        sum += *p;
    }
    -sum / p.len() as f64
}

#[differentiable]
fn with_other_operators(p: [State; 3], t: f64) -> f64 {
    length(&p) + quadratic(p, t) * mirrored_mean(&p)
}

/// In place.
#[differentiable]
fn kick<S>(y: &mut [S], last: &mut S, f: impl Fn(S) -> S, h: f64)
where
    S: Copy + Add<Output = S> + Mul<f64, Output = S>,
{
    for y in y.iter_mut() {
        let k = f(*y);
        *y = *y + f(*y + k * h) * h;
        *last = *last + *y;
    }
}

#[differentiable]
fn kicked(a: State, b: State, h: f64) -> f64 {
    let (mut states, mut sum) = ([a, b], a);
    kick(&mut states, &mut sum, |s: State| State { q: s.p, p: -s.q * h }, h);
    let (mut numbers, mut total) = ([h, b.q], 0.0);
    kick(&mut numbers, &mut total, |s| -s * h, h);
    states[0] * states[1] + numbers[0] * numbers[1] * total + sum.q
}

/// Of a type of the user's, and with the float a parameter as well.
#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
struct Line<P> {
    origin: P,
    direction: P,
}

#[differentiable]
impl<P: Copy + Add<Output = P> + Mul<f64, Output = P>> Line<P> {
    fn at(&self, t: f64) -> P {
        self.origin + self.direction * t
    }
    fn between(self, a: f64, b: f64) -> P {
        self.at((a + b) / 2.0)
    }
}

#[differentiable]
fn scaled<S: Copy + Add<Output = S> + Mul<T, Output = S>, T: pullback::Float>(a: S, b: S, w: T) -> S {
    a * (w * w) + b
}

#[differentiable]
fn along(origin: State, direction: State, t: f64) -> f64 {
    let line = Line { origin, direction };
    let p = scaled(line.at(t), line.between(t, 2.0), t);
    p.q * p.p
}

/// A trait that is marked asks for the rules, and so does one for all types that have the operators.
#[differentiable]
trait Space: Copy + Add<Output = Self> + Mul<f64, Output = Self> {
    fn norm(self) -> f64;
    fn towards(self, other: Self, t: f64) -> Self {
        self * (1.0 - t) + other * t
    }
}

#[differentiable]
impl Space for State {
    fn norm(self) -> f64 {
        self.q.hypot(self.p)
    }
}

#[differentiable]
impl Space for f64 {
    fn norm(self) -> f64 {
        self.abs()
    }
}

#[differentiable]
trait Linear: Copy + Add<Output = Self> + Mul<f64, Output = Self> {}

#[differentiable]
impl<T: Copy + Add<Output = T> + Mul<f64, Output = T>> Linear for T {}

#[differentiable]
fn euler<S: Space>(y: S, v: S, h: f64) -> f64 {
    (y + v * h).towards(v, h * h).norm()
}

#[differentiable]
fn middle<S: Linear>(a: S, b: S) -> S {
    (a + b) * 0.5
}

#[differentiable]
fn of_traits(y: State, v: State, h: f64) -> f64 {
    euler(y, middle(y, v), h) + euler(middle(y.q, h), v.p, h)
}

#[test]
fn numbers_and_structs() {
    let [a, b, c] = [State { q: 0.3, p: 1.2 }, State { q: -0.7, p: 0.4 }, State { q: 1.1, p: 0.9 }];
    check_rule(oscillator::rule, [(a, 0.5, 4), (b, 1.5, 7)]);
    check_rule(decay::rule, [(0.3, 0.4, 3), (1.3, 0.2, 10)]);
    check_rule(
        of_states::rule,
        [(vec![a, b, c], vec![0.2, 0.4, 0.6], 0.3), (vec![c, a], vec![0.2, 0.3], 0.2)],
    );
    check_rule(
        of_numbers::rule,
        [(vec![0.3, 1.2, 0.7], vec![0.2, 0.4, 0.6], 0.3), (vec![0.3, 0.7], vec![0.2, 0.3], 0.2)],
    );
}

#[test]
fn operators() {
    let [a, b, c] = [State { q: 0.3, p: 1.2 }, State { q: -0.7, p: 0.4 }, State { q: 1.1, p: 0.9 }];
    check_rule(with_other_operators::rule, [([a, b, c], 0.3), ([c, a, b], 0.6)]);
    check_rule(kicked::rule, [(a, b, 0.3), (b, c, 0.2)]);
    check_rule(along::rule, [(a, b, 0.3), (b, c, 0.2)]);
    check_rule(of_traits::rule, [(a, b, 0.3), (b, c, 0.2)]);
}
