//! What the first call allocates is what the catalogue says.

use ndarray::{Array1, Array2};
use pullback::linalg::{self, Pattern, Uplo};
use pullback::testing::allocations_in;
use pullback::{Function, Output, Parameters, Rule, Trans};

use crate::inputs::matrix;
use linalg::cases::Kind;

/// How many buffers the first forward and pullback of `rule` allocate: not the frame of the rule, and not the `returned` arrays.
fn buffers<R: Rule>(
    mut rule: R,
    returned: usize,
    mut args: <<R::Function as Function>::Parameters as Parameters>::Args<'_>,
    seed: &<<R::Function as Function>::Output as Output>::Gradient,
) -> usize {
    type List<R> = <<R as Rule>::Function as Function>::Parameters;
    let mut buffers = List::<R>::buffers();
    List::<R>::prepare(&mut buffers, &args);
    let count = allocations_in(|| {
        let residual = rule.forward(List::<R>::reborrow(&mut args)).1;
        let (args, shadows) = (List::<R>::reborrow(&mut args), List::<R>::shadows(&mut buffers));
        rule.pullback(residual, args, shadows, <R::Function as Function>::Output::lend(seed));
    });
    count.1.saturating_sub(1 + returned)
}

/// The numbers of buffers that a table in the catalogue names, by the name of the function.
fn documented(name: &str) -> usize {
    let row = include_str!("../../src/guide/catalogue.md")
        .lines()
        .find(|line| line.starts_with(&format!("| `{name}(")));
    let row = row.unwrap_or_else(|| panic!("a row for {name}"));
    row.split('|')
        .nth(4)
        .and_then(|cell| cell.trim().parse().ok())
        .unwrap_or_else(|| panic!("a number for {name}"))
}

#[test]
fn first_calls() {
    let regular = |m, n| matrix(Kind::Regular, m, n, 1);
    let (a, b) = (regular(5, 5), regular(5, 2));
    let (spd, l) = (matrix(Kind::PositiveDefinite, 5, 5, 1), matrix(Kind::Triangular, 5, 5, 1));
    let symmetric = matrix(Kind::Symmetric, 5, 5, 1);
    let (mut u, mut r, mut s) = (Array2::zeros((5, 5)), Array2::zeros((5, 5)), Array1::zeros(5));
    let (y, w) = (Array2::ones((5, 5)), Array1::ones(5));
    let found = [
        ("cholesky", buffers(linalg::cholesky::rule(), 1, (&spd,), &y)),
        ("cholesky_solve", buffers(linalg::cholesky_solve::rule(), 1, (&l, &b), &b)),
        ("solve_spd", buffers(linalg::solve_spd::rule(), 1, (&spd, &b), &b)),
        ("logdet_spd", buffers(linalg::logdet_spd::rule(), 0, (&spd,), &1.0)),
        ("solve", buffers(linalg::solve::rule(), 1, (&a, &b), &b)),
        (
            "solve_triangular",
            buffers(linalg::solve_triangular::rule(), 1, (Uplo::Lower, Trans::No, &l, &b), &b),
        ),
        ("inv", buffers(linalg::inv::rule(), 1, (&a,), &y)),
        ("det", buffers(linalg::det::rule(), 0, (&a,), &1.0)),
        ("logdet", buffers(linalg::logdet::rule(), 0, (&a,), &1.0)),
        (
            "lu_into",
            buffers(
                linalg::lu_into::rule().forgoing(0).forgoing(1).forgoing(2),
                0,
                (&mut y.clone(), &mut u, &mut r, &a),
                &(),
            ),
        ),
        ("qr_into", buffers(linalg::qr_into::rule().forgoing(0).forgoing(1), 0, (&mut u, &mut r, &a), &())),
        ("lstsq", buffers(linalg::lstsq::rule(), 1, (&a, &b), &b)),
        (
            "eigh_into",
            buffers(linalg::eigh_into::rule().forgoing(0).forgoing(1), 0, (&mut s, &mut u, &symmetric), &()),
        ),
        ("eigvalsh", buffers(linalg::eigvalsh::rule(), 1, (&symmetric,), &w)),
        (
            "svd_into",
            buffers(
                linalg::svd_into::rule().forgoing(0).forgoing(1).forgoing(2),
                0,
                (&mut u, &mut s, &mut r, &symmetric),
                &(),
            ),
        ),
        ("svdvals", buffers(linalg::svdvals::rule(), 1, (&symmetric,), &w)),
        ("expm", buffers(linalg::expm::rule(), 1, (&a,), &y)),
        ("kron", buffers(linalg::kron::rule(), 1, (&b, &b), &linalg::kron(&b, &b))),
        (
            "sparse_mul",
            buffers(
                linalg::sparse_mul::<f64, f64, ndarray::Ix1>::rule(),
                1,
                (&Pattern::new((1, 2), vec![0, 1], vec![1]), &Array1::ones(1), &Array1::ones(2)),
                &Array1::ones(1),
            ),
        ),
    ];
    let wrong: Vec<_> = found.into_iter().filter(|&(name, count)| documented(name) != count).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}
