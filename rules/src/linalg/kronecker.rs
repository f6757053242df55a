//! Kronecker's product.

use ndarray::{Array2, ArrayRef2, Ix2};

use super::cases::{Argument, Case, Kind};
use super::forms::forms;
use super::packed::Seed;
use super::scalar::Real;
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
    kernel KronKernel<T: Real>;
    constants ();
    arguments (a: &ArrayRef2<T>, b: &ArrayRef2<T>);
    result Array2<T> / ArrayRef2 Ix2;
}

#[derive(Default)]
struct KronKernel<T> {
    marker: std::marker::PhantomData<T>,
}

impl<T: Real> KronKernel<T> {
    fn shape(_: &str, a: &ArrayRef2<T>, b: &ArrayRef2<T>) -> Ix2 {
        Ix2(a.nrows() * b.nrows(), a.ncols() * b.ncols())
    }

    fn forward(&mut self, _: &str, a: &ArrayRef2<T>, b: &ArrayRef2<T>, y: &mut ArrayRef2<T>) {
        let (p, q) = b.dim();
        for ((i, j), &a) in a.indexed_iter() {
            for ((k, l), &b) in b.indexed_iter() {
                y[[i * p + k, j * q + l]] = a * b;
            }
        }
    }

    fn pullback(&mut self, a: Dual<'_, ArrayRef2<T>>, b: Dual<'_, ArrayRef2<T>>, seed: Seed<'_, T, Ix2>) {
        let (p, q) = b.value.dim();
        let (da, db) = (a.shadow.get(), b.shadow.get());
        for ((i, j), &x) in a.value.indexed_iter() {
            let block = |k, l| seed.at(i * p + k, j * q + l);
            if let Some(da) = &da {
                da[[i, j]].accumulate(b.value.indexed_iter().map(|((k, l), &b)| b * block(k, l)).sum());
            }
            if let Some(db) = &db {
                db.indexed_iter().for_each(|((k, l), db)| db.accumulate(x * block(k, l)));
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
