//! Shadows that a loop sets instead of adding to them: nothing else may have added before, and nothing may stay as it was.

use pullback::prelude::*;
use pullback::testing::{allocations_in, check_gradient, check_rule};
use pullback::{Float, Rule, Shadow};

fn wave(n: usize, start: f64) -> Vec<f64> {
    (0..n).map(|i| (0.9 * i as f64 + start).cos() + 0.1).collect()
}

/// Lengths up and down, and none at all.
fn inputs() -> Vec<Vec<f64>> {
    [5, 9, 1, 0, 2, 33, 4].iter().enumerate().map(|(k, n)| wave(*n, 0.3 * k as f64)).collect()
}

/// Tests `$f`, a function of one slice, and whether its rule overwrites the shadow of that. What an earlier call has left, be
/// it NaN, must not matter; the gradient is that of a rule which adds to zeros, and of one that is called by another function.
macro_rules! check {
    ($f:ident $(, $constant:expr)*; $sets:expr $(, least $least:expr)?) => {{
        #[allow(unused_mut)]
        let mut inputs = inputs();
        $(inputs.retain(|x| x.len() >= $least);)?
        assert_eq!($f::rule().overwrite(0), $sets, stringify!($f));
        let mut g = $f::gradient();
        for _ in 0..2 {
            check_gradient(
                |x| $f(x $(, $constant)*),
                |x| {
                    let (value, d) = g.value_and_gradient(x $(, $constant)*);
                    (value, d.x.to_vec())
                },
                inputs.clone(),
            );
        }
        let (mut rule, mut split) = ($f::rule(), $f::rule());
        split.overwrite(0);
        for x in &inputs {
            let spoilt = vec![f64::NAN; x.len()];
            g.value_and_gradient(&spoilt $(, $constant)*);
            let (value, d) = g.value_and_gradient(x $(, $constant)*);
            let mut added = vec![0.0; x.len()];
            rule.value_and_pullback((x $(, $constant)*,), (Shadow::from(&mut added[..]) $(, crate::fresh::ignored(&$constant))*,), 1.0);
            assert_eq!((value, d.x), ($f(x $(, $constant)*), &added[..]), stringify!($f));
            let mut set = if $sets { spoilt } else { vec![0.0; x.len()] };
            let (_, residual) = split.forward((x $(, $constant)*,));
            split.pullback(residual, (x $(, $constant)*,), (Shadow::from(&mut set[..]) $(, crate::fresh::ignored(&$constant))*,), 1.0);
            // In blocks, sums are added up in another order.
            let close = |(set, added): (&f64, &f64)| (set - added).abs() <= 1e-14 * added.abs();
            assert!(set.iter().zip(&added).all(close), "{}: {set:?} {added:?}", stringify!($f));
        }
        check_rule($f::rule, inputs.into_iter().map(|x| (x $(, $constant)*,)));
    }};
}

/// In the place of a shadow.
pub(crate) fn ignored<T>(_: &T) -> pullback::Ignored {
    pullback::Ignored
}

#[differentiable]
fn squares(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for &v in x {
        s += v * v;
    }
    s
}

#[differentiable]
fn by_iterator(x: &[f64]) -> f64 {
    x.iter().map(|v| v.sin() * v).sum()
}

#[differentiable]
fn by_index(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for i in 0..x.len() {
        s += x[i].exp() * x[i];
    }
    s * 0.5
}

/// What follows is not linear: the two passes stay two.
#[differentiable]
fn of_a_sum(x: &[f64]) -> f64 {
    let mut s = 1.0;
    for i in 0..x.len() {
        s += x[i] * x[i];
    }
    s.ln()
}

/// The state of the loop is kept.
#[differentiable]
fn carried(x: &[f64]) -> f64 {
    let mut s = 0.5;
    for i in 0..x.len() {
        s = s * x[i] + x[i].sin();
    }
    s
}

#[differentiable]
fn inclusive(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for i in 0..=x.len() - 1 {
        s += x[i] * x[i];
    }
    s
}

#[differentiable]
fn inner_ones(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for i in 1..x.len() - 1 {
        s += x[i] * x[i];
    }
    s
}

#[differentiable]
fn neighbours(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for i in 0..x.len() - 1 {
        s += x[i] * x[i + 1];
    }
    s
}

#[differentiable]
fn second_differences(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for i in 1..x.len() - 1 {
        let d = x[i - 1] - 2.0 * x[i] + x[i + 1];
        s += d * d;
    }
    s
}

/// The first of three is left out, and those in between.
#[differentiable]
fn with_gaps(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for i in 0..x.len() - 3 {
        s += x[i + 1] * x[i + 3];
    }
    s
}

/// The recurrence is undone the last iteration first.
#[differentiable]
fn carried_neighbours(x: &[f64]) -> f64 {
    let mut s = 0.2;
    for i in 0..x.len() - 1 {
        s = s.sin() * x[i] + x[i + 1];
    }
    s
}

/// What comes later in the reverse pass adds.
#[differentiable]
fn two_loops(x: &[f64]) -> f64 {
    let mut m = 0.0;
    for &v in x {
        m += v.exp();
    }
    let mut s = 0.0;
    for &v in x {
        s += (v - m) * (v - m);
    }
    s
}

#[differentiable]
fn element_before(x: &[f64]) -> f64 {
    let first = x[0] * x[x.len() - 1];
    let mut s = 0.0;
    for i in 0..x.len() {
        s += x[i] * first;
    }
    s
}

/// The element that all iterations share is added to afterwards.
#[differentiable]
fn element_within(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for i in 0..x.len() {
        s += x[i] * x[0];
    }
    s
}

#[differentiable]
fn bound_changes(x: &[f64]) -> f64 {
    let mut n = x.len();
    let mut s = 0.0;
    for i in 0..n {
        s += x[i] * x[i];
    }
    n = 0;
    s + n as f64
}

#[differentiable]
fn so_many(x: &[f64], n: usize) -> f64 {
    let mut s = 0.0;
    for i in n..x.len() {
        s += x[i].sin();
    }
    s
}

#[differentiable]
fn hidden_name(x: &[f64]) -> f64 {
    let y = x;
    let mut s = 0.0;
    for &v in y {
        let y = 2.0 * v;
        s += y * v;
    }
    let x = 3.0 * s;
    x * s
}

/// Both passes at once, and the element is called as its vector, which is called as the parameter.
#[differentiable]
fn one_name(x: &[f64]) -> f64 {
    let mut x = x.to_vec();
    x.iter_mut().for_each(|x| *x *= 3.0);
    let mut s = 0.0;
    for x in &x {
        s += x * x;
    }
    s
}

#[test]
fn each_element_once() {
    check!(squares; true);
    check!(by_iterator; true);
    check!(by_index; true);
    check!(of_a_sum; true);
    check!(carried; true);
    check!(inclusive; true, least 1);
    check!(inner_ones; true, least 1);
    check!(neighbours; true, least 1);
    check!(second_differences; true, least 1);
    check!(with_gaps; true, least 3);
    check!(carried_neighbours; true, least 1);
    check!(two_loops; true);
    check!(element_before; true, least 1);
    check!(element_within; true);
    check!(bound_changes; true);
    check!(so_many, 0; true);
    check!(so_many, 3; true);
    check!(so_many, 40; true);
    check!(hidden_name; true);
    check!(one_name; false);
}

#[differentiable]
fn element_after(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for &v in x {
        s += v * v;
    }
    s * x[x.len() - 1]
}

#[differentiable]
fn twice_in_one_loop(x: &[f64]) -> f64 {
    let n = x.len();
    let mut s = 0.0;
    for i in 0..n {
        s += x[i] * x[n - 1 - i];
    }
    s
}

#[differentiable]
fn element_in_turn(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for i in 0..x.len() {
        s += x[i] * x[i / 2];
    }
    s
}

#[differentiable]
fn some_of_them(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for i in 0..x.len() {
        if x[i] > 0.0 {
            s += x[i] * x[i];
        }
    }
    s
}

#[differentiable]
fn loop_in_a_branch(x: &[f64], way: usize) -> f64 {
    let mut s = 1.0;
    if way > 0 {
        for &v in x {
            s += v * v;
        }
    }
    s
}

#[differentiable]
fn loop_in_a_loop(x: &[f64], times: usize) -> f64 {
    let mut s = 1.0;
    for k in 0..times {
        for &v in x {
            s += v * v * k as f64;
        }
    }
    s
}

#[differentiable]
fn loop_within_as_well(x: &[f64]) -> f64 {
    let mut s = 1.0;
    for i in 0..x.len() {
        s += x[i] * x[i];
        for j in 0..i {
            s += x[j] * 0.5;
        }
    }
    s
}

#[differentiable]
fn returns_early(x: &[f64]) -> f64 {
    if x.len() > 4 {
        return 2.0 * x[0];
    }
    let mut s = 0.0;
    for &v in x {
        s += v * v;
    }
    s
}

#[differentiable]
fn breaks(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for i in 0..x.len() {
        if i > 2 {
            break;
        }
        s += x[i] * x[i];
    }
    s
}

#[differentiable]
fn continues(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for i in 0..x.len() {
        if i == 2 {
            continue;
        }
        s += x[i] * x[i];
    }
    s
}

#[differentiable]
fn backwards(x: &[f64]) -> f64 {
    let mut s = 0.3;
    for i in (0..x.len()).rev() {
        s = s * x[i] + x[i];
    }
    s
}

#[differentiable]
fn every_other(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for i in (0..x.len()).step_by(2) {
        s += x[i] * x[i];
    }
    s
}

#[differentiable]
fn counted(x: &[f64]) -> f64 {
    let mut s = 0.0;
    let mut i = 0;
    while i < x.len() {
        s += x[i] * x[i];
        i += 1;
    }
    s
}

#[differentiable]
fn by_a_second_name(x: &[f64]) -> f64 {
    let tail = &x[1..];
    let mut s = 0.0;
    for i in 0..tail.len() {
        s += x[i] * tail[i];
    }
    s
}

#[differentiable]
fn and_a_call(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for &v in x {
        s += v.sin();
    }
    s + squares(x)
}

#[differentiable]
fn and_a_closure(x: &[f64]) -> f64 {
    let f = |k: f64| k * x[0];
    let mut s = 0.0;
    for &v in x {
        s += v.sin();
    }
    s + f(s)
}

#[differentiable]
fn index_changes(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for mut i in 0..x.len() {
        i = i / 2;
        s += x[i] * x[i];
    }
    s
}

/// The index is another one where it is used.
#[differentiable]
fn hidden_index(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for i in 0..x.len() {
        let i = i / 2;
        s += x[i] * x[i];
    }
    s
}

#[test]
fn what_must_add() {
    check!(element_after; false, least 1);
    check!(twice_in_one_loop; false);
    check!(element_in_turn; false);
    check!(some_of_them; false);
    check!(loop_in_a_branch, 0; false);
    check!(loop_in_a_branch, 1; false);
    check!(loop_in_a_loop, 0; false);
    check!(loop_in_a_loop, 3; false);
    check!(loop_within_as_well; false);
    check!(returns_early; false);
    check!(breaks; false);
    check!(continues; false);
    check!(backwards; false);
    check!(every_other; false);
    check!(counted; false);
    check!(by_a_second_name; false, least 1);
    check!(and_a_call; false);
    check!(and_a_closure; false, least 1);
    check!(index_changes; false);
    check!(hidden_index; false);
}

/// The longer one has elements that no iteration comes to.
#[differentiable]
fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

#[differentiable]
fn by_the_first(x: &[f64], y: &[f64], k: f64) -> f64 {
    let mut s = 0.0;
    for i in 0..x.len() {
        s += x[i] * y[i] * k;
    }
    s
}

/// Of two parameters one is written once.
#[differentiable]
fn and_elsewhere(x: &[f64], y: &[f64]) -> f64 {
    let mut s = 0.0;
    for i in 0..x.len() {
        s += x[i] * y[i];
    }
    s * y[0]
}

#[differentiable]
fn changes_in_place(z: &mut [f64], x: &[f64]) -> f64 {
    let mut s = 0.0;
    for i in 0..x.len() {
        z[i] *= x[i];
        s += z[i] * x[i];
    }
    s
}

/// Both arguments are one slice.
#[differentiable]
fn with_itself(x: &[f64]) -> f64 {
    dot(x, x) * 2.0
}

#[differentiable]
fn parts_of_one(x: &[f64]) -> f64 {
    dot(&x[1..], &x[..x.len() - 1])
}

#[differentiable]
fn handed_on(x: &[f64], y: &[f64]) -> f64 {
    let k = dot(x, y);
    k * k
}

#[test]
fn several_slices() {
    let pairs = || [(4, 6), (9, 3), (0, 2), (5, 5), (1, 0)].map(|(n, m)| (wave(n, 0.1), wave(m, 0.7)));
    let mut rules = (dot::rule(), by_the_first::rule(), and_elsewhere::rule(), handed_on::rule());
    assert_eq!([rules.0.overwrite(0), rules.0.overwrite(1)], [true; 2]);
    assert_eq!([rules.1.overwrite(0), rules.1.overwrite(1), rules.1.overwrite(2)], [true, true, false]);
    assert_eq!([rules.2.overwrite(0), rules.2.overwrite(1)], [true, false]);
    assert_eq!([rules.3.overwrite(0), rules.3.overwrite(1)], [true; 2]);
    macro_rules! pairs {
        ($f:ident, $inputs:expr) => {{
            let mut g = $f::gradient();
            for _ in 0..2 {
                check_gradient(
                    |(x, y)| $f(x, y),
                    |(x, y)| {
                        let (value, d) = g.value_and_gradient(x, y);
                        (value, (d.x.to_vec(), d.y.to_vec()))
                    },
                    $inputs,
                );
            }
            check_rule($f::rule, $inputs);
        }};
    }
    pairs!(dot, pairs());
    pairs!(handed_on, pairs());
    let longer = || pairs().into_iter().filter(|(x, y)| x.len() <= y.len() && !y.is_empty());
    pairs!(and_elsewhere, longer());
    let mut g = by_the_first::gradient();
    check_gradient(
        |(x, y)| by_the_first(x, y, 0.7),
        |(x, y)| {
            let (value, d) = g.value_and_gradient(x, y, 0.7);
            (value, (d.x.to_vec(), d.y.to_vec()))
        },
        longer(),
    );
    check_rule(by_the_first::rule, longer().map(|(x, y)| (x, y, 0.7)));
    check_rule(changes_in_place::rule, longer().map(|(x, z)| (z, x)));
    let mut g = changes_in_place::gradient();
    for (x, mut z) in longer().chain(longer()) {
        let mut d_x = vec![0.0; x.len()];
        let before = z.clone();
        let expected: Vec<_> = x.iter().zip(&z).map(|(x, z)| 2.0 * x * z).collect();
        let (_, d) = g.value_and_gradient(&mut z, &x);
        d_x.copy_from_slice(d.x);
        assert!(d_x.iter().zip(&expected).all(|(d, e)| (d - e).abs() < 1e-12), "{d_x:?} {expected:?}");
        assert_eq!(z, before);
    }
    check!(with_itself; false);
    check!(parts_of_one; false, least 1);
}

#[differentiable]
fn of_an_array(x: &[f64; 6]) -> f64 {
    let mut s = 0.0;
    for i in 2..5 {
        s += x[i] * x[i];
    }
    s
}

#[differentiable]
fn of_a_vector(x: &Vec<f32>) -> f32 {
    x.iter().map(|v| v * v).sum()
}

#[differentiable]
fn of_any<T: Float>(x: &[T]) -> T {
    let mut s = T::zero();
    for &v in x {
        s += v * v.sin();
    }
    s
}

#[test]
fn other_types() {
    assert!(of_an_array::rule().overwrite(0) && of_a_vector::rule().overwrite(0));
    assert!(of_any::<f32>::rule().overwrite(0) && of_any::<f64>::rule().overwrite(0));
    let mut g = of_an_array::gradient();
    assert!(g.value_and_gradient(&[f64::NAN; 6]).1.x[3].is_nan());
    assert_eq!(g.value_and_gradient(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).1.x, [0.0, 0.0, 6.0, 8.0, 10.0, 0.0]);
    let mut g = of_a_vector::gradient();
    for x in [vec![1.0, f32::NAN], vec![2.0, 3.0], vec![], vec![1.0, -1.0, 0.5]] {
        let expected: Vec<_> = x.iter().map(|v| 2.0 * v).collect();
        let d = g.value_and_gradient(&x).1.x;
        assert!(
            d.iter().zip(&expected).all(|(d, e)| d == e || d.is_nan() && e.is_nan()) && d.len() == x.len()
        );
    }
    check_rule(of_an_array::rule, [(std::array::from_fn(|i| 0.3 * i as f64),)]);
    check_rule(of_any::<f64>::rule, inputs().into_iter().map(|x| (x,)));
    let mut g = of_any::<f64>::gradient();
    check_gradient(
        |x| of_any(&**x),
        |x| {
            let (v, d) = g.value_and_gradient(x);
            (v, d.x.to_vec())
        },
        inputs(),
    );
}

/// Called by others: forward and pullback one by one, with a residual, and not called at all.
#[differentiable]
fn outer(x: &[f64], y: &[f64]) -> f64 {
    let k = carried(x);
    squares(y) * k.cos()
}

#[differentiable]
fn not_always(x: &[f64], way: usize) -> f64 {
    if way == 1 { squares(x) } else { 3.0 }
}

#[test]
fn within_calls() {
    let mut rule = outer::rule();
    assert!(rule.overwrite(0) && rule.overwrite(1));
    let mut g = outer::gradient();
    for _ in 0..2 {
        check_gradient(
            |(x, y)| outer(x, y),
            |(x, y)| {
                let (value, d) = g.value_and_gradient(x, y);
                (value, (d.x.to_vec(), d.y.to_vec()))
            },
            inputs().into_iter().zip(inputs().into_iter().rev()),
        );
    }
    check!(not_always, 1; false);
    check!(not_always, 0; false);
}

/// A call that panics half-way leaves nothing behind.
#[differentiable]
fn panics(x: &[f64], n: usize) -> f64 {
    let mut s = 0.0;
    for i in 0..n {
        s += x[i] * x[i];
    }
    s.exp()
}

#[test]
fn after_a_panic() {
    let mut g = panics::gradient();
    let x = wave(4, 0.2);
    let expected = g.value_and_gradient(&x, 3).1.x.to_vec();
    assert_eq!(expected[3], 0.0);
    let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| g.value_and_gradient(&x, 5).0));
    assert!(failed.is_err());
    assert_eq!(g.value_and_gradient(&x, 3).1.x, expected);
    assert_eq!(allocations_in(|| g.value_and_gradient(&x, 3).0).1, 0);
}
