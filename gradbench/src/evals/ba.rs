//! ba: bundle adjustment, the errors of projected points and their sparse Jacobian.

use pullback::prelude::*;
use serde_json::{Value, json};

use super::unknown;
use crate::input;
use crate::task::{self, Task};

/// Rotation (3), centre (3), focal length, principal point (2), radial distortion (2).
pub type Camera = [f64; 11];

/// *x* turned around the axis *r* by the angle *|r|*: Rodrigues' formula.
#[differentiable(dual)]
fn rotated(r: [f64; 3], x: [f64; 3]) -> [f64; 3] {
    let square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
    if square == 0.0 {
        let c = cross(r, x);
        return [x[0] + c[0], x[1] + c[1], x[2] + c[2]];
    }
    let angle = square.sqrt();
    let (sin, cos) = angle.sin_cos();
    let inverse = 1.0 / angle;
    let axis = [r[0] * inverse, r[1] * inverse, r[2] * inverse];
    let c = cross(axis, x);
    let along = (axis[0] * x[0] + axis[1] * x[1] + axis[2] * x[2]) * (1.0 - cos);
    [
        x[0] * cos + c[0] * sin + axis[0] * along,
        x[1] * cos + c[1] * sin + axis[1] * along,
        x[2] * cos + c[2] * sin + axis[2] * along,
    ]
}

#[differentiable(dual)]
fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// By how much the camera's view of `point` misses `feature`, times the weight.
#[differentiable(dual)]
pub fn reprojection_error(
    camera: &[f64; 11],
    point: &[f64; 3],
    weight: f64,
    #[constant] feature: &[f64; 2],
) -> [f64; 2] {
    let r = [camera[0], camera[1], camera[2]];
    let x = rotated(r, [point[0] - camera[3], point[1] - camera[4], point[2] - camera[5]]);
    let (u, v) = (x[0] / x[2], x[1] / x[2]);
    let square = u * u + v * v;
    let scale = camera[6] * (1.0 + camera[9] * square + camera[10] * square * square);
    [weight * (u * scale + camera[7] - feature[0]), weight * (v * scale + camera[8] - feature[1])]
}

/// How far a weight is from 1: *1 − w²*.
#[differentiable]
pub fn weight_error(weight: f64) -> f64 {
    1.0 - weight * weight
}

/// All cameras, points and observations.
pub struct Problem {
    cameras: Vec<Camera>,
    points: Vec<[f64; 3]>,
    weights: Vec<f64>,
    features: Vec<[f64; 2]>,
}

impl Problem {
    /// A camera, a point, a weight and a feature, repeated.
    pub fn new(input: &Value) -> Result<Self, String> {
        let (n, m, p) =
            (input::integer(input, "n")?, input::integer(input, "m")?, input::integer(input, "p")?);
        if n == 0 || m == 0 || p == 0 {
            return Err("there is nothing to see".to_owned());
        }
        Ok(Problem {
            cameras: vec![input::array(input, "cam")?; n],
            points: vec![input::array(input, "x")?; m],
            weights: vec![input::number(input, "w")?; p],
            features: vec![input::array(input, "feat")?; p],
        })
    }

    /// What the `i`-th observation sees: which camera, and which point.
    fn observation(&self, i: usize) -> (usize, usize) {
        (i % self.cameras.len(), i % self.points.len())
    }
}

/// The errors of all observations and weights.
#[derive(Default)]
pub struct Errors {
    reprojection: Vec<[f64; 2]>,
    weights: Vec<f64>,
}

/// Computes all errors.
pub fn objective(problem: &Problem, errors: &mut Errors) {
    errors.reprojection.clear();
    errors.weights.clear();
    for (i, (&weight, feature)) in problem.weights.iter().zip(&problem.features).enumerate() {
        let (camera, point) = problem.observation(i);
        let error = reprojection_error(&problem.cameras[camera], &problem.points[point], weight, feature);
        errors.reprojection.push(error);
    }
    errors.weights.extend(problem.weights.iter().map(|&weight| weight_error(weight)));
}

/// A sparse matrix by rows: where each starts, and the columns and values of its entries.
#[derive(Default)]
pub struct Sparse {
    rows: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
}

impl Sparse {
    fn clear(&mut self, rows: usize, entries: usize) {
        self.rows.clear();
        self.columns.clear();
        self.values.clear();
        self.rows.reserve(rows + 1);
        self.columns.reserve(entries);
        self.values.reserve(entries);
        self.rows.push(0);
    }

    /// Adds rows that have entries in the same columns.
    #[inline]
    fn rows<const N: usize>(&mut self, columns: &[usize; N], rows: &[[f64; N]]) {
        for values in rows {
            self.values.extend_from_slice(values);
            self.columns.extend_from_slice(columns);
            self.rows.push(self.columns.len());
        }
    }
}

/// Computes the Jacobian of all errors.
pub fn jacobian(
    problem: &Problem,
    reprojection: &mut reprojection_error,
    weight: &mut weight_error,
    result: &mut Sparse,
) {
    let (n, m, p) = (problem.cameras.len(), problem.points.len(), problem.weights.len());
    result.clear(3 * p, 31 * p);
    for (i, (&w, feature)) in problem.weights.iter().zip(&problem.features).enumerate() {
        let (camera, point) = problem.observation(i);
        let columns: [usize; 15] = std::array::from_fn(|j| match j {
            0..11 => 11 * camera + j,
            11..14 => 11 * n + 3 * point + j - 11,
            _ => 11 * n + 3 * m + i,
        });
        let (camera, point) = (&problem.cameras[camera], &problem.points[point]);
        let (_, rows) = reprojection.value_and_jacobian(camera, point, w, feature);
        let (rows, _) = rows.as_slice().expect("row by row").as_chunks();
        result.rows(&columns, rows);
    }
    for (i, &w) in problem.weights.iter().enumerate() {
        let (_, d) = weight.value_and_gradient(w);
        result.rows(&[11 * n + 3 * m + i], &[[d.weight]]);
    }
}

/// The functions of this eval.
pub fn task(function: &str, input: &Value) -> Result<Box<dyn Task>, String> {
    let problem = Problem::new(input)?;
    match function {
        "objective" => {
            let run = move |result: &mut Errors| objective(&problem, result);
            Ok(task::task(Errors::default(), run, |errors| {
                json!({
                    "reproj_error": { "elements": errors.reprojection[0], "repeated": errors.reprojection.len() },
                    "w_err": { "element": errors.weights[0], "repeated": errors.weights.len() },
                })
            }))
        }
        "jacobian" => {
            let (mut reprojection, mut weight) = (reprojection_error::jacobian(), weight_error::gradient());
            let run = move |result: &mut Sparse| jacobian(&problem, &mut reprojection, &mut weight, result);
            Ok(task::task(Sparse::default(), run, |result| {
                json!({
                    "rows": ends(&result.rows),
                    "cols": ends(&result.columns),
                    "vals": ends(&result.values),
                })
            }))
        }
        _ => Err(unknown(function)),
    }
}

/// The first thirty, and the last.
fn ends<T: Copy>(list: &[T]) -> Vec<T> {
    let last = list.last().copied();
    list.iter().take(30).copied().chain(last).collect()
}

#[cfg(test)]
mod tests {
    use crate::evals::tests::check;

    #[test]
    fn samples() {
        check("ba", "objective");
        check("ba", "jacobian");
    }
}
