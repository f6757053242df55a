//! On what the functions of this module are tested, and benchmarked: each file ends with its own cases.

/// One function, and what to call it with.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The function's name; that of the form that writes its result ends with `_into`, and takes the same arguments.
    pub name: &'static str,
    /// What each array that it reads is, and which of the sizes are its dimensions.
    pub arguments: &'static [Argument],
    /// Sizes to test with, in an order in which they go up and down.
    pub sizes: &'static [[usize; 3]],
    /// How many arrays a call allocates from the second one on: those that it returns.
    pub allocations: usize,
    /// Sizes to measure.
    pub benchmark: &'static [[usize; 3]],
}

/// An array that a function reads.
#[derive(Clone, Copy, Debug)]
pub enum Argument {
    /// A vector with as many entries as this size says.
    Vector(usize),
    /// A matrix with as many rows and columns as these sizes say.
    Matrix(Kind, usize, usize),
}

/// What a matrix has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Of full rank, and if square then with an inverse.
    Regular,
    /// Symmetric and positive definite.
    PositiveDefinite,
    /// With no zero on the diagonal.
    Triangular,
    /// Symmetric, with eigenvalues well apart.
    Symmetric,
    /// With singular values well apart.
    Separated,
}

/// All cases.
pub fn all() -> impl Iterator<Item = &'static Case> {
    let families = [
        super::positive_definite::CASES,
        super::general::CASES,
        super::lu::CASES,
        super::triangular::CASES,
        super::orthogonal::CASES,
        super::symmetric::CASES,
        super::singular_values::CASES,
        super::exponential::CASES,
        super::kronecker::CASES,
        super::sparse::CASES,
        #[cfg(feature = "fft")]
        super::fourier::CASES,
    ];
    families.into_iter().flatten()
}
