//! Operands that are constant, where the function runs on dual numbers.

use ndarray::{ArrayRef, ArrayViewMut, Axis, ShapeBuilder, Zip};

use super::operand::{MOST_AXES, Place, Source};
use super::{Rank, Real};
use crate::dual::DualNumber;
use crate::float::{Float, Scalar};
use crate::heap::HeapSize;
use crate::reused;
use crate::shadow::{ArrayCells, Shadow};

/// Elements of an operand of a fused function of `T`: of the same type, or constants beside dual numbers.
#[diagnostic::on_unimplemented(
    message = "an array of `{Self}` is no operand of a fused function of `{T}`",
    note = "the operands consist of the same numbers as the result; where a function runs on dual numbers, those that are constant consist of `f64`"
)]
pub trait Operand<T: Real>: Scalar {
    /// Memory for constants as dual numbers.
    type Room: Default + Send + HeapSize + 'static;
    /// What a kernel reads.
    fn source<'a, D: Rank>(array: &'a ArrayRef<Self, D>, room: &'a mut Self::Room) -> Source<'a, T>;
    /// Where the gradient goes to.
    fn shadow<D: Rank>(shadow: Shadow<ArrayCells<'_, Self, D>>) -> Shadow<ArrayCells<'_, T, D>>;
}

impl<T: Real> Operand<T> for T {
    type Room = ();

    #[inline(always)]
    fn source<'a, D: Rank>(array: &'a ArrayRef<T, D>, (): &'a mut ()) -> Source<'a, T> {
        Source::array(array)
    }
    #[inline(always)]
    fn shadow<D: Rank>(shadow: Shadow<ArrayCells<'_, T, D>>) -> Shadow<ArrayCells<'_, T, D>> {
        shadow
    }
}

impl<T: Float, const N: usize> Operand<DualNumber<T, N>> for f64 {
    type Room = Vec<DualNumber<T, N>>;

    fn source<'a, D: Rank>(
        array: &'a ArrayRef<f64, D>,
        room: &'a mut Self::Room,
    ) -> Source<'a, DualNumber<T, N>> {
        let (strides, size) = spread(array.shape(), array.strides());
        if room.len() < size {
            room.resize(size, DualNumber::constant(0.0));
        }
        // Along axes where all are the same there is one.
        let (mut shape, mut own, mut from) = (array.raw_dim(), array.raw_dim(), array.view());
        for (axis, stride) in strides[..shape.ndim()].iter().enumerate() {
            if *stride == 0 && shape[axis] > 1 {
                from.collapse_axis(Axis(axis), 0);
                shape[axis] = 1;
            }
            own[axis] = stride.unsigned_abs();
        }
        let to = ArrayViewMut::from_shape(shape.strides(own), room).expect("as large as that");
        Zip::from(to).and(&from).for_each(|to, from| *to = DualNumber::constant(*from));
        Source::at(Place::new(room.as_mut_ptr(), array.shape(), &strides[..array.ndim()]))
    }
    #[inline(always)]
    fn shadow<D: Rank>(_: Shadow<ArrayCells<'_, f64, D>>) -> Shadow<ArrayCells<'_, DualNumber<T, N>, D>> {
        Shadow::default()
    }
}

/// Strides of a copy, and how many elements it takes. Axes come in the same order, and two of them are one where they are one in the array:
/// so sums are added up in the same order, and are the same to the last bit.
fn spread(lengths: &[usize], strides: &[isize]) -> ([isize; MOST_AXES], usize) {
    let mut order = [0; MOST_AXES];
    let order = &mut order[..lengths.len()];
    order.iter_mut().enumerate().for_each(|(i, axis)| *axis = i);
    order.sort_by_key(|axis| std::cmp::Reverse(strides[*axis].unsigned_abs()));
    let (mut own, mut size) = ([0; MOST_AXES], 1);
    let mut within: Option<usize> = None;
    for axis in order.iter().rev().copied().filter(|axis| lengths[*axis] != 1 && strides[*axis] != 0) {
        own[axis] = within.map_or(1, |within| {
            let length = lengths[within] as isize;
            own[within] * length + isize::from(strides[axis] != strides[within] * length)
        });
        size += lengths[axis].saturating_sub(1) * own[axis].unsigned_abs();
        within = Some(axis);
    }
    (own, if lengths.contains(&0) { 0 } else { size })
}

/// Computes with rooms for constants, which last from call to call if there are any.
#[inline]
pub fn in_rooms<R: Default + 'static, Y>(compute: impl FnOnce(&mut R) -> Y) -> Y {
    reused::with(size_of::<R>() > 0, compute)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_of_copies_go_together_as_those_of_the_array() {
        let of = |lengths: &[usize], strides: &[isize]| {
            let (own, size) = spread(lengths, strides);
            (own[..lengths.len()].to_vec(), size)
        };
        assert_eq!(of(&[2, 3], &[3, 1]), (vec![3, 1], 6));
        assert_eq!(of(&[2, 3], &[1, 2]), (vec![1, 2], 6));
        assert_eq!(of(&[2, 3], &[-3, -1]), (vec![3, 1], 6));
        assert_eq!(of(&[2, 3], &[3, -1]), (vec![4, 1], 7));
        assert_eq!(of(&[2, 3, 2], &[24, 4, 2]), (vec![7, 2, 1], 13));
        assert_eq!(of(&[5, 3], &[0, 2]), (vec![0, 1], 3));
        assert_eq!(of(&[1, 3, 1], &[7, 2, 1]), (vec![0, 1, 0], 3));
        assert_eq!(of(&[2, 0], &[0, 1]).1, 0);
        assert_eq!(of(&[], &[]), (vec![], 1));
    }
}
