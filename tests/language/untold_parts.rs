//! The elements of fields of which nothing in the function tells whether they are arrays with several axes.

use ndarray::{Array1, Array2, Array3};
use pullback::prelude::*;
use pullback::testing::check_rule;

#[derive(Differentiable, Clone, Debug)]
struct Layer {
    weights: Array2<f64>,
    bias: Array1<f64>,
    scale: f64,
}

#[differentiable]
impl Layer {
    fn penalty(&self, k: f64) -> f64 {
        let mut total = 0.0;
        for w in self.weights.iter() {
            total += w * w;
        }
        for b in &self.bias {
            total += b.sin();
        }
        k * total
    }

    fn shrink(&mut self, k: f64) {
        for w in self.weights.iter_mut() {
            *w *= k;
        }
        for (b, w) in self.bias.iter_mut().zip(&self.weights) {
            *b += w * k;
        }
    }
}

#[differentiable]
fn of_parameter(layer: &Layer, k: f64) -> f64 {
    layer.weights.iter().map(|w| w * w).sum::<f64>() * k * layer.scale
}

#[differentiable]
fn of_both(one: &Layer, other: &Layer) -> f64 {
    let products = one.weights.iter().zip(other.weights.iter()).map(|(v, w)| v * w.sin());
    let every_other = one.weights.iter().enumerate().skip(1).step_by(2).map(|(i, w)| w * i as f64);
    products.sum::<f64>() * every_other.sum::<f64>()
}

#[differentiable]
fn of_all(layers: &[Layer], k: f64) -> f64 {
    let mut largest = f64::MIN;
    for layer in layers {
        for w in &layer.weights {
            largest = largest.max(w * k);
        }
    }
    largest + layers.iter().map(|layer| layer.weights.iter().fold(k, |s, w| s * k + w)).sum::<f64>()
}

#[differentiable]
fn collected(layer: &Layer, k: f64) -> Vec<f64> {
    layer.weights.iter().filter(|w| **w > 0.25).map(|w| w * k).collect()
}

fn layers() -> [Layer; 2] {
    let entry = |(i, j): (usize, usize)| 0.5 + i as f64 - 0.3 * j as f64;
    let bias = Array1::from(vec![0.2, -0.4]);
    let by_rows = Layer { weights: Array2::from_shape_fn((2, 3), entry), bias: bias.clone(), scale: 0.7 };
    let by_columns = Array2::from_shape_fn((3, 2), entry).reversed_axes();
    [by_rows, Layer { weights: by_columns, bias, scale: 1.2 }]
}

#[test]
fn elements_of_matrices_in_fields() {
    let [one, other] = layers();
    check_rule(Layer_penalty::rule, [(one.clone(), 0.3), (other.clone(), 0.8)]);
    check_rule(Layer_shrink::rule, [(one.clone(), 0.3), (other.clone(), 0.8)]);
    check_rule(of_parameter::rule, [(one.clone(), 0.3), (other.clone(), 0.8)]);
    check_rule(of_both::rule, [(one.clone(), other.clone()), (other.clone(), one.clone())]);
    check_rule(of_all::rule, [(layers().to_vec(), 0.6), (vec![other.clone()], 1.3)]);
    check_rule(collected::rule, [(one, 0.3), (other, 0.8)]);
}

#[derive(Differentiable, Clone, Debug)]
struct Grid {
    cells: Array3<f64>,
    seen: Vec<f64>,
    boxed: Box<[f64]>,
}

#[differentiable]
fn misfit(grid: &Grid, k: f64) -> f64 {
    let Grid { cells, seen, boxed } = grid;
    let cells = cells.iter().zip(seen).map(|(c, s)| (c - k * s).powi(2)).sum::<f64>();
    let boxed = grid.boxed.iter().zip(boxed).map(|(a, b)| a * b * k).sum::<f64>();
    cells * boxed
}

#[test]
fn elements_of_whatever_fields_hold() {
    let grid = |n: usize| Grid {
        cells: Array3::from_shape_fn((2, n, 2), |(i, j, k)| (i + 2 * j) as f64 * 0.3 - k as f64),
        seen: (0..4 * n).map(|i| (i as f64).cos()).collect(),
        boxed: vec![0.3, -0.8].into(),
    };
    check_rule(misfit::rule, [(grid(3), 0.4), (grid(1), -0.9), (grid(0), 0.2)]);
}

#[derive(Differentiable, Clone, Debug)]
struct Table {
    #[constant]
    knots: Array2<f64>,
    values: Vec<Vec<f64>>,
}

#[differentiable]
fn interpolated(table: &Table, x: f64) -> f64 {
    let mut total = 0.0;
    for (row, knot) in table.values.iter().zip(table.knots.iter()) {
        for v in row.iter() {
            total += v * (x - knot);
        }
    }
    total
}

#[test]
fn constants_in_fields() {
    let table = |n: usize| Table {
        knots: Array2::from_shape_fn((2, n), |(i, j)| i as f64 - 0.4 * j as f64),
        values: vec![vec![0.3, 0.5], vec![], vec![-0.7]],
    };
    check_rule(interpolated::rule, [(table(3), 0.4), (table(1), -0.9)]);
}
