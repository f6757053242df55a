//! llsq: Horner's scheme for the polynomial, and its residuals times the powers for the gradient.

use gradbench::input;
use gradbench::task::{self, Task};
use serde_json::Value;

/// How many points are taken at a time.
const LANES: usize = 16;

/// Writes the gradient to `d`; `wide` has the components of each lane.
fn gradient(x: &[f64], n: usize, wide: &mut [[f64; LANES]], d: &mut [f64]) {
    wide.fill([0.0; LANES]);
    for first in (0..n).step_by(LANES) {
        let count = LANES.min(n - first);
        let (mut t, mut s) = ([0.0; LANES], [0.0; LANES]);
        for lane in 0..count {
            let x: f64 = -1.0 + 2.0 * (first + lane) as f64 / (n - 1) as f64;
            t[lane] = x;
            s[lane] = if x == 0.0 { 0.0 } else { x.signum() };
        }
        let mut p = [0.0; LANES];
        for &x in x.iter().rev() {
            for lane in 0..LANES {
                p[lane] = p[lane] * t[lane] + x;
            }
        }
        // The residual times a power of t; zero where there is no point.
        let mut term = [0.0; LANES];
        for lane in 0..count {
            term[lane] = p[lane] - s[lane];
        }
        for wide in wide.iter_mut() {
            for lane in 0..LANES {
                wide[lane] += term[lane];
                term[lane] *= t[lane];
            }
        }
    }
    for (d, wide) in d.iter_mut().zip(wide) {
        *d = wide.iter().sum();
    }
}

pub(super) fn task(input: &Value) -> Result<Box<dyn Task>, String> {
    let (x, n) = (input::vector(input, "x")?, input::integer(input, "n")?);
    let mut wide = vec![[0.0; LANES]; x.len()];
    Ok(task::vector(x.len(), move |d| gradient(&x, n, &mut wide, d)))
}
