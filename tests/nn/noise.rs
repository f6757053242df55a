//! What dropout leaves, and that the reverse pass leaves out the same.

use ndarray::{Array1, Array2, array, s};
use pullback::differentiable;
use pullback::nn::dropout;
use pullback::testing::check_gradient;

#[test]
fn rates() {
    let x = Array2::<f64>::from_elem((100, 100), 3.0);
    let mut y = x.clone();
    for rate in [0.0, 0.1, 0.5, 0.9, 1.0] {
        dropout(&mut y, &x, rate, 7, 3);
        let left = y.iter().filter(|y| **y != 0.0).count() as f64 / 1e4;
        // Five standard deviations.
        assert!((left - (1.0 - rate)).abs() <= 5.0 * (rate * (1.0 - rate) / 1e4).sqrt(), "{left} at {rate}");
        assert!(y.iter().all(|&y| y == 0.0 || (y * (1.0 - rate) - 3.0).abs() < 1e-14));
    }
}

/// A layer in a loop, with another draw in each step.
#[differentiable]
fn steps(x: &Array1<f64>, w: &Array2<f64>, rate: f64, seed: u64) -> f64 {
    let mut h = x.clone();
    for step in 0..3 {
        let z = w.dot(&h);
        dropout(&mut h, &z, rate, seed, step as u64);
    }
    h.sum()
}

#[test]
fn in_a_function() {
    let x = array![1.0, -0.5, 2.0, 0.3, 0.9, -1.1];
    let w = Array2::from_shape_fn((6, 6), |(i, j)| (1.0 + 1.3 * i as f64 + 0.7 * j as f64).sin());
    let mut g = steps::gradient();
    let (_, d) = g.value_and_gradient(&x, &w, 0.4, 3);
    assert!(d.x.iter().any(|d| *d != 0.0));
    check_gradient(
        |(x, w)| steps(x, w, 0.4, 3),
        |(x, w)| {
            let (value, d) = g.value_and_gradient(x, w, 0.4, 3);
            (value, (d.x.clone(), d.w.clone()))
        },
        [(x, w)],
    );
}

/// Neither the layout of an array nor what is beside it makes a difference.
#[test]
fn which_element_gets_which_number() {
    let x = Array2::from_shape_fn((5, 7), |(i, j)| 1.0 + (i * j) as f64);
    let (mut y, mut z) = (x.clone(), Array2::zeros((14, 5)));
    dropout(&mut y, &x, 0.5, 1, 2);
    dropout(&mut z.slice_mut(s![..;-2, ..]).reversed_axes(), &x, 0.5, 1, 2);
    assert_eq!(y, z.slice(s![..;-2, ..]).t());
}
