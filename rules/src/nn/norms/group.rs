//! Norms within the members of a batch.

use std::marker::PhantomData;
use std::ops::Range;

use ndarray::{Array, Array1, ArrayRef, ArrayRef1, Axis, Ix2, Ix4, Slice};

use super::{
    Channels, Moments, Sums, add_to_channel, channels_of, clear, normalise, of_each_channel, pull,
    through_scale,
};
use crate::activation::{Dual, DualMut};
use crate::linalg::Number;
use crate::nn::cases::{Case, LAYOUTS, Random};
use crate::saved::Saved;

/// *yᵢ = g꜀·(xᵢ − μ)/√(σ² + ε) + b꜀* for each element *i* of channel *c*, where *μ* and *σ²* are mean and variance (over all *n* elements, not
/// *n* − 1) of all elements of one member of the batch in the channels of one group.
///
/// The first axis of *x* is for the members of the batch, the second one for channels, and there are others at will; adjacent channels form
/// `groups` groups of the same size. Gain *g* and bias *b* have one number for each channel, or one for all. With a group for each channel it is
/// instance normalisation.
///
/// ```
/// use ndarray::{Array2, array};
/// use pullback_rules::nn::group_norm;
///
/// let (x, gain, bias) = (array![[1.0, 3.0, 10.0, 50.0]], array![1.0, 1.0, 2.0, 2.0], array![0.5]);
/// let mut y = Array2::zeros((1, 4));
/// group_norm(&mut y, &x, &gain, &bias, 2, 0.0);
/// assert_eq!(y, array![[-0.5, 1.5, -1.5, 2.5]]);
/// ```
///
/// # Gradient
/// With *s = 1/√(σ² + ε)* and sums over a group: *ġ꜀ += s·Σ ẏᵢ·(xᵢ − μ)* and *ḃ꜀ += Σ ẏᵢ* over channel *c*, *σ̇² = −½·s³·Σ g꜀·ẏᵢ·(xᵢ − μ)*,
/// *μ̇ = −s·Σ g꜀·ẏᵢ*, *ẋᵢ += s·g꜀·ẏᵢ + μ̇/n + 2·σ̇²·(xᵢ − μ)/n*, then *ẏ ← 0* (Wu and He, *Group normalization*, 2018); that with respect to *ε* is
/// the sum of those of the variances. Mean and variance of each group are kept.
///
/// # Panics
/// If the shapes do not fit, or the channels cannot be divided into so many groups.
pub fn group_norm<T: Number, D: Channels>(
    y: &mut ArrayRef<T, D>,
    x: &ArrayRef<T, D>,
    gain: &ArrayRef1<T>,
    bias: &ArrayRef1<T>,
    groups: usize,
    epsilon: T,
) {
    let mut rule = GroupNorm::default();
    rule.old.forgo();
    rule.forward(y, x, gain, bias, groups, epsilon);
}

#[derive(pullback_macros::Rule)]
#[rule(pub fn group_norm<T: Number, D: Channels>(
    y: &mut ArrayRef<T, D>,
    x: &ArrayRef<T, D>,
    gain: &ArrayRef1<T>,
    bias: &ArrayRef1<T>,
    groups: usize,
    epsilon: T,
))]
struct GroupNorm<T: Number, D: Channels> {
    #[rule(restores = y)]
    old: Saved<T>,
    /// Of each group of each member in turn.
    moments: Vec<Moments<T>>,
    dimension: PhantomData<D>,
}

impl<T: Number, D: Channels> Default for GroupNorm<T, D> {
    fn default() -> Self {
        GroupNorm { old: Saved::default(), moments: Vec::new(), dimension: PhantomData }
    }
}

/// The channels of each group; none if there are no elements.
fn channels_of_groups<T, D: Channels>(
    x: &ArrayRef<T, D>,
    groups: usize,
) -> impl Iterator<Item = Range<usize>> + Clone {
    let size = x.len_of(Axis(1)) / groups;
    let groups = if x.is_empty() { 0 } else { groups };
    (0..groups).map(move |group| group * size..(group + 1) * size)
}

impl<T: Number, D: Channels> GroupNorm<T, D> {
    fn forward(
        &mut self,
        y: &mut ArrayRef<T, D>,
        x: &ArrayRef<T, D>,
        gain: &ArrayRef1<T>,
        bias: &ArrayRef1<T>,
        groups: usize,
        epsilon: T,
    ) {
        self.old.save_to_restore(y);
        let channels = channels_of("group_norm", y, x);
        let (gain, bias) =
            (of_each_channel("group_norm", gain, channels), of_each_channel("group_norm", bias, channels));
        assert!(
            groups > 0 && channels.is_multiple_of(groups),
            "group_norm: {channels} channels cannot be divided into {groups} groups"
        );
        self.moments.clear();
        self.moments.reserve(x.len_of(Axis(0)) * groups);
        let groups = channels_of_groups(x, groups);
        for (mut y, x) in y.outer_iter_mut().zip(x.outer_iter()) {
            for group in groups.clone() {
                let moments = Moments::of(&x.slice_axis(Axis(0), Slice::from(group.clone())));
                self.moments.push(moments);
                let scale = moments.scale(epsilon);
                for c in group {
                    let (y, x) = (y.index_axis_mut(Axis(0), c), x.index_axis(Axis(0), c));
                    normalise(y, x, moments.mean, scale * gain[c], bias[c]);
                }
            }
        }
    }

    fn pullback(
        &mut self,
        y: DualMut<'_, ArrayRef<T, D>>,
        x: Dual<'_, ArrayRef<T, D>>,
        gain: Dual<'_, ArrayRef1<T>>,
        bias: Dual<'_, ArrayRef1<T>>,
        groups: usize,
        epsilon: T,
    ) -> T {
        self.old.restore(y.value);
        let Some(dy) = y.shadow.get() else { return T::ZERO };
        let (dx, dgain, dbias) = (x.shadow.get(), gain.shadow.get(), bias.shadow.get());
        let gains = of_each_channel("group_norm", gain.value, x.value.len_of(Axis(1)));
        let groups = channels_of_groups(x.value, groups);
        let (mut moments, mut depsilon) = (self.moments.iter(), T::ZERO);
        for (i, (x, dy)) in x.value.outer_iter().zip(dy.outer_iter()).enumerate() {
            for group in groups.clone() {
                let moments = moments.next().expect("the forward has been here");
                let (mean, scale) = (moments.mean, moments.scale(epsilon));
                let (mut dmean, mut dscale) = (T::ZERO, T::ZERO);
                for c in group.clone() {
                    let sums = Sums::of(Some(dy.index_axis(Axis(0), c)), x.index_axis(Axis(0), c), mean);
                    add_to_channel(dgain, c, scale * sums.centred);
                    add_to_channel(dbias, c, sums.plain);
                    dscale += gains[c] * sums.centred;
                    dmean += -scale * gains[c] * sums.plain;
                }
                let dvariance = through_scale(scale, dscale);
                depsilon += dvariance;
                let Some(dx) = dx else { continue };
                let dx = dx.index_axis_move(Axis(0), i);
                let n = T::of((x.len() / x.len_of(Axis(0)) * group.len()) as f64);
                for c in group {
                    let dy = Some(dy.index_axis(Axis(0), c));
                    let factors = (scale * gains[c], dmean / n, T::of(2.0) * dvariance / n);
                    pull(dx.index_axis(Axis(0), c), dy, x.index_axis(Axis(0), c), mean, factors);
                }
            }
        }
        clear(dy);
        depsilon
    }
}

type Arguments<T, D> = (Array<T, D>, Array<T, D>, Array1<T>, Array1<T>, usize, T);

fn arguments<T: Number, D: Channels>(
    random: &mut Random,
    variant: usize,
    shape: D,
    groups: usize,
) -> Arguments<T, D> {
    let layout = |i: usize| LAYOUTS[(variant + i) % 4];
    let some = if variant % 2 == 1 { 1 } else { shape[1] };
    let (y, x) = (random.array(shape, layout(0)), random.array(shape, layout(1)));
    (y, x, random.vector(some, layout(2)), random.vector(some, layout(3)), groups, T::of(0.1))
}

/// What `group_norm` is tested on, for features and for planes.
#[allow(clippy::type_complexity, reason = "two lists of arguments")]
pub fn group_norm_case<T: Number>() -> (Case<Arguments<T, Ix2>>, Case<Arguments<T, Ix4>>) {
    let random = &mut Random::new();
    let features = [(Ix2(3, 6), 2), (Ix2(1, 1), 1), (Ix2(0, 4), 2), (Ix2(2, 5), 1)];
    let inputs =
        features.into_iter().enumerate().map(|(i, (shape, groups))| arguments(random, i, shape, groups));
    let inputs = inputs.collect();
    let planes = [
        (Ix4(2, 4, 2, 3), 2),
        (Ix4(1, 3, 1, 2), 3),
        (Ix4(2, 0, 2, 2), 2),
        (Ix4(2, 2, 0, 3), 1),
        (Ix4(1, 6, 5, 3), 3),
    ];
    let of_planes =
        planes.into_iter().enumerate().map(|(i, (shape, groups))| arguments(random, i, shape, groups));
    let of_planes = of_planes.collect();
    let [mut shape, mut gain, mut bias] = [(); 3].map(|()| arguments(random, 0, Ix2(2, 4), 2));
    shape.0 = random.array(Ix2(2, 3), LAYOUTS[0]);
    gain.2 = random.vector(3, LAYOUTS[0]);
    bias.3 = random.vector(5, LAYOUTS[0]);
    let [uneven, none] = [3, 0].map(|groups| arguments(random, 0, Ix2(2, 4), groups));
    let panicking = vec![shape, gain, bias, uneven, none];
    (Case { inputs, panicking }, Case { inputs: of_planes, panicking: Vec::new() })
}
