//! ba: both rows of an observation's Jacobian from one forward pass.

use gradbench::evals::ba::Camera;
use gradbench::input;
use gradbench::task::{self, Task};
use serde_json::{Value, json};

type Vector = [f64; 3];

fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// A rotation, by the axis and the angle of Rodrigues' formula; without an axis where the angle is 0.
struct Rotation {
    axis: Option<Vector>,
    angle: f64,
    sin: f64,
    cos: f64,
}

impl Rotation {
    fn new(r: Vector) -> Self {
        let angle = dot(r, r).sqrt();
        let (sin, cos) = angle.sin_cos();
        let inverse = 1.0 / angle;
        let axis = (angle != 0.0).then(|| r.map(|r| r * inverse));
        Rotation { axis, angle, sin, cos }
    }

    fn apply(&self, x: Vector) -> Vector {
        let Some(axis) = self.axis else { return x };
        let (c, along) = (cross(axis, x), dot(axis, x) * (1.0 - self.cos));
        std::array::from_fn(|i| x[i] * self.cos + c[i] * self.sin + axis[i] * along)
    }

    /// From the gradient with respect to the rotated vector to those with respect to *r* and to *x*.
    fn pullback(&self, x: Vector, d: Vector) -> (Vector, Vector) {
        let turning = cross(x, d);
        let Some(axis) = self.axis else { return (turning, d) };
        let (sin, cos, versine) = (self.sin, self.cos, 1.0 - self.cos);
        let (x_along, d_along) = (dot(axis, x), dot(axis, d));
        let back = cross(d, axis);
        let d_x = std::array::from_fn(|i| d[i] * cos + back[i] * sin + axis[i] * d_along * versine);
        let d_angle = dot(axis, turning) * cos + (x_along * d_along - dot(x, d)) * sin;
        let d_axis: Vector =
            std::array::from_fn(|i| turning[i] * sin + (d[i] * x_along + x[i] * d_along) * versine);
        let inverse = 1.0 / self.angle;
        let rest = d_angle - dot(axis, d_axis) * inverse;
        (std::array::from_fn(|i| d_axis[i] * inverse + axis[i] * rest), d_x)
    }
}

/// The derivatives of an observation's error with respect to camera, point and weight.
fn observation(camera: &Camera, point: &Vector, w: f64, feature: &[f64; 2]) -> [[f64; 15]; 2] {
    let rotation = Rotation::new([camera[0], camera[1], camera[2]]);
    let x = [point[0] - camera[3], point[1] - camera[4], point[2] - camera[5]];
    let p = rotation.apply(x);
    let inverse = 1.0 / p[2];
    let uv = [p[0] * inverse, p[1] * inverse];
    let square = uv[0] * uv[0] + uv[1] * uv[1];
    let (f, k1, k2) = (camera[6], camera[9], camera[10]);
    let distortion = 1.0 + k1 * square + k2 * square * square;
    let slope = 2.0 * (k1 + 2.0 * k2 * square);
    let mut rows = [[0.0; 15]; 2];
    for (i, row) in rows.iter_mut().enumerate() {
        let across = w * f * uv[i] * slope;
        let mut d_uv = [across * uv[0], across * uv[1]];
        d_uv[i] += w * f * distortion;
        let d_depth = -(d_uv[0] * uv[0] + d_uv[1] * uv[1]);
        let d_p = [d_uv[0] * inverse, d_uv[1] * inverse, d_depth * inverse];
        let (d_r, d_x) = rotation.pullback(x, d_p);
        let d_f = w * uv[i] * distortion;
        let d_k1 = w * f * uv[i] * square;
        let error = f * uv[i] * distortion + camera[7 + i] - feature[i];
        *row = [
            d_r[0],
            d_r[1],
            d_r[2],
            -d_x[0],
            -d_x[1],
            -d_x[2],
            d_f,
            0.0,
            0.0,
            d_k1,
            d_k1 * square,
            d_x[0],
            d_x[1],
            d_x[2],
            error,
        ];
        row[7 + i] = w;
    }
    rows
}

struct Problem {
    cameras: Vec<Camera>,
    points: Vec<Vector>,
    weights: Vec<f64>,
    features: Vec<[f64; 2]>,
}

#[derive(Default)]
struct Sparse {
    rows: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
}

impl Problem {
    fn jacobian(&self, result: &mut Sparse) {
        let (n, m, p) = (self.cameras.len(), self.points.len(), self.weights.len());
        result.rows.clear();
        result.columns.clear();
        result.values.clear();
        result.rows.reserve(3 * p + 1);
        result.columns.reserve(31 * p);
        result.values.reserve(31 * p);
        for (i, (&w, feature)) in self.weights.iter().zip(&self.features).enumerate() {
            let (camera, point) = (i % n, i % m);
            let rows = observation(&self.cameras[camera], &self.points[point], w, feature);
            let columns: [usize; 15] = std::array::from_fn(|j| match j {
                0..11 => 11 * camera + j,
                11..14 => 11 * n + 3 * point + j - 11,
                _ => 11 * n + 3 * m + i,
            });
            result.columns.extend_from_slice([columns, columns].as_flattened());
            result.values.extend_from_slice(rows.as_flattened());
        }
        result.columns.extend((0..p).map(|i| 11 * n + 3 * m + i));
        result.values.extend(self.weights.iter().map(|w| -2.0 * w));
        result.rows.extend((0..2 * p).map(|row| 15 * row));
        result.rows.extend((0..=p).map(|row| 30 * p + row));
    }
}

pub(super) fn task(input: &Value) -> Result<Box<dyn Task>, String> {
    let count = |field| input::integer(input, field);
    let (n, m, p) = (count("n")?, count("m")?, count("p")?);
    let problem = Problem {
        cameras: vec![input::array(input, "cam")?; n],
        points: vec![input::array(input, "x")?; m],
        weights: vec![input::number(input, "w")?; p],
        features: vec![input::array(input, "feat")?; p],
    };
    let run = move |result: &mut Sparse| problem.jacobian(result);
    Ok(task::task(Sparse::default(), run, |result| {
        json!({
            "rows": ends(&result.rows),
            "cols": ends(&result.columns),
            "vals": ends(&result.values),
        })
    }))
}

/// The first thirty, and the last.
fn ends<T: Copy>(list: &[T]) -> Vec<T> {
    let last = list.last().copied();
    list.iter().take(30).copied().chain(last).collect()
}
