//! Elements that are left out at random, in any memory.

use super::places::{inner_product, shadow, target};
use super::{LayerMemory, memory::Task};
use crate::fused::{Array, Memory, Old, Real};
use crate::{Dual, DualMut, MatrixScalar, Rule};

/// [`nn::dropout`](fn@crate::nn::dropout) for arrays in any memory, with the same random numbers.
///
/// ```
/// use ndarray::Array1;
/// use pullback_rules::nn;
///
/// let (x, mut y, mut same) = (Array1::ones(1000), Array1::zeros(1000), Array1::zeros(1000));
/// nn::generic::dropout(&mut y, &x, 0.75, 42, 0);
/// nn::dropout(&mut same, &x, 0.75, 42, 0);
/// assert_eq!(y, same);
/// ```
///
/// # Gradient
/// That of [`nn::dropout`](fn@crate::nn::dropout). With respect to the rate it is a number of the host's: a device is waited for unless the rate is constant.
///
/// # Panics
/// If the shapes differ, or the rate is not between 0 and 1.
pub fn dropout<T: Real + MatrixScalar, A: Array<T, Memory: LayerMemory>>(
    y: &mut A,
    x: &A,
    rate: T,
    seed: u64,
    draw: u64,
) {
    let (found, shape) = (y.lengths(), x.lengths());
    assert!(found == shape, "dropout: the result has the shape {shape:?}, what it is written to {found:?}");
    assert!((T::ZERO..=T::ONE).contains(&rate), "dropout: the rate is no probability");
    let memory = y.memory();
    let task = Task::Drop { from: x.source().place, factor: T::ONE / (T::ONE - rate), rate, seed, draw };
    // SAFETY: `y` is borrowed uniquely, and of the same shape.
    unsafe { memory.each(target(y), false, task) }
}

#[derive(Rule)]
#[rule(pub fn dropout<T: Real + MatrixScalar, A: Array<T, Memory: LayerMemory>>(y: &mut A, x: &A, rate: T, seed: u64, draw: u64))]
struct Dropout<T: Real + MatrixScalar, A: Array<T, Memory: LayerMemory>> {
    #[rule(restores = y)]
    old: Old<T, A>,
    #[rule(constant = rate)]
    rate_is_constant: bool,
    gradient: <A::Memory as Memory>::Kept<T>,
}

impl<T: Real + MatrixScalar, A: Array<T, Memory: LayerMemory>> Default for Dropout<T, A> {
    fn default() -> Self {
        Dropout { old: Old::default(), rate_is_constant: false, gradient: Default::default() }
    }
}

impl<T: Real + MatrixScalar, A: Array<T, Memory: LayerMemory>> Dropout<T, A> {
    fn forward(&mut self, y: &mut A, x: &A, rate: T, seed: u64, draw: u64) {
        self.old.save(y);
        dropout(y, x, rate, seed, draw);
    }

    fn pullback(&mut self, y: DualMut<'_, A>, x: Dual<'_, A>, rate: T, seed: u64, draw: u64) -> T {
        self.old.restore(y.value);
        let Some(dy) = y.shadow.get() else { return T::ZERO };
        let (memory, factor) = (y.value.memory(), T::ONE / (T::ONE - rate));
        let task = Task::Drop { from: shadow::<T, A>(&dy), factor, rate, seed, draw };
        let mut drate = T::ZERO;
        // SAFETY: no shadow overlaps a primal, and that of y none of the others; what is kept is nobody else's.
        unsafe {
            if let Some(dx) = x.shadow.get() {
                memory.each(shadow::<T, A>(&dx), true, task);
            }
            if !self.rate_is_constant {
                let gradient = memory.room(&mut self.gradient, x.value.lengths());
                memory.each(gradient, false, task);
                let dfactor = inner_product(&memory, x.value.source().place, gradient);
                drate = if dfactor == T::ZERO { T::ZERO } else { dfactor * factor };
            }
        }
        A::clear_shadow(&dy);
        drate
    }
}
