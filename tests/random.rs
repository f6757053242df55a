//! Random numbers: their distributions, that they depend on seed and draw alone, and their gradients.
#![allow(missing_docs)]

use ndarray::{Array1, Array2, ArrayRef, Ix0, Ix1, Ix2, ShapeBuilder, arr0, array, s};
use pullback::testing::{CheckRule, CountingAllocator, check_gradient};
use pullback::{Ignored, Rule, Shadow, differentiable, random};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn matrix(shape: (usize, usize), by_columns: bool, start: f64) -> Array2<f64> {
    let mut x = Array2::zeros(shape.set_f(by_columns));
    x.indexed_iter_mut().for_each(|((i, j), x)| *x = (start + 1.3 * i as f64 + 0.7 * j as f64).sin());
    x
}

#[test]
fn rules() {
    let shapes = [(3, 4), (1, 1), (0, 3), (7, 5)];
    let uniform = |(i, shape)| (matrix(shape, i == 0, 0.3), -1.5, 0.5 + i as f64, i as u64, 42);
    CheckRule::new(random::uniform::<f64, Ix2>::rule)
        .allocating(0)
        .inputs(shapes.into_iter().enumerate().map(uniform))
        .run();
    CheckRule::new(random::uniform::<f32, Ix1>::rule)
        .allocating(0)
        .inputs([(array![1.0, 2.0, 3.0, 4.0, 5.0], -1.0, 2.0, 1, 1)])
        .run();
    let normal = |(i, shape): (usize, (usize, usize))| {
        (
            matrix(shape, i == 0, 0.3),
            matrix((1, shape.1), false, 0.5),
            matrix(shape, i == 3, 2.0),
            i as u64,
            42,
        )
    };
    let misfit = (matrix((2, 2), false, 0.0), matrix((3, 2), false, 0.0), matrix((2, 2), false, 0.0), 1, 1);
    CheckRule::new(random::normal::<f64, Ix2, Ix2, Ix2>::rule)
        .allocating(0)
        .inputs(shapes.into_iter().enumerate().map(normal))
        .panicking(misfit)
        .run();
    CheckRule::new(random::normal::<f32, Ix1, Ix0, Ix1>::rule)
        .allocating(0)
        .inputs([(array![1.0, 2.0, 3.0, 4.0, 5.0], arr0(0.5), array![2.0], 1, 1)])
        .run();
}

/// Moments up to the fourth, to five standard deviations.
fn check_moments(x: &ArrayRef<f64, Ix1>, expected: [f64; 4]) {
    let n = x.len() as f64;
    let moment = |k: i32| x.iter().map(|x| x.powi(k)).sum::<f64>() / n;
    for (k, expected) in (1..5).zip(expected) {
        let deviation = ((moment(2 * k) - moment(k).powi(2)) / n).sqrt();
        assert!((moment(k) - expected).abs() < 5.0 * deviation, "moment {k}: {} for {expected}", moment(k));
    }
}

#[test]
fn distributions() {
    let mut x = Array1::<f64>::zeros(100_001);
    random::uniform(&mut x, 0.0, 1.0, 5, 0);
    check_moments(&x, [1.0 / 2.0, 1.0 / 3.0, 1.0 / 4.0, 1.0 / 5.0]);
    assert!(x.iter().all(|x| (0.0..1.0).contains(x)));
    let mut y = x.clone();
    random::uniform(&mut y, 0.0, 1.0, 5, 1);
    // Draws, and adjacent numbers, have nothing to do with each other.
    let uncorrelated = |x: &Array1<f64>, y: &Array1<f64>| {
        let covariance = x.iter().zip(y).map(|(x, y)| (x - 0.5) * (y - 0.5)).sum::<f64>() / x.len() as f64;
        covariance.abs() < 5.0 / 12.0 / (x.len() as f64).sqrt()
    };
    assert!(uncorrelated(&x, &y));
    assert!(uncorrelated(&x.slice(s![1..]).to_owned(), &x.slice(s![..-1]).to_owned()));
    random::normal(&mut x, &arr0(0.0), &arr0(1.0), 5, 0);
    check_moments(&x, [0.0, 1.0, 0.0, 3.0]);
    let mut single = Array1::<f32>::zeros(100_001);
    random::normal(&mut single, &arr0(0.0), &arr0(1.0), 5, 0);
    check_moments(&single.mapv(f64::from), [0.0, 1.0, 0.0, 3.0]);
    random::uniform(&mut single, 0.0, 1.0, 5, 0);
    check_moments(&single.mapv(f64::from), [1.0 / 2.0, 1.0 / 3.0, 1.0 / 4.0, 1.0 / 5.0]);
    assert!(single.iter().all(|x| (0.0..1.0).contains(x)));
}

/// The first numbers, which follow from the published vectors of Philox, on every machine and for ever.
#[test]
fn numbers_stay_the_same() {
    let mut x = Array1::<f64>::zeros(2);
    random::uniform(&mut x, 0.0, 1.0, 0, 0);
    let word = |high: u64, low: u64| ((high << 32 | low) >> 11) as f64 / (1_u64 << 53) as f64;
    assert_eq!(x, array![word(0xe169_c58d, 0x6627_e8d5), word(0x9b00_dbd8, 0xbc57_ac4c)]);
    let mut x = Array1::<f32>::zeros(4);
    random::uniform(&mut x, 0.0, 1.0, 0, 0);
    let words = [0x6627_e8d5_u32, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8];
    assert_eq!(x.to_vec(), words.map(|word| (word >> 8) as f32 / (1 << 24) as f32));
}

/// The expectation of (μ + σ·ε)² by a sample, and a sum over a sample of another length in a loop.
#[differentiable]
fn sampled(mean: f64, deviation: f64, width: f64, seed: u64) -> f64 {
    let (centre, spread) = (array![mean], array![deviation]);
    let mut total = 0.0;
    for step in 0..3 {
        let mut z = Array1::<f64>::zeros(5);
        random::normal(&mut z, &centre, &spread, seed, step as u64);
        total += (&z * &z).sum();
        let mut u = Array1::<f64>::zeros(3);
        random::uniform(&mut u, mean, mean + width, seed, 10 + step as u64);
        total += (&u * &u).sum();
    }
    total
}

#[test]
fn in_a_function() {
    let mut g = sampled::gradient();
    check_gradient(
        |(mean, deviation, width)| sampled(*mean, *deviation, *width, 7),
        |(mean, deviation, width)| {
            let (value, d) = g.value_and_gradient(*mean, *deviation, *width, 7);
            (value, (d.mean, d.deviation, d.width))
        },
        [(0.5, 1.5, 2.0), (-1.0, 0.3, -0.7)],
    );
}

/// A mean that is broadcast by the caller, and a result that is a view.
#[test]
fn views() {
    let mean = array![0.5];
    let wide = mean.broadcast((2, 3)).expect("a view");
    let deviation = matrix((3, 2), false, 1.0);
    let (mut room, mut droom) = (matrix((4, 3), false, 0.1), Array2::from_elem((4, 3), 2.0));
    let before = room.clone();
    let (mut dmean, mut ddeviation) = (array![0.0], Array2::zeros((3, 2)));
    let mut rule = random::normal::<f64, Ix2, Ix2, Ix2>::rule();
    let mut noise = Array2::zeros((2, 3));
    random::normal(&mut noise, &arr0(0.0), &arr0(1.0), 3, 4);
    {
        let mut y = room.slice_mut(s![..;-2, ..]);
        rule.forward((&mut y, &wide, &deviation.t(), 3, 4));
        assert_eq!(y, &noise * &deviation.t() + 0.5);
        let (droom, dmean, ddeviation) = (droom.cell_view(), dmean.cell_view(), ddeviation.cell_view());
        let shadows = (
            Shadow::new(droom.slice(s![..;-2, ..])),
            Shadow::new(dmean.broadcast((2, 3)).expect("a view")),
            Shadow::new(ddeviation.t()),
            Ignored,
            Ignored,
        );
        rule.pullback((), (&mut y, &wide, &deviation.t(), 3, 4), shadows, ());
    }
    assert_eq!(room, before);
    assert_eq!((dmean[0], ddeviation), (12.0, noise.t().mapv(|e| 2.0 * e)));
    assert_eq!(droom.sum(), 12.0);
}
