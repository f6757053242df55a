//! Products of matrices on the simulated device, and on the host.

use ndarray::{Ix2, Ix3};

use super::fused::{OnHost, Place, Results, compare, of, shadow, waves};
use crate::cuda::Device;
use crate::cuda::simulator::everywhere;
use crate::fused::Real;
use crate::{Ignored, MatrixScalar, Rule, Trans, general_product};

macro_rules! on {
    ($name:ident, $place:ty) => {
        pub(super) fn $name<T: Real + MatrixScalar>(place: &$place) -> Results {
            let mut results = Results::new();
            macro_rules! run {
                ($a:expr, $b:expr, $c:expr, $ta:ident, $tb:ident, $alpha:expr, $beta:expr, $forgone:expr) => {{
                    let (ta, tb) = (Trans::$ta, Trans::$tb);
                    let [alpha, beta] = [$alpha, $beta].map(<T as Real>::of);
                    let (a, b) = (place.array(waves::<T, _>($a, 0.1)), place.array(waves::<T, _>($b, 0.2)));
                    let mut c = place.array(waves::<T, _>($c, 0.3));
                    let mut rule = general_product::rule();
                    for parameter in $forgone {
                        rule.forgo(parameter);
                    }
                    let mut da = place.array(waves::<T, _>($a, 0.4));
                    let mut db = place.array(waves::<T, _>($b, 0.5));
                    let mut dc = place.array(waves::<T, _>($c, 0.6));
                    rule.forward(general_product::args(ta, tb, alpha, &a, &b, beta, &mut c));
                    results.push(("value", place.elements(&c)));
                    let shadows = (
                        Ignored, Ignored, Ignored, shadow(&mut da), shadow(&mut db), Ignored, shadow(&mut dc),
                    );
                    let args = general_product::args(ta, tb, alpha, &a, &b, beta, &mut c);
                    let (_, _, dalpha, _, _, dbeta, _) = rule.pullback((), args, shadows, ());
                    results.push(("restored", place.elements(&c)));
                    results.push(("shadow of A", place.elements(&da)));
                    results.push(("shadow of B", place.elements(&db)));
                    results.push(("shadow of C", place.elements(&dc)));
                    results.push(("factors", vec![of(dalpha), of(dbeta)]));
                }};
            }
            let all: [usize; 0] = [];
            run!(Ix2(5, 7), Ix2(7, 3), Ix2(5, 3), No, No, -1.5, 0.5, all);
            run!(Ix2(7, 5), Ix2(7, 3), Ix2(5, 3), Yes, No, 0.7, 0.0, [2]);
            run!(Ix2(5, 7), Ix2(3, 7), Ix2(5, 3), No, Yes, 0.7, 1.0, [5]);
            run!(Ix2(7, 5), Ix2(3, 7), Ix2(5, 3), Yes, Yes, 0.0, -1.0, all);
            run!(Ix2(5, 0), Ix2(0, 3), Ix2(5, 3), No, No, 0.7, 0.5, all);
            run!(Ix2(0, 2), Ix2(2, 3), Ix2(0, 3), No, No, 0.7, 0.5, all);
            run!(Ix3(4, 5, 7), Ix3(4, 7, 3), Ix3(4, 5, 3), No, No, -1.5, 0.5, all);
            run!(Ix3(4, 7, 5), Ix3(4, 3, 7), Ix3(4, 5, 3), Yes, Yes, 0.7, 0.0, [2, 5]);
            // The same weights for all: gradients that are sums, one of which is a single product.
            run!(Ix3(4, 5, 7), Ix2(7, 3), Ix3(4, 5, 3), No, No, -1.5, 0.5, all);
            run!(Ix3(4, 5, 7), Ix2(7, 3), Ix3(4, 5, 3), No, No, -1.5, 0.5, [2]);
            run!(Ix2(5, 7), Ix3(4, 7, 3), Ix3(4, 5, 3), No, No, 1.0, 1.0, all);
            run!(Ix3(1, 7, 5), Ix3(4, 3, 7), Ix3(4, 5, 3), Yes, Yes, 0.7, 0.5, all);
            run!(Ix2(5, 7), Ix3(1, 7, 3), Ix2(5, 3), No, No, 1.0, 0.0, all);
            run!(Ix3(0, 5, 7), Ix2(7, 3), Ix3(0, 5, 3), No, No, 1.0, 0.5, all);
            results
        }
    };
}
on!(on_host, OnHost);
on!(on_device, Device);

#[test]
fn the_device_multiplies_as_the_host_does() {
    let expected = (on_host::<f32>(&OnHost), on_host::<f64>(&OnHost));
    for (single, double) in everywhere(|device| (on_device::<f32>(device), on_device::<f64>(device))) {
        compare(&single, &expected.0, 1e-5, "f32");
        compare(&double, &expected.1, 1e-13, "f64");
    }
}

/// From the second pullback on nothing is allocated, whatever gradients are wanted.
#[test]
fn products_allocate_at_first() {
    let run = |device: &Device| {
        let on = |shape| place_of(device, shape);
        let (a, b, mut c) = (on([4, 5, 7]), on([1, 7, 3]), on([4, 5, 3]));
        let (mut da, mut db, mut dc) = (on([4, 5, 7]), on([1, 7, 3]), on([4, 5, 3]));
        let mut rule = general_product::rule();
        let calls = (0..3).map(|_| {
            let (ta, tb) = (Trans::No, Trans::No);
            rule.forward(general_product::args(ta, tb, 0.7, &a, &b, 0.5, &mut c));
            let shadows =
                (Ignored, Ignored, Ignored, shadow(&mut da), shadow(&mut db), Ignored, shadow(&mut dc));
            rule.pullback((), general_product::args(ta, tb, 0.7, &a, &b, 0.5, &mut c), shadows, ());
            device.allocations()
        });
        calls.collect::<Vec<_>>()
    };
    for allocations in everywhere(run) {
        assert_eq!(allocations[0], allocations[2]);
    }
}

fn place_of(device: &Device, [i, j, k]: [usize; 3]) -> crate::cuda::DeviceArray<f64, Ix3> {
    device.array(waves(Ix3(i, j, k), 0.1))
}
