//! Arrays on the simulated device.

use std::cell::RefCell;

use ndarray::{Array2, Axis, Ix1, Ix2, Ix3, arr0, array, s};

use super::expressions::*;
use super::fused::{shadow, waves};
use crate::cuda::simulator::{everywhere, sources};
use crate::cuda::{Device, DeviceArray, Error};
use crate::fused::Rank;
use crate::nn::generic::linear;
use crate::{Differentiable, Ignored, Rule, Shadow, product};

#[test]
fn a_machine_without_a_driver_says_so() {
    // SAFETY: it loads a library that is meant to be loaded.
    match (unsafe { cudarc::driver::sys::is_culib_present() }, Device::new(4096)) {
        (false, Err(error)) => {
            assert_eq!(error, Error::Missing { library: "libcuda" });
            assert!(error.to_string().contains("libcuda cannot be loaded"));
        }
        (true, Err(Error::NoDevice { ordinal: 4096, .. } | Error::Driver { .. })) => {}
        (_, result) => panic!("{result:?}"),
    }
}

#[test]
fn copies_and_views() {
    let x = waves::<f32, _>(Ix3(3, 4, 5), 0.2);
    let z = waves::<f32, _>(Ix2(4, 2), 0.4);
    let run = |device: &Device| {
        let mut a = DeviceArray::from_array(device, &x).expect("memory");
        let views = (
            a.to_array().expect("memory"),
            a.t().to_array().expect("memory"),
            a.slice_axis(Axis(2), 1..4).to_array().expect("memory"),
            a.index_axis(Axis(1), 2).to_array().expect("memory"),
            a.slice_axis(Axis(0), 1..1).to_array().expect("memory"),
        );
        let mut part = a.slice_axis_mut(Axis(0), 1..2);
        let mut column = part.slice_axis_mut(Axis(2), 3..5);
        let shape = column.copy_from(&z.view().insert_axis(Axis(0)).slice(s![.., .., ..1]));
        column.copy_from(&z.view().insert_axis(Axis(0))).expect("the same shape");
        let zeros = DeviceArray::<f32, Ix1>::zeros(device, 3).expect("memory").to_array().expect("memory");
        let one =
            DeviceArray::from_array(device, &arr0(2.5_f32)).expect("memory").to_array().expect("memory");
        // By rows, by columns, from a part and into one of another shape.
        let (mut by_rows, mut by_columns) = (waves(Ix2(4, 5), 0.0), waves(Ix2(5, 4), 0.0));
        let plane = a.index_axis(Axis(0), 2);
        plane.copy_to(&mut by_rows).expect("the same shape");
        plane.copy_to(&mut by_columns.view_mut().reversed_axes()).expect("the same shape");
        plane.slice_axis(Axis(1), 1..3).copy_to(&mut by_rows.slice_mut(s![.., 3..])).expect("the same shape");
        let copied = (by_rows, by_columns, plane.copy_to(&mut waves(Ix2(5, 4), 0.0)));
        (views, shape, a.to_array().expect("memory"), zeros, one, copied)
    };
    let mut written = x.clone();
    written.slice_mut(s![1, .., 3..5]).assign(&z);
    let plane = x.index_axis(Axis(0), 2);
    let mut twice = plane.to_owned();
    twice.slice_mut(s![.., 3..]).assign(&plane.slice(s![.., 1..3]));
    for ((whole, turned, part, row, none), shape, after, zeros, one, copied) in everywhere(run) {
        assert_eq!(whole, x);
        assert_eq!(turned, x.t());
        assert_eq!(part, x.slice(s![.., .., 1..4]));
        assert_eq!(row, x.slice(s![.., 2, ..]));
        assert_eq!(none.dim(), (0, 4, 5));
        assert_eq!(shape, Err(Error::Shape { expected: vec![1, 4, 2], found: vec![1, 4, 1] }));
        assert_eq!(after, written);
        assert_eq!((zeros, one), (array![0.0, 0.0, 0.0], arr0(2.5)));
        let refused = Err(Error::Shape { expected: vec![4, 5], found: vec![5, 4] });
        assert_eq!(copied, (twice.clone(), plane.t().to_owned(), refused));
    }
}

/// More than stages have room for, and more copies than there are stages, none of which is waited for.
#[test]
fn copies_by_way_of_stages() {
    let large = waves::<f64, _>(Ix1(800_003), 0.3);
    let small: Vec<_> = (0..5).map(|i| waves::<f32, _>(Ix1(10 + i), i as f64)).collect();
    let run = |device: &Device| {
        let mut elements = large.clone();
        let a = DeviceArray::from_array(device, &elements).expect("memory");
        // They are free again.
        elements.fill(0.0);
        let mut arrays: Vec<_> =
            small.iter().map(|x| DeviceArray::from_array(device, x).expect("memory")).collect();
        for (x, array) in small.iter().zip(&mut arrays) {
            array.copy_from(&(2.0_f32 * x)).expect("the same shape");
        }
        let small: Vec<_> = arrays.iter().map(|array| array.to_array().expect("memory")).collect();
        (a.to_array().expect("memory"), small)
    };
    for (large_again, small_again) in everywhere(run) {
        assert!(large_again == large);
        assert!(small_again.iter().zip(&small).all(|(again, x)| *again == 2.0_f32 * x));
    }
}

/// A graph would copy again and again what was there once.
#[test]
fn a_graph_is_refused_what_it_cannot_do_again() {
    let run = |device: &Device| {
        let mut x = DeviceArray::<f32, Ix1>::zeros(device, 3).expect("memory");
        let recorder = device.record().expect("a device");
        let refused = [
            x.copy_from(&array![1.0, 2.0, 3.0]),
            x.to_array().map(|_| ()),
            DeviceArray::<f32, Ix1>::zeros(device, 3).map(|_| ()),
            device.synchronize(),
            device.record().map(|_| ()),
        ];
        let recorded = recorder.finish().map(|_| ());
        (refused, recorded, x.copy_from(&array![1.0, 2.0, 3.0]), x.to_array())
    };
    for (refused, recorded, copied, x) in everywhere(run) {
        assert!(refused.iter().all(|result| matches!(result, Err(Error::Capture { .. }))), "{refused:?}");
        assert_eq!((recorded, copied, x), (Ok(()), Ok(()), Ok(array![1.0, 2.0, 3.0])));
    }
}

/// The graph would use it again.
#[test]
fn memory_that_is_given_back_while_a_graph_is_recorded() {
    let run = |device: &Device| {
        let on = |x: f32| DeviceArray::from_array(device, &array![x]).expect("memory");
        let (x, mut y, z) = (on(1.0), on(2.0), on(3.0));
        copied(&mut y, &z);
        let recorder = device.record().expect("a device");
        copied(&mut y, &x);
        drop(x);
        let recorded = recorder.finish().map(|_| ());
        (recorded, y.to_array(), on(4.0).to_array())
    };
    for results in everywhere(run) {
        let refused = Err(Error::Capture { reason: "it gives memory back" });
        assert_eq!(results, (refused, Ok(array![3.0]), Ok(array![4.0])));
    }
}

/// What they ask for meanwhile would become a part of the graph, or be refused.
#[test]
fn other_threads_wait_until_a_graph_is_recorded() {
    let run = |device: &Device| {
        let on = |x: f32| DeviceArray::from_array(device, &array![x]).expect("memory");
        let (x, mut y, mut z) = (on(1.0), on(2.0), on(3.0));
        copied(&mut y, &x);
        let graph = std::thread::scope(|scope| {
            let recorder = device.record().expect("a device");
            let other = scope.spawn(|| {
                let w = on(5.0);
                copied(&mut z, &w);
            });
            std::thread::sleep(std::time::Duration::from_millis(20));
            copied(&mut y, &x);
            let graph = recorder.finish().expect("a graph");
            other.join().expect("nothing is refused");
            graph
        });
        let before = z.to_array();
        z.copy_from(&array![6.0]).expect("the same shape");
        device.replay(&*graph).expect("a device");
        (before, y.to_array(), z.to_array())
    };
    for results in everywhere(run) {
        assert_eq!(results, (Ok(array![5.0]), Ok(array![1.0]), Ok(array![6.0])));
    }
}

/// Devices of the same card have a context in common, and libraries that wait for all of it when a device goes.
#[test]
fn a_device_may_come_and_go_while_another_one_records() {
    let run = |device: &Device| {
        let on = |x: f32| DeviceArray::from_array(device, &array![x]).expect("memory");
        let (x, mut y) = (on(1.0), on(2.0));
        copied(&mut y, &x);
        let recorder = device.record().expect("a device");
        let made = std::thread::spawn(|| {
            Device::new(0).map(|other| {
                let x = DeviceArray::from_array(&other, &array![[3.0_f32]]).expect("memory");
                let mut y = DeviceArray::<f32, Ix2>::zeros(&other, (1, 1)).expect("memory");
                product(&mut y, &x, &x);
                y.to_array()
            })
        });
        let made = made.join().expect("no panic");
        copied(&mut y, &x);
        let recorded = recorder.finish().map(|graph| device.replay(&*graph));
        (made, recorded, y.to_array())
    };
    for (made, recorded, y) in everywhere(run) {
        assert!(matches!(made, Ok(Ok(_)) | Err(Error::Missing { .. } | Error::NoDevice { .. })), "{made:?}");
        assert_eq!((recorded, y), (Ok(Ok(())), Ok(array![1.0])));
    }
}

#[test]
fn products_of_matrices() {
    let (a, b) = (waves::<f64, _>(Ix2(5, 7), 0.1), waves::<f64, _>(Ix2(7, 3), 0.2));
    let (da, db) = (waves::<f64, _>(Ix2(5, 7), 0.3), waves::<f64, _>(Ix2(7, 3), 0.4));
    let (c, dc) = (waves::<f64, _>(Ix2(5, 3), 0.5), waves::<f64, _>(Ix2(5, 3), 0.6));
    let close = |x: &Array2<f64>, y: &Array2<f64>| (x - y).iter().all(|error| error.abs() < 1e-13);
    let run = |device: &Device| {
        let on = |array: &Array2<f64>| DeviceArray::from_array(device, array).expect("memory");
        let (a, b, mut c) = (on(&a), on(&b), on(&c));
        let (mut da, mut db, mut dc) = (on(&da), on(&db), on(&dc));
        let mut rule = product::rule();
        let mut allocations = Vec::new();
        let mut values = Vec::new();
        for _ in 0..3 {
            rule.forward(product::args(&mut c, &a, &b));
            values.push(c.to_array().expect("memory"));
            let shadows = (shadow(&mut dc), shadow(&mut da), shadow(&mut db));
            rule.pullback((), product::args(&mut c, &a, &b), shadows, ());
            allocations.push(device.allocations());
        }
        let restored = c.to_array().expect("memory");
        let gradients = [da, db, dc].map(|d| d.to_array().expect("memory"));
        (values, restored, gradients, allocations)
    };
    for (values, restored, [new_da, new_db, new_dc], allocations) in everywhere(run) {
        assert!(values.iter().all(|value| close(value, &a.dot(&b))));
        assert_eq!(restored, c);
        // The first pullback empties the shadow of C.
        assert!(close(&new_da, &(&da + dc.dot(&b.t()))) && close(&new_db, &(&db + a.t().dot(&dc))));
        assert_eq!(new_dc, Array2::<f64>::zeros((5, 3)));
        assert_eq!(allocations[0], allocations[2], "the first activation allocates, and no other");
    }
}

/// Two activations are pending at once; buffers belong to the rule.
#[test]
fn a_rule_allocates_at_its_first_activations_only() {
    let x = waves::<f64, _>(Ix2(6, 40), 0.1);
    let run = |device: &Device| {
        let on = |array: &Array2<f64>| DeviceArray::from_array(device, array).expect("memory");
        let (x, gain, mut y) = (on(&x), on(&x), on(&x));
        let [mut dx, mut dg, mut dy] = [(); 3].map(|()| on(&x.to_array().expect("memory")));
        let mut rule = layer_norm::rule();
        let mut allocations = Vec::new();
        for _ in 0..3 {
            for _ in 0..2 {
                rule.forward(layer_norm::args(&mut y, &x, &gain, &gain, 0.1, Axis(1)));
            }
            for _ in 0..2 {
                let shadows =
                    (shadow(&mut dy), shadow(&mut dx), shadow(&mut dg), Shadow::default(), Ignored, Ignored);
                rule.pullback((), layer_norm::args(&mut y, &x, &gain, &gain, 0.1, Axis(1)), shadows, ());
            }
            allocations.push(device.allocations());
        }
        (allocations, y.to_array().expect("memory"))
    };
    for (allocations, y) in everywhere(run) {
        assert_eq!(allocations[0], allocations[2]);
        assert_eq!(y, x, "restored");
    }
}

/// Shadows of operands with elements in common: what one adds the other finds.
#[test]
fn shadows_that_overlap() {
    let x = waves::<f64, _>(Ix2(4, 70), 0.3);
    let d = waves::<f64, _>(Ix2(4, 70), 0.5);
    let ranges = [(0..69, 1..70), (0..69, 0..69), (0..60, 10..70)];
    let run = |device: &Device| {
        let x = DeviceArray::from_array(device, &x).expect("memory");
        let mut results = Vec::new();
        for (left, right) in ranges.clone() {
            let (a, b) = (x.slice_axis(Axis(1), left.clone()), x.slice_axis(Axis(1), right.clone()));
            let mut y = DeviceArray::<f64, Ix2>::zeros(device, (4, left.len())).expect("memory");
            let mut dy =
                DeviceArray::from_array(device, &waves::<f64, _>(Ix2(4, left.len()), 0.7)).expect("memory");
            let shadows = DeviceArray::from_array(device, &d).expect("memory");
            let part =
                |range: std::ops::Range<usize>| Shadow::new(shadows.slice_axis(Axis(1), range).as_shadow());
            let mut rule = scaled::rule();
            rule.forward(scaled::args(&mut *y, &*a, &*b, 0.9));
            let all = (shadow(&mut dy), part(left), part(right), Ignored);
            rule.pullback((), scaled::args(&mut *y, &*a, &*b, 0.9), all, ());
            results.push(shadows.to_array().expect("memory"));
        }
        results
    };
    let mut expected = Vec::new();
    for (left, right) in ranges.clone() {
        let (a, b) = (x.slice(s![.., left.clone()]), x.slice(s![.., right.clone()]));
        let mut y = Array2::zeros((4, left.len()));
        let mut dy = waves::<f64, _>(Ix2(4, left.len()), 0.7);
        let mut shadows = d.clone();
        let cells = shadows.cell_view();
        let part = |range: std::ops::Range<usize>| Shadow::new(cells.slice_move(s![.., range]));
        let mut rule = scaled_on_host::rule();
        rule.forward(scaled_on_host::args(&mut y, &a, &b, 0.9));
        let all = (Shadow::new(dy.cell_view()), part(left), part(right), Ignored);
        rule.pullback((), scaled_on_host::args(&mut y, &a, &b, 0.9), all, ());
        expected.push(shadows);
    }
    for results in everywhere(run) {
        for (result, expected) in results.iter().zip(&expected) {
            assert!(
                (result - expected).iter().all(|error| error.abs() < 1e-13),
                "{result} instead of {expected}"
            );
        }
    }
}

/// The kernels of `affine_tanh` for an operand and one that may be broadcast, and where the first of them begins.
fn kernels(
    shape: (usize, usize),
    other: (usize, usize),
    start: usize,
) -> std::collections::BTreeMap<String, String> {
    let mut sources = sources(|device| {
        let zeros = |rows, columns| DeviceArray::<f32, Ix2>::zeros(device, (rows, columns)).expect("memory");
        let (x, row, mut y) =
            (zeros(shape.0, shape.1 + start), zeros(other.0, other.1), zeros(shape.0, shape.1));
        affine_tanh(&mut *y, &*x.slice_axis(Axis(1), start..start + shape.1), &*row, &*row);
    });
    sources.retain(|name, _| name.contains("affine_tanh"));
    sources
}

/// Sizes are arguments: another shape of the same kind takes no other kernel. Whatever else there is, the kernel is made for.
#[test]
fn kernels_are_the_same_for_all_sizes() {
    let usual = kernels((30, 40), (1, 40), 0);
    assert_eq!(usual, kernels((500, 64), (1, 64), 0));
    assert!(usual.values().all(|source| source.contains("pb_vector<T, 4> v0")), "four at a time");
    // Elements between vectors, by their address or by the length of rows.
    let single = kernels((30, 40), (1, 40), 1);
    assert_eq!(single, kernels((30, 41), (1, 41), 0));
    assert!(!single.is_empty() && single.values().all(|source| !source.contains("pb_vector<T, 4>")));
    // All of it one axis, with gaps between rows, and other patterns of broadcasting.
    let others = [((30, 40), 0), ((30, 40), 8), ((30, 1), 0), ((1, 1), 0)]
        .map(|(other, start)| kernels((30, 40), other, start));
    let all: Vec<_> = [usual, single].into_iter().chain(others).collect();
    for (i, kernels) in all.iter().enumerate() {
        assert!(!kernels.is_empty() && all[..i].iter().all(|other| other != kernels), "{i}");
    }
    let wide = kernels((1 << 20, 1 << 14), (1, 1 << 14), 0);
    assert!(wide.values().all(|source| source.contains("typedef long long index")), "too many for 32 bits");
}

/// Elements that are further apart than 32 bits count, of which the system gives memory only where somebody looks.
#[test]
fn far_apart() {
    let (x, w) = (waves::<f32, _>(Ix2(1025, 4), 0.2), waves::<f32, _>(Ix2(1, 4), 0.3));
    let run = |device: &Device| {
        let mut all = DeviceArray::<f32, Ix2>::uninitialised(device, ndarray::Dim((1025, (1 << 20) + 4)))
            .expect("memory");
        let w = DeviceArray::from_array(device, &w).expect("memory");
        let mut y = DeviceArray::<f32, Ix2>::zeros(device, (1025, 4)).expect("memory");
        let mut part = all.slice_axis_mut(Axis(1), 4..8);
        part.copy_from(&x).expect("the same shape");
        affine_tanh(&mut *y, &*part, &*w, &*w);
        let results = (part.to_array().expect("memory"), y.to_array().expect("memory"));
        // The sanitiser would mark all of it as given back.
        std::mem::forget(all);
        results
    };
    let wide = sources(run);
    assert!(!wide.is_empty() && wide.values().all(|source| source.contains("typedef long long index")));
    let mut expected = Array2::zeros((1025, 4));
    affine_tanh(&mut expected, &x, &w, &w);
    for (part, y) in everywhere(run) {
        assert_eq!(part, x);
        assert!((y - &expected).iter().all(|error| error.abs() < 1e-6));
    }
}

/// A sum over many blocks takes one launch of one kernel, the last block of which adds up what the others have left.
#[test]
fn a_reduction_is_one_kernel() {
    for shape in [(1, 1 << 20), (1 << 10, 1 << 10), (1 << 20, 1)] {
        let kernels = sources(|device| {
            let x = DeviceArray::<f32, Ix2>::zeros(device, shape).expect("memory");
            norm(&x);
        });
        assert_eq!(kernels.len(), 1, "{shape:?}");
        assert!(kernels.values().all(|source| source.contains("atomicAdd(&a.counters[blockIdx.x], 1u)")));
    }
}

/// Arrays of two devices.
fn apart<D: Rank>(shape: D) -> [DeviceArray<f32, D>; 2] {
    let arrays = RefCell::new(Vec::new());
    for _ in 0..2 {
        sources(|device| arrays.borrow_mut().push(DeviceArray::zeros(device, shape).expect("memory")));
    }
    arrays.into_inner().try_into().expect("two of them")
}

#[test]
#[should_panic(expected = "the arrays are on different devices")]
fn other_devices_are_refused() {
    let [mut y, x] = apart(Ix1(3));
    copied(&mut y, &x);
}

#[test]
#[should_panic(expected = "the arrays are on different devices")]
fn products_with_other_devices_are_refused() {
    let [mut c, a] = apart(Ix2(8, 8));
    product(&mut c, &a, &a);
}

#[test]
#[should_panic(expected = "the arrays are on different devices")]
fn a_bias_on_another_device_is_refused() {
    let ([mut y, _], [b, _]) = (apart(Ix2(8, 8)), apart(Ix1(8)));
    let x = DeviceArray::zeros(y.device(), (8, 8)).expect("memory");
    linear(&mut y, &x, &x, &b);
}

#[test]
#[should_panic(expected = "the arrays are on different devices")]
fn a_seed_on_another_device_is_refused() {
    let [mut gradient, seed] = apart(Ix1(3));
    DeviceArray::seed(&mut gradient, &seed);
}

/// Parts, transposes and rows of arrays, of several ranks, read and written.
#[test]
fn fused_functions_of_views() {
    let (x, w, b) = (
        waves::<f64, _>(Ix3(6, 9, 7), 0.1),
        waves::<f64, _>(Ix2(9, 12), 0.2),
        waves::<f64, _>(Ix2(4, 6), 0.3),
    );
    let before = waves::<f64, _>(Ix3(7, 10, 6), 0.4);
    let run = |device: &Device| {
        let of = |array| DeviceArray::from_array(device, array).expect("memory");
        let (x, mut y) = (
            DeviceArray::from_array(device, &x).expect("memory"),
            DeviceArray::from_array(device, &before).expect("memory"),
        );
        let (w, b) = (of(&w), of(&b));
        let (w, b) = (w.slice_axis(Axis(1), 2..8), b.index_axis(Axis(0), 2));
        affine_tanh(&mut *y.slice_axis_mut(Axis(1), 1..10), &*x.t(), &*w, &*b);
        y.to_array().expect("memory")
    };
    let mut expected = before.clone();
    let (w, b) = (w.slice(s![.., 2..8]), b.row(2));
    for ((i, j, k), y) in expected.slice_mut(s![.., 1..10, ..]).indexed_iter_mut() {
        *y = (x[[k, j, i]] * w[[j, k]] + b[k]).tanh();
    }
    for y in everywhere(run) {
        assert!((y - &expected).iter().all(|error| error.abs() < 1e-14));
    }
}
