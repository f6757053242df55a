//! Parts that functions of users' types select: `Index`, and methods that return references.

use std::ops::{Index, IndexMut};

use pullback::Float;
use pullback::prelude::*;
use pullback::testing::{check_gradient, check_rule};

#[derive(Clone, Debug, Differentiable)]
struct Matrix {
    data: Vec<f64>,
    rows: usize,
    cols: usize,
}

#[differentiable]
impl Index<(usize, usize)> for Matrix {
    type Output = f64;

    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        assert!(j < self.cols);
        &self.data[i * self.cols + j]
    }
}

#[differentiable]
impl IndexMut<(usize, usize)> for Matrix {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        assert!(j < self.cols);
        &mut self.data[i * self.cols + j]
    }
}

#[differentiable]
impl Index<usize> for Matrix {
    type Output = [f64];

    fn index(&self, i: usize) -> &[f64] {
        self.row(i)
    }
}

#[differentiable]
impl Matrix {
    #[constant]
    fn zeros(rows: usize, cols: usize) -> Self {
        Matrix { data: vec![0.0; rows * cols], rows, cols }
    }

    fn weights(&self) -> &[f64] {
        &self.data
    }

    fn row(&self, i: usize) -> &[f64] {
        let start = i * self.cols;
        &self.data[start..start + self.cols]
    }

    fn row_mut(&mut self, i: usize) -> &mut [f64] {
        let data = &mut self.data;
        &mut data[i * self.cols..(i + 1) * self.cols]
    }

    fn last(&self) -> &f64 {
        self.data.last().unwrap()
    }

    fn at_or(&self, i: usize, j: usize) -> &f64 {
        if i >= self.rows {
            return &self.data[0];
        }
        match j {
            j if j < self.cols => &self[(i, j)],
            _ => {
                let row = &self.data[i * self.cols..];
                &row[0]
            }
        }
    }

    /// In a method of the same type what is returned is known to be a reference.
    fn norm(&self, i: usize) -> f64 {
        let r = self.row(i);
        r.iter().map(|x| x * x).sum::<f64>() + self.row(0)[0] * self[(i, 0)]
    }

    fn dot_rows(&self, i: usize, k: usize) -> f64 {
        let mut total = dot(self.row(i), self.row(k));
        for (a, b) in self.row(i).iter().zip(self.row(k)) {
            total += a * b * *self.last();
        }
        total
    }

    fn scale_row(&mut self, i: usize, by: f64) {
        for x in self.row_mut(i) {
            *x *= by;
        }
        self.row_mut(i)[0] += by;
    }
}

fn matrix(n: usize) -> Matrix {
    let data = (0..n * n).map(|k| if k / n == k % n { 3.0 } else { 0.5 / (1.0 + k as f64) }).collect();
    Matrix { data, rows: n, cols: n }
}

#[differentiable]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// In place: what is overwritten comes back.
#[differentiable]
fn log_determinant(m: &mut Matrix) -> f64 {
    let n = m.rows;
    for k in 0..n {
        for i in k + 1..n {
            m[(i, k)] /= m[(k, k)];
            for j in k + 1..n {
                m[(i, j)] -= m[(i, k)] * m[(k, j)];
            }
        }
    }
    let mut total = 0.0;
    for k in 0..n {
        total += m[(k, k)].ln();
    }
    total
}

/// Into a local, by a reference.
#[differentiable]
fn cholesky(a: &Matrix) -> f64 {
    let n = a.rows;
    let mut l = Matrix::zeros(n, n);
    for i in 0..n {
        for j in 0..=i {
            let mut s = 0.5 * (a[(i, j)] + a[(j, i)]);
            for k in 0..j {
                s -= l[(i, k)] * l[(j, k)];
            }
            if i == j {
                l[(i, j)] = s.sqrt();
            } else {
                l[(i, j)] = s / l[(j, j)];
            }
        }
    }
    (0..n).map(|i| 2.0 * l[(i, i)].ln()).sum()
}

/// One that is returned.
#[differentiable]
fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let mut c = Matrix { data: vec![0.0; a.rows * b.cols], rows: a.rows, cols: b.cols };
    for i in 0..a.rows {
        for j in 0..b.cols {
            for k in 0..a.cols {
                c[(i, j)] += a[(i, k)] * b[(k, j)];
            }
        }
    }
    c
}

#[differentiable]
fn trace_of_product(a: &Matrix, b: &Matrix) -> f64 {
    let c = product(a, b);
    let mut total = c[(0, 0)];
    for i in 1..c.rows {
        total += c[(i, i)] * c[(0, i)];
    }
    total
}

/// A slice by a user's index, and references whose types are told.
#[differentiable]
fn by_rows(m: &Matrix, x: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..m.rows {
        let r: &[f64] = m.row(i);
        total += r[0] * m[i][1] + dot(r, x) + dot(&m[i], x);
        for (a, b) in r.iter().zip(x) {
            total += a * a * b;
        }
        total += r.iter().sum::<f64>() * r.len() as f64;
    }
    let all: &[f64] = m.weights();
    total + all[1] * all[2] + *m.last() * *m.at_or(9, 0) * *m.at_or(1, 1) * *m.at_or(1, 9)
}

/// Written through what methods return.
#[differentiable]
fn by_mutable_rows(m: &mut Matrix, x: &[f64]) -> f64 {
    for i in 0..m.rows {
        let r: &mut [f64] = m.row_mut(i);
        for k in 0..r.len() {
            r[k] = r[k] * r[k] + x[k];
        }
        m.row_mut(i)[0] *= x[0];
        let again: &mut [f64] = m.row_mut(i);
        again[1] *= again[0];
    }
    m.row_mut(0).swap(0, 1);
    m.scale_row(1, x[1]);
    m.norm(0) + m.norm(1) * m.dot_rows(0, 1)
}

/// A local, read and written by turns.
#[differentiable]
fn of_local(x: &[f64]) -> f64 {
    let mut m = Matrix::zeros(2, 2);
    m[(0, 0)] = x[0];
    m[(0, 1)] = x[1] * m[(0, 0)];
    m[(1, 0)] = m[(0, 1)] * m[(0, 1)];
    m[(0, 1)] *= m[(1, 0)];
    m[(1, 1)] = m[(0, 1)].sin();
    m[(0, 0)] = 0.0;
    m[(0, 1)] + m[(1, 1)] * m[(1, 0)] + m[(0, 0)]
}

/// By an index and by the fields, and captured by a closure that is passed on.
#[differentiable]
fn by_turns(m: &mut Matrix, x: &[f64]) -> f64 {
    let n = m.cols;
    let mut total = 0.0;
    for i in 0..n {
        m.data[i * n] *= x[0] * m[(i, 0)];
        total += m.data[i] * m.data[i] + m[(0, i)];
        m[(0, i)] = m.data[i * n] + m.data[i] * x[1];
        total += m.data[i] * m[(i, 0)];
    }
    let m = &*m;
    total + twice(|t| t * m[(n - 1, 0)] + t.sin() * m.data[0], x[0])
}

#[differentiable]
fn twice(f: impl Fn(f64) -> f64, x: f64) -> f64 {
    f(f(x))
}

/// The number of columns changes: an index means another element then.
#[differentiable]
fn in_other_shapes(m: &mut Matrix, x: &[f64]) -> f64 {
    let before = m[(1, 0)] * x[0];
    m[(1, 0)] = before * before;
    m.cols -= 1;
    let after = m[(1, 0)] * x[1];
    m[(1, 0)] *= after;
    m.cols += 1;
    before * m[(1, 0)] + m[(0, 1)]
}

#[test]
fn matrices_of_users() {
    let matrices = [1, 3, 2, 5].map(|n| (matrix(n),));
    check_rule(log_determinant::rule, matrices.clone());
    check_rule(cholesky::rule, matrices);
    let pairs = [2, 3, 1].map(|n| (matrix(n), matrix(n)));
    check_rule(product::rule, pairs.clone());
    check_rule(trace_of_product::rule, pairs);
    let rows = [(matrix(3), vec![0.5, 0.7, -0.2]), (matrix(4), vec![0.5, 0.7, -0.2, 1.0])];
    check_rule(by_rows::rule, rows.clone());
    check_rule(by_mutable_rows::rule, rows.clone());
    check_rule(by_turns::rule, rows.clone());
    check_rule(in_other_shapes::rule, rows);
    check_rule(Matrix::norm_rule, [(matrix(3), 1), (matrix(2), 0)]);
    check_rule(Matrix::dot_rows_rule, [(matrix(3), 1, 2), (matrix(2), 0, 0)]);
    check_rule(Matrix::scale_row_rule, [(matrix(3), 1, 0.7), (matrix(2), 0, 1.2)]);
    check_all!([vec![0.5, 0.7], vec![-1.1, 0.3]]; of_local);
    // ∂ ln |A| / ∂A is the transpose of the inverse.
    let mut g = log_determinant::gradient();
    let mut m = Matrix { data: vec![2.0, 1.0, 1.0, 1.0], rows: 2, cols: 2 };
    assert_eq!(g.value_and_gradient(&mut m).1.m.data, [1.0, -1.0, -1.0, 2.0]);
}

/// Several indices may select one element.
#[derive(Clone, Debug, Differentiable)]
struct Symmetric {
    packed: Vec<f64>,
}

#[differentiable]
impl Index<(usize, usize)> for Symmetric {
    type Output = f64;

    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        let (i, j) = if i < j { (j, i) } else { (i, j) };
        &self.packed[i * (i + 1) / 2 + j]
    }
}

#[differentiable]
impl IndexMut<(usize, usize)> for Symmetric {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        let (i, j) = if i < j { (j, i) } else { (i, j) };
        &mut self.packed[i * (i + 1) / 2 + j]
    }
}

#[differentiable]
fn both_halves(m: &mut Symmetric, n: usize) -> f64 {
    for i in 0..n {
        for j in 0..n {
            m[(i, j)] = m[(j, i)] * m[(i, i)] + m[(i, j)];
            m[(j, i)] *= m[(i, j)];
        }
    }
    let mut total = 0.0;
    for i in 0..n {
        for j in 0..n {
            total += m[(i, j)].sin() * m[(j, i)];
        }
    }
    total
}

/// Within other structs, in vectors of such, and generic.
#[derive(Clone, Debug, Differentiable)]
#[pullback(by_reference)]
struct Net {
    layers: Vec<Matrix>,
    head: Matrix,
    scale: f64,
}

#[differentiable]
impl Net {
    fn layer(&self, k: usize) -> &Matrix {
        &self.layers[k]
    }

    fn first(&self) -> &[f64] {
        self.layers[0].row(0)
    }

    fn scale(&self) -> &f64 {
        &self.scale
    }
}

#[differentiable]
fn of_net(net: &Net, x: &[f64]) -> f64 {
    let mut total = net.head[(0, 0)] * net.layers[1][(1, 0)];
    for k in 0..net.layers.len() {
        let layer: &Matrix = net.layer(k);
        total += layer[(0, 1)] * x[0] + layer[(0, 0)] * layer[(0, 0)];
        let row: &[f64] = layer.row(1);
        total += row[0] * row[1];
    }
    let first: &[f64] = net.first();
    total * *net.scale() + first[0] * first[1]
}

#[differentiable]
fn change_net(net: &mut Net) -> f64 {
    net.head[(0, 0)] *= net.layers[0][(0, 1)];
    net.layers[1][(0, 1)] = net.head[(0, 0)] * net.scale;
    net.head.row_mut(1)[1] = net.layers[1][(0, 1)] * net.head[(0, 0)];
    net.head[(1, 1)] * net.head[(0, 0)]
}

#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
struct Grid<T, const N: usize> {
    cells: [[T; N]; N],
}

#[differentiable]
impl<T: Float, const N: usize> Index<(usize, usize)> for Grid<T, N> {
    type Output = T;

    fn index(&self, at: (usize, usize)) -> &T {
        &self.cells[at.0][at.1]
    }
}

#[differentiable]
impl<T: Float, const N: usize> IndexMut<(usize, usize)> for Grid<T, N> {
    fn index_mut(&mut self, at: (usize, usize)) -> &mut T {
        &mut self.cells[at.0][at.1]
    }
}

#[differentiable]
fn of_grid(grid: &mut Grid<f64, 3>, by: f64) -> f64 {
    let mut copy = *grid;
    for i in 1..3 {
        grid[(i, i)] = grid[(i - 1, i - 1)] * grid[(i, i)];
        copy[(i, 0)] += by * grid[(i, i)];
    }
    grid[(2, 2)] * copy[(2, 0)]
}

#[differentiable]
fn of_any_grid<T: Float>(grid: &Grid<T, 2>, x: &[T]) -> T {
    let mut total = grid[(0, 1)] * x[0];
    for i in 0..2 {
        total = total + grid[(i, 0)] * grid[(i, i)] * x[1];
    }
    total
}

/// Elements that are no numbers are told by their types.
#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
struct Complex {
    re: f64,
    im: f64,
}

#[derive(Clone, Debug, Differentiable)]
struct Phases {
    entries: Vec<Complex>,
    cols: usize,
}

#[differentiable]
impl Index<(usize, usize)> for Phases {
    type Output = Complex;

    fn index(&self, (i, j): (usize, usize)) -> &Complex {
        &self.entries[i * self.cols + j]
    }
}

#[differentiable]
impl IndexMut<(usize, usize)> for Phases {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut Complex {
        &mut self.entries[i * self.cols + j]
    }
}

#[differentiable]
fn of_phases(p: &mut Phases) -> f64 {
    let z: Complex = p[(0, 1)];
    p[(0, 0)] = Complex { re: z.re * z.im, im: z.re };
    p[(0, 1)].re *= p[(0, 0)].im;
    let w: Complex = p[(0, 0)];
    w.re * w.im + p[(0, 1)].re
}

#[test]
fn other_types_with_an_index() {
    let symmetric =
        |n: usize| Symmetric { packed: (0..n * (n + 1) / 2).map(|k| 0.3 + 0.2 * k as f64).collect() };
    check_rule(both_halves::rule, [(symmetric(2), 2), (symmetric(3), 3), (symmetric(1), 1)]);
    let net = Net { layers: vec![matrix(2), matrix(3)], head: matrix(2), scale: 0.7 };
    check_rule(of_net::rule, [(net.clone(), vec![0.5]), (net.clone(), vec![-1.5])]);
    check_rule(change_net::rule, [(net.clone(),), (net,)]);
    let cells = [[0.5, 1.0, -0.2], [0.7, 1.5, 0.1], [0.9, -0.4, 2.0]];
    check_rule(of_grid::rule, [(Grid { cells }, 0.5), (Grid { cells }, -0.5)]);
    let cells = [[0.5, 1.0], [0.7, 1.5]];
    check_rule(of_any_grid::<f64>::rule, [(Grid { cells }, vec![0.5, -0.7])]);
    let z = |re, im| Complex { re, im };
    check_rule(of_phases::rule, [(Phases { entries: vec![z(0.5, 1.0), z(-0.3, 0.7)], cols: 2 },)]);
}

/// Of whose values nothing tells the type: the gradient has an index, too, where this depends on nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
struct Vector {
    x: f64,
    y: f64,
    z: [f64; 1],
}

#[differentiable]
impl Index<usize> for Vector {
    type Output = f64;

    fn index(&self, i: usize) -> &f64 {
        match i {
            0 => &self.x,
            1 => &self.y,
            2 => &self.z[0],
            _ => panic!("a vector has three numbers"),
        }
    }
}

#[differentiable]
fn cross(a: Vector, b: Vector) -> Vector {
    let z = [a.x * b.y - a.y * b.x];
    Vector { x: a[1] * b[2] - a[2] * b[1], y: a[2] * b[0] - a[0] * b[2], z }
}

#[derive(Clone, Debug, Differentiable)]
struct Series {
    coefficients: Vec<f64>,
}

#[differentiable]
impl Index<usize> for Series {
    type Output = f64;

    fn index(&self, i: usize) -> &f64 {
        &self.coefficients[i]
    }
}

#[differentiable]
fn series(x: f64) -> Series {
    Series { coefficients: vec![x, x.sin(), x * x] }
}

#[differentiable]
fn of_untold(a: Vector, b: Vector) -> f64 {
    let c = cross(a, b);
    let mut total = cross(c, b)[2];
    for i in 0..3 {
        total += c[i] * a[i];
    }
    let s = series(total);
    c[0] * c[1] + s[2] * s[1]
}

#[test]
fn types_that_nothing_tells() {
    let v = |x, y, z| Vector { x, y, z: [z] };
    check_rule(
        of_untold::rule,
        [(v(0.5, 1.0, -0.2), v(0.7, -0.4, 2.0)), (v(1.0, 0.2, 0.3), v(0.1, 0.4, 0.2))],
    );
    let mut g = of_untold::gradient();
    let (_, d) = g.value_and_gradient(v(0.5, 1.0, -0.2), v(0.7, -0.4, 2.0));
    assert_eq!([d.a[0], d.a[1], d.a[2]], [d.a.x, d.a.y, d.a.z[0]]);
}
