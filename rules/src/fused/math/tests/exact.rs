//! What has one right result.

use super::*;

/// Every size, integers and halves among them.
fn arguments() -> Vec<f64> {
    let mut random = Random::new();
    let mut all: Vec<f64> = (-64..64).flat_map(|n| [f64::from(n), f64::from(n) + 0.5]).collect();
    all.extend([
        -0.0,
        0.49999999999999994,
        4503599627370495.5,
        4503599627370496.0,
        4503599627370497.0,
        8388607.5,
    ]);
    all.extend([f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 5e-324, f64::MAX, f64::MIN]);
    all.extend((0..10_000).map(|_| random.any()));
    all.extend((0..10_000).map(|_| random.between((-1e4, 1e4))));
    all
}

fn same_single(a: f32, b: f32) -> bool {
    same(f64::from(a), f64::from(b))
}

#[test]
fn rounding_is_that_of_std() {
    type Same = (&'static str, fn(f64) -> f64, fn(f64) -> f64, fn(f32) -> f32, fn(f32) -> f32);
    let functions: [Same; 8] = [
        ("floor", Real::floor, f64::floor, Real::floor, f32::floor),
        ("ceil", Real::ceil, f64::ceil, Real::ceil, f32::ceil),
        ("round", Real::round, f64::round, Real::round, f32::round),
        ("trunc", Real::trunc, f64::trunc, Real::trunc, f32::trunc),
        ("signum", Real::signum, f64::signum, Real::signum, f32::signum),
        ("abs", Real::abs, f64::abs, Real::abs, f32::abs),
        ("sqrt", Real::sqrt, f64::sqrt, Real::sqrt, f32::sqrt),
        ("recip", Real::recip, f64::recip, Real::recip, f32::recip),
    ];
    for (name, double, std, single, std_single) in functions {
        for x in arguments() {
            assert!(same(double(x), std(x)), "{name}({x:e}) = {:e}, not {:e}", double(x), std(x));
            let x = x as f32;
            assert!(same_single(single(x), std_single(x)), "{name}({x:e}) of f32 is {:e}", single(x));
        }
    }
}

#[test]
fn integer_powers_are_those_of_std() {
    let mut random = Random::new();
    for n in (-70..70).chain([1000, -1000, i32::MAX, i32::MIN, i32::MIN + 1]) {
        // Unknown to the compiler, or it may multiply in another order.
        let n = std::hint::black_box(n);
        for x in [0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e-300, 1e300] {
            assert!(same(Real::powi(x, n), x.powi(n)), "{x:e} to the {n}");
        }
        for _ in 0..100 {
            let x = random.between((-3.0, 3.0));
            assert!(same(Real::powi(x, n), x.powi(n)), "{x:e} to the {n}");
            assert!(same_single(Real::powi(x as f32, n), (x as f32).powi(n)), "{x:e} to the {n}, of f32");
        }
    }
}

#[test]
fn the_larger_and_the_smaller() {
    for (a, b, larger, smaller) in [
        (1.0, 2.0, 2.0, 1.0),
        (2.0, 1.0, 2.0, 1.0),
        (-1.0, f64::NEG_INFINITY, -1.0, f64::NEG_INFINITY),
        (f64::NAN, 1.0, 1.0, 1.0),
        (1.0, f64::NAN, 1.0, 1.0),
        (f64::NAN, f64::NAN, f64::NAN, f64::NAN),
        (0.0, -0.0, 0.0, 0.0),
        (-0.0, 0.0, -0.0, -0.0),
    ] {
        assert!(same(Real::max(a, b), larger) && same(Real::min(a, b), smaller), "{a} and {b}");
        let (a, b) = (a as f32, b as f32);
        assert!(same(Real::max(a, b).into(), larger) && same(Real::min(a, b).into(), smaller), "{a} and {b}");
    }
}
