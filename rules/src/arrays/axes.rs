//! `sum_axis`, `mean_axis` and `product_axis`.

use ndarray::{Array, ArrayRef, ArrayView1, Axis, RemoveAxis, Zip};

use super::operation::{Kept, Operation, operation};
use super::reductions::pull_product;
use super::spare::Spare;
use super::{Entry, Rank};
use crate::function::{Args, ConstVal, Cotangent, Gradients, Ref, Shadows};
use crate::heap::heap_size;
use crate::shadow::{Accumulate, ArrayCells};

operation! {
    /// `x.sum_axis(axis)`: along the axis *ẋ = ẏ*
    sum_axis<T: (Entry), D: (Rank + RemoveAxis<Smaller: Rank>)>(
        x: Ref<ArrayRef<T, D>> as &'a ArrayRef<T, D>,
        axis: ConstVal<Axis> as Axis
    ) -> Array<T, D::Smaller>;
}

operation! {
    /// `x.mean_axis(axis).unwrap()`: along the axis, which has *n* elements, *ẋ = ẏ/n*
    mean_axis<T: (Entry), D: (Rank + RemoveAxis<Smaller: Rank>)>(
        x: Ref<ArrayRef<T, D>> as &'a ArrayRef<T, D>,
        axis: ConstVal<Axis> as Axis
    ) -> Array<T, D::Smaller>;
}

operation! {
    /// `x.product_axis(axis)`: along the axis *ẋᵢ = ẏ·Πⱼ xⱼ*, over all *j ≠ i*
    product_axis<T: (Entry), D: (Rank + RemoveAxis<Smaller: Rank>)>(
        x: Ref<ArrayRef<T, D>> as &'a ArrayRef<T, D>,
        axis: ConstVal<Axis> as Axis
    ) -> Array<T, D::Smaller>;
}

/// In the order in which ndarray adds and multiplies: lane by lane along the axis with the smallest stride, otherwise one view after the other.
fn reduced<T: Entry, D: Rank + RemoveAxis<Smaller: Rank>>(
    x: &ArrayRef<T, D>,
    axis: Axis,
    spare: &mut Spare<T>,
    of_lane: impl Fn(ArrayView1<'_, T>) -> T,
    neutral: T,
    combine: impl Fn(&mut T, T),
) -> Array<T, D::Smaller> {
    let strides = x.strides();
    let nearest = (0..x.ndim()).rev().min_by_key(|axis| strides[*axis].unsigned_abs());
    if nearest == Some(axis.index()) {
        let mut y = spare.lanes(x, axis);
        Zip::from(&mut y).and(x.lanes(axis)).for_each(|y, lane| *y = of_lane(lane));
        return y;
    }
    let mut y = spare.array(x.raw_dim().remove_axis(axis), false);
    y.fill(neutral);
    for part in x.axis_iter(axis) {
        Zip::from(&mut y).and(part).for_each(|y, &x| combine(y, x));
    }
    y
}

fn add_up<T: Entry, D: Rank + RemoveAxis<Smaller: Rank>>(
    x: &ArrayRef<T, D>,
    axis: Axis,
    spare: &mut Spare<T>,
) -> Array<T, D::Smaller> {
    reduced(x, axis, spare, |lane| lane.sum(), T::ZERO, |y, x| *y += x)
}

/// *ẋ += factor·ẏ* along the axis
fn hand_back<T: Entry, D: Rank + RemoveAxis<Smaller: Rank>>(
    dx: &ArrayCells<'_, T, D>,
    axis: Axis,
    d: &Array<T, D::Smaller>,
    divisor: T,
) {
    for part in dx.axis_iter(axis) {
        Zip::from(part).and(d).for_each(|dx, &d| dx.accumulate(d / divisor));
    }
}

impl<T: Entry, D: Rank + RemoveAxis<Smaller: Rank>> Operation for sum_axis<T, D> {
    type Kept = Spare<T>;

    fn forward(spare: &mut Spare<T>, (x, axis): Args<'_, Self>) -> Array<T, D::Smaller> {
        add_up(x, axis, spare)
    }
    fn pullback<'a>(
        _: &mut Spare<T>,
        (_, axis): Args<'a, Self>,
        (dx, _): Shadows<'a, Self>,
        d: Cotangent<'_, Self>,
    ) -> Gradients<Self> {
        if let Some(dx) = dx.get() {
            hand_back(&dx, axis, d, T::ONE);
        }
        ((), ())
    }
    fn reclaim(spare: &mut Spare<T>, y: Array<T, D::Smaller>) {
        spare.reclaim(y);
    }
}

impl<T: Entry, D: Rank + RemoveAxis<Smaller: Rank>> Operation for mean_axis<T, D> {
    type Kept = Spare<T>;

    fn forward(spare: &mut Spare<T>, (x, axis): Args<'_, Self>) -> Array<T, D::Smaller> {
        assert!(x.len_of(axis) > 0, "the mean of no elements");
        let mut y = add_up(x, axis, spare);
        let n = T::count(x.len_of(axis));
        y.map_inplace(|y| *y /= n);
        y
    }
    fn pullback<'a>(
        _: &mut Spare<T>,
        (x, axis): Args<'a, Self>,
        (dx, _): Shadows<'a, Self>,
        d: Cotangent<'_, Self>,
    ) -> Gradients<Self> {
        if let Some(dx) = dx.get() {
            hand_back(&dx, axis, d, T::count(x.len_of(axis)));
        }
        ((), ())
    }
    fn reclaim(spare: &mut Spare<T>, y: Array<T, D::Smaller>) {
        spare.reclaim(y);
    }
}

/// What products keep from call to call.
pub struct Products<T> {
    spare: Spare<T>,
    /// For the elements of a lane.
    before: Vec<T>,
}

impl<T> Default for Products<T> {
    fn default() -> Self {
        Products { spare: Spare::default(), before: Vec::new() }
    }
}

heap_size! { [T: Entry] Products<T> { spare, before } }

impl<T: Entry> Kept for Products<T> {
    fn once() -> Self {
        Products { spare: Spare::once(), ..Products::default() }
    }
    fn settle(&mut self) {
        self.spare.settle();
    }
    fn reset(&mut self) {
        self.spare.reset();
    }
}

impl<T: Entry, D: Rank + RemoveAxis<Smaller: Rank>> Operation for product_axis<T, D> {
    type Kept = Products<T>;

    fn forward(kept: &mut Products<T>, (x, axis): Args<'_, Self>) -> Array<T, D::Smaller> {
        reduced(x, axis, &mut kept.spare, |lane| lane.product(), T::ONE, |y, x| *y *= x)
    }
    fn pullback<'a>(
        kept: &mut Products<T>,
        (x, axis): Args<'a, Self>,
        (dx, _): Shadows<'a, Self>,
        d: Cotangent<'_, Self>,
    ) -> Gradients<Self> {
        if let Some(dx) = dx.get() {
            let lanes = Zip::from(dx.lanes(axis)).and(x.lanes(axis)).and(d);
            lanes.for_each(|dx, x, &d| pull_product(&x, dx, d, &mut kept.before));
        }
        ((), ())
    }
    fn reclaim(kept: &mut Products<T>, y: Array<T, D::Smaller>) {
        kept.spare.reclaim(y);
    }
}
