//! A matrix that is computed anew in each call.

use ndarray::ArrayView2;
use pullback_rules::HeapSize;

/// A matrix that keeps its memory when its size changes.
#[derive(Default)]
pub(crate) struct Matrix {
    entries: Vec<f64>,
    shape: (usize, usize),
}

impl Matrix {
    /// Sets the size. The entries are what they happen to be.
    pub(crate) fn resize(&mut self, rows: usize, columns: usize) {
        self.shape = (rows, columns);
        self.entries.resize(rows * columns, 0.0);
    }

    /// The row number `index`.
    pub(crate) fn row(&mut self, index: usize) -> &mut [f64] {
        let columns = self.shape.1;
        &mut self.entries[index * columns..(index + 1) * columns]
    }

    /// The bytes of the heap that it owns.
    pub(crate) fn memory(&self) -> usize {
        self.entries.heap_size()
    }

    /// All of it.
    pub(crate) fn view(&self) -> ArrayView2<'_, f64> {
        ArrayView2::from_shape(self.shape, &self.entries).expect("as long as the shape tells")
    }
}
