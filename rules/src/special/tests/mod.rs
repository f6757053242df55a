//! Errors are as stated; `reference.py` writes the table that they are measured by.

use crate::special::*;

/// The rows for a function: arguments, and the value.
fn reference(name: &str) -> Vec<(Vec<f64>, f64)> {
    let rows =
        include_str!("reference.txt").lines().filter_map(|row| row.strip_prefix(name)?.strip_prefix(' '));
    let rows = rows.map(|row| {
        let mut numbers: Vec<f64> = row.split(' ').map(|x| x.parse().expect("a number")).collect();
        let value = numbers.pop().expect("a value");
        (numbers, value)
    });
    rows.collect()
}

/// A function, and how far off it may be where the value is `y`: in `f64`, in units of its epsilon.
struct Stated {
    name: &'static str,
    double: fn(&[f64]) -> f64,
    single: fn(&[f32]) -> f32,
    error: fn(x: &[f64], y: f64) -> f64,
}

macro_rules! stated {
    ($($name:ident($($order:ident,)? $($k:literal),+): |$x:pat_param, $y:pat_param| $error:expr;)*) => {
        [$(Stated {
            name: stringify!($name),
            double: |x| $name($(x[0] as $order,)? $(x[$k]),+),
            single: |x| $name($(x[0] as $order,)? $(x[$k]),+),
            error: |$x, $y| $error,
        }),*]
    };
}

fn functions() -> impl IntoIterator<Item = Stated> {
    stated! {
        erf(0): |_, y| 2.0 * y.abs();
        erfc(0): |_, y| 6.0 * y;
        norm_pdf(0): |x, y| (2.0 + 0.5 * x[0] * x[0]) * y;
        norm_cdf(0): |x, y| (7.0 + x[0].min(0.0).powi(2)) * y;
        norm_quantile(0): |_, y| 8.0 * y.abs();
        gamma(0): |_, y| 8.0 * y.abs();
        ln_gamma(0): |x, y| if x[0] > 0.0 { 4.0 * y.abs() } else { 32.0 * y.abs().max(1.0) };
        digamma(0): |x, y| if x[0] > 0.0 { 4.0 } else { 8.0 } * y.abs().max(1.0);
        trigamma(0): |_, y| 10.0 * y;
        polygamma(u32, 1): |x, y| if x[1] > 0.0 { (8.0 + 2.0 * x[0]) * y.abs().max(1.0) } else { 100.0 * y.abs() };
        beta(0, 1): |_, y| (20.0 + y.ln().abs()) * y;
        ln_beta(0, 1): |_, y| 22.0 * y.abs().max(1.0);
        j0(0): |_, y| 2.0 * y.abs().max(1.0);
        j1(0): |_, y| 2.0 * y.abs().max(1.0);
        jn(i32, 1): |_, y| 4.0 * y.abs().max(1.0);
        y0(0): |_, y| 2.0 * y.abs().max(1.0);
        y1(0): |_, y| 2.0 * y.abs().max(1.0);
        yn(i32, 1): |_, y| 8.0 * y.abs().max(1.0);
        i0(0): |_, y| 8.0 * y.abs();
        i1(0): |_, y| 8.0 * y.abs();
        i_n(i32, 1): |_, y| 8.0 * y.abs();
        i_n_scaled(i32, 1): |_, y| 8.0 * y.abs();
        sigmoid(0): |_, y| y;
        softplus(0): |_, y| 2.0 * y;
        log_sigmoid(0): |_, y| 2.0 * y.abs();
        log1mexp(0): |_, y| 3.0 * y.abs();
        xlogy(0, 1): |_, y| 2.0 * y.abs();
    }
}

#[test]
fn errors_against_references_are_as_stated() {
    for Stated { name, double, error, .. } in functions() {
        let rows = reference(name);
        assert!(rows.len() >= 18, "{name} has {} reference values", rows.len());
        for (x, value) in rows {
            let y = double(&x);
            // Half a unit for what the reference value lacks.
            let bound = f64::EPSILON * (error(&x, value) + 0.5 * value.abs());
            assert!((y - value).abs() <= bound, "{name}({x:?}) = {y:e}, not {value:e}");
        }
    }
}

#[test]
fn in_single_precision_it_is_that_of_double_precision_rounded() {
    for Stated { name, double, single, .. } in functions() {
        for (x, _) in reference(name) {
            let narrow: Vec<f32> = x.iter().map(|x| *x as f32).collect();
            let wide: Vec<f64> = narrow.iter().map(|x| f64::from(*x)).collect();
            assert_eq!(single(&narrow).to_bits(), (double(&wide) as f32).to_bits(), "{name}({x:?})");
        }
    }
}
