//! What engineers simulate: bodies, cloth, heat, fluids, light, and water on a height map.

use pullback::prelude::*;
use pullback::testing::{check_gradient, check_rule};
use std::ops::{Add, AddAssign, Mul, MulAssign, Sub, SubAssign};
#[derive(Clone, Copy, Debug, Default, PartialEq, Differentiable)]
struct Vec2(f64, f64);
#[differentiable]
impl Add for Vec2 {
    type Output = Vec2;
    fn add(self, o: Vec2) -> Vec2 {
        let Vec2(x, y) = o;
        Vec2(self.0 + x, self.1 + y)
    }
}
#[differentiable]
impl Sub for Vec2 {
    type Output = Vec2;
    fn sub(self, o: Vec2) -> Vec2 {
        Vec2(self.0 - o.0, self.1 - o.1)
    }
}
#[differentiable]
impl Mul<Vec2> for f64 {
    type Output = Vec2;
    fn mul(self, v: Vec2) -> Vec2 {
        Vec2(self * v.0, self * v.1)
    }
}
#[differentiable]
impl Mul<f64> for Vec2 {
    type Output = Vec2;
    fn mul(self, k: f64) -> Vec2 {
        Vec2(self.0 * k, self.1 * k)
    }
}
impl AddAssign for Vec2 {
    fn add_assign(&mut self, o: Vec2) {
        self.0 += o.0;
        self.1 += o.1;
    }
}
impl SubAssign for Vec2 {
    fn sub_assign(&mut self, o: Vec2) {
        self.0 -= o.0;
        self.1 -= o.1;
    }
}
impl MulAssign<f64> for Vec2 {
    fn mul_assign(&mut self, k: f64) {
        self.0 *= k;
        self.1 *= k;
    }
}
#[differentiable]
impl Vec2 {
    fn dot(&self, o: &Vec2) -> f64 {
        self.0 * o.0 + self.1 * o.1
    }
    fn length(&self) -> f64 {
        self.0.hypot(self.1)
    }
}

#[derive(Clone, Debug, Differentiable)]
struct Body {
    pos: Vec2,
    vel: Vec2,
    mass: f64,
}

#[derive(Clone, Debug, Differentiable)]
struct World {
    bodies: Vec<Body>,
    g: f64,
    softening: f64,
}
#[differentiable]
impl World {
    fn accelerations(&self) -> Vec<Vec2> {
        let mut acc = vec![Vec2::default(); self.bodies.len()];
        for i in 0..self.bodies.len() {
            for j in 0..self.bodies.len() {
                if i == j {
                    continue;
                }
                let d = self.bodies[j].pos - self.bodies[i].pos;
                let r2 = d.dot(&d) + self.softening * self.softening;
                acc[i] += d * (self.g * self.bodies[j].mass / (r2 * r2.sqrt()));
            }
        }
        acc
    }
    fn step(&mut self, dt: f64) {
        let acc = self.accelerations();
        for (body, a) in self.bodies.iter_mut().zip(acc.iter()) {
            body.vel += *a * dt;
            body.pos += body.vel * dt;
        }
    }
    fn energy(&self) -> f64 {
        let kinetic: f64 = self.bodies.iter().map(|b| 0.5 * b.mass * b.vel.dot(&b.vel)).sum();
        let mut potential = 0.0;
        for (i, a) in self.bodies.iter().enumerate() {
            for b in &self.bodies[i + 1..] {
                potential -= self.g * a.mass * b.mass / ((a.pos - b.pos).length() + self.softening);
            }
        }
        kinetic + potential
    }
}
#[differentiable]
fn n_body(x: &[f64]) -> f64 {
    let mut world = World {
        bodies: x
            .chunks_exact(4)
            .map(|c| Body { pos: Vec2(c[0], c[1]), vel: Vec2(0.1 * c[2], -0.2 * c[3]), mass: 1.0 + c[0] })
            .collect(),
        g: 0.5,
        softening: 0.1,
    };
    for _ in 0..3 {
        world.step(0.05);
    }
    world.energy() + world.bodies[0].pos.0
}

struct Spring {
    a: usize,
    b: usize,
    rest: f64,
}
#[differentiable]
fn cloth(x: &[f64], k: f64, damping: f64) -> f64 {
    let springs: Vec<Spring> = (0..x.len() - 1).map(|i| Spring { a: i, b: i + 1, rest: 0.5 }).collect();
    let mut pos: Vec<Vec2> = x.iter().enumerate().map(|(i, h)| Vec2(0.6 * i as f64, *h)).collect();
    let mut vel = vec![Vec2(0.0, 0.0); pos.len()];
    for _ in 0..4 {
        let mut force = vec![Vec2(0.0, -0.98); pos.len()];
        for Spring { a, b, rest } in &springs {
            let d = pos[*b] - pos[*a];
            let len = d.length();
            let f = k * (len - rest) / len * d;
            force[*a] += f;
            force[*b] -= f;
        }
        for i in 1..pos.len() {
            vel[i] += force[i] * 0.01;
            vel[i] *= 1.0 - damping;
            pos[i] += vel[i] * 0.1;
        }
    }
    pos.iter().map(|p| p.1 * p.1 + 0.1 * p.0).sum()
}

/// Heat on a grid, from one buffer to the other.
#[differentiable]
fn heat(x: &[f64], nx: usize, ny: usize, steps: usize) -> f64 {
    let mut u = vec![vec![0.0; nx]; ny];
    for (j, row) in u.iter_mut().enumerate() {
        for (i, cell) in row.iter_mut().enumerate() {
            *cell = x[(i + j * nx) % x.len()];
        }
    }
    let mut next = u.clone();
    for _ in 0..steps {
        for j in 1..ny - 1 {
            for i in 1..nx - 1 {
                let lap = u[j - 1][i] + u[j + 1][i] + u[j][i - 1] + u[j][i + 1] - 4.0 * u[j][i];
                next[j][i] = u[j][i] + 0.1 * lap * (1.0 + 0.1 * u[j][i]);
            }
        }
        std::mem::swap(&mut u, &mut next);
    }
    u.iter().flatten().map(|v| v * v).sum::<f64>()
}
/// Smoothed particles, with lists of neighbours.
#[differentiable]
fn sph(x: &[f64], h: f64) -> f64 {
    let n = x.len() / 2;
    let neighbours: Vec<Vec<usize>> = (0..n)
        .map(|i| {
            (0..n)
                .filter(|&j| j != i && (x[2 * i] - x[2 * j]).hypot(x[2 * i + 1] - x[2 * j + 1]) < h)
                .collect()
        })
        .collect();
    let kernel = |r: f64| if r < h { (1.0 - r / h).powi(3) } else { 0.0 };
    let density: Vec<f64> = neighbours
        .iter()
        .enumerate()
        .map(|(i, list)| {
            1.0 + list
                .iter()
                .map(|&j| {
                    let (dx, dy) = (x[2 * i] - x[2 * j], x[2 * i + 1] - x[2 * j + 1]);
                    kernel((dx * dx + dy * dy).sqrt())
                })
                .sum::<f64>()
        })
        .collect();
    let pressure: Vec<f64> = density.iter().map(|rho| 2.0 * (rho - 1.0).max(0.0)).collect();
    let mut total = 0.0;
    for (i, list) in neighbours.iter().enumerate() {
        for &j in list {
            if j <= i {
                continue;
            }
            total += (pressure[i] + pressure[j]) / (2.0 * density[j]);
        }
    }
    total
}

/// What a ray hits.
#[derive(Clone, Copy, Debug, Differentiable)]
struct Hit {
    t: f64,
    normal: [f64; 3],
    #[constant]
    index: usize,
}
#[derive(Clone, Copy, Debug, Differentiable)]
struct Sphere {
    centre: [f64; 3],
    radius: f64,
}
#[differentiable]
fn dot3(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}
#[differentiable]
fn intersect(s: &Sphere, o: [f64; 3], d: [f64; 3], index: usize) -> Option<Hit> {
    let oc = [o[0] - s.centre[0], o[1] - s.centre[1], o[2] - s.centre[2]];
    let b = dot3(oc, d);
    let c = dot3(oc, oc) - s.radius * s.radius;
    let disc = b * b - c;
    if disc < 0.0 {
        return None;
    }
    let sq = disc.sqrt();
    let t = if -b - sq > 1e-6 {
        -b - sq
    } else if -b + sq > 1e-6 {
        -b + sq
    } else {
        return None;
    };
    let p: [f64; 3] = std::array::from_fn(|i| (oc[i] + t * d[i]) / s.radius);
    Some(Hit { t, normal: p, index })
}
#[differentiable]
fn trace(spheres: &[Sphere], o: [f64; 3], d: [f64; 3]) -> Option<Hit> {
    let mut nearest: Option<Hit> = None;
    for (i, s) in spheres.iter().enumerate() {
        if let Some(hit) = intersect(s, o, d, i) {
            match nearest {
                Some(best) if best.t <= hit.t => {}
                _ => nearest = Some(hit),
            }
        }
    }
    nearest
}
#[differentiable]
fn render(x: &[f64]) -> f64 {
    let spheres = [
        Sphere { centre: [x[0], 0.1, 3.0], radius: 0.9 + 0.1 * x[1] },
        Sphere { centre: [0.0, x[2], 5.0], radius: 1.5 },
    ];
    let light = [0.57, 0.57, -0.59];
    let mut image = Vec::new();
    for py in 0..3 {
        for px in 0..3 {
            let d = [(px as f64 - 1.0) * 0.2, (py as f64 - 1.0) * 0.2, 1.0];
            let n = dot3(d, d).sqrt();
            let d = d.map(|v| v / n);
            let shade = match trace(&spheres, [0.0; 3], d) {
                Some(Hit { normal, t, .. }) => dot3(normal, light).max(0.0) * (-0.1 * t).exp(),
                None => 0.05 * x[3],
            };
            image.push(shade);
        }
    }
    image.iter().sum::<f64>() / image.len() as f64
}
/// Water that flows on from cell to cell.
#[differentiable]
fn flood(x: &[f64]) -> f64 {
    let n = x.len();
    let mut visited = vec![false; n];
    let mut stack = vec![(0usize, 1.0)];
    let mut total = 0.0;
    while let Some((i, amount)) = stack.pop() {
        if visited[i] {
            continue;
        }
        visited[i] = true;
        let stays = amount * x[i];
        total += stays * stays;
        for j in [i + 1, i + 3] {
            if j < n && !visited[j] {
                stack.push((j, (amount - stays) * 0.5));
            }
        }
    }
    total
}

fn inputs() -> [Vec<f64>; 2] {
    [
        vec![0.3, 0.8, 0.45, 0.62, 0.17, 0.95, 0.51, 0.36],
        vec![0.7, 0.2, 0.9, 0.55, 0.6, 0.41, 0.33, 0.74, 0.28, 0.66],
    ]
}

#[test]
fn particles() {
    check_all!(inputs(); n_body);
    check_rule(cloth::rule, inputs().map(|x| (x, 3.0, 0.05)));
    check_rule(sph::rule, inputs().map(|x| (x, 0.6)));
}

#[test]
fn grids_and_rays() {
    check_rule(heat::rule, inputs().map(|x| (x, 4, 5, 3)));
    check_all!(inputs(); render, flood);
}
