//! What is done to the rows of an array, in one or two passes over memory.
//!
//! A row is all elements along the axis that a call names. Of each row the forward keeps the one or two numbers that reductions gave;
//! nothing else is kept.

use super::generic::fused_and_generic;

fused_and_generic! {
    /// *yᵢ = exp xᵢ / Σⱼ exp xⱼ* along `axis`, for *y* of the shape of *x*.
    ///
    /// The largest *xⱼ* is subtracted first, so that nothing overflows.
    ///
    /// ```
    /// use ndarray::{Array2, Axis, array};
    /// use pullback_rules::nn::softmax;
    ///
    /// let x = array![[1000.0, 1000.0], [0.0, 3.0_f64.ln()]];
    /// let mut y = Array2::zeros((2, 2));
    /// softmax(&mut y, &x, Axis(1));
    /// let expected = array![[0.5, 0.5], [0.25, 0.75]];
    /// assert!((y - expected).iter().all(|error| error.abs() < 1e-15));
    /// ```
    ///
    /// # Gradient
    /// *ẋᵢ += yᵢ·(ẏᵢ − Σⱼ yⱼ·ẏⱼ)* (Bridle, *Probabilistic interpretation of feedforward classification network outputs*, 1990).
    ///
    /// # Panics
    /// If the shapes do not fit, or there is no such axis.
    pub fn softmax(x; axis) {
        let e = (x - constant(max(x))).exp();
        e / sum(e)
    }

    /// *yᵢ = xᵢ − ln Σⱼ exp xⱼ* along `axis`, for *y* of the shape of *x*: the logarithm of [`softmax`](fn@softmax).
    ///
    /// ```
    /// use ndarray::{Axis, array};
    /// use pullback_rules::nn::log_softmax;
    ///
    /// let x = array![0.0, -2000.0];
    /// let mut y = array![0.0, 0.0];
    /// log_softmax(&mut y, &x, Axis(0));
    /// assert_eq!(y, array![0.0, -2000.0]);
    /// ```
    ///
    /// # Gradient
    /// *ẋᵢ += ẏᵢ − pᵢ·Σⱼ ẏⱼ*, where *p* is the softmax of *x*.
    ///
    /// # Panics
    /// If the shapes do not fit, or there is no such axis.
    pub fn log_softmax(x; axis) {
        let shifted = x - constant(max(x));
        shifted - sum(shifted.exp()).ln()
    }

    /// *y = ln Σⱼ exp xⱼ* along `axis`, for *y* of the shape of *x* but for the axis, along which it has length 1.
    ///
    /// ```
    /// use ndarray::{Axis, array};
    /// use pullback_rules::nn::log_sum_exp;
    ///
    /// let x = array![[1000.0, 1000.0]];
    /// let mut y = array![[0.0]];
    /// log_sum_exp(&mut y, &x, Axis(1));
    /// assert_eq!(y[[0, 0]], 1000.0 + 2.0_f64.ln());
    /// ```
    ///
    /// # Gradient
    /// *ẋᵢ += pᵢ·ẏ*, where *p* is the softmax of *x*.
    ///
    /// # Panics
    /// If the shapes do not fit, or there is no such axis.
    pub fn log_sum_exp(x; axis) {
        let largest = constant(max(x));
        largest + sum((x - largest).exp()).ln()
    }

    /// *y = −Σⱼ tⱼ·(xⱼ − ln Σₖ exp xₖ)* along `axis`: how badly the probabilities *t*, which are usually 0 but for a 1, are
    /// predicted by the logits *x*. *y* has length 1 along the axis.
    ///
    /// ```
    /// use ndarray::{Axis, array};
    /// use pullback_rules::nn::cross_entropy;
    ///
    /// let (logits, targets) = (array![[0.0, 0.0]], array![[0.0, 1.0]]);
    /// let mut y = array![[0.0]];
    /// cross_entropy(&mut y, &logits, &targets, Axis(1));
    /// assert!((y[[0, 0]] - 2.0_f64.ln()).abs() < 1e-15);
    /// ```
    ///
    /// # Gradient
    /// *ẋᵢ += (pᵢ·Σⱼ tⱼ − tᵢ)·ẏ*, where *p* is the softmax of *x*, and *ṫᵢ −= ln pᵢ·ẏ*.
    ///
    /// # Panics
    /// If the shapes do not fit, or there is no such axis.
    pub fn cross_entropy(x, t; axis) {
        let shifted = x - constant(max(x));
        sum(shifted.exp()).ln() * sum(t) - sum(t * shifted)
    }

    /// *yᵢ = gᵢ·(xᵢ − μ)/√(σ² + ε) + bᵢ* along `axis`, where *μ* is the mean of the row and *σ²* its variance (over all *n*
    /// elements, not *n* − 1), for *y* of the shape of *x*. Gain *g* and bias *b* may be broadcast.
    ///
    /// ```
    /// use ndarray::{Axis, array};
    /// use pullback_rules::nn::layer_norm;
    ///
    /// let (x, gain, bias) = (array![[1.0, 3.0], [10.0, 50.0]], array![1.0, 2.0], array![0.5]);
    /// let mut y = array![[0.0, 0.0], [0.0, 0.0]];
    /// layer_norm(&mut y, &x, &gain, &bias, 0.0, Axis(1));
    /// assert_eq!(y, array![[-0.5, 2.5], [-0.5, 2.5]]);
    /// ```
    ///
    /// # Gradient
    /// With *zᵢ = (xᵢ − μ)/s*, *s = √(σ² + ε)* and *cᵢ = gᵢ·ẏᵢ*: *ẋᵢ += (cᵢ − mean c − zᵢ·mean(c·z))/s*, *ġᵢ += zᵢ·ẏᵢ*, *ḃᵢ += ẏᵢ*
    /// (Ba, Kiros and Hinton, *Layer normalization*, 2016), and that with respect to *ε*.
    ///
    /// # Panics
    /// If the shapes do not fit, or there is no such axis.
    pub fn layer_norm(x, gain, bias, epsilon: T; axis) {
        let centred = x - mean(x);
        let scale = (mean(centred * centred) + epsilon).sqrt().recip();
        centred * scale * gain + bias
    }

    /// *yᵢ = gᵢ·xᵢ/√(mean x² + ε)* along `axis`, for *y* of the shape of *x*. The gain *g* may be broadcast.
    ///
    /// ```
    /// use ndarray::{Axis, array};
    /// use pullback_rules::nn::rms_norm;
    ///
    /// let (x, gain) = (array![[3.0, 3.0, -3.0, 3.0]], array![2.0]);
    /// let mut y = array![[0.0, 0.0, 0.0, 0.0]];
    /// rms_norm(&mut y, &x, &gain, 0.0, Axis(1));
    /// assert_eq!(y, array![[2.0, 2.0, -2.0, 2.0]]);
    /// ```
    ///
    /// # Gradient
    /// With *zᵢ = xᵢ/s*, *s = √(mean x² + ε)* and *cᵢ = gᵢ·ẏᵢ*: *ẋᵢ += (cᵢ − zᵢ·mean(c·z))/s*, *ġᵢ += zᵢ·ẏᵢ* (Zhang and Sennrich, *Root
    /// mean square layer normalization*, 2019), and that with respect to *ε*.
    ///
    /// # Panics
    /// If the shapes do not fit, or there is no such axis.
    pub fn rms_norm(x, gain, epsilon: T; axis) {
        let scale = (mean(x * x) + epsilon).sqrt().recip();
        x * scale * gain
    }
}
