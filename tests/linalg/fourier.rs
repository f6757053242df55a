//! Discrete Fourier transforms.

use ndarray::{Array1, Array2, Array3, Ix2, Ix3};
use pullback::linalg;
use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

use crate::inputs::{case, noise, ones, single};

fn slowly(x: &Array2<f64>, sign: f64) -> Array2<f64> {
    let n = x.nrows();
    Array2::from_shape_fn((n, 2), |(k, part)| {
        let term = |j: usize| {
            let (sin, cos) = (sign * std::f64::consts::TAU * ((j * k) % n) as f64 / n as f64).sin_cos();
            let (re, im) = (x[[j, 0]], x[[j, 1]]);
            if part == 0 { re * cos - im * sin } else { re * sin + im * cos }
        };
        (0..n).map(term).sum()
    })
}

fn close(a: &Array2<f64>, b: &Array2<f64>) -> bool {
    a.dim() == b.dim() && (a - b).iter().all(|x| x.abs() < 1e-12)
}

#[test]
fn complex() {
    let inputs = ones("fft");
    for x in &inputs {
        assert!(close(&linalg::fft(x), &slowly(x, -1.0)));
        assert!(close(&linalg::ifft(&linalg::fft(x)), x));
    }
    let several = [(2, 5), (1, 1), (3, 8), (0, 4), (2, 0)];
    let several = several.map(|(m, n)| (Array3::from_shape_fn((m, n, 2), |(i, j, k)| noise(i, j, k)),));
    macro_rules! check {
        ($($name:ident, $into:ident;)*) => {$(
            let doubles = inputs.iter().map(|x| (x.clone(),));
            CheckRule::new(linalg::$name::<f64, Ix2>::rule)
                .inputs(doubles)
                .panicking((Array2::zeros((3, 3)),))
                .tolerance(1e-9)
                .allocating(1)
                .run();
            CheckRule::new(linalg::$into::<f32, Ix2>::rule)
                .inputs(inputs.iter().map(|x| (single(x), single(x))))
                .allocating(0)
                .run();
            CheckRule::new(linalg::$name::<f64, Ix3>::rule).inputs(several.clone()).tolerance(1e-9).allocating(1).run();
        )*};
    }
    check! {
        fft, fft_into;
        ifft, ifft_into;
    }
}

#[test]
fn real() {
    let lengths = || case("rfft").sizes.iter().map(|size| size[0]);
    let series = || lengths().map(|n| (0..n).map(|i| noise(1, i, 0)).collect::<Array1<f64>>());
    let spectra = || lengths().map(|n| (n, Array2::from_shape_fn((n / 2 + 1, 2), |(i, j)| noise(2, i, j))));
    for x in series() {
        let n = x.len();
        let complex = Array2::from_shape_fn((n, 2), |(j, part)| if part == 0 { x[j] } else { 0.0 });
        let y = linalg::rfft(&x);
        assert!(close(&y, &slowly(&complex, -1.0).slice_move(ndarray::s![..n / 2 + 1, ..])));
        assert!((linalg::irfft(n, &y) - x).iter().all(|x| x.abs() < 1e-13));
    }
    CheckRule::new(linalg::rfft::<f64>::rule)
        .inputs(series().map(|x| (x,)))
        .panicking((Array1::zeros(0),))
        .tolerance(1e-9)
        .allocating(1)
        .run();
    CheckRule::new(linalg::rfft_into::<f32>::rule)
        .inputs(series().map(|x| (Array2::zeros((x.len() / 2 + 1, 2)), x.mapv(|x| x as f32))))
        .allocating(0)
        .run();
    CheckRule::new(linalg::irfft::<f64>::rule)
        .inputs(spectra())
        .panicking((4, Array2::zeros((2, 2))))
        .tolerance(1e-9)
        .allocating(1)
        .run();
    CheckRule::new(linalg::irfft_into::<f32>::rule)
        .inputs(spectra().map(|(n, x)| (Array1::from_elem(n, 7.0), n, single(&x))))
        .allocating(0)
        .run();
}

/// The circular convolution of a signal and a kernel, and how far it is from what was measured.
#[differentiable]
fn convolution(signal: &Array1<f64>, kernel: &Array1<f64>, #[constant] measured: &Array1<f64>) -> f64 {
    let n = signal.len();
    let a = linalg::rfft(signal);
    let b = linalg::rfft(kernel);
    let mut product = Array2::<f64>::zeros((a.nrows(), 2));
    for k in 0..a.nrows() {
        product[[k, 0]] = a[[k, 0]] * b[[k, 0]] - a[[k, 1]] * b[[k, 1]];
        product[[k, 1]] = a[[k, 0]] * b[[k, 1]] + a[[k, 1]] * b[[k, 0]];
    }
    let y = linalg::irfft(n, &product);
    let mut total = 0.0;
    for i in 0..n {
        total += (y[i] - measured[i]) * (y[i] - measured[i]);
    }
    total
}

#[test]
fn convolutions() {
    let series = |n: usize, seed| (0..n).map(|i| noise(seed, i, 0)).collect::<Array1<f64>>();
    check_rule(convolution::rule, [8, 15, 1].map(|n| (series(n, 1), series(n, 2), series(n, 3))));
    let (a, b) = (series(6, 1), series(6, 2));
    let direct = (0..6).map(|i| (0..6).map(|j| a[j] * b[(i + 6 - j) % 6]).sum()).collect::<Array1<f64>>();
    assert!(convolution(&a, &b, &direct) < 1e-25);
}
