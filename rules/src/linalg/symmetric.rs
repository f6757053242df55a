//! Eigenvalues and eigenvectors of symmetric matrices.

use ndarray::{Array1, ArrayRef1, ArrayRef2, Ix1, Ix2};

use super::cases::{Argument, Case, Kind};
use super::forms::forms;
use super::packed::{Packed, Seed, add_to_lower, has_shape, square, times};
use super::scalar::Number;
use crate::activation::{Dual, DualMut};
use crate::blas::products::leave_vector_registers_clean;
use crate::heap::heap_size;
use crate::reused;
use crate::saved::Saved;

/// *A = V·diag(w)·Vᵀ*
#[derive(Default)]
struct Decomposition<T: Number> {
    a: Packed<T>,
    values: Vec<T>,
    vectors: Packed<T>,
    room: T::Room,
}

impl<T: Number> Decomposition<T> {
    fn of(&mut self, function: &str, a: &ArrayRef2<T>) {
        let n = square(function, a);
        self.a.assign(a);
        finite(function, (0..n).all(|j| self.a.column(j)[j..].iter().all(|x| x.is_finite())));
        let converged = T::eigh(&self.a, &mut self.values, &mut self.vectors, &mut self.room);
        assert!(converged, "{function}: no convergence");
    }
}

#[track_caller]
pub(super) fn finite(function: &str, finite: bool) {
    assert!(finite, "{function}: the matrix has entries that are not finite");
}

/// Whether a vector has the sign that it is to have: of its entries at least half as large as the largest, the first one is
/// positive. Rounding does not decide that, even if several are equally large.
pub(super) fn has_its_sign<T: Number>(vector: &[T]) -> bool {
    let largest = vector.iter().fold(T::ZERO, |largest, x| largest.max(x.abs()));
    vector.iter().find(|x| T::from_f64(2.0) * x.abs() >= largest).is_none_or(|&x| x >= T::ZERO)
}

pub(super) fn negate<T: Number>(vector: &mut [T]) {
    vector.iter_mut().for_each(|x| *x = -*x);
}

/// Below this a difference of `values` is nothing but rounding.
pub(super) fn resolution<T: Number>(values: &[T]) -> T {
    let largest = values.iter().fold(T::ZERO, |largest, x| largest.max(x.abs()));
    T::from_f64(16.0 * (values.len() as f64).sqrt()) * T::EPSILON * largest
}

/// `numerator / gap`; NaN if the gap is none.
///
/// Where it is none, vectors are determined up to a rotation. Even what does not depend on the choice among them has no gradient that could be told
/// from those with respect to values and vectors: for *V·diag(w)·Vᵀ* at *A = 0* these are the diagonal of the gradient, and zero.
pub(super) fn quotient<T: Number>(numerator: T, gap: T, resolution: T) -> T {
    if gap.abs() <= resolution { numerator * T::NAN } else { numerator / gap }
}

/// *A = V·diag(w)·Vᵀ*: eigenvalues in ascending order, and orthonormal eigenvectors in the columns of *V*.
///
/// *A* is n×n and may have any layout. It is taken to be symmetric: only its lower triangle is read. `values` has n entries, `vectors` is n×n; what
/// they held is not read. The sign of a vector is such that the first of its entries that are at least half as large as the largest is positive.
///
/// ```
/// use ndarray::{Array1, Array2, array};
/// use pullback_rules::linalg;
///
/// let (mut w, mut v) = (Array1::zeros(2), Array2::zeros((2, 2)));
/// linalg::eigh_into(&mut w, &mut v, &array![[2.0_f64, 1.0], [1.0, 2.0]]);
/// assert!((w[0] - 1.0).abs() + (w[1] - 3.0).abs() < 1e-14);
/// assert!((v[[0, 0]] - 0.5_f64.sqrt()).abs() + (v[[0, 0]] + v[[1, 0]]).abs() < 1e-14);
/// ```
///
/// # Gradient
/// With *K = Vᵀ·V̇*: *Ȧ += V·(diag(ẇ) + E)·Vᵀ* where *Eᵢⱼ = (Kᵢⱼ − Kⱼᵢ)/(2·(wⱼ − wᵢ))* for i ≠ j (Giles, *Collected matrix derivative results for
/// forward and reverse mode algorithmic differentiation*, 2008, section 3.1). Entries above the diagonal go to those below, which are read in
/// their place.
///
/// # Equal eigenvalues
/// have no eigenvectors of their own, but a space of them, in which *V* holds some basis: the decomposition is not differentiable there, and **the
/// gradient is NaN** where two eigenvalues differ by no more than 16·√n·ε·max|w|. That holds for functions that do not depend on the basis, such
/// as *V·diag(f(w))·Vᵀ*, too, since their gradient does not follow from *ẇ* and *V̇*. The closer two values are, the fewer digits of
/// the gradient are right. For eigenvalues alone take [`eigvalsh()`].
///
/// # Panics
/// If the shapes do not fit, or if an entry of *A* is not finite.
pub fn eigh_into<T: Number>(values: &mut ArrayRef1<T>, vectors: &mut ArrayRef2<T>, a: &ArrayRef2<T>) {
    reused::with::<EighInto<T>, _>(T::CARRIES, |rule| rule.compute(values, vectors, a));
}

#[derive(Default, pullback_macros::Rule)]
#[rule(pub fn eigh_into<T: Number>(values: &mut ArrayRef1<T>, vectors: &mut ArrayRef2<T>, a: &ArrayRef2<T>))]
struct EighInto<T: Number> {
    #[rule(restores = values)]
    old_values: Saved<T>,
    #[rule(restores = vectors)]
    old_vectors: Saved<T>,
    decomposition: Decomposition<T>,
    middle: Packed<T>,
    work: Packed<T>,
}

impl<T: Number> EighInto<T> {
    fn compute(&mut self, values: &mut ArrayRef1<T>, vectors: &mut ArrayRef2<T>, a: &ArrayRef2<T>) {
        let n = square("eigh_into", a);
        has_shape("eigh_into, values", values, &Ix1(n));
        has_shape("eigh_into, vectors", vectors, &Ix2(n, n));
        self.decomposition.of("eigh_into", a);
        let v = &mut self.decomposition.vectors;
        for j in 0..n {
            if !has_its_sign(v.column(j)) {
                negate(v.column_mut(j));
            }
        }
        vectors.assign(&v.view());
        values.iter_mut().zip(&self.decomposition.values).for_each(|(to, &value)| *to = value);
        leave_vector_registers_clean();
    }

    fn forward(&mut self, values: &mut ArrayRef1<T>, vectors: &mut ArrayRef2<T>, a: &ArrayRef2<T>) {
        self.old_values.save_to_restore(values);
        self.old_vectors.save_to_restore(vectors);
        self.compute(values, vectors, a);
    }

    fn pullback(
        &mut self,
        values: DualMut<'_, ArrayRef1<T>>,
        vectors: DualMut<'_, ArrayRef2<T>>,
        a: Dual<'_, ArrayRef2<T>>,
    ) {
        let (dw, dv) = (values.shadow.get(), vectors.shadow.get());
        if let Some(da) = a.shadow.get()
            && (dw.is_some() || dv.is_some())
        {
            let EighInto { decomposition: Decomposition { values: w, vectors: v, .. }, middle, work, .. } =
                self;
            let n = w.len();
            middle.zeros(n, n);
            if let Some(dv) = &dv {
                Seed::Cells(*dv).load(work);
                times(T::ONE, &v.view().t(), &work.view(), T::ZERO, &mut middle.view_mut());
                let resolution = resolution(w);
                for j in 0..n {
                    for i in 0..j {
                        let difference = middle.column(j)[i] - middle.column(i)[j];
                        let e = T::from_f64(0.5) * quotient(difference, w[j] - w[i], resolution);
                        middle.column_mut(j)[i] = e;
                        middle.column_mut(i)[j] = e;
                    }
                    middle.column_mut(j)[j] = T::ZERO;
                }
            }
            if let Some(dw) = &dw {
                dw.iter().enumerate().for_each(|(i, dw)| middle.column_mut(i)[i] = dw.get());
            }
            work.resize(n, n);
            times(T::ONE, &v.view(), &middle.view(), T::ZERO, &mut work.view_mut());
            times(T::ONE, &work.view(), &v.view().t(), T::ZERO, &mut middle.view_mut());
            add_to_lower(da, middle);
            leave_vector_registers_clean();
        }
        if let Some(dw) = dw {
            dw.for_each(|cell| cell.set(T::ZERO));
        }
        if let Some(dv) = dv {
            dv.for_each(|cell| cell.set(T::ZERO));
        }
        self.old_values.restore(values.value);
        self.old_vectors.restore(vectors.value);
    }
}

forms! {
    /// The eigenvalues of a symmetric matrix, in ascending order.
    ///
    /// *A* is n×n and may have any layout. It is taken to be symmetric: only its lower triangle is read.
    ///
    /// ```
    /// use ndarray::array;
    /// use pullback_rules::linalg;
    ///
    /// let w = linalg::eigvalsh(&array![[2.0_f64, 1.0], [1.0, 2.0]]);
    /// assert!((w[0] - 1.0).abs() + (w[1] - 3.0).abs() < 1e-14);
    /// ```
    ///
    /// # Gradient
    /// With the eigenvectors *V*: *Ȧ += V·diag(ẇ)·Vᵀ*, of which entries above the diagonal go to those below, which are read in their place
    /// (Giles, *Collected matrix derivative results for forward and reverse mode algorithmic differentiation*, 2008, section 3.1). Where eigenvalues are
    /// equal, this is the gradient of each function that treats them alike, as sums of powers do; of others, as the largest
    /// eigenvalue, it is one of the subgradients.
    ///
    /// # Panics
    /// If *A* is not square, or if an entry of it is not finite.
    fn eigvalsh = Eigvalsh;
    /// The eigenvalues as of [`eigvalsh()`], written to `y`.
    ///
    /// # Panics
    /// As [`eigvalsh()`] does, and if `y` has another length.
    fn eigvalsh_into = EigvalshInto;
    kernel EigvalshKernel<T: Number>;
    constants ();
    arguments (a: &ArrayRef2<T>);
    result Array1<T> / ArrayRef1 Ix1;
}

#[derive(Default)]
struct EigvalshKernel<T: Number> {
    decomposition: Decomposition<T>,
    seed: Packed<T>,
    scaled: Packed<T>,
    work: Packed<T>,
}

impl<T: Number> EigvalshKernel<T> {
    fn shape(function: &str, a: &ArrayRef2<T>) -> Ix1 {
        Ix1(square(function, a))
    }

    fn forward(&mut self, function: &str, a: &ArrayRef2<T>, values: &mut ArrayRef1<T>) {
        self.decomposition.of(function, a);
        values.iter_mut().zip(&self.decomposition.values).for_each(|(to, &value)| *to = value);
    }

    fn pullback(&mut self, a: Dual<'_, ArrayRef2<T>>, seed: Seed<'_, T, Ix1>) {
        let Some(da) = a.shadow.get() else { return };
        let EigvalshKernel { decomposition: Decomposition { vectors: v, .. }, seed: dw, scaled, work } = self;
        seed.load(dw);
        scale_columns(scaled, v, dw.view().column(0).iter().copied());
        work.resize(v.rows(), v.rows());
        times(T::ONE, &scaled.view(), &v.view().t(), T::ZERO, &mut work.view_mut());
        add_to_lower(da, work);
    }
}

/// *S ← V·diag(factors)*
pub(super) fn scale_columns<T: Number>(s: &mut Packed<T>, v: &Packed<T>, factors: impl Iterator<Item = T>) {
    s.copy(v);
    for (j, factor) in factors.enumerate() {
        s.column_mut(j).iter_mut().for_each(|x| *x *= factor);
    }
}

pub(super) const CASES: &[Case] = &[
    Case {
        name: "eigh_into",
        arguments: &[Argument::Matrix(Kind::Symmetric, 0, 0)],
        sizes: &[[3, 0, 0], [0, 0, 0], [1, 0, 0], [12, 0, 0], [5, 0, 0]],
        allocations: 0,
        benchmark: &[[8, 0, 0], [64, 0, 0], [256, 0, 0]],
    },
    Case {
        name: "eigvalsh",
        arguments: &[Argument::Matrix(Kind::Symmetric, 0, 0)],
        sizes: &[[3, 0, 0], [0, 0, 0], [1, 0, 0], [12, 0, 0], [5, 0, 0]],
        allocations: 1,
        benchmark: &[[8, 0, 0], [64, 0, 0], [256, 0, 0]],
    },
];

heap_size! {
    [T: Number] Decomposition<T> { a, values, vectors, room }
    [T: Number] EigvalshKernel<T> { decomposition, seed, scaled, work }
}
