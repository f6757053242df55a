//! Methods of traits, on types that are known and on type parameters.

use std::cell::Cell;

use pullback::prelude::*;
use pullback::testing::allocations_in;
use pullback::{Accumulate, Element, Float, Scalar, Tangent, Value};

use crate::differences::check;
use crate::methods::plain;

plain!(Morse<T>, MorseCells { depth, width });

#[differentiable]
trait Potential {
    /// With a gradient with respect to the parameters.
    fn energy(&self, r: f64) -> f64;

    /// Without one.
    fn cutoff(#[constant] &self, r: f64) -> f64;

    fn relax(&mut self, by: f64) -> f64;

    fn combine(r: f64, scale: f64, weights: &[f64]) -> f64;

    /// No rule, but constants may be computed by it.
    #[constant]
    fn name(&self) -> String {
        "potential".into()
    }
}

#[differentiable]
impl Potential for Morse<f64> {
    fn energy(&self, r: f64) -> f64 {
        let e = (-self.width * r).exp() - 1.0;
        self.depth * e * e
    }

    fn cutoff(#[constant] &self, r: f64) -> f64 {
        if r < self.width { r * r } else { 2.0 * r }
    }

    fn relax(&mut self, by: f64) -> f64 {
        self.depth *= by;
        self.width += self.depth * by;
        self.energy(by)
    }

    fn combine(r: f64, scale: f64, weights: &[f64]) -> f64 {
        let mut total = r;
        for i in 0..weights.len() {
            total += weights[i] * scale * r;
        }
        total
    }

    #[constant]
    fn name(&self) -> String {
        "Morse".into()
    }
}

mod elsewhere {
    use pullback::prelude::*;

    use super::Potential;

    use std::cell::Cell;

    use pullback::{Accumulate, Element, Scalar, Tangent, Value};

    use crate::methods::plain;

    plain!(Charge<T>, ChargeCells { charge });

    pub fn charge(charge: f64) -> Charge<f64> {
        Charge { charge }
    }

    #[differentiable]
    impl Potential for Charge<f64> {
        fn energy(&self, r: f64) -> f64 {
            self.charge / (r + 1.0)
        }
        fn cutoff(#[constant] &self, r: f64) -> f64 {
            r.sin()
        }
        fn relax(&mut self, by: f64) -> f64 {
            self.charge = self.charge * self.charge * by;
            by
        }
        fn combine(r: f64, scale: f64, weights: &[f64]) -> f64 {
            r - scale * weights[0]
        }
    }
}

use elsewhere::Charge;

#[differentiable]
fn total<P: Potential>(p: &P, x: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        total += p.energy(x[i]) * p.cutoff(x[i]) + 0.5 * p.energy(total);
    }
    total * P::combine(total, x[0], x)
}

#[differentiable]
fn relaxed(p: &mut Morse<f64>, x: f64, n: usize) -> f64 {
    let mut total = x;
    for _ in 0..n {
        let e = p.relax(x);
        total += e * p.energy(total) + <Morse<f64> as Potential>::energy(&*p, e);
    }
    total
}

#[differentiable]
fn constant_potential<P: Potential>(#[constant] p: &P, x: f64) -> f64 {
    assert!(!p.name().is_empty());
    p.cutoff(x) * x
}

#[differentiable]
fn of_known_types(morse: &Morse<f64>, charge: &Charge<f64>, x: &[f64]) -> f64 {
    total(morse, x) * total::<Charge<f64>>(charge, x) + morse.energy(x[0]) * Potential::energy(charge, x[1])
}
const MORSE: Morse<f64> = Morse { depth: 0.8, width: 0.6 };

#[test]
fn of_type_parameters() {
    let x = [0.5, 0.9];
    let mut g = total::<Morse<f64>>::gradient();
    let of = |p: [f64; 4]| total(&Morse { depth: p[0], width: p[1] }, &p[2..]);
    let (value, d) = g.value_and_gradient(&MORSE, &x);
    let at = [0.8, 0.6, 0.5, 0.9];
    assert_eq!(value, of(at));
    check(at, of, [d.p.depth, d.p.width, d.x[0], d.x[1]]);
    assert_eq!(allocations_in(|| g.value_and_gradient(&MORSE, &x).0), (value, 0));

    let mut g = relaxed::gradient();
    let of = |p: [f64; 3]| relaxed(&mut Morse { depth: p[0], width: p[1] }, p[2], 3);
    let mut morse = MORSE;
    let (value, d) = g.value_and_gradient(&mut morse, 0.7, 3);
    assert_eq!((value, morse), (of([0.8, 0.6, 0.7]), MORSE));
    check([0.8, 0.6, 0.7], of, [d.p.depth, d.p.width, d.x]);

    let mut g = constant_potential::<Morse<f64>>::gradient();
    assert_eq!(g.value_and_gradient(&MORSE, 0.5).1.x, 0.75);
    assert_eq!(g.value_and_gradient(&MORSE, 0.7).1.x, 2.8);
}

#[test]
fn of_types_that_are_known() {
    let mut g = of_known_types::gradient();
    let charge = elsewhere::charge(0.4);
    let of =
        |p: [f64; 5]| of_known_types(&Morse { depth: p[0], width: p[1] }, &elsewhere::charge(p[2]), &p[3..]);
    let at = [0.8, 0.6, 0.4, 0.5, 0.9];
    let (value, d) = g.value_and_gradient(&MORSE, &charge, &at[3..]);
    assert_eq!(value, of(at));
    check(at, of, [d.morse.depth, d.morse.width, d.charge.charge, d.x[0], d.x[1]]);
    let mut g = Morse_energy::gradient();
    assert_eq!(g.value_and_gradient(&MORSE, 0.0).1.r, 0.0);
}
