//! Methods that write to a matrix on the heap: `gemv`, `gemm`, `axpy`, `copy_from`, `mul_to`.

use std::marker::PhantomData;

use nalgebra::{DMatrix, DVector};

use super::Entry;
use super::on_heap::{OnHeap, Times, cells, inner, pull_product};
use crate::activation::{Activation, Frames};
use crate::call::{Call, HasRule, WritesToReceiver};
use crate::function::{Args, Cotangent, Function, Gradients, Mut, Ref, Shadows, Val};
use crate::heap::HeapSize;
use crate::saved::Saved;
use crate::shadow::Accumulate;

/// The traits alone: their names mean nothing to derived code.
pub(crate) mod traits {
    pub use super::{AxpyRule as _, CopyFromRule as _, GemmRule as _, GemvRule as _, MulToRule as _};
}

/// What a method overwrites, kept to bring it back, or since a gradient reads it.
pub(super) struct Overwritten<F, T> {
    old: Saved<T>,
    /// The parameter by which it is multiplied is constant.
    constant: bool,
    marker: PhantomData<fn() -> F>,
}

impl<F, T> Default for Overwritten<F, T> {
    fn default() -> Self {
        Overwritten { old: Saved::default(), constant: false, marker: PhantomData }
    }
}

impl<F, T: Copy> Overwritten<F, T> {
    fn save(&mut self, entries: &[T]) {
        if self.constant { self.old.save_to_restore(entries) } else { self.old.save(entries) }
    }

    /// `factor` is the number of the parameter by which the receiver is multiplied.
    fn forgo(&mut self, parameter: usize, factor: usize) {
        if parameter == 0 {
            self.old.forgo();
        } else if parameter == factor {
            self.constant = true;
        }
    }
}

/// The functions, and the methods by which derived code calls them.
macro_rules! functions {
    ($(
        $(#[$doc:meta])*
        $Name:ident<$($G:ident: ($($bound:tt)*)),*> $Trait:ident for $Self:ty:
        $sibling:ident($($arg:ident: $Mode:ident<$A:ty>),*) $self:ident => $primal:expr;
    )*) => {$(
        $(#[$doc])*
        pub struct $Name<$($G),*>(PhantomData<fn() -> ($(PhantomData<$G>,)*)>);

        impl<$($G: $($bound)*),*> Function for $Name<$($G),*> {
            type Parameters = (Mut<$Self>, $($Mode<$A>,)*);
            type Output = ();
            const NAME: &'static str = stringify!($Name);

            fn primal(($self, $($arg,)*): Args<'_, Self>) {
                $primal
            }
        }

        impl<$($G: $($bound)*),*> HasRule for $Name<$($G),*> {
            fn make_rule() -> impl crate::Rule<Function = Self> + 'static {
                Frames::<Overwritten<Self, <$Self as OnHeap>::Entry>>::default()
            }
        }

        $(#[$doc])*
        pub trait $Trait<$($G: $($bound)*),*> {
            #[doc(hidden)]
            fn $sibling<'a>(
                &'a mut self,
                $($arg: <$Mode<$A> as crate::Parameter>::Arg<'a>),*
            ) -> Call<'a, $Name<$($G),*>, WritesToReceiver>;
        }

        impl<$($G: $($bound)*),*> $Trait<$($G),*> for $Self {
            #[inline(always)]
            fn $sibling<'a>(
                &'a mut self,
                $($arg: <$Mode<$A> as crate::Parameter>::Arg<'a>),*
            ) -> Call<'a, $Name<$($G),*>, WritesToReceiver> {
                Call::new((self, $($arg,)*))
            }
        }
    )*};
}

functions! {
    /// *y ← α·A·x + β·y*
    Gemv<T: (Entry)> GemvRule for DVector<T>: gemv_has_no_rule_mark_its_impl_differentiable(
        alpha: Val<T>, a: Ref<DMatrix<T>>, x: Ref<DVector<T>>, beta: Val<T>
    ) y => y.gemv(alpha, a, x, beta);

    /// *C ← α·A·B + β·C*
    Gemm<T: (Entry)> GemmRule for DMatrix<T>: gemm_has_no_rule_mark_its_impl_differentiable(
        alpha: Val<T>, a: Ref<DMatrix<T>>, b: Ref<DMatrix<T>>, beta: Val<T>
    ) c => c.gemm(alpha, a, b, beta);

    /// *y ← α·x + β·y*
    Axpy<T: (Entry)> AxpyRule for DVector<T>: axpy_has_no_rule_mark_its_impl_differentiable(
        alpha: Val<T>, x: Ref<DVector<T>>, beta: Val<T>
    ) y => y.axpy(alpha, x, beta);

    /// *y ← x*
    CopyFrom<M: (Copied)> CopyFromRule for M: copy_from_has_no_rule_mark_its_impl_differentiable(x: Ref<M>) y => y.copy(x);
}

/// What can be copied to another matrix of the same shape.
pub trait Copied: OnHeap {
    /// See nalgebra's `copy_from`.
    fn copy(&mut self, from: &Self);
}

impl<M: OnHeap> Copied for M {
    fn copy(&mut self, from: &M) {
        assert_eq!(self.dimensions(), from.dimensions(), "matrices of different shapes");
        self.entries_mut().copy_from_slice(from.entries());
    }
}

/// *C ← α·A·B + β·C: Ȧ = α·Ċ·Bᵀ, Ḃ = α·Aᵀ·Ċ, α̇ = ⟨B, Aᵀ·Ċ⟩, β̇ = ⟨C, Ċ⟩*, and *Ċ ← β·Ċ*.
macro_rules! product {
    ($Name:ident, $R:ident, $method:ident) => {
        impl<T: Entry> Activation for Overwritten<$Name<T>, T> {
            type Function = $Name<T>;

            fn heap_size(&self) -> usize {
                self.old.heap_size()
            }
            fn forward(&mut self, (c, alpha, a, b, beta): Args<'_, Self::Function>) {
                self.save(c.as_slice());
                c.$method(alpha, a, b, beta);
            }
            fn pullback<'a>(
                &mut self,
                (c, alpha, a, b, beta): Args<'a, Self::Function>,
                (dc, _, da, db, _): Shadows<'a, Self::Function>,
                (): (),
            ) -> Gradients<Self::Function> {
                self.old.restore(c.as_mut_slice());
                let ((m, k), n) = (a.shape(), b.ncols());
                let (da, db) = (cells::<DMatrix<T>>(da), cells::<$R<T>>(db));
                let Some(dc) = dc.get().map(|dc| dc.cells) else {
                    return ((), nalgebra::zero(), (), (), nalgebra::zero());
                };
                let (mut of_alpha, mut of_beta) = (nalgebra::zero::<T>(), nalgebra::zero::<T>());
                for j in 0..n {
                    let dc = &dc[j * m..(j + 1) * m];
                    for l in 0..k {
                        let (column, factor) = (&a.as_slice()[l * m..(l + 1) * m], b[(l, j)]);
                        let product = inner(column, dc);
                        of_alpha += factor * product;
                        if let Some(db) = db.get(l + j * k) {
                            db.accumulate(alpha * product);
                        }
                        if let Some(da) = da.get(l * m..(l + 1) * m) {
                            let factor = alpha * factor;
                            da.iter().zip(dc).for_each(|(da, dc)| da.accumulate(factor * dc.get()));
                        }
                    }
                }
                for (dc, &c) in dc.iter().zip(c.as_slice()) {
                    of_beta += c * dc.get();
                    dc.set(beta * dc.get());
                }
                ((), of_alpha, (), (), of_beta)
            }
            fn forgo(&mut self, parameter: usize) {
                self.forgo(parameter, 4);
            }
        }
    };
}
product!(Gemv, DVector, gemv);
product!(Gemm, DMatrix, gemm);

/// *α̇ = ⟨x, ẏ⟩, ẋ = α·ẏ, β̇ = ⟨y, ẏ⟩*, and *ẏ ← β·ẏ*
impl<T: Entry> Activation for Overwritten<Axpy<T>, T> {
    type Function = Axpy<T>;

    fn heap_size(&self) -> usize {
        self.old.heap_size()
    }
    fn forward(&mut self, (y, alpha, x, beta): Args<'_, Self::Function>) {
        self.save(y.as_slice());
        y.axpy(alpha, x, beta);
    }
    fn pullback<'a>(
        &mut self,
        (y, alpha, x, beta): Args<'a, Self::Function>,
        (dy, _, dx, _): Shadows<'a, Self::Function>,
        (): (),
    ) -> Gradients<Self::Function> {
        self.old.restore(y.as_mut_slice());
        let (mut of_alpha, mut of_beta) = (nalgebra::zero::<T>(), nalgebra::zero::<T>());
        let dx = cells::<DVector<T>>(dx);
        for (i, dy) in cells::<DVector<T>>(dy).iter().enumerate() {
            let d = dy.get();
            of_alpha += x[i] * d;
            of_beta += y[i] * d;
            if let Some(dx) = dx.get(i) {
                dx.accumulate(alpha * d);
            }
            dy.set(beta * d);
        }
        ((), of_alpha, (), of_beta)
    }
    fn forgo(&mut self, parameter: usize) {
        self.forgo(parameter, 3);
    }
}

/// *ẋ = ẏ*, and *ẏ ← 0*
impl<M: OnHeap> Activation for Overwritten<CopyFrom<M>, M::Entry> {
    type Function = CopyFrom<M>;

    fn heap_size(&self) -> usize {
        self.old.heap_size()
    }
    fn forward(&mut self, (y, x): Args<'_, Self::Function>) {
        self.old.save_to_restore(y.entries());
        y.copy(x);
    }
    fn pullback<'a>(
        &mut self,
        (y, _): Args<'a, Self::Function>,
        (dy, dx): Shadows<'a, Self::Function>,
        (): Cotangent<'_, Self::Function>,
    ) -> Gradients<Self::Function> {
        self.old.restore(y.entries_mut());
        let dx = cells::<M>(dx);
        for (i, dy) in cells::<M>(dy).iter().enumerate() {
            let d = dy.take();
            if let Some(dx) = dx.get(i) {
                dx.accumulate(d);
            }
        }
        ((), ())
    }
    fn forgo(&mut self, parameter: usize) {
        self.forgo(parameter, usize::MAX);
    }
}

/// *C ← A·B: Ȧ = Ċ·Bᵀ, Ḃ = Aᵀ·Ċ*, and *Ċ ← 0*
pub struct MulTo<L, R>(PhantomData<fn() -> (L, R)>);

impl<L: Times<R>, R: OnHeap<Entry = L::Entry>> Function for MulTo<L, R> {
    type Parameters = (Ref<L>, Ref<R>, Mut<L::Product>);
    type Output = ();
    const NAME: &'static str = "mul_to";

    fn primal((a, b, c): Args<'_, Self>) {
        a.times_to(b, c);
    }
}

impl<L: Times<R>, R: OnHeap<Entry = L::Entry>> HasRule for MulTo<L, R> {
    fn make_rule() -> impl crate::Rule<Function = Self> + 'static {
        Frames::<Overwritten<Self, L::Entry>>::default()
    }
}

/// See `MulTo`.
pub trait MulToRule<R: OnHeap<Entry = Self::Entry>>: Times<R> {
    #[doc(hidden)]
    #[inline(always)]
    fn mul_to_has_no_rule_mark_its_impl_differentiable<'a>(
        &'a self,
        b: &'a R,
        c: &'a mut Self::Product,
    ) -> Call<'a, MulTo<Self, R>> {
        Call::new((self, b, c))
    }
}

impl<L: Times<R>, R: OnHeap<Entry = L::Entry>> MulToRule<R> for L {}

impl<L: Times<R>, R: OnHeap<Entry = L::Entry>> Activation for Overwritten<MulTo<L, R>, L::Entry> {
    type Function = MulTo<L, R>;

    fn heap_size(&self) -> usize {
        self.old.heap_size()
    }
    fn forward(&mut self, (a, b, c): Args<'_, Self::Function>) {
        self.old.save_to_restore(c.entries());
        a.times_to(b, c);
    }
    fn pullback<'a>(
        &mut self,
        (a, b, c): Args<'a, Self::Function>,
        (da, db, dc): Shadows<'a, Self::Function>,
        (): Cotangent<'_, Self::Function>,
    ) -> Gradients<Self::Function> {
        self.old.restore(c.entries_mut());
        if let Some(dc) = dc.get().map(L::Product::cells) {
            pull_product(a, b, dc, da, db);
            dc.iter().for_each(|dc| dc.set(nalgebra::zero()));
        }
        ((), (), ())
    }
    fn forgo(&mut self, parameter: usize) {
        if parameter == 2 {
            self.old.forgo();
        }
    }
}
