//! What `Zip` collects and folds, and maps of lanes: laid out, and in the order, as ndarray has it.

use ndarray::{Array1, Array2, Array3, Array4, Axis, ShapeBuilder, Zip};
use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

use crate::closures::turned;
use crate::networks::{matrix, vector};

#[differentiable]
fn collected(x: &Array2<f64>, y: &Array2<f64>, s: f64) -> f64 {
    let z = Zip::from(x).and(y).map_collect(|&x, y| s * x * y.sin());
    let w = Zip::indexed(&z).and(y.view()).map_collect(|(i, j), z, y| z * y + s * (i + 2 * j) as f64);
    let line: Array1<f64> = Zip::from(x.rows()).and(y.rows()).map_collect(|x, y| x.dot(&y));
    let mut into = Array2::<f64>::zeros((x.nrows(), x.ncols()));
    Zip::from(&w).and(x).map_assign_into(&mut into, |w, x| w * x);
    (&w * &into).sum() + z.sum() * line.sum()
}

#[differentiable]
fn folded(x: &Array2<f64>, y: &Array2<f64>, v: &Array1<f64>, s: f64) -> f64 {
    let product = Zip::from(x).and(y).fold(s, |sum, x, y| sum * 0.9 + x * y);
    let weighted =
        Zip::indexed(x.t()).and(y.t()).fold(0.0, |sum, (j, i), &x, &y| sum * s + x * y * (i + 2 * j) as f64);
    let of_rows = Zip::from(x.rows()).and(v).fold(0.0, |sum, row, &v| sum * s + row.dot(&row) * v);
    product * of_rows + weighted
}

#[differentiable]
fn looped(x: &mut Array2<f64>, y: &Array2<f64>, n: usize) -> f64 {
    let mut h = y.clone();
    for _ in 0..n {
        let next = Zip::from(&h).and(&*x).map_collect(|h, x| h * x + 0.1);
        Zip::from(&next).and(&h).map_assign_into(&mut *x, |next, h| next.sin() * h);
        h = next;
    }
    h.sum() + Zip::from(&h).and(&*x).fold(0.0, |sum, h, x| sum + h * x)
}

#[differentiable]
fn of_lanes(x: &Array3<f64>, k: usize, s: f64) -> f64 {
    let squares = x.map_axis(Axis(k), |lane| lane.dot(&lane) * s);
    let ends = x.map_axis(Axis(2 - k), |lane| lane[0] * lane.sum());
    (&squares * &squares).sum() + squares[[0, 0]] * ends.sum()
}

#[differentiable]
fn of_more_lanes(x: &Array4<f64>) -> f64 {
    let squares = x.map_axis(Axis(1), |lane| lane.dot(&lane));
    (&squares * &squares).sum() + squares.sum() * x.sum()
}

#[differentiable]
fn single(x: &Array2<f32>, y: &Array2<f32>) -> f32 {
    let z = Zip::from(x).and(y).map_collect(|x, y| x * y);
    Zip::from(&z).and(x).fold(0.0, |sum, z, x| sum + z * x) + z.map_axis(Axis(0), |lane| lane.sum()).sum()
}

#[test]
fn layouts() {
    let (x, y) = (matrix(3, 4, 0.4), matrix(3, 4, 0.9));
    let mut pairs = vec![(x.clone(), y.clone()), (matrix(1, 1, 0.3), matrix(1, 1, 0.5))];
    for turned_x in turned(&x) {
        pairs.push((turned_x.clone(), y.clone()));
        pairs.extend(turned(&y).map(|turned_y| (turned_x.clone(), turned_y)));
    }
    check_rule(collected::rule, pairs.clone().into_iter().map(|(x, y)| (x, y, 0.7)));
    check_rule(
        folded::rule,
        pairs.clone().into_iter().map(|(x, y)| {
            let v = vector(x.nrows(), 0.2);
            (x, y, v, 0.7)
        }),
    );
    check_rule(looped::rule, pairs.into_iter().map(|(x, y)| (x, y, 3)));
    let none = Array2::zeros((0, 3));
    check_rule(collected::rule, [(none.clone(), none, 0.7)]);
}

#[test]
fn lanes_of_more_dimensions() {
    let cube = Array3::from_shape_fn((2, 3, 2), |(i, j, k)| 0.9 + 0.5 * ((i + 2 * j + 5 * k) as f64).sin());
    let mut by_columns = Array3::zeros(cube.raw_dim().f());
    by_columns.assign(&cube);
    for k in [0, 1, 2] {
        check_rule(
            of_lanes::rule,
            [
                (cube.clone(), k, 0.7),
                (by_columns.clone(), k, 0.7),
                (cube.clone().permuted_axes([1, 2, 0]), k, 0.7),
                (cube.clone().permuted_axes([2, 0, 1]), k, 0.7),
            ],
        );
    }
    let four =
        Array4::from_shape_fn((2, 3, 2, 2), |(i, j, k, l)| 0.3 + (i + 2 * j + 3 * k + 5 * l) as f64 / 9.0);
    check_rule(of_more_lanes::rule, [(four.clone(),), (four.permuted_axes([3, 1, 0, 2]),)]);
}

#[test]
fn in_single_precision() {
    let [x, y] = [0.4, 0.9].map(|start| matrix(2, 3, start).mapv(|x| x as f32));
    check_rule(single::rule, [(x, y)]);
}
