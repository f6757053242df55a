use pullback::prelude::*;

#[derive(Clone, Differentiable)]
struct Quadtree {
    value: f64,
    children: [Option<Box<Quadtree>>; 4],
}

#[derive(Clone, Differentiable)]
enum Solid {
    Sphere(f64),
    Union((Box<Solid>, Box<Solid>)),
}

#[derive(Clone, Differentiable)]
struct Tree {
    value: f64,
    children: Vec<(f64, Tree)>,
}

fn main() {}
