//! What is computed in tests.

use pullback_macros::fused;

pub(super) use crate::nn::generic::{cross_entropy, layer_norm, log_softmax, log_sum_exp, rms_norm, softmax};

fused! {
    pub(super) fn affine_tanh<A>(x, w, b) { (x * w + b).tanh() }

    pub(super) fn scaled<A>(x, z, s: T) { s * x / (z * z + 1.0) }

    /// The same for views of the host's.
    pub(super) fn scaled_on_host(x, z, s: T) { s * x / (z * z + 1.0) }

    pub(super) fn copied<A>(x) { x }

    /// Each gradient has its own broadcast pattern.
    pub(super) fn many<A>(a, b, c, d) { a * b + (c - d).sin() * a / (1.5 + b * b) }

    pub(super) fn piecewise<A>(x, t, width: T) {
        let off = (x - t).abs();
        if off < width { 0.5 * off * off } else { width * (off - 0.5 * width) }
    }

    pub(super) fn smooth<A>(x) {
        let small = 0.4 * x.sin();
        let large = 1.5 + small;
        let exponentials = x.exp() + x.exp2() + x.exp_m1() + x.sinh() + x.cosh() + x.sigmoid() + x.softplus() + x.log_sigmoid();
        let logarithms = large.ln() + large.ln_1p() + large.log2() + large.log10();
        let circular = x.cos() + small.tan() + small.asin() + small.acos() + x.atan() + x.atan2(large);
        let inverse = x.asinh() + large.acosh() + small.atanh() + large.sqrt() + large.cbrt() + large.recip();
        let others = x.abs() + x.signum() + x.floor() + x.erf() + x.erfc() + large.powf(x) + x.powi(3) + large.powi(-2);
        let chosen = x.max(small) + x.min(0.3) + x.clamp(-0.5, 0.25) + x.mul_add(small, 1e-3);
        exponentials + logarithms + circular + inverse + others + chosen
    }

    pub(super) fn range<A>(x; axis) { max(x) - min(x) * count() }

    pub(super) fn norm<A>(x) { sum(x * x).sqrt() }

    pub(super) fn normalised<A>(x, s: T) { s * x / sum(x * x).sqrt() }

    pub(super) fn huber<A>(x, t, delta: T) {
        let d = (x - t).abs();
        mean(if d < delta { 0.5 * d * d } else { delta * (d - 0.5 * delta) })
    }

    /// A number's gradient takes one more pass than arrays' do.
    pub(super) fn twice<A>(w, x, z, k: T) { w * sum(constant(x) * k) + k * z }
}
