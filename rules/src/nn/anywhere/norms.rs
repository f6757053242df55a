//! Norms of channels, in any memory.

use std::marker::PhantomData;

use super::places::{given, of_channels, read, reshaped, shadow, target, written};
use crate::fused::operand::{MOST_AXES, Place};
use crate::fused::{Along, Array, Memory, Old, Real, Sink, Source};
use crate::{Dual, DualMut, MatrixScalar, Rule};

pullback_macros::fused! {
    fn normalised<M>(x, gain, bias, epsilon: T; axis) {
        let centred = x - mean(x);
        centred / (mean(centred * centred) + epsilon).sqrt() * gain + bias
    }

    fn mean_of<M>(x; axis) { mean(x) }

    fn variance_of<M>(x, unbiased: T; axis) {
        let centred = x - mean(x);
        unbiased * mean(centred * centred)
    }

    fn blended<M>(r, now, momentum: T) { (1.0 - momentum) * r + momentum * now }
}

/// All axes but that of the channels; and all behind those of the batch and of its groups.
const BATCH: [usize; MOST_AXES - 1] = [0, 2, 3, 4, 5];
const GROUP: [usize; MOST_AXES - 2] = [2, 3, 4, 5];

/// # Panics
/// If the shapes do not fit.
fn channels_of(function: &str, y: &[usize], x: &[usize], vectors: [&[usize]; 2]) -> usize {
    assert!(y == x, "{function}: the result has the shape {x:?}, what it is written to {y:?}");
    assert!(x.len() >= 2, "{function}: {x:?} has no axis for channels");
    for vector in vectors {
        let fits = matches!(vector, [n] if *n == 1 || *n == x[1]);
        assert!(fits, "{function}: {vector:?} numbers for {} channels", x[1]);
    }
    x[1]
}

/// Places of what is normalised: the array, gain and bias, with axes that suit them.
type Operands<T> = [Place<T>; 3];

fn sources<'a, T: Real>([x, gain, bias]: Operands<T>, epsilon: &'a T) -> [Source<'a, T>; 4] {
    [read(x), read(gain), read(bias), Source::number(epsilon)]
}

#[allow(clippy::too_many_arguments, reason = "each operand with its shadow")]
fn pull<'a, T: Real, M: Memory>(
    memory: &M,
    along: Along,
    operands: Operands<T>,
    epsilon: &'a T,
    dy: Place<T>,
    [dx, dgain, dbias]: [Option<Place<T>>; 3],
    depsilon: Sink<'a, T>,
    kept: &M::Kept<T>,
) {
    let sinks = [Sink::at(dx, true), Sink::at(dgain, true), Sink::at(dbias, true), depsilon];
    let dy = (read(dy), written(dy));
    normalised::pullback(memory, along, sources(operands, epsilon), dy.0, dy, sinks, kept);
}

/// [`nn::group_norm`](fn@crate::nn::group_norm) for arrays in any memory, of up to five axes.
///
/// # Gradient
/// That of [`nn::group_norm`](fn@crate::nn::group_norm). With respect to *ε* it is a number of the host's: a device is waited for unless *ε* is constant.
///
/// # Panics
/// As that function, or if a device fails.
pub fn group_norm<T, A, V>(y: &mut A, x: &A, gain: &V, bias: &V, groups: usize, epsilon: T)
where
    T: Real + MatrixScalar,
    A: Array<T>,
    V: Array<T, Memory = A::Memory>,
{
    let mut rule = GroupNorm::default();
    rule.old.forgo();
    rule.forward(y, x, gain, bias, groups, epsilon);
}

#[derive(Rule)]
#[rule(pub fn group_norm<T: Real + MatrixScalar, A: Array<T>, V: Array<T, Memory = A::Memory>>(
    y: &mut A,
    x: &A,
    gain: &V,
    bias: &V,
    groups: usize,
    epsilon: T,
))]
struct GroupNorm<T: Real + MatrixScalar, A: Array<T>, V: Array<T, Memory = A::Memory>> {
    #[rule(restores = y)]
    old: Old<T, A>,
    #[rule(constant = epsilon)]
    epsilon_is_constant: bool,
    kept: <A::Memory as Memory>::Kept<T>,
    vectors: PhantomData<fn(V)>,
}

impl<T: Real + MatrixScalar, A: Array<T>, V: Array<T, Memory = A::Memory>> Default for GroupNorm<T, A, V> {
    fn default() -> Self {
        GroupNorm {
            old: Old::default(),
            epsilon_is_constant: false,
            kept: Default::default(),
            vectors: PhantomData,
        }
    }
}

/// Axis 1, the channels, as two: groups, and the channels of each.
fn grouped<T>(place: Place<T>, groups: usize) -> Place<T> {
    let (mut lengths, mut strides) = ([1; MOST_AXES], [0; MOST_AXES]);
    let size = place.lengths[1] / groups;
    lengths[0] = place.lengths[0];
    strides[0] = place.strides[0];
    (lengths[1], lengths[2]) = if place.lengths[1] == 1 { (1, 1) } else { (groups, size) };
    (strides[1], strides[2]) = (place.strides[1] * size as isize, place.strides[1]);
    let axes = place.axes + 1;
    lengths[3..axes].copy_from_slice(&place.lengths[2..axes - 1]);
    strides[3..axes].copy_from_slice(&place.strides[2..axes - 1]);
    reshaped(place, &lengths[..axes], &strides[..axes])
}

impl<T: Real + MatrixScalar, A: Array<T>, V: Array<T, Memory = A::Memory>> GroupNorm<T, A, V> {
    fn forward(&mut self, y: &mut A, x: &A, gain: &V, bias: &V, groups: usize, epsilon: T) {
        self.old.save(y);
        let channels = channels_of("group_norm", y.lengths(), x.lengths(), [gain.lengths(), bias.lengths()]);
        assert!(
            groups > 0 && channels.is_multiple_of(groups),
            "group_norm: {channels} channels cannot be divided into {groups} groups"
        );
        let axes = x.lengths().len();
        assert!(axes < MOST_AXES, "group_norm: {axes} axes are more than it can divide");
        let (memory, y) = (y.memory(), written(grouped(target(y), groups)));
        let operands = Self::operands(x, gain, bias, groups);
        normalised::forward(
            &memory,
            Along::Several(&GROUP),
            y,
            sources(operands, &epsilon),
            Some(&mut self.kept),
        );
    }

    fn operands(x: &A, gain: &V, bias: &V, groups: usize) -> Operands<T> {
        let axes = x.lengths().len();
        let vector = |vector: &V| grouped(of_channels(vector.source().place, axes), groups);
        [grouped(x.source().place, groups), vector(gain), vector(bias)]
    }

    fn pullback(
        &mut self,
        y: DualMut<'_, A>,
        x: Dual<'_, A>,
        gain: Dual<'_, V>,
        bias: Dual<'_, V>,
        groups: usize,
        epsilon: T,
    ) -> T {
        self.old.restore(y.value);
        let Some(dy) = y.shadow.get() else { return T::ZERO };
        if x.value.lengths().contains(&0) {
            // Groups of no elements have no variance.
            return T::ZERO;
        }
        let axes = x.value.lengths().len();
        let operands = Self::operands(x.value, gain.value, bias.value, groups);
        let vector =
            |d: Option<V::Shadow<'_>>| d.map(|d| grouped(of_channels(shadow::<T, V>(&d), axes), groups));
        let shadows = [
            x.shadow.get().map(|d| grouped(shadow::<T, A>(&d), groups)),
            vector(gain.shadow.get()),
            vector(bias.shadow.get()),
        ];
        let mut depsilon = T::ZERO;
        let (memory, along) = (y.value.memory(), Along::Several(&GROUP));
        let (dy, d) = (
            grouped(shadow::<T, A>(&dy), groups),
            Sink::number_unless(self.epsilon_is_constant, &mut depsilon),
        );
        pull(&memory, along, operands, &epsilon, dy, shadows, d, &self.kept);
        depsilon
    }
}

/// [`nn::batch_norm`](fn@crate::nn::batch_norm) for arrays in any memory.
///
/// # Gradient
/// That of [`nn::batch_norm`](fn@crate::nn::batch_norm). With respect to *m* and *ε* it is a number of the host's: a device is waited for unless these are
/// constant.
///
/// # Panics
/// As that function, or if a device fails.
#[allow(clippy::too_many_arguments, reason = "what it takes")]
pub fn batch_norm<T, A, V>(
    y: &mut A,
    x: &A,
    gain: &V,
    bias: &V,
    running_mean: &mut V,
    running_variance: &mut V,
    momentum: T,
    epsilon: T,
) where
    T: Real + MatrixScalar,
    A: Array<T>,
    V: Array<T, Memory = A::Memory>,
{
    let mut rule = BatchNorm::default();
    rule.old.forgo();
    rule.forward(y, x, gain, bias, running_mean, running_variance, momentum, epsilon);
}

#[derive(Rule)]
#[rule(pub fn batch_norm<T: Real + MatrixScalar, A: Array<T>, V: Array<T, Memory = A::Memory>>(
    y: &mut A,
    x: &A,
    gain: &V,
    bias: &V,
    running_mean: &mut V,
    running_variance: &mut V,
    momentum: T,
    epsilon: T,
))]
struct BatchNorm<T: Real + MatrixScalar, A: Array<T>, V: Array<T, Memory = A::Memory>> {
    #[rule(restores = y)]
    old: Old<T, A>,
    #[rule(constant = momentum)]
    momentum_is_constant: bool,
    #[rule(constant = epsilon)]
    epsilon_is_constant: bool,
    kept: <A::Memory as Memory>::Kept<T>,
    moments: [Moment<T, A::Memory, V>; 2],
}

/// An average that runs along.
struct Moment<T: Real, M: Memory, V: Array<T>> {
    old: Old<T, V>,
    kept: M::Kept<T>,
    /// That of this batch, and its gradient.
    now: M::Kept<T>,
    gradient: M::Kept<T>,
}

crate::heap::heap_size! { [T: Real, M: Memory, V: Array<T>] Moment<T, M, V> { old, kept, now, gradient } }

impl<T: Real, M: Memory, V: Array<T>> Default for Moment<T, M, V> {
    fn default() -> Self {
        Moment {
            old: Old::default(),
            kept: Default::default(),
            now: Default::default(),
            gradient: Default::default(),
        }
    }
}

impl<T: Real + MatrixScalar, A: Array<T>, V: Array<T, Memory = A::Memory>> Default for BatchNorm<T, A, V> {
    fn default() -> Self {
        BatchNorm {
            old: Old::default(),
            momentum_is_constant: false,
            epsilon_is_constant: false,
            kept: Default::default(),
            moments: Default::default(),
        }
    }
}

const ALONG: Along = Along::Several(&BATCH);

/// How many elements each channel has.
fn of_each(x: &[usize]) -> usize {
    x[0] * x[2..].iter().product::<usize>()
}

/// By what the variance is multiplied so that it is that of more than these elements.
fn unbiased<T: Real>(x: &[usize]) -> T {
    let n = of_each(x);
    <T as Real>::of(n as f64 / (n - 1) as f64)
}

impl<T: Real + MatrixScalar, A: Array<T>, V: Array<T, Memory = A::Memory>> BatchNorm<T, A, V> {
    fn operands(x: &A, gain: &V, bias: &V) -> Operands<T> {
        let axes = x.lengths().len();
        let vector = |vector: &V| of_channels(vector.source().place, axes);
        [x.source().place, vector(gain), vector(bias)]
    }

    #[allow(clippy::too_many_arguments, reason = "those of the function")]
    fn forward(
        &mut self,
        y: &mut A,
        x: &A,
        gain: &V,
        bias: &V,
        running_mean: &mut V,
        running_variance: &mut V,
        momentum: T,
        epsilon: T,
    ) {
        self.old.save(y);
        let channels = channels_of("batch_norm", y.lengths(), x.lengths(), [gain.lengths(), bias.lengths()]);
        let [mean, variance] = [running_mean.lengths(), running_variance.lengths()];
        assert!(
            mean == [channels] && variance == [channels],
            "batch_norm: averages of {mean:?} and {variance:?} channels run along, {channels} are there"
        );
        let n = of_each(x.lengths());
        assert!(
            n > 1 || channels == 0,
            "batch_norm: it takes two elements of a channel to estimate its variance, {n} are there"
        );
        let (memory, lengths) = (y.memory(), x.lengths());
        let operands = Self::operands(x, gain, bias);
        normalised::forward(
            &memory,
            ALONG,
            written(target(y)),
            sources(operands, &epsilon),
            Some(&mut self.kept),
        );
        if channels == 0 {
            return;
        }
        let of_x = operands[0];
        for (i, (moment, running)) in
            self.moments.iter_mut().zip([running_mean, running_variance]).enumerate()
        {
            moment.old.save(running);
            let now = memory.room(&mut moment.now, &[channels]);
            let value = written(of_channels(now, lengths.len()));
            match i {
                0 => mean_of::forward(&memory, ALONG, value, [read(of_x)], Some(&mut moment.kept)),
                _ => {
                    let factor = unbiased(lengths);
                    let operands = [read(of_x), Source::number(&factor)];
                    variance_of::forward(&memory, ALONG, value, operands, Some(&mut moment.kept));
                }
            }
            let running = target(running);
            let operands = [read(running), read(now), Source::number(&momentum)];
            blended::forward(&memory, Along::All, written(running), operands, None);
        }
    }

    #[allow(clippy::too_many_arguments, reason = "those of the function")]
    fn pullback(
        &mut self,
        y: DualMut<'_, A>,
        x: Dual<'_, A>,
        gain: Dual<'_, V>,
        bias: Dual<'_, V>,
        running_mean: DualMut<'_, V>,
        running_variance: DualMut<'_, V>,
        momentum: T,
        epsilon: T,
    ) -> (T, T) {
        self.old.restore(y.value);
        let (memory, lengths) = (y.value.memory(), x.value.lengths());
        let (axes, channels) = (lengths.len(), lengths[1]);
        let operands = Self::operands(x.value, gain.value, bias.value);
        let dx = given::<T, A>(x.shadow);
        let (mut dmomentum, mut depsilon) = (T::ZERO, T::ZERO);
        let running = [
            (running_mean.value, given::<T, V>(running_mean.shadow)),
            (running_variance.value, given::<T, V>(running_variance.shadow)),
        ];
        for (i, (moment, (running, drunning))) in self.moments.iter_mut().zip(running).enumerate() {
            moment.old.restore(running);
            let Some(d) = drunning.filter(|_| channels > 0) else { continue };
            let (now, dnow) =
                (memory.room(&mut moment.now, &[channels]), memory.room(&mut moment.gradient, &[channels]));
            let running = read(running.source().place);
            let through = [running, read(now), Source::number(&momentum)];
            let sinks =
                [written(d), written(dnow), Sink::number_unless(self.momentum_is_constant, &mut dmomentum)];
            let (kept, dy) = (Default::default(), (read(d), Sink::at(None, true)));
            blended::pullback(&memory, Along::All, through, running, dy, sinks, &kept);
            let (value, dnow) = (read(of_channels(now, axes)), read(of_channels(dnow, axes)));
            let (dy, dx) = ((dnow, Sink::at(None, true)), Sink::at(dx, true));
            match i {
                0 => mean_of::pullback(&memory, ALONG, [read(operands[0])], value, dy, [dx], &moment.kept),
                _ => {
                    let factor = unbiased(lengths);
                    let through = [read(operands[0]), Source::number(&factor)];
                    let sinks = [dx, Sink::at(None, true)];
                    variance_of::pullback(&memory, ALONG, through, value, dy, sinks, &moment.kept);
                }
            }
        }
        if let Some(dy) = y.shadow.get() {
            let vector = |d: Option<V::Shadow<'_>>| d.map(|d| of_channels(shadow::<T, V>(&d), axes));
            let shadows = [dx, vector(gain.shadow.get()), vector(bias.shadow.get())];
            let d = Sink::number_unless(self.epsilon_is_constant, &mut depsilon);
            pull(&memory, ALONG, operands, &epsilon, shadow::<T, A>(&dy), shadows, d, &self.kept);
        }
        (dmomentum, depsilon)
    }
}
