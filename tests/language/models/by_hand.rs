//! The models whose gradients are measured (`benches/corpus`), which are compared with gradients by hand there and here.

use pullback::testing::check_rule;

#[path = "../../../benches/corpus"]
mod corpus {
    pub(super) mod by_hand;
    pub(super) mod by_hand_arrays;
    pub(super) mod cases;
    pub(super) mod models;
}
use corpus::{cases, models};

struct Agreement;

impl cases::Contest for Agreement {
    fn case<P, D, H>(
        &mut self,
        _: &'static str,
        mut primal: impl FnMut() -> P,
        mut derived: impl FnMut() -> D,
        mut by_hand: impl FnMut() -> H,
    ) {
        primal();
        derived();
        by_hand();
    }
}

fn wave(n: usize) -> Vec<f64> {
    (0..n).map(|i| (0.7 * i as f64 + 0.3).sin()).collect()
}

#[test]
fn agree() {
    cases::all(&mut Agreement);
}

#[test]
fn of_numbers() {
    check_rule(models::black_scholes::rule, [(1.0, 1.1, 0.03, 0.25, 0.75), (1.2, 0.9, 0.01, 0.4, 2.0)]);
    let observed = vec![[1.1, 0.9], [1.3, 0.7], [1.5, 0.6]];
    check_rule(
        models::runge_kutta::rule,
        [
            ([1.0, 1.0], [0.7, 0.5, 0.3, 0.6], observed.clone(), 0.2),
            ([0.8, 0.4], [0.5, 0.9, 0.4, 0.2], observed[..1].to_vec(), 0.5),
        ],
    );
    let positions =
        vec![[0.0, 0.1, 0.2], [1.1, 0.3, -0.2], [-0.4, 1.2, 0.5], [0.7, -0.9, 1.1], [2.5, 0.0, 0.1]];
    check_rule(
        models::lennard_jones::rule,
        [
            (positions.clone(), 1.2, 0.9, 2.0),
            (positions[..2].to_vec(), 0.7, 1.1, 3.0),
            (positions[..2].to_vec(), 0.7, 1.1, 0.5),
        ],
    );
    check_rule(
        models::robot_arm::rule,
        [(vec![0.3, -0.5, 0.9], vec![1.0, 0.8, 0.5], [1.2, 0.7]), (vec![0.3], vec![1.0], [0.2, 0.7])],
    );
}

#[test]
fn of_series_and_fields() {
    let returns = vec![0.1, -0.3, 0.25, 0.05, -0.6];
    check_rule(
        models::garch::rule,
        [(0.05, 0.2, 0.7, 0.02, returns.clone()), (0.1, 0.1, 0.3, 0.0, returns[..1].to_vec())],
    );
    check_rule(
        models::gray_scott::rule,
        [(wave(5), wave(5), 0.04, 0.06, 3), (wave(2), wave(2), 0.03, 0.05, 1)],
    );
    check_rule(
        models::total_variation::rule,
        [(wave(12), wave(12), 4, 0.7, 0.1), (wave(1), vec![0.1], 1, 0.4, 0.2)],
    );
    check_rule(
        models::graph_laplacian::rule,
        [
            (wave(4), vec![0, 2, 3, 3, 5], vec![1, 3, 2, 0, 1], vec![0.5, 1.2, 0.7, 0.3, 0.9]),
            (wave(1), vec![0, 0], vec![], vec![]),
        ],
    );
}

#[test]
fn of_matrices() {
    check_rule(
        models::mlp::rule,
        [
            (wave(6), wave(3), wave(6), wave(2), vec![0.5, 0.2, -0.3, 0.9], vec![0.1, 0.2, 0.3, 0.4]),
            (wave(2), wave(2), wave(2), wave(1), vec![0.5], vec![0.1]),
        ],
    );
    check_rule(models::cholesky::rule, [(vec![2.0, 0.3, 0.3, 1.5], 2), (vec![0.7], 1)]);
    check_rule(
        models::gaussian_process::rule,
        [(0.1, 0.2, -1.0, vec![0.0, 0.5, 1.2, 2.0], wave(4)), (-0.3, 0.1, -0.5, vec![0.3], vec![0.7])],
    );
}
