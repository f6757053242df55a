//! Systems of equations with a triangular matrix.

use std::marker::PhantomData;

use faer::MatRef;
use ndarray::{Array, ArrayRef, ArrayRef2};

use super::backend::{Shape, solve_triangular as solve};
use super::cases::{Argument, Case, Kind};
use super::forms::forms;
use super::joins::Joins;
use super::packed::{Columns, Packed, Seed, add, add_to_triangle, fits, square, times, write};
use super::scalar::Number;
use crate::activation::Dual;
use crate::blas::{Trans, Uplo};
use crate::heap::heap_size;

forms! {
    /// *X = A⁻¹·B*, or *X = A⁻ᵀ·B* with [`Trans::Yes`], for a triangular *A*.
    ///
    /// *A* is n×n, *B* a vector of n numbers or an n×k matrix, both of any layout. Of *A* the `uplo` triangle is read, and nothing else.
    ///
    /// ```
    /// use ndarray::array;
    /// use pullback_rules::Trans;
    /// use pullback_rules::linalg::{self, Uplo};
    ///
    /// let l = array![[2.0, 0.0], [1.0, 4.0]];
    /// assert_eq!(linalg::solve_triangular(Uplo::Lower, Trans::No, &l, &array![2.0, 9.0]), array![1.0, 2.0]);
    /// assert_eq!(linalg::solve_triangular(Uplo::Lower, Trans::Yes, &l, &array![4.0, 8.0]), array![1.0, 2.0]);
    /// ```
    ///
    /// # Gradient
    /// With *Λ = A⁻ᵀ·Ẋ*: *Ḃ += Λ*, and *Ȧ −= Λ·Xᵀ* in the triangle (Giles, *Collected matrix derivative results for forward and reverse mode
    /// algorithmic differentiation*, 2008, section 2.3.1). With [`Trans::Yes`], *Λ = A⁻¹·Ẋ* and *Ȧ −= X·Λᵀ*.
    ///
    /// # Panics
    /// If the shapes do not fit, or if *A* has a zero on the diagonal.
    fn solve_triangular = SolveTriangular;
    /// *X* as of [`solve_triangular()`], written to `y`.
    ///
    /// # Panics
    /// As [`solve_triangular()`] does, and if `y` has another shape.
    fn solve_triangular_into = SolveTriangularInto;
    kernel TriangularKernel<L: Joins<R>, R: Number, D: Columns>;
    constants (uplo: [Uplo], trans: [Trans]);
    arguments (a: &ArrayRef2<L>, b: &ArrayRef<R, D>);
    result Array<L, D> / ArrayRef D;
}

#[derive(Default)]
struct TriangularKernel<L: Joins<R>, R: Number, D> {
    a: Packed<L>,
    x: Packed<L>,
    lambda: Packed<L>,
    work: Packed<L>,
    right: PhantomData<(R, D)>,
}

impl<L: Joins<R>, R: Number, D: Columns> TriangularKernel<L, R, D> {
    fn shape(function: &str, _: Uplo, _: Trans, a: &ArrayRef2<L>, b: &ArrayRef<R, D>) -> D {
        fits(function, square(function, a), b);
        b.raw_dim()
    }

    fn forward(
        &mut self,
        function: &str,
        uplo: Uplo,
        trans: Trans,
        a: &ArrayRef2<L>,
        b: &ArrayRef<R, D>,
        x: &mut ArrayRef<L, D>,
    ) {
        self.a.assign(a);
        if let Some(i) = (0..a.nrows()).find(|&i| a[[i, i]] == L::ZERO) {
            panic!("{function}: entry ({i}, {i}) of the triangular matrix is zero");
        }
        self.x.load(&D::matrix(b.view()), L::of_right);
        let (a, shape) = oriented(&self.a, uplo, trans);
        solve(a, shape, &mut self.x);
        write(x, &self.x);
    }

    fn pullback(
        &mut self,
        uplo: Uplo,
        trans: Trans,
        a: Dual<'_, ArrayRef2<L>>,
        b: Dual<'_, ArrayRef<R, D>>,
        seed: Seed<'_, L, D>,
    ) {
        let (da, db) = (a.shadow.get(), b.shadow.get().and_then(L::right_cells));
        if da.is_none() && db.is_none() {
            return;
        }
        let TriangularKernel { a: matrix, x, lambda, work, .. } = self;
        seed.load(lambda);
        let (transposed, shape) = oriented(matrix, uplo, opposite(trans));
        solve(transposed, shape, lambda);
        if let Some(db) = db {
            add(D::matrix(db), &lambda.view());
        }
        if let Some(da) = da {
            let (left, right) = if trans == Trans::Yes { (x, lambda) } else { (lambda, x) };
            work.resize(matrix.rows(), matrix.rows());
            times(-L::ONE, &left.view(), &right.view().t(), L::ZERO, &mut work.view_mut());
            add_to_triangle(da, work, uplo == Uplo::Lower);
        }
    }
}

fn opposite(trans: Trans) -> Trans {
    if trans == Trans::Yes { Trans::No } else { Trans::Yes }
}

/// The matrix to solve with, and which part of it is read.
fn oriented<T: Number>(a: &Packed<T>, uplo: Uplo, trans: Trans) -> (MatRef<'_, T>, Shape) {
    let shape = if (uplo == Uplo::Lower) != (trans == Trans::Yes) { Shape::LOWER } else { Shape::UPPER };
    (if trans == Trans::Yes { a.get().transpose() } else { a.get() }, shape)
}

pub(super) const CASES: &[Case] = &[Case {
    name: "solve_triangular",
    arguments: &[Argument::Matrix(Kind::Triangular, 0, 0), Argument::Matrix(Kind::Regular, 0, 2)],
    sizes: &[[3, 0, 2], [0, 0, 2], [1, 0, 1], [4, 0, 0], [20, 0, 3], [5, 0, 7]],
    allocations: 1,
    benchmark: &[[8, 0, 1], [64, 0, 1], [64, 0, 64], [256, 0, 16]],
}];

heap_size! { [L: Joins<R>, R: Number, D] TriangularKernel<L, R, D> { a, x, lambda, work } }
