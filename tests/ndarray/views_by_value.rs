//! Views that functions take by value: `fn norm(x: ArrayView1<f64>) -> f64`, called with `x.view()`, `a.row(0)` and names of views.

use ndarray::{Array1, Array2, ArrayView, ArrayView1, ArrayView2, ArrayViewMut1, Axis, Ix1, array, s};
use pullback::prelude::*;
use pullback::testing::check_rule;

use crate::networks::{matrix, vector};

#[differentiable]
fn mixed(x: ArrayView1<f64>, y: ArrayView1<'_, f64>) -> f64 {
    x.dot(&y) + x[0] * y.sum()
}

#[differentiable]
fn times(a: ArrayView2<f64>, x: ndarray::ArrayView1<f64>) -> Array1<f64> {
    a.dot(&x)
}

#[differentiable]
fn arguments(x: &Array1<f64>, a: &Array2<f64>) -> f64 {
    let y = times(a.view(), x.view());
    mixed(x.view(), y.view()) * mixed(a.row(0), a.column(1)) + times(a.t(), a.row(1))[0]
}

#[differentiable]
fn parts(a: ArrayView2<f64>) -> f64 {
    let first = a.row(0);
    mixed(first, first) * mixed(a.slice(s![0, ..]), a.index_axis(Axis(0), 1))
}

#[differentiable]
fn passed_on(a: &Array2<f64>) -> f64 {
    let whole = a.view();
    parts(whole) * parts(a.slice(s![1.., ..])) + parts(a.t())
}

#[differentiable]
fn rows(a: &Array2<f64>) -> f64 {
    let mut total = 0.0;
    for row in a.rows() {
        total += mixed(row, a.row(0));
    }
    total + a.outer_iter().map(|row| mixed(row, row)).sum::<f64>()
}

#[differentiable]
fn any_float<T: num_traits::Float + 'static>(x: ArrayView<T, Ix1>, k: T) -> T {
    let mut total = T::zero();
    for v in x {
        total = total + *v * k;
    }
    total
}

#[differentiable]
fn lifetimes<'a>(x: ArrayView1<'a, f64>, y: ArrayView1<'a, f64>) -> f64 {
    let sum = &x + &y;
    let mut own = x.to_owned();
    own[1] *= y[1];
    (sum * (&x * 2.0 - &y) + own).sum() * any_float(y, x[0])
}

#[differentiable]
fn both_rows(a: &Array2<f64>) -> f64 {
    lifetimes(a.row(0), a.row(1))
}

#[differentiable]
fn scaled(mut x: ArrayViewMut1<f64>, k: f64) {
    x[0] *= k;
    x *= k;
    x.mapv_inplace(|v| v * v);
}

#[differentiable]
fn written(a: &Array2<f64>, k: f64) -> f64 {
    let mut b = a.clone();
    scaled(b.row_mut(0), k);
    scaled(b.slice_mut(s![.., 1]), k);
    for row in b.outer_iter_mut() {
        scaled(row, k);
    }
    {
        let last = b.column_mut(0);
        scaled(last, k);
    }
    b[(0, 1)] * b[(1, 0)] + b.sum()
}

#[derive(Clone, Differentiable)]
struct Layer {
    w: Array2<f64>,
    b: Array1<f64>,
}

#[differentiable]
impl Layer {
    fn forward(&self, x: ArrayView1<f64>) -> Array1<f64> {
        (self.w.dot(&x) + &self.b).mapv(f64::tanh)
    }

    fn loss(&self, xs: ArrayView2<f64>, ys: ArrayView1<f64>) -> f64 {
        xs.outer_iter().zip(ys.iter()).map(|(x, y)| (self.forward(x).sum() - y).powi(2)).sum()
    }
}

#[differentiable]
trait Model {
    fn predict(&self, x: ArrayView1<f64>) -> f64;

    fn twice(&self, x: ArrayView1<f64>) -> f64 {
        self.predict(x) * 2.0
    }
}

#[differentiable]
impl Model for Layer {
    fn predict(&self, x: ArrayView1<f64>) -> f64 {
        self.forward(x).sum()
    }
}

#[differentiable]
fn methods(w: &Array2<f64>, xs: &Array2<f64>) -> f64 {
    let layer = Layer { w: w.clone(), b: w.row(0).to_owned() };
    layer.loss(xs.view(), w.column(1)) * layer.predict(xs.row(0)) + layer.twice(xs.row(1))
}

/// It has no rule.
fn corner(x: ArrayView2<f64>) -> f64 {
    x[(0, 1)]
}

#[differentiable]
fn constants(w: &Array2<f64>, #[constant] xs: ArrayView2<f64>) -> f64 {
    let mut total = 0.0;
    for x in xs.rows() {
        total += w.dot(&x).sum();
    }
    total * xs.sum() * corner(xs) * mixed(xs.row(0), xs.row(1))
}

#[test]
fn rules() {
    let (x, a, b) = (vector(3, 0.4), matrix(3, 3, 0.3), matrix(4, 4, 0.8));
    check_rule(arguments::rule, [(x.clone(), a.clone()), (vector(4, 0.9), b.clone())]);
    check_rule(passed_on::rule, [(a.clone(),), (b.clone(),)]);
    check_rule(rows::rule, [(a.clone(),), (b.clone(),)]);
    check_rule(both_rows::rule, [(a.clone(),), (b.clone(),)]);
    check_rule(written::rule, [(a.clone(), 0.7), (b.clone(), 1.3)]);
    check_rule(methods::rule, [(a.clone(), matrix(3, 3, 0.1)), (b.clone(), matrix(4, 4, 0.2))]);
    check_rule(constants::rule, [(a, matrix(3, 3, 0.1)), (b, matrix(4, 4, 0.2))]);
}

/// Users pass whatever is an array.
#[test]
fn gradients() {
    let (x, y) = (array![1.0, 2.0], array![3.0, 5.0]);
    let mut g = mixed::gradient();
    let (value, d) = g.value_and_gradient(&x, &y.view());
    assert_eq!((value, d.x.to_owned(), d.y.to_owned()), (21.0, array![11.0, 5.0], array![2.0, 3.0]));
}
