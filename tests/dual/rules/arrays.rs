//! Operations on whole arrays on dual numbers.

use ndarray::{Array1, Array2, Axis, array, s};
use pullback::prelude::*;
use pullback::testing::check_second_order;

use crate::random::Random;

/// Two layers and the mean of the squared errors; inputs and targets are constants.
#[differentiable(dual)]
fn network(
    w1: &Array2<f64>,
    b1: &Array1<f64>,
    w2: &Array2<f64>,
    b2: &Array1<f64>,
    #[constant] x: &Array2<f64>,
    #[constant] y: &Array2<f64>,
) -> f64 {
    ((x.dot(w1) + b1).mapv(f64::tanh).dot(w2) + b2 - y).mapv(|e| e * e).sum() / x.nrows() as f64
}

type Network = (Array2<f64>, Array1<f64>, Array2<f64>, Array1<f64>, Array2<f64>, Array2<f64>);

fn networks(random: &mut Random, sizes: [[usize; 4]; 3]) -> [Network; 3] {
    sizes.map(|[n, inputs, hidden, outputs]| {
        let even = n.is_multiple_of(2);
        (
            random.matrix((inputs, hidden), even),
            random.vector(hidden),
            random.matrix((hidden, outputs), false),
            random.vector(outputs),
            random.matrix((n, inputs), !even),
            random.matrix((n, outputs), even),
        )
    })
}

#[test]
fn networks_of_two_layers() {
    check_second_order(network::rule, networks(&mut Random(1), [[3, 2, 4, 1], [4, 1, 2, 2], [9, 3, 5, 1]]));
}

/// The layouts and sizes at which ndarray's kernels work in blocks, and are given parts of elements: values are the same to the bit.
#[test]
fn large_products_have_the_same_values() {
    let random = &mut Random(9);
    for (layouts, inner) in [(0, 300), (1, 37), (2, 40), (3, 5)] {
        let bit = |bit: usize| layouts >> bit & 1 == 1;
        let (w1, w2) = (random.matrix((inner, 33), bit(0)), random.matrix((33, 19), bit(1)));
        let (b1, b2) = (random.vector(33), random.vector(19));
        let (x, y) = (random.matrix((65, inner), !bit(0)), random.matrix((65, 19), bit(1)));
        let expected = network(&w1, &b1, &w2, &b2, &x, &y);
        let mut g = network::hvp();
        let (value, _) = g.value_and_pushforward(&w1, &b1, &w2, &b2, &x, &y, &w1, &b1, &w2, &b2);
        assert_eq!(value, expected);
        // The Hessian is symmetric.
        let zeros = (Array2::zeros(w1.dim()), Array1::zeros(33), Array2::zeros(w2.dim()), Array1::zeros(19));
        let (value, _, d) = g.value_gradient_and_hvp(&w1, &b1, &w2, &b2, &x, &y, &zeros.0, &b1, &w2, &b2);
        assert_eq!(value, expected);
        let there = (d.w1 * &w1).sum();
        let (_, _, d) =
            g.value_gradient_and_hvp(&w1, &b1, &w2, &b2, &x, &y, &w1, &zeros.1, &zeros.2, &zeros.3);
        let back = d.b1.dot(&b1) + (d.w2 * &w2).sum() + d.b2.dot(&b2);
        assert!((there - back).abs() < 1e-11 * back.abs().max(1.0), "{there} {back}");
    }
}

/// Each operator of arrays with each other and with numbers, constants among them, and with broadcasting; operands that are borrowed, and
/// operands that are given away.
#[differentiable(dual)]
fn operators(
    x: &Array1<f64>,
    m: &Array2<f64>,
    k: f64,
    #[constant] c: &Array2<f64>,
    #[constant] b: &Array1<f64>,
) -> f64 {
    let sums = x + m - c + k - 0.5 + b;
    let products = m * x * 0.5 * c * (2.0 * x) * k;
    let quotients = c / (m + 3.0) + (1.0 - x) / (2.0 - c) - k / (x + 4.0);
    let rest = (b - x) * (c * k) - (k - b) + (m + 3.0) % 0.75 - (-x);
    (sums * products + quotients * &rest).sum() + (&rest * &rest).sum()
}

/// Products of vectors and matrices in any combination.
#[differentiable(dual)]
fn products(
    a: &Array2<f64>,
    x: &Array1<f64>,
    #[constant] c: &Array2<f64>,
    #[constant] v: &Array1<f64>,
) -> f64 {
    let y = a.dot(x) + c.dot(x);
    let z = x.dot(a) - x.dot(c);
    let w: Array1<f64> = a.t().dot(v);
    let squares = a.dot(a) + a.dot(c) + c.t().dot(&a.t());
    y.dot(&z) + y.dot(v) * z.dot(x) + (v.dot(&w) * squares).mapv(|e| e * e).sum()
}

type Square = (Array2<f64>, Array1<f64>, Array2<f64>, Array1<f64>);

fn squares(random: &mut Random) -> Vec<Square> {
    let sizes = [2, 1, 3, 17];
    let square = |n: usize| {
        let even = n.is_multiple_of(2);
        (random.matrix((n, n), even), random.vector(n), random.matrix((n, n), !even), random.vector(n))
    };
    sizes.map(square).into()
}

#[test]
fn operators_and_products() {
    let random = &mut Random(2);
    let inputs = squares(random).into_iter().take(3);
    check_second_order(
        operators::rule,
        inputs.map(|(m, x, c, b)| (x, m, random.next(), c, b)).collect::<Vec<_>>(),
    );
    check_second_order(products::rule, squares(random));
}

/// What changes arrays: targets that start as constants, and operands that are some.
#[differentiable(dual)]
fn changes(x: &mut Array1<f64>, m: &Array2<f64>, k: f64, #[constant] c: &Array1<f64>) -> f64 {
    let mut sum = Array1::zeros(m.ncols());
    for row in m.rows() {
        sum += &row;
        sum *= c;
        sum.scaled_add(k, &row);
        sum.scaled_add(0.5, x);
        sum.scaled_add(k, c);
    }
    *x += c;
    *x -= 0.25;
    *x *= k;
    *x /= 2.0;
    let mut filled = Array2::from_elem((2, 2), k * k);
    filled.row_mut(1).fill(0.5);
    filled[[0, 1]] *= 3.0;
    filled.column_mut(0).assign(&array![k, 1.0]);
    let mut ones = Array1::<f64>::ones(c.len());
    ones.assign(&sum);
    ones.mapv_inplace(|e| (k * e).sin());
    (ones * &*x).sum() + (&filled * &filled).sum() + sum.dot(&sum)
}

#[differentiable(dual)]
fn reductions(x: &Array1<f64>, m: &Array2<f64>, k: f64) -> f64 {
    let rows = m.sum_axis(Axis(0)) * m.mean_axis(Axis(0)).unwrap() * m.product_axis(Axis(0));
    let columns = m.var_axis(Axis(1), 0.0) * m.std_axis(Axis(1), 1.0);
    let spread = x.var(k) + x.std(0.5) * x.mean().unwrap() * x.product();
    (rows * x).sum() * spread + columns.dot(&columns) * m.product()
}

/// Elements by their methods, by closures and what they capture, of active arrays and of constants.
#[differentiable(dual)]
fn maps(x: &Array1<f64>, k: f64, #[constant] t: &Array1<f64>) -> f64 {
    let logistic = x.mapv(|x| if x > 0.0 { 1.0 / (1.0 + (-k * x).exp()) } else { x.exp() / (1.0 + x.exp()) });
    let rectified = x.map(|x| x.max(0.1) * 2.0);
    let decay = t.mapv(|t| (-k * t * t).exp());
    let methods = x.sin() + x.exp().powf(k) + x.abs().sqrt() - x.powi(3).clamp(-0.5, 0.5);
    let owned = x.clone().mapv_into(f64::tanh);
    (logistic * rectified + &decay * methods).sum() + (owned * &decay).mapv(|e| e.powi(2)).sum()
}

#[differentiable(dual)]
fn shapes(x: &Array1<f64>, m: &Array2<f64>, k: f64, #[constant] c: &Array1<f64>) -> f64 {
    let copies = m.to_owned() + m.t().into_owned();
    let both = ndarray::stack![Axis(0), x.view(), c.view()];
    let line = ndarray::concatenate![Axis(0), c.view(), x.view()];
    let chosen = m.select(Axis(1), &[1, 0, 1]);
    let made = array![k, 2.0 * k, 1.0] * array![[1.0, k, 0.5], [k, k, 2.0]];
    let part = m.slice(s![..1, 1..]).to_owned() * m.row(0)[0] + m.slice(s![1, 1..]);
    (&both * &both).sum() * line.mapv(f64::sin).sum()
        + (chosen.t().dot(&made.row(0)) * 0.5).sum()
        + made.dot(x).sum() * (&copies * &copies).sum()
        + (part * m[[0, 0]]).sum()
        + (m.diag().to_owned() * x).sum()
        + m.t().dot(x).sum()
}

/// What moves memory in ndarray and is copied on dual numbers.
#[differentiable(dual)]
fn moved(x: &Array1<f64>) -> f64 {
    let square = x.to_shape((2, 2)).unwrap().to_owned();
    let turned = square.clone().reversed_axes();
    let three = ndarray::stack![Axis(0), x.view(), x.view(), x.view()];
    let line = Array1::from_vec(vec![x[0] * x[1], 0.5, x[2]]);
    let shaped = Array2::from_shape_vec((1, 3), vec![x[0], 1.0, x[3]]).unwrap();
    square.dot(&turned).mapv(f64::sin).sum() + three.mapv(|e| e * e * e).sum() + (shaped * line).sum()
}

#[test]
fn moved_arrays() {
    let x = array![0.3, -0.7, 1.1, 0.4];
    let mut g = moved::hessian();
    let hessian = g.value_gradient_and_hessian(&x).2.to_owned();
    let gradient = g.value_and_gradient(&x).1.x.to_owned();
    assert_eq!(g.value_and_jacobian(&x).1.row(0), gradient);
    for (i, column) in hessian.columns().into_iter().enumerate() {
        let mut unit = Array1::zeros(4);
        unit[i] = 1.0;
        assert_eq!(g.value_gradient_and_hvp(&x, &unit).2.x, column);
        let (value, slope) = g.value_and_pushforward(&x, &unit);
        assert_eq!(value, moved(&x));
        assert!((slope - gradient[i]).abs() < 1e-13);
        let h = 1e-5;
        let mut beside = |h: f64| g.value_and_gradient(&(&x + &(&unit * h))).1.x.to_owned();
        let expected = (beside(h) - beside(-h)) / (2.0 * h);
        assert!(column.iter().zip(&expected).all(|(got, d)| (got - d).abs() < 1e-8), "{column} {expected}");
    }
}

/// Loops of ndarray's own.
#[differentiable(dual)]
fn zips(x: &Array1<f64>, m: &Array2<f64>, k: f64, #[constant] c: &Array1<f64>) -> f64 {
    let mut y = Array1::<f64>::zeros(x.len());
    ndarray::azip!((y in &mut y, &x in x, &c in c) *y = x * c + k);
    ndarray::Zip::from(&mut y).and(m.column(0)).for_each(|y, &m| *y *= m.sin());
    let mut total = 0.0;
    for (row, y) in m.rows().into_iter().zip(y.iter()) {
        total += row.dot(x) * y;
    }
    for column in m.columns() {
        total += (&column * &y).sum();
    }
    let table = Array2::from_shape_fn((2, 2), |(i, j)| k * (i + j) as f64 + x[0]);
    total += m.map_axis(Axis(0), |lane| lane.sum() * k).sum() + table.fold(0.0, |a, e| a + e * e);
    total
}

/// A vector, a square matrix, a number and another vector.
type Input = (Array1<f64>, Array2<f64>, f64, Array1<f64>);

fn inputs(seed: u64, sizes: &[usize]) -> Vec<Input> {
    let random = &mut Random(seed);
    let input = |n: &usize| {
        let (x, m) = (random.vector(*n), random.matrix((*n, *n), n.is_multiple_of(2)));
        (x, m, 0.5 + 0.5 * random.next().abs(), random.vector(*n))
    };
    sizes.iter().map(input).collect()
}

#[test]
fn changes_of_arrays() {
    check_second_order(changes::rule, inputs(3, &[3, 1, 4]));
}

#[test]
fn reductions_of_arrays() {
    check_second_order(reductions::rule, inputs(4, &[3, 2, 4]).into_iter().map(|(x, m, k, _)| (x, m, k)));
}

/// What is zero changes even so.
#[test]
fn products_with_zeros() {
    let with_zeros = |zeros: &'static [usize]| {
        move |(mut x, mut m, k, _): Input| {
            zeros.iter().for_each(|i| (x[*i], m[[*i, *i / 2]]) = (0.0, 0.0));
            (x, m, k)
        }
    };
    for zeros in [&[1][..], &[0, 2], &[0, 1, 2]] {
        check_second_order(reductions::rule, inputs(5, &[4]).into_iter().map(with_zeros(zeros)));
    }
}

#[test]
fn maps_of_arrays() {
    check_second_order(maps::rule, inputs(6, &[3, 2, 9]).into_iter().map(|(x, _, k, c)| (x, k, c)));
}

#[test]
fn shapes_of_arrays() {
    check_second_order(shapes::rule, inputs(7, &[3]));
}

#[test]
fn loops_over_arrays() {
    check_second_order(zips::rule, inputs(8, &[3, 2, 4]));
}
