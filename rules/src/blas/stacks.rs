//! Many products at once in the memory of the computer: one after the other.

use super::backend::{MatrixScalar, SmallPlan, accumulate, multiply, scale};
use super::elementwise::{add, inner};
use super::operand::Operand;
use crate::fused::Host;
use crate::heap::heap_size;
use crate::matrices::{Multiply, Stack, terms};

/// What the gradient for α is a by-product of, and a plan for that and for other products.
#[derive(Default)]
pub struct Room<T> {
    product: Vec<T>,
    plan: SmallPlan<T>,
}

heap_size! { [T: Copy] Room<T> { product } }

impl<T: MatrixScalar> Multiply<T> for Host {
    type Room = Room<T>;

    #[allow(private_interfaces, reason = "nobody else implements it")]
    unsafe fn multiply(
        &self,
        room: &mut Room<T>,
        alpha: T,
        a: Stack<'_, T>,
        b: Stack<'_, T>,
        beta: T,
        c: Stack<'_, T>,
    ) {
        let terms = terms(a, b, c);
        // SAFETY: as the caller guarantees. Only a shadow is added to, and for one it does not matter if it overlaps itself.
        unsafe {
            if terms == 0 {
                self.scale(beta, c);
            }
            for i in 0..terms {
                let [a, b, place] = [a, b, c].map(|stack| Operand::of_stack(stack, i));
                let beta = if i > 0 && c.shape().0 == 1 { T::ONE } else { beta };
                if beta.is_one() {
                    accumulate(&mut room.plan, alpha, a, b, place);
                } else {
                    multiply(&mut room.plan, alpha, a, b, beta, place, None);
                }
            }
        }
    }

    #[allow(private_interfaces, reason = "nobody else implements it")]
    unsafe fn inner(&self, x: Stack<'_, T>, y: Stack<'_, T>) -> T {
        // SAFETY: as the caller guarantees.
        let each = |i| unsafe { inner(Operand::of_stack(x, i), Operand::of_stack(y, i)) };
        (0..x.shape().0).fold(T::ZERO, |sum, i| sum + each(i))
    }

    #[allow(private_interfaces, reason = "nobody else implements it")]
    unsafe fn scale(&self, alpha: T, x: Stack<'_, T>) {
        for i in 0..x.shape().0 {
            // SAFETY: as the caller guarantees.
            unsafe { scale(alpha, Operand::of_stack(x, i)) }
        }
    }

    #[allow(private_interfaces, reason = "nobody else implements it")]
    unsafe fn by_product(
        &self,
        room: &mut Room<T>,
        alpha: T,
        [a, b]: [Stack<'_, T>; 2],
        x: Stack<'_, T>,
        shadow: Option<Stack<'_, T>>,
    ) -> T {
        let mut product = std::mem::take(&mut room.product);
        product.resize(x.len(), T::ZERO);
        let place = Stack::packed(product.as_mut_ptr(), x.shape());
        // SAFETY: as the caller guarantees; the place is nobody else's.
        let dalpha = unsafe {
            self.multiply(room, T::ONE, a, b, T::ZERO, place);
            for i in 0..x.shape().0 {
                if let Some(shadow) = shadow {
                    add(alpha, Operand::of_stack(place, i), Operand::of_stack(shadow, i));
                }
            }
            self.inner(place, x)
        };
        room.product = product;
        dalpha
    }
}
