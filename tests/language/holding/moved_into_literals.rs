//! What calls have returned goes into literals of structs, as a local of which nothing tells the type: vectors as well as numbers.

use pullback::prelude::*;
use pullback::testing::check_rule;

#[derive(Clone, Debug, Differentiable)]
pub struct Item {
    mass: f64,
    v: Vec<f64>,
}

#[derive(Clone, Debug, Differentiable)]
pub struct Two {
    a: Vec<f64>,
    b: Vec<f64>,
    n: usize,
    k: f64,
}

#[differentiable]
fn ramp(n: usize, slope: f64) -> Vec<f64> {
    (0..n).map(|i| slope * i as f64).collect()
}

#[differentiable]
fn square(x: f64) -> f64 {
    x * x
}

#[test]
fn returned() {
    #[differentiable]
    fn item(n: usize, mass: f64) -> Item {
        let v = ramp(n, mass);
        Item { mass: 2.0 * mass, v }
    }
    #[differentiable]
    fn in_a_tuple(n: usize, mass: f64) -> (Item, f64) {
        let v = ramp(n, mass);
        (Item { mass: 2.0 * mass, v }, mass)
    }
    #[differentiable]
    fn in_an_option(n: usize, mass: f64) -> Option<Item> {
        if n == 0 {
            return None;
        }
        let v = ramp(n, mass);
        Some(Item { mass, v })
    }
    #[differentiable]
    fn in_a_result(n: usize, mass: f64) -> Result<Item, String> {
        if n == 0 {
            return Err("nothing".to_string());
        }
        let v = ramp(n, mass);
        Ok(Item { mass, v })
    }
    check_rule(item::rule, [(3, 0.5), (2, 0.7)]);
    check_rule(in_a_tuple::rule, [(3, 0.5), (2, 0.7)]);
    check_rule(in_an_option::rule, [(3, 0.5), (2, 0.7), (0, 0.1)]);
    check_rule(in_a_result::rule, [(3, 0.5), (2, 0.7), (0, 0.1)]);
}

#[test]
fn in_branches() {
    #[differentiable]
    fn in_each(n: usize, mass: f64) -> Item {
        if n > 2 {
            let v = ramp(n, mass);
            Item { mass: 2.0 * mass, v }
        } else {
            Item { mass, v: ramp(1, mass * mass) }
        }
    }
    #[differentiable]
    fn chosen(n: usize, mass: f64) -> Item {
        let v = if n > 2 { ramp(n, mass) } else { ramp(2, mass * mass) };
        Item { mass, v }
    }
    check_rule(in_each::rule, [(3, 0.5), (2, 0.7)]);
    check_rule(chosen::rule, [(3, 0.5), (2, 0.7)]);
}

#[test]
fn looked_at_before() {
    #[differentiable]
    fn measured(n: usize, mass: f64) -> Two {
        let a = ramp(n, mass);
        let b = ramp(n + 1, mass * mass);
        let n = a.len() + b.len();
        Two { a, b, n, k: mass }
    }
    #[differentiable]
    fn summed(n: usize, mass: f64) -> Two {
        let a = ramp(n, mass);
        let k: f64 = a.iter().sum();
        let b = ramp(n + 1, k);
        Two { a, b, n, k }
    }
    check_rule(measured::rule, [(3, 0.5), (2, 0.7)]);
    check_rule(summed::rule, [(3, 0.5), (2, 0.7)]);
}

#[derive(Clone, Debug, Differentiable)]
struct Model {
    w: Vec<f64>,
    k: f64,
}

#[differentiable]
impl Model {
    fn new(n: usize, k: f64) -> Self {
        let w = ramp(n, k);
        Self { w, k }
    }

    fn scaled(&self, k: f64) -> Vec<f64> {
        self.w.iter().map(|w| w * k).collect()
    }

    fn next(&self, k: f64) -> Self {
        let w = self.scaled(k);
        let k = square(k);
        Self { w, k: self.k * k }
    }

    fn total(&self) -> f64 {
        self.w.iter().sum::<f64>() * self.k
    }
}

#[test]
fn by_constructors_and_methods() {
    #[differentiable]
    fn chain(n: usize, k: f64) -> f64 {
        let first = Model::new(n, k);
        let second = first.next(k);
        second.total() * first.total()
    }
    check_rule(Model::new_rule, [(3, 0.5), (2, 0.7)]);
    check_rule(chain::rule, [(3, 0.5), (2, 0.7)]);
}

#[test]
fn collected() {
    #[differentiable]
    fn named(n: usize, mass: f64) -> Vec<Item> {
        (0..n)
            .map(|i| {
                let v = ramp(i, mass);
                Item { mass: mass * i as f64, v }
            })
            .collect()
    }
    #[differentiable]
    fn unnamed(n: usize, mass: f64) -> Vec<Item> {
        (0..n).map(|i| Item { mass: mass * i as f64, v: ramp(i, mass) }).collect()
    }
    check_rule(named::rule, [(3, 0.5), (2, 0.7)]);
    check_rule(unnamed::rule, [(3, 0.5), (2, 0.7)]);
}

#[test]
fn pushed() {
    #[differentiable]
    fn several(n: usize, mass: f64) -> Vec<Two> {
        let mut all = Vec::new();
        for i in 0..n {
            let a = ramp(i, mass);
            let b = ramp(n - i, mass * mass);
            let k = square(mass);
            all.push(Two { a, b, n: i, k });
        }
        all
    }
    #[differentiable]
    fn some(n: usize, mass: f64) -> Vec<Item> {
        let mut all = Vec::new();
        for i in 0..n {
            let v = ramp(n - i, mass * mass);
            all.push(Item { mass, v });
            if i % 2 == 0 {
                let v = ramp(i, mass);
                all.push(Item { mass: mass * i as f64, v });
            }
        }
        all
    }
    #[differentiable]
    fn one_by_one(n: usize, mass: f64) -> Vec<Item> {
        let v = ramp(n, mass);
        let mut all = Vec::new();
        all.push(Item { mass, v });
        let v = ramp(n + 1, mass);
        all.push(Item { mass: 2.0 * mass, v });
        all
    }
    #[differentiable]
    fn listed(n: usize, mass: f64) -> Vec<Item> {
        let (v, w) = (ramp(n, mass), ramp(n + 1, mass * mass));
        vec![Item { mass, v }, Item { mass: 2.0 * mass, v: w }]
    }
    #[differentiable]
    fn used(n: usize, mass: f64) -> f64 {
        let mut all = Vec::new();
        for i in 0..n {
            let v = ramp(i, mass);
            all.push(Item { mass: mass * i as f64, v });
        }
        all.iter().map(|item| item.mass * item.v.iter().sum::<f64>()).sum()
    }
    check_rule(several::rule, [(3, 0.5), (2, 0.7)]);
    check_rule(some::rule, [(3, 0.5), (2, 0.7)]);
    check_rule(one_by_one::rule, [(3, 0.5), (2, 0.7)]);
    check_rule(listed::rule, [(3, 0.5), (2, 0.7)]);
    check_rule(used::rule, [(3, 0.5), (2, 0.7)]);
}

/// Nothing is known of the first row but that it is empty.
#[test]
fn rows_of_which_some_are_empty() {
    #[differentiable]
    fn rows(n: usize, mass: f64) -> Vec<Vec<f64>> {
        let mut rows = Vec::new();
        for i in 0..n {
            let v = ramp(i, mass);
            rows.push(v);
        }
        rows
    }
    check_rule(rows::rule, [(3, 0.5), (2, 0.7), (5, 0.2)]);
}

#[derive(Clone, Debug, Differentiable)]
struct State {
    x: Vec<f64>,
    v: Vec<f64>,
    t: f64,
}

/// a x + y
#[differentiable]
fn axpy(a: f64, x: &[f64], y: &[f64]) -> Vec<f64> {
    x.iter().zip(y).map(|(x, y)| a * x + y).collect()
}

#[test]
fn passed_on_before() {
    #[differentiable]
    fn step(state: &State, k: f64, dt: f64) -> State {
        let v = axpy(-k * dt, &state.x, &state.v);
        let x = axpy(dt, &v, &state.x);
        State { x, v, t: state.t + dt }
    }
    #[differentiable]
    fn run(start: &State, k: f64, steps: usize) -> f64 {
        let mut state = start.clone();
        for _ in 0..steps {
            state = step(&state, k, 0.1);
        }
        state.x.iter().zip(&state.v).map(|(x, v)| x * v).sum::<f64>() * state.t
    }
    let state = State { x: vec![0.5, 0.2], v: vec![0.1, 0.3], t: 0.2 };
    check_rule(step::rule, [(state.clone(), 1.3, 0.1)]);
    check_rule(run::rule, [(state.clone(), 1.3, 3), (state, 0.7, 2)]);
}

#[differentiable]
fn direction(x: &[f64]) -> (f64, Vec<f64>, f64) {
    let squared: f64 = x.iter().map(|x| x * x).sum();
    let norm = squared.sqrt();
    (squared, x.iter().map(|x| x / norm).collect(), norm)
}

#[test]
fn elements_of_tuples() {
    #[differentiable]
    fn halves(x: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let n = x.len() / 2;
        (x[..n].to_vec(), x[n..].to_vec())
    }
    #[differentiable]
    fn state(x: &[f64]) -> State {
        let (x, v) = halves(x);
        State { x, v, t: 0.0 }
    }
    #[differentiable]
    fn ignored(x: &[f64]) -> Item {
        let (mass, v, _) = direction(x);
        Item { mass, v }
    }
    #[differentiable]
    fn of_parts(x: &[f64], n: usize) -> Vec<Item> {
        let mut all = Vec::new();
        for i in 0..n {
            let (squared, v, norm) = direction(&x[i..]);
            all.push(Item { mass: squared * norm + norm, v });
        }
        all
    }
    let x = vec![0.5, 0.2, 0.3, 0.4];
    check_rule(state::rule, [(x.clone(),)]);
    check_rule(ignored::rule, [(x.clone(),)]);
    check_rule(of_parts::rule, [(x.clone(), 3), (x, 2)]);
}

#[derive(Clone, Copy, Debug, Differentiable)]
struct Point {
    x: f64,
    y: f64,
}

#[test]
fn numbers() {
    #[differentiable]
    fn points(n: usize, a: f64) -> Vec<Point> {
        let mut points = Vec::new();
        for i in 0..n {
            let x = square(a * i as f64);
            let y = square(x);
            points.push(Point { x: x + y, y });
        }
        points
    }
    #[differentiable]
    fn point(a: f64) -> Point {
        let x = square(a);
        let y = square(a + 1.0);
        if a > 1.0 { Point { x, y } } else { Point { x: y, y: x } }
    }
    check_rule(points::rule, [(3, 0.5), (2, 0.7)]);
    check_rule(point::rule, [(0.5,), (1.7,)]);
}
