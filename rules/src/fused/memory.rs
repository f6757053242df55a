//! Where arrays are: what is the same for ndarray's and for those on a device.

use ndarray::{Array as Owned, ArrayRef};

use super::call::{Job, clear};
use super::operand::Place;
use super::{Kernel, Rank, Real, Sink, Source};
use crate::heap::{HeapSize, heap_size};
use crate::saved::Saved;
use crate::shadow::{Differentiable, Shadow};

/// An array of `f32` or `f64`, whatever its rank and wherever it is: ndarray's [`Array`](ndarray::Array), or one of a CUDA device with
/// the feature `cuda`.
///
/// A function that is generic over it runs on either: it may call fused functions that are declared with `<A>`, see
/// [`fused!`](macro@pullback_macros::fused), and [`product`](fn@crate::product). Arrays of one call are in one memory: of two
/// parameters, the second one is `B: Array<f64, Memory = A::Memory>`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no array of `{T}`",
    note = "the arrays of generic functions are ndarray's `Array`, and those of a CUDA device; on dual numbers all arrays of a call consist of such, but \
            functions of `nn`, and `fused!` without `<A>`, take constants"
)]
pub trait Array<T: Real>: Differentiable + 'static {
    /// Where the elements are: [`Host`], or a CUDA device.
    type Memory: Memory;
    /// A copy of the elements.
    #[doc(hidden)]
    type Copy: Default + Send + HeapSize;

    /// Where these elements are.
    fn memory(&self) -> Self::Memory;
    /// The lengths of the axes.
    fn lengths(&self) -> &[usize];
    #[doc(hidden)]
    fn source(&self) -> Source<'_, T>;
    #[doc(hidden)]
    fn sink(&mut self) -> Sink<'_, T>;
    #[doc(hidden)]
    fn shadow_source<'a>(shadow: &Self::Shadow<'a>) -> Source<'a, T>;
    #[doc(hidden)]
    fn shadow_sink<'a>(shadow: Option<Self::Shadow<'a>>, adds: bool) -> Sink<'a, T>;
    #[doc(hidden)]
    fn clear_shadow(shadow: &Self::Shadow<'_>);
    #[doc(hidden)]
    fn save(&self, copy: &mut Self::Copy);
    #[doc(hidden)]
    fn restore(&mut self, copy: &mut Self::Copy);
    #[doc(hidden)]
    fn forgo(copy: &mut Self::Copy);
}

/// A memory that arrays are in.
pub trait Memory: Clone + 'static {
    /// Memory for numbers: what a fused function keeps of each row.
    #[doc(hidden)]
    type Kept<T: Real>: Default + Send + HeapSize;

    /// Memory for an array of these lengths, by rows and without gaps, with whatever in it.
    #[doc(hidden)]
    #[allow(private_interfaces, reason = "nobody else implements it")]
    fn room<T: Real>(&self, kept: &mut Self::Kept<T>, lengths: &[usize]) -> Place<T>;

    #[doc(hidden)]
    fn run<L, const R: usize, const K: usize, T: Real, const I: usize, const O: usize>(
        &self,
        job: Job<'_, T, Self::Kept<T>, I, O>,
    ) where
        L: FusedKernel<T, I, O, R>;
}

/// The memory of the computer, in which ndarray's arrays are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Host;

/// A kernel in all forms that there are memories.
#[cfg(not(feature = "cuda"))]
pub trait FusedKernel<T: Real, const I: usize, const O: usize, const R: usize>: Kernel<T, I, O, R> {}
#[cfg(not(feature = "cuda"))]
impl<L: Kernel<T, I, O, R>, T: Real, const I: usize, const O: usize, const R: usize> FusedKernel<T, I, O, R>
    for L
{
}

/// A kernel in all forms that there are memories.
#[cfg(feature = "cuda")]
pub trait FusedKernel<T: Real, const I: usize, const O: usize, const R: usize>:
    Kernel<T, I, O, R> + super::DeviceKernel
{
}
#[cfg(feature = "cuda")]
impl<L: Kernel<T, I, O, R> + super::DeviceKernel, T: Real, const I: usize, const O: usize, const R: usize>
    FusedKernel<T, I, O, R> for L
{
}

/// What the result of a fused function held before the call.
pub struct Old<T: Real, A: Array<T> + ?Sized>(A::Copy);

heap_size! { [T: Real, A: Array<T> + ?Sized] Old<T, A> { 0 } }

impl<T: Real, A: Array<T> + ?Sized> Default for Old<T, A> {
    fn default() -> Self {
        Old(Default::default())
    }
}

impl<T: Real, A: Array<T> + ?Sized> Old<T, A> {
    /// Saves what `array` holds, unless that is forgone.
    pub fn save(&mut self, array: &A) {
        array.save(&mut self.0);
    }

    /// Brings it back.
    pub fn restore(&mut self, array: &mut A) {
        array.restore(&mut self.0);
    }

    /// Nobody is going to look at it.
    pub fn forgo(&mut self) {
        A::forgo(&mut self.0);
    }
}

macro_rules! host {
    ($array:ty) => {
        impl<T: Real, D: Rank> Array<T> for $array {
            type Memory = Host;
            type Copy = Saved<T>;

            fn memory(&self) -> Host {
                Host
            }
            fn lengths(&self) -> &[usize] {
                self.shape()
            }
            fn source(&self) -> Source<'_, T> {
                Source::array(self)
            }
            fn sink(&mut self) -> Sink<'_, T> {
                Sink::array(self)
            }
            fn shadow_source<'a>(shadow: &Self::Shadow<'a>) -> Source<'a, T> {
                Source::cells(shadow)
            }
            fn shadow_sink<'a>(shadow: Option<Self::Shadow<'a>>, adds: bool) -> Sink<'a, T> {
                match shadow {
                    Some(cells) if !adds => Sink::cells(&cells),
                    shadow => Sink::shadow(shadow.map_or_else(Shadow::default, Shadow::new), false),
                }
            }
            fn clear_shadow(shadow: &Self::Shadow<'_>) {
                clear(shadow);
            }
            fn save(&self, copy: &mut Saved<T>) {
                copy.save_to_restore::<ArrayRef<T, D>>(self);
            }
            fn restore(&mut self, copy: &mut Saved<T>) {
                copy.restore::<ArrayRef<T, D>>(self);
            }
            fn forgo(copy: &mut Saved<T>) {
                copy.forgo();
            }
        }
    };
}
host!(ArrayRef<T, D>);
host!(Owned<T, D>);

/// Hands on code that is about devices, where there may be some.
#[doc(hidden)]
#[macro_export]
#[cfg(feature = "cuda")]
macro_rules! with_cuda {
    ($($code:tt)*) => { $($code)* };
}

/// Drops code that is about devices, as there are none.
#[doc(hidden)]
#[macro_export]
#[cfg(not(feature = "cuda"))]
macro_rules! with_cuda {
    ($($code:tt)*) => {};
}
