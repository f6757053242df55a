use pullback::prelude::*;

#[differentiable]
fn under_a_name(x: &[f64]) -> f64 {
    let parts = [x, &x[1..]];
    parts.iter().map(|part| part[0]).sum()
}

#[differentiable]
fn windows_of_what_size(x: &[f64]) -> f64 {
    x.array_windows().map(first).sum::<f64>()
}

fn first(window: &[f64; 2]) -> f64 {
    window[0]
}

#[differentiable]
fn queue_as_a_whole(x: &[f64]) -> f64 {
    let mut queue = std::collections::VecDeque::new();
    queue.push_back(x[0]);
    total(&queue)
}

fn total(queue: &std::collections::VecDeque<f64>) -> f64 {
    queue.iter().sum()
}

fn main() {}
