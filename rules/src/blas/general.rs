//! ndarray's own products, with its kernels: C ← α·A·B + β·C and y ← α·A·x + β·y

pub use ndarray::linalg::{general_mat_mul, general_mat_vec_mul};
use ndarray::{ArrayRef1, ArrayRef2, LinalgScalar};

use super::adjoint::{Factor, Update};
use super::backend::{MatrixScalar, keep};
use super::operand::Operand;
use crate::activation::{Dual, DualMut};

/// `C` is that of what is overwritten, with its operands in the two passes.
macro_rules! general {
    ($(
        $(#[$doc:meta])*
        $function:ident = $Name:ident: $X:ident read $read:ident written $write:ident cells $cells:ident;
    )*) => {$(
        $(#[$doc])*
        #[derive(pullback_macros::Rule, Default)]
        #[rule(pub fn $function<T: MatrixScalar + LinalgScalar>(
            alpha: T,
            a: &ArrayRef2<T>,
            x: &$X<T>,
            beta: T,
            y: &mut $X<T>,
        ))]
        struct $Name<T: MatrixScalar + LinalgScalar> {
            #[rule(restores = y)]
            update: Update<T>,
            #[rule(constant = alpha)]
            alpha_is_constant: bool,
            #[rule(constant = beta)]
            beta_is_constant: bool,
        }

        impl<T: MatrixScalar + LinalgScalar> $Name<T> {
            fn forward(&mut self, alpha: T, a: &ArrayRef2<T>, x: &$X<T>, beta: T, y: &mut $X<T>) {
                if let Some(place) = self.update.place(self.beta_is_constant, y.len()) {
                    // SAFETY: the buffer is nobody else's.
                    unsafe { keep(Operand::$read(y), place) }
                }
                $function(alpha, a, x, beta, y);
            }

            fn pullback(
                &mut self,
                alpha: T,
                a: Dual<'_, ArrayRef2<T>>,
                x: Dual<'_, $X<T>>,
                beta: T,
                y: DualMut<'_, $X<T>>,
            ) -> (T, T) {
                let a = (Operand::read(a.value), a.shadow.get().map(Operand::cells));
                let x = (Operand::$read(x.value), x.shadow.get().map(Operand::$cells));
                let alpha = Factor { value: alpha, is_constant: self.alpha_is_constant };
                let beta = Factor { value: beta, is_constant: self.beta_is_constant };
                let (y, dy) = (Operand::$write(y.value), y.shadow.get().map(Operand::$cells));
                // SAFETY: `y` is borrowed uniquely and, being mutable, does not overlap itself; no shadow overlaps a primal, and
                // the shadow of y none of the others.
                unsafe { self.update.pull([alpha, beta], a, x, y, dy) }
            }
        }
    )*};
}

general! {
    /// The gradients are those of [`gemm`](crate::gemm()).
    general_mat_mul = GeneralMatMul: ArrayRef2 read read written write cells cells;
    /// The gradients are those of [`gemv`](crate::blas::gemv()).
    general_mat_vec_mul = GeneralMatVecMul: ArrayRef1 read read_vector written write_vector cells vector_cells;
}
