//! A triangular matrix times a vector, and the solve

use ndarray::{Array1, Array2, ArrayRef1, ArrayRef2};

use crate::activation::{Dual, DualMut};
use crate::blas::adjoint::{of_solve, of_triangular_product, place};
use crate::blas::backend::{MatrixScalar, keep, restore};
use crate::blas::cases::{Allocates, Case, LAYOUTS, Layout, Random};
use crate::blas::operand::Operand;
use crate::blas::options::{Diag, Side, Trans, Uplo};
use crate::blas::triangular::{Triangle, product, solve};
use crate::saved::Saved;

/// *x ← op(A)·x*, for a triangular n×n matrix *A* and *x* of length n; the `trmv` of BLAS.
///
/// Both may have any layout; *A* may be broadcast. The triangle of *A* that `uplo` does not name is neither read nor given a
/// gradient, and no more is the diagonal with [`Diag::Unit`]. Nothing is allocated.
///
/// ```
/// use ndarray::array;
/// use pullback_rules::blas::{Diag, Trans, Uplo, trmv};
///
/// let a = array![[2.0, f64::NAN], [1.0, 4.0]];
/// let mut x = array![1.0, 2.0];
/// trmv(Uplo::Lower, Trans::No, Diag::NonUnit, &a, &mut x);
/// assert_eq!(x, array![2.0, 9.0]);
/// ```
///
/// # Gradient
/// As for [`trmm`](fn@crate::blas::trmm), with one column: *op(Ȧ) += ẏ·xᵀ* in the triangle that is referenced, *ẋ = op(A)ᵀ·ẏ*, where *ẏ* is the gradient with
/// respect to the result and *x* the old vector, which it keeps.
///
/// # Panics
/// If *A* is not square, or *x* has another length.
#[inline(never)]
pub fn trmv<T: MatrixScalar>(uplo: Uplo, trans: Trans, diag: Diag, a: &ArrayRef2<T>, x: &mut ArrayRef1<T>) {
    assert_fits("trmv", a.dim(), x.len());
    let (a, x) = (Operand::read(a), Operand::write_vector(x));
    let (l, x) = Triangle::on_the_left((Side::Left, uplo, trans, diag), a, x);
    // SAFETY: `x` is borrowed uniquely and, being mutable, does not overlap itself. The shapes fit.
    unsafe { product(l, x) }
}

/// *x ← op(A)⁻¹·x*, for a triangular n×n matrix *A* and *x* of length n; the `trsv` of BLAS.
///
/// Both may have any layout; *A* may be broadcast. The triangle of *A* that `uplo` does not name is neither read nor given a
/// gradient, and no more is the diagonal with [`Diag::Unit`]. A zero on the diagonal gives infinities, as in BLAS. Nothing is
/// allocated, and no inverse formed.
///
/// ```
/// use ndarray::array;
/// use pullback_rules::blas::{Diag, Trans, Uplo, trsv};
///
/// let a = array![[2.0, f64::NAN], [1.0, 4.0]];
/// let mut x = array![2.0, 9.0];
/// trsv(Uplo::Lower, Trans::No, Diag::NonUnit, &a, &mut x);
/// assert_eq!(x, array![1.0, 2.0]);
/// ```
///
/// # Gradient
/// As for [`trsm`](fn@crate::blas::trsm), with one column: for the solution *x* with the gradient *ẋ*, the gradient *ḃ* with respect to
/// what *x* held before solves *op(A)ᵀ·ḃ = ẋ*, and *op(Ȧ) += −ḃ·xᵀ* in the triangle that is referenced. It keeps the old *x*, unless the caller
/// has [forgone](crate::Rule::forgo) that.
///
/// # Panics
/// If *A* is not square, or *x* has another length.
#[inline(never)]
pub fn trsv<T: MatrixScalar>(uplo: Uplo, trans: Trans, diag: Diag, a: &ArrayRef2<T>, x: &mut ArrayRef1<T>) {
    assert_fits("trsv", a.dim(), x.len());
    let (a, x) = (Operand::read(a), Operand::write_vector(x));
    let (l, x) = Triangle::on_the_left((Side::Left, uplo, trans, diag), a, x);
    // SAFETY: `x` is borrowed uniquely and, being mutable, does not overlap itself. The shapes fit.
    unsafe { solve(l, x) }
}

#[inline]
#[track_caller]
fn assert_fits(function: &str, (m, n): (usize, usize), x: usize) {
    if m != n || n != x {
        mismatch(function, (m, n), x);
    }
}

#[cold]
#[track_caller]
fn mismatch(function: &str, (m, n): (usize, usize), x: usize) -> ! {
    panic!("{function}: A is {m}×{n} but x has length {x}");
}

/// x ← op(A)·x
#[derive(pullback_macros::Rule, Default)]
#[rule(pub fn trmv<T: MatrixScalar>(
    #[constant] uplo: Uplo,
    #[constant] trans: Trans,
    #[constant] diag: Diag,
    a: &ArrayRef2<T>,
    x: &mut ArrayRef1<T>,
))]
struct Trmv<T: MatrixScalar> {
    old_x: Saved<T>,
}

impl<T: MatrixScalar> Trmv<T> {
    fn forward(&mut self, uplo: Uplo, trans: Trans, diag: Diag, a: &ArrayRef2<T>, x: &mut ArrayRef1<T>) {
        // SAFETY: the buffer is nobody else's.
        unsafe { keep(Operand::read_vector(x), self.old_x.buffer(x.len(), T::ZERO)) }
        trmv(uplo, trans, diag, a, x);
    }

    fn pullback(
        &mut self,
        uplo: Uplo,
        trans: Trans,
        diag: Diag,
        a: Dual<'_, ArrayRef2<T>>,
        x: DualMut<'_, ArrayRef1<T>>,
    ) {
        let a = (Operand::read(a.value), a.shadow.get().map(Operand::cells));
        // SAFETY: no shadow overlaps a primal, nor those of A and x each other.
        unsafe {
            if let Some(old_x) = self.old_x.take() {
                restore(Operand::write_vector(x.value), old_x);
            }
            if let Some(dx) = x.shadow.get().map(Operand::vector_cells) {
                let x = Operand::read_vector(x.value);
                of_triangular_product((Side::Left, uplo, trans, diag), T::ONE, a, x, dx);
            }
        }
    }
}

/// x ← op(A)⁻¹·x
#[derive(pullback_macros::Rule, Default)]
#[rule(pub fn trsv<T: MatrixScalar>(
    #[constant] uplo: Uplo,
    #[constant] trans: Trans,
    #[constant] diag: Diag,
    a: &ArrayRef2<T>,
    x: &mut ArrayRef1<T>,
))]
struct Trsv<T: MatrixScalar> {
    #[rule(restores = x)]
    old_x: Saved<T>,
}

impl<T: MatrixScalar> Trsv<T> {
    fn forward(&mut self, uplo: Uplo, trans: Trans, diag: Diag, a: &ArrayRef2<T>, x: &mut ArrayRef1<T>) {
        if let Some(place) = place(&mut self.old_x, true, x.len()) {
            // SAFETY: the buffer is nobody else's.
            unsafe { keep(Operand::read_vector(x), place) }
        }
        trsv(uplo, trans, diag, a, x);
    }

    fn pullback(
        &mut self,
        uplo: Uplo,
        trans: Trans,
        diag: Diag,
        a: Dual<'_, ArrayRef2<T>>,
        x: DualMut<'_, ArrayRef1<T>>,
    ) {
        let a = (Operand::read(a.value), a.shadow.get().map(Operand::cells));
        // SAFETY: no shadow overlaps a primal, nor those of A and x each other.
        unsafe {
            if let Some(dx) = x.shadow.get().map(Operand::vector_cells) {
                let x = Operand::read_vector(x.value);
                of_solve((Side::Left, uplo, trans, diag), a, x, dx);
            }
            if let Some(old_x) = self.old_x.take() {
                restore(Operand::write_vector(x.value), old_x);
            }
        }
    }
}

type Input<T> = (Uplo, Trans, Diag, Array2<T>, Array1<T>);

/// What tests and benchmarks call the product on.
pub fn trmv_case<T: MatrixScalar>() -> Case<Input<T>> {
    case("trmv")
}

/// What tests and benchmarks call the solve on.
pub fn trsv_case<T: MatrixScalar>() -> Case<Input<T>> {
    case("trsv")
}

fn case<T: MatrixScalar>(name: &'static str) -> Case<Input<T>> {
    let random = &mut Random::new();
    let mut inputs = Vec::new();
    for variant in 0..8 {
        let uplo = if variant % 2 == 0 { Uplo::Upper } else { Uplo::Lower };
        let trans = if variant / 2 % 2 == 0 { Trans::No } else { Trans::Yes };
        let diag = if variant / 4 % 2 == 0 { Diag::NonUnit } else { Diag::Unit };
        for round in 0..2 {
            let n = [3, 1, 40, 2, 0, 5, 17][(variant + 3 * round) % 7];
            let a = random.triangle(n, uplo, diag == Diag::Unit, LAYOUTS[(variant + round) % 4]);
            inputs.push((uplo, trans, diag, a, random.vector(n, LAYOUTS[(variant / 2 + round) % 4])));
        }
    }
    let mut misfit = |a| {
        let a = random.matrix(a, Layout::C);
        (Uplo::Lower, Trans::No, Diag::NonUnit, a, random.vector(3, Layout::C))
    };
    Case {
        name,
        allocates: Allocates::Once,
        inputs,
        panicking: vec![misfit((2, 2)), misfit((2, 3))],
        sizes: &[8, 64, 512, 2048],
        sized: |n| {
            let random = &mut Random::new();
            let a = random.triangle(n, Uplo::Lower, false, Layout::C);
            (Uplo::Lower, Trans::No, Diag::NonUnit, a, random.vector(n, Layout::C))
        },
    }
}
