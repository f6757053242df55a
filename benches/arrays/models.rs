//! The functions of `benches/array_peers.py`, as users write them.

use ndarray::{Array1, Array2, Axis};
use pullback::linalg::{self, Uplo};
use pullback::prelude::*;
use pullback::{blas, nn};

fused! {
    fn sum_sin_cos_exp(x) {
        sum(x.exp().cos().sin())
    }

    fn sum_affine_tanh(x, w, b) {
        sum((x * w + b).tanh())
    }

    fn biased_tanh(h, b) {
        (h + b).tanh()
    }

    fn sum_biased_tanh(h, b) {
        sum((h + b).tanh())
    }

    fn relu(h) {
        h.max(0.0)
    }

    fn squared_distance(a, b) {
        let off = a - b;
        sum(off * off)
    }

    fn sum_of_squares(x) {
        sum(x * x)
    }

    fn squares_of_norm(x, gain, bias, epsilon: T; axis) {
        let centred = x - mean(x);
        let y = centred * (mean(centred * centred) + epsilon).sqrt().recip() * gain + bias;
        sum(y * y)
    }

    fn sum_of_products(a, b) {
        sum(a * b)
    }
}

#[differentiable]
pub(crate) fn waves(x: &Array2<f64>) -> f64 {
    sum_sin_cos_exp(x)
}

#[differentiable]
pub(crate) fn affine(x: &Array2<f64>, w: &Array1<f64>, b: &Array1<f64>) -> f64 {
    sum_affine_tanh(x, w, b)
}

/// Of each entry of *A* with each of *B*: *A ⊗ B*, of which nothing is written out.
#[differentiable]
pub(crate) fn outer(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    sum_of_products(
        &a.view().insert_axis(Axis(1)).insert_axis(Axis(3)),
        &b.view().insert_axis(Axis(0)).insert_axis(Axis(2)),
    )
}

#[differentiable]
pub(crate) fn kron(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    let mut y = Array2::<f64>::zeros((a.nrows() * b.nrows(), a.ncols() * b.ncols()));
    linalg::kron_into(&mut y, a, b);
    y.sum()
}

#[differentiable]
pub(crate) fn network(w2: &Array2<f64>, w1: &Array2<f64>, x: &Array2<f64>, y: &Array2<f64>) -> f64 {
    let mut h = Array2::<f64>::zeros((w1.nrows(), x.ncols()));
    mul_into(&mut h, w1, x);
    let mut r = Array2::<f64>::zeros((w1.nrows(), x.ncols()));
    relu(&mut r, &h);
    let mut z = Array2::<f64>::zeros((w2.nrows(), x.ncols()));
    mul_into(&mut z, w2, &r);
    squared_distance(&z, y)
}

#[differentiable]
pub(crate) fn layers(
    x: &Array2<f64>,
    w1: &Array2<f64>,
    b1: &Array1<f64>,
    w2: &Array2<f64>,
    b2: &Array1<f64>,
) -> f64 {
    let mut h = Array2::<f64>::zeros((x.nrows(), w1.ncols()));
    mul_into(&mut h, x, w1);
    let mut a = Array2::<f64>::zeros((x.nrows(), w1.ncols()));
    biased_tanh(&mut a, &h, b1);
    let mut z = Array2::<f64>::zeros((x.nrows(), w2.ncols()));
    mul_into(&mut z, &a, w2);
    sum_biased_tanh(&z, b2)
}

/// Class 0 is the right one in each row.
#[differentiable]
pub(crate) fn cross_entropy(x: &Array2<f64>) -> f64 {
    let mut norms = Array2::<f64>::zeros((x.nrows(), 1));
    nn::log_sum_exp(&mut norms, x, Axis(1));
    norms.sum() - x.column(0).sum()
}

#[differentiable]
pub(crate) fn layer_norm(x: &Array2<f64>, gain: &Array1<f64>, bias: &Array1<f64>) -> f64 {
    let mut y = Array2::<f64>::zeros((x.nrows(), x.ncols()));
    nn::layer_norm(&mut y, x, gain, bias, 1e-5, Axis(1));
    sum_of_squares(&y)
}

/// Row by row, without the array in between.
#[differentiable]
pub(crate) fn layer_norm_fused(x: &Array2<f64>, gain: &Array1<f64>, bias: &Array1<f64>) -> f64 {
    let mut squares = Array2::<f64>::zeros((x.nrows(), 1));
    squares_of_norm(&mut squares, x, gain, bias, 1e-5, Axis(1));
    squares.sum()
}

#[differentiable]
pub(crate) fn product(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    let mut c = Array2::<f64>::zeros((a.nrows(), b.ncols()));
    mul_into(&mut c, a, b);
    c.sum()
}

#[differentiable]
pub(crate) fn determinant(a: &Array2<f64>) -> f64 {
    let n = a.nrows();
    let mut k = Array2::<f64>::zeros((n, n));
    for i in 0..n {
        k[[i, i]] = n as f64;
    }
    blas::syrk(Uplo::Lower, Trans::No, 1.0, a, 1.0, &mut k);
    linalg::logdet_spd(&k)
}
