//! Sparse Jacobians and Hessians: colourings, patterns, and entries that agree with the dense matrices.

use ndarray::Array2;
use proptest::prelude::*;
use pullback::Float;
use pullback::prelude::*;
use pullback::sparse::{HessianColouring, JacobianColouring, Pattern};
use pullback::testing::allocations_in;

use crate::{evaluated, evaluations_in};

/// What is left of −u″ = k·eᵘ, between neighbours on a line.
#[differentiable(dual)]
fn bratu(u: &[f64], k: f64) -> Vec<f64> {
    let n = u.len();
    let mut r = vec![0.0; n];
    for i in 0..n {
        let left = if i > 0 { u[i - 1] } else { 0.0 };
        let right = if i + 1 < n { u[i + 1] } else { 0.0 };
        r[i] = 2.0 * u[i] - left - right - k * u[i].exp();
    }
    r
}

/// The same in a plane, where the result is written to what is there.
#[differentiable(dual)]
fn plane(u: &[f64], #[constant] width: usize, r: &mut [f64]) {
    for i in 0..u.len() {
        let mut sum = 4.0 * u[i] - 0.5 * u[i].exp();
        if i % width > 0 {
            sum -= u[i - 1];
        }
        if i % width + 1 < width {
            sum -= u[i + 1];
        }
        if i >= width {
            sum -= u[i - width];
        }
        if i + width < u.len() {
            sum -= u[i + width];
        }
        r[i] = sum;
    }
}

/// One number of each argument, and all of them.
#[differentiable(dual)]
fn arrow<T: Float>(x: &[T]) -> Vec<T> {
    let mut y = vec![T::zero(); x.len()];
    for i in 0..x.len() {
        y[0] += x[i] * x[i];
        y[i] += x[i].sin() * x[0];
    }
    y
}

/// A few numbers of many, a Jacobian with few rows.
#[differentiable(dual)]
fn moments(x: &[f64]) -> [f64; 3] {
    let (mut sum, mut squares, mut last) = (0.0, 0.0, 0.0);
    for i in 0..x.len() {
        sum += x[i];
        squares += x[i] * x[i];
        last = x[i].max(0.5 * last);
    }
    [sum, squares, last]
}

/// Which coordinates come together depends on the point.
#[differentiable(dual)]
fn picks(x: &[f64]) -> [f64; 2] {
    let first = if x[0] > 0.0 { x[1] * x[0] } else { 3.0 * x[2] };
    [first, x[3] * x[3]]
}

#[differentiable(dual)]
fn rosenbrock(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() - 1 {
        let a = x[i + 1] - x[i] * x[i];
        let b = 1.0 - x[i];
        total += 100.0 * a * a + b * b;
    }
    total
}

/// The first coordinate meets all others, and the last ones are linear.
#[differentiable(dual)]
fn wheel(x: &[f64], hub: f64) -> f64 {
    let n = x.len();
    let mut total = hub.sin();
    for i in 0..n {
        let next = x[(i + 1) % n];
        total += hub * x[i] * x[i] + (x[i] - next).powi(4);
    }
    total + 3.0 * x[0]
}

fn close(expected: &Array2<f64>, got: &Array2<f64>) {
    assert_eq!(expected.dim(), got.dim());
    for ((at, &e), &g) in expected.indexed_iter().zip(got) {
        assert!((e - g).abs() <= 1e-13 * e.abs().max(1.0), "at {at:?}: expected {e}, got {g}");
    }
}

fn points(n: usize) -> Vec<f64> {
    (0..n).map(|i| (1.7 * i as f64 + 0.3).sin()).collect()
}

/// Detects the pattern, and compares the sparse Jacobian with the dense one, twice.
macro_rules! jacobian {
    ($f:ident($($arg:expr),*)) => {{
        let mut g = $f::jacobian();
        let colouring = JacobianColouring::new(g.jacobian_pattern($($arg),*));
        let (value, dense) = g.value_and_jacobian($($arg),*);
        let dense = dense.to_owned();
        for later in [false, true] {
            let ((again, entries), allocations) =
                allocations_in(|| g.value_and_sparse_jacobian($($arg,)* &colouring));
            assert_eq!(value, again);
            close(&dense, &colouring.pattern().dense(&entries));
            let (_, primal) = allocations_in(|| $f($($arg),*));
            // What is returned comes in dual numbers in each run, and rows come with a value.
            assert!(!later || allocations <= 2 * primal * colouring.runs(), "{allocations}");
        }
        colouring
    }};
}

/// The same for Hessians.
macro_rules! hessian {
    ($f:ident($($arg:expr),*)) => {{
        let mut g = $f::hessian();
        let colouring = HessianColouring::new(g.hessian_pattern($($arg),*));
        let (value, d, dense) = g.value_gradient_and_hessian($($arg),*);
        let (dense, x) = (dense.to_owned(), d.x.to_vec());
        for later in [false, true] {
            let ((again, d, entries), allocations) =
                allocations_in(|| g.value_gradient_and_sparse_hessian($($arg,)* &colouring));
            assert_eq!((value, &x[..]), (again, d.x));
            close(&dense, &colouring.pattern().dense(&entries));
            assert!(!later || allocations == 0, "{allocations}");
        }
        colouring
    }};
}

#[test]
fn bands() {
    for n in [1, 2, 3, 7, 8, 9, 50] {
        let u = points(n);
        let colouring = jacobian!(bratu(&u, 0.25));
        // Three diagonals, and the column of `k`.
        assert_eq!(colouring.pattern().entries(), 3 * n - 2 + n);
        assert_eq!((colouring.colours(), colouring.is_by_columns()), (n.min(3) + 1, true));
        assert_eq!(colouring.runs(), 1);
    }
}

/// Sums of squares of neighbours, up to `reach` to either side.
#[differentiable(dual)]
fn band(x: &[f64], reach: usize, r: &mut [f64]) {
    evaluated();
    for i in 0..x.len() {
        let mut sum = 0.0;
        for j in i.saturating_sub(reach)..(i + reach + 1).min(x.len()) {
            sum += x[j] * x[j];
        }
        r[i] = sum;
    }
}

#[test]
fn evaluations_go_with_colours_and_not_with_columns() {
    for reach in [1, 3, 4, 12, 20] {
        let colours = 2 * reach + 1;
        for n in [50, 200] {
            let (x, mut r) = (points(n), vec![0.0; n]);
            let mut g = band::jacobian();
            let colouring = JacobianColouring::new(g.jacobian_pattern(&x, reach, &mut r));
            assert_eq!(colouring.colours(), colours);
            let evaluations = evaluations_in(|| g.value_and_sparse_jacobian(&x, reach, &mut r, &colouring));
            // Eight columns in each.
            assert_eq!((evaluations, colouring.runs()), (colours.div_ceil(8), colours.div_ceil(8)));
        }
    }
}

#[test]
fn grids_with_results_in_arguments() {
    let (width, height) = (9, 7);
    let u = points(width * height);
    let mut r = vec![7.0; u.len()];
    let mut g = plane::jacobian();
    let colouring = JacobianColouring::new(g.jacobian_pattern(&u, width, &mut r));
    g.value_and_sparse_jacobian(&u, width, &mut r, &colouring);
    assert_eq!(r, vec![7.0; u.len()]);
    let colouring = jacobian!(plane(&u, width, &mut r));
    // What is overwritten does not count.
    let pattern = colouring.pattern();
    assert_eq!(pattern.entries(), 5 * u.len() - 2 * (width + height));
    assert_eq!((pattern.rows(), pattern.columns()), (u.len(), 2 * u.len()));
    assert!(colouring.runs() == 1 && colouring.colours() <= 7, "{}", colouring.colours());
}

#[test]
fn few_rows_go_by_reverse_mode() {
    let colouring = jacobian!(moments(&points(100)));
    assert_eq!((colouring.colours(), colouring.is_by_columns(), colouring.runs()), (3, false, 3));
    let colouring = jacobian!(moments(&points(10)));
    assert!(colouring.is_by_columns());
}

#[test]
fn colours_of_columns_only() {
    let (x, mut g) = (points(40), arrow::<f64>::jacobian());
    let pattern = g.jacobian_pattern(&x);
    let colouring = JacobianColouring::new(pattern.clone());
    // The full row is set aside.
    assert_eq!(colouring.colour_of_column(1), colouring.colour_of_column(2));
    let colouring = JacobianColouring::by_columns(pattern);
    assert_eq!((colouring.is_by_columns(), colouring.column_colours()), (true, 40));
    let mut colours: Vec<_> = (0..40).map(|column| colouring.colour_of_column(column)).collect();
    colours.sort_unstable();
    assert_eq!(colours, (0..40).map(Some).collect::<Vec<_>>());
    let dense = g.value_and_jacobian(&x).1.to_owned();
    let (_, entries) = g.value_and_sparse_jacobian(&x, &colouring);
    close(&dense, &colouring.pattern().dense(&entries));

    let colouring = JacobianColouring::new(moments::jacobian().jacobian_pattern(&x));
    assert_eq!(colouring.colour_of_column(0), None);
}

/// The mean of all numbers, and what blocks of them deviate from it by.
#[differentiable(dual)]
fn deviations(x: &[f64], mean: f64, blocks: usize) -> Vec<f64> {
    let mut y = vec![0.0; blocks];
    for i in 0..x.len() {
        let d = x[i] - mean;
        y[i * blocks / x.len()] += d * d * mean;
    }
    y
}

#[test]
fn full_rows_and_columns_are_set_aside() {
    // Both a full row and a full column: the row goes by reverse mode, and all columns but the first together.
    for n in [30, 300] {
        let colouring = jacobian!(arrow(&points(n)));
        assert_eq!((colouring.column_colours(), colouring.row_colours(), colouring.runs()), (2, 1, 2));
    }
    // A full column, and rows that have nothing else in common.
    let colouring = jacobian!(deviations(&points(200), 0.25, 10));
    assert_eq!((colouring.column_colours(), colouring.row_colours(), colouring.runs()), (1, 1, 2));
    assert!(!colouring.is_by_columns());
}

#[test]
fn wrong_patterns_are_noticed_by_rows_and_columns() {
    let x = points(20);
    let mut g = arrow::jacobian();
    let full = g.jacobian_pattern(&x);
    for (i, j, _) in full.iter().filter(|(i, j, _)| i % 7 < 2 || j % 7 < 2) {
        let kept = full.iter().map(|(i, j, _)| (i, j)).filter(|&entry| entry != (i, j));
        let colouring = JacobianColouring::new(Pattern::of_entries((20, 20), kept));
        assert!(colouring.column_colours() > 0 && colouring.row_colours() > 0);
        let text = message(|| {
            g.value_and_sparse_jacobian(&x, &colouring);
        });
        assert!(text.contains(&format!("row {i} of the Jacobian")), "{text}");
    }
    let x = points(200);
    let mut g = deviations::jacobian();
    let full = g.jacobian_pattern(&x, 0.25, 10);
    for missing in [(0, 3), (9, 199), (0, 200), (4, 200)] {
        let kept = full.iter().map(|(i, j, _)| (i, j)).filter(|&entry| entry != missing);
        let colouring = JacobianColouring::new(Pattern::of_entries((10, 201), kept));
        assert_eq!((colouring.column_colours(), colouring.row_colours()), (1, 1));
        let text = message(|| {
            g.value_and_sparse_jacobian(&x, 0.25, 10, &colouring);
        });
        assert!(text.contains("of the Jacobian has entries outside of its pattern"), "{text}");
    }
}

#[test]
fn patterns_hold_where_branches_are_the_same() {
    let mut g = picks::jacobian();
    let (above, below) = ([1.0, 2.0, 3.0, 4.0], [-1.0, 2.0, 3.0, 4.0]);
    let patterns = [above, below].map(|x| g.jacobian_pattern(&x));
    assert_eq!(patterns[0], Pattern::of_entries((2, 4), [(0, 0), (0, 1), (1, 3)]));
    assert_eq!(patterns[1], Pattern::of_entries((2, 4), [(0, 2), (1, 3)]));
    let colouring = JacobianColouring::new(patterns[0].union(&patterns[1]));
    for x in [above, below] {
        let (_, dense) = g.value_and_jacobian(&x);
        let dense = dense.to_owned();
        let (_, entries) = g.value_and_sparse_jacobian(&x, &colouring);
        close(&dense, &colouring.pattern().dense(&entries));
    }
}

/// The panic of a call.
fn message(f: impl FnOnce()) -> String {
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)).expect_err("it panics");
    match panic.downcast_ref::<&str>() {
        Some(text) => text.to_string(),
        None => panic.downcast_ref::<String>().expect("a message").clone(),
    }
}

#[test]
fn wrong_patterns_are_noticed() {
    let mut g = picks::jacobian();
    let colouring = JacobianColouring::new(g.jacobian_pattern(&[1.0, 2.0, 3.0, 4.0]));
    let text = message(|| {
        g.value_and_sparse_jacobian(&[-1.0, 2.0, 3.0, 4.0], &colouring);
    });
    assert!(text.contains("`picks`: row 0 of the Jacobian has entries outside of its pattern"), "{text}");
    // The object stays usable.
    g.value_and_sparse_jacobian(&[2.0, 2.0, 3.0, 4.0], &colouring);

    // One entry less, in a colour that its row has already, or in another one, by columns and by rows.
    for n in [10, 100] {
        let x = points(n);
        let mut g = moments::jacobian();
        let full = g.jacobian_pattern(&x);
        for missing in [(0, 0), (1, 7), (0, n - 1)] {
            let kept = full.iter().map(|(i, j, _)| (i, j)).filter(|&entry| entry != missing);
            let colouring = JacobianColouring::new(Pattern::of_entries((3, n), kept));
            assert_eq!(colouring.is_by_columns(), n == 10);
            let text = message(|| {
                g.value_and_sparse_jacobian(&x, &colouring);
            });
            assert!(text.contains("of the Jacobian has entries outside of its pattern"), "{text}");
        }
    }
    let x = points(12);
    let mut g = bratu::jacobian();
    let full = g.jacobian_pattern(&x, 0.5);
    let mut second = rosenbrock::hessian();
    let of_hessian = second.hessian_pattern(&x);
    for (i, j, _) in full.iter() {
        let kept = full.iter().map(|(i, j, _)| (i, j)).filter(|&entry| entry != (i, j));
        let colouring = JacobianColouring::new(Pattern::of_entries((12, 13), kept));
        let text = message(|| {
            g.value_and_sparse_jacobian(&x, 0.5, &colouring);
        });
        assert!(text.contains(&format!("row {i} of the Jacobian")), "{text}");
    }
    for (i, j, _) in of_hessian.iter() {
        let kept = of_hessian.iter().map(|(i, j, _)| (i, j)).filter(|&e| e != (i, j) && e != (j, i));
        let colouring = HessianColouring::new(Pattern::of_entries((12, 12), kept));
        let text = message(|| {
            second.value_gradient_and_sparse_hessian(&x, &colouring);
        });
        assert!(text.contains("of the Hessian has entries outside of its pattern"), "{text}");
    }

    let text = message(|| {
        second.value_gradient_and_sparse_hessian(&x[1..], &HessianColouring::new(of_hessian.clone()));
    });
    assert!(text.contains("`rosenbrock`: a pattern of 12 columns for 11 coordinates"), "{text}");
    let text = message(|| {
        g.value_and_sparse_jacobian(&x[1..], 0.5, &JacobianColouring::new(full.clone()));
    });
    assert!(text.contains("`bratu`: a pattern of 13 columns for 12 coordinates"), "{text}");
    let three = JacobianColouring::new(Pattern::of_entries((3, 12), [(0, 0)]));
    let text = message(|| {
        g.value_and_sparse_jacobian(&x[1..], 0.5, &three);
    });
    assert!(text.contains("`bratu`: a pattern of 3 rows for 11 coordinates of what it makes"), "{text}");
}

/// Constant, but for rounding errors.
#[differentiable(dual)]
fn cancelling(x: &[f64]) -> [f64; 2] {
    let mut sums = [0.0, 0.0];
    for i in 0..x.len() {
        sums[i % 2] += 0.1 * x[i] + 0.2 * x[i] - 0.3 * x[i];
    }
    sums
}

#[test]
fn rounding_errors_are_no_entries() {
    let mut g = cancelling::jacobian();
    for (n, by_columns) in [(9, true), (90, false)] {
        let x = points(n);
        let colouring = JacobianColouring::new(g.jacobian_pattern(&x));
        assert_eq!(colouring.is_by_columns(), by_columns);
        let dense = g.value_and_jacobian(&x).1.to_owned();
        let (_, entries) = g.value_and_sparse_jacobian(&x, &colouring);
        assert!(entries.iter().all(|d| *d != 0.0 && d.abs() < 1e-15), "{entries}");
        close(&dense, &colouring.pattern().dense(&entries));
    }
}

#[test]
fn hessians() {
    for n in [2, 3, 4, 9, 40] {
        let x = points(n);
        let colouring = hessian!(rosenbrock(&x));
        assert_eq!(colouring.pattern().entries(), 3 * n - 2);
        assert_eq!(colouring.colours(), if n > 3 { 3 } else { 2 });
        let (hub, n) = (0.75, n + 3);
        let x = points(n);
        let colouring = hessian!(wheel(&x, hub));
        // A cycle, in whose middle a vertex meets all.
        assert_eq!(colouring.pattern().entries(), 3 * n + 2 * n + 1);
        assert!((4..=5).contains(&colouring.colours()), "{}", colouring.colours());
    }
}

#[test]
fn triangles_become_symmetric() {
    let lower = Pattern::of_entries((3, 3), [(0, 0), (1, 0), (2, 1), (2, 2)]);
    let colouring = HessianColouring::new(lower.clone());
    assert_eq!(colouring.pattern(), &lower.union(&lower.transposed()));
    let x = [0.5, 0.25, -0.75];
    let text = message(|| {
        rosenbrock::hessian().value_gradient_and_sparse_hessian(&x, &colouring);
    });
    assert!(text.contains("row 1 of the Hessian"), "{text}");
}

#[test]
fn malformed_patterns() {
    let text = message(|| {
        JacobianColouring::new(Pattern::new((1, 3), vec![0, 2], vec![2, 1]));
    });
    assert!(text.contains("`Pattern::of_entries` brings entries into order"), "{text}");
    let text = message(|| {
        HessianColouring::new(Pattern::new((1, 3), vec![0, 2], vec![1, 2]));
    });
    assert!(text.contains("a matrix of 1 rows and 3 columns"), "{text}");
    let text = message(|| {
        Pattern::of_entries((2, 2), [(2, 0)]);
    });
    assert!(text.contains("an entry beyond 2 rows"), "{text}");
}

/// Linear in all coordinates, with given coefficients.
#[differentiable(dual)]
fn linear(#[constant] pattern: &Pattern, #[constant] values: &[f64], x: &[f64]) -> Vec<f64> {
    let mut y = vec![0.0; pattern.rows()];
    for i in 0..y.len() {
        for e in pattern.starts()[i]..pattern.starts()[i + 1] {
            y[i] += values[e] * x[pattern.indices()[e]];
        }
    }
    y
}

/// Half a quadratic form.
#[differentiable(dual)]
fn quadratic(#[constant] pattern: &Pattern, #[constant] values: &[f64], x: &[f64]) -> f64 {
    let mut sum = 0.0;
    for i in 0..x.len() {
        for e in pattern.starts()[i]..pattern.starts()[i + 1] {
            sum += 0.5 * values[e] * x[i] * x[pattern.indices()[e]];
        }
    }
    sum
}

fn patterns(square: bool) -> impl Strategy<Value = Pattern> {
    (0..20_usize, 1..20_usize).prop_flat_map(move |(rows, columns)| {
        let rows = if square { columns } else { rows };
        let count = 0..(3 * rows + 1);
        prop::collection::vec((0..rows.max(1), 0..columns), count).prop_map(move |entries| {
            Pattern::of_entries((rows, columns), entries.into_iter().filter(|entry| entry.0 < rows))
        })
    })
}

/// Some rows and columns are full.
fn with_full_ones() -> impl Strategy<Value = Pattern> {
    (1..40_usize, 1..40_usize, 0..5_usize, 0..5_usize).prop_flat_map(|(rows, columns, i, j)| {
        prop::collection::vec((0..rows, 0..columns), 0..rows).prop_map(move |entries| {
            let full_rows = (i..rows).step_by(20).flat_map(|i| (0..columns).map(move |j| (i, j)));
            let full_columns = (j..columns).step_by(20).flat_map(|j| (0..rows).map(move |i| (i, j)));
            Pattern::of_entries((rows, columns), entries.into_iter().chain(full_rows).chain(full_columns))
        })
    })
}

proptest! {
    #[test]
    fn any_jacobian(pattern in prop_oneof![patterns(false), with_full_ones()]) {
        let values: Vec<f64> = (0..pattern.entries()).map(|e| 1.0 + e as f64).collect();
        let x = points(pattern.columns());
        let mut g = linear::jacobian();
        prop_assert_eq!(&g.jacobian_pattern(&pattern, &values, &x), &pattern);
        let colouring = JacobianColouring::new(pattern.clone());
        let (_, entries) = g.value_and_sparse_jacobian(&pattern, &values, &x, &colouring);
        prop_assert_eq!(entries.to_vec(), values);
    }

    #[test]
    fn any_hessian(pattern in patterns(true)) {
        let pattern = pattern.union(&pattern.transposed());
        let value = |(i, j, _): (usize, usize, usize)| 1.0 + (i * j) as f64 + (i + j) as f64;
        let values: Vec<f64> = pattern.iter().map(value).collect();
        let x = points(pattern.columns());
        let mut g = quadratic::hessian();
        prop_assert_eq!(&g.hessian_pattern(&pattern, &values, &x), &pattern);
        let colouring = HessianColouring::new(pattern.clone());
        let (_, _, entries) = g.value_gradient_and_sparse_hessian(&pattern, &values, &x, &colouring);
        for (got, expected) in entries.iter().zip(&values) {
            prop_assert!((got - expected).abs() <= 1e-12 * expected);
        }
    }
}
