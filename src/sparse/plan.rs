//! What is known about a sparse matrix before any entry is: its pattern, and what is computed together.

use pullback_rules::linalg::Pattern;

use super::colouring::{Colours, NONE, of_columns, of_some_columns, star};
use crate::rows::LANES;
use crate::{hessian, jacobian};

/// How a sparse Jacobian is computed: its pattern, and which of its columns, or rows, are computed together.
///
/// ```
/// use pullback::linalg::Pattern;
/// use pullback::sparse::JacobianColouring;
///
/// // A band of three diagonals: each third column has a colour of its own.
/// let band = |i: usize| (i.saturating_sub(1)..(i + 2).min(100)).map(move |j| (i, j));
/// let colouring = JacobianColouring::new(Pattern::of_entries((100, 100), (0..100).flat_map(band)));
/// assert!(colouring.is_by_columns());
/// assert_eq!((colouring.colours(), colouring.runs()), (3, 1));
///
/// // One row more, which is full: it comes by reverse mode.
/// let full = (0..100).map(|j| (100, j));
/// let colouring = JacobianColouring::new(Pattern::of_entries((101, 100), (0..100).flat_map(band).chain(full)));
/// assert_eq!((colouring.column_colours(), colouring.row_colours(), colouring.runs()), (3, 1, 2));
/// ```
///
/// It takes a while to find, longer than a Jacobian, and is to be kept. Threads may share it.
#[derive(Clone, Debug)]
pub struct JacobianColouring {
    pattern: Pattern,
    /// What forward mode computes. It goes first: entries of rows that have colours are not right then.
    pub(super) columns: Colours,
    /// What reverse mode computes.
    pub(super) rows: Groups,
}

/// Rows by their colours.
#[derive(Clone, Debug)]
pub(super) struct Groups {
    pub(super) rows: Colours,
    starts: Vec<usize>,
    /// Column and number of the entries of a colour's rows, in the order of columns. [`NONE`] stands for those of a column that is set aside.
    entries: Vec<(usize, usize)>,
}

impl Groups {
    fn new(pattern: &Pattern, rows: Colours, columns_aside: impl Fn(usize) -> bool) -> Self {
        let coloured = pattern.iter().filter(|(i, ..)| rows.of[*i] != NONE);
        let mut entries: Vec<_> =
            coloured.map(|(i, j, e)| (rows.of[i], j, if columns_aside(j) { NONE } else { e })).collect();
        entries.sort_unstable();
        entries.dedup();
        let starts =
            (0..=rows.count).map(|colour| entries.partition_point(|entry| entry.0 < colour)).collect();
        Groups { rows, starts, entries: entries.into_iter().map(|(_, j, e)| (j, e)).collect() }
    }

    pub(super) fn of_colour(&self, colour: usize) -> &[(usize, usize)] {
        &self.entries[self.starts[colour]..self.starts[colour + 1]]
    }
}

/// How many runs give columns and rows of so many colours: those in forward mode, with one product to check everything by, and those in reverse
/// mode.
fn runs(columns: usize, rows: usize) -> usize {
    (columns + 1).div_ceil(jacobian::WIDTH) + rows.div_ceil(LANES)
}

/// A choice: all is computed by columns or by rows, but for some of the others.
struct Plan {
    by_columns: bool,
    /// How many rows, or columns, are set aside: the longest.
    aside: usize,
    /// How many runs it takes at least, if those set aside have nothing in common.
    runs: usize,
}

impl Plan {
    /// With nothing set aside, and with what takes the fewest runs then. All entries of a row are of different colours, so that the longest one
    /// that is left tells how many there are at least.
    fn all(lengths: &[usize], by_columns: bool) -> impl Iterator<Item = Plan> {
        let plan = |aside: usize| {
            let longest = lengths.get(aside).copied().unwrap_or(0);
            let runs = if by_columns { runs(longest, aside) } else { runs(aside, longest) };
            Plan { by_columns, aside, runs }
        };
        let best = (1..=lengths.len()).map(plan).min_by_key(|plan| plan.runs);
        let all = plan(0);
        let better = best.filter(|best| best.runs < all.runs);
        std::iter::once(all).chain(better)
    }
}

/// The lengths of all rows, the longest first, and the rows in this order.
fn by_length(pattern: &Pattern) -> (Vec<usize>, Vec<usize>) {
    let mut order: Vec<_> = (0..pattern.rows()).collect();
    order.sort_by_key(|&i| std::cmp::Reverse(pattern.row(i).len()));
    (order.iter().map(|&i| pattern.row(i).len()).collect(), order)
}

/// Which of `count` are among those `chosen`.
fn marks(chosen: &[usize], count: usize) -> Vec<bool> {
    let mut marks = vec![false; count];
    chosen.iter().for_each(|&i| marks[i] = true);
    marks
}

impl JacobianColouring {
    /// Colours columns or rows, whichever takes less time: eight colours of columns come by one run in forward mode, two colours of rows by one in
    /// reverse mode. Rows that are much longer than others are set aside: they have colours beside the columns, as have long columns where rows
    /// have colours (Hossain and Steihaug, *Computing a sparse Jacobian matrix by rows and columns*, 1998).
    ///
    /// # Panics
    /// If a row of the pattern does not ascend, or has two entries in one place.
    pub fn new(pattern: Pattern) -> Self {
        ascending(&pattern);
        let transposed = pattern.transposed();
        let ((row_lengths, longest_rows), (column_lengths, longest_columns)) =
            (by_length(&pattern), by_length(&transposed));
        let mut plans: Vec<_> =
            Plan::all(&row_lengths, true).chain(Plan::all(&column_lengths, false)).collect();
        plans.sort_by_key(|plan| (plan.runs, plan.aside));
        let not = |marks: &[bool]| marks.iter().map(|mark| !mark).collect::<Vec<_>>();
        let mut best: Option<[Colours; 2]> = None;
        let taken = |colours: &[Colours; 2]| runs(colours[0].count, colours[1].count);
        let mut by_columns = true;
        for plan in plans {
            if best.as_ref().is_some_and(|best| taken(best) <= plan.runs) {
                break;
            }
            let (columns, rows) = if plan.by_columns {
                (vec![true; pattern.columns()], marks(&longest_rows[..plan.aside], pattern.rows()))
            } else {
                (marks(&longest_columns[..plan.aside], pattern.columns()), vec![true; pattern.rows()])
            };
            // Neither sees what the other computes.
            let (seen_rows, seen_columns) = match plan.by_columns {
                true => (not(&rows), vec![true; pattern.columns()]),
                false => (vec![true; pattern.rows()], not(&columns)),
            };
            let colours = [
                of_some_columns(&pattern, &columns, &seen_rows),
                of_some_columns(&transposed, &rows, &seen_columns),
            ];
            if best.as_ref().is_none_or(|best| taken(&colours) < taken(best)) {
                by_columns = plan.by_columns;
                best = Some(colours);
            }
        }
        let [columns, rows] = best.expect("there are plans");
        let rows = Groups::new(&pattern, rows, |j| !by_columns && columns.of[j] != NONE);
        JacobianColouring { pattern, columns, rows }
    }

    /// Colours columns only. That tells a program which variables may share a lane of dual numbers of its own:
    ///
    /// ```
    /// use std::array::from_fn;
    ///
    /// use pullback::DualNumber;
    /// use pullback::prelude::*;
    /// use pullback::sparse::JacobianColouring;
    ///
    /// #[differentiable(dual)]
    /// fn differences(x: &[f64; 5]) -> [f64; 4] {
    ///     [x[1] - x[0], x[2] - x[1], x[3] - x[2], x[4] - x[3]]
    /// }
    ///
    /// let x = [1.0, 3.0, 2.0, 5.0, 4.0];
    /// let colouring = JacobianColouring::by_columns(differences::jacobian().jacobian_pattern(&x));
    /// assert_eq!(colouring.colours(), 2);
    /// let lane = |j| colouring.colour_of_column(j).unwrap();
    /// let numbers = from_fn(|j| DualNumber::variable(x[j], from_fn(|k| if k == lane(j) { 1.0 } else { 0.0 })));
    /// let [y, ..]: [DualNumber<f64, 2>; 4] = differences::on_dual_numbers(&numbers);
    /// assert_eq!((y.value(), y.tangent()[lane(0)], y.tangent()[lane(1)]), (2.0, -1.0, 1.0));
    /// ```
    ///
    /// # Panics
    /// If a row of the pattern does not ascend, or has two entries in one place.
    pub fn by_columns(pattern: Pattern) -> Self {
        ascending(&pattern);
        let transposed = pattern.transposed();
        let none = Colours { of: vec![NONE; pattern.rows()], count: 0 };
        let rows = Groups::new(&pattern, none, |_| false);
        let columns = of_columns(&pattern, &transposed);
        JacobianColouring { pattern, columns, rows }
    }

    /// The pattern.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// The colour of a column, counted from 0; `None` where only rows have colours.
    pub fn colour_of_column(&self, column: usize) -> Option<usize> {
        Some(self.columns.of[column]).filter(|&colour| colour != NONE)
    }

    /// Whether forward mode computes all of the Jacobian. Otherwise rows have colours, and reverse mode computes these.
    pub fn is_by_columns(&self) -> bool {
        self.row_colours() == 0
    }

    /// How many colours there are, of columns and of rows.
    pub fn colours(&self) -> usize {
        self.column_colours() + self.row_colours()
    }

    /// How many colours columns have, which forward mode computes.
    pub fn column_colours(&self) -> usize {
        self.columns.count
    }

    /// How many colours rows have, which reverse mode computes.
    pub fn row_colours(&self) -> usize {
        self.rows.rows.count
    }

    /// How often the function is run for one Jacobian, forward and in reverse mode together.
    pub fn runs(&self) -> usize {
        runs(self.column_colours(), self.row_colours())
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
