//! Derivatives by finite differences.

use super::random::Random;

/// What is differentiated, at one point.
#[derive(Clone, Copy)]
pub(super) struct Objective {
    /// Its value: a weighted sum of the numbers that the function gave.
    pub(super) value: f64,
    /// The sum of the terms' magnitudes, to which rounding is relative.
    pub(super) magnitude: f64,
}

/// How to take differences, and how well the gradient has to agree.
#[derive(Clone, Copy)]
pub(super) struct Precision {
    pub(super) tolerance: f64,
    epsilon: f64,
    /// Steps to try, relative to the coordinate. The first balances truncation against rounding for a function that
    /// varies on a scale of one; the others are for those that vary faster, or have a kink nearby.
    steps: &'static [f64],
}

const DOUBLE: Precision = Precision {
    tolerance: 1e-7,
    epsilon: f64::EPSILON,
    steps: &[1.0 / 1024.0, 1.0 / 16384.0, 1.0 / 262_144.0],
};

const SINGLE: Precision = Precision {
    tolerance: 2e-3,
    epsilon: f32::EPSILON as f64,
    steps: &[1.0 / 32.0, 1.0 / 128.0, 1.0 / 512.0],
};

impl Precision {
    /// That of `f32`, if such a number takes part, or of `f64`.
    pub(super) fn new(single: bool, tolerance: Option<f64>) -> Self {
        let default = if single { SINGLE } else { DOUBLE };
        Precision { tolerance: tolerance.unwrap_or(default.tolerance), ..default }
    }

    /// By how much numbers of size `scale` may differ that were computed in another order.
    pub(super) fn rounding(&self, scale: f64) -> f64 {
        scale * self.epsilon * 4096.0
    }
}

/// A derivative that finite differences do not confirm.
pub(super) struct Disagreement {
    pub(super) parameter: usize,
    /// The coordinate, or none for a derivative in a random direction.
    pub(super) coordinate: Option<usize>,
    pub(super) expected: f64,
    pub(super) got: f64,
}

impl Disagreement {
    /// The complaint; `place` names a coordinate, the first argument being the parameter's number.
    pub(super) fn describe(&self, place: &dyn Fn(usize, &str) -> String) -> String {
        let Disagreement { parameter, expected, got, .. } = self;
        let place = match self.coordinate {
            Some(i) => place(*parameter, &format!("coordinate {i}")),
            None => place(*parameter, "in a random direction"),
        };
        format!("the gradient disagrees with finite differences: {place}: expected {expected:?}, got {got:?}")
    }
}

/// A displacement of all coordinates of one parameter.
pub(super) type Displacement<'a> = &'a dyn Fn(usize) -> f64;

/// With at most so many coordinates, each is checked by itself.
const FEW: usize = 64;
/// Otherwise a sample of them is, and so are some random directions.
const SAMPLE: usize = 24;
const DIRECTIONS: usize = 8;

/// Compares `gradient` at `point`, both by parameter, with central differences of `objective`, which gets the number of
/// a parameter and how far to move each of its coordinates.
pub(super) fn compare(
    precision: Precision,
    point: &[Vec<f64>],
    gradient: &[Vec<f64>],
    random: &mut Random,
    objective: &mut dyn FnMut(usize, Displacement<'_>) -> Objective,
) -> Option<Disagreement> {
    if !objective(0, &|_| 0.0).value.is_finite() {
        return None;
    }
    let scale = gradient.iter().flatten().fold(0.0, |scale: f64, g| scale.max(g.abs()));
    for (parameter, (point, gradient)) in point.iter().zip(gradient).enumerate() {
        let unit = |i: usize| point[i].abs().max(1.0);
        let mut along = |coordinate, direction: Displacement<'_>, derivative| {
            let at = |t: f64| objective(parameter, &|i| t * direction(i));
            let expected = differ(precision, scale, derivative, at)?;
            Some(Disagreement { parameter, coordinate, expected, got: derivative })
        };
        let n = point.len();
        let few = n <= FEW;
        for k in 0..if few { n } else { SAMPLE } {
            let i = if few { k } else { random.below(n) };
            let direction = |j| if j == i { unit(i) } else { 0.0 };
            let found = along(Some(i), &direction, gradient[i] * unit(i));
            if let Some(found) = found {
                // Per unit of the coordinate, not of the step.
                return Some(Disagreement {
                    expected: found.expected / unit(i),
                    got: found.got / unit(i),
                    ..found
                });
            }
        }
        for _ in 0..if few { 0 } else { DIRECTIONS } {
            let norm = (n as f64).sqrt();
            let direction: Vec<f64> = (0..n).map(|i| random.sign() * unit(i) / norm).collect();
            let derivative = direction.iter().zip(gradient).map(|(d, g)| d * g).sum();
            let found = along(None, &|i| direction[i], derivative);
            if found.is_some() {
                return found;
            }
        }
    }
    None
}

/// The difference quotient, if it contradicts `derivative` with every step.
fn differ(
    precision: Precision,
    scale: f64,
    derivative: f64,
    mut at: impl FnMut(f64) -> Objective,
) -> Option<f64> {
    let mut first = None;
    for &step in precision.steps {
        let stencil = [-2.0, -1.0, 1.0, 2.0].map(|k| at(k * step));
        let [a, b, c, d] = stencil.map(|objective| objective.value);
        let quotient = (8.0 * (c - b) - (d - a)) / (12.0 * step);
        let magnitude = stencil.iter().fold(0.0, |m: f64, objective| m.max(objective.magnitude));
        let noise = 8.0 * precision.epsilon * magnitude / step;
        let allowed = precision.tolerance * (scale.max(quotient.abs()) + 1e-3) + noise;
        if (quotient - derivative).abs() <= allowed {
            return None;
        }
        first.get_or_insert(quotient);
    }
    first
}
