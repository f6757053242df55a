use pullback::prelude::*;

#[derive(Clone, Differentiable)]
struct Node {
    value: f64,
    left: Option<Box<Node>>,
    right: Option<Box<Node>>,
}

#[differentiable]
fn cut(node: &mut Node, x: f64) {
    node.value *= x;
    node.left = None;
}

fn main() {}
