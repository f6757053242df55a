//! Recurrent cells, and networks of them.

use ndarray::{Array1, Array2, Axis, Ix1, Ix2, s};
use pullback::differentiable;
use pullback::nn::{self, gru, lstm_output, lstm_state};
use pullback::testing::{allocations_in, check_gradient, check_rule};

use crate::elements::{by_columns, grid};

#[test]
fn cells() {
    check_rule(
        nn::lstm_state::<f64, Ix2, Ix2, Ix2, Ix2, Ix2>::rule,
        [
            (grid(3, 5, 0.1), grid(3, 5, 0.2), grid(3, 5, 0.3), grid(3, 5, 0.4), grid(3, 5, 0.5)),
            (
                grid(2, 70, 0.1),
                by_columns(grid(2, 70, 0.2)),
                grid(2, 70, 0.3),
                grid(1, 70, 0.4),
                grid(2, 1, 0.5),
            ),
            (grid(0, 4, 0.1), grid(0, 4, 0.2), grid(0, 4, 0.3), grid(0, 4, 0.4), grid(0, 4, 0.5)),
            (grid(1, 1, 0.1), grid(1, 1, 0.2), grid(1, 1, 0.3), grid(1, 1, 0.4), grid(1, 1, 0.5)),
        ],
    );
    check_rule(
        nn::lstm_output::<f64, Ix2, Ix2, Ix2>::rule,
        [
            (grid(3, 5, 0.1), grid(3, 5, 0.2), grid(3, 5, 0.3)),
            (by_columns(grid(2, 70, 0.1)), grid(2, 70, 0.2), grid(1, 70, 0.3)),
            (grid(0, 4, 0.1), grid(0, 4, 0.2), grid(0, 4, 0.3)),
        ],
    );
    check_rule(
        nn::gru::<f64, Ix2, Ix2, Ix2, Ix2, Ix2, Ix2>::rule,
        [
            (
                grid(3, 5, 0.1),
                grid(3, 5, 0.2),
                grid(3, 5, 0.3),
                grid(3, 5, 0.4),
                grid(3, 5, 0.5),
                grid(3, 5, 0.6),
            ),
            (
                grid(2, 70, 0.1),
                by_columns(grid(2, 70, 0.2)),
                grid(2, 70, 0.3),
                grid(1, 70, 0.4),
                grid(2, 1, 0.5),
                grid(1, 1, 0.6),
            ),
            (
                grid(0, 4, 0.1),
                grid(0, 4, 0.2),
                grid(0, 4, 0.3),
                grid(0, 4, 0.4),
                grid(0, 4, 0.5),
                grid(0, 4, 0.6),
            ),
        ],
    );
    let single = |start| grid(1, 40, start).row(0).mapv(|x| x as f32);
    let [y, a, b, c, d, e] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6].map(single);
    check_rule(
        nn::lstm_state::<f32, Ix1, Ix1, Ix1, Ix1, Ix1>::rule,
        [(y.clone(), a.clone(), b.clone(), c.clone(), d.clone())],
    );
    check_rule(nn::lstm_output::<f32, Ix1, Ix1, Ix1>::rule, [(y.clone(), a.clone(), b.clone())]);
    check_rule(nn::gru::<f32, Ix1, Ix1, Ix1, Ix1, Ix1, Ix1>::rule, [(y, a, b, c, d, e)]);
}

/// Two cells of each kind over a sequence, with the gates side by side.
#[differentiable]
fn network(sequence: &Array2<f64>, w: &Array2<f64>, u: &Array2<f64>, b: &Array1<f64>) -> f64 {
    let mut c = Array1::<f64>::zeros(2);
    let mut h = Array1::<f64>::zeros(2);
    let mut state = Array1::<f64>::zeros(2);
    let mut total = 0.0;
    for t in 0..sequence.nrows() {
        let x = sequence.row(t);
        let gates = w.dot(&x) + u.dot(&h) + b;
        let mut next = Array1::<f64>::zeros(2);
        lstm_state(&mut next, &c, &gates.slice(s![0..2]), &gates.slice(s![2..4]), &gates.slice(s![4..6]));
        c.assign(&next);
        lstm_output(&mut h, &c, &gates.slice(s![6..8]));
        let of_input = w.dot(&h);
        let of_state = u.dot(&state);
        let mut following = Array1::<f64>::zeros(2);
        gru(
            &mut following,
            &state,
            &of_input.slice(s![0..2]),
            &of_state.slice(s![2..4]),
            &of_input.slice(s![4..6]),
            &of_state.slice(s![4..6]),
        );
        state.assign(&following);
        total += state.sum() + h.sum();
    }
    total
}

#[test]
fn in_a_function() {
    let arguments = (
        grid(4, 2, 0.3),
        grid(8, 2, 0.1).mapv(|x| 0.3 * x),
        grid(8, 2, 0.7).mapv(|x| 0.3 * x),
        grid(1, 8, 0.2).index_axis_move(Axis(0), 0),
    );
    let mut g = network::gradient();
    check_gradient(
        |(x, w, u, b)| network(x, w, u, b),
        |(x, w, u, b)| {
            let (value, d) = g.value_and_gradient(x, w, u, b);
            (value, (d.sequence.clone(), d.w.clone(), d.u.clone(), d.b.clone()))
        },
        [arguments.clone()],
    );
    let (x, w, u, b) = &arguments;
    g.value_and_gradient(x, w, u, b);
    assert_eq!(allocations_in(|| g.value_and_gradient(x, w, u, b).0).1, 0);
}
