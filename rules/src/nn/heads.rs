//! Attention, block by block.

use std::ops::Range;

use ndarray::{Array4, ArrayRef, ArrayView2, ArrayViewMut1, ArrayViewMut2, Ix2, Ix4, s};

use super::cases::{Case, LAYOUTS, Random};
use crate::activation::{Dual, DualMut};
use crate::blas::products::IntoShadow;
use crate::blas::{Trans, gemm};
use crate::fused::Exponentials;
use crate::heap::heap_size;
use crate::linalg::Number;
use crate::saved::Saved;
use crate::shadow::ArrayCells;

/// Which keys a query attends to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mask {
    /// All of them.
    #[default]
    None,
    /// The last query attends to all keys, and each query before it to one key less: what comes later does not count.
    Causal,
}

/// How many queries, and keys, make a block: all that is computed of the *n·m* scores at a time.
const BLOCK: usize = 64;

type ArrayRef4<T> = ArrayRef<T, Ix4>;

/// The numbers of queries and keys.
#[derive(Clone, Copy)]
pub(super) struct Scores {
    queries: usize,
    keys: usize,
    mask: Mask,
}

impl Scores {
    /// # Panics
    /// If the shapes of result, queries, keys and values do not fit.
    pub(super) fn new(y: &[usize], q: &[usize], k: &[usize], v: &[usize], mask: Mask) -> Self {
        let fits = k[..2] == q[..2] && v[..2] == q[..2] && k[3] == q[3] && v[2] == k[2];
        assert!(fits, "attention: queries {q:?}, keys {k:?} and values {v:?} do not fit");
        let shape = [q[0], q[1], q[2], v[3]];
        assert!(y == shape, "attention: the result has the shape {shape:?}, what it is written to {y:?}");
        let (queries, keys) = (q[2], k[2]);
        assert!(
            mask == Mask::None || queries <= keys,
            "attention: {queries} queries are more than {keys} keys, of which the first query needs one"
        );
        Scores { queries, keys, mask }
    }

    /// How many keys a query attends to: the first ones.
    fn attended(&self, query: usize) -> usize {
        match self.mask {
            Mask::None => self.keys,
            Mask::Causal => query + 1 + self.keys - self.queries,
        }
    }

    /// How many of these it attends to: the first ones as well.
    fn attended_among(&self, keys: &Range<usize>, query: usize) -> usize {
        self.attended(query).saturating_sub(keys.start).min(keys.len())
    }

    fn blocks_of_queries(&self) -> impl Iterator<Item = Range<usize>> {
        blocks(self.queries)
    }

    /// Those to which one of the queries attends.
    fn blocks_of_keys(&self, queries: &Range<usize>) -> impl Iterator<Item = Range<usize>> {
        blocks(self.attended(queries.end - 1))
    }
}

fn blocks(count: usize) -> impl Iterator<Item = Range<usize>> {
    (0..count).step_by(BLOCK).map(move |start| start..count.min(start + BLOCK))
}

/// Memory for one block.
#[derive(Default)]
struct Block<T: Number> {
    scores: Vec<T>,
    /// Gradients of these.
    dscores: Vec<T>,
    /// What comes out for each query, or its gradient.
    output: Vec<T>,
    /// For each query, forward: the largest score up to here and the sum of exponentials, which are relative to that; backward: the
    /// logarithm of the sum, and *⟨ẏᵢ, yᵢ⟩*.
    numbers: Vec<(T, T)>,
    /// Scores of one query that are not scaled.
    unscaled: Vec<T>,
    /// For gradients of queries, keys and values.
    products: [IntoShadow<T>; 3],
}

heap_size! { [T: Number] Block<T> { scores, dscores, output, numbers, unscaled } }

/// A matrix in memory for a block.
fn place<T: Number>(memory: &mut Vec<T>, rows: usize, columns: usize) -> ArrayViewMut2<'_, T> {
    if memory.len() < rows * columns {
        memory.resize(rows * columns, T::ZERO);
    }
    ArrayViewMut2::from_shape((rows, columns), &mut memory[..rows * columns]).expect("as many elements")
}

/// A row of such a matrix.
fn adjacent<T>(row: ArrayViewMut1<'_, T>) -> &mut [T] {
    row.into_slice().expect("rows that are stored one after the other")
}

/// *C ← A·Bᵀ*
fn inner_products<T: Number>(a: &ArrayView2<'_, T>, b: &ArrayView2<'_, T>, c: &mut ArrayViewMut2<'_, T>) {
    gemm(Trans::No, Trans::Yes, T::ONE, a, b, T::ZERO, c);
}

impl<T: Number + Exponentials> Block<T> {
    /// The output for a block of queries, to `self.output`, and the logarithm of the sum of each query's exponentials.
    fn forward(
        &mut self,
        of: Scores,
        queries: Range<usize>,
        [q, k, v]: [ArrayView2<'_, T>; 3],
        scale: T,
        mut y: ArrayViewMut2<'_, T>,
        normalisers: &mut Vec<T>,
    ) {
        let Block { scores, output, numbers, .. } = self;
        let mut output = place(output, queries.len(), v.ncols());
        output.fill(T::ZERO);
        numbers.clear();
        numbers.resize(queries.len(), (T::NEG_INFINITY, T::ZERO));
        for keys in of.blocks_of_keys(&queries) {
            let mut scores = place(scores, queries.len(), keys.len());
            let (k, v) = (k.slice(s![keys.clone(), ..]), v.slice(s![keys.clone(), ..]));
            inner_products(&q, &k, &mut scores);
            for (i, scores) in scores.rows_mut().into_iter().enumerate() {
                let attended = of.attended_among(&keys, queries.start + i);
                let (scores, others) = adjacent(scores).split_at_mut(attended);
                others.fill(T::ZERO);
                if attended == 0 {
                    continue;
                }
                scores.iter_mut().for_each(|score| *score *= scale);
                let (largest, sum) = &mut numbers[i];
                let now = T::largest(scores, *largest);
                let correction = (*largest - now).exp();
                *sum = *sum * correction + T::exponentials(scores, now);
                *largest = now;
                if !correction.is_one() {
                    output.row_mut(i).map_inplace(|y| *y *= correction);
                }
            }
            gemm(Trans::No, Trans::No, T::ONE, &scores, &v, T::ONE, &mut output);
        }
        for ((mut y, output), &(largest, sum)) in y.rows_mut().into_iter().zip(output.rows()).zip(&*numbers) {
            // Where there are no keys, there is nothing to divide.
            let inverse = if sum == T::ZERO { T::ZERO } else { T::ONE / sum };
            y.iter_mut().zip(output).for_each(|(y, &output)| *y = output * inverse);
            normalisers.push(largest + sum.ln());
        }
    }

    /// Adds to the gradients of a block of queries and of all keys and values. Returns that of the scale, if it is wanted.
    #[allow(clippy::too_many_arguments, reason = "what attention takes, and makes")]
    fn pullback(
        &mut self,
        of: Scores,
        queries: Range<usize>,
        [q, k, v]: [ArrayView2<'_, T>; 3],
        [dq, dk, dv]: [Option<ArrayCells<'_, T, Ix2>>; 3],
        scale: T,
        wants_scale: bool,
        (y, dy): (ArrayView2<'_, T>, ArrayCells<'_, T, Ix2>),
        normalisers: &[T],
    ) -> T {
        let Block { scores, dscores, output, numbers, unscaled, products: [for_q, for_k, for_v] } = self;
        let mut output = place(output, queries.len(), v.ncols());
        numbers.clear();
        for (((mut output, y), dy), &normaliser) in
            output.rows_mut().into_iter().zip(y.rows()).zip(dy.rows()).zip(normalisers)
        {
            output.iter_mut().zip(dy).for_each(|(d, cell)| *d = cell.replace(T::ZERO));
            numbers.push((normaliser, output.iter().zip(y).map(|(&d, &y)| d * y).sum()));
        }
        let (mut dscale, wants_scores) = (T::ZERO, dq.is_some() || dk.is_some() || wants_scale);
        for keys in of.blocks_of_keys(&queries) {
            let mut scores = place(scores, queries.len(), keys.len());
            let mut dscores = place(dscores, queries.len(), keys.len());
            let (k, v) = (k.slice(s![keys.clone(), ..]), v.slice(s![keys.clone(), ..]));
            inner_products(&q, &k, &mut scores);
            if wants_scores {
                inner_products(&output.view(), &v, &mut dscores);
            }
            // The weights take the place of the scores.
            for (i, (scores, dscores)) in scores.rows_mut().into_iter().zip(dscores.rows_mut()).enumerate() {
                let attended = of.attended_among(&keys, queries.start + i);
                let (scores, others) = adjacent(scores).split_at_mut(attended);
                let (dscores, dothers) = adjacent(dscores).split_at_mut(attended);
                others.fill(T::ZERO);
                dothers.fill(T::ZERO);
                if wants_scale {
                    unscaled.clear();
                    unscaled.extend_from_slice(scores);
                }
                let (normaliser, dot) = numbers[i];
                scores.iter_mut().for_each(|score| *score *= scale);
                T::exponentials(scores, normaliser);
                dscores.iter_mut().zip(scores).for_each(|(d, &mut weight)| *d = weight * (*d - dot));
                if wants_scale {
                    dscale += dscores.iter().zip(&*unscaled).map(|(&d, &score)| d * score).sum::<T>();
                }
            }
            if let Some(dq) = dq {
                for_q.add(scale, &dscores, &k, dq);
            }
            if let Some(dk) = dk {
                for_k.add(scale, &dscores.t(), &q, dk.slice_move(s![keys.clone(), ..]));
            }
            if let Some(dv) = dv {
                for_v.add(T::ONE, &scores.t(), &output, dv.slice_move(s![keys, ..]));
            }
        }
        dscale
    }
}

/// Softmax of the scores of queries and keys, as weights of values: *yᵢ = Σⱼ pᵢⱼ·vⱼ*, *pᵢⱼ = exp(s·⟨qᵢ, kⱼ⟩)/Σₗ exp(s·⟨qᵢ, kₗ⟩)*, for each head of each
/// member of a batch by itself. The scale *s* is usually 1/√d.
///
/// *q* is batch × heads × queries × d, *k* batch × heads × keys × d, *v* batch × heads × keys × e, and *y* batch × heads × queries × e. All may have any
/// layout: heads that lie side by side in memory are an array whose axes have changed places. Of the scores only a block is there at a time,
/// however many queries and keys there are.
///
/// ```
/// use ndarray::{Array4, array};
/// use pullback_rules::nn::{Mask, attention};
///
/// let q = array![[[[0.0, 0.0], [100.0, 0.0]]]];
/// let k = array![[[[1.0, 0.0], [0.0, 1.0]]]];
/// let v = array![[[[2.0], [4.0]]]];
/// let mut y = Array4::zeros((1, 1, 2, 1));
/// attention(&mut y, &q, &k, &v, 1.0, Mask::None);
/// assert_eq!(y, array![[[[3.0], [2.0]]]]);
/// attention(&mut y, &q, &k, &v, 1.0, Mask::Causal);
/// assert_eq!(y, array![[[[2.0], [2.0]]]]);
/// ```
///
/// # Gradient
/// With the weights *P*: *V̇ += Pᵀ·Ẏ*, *Ṡᵢⱼ = pᵢⱼ·(⟨ẏᵢ, vⱼ⟩ − ⟨ẏᵢ, yᵢ⟩)*, *Q̇ += s·Ṡ·K*, *K̇ += s·Ṡᵀ·Q*, *ṡ = Σᵢⱼ Ṡᵢⱼ·⟨qᵢ, kⱼ⟩*, then *Ẏ ← 0* (Vaswani et al., *Attention
/// is all you need*, 2017). The logarithm of each query's sum of exponentials is kept, from which the pullback makes the weights again, block by
/// block (Dao et al., *FlashAttention*, 2022).
///
/// # Panics
/// If the shapes do not fit, or with a causal mask there are more queries than keys.
pub fn attention<T: Number + Exponentials>(
    y: &mut ArrayRef4<T>,
    q: &ArrayRef4<T>,
    k: &ArrayRef4<T>,
    v: &ArrayRef4<T>,
    scale: T,
    mask: Mask,
) {
    let mut rule = Attention::default();
    rule.old.forgo();
    rule.forward(y, q, k, v, scale, mask);
}

#[derive(Default, pullback_macros::Rule)]
#[rule(pub fn attention<T: Number + Exponentials>(
    y: &mut ArrayRef4<T>,
    q: &ArrayRef4<T>,
    k: &ArrayRef4<T>,
    v: &ArrayRef4<T>,
    scale: T,
    #[constant] mask: Mask,
))]
struct Attention<T: Number> {
    #[rule(restores = y)]
    old: Saved<T>,
    #[rule(constant = scale)]
    scale_is_constant: bool,
    /// The logarithm of each query's sum of exponentials.
    normalisers: Vec<T>,
    block: Block<T>,
}

impl<T: Number + Exponentials> Attention<T> {
    fn forward(
        &mut self,
        y: &mut ArrayRef4<T>,
        q: &ArrayRef4<T>,
        k: &ArrayRef4<T>,
        v: &ArrayRef4<T>,
        scale: T,
        mask: Mask,
    ) {
        self.old.save_to_restore(y);
        let of = Scores::new(y.shape(), q.shape(), k.shape(), v.shape(), mask);
        self.normalisers.clear();
        self.normalisers.reserve(q.len() / q.dim().3.max(1));
        for (b, h) in ndarray::indices((q.dim().0, q.dim().1)) {
            for queries in of.blocks_of_queries() {
                let q = q.slice(s![b, h, queries.clone(), ..]);
                let y = y.slice_mut(s![b, h, queries.clone(), ..]);
                let all = [q, k.slice(s![b, h, .., ..]), v.slice(s![b, h, .., ..])];
                self.block.forward(of, queries, all, scale, y, &mut self.normalisers);
            }
        }
    }

    fn pullback(
        &mut self,
        y: DualMut<'_, ArrayRef4<T>>,
        q: Dual<'_, ArrayRef4<T>>,
        k: Dual<'_, ArrayRef4<T>>,
        v: Dual<'_, ArrayRef4<T>>,
        scale: T,
        mask: Mask,
    ) -> T {
        let mut dscale = T::ZERO;
        if let Some(dy) = y.shadow.get() {
            let shape = y.value.shape();
            let of = Scores::new(shape, q.value.shape(), k.value.shape(), v.value.shape(), mask);
            let mut normalisers = &self.normalisers[..];
            for (b, h) in ndarray::indices((shape[0], shape[1])) {
                let [dq, dk, dv] = [q.shadow, k.shadow, v.shadow]
                    .map(|shadow| shadow.map(|cells| cells.slice_move(s![b, h, .., ..])).get());
                for queries in of.blocks_of_queries() {
                    let place = s![b, h, queries.clone(), ..];
                    let all = [
                        q.value.slice(place),
                        k.value.slice(s![b, h, .., ..]),
                        v.value.slice(s![b, h, .., ..]),
                    ];
                    let dq = dq.map(|dq| dq.slice_move(s![queries.clone(), ..]));
                    let (these, rest) = normalisers.split_at(queries.len());
                    normalisers = rest;
                    dscale += self.block.pullback(
                        of,
                        queries.clone(),
                        all,
                        [dq, dk, dv],
                        scale,
                        !self.scale_is_constant,
                        (y.value.slice(place), dy.slice_move(place)),
                        these,
                    );
                }
            }
        }
        self.old.restore(y.value);
        dscale
    }
}

/// Batch, heads, queries, keys, *d* and *e*; and the mask.
const VARIANTS: [([usize; 6], Mask); 8] = [
    ([2, 2, 3, 4, 2, 3], Mask::None),
    ([1, 1, 1, 1, 1, 1], Mask::Causal),
    ([2, 1, 5, 5, 3, 2], Mask::Causal),
    ([1, 1, 67, 70, 2, 1], Mask::Causal),
    ([1, 1, 70, 67, 1, 2], Mask::None),
    ([0, 2, 3, 3, 2, 2], Mask::None),
    // There are no keys, and no queries.
    ([1, 1, 2, 0, 2, 2], Mask::None),
    ([1, 2, 0, 3, 2, 2], Mask::Causal),
];

/// What `attention` is tested on.
#[allow(clippy::type_complexity, reason = "the arguments of attention")]
pub fn attention_case<T: Number>() -> Case<(Array4<T>, Array4<T>, Array4<T>, Array4<T>, T, Mask)> {
    let random = &mut Random::new();
    let mut arguments = |variant: usize, ([b, h, n, m, d, e], mask): ([usize; 6], Mask)| {
        let layout = |i: usize| LAYOUTS[(variant + i) % 4];
        let (y, q) = (random.array(Ix4(b, h, n, e), layout(0)), random.array(Ix4(b, h, n, d), layout(1)));
        let (k, v) = (random.array(Ix4(b, h, m, d), layout(2)), random.array(Ix4(b, h, m, e), layout(3)));
        (y, q, k, v, T::of(0.7), mask)
    };
    let inputs = VARIANTS.into_iter().enumerate().map(|(i, variant)| arguments(i, variant)).collect();
    let mut panicking = vec![arguments(0, ([1, 1, 3, 2, 2, 2], Mask::Causal))];
    for wrong in 0..4 {
        let (mut misfit, other) =
            (arguments(0, ([1, 2, 3, 3, 2, 2], Mask::None)), arguments(0, ([1, 2, 3, 4, 2, 3], Mask::None)));
        match wrong {
            0 => misfit.0 = other.0,
            1 => misfit.2 = other.2,
            2 => misfit.3 = other.3,
            _ => misfit.1 = misfit.1.slice_move(s![.., ..1, .., ..]),
        }
        panicking.push(misfit);
    }
    Case { inputs, panicking }
}
