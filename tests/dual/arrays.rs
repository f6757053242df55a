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

/// Each operator of arrays with each other and with numbers, constants among them, and with broadcasting; operands that are borrowed, and
/// operands that are given away.
#[differentiable(dual)]
fn operators(x: &Array1<f64>, m: &Array2<f64>, k: f64, #[constant] c: &Array2<f64>, #[constant] b: &Array1<f64>) -> f64 {
    let sums = x + m - c + k - 0.5 + b;
    let products = m * x * 0.5 * c * (2.0 * x) * k;
    let quotients = c / (m + 3.0) + (1.0 - x) / (2.0 - c) - k / (x + 4.0);
    let rest = (b - x) * (c * k) - (k - b) + (m + 3.0) % 0.75 - (-x);
    (sums * products + quotients * &rest).sum() + (&rest * &rest).sum()
}

/// Products of vectors and matrices in any combination.
#[differentiable(dual)]
fn products(a: &Array2<f64>, x: &Array1<f64>, #[constant] c: &Array2<f64>, #[constant] v: &Array1<f64>) -> f64 {
    let y = a.dot(x) + c.dot(x);
    let z = x.dot(a) - x.dot(c);
    let w: Array1<f64> = a.t().dot(v);
    let squares = a.dot(a) + a.dot(c) + c.t().dot(&a.t());
    y.dot(&z) + y.dot(v) * z.dot(x) + (v.dot(&w) * squares).mapv(|e| e * e).sum()
}

fn squares(random: &mut Random) -> Vec<(Array2<f64>, Array1<f64>, Array2<f64>, Array1<f64>)> {
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
    check_second_order(operators::rule, inputs.map(|(m, x, c, b)| (x, m, random.next(), c, b)).collect::<Vec<_>>());
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
    let copies = m.to_owned() + m.t().into_owned() + m.clone().reversed_axes();
    let both = ndarray::stack![Axis(0), x.view(), c.view(), x.view()];
    let line = ndarray::concatenate![Axis(0), c.view(), x.view()];
    let square = copies.to_shape(m.len()).unwrap().to_owned();
    let chosen = m.select(Axis(1), &[1, 0, 1]);
    let made = array![k, 2.0 * k, 1.0] * array![[1.0, k, 0.5], [k, k, 2.0]];
    let from_vec = Array1::from_vec(vec![k, 0.5, k * k]);
    let shaped = Array2::from_shape_vec((1, 3), vec![k, 1.0, k * k]).unwrap();
    let part = m.slice(s![..1, 1..]).to_owned() * m.row(0)[0] + &m.column(1);
    (&both * &both).sum() * line.mapv(f64::sin).sum()
        + (&square * &square).sum()
        + (chosen.t().dot(&made.column(0)) * 0.5).sum()
        + made.dot(&from_vec).sum() * (shaped * from_vec).sum()
        + (part * m.diag()).sum()
        + m.t().dot(x).sum()
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

#[test]
fn everything_else_of_arrays() {
    let random = &mut Random(3);
    let mut inputs: Vec<_> = [2, 3, 4]
        .map(|n| (random.vector(n), random.matrix((n, n), n == 3), 0.5 + 0.5 * random.next().abs(), random.vector(n)))
        .into();
    inputs[0].0[1] = 0.0;
    check_second_order(changes::rule, inputs.clone());
    check_second_order(zips::rule, inputs.clone());
    let without_constant = |(x, m, k, _): (_, _, _, _)| (x, m, k);
    check_second_order(reductions::rule, inputs[1..].iter().cloned().map(without_constant).collect::<Vec<_>>());
    let inputs: Vec<_> = inputs.into_iter().skip(1).collect();
    check_second_order(maps::rule, inputs.iter().cloned().map(|(x, _, k, c)| (x, k, c)).collect::<Vec<_>>());
    check_second_order(shapes::rule, inputs);
}
