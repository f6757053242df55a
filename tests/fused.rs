//! Fused functions of arrays.
#![allow(missing_docs)]

use ndarray::{Array1, Array2, Axis};
use pullback::testing::{CountingAllocator, check_gradient, check_rule};
use pullback::{differentiable, fused};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fused! {
    /// tanh(x·w + b)
    fn affine_tanh(x, w, b) { (x * w + b).tanh() }

    /// Σ sin cos exp x
    fn waves(x) { sum(x.exp().cos().sin()) }

    /// s·x/z
    fn scaled(x, z, s: T) { s * x / z }

    fn softmax(x; axis) {
        let e = (x - constant(max(x))).exp();
        e / sum(e)
    }

    fn log_sum_exp(x; axis) {
        let m = constant(max(x));
        m + sum((x - m).exp()).ln()
    }

    fn layer_norm(x, gain, bias; axis) {
        let centred = x - mean(x);
        centred / (mean(centred * centred) + 1e-5).sqrt() * gain + bias
    }

    fn sines(x) {
        sum(x.sin())
    }

    fn norm(x) { sum(x * x).sqrt() }

    fn normalised(x) { x / sum(x * x).sqrt() }

    fn scaled_twice(w, x, z, k: T) { w * sum(constant(x) * k) + k * z }

    /// ln Σ (1 + t)·eᵏˣ
    fn free_energy(x, t, k: T) {
        let m = constant(max(k * x));
        m + sum((1.0 + t) * (k * x - m).exp()).ln()
    }

    /// (Σ sin(x − x̄))·x̄
    fn waves_about_mean(x) {
        let centre = mean(x);
        sum((x - centre).sin()) * centre
    }

    /// Neither branch can have what the other one is for.
    fn guarded(x, y) {
        sum(if x > 0.5 { (x - 0.5).sqrt().ln() + x / y } else { 2.0 * x * y })
    }

    fn huber(x, t, delta: T) {
        let d = (x - t).abs();
        mean(if d < delta { 0.5 * d * d } else { delta * (d - 0.5 * delta) })
    }
}

fn wave(n: usize) -> Array1<f64> {
    (0..n).map(|i| (0.7 * i as f64 + 0.3).sin()).collect()
}

fn grid(n: usize, m: usize) -> Array2<f64> {
    Array2::from_shape_fn((n, m), |(i, j)| (0.7 * i as f64 + 0.31 * j as f64 + 0.3).sin())
}

#[test]
fn values() {
    let (x, w, b) = (grid(3, 40), wave(40), wave(1));
    let mut y = Array2::zeros((3, 40));
    affine_tanh(&mut y, &x, &w, &b);
    for ((i, j), y) in y.indexed_iter() {
        assert!((y - (x[[i, j]] * w[j] + b[0]).tanh()).abs() < 1e-15);
    }
    let total: f64 = x.iter().map(|x| x.exp().cos().sin()).sum();
    assert!((waves(&x) - total).abs() < 1e-13);
    let mut p = Array2::zeros((3, 40));
    softmax(&mut p, &x, Axis(0));
    for p in p.sum_axis(Axis(0)) {
        assert!((p - 1.0).abs() < 1e-15);
    }
    assert!((norm(&x) - x.iter().map(|x| x * x).sum::<f64>().sqrt()).abs() < 1e-14);
}

#[test]
fn element_wise() {
    check_rule(
        affine_tanh::<f64, ndarray::Ix2, ndarray::Ix2, ndarray::Ix1, ndarray::Ix1>::rule,
        [
            (Array2::zeros((3, 5)), grid(3, 5), wave(5), wave(1)),
            (Array2::zeros((2, 70)), grid(2, 70), wave(70), wave(70)),
            (Array2::zeros((0, 4)), grid(0, 4), wave(4), wave(1)),
        ],
    );
    check_rule(
        scaled::<f64, ndarray::Ix2, ndarray::Ix2, ndarray::Ix1>::rule,
        [
            (Array2::zeros((3, 5)), grid(3, 5), wave(5), 0.7),
            (Array2::zeros((2, 33)), grid(2, 1), wave(33), 0.3),
        ],
    );
}

#[test]
fn reductions() {
    check_rule(waves::<f64, ndarray::Ix2>::rule, [(grid(3, 5),), (grid(40, 7),), (grid(0, 3),)]);
    check_rule(norm::<f64, ndarray::Ix1>::rule, [(wave(3),), (wave(70),)]);
    check_rule(
        huber::<f64, ndarray::Ix2, ndarray::Ix1>::rule,
        [(grid(4, 5), wave(5), 0.4), (grid(2, 1), wave(1), 0.2)],
    );
}

#[test]
fn rows() {
    for axis in [Axis(0), Axis(1)] {
        let y = |n, m| if axis == Axis(0) { Array2::zeros((1, m)) } else { Array2::zeros((n, 1)) };
        check_rule(
            softmax::<f64, ndarray::Ix2, ndarray::Ix2>::rule,
            [(Array2::zeros((3, 5)), grid(3, 5), axis), (Array2::zeros((40, 34)), grid(40, 34), axis)],
        );
        check_rule(
            log_sum_exp::<f64, ndarray::Ix2, ndarray::Ix2>::rule,
            [(y(3, 5), grid(3, 5), axis), (y(2, 70), grid(2, 70), axis)],
        );
        check_rule(
            layer_norm::<f64, ndarray::Ix2, ndarray::Ix2, ndarray::Ix2, ndarray::Ix2>::rule,
            [(Array2::zeros((3, 5)), grid(3, 5), grid(3, 5), grid(1, 5), axis)],
        );
    }
    check_rule(normalised::<f64, ndarray::Ix2, ndarray::Ix2>::rule, [(Array2::zeros((3, 4)), grid(3, 4))]);
}

#[differentiable]
fn of_factor(w: &Array1<f64>, x: &Array1<f64>, z: &Array1<f64>, k: f64) -> f64 {
    let mut y = Array1::<f64>::zeros(w.len());
    scaled_twice(&mut y, w, x, z, k);
    norm(&y)
}

/// The gradient with respect to the number takes one pass more than the others, and reads what the last one overwrites.
#[test]
fn what_is_overwritten_is_overwritten_last() {
    let (w, x, z, k) = (wave(5), wave(5), wave(5) * 0.3, 0.7);
    let mut g = of_factor::gradient();
    let (_, d) = g.value_and_gradient(&w, &x, &z, k);
    let step = 1e-5;
    let slope = (of_factor(&w, &x, &z, k + step) - of_factor(&w, &x, &z, k - step)) / (2.0 * step);
    assert!((d.k - slope).abs() < 1e-8, "{} instead of {slope}", d.k);
}

#[differentiable]
fn all_free_energy(x: &Array2<f64>, t: &Array2<f64>, k: f64) -> f64 {
    free_energy(x, t, k)
}

#[differentiable]
fn all_waves(x: &Array2<f64>) -> f64 {
    waves_about_mean(x)
}

#[differentiable]
fn added_to(x: &Array2<f64>) -> f64 {
    free_energy(x, x, 0.7) * x[[0, 0]]
}

/// What a later pass asks for again waits where a gradient will be, if that is as large as everything, and empty.
#[test]
fn waiting_in_gradients() {
    let by_columns = |n, m| grid(m, n).reversed_axes();
    for shape in [(3, 5), (1, 1), (9, 40)] {
        let x = [grid(shape.0, shape.1), by_columns(shape.0, shape.1), grid(shape.0, 1), grid(1, shape.1)];
        let t = [grid(shape.0, shape.1) * 0.5, grid(1, shape.1) * 0.5];
        for (x, t) in x.iter().flat_map(|x| t.iter().map(move |t| (x.clone(), t.clone()))) {
            let mut g = all_free_energy::gradient();
            check_gradient(
                |(x, t, k)| all_free_energy(x, t, *k),
                |(x, t, k)| {
                    let (value, d) = g.value_and_gradient(x, t, *k);
                    (value, (d.x.to_owned(), d.t.to_owned(), d.k))
                },
                [(x, t, 0.7)],
            );
        }
    }
    let (mut waves, mut added) = (all_waves::gradient(), added_to::gradient());
    for x in [grid(3, 5), by_columns(9, 40)] {
        let one = |(value, d): (f64, &Array2<f64>)| (value, (d.to_owned(),));
        check_gradient(
            |(x,)| all_waves(x),
            |(x,)| {
                let (value, d) = waves.value_and_gradient(x);
                one((value, d.x))
            },
            [(x.clone(),)],
        );
        check_gradient(
            |(x,)| added_to(x),
            |(x,)| {
                let (value, d) = added.value_and_gradient(x);
                one((value, d.x))
            },
            [(x,)],
        );
    }
    // Functions that stop at large arguments pass their block on.
    let x = grid(3, 50) * 1e7;
    let centre = x.mean().unwrap();
    let total: f64 = x.iter().map(|x| (x - centre).sin()).sum();
    let mut g = all_waves::gradient();
    let (value, d) = g.value_and_gradient(&x);
    assert!((value - total * centre).abs() < 1e-6 * centre.abs());
    let slopes: f64 = x.iter().map(|x| (x - centre).cos()).sum();
    for (d, x) in d.x.iter().zip(&x) {
        let expected = (x - centre).cos() * centre + (total - slopes * centre) / 150.0;
        assert!((d - expected).abs() < 1e-6 * centre.abs(), "{d} instead of {expected}");
    }
}

#[differentiable]
fn all_sines(x: &Array1<f64>) -> f64 {
    sines(x)
}

#[differentiable]
fn all_guarded(x: &Array1<f64>, y: &Array1<f64>) -> f64 {
    guarded(x, y)
}

/// What is not selected has no gradient, not even 0·∞.
#[test]
fn infinite_where_not_selected() {
    let (x, y) = (Array1::from_vec(vec![0.5, 1.5, 0.2]), Array1::from_vec(vec![0.0, 2.0, 0.0]));
    let mut g = all_guarded::gradient();
    let (_, d) = g.value_and_gradient(&x, &y);
    assert_eq!(d.x.to_vec(), [0.0, 1.0, 0.0]);
    assert_eq!(d.y.to_vec(), [1.0, -0.375, 0.4]);
    check_rule(guarded::<f64, ndarray::Ix1, ndarray::Ix1>::rule, [(wave(5), wave(5) + 2.0)]);
}

/// Beyond what vector code can do, and at what is no number.
#[test]
fn far_arguments() {
    let x = Array1::from_vec(vec![1e9, 0.5, -3e7, 2.0]);
    let expected: f64 = x.iter().map(|x: &f64| x.sin()).sum();
    assert!((sines(&x) - expected).abs() < 1e-14);
    check_rule(sines::<f64, ndarray::Ix1>::rule, [(wave(5),)]);
    let x = wave(40) * 3e6;
    let mut g = all_sines::gradient();
    let (_, d) = g.value_and_gradient(&x);
    assert!(d.x.iter().zip(&x).all(|(d, x)| (d - x.cos()).abs() < 1e-15));
    assert!(sines(&Array1::from_vec(vec![f64::INFINITY, 1.0])).is_nan());
}
