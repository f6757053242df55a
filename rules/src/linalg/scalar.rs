//! The elements of the matrices that are decomposed.

use faer::dyn_stack::{MemStack, StackReq};
use faer::linalg::cholesky::llt;
use faer::linalg::lu::partial_pivoting as lu;
use faer::linalg::matmul::triangular;
use faer::linalg::triangular_solve;
use faer::{Accum, Auto, MatMut, MatRef, Spec};

use super::backend::Shape;
use super::packed::Scratch;
use crate::blas::MatrixScalar;
use crate::blas::products::parallelism;
use crate::float::Float;

/// An element of the arrays that the functions of this module take: `f32`, `f64`, and dual numbers that consist of `f64`.
pub trait Number: MatrixScalar + Float + sealed::TriangularFactors {}

impl<T: MatrixScalar + Float + sealed::TriangularFactors> Number for T {}

/// An element of the arrays that are decomposed into singular values, eigenvalues, or orthogonal factors: `f32` and `f64`.
#[diagnostic::on_unimplemented(
    message = "this function of matrices has no derivatives of second order, and no forward mode: it takes no `{Self}`",
    note = "decompositions with orthogonal factors, Fourier transforms and determinants are for `f32` and `f64`; `linalg::cholesky`, \
            `solve`, `logdet`, `expm` and others run on dual numbers",
    note = "where a function calls this one, leave out `dual`"
)]
pub trait Real: Number + sealed::Real {}

impl Real for f32 {}
impl Real for f64 {}

/// Which part of a matrix takes part in a product; the others count as zeros.
pub(super) type Structure = triangular::BlockStructure;

/// A matrix, and which part of it is there.
pub(super) type Part<M> = (M, Structure);

pub(super) fn auto<C: Auto<T>, T>() -> Spec<C, T> {
    Spec::new(C::auto())
}

pub(super) mod sealed {
    use super::{MatMut, MatRef, MemStack, Part, Scratch, Shape, StackReq};
    #[cfg(feature = "openblas")]
    use crate::linalg::lapack::Lapack;

    /// What triangular factors are computed by, in any layout.
    #[allow(private_interfaces, reason = "sealed")]
    pub trait TriangularFactors: Sized {
        /// The memory that it takes to bring the parts of such a matrix together.
        fn room(rows: usize, columns: usize) -> StackReq;
        /// *A = L·Lᵀ* in place, out of the lower triangle. The upper one may hold anything afterwards. Or which pivot is not positive.
        fn cholesky(a: MatMut<'_, Self>, room: &mut MemStack, scratch: &mut Scratch) -> Result<(), usize>;
        /// *P·A = L·U* in place, where row `i` of *P·A* is row `rows[i]` of *A*, and `inverse` the other way round. Returns how often two rows were
        /// exchanged.
        fn lu(
            a: MatMut<'_, Self>,
            rows: &mut [usize],
            inverse: &mut [usize],
            room: &mut MemStack,
            scratch: &mut Scratch,
        ) -> usize;
        /// *B ← A⁻¹·B* for a triangular *A*, where values come as those of floats do, to the last bit.
        fn solve_packed(a: MatRef<'_, Self>, shape: Shape, b: MatMut<'_, Self>, room: &mut MemStack);
        /// *B ← A⁻¹·B* for a triangular *A*, in any layout.
        fn solve_triangular(a: MatRef<'_, Self>, shape: Shape, b: MatMut<'_, Self>);
        /// *C += ±A·B*
        fn add_product(
            c: Part<MatMut<'_, Self>>,
            minus: bool,
            a: Part<MatRef<'_, Self>>,
            b: Part<MatRef<'_, Self>>,
        );
    }

    /// Closed, because what decomposes matrices is written for two types.
    pub trait Real: faer::traits::RealField {
        /// The routines of OpenBLAS.
        #[cfg(feature = "openblas")]
        #[allow(private_interfaces, reason = "sealed")]
        fn lapack() -> &'static Lapack<Self>
        where
            Self: Sized;
    }

    macro_rules! real {
        ($($T:ident $LAPACK:ident)*) => {$(
            impl Real for $T {
                #[cfg(feature = "openblas")]
                #[allow(private_interfaces, reason = "sealed")]
                fn lapack() -> &'static Lapack<Self> {
                    &crate::linalg::lapack::$LAPACK
                }
            }
        )*};
    }
    real!(f32 SINGLE f64 DOUBLE);
}

macro_rules! by_faer {
    ($($T:ident)*) => {$(
        #[allow(private_interfaces, reason = "sealed")]
        impl sealed::TriangularFactors for $T {
            fn room(_rows: usize, _columns: usize) -> StackReq {
                StackReq::EMPTY
            }

            fn cholesky(a: MatMut<'_, Self>, _: &mut MemStack, scratch: &mut Scratch) -> Result<(), usize> {
                #[cfg(feature = "openblas")]
                if super::lapack::takes(a.nrows(), a.ncols()) {
                    return super::lapack::cholesky(a);
                }
                let (par, params) = (parallelism(), auto::<llt::factor::LltParams, $T>());
                let stack = scratch.stack(llt::factor::cholesky_in_place_scratch::<$T>(a.nrows(), par, params));
                match llt::factor::cholesky_in_place(a, Default::default(), par, stack, params) {
                    Err(llt::factor::LltError::NonPositivePivot { index }) => Err(index),
                    Ok(_) => Ok(()),
                }
            }

            fn lu(
                a: MatMut<'_, Self>,
                rows: &mut [usize],
                inverse: &mut [usize],
                _: &mut MemStack,
                scratch: &mut Scratch,
            ) -> usize {
                #[cfg(feature = "openblas")]
                if super::lapack::takes(a.nrows(), a.ncols()) {
                    return super::lapack::lu(a, rows, inverse, scratch);
                }
                let (par, params) = (parallelism(), auto::<lu::factor::PartialPivLuParams, $T>());
                let n = a.nrows();
                let stack = scratch.stack(lu::factor::lu_in_place_scratch::<usize, $T>(n, n, par, params));
                let (info, _) = lu::factor::lu_in_place(a, rows, inverse, par, stack, params);
                info.transposition_count
            }

            fn solve_packed(a: MatRef<'_, Self>, shape: Shape, b: MatMut<'_, Self>, _: &mut MemStack) {
                Self::solve_triangular(a, shape, b);
            }

            fn solve_triangular(a: MatRef<'_, Self>, shape: Shape, b: MatMut<'_, Self>) {
                let par = parallelism();
                match shape {
                    Shape::LOWER => triangular_solve::solve_lower_triangular_in_place(a, b, par),
                    Shape::UPPER => triangular_solve::solve_upper_triangular_in_place(a, b, par),
                    Shape::UNIT_LOWER => triangular_solve::solve_unit_lower_triangular_in_place(a, b, par),
                    Shape::UNIT_UPPER => triangular_solve::solve_unit_upper_triangular_in_place(a, b, par),
                }
            }

            fn add_product(
                (c, c_part): Part<MatMut<'_, Self>>,
                minus: bool,
                (a, a_part): Part<MatRef<'_, Self>>,
                (b, b_part): Part<MatRef<'_, Self>>,
            ) {
                let sign = if minus { -1.0 } else { 1.0 };
                triangular::matmul(c, c_part, Accum::Add, a, a_part, b, b_part, sign, parallelism());
            }
        }
    )*};
}
by_faer!(f32 f64);
