//! lstm: the forward pass keeps all gates; the reverse pass goes through the layers of each step backward.

use std::array::from_fn;

use gradbench::input;
use gradbench::task::{self, Task};
use serde_json::Value;

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// What each layer keeps in each step: the values before, the gates, and the hyperbolic tangent of the new cell.
const KEPT: usize = 8;

struct Network {
    main: Vec<f64>,
    extra: Vec<f64>,
    start: Vec<f64>,
    sequence: Vec<f64>,
    layers: usize,
    width: usize,
}

/// What is used again from one call to the next.
struct Room {
    state: Vec<f64>,
    d_state: Vec<f64>,
    kept: Vec<f64>,
    /// The gradient with respect to all predictions, and what they were made of.
    d_y: Vec<f64>,
    outputs: Vec<f64>,
    /// What goes from layer to layer.
    between: Vec<f64>,
}

impl Network {
    fn steps(&self) -> usize {
        self.sequence.len() / self.width - 1
    }

    fn room(&self) -> Room {
        let (b, steps) = (self.width, self.steps());
        Room {
            state: self.start.clone(),
            d_state: self.start.clone(),
            kept: vec![0.0; steps * self.layers * KEPT * b],
            d_y: vec![0.0; steps * b],
            outputs: vec![0.0; steps * b],
            between: vec![0.0; b],
        }
    }

    /// Writes the gradient with respect to `main` and then `extra` to `d`.
    fn gradient(&self, room: &mut Room, d: &mut [f64]) {
        self.forward(room);
        d.fill(0.0);
        room.d_state.fill(0.0);
        let (d_main, d_extra) = d.split_at_mut(self.main.len());
        for t in (0..self.steps()).rev() {
            self.backward(t, room, d_main, d_extra);
        }
    }

    fn forward(&self, room: &mut Room) {
        let (b, count) = (self.width, self.steps());
        let [w_in, w_out, b_out] = rows::<3>(&self.extra, b);
        room.state.copy_from_slice(&self.start);
        for t in 0..count {
            let x = &mut room.between;
            for i in 0..b {
                x[i] = self.sequence[t * b + i] * w_in[i];
            }
            for layer in 0..self.layers {
                let [wf, wi, wo, wg, bf, bi, bo, bg] = rows(&self.main[8 * layer * b..], b);
                let [hidden, cells] = rows_mut(&mut room.state[2 * layer * b..], b);
                let [input, old_hidden, old_cell, forget, ingate, outgate, change, tanh] =
                    rows_mut(&mut room.kept[(t * self.layers + layer) * KEPT * b..], b);
                for i in 0..b {
                    let (h, c) = (hidden[i], cells[i]);
                    let f = sigmoid(x[i] * wf[i] + bf[i]);
                    let g_in = sigmoid(h * wi[i] + bi[i]);
                    let o = sigmoid(x[i] * wo[i] + bo[i]);
                    let g = (h * wg[i] + bg[i]).tanh();
                    let cell = c * f + g_in * g;
                    let tanh_cell = cell.tanh();
                    (input[i], old_hidden[i], old_cell[i]) = (x[i], h, c);
                    (forget[i], ingate[i], outgate[i], change[i]) = (f, g_in, o, g);
                    tanh[i] = tanh_cell;
                    cells[i] = cell;
                    hidden[i] = o * tanh_cell;
                    x[i] = hidden[i];
                }
            }
            // The seed is known: so is the gradient with respect to the prediction.
            let next = &self.sequence[(t + 1) * b..(t + 2) * b];
            let d_y = &mut room.d_y[t * b..(t + 1) * b];
            room.outputs[t * b..(t + 1) * b].copy_from_slice(x);
            let (mut sum, mut weight) = (2.0, 0.0);
            for i in 0..b {
                let y = x[i] * w_out[i] + b_out[i];
                weight += next[i];
                d_y[i] = y.exp();
                sum += d_y[i];
            }
            let share = weight / sum;
            let scale = -1.0 / (count * b) as f64;
            for i in 0..b {
                d_y[i] = scale * (next[i] - share * d_y[i]);
            }
        }
    }

    fn backward(&self, t: usize, room: &mut Room, d_main: &mut [f64], d_extra: &mut [f64]) {
        let b = self.width;
        let [_, w_out, _] = rows::<3>(&self.extra, b);
        let [d_w_in, d_w_out, d_b_out] = rows_mut::<3>(d_extra, b);
        let d_x = &mut room.between;
        let (d_y, outputs) = (&room.d_y[t * b..(t + 1) * b], &room.outputs[t * b..(t + 1) * b]);
        for i in 0..b {
            d_b_out[i] += d_y[i];
            d_w_out[i] += d_y[i] * outputs[i];
            d_x[i] = d_y[i] * w_out[i];
        }
        for layer in (0..self.layers).rev() {
            let [wf, wi, wo, wg, ..] = rows::<8>(&self.main[8 * layer * b..], b);
            let [d_wf, d_wi, d_wo, d_wg, d_bf, d_bi, d_bo, d_bg] = rows_mut(&mut d_main[8 * layer * b..], b);
            let [d_hidden, d_cells] = rows_mut(&mut room.d_state[2 * layer * b..], b);
            let [input, hidden, cell, forget, ingate, outgate, change, tanh] =
                rows(&room.kept[(t * self.layers + layer) * KEPT * b..], b);
            for i in 0..b {
                let d_h = d_hidden[i] + d_x[i];
                let d_c = d_cells[i] + d_h * outgate[i] * (1.0 - tanh[i] * tanh[i]);
                let d_f = d_c * cell[i] * forget[i] * (1.0 - forget[i]);
                let d_i = d_c * change[i] * ingate[i] * (1.0 - ingate[i]);
                let d_o = d_h * tanh[i] * outgate[i] * (1.0 - outgate[i]);
                let d_g = d_c * ingate[i] * (1.0 - change[i] * change[i]);
                d_cells[i] = d_c * forget[i];
                d_hidden[i] = d_i * wi[i] + d_g * wg[i];
                d_x[i] = d_f * wf[i] + d_o * wo[i];
                d_wf[i] += d_f * input[i];
                d_wi[i] += d_i * hidden[i];
                d_wo[i] += d_o * input[i];
                d_wg[i] += d_g * hidden[i];
                d_bf[i] += d_f;
                d_bi[i] += d_i;
                d_bo[i] += d_o;
                d_bg[i] += d_g;
            }
        }
        for i in 0..b {
            d_w_in[i] += d_x[i] * self.sequence[t * b + i];
        }
    }
}

/// The first rows of a matrix with rows of length `b`.
fn rows<const N: usize>(x: &[f64], b: usize) -> [&[f64]; N] {
    from_fn(|i| &x[i * b..(i + 1) * b])
}

fn rows_mut<const N: usize>(x: &mut [f64], b: usize) -> [&mut [f64]; N] {
    let mut rows = x.chunks_exact_mut(b);
    from_fn(|_| rows.next().expect("there are as many rows"))
}

pub(super) fn task(input: &Value) -> Result<Box<dyn Task>, String> {
    let state = input::matrix(input, "state")?;
    let network = Network {
        main: input::matrix(input, "main_params")?.entries,
        extra: input::matrix(input, "extra_params")?.entries,
        sequence: input::matrix(input, "sequence")?.entries,
        layers: state.rows / 2,
        width: state.columns,
        start: state.entries,
    };
    let mut room = network.room();
    let length = network.main.len() + network.extra.len();
    Ok(task::vector(length, move |d| network.gradient(&mut room, d)))
}
