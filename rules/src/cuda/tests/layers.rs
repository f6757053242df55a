//! The functions of `nn` for arrays in any memory, on the simulated device and on the host: all but those of rows, which the other tests have.

use ndarray::{Array, Axis, Dimension, Ix2};

use super::fused::{OnHost, Place, Results, call, compare, numbers, of, shadow, waves};
use crate::Rule;
use crate::cuda::simulator::everywhere;
use crate::fused::Real;
use crate::nn::generic::*;

/// Between 0 and 1.
fn shares<T: Real, D: Dimension>(shape: D, seed: f64) -> Array<T, D> {
    waves::<T, D>(shape, seed).mapv_into(|x| T::of(0.5) + T::of(0.4) * x)
}

pub(super) fn layers<T: Real + std::fmt::Debug, P: Place<T>>(place: &P) -> Results {
    let mut results = Results::new();
    let shape = Ix2(5, 37);
    macro_rules! elements {
        ($($function:ident($($number:literal)?))*) => {
            $(call!(place, results, T, $function(shape, shape; $($number)?;));)*
        };
    }
    elements! {
        relu() leaky_relu(0.3) elu(1.3) selu() gelu() gelu_tanh() silu() mish() softplus() softsign() hard_sigmoid() hard_swish()
    }
    macro_rules! gates {
        ($($function:ident($($operand:expr),*))*) => {
            $(call!(place, results, T, $function(shape, $($operand),*; ;));)*
        };
    }
    let row = Ix2(1, 37);
    gates! {
        glu(shape, row) swiglu(shape, shape) lstm_state(shape, shape, row, shape) lstm_output(shape, shape) gru(shape, shape, shape, row, shape)
    }
    macro_rules! losses {
        ($($function:ident($($number:literal)?))*) => {$(
            let (x, t) = (place.array(shares::<T, _>(shape, 0.2)), place.array(shares::<T, _>(row, 0.9)));
            let (mut dx, mut dt) = (place.array(waves::<T, _>(shape, 0.3)), place.array(waves::<T, _>(row, 0.4)));
            let mut rule = $function::rule();
            results.push((stringify!($function), vec![of(rule.forward($function::args(&x, &t $(, T::of($number))?)).0)]));
            let shadows = (shadow(&mut dx), shadow(&mut dt) $(, call!(@ignored $number))?);
            let gradients = rule.pullback((), $function::args(&x, &t $(, T::of($number))?), shadows, T::of(0.7));
            results.push((concat!(stringify!($function), ": numbers"), numbers(&format!("{gradients:?}"))));
            results.push((concat!(stringify!($function), ": shadow of x"), place.elements(&dx)));
            results.push((concat!(stringify!($function), ": shadow of t"), place.elements(&dt)));
        )*};
    }
    losses! {
        mean_squared_error() mean_absolute_error() huber(0.2) smooth_l1(0.3) binary_cross_entropy() binary_cross_entropy_with_logits()
    }
    let mut y = place.array(waves::<T, _>(Ix2(5, 1), 0.1));
    let (l, p) = (place.array(waves::<T, _>(shape, 0.2)), place.array(shares::<T, _>(shape, 0.3)));
    let (mut dy, mut dl, mut dp) = (
        place.array(waves::<T, _>(Ix2(5, 1), 0.4)),
        place.array(waves::<T, _>(shape, 0.5)),
        place.array(waves::<T, _>(shape, 0.6)),
    );
    let mut rule = kl_divergence::rule();
    rule.forward(kl_divergence::args(&mut y, &l, &p, Axis(1)));
    results.push(("kl_divergence", place.elements(&y)));
    let shadows = (shadow(&mut dy), shadow(&mut dl), shadow(&mut dp), crate::Ignored);
    rule.pullback((), kl_divergence::args(&mut y, &l, &p, Axis(1)), shadows, ());
    results.push(("kl_divergence: shadow of l", place.elements(&dl)));
    results.push(("kl_divergence: shadow of p", place.elements(&dp)));
    results
}

#[test]
fn the_device_computes_layers_as_the_host_does() {
    let expected = (layers::<f32, _>(&OnHost), layers::<f64, _>(&OnHost));
    let finite = |results: &Results| results.iter().all(|(_, numbers)| numbers.iter().all(|x| x.is_finite()));
    assert!(finite(&expected.0) && finite(&expected.1));
    for (single, double) in everywhere(|device| (layers::<f32, _>(device), layers::<f64, _>(device))) {
        compare(&single, &expected.0, 1e-5, "f32");
        compare(&double, &expected.1, 1e-13, "f64");
    }
}
