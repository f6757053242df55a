use pullback::prelude::*;

#[derive(Clone, Differentiable)]
struct Node {
    value: f64,
    left: Option<Box<Node>>,
}

#[differentiable]
impl Node {
    fn insert(&mut self, v: f64) {
        match &mut self.left {
            Some(l) => l.insert(v),
            None => self.left = Some(Box::new(Node { value: v, left: None })),
        }
    }
}

#[differentiable]
fn build(x: f64, y: f64) -> Node {
    let mut root = Node { value: x, left: None };
    root.insert(y);
    root
}

fn main() {}
