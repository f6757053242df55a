//! Vectors and matrices whose dimensions are known at compile time.

use nalgebra::{Matrix2, Matrix3, Matrix4, RowVector3, SMatrix, SVector, Vector2, Vector3, Vector4, Vector6};
use pullback::prelude::*;
use pullback::testing::check_rule;

/// Numbers for tests, all different.
pub(crate) fn some<const R: usize, const C: usize>(start: f64) -> SMatrix<f64, R, C> {
    SMatrix::from_fn(|i, j| start + 0.37 * ((3 * i + 7 * j) as f64 + start).sin() - 0.11 * (i * j) as f64)
}

#[differentiable]
fn by_operators(
    a: Matrix3<f64>,
    b: &Matrix3<f64>,
    v: Vector3<f64>,
    w: &Vector3<f64>,
    s: f64,
) -> Vector3<f64> {
    let product = a * b;
    let mut y = &product * w + b * v * 2.0 - 0.5 * w;
    y += s * v;
    y -= v / s;
    y *= s;
    y /= 3.0;
    -y + w * s
}

#[test]
fn operators() {
    let (v, w) = (some(0.5), some(-0.7));
    check_rule(by_operators::rule, [(some(0.3), some(-1.0), v, w, 1.25), (some(2.0), some(0.1), w, v, -0.5)]);
}

#[differentiable]
fn every_reference(a: &Matrix3<f64>, b: Matrix3<f64>, v: &Vector3<f64>, s: &f64) -> Vector3<f64> {
    let first = &b + a;
    let second = a - &b;
    let third = &first + &second + first;
    let c = &third;
    let y = c * v + &third * v + third * *v + c * &b * v;
    let z = 2.0 * &y + &y * 3.0 - &y / *s;
    -&z + -y
}

#[test]
fn references() {
    check_rule(every_reference::rule, [(some(0.3), some(-1.0), some(0.5), 1.5)]);
}

/// The rotation about `r` by its length, as Rodrigues has it, and a projection with focal length and distortion.
#[differentiable]
fn project(r: &Vector3<f64>, t: Vector3<f64>, x: Vector3<f64>, focal: f64, k: [f64; 2]) -> Vector2<f64> {
    let theta = r.norm();
    let axis = r / theta;
    let (sin, cos) = theta.sin_cos();
    let rotated = x * cos + axis.cross(&x) * sin + axis * (axis.dot(&x) * (1.0 - cos));
    let p = rotated + t;
    let image = Vector2::new(-p.x / p.z, -p.y / p.z);
    let r2 = image.norm_squared();
    image * (focal * (1.0 + r2 * (k[0] + r2 * k[1])))
}

#[differentiable]
fn reprojection_error(
    r: &[Vector3<f64>],
    t: &Vector3<f64>,
    points: &[Vector3<f64>],
    #[constant] seen: &[Vector2<f64>],
) -> f64 {
    let mut total = 0.0;
    for i in 0..points.len() {
        let e = project(&r[i], *t, points[i], 1.2, [0.01, -0.02]) - seen[i];
        total += e.norm_squared();
    }
    total
}

#[test]
fn rodrigues_and_pinhole() {
    let (r, t, x) = (some(0.4), Vector3::new(0.1, -0.2, -5.0), some(1.0));
    check_rule(project::rule, [(r, t, x, 1.5, [0.1, 0.02])]);
    let rotations = vec![r, some(-0.3), some(0.7)];
    let points = vec![x, some(0.5), some(-0.9)];
    let seen = vec![Vector2::new(0.1, 0.2), Vector2::new(0.0, -0.1), Vector2::new(0.3, 0.3)];
    check_rule(reprojection_error::rule, [(rotations, t, points, seen)]);
}

#[differentiable]
fn joint(angle: f64, length: f64) -> Matrix4<f64> {
    let (s, c) = angle.sin_cos();
    Matrix4::new(c, -s, 0.0, c * length, s, c, 0.0, s * length, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0)
}

/// The square of the distance of the end of an arm from a target.
#[differentiable]
fn arm(angles: &[f64], lengths: &[f64], target: &Vector4<f64>) -> f64 {
    let mut frame = Matrix4::identity();
    for i in 0..angles.len() {
        frame = frame * joint(angles[i], lengths[i]);
    }
    let end = frame * Vector4::w();
    (end - target).norm_squared()
}

#[test]
fn robot_arm() {
    let target = Vector4::new(0.5, 1.0, 0.0, 1.0);
    check_rule(
        arm::rule,
        [(vec![0.3, -0.8], vec![1.0, 0.7], target), (vec![0.3, -0.8, 1.1], vec![1.0, 0.7, 0.2], target)],
    );
}

/// A prediction and a correction of Kalman's filter: the log-likelihood of the measurement.
#[differentiable]
fn kalman(
    x: &mut SVector<f64, 4>,
    p: &mut SMatrix<f64, 4, 4>,
    z: &Vector2<f64>,
    f: &SMatrix<f64, 4, 4>,
    q: &SMatrix<f64, 4, 4>,
    #[constant] h: &SMatrix<f64, 2, 4>,
    r: &Matrix2<f64>,
) -> f64 {
    *x = f * *x;
    *p = f * *p * f.transpose() + q;
    let y = z - h * *x;
    let s = h * *p * h.transpose() + r;
    let inverse = s.try_inverse().unwrap();
    let k = *p * h.transpose() * inverse;
    *x += k * y;
    *p = (SMatrix::<f64, 4, 4>::identity() - k * h) * *p;
    -0.5 * (y.dot(&(inverse * y)) + s.determinant().ln())
}

#[test]
fn kalman_filter() {
    let p: SMatrix<f64, 4, 4> = some(0.2);
    let p = p * p.transpose() + SMatrix::identity();
    let q = SMatrix::from_diagonal_element(0.1);
    let h = SMatrix::from_fn(|i, j| if i == j { 1.0 } else { 0.0 });
    let r = Matrix2::new(0.5, 0.1, 0.1, 0.4);
    check_rule(kalman::rule, [(some(0.1), p, Vector2::new(0.4, -0.3), some(0.3), q, h, r)]);
}

#[differentiable]
fn by_entries(m: &mut Matrix3<f64>, v: &mut Vector3<f64>, s: f64) -> f64 {
    let mut w = *v;
    for i in 0..3 {
        for j in 0..3 {
            m[(i, j)] += s * v[i] * w[j];
            w[j] -= 0.1 * m[(j, i)];
        }
        v[i] *= m[(i, i)];
    }
    v.x = w.y * s;
    w.z += v.x * v.y;
    m[4] = w[0] / s;
    m[(0, 2)] * w.z + v.z
}

#[test]
fn entries() {
    check_rule(by_entries::rule, [(some(0.3), some(-0.4), 1.5)]);
}

#[differentiable]
fn by_methods(a: Matrix3<f64>, b: &Matrix3<f64>, v: Vector3<f64>, w: &Vector3<f64>, s: f64) -> Vector3<f64> {
    let c = a.component_mul(b) + a.component_div(b).transpose() + b.scale(s) - a.unscale(s);
    let d = c.tr_mul(b) + a.add_scalar(s) + v * w.transpose();
    let diagonal = d.diagonal() + v.lerp(w, s) + v.cross_matrix() * w;
    let n = v.normalize() * d.trace() + w * (a.sum() + b.mean());
    diagonal
        + n * v.metric_distance(w)
        + d.column(1)
        + d.row(2).transpose() * v.magnitude()
        + (d - a).fixed_view::<3, 1>(0, 2)
        + c.fixed_rows::<1>(0).transpose() * c.fixed_columns::<1>(1).norm()
}

#[test]
fn methods() {
    check_rule(by_methods::rule, [(some(0.3), some(-1.0), some(0.5), some(1.7), 0.75)]);
}

#[differentiable]
fn inverse_and_determinant<const N: usize>(a: &SMatrix<f64, N, N>) -> f64 {
    let inverse = a.try_inverse().unwrap();
    inverse.norm_squared() + inverse[(0, N - 1)]
}

#[differentiable]
fn determinants(a: &Matrix2<f64>, b: &Matrix3<f64>, c: &SMatrix<f64, 5, 5>) -> f64 {
    a.determinant() + b.determinant() * c.determinant()
}

#[test]
fn inverses() {
    check_rule(inverse_and_determinant::<2>::rule, [(some(0.3) + Matrix2::identity(),)]);
    check_rule(inverse_and_determinant::<5>::rule, [(some(0.3) + SMatrix::identity(),)]);
    let c = some::<5, 5>(0.2) + SMatrix::identity();
    check_rule(
        determinants::rule,
        [
            (some(0.3), some(-1.0), c),
            // Without an inverse.
            (Matrix2::new(1.0, 2.0, 2.0, 4.0), Matrix3::new(1.0, 2.0, 3.0, 2.0, 4.0, 6.0, 0.0, 1.0, 0.0), c),
        ],
    );
}

/// Where there is no inverse there is no gradient.
#[differentiable]
fn solved(a: &Matrix2<f64>, b: Vector2<f64>) -> Option<Vector2<f64>> {
    let inverse = a.try_inverse()?;
    Some(inverse * b)
}

#[differentiable]
fn with_solution(a: &Matrix2<f64>, b: Vector2<f64>) -> f64 {
    match solved(a, b) {
        Some(x) => x.dot(&b),
        None => b.x * 2.0,
    }
}

#[test]
fn options() {
    let b = Vector2::new(0.5, -0.3);
    check_rule(with_solution::rule, [(Matrix2::new(1.0, 0.2, -0.3, 0.7), b), (Matrix2::zeros(), b)]);
}

#[derive(Clone, Copy, Differentiable)]
struct Body {
    mass: f64,
    position: Vector3<f64>,
    velocity: Vector3<f64>,
    inertia: Matrix3<f64>,
}

/// Gravity between bodies, and their motion.
#[differentiable]
fn energy(bodies: &mut [Body], dt: f64, steps: usize) -> f64 {
    for _ in 0..steps {
        for i in 0..bodies.len() {
            let mut force = Vector3::zeros();
            for j in 0..bodies.len() {
                if i != j {
                    let r = bodies[j].position - bodies[i].position;
                    let d = r.norm() + 0.1;
                    force += r * (bodies[i].mass * bodies[j].mass / (d * d * d));
                }
            }
            let a = force / bodies[i].mass;
            bodies[i].velocity += a * dt;
        }
        for i in 0..bodies.len() {
            let v = bodies[i].velocity;
            bodies[i].position += v * dt;
            bodies[i].inertia[(0, 1)] *= v.x;
        }
    }
    let mut total = 0.0;
    for body in bodies.iter() {
        let v = body.velocity;
        total += 0.5 * body.mass * v.norm_squared() + v.dot(&(body.inertia * v));
    }
    total
}

#[test]
fn structs() {
    let body = |k: f64| Body { mass: 1.0 + k, position: some(k), velocity: some(-k), inertia: some(0.1 + k) };
    check_rule(
        energy::rule,
        [(vec![body(0.3), body(1.1)], 0.1, 2), (vec![body(0.5), body(-0.2), body(0.9)], 0.2, 1)],
    );
}

/// Parts of what operators return.
#[differentiable]
fn parts(a: &Matrix3<f64>, v: Vector3<f64>, k: f64) -> f64 {
    (v * k + v).x * (a * v).y + k
}

#[test]
fn parts_of_values() {
    check_rule(parts::rule, [(some(0.3), some(-1.0), 0.7)]);
}
