//! Decomposition into an orthogonal and a triangular factor, and least squares.

use std::marker::PhantomData;

use faer::MatRef;
use ndarray::{Array, ArrayRef, ArrayRef2, Ix2, s};

use super::backend::{Qr, Shape, solve_triangular, solve_triangular_in};
use super::cases::{Argument, Case, Kind};
use super::forms::forms;
use super::packed::{Columns, Packed, Scratch, Seed, add, fits, has_shape, times, write};
use super::scalar::Real;
use crate::activation::{Dual, DualMut};
use crate::blas::products::{IntoShadow, leave_vector_registers_clean};
use crate::heap::heap_size;
use crate::saved::Saved;

/// *A = Q·R* with orthonormal columns in *Q*, and *R* upper triangular with a diagonal that is not negative.
///
/// *A* is m×n and may have any layout. With k = min(m, n), *Q* is m×k and *R* is k×n; if m < n, *R* is a triangle with a rectangle on its right.
/// What `q` and `r` held is not read.
///
/// ```
/// use ndarray::{Array2, array};
/// use pullback_rules::linalg;
///
/// let (mut q, mut r) = (Array2::zeros((2, 1)), Array2::zeros((1, 1)));
/// linalg::qr_into(&mut q, &mut r, &array![[3.0], [4.0]]);
/// let error: f64 = (q - array![[0.6], [0.8]]).mapv(f64::abs).sum() + (r[[0, 0]] - 5.0).abs();
/// assert!(error < 1e-14);
/// ```
///
/// # Gradient
/// For m ≥ n, with *M = R·Ṙᵀ − Q̇ᵀ·Q* and the symmetric matrix *S* that has the lower triangle of *M*: *Ȧ += (Q̇ + Q·S)·R⁻ᵀ* (Walter and Lehmann,
/// *Algorithmic differentiation of linear algebra functions*, 2012, section 3.3; Liao et al., *Differentiable programming tensor networks*, 2019,
/// eq. 5). For m < n, with *A = (X Y)* and *R = (U V)*: *Q̇ += Y·V̇ᵀ*, *Ẏ += Q·V̇*, and the same for *X = Q·U* (Roberts and Roberts, *QR and
/// LQ decomposition matrix backpropagation algorithms for square, wide, and deep matrices*, 2020). It is not finite where *R* has a zero on its
/// diagonal: the decomposition is not differentiable there.
///
/// # Panics
/// If the shapes do not fit.
pub fn qr_into<T: Real>(q: &mut ArrayRef2<T>, r: &mut ArrayRef2<T>, a: &ArrayRef2<T>) {
    QrInto::default().compute(q, r, a);
}

#[derive(Default, pullback_macros::Rule)]
#[rule(pub fn qr_into<T: Real>(q: &mut ArrayRef2<T>, r: &mut ArrayRef2<T>, a: &ArrayRef2<T>))]
struct QrInto<T: Real> {
    #[rule(restores = q)]
    old_q: Saved<T>,
    #[rule(restores = r)]
    old_r: Saved<T>,
    qr: Qr<T>,
    /// *Q*, and the triangle of *R*.
    q: Packed<T>,
    r: Packed<T>,
    scratch: Scratch,
    dq: Packed<T>,
    dr: Packed<T>,
    square: [Packed<T>; 2],
    product: IntoShadow<T>,
}

impl<T: Real> QrInto<T> {
    fn compute(&mut self, q: &mut ArrayRef2<T>, r: &mut ArrayRef2<T>, a: &ArrayRef2<T>) {
        let (m, n) = a.dim();
        let k = m.min(n);
        has_shape("qr_into, q", q, &Ix2(m, k));
        has_shape("qr_into, r", r, &Ix2(k, n));
        let QrInto { qr, q: thin, r: triangle, scratch, .. } = self;
        qr.factors.assign(&a.slice(s![.., ..k]));
        qr.factor(scratch);
        thin.zeros(m, k);
        (0..k).for_each(|i| thin.column_mut(i)[i] = T::ONE);
        qr.apply(thin, scratch);
        triangle.assign(&qr.factors.view().slice(s![..k, ..]));
        triangle.clear_lower();
        for i in 0..k {
            if triangle.column(i)[i] < T::ZERO {
                thin.column_mut(i).iter_mut().for_each(|x| *x = -*x);
                triangle.view_mut().slice_mut(s![i, i..]).iter_mut().for_each(|x| *x = -*x);
            }
        }
        q.assign(&thin.view());
        r.slice_mut(s![.., ..k]).assign(&triangle.view());
        times(T::ONE, &thin.view().t(), &a.slice(s![.., k..]), T::ZERO, &mut r.slice_mut(s![.., k..]));
        leave_vector_registers_clean();
    }

    fn forward(&mut self, q: &mut ArrayRef2<T>, r: &mut ArrayRef2<T>, a: &ArrayRef2<T>) {
        self.old_q.save_to_restore(q);
        self.old_r.save_to_restore(r);
        self.compute(q, r, a);
    }

    fn pullback(
        &mut self,
        q: DualMut<'_, ArrayRef2<T>>,
        r: DualMut<'_, ArrayRef2<T>>,
        a: Dual<'_, ArrayRef2<T>>,
    ) {
        let active = q.shadow.get().is_some() || r.shadow.get().is_some();
        if let (Some(da), true) = (a.shadow.get(), active) {
            let QrInto { q: thin, r: triangle, dq, dr, square: [m, s], product, .. } = self;
            let (rows, k, columns) = (thin.rows(), thin.columns(), a.value.ncols());
            match q.shadow.get() {
                Some(cells) => Seed::Cells(cells).load(dq),
                None => dq.zeros(rows, k),
            }
            match r.shadow.get() {
                Some(cells) => Seed::Cells(cells).load(dr),
                None => dr.zeros(k, columns),
            }
            dr.clear_lower();
            let (left, right) = (s![.., ..k], s![.., k..]);
            times(T::ONE, &a.value.slice(right), &dr.view().slice(right).t(), T::ONE, &mut dq.view_mut());
            product.add(T::ONE, &thin.view(), &dr.view().slice(right), da.slice_move(right));
            m.resize(k, k);
            times(T::ONE, &triangle.view(), &dr.view().slice(left).t(), T::ZERO, &mut m.view_mut());
            times(-T::ONE, &dq.view().t(), &thin.view(), T::ONE, &mut m.view_mut());
            s.resize(k, k);
            for j in 0..k {
                for i in 0..k {
                    s.column_mut(j)[i] = m.column(i.min(j))[i.max(j)];
                }
            }
            times(T::ONE, &thin.view(), &s.view(), T::ONE, &mut dq.view_mut());
            solve_triangular_in(triangle.get(), Shape::UPPER, dq.get_mut().transpose_mut());
            add(da.slice_move(left), &dq.view());
            leave_vector_registers_clean();
        }
        for shadow in [q.shadow.get(), r.shadow.get()].into_iter().flatten() {
            shadow.for_each(|cell| cell.set(T::ZERO));
        }
        self.old_q.restore(q.value);
        self.old_r.restore(r.value);
    }
}

forms! {
    /// The *X* that minimises *‖A·X − B‖*, by the decomposition of *A* into *Q·R*; of all solutions the shortest, if there are several.
    ///
    /// *A* is m×n with rank min(m, n), *B* a vector of m numbers or an m×k matrix, both of any layout; *X* has n rows.
    ///
    /// ```
    /// use ndarray::array;
    /// use pullback_rules::linalg;
    ///
    /// // The line through (0, 1), (1, 2) and (2, 6)
    /// let x = linalg::lstsq(&array![[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], &array![1.0, 2.0, 6.0]);
    /// assert!((x - array![0.5_f64, 2.5]).iter().all(|x| x.abs() < 1e-14));
    /// ```
    ///
    /// # Gradient
    /// For m ≥ n, with *Z = (AᵀA)⁻¹·Ẋ* and *Λ = A·Z*: *Ḃ += Λ*, *Ȧ += (B − A·X)·Zᵀ − Λ·Xᵀ*. For m < n, with *W = (AAᵀ)⁻¹·B* and *Λ = (AAᵀ)⁻¹·A·Ẋ*:
    /// *Ḃ += Λ*, *Ȧ += W·(Ẋ − AᵀΛ)ᵀ − Λ·Xᵀ*. Both follow from the derivative of the pseudoinverse (Golub and Pereyra, *The differentiation of
    /// pseudo-inverses and nonlinear least squares problems whose variables separate*, 1973, eq. 4.12). *AᵀA* is never formed.
    ///
    /// # Panics
    /// If the shapes do not fit, or if the rank is smaller.
    fn lstsq = Lstsq;
    /// *X* as of [`lstsq()`], written to `y`.
    ///
    /// # Panics
    /// As [`lstsq()`] does, and if `y` has another shape.
    fn lstsq_into = LstsqInto;
    kernel LstsqKernel<T: Real, D: Columns>;
    constants ();
    arguments (a: &ArrayRef2<T>, b: &ArrayRef<T, D>);
    result Array<T, D> / ArrayRef D;
}

#[derive(Default)]
struct LstsqKernel<T: Real, D> {
    /// Of *A*, or of *Aᵀ* if that is the one with more rows.
    qr: Qr<T>,
    scratch: Scratch,
    x: Packed<T>,
    long: Packed<T>,
    short: Packed<T>,
    lambda: Packed<T>,
    products: [IntoShadow<T>; 2],
    dimension: PhantomData<D>,
}

/// The triangle of the factors of a decomposition.
fn triangle<T: Real>(qr: &Qr<T>) -> MatRef<'_, T> {
    let k = qr.factors.columns();
    qr.factors.get().submatrix(0, 0, k, k)
}

/// Puts the first rows of `from` to `to`, and zeros below.
fn extend<T: Real>(to: &mut Packed<T>, rows: usize, from: &Packed<T>) {
    to.zeros(rows, from.columns());
    to.view_mut().slice_mut(s![..from.rows(), ..]).assign(&from.view());
}

impl<T: Real, D: Columns> LstsqKernel<T, D> {
    fn shape(function: &str, a: &ArrayRef2<T>, b: &ArrayRef<T, D>) -> D {
        fits(function, a.nrows(), b);
        b.raw_dim().with_rows(a.ncols())
    }

    fn forward(&mut self, function: &str, a: &ArrayRef2<T>, b: &ArrayRef<T, D>, x: &mut ArrayRef<T, D>) {
        let ((m, n), b) = (a.dim(), D::matrix(b.view()));
        let k = m.min(n);
        let LstsqKernel { qr, scratch, x: solution, long, short, .. } = self;
        if m >= n {
            qr.factors.assign(a);
        } else {
            qr.factors.assign(&a.t());
        }
        qr.factor(scratch);
        let pivot = |i: usize| qr.factors.column(i)[i].abs();
        let bound = (0..k).map(pivot).fold(T::ZERO, T::max) * T::EPSILON * T::from_f64(m.max(n) as f64);
        let vanishing = (0..k).any(|i| pivot(i) <= bound);
        assert!(!vanishing, "{function}: the rank of the matrix is less than {k}");
        if m >= n {
            long.assign(&b);
            qr.apply_transposed(long, scratch);
            solution.assign(&long.view().slice(s![..n, ..]));
            solve_triangular(triangle(qr), Shape::UPPER, solution);
        } else {
            short.assign(&b);
            solve_triangular(triangle(qr).transpose(), Shape::LOWER, short);
            extend(solution, n, short);
            qr.apply(solution, scratch);
        }
        write(x, solution);
    }

    fn pullback(&mut self, a: Dual<'_, ArrayRef2<T>>, b: Dual<'_, ArrayRef<T, D>>, seed: Seed<'_, T, D>) {
        if a.shadow.get().is_none() && b.shadow.get().is_none() {
            return;
        }
        let LstsqKernel { qr, scratch, x, long, short, lambda, products: [first, second], .. } = self;
        let (m, n) = a.value.dim();
        let right = D::matrix(b.value.view());
        if m >= n {
            // Z in `short`, Λ, and the residual in `long`.
            seed.load(short);
            solve_triangular(triangle(qr).transpose(), Shape::LOWER, short);
            extend(lambda, m, short);
            qr.apply(lambda, scratch);
            if let Some(da) = a.shadow.get() {
                solve_triangular(triangle(qr), Shape::UPPER, short);
                long.assign(&right);
                times(-T::ONE, a.value, &x.view(), T::ONE, &mut long.view_mut());
                first.add(T::ONE, &long.view(), &short.view().t(), da);
            }
        } else {
            seed.load(long);
            qr.apply_transposed(long, scratch);
            lambda.assign(&long.view().slice(s![..m, ..]));
            solve_triangular(triangle(qr), Shape::UPPER, lambda);
            if let Some(da) = a.shadow.get() {
                // W in `short`, Ẋ − AᵀΛ in `long`.
                short.assign(&right);
                solve_triangular(triangle(qr).transpose(), Shape::LOWER, short);
                solve_triangular(triangle(qr), Shape::UPPER, short);
                seed.load(long);
                times(-T::ONE, &a.value.t(), &lambda.view(), T::ONE, &mut long.view_mut());
                first.add(T::ONE, &short.view(), &long.view().t(), da);
            }
        }
        if let Some(da) = a.shadow.get() {
            second.add(-T::ONE, &lambda.view(), &x.view().t(), da);
        }
        if let Some(db) = b.shadow.get() {
            add(D::matrix(db), &lambda.view());
        }
    }
}

pub(super) const CASES: &[Case] = &[
    Case {
        name: "qr_into",
        arguments: &[Argument::Matrix(Kind::Regular, 0, 1)],
        sizes: &[[4, 3, 0], [3, 3, 0], [2, 5, 0], [1, 1, 0], [3, 0, 0], [0, 2, 0], [20, 6, 0], [6, 20, 0]],
        allocations: 0,
        benchmark: &[[64, 16, 0], [64, 64, 0], [512, 32, 0]],
    },
    Case {
        name: "lstsq",
        arguments: &[Argument::Matrix(Kind::Regular, 0, 1), Argument::Matrix(Kind::Regular, 0, 2)],
        sizes: &[[4, 3, 2], [3, 3, 2], [2, 5, 2], [1, 1, 2], [3, 0, 2], [0, 2, 2], [20, 6, 2], [6, 20, 2]],
        allocations: 1,
        benchmark: &[[64, 16, 1], [64, 64, 1], [512, 32, 1]],
    },
];

heap_size! { [T: Real, D] LstsqKernel<T, D> { qr, scratch, x, long, short, lambda } }
