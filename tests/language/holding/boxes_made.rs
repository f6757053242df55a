//! Boxes of types that hold others of their own, made within functions: trees and expressions that are built.

use pullback::prelude::*;
use pullback::testing::check_rule;

#[derive(Clone, Debug, Differentiable)]
struct Node {
    value: f64,
    left: Option<Box<Node>>,
    right: Option<Box<Node>>,
}

#[differentiable]
impl Node {
    fn leaf(value: f64) -> Node {
        Node { value, left: None, right: None }
    }

    fn total(&self) -> f64 {
        self.value * self.value + sum(&self.left) + 2.0 * sum(&self.right)
    }

    fn grown(xs: &[f64]) -> Option<Box<Self>> {
        let (x, rest) = xs.split_first()?;
        Some(Box::new(Self { value: x * x, left: None, right: Self::grown(rest) }))
    }
}

#[differentiable]
fn sum(node: &Option<Box<Node>>) -> f64 {
    match node {
        Some(n) => n.value * n.value + sum(&n.left) + 2.0 * sum(&n.right),
        None => 0.5,
    }
}

#[test]
fn within_literals() {
    #[differentiable]
    fn read(x: f64, y: f64) -> f64 {
        let n =
            Node { value: x, left: Some(Box::new(Node { value: y, left: None, right: None })), right: None };
        n.total() * n.value
    }
    #[differentiable]
    fn made(x: f64, y: f64) -> Node {
        Node { value: x, left: Some(Box::new(Node::leaf(x * y))), right: None }
    }
    #[differentiable]
    fn returned(x: f64, y: f64) -> f64 {
        let (n, m) = (made(x, y), made(y, x));
        n.total() * m.total()
    }
    check_rule(read::rule, [(0.3, 0.7)]);
    check_rule(made::rule, [(0.3, 0.7)]);
    check_rule(returned::rule, [(0.3, 0.7)]);
}

#[test]
fn of_locals() {
    #[differentiable]
    fn boxed(x: f64, y: f64) -> f64 {
        let l = Some(Box::new(Node { value: x * y, left: None, right: None }));
        let a = sum(&l);
        let n = Node { value: x, left: l, right: None };
        n.total() * n.value + a
    }
    #[differentiable]
    fn moved(x: f64, y: f64) -> f64 {
        let l = Node::leaf(x);
        let a = l.total();
        let r = Node::leaf(x * y);
        let n = Node { value: y, left: Some(Box::new(l)), right: Some(Box::new(r)) };
        n.total() * n.value + a
    }
    #[differentiable]
    fn returned(x: f64, y: f64) -> Node {
        let l = Node::leaf(x);
        let a = l.total();
        Node { value: y * a, left: Some(Box::new(l)), right: Some(Box::new(Node::leaf(x * y))) }
    }
    #[differentiable]
    fn named(x: f64, y: f64) -> f64 {
        let l = Box::new(Node { value: x, left: None, right: None });
        let r = Box::new(Node { value: y, left: Some(l), right: None });
        let n = Node { value: x * y, left: Some(r), right: None };
        n.total()
    }
    check_rule(boxed::rule, [(0.3, 0.7)]);
    check_rule(moved::rule, [(0.3, 0.7)]);
    check_rule(returned::rule, [(0.3, 0.7)]);
    check_rule(named::rule, [(0.3, 0.7)]);
}

#[test]
fn by_functions_that_call_themselves() {
    #[differentiable]
    fn build(xs: &[f64]) -> Option<Box<Node>> {
        if xs.is_empty() {
            return None;
        }
        let mid = xs.len() / 2;
        Some(Box::new(Node { value: xs[mid].sin(), left: build(&xs[..mid]), right: build(&xs[mid + 1..]) }))
    }
    #[differentiable]
    fn by_locals(xs: &[f64]) -> Option<Box<Node>> {
        if xs.is_empty() {
            return None;
        }
        let mid = xs.len() / 2;
        let left = by_locals(&xs[..mid]);
        let right = by_locals(&xs[mid + 1..]);
        let value = xs[mid].sin();
        Some(Box::new(Node { value, left, right }))
    }
    #[differentiable]
    fn by_name(xs: &[f64]) -> Option<Box<Node>> {
        match xs.len() {
            0 => None,
            n => {
                let left = by_name(&xs[..n / 2]);
                let root = Node { value: xs[n / 2], left, right: by_name(&xs[n / 2 + 1..]) };
                Some(Box::new(root))
            }
        }
    }
    #[differentiable]
    fn heap(xs: &[f64], i: usize) -> Node {
        let left = if 2 * i + 1 < xs.len() { Some(Box::new(heap(xs, 2 * i + 1))) } else { None };
        let right = if 2 * i + 2 < xs.len() { Some(Box::new(heap(xs, 2 * i + 2))) } else { None };
        Node { value: xs[i].sin(), left, right }
    }
    #[differentiable]
    fn all(xs: &[f64]) -> f64 {
        let t: Option<Box<Node>> = build(xs);
        let u: Option<Box<Node>> = Node::grown(xs);
        let v: Option<Box<Node>> = by_locals(xs);
        sum(&t) * sum(&u) + sum(&v)
    }
    #[differentiable]
    fn of_heap(xs: &[f64]) -> f64 {
        let t = heap(xs, 0);
        t.total()
    }
    let inputs = || [(vec![0.3, 0.7],), (vec![0.1, 0.2, 0.3, 0.4],), (vec![],)];
    check_rule(build::rule, inputs());
    check_rule(by_locals::rule, inputs());
    check_rule(by_name::rule, inputs());
    check_rule(Node::grown_rule, inputs());
    check_rule(all::rule, inputs());
    check_rule(of_heap::rule, [(vec![0.3, 0.7],), (vec![0.1, 0.2, 0.3, 0.4],)]);
}

#[test]
fn in_enums() {
    #[derive(Clone, Debug, Differentiable)]
    enum Expr {
        Const(f64),
        Add(Box<Expr>, Box<Expr>),
        Mul { left: Box<Expr>, right: Box<Expr> },
    }
    #[differentiable]
    fn eval(e: &Expr) -> f64 {
        match e {
            Expr::Const(c) => *c,
            Expr::Add(a, b) => eval(a) + eval(b),
            Expr::Mul { left, right } => eval(left) * eval(right),
        }
    }
    #[differentiable]
    fn built(x: f64, y: f64) -> f64 {
        let product = Expr::Mul { left: Box::new(Expr::Const(y)), right: Box::new(Expr::Const(x * y)) };
        let e = Expr::Add(Box::new(Expr::Const(x)), Box::new(product));
        eval(&e)
    }
    #[differentiable]
    fn build(xs: &[f64]) -> Expr {
        if xs.len() == 1 {
            Expr::Const(xs[0] * xs[0])
        } else {
            let m = xs.len() / 2;
            if m % 2 == 0 {
                Expr::Add(Box::new(build(&xs[..m])), Box::new(build(&xs[m..])))
            } else {
                Expr::Mul { left: Box::new(build(&xs[..m])), right: Box::new(build(&xs[m..])) }
            }
        }
    }
    #[differentiable]
    fn all(xs: &[f64]) -> f64 {
        eval(&build(xs))
    }
    check_rule(built::rule, [(0.3, 0.7)]);
    check_rule(all::rule, [(vec![0.3, 0.7],), (vec![0.1, 0.2, 0.3, 0.4],)]);
}

/// What the function itself has returned needs no type.
#[differentiable]
fn halves(x: &[f64]) -> Option<Box<Node>> {
    if x.is_empty() {
        return None;
    }
    let m = x.len() / 2;
    let left = halves(&x[..m]);
    let right = halves(&x[m + 1..]);
    Some(Box::new(Node { value: x[m] * x[0], left, right }))
}

#[differentiable]
fn of_halves(x: &[f64]) -> f64 {
    let tree: Option<Box<Node>> = halves(x);
    sum(&tree) * x[0]
}

#[test]
fn of_own_calls() {
    check_rule(of_halves::rule, [(vec![0.3, 0.1, 0.6, 0.4],), (vec![0.7],)]);
}
