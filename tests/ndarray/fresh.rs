//! Programs as users of ndarray write them, and what they were found to need.

use ndarray::{Array, Array1, Array2, ArrayView1, Axis, Zip, array, s, stack};
use pullback::prelude::*;
use pullback::testing::{check_rule, check_second_order};

fn matrix() -> Array2<f64> {
    array![[0.5, -1.0, 2.0], [1.5, 0.25, -0.75], [0.3, 0.9, 1.1]]
}

fn line() -> Array1<f64> {
    array![0.5, -1.25, 2.0, 0.75, 1.5]
}

/// The points of a grid, between ends that carry gradients.
#[differentiable(dual)]
fn grid(a: f64, b: f64, n: usize) -> f64 {
    let x = Array1::linspace(a, b, n);
    let y = Array::linspace(0.0, b, 3);
    x.mapv(|t| t * t).sum() + y.sum() * y[1]
}

#[differentiable]
fn grid_of_singles(a: f32, b: f32, n: usize) -> Array1<f32> {
    Array1::<f32>::linspace(a, b, n)
}

/// A matrix with a given diagonal.
#[differentiable(dual)]
fn diagonal(d: &Array1<f64>) -> f64 {
    let m = Array2::from_diag(d);
    let k = Array2::from_diag(&(d * 2.0));
    m.dot(d).sum() * k.dot(&m).sum()
}

#[differentiable]
fn diagonal_of_a_view(x: &Array2<f64>) -> Array2<f64> {
    Array2::from_diag(&x.column(1))
}

#[test]
fn constructors() {
    check_rule(grid::rule, [(0.5, 2.0, 5), (0.5, 2.0, 1), (0.5, 2.0, 0)]);
    check_second_order(grid::rule, [(0.5, 2.0, 5), (0.5, 2.0, 1)]);
    check_rule(grid_of_singles::rule, [(0.5, 2.0, 7), (-1.0, 2.0, 2)]);
    check_rule(diagonal::rule, [(line(),), (array![],)]);
    check_second_order(diagonal::rule, [(line(),)]);
    check_rule(diagonal_of_a_view::rule, [(matrix(),), (matrix().reversed_axes(),)]);
}

/// Elements that may be beyond an end.
#[differentiable]
fn there(x: &Array2<f64>, i: usize) -> f64 {
    let mut total = *x.get((0, i)).unwrap_or(&0.0) * x[(1, 0)] + x.get([1, 1]).copied().unwrap_or(2.0);
    if let Some(a) = x.get([0, i]) {
        total += a * a;
    }
    match x.get((i, 0)) {
        Some(b) => total * b,
        None => total + 1.0,
    }
}

#[differentiable]
fn squared_there(x: &mut Array2<f64>, i: usize) -> f64 {
    if let Some(v) = x.get_mut((0, i)) {
        *v = *v * *v;
    }
    x.sum()
}

#[test]
fn elements_that_may_be_there() {
    check_rule(there::rule, [(matrix(), 1), (matrix(), 5)]);
    check_rule(squared_there::rule, [(matrix(), 1), (matrix(), 5)]);
}

/// Views by themselves are gone through by their elements, and several have names at a time.
#[differentiable]
fn of_views(x: &Array2<f64>) -> f64 {
    let mut total = 0.0;
    for v in x.column(0) {
        total += v * v;
    }
    for (a, b) in x.row(0).iter().zip(x.slice(s![1, ..])) {
        total += a * b;
    }
    let (left, right) = (x.slice(s![.., ..1]), x.slice(s![.., 1..]));
    total + left.sum() * right.sum() + x.diag().iter().zip(x.column(0)).map(|(d, c)| d * c).sum::<f64>()
}

/// A view by reference, whose type leaves its lifetime out.
#[differentiable]
fn of_a_view(x: &ArrayView1<f64>) -> f64 {
    x.mapv(|v| v * v).sum()
}

#[test]
fn views() {
    check_rule(of_views::rule, [(matrix(),), (matrix().reversed_axes(),)]);
    let x = matrix();
    let mut g = of_a_view::gradient();
    assert_eq!(g.value_and_gradient(&x.row(0)).1.x, array![1.0, -2.0, 4.0]);
}

/// Iterators that end in an array.
#[differentiable]
fn collected(x: &Array1<f64>) -> f64 {
    let doubled: Array1<f64> = x.iter().map(|v| v * 2.0).collect();
    let sines = x.iter().map(|v| v.sin()).collect::<Array1<_>>();
    let above = Array1::from_iter(x.iter().map(|v| v + 1.0));
    (doubled * sines).dot(&above)
}

#[test]
fn arrays_of_iterators() {
    check_rule(collected::rule, [(line(),), (array![],)]);
}

/// Second differences of a signal.
#[differentiable]
fn roughness(x: &Array1<f64>) -> f64 {
    let left = x.slice(s![..-2]);
    let mid = x.slice(s![1..-1]);
    let right = x.slice(s![2..]);
    let d = &left - &(2.0 * &mid) + &right;
    d.mapv(|v| v * v).sum()
}

#[differentiable]
fn differences(x: &Array1<f64>, order: usize) -> f64 {
    let mut d = x.clone();
    for _ in 0..order {
        let n = d.len();
        let next = &d.slice(s![1..]) - &d.slice(s![..n - 1]);
        d = next;
    }
    d.dot(&d)
}

#[differentiable]
fn total_variation(image: &Array2<f64>) -> f64 {
    let dx = &image.slice(s![.., 1..]) - &image.slice(s![.., ..-1]);
    let dy = &image.slice(s![1.., ..]) - &image.slice(s![..-1, ..]);
    dx.mapv(f64::abs).sum() + dy.iter().map(|v| (v * v + 1e-3).sqrt()).sum::<f64>()
}

/// Explicit steps of the heat equation, in place.
#[differentiable]
fn heat(start: &Array1<f64>, alpha: f64, steps: usize) -> f64 {
    let mut u = start.clone();
    for _ in 0..steps {
        let laplacian = &u.slice(s![2..]) + &u.slice(s![..-2]) - 2.0 * &u.slice(s![1..-1]);
        let mut inner = u.slice_mut(s![1..-1]);
        inner.scaled_add(alpha, &laplacian);
    }
    u.iter().enumerate().map(|(i, v)| v * i as f64).sum()
}

#[test]
fn signals() {
    check_rule(roughness::rule, [(line(),)]);
    check_rule(differences::rule, [(line(), 2), (line(), 0)]);
    check_rule(total_variation::rule, [(matrix(),)]);
    check_rule(heat::rule, [(line(), 0.1, 3)]);
}

/// The distances of points from the nearest of some centres.
#[differentiable]
fn k_means(points: &Array2<f64>, centres: &Array2<f64>) -> f64 {
    let mut total = 0.0;
    for p in points.outer_iter() {
        let mut best = f64::INFINITY;
        for q in centres.outer_iter() {
            let d = &p - &q;
            let squared = d.dot(&d);
            if squared < best {
                best = squared;
            }
        }
        total += best;
    }
    total
}

#[differentiable]
fn covariance(x: &Array2<f64>) -> Array2<f64> {
    let mean = x.mean_axis(Axis(0)).unwrap();
    let centred = x - &mean;
    centred.t().dot(&centred) / (x.nrows() as f64 - 1.0)
}

#[differentiable]
fn softmax(x: &Array2<f64>) -> Array2<f64> {
    let mut out = x.clone();
    for mut row in out.rows_mut() {
        let max = row.fold(f64::NEG_INFINITY, |a, &b| a.max(b));
        row.mapv_inplace(|v| (v - max).exp());
        let sum = row.sum();
        row /= sum;
    }
    out
}

#[differentiable]
fn polynomial(x: &Array1<f64>, w: &Array1<f64>) -> f64 {
    let squares = x * x;
    let cubes = &squares * x;
    let features = stack![Axis(1), x.view(), squares.view(), cubes.view()];
    features.dot(w).sum()
}

#[differentiable]
fn recurrent(w: &Array2<f64>, u: &Array2<f64>, inputs: &Array2<f64>) -> f64 {
    let mut h: Array1<f64> = Array1::zeros(w.nrows());
    for x in inputs.rows() {
        h = (w.dot(&h) + u.dot(&x)).mapv(|v| v.tanh());
    }
    h.sum()
}

#[test]
fn learning() {
    check_rule(k_means::rule, [(matrix(), array![[0.1, 0.2, 0.3], [1.0, 0.0, -1.0]])]);
    check_rule(covariance::rule, [(matrix(),)]);
    check_rule(softmax::rule, [(matrix(),)]);
    check_rule(polynomial::rule, [(line(), array![0.25, 1.25, -0.5])]);
    check_rule(recurrent::rule, [(matrix(), matrix(), matrix())]);
}

/// The largest eigenvalue, by iteration.
#[differentiable]
fn power_iteration(a: &Array2<f64>, steps: usize) -> f64 {
    let mut v = Array1::<f64>::ones(a.ncols());
    for _ in 0..steps {
        v = a.dot(&v);
        let norm = v.dot(&v).sqrt();
        v /= norm;
    }
    v.dot(&a.dot(&v))
}

#[differentiable]
fn rotated(points: &Array2<f64>, angle: f64) -> f64 {
    let (sin, cos) = angle.sin_cos();
    let rotation = array![[cos, -sin], [sin, cos]];
    let q = points.dot(&rotation.t());
    q.column(0).sum() + q.row(0).dot(&q.row(1))
}

#[differentiable]
fn kernel(x: &Array1<f64>) -> f64 {
    let k = Array2::from_shape_fn((x.len(), x.len()), |(i, j)| (-(x[i] - x[j]).powi(2)).exp());
    let mut total = k.sum();
    Zip::from(k.rows()).and(k.columns()).for_each(|r, c| total += r.dot(&c));
    total
}

#[differentiable]
fn folded(x: &Array2<f64>) -> f64 {
    let squares = x.fold_axis(Axis(1), 0.0, |sum, &v| sum + v * v);
    let largest =
        x.axis_iter(Axis(0)).map(|r| r.fold(0.0, |a, b| a + b.abs())).fold(0.0, |a: f64, b| a.max(b));
    squares.iter().map(|v| v.ln()).sum::<f64>() * largest
}

#[test]
fn numerics() {
    check_rule(power_iteration::rule, [(matrix(), 3)]);
    check_rule(rotated::rule, [(array![[1.0, 2.0], [0.5, -0.5]], 0.3)]);
    check_rule(kernel::rule, [(line(),)]);
    check_rule(folded::rule, [(matrix(),)]);
}
