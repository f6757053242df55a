//! Norms of channels by what they are for, as parts of functions, and of views.

use ndarray::{Array1, Array2, Array3, Array4, Axis, Ix3, array, s};
use pullback::nn::{batch_norm, batch_norm_inference, group_norm, layer_norm};
use pullback::testing::check_gradient;
use pullback::{Ignored, Rule, Shadow, differentiable};

fn waves(shape: (usize, usize, usize)) -> Array3<f64> {
    Array3::from_shape_fn(shape, |(i, j, k)| {
        (1.3 * i as f64 + 0.7 * j as f64 + 2.1 * k as f64).sin() + j as f64
    })
}

/// Each channel has mean 0 and variance 1 afterwards; averages that have run along for long do the same.
#[test]
fn what_is_computed() {
    let x = waves((4, 3, 5));
    let (one, none) = (array![1.0], array![0.0]);
    let (mut y, mut z) = (x.clone(), x.clone());
    let (mut mean, mut variance) = (Array1::zeros(3), Array1::ones(3));
    for _ in 0..200 {
        batch_norm(&mut y, &x, &one, &none, &mut mean, &mut variance, 0.1, 0.0);
    }
    for (c, channel) in y.axis_iter(Axis(1)).enumerate() {
        assert!(channel.mean().expect("elements").abs() < 1e-14 && (channel.var(0.0) - 1.0).abs() < 1e-14);
        let x = x.index_axis(Axis(1), c);
        assert!(
            (mean[c] - x.mean().expect("elements")).abs() < 1e-8 && (variance[c] - x.var(1.0)).abs() < 1e-8
        );
    }
    batch_norm_inference(&mut z, &x, &one, &none, &mean, &variance.mapv(|v| v * 19.0 / 20.0), 0.0);
    assert!(y.iter().zip(&z).all(|(y, z)| (y - z).abs() < 1e-7));
}

/// One group is a norm of whole layers.
#[test]
fn a_single_group() {
    let x = Array2::from_shape_fn((3, 6), |(i, j)| (1.3 * i as f64 + 0.7 * j as f64).sin());
    let (gain, bias) = (Array1::linspace(0.5, 1.5, 6), Array1::linspace(-1.0, 1.0, 6));
    let (mut y, mut z) = (x.clone(), x.clone());
    group_norm(&mut y, &x, &gain, &bias, 1, 0.1);
    layer_norm(&mut z, &x, &gain, &bias, 0.1, Axis(1));
    assert!(y.iter().zip(&z).all(|(y, z)| (y - z).abs() < 1e-14));
}

/// Two steps of training, whose running averages normalise another array.
#[differentiable]
fn training(x: &Array3<f64>, gain: &Array1<f64>, bias: &Array1<f64>, momentum: f64) -> f64 {
    let mut mean = Array1::<f64>::zeros(3);
    let mut variance = Array1::<f64>::ones(3);
    let mut total = 0.0;
    for step in 0..2 {
        let mut y = Array3::<f64>::zeros((4, 3, 5));
        batch_norm(&mut y, x, gain, bias, &mut mean, &mut variance, momentum, 0.1 + step as f64);
        let mut z = Array3::<f64>::zeros((4, 3, 5));
        group_norm(&mut z, &y, gain, bias, 3, 0.2);
        total += (&z * x).sum();
    }
    let mut y = Array3::<f64>::zeros((4, 3, 5));
    batch_norm_inference(&mut y, x, gain, bias, &mean, &variance, 0.1);
    total + (&y * &y).sum()
}

#[test]
fn in_a_function() {
    let mut g = training::gradient();
    check_gradient(
        |(x, gain, bias, momentum)| training(x, gain, bias, *momentum),
        |(x, gain, bias, momentum)| {
            let (value, d) = g.value_and_gradient(x, gain, bias, *momentum);
            (value, (d.x.clone(), d.gain.clone(), d.bias.clone(), d.momentum))
        },
        [(waves((4, 3, 5)), array![0.5, 1.0, -2.0], array![0.1, -0.3, 0.2], 0.3)],
    );
}

/// One member in the place of three, read from and written to the midst of other arrays.
#[test]
fn views() {
    let base = waves((1, 4, 9));
    let x = base.slice(s![.., ..;-2, ..;2]);
    let x = x.broadcast((3, 2, 5)).expect("a view");
    let (gain, bias) = (array![0.5, 2.0], array![0.1]);
    let mut room = Array4::from_elem((3, 2, 2, 5), 7.0);
    let mut droom = Array4::from_shape_fn((3, 2, 2, 5), |(i, j, k, l)| (i + 2 * j + k * l) as f64 - 3.0);
    let seed = droom.index_axis(Axis(2), 1).to_owned();
    let beside = droom.index_axis(Axis(2), 0).to_owned();
    let mut dbase = Array3::zeros(base.raw_dim());
    let (mut dgain, mut dbias) = (Array1::zeros(2), Array1::zeros(1));
    let mut rule = group_norm::<f64, Ix3>::rule();
    {
        let (droom, dbase) = (droom.cell_view(), dbase.cell_view());
        let dx = dbase.slice(s![.., ..;-2, ..;2]);
        let mut y = room.index_axis_mut(Axis(2), 1);
        rule.forward((&mut y, &x, &gain, &bias, 2, 0.1));
        let shadows = (
            Shadow::new(droom.index_axis(Axis(2), 1)),
            Shadow::new(dx.broadcast((3, 2, 5)).expect("a view")),
            Shadow::new(dgain.cell_view()),
            Shadow::new(dbias.cell_view()),
            Ignored,
            Ignored,
        );
        rule.pullback((), (&mut y, &x, &gain, &bias, 2, 0.1), shadows, ());
    }
    assert!(room.iter().all(|&y| y == 7.0));
    assert!(droom.index_axis(Axis(2), 1).iter().all(|&d| d == 0.0));
    assert_eq!(droom.index_axis(Axis(2), 0), beside);
    // The same with arrays.
    let x = x.to_owned();
    let (mut y, mut dy, mut dx) = (x.clone(), seed, Array3::zeros((3, 2, 5)));
    let (mut other_gain, mut other_bias) = (Array1::zeros(2), Array1::zeros(1));
    rule.forward((&mut y, &x, &gain, &bias, 2, 0.1));
    let shadows = (
        Shadow::new(dy.cell_view()),
        Shadow::new(dx.cell_view()),
        Shadow::new(other_gain.cell_view()),
        Shadow::new(other_bias.cell_view()),
        Ignored,
        Ignored,
    );
    rule.pullback((), (&mut y, &x, &gain, &bias, 2, 0.1), shadows, ());
    assert_eq!((dgain, dbias), (other_gain, other_bias));
    let summed = dx.sum_axis(Axis(0)).insert_axis(Axis(0));
    let found = dbase.slice(s![.., ..;-2, ..;2]);
    assert!(found.iter().zip(&summed).all(|(d, sum)| (d - sum).abs() < 1e-13));
    assert_eq!(dbase.iter().filter(|d| **d != 0.0).count(), 10);
}
