//! One step of the quickstart's network: the loss of a batch, its derived gradient, and one as an expert would write it.

mod support;

use std::hint::black_box;

use ndarray::{Array1, Array2};
use pullback::Trans::{No, Yes};
use pullback::prelude::*;
use support::{Comparison, HAND_WRITTEN, PRIMAL, assert_close, contender};

const BATCH: usize = 64;
const PIXELS: usize = 64;
const HIDDEN: usize = 64;
const CLASSES: usize = 10;

#[differentiable]
fn add_bias_tanh(h: &mut Array2<f64>, bias: &Array1<f64>) {
    for row in 0..h.nrows() {
        for unit in 0..h.ncols() {
            h[[row, unit]] = (h[[row, unit]] + bias[unit]).tanh();
        }
    }
}

#[differentiable]
fn add_bias(z: &mut Array2<f64>, bias: &Array1<f64>) {
    for row in 0..z.nrows() {
        for class in 0..z.ncols() {
            z[[row, class]] += bias[class];
        }
    }
}

#[differentiable]
fn cross_entropy(z: &Array2<f64>, row: usize, label: usize) -> f64 {
    let mut largest = z[[row, 0]];
    for class in 1..z.ncols() {
        largest = largest.max(z[[row, class]]);
    }
    let mut total = 0.0;
    for class in 0..z.ncols() {
        total += (z[[row, class]] - largest).exp();
    }
    largest + total.ln() - z[[row, label]]
}

#[differentiable]
#[allow(clippy::too_many_arguments)]
fn loss(
    w1: &Array2<f64>,
    b1: &Array1<f64>,
    w2: &Array2<f64>,
    b2: &Array1<f64>,
    h: &mut Array2<f64>,
    z: &mut Array2<f64>,
    #[constant] x: &Array2<f64>,
    #[constant] labels: &[usize],
) -> f64 {
    mul_into(h, x, w1);
    add_bias_tanh(h, b1);
    mul_into(z, h, w2);
    add_bias(z, b2);
    let mut total = 0.0;
    for row in 0..labels.len() {
        total += cross_entropy(z, row, labels[row]);
    }
    total / labels.len() as f64
}

/// The gradient by hand: the derivative of tanh from its value, the softmax shared by value and gradient, and every
/// array allocated beforehand.
struct ByHand {
    w1: Array2<f64>,
    b1: Array1<f64>,
    w2: Array2<f64>,
    b2: Array1<f64>,
    h: Array2<f64>,
    z: Array2<f64>,
}

impl ByHand {
    fn new() -> Self {
        ByHand {
            w1: Array2::zeros((PIXELS, HIDDEN)),
            b1: Array1::zeros(HIDDEN),
            w2: Array2::zeros((HIDDEN, CLASSES)),
            b2: Array1::zeros(CLASSES),
            h: Array2::zeros((BATCH, HIDDEN)),
            z: Array2::zeros((BATCH, CLASSES)),
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn value_and_gradient(
        &mut self,
        w1: &Array2<f64>,
        b1: &Array1<f64>,
        w2: &Array2<f64>,
        b2: &Array1<f64>,
        h: &mut Array2<f64>,
        z: &mut Array2<f64>,
        x: &Array2<f64>,
        labels: &[usize],
    ) -> f64 {
        mul_into(h, x, w1);
        add_bias_tanh(h, b1);
        mul_into(z, h, w2);
        add_bias(z, b2);

        let share = 1.0 / labels.len() as f64;
        let mut value = 0.0;
        self.b2.fill(0.0);
        for ((z, mut dz), &label) in z.outer_iter().zip(self.z.outer_iter_mut()).zip(labels) {
            let largest = z.fold(f64::NEG_INFINITY, |largest, &z| largest.max(z));
            let mut total = 0.0;
            for (dz, z) in dz.iter_mut().zip(&z) {
                *dz = (z - largest).exp();
                total += *dz;
            }
            value += largest + total.ln() - z[label];
            dz *= share / total;
            dz[label] -= share;
            self.b2 += &dz;
        }
        gemm(Yes, No, 1.0, h, &self.z, 0.0, &mut self.w2);
        gemm(No, Yes, 1.0, &self.z, w2, 0.0, &mut self.h);
        self.b1.fill(0.0);
        for (h, mut dh) in h.outer_iter().zip(self.h.outer_iter_mut()) {
            for ((h, dh), db) in h.iter().zip(&mut dh).zip(&mut self.b1) {
                *dh *= 1.0 - h * h;
                *db += *dh;
            }
        }
        gemm(Yes, No, 1.0, x, &self.h, 0.0, &mut self.w1);
        value * share
    }
}

/// Numbers between −1 and 1 without a pattern that matters.
fn numbers(seed: f64) -> impl FnMut() -> f64 {
    let mut count = 0.0;
    move || {
        count += 1.0;
        (seed + 1.618 * count * count).sin()
    }
}

fn main() {
    let mut comparison = Comparison::new();
    let array = |shape, seed| Array2::from_shape_simple_fn(shape, numbers(seed));
    let (w1, b1) = (array((PIXELS, HIDDEN), 1.0) * 0.2, Array1::from_shape_simple_fn(HIDDEN, numbers(2.0)));
    let (w2, b2) = (array((HIDDEN, CLASSES), 3.0) * 0.3, Array1::from_shape_simple_fn(CLASSES, numbers(4.0)));
    let x = array((BATCH, PIXELS), 5.0);
    let labels: Vec<usize> = (0..BATCH).map(|i| i * i % CLASSES).collect();
    let room = || (Array2::zeros((BATCH, HIDDEN)), Array2::zeros((BATCH, CLASSES)));
    let [mut primal_room, mut derived_room, mut hand_room] = [room(), room(), room()];

    let mut g = loss::gradient();
    let mut by_hand = ByHand::new();
    let (h, z) = &mut hand_room;
    let expected = by_hand.value_and_gradient(&w1, &b1, &w2, &b2, h, z, &x, &labels);
    let (h, z) = &mut derived_room;
    let (value, d) = g.value_and_gradient(&w1, &b1, &w2, &b2, h, z, &x, &labels);
    assert_close(&[value], &[expected]);
    assert_close(d.w1, &by_hand.w1);
    assert_close(d.b1, &by_hand.b1);
    assert_close(d.w2, &by_hand.w2);
    assert_close(d.b2, &by_hand.b2);

    comparison.case(
        "network, batch of 64",
        vec![
            contender(PRIMAL, || {
                let (h, z) = &mut primal_room;
                loss(black_box(&w1), &b1, &w2, &b2, h, z, &x, &labels)
            }),
            contender("derived", || {
                let (h, z) = &mut derived_room;
                g.value_and_gradient(black_box(&w1), &b1, &w2, &b2, h, z, &x, &labels).0
            }),
            contender(HAND_WRITTEN, || {
                let (h, z) = &mut hand_room;
                let value = by_hand.value_and_gradient(black_box(&w1), &b1, &w2, &b2, h, z, &x, &labels);
                black_box(&mut by_hand);
                value
            }),
        ],
    );
    comparison.finish();
}
