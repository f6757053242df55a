//! The elements of the matrices that are decomposed.

use faer::dyn_stack::{MemStack, StackReq};
use faer::linalg::cholesky::llt;
use faer::linalg::lu::partial_pivoting as lu;
use faer::linalg::matmul::triangular;
use faer::linalg::triangular_solve;
use faer::{Accum, Auto, MatMut, MatRef, Spec};

use super::backend::{self, Shape};
use super::cofactors::Cofactors;
use super::packed::{Packed, Scratch};
use crate::blas::MatrixScalar;
use crate::blas::products::parallelism;
use crate::float::Float;

/// An element of the arrays that the functions of this module take: `f32`, `f64`, and dual numbers that consist of `f64`.
pub trait Number: MatrixScalar + Float {}

impl<T: MatrixScalar + Float> Number for T {}

/// `f32` and `f64`: what matrices are decomposed of, whatever they consist of.
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
    use ndarray::ArrayRef2;

    use super::{Float, MatMut, MatRef, MatrixScalar, MemStack, Packed, Part, Scratch, Shape, StackReq};
    use crate::dual::{DualNumber, Lanes};
    use crate::heap::HeapSize;
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

    /// What factors with orthonormal columns are computed by.
    pub trait OrthogonalFactors: Sized {
        /// *A = Q·R*
        type Qr: ThinQr<Self> + Default + HeapSize + Send;
        /// What eigenvalues and singular values are computed in.
        type Room: Default + HeapSize + Send;
        /// What cofactors are computed in.
        type CofactorRoom: Default + HeapSize + Send;
        /// Whether there are derivatives beside the value.
        const CARRIES: bool;

        /// *A = V·diag(w)·Vᵀ* of the symmetric *A* whose lower triangle is read, *w* ascending. Says whether it has converged.
        fn eigh(
            a: &Packed<Self>,
            values: &mut Vec<Self>,
            vectors: &mut Packed<Self>,
            room: &mut Self::Room,
        ) -> bool;
        /// *A = U·diag(s)·Vᵀ* with min(m, n) columns in *U* and *V*, *s* descending. Says whether it has converged.
        fn svd(
            a: &Packed<Self>,
            u: &mut Packed<Self>,
            values: &mut Vec<Self>,
            v: &mut Packed<Self>,
            room: &mut Self::Room,
        ) -> bool;
        /// The cofactors of a matrix, which may be singular.
        fn cofactors(a: &Packed<Self>, result: &mut Packed<Self>, room: &mut Self::CofactorRoom);
        /// The value, with the derivative *Σ gᵢ·ẋᵢ* over all pairs of *gᵢ* and *xᵢ*.
        fn with_gradient(self, pairs: impl Iterator<Item = (Self, Self)> + Clone) -> Self;
    }

    /// A matrix with at least as many rows as columns, as the product of *Q*, with as many columns, and a triangle *R*.
    pub trait ThinQr<T> {
        /// Decomposes *A*.
        fn factor(&mut self, a: &ArrayRef2<T>);
        /// *R*. Below the diagonal anything may be.
        fn triangle(&self) -> &Packed<T>;
        /// *Y ← Q·X*
        fn expand(&mut self, x: &Packed<T>, y: &mut Packed<T>);
        /// *Y ← Qᵀ·X*. *X* may be anything afterwards.
        fn project(&mut self, x: &mut Packed<T>, y: &mut Packed<T>);
    }

    /// The floats that a number consists of.
    pub trait Components {
        /// Their type.
        type Component: Transformed;
        /// How many.
        const COUNT: usize;
        /// Number `k`.
        fn component(&self, k: usize) -> Self::Component;
        /// Replaces number `k`.
        fn set_component(&mut self, k: usize, component: Self::Component);
    }

    /// A float of which Fourier transforms are computed.
    #[cfg(feature = "fft")]
    pub trait Transformed: MatrixScalar + rustfft::FftNum {}
    #[cfg(feature = "fft")]
    impl<T: MatrixScalar + rustfft::FftNum> Transformed for T {}
    /// A float.
    #[cfg(not(feature = "fft"))]
    pub trait Transformed: MatrixScalar {}
    #[cfg(not(feature = "fft"))]
    impl<T: MatrixScalar> Transformed for T {}

    impl<T: Components + Float, const N: usize> Components for DualNumber<T, N> {
        type Component = T::Component;
        const COUNT: usize = T::COUNT * (N + 1);

        #[inline]
        fn component(&self, k: usize) -> T::Component {
            match k / T::COUNT {
                0 => self.value.component(k),
                part => self.tangent[part - 1].component(k % T::COUNT),
            }
        }

        #[inline]
        fn set_component(&mut self, k: usize, component: T::Component) {
            match k / T::COUNT {
                0 => self.value.set_component(k, component),
                part => self.tangent[part - 1].set_component(k % T::COUNT, component),
            }
        }
    }

    impl<const K: usize> Components for Lanes<K> {
        type Component = f64;
        const COUNT: usize = K;

        #[inline]
        fn component(&self, k: usize) -> f64 {
            self.0[k]
        }

        #[inline]
        fn set_component(&mut self, k: usize, component: f64) {
            self.0[k] = component;
        }
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
            impl Components for $T {
                type Component = $T;
                const COUNT: usize = 1;

                #[inline]
                fn component(&self, _: usize) -> $T {
                    *self
                }

                #[inline]
                fn set_component(&mut self, _: usize, component: $T) {
                    *self = component;
                }
            }

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

macro_rules! orthogonal {
    ($($T:ident)*) => {$(
        impl sealed::OrthogonalFactors for $T {
            type Qr = backend::Qr<$T>;
            type Room = Scratch;
            type CofactorRoom = Cofactors<$T>;
            const CARRIES: bool = false;

            fn eigh(
                a: &Packed<$T>,
                values: &mut Vec<$T>,
                vectors: &mut Packed<$T>,
                room: &mut Scratch,
            ) -> bool {
                backend::eigh(a, values, vectors, room)
            }

            fn svd(
                a: &Packed<$T>,
                u: &mut Packed<$T>,
                values: &mut Vec<$T>,
                v: &mut Packed<$T>,
                room: &mut Scratch,
            ) -> bool {
                backend::svd_of(a, u, values, v, room)
            }

            fn cofactors(a: &Packed<$T>, result: &mut Packed<$T>, room: &mut Cofactors<$T>) {
                room.decompose(a);
                room.compute(result);
            }

            fn with_gradient(self, _: impl Iterator<Item = (Self, Self)> + Clone) -> Self {
                self
            }
        }
    )*};
}
orthogonal!(f32 f64);
