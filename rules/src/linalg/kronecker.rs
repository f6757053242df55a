//! Kronecker's product.

use ndarray::{Array2, ArrayRef2, ArrayView1, ArrayView2, Ix2, Zip, s};

use super::cases::{Argument, Case, Kind};
use super::forms::forms;
use super::packed::Seed;
use super::scalar::Number;
use crate::activation::Dual;
use crate::shadow::Accumulate;

forms! {
    /// *A ⊗ B*: *B* times each entry of *A*, at the place of that entry.
    ///
    /// For *A* m×n and *B* p×q, of any layout, the result is mp×nq.
    ///
    /// ```
    /// use ndarray::array;
    /// use pullback_rules::linalg;
    ///
    /// let y = linalg::kron(&array![[1.0, 2.0]], &array![[3.0], [4.0]]);
    /// assert_eq!(y, array![[3.0, 6.0], [4.0, 8.0]]);
    /// ```
    ///
    /// # Gradient
    /// *Ȧᵢⱼ += ⟨B, Ẏ in block (i, j)⟩*, *Ḃ += Σᵢⱼ Aᵢⱼ·(Ẏ in block (i, j))*. Nothing is saved.
    fn kron = Kron;
    /// *A ⊗ B* as of [`kron()`], written to `y`.
    ///
    /// # Panics
    /// If `y` has another shape.
    fn kron_into = KronInto;
    kernel KronKernel<T: Number>;
    constants ();
    arguments (a: &ArrayRef2<T>, b: &ArrayRef2<T>);
    result Array2<T> / ArrayRef2 Ix2;
}

#[derive(Default)]
struct KronKernel<T> {
    marker: std::marker::PhantomData<T>,
}

impl<T: Number> KronKernel<T> {
    fn shape(_: &str, a: &ArrayRef2<T>, b: &ArrayRef2<T>) -> Ix2 {
        Ix2(a.nrows() * b.nrows(), a.ncols() * b.ncols())
    }

    fn forward(&mut self, _: &str, a: &ArrayRef2<T>, b: &ArrayRef2<T>, y: &mut ArrayRef2<T>) {
        let (p, q) = b.dim();
        for (i, a) in a.rows().into_iter().enumerate() {
            for (k, b) in b.rows().into_iter().enumerate() {
                let mut row = y.row_mut(i * p + k);
                for (j, &a) in a.iter().enumerate() {
                    Zip::from(row.slice_mut(s![j * q..(j + 1) * q])).and(b).for_each(|y, &b| *y = a * b);
                }
            }
        }
    }

    fn pullback(&mut self, a: Dual<'_, ArrayRef2<T>>, b: Dual<'_, ArrayRef2<T>>, seed: Seed<'_, T, Ix2>) {
        match seed {
            Seed::Lent(dy) => pull(a, b, dy.view(), |d| *d),
            Seed::Cells(dy) => pull(a, b, dy, |d| d.get()),
        }
    }
}

/// Row by row of *Ẏ*, as it lies in memory; `value` reads an entry.
fn pull<T: Number, E>(
    a: Dual<'_, ArrayRef2<T>>,
    b: Dual<'_, ArrayRef2<T>>,
    dy: ArrayView2<'_, E>,
    value: impl Fn(&E) -> T + Copy,
) {
    let (p, q) = b.value.dim();
    let (da, db) = (a.shadow.get(), b.shadow.get());
    for (i, a) in a.value.rows().into_iter().enumerate() {
        for (k, b) in b.value.rows().into_iter().enumerate() {
            let row = dy.row(i * p + k);
            for (j, &x) in a.iter().enumerate() {
                let part = row.slice(s![j * q..(j + 1) * q]);
                if let Some(da) = &da {
                    da[[i, j]].accumulate(dot(b, part, value));
                }
                if let Some(db) = &db {
                    Zip::from(db.row(k)).and(part).for_each(|db, d| db.accumulate(x * value(d)));
                }
            }
        }
    }
}

/// *Σ xᵢ·yᵢ*, in parts that do not wait for each other.
fn dot<T: Number, E>(x: ArrayView1<'_, T>, y: ArrayView1<'_, E>, value: impl Fn(&E) -> T) -> T {
    const PARTS: usize = 8;
    let (Some(x), Some(y)) = (x.to_slice(), y.to_slice()) else {
        return x.iter().zip(&y).map(|(x, y)| *x * value(y)).sum();
    };
    let mut sums = [T::ZERO; PARTS];
    let (xs, ys) = (x.chunks_exact(PARTS), y.chunks_exact(PARTS));
    let rest = xs.remainder().iter().zip(ys.remainder()).map(|(x, y)| *x * value(y)).sum::<T>();
    for (x, y) in xs.zip(ys) {
        for l in 0..PARTS {
            sums[l] += x[l] * value(&y[l]);
        }
    }
    sums.into_iter().sum::<T>() + rest
}

pub(super) const CASES: &[Case] = &[Case {
    name: "kron",
    arguments: &[Argument::Matrix(Kind::Regular, 0, 1), Argument::Matrix(Kind::Regular, 1, 2)],
    sizes: &[[3, 2, 4], [0, 2, 1], [1, 1, 1], [2, 5, 2]],
    allocations: 1,
    benchmark: &[[8, 8, 8], [16, 16, 16]],
}];
