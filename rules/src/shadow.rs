//! Data behind references and the shadow that goes with it.
//!
//! The shadow of `&T` and of `&mut T` is a *shared view over cells* of the same shape. A program may hold many shared
//! references to one object, and each of them may contribute to its gradient: `dot(&x, &x)`, overlapping sub-slices.
//! Cells make that sound without a run-time check, and cost nothing after optimisation.

use std::any::Any;
use std::cell::Cell;
use std::mem::offset_of;

use ndarray::{Array, ArrayBase, ArrayRef, ArrayView, Data, Dimension, MathCell};

use crate::float::Scalar;
use crate::function::for_tuples;
use crate::heap::HeapSize;
use crate::lengths::Extent;
use crate::rows::row;
use crate::tangent::{Tangent, Value};

/// A type whose references a differentiable function may take: it says what the shadow of a reference looks like and
/// where a gradient object keeps it.
#[diagnostic::on_unimplemented(
    message = "a reference to `{Self}` carries no gradient",
    label = "no shadow is defined for this type",
    note = "by reference: f32, f64, slices, arrays, `Vec`, and ndarray's `Array`, `ArrayView` and `ArrayRef` of these, and \
            structs with `#[derive(Differentiable)]`",
    note = "a box that a call has returned, or that is taken from a field, has its type, `let tree: Option<Box<Node>> = build(xs);`, and is passed on \
            as `&tree`; a function returns the `Node` rather than a `Box<Node>`",
    note = "of a tuple that a call has returned a pattern names all parts, `let (x, n) = solve(&a);`",
    note = "mark the parameter `#[constant]` if no gradient with respect to it is wanted"
)]
pub trait Differentiable {
    /// A view over cells of the shape of `Self`, covariant in `'a`.
    type Shadow<'a>: Copy + 'a;
    /// Owned storage for a gradient.
    type Gradient: Send + 'static;
    /// How the gradient is shown to the user.
    type View<'a>;

    /// Storage that holds nothing yet.
    fn empty() -> Self::Gradient;
    /// Gives `gradient` the shape of `self` and fills it with zeros. Allocates only when it has to grow.
    fn prepare(&self, gradient: &mut Self::Gradient);
    /// The same with memory from the `stock`, a `Vec` of gradients of one type, for those of what is in boxes that are of that type.
    #[doc(hidden)]
    #[inline]
    fn prepare_from(&self, gradient: &mut Self::Gradient, _stock: &mut dyn Any) {
        self.prepare(gradient);
    }
    /// Hands such gradients over to the `stock`.
    #[doc(hidden)]
    #[inline]
    fn release(_gradient: &mut Self::Gradient, _stock: &mut dyn Any) {}
    /// The same, for a gradient that is overwritten: what is in it does not matter.
    fn prepare_to_overwrite(&self, gradient: &mut Self::Gradient) {
        self.prepare(gradient);
    }
    /// The cells of `gradient`.
    fn shadow(gradient: &mut Self::Gradient) -> Self::Shadow<'_>;
    /// `shadow`, which has the shape of `self`, in a form that tells the optimiser so.
    ///
    /// # Panics
    /// If the shapes differ.
    #[inline(always)]
    fn align<'a>(&self, shadow: Self::Shadow<'a>) -> Self::Shadow<'a> {
        shadow
    }
    /// The same shadow for a shorter time, which the compiler does not see where `Self` is a type parameter.
    fn shortened<'a, 's: 'a>(shadow: Self::Shadow<'s>) -> Self::Shadow<'a>;
    /// Whether there may be vectors in it, whose lengths change.
    #[doc(hidden)]
    const RESIZES: bool = true;
    /// Gives the gradients of vectors in `self` other lengths, and keeps what is in them; what is added are zeros. Where there are vectors, they
    /// have gradients of the length or of the capacity of each.
    #[doc(hidden)]
    fn fit(&self, gradient: &mut Self::Gradient, to: Extent);
    /// The capacity of the largest vector in it.
    #[doc(hidden)]
    #[inline]
    fn largest(&self) -> usize {
        0
    }
    /// Whether `new` may take its place behind a reference: the shadow, which has the shape of what is there in the end, has to be one of both.
    #[doc(hidden)]
    #[inline]
    fn makes_way(&self, _new: &Self) -> bool {
        true
    }
    /// Moves what is in the cells to `gradient`, which has the shape of a value whose shadow has room for it at least: the cells are zero
    /// afterwards.
    #[doc(hidden)]
    fn take_shadow(shadow: Self::Shadow<'_>, gradient: &mut Self::Gradient);
    /// Gives the vectors in `copy`, which is a copy of `self`, the capacities of those in `self` at least.
    #[doc(hidden)]
    #[inline]
    fn reserve_as(&self, _copy: &mut Self) {}
    /// What the user sees of `gradient`.
    fn view(gradient: &Self::Gradient) -> Self::View<'_>;
    /// How many bytes of the heap `gradient` owns.
    fn gradient_size(gradient: &Self::Gradient) -> usize;
    /// Exchanges two values, each of which keeps its memory where that is possible.
    #[inline]
    fn exchange_contents(&mut self, other: &mut Self)
    where
        Self: Sized,
    {
        std::mem::swap(self, other);
    }
    /// How many bytes of the heap a gradient needs to take the shape of `self`, if these are flat arrays.
    #[inline]
    fn gradient_need(&self) -> Option<usize> {
        None
    }
    /// Sets `gradient`, already of the right shape, to `seed`.
    ///
    /// # Panics
    /// If the shapes differ.
    fn seed(gradient: &mut Self::Gradient, seed: Self::View<'_>);
    /// Sets `gradient`, of whatever shape, to `other`. Allocates only when it has to grow.
    fn copy_gradient(gradient: &mut Self::Gradient, other: Self::View<'_>);
}

/// What the engine passes for a reference: its shadow, or nothing where the argument is constant, so that a rule can
/// leave out the work.
#[derive(Clone, Copy, Debug)]
pub struct Shadow<V>(Option<V>);

impl<V> Default for Shadow<V> {
    /// The shadow of a constant.
    #[inline(always)]
    fn default() -> Self {
        Shadow(None)
    }
}

impl<V: Copy> Shadow<V> {
    /// The shadow of an active reference.
    #[inline(always)]
    pub fn new(view: V) -> Self {
        Shadow(Some(view))
    }

    /// The view, unless the argument is constant.
    #[inline(always)]
    pub fn get(self) -> Option<V> {
        self.0
    }

    /// The shadow of a part: the same projection as the primal's.
    #[inline(always)]
    pub fn map<W>(self, project: impl FnOnce(V) -> W) -> Shadow<W> {
        Shadow(self.0.map(project))
    }

    /// The shadow of a part, as [`map`](Shadow::map), where the view itself may hold the part: a field of a struct of views.
    #[inline(always)]
    pub fn part<'s, W: ?Sized>(&'s self, project: impl FnOnce(&'s V) -> &'s W) -> Shadow<&'s W> {
        Shadow(self.0.as_ref().map(project))
    }

    /// The shadow of a view, such as a row of a matrix: the same view of the cells.
    #[inline(always)]
    pub fn project<'s, W>(&'s self, project: impl FnOnce(&'s V) -> W) -> Shadow<W> {
        Shadow(self.0.as_ref().map(project))
    }

    /// The shadow of a part, where it is found by what tells of shadows themselves.
    #[inline(always)]
    pub fn select<'s, W>(&'s self, select: impl FnOnce(&'s V) -> Shadow<W>) -> Shadow<W> {
        match &self.0 {
            Some(view) => select(view),
            None => Shadow(None),
        }
    }

    /// Adds `gradient` to the element that `place` selects.
    #[inline(always)]
    pub fn accumulate<C: Accumulate>(self, place: impl FnOnce(&V) -> &C, gradient: C::Tangent) {
        if let Some(view) = self.0 {
            place(&view).accumulate(gradient);
        }
    }

    /// Empties the element that `place` selects and returns what it held: zero, if the argument is constant.
    #[inline(always)]
    pub fn take<C: Accumulate>(self, place: impl FnOnce(&V) -> &C) -> C::Tangent {
        match self.0 {
            Some(view) => place(&view).take(),
            None => C::Tangent::zero(),
        }
    }

    /// What the element that `place` selects holds: zero, if the argument is constant.
    #[inline(always)]
    pub fn read<C: Accumulate>(self, place: impl FnOnce(&V) -> &C) -> C::Tangent {
        match self.0 {
            Some(view) => place(&view).read(),
            None => C::Tangent::zero(),
        }
    }
}

impl<C> Shadow<&[C]> {
    /// The shadow of `primal`, of which it has the length.
    ///
    /// # Panics
    /// If it is shorter.
    #[inline(always)]
    pub fn as_long_as<T>(self, primal: &[T]) -> Self {
        self.map(|cells| &cells[..primal.len()])
    }
}

/// In the place of a shadow, for an argument that has none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ignored;

impl<V> From<Shadow<V>> for Ignored {
    /// An active argument for a `#[constant]` parameter: its gradient ends here.
    #[inline(always)]
    fn from(_: Shadow<V>) -> Self {
        Ignored
    }
}

impl<'a, C, const N: usize> From<Shadow<&'a [C; N]>> for Shadow<&'a [C]> {
    #[inline(always)]
    fn from(shadow: Shadow<&'a [C; N]>) -> Self {
        Shadow(shadow.0.map(|cells| &cells[..]))
    }
}

impl<'a, T> From<Shadow<&'a MathCell<T>>> for Shadow<&'a Cell<T>> {
    /// An element of ndarray's as a number.
    #[inline(always)]
    fn from(shadow: Shadow<&'a MathCell<T>>) -> Self {
        Shadow(shadow.0.map(|cell| &**cell))
    }
}

impl<'a, T: Element> From<&'a mut [T]> for Shadow<&'a [T::Cells]> {
    /// A gradient that the author of a rule keeps.
    #[inline(always)]
    fn from(gradient: &'a mut [T]) -> Self {
        Shadow::new(slice_cells(gradient))
    }
}

impl<'s, V: Copy> From<Shadow<&'s V>> for Shadow<V> {
    /// A part of a struct of views.
    #[inline(always)]
    fn from(shadow: Shadow<&'s V>) -> Self {
        Shadow(shadow.0.copied())
    }
}

impl<'s, 'a, V: Copy> From<Shadow<&'s &'a [V]>> for Shadow<V> {
    /// That of what is in a box which may be missing, `left.as_deref()`: a slice of one or of none.
    #[inline(always)]
    fn from(shadow: Shadow<&'s &'a [V]>) -> Self {
        Shadow(shadow.0.and_then(|held| held.first().copied()))
    }
}

impl<'s, C> From<Shadow<&'s ()>> for Shadow<&'s [C]> {
    /// That of what carries no gradient.
    #[inline(always)]
    fn from(_: Shadow<&'s ()>) -> Self {
        Shadow(None)
    }
}

/// What the shadow of a reference to a struct or an enum with `#[derive(Differentiable)]` shows.
pub trait OfStruct {}

impl<'s, S: OfStruct> From<Shadow<&'s ()>> for Shadow<S> {
    /// That of a `#[constant]` field, handed to a method of its type.
    #[inline(always)]
    fn from(_: Shadow<&'s ()>) -> Self {
        Shadow(None)
    }
}

impl<'s, 'a: 's, C, const N: usize> From<Shadow<&'s &'a [C; N]>> for Shadow<&'s [C]> {
    #[inline(always)]
    fn from(shadow: Shadow<&'s &'a [C; N]>) -> Self {
        Shadow(shadow.0.map(|cells| &cells[..]))
    }
}

#[diagnostic::on_unimplemented(
    message = "a gradient cannot be added to a whole `{Self}`",
    note = "a reference or an array in a field is passed on by a reference of its own: `&data.x[..]`, `&model.layers[i]`",
    note = "a vector that a call has returned, and that a field gets, is bound with its type before: `let (w, k): (Vec<f64>, f64) = f(x);`",
    note = "an array of ndarray's in a field, of which nothing else tells that it is one, is changed by a name with its type: `let a: &mut Array1<f64> = &mut s.a; *a *= k;`"
)]
/// A place of a shadow: one cell, or an array or struct of them.
pub trait Accumulate {
    /// What the place holds.
    type Tangent: Tangent;
    /// The place += `gradient`.
    fn accumulate(&self, gradient: Self::Tangent);
    /// What the place holds.
    fn read(&self) -> Self::Tangent;
    /// What the place held; it is zero afterwards.
    fn take(&self) -> Self::Tangent;
    /// The place = `gradient`.
    #[inline(always)]
    fn set(&self, gradient: Self::Tangent) {
        self.take();
        self.accumulate(gradient);
    }
}

impl<T: Tangent> Accumulate for Cell<T> {
    type Tangent = T;
    #[inline(always)]
    fn accumulate(&self, gradient: T) {
        let mut total = self.get();
        total.accumulate(gradient);
        self.set(total);
    }
    #[inline(always)]
    fn read(&self) -> T {
        self.get()
    }
    #[inline(always)]
    fn take(&self) -> T {
        self.replace(T::zero())
    }
    #[inline(always)]
    fn set(&self, gradient: T) {
        Cell::set(self, gradient);
    }
}

impl<T: Tangent> Accumulate for MathCell<T> {
    type Tangent = T;
    #[inline(always)]
    fn accumulate(&self, gradient: T) {
        Cell::accumulate(self, gradient);
    }
    #[inline(always)]
    fn read(&self) -> T {
        self.get()
    }
    #[inline(always)]
    fn take(&self) -> T {
        self.replace(T::zero())
    }
}

impl<C: Accumulate, const N: usize> Accumulate for [C; N] {
    type Tangent = [C::Tangent; N];
    #[inline(always)]
    fn accumulate(&self, gradient: Self::Tangent) {
        for (cell, gradient) in self.iter().zip(gradient) {
            cell.accumulate(gradient);
        }
    }
    #[inline(always)]
    fn read(&self) -> Self::Tangent {
        std::array::from_fn(|i| self[i].read())
    }
    #[inline(always)]
    fn take(&self) -> Self::Tangent {
        std::array::from_fn(|i| self[i].take())
    }
}

#[diagnostic::do_not_recommend]
impl<C: Accumulate + ?Sized> Accumulate for &C {
    type Tangent = C::Tangent;
    #[inline(always)]
    fn accumulate(&self, gradient: C::Tangent) {
        C::accumulate(self, gradient);
    }
    #[inline(always)]
    fn read(&self) -> C::Tangent {
        C::read(self)
    }
    #[inline(always)]
    fn take(&self) -> C::Tangent {
        C::take(self)
    }
}

/// A gradient as it is stored in slices: a scalar, or an array, a tuple or a struct of such. It is its own tangent.
///
/// # Safety
/// If `LAYOUT` compiles, `Cells` has the layout of `Self` and consists of `Cell`s alone, so that unique access to a `Self`
/// may be turned into shared access to a `Cells`.
pub unsafe trait Element: Tangent + Value<Tangent = Self> {
    /// `Self` with a cell around each scalar.
    type Cells: Accumulate<Tangent = Self>;
    /// Fails to compile where the layouts differ. To be evaluated by whoever relies on them.
    #[doc(hidden)]
    const LAYOUT: () = ();
}

// SAFETY: `Cell<T>` is `repr(transparent)`, and `T` is plain data.
unsafe impl<T: Scalar> Element for T {
    type Cells = Cell<T>;
}

// SAFETY: an array has the layout of its elements in a row.
unsafe impl<T: Element, const N: usize> Element for [T; N] {
    type Cells = [T::Cells; N];
    const LAYOUT: () = T::LAYOUT;
}

macro_rules! tuple {
    ($($T:ident $i:tt),*) => {
        impl<$($T: Accumulate),*> Accumulate for ($($T,)*) {
            type Tangent = ($($T::Tangent,)*);
            #[inline(always)]
            fn accumulate(&self, _gradient: Self::Tangent) {
                $(self.$i.accumulate(_gradient.$i);)*
            }
            #[inline(always)]
            #[allow(clippy::unused_unit, reason = "the empty tuple")]
            fn read(&self) -> Self::Tangent {
                ($(self.$i.read(),)*)
            }
            #[inline(always)]
            #[allow(clippy::unused_unit, reason = "the empty tuple")]
            fn take(&self) -> Self::Tangent {
                ($(self.$i.take(),)*)
            }
        }
        // SAFETY: the language does not promise that a tuple of cells is laid out like the tuple; `LAYOUT` makes sure.
        unsafe impl<$($T: Element),*> Element for ($($T,)*) {
            type Cells = ($($T::Cells,)*);
            const LAYOUT: () = {
                $(let () = $T::LAYOUT;)*
                assert!(size_of::<Self>() == size_of::<Self::Cells>());
                assert!(align_of::<Self>() == align_of::<Self::Cells>());
                $(assert!(offset_of!(Self, $i) == offset_of!(Self::Cells, $i));)*
            };
        }
    };
}
for_tuples!(tuple);

/// The cells of one element.
#[inline(always)]
pub fn cells<T: Element>(element: &mut T) -> &T::Cells {
    const { T::LAYOUT }
    // SAFETY: the contract of `Element`; the unique borrow lasts as long as the shared one.
    unsafe { &*std::ptr::from_mut(element).cast::<T::Cells>() }
}

/// The cells of a slice.
#[inline(always)]
pub fn slice_cells<T: Element>(slice: &mut [T]) -> &[T::Cells] {
    const { T::LAYOUT }
    // SAFETY: the contract of `Element`; the unique borrow lasts as long as the shared one.
    unsafe { &*(std::ptr::from_mut(slice) as *const [T::Cells]) }
}

impl<T: Value<Tangent: Element>> Differentiable for T {
    type Shadow<'a> = &'a <T::Tangent as Element>::Cells;
    type Gradient = T::Tangent;
    type View<'a> = T::Tangent;
    const RESIZES: bool = false;

    #[inline]
    fn empty() -> T::Tangent {
        T::Tangent::zero()
    }
    #[inline]
    fn prepare(&self, gradient: &mut T::Tangent) {
        *gradient = T::Tangent::zero();
    }
    #[inline]
    fn prepare_to_overwrite(&self, _gradient: &mut T::Tangent) {}
    #[inline]
    fn shadow(gradient: &mut T::Tangent) -> &<T::Tangent as Element>::Cells {
        cells(gradient)
    }
    #[inline(always)]
    fn shortened<'a, 's: 'a>(shadow: Self::Shadow<'s>) -> Self::Shadow<'a> {
        shadow
    }
    #[inline(always)]
    fn fit(&self, _gradient: &mut T::Tangent, _to: Extent) {}
    #[inline(always)]
    fn take_shadow(shadow: Self::Shadow<'_>, gradient: &mut T::Tangent) {
        *gradient = shadow.take();
    }
    #[inline]
    fn view(gradient: &T::Tangent) -> T::Tangent {
        *gradient
    }
    #[inline]
    fn gradient_size(_gradient: &T::Tangent) -> usize {
        0
    }
    #[inline]
    fn gradient_need(&self) -> Option<usize> {
        Some(0)
    }
    #[inline]
    fn seed(gradient: &mut T::Tangent, seed: T::Tangent) {
        *gradient = seed;
    }
    #[inline]
    fn copy_gradient(gradient: &mut T::Tangent, other: T::Tangent) {
        *gradient = other;
    }
}

/// Brings `gradient` to `len` zeros.
pub(crate) fn zeros<T: Tangent>(gradient: &mut Vec<T>, len: usize) {
    if gradient.len() == len {
        gradient.fill(T::zero());
    } else {
        gradient.clear();
        gradient.resize(len, T::zero());
    }
}

/// The shadow of an ndarray array, whatever owns its elements.
pub type ArrayCells<'a, T, D> = ArrayView<'a, MathCell<T>, D>;

macro_rules! ndarray {
    ([$($generics:tt)*] $t:ty) => {
        impl<$($generics)*> Differentiable for $t {
            type Shadow<'a> = ArrayCells<'a, T, D>;
            type Gradient = Array<T, D>;
            type View<'a> = &'a Array<T, D>;
            const RESIZES: bool = false;

            fn empty() -> Array<T, D> {
                // An array without dimensions has an element even so.
                let (shape, mut elements) = (D::zeros(D::NDIM.unwrap_or(0)), Vec::new());
                zeros(&mut elements, shape.size());
                Array::from_shape_vec(shape, elements).expect("no elements, or one")
            }
            fn prepare(&self, gradient: &mut Array<T, D>) {
                if gradient.raw_dim() == self.raw_dim() {
                    gradient.fill(T::zero());
                } else {
                    let (mut elements, _) = std::mem::replace(gradient, Self::empty()).into_raw_vec_and_offset();
                    zeros(&mut elements, self.len());
                    *gradient =
                        Array::from_shape_vec(self.raw_dim(), elements).expect("as many as the shape asks for");
                }
            }
            fn prepare_to_overwrite(&self, gradient: &mut Array<T, D>) {
                if gradient.raw_dim() != self.raw_dim() {
                    self.prepare(gradient);
                }
            }
            #[inline]
            fn shadow(gradient: &mut Array<T, D>) -> ArrayCells<'_, T, D> {
                gradient.cell_view()
            }
            #[inline(always)]
            fn shortened<'a, 's: 'a>(shadow: Self::Shadow<'s>) -> Self::Shadow<'a> {
                shadow
            }
            #[inline(always)]
            fn align<'a>(&self, shadow: Self::Shadow<'a>) -> Self::Shadow<'a> {
                assert!(shadow.raw_dim() == self.raw_dim(), "a shadow has the shape of its array");
                shadow
            }
            #[inline(always)]
            fn fit(&self, _gradient: &mut Array<T, D>, _to: Extent) {}
            fn makes_way(&self, new: &Self) -> bool {
                self.raw_dim() == new.raw_dim()
            }
            fn take_shadow(shadow: Self::Shadow<'_>, gradient: &mut Array<T, D>) {
                gradient.zip_mut_with(&shadow, |d, cell| *d = cell.take());
            }
            #[inline]
            fn view(gradient: &Array<T, D>) -> &Array<T, D> {
                gradient
            }
            fn gradient_size(gradient: &Array<T, D>) -> usize {
                gradient.heap_size()
            }
            fn gradient_need(&self) -> Option<usize> {
                Some(self.len() * size_of::<T>())
            }
            fn seed(gradient: &mut Array<T, D>, seed: &Array<T, D>) {
                assert_eq!(gradient.shape(), seed.shape(), "the seed has another shape than the argument");
                gradient.assign(seed);
            }
            fn copy_gradient(gradient: &mut Array<T, D>, other: &Array<T, D>) {
                Differentiable::prepare(other, gradient);
                gradient.assign(other);
            }
        }
    };
}
ndarray!([T: Element, D: Dimension + Copy + 'static] ArrayRef<T, D>);
ndarray!([T: Element, S: Data<Elem = T>, D: Dimension + Copy + 'static] ArrayBase<S, D>);
row!([T: Element, S: Data<Elem = T> + 'static, D: Dimension + Copy + 'static] ArrayBase<S, D>);
