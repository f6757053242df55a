//! Large products on several threads. A test of its own, because the number of threads is that of the process.

use ndarray::Array2;
use pullback_rules::{Trans, gemm, mul_into, set_threads};

/// Products of one size, by both functions and in both precisions.
fn products(n: usize) -> (Array2<f64>, Array2<f32>) {
    let element = |(i, j): (usize, usize)| ((7 * i + 3 * j) as f64).sin();
    let (a, b) = (Array2::from_shape_fn((n, n + 1), element), Array2::from_shape_fn((n + 1, n + 2), element));
    let mut c = Array2::zeros((n, n + 2));
    mul_into(&mut c, &a, &b);
    let (a, b) = (a.mapv(|x| x as f32), b.mapv(|x| x as f32).reversed_axes());
    let mut d = Array2::ones((n, n + 2));
    gemm(Trans::No, Trans::Yes, 0.5, &a, &b, -1.0, &mut d);
    (c, d)
}

/// With the features `openblas` and `rayon` these are two threads, without them one all the same.
#[test]
fn threads_do_not_change_products() {
    for n in [5, 33, 300] {
        set_threads(1);
        let one = products(n);
        for threads in [2, 0, 1] {
            set_threads(threads);
            let several = products(n);
            let close = |x: f64, y: f64, epsilon: f64| (x - y).abs() <= 4.0 * epsilon * n as f64;
            assert!(one.0.iter().zip(&several.0).all(|(&x, &y)| close(x, y, f64::EPSILON)), "{n}");
            assert!(
                one.1.iter().zip(&several.1).all(|(&x, &y)| close(x.into(), y.into(), f32::EPSILON.into())),
                "{n}"
            );
        }
    }
}
