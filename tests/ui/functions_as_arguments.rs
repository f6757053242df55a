use pullback::prelude::*;

#[differentiable]
fn apply(f: impl Fn(f64) -> f64, x: f64) -> f64 {
    f(x)
}

#[differentiable]
fn right_hand_side(f: impl Fn(&[f64], &mut [f64]), y: &[f64], dy: &mut [f64]) {
    f(y, dy);
}

#[differentiable]
fn takes_a_pointer(f: fn(f64) -> f64, x: f64) -> f64 {
    f(x)
}

#[differentiable]
fn takes_a_box(f: Box<dyn Fn(f64) -> f64>, x: f64) -> f64 {
    f(x)
}

#[differentiable]
fn of_one_type<F: Fn(f64) -> f64>(f: F, g: F, x: f64) -> f64 {
    f(g(x))
}

#[differentiable]
fn returns_a_closure(k: f64) -> impl Fn(f64) -> f64 {
    move |x| k * x
}

#[differentiable]
fn returns_a_reference(f: impl Fn(&[f64]) -> &[f64], x: &[f64]) -> f64 {
    f(x)[0]
}

#[differentiable]
fn called_without_gradient(mut f: impl FnMut(f64) -> f64, x: &[f64]) -> f64 {
    assert!(f(x[0]) > 0.0);
    x.iter().filter(|x| f(**x) > 1.0).sum()
}

#[differentiable]
fn square(x: &mut f64) -> f64 {
    *x *= *x;
    *x
}

#[differentiable]
fn apply_once(mut f: impl FnMut(f64) -> f64, x: f64) -> f64 {
    f(x)
}

#[differentiable]
fn changes_within_an_expression(x: f64) -> f64 {
    let mut count = x;
    2.0 * apply_once(
        |t| {
            count += t;
            count
        },
        x,
    )
}

#[differentiable]
fn changes_a_copy(x: f64) -> f64 {
    let mut count = x;
    apply_once(
        move |t| {
            count += t;
            count
        },
        x,
    )
}

#[differentiable]
fn changes_twice(x: f64) -> f64 {
    let mut count = x;
    let y = checkpoint(apply_once(
        |t| {
            count += t;
            count
        },
        x,
    ));
    y * count
}

#[differentiable]
fn passes_a_vector_out(x: f64) -> f64 {
    total(
        |t| {
            if t > x {
                return vec![t];
            }
            vec![t, x]
        },
        x,
    )
}

#[differentiable]
fn total(f: impl Fn(f64) -> Vec<f64>, x: f64) -> f64 {
    f(x)[0]
}

#[differentiable]
fn from_checkpoints(f: impl Fn(f64) -> f64, x: f64, n: usize) -> f64 {
    let mut x = x;
    #[pullback(checkpoint = 10)]
    for _ in 0..n {
        x = f(x) * x;
    }
    x
}

#[differentiable]
fn nested(f: &dyn Fn(f64) -> f64, x: f64, depth: usize) -> f64 {
    if depth == 0 {
        return f(x);
    }
    nested(&|t: f64| f(t) * f(t + 1.0), x, depth - 1)
}

scalar_rule!(fn one_line(f: impl Fn(f64) -> f64, x: f64) -> f64 => 1.0);

fn main() {}
