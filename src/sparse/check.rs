//! Whether a matrix has the pattern that it is said to have.

use pullback_rules::linalg::Pattern;

/// How far a product with a full vector may be from that with the sparse matrix, relative to the sum of absolute values.
const TOLERANCE: f64 = 1e-6;

/// The coordinates of a direction in which all columns take part, of different weights.
pub(super) fn weight(column: usize) -> f64 {
    // Multiples of the golden section are as far from each other as can be.
    (column as f64 * 0.618_033_988_749_894_9).fract() + 0.5
}

/// One row of the product of a sparse matrix with [`weight`]s.
#[derive(Default)]
pub(super) struct Product {
    sum: f64,
    magnitude: f64,
}

impl Product {
    /// Of a row with such values in such columns; there may be more values than columns.
    pub(super) fn of(columns: &[usize], values: &[f64]) -> Self {
        let mut product = Product::default();
        for (&column, value) in columns.iter().zip(values) {
            let term = value * weight(column);
            product.sum += term;
            product.magnitude += term.abs();
        }
        product
    }

    /// Whether this is the row of the product that was computed as a whole. Numbers that are not finite tell nothing.
    pub(super) fn agrees(self, whole: f64) -> bool {
        let difference = (whole - self.sum).abs();
        !(difference > TOLERANCE * self.magnitude + f64::MIN_POSITIVE && difference.is_finite())
    }
}

/// Rows that seem to have entries outside of the pattern may be nothing but rounding errors, where all terms of a derivative cancel: what
/// depends on what is `found` out then.
///
/// # Panics
/// If one of the rows has other entries.
#[cold]
pub(super) fn confirm(function: &str, matrix: &str, rows: &[usize], pattern: &Pattern, found: &Pattern) {
    for &row in rows {
        let known = pattern.row(row);
        if let Some(column) = found.row(row).iter().find(|column| known.binary_search(column).is_err()) {
            panic!(
                "`{function}`: row {row} of the {matrix} has entries outside of its pattern, as in column {column}; was that detected where \
                 the function takes another branch?"
            );
        }
    }
}
