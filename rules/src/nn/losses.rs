//! How far off a prediction is, as one number; and the Kullback-Leibler divergence, one for each row.

use super::generic::fused_and_generic;

fused_and_generic! {
    /// The mean of *(xᵢ − tᵢ)²*.
    ///
    /// ```
    /// use ndarray::array;
    /// use pullback_rules::nn::mean_squared_error;
    ///
    /// let loss: f64 = mean_squared_error(&array![1.0, 5.0], &array![2.0, 3.0]);
    /// assert_eq!(loss, 2.5);
    /// ```
    ///
    /// # Gradient
    /// *ẋᵢ += 2·(xᵢ − tᵢ)/n·ẏ*, *ṫᵢ* the opposite.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn mean_squared_error(x, t) {
        let off = x - t;
        mean(off * off)
    }

    /// The mean of *|xᵢ − tᵢ|*.
    ///
    /// ```
    /// use ndarray::array;
    /// use pullback_rules::nn::mean_absolute_error;
    ///
    /// let loss: f64 = mean_absolute_error(&array![1.0, 5.0], &array![2.0, 3.0]);
    /// assert_eq!(loss, 1.5);
    /// ```
    ///
    /// # Gradient
    /// *ẋᵢ += sign(xᵢ − tᵢ)/n·ẏ*, nothing where both are equal; *ṫᵢ* the opposite.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn mean_absolute_error(x, t) {
        mean((x - t).abs())
    }

    /// The mean of *½·eᵢ²* where *eᵢ = |xᵢ − tᵢ| < δ*, of *δ·(eᵢ − ½·δ)* elsewhere (Huber, *Robust estimation of a location parameter*,
    /// 1964).
    ///
    /// ```
    /// use ndarray::array;
    /// use pullback_rules::nn::huber;
    ///
    /// let loss: f64 = huber(&array![0.5, 4.0], &array![0.0, 0.0], 1.0);
    /// assert_eq!(loss, (0.125 + 3.5) / 2.0);
    /// ```
    ///
    /// # Gradient
    /// *ẋᵢ += (xᵢ − tᵢ)/n·ẏ*, with the first factor between *−δ* and *δ*; *ṫᵢ* the opposite; *δ̇ += Σ (eᵢ − δ)/n·ẏ* over *eᵢ ≥ δ*.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn huber(x, t, delta: T) {
        let off = (x - t).abs();
        mean(if off < delta { 0.5 * off * off } else { delta * (off - 0.5 * delta) })
    }

    /// The mean of *½·eᵢ²/β* where *eᵢ = |xᵢ − tᵢ| < β*, of *eᵢ − ½·β* elsewhere: [`huber`](fn@huber) over *β* (Girshick, *Fast R-CNN*,
    /// 2015).
    ///
    /// ```
    /// use ndarray::array;
    /// use pullback_rules::nn::smooth_l1;
    ///
    /// let loss: f64 = smooth_l1(&array![0.5, 4.0], &array![0.0, 0.0], 2.0);
    /// assert_eq!(loss, (0.0625 + 3.0) / 2.0);
    /// ```
    ///
    /// # Gradient
    /// *ẋᵢ += (xᵢ − tᵢ)/β/n·ẏ*, with the first two factors between −1 and 1; *ṫᵢ* the opposite; and that with respect to *β*.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn smooth_l1(x, t, beta: T) {
        let off = (x - t).abs();
        mean(if off < beta { 0.5 * off * off / beta } else { off - 0.5 * beta })
    }

    /// The mean of *−tᵢ·ln pᵢ − (1 − tᵢ)·ln(1 − pᵢ)* for probabilities *0 < pᵢ < 1*. Where these come from logits,
    /// [`binary_cross_entropy_with_logits`](fn@binary_cross_entropy_with_logits) is exact near 0 and 1, too.
    ///
    /// ```
    /// use ndarray::array;
    /// use pullback_rules::nn::binary_cross_entropy;
    ///
    /// let loss: f64 = binary_cross_entropy(&array![0.5, 0.5], &array![1.0, 0.0]);
    /// assert!((loss - 2.0_f64.ln()).abs() < 1e-15);
    /// ```
    ///
    /// # Gradient
    /// *ṗᵢ += (pᵢ − tᵢ)/(pᵢ·(1 − pᵢ))/n·ẏ*, *ṫᵢ += (ln(1 − pᵢ) − ln pᵢ)/n·ẏ*.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn binary_cross_entropy(p, t) {
        mean((t - 1.0) * (-p).ln_1p() - t * p.ln())
    }

    /// The mean of *−tᵢ·ln σ(xᵢ) − (1 − tᵢ)·ln(1 − σ(xᵢ))*, *σ* the logistic function, which does not overflow.
    ///
    /// ```
    /// use ndarray::array;
    /// use pullback_rules::nn::binary_cross_entropy_with_logits;
    ///
    /// let loss: f64 = binary_cross_entropy_with_logits(&array![1000.0, 0.0], &array![1.0, 0.0]);
    /// assert!((loss - 0.5 * 2.0_f64.ln()).abs() < 1e-15);
    /// ```
    ///
    /// # Gradient
    /// *ẋᵢ += (σ(xᵢ) − tᵢ)/n·ẏ*, *ṫᵢ −= xᵢ/n·ẏ*.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn binary_cross_entropy_with_logits(x, t) {
        mean((1.0 - t) * x - x.log_sigmoid())
    }

    /// *y = Σⱼ pⱼ·(ln pⱼ − lⱼ)* along `axis`: how far the distribution with the logarithms *l* is from *p* (Kullback and Leibler, *On
    /// information and sufficiency*, 1951). *y* has length 1 along the axis. Where *pⱼ = 0* nothing is added.
    ///
    /// ```
    /// use ndarray::{Axis, array};
    /// use pullback_rules::nn::kl_divergence;
    ///
    /// let (l, p) = (array![[0.5_f64.ln(), 0.5_f64.ln()]], array![[0.0, 1.0]]);
    /// let mut y = array![[0.0]];
    /// kl_divergence(&mut y, &l, &p, Axis(1));
    /// assert!((y[[0, 0]] - 2.0_f64.ln()).abs() < 1e-15);
    /// ```
    ///
    /// # Gradient
    /// *l̇ⱼ −= pⱼ·ẏ*, *ṗⱼ += (ln pⱼ − lⱼ + 1)·ẏ*; nothing for *ṗⱼ* where *pⱼ = 0*, where there is none that is finite.
    ///
    /// # Panics
    /// If the shapes do not fit, or there is no such axis.
    pub fn kl_divergence(l, p; axis) {
        let positive = if p <= 0.0 { 1.0 } else { p };
        sum(if p <= 0.0 { 0.0 } else { p * (positive.ln() - l) })
    }
}
