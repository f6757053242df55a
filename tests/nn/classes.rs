//! Embeddings and losses with classes given by their indices: the same as dense ones, and as parts of functions.

use ndarray::{Array1, Array2, Axis, array, s};
use pullback::nn::{cross_entropy, embedding, log_softmax, negative_log_likelihood, sparse_cross_entropy};
use pullback::testing::check_gradient;
use pullback::{Ignored, Rule, Shadow, differentiable, nn};

fn waves(n: usize, m: usize) -> Array2<f64> {
    Array2::from_shape_fn((n, m), |(i, j)| 2.0 * (1.3 * i as f64 + 0.7 * j as f64 + 0.2).sin())
}

/// Numbers of rows and classes that nothing divides.
#[test]
fn as_with_dense_targets() {
    for (n, m) in [(1, 1), (7, 13), (31, 5), (129, 3)] {
        let (x, weights) = (waves(n, m), Array1::from_shape_fn(m, |j| 0.5 + (j % 3) as f64));
        let targets: Vec<_> = (0..n).map(|i| 7 * i % m).collect();
        let total: f64 = targets.iter().map(|&t| weights[t]).sum();
        let mut l = x.clone();
        log_softmax(&mut l, &x, Axis(1));
        for smoothing in [0.0, 0.3] {
            let mut dense = Array2::from_elem((n, m), smoothing / m as f64);
            targets.iter().enumerate().for_each(|(i, &t)| dense[[i, t]] += 1.0 - smoothing);
            dense *= &weights;
            let mut rows = Array2::zeros((n, 1));
            cross_entropy(&mut rows, &x, &dense, Axis(1));
            let loss = sparse_cross_entropy(&x, &weights, smoothing, &targets);
            assert!((loss - rows.sum() / total).abs() < 1e-13, "{n} {m} {smoothing}");
        }
        let loss = negative_log_likelihood(&l, &weights, &targets);
        assert!((loss - sparse_cross_entropy(&x, &weights, 0.0, &targets)).abs() < 1e-13);
    }
}

#[differentiable]
fn masked(x: &Array2<f64>, #[constant] smoothing: f64) -> f64 {
    let weights = Array1::<f64>::ones(3);
    sparse_cross_entropy(x, &weights, smoothing, &[0])
}

/// A class that is excluded, and one that is certain.
#[test]
fn far_away() {
    let mut g = masked::gradient();
    let (value, d) = g.value_and_gradient(&array![[0.0, f64::NEG_INFINITY, 0.0]], 0.0);
    assert!((value - 2.0_f64.ln()).abs() < 1e-15);
    assert!((d.x - &array![[-0.5, 0.0, 0.5]]).iter().all(|d| d.abs() < 1e-15));
    let (value, d) = g.value_and_gradient(&array![[1e4, -1e4, 0.0]], 0.0);
    assert_eq!((value, d.x), (0.0, &array![[0.0, 0.0, 0.0]]));
}

/// Words, a layer, and both losses; indices and targets are arguments.
#[differentiable]
fn language_model(
    table: &Array2<f64>,
    w: &Array2<f64>,
    weights: &Array1<f64>,
    smoothing: f64,
    words: &[usize],
    next: &[usize],
) -> f64 {
    let mut x = Array2::<f64>::zeros((words.len(), table.ncols()));
    embedding(&mut x, table, words);
    let logits = x.dot(w);
    let mut l = Array2::<f64>::zeros((words.len(), w.ncols()));
    log_softmax(&mut l, &logits, Axis(1));
    sparse_cross_entropy(&logits, weights, smoothing, next) + negative_log_likelihood(&l, weights, next)
}

#[test]
fn in_a_function() {
    let (words, next) = ([0, 3, 3, 1, 0], [2, 0, 1, 1, 2]);
    let mut g = language_model::gradient();
    check_gradient(
        |(table, w, weights, s)| language_model(table, w, weights, *s, &words, &next),
        |(table, w, weights, s)| {
            let (value, d) = g.value_and_gradient(table, w, weights, *s, &words, &next);
            (value, (d.table.clone(), d.w.clone(), d.weights.clone(), d.smoothing))
        },
        [(waves(4, 2), waves(2, 3), array![1.0, 0.5, 2.0], 0.2)],
    );
}

/// One row in the place of a table, and a result and logits that are views.
#[test]
fn views() {
    let row = array![[1.0, 2.0, 3.0]];
    let table = row.broadcast((4, 3)).expect("a view");
    let (mut room, mut droom) = (waves(3, 5), Array2::from_elem((3, 5), 2.0));
    let before = room.clone();
    let mut drow = Array2::zeros((1, 3));
    let mut rule = embedding::<f64>::rule();
    let indices = [3, 1, 1, 0, 2];
    {
        let mut y = room.view_mut().reversed_axes();
        rule.forward((&mut y, &table, &indices));
        let (droom, drow) = (droom.cell_view(), drow.cell_view());
        let dtable = drow.broadcast((4, 3)).expect("a view");
        rule.pullback(
            (),
            (&mut y, &table, &indices),
            (Shadow::new(droom.t()), Shadow::new(dtable), Ignored),
            (),
        );
    }
    assert_eq!((room, drow, droom.sum()), (before, array![[10.0, 10.0, 10.0]], 0.0));

    let base = waves(6, 8);
    let x = base.slice(s![..;-2, 1..;3]);
    let targets = [2, 0, 1];
    let mut rule = nn::sparse_cross_entropy::<f64>::rule();
    let (mut dbase, mut dx) = (Array2::zeros(base.raw_dim()), Array2::zeros((3, 3)));
    let weights = array![1.5];
    let none = Shadow::default;
    let value = rule.forward((&x, &weights, 0.1, &targets)).0;
    {
        let cells = dbase.cell_view();
        let shadow = Shadow::new(cells.slice(s![..;-2, 1..;3]));
        rule.pullback((), (&x, &weights, 0.1, &targets), (shadow, none(), Ignored, Ignored), 1.0);
    }
    let packed = x.to_owned();
    assert_eq!(rule.forward((&packed, &weights, 0.1, &targets)).0, value);
    let shadow = Shadow::new(dx.cell_view());
    rule.pullback((), (&packed, &weights, 0.1, &targets), (shadow, none(), Ignored, Ignored), 1.0);
    assert_eq!(dbase.slice(s![..;-2, 1..;3]), dx);
    assert_eq!(dbase.iter().filter(|d| **d != 0.0).count(), 9);
}
