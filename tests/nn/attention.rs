//! Attention by its definition, as a part of functions, and of views.

use ndarray::{Array2, Array3, Array4, Axis, s};
use pullback::nn::{Mask, attention, cases};
use pullback::testing::{allocations_in, check_gradient};
use pullback::{Ignored, Rule, Shadow, differentiable, nn};

fn waves(shape: [usize; 4], start: f64) -> Array4<f64> {
    let mut k = start;
    Array4::from_shape_simple_fn(shape, || {
        k += 0.7;
        k.sin()
    })
}

/// All scores, and the softmax of each row.
fn by_definition(q: &Array4<f64>, k: &Array4<f64>, v: &Array4<f64>, scale: f64, mask: Mask) -> Array4<f64> {
    let (b, h, n, _) = q.dim();
    let (m, e) = (k.dim().2, v.dim().3);
    let mut y = Array4::zeros((b, h, n, e));
    for (b, h) in ndarray::indices((b, h)) {
        let of = |x: &Array4<f64>| x.slice(s![b, h, .., ..]).to_owned();
        let mut weights: Array2<f64> = of(q).dot(&of(k).t()).mapv(|score| (scale * score).exp());
        for ((i, j), weight) in weights.indexed_iter_mut() {
            // The last query attends to the last key.
            if mask == Mask::Causal && j + n > i + m {
                *weight = 0.0;
            }
        }
        for mut row in weights.rows_mut() {
            let sum = row.sum();
            row /= sum;
        }
        y.slice_mut(s![b, h, .., ..]).assign(&weights.dot(&of(v)));
    }
    y
}

#[test]
fn what_is_computed() {
    for (mut y, q, k, v, scale, mask) in cases::attention::<f64>().inputs {
        attention(&mut y, &q, &k, &v, scale, mask);
        let expected = by_definition(&q, &k, &v, scale, mask);
        // Of no keys nothing comes.
        let expected = expected.mapv(|y| if k.is_empty() { 0.0 } else { y });
        assert!(y.iter().zip(&expected).all(|(y, expected)| (y - expected).abs() < 1e-13), "{:?}", y.shape());
    }
}

/// Scores whose exponentials overflow, the largest of them in the first, the middle or the last block.
#[test]
fn large_scores() {
    for at in [0, 70, 149] {
        let q = Array4::from_elem((1, 1, 3, 1), 1e4);
        let mut k = waves([1, 1, 150, 1], 0.0);
        k[[0, 0, at, 0]] = 2.0;
        let v = waves([1, 1, 150, 2], 0.3);
        let mut y = Array4::zeros((1, 1, 3, 2));
        attention(&mut y, &q, &k, &v, 1.0, Mask::None);
        assert_eq!(y.slice(s![0, 0, 1, ..]), v.slice(s![0, 0, at, ..]));
    }
}

/// What a rule holds grows with queries and keys, and not with their product.
#[test]
fn memory() {
    let held = |n: usize| {
        let (q, k, v) = (waves([1, 1, n, 4], 0.1), waves([1, 1, n, 4], 0.2), waves([1, 1, n, 4], 0.3));
        let (mut y, mut dy) = (q.clone(), v.clone());
        let [mut dq, mut dk, mut dv] = [(); 3].map(|()| Array4::<f64>::zeros(q.raw_dim()));
        let mut rule = nn::attention::<f64>::rule();
        rule.forward((&mut y, &q, &k, &v, 0.5, Mask::Causal));
        let [dy, dq, dk, dv] = [&mut dy, &mut dq, &mut dk, &mut dv].map(|d| Shadow::new(d.cell_view()));
        rule.pullback((), (&mut y, &q, &k, &v, 0.5, Mask::Causal), (dy, dq, dk, dv, Ignored, Ignored), ());
        pullback::State::memory(&rule)
    };
    let (small, large) = (held(256), held(1024));
    // What y held and one number for each query.
    assert!(large - small <= 8 * (4 + 1) * (1024 - 256) + 64, "{small} {large}");
}

/// Self-attention with two heads, which lie side by side in memory.
#[differentiable]
fn layer(x: &Array3<f64>, w: &Array4<f64>, scale: f64) -> f64 {
    let (batch, len) = (x.shape()[0], x.shape()[1]);
    let mut total = 0.0;
    let mut q = Array4::<f64>::zeros((batch, 2, len, 3));
    let mut k = Array4::<f64>::zeros((batch, 2, len, 3));
    for b in 0..batch {
        for h in 0..2 {
            for i in 0..len {
                for c in 0..3 {
                    for d in 0..2 {
                        q[[b, h, i, c]] += w[[0, h, d, c]] * x[[b, i, d]];
                        k[[b, h, i, c]] += w[[1, h, d, c]] * x[[b, i, d]];
                    }
                }
            }
        }
    }
    let mut y = Array4::<f64>::zeros((batch, 2, len, 3));
    attention(&mut y, &q, &k, &q, scale, Mask::Causal);
    for b in 0..batch {
        for i in 0..len {
            for c in 0..3 {
                total += y[[b, 0, i, c]] * y[[b, 1, i, c]];
            }
        }
    }
    total
}

#[test]
fn in_a_function() {
    let x = waves([1, 2, 5, 2], 0.4).index_axis_move(Axis(0), 0);
    let mut g = layer::gradient();
    check_gradient(
        |(x, w, scale)| layer(x, w, *scale),
        |(x, w, scale)| {
            let (value, d) = g.value_and_gradient(x, w, *scale);
            (value, (d.x.clone(), d.w.clone(), d.scale))
        },
        [(x.clone(), waves([2, 2, 2, 3], 1.0), 0.6)],
    );
    let w = waves([2, 2, 2, 3], 1.0);
    g.value_and_gradient(&x, &w, 0.6);
    assert_eq!(allocations_in(|| g.value_and_gradient(&x, &w, 0.6).0).1, 0);
}

/// One head of keys and values for all queries, and heads side by side.
#[test]
fn views() {
    let (mut room, base) = (waves([2, 5, 3, 2], 0.1), waves([2, 5, 3, 2], 0.9));
    let before = room.clone();
    let (key, value) = (waves([2, 1, 4, 2], 0.5), waves([2, 1, 4, 2], 1.5));
    let q = base.view().permuted_axes([0, 2, 1, 3]);
    let wide = |x: &Array4<f64>| x.broadcast((2, 3, 4, 2)).expect("a view").to_owned();
    let shape = (2, 3, 4, 2);
    let (k, v) = (key.broadcast(shape).expect("a view"), value.broadcast(shape).expect("a view"));
    let mut rule = nn::attention::<f64>::rule();
    let mut droom = waves([2, 5, 3, 2], 2.0);
    let seed = droom.clone();
    let [mut dbase, mut dkey, mut dvalue] = [&base, &key, &value].map(|x| Array4::<f64>::zeros(x.raw_dim()));
    let dscale;
    {
        let mut y = room.view_mut().permuted_axes([0, 2, 1, 3]);
        rule.forward((&mut y, &q, &k, &v, 0.8, Mask::None));
        let [droom, dbase, dkey, dvalue] =
            [&mut droom, &mut dbase, &mut dkey, &mut dvalue].map(|d| d.cell_view());
        let shadows = (
            Shadow::new(droom.permuted_axes([0, 2, 1, 3])),
            Shadow::new(dbase.permuted_axes([0, 2, 1, 3])),
            Shadow::new(dkey.broadcast(shape).expect("a view")),
            Shadow::new(dvalue.broadcast(shape).expect("a view")),
            Ignored,
            Ignored,
        );
        dscale = rule.pullback((), (&mut y, &q, &k, &v, 0.8, Mask::None), shadows, ()).4;
    }
    assert_eq!((room, droom.iter().all(|d| *d == 0.0)), (before, true));
    // The same with arrays.
    let (q, k, v) = (q.to_owned(), wide(&key), wide(&value));
    let (mut y, mut dy) = (q.clone(), seed.permuted_axes([0, 2, 1, 3]));
    let [mut dq, mut dk, mut dv] = [&q, &k, &v].map(|x| Array4::<f64>::zeros(x.raw_dim()));
    rule.forward((&mut y, &q, &k, &v, 0.8, Mask::None));
    let [cells_y, cells_q, cells_k, cells_v] =
        [&mut dy, &mut dq, &mut dk, &mut dv].map(|d| Shadow::new(d.cell_view()));
    let shadows = (cells_y, cells_q, cells_k, cells_v, Ignored, Ignored);
    let other = rule.pullback((), (&mut y, &q, &k, &v, 0.8, Mask::None), shadows, ()).4;
    assert!((dscale - other).abs() < 1e-12);
    let near = |x: &Array4<f64>, y: &Array4<f64>| x.iter().zip(y).all(|(x, y)| (x - y).abs() < 1e-12);
    assert!(near(&dbase.permuted_axes([0, 2, 1, 3]), &dq));
    let summed = |d: &Array4<f64>| d.sum_axis(Axis(1)).insert_axis(Axis(1));
    assert!(near(&dkey, &summed(&dk)) && near(&dvalue, &summed(&dv)));
}
