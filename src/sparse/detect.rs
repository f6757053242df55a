//! Patterns, found by following what depends on what.

use pullback_rules::linalg::Pattern;

use super::colouring::{Colours, of_columns};

/// The pattern of a matrix with so many columns. `probe` multiplies it: it gets the rows of a matrix, with N columns, and passes the rows of
/// the product on, one after the other. Where NaN stands in a row, the row of the product that it comes to is NaN.
///
/// Columns are taken together in blocks, blocks of blocks and so on. What is known about blocks has a colouring, and all blocks of one colour are
/// divided at the same time: a row in which one of N parts shows up has only one block of this colour to which it may belong.
pub(super) fn detect<const N: usize>(columns: usize, probe: &mut Probe<'_, N>) -> Pattern {
    let mut size = N;
    while size < columns {
        size *= N;
    }
    let mut blocks: Option<Pattern> = None;
    loop {
        // From one block, which all rows may belong to, to N of them.
        let (divided, one) = (size, Colours { of: vec![0], count: 1 });
        size /= N;
        let colours = blocks.as_ref().map_or(one, |blocks| of_columns(blocks, &blocks.transposed()));
        let (mut rows, mut entries) = (0, Vec::new());
        for colour in 0..colours.count {
            let mut seed = |column: usize| {
                let chosen = colours.of[column / divided] == colour;
                std::array::from_fn(|k| if chosen && column / size % N == k { f64::NAN } else { 0.0 })
            };
            rows = 0;
            probe(&mut seed, &mut |product| {
                let block = match &blocks {
                    Some(blocks) => {
                        blocks.row(rows).iter().copied().find(|&block| colours.of[block] == colour)
                    }
                    None => Some(0),
                };
                let found = (0..N).filter(|&k| product[k].is_nan());
                entries.extend(
                    block.into_iter().flat_map(|block| found.clone().map(move |k| (rows, block * N + k))),
                );
                rows += 1;
            });
        }
        // Where the product is NaN by itself, parts show up that no column belongs to.
        let count = columns.div_ceil(size);
        let pattern = Pattern::of_entries((rows, count), entries.into_iter().filter(|entry| entry.1 < count));
        if size == 1 {
            return pattern;
        }
        blocks = Some(pattern);
    }
}

/// What [`detect`] multiplies by. It is compiled once: each function has another such closure.
type Probe<'a, const N: usize> = dyn FnMut(&mut dyn FnMut(usize) -> [f64; N], &mut dyn FnMut([f64; N])) + 'a;

#[cfg(test)]
mod tests {
    use super::*;

    /// What [`detect`] makes of a matrix that has a pattern, and how often it multiplies by it.
    fn detected<const N: usize>(pattern: &Pattern) -> (Pattern, usize) {
        let mut products = 0;
        let found = detect::<N>(pattern.columns(), &mut |seed, rows| {
            products += 1;
            for i in 0..pattern.rows() {
                let mut product = [0.0; N];
                for &j in pattern.row(i) {
                    product.iter_mut().zip(seed(j)).for_each(|(sum, seed)| *sum += 0.0 * seed);
                }
                rows(product);
            }
        });
        (found, products)
    }

    #[test]
    fn patterns_are_found() {
        for (rows, columns) in
            [(0, 0), (3, 0), (0, 5), (1, 1), (4, 1), (7, 8), (5, 9), (30, 63), (20, 65), (64, 200)]
        {
            for density in [0, 1, 2, 5, 10] {
                let entries = (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j)));
                let entries = entries.filter(|(i, j)| (i * 31 + j * 17 + i * j) % 10 < density);
                let pattern = Pattern::of_entries((rows, columns), entries);
                assert_eq!(detected::<8>(&pattern).0, pattern);
                assert_eq!(detected::<4>(&pattern).0, pattern);
            }
        }
    }

    #[test]
    fn bands_take_few_products() {
        let n = 10_000_usize;
        let entries = (0..n).flat_map(|i| (i.saturating_sub(1)..(i + 2).min(n)).map(move |j| (i, j)));
        let pattern = Pattern::of_entries((n, n), entries);
        let (found, products) = detected::<8>(&pattern);
        assert_eq!(found, pattern);
        assert!(products <= 15, "{products}");
    }
}
