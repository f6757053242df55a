//! Sums, means, deviations; loops over rows; arrays that are made, put together and reshaped.

use ndarray::{
    Array, Array1, Array2, Array3, ArrayView1, Axis, NewAxis, ShapeBuilder, Zip, array, azip, concatenate, s,
    stack,
};
use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

use crate::networks::{matrix, vector};

#[differentiable]
fn numbers(x: &Array2<f64>, v: &Array1<f64>) -> f64 {
    x.sum() * v.mean().unwrap() + x.product() * v.var(1.0) - x.std(0.0) / v.sum()
        + (x * 2.0).mean().expect("some")
}

#[differentiable]
fn axes(x: &Array2<f64>, w: &Array1<f64>) -> f64 {
    let columns = x.sum_axis(Axis(0));
    let rows = x.mean_axis(Axis(1)).unwrap();
    columns.dot(w) + (&rows * &rows).sum() + x.t().sum_axis(Axis(0)).dot(&rows)
}

/// Along any axis, of the layouts that decide in which order is multiplied.
#[differentiable]
fn along(x: &Array3<f64>, k: usize, ddof: f64) -> f64 {
    let products = x.product_axis(Axis(k));
    let variances = x.var_axis(Axis(k), ddof) * x.std_axis(Axis(k), 1.0);
    let turned = x.t().product_axis(Axis(k)).sum() + x.t().std_axis(Axis(k), ddof * 0.5).sum();
    (&products * &variances).sum() + turned
}

#[differentiable]
fn along_single(x: &Array2<f32>, ddof: f32) -> f32 {
    (x.var_axis(Axis(0), ddof) * x.product_axis(Axis(0))).sum() + x.std_axis(Axis(1), 0.0).sum()
}

/// To arrays without dimensions.
#[differentiable]
fn to_one(v: &Array1<f64>) -> f64 {
    let sum = v.sum_axis(Axis(0));
    let product = v.product_axis(Axis(0)) * v.var_axis(Axis(0), 0.5);
    (sum * product).sum()
}

#[differentiable]
fn deviations(x: &Array2<f64>) -> f64 {
    x.std_axis(Axis(1), 0.0).sum()
}

#[differentiable]
fn products(x: &Array2<f64>) -> f64 {
    x.product_axis(Axis(0)).sum()
}

#[differentiable]
fn softmax(x: &Array2<f64>, y: &Array2<f64>) -> f64 {
    let e = x.mapv(f64::exp);
    let total = e.sum_axis(Axis(1)).insert_axis(Axis(1));
    let p = &e / &total;
    -(p.mapv(f64::ln) * y).sum() / x.nrows() as f64
}

#[differentiable]
fn standardised(x: &Array2<f64>, gain: &Array1<f64>) -> f64 {
    let mean = x.mean_axis(Axis(0)).unwrap();
    let centred = x - &mean;
    let var = (&centred * &centred).mean_axis(Axis(0)).unwrap();
    let y = &centred / &var.mapv(|v| (v + 1e-3).sqrt()) * gain;
    (&y * &y * &y).sum()
}

#[differentiable]
fn over_rows(x: &Array2<f64>, w: &Array1<f64>, y: &[f64]) -> f64 {
    let mut total = 0.0;
    for row in x.rows() {
        total += row.dot(w).tanh();
    }
    for (i, column) in x.columns().into_iter().enumerate() {
        total += column.sum() * w[i];
    }
    for (row, t) in x.outer_iter().zip(y.iter()) {
        let d = (&row * w).sum() - t;
        total += d * d;
    }
    for part in x.axis_iter(Axis(1)) {
        total += part.dot(&part) * 0.1;
    }
    total + x.rows().into_iter().map(|row| row[0] * row.sum()).sum::<f64>()
}

#[differentiable]
fn normalised_rows(x: &Array2<f64>) -> f64 {
    let mut h = x.to_owned();
    for mut row in h.rows_mut() {
        let norm = row.dot(&row).sqrt();
        row /= norm;
    }
    for (i, mut column) in h.columns_mut().into_iter().enumerate() {
        column *= (i + 1) as f64;
    }
    h.row(0).dot(&x.row(0)) + h.sum()
}

#[differentiable]
fn made(x: &Array1<f64>, s: f64) -> f64 {
    let mut h = Array1::zeros(x.len());
    h += x;
    let mut grid = Array2::<f64>::ones((x.len(), 2));
    grid.column_mut(1).assign(&(x * s));
    for i in 0..x.len() {
        grid[[i, 0]] *= h[i] * s;
    }
    let filled = Array1::from_elem(x.len(), s * s);
    let rotation = array![[s.cos(), -s.sin()], [s.sin(), s.cos()]];
    let pair = array![s, x[0]];
    (&filled * &h).sum() + grid.dot(&rotation).sum() * rotation.dot(&pair).sum()
}

#[differentiable]
fn together(x: &Array2<f64>, y: &Array2<f64>, v: &Array1<f64>) -> f64 {
    let tall = concatenate(Axis(0), &[x.view(), y.view()]).unwrap();
    let wide = concatenate![Axis(1), *x, *x, *y];
    let layers = stack(Axis(0), &[v.view(), v.view()]).unwrap();
    let side = stack![Axis(1), *v, *v];
    (&tall * &tall).sum() + (&wide * &wide * &wide).sum() + layers.dot(&side).sum() + tall.dot(v).sum()
}

#[differentiable]
fn reshaped(x: &Array2<f64>, n: usize) -> f64 {
    let flat = x.to_shape(x.len()).unwrap().to_owned();
    let other = flat.clone().into_shape_with_order((x.ncols(), x.nrows())).unwrap();
    let turned = other.clone().reversed_axes();
    let some = x.select(Axis(0), &[0, 0, x.nrows() - 1]);
    let outer = &flat.slice(s![.., NewAxis]) * &flat;
    (x * &turned).sum()
        + other.dot(x).sum()
        + (&some * &some).sum()
        + outer.row(n).sum()
        + x.broadcast((2, x.nrows(), x.ncols())).unwrap().sum()
}

#[differentiable]
fn zipped(a: &Array2<f64>, b: &Array2<f64>, v: &Array1<f64>, s: f64) -> f64 {
    let mut y = Array2::<f64>::zeros(a.raw_dim());
    Zip::from(&mut y).and(a).and(b).for_each(|y, &a, &b| *y = a * b + s);
    azip!((y in &mut y, &a in a) *y += a * a);
    y.zip_mut_with(v, |y, &v| *y *= v);
    let mut z = v.clone();
    azip!((z in &mut z, r in v) {
        let t = r * s;
        *z += t * t;
    });
    (&y * a).sum() + z.sum()
}

#[differentiable]
fn indexed(x: &Array2<f64>, v: &Array1<f64>) -> f64 {
    let mut y = Array2::<f64>::zeros(x.raw_dim());
    Zip::indexed(&mut y).and(x).for_each(|(i, j), y, &x| *y = x * v[j] + (i as f64) * x * x);
    let mut z = v.clone();
    azip!((index i, z in &mut z) *z *= (i + 1) as f64);
    azip!((index (i, j), y in &mut y, &x in x) {
        if i == j {
            *y += x * v[i];
        }
    });
    (&y * x).sum() + z.dot(v)
}

/// Rows and the like beside elements.
#[differentiable]
fn by_rows(x: &Array2<f64>, w: &Array1<f64>) -> f64 {
    let mut norms = Array1::<f64>::zeros(x.nrows());
    Zip::from(&mut norms).and(x.rows()).for_each(|n, row| *n = row.dot(w) + row.dot(&row));
    let mut y = x.clone();
    Zip::from(y.rows_mut()).and(&norms).for_each(|mut row, n| row *= *n);
    let mut sums = Array1::<f64>::zeros(x.ncols());
    azip!((total in &mut sums, column in y.columns(), part in x.axis_iter(Axis(1)), &w in w) {
        *total += column.sum() * part[0] * w;
    });
    Zip::indexed(y.outer_iter_mut()).for_each(|i, mut row| row *= (i + 1) as f64);
    (&y * x).sum() + sums.sum()
}

#[differentiable]
fn turned(x: &Array3<f64>, w: &Array3<f64>) -> f64 {
    let view = x.view().permuted_axes([2, 0, 1]);
    let owned = (x * 2.0).permuted_axes([2, 0, 1]);
    let again = owned.clone().permuted_axes((1, 2, 0));
    (&view * w).sum() + (&owned * &view).sum() + (&again * x).sum() + again.index_axis(Axis(0), 1).sum()
}

#[differentiable]
fn of_vectors(x: &[f64], n: usize, s: f64) -> f64 {
    let list = vec![s, x[0] * s, x[1]];
    let line = Array1::from_vec(list);
    let other = Array1::from(x.to_vec());
    let mut grown = Vec::new();
    for i in 0..2 * n {
        grown.push(x[i % x.len()] * s);
    }
    let grid = Array2::from_shape_vec((2, n), grown).unwrap();
    let plane = Array2::from_shape_vec((1, 3), vec![s, 2.0, x[0]]).expect("as many");
    line.dot(&line) + other.sum() * grid.row(1).sum() + (&grid * &grid).sum() + plane.dot(&line).sum()
}

#[differentiable]
fn of_singles(x: &[f32]) -> f32 {
    let line = Array1::from_vec(x.to_vec());
    let square = Array2::from_shape_vec((2, 2), vec![x[0], x[1], x[1], x[0] * x[1]]).unwrap();
    line.sum() * square.dot(&square).sum()
}

#[test]
fn indices_and_vectors() {
    check_rule(
        indexed::rule,
        [
            (matrix(3, 3, 0.1), vector(3, 0.4)),
            (matrix(2, 4, 0.1), vector(4, 0.4)),
            (matrix(1, 1, 0.1), vector(1, 0.4)),
        ],
    );
    let cube = |a, b, c, start: f64| {
        Array3::from_shape_fn((a, b, c), |(i, j, k)| start + ((i + 2 * j + 5 * k) as f64).sin())
    };
    check_rule(
        turned::rule,
        [(cube(2, 3, 4, 0.3), cube(4, 2, 3, 0.9)), (cube(2, 1, 2, 0.3), cube(2, 2, 1, 0.9))],
    );
    check_rule(
        by_rows::rule,
        [
            (matrix(3, 2, 0.1), vector(2, 0.4)),
            (matrix(2, 4, 0.1), vector(4, 0.4)),
            (matrix(1, 1, 0.1), vector(1, 0.4)),
        ],
    );
    check_rule(of_vectors::rule, [(vec![0.3, 0.7, 0.2], 2, 0.6), (vec![0.3, 0.7], 3, 0.6)]);
    check_rule(of_singles::rule, [(vec![0.3, 0.7],)]);
}

#[test]
fn sums() {
    check_rule(numbers::rule, [(matrix(2, 3, 0.8), vector(4, 0.3)), (matrix(3, 3, 0.8), vector(9, 0.3))]);
    check_rule(
        axes::rule,
        [
            (matrix(2, 3, 0.8), vector(3, 0.3)),
            (matrix(9, 1, 0.8), vector(1, 0.3)),
            (matrix(1, 1, 0.8), vector(1, 0.3)),
        ],
    );
    check_rule(
        softmax::rule,
        [(matrix(2, 3, 0.8), matrix(2, 3, 0.3)), (matrix(1, 4, 0.8), matrix(1, 4, 0.3))],
    );
    check_rule(
        standardised::rule,
        [(matrix(4, 3, 0.8), vector(3, 0.3)), (matrix(3, 1, 0.8), vector(1, 0.3))],
    );
}

#[test]
fn along_axes() {
    let cube = |a, b, c, start: f64| {
        Array3::from_shape_fn((a, b, c), |(i, j, k)| start + ((i + 2 * j + 5 * k) as f64).sin())
    };
    let columns = |x: Array3<f64>| {
        let mut y = Array3::zeros(x.raw_dim().f());
        y.assign(&x);
        y
    };
    let gaps = |x: Array3<f64>| {
        let (a, b, c) = x.dim();
        let mut y = Array3::zeros((2 * a, b, 3 * c)).slice_move(s![..;2, ..;-1, ..;-3]);
        y.assign(&x);
        y
    };
    for k in 0..3 {
        check_rule(
            along::rule,
            [
                (cube(2, 3, 4, 0.3), k, 0.125),
                (columns(cube(3, 2, 3, 0.4)), k, 1.0),
                (gaps(cube(2, 4, 2, 0.7)), k, 0.5),
                (cube(2, 2, 2, 1.7), k, 0.25),
            ],
        );
    }
    check_rule(to_one::rule, [(vector(3, 0.8),), (vector(2, 0.7),)]);
    let x = matrix(3, 2, 0.8);
    check_rule(along_single::rule, [(x.mapv(|x| x as f32), 0.5), (x.t().mapv(|x| x as f32), 0.75)]);
}

/// Where nothing may be divided by.
#[test]
fn zeros_along_axes() {
    let mut g = products::gradient();
    let x = array![[0.0, 0.0, 2.0], [3.0, 0.0, 4.0], [5.0, 7.0, 6.0]];
    let (value, d) = g.value_and_gradient(&x);
    assert_eq!(value, 48.0);
    assert_eq!(d.x, &array![[15.0, 0.0, 24.0], [0.0, 0.0, 12.0], [0.0, 0.0, 8.0]]);
    let mut g = deviations::gradient();
    let (value, d) = g.value_and_gradient(&array![[2.0, 2.0], [1.0, 3.0]]);
    assert_eq!((value, d.x), (1.0, &array![[0.0, 0.0], [-0.5, 0.5]]));
    let (value, d) = g.value_and_gradient(&Array2::zeros((0, 2)));
    assert_eq!((value, d.x.len()), (0.0, 0));
}

#[test]
fn parts() {
    check_rule(
        over_rows::rule,
        [
            (matrix(2, 3, 0.8), vector(3, 0.3), vec![0.3, 0.7]),
            (matrix(3, 1, 0.8), vector(1, 0.3), vec![0.3, 0.7, 0.2]),
        ],
    );
    check_rule(normalised_rows::rule, [(matrix(2, 3, 0.8),), (matrix(3, 1, 0.8),)]);
    check_rule(made::rule, [(vector(3, 0.4), 0.7), (vector(1, 0.4), 0.7)]);
    check_rule(together::rule, [(matrix(2, 2, 0.1), matrix(2, 2, 0.7), vector(2, 0.4))]);
    check_rule(reshaped::rule, [(matrix(2, 3, 0.1), 1), (matrix(1, 1, 0.1), 0)]);
    check_rule(
        zipped::rule,
        [
            (matrix(2, 3, 0.1), matrix(2, 3, 0.7), vector(3, 0.4), 0.6),
            (matrix(2, 1, 0.1), matrix(2, 1, 0.7), vector(1, 0.4), 0.6),
        ],
    );
}

#[differentiable]
fn stretched(x: &Array2<f64>, row: &Array1<f64>, column: &Array2<f64>, s: f64) -> f64 {
    let mut y = x.clone();
    Zip::from(&mut y)
        .and_broadcast(row)
        .and_broadcast(column)
        .for_each(|y, &a, b| *y = y.sin() * a + b * b * s);
    let mut total = 0.0;
    Zip::indexed(x)
        .and(&y)
        .and_broadcast(row)
        .for_each(|(i, _), x, y, a| total += x * y * a * (i + 1) as f64);
    total
}

#[test]
fn broadcast_to_the_first() {
    check_rule(
        stretched::rule,
        [
            (matrix(3, 4, 0.3), vector(4, 0.4), matrix(3, 1, 0.5), 0.7),
            (matrix(2, 3, 0.3), vector(1, 0.4), matrix(1, 3, 0.5), -0.7),
            (matrix(1, 1, 0.3), vector(1, 0.4), matrix(1, 1, 0.5), 0.7),
        ],
    );
    let call = || {
        stretched::gradient()
            .value_and_gradient(&matrix(3, 4, 0.3), &vector(3, 0.4), &matrix(3, 1, 0.5), 0.7)
            .0
    };
    assert!(std::panic::catch_unwind(call).is_err());
}

#[differentiable]
fn mean_or(a: &Array2<f64>, k: f64) -> f64 {
    let mut total = a.mapv(|a| a * k).mean().unwrap_or(0.0);
    for row in a.rows() {
        total *= (&row * k).mean().unwrap_or(k);
        total += row.slice(s![..0]).mean().unwrap_or(k * 2.0);
    }
    total + a.mean().unwrap_or(0.0)
}

#[test]
fn means_of_what_may_be_empty() {
    check_rule(
        mean_or::rule,
        [(matrix(3, 2, 0.3), 0.4), (matrix(0, 2, 0.3), 0.7), (matrix(1, 4, 0.3), -0.2)],
    );
}

#[derive(Clone, Differentiable)]
struct Regression {
    weights: Array1<f64>,
    intercept: f64,
}

#[differentiable]
fn fitted(x: &Array1<f64>, k: f64) -> Regression {
    Regression { weights: x * k, intercept: k }
}

#[differentiable]
fn penalty(x: &Array1<f64>, k: f64) -> f64 {
    let model = fitted(x, k);
    let w = &model.weights;
    let mut total = k * model.weights.dot(&model.weights);
    for _ in 0..2 {
        let c = w.dot(x);
        if c > 0.0 {
            total += c * w.dot(&x.view());
        }
    }
    total + model.intercept
}

#[differentiable]
fn norm(model: &Regression) -> f64 {
    model.weights.dot(&model.weights).sqrt() * model.intercept
}

#[test]
fn products_of_fields_of_which_only_the_types_tell() {
    check_rule(penalty::rule, [(vector(3, 0.3), 0.4), (vector(2, 0.7), -0.2)]);
    check_rule(norm::rule, [(Regression { weights: vector(3, 0.3), intercept: 0.7 },)]);
}

#[differentiable]
fn heads(x: &Array2<f64>, w: &Array2<f64>, n: usize) -> f64 {
    let (q, k) = (x.dot(w), x + w);
    // The names mean on the right what they have meant before.
    let (k, mut q, scale) = (&q * 2.0, k + &q, n as f64);
    let mut total = 0.0;
    for h in 0..n {
        let (low, high) = (h, h + 1);
        let (columns, rows) = (q.slice(s![.., low..high]), k.slice(s![low..high, ..]));
        let (product, sums) = (columns.dot(&rows), k.sum_axis(Axis(0)));
        q[[0, h]] += product.sum() * scale * sums[h];
        total += q[[1, h]];
    }
    total + q.sum()
}

#[test]
fn several_at_once() {
    check_rule(
        heads::rule,
        [(matrix(2, 2, 0.3), matrix(2, 2, 0.4), 2), (matrix(3, 3, 0.2), matrix(3, 3, 0.5), 1)],
    );
}
