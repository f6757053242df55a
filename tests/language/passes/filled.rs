//! New arrays that a call overwrites before anybody looks at them: they are not filled, and the call's pullback does not empty their
//! shadows.

use std::cell::Cell;

use ndarray::{Array1, ArrayRef1};
use pullback::prelude::*;
use pullback::testing::{check_gradient, check_rule};
use pullback::{Dual, DualMut, Saved};

thread_local! {
    /// How many pullbacks of [`squares`] have emptied a shadow, and how many have left NaN in it.
    static SEEN: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// *yᵢ ← xᵢ²*
fn squares(y: &mut ArrayRef1<f64>, x: &ArrayRef1<f64>) {
    for i in 0..x.len() {
        y[i] = x[i] * x[i];
    }
}

#[derive(Rule, Default)]
#[rule(fn squares(y: &mut ArrayRef1<f64>, x: &ArrayRef1<f64>))]
struct Squares {
    #[rule(restores = y)]
    old: Saved<f64>,
    #[rule(overwrites = y)]
    overwrites_y: bool,
}

impl Squares {
    fn forward(&mut self, y: &mut ArrayRef1<f64>, x: &ArrayRef1<f64>) {
        self.old.save_to_restore(y);
        squares(y, x);
    }
    fn pullback(&mut self, y: DualMut<'_, ArrayRef1<f64>>, x: Dual<'_, ArrayRef1<f64>>) {
        self.old.restore(y.value);
        let Some(dy) = y.shadow.get() else { return };
        let (emptied, left) = SEEN.get();
        SEEN.set(if self.overwrites_y { (emptied, left + 1) } else { (emptied + 1, left) });
        for i in 0..x.value.len() {
            if let Some(dx) = x.shadow.get() {
                dx[i].set(dx[i].get() + 2.0 * x.value[i] * dy[i].get());
            }
            dy[i].set(if self.overwrites_y { f64::NAN } else { 0.0 });
        }
    }
}

#[differentiable]
fn once(x: &Array1<f64>, n: usize) -> f64 {
    let mut y = Array1::zeros(x.len());
    let scale = n as f64;
    squares(&mut y, x);
    y.sum() * scale
}

#[differentiable]
fn in_a_loop(x: &Array1<f64>, n: usize) -> f64 {
    let mut total = 0.0;
    for i in 0..n {
        let mut y = Array1::from_elem(x.len(), 7.0);
        squares(&mut y, x);
        total = 0.5 * total + y.sum() * (i + 1) as f64;
    }
    total
}

/// The second call finds what the first has written, and others read.
#[differentiable]
fn twice(x: &Array1<f64>, n: usize) -> f64 {
    let mut y = Array1::zeros(x.len());
    squares(&mut y, x);
    let first = y.sum();
    let larger = x * n as f64;
    squares(&mut y, &larger);
    first * y.sum()
}

#[differentiable]
fn in_a_branch(x: &Array1<f64>, n: usize) -> f64 {
    let mut total = 0.0;
    for i in 0..n {
        let mut y = Array1::from_elem(x.len(), 0.5);
        if i % 2 == 0 {
            squares(&mut y, x);
        }
        total = total * 0.5 + y.sum();
    }
    total
}

#[differentiable]
fn looked_at(x: &Array1<f64>, n: usize) -> f64 {
    let mut y = Array1::from_elem(x.len(), n as f64);
    let before = y.sum();
    squares(&mut y, x);
    before * y.sum()
}

#[differentiable]
fn written_to(x: &Array1<f64>, n: usize) -> f64 {
    let mut y = Array1::zeros(x.len());
    y[0] = x[0] * n as f64;
    let first = y[0];
    squares(&mut y, x);
    first * y.sum()
}

/// What it was filled with has a gradient, of zero.
#[differentiable]
fn filled_with_something(x: &Array1<f64>, n: usize) -> f64 {
    let mut y = Array1::from_elem(x.len(), x[0] * n as f64);
    squares(&mut y, x);
    y.sum()
}

/// Tests `$f`, and that of three runs `$emptied` pullbacks of the call empty the shadow, and `$left` leave it.
macro_rules! check {
    ($f:ident: $emptied:expr, $left:expr) => {{
        let wave = |m: usize| Array1::from_shape_fn(m, |i| (0.9 * i as f64 + 0.2).sin() + 1.5);
        let mut g = $f::gradient();
        check_gradient(
            |x| $f(x, 4),
            |x| {
                let (value, d) = g.value_and_gradient(x, 4);
                (value, d.x.to_owned())
            },
            [3, 7, 1, 2].map(wave),
        );
        check_rule($f::rule, [(wave(5), 4), (wave(2), 3), (wave(8), 0)]);
        let x = wave(5);
        SEEN.set((0, 0));
        for _ in 0..3 {
            g.value_and_gradient(&x, 4);
        }
        assert_eq!(SEEN.get(), ($emptied, $left), stringify!($f));
    }};
}

#[test]
fn new_arrays_are_not_filled() {
    check!(once: 0, 3);
    check!(in_a_loop: 0, 12);
    check!(twice: 3, 3);
}

#[test]
fn others_are() {
    check!(in_a_branch: 6, 0);
    check!(looked_at: 3, 0);
    check!(written_to: 3, 0);
    check!(filled_with_something: 3, 0);
}

/// Whoever says that it overwrites something is taken at its word by the tester.
#[test]
fn the_rule_by_itself() {
    let array = |m: usize| Array1::from_shape_fn(m, |i| 1.0 + i as f64 / 8.0);
    check_rule(squares::rule, [(array(3), array(3)), (array(5), array(5))]);
}
