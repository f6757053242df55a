//! What one run computes of a matrix whose columns have colours.

use super::check::weight;
use super::colouring::Colours;

/// A run that computes N columns: the sums of those of each colour, from number `first` on. Behind the last colour comes the product of the
/// matrix with [`weight`]s.
pub(super) struct Run<'c, const N: usize> {
    colours: &'c Colours,
    first: usize,
}

impl<'c, const N: usize> Run<'c, N> {
    /// All runs.
    pub(super) fn all(colours: &'c Colours) -> impl Iterator<Item = Self> {
        (0..=colours.count).step_by(N).map(move |first| Run { colours, first })
    }

    /// The direction of each derivative, in the coordinate number `column`.
    pub(super) fn seed(&self, column: usize) -> [f64; N] {
        let mut seed = [0.0; N];
        if let Some(k) = self.part(column) {
            seed[k] = 1.0;
        }
        if let Some(k) = self.product() {
            seed[k] = weight(column);
        }
        seed
    }

    /// Which derivative contains a column.
    pub(super) fn part(&self, column: usize) -> Option<usize> {
        self.colours.of[column].checked_sub(self.first).filter(|&k| k < N)
    }

    /// Which derivative is the product with weights.
    pub(super) fn product(&self) -> Option<usize> {
        Some(self.colours.count - self.first).filter(|&k| k < N)
    }

    /// Whether the derivatives of a row show that it has entries in other columns than these. One that is no number may come from no column
    /// at all.
    pub(super) fn strays(&self, mut derivatives: [f64; N], columns: &[usize]) -> bool {
        for &column in columns {
            if let Some(k) = self.part(column) {
                derivatives[k] = 0.0;
            }
        }
        let colours = self.colours.count - self.first;
        derivatives.iter().take(colours).any(|d| d.abs() > 0.0)
    }
}
