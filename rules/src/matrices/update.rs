//! The adjoint of *Cᵢ ← α·op(Aᵢ)·op(Bᵢ) + β·Cᵢ* in any memory.

use super::{Multiply, Stack};
use crate::heap::heap_size;
use crate::{MatrixScalar, Trans};

/// A factor, and whether nobody asks for its gradient.
#[derive(Clone, Copy)]
pub(crate) struct Factor<T> {
    pub(crate) value: T,
    pub(crate) is_constant: bool,
}

/// Matrices that are read, whether transposed, and their shadow unless they are constant.
pub(crate) struct Read<'a, T> {
    pub(crate) trans: Trans,
    pub(crate) value: Stack<'a, T>,
    pub(crate) shadow: Option<Stack<'a, T>>,
}

/// What one activation keeps, but for what *C* held.
pub(crate) struct Update<T: MatrixScalar, M: Multiply<T>> {
    /// Of the products that give C, and of those in the gradients of A and B.
    rooms: [M::Room; 3],
}

heap_size! { [T: MatrixScalar, M: Multiply<T>] Update<T, M> { rooms } }

impl<T: MatrixScalar, M: Multiply<T>> Default for Update<T, M> {
    fn default() -> Self {
        Update { rooms: Default::default() }
    }
}

impl<T: MatrixScalar, M: Multiply<T>> Update<T, M> {
    /// *Cᵢ ← α·op(Aᵢ)·op(Bᵢ) + β·Cᵢ*
    ///
    /// # Panics
    /// With the name of the `function`, if the shapes do not fit.
    ///
    /// # Safety
    /// As for [`Multiply`].
    #[allow(clippy::too_many_arguments, reason = "those of gemm")]
    pub(crate) unsafe fn run(
        &mut self,
        function: &str,
        memory: &M,
        alpha: T,
        (trans_a, a): (Trans, Stack<'_, T>),
        (trans_b, b): (Trans, Stack<'_, T>),
        beta: T,
        c: Stack<'_, T>,
    ) {
        let (a, b) = (a.op(trans_a), b.op(trans_b));
        let ((of_a, m, k), (of_b, l, n), (count, rows, columns)) = (a.shape(), b.shape(), c.shape());
        let counts_fit = |found| found == 1 || found == count;
        if !counts_fit(of_a) || !counts_fit(of_b) || k != l || (rows, columns) != (m, n) {
            mismatch(function, [a, b, c].map(Stack::shape));
        }
        // SAFETY: as the caller guarantees.
        unsafe { memory.multiply(&mut self.rooms[0], alpha, a, b, beta, c) }
    }

    /// Adds to the gradients of A and B, makes that of C the one of the old C, and returns those of α and β. `c` is the old C.
    ///
    /// # Safety
    /// As for [`Multiply`]. The shadows of A and B may be the same.
    pub(crate) unsafe fn pull(
        &mut self,
        memory: &M,
        [alpha, beta]: [Factor<T>; 2],
        a: Read<'_, T>,
        b: Read<'_, T>,
        c: Stack<'_, T>,
        dc: Stack<'_, T>,
    ) -> (T, T) {
        let [_, room_x, room_y] = &mut self.rooms;
        let [(x, dx), (y, dy)] = [a, b]
            .map(|Read { trans, value, shadow }| (value.op(trans), shadow.map(|shadow| shadow.op(trans))));
        let (of_x, of_y) = ([dc, y.t()], [x.t(), dc]);
        // The gradient for α is a by-product of one of the two products: of one that is needed, or else the smaller one.
        let through_x = match (dx, dy) {
            (Some(_), None) => true,
            (None, Some(_)) => false,
            _ => x.len() <= y.len(),
        };
        let (mut dalpha, mut dbeta) = (T::ZERO, T::ZERO);
        // SAFETY: as the caller guarantees; shadows are updated one after the other.
        unsafe {
            if !beta.is_constant {
                dbeta = memory.inner(dc, c);
            }
            for (room, product, x, dx, through) in
                [(room_x, of_x, x, dx, through_x), (room_y, of_y, y, dy, !through_x)]
            {
                if through && !alpha.is_constant {
                    dalpha = memory.by_product(room, alpha.value, product, x, dx);
                } else if let Some(dx) = dx {
                    memory.multiply(room, alpha.value, product[0], product[1], T::ONE, dx);
                }
            }
            memory.scale(beta.value, dc);
        }
        (dalpha, dbeta)
    }
}

#[cold]
#[track_caller]
fn mismatch(function: &str, shapes: [(usize, usize, usize); 3]) -> ! {
    let [a, b, c] = shapes.map(|(count, rows, columns)| format!("{count}×{rows}×{columns}"));
    panic!("{function}: op(A) is {a} and op(B) is {b} but C is {c}");
}
