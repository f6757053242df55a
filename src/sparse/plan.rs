//! What is known about a sparse matrix before any entry is: its pattern, and what is computed together.

use pullback_rules::linalg::Pattern;

use super::colouring::{Colours, of_columns, star};
use crate::rows::LANES;
use crate::{hessian, jacobian};

/// How a sparse Jacobian is computed: its pattern, and which of its columns, or rows, are computed together.
///
/// ```
/// use pullback::linalg::Pattern;
/// use pullback::sparse::JacobianColouring;
///
/// // A band of three diagonals: each third column has a colour of its own.
/// let entries = (0..100_usize).flat_map(|i| (i.saturating_sub(1)..(i + 2).min(100)).map(move |j| (i, j)));
/// let colouring = JacobianColouring::new(Pattern::of_entries((100, 100), entries));
/// assert!(colouring.is_by_columns());
/// assert_eq!((colouring.colours(), colouring.runs()), (3, 1));
/// ```
///
/// It takes a while to find, longer than a Jacobian, and is to be kept. Threads may share it.
#[derive(Clone, Debug)]
pub struct JacobianColouring {
    pattern: Pattern,
    pub(super) compression: Compression,
}

/// What is computed together.
#[derive(Clone, Debug)]
pub(super) enum Compression {
    Columns(Colours),
    Rows(Groups),
}

/// Rows by their colours.
#[derive(Clone, Debug)]
pub(super) struct Groups {
    pub(super) rows: Colours,
    starts: Vec<usize>,
    /// Column and number of the entries of a colour's rows, in the order of columns.
    entries: Vec<(usize, usize)>,
}

impl Groups {
    fn new(pattern: &Pattern, rows: Colours) -> Self {
        let mut entries: Vec<_> = pattern.iter().map(|(i, j, e)| (rows.of[i], j, e)).collect();
        entries.sort_unstable();
        let starts =
            (0..=rows.count).map(|colour| entries.partition_point(|entry| entry.0 < colour)).collect();
        Groups { rows, starts, entries: entries.into_iter().map(|(_, j, e)| (j, e)).collect() }
    }

    pub(super) fn of_colour(&self, colour: usize) -> &[(usize, usize)] {
        &self.entries[self.starts[colour]..self.starts[colour + 1]]
    }
}

/// How many runs in forward mode give the columns of so many colours, and one product to check them by.
fn forward_runs(colours: usize) -> usize {
    (colours + 1).div_ceil(jacobian::WIDTH)
}

/// How many runs give the rows of so many colours: in reverse mode, and one in forward mode, for a product to check them by.
fn reverse_runs(colours: usize) -> usize {
    1 + colours.div_ceil(LANES)
}

impl JacobianColouring {
    /// Colours columns or rows, whichever takes less time: eight colours of columns come by one run in forward mode, two colours of rows by one in
    /// reverse mode, or four where the program is compiled for a processor with AVX.
    ///
    /// # Panics
    /// If a row of the pattern does not ascend, or has two entries in one place.
    pub fn new(pattern: Pattern) -> Self {
        ascending(&pattern);
        let transposed = pattern.transposed();
        let longest =
            |pattern: &Pattern| (0..pattern.rows()).map(|i| pattern.row(i).len()).max().unwrap_or(0);
        // All entries of a row are of different colours, so that the longest one tells how many there are at least. The run in forward mode
        // that computes the value is needed in any case.
        let (by_columns, by_rows) = (forward_runs(longest(&pattern)), reverse_runs(longest(&transposed)));
        let columns = || of_columns(&pattern, &transposed);
        let rows = || of_columns(&transposed, &pattern);
        let compression = if by_columns <= by_rows {
            let columns = columns();
            let runs = forward_runs(columns.count);
            match (by_rows < runs).then(rows).filter(|rows| reverse_runs(rows.count) < runs) {
                Some(rows) => Compression::Rows(Groups::new(&pattern, rows)),
                None => Compression::Columns(columns),
            }
        } else {
            let rows = rows();
            let runs = reverse_runs(rows.count);
            match (by_columns <= runs).then(columns).filter(|columns| forward_runs(columns.count) <= runs) {
                Some(columns) => Compression::Columns(columns),
                None => Compression::Rows(Groups::new(&pattern, rows)),
            }
        };
        JacobianColouring { pattern, compression }
    }

    /// The pattern.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// Whether columns have colours, and forward mode computes the Jacobian. Otherwise rows have, and reverse mode does.
    pub fn is_by_columns(&self) -> bool {
        matches!(self.compression, Compression::Columns(_))
    }

    /// How many colours there are.
    pub fn colours(&self) -> usize {
        match &self.compression {
            Compression::Columns(columns) => columns.count,
            Compression::Rows(groups) => groups.rows.count,
        }
    }

    /// How often the function is run for one Jacobian, forward and in reverse mode together.
    pub fn runs(&self) -> usize {
        match &self.compression {
            Compression::Columns(columns) => forward_runs(columns.count),
            Compression::Rows(groups) => reverse_runs(groups.rows.count),
        }
    }
}

/// How a sparse Hessian is computed: its pattern, and which of its columns are computed together.
///
/// ```
/// use pullback::linalg::Pattern;
/// use pullback::sparse::HessianColouring;
///
/// // The first coordinate meets all others: the other ones are computed together.
/// let entries = (0..100).flat_map(|i| [(0, i), (i, 0), (i, i)]);
/// let colouring = HessianColouring::new(Pattern::of_entries((100, 100), entries));
/// assert_eq!((colouring.colours(), colouring.runs()), (2, 1));
/// ```
///
/// It takes a while to find, longer than a Hessian, and is to be kept. Threads may share it.
#[derive(Clone, Debug)]
pub struct HessianColouring {
    pattern: Pattern,
    pub(super) columns: Colours,
    /// For each entry that is computed, that is alone among its row's of one colour, the number of the one that mirrors it.
    pub(super) mirrors: Vec<Option<usize>>,
}

impl HessianColouring {
    /// Colours the columns. The pattern may be that of one triangle only: places that mirror its entries are added.
    ///
    /// # Panics
    /// If the pattern is not that of a square matrix, or if a row of it does not ascend, or has two entries in one place.
    pub fn new(pattern: Pattern) -> Self {
        ascending(&pattern);
        assert!(
            pattern.rows() == pattern.columns(),
            "HessianColouring: a matrix of {} rows and {} columns",
            pattern.rows(),
            pattern.columns()
        );
        let pattern = pattern.union(&pattern.transposed());
        let columns = star(&pattern);
        // For each row, how often a colour is in it.
        let mut counts = vec![0_usize; columns.count];
        let mut alone = vec![false; pattern.entries()];
        for i in 0..pattern.rows() {
            let row = pattern.row(i);
            row.iter().for_each(|&j| counts[columns.of[j]] += 1);
            for (&j, alone) in row.iter().zip(&mut alone[pattern.starts()[i]..]) {
                *alone = counts[columns.of[j]] == 1;
            }
            row.iter().for_each(|&j| counts[columns.of[j]] = 0);
        }
        let mirrors = pattern.iter().map(|(i, j, e)| {
            let mirror = pattern.row(j).binary_search(&i).expect("the pattern is symmetric");
            let mirror = pattern.starts()[j] + mirror;
            (alone[e] && (i <= j || !alone[mirror])).then_some(mirror)
        });
        let mirrors = mirrors.collect();
        HessianColouring { pattern, columns, mirrors }
    }

    /// The pattern, which is symmetric.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// How many colours there are.
    pub fn colours(&self) -> usize {
        self.columns.count
    }

    /// How often the gradient is run, in dual numbers, for one Hessian.
    pub fn runs(&self) -> usize {
        (self.columns.count + 1).div_ceil(hessian::WIDTH)
    }
}

fn ascending(pattern: &Pattern) {
    let ascends = (0..pattern.rows()).all(|i| pattern.row(i).is_sorted_by(|a, b| a < b));
    assert!(ascends, "a row of the pattern does not ascend: `Pattern::of_entries` brings entries into order");
}
