//! Convolutions by their definition, as parts of functions, and of views.

use ndarray::{Array1, Array3, Array4, array, s};
use pullback::nn::{Convolution, cases, conv1d, conv2d};
use pullback::testing::check_gradient;
use pullback::{Rule, Shadow, differentiable};

/// The sum in the documentation, with what is outside the image left out.
fn by_definition(
    x: &Array4<f64>,
    kernel: &Array4<f64>,
    bias: &Array1<f64>,
    y: &mut Array4<f64>,
    of: Convolution<2>,
) {
    let (inward, outward) = (kernel.dim().1, kernel.dim().0 / of.groups);
    for ((n, o, i, j), y) in y.indexed_iter_mut() {
        *y = bias[if bias.len() == 1 { 0 } else { o }];
        for c in 0..inward {
            for (k, l) in ndarray::indices((kernel.dim().2, kernel.dim().3)) {
                let row = (i * of.stride[0] + k * of.dilation[0]).wrapping_sub(of.padding[0]);
                let column = (j * of.stride[1] + l * of.dilation[1]).wrapping_sub(of.padding[1]);
                let met = x.get([n, o / outward * inward + c, row, column]);
                *y += kernel[[o, c, k, l]] * met.unwrap_or(&0.0);
            }
        }
    }
}

#[test]
fn what_is_computed() {
    for (mut y, x, kernel, bias, options) in cases::conv2d().inputs {
        let mut expected = y.clone();
        by_definition(&x, &kernel, &bias, &mut expected, options);
        conv2d(&mut y, &x, &kernel, &bias, options);
        assert!(y.iter().zip(&expected).all(|(y, expected)| (y - expected).abs() < 1e-14), "{options:?}");
    }
    // A line is a plane with one row.
    for (mut y, x, kernel, bias, options) in cases::conv1d().inputs {
        let plane = |line: &Array3<f64>| line.clone().insert_axis(ndarray::Axis(2));
        let (stride, padding, dilation) = (options.stride[0], options.padding[0], options.dilation[0]);
        let of_planes = Convolution {
            stride: [1, stride],
            padding: [0, padding],
            dilation: [1, dilation],
            groups: options.groups,
        };
        let mut expected = plane(&y);
        conv2d(&mut expected, &plane(&x), &plane(&kernel), &bias, of_planes);
        conv1d(&mut y, &x, &kernel, &bias, options);
        assert_eq!(plane(&y), expected);
    }
}

/// One image for a whole batch, a kernel whose shadow is a view, and a result in the midst of another array.
#[test]
fn views() {
    let image = Array4::from_shape_fn((1, 2, 4, 4), |(_, c, i, j)| (7 * c + 3 * i + j) as f64 * 0.1);
    let room = Array4::from_shape_fn((6, 2, 3, 3), |(o, c, i, j)| ((o + 2 * c + i * j) % 5) as f64 - 1.5);
    let (bias, options) = (array![0.5], Convolution { groups: 1, ..Convolution::default() });
    let batch = image.broadcast((3, 2, 4, 4)).expect("the same image");
    let kernel = room.slice(s![..;2, ..;-1, .., 1..]);
    let mut y = Array4::from_elem((3, 7, 2, 3), 7.0);
    let (mut dy, mut dimage) = (y.clone(), Array4::zeros(image.raw_dim()));
    let (mut droom, mut dbias) = (Array4::zeros(room.raw_dim()), array![0.0]);
    let mut rule = conv2d::<f64>::rule();
    rule.forward((&mut y.slice_mut(s![.., 1..;2, .., ..]), &batch, &kernel, &bias, options));
    {
        let (dy, dimage) = (dy.cell_view(), dimage.cell_view());
        let (droom, dbias) = (droom.cell_view(), dbias.cell_view());
        let shadows = (
            Shadow::new(dy.slice(s![.., 1..;2, .., ..])),
            Shadow::new(dimage.broadcast((3, 2, 4, 4)).expect("the same shadow")),
            Shadow::new(droom.slice(s![..;2, ..;-1, .., 1..])),
            Shadow::new(dbias),
            pullback::Ignored,
        );
        rule.pullback(
            (),
            (&mut y.slice_mut(s![.., 1..;2, .., ..]), &batch, &kernel, &bias, options),
            shadows,
            (),
        );
    }
    assert!(y.iter().all(|&y| y == 7.0));
    // The same with arrays.
    let (images, kernels) = (batch.to_owned(), kernel.to_owned());
    let mut whole = Array4::<f64>::zeros((3, 3, 2, 3));
    let mut gradients = [
        Array4::from_elem(whole.raw_dim(), 7.0),
        Array4::zeros(images.raw_dim()),
        Array4::zeros(kernels.raw_dim()),
    ];
    rule.forward((&mut whole, &images, &kernels, &bias, options));
    let [d, dimages, dkernels] = &mut gradients;
    let shadows = (
        Shadow::new(d.cell_view()),
        Shadow::new(dimages.cell_view()),
        Shadow::new(dkernels.cell_view()),
        Shadow::default(),
        pullback::Ignored,
    );
    rule.pullback((), (&mut whole, &images, &kernels, &bias, options), shadows, ());
    assert_eq!(dbias[0], 7.0 * 3.0 * 3.0 * 2.0 * 3.0);
    assert_eq!(droom.slice(s![..;2, ..;-1, .., 1..]), gradients[2]);
    assert_eq!(droom.slice(s![1..;2, .., .., ..]).sum(), 0.0);
    let summed = gradients[1].sum_axis(ndarray::Axis(0)).insert_axis(ndarray::Axis(0));
    assert!(dimage.iter().zip(&summed).all(|(d, sum)| (d - sum).abs() < 1e-12));
    assert_eq!(
        dy.slice(s![.., 1..;2, .., ..]).sum() + dy.slice(s![.., ..;2, .., ..]).sum(),
        7.0 * 3.0 * 4.0 * 6.0
    );
}

/// Two layers, one of them grouped and with strides.
#[differentiable]
fn network(x: &Array4<f64>, k: &Array4<f64>, l: &Array4<f64>, b: &Array1<f64>) -> f64 {
    let mut h = Array4::<f64>::zeros((2, 4, 5, 5));
    let same = Convolution { padding: [1, 1], ..Convolution::default() };
    conv2d(&mut h, x, k, b, same);
    let active = h.mapv(f64::tanh);
    let mut y = Array4::<f64>::zeros((2, 2, 2, 2));
    conv2d(
        &mut y,
        &active,
        l,
        &b.slice(s![1..3]),
        Convolution { stride: [2, 2], groups: 2, ..Default::default() },
    );
    (&y * &y).sum()
}

#[test]
fn in_a_function() {
    let filled = |shape: [usize; 4], start: f64| {
        let mut k = start;
        Array4::from_shape_simple_fn(shape, || {
            k += 0.7;
            k.sin()
        })
    };
    let (x, k) = (filled([2, 3, 5, 5], 0.1), filled([4, 3, 3, 3], 0.2));
    let (l, b) = (filled([2, 2, 3, 3], 0.3), array![0.1, -0.2, 0.3, 0.4]);
    let mut g = network::gradient();
    check_gradient(
        |(x, k, l, b)| network(x, k, l, b),
        |(x, k, l, b)| {
            let (value, d) = g.value_and_gradient(x, k, l, b);
            (value, (d.x.clone(), d.k.clone(), d.l.clone(), d.b.clone()))
        },
        [(x, k, l, b)],
    );
}
