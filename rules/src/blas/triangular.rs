//! Products and solves with triangular and symmetric matrices, for any layout.
//!
//! All of them come down to a lower triangle on the left, by transposing and by reversing the order of rows, both of which
//! only change strides. A lower triangle is split in the middle,
//!
//! > L = (L₁ 0; M L₂),
//!
//! so that everything but blocks of a few rows is done by [`multiply`]. What is above the diagonal is never touched.

use std::mem::MaybeUninit;

use super::backend::{MatrixScalar, SmallPlan, accumulate, multiply, scale};
use super::elementwise;
use super::leaf;
use super::matvec;
use super::operand::Operand;
use super::options::{Diag, Side, Trans, Uplo};

/// A square matrix, of which the lower triangle is there.
pub(super) struct Triangle<'a, T> {
    pub(super) lower: Operand<'a, T>,
    /// The diagonal is ones, and not there either.
    pub(super) unit: bool,
}

impl<T> Clone for Triangle<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Triangle<'_, T> {}

impl<'a, T> Triangle<'a, T> {
    /// `op(A)·X`, or `X·op(A)`, as a lower triangle on the left of what is returned beside it.
    pub(super) fn on_the_left<'x>(
        (side, uplo, trans, diag): (Side, Uplo, Trans, Diag),
        a: Operand<'a, T>,
        x: Operand<'x, T>,
    ) -> (Self, Operand<'x, T>) {
        let (trans, x) = (from_the_left(side, trans), side.left(x));
        let (a, unit) = (trans.operand(a), diag == Diag::Unit);
        if (uplo == Uplo::Lower) == (trans == Trans::No) {
            (Triangle { lower: a, unit }, x)
        } else {
            (Triangle { lower: a.reverse_rows().reverse_columns(), unit }, x.reverse_rows())
        }
    }

    /// L₁, M and L₂, where L₁ has `at` rows.
    fn split(self, at: usize) -> (Self, Operand<'a, T>, Self) {
        let (first, second) = self.lower.split_rows(at);
        let [first, second] = [first, second].map(|rows| rows.split_columns(at));
        let part = |lower| Triangle { lower, unit: self.unit };
        (part(first.0), second.0, part(second.1))
    }
}

/// X·op(A) is the transpose of op(A)ᵀ·Xᵀ.
fn from_the_left(side: Side, trans: Trans) -> Trans {
    match side {
        Side::Left => trans,
        Side::Right => trans.other(),
    }
}

/// Where to split `n` rows, unless they fit in a block of `most`.
fn middle(n: usize, most: usize) -> Option<usize> {
    (n > most).then(|| (n / 2).next_multiple_of(most))
}

/// X ← L⁻¹·X
///
/// # Safety
/// The operands are valid, `x` for writes, and fit. `x` overlaps neither `l` nor itself.
pub(super) unsafe fn solve<T: MatrixScalar>(l: Triangle<'_, T>, x: Operand<'_, T>) {
    if x.columns == 0 {
        return;
    }
    // SAFETY: as the caller guarantees; parts of matrices that do not overlap do not either.
    unsafe {
        #[cfg(feature = "openblas")]
        if super::openblas::solve(l, x) {
            return;
        }
        solve_parts(l, x);
    }
}

/// # Safety
/// As for [`solve`].
unsafe fn solve_parts<T: MatrixScalar>(l: Triangle<'_, T>, x: Operand<'_, T>) {
    // SAFETY: as the caller guarantees.
    unsafe {
        let Some(at) = middle(x.rows, leaf::ROWS) else { return leaf::solve(l, x) };
        let ((l1, m, l2), (x1, x2)) = (l.split(at), x.split_rows(at));
        solve_parts(l1, x1);
        multiply(&mut SmallPlan::default(), -T::ONE, m, x1, T::ONE, x2, None);
        solve_parts(l2, x2);
    }
}

/// X ← L·X
///
/// # Safety
/// As for [`solve`].
pub(super) unsafe fn product<T: MatrixScalar>(l: Triangle<'_, T>, x: Operand<'_, T>) {
    if x.columns == 0 {
        return;
    }
    // SAFETY: as the caller guarantees.
    unsafe {
        #[cfg(feature = "openblas")]
        if super::openblas::product(l, x) {
            return;
        }
        product_of_parts(l, x);
    }
}

/// # Safety
/// As for [`solve`].
unsafe fn product_of_parts<T: MatrixScalar>(l: Triangle<'_, T>, x: Operand<'_, T>) {
    // SAFETY: as the caller guarantees.
    unsafe {
        let Some(at) = middle(x.rows, leaf::ROWS) else { return leaf::multiply(l, x) };
        let ((l1, m, l2), (x1, x2)) = (l.split(at), x.split_rows(at));
        product_of_parts(l2, x2);
        multiply(&mut SmallPlan::default(), T::ONE, m, x1, T::ONE, x2, None);
        product_of_parts(l1, x1);
    }
}

/// Rows of the blocks of which the whole product is computed, although only a triangle of it is wanted, or of which a
/// symmetric matrix is completed.
const BLOCK: usize = 64;

/// Room for such a block.
type Place<T> = [MaybeUninit<T>; BLOCK * BLOCK];

fn place<T>() -> Place<T> {
    [const { MaybeUninit::uninit() }; BLOCK * BLOCK]
}

/// The lower triangle of *C += α·A·B*. Elements of *C* may share a place.
///
/// # Safety
/// The operands are valid, the triangle for writes, and fit. *C* overlaps neither *A* nor *B*.
pub(super) unsafe fn accumulate_triangle<T: MatrixScalar>(
    alpha: T,
    a: Operand<'_, T>,
    b: Operand<'_, T>,
    c: Triangle<'_, T>,
) {
    if alpha.is_zero() || a.columns == 0 {
        return;
    }
    // SAFETY: as the caller guarantees.
    unsafe { accumulate_triangle_in_parts(&mut place(), alpha, a, b, c) }
}

/// # Safety
/// As for [`accumulate_triangle`].
unsafe fn accumulate_triangle_in_parts<T: MatrixScalar>(
    place: &mut Place<T>,
    alpha: T,
    a: Operand<'_, T>,
    b: Operand<'_, T>,
    c: Triangle<'_, T>,
) {
    let n = c.lower.rows;
    let plan = &mut SmallPlan::default();
    // SAFETY: as the caller guarantees. The place has room for the product of a block.
    unsafe {
        if let Some(at) = middle(n, BLOCK) {
            let ((c1, m, c2), (a1, a2), (b1, b2)) = (c.split(at), a.split_rows(at), b.split_columns(at));
            accumulate_triangle_in_parts(place, alpha, a1, b1, c1);
            accumulate(plan, alpha, a2, b1, m);
            return accumulate_triangle_in_parts(place, alpha, a2, b2, c2);
        }
        let product = Operand::packed(place.as_mut_ptr().cast(), n, n);
        multiply(plan, T::ONE, a, b, T::ZERO, product, None);
        for j in 0..n {
            for i in j + usize::from(c.unit)..n {
                *c.lower.at(i, j) += alpha * *product.at(i, j);
            }
        }
    }
}

/// The lower triangle of *C += α·A·Aᵀ*, where elements of *C* do not share places.
///
/// # Safety
/// The operands are valid, the triangle for writes, and fit. *C* overlaps neither *A* nor itself.
pub(super) unsafe fn accumulate_square<T: MatrixScalar>(alpha: T, a: Operand<'_, T>, c: Operand<'_, T>) {
    if alpha.is_zero() || a.columns == 0 {
        return;
    }
    // SAFETY: as the caller guarantees.
    unsafe {
        #[cfg(feature = "openblas")]
        if super::openblas::square(alpha, a, c) {
            return;
        }
        accumulate_triangle(alpha, a, a.t(), Triangle { lower: c, unit: false });
    }
}

/// *C += α·S·B*, with the symmetric matrix *S* whose lower triangle is *L*, except that its diagonal is that of *L* times
/// `diagonal`. Elements of *C* may share a place.
///
/// # Safety
/// The operands are valid, `c` for writes, and fit. `c` overlaps neither `l` nor `b`.
pub(super) unsafe fn accumulate_symmetric<T: MatrixScalar>(
    alpha: T,
    l: Operand<'_, T>,
    diagonal: T,
    b: Operand<'_, T>,
    c: Operand<'_, T>,
) {
    if alpha.is_zero() || b.columns == 0 {
        return;
    }
    // SAFETY: as the caller guarantees.
    unsafe {
        if matvec::symmetric(alpha, l, diagonal, b, c) {
            return;
        }
        #[cfg(feature = "openblas")]
        if diagonal.is_one() && super::openblas::symmetric(alpha, l, b, c) {
            return;
        }
        accumulate_symmetric_parts(&mut place(), alpha, l, diagonal, b, c);
    }
}

/// # Safety
/// As for [`accumulate_symmetric`].
unsafe fn accumulate_symmetric_parts<T: MatrixScalar>(
    place: &mut Place<T>,
    alpha: T,
    l: Operand<'_, T>,
    diagonal: T,
    b: Operand<'_, T>,
    c: Operand<'_, T>,
) {
    let n = l.rows;
    let plan = &mut SmallPlan::default();
    // SAFETY: as the caller guarantees. The place has room for a block.
    unsafe {
        if let Some(at) = middle(n, BLOCK) {
            let (l1, m, l2) = Triangle { lower: l, unit: false }.split(at);
            let ((b1, b2), (c1, c2)) = (b.split_rows(at), c.split_rows(at));
            accumulate_symmetric_parts(place, alpha, l1.lower, diagonal, b1, c1);
            accumulate(plan, alpha, m.t(), b2, c1);
            accumulate(plan, alpha, m, b1, c2);
            return accumulate_symmetric_parts(place, alpha, l2.lower, diagonal, b2, c2);
        }
        let whole = Operand::packed(place.as_mut_ptr().cast(), n, n);
        for j in 0..n {
            *whole.at(j, j) = diagonal * *l.at(j, j);
            for i in j + 1..n {
                let element = *l.at(i, j);
                *whole.at(i, j) = element;
                *whole.at(j, i) = element;
            }
        }
        accumulate(plan, alpha, whole, b, c);
    }
}

/// The gradient of a triangular matrix: op(Ȧ) += α·X·Yᵀ, or for A on the right op(Ȧ) += α·Xᵀ·Y, in the triangle that is
/// referenced.
///
/// # Safety
/// The operands are valid, `da` for writes, and fit. `da` overlaps neither of the others.
pub(super) unsafe fn gradient_of_triangle<T: MatrixScalar>(
    (side, uplo, trans, diag): (Side, Uplo, Trans, Diag),
    alpha: T,
    x: Operand<'_, T>,
    y: Operand<'_, T>,
    da: Operand<'_, T>,
) {
    let (x, y) = (side.left(x), side.left(y));
    let transposed = (from_the_left(side, trans) == Trans::Yes) != (uplo == Uplo::Upper);
    let (x, y) = if transposed { (y, x) } else { (x, y) };
    let place = Triangle { lower: uplo.lower(da), unit: diag == Diag::Unit };
    // SAFETY: as the caller guarantees.
    unsafe { accumulate_triangle(alpha, x, y.t(), place) }
}

/// The gradient of a symmetric matrix, of which the lower triangle is referenced: that of *α·X·Yᵀ + α·Y·Xᵀ* is added, except
/// that the diagonal counts once.
///
/// # Safety
/// The operands are valid, `da` for writes, and fit. `da` overlaps neither of the others.
pub(super) unsafe fn gradient_of_symmetric<T: MatrixScalar>(
    alpha: T,
    x: Operand<'_, T>,
    y: Operand<'_, T>,
    da: Operand<'_, T>,
) {
    // SAFETY: as the caller guarantees.
    unsafe {
        accumulate_triangle(alpha, x, y.t(), Triangle { lower: da, unit: false });
        accumulate_triangle(alpha, y, x.t(), Triangle { lower: da, unit: true });
    }
}

/// Calls `each` with the columns of a lower triangle, each from its diagonal element downwards.
#[inline]
fn columns<'a, T>(l: Operand<'a, T>, mut each: impl FnMut(Operand<'a, T>)) {
    for j in 0..l.rows {
        each(l.columns_in(j..j + 1).split_rows(j).1);
    }
}

/// The elements of a triangle.
pub(super) fn elements(n: usize) -> usize {
    n * (n + 1) / 2
}

/// The lower triangle of *C ← β·C*. If β is 0, *C* is not read.
///
/// # Safety
/// The triangle is valid for writes and does not overlap itself.
pub(super) unsafe fn scale_triangle<T: MatrixScalar>(beta: T, c: Operand<'_, T>) {
    if !beta.is_one() {
        // SAFETY: as the caller guarantees.
        columns(c, |column| unsafe { scale(beta, column) });
    }
}

/// ⟨X, Y⟩ over the lower triangles.
///
/// # Safety
/// The triangles are valid.
pub(super) unsafe fn inner_of_triangles<T: MatrixScalar>(x: Operand<'_, T>, y: Operand<'_, T>) -> T {
    let mut sum = T::ZERO;
    let mut j = 0;
    columns(y, |y| {
        let x = x.columns_in(j..j + 1).split_rows(j).1;
        // SAFETY: as the caller guarantees.
        sum += unsafe { elementwise::inner(x, y) };
        j += 1;
    });
    sum
}

/// Copies a lower triangle to `place`, column after column.
///
/// # Safety
/// The triangle is valid and does not overlap the place.
pub(super) unsafe fn keep_triangle<T: MatrixScalar>(c: Operand<'_, T>, place: &mut [T]) {
    assert_eq!(place.len(), elements(c.rows), "room for a triangle");
    let mut rest = place;
    columns(c, |column| {
        let (part, others) = std::mem::take(&mut rest).split_at_mut(column.rows);
        // SAFETY: as the caller guarantees; the part has the length of the column.
        unsafe { Operand::packed(part.as_mut_ptr(), column.rows, 1).assign(column) };
        rest = others;
    });
}

/// Brings back what [`keep_triangle`] has kept.
///
/// # Safety
/// The triangle is valid for writes and does not overlap itself.
pub(super) unsafe fn restore_triangle<T: MatrixScalar>(c: Operand<'_, T>, kept: &[T]) {
    assert_eq!(kept.len(), elements(c.rows), "restored with another shape than saved");
    let mut rest = kept;
    columns(c, |column| {
        let (part, others) = rest.split_at(column.rows);
        // SAFETY: as the caller guarantees; the part has the length of the column and is only read.
        unsafe { column.assign(Operand::packed(part.as_ptr().cast_mut(), column.rows, 1)) };
        rest = others;
    });
}
