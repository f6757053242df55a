//! Public functions, methods and traits of types that are not public themselves, as they stand in every program.

#![expect(
    private_interfaces,
    private_bounds,
    reason = "rustc says so of the functions themselves, too, where nothing is derived"
)]

use pullback::prelude::*;
use pullback::testing::check_gradient;

#[derive(Clone, Differentiable)]
struct Model {
    weights: Vec<f64>,
    bias: f64,
}

#[differentiable]
impl Model {
    pub fn new(weights: &[f64], bias: f64) -> Self {
        Self { weights: weights.to_vec(), bias }
    }

    pub fn eval(&self, x: f64) -> f64 {
        let mut value = self.bias;
        for w in &self.weights {
            value = value * x + w;
        }
        value
    }

    pub(crate) fn total(&self, x: &[f64]) -> f64 {
        x.iter().map(|x| self.eval(*x)).sum()
    }

    pub fn shift(&mut self, by: f64) {
        self.bias += by * self.weights[0];
    }
}

#[derive(Clone, Copy, Differentiable)]
struct Point<T> {
    x: T,
    y: T,
}

#[differentiable]
impl<T: pullback::Float> Point<T> {
    pub fn norm(self) -> T {
        (self.x * self.x + self.y * self.y).sqrt()
    }

    pub(crate) fn scaled(&self, k: T) -> Self {
        Self { x: self.x * k, y: self.y * k }
    }

    pub fn diagonal(x: T) -> Point<T> {
        Point { x, y: x * x }
    }
}

#[differentiable]
impl std::ops::Add for Point<f64> {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Point { x: self.x + other.x, y: self.y * other.y }
    }
}

enum Failure {
    Negative,
}

#[differentiable]
pub fn root(p: Point<f64>) -> Result<f64, Failure> {
    if p.x < 0.0 {
        return Err(Failure::Negative);
    }
    Ok(p.x.sqrt() * p.y)
}

#[differentiable]
pub fn length<T: pullback::Float, const N: usize>(points: &[Point<T>; N], k: T) -> T {
    let mut total = T::zero();
    for i in 0..N {
        total += points[i].scaled(k).norm();
    }
    total
}

#[differentiable]
pub fn at_ends(m: &Model, f: impl Fn(Point<f64>, &Model) -> f64) -> f64 {
    f(Point { x: m.bias, y: m.weights[0] }, m)
}

#[differentiable(recursive)]
pub fn turned(p: Point<f64>, n: usize) -> f64 {
    if n == 0 { p.x } else { turned(Point { x: p.y, y: p.x * p.y }, n - 1) }
}

#[derive(Differentiable)]
struct Data<'a> {
    x: &'a [f64],
}

#[differentiable]
impl<'a> Data<'a> {
    pub fn sum(&self, k: f64) -> f64 {
        self.x.iter().map(|v| k * v * v).sum()
    }

    pub fn weighed(&self, weights: &'a [f64]) -> f64 {
        let total = self.sum(weights[0]);
        let used: &'a [f64] = weights;
        used.iter().zip(self.x).map(|(w, x)| w * x).sum::<f64>() * total
    }
}

#[differentiable]
impl Data<'_> {
    pub(crate) fn first(&self) -> f64 {
        self.x[0] * self.weighed(&self.x[..])
    }
}

#[differentiable]
pub fn borrowed(data: &Data<'_>, k: f64) -> f64 {
    data.x.iter().map(|x| k * x * x).sum::<f64>() + data.sum(k) * data.first()
}

#[differentiable]
pub fn all(m: &Model, x: &[f64]) -> f64 {
    let p = Point::diagonal(x[0]);
    let sum = p + p.scaled(x[1]);
    let r = match root(sum) {
        Ok(r) => r,
        Err(Failure::Negative) => x[1],
    };
    let mut moved = m.clone();
    moved.shift(x[1]);
    let made = Model::new(x, r);
    let closure = at_ends(m, |q: Point<f64>, m: &Model| q.x * m.eval(x[0]) + q.y);
    length(&[p, sum], x[1]) + turned(p, 3) + moved.total(x) + made.eval(m.bias) + closure
}

#[differentiable]
pub trait Energy {
    fn energy(&self, x: f64) -> f64;
    fn between(&self, p: Point<f64>) -> Point<f64> {
        Point { x: self.energy(p.x), y: self.energy(p.y) }
    }
}

#[differentiable]
impl Energy for Model {
    fn energy(&self, x: f64) -> f64 {
        self.bias * x * x
    }
}

/// A public type with private parts, and a private trait for it.
#[derive(Differentiable)]
pub struct Open {
    inner: Point<f64>,
    k: f64,
}

#[differentiable]
trait Hidden {
    fn hidden(&self, p: Point<f64>) -> f64;
}

#[differentiable]
impl Hidden for Open {
    fn hidden(&self, p: Point<f64>) -> f64 {
        self.k * p.x + self.inner.norm() * p.y
    }
}

#[differentiable]
impl Open {
    pub fn whole<E: Energy>(&self, e: &E) -> f64 {
        let p = e.between(self.inner);
        self.hidden(p)
    }
}

#[differentiable]
pub fn by_traits(open: &Open, m: &Model) -> f64 {
    open.whole(m) + m.energy(open.k)
}

mod inner {
    use pullback::prelude::*;

    #[derive(Differentiable)]
    pub(super) struct Cell {
        pub(super) v: f64,
        pub(super) rows: Vec<Row>,
    }

    #[derive(Clone, Copy, Differentiable)]
    pub(super) struct Row {
        pub(super) k: f64,
    }

    struct Unit(f64);

    #[differentiable]
    impl Cell {
        pub fn get(&self) -> f64 {
            let mut value = self.v * self.v;
            for row in &self.rows {
                value += row.k * self.v;
            }
            value
        }
    }

    #[differentiable]
    pub(crate) fn cell(c: &Cell, k: f64) -> f64 {
        let unit = Unit(2.0);
        c.get() * k * scaled(k, &unit)
    }

    #[differentiable(dual)]
    pub fn scaled(x: f64, #[constant] unit: &Unit) -> f64 {
        x * x * unit.0
    }

    pub fn hessian(x: f64) -> f64 {
        let mut g = scaled::gradient();
        g.value_gradient_and_hvp(x, &Unit(3.0), 1.0).2.x
    }
}

#[differentiable]
fn outside(c: &inner::Cell, k: f64) -> f64 {
    c.get() + inner::cell(c, k)
}

#[test]
fn functions_and_methods() {
    let mut g = all::gradient();
    let inputs = [(vec![0.7, -0.3], 0.4, vec![0.8, 1.3]), (vec![0.5, 0.2, 1.1], -0.6, vec![1.2, 0.4, 0.9])];
    check_gradient(
        |(w, b, x)| all(&Model { weights: w.clone(), bias: *b }, x),
        |(w, b, x)| {
            let (value, d) = g.value_and_gradient(&Model { weights: w.clone(), bias: *b }, x);
            (value, (d.m.weights.to_vec(), d.m.bias, d.x.to_vec()))
        },
        inputs,
    );
    let mut g: Model_eval = Model::eval_gradient();
    let m = Model { weights: vec![2.0], bias: 3.0 };
    assert_eq!(g.value_and_gradient(&m, 5.0).1.x, 3.0);
    let mut g: Point_norm<f64> = Point::norm_gradient();
    assert_eq!(g.value_and_gradient(Point { x: 0.0, y: 4.0 }).1.self_.y, 1.0);
    let mut g = length::<f64, 1>::gradient();
    assert_eq!(g.value_and_gradient(&[Point { x: 3.0, y: 4.0 }], 2.0).1.k, 5.0);
}

#[test]
fn types_with_lifetimes() {
    let mut g = Data::first_gradient();
    check_gradient(
        |x: &mut Vec<f64>| Data { x }.first(),
        |x| {
            let (value, d) = g.value_and_gradient(&Data { x });
            (value, d.self_.x.to_vec())
        },
        [vec![0.5, -0.4, 0.3], vec![0.7]],
    );
    let mut g = borrowed::gradient();
    check_gradient(
        |(x, k): &mut (Vec<f64>, f64)| borrowed(&Data { x }, *k),
        |(x, k)| {
            let (value, d) = g.value_and_gradient(&Data { x }, *k);
            (value, (d.data.x.to_vec(), d.k))
        },
        [(vec![0.5, -0.4, 0.3], 0.6), (vec![0.7], 1.2)],
    );
}

#[test]
fn traits_and_modules() {
    let open = |p: &[f64; 5]| Open { inner: Point { x: p[0], y: p[1] }, k: p[2] };
    let model = |p: &[f64; 5]| Model { weights: vec![p[3]], bias: p[4] };
    let mut g = by_traits::gradient();
    check_gradient(
        |p| by_traits(&open(p), &model(p)),
        |p| {
            let (value, d) = g.value_and_gradient(&open(p), &model(p));
            (value, [d.open.inner.x, d.open.inner.y, d.open.k, d.m.weights[0], d.m.bias])
        },
        [[0.4, 0.9, 1.3, 0.2, 0.7], [1.4, -0.9, 0.3, 0.1, 0.5]],
    );
    let cell = |p: &[f64; 3]| inner::Cell { v: p[0], rows: vec![inner::Row { k: p[1] }] };
    let mut g = outside::gradient();
    check_gradient(
        |p| outside(&cell(p), p[2]),
        |p| {
            let (value, d) = g.value_and_gradient(&cell(p), p[2]);
            (value, [d.c.v, d.c.rows[0].k, d.k])
        },
        [[0.4, 0.9, 1.3], [1.4, -0.9, 0.3]],
    );
    assert_eq!(inner::hessian(0.5), 6.0);
}
