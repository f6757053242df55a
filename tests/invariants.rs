//! One test for each invariant of the engine, on derived and hand-written rules. `pullback::testing` checks most of
//! them for every rule that passes through it; here each can be seen on its own.

#![allow(unused_imports, dropping_copy_types, clippy::all, reason = "functions as users write them")]

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ndarray::{Array2, ArrayRef2, array};
use pullback::prelude::*;
use pullback::testing::{CheckRule, CountingAllocator, allocations_in, check_rule};
use pullback::{Args, DualMut, Function, Parameters, Rule as _, Saved, State as _};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn wave(n: usize) -> Vec<f64> {
    (0..n).map(|i| (0.7 * i as f64 + 0.3).sin()).collect()
}

#[differentiable]
fn short(x: f64, y: f64) -> f64 {
    let a = (x * y).sin() / x;
    a * a + y
}

/// Ten times as long.
#[differentiable]
fn long(x: f64, y: f64) -> f64 {
    let a = (x * y).sin() / x;
    let b = (a * y).exp() / (1.0 + a * a);
    let c = (b * x).tanh() - a.cos() * b;
    let d = c.hypot(a) * (b - y);
    let e = (d * d + c * c).sqrt() * x;
    let f = e / (1.0 + d.abs()) + c.powi(3);
    let g = (f * e).atan() * a.max(b);
    let h = g * g - f.sin() * d;
    let i = (h + g).cos() * (e - f);
    let j = i * h + y.ln_1p() * x;
    j * j + a * b * c * d * e * f * g * h * i
}

#[differentiable]
fn sum_of_squares(x: &[f64], k: f64) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        let scaled = x[i] * k;
        total += scaled * scaled;
    }
    total
}

#[differentiable]
fn logistic(s: f64, p: f64) -> f64 {
    p * s * (1.0 - s)
}

/// A loop that has to remember, of calls, with a branch.
#[differentiable]
fn chain(x: &[f64], p: f64) -> f64 {
    let mut s = p;
    for i in 0..x.len() {
        s = logistic(s, x[i]);
        if s < 0.0 {
            s *= s * x[i];
        }
    }
    s
}

/// Overwrites its argument twice.
#[differentiable]
fn smooth(x: &mut [f64], k: f64) -> f64 {
    for i in 1..x.len() {
        x[i] += k * x[i - 1];
    }
    for i in 1..x.len() {
        x[i - 1] = x[i] * x[i - 1];
    }
    x[0]
}

#[differentiable]
fn quadratic(w: &Array2<f64>, x: &Array2<f64>) -> f64 {
    let mut h = Array2::zeros((w.nrows(), x.ncols()));
    mul_into(&mut h, w, x);
    let mut total = 0.0;
    for i in 0..h.nrows() {
        total += h[[i, 0]] * h[[i, 0]];
    }
    total
}

/// How many bytes one forward hands to its pullback.
fn residual_size<R: Rule>(_: impl Fn() -> R) -> usize {
    size_of::<R::Residual>()
}

#[test]
fn no_1_no_tape() {
    // Straight-line code is a program, not a record: it keeps nothing, and the length changes nothing.
    assert_eq!((residual_size(short::rule), size_of_val(&short::rule())), (0, 0));
    assert_eq!((residual_size(long::rule), size_of_val(&long::rule())), (0, 0));
    let (mut for_short, mut for_long) = (short::gradient(), long::gradient());
    let ((), allocations) = allocations_in(|| {
        for_short.value_and_gradient(0.3, 0.7);
        for_long.value_and_gradient(0.3, 0.7);
    });
    assert_eq!(allocations, 0);
    check_rule(long::rule, [(0.3, 0.7), (1.2, 0.4)]);
}

#[test]
fn no_2_the_second_call_allocates_nothing() {
    let (x, mut y) = (wave(100), wave(100));
    let (w, v) = (Array2::from_elem((4, 3), 0.5), Array2::from_elem((3, 1), 0.25));
    let (mut a, mut b, mut c) = (chain::gradient(), smooth::gradient(), quadratic::gradient());
    let mut all = || {
        a.value_and_gradient(&x, 0.3);
        b.value_and_gradient(&mut y, 0.3);
        c.value_and_gradient(&w, &v);
    };
    assert!(allocations_in(&mut all).1 > 3);
    // Not even the matrix that the function itself makes: its rule owns that.
    assert_eq!(allocations_in(&mut all).1, 0);
    assert_eq!(allocations_in(&mut all).1, 0);
}

#[test]
fn no_3_restore() {
    let before = [0.1, -0.0, f64::MIN_POSITIVE / 4.0, f64::INFINITY, f64::NAN, 1e300];
    let mut x = before;
    smooth::gradient().value_and_gradient(&mut x, 1e10);
    assert_eq!(x.map(f64::to_bits), before.map(f64::to_bits));

    let mut x = [2.0, 3.0];
    let mut gradient = smooth::gradient();
    let (value, d) = gradient.value_and_gradient(&mut x, 0.5);
    // x₀·(x₁ + k·x₀), with respect to what x held on entry
    assert_eq!((value, d.x, d.k, x), (8.0, &[5.0, 2.0][..], 4.0, [2.0, 3.0]));
}

/// Forward and pullback, with shadows that hold `before`.
fn pull<R: Rule<Function = sum_of_squares>>(rule: &mut R, x: &[f64], before: f64) -> Vec<f64> {
    type P = <sum_of_squares as Function>::Parameters;
    let mut args: Args<'_, sum_of_squares> = (x, 0.5);
    let mut buffers = P::buffers();
    P::prepare(&mut buffers, &args);
    buffers.0.fill(before);
    let (_, residual) = rule.forward(P::reborrow(&mut args));
    let shadows = P::shadows(&mut buffers);
    rule.pullback(residual, args, shadows, 1.0);
    buffers.0
}

#[test]
fn no_4_increment() {
    assert_eq!(pull(&mut sum_of_squares::rule(), &[1.0, -2.0], 0.0), [0.5, -1.0]);
    assert_eq!(pull(&mut sum_of_squares::rule(), &[1.0, -2.0], 8.0), [8.5, 7.0]);
}

#[test]
fn no_5_last_in_first_out() {
    let mut rule = chain::rule();
    let xs = [wave(3), wave(7), wave(2)];
    let forwards: Vec<_> = xs.iter().map(|x| rule.forward((x, 0.25))).collect();
    for (x, (value, residual)) in xs.iter().zip(forwards).rev() {
        type P = <chain as Function>::Parameters;
        let mut buffers = P::buffers();
        P::prepare(&mut buffers, &(x, 0.25));
        let (_, dp) = rule.pullback(residual, (x, 0.25), P::shadows(&mut buffers), 1.0);
        let mut alone = chain::gradient();
        let (expected, d) = alone.value_and_gradient(x, 0.25);
        assert_eq!((value, dp, &buffers.0[..]), (expected, d.p, d.x));
    }
    check_rule(chain::rule, [(wave(3), 0.3), (wave(30), 0.7)]);
}

#[test]
fn no_6_what_cannot_change_is_not_saved() {
    assert_eq!(residual_size(sum_of_squares::rule), 0);
    // Nothing to save anything in: a flag tells whether shadows are set or added to.
    let mut rule = sum_of_squares::rule();
    pull(&mut rule, &wave(100), 0.0);
    assert_eq!((size_of_val(&rule), rule.memory()), (size_of::<bool>(), 0));
    let (x, mut gradient) = (wave(1000), sum_of_squares::gradient());
    // The gradient itself is all that needs memory.
    assert_eq!(allocations_in(|| drop(gradient.value_and_gradient(&x, 0.5))).1, 1);
}

/// Half of the loops have nothing to do with `k`.
#[differentiable]
fn mostly_constant(k: f64, #[constant] x: &[f64], n: usize) -> f64 {
    let mut norm = 0.0;
    for i in 0..x.len() {
        norm += x[i].exp() * x[i];
        if norm > 1e3 {
            norm = norm.sqrt();
        }
    }
    let mut table = vec![0.0; n];
    for i in 0..n {
        table[i] = norm / (i + 1) as f64;
    }
    let mut count = 0;
    while count < n {
        count += 2;
    }
    k * norm * count as f64
}

#[test]
fn no_7_what_is_constant_costs_nothing() {
    // What is kept is the factor that `k` has, not the way to it.
    assert!(residual_size(mostly_constant::rule) <= 2 * size_of::<f64>());
    let (x, mut gradient) = (wave(1000), mostly_constant::gradient());
    // The primal makes one table.
    assert_eq!(allocations_in(|| drop(gradient.value_and_gradient(0.5, &x, 100))).1, 1);
    check_rule(mostly_constant::rule, [(0.5, wave(5), 4), (0.7, vec![], 0)]);
}

/// x ← k·x, and a count of the copies made.
fn scale_by(x: &mut ArrayRef2<f64>, k: f64) {
    x.mapv_inplace(|x| k * x);
}

thread_local! {
    static SAVED: Cell<usize> = const { Cell::new(0) };
}

#[derive(Default, Rule)]
#[rule(fn scale_by(x: &mut ArrayRef2<f64>, k: f64))]
struct ScaleBy {
    #[rule(restores = x)]
    old: Saved<f64>,
}

impl ScaleBy {
    fn forward(&mut self, x: &mut ArrayRef2<f64>, k: f64) {
        self.old.save_to_restore(x);
        if self.old.get().is_some() {
            SAVED.set(SAVED.get() + 1);
        }
        scale_by(x, k);
    }
    fn pullback(&mut self, x: DualMut<'_, ArrayRef2<f64>>, k: f64) -> f64 {
        let mut dk = 0.0;
        let (rows, columns) = x.value.dim();
        for i in 0..rows {
            for j in 0..columns {
                let d = x.shadow.take(|d| &d[[i, j]]);
                dk += d * x.value[[i, j]] / k;
                x.shadow.accumulate(|old| &old[[i, j]], d * k);
            }
        }
        self.old.restore(x.value);
        dk
    }
}

/// Nobody reads what `h` held before the call.
#[differentiable]
fn unread(k: f64) -> f64 {
    let mut h = Array2::from_elem((2, 2), 3.0);
    scale_by(&mut h, k);
    h[[0, 0]] * h[[1, 1]]
}

/// Somebody does.
#[differentiable]
fn read(k: f64) -> f64 {
    let mut h = Array2::from_elem((2, 2), 3.0);
    let before = h[[0, 0]] * k;
    scale_by(&mut h, k);
    h[[0, 0]] * before * h[[1, 1]]
}

#[test]
fn no_8_an_overwritten_value_that_nobody_needs_is_not_copied() {
    assert_eq!(unread::gradient().value_and_gradient(2.0).1.k, 36.0);
    assert_eq!(SAVED.get(), 0);
    assert_eq!(read::gradient().value_and_gradient(2.0).1.k, 324.0);
    assert_eq!(SAVED.get(), 1);
    // A local array that is written once is not copied either.
    assert_eq!(residual_size(squares::rule), 4 * size_of::<f64>());
}

#[differentiable]
fn squares(x: &[f64]) -> f64 {
    let mut h = [0.0; 4];
    for i in 0..4 {
        h[i] = x[i] * x[i];
    }
    h[0] * h[1] + h[2] * h[3]
}

#[differentiable]
fn fragile(x: &mut [f64], #[constant] limit: f64) -> f64 {
    let mut s = 1.0;
    for i in 0..x.len() {
        x[i] *= s;
        s = logistic(s, x[i]);
        assert!(x[i] < limit);
    }
    s
}

#[test]
fn no_9_a_failure_leaves_the_rule_usable() {
    let mut gradient = fragile::gradient();
    let expected = {
        let (value, d) = gradient.value_and_gradient(&mut [0.5, 0.25, 0.75], 10.0);
        (value, d.x.to_vec())
    };
    for limit in [0.1, 0.2, -1.0] {
        let mut x = [0.5, 0.25, 0.75];
        let failed = catch_unwind(AssertUnwindSafe(|| drop(gradient.value_and_gradient(&mut x, limit))));
        assert!(failed.is_err());
        let (value, d) = gradient.value_and_gradient(&mut [0.5, 0.25, 0.75], 10.0);
        assert_eq!((value, d.x.to_vec()), expected);
    }
    // A forward without pullback.
    let mut rule = fragile::rule();
    drop(rule.forward((&mut [0.5, 0.25], 10.0)));
    rule.reset();
    CheckRule::new(fragile::rule)
        .input((vec![0.5, 0.25], 10.0))
        .panicking((vec![0.5], 0.0))
        .finite_only()
        .run();
}

#[test]
fn no_10_sizes_may_change() {
    let mut gradient = smooth::gradient();
    let mut compare = |n: usize| {
        let (expected, used) =
            (smooth::gradient().value_and_gradient(&mut wave(n), 0.5).1.x.to_vec(), &mut gradient);
        assert_eq!(used.value_and_gradient(&mut wave(n), 0.5).1.x, expected);
    };
    [5, 50, 1, 7, 50, 2].into_iter().for_each(&mut compare);
    // At the high-water mark nothing is allocated, below it neither.
    let (mut large, mut small) = (wave(50), wave(3));
    let again = allocations_in(|| {
        gradient.value_and_gradient(&mut small, 0.5);
        gradient.value_and_gradient(&mut large, 0.5);
    });
    assert_eq!(again.1, 0);
    gradient.shrink();
    assert!(allocations_in(|| drop(gradient.value_and_gradient(&mut large, 0.5))).1 > 0);
}

#[test]
fn no_11_debug_and_release_give_the_same_derivatives() {
    // The tests run in both. Every product is representable, so that the results are those of exact arithmetic.
    let (mut chain, mut smooth) = (chain::gradient(), smooth::gradient());
    let (_, d) = chain.value_and_gradient(&[0.5, 1.5, 2.5], 0.25);
    assert_eq!(
        [d.x[0], d.x[1], d.x[2], d.p],
        [0.4256772994995117, 0.1582646369934082, 0.11120009422302246, 0.5675697326660156]
    );
    let (_, d) = smooth.value_and_gradient(&mut [0.5, 1.5, 2.5], 0.25);
    assert_eq!([d.x[0], d.x[1], d.x[2], d.k], [1.75, 0.5, 0.0, 0.25]);
}

#[test]
fn no_12_unsupported_code_is_a_compile_error() {
    // `tests/ui.rs` shows the messages. What is not understood but touches no active value is no error:
    check_rule(understood::rule, [(0.5, 4), (0.25, 0)]);
}

#[differentiable]
fn understood(x: f64, n: usize) -> f64 {
    let mut label = String::new();
    for (i, c) in "abc".chars().enumerate() {
        label.push(if i < n { c } else { '.' });
    }
    let count = match label.as_str() {
        "..." => 1,
        _ => loop {
            break label.len();
        },
    };
    x * x * count as f64
}

/// A hand-written rule keeps what the derived ones keep.
#[test]
fn hand_written_rules_as_well() {
    CheckRule::new(scale_by::rule)
        .input((array![[1.0, 2.0], [0.5, -1.0]], 0.5))
        .input((Array2::zeros((0, 3)), 2.0))
        .run();
}
