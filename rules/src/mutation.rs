//! Rules of the methods that write to slices and arrays without changing their length.
//!
//! `x.fill(v)` is differentiated as the call of a function of that name in here. What is written stands last among the
//! parameters, so that the other arguments are evaluated before it is borrowed. A function comes as in derived code: a
//! type of its name with `args` and `rule`.

use std::any::Any;
use std::marker::PhantomData;

use ndarray::{Array, ArrayRef, Dimension};

use crate::activation::{Activation, Frames};
use crate::exchange::{Exchange, ExchangeItems};
use crate::function::{Args, ConstVal, Cotangent, Function, Gradients, Mut, Ref, Shadows, Val};
use crate::heap::HeapSize;
use crate::lengths::Lengths;
use crate::output::Output;
use crate::owning::Owning;
use crate::permutation::{Exchanged, Reverse, RotateLeft, RotateRight, Swap, SwapWithSlice};
use crate::rows::Item;
use crate::saved::{Contents, Saved};
use crate::shadow::{Accumulate, Differentiable, Element};
use crate::tangent::{Tangent, Value};

/// Data that is copied, such as numbers and plain structs.
#[diagnostic::on_unimplemented(
    message = "`{Self}` owns memory, or is not `Copy`, and is replaced here as if it were a number",
    note = "behind a reference what owns memory changes places with something of its shape: `std::mem::swap(&mut s.x, &mut new)`",
    note = "otherwise bind what is taken with its type: `let v: Vec<f64> = std::mem::take(&mut s.x);`, `let next: Option<Box<Cell>> = cell.next.take();`"
)]
pub trait Plain: Value<Tangent: Element> + Copy + Send + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Value<Tangent: Element> + Copy + Send + 'static> Plain for T {}

/// Data that is cloned: the same of structs that are not `Copy`.
pub trait PlainClone: Value<Tangent: Element> + Clone + Send + 'static {}

impl<T: Value<Tangent: Element> + Clone + Send + 'static> PlainClone for T {}

/// What [`fill`] fills.
#[diagnostic::on_unimplemented(
    message = "`fill` of `{Self}` has no rule",
    note = "slices, arrays, `Vec` and ndarray's arrays of numbers have one; write a loop for others"
)]
pub trait Fill: Differentiable {
    /// An element.
    type Element: Element;
    /// The type of what holds the elements, without its owner.
    type Contents: Contents<Element = Self::Element> + ?Sized;

    /// The elements.
    fn contents(&mut self) -> &mut Self::Contents;
    /// Sets each element to `value`.
    fn fill(&mut self, value: Self::Element);
    /// Empties the shadow, and returns the sum of what it held.
    fn drain(shadow: Self::Shadow<'_>) -> Self::Element;
}

macro_rules! fill_slices {
    ($([$($generics:tt)*] $t:ty),*) => {$(
        impl<$($generics)*> Fill for $t {
            type Element = T;
            type Contents = [T];

            fn contents(&mut self) -> &mut [T] {
                self
            }
            fn fill(&mut self, value: T) {
                <[T]>::fill(self, value);
            }
            fn drain(shadow: Self::Shadow<'_>) -> T {
                total(shadow.iter().map(Accumulate::take))
            }
        }
    )*};
}
fill_slices!([T: Element] [T], [T: Element] Vec<T>, [T: Element, const N: usize] [T; N]);

impl<T: Element, D: Dimension + Copy + 'static> Fill for ArrayRef<T, D> {
    type Element = T;
    type Contents = Self;

    fn contents(&mut self) -> &mut Self {
        self
    }
    fn fill(&mut self, value: T) {
        ArrayRef::fill(self, value);
    }
    fn drain(shadow: Self::Shadow<'_>) -> T {
        total(shadow.iter().map(Accumulate::take))
    }
}

impl<T: Element, D: Dimension + Copy + 'static> Fill for Array<T, D> {
    type Element = T;
    type Contents = ArrayRef<T, D>;

    fn contents(&mut self) -> &mut ArrayRef<T, D> {
        self
    }
    fn fill(&mut self, value: T) {
        ArrayRef::fill(self, value);
    }
    fn drain(shadow: Self::Shadow<'_>) -> T {
        total(shadow.iter().map(Accumulate::take))
    }
}

fn total<T: Tangent>(gradients: impl Iterator<Item = T>) -> T {
    gradients.fold(T::zero(), |mut total, gradient| {
        total.accumulate(gradient);
        total
    })
}

/// The types that bear the functions' names, and their rules; in brackets, what they do to the lengths of vectors in the arguments.
macro_rules! registered {
    ($(
        $(#[$doc:meta])*
        fn $name:ident<$($G:ident: ($($bound:tt)*)),*>($($arg:ident: $mode:ty as $ty:ty),*) $(-> $output:ty)? ; by $rule:ty $([$lengths:ident])? {
            $primal:expr
        }
    )*) => {$(
        $(#[$doc])*
        #[allow(non_camel_case_types)]
        pub struct $name<$($G: $($bound)*),*>(PhantomData<fn() -> ($(PhantomData<$G>,)*)>);

        impl<$($G: $($bound)* + 'static),*> Function for $name<$($G),*> {
            type Parameters = ($($mode,)*);
            type Output = registered!(@output $($output)?);
            const NAME: &'static str = stringify!($name);
            $(const LENGTHS: Lengths = Lengths::$lengths.within::<Self::Parameters>();)?

            fn primal(($($arg,)*): Args<'_, Self>) -> Self::Output {
                $primal
            }
        }

        impl<$($G: $($bound)* + 'static),*> $name<$($G),*> {
            /// The arguments of a call.
            #[inline(always)]
            pub fn args<'a>($($arg: $ty),*) -> Args<'a, Self> {
                ($($arg,)*)
            }
            /// The call itself.
            #[inline(always)]
            pub fn call<'a>($($arg: $ty),*) -> registered!(@output $($output)?) {
                $primal
            }
            /// The rule.
            pub fn rule() -> Frames<$rule> {
                Frames::default()
            }
        }
    )*};
    (@output) => { () };
    (@output $output:ty) => { $output };
}

registered! {
    /// `slice::swap`
    fn swap<T: (ExchangeItems)>(i: ConstVal<usize> as usize, j: ConstVal<usize> as usize, x: Mut<[T]> as &'a mut [T]); by Swap<T> [Change] {
        x.swap(i, j)
    }
    /// `std::mem::swap`
    fn exchange<T: (Exchange)>(x: Mut<T> as &'a mut T, y: Mut<T> as &'a mut T); by Exchanged<T> [Change] {
        std::mem::swap(x, y)
    }
    /// `slice::swap_with_slice`
    fn swap_with_slice<T: (ExchangeItems)>(y: Mut<[T]> as &'a mut [T], x: Mut<[T]> as &'a mut [T]); by SwapWithSlice<T> [Change] {
        x.swap_with_slice(y)
    }
    /// `std::mem::replace`
    fn replace<T: (Plain)>(value: Val<T> as T, x: Mut<T> as &'a mut T) -> T; by Replaced<T> {
        std::mem::replace(x, value)
    }
    /// `std::mem::take`
    fn take<T: (Plain + Default)>(x: Mut<T> as &'a mut T) -> T; by Taken<T> {
        std::mem::take(x)
    }
    /// `slice::reverse`
    fn reverse<T: (ExchangeItems)>(x: Mut<[T]> as &'a mut [T]); by Reverse<T> [Change] {
        x.reverse()
    }
    /// `slice::rotate_left`
    fn rotate_left<T: (ExchangeItems)>(k: ConstVal<usize> as usize, x: Mut<[T]> as &'a mut [T]); by RotateLeft<T> [Change] {
        x.rotate_left(k)
    }
    /// `slice::rotate_right`
    fn rotate_right<T: (ExchangeItems)>(k: ConstVal<usize> as usize, x: Mut<[T]> as &'a mut [T]); by RotateRight<T> [Change] {
        x.rotate_right(k)
    }
    /// `fill`, of slices and of ndarray's arrays
    fn fill<C: (Fill + ?Sized)>(value: Val<C::Element> as C::Element, x: Mut<C> as &'a mut C); by Filled<C> {
        x.fill(value)
    }
    /// `slice::copy_from_slice`
    fn copy_from_slice<T: (Plain)>(from: Ref<[T]> as &'a [T], x: Mut<[T]> as &'a mut [T]); by Copied<T> {
        x.copy_from_slice(from)
    }
    /// `slice::clone_from_slice`
    fn clone_from_slice<T: (Plain)>(from: Ref<[T]> as &'a [T], x: Mut<[T]> as &'a mut [T]); by Cloned<T> {
        x.copy_from_slice(from)
    }
    /// `slice::copy_within`, for a range with both bounds
    fn copy_within<T: (Plain)>(
        from: ConstVal<(usize, usize)> as (usize, usize),
        to: ConstVal<usize> as usize,
        x: Mut<[T]> as &'a mut [T]
    ); by CopiedWithin<T> {
        x.copy_within(from.0..from.1, to)
    }
    /// `assign`, of ndarray's arrays
    fn assign<T: (Element), D: (Dimension + Copy), E: (Dimension + Copy)>(
        from: Ref<ArrayRef<T, E>> as &'a ArrayRef<T, E>,
        x: Mut<ArrayRef<T, D>> as &'a mut ArrayRef<T, D>
    ); by Assigned<T, D, E> {
        x.assign(from)
    }
}

#[doc(hidden)]
pub struct Replaced<T>(Option<T>);

impl<T> Default for Replaced<T> {
    fn default() -> Self {
        Replaced(None)
    }
}

impl<T: Plain> Activation for Replaced<T> {
    type Function = replace<T>;

    #[inline]
    fn forward(&mut self, (value, x): Args<'_, Self::Function>) -> T {
        self.0 = Some(*x);
        std::mem::replace(x, value)
    }
    #[inline]
    fn pullback<'a>(
        &mut self,
        (_, x): Args<'a, Self::Function>,
        (_, dx): Shadows<'a, Self::Function>,
        seed: T::Tangent,
    ) -> Gradients<Self::Function> {
        *x = self.0.take().expect("a pullback follows its forward");
        let d = dx.take(|d| *d);
        dx.accumulate(|d| *d, seed);
        (d, ())
    }
}

#[doc(hidden)]
pub struct Taken<T>(Option<T>);

impl<T> Default for Taken<T> {
    fn default() -> Self {
        Taken(None)
    }
}

impl<T: Plain + Default> Activation for Taken<T> {
    type Function = take<T>;

    #[inline]
    fn forward(&mut self, (x,): Args<'_, Self::Function>) -> T {
        self.0 = Some(*x);
        std::mem::take(x)
    }
    #[inline]
    fn pullback<'a>(
        &mut self,
        (x,): Args<'a, Self::Function>,
        (dx,): Shadows<'a, Self::Function>,
        seed: T::Tangent,
    ) -> Gradients<Self::Function> {
        *x = self.0.take().expect("a pullback follows its forward");
        dx.take(|d| *d);
        dx.accumulate(|d| *d, seed);
        ((),)
    }
}

#[doc(hidden)]
pub struct Filled<C: Fill + ?Sized>(Saved<C::Element>);

impl<C: Fill + ?Sized> Default for Filled<C> {
    fn default() -> Self {
        Filled(Saved::default())
    }
}

impl<C: Fill + ?Sized + 'static> Activation for Filled<C> {
    type Function = fill<C>;

    fn forward(&mut self, (value, x): Args<'_, Self::Function>) {
        self.0.save_to_restore(x.contents());
        x.fill(value);
    }
    fn pullback<'a>(
        &mut self,
        (_, x): Args<'a, Self::Function>,
        (_, dx): Shadows<'a, Self::Function>,
        (): (),
    ) -> Gradients<Self::Function> {
        self.0.restore(x.contents());
        let sum = dx.get().map_or(C::Element::zero(), C::drain);
        (sum, ())
    }
    fn heap_size(&self) -> usize {
        self.0.heap_size()
    }
    fn forgo(&mut self, parameter: usize) {
        if parameter == 1 {
            self.0.forgo();
        }
    }
}

/// The two functions that copy slices have one rule.
macro_rules! copied {
    ($($rule:ident: $function:ident;)*) => {$(
        #[doc(hidden)]
        pub struct $rule<T>(Saved<T>);

        impl<T> Default for $rule<T> {
            fn default() -> Self {
                $rule(Saved::default())
            }
        }

        impl<T: Plain> Activation for $rule<T> {
            type Function = $function<T>;

            fn forward(&mut self, (from, x): Args<'_, Self::Function>) {
                self.0.save_to_restore(x);
                x.copy_from_slice(from);
            }
            fn pullback<'a>(
                &mut self,
                (_, x): Args<'a, Self::Function>,
                (dfrom, dx): Shadows<'a, Self::Function>,
                (): (),
            ) -> Gradients<Self::Function> {
                self.0.restore(x);
                for (i, d) in dx.get().into_iter().flatten().enumerate() {
                    dfrom.accumulate(|dfrom| &dfrom[i], d.take());
                }
                ((), ())
            }
            fn heap_size(&self) -> usize {
                self.0.heap_size()
            }
            fn forgo(&mut self, parameter: usize) {
                if parameter == 1 {
                    self.0.forgo();
                }
            }
        }
    )*};
}
copied! {
    Copied: copy_from_slice;
    Cloned: clone_from_slice;
}

#[doc(hidden)]
pub struct CopiedWithin<T>(Saved<T>);

impl<T> Default for CopiedWithin<T> {
    fn default() -> Self {
        CopiedWithin(Saved::default())
    }
}

impl<T: Plain> Activation for CopiedWithin<T> {
    type Function = copy_within<T>;

    fn forward(&mut self, (from, to, x): Args<'_, Self::Function>) {
        self.0.save_to_restore(x);
        x.copy_within(from.0..from.1, to);
    }
    fn pullback<'a>(
        &mut self,
        ((from, end), to, x): Args<'a, Self::Function>,
        (_, _, dx): Shadows<'a, Self::Function>,
        (): (),
    ) -> Gradients<Self::Function> {
        self.0.restore(x);
        let Some(dx) = dx.get() else { return ((), (), ()) };
        let mut hand_back = |i: usize| {
            let d = dx[to + i].take();
            dx[from + i].accumulate(d);
        };
        // No element is to be read after something was added to it.
        match to < from {
            true => (0..end - from).rev().for_each(&mut hand_back),
            false => (0..end - from).for_each(&mut hand_back),
        }
        ((), (), ())
    }
    fn heap_size(&self) -> usize {
        self.0.heap_size()
    }
    fn forgo(&mut self, parameter: usize) {
        if parameter == 2 {
            self.0.forgo();
        }
    }
}

#[doc(hidden)]
pub struct Assigned<T, D, E>(Saved<T>, PhantomData<fn() -> (D, E)>);

impl<T, D, E> Default for Assigned<T, D, E> {
    fn default() -> Self {
        Assigned(Saved::default(), PhantomData)
    }
}

impl<T: Element, D: Dimension + Copy + 'static, E: Dimension + Copy + 'static> Activation
    for Assigned<T, D, E>
{
    type Function = assign<T, D, E>;

    fn forward(&mut self, (from, x): Args<'_, Self::Function>) {
        self.0.save_to_restore(x);
        x.assign(from);
    }
    fn pullback<'a>(
        &mut self,
        (_, x): Args<'a, Self::Function>,
        (dfrom, dx): Shadows<'a, Self::Function>,
        (): (),
    ) -> Gradients<Self::Function> {
        self.0.restore(x);
        let Some(dx) = dx.get() else { return ((), ()) };
        match dfrom.get() {
            Some(dfrom) => {
                let dfrom = dfrom.broadcast(dx.raw_dim()).expect("the forward broadcast it");
                ndarray::Zip::from(dx).and(dfrom).for_each(|d, dfrom| dfrom.accumulate(d.take()));
            }
            None => dx.iter().for_each(|d| {
                d.take();
            }),
        }
        ((), ())
    }
    fn heap_size(&self) -> usize {
        self.0.heap_size()
    }
    fn forgo(&mut self, parameter: usize) {
        if parameter == 1 {
            self.0.forgo();
        }
    }
}

/// What can be copied to a value of its own.
#[diagnostic::on_unimplemented(
    message = "a copy of `{Self}` has no rule",
    note = "numbers, slices, arrays, `Vec` and ndarray's arrays of numbers are copied differentiably, and structs of these with \
            `#[derive(Clone, Differentiable)]`",
    note = "what holds others of its own type, as a tree does, is not copied: pass a reference, or let a function that calls itself build another one"
)]
pub trait Copyable: Differentiable + ToOwned<Owned: Output> {
    /// Adds the gradient with respect to the copy to `shadow`.
    fn hand_back(shadow: Self::Shadow<'_>, d: <Self::Owned as Output>::Cotangent<'_>);
    /// How many bytes of the heap a copy needs that can grow as `self` can.
    #[inline]
    fn room(&self) -> usize {
        0
    }
    /// Gives a copy room to grow as `self` can.
    #[inline]
    fn make_room(&self, _copy: &mut Self::Owned) {}
    /// Copies to the memory that `copy` has.
    #[inline]
    fn copy_into(&self, copy: &mut Self::Owned) {
        self.clone_into(copy);
    }
    /// A copy with room for as much.
    #[inline]
    fn duplicate(&self) -> Self::Owned {
        let mut copy = self.to_owned();
        self.make_room(&mut copy);
        copy
    }
    /// Takes an element out of the `Option` that `part` is, for the memory, if it is one of a copy. The reverse pass comes to the last one
    /// first.
    fn keep_part(_parts: &mut Option<Self::Owned>, _part: &mut dyn Any) -> bool
    where
        Self: 'static,
    {
        false
    }
    /// Puts these elements where they have been.
    fn put_parts(_whole: &mut Self::Owned, _parts: &mut Self::Owned) {}
}

/// What slices and vectors that are copied consist of. `#[derive(Differentiable)]` implements it.
#[diagnostic::on_unimplemented(
    message = "a copy of a slice of `{Self}` has no rule",
    note = "slices and vectors of numbers, of vectors, of ndarray's arrays and of structs with `#[derive(Differentiable)]` are \
            copied differentiably"
)]
pub trait CopyItem: Item + Clone {
    /// Adds the gradients with respect to the copies to `shadows`.
    fn hand_all_back(shadows: Self::Shadows<'_>, d: Self::Views<'_>);
    /// How many bytes of the heap copies of the elements need, beside the slice itself.
    fn room_all(_items: &[Self]) -> usize {
        0
    }
    /// Gives copies room to grow as the `items` can.
    fn make_room_all(_items: &[Self], _copies: &mut [Self]) {}
}

impl<T: PlainClone> CopyItem for T {
    #[inline]
    fn hand_all_back(shadows: &[<T::Tangent as Element>::Cells], d: &[T::Tangent]) {
        shadows.iter().zip(d).for_each(|(cell, d)| cell.accumulate(*d));
    }
}

impl<T: CopyItem + 'static> CopyItem for Vec<T> {
    fn hand_all_back(shadows: Self::Shadows<'_>, d: Self::Views<'_>) {
        for (shadow, d) in shadows.iter().zip(d) {
            T::hand_all_back(*shadow, T::views(d));
        }
    }
    fn room_all(items: &[Self]) -> usize {
        items.iter().map(Copyable::room).sum()
    }
    fn make_room_all(items: &[Self], copies: &mut [Self]) {
        items.iter().zip(copies).for_each(|(item, copy)| item.make_room(copy));
    }
}

impl<T: Element, D: Dimension + Copy + 'static> CopyItem for Array<T, D> {
    fn hand_all_back(shadows: Self::Shadows<'_>, d: Self::Views<'_>) {
        for (shadow, d) in shadows.iter().zip(d) {
            <Self as Copyable>::hand_back(*shadow, d);
        }
    }
}

/// A field of a struct that is copied.
#[diagnostic::on_unimplemented(
    message = "a copy of a field of type `{Self}` has no rule",
    note = "numbers, arrays, `Vec` and ndarray's arrays of numbers are copied differentiably, and structs of these with \
            `#[derive(Clone, Differentiable)]`"
)]
pub trait CopyPart: Differentiable + Sized {
    /// Adds the gradient with respect to the copy to `shadow`.
    fn hand_part_back(shadow: Self::Shadow<'_>, d: &Self::Gradient);
    /// Gives a copy room to grow as `self` can.
    fn make_room_for_part(&self, copy: &mut Self);
}

impl<C: Copyable + ToOwned<Owned = C>> CopyPart for C
where
    C: Output<Gradient = <C as Differentiable>::Gradient>,
{
    #[inline]
    fn hand_part_back(shadow: Self::Shadow<'_>, d: &Self::Gradient) {
        C::hand_back(shadow, <C as Output>::lend(d));
    }
    #[inline]
    fn make_room_for_part(&self, copy: &mut C) {
        self.make_room(copy);
    }
}

macro_rules! copyable_slices {
    ($($t:ty $({ $($room:tt)* })?),*) => {$(
        impl<T: CopyItem> Copyable for $t {
            #[inline]
            fn hand_back(shadow: T::Shadows<'_>, d: T::Views<'_>) {
                T::hand_all_back(shadow, d);
            }
            $($($room)*)?
        }
    )*};
}
copyable_slices!([T] {
    fn room(&self) -> usize {
        size_of_val(self) + T::room_all(self)
    }
}, Vec<T> {
    fn room(&self) -> usize {
        self.capacity() * size_of::<T>() + T::room_all(self)
    }
    fn make_room(&self, copy: &mut Vec<T>) {
        copy.reserve_exact(self.capacity() - self.len());
        T::make_room_all(self, copy);
    }
    fn duplicate(&self) -> Vec<T> {
        let mut copy = Vec::with_capacity(self.capacity());
        copy.extend_from_slice(self);
        T::make_room_all(self, &mut copy);
        copy
    }
    fn keep_part(parts: &mut Option<Vec<T>>, part: &mut dyn Any) -> bool
    where
        Self: 'static,
    {
        let part = part.downcast_mut::<Option<T>>().and_then(Option::take);
        let taken = part.is_some();
        parts.get_or_insert_default().extend(part);
        taken
    }
    fn put_parts(whole: &mut Vec<T>, parts: &mut Vec<T>) {
        whole.extend(parts.drain(..).rev());
    }
});

macro_rules! copyable_arrays {
    ($($t:ty),*) => {$(
        impl<T: Element, D: Dimension + Copy + 'static> Copyable for $t {
            fn hand_back(shadow: Self::Shadow<'_>, d: &Array<T, D>) {
                ndarray::Zip::from(shadow).and(d).for_each(|cell, d| cell.accumulate(*d));
            }
            fn room(&self) -> usize {
                self.len() * size_of::<T>()
            }
        }
    )*};
}
copyable_arrays!(ArrayRef<T, D>, Array<T, D>);

impl<T: PlainClone> Copyable for T {
    fn hand_back(shadow: &<T::Tangent as Element>::Cells, d: T::Tangent) {
        shadow.accumulate(d);
    }
}

/// `slice::to_vec`
#[allow(non_camel_case_types)]
pub struct to_vec<T>(PhantomData<fn() -> T>);

/// `to_owned` and `clone`
#[allow(non_camel_case_types)]
pub struct to_owned<C: ?Sized>(PhantomData<fn() -> PhantomData<C>>);

/// Nothing is kept for the pullback of a copy.
pub struct Copying<F>(PhantomData<fn() -> F>);

impl<F> Default for Copying<F> {
    fn default() -> Self {
        Copying(PhantomData)
    }
}

impl<T: CopyItem + Send + 'static> Function for to_vec<T> {
    type Parameters = (Ref<[T]>,);
    type Output = Vec<T>;
    const NAME: &'static str = "to_vec";

    fn primal((x,): Args<'_, Self>) -> Vec<T> {
        x.to_vec()
    }
}

impl<C: Copyable + ?Sized + 'static> Function for to_owned<C> {
    type Parameters = (Ref<C>,);
    type Output = C::Owned;
    const NAME: &'static str = "to_owned";

    fn primal((x,): Args<'_, Self>) -> C::Owned {
        x.to_owned()
    }
}

impl<T: CopyItem + Send + 'static> to_vec<T> {
    /// The call itself.
    #[inline(always)]
    pub fn call(x: &[T]) -> Vec<T> {
        x.to_vec()
    }
    /// The arguments of a call.
    #[inline(always)]
    pub fn args(x: &[T]) -> Args<'_, Self> {
        (x,)
    }
    /// The rule.
    pub fn rule() -> Frames<Copying<Self>> {
        Frames::default()
    }
}

impl<C: Copyable + ?Sized + 'static> to_owned<C> {
    /// The call itself.
    #[inline(always)]
    pub fn call(x: &C) -> C::Owned {
        x.to_owned()
    }
    /// The arguments of a call.
    #[inline(always)]
    pub fn args(x: &C) -> Args<'_, Self> {
        (x,)
    }
    /// The rule.
    pub fn rule() -> Owning<C> {
        Owning::new()
    }
}

impl<T: CopyItem + Send + 'static> Activation for Copying<to_vec<T>> {
    type Function = to_vec<T>;

    fn forward(&mut self, (x,): Args<'_, Self::Function>) -> Vec<T> {
        x.to_vec()
    }
    fn pullback<'a>(
        &mut self,
        _: Args<'a, Self::Function>,
        (dx,): Shadows<'a, Self::Function>,
        d: Cotangent<'_, Self::Function>,
    ) -> Gradients<Self::Function> {
        if let Some(dx) = dx.get() {
            <[T]>::hand_back(dx, d);
        }
        ((),)
    }
}
