//! `dot`, of vectors and matrices in any combination.
//!
//! The value is that of ndarray's kernels. Gradients are products as well, by our own kernels, which add to the shadows, and so are the
//! derivatives that dual numbers carry.

use std::cell::Cell;
use std::ops::Mul;

use ndarray::{Array1, Array2, ArrayRef, ArrayRef1, ArrayRef2, ArrayView1, ArrayView2, Ix1, Ix2, Zip};

use super::meets::{Meets, inner};
use super::operation::{Kept, Operation, operation};
use super::spare::Spare;
use super::{Entry, Rank};
use crate::Rule;
use crate::blas::products::IntoShadow;
use crate::call::{Call, HasRule};
use crate::function::{Args, Cotangent, Gradients, Ref, Shadows};
use crate::heap::heap_size;
use crate::output::Output;
use crate::shadow::{ArrayCells, Shadow};

/// A vector or matrix that can be multiplied by one with `E` dimensions from the right.
#[diagnostic::on_unimplemented(
    message = "this product of arrays has no rule",
    note = "`dot` of vectors and matrices, `Array1` and `Array2` or views of them, has one"
)]
pub trait Times<E: Rank>: Rank {
    /// A number, or an array.
    type Product<T: Entry>: Output;

    /// The product.
    fn times<L: Meets<R>, R: Entry>(
        left: &ArrayRef<L, Self>,
        right: &ArrayRef<R, E>,
        kept: &mut Memory<L::Both>,
    ) -> Self::Product<L::Both>;
    /// Hands `d`, the gradient with respect to the product, on.
    fn hand_back<L: Meets<R>, R: Entry>(
        left: &ArrayRef<L, Self>,
        right: &ArrayRef<R, E>,
        dl: Shadow<ArrayCells<'_, L, Self>>,
        dr: Shadow<ArrayCells<'_, R, E>>,
        d: <Self::Product<L::Both> as Output>::Cotangent<'_>,
        kept: &mut Memory<L::Both>,
    );
    /// Takes the memory of a product back.
    fn reclaim<T: Entry>(product: Self::Product<T>, kept: &mut Memory<T>);
}

/// What a product keeps from call to call.
pub struct Memory<T: Entry> {
    spare: Spare<T>,
    /// For the gradients of either operand.
    into_shadows: [IntoShadow<T>; 2],
}

impl<T: Entry> Default for Memory<T> {
    fn default() -> Self {
        Memory { spare: Spare::default(), into_shadows: Default::default() }
    }
}

heap_size! { [T: Entry] Memory<T> { spare } }

impl<T: Entry> Kept for Memory<T> {
    fn once() -> Self {
        Memory { spare: Spare::once(), ..Memory::default() }
    }
    fn settle(&mut self) {
        self.spare.settle();
    }
    fn reset(&mut self) {
        self.spare.reset();
    }
}

impl Times<Ix1> for Ix1 {
    type Product<T: Entry> = T;

    fn times<L: Meets<R>, R: Entry>(x: &ArrayRef1<L>, y: &ArrayRef1<R>, _: &mut Memory<L::Both>) -> L::Both {
        L::inner(x, y)
    }
    fn hand_back<L: Meets<R>, R: Entry>(
        x: &ArrayRef1<L>,
        y: &ArrayRef1<R>,
        dx: Shadow<ArrayCells<'_, L, Ix1>>,
        dy: Shadow<ArrayCells<'_, R, Ix1>>,
        d: L::Both,
        _: &mut Memory<L::Both>,
    ) {
        if let Some(dx) = dx.get() {
            Zip::from(dx).and(y).for_each(|dx, &y| L::to_left(dx, d * y));
        }
        if let Some(dy) = dy.get() {
            Zip::from(dy).and(x).for_each(|dy, &x| L::to_right(dy, d * x));
        }
    }
    fn reclaim<T: Entry>(_: T, _: &mut Memory<T>) {}
}

impl Times<Ix1> for Ix2 {
    type Product<T: Entry> = Array1<T>;

    fn times<L: Meets<R>, R: Entry>(
        a: &ArrayRef2<L>,
        x: &ArrayRef1<R>,
        kept: &mut Memory<L::Both>,
    ) -> Array1<L::Both> {
        let mut y = kept.spare.array(Ix1(a.nrows()), false);
        L::by_vector(a, x, &mut y);
        y
    }
    fn hand_back<L: Meets<R>, R: Entry>(
        a: &ArrayRef2<L>,
        x: &ArrayRef1<R>,
        da: Shadow<ArrayCells<'_, L, Ix2>>,
        dx: Shadow<ArrayCells<'_, R, Ix1>>,
        d: &Array1<L::Both>,
        _: &mut Memory<L::Both>,
    ) {
        let to = (L::to_left, L::to_right);
        pull_vector(a.view(), x.view(), da.get(), dx.get(), d.view(), to);
    }
    fn reclaim<T: Entry>(y: Array1<T>, kept: &mut Memory<T>) {
        kept.spare.reclaim(y);
    }
}

impl Times<Ix2> for Ix1 {
    type Product<T: Entry> = Array1<T>;

    /// *yᵀ = Aᵀ·x*
    fn times<L: Meets<R>, R: Entry>(
        x: &ArrayRef1<L>,
        a: &ArrayRef2<R>,
        kept: &mut Memory<L::Both>,
    ) -> Array1<L::Both> {
        let mut y = kept.spare.array(Ix1(a.ncols()), false);
        L::of_vector(x, a, &mut y);
        y
    }
    fn hand_back<L: Meets<R>, R: Entry>(
        x: &ArrayRef1<L>,
        a: &ArrayRef2<R>,
        dx: Shadow<ArrayCells<'_, L, Ix1>>,
        da: Shadow<ArrayCells<'_, R, Ix2>>,
        d: &Array1<L::Both>,
        _: &mut Memory<L::Both>,
    ) {
        let (da, to) = (da.get().map(|da| da.reversed_axes()), (L::to_right, L::to_left));
        pull_vector(a.t(), x.view(), da, dx.get(), d.view(), to);
    }
    fn reclaim<T: Entry>(y: Array1<T>, kept: &mut Memory<T>) {
        kept.spare.reclaim(y);
    }
}

/// *y = A·x: Ȧ += ẏ·xᵀ, ẋ += Aᵀ·ẏ*, along the rows of *A* or along its columns, as they lie in memory.
fn pull_vector<A: Entry, X: Entry, B: Entry + Mul<A, Output = B> + Mul<X, Output = B>>(
    a: ArrayView2<'_, A>,
    x: ArrayView1<'_, X>,
    da: Option<ArrayCells<'_, A, Ix2>>,
    dx: Option<ArrayCells<'_, X, Ix1>>,
    d: ArrayView1<'_, B>,
    (to_a, to_x): (impl Fn(&Cell<A>, B), impl Fn(&Cell<X>, B)),
) {
    let by_columns = a.strides()[0].unsigned_abs() < a.strides()[1].unsigned_abs();
    match da {
        Some(da) if by_columns => Zip::from(da.columns()).and(x).for_each(|da, &x| {
            Zip::from(da).and(d).for_each(|da, &d| to_a(da, d * x));
        }),
        Some(da) => Zip::from(da.rows()).and(d).for_each(|da, &d| {
            Zip::from(da).and(x).for_each(|da, &x| to_a(da, d * x));
        }),
        None => {}
    }
    match dx {
        Some(dx) if by_columns => Zip::from(dx).and(a.columns()).for_each(|dx, a| to_x(dx, inner(&d, &a))),
        Some(dx) => Zip::from(a.rows()).and(d).for_each(|a, &d| {
            Zip::from(dx).and(a).for_each(|dx, &a| to_x(dx, d * a));
        }),
        None => {}
    }
}

impl Times<Ix2> for Ix2 {
    type Product<T: Entry> = Array2<T>;

    fn times<L: Meets<R>, R: Entry>(
        a: &ArrayRef2<L>,
        b: &ArrayRef2<R>,
        kept: &mut Memory<L::Both>,
    ) -> Array2<L::Both> {
        let by_columns = a.strides()[0] == 1 && b.strides()[0] == 1;
        let mut c = kept.spare.array(Ix2(a.nrows(), b.ncols()), by_columns);
        L::by_matrix(a, b, &mut c);
        c
    }
    fn hand_back<L: Meets<R>, R: Entry>(
        a: &ArrayRef2<L>,
        b: &ArrayRef2<R>,
        da: Shadow<ArrayCells<'_, L, Ix2>>,
        db: Shadow<ArrayCells<'_, R, Ix2>>,
        d: &Array2<L::Both>,
        kept: &mut Memory<L::Both>,
    ) {
        let [into_a, into_b] = &mut kept.into_shadows;
        if let Some(da) = da.get() {
            L::pull_left(into_a, d, b, da);
        }
        if let Some(db) = db.get() {
            L::pull_right(into_b, a, d, db);
        }
    }
    fn reclaim<T: Entry>(c: Array2<T>, kept: &mut Memory<T>) {
        kept.spare.reclaim(c);
    }
}

operation! {
    /// `a.dot(b)`: *Ȧ = Ẏ·Bᵀ, Ḃ = Aᵀ·Ẏ* (Giles, *Collected matrix derivative results for forward and reverse mode algorithmic
    /// differentiation*, 2008, section 2.2.2)
    dot<L: (Meets<R>), D: (Times<E>), R: (Entry), E: (Rank)>(
        a: Ref<ArrayRef<L, D>> as &'a ArrayRef<L, D>,
        b: Ref<ArrayRef<R, E>> as &'a ArrayRef<R, E>
    ) -> D::Product<L::Both>;
}

impl<L: Meets<R>, D: Times<E>, R: Entry, E: Rank> Operation for dot<L, D, R, E> {
    type Kept = Memory<L::Both>;

    fn forward(kept: &mut Memory<L::Both>, (a, b): Args<'_, Self>) -> D::Product<L::Both> {
        D::times(a, b, kept)
    }
    fn pullback<'a>(
        kept: &mut Memory<L::Both>,
        (a, b): Args<'a, Self>,
        (da, db): Shadows<'a, Self>,
        d: Cotangent<'_, Self>,
    ) -> Gradients<Self> {
        D::hand_back(a, b, da, db, d, kept);
        ((), ())
    }
    fn reclaim(kept: &mut Memory<L::Both>, product: D::Product<L::Both>) {
        D::reclaim(product, kept);
    }
}

impl<L: Meets<R>, D: Times<E>, R: Entry, E: Rank> HasRule for dot<L, D, R, E> {
    fn make_rule() -> impl Rule<Function = Self> + 'static {
        Self::rule()
    }
}

/// `a.dot(b)`, where nothing but the types tells that these are arrays.
pub trait Multiplied<L, D> {
    #[doc(hidden)]
    fn dot_has_no_rule_mark_its_impl_differentiable<'a, R: Entry, E: Rank>(
        &'a self,
        b: &'a ArrayRef<R, E>,
    ) -> Call<'a, dot<L, D, R, E>>
    where
        L: Meets<R>,
        D: Times<E>;
}

impl<L: Entry, D: Rank> Multiplied<L, D> for ArrayRef<L, D> {
    #[inline(always)]
    fn dot_has_no_rule_mark_its_impl_differentiable<'a, R: Entry, E: Rank>(
        &'a self,
        b: &'a ArrayRef<R, E>,
    ) -> Call<'a, dot<L, D, R, E>>
    where
        L: Meets<R>,
        D: Times<E>,
    {
        Call::new((self, b))
    }
}
