//! Where a sparse matrix has entries.

use ndarray::{Array2, ArrayRef1, LinalgScalar};

/// Where a sparse matrix has entries, row by row. The entries themselves are an array beside it: so the pattern is constant, and the gradient has
/// the same entries and no others.
///
/// ```
/// use ndarray::array;
/// use pullback_rules::linalg::Pattern;
///
/// // x . y
/// // . . .
/// // . z .
/// let pattern = Pattern::new((3, 3), vec![0, 2, 2, 3], vec![0, 2, 1]);
/// assert_eq!((pattern.rows(), pattern.columns(), pattern.entries()), (3, 3, 3));
/// assert_eq!(pattern.row(0), [0, 2]);
/// assert_eq!(pattern, Pattern::of_entries((3, 3), [(2, 1), (0, 0), (0, 2)]));
///
/// let matrix = pattern.dense(&array![1.0, 2.0, 3.0]);
/// assert_eq!(matrix, array![[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [0.0, 3.0, 0.0]]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    columns: usize,
    starts: Vec<usize>,
    indices: Vec<usize>,
}

impl Pattern {
    /// A pattern in the format called CSR: entries `starts[i]..starts[i + 1]` are those of row i, and entry e is in column `indices[e]`. Several
    /// entries in one place are added up.
    ///
    /// # Panics
    /// If `starts` does not have an element more than there are rows, does not ascend from 0 to the number of indices, or if an index is not
    /// less than the number of columns.
    pub fn new((rows, columns): (usize, usize), starts: Vec<usize>, indices: Vec<usize>) -> Self {
        assert!(starts.len() == rows + 1, "Pattern: {} starts for {rows} rows", starts.len());
        assert!(
            starts[0] == 0 && starts[rows] == indices.len() && starts.is_sorted(),
            "Pattern: the starts have to ascend from 0 to the number of indices"
        );
        assert!(indices.iter().all(|&j| j < columns), "Pattern: an index beyond {columns} columns");
        Pattern { columns, starts, indices }
    }

    /// A pattern with entries in the given places: row and column of each, in any order, and as often as it likes. In the pattern each place has
    /// one entry, and those of a row ascend.
    ///
    /// # Panics
    /// If a place is not within the matrix.
    pub fn of_entries(shape: (usize, usize), entries: impl IntoIterator<Item = (usize, usize)>) -> Self {
        Self::of_list(shape, entries.into_iter().collect())
    }

    fn of_list((rows, columns): (usize, usize), mut entries: Vec<(usize, usize)>) -> Self {
        entries.sort_unstable();
        entries.dedup();
        let mut starts = vec![0; rows + 1];
        for &(i, _) in &entries {
            assert!(i < rows, "Pattern: an entry beyond {rows} rows");
            starts[i + 1] += 1;
        }
        for i in 0..rows {
            starts[i + 1] += starts[i];
        }
        Pattern::new((rows, columns), starts, entries.into_iter().map(|(_, j)| j).collect())
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The number of entries.
    pub fn entries(&self) -> usize {
        self.indices.len()
    }

    /// Where the entries of each row start, and at the end the number of entries.
    pub fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// The column of each entry.
    pub fn indices(&self) -> &[usize] {
        &self.indices
    }

    /// The columns of the entries of row `i`.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, i: usize) -> &[usize] {
        &self.indices[self.starts[i]..self.starts[i + 1]]
    }

    /// Row, column and number of each entry.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize, usize)> {
        (0..self.rows())
            .flat_map(move |i| (self.starts[i]..self.starts[i + 1]).map(move |e| (i, self.indices[e], e)))
    }

    /// The pattern with rows and columns exchanged.
    pub fn transposed(&self) -> Self {
        Self::of_entries((self.columns, self.rows()), self.iter().map(|(i, j, _)| (j, i)))
    }

    /// The entries of both patterns.
    ///
    /// # Panics
    /// If the matrices have different sizes.
    pub fn union(&self, other: &Self) -> Self {
        let shapes = [self, other].map(|pattern| (pattern.rows(), pattern.columns()));
        assert!(shapes[0] == shapes[1], "Pattern: the union of {:?} and {:?}", shapes[0], shapes[1]);
        Self::of_entries(shapes[0], self.iter().chain(other.iter()).map(|(i, j, _)| (i, j)))
    }

    /// The matrix with `values` in the places of the pattern, and zeros.
    ///
    /// # Panics
    /// If there is not one value for each entry.
    pub fn dense<T: LinalgScalar>(&self, values: &ArrayRef1<T>) -> Array2<T> {
        assert!(
            values.len() == self.entries(),
            "Pattern: {} values for {} entries",
            values.len(),
            self.entries()
        );
        let mut matrix = Array2::zeros((self.rows(), self.columns));
        for (i, j, e) in self.iter() {
            matrix[[i, j]] = matrix[[i, j]] + values[e];
        }
        matrix
    }
}
