//! Kronecker's product.
use ndarray::{Array2, ArrayRef2, ArrayView1, ArrayView2, Axis, Ix1, Ix2, MathCell, Zip};

use super::cases::{Argument, Case, Kind};
use super::forms::forms;
use super::joins::Joins;
use super::packed::Seed;
use super::scalar::Number;
use crate::activation::Dual;
use crate::blas::vectorised::{Kernel, vectorised};
use crate::shadow::{Accumulate, ArrayCells};

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
    kernel KronKernel<L: Joins<R>, R: Number>;
    constants ();
    arguments (a: &ArrayRef2<L>, b: &ArrayRef2<R>);
    result Array2<L> / ArrayRef2 Ix2;
}

#[derive(Default)]
struct KronKernel<L, R> {
    marker: std::marker::PhantomData<(L, R)>,
}

impl<L: Joins<R>, R: Number> KronKernel<L, R> {
    fn shape(_: &str, a: &ArrayRef2<L>, b: &ArrayRef2<R>) -> Ix2 {
        Ix2(a.nrows() * b.nrows(), a.ncols() * b.ncols())
    }

    fn forward(&mut self, _: &str, a: &ArrayRef2<L>, b: &ArrayRef2<R>, y: &mut ArrayRef2<L>) {
        let p = b.nrows();
        for (i, a) in a.rows().into_iter().enumerate() {
            for (k, b) in b.rows().into_iter().enumerate() {
                let mut y = y.row_mut(i * p + k);
                match (b.to_slice(), y.as_slice_mut()) {
                    (Some(b), Some(y)) => vectorised(Multiples { a, b, y }),
                    _ => Zip::indexed(&mut y)
                        .for_each(|l, y| *y = a[l / b.len()] * L::of_right(b[l % b.len()])),
                }
            }
        }
    }

    fn pullback(&mut self, a: Dual<'_, ArrayRef2<L>>, b: Dual<'_, ArrayRef2<R>>, seed: Seed<'_, L, Ix2>) {
        match seed {
            Seed::Lent(dy) => pull(a, b, dy.view(), |d| *d),
            Seed::Cells(dy) => pull(a, b, dy, |d| d.get()),
        }
    }
}

/// A row of *A ⊗ B*: *B*'s row times each entry of *A*'s.
struct Multiples<'a, L: Joins<R>, R: Number> {
    a: ArrayView1<'a, L>,
    b: &'a [R],
    y: &'a mut [L],
}

impl<L: Joins<R>, R: Number> Kernel for Multiples<'_, L, R> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        for (j, y) in self.y.chunks_exact_mut(self.b.len().max(1)).enumerate() {
            let a = self.a[j];
            for l in 0..self.b.len() {
                y[l] = a * L::of_right(self.b[l]);
            }
        }
    }
}

/// Row by row of *Ẏ*, as it lies in memory; `value` reads an entry.
fn pull<L: Joins<R>, R: Number, E>(
    a: Dual<'_, ArrayRef2<L>>,
    b: Dual<'_, ArrayRef2<R>>,
    dy: ArrayView2<'_, E>,
    value: impl Fn(&E) -> L + Copy,
) {
    let (p, q) = b.value.dim();
    if q == 0 {
        return;
    }
    let (da, db) = (a.shadow.get(), b.shadow.get().and_then(L::right_cells));
    for (i, a) in a.value.rows().into_iter().enumerate() {
        for (k, b) in b.value.rows().into_iter().enumerate() {
            let row = dy.row(i * p + k);
            let (da, db) =
                (da.map(|da| da.index_axis_move(Axis(0), i)), db.map(|db| db.index_axis_move(Axis(0), k)));
            let whole = (row.to_slice(), b.to_slice(), db.map(|db| db.to_slice()));
            if let (Some(dy), Some(b), None | Some(Some(_))) = whole {
                if let Some(da) = da {
                    vectorised(Inner { dy, b, da, value });
                }
                if let Some(Some(db)) = whole.2 {
                    vectorised(Weighted { dy, a, db, value });
                }
                continue;
            }
            for (l, d) in row.iter().enumerate() {
                let (j, l, d) = (l / q, l % q, value(d));
                if let Some(da) = &da {
                    da[j].accumulate(L::of_right(b[l]) * d);
                }
                if let Some(db) = &db {
                    db[l].accumulate(a[j] * d);
                }
            }
        }
    }
}

/// How many sums do not wait for each other.
const LANES: usize = 16;

/// *ȧⱼ += Σₗ bₗ·ẏⱼₗ*
struct Inner<'a, T, R, E, F> {
    dy: &'a [E],
    b: &'a [R],
    da: ArrayCells<'a, T, Ix1>,
    value: F,
}

impl<T: Joins<R>, R: Number, E, F: Fn(&E) -> T> Kernel for Inner<'_, T, R, E, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (b, b_rest) = self.b.as_chunks::<LANES>();
        for (j, dy) in self.dy.chunks_exact(self.b.len()).enumerate() {
            let (dy, rest) = dy.as_chunks::<LANES>();
            let mut sums = [T::ZERO; LANES];
            for (dy, b) in dy.iter().zip(b) {
                for l in 0..LANES {
                    sums[l] += T::of_right(b[l]) * (self.value)(&dy[l]);
                }
            }
            for (l, d) in rest.iter().enumerate() {
                sums[l] += T::of_right(b_rest[l]) * (self.value)(d);
            }
            self.da[j].accumulate(sums.into_iter().sum());
        }
    }
}

/// *ḃₗ += Σⱼ aⱼ·ẏⱼₗ*
struct Weighted<'a, T, E, F> {
    dy: &'a [E],
    a: ArrayView1<'a, T>,
    db: &'a [MathCell<T>],
    value: F,
}

impl<T: Number, E, F: Fn(&E) -> T> Kernel for Weighted<'_, T, E, F> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let q = self.db.len();
        for (first, db) in self.db.chunks(LANES).enumerate() {
            let first = first * LANES;
            let mut sums = [T::ZERO; LANES];
            for (j, dy) in self.dy.chunks_exact(q).enumerate() {
                let a = self.a[j];
                match dy[first..].first_chunk::<LANES>() {
                    Some(dy) => (0..LANES).for_each(|l| sums[l] += a * (self.value)(&dy[l])),
                    None => (0..db.len()).for_each(|l| sums[l] += a * (self.value)(&dy[first + l])),
                }
            }
            for (db, sum) in db.iter().zip(sums) {
                db.accumulate(sum);
            }
        }
    }
}

pub(super) const CASES: &[Case] = &[Case {
    name: "kron",
    arguments: &[Argument::Matrix(Kind::Regular, 0, 1), Argument::Matrix(Kind::Regular, 1, 2)],
    sizes: &[[3, 2, 4], [0, 2, 1], [1, 1, 1], [2, 5, 2]],
    allocations: 1,
    benchmark: &[[8, 8, 8], [16, 16, 16]],
}];
