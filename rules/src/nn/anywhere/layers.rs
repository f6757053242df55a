//! Linear layers in any memory.

use std::marker::PhantomData;

use ndarray::{Array1, Array2};

use super::places::{add, given, read, target as target_of, written};
use super::samples::Samples;
use crate::fused::operand::Place;
use crate::fused::{Along, Array, Memory, Old, Real, Sink, in_rooms};
use crate::heap::heap_size;
use crate::matrices::{Activation, Epilogue, Fused, Multiply, Stack};
use crate::nn::cases::{Case, LAYOUTS, Random};
use crate::{Dual, DualMut, Matrix, MatrixScalar, Rule};

pullback_macros::fused! {
    fn biased<M>(z, b) { z + b }

    fn biased_relu<M>(z, b) {
        let s = z + b;
        if s <= 0.0 { 0.0 } else { s }
    }

    fn biased_gelu<M>(z, b) {
        let s = z + b;
        0.5 * s * (1.0 + (0.7978845608028654 * (s + 0.044715 * s * s * s)).tanh())
    }

    fn through_relu<M>(x) { if x <= 0.0 { 0.0 } else { x } }

    fn through_gelu<M>(x) { 0.5 * x * (1.0 + (0.7978845608028654 * (x + 0.044715 * x * x * x)).tanh()) }

}

/// *Y ← X·W + b*, with *b* added to each row: the layer of a network that is linear. It has one number for each column, or one for all.
///
/// ```
/// use ndarray::{Array2, array};
/// use pullback_rules::nn::generic::linear;
///
/// let (x, w) = (array![[1.0, 2.0], [0.0, 1.0]], array![[3.0], [4.0]]);
/// let mut y = Array2::zeros((2, 1));
/// linear(&mut y, &x, &w, &array![0.5]);
/// assert_eq!(y, array![[11.5], [4.5]]);
/// ```
///
/// # Gradient
/// *Ẋ += Ẏ·Wᵀ*, *Ẇ += Xᵀ·Ẏ*, *ḃ* += the sum of the rows of *Ẏ*, *Ẏ ← 0*. The pullback brings back what *Y* held.
///
/// On a device, and in single precision, cuBLASLt adds *b* before it stores the product, and sums up the rows as it multiplies with them, where the
/// rows of *Y* have no gaps between their elements and *b* begins at a multiple of 16 bytes. Otherwise the bias is one more pass through *Y*.
///
/// # Panics
/// If the shapes do not fit, if a matrix on a device has gaps along both of its axes, or if the device fails.
pub fn linear<T: Real + MatrixScalar, M: Matrix<T>, V: Array<T, Memory = M::Memory>>(
    y: &mut M,
    x: &M,
    w: &M,
    b: &V,
) {
    Linear::<T, M, V, M>::primal(y, x, w, b);
}

/// What one layer keeps: of the products that give its value, and the gradients of its weights and of what it is given.
struct Layer<T: MatrixScalar + Real, M: Multiply<T>> {
    rooms: [M::Room; 3],
    sums: M::Kept<T>,
}

heap_size! { [T: MatrixScalar + Real, M: Multiply<T>] Layer<T, M> { rooms, sums } }

impl<T: MatrixScalar + Real, M: Multiply<T>> Default for Layer<T, M> {
    fn default() -> Self {
        Layer { rooms: Default::default(), sums: Default::default() }
    }
}

impl<T: MatrixScalar + Real, M: Multiply<T>> Layer<T, M> {
    /// # Safety
    /// As for [`Multiply`].
    unsafe fn forward(
        &mut self,
        function: &str,
        memory: &M,
        y: Stack<'_, T>,
        x: Stack<'_, T>,
        (w, b): (Stack<'_, T>, Place<T>),
    ) {
        check(function, y, x, w, b);
        let product = Fused { a: x, b: w, beta: T::ZERO, c: y, d: y, epilogue: Epilogue::Bias(b) };
        // SAFETY: as the caller guarantees.
        unsafe {
            if !memory.multiply_at_once(&mut self.rooms[0], product) {
                memory.multiply(&mut self.rooms[0], T::ONE, x, w, T::ZERO, y);
                let of_y = of(y);
                biased::forward(memory, Along::All, written(of_y), [read(of_y), read(b)], None);
            }
        }
    }

    /// Adds to the gradients of the weights, and to that of `x`.
    ///
    /// # Safety
    /// As for [`Multiply`].
    unsafe fn pull(
        &mut self,
        memory: &M,
        dy: Stack<'_, T>,
        (x, dx): (Stack<'_, T>, Option<Stack<'_, T>>),
        (w, dw): (Stack<'_, T>, Option<Stack<'_, T>>),
        mut db: Option<Place<T>>,
    ) {
        let Layer { rooms: [_, for_w, for_x], sums } = self;
        // SAFETY: as the caller guarantees; shadows are updated one after the other.
        unsafe {
            if let Some(dw) = dw {
                let both = db.is_some_and(|db| {
                    let vector = memory.room(sums, &[dy.shape().2]);
                    let epilogue = Epilogue::Sums(vector);
                    let product = Fused { a: x.t(), b: dy, beta: T::ONE, c: dw, d: dw, epilogue };
                    let both = memory.multiply_at_once(for_w, product);
                    if both {
                        add(memory, db, vector);
                    }
                    both
                });
                if both {
                    db = None;
                } else {
                    memory.multiply(for_w, T::ONE, x.t(), dy, T::ONE, dw);
                }
            }
            if let Some(db) = db {
                add(memory, db, of(dy));
            }
            if let Some(dx) = dx {
                memory.multiply(for_x, T::ONE, dy, w.t(), T::ONE, dx);
            }
        }
    }
}

/// A matrix without the axis that tells it apart from others.
fn of<T: Copy>(matrix: Stack<'_, T>) -> Place<T> {
    let Place { start, lengths: [_, rows, columns, ..], strides: [_, down, along, ..], owner, .. } =
        matrix.place;
    Place { owner, ..Place::new(start, &[rows, columns], &[down, along]) }
}

/// # Panics
/// If the shapes do not fit.
fn check<T: Copy>(function: &str, y: Stack<'_, T>, x: Stack<'_, T>, w: Stack<'_, T>, b: Place<T>) {
    let [(_, rows, columns), (_, of_x, k), (_, of_w, width)] = [y, x, w].map(Stack::shape);
    assert!(
        rows == of_x && k == of_w && columns == width,
        "{function}: {of_x}×{k} times {of_w}×{width} is not {rows}×{columns}"
    );
    let vector = b.lengths();
    let one_row = vector.len() <= 2 && vector.iter().rev().skip(1).all(|n| *n == 1);
    let last = vector.last().copied().unwrap_or(1);
    assert!(
        one_row && (last == columns || last == 1),
        "{function}: the bias is {vector:?}, which does not go with {columns} columns"
    );
}

#[derive(Rule)]
#[rule(pub fn linear<T: Real + MatrixScalar, M: Matrix<T>, V: Array<T, Memory = M::Memory>, X: Samples<T, M> = M>(
    y: &mut M,
    x: &X,
    w: &M,
    b: &V,
))]
struct Linear<T: Real + MatrixScalar, M: Matrix<T>, V: Array<T, Memory = M::Memory>, X: Samples<T, M>> {
    #[rule(restores = y)]
    old: Old<T, M>,
    layer: Layer<T, M::Memory>,
    room: X::Room,
    vectors: PhantomData<fn(V)>,
}

impl<T: Real + MatrixScalar, M: Matrix<T>, V: Array<T, Memory = M::Memory>, X: Samples<T, M>> Default
    for Linear<T, M, V, X>
{
    fn default() -> Self {
        let (old, layer, room) = (Old::default(), Layer::default(), X::Room::default());
        Linear { old, layer, room, vectors: PhantomData }
    }
}

fn target<T: Real + MatrixScalar, M: Matrix<T>>(matrix: &mut M) -> Stack<'_, T> {
    Stack::new(target_of(matrix))
}

fn value<T: Real + MatrixScalar, M: Matrix<T>>(matrix: &M) -> Stack<'_, T> {
    Stack::new(matrix.source().place)
}

/// A matrix, and its shadow unless it is constant.
fn dual<'a, T: Real + MatrixScalar, M: Matrix<T>>(
    matrix: Dual<'a, M>,
) -> (Stack<'a, T>, Option<Stack<'a, T>>) {
    let shadow = matrix.shadow.get().map(|shadow| Stack::new(M::shadow_source(&shadow).place));
    (value(matrix.value), shadow)
}

impl<T: Real + MatrixScalar, M: Matrix<T>, V: Array<T, Memory = M::Memory>, X: Samples<T, M>>
    Linear<T, M, V, X>
{
    fn primal(y: &mut M, x: &X, w: &M, b: &V) {
        in_rooms(|room| {
            let mut rule = Self::default();
            rule.old.forgo();
            std::mem::swap(&mut rule.room, room);
            rule.forward(y, x, w, b);
            std::mem::swap(&mut rule.room, room);
        });
    }

    fn forward(&mut self, y: &mut M, x: &X, w: &M, b: &V) {
        self.old.save(y);
        let (memory, weights) = (y.memory(), (value(w), b.source().place));
        let x = x.stack(&mut self.room);
        // SAFETY: `y` is borrowed uniquely.
        unsafe { self.layer.forward("linear", &memory, target(y), x, weights) }
    }

    fn pullback(&mut self, y: DualMut<'_, M>, x: Dual<'_, X>, w: Dual<'_, M>, b: Dual<'_, V>) {
        self.old.restore(y.value);
        let Some(dy) = y.shadow.get() else { return };
        let x = (x.value.stack(&mut self.room), X::gradient(x.shadow));
        let (w, db) = (dual::<T, M>(w), given::<T, V>(b.shadow));
        // SAFETY: no shadow overlaps a primal, and that of y none of the others.
        unsafe { self.layer.pull(&y.value.memory(), Stack::new(M::shadow_source(&dy).place), x, w, db) }
        <M as Array<T>>::clear_shadow(&dy);
    }
}

/// Two layers with an activation *f* between them: *H ← f(X·W₁ + b₁)*, *Y ← H·W₂ + b₂*, with *b* as in [`linear`](fn@linear). The network that
/// transformers have behind each attention (Vaswani et al., *Attention is all you need*, 2017, section 3.3).
///
/// ```
/// use ndarray::{Array2, array};
/// use pullback_rules::nn::generic::{Activation, feed_forward};
///
/// let (x, w1, w2) = (array![[1.0, -1.0]], array![[1.0, -2.0], [0.0, 3.0]], array![[2.0], [7.0]]);
/// let (mut y, mut h) = (Array2::zeros((1, 1)), Array2::zeros((1, 2)));
/// feed_forward(&mut y, &mut h, &x, &w1, &array![0.5, 1.0], &w2, &array![1.0], Activation::Relu);
/// assert_eq!((y, h), (array![[4.0]], array![[1.5, 0.0]]));
/// ```
///
/// # Gradient
/// *Ẇ₂ += Hᵀ·Ẏ*, *ḃ₂* += the sum of the rows of *Ẏ*; with *Ż = f′(X·W₁ + b₁)·(Ḣ + Ẏ·W₂ᵀ)*, element by element: *Ẇ₁ += Xᵀ·Ż*, *ḃ₁* += the sum of the rows
/// of *Ż*, *Ẋ += Ż·W₁ᵀ*; then *Ẏ ← 0* and *Ḣ ← 0*. The pullback brings back what *Y* and *H* held. What *f′* takes is *H* itself for
/// [`Activation::Relu`], and kept for [`Activation::GeluTanh`].
///
/// On a device, where [`linear`](fn@linear) does the like, cuBLASLt computes *H* and *Ż* and the sums of its rows as it stores the products; the
/// number of columns of *H* has to be a multiple of 8 for [`Activation::GeluTanh`].
///
/// # Panics
/// As [`linear`](fn@linear).
#[allow(clippy::too_many_arguments, reason = "two layers")]
pub fn feed_forward<T: Real + MatrixScalar, M: Matrix<T>, V: Array<T, Memory = M::Memory>>(
    y: &mut M,
    h: &mut M,
    x: &M,
    w1: &M,
    b1: &V,
    w2: &M,
    b2: &V,
    activation: Activation,
) {
    FeedForward::<T, M, V, M>::primal(y, h, x, w1, b1, w2, b2, activation);
}

#[derive(Rule)]
#[rule(pub fn feed_forward<T: Real + MatrixScalar, M: Matrix<T>, V: Array<T, Memory = M::Memory>, X: Samples<T, M> = M>(
    y: &mut M,
    h: &mut M,
    x: &X,
    w1: &M,
    b1: &V,
    w2: &M,
    b2: &V,
    #[constant] activation: Activation,
))]
struct FeedForward<T: Real + MatrixScalar, M: Matrix<T>, V: Array<T, Memory = M::Memory>, X: Samples<T, M>> {
    #[rule(restores = y)]
    old_y: Old<T, M>,
    #[rule(restores = h)]
    old_h: Old<T, M>,
    layers: [Layer<T, M::Memory>; 2],
    between: Between<T, M::Memory>,
    room: X::Room,
    vectors: PhantomData<fn(V)>,
}

/// What is kept between the layers.
struct Between<T: MatrixScalar + Real, M: Multiply<T>> {
    /// What *f′* takes beside *H*: *X·W₁*, or what [`Epilogue::Activation`] has left.
    aside: M::Kept<T>,
    /// The forward has been one product with an epilogue.
    at_once: bool,
    gradient: M::Kept<T>,
    room: M::Room,
}

heap_size! { [T: MatrixScalar + Real, M: Multiply<T>] Between<T, M> { aside, gradient, room } }

impl<T: MatrixScalar + Real, M: Multiply<T>> Default for Between<T, M> {
    fn default() -> Self {
        Between {
            aside: Default::default(),
            at_once: false,
            gradient: Default::default(),
            room: Default::default(),
        }
    }
}

impl<T: Real + MatrixScalar, M: Matrix<T>, V: Array<T, Memory = M::Memory>, X: Samples<T, M>> Default
    for FeedForward<T, M, V, X>
{
    fn default() -> Self {
        FeedForward {
            old_y: Old::default(),
            old_h: Old::default(),
            layers: Default::default(),
            between: Between::default(),
            room: X::Room::default(),
            vectors: PhantomData,
        }
    }
}

impl<T: Real + MatrixScalar, M: Matrix<T>, V: Array<T, Memory = M::Memory>, X: Samples<T, M>>
    FeedForward<T, M, V, X>
{
    #[allow(clippy::too_many_arguments, reason = "those of the function")]
    fn primal(y: &mut M, h: &mut M, x: &X, w1: &M, b1: &V, w2: &M, b2: &V, activation: Activation) {
        in_rooms(|room| {
            let mut rule = Self::default();
            rule.old_y.forgo();
            rule.old_h.forgo();
            std::mem::swap(&mut rule.room, room);
            rule.forward(y, h, x, w1, b1, w2, b2, activation);
            std::mem::swap(&mut rule.room, room);
        });
    }

    #[allow(clippy::too_many_arguments, reason = "those of the function")]
    fn forward(
        &mut self,
        y: &mut M,
        h: &mut M,
        x: &X,
        w1: &M,
        b1: &V,
        w2: &M,
        b2: &V,
        activation: Activation,
    ) {
        self.old_y.save(y);
        self.old_h.save(h);
        let (memory, b1) = (y.memory(), b1.source().place);
        let (to, x, w) = (target(h), x.stack(&mut self.room), value(w1));
        check("feed_forward", to, x, w, b1);
        let [first, second] = &mut self.layers;
        let Between { aside, at_once, .. } = &mut self.between;
        let (_, rows, columns) = to.shape();
        let aside = memory.room(aside, &Epilogue::<T>::aside(activation, rows, columns));
        let epilogue = Epilogue::Activation(activation, b1, aside);
        // SAFETY: `y` and `h` are borrowed uniquely, and what is kept is nobody else's.
        unsafe {
            *at_once = memory.multiply_at_once(
                &mut first.rooms[0],
                Fused { a: x, b: w, beta: T::ZERO, c: to, d: to, epilogue },
            );
            if !*at_once {
                let z = match activation {
                    Activation::Relu => to,
                    Activation::GeluTanh => Stack::new(aside),
                };
                memory.multiply(&mut first.rooms[0], T::ONE, x, w, T::ZERO, z);
                let (h, operands) = (written(of(to)), [read(of(z)), read(b1)]);
                match activation {
                    Activation::Relu => biased_relu::forward(&memory, Along::All, h, operands, None),
                    Activation::GeluTanh => biased_gelu::forward(&memory, Along::All, h, operands, None),
                }
            }
            second.forward("feed_forward", &memory, target(y), to, (value(w2), b2.source().place));
        }
    }

    #[allow(clippy::too_many_arguments, reason = "those of the function")]
    fn pullback(
        &mut self,
        y: DualMut<'_, M>,
        h: DualMut<'_, M>,
        x: Dual<'_, X>,
        w1: Dual<'_, M>,
        b1: Dual<'_, V>,
        w2: Dual<'_, M>,
        b2: Dual<'_, V>,
        activation: Activation,
    ) {
        let (dy, dh) = (y.shadow.get(), h.shadow.get());
        // SAFETY: no shadow overlaps a primal, and those of y and h none of the others.
        unsafe {
            let of_dy = dy.as_ref().map(|dy| Stack::new(M::shadow_source(dy).place));
            let of_dh = dh.as_ref().map(|dh| Stack::new(M::shadow_source(dh).place));
            let (w1, w2) = (dual::<T, M>(w1), dual::<T, M>(w2));
            let x = (x.value.stack(&mut self.room), X::gradient(x.shadow));
            let b1 = (b1.value.source().place, given::<T, V>(b1.shadow));
            let (memory, h, db2) = (y.value.memory(), (value(h.value), of_dh), given::<T, V>(b2.shadow));
            let (layers, between) = (&mut self.layers, &mut self.between);
            Self::pull(layers, between, &memory, of_dy, h, x, w1, b1, w2, db2, activation);
        }
        self.old_y.restore(y.value);
        self.old_h.restore(h.value);
        dy.iter().for_each(<M as Array<T>>::clear_shadow);
        dh.iter().for_each(<M as Array<T>>::clear_shadow);
    }

    /// # Safety
    /// As for [`Multiply`].
    #[allow(clippy::too_many_arguments, reason = "those of the function")]
    unsafe fn pull(
        [first, second]: &mut [Layer<T, M::Memory>; 2],
        between: &mut Between<T, M::Memory>,
        memory: &M::Memory,
        dy: Option<Stack<'_, T>>,
        (h, dh): (Stack<'_, T>, Option<Stack<'_, T>>),
        x: (Stack<'_, T>, Option<Stack<'_, T>>),
        w1: (Stack<'_, T>, Option<Stack<'_, T>>),
        (b1, mut db1): (Place<T>, Option<Place<T>>),
        w2: (Stack<'_, T>, Option<Stack<'_, T>>),
        db2: Option<Place<T>>,
        activation: Activation,
    ) {
        let Between { aside, at_once, gradient, room } = between;
        let (_, rows, columns) = h.shape();
        let aside = memory.room(aside, &Epilogue::<T>::aside(activation, rows, columns));
        let dz = Stack::new(memory.room(gradient, &[rows, columns]));
        // Where the gradient with respect to H comes together.
        let total = dh.unwrap_or(dz);
        let mut done = false;
        // SAFETY: as the caller guarantees; what is kept is nobody else's.
        unsafe {
            if let Some(dy) = dy {
                second.pull(memory, dy, (h, None), w2, db2);
                let beta = if dh.is_some() { T::ONE } else { T::ZERO };
                let sums = memory.room(&mut first.sums, &[columns]);
                let epilogue = Epilogue::Through(activation, sums, aside);
                let product = Fused { a: dy, b: w2.0.t(), beta, c: total, d: dz, epilogue };
                done = *at_once && memory.multiply_at_once(room, product);
                if !done {
                    memory.multiply(room, T::ONE, dy, w2.0.t(), beta, total);
                } else if let Some(db1) = db1.take() {
                    add(memory, db1, sums);
                }
            } else if dh.is_none() {
                return;
            }
            if !done {
                let dh = (read(of(total)), Sink::at(None, true));
                let (h, to, kept) = (read(of(h)), written(of(dz)), &Default::default());
                match activation {
                    Activation::Relu => through_relu::pullback(memory, Along::All, [h], h, dh, [to], kept),
                    Activation::GeluTanh if *at_once => {
                        through_gelu::pullback(memory, Along::All, [read(aside)], h, dh, [to], kept);
                    }
                    Activation::GeluTanh => {
                        let sinks = [to, Sink::at(db1.take(), true)];
                        biased_gelu::pullback(
                            memory,
                            Along::All,
                            [read(aside), read(b1)],
                            h,
                            dh,
                            sinks,
                            kept,
                        );
                    }
                }
            }
            first.pull(memory, dz, x, w1, db1);
        }
    }
}

/// Rows, and columns of X, of H and of Y.
const VARIANTS: [[usize; 4]; 6] =
    [[3, 4, 5, 2], [1, 1, 1, 1], [4, 2, 3, 6], [0, 2, 3, 1], [2, 0, 3, 2], [2, 3, 0, 2]];

type Linears<T> = (Array2<T>, Array2<T>, Array2<T>, Array1<T>);

/// What `linear` is tested on.
pub fn linear_case<T: Real + MatrixScalar>() -> Case<Linears<T>> {
    let random = &mut Random::new();
    let mut arguments = |variant: usize, [rows, width, columns, _]: [usize; 4]| {
        let layout = |i: usize| LAYOUTS[(variant + i) % 4];
        let (y, x) = (random.matrix((rows, columns), layout(0)), random.matrix((rows, width), layout(1)));
        let length = if variant % 3 == 2 { 1 } else { columns };
        (y, x, random.matrix((width, columns), layout(2)), random.vector(length, layout(3)))
    };
    let inputs = VARIANTS.into_iter().enumerate().map(|(i, sizes)| arguments(i, sizes)).collect();
    let [mut x, mut w, mut b] = [(); 3].map(|()| arguments(0, VARIANTS[0]));
    x.1 = Array2::from_elem((2, 4), T::ONE);
    w.2 = Array2::from_elem((3, 5), T::ONE);
    b.3 = Array1::from_elem(4, T::ONE);
    Case { inputs, panicking: vec![x, w, b] }
}

type FeedForwards<T> =
    (Array2<T>, Array2<T>, Array2<T>, Array2<T>, Array1<T>, Array2<T>, Array1<T>, Activation);

/// What `feed_forward` is tested on.
pub fn feed_forward_case<T: Real + MatrixScalar>() -> Case<FeedForwards<T>> {
    let random = &mut Random::new();
    let mut arguments = |variant: usize, [rows, width, hidden, columns]: [usize; 4], activation| {
        let layout = |i: usize| LAYOUTS[(variant + i) % 4];
        let (y, h) = (random.matrix((rows, columns), layout(0)), random.matrix((rows, hidden), layout(1)));
        let length = if variant % 3 == 2 { 1 } else { hidden };
        let (x, w1) = (random.matrix((rows, width), layout(2)), random.matrix((width, hidden), layout(3)));
        let (b1, w2) = (random.vector(length, layout(0)), random.matrix((hidden, columns), layout(1)));
        (y, h, x, w1, b1, w2, random.vector(columns, layout(2)), activation)
    };
    let both = |variant| [(variant, Activation::Relu), (variant, Activation::GeluTanh)];
    let inputs = VARIANTS
        .into_iter()
        .enumerate()
        .flat_map(both)
        .map(|((i, sizes), activation)| arguments(i, sizes, activation))
        .collect();
    let [mut first, mut second] = [(); 2].map(|()| arguments(0, VARIANTS[0], Activation::Relu));
    first.4 = Array1::from_elem(4, T::ONE);
    second.5 = Array2::from_elem((4, 2), T::ONE);
    Case { inputs, panicking: vec![first, second] }
}
