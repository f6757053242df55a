//! Small dense systems, in memory that the caller keeps.

use super::fit;
use crate::heap::heap_size;

/// A square matrix by rows, and later its factors *P·A = L·U*.
#[derive(Default)]
pub(super) struct Dense {
    n: usize,
    elements: Vec<f64>,
    order: Vec<usize>,
}

impl Dense {
    /// Room for `n` rows.
    pub(super) fn resize(&mut self, n: usize) {
        self.n = n;
        fit(&mut self.elements, n * n);
    }

    pub(super) fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.elements[i * self.n..][..self.n]
    }

    pub(super) fn set(&mut self, i: usize, j: usize, value: f64) {
        self.elements[i * self.n + j] = value;
    }

    /// Decomposes the matrix in place, with partial pivoting (Golub & Van Loan, *Matrix Computations*, 2013, algorithm 3.4.1).
    /// Tells whether it has an inverse.
    pub(super) fn factor(&mut self) -> bool {
        let n = self.n;
        self.order.clear();
        self.order.extend(0..n);
        for k in 0..n {
            let size = |a: &Dense, i: usize| a.elements[i * n + k].abs();
            let pivot = (k..n).fold(k, |best, i| if size(self, i) > size(self, best) { i } else { best });
            let largest = size(self, pivot);
            if !(largest > 0.0 && largest.is_finite()) {
                return false;
            }
            if pivot != k {
                self.order.swap(k, pivot);
                let (upper, lower) = self.elements.split_at_mut(pivot * n);
                upper[k * n..][..n].swap_with_slice(&mut lower[..n]);
            }
            let (upper, lower) = self.elements.split_at_mut((k + 1) * n);
            let row = &upper[k * n..];
            for other in lower.chunks_exact_mut(n) {
                let factor = other[k] / row[k];
                other[k] = factor;
                for j in k + 1..n {
                    other[j] -= factor * row[j];
                }
            }
        }
        true
    }

    /// *A⁻¹·b* to `x`.
    pub(super) fn solve(&self, b: &[f64], x: &mut [f64]) {
        let n = self.n;
        for i in 0..n {
            let row = &self.elements[i * n..][..n];
            let known: f64 = row[..i].iter().zip(&*x).map(|(a, x)| a * x).sum();
            x[i] = b[self.order[i]] - known;
        }
        for i in (0..n).rev() {
            let row = &self.elements[i * n..][..n];
            let known: f64 = row[i + 1..].iter().zip(&x[i + 1..]).map(|(a, x)| a * x).sum();
            x[i] = (x[i] - known) / row[i];
        }
    }

    /// *A⁻ᵀ·b* to `x`; `room` is for as many numbers.
    pub(super) fn solve_transposed(&self, b: &[f64], room: &mut [f64], x: &mut [f64]) {
        let n = self.n;
        let a = |i: usize, j: usize| self.elements[i * n + j];
        for i in 0..n {
            let known: f64 = (0..i).map(|j| a(j, i) * room[j]).sum();
            room[i] = (b[i] - known) / a(i, i);
        }
        for i in (0..n).rev() {
            let known: f64 = (i + 1..n).map(|j| a(j, i) * room[j]).sum();
            room[i] -= known;
        }
        for i in 0..n {
            x[self.order[i]] = room[i];
        }
    }
}

heap_size! { [] Dense { elements, order } }

#[cfg(test)]
mod tests {
    use super::Dense;

    #[test]
    fn solves_either_way() {
        let rows = [[0.0, 2.0, -1.0], [1.0, 1.0, 3.0], [2.0, -1.0, 0.5]];
        let mut a = Dense::default();
        a.resize(3);
        for (i, row) in rows.iter().enumerate() {
            a.row_mut(i).copy_from_slice(row);
        }
        assert!(a.factor());
        let (b, mut x, mut room) = ([1.0, -2.0, 0.5], [0.0; 3], [0.0; 3]);
        a.solve(&b, &mut x);
        for (row, b) in rows.iter().zip(b) {
            assert!((row.iter().zip(x).map(|(a, x)| a * x).sum::<f64>() - b).abs() < 1e-15);
        }
        a.solve_transposed(&b, &mut room, &mut x);
        for (j, b) in b.into_iter().enumerate() {
            assert!(((0..3).map(|i| rows[i][j] * x[i]).sum::<f64>() - b).abs() < 1e-15);
        }
        a.resize(2);
        [[1.0, 2.0], [2.0, 4.0]].iter().enumerate().for_each(|(i, row)| a.row_mut(i).copy_from_slice(row));
        assert!(!a.factor());
    }
}
