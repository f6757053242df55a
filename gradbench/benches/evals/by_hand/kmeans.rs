//! kmeans: each point adds to the gradient and to the Hessian's diagonal of the centroid that is nearest.

use gradbench::input;
use gradbench::task::{self, Task};
use serde_json::Value;

/// How many centroids are compared at a time.
const LANES: usize = 8;

/// Centroids by coordinates, in groups; the last group is filled up by some that are infinitely far away.
struct Groups {
    coordinates: Vec<[f64; LANES]>,
    dimension: usize,
    /// Of a point to all of them.
    distances: Vec<[f64; LANES]>,
}

impl Groups {
    fn new(count: usize, dimension: usize) -> Self {
        let groups = count.div_ceil(LANES);
        Groups {
            coordinates: vec![[f64::INFINITY; LANES]; groups * dimension],
            dimension,
            distances: vec![[0.0; LANES]; groups],
        }
    }

    fn fill(&mut self, centroids: &[f64]) {
        for (j, centroid) in centroids.chunks_exact(self.dimension).enumerate() {
            for (i, &x) in centroid.iter().enumerate() {
                self.coordinates[j / LANES * self.dimension + i][j % LANES] = x;
            }
        }
    }

    /// Which of them is nearest, the first one if it is several.
    fn nearest(&mut self, point: &[f64]) -> usize {
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

/// Writes the quotient of the gradient and the Hessian's diagonal to `d`; `counts` has room for the points of each centroid.
fn direction(points: &[f64], centroids: &[f64], groups: &mut Groups, counts: &mut [f64], d: &mut [f64]) {
    let dimension = groups.dimension;
    groups.fill(centroids);
    counts.fill(0.0);
    d.fill(0.0);
    for point in points.chunks_exact(dimension) {
        let j = groups.nearest(point);
        counts[j] += 1.0;
        let rows = j * dimension..(j + 1) * dimension;
        for ((d, c), x) in d[rows.clone()].iter_mut().zip(&centroids[rows]).zip(point) {
            *d += c - x;
        }
    }
    // Both have a factor of two.
    for (d, count) in d.chunks_exact_mut(dimension).zip(counts) {
        for d in d {
            *d /= *count;
        }
    }
}

pub(super) fn task(input: &Value) -> Result<Box<dyn Task>, String> {
    let (points, centroids) = (input::matrix(input, "points")?, input::matrix(input, "centroids")?);
    let (count, dimension) = (centroids.rows, centroids.columns);
    let (points, centroids) = (points.entries, centroids.entries);
    let (mut groups, mut counts) = (Groups::new(count, dimension), vec![0.0; count]);
    let run = move |d: &mut Vec<f64>| direction(&points, &centroids, &mut groups, &mut counts, d);
    Ok(task::task(vec![0.0; count * dimension], run, move |d| task::rows(d, dimension)))
}
