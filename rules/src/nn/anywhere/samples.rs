//! What the first layer of a network is given: constants, where the function runs on dual numbers.

use ndarray::Array2;

use crate::dual::DualNumber;
use crate::float::Float;
use crate::fused::{Operand, Real};
use crate::matrices::Stack;
use crate::shadow::Differentiable;
use crate::{HeapSize, Matrix, MatrixScalar, Shadow};

/// A matrix that a layer reads beside matrices of type `M`: of the same type, or of constants where those consist of dual numbers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not go together with `{M}`",
    note = "all matrices of a layer are in one memory and consist of the same numbers; where a function runs on dual numbers, what the layer is given may \
            consist of constants, which are `f64`"
)]
pub trait Samples<T: Real + MatrixScalar, M: Matrix<T>>: Differentiable + 'static {
    /// Memory for constants as dual numbers.
    type Room: Default + Send + HeapSize + 'static;
    /// The matrix.
    #[doc(hidden)]
    #[allow(private_interfaces, reason = "nobody else implements it")]
    fn stack<'a>(&'a self, room: &'a mut Self::Room) -> Stack<'a, T>;
    /// Where its gradient goes to.
    #[doc(hidden)]
    #[allow(private_interfaces, reason = "nobody else implements it")]
    fn gradient<'a>(shadow: Shadow<Self::Shadow<'a>>) -> Option<Stack<'a, T>>;
}

impl<T: Real + MatrixScalar, M: Matrix<T>> Samples<T, M> for M {
    type Room = ();

    #[allow(private_interfaces, reason = "nobody else implements it")]
    fn stack<'a>(&'a self, (): &'a mut ()) -> Stack<'a, T> {
        Stack::new(self.source().place)
    }
    #[allow(private_interfaces, reason = "nobody else implements it")]
    fn gradient<'a>(shadow: Shadow<M::Shadow<'a>>) -> Option<Stack<'a, T>> {
        shadow.get().map(|shadow| Stack::new(M::shadow_source(&shadow).place))
    }
}

impl<T: Float, const N: usize> Samples<DualNumber<T, N>, Array2<DualNumber<T, N>>> for Array2<f64> {
    type Room = <f64 as Operand<DualNumber<T, N>>>::Room;

    #[allow(private_interfaces, reason = "nobody else implements it")]
    fn stack<'a>(&'a self, room: &'a mut Self::Room) -> Stack<'a, DualNumber<T, N>> {
        Stack::new(<f64 as Operand<_>>::source(self, room).place)
    }
    #[allow(private_interfaces, reason = "nobody else implements it")]
    fn gradient<'a>(_: Shadow<Self::Shadow<'a>>) -> Option<Stack<'a, DualNumber<T, N>>> {
        None
    }
}
