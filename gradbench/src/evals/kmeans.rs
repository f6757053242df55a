//! kmeans: the cost of centroids, and one step of Newton's method for them.

use pullback::{Float, prelude::*};
use serde_json::Value;

use super::unknown;
use crate::input::{self, agree};
use crate::task::{self, Task};

/// The sum of the squared distances of all points to the centroid that is nearest to each.
#[differentiable(dual)]
pub fn cost(#[constant] points: &[f64], centroids: &[f64], dimension: usize) -> f64 {
    let chosen = constant(nearest(points, centroids, dimension));
    let mut total = 0.0;
    for i in 0..points.len() {
        let difference = points[i] - centroids[chosen[i / dimension] * dimension + i % dimension];
        total += difference * difference;
    }
    total
}

/// Which of the centroids is nearest to each of the points.
fn nearest<T: Float>(points: &[f64], centroids: &[T], dimension: usize) -> Vec<usize> {
    let count = centroids.len() / dimension;
    // By coordinates, so that the distances to several centroids are computed at a time.
    let mut coordinates = vec![0.0; centroids.len()];
    for (j, centroid) in centroids.chunks_exact(dimension).enumerate() {
        for (i, &x) in centroid.iter().enumerate() {
            coordinates[i * count + j] = x.to_f64();
        }
    }
    let mut distances = vec![0.0; count];
    let mut of_point = |point: &[f64]| {
        distances.fill(0.0);
        for (&x, coordinates) in point.iter().zip(coordinates.chunks_exact(count)) {
            for (distance, c) in distances.iter_mut().zip(coordinates) {
                *distance += (x - c) * (x - c);
            }
        }
        let least = distances.iter().copied().fold(f64::INFINITY, f64::min);
        distances.iter().position(|&distance| distance == least).unwrap_or(0)
    };
    points.chunks_exact(dimension).map(&mut of_point).collect()
}

/// The functions of this eval.
pub fn task(function: &str, input: &Value) -> Result<Box<dyn Task>, String> {
    let (points, centroids) = (input::matrix(input, "points")?, input::matrix(input, "centroids")?);
    let dimension = centroids.columns;
    agree("each of the points", points.columns, dimension)?;
    let count = centroids.rows;
    let (points, centroids) = (points.entries, centroids.entries);
    match function {
        "cost" => Ok(task::number(move || cost(&points, &centroids, dimension))),
        "dir" => {
            let mut g = cost::hvp();
            let ones = vec![1.0; centroids.len()];
            let run = move |result: &mut Vec<f64>| {
                // The Hessian is diagonal.
                let (_, d, diagonal) = g.value_gradient_and_hvp(&points, &centroids, dimension, &ones);
                for ((result, d), h) in result.iter_mut().zip(d.centroids).zip(diagonal.centroids) {
                    *result = d / h;
                }
            };
            let result = vec![0.0; count * dimension];
            Ok(task::task(result, run, move |result| task::rows(result, dimension)))
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
        check("kmeans", "dir");
    }

    #[test]
    fn gradient() {
        let (points, centroids) = ([0.0, 0.0, 1.0, 1.0, 5.0, 5.0], [0.5, 0.0, 4.0, 6.0]);
        let mut g = cost::gradient();
        let (value, d) = g.value_and_gradient(&points, &centroids, 2);
        assert_eq!((value, d.centroids), (3.5, &[0.0, -2.0, -2.0, 2.0][..]));
    }
}
