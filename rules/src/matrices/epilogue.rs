//! Products of matrices with something done to their result before it is stored.

use super::Stack;
use crate::fused::operand::Place;

/// What stands between two layers of [`feed_forward`](fn@crate::nn::generic::feed_forward): a function of each element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Activation {
    /// [`relu`](fn@crate::nn::relu).
    Relu,
    /// [`gelu_tanh`](fn@crate::nn::gelu_tanh).
    GeluTanh,
}

/// *D ← e(A·B + β·C)*
pub(crate) struct Fused<'a, T> {
    pub(crate) a: Stack<'a, T>,
    pub(crate) b: Stack<'a, T>,
    pub(crate) beta: T,
    pub(crate) c: Stack<'a, T>,
    pub(crate) d: Stack<'a, T>,
    pub(crate) epilogue: Epilogue<T>,
}

/// What is done on the way; the sum of the product is called *s*. A vector has one number for each column of the result.
#[derive(Clone, Copy)]
pub(crate) enum Epilogue<T> {
    /// *d ← s + b* for the vector *b*
    Bias(Place<T>),
    /// *z ← s + b*, *d ← f(z)*. What *f′(z)* takes is left in memory of as many elements as [`aside`](Epilogue::aside) says.
    Activation(Activation, Place<T>, Place<T>),
    /// *d ← f′(z)·s* with what was left there; the vector becomes the sum of the rows of *D*.
    Through(Activation, Place<T>, Place<T>),
    /// *d ← s*; the vector becomes the sum of the rows of *B*.
    Sums(Place<T>),
}

impl<T> Epilogue<T> {
    /// The shape of the memory that *z* takes: itself, or a bit for each element and 128 of them in a row at least.
    pub(crate) fn aside(activation: Activation, rows: usize, columns: usize) -> [usize; 2] {
        match activation {
            Activation::Relu => [rows, columns.next_multiple_of(128) / 8 / size_of::<T>()],
            Activation::GeluTanh => [rows, columns],
        }
    }

    /// The vector, and the memory for *z* if there is any.
    #[cfg(feature = "cuda")]
    pub(crate) fn places(self) -> impl Iterator<Item = Place<T>> + Clone
    where
        T: Copy,
    {
        let aside = match self {
            Epilogue::Activation(_, _, aside) | Epilogue::Through(_, _, aside) => Some(aside),
            Epilogue::Bias(_) | Epilogue::Sums(_) => None,
        };
        std::iter::once(self.vector()).chain(aside)
    }

    /// The vector that is added or written.
    #[cfg(feature = "cuda")]
    pub(crate) fn vector(self) -> Place<T> {
        match self {
            Epilogue::Bias(vector)
            | Epilogue::Activation(_, vector, _)
            | Epilogue::Through(_, vector, _)
            | Epilogue::Sums(vector) => vector,
        }
    }
}
