//! Colours for the columns of matrices.

use pullback_rules::linalg::Pattern;

/// A colour for each column of a matrix, counted from 0, or [`NONE`].
#[derive(Clone, Debug)]
pub(super) struct Colours {
    pub(super) of: Vec<usize>,
    pub(super) count: usize,
}

/// In the place of a colour.
pub(super) const NONE: usize = usize::MAX;

/// The colours that a column cannot have.
#[derive(Default)]
struct Forbidden {
    /// For each colour, the last column that cannot have it.
    by: Vec<usize>,
}

impl Forbidden {
    fn add(&mut self, colour: usize, column: usize) {
        self.by[colour] = column;
    }

    /// The first colour that `column` can have, which may be a new one.
    fn choose(&mut self, column: usize) -> usize {
        self.by.iter().position(|&by| by != column).unwrap_or_else(|| {
            self.by.push(NONE);
            self.by.len() - 1
        })
    }

    fn colours(self, of: Vec<usize>) -> Colours {
        Colours { of, count: self.by.len() }
    }
}

/// The better one of two greedy colourings: columns in their own order, as suits bands and grids, and those first that meet the most others.
fn better(degrees: Vec<usize>, greedy: impl Fn(&mut dyn Iterator<Item = usize>) -> Colours) -> Colours {
    let natural = greedy(&mut (0..degrees.len()));
    let mut order: Vec<_> = (0..degrees.len()).collect();
    order.sort_by_key(|&column| std::cmp::Reverse(degrees[column]));
    let largest_first = greedy(&mut order.into_iter());
    if largest_first.count < natural.count { largest_first } else { natural }
}

/// Colours of columns, such that no two of one colour have entries in the same row: Curtis, Powell and Reid's groups, by Gebremedhin, Manne and
/// Pothen's algorithm 3.1, a partial colouring at distance two.
pub(super) fn of_columns(pattern: &Pattern, transposed: &Pattern) -> Colours {
    let degree = |column| transposed.row(column).iter().map(|&row| pattern.row(row).len()).sum();
    better((0..pattern.columns()).map(degree).collect(), |order| {
        let mut of = vec![NONE; pattern.columns()];
        let mut forbidden = Forbidden::default();
        for column in order {
            for &row in transposed.row(column) {
                for &other in pattern.row(row) {
                    if of[other] != NONE {
                        forbidden.add(of[other], column);
                    }
                }
            }
            of[column] = forbidden.choose(column);
        }
        forbidden.colours(of)
    })
}

/// The same for some of the columns and what is in some of the rows. Others have no colour.
pub(super) fn of_some_columns(pattern: &Pattern, columns: &[bool], rows: &[bool]) -> Colours {
    if !columns.contains(&true) {
        return Colours { of: vec![NONE; columns.len()], count: 0 };
    }
    let entries = pattern.iter().filter(|(i, j, _)| rows[*i] && columns[*j]).map(|(i, j, _)| (i, j));
    let part = Pattern::of_entries((pattern.rows(), pattern.columns()), entries);
    let mut colours = of_columns(&part, &part.transposed());
    for (colour, _) in colours.of.iter_mut().zip(columns).filter(|(_, chosen)| !**chosen) {
        *colour = NONE;
    }
    colours
}

/// Colours of the columns of a symmetric matrix, or of the vertices of its graph: neighbours differ, and each path of four vertices has three
/// colours, so that what two colours have in common are *stars*. Of two places that mirror each other, one is then the only entry of its row in
/// columns of one colour (Coleman and Moré, 1984). The diagonal counts as full.
pub(super) fn star(pattern: &Pattern) -> Colours {
    let degree = |vertex| pattern.row(vertex).len();
    better((0..pattern.rows()).map(degree).collect(), |order| {
        let mut stars = Stars::new(pattern);
        for vertex in order {
            stars.colour(vertex);
        }
        stars.forbidden.colours(stars.of)
    })
}

/// Stars of two colours each, as far as there are colours.
struct Stars<'p> {
    pattern: &'p Pattern,
    of: Vec<usize>,
    forbidden: Forbidden,
    /// What colours the neighbours of each vertex have.
    around: Vec<Vec<Around>>,
    /// For each vertex that has a colour, those of its neighbours that are hubs of stars which it belongs to.
    hubs: Vec<Vec<usize>>,
}

/// The neighbours of a vertex that have one colour.
#[derive(Clone, Copy)]
struct Around {
    colour: usize,
    first: usize,
    several: bool,
}

impl<'p> Stars<'p> {
    fn new(pattern: &'p Pattern) -> Self {
        let n = pattern.rows();
        Stars {
            pattern,
            of: vec![NONE; n],
            forbidden: Forbidden::default(),
            around: vec![Vec::new(); n],
            hubs: vec![Vec::new(); n],
        }
    }

    fn neighbours(&self, vertex: usize) -> impl Iterator<Item = usize> + use<'p> {
        self.pattern.row(vertex).iter().copied().filter(move |&other| other != vertex)
    }

    /// Whether several neighbours of `vertex` have `colour`: then it is the hub of a star.
    fn several(&self, vertex: usize, colour: usize) -> bool {
        self.around[vertex].iter().any(|around| around.colour == colour && around.several)
    }

    /// Gives `vertex` the first colour that it can have.
    fn colour(&mut self, vertex: usize) {
        for neighbour in self.neighbours(vertex) {
            let theirs = self.of[neighbour];
            if theirs == NONE {
                continue;
            }
            self.forbidden.add(theirs, vertex);
            if self.several(vertex, theirs) {
                // As a hub it needs neighbours that see its colour nowhere else.
                for around in &self.around[neighbour] {
                    self.forbidden.add(around.colour, vertex);
                }
            } else {
                // The neighbour is the end of a star already.
                for &hub in &self.hubs[neighbour] {
                    self.forbidden.add(hub, vertex);
                }
            }
        }
        let colour = self.forbidden.choose(vertex);
        self.of[vertex] = colour;
        for neighbour in self.neighbours(vertex) {
            let theirs = self.of[neighbour];
            if theirs != NONE && self.several(vertex, theirs) {
                add(&mut self.hubs[neighbour], colour);
            }
            self.note(neighbour, vertex, colour);
        }
    }

    /// `vertex` has a neighbour more with a colour.
    fn note(&mut self, vertex: usize, neighbour: usize, colour: usize) {
        let own = self.of[vertex];
        let Some(around) = self.around[vertex].iter_mut().find(|around| around.colour == colour) else {
            self.around[vertex].push(Around { colour, first: neighbour, several: false });
            return;
        };
        let first = (!std::mem::replace(&mut around.several, true)).then_some(around.first);
        if own != NONE {
            for end in first.into_iter().chain([neighbour]) {
                add(&mut self.hubs[end], own);
            }
        }
    }
}

fn add(colours: &mut Vec<usize>, colour: usize) {
    if !colours.contains(&colour) {
        colours.push(colour);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What is promised of the colours of columns.
    fn is_by_rows(pattern: &Pattern, colours: &Colours) -> bool {
        (0..pattern.rows()).all(|i| {
            let mut seen: Vec<_> = pattern.row(i).iter().map(|&j| colours.of[j]).collect();
            seen.sort_unstable();
            seen.windows(2).all(|pair| pair[0] < pair[1])
        })
    }

    /// The definition of a star colouring: neighbours differ, and no path of four vertices has two colours.
    fn is_star(pattern: &Pattern, colours: &Colours) -> bool {
        let neighbours = |v: usize| pattern.row(v).iter().copied().filter(move |&w| w != v);
        let colour = |v: usize| colours.of[v];
        (0..pattern.rows()).all(|v| {
            neighbours(v).all(|w| {
                let ends = neighbours(w).filter(|&x| x != v && colour(x) == colour(v));
                let mut paths = ends.flat_map(|x| neighbours(x).filter(move |&y| y != w && y != v));
                colour(v) != colour(w) && paths.all(|y| colour(y) != colour(w))
            })
        })
    }

    fn counts_are_right(colours: &Colours, columns: usize) -> bool {
        colours.of.len() == columns && (0..colours.count).all(|colour| colours.of.contains(&colour))
    }

    fn matrix(square: bool) -> impl Strategy<Value = Pattern> {
        (1..40_usize, 1..40_usize).prop_flat_map(move |(rows, columns)| {
            let rows = if square { columns } else { rows };
            prop::collection::vec((0..rows, 0..columns), 0..3 * columns)
                .prop_map(move |entries| Pattern::of_entries((rows, columns), entries))
        })
    }

    proptest! {
        #[test]
        fn no_two_columns_of_a_colour_meet(pattern in matrix(false)) {
            let colours = of_columns(&pattern, &pattern.transposed());
            prop_assert!(is_by_rows(&pattern, &colours));
            prop_assert!(counts_are_right(&colours, pattern.columns()));
            let longest = (0..pattern.rows()).map(|i| pattern.row(i).len()).max();
            prop_assert!(longest <= Some(colours.count));
        }

        #[test]
        fn two_colours_make_stars(pattern in matrix(true)) {
            let pattern = pattern.union(&pattern.transposed());
            let colours = star(&pattern);
            prop_assert!(is_star(&pattern, &colours));
            prop_assert!(counts_are_right(&colours, pattern.columns()));
        }
    }

    /// The edges of a grid, with the diagonal.
    fn grid(width: usize) -> Pattern {
        let n = width * width;
        let entries = (0..n).flat_map(|i| {
            let right = (i % width + 1 < width).then_some((i, i + 1));
            let below = (i + width < n).then_some((i, i + width));
            right.into_iter().chain(below).chain([(i, i)])
        });
        let half = Pattern::of_entries((n, n), entries);
        half.union(&half.transposed())
    }

    #[test]
    fn grids_need_few_colours() {
        for width in [5, 20, 60] {
            let grid = grid(width);
            let columns = of_columns(&grid, &grid);
            assert!(is_by_rows(&grid, &columns) && columns.count <= 7, "{}", columns.count);
            let stars = star(&grid);
            assert!(is_star(&grid, &stars) && stars.count <= 6, "{}", stars.count);
        }
    }

    #[test]
    fn wheels_need_two_colours_and_little_time() {
        for hub in [0, 50_000] {
            let n = 100_000;
            let entries = (0..n).flat_map(|i| [(hub, i), (i, hub)]);
            assert_eq!(star(&Pattern::of_entries((n, n), entries)).count, 2);
        }
    }
}
