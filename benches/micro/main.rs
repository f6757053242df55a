//! Fifteen small functions on given data: the primal, the derived gradient and one by hand. The name of a case ends in the ratio of
//! gradient to primal that Enzyme has for the same function in C++, on an AVX-512 machine.

mod by_hand;
mod functions;
#[path = "../support/mod.rs"]
mod support;

use std::hint::black_box;

use functions::*;
use support::{Comparison, HAND_WRITTEN, PRIMAL, contender};

/// Knuth's linear congruential generator.
struct Random(u64);

impl Random {
    fn uniform(&mut self, low: f64, high: f64) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        low + (high - low) * ((self.0 >> 11) as f64 * 2_f64.powi(-53))
    }

    fn vector(&mut self, n: usize, low: f64, high: f64) -> Vec<f64> {
        (0..n).map(|_| self.uniform(low, high)).collect()
    }
}

/// What is known of the result: the value, and the first and last component of the gradient.
type Known = Option<[f64; 3]>;

fn check(case: &str, known: Known, (value, derived): (f64, &[f64]), (by_hand, d): (f64, &[f64])) {
    let close =
        |a: f64, b: f64, scale: f64| assert!((a - b).abs() <= 1e-9 * scale, "{case}: {a} instead of {b}");
    close(value, by_hand, by_hand.abs());
    let scale = d.iter().fold(0.0, |scale: f64, d| scale.max(d.abs()));
    derived.iter().zip(d).for_each(|(a, b)| close(*a, *b, scale));
    if let Some([expected, first, last]) = known {
        close(value, expected, expected.abs());
        close(derived[0], first, first.abs());
        close(derived[derived.len() - 1], last, last.abs());
    }
}

/// A function of one slice.
macro_rules! case {
    ($comparison:ident, $name:literal, $f:ident($x:expr $(, $constant:expr)*), by hand with ($($room:expr),*), $known:expr) => {{
        let x: Vec<f64> = $x;
        let mut d = vec![0.0; x.len()];
        let mut g = $f::gradient();
        let value = by_hand::$f(&x $(, $constant)* $(, $room)*, &mut d);
        let (derived, gradient) = g.value_and_gradient(&x $(, $constant)*);
        assert_eq!(derived, $f(&x $(, $constant)*));
        check($name, $known, (derived, gradient.x), (value, &d));
        $comparison.case(
            $name,
            vec![
                contender(PRIMAL, || $f(black_box(&x) $(, $constant)*)),
                contender("derived", || {
                    let (value, d) = g.value_and_gradient(black_box(&x) $(, $constant)*);
                    black_box(d.x);
                    value
                }),
                contender(HAND_WRITTEN, || {
                    let value = by_hand::$f(black_box(&x) $(, $constant)* $(, $room)*, &mut d);
                    black_box(&mut d);
                    value
                }),
            ],
        );
    }};
}

fn main() {
    let mut comparison = Comparison::new();
    let c = &mut comparison;
    let vector = |n, low, high, seed| Random(seed).vector(n, low, high);

    let known = Some([18.6334953378525, 0.962987580751293, 0.380697117585502]);
    case!(c, "sumsin_1k, Enzyme 2.04", sumsin(vector(1000, -2.0, 2.0, 42)), by hand with (), known);
    case!(c, "sumsin_1M, Enzyme 2.20", sumsin(vector(1_000_000, -2.0, 2.0, 42)), by hand with (), None);
    let known = Some([1360.31122214191, 0.545842613151261, -2.36049252379943]);
    case!(c, "sumsq_1k, Enzyme 1.27", sumsq(vector(1000, -2.0, 2.0, 42)), by hand with (), known);
    case!(c, "sumsq_1M, Enzyme 1.43", sumsq(vector(1_000_000, -2.0, 2.0, 42)), by hand with (), None);
    let known = Some([459153.824711059, 126.560380989997, -310.88975143826]);
    case!(c, "rosen_1k, Enzyme 1.51", rosen(vector(1000, -2.0, 2.0, 42)), by hand with (), known);

    let matrices = || vector(2 * MM * MM, -1.0, 1.0, 7);
    let known = Some([-229.575573173303, 6.75029370370449, -6.71840922220074]);
    case!(c, "mmsum_64, Enzyme 6.11", mmsum(matrices()), by hand with (), known);
    let known = Some([27925.0995577402, -42.3366104705604, 16.5551000310875]);
    case!(c, "mmsq_64, Enzyme 4.27", mmsq(matrices()), by hand with (), known);

    let network = |m: usize| {
        let mut random = Random(11);
        let weights = random.vector(M_H * M_IN + M_H + M_H * M_H + M_H + M_H + 1, -0.2, 0.2);
        (weights, random.vector(m * (M_IN + 1), -1.0, 1.0))
    };
    let (x, data) = network(1);
    let known = Some([0.0556722859852326, 0.00573578434366748, 0.333683340864457]);
    case!(c, "mlp_b1, Enzyme 2.56", mlp(x, 1, &data), by hand with (), known);
    let (x, data) = network(16);
    let known = Some([2.78960149096142, 0.031941736138934, 1.46698702730338]);
    case!(c, "mlp_b16, Enzyme 2.42", mlp(x, 16, &data), by hand with (), known);

    let points = [&[1.0, 0.0, -3.0][..], &vector(1000 * GD, -1.0, 1.0, 3)].concat();
    case!(c, "gmm, Enzyme 3.66", gmm(vector(GK + GK * GD + GK * GI, -1.0, 1.0, 9), 1000, &points), by hand with (), None);

    let mut kept = vec![[0.0; 2]; 1000];
    let known = Some([3.74699208515044, -0.112104224242412, -0.0634497989396806]);
    case!(c, "bruss, Enzyme 1.55", bruss(vec![1.0, 1.7, 1.2, 3.1], 1000, 0.01), by hand with (&mut kept), known);
    let known = Some([1.88092143754882, -6.94850476966894, 0.772260924851423]);
    case!(c, "lv_rk4, Enzyme 1.97", lvrk4(vec![1.5, 1.0, 3.0, 1.0, 1.0, 1.0], 1000, 0.01), by hand with (&mut kept), known);
    let known = Some([8.14661855087987, 0.000436275518505693, 4.9329516518506e-05]);
    case!(c, "lse_1k, Enzyme 1.97", lse(vector(1000, -3.0, 3.0, 42)), by hand with (), known);

    let mut random = Random(5);
    let inputs = random.vector(GPN * GPD, -2.0, 2.0);
    let outputs = (0..GPN).map(|i| inputs[i * GPD].sin() + 0.1 * random.uniform(-1.0, 1.0)).collect();
    let data = [inputs, outputs].concat();
    let known = Some([-45.2956645583894, -32.5930619686751, -24.4872518972432]);
    case!(c, "gp_chol64, Enzyme 5.53", gp(vec![0.1, -0.3, 0.2, 0.0, -1.0], &data), by hand with (), known);

    bundle_adjustment(c);
    comparison.finish();
}

/// The residual of one observation, and its Jacobian.
fn bundle_adjustment(comparison: &mut Comparison) {
    let camera = [0.1, -0.2, 0.15, 0.3, -0.4, -5.0, 420.0, 3.0, -2.0, 0.05, 0.01];
    let (point, w, feature) = ([0.5, 0.25, 1.0], 0.7, [10.0, -20.0]);
    let mut g = observation::jacobian();
    let (value, rows) = g.value_and_jacobian(&camera, &point, w, &feature);
    let (expected, by_hand) = by_hand::observation(&camera, &point, w, &feature);
    let rows = rows.as_slice().expect("row by row");
    check("ba_jac", None, (value[0], rows), (expected[0], by_hand.as_flattened()));
    comparison.case(
        "ba_jac, Enzyme 5.13",
        vec![
            contender(PRIMAL, || observation(black_box(&camera), black_box(&point), w, &feature)),
            contender("derived", || {
                let (value, rows) = g.value_and_jacobian(black_box(&camera), black_box(&point), w, &feature);
                black_box(rows);
                value
            }),
            contender(HAND_WRITTEN, || {
                by_hand::observation(black_box(&camera), black_box(&point), w, &feature)
            }),
        ],
    );
}
