//! Norms of channels: over a batch, and within one of its members.

pub(super) mod batch;
pub(super) mod group;

use ndarray::{
    ArrayRef, ArrayRef1, ArrayView, ArrayView1, ArrayViewMut, Axis, Dimension, Ix1, MathCell, RemoveAxis, Zip,
};

use crate::arrays::Rank;
use crate::blas::vectorised::{Kernel, vectorised};
use crate::linalg::Number;
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

impl<T: Number> Moments<T> {
    /// In one pass over memory: those of parts that stay in the cache, brought together (Chan, Golub and LeVeque, *Updating formulae and a
    /// pairwise algorithm for computing sample variances*, 1979).
    fn of<D: Dimension>(x: &ArrayView<'_, T, D>) -> Self {
        const PART: usize = 1024;
        let (mut mean, mut squares, mut count) = (T::ZERO, T::ZERO, 0);
        for row in x.rows() {
            for part in row.axis_chunks_iter(Axis(0), PART) {
                let n = T::of(part.len() as f64);
                let own = sum_of(part, |x| x) / n;
                let before = T::of(count as f64);
                count += part.len();
                let (ahead, share) = (own - mean, n / T::of(count as f64));
                mean += ahead * share;
                squares += sum_of(part, |x| (x - own) * (x - own)) + ahead * ahead * before * share;
            }
        }
        Moments { mean, variance: squares / T::of(x.len() as f64) }
    }

    /// *s = 1/√(σ² + ε)*
    fn scale(self, epsilon: T) -> T {
        T::ONE / (self.variance + epsilon).sqrt()
    }
}

/// How many sums do not wait for each other.
const LANES: usize = 16;

/// *Σ f(xᵢ)*
fn sum_of<T: Number>(x: ArrayView1<'_, T>, f: impl Fn(T) -> T) -> T {
    match x.to_slice() {
        Some(x) => vectorised(SumOf { x, f }),
        None => x.iter().map(|&x| f(x)).sum(),
    }
}

struct SumOf<'a, T, F> {
    x: &'a [T],
    f: F,
}

impl<T: Number, F: Fn(T) -> T> Kernel for SumOf<'_, T, F> {
    type Output = T;

    #[inline(always)]
    fn run(self) -> T {
        let (x, rest) = self.x.as_chunks::<LANES>();
        let mut sums = [T::ZERO; LANES];
        for x in x {
            (0..LANES).for_each(|l| sums[l] += (self.f)(x[l]));
        }
        sums.into_iter().sum::<T>() + rest.iter().map(|&x| (self.f)(x)).sum::<T>()
    }
}

/// What comes to *σ² + ε* if *ṡ* comes to *s*: *−½·s³·ṡ*.
fn through_scale<T: Number>(scale: T, d: T) -> T {
    -T::of(0.5) * scale * scale * scale * d
}

/// *y = (x − μ)·f + b* for one channel.
fn normalise<T: Number, D: Dimension>(
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

impl<T: Number> Sums<T> {
    fn of<D: Dimension>(dy: Option<ArrayCells<'_, T, D>>, x: ArrayView<'_, T, D>, mean: T) -> Self {
        let mut sums = Sums { plain: T::ZERO, centred: T::ZERO };
        if let Some(dy) = dy {
            Zip::from(dy.rows()).and(x.rows()).for_each(|dy, x| {
                let Sums { plain, centred } = match (dy.to_slice(), x.to_slice()) {
                    (Some(dy), Some(x)) => vectorised(OfRow { dy, x, mean }),
                    _ => {
                        dy.iter().zip(x).fold(Sums { plain: T::ZERO, centred: T::ZERO }, |sums, (dy, &x)| {
                            Sums {
                                plain: sums.plain + dy.get(),
                                centred: sums.centred + dy.get() * (x - mean),
                            }
                        })
                    }
                };
                sums.plain += plain;
                sums.centred += centred;
            });
        }
        sums
    }
}

/// Those of a row.
struct OfRow<'a, T> {
    dy: &'a [MathCell<T>],
    x: &'a [T],
    mean: T,
}

impl<T: Number> Kernel for OfRow<'_, T> {
    type Output = Sums<T>;

    #[inline(always)]
    fn run(self) -> Sums<T> {
        let (mut plain, mut centred) = ([T::ZERO; LANES], [T::ZERO; LANES]);
        for (dy, x) in self.dy.chunks(LANES).zip(self.x.chunks(LANES)) {
            let mut add = |l: usize| {
                plain[l] += dy[l].get();
                centred[l] += dy[l].get() * (x[l] - self.mean);
            };
            if x.len() == LANES && dy.len() == LANES {
                (0..LANES).for_each(add);
            } else {
                (0..x.len()).for_each(&mut add);
            }
        }
        Sums { plain: plain.into_iter().sum(), centred: centred.into_iter().sum() }
    }
}

/// *ẋ += f·ẏ + c + s·(x − μ)* for one channel: what comes through *y = (x − μ)·f + b*, and through mean and variance.
fn pull<T: Number, D: Dimension>(
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
fn add_to_channel<T: Number>(shadow: Option<ArrayCells<'_, T, Ix1>>, c: usize, d: T) {
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

fn clear<T: Number, D: Dimension>(cells: ArrayCells<'_, T, D>) {
    cells.for_each(|cell| cell.set(T::ZERO));
}
