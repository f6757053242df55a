//! The testers themselves: rules that are right pass, and for each invariant a rule that breaks it is caught.

use std::hint::black_box;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};

use proptest::prelude::*;
use pullback::__private::{Activation, Frames, derived};
use pullback::testing::{CheckRule, CountingAllocator, allocations_in, check_rule};
use pullback::{Args, ConstRef, ConstVal, Function, Gradients, Mut, Ref, Rule, Saved, Shadows, State, Val};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// What a rule gets wrong; each is a type, so that it is one of the rule's.
mod fault {
    macro_rules! faults {
        ($($name:ident),*) => {
            #[derive(Clone, Copy, PartialEq)]
            pub(super) enum Kind { $($name),* }
            $(
                #[derive(Default)]
                pub(super) struct $name;
                impl super::Fault for $name {
                    const KIND: Kind = Kind::$name;
                }
            )*
        };
    }
    faults!(
        Nothing,
        UnwrapsMutConstant,
        OneUlp,
        WrongGradient,
        WrongGradientOfEntry,
        Overwrites,
        NoRestore,
        RestoresByDivision,
        Allocates,
        AllocatesInPullback,
        StaleAfterShrinking,
        UnwrapsConstant,
        ForgetsOthersIfConstant,
        ForgoesWhatItReads
    );
}
use fault::Kind;

trait Fault: Default + Send + 'static {
    const KIND: Kind;
}

/// y ← a·x·y, element by element; returns the sum.
fn scale(y: &mut [f64], a: f64, x: &[f64]) -> f64 {
    assert_eq!(y.len(), x.len(), "as many factors as numbers");
    y.iter_mut().zip(x).for_each(|(y, x)| *y *= a * x);
    y.iter().sum()
}

struct Scale;

impl Function for Scale {
    type Parameters = (Mut<[f64]>, Val<f64>, Ref<[f64]>);
    type Output = f64;
    const NAME: &'static str = "scale";

    fn primal((y, a, x): Args<'_, Self>) -> f64 {
        scale(y, a, x)
    }
}

#[derive(Default)]
struct Scaling<F> {
    old_y: Saved<f64>,
    to_restore: Saved<f64>,
    stale: Vec<f64>,
    fault: PhantomData<F>,
}

impl<F: Fault> Activation for Scaling<F> {
    type Function = Scale;

    fn forward(&mut self, (y, a, x): Args<'_, Scale>) -> f64 {
        match F::KIND {
            Kind::ForgoesWhatItReads => self.old_y.save_to_restore(y),
            _ => self.old_y.save(y),
        }
        if F::KIND == Kind::Allocates {
            drop(black_box(vec![0.0; y.len() + 1]));
        }
        if self.stale.len() < y.len() {
            self.stale.resize(y.len(), 0.0);
        }
        self.stale[..y.len()].copy_from_slice(y);
        self.to_restore.save_to_restore(y);
        let sum = scale(y, a, x);
        if F::KIND == Kind::OneUlp { sum.next_up() } else { sum }
    }

    fn pullback<'a>(
        &mut self,
        (y, a, x): Args<'a, Scale>,
        (dy, _, dx): Shadows<'a, Scale>,
        seed: f64,
    ) -> Gradients<Scale> {
        let mut da = 0.0;
        let old_y = self.old_y.get().unwrap_or(&[]);
        for i in 0..y.len() {
            let old_y = old_y.get(i).copied().unwrap_or(1.0);
            let gradient = match F::KIND {
                Kind::UnwrapsMutConstant => dy.get().unwrap()[i].replace(0.0) + seed,
                _ => dy.take(|dy| &dy[i]) + seed,
            };
            da += gradient * x[i] * old_y;
            let for_x = gradient * a * old_y;
            match F::KIND {
                Kind::Overwrites => drop(dx.get().map(|dx| dx[i].set(for_x))),
                Kind::UnwrapsConstant => dx.get().unwrap()[i].set(dx.get().unwrap()[i].get() + for_x),
                _ => dx.accumulate(|dx| &dx[i], for_x),
            }
            let wrong = if F::KIND == Kind::WrongGradientOfEntry { 1.001 } else { 1.0 };
            dy.accumulate(|dy| &dy[i], gradient * a * x[i] * wrong);
        }
        match F::KIND {
            Kind::NoRestore => {}
            Kind::RestoresByDivision => y.iter_mut().zip(x).for_each(|(y, x)| *y /= a * x),
            _ => self.to_restore.restore(y),
        }
        match F::KIND {
            Kind::WrongGradient => da *= 1.0 + 1e-6,
            Kind::StaleAfterShrinking => da += self.stale[y.len()..].iter().sum::<f64>(),
            Kind::ForgetsOthersIfConstant if dx.get().is_none() => da = 0.0,
            Kind::AllocatesInPullback => drop(black_box(vec![0.0; y.len() + 1])),
            _ => {}
        }
        ((), da, ())
    }

    fn forgo(&mut self, parameter: usize) {
        assert_eq!(parameter, 0);
        self.to_restore.forgo();
        if F::KIND == Kind::ForgoesWhatItReads {
            self.old_y.forgo();
        }
    }
}

/// A rule around that for [`Scale`] which gets something wrong that no activation can.
#[derive(Default)]
struct Broken<const FAULT: u8> {
    frames: Frames<Scaling<fault::Nothing>>,
    only_frame: Scaling<fault::Nothing>,
    factors: Vec<f64>,
    depth: usize,
    busy: bool,
}

const ONE_FRAME: u8 = 0;
const RESET_KEEPS_DEPTH: u8 = 1;
const RESET_KEEPS_BUSY: u8 = 2;
const RESET_LEAKS: u8 = 3;
const SWALLOWS_PANIC: u8 = 4;

impl<const FAULT: u8> State for Broken<FAULT> {
    fn reset(&mut self) {
        self.factors.clear();
        if FAULT != RESET_KEEPS_DEPTH {
            self.depth = 0;
        }
        if FAULT != RESET_LEAKS {
            self.frames.reset();
        }
    }
    fn shrink(&mut self) {
        *self = Self::default();
    }
    fn pending(&self) -> usize {
        self.frames.pending() + size_of_val(&self.factors[..])
    }
    fn memory(&self) -> usize {
        self.frames.memory()
            + self.factors.capacity() * size_of_val(&self.factors[..]) / self.factors.len().max(1)
    }
}

impl<const FAULT: u8> Rule for Broken<FAULT> {
    type Function = Scale;
    type Residual = ();

    fn forward(&mut self, (y, a, x): Args<'_, Scale>) -> (f64, ()) {
        if FAULT == SWALLOWS_PANIC && y.len() != x.len() {
            return (0.0, ());
        }
        if FAULT == ONE_FRAME {
            return (self.only_frame.forward((y, a, x)), ());
        }
        let was_busy = std::mem::replace(&mut self.busy, true);
        let result = self.frames.forward((y, a, x));
        self.busy = was_busy;
        self.factors.push(a);
        self.depth += 1;
        result
    }

    fn pullback<'a>(
        &mut self,
        (): (),
        (y, a, x): Args<'a, Scale>,
        shadows: Shadows<'a, Scale>,
        seed: f64,
    ) -> Gradients<Scale> {
        if FAULT == ONE_FRAME {
            return self.only_frame.pullback((y, a, x), shadows, seed);
        }
        self.depth -= 1;
        assert_eq!(self.factors[self.depth], a);
        self.factors.truncate(self.depth);
        let (y, da, x) = self.frames.pullback((), (y, a, x), shadows, seed);
        (y, if FAULT == RESET_KEEPS_BUSY && self.busy { 0.0 } else { da }, x)
    }
}

fn check<R: Rule<Function = Scale>>(rule: impl Fn() -> R) {
    CheckRule::new(rule)
        .input((vec![1.0, -2.0, 0.75], 0.5, vec![4.0, 2.0, -0.25]))
        .input((vec![3.0], 2.0, vec![0.5]))
        .input((vec![], 2.0, vec![]))
        .input((vec![3.0, 0.3, 0.1, 7.0, -1.0], -2.0, vec![0.5, 1.0, 2.0, -4.0, 0.0]))
        .panicking((vec![1.0, 2.0], 0.5, vec![1.0]))
        .run();
}

/// The message with which `check` fails.
fn complaint(check: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(check)).expect_err("the rule is broken");
    *payload.downcast::<String>().expect("a formatted message")
}

fn caught<F: Fault>() -> String {
    complaint(|| check(Frames::<Scaling<F>>::default))
}

#[track_caller]
fn assert_contains(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "{part:?} is not in: {message}");
    }
}

#[test]
fn a_right_rule_passes() {
    check(Frames::<Scaling<fault::Nothing>>::default);
}

#[test]
fn a_value_one_ulp_off_is_caught() {
    let expected = ["`scale`, input 0, first call", "differs from the primal's", "the output, coordinate 0"];
    assert_contains(&caught::<fault::OneUlp>(), &expected);
}

#[test]
fn a_wrong_gradient_is_caught() {
    let expected = ["`scale`, input 0", "disagrees with finite differences: parameter 1, coordinate 0"];
    assert_contains(&caught::<fault::WrongGradient>(), &expected);
    let expected = ["disagrees with finite differences: parameter 0, coordinate 0", "expected", "got"];
    assert_contains(&caught::<fault::WrongGradientOfEntry>(), &expected);
}

#[test]
fn overwriting_a_shadow_is_caught() {
    let expected = ["does not add the gradient to the shadow: parameter 2, coordinate 0"];
    assert_contains(&caught::<fault::Overwrites>(), &expected);
}

#[test]
fn a_mut_argument_left_as_it_is_is_caught() {
    let expected =
        ["first call: the pullback does not restore", "parameter 0, coordinate 0: expected 1.0, got 2.0"];
    assert_contains(&caught::<fault::NoRestore>(), &expected);
}

#[test]
fn restoring_by_arithmetic_is_caught() {
    let message = complaint(|| {
        let input = (vec![1.0, -2.0, 0.75], 0.5, vec![4.0, 2.0, -0.25]);
        check_rule(Frames::<Scaling<fault::RestoresByDivision>>::default, [input]);
    });
    assert_contains(&message, &["input 0 with special values", "does not restore", "NaN"]);
}

#[test]
fn a_rule_that_cannot_do_without_a_shadow_is_caught() {
    let expected = ["parameter 2 constant: the pullback panics"];
    assert_contains(&caught::<fault::UnwrapsConstant>(), &expected);
    let expected = ["parameter 0 constant: the pullback panics"];
    assert_contains(&caught::<fault::UnwrapsMutConstant>(), &expected);
}

#[test]
fn losing_a_gradient_because_another_is_not_wanted_is_caught() {
    let expected = ["parameter 2 constant: another argument's gradient changes: parameter 1, coordinate 0"];
    assert_contains(&caught::<fault::ForgetsOthersIfConstant>(), &expected);
}

#[test]
fn forgoing_what_the_pullback_reads_is_caught() {
    let expected = ["restoring parameter 0 forgone", "the gradient changes"];
    assert_contains(&caught::<fault::ForgoesWhatItReads>(), &expected);
}

#[test]
fn a_rule_with_one_frame_is_caught() {
    let message = complaint(|| check(Broken::<ONE_FRAME>::default));
    assert_contains(&message, &["forward, forward, pullback, pullback"]);
}

#[test]
fn stale_state_after_other_sizes_is_caught() {
    let only_one = || {
        check_rule(
            Frames::<Scaling<fault::StaleAfterShrinking>>::default,
            [(vec![1.0, -2.0], 0.5, vec![4.0, 2.0])],
        )
    };
    only_one();
    let expected = ["the gradient is not that of a fresh rule: parameter 1"];
    assert_contains(&caught::<fault::StaleAfterShrinking>(), &expected);
}

#[test]
fn a_reset_that_forgets_something_is_caught() {
    let message = complaint(|| check(Broken::<RESET_KEEPS_DEPTH>::default));
    assert_contains(
        &message,
        &["after one forward without pullback and a reset: the pullback panics: index out of bounds"],
    );
    let message = complaint(|| check(Broken::<RESET_KEEPS_BUSY>::default));
    assert_contains(&message, &["after panicking input 0 and a reset", "not that of a fresh rule"]);
    let message = complaint(|| check(Broken::<RESET_LEAKS>::default));
    assert_contains(&message, &["after one forward without pullback and a reset", "allocates"]);
}

#[test]
fn a_forward_that_does_not_panic_with_the_primal_is_caught() {
    let message = complaint(|| check(Broken::<SWALLOWS_PANIC>::default));
    assert_contains(&message, &["`scale`, panicking input 0: the primal panics, but the forward does not"]);
}

#[test]
fn allocating_in_every_call_is_caught() {
    let expected = ["`scale`, input 0, second call: the rule allocates 1 times instead of 0 times"];
    assert_contains(&caught::<fault::Allocates>(), &expected);
    assert_contains(&caught::<fault::AllocatesInPullback>(), &expected);
}

#[test]
fn wrong_tests_are_caught() {
    let message = complaint(|| check_rule(Frames::<Scaling<fault::Nothing>>::default, []));
    assert_contains(&message, &["no input"]);
    let message = complaint(|| {
        CheckRule::new(Frames::<Scaling<fault::Nothing>>::default)
            .input((vec![1.0], 0.5, vec![4.0]))
            .panicking((vec![1.0], 0.5, vec![4.0]))
            .run();
    });
    assert_contains(&message, &["panicking input 0: the primal does not panic"]);
}

#[test]
fn allocations_are_counted() {
    assert!(CountingAllocator::is_installed());
    let (mut v, count) = allocations_in(|| Vec::<u8>::with_capacity(8));
    assert_eq!(count, 1);
    let before = CountingAllocator::so_far();
    v.reserve_exact(100);
    let after = CountingAllocator::so_far();
    assert_eq!((after.allocations - before.allocations, after.deallocations - before.deallocations), (1, 1));
    assert_eq!(after.bytes - before.bytes, 100);
    assert_eq!(allocations_in(|| drop(v)).1, 0);
    assert_eq!(CountingAllocator::so_far().deallocations, after.deallocations + 1);
}

/// All kinds of parameters and outputs in one derived rule: x²·table[i] as `f32`, and others that are passed through.
struct Various;

impl Function for Various {
    type Parameters =
        (Val<f32>, ConstRef<str>, Val<usize>, ConstRef<[f32]>, ConstVal<bool>, Ref<[[f32; 2]; 2]>);
    type Output = ((f32, usize), [f32; 2], bool);
    const NAME: &'static str = "various";

    fn primal((x, name, i, table, flag, pairs): Args<'_, Self>) -> Self::Output {
        ((x * x * table[i], name.len()), pairs[1], flag)
    }
}

fn various() -> impl Rule<Function = Various> {
    derived::<Various, (), _, _, _>(
        (),
        |(), args| (Various::primal(args), ()),
        |(), (), (x, _, i, table, _, _), (_, _, _, _, _, pairs), ((seed, ()), pair, ())| {
            pairs.accumulate(|pairs| &pairs[1], pair);
            (2.0 * x * table[i] * seed, (), (), (), (), ())
        },
    )
}

#[test]
fn parameters_and_outputs_of_all_kinds_can_be_tested() {
    let pairs = [[1.0, 2.0], [3.0, 4.0]];
    CheckRule::new(various)
        .input((1.5, "one".to_string(), 1, vec![0.5, 0.25], true, pairs))
        .input((-1.5, String::new(), 0, vec![3.0], false, pairs))
        .panicking((1.5, "one".to_string(), 2, vec![0.5, 0.25], true, pairs))
        .run();
}

fn scaling() -> impl Strategy<Value = (Vec<f64>, f64, Vec<f64>)> {
    (0_usize..100).prop_flat_map(|n| {
        let numbers = || proptest::collection::vec(-10.0..10.0, n);
        (numbers(), -3.0..3.0, numbers())
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn slices_of_all_lengths(inputs in proptest::collection::vec(scaling(), 1..4)) {
        check_rule(Frames::<Scaling<fault::Nothing>>::default, inputs);
    }

    #[test]
    fn a_fault_in_one_of_many_numbers_is_found(n in 65_usize..200) {
        let input = (vec![1.5; n], 0.5, vec![2.5; n]);
        let message = complaint(|| check_rule(Frames::<Scaling<fault::WrongGradientOfEntry>>::default, [input]));
        assert_contains(&message, &["disagrees with finite differences: parameter 0"]);
    }
}
