//! kmeans: each point adds to the gradient and to the Hessian's diagonal of the centroid that is nearest.

use gradbench::evals::kmeans::Groups;
use gradbench::input;
use gradbench::task::{self, Task};
use serde_json::Value;

/// Writes the quotient of the gradient and the Hessian's diagonal to `d`; `counts` has room for the points of each centroid.
fn direction(
    points: &[f64],
    centroids: &[f64],
    dimension: usize,
    groups: &mut Groups,
    counts: &mut [f64],
    d: &mut [f64],
) {
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
    let run = move |d: &mut Vec<f64>| direction(&points, &centroids, dimension, &mut groups, &mut counts, d);
    Ok(task::task(vec![0.0; count * dimension], run, move |d| task::rows(d, dimension)))
}
