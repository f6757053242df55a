//! Cofactors of matrices that may be singular.

use super::general::Factor;
use super::packed::{Packed, in_bases};
use super::scalar::Number;
use crate::heap::heap_size;

/// For *A = U·S·Vᵀ* the matrix of cofactors is *det U·det V·U·diag(Πⱼ≠ᵢ sⱼ)·Vᵀ*.
#[derive(Default)]
pub struct Cofactors<T: Number> {
    u: Packed<T>,
    v: Packed<T>,
    values: Vec<T>,
    /// *det U·det V*
    sign: T,
    room: T::Room,
    factor: Factor<T>,
    middle: Packed<T>,
    work: Packed<T>,
}

impl<T: Number> Cofactors<T> {
    pub(super) fn decompose(&mut self, a: &Packed<T>) {
        let Cofactors { u, v, values, room, factor, .. } = self;
        assert!(T::svd(a, u, values, v, room), "det: no convergence");
        let mut sign = |matrix: &Packed<T>| {
            factor.of(&matrix.view());
            factor.determinant().signum()
        };
        self.sign = sign(u) * sign(v);
    }

    /// The cofactors of what has been decomposed.
    pub(super) fn compute(&mut self, result: &mut Packed<T>) {
        let n = self.values.len();
        self.middle.zeros(n, n);
        for i in 0..n {
            self.middle.column_mut(i)[i] = self.product_without(i, i);
        }
        self.surround(result);
    }

    /// How they change with *A*: in *B = Uᵀ·Ȧ·V* the minors of *S* that are linear in it.
    pub(super) fn change(&mut self, da: &Packed<T>, result: &mut Packed<T>) {
        let Cofactors { u, v, values, middle, work, .. } = self;
        let n = values.len();
        in_bases(&u.view(), &da.view(), &v.view(), work, result);
        middle.zeros(n, n);
        for i in 0..n {
            for j in (0..n).filter(|&j| j != i) {
                let others = self.product_without(i, j);
                self.middle.column_mut(j)[i] = -(result.column(i)[j] * others);
                self.middle.column_mut(i)[i] += result.column(j)[j] * others;
            }
        }
        self.surround(result);
    }

    /// The product of all singular values but these.
    fn product_without(&self, i: usize, j: usize) -> T {
        let others = self.values.iter().enumerate().filter(|(k, _)| *k != i && *k != j);
        others.fold(T::ONE, |product, (_, &value)| product * value)
    }

    /// *R ← det U·det V·U·M·Vᵀ*
    fn surround(&mut self, result: &mut Packed<T>) {
        let Cofactors { u, v, sign, middle, work, .. } = self;
        in_bases(&u.view().t(), &middle.view(), &v.view().t(), work, result);
        result.slice_mut().iter_mut().for_each(|x| *x *= *sign);
    }
}

heap_size! { [T: Number] Cofactors<T> { u, v, values, room, factor, middle, work } }
