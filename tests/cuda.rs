//! One function on the host, on a simulated device, and on a CUDA device where there is one: see [`everywhere`].
#![allow(missing_docs)]

use ndarray::{Array, Array1, Array2, Array3, Array4, Axis, Dimension, Ix1, Ix2, Ix3, Ix4};
use pullback::cuda::simulator::{everywhere, listening};
use pullback::cuda::{Device, DeviceArray, DeviceIndices, Error, Repeated};
use pullback::nn::generic::{
    Activation, Images, Indices, attention, batch_norm, conv2d, cross_entropy, dropout, embedding,
    feed_forward, linear, max_pool2d, rms_norm,
};
use pullback::nn::{Convolution, Mask, Pooling};
use pullback::{Array as AnyArray, Matrices, Matrix, Trans, differentiable, fused, general_product, product};

fused! {
    fn bias_tanh<A>(z, b) { (z + b).tanh() }

    fn mean_square<A>(y, t) {
        let off = y - t;
        mean(off * off)
    }

    fn squares<A>(x, t; axis) {
        let off = x - t;
        sum(off * off)
    }

    fn stepped<A>(w, d, rate: T) { w - rate * d }

    fn copied<A>(x) { x }
}

/// A network with one hidden layer; what it needs room for are its first parameters.
#[differentiable]
#[allow(clippy::too_many_arguments)]
fn loss<M: Matrix<f64>, V: AnyArray<f64, Memory = M::Memory>>(
    z: &mut M,
    h: &mut M,
    y: &mut M,
    x: &M,
    w1: &M,
    b1: &V,
    w2: &M,
    #[constant] target: &M,
) -> f64 {
    product(z, x, w1);
    bias_tanh(h, &*z, b1);
    product(y, &*h, w2);
    mean_square(&*y, target)
}

/// The same, of which the value stays on the device: the losses of all rows.
#[differentiable]
#[allow(clippy::too_many_arguments)]
fn row_losses<M: Matrix<f64>, V: AnyArray<f64, Memory = M::Memory>>(
    losses: &mut M,
    z: &mut M,
    h: &mut M,
    y: &mut M,
    x: &M,
    w1: &M,
    b1: &V,
    w2: &M,
    #[constant] target: &M,
) {
    product(z, x, w1);
    bias_tanh(h, &*z, b1);
    product(y, &*h, w2);
    squares(losses, &*y, target, Axis(1));
}

fn wave(shape: (usize, usize), seed: f64) -> Array2<f64> {
    Array2::from_shape_fn(shape, |(i, j)| (seed + 0.7 * i as f64 + 1.3 * j as f64).sin())
}

struct Data {
    x: Array2<f64>,
    w1: Array2<f64>,
    b1: Array1<f64>,
    w2: Array2<f64>,
    target: Array2<f64>,
}

fn data(batch: usize) -> Data {
    Data {
        x: wave((batch, 6), 0.1),
        w1: wave((6, 9), 0.2),
        b1: wave((1, 9), 0.3).row(0).to_owned(),
        w2: wave((9, 3), 0.4),
        target: wave((batch, 3), 0.5),
    }
}

type Results = (f64, [Array2<f64>; 2], Array1<f64>, Array2<f64>);

fn on_host(batch: usize) -> Results {
    let Data { x, w1, b1, w2, target } = data(batch);
    let [mut z, mut h, mut y] = [9, 9, 3].map(|n| Array2::zeros((batch, n)));
    let mut g = loss::<Array2<f64>, Array1<f64>>::gradient();
    let (value, d) = g.value_and_gradient(&mut z, &mut h, &mut y, &x, &w1, &b1, &w2, &target);
    (value, [d.x.clone(), d.w1.clone()], d.b1.clone(), d.w2.clone())
}

fn on(device: &Device, batch: usize) -> Result<(Results, Vec<usize>), Error> {
    let Data { x, w1, b1, w2, target } = data(batch);
    let copy = |array: &Array2<f64>| DeviceArray::from_array(device, array);
    let (x, w1, w2, target) = (copy(&x)?, copy(&w1)?, copy(&w2)?, copy(&target)?);
    let b1 = DeviceArray::from_array(device, &b1)?;
    let zeros = |n| DeviceArray::<f64, Ix2>::zeros(device, (batch, n));
    let (mut z, mut h, mut y) = (zeros(9)?, zeros(9)?, zeros(3)?);
    let mut g = loss::<DeviceArray<f64, Ix2>, DeviceArray<f64, Ix1>>::gradient();
    let mut allocations = Vec::new();
    let mut results = None;
    for _ in 0..3 {
        let (value, d) = g.value_and_gradient(&mut z, &mut h, &mut y, &x, &w1, &b1, &w2, &target);
        allocations.push(device.allocations());
        results = Some((value, [d.x.to_array()?, d.w1.to_array()?], d.b1.to_array()?, d.w2.to_array()?));
    }
    Ok((results.expect("three of them"), allocations))
}

fn compare(found: &Results, expected: &Results) {
    let close = |a: f64, b: f64| (a - b).abs() < 1e-12;
    assert!(close(found.0, expected.0), "{} instead of {}", found.0, expected.0);
    for (a, b) in found.1.iter().zip(&expected.1).chain([(&found.3, &expected.3)]) {
        assert!(a.iter().zip(b).all(|(a, b)| close(*a, *b)), "{a} instead of {b}");
    }
    assert!(
        found.2.iter().zip(&expected.2).all(|(a, b)| close(*a, *b)),
        "{} instead of {}",
        found.2,
        expected.2
    );
}

#[test]
fn one_function_on_the_host_and_on_a_device() {
    let expected = on_host(7);
    for result in everywhere(|device| on(device, 7)) {
        let (results, allocations) = result.expect("memory");
        compare(&results, &expected);
        assert_eq!(allocations[0], allocations[2], "the second call allocates nothing on the device");
    }
}

/// Steps of training, directly or repeated; after each of them the weights, and whether the next step is a graph's.
fn train(device: &Device, repeated: bool) -> Result<Vec<(Array2<f64>, bool)>, Error> {
    let Data { x, w1, b1, w2, target } = data(5);
    let copy = |array: &Array2<f64>| DeviceArray::from_array(device, array);
    let zeros = |n| DeviceArray::<f64, Ix2>::zeros(device, (5, n));
    let (w2, target, ones) = (copy(&w2)?, copy(&target)?, copy(&Array2::ones((5, 1)))?);
    let b1 = DeviceArray::from_array(device, &b1)?;
    let (mut l, mut z, mut h, mut y, mut next) = (zeros(1)?, zeros(9)?, zeros(9)?, zeros(3)?, copy(&w1)?);
    let [no_z, no_h, no_y] = [zeros(9)?, zeros(9)?, zeros(3)?];
    let mut g = row_losses::<DeviceArray<f64, Ix2>, DeviceArray<f64, Ix1>>::pullback();
    type Changing = (DeviceArray<f64, Ix2>, DeviceArray<f64, Ix2>, f64);
    let mut step = Repeated::new(device, (copy(&x)?, copy(&w1)?, 0.05), |(x, w1, rate): &mut Changing| {
        let ((), d) = g.value_and_pullback(
            &mut l, &mut z, &mut h, &mut y, x, w1, &b1, &w2, &target, &ones, &no_z, &no_h, &no_y,
        );
        stepped(&mut next, w1, d.w1, *rate);
        copied(w1, &next);
    });
    let mut seen = Vec::new();
    for i in 0..14 {
        match i {
            // Other numbers in the same place: no reason for another graph.
            5 => step.arguments().0.copy_from(&wave((5, 6), 0.9))?,
            // Another place, another number: reasons.
            7 => step.arguments().0 = copy(&wave((5, 6), 0.8))?,
            10 => step.arguments().2 = 0.1,
            _ => {}
        }
        if !repeated {
            // As if it was for the first time.
            let (x, w1) = (step.arguments().0.to_array()?, step.arguments().1.to_array()?);
            *step.arguments() = (copy(&x)?, copy(&w1)?, step.arguments().2);
        }
        step.run()?;
        let recorded = step.is_recorded();
        seen.push((step.arguments().1.to_array()?, recorded));
    }
    Ok(seen)
}

#[test]
fn repeated_work_is_one_graph() {
    for (direct, repeated) in everywhere(|device| (train(device, false), train(device, true))) {
        let (direct, repeated) = (direct.expect("memory"), repeated.expect("memory"));
        assert!(direct.iter().all(|(_, recorded)| !recorded));
        let recorded: Vec<bool> = repeated.iter().map(|(_, recorded)| *recorded).collect();
        let [no, yes] = [false, true];
        assert_eq!(recorded, [no, no, yes, yes, yes, yes, yes, no, no, yes, no, no, yes, yes]);
        for (i, (direct, repeated)) in direct.iter().zip(&repeated).enumerate() {
            assert_eq!(direct.0, repeated.0, "step {i}");
        }
        assert!(direct[0].0 != direct[13].0, "something is learnt");
    }
}

/// A gradient, of which all arguments change their shapes in between, and back; and whether the next run is a graph's.
fn reshaped(device: &Device) -> Vec<(Array2<f64>, bool)> {
    let mut g = softened::<DeviceArray<f64, Ix2>, DeviceArray<f64, Ix1>>::pullback();
    let on = |array: Array2<f64>| DeviceArray::from_array(device, &array).expect("memory");
    let of_shape = |shape: (usize, usize)| {
        let bias = DeviceArray::from_array(device, &wave((1, shape.1), 0.4).row(0)).expect("memory");
        (on(wave(shape, 0.1)), on(wave(shape, 0.2)), on(wave(shape, 0.3)), bias, on(Array2::zeros(shape)))
    };
    let mut work = Repeated::new(device, of_shape(SHAPES[0]), |(y, z, seed, bias, found)| {
        let ((), d) = g.value_and_pullback(y, z, bias, seed);
        copied(found, d.z);
    });
    let mut seen = Vec::new();
    for shape in SHAPES {
        *work.arguments() = of_shape(shape);
        for _ in 0..4 {
            work.arguments().4.copy_from(&Array2::zeros(shape)).expect("the same shape");
            work.run().expect("a device");
            seen.push((work.arguments().4.to_array().expect("memory"), work.is_recorded()));
        }
    }
    seen
}

/// Nobody wants the gradient with respect to the 0.001, for which the host would wait, so that there would be no graph.
#[differentiable]
fn scored<M: Matrix<f64>>(
    losses: &mut M,
    y: &mut M,
    x: &M,
    gain: &M,
    #[constant] targets: &M,
    #[constant] axis: usize,
) {
    rms_norm(y, x, gain, 1e-3, Axis(axis));
    cross_entropy(losses, &*y, targets, Axis(axis));
}

/// Gradients of which only the memory is the same in which they are made, for other arguments each time.
fn apart(device: &Device, axis: usize, times: std::ops::Range<usize>) -> Vec<Array2<f64>> {
    let shape = [(300, 5), (5, 300)][axis];
    let on = |array: Array2<f64>| DeviceArray::from_array(device, &array).expect("memory");
    let two = |seed: f64| vec![on(wave(shape, seed)), on(wave(shape, seed + 0.1))];
    let along = |axis: usize, seed: f64| {
        [seed, seed + 0.1].map(|seed| on(wave(shape, seed).sum_axis(Axis(axis)).insert_axis(Axis(axis))))
    };
    // One number for each place of a row, and one for each row.
    let (gain, dgain, seeds) = (along(1 - axis, 0.3), along(1 - axis, 1.3), along(axis, 0.7));
    let (targets, no_y) = (two(0.5), on(wave(shape, 0.6)));
    let (mut losses, mut y) = (along(axis, 0.9), two(1.1));
    let mut gradients = [(); 2].map(|()| scored::<DeviceArray<f64, Ix2>>::pullback());
    let recorded = times.len() > 2;
    let mut work = Repeated::new(device, (two(0.1), two(1.2), Vec::from(dgain)), |(x, dx, dgain)| {
        for (i, g) in gradients.iter_mut().enumerate() {
            let (losses, y) = (&mut losses[i], &mut y[i]);
            let ((), d) =
                g.value_and_pullback(losses, y, &x[i], &gain[i], &targets[i], axis, &seeds[i], &no_y);
            copied(&mut dx[i], d.x);
            copied(&mut dgain[i], d.gain);
        }
    });
    for time in times {
        for (i, x) in work.arguments().0.iter_mut().enumerate() {
            x.copy_from(&wave(shape, (2 * time + i) as f64)).expect("the same shape");
        }
        work.run().expect("a device");
    }
    assert_eq!(work.is_recorded(), recorded);
    let (_, dx, dgain) = work.arguments();
    dx.iter().chain(&*dgain).map(|found| found.to_array().expect("memory")).collect()
}

/// What long rows are divided by, which takes several kernels.
fn divided(device: &Device, times: std::ops::Range<usize>) -> Vec<Array2<f64>> {
    let shape = (2, 20_000);
    let on = |seed: f64| DeviceArray::from_array(device, &wave(shape, seed)).expect("memory");
    let (gain, all) = (on(0.2), |seed: f64| (0..3).map(|i| on(seed + i as f64)).collect::<Vec<_>>());
    let recorded = times.len() > 2;
    let mut work = Repeated::new(device, (all(0.1), all(0.3)), |(x, y)| {
        y.iter_mut().zip(x).for_each(|(y, x)| rms_norm(y, x, &gain, 1e-3, Axis(1)));
    });
    for time in times {
        for (i, x) in work.arguments().0.iter_mut().enumerate() {
            x.copy_from(&(wave(shape, 0.4) * (3 * time + i + 1) as f64)).expect("the same shape");
        }
        work.run().expect("a device");
    }
    assert_eq!(work.is_recorded(), recorded);
    work.arguments().1.iter().map(|y| y.to_array().expect("memory")).collect()
}

#[test]
fn a_graph_does_what_direct_calls_do() {
    for (direct, recorded) in everywhere(|device| (divided(device, 3..4), divided(device, 0..4))) {
        assert_eq!(direct, recorded);
    }
    for axis in [0, 1] {
        for (direct, recorded) in everywhere(|device| (apart(device, axis, 3..4), apart(device, axis, 0..4)))
        {
            assert_eq!(direct, recorded);
        }
    }
}

const SHAPES: [(usize, usize); 3] = [(3, 4), (50, 7), (3, 4)];

#[differentiable]
fn softened<M: Matrix<f64>, V: AnyArray<f64, Memory = M::Memory>>(y: &mut M, z: &M, bias: &V) {
    bias_tanh(y, z, bias);
}

#[test]
fn repeated_work_follows_its_shapes() {
    let expected = SHAPES.map(|shape| {
        let (mut y, bias) = (wave(shape, 0.1), wave((1, shape.1), 0.4).row(0).to_owned());
        let mut g = softened::<Array2<f64>, Array1<f64>>::pullback();
        g.value_and_pullback(&mut y, &wave(shape, 0.2), &bias, &wave(shape, 0.3)).1.z.clone()
    });
    for seen in everywhere(reshaped) {
        for (i, (found, recorded)) in seen.iter().enumerate() {
            assert!((found - &expected[i / 4]).iter().all(|error| error.abs() < 1e-14), "run {i}");
            assert_eq!(*recorded, i % 4 >= 2, "from the third run of a shape on");
        }
    }
}

/// A number of the host's at the end: nothing is recorded, but all goes on.
#[test]
fn work_that_waits_for_the_device_is_not_recorded() {
    let run = |device: &Device| {
        let x = DeviceArray::from_array(device, &wave((3, 4), 0.2)).expect("memory");
        let zero = DeviceArray::<f64, Ix2>::zeros(device, (3, 4)).expect("memory");
        let mut values = Vec::new();
        let mut work = Repeated::new(device, (x,), |(x,)| values.push(mean_square(x, &zero)));
        let recorded: Vec<bool> =
            (0..5).map(|_| work.run().map(|()| work.is_recorded()).expect("a device")).collect();
        (recorded, values)
    };
    let expected = mean_square(&wave((3, 4), 0.2), &Array2::zeros((3, 4)));
    for (recorded, values) in everywhere(run) {
        assert_eq!(recorded, [false; 5]);
        assert!(values.len() == 5 && values.iter().all(|value| (value - expected).abs() < 1e-14));
    }
}

/// Words, what is predicted of them, and what a stack of matrices makes of them.
#[differentiable]
#[allow(clippy::too_many_arguments)]
fn predictions<M, S, I>(
    losses: &mut M,
    s: &mut S,
    x: &mut M,
    y: &mut M,
    z: &mut M,
    table: &M,
    gain: &M,
    w: &M,
    stack: &S,
    scale: f64,
    keep: f64,
    #[constant] words: &I,
    #[constant] targets: &M,
) where
    M: Matrix<f64>,
    S: Matrices<f64, Memory = M::Memory>,
    I: Indices<Memory = M::Memory>,
{
    embedding(x, table, words);
    rms_norm(y, &*x, gain, 1e-3, Axis(1));
    general_product(Trans::No, Trans::Yes, 1.0, &*y, w, 0.0, z);
    cross_entropy(losses, &*z, targets, Axis(1));
    general_product(Trans::No, Trans::No, scale, stack, &*y, keep, s);
}

fn waves<D: Dimension>(shape: D, seed: f64) -> Array<f64, D> {
    let elements = (0..shape.size()).map(|i| (seed + 0.73 * i as f64).sin()).collect();
    Array::from_shape_vec(shape, elements).expect("as many")
}

const WORDS: [[usize; 6]; 3] = [[2, 0, 2, 6, 2, 1], [0, 0, 0, 0, 0, 0], [6, 5, 4, 3, 2, 1]];

/// The gradients for all words in turn, where `$two` and `$three` make arrays out of the host's, `$words` indices, and `$out` the host's arrays
/// out of gradients.
macro_rules! predict {
    ($M:ty, $S:ty, $I:ty; $two:expr, $three:expr, $words:expr, $out:expr, $after:expr) => {{
        let [mut losses, no_losses] = [0.1, 0.11].map(|seed| $two(waves(Ix2(6, 1), seed)));
        let [mut x, mut y, no_x, no_y] = [0.2, 0.3, 0.4, 0.5].map(|seed| $two(waves(Ix2(6, 4), seed)));
        let [mut z, targets, no_z] = [0.6, 0.7, 0.75].map(|seed| $two(waves(Ix2(6, 5), seed)));
        let [mut s, no_s] = [0.8, 0.9].map(|seed| $three(waves(Ix3(2, 3, 4), seed)));
        let (table, gain, w) =
            ($two(waves(Ix2(7, 4), 1.1)), $two(waves(Ix2(1, 4), 1.2)), $two(waves(Ix2(5, 4), 1.3)));
        let stack = $three(waves(Ix3(2, 3, 6), 1.4));
        let mut g = predictions::<$M, $S, $I>::pullback();
        WORDS.map(|words| {
            let words = $words(&words[..]);
            let ((), d) = g.value_and_pullback(
                &mut losses,
                &mut s,
                &mut x,
                &mut y,
                &mut z,
                &table,
                &gain,
                &w,
                &stack,
                0.7,
                0.5,
                &words,
                &targets,
                &no_losses,
                &no_s,
                &no_x,
                &no_y,
                &no_z,
            );
            let elements: Vec<f64> =
                [$out(d.table), $out(d.gain), $out(d.w), $out(d.s), $out(d.stack)].concat();
            (elements, [d.scale, d.keep], $after())
        })
    }};
}

type Predicted = [(Vec<f64>, [f64; 2], usize); 3];

fn predict_on_host() -> Predicted {
    fn out<D: Dimension>(array: &Array<f64, D>) -> Vec<f64> {
        array.iter().copied().collect()
    }
    fn same<X>(array: X) -> X {
        array
    }
    predict!(Array2<f64>, Array3<f64>, Vec<usize>; same, same, |words: &[usize]| words.to_vec(), out, || 0)
}

fn predict_on(device: &Device) -> Predicted {
    fn out<D: Dimension + Copy + 'static>(array: &DeviceArray<f64, D>) -> Vec<f64> {
        array.to_array().expect("memory").into_iter().collect()
    }
    predict!(
        DeviceArray<f64, Ix2>, DeviceArray<f64, Ix3>, DeviceIndices;
        |array: Array2<f64>| DeviceArray::from_array(device, &array).expect("memory"),
        |array: Array3<f64>| DeviceArray::from_array(device, &array).expect("memory"),
        |words: &[usize]| DeviceIndices::new(device, words, 7).expect("memory"),
        out,
        || device.allocations()
    )
}

fn compare_predictions(found: &Predicted, expected: &Predicted) {
    for ((elements, factors, _), (expected, expected_factors, _)) in found.iter().zip(expected) {
        let all = || elements.iter().chain(factors).zip(expected.iter().chain(expected_factors));
        assert_eq!(elements.len(), expected.len());
        assert!(all().all(|(a, b)| (a - b).abs() < 1e-12), "{:?}", all().collect::<Vec<_>>());
    }
    // But for the indices, of which there are new ones each time.
    assert_eq!(found[2].2 - found[1].2, 1, "the second call allocates nothing on the device");
}

#[test]
fn predictions_on_the_host_and_on_a_device() {
    let expected = predict_on_host();
    assert!(expected[0].0 != expected[1].0);
    for found in everywhere(predict_on) {
        compare_predictions(&found, &expected);
    }
}

/// Other words in the same place, each time: the graph looks them up.
fn look_up(device: &Device) -> Vec<(Array2<f64>, bool)> {
    let table = DeviceArray::from_array(device, &waves(Ix2(7, 4), 0.1)).expect("memory");
    let x = DeviceArray::<f64, Ix2>::zeros(device, (6, 4)).expect("memory");
    let words = DeviceIndices::new(device, &WORDS[0], 7).expect("memory");
    let mut work =
        Repeated::new(device, (x, words), |(x, words): &mut (DeviceArray<f64, Ix2>, DeviceIndices)| {
            embedding(x, &table, words);
        });
    let each = (0..6).map(|i| {
        work.arguments().1.copy_from(&WORDS[i % 3]).expect("as many words");
        work.run().expect("a device");
        (work.arguments().0.to_array().expect("memory"), work.is_recorded())
    });
    each.collect()
}

fn check_looked_up(found: &[(Array2<f64>, bool)]) {
    for (i, (x, recorded)) in found.iter().enumerate() {
        assert_eq!(*x, waves(Ix2(7, 4), 0.1).select(Axis(0), &WORDS[i % 3]));
        assert_eq!(*recorded, i >= 2);
    }
}

#[test]
fn a_graph_looks_up_what_is_there() {
    everywhere(look_up).iter().for_each(|found| check_looked_up(found));
}

/// Images through a convolution, a norm, pooling, heads of attention and dropout; what they need room for are its first parameters.
#[differentiable]
#[allow(clippy::too_many_arguments)]
fn pictures<A, V>(
    y: &mut A,
    a: &mut A,
    p: &mut A,
    n: &mut A,
    c: &mut A,
    mean: &mut V,
    variance: &mut V,
    x: &A,
    kernel: &A,
    bias: &V,
    gain: &V,
    rate: f32,
) where
    A: Images<f32, 2>,
    V: AnyArray<f32, Memory = A::Memory>,
{
    let same = Convolution { padding: [1, 1], ..Convolution::default() };
    conv2d(c, x, kernel, bias, same);
    batch_norm(n, &*c, gain, bias, mean, variance, 0.1, 1e-5);
    max_pool2d(p, &*n, Pooling::new([2, 2]));
    attention(a, &*p, &*p, &*p, 0.5, Mask::Causal);
    dropout(y, &*a, rate, 42, 7);
}

/// The gradients with respect to all operands, and how much had been allocated after each of three calls. `$four` and `$one` make arrays out of
/// the host's, and `$out` the host's out of gradients.
macro_rules! picture {
    ($A:ty, $V:ty; $four:expr, $one:expr, $out:expr, $after:expr) => {{
        let four = |shape: [usize; 4], seed| {
            $four(waves(Ix4(shape[0], shape[1], shape[2], shape[3]), seed).mapv(|x| x as f32))
        };
        let one = |seed| $one(waves(Ix1(3), seed).mapv(|x| x as f32));
        let (large, small) = ([2, 3, 6, 4], [2, 3, 3, 2]);
        let (mut y, mut a, mut p) = (four(small, 0.1), four(small, 0.2), four(small, 0.3));
        let (mut n, mut c, x, kernel) =
            (four(large, 0.4), four(large, 0.5), four([2, 2, 6, 4], 0.6), four([3, 2, 3, 3], 0.7));
        let (mut mean, mut variance, bias, gain) = (one(0.8), one(0.9), one(1.1), one(1.2));
        let seeds =
            [four(small, 1.3), four(small, 1.4), four(small, 1.5), four(large, 1.6), four(large, 1.7)];
        let [of_y, of_a, of_p, of_n, of_c] = &seeds;
        let [of_mean, of_variance] = [one(1.8), one(1.9)];
        let mut g = pictures::<$A, $V>::pullback();
        [(); 3].map(|()| {
            let ((), d) = g.value_and_pullback(
                &mut y,
                &mut a,
                &mut p,
                &mut n,
                &mut c,
                &mut mean,
                &mut variance,
                &x,
                &kernel,
                &bias,
                &gain,
                0.3,
                of_y,
                of_a,
                of_p,
                of_n,
                of_c,
                &of_mean,
                &of_variance,
            );
            let elements =
                [$out(d.x), $out(d.kernel), $out(d.bias), $out(d.gain), $out(d.mean), vec![d.rate]].concat();
            (elements, $after())
        })
    }};
}

type Pictured = [(Vec<f32>, usize); 3];

fn pictured_on_host() -> Pictured {
    fn out<D: Dimension>(array: &Array<f32, D>) -> Vec<f32> {
        array.iter().copied().collect()
    }
    fn same<X>(array: X) -> X {
        array
    }
    picture!(Array4<f32>, Array1<f32>; same, same, out, || 0)
}

fn pictured_on(device: &Device) -> Pictured {
    fn out<D: Dimension + Copy + 'static>(array: &DeviceArray<f32, D>) -> Vec<f32> {
        array.to_array().expect("memory").into_iter().collect()
    }
    picture!(
        DeviceArray<f32, Ix4>, DeviceArray<f32, Ix1>;
        |array: Array4<f32>| DeviceArray::from_array(device, &array).expect("memory"),
        |array: Array1<f32>| DeviceArray::from_array(device, &array).expect("memory"),
        out,
        || device.allocations()
    )
}

fn compare_pictures(found: &Pictured, expected: &Pictured) {
    for ((found, _), (expected, _)) in found.iter().zip(expected) {
        assert_eq!(found.len(), expected.len());
        let close = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-3 * (1.0 + b.abs()));
        assert!(close, "{found:?} instead of {expected:?}");
    }
    assert_eq!(found[1].1, found[2].1, "the second call allocates nothing on the device");
}

#[test]
fn pictures_on_the_host_and_on_a_device() {
    let expected = pictured_on_host();
    assert!(expected[0].0.iter().all(|x| x.is_finite()) && expected[0].0.iter().any(|x| x.abs() > 0.01));
    everywhere(pictured_on).iter().for_each(|found| compare_pictures(found, &expected));
}

/// In single precision, with as many columns as the epilogues of cuBLASLt take.
#[differentiable]
#[allow(clippy::too_many_arguments)]
fn layers<M: Matrix<f32>, V: AnyArray<f32, Memory = M::Memory>>(
    y: &mut M,
    h: &mut M,
    z: &mut M,
    x: &M,
    w1: &M,
    b1: &V,
    w2: &M,
    b2: &V,
    smooth: bool,
) {
    linear(z, x, w1, b1);
    if smooth {
        feed_forward(y, h, &*z, w1, b1, w2, b2, Activation::GeluTanh);
    } else {
        feed_forward(y, h, &*z, w1, b1, w2, b2, Activation::Relu);
    }
}

macro_rules! layered {
    ($M:ty, $V:ty; $two:expr, $one:expr, $out:expr) => {{
        // A row of zeros, and no bias there: what activations are given is exactly zero somewhere.
        let two = |rows, columns, seed| {
            let mut matrix = wave((rows, columns), seed).mapv(|x| x as f32);
            matrix.row_mut(0).fill(0.0);
            $two(matrix)
        };
        let one = |seed| {
            let mut vector = waves(Ix1(8), seed).mapv(|x| x as f32);
            vector[0] = 0.0;
            $one(vector)
        };
        let [mut y, mut h, mut z, of_y, of_h, of_z, x] =
            [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7].map(|seed| two(5, 8, seed));
        let ([w1, w2], [b1, b2]) = ([0.8, 0.9].map(|seed| two(8, 8, seed)), [1.1, 1.2].map(one));
        let mut g = layers::<$M, $V>::pullback();
        [false, true].map(|smooth| {
            let ((), d) = g.value_and_pullback(
                &mut y, &mut h, &mut z, &x, &w1, &b1, &w2, &b2, smooth, &of_y, &of_h, &of_z,
            );
            [$out(d.x), $out(d.w1), $out(d.b1), $out(d.w2), $out(d.b2)].concat()
        })
    }};
}

fn layered_on_host() -> [Vec<f32>; 2] {
    fn out<D: Dimension>(array: &Array<f32, D>) -> Vec<f32> {
        array.iter().copied().collect()
    }
    fn same<X>(array: X) -> X {
        array
    }
    layered!(Array2<f32>, Array1<f32>; same, same, out)
}

fn layered_on(device: &Device) -> [Vec<f32>; 2] {
    fn out<D: Dimension + Copy + 'static>(array: &DeviceArray<f32, D>) -> Vec<f32> {
        array.to_array().expect("memory").into_iter().collect()
    }
    layered!(
        DeviceArray<f32, Ix2>, DeviceArray<f32, Ix1>;
        |array: Array2<f32>| DeviceArray::from_array(device, &array).expect("memory"),
        |array: Array1<f32>| DeviceArray::from_array(device, &array).expect("memory"),
        out
    )
}

fn compare_layers(found: &[Vec<f32>; 2], expected: &[Vec<f32>; 2]) {
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found.len(), expected.len());
        let close = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-3 * (1.0 + b.abs()));
        assert!(close, "{found:?} instead of {expected:?}");
    }
}

#[test]
fn layers_on_the_host_and_on_a_device() {
    let expected = layered_on_host();
    assert!(expected[0] != expected[1]);
    everywhere(layered_on).iter().for_each(|found| compare_layers(found, &expected));
}

#[differentiable]
fn layer<M: Matrix<f32>, V: AnyArray<f32, Memory = M::Memory>>(y: &mut M, x: &M, w: &M, b: &V) {
    linear(y, x, w, b);
}

/// What a device is asked for by the second gradient of a network of that width.
fn requests(d: usize) -> Vec<String> {
    let (device, asked) = listening();
    let zeros = |rows, columns| DeviceArray::<f64, Ix2>::zeros(&device, (rows, columns)).expect("memory");
    let (mut losses, mut z, mut h, mut y) = (zeros(16, 1), zeros(16, d), zeros(16, d), zeros(16, d));
    let (x, w1, w2, target) = (zeros(16, d), zeros(d, d), zeros(d, d), zeros(16, d));
    let (one, seed) = (zeros(16, 1), zeros(16, d));
    let b1 = DeviceArray::<f64, Ix1>::zeros(&device, d).expect("memory");
    let mut g = row_losses::<DeviceArray<f64, Ix2>, DeviceArray<f64, Ix1>>::pullback();
    for _ in 0..2 {
        asked();
        g.value_and_pullback(
            &mut losses,
            &mut z,
            &mut h,
            &mut y,
            &x,
            &w1,
            &b1,
            &w2,
            &target,
            &one,
            &seed,
            &seed,
            &seed,
        );
        device.synchronize().expect("a device");
    }
    asked()
}

/// Shadows are cleared together, and so is what was overwritten brought back; large shadows that products add to are not cleared at all.
#[test]
fn a_gradient_asks_for_little() {
    let small = requests(64);
    let names: Vec<_> = small.iter().map(|request| request.split(' ').next().expect("a name")).collect();
    let forward =
        ["pb_move", "gemm,", "copy", "pb_bias_tanh_forward", "copy", "gemm,", "copy", "pb_squares_forward"];
    let backward =
        ["pb_squares_backward", "gemm,", "gemm,", "pb_bias_tanh_backward", "gemm,", "gemm,", "pb_move"];
    assert_eq!(names, [&forward[..], &backward].concat());
    let large = requests(1024);
    assert_eq!(large.len(), small.len());
    let adding = |requests: &[String]| requests.iter().filter(|request| *request == "gemm, β ≠ 0").count();
    // The hidden layer's shadow has been seeded.
    assert_eq!((adding(&small), adding(&large)), (4, 1));
}

/// Nor are those that products with an epilogue add to.
#[test]
fn a_layer_clears_no_weights() {
    let (device, asked) = listening();
    let zeros = |rows| DeviceArray::<f32, Ix2>::zeros(&device, (rows, 256)).expect("memory");
    let (mut y, x, w, seed) = (zeros(16), zeros(16), zeros(256), zeros(16));
    let b = DeviceArray::<f32, Ix1>::zeros(&device, 256).expect("memory");
    let mut g = layer::<DeviceArray<f32, Ix2>, DeviceArray<f32, Ix1>>::pullback();
    for _ in 0..2 {
        asked();
        g.value_and_pullback(&mut y, &x, &w, &b, &seed);
        device.synchronize().expect("a device");
    }
    let asked = asked();
    assert!(asked.iter().any(|request| request == "epilogue, β = 0"), "{asked:?}");
    assert!(!asked.iter().any(|request| request.starts_with("zero")), "{asked:?}");
}
