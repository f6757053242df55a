//! Fused functions on dual numbers.

use ndarray::{Array1, Array2, ArrayRef2, Axis, array, s};
use pullback::fused;
use pullback::prelude::*;
use pullback::testing::check_second_order;

use super::linear_algebra::some_number;
use crate::random::Random;

fused! {
    /// Everything that there is of one number, but for steps.
    fn of_one(x) {
        let positive = 1.5 + x;
        let powers = x.exp() + x.exp2() + x.exp_m1() + positive.ln() + x.ln_1p() + positive.log2() + positive.log10();
        let circles = x.sin() * x.cos() + x.tan() + (0.5 * x).asin() + (0.5 * x).acos() + x.atan();
        let hyperbolas = x.sinh() + x.cosh() + x.tanh() + x.asinh() + positive.acosh() + (0.5 * x).atanh();
        let others = positive.sqrt() * positive.cbrt() + positive.recip() + x.abs() + x.floor() + x.signum();
        powers + circles + hyperbolas + others + x.sigmoid() + x.softplus() + x.log_sigmoid() + x.erf() + x.erfc()
    }

    /// Everything that there is of two.
    fn of_two(x, z, k: T) {
        let positive = 1.5 + x;
        positive.powf(z * k) + positive.powi(-3) * z.powi(4) + (x + k).atan2(z)
            + x.max(z) * x.min(z) + z.clamp(-0.5, k) + x.mul_add(z, k)
            + if x * z <= 0.1 { x * x } else { k * z }
    }

    fn distances(x, z; axis) {
        let off = x - z;
        sum(off * off).sqrt() * max(x) - mean(z * off) * min(off * off)
    }

    fn standardised(x, k: T; axis) {
        let centred = x - mean(x);
        centred / (mean(centred * centred) + k * k).sqrt() * count()
    }

    fn energy(x, z, k: T) {
        let total = sum(x.sin() * z);
        total * total + k * max(x * z)
    }

    /// What waits from one pass to the next.
    fn free_energy(x, k: T) {
        let m = constant(max(k * x));
        m + sum((k * x - m).exp()).ln()
    }

    /// The first factor has no derivative.
    fn half(x) {
        sum(constant(x) * x)
    }

    /// Operands may be called what they like.
    fn weighted(x, rooms, sources) {
        let total = sum((x * rooms).sin() * sources);
        total * total + sum((x - rooms).exp())
    }

    fn largest(x) {
        max(x) * max(x) - min(x * x)
    }

    fn largest_of_rows(x; axis) {
        max(x)
    }
}

#[differentiable(dual)]
fn elements(y: &mut Array2<f64>, x: &Array2<f64>, z: &Array1<f64>, k: f64) -> f64 {
    of_one(y, x);
    let first = some_number(&*y);
    of_two(y, x, z, k);
    first * some_number(&*y)
}

#[test]
fn of_elements() {
    let random = &mut Random(61);
    let inputs = [(3, 2), (1, 1), (1, 34), (0, 3)].map(|(rows, columns)| {
        let (y, x) = (random.matrix((rows, columns), true), random.matrix((rows, columns), false));
        (y, 0.4 * x, 0.3 * random.vector(columns) + 0.5, 0.7)
    });
    check_second_order(elements::rule, inputs);
}

#[differentiable(dual)]
fn rows(y: &mut Array2<f64>, r: &mut Array2<f64>, x: &Array2<f64>, z: &Array1<f64>, k: f64) -> f64 {
    standardised(y, x, k, Axis(1));
    distances(r, x, z, Axis(1));
    some_number(&*y) * some_number(&*r)
}

#[test]
fn of_rows() {
    let random = &mut Random(62);
    let inputs = [(3, 2), (1, 33)].map(|(rows, columns)| {
        let [y, x] = [true, false].map(|by_columns| random.matrix((rows, columns), by_columns));
        (y, random.matrix((rows, 1), false), x, random.vector(columns), 0.7)
    });
    check_second_order(rows::rule, inputs);
}

#[differentiable(dual)]
fn numbers(x: &Array2<f64>, z: &Array1<f64>, k: f64) -> f64 {
    energy(x, z, k).sin() + half(x) + free_energy(x, k)
}

/// Value and gradient in one pass.
#[differentiable(dual)]
fn at_once(x: &Array2<f64>, k: f64) -> f64 {
    free_energy(x, k)
}

#[differentiable(dual)]
fn of_parts(x: &mut Array2<f64>, z: &Array1<f64>, scale: f64) -> f64 {
    let n = x.nrows();
    energy(&x.slice(s![..;-1, ..]), z, 2.0 * scale) * energy(&x.slice(s![..n / 2, ..]), z, 0.5)
}

#[test]
fn of_everything() {
    let random = &mut Random(63);
    let inputs = [(3, 2), (1, 1), (1, 35)]
        .map(|(rows, columns)| (random.matrix((rows, columns), false), random.vector(columns), 0.7));
    check_second_order(at_once::rule, inputs.clone().map(|(x, _, k)| (x, k)));
    check_second_order(of_parts::rule, [inputs[0].clone()]);
    // Where something is taken to be constant, the gradient is not that of the value.
    let mut g = numbers::gradient();
    for (x, z, k) in inputs {
        let (d_x, d_z) = (random.matrix(x.dim(), false), random.vector(z.len()));
        let (_, tangent) = g.value_and_pushforward(&x, &z, k, &d_x, &d_z, 0.3);
        let (_, _, product) = g.value_gradient_and_hvp(&x, &z, k, &d_x, &d_z, 0.3);
        let (of_x, of_z, of_k) = (product.x.clone(), product.z.clone(), product.k);
        let h = 1e-5;
        let mut at = |t: f64| {
            let (_, d) = g.value_and_gradient(&(&x + t * &d_x), &(&z + t * &d_z), k + t * 0.3);
            (d.x.clone(), d.z.clone(), d.k)
        };
        let (d, after, before) = (at(0.0), at(h), at(-h));
        let slope = (&d.0 * &d_x).sum() + (&d.1 * &d_z).sum() + d.2 * 0.3;
        assert!((tangent - slope).abs() < 1e-12 * slope.abs().max(1.0), "{tangent} {slope}");
        // The factor that is constant in the gradient of `half` is so in its derivative.
        let of_half = (0.5 / h) * (&after.0 - &before.0) - &d_x;
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-7 * b.abs().max(1.0), "{a} {b}");
        of_x.iter().zip(&of_half).for_each(|(a, b)| close(*a, *b));
        of_z.iter().zip(&((0.5 / h) * (&after.1 - &before.1))).for_each(|(a, b)| close(*a, *b));
        close(of_k, (0.5 / h) * (after.2 - before.2));
    }
}

#[differentiable(dual)]
fn beside_constants(
    x: &Array2<f64>,
    #[constant] rooms: &ArrayRef2<f64>,
    #[constant] sources: &Array1<f64>,
) -> f64 {
    weighted(x, rooms, sources)
}

/// Constants in all layouts: sums are added up in the same order.
#[test]
fn layouts_of_constants() {
    let random = &mut Random(64);
    let base = random.matrix((6, 75), false);
    let columns = base.t();
    let (row, one) = (random.vector(25), array![0.5]);
    let layouts = [
        base.slice(s![..3, ..25]),
        base.slice(s![..;2, ..;3]),
        base.slice(s![..3;-1, 50..;-1]),
        columns.slice(s![..3, ..1]),
        columns.slice(s![10..13, ..]),
        row.broadcast((3, 25)).expect("a row for each"),
        one.broadcast((3, 25)).expect("a number for each"),
        base.slice(s![..0, ..25]),
    ];
    let mut g = beside_constants::gradient();
    for z in layouts {
        let (x, v) = (random.matrix(z.dim(), false), random.matrix(z.dim(), true));
        let sources = random.vector(z.ncols());
        let copy = z.to_owned();
        let (value, _, product) = g.value_gradient_and_hvp(&x, &z, &sources, &v);
        assert_eq!(value.to_bits(), beside_constants(&x, &z, &sources).to_bits(), "{:?}", z.strides());
        let product = product.x.clone();
        let (_, tangent) = g.value_and_pushforward(&x, &z, &sources, &v);
        let (_, d, expected) = g.value_gradient_and_hvp(&x, &copy, &sources, &v);
        assert!((product - expected.x).iter().all(|e| e.abs() < 1e-13), "{:?}", z.strides());
        assert!((tangent - (d.x * &v).sum()).abs() < 1e-13, "{:?}", z.strides());
    }
}

#[differentiable(dual)]
fn extrema(x: &Array1<f64>) -> f64 {
    largest(x)
}

#[differentiable(dual)]
fn of_largest(y: &mut Array2<f64>, x: &Array2<f64>) -> f64 {
    largest_of_rows(y, x, Axis(1));
    some_number(&*y)
}

/// Elements that are equally large share in all derivatives alike.
#[test]
fn ties() {
    let x = array![2.0, -1.0, 2.0, 1.0, 2.0];
    let mut g = extrema::gradient();
    let (_, d) = g.value_and_gradient(&x);
    let expected = array![4.0 / 3.0, 1.0, 4.0 / 3.0, -1.0, 4.0 / 3.0];
    assert!((d.x - &expected).iter().all(|e| e.abs() < 1e-15));
    let (_, jacobian) = g.value_and_jacobian(&x);
    assert!((&jacobian.row(0) - &expected).iter().all(|e| e.abs() < 1e-15), "{jacobian}");
    // Many, in blocks of any length, and such as are infinite.
    let many = Array1::from_shape_fn(70, |i| if i % 2 == 0 { 1.5 } else { -1.5 });
    let (_, tangent) = g.value_and_pushforward(&many, &Array1::from_shape_fn(70, |i| i as f64));
    // Of m² - s: 3·mean of 0, 2 … 68, and the mean of ±3·i.
    assert!((tangent - (3.0 * 34.0 - 3.0 * (34.0 - 35.0) / 2.0)).abs() < 1e-12, "{tangent}");
    let mut y = Array2::zeros((1, 1));
    let x = array![[f64::NEG_INFINITY, f64::NEG_INFINITY]];
    let mut p = of_largest::pushforward();
    let (_, _, left) = p.value_and_pushforward(&mut y, &x, &Array2::zeros((1, 1)), &array![[1.0, 3.0]]);
    assert_eq!(left.y, array![[2.0]]);
    assert_eq!(y, array![[f64::NEG_INFINITY]]);
}
