//! Zeros, infinities, NaN, the ends of the domains and of the exponents.

use super::*;

const ARGUMENTS: [f64; 30] = [
    0.0,
    -0.0,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    5e-324,
    -5e-324,
    1e-310,
    -1e-310,
    f64::MIN_POSITIVE,
    -f64::MIN_POSITIVE,
    f64::MAX,
    f64::MIN,
    1.0,
    -1.0,
    0.5,
    -0.5,
    2.0,
    -2.0,
    3.0,
    -3.0,
    1e-20,
    -1e-20,
    1.0000000000000002,
    -1.0000000000000002,
    709.8,
    -746.0,
    9007199254740991.0,
    9007199254740992.0,
    -9007199254740993.0,
];

/// As std: the same infinity, NaN, or zero with its sign, and otherwise close.
fn check(what: &str, y: f64, expected: f64, bound: f64) {
    let agree = if expected == 0.0 || !expected.is_finite() || !y.is_finite() {
        same(y, expected)
    } else {
        distance(y, expected) <= bound
    };
    assert!(agree, "{what} = {y:e}, not {expected:e}");
}

#[test]
fn special_values_are_those_of_std() {
    for Function { name, double, single, std, bound, .. } in functions() {
        let Some(std) = std else { continue };
        for x in ARGUMENTS {
            if name.ends_with("_near") && x.abs() > f64::NEAR {
                assert!(double(x).is_nan() && single(x as f32).is_nan());
                continue;
            }
            check(&format!("{name}({x:e})"), double(x), flushed(name, std(x), LEAST), bound + 2.0);
            let (x, y) = (x as f32, f64::from(single(x as f32)));
            let expected = flushed(name, std(f64::from(x)), f32::MIN_POSITIVE.into()) as f32;
            check(
                &format!("{name}({x:e}) of f32"),
                y,
                f64::from(expected),
                ulp_single(expected) / ulp(expected.into()),
            );
        }
    }
    for (name, double, single, std, bound) in binary_functions() {
        for a in ARGUMENTS {
            for b in ARGUMENTS {
                check(&format!("{name}({a:e}, {b:e})"), double(a, b), std(a, b), bound + 1.0);
                let (a, b) = (a as f32, b as f32);
                let y = f64::from(single(a, b));
                let expected = std(f64::from(a), f64::from(b)) as f32;
                check(
                    &format!("{name}({a:e}, {b:e}) of f32"),
                    y,
                    f64::from(expected),
                    ulp_single(expected) / ulp(expected.into()),
                );
            }
        }
    }
}

#[test]
fn special_values_where_std_has_no_function_or_a_less_exact_one() {
    let infinity = f64::INFINITY;
    for (what, y, expected) in [
        ("asinh", Real::asinh(-0.0), -0.0),
        ("asinh", Real::asinh(5e-324), 5e-324),
        ("asinh", Real::asinh(f64::MAX), 710.4758600739439),
        ("asinh", Real::asinh(-infinity), -infinity),
        ("asinh", Real::asinh(f64::NAN), f64::NAN),
        ("acosh", Real::acosh(1.0), 0.0),
        ("acosh", Real::acosh(1f64.next_down()), f64::NAN),
        ("acosh", Real::acosh(-3.0), f64::NAN),
        ("acosh", Real::acosh(f64::MAX), 710.4758600739439),
        ("acosh", Real::acosh(infinity), infinity),
        ("acosh", Real::acosh(-infinity), f64::NAN),
        ("acosh", Real::acosh(f64::NAN), f64::NAN),
        ("atanh", Real::atanh(-0.0), -0.0),
        ("atanh", Real::atanh(5e-324), 5e-324),
        ("atanh", Real::atanh(1.0), infinity),
        ("atanh", Real::atanh(-1.0), -infinity),
        ("atanh", Real::atanh(1f64.next_up()), f64::NAN),
        ("atanh", Real::atanh(-infinity), f64::NAN),
        ("atanh", Real::atanh(f64::NAN), f64::NAN),
        ("erf", Real::erf(0.0), 0.0),
        ("erf", Real::erf(-0.0), -0.0),
        ("erf", Real::erf(5e-324), 5e-324),
        ("erf", Real::erf(infinity), 1.0),
        ("erf", Real::erf(-infinity), -1.0),
        ("erf", Real::erf(f64::MAX), 1.0),
        ("erf", Real::erf(f64::NAN), f64::NAN),
        ("erfc", Real::erfc(0.0), 1.0),
        ("erfc", Real::erfc(-0.0), 1.0),
        ("erfc", Real::erfc(infinity), 0.0),
        ("erfc", Real::erfc(-infinity), 2.0),
        ("erfc", Real::erfc(f64::MAX), 0.0),
        ("erfc", Real::erfc(28.0), 0.0),
        ("erfc", Real::erfc(f64::NAN), f64::NAN),
        ("sigmoid", Real::sigmoid(0.0), 0.5),
        ("sigmoid", Real::sigmoid(-0.0), 0.5),
        ("sigmoid", Real::sigmoid(infinity), 1.0),
        ("sigmoid", Real::sigmoid(-infinity), 0.0),
        ("sigmoid", Real::sigmoid(-1000.0), 0.0),
        ("sigmoid", Real::sigmoid(1000.0), 1.0),
        ("sigmoid", Real::sigmoid(f64::NAN), f64::NAN),
        ("softplus", Real::softplus(0.0), std::f64::consts::LN_2),
        ("softplus", Real::softplus(infinity), infinity),
        ("softplus", Real::softplus(-infinity), 0.0),
        ("softplus", Real::softplus(f64::MAX), f64::MAX),
        ("softplus", Real::softplus(f64::NAN), f64::NAN),
        ("log_sigmoid", Real::log_sigmoid(infinity), -0.0),
        ("log_sigmoid", Real::log_sigmoid(-infinity), -infinity),
        ("log_sigmoid", Real::log_sigmoid(-1e9), -1e9),
        ("log_sigmoid", Real::log_sigmoid(0.0), -std::f64::consts::LN_2),
        ("log_sigmoid", Real::log_sigmoid(f64::NAN), f64::NAN),
    ] {
        assert!(same(y, expected), "{what} is {y:e}, not {expected:e}");
    }
}

#[test]
fn results_that_are_exact() {
    for n in -1074..1024 {
        assert_eq!(Real::exp2(f64::from(n)), 2f64.powi(n.max(-1022)) * 2f64.powi(n.min(-1022) + 1022));
        assert_eq!(Real::log2(Real::exp2(f64::from(n))), f64::from(n));
    }
    for n in 0..=22 {
        assert_eq!(Real::log10(10f64.powi(n)), f64::from(n));
        assert_eq!(Real::powf(10.0, f64::from(n)), 10f64.powi(n));
    }
    for n in -100..100 {
        let x = f64::from(n);
        assert_eq!(Real::cbrt(x * x * x), x);
        assert_eq!(Real::hypot(3.0 * x, 4.0 * x), 5.0 * x.abs());
        assert_eq!(Real::powf(x, 3.0), x * x * x);
    }
}

#[test]
fn no_subnormal_results_of_the_exponential() {
    for function in functions().iter().filter(|function| flushed(function.name, 1e-310, LEAST) == 0.0) {
        let (double, single) = (function.double, function.single);
        let mut least = (1.0, 1.0);
        for i in 0..20_000 {
            // Around the least arguments of both types.
            let d = f64::from(i) * 1e-4 - 1.0;
            for y in [double(-708.0 - d), double(-87.0 - d)] {
                assert!(y == 0.0 || y.is_normal(), "{}: {y:e}", function.name);
                least.0 = if y > 0.0 { y.min(least.0) } else { least.0 };
            }
            let y = single((-87.0 - d) as f32);
            assert!(y == 0.0 || y.is_normal(), "{}: {y:e} of f32", function.name);
            least.1 = if y > 0.0 { y.min(least.1) } else { least.1 };
        }
        assert!(
            least.0 < 1.001 * LEAST && least.1 < 1.001 * f32::MIN_POSITIVE,
            "{}: {least:?}",
            function.name
        );
    }
}

/// What is beyond the reduction is never silently wrong, and the forms for all arguments are those of std there.
#[test]
fn large_angles() {
    let near = f64::NEAR;
    assert!(!Real::sin_near(near).is_nan() && Real::sin_near(near.next_up()).is_nan());
    assert!(!Real::cos_near(-near).is_nan() && Real::cos_near(-near.next_up()).is_nan());
    assert!(Real::tan_near(near.next_up()).is_nan() && Real::sin_cos_near(1e300f64).0.is_nan());
    assert!(!Real::sin_near(f32::NEAR).is_nan() && Real::sin_near(f32::NEAR.next_up()).is_nan());
    for x in [near.next_up(), 1e9, -1e22, 1e300, f64::MAX] {
        assert_eq!(Real::sin(x), x.sin());
        assert_eq!(Real::cos(x), x.cos());
        assert_eq!(Real::tan(x), x.tan());
        assert_eq!(Real::sin_cos(x), x.sin_cos());
        assert!(same(Real::sin(x as f32).into(), (x as f32).sin().into()));
    }
    for x in [0.0, 0.3, -1.0, 100.0, near] {
        assert_eq!(Real::sin(x), Real::sin_near(x));
        assert_eq!(Real::cos(x), Real::cos_near(x));
        assert_eq!(Real::tan(x), Real::tan_near(x));
        assert_eq!(Real::sin_cos(x), (Real::sin_near(x), Real::cos_near(x)));
        assert_eq!(Real::sin_cos(x as f32), (Real::sin_near(x as f32), Real::cos_near(x as f32)));
    }
    assert!(Real::sin(f64::INFINITY).is_nan() && Real::cos(f64::NAN).is_nan());
    assert!(Real::all_near(&[0.0, -near, near]) && <f64 as Real>::all_near(&[]));
    for x in [near.next_up(), -1e300, f64::INFINITY, f64::NAN] {
        assert!(!Real::all_near(&[0.0, x, 1.0]), "{x} is not near");
    }
}
