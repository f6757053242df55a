//! Functions as they are found in the wild, with whatever Rust offers: searches, clusters, trees, rays.

use pullback::prelude::*;
use pullback::testing::check_rule;

#[differentiable]
fn rosenbrock(x: &[f64]) -> f64 {
    x.windows(2).map(|w| 100.0 * (w[1] - w[0] * w[0]).powi(2) + (1.0 - w[0]).powi(2)).sum()
}

/// A few reflections and contractions of a simplex; its least value.
#[differentiable]
fn simplex_search(start: &[f64], rounds: usize) -> f64 {
    let dim = start.len();
    let mut simplex: Vec<Vec<f64>> = (0..=dim)
        .map(|i| {
            let mut p = start.to_vec();
            if i > 0 {
                p[i - 1] += 0.1;
            }
            p
        })
        .collect();
    for _ in 0..rounds {
        let worst =
            (0..=dim).max_by(|&a, &b| rosenbrock(&simplex[a]).total_cmp(&rosenbrock(&simplex[b]))).unwrap();
        let mut centroid = vec![0.0; dim];
        for (i, p) in simplex.iter().enumerate() {
            if i == worst {
                continue;
            }
            for (c, v) in centroid.iter_mut().zip(p) {
                *c += v / dim as f64;
            }
        }
        let reflected: Vec<f64> = centroid.iter().zip(&simplex[worst]).map(|(c, w)| c + (c - w)).collect();
        if rosenbrock(&reflected) < rosenbrock(&simplex[worst]) {
            simplex[worst] = reflected;
        } else {
            for (s, c) in simplex[worst].iter_mut().zip(&centroid) {
                *s = 0.5 * (*s + c);
            }
        }
    }
    simplex.iter().map(|p| rosenbrock(p)).fold(f64::INFINITY, |a, b| a.min(b))
}

/// Lloyd's algorithm; the mean square distance to the nearest centre.
#[differentiable]
fn k_means(points: &[[f64; 2]], centres: &[[f64; 2]], rounds: usize) -> f64 {
    let mut centres = centres.to_vec();
    let mut cost = 0.0;
    for _ in 0..rounds {
        let mut sums = vec![[0.0; 2]; centres.len()];
        let mut counts = vec![0usize; centres.len()];
        cost = 0.0;
        for p in points {
            let (nearest, d) = centres
                .iter()
                .enumerate()
                .map(|(i, c)| (i, (p[0] - c[0]).powi(2) + (p[1] - c[1]).powi(2)))
                .min_by(|a, b| a.1.partial_cmp(&b.1).unwrap())
                .unwrap();
            for (s, v) in sums[nearest].iter_mut().zip(p) {
                *s += v;
            }
            counts[nearest] += 1;
            cost += d;
        }
        for ((c, s), &n) in centres.iter_mut().zip(&sums).zip(&counts) {
            if n > 0 {
                for (c, s) in c.iter_mut().zip(s.iter()) {
                    *c = s / n as f64;
                }
            }
        }
    }
    cost / points.len() as f64
}

/// Gaussian elimination of an augmented matrix.
#[differentiable]
fn solve(a: &[Vec<f64>], b: &[f64]) -> Option<Vec<f64>> {
    let n = b.len();
    let mut m = a.to_vec();
    for (row, &v) in m.iter_mut().zip(b) {
        row.push(v);
    }
    for col in 0..n {
        let pivot = (col..n).max_by(|&i, &j| m[i][col].abs().total_cmp(&m[j][col].abs()))?;
        if m[pivot][col].abs() < 1e-12 {
            return None;
        }
        m.swap(col, pivot);
        for row in col + 1..n {
            let factor = m[row][col] / m[col][col];
            for k in col..=n {
                m[row][k] -= factor * m[col][k];
            }
        }
    }
    let mut x = vec![0.0; n];
    for i in (0..n).rev() {
        let s: f64 = (i + 1..n).map(|j| m[i][j] * x[j]).sum();
        x[i] = (m[i][n] - s) / m[i][i];
    }
    Some(x)
}

#[differentiable]
fn norm_of_solution(a: &[Vec<f64>], b: &[f64]) -> f64 {
    solve(a, b).map_or(0.0, |x| x.iter().map(|v| v * v).sum())
}

#[derive(Clone, Copy, Differentiable)]
struct Vec3 {
    x: f64,
    y: f64,
    z: f64,
}

#[differentiable]
impl std::ops::Add for Vec3 {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Vec3 { x: self.x + o.x, y: self.y + o.y, z: self.z + o.z }
    }
}

#[differentiable]
impl std::ops::Sub for Vec3 {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        Vec3 { x: self.x - o.x, y: self.y - o.y, z: self.z - o.z }
    }
}

#[differentiable]
impl std::ops::Mul<f64> for Vec3 {
    type Output = Self;
    fn mul(self, k: f64) -> Self {
        Vec3 { x: self.x * k, y: self.y * k, z: self.z * k }
    }
}

#[differentiable]
impl Vec3 {
    fn dot(self, o: Self) -> f64 {
        self.x * o.x + self.y * o.y + self.z * o.z
    }
    fn norm(self) -> f64 {
        self.dot(self).sqrt()
    }
    fn unit(self) -> Self {
        self * (1.0 / self.norm())
    }
}

#[derive(Clone, Copy, Differentiable)]
struct Sphere {
    centre: Vec3,
    radius: f64,
}

/// How far away a ray hits a sphere.
#[differentiable]
fn hit(s: &Sphere, origin: Vec3, direction: Vec3) -> Option<f64> {
    let oc = origin - s.centre;
    let b = oc.dot(direction);
    let c = oc.dot(oc) - s.radius * s.radius;
    let discriminant = b * b - c;
    if discriminant < 0.0 {
        return None;
    }
    let root = discriminant.sqrt();
    [-b - root, -b + root].into_iter().find(|t| *t > 1e-4)
}

/// The shade of what a ray hits first.
#[differentiable]
fn shade(spheres: &[Sphere], direction: Vec3) -> f64 {
    let origin = Vec3 { x: 0.0, y: 0.0, z: 0.0 };
    let direction = direction.unit();
    let mut nearest: Option<(f64, usize)> = None;
    for (i, s) in spheres.iter().enumerate() {
        if let Some(t) = hit(s, origin, direction) {
            if nearest.map_or(true, |(least, _)| t < least) {
                nearest = Some((t, i));
            }
        }
    }
    match nearest {
        Some((t, i)) => {
            let p = origin + direction * t;
            let normal = (p - spheres[i].centre) * (1.0 / spheres[i].radius);
            normal.dot(direction).abs()
        }
        None => 0.5 * (direction.y + 1.0),
    }
}

/// A tree whose branches are weighed by what they pass, without recursion.
#[differentiable]
fn branching(x: &[f64]) -> f64 {
    let mut open: Vec<(usize, f64)> = vec![(0, 1.0)];
    let mut total = 0.0;
    while let Some((i, w)) = open.pop() {
        if i >= x.len() {
            total += w * w;
            continue;
        }
        open.push((2 * i + 1, w * x[i]));
        if x[i] > 0.3 {
            open.push((2 * i + 2, w * (1.0 - x[i])));
        }
    }
    total
}

/// The same names for different things, within closures and beside them.
#[differentiable]
fn of_one_name(x: &[f64], y: &[f64]) -> f64 {
    let i = 1;
    let v = x[0] * 2.0;
    let a = y.iter().map(|v| v * v).next().unwrap();
    let b = y.iter().enumerate().map(|(i, v)| v * i as f64).last().unwrap();
    let c = y.iter().map(|x| x * v).nth(1).unwrap();
    let n = x.iter().map(|n| n * c).max_by(|p, q| p.total_cmp(q)).unwrap();
    let best = y.iter().map(|best| best * best).reduce(|n, best| n + best * n).unwrap();
    let s = x.iter().find(|v| **v > 0.15).copied().unwrap_or(v);
    let k = y.iter().map(|i| i * 2.0).fold(v, |v, i| v * i);
    a * v + b * x[i] + c * n + best * v + s * v + k * v
}

#[test]
fn searches() {
    check_rule(simplex_search::rule, [(vec![0.2, 0.6], 3), (vec![0.5, 0.1, 0.3], 2)]);
    let points = || vec![[0.0, 0.1], [0.9, 1.0], [0.2, 0.3], [1.1, 0.8]];
    check_rule(
        k_means::rule,
        [
            (points(), vec![[0.1, 0.1], [1.0, 1.0]], 2),
            (points(), vec![[0.3, 0.1], [1.0, 0.7], [0.1, 0.4]], 1),
        ],
    );
    check_rule(branching::rule, [(vec![0.5, 0.2, 0.9],), (vec![0.7, 0.1],)]);
    check_rule(
        of_one_name::rule,
        [(vec![0.5, 0.2, 0.9], vec![0.4, 0.7]), (vec![0.7, 0.1], vec![0.6, 0.3, 0.9])],
    );
}

#[test]
fn geometry() {
    let v = |x, y, z| Vec3 { x, y, z };
    let ball = |x, z, radius| Sphere { centre: v(x, 0.2, z), radius };
    check_rule(
        shade::rule,
        [
            (vec![ball(0.1, 3.0, 1.0), ball(0.0, 6.0, 2.0)], v(0.05, 0.1, 1.0)),
            (vec![ball(5.1, 3.0, 1.0)], v(0.05, 0.1, 1.0)),
        ],
    );
    check_rule(
        norm_of_solution::rule,
        [
            (vec![vec![0.1, 1.2], vec![0.9, 0.3]], vec![0.5, 0.1]),
            (vec![vec![0.1, 1.2, 0.3], vec![0.9, 0.3, 0.2], vec![0.4, 0.1, 0.8]], vec![0.5, 0.1, 0.4]),
        ],
    );
}
