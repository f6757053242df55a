//! Types that hold others of their own: trees, expressions, scenes.

use pullback::prelude::*;
use pullback::testing::check_rule;

#[derive(Clone, Debug, PartialEq, Differentiable)]
enum Expr {
    Number(f64),
    Variable(usize),
    Sum(Vec<Expr>),
    Product(Box<Expr>, Box<Expr>),
    Power { base: Box<Self>, exponent: i32 },
}

fn product(left: Expr, right: Expr) -> Expr {
    Expr::Product(Box::new(left), Box::new(right))
}

/// (0.4 + x₀ · x₁)² · 1.3
fn expression() -> Expr {
    let sum = Expr::Sum(vec![Expr::Number(0.4), product(Expr::Variable(0), Expr::Variable(1))]);
    product(Expr::Power { base: Box::new(sum), exponent: 2 }, Expr::Number(1.3))
}

#[differentiable]
fn eval(expr: &Expr, x: &[f64]) -> f64 {
    match expr {
        Expr::Number(c) => *c,
        Expr::Variable(i) => x[*i],
        Expr::Sum(terms) => terms.iter().map(|term| eval(term, x)).sum(),
        Expr::Product(left, right) => eval(left, x) * eval(right, x),
        Expr::Power { base, exponent } => eval(base, x).powi(*exponent),
    }
}

#[test]
fn expressions() {
    check_rule(eval::rule, [(Expr::Number(2.0), vec![]), (expression(), vec![0.7, 1.1])]);
}

#[test]
fn the_gradient_has_the_shape_of_the_tree() {
    let mut gradient = eval::gradient();
    let (value, d) = gradient.value_and_gradient(&expression(), &[0.5, 2.0]);
    assert_eq!(value, 1.4 * 1.4 * 1.3);
    // A box holds one.
    assert_eq!(d.expr.Product.1[0].Number.0, 1.4 * 1.4);
    assert!((d.expr.Product.0[0].Power.base[0].Sum.0[0].Number.0 - 2.0 * 1.4 * 1.3).abs() < 1e-15);
}

#[test]
fn changed_in_place() {
    #[differentiable]
    fn scale(expr: &mut Expr, k: f64) {
        match expr {
            Expr::Number(c) => *c *= k,
            Expr::Variable(_) => {}
            Expr::Sum(terms) => {
                for term in terms.iter_mut() {
                    scale(term, k);
                }
            }
            Expr::Product(left, _) => scale(left, k),
            Expr::Power { base, exponent } => scale(base, k.powf(1.0 / *exponent as f64)),
        }
    }
    check_rule(scale::rule, [(Expr::Number(2.0), 1.5), (expression(), 0.7)]);
}

#[test]
fn looked_into_without_recursion() {
    #[differentiable]
    fn scaled(expr: &Expr, t: f64) -> f64 {
        match expr {
            Expr::Product(left, _) => match &**left {
                Expr::Number(a) => a * t,
                Expr::Sum(terms) => terms.len() as f64 * t,
                _ => t * t,
            },
            Expr::Power { base, exponent } => {
                if let Expr::Number(a) = &**base {
                    return a.powi(*exponent) * t;
                }
                t
            }
            _ => 1.0,
        }
    }
    let power = |exponent| Expr::Power { base: Box::new(Expr::Number(0.3)), exponent };
    check_rule(
        scaled::rule,
        [
            (product(Expr::Number(0.4), Expr::Number(1.5)), 0.7),
            (product(Expr::Sum(vec![Expr::Number(0.3)]), Expr::Number(0.9)), 0.7),
            (power(3), 0.4),
            (Expr::Number(0.6), 0.4),
        ],
    );
}

#[test]
fn boxes_by_as_ref() {
    #[differentiable]
    fn folded(expr: &Expr, x: &[f64]) -> f64 {
        match expr {
            Expr::Product(left, right) => match (left.as_ref(), right.as_ref()) {
                (Expr::Number(a), Expr::Number(b)) => a * b,
                (Expr::Number(a), other) => a * folded(other, x),
                (l, r) => folded(l, x) * folded(r, x),
            },
            Expr::Power { base, exponent } => match base.as_ref() {
                Expr::Number(a) => a.powi(*exponent),
                _ => folded(base.as_ref(), x).powi(*exponent),
            },
            other => eval(other, x),
        }
    }
    #[differentiable]
    fn leading(expr: &Expr) -> f64 {
        if let Expr::Product(left, _) = expr {
            if let Expr::Number(a) = left.as_ref() {
                return a * a;
            }
        }
        1.0
    }
    let numbers = product(Expr::Number(0.3), Expr::Number(0.7));
    let power = Expr::Power { base: Box::new(Expr::Number(0.4)), exponent: 3 };
    check_rule(
        folded::rule,
        [
            (numbers.clone(), vec![]),
            (product(Expr::Number(0.2), expression()), vec![0.7, 1.1]),
            (product(power, Expr::Number(0.9)), vec![]),
        ],
    );
    check_rule(leading::rule, [(numbers,), (expression(),)]);
}

#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Link {
    length: f64,
    mass: f64,
    children: Vec<Link>,
}

fn leaf(length: f64, mass: f64) -> Link {
    Link { length, mass, children: vec![] }
}

fn chain() -> Link {
    let arm = Link { length: 1.2, mass: 0.3, children: vec![leaf(0.7, 0.2)] };
    Link { length: 0.5, mass: 1.5, children: vec![leaf(0.3, 0.4), arm] }
}

#[differentiable]
impl Link {
    fn weight(&self) -> f64 {
        self.mass + self.children.iter().map(|c| c.weight() * self.length).sum::<f64>()
    }

    fn depth_weighted(&self, depth: usize) -> f64 {
        let mut total = self.mass * depth as f64;
        for i in 0..self.children.len() {
            total += self.children[i].depth_weighted(depth + 1);
        }
        total
    }

    fn reach(&self) -> f64 {
        self.length + self.children.iter().map(|c| Link::reach(c)).fold(0.0, f64::max)
    }

    fn inertia(&self, at: f64) -> f64 {
        let end = at + self.length;
        let mut total = self.mass * end * end;
        for i in 0..self.children.len() {
            total += self.children[i].inertia(end);
        }
        total
    }

    fn grow(&mut self, k: f64) {
        self.length *= k;
        for child in self.children.iter_mut() {
            child.grow(k * 0.9);
        }
    }

    fn overlap(&self, other: &Link) -> f64 {
        let below = self.children.iter().zip(other.children.iter()).map(|(a, b)| a.overlap(b));
        self.mass * other.length + below.sum::<f64>()
    }
}

#[test]
fn trees_by_methods() {
    #[differentiable]
    fn energy(link: &mut Link, other: &Link, k: f64) -> f64 {
        link.grow(k);
        link.weight() * link.inertia(0.2) + link.depth_weighted(1) * link.reach() * link.overlap(other)
    }
    check_rule(energy::rule, [(leaf(0.4, 0.3), chain(), 0.5), (chain(), chain(), 1.3)]);
}

/// What the function itself has returned needs no type, `let children = branches(…);`.
#[differentiable]
fn branches(depth: usize, mass: f64) -> Vec<Link> {
    let mut links = Vec::new();
    for i in 0..depth {
        let children = branches(depth - 1, mass * mass);
        links.push(Link { length: i as f64, mass: mass * (i + 1) as f64, children });
    }
    links
}

#[test]
fn pushed_with_their_children() {
    #[differentiable]
    fn weight(depth: usize, mass: f64) -> f64 {
        let links: Vec<Link> = branches(depth, mass);
        links.iter().map(|link| link.weight()).sum()
    }
    // The memory of rows that a smaller tree does not need is given back, so trees of other shapes come one by one.
    for depth in 0..4 {
        check_rule(weight::rule, [(depth, 0.5), (depth, 1.5)]);
    }
    // 3 m + m²
    let mut gradient = weight::gradient();
    let (value, d) = gradient.value_and_gradient(2, 0.25);
    assert_eq!((value, d.mass), (0.25 * 3.25, 3.5));
}

#[test]
fn trees_are_built() {
    #[differentiable]
    fn build(x: &[f64], depth: usize) -> Link {
        let mut children = Vec::new();
        if depth + 1 < x.len() {
            children.push(build(x, depth + 1));
        }
        Link { length: x[depth], mass: x[depth] * 0.5, children }
    }
    #[differentiable]
    fn reach(x: &[f64]) -> f64 {
        let link = build(x, 0);
        link.weight() * link.reach()
    }
    check_rule(reach::rule, [(vec![0.3],), (vec![0.3, 0.7, 1.1],)]);
}

#[derive(Clone, Debug, Differentiable)]
enum Field<T, const N: usize> {
    Ball { center: [T; N], radius: T },
    Round(Box<Field<T, N>>, T),
    Union(Vec<Field<T, N>>),
}

#[differentiable]
impl<const N: usize> Field<f64, N> {
    fn distance(&self, p: &[f64; N]) -> f64 {
        match self {
            Field::Ball { center, radius } => {
                p.iter().zip(center).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt() - radius
            }
            Field::Round(inner, r) => inner.distance(p) - r,
            Field::Union(parts) => parts.iter().map(|part| part.distance(p)).fold(f64::INFINITY, f64::min),
        }
    }
}

#[test]
fn generic_ones() {
    #[differentiable]
    fn total(field: &Field<f64, 2>, points: &[[f64; 2]]) -> f64 {
        points.iter().map(|p| field.distance(p)).sum()
    }
    let ball = |x: f64| Field::Ball { center: [x, 0.3], radius: 0.4 };
    let scene = Field::Union(vec![ball(0.1), Field::Round(Box::new(ball(2.0)), 0.05)]);
    check_rule(total::rule, [(ball(0.3), vec![[0.4, 0.9]]), (scene, vec![[0.4, 0.9], [1.7, 0.2]])]);
}

#[differentiable]
trait Evaluate {
    fn evaluate(&self, x: f64) -> f64;
}

#[derive(Clone, Debug, Differentiable)]
struct Line {
    slope: f64,
}

#[derive(Clone, Debug, Differentiable)]
#[pullback(by_reference)]
enum Curve {
    Line(Line),
    Mean(Vec<Curve>),
}

#[differentiable]
impl Evaluate for Line {
    fn evaluate(&self, x: f64) -> f64 {
        self.slope * x
    }
}

/// What has the method's name is another one where the receiver is of another type.
#[differentiable]
impl Evaluate for Curve {
    fn evaluate(&self, x: f64) -> f64 {
        match self {
            Curve::Line(line) => line.evaluate(x),
            Curve::Mean(curves) => curves.iter().map(|c| c.evaluate(x)).sum::<f64>() / curves.len() as f64,
        }
    }
}

#[test]
fn methods_of_traits() {
    #[differentiable]
    fn squared(curve: &Curve, x: f64) -> f64 {
        curve.evaluate(x) * curve.evaluate(x + 1.0)
    }
    let line = |slope| Curve::Line(Line { slope });
    let nested = Curve::Mean(vec![line(0.3), Curve::Mean(vec![line(1.2), line(-0.7)])]);
    check_rule(squared::rule, [(line(0.4), 0.3), (nested, 0.7)]);
}
