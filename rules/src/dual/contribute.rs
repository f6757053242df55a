//! Whole gradients that come to shadows.

use ndarray::{ArrayBase, ArrayRef, Data, Dimension};

use crate::function::{ConstCloned, ConstRef, ConstVal, Held, Parameter, Parameters, Ref, Val, for_tuples};
use crate::optional_references::{ConstOptRef, OptRef};
use crate::shadow::{Accumulate, Differentiable, Element, Ignored};
use crate::tangent::Value;

/// Data behind a reference, to whose shadow a whole gradient can be added.
pub trait Contribute: Differentiable {
    /// `shadow += gradient`, which is of the same shape.
    fn contribute(shadow: Self::Shadow<'_>, gradient: &Self::Gradient);
}

impl<T: Value<Tangent: Element>> Contribute for T {
    #[inline]
    fn contribute(shadow: Self::Shadow<'_>, gradient: &T::Tangent) {
        shadow.accumulate(*gradient);
    }
}

macro_rules! elements {
    ($($t:ty),*) => {$(
        impl<T: Value<Tangent: Element>> Contribute for $t
        where
            $t: for<'a> Differentiable<
                Shadow<'a> = &'a [<T::Tangent as Element>::Cells],
                Gradient = Vec<T::Tangent>,
            >,
        {
            fn contribute(shadow: &[<T::Tangent as Element>::Cells], gradient: &Vec<T::Tangent>) {
                for (cell, d) in shadow.iter().zip(gradient) {
                    cell.accumulate(*d);
                }
            }
        }
    )*};
}
elements!([T], Vec<T>);

macro_rules! arrays {
    ([$($generics:tt)*] $t:ty) => {
        impl<$($generics)*> Contribute for $t {
            fn contribute(shadow: Self::Shadow<'_>, gradient: &Self::Gradient) {
                for (cell, d) in shadow.iter().zip(gradient) {
                    cell.accumulate(*d);
                }
            }
        }
    };
}
arrays!([T: Element, D: Dimension + Copy + 'static] ArrayRef<T, D>);
arrays!([T: Element, S: Data<Elem = T>, D: Dimension + Copy + 'static] ArrayBase<S, D>);

/// A parameter to whose shadow a whole gradient can be added.
pub trait ContributeParameter: Parameter {
    /// Adds the gradient in `buffer` to the argument's shadow.
    fn contribute(shadow: Self::Shadow<'_>, buffer: &Self::Buffer);
}

impl<A: Contribute + ?Sized + 'static> ContributeParameter for Ref<A> {
    #[inline]
    fn contribute(shadow: Self::Shadow<'_>, buffer: &A::Gradient) {
        if let Some(shadow) = shadow.get() {
            A::contribute(shadow, buffer);
        }
    }
}

impl<A: Contribute + ?Sized + 'static> ContributeParameter for OptRef<A> {
    #[inline]
    fn contribute(shadow: Self::Shadow<'_>, buffer: &A::Gradient) {
        Ref::<A>::contribute(shadow, buffer);
    }
}

/// What comes by value is returned.
macro_rules! none {
    ($([$($generics:tt)*] $Mode:ty),*) => {$(
        impl<$($generics)*> ContributeParameter for $Mode {
            #[inline]
            fn contribute(_shadow: Ignored, (): &()) {}
        }
    )*};
}
none! {
    [A: Value + Copy + 'static] Val<A>,
    [A: Value + Copy + 'static] Held<A>,
    [A: Copy + 'static] ConstVal<A>,
    [A: Clone + 'static] ConstCloned<A>,
    [A: ?Sized + 'static] ConstOptRef<A>,
    [A: ?Sized + 'static] ConstRef<A>
}

/// A tuple of [`ContributeParameter`]s.
pub trait ContributeParameters: Parameters {
    /// See [`ContributeParameter::contribute`].
    fn contribute(shadows: Self::Shadows<'_>, buffers: &Self::Buffers);
}

macro_rules! parameters {
    ($($P:ident $i:tt),*) => {
        impl<$($P: ContributeParameter),*> ContributeParameters for ($($P,)*) {
            fn contribute(_shadows: Self::Shadows<'_>, _buffers: &Self::Buffers) {
                $($P::contribute(_shadows.$i, &_buffers.$i);)*
            }
        }
    };
}
for_tuples!(parameters);
