//! Windows over images, norms of channels, attention and dropout on the simulated device and on the host.

use ndarray::{Array, Ix3, Ix4};

use super::fused::{OnHost, Place, Results, compare, of, shadow, waves};
use crate::cuda::Device;
use crate::cuda::simulator::everywhere;
use crate::fused::{Rank, Real};
use crate::nn::cases;
use crate::nn::generic::*;
use crate::{Ignored, MatrixScalar, Rule, linalg};

/// An array with gradients of the same shape.
fn with_shadow<T: Real, D: Rank, P: Place<T>>(place: &P, array: Array<T, D>, seed: f64) -> [P::Array<D>; 2] {
    let gradient = waves(array.raw_dim(), seed);
    [place.array(array), place.array(gradient)]
}

pub(super) fn images<T, P>(place: &P) -> Results
where
    T: linalg::Real + Real + MatrixScalar,
    P: Place<T>,
    P::Array<Ix3>: Images<T, 1>,
    P::Array<Ix4>: Images<T, 2>,
    P::Memory: LayerMemory,
{
    let mut results = Results::new();
    macro_rules! convolution {
        ($function:ident) => {
            for (y, x, kernel, bias, options) in cases::$function::<T>().inputs {
                let [mut y, mut dy] = with_shadow(place, y, 0.1);
                let [x, mut dx] = with_shadow(place, x, 0.2);
                let [kernel, mut dkernel] = with_shadow(place, kernel, 0.3);
                let [bias, mut dbias] = with_shadow(place, bias, 0.4);
                let mut rule = $function::rule();
                rule.forward($function::args(&mut y, &x, &kernel, &bias, options));
                results.push((stringify!($function), place.elements(&y)));
                let shadows =
                    (shadow(&mut dy), shadow(&mut dx), shadow(&mut dkernel), shadow(&mut dbias), Ignored);
                rule.pullback((), $function::args(&mut y, &x, &kernel, &bias, options), shadows, ());
                results.push(("restored", place.elements(&y)));
                results.push(("shadow of y", place.elements(&dy)));
                results.push(("shadow of x", place.elements(&dx)));
                results.push(("shadow of the kernel", place.elements(&dkernel)));
                results.push(("shadow of the bias", place.elements(&dbias)));
            }
        };
    }
    convolution!(conv1d);
    convolution!(conv2d);
    macro_rules! pooling {
        ($($function:ident)*) => {$(
            for (y, x, options) in cases::$function::<T>().inputs {
                let ([mut y, mut dy], [x, mut dx]) = (with_shadow(place, y, 0.1), with_shadow(place, x, 0.2));
                let mut rule = $function::rule();
                rule.forward($function::args(&mut y, &x, options));
                results.push((stringify!($function), place.elements(&y)));
                rule.pullback((), $function::args(&mut y, &x, options), (shadow(&mut dy), shadow(&mut dx), Ignored), ());
                results.push(("restored", place.elements(&y)));
                results.push(("shadow of y", place.elements(&dy)));
                results.push(("shadow of x", place.elements(&dx)));
            }
        )*};
    }
    pooling!(avg_pool1d avg_pool2d max_pool1d max_pool2d);
    for (y, x, rate, seed, draw) in cases::dropout::<T>().inputs {
        let ([mut y, mut dy], [x, mut dx]) = (with_shadow(place, y, 0.1), with_shadow(place, x, 0.2));
        let mut rule = dropout::rule();
        rule.forward(dropout::args(&mut y, &x, rate, seed, draw));
        results.push(("dropout", place.elements(&y)));
        let shadows = (shadow(&mut dy), shadow(&mut dx), Ignored, Ignored, Ignored);
        let (_, _, drate, ..) = rule.pullback((), dropout::args(&mut y, &x, rate, seed, draw), shadows, ());
        results.push(("shadow of x", place.elements(&dx)));
        results.push(("rate", vec![of(drate)]));
    }
    results
}

pub(super) fn norms<T, P>(place: &P) -> Results
where
    T: linalg::Real + Real + MatrixScalar,
    P: Place<T>,
{
    let mut results = Results::new();
    macro_rules! group {
        ($inputs:expr) => {
            for (y, x, gain, bias, groups, epsilon) in $inputs {
                let ([mut y, mut dy], [x, mut dx]) = (with_shadow(place, y, 0.1), with_shadow(place, x, 0.2));
                let [gain, mut dgain] = with_shadow(place, gain, 0.3);
                let [bias, mut dbias] = with_shadow(place, bias, 0.4);
                let mut rule = group_norm::rule();
                rule.forward(group_norm::args(&mut y, &x, &gain, &bias, groups, epsilon));
                results.push(("group_norm", place.elements(&y)));
                let shadows = (
                    shadow(&mut dy),
                    shadow(&mut dx),
                    shadow(&mut dgain),
                    shadow(&mut dbias),
                    Ignored,
                    Ignored,
                );
                let args = group_norm::args(&mut y, &x, &gain, &bias, groups, epsilon);
                let (.., depsilon) = rule.pullback((), args, shadows, ());
                results.push(("shadow of x", place.elements(&dx)));
                results.push(("shadow of the gain", place.elements(&dgain)));
                results.push(("shadow of the bias", place.elements(&dbias)));
                results.push(("epsilon", vec![of(depsilon)]));
            }
        };
    }
    let (features, planes) = cases::group_norm::<T>();
    group!(features.inputs);
    group!(planes.inputs);
    macro_rules! batch {
        ($inputs:expr) => {
            for (y, x, gain, bias, mean, variance, momentum, epsilon) in $inputs {
                let ([mut y, mut dy], [x, mut dx]) = (with_shadow(place, y, 0.1), with_shadow(place, x, 0.2));
                let [gain, mut dgain] = with_shadow(place, gain, 0.3);
                let [bias, mut dbias] = with_shadow(place, bias, 0.4);
                let [mut mean, mut dmean] = with_shadow(place, mean, 0.5);
                let [mut variance, mut dvariance] = with_shadow(place, variance, 0.6);
                let mut rule = batch_norm::rule();
                macro_rules! args {
                    () => {
                        batch_norm::args(
                            &mut y,
                            &x,
                            &gain,
                            &bias,
                            &mut mean,
                            &mut variance,
                            momentum,
                            epsilon,
                        )
                    };
                }
                rule.forward(args!());
                results.push(("batch_norm", place.elements(&y)));
                results
                    .push(("mean and variance", [place.elements(&mean), place.elements(&variance)].concat()));
                let shadows = (
                    shadow(&mut dy),
                    shadow(&mut dx),
                    shadow(&mut dgain),
                    shadow(&mut dbias),
                    shadow(&mut dmean),
                    shadow(&mut dvariance),
                    Ignored,
                    Ignored,
                );
                let (.., dmomentum, depsilon) = rule.pullback((), args!(), shadows, ());
                results.push(("shadow of x", place.elements(&dx)));
                results.push(("shadow of the gain", place.elements(&dgain)));
                results.push(("shadow of the bias", place.elements(&dbias)));
                let averages = [&mean, &variance, &dmean, &dvariance].map(|array| place.elements(array));
                results.push(("averages that run along, restored, and their shadows", averages.concat()));
                results.push(("numbers", vec![of(dmomentum), of(depsilon)]));
            }
        };
    }
    let (features, planes) = cases::batch_norm::<T>();
    batch!(features.inputs);
    batch!(planes.inputs);
    results
}

pub(super) fn heads<T, P>(place: &P) -> Results
where
    T: linalg::Real + Real + MatrixScalar,
    P: Place<T>,
    P::Array<Ix4>: Images<T, 2>,
{
    let mut results = Results::new();
    for (y, q, k, v, scale, mask) in cases::attention::<T>().inputs {
        let ([mut y, mut dy], [q, mut dq]) = (with_shadow(place, y, 0.1), with_shadow(place, q, 0.2));
        let ([k, mut dk], [v, mut dv]) = (with_shadow(place, k, 0.3), with_shadow(place, v, 0.4));
        let mut rule = attention::rule();
        rule.forward(attention::args(&mut y, &q, &k, &v, scale, mask));
        results.push(("attention", place.elements(&y)));
        let shadows = (shadow(&mut dy), shadow(&mut dq), shadow(&mut dk), shadow(&mut dv), Ignored, Ignored);
        let args = attention::args(&mut y, &q, &k, &v, scale, mask);
        let (.., dscale, _) = rule.pullback((), args, shadows, ());
        for (name, array) in [("queries", &dq), ("keys", &dk), ("values", &dv), ("shadow of y", &dy)] {
            results.push((name, place.elements(array)));
        }
        results.push(("scale", vec![of(dscale)]));
    }
    results
}

fn everything<T, P>(place: &P) -> Results
where
    T: linalg::Real + Real + MatrixScalar,
    P: Place<T>,
    P::Array<Ix3>: Images<T, 1>,
    P::Array<Ix4>: Images<T, 2>,
    P::Memory: LayerMemory,
{
    [images(place), norms(place), heads(place)].concat()
}

pub(super) fn on_device<T: linalg::Real + Real>(device: &Device) -> Results {
    everything::<T, _>(device)
}

#[test]
fn the_device_computes_images_as_the_host_does() {
    let expected = (everything::<f32, _>(&OnHost), everything::<f64, _>(&OnHost));
    for (single, double) in everywhere(|device| (on_device::<f32>(device), on_device::<f64>(device))) {
        compare(&single, &expected.0, 1e-4, "f32");
        compare(&double, &expected.1, 1e-12, "f64");
    }
}
