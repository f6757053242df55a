//! kmeans: the cost of centroids, and one step of Newton's method for them.

use pullback::prelude::*;
use serde_json::Value;

use super::unknown;
use crate::input::{self, agree};
use crate::task::{self, Task};

/// The sum of the squared distances of all points to the centroid that is nearest to each.
#[differentiable]
pub fn cost(#[constant] points: &[f64], centroids: &[f64], dimension: usize) -> f64 {
    let mut total = 0.0;
    for point in points.chunks_exact(dimension) {
        let j: usize = constant(nearest(point, centroids, dimension));
        total += squared_distance(point, &centroids[j * dimension..(j + 1) * dimension]);
    }
    total
}

#[differentiable]
fn squared_distance(#[constant] a: &[f64], b: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..b.len() {
        let difference = a[i] - b[i];
        total += difference * difference;
    }
    total
}

/// Which of the centroids is nearest.
fn nearest(point: &[f64], centroids: &[f64], dimension: usize) -> usize {
    let (mut best, mut least) = (0, f64::INFINITY);
    for (j, centroid) in centroids.chunks_exact(dimension).enumerate() {
        let distance = squared_distance(point, centroid);
        if distance < least {
            (best, least) = (j, distance);
        }
    }
    best
}

/// The functions of this eval.
pub fn task(function: &str, input: &Value) -> Result<Box<dyn Task>, String> {
    let (points, centroids) = (input::matrix(input, "points")?, input::matrix(input, "centroids")?);
    let dimension = centroids.columns;
    agree("each of the points", points.columns, dimension)?;
    let (points, centroids) = (points.entries, centroids.entries);
    match function {
        "cost" => Ok(task::number(move || cost(&points, &centroids, dimension))),
        "gradient" => {
            let mut g = cost::gradient();
            Ok(task::vector(centroids.len(), move |result| {
                let (_, d) = g.value_and_gradient(&points, &centroids, dimension);
                result.copy_from_slice(d.centroids);
            }))
        }
        _ => Err(unknown(function)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evals::tests::check;

    #[test]
    fn samples() {
        check("kmeans", "cost");
    }

    #[test]
    fn gradient() {
        let (points, centroids) = ([0.0, 0.0, 1.0, 1.0, 5.0, 5.0], [0.5, 0.0, 4.0, 6.0]);
        let mut g = cost::gradient();
        let (value, d) = g.value_and_gradient(&points, &centroids, 2);
        assert_eq!((value, d.centroids), (3.5, &[0.0, -2.0, -2.0, 2.0][..]));
    }
}
