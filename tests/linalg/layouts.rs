//! Arguments and shadows that are views: transposed, sliced, reversed, broadcast.

use ndarray::{Array1, Array2, Ix2, s};
use pullback::linalg::{self, cases::Kind};
use pullback::{Rule, Shadow};

use crate::inputs::matrix;

/// A column that is broadcast, to solve for: its shadow is broadcast, too, so that what comes to each column is added up.
#[test]
fn broadcast_right_hand_sides() {
    let (a, b) = (matrix(Kind::Regular, 4, 4, 1), matrix(Kind::Regular, 4, 1, 2));
    let wide = b.broadcast((4, 3)).expect("three equal columns");
    let seed = matrix(Kind::Regular, 4, 3, 3);

    let mut rule = linalg::solve::<f64, f64, Ix2>::rule();
    let x = rule.forward((&a, &wide)).0;
    assert_eq!(x, linalg::solve(&a, &wide.to_owned()));
    let mut total = Array2::<f64>::zeros((4, 1));
    let cells = total.cell_view();
    let shadows = (Shadow::default(), Shadow::new(cells.broadcast((4, 3)).expect("a view")));
    rule.pullback((), (&a, &wide), shadows, &seed);

    let mut separate = Array2::<f64>::zeros((4, 3));
    rule.forward((&a, &wide));
    rule.pullback((), (&a, &wide), (Shadow::default(), Shadow::new(separate.cell_view())), &seed);
    for i in 0..4 {
        assert!((total[[i, 0]] - separate.row(i).sum()).abs() < 1e-14);
    }
}

/// A multiple of the matrix of ones, from a single number; and its shadow.
#[test]
fn a_single_number_as_a_matrix() {
    let one = Array2::from_elem((1, 1), 0.5);
    let ones = one.broadcast((3, 3)).expect("a view");
    let mut total = Array2::<f64>::zeros((1, 1));
    let mut rule = linalg::expm::<f64>::rule();
    let y = rule.forward((&ones,)).0;
    let seed = Array2::ones((3, 3));
    let cells = total.cell_view();
    let shadow = Shadow::new(cells.broadcast((3, 3)).expect("a view"));
    rule.pullback((), (&ones,), (shadow,), &seed);
    // Σ exp(x·J)ᵢⱼ = 3·exp(3x)
    assert!((y.sum() - 3.0 * 1.5_f64.exp()).abs() < 1e-12);
    assert!((total[[0, 0]] - 9.0 * 1.5_f64.exp()).abs() < 1e-11);
}

/// The result goes to a view, and comes from views.
#[test]
fn views_everywhere() {
    let base = matrix(Kind::PositiveDefinite, 5, 5, 1);
    let mut room = Array2::<f64>::from_elem((10, 12), 7.0);
    let mut b = Array1::linspace(-1.0, 1.0, 5);
    b.invert_axis(ndarray::Axis(0));
    {
        let mut part = room.slice_mut(s![..;2, 1..6]);
        linalg::cholesky_into(&mut part.view_mut().reversed_axes(), &base.t());
        assert_eq!(part, linalg::cholesky(&base).reversed_axes());
    }
    assert_eq!(room.iter().filter(|&&x| x == 7.0).count(), 120 - 25);
    let x = linalg::solve_spd(&base.slice(s![..;-1, ..;-1]), &b.slice(s![..;-1]));
    let expected = linalg::solve_spd(&base, &b);
    assert!(x.iter().zip(expected.iter().rev()).all(|(x, y)| (x - y).abs() < 1e-13));
}
