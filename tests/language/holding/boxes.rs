//! Types that hold others of their own in a box that may be missing: binary trees, linked lists.

use pullback::prelude::*;
use pullback::testing::check_rule;

#[derive(Clone, Debug, Differentiable)]
struct Node {
    value: f64,
    left: Option<Box<Node>>,
    right: Option<Box<Node>>,
}

fn leaf(value: f64) -> Node {
    Node { value, left: None, right: None }
}

fn tree() -> Node {
    let right = Node { value: 1.2, left: None, right: Some(Box::new(leaf(0.7))) };
    Node { value: 0.5, left: Some(Box::new(leaf(0.3))), right: Some(Box::new(right)) }
}

#[differentiable]
impl Node {
    fn matched(&self) -> f64 {
        let left = match &self.left {
            Some(l) => l.matched(),
            None => 0.0,
        };
        let right = match &self.right {
            Some(r) => r.matched(),
            None => 0.5,
        };
        self.value * self.value + left + 2.0 * right
    }

    fn mapped(&self) -> f64 {
        let left = self.left.as_ref().map(|l| l.mapped()).unwrap_or(0.0);
        let right = self.right.as_deref().map(Node::mapped).unwrap_or_default();
        let next = self.right.as_ref().map_or_else(|| 1.0, |r| r.value);
        left + right * next + self.value * self.left.as_ref().map_or(0.5, |l| l.value)
    }

    fn looked_into(&self, depth: usize) -> f64 {
        let mut total = self.value * depth as f64;
        if let Some(left) = &self.left {
            total += left.looked_into(depth + 1) * self.value;
        }
        if let Some(right) = self.right.as_deref() {
            total *= right.looked_into(depth + 1);
            if let Some(next) = &right.right {
                total *= next.value;
            }
        }
        total
    }

    fn both(&self) -> f64 {
        match (&self.left, &self.right) {
            (Some(l), Some(r)) => l.both() * r.both() + self.value,
            (Some(l), None) => l.both() * self.value,
            (None, Some(r)) => r.both() + self.value,
            (None, None) => self.value * self.value,
        }
    }

    fn both_by_methods(&self) -> f64 {
        match (self.left.as_ref(), self.right.as_deref()) {
            (Some(l), Some(r)) => l.both_by_methods() * r.value + self.value,
            (Some(l), None) => l.value * self.value,
            _ => self.value * self.value,
        }
    }

    fn leftmost(&self) -> f64 {
        let Some(l) = &self.left else { return self.value * self.value };
        l.leftmost() * self.value
    }

    fn rightmost(&self) -> f64 {
        if self.right.is_none() {
            return self.value;
        }
        let right = self.right.as_ref().unwrap();
        self.value * right.rightmost()
    }
}

#[test]
fn walked() {
    check_rule(Node::matched_rule, [(leaf(0.4),), (tree(),)]);
    check_rule(Node::mapped_rule, [(leaf(0.4),), (tree(),)]);
    check_rule(Node::looked_into_rule, [(leaf(0.4), 1), (tree(), 1)]);
    check_rule(Node::both_rule, [(leaf(0.4),), (tree(),)]);
    check_rule(Node::both_by_methods_rule, [(leaf(0.4),), (tree(),)]);
    check_rule(Node::leftmost_rule, [(leaf(0.4),), (tree(),)]);
    check_rule(Node::rightmost_rule, [(leaf(0.4),), (tree(),)]);
}

/// A box that is missing is a slice of none.
#[test]
fn gradients() {
    let mut gradient = Node::both_gradient();
    let (value, d) = gradient.value_and_gradient(&tree());
    assert_eq!(value, 0.3 * 0.3 * (0.7 * 0.7 + 1.2) + 0.5);
    assert_eq!(d.self_.right[0].value, 0.3 * 0.3);
    assert_eq!(d.self_.left[0].value, 2.0 * 0.3 * (0.7 * 0.7 + 1.2));
    assert!(d.self_.left[0].left.is_empty());
}

#[differentiable]
impl Node {
    fn grow(&mut self, k: f64) {
        self.value *= k;
        if let Some(l) = &mut self.left {
            l.grow(k * 0.5);
            l.value += k;
        }
        match self.right.as_deref_mut() {
            Some(r) => r.grow(self.value),
            None => {}
        }
    }
    fn grown(&mut self, k: f64) -> f64 {
        let mut sum = 0.0;
        if let Some(l) = self.left.as_mut() {
            l.value *= k;
            let below = l.grown(k);
            sum += below * l.value;
        }
        sum + self.value
    }
}

#[test]
fn changed_in_place() {
    check_rule(Node::grow_rule, [(leaf(0.4), 0.7), (tree(), 0.7)]);
    check_rule(Node::grown_rule, [(leaf(0.4), 0.7), (tree(), 0.7)]);
}

#[test]
fn handed_on_with_their_boxes() {
    #[differentiable]
    fn sum(tree: &Option<Box<Node>>) -> f64 {
        match tree {
            Some(node) => node.value * node.value + sum(&node.left) + 2.0 * sum(&node.right),
            None => 0.5,
        }
    }
    #[differentiable]
    fn grow(tree: &mut Option<Box<Node>>, k: f64) {
        if let Some(node) = tree {
            node.value *= k;
            grow(&mut node.left, k * k);
            grow(&mut node.right, 2.0 * k);
        }
    }
    #[differentiable]
    fn grown(node: &mut Node, k: f64) -> f64 {
        grow(&mut node.left, k);
        sum(&node.left) * sum(&node.right)
    }
    check_rule(sum::rule, [(None,), (Some(Box::new(tree())),)]);
    check_rule(grow::rule, [(None, 0.6), (Some(Box::new(tree())), 0.7)]);
    check_rule(grown::rule, [(leaf(0.3), 0.6), (tree(), 0.7)]);
}

#[test]
fn handed_on_as_references_that_may_be_missing() {
    #[differentiable]
    fn sum(node: Option<&Node>) -> f64 {
        match node {
            Some(n) => n.value * n.value + sum(n.left.as_deref()) + 2.0 * sum(n.right.as_deref()),
            None => 0.5,
        }
    }
    #[differentiable]
    fn scaled(node: &Node, k: f64) -> f64 {
        sum(node.left.as_deref()) * sum(Some(node)) * k
    }
    check_rule(scaled::rule, [(leaf(0.3), 0.6), (tree(), 0.7)]);
}

#[test]
fn in_enums() {
    #[derive(Clone, Debug, Differentiable)]
    enum Term {
        Number(f64),
        Negative(Option<Box<Term>>),
        Pair { first: Box<Term>, second: Option<Box<Term>>, factor: f64 },
    }
    #[differentiable]
    fn eval(term: &Term, x: f64) -> f64 {
        match term {
            Term::Number(v) => v * x,
            Term::Negative(inside) => match inside {
                Some(inside) => -eval(inside, x),
                None => x,
            },
            Term::Pair { first, second, factor } => {
                let second = second.as_ref().map_or(1.0, |second| eval(second, x));
                eval(first, x) * second * factor
            }
        }
    }
    let number = |v| Box::new(Term::Number(v));
    let negative = || Term::Negative(Some(number(0.3)));
    let pair = |first, second| Term::Pair { first, second, factor: 0.4 };
    check_rule(
        eval::rule,
        [
            (Term::Negative(None), 0.4),
            (negative(), 0.4),
            (pair(number(0.3), Some(number(0.2))), 0.7),
            (pair(Box::new(negative()), None), 0.7),
        ],
    );
}

#[derive(Clone, Debug, Differentiable)]
struct Split<T> {
    at: T,
    weights: [T; 2],
    below: Option<Box<Split<T>>>,
    above: Option<Box<Split<T>>>,
}

#[differentiable]
impl Split<f64> {
    fn eval(&self, x: f64) -> f64 {
        let here = self.weights[0] * x + self.weights[1];
        if x < self.at {
            self.below.as_ref().map_or(here, |s| s.eval(x - self.at) + here)
        } else {
            match &self.above {
                Some(s) => here * s.eval(x),
                None => here,
            }
        }
    }
}

#[test]
fn generic_ones() {
    #[differentiable]
    fn chained<T: pullback::Float>(split: &Option<Box<Split<T>>>, x: T) -> T {
        match split {
            Some(s) => s.weights[0] * x + chained(&s.below, x),
            None => x * x,
        }
    }
    #[differentiable]
    fn all(splits: &[Split<f64>], x: &[f64]) -> f64 {
        let mut total = 0.0;
        for split in splits {
            for v in x {
                total += split.eval(*v);
            }
            if let Some(above) = &split.above {
                total *= above.eval(x[0]);
            }
        }
        total
    }
    let leaf = |at, weights| Split { at, weights, below: None, above: None };
    let split = || Split {
        at: 0.4,
        weights: [0.3, 0.2],
        below: Some(Box::new(leaf(0.1, [0.7, 0.4]))),
        above: Some(Box::new(leaf(0.7, [0.9, 0.1]))),
    };
    check_rule(<Split<f64>>::eval_rule, [(split(), 0.3), (split(), 0.5)]);
    check_rule(chained::<f64>::rule, [(None, 0.3), (Some(Box::new(split())), 0.5)]);
    let single = Split { at: 0.4f32, weights: [0.3, 0.2], below: None, above: None };
    check_rule(chained::<f32>::rule, [(None, 0.3), (Some(Box::new(single)), 0.5)]);
    check_rule(
        all::rule,
        [(vec![split()], vec![0.3]), (vec![split(), leaf(0.1, [0.3, 0.4])], vec![0.3, 0.6])],
    );
}

/// What else may be in such a box.
#[test]
fn other_contents() {
    #[derive(Clone, Copy, Debug, Differentiable)]
    struct Limits {
        low: f64,
        high: f64,
    }
    #[derive(Clone, Debug, Differentiable)]
    struct Model {
        weights: Vec<f64>,
        limits: Option<Box<Limits>>,
        gain: Option<Box<f64>>,
        bias: Option<Box<Vec<f64>>>,
    }
    #[differentiable]
    fn eval(model: &Model, x: f64) -> f64 {
        let mut y = x;
        if let Some(limits) = &model.limits {
            y *= limits.low + limits.high * model.weights[0];
        }
        if let Some(gain) = &model.gain {
            y *= **gain;
        }
        if let Some(bias) = &model.bias {
            y += bias[0] * bias.iter().sum::<f64>();
        }
        y
    }
    let empty = Model { weights: vec![0.3], limits: None, gain: None, bias: None };
    let full = Model {
        weights: vec![0.3, 0.2],
        limits: Some(Box::new(Limits { low: 0.3, high: 0.7 })),
        gain: Some(Box::new(0.4)),
        bias: Some(Box::new(vec![0.4, 0.2])),
    };
    check_rule(eval::rule, [(empty, 0.4), (full, 0.4)]);
}
