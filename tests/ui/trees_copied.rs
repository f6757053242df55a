use pullback::prelude::*;

#[derive(Clone, Differentiable)]
struct Node {
    value: f64,
    left: Option<Box<Node>>,
}

#[differentiable]
fn scaled(node: &Node, x: f64) -> f64 {
    let mut copy = node.clone();
    copy.value *= x;
    copy.value
}

fn main() {}
