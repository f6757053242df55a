//! Arrays of random numbers.

use std::marker::PhantomData;

use ndarray::{ArrayRef, ArrayView};

use super::sequences::{normals, uniforms};
use crate::activation::{Dual, DualMut};
use crate::arrays::Rank;
use crate::linalg::Number;
use crate::saved::Saved;
use crate::shadow::Accumulate;

/// *yᵢ = l + (h − l)·uᵢ*, where *uᵢ* is uniformly distributed from 0 to less than 1; a multiple of 2⁻²⁴ for `f32`, of 2⁻⁵³ for `f64`.
///
/// ```
/// use ndarray::Array1;
/// use pullback_rules::random;
///
/// let (mut x, mut y) = (Array1::zeros(100), Array1::zeros(100));
/// random::uniform(&mut x, -1.0, 2.0, 42, 0);
/// random::uniform(&mut y, -1.0, 2.0, 42, 0);
/// assert!(x == y && x.iter().all(|x| (-1.0..2.0).contains(x)));
/// random::uniform(&mut y, -1.0, 2.0, 42, 1);
/// assert!(x.iter().zip(&y).all(|(x, y)| x != y));
/// ```
///
/// # Gradient
/// *l̇ = Σ (1 − uᵢ)·ẏᵢ*, *ḣ = Σ uᵢ·ẏᵢ*, then *ẏ ← 0* (Kingma and Welling, *Auto-encoding variational Bayes*, 2014). The *uᵢ* are made again.
pub fn uniform<T: Number, D: Rank>(y: &mut ArrayRef<T, D>, low: T, high: T, seed: u64, draw: u64) {
    y.iter_mut().zip(uniforms(seed, draw)).for_each(|(y, u): (_, T)| *y = low + (high - low) * u);
}

#[derive(pullback_macros::Rule, Default)]
#[rule(pub fn uniform<T: Number, D: Rank>(y: &mut ArrayRef<T, D>, low: T, high: T, seed: u64, draw: u64))]
struct Uniform<T: Number, D: Rank> {
    #[rule(restores = y)]
    old: Saved<T>,
    dimension: PhantomData<D>,
}

impl<T: Number, D: Rank> Uniform<T, D> {
    fn forward(&mut self, y: &mut ArrayRef<T, D>, low: T, high: T, seed: u64, draw: u64) {
        self.old.save_to_restore(y);
        uniform(y, low, high, seed, draw);
    }

    fn pullback(&mut self, y: DualMut<'_, ArrayRef<T, D>>, _: T, _: T, seed: u64, draw: u64) -> (T, T) {
        self.old.restore(y.value);
        let (mut dlow, mut dhigh) = (T::ZERO, T::ZERO);
        for (dy, u) in y.shadow.get().iter().flatten().zip(uniforms::<T>(seed, draw)) {
            let d = dy.replace(T::ZERO);
            dlow += (T::ONE - u) * d;
            dhigh += u * d;
        }
        (dlow, dhigh)
    }
}

/// *yᵢ = μᵢ + σᵢ·εᵢ*, where *εᵢ* is of the standard normal distribution; means and deviations are broadcast to the shape of *y*.
///
/// ```
/// use ndarray::{Array2, array};
/// use pullback_rules::random;
///
/// let mut y = Array2::<f64>::zeros((10_000, 2));
/// random::normal(&mut y, &array![1.0, -3.0], &array![0.5], 42, 0);
/// assert!((y.column(1).mean().unwrap() + 3.0).abs() < 0.02 && (y.column(0).std(1.0) - 0.5_f64).abs() < 0.02);
/// ```
///
/// # Gradient
/// *μ̇ᵢ += ẏᵢ*, *σ̇ᵢ += εᵢ·ẏᵢ*, then *ẏ ← 0* (Kingma and Welling, *Auto-encoding variational Bayes*, 2014). The *εᵢ* are made again.
///
/// # Panics
/// If means or deviations cannot be broadcast.
pub fn normal<T: Number, D: Rank, M: Rank, S: Rank>(
    y: &mut ArrayRef<T, D>,
    mean: &ArrayRef<T, M>,
    deviation: &ArrayRef<T, S>,
    seed: u64,
    draw: u64,
) {
    let shape = y.raw_dim();
    let (mean, deviation) = (stretched(mean, &shape), stretched(deviation, &shape));
    let moments = mean.iter().zip(deviation.iter());
    for ((y, (&mean, &deviation)), e) in y.iter_mut().zip(moments).zip(normals::<T>(seed, draw)) {
        *y = mean + deviation * e;
    }
}

/// `x` as an array of this shape.
fn stretched<'a, T, D: Rank, E: Rank>(x: &'a ArrayRef<T, E>, shape: &D) -> ArrayView<'a, T, D> {
    let found = x.shape();
    x.broadcast(*shape)
        .unwrap_or_else(|| panic!("normal: {found:?} cannot be broadcast to {:?}", shape.slice()))
}

#[derive(pullback_macros::Rule, Default)]
#[rule(pub fn normal<T: Number, D: Rank, M: Rank, S: Rank>(
    y: &mut ArrayRef<T, D>,
    mean: &ArrayRef<T, M>,
    deviation: &ArrayRef<T, S>,
    seed: u64,
    draw: u64,
))]
struct Normal<T: Number, D: Rank, M: Rank, S: Rank> {
    #[rule(restores = y)]
    old: Saved<T>,
    dimensions: PhantomData<(D, M, S)>,
}

impl<T: Number, D: Rank, M: Rank, S: Rank> Normal<T, D, M, S> {
    fn forward(
        &mut self,
        y: &mut ArrayRef<T, D>,
        mean: &ArrayRef<T, M>,
        deviation: &ArrayRef<T, S>,
        seed: u64,
        draw: u64,
    ) {
        self.old.save_to_restore(y);
        normal(y, mean, deviation, seed, draw);
    }

    fn pullback(
        &mut self,
        y: DualMut<'_, ArrayRef<T, D>>,
        mean: Dual<'_, ArrayRef<T, M>>,
        deviation: Dual<'_, ArrayRef<T, S>>,
        seed: u64,
        draw: u64,
    ) {
        self.old.restore(y.value);
        let Some(dy) = y.shadow.get() else { return };
        let shape = dy.raw_dim();
        if let Some(dmean) = mean.shadow.get() {
            dy.iter().zip(&stretched(&dmean, &shape)).for_each(|(dy, cell)| cell.accumulate(dy.get()));
        }
        if let Some(ddeviation) = deviation.shadow.get() {
            let cells = stretched(&ddeviation, &shape);
            for ((dy, cell), e) in dy.iter().zip(&cells).zip(normals::<T>(seed, draw)) {
                cell.accumulate(e * dy.get());
            }
        }
        dy.for_each(|cell| cell.set(T::ZERO));
    }
}
