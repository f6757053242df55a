//! What owns memory and may be missing: fields and parameters that are an `Option` of a vector or of an array, by reference.

use ndarray::{Array1, Array2, array};
use pullback::prelude::*;
use pullback::testing::check_rule;

#[derive(Clone, Debug, Differentiable)]
struct Dense {
    weights: Vec<f64>,
    bias: Option<Vec<f64>>,
    gain: Option<f64>,
    outputs: usize,
}

#[differentiable]
fn add(y: &mut [f64], b: &[f64]) {
    for (y, b) in y.iter_mut().zip(b) {
        *y += b;
    }
}

#[differentiable]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[differentiable]
fn cube(x: &f64) -> f64 {
    x * x * x
}

#[differentiable]
impl Dense {
    fn forward(&self, x: &[f64]) -> Vec<f64> {
        let mut y = vec![0.0; self.outputs];
        for i in 0..self.outputs {
            for j in 0..x.len() {
                y[i] += self.weights[i * x.len() + j] * x[j];
            }
        }
        if let Some(b) = &self.bias {
            for i in 0..self.outputs {
                y[i] += b[i];
            }
        }
        y
    }

    fn looked_at(&self, x: &[f64]) -> f64 {
        let mut y = x.to_vec();
        match &self.bias {
            Some(b) => add(&mut y, b),
            None => {}
        }
        let sum = match self.bias.as_ref() {
            Some(b) => b.iter().sum::<f64>(),
            None => 1.0,
        };
        let product = self.bias.as_ref().map_or(0.5, |b| b[0] * b[1]);
        let square = self.bias.as_ref().map(|b| b[1] * b[1]).unwrap_or(0.25);
        let cubed = if let Some(k) = &self.gain { cube(k) } else { 1.0 };
        let gain = if let Some(k) = self.gain { k * k } else { 1.0 };
        let count = match &self.bias {
            Some(b) => b.len(),
            None => 0,
        };
        let Dense { weights, bias, .. } = self;
        if let Some(b) = bias {
            y[0] *= b[1] * weights[0];
        }
        dot(&y, x) * sum * (product + square) * cubed * gain + count as f64 * x[0]
    }

    fn left_early(&self) -> f64 {
        let Some(b) = &self.bias else { return self.weights[0] };
        let mut sum = 0.0;
        for v in b {
            sum += v * v;
        }
        sum * b[0]
    }

    fn first(&self) -> Option<f64> {
        let b = self.bias.as_deref()?;
        Some(b[0] * self.weights[1])
    }

    fn unwrapped(&self, x: &[f64]) -> f64 {
        if self.bias.is_none() {
            return x[0] * self.weights[0];
        }
        let b = self.bias.as_ref().unwrap();
        b[0] * x[0] * b[1]
    }

    fn chosen(&self, x: &[f64]) -> f64 {
        let b = match &self.bias {
            Some(b) => b,
            None => &self.weights,
        };
        let c = self.bias.as_ref().unwrap_or(&self.weights);
        b[0] * x[0] * b[1] + dot(c, x)
    }

    fn written(&mut self, x: &[f64]) -> f64 {
        if let Some(b) = &mut self.bias {
            b[0] *= x[0];
            b.push(x[1]);
        }
        if let Some(b) = self.bias.as_mut() {
            add(b, x);
        }
        let sum = if let Some(b) = &self.bias { dot(b, b) } else { 0.5 };
        sum * self.weights[0]
    }
}

#[differentiable]
fn network(layers: &[Dense], x: &[f64]) -> f64 {
    let mut h = x.to_vec();
    for layer in layers {
        h = layer.forward(&h);
        if let Some(b) = &layer.bias {
            h[0] += b[1];
        }
    }
    dot(&h, &h)
}

/// A copy, and one that has none.
#[differentiable]
fn of_locals(layer: &Dense, x: &[f64]) -> f64 {
    let mut copy = layer.clone();
    let without = Dense { weights: x.to_vec(), bias: None, gain: None, outputs: 2 };
    let sum = copy.written(x);
    let last = if let Some(b) = &copy.bias { b[b.len() - 1] } else { x[1] };
    sum * last * copy.written(x) + without.looked_at(x)
}

#[differentiable]
fn weighted(w: &Option<Vec<f64>>, x: &[f64]) -> f64 {
    if let Some(w) = w { dot(w, x) } else { x[0] }
}

fn dense(bias: bool) -> Dense {
    let bias = bias.then(|| vec![0.1, 0.5]);
    Dense { weights: vec![0.1, 0.2, 0.3, 0.4], bias, gain: Some(0.4), outputs: 2 }
}

#[test]
fn vectors() {
    let x = vec![0.3, 0.5];
    let both = || [(dense(true), x.clone()), (dense(false), x.clone())];
    check_rule(Dense::forward_rule, both());
    check_rule(Dense::looked_at_rule, both());
    check_rule(Dense::left_early_rule, [(dense(true),), (dense(false),)]);
    check_rule(Dense::first_rule, [(dense(true),), (dense(false),)]);
    check_rule(Dense::unwrapped_rule, both());
    check_rule(Dense::chosen_rule, both());
    check_rule(Dense::written_rule, both());
    check_rule(of_locals::rule, both());
    check_rule(network::rule, [(vec![dense(true), dense(false), dense(true)], x.clone())]);
    check_rule(weighted::rule, [(Some(vec![0.1, 0.2]), x.clone()), (None, x)]);
}

/// The gradient is that of what is inside, and empty where there is nothing.
#[test]
fn gradients() {
    let mut gradient = weighted::gradient();
    assert_eq!(gradient.value_and_gradient(&Some(vec![0.5, 2.0]), &[3.0, 4.0]).1.w, [3.0, 4.0]);
    assert!(gradient.value_and_gradient(&None, &[3.0, 4.0]).1.w.is_empty());
}

#[derive(Clone, Debug, Differentiable)]
struct Layer {
    weights: Array2<f64>,
    bias: Option<Array1<f64>>,
}

#[differentiable]
fn of_arrays(layer: &Layer, x: &Array1<f64>) -> f64 {
    let mut y: Array1<f64> = layer.weights.dot(x);
    if let Some(b) = &layer.bias {
        y += b;
    }
    match layer.bias.as_ref() {
        Some(b) => y = &y * b,
        None => {}
    }
    let z = match &layer.bias {
        Some(b) => &y + b,
        None => y.clone(),
    };
    if let Some(b) = &layer.bias {
        y[0] *= b[1];
    }
    z.iter().map(|v| v * v).sum::<f64>() * y[0]
}

#[test]
fn arrays() {
    let layer = |bias| Layer { weights: array![[0.3, 0.2], [0.5, 0.7]], bias };
    check_rule(
        of_arrays::rule,
        [(layer(Some(array![0.1, 0.5])), array![0.3, 0.5]), (layer(None), array![0.3, 0.5])],
    );
}

/// Room comes from the caller: what changes places may be there in one of both only.
#[differentiable]
fn exchanged(a: &mut Dense, b: &mut Dense, x: &[f64]) -> f64 {
    std::mem::swap(a, b);
    a.written(x) * b.left_early()
}

#[test]
fn change_places() {
    let x = vec![0.3, 0.5];
    check_rule(exchanged::rule, [(dense(true), dense(false), x.clone()), (dense(true), dense(true), x)]);
}

#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
struct Limits {
    low: Option<f64>,
    high: Option<f64>,
    steps: Option<usize>,
}

#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Filter {
    history: Option<Vec<f64>>,
    gain: Option<f64>,
    range: Option<(f64, f64)>,
    note: Option<String>,
    tags: Vec<String>,
    k: f64,
}

/// Emptied, with plain data that may be missing beside it.
#[differentiable]
impl Filter {
    fn reset(&mut self, k: f64) -> f64 {
        let start = if let Some(history) = &self.history { history[0] * k } else { k };
        let scaled = self.gain.unwrap_or(k) * start;
        self.gain = None;
        for _ in 0..2 {
            if self.k > 0.2 {
                self.history = None;
            }
        }
        self.k *= k;
        let left = match &self.history {
            Some(history) => history[1],
            None => k * k,
        };
        let range = match self.range {
            Some((a, b)) => a * b,
            None => 0.5,
        };
        scaled * self.k * self.gain.unwrap_or(0.4) * left * range * self.tags.len() as f64
    }
}

#[differentiable]
fn clamped(limits: &[Limits], x: f64) -> f64 {
    let mut y = x;
    for limit in limits {
        if let Some(low) = limit.low {
            y = y.max(low);
        }
        if let Some(high) = limit.high {
            y = y.min(high) * high;
        }
        y *= limit.steps.unwrap_or(2) as f64;
    }
    y
}

#[test]
fn what_is_emptied_or_was_never_there() {
    let filter = |history, gain, range, k| {
        let (note, tags) = (None, vec!["slow".to_string()]);
        Filter { history, gain, range, note, tags, k }
    };
    check_rule(
        Filter::reset_rule,
        [
            (filter(Some(vec![1.0, 0.2, 2.0]), Some(0.5), None, 0.3), 0.3),
            (filter(Some(vec![1.0, 0.7]), None, Some((0.4, 0.6)), 0.1), 0.7),
            (filter(None, None, None, 0.4), 0.6),
        ],
    );
    let limits = |low, high, steps| Limits { low, high, steps };
    check_rule(
        clamped::rule,
        [
            (vec![limits(Some(0.5), None, None), limits(None, Some(0.3), Some(3))], 0.2),
            (vec![limits(None, None, None)], 0.7),
        ],
    );
}

/// The types tell what is inside; what is done with it does not.
#[differentiable]
fn mean(x: &[f64], w: &Option<Vec<f64>>, offsets: &Option<Array1<f64>>) -> f64 {
    let shift = match offsets {
        Some(offsets) => x.iter().zip(offsets).map(|(x, o)| x * o).sum(),
        None => 0.1,
    };
    if let Some(w) = w {
        x.iter().zip(w).map(|(x, w)| x * w).sum::<f64>() / w.iter().sum::<f64>() + shift
    } else {
        x.iter().sum::<f64>() / x.len() as f64 + shift
    }
}

#[test]
fn told_by_types() {
    let x = || vec![0.1, 0.2, 0.4];
    check_rule(
        mean::rule,
        [(x(), None, None), (x(), Some(vec![0.3, 0.2, 0.6]), Some(array![0.3, 0.1, 0.7])), (x(), None, None)],
    );
}

/// What an optional field held is taken out, or replaced.
#[test]
fn exchanged_fields() {
    #[derive(Clone, Debug, Differentiable)]
    struct Controller {
        gain: f64,
        last: Option<f64>,
        memo: Option<[f64; 2]>,
        at: Option<usize>,
    }
    #[differentiable]
    impl Controller {
        fn update(&mut self, error: f64, i: usize) -> f64 {
            let mut out = error;
            if let Some(previous) = self.last.replace(error * self.gain) {
                out *= previous;
            }
            if i % 2 == 0 {
                if let Some(memo) = self.memo.take() {
                    out += memo[0] * memo[1];
                }
            } else {
                self.memo.replace([out, error]);
            }
            match self.at.replace(i) {
                Some(j) => out * j as f64,
                None => out,
            }
        }
    }
    #[differentiable]
    fn controlled(pair: &mut [Controller], x: &[f64]) -> f64 {
        let mut total = 0.0;
        for (i, v) in x.iter().enumerate() {
            total += pair[0].update(*v, i) * pair[1].last.replace(*v).unwrap_or(1.0);
        }
        total + pair[0].last.take().unwrap_or(0.3)
    }
    let one = |last| Controller { gain: 0.7, last, memo: None, at: None };
    check_rule(
        controlled::rule,
        [
            (vec![one(None), one(Some(0.4))], vec![0.3, 0.6]),
            (vec![one(Some(0.6)), one(None)], vec![0.2, 0.5, 0.9]),
        ],
    );
}

/// Methods of options by whose names optional fields are known.
#[test]
fn methods_of_fields() {
    #[derive(Clone, Debug, Differentiable)]
    struct Quote {
        bid: Option<f64>,
        ask: Option<f64>,
        last: Option<f64>,
    }
    #[differentiable]
    impl Quote {
        fn mid(&self) -> Option<f64> {
            self.bid.zip(self.ask).map(|(b, a)| 0.5 * (a + b))
        }
        fn fair(&self, k: f64) -> f64 {
            self.mid().or_else(|| self.bid.map(|b| b * 1.01)).unwrap_or(k)
        }
        fn changed(&mut self, k: f64) -> f64 {
            self.bid = self.last.or(self.bid);
            self.ask = self.bid.zip(self.ask).map(|(b, a)| b * a * k);
            let high = self.last.and_then(|v| if v > 0.2 { Some(v * k) } else { None });
            high.unwrap_or(k) * self.bid.or(self.ask).unwrap_or(k)
        }
    }
    let quotes = [(Some(0.3), None, Some(0.4)), (Some(0.3), Some(0.7), None), (None, None, Some(0.1))];
    let inputs = quotes.map(|(bid, ask, last)| (Quote { bid, ask, last }, 0.8));
    check_rule(Quote::fair_rule, inputs.clone());
    check_rule(Quote::changed_rule, inputs);
}
