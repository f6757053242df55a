//! The adjoint equation.

use super::Field;
use super::stepper::{A, B, C, STAGES, Stepper, Tolerance};
use crate::solve::{dot, fit};
use crate::{DualMut, Ignored, Rule, Saved, Shadow, none};

/// [`ode`](fn@super::ode), with another gradient.
///
/// ```
/// use pullback_rules::solve::ode_adjoint;
///
/// let mut y = [1.0];
/// ode_adjoint(|t, y, dy| dy[0] = t * y[0], 0.0, 1.0, &mut y, 1e-10, 1e-10);
/// assert!((y[0] - 0.5_f64.exp()).abs() < 1e-9);
/// ```
///
/// # Gradient
/// That of the exact solution, approximately: from `t1` back to `t0` the equation is solved once more, together with
/// *λ′ = −(∂f/∂y)ᵀ·λ*, *λ(t1) = ȳ*, to the same tolerances; then *ȳ = λ(t0)*, *θ̄ += ∫ (∂f/∂θ)ᵀ·λ dt*, and *t̄₁ = ⟨ȳ, f⟩* at `t1`, *t̄₀ = −⟨λ, f⟩* at
/// `t0` (Pontryagin et al., *The Mathematical Theory of Optimal Processes*, 1962; Chen et al., *Neural ordinary differential equations*,
/// 2018). Nothing is kept of the forward but `y`, however many steps it takes. An equation that forgets where it started, such as a strongly
/// damped one, cannot be solved backwards: take [`ode`](fn@super::ode), whose gradient is also that of what was computed.
///
/// # Panics
/// As [`ode`](fn@super::ode) does, in the pullback as well.
pub fn ode_adjoint(
    f: impl Fn(f64, &[f64], &mut [f64]),
    t0: f64,
    t1: f64,
    y: &mut [f64],
    relative: f64,
    absolute: f64,
) {
    let tolerance = Tolerance { relative, absolute };
    Stepper::default().solve("ode_adjoint", f, (t0, t1), y, tolerance, |_, _, _, _| {});
}

#[derive(Default, Rule)]
#[rule(pub fn ode_adjoint(
    f: impl Fn(f64, &[f64], &mut [f64]), t0: f64, t1: f64, y: &mut [f64], #[constant] relative: f64, #[constant] absolute: f64
))]
struct OdeAdjoint {
    #[rule(restores = y)]
    old: Saved<f64>,
    stepper: Stepper,
    backward: Stepper,
    /// *y* and *λ*
    both: Vec<f64>,
    stage: Vec<f64>,
    seed: Vec<f64>,
    room: Vec<f64>,
}

impl OdeAdjoint {
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
        let tolerance = Tolerance { relative, absolute };
        self.stepper.solve("ode_adjoint", f, (t0, t1), y, tolerance, |_, _, _, _| {});
    }

    fn pullback(
        &mut self,
        f: Field<'_>,
        t0: f64,
        t1: f64,
        y: DualMut<'_, [f64]>,
        relative: f64,
        absolute: f64,
    ) -> (f64, f64) {
        let n = y.value.len();
        let OdeAdjoint { backward, both, stage, seed, room, .. } = self;
        fit(both, 2 * n);
        [&mut *stage, &mut *seed, &mut *room].into_iter().for_each(|buffer| fit(buffer, n));
        both[..n].copy_from_slice(y.value);
        for i in 0..n {
            both[n + i] = y.shadow.take(|d| &d[i]);
        }
        let f = std::cell::RefCell::new(f);
        f.borrow().call((t1, y.value, room));
        let d_t1 = dot(room, &both[n..]);
        let room = std::cell::RefCell::new((room, seed));
        let field = |t: f64, both: &[f64], slope: &mut [f64]| {
            let ((y, lambda), (dy, d_lambda)) = (both.split_at(n), slope.split_at_mut(n));
            let (mut f, mut room) = (f.borrow_mut(), room.borrow_mut());
            let (room, seed) = &mut *room;
            f.call((t, y, dy));
            seed.copy_from_slice(lambda);
            d_lambda.fill(0.0);
            let shadows = (Ignored, Shadow::from(&mut *d_lambda), Shadow::from(&mut seed[..]));
            f.pullback_of_arguments((t, y, room), shadows, ());
            d_lambda.iter_mut().for_each(|d| *d = -*d);
        };
        // A step that counts adds its part of the integral, with the weights that it has itself.
        let integrate = |t: f64, h: f64, both: &[f64], slopes: &[f64]| {
            let (mut f, mut room) = (f.borrow_mut(), room.borrow_mut());
            let (room, seed) = &mut *room;
            for s in (0..STAGES).filter(|s| B[*s] != 0.0) {
                for i in 0..n {
                    let slope = |i: usize| (0..s).map(|j| A[s][j] * slopes[j * 2 * n + i]).sum::<f64>();
                    stage[i] = both[i] + h * slope(i);
                    seed[i] = -h * B[s] * (both[n + i] + h * slope(n + i));
                }
                let shadows = (Ignored, none(), Shadow::from(&mut seed[..]));
                f.pullback((t + C[s] * h, stage, room), shadows, ());
            }
        };
        backward.solve("ode_adjoint", field, (t1, t0), both, Tolerance { relative, absolute }, integrate);
        let (room, _) = room.into_inner();
        f.borrow().call((t0, &both[..n], room));
        let d_t0 = -dot(room, &both[n..]);
        for i in 0..n {
            y.shadow.accumulate(|d| &d[i], both[n + i]);
        }
        self.old.restore(y.value);
        (d_t0, d_t1)
    }
}
