//! Losses of predicted classes, where the right one is given by its index.

use ndarray::{Array1, Array2, ArrayRef1, ArrayRef2, ArrayView1};

use super::cases::{Case, LAYOUTS, Random};
use crate::activation::Dual;
use crate::fused::Exponentials;
use crate::linalg::Number;
use crate::shadow::Accumulate;

/// A weight for each class, and those of the targets added up.
///
/// # Panics
/// If there is not a target for each row, or not a weight and a class for each target.
fn weigh<'a, T: Number>(
    function: &str,
    x: &ArrayRef2<T>,
    weights: &'a ArrayRef1<T>,
    targets: &[usize],
) -> (ArrayView1<'a, T>, T) {
    let ((rows, classes), found) = (x.dim(), targets.len());
    assert!(found == rows, "{function}: {found} targets for {rows} rows");
    for target in targets {
        assert!(*target < classes, "{function}: there is no class {target} among {classes}");
    }
    let found = weights.len();
    let weights = weights
        .broadcast(classes)
        .unwrap_or_else(|| panic!("{function}: {found} weights for {classes} classes"));
    let total = targets.iter().map(|&target| weights[target]).sum();
    (weights, total)
}

/// The mean of *−lᵢₜ* with the weight *wₜ*, over all rows *i*, where *t* is the target of the row: *−Σᵢ wₜ·lᵢₜ / Σᵢ wₜ*. A row of *l* has the
/// logarithm of the probability of each class, as of [`log_softmax`](fn@crate::nn::log_softmax).
///
/// There is one weight for each class, or one for all.
///
/// ```
/// use ndarray::array;
/// use pullback_rules::nn::negative_log_likelihood;
///
/// let l = array![[-1.0, -2.0], [-3.0, -0.5], [-0.25, -4.0]];
/// assert_eq!(negative_log_likelihood(&l, &array![1.0], &[0, 1, 0]), 1.75 / 3.0);
/// assert_eq!(negative_log_likelihood(&l, &array![1.0, 6.0], &[0, 1, 0]), 4.25 / 8.0);
/// ```
///
/// # Gradient
/// With *W = Σᵢ wₜ*: *l̇ᵢₜ −= wₜ/W·ẏ*, *ẇₜ −= (lᵢₜ + y)/W·ẏ* for each row *i*.
///
/// # Panics
/// If the shapes do not fit, or a target is no class.
pub fn negative_log_likelihood<T: Number>(l: &ArrayRef2<T>, weights: &ArrayRef1<T>, targets: &[usize]) -> T {
    let (weights, total) = weigh("negative_log_likelihood", l, weights, targets);
    let term = |(i, &target): (usize, &usize)| -weights[target] * l[[i, target]];
    targets.iter().enumerate().map(term).sum::<T>() / total
}

#[derive(Default, pullback_macros::Rule)]
#[rule(pub fn negative_log_likelihood<T: Number>(
    l: &ArrayRef2<T>,
    weights: &ArrayRef1<T>,
    #[constant] targets: &[usize],
) -> T)]
struct NegativeLogLikelihood<T: Number> {
    loss: T,
}

impl<T: Number> NegativeLogLikelihood<T> {
    fn forward(&mut self, l: &ArrayRef2<T>, weights: &ArrayRef1<T>, targets: &[usize]) -> T {
        self.loss = negative_log_likelihood(l, weights, targets);
        self.loss
    }

    fn pullback(
        &mut self,
        l: Dual<'_, ArrayRef2<T>>,
        weights: Dual<'_, ArrayRef1<T>>,
        targets: &[usize],
        seed: T,
    ) {
        let (values, total) = weigh("negative_log_likelihood", l.value, weights.value, targets);
        let (d, classes) = (seed / total, l.value.ncols());
        let dweights = weights.shadow.get();
        let dweights = dweights.as_ref().and_then(|cells| cells.broadcast(classes));
        for (i, &target) in targets.iter().enumerate() {
            l.shadow.accumulate(|cells| &cells[[i, target]], -values[target] * d);
            if let Some(dweights) = &dweights {
                dweights[target].accumulate(-(l.value[[i, target]] + self.loss) * d);
            }
        }
    }
}

/// The cross entropy of softmax and targets that are given by their indices, with label smoothing: of the probability that is predicted, the
/// right class should have *1 − s*, and all classes, the right one included, the share *s/C* of the smoothing *s*. With *ℓᵢⱼ = ln Σₖ exp xᵢₖ − xᵢⱼ*
/// and the target *t* of row *i* it is
///
/// > *(1/W)·Σᵢ ((1 − s)·wₜ·ℓᵢₜ + s/C·Σⱼ wⱼ·ℓᵢⱼ)*, *W = Σᵢ wₜ*.
///
/// There is one weight for each of the *C* classes, or one for all. Nothing overflows. For other targets than indices there is
/// [`cross_entropy`](fn@crate::nn::cross_entropy).
///
/// ```
/// use ndarray::array;
/// use pullback_rules::nn::sparse_cross_entropy;
///
/// let logits = array![[0.0, 3.0_f64.ln()], [1000.0, 1000.0]];
/// let loss = sparse_cross_entropy(&logits, &array![1.0], 0.0, &[1, 0]);
/// assert!((loss - ((4.0_f64 / 3.0).ln() + 2.0_f64.ln()) / 2.0).abs() < 1e-12);
/// ```
///
/// # Gradient
/// With the softmax *pᵢⱼ* and *V = Σⱼ wⱼ*: *ẋᵢⱼ += ((1 − s)·wₜ·(pᵢⱼ − δⱼₜ) + s/C·(V·pᵢⱼ − wⱼ))/W·ẏ*; *ẇⱼ += (Σᵢ ((1 − s)·ℓᵢₜ − y) + s/C·Σᵢ ℓᵢⱼ)/W·ẏ*, the
/// first sum over the rows whose target is *j*; *ṡ = (Σᵢⱼ wⱼ·ℓᵢⱼ/C − Σᵢ wₜ·ℓᵢₜ)/W·ẏ* (Szegedy et al., *Rethinking the inception architecture for computer
/// vision*, 2016). The logarithm of each row's sum is kept.
///
/// # Panics
/// If the shapes do not fit, or a target is no class.
pub fn sparse_cross_entropy<T: Number + Exponentials>(
    x: &ArrayRef2<T>,
    weights: &ArrayRef1<T>,
    smoothing: T,
    targets: &[usize],
) -> T {
    SparseCrossEntropy::default().forward(x, weights, smoothing, targets)
}

#[derive(Default, pullback_macros::Rule)]
#[rule(pub fn sparse_cross_entropy<T: Number + Exponentials>(
    x: &ArrayRef2<T>,
    weights: &ArrayRef1<T>,
    smoothing: T,
    #[constant] targets: &[usize],
) -> T)]
struct SparseCrossEntropy<T: Number> {
    loss: T,
    /// *ln Σⱼ exp xᵢⱼ* of each row.
    normalisers: Vec<T>,
    /// For one row.
    room: Vec<T>,
    #[rule(constant = smoothing)]
    smoothing_is_constant: bool,
}

/// *ln Σⱼ exp xⱼ*, computed in `room`.
fn log_sum_exp<T: Number + Exponentials>(row: ArrayView1<'_, T>, room: &mut Vec<T>) -> T {
    place(row, room);
    let largest = T::largest(room, T::NEG_INFINITY);
    largest + T::exponentials(room, largest).ln()
}

fn place<T: Copy>(row: ArrayView1<'_, T>, room: &mut Vec<T>) {
    room.clear();
    room.extend(row);
}

impl<T: Number + Exponentials> SparseCrossEntropy<T> {
    fn forward(&mut self, x: &ArrayRef2<T>, weights: &ArrayRef1<T>, smoothing: T, targets: &[usize]) -> T {
        let (weights, total) = weigh("sparse_cross_entropy", x, weights, targets);
        self.normalisers.clear();
        let room = &mut self.room;
        self.normalisers.extend(x.rows().into_iter().map(|row| log_sum_exp(row, room)));
        let (mut right, mut all) = (T::ZERO, T::ZERO);
        for ((row, &target), &normaliser) in x.rows().into_iter().zip(targets).zip(&self.normalisers) {
            right += weights[target] * (normaliser - row[target]);
            // A logit may be −∞ as long as nothing wants the class.
            if !smoothing.is_zero() {
                all += row.iter().zip(&weights).map(|(&x, &weight)| weight * (normaliser - x)).sum::<T>();
            }
        }
        let share = smoothing / T::of(x.ncols() as f64);
        let smoothed = if smoothing.is_zero() { T::ZERO } else { share * all };
        self.loss = ((T::ONE - smoothing) * right + smoothed) / total;
        self.loss
    }

    fn pullback(
        &mut self,
        x: Dual<'_, ArrayRef2<T>>,
        weights: Dual<'_, ArrayRef1<T>>,
        smoothing: T,
        targets: &[usize],
        seed: T,
    ) -> T {
        let (values, total) = weigh("sparse_cross_entropy", x.value, weights.value, targets);
        let (d, classes) = (seed / total, x.value.ncols());
        let share = smoothing / T::of(classes as f64);
        let (of_right, sum_of_weights) = (T::ONE - smoothing, values.iter().sum::<T>());
        let (dx, dweights) = (x.shadow.get(), weights.shadow.get());
        let dweights = dweights.as_ref().and_then(|cells| cells.broadcast(classes));
        let mut dsmoothing = T::ZERO;
        for (i, (row, &target)) in x.value.rows().into_iter().zip(targets).enumerate() {
            let normaliser = self.normalisers[i];
            let loss = |class: usize| normaliser - row[class];
            if let Some(dx) = &dx {
                let sum = of_right * values[target] + share * sum_of_weights;
                place(row, &mut self.room);
                T::exponentials(&mut self.room, normaliser);
                for (j, (cell, &probability)) in dx.row(i).iter().zip(&self.room).enumerate() {
                    let wanted = if j == target { of_right * values[j] } else { T::ZERO };
                    cell.accumulate(d * (sum * probability - wanted - share * values[j]));
                }
            }
            if let Some(dweights) = &dweights {
                dweights[target].accumulate(d * (of_right * loss(target) - self.loss));
                if !smoothing.is_zero() {
                    (0..classes).for_each(|j| dweights[j].accumulate(d * share * loss(j)));
                }
            }
            if !self.smoothing_is_constant {
                let all = (0..classes).map(|j| values[j] * loss(j)).sum::<T>();
                dsmoothing += d * (all / T::of(classes as f64) - values[target] * loss(target));
            }
        }
        dsmoothing
    }
}

/// Rows, classes, and whether there is one weight for all.
const VARIANTS: [(usize, usize, bool); 5] =
    [(3, 5, false), (1, 1, true), (7, 3, true), (5, 33, false), (33, 2, false)];

fn arguments<T: Number>(random: &mut Random, variant: usize) -> (Array2<T>, Array1<T>, Vec<usize>) {
    let (rows, classes, one) = VARIANTS[variant];
    let weights = random.vector::<T>(if one { 1 } else { classes }, LAYOUTS[(variant + 1) % 4]);
    let targets = (0..rows).map(|i| (5 * i + variant) % classes).collect();
    (random.matrix((rows, classes), LAYOUTS[variant % 4]), weights.mapv_into(|w| w * w), targets)
}

fn misfits<T: Number>(random: &mut Random) -> [(Array2<T>, Array1<T>, Vec<usize>); 3] {
    [(3, vec![0, 3]), (2, vec![0, 1]), (3, vec![0])]
        .map(|(len, targets)| (random.matrix((2, 3), LAYOUTS[0]), random.vector(len, LAYOUTS[0]), targets))
}

/// What `negative_log_likelihood` is tested on.
pub fn negative_log_likelihood_case<T: Number>() -> Case<(Array2<T>, Array1<T>, Vec<usize>)> {
    let random = &mut Random::new();
    let inputs = (0..VARIANTS.len()).map(|variant| arguments(random, variant)).collect();
    Case { inputs, panicking: misfits(random).into() }
}

/// What `sparse_cross_entropy` is tested on.
#[allow(clippy::type_complexity, reason = "the arguments of sparse_cross_entropy")]
pub fn sparse_cross_entropy_case<T: Number>() -> Case<(Array2<T>, Array1<T>, T, Vec<usize>)> {
    let random = &mut Random::new();
    let with = |smoothing: f64| {
        move |(x, weights, targets): (Array2<T>, Array1<T>, Vec<usize>)| {
            (x, weights, T::of(smoothing), targets)
        }
    };
    let inputs = [0.1, 0.5, 0.0, 0.25, 0.9].into_iter().enumerate();
    let inputs = inputs.map(|(variant, smoothing)| with(smoothing)(arguments(random, variant))).collect();
    Case { inputs, panicking: misfits(random).map(with(0.1)).into() }
}
