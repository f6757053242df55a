//! Norms over a batch.

use std::marker::PhantomData;

use ndarray::{Array, Array1, ArrayRef, ArrayRef1, Axis, Ix1, Ix2, Ix4};

use super::{
    Channels, Moments, Sums, add_to_channel, channel, channels_of, clear, normalise, of_each_channel, pull,
    through_scale,
};
use crate::activation::{Dual, DualMut};
use crate::linalg::Number;
use crate::nn::cases::{Case, LAYOUTS, Random};
use crate::saved::Saved;
use crate::shadow::{ArrayCells, Shadow};

/// *yᵢ = g꜀·(xᵢ − μ꜀)/√(σ²꜀ + ε) + b꜀* for each element *i* of channel *c*, where *μ* and *σ²* are mean and variance (over all *n* elements,
/// not *n* − 1) of the channel in all of the batch; for training. The averages that run along become *r ← (1 − m)·r + m·μ* and
/// *v ← (1 − m)·v + m·σ²·n/(n − 1)*, with the momentum *m*, for [`batch_norm_inference`](fn@batch_norm_inference).
///
/// The second axis of *x* is for channels, and there are others at will: batch × channels × height × width. Gain *g* and bias *b* have one
/// number for each channel, or one for all.
///
/// ```
/// use ndarray::{Array2, array};
/// use pullback_rules::nn::batch_norm;
///
/// let (x, gain, bias) = (array![[1.0, 10.0], [3.0, 50.0]], array![1.0, 2.0], array![0.5]);
/// let (mut y, mut mean, mut variance) = (Array2::zeros((2, 2)), array![0.0, 0.0], array![1.0, 1.0]);
/// batch_norm(&mut y, &x, &gain, &bias, &mut mean, &mut variance, 0.5, 0.0);
/// assert_eq!(y, array![[-0.5, -1.5], [1.5, 2.5]]);
/// assert_eq!((mean, variance), (array![1.0, 15.0], array![1.5, 400.5]));
/// ```
///
/// # Gradient
/// With *s = 1/√(σ² + ε)*: *ġ += s·Σ ẏᵢ·(xᵢ − μ)*, *ḃ += Σ ẏᵢ*, *σ̇² = −½·s³·g·Σ ẏᵢ·(xᵢ − μ) + m·n/(n − 1)·v̇*, *μ̇ = m·ṙ − s·g·Σ ẏᵢ*,
/// *ẋᵢ += s·g·ẏᵢ + μ̇/n + 2·σ̇²·(xᵢ − μ)/n*, then *ẏ ← 0*, *ṙ ← (1 − m)·ṙ*, *v̇ ← (1 − m)·v̇* (Ioffe and Szegedy, *Batch normalization*,
/// 2015); and those with respect to *m* and *ε*. Mean and variance of each channel are kept, and what *r* and *v* held.
///
/// # Panics
/// If the shapes do not fit, or a channel has fewer than two elements.
#[allow(clippy::too_many_arguments, reason = "what it takes")]
pub fn batch_norm<T: Number, D: Channels>(
    y: &mut ArrayRef<T, D>,
    x: &ArrayRef<T, D>,
    gain: &ArrayRef1<T>,
    bias: &ArrayRef1<T>,
    running_mean: &mut ArrayRef1<T>,
    running_variance: &mut ArrayRef1<T>,
    momentum: T,
    epsilon: T,
) {
    let mut rule = BatchNorm::default();
    rule.old.forgo();
    rule.forward(y, x, gain, bias, running_mean, running_variance, momentum, epsilon);
}

#[derive(pullback_macros::Rule)]
#[rule(pub fn batch_norm<T: Number, D: Channels>(
    y: &mut ArrayRef<T, D>,
    x: &ArrayRef<T, D>,
    gain: &ArrayRef1<T>,
    bias: &ArrayRef1<T>,
    running_mean: &mut ArrayRef1<T>,
    running_variance: &mut ArrayRef1<T>,
    momentum: T,
    epsilon: T,
))]
struct BatchNorm<T: Number, D: Channels> {
    #[rule(restores = y)]
    old: Saved<T>,
    old_mean: Saved<T>,
    old_variance: Saved<T>,
    /// Of each channel.
    moments: Vec<Moments<T>>,
    dimension: PhantomData<D>,
}

impl<T: Number, D: Channels> Default for BatchNorm<T, D> {
    fn default() -> Self {
        BatchNorm {
            old: Saved::default(),
            old_mean: Saved::default(),
            old_variance: Saved::default(),
            moments: Vec::new(),
            dimension: PhantomData,
        }
    }
}

/// The variance of a sample as an estimate of that of what it was taken from is this times the mean square.
fn unbiased<T: Number>(n: usize) -> T {
    T::of(n as f64 / (n - 1) as f64)
}

impl<T: Number, D: Channels> BatchNorm<T, D> {
    #[allow(clippy::too_many_arguments, reason = "those of the function")]
    fn forward(
        &mut self,
        y: &mut ArrayRef<T, D>,
        x: &ArrayRef<T, D>,
        gain: &ArrayRef1<T>,
        bias: &ArrayRef1<T>,
        running_mean: &mut ArrayRef1<T>,
        running_variance: &mut ArrayRef1<T>,
        momentum: T,
        epsilon: T,
    ) {
        self.old.save_to_restore(y);
        self.old_mean.save(running_mean);
        self.old_variance.save(running_variance);
        let channels = channels_of("batch_norm", y, x);
        let (gain, bias) =
            (of_each_channel("batch_norm", gain, channels), of_each_channel("batch_norm", bias, channels));
        assert!(
            running_mean.len() == channels && running_variance.len() == channels,
            "batch_norm: averages of {} and {} channels run along, {channels} are there",
            running_mean.len(),
            running_variance.len(),
        );
        self.moments.clear();
        self.moments.reserve(channels);
        for c in 0..channels {
            let x = x.index_axis(Axis(1), c);
            let n = x.len();
            assert!(
                n > 1,
                "batch_norm: it takes two elements of a channel to estimate its variance, {n} are there"
            );
            let moments = Moments::of(&x);
            self.moments.push(moments);
            let factor = gain[c] * moments.scale(epsilon);
            normalise(y.index_axis_mut(Axis(1), c), x, moments.mean, factor, bias[c]);
            let blend = |running: &mut T, now: T| *running = (T::ONE - momentum) * *running + momentum * now;
            blend(&mut running_mean[c], moments.mean);
            blend(&mut running_variance[c], moments.variance * unbiased::<T>(n));
        }
    }

    #[allow(clippy::too_many_arguments, reason = "those of the function")]
    fn pullback(
        &mut self,
        y: DualMut<'_, ArrayRef<T, D>>,
        x: Dual<'_, ArrayRef<T, D>>,
        gain: Dual<'_, ArrayRef1<T>>,
        bias: Dual<'_, ArrayRef1<T>>,
        running_mean: DualMut<'_, ArrayRef1<T>>,
        running_variance: DualMut<'_, ArrayRef1<T>>,
        momentum: T,
        epsilon: T,
    ) -> (T, T) {
        self.old.restore(y.value);
        self.old_mean.restore(running_mean.value);
        self.old_variance.restore(running_variance.value);
        let (dx, dy, dgain, dbias) = (x.shadow.get(), y.shadow.get(), gain.shadow.get(), bias.shadow.get());
        let gains = of_each_channel("batch_norm", gain.value, self.moments.len());
        let (mut dmomentum, mut depsilon) = (T::ZERO, T::ZERO);
        // What comes to an average, which is blended with what there is now, and goes on to that.
        let mut blended =
            |running: &ArrayRef1<T>, shadow: Shadow<ArrayCells<'_, T, Ix1>>, c: usize, now: T| {
                let d = shadow.take(|cells| &cells[c]);
                shadow.accumulate(|cells| &cells[c], (T::ONE - momentum) * d);
                dmomentum += d * (now - running[c]);
                momentum * d
            };
        for (c, &moments) in self.moments.iter().enumerate() {
            let (x, dy) = (x.value.index_axis(Axis(1), c), channel(dy, c));
            let (n, scale) = (T::of(x.len() as f64), moments.scale(epsilon));
            let (gain, correction) = (gains[c], unbiased::<T>(x.len()));
            let sums = Sums::of(dy, x, moments.mean);
            add_to_channel(dgain, c, scale * sums.centred);
            add_to_channel(dbias, c, sums.plain);
            let through_scale = through_scale(scale, gain * sums.centred);
            depsilon += through_scale;
            let estimate = moments.variance * correction;
            let dvariance = through_scale
                + correction * blended(running_variance.value, running_variance.shadow, c, estimate);
            let dmean =
                blended(running_mean.value, running_mean.shadow, c, moments.mean) - scale * gain * sums.plain;
            if let Some(dx) = channel(dx, c) {
                pull(dx, dy, x, moments.mean, (scale * gain, dmean / n, T::of(2.0) * dvariance / n));
            }
        }
        if let Some(dy) = dy {
            clear(dy);
        }
        (dmomentum, depsilon)
    }
}

/// *yᵢ = g꜀·(xᵢ − μ꜀)/√(v꜀ + ε) + b꜀* for each element *i* of channel *c*, with given means and variances: those that have run along with
/// [`batch_norm`](fn@batch_norm), for use after training.
///
/// The second axis of *x* is for channels, and there are others at will. Gain *g*, bias *b*, means and variances have one number for each
/// channel, or one for all.
///
/// ```
/// use ndarray::{Array2, array};
/// use pullback_rules::nn::batch_norm_inference;
///
/// let (x, one, none) = (array![[1.0, 10.0]], array![1.0], array![0.0]);
/// let mut y = Array2::zeros((1, 2));
/// batch_norm_inference(&mut y, &x, &one, &none, &array![0.0, 6.0], &array![0.25, 4.0], 0.0);
/// assert_eq!(y, array![[2.0, 2.0]]);
/// ```
///
/// # Gradient
/// With *s = 1/√(v + ε)*: *ġ += s·Σ ẏᵢ·(xᵢ − μ)*, *ḃ += Σ ẏᵢ*, *μ̇ −= s·g·Σ ẏᵢ*, *v̇ −= ½·s³·g·Σ ẏᵢ·(xᵢ − μ)*, *ẋᵢ += s·g·ẏᵢ*, then *ẏ ← 0*;
/// that with respect to *ε* is the sum of those of the variances. Nothing is kept but what *y* held.
///
/// # Panics
/// If the shapes do not fit.
pub fn batch_norm_inference<T: Number, D: Channels>(
    y: &mut ArrayRef<T, D>,
    x: &ArrayRef<T, D>,
    gain: &ArrayRef1<T>,
    bias: &ArrayRef1<T>,
    mean: &ArrayRef1<T>,
    variance: &ArrayRef1<T>,
    epsilon: T,
) {
    let channels = channels_of("batch_norm_inference", y, x);
    let [gain, bias, mean, variance] =
        [gain, bias, mean, variance].map(|x| of_each_channel("batch_norm_inference", x, channels));
    for c in 0..channels {
        let moments = Moments { mean: mean[c], variance: variance[c] };
        let factor = gain[c] * moments.scale(epsilon);
        normalise(y.index_axis_mut(Axis(1), c), x.index_axis(Axis(1), c), moments.mean, factor, bias[c]);
    }
}

#[derive(pullback_macros::Rule)]
#[rule(pub fn batch_norm_inference<T: Number, D: Channels>(
    y: &mut ArrayRef<T, D>,
    x: &ArrayRef<T, D>,
    gain: &ArrayRef1<T>,
    bias: &ArrayRef1<T>,
    mean: &ArrayRef1<T>,
    variance: &ArrayRef1<T>,
    epsilon: T,
))]
struct BatchNormInference<T: Number, D: Channels> {
    #[rule(restores = y)]
    old: Saved<T>,
    dimension: PhantomData<D>,
}

impl<T: Number, D: Channels> Default for BatchNormInference<T, D> {
    fn default() -> Self {
        BatchNormInference { old: Saved::default(), dimension: PhantomData }
    }
}

impl<T: Number, D: Channels> BatchNormInference<T, D> {
    #[allow(clippy::too_many_arguments, reason = "those of the function")]
    fn forward(
        &mut self,
        y: &mut ArrayRef<T, D>,
        x: &ArrayRef<T, D>,
        gain: &ArrayRef1<T>,
        bias: &ArrayRef1<T>,
        mean: &ArrayRef1<T>,
        variance: &ArrayRef1<T>,
        epsilon: T,
    ) {
        self.old.save_to_restore(y);
        batch_norm_inference(y, x, gain, bias, mean, variance, epsilon);
    }

    #[allow(clippy::too_many_arguments, reason = "those of the function")]
    fn pullback(
        &mut self,
        y: DualMut<'_, ArrayRef<T, D>>,
        x: Dual<'_, ArrayRef<T, D>>,
        gain: Dual<'_, ArrayRef1<T>>,
        bias: Dual<'_, ArrayRef1<T>>,
        mean: Dual<'_, ArrayRef1<T>>,
        variance: Dual<'_, ArrayRef1<T>>,
        epsilon: T,
    ) -> T {
        self.old.restore(y.value);
        let Some(dy) = y.shadow.get() else { return T::ZERO };
        let (dx, dgain, dbias) = (x.shadow.get(), gain.shadow.get(), bias.shadow.get());
        let (dmean, dvariance) = (mean.shadow.get(), variance.shadow.get());
        let channels = x.value.len_of(Axis(1));
        let [gains, means, variances] = [gain.value, mean.value, variance.value]
            .map(|x| of_each_channel("batch_norm_inference", x, channels));
        let mut depsilon = T::ZERO;
        for c in 0..channels {
            let (x, dy) = (x.value.index_axis(Axis(1), c), dy.index_axis(Axis(1), c));
            let moments = Moments { mean: means[c], variance: variances[c] };
            let (gain, scale) = (gains[c], moments.scale(epsilon));
            let sums = Sums::of(Some(dy), x, moments.mean);
            add_to_channel(dgain, c, scale * sums.centred);
            add_to_channel(dbias, c, sums.plain);
            let through_scale = through_scale(scale, gain * sums.centred);
            depsilon += through_scale;
            add_to_channel(dvariance, c, through_scale);
            add_to_channel(dmean, c, -scale * gain * sums.plain);
            if let Some(dx) = channel(dx, c) {
                pull(dx, Some(dy), x, moments.mean, (scale * gain, T::ZERO, T::ZERO));
            }
        }
        clear(dy);
        depsilon
    }
}

type BatchNormArguments<T, D> = (Array<T, D>, Array<T, D>, Array1<T>, Array1<T>, Array1<T>, Array1<T>, T, T);

fn arguments<T: Number, D: Channels>(
    random: &mut Random,
    variant: usize,
    shape: D,
) -> BatchNormArguments<T, D> {
    let layout = |i: usize| LAYOUTS[(variant + i) % 4];
    let channels = shape[1];
    let y = random.array(shape, layout(0));
    let x = random.array(shape, layout(1));
    let some = if variant % 2 == 1 { 1 } else { channels };
    let (gain, bias) = (random.vector(some, layout(2)), random.vector(some, layout(3)));
    let (mean, variance) = (random.vector(channels, layout(1)), random.vector::<T>(channels, layout(2)));
    (y, x, gain, bias, mean, variance.mapv_into(|x| x * x), T::of(0.3), T::of(0.1))
}

/// What `batch_norm` is tested on, for features and for planes.
#[allow(clippy::type_complexity, reason = "two lists of arguments")]
pub fn batch_norm_case<T: Number>() -> (Case<BatchNormArguments<T, Ix2>>, Case<BatchNormArguments<T, Ix4>>) {
    let random = &mut Random::new();
    let features = [Ix2(5, 3), Ix2(2, 1), Ix2(3, 0), Ix2(7, 4)];
    let planes = [Ix4(2, 3, 2, 3), Ix4(3, 1, 1, 1), Ix4(1, 2, 3, 1), Ix4(2, 0, 2, 2), Ix4(2, 2, 5, 3)];
    let mut with = |shape: [usize; 2], lens: [usize; 4]| {
        let mut misfit = arguments::<T, _>(random, 0, Ix2(2, 3));
        misfit.1 = random.array(Ix2(shape[0], shape[1]), LAYOUTS[0]);
        let [gain, bias, mean, variance] = lens.map(|len| random.vector(len, LAYOUTS[0]));
        (misfit.2, misfit.3, misfit.4, misfit.5) = (gain, bias, mean, variance);
        misfit
    };
    let mut panicking = vec![
        with([3, 3], [3; 4]),
        with([2, 3], [2, 3, 3, 3]),
        with([2, 3], [3, 2, 3, 3]),
        with([2, 3], [3, 3, 1, 3]),
        with([2, 3], [3, 3, 3, 2]),
    ];
    // No variance can be estimated.
    panicking.push(arguments(random, 0, Ix2(1, 3)));
    panicking.push(arguments(random, 0, Ix2(0, 3)));
    let inputs = features.into_iter().enumerate().map(|(i, shape)| arguments(random, i, shape)).collect();
    let of_planes = planes.into_iter().enumerate().map(|(i, shape)| arguments(random, i, shape)).collect();
    (Case { inputs, panicking }, Case { inputs: of_planes, panicking: Vec::new() })
}

type InferenceArguments<T, D> = (Array<T, D>, Array<T, D>, Array1<T>, Array1<T>, Array1<T>, Array1<T>, T);

/// What `batch_norm_inference` is tested on.
pub fn batch_norm_inference_case<T: Number>() -> Case<InferenceArguments<T, Ix4>> {
    let random = &mut Random::new();
    let planes = [Ix4(2, 3, 2, 3), Ix4(1, 1, 1, 1), Ix4(0, 2, 3, 1), Ix4(2, 0, 2, 2), Ix4(2, 2, 5, 3)];
    let mut of = |(variant, shape)| {
        let (y, x, gain, bias, mean, variance, _, epsilon) = arguments(random, variant, shape);
        (y, x, gain, bias, mean, variance, epsilon)
    };
    let inputs = planes.into_iter().enumerate().map(&mut of).collect();
    let [mut other, mut longer] = [(); 2].map(|()| of((0, Ix4(2, 3, 2, 2))));
    other.0 = Array::from_elem((2, 3, 2, 1), T::ONE);
    longer.5 = Array::from_elem(2, T::ONE);
    Case { inputs, panicking: vec![other, longer] }
}
