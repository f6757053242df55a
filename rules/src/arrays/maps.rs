//! `mapv` and `mapv_inplace`, with functions that have derivatives.
//!
//! As for any function that takes functions, the caller lends the two passes of what it passes on. What a call of that leaves for
//! its pullback lies side by side, one for each element; where it leaves nothing this takes no memory.

use std::marker::PhantomData;

use ndarray::{Array, ArrayRef, ArrayView};

use super::meets::Meets;
use super::operation::Kept;
use super::order::backwards;
use super::spare::Spare;
use super::{Entry, Marker, Rank};
use crate::callable::{Callable, Called, Lent};
use crate::function::{Args, Cotangent, Function, Gradients, Mut, Ref, Shadows, Val};
use crate::heap::HeapSize;
use crate::rule::Rule;
use crate::saved::Contents;
use crate::scalar::where_seen;
use crate::shadow::{ArrayCells, Ignored, Shadow};
use crate::state::State;

/// `x.mapv(f)`: *ẋᵢ = ẏᵢ·f′(xᵢ)*. The elements of *x* are of type `A`, those of the result of type `T`.
pub struct Map<T, A, D, F> {
    marker: Marker<(T, A, D, F)>,
}

/// The rule of [`mapv()`].
#[allow(non_camel_case_types)]
pub type mapv<T, D, F> = Map<T, T, D, F>;
/// The rule of [`mapv_of_constants()`].
#[allow(non_camel_case_types)]
pub type mapv_of_constants<T, D, F> = Map<T, f64, D, F>;

/// See ndarray's `mapv`.
pub fn mapv<T: Entry, D: Rank>(x: &ArrayRef<T, D>, f: impl Fn(T) -> T) -> Array<T, D> {
    x.mapv(f)
}

/// [`mapv()`] of constants with a function of dual numbers, for what that captures.
pub fn mapv_of_constants<T: Meets<f64, Both = T>, D: Rank>(
    x: &ArrayRef<f64, D>,
    f: impl Fn(T) -> T,
) -> Array<T, D> {
    x.map(|&x| f(T::of_right(x)))
}

/// `x.mapv_inplace(f)`: *ẋᵢ ← ẋᵢ·f′(xᵢ)*
#[allow(non_camel_case_types)]
pub struct mapv_inplace<T, D, F> {
    marker: Marker<(T, D, F)>,
}

/// See ndarray's `mapv_inplace`.
pub fn mapv_inplace<T: Entry, D: Rank>(x: &mut ArrayRef<T, D>, f: impl Fn(T) -> T) {
    x.mapv_inplace(f);
}

/// The axes are taken in reverse order: the elements are next to each other then.
fn by_columns<T, D: Rank>(x: &ArrayRef<T, D>) -> bool {
    !x.is_standard_layout() && x.t().is_standard_layout()
}

fn in_order<A, D: Rank>(view: ArrayView<'_, A, D>, by_columns: bool) -> ArrayView<'_, A, D> {
    if by_columns { view.reversed_axes() } else { view }
}

/// The rule of a [`Map`].
pub struct Mapped<T, A, D, F: Callable> {
    spare: Spare<T>,
    residuals: Waiting<F::Residual>,
    of: Marker<(A, D)>,
}

/// Memory for what the calls of a function leave, as [`Spare`] is for outputs.
struct Waiting<R> {
    waiting: Vec<Vec<R>>,
    pending: Vec<usize>,
}

impl<R> Waiting<R> {
    const fn new() -> Self {
        Waiting { waiting: Vec::new(), pending: Vec::new() }
    }
    fn take(&mut self, len: usize) -> Vec<R> {
        self.pending.push(len);
        let mut residuals = self.waiting.pop().unwrap_or_default();
        residuals.reserve(len);
        residuals
    }
    fn give(&mut self, residuals: Vec<R>) {
        self.pending.pop();
        self.waiting.push(residuals);
    }
    fn memory(&self) -> usize {
        let waiting: usize = self.waiting.iter().map(|vector| vector.capacity() * size_of::<R>()).sum();
        waiting + self.waiting.capacity() * size_of::<Vec<R>>() + self.pending.heap_size()
    }
    fn reset(&mut self) {
        self.waiting.extend(self.pending.drain(..).rev().map(Vec::with_capacity));
    }
}

impl<T: Meets<A, Both = T>, A: Entry, D: Rank, F: Callable> Mapped<T, A, D, F> {
    fn new() -> Self {
        Mapped { spare: Spare::default(), residuals: Waiting::new(), of: PhantomData }
    }

    #[inline(always)]
    fn run(
        &mut self,
        x: &ArrayRef<A, D>,
        mut f: impl FnMut(T) -> (T, F::Residual),
    ) -> (Array<T, D>, Vec<F::Residual>) {
        let mut y = self.spare.like(x);
        let mut residuals = self.residuals.take(x.len());
        let mut each = |(y, &x): (&mut T, &A)| {
            let residual;
            (*y, residual) = f(T::of_right(x));
            residuals.push(residual);
        };
        let by_columns = by_columns(x);
        let x = in_order(x.view(), by_columns);
        let mut to = if by_columns { y.view_mut().reversed_axes() } else { y.view_mut() };
        match (to.as_slice_mut(), x.to_slice()) {
            (Some(to), Some(x)) => to.iter_mut().zip(x).for_each(each),
            _ => to.iter_mut().zip(x).for_each(&mut each),
        }
        (y, residuals)
    }

    #[inline(always)]
    fn undo(
        &mut self,
        mut residuals: Vec<F::Residual>,
        x: &ArrayRef<A, D>,
        dx: Shadow<ArrayCells<'_, A, D>>,
        d: &Array<T, D>,
        mut f: impl FnMut(F::Residual, T, T) -> T,
    ) {
        let by_columns = by_columns(x);
        let (x, d) = (in_order(x.view(), by_columns), in_order(d.view(), by_columns));
        let dx = dx.get().map(|dx| in_order(dx, by_columns));
        let mut each = |residual, (&x, &d): (&A, &T)| where_seen(d, f(residual, T::of_right(x), d));
        let residuals_backwards = residuals.drain(..).rev();
        match dx.map(|dx| (dx, dx.to_slice(), x.to_slice(), d.to_slice())) {
            Some((_, Some(dx), Some(x), Some(d))) => {
                let arguments = x.iter().zip(d).zip(dx).rev();
                for (((x, d), dx), residual) in arguments.zip(residuals_backwards) {
                    T::to_right(dx, each(residual, (x, d)));
                }
            }
            Some((dx, ..)) => {
                let arguments = backwards(x).zip(backwards(d)).zip(backwards(dx));
                for ((arguments, dx), residual) in arguments.zip(residuals_backwards) {
                    T::to_right(dx, each(residual, arguments));
                }
            }
            // The function may have captured something that has a gradient.
            None => {
                let arguments = backwards(x).zip(backwards(d));
                for (arguments, residual) in arguments.zip(residuals_backwards) {
                    each(residual, arguments);
                }
            }
        }
        self.residuals.give(residuals);
        self.spare.settle();
    }
}

impl<T: Meets<A, Both = T>, A: Entry, D: Rank, F: Callable> State for Mapped<T, A, D, F> {
    fn reset(&mut self) {
        self.residuals.reset();
        self.spare.reset();
    }
    fn shrink(&mut self) {
        *self = Self::new();
    }
    fn pending(&self) -> usize {
        0
    }
    fn memory(&self) -> usize {
        self.spare.heap_size() + self.residuals.memory()
    }
}

impl<T: Meets<A, Both = T>, A: Entry, D: Rank, F: Callable> Function for Map<T, A, D, F> {
    type Parameters = (Ref<ArrayRef<A, D>>, Called<(Val<T>,), T, F>);
    type Output = Array<T, D>;
    const NAME: &'static str = "mapv";

    fn primal((x, f): Args<'_, Self>) -> Array<T, D> {
        x.map(|&x| (f.primal)((T::of_right(x),)))
    }
}

impl<T: Meets<A, Both = T>, A: Entry, D: Rank, F: Callable> Rule for Mapped<T, A, D, F> {
    type Function = Map<T, A, D, F>;
    type Residual = Vec<F::Residual>;

    fn forward(&mut self, (x, f): Args<'_, Self::Function>) -> (Array<T, D>, Self::Residual) {
        self.run(x, |x| f.derivative.forward((x,)))
    }
    fn pullback<'a>(
        &mut self,
        residuals: Self::Residual,
        (x, f): Args<'a, Self::Function>,
        (dx, _): Shadows<'a, Self::Function>,
        d: Cotangent<'_, Self::Function>,
    ) -> Gradients<Self::Function> {
        self.undo(residuals, x, dx, d, |residual, x, d| {
            f.derivative.pullback(residual, (x,), (Ignored,), d).0
        });
        ((), ())
    }
    fn reclaim(&mut self, y: Array<T, D>) {
        self.spare.reclaim(y);
    }
}

impl<T: Meets<A, Both = T>, A: Entry, D: Rank, F: Callable> Map<T, A, D, F> {
    /// The rule.
    pub fn rule() -> Mapped<T, A, D, F> {
        Mapped::new()
    }
}

impl<T: Meets<A, Both = T>, A: Entry, D: Rank, R: Send + 'static> Map<T, A, D, Lent<R>> {
    /// The forward of a call with a closure: itself and its forward.
    #[inline(always)]
    pub fn takes_no_function_put_constant_around_it(
        rule: &mut Mapped<T, A, D, Lent<R>>,
        x: &ArrayRef<A, D>,
        _: impl Fn(T) -> T,
        mut forward: impl FnMut((T,)) -> (T, R),
    ) -> (Array<T, D>, Vec<R>) {
        rule.run(x, |x| forward((x,)))
    }

    /// Its pullback; numbers need no room, see [`State::least_room`].
    #[inline(always)]
    pub fn pullback_with<'a>(
        rule: &mut Mapped<T, A, D, Lent<R>>,
        residuals: Vec<R>,
        _room: usize,
        x: &'a ArrayRef<A, D>,
        mut pullback: impl FnMut(R, (T,), (Ignored,), T) -> (T,),
        (dx, _): Shadows<'a, Self>,
        d: &Array<T, D>,
    ) -> ((), ()) {
        rule.undo(residuals, x, dx, d, |residual, x, d| pullback(residual, (x,), (Ignored,), d).0);
        ((), ())
    }
}

/// The rule of [`mapv_inplace()`].
pub struct MappedInPlace<T, D, F: Callable> {
    old: Waiting<T>,
    residuals: Waiting<F::Residual>,
    rank: PhantomData<fn() -> D>,
}

/// What one call of it keeps.
pub struct Replaced<T, R> {
    old: Vec<T>,
    residuals: Vec<R>,
}

impl<T: Entry, D: Rank, F: Callable> MappedInPlace<T, D, F> {
    fn new() -> Self {
        MappedInPlace { old: Waiting::new(), residuals: Waiting::new(), rank: PhantomData }
    }

    #[inline(always)]
    fn run(
        &mut self,
        x: &mut ArrayRef<T, D>,
        mut f: impl FnMut(T) -> (T, F::Residual),
    ) -> Replaced<T, F::Residual> {
        let mut kept = Replaced { old: self.old.take(x.len()), residuals: self.residuals.take(x.len()) };
        x.append_to(&mut kept.old);
        let each = |x: &mut T| {
            let residual;
            (*x, residual) = f(*x);
            kept.residuals.push(residual);
        };
        match by_columns(x) {
            true => x.view_mut().reversed_axes().iter_mut().for_each(each),
            false => x.iter_mut().for_each(each),
        }
        kept
    }

    #[inline(always)]
    fn undo(
        &mut self,
        mut kept: Replaced<T, F::Residual>,
        x: &mut ArrayRef<T, D>,
        dx: Shadow<ArrayCells<'_, T, D>>,
        mut f: impl FnMut(F::Residual, T, T) -> T,
    ) {
        x.fill_from(&kept.old);
        kept.old.clear();
        let by_columns = by_columns(x);
        if let Some(dx) = dx.get() {
            let (x, dx) = (in_order(x.view(), by_columns), in_order(dx, by_columns));
            for ((x, dx), residual) in backwards(x).zip(backwards(dx)).zip(kept.residuals.drain(..).rev()) {
                let d = dx.get();
                dx.set(where_seen(d, f(residual, *x, d)));
            }
        }
        kept.residuals.clear();
        self.old.give(kept.old);
        self.residuals.give(kept.residuals);
    }
}

impl<T: Entry, D: Rank, F: Callable> State for MappedInPlace<T, D, F> {
    fn reset(&mut self) {
        self.old.reset();
        self.residuals.reset();
    }
    fn shrink(&mut self) {
        *self = Self::new();
    }
    fn pending(&self) -> usize {
        0
    }
    fn memory(&self) -> usize {
        self.old.memory() + self.residuals.memory()
    }
}

impl<T: Entry, D: Rank, F: Callable> Function for mapv_inplace<T, D, F> {
    type Parameters = (Mut<ArrayRef<T, D>>, Called<(Val<T>,), T, F>);
    type Output = ();
    const NAME: &'static str = "mapv_inplace";

    fn primal((x, f): Args<'_, Self>) {
        x.mapv_inplace(|x| (f.primal)((x,)));
    }
}

impl<T: Entry, D: Rank, F: Callable> Rule for MappedInPlace<T, D, F> {
    type Function = mapv_inplace<T, D, F>;
    type Residual = Replaced<T, F::Residual>;

    fn forward(&mut self, (x, f): Args<'_, Self::Function>) -> ((), Self::Residual) {
        ((), self.run(x, |x| f.derivative.forward((x,))))
    }
    fn pullback<'a>(
        &mut self,
        kept: Self::Residual,
        (x, f): Args<'a, Self::Function>,
        (dx, _): Shadows<'a, Self::Function>,
        (): (),
    ) -> Gradients<Self::Function> {
        self.undo(kept, x, dx, |residual, x, d| f.derivative.pullback(residual, (x,), (Ignored,), d).0);
        ((), ())
    }
}

impl<T: Entry, D: Rank, F: Callable> mapv_inplace<T, D, F> {
    /// The rule.
    pub fn rule() -> MappedInPlace<T, D, F> {
        MappedInPlace::new()
    }
}

impl<T: Entry, D: Rank, R: Send + 'static> mapv_inplace<T, D, Lent<R>> {
    /// The forward of a call with a closure: itself and its forward.
    #[inline(always)]
    pub fn takes_no_function_put_constant_around_it(
        rule: &mut MappedInPlace<T, D, Lent<R>>,
        x: &mut ArrayRef<T, D>,
        _: impl Fn(T) -> T,
        mut forward: impl FnMut((T,)) -> (T, R),
    ) -> ((), Replaced<T, R>) {
        ((), rule.run(x, |x| forward((x,))))
    }

    /// Its pullback; numbers need no room, see [`State::least_room`].
    #[inline(always)]
    pub fn pullback_with<'a>(
        rule: &mut MappedInPlace<T, D, Lent<R>>,
        kept: Replaced<T, R>,
        _room: usize,
        x: &'a mut ArrayRef<T, D>,
        mut pullback: impl FnMut(R, (T,), (Ignored,), T) -> (T,),
        (dx, _): Shadows<'a, Self>,
        (): (),
    ) -> ((), ()) {
        rule.undo(kept, x, dx, |residual, x, d| pullback(residual, (x,), (Ignored,), d).0);
        ((), ())
    }
}
