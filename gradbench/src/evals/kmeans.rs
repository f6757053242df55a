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
    for p in 0..chosen.len() {
        for i in 0..dimension {
            let difference = points[p * dimension + i] - centroids[chosen[p] * dimension + i];
            total += difference * difference;
        }
    }
    total
}

/// Which of the centroids is nearest to each of the points.
fn nearest<T: Float>(points: &[f64], centroids: &[T], dimension: usize) -> Vec<usize> {
    let mut groups = Groups::new(centroids.len() / dimension, dimension);
    groups.fill(centroids);
    points.chunks_exact(dimension).map(|point| groups.nearest(point)).collect()
}

/// How many centroids are compared at a time.
const LANES: usize = 8;

/// Centroids by coordinates, in groups; the last group is filled up by some that are infinitely far away.
pub struct Groups {
    coordinates: Vec<[f64; LANES]>,
    dimension: usize,
    /// Of a point to all of them.
    distances: Vec<[f64; LANES]>,
}

impl Groups {
    /// Room for so many centroids.
    pub fn new(count: usize, dimension: usize) -> Self {
        let groups = count.div_ceil(LANES);
        Groups {
            coordinates: vec![[f64::INFINITY; LANES]; groups * dimension],
            dimension,
            distances: vec![[0.0; LANES]; groups],
        }
    }

    /// Puts the centroids in.
    pub fn fill<T: Float>(&mut self, centroids: &[T]) {
        for (j, centroid) in centroids.chunks_exact(self.dimension).enumerate() {
            for (i, x) in centroid.iter().enumerate() {
                self.coordinates[j / LANES * self.dimension + i][j % LANES] = x.to_f64();
            }
        }
    }

    /// Which of them is nearest, the first one if it is several.
    pub fn nearest(&mut self, point: &[f64]) -> usize {
        let groups = self.coordinates.chunks_exact(self.dimension);
        for (distances, coordinates) in self.distances.iter_mut().zip(groups) {
            let mut sums = [0.0; LANES];
            for (x, coordinates) in point.iter().zip(coordinates) {
                for lane in 0..LANES {
                    let difference = x - coordinates[lane];
                    sums[lane] += difference * difference;
                }
            }
            *distances = sums;
        }
        let mut least = [f64::INFINITY; LANES];
        for distances in &self.distances {
            for lane in 0..LANES {
                least[lane] = if distances[lane] < least[lane] { distances[lane] } else { least[lane] };
            }
        }
        let least = least.into_iter().fold(f64::INFINITY, f64::min);
        self.distances.as_flattened().iter().position(|&distance| distance == least).unwrap_or(0)
    }
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
