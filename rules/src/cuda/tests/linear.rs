//! Linear layers on the simulated device, which has the epilogues of cuBLASLt in single precision, and on the host.

use std::cell::Cell;

use ndarray::{Array2, Ix1, Ix2};

use super::fused::{OnHost, Place, Results, compare, shadow, waves};
use crate::cuda::simulator::everywhere;
use crate::cuda::{Device, DeviceArray};
use crate::fused::Real;
use crate::nn::generic::{Activation, feed_forward, linear};
use crate::{Ignored, Matrix, MatrixScalar, Rule, Shadow};

/// Rows, columns of X, and of Y; and how long the bias is. Some with as many columns as the epilogues take, and some others.
const SHAPES: [([usize; 3], usize); 6] =
    [([5, 7, 3], 3), ([4, 6, 8], 8), ([1, 1, 1], 1), ([9, 3, 16], 1), ([33, 5, 24], 24), ([3, 2, 130], 130)];

pub(super) fn layers<T: Real + MatrixScalar, P: Place<T>>(place: &P) -> Results
where
    P::Array<Ix2>: Matrix<T>,
{
    let mut results = Results::new();
    for ([rows, width, columns], length) in SHAPES {
        let (mut y, mut dy) =
            (place.array(waves(Ix2(rows, columns), 0.1)), place.array(waves(Ix2(rows, columns), 0.2)));
        let (x, mut dx) =
            (place.array(waves(Ix2(rows, width), 0.3)), place.array(waves(Ix2(rows, width), 0.4)));
        let (w, mut dw) =
            (place.array(waves(Ix2(width, columns), 0.5)), place.array(waves(Ix2(width, columns), 0.6)));
        let (b, mut db) = (place.array(waves(Ix1(length), 0.7)), place.array(waves(Ix1(length), 0.8)));
        let mut rule = linear::rule();
        for all in [true, false] {
            rule.forward(linear::args(&mut y, &x, &w, &b));
            results.push(("linear", place.elements(&y)));
            let of_w = if all { shadow(&mut dw) } else { Shadow::default() };
            rule.pullback(
                (),
                linear::args(&mut y, &x, &w, &b),
                (shadow(&mut dy), shadow(&mut dx), of_w, shadow(&mut db)),
                (),
            );
            for (name, array) in [("y", &y), ("shadow of y", &dy), ("shadow of x", &dx), ("shadow of w", &dw)]
            {
                results.push((name, place.elements(array)));
            }
            results.push(("shadow of b", place.elements(&db)));
            dy = place.array(waves(Ix2(rows, columns), 0.25));
        }
    }
    for activation in [Activation::Relu, Activation::GeluTanh] {
        for ([rows, width, columns], length) in SHAPES {
            results.extend(two_layers(place, [rows, width, columns, 5], length, activation));
        }
    }
    results
}

fn two_layers<T: Real + MatrixScalar, P: Place<T>>(
    place: &P,
    [rows, width, hidden, columns]: [usize; 4],
    length: usize,
    activation: Activation,
) -> Results
where
    P::Array<Ix2>: Matrix<T>,
{
    let mut results = Results::new();
    let seed = Cell::new(0.1);
    let next = || {
        seed.set(seed.get() + 0.37);
        seed.get()
    };
    let matrix = |rows, columns| {
        let mut elements: Array2<T> = waves(Ix2(rows, columns), next());
        // Layers that are exactly zero somewhere.
        elements.row_mut(0).fill(<T as Real>::of(0.0));
        place.array(elements)
    };
    let vector = |length| {
        let mut elements = waves(Ix1(length), next());
        elements[0] = <T as Real>::of(0.0);
        place.array(elements)
    };
    let (mut y, mut h, x) = (matrix(rows, columns), matrix(rows, hidden), matrix(rows, width));
    let (w1, b1) = (matrix(width, hidden), vector(length));
    let (w2, b2) = (matrix(hidden, columns), vector(1));
    let (mut dx, mut dw1, mut dw2) = (matrix(rows, width), matrix(width, hidden), matrix(hidden, columns));
    let (mut db1, mut db2) = (vector(length), vector(1));
    let mut rule = feed_forward::rule();
    for number in 0..3 {
        let (mut dy, mut dh) = (matrix(rows, columns), matrix(rows, hidden));
        macro_rules! args {
            () => {
                feed_forward::args(&mut y, &mut h, &x, &w1, &b1, &w2, &b2, activation)
            };
        }
        rule.forward(args!());
        results.push(("value", [place.elements(&y), place.elements(&h)].concat()));
        let of_h = if number == 1 { Shadow::default() } else { shadow(&mut dh) };
        let of_y = if number == 2 { Shadow::default() } else { shadow(&mut dy) };
        let shadows = (
            of_y,
            of_h,
            shadow(&mut dx),
            shadow(&mut dw1),
            shadow(&mut db1),
            shadow(&mut dw2),
            shadow(&mut db2),
            Ignored,
        );
        rule.pullback((), args!(), shadows, ());
        results.push(("restored", [place.elements(&y), place.elements(&h)].concat()));
        results.push(("emptied", [place.elements(&dy), place.elements(&dh)].concat()));
        results.push(("shadow of x", place.elements(&dx)));
        results.push(("shadows of the first layer", [place.elements(&dw1), place.elements(&db1)].concat()));
        results.push(("shadows of the second layer", [place.elements(&dw2), place.elements(&db2)].concat()));
    }
    results
}

#[test]
fn the_device_computes_linear_layers_as_the_host_does() {
    let expected = (layers::<f32, _>(&OnHost), layers::<f64, _>(&OnHost));
    for (single, double) in everywhere(|device| (layers::<f32, _>(device), layers::<f64, _>(device))) {
        compare(&single, &expected.0, 1e-5, "f32");
        compare(&double, &expected.1, 1e-13, "f64");
    }
}

/// Parts of matrices, whose columns are apart, and transposes; a bias that begins anywhere.
#[test]
fn in_parts() {
    use ndarray::{Axis, s};
    let (base, bias) = (waves::<f32, _>(Ix2(12, 40), 0.3), waves::<f32, _>(Ix1(20), 0.4));
    let run = |device: &Device| {
        let on = |array| DeviceArray::from_array(device, array).expect("memory");
        let (a, b) = (on(&base), DeviceArray::from_array(device, &bias).expect("memory"));
        let mut found = Vec::new();
        for start in [0, 1, 4] {
            let (rows, columns) = (a.slice_axis(Axis(0), 2..5), a.slice_axis(Axis(0), 4..12));
            let (x, w) = (rows.slice_axis(Axis(1), 3..11), columns.slice_axis(Axis(1), 8..24));
            let mut y = DeviceArray::<f32, Ix2>::zeros(device, (3, 20)).expect("memory");
            linear(
                &mut *y.slice_axis_mut(Axis(1), 4..20),
                &*x,
                &*w,
                &*b.slice_axis(Axis(0), start..start + 16),
            );
            found.push(y.to_array().expect("memory"));
            // Stored by columns: rows have gaps.
            let mut y = DeviceArray::<f32, Ix2>::zeros(device, (3, 16)).expect("memory");
            linear(
                &mut *y.slice_axis_mut(Axis(1), 0..3),
                &*x,
                &*w.slice_axis(Axis(1), 0..3),
                &*b.slice_axis(Axis(0), start..start + 3),
            );
            found.push(y.to_array().expect("memory"));
        }
        found
    };
    let mut expected = Vec::new();
    for start in [0, 1, 4] {
        let (x, w) = (base.slice(s![2..5, 3..11]), base.slice(s![4..12, 8..24]));
        for (at, columns, of) in [(4, 16, 20), (0, 3, 16)] {
            let mut y = Array2::zeros((3, of));
            let value = x.dot(&w.slice(s![.., ..columns])) + bias.slice(s![start..start + columns]);
            y.slice_mut(s![.., at..at + columns]).assign(&value);
            expected.push(y);
        }
    }
    for found in everywhere(run) {
        for (found, expected) in found.iter().zip(&expected) {
            assert!(
                (found - expected).iter().all(|error| error.abs() < 1e-5),
                "{found} instead of {expected}"
            );
        }
    }
}

/// From the second step on nothing is allocated on the device.
#[test]
fn layers_allocate_at_first() {
    let run = |device: &Device| {
        let on = |rows, columns| {
            DeviceArray::from_array(device, &waves::<f32, _>(Ix2(rows, columns), 0.1)).expect("memory")
        };
        let vector = |n| DeviceArray::from_array(device, &waves::<f32, _>(Ix1(n), 0.1)).expect("memory");
        let (mut y, mut h, x) = (on(6, 8), on(6, 16), on(6, 4));
        let (w1, b1, w2, b2) = (on(4, 16), vector(16), on(16, 8), vector(8));
        let [mut dy, mut dh, mut dx] = [(6, 8), (6, 16), (6, 4)].map(|(rows, columns)| on(rows, columns));
        let (mut dw1, mut db1, mut dw2, mut db2) = (on(4, 16), vector(16), on(16, 8), vector(8));
        let mut rule = feed_forward::rule();
        [(); 3].map(|()| {
            let activation = Activation::GeluTanh;
            rule.forward(feed_forward::args(&mut y, &mut h, &x, &w1, &b1, &w2, &b2, activation));
            let shadows = (
                shadow(&mut dy),
                shadow(&mut dh),
                shadow(&mut dx),
                shadow(&mut dw1),
                shadow(&mut db1),
                shadow(&mut dw2),
                shadow(&mut db2),
                Ignored,
            );
            rule.pullback(
                (),
                feed_forward::args(&mut y, &mut h, &x, &w1, &b1, &w2, &b2, activation),
                shadows,
                (),
            );
            device.allocations()
        })
    };
    for allocations in everywhere(run) {
        assert_eq!(allocations[0], allocations[2]);
    }
}
