//! Their gradients, written out: loops, and products of ndarray. What they need beside the arguments is passed in.

use ndarray::linalg::general_mat_mul;
use ndarray::{Array1, Array2, Axis, Zip};

pub(crate) fn waves(x: &Array2<f64>, dx: &mut Array2<f64>) -> f64 {
    let mut total = 0.0;
    Zip::from(dx).and(x).for_each(|dx, &x| {
        let e = x.exp();
        let (s, c) = e.sin_cos();
        let (value, slope) = c.sin_cos();
        total += value;
        *dx = -slope * s * e;
    });
    total
}

pub(crate) fn affine(
    x: &Array2<f64>,
    w: &Array1<f64>,
    b: &Array1<f64>,
    (dx, dw, db): (&mut Array2<f64>, &mut Array1<f64>, &mut Array1<f64>),
) -> f64 {
    dw.fill(0.0);
    db.fill(0.0);
    let mut total = 0.0;
    Zip::from(dx.rows_mut()).and(x.rows()).for_each(|mut dx, x| {
        for j in 0..x.len() {
            let y = (x[j] * w[j] + b[j]).tanh();
            let d = 1.0 - y * y;
            total += y;
            dx[j] = d * w[j];
            dw[j] += d * x[j];
            db[j] += d;
        }
    });
    total
}

/// The sum of all products of two entries. As the product of two sums it would be no contest.
pub(crate) fn outer(a: &Array2<f64>, b: &Array2<f64>, (da, db): (&mut Array2<f64>, &mut Array2<f64>)) -> f64 {
    da.fill(0.0);
    let mut total = 0.0;
    Zip::from(db).and(b).for_each(|db, &b| {
        let (mut sum, mut d) = (0.0, 0.0);
        Zip::from(&mut *da).and(a).for_each(|da, &a| {
            sum += a * b;
            d += a;
            *da += b;
        });
        total += sum;
        *db = d;
    });
    total
}

/// The same by way of *A ⊗ B*.
pub(crate) fn kron(
    a: &Array2<f64>,
    b: &Array2<f64>,
    y: &mut Array2<f64>,
    (da, db): (&mut Array2<f64>, &mut Array2<f64>),
) -> f64 {
    let (p, q) = b.dim();
    let (m, n) = a.dim();
    for i in 0..m {
        for k in 0..p {
            let (mut row, b) = (y.row_mut(i * p + k), b.row(k));
            let row = row.as_slice_mut().expect("a row");
            for j in 0..n {
                let factor = a[[i, j]];
                for (y, b) in row[j * q..][..q].iter_mut().zip(b) {
                    *y = factor * b;
                }
            }
        }
    }
    let total = y.sum();
    db.fill(0.0);
    for ((i, j), da) in da.indexed_iter_mut() {
        let mut d = 0.0;
        for (db, b) in db.iter_mut().zip(b) {
            *db += a[[i, j]];
            d += b;
        }
        *da = d;
    }
    total
}

pub(crate) struct Network {
    pub(crate) h: Array2<f64>,
    pub(crate) r: Array2<f64>,
    pub(crate) z: Array2<f64>,
    pub(crate) d_w2: Array2<f64>,
    pub(crate) d_w1: Array2<f64>,
    pub(crate) d_x: Array2<f64>,
    pub(crate) d_y: Array2<f64>,
}

impl Network {
    pub(crate) fn new(w2: &Array2<f64>, w1: &Array2<f64>, x: &Array2<f64>, y: &Array2<f64>) -> Self {
        let hidden = Array2::zeros((w1.nrows(), x.ncols()));
        Network {
            h: hidden.clone(),
            r: hidden,
            z: y.clone(),
            d_w2: w2.clone(),
            d_w1: w1.clone(),
            d_x: x.clone(),
            d_y: y.clone(),
        }
    }

    pub(crate) fn gradient(
        &mut self,
        w2: &Array2<f64>,
        w1: &Array2<f64>,
        x: &Array2<f64>,
        y: &Array2<f64>,
    ) -> f64 {
        let Network { h, r, z, d_w2, d_w1, d_x, d_y } = self;
        general_mat_mul(1.0, w1, x, 0.0, h);
        Zip::from(&mut *r).and(&*h).for_each(|r, &h| *r = h.max(0.0));
        general_mat_mul(1.0, w2, r, 0.0, z);
        let mut total = 0.0;
        Zip::from(&mut *z).and(d_y).and(y).for_each(|z, d_y, &y| {
            let off = *z - y;
            total += off * off;
            *z = 2.0 * off;
            *d_y = -2.0 * off;
        });
        general_mat_mul(1.0, z, &r.t(), 0.0, d_w2);
        general_mat_mul(1.0, &w2.t(), z, 0.0, r);
        Zip::from(&mut *r).and(&*h).for_each(|d, &h| {
            if h < 0.0 {
                *d = 0.0;
            }
        });
        general_mat_mul(1.0, r, &x.t(), 0.0, d_w1);
        general_mat_mul(1.0, &w1.t(), r, 0.0, d_x);
        total
    }
}

pub(crate) struct Layers {
    pub(crate) a: Array2<f64>,
    pub(crate) z: Array2<f64>,
    pub(crate) d_x: Array2<f64>,
    pub(crate) d_w1: Array2<f64>,
    pub(crate) d_b1: Array1<f64>,
    pub(crate) d_w2: Array2<f64>,
    pub(crate) d_b2: Array1<f64>,
}

impl Layers {
    pub(crate) fn new(x: &Array2<f64>, w: &Array2<f64>, b: &Array1<f64>) -> Self {
        Layers {
            a: x.clone(),
            z: x.clone(),
            d_x: x.clone(),
            d_w1: w.clone(),
            d_b1: b.clone(),
            d_w2: w.clone(),
            d_b2: b.clone(),
        }
    }

    pub(crate) fn gradient(
        &mut self,
        x: &Array2<f64>,
        (w1, b1): (&Array2<f64>, &Array1<f64>),
        (w2, b2): (&Array2<f64>, &Array1<f64>),
    ) -> f64 {
        let Layers { a, z, d_x, d_w1, d_b1, d_w2, d_b2 } = self;
        general_mat_mul(1.0, x, w1, 0.0, a);
        for mut row in a.rows_mut() {
            Zip::from(&mut row).and(b1).for_each(|a, b| *a = (*a + b).tanh());
        }
        general_mat_mul(1.0, a, w2, 0.0, z);
        let mut total = 0.0;
        d_b2.fill(0.0);
        for mut row in z.rows_mut() {
            Zip::from(&mut row).and(&mut *d_b2).and(b2).for_each(|z, d_b2, b| {
                let y = (*z + b).tanh();
                total += y;
                *z = 1.0 - y * y;
                *d_b2 += *z;
            });
        }
        general_mat_mul(1.0, &a.t(), z, 0.0, d_w2);
        // Their places are free.
        general_mat_mul(1.0, z, &w2.t(), 0.0, d_x);
        d_b1.fill(0.0);
        for (mut row, d) in a.rows_mut().into_iter().zip(d_x.rows()) {
            Zip::from(&mut row).and(&mut *d_b1).and(d).for_each(|a, d_b1, d| {
                *a = d * (1.0 - *a * *a);
                *d_b1 += *a;
            });
        }
        general_mat_mul(1.0, &x.t(), a, 0.0, d_w1);
        general_mat_mul(1.0, a, &w1.t(), 0.0, d_x);
        total
    }
}

pub(crate) fn cross_entropy(x: &Array2<f64>, dx: &mut Array2<f64>) -> f64 {
    let mut total = 0.0;
    for (x, mut dx) in x.rows().into_iter().zip(dx.rows_mut()) {
        let largest = x.fold(f64::NEG_INFINITY, |largest, x| largest.max(*x));
        let mut sum = 0.0;
        Zip::from(&mut dx).and(x).for_each(|dx, x| {
            *dx = (x - largest).exp();
            sum += *dx;
        });
        dx *= 1.0 / sum;
        dx[0] -= 1.0;
        total += largest + sum.ln() - x[0];
    }
    total
}

pub(crate) fn layer_norm(
    x: &Array2<f64>,
    gain: &Array1<f64>,
    bias: &Array1<f64>,
    (dx, d_gain, d_bias): (&mut Array2<f64>, &mut Array1<f64>, &mut Array1<f64>),
) -> f64 {
    let n = x.ncols() as f64;
    d_gain.fill(0.0);
    d_bias.fill(0.0);
    let mut total = 0.0;
    for (x, mut dx) in x.rows().into_iter().zip(dx.rows_mut()) {
        let mean = x.sum() / n;
        let variance = x.fold(0.0, |sum, x| sum + (x - mean) * (x - mean)) / n;
        let scale = 1.0 / (variance + 1e-5).sqrt();
        let (mut sum, mut moment) = (0.0, 0.0);
        for j in 0..x.len() {
            let z = (x[j] - mean) * scale;
            let y = z * gain[j] + bias[j];
            total += y * y;
            let d = 2.0 * y;
            d_gain[j] += d * z;
            d_bias[j] += d;
            dx[j] = d * gain[j];
            sum += dx[j];
            moment += dx[j] * z;
        }
        for j in 0..x.len() {
            let z = (x[j] - mean) * scale;
            dx[j] = (dx[j] - sum / n - z * moment / n) * scale;
        }
    }
    total
}

pub(crate) fn product(
    a: &Array2<f64>,
    b: &Array2<f64>,
    c: &mut Array2<f64>,
    (da, db): (&mut Array2<f64>, &mut Array2<f64>),
) -> f64 {
    general_mat_mul(1.0, a, b, 0.0, c);
    let total = c.sum();
    c.fill(1.0);
    general_mat_mul(1.0, c, &b.t(), 0.0, da);
    general_mat_mul(1.0, &a.t(), c, 0.0, db);
    total
}

/// *Ȧ = 2·K⁻¹·A*, by the rows of Cholesky's factor and those of its inverse.
pub(crate) fn determinant(
    a: &Array2<f64>,
    (k, inverse): (&mut Array2<f64>, &mut Array2<f64>),
    da: &mut Array2<f64>,
) -> f64 {
    let n = a.nrows();
    general_mat_mul(1.0, a, &a.t(), 0.0, k);
    k.diag_mut().iter_mut().for_each(|k| *k += n as f64);
    // K = L·Lᵀ, in place, row by row
    let mut total = 0.0;
    for i in 0..n {
        let (done, mut rest) = k.view_mut().split_at(Axis(0), i);
        let mut row = rest.row_mut(0);
        let row = row.as_slice_mut().expect("a row");
        for j in 0..i {
            let other = done.row(j);
            let other = &other.to_slice().expect("a row")[..=j];
            let dot = unrolled_dot(&row[..j], &other[..j]);
            row[j] = (row[j] - dot) / other[j];
        }
        let pivot = (row[i] - unrolled_dot(&row[..i], &row[..i])).sqrt();
        row[i] = pivot;
        total += 2.0 * pivot.ln();
    }
    // L⁻¹
    inverse.fill(0.0);
    for i in 0..n {
        let (done, mut rest) = inverse.view_mut().split_at(Axis(0), i);
        let mut row = rest.row_mut(0);
        row[i] = 1.0;
        for l in 0..i {
            row.scaled_add(-k[[i, l]], &done.row(l));
        }
        row /= k[[i, i]];
    }
    // K⁻¹·A = L⁻ᵀ·(L⁻¹·A)
    general_mat_mul(1.0, inverse, a, 0.0, k);
    general_mat_mul(2.0, &inverse.t(), k, 0.0, da);
    total
}

fn unrolled_dot(x: &[f64], y: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (xs, ys) = (x.chunks_exact(8), y.chunks_exact(8));
    let rest: f64 = xs.remainder().iter().zip(ys.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in xs.zip(ys) {
        for l in 0..8 {
            sums[l] += x[l] * y[l];
        }
    }
    sums.iter().sum::<f64>() + rest
}
