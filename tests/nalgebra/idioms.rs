//! What people write with nalgebra: geometry, estimation, simulation.

use nalgebra::{DVector, Matrix3, Matrix4, SMatrix, SVector, Vector2, Vector3, Vector4, Vector6};
use pullback::prelude::*;
use pullback::testing::check_rule;

use crate::statics::some;

#[differentiable]
fn area(p: &[Vector3<f64>; 3]) -> f64 {
    let n = (p[1] - p[0]).cross(&(p[2] - p[0]));
    let unit = n.normalize();
    let angle = (p[1] - p[0]).dot(&(p[2] - p[0])).acos() + unit.x.max(1e-9);
    n.norm() / 2.0 + angle * n.norm().max(1e-3)
}

#[test]
fn triangles() {
    let p = [Vector3::new(0.1, 0.2, 0.3), Vector3::new(0.6, -0.1, 0.4), Vector3::new(0.3, 0.5, -0.2)];
    check_rule(area::rule, [(p,)]);
}

/// A pose of six numbers, and a landmark, both out of one long slice.
#[differentiable]
fn factor(x: &[f64], i: usize) -> f64 {
    let pose = Vector6::from_row_slice(&x[6 * i..6 * i + 6]);
    let landmark = Vector3::from_column_slice(&x[12..15]);
    let (r, t) = (pose.fixed_rows::<3>(0).into_owned(), pose.fixed_rows::<3>(3).into_owned());
    let w = r.cross_matrix();
    let moved = (Matrix3::identity() + w + 0.5 * w * w) * landmark + t;
    let seen = moved.fixed_rows::<2>(0) / moved.z;
    seen.norm_squared()
}

#[differentiable]
fn graph(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..2 {
        total += factor(x, i).sqrt();
    }
    total
}

#[test]
fn bundle_adjustment() {
    let x: Vec<f64> = (0..15).map(|i| 0.3 + 0.2 * (3.0 * i as f64).sin()).collect();
    check_rule(graph::rule, [(x,)]);
}

#[differentiable]
fn guarded(v: Vector3<f64>, axis: usize, s: f64) -> Vector3<f64> {
    let unit = if v.norm() < 0.1 { Vector3::zeros() } else { v.normalize() };
    let along = match axis {
        0 => Vector3::x() * s,
        1 => Vector3::new(0.0, s, s * s),
        _ => v * s,
    };
    let mut w = unit + along;
    if w.z > 0.0 {
        w.z = 0.0;
    }
    w *= 1.0 - 0.1 * s;
    w
}

#[test]
fn branches() {
    check_rule(
        guarded::rule,
        [
            (some(0.3), 0, 0.5),
            (some(-0.8), 1, 0.5),
            (Vector3::new(0.01, 0.0, -0.02), 1, 0.5),
            (some(0.7), 2, 0.5),
        ],
    );
}

#[differentiable]
fn sums(points: &[Vector3<f64>]) -> f64 {
    let total = points.iter().fold(Vector3::zeros(), |sum, p| sum + p);
    let mean = total / points.len() as f64;
    let scatter: f64 = points.iter().map(|p| (p - mean).norm_squared()).sum();
    let far = points.iter().map(|p| p.metric_distance(&mean)).fold(0.0, f64::max);
    scatter + far
}

#[test]
fn means() {
    check_rule(sums::rule, [(vec![some(0.3), some(-0.4), some(0.9)],), (vec![some(0.5)],)]);
}

/// A trajectory that is kept in a vector, and an array of vectors.
#[differentiable]
fn trajectory(start: Vector2<f64>, rate: f64, steps: usize) -> f64 {
    let mut path = vec![start];
    for i in 0..steps {
        let x = path[i];
        path.push(x + Vector2::new(-x.y, x.x) * rate);
    }
    let mut corners = [Vector2::zeros(); 3];
    for (i, x) in path.iter().enumerate() {
        corners[i % 3] += x * 0.5;
    }
    corners[0].dot(&corners[1]) + corners[2].norm_squared() + path[steps].x
}

#[test]
fn vectors_of_vectors() {
    check_rule(trajectory::rule, [(Vector2::new(0.5, -0.2), 0.1, 4), (Vector2::new(0.5, -0.2), 0.1, 0)]);
}

#[differentiable]
fn orthogonality(m: &Matrix4<f64>, v: Vector3<f64>) -> f64 {
    let rotated = m.fixed_view::<3, 3>(0, 0) * v + m.fixed_view::<3, 1>(0, 3);
    let first = m.column(0).dot(&m.column(1));
    let gram = m.transpose() * m;
    rotated.norm() + first * gram.trace() + m.row(1).norm()
}

#[test]
fn parts_of_a_transform() {
    check_rule(orthogonality::rule, [(some(0.3), some(0.7))]);
}

/// The Gauss–Newton step of a line through points, by the normal equations.
#[differentiable]
fn fitted(x: &[f64], y: &[f64]) -> Vector2<f64> {
    let mut h = SMatrix::<f64, 2, 2>::zeros();
    let mut g = SVector::<f64, 2>::zeros();
    for i in 0..x.len() {
        let row = Vector2::new(1.0, x[i]);
        h += row * row.transpose();
        g += row * y[i];
    }
    h.try_inverse().unwrap_or(SMatrix::identity()) * g
}

#[test]
fn normal_equations() {
    check_rule(fitted::rule, [(vec![0.0, 0.5, 1.0, 1.5], vec![0.1, 0.7, 0.9, 1.8]), (vec![0.5], vec![0.1])]);
}

/// A quaternion's product, of vectors.
#[differentiable]
fn hamilton(p: Vector4<f64>, q: &Vector4<f64>) -> Vector4<f64> {
    let (u, v) = (Vector3::new(p.x, p.y, p.z), Vector3::new(q.x, q.y, q.z));
    let w = u * q.w + v * p.w + u.cross(&v);
    Vector4::new(w.x, w.y, w.z, p.w * q.w - u.dot(&v))
}

#[differentiable]
fn spun(q: &mut Vector4<f64>, omega: &Vector3<f64>, dt: f64, steps: usize) -> f64 {
    for _ in 0..steps {
        let rate = Vector4::new(omega.x, omega.y, omega.z, 0.0);
        let change = hamilton(*q, &rate) * (0.5 * dt);
        *q += change;
        *q /= q.norm();
    }
    q.x * q.y - q.z.powi(2)
}

#[test]
fn quaternions_by_hand() {
    check_rule(spun::rule, [(Vector4::new(0.1, 0.2, -0.3, 0.9), some(0.5), 0.1, 3)]);
}

#[differentiable]
fn energy(x: &DVector<f64>, y: &DVector<f64>) -> f64 {
    let product: f64 = x.iter().zip(y.iter()).map(|(a, b)| a * b).sum();
    let mut total = product;
    for (i, v) in x.iter().enumerate() {
        total += v.powi(2) * y[i];
    }
    total
}

#[test]
fn iterators_over_the_heap() {
    let x = DVector::from_vec(vec![0.5, -0.2, 0.8]);
    check_rule(energy::rule, [(x.clone(), x * 0.3)]);
}
