use ndarray::{Array1, ArrayView1, ArrayView2, ArrayViewMut1, ArrayViewMut2, Axis, array};

use crate::blas::specimens::{Arguments, Everywhere, Random, Tested, assert_close, shadow};
use crate::blas::{asum, axpy, copy, dot, iamax, nrm2, rot, scal, swap};
use crate::{Ignored, Rule, Shadow};

const SIZES: [usize; 8] = [0, 1, 2, 5, 15, 16, 33, 70];

/// The only column of a matrix, which is how vectors of all layouts come about.
fn vector<T>(matrix: ArrayView2<'_, T>) -> ArrayView1<'_, T> {
    matrix.index_axis_move(Axis(1), 0)
}

fn vector_mut<T>(matrix: ArrayViewMut2<'_, T>) -> ArrayViewMut1<'_, T> {
    matrix.index_axis_move(Axis(1), 0)
}

macro_rules! shadow_of_vector {
    ($matrix:expr) => {
        shadow!($matrix).map(|cells| cells.index_axis_move(Axis(1), 0))
    };
}

fn check_reductions<T: Tested>() {
    let random = &mut Random(41);
    for n in SIZES {
        let everywhere = Everywhere::<T> {
            shapes: &[((n, 1), false), ((n, 1), false)],
            adjust: &|_, _| (),
            call: &|arguments: &mut Arguments<T>| {
                let ([x, y], [dx, dy]) = (&mut arguments.values[..], &mut arguments.shadows[..]) else {
                    unreachable!("two")
                };
                let (x, y, seed) = (vector(x.view()), vector(y.view()), T::of(0.5));
                let (mut of_two, mut of_one) = (dot::<T>::rule(), (nrm2::<T>::rule(), asum::<T>::rule()));
                let values = [
                    of_two.forward(dot::args(&x, &y)).0,
                    of_one.0.forward(nrm2::args(&x)).0,
                    of_one.1.forward(asum::args(&y)).0,
                ];
                assert_eq!(values, [dot(&x, &y), nrm2(&x), asum(&y)]);
                let (dx, dy) = (shadow_of_vector!(dx), shadow_of_vector!(dy));
                let _ = of_two.pullback((), dot::args(&x, &y), (dx, dy), seed);
                let _ = of_one.0.pullback((), nrm2::args(&x), (dx,), seed);
                let _ = of_one.1.pullback((), asum::args(&y), (dy,), seed);
                values.to_vec()
            },
            terms: n,
        };
        for Arguments { values, .. } in everywhere.check(random, 10, "reductions") {
            let (x, y) = (values[0].f64(), values[1].f64());
            let (x, y) = (vector(x.view()), vector(y.view()));
            let close = |found: T, expected: f64| {
                let array = |x: f64| ndarray::Array2::from_elem((1, 1), x);
                assert_close::<T>(&array(found.to()), &array(expected), n, "value");
            };
            let (values_x, values_y) = (values[0].view(), values[1].view());
            close(dot(&vector(values_x), &vector(values_y)), x.iter().zip(&y).map(|(x, y)| x * y).sum());
            close(nrm2(&vector(values_x)), x.iter().map(|x| x * x).sum::<f64>().sqrt());
            close(asum(&vector(values_x)), x.iter().map(|x| x.abs()).sum());
            if n > 0 {
                let largest = x.iter().fold(0.0, |largest: f64, x| largest.max(x.abs()));
                let index = iamax(&vector(values_x));
                assert_eq!(x[index].abs(), largest);
                assert!(x.iter().take(index).all(|x| x.abs() < largest));
            }
        }
    }
}

#[test]
fn reductions_in_every_layout() {
    check_reductions::<f64>();
    check_reductions::<f32>();
}

fn check_updates<T: Tested>() {
    let random = &mut Random(42);
    for n in SIZES {
        let everywhere = Everywhere::<T> {
            shapes: &[((n, 1), false), ((n, 1), true), ((n, 1), true)],
            adjust: &|_, _| (),
            call: &|arguments: &mut Arguments<T>| {
                let ([x, y, z], [dx, dy, dz]) = (&mut arguments.values[..], &mut arguments.shadows[..])
                else {
                    unreachable!("three")
                };
                let x = vector(x.view());
                let (alpha, c, s) = (T::of(-1.5), T::of(0.8), T::of(0.6));
                let mut rules = (axpy::<T>::rule(), rot::<T>::rule(), scal::<T>::rule());
                let mut others = (swap::<T>::rule(), copy::<T>::rule());

                let (mut y_place, mut z_place) = (y.clone(), z.clone());
                let (mut y_view, mut z_view) =
                    (vector_mut(y_place.view_mut()), vector_mut(z_place.view_mut()));
                axpy(alpha, &x, &mut y_view);
                rot(&mut y_view, &mut z_view, c, s);
                scal(alpha, &mut z_view);
                swap(&mut y_view, &mut z_view);
                copy(&x, &mut z_view);
                arguments.left.extend([y_place.f64(), z_place.f64()]);

                let (mut y, mut z) = (vector_mut(y.view_mut()), vector_mut(z.view_mut()));
                rules.0.forward(axpy::args(alpha, &x, &mut y));
                rules.1.forward(rot::args(&mut y, &mut z, c, s));
                rules.2.forward(scal::args(alpha, &mut z));
                others.0.forward(swap::args(&mut y, &mut z));
                others.1.forward(copy::args(&x, &mut z));
                assert_eq!((&y, &z), (&vector_mut(y_place.view_mut()), &vector_mut(z_place.view_mut())));

                let (dx, dy, dz) = (shadow_of_vector!(dx), shadow_of_vector!(dy), shadow_of_vector!(dz));
                let _ = others.1.pullback((), copy::args(&x, &mut z), (dx, dz), ());
                let _ = others.0.pullback((), swap::args(&mut y, &mut z), (dy, dz), ());
                let by_scal = rules.2.pullback((), scal::args(alpha, &mut z), (Ignored, dz), ());
                let shadows = (dy, dz, Ignored, Ignored);
                let by_rot = rules.1.pullback((), rot::args(&mut y, &mut z, c, s), shadows, ());
                let by_axpy = rules.0.pullback((), axpy::args(alpha, &x, &mut y), (Ignored, dx, dy), ());
                vec![by_scal.0, by_rot.2, by_rot.3, by_axpy.0]
            },
            terms: 8 * n,
        };
        for Arguments { values, left, .. } in everywhere.check(random, 10, "updates") {
            let [x, y, z] = [0, 1, 2].map(|i| values[i].f64());
            let y = y - &x * 1.5;
            assert_close::<T>(&left[0], &((&z * 0.8 - y * 0.6) * -1.5), 4, "y");
            assert_close::<T>(&left[1], &x, 0, "z");
        }
    }
}

#[test]
fn updates_in_every_layout() {
    check_updates::<f64>();
    check_updates::<f32>();
}

/// Squares of these over- or underflow.
#[test]
fn norms_of_very_large_and_very_small_vectors() {
    for scale in [1e-310_f64, 1e-300, 1e-160, 1e-150, 1.0, 1e150, 1e160, 1e307] {
        let mut x = array![3.0 * scale, 0.0, -4.0 * scale];
        assert!((nrm2(&x) / (5.0 * scale) - 1.0).abs() < 1e-12, "{scale}: {}", nrm2(&x));
        let mut rule = nrm2::<f64>::rule();
        rule.forward(nrm2::args(&x));
        let mut dx = Array1::zeros(3);
        let _ = rule.pullback((), nrm2::args(&x), (Shadow::new(dx.cell_view()),), 2.0);
        for (dx, expected) in dx.iter().zip([1.2, 0.0, -1.6]) {
            assert!((dx - expected).abs() < 1e-12, "{scale}: {dx}");
        }
        x[1] = f64::NAN;
        assert!(nrm2(&x).is_nan());
        x[1] = f64::INFINITY;
        assert_eq!(nrm2(&x), f64::INFINITY);
    }
    let x = array![3e30_f32, 4e30, 0.0];
    assert!((nrm2(&x) / 5e30 - 1.0).abs() < 1e-6);
    let x = array![3e-30_f32, 4e-30, 0.0];
    assert!((nrm2(&x) / 5e-30 - 1.0).abs() < 1e-6);
}

/// Where there is no derivative, it is 0.
#[test]
fn kinks() {
    let x = array![0.0, -0.0];
    let mut dx = Array1::from_elem(2, 1.0);
    let mut rule = nrm2::<f64>::rule();
    rule.forward(nrm2::args(&x));
    let _ = rule.pullback((), nrm2::args(&x), (Shadow::new(dx.cell_view()),), 1.0);
    let mut rule = asum::<f64>::rule();
    rule.forward(asum::args(&x));
    let _ = rule.pullback((), asum::args(&x), (Shadow::new(dx.cell_view()),), 1.0);
    assert_eq!(dx, array![1.0, 1.0]);
}

#[test]
fn the_first_of_the_largest() {
    assert_eq!(iamax(&array![1.0, -2.0, 2.0]), 1);
    assert_eq!(iamax(&array![f64::NAN, 0.0, 1.0]), 2);
    assert_eq!(iamax(&array![f64::NAN]), 0);
    assert_eq!(iamax(&array![0.0_f32, -0.0]), 0);
}

/// One vector in both places.
#[test]
fn dot_of_a_vector_with_itself() {
    let (x, mut dx) = (array![1.0, 2.0], Array1::zeros(2));
    let mut rule = dot::<f64>::rule();
    rule.forward(dot::args(&x, &x));
    let shadow = dx.cell_view();
    let shadow = Shadow::new(shadow.reborrow());
    let _ = rule.pullback((), dot::args(&x, &x), (shadow, shadow), 3.0);
    assert_eq!(dx, array![6.0, 12.0]);
}

#[test]
#[should_panic(expected = "axpy: x has length 2 but y has length 3")]
fn axpy_names_the_lengths() {
    axpy(0.0, &Array1::<f64>::zeros(2), &mut Array1::zeros(3));
}

#[test]
#[should_panic(expected = "iamax: x is empty")]
fn iamax_of_nothing() {
    iamax(&Array1::<f64>::zeros(0));
}
