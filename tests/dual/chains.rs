//! Dual numbers that a program makes itself, and hands from function to function.

use std::array::from_fn;

use pullback::prelude::*;
use pullback::{DualNumber, Float};

/// Where the arms of a robot end.
#[differentiable(dual)]
fn ends(angles: &[f64; 3], #[constant] lengths: &[f64], to: &mut [[f64; 2]]) -> f64 {
    let (mut x, mut y, mut angle) = (0.0, 0.0, 0.0);
    for i in 0..3 {
        angle += angles[i];
        x += lengths[i] * angle.cos();
        y += lengths[i] * angle.sin();
        to[i] = [x, y];
    }
    angle
}

/// How far a point is from such an end.
#[differentiable(dual)]
fn distance<const N: usize>(
    ends: &[[f64; 2]; N],
    which: usize,
    #[constant] point: [f64; 2],
    scale: f64,
) -> f64 {
    let (dx, dy) = (ends[which][0] - point[0], ends[which][1] - point[1]);
    scale * (dx * dx + dy * dy).sqrt()
}

#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
struct Pair<T> {
    first: T,
    second: T,
}

#[differentiable(dual)]
fn swapped(pair: Pair<f64>) -> Pair<f64> {
    Pair { first: 2.0 * pair.second, second: pair.first }
}

/// Both of the above, as one function.
fn whole<T: Float>(angles: &[T; 3], lengths: &[f64], point: [f64; 2]) -> T {
    let (mut x, mut y, mut angle) = (T::zero(), T::zero(), T::zero());
    for (turn, &length) in angles.iter().zip(lengths) {
        angle += *turn;
        x += T::from_f64(length) * angle.cos();
        y += T::from_f64(length) * angle.sin();
    }
    let (dx, dy) = (x - T::from_f64(point[0]), y - T::from_f64(point[1]));
    (dx * dx + dy * dy).sqrt()
}

/// In `N` lanes, of which the last three are of the angles.
fn chained<const N: usize>() {
    let (values, lengths, point) = ([0.25, -0.5, 1.0], [1.0, 0.75, 0.5], [3.0, -1.0]);
    let unit = |i: usize| from_fn(|k| if k + 3 == N + i { 1.0 } else { 0.0 });
    let angles: [DualNumber<f64, N>; 3] = from_fn(|i| DualNumber::variable(values[i], unit(i)));
    let mut to = [[DualNumber::constant(0.0); 2]; 3];
    let angle = ends::on_dual_numbers(&angles, &lengths, &mut to);
    assert_eq!(angle, 0.75);
    assert_eq!(angle.tangent()[N - 3..], [1.0; 3]);
    let off = distance::<3>::on_dual_numbers(&to, 2, point, 1.0);

    let expected = whole(&angles, &lengths, point);
    assert_eq!(off, expected);
    for (k, (got, expected)) in off.tangent().iter().zip(expected.tangent()).enumerate() {
        assert!((got - expected).abs() < 1e-15, "lane {k} of {N}: {got} instead of {expected}");
    }

    let mut to = [[0.0; 2]; 3];
    ends(&values, &lengths, &mut to);
    assert_eq!(off, distance(&to, 2, point, 1.0));
}

#[test]
fn derivatives_go_from_one_function_to_the_next() {
    chained::<3>();
    chained::<4>();
    chained::<7>();
    chained::<8>();
    chained::<13>();
    chained::<16>();
}

#[test]
fn constants_and_variables_by_value() {
    let scale = DualNumber::variable(2.0, [1.0]);
    let off = distance::<1>::on_dual_numbers(&[[3.0, 4.0].map(DualNumber::constant)], 0, [0.0; 2], scale);
    assert_eq!((off.value(), off.tangent()), (10.0, [5.0]));
}

#[test]
fn structs_are_made_of_dual_numbers() {
    let pair =
        Pair { first: DualNumber::variable(3.0, [1.0, 0.0]), second: DualNumber::variable(5.0, [0.0, 1.0]) };
    let Pair { first, second } = swapped::on_dual_numbers(pair);
    assert_eq!((first.value(), first.tangent()), (10.0, [0.0, 2.0]));
    assert_eq!((second.value(), second.tangent()), (3.0, [1.0, 0.0]));
    assert_eq!(swapped(Pair { first: 3.0, second: 5.0 }), Pair { first: 10.0, second: 3.0 });
}

#[test]
fn dual_numbers_of_dual_numbers_have_second_derivatives() {
    let (values, lengths, point) = ([0.25, -0.5, 1.0], [1.0, 0.75, 0.5], [3.0, -1.0]);
    let inner = |i: usize| DualNumber::variable(values[i], [if i == 0 { 1.0 } else { 0.0 }]);
    let angles: [DualNumber<DualNumber<f64, 1>, 1>; 3] =
        from_fn(|i| DualNumber::variable(inner(i), [DualNumber::constant(if i == 1 { 1.0 } else { 0.0 })]));
    let mut to = [[DualNumber::constant(0.0); 2]; 3];
    ends::on_dual_numbers(&angles, &lengths, &mut to);
    let off = distance::<3>::on_dual_numbers(&to, 2, point, 1.0);
    let [mixed] = off.tangent()[0].tangent();

    let h = 1e-4;
    let at = |a: f64, b: f64| whole(&[values[0] + a, values[1] + b, values[2]], &lengths, point);
    let expected = (at(h, h) - at(h, -h) - at(-h, h) + at(-h, -h)) / (4.0 * h * h);
    assert!((mixed - expected).abs() < 1e-6, "{mixed} instead of {expected}");
}
