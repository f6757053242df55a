//! Averages and largest elements of windows, in any memory.

use super::Images;
use super::memory::{LayerMemory, Pool, Task};
use super::places::{planes, shadow, target};
use crate::fused::{Old, Real};
use crate::nn::Pooling;
use crate::nn::pooling::slides;
use crate::{Dual, DualMut, MatrixScalar, Rule};

macro_rules! pooling {
    ($($name:ident = $Rule:ident: $N:literal, $pool:ident;)*) => {$(
        #[doc = concat!("[`nn::", stringify!($name), "`](fn@crate::nn::", stringify!($name), ") for arrays in any memory.")]
        ///
        /// # Gradient
        #[doc = concat!("That of [`nn::", stringify!($name), "`](fn@crate::nn::", stringify!($name), "); which element is the largest, the pullback finds out again.")]
        ///
        /// # Panics
        /// As that function, or if a device fails.
        pub fn $name<T: Real + MatrixScalar, A: Images<T, $N>>(y: &mut A, x: &A, options: Pooling<$N>) {
            let slides = slides(stringify!($name), planes(y.source().place).lengths(), planes(x.source().place).lengths(), options);
            if y.lengths().iter().all(|n| *n > 0) {
                let met = slides.iter().all(|slide| (0..slide.places()).all(|place| !slide.covers(place).is_empty()));
                assert!(Pool::$pool == Pool::Mean || met, "{}: the window holds nothing but padding", stringify!($name));
            }
            let (memory, x) = (y.memory(), planes(x.source().place));
            // SAFETY: `y` is borrowed uniquely, and the shapes fit.
            unsafe { memory.each(planes(target(y)), false, Task::Pool(Pool::$pool, x, slides)) }
        }

        #[derive(Rule)]
        #[rule(pub fn $name<T: Real + MatrixScalar, A: Images<T, $N>>(y: &mut A, x: &A, #[constant] options: Pooling<$N>))]
        struct $Rule<T: Real + MatrixScalar, A: Images<T, $N>> {
            #[rule(restores = y)]
            old: Old<T, A>,
        }

        impl<T: Real + MatrixScalar, A: Images<T, $N>> Default for $Rule<T, A> {
            fn default() -> Self {
                $Rule { old: Old::default() }
            }
        }

        impl<T: Real + MatrixScalar, A: Images<T, $N>> $Rule<T, A> {
            fn forward(&mut self, y: &mut A, x: &A, options: Pooling<$N>) {
                self.old.save(y);
                $name(y, x, options);
            }

            fn pullback(&mut self, y: DualMut<'_, A>, x: Dual<'_, A>, options: Pooling<$N>) {
                self.old.restore(y.value);
                let Some(dy) = y.shadow.get() else { return };
                if let Some(dx) = x.shadow.get() {
                    let (of_dy, of_dx) = (planes(shadow::<T, A>(&dy)), planes(shadow::<T, A>(&dx)));
                    let slides = slides(stringify!($name), of_dy.lengths(), of_dx.lengths(), options);
                    let task = Task::PullPool(Pool::$pool, of_dy, planes(x.value.source().place), slides);
                    // SAFETY: no shadow overlaps a primal, and that of y none of the others.
                    unsafe { y.value.memory().each(of_dx, true, task) }
                }
                A::clear_shadow(&dy);
            }
        }
    )*};
}
pooling! {
    avg_pool1d = AvgPool1d: 1, Mean;
    avg_pool2d = AvgPool2d: 2, Mean;
    max_pool1d = MaxPool1d: 1, Max;
    max_pool2d = MaxPool2d: 2, Max;
}
