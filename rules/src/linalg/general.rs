//! Square matrices of any kind: decomposition into triangular factors, and what rests on it.

use std::marker::PhantomData;

use ndarray::{Array, Array2, ArrayRef, ArrayRef2, Ix2};

use super::backend::Lu;
use super::cases::{Argument, Case, Kind};
use super::forms::forms;
use super::joins::Joins;
use super::packed::{Columns, Packed, Scratch, Seed, add, fits, square, times, write};
use super::scalar::Number;
use crate::activation::Dual;
use crate::blas::products::{IntoShadow, leave_vector_registers_clean};
use crate::heap::heap_size;
use crate::reused;

/// *P·A = L·U*, with what it takes to compute and to use it.
#[derive(Default)]
pub(super) struct Factor<T> {
    lu: Lu<T>,
    scratch: Scratch,
    room: Packed<T>,
    /// Whether all entries of *A* are.
    finite: bool,
}

impl<T: Number> Factor<T> {
    pub(super) fn of(&mut self, a: &ArrayRef2<T>) {
        self.lu.factors.assign(a);
        self.finite = a.iter().all(|x| x.is_finite());
        self.lu.factor(&mut self.scratch);
    }

    /// Likewise, of a matrix that has an inverse.
    fn of_regular(&mut self, function: &str, a: &ArrayRef2<T>) {
        self.of(a);
        if let Some(pivot) = self.lu.zero_pivot() {
            panic!("{function}: the matrix is singular, as pivot {pivot} shows");
        }
    }

    /// *B ← A⁻¹·B*
    fn solve(&mut self, b: &mut Packed<T>) {
        self.lu.solve(b, &mut self.room);
    }

    /// *B ← A⁻ᵀ·B*
    fn solve_transposed(&mut self, b: &mut Packed<T>) {
        self.lu.solve_transposed(b, &mut self.room);
    }

    /// Whether a pivot is zero; those that follow are rubbish then.
    fn singular(&self) -> bool {
        self.finite && self.lu.zero_pivot().is_some()
    }

    /// The diagonal of *U*.
    fn pivots(&self) -> impl Iterator<Item = T> {
        let u = &self.lu.factors;
        (0..u.rows()).map(|i| u.column(i)[i])
    }

    pub(super) fn determinant(&self) -> T {
        if self.singular() {
            return T::ZERO;
        }
        self.pivots().fold(if self.lu.odd { -T::ONE } else { T::ONE }, |product, pivot| product * pivot)
    }
}

/// The identity, times `factor`.
fn identity<T: Number>(matrix: &mut Packed<T>, n: usize, factor: T) {
    matrix.zeros(n, n);
    (0..n).for_each(|i| matrix.column_mut(i)[i] = factor);
}

forms! {
    /// *X = A⁻¹·B*, by elimination with partial pivoting.
    ///
    /// *A* is n×n, *B* a vector of n numbers or an n×k matrix, both of any layout.
    ///
    /// ```
    /// use ndarray::array;
    /// use pullback_rules::linalg;
    ///
    /// let a = array![[0.0, 2.0], [4.0, 0.0]];
    /// assert_eq!(linalg::solve(&a, &array![2.0, 4.0]), array![1.0, 1.0]);
    /// assert_eq!(linalg::solve(&a, &array![[2.0], [8.0]]), array![[2.0], [1.0]]);
    /// ```
    ///
    /// # Gradient
    /// With *Λ = A⁻ᵀ·Ẋ*: *Ḃ += Λ*, *Ȧ −= Λ·Xᵀ* (Giles, *Collected matrix derivative results for forward and reverse mode algorithmic
    /// differentiation*, 2008, section 2.3.1). The factors of the forward serve again.
    ///
    /// # Panics
    /// If the shapes do not fit, or if a pivot is zero.
    fn solve = Solve;
    /// *X* as of [`solve()`], written to `y`.
    ///
    /// # Panics
    /// As [`solve()`] does, and if `y` has another shape.
    fn solve_into = SolveInto;
    kernel SolveKernel<L: Joins<R>, R: Number, D: Columns>;
    constants ();
    arguments (a: &ArrayRef2<L>, b: &ArrayRef<R, D>);
    result Array<L, D> / ArrayRef D;
}

#[derive(Default)]
struct SolveKernel<L: Joins<R>, R: Number, D> {
    factor: Factor<L>,
    x: Packed<L>,
    lambda: Packed<L>,
    product: IntoShadow<L>,
    right: PhantomData<(R, D)>,
}

impl<L: Joins<R>, R: Number, D: Columns> SolveKernel<L, R, D> {
    fn shape(function: &str, a: &ArrayRef2<L>, b: &ArrayRef<R, D>) -> D {
        fits(function, square(function, a), b);
        b.raw_dim()
    }

    fn forward(&mut self, function: &str, a: &ArrayRef2<L>, b: &ArrayRef<R, D>, x: &mut ArrayRef<L, D>) {
        self.factor.of_regular(function, a);
        self.x.load(&D::matrix(b.view()), L::of_right);
        self.factor.solve(&mut self.x);
        write(x, &self.x);
    }

    fn pullback(&mut self, a: Dual<'_, ArrayRef2<L>>, b: Dual<'_, ArrayRef<R, D>>, seed: Seed<'_, L, D>) {
        let (da, db) = (a.shadow.get(), b.shadow.get().and_then(L::right_cells));
        if da.is_none() && db.is_none() {
            return;
        }
        let SolveKernel { factor, x, lambda, product, .. } = self;
        seed.load(lambda);
        factor.solve_transposed(lambda);
        if let Some(db) = db {
            add(D::matrix(db), &lambda.view());
        }
        if let Some(da) = da {
            product.add(-L::ONE, &lambda.view(), &x.view().t(), da);
        }
    }
}

forms! {
    /// *A⁻¹*, for an n×n matrix of any layout. Where it is multiplied by something, [`solve()`] costs less and is more accurate.
    ///
    /// ```
    /// use ndarray::array;
    /// use pullback_rules::linalg;
    ///
    /// assert_eq!(linalg::inv(&array![[0.0, 2.0], [4.0, 0.0]]), array![[0.0, 0.25], [0.5, 0.0]]);
    /// ```
    ///
    /// # Gradient
    /// With *Y = A⁻¹*: *Ȧ −= Yᵀ·Ẏ·Yᵀ* (Giles, *Collected matrix derivative results for forward and reverse mode algorithmic differentiation*, 2008,
    /// section 2.2.3).
    ///
    /// # Panics
    /// If *A* is not square, or if a pivot is zero.
    fn inv = Inv;
    /// The inverse as of [`inv()`], written to `y`.
    ///
    /// # Panics
    /// As [`inv()`] does, and if `y` has another shape.
    fn inv_into = InvInto;
    kernel InvKernel<T: Number>;
    constants ();
    arguments (a: &ArrayRef2<T>);
    result Array2<T> / ArrayRef2 Ix2;
}

#[derive(Default)]
struct InvKernel<T: Number> {
    factor: Factor<T>,
    inverse: Packed<T>,
    seed: Packed<T>,
    left: Packed<T>,
    product: IntoShadow<T>,
}

impl<T: Number> InvKernel<T> {
    fn shape(function: &str, a: &ArrayRef2<T>) -> Ix2 {
        let n = square(function, a);
        Ix2(n, n)
    }

    fn forward(&mut self, function: &str, a: &ArrayRef2<T>, y: &mut ArrayRef2<T>) {
        self.factor.of_regular(function, a);
        identity(&mut self.inverse, a.nrows(), T::ONE);
        self.factor.solve(&mut self.inverse);
        y.assign(&self.inverse.view());
    }

    fn pullback(&mut self, a: Dual<'_, ArrayRef2<T>>, seed: Seed<'_, T, Ix2>) {
        let Some(da) = a.shadow.get() else { return };
        let InvKernel { inverse, seed: dy, left, product, .. } = self;
        seed.load(dy);
        left.resize(dy.rows(), dy.columns());
        times(T::ONE, &inverse.view().t(), &dy.view(), T::ZERO, &mut left.view_mut());
        product.add(-T::ONE, &left.view(), &inverse.view().t(), da);
    }
}

/// det *A* of an n×n matrix of any layout; 1 if n is 0.
///
/// ```
/// use ndarray::array;
/// use pullback_rules::linalg;
///
/// assert_eq!(linalg::det(&array![[0.0, 2.0], [4.0, 0.0]]), -8.0);
/// ```
///
/// # Gradient
/// *Ȧ += ẏ·det A·A⁻ᵀ* (Giles, *Collected matrix derivative results for forward and reverse mode algorithmic differentiation*, 2008, section
/// 2.2.4), which is the matrix of cofactors. Where *A* is singular or nearly so, they are computed out of the singular value decomposition
/// *A = U·S·Vᵀ*, as *det U·det V·U·diag(Πⱼ≠ᵢ sⱼ)·Vᵀ*: the gradient is right there, too, and so are second derivatives, by minors of *S*.
///
/// # Panics
/// If *A* is not square.
pub fn det<T: Number>(a: &ArrayRef2<T>) -> T {
    reused::with::<Det<T>, _>(T::CARRIES, |rule| rule.forward(a))
}

#[derive(Default, pullback_macros::Rule)]
#[rule(pub fn det<T: Number>(a: &ArrayRef2<T>) -> T)]
struct Det<T: Number> {
    factor: Factor<T>,
    value: T,
    gradient: Packed<T>,
    nearly_singular: Option<Box<NearlySingular<T>>>,
}

/// What it takes where the inverse does not serve.
#[derive(Default)]
struct NearlySingular<T: Number> {
    a: Packed<T>,
    room: T::CofactorRoom,
}

impl<T: Number> Det<T> {
    fn forward(&mut self, a: &ArrayRef2<T>) -> T {
        square("det", a);
        self.factor.of(a);
        self.value = self.factor.determinant();
        if T::CARRIES && self.is_nearly_singular() {
            self.cofactors(a);
            let pairs = a.columns().into_iter().enumerate();
            let gradient = &self.gradient;
            let pairs = pairs
                .flat_map(|(j, column)| gradient.column(j).iter().copied().zip(column.into_iter().copied()));
            self.value = self.value.with_gradient(pairs);
        }
        leave_vector_registers_clean();
        self.value
    }

    fn pullback(&mut self, a: Dual<'_, ArrayRef2<T>>, d: T) {
        let Some(da) = a.shadow.get() else { return };
        if self.is_nearly_singular() {
            self.cofactors(a.value);
            self.gradient.slice_mut().iter_mut().for_each(|x| *x *= d);
        } else {
            identity(&mut self.gradient, a.value.nrows(), d * self.value);
            self.factor.solve_transposed(&mut self.gradient);
        }
        add(da, &self.gradient.view());
        leave_vector_registers_clean();
    }

    fn is_nearly_singular(&self) -> bool {
        let sizes = self.factor.pivots().map(|pivot| pivot.abs());
        let (least, greatest) =
            sizes.fold((T::INFINITY, T::ZERO), |(least, most), size| (least.min(size), most.max(size)));
        self.factor.singular() || self.factor.finite && least <= T::EPSILON.sqrt() * greatest
    }

    /// Brings the cofactors to `gradient`.
    fn cofactors(&mut self, a: &ArrayRef2<T>) {
        let NearlySingular { a: packed, room } = &mut **self.nearly_singular.get_or_insert_default();
        packed.assign(a);
        T::cofactors(packed, &mut self.gradient, room);
    }
}

/// ln |det *A*| of an n×n matrix of any layout; −∞ if it is singular. For a positive definite matrix there is
/// [`logdet_spd`](super::logdet_spd()).
///
/// ```
/// use ndarray::array;
/// use pullback_rules::linalg;
///
/// let y: f64 = linalg::logdet(&array![[0.0, 2.0], [4.0, 0.0]]);
/// assert!((y - 8.0_f64.ln()).abs() < 1e-15);
/// ```
///
/// # Gradient
/// *Ȧ += ẏ·A⁻ᵀ* (Giles, *Collected matrix derivative results for forward and reverse mode algorithmic differentiation*, 2008, section 2.2.4). It
/// is not finite where *A* is singular.
///
/// # Panics
/// If *A* is not square.
pub fn logdet<T: Number>(a: &ArrayRef2<T>) -> T {
    reused::with::<Logdet<T>, _>(T::CARRIES, |rule| rule.forward(a))
}

#[derive(Default, pullback_macros::Rule)]
#[rule(pub fn logdet<T: Number>(a: &ArrayRef2<T>) -> T)]
struct Logdet<T: Number> {
    factor: Factor<T>,
    gradient: Packed<T>,
}

impl<T: Number> Logdet<T> {
    fn forward(&mut self, a: &ArrayRef2<T>) -> T {
        square("logdet", a);
        self.factor.of(a);
        leave_vector_registers_clean();
        if self.factor.singular() {
            return T::NEG_INFINITY;
        }
        self.factor.pivots().map(|pivot| pivot.abs().ln()).sum()
    }

    fn pullback(&mut self, a: Dual<'_, ArrayRef2<T>>, d: T) {
        let Some(da) = a.shadow.get() else { return };
        identity(&mut self.gradient, a.value.nrows(), d);
        self.factor.solve_transposed(&mut self.gradient);
        if self.factor.singular() {
            self.gradient.slice_mut().fill(T::NAN);
        }
        add(da, &self.gradient.view());
        leave_vector_registers_clean();
    }
}

pub(super) const CASES: &[Case] = &[
    Case {
        name: "solve",
        arguments: &[Argument::Matrix(Kind::Regular, 0, 0), Argument::Matrix(Kind::Regular, 0, 2)],
        sizes: &[[3, 0, 2], [0, 0, 2], [1, 0, 1], [4, 0, 0], [20, 0, 3], [5, 0, 7]],
        allocations: 1,
        benchmark: &[[8, 0, 1], [64, 0, 1], [64, 0, 64], [256, 0, 16]],
    },
    Case {
        name: "inv",
        arguments: &[Argument::Matrix(Kind::Regular, 0, 0)],
        sizes: &[[3, 0, 0], [0, 0, 0], [1, 0, 0], [20, 0, 0], [5, 0, 0]],
        allocations: 1,
        benchmark: &[[8, 0, 0], [64, 0, 0], [256, 0, 0]],
    },
    Case {
        name: "det",
        arguments: &[Argument::Matrix(Kind::Regular, 0, 0)],
        sizes: &[[3, 0, 0], [0, 0, 0], [1, 0, 0], [8, 0, 0], [5, 0, 0]],
        allocations: 0,
        benchmark: &[[8, 0, 0], [64, 0, 0], [256, 0, 0]],
    },
    Case {
        name: "logdet",
        arguments: &[Argument::Matrix(Kind::Regular, 0, 0)],
        sizes: &[[3, 0, 0], [0, 0, 0], [1, 0, 0], [20, 0, 0], [5, 0, 0]],
        allocations: 0,
        benchmark: &[[8, 0, 0], [64, 0, 0], [256, 0, 0]],
    },
];

heap_size! {
    [T: Copy] Factor<T> { lu, scratch, room }
    [L: Joins<R>, R: Number, D] SolveKernel<L, R, D> { factor, x, lambda }
    [T: Number] InvKernel<T> { factor, inverse, seed, left }
    [T: Number] NearlySingular<T> { a, room }
}
