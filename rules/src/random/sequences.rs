//! Sequences of random numbers, made of the words of [`philox`].

use super::philox::philox;
use crate::MatrixScalar;
use crate::linalg::Number;

/// The words of one draw.
struct Words {
    key: [u32; 2],
    draw: [u32; 2],
    block: u64,
    words: [u32; 4],
    used: usize,
}

const fn halves(x: u64) -> [u32; 2] {
    [x as u32, (x >> 32) as u32]
}

impl Words {
    const fn new(seed: u64, draw: u64) -> Self {
        Words { key: halves(seed), draw: halves(draw), block: 0, words: [0; 4], used: 4 }
    }

    #[inline]
    fn next(&mut self) -> u32 {
        if self.used == self.words.len() {
            let [low, high] = halves(self.block);
            self.words = philox([low, high, self.draw[0], self.draw[1]], self.key);
            self.block += 1;
            self.used = 0;
        }
        self.used += 1;
        self.words[self.used - 1]
    }

    /// A multiple of 2⁻²⁴ or 2⁻⁵³, whichever `T` has below 1, from 0 to less than 1. Each takes one word or two.
    #[inline]
    fn fraction<T: MatrixScalar>(&mut self) -> T {
        if size_of::<T>() == size_of::<u32>() {
            return T::of(f64::from(self.next() >> 8) / (1_u32 << 24) as f64);
        }
        let [low, high] = [self.next(), self.next()].map(u64::from);
        T::of(((high << 32 | low) >> 11) as f64 / (1_u64 << 53) as f64)
    }
}

/// Uniformly distributed numbers from 0 to less than 1.
pub(crate) fn uniforms<T: MatrixScalar>(seed: u64, draw: u64) -> impl Iterator<Item = T> {
    let mut words = Words::new(seed, draw);
    std::iter::repeat_with(move || words.fraction())
}

/// Numbers of the standard normal distribution, in pairs (Box and Muller, *A note on the generation of random normal deviates*, 1958).
pub(crate) fn normals<T: Number>(seed: u64, draw: u64) -> impl Iterator<Item = T> {
    let mut words = Words::new(seed, draw);
    std::iter::repeat_with(move || {
        // Not the logarithm of 0.
        let radius = (-T::of(2.0) * (T::ONE - words.fraction::<T>()).ln()).sqrt();
        let (sin, cos) = (T::TAU * words.fraction::<T>()).sin_cos();
        [radius * cos, radius * sin]
    })
    .flatten()
}
