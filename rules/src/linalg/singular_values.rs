//! Singular values and vectors.

use ndarray::{Array1, ArrayRef1, ArrayRef2, Ix1, Ix2};

use super::cases::{Argument, Case, Kind};
use super::forms::forms;
use super::packed::{Packed, Seed, has_shape, times};
use super::scalar::Number;
use super::symmetric::{finite, has_its_sign, negate, quotient, resolution, scale_columns};
use crate::activation::{Dual, DualMut};
use crate::blas::products::{IntoShadow, leave_vector_registers_clean};
use crate::heap::heap_size;
use crate::reused;
use crate::saved::Saved;

/// *A = U·diag(s)·Vᵀ*
#[derive(Default)]
struct Decomposition<T: Number> {
    a: Packed<T>,
    u: Packed<T>,
    values: Vec<T>,
    v: Packed<T>,
    room: T::Room,
}

impl<T: Number> Decomposition<T> {
    fn of(&mut self, function: &str, a: &ArrayRef2<T>) {
        self.a.assign(a);
        finite(function, (0..a.ncols()).all(|j| self.a.column(j).iter().all(|x| x.is_finite())));
        let Decomposition { a, u, values, v, room } = self;
        assert!(T::svd(a, u, values, v, room), "{function}: no convergence");
        for j in 0..values.len() {
            if !has_its_sign(u.column(j)) {
                negate(u.column_mut(j));
                negate(v.column_mut(j));
            }
        }
    }
}

/// *A = U·diag(s)·Vᵀ*: singular values in descending order, and orthonormal singular vectors in the columns of *U* and the rows of *Vᵀ*.
///
/// *A* is m×n and may have any layout. With k = min(m, n), `u` is m×k, `s` has k entries, and `vt` is k×n; what they held is not read. Signs are
/// such that in each column of *U*, of the entries at least half as large as the largest the first one is positive.
///
/// ```
/// use ndarray::{Array1, Array2, array};
/// use pullback_rules::linalg;
///
/// let (mut u, mut s, mut vt) = (Array2::zeros((2, 1)), Array1::zeros(1), Array2::zeros((1, 1)));
/// linalg::svd_into(&mut u, &mut s, &mut vt, &array![[3.0_f64], [4.0]]);
/// assert!((s[0] - 5.0).abs() + (u[[1, 0]] - 0.8).abs() + (vt[[0, 0]] - 1.0).abs() < 1e-14);
/// ```
///
/// # Gradient
/// With *P* the antisymmetric part *UᵀU̇ − U̇ᵀU* and *Q = VᵀV̇ − V̇ᵀV*, *Eᵢⱼ = ½·((P + Q)ᵢⱼ/(sⱼ − sᵢ) + (P − Q)ᵢⱼ/(sⱼ + sᵢ))* for i ≠ j, and *S = diag(s)*:
/// *Ȧ += U·(E + diag(ṡ))·Vᵀ + (1 − U·Uᵀ)·U̇·S⁻¹·Vᵀ + U·S⁻¹·V̇ᵀ·(1 − V·Vᵀ)* (Townsend, *Differentiating the singular value decomposition*, 2016).
///
/// # Equal singular values, and zeros
/// have no singular vectors of their own, but a space of them, or none with a sign of its own: the decomposition is not differentiable there, and **the
/// gradient is NaN** where two singular values differ by no more than 16·√k·ε·s₁, or one is no larger. That holds for functions that do not depend on
/// the choice of vectors, too, since their gradient does not follow from those with respect to the factors. The closer two values are, the fewer digits
/// of the gradient are right. For singular values alone take [`svdvals()`].
///
/// # Panics
/// If the shapes do not fit, or if an entry of *A* is not finite.
pub fn svd_into<T: Number>(
    u: &mut ArrayRef2<T>,
    s: &mut ArrayRef1<T>,
    vt: &mut ArrayRef2<T>,
    a: &ArrayRef2<T>,
) {
    reused::with::<SvdInto<T>, _>(T::CARRIES, |rule| rule.compute(u, s, vt, a));
}

#[derive(Default, pullback_macros::Rule)]
#[rule(pub fn svd_into<T: Number>(u: &mut ArrayRef2<T>, s: &mut ArrayRef1<T>, vt: &mut ArrayRef2<T>, a: &ArrayRef2<T>))]
struct SvdInto<T: Number> {
    #[rule(restores = u)]
    old_u: Saved<T>,
    #[rule(restores = s)]
    old_s: Saved<T>,
    #[rule(restores = vt)]
    old_vt: Saved<T>,
    decomposition: Decomposition<T>,
    /// For the gradients with respect to *U* and to *V*.
    sides: [Side<T>; 2],
    middle: Packed<T>,
    left: Packed<T>,
    products: [IntoShadow<T>; 2],
}

/// *K = UᵀU̇*, and *(1 − U·Uᵀ)·U̇·S⁻¹*
#[derive(Default)]
struct Side<T> {
    k: Packed<T>,
    outside: Packed<T>,
}

impl<T: Number> Side<T> {
    /// Expects *U̇* in `outside`.
    fn split(&mut self, u: &Packed<T>, values: &[T], resolution: T) {
        let Side { k, outside } = self;
        k.resize(u.columns(), u.columns());
        times(T::ONE, &u.view().t(), &outside.view(), T::ZERO, &mut k.view_mut());
        if u.rows() == u.columns() {
            return outside.slice_mut().fill(T::ZERO);
        }
        times(-T::ONE, &u.view(), &k.view(), T::ONE, &mut outside.view_mut());
        for (j, &value) in values.iter().enumerate() {
            outside.column_mut(j).iter_mut().for_each(|x| *x = quotient(*x, value, resolution));
        }
    }
}

impl<T: Number> SvdInto<T> {
    fn compute(
        &mut self,
        u: &mut ArrayRef2<T>,
        s: &mut ArrayRef1<T>,
        vt: &mut ArrayRef2<T>,
        a: &ArrayRef2<T>,
    ) {
        let (m, n) = a.dim();
        let k = m.min(n);
        has_shape("svd_into, u", u, &Ix2(m, k));
        has_shape("svd_into, s", s, &Ix1(k));
        has_shape("svd_into, vt", vt, &Ix2(k, n));
        self.decomposition.of("svd_into", a);
        u.assign(&self.decomposition.u.view());
        s.iter_mut().zip(&self.decomposition.values).for_each(|(to, &value)| *to = value);
        vt.assign(&self.decomposition.v.view().t());
        leave_vector_registers_clean();
    }

    fn forward(
        &mut self,
        u: &mut ArrayRef2<T>,
        s: &mut ArrayRef1<T>,
        vt: &mut ArrayRef2<T>,
        a: &ArrayRef2<T>,
    ) {
        self.old_u.save_to_restore(u);
        self.old_s.save_to_restore(s);
        self.old_vt.save_to_restore(vt);
        self.compute(u, s, vt, a);
    }

    fn pullback(
        &mut self,
        u: DualMut<'_, ArrayRef2<T>>,
        s: DualMut<'_, ArrayRef1<T>>,
        vt: DualMut<'_, ArrayRef2<T>>,
        a: Dual<'_, ArrayRef2<T>>,
    ) {
        let (du, ds, dvt) = (u.shadow.get(), s.shadow.get(), vt.shadow.get());
        if let Some(da) = a.shadow.get()
            && (du.is_some() || ds.is_some() || dvt.is_some())
        {
            let SvdInto { decomposition, sides: [p, q], middle, left, products: [first, second], .. } = self;
            let Decomposition { u, values, v, .. } = decomposition;
            let resolution = resolution(values);
            match &du {
                Some(du) => Seed::Cells(*du).load(&mut p.outside),
                None => p.outside.zeros(u.rows(), u.columns()),
            }
            match &dvt {
                Some(dvt) => Seed::Cells(dvt.reversed_axes()).load(&mut q.outside),
                None => q.outside.zeros(v.rows(), v.columns()),
            }
            p.split(u, values, resolution);
            q.split(v, values, resolution);
            between(middle, &p.k, &q.k, values, resolution);
            for (i, &value) in values.iter().enumerate() {
                let ds = ds.as_ref().map_or(T::ZERO, |ds| ds[i].get());
                // With a value of zero the vectors have lost their common sign.
                middle.column_mut(i)[i] = if value <= resolution { ds * T::NAN } else { ds };
            }
            left.copy(&p.outside);
            times(T::ONE, &u.view(), &middle.view(), T::ONE, &mut left.view_mut());
            first.add(T::ONE, &left.view(), &v.view().t(), da);
            if v.rows() > v.columns() {
                second.add(T::ONE, &u.view(), &q.outside.view().t(), da);
            }
            leave_vector_registers_clean();
        }
        for matrix in [du, dvt].into_iter().flatten() {
            matrix.for_each(|cell| cell.set(T::ZERO));
        }
        if let Some(ds) = ds {
            ds.for_each(|cell| cell.set(T::ZERO));
        }
        self.old_u.restore(u.value);
        self.old_s.restore(s.value);
        self.old_vt.restore(vt.value);
    }
}

/// *E* beside its diagonal, given *UᵀU̇* and *VᵀV̇*.
fn between<T: Number>(e: &mut Packed<T>, u: &Packed<T>, v: &Packed<T>, s: &[T], resolution: T) {
    let n = s.len();
    e.zeros(n, n);
    for j in 0..n {
        for i in (0..n).filter(|&i| i != j) {
            let p = u.column(j)[i] - u.column(i)[j];
            let q = v.column(j)[i] - v.column(i)[j];
            let sum = quotient(p + q, s[j] - s[i], resolution);
            let difference = quotient(p - q, s[j] + s[i], resolution);
            e.column_mut(j)[i] = T::from_f64(0.5) * (sum + difference);
        }
    }
}

forms! {
    /// The singular values of a matrix, in descending order.
    ///
    /// *A* is m×n and may have any layout; the result has min(m, n) entries.
    ///
    /// ```
    /// use ndarray::array;
    /// use pullback_rules::linalg;
    ///
    /// let s = linalg::svdvals(&array![[0.0_f64, 2.0], [-3.0, 0.0]]);
    /// assert!((s[0] - 3.0).abs() + (s[1] - 2.0).abs() < 1e-14);
    /// ```
    ///
    /// # Gradient
    /// With the singular vectors *U* and *V*: *Ȧ += U·diag(ṡ)·Vᵀ* (Townsend, *Differentiating the singular value decomposition*, 2016). Where
    /// singular values are equal, this is the gradient of each function that treats them alike; of others, as the largest one, it is one of the
    /// subgradients. So it is at a singular value of 0, where there is a kink.
    ///
    /// # Panics
    /// If an entry of *A* is not finite.
    fn svdvals = Svdvals;
    /// The singular values as of [`svdvals()`], written to `y`.
    ///
    /// # Panics
    /// As [`svdvals()`] does, and if `y` has another length.
    fn svdvals_into = SvdvalsInto;
    kernel SvdvalsKernel<T: Number>;
    constants ();
    arguments (a: &ArrayRef2<T>);
    result Array1<T> / ArrayRef1 Ix1;
}

#[derive(Default)]
struct SvdvalsKernel<T: Number> {
    decomposition: Decomposition<T>,
    seed: Packed<T>,
    scaled: Packed<T>,
    product: IntoShadow<T>,
}

impl<T: Number> SvdvalsKernel<T> {
    fn shape(_: &str, a: &ArrayRef2<T>) -> Ix1 {
        Ix1(a.nrows().min(a.ncols()))
    }

    fn forward(&mut self, function: &str, a: &ArrayRef2<T>, values: &mut ArrayRef1<T>) {
        self.decomposition.of(function, a);
        values.iter_mut().zip(&self.decomposition.values).for_each(|(to, &value)| *to = value);
    }

    fn pullback(&mut self, a: Dual<'_, ArrayRef2<T>>, seed: Seed<'_, T, Ix1>) {
        let Some(da) = a.shadow.get() else { return };
        let SvdvalsKernel { decomposition: Decomposition { u, v, .. }, seed: ds, scaled, product } = self;
        seed.load(ds);
        scale_columns(scaled, u, ds.view().column(0).iter().copied());
        product.add(T::ONE, &scaled.view(), &v.view().t(), da);
    }
}

pub(super) const CASES: &[Case] = &[
    Case {
        name: "svd_into",
        arguments: &[Argument::Matrix(Kind::Separated, 0, 1)],
        sizes: &[[4, 3, 0], [3, 3, 0], [2, 5, 0], [1, 1, 0], [3, 0, 0], [0, 2, 0], [12, 5, 0], [5, 12, 0]],
        allocations: 0,
        benchmark: &[[64, 16, 0], [64, 64, 0], [512, 32, 0]],
    },
    Case {
        name: "svdvals",
        arguments: &[Argument::Matrix(Kind::Separated, 0, 1)],
        sizes: &[[4, 3, 0], [3, 3, 0], [2, 5, 0], [1, 1, 0], [3, 0, 0], [0, 2, 0], [12, 5, 0], [5, 12, 0]],
        allocations: 1,
        benchmark: &[[64, 16, 0], [64, 64, 0], [512, 32, 0]],
    },
];

heap_size! {
    [T: Number] Decomposition<T> { a, u, values, v, room }
    [T: Copy] Side<T> { k, outside }
    [T: Number] SvdvalsKernel<T> { decomposition, seed, scaled }
}
