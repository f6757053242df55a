//! The order in which the elements of an array are visited: ndarray's where it says that the order is arbitrary, and backwards.

use ndarray::{ArrayView, Axis};

use super::Rank;

use super::spare::Layout;

/// That order for an array of this shape with these strides: as the elements lie in memory if there are no gaps, otherwise along the axis
/// with the smallest stride first, which changes places with the last one.
///
/// For each axis four numbers *a*, *n*, *f*, *s*: the `k`th element is at the index *f + s·(k/a mod n)*.
pub fn order<const D: usize>(shape: &[usize], strides: &[isize]) -> [[isize; 4]; D] {
    let span = |axis: usize| strides[axis].unsigned_abs();
    let long = |axis: &usize| shape[*axis] > 1;
    let mut nearest_first: [usize; D] = std::array::from_fn(|i| D - 1 - i);
    nearest_first.sort_unstable_by_key(|axis| long(axis).then(|| span(*axis)));
    let mut side_by_side = 1;
    let contiguous = nearest_first.iter().filter(|axis| long(axis)).all(|axis| {
        let fits = span(*axis) == side_by_side;
        side_by_side *= shape[*axis];
        fits
    });
    if !contiguous {
        nearest_first = std::array::from_fn(|i| D - 1 - i);
        let nearest = match D {
            2 => [1, 0].into_iter().filter(long).min_by_key(|axis| span(*axis)),
            _ => (0..D).filter(long).min_by_key(|axis| span(*axis)),
        };
        if let Some(nearest) = nearest {
            nearest_first.swap(0, D - 1 - nearest);
        }
    }
    let (mut order, mut visited) = ([[0; 4]; D], 1);
    for axis in nearest_first {
        let len = shape[axis].cast_signed();
        let backwards = contiguous && strides[axis] < 0;
        order[axis] = [visited, len, if backwards { len - 1 } else { 0 }, if backwards { -1 } else { 1 }];
        visited *= len;
    }
    order
}

/// How ndarray's `Zip` sees the layout of an array of this shape with these strides, in numbers to be added to those of the others that
/// it goes through: whether it does not lie by rows, whether it does not lie by columns, and which of them it is nearer to. With *r*, *c*, *t* for the sums it goes
/// column by column, and lays out what it collects so, where *r > 0* and *c = 0* or *t < 0*.
pub fn layout(shape: &[usize], strides: &[isize]) -> [isize; 3] {
    let Layout { by_rows, by_columns, tendency } = Layout::of(shape, strides);
    [isize::from(!by_rows), isize::from(!by_columns), tendency as isize]
}

/// That of the first element of each lane along `axis`.
pub fn layout_across<const D: usize>(shape: &[usize], strides: &[isize], axis: usize) -> [isize; 3] {
    if shape[axis] == 0 {
        return [0; 3];
    }
    let [mut across, mut steps] = [[0; D]; 2];
    for (k, other) in (0..=D).filter(|other| *other != axis).enumerate() {
        (across[k], steps[k]) = (shape[other].cast_signed(), strides[other]);
    }
    layout(&across.map(isize::cast_unsigned), &steps)
}

/// Row by row or column by column, in the numbers of [`order`].
pub fn zip_order<const D: usize>(shape: &[usize], by_columns: bool) -> [[isize; 4]; D] {
    let (mut order, mut visited) = ([[0; 4]; D], 1);
    for i in 0..D {
        let axis = if by_columns { i } else { D - 1 - i };
        let len = shape[axis].cast_signed();
        order[axis] = [visited, len, 0, 1];
        visited *= len;
    }
    order
}

/// All elements, the last one first.
pub(super) fn backwards<A, D: Rank>(mut view: ArrayView<'_, A, D>) -> impl Iterator<Item = &A> {
    let slice = view.to_slice();
    if slice.is_none() {
        (0..view.ndim()).for_each(|axis| view.invert_axis(Axis(axis)));
    }
    let (near, far) = match slice {
        Some(slice) => (Some(slice.iter().rev()), None),
        None => (None, Some(view.into_iter())),
    };
    near.into_iter().flatten().chain(far.into_iter().flatten())
}

#[cfg(test)]
mod tests {
    use ndarray::{Array3, ArrayView, Axis, Dimension, s};

    use super::order;

    fn check<D: Dimension, const N: usize>(x: ArrayView<'_, usize, D>) {
        let order = order::<N>(x.shape(), x.strides());
        let visited = x.fold(Vec::new(), |mut visited, x| {
            visited.push(*x);
            visited
        });
        let at = |k: usize| {
            let mut index = D::zeros(N);
            for (axis, [every, len, first, step]) in order.into_iter().enumerate() {
                index[axis] = (first + k as isize / every % len * step) as usize;
            }
            index
        };
        let expected: Vec<_> = (0..x.len()).map(|k| x[at(k)]).collect();
        assert_eq!(visited, expected, "{:?} {:?}", x.shape(), x.strides());
    }

    /// Every order of the axes, with and without gaps, forwards and backwards.
    #[test]
    fn as_ndarray_visits() {
        for shape in [(3, 4, 5), (1, 4, 3), (2, 1, 2), (3, 3, 1), (1, 1, 1), (0, 2, 3)] {
            let (a, b, c) = shape;
            let whole = Array3::from_shape_fn((2 * a, b, 2 * c), |(i, j, k)| i * 1000 + j * 100 + k);
            let full = Array3::from_shape_fn(shape, |(i, j, k)| i * 1000 + j * 100 + k);
            let gaps = whole.slice(s![..a, .., ..;2]);
            let thick = whole.slice(s![..;2, .., ..c]);
            for view in [full.view(), gaps, thick] {
                for axes in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
                    for turned in 0..8 {
                        let mut view = view.permuted_axes(axes);
                        (0..3).filter(|i| turned >> i & 1 == 1).for_each(|i| view.invert_axis(Axis(i)));
                        check::<_, 3>(view);
                        for axis in (0..3).filter(|axis| view.shape()[*axis] > 0) {
                            let part = view.index_axis(Axis(axis), 0);
                            check::<_, 2>(part);
                            if part.nrows() > 0 {
                                check::<_, 1>(part.row(0));
                                check::<_, 2>(part.row(0).broadcast((2, part.ncols())).expect("rows"));
                            }
                        }
                    }
                }
            }
        }
    }
}
