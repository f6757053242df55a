//! Rows by their indices, on the simulated device and on the host.

use ndarray::{Axis, Ix2, s};

use super::fused::{OnHost, Place, Results, compare, shadow, waves};
use crate::cuda::simulator::{everywhere, machines};
use crate::cuda::{Device, DeviceArray, DeviceIndices, Error};
use crate::fused::Real;
use crate::nn::{self, generic::embedding};
use crate::{Ignored, MatrixScalar, Rule, Shadow};

/// So many indices, of which some come again and again, and one never.
fn indices(count: usize, rows: usize) -> Vec<usize> {
    (0..count).map(|i| if i % 3 == 0 { rows / 2 } else { (i * i + 5 * i) % (rows - rows / 7) }).collect()
}

macro_rules! on {
    ($name:ident, $place:ty, |$p:ident, $all:ident, $rows:ident| $make:expr) => {
        pub(super) fn $name<T: Real + MatrixScalar>($p: &$place) -> Results {
            let mut results = Results::new();
            for (count, $rows, columns) in [
                (5, 4, 3),
                (1, 1, 1),
                (300, 40, 70),
                (65, 9, 33),
                (8, 3, 32),
                (0, 3, 2),
                (4, 3, 0),
                (500, 2, 3),
                (32, 2, 1),
            ] {
                let $all = indices(count, $rows);
                let at = $make;
                let mut y = $p.array(waves::<T, _>(Ix2(count, columns), 0.1));
                let table = $p.array(waves::<T, _>(Ix2($rows, columns), 0.2));
                let mut dy = $p.array(waves::<T, _>(Ix2(count, columns), 0.3));
                let mut dtable = $p.array(waves::<T, _>(Ix2($rows, columns), 0.4));
                let mut rule = embedding::rule();
                rule.forward(embedding::args(&mut y, &table, &at));
                results.push(("value", $p.elements(&y)));
                let shadows = (shadow(&mut dy), shadow(&mut dtable), Ignored);
                rule.pullback((), embedding::args(&mut y, &table, &at), shadows, ());
                results.push(("restored", $p.elements(&y)));
                results.push(("shadow of the table", $p.elements(&dtable)));
                results.push(("shadow of y", $p.elements(&dy)));
            }
            results
        }
    };
}
on!(on_host, OnHost, |place, all, rows| all);
on!(on_device, Device, |place, all, rows| DeviceIndices::new(place, &all, rows).expect("memory"));

#[test]
fn rows_are_added_up_as_on_the_host() {
    let expected = (on_host::<f32>(&OnHost), on_host::<f64>(&OnHost));
    assert_eq!(expected.0[8].1.len(), 300 * 70);
    for found in machines(|device| (on_device::<f32>(device), on_device::<f64>(device))) {
        for (single, double) in &found {
            compare(single, &expected.0, 1e-5, "f32");
            compare(double, &expected.1, 1e-13, "f64");
        }
        // In whatever order threads run, the bits are the same.
        assert!(found.iter().all(|results| *results == found[0]));
    }
}

/// Parts of a table, and of what is written; the host's function takes views as well.
#[test]
fn in_parts() {
    let (table, y) = (waves::<f64, _>(Ix2(9, 20), 0.1), waves::<f64, _>(Ix2(12, 7), 0.2));
    let at = indices(12, 6);
    let run = |device: &Device| {
        let on = |array| DeviceArray::from_array(device, array).expect("memory");
        let (table, mut dtable, mut y, dy) = (on(&table), on(&table), on(&y), on(&y));
        let at = DeviceIndices::new(device, &at, 6).expect("memory");
        let rows = table.slice_axis(Axis(0), 2..9);
        let part = rows.slice_axis(Axis(1), 5..12);
        let mut rule = embedding::rule();
        rule.forward(embedding::args(&mut *y, &*part, &at));
        let value = y.to_array().expect("memory");
        let mut below = dtable.slice_axis_mut(Axis(0), 2..9);
        let shadow_of_part = below.slice_axis_mut(Axis(1), 5..12).as_shadow();
        let shadows = (Shadow::new(dy.as_shadow()), Shadow::new(shadow_of_part), Ignored);
        rule.pullback((), embedding::args(&mut *y, &*part, &at), shadows, ());
        (value, dtable.to_array().expect("memory"))
    };
    let mut value = y.clone();
    nn::embedding(&mut value, &table.slice(s![2.., 5..12]), &at);
    let mut gradient = table.clone();
    for (i, index) in at.iter().enumerate() {
        let mut row = gradient.slice_mut(s![2 + index, 5..12]);
        row += &y.row(i);
    }
    for results in everywhere(run) {
        assert_eq!(results, (value.clone(), gradient.clone()));
    }
}

#[test]
fn indices_that_are_none_are_refused() {
    let run = |device: &Device| {
        let mut at = DeviceIndices::new(device, &[2, 0], 3).expect("memory");
        assert_eq!((at.len(), at.is_empty()), (2, false));
        let new = DeviceIndices::new(device, &[1, 3], 3).map(|at| at.len());
        [
            new,
            at.copy_from(&[3, 0]).map(|()| 0),
            at.copy_from(&[1]).map(|()| 0),
            at.copy_from(&[1, 2]).map(|()| 0),
        ]
    };
    for results in everywhere(run) {
        let none = Err(Error::Index { index: 3, rows: 3 });
        let fewer = Err(Error::Shape { expected: vec![2], found: vec![1] });
        assert_eq!(results, [none.clone(), none, fewer, Ok(0)]);
    }
}

#[test]
#[should_panic(expected = "embedding: the indices are among 4 rows, and the table has 3")]
fn a_table_with_too_few_rows() {
    crate::cuda::simulator::sources(|device| {
        let at = DeviceIndices::new(device, &[2, 0], 4).expect("memory");
        let table = DeviceArray::<f32, Ix2>::zeros(device, (3, 5)).expect("memory");
        let mut y = DeviceArray::zeros(device, (2, 5)).expect("memory");
        embedding(&mut y, &table, &at);
    });
}
