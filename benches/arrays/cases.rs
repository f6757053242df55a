//! Each function on the sizes of `benches/array_peers.py`: the function, the derived gradient and that by hand, which have to agree.

use std::hint::black_box;

use ndarray::{Array, Array1, Array2, Dimension, ShapeBuilder};

use super::{by_hand, models};

/// What is done with the three of a function once they agree.
pub(crate) trait Contest {
    /// Whether a case takes part.
    fn wants(&self, peer: &str) -> bool;
    fn case<P, D, H>(
        &mut self,
        name: &str,
        peer: &str,
        primal: impl FnMut() -> P,
        derived: impl FnMut() -> D,
        by_hand: impl FnMut() -> H,
    );
}

/// A case by its name.
type Named<C> = (&'static str, fn(&mut C, &str));

pub(crate) fn all(contest: &mut impl Contest) {
    for (peer, n) in [("sin-cos-exp-10", 10), ("sin-cos-exp-1000", 1000)] {
        if contest.wants(peer) {
            waves(contest, peer, n);
        }
    }
    let rest: [Named<_>; 3] = [("affine-tanh-1000", affine), ("kron-20-40", kron), ("simple-mlp", network)];
    for (peer, run) in rest {
        if contest.wants(peer) {
            run(contest, peer);
        }
    }
    for (peer, d) in
        [("tanh-mlp-16", 16), ("tanh-mlp-64", 64), ("tanh-mlp-256", 256), ("tanh-mlp-1024", 1024)]
    {
        if contest.wants(peer) {
            layers(contest, peer, d);
        }
    }
    let rest: [Named<_>; 4] = [
        ("cross-entropy", cross_entropy),
        ("layer-norm", layer_norm),
        ("matmul-16-32-8", product),
        ("cholesky-logdet", determinant),
    ];
    for (peer, run) in rest {
        if contest.wants(peer) {
            run(contest, peer);
        }
    }
}

/// Numbers of the normal distribution (Box and Muller, *A note on the generation of random normal deviates*, 1958).
pub(crate) fn normal<D: Dimension>(shape: impl ShapeBuilder<Dim = D>, seed: u64) -> Array<f64, D> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut uniform = move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) >> 11) as f64 / (1u64 << 53) as f64
    };
    Array::from_shape_simple_fn(shape, move || {
        let (radius, angle) = ((-2.0 * (1.0 - uniform()).ln()).sqrt(), std::f64::consts::TAU * uniform());
        radius * angle.cos()
    })
}

/// Gradients that differ by rounding only.
pub(crate) fn assert_close<D: Dimension>(derived: &Array<f64, D>, by_hand: &Array<f64, D>) {
    assert_eq!(derived.shape(), by_hand.shape());
    let scale = by_hand.fold(1e-300, |scale: f64, d| scale.max(d.abs()));
    for (derived, by_hand) in derived.iter().zip(by_hand) {
        assert!((derived - by_hand).abs() <= 1e-9 * scale, "derived: {derived}, by hand: {by_hand}");
    }
}

pub(crate) fn assert_value(derived: f64, by_hand: f64) {
    assert!((derived - by_hand).abs() <= 1e-9 * by_hand.abs().max(1.0), "{derived} instead of {by_hand}");
}

fn waves(contest: &mut impl Contest, peer: &str, n: usize) {
    let x = normal((n, n), 1);
    let mut dx = x.clone();
    let mut g = models::waves::gradient();
    let (value, d) = g.value_and_gradient(&x);
    assert_value(value, by_hand::waves(&x, &mut dx));
    assert_close(d.x, &dx);
    contest.case(
        &format!("Σ sin cos exp, {n}×{n}"),
        peer,
        || models::waves(black_box(&x)),
        || g.value_and_gradient(black_box(&x)).0,
        || {
            let value = by_hand::waves(black_box(&x), &mut dx);
            black_box(&mut dx);
            value
        },
    );
}

fn affine(contest: &mut impl Contest, peer: &str) {
    let (x, w, b) = (normal((1000, 1000), 1), normal(1000, 2), normal(1000, 3));
    let mut room = (x.clone(), w.clone(), b.clone());
    let mut by_hand = |x: &Array2<f64>| {
        let value = by_hand::affine(x, &w, &b, (&mut room.0, &mut room.1, &mut room.2));
        black_box(&mut room);
        value
    };
    let mut g = models::affine::gradient();
    let (value, d) = g.value_and_gradient(&x, &w, &b);
    let expected = by_hand(&x);
    assert_value(value, expected);
    let mut room = (x.clone(), w.clone(), b.clone());
    by_hand::affine(&x, &w, &b, (&mut room.0, &mut room.1, &mut room.2));
    assert_close(d.x, &room.0);
    assert_close(d.w, &room.1);
    assert_close(d.b, &room.2);
    contest.case(
        "Σ tanh(x·w + b), 1000×1000",
        peer,
        || models::affine(black_box(&x), &w, &b),
        || g.value_and_gradient(black_box(&x), &w, &b).0,
        || by_hand(black_box(&x)),
    );
}

fn kron(contest: &mut impl Contest, peer: &str) {
    let (a, b) = (normal((20, 20), 1), normal((40, 40), 2));
    let (mut y, mut da, mut db) = (normal((800, 800), 1), a.clone(), b.clone());
    let mut g = models::outer::gradient();
    let (value, d) = g.value_and_gradient(&a, &b);
    assert_value(value, by_hand::outer(&a, &b, (&mut da, &mut db)));
    assert_close(d.a, &da);
    assert_close(d.b, &db);
    contest.case(
        "Σ A ⊗ B, 20×20, 40×40",
        peer,
        || models::outer(black_box(&a), &b),
        || g.value_and_gradient(black_box(&a), &b).0,
        || {
            let value = by_hand::outer(black_box(&a), &b, (&mut da, &mut db));
            black_box((&mut da, &mut db));
            value
        },
    );
    let mut g = models::kron::gradient();
    let (value, d) = g.value_and_gradient(&a, &b);
    assert_value(value, by_hand::kron(&a, &b, &mut y, (&mut da, &mut db)));
    assert_close(d.a, &da);
    assert_close(d.b, &db);
    contest.case(
        "the same, A ⊗ B written out",
        peer,
        || models::kron(black_box(&a), &b),
        || g.value_and_gradient(black_box(&a), &b).0,
        || {
            let value = by_hand::kron(black_box(&a), &b, &mut y, (&mut da, &mut db));
            black_box((&mut da, &mut db));
            value
        },
    );
}

fn network(contest: &mut impl Contest, peer: &str) {
    let (w2, w1) = (normal((128, 256), 1), normal((256, 128), 2));
    let (x, y) = (normal((128, 70), 3), normal((128, 70), 4));
    let mut room = by_hand::Network::new(&w2, &w1, &x, &y);
    let mut g = models::network::gradient();
    let (value, d) = g.value_and_gradient(&w2, &w1, &x, &y);
    assert_value(value, room.gradient(&w2, &w1, &x, &y));
    assert_close(d.w2, &room.d_w2);
    assert_close(d.w1, &room.d_w1);
    assert_close(d.x, &room.d_x);
    assert_close(d.y, &room.d_y);
    contest.case(
        "simple MLP",
        peer,
        || models::network(black_box(&w2), &w1, &x, &y),
        || g.value_and_gradient(black_box(&w2), &w1, &x, &y).0,
        || {
            let value = room.gradient(black_box(&w2), &w1, &x, &y);
            black_box(&mut room);
            value
        },
    );
}

fn layers(contest: &mut impl Contest, peer: &str, d: usize) {
    let (x, w1, b1) = (normal((16, d), 1), normal((d, d), 2), normal(d, 3));
    let (w2, b2): (_, Array1<f64>) = (normal((d, d), 4), normal(d, 5));
    let mut room = by_hand::Layers::new(&x, &w1, &b1);
    let mut g = models::layers::gradient();
    let (value, derived) = g.value_and_gradient(&x, &w1, &b1, &w2, &b2);
    assert_value(value, room.gradient(&x, (&w1, &b1), (&w2, &b2)));
    assert_close(derived.x, &room.d_x);
    assert_close(derived.w1, &room.d_w1);
    assert_close(derived.b1, &room.d_b1);
    assert_close(derived.w2, &room.d_w2);
    assert_close(derived.b2, &room.d_b2);
    contest.case(
        &format!("tanh MLP, batch 16, d = {d}"),
        peer,
        || models::layers(black_box(&x), &w1, &b1, &w2, &b2),
        || g.value_and_gradient(black_box(&x), &w1, &b1, &w2, &b2).0,
        || {
            let value = room.gradient(black_box(&x), (&w1, &b1), (&w2, &b2));
            black_box(&mut room);
            value
        },
    );
}

fn cross_entropy(contest: &mut impl Contest, peer: &str) {
    let x = normal((256, 1000), 1);
    let mut dx = x.clone();
    let mut g = models::cross_entropy::gradient();
    let (value, d) = g.value_and_gradient(&x);
    assert_value(value, by_hand::cross_entropy(&x, &mut dx));
    assert_close(d.x, &dx);
    contest.case(
        "cross entropy, 256×1000",
        peer,
        || models::cross_entropy(black_box(&x)),
        || g.value_and_gradient(black_box(&x)).0,
        || {
            let value = by_hand::cross_entropy(black_box(&x), &mut dx);
            black_box(&mut dx);
            value
        },
    );
}

fn layer_norm(contest: &mut impl Contest, peer: &str) {
    let (x, gain, bias) = (normal((256, 1024), 1), normal(1024, 2), normal(1024, 3));
    let (mut dx, mut d_gain, mut d_bias) = (x.clone(), gain.clone(), bias.clone());
    macro_rules! case {
        ($name:literal, $model:ident) => {
            let mut g = models::$model::gradient();
            let (value, d) = g.value_and_gradient(&x, &gain, &bias);
            let room = (&mut dx, &mut d_gain, &mut d_bias);
            assert_value(value, by_hand::layer_norm(&x, &gain, &bias, room));
            assert_close(d.x, &dx);
            assert_close(d.gain, &d_gain);
            assert_close(d.bias, &d_bias);
            contest.case(
                $name,
                peer,
                || models::$model(black_box(&x), &gain, &bias),
                || g.value_and_gradient(black_box(&x), &gain, &bias).0,
                || {
                    let room = (&mut dx, &mut d_gain, &mut d_bias);
                    let value = by_hand::layer_norm(black_box(&x), &gain, &bias, room);
                    black_box((&mut dx, &mut d_gain, &mut d_bias));
                    value
                },
            );
        };
    }
    case!("layer norm, 256×1024", layer_norm);
    case!("the same, fused with its square", layer_norm_fused);
}

fn product(contest: &mut impl Contest, peer: &str) {
    let (a, b) = (normal((16, 32), 1), normal((32, 8), 2));
    let (mut c, mut da, mut db) = (normal((16, 8), 3), a.clone(), b.clone());
    let mut g = models::product::gradient();
    let (value, d) = g.value_and_gradient(&a, &b);
    assert_value(value, by_hand::product(&a, &b, &mut c, (&mut da, &mut db)));
    assert_close(d.a, &da);
    assert_close(d.b, &db);
    contest.case(
        "Σ A·B, 16×32×8",
        peer,
        || models::product(black_box(&a), &b),
        || g.value_and_gradient(black_box(&a), &b).0,
        || {
            let value = by_hand::product(black_box(&a), &b, &mut c, (&mut da, &mut db));
            black_box((&mut da, &mut db));
            value
        },
    );
}

fn determinant(contest: &mut impl Contest, peer: &str) {
    let a = normal((128, 128), 1);
    let (mut k, mut inverse, mut da) = (a.clone(), a.clone(), a.clone());
    let mut g = models::determinant::gradient();
    let (value, d) = g.value_and_gradient(&a);
    assert_value(value, by_hand::determinant(&a, (&mut k, &mut inverse), &mut da));
    assert_close(d.a, &da);
    contest.case(
        "ln det(A·Aᵀ + 128·1), 128",
        peer,
        || models::determinant(black_box(&a)),
        || g.value_and_gradient(black_box(&a)).0,
        || {
            let value = by_hand::determinant(black_box(&a), (&mut k, &mut inverse), &mut da);
            black_box(&mut da);
            value
        },
    );
}
