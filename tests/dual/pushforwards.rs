//! Derivatives in several directions at once.

use pullback::Float;
use pullback::prelude::*;
use pullback::testing::allocations_in;

/// The sum of two lists of different lengths, weighted, with what has been added so far left behind.
#[differentiable(dual)]
fn running(x: &[f64], scale: f64, #[constant] shift: f64, sums: &mut [f64]) -> (f64, [f64; 2]) {
    let mut total = 0.0;
    for i in 0..x.len() {
        total += (x[i] - shift).sin() * scale + sums[i % sums.len()];
        sums[i % sums.len()] = total * total;
    }
    (total, [x[0] * scale, x[1] / scale])
}

#[test]
fn agree_with_one_after_the_other() {
    let (x, sums) = ([0.5, -0.25, 1.5], [0.75, 0.5]);
    let directions = [
        ([1.0, 0.0, -2.0], 0.5, [0.25, 0.0]),
        ([0.0, 0.5, 1.0], 0.0, [0.0, 0.0]),
        ([-1.0, 3.0, 0.125], -1.5, [1.0, -1.0]),
    ];
    let mut g = running::pushforward();
    let mut left = sums;
    let (value, tangents, written) = g.value_and_pushforwards(
        &x,
        1.25,
        0.1,
        &mut left,
        directions.each_ref().map(|d| &d.0[..]),
        directions.map(|d| d.1),
        directions.each_ref().map(|d| &d.2[..]),
    );
    let written = written.map(|written| written.sums.to_vec());
    for (k, (dx, ds, dsums)) in directions.iter().enumerate() {
        let mut own = sums;
        let (expected, tangent, of_sums) = g.value_and_pushforward(&x, 1.25, 0.1, &mut own, dx, *ds, dsums);
        assert_eq!((value, tangents[k], left), (expected, tangent, own));
        assert_eq!(written[k], of_sums.sums);
    }
    assert!(tangents[0] != tangents[1] && written[0] != written[1]);

    // None at all: the function itself.
    let mut own = sums;
    let (again, [], []) = g.value_and_pushforwards(&x, 1.25, 0.1, &mut own, [], [], []);
    assert_eq!((again, own), (value, left));
}

#[differentiable(dual)]
fn product<T: Float, const N: usize>(x: [T; N], y: &[T]) -> T {
    let mut total = T::one();
    for i in 0..N {
        total = total * x[i] * y[i];
    }
    total
}

#[test]
fn generic_functions() {
    let mut g = product::<f64, 2>::pushforward();
    let unit = [1.0, 0.0];
    let (value, tangents) =
        g.value_and_pushforwards([2.0, 3.0], &[5.0, 7.0], [unit, [0.0; 2]], [&[0.0; 2], &unit]);
    assert_eq!((value, tangents), (210.0, [105.0, 42.0]));
}

/// A vector in and a vector out, and nothing by value.
#[differentiable(dual)]
fn squares(x: &[f64]) -> Vec<f64> {
    x.iter().map(|x| x * x).collect()
}

#[test]
fn nothing_is_allocated_but_the_results() {
    let x = [1.0, 2.0, 3.0];
    let mut g = squares::pushforward();
    let directions = [&[1.0, 0.0, 0.0][..], &[0.0, 1.0, 1.0]];
    g.value_and_pushforwards(&x, directions);
    let own = allocations_in(|| squares(&x)).1;
    let ((_, tangents), allocations) = allocations_in(|| g.value_and_pushforwards(&x, directions));
    assert_eq!(tangents, [vec![2.0, 0.0, 0.0], vec![0.0, 4.0, 6.0]]);
    // The value in dual numbers, the value and two tangents.
    assert!(own > 0 && allocations == 4 * own, "{allocations}");
    let held = g.memory();
    assert!(held > 0);
    g.value_and_pushforwards(&x, [&[1.0, 0.0, 0.0]; 3]);
    assert!(g.memory() > held);
    g.shrink();
    assert_eq!(g.memory(), squares::pushforward().memory());
}

#[differentiable(dual)]
fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

#[test]
#[should_panic(expected = "`dot`: a direction has 1 components, and its argument has 2")]
fn directions_that_fit_only_together() {
    let mut g = dot::hvp();
    g.value_gradient_and_hvp(&[1.0, 2.0], &[3.0, 4.0], &[1.0], &[1.0, 0.0, 0.0]);
}

#[test]
#[should_panic(expected = "`dot`: a direction has 3 components, and its argument has 2")]
fn the_second_direction_is_too_long() {
    let mut g = dot::pushforward();
    let v: &[f64] = &[1.0, 0.0];
    g.value_and_pushforwards(&[1.0, 2.0], &[3.0, 4.0], [v, v], [v, &[1.0; 3]]);
}

#[test]
#[should_panic(expected = "`dot::along`: a direction has 2 elements, and its argument has 3")]
fn along_a_direction_of_other_sizes() {
    let x = [1.0, 2.0, 3.0];
    dot::along(&x, &x, &[1.0; 2], &[1.0; 4]);
}
