//! lstm: a recurrent network that predicts the next character.

use pullback::prelude::*;
use serde_json::Value;

use super::unknown;
use crate::input::{self, agree};
use crate::task::{self, Task};

#[differentiable]
fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// The mean of minus the logarithms of the probabilities of what comes next in `sequence`.
///
/// `main` has eight rows for each layer, the weights and then the biases of the gates forget, in, out and change; `extra` has
/// three, the weights of the input, and the weights and biases of the output; `state` starts as the hidden values and the cells of
/// each layer.
#[differentiable]
pub fn objective(
    main: &[f64],
    extra: &[f64],
    #[constant] start: &[f64],
    #[constant] sequence: &[f64],
    width: usize,
) -> f64 {
    let mut state = start.to_vec();
    let mut y = vec![0.0; width];
    let count = sequence.len() / width - 1;
    let mut total = 0.0;
    for t in 0..count {
        let now = &sequence[t * width..(t + 1) * width];
        let next = &sequence[(t + 1) * width..(t + 2) * width];
        predict(main, extra, &mut state, now, &mut y);
        total += log_likelihood(&y, next);
    }
    -total / (count * width) as f64
}

/// One step: `state` moves on, and `y` becomes what is predicted after `x`.
#[differentiable]
fn predict(main: &[f64], extra: &[f64], state: &mut [f64], #[constant] x: &[f64], y: &mut [f64]) {
    let b = x.len();
    for i in 0..b {
        let mut input = x[i] * extra[i];
        for layer in 0..state.len() / (2 * b) {
            let (w, s) = (8 * layer * b + i, 2 * layer * b + i);
            let hidden = state[s];
            let forget = sigmoid(input * main[w] + main[w + 4 * b]);
            let ingate = sigmoid(hidden * main[w + b] + main[w + 5 * b]);
            let outgate = sigmoid(input * main[w + 2 * b] + main[w + 6 * b]);
            let change = (hidden * main[w + 3 * b] + main[w + 7 * b]).tanh();
            let cell = state[s + b] * forget + ingate * change;
            state[s + b] = cell;
            input = outgate * cell.tanh();
            state[s] = input;
        }
        y[i] = input * extra[b + i] + extra[2 * b + i];
    }
}

#[differentiable]
fn log_likelihood(y: &[f64], #[constant] next: &[f64]) -> f64 {
    let mut sum = 2.0;
    for i in 0..y.len() {
        sum += y[i].exp();
    }
    let lse = sum.ln();
    let mut total = 0.0;
    for i in 0..y.len() {
        total += next[i] * (y[i] - lse);
    }
    total
}

/// The functions of this eval.
pub fn task(function: &str, input: &Value) -> Result<Box<dyn Task>, String> {
    let (main, extra) = (input::matrix(input, "main_params")?, input::matrix(input, "extra_params")?);
    let (state, sequence) = (input::matrix(input, "state")?, input::matrix(input, "sequence")?);
    let (layers, width) = (state.rows / 2, state.columns);
    agree("main_params", main.entries.len(), 8 * layers * width)?;
    agree("extra_params", extra.entries.len(), 3 * width)?;
    agree("each row of the sequence", sequence.columns, width)?;
    let (main, extra, state, sequence) = (main.entries, extra.entries, state.entries, sequence.entries);
    match function {
        "objective" => Ok(task::number(move || objective(&main, &extra, &state, &sequence, width))),
        "jacobian" => {
            let mut g = objective::gradient();
            Ok(task::vector(main.len() + extra.len(), move |result| {
                let (_, d) = g.value_and_gradient(&main, &extra, &state, &sequence, width);
                result[..main.len()].copy_from_slice(d.main);
                result[main.len()..].copy_from_slice(d.extra);
            }))
        }
        _ => Err(unknown(function)),
    }
}

#[cfg(test)]
mod tests {
    use crate::evals::tests::check;

    #[test]
    fn samples() {
        check("lstm", "objective");
        check("lstm", "jacobian");
    }
}
