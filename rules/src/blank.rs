//! What a local holds before it gets what a function returns: a value of its type, of which only the type matters.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::hash::BuildHasher;
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;

use ndarray::{Array, Dimension};

use crate::dual::{DualNumber, Lanes};
use crate::float::Float;
use crate::function::for_tuples;

/// A type that has such a value. `#[derive(Differentiable)]` implements it for structs all of whose fields have one.
#[diagnostic::on_unimplemented(
    message = "a function that returns `{Self}` in an `Option` or a `Result`, or maps an array to such, has to have one to begin with",
    label = "not known how to make one",
    note = "derive or implement `Default` for it"
)]
pub trait Blank {
    /// Makes it.
    fn blank() -> Self;
}

/// The way to make a `T`.
pub struct Blanks<T>(PhantomData<T>);

impl<T> Blanks<T> {
    /// Of a type.
    pub const OF: Self = Blanks(PhantomData);
}

/// By `Default`, if it has that.
pub trait BlankByDefault<T> {
    /// Makes it.
    fn blank(&self) -> T;
}

impl<T: Default> BlankByDefault<T> for Blanks<T> {
    fn blank(&self) -> T {
        T::default()
    }
}

/// Field by field otherwise.
pub trait BlankByFields<T> {
    /// Makes it.
    fn blank(&self) -> T;
}

impl<T: Blank> BlankByFields<T> for &Blanks<T> {
    fn blank(&self) -> T {
        T::blank()
    }
}

macro_rules! by_default {
    ($([$($generics:tt)*] $t:ty),* $(,)?) => {$(
        impl<$($generics)*> Blank for $t {
            fn blank() -> Self {
                Default::default()
            }
        }
    )*};
}
by_default! {
    [] f32, [] f64, [const K: usize] Lanes<K>, [] bool, [] char, [] String, [] &'static str, [T] Vec<T>, [T] VecDeque<T>, [T] Option<T>,
    [] i8, [] i16, [] i32, [] i64, [] i128, [] isize, [] u8, [] u16, [] u32, [] u64, [] u128, [] usize,
    [K, V] BTreeMap<K, V>, [T] BTreeSet<T>, [K, V, S: BuildHasher + Default] HashMap<K, V, S>,
    [T, S: BuildHasher + Default] HashSet<T, S>, [T: Default, D: Dimension] Array<T, D>, [T] Box<[T]>, [T: ?Sized] PhantomData<T>,
}

#[cfg(feature = "nalgebra")]
impl<T, R: nalgebra::Dim, C: nalgebra::Dim, S> Blank for nalgebra::Matrix<T, R, C, S>
where
    Self: Default,
{
    fn blank() -> Self {
        Self::default()
    }
}

impl<T: Float, const N: usize> Blank for DualNumber<T, N> {
    fn blank() -> Self {
        Self::default()
    }
}

macro_rules! by_inside {
    ($($t:ident),*) => {$(
        impl<T: Blank> Blank for $t<T> {
            fn blank() -> Self {
                $t::new(T::blank())
            }
        }
    )*};
}
by_inside!(Box, Rc, Arc);

impl<T: Blank, const N: usize> Blank for [T; N] {
    fn blank() -> Self {
        std::array::from_fn(|_| T::blank())
    }
}

macro_rules! tuple {
    ($($T:ident $i:tt),*) => {
        impl<$($T: Blank),*> Blank for ($($T,)*) {
            #[allow(clippy::unused_unit, reason = "the empty tuple")]
            fn blank() -> Self {
                ($($T::blank(),)*)
            }
        }
    };
}
for_tuples!(tuple);
