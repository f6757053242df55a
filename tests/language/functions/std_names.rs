//! Methods of users' types that bear names of methods of the standard library.

use pullback::prelude::*;
use pullback::testing::check_rule;

#[derive(Clone, Copy, Debug, Differentiable)]
struct Signal {
    low: f64,
    high: f64,
}

#[differentiable]
impl Signal {
    fn new(low: f64, high: f64) -> Signal {
        Signal { low, high }
    }

    fn max(&self) -> f64 {
        self.high
    }

    fn clamp(&self, k: f64) -> f64 {
        self.low * k
    }

    fn get(&self, i: usize) -> f64 {
        if i == 0 { self.low } else { self.high }
    }

    fn first(&self) -> f64 {
        self.low
    }

    fn abs(self) -> f64 {
        self.low * self.high
    }
}

#[differentiable]
fn of_a_struct(x: f64, y: f64) -> f64 {
    let s = Signal::new(x, x * y);
    let t = Signal { low: y, high: x };
    s.max() * t.clamp(x) + s.get(1) * t.get(0) + s.first() * t.first() + s.abs()
}

#[differentiable]
fn by_reference(s: &Signal, k: f64) -> f64 {
    s.max() * k + s.clamp(k) * s.get(0) + s.first()
}

#[differentiable]
fn called(x: f64, y: f64) -> f64 {
    let s = Signal::new(x, y);
    by_reference(&s, x)
}

#[derive(Clone, Copy, Differentiable)]
struct Pair {
    x: f64,
    y: f64,
}

#[differentiable]
impl Pair {
    fn map(self, f: impl Fn(f64) -> f64) -> Pair {
        Pair { x: f(self.x), y: f(self.y) }
    }

    fn filter(self, weight: f64) -> f64 {
        self.x * weight
    }

    fn zip(self, other: Pair, f: impl Fn(f64, f64) -> f64) -> Pair {
        Pair { x: f(self.x, other.x), y: f(self.y, other.y) }
    }

    fn and_then(&self, f: impl Fn(f64) -> f64) -> f64 {
        f(self.x * self.y)
    }
}

#[derive(Clone, Differentiable)]
struct Image {
    pixels: Vec<f64>,
}

#[differentiable]
impl Image {
    fn map(&self, f: impl Fn(f64) -> f64) -> Image {
        Image { pixels: self.pixels.iter().map(|p| f(*p)).collect() }
    }

    fn fold(&self, start: f64, f: impl Fn(f64, f64) -> f64) -> f64 {
        let mut total = start;
        for p in &self.pixels {
            total = f(total, *p);
        }
        total
    }
}

#[differentiable]
fn pairs_with_closures(p: Pair, k: f64) -> f64 {
    let scaled = p.map(|x| x * k);
    let literal = Pair { x: k, y: scaled.x };
    let both = literal.zip(p, |x, y| x * y);
    both.x * both.y * p.filter(k) + literal.and_then(|x| x * x * k)
}

#[differentiable]
fn with_closures(x: f64, k: f64) -> f64 {
    pairs_with_closures(Pair { x, y: x * x }, k)
}

#[differentiable]
fn images(x: &[f64], k: f64) -> f64 {
    let image = Image { pixels: x.to_vec() };
    let scaled: Image = image.map(|p| p * k);
    let sines: Image = scaled.map(f64::sin);
    sines.fold(1.0, |a, b| a * b + k)
}

#[test]
fn methods_that_take_functions() {
    check_rule(with_closures::rule, [(0.3, 0.7), (0.5, 0.2)]);
    check_rule(images::rule, [(vec![0.3, 0.4], 0.7), (vec![0.5, 0.6, 0.7], 0.2)]);
}

#[test]
fn methods() {
    check_rule(of_a_struct::rule, [(0.4, 0.3), (-0.2, 0.7)]);
    check_rule(called::rule, [(0.4, 0.3), (-0.2, 0.7)]);
}

mod own {
    use pullback::prelude::*;

    #[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
    pub struct Range {
        pub low: f64,
        pub high: f64,
    }

    #[derive(Clone, Debug, PartialEq, Differentiable)]
    pub struct String {
        pub tension: f64,
        pub range: Range,
    }
}

/// Types with the names of those that carry no gradient.
#[differentiable]
fn named_like_constants(x: &[f64], string: &own::String) -> f64 {
    let range: own::Range = own::Range { low: x[0], high: x[1] };
    let own: own::String = own::String { tension: x[0] * string.tension, range };
    range.low * range.high * own.tension * own.range.high + string.range.low * string.range.high
}

#[test]
fn ranges_and_strings_of_the_user() {
    let string = own::String { tension: 0.7, range: own::Range { low: 0.2, high: 1.1 } };
    check_rule(named_like_constants::rule, [(vec![0.3, 0.5], string)]);
}
