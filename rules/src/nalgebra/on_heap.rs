//! Operators of matrices on the heap, as functions: what `let y = &a * &x + &b;` is taken to be,
//! `let mut y = product(&a, &x); add(&b, &mut y);`. They allocate where nalgebra does.

use std::cell::Cell;
use std::marker::PhantomData;

use nalgebra::{DMatrix, DVector, Dim, IsContiguous, RawStorageMut, RowDVector, VecStorage};

use super::Entry;
use super::dynamic::Heap;
use crate::activation::{Activation, Frames};
use crate::function::{Args, Cotangent, Function, Gradients, Mut, Ref, Shadows, Val};
use crate::heap::HeapSize;
use crate::output::Output;
use crate::saved::Saved;
use crate::shadow::{Accumulate, Differentiable, Shadow};

/// A vector or matrix with its entries on the heap.
#[diagnostic::on_unimplemented(
    message = "this operation of `{Self}` has no rule together with vectors and matrices on the heap",
    note = "`DVector`, `DMatrix` and `RowDVector` of numbers have one"
)]
pub trait OnHeap: Differentiable + Output + Clone + Send + 'static {
    /// An entry.
    type Entry: Entry;

    /// All entries, column by column.
    fn entries(&self) -> &[Self::Entry];
    /// Likewise.
    fn entries_mut(&mut self) -> &mut [Self::Entry];
    /// The numbers of rows and columns.
    fn dimensions(&self) -> (usize, usize);
    /// All cells, column by column.
    fn cells<'a>(shadow: Self::Shadow<'a>) -> &'a [Cell<Self::Entry>];
    /// All gradients, column by column.
    fn seeds<'a>(d: Self::Cotangent<'a>) -> &'a [Self::Entry];
}

impl<T: Entry, R: Dim, C: Dim> OnHeap for Heap<T, R, C>
where
    VecStorage<T, R, C>: RawStorageMut<T, R, C> + IsContiguous + Clone + Send,
{
    type Entry = T;

    #[inline(always)]
    fn entries(&self) -> &[T] {
        self.as_slice()
    }
    #[inline(always)]
    fn entries_mut(&mut self) -> &mut [T] {
        self.as_mut_slice()
    }
    #[inline(always)]
    fn dimensions(&self) -> (usize, usize) {
        self.shape()
    }
    #[inline(always)]
    fn cells<'a>(shadow: Self::Shadow<'a>) -> &'a [Cell<T>] {
        shadow.cells
    }
    #[inline(always)]
    fn seeds<'a>(d: Self::Cotangent<'a>) -> &'a [T] {
        d.as_slice()
    }
}

/// The cells of a shadow; none, if the argument is constant.
#[inline(always)]
pub(super) fn cells<'a, M: OnHeap>(shadow: Shadow<M::Shadow<'a>>) -> &'a [Cell<M::Entry>] {
    shadow.get().map_or(&[], M::cells)
}

#[inline(always)]
fn check<M: OnHeap>(x: &M, y: &M) {
    assert_eq!(x.dimensions(), y.dimensions(), "matrices of different shapes");
}

/// A matrix that can be multiplied by `R` from the right.
#[diagnostic::on_unimplemented(
    message = "the product of `{Self}` and `{R}` has no rule",
    note = "products of `DMatrix`, `DVector` and `RowDVector` have one"
)]
pub trait Times<R: OnHeap<Entry = Self::Entry>>: OnHeap {
    /// The product.
    type Product: OnHeap<Entry = Self::Entry>;
    /// The product.
    fn times(&self, right: &R) -> Self::Product;
    /// The product, in a matrix that has its shape.
    fn times_to(&self, right: &R, product: &mut Self::Product);
}

macro_rules! times {
    ($($L:ident, $R:ident => $Y:ident;)*) => {$(
        impl<T: Entry> Times<$R<T>> for $L<T> {
            type Product = $Y<T>;
            #[inline]
            fn times(&self, right: &$R<T>) -> $Y<T> {
                self * right
            }
            #[inline]
            fn times_to(&self, right: &$R<T>, product: &mut $Y<T>) {
                self.mul_to(right, product);
            }
        }
    )*};
}
times! {
    DMatrix, DMatrix => DMatrix;
    DMatrix, DVector => DVector;
    RowDVector, DMatrix => RowDVector;
    DVector, RowDVector => DMatrix;
}

/// A function for what an operator does, and the type of the same name that has its rule.
macro_rules! function {
    (
        $(#[$doc:meta])*
        $name:ident<$($G:ident: ($($bound:tt)*)),*>($($arg:ident: $mode:ty as $ty:ty),*) $(-> $Y:ty)?; by $Rule:ty {
            $primal:expr
        }
    ) => {
        $(#[$doc])*
        pub fn $name<'a, $($G: $($bound)*),*>($($arg: $ty),*) $(-> $Y)? {
            $primal
        }

        $(#[$doc])*
        #[allow(non_camel_case_types)]
        pub struct $name<$($G),*> {
            marker: PhantomData<fn() -> ($($G,)*)>,
        }

        impl<$($G: $($bound)*),*> Function for $name<$($G),*> {
            type Parameters = ($($mode,)*);
            type Output = function!(@output $($Y)?);
            const NAME: &'static str = stringify!($name);

            fn primal(($($arg,)*): Args<'_, Self>) -> Self::Output {
                $name($($arg),*)
            }
        }

        impl<$($G: $($bound)*),*> $name<$($G),*> {
            /// The arguments of a call.
            #[inline(always)]
            pub fn args<'a>($($arg: $ty),*) -> Args<'a, Self> {
                ($($arg,)*)
            }
            /// The rule.
            pub fn rule() -> Frames<$Rule> {
                Frames::default()
            }
        }
    };
    (@output) => { () };
    (@output $Y:ty) => { $Y };
}

/// Nothing is kept for the pullback of `F`.
pub struct Stateless<F>(PhantomData<fn() -> F>);

impl<F> Default for Stateless<F> {
    fn default() -> Self {
        Stateless(PhantomData)
    }
}

/// What `F` overwrites, kept to bring it back, or since the gradient with respect to the first argument reads it.
pub struct Overwriting<F, T> {
    old: Saved<T>,
    /// The first argument is constant.
    constant: bool,
    marker: PhantomData<fn() -> F>,
}

impl<F, T> Default for Overwriting<F, T> {
    fn default() -> Self {
        Overwriting { old: Saved::default(), constant: false, marker: PhantomData }
    }
}

function! {
    /// `&a * &b`: *Ȧ = Ẏ·Bᵀ, Ḃ = Aᵀ·Ẏ*
    product<L: (Times<R>), R: (OnHeap<Entry = L::Entry>)>(a: Ref<L> as &'a L, b: Ref<R> as &'a R) -> L::Product;
    by Stateless<Self> {
        a.times(b)
    }
}

impl<L: Times<R>, R: OnHeap<Entry = L::Entry>> Activation for Stateless<product<L, R>> {
    type Function = product<L, R>;

    fn forward(&mut self, (a, b): Args<'_, Self::Function>) -> L::Product {
        a.times(b)
    }
    fn pullback<'a>(
        &mut self,
        (a, b): Args<'a, Self::Function>,
        (da, db): Shadows<'a, Self::Function>,
        d: Cotangent<'_, Self::Function>,
    ) -> Gradients<Self::Function> {
        pull_product(a, b, L::Product::seeds(d), da, db);
        ((), ())
    }
}

/// *Ȧ += Ẏ·Bᵀ, Ḃ += Aᵀ·Ẏ*, `d` being *Ẏ*.
pub(super) fn pull_product<L: OnHeap, R: OnHeap<Entry = L::Entry>>(
    a: &L,
    b: &R,
    d: &[impl Entries<L::Entry>],
    da: Shadow<L::Shadow<'_>>,
    db: Shadow<R::Shadow<'_>>,
) {
    let ((m, k), (_, n)) = (a.dimensions(), b.dimensions());
    let (a, b) = (a.entries(), b.entries());
    if m == 0 || k == 0 {
        return;
    }
    // Column by column of Ȧ, each the sum of columns of Ẏ.
    for (l, da) in cells::<L>(da).chunks_exact(m).enumerate() {
        for j in 0..n {
            let factor = b[l + j * k];
            da.iter().zip(&d[j * m..]).for_each(|(da, d)| da.set(da.get() + d.entry() * factor));
        }
    }
    // Column by column of Ḃ, each entry the product of columns of A and Ẏ.
    for (j, db) in cells::<R>(db).chunks_exact(k).enumerate() {
        for (db, a) in db.iter().zip(a.chunks_exact(m)) {
            db.accumulate(inner(a, &d[j * m..(j + 1) * m]));
        }
    }
}

/// A number, or the cell of one.
pub(super) trait Entries<T> {
    /// The number.
    fn entry(&self) -> T;
}

impl<T: Entry> Entries<T> for T {
    #[inline(always)]
    fn entry(&self) -> T {
        *self
    }
}

impl<T: Entry> Entries<T> for Cell<T> {
    #[inline(always)]
    fn entry(&self) -> T {
        self.get()
    }
}

/// ⟨x, y⟩ in eight sums, which the processor computes at once.
pub(super) fn inner<T: Entry>(x: &[T], y: &[impl Entries<T>]) -> T {
    let mut sums = [nalgebra::zero::<T>(); 8];
    let (xs, ys) = (x.chunks_exact(8), y.chunks_exact(8));
    let rest = xs.remainder().iter().zip(ys.remainder());
    let rest = rest.fold(nalgebra::zero(), |sum: T, (&x, y)| sum + x * y.entry());
    for (x, y) in xs.zip(ys) {
        for i in 0..8 {
            sums[i] += x[i] * y[i].entry();
        }
    }
    sums.into_iter().fold(rest, |sum, part| sum + part)
}

function! {
    /// A copy: *Ẋ = Ẏ*
    copy<M: (OnHeap)>(x: Ref<M> as &'a M) -> M; by Stateless<Self> {
        x.clone()
    }
}

impl<M: OnHeap> Activation for Stateless<copy<M>> {
    type Function = copy<M>;

    fn forward(&mut self, (x,): Args<'_, Self::Function>) -> M {
        x.clone()
    }
    fn pullback<'a>(
        &mut self,
        _: Args<'a, Self::Function>,
        (dx,): Shadows<'a, Self::Function>,
        d: Cotangent<'_, Self::Function>,
    ) -> Gradients<Self::Function> {
        cells::<M>(dx).iter().zip(M::seeds(d)).for_each(|(dx, &d)| dx.accumulate(d));
        ((),)
    }
}

/// The rules of what changes `y` entry by entry, together with another matrix `x`.
macro_rules! with_matrix {
    ($(
        $(#[$doc:meta])*
        $name:ident: |$y:ident, $x:ident| $value:expr; $(reads $old:ident;)? |$d:ident| to_x: $to_x:expr, to_y: $to_y:expr;
    )*) => {$(
        function! {
            $(#[$doc])*
            $name<M: (OnHeap)>(x: Ref<M> as &'a M, y: Mut<M> as &'a mut M); by Overwriting<Self, M::Entry> {
                {
                    check(x, y);
                    y.entries_mut().iter_mut().zip(x.entries()).for_each(|(y, &$x)| { let $y = *y; *y = $value; });
                }
            }
        }

        impl<M: OnHeap> Activation for Overwriting<$name<M>, M::Entry> {
            type Function = $name<M>;

            fn heap_size(&self) -> usize {
                self.old.heap_size()
            }
            fn forward(&mut self, (x, y): Args<'_, Self::Function>) {
                check(x, y);
                with_matrix!(@save self y $($old)?);
                $name(x, y);
            }
            #[allow(unused_variables)]
            fn pullback<'a>(
                &mut self,
                (x, y): Args<'a, Self::Function>,
                (dx, dy): Shadows<'a, Self::Function>,
                (): (),
            ) -> Gradients<Self::Function> {
                self.old.restore(y.entries_mut());
                let (dx, dy) = (cells::<M>(dx), cells::<M>(dy));
                let (x, y) = (x.entries(), y.entries());
                for (i, dy) in dy.iter().enumerate() {
                    let ($d, $x) = (dy.get(), x[i]);
                    $(let $old = y[i];)?
                    if let Some(dx) = dx.get(i) {
                        dx.accumulate($to_x);
                    }
                    dy.set($to_y);
                }
                ((), ())
            }
            fn forgo(&mut self, parameter: usize) {
                if parameter == 1 {
                    self.old.forgo();
                }
            }
        }
    )*};
    (@save $self:ident $y:ident) => { $self.old.save_to_restore($y.entries()) };
    (@save $self:ident $y:ident $old:ident) => { $self.old.save($y.entries()) };
}

with_matrix! {
    /// *y += x: ẋ = ẏ*
    add: |y, x| y + x; |d| to_x: d, to_y: d;
    /// *y -= x: ẋ = -ẏ*
    subtract: |y, x| y - x; |d| to_x: -d, to_y: d;
    /// *yᵢ = yᵢ·xᵢ: ẋᵢ = ẏᵢ·yᵢ*
    multiply_entries: |y, x| y * x; reads old; |d| to_x: d * old, to_y: d * x;
    /// *yᵢ = yᵢ/xᵢ: ẋᵢ = -ẏᵢ·yᵢ/xᵢ²*
    divide_entries: |y, x| y / x; reads old; |d| to_x: -d * (old / x) / x, to_y: d / x;
}

/// Likewise, together with a number `s`.
macro_rules! with_number {
    ($(
        $(#[$doc:meta])*
        $name:ident: |$y:ident, $s:ident| $value:expr; |$d:ident| to_s: $to_s:expr, to_y: $to_y:expr;
    )*) => {$(
        function! {
            $(#[$doc])*
            $name<M: (OnHeap)>(s: Val<M::Entry> as M::Entry, y: Mut<M> as &'a mut M); by Overwriting<Self, M::Entry> {
                {
                    let $s = s;
                    y.entries_mut().iter_mut().for_each(|y| { let $y = *y; *y = $value; });
                }
            }
        }

        impl<M: OnHeap> Activation for Overwriting<$name<M>, M::Entry> {
            type Function = $name<M>;

            fn heap_size(&self) -> usize {
                self.old.heap_size()
            }
            fn forward(&mut self, (s, y): Args<'_, Self::Function>) {
                if self.constant {
                    self.old.save_to_restore(y.entries());
                } else {
                    self.old.save(y.entries());
                }
                $name(s, y);
            }
            #[allow(unused_variables)]
            fn pullback<'a>(
                &mut self,
                ($s, y): Args<'a, Self::Function>,
                (_, dy): Shadows<'a, Self::Function>,
                (): (),
            ) -> Gradients<Self::Function> {
                self.old.restore(y.entries_mut());
                let mut total: M::Entry = nalgebra::zero();
                for (dy, &$y) in cells::<M>(dy).iter().zip(y.entries()) {
                    let $d = dy.get();
                    total += $to_s;
                    dy.set($to_y);
                }
                (total, ())
            }
            fn forgo(&mut self, parameter: usize) {
                match parameter {
                    0 => self.constant = true,
                    _ => self.old.forgo(),
                }
            }
        }
    )*};
}

with_number! {
    /// *y ← s·y: ṡ = ⟨y, ẏ⟩*
    scale: |y, s| y * s; |d| to_s: d * y, to_y: d * s;
    /// *y ← y/s: ṡ = -⟨y/s, ẏ⟩/s*
    divide: |y, s| y / s; |d| to_s: -d * (y / s) / s, to_y: d / s;
    /// *yᵢ += s: ṡ = Σ ẏᵢ*
    add_number: |y, s| y + s; |d| to_s: d, to_y: d;
}

function! {
    /// *y ← -y*, which undoes itself.
    negate<M: (OnHeap)>(y: Mut<M> as &'a mut M); by Stateless<Self> {
        y.entries_mut().iter_mut().for_each(|y| *y = -*y)
    }
}

impl<M: OnHeap> Activation for Stateless<negate<M>> {
    type Function = negate<M>;

    fn forward(&mut self, (y,): Args<'_, Self::Function>) {
        negate(y);
    }
    fn pullback<'a>(
        &mut self,
        (y,): Args<'a, Self::Function>,
        (dy,): Shadows<'a, Self::Function>,
        (): (),
    ) -> Gradients<Self::Function> {
        negate(y);
        cells::<M>(dy).iter().for_each(|dy| dy.set(-dy.get()));
        ((),)
    }
}

/// A matrix that has a transpose on the heap.
pub trait Transposable: OnHeap {
    /// The transpose.
    type Transposed: OnHeap<Entry = Self::Entry>;
    /// The transpose.
    fn transposed(&self) -> Self::Transposed;
}

macro_rules! transposable {
    ($($M:ident => $Y:ident;)*) => {$(
        impl<T: Entry> Transposable for $M<T> {
            type Transposed = $Y<T>;
            fn transposed(&self) -> $Y<T> {
                self.transpose()
            }
        }
    )*};
}
transposable! {
    DMatrix => DMatrix;
    DVector => RowDVector;
    RowDVector => DVector;
}

function! {
    /// *Y = Aᵀ: Ȧ = Ẏᵀ*
    transpose<M: (Transposable)>(a: Ref<M> as &'a M) -> M::Transposed; by Stateless<Self> {
        a.transposed()
    }
}

impl<M: Transposable> Activation for Stateless<transpose<M>> {
    type Function = transpose<M>;

    fn forward(&mut self, (a,): Args<'_, Self::Function>) -> M::Transposed {
        a.transposed()
    }
    fn pullback<'a>(
        &mut self,
        (a,): Args<'a, Self::Function>,
        (da,): Shadows<'a, Self::Function>,
        d: Cotangent<'_, Self::Function>,
    ) -> Gradients<Self::Function> {
        let ((rows, columns), d) = (a.dimensions(), M::Transposed::seeds(d));
        for (k, da) in cells::<M>(da).iter().enumerate() {
            da.accumulate(d[k / rows + k % rows * columns]);
        }
        ((),)
    }
}
