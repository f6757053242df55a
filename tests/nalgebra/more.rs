//! Vectors and matrices together with the rest of the language.

use nalgebra::{Matrix2, Matrix3, Matrix4, RowVector3, SMatrix, SVector, Vector2, Vector3, Vector4, Vector6};
use pullback::prelude::*;
use pullback::testing::{check_gradient, check_rule};

use crate::statics::some;

const GRAVITY: Vector3<f64> = Vector3::new(0.0, 0.0, -9.81);

/// Constants that are no numbers, times numbers that are active.
#[differentiable]
fn constants(x: f64, t: f64, #[constant] axis: &Vector3<f64>, #[constant] m: Matrix3<f64>) -> Vector3<f64> {
    let g = GRAVITY;
    let up = Vector3::z();
    let mut y = g * t + t * g + axis * x + x * axis - up * x;
    y += Vector3::x() * t;
    y -= t * Vector3::new(1.0, 2.0, 3.0);
    y += m * (x * Vector3::y_axis().into_inner());
    y + m * y * x + (x * m) * axis
}

#[test]
fn constants_that_are_vectors() {
    check_rule(constants::rule, [(0.5, -1.5, some(0.3), some(-0.2))]);
}

#[differentiable]
fn single(a: &Matrix2<f32>, v: Vector2<f32>, s: f32) -> f32 {
    let y = 2.0 * (a * v) + v * s / 3.0;
    y.dot(&v) + y.norm() * a.determinant()
}

#[test]
fn single_precision() {
    check_rule(single::rule, [(Matrix2::new(0.5, -1.0, 0.25, 2.0), Vector2::new(0.3, -0.7), 1.5)]);
}

#[differentiable]
fn constructed(x: f64, y: &[f64], v: &Vector3<f64>) -> f64 {
    let a = Matrix3::from_diagonal(v) + Matrix3::from_element(x) + Matrix3::from_diagonal_element(x * x);
    let b = Matrix3::from_columns(&[*v, a * v, Vector3::repeat(x)]);
    let c = Matrix3::from_rows(&[v.transpose(), RowVector3::new(x, 1.0, 2.0), b.row(0).into_owned()]);
    let d = SMatrix::<f64, 2, 3>::from_row_slice(y) - SMatrix::<f64, 2, 3>::from_column_slice(y);
    let e = Vector2::from([x, y[0]]) + SVector::<f64, 2>::from_element(y[1]);
    (c * b).trace() + (d * a * d.transpose()).sum() + e.dot(&(d * v)) + Vector4::new(x, 1.0, y[2], x).norm()
}

#[test]
fn constructors() {
    check_rule(constructed::rule, [(0.5, vec![0.1, -0.3, 0.7, 0.2, 1.1, -0.9], some(0.4))]);
}

/// Newton's method for a fixed point, left when it has converged.
#[differentiable]
fn newton(a: &Matrix2<f64>, b: &Vector2<f64>) -> Vector2<f64> {
    let mut x = Vector2::zeros();
    let mut count = 0;
    loop {
        let residual = a * x + x.component_mul(&x) - b;
        if residual.norm() < 1e-12 || count > 50 {
            break;
        }
        let jacobian = a + Matrix2::from_diagonal(&(2.0 * x));
        match jacobian.try_inverse() {
            Some(inverse) => x -= inverse * residual,
            None => x = x * 0.5,
        }
        count += 1;
    }
    x
}

#[test]
fn exits() {
    check_rule(newton::rule, [(Matrix2::new(2.0, 0.3, -0.2, 1.5), Vector2::new(0.4, 0.7))]);
}

#[differentiable]
fn over_slices(points: &[Vector3<f64>], weights: &[f64], centre: &mut Vector3<f64>) -> f64 {
    for (p, w) in points.iter().zip(weights) {
        *centre += p * *w;
    }
    let mut spread = Matrix3::zeros();
    for p in points {
        let d = p - *centre;
        if d.x > 0.0 {
            spread += d * d.transpose();
        } else {
            spread -= 0.5 * d * d.transpose();
        }
    }
    let far: f64 = points.iter().map(|p| (p - *centre).norm()).sum();
    let nearest = points.iter().map(|p| p.dot(centre)).fold(10.0, f64::min);
    spread.trace() * far + nearest + spread[(0, 1)]
}

#[test]
fn iterators() {
    check_rule(
        over_slices::rule,
        [
            (vec![some(0.3), some(1.1), some(-0.8)], vec![0.5, 0.2, -0.3], some(0.1)),
            (vec![some(0.3)], vec![0.5], some(0.1)),
        ],
    );
}

#[differentiable]
fn over_entries(v: &Vector3<f64>, m: Matrix2<f64>) -> f64 {
    let mut total = 0.0;
    for x in v.iter() {
        total += x * x;
    }
    let product: f64 = m.iter().product();
    total + product + v.iter().zip(m.iter()).map(|(x, y)| x * y).sum::<f64>()
}

#[test]
fn entries_by_iterators() {
    check_rule(over_entries::rule, [(some(0.3), some(1.1))]);
}

#[differentiable]
fn with_closures(q: Vector4<f64>, points: &[Vector3<f64>; 2]) -> [Vector3<f64>; 2] {
    let u = Vector3::new(q.x, q.y, q.z);
    let rotate = |p: Vector3<f64>| p + 2.0 * u.cross(&(u.cross(&p) + q.w * p));
    [rotate(points[0]), rotate(rotate(points[1]))]
}

#[test]
fn closures_and_arrays() {
    check_rule(with_closures::rule, [(Vector4::new(0.1, -0.2, 0.3, 0.9), [some(0.5), some(-0.6)])]);
}

#[differentiable]
fn scaled<const R: usize, const C: usize>(
    a: &SMatrix<f64, R, C>,
    b: &SMatrix<f64, C, R>,
    s: f64,
) -> SMatrix<f64, R, R> {
    let mut y = a * b * s;
    y *= 2.0;
    y + y.transpose()
}

#[differentiable]
fn of_any_size(a: &SMatrix<f64, 2, 5>, b: SMatrix<f64, 5, 2>, s: f64) -> f64 {
    scaled(a, &b, s).sum() + scaled(&b, a, s * s).norm_squared()
}

#[test]
fn generic_dimensions() {
    check_rule(scaled::<3, 2>::rule, [(some(0.3), some(-0.2), 0.5)]);
    check_rule(of_any_size::rule, [(some(0.3), some(-0.2), 0.5)]);
}

/// A pose in space.
#[derive(Clone, Copy, Differentiable)]
struct Pose {
    rotation: Matrix3<f64>,
    translation: Vector3<f64>,
}

#[differentiable]
impl Pose {
    fn apply(&self, p: Vector3<f64>) -> Vector3<f64> {
        self.rotation * p + self.translation
    }

    fn then(self, other: Pose) -> Pose {
        Pose {
            rotation: other.rotation * self.rotation,
            translation: other.rotation * self.translation + other.translation,
        }
    }
}

#[differentiable]
fn chained(poses: &[Pose], p: Vector3<f64>) -> Vector3<f64> {
    let mut whole = poses[0];
    for i in 1..poses.len() {
        whole = whole.then(poses[i]);
    }
    whole.apply(p) - poses[0].apply(p) * 0.5
}

#[test]
fn methods_of_structs() {
    let pose = |k: f64| Pose { rotation: some(k), translation: some(-k) };
    check_rule(chained::rule, [(vec![pose(0.2), pose(-0.4), pose(0.7)], some(0.1))]);
}

#[differentiable]
fn power(a: &Matrix2<f64>, n: usize) -> Matrix2<f64> {
    if n == 0 { Matrix2::identity() } else { a * power(a, n - 1) }
}

#[test]
fn recursion() {
    check_rule(power::rule, [(some(0.3), 3), (some(0.3), 0)]);
}

#[differentiable]
fn copied(a: &Matrix2<f64>, v: Vector2<f64>) -> Matrix2<f64> {
    let mut b = a.clone();
    b[(0, 0)] *= v.x;
    let w = v.clone();
    let (c, d) = (b * 2.0, w - v * v.y);
    b.component_mul(&c) + d * w.transpose()
}

#[test]
fn clones() {
    check_rule(copied::rule, [(some(0.3), some(0.7))]);
}

/// The gradient itself, as users have it.
#[test]
fn gradients_are_matrices() {
    #[differentiable]
    fn quadratic(a: &Matrix2<f64>, x: Vector2<f64>) -> f64 {
        x.dot(&(a * x))
    }

    let (a, x) = (Matrix2::new(1.0, 2.0, 3.0, 4.0), Vector2::new(0.5, -1.0));
    let mut g = quadratic::gradient();
    let (value, d) = g.value_and_gradient(&a, x);
    assert_eq!(value, 0.25 - 2.5 + 4.0);
    assert_eq!(d.a, x * x.transpose());
    assert_eq!(d.x, (a + a.transpose()) * x);
    assert_eq!(d.x.y, -5.5);
}

#[differentiable]
fn pendulum(state: Vector2<f64>, length: f64) -> Vector2<f64> {
    Vector2::new(state.y, -9.81 / length * state.x.sin())
}

/// Runge and Kutta's method of the fourth order.
#[differentiable]
fn simulated(start: &Vector2<f64>, length: f64, dt: f64, steps: usize) -> f64 {
    let mut x = *start;
    for _ in 0..steps {
        let k1 = pendulum(x, length);
        let k2 = pendulum(x + k1 * (dt / 2.0), length);
        let k3 = pendulum(x + k2 * (dt / 2.0), length);
        let k4 = pendulum(x + k3 * dt, length);
        x += (k1 + 2.0 * k2 + 2.0 * k3 + k4) * (dt / 6.0);
    }
    x.norm()
}

#[test]
fn runge_kutta() {
    check_rule(
        simulated::rule,
        [(Vector2::new(0.5, 0.1), 1.2, 0.05, 4), (Vector2::new(0.5, 0.1), 1.2, 0.05, 0)],
    );
}

#[differentiable]
fn written(m: &mut Matrix3<f64>, v: Vector3<f64>, s: f64) -> f64 {
    let mut frame = Matrix4::identity();
    frame[(0, 3)] = s;
    let mut w = v;
    let length = w.normalize_mut();
    m.set_column(1, &(w * s));
    m.set_row(0, &v.transpose());
    let mut other = Matrix3::zeros();
    other.copy_from(&(*m * 2.0));
    for i in 0..3 {
        let column = other.column(i);
        other.set_column(i, &(column * s + w));
        w.normalize_mut();
    }
    other[(1, 2)] *= frame[(0, 3)];
    m.copy_from(&other);
    w.fill(s * length);
    let mut filled = Vector3::zeros();
    filled.fill(s * s);
    (m.determinant() + other.norm_squared()) * length + w.dot(&filled)
}

#[test]
fn writes() {
    check_rule(written::rule, [(some(0.3), some(0.7), 1.3)]);
}

#[differentiable]
fn extremes(v: &Vector3<f64>, m: &Matrix2<f64>) -> f64 {
    v.max() * m.min() + m.abs().sum() * v.abs().norm() + v.x.max(v.y)
}

#[test]
fn numeric_methods() {
    check_rule(extremes::rule, [(some(0.3), some(-0.2))]);
}

/// What nalgebra's own macro, a feature of it, makes of these.
macro_rules! matrix {
    ($a:expr, $b:expr; $c:expr, $d:expr) => {
        Matrix2::new($a, $b, $c, $d)
    };
}

macro_rules! vector {
    ($a:expr, $b:expr) => {
        Vector2::new($a, $b)
    };
}

#[differentiable]
fn by_macros(x: f64, y: f64) -> f64 {
    let m = matrix![x, y; y * x, 2.0];
    let v = vector![x.sin(), 1.0];
    (m * v).norm()
}

#[test]
fn macros() {
    check_rule(by_macros::rule, [(0.4, -0.7)]);
}

#[differentiable]
fn of_any_float<T: nalgebra::RealField + Copy>(a: &Matrix2<T>, v: Vector2<T>, s: T) -> T {
    let y = (a * v + v) * s;
    y.norm_squared() + y.dot(&v) * v[0] + a.determinant().sin()
}

#[test]
fn generic_entries() {
    check_rule(of_any_float::<f64>::rule, [(some(0.3), some(0.7), 0.5)]);
    check_rule(of_any_float::<f32>::rule, [(some::<2, 2>(0.3).cast(), some::<2, 1>(0.7).cast(), 0.5)]);
}

/// A number of another type, and a vector that is taken apart.
#[differentiable]
fn mixed(v: &Vector3<f64>, k: f32, n: usize) -> (Vector3<f64>, f64) {
    let [x, y, z] = [v.x, v[1], v.z];
    let scaled = v * (k as f64 / n as f64);
    let total = if x > 0.0 { scaled.sum() } else { -scaled.dot(v) };
    (scaled * total + Vector3::new(z, x, y), total * n as f64)
}

#[differentiable]
fn tuples(v: Vector3<f64>, k: f32) -> f64 {
    let (w, s) = mixed(&v, k, 3);
    let pair = (w * s, s);
    pair.0.norm() * pair.1
}

#[test]
fn tuples_of_vectors() {
    check_rule(mixed::rule, [(some(0.3), 1.5, 2), (some(-0.8), 1.5, 2)]);
    check_rule(tuples::rule, [(some(0.3), 1.5), (some(-0.8), 1.5)]);
}
