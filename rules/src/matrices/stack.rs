//! Matrices as those see them who multiply them, in whichever memory they are.

use std::marker::PhantomData;

use super::Fused;
use crate::fused::operand::Place;
use crate::{HeapSize, MatrixScalar, Memory, Trans};

/// Matrices of one shape that live for `'a`, in any layout: the first axis tells them apart. Of length 1 it means the same matrix in
/// all products.
pub(crate) struct Stack<'a, T> {
    pub(crate) place: Place<T>,
    life: PhantomData<&'a T>,
}

impl<T: Copy> Clone for Stack<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Copy> Copy for Stack<'_, T> {}

impl<T: Copy> Stack<'_, T> {
    /// An array with three axes, or with two: a single matrix.
    pub(crate) fn new(array: Place<T>) -> Self {
        let mut place = array;
        if array.axes == 2 {
            let ([rows, columns, ..], [down, along, ..]) = (array.lengths, array.strides);
            place.axes = 3;
            place.lengths[..3].copy_from_slice(&[1, rows, columns]);
            place.strides[..3].copy_from_slice(&[0, down, along]);
        }
        assert!(place.axes == 3, "matrices have two axes, or three");
        Stack { place, life: PhantomData }
    }

    /// As many matrices of that shape at `start`, by rows and without gaps.
    pub(crate) fn packed(start: *mut T, (count, rows, columns): (usize, usize, usize)) -> Self {
        let strides = [rows * columns, columns, 1].map(|stride| stride as isize);
        Stack::new(Place::new(start, &[count, rows, columns], &strides))
    }

    /// How many there are, their rows and columns.
    pub(crate) fn shape(self) -> (usize, usize, usize) {
        let [count, rows, columns, ..] = self.place.lengths;
        (count, rows, columns)
    }

    pub(crate) fn len(self) -> usize {
        self.place.lengths().iter().product()
    }

    /// The transposes, which are the same memory.
    pub(crate) fn t(mut self) -> Self {
        self.place.lengths.swap(1, 2);
        self.place.strides.swap(1, 2);
        self
    }

    /// op(A) of each.
    pub(crate) fn op(self, trans: Trans) -> Self {
        match trans {
            Trans::No => self,
            Trans::Yes => self.t(),
        }
    }

    /// Where number `i` begins, or the only one.
    pub(crate) fn start(self, i: usize) -> *mut T {
        let i = if self.place.lengths[0] == 1 { 0 } else { i };
        self.place.start.wrapping_offset(i as isize * self.place.strides[0])
    }
}

/// How many products make up *C*: one for each matrix in it, or else as many as are added up in its only one.
pub(crate) fn terms<T: Copy>(a: Stack<'_, T>, b: Stack<'_, T>, c: Stack<'_, T>) -> usize {
    let [a, b, c] = [a, b, c].map(|stack| stack.shape().0);
    if c != 1 {
        c
    } else if a == 1 {
        b
    } else {
        a
    }
}

/// A memory in which matrices are multiplied.
///
/// All functions are unsafe for the same reason: operands are in this memory and fit; what is written overlaps nothing else, nor itself unless
/// it is a shadow that is added to.
#[doc(hidden)]
pub trait Multiply<T: MatrixScalar>: Memory {
    /// What products of one shape keep: room for them, and a plan.
    type Room: Default + Send + HeapSize;

    /// *Cᵢ ← α·Aᵢ·Bᵢ + β·Cᵢ*; where *C* has one matrix and the others have several, that becomes *α·Σᵢ Aᵢ·Bᵢ + β·C*. As in BLAS, *A* and *B* are not
    /// read if α is 0, nor is *C* if β is 0.
    ///
    /// # Safety
    /// See the trait.
    #[allow(private_interfaces, reason = "nobody else implements it")]
    unsafe fn multiply(
        &self,
        room: &mut Self::Room,
        alpha: T,
        a: Stack<'_, T>,
        b: Stack<'_, T>,
        beta: T,
        c: Stack<'_, T>,
    );

    /// The product that is described, if this memory has one that goes through the result once. If not, nothing happens, and it returns `false`.
    ///
    /// # Safety
    /// See the trait; vectors and what is left for the pullback are in this memory, too. C may be D.
    #[allow(private_interfaces, reason = "nobody else implements it")]
    unsafe fn multiply_at_once(&self, _room: &mut Self::Room, _product: Fused<'_, T>) -> bool {
        false
    }

    /// ⟨x, y⟩, the sum of the products of elements.
    ///
    /// # Safety
    /// See the trait.
    #[allow(private_interfaces, reason = "nobody else implements it")]
    unsafe fn inner(&self, x: Stack<'_, T>, y: Stack<'_, T>) -> T;

    /// *x ← α·x*, and *x ← 0* if α is 0, whatever *x* is.
    ///
    /// # Safety
    /// See the trait.
    #[allow(private_interfaces, reason = "nobody else implements it")]
    unsafe fn scale(&self, alpha: T, x: Stack<'_, T>);

    /// For *f = α·⟨A·B, X⟩* with the factors *A* and *B*: returns *⟨A·B, X⟩*, the gradient with respect to α, and adds *α·A·B* to `shadow`, if there is one.
    ///
    /// # Safety
    /// See the trait.
    #[allow(private_interfaces, reason = "nobody else implements it")]
    unsafe fn by_product(
        &self,
        room: &mut Self::Room,
        alpha: T,
        factors: [Stack<'_, T>; 2],
        x: Stack<'_, T>,
        shadow: Option<Stack<'_, T>>,
    ) -> T;
}
