//! Logarithms of sums of exponentials and the like, which neither overflow nor cancel.

use pullback_macros::{Rule, scalar_rule};

use super::kernel::{Kernel, special};
use crate::activation::Dual;
use crate::float::Float;
use crate::fused::Real;

special! {
    /// The logistic function, *σ(x) = 1/(1 + e⁻ˣ)*, to 1 ulp, however small it is.
    ///
    /// # Gradient
    /// *ẋ += σ(x)·σ(−x)·ẏ*
    fn sigmoid as Sigmoid(x) = y: Real::sigmoid(x) => y * sigmoid(-x);

    /// *ln(1 + eˣ)*, also known as `log1pexp`, to 2 ulp, however small it is.
    ///
    /// # Gradient
    /// *ẋ += σ(x)·ẏ*
    fn softplus as Softplus(x): Real::softplus(x) => sigmoid(x);

    /// *ln σ(x) = −ln(1 + e⁻ˣ)*, to 2 ulp.
    ///
    /// # Gradient
    /// *ẋ += σ(−x)·ẏ*
    fn log_sigmoid as LogSigmoid(x): Real::log_sigmoid(x) => sigmoid(-x);

    /// *ln(1 − eˣ)* for negative *x*, to 3 ulp: for small ones by `exp_m1`, for large ones by `ln_1p` (Mächler, *Accurately computing
    /// log(1 − exp(−|a|))*, 2012). −∞ at 0, NaN beyond.
    ///
    /// # Gradient
    /// *ẋ −= eˣ/(1 − eˣ)·ẏ*
    fn log1mexp as Log1mexp(x): log_of_complement(x) => -x.exp() / x.exp_m1().abs();

    /// *x·ln y*, and 0 for *x = 0*, whatever *y* is: a term of an entropy or of a likelihood of counts.
    ///
    /// # Gradient
    /// *ẋ += ln y·d*, *ẏ += x/y·d* for a gradient *d*; at *x = y = 0* the latter is taken to be 0, and the former is −∞
    fn xlogy as Xlogy(x, y): x_log_y(x, y)
        => y.ln(), if x == T::zero() && y == T::zero() { T::zero() } else { x / y };
}

fn log_of_complement(x: f64) -> f64 {
    if x > -std::f64::consts::LN_2 { (-x.exp_m1()).ln() } else { (-x.exp()).ln_1p() }
}

fn x_log_y(x: f64, y: f64) -> f64 {
    if x == 0.0 && !y.is_nan() { 0.0 } else { x * y.ln() }
}

/// *ln Σ exp xᵢ*; −∞ for no numbers. For rows of arrays there is [`nn::log_sum_exp`](crate::nn::log_sum_exp()).
///
/// ```
/// use pullback_rules::special::log_sum_exp;
///
/// assert_eq!(log_sum_exp(&[1000.0, 1000.0]), 1000.0 + 2.0_f64.ln());
/// ```
///
/// # Gradient
/// *ẋᵢ += exp(xᵢ − y)·ẏ*, also for what equals an infinite *y*
#[must_use]
pub fn log_sum_exp<T: Float>(x: &[T]) -> T {
    let larger = |max: T, x: &T| if *x > max || x.is_nan() { *x } else { max };
    let max = x.iter().fold(T::NEG_INFINITY, larger);
    if max.is_infinite() {
        return max;
    }
    let sum: T = x.iter().map(|x| (*x - max).exp()).sum();
    max + sum.ln()
}

#[derive(Rule, Default)]
#[rule(pub fn log_sum_exp<T: Float>(x: &[T]) -> T)]
struct LogSumExp<T: Float> {
    y: T,
}

impl<T: Float> LogSumExp<T> {
    fn forward(&mut self, x: &[T]) -> T {
        self.y = log_sum_exp(x);
        self.y
    }

    fn pullback(&mut self, x: Dual<'_, [T]>, d: T) {
        for (i, &x_i) in x.value.iter().enumerate() {
            let share = if x_i == self.y { T::one() } else { (x_i - self.y).exp() };
            x.shadow.accumulate(|dx| &dx[i], d * share);
        }
    }
}
