//! Variants and names of enums that have been imported, so that nothing stands in front of them.

use pullback::prelude::*;
use pullback::testing::check_rule;

#[derive(Clone, Copy, Differentiable)]
pub struct Place {
    x: f64,
    y: f64,
}

#[derive(Clone, Copy, Differentiable)]
pub enum Event {
    Deposit(f64),
    Accrue { rate: f64, days: u32 },
    At(Place),
    Close,
}

/// An enum that owns memory.
#[derive(Clone, Differentiable)]
pub enum Layer {
    Dense { w: Vec<f64>, b: f64 },
    Scale(f64),
    Relu,
}

use Event::*;
use Layer::*;

#[differentiable]
fn after(x: f64, e: &Event) -> f64 {
    match e {
        Deposit(k) if *k > 0.5 => x * k,
        Deposit(k) => x - k,
        At(Place { x: u, y }) => x * y * u,
        &Accrue { rate, days } => x * (1.0 + rate).powi(days as i32),
        Close => 0.0,
    }
}

#[differentiable]
fn several(x: f64, one: Event, other: Option<Event>) -> f64 {
    if let At(p) = one {
        return p.x * p.y * x;
    }
    let s = match (one, other) {
        (Deposit(k), Some(Accrue { rate, .. })) => k * rate * x,
        (Accrue { rate, .. }, Some(Deposit(k))) => k * rate + x,
        (_, None) => x * x,
        _ => x,
    };
    let Deposit(k) = one else { return s };
    k * s
}

#[differentiable]
fn literals(x: f64, y: f64) -> f64 {
    let events = [Deposit(x * y), Accrue { rate: y, days: 3 }, if x > 0.5 { Deposit(y) } else { Close }];
    events
        .iter()
        .map(|e| match e {
            Deposit(k) => k * k,
            Accrue { rate, days } => rate.powi(*days as i32) * x,
            _ => x,
        })
        .sum()
}

/// Structs, of which nothing else stands in the place either.
#[differentiable]
fn structs(p: Place, q: &Place) -> f64 {
    let a = match p {
        Place { x, y } if x > 0.5 => x * y,
        Place { x, y } => x - y,
    };
    let Place { x, y } = q;
    a * x * y
}

#[differentiable]
fn forward(layer: &Layer, x: f64) -> f64 {
    match layer {
        Dense { w, b } => w.iter().map(|w| w * x).sum::<f64>() + b,
        Scale(k) => x * k,
        Relu => x.max(0.0),
    }
}

#[differentiable]
fn rescaled(layer: &mut Layer, x: f64) -> f64 {
    match layer {
        Dense { w, b } => {
            for w in w.iter_mut() {
                *w *= x;
            }
            *b += x;
        }
        Scale(k) => *k *= x,
        Relu => {}
    }
    forward(layer, x)
}

#[derive(Clone, Copy, Differentiable)]
pub enum Source {
    Constant(f64),
    Sine { amplitude: f64, frequency: f64 },
}

#[differentiable]
impl Source {
    /// The variants are imported in the function.
    fn at(&self, t: f64) -> f64 {
        use Source::*;
        match self {
            Sine { amplitude, frequency } if *frequency > 0.0 => amplitude * (frequency * t).sin(),
            _ => t,
        }
    }

    fn other(&self, t: f64) -> f64 {
        use Source::{Constant, Sine};
        match *self {
            Constant(k) => k * Sine { amplitude: t, frequency: k }.at(t),
            _ => self.at(t),
        }
    }
}

#[test]
fn variants_of_imported_enums() {
    let place = Place { x: 0.3, y: 0.8 };
    let events = [Deposit(0.3), Deposit(0.7), Accrue { rate: 0.2, days: 3 }, At(place), Close];
    for e in events {
        check_rule(after::rule, [(0.3, e), (0.6, e)]);
        check_rule(several::rule, events.map(|other| (0.4, e, Some(other))));
        check_rule(several::rule, [(0.6, e, None)]);
    }
    check_rule(literals::rule, [(0.3, 0.8), (0.7, 0.2)]);
    check_rule(structs::rule, [(place, place), (Place { x: 0.7, ..place }, place)]);
    let layers = [Dense { w: vec![0.3, 0.7], b: 0.4 }, Scale(0.4), Relu];
    check_rule(rescaled::rule, layers.map(|layer| (layer, 0.4)));
    let sources = [
        Source::Constant(0.4),
        Source::Sine { amplitude: 0.4, frequency: 0.8 },
        Source::Sine { amplitude: 0.4, frequency: -0.8 },
    ];
    check_rule(Source::at_rule, sources.map(|source| (source, 0.3)));
    check_rule(Source::other_rule, sources.map(|source| (source, 0.3)));
}
