//! What tests and benchmarks call the rules on. The file of each function ends with its own [`Case`].

use ndarray::{Array, Array1, Array2, Array3, Axis, Dimension, IntoDimension, ShapeBuilder, Slice, s};

use super::backend::MatrixScalar;
use super::options::Uplo;

pub use super::level1::movement::{copy_case as copy, rot_case as rot, swap_case as swap};
pub use super::level1::reductions::{
    asum_case as asum, dot_case as dot, iamax_case as iamax, nrm2_case as nrm2,
};
pub use super::level1::updates::{axpy_case as axpy, scal_case as scal};
pub use super::level2::gemv::case as gemv;
pub use super::level2::ger::case as ger;
pub use super::level2::symv::case as symv;
pub use super::level2::syr::case as syr;
pub use super::level2::triangular::{trmv_case as trmv, trsv_case as trsv};
pub use super::level3::gemm::case as gemm;
pub use super::level3::gemm_batched::case as gemm_batched;
pub use super::level3::mul_into::case as mul_into;
pub use super::level3::symm::case as symm;
pub use super::level3::syrk::case as syrk;
pub use super::level3::trmm::case as trmm;
pub use super::level3::trsm::case as trsm;

/// A function, by the tuples of arguments that it is called with.
pub struct Case<I> {
    /// Its name.
    pub name: &'static str,
    /// What its rule allocates.
    pub allocates: Allocates,
    /// Small arguments: every option and every layout that an owned array can have.
    pub inputs: Vec<I>,
    /// Arguments that do not fit.
    pub panicking: Vec<I>,
    /// The sizes to measure it at.
    pub sizes: &'static [usize],
    /// Arguments of such a size.
    pub sized: fn(usize) -> I,
}

/// What a rule allocates. None allocates from the second call on, and no function does at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allocates {
    /// Nothing but its frame.
    Nothing,
    /// Copies and products, on the first call.
    Once,
}

/// What an owned array can look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Row after row.
    C,
    /// Column after column.
    F,
    /// No stride is one.
    Gaps,
    /// Backwards along all axes.
    Reversed,
}

/// All of them.
pub const LAYOUTS: [Layout; 4] = [Layout::C, Layout::F, Layout::Gaps, Layout::Reversed];

fn zeros<T: MatrixScalar, D: Dimension, S: ShapeBuilder<Dim = D>>(shape: S) -> Array<T, D> {
    Array::from_elem(shape, T::ZERO)
}

/// Random arrays.
pub struct Random(u64);

impl Random {
    /// Always the same ones.
    #[allow(clippy::new_without_default, reason = "tells where numbers come from")]
    pub fn new() -> Self {
        Random(1)
    }

    /// Between −1 and 1, and not near 0.
    pub fn number<T: MatrixScalar>(&mut self) -> T {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let x = (self.0 >> 40) as f64 / (1u64 << 23) as f64 - 1.0;
        T::of(if x < 0.0 { x - 0.125 } else { x + 0.125 })
    }

    /// A vector.
    pub fn vector<T: MatrixScalar>(&mut self, len: usize, layout: Layout) -> Array1<T> {
        let mut vector = match layout {
            Layout::Gaps => zeros(3 * len + 1).slice_move(s![1..;3]),
            _ => zeros(len),
        };
        if layout == Layout::Reversed {
            vector.invert_axis(Axis(0));
        }
        vector.map_inplace(|x| *x = self.number());
        vector
    }

    /// A matrix.
    pub fn matrix<T: MatrixScalar>(&mut self, (rows, columns): (usize, usize), layout: Layout) -> Array2<T> {
        let mut matrix = match layout {
            Layout::F => zeros((rows, columns).f()),
            Layout::Gaps => zeros((2 * rows + 1, 3 * columns)).slice_move(s![1..;2, ..;3]),
            _ => zeros((rows, columns)),
        };
        if layout == Layout::Reversed {
            matrix.invert_axis(Axis(0));
            matrix.invert_axis(Axis(1));
        }
        matrix.map_inplace(|x| *x = self.number());
        matrix
    }

    /// An array with at least one axis.
    pub fn array<T: MatrixScalar, D: Dimension>(&mut self, shape: D, layout: Layout) -> Array<T, D> {
        let last = shape.ndim() - 1;
        let mut array = match layout {
            Layout::F => zeros(shape.f()),
            Layout::Gaps => {
                let mut room = shape;
                room[0] *= 2;
                room[last] *= 3;
                let mut array = zeros(room);
                array.slice_axis_inplace(Axis(0), Slice::new(0, None, 2));
                array.slice_axis_inplace(Axis(last), Slice::new(0, None, 3));
                array
            }
            _ => zeros(shape),
        };
        if layout == Layout::Reversed {
            (0..=last).for_each(|axis| array.invert_axis(Axis(axis)));
        }
        array.map_inplace(|x| *x = self.number());
        array
    }

    /// Matrices, one behind the other.
    pub fn matrices<T: MatrixScalar>(&mut self, shape: [usize; 3], layout: Layout) -> Array3<T> {
        self.array(shape.into_dimension(), layout)
    }

    /// A square matrix of which only one triangle may be looked at: elsewhere there are numbers that spoil everything.
    pub fn half<T: MatrixScalar>(&mut self, n: usize, uplo: Uplo, layout: Layout) -> Array2<T> {
        let mut matrix = self.matrix((n, n), layout);
        for ((i, j), x) in matrix.indexed_iter_mut() {
            if i != j && (i < j) != (uplo == Uplo::Upper) {
                *x = T::of(1e30);
            }
        }
        matrix
    }

    /// As [`half`](Random::half), and far from singular.
    pub fn triangle<T: MatrixScalar>(
        &mut self,
        n: usize,
        uplo: Uplo,
        unit: bool,
        layout: Layout,
    ) -> Array2<T> {
        let mut matrix = self.half(n, uplo, layout);
        let damped = T::of(1.0 / (1.0 + n as f64).sqrt());
        for ((i, j), x) in matrix.indexed_iter_mut() {
            if i == j {
                *x = if unit { T::of(1e30) } else { T::of(1.5) + *x * *x };
            } else if (i < j) == (uplo == Uplo::Upper) {
                *x *= damped;
            }
        }
        matrix
    }
}
