//! By-value data and the type of its gradient.

use crate::float::Scalar;
use crate::function::{for_tuples, one_by_one};
use crate::output::{Output, output_of_value};
use crate::shadow::Element;

/// A [`Value`] that may be a part of a struct of any kind, `A` in `Sum<A, B>`: a number, or a plain struct with `#[derive(Differentiable)]`.
///
/// `#[differentiable]` asks it of those type parameters of an `impl` that stand for parts of its type. A generic function that calls methods of
/// such an `impl` asks it, too:
///
/// ```
/// use pullback_rules::Active;
///
/// trait Kernel {
///     fn at(&self, x: f64) -> f64;
/// }
/// struct Scaled<K> {
///     inner: K,
///     factor: f64,
/// }
/// // As with `#[differentiable]` before it.
/// impl<K: Kernel + Active> Kernel for Scaled<K> {
///     fn at(&self, x: f64) -> f64 {
///         self.factor * self.inner.at(x)
///     }
/// }
/// fn twice<K: Kernel + Active>(kernel: &Scaled<K>, x: f64) -> f64 {
///     2.0 * kernel.at(x)
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is a part of a struct, and is not known to carry a gradient",
    label = "not a number, nor a plain struct with `#[derive(Differentiable)]`",
    note = "of a type parameter it is asked: `K: Kernel + pullback::Active`"
)]
pub trait Active: Value<Tangent: Element> + 'static {}

impl<T: Value<Tangent: Element> + 'static> Active for T {}

/// A type whose values a differentiable function may pass or return by value.
///
/// Integers, `bool`, `char`, `&str` and `()` are values without gradient: their tangent is `()` and vanishes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` carries no gradient when passed by value",
    label = "not a number, nor an array or tuple of numbers",
    note = "by value: f32, f64, integers, bool, arrays `[T; N]` and tuples of these, and structs of these with `#[derive(Differentiable)]`",
    note = "a struct with a field that holds arrays, such as a `Vec`, is itself `#[pullback(by_reference)]`",
    note = "a struct of vectors, or another name for a vector, is taken by value as `#[pullback(by_reference)] s: State`, where nothing else in the function \
            tells, and a variable that is one has its type, `let s: State = f(x);`, before it is handed on",
    note = "take a reference otherwise, or mark the parameter `#[constant]`"
)]
pub trait Value:
    for<'a> Output<Cotangent<'a> = <Self as Value>::Tangent, Gradient = <Self as Value>::Tangent>
{
    /// The type of a gradient with respect to such a value.
    type Tangent: Tangent;

    /// The seed of a gradient: one, for scalars; nothing else has one.
    #[inline(always)]
    fn seed() -> Option<Self::Tangent> {
        None
    }

    /// A copy of what has just been stored for a call that goes by pointer.
    #[doc(hidden)]
    #[inline(always)]
    fn received(&self) -> Self
    where
        Self: Clone,
    {
        self.clone()
    }
}

/// What a plain struct holds.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no value made of numbers, as the fields of a plain struct are",
    label = "this owns memory, or has no `#[derive(Differentiable)]`",
    note = "a macro does not see that a type owns memory: say so by `#[pullback(by_reference)]` in front of the struct or enum that holds it",
    note = "mark the field `#[constant]` if no gradient with respect to it is wanted"
)]
pub trait Held: Value {}

#[diagnostic::do_not_recommend]
impl<T: Value> Held for T {}

/// A type of which this can be mentioned is [`Held`].
#[doc(hidden)]
pub struct PartOfPlain<T: Held>(std::marker::PhantomData<T>);

/// No type is this: see `derive/by_value.rs` of the macros.
#[doc(hidden)]
pub trait NoValue: Value {}

/// The gradient with respect to a [`Value`]: a vector space.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the gradient of a number, nor of a struct of numbers",
    label = "something here is taken for one, and owns memory",
    note = "bind it with its type before: `let x: Vec<f64> = f(&s.x); s.x = x;`",
    note = "a box in a field of a local gets another one, or none, by `let old: Option<Box<Node>> = std::mem::replace(&mut s.next, None);`"
)]
pub trait Tangent: Copy + Send + 'static {
    /// The neutral element of addition.
    fn zero() -> Self;
    /// `self += other`
    fn accumulate(&mut self, other: Self);
}

// Not supertraits of `Scalar`: in generic code their names would meet those of the user's own bounds, such as `T::zero()`.
#[diagnostic::do_not_recommend]
impl<T: Scalar> Value for T {
    type Tangent = T;

    #[inline(always)]
    fn seed() -> Option<T> {
        Some(T::gradient_seed())
    }

    #[inline(always)]
    fn received(&self) -> T {
        one_by_one(self)
    }
}

#[diagnostic::do_not_recommend]
impl<T: Scalar> Tangent for T {
    #[inline(always)]
    fn zero() -> Self {
        T::default()
    }
    #[inline(always)]
    fn accumulate(&mut self, other: Self) {
        *self += other;
    }
}

macro_rules! inert {
    ($($t:ty),*) => {$(
        impl Value for $t {
            type Tangent = ();

            #[inline(always)]
            fn received(&self) -> Self {
                one_by_one(self)
            }
        }
        output_of_value!([] $t);
    )*};
}
inert!(bool, char, i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize, &'static str);

impl<T: Value, const N: usize> Value for [T; N] {
    type Tangent = [T::Tangent; N];
}

impl<T: Tangent, const N: usize> Tangent for [T; N] {
    #[inline(always)]
    fn zero() -> Self {
        [T::zero(); N]
    }
    #[inline(always)]
    fn accumulate(&mut self, other: Self) {
        for (a, b) in self.iter_mut().zip(other) {
            a.accumulate(b);
        }
    }
}

macro_rules! tuple {
    ($($T:ident $i:tt),*) => {
        impl<$($T: Value),*> Value for ($($T,)*) {
            type Tangent = ($($T::Tangent,)*);
        }
        impl<$($T: Tangent),*> Tangent for ($($T,)*) {
            #[inline(always)]
            #[allow(clippy::unused_unit, reason = "the empty tuple")]
            fn zero() -> Self {
                ($($T::zero(),)*)
            }
            #[inline(always)]
            fn accumulate(&mut self, _other: Self) {
                $(self.$i.accumulate(_other.$i);)*
            }
        }
    };
}
for_tuples!(tuple);

/// The zero gradient of whatever type the surrounding code asks for.
#[inline(always)]
pub fn zero<T: Tangent>() -> T {
    T::zero()
}

/// The zero gradient of `value`.
#[inline(always)]
pub fn zero_of<T: Value>(_value: &T) -> T::Tangent {
    T::Tangent::zero()
}

/// Tells the compiler the type of a gradient by the value that it belongs to.
#[inline(always)]
pub fn is_gradient_of<T: Value>(_gradient: &T::Tangent, _value: &T) {}

/// `-d`, where the type of `d` may be still to be inferred: the operator itself asks for it.
#[inline(always)]
pub fn negated<T: std::ops::Neg<Output = T>>(d: T) -> T {
    -d
}

/// Adds `gradient` to what has come to `total` already.
#[inline(always)]
pub fn accumulate<T: Tangent>(total: &mut T, gradient: T) {
    total.accumulate(gradient);
}

/// Empties `total` and returns what it held: an assignment ends the life of the gradient of what it overwrites.
#[inline(always)]
pub fn take<T: Tangent>(total: &mut T) -> T {
    std::mem::replace(total, T::zero())
}
