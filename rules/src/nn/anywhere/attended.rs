//! Attention as products of matrices, in any memory.

use super::Images;
use super::memory::{LayerMemory, Task};
use super::places::{given, read, reshaped, shadow, target, written};
use crate::fused::operand::Place;
use crate::fused::{Along, Memory, Old, Real, Sink, Source};
use crate::matrices::{Multiply, Stack};
use crate::nn::Mask;
use crate::nn::heads::Scores;
use crate::{Dual, DualMut, MatrixScalar, Rule};

pullback_macros::fused! {
    fn weights<M>(s, mask, scale: T; axis) {
        let t = s * scale + mask;
        let e = (t - constant(max(t))).exp();
        e / sum(e)
    }
}

/// [`nn::attention`](fn@crate::nn::attention) for arrays in any memory: products of the matrices of all heads, and what is done to the rows of scores
/// between them.
///
/// All scores are there at once, and the weights, which are kept: two numbers for each query and key.
///
/// # Gradient
/// That of [`nn::attention`](fn@crate::nn::attention). With respect to the scale it is a number of the host's: a device is waited for unless the scale is
/// constant.
///
/// # Panics
/// As that function, if a matrix on a device has gaps along both of its axes, or if the device fails.
pub fn attention<T: Real + MatrixScalar, A: Images<T, 2>>(
    y: &mut A,
    q: &A,
    k: &A,
    v: &A,
    scale: T,
    mask: Mask,
) {
    let mut rule = Attention::default();
    rule.old.forgo();
    rule.forward(y, q, k, v, scale, mask);
}

#[derive(Rule)]
#[rule(pub fn attention<T: Real + MatrixScalar, A: Images<T, 2>>(
    y: &mut A,
    q: &A,
    k: &A,
    v: &A,
    scale: T,
    #[constant] mask: Mask,
))]
struct Attention<T: Real + MatrixScalar, A: Images<T, 2>> {
    #[rule(restores = y)]
    old: Old<T, A>,
    #[rule(constant = scale)]
    scale_is_constant: bool,
    scores: <A::Memory as Memory>::Kept<T>,
    weights: <A::Memory as Memory>::Kept<T>,
    of_rows: <A::Memory as Memory>::Kept<T>,
    gradient: <A::Memory as Memory>::Kept<T>,
    mask: <A::Memory as Memory>::Kept<T>,
    rooms: [<A::Memory as Multiply<T>>::Room; 6],
}

impl<T: Real + MatrixScalar, A: Images<T, 2>> Default for Attention<T, A> {
    fn default() -> Self {
        Attention {
            old: Old::default(),
            scale_is_constant: false,
            scores: Default::default(),
            weights: Default::default(),
            of_rows: Default::default(),
            gradient: Default::default(),
            mask: Default::default(),
            rooms: Default::default(),
        }
    }
}

/// The heads of one member of the batch.
fn heads<'a, T: Real>(place: Place<T>, member: usize) -> Stack<'a, T> {
    let start = place.start.wrapping_offset(member as isize * place.strides[0]);
    Stack::new(reshaped(Place { start, ..place }, &place.lengths[1..4], &place.strides[1..4]))
}

/// Rows of scores run along the last axis.
const ALONG: Along = Along::Several(&[3]);

impl<T: Real + MatrixScalar, A: Images<T, 2>> Attention<T, A> {
    /// What is added to the scores.
    fn mask(
        memory: &A::Memory,
        room: &mut <A::Memory as Memory>::Kept<T>,
        mask: Mask,
        scores: Place<T>,
    ) -> Place<T> {
        let [_, _, queries, keys, ..] = scores.lengths;
        let place = match mask {
            Mask::None => memory.room(room, &[1, 1]),
            Mask::Causal => memory.room(room, &[queries, keys]),
        };
        // SAFETY: what is kept is nobody else's.
        unsafe { memory.each(place, false, Task::Causal) }
        place
    }

    fn forward(&mut self, y: &mut A, q: &A, k: &A, v: &A, scale: T, mask: Mask) {
        self.old.save(y);
        Scores::new(y.lengths(), q.lengths(), k.lengths(), v.lengths(), mask);
        let (memory, y) = (y.memory(), target(y));
        let [q, k, v] = [q, k, v].map(|array| array.source().place);
        let [members, of_heads, queries, ..] = q.lengths;
        let shape = [members, of_heads, queries, k.lengths[2]];
        let scores = memory.room(&mut self.scores, &shape);
        let weighted = memory.room(&mut self.weights, &shape);
        let [for_scores, for_y, ..] = &mut self.rooms;
        for i in 0..members {
            let (q, k) = (heads(q, i), heads(k, i));
            // SAFETY: what is kept is nobody else's.
            unsafe { memory.multiply(for_scores, T::ONE, q, k.t(), T::ZERO, heads(scores, i)) }
        }
        let mask = Self::mask(&memory, &mut self.mask, mask, scores);
        let operands = [read(scores), read(mask), Source::number(&scale)];
        weights::forward(&memory, ALONG, written(weighted), operands, Some(&mut self.of_rows));
        for i in 0..members {
            // SAFETY: `y` is borrowed uniquely.
            unsafe { memory.multiply(for_y, T::ONE, heads(weighted, i), heads(v, i), T::ZERO, heads(y, i)) }
        }
    }

    fn pullback(
        &mut self,
        y: DualMut<'_, A>,
        q: Dual<'_, A>,
        k: Dual<'_, A>,
        v: Dual<'_, A>,
        scale: T,
        mask: Mask,
    ) -> T {
        self.old.restore(y.value);
        let Some(of_y) = y.shadow.get() else { return T::ZERO };
        let (memory, dy) = (y.value.memory(), shadow::<T, A>(&of_y));
        let [dq, dk, dv] = [given::<T, A>(q.shadow), given::<T, A>(k.shadow), given::<T, A>(v.shadow)];
        let [q, k, v] = [q.value, k.value, v.value].map(|array| array.source().place);
        let [members, of_heads, queries, ..] = q.lengths;
        let shape = [members, of_heads, queries, k.lengths[2]];
        let scores = memory.room(&mut self.scores, &shape);
        let weighted = memory.room(&mut self.weights, &shape);
        let gradient = memory.room(&mut self.gradient, &shape);
        let [_, _, for_weights, for_q, for_k, for_v] = &mut self.rooms;
        let mut dscale = T::ZERO;
        for i in 0..members {
            // SAFETY: no shadow overlaps a primal, and that of y none of the others; what is kept is nobody else's.
            unsafe {
                let dy = heads(dy, i);
                if let Some(dv) = dv {
                    memory.multiply(for_v, T::ONE, heads(weighted, i).t(), dy, T::ONE, heads(dv, i));
                }
                memory.multiply(for_weights, T::ONE, dy, heads(v, i).t(), T::ZERO, heads(gradient, i));
            }
        }
        let mask = Self::mask(&memory, &mut self.mask, mask, scores);
        let operands = [read(scores), read(mask), Source::number(&scale)];
        let number = Sink::number_unless(self.scale_is_constant, &mut dscale);
        let sinks = [written(gradient), Sink::at(None, true), number];
        let dweights = (read(gradient), Sink::at(None, true));
        weights::pullback(&memory, ALONG, operands, read(weighted), dweights, sinks, &self.of_rows);
        for i in 0..members {
            // SAFETY: as above.
            unsafe {
                let ds = heads(gradient, i);
                if let Some(dq) = dq {
                    memory.multiply(for_q, T::ONE, ds, heads(k, i), T::ONE, heads(dq, i));
                }
                if let Some(dk) = dk {
                    memory.multiply(for_k, T::ONE, ds.t(), heads(q, i), T::ONE, heads(dk, i));
                }
            }
        }
        A::clear_shadow(&of_y);
        dscale
    }
}
