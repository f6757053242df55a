//! Shadows that are written instead of emptied and added to, and functions whose last call runs both of its passes at once.

use ndarray::{Array1, Array2, ShapeBuilder};
use pullback::prelude::*;
use pullback::testing::{allocations_in, check_gradient, check_rule};

fused! {
    fn sum_affine_tanh(x, w, b) {
        sum((x * w + b).tanh())
    }

    fn scaled_norm(x, k: T) {
        k * sum(x * x).sqrt()
    }

    fn biased_tanh(h, b) {
        (h + b).tanh()
    }

    fn distance(a, b) {
        let off = a - b;
        sum(off * off)
    }
}

fn grid(n: usize, m: usize, start: f64) -> Array2<f64> {
    Array2::from_shape_fn((n, m), |(i, j)| (0.7 * i as f64 + 0.31 * j as f64 + start).sin())
}

fn wave(n: usize, start: f64) -> Array1<f64> {
    (0..n).map(|i| (0.9 * i as f64 + start).cos()).collect()
}

/// Operands of one shape, a row and a column; then larger ones, and smaller ones.
fn operands() -> [(Array2<f64>, Array1<f64>, Array2<f64>); 4] {
    [(3, 40), (5, 67), (2, 3), (1, 1)].map(|(n, m)| (grid(n, m, 0.1), wave(m, 0.2), grid(n, 1, 0.3)))
}

#[differentiable]
fn affine(x: &Array2<f64>, w: &Array1<f64>, b: &Array2<f64>) -> f64 {
    sum_affine_tanh(x, w, b)
}

/// The last call is that of a derived function, whose last call is that of one.
#[differentiable]
fn affine_of_constant(#[constant] n: usize, x: &Array2<f64>, w: &Array1<f64>, b: &Array2<f64>) -> f64 {
    let rows = x.nrows() + n;
    debug_assert!(rows >= n);
    affine(x, w, b)
}

#[differentiable]
fn norm_of_product(x: &Array2<f64>, k: f64, l: f64) -> f64 {
    let kl = k * l;
    scaled_norm(x, kl)
}

#[test]
fn last_calls() {
    let mut g = affine::gradient();
    check_gradient(
        |(x, w, b)| affine(x, w, b),
        |(x, w, b)| {
            let (value, d) = g.value_and_gradient(x, w, b);
            (value, (d.x.clone(), d.w.clone(), d.b.clone()))
        },
        operands(),
    );
    let mut g = affine_of_constant::gradient();
    check_gradient(
        |(x, w, b)| affine_of_constant(7, x, w, b),
        |(x, w, b)| {
            let (value, d) = g.value_and_gradient(7, x, w, b);
            (value, (d.x.clone(), d.w.clone(), d.b.clone()))
        },
        operands(),
    );
    let mut g = norm_of_product::gradient();
    check_gradient(
        |(x, k, l)| norm_of_product(x, *k, *l),
        |(x, k, l)| {
            let (value, d) = g.value_and_gradient(x, *k, *l);
            (value, (d.x.clone(), d.k, d.l))
        },
        [(grid(4, 9, 0.1), 0.7, -1.3), (grid(9, 40, 0.2), 1.1, 0.4), (grid(2, 2, 0.3), 2.0, 0.5)],
    );
    check_rule(affine::rule, operands());
    check_rule(affine_of_constant::rule, operands().map(|(x, w, b)| (7, x, w, b)));
    check_rule(norm_of_product::rule, [(grid(4, 9, 0.1), 0.7, -1.3), (grid(9, 40, 0.2), 1.1, 0.4)]);
}

/// Where shadows lie otherwise than the operands, elements are added up in another order: the value is the primal's all the same.
#[test]
fn values_of_other_layouts() {
    let mut x = Array2::zeros((33, 70).f());
    x.assign(&grid(33, 70, 0.4));
    let (w, b) = (wave(70, 0.2), grid(33, 1, 0.3));
    let mut g = affine::gradient();
    let (value, d) = g.value_and_gradient(&x, &w, &b);
    assert_eq!(value.to_bits(), affine(&x, &w, &b).to_bits());
    let d = d.x.clone();
    let mut by_rows = affine::gradient();
    let x = grid(33, 70, 0.4);
    assert_eq!(by_rows.value_and_gradient(&x, &w, &b).1.x, d);
}

#[test]
fn nothing_is_allocated() {
    let mut g = affine::gradient();
    for (x, w, b) in operands() {
        g.value_and_gradient(&x, &w, &b);
    }
    for (x, w, b) in operands() {
        assert_eq!(allocations_in(|| g.value_and_gradient(&x, &w, &b).0).1, 0);
    }
}

/// What was in a shadow does not matter, be it NaN: each call finds what an earlier one has left.
#[test]
fn after_gradients_that_are_no_numbers() {
    let (x, w, b) = (grid(3, 40, 0.1), wave(40, 0.2), grid(3, 1, 0.3));
    let mut spoilt = x.clone();
    spoilt[[1, 5]] = f64::NAN;
    let mut g = affine::gradient();
    let (_, d) = g.value_and_gradient(&x, &w, &b);
    let expected = (d.x.clone(), d.w.clone(), d.b.clone());
    assert!(g.value_and_gradient(&spoilt, &w, &b).1.w[5].is_nan());
    let (_, d) = g.value_and_gradient(&x, &w, &b);
    assert_eq!((d.x, d.w, d.b), (&expected.0, &expected.1, &expected.2));
}

/// A network: each of the arrays is an operand of one call, and those of products have shadows of their own.
#[differentiable]
fn network(x: &Array2<f64>, w1: &Array2<f64>, b1: &Array1<f64>, w2: &Array2<f64>, y: &Array2<f64>) -> f64 {
    let mut h = Array2::<f64>::zeros((x.nrows(), w1.ncols()));
    mul_into(&mut h, x, w1);
    let mut a = Array2::<f64>::zeros((x.nrows(), w1.ncols()));
    biased_tanh(&mut a, &h, b1);
    let mut z = Array2::<f64>::zeros((x.nrows(), w2.ncols()));
    mul_into(&mut z, &a, w2);
    distance(&z, y)
}

#[test]
fn products_once() {
    let inputs = [(4, 3, 5, 2), (2, 20, 17, 33), (1, 1, 1, 1), (3, 40, 2, 5)].map(|(n, i, h, o)| {
        (grid(n, i, 0.1), grid(i, h, 0.2), wave(h, 0.3), grid(h, o, 0.4), grid(n, o, 0.5))
    });
    let mut g = network::gradient();
    check_gradient(
        |(x, w1, b1, w2, y)| network(x, w1, b1, w2, y),
        |(x, w1, b1, w2, y)| {
            let (value, d) = g.value_and_gradient(x, w1, b1, w2, y);
            (value, (d.x.clone(), d.w1.clone(), d.b1.clone(), d.w2.clone(), d.y.clone()))
        },
        inputs.clone(),
    );
    check_rule(network::rule, inputs);
}

/// Both operands are one array.
#[differentiable]
fn twice_in_one_call(x: &Array2<f64>) -> f64 {
    distance(x, x) + 1.0
}

#[differentiable]
fn twice(x: &Array2<f64>, w: &Array1<f64>, b: &Array2<f64>) -> f64 {
    let first = affine(x, w, b);
    first * affine(x, w, b)
}

/// `x` once as a whole, and once by an element.
#[differentiable]
fn and_by_element(x: &Array2<f64>, w: &Array1<f64>, b: &Array2<f64>) -> f64 {
    let first = x[[0, 0]] * w[0];
    affine(x, w, b) * first
}

#[differentiable]
fn in_a_loop(x: &Array2<f64>, w: &Array1<f64>, b: &Array2<f64>, times: usize) -> f64 {
    let mut total = 0.0;
    for _ in 0..times {
        total = 0.5 * total + affine(x, w, b);
    }
    total
}

/// Where the call does not happen the gradient is zero, whatever the shadow held.
#[differentiable]
fn in_a_branch(x: &Array2<f64>, w: &Array1<f64>, b: &Array2<f64>, way: usize) -> f64 {
    if way == 0 { affine(x, w, b) } else { b[[0, 0]] * way as f64 }
}

#[differentiable]
fn behind_an_exit(x: &Array2<f64>, w: &Array1<f64>, b: &Array2<f64>, way: usize) -> f64 {
    if way > 0 {
        return 3.0 * b[[0, 0]];
    }
    affine(x, w, b)
}

#[differentiable]
fn in_a_closure(x: &Array2<f64>, w: &Array1<f64>, b: &Array2<f64>) -> f64 {
    let f = |k: f64| k * affine(x, w, b);
    f(2.0) + f(0.5)
}

/// A view is no whole parameter.
#[differentiable]
fn of_a_part(x: &Array2<f64>, w: &Array1<f64>, b: &Array2<f64>) -> f64 {
    affine(&x.slice(ndarray::s![..1, ..]).to_owned(), w, &b.slice(ndarray::s![..1, ..]).to_owned())
}

macro_rules! check {
    ($f:ident $(, $constant:expr)*) => {{
        let mut g = $f::gradient();
        for _ in 0..2 {
            check_gradient(
                |(x, w, b)| $f(x, w, b $(, $constant)*),
                |(x, w, b)| {
                    let (value, d) = g.value_and_gradient(x, w, b $(, $constant)*);
                    (value, (d.x.clone(), d.w.clone(), d.b.clone()))
                },
                operands(),
            );
        }
    }};
}

#[test]
fn several_contributions() {
    check!(twice);
    check!(and_by_element);
    check!(in_a_loop, 3);
    check!(in_a_loop, 0);
    check!(in_a_branch, 0);
    check!(in_a_branch, 2);
    check!(behind_an_exit, 0);
    check!(behind_an_exit, 1);
    check!(in_a_closure);
    check!(of_a_part);
    let mut g = twice_in_one_call::gradient();
    for _ in 0..2 {
        let (value, d) = g.value_and_gradient(&grid(3, 5, 0.1));
        assert_eq!((value, d.x.iter().all(|d| *d == 0.0)), (1.0, true));
    }
}

/// The same object, now by the one way and then by the other.
#[test]
fn ways_in_turn() {
    let mut g = in_a_branch::gradient();
    let (x, w, b) = &operands()[0];
    let first = g.value_and_gradient(x, w, b, 0).1.x.clone();
    assert!(first.iter().any(|d| *d != 0.0));
    assert!(g.value_and_gradient(x, w, b, 1).1.x.iter().all(|d| *d == 0.0));
    assert_eq!(g.value_and_gradient(x, w, b, 0).1.x, &first);
    let mut g = behind_an_exit::gradient();
    assert_eq!(g.value_and_gradient(x, w, b, 0).1.x, &first);
    assert!(g.value_and_gradient(x, w, b, 1).1.x.iter().all(|d| *d == 0.0));
}

/// Rules that somebody holds by hand add to shadows.
#[test]
fn rules_by_hand_add() {
    check_rule(twice::rule, operands());
}
