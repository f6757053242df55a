//! Programs whose data are structs.

use pullback::prelude::*;
use pullback::testing::{CheckGradient, check_gradient};

#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
struct Camera {
    focal: f64,
    centre: [f64; 2],
    radial: [f64; 2],
}

/// A point before the camera, and where it is seen.
#[differentiable]
fn project(camera: &Camera, point: [f64; 3]) -> [f64; 2] {
    let x = point[0] / point[2];
    let y = point[1] / point[2];
    let r2 = x * x + y * y;
    let scale = camera.focal * (1.0 + r2 * (camera.radial[0] + r2 * camera.radial[1]));
    [camera.centre[0] + scale * x, camera.centre[1] + scale * y]
}

#[differentiable]
fn reprojection(camera: &Camera, points: &[[f64; 3]], #[constant] seen: &[[f64; 2]]) -> f64 {
    let mut cost = 0.0;
    for i in 0..points.len() {
        let p = project(camera, points[i]);
        cost += (p[0] - seen[i][0]).powi(2) + (p[1] - seen[i][1]).powi(2);
    }
    cost
}

#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
struct Body {
    position: [f64; 2],
    velocity: [f64; 2],
    mass: f64,
}

#[differentiable]
fn orbits(bodies: &mut [Body], dt: f64, steps: usize) -> f64 {
    let n = bodies.len();
    for _ in 0..steps {
        for i in 0..n {
            for j in 0..n {
                if i != j {
                    let dx = bodies[j].position[0] - bodies[i].position[0];
                    let dy = bodies[j].position[1] - bodies[i].position[1];
                    let r2 = dx * dx + dy * dy + 0.01;
                    let pull = bodies[j].mass / (r2 * r2.sqrt());
                    bodies[i].velocity[0] += dt * pull * dx;
                    bodies[i].velocity[1] += dt * pull * dy;
                }
            }
        }
        for i in 0..n {
            for k in 0..2 {
                bodies[i].position[k] += dt * bodies[i].velocity[k];
            }
        }
    }
    let mut kinetic = 0.0;
    for i in 0..n {
        let v = bodies[i].velocity;
        kinetic += 0.5 * bodies[i].mass * (v[0] * v[0] + v[1] * v[1]);
    }
    kinetic
}

#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
struct Estimate {
    mean: f64,
    variance: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
struct Noise {
    process: f64,
    measurement: f64,
}

#[differentiable]
fn predict(state: Estimate, noise: &Noise) -> Estimate {
    Estimate { variance: state.variance + noise.process, ..state }
}

#[differentiable]
fn update(state: Estimate, noise: &Noise, y: f64) -> Estimate {
    let gain = state.variance / (state.variance + noise.measurement);
    Estimate { mean: state.mean + gain * (y - state.mean), variance: (1.0 - gain) * state.variance }
}

#[differentiable]
fn filter(start: Estimate, noise: &Noise, y: &[f64]) -> f64 {
    let mut state = start;
    let mut loss = 0.0;
    for t in 0..y.len() {
        state = predict(state, noise);
        let s = state.variance + noise.measurement;
        let innovation = y[t] - state.mean;
        loss += 0.5 * (s.ln() + innovation * innovation / s);
        state = update(state, noise, y[t]);
    }
    loss
}

/// Two outputs by name, as a dictionary would hold them.
#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
struct Polar {
    radius: f64,
    angle: f64,
}

#[differentiable]
fn polar(x: f64, y: f64) -> Polar {
    Polar { radius: x.hypot(y), angle: y.atan2(x) }
}

#[differentiable]
fn polar_energy(x: f64, y: f64) -> f64 {
    let p = polar(x, y);
    let Polar { radius, angle } = polar(p.radius, p.angle);
    radius * angle + p.angle
}

fn wave(n: usize) -> Vec<f64> {
    (0..n).map(|i| (0.7 * i as f64 + 0.3).sin()).collect()
}

fn camera([focal, a, b, c, d]: [f64; 5]) -> Camera {
    Camera { focal, centre: [a, b], radial: [c, d] }
}

#[test]
fn cameras() {
    let points = [[0.5, 0.3, 2.2], [-0.4, 0.6, 3.1]];
    let seen = [[0.5, 0.6], [0.2, 0.6]];
    let mut g = reprojection::gradient();
    check_gradient(
        |(c, points)| reprojection(&camera(*c), points, &seen),
        |(c, points)| {
            let (value, d) = g.value_and_gradient(&camera(*c), points, &seen);
            let c = [
                d.camera.focal,
                d.camera.centre[0],
                d.camera.centre[1],
                d.camera.radial[0],
                d.camera.radial[1],
            ];
            (value, (c, [d.points[0], d.points[1]]))
        },
        [([1.2, 0.3, 0.4, 0.05, -0.01], points), ([0.7, 0.1, 0.2, -0.1, 0.03], points)],
    );
}

#[test]
fn filters() {
    let mut g = filter::gradient();
    check_gradient(
        |([mean, variance, process, measurement], y): &mut ([f64; 4], Vec<f64>)| {
            filter(
                Estimate { mean: *mean, variance: *variance },
                &Noise { process: *process, measurement: *measurement },
                y,
            )
        },
        |([mean, variance, process, measurement], y)| {
            let noise = Noise { process: *process, measurement: *measurement };
            let (value, d) = g.value_and_gradient(Estimate { mean: *mean, variance: *variance }, &noise, y);
            (value, ([d.start.mean, d.start.variance, d.noise.process, d.noise.measurement], d.y.to_vec()))
        },
        [([0.3, 1.2, 0.1, 0.5], wave(5)), ([0.1, 0.7, 0.3, 0.2], wave(1))],
    );
    let mut g = polar_energy::gradient();
    check_gradient(
        |(x, y)| polar_energy(*x, *y),
        |(x, y)| {
            let (value, d) = g.value_and_gradient(*x, *y);
            (value, (d.x, d.y))
        },
        [(0.5, 0.3), (1.2, 0.7)],
    );
}

#[test]
fn bodies() {
    let body = |i: usize| {
        let at = i as f64;
        Body { position: [at, (1.3 * at).sin()], velocity: [0.1 * at, 0.3 - 0.2 * at], mass: 1.0 + 0.2 * at }
    };
    for (n, steps) in [(3, 4), (2, 1), (1, 0)] {
        let numbers = |bodies: &[Body]| -> Vec<f64> {
            bodies
                .iter()
                .flat_map(|b| [b.position[0], b.position[1], b.velocity[0], b.velocity[1], b.mass])
                .collect()
        };
        let bodies = |x: &[f64]| -> Vec<Body> {
            x.chunks_exact(5)
                .map(|x| Body { position: [x[0], x[1]], velocity: [x[2], x[3]], mass: x[4] })
                .collect()
        };
        let start: Vec<Body> = (0..n).map(body).collect();
        let mut g = orbits::gradient();
        check_gradient(
            |x: &mut Vec<f64>| orbits(&mut bodies(x), 0.1, steps),
            |x: &mut Vec<f64>| {
                let (value, d) = g.value_and_gradient(&mut bodies(x), 0.1, steps);
                let d = d
                    .bodies
                    .iter()
                    .flat_map(|b| [b.position[0], b.position[1], b.velocity[0], b.velocity[1], b.mass]);
                (value, d.collect::<Vec<f64>>())
            },
            [numbers(&start)],
        );
    }
}
