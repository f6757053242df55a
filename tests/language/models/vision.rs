//! Cameras, images and poses.

use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

#[differentiable]
fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[differentiable]
fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// `point` turned about `axis` by its length: Rodrigues's formula, linear near zero.
#[differentiable]
fn rodrigues(axis: [f64; 3], point: [f64; 3]) -> [f64; 3] {
    let theta2 = dot(axis, axis);
    let around = cross(axis, point);
    let mut turned = point;
    if theta2 > 1e-12 {
        let theta = theta2.sqrt();
        let (sin, cos) = theta.sin_cos();
        let along = dot(axis, point) * (1.0 - cos) / theta2;
        for i in 0..3 {
            turned[i] = point[i] * cos + around[i] * (sin / theta) + axis[i] * along;
        }
    } else {
        for i in 0..3 {
            turned[i] += around[i];
        }
    }
    turned
}

/// Rotation, translation, projection, two radial coefficients, focal length and centre: eleven parameters of a camera.
#[differentiable]
fn project(camera: &[f64], point: [f64; 3]) -> [f64; 2] {
    let p = rodrigues([camera[0], camera[1], camera[2]], point);
    let x = (p[0] + camera[3]) / (p[2] + camera[5]);
    let y = (p[1] + camera[4]) / (p[2] + camera[5]);
    let r2 = x * x + y * y;
    let radial = 1.0 + r2 * (camera[7] + r2 * camera[8]);
    [camera[6] * x * radial + camera[9], camera[6] * y * radial + camera[10]]
}

/// Bundle adjustment: Huber's loss of all reprojection errors.
#[differentiable]
fn reprojection(
    cameras: &[f64],
    points: &[[f64; 3]],
    #[constant] seen: &[(usize, usize, [f64; 2])],
    delta: f64,
) -> f64 {
    let mut cost = 0.0;
    for k in 0..seen.len() {
        let (camera, point, at) = seen[k];
        let p = project(&cameras[camera * 11..camera * 11 + 11], points[point]);
        let error = (p[0] - at[0]).hypot(p[1] - at[1]);
        cost += if error <= delta { 0.5 * error * error } else { delta * (error - 0.5 * delta) };
    }
    cost
}

/// The brightness between four pixels; beyond the border the border's.
#[differentiable]
fn sample(image: &[f64], width: usize, x: f64, y: f64) -> f64 {
    let height = image.len() / width;
    let x = x.clamp(0.0, (width - 1) as f64);
    let y = y.clamp(0.0, (height - 1) as f64);
    let x0 = (x.floor() as usize).min(width - 2);
    let y0 = (y.floor() as usize).min(height - 2);
    let (fx, fy) = (x - x0 as f64, y - y0 as f64);
    let at = y0 * width + x0;
    let top = image[at] * (1.0 - fx) + image[at + 1] * fx;
    let bottom = image[at + width] * (1.0 - fx) + image[at + width + 1] * fx;
    top * (1.0 - fy) + bottom * fy
}

/// How badly an image warped by an affine map fits another.
#[differentiable]
fn photometric_error(map: &[f64; 6], image: &[f64], reference: &[f64], width: usize) -> f64 {
    let mut error = 0.0;
    for k in 0..reference.len() {
        let (x, y) = ((k % width) as f64, (k / width) as f64);
        let u = map[0] * x + map[1] * y + map[2];
        let v = map[3] * x + map[4] * y + map[5];
        error += (sample(image, width, u, v) - reference[k]).powi(2);
    }
    error
}

/// The angle in (−π, π].
#[differentiable]
fn wrapped(angle: f64) -> f64 {
    let turns = ((angle + std::f64::consts::PI) / (2.0 * std::f64::consts::PI)).floor();
    angle - 2.0 * std::f64::consts::PI * turns
}

/// A pose graph in the plane: how far the poses are from what was measured between them.
#[differentiable]
fn pose_graph(
    poses: &[[f64; 3]],
    #[constant] edges: &[(usize, usize, [f64; 3])],
    information: [f64; 3],
) -> f64 {
    let mut cost = 0.0;
    for e in 0..edges.len() {
        let (from, to, measured) = edges[e];
        let a = poses[from];
        let b = poses[to];
        let (sin, cos) = a[2].sin_cos();
        let dx = b[0] - a[0];
        let dy = b[1] - a[1];
        let error = [
            cos * dx + sin * dy - measured[0],
            -sin * dx + cos * dy - measured[1],
            wrapped(b[2] - a[2] - measured[2]),
        ];
        for i in 0..3 {
            cost += information[i] * error[i] * error[i];
        }
    }
    cost
}

/// The product of two quaternions.
#[differentiable]
fn quaternion_product(a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
    let (aw, ax, ay, az) = (a[0], a[1], a[2], a[3]);
    let (bw, bx, by, bz) = (b[0], b[1], b[2], b[3]);
    [
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    ]
}

/// Attitude from a gyroscope's readings: how far the last axis has tilted.
#[differentiable]
fn attitude(start: [f64; 4], rates: &[[f64; 3]], bias: [f64; 3], dt: f64) -> f64 {
    let mut q = start;
    for t in 0..rates.len() {
        let half = [
            0.5 * dt * (rates[t][0] - bias[0]),
            0.5 * dt * (rates[t][1] - bias[1]),
            0.5 * dt * (rates[t][2] - bias[2]),
        ];
        q = quaternion_product(q, [1.0, half[0], half[1], half[2]]);
        let norm = (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]).sqrt();
        for i in 0..4 {
            q[i] /= norm;
        }
    }
    1.0 - 2.0 * (q[1] * q[1] + q[2] * q[2])
}

/// Depth at which a ray meets a sphere, shaded by a lamp; a smooth background where it misses.
#[differentiable]
fn shade(origin: [f64; 3], direction: [f64; 3], centre: &[f64; 3], radius: f64, lamp: [f64; 3]) -> f64 {
    let offset = [origin[0] - centre[0], origin[1] - centre[1], origin[2] - centre[2]];
    let a = dot(direction, direction);
    let b = dot(offset, direction);
    let c = dot(offset, offset) - radius * radius;
    let discriminant = b * b - a * c;
    if discriminant > 0.0 {
        let t = (-b - discriminant.sqrt()) / a;
        let mut normal = [0.0; 3];
        for i in 0..3 {
            normal[i] = (offset[i] + t * direction[i]) / radius;
        }
        let lit = dot(normal, lamp) / dot(lamp, lamp).sqrt();
        0.1 + lit.max(0.0)
    } else {
        (-discriminant).exp_m1() * 0.01
    }
}

fn wave(n: usize) -> Vec<f64> {
    (0..n).map(|i| (0.7 * i as f64 + 0.3).sin()).collect()
}

#[test]
fn cameras() {
    let camera = vec![0.1, -0.2, 0.3, 0.2, 0.1, 4.0, 1.2, 0.05, -0.01, 0.3, 0.4];
    let mut cameras = camera.clone();
    cameras.extend([0.0, 0.0, 0.0, -0.3, 0.2, 5.0, 1.1, 0.02, 0.01, 0.2, 0.5]);
    let points = vec![[0.5, 0.3, 0.2], [-0.4, 0.6, -0.1]];
    let seen = vec![(0, 0, [0.5, 0.6]), (1, 0, [0.2, 0.6]), (1, 1, [1.2, 0.6]), (0, 1, [0.3, 0.7])];
    check_rule(
        reprojection::rule,
        [
            (cameras, points.clone(), seen.clone(), 0.3),
            (camera.clone(), points[..1].to_vec(), seen[..1].to_vec(), 1.0),
        ],
    );
    check_rule(project::rule, [(camera.clone(), [0.5, 0.3, 0.2]), (camera, [0.1, -0.3, 0.7])]);
    check_rule(rodrigues::rule, [([0.3, -0.5, 0.2], [1.0, 2.0, 0.5]), ([2.0, 1.0, -1.0], [0.2, 0.4, -0.6])]);
    check_rule(
        shade::rule,
        [
            ([0.0, 0.1, -3.0], [0.05, 0.02, 1.0], [0.1, 0.2, 0.5], 0.8, [0.3, 1.0, -1.5]),
            ([0.0, 0.1, -3.0], [0.5, 0.4, 1.0], [0.1, 0.2, 0.5], 0.8, [0.3, 1.0, -0.5]),
        ],
    );
}

#[test]
fn images() {
    check_rule(sample::rule, [(wave(12), 4, 1.3, 0.8), (wave(4), 2, -0.7, 0.4), (wave(4), 2, 0.3, 1.6)]);
    check_rule(
        photometric_error::rule,
        [
            ([0.9, 0.1, 0.23, -0.07, 0.95, 0.11], wave(12), wave(16)[4..].to_vec(), 4),
            ([1.1, 0.13, -0.31, 0.05, 0.9, 0.17], wave(4), wave(6)[2..].to_vec(), 2),
        ],
    );
}

#[test]
fn poses() {
    let poses = vec![[0.0, 0.1, 0.2], [1.0, 0.3, 1.9], [0.8, 1.4, 3.6]];
    let edges = vec![(0, 1, [1.0, 0.0, 1.5]), (1, 2, [0.9, 0.1, 1.6]), (2, 0, [1.4, 0.4, 2.5])];
    check_rule(
        pose_graph::rule,
        [
            (poses.clone(), edges.clone(), [1.0, 2.0, 5.0]),
            (poses[..2].to_vec(), edges[..1].to_vec(), [0.5, 1.0, 3.0]),
        ],
    );
    check_rule(
        attitude::rule,
        [
            (
                [0.9, 0.1, 0.2, 0.3],
                vec![[0.1, 0.4, -0.3], [0.5, 0.2, 0.1], [-0.2, 0.3, 0.6]],
                [0.01, 0.02, -0.03],
                0.2,
            ),
            ([1.0, 0.0, 0.0, 0.0], vec![[0.3, -0.7, 0.2]], [0.05, 0.0, 0.02], 0.5),
        ],
    );
    check_rule(wrapped::rule, [(4.0,), (-9.0,), (0.3,)]);
}
