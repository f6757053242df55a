//! Functions of each element, for *y* of the shape to which the operands are broadcast.

use super::generic::fused_and_generic;

fused_and_generic! {
    /// *yᵢ = max(xᵢ, 0)*.
    ///
    /// ```
    /// use ndarray::{Array1, array};
    /// use pullback_rules::nn::relu;
    ///
    /// let x = array![-1.0, 0.0, 2.0];
    /// let mut y = Array1::zeros(3);
    /// relu(&mut y, &x);
    /// assert_eq!(y, array![0.0, 0.0, 2.0]);
    /// ```
    ///
    /// # Gradient
    /// *ẋᵢ += ẏᵢ* where *xᵢ > 0*, and nothing elsewhere, at 0 as well.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn relu(x) {
        if x <= 0.0 { 0.0 } else { x }
    }

    /// *yᵢ = xᵢ* where *xᵢ > 0*, otherwise *slope·xᵢ* (Maas, Hannun and Ng, *Rectifier nonlinearities improve neural network acoustic
    /// models*, 2013).
    ///
    /// ```
    /// use ndarray::{Array1, array};
    /// use pullback_rules::nn::leaky_relu;
    ///
    /// let x = array![-4.0, 2.0];
    /// let mut y = Array1::zeros(2);
    /// leaky_relu(&mut y, &x, 0.25);
    /// assert_eq!(y, array![-1.0, 2.0]);
    /// ```
    ///
    /// # Gradient
    /// *ẋᵢ += ẏᵢ* where *xᵢ > 0*, otherwise *slope·ẏᵢ*; that with respect to the slope is *Σ xᵢ·ẏᵢ* over the others.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn leaky_relu(x, slope: T) {
        if x <= 0.0 { slope * x } else { x }
    }

    /// *yᵢ = xᵢ* where *xᵢ > 0*, otherwise *α·(exp xᵢ − 1)* (Clevert, Unterthiner and Hochreiter, *Fast and accurate deep network learning by
    /// exponential linear units*, 2015).
    ///
    /// ```
    /// use ndarray::{Array1, array};
    /// use pullback_rules::nn::elu;
    ///
    /// let x = array![-f64::ln(2.0), 3.0];
    /// let mut y = Array1::zeros(2);
    /// elu(&mut y, &x, 2.0);
    /// assert!((y - array![-1.0, 3.0]).iter().all(|error: &f64| error.abs() < 1e-15));
    /// ```
    ///
    /// # Gradient
    /// *ẋᵢ += ẏᵢ* where *xᵢ > 0*, otherwise *α·exp xᵢ·ẏᵢ*; that with respect to *α* is *Σ (exp xᵢ − 1)·ẏᵢ* over the others.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn elu(x, alpha: T) {
        if x <= 0.0 { alpha * x.min(0.0).exp_m1() } else { x }
    }

    /// *λ* times [`elu`](fn@elu) with *α*, which are such that mean 0 and variance 1 are a fixed point: *λ* = 1.0507009873554805, *α* =
    /// 1.6732632423543772 (Klambauer et al., *Self-normalizing neural networks*, 2017).
    ///
    /// ```
    /// use ndarray::{Array1, array};
    /// use pullback_rules::nn::selu;
    ///
    /// let x = array![1.0];
    /// let mut y = Array1::zeros(1);
    /// selu(&mut y, &x);
    /// assert_eq!(y[0], 1.0507009873554805);
    /// ```
    ///
    /// # Gradient
    /// *λ* times that of `elu`.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn selu(x) {
        1.0507009873554805 * (if x <= 0.0 { 1.6732632423543772 * x.min(0.0).exp_m1() } else { x })
    }

    /// *yᵢ = xᵢ·Φ(xᵢ)*, where *Φ* is the distribution function of the standard normal distribution; by the error function, not by its
    /// approximation (Hendrycks and Gimpel, *Gaussian error linear units*, 2016).
    ///
    /// ```
    /// use ndarray::{Array1, array};
    /// use pullback_rules::nn::gelu;
    ///
    /// let x = array![0.0, 1.0];
    /// let mut y = Array1::zeros(2);
    /// gelu(&mut y, &x);
    /// assert!((y[1] - 0.8413447460685429_f64).abs() < 1e-15);
    /// ```
    ///
    /// # Gradient
    /// *ẋᵢ += (Φ(xᵢ) + xᵢ·φ(xᵢ))·ẏᵢ*, where *φ* is the density.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn gelu(x) {
        0.5 * x * (x * -0.7071067811865476).erfc()
    }

    /// [`gelu`](fn@gelu) by its approximation *yᵢ = ½·xᵢ·(1 + tanh(√(2/π)·(xᵢ + 0.044715·xᵢ³)))*, which is off by less than 0.0005 (Hendrycks and
    /// Gimpel, *Gaussian error linear units*, 2016, section 2); cuBLASLt computes this one.
    ///
    /// ```
    /// use ndarray::{Array1, array};
    /// use pullback_rules::nn::{gelu, gelu_tanh};
    ///
    /// let x = array![-3.0, -1.0, 0.0, 1.0, 2.5];
    /// let (mut y, mut exact) = (Array1::zeros(5), Array1::zeros(5));
    /// gelu_tanh(&mut y, &x);
    /// gelu(&mut exact, &x);
    /// assert!((y - exact).iter().all(|error: &f64| error.abs() < 5e-4));
    /// ```
    ///
    /// # Gradient
    /// *ẋᵢ += (½·(1 + tᵢ) + ½·xᵢ·(1 − tᵢ²)·√(2/π)·(1 + 3·0.044715·xᵢ²))·ẏᵢ*, where *tᵢ* is the hyperbolic tangent.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn gelu_tanh(x) {
        0.5 * x * (1.0 + (0.7978845608028654 * (x + 0.044715 * x * x * x)).tanh())
    }

    /// *yᵢ = xᵢ·σ(xᵢ)*, *σ* the logistic function (Elfwing, Uchibe and Doya, *Sigmoid-weighted linear units for neural network function
    /// approximation in reinforcement learning*, 2018); also called swish.
    ///
    /// ```
    /// use ndarray::{Array1, array};
    /// use pullback_rules::nn::silu;
    ///
    /// let x = array![0.0, 3.0_f64.ln()];
    /// let mut y = Array1::zeros(2);
    /// silu(&mut y, &x);
    /// assert!((y[1] - 0.75 * x[1]).abs() < 1e-15);
    /// ```
    ///
    /// # Gradient
    /// *ẋᵢ += (σᵢ + xᵢ·σᵢ·(1 − σᵢ))·ẏᵢ*, with *σᵢ = σ(xᵢ)*.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn silu(x) {
        x * x.sigmoid()
    }

    /// *yᵢ = xᵢ·tanh ln(1 + exp xᵢ)* (Misra, *Mish: a self regularized non-monotonic activation function*, 2019).
    ///
    /// ```
    /// use ndarray::{Array1, array};
    /// use pullback_rules::nn::mish;
    ///
    /// let x = array![0.0, 200.0, -200.0];
    /// let mut y = Array1::zeros(3);
    /// mish(&mut y, &x);
    /// assert_eq!((y[0], y[1]), (0.0, 200.0));
    /// ```
    ///
    /// # Gradient
    /// *ẋᵢ += (tᵢ + xᵢ·(1 − tᵢ²)·σ(xᵢ))·ẏᵢ*, where *tᵢ* is the hyperbolic tangent and *σ* the logistic function.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn mish(x) {
        x * x.softplus().tanh()
    }

    /// *yᵢ = ln(1 + exp xᵢ)*, which does not overflow.
    ///
    /// ```
    /// use ndarray::{Array1, array};
    /// use pullback_rules::nn::softplus;
    ///
    /// let x = array![0.0, 1000.0];
    /// let mut y = Array1::zeros(2);
    /// softplus(&mut y, &x);
    /// assert_eq!(y, array![2.0_f64.ln(), 1000.0]);
    /// ```
    ///
    /// # Gradient
    /// *ẋᵢ += σ(xᵢ)·ẏᵢ*, *σ* the logistic function.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn softplus(x) {
        x.softplus()
    }

    /// *yᵢ = xᵢ/(1 + |xᵢ|)*.
    ///
    /// ```
    /// use ndarray::{Array1, array};
    /// use pullback_rules::nn::softsign;
    ///
    /// let x = array![-1.0, 3.0];
    /// let mut y = Array1::zeros(2);
    /// softsign(&mut y, &x);
    /// assert_eq!(y, array![-0.5, 0.75]);
    /// ```
    ///
    /// # Gradient
    /// *ẋᵢ += ẏᵢ/(1 + |xᵢ|)²*.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn softsign(x) {
        x / (1.0 + x.abs())
    }

    /// *yᵢ = xᵢ/6 + ½*, but at least 0 and at most 1 (Howard et al., *Searching for MobileNetV3*, 2019).
    ///
    /// ```
    /// use ndarray::{Array1, array};
    /// use pullback_rules::nn::hard_sigmoid;
    ///
    /// let x = array![-4.0, 0.0, 4.0];
    /// let mut y = Array1::zeros(3);
    /// hard_sigmoid(&mut y, &x);
    /// assert_eq!(y, array![0.0, 0.5, 1.0]);
    /// ```
    ///
    /// # Gradient
    /// *ẋᵢ += ẏᵢ/6* where *|xᵢ| < 3*, and nothing elsewhere.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn hard_sigmoid(x) {
        if x.abs() < 3.0 { x / 6.0 + 0.5 } else { if x < 0.0 { 0.0 } else { 1.0 } }
    }

    /// *yᵢ = xᵢ* times [`hard_sigmoid`](fn@hard_sigmoid) of *xᵢ* (Howard et al., *Searching for MobileNetV3*, 2019).
    ///
    /// ```
    /// use ndarray::{Array1, array};
    /// use pullback_rules::nn::hard_swish;
    ///
    /// let x = array![-4.0, 1.5, 4.0];
    /// let mut y = Array1::zeros(3);
    /// hard_swish(&mut y, &x);
    /// assert_eq!(y, array![0.0, 1.125, 4.0]);
    /// ```
    ///
    /// # Gradient
    /// *ẋᵢ += ẏᵢ* where *xᵢ ≥ 3*, *(xᵢ/3 + ½)·ẏᵢ* where *|xᵢ| < 3*, and nothing elsewhere.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn hard_swish(x) {
        if x.abs() < 3.0 { x * (x / 6.0 + 0.5) } else { if x < 0.0 { 0.0 } else { x } }
    }

    /// *yᵢ = xᵢ·σ(gᵢ)* with the gate *g*, *σ* the logistic function (Dauphin et al., *Language modeling with gated convolutional
    /// networks*, 2017).
    ///
    /// ```
    /// use ndarray::{Array1, array};
    /// use pullback_rules::nn::glu;
    ///
    /// let (x, gate) = (array![2.0, 4.0], array![0.0, 3.0_f64.ln()]);
    /// let mut y = Array1::zeros(2);
    /// glu(&mut y, &x, &gate);
    /// assert!((y - array![1.0, 3.0]).iter().all(|error| error.abs() < 1e-15));
    /// ```
    ///
    /// # Gradient
    /// With *σᵢ = σ(gᵢ)*: *ẋᵢ += σᵢ·ẏᵢ*, *ġᵢ += xᵢ·σᵢ·(1 − σᵢ)·ẏᵢ*.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn glu(x, gate) {
        x * gate.sigmoid()
    }

    /// *yᵢ = xᵢ·gᵢ·σ(gᵢ)*: *x* times [`silu`](fn@silu) of the gate *g* (Shazeer, *GLU variants improve Transformer*, 2020).
    ///
    /// ```
    /// use ndarray::{Array1, array};
    /// use pullback_rules::nn::swiglu;
    ///
    /// let (x, gate) = (array![2.0], array![3.0_f64.ln()]);
    /// let mut y = Array1::zeros(1);
    /// swiglu(&mut y, &x, &gate);
    /// assert!((y[0] - 1.5 * gate[0]).abs() < 1e-15);
    /// ```
    ///
    /// # Gradient
    /// With *σᵢ = σ(gᵢ)*: *ẋᵢ += gᵢ·σᵢ·ẏᵢ*, *ġᵢ += xᵢ·(σᵢ + gᵢ·σᵢ·(1 − σᵢ))·ẏᵢ*.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn swiglu(x, gate) {
        x * gate * gate.sigmoid()
    }
}
