//! Arrays put together, taken apart and given another shape: `into_shape_with_order`, `concatenate`, `stack`, `select`.

use std::cell::Cell;

use ndarray::{Array, ArrayRef, Axis, IntoDimension, RemoveAxis, Slice, Zip};

use super::meets::Meets;
use super::operation::{Operation, operation};
use super::spare::Spare;
use super::{Entry, Rank};
use crate::function::{Args, ConstRef, ConstVal, Cotangent, Gradients, Ref, Shadows};
use crate::shadow::{Accumulate, ArrayCells, Shadow};

operation! {
    /// `x.to_shape(shape).unwrap()` and the like: the elements in the order of their indices, *ẋ = ẏ*
    reshape<T: (Entry), D: (Rank), S: (IntoDimension<Dim: Rank> + Copy + 'static)>(
        x: Ref<ArrayRef<T, D>> as &'a ArrayRef<T, D>,
        shape: ConstVal<S> as S
    ) -> Array<T, S::Dim>;
}

impl<T: Entry, D: Rank, S: IntoDimension<Dim: Rank> + Copy + 'static> Operation for reshape<T, D, S> {
    type Kept = Spare<T>;

    fn forward(spare: &mut Spare<T>, (x, shape): Args<'_, Self>) -> Array<T, S::Dim> {
        let mut y = spare.array(shape.into_dimension(), false);
        assert_eq!(x.len(), y.len(), "an array of shape {:?} has no shape {:?}", x.shape(), y.shape());
        y.iter_mut().zip(x).for_each(|(y, x)| *y = *x);
        y
    }
    fn pullback<'a>(
        _: &mut Spare<T>,
        _: Args<'a, Self>,
        (dx, _): Shadows<'a, Self>,
        d: Cotangent<'_, Self>,
    ) -> Gradients<Self> {
        if let Some(dx) = dx.get() {
            dx.iter().zip(d).for_each(|(dx, d)| dx.accumulate(*d));
        }
        ((), ())
    }
    fn reclaim(spare: &mut Spare<T>, y: Array<T, S::Dim>) {
        spare.reclaim(y);
    }
}

operation! {
    /// `concatenate(axis, &[x, y]).unwrap()`: *ẋ* and *ẏ* are the parts of the gradient
    join<L: (Meets<R>), D: (Rank + RemoveAxis), R: (Entry)>(
        axis: ConstVal<Axis> as Axis,
        x: Ref<ArrayRef<L, D>> as &'a ArrayRef<L, D>,
        y: Ref<ArrayRef<R, D>> as &'a ArrayRef<R, D>
    ) -> Array<L::Both, D>;
}

/// The parts of a shadow, or none.
fn add_part<T: Entry, B: Entry, D: Rank + RemoveAxis>(
    dx: Shadow<ArrayCells<'_, T, D>>,
    d: &Array<B, D>,
    axis: Axis,
    part: std::ops::Range<usize>,
    add: impl Fn(&Cell<T>, B),
) {
    if let Some(dx) = dx.get() {
        Zip::from(dx).and(d.slice_axis(axis, Slice::from(part))).for_each(|dx, &d| add(dx, d));
    }
}

impl<L: Meets<R>, D: Rank + RemoveAxis, R: Entry> Operation for join<L, D, R> {
    type Kept = Spare<L::Both>;

    fn forward(spare: &mut Spare<L::Both>, (axis, x, y): Args<'_, Self>) -> Array<L::Both, D> {
        let (n, mut shape) = (x.len_of(axis), x.raw_dim());
        shape[axis.index()] += y.len_of(axis);
        let mut both = spare.grown(shape, axis);
        both.slice_axis_mut(axis, Slice::from(..n)).zip_mut_with(x, |both, &x| *both = x.of_left());
        assert_eq!(
            y.raw_dim().remove_axis(axis),
            shape.remove_axis(axis),
            "arrays of different shapes are not put together"
        );
        both.slice_axis_mut(axis, Slice::from(n..)).zip_mut_with(y, |both, &y| *both = L::of_right(y));
        both
    }
    fn pullback<'a>(
        _: &mut Spare<L::Both>,
        (axis, x, y): Args<'a, Self>,
        (_, dx, dy): Shadows<'a, Self>,
        d: Cotangent<'_, Self>,
    ) -> Gradients<Self> {
        let n = x.len_of(axis);
        add_part(dx, d, axis, 0..n, L::to_left);
        add_part(dy, d, axis, n..n + y.len_of(axis), L::to_right);
        ((), (), ())
    }
    fn reclaim(spare: &mut Spare<L::Both>, both: Array<L::Both, D>) {
        spare.reclaim(both);
    }
}

operation! {
    /// `x.select(axis, indices)`: *ẋ* gets the parts of the gradient, added up where an index occurs several times
    select<T: (Entry), D: (Rank + RemoveAxis)>(
        x: Ref<ArrayRef<T, D>> as &'a ArrayRef<T, D>,
        axis: ConstVal<Axis> as Axis,
        indices: ConstRef<[usize]> as &'a [usize]
    ) -> Array<T, D>;
}

impl<T: Entry, D: Rank + RemoveAxis> Operation for select<T, D> {
    type Kept = Spare<T>;

    fn forward(spare: &mut Spare<T>, (x, axis, indices): Args<'_, Self>) -> Array<T, D> {
        let mut shape = x.raw_dim();
        shape[axis.index()] = indices.len();
        let mut y = spare.grown(shape, axis);
        for (y, &i) in y.axis_iter_mut(axis).zip(indices) {
            Zip::from(y).and(x.index_axis(axis, i)).for_each(|y, &x| *y = x);
        }
        y
    }
    fn pullback<'a>(
        _: &mut Spare<T>,
        (_, axis, indices): Args<'a, Self>,
        (dx, _, _): Shadows<'a, Self>,
        d: Cotangent<'_, Self>,
    ) -> Gradients<Self> {
        if let Some(dx) = dx.get() {
            for (d, &i) in d.axis_iter(axis).zip(indices) {
                Zip::from(dx.index_axis(axis, i)).and(d).for_each(|dx, &d| dx.accumulate(d));
            }
        }
        ((), (), ())
    }
    fn reclaim(spare: &mut Spare<T>, y: Array<T, D>) {
        spare.reclaim(y);
    }
}
