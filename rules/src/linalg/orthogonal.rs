//! Decomposition into an orthogonal and a triangular factor, and least squares.

use std::marker::PhantomData;

use ndarray::{Array, ArrayRef, ArrayRef2, Ix2, s};

use super::backend::{Shape, solve_triangular, solve_triangular_in};
use super::cases::{Argument, Case, Kind};
use super::forms::forms;
use super::joins::Joins;
use super::packed::{Columns, Packed, Seed, add, fits, has_shape, times, write};
use super::scalar::Number;
use super::scalar::sealed::ThinQr;
use crate::activation::{Dual, DualMut};
use crate::blas::products::{IntoShadow, leave_vector_registers_clean};
use crate::heap::heap_size;
use crate::reused;
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
pub fn qr_into<T: Number>(q: &mut ArrayRef2<T>, r: &mut ArrayRef2<T>, a: &ArrayRef2<T>) {
    reused::with::<QrInto<T>, _>(T::CARRIES, |rule| rule.compute(q, r, a));
}

#[derive(Default, pullback_macros::Rule)]
#[rule(pub fn qr_into<T: Number>(q: &mut ArrayRef2<T>, r: &mut ArrayRef2<T>, a: &ArrayRef2<T>))]
struct QrInto<T: Number> {
    #[rule(restores = q)]
    old_q: Saved<T>,
    #[rule(restores = r)]
    old_r: Saved<T>,
    qr: T::Qr,
    /// *Q*, and the triangle of *R*.
    q: Packed<T>,
    r: Packed<T>,
    dq: Packed<T>,
    dr: Packed<T>,
    square: [Packed<T>; 2],
    product: IntoShadow<T>,
}

impl<T: Number> QrInto<T> {
    fn compute(&mut self, q: &mut ArrayRef2<T>, r: &mut ArrayRef2<T>, a: &ArrayRef2<T>) {
        let (m, n) = a.dim();
        let k = m.min(n);
        has_shape("qr_into, q", q, &Ix2(m, k));
        has_shape("qr_into, r", r, &Ix2(k, n));
        let QrInto { qr, q: thin, r: triangle, square: [identity, _], .. } = self;
        qr.factor(&a.slice(s![.., ..k]));
        identity.zeros(k, k);
        (0..k).for_each(|i| identity.column_mut(i)[i] = T::ONE);
        qr.expand(identity, thin);
        triangle.copy(qr.triangle());
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
    kernel LstsqKernel<L: Joins<R>, R: Number, D: Columns>;
    constants ();
    arguments (a: &ArrayRef2<L>, b: &ArrayRef<R, D>);
    result Array<L, D> / ArrayRef D;
}

#[derive(Default)]
struct LstsqKernel<L: Joins<R>, R: Number, D> {
    /// Of *A*, or of *Aᵀ* if that is the one with more rows.
    qr: L::Qr,
    x: Packed<L>,
    long: Packed<L>,
    short: Packed<L>,
    lambda: Packed<L>,
    products: [IntoShadow<L>; 2],
    right: PhantomData<(R, D)>,
}

/// *A ← A − B*
fn subtract<T: Number>(a: &mut Packed<T>, b: &Packed<T>) {
    for j in 0..a.columns() {
        a.column_mut(j).iter_mut().zip(b.column(j)).for_each(|(a, &b)| *a -= b);
    }
}

impl<L: Joins<R>, R: Number, D: Columns> LstsqKernel<L, R, D> {
    fn shape(function: &str, a: &ArrayRef2<L>, b: &ArrayRef<R, D>) -> D {
        fits(function, a.nrows(), b);
        b.raw_dim().with_rows(a.ncols())
    }

    fn forward(&mut self, function: &str, a: &ArrayRef2<L>, b: &ArrayRef<R, D>, x: &mut ArrayRef<L, D>) {
        let ((m, n), b) = (a.dim(), D::matrix(b.view()));
        let k = m.min(n);
        let LstsqKernel { qr, x: solution, long, short, .. } = self;
        if m >= n {
            qr.factor(a);
        } else {
            qr.factor(&a.t());
        }
        let pivot = |i: usize| qr.triangle().column(i)[i].abs();
        let bound = (0..k).map(pivot).fold(L::ZERO, L::max) * L::EPSILON * L::from_f64(m.max(n) as f64);
        let vanishing = (0..k).any(|i| pivot(i) <= bound);
        assert!(!vanishing, "{function}: the rank of the matrix is less than {k}");
        if m >= n {
            long.load(&b, L::of_right);
            qr.project(long, solution);
            solve_triangular(qr.triangle().get(), Shape::UPPER, solution);
        } else {
            short.load(&b, L::of_right);
            solve_triangular(qr.triangle().get().transpose(), Shape::LOWER, short);
            qr.expand(short, solution);
        }
        write(x, solution);
    }

    fn pullback(&mut self, a: Dual<'_, ArrayRef2<L>>, b: Dual<'_, ArrayRef<R, D>>, seed: Seed<'_, L, D>) {
        let (da, db) = (a.shadow.get(), b.shadow.get().and_then(L::right_cells));
        if da.is_none() && db.is_none() {
            return;
        }
        let LstsqKernel { qr, x, long, short, lambda, products: [first, second], .. } = self;
        let (m, n) = a.value.dim();
        let right = D::matrix(b.value.view());
        if m >= n {
            if da.is_some() {
                // The residual, B − Q·QᵀB.
                long.load(&right, L::of_right);
                qr.project(long, short);
                qr.expand(short, lambda);
                long.load(&right, L::of_right);
                subtract(long, lambda);
            }
            // Z in `short`, and Λ.
            seed.load(short);
            solve_triangular(qr.triangle().get().transpose(), Shape::LOWER, short);
            qr.expand(short, lambda);
            if let Some(da) = da {
                solve_triangular(qr.triangle().get(), Shape::UPPER, short);
                first.add(L::ONE, &long.view(), &short.view().t(), da);
            }
        } else {
            seed.load(long);
            qr.project(long, lambda);
            if let Some(da) = da {
                // Ẋ − Q·QᵀẊ, which is Ẋ − AᵀΛ, in `long`, W in `short`.
                qr.expand(lambda, short);
                seed.load(long);
                subtract(long, short);
                short.load(&right, L::of_right);
                solve_triangular(qr.triangle().get().transpose(), Shape::LOWER, short);
                solve_triangular(qr.triangle().get(), Shape::UPPER, short);
                first.add(L::ONE, &short.view(), &long.view().t(), da);
            }
            solve_triangular(qr.triangle().get(), Shape::UPPER, lambda);
        }
        if let Some(da) = da {
            second.add(-L::ONE, &lambda.view(), &x.view().t(), da);
        }
        if let Some(db) = db {
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

heap_size! { [L: Joins<R>, R: Number, D] LstsqKernel<L, R, D> { qr, x, long, short, lambda } }
