//! A robot arm along a path, by basin: `cargo run --release --features basin --example basin`.
//!
//! A tool is to be led along a curve, pointing down all the way. For each point of the curve the angles of six joints are found by
//! nonlinear least squares within what the joints allow, from where the arm is. The arm is that of a UR5.

use std::error::Error;
use std::f64::consts::{FRAC_PI_2, PI, TAU};

use basin::{BoundedLevenbergMarquardt, Executor};
use pullback::interop::Problem;
use pullback::prelude::*;

mod plot;

/// Length in m, offset in m and twist of each link, in the convention of Denavit and Hartenberg (as published by Universal Robots).
const LINKS: [[f64; 3]; 6] = [
    [0.0, 0.089159, FRAC_PI_2],
    [-0.425, 0.0, 0.0],
    [-0.39225, 0.0, 0.0],
    [0.0, 0.10915, FRAC_PI_2],
    [0.0, 0.09465, -FRAC_PI_2],
    [0.0, 0.0823, 0.0],
];

/// The elbow stays above the table, and no joint turns around more than once.
const LOWER: [f64; 6] = [-PI, -PI, 0.2, -PI, -PI, -PI];
const UPPER: [f64; 6] = [PI, -0.2, 2.8, PI, 0.0, PI];

/// Where the tool is, where it points to, and how far it is from where it should be, and pointing down. What is left of freedom is used for
/// small movements.
#[differentiable(dual)]
fn misses(angles: &[f64; 6], #[constant] target: [f64; 3], #[constant] before: &[f64; 6]) -> [f64; 12] {
    let mut x = [1.0, 0.0, 0.0];
    let mut y = [0.0, 1.0, 0.0];
    let mut z = [0.0, 0.0, 1.0];
    let mut at = [0.0, 0.0, 0.0];
    for joint in 0..6 {
        let (sin, cos) = angles[joint].sin_cos();
        let [length, offset, twist] = LINKS[joint];
        for i in 0..3 {
            let across = cos * y[i] - sin * x[i];
            x[i] = cos * x[i] + sin * y[i];
            at[i] += offset * z[i] + length * x[i];
            y[i] = twist.cos() * across + twist.sin() * z[i];
            z[i] = twist.cos() * z[i] - twist.sin() * across;
        }
    }
    let mut r = [0.0; 12];
    for i in 0..3 {
        r[i] = at[i] - target[i];
    }
    r[3] = 0.3 * z[0];
    r[4] = 0.3 * z[1];
    r[5] = 0.3 * (z[2] + 1.0);
    for joint in 0..6 {
        r[6 + joint] = 1e-3 * (angles[joint] - before[joint]);
    }
    r
}

/// A figure of eight, above the table.
fn target(turn: f64) -> [f64; 3] {
    let (sin, cos) = turn.sin_cos();
    [-0.45 + 0.2 * sin * cos, -0.25 + 0.3 * sin, 0.15]
}

fn main() -> Result<(), Box<dyn Error>> {
    const POINTS: usize = 200;
    let mut angles = [0.3, -1.5, 1.5, -1.5, -1.5, 0.0];
    let mut way: [plot::Points; 6] = Default::default();
    let (mut wanted, mut reached) = (plot::Points::new(), plot::Points::new());
    let (mut farthest, mut evaluations) = (0.0_f64, 0);
    for point in 0..=POINTS {
        let turn = TAU * point as f64 / POINTS as f64;
        let goal = target(turn);
        let before = angles;
        // From afar at first.
        let limit = if point == 0 { 1000 } else { 100 };
        let problem = Problem::<misses>::new((&angles, goal, &before)).within(&LOWER, &UPPER);
        let run = Executor::from_start(problem, BoundedLevenbergMarquardt::new(), before.to_vec())
            .max_iter(limit)
            .run()?;
        angles = run.param()[..].try_into()?;
        evaluations += run.counts.jacobian_evals;

        let r = misses(&angles, goal, &before);
        if point > 0 {
            farthest = farthest.max(r[..3].iter().map(|r| r * r).sum::<f64>().sqrt());
        }
        wanted.push((goal[0], goal[1]));
        reached.push((goal[0] + r[0], goal[1] + r[1]));
        for (way, angle) in way.iter_mut().zip(angles) {
            way.push((turn / TAU, angle.to_degrees()));
        }
        assert!((0..6).all(|i| (LOWER[i]..=UPPER[i]).contains(&angles[i])), "beyond a limit");
    }
    println!("{POINTS} points with {evaluations} Jacobians, none missed by more than {:.1e} m", farthest);
    assert!(farthest < 1e-5);

    let step = reached.iter().step_by(10).copied().collect();
    let names = ["base", "shoulder", "elbow", "wrist 1", "wrist 2", "wrist 3"];
    plot::draw(
        "basin",
        vec![
            plot::Diagram {
                title: "What the tool draws",
                axes: ["x, m", "y, m"],
                ranges: [-0.85..-0.05, -0.6..0.1],
                legend: plot::SeriesLabelPosition::MiddleRight,
                bands: vec![],
                lines: vec![("path", wanted)],
                dots: vec![("tool", step)],
            },
            plot::Diagram {
                title: "How the joints turn",
                axes: ["along the path", "angle, degrees"],
                ranges: [0.0..1.0, -180.0..300.0],
                legend: plot::SeriesLabelPosition::UpperRight,
                bands: vec![],
                lines: names.into_iter().zip(way).collect(),
                dots: vec![],
            },
        ],
    )
}
