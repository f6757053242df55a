//! Fused functions on the simulated device, and on the host.

use ndarray::{Array, Axis, Dimension, Ix0, Ix1, Ix2, Ix3, Ix4};

use super::expressions::*;
use crate::cuda::simulator::machines;
use crate::cuda::{Device, DeviceArray};
use crate::fused::{self, Rank, Real};
use crate::{Differentiable, Rule, Shadow};

/// What a test needs of either memory.
pub(super) trait Place<T: Real> {
    type Memory: fused::Memory;
    type Array<D: Rank>: fused::Array<T, Memory = Self::Memory> + Differentiable<Gradient = Self::Array<D>>;
    fn array<D: Rank>(&self, elements: Array<T, D>) -> Self::Array<D>;
    fn elements<D: Rank>(&self, array: &Self::Array<D>) -> Vec<f64>;
}

pub(super) struct OnHost;

pub(super) fn of<T: Real>(value: T) -> f64 {
    // SAFETY: there are two of them.
    unsafe {
        match size_of::<T>() {
            4 => f64::from(std::mem::transmute_copy::<T, f32>(&value)),
            _ => std::mem::transmute_copy::<T, f64>(&value),
        }
    }
}

impl<T: Real> Place<T> for OnHost {
    type Memory = fused::Host;
    type Array<D: Rank> = Array<T, D>;
    fn array<D: Rank>(&self, elements: Array<T, D>) -> Array<T, D> {
        elements
    }
    fn elements<D: Rank>(&self, array: &Array<T, D>) -> Vec<f64> {
        array.iter().map(|x| of(*x)).collect()
    }
}

impl<T: Real> Place<T> for Device {
    type Memory = Device;
    type Array<D: Rank> = DeviceArray<T, D>;
    fn array<D: Rank>(&self, elements: Array<T, D>) -> DeviceArray<T, D> {
        DeviceArray::from_array(self, &elements).expect("memory")
    }
    fn elements<D: Rank>(&self, array: &DeviceArray<T, D>) -> Vec<f64> {
        array.to_array().expect("memory").iter().map(|x| of(*x)).collect()
    }
}

pub(super) fn waves<T: Real, D: Dimension>(shape: D, seed: f64) -> Array<T, D> {
    let count = shape.size();
    let elements =
        (0..count).map(|i| T::of((seed + 0.73 * i as f64 + 0.11 * (i % 7) as f64).sin())).collect();
    Array::from_shape_vec(shape, elements).expect("as many")
}

/// Calls `$function` with arrays of `$shape`s and numbers: its value, what is in the shadows afterwards, the gradients with respect to
/// numbers, and whether the result is restored.
macro_rules! call {
    ($place:expr, $results:expr, $T:ty, $function:ident($y:expr $(, $x:expr)*; $($number:expr),* ; $($axis:expr)?)) => {{
        let place = $place;
        let mut seed = 0.1;
        let mut next = || { seed += 0.37; seed };
        let mut y = place.array(waves::<$T, _>($y, next()));
        let before = place.elements(&y);
        let mut rule = $function::rule();
        for _ in 0..2 {
            let arrays = ($(place.array(waves::<$T, _>($x, next())),)*);
            let mut shadows = (place.array(waves::<$T, _>($y, next())), $(place.array(waves::<$T, _>($x, next())),)*);
            call!(@run place, $results, $T, rule, $function, y, arrays, shadows; ($($x),*); ($($number),*); ($($axis)?));
            $results.push((concat!(stringify!($function), ": restored"), place.elements(&y)));
            assert_eq!($results.last().expect("just pushed").1.len(), before.len());
        }
    }};
    (@run $place:ident, $results:expr, $T:ty, $rule:ident, $function:ident, $y:ident, $a:ident, $s:ident; ($x0:expr); ($($n:expr),*); ($($axis:expr)?)) => {
        call!(@with $place, $results, $T, $rule, $function, $y, $a, $s; (0 1); ($($n),*); ($($axis)?))
    };
    (@run $place:ident, $results:expr, $T:ty, $rule:ident, $function:ident, $y:ident, $a:ident, $s:ident; ($x0:expr, $x1:expr); ($($n:expr),*); ($($axis:expr)?)) => {
        call!(@with $place, $results, $T, $rule, $function, $y, $a, $s; (0 1, 1 2); ($($n),*); ($($axis)?))
    };
    (@run $place:ident, $results:expr, $T:ty, $rule:ident, $function:ident, $y:ident, $a:ident, $s:ident; ($x0:expr, $x1:expr, $x2:expr); ($($n:expr),*); ($($axis:expr)?)) => {
        call!(@with $place, $results, $T, $rule, $function, $y, $a, $s; (0 1, 1 2, 2 3); ($($n),*); ($($axis)?))
    };
    (@run $place:ident, $results:expr, $T:ty, $rule:ident, $function:ident, $y:ident, $a:ident, $s:ident; ($x0:expr, $x1:expr, $x2:expr, $x3:expr); ($($n:expr),*); ($($axis:expr)?)) => {
        call!(@with $place, $results, $T, $rule, $function, $y, $a, $s; (0 1, 1 2, 2 3, 3 4); ($($n),*); ($($axis)?))
    };
    (@run $place:ident, $results:expr, $T:ty, $rule:ident, $function:ident, $y:ident, $a:ident, $s:ident; ($x0:expr, $x1:expr, $x2:expr, $x3:expr, $x4:expr); ($($n:expr),*); ($($axis:expr)?)) => {
        call!(@with $place, $results, $T, $rule, $function, $y, $a, $s; (0 1, 1 2, 2 3, 3 4, 4 5); ($($n),*); ($($axis)?))
    };
    (@with $place:ident, $results:expr, $T:ty, $rule:ident, $function:ident, $y:ident, $a:ident, $s:ident; ($($i:tt $j:tt),*); ($($n:expr),*); ($($axis:expr)?)) => {{
        $rule.forward($function::args(&mut $y, $(&$a.$i,)* $(<$T>::of($n),)* $($axis)?));
        $results.push((concat!(stringify!($function), ": value"), $place.elements(&$y)));
        let gradients = $rule.pullback(
            (),
            $function::args(&mut $y, $(&$a.$i,)* $(<$T>::of($n),)* $($axis)?),
            (shadow(&mut $s.0), $(shadow(&mut $s.$j),)* $(call!(@ignored $n),)* $(call!(@ignored $axis))?),
            (),
        );
        $results.push((concat!(stringify!($function), ": numbers"), numbers(&format!("{gradients:?}"))));
        $results.push((concat!(stringify!($function), ": shadow of y"), $place.elements(&$s.0)));
        $($results.push((concat!(stringify!($function), ": shadow of operand ", stringify!($i)), $place.elements(&$s.$j)));)*
    }};
    (@ignored $x:expr) => { crate::Ignored };
}
pub(super) use call;

pub(super) fn shadow<A: Differentiable<Gradient = A>>(array: &mut A) -> Shadow<A::Shadow<'_>> {
    Shadow::new(A::shadow(array))
}

/// The numbers in a tuple, as it is written.
pub(super) fn numbers(text: &str) -> Vec<f64> {
    text.split(['(', ')', ',', ' ']).filter_map(|word| word.parse().ok()).collect()
}

pub(super) type Results = Vec<(&'static str, Vec<f64>)>;

/// Whether `results` are those of the host but for rounding.
pub(super) fn compare(results: &Results, expected: &Results, tolerance: f64, what: &str) {
    assert_eq!(results.len(), expected.len());
    for (i, ((name, result), (_, expected))) in results.iter().zip(expected).enumerate() {
        assert_eq!(result.len(), expected.len(), "{what}, {i}: {name}");
        let scale = expected.iter().fold(1.0_f64, |scale, x| scale.max(x.abs()));
        for (j, (x, e)) in result.iter().zip(expected).enumerate() {
            let close = (x - e).abs() <= tolerance * scale || x.is_nan() && e.is_nan();
            assert!(close, "{what}, {i}: {name}, element {j}: {x} instead of {e}");
        }
    }
}

fn element_wise<T: Real + std::fmt::Debug, P: Place<T>>(place: &P) -> Results {
    let mut results = Results::new();
    macro_rules! run { ($($call:tt)*) => { call!(place, results, T, $($call)*) } }
    // Ranks 0 to 4, lengths that fill vectors and others.
    run!(copied(Ix0(), Ix0(); ;));
    run!(affine_tanh(Ix1(1), Ix1(1), Ix1(1), Ix1(1); ;));
    run!(affine_tanh(Ix1(8), Ix1(8), Ix1(8), Ix1(8); ;));
    run!(affine_tanh(Ix1(1027), Ix1(1027), Ix1(1027), Ix1(1); ;));
    run!(affine_tanh(Ix2(3, 8), Ix2(3, 8), Ix1(8), Ix2(3, 1); ;));
    run!(affine_tanh(Ix2(37, 45), Ix2(37, 45), Ix2(1, 45), Ix2(1, 45); ;));
    run!(affine_tanh(Ix2(300, 33), Ix2(300, 33), Ix1(33), Ix0(); ;));
    run!(affine_tanh(Ix2(4, 2048), Ix2(4, 2048), Ix2(4, 1), Ix2(4, 2048); ;));
    run!(affine_tanh(Ix3(2, 3, 5), Ix3(2, 3, 5), Ix3(2, 1, 5), Ix3(1, 3, 1); ;));
    run!(affine_tanh(Ix3(4, 1, 12), Ix3(1, 1, 12), Ix3(4, 1, 1), Ix1(12); ;));
    run!(many(Ix4(2, 3, 4, 5), Ix4(2, 3, 4, 5), Ix4(2, 1, 4, 1), Ix3(3, 1, 5), Ix4(1, 1, 1, 1); ;));
    run!(many(Ix4(2, 3, 4, 8), Ix4(1, 3, 1, 8), Ix4(2, 3, 4, 8), Ix1(8), Ix0(); ;));
    run!(many(Ix2(5, 7), Ix1(7), Ix1(7), Ix1(7), Ix2(5, 1); ;));
    run!(affine_tanh(Ix2(0, 4), Ix2(0, 4), Ix1(4), Ix2(1, 1); ;));
    run!(scaled(Ix2(9, 11), Ix2(9, 11), Ix2(9, 1); 0.7;));
    run!(piecewise(Ix2(9, 16), Ix2(9, 16), Ix1(16); 0.3;));
    run!(smooth(Ix2(9, 13), Ix2(9, 13); ;));
    results
}

fn by_rows<T: Real + std::fmt::Debug, P: Place<T>>(place: &P) -> Results {
    let mut results = Results::new();
    macro_rules! run { ($($call:tt)*) => { call!(place, results, T, $($call)*) } }
    for axis in [Axis(0), Axis(1)] {
        run!(softmax(Ix2(5, 8), Ix2(5, 8); ; axis));
        run!(softmax(Ix2(40, 37), Ix2(40, 37); ; axis));
        run!(softmax(Ix2(3, 2000), Ix2(3, 2000); ; axis));
        run!(layer_norm(Ix2(6, 12), Ix2(6, 12), Ix1(12), Ix2(1, 12); 0.1; axis));
        run!(layer_norm(Ix2(11, 7), Ix2(11, 7), Ix2(11, 1), Ix2(1, 1); 0.1; axis));
        run!(layer_norm(Ix2(11, 8), Ix2(11, 8), Ix2(11, 8), Ix2(11, 8); 0.1; axis));
    }
    // Odd lengths, more than a block has threads, and more than one block goes through, along either axis.
    for (axis, shape, one, along) in [
        (Axis(1), Ix2(7, 37), Ix2(7, 1), Ix2(1, 37)),
        (Axis(1), Ix2(3, 1001), Ix2(3, 1), Ix2(1, 1001)),
        (Axis(1), Ix2(2, 17_001), Ix2(2, 1), Ix2(1, 17_001)),
        (Axis(0), Ix2(301, 5), Ix2(1, 5), Ix2(301, 1)),
    ] {
        run!(log_softmax(shape, shape; ; axis));
        run!(log_sum_exp(one, shape; ; axis));
        run!(rms_norm(shape, shape, along; 0.1; axis));
        run!(layer_norm(shape, shape, along, along; 0.1; axis));
        run!(cross_entropy(one, shape, shape; ; axis));
    }
    for axis in [Axis(0), Axis(1), Axis(2)] {
        run!(softmax(Ix3(3, 4, 5), Ix3(3, 4, 5); ; axis));
        run!(layer_norm(Ix3(3, 4, 8), Ix3(3, 4, 8), Ix1(8), Ix3(1, 4, 1); 0.1; axis));
    }
    run!(softmax(Ix1(2), Ix1(2); ; Axis(0)));
    // One long row: several blocks share it.
    run!(softmax(Ix1(17_001), Ix1(17_001); ; Axis(0)));
    run!(layer_norm(Ix2(2, 17_000), Ix2(2, 17_000), Ix1(17_000), Ix2(2, 1); 0.1; Axis(1)));
    run!(cross_entropy(Ix2(6, 1), Ix2(6, 9), Ix2(6, 9); ; Axis(1)));
    run!(cross_entropy(Ix2(1, 9), Ix2(6, 9), Ix2(1, 9); ; Axis(0)));
    run!(range(Ix3(2, 1, 3), Ix3(2, 6, 3); ; Axis(1)));
    run!(normalised(Ix2(20, 3), Ix2(20, 3); 1.3;));
    run!(normalised(Ix1(20_000), Ix1(20_000); 1.3;));
    run!(twice(Ix1(300), Ix1(300), Ix1(300), Ix1(300); 0.9;));
    run!(twice(Ix1(17_000), Ix1(17_000), Ix1(17_000), Ix1(1); 0.9;));
    results
}

/// Functions whose value is a number.
fn numbers_out<T: Real + std::fmt::Debug, P: Place<T>>(place: &P) -> Results {
    let mut results = Results::new();
    for count in [0, 1, 33, 17_000] {
        let (x, t) = (place.array(waves::<T, _>(Ix1(count), 0.2)), place.array(waves::<T, _>(Ix1(1), 0.9)));
        let (mut dx, mut dt) =
            (place.array(waves::<T, _>(Ix1(count), 0.3)), place.array(waves::<T, _>(Ix1(1), 0.4)));
        let mut rule = norm::rule();
        if count > 0 {
            results.push(("norm", vec![of(rule.forward(norm::args(&x)).0)]));
            rule.pullback((), norm::args(&x), (shadow(&mut dx),), T::of(0.7));
            results.push(("norm: shadow", place.elements(&dx)));
        }
        let mut rule = huber::rule();
        let args = || huber::args(&x, &t, T::of(0.4));
        results.push(("huber", vec![of(rule.forward(args()).0)]));
        let shadows = (shadow(&mut dx), shadow(&mut dt), crate::Ignored);
        let (.., d) = rule.pullback((), args(), shadows, T::of(0.7));
        results.push(("huber: number", vec![of(d)]));
        results.push(("huber: shadow of x", place.elements(&dx)));
        results.push(("huber: shadow of t", place.elements(&dt)));
    }
    results
}

/// What runs on the device in tests.
pub(super) fn everything<T: Real + std::fmt::Debug, P: Place<T>>(place: &P) -> Results {
    let mut results = element_wise(place);
    results.extend(by_rows(place));
    results.extend(numbers_out(place));
    results
}

#[test]
fn the_device_computes_what_the_host_does() {
    let expected = (everything::<f32, _>(&OnHost), everything::<f64, _>(&OnHost));
    let bits = |results: &Results| -> Vec<u64> {
        results.iter().flat_map(|(_, numbers)| numbers.iter().map(|x| x.to_bits())).collect()
    };
    for runs in machines(|device| (everything::<f32, _>(device), everything::<f64, _>(device))) {
        for (run, (single, double)) in runs.iter().enumerate() {
            compare(single, &expected.0, 1e-4, &format!("f32, run {run}"));
            compare(double, &expected.1, 1e-12, &format!("f64, run {run}"));
            // In whatever order threads run, the bits are the same.
            assert!(bits(single) == bits(&runs[0].0) && bits(double) == bits(&runs[0].1), "run {run}");
        }
    }
}
