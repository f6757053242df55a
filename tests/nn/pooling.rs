//! Pooling by its definition, of views, and what it does where elements are equal or no numbers.

use ndarray::{Array4, array, s};
use pullback::nn::{Pooling, avg_pool2d, cases, max_pool1d, max_pool2d};
use pullback::{Ignored, Rule, Shadow, differentiable, nn};

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

/// The gradient for a line that is all rows of all channels, where every other row of the result's array is another's.
macro_rules! of_line {
    ($pool:ident, $line:expr) => {{
        let (shape, options) = ((1, 2, 4, 6), Pooling::new([2, 3]));
        let planes = $line.broadcast(shape).expect("a view");
        let (mut room, mut droom) = (Array4::from_elem((1, 2, 4, 2), 7.0), Array4::from_elem((1, 2, 4, 2), 0.5));
        let mut dline = Array4::zeros($line.raw_dim());
        let mut rule = nn::$pool::<f64>::rule();
        {
            let (cells, dplanes) = (droom.cell_view(), dline.cell_view());
            let dy = Shadow::new(cells.slice(s![.., .., ..;2, ..]));
            let dplanes = Shadow::new(dplanes.broadcast(shape).expect("a view"));
            let mut y = room.slice_mut(s![.., .., ..;2, ..]);
            rule.forward((&mut y, &planes, options));
            rule.pullback((), (&mut y, &planes, options), (dy, dplanes, Ignored), ());
        }
        assert!(room.iter().all(|&y| y == 7.0));
        assert!(droom.slice(s![.., .., ..;2, ..]).iter().all(|&d| d == 0.0));
        assert!(droom.slice(s![.., .., 1..;2, ..]).iter().all(|&d| d == 0.5));
        dline
    }};
}

#[test]
fn views() {
    let line = array![[[[0.0, 3.0, 1.0, 4.0, 2.0, 0.0]]]];
    // Two channels, each with two rows of windows with two rows.
    let of_average = of_line!(avg_pool2d, line);
    assert!(of_average.iter().all(|d| (d - 0.5 * 4.0 * 2.0 / 6.0).abs() < 1e-14));
    assert_eq!(of_line!(max_pool2d, line), array![[[[0.0, 2.0, 0.0, 2.0, 0.0, 0.0]]]]);
}
