//! Patterns as parameters: the gradient's fields are then called by the position, `_0`, `_1`, ….

use pullback::prelude::*;
use pullback::testing::check_rule;

#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
struct Point {
    x: f64,
    y: f64,
}

#[differentiable]
fn tuple((a, mut b): (f64, f64)) -> f64 {
    b *= 2.0;
    a * b
}

#[differentiable(dual)]
fn array([x, y]: [f64; 2], z: f64) -> f64 {
    x * y * z
}

#[differentiable]
fn of_struct(Point { x, y }: Point) -> f64 {
    x * x * y
}

#[differentiable]
fn shared(&Point { x, y }: &Point, (a, b): &(f64, f64), [p, q]: &[f64; 2], &k: &f64) -> f64 {
    x * y * a * b * p * q * k
}

#[differentiable]
fn unique(Point { x, y }: &mut Point, (i, t): (usize, f64)) -> f64 {
    *x *= *y;
    *y += t;
    *x * *y * i as f64
}

#[differentiable]
fn nested((x, w): ([f64; 2], (f64, [f64; 2])), whole @ Point { x: a, .. }: Point) -> f64 {
    x[0] * w.1[0] * w.0 * a * whole.y
}

#[differentiable]
fn constant_pair(#[constant] (x, w): (f64, f64), a: f64) -> f64 {
    x * w * a * a
}

#[differentiable]
impl Point {
    fn distance(&self, Point { x, y }: &Point) -> f64 {
        (self.x - x).hypot(self.y - y)
    }
}

#[differentiable]
impl std::ops::Add for Point {
    type Output = Point;
    fn add(self, Point { x, y }: Point) -> Point {
        Point { x: self.x + x, y: self.y + y }
    }
}

#[differentiable]
trait Weighted {
    fn weight(&self, (a, b): (f64, f64)) -> f64 {
        a * b
    }
    fn offset(&self, pair: (f64, f64)) -> f64;
}

#[differentiable]
impl Weighted for Point {
    fn offset(&self, (a, b): (f64, f64)) -> f64 {
        self.x * a + self.y * b
    }
}

#[differentiable]
fn calls(p: Point, q: Point, t: (f64, f64)) -> f64 {
    tuple(t) * of_struct(p + q) + p.distance(&q) + p.weight(t) * q.offset(t)
}

/// Of a tuple behind `&` both parts are references.
#[differentiable]
fn parts_of_a_pair(pair: &(f64, f64), y: &mut (f64, f64)) -> f64 {
    let (a, b) = pair;
    let (c, d) = y;
    *c *= a;
    *d += *c * b;
    *d
}

#[test]
fn patterns() {
    let (p, q) = (Point { x: 0.7, y: 1.3 }, Point { x: -0.4, y: 2.0 });
    check_rule(tuple::rule, [((0.7, 2.0),)]);
    check_rule(array::rule, [([0.4, 1.5], 0.3)]);
    check_rule(of_struct::rule, [(p,), (q,)]);
    check_rule(shared::rule, [(p, (0.3, 0.4), [2.5, 0.9], 1.1)]);
    check_rule(unique::rule, [(p, (2, 0.4))]);
    check_rule(nested::rule, [(([0.4, 0.9], (0.3, [1.2, 0.1])), q)]);
    check_rule(constant_pair::rule, [((0.4, 0.3), 1.5)]);
    check_rule(Point::distance_rule, [(p, q)]);
    check_rule(calls::rule, [(p, q, (0.3, 0.8))]);
    check_rule(parts_of_a_pair::rule, [((0.3, 0.8), (1.1, 0.2))]);
    let mut g = of_struct::gradient();
    let (_, d) = g.value_and_gradient(Point { x: 3.0, y: 2.0 });
    assert_eq!((d._0.x, d._0.y), (12.0, 9.0));
    let mut g = array::gradient();
    let (_, d) = g.value_and_gradient([3.0, 2.0], 5.0);
    assert_eq!((d._0, d.z), ([10.0, 15.0], 6.0));
}
