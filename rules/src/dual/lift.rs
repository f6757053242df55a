//! Data with dual numbers in the place of its floats.

use std::slice;

use ndarray::{Array, ArrayRef, Dimension, ShapeBuilder};

use crate::dual::number::DualNumber;
use crate::float::Float;
use crate::function::for_tuples;
use crate::shadow::Element;
use crate::tangent::Tangent;

/// Owned data that has a counterpart in dual numbers with components `T` and `N` directions.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no counterpart in dual numbers",
    label = "`#[differentiable(dual)]` does not go through this type",
    note = "f64, integers, arrays, tuples, `Option`, `Vec` and ndarray's `Array` of these do; a struct of your own is generic over a `Float`"
)]
pub trait Lift<T, const N: usize> {
    /// The counterpart.
    type Dual: Send + 'static;
    /// As constants: with zeros for derivatives.
    fn lift(&self) -> Self::Dual;
    /// The values, in memory that is there already. Derivatives may stay what they are: whoever asks for this sets them.
    #[inline]
    fn load(&self, dual: &mut Self::Dual) {
        *dual = self.lift();
    }
    /// The values of several that lie side by side, and the first derivative of each coordinate, if these are the numbers in `tangents`, one for
    /// each. Says whether they are, and does nothing otherwise.
    #[inline]
    fn load_along(_all: &[Self], _duals: &mut [Self::Dual], _tangents: &[f64]) -> bool
    where
        Self: Sized,
    {
        false
    }
    /// The values.
    fn lower(dual: &Self::Dual) -> Self
    where
        Self: Sized;
    /// Takes over the values.
    #[inline]
    fn unload(&mut self, dual: &Self::Dual)
    where
        Self: Sized,
    {
        *self = Self::lower(dual);
    }
    /// How many bytes of the heap the counterpart owns.
    #[inline]
    fn dual_size(_dual: &Self::Dual) -> usize {
        0
    }
}

impl<T: Float, const N: usize> Lift<T, N> for f64 {
    type Dual = DualNumber<T, N>;
    #[inline(always)]
    fn lift(&self) -> DualNumber<T, N> {
        DualNumber::constant(*self)
    }
    #[inline(always)]
    fn load(&self, dual: &mut DualNumber<T, N>) {
        dual.value = T::from_f64(*self);
    }
    #[inline]
    fn load_along(all: &[f64], duals: &mut [DualNumber<T, N>], tangents: &[f64]) -> bool {
        let fit = all.len() == duals.len() && all.len() == tangents.len();
        if fit {
            for ((value, tangent), dual) in all.iter().zip(tangents).zip(duals) {
                dual.value = T::from_f64(*value);
                dual.tangent[0] = T::from_f64(*tangent);
            }
        }
        fit
    }
    #[inline(always)]
    fn lower(dual: &DualNumber<T, N>) -> f64 {
        dual.value.to_f64()
    }
}

macro_rules! itself {
    ($($t:ty),*) => {$(
        impl<T, const N: usize> Lift<T, N> for $t {
            type Dual = $t;
            #[inline(always)]
            fn lift(&self) -> $t {
                *self
            }
            #[inline(always)]
            fn lower(dual: &$t) -> $t {
                *dual
            }
        }
    )*};
}
itself!(bool, char, i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize);

impl<T, const N: usize, A: Lift<T, N>, const M: usize> Lift<T, N> for [A; M] {
    type Dual = [A::Dual; M];
    #[inline]
    fn lift(&self) -> [A::Dual; M] {
        std::array::from_fn(|i| self[i].lift())
    }
    #[inline]
    fn load(&self, dual: &mut [A::Dual; M]) {
        for i in 0..M {
            self[i].load(&mut dual[i]);
        }
    }
    #[inline]
    fn load_along(all: &[Self], duals: &mut [[A::Dual; M]], tangents: &[f64]) -> bool {
        A::load_along(all.as_flattened(), duals.as_flattened_mut(), tangents)
    }
    #[inline]
    fn lower(dual: &[A::Dual; M]) -> Self {
        std::array::from_fn(|i| A::lower(&dual[i]))
    }
    fn dual_size(dual: &[A::Dual; M]) -> usize {
        dual.iter().map(A::dual_size).sum()
    }
}

impl<T, const N: usize, A: Lift<T, N>> Lift<T, N> for Option<A> {
    type Dual = Option<A::Dual>;
    #[inline]
    fn lift(&self) -> Option<A::Dual> {
        self.as_ref().map(A::lift)
    }
    #[inline]
    fn lower(dual: &Option<A::Dual>) -> Self {
        dual.as_ref().map(A::lower)
    }
    fn dual_size(dual: &Option<A::Dual>) -> usize {
        dual.as_ref().map_or(0, A::dual_size)
    }
}

impl<T, const N: usize, A: Lift<T, N>, E: Clone + Send + 'static> Lift<T, N> for Result<A, E> {
    type Dual = Result<A::Dual, E>;
    #[inline]
    fn lift(&self) -> Result<A::Dual, E> {
        self.as_ref().map(A::lift).map_err(E::clone)
    }
    #[inline]
    fn lower(dual: &Result<A::Dual, E>) -> Self {
        dual.as_ref().map(A::lower).map_err(E::clone)
    }
}

impl<T, const N: usize, A: Lift<T, N>> Lift<T, N> for Vec<A> {
    type Dual = Vec<A::Dual>;
    fn lift(&self) -> Vec<A::Dual> {
        self.iter().map(A::lift).collect()
    }
    fn load(&self, dual: &mut Vec<A::Dual>) {
        load(self, dual);
    }
    fn lower(dual: &Vec<A::Dual>) -> Self {
        dual.iter().map(A::lower).collect()
    }
    fn unload(&mut self, dual: &Vec<A::Dual>) {
        self.truncate(dual.len());
        unload(self, dual);
        self.extend(dual[self.len()..].iter().map(A::lower));
    }
    fn dual_size(dual: &Vec<A::Dual>) -> usize {
        size::<T, N, A>(dual)
    }
}

impl<T, const N: usize, A: Lift<T, N, Dual: Element> + Clone, D: Dimension + 'static> Lift<T, N>
    for Array<A, D>
{
    type Dual = Array<A::Dual, D>;
    fn lift(&self) -> Array<A::Dual, D> {
        self.map(A::lift)
    }
    fn load(&self, dual: &mut Array<A::Dual, D>) {
        load_array(self, dual);
    }
    fn lower(dual: &Array<A::Dual, D>) -> Self {
        dual.map(A::lower)
    }
    fn unload(&mut self, dual: &Array<A::Dual, D>) {
        self.zip_mut_with(dual, A::unload);
    }
    fn dual_size(dual: &Array<A::Dual, D>) -> usize {
        dual.len() * size_of::<A::Dual>()
    }
}

macro_rules! tuple {
    ($($A:ident $i:tt),*) => {
        impl<Component, const WIDTH: usize, $($A: Lift<Component, WIDTH>),*> Lift<Component, WIDTH> for ($($A,)*) {
            type Dual = ($($A::Dual,)*);
            #[inline]
            #[allow(clippy::unused_unit, reason = "the empty tuple")]
            fn lift(&self) -> Self::Dual {
                ($(self.$i.lift(),)*)
            }
            #[inline]
            #[allow(clippy::unused_unit, reason = "the empty tuple")]
            fn lower(_dual: &Self::Dual) -> Self {
                ($($A::lower(&_dual.$i),)*)
            }
            fn dual_size(_dual: &Self::Dual) -> usize {
                0 $(+ $A::dual_size(&_dual.$i))*
            }
        }
    };
}
for_tuples!(tuple);

fn size<T, const N: usize, A: Lift<T, N>>(dual: &Vec<A::Dual>) -> usize {
    dual.capacity() * size_of::<A::Dual>() + dual.iter().map(A::dual_size).sum::<usize>()
}

#[inline]
fn load<T, const N: usize, A: Lift<T, N>>(values: &[A], dual: &mut Vec<A::Dual>) {
    if values.len() != dual.len() {
        resize(values, dual);
    }
    for (value, dual) in values.iter().zip(dual) {
        value.load(dual);
    }
}

#[cold]
fn resize<T, const N: usize, A: Lift<T, N>>(values: &[A], dual: &mut Vec<A::Dual>) {
    dual.truncate(values.len());
    dual.extend(values[dual.len()..].iter().map(A::lift));
}

/// Rows or columns are adjacent as they are in `values`, since what is computed may depend on that in its last bits.
fn load_array<T, const N: usize, A: Lift<T, N, Dual: Element>, D: Dimension>(
    values: &ArrayRef<A, D>,
    dual: &mut Array<A::Dual, D>,
) {
    let by_columns = !values.is_standard_layout() && values.t().is_standard_layout();
    if dual.raw_dim() == values.raw_dim() && dual.is_standard_layout() != by_columns {
        dual.zip_mut_with(values, |dual, value| value.load(dual));
        return;
    }
    let nothing = Array::from_elem(D::zeros(values.ndim()), A::Dual::zero());
    let (mut elements, _) = std::mem::replace(dual, nothing).into_raw_vec_and_offset();
    elements.clear();
    match by_columns {
        true => elements.extend(values.t().iter().map(A::lift)),
        false => elements.extend(values.iter().map(A::lift)),
    }
    *dual = Array::from_shape_vec(values.raw_dim().set_f(by_columns), elements)
        .expect("as many as the shape asks for");
}

fn unload<T, const N: usize, A: Lift<T, N>>(values: &mut [A], dual: &[A::Dual]) {
    for (value, dual) in values.iter_mut().zip(dual) {
        value.unload(dual);
    }
}

/// Data behind a reference that has a counterpart in dual numbers.
pub trait LiftRef<T, const N: usize> {
    /// The counterpart.
    type Dual: ?Sized;
    /// Where it lives, from call to call.
    type Store: Default + Send;
    /// Brings the values to `store`, see [`Lift::load`].
    fn load(&self, store: &mut Self::Store);
    /// Brings values and derivatives to `store` if that is as simple as that, see [`Lift::load_along`].
    #[inline]
    fn load_along(&self, _store: &mut Self::Store, _tangents: &[f64]) -> bool {
        false
    }
    /// What was brought there.
    fn lend(store: &mut Self::Store) -> &mut Self::Dual;
    /// Takes the values back.
    fn unload(&mut self, store: &Self::Store);
    /// How many bytes of the heap `store` owns.
    fn store_size(store: &Self::Store) -> usize;
}

impl<T, const N: usize, A: Lift<T, N>> LiftRef<T, N> for A {
    type Dual = A::Dual;
    type Store = Option<A::Dual>;
    #[inline]
    fn load(&self, store: &mut Option<A::Dual>) {
        match store {
            Some(dual) => Lift::load(self, dual),
            None => *store = Some(self.lift()),
        }
    }
    #[inline]
    fn load_along(&self, store: &mut Option<A::Dual>, tangents: &[f64]) -> bool {
        let dual = store.as_mut().map_or(&mut [][..], slice::from_mut);
        A::load_along(slice::from_ref(self), dual, tangents)
    }
    #[inline]
    fn lend(store: &mut Option<A::Dual>) -> &mut A::Dual {
        store.as_mut().expect("loaded before")
    }
    #[inline]
    fn unload(&mut self, store: &Option<A::Dual>) {
        Lift::unload(self, store.as_ref().expect("loaded before"));
    }
    fn store_size(store: &Option<A::Dual>) -> usize {
        store.as_ref().map_or(0, A::dual_size)
    }
}

impl<T, const N: usize, A: Lift<T, N>> LiftRef<T, N> for [A] {
    type Dual = [A::Dual];
    type Store = Vec<A::Dual>;
    #[inline]
    fn load(&self, store: &mut Vec<A::Dual>) {
        load(self, store);
    }
    #[inline]
    fn load_along(&self, store: &mut Vec<A::Dual>, tangents: &[f64]) -> bool {
        A::load_along(self, store, tangents)
    }
    #[inline]
    fn lend(store: &mut Vec<A::Dual>) -> &mut [A::Dual] {
        store
    }
    #[inline]
    fn unload(&mut self, store: &Vec<A::Dual>) {
        unload(self, store);
    }
    fn store_size(store: &Vec<A::Dual>) -> usize {
        size::<T, N, A>(store)
    }
}

impl<T, const N: usize, A: Lift<T, N, Dual: Element>, D: Dimension + 'static> LiftRef<T, N>
    for ArrayRef<A, D>
{
    type Dual = ArrayRef<A::Dual, D>;
    type Store = Option<Array<A::Dual, D>>;
    fn load(&self, store: &mut Option<Array<A::Dual, D>>) {
        match store {
            Some(dual) => load_array(self, dual),
            None => *store = Some(self.map(A::lift)),
        }
    }
    fn lend(store: &mut Option<Array<A::Dual, D>>) -> &mut ArrayRef<A::Dual, D> {
        store.as_mut().expect("loaded before")
    }
    fn unload(&mut self, store: &Option<Array<A::Dual, D>>) {
        self.zip_mut_with(store.as_ref().expect("loaded before"), A::unload);
    }
    fn store_size(store: &Option<Array<A::Dual, D>>) -> usize {
        store.as_ref().map_or(0, |dual| dual.len() * size_of::<A::Dual>())
    }
}
