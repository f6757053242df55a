//! Vectors and matrices whose dimensions are known at run time.

use nalgebra::{DMatrix, DVector, RowDVector, Vector3};
use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

/// Numbers for tests, all different.
fn matrix(rows: usize, columns: usize, start: f64) -> DMatrix<f64> {
    DMatrix::from_fn(rows, columns, |i, j| start + 0.37 * ((3 * i + 7 * j) as f64 + start).sin())
}

fn vector(len: usize, start: f64) -> DVector<f64> {
    DVector::from_fn(len, |i, _| start + 0.41 * ((5 * i) as f64 - start).cos())
}

#[differentiable]
fn by_entries(a: &DMatrix<f64>, x: &DVector<f64>, y: &mut DVector<f64>) -> f64 {
    let mut total = 0.0;
    for i in 0..a.nrows() {
        let mut sum = 0.0;
        for j in 0..a.ncols() {
            sum += a[(i, j)] * x[j];
        }
        y[i] = y[i] * sum + a[i];
        total += y[i] * y[i];
    }
    total / y.len() as f64
}

#[differentiable]
fn with_locals(x: &DVector<f64>, n: usize) -> f64 {
    let mut y = DVector::<f64>::zeros(n);
    let mut m = DMatrix::<f64>::zeros(n, x.len());
    let z = x.clone();
    for i in 0..n {
        for j in 0..x.len() {
            m[(i, j)] += x[j] * z[i % x.len()];
            y[i] += m[(i, j)] * z[j];
        }
    }
    m.fill(x[0]);
    let copy = y.clone();
    y[0] *= m[(0, 0)];
    y[n - 1] * copy[0] + y[0]
}

#[test]
fn entries() {
    check_rule(
        by_entries::rule,
        [
            (matrix(2, 3, 0.3), vector(3, 0.2), vector(2, -0.4)),
            (matrix(4, 1, 0.3), vector(1, 0.2), vector(4, -0.4)),
        ],
    );
    check_rule(with_locals::rule, [(vector(3, 0.2), 2), (vector(2, 0.7), 4)]);
}

/// Σ over the layers of a network with tanh between them.
#[differentiable]
fn layer(w: &DMatrix<f64>, b: &DVector<f64>, x: &DVector<f64>) -> DVector<f64> {
    let mut h = w * x + b;
    for i in 0..h.len() {
        h[i] = h[i].tanh();
    }
    h
}

#[differentiable]
fn network(
    w1: &DMatrix<f64>,
    b1: &DVector<f64>,
    w2: &DMatrix<f64>,
    b2: &DVector<f64>,
    x: &DVector<f64>,
    y: &DVector<f64>,
) -> f64 {
    let h = layer(w1, b1, x);
    let out = layer(w2, b2, &h);
    (out - y).norm_squared() + 0.01 * (w1.norm_squared() + w2.norm())
}

#[test]
fn neural_network() {
    check_rule(layer::rule, [(matrix(2, 3, 0.3), vector(2, 0.2), vector(3, -0.4))]);
    check_rule(
        network::rule,
        [
            (
                matrix(4, 3, 0.3),
                vector(4, 0.2),
                matrix(2, 4, -0.1),
                vector(2, 0.6),
                vector(3, -0.4),
                vector(2, 0.9),
            ),
            (
                matrix(2, 5, 0.1),
                vector(2, 0.7),
                matrix(1, 2, -0.3),
                vector(1, 0.1),
                vector(5, -0.2),
                vector(1, 0.9),
            ),
        ],
    );
}

#[differentiable]
fn least_squares(a: &DMatrix<f64>, x: &DVector<f64>, b: &DVector<f64>, l: f64) -> f64 {
    let r = a * x - b;
    0.5 * r.dot(&r)
        + l * x.norm()
        + (2.0 * &r - x.component_mul(x) / l).sum()
        + x.metric_distance(b) * r.mean()
}

#[test]
fn residuals() {
    CheckRule::new(least_squares::rule)
        .input((matrix(3, 3, 0.3), vector(3, 0.5), vector(3, -0.4), 0.7))
        .input((matrix(2, 2, 0.3), vector(2, 0.5), vector(2, -0.4), 0.7))
        .panicking((matrix(3, 2, 0.3), vector(3, 0.5), vector(3, -0.4), 0.7))
        .panicking((matrix(3, 3, 0.3), vector(3, 0.5), vector(2, -0.4), 0.7))
        .run();
}

/// Descends along the gradient of a quadratic.
#[differentiable]
fn descent(a: &DMatrix<f64>, x: &mut DVector<f64>, b: &DVector<f64>, rate: f64, steps: usize) -> f64 {
    for _ in 0..steps {
        let r = a * &*x - b;
        let g = a.transpose() * &r;
        *x -= rate * g;
        *x *= 0.99;
    }
    let r = a * &*x - b;
    r.norm_squared()
}

#[test]
fn loops() {
    check_rule(
        descent::rule,
        [
            (matrix(3, 2, 0.3), vector(2, 0.5), vector(3, -0.4), 0.1, 3),
            (matrix(2, 4, 0.3), vector(4, 0.5), vector(2, -0.4), 0.2, 1),
        ],
    );
}

#[derive(Clone, Differentiable)]
struct Network {
    weights: DMatrix<f64>,
    bias: DVector<f64>,
    gain: f64,
}

/// Operators of fields.
#[differentiable]
fn with_fields(net: &Network, x: &DVector<f64>) -> f64 {
    let h = net.gain * (&net.weights * x) + &net.bias;
    let centred = &h - &net.bias * net.gain;
    h.dot(&centred) + net.weights[(0, 1)] * net.bias[0]
}

#[test]
fn fields() {
    let net = Network { weights: matrix(2, 3, 0.3), bias: vector(2, -0.2), gain: 0.7 };
    check_rule(with_fields::rule, [(net, vector(3, 0.4))]);
}

/// Branches, and a function that makes a matrix of numbers.
#[differentiable]
fn rows_of(x: &[f64], n: usize) -> DMatrix<f64> {
    let mut m = DMatrix::zeros(x.len(), n);
    for i in 0..x.len() {
        for j in 0..n {
            m[(i, j)] = x[i] * (j as f64 + 1.0);
        }
    }
    m
}

#[differentiable]
fn branching(x: &[f64], y: &DVector<f64>, s: f64) -> f64 {
    let m = rows_of(x, y.len());
    let mut z = &m * y;
    if s > 0.0 {
        z *= s;
        z += &m * y * 0.5;
    } else {
        z = -(&m * y) / s;
    }
    let w = z.clone() + &z;
    let u = w - 3.0 * &z;
    u.norm_squared() + (m.transpose() * &u).sum()
}

#[test]
fn branches() {
    check_rule(rows_of::rule, [(vec![0.5, -0.2, 0.8], 2)]);
    check_rule(
        branching::rule,
        [(vec![0.5, -0.2, 0.8], vector(2, 0.3), 0.7), (vec![0.5, -0.2], vector(3, 0.3), -0.7)],
    );
}

#[differentiable]
fn outer(x: &DVector<f64>, a: &DMatrix<f64>) -> DMatrix<f64> {
    let p = x * x.transpose() + a * 2.0;
    p.component_mul(a) * &p - a.component_div(&p)
}

#[test]
fn products_of_matrices() {
    check_rule(outer::rule, [(vector(3, 0.9), matrix(3, 3, 1.3)), (vector(9, 0.9), matrix(9, 9, 1.3))]);
}

#[differentiable]
fn single(a: &DMatrix<f32>, x: &DVector<f32>) -> f32 {
    let y = 2.0 * (a * x) - x;
    y.norm_squared() / x.norm()
}

#[test]
fn single_precision() {
    check_rule(single::rule, [(matrix(2, 2, 0.3).cast::<f32>(), vector(2, 0.5).cast::<f32>())]);
}

#[differentiable]
fn sum_of_all(points: &[DVector<f64>], weights: &Vec<DMatrix<f64>>) -> f64 {
    let mut total = 0.0;
    for i in 0..points.len() {
        let y = &weights[i] * &points[i];
        total += y.dot(&points[i]);
    }
    total
}

#[test]
fn slices() {
    check_rule(
        sum_of_all::rule,
        [(vec![vector(2, 0.5), vector(3, 0.1)], vec![matrix(2, 2, 0.3), matrix(3, 3, -0.3)])],
    );
}

#[differentiable]
fn in_place(a: &DMatrix<f64>, x: &DVector<f64>, y: &mut DVector<f64>, alpha: f64, beta: f64) -> f64 {
    y.gemv(alpha, a, x, beta);
    let mut z = DVector::zeros(y.len());
    z.copy_from(y);
    for _ in 0..2 {
        z.axpy(alpha, y, 0.5);
        y.gemv(1.0, a, x, beta);
    }
    let mut c = a.clone();
    c.gemm(beta, a, a, alpha);
    y.axpy(1.0, &z, beta);
    y.dot(&z) + c.sum()
}

#[test]
fn writes() {
    check_rule(
        in_place::rule,
        [
            (matrix(3, 3, 0.3), vector(3, 0.5), vector(3, -0.4), 0.7, 1.2),
            (matrix(10, 10, 0.1), vector(10, 0.5), vector(10, -0.4), 0.3, 0.2),
        ],
    );
}

#[derive(Clone, Differentiable)]
struct Problem {
    #[constant]
    goal: DVector<f64>,
    #[constant]
    axis: Vector3<f64>,
    start: Vector3<f64>,
    path: DVector<f64>,
}

#[differentiable]
fn miss(p: &Problem, x: &DVector<f64>) -> f64 {
    let r = x - &p.goal;
    let y = x.clone() + &p.path;
    let axis = p.axis;
    let along = axis.dot(&p.start) + p.axis[1] * axis.z + p.axis.norm();
    r.dot(&y) * along + p.goal[0] * p.path[1] + p.goal.dot(x) + (p.axis - p.start).norm()
}

#[test]
fn constant_fields() {
    let axis = Vector3::new(0.2, -0.5, 0.8);
    let problem = Problem { goal: vector(2, 0.3), axis, start: axis * 1.5, path: vector(2, -0.8) };
    check_rule(miss::rule, [(problem, vector(2, 0.9))]);
}

#[differentiable]
fn in_arms(a: &DMatrix<f64>, x: &DVector<f64>, wide: bool) -> f64 {
    let y = if wide { a * x + x } else { 2.0 * x };
    let z = if wide && x[0] > 0.0 {
        &y - x
    } else {
        let w = a * &y;
        -w
    };
    y.dot(&z)
        + match wide {
            true => (&z + &y).norm_squared(),
            false => (a * (&z - x) * 0.5).sum(),
        }
}

#[test]
fn operators_in_arms() {
    check_rule(
        in_arms::rule,
        [
            (matrix(2, 2, 0.3), vector(2, 0.5), true),
            (matrix(2, 2, 0.3), vector(2, -0.5), true),
            (matrix(3, 3, 0.3), vector(3, -0.5), false),
        ],
    );
}

/// Iterates until nothing changes, in two buffers.
#[differentiable]
fn power_method(a: &DMatrix<f64>, start: &DVector<f64>) -> f64 {
    let mut x = start.clone();
    let mut value = 0.0;
    for i in 0..20 {
        let y = a * &x;
        value = y.dot(&x) / x.norm_squared();
        let change = (&y / y.norm() - &x).norm();
        x = y / a.norm();
        if change < 1e-3 && i > 3 {
            break;
        }
    }
    value + x[0]
}

#[test]
fn iterations() {
    check_rule(
        power_method::rule,
        [(matrix(3, 3, 1.3), vector(3, 0.5)), (matrix(1, 1, 1.3), vector(1, 0.5))],
    );
}

#[differentiable]
fn made_of_numbers(x: &[f64], s: f64, n: usize) -> f64 {
    let v = DVector::from_column_slice(x) + DVector::from_row_slice(x) * s;
    let by_rows = DMatrix::from_row_slice(n, x.len() / n, x);
    let by_columns = DMatrix::from_column_slice(n, x.len() / n, x);
    let diagonal = DMatrix::from_diagonal(&v);
    let ones = DMatrix::from_element(x.len(), n, s);
    let y = &diagonal * &ones * (&by_rows - &by_columns * s);
    y.norm_squared() + v.dot(&DVector::from_element(x.len(), s))
}

#[test]
fn constructors() {
    check_rule(
        made_of_numbers::rule,
        [(vec![0.5, -0.2, 0.8, 0.3, -0.9, 1.1], 0.7, 2), (vec![0.5, -0.2, 0.8], 0.7, 1)],
    );
}

#[differentiable]
fn into_buffers(a: &DMatrix<f64>, x: &DVector<f64>, y: &mut DVector<f64>, c: &mut DMatrix<f64>) -> f64 {
    a.mul_to(a, c);
    for _ in 0..2 {
        a.mul_to(x, y);
        y[0] *= c[(0, 1)];
    }
    let before = y.clone();
    c.mul_to(&before, y);
    y.dot(&before)
}

#[test]
fn products_into_buffers() {
    check_rule(into_buffers::rule, [(matrix(2, 2, 0.3), vector(2, 0.5), vector(2, 9.0), matrix(2, 2, 8.0))]);
}
