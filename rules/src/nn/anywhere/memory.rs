//! What a memory does for layers beside products and fused functions.

use crate::fused::operand::{MOST_AXES, Place};
use crate::fused::{Host, Memory, Real};
use crate::nn::windows::Slide;
use crate::random::uniforms;
use crate::{HeapSize, MatrixScalar};

/// A memory in which windows slide over images, and random numbers are made.
#[doc(hidden)]
pub trait LayerMemory: Memory {
    /// Writes what the task says to each element of `to`, or adds it to what is there.
    ///
    /// # Safety
    /// All places are in this memory, those that are read overlap none that is written, and shapes fit.
    #[allow(private_interfaces, reason = "nobody else implements it")]
    unsafe fn each<T: Real + MatrixScalar>(&self, to: Place<T>, adds: bool, task: Task<T>);

    /// A plan for convolutions of one shape, and memory that it takes.
    type Plan: Default + Send + HeapSize;

    /// The convolution that is asked for, if this memory has a way of its own. If not, nothing happens, and it returns `false`.
    ///
    /// # Safety
    /// As for [`each`](LayerMemory::each).
    #[allow(private_interfaces, reason = "nobody else implements it")]
    unsafe fn convolve<T: Real + MatrixScalar>(
        &self,
        _plan: &mut Self::Plan,
        _asked: &Convolving<T>,
    ) -> bool {
        false
    }
}

/// A convolution of images.
#[cfg_attr(not(feature = "cuda"), allow(dead_code, reason = "the host has no way of its own"))]
pub(crate) struct Convolving<T> {
    pub(crate) wanted: Wanted,
    pub(crate) x: Place<T>,
    /// Packed.
    pub(crate) kernel: Place<T>,
    pub(crate) y: Place<T>,
    pub(crate) slides: [Slide; 2],
    pub(crate) groups: usize,
}

/// What is computed of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wanted {
    /// *y*
    Output,
    /// What is added to the gradient that is in the place of *x*, for that in the place of *y*.
    InputGradient,
    /// The gradient in the place of the kernel.
    KernelGradient,
}

/// What comes to element *n, c, i, j* of images, or to any element.
#[derive(Clone, Copy)]
pub(crate) enum Task<T> {
    /// *n, c, w, p*: what element *w* of the window meets at place *p* of the image, and zero where that is padding.
    Unfold(Place<T>, [Slide; 2]),
    /// The sum of all that [`Unfold`](Task::Unfold) takes from the element, out of what that has made.
    Fold(Place<T>, [Slide; 2]),
    /// What is pooled of the window at place *i, j*.
    Pool(Pool, Place<T>, [Slide; 2]),
    /// What comes to the element from the gradient of what was pooled, the first place, out of the second.
    PullPool(Pool, Place<T>, Place<T>, [Slide; 2]),
    /// The element of an array of the same shape times the factor, or zero where a random number is less than the rate.
    Drop { from: Place<T>, factor: T, rate: T, seed: u64, draw: u64 },
    /// Zero, but −∞ for a column above the diagonal that ends in the last corner.
    Causal,
}

/// What a window is reduced to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pool {
    Mean,
    Max,
}

impl LayerMemory for Host {
    type Plan = ();

    #[allow(private_interfaces, reason = "nobody else implements it")]
    unsafe fn each<T: Real + MatrixScalar>(&self, to: Place<T>, adds: bool, task: Task<T>) {
        let mut random = match task {
            Task::Drop { seed, draw, .. } => Some(uniforms::<T>(seed, draw)),
            _ => None,
        };
        let store = |at: [usize; MOST_AXES], value: T| {
            // SAFETY: as the caller guarantees.
            unsafe {
                let element = element(to, at);
                *element = if adds { *element + value } else { value };
            }
        };
        let [n, c, i, j, k, l] = to.lengths;
        for at in ndarray::indices((n * c, i * j, k * l)) {
            let ([nc, ij, kl], of) = ([at.0, at.1, at.2], |place, at| {
                // SAFETY: as the caller guarantees.
                unsafe { *element::<T>(place, at) }
            });
            let at = [nc / c, nc % c, ij / j, ij % j, kl / l, kl % l];
            let value = match task {
                Task::Unfold(image, slides) => unfold(at, slides, |at| of(image, at)),
                Task::Fold(rows, slides) => fold(at, slides, |at| of(rows, at)),
                Task::Pool(pool, x, slides) => pooled(pool, at, slides, |at| of(x, at)).0,
                Task::PullPool(pool, dy, x, slides) => {
                    pull_pool(pool, at, slides, |at| of(dy, at), |at| of(x, at))
                }
                Task::Drop { from, factor, rate, .. } => {
                    let u = random.as_mut().and_then(Iterator::next).expect("there is no end of them");
                    if u < rate { <T as Real>::of(0.0) } else { of(from, at) * factor }
                }
                Task::Causal => <T as Real>::of(if at[1] + to.lengths[0] > at[0] + to.lengths[1] {
                    f64::NEG_INFINITY
                } else {
                    0.0
                }),
            };
            store(at, value);
        }
    }
}

fn element<T>(place: Place<T>, at: [usize; MOST_AXES]) -> *mut T {
    let offset: isize = at.iter().zip(place.strides).map(|(i, stride)| *i as isize * stride).sum();
    place.start.wrapping_offset(offset)
}

type At = [usize; MOST_AXES];

fn unfold<T: Real>([n, c, w, p, ..]: At, [down, across]: [Slide; 2], of: impl Fn(At) -> T) -> T {
    let (rows, columns) = (
        down.meets(p / across.places(), w / across.window),
        across.meets(p % across.places(), w % across.window),
    );
    match (rows, columns) {
        (Some(i), Some(j)) => of([n, c, i, j, 0, 0]),
        _ => T::of(0.0),
    }
}

fn fold<T: Real>([n, c, i, j, ..]: At, [down, across]: [Slide; 2], of: impl Fn(At) -> T) -> T {
    let mut total = T::of(0.0);
    for a in 0..down.window {
        let Some(place_down) = down.place(i, a) else { continue };
        for b in 0..across.window {
            let Some(place_across) = across.place(j, b) else { continue };
            let p = place_down * across.places() + place_across;
            total += of([n, c, a * across.window + b, p, 0, 0]);
        }
    }
    total
}

/// What the window at place *i, j* is reduced to, and for the largest element where that is.
fn pooled<T: Real>(
    pool: Pool,
    [n, c, i, j, ..]: At,
    [down, across]: [Slide; 2],
    of: impl Fn(At) -> T,
) -> (T, [usize; 2]) {
    let (rows, columns) = (down.covers(i), across.covers(j));
    let mut at = [rows.start, columns.start];
    let mut value = match pool {
        Pool::Mean => T::of(0.0),
        Pool::Max => of([n, c, rows.start, columns.start, 0, 0]),
    };
    for a in rows {
        for b in columns.clone() {
            let x = of([n, c, a, b, 0, 0]);
            match pool {
                Pool::Mean => value += x,
                Pool::Max if x > value || is_nan(x) && !is_nan(value) => (value, at) = (x, [a, b]),
                Pool::Max => {}
            }
        }
    }
    match pool {
        Pool::Mean => (value / T::of((down.window * across.window) as f64), at),
        Pool::Max => (value, at),
    }
}

#[allow(clippy::eq_op, reason = "it is what makes it one")]
fn is_nan<T: Real>(x: T) -> bool {
    x != x
}

fn pull_pool<T: Real>(
    pool: Pool,
    [n, c, i, j, ..]: At,
    slides: [Slide; 2],
    dy: impl Fn(At) -> T,
    x: impl Fn(At) -> T,
) -> T {
    let [down, across] = slides;
    let mut total = T::of(0.0);
    for a in 0..down.window {
        let Some(place_down) = down.place(i, a) else { continue };
        for b in 0..across.window {
            let Some(place_across) = across.place(j, b) else { continue };
            let place = [n, c, place_down, place_across, 0, 0];
            total = match pool {
                Pool::Mean => total + dy(place) / T::of((down.window * across.window) as f64),
                Pool::Max if pooled(pool, place, slides, &x).1 == [i, j] => total + dy(place),
                Pool::Max => total,
            };
        }
    }
    total
}
