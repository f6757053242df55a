//! The options of BLAS: what an operand is, and which half of it.

use super::operand::Operand;

/// Whether a function takes an operand as it is or transposed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Trans {
    /// op(A) = A
    #[default]
    No,
    /// op(A) = Aᵀ
    Yes,
}

impl Trans {
    #[inline]
    pub(super) fn operand<T>(self, matrix: Operand<'_, T>) -> Operand<'_, T> {
        match self {
            Trans::No => matrix,
            Trans::Yes => matrix.t(),
        }
    }

    /// That of the transpose.
    #[inline]
    pub(super) fn other(self) -> Self {
        match self {
            Trans::No => Trans::Yes,
            Trans::Yes => Trans::No,
        }
    }
}

/// Which triangle of a symmetric or triangular matrix is referenced, the diagonal included. The other one is neither read nor
/// written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Uplo {
    /// The elements (i, j) with i ≤ j.
    Upper,
    /// The elements (i, j) with i ≥ j.
    Lower,
}

impl Uplo {
    /// The matrix or its transpose, such that the lower triangle is the one that is referenced.
    #[inline]
    pub(super) fn lower<T>(self, matrix: Operand<'_, T>) -> Operand<'_, T> {
        match self {
            Uplo::Upper => matrix.t(),
            Uplo::Lower => matrix,
        }
    }
}

/// On which side of the other operand a symmetric or triangular matrix stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// A·B
    Left,
    /// B·A
    Right,
}

impl Side {
    /// The other operand or its transpose, such that the matrix stands on its left.
    #[inline]
    pub(super) fn left<T>(self, other: Operand<'_, T>) -> Operand<'_, T> {
        match self {
            Side::Left => other,
            Side::Right => other.t(),
        }
    }
}

/// What the diagonal of a triangular matrix is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Diag {
    /// What is stored there.
    #[default]
    NonUnit,
    /// Ones. What is stored there is neither read nor written, and has no gradient.
    Unit,
}

/// Panics unless A is square and as large as what it is multiplied with.
#[inline]
#[track_caller]
pub(super) fn assert_square(function: &str, side: Side, a: (usize, usize), b: (usize, usize)) {
    let meets = match side {
        Side::Left => b.0,
        Side::Right => b.1,
    };
    if a.0 != a.1 || a.0 != meets {
        square_mismatch(function, side, a, b);
    }
}

#[cold]
#[track_caller]
fn square_mismatch(function: &str, side: Side, a: (usize, usize), b: (usize, usize)) -> ! {
    if a.0 != a.1 {
        panic!("{function}: A is {}×{}, which is not square", a.0, a.1);
    }
    let side = match side {
        Side::Left => "left",
        Side::Right => "right",
    };
    panic!("{function}: A is {}×{} and on the {side}, but B is {}×{}", a.0, a.1, b.0, b.1);
}
