//! The adjoint of the steps that were taken.

use super::Field;
use super::stepper::{A, B, C, STAGES, Stepper, Tolerance, advance};
use crate::heap::heap_size;
use crate::solve::fit;
use crate::{DualMut, Ignored, Rule, Saved, Shadow};

/// Solves *y′ = f(t, y)* from `t0` to `t1`, which may be smaller: `f(t, &y, &mut dy)` writes *f(t, y)* to `dy`, and `y` holds the state at
/// `t0` first, and at `t1` in the end. The Runge-Kutta pair of orders 5 and 4 of Dormand and Prince (*A family of embedded Runge-Kutta
/// formulae*, 1980), with steps such that the error of each *yᵢ* is about `absolute + relative·|yᵢ|`.
///
/// ```
/// use pullback_rules::solve::ode;
///
/// let mut y = [1.0, 0.0];
/// ode(|_, y, dy| (dy[0], dy[1]) = (y[1], -y[0]), 0.0, 1.0, &mut y, 1e-10, 1e-10);
/// assert!((y[0] - 1_f64.cos()).abs() < 1e-9 && (y[1] + 1_f64.sin()).abs() < 1e-9);
/// ```
///
/// # Gradient
/// That of what was computed, where the sizes of all steps but the last are constants: each step is run again from the state before it,
/// which is all that is kept, and undone (Sandu, *On the properties of Runge-Kutta discrete adjoints*, 2006). So it agrees with the
/// value to rounding, however large the tolerances are. With *k̄ᵢ = h·(bᵢ·ȳ + Σⱼ aⱼᵢ·Ȳⱼ)* for the slopes, from the last to the first,
/// *Ȳᵢ = (∂f/∂y)ᵀ·k̄ᵢ* for the states that they are taken at, *ȳ* becomes *ȳ + Σᵢ Ȳᵢ*, and *θ̄ += Σᵢ (∂f/∂θ)ᵀ·k̄ᵢ*.
/// A step costs its six slopes once more, and six pullbacks. [`ode_adjoint`](fn@super::ode_adjoint) keeps no states.
///
/// # Panics
/// If the steps become too small, as they do before a pole, where *f* is NaN, or for a stiff equation after a million.
pub fn ode(
    f: impl Fn(f64, &[f64], &mut [f64]),
    t0: f64,
    t1: f64,
    y: &mut [f64],
    relative: f64,
    absolute: f64,
) {
    Stepper::default().solve("ode", f, (t0, t1), y, Tolerance { relative, absolute }, |_, _, _, _| {});
}

#[derive(Default, Rule)]
#[rule(pub fn ode(
    f: impl Fn(f64, &[f64], &mut [f64]), t0: f64, t1: f64, y: &mut [f64], #[constant] relative: f64, #[constant] absolute: f64
))]
struct Ode {
    #[rule(restores = y)]
    old: Saved<f64>,
    stepper: Stepper,
    /// The time and the size of each step, and the states before them, one after the other.
    steps: Vec<(f64, f64)>,
    states: Vec<f64>,
    adjoint: Adjoint,
}

/// What comes to the quantities of a step.
#[derive(Default)]
struct Adjoint {
    /// *ȳ*
    state: Vec<f64>,
    /// *k̄*, of all stages.
    slopes: Vec<f64>,
    /// *Ȳ* of one stage.
    stage: Vec<f64>,
    room: Vec<f64>,
}

impl Ode {
    fn forward(
        &mut self,
        f: impl Fn(f64, &[f64], &mut [f64]),
        t0: f64,
        t1: f64,
        y: &mut [f64],
        relative: f64,
        absolute: f64,
    ) {
        self.old.save_to_restore(y);
        let Ode { stepper, steps, states, .. } = self;
        steps.clear();
        states.clear();
        stepper.solve("ode", f, (t0, t1), y, Tolerance { relative, absolute }, |t, h, y, _| {
            steps.push((t, h));
            states.extend_from_slice(y);
        });
    }

    fn pullback(
        &mut self,
        mut f: Field<'_>,
        t0: f64,
        _t1: f64,
        y: DualMut<'_, [f64]>,
        _relative: f64,
        _absolute: f64,
    ) -> (f64, f64) {
        let n = y.value.len();
        let Ode { stepper, adjoint, .. } = self;
        stepper.fit(n);
        [&mut adjoint.state, &mut adjoint.stage, &mut adjoint.room]
            .into_iter()
            .for_each(|buffer| fit(buffer, n));
        fit(&mut adjoint.slopes, STAGES * n);
        for i in 0..n {
            adjoint.state[i] = y.shadow.take(|d| &d[i]);
        }
        let mut gradients = (0.0, 0.0);
        if self.steps.is_empty() {
            // No time passes: the slope is what there would be.
            f.call((t0, y.value, &mut adjoint.room));
            let slope = crate::solve::dot(&adjoint.state, &adjoint.room);
            gradients = (-slope, slope);
        }
        for (i, &(t, h)) in self.steps.iter().enumerate().rev() {
            let before = &self.states[i * n..][..n];
            let (d_t, d_h) = adjoint.undo(stepper, &mut f, (t, h), before);
            gradients.0 += d_t;
            if i + 1 == self.steps.len() {
                // The last step ends at t1.
                gradients.0 -= d_h;
                gradients.1 += d_h;
            }
        }
        for i in 0..n {
            y.shadow.accumulate(|d| &d[i], adjoint.state[i]);
        }
        self.old.restore(y.value);
        gradients
    }
}

impl Adjoint {
    /// Undoes a step from `y` at `t`; returns what comes to its time and to its size.
    fn undo(
        &mut self,
        stepper: &mut Stepper,
        f: &mut Field<'_>,
        (t, h): (f64, f64),
        y: &[f64],
    ) -> (f64, f64) {
        let n = y.len();
        stepper.stages(&mut |t, y: &[f64], dy: &mut [f64]| f.call((t, y, dy)), (t, h), y, 0);
        let Stepper { slopes, stage, .. } = stepper;
        let (mut d_t, mut d_h) = (0.0, 0.0);
        for (j, b) in B.iter().enumerate() {
            for i in 0..n {
                self.slopes[j * n + i] = h * b * self.state[i];
                d_h += b * slopes[j * n + i] * self.state[i];
            }
        }
        for s in (0..STAGES).rev() {
            advance(y, h, &A[s][..s], slopes, stage);
            self.stage.fill(0.0);
            let (earlier, seed) = self.slopes.split_at_mut(s * n);
            let shadows = (Ignored, Shadow::from(&mut self.stage[..]), Shadow::from(&mut seed[..n]));
            let ((), (time, (), ())) = f.pullback((t + C[s] * h, stage, &mut self.room), shadows, ());
            d_t += time;
            d_h += C[s] * time;
            for (j, a) in A[s][..s].iter().enumerate() {
                for i in 0..n {
                    earlier[j * n + i] += h * a * self.stage[i];
                    d_h += a * slopes[j * n + i] * self.stage[i];
                }
            }
            for i in 0..n {
                self.state[i] += self.stage[i];
            }
        }
        (d_t, d_h)
    }
}

heap_size! { [] Adjoint { state, slopes, stage, room } }
