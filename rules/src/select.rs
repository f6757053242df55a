//! Places that functions of the user's select: `matrix[(i, j)]`, where `Index` is implemented for the type of the matrix.

use std::ops::{Deref, Index};

use crate::float::Scalar;
use crate::shadow::{Accumulate, Differentiable, Shadow};

/// A type of whose values a marked `Index` selects a part: where that is in the shadow.
pub trait Select<I>: Differentiable {
    /// What is selected.
    type Part: Differentiable + ?Sized;
    /// The shadow of the part.
    fn select<'s>(&self, shadow: &'s Self::Shadow<'s>, index: I) -> PartShadow<'s, Self::Part>;
}

/// The same of `IndexMut`.
pub trait SelectMut<I>: Select<I> {
    /// The shadow of the part.
    fn select_mut<'s>(&self, shadow: &'s Self::Shadow<'s>, index: I) -> PartShadow<'s, Self::Part>;
}

/// The shadow of a part of type `T`.
pub type PartShadow<'s, T> = Shadow<<T as Differentiable>::Shadow<'s>>;

/// A value and its shadow, of which an index is about to select a part. That of references to it is the first choice of method resolution
/// that holds: a user's `Index`, or, where the type is one that the macro did not recognise, that of the shadow.
pub struct Whole<'w, M: ?Sized, V> {
    value: &'w M,
    shadow: &'w V,
}

impl<'w, M: ?Sized, V> Whole<'w, M, V> {
    /// Both of them.
    #[inline(always)]
    pub fn new(value: &'w M, shadow: &'w V) -> Self {
        Whole { value, shadow }
    }
}

/// There is some `Index` that tells what is selected.
#[diagnostic::on_unimplemented(
    message = "nothing tells where in a gradient the part is that this index selects",
    label = "this `Index` is not marked",
    note = "mark the `impl` of `Index` for this type `#[differentiable]`, and that of `IndexMut` if it is written to"
)]
pub trait Selecting {}

/// There is.
pub struct Found;

impl Selecting for Found {}

/// There is none that selects a part of a `V`.
pub struct Missing<V>(std::marker::PhantomData<V>);

macro_rules! by_index {
    ($trait:ident, $at:ident by $select:ident, $method:ident) => {
        /// Selects a part of the shadow.
        pub trait $trait<I> {
            /// Its shadow.
            type Part;
            /// Whether there is one.
            type Outcome;
            /// Selects it.
            fn $at(self, index: I) -> Self::Part
            where
                Self::Outcome: Selecting;
        }

        impl<'w, I, M: $select<I>> $trait<I> for &&&Whole<'w, M, M::Shadow<'w>> {
            type Part = PartShadow<'w, M::Part>;
            type Outcome = Found;
            #[inline(always)]
            fn $at(self, index: I) -> Self::Part {
                self.value.$method(self.shadow, index)
            }
        }

        impl<'w, I, M: ?Sized, V: Deref<Target: Index<I, Output: 'w>>> $trait<I> for &&Whole<'w, M, V> {
            type Part = Shadow<&'w <V::Target as Index<I>>::Output>;
            type Outcome = Found;
            #[inline(always)]
            fn $at(self, index: I) -> Self::Part {
                Shadow::new(&self.shadow.deref()[index])
            }
        }

        impl<'w, I, M: ?Sized, V: Index<I, Output: 'w>> $trait<I> for &Whole<'w, M, V> {
            type Part = Shadow<&'w V::Output>;
            type Outcome = Found;
            #[inline(always)]
            fn $at(self, index: I) -> Self::Part {
                Shadow::new(&self.shadow[index])
            }
        }

        impl<'w, I, M: ?Sized, V> $trait<I> for Whole<'w, M, V> {
            type Part = Shadow<&'w std::cell::Cell<f64>>;
            type Outcome = Missing<V>;
            fn $at(self, _index: I) -> Self::Part
            where
                Missing<V>: Selecting,
            {
                unreachable!("refused by the compiler")
            }
        }
    };
}
by_index!(At, at by Select, select);
by_index!(AtMut, at_mut by SelectMut, select_mut);

/// `shadow` as that of `value`, which tells its type.
#[inline(always)]
pub fn shadow_for<'a, M: Differentiable + ?Sized>(
    _value: &M,
    shadow: PartShadow<'a, M>,
) -> PartShadow<'a, M> {
    shadow
}

/// The shadow of a number.
#[diagnostic::on_unimplemented(
    message = "what two indices select is taken to be a number",
    label = "this selects something else",
    note = "tell its type where it is read, `let z: Complex = m[(i, j)];`, and where it is changed, `let z: &mut Complex = &mut m[(i, j)];`"
)]
pub trait OfNumber {}

#[diagnostic::do_not_recommend]
impl<C: Accumulate<Tangent: Scalar>> OfNumber for &C {}

/// The shadow of what has been taken to be a number.
#[inline(always)]
pub fn number<V: OfNumber>(shadow: Shadow<V>) -> Shadow<V> {
    shadow
}

/// The shadow within, where there is one for certain.
#[inline(always)]
pub fn part_of<V: Copy>(shadow: Shadow<V>) -> V {
    shadow.get().expect("selected from one that is there")
}

/// What a method that returns a reference gives where its value is asked for: the compiler shows this name.
pub struct ReturnsAReferenceTellItsType;

/// The parts of an enum that a pattern has bound behind a `&mut`: derived code knows by this name where they are from.
#[inline(always)]
pub fn parts_of_variant<P>(parts: P) -> P {
    parts
}
