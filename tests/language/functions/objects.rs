//! Gradient objects as values: in structs, in vectors, on other threads; and functions in other modules.

use pullback::prelude::*;
use pullback::testing::check_rule;

mod physics {
    use pullback::prelude::*;

    /// Shown to the world under two names.
    #[differentiable]
    pub fn energy(x: &[f64], k: f64) -> f64 {
        let mut total = 0.0;
        for i in 0..x.len() {
            total += half(k) * x[i] * x[i];
        }
        total
    }

    #[differentiable]
    fn half(k: f64) -> f64 {
        0.5 * k
    }

    pub mod deeper {
        #[pullback::differentiable]
        pub fn twice(x: f64) -> f64 {
            2.0 * x
        }
    }

    pub use deeper::twice as double;
}

use physics::{deeper, energy, energy as renamed};

mod everything {
    pub use super::physics::*;
}

#[differentiable]
fn elsewhere(x: &[f64], k: f64) -> f64 {
    use everything::double;
    energy(x, k) * physics::double(k)
        + renamed(&x[1..], double(deeper::twice(k)))
        + everything::energy(x, 1.0)
}

struct Optimiser {
    gradient: energy,
    x: Vec<f64>,
}

impl Optimiser {
    fn step(&mut self) -> f64 {
        let (value, d) = self.gradient.value_and_gradient(&self.x, 2.0);
        self.x.iter_mut().zip(d.x).for_each(|(x, d)| *x -= 0.25 * d);
        value
    }
}

#[test]
fn functions_of_other_modules() {
    check_rule(elsewhere::rule, [(vec![0.5, 0.2, 0.3], 0.7), (vec![0.4], 1.2)]);
}

#[test]
fn a_field_of_a_struct() {
    let mut optimiser = Optimiser { gradient: energy::gradient(), x: vec![1.0, -2.0] };
    assert_eq!([optimiser.step(), optimiser.step()], [5.0, 1.25]);
    assert_eq!(optimiser.x, [0.25, -0.5]);
}

#[test]
fn on_other_threads() {
    let mut gradients: Vec<energy> = (0..4).map(|_| energy::gradient()).collect();
    for round in 1..3 {
        let threads = gradients.into_iter().enumerate().map(|(i, mut gradient)| {
            std::thread::spawn(move || {
                let (_, d) = gradient.value_and_gradient(&vec![1.0; i * round], i as f64);
                assert_eq!(d.x, vec![i as f64; i * round]);
                assert_eq!(d.k, 0.5 * (i * round) as f64);
                gradient
            })
        });
        gradients = threads.collect::<Vec<_>>().into_iter().map(|thread| thread.join().unwrap()).collect();
    }
}

#[test]
fn arguments_coerce() {
    let mut gradient = energy::gradient();
    let (vector, boxed): (Vec<f64>, Box<[f64]>) = (vec![3.0], Box::new([4.0]));
    assert_eq!(gradient.value_and_gradient(&vector, 1.0).1.x, [3.0]);
    assert_eq!(gradient.value_and_gradient(&boxed, 1.0).1.x, [4.0]);
    assert_eq!(gradient.value_and_gradient(&[5.0, 6.0], 1.0).1.x, [5.0, 6.0]);
    gradient.shrink();
    assert_eq!(gradient.value_and_gradient(&vector, 1.0).1.x, [3.0]);
}

#[differentiable]
fn polar(x: f64, y: f64, trace: &mut [f64]) -> (f64, f64) {
    trace[0] = x * y;
    (x.hypot(y), y.atan2(x))
}

#[test]
fn pullbacks_take_seeds() {
    let mut pullback = polar::pullback();
    let mut trace = [7.0];
    let ((r, phi), d) = pullback.value_and_pullback(3.0, 4.0, &mut trace, (5.0, 0.0), &[0.0]);
    assert_eq!((r, phi), polar(3.0, 4.0, &mut [0.0]));
    assert_eq!((d.x, d.y, d.trace), (3.0, 4.0, &[0.0][..]));
    let (_, d) = pullback.value_and_pullback(3.0, 4.0, &mut trace, (0.0, 25.0), &[2.0]);
    assert_eq!((d.x, d.y), (-4.0 + 8.0, 3.0 + 6.0));
    assert_eq!(trace, [7.0]);
}
