//! Memory for arrays that a rule's function returns, and the layouts that ndarray gives them.

use ndarray::{Array, ArrayRef, ArrayView, Axis, Dimension, RemoveAxis, ShapeBuilder};

use super::Rank;
use super::operation::Kept;
use crate::heap::HeapSize;
use crate::tangent::Tangent;

/// Memory that is waiting for the next output.
pub struct Spare<T> {
    waiting: Vec<Vec<T>>,
    /// The numbers of elements that forwards have been given whose pullbacks have not run.
    pending: Vec<usize>,
    /// There will be no other output.
    once: bool,
    /// What outputs hold does not matter.
    forgone: bool,
}

impl<T> Default for Spare<T> {
    fn default() -> Self {
        Spare { waiting: Vec::new(), pending: Vec::new(), once: false, forgone: false }
    }
}

impl<T: Tangent> HeapSize for Spare<T> {
    fn heap_size(&self) -> usize {
        let waiting: usize = self.waiting.iter().map(Vec::heap_size).sum();
        waiting + self.waiting.capacity() * size_of::<Vec<T>>() + self.pending.heap_size()
    }
}

impl<T: Tangent> Kept for Spare<T> {
    fn once() -> Self {
        Spare { once: true, ..Spare::default() }
    }
    fn settle(&mut self) {
        self.pending.pop();
    }
    /// What was dropped along with a residual is made anew, so that the next call finds it.
    fn reset(&mut self) {
        self.waiting.extend(self.pending.drain(..).rev().map(Vec::with_capacity));
    }
    fn forgo_output(&mut self) {
        self.forgone = true;
    }
    fn shrink(&mut self) {
        *self = Spare { forgone: self.forgone, ..Spare::default() };
    }
}

impl<T: Tangent> Spare<T> {
    fn elements(&mut self, len: usize) -> Vec<T> {
        let mut elements = self.waiting.pop().unwrap_or_default();
        if !self.once {
            self.pending.push(len);
        }
        elements.resize(len, T::zero());
        elements
    }

    /// An array for the caller to fill; what is in it does not matter.
    pub(super) fn array<D: Rank>(&mut self, shape: D, by_columns: bool) -> Array<T, D> {
        let elements = self.elements(shape.size());
        Array::from_shape_vec(shape.set_f(by_columns), elements)
            .expect("as many elements as the shape asks for")
    }

    /// Likewise, filled with `s`, unless what it holds [does not matter](Kept::forgo_output).
    pub(super) fn filled<D: Rank>(&mut self, shape: D, by_columns: bool, s: T) -> Array<T, D> {
        let mut array = self.array(shape, by_columns);
        if !self.forgone {
            array.fill(s);
        }
        array
    }

    /// Likewise, with the shape and the layout that `model.map(…)` has: that of the model if it has no gaps, otherwise row by
    /// row.
    pub(super) fn like<A, D: Rank>(&mut self, model: &ArrayRef<A, D>) -> Array<T, D> {
        if model.is_standard_layout() || model.as_slice_memory_order().is_none() {
            return self.array(model.raw_dim(), false);
        }
        self.same(model)
    }

    /// Likewise, with the layout of the model in any case: what is owned is changed in place, or cloned together with its gaps.
    pub(super) fn same<A, D: Rank>(&mut self, model: &ArrayRef<A, D>) -> Array<T, D> {
        // No gaps, so that nothing has to be found out, or nothing to lay out.
        if model.is_standard_layout() || model.is_empty() {
            return self.array(model.raw_dim(), false);
        }
        let (mut strides, mut span) = (model.raw_dim(), 1);
        for (stride, (len, signed)) in
            strides.slice_mut().iter_mut().zip(model.shape().iter().zip(model.strides()))
        {
            *stride = signed.unsigned_abs();
            span += (len - 1) * *stride;
        }
        let elements = self.elements(span);
        let shape = model.raw_dim().strides(strides);
        let mut array = Array::from_shape_vec(shape, elements).expect("the layout of an array");
        for axis in (0..model.ndim()).filter(|axis| model.strides()[*axis] < 0) {
            array.invert_axis(Axis(axis));
        }
        array
    }

    /// Likewise, with the layout that a `Zip` of the lanes of `model` along `axis` has.
    pub(super) fn lanes<D: Rank + RemoveAxis<Smaller: Rank>>(
        &mut self,
        model: &ArrayRef<T, D>,
        axis: Axis,
    ) -> Array<T, D::Smaller> {
        let by_columns = model.len_of(axis) > 0
            && Layout::zips_by_columns(&[Layout::of_array(&model.index_axis(axis, 0))]);
        self.array(model.raw_dim().remove_axis(axis), by_columns)
    }

    /// With `axis` as the outermost one, as arrays are that have been put together along it.
    pub(super) fn grown<D: Rank>(&mut self, shape: D, axis: Axis) -> Array<T, D> {
        if axis.index() + 1 == shape.ndim() {
            return self.array(shape, true);
        }
        let (mut strides, mut stride) = (shape, 1);
        for i in (0..shape.ndim()).rev().filter(|i| *i != axis.index()) {
            strides[i] = stride;
            stride *= shape[i];
        }
        strides[axis.index()] = stride;
        let elements = self.elements(shape.size());
        Array::from_shape_vec(shape.strides(strides), elements).expect("a layout without gaps")
    }

    /// Takes back what [`array`](Spare::array) and [`like`](Spare::like) gave.
    pub(super) fn reclaim<D: Dimension>(&mut self, array: Array<T, D>) {
        self.waiting.push(array.into_raw_vec_and_offset().0);
    }
}

/// How ndarray's `Zip` sees the layout of an array: contiguous by rows, by columns, and which of them it is nearer to.
#[derive(Clone, Copy)]
pub(super) struct Layout {
    pub(super) by_rows: bool,
    pub(super) by_columns: bool,
    pub(super) tendency: i32,
}

impl Layout {
    pub(super) fn of(shape: &[usize], strides: &[isize]) -> Layout {
        let n = shape.len();
        // Side by side, the first of `axes` nearest.
        let contiguous = |axes: &mut dyn Iterator<Item = usize>| {
            let mut next = 1;
            shape.contains(&0)
                || axes.filter(|axis| shape[*axis] > 1).all(|axis| {
                    let fits = strides[axis] == next;
                    next *= shape[axis].cast_signed();
                    fits
                })
        };
        let (by_rows, by_columns) = (contiguous(&mut (0..n).rev()), contiguous(&mut (0..n)));
        if by_rows {
            let line = n <= 1 || shape.iter().filter(|&&len| len > 1).count() <= 1;
            return Layout { by_rows, by_columns: line, tendency: if line { 0 } else { 2 } };
        }
        if n > 1 && by_columns {
            return Layout { by_rows, by_columns, tendency: -2 };
        }
        let near = |axis: usize| n > 1 && shape[axis] > 1 && strides[axis] == 1;
        let tendency = if near(0) { -1 } else { i32::from(near(n - 1)) };
        Layout { by_rows: false, by_columns: false, tendency }
    }

    fn of_array<T, D: Dimension>(array: &ArrayView<'_, T, D>) -> Layout {
        Layout::of(array.shape(), array.strides())
    }

    /// The output of a `Zip` of arrays with these layouts is laid out column by column.
    pub(super) fn zips_by_columns(layouts: &[Layout]) -> bool {
        let tendency: i32 = layouts.iter().map(|layout| layout.tendency).sum();
        let by_rows = layouts.iter().all(|layout| layout.by_rows);
        !by_rows && (layouts.iter().all(|layout| layout.by_columns) || tendency < 0)
    }
}

/// Whether the output of a `Zip` of two arrays is laid out column by column.
pub(super) fn zips_by_columns<A, B, D: Dimension>(a: &ArrayView<'_, A, D>, b: &ArrayView<'_, B, D>) -> bool {
    Layout::zips_by_columns(&[Layout::of_array(a), Layout::of_array(b)])
}
