//! Elements that are left out at random.

use std::marker::PhantomData;

use ndarray::{Array2, ArrayRef};

use super::cases::{Case, LAYOUTS, Random};
use crate::activation::{Dual, DualMut};
use crate::arrays::Rank;
use crate::linalg::Number;
use crate::random::uniforms;
use crate::saved::Saved;
use crate::shadow::Accumulate;

/// *yᵢ = xᵢ/(1 − p)*, or 0 with the probability *p*, the `rate`: where *uᵢ < p* for numbers *uᵢ* that are uniformly distributed from 0 to 1, a
/// function of `seed` and `draw` as described in [`random`](crate::random).
///
/// ```
/// use ndarray::Array1;
/// use pullback_rules::nn::dropout;
///
/// let (x, mut y) = (Array1::ones(1000), Array1::zeros(1000));
/// dropout(&mut y, &x, 0.75, 42, 0);
/// let left = y.iter().filter(|y| **y == 4.0).count();
/// assert!((200..300).contains(&left) && y.iter().all(|y| *y == 0.0 || *y == 4.0));
/// ```
///
/// # Gradient
/// *ẋᵢ += ẏᵢ/(1 − p)* where *uᵢ ≥ p*, then *ẏ ← 0* (Srivastava et al., *Dropout: a simple way to prevent neural networks from overfitting*, 2014), and
/// *ṗ = Σ xᵢ·ẏᵢ/(1 − p)²* over these: that of the elements that are there, not of how many are. The *uᵢ* are made again.
///
/// # Panics
/// If the shapes differ, or the rate is not between 0 and 1.
pub fn dropout<T: Number, D: Rank>(
    y: &mut ArrayRef<T, D>,
    x: &ArrayRef<T, D>,
    rate: T,
    seed: u64,
    draw: u64,
) {
    let (found, shape) = (y.shape(), x.shape());
    assert!(found == shape, "dropout: the result has the shape {shape:?}, what it is written to {found:?}");
    assert!((T::ZERO..=T::ONE).contains(&rate), "dropout: {rate} is no probability");
    let factor = T::ONE / (T::ONE - rate);
    for ((y, &x), u) in y.iter_mut().zip(x).zip(uniforms::<T>(seed, draw)) {
        *y = if u < rate { T::ZERO } else { x * factor };
    }
}

#[derive(pullback_macros::Rule)]
#[rule(pub fn dropout<T: Number, D: Rank>(y: &mut ArrayRef<T, D>, x: &ArrayRef<T, D>, rate: T, seed: u64, draw: u64))]
struct Dropout<T: Number, D: Rank> {
    #[rule(restores = y)]
    old: Saved<T>,
    dimension: PhantomData<D>,
}

impl<T: Number, D: Rank> Default for Dropout<T, D> {
    fn default() -> Self {
        Dropout { old: Saved::default(), dimension: PhantomData }
    }
}

impl<T: Number, D: Rank> Dropout<T, D> {
    fn forward(&mut self, y: &mut ArrayRef<T, D>, x: &ArrayRef<T, D>, rate: T, seed: u64, draw: u64) {
        self.old.save_to_restore(y);
        dropout(y, x, rate, seed, draw);
    }

    fn pullback(
        &mut self,
        y: DualMut<'_, ArrayRef<T, D>>,
        x: Dual<'_, ArrayRef<T, D>>,
        rate: T,
        seed: u64,
        draw: u64,
    ) -> T {
        self.old.restore(y.value);
        let Some(dy) = y.shadow.get() else { return T::ZERO };
        let factor = T::ONE / (T::ONE - rate);
        let mut dfactor = T::ZERO;
        for ((dy, &x), u) in dy.iter().zip(x.value).zip(uniforms::<T>(seed, draw)) {
            let d = dy.get();
            if u < rate {
                dy.set(T::ZERO);
            } else {
                dfactor += x * d;
                dy.set(factor * d);
            }
        }
        if let Some(dx) = x.shadow.get() {
            dx.iter().zip(&dy).for_each(|(dx, dy)| dx.accumulate(dy.get()));
        }
        dy.for_each(|cell| cell.set(T::ZERO));
        if dfactor.is_zero() { T::ZERO } else { dfactor * factor * factor }
    }
}

/// What `dropout` is tested on. No random number is so near to the rate that differences would find it on the other side.
#[allow(clippy::type_complexity, reason = "the arguments of dropout")]
pub fn dropout_case<T: Number>() -> Case<(Array2<T>, Array2<T>, T, u64, u64)> {
    let random = &mut Random::new();
    let shapes = [(3, 5), (1, 1), (0, 4), (4, 3), (7, 2)];
    let inputs = shapes.into_iter().zip([0.3, 0.1, 0.5, 0.9, 0.62]).enumerate().map(|(i, ((n, m), rate))| {
        let (y, x) = (random.matrix((n, m), LAYOUTS[i % 4]), random.matrix((n, m), LAYOUTS[(i + 1) % 4]));
        (y, x, T::of(rate), 42 << (8 * i), i as u64 + 7)
    });
    let inputs = inputs.collect();
    let mut misfit = |(n, m), rate| {
        (random.matrix((2, 2), LAYOUTS[0]), random.matrix((n, m), LAYOUTS[0]), T::of(rate), 1, 1)
    };
    let panicking = vec![misfit((2, 1), 0.5), misfit((2, 2), 1.5), misfit((2, 2), f64::NAN)];
    Case { inputs, panicking }
}
