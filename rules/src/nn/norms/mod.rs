//! Norms of channels: over a batch, and within one of its members.

pub(super) mod batch;
pub(super) mod group;

use ndarray::{
    ArrayRef, ArrayRef1, ArrayView, ArrayView1, ArrayViewMut, Axis, Dimension, Ix1, RemoveAxis, Zip,
};

use crate::arrays::Rank;
use crate::linalg::Real;
use crate::shadow::{Accumulate, ArrayCells};

/// A dimension with an axis for the members of a batch, and one for their channels: any but `Ix0` and `Ix1`.
pub trait Channels: Rank + RemoveAxis<Smaller: Rank + RemoveAxis<Smaller: Rank>> {}
impl<D: Rank + RemoveAxis<Smaller: Rank + RemoveAxis<Smaller: Rank>>> Channels for D {}

/// Of numbers that are normalised together.
#[derive(Clone, Copy)]
struct Moments<T> {
    mean: T,
    /// The mean of the squares of the distances from the mean.
    variance: T,
}

impl<T: Real> Moments<T> {
    fn of<D: Dimension>(x: &ArrayView<'_, T, D>) -> Self {
        let n = T::of(x.len() as f64);
        let sum = |term: &dyn Fn(T) -> T| {
            // Row by row, so that long sums are sums of sums.
            x.rows().into_iter().map(|row| row.iter().map(|&x| term(x)).sum::<T>()).sum::<T>()
        };
        let mean = sum(&|x| x) / n;
        Moments { mean, variance: sum(&|x| (x - mean) * (x - mean)) / n }
    }

    /// *s = 1/√(σ² + ε)*
    fn scale(self, epsilon: T) -> T {
        T::ONE / (self.variance + epsilon).sqrt()
    }
}

/// What comes to *σ² + ε* if *ṡ* comes to *s*: *−½·s³·ṡ*.
fn through_scale<T: Real>(scale: T, d: T) -> T {
    -T::of(0.5) * scale * scale * scale * d
}

/// *y = (x − μ)·f + b* for one channel.
fn normalise<T: Real, D: Dimension>(
    y: ArrayViewMut<'_, T, D>,
    x: ArrayView<'_, T, D>,
    mean: T,
    factor: T,
    bias: T,
) {
    Zip::from(y).and(x).for_each(|y, &x| *y = (x - mean) * factor + bias);
}

/// Sums over elements of one channel that are normalised together.
#[derive(Clone, Copy)]
struct Sums<T> {
    /// *Σ ẏᵢ*
    plain: T,
    /// *Σ ẏᵢ·(xᵢ − μ)*
    centred: T,
}

impl<T: Real> Sums<T> {
    fn of<D: Dimension>(dy: Option<ArrayCells<'_, T, D>>, x: ArrayView<'_, T, D>, mean: T) -> Self {
        let mut sums = Sums { plain: T::ZERO, centred: T::ZERO };
        if let Some(dy) = dy {
            Zip::from(dy).and(x).for_each(|dy, &x| {
                sums.plain += dy.get();
                sums.centred += dy.get() * (x - mean);
            });
        }
        sums
    }
}

/// *ẋ += f·ẏ + c + s·(x − μ)* for one channel: what comes through *y = (x − μ)·f + b*, and through mean and variance.
fn pull<T: Real, D: Dimension>(
    dx: ArrayCells<'_, T, D>,
    dy: Option<ArrayCells<'_, T, D>>,
    x: ArrayView<'_, T, D>,
    mean: T,
    (factor, constant, slope): (T, T, T),
) {
    let through_moments = |x: T| constant + slope * (x - mean);
    match dy {
        Some(dy) => Zip::from(dx)
            .and(dy)
            .and(x)
            .for_each(|dx, dy, &x| dx.accumulate(factor * dy.get() + through_moments(x))),
        None => Zip::from(dx).and(x).for_each(|dx, &x| dx.accumulate(through_moments(x))),
    }
}

/// Channel `c` of all members.
fn channel<T, D: Channels>(
    cells: Option<ArrayCells<'_, T, D>>,
    c: usize,
) -> Option<ArrayCells<'_, T, D::Smaller>> {
    cells.map(|cells| cells.index_axis_move(Axis(1), c))
}

/// A number for each channel, of as many or of one for all.
fn of_each_channel<'a, T>(function: &str, x: &'a ArrayRef1<T>, channels: usize) -> ArrayView1<'a, T> {
    let found = x.len();
    x.broadcast(channels).unwrap_or_else(|| panic!("{function}: {found} numbers for {channels} channels"))
}

/// Adds to the gradient of such a number.
fn add_to_channel<T: Real>(shadow: Option<ArrayCells<'_, T, Ix1>>, c: usize, d: T) {
    if let Some(cells) = shadow {
        cells[if cells.len() == 1 { 0 } else { c }].accumulate(d);
    }
}

/// # Panics
/// If the shapes of output and input differ.
fn channels_of<T, D: Channels>(function: &str, y: &ArrayRef<T, D>, x: &ArrayRef<T, D>) -> usize {
    let (found, shape) = (y.shape(), x.shape());
    assert!(
        found == shape,
        "{function}: the result has the shape {shape:?}, what it is written to {found:?}"
    );
    shape[1]
}

fn clear<T: Real, D: Dimension>(cells: ArrayCells<'_, T, D>) {
    cells.for_each(|cell| cell.set(T::ZERO));
}
