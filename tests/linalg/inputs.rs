//! Matrices for the cases of the library.

use ndarray::{Array2, Axis, ShapeBuilder, s};
use pullback::linalg::cases::{Argument, Case, Kind, all};

pub fn case(name: &str) -> &'static Case {
    all().find(|case| case.name == name).expect("a case of this name")
}

/// Numbers between −1 and 1.
pub fn noise(seed: usize, i: usize, j: usize) -> f64 {
    let x = (12.9898 * (i as f64 + 1.3) + 78.233 * (j as f64 + 0.7) + 3.7 * seed as f64).sin() * 43758.5453;
    2.0 * (x - x.floor()) - 1.0
}

pub fn matrix(kind: Kind, rows: usize, columns: usize, seed: usize) -> Array2<f64> {
    let diagonal = |i: usize| 1.0 + i as f64;
    let n = rows.max(columns) as f64;
    let symmetric = |i: usize, j: usize| noise(seed, i.min(j), i.max(j)) / n;
    Array2::from_shape_fn((rows, columns), |(i, j)| match kind {
        Kind::Regular => noise(seed, i, j) + if i == j { 2.0 } else { 0.0 },
        Kind::PositiveDefinite => symmetric(i, j) + if i == j { 1.5 } else { 0.0 },
        Kind::Triangular => noise(seed, i, j) / n + if i == j { 1.0 } else { 0.0 },
        Kind::Symmetric => symmetric(i, j) + if i == j { diagonal(i) } else { 0.0 },
        Kind::Separated => noise(seed, i, j) / n + if i == j { diagonal(i) } else { 0.0 },
    })
}

/// The same elements in another layout: by rows, by columns, with gaps, or backwards.
pub fn laid_out(matrix: &Array2<f64>, layout: usize) -> Array2<f64> {
    let (m, n) = matrix.dim();
    let mut array = match layout % 4 {
        1 => Array2::zeros((m, n).f()),
        2 => Array2::zeros((2 * m, 3 * n)).slice_move(s![..;2, ..;3]),
        _ => Array2::zeros((m, n)),
    };
    if layout % 4 == 3 {
        array.invert_axis(Axis(0));
        array.invert_axis(Axis(1));
    }
    array.assign(matrix);
    array
}

/// The arguments for one of the sizes, each in a layout of its own; a vector is a matrix with one column.
pub fn arguments(case: &Case, number: usize) -> Vec<Array2<f64>> {
    let size = case.sizes[number];
    let matrices = case.arguments.iter().enumerate().map(|(place, argument)| {
        let matrix = match *argument {
            Argument::Vector(n) => matrix(Kind::Regular, size[n], 1, place),
            Argument::Matrix(kind, m, n) => matrix(kind, size[m], size[n], place),
        };
        laid_out(&matrix, number + place)
    });
    matrices.collect()
}

/// For functions of one matrix.
pub fn ones(name: &str) -> Vec<Array2<f64>> {
    let case = case(name);
    (0..case.sizes.len()).flat_map(|number| arguments(case, number)).collect()
}

/// For functions of two matrices.
pub fn pairs(name: &str) -> Vec<(Array2<f64>, Array2<f64>)> {
    let case = case(name);
    let pair = |number| {
        let mut arguments = arguments(case, number).into_iter();
        (arguments.next().expect("the first"), arguments.next().expect("the second"))
    };
    (0..case.sizes.len()).map(pair).collect()
}

pub fn single(a: &Array2<f64>) -> Array2<f32> {
    a.mapv(|x| x as f32)
}
