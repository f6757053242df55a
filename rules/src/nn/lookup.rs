//! Rows of a table, by their indices.

use ndarray::{Array2, ArrayRef2, Zip};

use super::cases::{Case, LAYOUTS, Random};
use crate::activation::{Dual, DualMut};
use crate::linalg::Number;
use crate::saved::Saved;
use crate::shadow::Accumulate;

/// Row *i* of *y* becomes row *kᵢ* of the table, for the index *kᵢ* of each *i*. *y* has as many rows as there are indices.
///
/// ```
/// use ndarray::{Array2, array};
/// use pullback_rules::nn::embedding;
///
/// let table = array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]];
/// let mut y = Array2::zeros((3, 2));
/// embedding(&mut y, &table, &[2, 0, 2]);
/// assert_eq!(y, array![[5.0, 6.0], [1.0, 2.0], [5.0, 6.0]]);
/// ```
///
/// # Gradient
/// Row *i* of *ẏ* is added to row *kᵢ* of the table's, for each *i*; then *ẏ ← 0*.
///
/// # Panics
/// If the shapes do not fit, or there is no such row.
pub fn embedding<T: Number>(y: &mut ArrayRef2<T>, table: &ArrayRef2<T>, indices: &[usize]) {
    let (shape, found) = ((indices.len(), table.ncols()), y.dim());
    assert!(found == shape, "embedding: the result has the shape {shape:?}, what it is written to {found:?}");
    for (mut y, &index) in y.rows_mut().into_iter().zip(indices) {
        assert!(index < table.nrows(), "embedding: there is no row {index} among {}", table.nrows());
        y.assign(&table.row(index));
    }
}

#[derive(Default, pullback_macros::Rule)]
#[rule(pub fn embedding<T: Number>(y: &mut ArrayRef2<T>, table: &ArrayRef2<T>, #[constant] indices: &[usize]))]
struct Embedding<T: Number> {
    #[rule(restores = y)]
    old: Saved<T>,
}

impl<T: Number> Embedding<T> {
    fn forward(&mut self, y: &mut ArrayRef2<T>, table: &ArrayRef2<T>, indices: &[usize]) {
        self.old.save_to_restore(y);
        embedding(y, table, indices);
    }

    fn pullback(&mut self, y: DualMut<'_, ArrayRef2<T>>, table: Dual<'_, ArrayRef2<T>>, indices: &[usize]) {
        self.old.restore(y.value);
        let Some(dy) = y.shadow.get() else { return };
        if let Some(dtable) = table.shadow.get() {
            for (dy, &index) in dy.rows().into_iter().zip(indices) {
                Zip::from(dtable.row(index)).and(dy).for_each(|cell, dy| cell.accumulate(dy.get()));
            }
        }
        dy.for_each(|cell| cell.set(T::ZERO));
    }
}

/// What `embedding` is tested on.
pub fn embedding_case<T: Number>() -> Case<(Array2<T>, Array2<T>, Vec<usize>)> {
    let random = &mut Random::new();
    let tables = [
        ((4, 3), vec![1, 3, 1, 0, 1]),
        ((1, 1), vec![0]),
        ((3, 5), vec![]),
        ((2, 0), vec![1, 1]),
        ((0, 2), vec![]),
        ((7, 2), vec![6, 5, 4, 6, 0, 0, 1]),
    ];
    let inputs = tables.into_iter().enumerate().map(|(i, (shape, indices))| {
        let y = random.matrix((indices.len(), shape.1), LAYOUTS[i % 4]);
        (y, random.matrix(shape, LAYOUTS[(i + 1) % 4]), indices)
    });
    let inputs = inputs.collect();
    let mut misfit =
        |shape, indices| (random.matrix(shape, LAYOUTS[0]), random.matrix((2, 3), LAYOUTS[0]), indices);
    let panicking = vec![misfit((1, 3), vec![2]), misfit((1, 2), vec![0]), misfit((1, 3), vec![0, 1])];
    Case { inputs, panicking }
}
