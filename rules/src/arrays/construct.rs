//! Arrays made of numbers: `from_elem`, `zeros`, `ones`, `linspace`, `from_diag`, `array!`, `from_vec`, `from_shape_vec`.

use std::cell::Cell;

use ndarray::{Array, ArrayRef, IntoDimension, Ix1, Ix2, Zip};

use super::operation::{Operation, operation};
use super::spare::Spare;
use super::{Entry, Rank};
use crate::function::{Args, ConstVal, Cotangent, Gradients, Ref, Shadows, Val};
use crate::shadow::Accumulate;
use crate::tangent::Value;

operation! {
    /// `Array::from_elem(shape, s)`: *ṡ = Σ ẏᵢ*
    from_elem<T: (Entry), S: (IntoDimension<Dim: Rank> + Copy + 'static)>(
        shape: ConstVal<S> as S,
        s: Val<T> as T
    ) -> Array<T, S::Dim>;
}

impl<T: Entry, S: IntoDimension<Dim: Rank> + Copy + 'static> Operation for from_elem<T, S> {
    type Kept = Spare<T>;

    fn forward(spare: &mut Spare<T>, (shape, s): Args<'_, Self>) -> Array<T, S::Dim> {
        spare.filled(shape.into_dimension(), false, s)
    }
    fn pullback<'a>(
        _: &mut Spare<T>,
        _: Args<'a, Self>,
        _: Shadows<'a, Self>,
        d: Cotangent<'_, Self>,
    ) -> Gradients<Self> {
        ((), d.sum())
    }
    fn reclaim(spare: &mut Spare<T>, y: Array<T, S::Dim>) {
        spare.reclaim(y);
    }
}

operation! {
    /// The same, column by column or not: what a `Zip` of arrays is collected to
    laid_out<T: (Entry), S: (IntoDimension<Dim: Rank> + Copy + 'static)>(
        shape: ConstVal<S> as S,
        by_columns: ConstVal<bool> as bool,
        s: Val<T> as T
    ) -> Array<T, S::Dim>;
}

impl<T: Entry, S: IntoDimension<Dim: Rank> + Copy + 'static> Operation for laid_out<T, S> {
    type Kept = Spare<T>;

    fn forward(spare: &mut Spare<T>, (shape, by_columns, s): Args<'_, Self>) -> Array<T, S::Dim> {
        spare.filled(shape.into_dimension(), by_columns, s)
    }
    fn pullback<'a>(
        _: &mut Spare<T>,
        _: Args<'a, Self>,
        _: Shadows<'a, Self>,
        d: Cotangent<'_, Self>,
    ) -> Gradients<Self> {
        ((), (), d.sum())
    }
    fn reclaim(spare: &mut Spare<T>, y: Array<T, S::Dim>) {
        spare.reclaim(y);
    }
}

operation! {
    /// `Array1::linspace(a, b, n)`: *yᵢ = a + i·(b − a)/(n − 1)*, *ȧ = Σ (1 − i/(n − 1))·ẏᵢ*, *ḃ = Σ i/(n − 1)·ẏᵢ*
    linspace<T: (Entry)>(start: Val<T> as T, end: Val<T> as T, n: ConstVal<usize> as usize) -> Array<T, Ix1>;
}

impl<T: Entry> Operation for linspace<T> {
    type Kept = Spare<T>;

    fn forward(spare: &mut Spare<T>, (start, end, n): Args<'_, Self>) -> Array<T, Ix1> {
        let step = if n > 1 { (end - start) / T::count(n - 1) } else { T::count(0) };
        let mut y = spare.array(Ix1(n), false);
        y.iter_mut().enumerate().for_each(|(i, y)| *y = start + step * T::count(i));
        y
    }
    fn pullback<'a>(
        _: &mut Spare<T>,
        (_, _, n): Args<'a, Self>,
        _: Shadows<'a, Self>,
        d: Cotangent<'_, Self>,
    ) -> Gradients<Self> {
        let steps = T::count(n.max(2) - 1);
        let (mut d_start, mut d_end) = (T::count(0), T::count(0));
        for (i, &d) in d.iter().enumerate() {
            let share = T::count(i) / steps;
            d_start += (T::count(1) - share) * d;
            d_end += share * d;
        }
        (d_start, d_end, ())
    }
    fn reclaim(spare: &mut Spare<T>, y: Array<T, Ix1>) {
        spare.reclaim(y);
    }
}

operation! {
    /// `Array2::from_diag(x)`: *ẋᵢ = ẏᵢᵢ*
    from_diag<T: (Entry)>(x: Ref<ArrayRef<T, Ix1>> as &'a ArrayRef<T, Ix1>) -> Array<T, Ix2>;
}

impl<T: Entry> Operation for from_diag<T> {
    type Kept = Spare<T>;

    fn forward(spare: &mut Spare<T>, (x,): Args<'_, Self>) -> Array<T, Ix2> {
        let mut y = spare.array(Ix2(x.len(), x.len()), false);
        y.fill(T::count(0));
        y.diag_mut().assign(x);
        y
    }
    fn pullback<'a>(
        _: &mut Spare<T>,
        _: Args<'a, Self>,
        (dx,): Shadows<'a, Self>,
        d: Cotangent<'_, Self>,
    ) -> Gradients<Self> {
        if let Some(dx) = dx.get() {
            Zip::from(dx).and(d.diag()).for_each(|dx, &d| dx.accumulate(d));
        }
        ((),)
    }
    fn reclaim(spare: &mut Spare<T>, y: Array<T, Ix2>) {
        spare.reclaim(y);
    }
}

/// What stands in `array![…]`: numbers, or rows of numbers.
pub trait Listed: Value<Tangent = Self> + Copy + 'static {
    /// A number.
    type Entry: Entry;
    /// The dimensions.
    type Rank: Rank;

    /// The shape.
    fn shape() -> Self::Rank;
    /// Each number in turn.
    fn entries(&mut self) -> impl Iterator<Item = &mut Self::Entry>;
}

impl<T: Entry, const N: usize> Listed for [T; N] {
    type Entry = T;
    type Rank = Ix1;

    fn shape() -> Ix1 {
        Ix1(N)
    }
    fn entries(&mut self) -> impl Iterator<Item = &mut T> {
        self.iter_mut()
    }
}

impl<T: Entry, const N: usize, const M: usize> Listed for [[T; N]; M] {
    type Entry = T;
    type Rank = Ix2;

    fn shape() -> Ix2 {
        Ix2(M, N)
    }
    fn entries(&mut self) -> impl Iterator<Item = &mut T> {
        self.iter_mut().flatten()
    }
}

operation! {
    /// `array![…]`
    listed<L: (Listed)>(entries: Val<L> as L) -> Array<L::Entry, L::Rank>;
}

impl<L: Listed> Operation for listed<L> {
    type Kept = Spare<L::Entry>;

    fn forward(spare: &mut Spare<L::Entry>, (mut entries,): Args<'_, Self>) -> Array<L::Entry, L::Rank> {
        let mut y = spare.array(L::shape(), false);
        y.iter_mut().zip(entries.entries()).for_each(|(y, x)| *y = *x);
        y
    }
    fn pullback<'a>(
        _: &mut Spare<L::Entry>,
        (mut entries,): Args<'a, Self>,
        _: Shadows<'a, Self>,
        d: Cotangent<'_, Self>,
    ) -> Gradients<Self> {
        entries.entries().zip(d).for_each(|(x, d)| *x = *d);
        (entries,)
    }
    fn reclaim(spare: &mut Spare<L::Entry>, y: Array<L::Entry, L::Rank>) {
        spare.reclaim(y);
    }
}

operation! {
    /// `Array1::from_vec(x)`: *ẋ = ẏ*
    line<T: (Entry)>(x: Ref<[T]> as &'a [T]) -> Array<T, Ix1>;
}

operation! {
    /// `Array::from_shape_vec(shape, x).unwrap()`: the elements in the order of their indices, *ẋ = ẏ*
    shaped<T: (Entry), S: (IntoDimension<Dim: Rank> + Copy + 'static)>(
        x: Ref<[T]> as &'a [T],
        shape: ConstVal<S> as S
    ) -> Array<T, S::Dim>;
}

fn filled<T: Entry, D: Rank>(spare: &mut Spare<T>, x: &[T], shape: D) -> Array<T, D> {
    assert_eq!(Some(x.len()), shape.size_checked(), "{} numbers are no array of shape {shape:?}", x.len());
    let mut y = spare.array(shape, false);
    y.iter_mut().zip(x).for_each(|(y, x)| *y = *x);
    y
}

fn add_elements<T: Entry, D: Rank>(dx: Option<&[Cell<T>]>, d: &Array<T, D>) {
    dx.into_iter().flatten().zip(d).for_each(|(dx, d)| dx.accumulate(*d));
}

impl<T: Entry> Operation for line<T> {
    type Kept = Spare<T>;

    fn forward(spare: &mut Spare<T>, (x,): Args<'_, Self>) -> Array<T, Ix1> {
        filled(spare, x, Ix1(x.len()))
    }
    fn pullback<'a>(
        _: &mut Spare<T>,
        _: Args<'a, Self>,
        (dx,): Shadows<'a, Self>,
        d: Cotangent<'_, Self>,
    ) -> Gradients<Self> {
        add_elements(dx.get(), d);
        ((),)
    }
    fn reclaim(spare: &mut Spare<T>, y: Array<T, Ix1>) {
        spare.reclaim(y);
    }
}

impl<T: Entry, S: IntoDimension<Dim: Rank> + Copy + 'static> Operation for shaped<T, S> {
    type Kept = Spare<T>;

    fn forward(spare: &mut Spare<T>, (x, shape): Args<'_, Self>) -> Array<T, S::Dim> {
        filled(spare, x, shape.into_dimension())
    }
    fn pullback<'a>(
        _: &mut Spare<T>,
        _: Args<'a, Self>,
        (dx, _): Shadows<'a, Self>,
        d: Cotangent<'_, Self>,
    ) -> Gradients<Self> {
        add_elements(dx.get(), d);
        ((), ())
    }
    fn reclaim(spare: &mut Spare<T>, y: Array<T, S::Dim>) {
        spare.reclaim(y);
    }
}
