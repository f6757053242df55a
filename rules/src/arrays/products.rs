//! `dot`, of vectors and matrices in any combination.
//!
//! The value is that of ndarray's kernels. Gradients are products as well, by our own kernels, which add to the shadows.

use ndarray::linalg::{general_mat_mul, general_mat_vec_mul};
use ndarray::{Array1, Array2, ArrayRef, ArrayRef1, ArrayRef2, ArrayView1, ArrayView2, Ix1, Ix2, Zip};

use super::operation::{Kept, Operation, operation};
use super::spare::Spare;
use super::{Entry, Rank};
use crate::blas::products::IntoShadow;
use crate::function::{Args, Cotangent, Gradients, Ref, Shadows};
use crate::heap::heap_size;
use crate::output::Output;
use crate::shadow::{Accumulate, ArrayCells, Shadow};

/// A vector or matrix that can be multiplied by one with `E` dimensions from the right.
#[diagnostic::on_unimplemented(
    message = "this product of arrays has no rule",
    note = "`dot` of vectors and matrices, `Array1` and `Array2` or views of them, has one"
)]
pub trait Times<E: Rank>: Rank {
    /// A number, or an array.
    type Product<T: Entry>: Output;

    /// The product.
    fn times<T: Entry>(
        left: &ArrayRef<T, Self>,
        right: &ArrayRef<T, E>,
        kept: &mut Memory<T>,
    ) -> Self::Product<T>;
    /// Hands `d`, the gradient with respect to the product, on.
    fn hand_back<T: Entry>(
        left: &ArrayRef<T, Self>,
        right: &ArrayRef<T, E>,
        dl: Shadow<ArrayCells<'_, T, Self>>,
        dr: Shadow<ArrayCells<'_, T, E>>,
        d: <Self::Product<T> as Output>::Cotangent<'_>,
        kept: &mut Memory<T>,
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
    fn settle(&mut self) {
        self.spare.settle();
    }
    fn reset(&mut self) {
        self.spare.reset();
    }
}

impl Times<Ix1> for Ix1 {
    type Product<T: Entry> = T;

    fn times<T: Entry>(x: &ArrayRef1<T>, y: &ArrayRef1<T>, _: &mut Memory<T>) -> T {
        x.dot(y)
    }
    fn hand_back<T: Entry>(
        x: &ArrayRef1<T>,
        y: &ArrayRef1<T>,
        dx: Shadow<ArrayCells<'_, T, Ix1>>,
        dy: Shadow<ArrayCells<'_, T, Ix1>>,
        d: T,
        _: &mut Memory<T>,
    ) {
        if let Some(dx) = dx.get() {
            Zip::from(dx).and(y).for_each(|dx, &y| dx.accumulate(d * y));
        }
        if let Some(dy) = dy.get() {
            Zip::from(dy).and(x).for_each(|dy, &x| dy.accumulate(d * x));
        }
    }
    fn reclaim<T: Entry>(_: T, _: &mut Memory<T>) {}
}

impl Times<Ix1> for Ix2 {
    type Product<T: Entry> = Array1<T>;

    fn times<T: Entry>(a: &ArrayRef2<T>, x: &ArrayRef1<T>, kept: &mut Memory<T>) -> Array1<T> {
        let mut y = kept.spare.array(Ix1(a.nrows()), false);
        general_mat_vec_mul(T::ONE, a, x, T::default(), &mut y);
        y
    }
    fn hand_back<T: Entry>(
        a: &ArrayRef2<T>,
        x: &ArrayRef1<T>,
        da: Shadow<ArrayCells<'_, T, Ix2>>,
        dx: Shadow<ArrayCells<'_, T, Ix1>>,
        d: &Array1<T>,
        _: &mut Memory<T>,
    ) {
        pull_vector(a.view(), x.view(), da.get(), dx.get(), d.view());
    }
    fn reclaim<T: Entry>(y: Array1<T>, kept: &mut Memory<T>) {
        kept.spare.reclaim(y);
    }
}

impl Times<Ix2> for Ix1 {
    type Product<T: Entry> = Array1<T>;

    fn times<T: Entry>(x: &ArrayRef1<T>, a: &ArrayRef2<T>, kept: &mut Memory<T>) -> Array1<T> {
        let mut y = kept.spare.array(Ix1(a.ncols()), false);
        general_mat_vec_mul(T::ONE, &a.t(), x, T::default(), &mut y);
        y
    }
    fn hand_back<T: Entry>(
        x: &ArrayRef1<T>,
        a: &ArrayRef2<T>,
        dx: Shadow<ArrayCells<'_, T, Ix1>>,
        da: Shadow<ArrayCells<'_, T, Ix2>>,
        d: &Array1<T>,
        _: &mut Memory<T>,
    ) {
        pull_vector(a.t(), x.view(), da.get().map(|da| da.reversed_axes()), dx.get(), d.view());
    }
    fn reclaim<T: Entry>(y: Array1<T>, kept: &mut Memory<T>) {
        kept.spare.reclaim(y);
    }
}

/// *y = A·x: Ȧ += ẏ·xᵀ, ẋ += Aᵀ·ẏ*, along the rows of *A* or along its columns, as they lie in memory.
fn pull_vector<T: Entry>(
    a: ArrayView2<'_, T>,
    x: ArrayView1<'_, T>,
    da: Option<ArrayCells<'_, T, Ix2>>,
    dx: Option<ArrayCells<'_, T, Ix1>>,
    d: ArrayView1<'_, T>,
) {
    let by_columns = a.strides()[0].unsigned_abs() < a.strides()[1].unsigned_abs();
    if let Some(da) = da {
        // The lanes of Ȧ, and what each of them is a multiple of.
        let (lanes, factors, lane) = if by_columns { (da.reversed_axes(), x, d) } else { (da, d, x) };
        Zip::from(lanes.rows()).and(factors).for_each(|da, &factor| {
            Zip::from(da).and(lane).for_each(|da, &x| da.accumulate(factor * x));
        });
    }
    match dx {
        Some(dx) if by_columns => Zip::from(dx).and(a.columns()).for_each(|dx, a| dx.accumulate(a.dot(&d))),
        Some(dx) => Zip::from(a.rows()).and(d).for_each(|a, &d| {
            Zip::from(dx).and(a).for_each(|dx, &a| dx.accumulate(d * a));
        }),
        None => {}
    }
}

impl Times<Ix2> for Ix2 {
    type Product<T: Entry> = Array2<T>;

    fn times<T: Entry>(a: &ArrayRef2<T>, b: &ArrayRef2<T>, kept: &mut Memory<T>) -> Array2<T> {
        let by_columns = a.strides()[0] == 1 && b.strides()[0] == 1;
        let mut c = kept.spare.array(Ix2(a.nrows(), b.ncols()), by_columns);
        general_mat_mul(T::ONE, a, b, T::default(), &mut c);
        c
    }
    fn hand_back<T: Entry>(
        a: &ArrayRef2<T>,
        b: &ArrayRef2<T>,
        da: Shadow<ArrayCells<'_, T, Ix2>>,
        db: Shadow<ArrayCells<'_, T, Ix2>>,
        d: &Array2<T>,
        kept: &mut Memory<T>,
    ) {
        let [into_a, into_b] = &mut kept.into_shadows;
        if let Some(da) = da.get() {
            into_a.add(T::ONE, d, &b.t(), da);
        }
        if let Some(db) = db.get() {
            into_b.add(T::ONE, &a.t(), d, db);
        }
    }
    fn reclaim<T: Entry>(c: Array2<T>, kept: &mut Memory<T>) {
        kept.spare.reclaim(c);
    }
}

operation! {
    /// `a.dot(b)`: *Ȧ = Ẏ·Bᵀ, Ḃ = Aᵀ·Ẏ* (Giles, *Collected matrix derivative results for forward and reverse mode algorithmic
    /// differentiation*, 2008, section 2.2.2)
    dot<T: (Entry), D: (Times<E>), E: (Rank)>(
        a: Ref<ArrayRef<T, D>> as &'a ArrayRef<T, D>,
        b: Ref<ArrayRef<T, E>> as &'a ArrayRef<T, E>
    ) -> D::Product<T>;
}

impl<T: Entry, D: Times<E>, E: Rank> Operation for dot<T, D, E> {
    type Kept = Memory<T>;

    fn forward(kept: &mut Memory<T>, (a, b): Args<'_, Self>) -> D::Product<T> {
        D::times(a, b, kept)
    }
    fn pullback<'a>(
        kept: &mut Memory<T>,
        (a, b): Args<'a, Self>,
        (da, db): Shadows<'a, Self>,
        d: Cotangent<'_, Self>,
    ) -> Gradients<Self> {
        D::hand_back(a, b, da, db, d, kept);
        ((), ())
    }
    fn reclaim(kept: &mut Memory<T>, product: D::Product<T>) {
        D::reclaim(product, kept);
    }
}
