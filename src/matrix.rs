//! A matrix that is computed anew in each call.

use ndarray::{Array2, ArrayView2};

/// A matrix that keeps its memory when its size changes.
#[derive(Default)]
pub struct Matrix {
    entries: Array2<f64>,
    /// How many entries there is memory for.
    capacity: usize,
}

impl Matrix {
    /// Sets the size. The entries are what they happen to be.
    #[inline]
    pub(crate) fn resize(&mut self, rows: usize, columns: usize) {
        if self.entries.dim() != (rows, columns) {
            self.reshape(rows, columns);
        }
    }

    #[cold]
    fn reshape(&mut self, rows: usize, columns: usize) {
        let mut entries = std::mem::take(&mut self.entries).into_raw_vec_and_offset().0;
        entries.resize(rows * columns, 0.0);
        self.capacity = entries.capacity();
        self.entries = Array2::from_shape_vec((rows, columns), entries).expect("as long as the shape tells");
    }

    /// `N` rows, from number `first` on; those that are not there are empty.
    #[inline]
    pub(crate) fn rows_from<const N: usize>(&mut self, first: usize) -> [&mut [f64]; N] {
        let columns = self.entries.ncols();
        let mut rest = &mut self.entries()[first * columns..];
        std::array::from_fn(|_| rest.split_off_mut(..columns).unwrap_or_default())
    }

    /// The row number `index`.
    #[inline]
    pub(crate) fn row(&mut self, index: usize) -> &mut [f64] {
        let [row] = self.rows_from(index);
        row
    }

    /// Writes entries side by side to a row, from number `first` on, as far as there are columns.
    #[inline(always)]
    pub(crate) fn put<const N: usize>(&mut self, row: usize, first: usize, entries: [f64; N]) {
        let rest = &mut self.row(row)[first..];
        match rest.first_chunk_mut() {
            Some(all) => *all = entries,
            None => rest.iter_mut().zip(entries).for_each(|(old, entry)| *old = entry),
        }
    }

    #[inline]
    fn entries(&mut self) -> &mut [f64] {
        self.entries.as_slice_mut().expect("made of a vector")
    }

    /// The bytes of the heap that it owns.
    pub(crate) fn memory(&self) -> usize {
        self.capacity * size_of::<f64>()
    }

    /// All of it.
    #[inline]
    pub(crate) fn view(&self) -> ArrayView2<'_, f64> {
        self.entries.view()
    }
}
