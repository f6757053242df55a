//! The functions against references, against std, and against themselves in loops of other instruction sets.

mod accuracy;
mod exact;
mod lanes;
mod special;

use super::Real;
use lanes::Loops;

/// A function of one argument, and what is claimed of it.
struct Function {
    name: &'static str,
    double: fn(f64) -> f64,
    single: fn(f32) -> f32,
    /// The same of std, where it has one.
    std: Option<fn(f64) -> f64>,
    /// The error of `double` in ulp.
    bound: f64,
    /// Where to take most arguments from.
    range: (f64, f64),
    double_loops: Loops<f64>,
    single_loops: Loops<f32>,
}

macro_rules! functions {
    ($($name:ident: $std:expr, $bound:literal, $from:literal .. $to:literal;)*) => {
        vec![$(Function {
            name: stringify!($name),
            double: |x| Real::$name(x),
            single: |x| Real::$name(x),
            std: $std,
            bound: $bound,
            range: ($from, $to),
            double_loops: lanes::loops!(f64, $name),
            single_loops: lanes::loops!(f32, $name),
        }),*]
    };
}

fn functions() -> Vec<Function> {
    functions! {
        exp: Some(f64::exp), 1.0, -745.5 .. 710.0;
        exp2: Some(f64::exp2), 1.0, -1075.5 .. 1024.5;
        exp_m1: Some(f64::exp_m1), 1.0, -40.0 .. 710.0;
        ln: Some(f64::ln), 1.0, 0.0 .. 10.0;
        ln_1p: Some(f64::ln_1p), 1.0, -1.0 .. 10.0;
        log2: Some(f64::log2), 1.0, 0.0 .. 10.0;
        log10: Some(f64::log10), 1.0, 0.0 .. 10.0;
        sin_near: Some(f64::sin), 1.0, -1647099.0 .. 1647099.0;
        cos_near: Some(f64::cos), 1.0, -1647099.0 .. 1647099.0;
        tan_near: Some(f64::tan), 1.0, -1647099.0 .. 1647099.0;
        sinh: Some(f64::sinh), 1.0, -711.0 .. 711.0;
        cosh: Some(f64::cosh), 1.0, -711.0 .. 711.0;
        tanh: Some(f64::tanh), 2.0, -20.0 .. 20.0;
        asinh: None, 2.0, -10.0 .. 10.0;
        acosh: None, 2.5, 1.0 .. 10.0;
        atanh: None, 2.0, -1.0 .. 1.0;
        atan: Some(f64::atan), 1.0, -10.0 .. 10.0;
        asin: Some(f64::asin), 1.0, -1.0 .. 1.0;
        acos: Some(f64::acos), 1.0, -1.0 .. 1.0;
        cbrt: Some(f64::cbrt), 0.51, -10.0 .. 10.0;
        erf: None, 2.0, -6.0 .. 6.0;
        erfc: None, 6.0, -6.0 .. 27.0;
        sigmoid: None, 1.0, -745.0 .. 40.0;
        softplus: None, 2.0, -745.0 .. 40.0;
    }
}

/// The value, or 0 where it is below the least one that the function gives.
fn flushed(name: &str, value: f64, least: f64) -> f64 {
    if ["exp", "sigmoid", "softplus"].contains(&name) && value.abs() < least { 0.0 } else { value }
}

/// The least exponential of `f64`; that of `f32` is [`f32::MIN_POSITIVE`].
const LEAST: f64 = std::f64::consts::SQRT_2 * f64::MIN_POSITIVE;

/// Functions of two arguments: name, function, error in ulp.
type Binary = (&'static str, fn(f64, f64) -> f64, fn(f32, f32) -> f32, fn(f64, f64) -> f64, f64);

fn binary_functions() -> Vec<Binary> {
    vec![
        ("atan2", Real::atan2, Real::atan2, f64::atan2, 1.0),
        ("powf", Real::powf, Real::powf, f64::powf, 1.0),
        ("hypot", Real::hypot, Real::hypot, f64::hypot, 1.0),
    ]
}

/// Bits that look random (G. Marsaglia, 2003).
struct Random(u64);

impl Random {
    fn new() -> Self {
        Random(88172645463325252)
    }

    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn between(&mut self, (from, to): (f64, f64)) -> f64 {
        from + (to - from) * ((self.bits() >> 11) as f64 / (1u64 << 53) as f64)
    }

    /// Any number, of every size alike.
    fn any(&mut self) -> f64 {
        f64::from_bits(self.bits())
    }

    /// From the range, from around zero, or any.
    fn argument(&mut self, range: (f64, f64)) -> f64 {
        match self.bits() % 8 {
            0 => self.any(),
            1 => self.between((-1.0, 1.0)),
            2 => self.between((-4.0, 4.0)),
            _ => self.between(range),
        }
    }
}

/// The distance between neighbours at `x`.
fn ulp(x: f64) -> f64 {
    let x = x.abs().max(f64::MIN_POSITIVE);
    f64::from_bits(x.to_bits() + 1) - x
}

fn ulp_single(x: f32) -> f64 {
    let x = x.abs().max(f32::MIN_POSITIVE);
    f64::from(f32::from_bits(x.to_bits() + 1)) - f64::from(x)
}

/// Equal bits, or both NaN.
fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

/// How far `y` is from the finite `expected`, in ulp of that.
fn distance(y: f64, expected: f64) -> f64 {
    if y == expected { 0.0 } else { (y - expected).abs() / ulp(expected) }
}
