//! Positive definite matrices: Cholesky's decomposition, and what rests on it.

use std::marker::PhantomData;

use ndarray::{Array, Array2, ArrayRef, ArrayRef2, Ix2};

use super::backend::{self, Shape, solve_triangular, solve_triangular_in};
use super::cases::{Argument, Case, Kind};
use super::forms::forms;
use super::joins::Joins;
use super::packed::{
    Columns, Packed, Scratch, Seed, add, add_to_lower, add_to_triangle, fits, square, times, write,
};
use super::scalar::{Number, Structure};
use crate::activation::Dual;
use crate::blas::products::leave_vector_registers_clean;
use crate::heap::heap_size;
use crate::reused;

/// The factor of a positive definite matrix.
#[derive(Default)]
struct Factor<T> {
    l: Packed<T>,
    scratch: Scratch,
}

impl<T: Number> Factor<T> {
    /// *A = L·Lᵀ*, out of the lower triangle of *A*.
    fn of(&mut self, function: &str, a: &ArrayRef2<T>) {
        self.l.assign(a);
        if let Err(pivot) = backend::cholesky(&mut self.l, &mut self.scratch) {
            panic!("{function}: the matrix is not positive definite, as pivot {pivot} shows");
        }
    }

    /// *B ← A⁻¹·B*
    fn solve(&self, b: &mut Packed<T>) {
        solve_triangular(self.l.get(), Shape::LOWER, b);
        solve_triangular(self.l.get().transpose(), Shape::UPPER, b);
    }
}

forms! {
    /// The lower triangular *L* with *A = L·Lᵀ*, for a positive definite *A*.
    ///
    /// *A* is n×n and may have any layout. It is taken to be symmetric: only its lower triangle is read. Above its diagonal *L* is zero.
    ///
    /// ```
    /// use ndarray::array;
    /// use pullback_rules::linalg;
    ///
    /// let l = linalg::cholesky(&array![[4.0, 2.0], [2.0, 5.0]]);
    /// assert_eq!(l, array![[2.0, 0.0], [1.0, 2.0]]);
    /// ```
    ///
    /// # Gradient
    /// With *P = Φ(Lᵀ·L̇)*, where Φ takes the lower triangle with half of the diagonal, and *S = L⁻ᵀ·P·L⁻¹*: *Ȧ += S + Sᵀ* below the diagonal
    /// and *S* on it, nothing above, where *A* is not read (Murray, *Differentiation of the Cholesky decomposition*, 2016, eq. 10).
    ///
    /// # Panics
    /// If *A* is not square, or not positive definite.
    fn cholesky = Cholesky;
    /// *L* as of [`cholesky()`], written to `y`.
    ///
    /// # Panics
    /// As [`cholesky()`] does, and if `y` has another shape.
    fn cholesky_into = CholeskyInto;
    kernel CholeskyKernel<T: Number>;
    constants ();
    arguments (a: &ArrayRef2<T>);
    result Array2<T> / ArrayRef2 Ix2;
}

/// *L*, and room for *Ȧ*.
#[derive(Default)]
struct CholeskyKernel<T> {
    factor: Factor<T>,
    product: Packed<T>,
    work: Packed<T>,
}

impl<T: Number> CholeskyKernel<T> {
    fn shape(function: &str, a: &ArrayRef2<T>) -> Ix2 {
        let n = square(function, a);
        Ix2(n, n)
    }

    fn forward(&mut self, function: &str, a: &ArrayRef2<T>, l: &mut ArrayRef2<T>) {
        self.factor.of(function, a);
        l.assign(&self.factor.l.view());
    }

    fn pullback(&mut self, a: Dual<'_, ArrayRef2<T>>, seed: Seed<'_, T, Ix2>) {
        let Some(da) = a.shadow.get() else { return };
        let CholeskyKernel { factor: Factor { l, .. }, product: p, work } = self;
        seed.load(work);
        lower_product(p, l, work);
        for j in 0..p.columns() {
            p.column_mut(j)[j] *= T::from_f64(0.5);
        }
        // From the left by L⁻ᵀ, from the right by L⁻¹.
        let upper = l.get().transpose();
        solve_triangular(upper, Shape::UPPER, p);
        solve_triangular_in(upper, Shape::UPPER, p.get_mut().transpose_mut());
        add_to_lower(da, p);
    }
}

/// The lower triangle of *Lᵀ·M* for the lower triangles of *L* and *M*, with zeros above it.
fn lower_product<T: Number>(p: &mut Packed<T>, l: &Packed<T>, m: &Packed<T>) {
    p.zeros(l.rows(), l.rows());
    let (lower, upper) = (Structure::TriangularLower, Structure::TriangularUpper);
    let (l, m) = (l.get().transpose(), m.get());
    if l.nrows() > 0 {
        T::add_product((p.get_mut(), lower), false, (l, upper), (m, lower));
    }
}

forms! {
    /// *X = A⁻¹·B* for the positive definite *A = L·Lᵀ*, given *L* as [`cholesky()`] returns it.
    ///
    /// *L* is n×n, of which the lower triangle is read; *B* is a vector of n numbers or an n×k matrix. To solve for a single time, there is
    /// [`solve_spd()`].
    ///
    /// ```
    /// use ndarray::array;
    /// use pullback_rules::linalg;
    ///
    /// let l = array![[2.0, 0.0], [1.0, 2.0]];
    /// assert_eq!(linalg::cholesky_solve(&l, &array![8.0, 8.0]), array![1.5, 1.0]);
    /// ```
    ///
    /// # Gradient
    /// With *Λ = A⁻¹·Ẋ*: *Ḃ += Λ*, and *L̇ −= (Λ·Xᵀ + X·Λᵀ)·L* in the lower triangle (Giles, *Collected matrix derivative results for forward and
    /// reverse mode algorithmic differentiation*, 2008, section 2.3.1, with *dA = dL·Lᵀ + L·dLᵀ*).
    ///
    /// # Panics
    /// If the shapes do not fit, or if *L* has a zero on the diagonal.
    fn cholesky_solve = CholeskySolve;
    /// *X* as of [`cholesky_solve()`], written to `y`.
    ///
    /// # Panics
    /// As [`cholesky_solve()`] does, and if `y` has another shape.
    fn cholesky_solve_into = CholeskySolveInto;
    kernel FactorSolveKernel<L: Joins<R>, R: Number, D: Columns>;
    constants ();
    arguments (l: &ArrayRef2<L>, b: &ArrayRef<R, D>);
    result Array<L, D> / ArrayRef D;
}

/// *L* and *X*, and room for the gradients.
#[derive(Default)]
struct FactorSolveKernel<L: Joins<R>, R: Number, D> {
    factor: Factor<L>,
    x: Packed<L>,
    lambda: Packed<L>,
    row: Packed<L>,
    work: Packed<L>,
    right: PhantomData<(R, D)>,
}

impl<L: Joins<R>, R: Number, D: Columns> FactorSolveKernel<L, R, D> {
    fn shape(function: &str, l: &ArrayRef2<L>, b: &ArrayRef<R, D>) -> D {
        fits(function, square(function, l), b);
        b.raw_dim()
    }

    fn forward(&mut self, function: &str, l: &ArrayRef2<L>, b: &ArrayRef<R, D>, x: &mut ArrayRef<L, D>) {
        self.factor.l.assign_lower(l);
        if let Some(i) = (0..l.nrows()).find(|&i| l[[i, i]] == L::ZERO) {
            panic!("{function}: entry ({i}, {i}) of the triangular matrix is zero");
        }
        self.x.load(&D::matrix(b.view()), L::of_right);
        self.factor.solve(&mut self.x);
        write(x, &self.x);
    }

    fn pullback(&mut self, l: Dual<'_, ArrayRef2<L>>, b: Dual<'_, ArrayRef<R, D>>, seed: Seed<'_, L, D>) {
        let (dl, db) = (l.shadow.get(), b.shadow.get().and_then(L::right_cells));
        if dl.is_none() && db.is_none() {
            return;
        }
        let FactorSolveKernel { factor, x, lambda, row, work, .. } = self;
        seed.load(lambda);
        factor.solve(lambda);
        if let Some(db) = db {
            add(D::matrix(db), &lambda.view());
        }
        let Some(dl) = dl else { return };
        let n = factor.l.rows();
        work.zeros(n, n);
        row.resize(x.columns(), n);
        for (left, right) in [(&*lambda, &*x), (&*x, &*lambda)] {
            times(L::ONE, &right.view().t(), &factor.l.view(), L::ZERO, &mut row.view_mut());
            times(-L::ONE, &left.view(), &row.view(), L::ONE, &mut work.view_mut());
        }
        add_to_triangle(dl, work, true);
    }
}

forms! {
    /// *X = A⁻¹·B* for a positive definite *A*.
    ///
    /// *A* is n×n, taken to be symmetric: only its lower triangle is read. *B* is a vector of n numbers or an n×k matrix. *A* is decomposed once,
    /// for the value and the gradient.
    ///
    /// ```
    /// use ndarray::array;
    /// use pullback_rules::linalg;
    ///
    /// let a = array![[4.0, 2.0], [2.0, 5.0]];
    /// assert_eq!(linalg::solve_spd(&a, &array![8.0, 8.0]), array![1.5, 1.0]);
    /// ```
    ///
    /// # Gradient
    /// With *Λ = A⁻¹·Ẋ*: *Ḃ += Λ*, *Ȧ −= Λ·Xᵀ*, of which entries above the diagonal go to those below, which are read in their place (Giles,
    /// *Collected matrix derivative results for forward and reverse mode algorithmic differentiation*, 2008, section 2.3.1).
    ///
    /// # Panics
    /// If the shapes do not fit, or if *A* is not positive definite.
    fn solve_spd = SolveSpd;
    /// *X* as of [`solve_spd()`], written to `y`.
    ///
    /// # Panics
    /// As [`solve_spd()`] does, and if `y` has another shape.
    fn solve_spd_into = SolveSpdInto;
    kernel SolveSpdKernel<L: Joins<R>, R: Number, D: Columns>;
    constants ();
    arguments (a: &ArrayRef2<L>, b: &ArrayRef<R, D>);
    result Array<L, D> / ArrayRef D;
}

/// *L* and *X*, and room for the gradients.
#[derive(Default)]
struct SolveSpdKernel<L: Joins<R>, R: Number, D> {
    factor: Factor<L>,
    x: Packed<L>,
    lambda: Packed<L>,
    work: Packed<L>,
    right: PhantomData<(R, D)>,
}

impl<L: Joins<R>, R: Number, D: Columns> SolveSpdKernel<L, R, D> {
    fn shape(function: &str, a: &ArrayRef2<L>, b: &ArrayRef<R, D>) -> D {
        fits(function, square(function, a), b);
        b.raw_dim()
    }

    fn forward(&mut self, function: &str, a: &ArrayRef2<L>, b: &ArrayRef<R, D>, x: &mut ArrayRef<L, D>) {
        self.factor.of(function, a);
        self.x.load(&D::matrix(b.view()), L::of_right);
        self.factor.solve(&mut self.x);
        write(x, &self.x);
    }

    fn pullback(&mut self, a: Dual<'_, ArrayRef2<L>>, b: Dual<'_, ArrayRef<R, D>>, seed: Seed<'_, L, D>) {
        let (da, db) = (a.shadow.get(), b.shadow.get().and_then(L::right_cells));
        if da.is_none() && db.is_none() {
            return;
        }
        let SolveSpdKernel { factor, x, lambda, work, .. } = self;
        seed.load(lambda);
        factor.solve(lambda);
        if let Some(db) = db {
            add(D::matrix(db), &lambda.view());
        }
        if let Some(da) = da {
            work.resize(x.rows(), x.rows());
            times(-L::ONE, &lambda.view(), &x.view().t(), L::ZERO, &mut work.view_mut());
            add_to_lower(da, work);
        }
    }
}

/// ln det *A* of a positive definite *A*, which is n×n and taken to be symmetric: only its lower triangle is read.
///
/// ```
/// use ndarray::array;
/// use pullback_rules::linalg;
///
/// assert_eq!(linalg::logdet_spd(&array![[4.0, 2.0], [2.0, 5.0]]), 2.0 * 4.0_f64.ln());
/// ```
///
/// # Gradient
/// *Ȧ += ẏ·A⁻¹*, of which entries above the diagonal go to those below, which are read in their place (Giles, *Collected matrix derivative
/// results for forward and reverse mode algorithmic differentiation*, 2008, section 2.2.4). The inverse is the gradient itself, and computed out of
/// *L* if *A* is active.
///
/// # Panics
/// If *A* is not square, or not positive definite.
pub fn logdet_spd<T: Number>(a: &ArrayRef2<T>) -> T {
    reused::with::<LogdetSpd<T>, _>(T::CARRIES, |rule| rule.forward(a))
}

#[derive(Default, pullback_macros::Rule)]
#[rule(pub fn logdet_spd<T: Number>(a: &ArrayRef2<T>) -> T)]
struct LogdetSpd<T: Number> {
    factor: Factor<T>,
    inverse: Packed<T>,
}

impl<T: Number> LogdetSpd<T> {
    fn forward(&mut self, a: &ArrayRef2<T>) -> T {
        square("logdet_spd", a);
        self.factor.of("logdet_spd", a);
        leave_vector_registers_clean();
        let l = &self.factor.l;
        let half: T = (0..l.rows()).map(|i| l.column(i)[i].ln()).sum();
        T::from_f64(2.0) * half
    }

    fn pullback(&mut self, a: Dual<'_, ArrayRef2<T>>, d: T) {
        let Some(da) = a.shadow.get() else { return };
        let n = self.factor.l.rows();
        self.inverse.zeros(n, n);
        (0..n).for_each(|i| self.inverse.column_mut(i)[i] = d);
        self.factor.solve(&mut self.inverse);
        add_to_lower(da, &self.inverse);
        leave_vector_registers_clean();
    }
}

pub(super) const CASES: &[Case] = &[
    Case {
        name: "cholesky",
        arguments: &[Argument::Matrix(Kind::PositiveDefinite, 0, 0)],
        sizes: &[[3, 0, 0], [0, 0, 0], [1, 0, 0], [20, 0, 0], [5, 0, 0]],
        allocations: 1,
        benchmark: &[[8, 0, 0], [64, 0, 0], [256, 0, 0]],
    },
    Case {
        name: "cholesky_solve",
        arguments: &[Argument::Matrix(Kind::Triangular, 0, 0), Argument::Matrix(Kind::Regular, 0, 2)],
        sizes: &[[3, 0, 2], [0, 0, 2], [1, 0, 1], [4, 0, 0], [20, 0, 3], [5, 0, 7]],
        allocations: 1,
        benchmark: &[[8, 0, 1], [64, 0, 1], [64, 0, 64], [256, 0, 16]],
    },
    Case {
        name: "solve_spd",
        arguments: &[Argument::Matrix(Kind::PositiveDefinite, 0, 0), Argument::Matrix(Kind::Regular, 0, 2)],
        sizes: &[[3, 0, 2], [0, 0, 2], [1, 0, 1], [4, 0, 0], [20, 0, 3], [5, 0, 7]],
        allocations: 1,
        benchmark: &[[8, 0, 1], [64, 0, 1], [64, 0, 64], [256, 0, 16]],
    },
    Case {
        name: "logdet_spd",
        arguments: &[Argument::Matrix(Kind::PositiveDefinite, 0, 0)],
        sizes: &[[3, 0, 0], [0, 0, 0], [1, 0, 0], [20, 0, 0], [5, 0, 0]],
        allocations: 0,
        benchmark: &[[8, 0, 0], [64, 0, 0], [256, 0, 0]],
    },
];

heap_size! {
    [T: Copy] Factor<T> { l, scratch }
    [T: Copy] CholeskyKernel<T> { factor, product, work }
    [L: Joins<R>, R: Number, D] FactorSolveKernel<L, R, D> { factor, x, lambda, row, work }
    [L: Joins<R>, R: Number, D] SolveSpdKernel<L, R, D> { factor, x, lambda, work }
}
