//! Errors are as stated.

use super::*;

/// The rows of the table for a function: arguments, the value, and what is beyond it in ulp. `reference.py` writes it.
fn reference(name: &str) -> Vec<(Vec<f64>, f64, f64)> {
    let rows =
        include_str!("reference.txt").lines().filter_map(|row| row.strip_prefix(name)?.strip_prefix(' '));
    let rows: Vec<_> = rows
        .map(|row| {
            let (numbers, beyond) = row.rsplit_once(' ').expect("numbers and what is beyond");
            let number = |bits| f64::from_bits(u64::from_str_radix(bits, 16).expect("bits"));
            let mut numbers: Vec<f64> = numbers.split(' ').map(number).collect();
            let value = numbers.pop().expect("a value");
            (numbers, value, beyond.parse::<f64>().expect("thousandths") / 1000.0)
        })
        .collect();
    assert!(rows.len() > 150, "{name} has {} reference values", rows.len());
    rows
}

/// The error in ulp, for a result that need not be finite where the value is next to the largest number.
fn error(y: f64, value: f64, beyond: f64) -> f64 {
    ((y - value) / ulp(value) - beyond).abs()
}

#[test]
fn errors_against_references_are_as_stated() {
    for Function { name, double, bound, .. } in functions() {
        for (arguments, value, beyond) in reference(name) {
            let x = arguments[0];
            let y = double(x);
            let (value, beyond) =
                if value == flushed(name, value, LEAST) { (value, beyond) } else { (0.0, 0.0) };
            let error = error(y, value, beyond);
            assert!(error <= bound + 0.001, "{name}({x:e}) = {y:e}, not {value:e}: {error} ulp");
            assert!(value != 0.0 || y.is_sign_negative() == value.is_sign_negative(), "{name}({x:e}) = {y}");
        }
    }
    for (name, double, _, _, bound) in binary_functions() {
        for (arguments, value, beyond) in reference(name) {
            let (a, b) = (arguments[0], arguments[1]);
            let y = double(a, b);
            let error = error(y, value, beyond);
            assert!(error <= bound + 0.001, "{name}({a:e}, {b:e}) = {y:e}, not {value:e}: {error} ulp");
        }
    }
}

/// std's errors are below 1 ulp.
#[test]
fn a_dense_sweep_agrees_with_std() {
    for Function { name, double, std, bound, range, .. } in functions() {
        let Some(std) = std else { continue };
        let mut random = Random::new();
        for _ in 0..20_000 {
            let x = random.argument(range);
            let (y, expected) = (double(x), flushed(name, std(x), LEAST));
            if name.ends_with("_near") && x.abs() > f64::NEAR {
                assert!(y.is_nan(), "{name}({x:e}) = {y:e} is beyond");
                continue;
            }
            check(&format!("{name}({x:e})"), y, expected, bound + 1.0);
        }
    }
    for (name, double, _, std, bound) in binary_functions() {
        let mut random = Random::new();
        for _ in 0..20_000 {
            let (a, b) = (random.argument((-10.0, 10.0)), random.argument((-10.0, 10.0)));
            check(&format!("{name}({a:e}, {b:e})"), double(a, b), std(a, b), bound + 1.0);
        }
    }
}

fn check(what: &str, y: f64, expected: f64, bound: f64) {
    let agree = if expected.is_finite() && y.is_finite() {
        distance(y, expected) <= bound
    } else {
        // At the largest number one may overflow and the other not.
        same(y, expected) || expected.abs().min(y.abs()) >= f64::MAX.next_down() && y * expected > 0.0
    };
    assert!(agree, "{what} = {y:e}, not {expected:e}");
}

/// The functions of `f64`, whose errors are known, are exact enough to be the reference.
#[test]
fn single_precision_is_almost_correctly_rounded() {
    for Function { name, double, single, range, .. } in functions() {
        let mut random = Random::new();
        for _ in 0..20_000 {
            let range = (range.0.max(-104.0), range.1.min(89.5));
            let x = if random.bits().is_multiple_of(4) {
                f32::from_bits(random.bits() as u32)
            } else {
                random.argument(range) as f32
            };
            let expected = flushed(name, double(f64::from(x)), f32::MIN_POSITIVE.into());
            check_single(&format!("{name}({x:e})"), single(x), expected);
        }
    }
    for (name, double, single, _, _) in binary_functions() {
        let mut random = Random::new();
        for _ in 0..20_000 {
            let (a, b) = (random.argument((-10.0, 10.0)) as f32, random.argument((-10.0, 10.0)) as f32);
            check_single(&format!("{name}({a:e}, {b:e})"), single(a, b), double(f64::from(a), f64::from(b)));
        }
    }
}

fn check_single(what: &str, y: f32, expected: f64) {
    let rounded = expected as f32;
    let agree = if y.is_finite() && rounded.is_finite() {
        (f64::from(y) - expected).abs() <= 0.51 * ulp_single(rounded)
    } else {
        same(f64::from(y), f64::from(rounded))
    };
    assert!(agree, "{what} = {y:e}, not {expected:e}");
}

#[test]
fn increasing_functions_increase() {
    let increasing = [
        "exp", "exp2", "exp_m1", "ln", "ln_1p", "log2", "log10", "sinh", "tanh", "asinh", "acosh", "atanh",
        "atan", "asin", "cbrt", "erf", "sigmoid", "softplus",
    ];
    for Function { name, double, range: (from, to), .. } in functions() {
        if !increasing.contains(&name) {
            continue;
        }
        let steps = 20_000;
        let mut last = f64::NEG_INFINITY;
        for i in 0..=steps {
            let y = double(from + (to - from) * f64::from(i) / f64::from(steps));
            assert!(y >= last, "{name} falls from {last:e} to {y:e}");
            last = y;
        }
        // Next to the bounds between the pieces that they consist of.
        for edge in
            [0.25, 0.5, 0.8, 1.0, 1e-17, 1e-9, std::f64::consts::LN_2 / 2.0, std::f64::consts::SQRT_2 - 1.0]
        {
            for x in [edge, -edge] {
                let (below, above) = (double(x - edge * 1e-14), double(x + edge * 1e-14));
                assert!(below <= above || below.is_nan() || above.is_nan(), "{name} falls at {x}");
            }
        }
    }
}
