//! Methods and associated functions of users' types.

use std::cell::Cell;

use pullback::prelude::*;
use pullback::testing::{allocations_in, check_rule};
use pullback::{Accumulate, Element, Float, Scalar, Tangent, Value};

use crate::differences::check;

/// A struct of scalars as it looks to the engine; written out, since it is not what is tested here.
macro_rules! plain {
    ($name:ident<$T:ident>, $cells:ident { $($field:ident),* }) => {
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[repr(C)]
        pub struct $name<$T> {
            $(pub $field: $T,)*
        }

        #[repr(C)]
        pub struct $cells<$T> {
            $(pub $field: Cell<$T>,)*
        }

        impl<$T: Scalar> Value for $name<$T> {
            type Tangent = $name<$T>;
        }

        impl<$T: Scalar> pullback::Output for $name<$T> {
            type Cotangent<'a> = $name<$T>;
            type Gradient = $name<$T>;
            fn empty() -> $name<$T> {
                Tangent::zero()
            }
            fn prepare(&self, gradient: &mut $name<$T>) {
                *gradient = Tangent::zero();
            }
            fn lend(gradient: &$name<$T>) -> $name<$T> {
                *gradient
            }
            fn copy(gradient: &mut $name<$T>, cotangent: $name<$T>) {
                *gradient = cotangent;
            }
            fn size(_: &$name<$T>) -> usize {
                0
            }
            fn gradient_size(_: &$name<$T>) -> usize {
                0
            }
        }

        impl<$T: Scalar> Tangent for $name<$T> {
            fn zero() -> Self {
                $name { $($field: $T::default(),)* }
            }
            fn accumulate(&mut self, other: Self) {
                $(self.$field += other.$field;)*
            }
        }

        impl<$T: Scalar> Accumulate for $cells<$T> {
            type Tangent = $name<$T>;
            fn accumulate(&self, gradient: $name<$T>) {
                $(self.$field.accumulate(gradient.$field);)*
            }
            fn read(&self) -> $name<$T> {
                $name { $($field: self.$field.get(),)* }
            }
            fn take(&self) -> $name<$T> {
                $name { $($field: self.$field.take(),)* }
            }
        }

        // SAFETY: both are `repr(C)`, and a `Cell` has the layout of what it holds.
        unsafe impl<$T: Scalar> Element for $name<$T> {
            type Cells = $cells<$T>;
        }
    };
}

pub(crate) use plain;

plain!(Spring<T>, SpringCells { k, rest });
plain!(State<T>, StateCells { position, speed });

#[differentiable]
impl Spring<f64> {
    /// By reference, with a slice.
    fn energy(&self, x: &[f64]) -> f64 {
        let mut total = 0.0;
        for i in 0..x.len() {
            let d = self.displacement(x[i]);
            total += 0.5 * self.k * d * d;
        }
        total
    }

    fn displacement(&self, x: f64) -> f64 {
        (x - self.rest).abs() + Self::offset(self.rest)
    }

    /// Of no receiver.
    fn offset(rest: f64) -> f64 {
        rest * rest
    }

    /// By value.
    fn stiffness(self) -> f64 {
        self.k * self.rest.exp()
    }

    fn scaled(self, factor: f64, other: Spring<f64>) -> f64 {
        self.k * factor * other.rest + other.k
    }

    /// By itself, of itself.
    fn chain(&self, x: f64, n: usize) -> f64 {
        if n == 0 { self.k * x } else { x.sin() * self.chain(x * self.rest, n - 1) }
    }

    fn tower(k: f64, n: usize) -> f64 {
        if n == 0 { k } else { k * Self::tower(k.cos(), n - 1) }
    }

    /// With a name of a number's method.
    fn exp(self) -> f64 {
        self.k.exp() * self.rest
    }

    #[constant]
    fn describe(&self) -> String {
        format!("{} at {}", self.k, self.rest)
    }

    #[constant]
    fn new(k: f64, rest: f64) -> Self {
        Spring { k, rest }
    }
}

#[differentiable]
impl<T: Float> State<T> {
    /// Writes to the receiver, and says something about it.
    fn step(&mut self, k: T, dt: T) -> T {
        self.speed -= k * self.position * dt;
        self.position += self.speed * dt;
        self.energy(k)
    }

    fn kick(&mut self, by: T) {
        self.speed = self.speed * by + self.position;
    }

    fn energy(&self, k: T) -> T {
        k * self.position * self.position + self.speed * self.speed
    }

    /// Generic by itself.
    fn weighted<const N: usize>(&self, weights: [T; N], x: &mut [T]) -> T {
        let mut total = T::zero();
        for i in 0..N {
            x[i] *= self.position;
            total += weights[i] * x[i] * self.speed;
        }
        total
    }

    fn run(&mut self, k: T, dt: T, steps: usize) -> T {
        let mut total = T::zero();
        for i in 0..steps {
            let e = self.step(k, dt);
            if e > T::one() {
                self.kick(dt);
            }
            total += e * self.energy(dt);
        }
        total
    }
}

#[differentiable]
fn calls(spring: &Spring<f64>, state: &mut State<f64>, x: &[f64], n: usize) -> f64 {
    let mut total = spring.energy(x) * 2.0 + Spring::<f64>::offset(x[0]);
    for i in 0..n {
        total += state.step(spring.k, 0.1 * x[i % x.len()]);
        let here = spring.displacement(state.position) * spring.energy(&x[1..]);
        state.kick(here);
        total = total * 0.5 + Spring::displacement(spring, total);
    }
    let last = state.run(total, 0.1, 2);
    last + spring.chain(total, 2) + Spring::<f64>::tower(total, 2)
}

#[differentiable]
fn by_value(spring: Spring<f64>, other: Spring<f64>, x: f64, n: usize) -> f64 {
    let mut total = spring.stiffness() + other.exp();
    for i in 0..n {
        total += spring.scaled(x, other) * x + spring.energy(&[1.0, 2.0]);
        if i > 0 {
            total *= other.scaled(total, spring);
        }
    }
    total + spring.exp() * x
}

#[differentiable]
fn of_locals(spring: Spring<f64>, x: f64) -> f64 {
    let mut state = start(spring, x);
    let e = state.step(x, 0.5);
    state.kick(e);
    let fixed = start(spring, e);
    let mut buffer = [x, 1.0, e];
    let w = state.weighted([x, 2.0], &mut buffer);
    fixed.energy(x) * state.energy(e) + start(spring, w).energy(x) + buffer[1] * w
}

/// A rule by hand, for what takes a struct literal.
fn start(spring: Spring<f64>, x: f64) -> State<f64> {
    State { position: spring.rest * x, speed: spring.k }
}

#[derive(Rule, Default)]
#[rule(fn start(spring: Spring<f64>, x: f64) -> State<f64>)]
struct Start;

impl Start {
    fn forward(&mut self, spring: Spring<f64>, x: f64) -> State<f64> {
        start(spring, x)
    }
    fn pullback(&mut self, spring: Spring<f64>, x: f64, d: State<f64>) -> (Spring<f64>, f64) {
        (Spring { k: d.speed, rest: d.position * x }, d.position * spring.rest)
    }
}

#[differentiable]
fn elements(springs: &[Spring<f64>], states: &mut [State<f64>], k: f64) -> f64 {
    let mut total = k;
    for i in 0..springs.len() {
        total += springs[i].displacement(total) * springs[0].stiffness();
        let e = states[i].step(springs[i].k, 0.2);
        let first = &mut states[0];
        first.kick(e);
        total = total * 0.3 + e;
    }
    total
}

#[differentiable]
fn generic<T: Float>(state: &mut State<T>, k: T, n: usize) -> T {
    let mut total = k;
    for i in 0..n {
        let e = state.step(k, total);
        total = total * e + state.energy(k) * T::from_f64(0.5);
    }
    total
}

/// Methods of what is constant stay as they are.
#[differentiable]
fn constant_receiver(#[constant] spring: &Spring<f64>, x: f64) -> f64 {
    assert!(!spring.describe().is_empty());
    let fresh = Spring::new(1.5, 0.5);
    let mut counter = Counter { n: 0 };
    counter.count();
    let n = counter.count();
    spring.energy(&[1.0]) * x * fresh.stiffness() * n as f64 + spring.chain(x, 2) + fresh.displacement(x)
}

struct Counter {
    n: usize,
}

impl Counter {
    fn count(&mut self) -> usize {
        self.n += 1;
        self.n
    }
}

const SPRING: Spring<f64> = Spring { k: 1.2, rest: 0.4 };
const STATE: State<f64> = State { position: 0.3, speed: 0.7 };

#[test]
fn gradients_of_methods() {
    let mut g = Spring::energy_gradient();
    let x = [0.5, 0.9, 0.1];
    let (value, d) = g.value_and_gradient(&SPRING, &x);
    assert_eq!(value, SPRING.energy(&x));
    let of = |p: [f64; 5]| Spring { k: p[0], rest: p[1] }.energy(&p[2..]);
    check([1.2, 0.4, 0.5, 0.9, 0.1], of, [d.self_.k, d.self_.rest, d.x[0], d.x[1], d.x[2]]);

    let mut g: Spring_scaled = Spring::scaled_gradient();
    let (_, d) = g.value_and_gradient(SPRING, 0.7, Spring { k: 0.3, rest: 0.6 });
    assert_eq!((d.self_.k, d.factor, d.other), (0.7 * 0.6, 1.2 * 0.6, Spring { k: 1.0, rest: 1.2 * 0.7 }));
    assert_eq!(Spring::offset_gradient().value_and_gradient(3.0).1.rest, 6.0);

    let mut g = State::<f64>::run_gradient();
    let mut state = STATE;
    let (value, d) = g.value_and_gradient(&mut state, 1.3, 0.4, 5);
    assert_eq!(state, STATE);
    let run = |p: [f64; 4]| State { position: p[0], speed: p[1] }.run(p[2], p[3], 5);
    assert_eq!(value, run([0.3, 0.7, 1.3, 0.4]));
    check([0.3, 0.7, 1.3, 0.4], run, [d.self_.position, d.self_.speed, d.k, d.dt]);
    let (_, count) = allocations_in(|| g.value_and_gradient(&mut state, 1.3, 0.4, 5).0);
    assert_eq!(count, 0);
}

#[test]
fn calls_of_methods() {
    let of = |p: [f64; 7]| {
        let mut state = State { position: p[2], speed: p[3] };
        calls(&Spring { k: p[0], rest: p[1] }, &mut state, &p[4..], 3)
    };
    let mut g = calls::gradient();
    let mut state = STATE;
    let x = [0.5, 0.9, 0.1];
    let (value, d) = g.value_and_gradient(&SPRING, &mut state, &x, 3);
    assert_eq!(state, STATE);
    let at = [1.2, 0.4, 0.3, 0.7, 0.5, 0.9, 0.1];
    assert_eq!(value, of(at));
    let (spring, s) = (d.spring, d.state);
    check(at, of, [spring.k, spring.rest, s.position, s.speed, d.x[0], d.x[1], d.x[2]]);
    let (_, count) = allocations_in(|| g.value_and_gradient(&SPRING, &mut state, &x, 3).0);
    assert_eq!(count, 0);

    let of = |p: [f64; 5]| by_value(Spring { k: p[0], rest: p[1] }, Spring { k: p[2], rest: p[3] }, p[4], 3);
    let mut g = by_value::gradient();
    let (value, d) = g.value_and_gradient(SPRING, Spring { k: 0.3, rest: 0.6 }, 0.8, 3);
    assert_eq!(value, of([1.2, 0.4, 0.3, 0.6, 0.8]));
    check([1.2, 0.4, 0.3, 0.6, 0.8], of, [d.spring.k, d.spring.rest, d.other.k, d.other.rest, d.x]);

    let of = |p: [f64; 3]| of_locals(Spring { k: p[0], rest: p[1] }, p[2]);
    let mut g = of_locals::gradient();
    let (value, d) = g.value_and_gradient(SPRING, 0.8);
    assert_eq!(value, of([1.2, 0.4, 0.8]));
    check([1.2, 0.4, 0.8], of, [d.spring.k, d.spring.rest, d.x]);
}

#[test]
fn methods_of_elements() {
    let of = |p: [f64; 9]| {
        let springs = [Spring { k: p[0], rest: p[1] }, Spring { k: p[2], rest: p[3] }];
        let mut states = [State { position: p[4], speed: p[5] }, State { position: p[6], speed: p[7] }];
        elements(&springs, &mut states, p[8])
    };
    let springs = [SPRING, Spring { k: 0.3, rest: 0.6 }];
    let mut states = [STATE, State { position: 0.2, speed: 0.5 }];
    let before = states;
    let mut g = elements::gradient();
    let (value, d) = g.value_and_gradient(&springs, &mut states, 0.9);
    assert_eq!(states, before);
    let at = [1.2, 0.4, 0.3, 0.6, 0.3, 0.7, 0.2, 0.5, 0.9];
    assert_eq!(value, of(at));
    let [a, b] = [d.springs[0], d.springs[1]];
    let [s, t] = [d.states[0], d.states[1]];
    check(at, of, [a.k, a.rest, b.k, b.rest, s.position, s.speed, t.position, t.speed, d.k]);
}

#[test]
fn generic_calls_and_constant_receivers() {
    let mut state = STATE;
    let mut g = generic::<f64>::gradient();
    let of = |p: [f64; 3]| generic(&mut State { position: p[0], speed: p[1] }, p[2], 3);
    let (value, d) = g.value_and_gradient(&mut state, 0.8, 3);
    assert_eq!((value, state), (of([0.3, 0.7, 0.8]), STATE));
    check([0.3, 0.7, 0.8], of, [d.state.position, d.state.speed, d.k]);

    let mut g = constant_receiver::gradient();
    let (value, d) = g.value_and_gradient(&SPRING, 0.6);
    assert_eq!(value, constant_receiver(&SPRING, 0.6));
    check([0.6], |p| constant_receiver(&SPRING, p[0]), [d.x]);
}

#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
struct Turn {
    cos: f64,
    sin: f64,
}

#[differentiable]
impl Turn {
    const NONE: Turn = Turn { cos: 1.0, sin: 0.0 };

    fn by(angle: f64) -> Self {
        Turn { cos: angle.cos(), sin: angle.sin() }
    }

    fn then(&self, other: &Self) -> Self {
        Turn {
            cos: self.cos * other.cos - self.sin * other.sin,
            sin: self.sin * other.cos + self.cos * other.sin,
        }
    }
}

/// What is replaced is lent to the call, along with what is made for it.
#[differentiable]
fn composed(angles: &[f64], scale: f64) -> f64 {
    let mut turn = Turn::by(scale);
    for angle in angles {
        turn = turn.then(&Turn::by(scale * angle));
    }
    let folded = angles.iter().fold(Turn::NONE, |turn, angle| turn.then(&Turn::by(angle * angle)));
    turn.cos + folded.sin * scale
}

#[test]
fn results_replace_receivers() {
    check_rule(composed::rule, [(vec![0.3, 0.5, 1.1], 0.7), (vec![], 0.4)]);
}

#[derive(Clone, Copy, Debug, Differentiable)]
struct Gates<const N: usize> {
    weights: [[f64; N]; 2],
}

#[differentiable]
fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

#[differentiable]
impl<const N: usize> Gates<N> {
    fn gate(&self, k: usize, x: f64) -> [f64; N] {
        std::array::from_fn(|i| self.weights[k][i] * x)
    }

    /// What a method returns is an array.
    fn step(&self, x: f64) -> f64 {
        let open = self.gate(0, x).map(logistic);
        let other = self.gate(1, x).map(f64::tanh);
        let mut sum = self.gate(1, 0.5).map(|v| v * x)[0];
        for i in 0..N {
            sum += open[i] * other[i];
        }
        sum
    }
}

#[differentiable]
fn twice(gates: &Gates<3>, x: f64) -> f64 {
    let halves = gates.gate(0, x).map(|v| v / 2.0);
    halves[0] * halves[2] * gates.step(x)
}

#[test]
fn arrays_that_methods_return() {
    let gates = Gates { weights: [[0.3, -0.4, 0.7], [0.2, 0.9, -0.5]] };
    check_rule(Gates::<3>::step_rule, [(gates, 0.4), (gates, -1.1)]);
    check_rule(twice::rule, [(gates, 0.4), (gates, -1.1)]);
}
