//! Structs that own memory, taken by value: changed, taken apart, handed on and returned, as functions and as methods of theirs.

use pullback::differentiable;
use pullback::prelude::*;
use pullback::testing::{check_gradient, check_rule};

#[derive(Clone, Debug, Differentiable)]
struct State {
    x: Vec<f64>,
    t: f64,
}

#[differentiable]
fn step(state: State, dt: f64) -> State {
    let x: Vec<f64> = state.x.iter().map(|x| x + dt * x.sin()).collect();
    State { x, t: state.t + dt }
}

#[differentiable]
fn stepped(mut state: State, dt: f64) -> State {
    for x in state.x.iter_mut() {
        *x += dt * x.sin();
    }
    state.x.push(dt);
    state.t += dt * state.x[0];
    state
}

#[differentiable]
fn simulated(a: &[f64], dt: f64) -> f64 {
    let mut state = State { x: a.to_vec(), t: 0.0 };
    for _ in 0..a.len() + 1 {
        state = step(state, dt);
    }
    state.x[0] + state.x[a.len() - 1] * state.t
}

#[differentiable]
fn in_place(a: &[f64], dt: f64) -> f64 {
    let mut state = State { x: a.to_vec(), t: dt };
    for i in 0..a.len() + 1 {
        state = stepped(state, dt);
        if i == 1 {
            state = step(state, 2.0 * dt);
        }
    }
    state.x.iter().map(|x| x * x).sum::<f64>() * state.t
}

#[differentiable]
fn returned(a: &[f64], dt: f64) -> State {
    let mut state = State { x: a.to_vec(), t: dt };
    for _ in 0..3 {
        state = stepped(state, dt);
    }
    state
}

/// The parameter is passed on, and the result of a call is.
#[differentiable]
fn twice(#[pullback(by_reference)] state: State, dt: f64) -> State {
    let half = step(state, 0.5 * dt);
    let t = half.x[0];
    let whole = stepped(half, 0.5 * dt);
    step(whole, t * dt)
}

#[differentiable]
fn handed_on(a: &[f64], dt: f64) -> f64 {
    let start = State { x: a.to_vec(), t: dt };
    let state = twice(start, dt);
    state.x[0] * state.t
}

#[derive(Clone, Debug, Differentiable)]
struct Model {
    w: Vec<f64>,
    b: f64,
}

#[differentiable]
impl Model {
    fn new(w: &[f64]) -> Self {
        Self { w: w.to_vec(), b: 0.0 }
    }
    fn with_bias(mut self, b: f64) -> Self {
        self.b = b;
        self
    }
    fn scaled(mut self, k: f64) -> Self {
        for w in self.w.iter_mut() {
            *w *= k;
        }
        self
    }
    fn with_weight(mut self, w: f64) -> Self {
        self.w.push(w);
        self
    }
    fn into_weights(self) -> Vec<f64> {
        self.w
    }
    fn biased(self) -> Self {
        Self { w: self.w, b: self.b + 1.0 }
    }
    fn predict(&self, x: &[f64]) -> f64 {
        self.w.iter().zip(x).map(|(w, x)| w * x).sum::<f64>() + self.b
    }
}

#[differentiable]
fn built(a: &[f64], k: f64) -> f64 {
    let m = Model::new(a).with_bias(k).scaled(k * k).biased();
    m.predict(a)
}

#[differentiable]
fn built_in_a_loop(a: &[f64], k: f64) -> f64 {
    let mut m = Model::new(a);
    for i in 0..a.len() {
        m = m.with_weight(a[i] * k).with_bias(a[i]);
        m = m.scaled(k);
    }
    m.predict(a) + m.predict(&m.w)
}

#[differentiable]
fn weights(a: &[f64], k: f64) -> Vec<f64> {
    let m = Model::new(a).scaled(k);
    m.into_weights()
}

#[differentiable]
fn weights_used(a: &[f64], k: f64) -> f64 {
    let w = Model::new(a).scaled(k).into_weights();
    w.iter().map(|w| w * w).sum()
}

#[derive(Clone, Debug, Differentiable)]
struct Orbit {
    x: Vec<f64>,
    p: Vec<f64>,
    t: f64,
}

/// Taken apart, and made anew.
#[differentiable]
fn drifted(#[pullback(by_reference)] orbit: Orbit, dt: f64) -> Orbit {
    let Orbit { mut x, p, t } = orbit;
    for i in 0..x.len() {
        x[i] += dt * p[i];
    }
    Orbit { x, p, t: t + dt }
}

#[differentiable]
fn kicked(orbit: Orbit, dt: f64) -> Orbit {
    let p: Vec<f64> = orbit.x.iter().zip(&orbit.p).map(|(x, p)| p - dt * x).collect();
    Orbit { x: orbit.x, p, t: orbit.t }
}

/// The fields that are not written out are those of the other struct.
#[differentiable]
fn cooled(orbit: Orbit, k: f64) -> Orbit {
    let p: Vec<f64> = orbit.p.iter().map(|p| p * k).collect();
    Orbit { p, t: orbit.t * k, ..orbit }
}

#[differentiable]
fn annealed(a: &[f64], k: f64) -> f64 {
    let mut orbit = Orbit { x: a.to_vec(), p: vec![k; a.len()], t: 0.5 };
    for _ in 0..3 {
        orbit = cooled(orbit, k);
        orbit = Orbit { t: orbit.t + orbit.x[0], ..orbit };
    }
    energy(orbit)
}

#[differentiable]
fn grown(orbit: Orbit, dt: f64) -> Orbit {
    let t = orbit.t;
    let mut x = orbit.x;
    let p = orbit.p;
    x.push(t * dt);
    x.remove(0);
    let first = x[0];
    Orbit { x, p, t: t + first }
}

#[differentiable]
fn replaced(mut orbit: Orbit, dt: f64) -> Orbit {
    orbit.p = orbit.x.iter().map(|x| x.sin() * dt).collect();
    orbit
}

#[differentiable]
fn energy(#[pullback(by_reference)] orbit: Orbit) -> f64 {
    orbit.x.iter().zip(&orbit.p).map(|(x, p)| x * x + p * p).sum::<f64>() * orbit.t
}

/// Half a kick, a drift, half a kick, and each has the memory of the one before.
#[differentiable]
fn leapfrog(a: &[f64], dt: f64) -> f64 {
    let mut orbit = Orbit { x: a.to_vec(), p: vec![dt; a.len()], t: 0.5 };
    for _ in 0..4 {
        orbit = kicked(orbit, 0.5 * dt);
        orbit = drifted(orbit, dt);
        orbit = kicked(orbit, 0.5 * dt);
    }
    energy(orbit)
}

#[differentiable]
fn parts(a: &[f64], dt: f64) -> f64 {
    let orbit = Orbit { x: a.to_vec(), p: vec![dt; a.len()], t: 0.5 };
    let orbit = grown(orbit, dt);
    let orbit: Orbit = replaced(orbit, dt);
    energy(drifted(orbit, dt))
}

/// A field that something else takes the place of, behind a reference.
#[differentiable]
impl Orbit {
    fn advance(&mut self, dt: f64) {
        self.x = self.x.iter().zip(&self.p).map(|(x, p)| x + dt * p).collect();
        self.p = vec![self.t * self.x[0]; self.p.len()];
        self.t += dt;
    }
}

#[differentiable]
fn advanced(a: &[f64], dt: f64) -> f64 {
    let mut orbit = Orbit { x: a.to_vec(), p: vec![dt; a.len()], t: 0.5 };
    for _ in 0..3 {
        orbit.advance(dt);
    }
    energy(orbit)
}

#[differentiable]
fn literal(a: &[f64], dt: f64) -> f64 {
    energy(Orbit { x: a.to_vec(), p: vec![dt; a.len()], t: a[0] })
}

/// Made in branches, of what is outside of them.
#[differentiable]
fn chosen(x: &[f64], k: f64) -> Model {
    let v = x.to_vec();
    if k > 0.5 { Model { w: v, b: k } } else { Model { w: vec![k; x.len()], b: v[0] } }
}

#[differentiable]
fn guarded(x: &[f64], k: f64) -> Model {
    if k > 0.5 {
        return Model { w: vec![k], b: x[0] };
    }
    let v = x.to_vec();
    if k < 0.2 {
        return Model { w: v, b: k };
    }
    let w: Vec<f64> = v.iter().map(|v| v * k).collect();
    Model { w, b: v[0] }
}

#[differentiable]
fn unless_small(m: Model, k: f64) -> Model {
    if k < 0.2 {
        return m;
    }
    let w: Vec<f64> = m.w.iter().map(|w| w * k).collect();
    Model { w, b: m.b * k }
}

#[differentiable]
fn assigned_in_a_branch(x: &[f64], k: f64) -> f64 {
    let v = x.to_vec();
    let mut m = Model { w: vec![k], b: 1.0 };
    if k > 0.5 {
        m = Model { w: v, b: k };
    }
    for i in 0..3 {
        m = unless_small(m, k * i as f64);
    }
    m.w[0] * m.b
}

#[test]
fn taken() {
    let inputs = || [(vec![0.5, 0.7, 0.9], 0.3), (vec![0.4, 0.2], 0.7)];
    check_rule(simulated::rule, inputs());
    check_rule(in_place::rule, inputs());
    check_rule(returned::rule, inputs());
    check_rule(handed_on::rule, inputs());
    check_rule(built::rule, inputs());
    check_rule(built_in_a_loop::rule, inputs());
    check_rule(weights::rule, inputs());
    check_rule(weights_used::rule, inputs());
    check_rule(leapfrog::rule, inputs());
    check_rule(parts::rule, inputs());
    check_rule(advanced::rule, inputs());
    check_rule(literal::rule, inputs());
}

#[test]
fn in_branches() {
    let inputs = || [(vec![0.5, 0.7, 0.9], 0.6), (vec![0.4, 0.2], 0.15), (vec![0.4, 0.2, 0.8], 0.4)];
    check_rule(chosen::rule, inputs());
    check_rule(guarded::rule, inputs());
    check_rule(assigned_in_a_branch::rule, inputs());
}

/// Of a field that is replaced there has been a copy, too.
#[test]
fn updated() {
    let mut g = annealed::gradient();
    check_gradient(
        |(a, k): &mut (Vec<f64>, f64)| annealed(a, *k),
        |(a, k)| {
            let (value, d) = g.value_and_gradient(a, *k);
            (value, (d.a.to_vec(), d.k))
        },
        [(vec![0.5, 0.7, 0.9], 0.6), (vec![0.4], 0.7)],
    );
}

/// Another name for vectors of vectors.
type Mat = Vec<Vec<f64>>;

#[differentiable]
fn scaled(#[pullback(by_reference)] mut m: Mat, k: f64) -> Mat {
    for row in m.iter_mut() {
        for x in row.iter_mut() {
            *x *= k;
        }
    }
    m
}

#[differentiable]
fn trace(#[pullback(by_reference)] m: Mat) -> f64 {
    (0..m.len()).map(|i| m[i][i]).sum()
}

#[differentiable]
fn of_aliases(a: &[f64], k: f64) -> f64 {
    let m = vec![vec![a[0], 1.0], vec![k, a[1]]];
    let s: Mat = scaled(m, k);
    let t: Mat = scaled(s, a[0]);
    trace(t)
}

#[test]
fn aliases() {
    check_rule(of_aliases::rule, [(vec![0.5, 0.7], 0.6), (vec![0.4, 0.2, 0.3], 0.4)]);
}
