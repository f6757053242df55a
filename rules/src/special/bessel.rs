//! Bessel functions of integer order.

use std::f64::consts::TAU;

use pullback_macros::scalar_rule;

use super::kernel::{Kernel, special};
use crate::float::Float;

special! {
    /// *J₀(x)*, the Bessel function of the first kind and of order 0; see [`jn`](jn()).
    ///
    /// # Gradient
    /// *ẋ −= J₁(x)·ẏ* (DLMF 10.6.3)
    fn j0 as J0(x): libm::j0(x) => -j1(x);

    /// *J₁(x)*; see [`jn`](jn()).
    ///
    /// # Gradient
    /// *ẋ += (J₀(x) − J₂(x))/2·ẏ*
    fn j1 as J1(x): libm::j1(x) => half_of(j0(x) - jn(2, x));

    /// *Jₙ(x)*, the Bessel function of the first kind and of order *n* (DLMF 10.2.2), by `libm`.
    ///
    /// # Gradient
    /// *ẋ += (Jₙ₋₁(x) − Jₙ₊₁(x))/2·ẏ* (DLMF 10.6.1)
    fn jn as Jn[n: i32](x): libm::jn(n, x) => half_of(jn(n - 1, x) - jn(n + 1, x));

    /// *Y₀(x)*, the Bessel function of the second kind and of order 0; see [`yn`](yn()).
    ///
    /// # Gradient
    /// *ẋ −= Y₁(x)·ẏ* (DLMF 10.6.3)
    fn y0 as Y0(x): libm::y0(x) => -y1(x);

    /// *Y₁(x)*; see [`yn`](yn()).
    ///
    /// # Gradient
    /// *ẋ += (Y₀(x) − Y₂(x))/2·ẏ*
    fn y1 as Y1(x): libm::y1(x) => half_of(y0(x) - yn(2, x));

    /// *Yₙ(x)*, the Bessel function of the second kind and of order *n* (DLMF 10.2.3), by `libm`. Infinite at 0, NaN for negative *x*.
    ///
    /// # Gradient
    /// *ẋ += (Yₙ₋₁(x) − Yₙ₊₁(x))/2·ẏ* (DLMF 10.6.1)
    fn yn as Yn[n: i32](x): libm::yn(n, x) => half_of(yn(n - 1, x) - yn(n + 1, x));

    /// *I₀(x)*, the modified Bessel function of the first kind and of order 0; see [`i_n`](i_n()).
    ///
    /// # Gradient
    /// *ẋ += I₁(x)·ẏ* (DLMF 10.29.3)
    fn i0 as I0(x): modified(0, x) => i1(x);

    /// *I₁(x)*; see [`i_n`](i_n()).
    ///
    /// # Gradient
    /// *ẋ += (I₀(x) + I₂(x))/2·ẏ*
    fn i1 as I1(x): modified(1, x) => half_of(i0(x) + i_n(2, x));

    /// *Iₙ(x)*, the modified Bessel function of the first kind and of order *n* (DLMF 10.25.2). It grows as *eˣ* does:
    /// [`i_n_scaled`](i_n_scaled()) does not overflow.
    ///
    /// # Gradient
    /// *ẋ += (Iₙ₋₁(x) + Iₙ₊₁(x))/2·ẏ* (DLMF 10.29.1)
    fn i_n as In[n: i32](x): modified(n, x) => half_of(i_n(n - 1, x) + i_n(n + 1, x));

    /// *e^(−|x|)·I₀(x)*; see [`i_n_scaled`](i_n_scaled()).
    ///
    /// ```
    /// use pullback_rules::special::i0_scaled;
    ///
    /// /// The logarithm of the density of von Mises' distribution, about 0.
    /// fn log_density(angle: f64, concentration: f64) -> f64 {
    ///     concentration * (angle.cos() - 1.0) - (std::f64::consts::TAU * i0_scaled(concentration)).ln()
    /// }
    /// // For a high concentration it is normal: I₀ itself is infinite there.
    /// assert!((log_density(0.0, 1e4) - 0.5 * (1e4 / std::f64::consts::TAU).ln()).abs() < 1e-4);
    /// ```
    ///
    /// # Gradient
    /// *ẋ += (e^(−|x|)·I₁(x) − sign x·y)·ẏ*
    fn i0_scaled as I0Scaled(x) = y: scaled(0, x) => i1_scaled(x) - sign(x) * y;

    /// *e^(−|x|)·I₁(x)*; see [`i_n_scaled`](i_n_scaled()).
    ///
    /// # Gradient
    /// *ẋ += (e^(−|x|)·(I₀(x) + I₂(x))/2 − sign x·y)·ẏ*
    fn i1_scaled as I1Scaled(x) = y: scaled(1, x) => half_of(i0_scaled(x) + i_n_scaled(2, x)) - sign(x) * y;

    /// *e^(−|x|)·Iₙ(x)*, to 10⁻¹⁴ of its magnitude. By Miller's algorithm (DLMF 3.6(iii)), with the sum 10.35.5 for its scale, or by the
    /// asymptotic series 10.40.1 for large *x*.
    ///
    /// # Gradient
    /// *ẋ += (e^(−|x|)·(Iₙ₋₁(x) + Iₙ₊₁(x))/2 − sign x·y)·ẏ*; the sign of 0 is taken to be 0
    fn i_n_scaled as InScaled[n: i32](x) = y: scaled(n, x)
        => half_of(i_n_scaled(n - 1, x) + i_n_scaled(n + 1, x)) - sign(x) * y;
}

fn half_of<T: Float>(x: T) -> T {
    T::from_f64(0.5) * x
}

/// 0 at 0.
fn sign<T: Float>(x: T) -> T {
    if x == T::zero() { T::zero() } else { x.signum() }
}

fn modified(n: i32, x: f64) -> f64 {
    // The factor overflows before the function does.
    let root = (0.5 * x.abs()).exp();
    scaled(n, x) * root * root
}

fn scaled(n: i32, x: f64) -> f64 {
    // I₋ₙ = Iₙ
    let (n, a) = (n.unsigned_abs(), x.abs());
    let order = f64::from(n);
    let value = if a > f64::max(30.0, 0.5 * order * order) {
        asymptotic(order, a)
    } else if a < 1e-8 {
        // The first term of the power series.
        (1..=n).fold(1.0 - a, |term, k| term * (0.5 * a / f64::from(k)))
    } else {
        by_recurrence(n, a)
    };
    if n % 2 == 1 { value.copysign(x) } else { value }
}

fn asymptotic(n: f64, a: f64) -> f64 {
    let (mut term, mut sum) = (1.0, 1.0);
    for k in 1..60 {
        let (k, odd) = (f64::from(k), f64::from(2 * k - 1));
        term *= (odd * odd - 4.0 * n * n) / (8.0 * k * a);
        sum += term;
        if f64::abs(term) < 1e-17 * sum {
            break;
        }
    }
    sum / (TAU * a).sqrt()
}

/// Backward, where the wanted solution of the recurrence is the one that grows.
fn by_recurrence(n: u32, a: f64) -> f64 {
    // Iₖ(a) is about e^(−k²/2a)·I₀(a) for large a.
    let start = n + 30 + (10.0 * a.sqrt()) as u32;
    let (mut above, mut here) = (0.0, 1e-200);
    let (mut wanted, mut sum) = (0.0, 0.0);
    for k in (1..=start).rev() {
        if k == n {
            wanted = here;
        }
        sum += here;
        (above, here) = (here, above + 2.0 * f64::from(k) / a * here);
        if here > 1e200 {
            for x in [&mut above, &mut here, &mut wanted, &mut sum] {
                *x *= 1e-200;
            }
        }
    }
    // e^a = I₀ + 2·Σ Iₖ
    (if n == 0 { here } else { wanted }) / (here + 2.0 * sum)
}
