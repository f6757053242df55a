//! Arrays as layers see them.

use ndarray::{Array3, Array4};

use super::LayerMemory;
use crate::fused::operand::{MOST_AXES, Place};
use crate::fused::{Along, Array, Memory, Real, Sink, Source};
use crate::matrices::Multiply;
use crate::{MatrixScalar, Shadow};

/// Images with `N` axes, wherever they are: batch × channels × length, or batch × channels × height × width.
pub trait Images<T: Real + MatrixScalar, const N: usize>:
    Array<T, Memory: LayerMemory + Multiply<T>>
{
}

impl<T: Real + MatrixScalar> Images<T, 1> for Array3<T> {}
impl<T: Real + MatrixScalar> Images<T, 2> for Array4<T> {}

pullback_macros::fused! {
    fn copied<M>(x) { x }

    fn inner<M>(x, z) { sum(x * z) }
}

pub(super) fn read<'a, T: Real>(place: Place<T>) -> Source<'a, T> {
    Source::at(place)
}

pub(super) fn written<'a, T: Real>(place: Place<T>) -> Sink<'a, T> {
    Sink::at(Some(place), false)
}

/// An array that is written.
pub(super) fn target<T: Real, A: Array<T>>(array: &mut A) -> Place<T> {
    array.sink().place.expect("an array")
}

/// The shadow of an array.
pub(super) fn shadow<T: Real, A: Array<T>>(shadow: &A::Shadow<'_>) -> Place<T> {
    A::shadow_source(shadow).place
}

/// The shadow of an array, unless that is constant.
pub(super) fn given<T: Real, A: Array<T>>(d: Shadow<A::Shadow<'_>>) -> Option<Place<T>> {
    d.get().map(|d| shadow::<T, A>(&d))
}

/// Lines as planes with one row.
pub(super) fn planes<T>(place: Place<T>) -> Place<T> {
    match place.axes {
        3 => {
            let ([n, c, length, ..], [of_n, of_c, of_length, ..]) = (place.lengths, place.strides);
            reshaped(place, &[n, c, 1, length], &[of_n, of_c, 0, of_length])
        }
        _ => place,
    }
}

/// The same memory with other axes.
pub(super) fn reshaped<T>(place: Place<T>, lengths: &[usize], strides: &[isize]) -> Place<T> {
    Place { owner: place.owner, ..Place::new(place.start, lengths, strides) }
}

/// A vector that goes with axis 1 of an array with so many axes.
pub(super) fn of_channels<T>(vector: Place<T>, axes: usize) -> Place<T> {
    let (mut lengths, mut strides) = ([1; MOST_AXES], [0; MOST_AXES]);
    (lengths[1], strides[1]) = (vector.lengths[0], vector.strides[0]);
    reshaped(vector, &lengths[..axes], &strides[..axes])
}

/// Copies what has the same shape, or is broadcast to it.
pub(super) fn copy<T: Real, M: Memory>(memory: &M, to: Place<T>, from: Place<T>) {
    copied::forward(memory, Along::All, written(to), [read(from)], None);
}

/// Adds what is at `from` to `to`: its sums, if `to` is broadcast.
pub(super) fn add<T: Real, M: Memory>(memory: &M, to: Place<T>, from: Place<T>) {
    let dy = (read(from), Sink::at(None, true));
    let kept = Default::default();
    copied::pullback(memory, Along::All, [read(to)], read(from), dy, [Sink::at(Some(to), true)], &kept);
}

/// ⟨x, z⟩
pub(super) fn inner_product<T: Real, M: Memory>(memory: &M, x: Place<T>, z: Place<T>) -> T {
    let mut sum = T::of(0.0);
    inner::forward(memory, Along::All, Sink::number(&mut sum), [read(x), read(z)], None);
    sum
}
