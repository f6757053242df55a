//! Pooling by its definition, of views, and what it does where elements are equal or no numbers.

use ndarray::{Array4, array, s};
use pullback::nn::{Pooling, avg_pool2d, cases, max_pool1d, max_pool2d};
use pullback::{Ignored, Rule, Shadow, differentiable};

/// What the window holds at a place.
fn window(x: &Array4<f64>, [n, c, i, j]: [usize; 4], of: Pooling<2>) -> Vec<f64> {
    let mut held = Vec::new();
    for (k, l) in ndarray::indices((of.window[0], of.window[1])) {
        let row = (i * of.stride[0] + k).wrapping_sub(of.padding[0]);
        let column = (j * of.stride[1] + l).wrapping_sub(of.padding[1]);
        held.extend(x.get([n, c, row, column]));
    }
    held
}

#[test]
fn what_is_computed() {
    for (mut y, x, options) in cases::avg_pool2d::<f64>().inputs {
        let size = (options.window[0] * options.window[1]) as f64;
        avg_pool2d(&mut y, &x, options);
        for ((n, c, i, j), y) in y.indexed_iter() {
            let held = window(&x, [n, c, i, j], options);
            assert!((held.iter().sum::<f64>() / size - y).abs() < 1e-15, "{options:?}");
        }
        max_pool2d(&mut y, &x, options);
        for ((n, c, i, j), y) in y.indexed_iter() {
            let held = window(&x, [n, c, i, j], options);
            assert_eq!(held.into_iter().fold(f64::NEG_INFINITY, f64::max), *y, "{options:?}");
        }
    }
}

#[differentiable]
fn largest(x: &Array4<f64>) -> f64 {
    let mut y = Array4::<f64>::zeros((1, 1, 1, 2));
    max_pool2d(&mut y, x, Pooling::new([2, 2]));
    y.sum()
}

#[test]
fn ties_and_nan() {
    let mut g = largest::gradient();
    let x = array![[[[1.0, 2.0, 5.0, 5.0], [2.0, 2.0, 5.0, 1.0]]]];
    let (value, d) = g.value_and_gradient(&x);
    assert_eq!((value, d.x), (7.0, &array![[[[0.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0]]]]));
    let x = array![[[[1.0, 2.0, f64::NAN, 5.0], [f64::NAN, f64::NAN, 5.0, 1.0]]]];
    let (value, d) = g.value_and_gradient(&x);
    assert!(value.is_nan());
    assert_eq!(d.x, &array![[[[0.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, 0.0]]]]);
}

#[test]
#[should_panic(expected = "max_pool1d: the window holds nothing but padding")]
fn nothing_but_padding() {
    let options = Pooling { window: [2], stride: [1], padding: [2] };
    max_pool1d(&mut array![[[0.0, 0.0, 0.0, 0.0]]], &array![[[1.0]]], options);
}

/// One line in the place of a plane, and of all channels.
#[test]
fn views() {
    let line = Array4::from_shape_fn((1, 1, 1, 6), |(.., i)| ((3 * i) % 5) as f64);
    let planes = line.broadcast((1, 2, 4, 6)).expect("a view");
    let options = Pooling::new([2, 3]);
    let mut rules = (avg_pool2d::<f64>::rule(), max_pool2d::<f64>::rule());
    let (mut room, mut droom) = (Array4::from_elem((1, 2, 4, 2), 7.0), Array4::from_elem((1, 2, 4, 2), 0.5));
    let mut of_line = [Array4::zeros(line.raw_dim()), Array4::zeros(line.raw_dim())];
    let [of_average, of_maximum] = &mut of_line;
    for (rule, dline) in [(0, of_average), (1, of_maximum)] {
        let dplanes = dline.cell_view();
        let shadows = |part| {
            (Shadow::new(part), Shadow::new(dplanes.broadcast((1, 2, 4, 6)).expect("a view")), Ignored)
        };
        droom.fill(0.5);
        let cells = droom.cell_view();
        let part = cells.slice(s![.., .., ..;2, ..]);
        let mut y = room.slice_mut(s![.., .., ..;2, ..]);
        if rule == 0 {
            rules.0.forward((&mut y, &planes, options));
            rules.0.pullback((), (&mut y, &planes, options), shadows(part), ());
        } else {
            rules.1.forward((&mut y, &planes, options));
            rules.1.pullback((), (&mut y, &planes, options), shadows(part), ());
        }
        assert!(droom.slice(s![.., .., ..;2, ..]).iter().all(|&d| d == 0.0));
        assert!(droom.slice(s![.., .., 1..;2, ..]).iter().all(|&d| d == 0.5));
    }
    assert!(room.iter().all(|&y| y == 7.0));
    // Of 2 channels 2 rows of places; 2 rows in each window.
    assert!(of_line[0].iter().all(|d| (d - 0.5 * 4.0 * 2.0 / 6.0).abs() < 1e-14));
    // The line is 0, 3, 1, 4, 2, 0.
    assert_eq!(of_line[1], array![[[[0.0, 2.0, 0.0, 2.0, 0.0, 0.0]]]]);
}
