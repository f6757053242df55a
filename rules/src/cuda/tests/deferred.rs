//! What is put off is done before anybody can tell the difference, by a graph, too.

use ndarray::{Array2, Axis, Ix2, s};

use super::fused::waves;
use crate::cuda::simulator::{everywhere, listening};
use crate::cuda::{Device, DeviceArray, Repeated, run};
use crate::{Trans, general_product};

/// So many elements that their zeros are worth waiting with.
const N: usize = 130;

/// Numbers that look like chance.
struct Chance(u64);

impl Chance {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

/// Clears, copies, adds and multiplies matrices and parts of them on both sides.
fn play(device: &Device, there: &mut [DeviceArray<f32, Ix2>], host: &mut [Array2<f32>], seed: u64) {
    let mut chance = Chance(seed);
    let mut swaps = Vec::new();
    for _ in 0..60 {
        // The one that is written is the last one.
        let i = chance.below(4);
        swaps.push(i);
        host.swap(i, 3);
        there.swap(i, 3);
        let (j, k, rows) = (chance.below(3), chance.below(3), chance.below(N)..N);
        let (from, to) = there.split_at_mut(3);
        let (source, target) = host.split_at_mut(3);
        let (to, target) = (&mut to[0], &mut target[0]);
        match chance.below(6) {
            0 => {
                run::fill(device, to.place(), 0.0);
                target.fill(0.0);
            }
            1 => {
                let value = chance.below(2) as f32;
                run::fill(device, to.slice_axis(Axis(0), rows.clone()).place(), value);
                target.slice_mut(s![rows, ..]).fill(value);
            }
            2 => {
                let part = to.slice_axis(Axis(0), rows.clone()).place();
                run::copy(device, part, from[j].slice_axis(Axis(0), rows.clone()).place());
                target.slice_mut(s![rows.clone(), ..]).assign(&source[j].slice(s![rows, ..]));
            }
            3 => {
                run::scale(device, to.place(), 0.5, to.place(), true);
                *target *= 1.5;
            }
            4 => {
                run::scale(device, to.place(), 0.5, from[j].t().place(), true);
                target.scaled_add(0.5, &source[j].t());
            }
            _ => {
                general_product(Trans::No, Trans::Yes, 0.005, &from[j], &from[k], 1.0, to);
                target.scaled_add(0.005, &source[j].dot(&source[k].t()));
            }
        }
    }
    for i in swaps.into_iter().rev() {
        host.swap(i, 3);
        there.swap(i, 3);
    }
}

fn matrices() -> [Array2<f32>; 4] {
    [0.0, 1.0, 2.0, 3.0].map(|seed| waves(Ix2(N, N), seed))
}

/// What is in the matrices in the end, of the device and of the host, if that is done as often, and from the third time on by a graph.
fn played(device: &Device, seed: u64, times: usize) -> [Vec<Array2<f32>>; 2] {
    let mut host = Vec::new();
    let there = matrices().map(|x| DeviceArray::from_array(device, &x).expect("memory")).into();
    let mut work = Repeated::new(device, there, |there: &mut Vec<_>| {
        host = matrices().into();
        play(device, there, &mut host, seed);
    });
    for _ in 0..times {
        for (there, x) in work.arguments().iter_mut().zip(matrices()) {
            there.copy_from(&x).expect("the same shape");
        }
        work.run().expect("a device");
    }
    assert_eq!(work.is_recorded(), times > 2);
    let found = work.arguments().iter().map(|x| x.to_array().expect("memory")).collect();
    [found, host]
}

#[test]
fn nobody_can_tell_what_is_put_off() {
    for (seed, times) in (0..4).flat_map(|seed| [(seed, 1), (seed, 4)]) {
        for [found, expected] in everywhere(|device| played(device, seed, times)) {
            for (found, expected) in found.iter().zip(&expected) {
                let scale = expected.fold(1.0_f32, |scale, x| scale.max(x.abs()));
                let off = (found - expected).fold(0.0_f32, |off, x| off.max(x.abs()));
                assert!(scale.is_finite() && off <= 1e-4 * scale, "seed {seed}: off by {off}, to {scale}");
            }
        }
    }
}

fn zeros(device: &Device) -> DeviceArray<f32, Ix2> {
    DeviceArray::zeros(device, (N, N)).expect("memory")
}

/// What the device is asked for by `work` with three matrices, the second time.
fn asked(work: impl Fn(&Device, &mut [DeviceArray<f32, Ix2>; 3])) -> Vec<String> {
    let (device, asked) = listening();
    let mut matrices = [(); 3].map(|()| zeros(&device));
    for _ in 0..2 {
        device.synchronize().expect("a device");
        asked();
        work(&device, &mut matrices);
    }
    device.synchronize().expect("a device");
    asked()
}

#[test]
fn zeros_that_are_added_to_are_not_written() {
    let added = asked(|device, [x, y, _]| {
        run::fill(device, y.place(), 0.0);
        run::scale(device, y.place(), 0.5, x.place(), true);
    });
    assert_eq!(added, ["pb_scale 17x1"]);
    let multiplied = asked(|device, [a, b, c]| {
        run::fill(device, c.place(), 0.0);
        general_product(Trans::No, Trans::No, 1.0, &*a, &*b, 1.0, c);
    });
    assert_eq!(multiplied, ["gemm, β = 0"]);
    // Not if they are read, or if the rest of them would not be written.
    let read = asked(|device, [_, y, _]| {
        run::fill(device, y.place(), 0.0);
        run::scale(device, y.place(), 0.5, y.place(), true);
    });
    assert_eq!(read, ["zero 67600", "pb_scale 17x1"]);
    let part = asked(|device, [x, y, _]| {
        run::fill(device, y.place(), 0.0);
        let rows = |matrix: &DeviceArray<f32, Ix2>| matrix.slice_axis(Axis(0), 1..N).place();
        run::scale(device, rows(y), 0.5, rows(x), true);
    });
    assert_eq!(part[0], "zero 67600");
}

#[test]
fn what_is_written_over_is_not_written_and_the_rest_at_once() {
    let moved = asked(|device, [x, y, z]| {
        run::fill(device, y.place(), 0.0);
        run::copy(device, y.place(), x.place());
        run::copy(device, z.place(), x.place());
    });
    assert_eq!(moved, ["pb_move 17x2"]);
    let in_order = asked(|device, [x, y, z]| {
        run::copy(device, y.place(), x.place());
        run::copy(device, z.place(), y.place());
        run::fill(device, x.place(), 0.0);
    });
    assert_eq!(in_order, ["copy 67600", "pb_move 17x2"]);
    let freed = asked(|device, [x, y, _]| {
        let own = zeros(device);
        run::copy(device, x.place(), own.place());
        drop(own);
        run::fill(device, y.place(), 0.0);
    });
    assert_eq!(freed, ["zero 67600", "copy 67600", "zero 67600"]);
}
