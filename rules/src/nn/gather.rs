//! Rows of a table by their indices, in any memory.

use std::marker::PhantomData;

use crate::fused::operand::Place;
use crate::fused::{Array, Host, Memory, Old, Real};
use crate::{Dual, DualMut, Matrix, MatrixScalar, Rule};

/// Indices of rows, in the memory in which the rows are: a vector on the host, with the feature `cuda` `cuda::DeviceIndices` on a device.
pub trait Indices: 'static {
    /// Where they are.
    type Memory: Memory;

    /// How many there are.
    #[doc(hidden)]
    fn count(&self) -> usize;

    /// Panics if there is one that is not among so many rows.
    #[doc(hidden)]
    fn check(&self, rows: usize);

    /// Row *i* of *y* becomes row *kᵢ* of the table.
    ///
    /// # Safety
    /// The places are in this memory and do not overlap, and *y* may be written; shapes and indices fit.
    #[doc(hidden)]
    #[allow(private_interfaces, reason = "nobody else implements it")]
    unsafe fn gather<T: Real>(&self, y: Place<T>, table: Place<T>);

    /// Row *i* of *y* is added to row *kᵢ* of the table, for each *i*.
    ///
    /// # Safety
    /// As for `gather`, except that it is the table that may be written.
    #[doc(hidden)]
    #[allow(private_interfaces, reason = "nobody else implements it")]
    unsafe fn scatter<T: Real>(&self, table: Place<T>, y: Place<T>);
}

impl Indices for Vec<usize> {
    type Memory = Host;

    fn count(&self) -> usize {
        self.len()
    }
    fn check(&self, rows: usize) {
        for index in self {
            assert!(*index < rows, "embedding: there is no row {index} among {rows}");
        }
    }
    #[allow(private_interfaces, reason = "nobody else implements it")]
    unsafe fn gather<T: Real>(&self, y: Place<T>, table: Place<T>) {
        for (i, index) in self.iter().enumerate() {
            for j in 0..y.lengths[1] {
                // SAFETY: as the caller guarantees.
                unsafe { *element(&y, i, j) = *element(&table, *index, j) }
            }
        }
    }
    #[allow(private_interfaces, reason = "nobody else implements it")]
    unsafe fn scatter<T: Real>(&self, table: Place<T>, y: Place<T>) {
        for (i, index) in self.iter().enumerate() {
            for j in 0..y.lengths[1] {
                // SAFETY: as the caller guarantees.
                unsafe { *element(&table, *index, j) += *element(&y, i, j) }
            }
        }
    }
}

fn element<T>(place: &Place<T>, i: usize, j: usize) -> *mut T {
    place.start.wrapping_offset(i as isize * place.strides[0] + j as isize * place.strides[1])
}

/// [`nn::embedding`](fn@crate::nn::embedding) in any memory: row *i* of *y* becomes row *kᵢ* of the table, for the index *kᵢ* of each *i*. *y* has as many
/// rows as there are indices.
///
/// ```
/// use ndarray::{Array2, array};
/// use pullback_rules::nn::generic::embedding;
///
/// let table = array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]];
/// let mut y = Array2::zeros((3, 2));
/// embedding(&mut y, &table, &vec![2, 0, 2]);
/// assert_eq!(y, array![[5.0, 6.0], [1.0, 2.0], [5.0, 6.0]]);
/// ```
///
/// # Gradient
/// Row *i* of *ẏ* is added to row *kᵢ* of the table's, for each *i* in turn. Then *ẏ ← 0*. A device adds them up in parts, in an order that depends on the
/// indices alone: the bits are the same each time.
///
/// # Panics
/// If the shapes do not fit, there is no such row, the arrays are on different devices, or the device fails.
pub fn embedding<T: Real + MatrixScalar, M: Matrix<T>, I: Indices<Memory = M::Memory>>(
    y: &mut M,
    table: &M,
    indices: &I,
) {
    let (shape, found) = ([indices.count(), table.lengths()[1]], y.lengths());
    assert!(found == shape, "embedding: the result has the shape {shape:?}, what it is written to {found:?}");
    indices.check(table.lengths()[0]);
    // SAFETY: `y` is borrowed uniquely, and all has been checked.
    unsafe { indices.gather(y.sink().place.expect("an array"), table.source().place) }
}

#[derive(Rule)]
#[rule(pub fn embedding<T: Real + MatrixScalar, M: Matrix<T>, I: Indices<Memory = M::Memory>>(
    y: &mut M,
    table: &M,
    #[constant] indices: &I,
))]
struct Embedding<T: Real + MatrixScalar, M: Matrix<T>, I: Indices<Memory = M::Memory>> {
    #[rule(restores = y)]
    old: Old<T, M>,
    indices: PhantomData<fn(I)>,
}

impl<T: Real + MatrixScalar, M: Matrix<T>, I: Indices<Memory = M::Memory>> Default for Embedding<T, M, I> {
    fn default() -> Self {
        Embedding { old: Old::default(), indices: PhantomData }
    }
}

impl<T: Real + MatrixScalar, M: Matrix<T>, I: Indices<Memory = M::Memory>> Embedding<T, M, I> {
    fn forward(&mut self, y: &mut M, table: &M, indices: &I) {
        self.old.save(y);
        embedding(y, table, indices);
    }

    fn pullback(&mut self, y: DualMut<'_, M>, table: Dual<'_, M>, indices: &I) {
        self.old.restore(y.value);
        let Some(dy) = y.shadow.get() else { return };
        if let Some(dtable) = table.shadow.get() {
            let (to, from) = (M::shadow_source(&dtable).place, M::shadow_source(&dy).place);
            // SAFETY: a shadow has the shape of its primal, and that of y overlaps none of the others.
            unsafe { indices.scatter(to, from) }
        }
        <M as Array<T>>::clear_shadow(&dy);
    }
}
