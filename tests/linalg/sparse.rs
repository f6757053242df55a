//! Products of sparse matrices.

use ndarray::{Array1, Array2, Ix1, Ix2};
use pullback::linalg::{self, Pattern};
use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

use crate::inputs::{case, laid_out, matrix, noise, single};

/// Some entries in each row, none in every third, and one place twice.
fn pattern(rows: usize, columns: usize) -> Pattern {
    let (mut starts, mut indices) = (vec![0], Vec::new());
    for i in 0..rows {
        if i % 3 != 1 {
            indices.extend((0..columns).filter(|j| (i + 2 * j) % 4 < 2));
            if i == 0 && columns > 0 {
                indices.push(0);
            }
        }
        starts.push(indices.len());
    }
    Pattern::new((rows, columns), starts, indices)
}

fn values(pattern: &Pattern) -> Array1<f64> {
    (0..pattern.entries()).map(|e| noise(2, e, 0)).collect()
}

fn dense(pattern: &Pattern, values: &Array1<f64>) -> Array2<f64> {
    let unit = Array2::eye(pattern.columns());
    linalg::sparse_mul(pattern, values, &unit)
}

#[test]
fn products() {
    for (name, transposed) in [("sparse_mul", false), ("sparse_mul_transposed", true)] {
        let sizes = case(name).sizes.iter().enumerate();
        let inputs = sizes.map(|(number, &[m, n, k])| {
            let pattern = pattern(m, n);
            let x =
                laid_out(&matrix(linalg::cases::Kind::Regular, if transposed { m } else { n }, k, 4), number);
            (values(&pattern), pattern, x)
        });
        let inputs: Vec<_> = inputs.map(|(values, pattern, x)| (pattern, values, x)).collect();
        let vectors = inputs.iter().filter(|(.., x)| x.ncols() > 0);
        let vectors = vectors.map(|(pattern, values, x)| {
            (x.column(0).mapv(|_| 7.0), pattern.clone(), values.clone(), x.column(0).to_owned())
        });
        let singles =
            inputs.iter().map(|(pattern, values, x)| (pattern.clone(), values.mapv(|x| x as f32), single(x)));
        let wrong = (pattern(3, 3), Array1::zeros(1), Array2::zeros((3, 1)));
        if transposed {
            CheckRule::new(linalg::sparse_mul_transposed::<f64, f64, Ix2>::rule)
                .inputs(inputs.clone())
                .panicking(wrong)
                .tolerance(1e-9)
                .allocating(1)
                .run();
            let vectors =
                vectors.map(|(_, pattern, values, x)| (Array1::ones(pattern.columns()), pattern, values, x));
            CheckRule::new(linalg::sparse_mul_transposed_into::<f64, f64, Ix1>::rule)
                .inputs(vectors)
                .allocating(0)
                .run();
            CheckRule::new(linalg::sparse_mul_transposed::<f32, f32, Ix2>::rule).inputs(singles).run();
        } else {
            CheckRule::new(linalg::sparse_mul::<f64, f64, Ix2>::rule)
                .inputs(inputs.clone())
                .panicking(wrong)
                .tolerance(1e-9)
                .allocating(1)
                .run();
            let vectors =
                vectors.map(|(_, pattern, values, x)| (Array1::ones(pattern.rows()), pattern, values, x));
            CheckRule::new(linalg::sparse_mul_into::<f64, f64, Ix1>::rule)
                .inputs(vectors)
                .allocating(0)
                .run();
            CheckRule::new(linalg::sparse_mul::<f32, f32, Ix2>::rule).inputs(singles).run();
        }
        for (pattern, values, x) in inputs {
            let full = dense(&pattern, &values);
            let (found, expected) = if transposed {
                (linalg::sparse_mul_transposed(&pattern, &values, &x), full.t().dot(&x))
            } else {
                (linalg::sparse_mul(&pattern, &values, &x), full.dot(&x))
            };
            assert!((found - expected).iter().all(|x| x.abs() < 1e-14));
        }
    }
}

/// Diffusion on a graph, with a conductivity for each edge.
#[differentiable]
fn diffusion(
    #[constant] pattern: &Pattern,
    conductivity: &Array1<f64>,
    u: &Array1<f64>,
    steps: usize,
) -> f64 {
    let mut u = u.clone();
    for _ in 0..steps {
        let flow = linalg::sparse_mul(pattern, conductivity, &u);
        let back = linalg::sparse_mul_transposed(pattern, conductivity, &flow);
        for i in 0..u.len() {
            u[i] -= 0.1 * back[i];
        }
    }
    let mut total = 0.0;
    for i in 0..u.len() {
        total += u[i] * u[i];
    }
    total
}

#[test]
fn diffusion_on_a_graph() {
    let inputs = [(6, 4, 5), (3, 3, 0), (12, 30, 2)].map(|(m, n, steps)| {
        let pattern = pattern(m, n);
        let values = values(&pattern);
        (pattern, values, (0..n).map(|i| noise(9, i, 1)).collect::<Array1<f64>>(), steps)
    });
    check_rule(diffusion::rule, inputs);
}

#[test]
fn patterns_are_checked() {
    let refused = [
        ((2, 2), vec![0, 1], vec![0]),
        ((2, 2), vec![0, 2, 1], vec![0]),
        ((2, 2), vec![0, 1, 1], vec![2]),
        ((2, 2), vec![1, 1, 1], vec![0]),
        ((2, 2), vec![0, 1, 1], vec![0, 1]),
    ];
    for (shape, starts, indices) in refused {
        assert!(std::panic::catch_unwind(|| Pattern::new(shape, starts, indices)).is_err());
    }
}
