//! Decomposition into triangular factors.

use ndarray::{ArrayRef2, Ix2};

use super::backend::{Lu, Shape, solve_triangular, solve_triangular_in};
use super::cases::{Argument, Case, Kind};
use super::packed::{Packed, Scratch, Seed, has_shape, square, times};
use super::scalar::Number;
use crate::activation::{Dual, DualMut};
use crate::blas::products::leave_vector_registers_clean;
use crate::reused;
use crate::saved::Saved;
use crate::shadow::{Accumulate, ArrayCells};

/// *A = P·L·U*, by elimination with partial pivoting: *P* is a permutation, *L* lower triangular with ones on the diagonal, *U* upper
/// triangular.
///
/// All are n×n, *A* of any layout. What `p`, `l` and `u` held is not read.
///
/// ```
/// use ndarray::{Array2, array};
/// use pullback_rules::linalg;
///
/// let [mut p, mut l, mut u] = [(); 3].map(|()| Array2::zeros((2, 2)));
/// linalg::lu_into(&mut p, &mut l, &mut u, &array![[1.0, 3.0], [2.0, 4.0]]);
/// assert_eq!(p, array![[0.0, 1.0], [1.0, 0.0]]);
/// assert_eq!((l, u), (array![[1.0, 0.0], [0.5, 1.0]], array![[2.0, 4.0], [0.0, 1.0]]));
/// ```
///
/// # Gradient
/// With *Φ*, which below the diagonal is *Lᵀ·L̇* and elsewhere *U̇·Uᵀ*: *Ȧ += P·L⁻ᵀ·Φ·U⁻ᵀ* (de Hoog, Anderssen and Lukas, *Differentiation of matrix
/// functionals using triangular factorization*, 2011). *P* jumps and is constant in between: it has the gradient zero, and so have the
/// entries of *L* and *U* that are always 0 or 1.
///
/// # Panics
/// If the shapes do not fit, or if *A* is singular.
pub fn lu_into<T: Number>(
    p: &mut ArrayRef2<T>,
    l: &mut ArrayRef2<T>,
    u: &mut ArrayRef2<T>,
    a: &ArrayRef2<T>,
) {
    reused::with::<LuInto<T>, _>(T::CARRIES, |rule| rule.compute(p, l, u, a));
}

#[derive(Default, pullback_macros::Rule)]
#[rule(pub fn lu_into<T: Number>(p: &mut ArrayRef2<T>, l: &mut ArrayRef2<T>, u: &mut ArrayRef2<T>, a: &ArrayRef2<T>))]
struct LuInto<T: Number> {
    #[rule(restores = p)]
    old_p: Saved<T>,
    #[rule(restores = l)]
    old_l: Saved<T>,
    #[rule(restores = u)]
    old_u: Saved<T>,
    lu: Lu<T>,
    scratch: Scratch,
    l: Packed<T>,
    u: Packed<T>,
    seed: Packed<T>,
    /// *Lᵀ·L̇*, and then *Φ*.
    lower: Packed<T>,
    upper: Packed<T>,
}

impl<T: Number> LuInto<T> {
    fn compute(
        &mut self,
        p: &mut ArrayRef2<T>,
        l: &mut ArrayRef2<T>,
        u: &mut ArrayRef2<T>,
        a: &ArrayRef2<T>,
    ) {
        let n = square("lu_into", a);
        has_shape("lu_into, p", p, &Ix2(n, n));
        has_shape("lu_into, l", l, &Ix2(n, n));
        has_shape("lu_into, u", u, &Ix2(n, n));
        let LuInto { lu, scratch, l: lower, u: upper, .. } = self;
        lu.factors.assign(a);
        lu.factor(scratch);
        if let Some(pivot) = lu.zero_pivot() {
            panic!("lu_into: the matrix is singular, as pivot {pivot} shows");
        }
        p.fill(T::ZERO);
        lu.rows().iter().enumerate().for_each(|(i, &row)| p[[row, i]] = T::ONE);
        lower.copy(&lu.factors);
        lower.clear_upper();
        (0..n).for_each(|i| lower.column_mut(i)[i] = T::ONE);
        upper.copy(&lu.factors);
        upper.clear_lower();
        l.assign(&lower.view());
        u.assign(&upper.view());
        leave_vector_registers_clean();
    }

    fn forward(
        &mut self,
        p: &mut ArrayRef2<T>,
        l: &mut ArrayRef2<T>,
        u: &mut ArrayRef2<T>,
        a: &ArrayRef2<T>,
    ) {
        self.old_p.save_to_restore(p);
        self.old_l.save_to_restore(l);
        self.old_u.save_to_restore(u);
        self.compute(p, l, u, a);
    }

    fn pullback(
        &mut self,
        p: DualMut<'_, ArrayRef2<T>>,
        l: DualMut<'_, ArrayRef2<T>>,
        u: DualMut<'_, ArrayRef2<T>>,
        a: Dual<'_, ArrayRef2<T>>,
    ) {
        let shadows = [p.shadow.get(), l.shadow.get(), u.shadow.get()];
        if let (Some(da), true) = (a.shadow.get(), shadows[1].is_some() || shadows[2].is_some()) {
            self.pull(shadows[1], shadows[2], da);
        }
        for shadow in shadows.into_iter().flatten() {
            shadow.for_each(|cell| cell.set(T::ZERO));
        }
        self.old_p.restore(p.value);
        self.old_l.restore(l.value);
        self.old_u.restore(u.value);
    }

    fn pull(
        &mut self,
        dl: Option<ArrayCells<'_, T, Ix2>>,
        du: Option<ArrayCells<'_, T, Ix2>>,
        da: ArrayCells<'_, T, Ix2>,
    ) {
        let LuInto { lu, l, u, seed, lower, upper, .. } = self;
        let n = l.rows();
        lower.zeros(n, n);
        if let Some(dl) = dl {
            Seed::Cells(dl).load(seed);
            times(T::ONE, &l.view().t(), &seed.view(), T::ZERO, &mut lower.view_mut());
        }
        upper.zeros(n, n);
        if let Some(du) = du {
            Seed::Cells(du).load(seed);
            times(T::ONE, &seed.view(), &u.view().t(), T::ZERO, &mut upper.view_mut());
        }
        for j in 0..n {
            lower.column_mut(j)[..=j].copy_from_slice(&upper.column(j)[..=j]);
        }
        solve_triangular(l.get().transpose(), Shape::UPPER, lower);
        solve_triangular_in(u.get(), Shape::UPPER, lower.get_mut().transpose_mut());
        for (j, column) in da.columns().into_iter().enumerate() {
            for (&row, &d) in lu.rows().iter().zip(lower.column(j)) {
                column[row].accumulate(d);
            }
        }
        leave_vector_registers_clean();
    }
}

pub(super) const CASES: &[Case] = &[Case {
    name: "lu_into",
    arguments: &[Argument::Matrix(Kind::Regular, 0, 0)],
    sizes: &[[3, 0, 0], [0, 0, 0], [1, 0, 0], [20, 0, 0], [5, 0, 0]],
    allocations: 0,
    benchmark: &[[8, 0, 0], [64, 0, 0], [256, 0, 0]],
}];
