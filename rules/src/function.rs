//! What a differentiable function is to the type system: a list of parameters and an output.
//!
//! `#[differentiable]` and `#[derive(Rule)]` emit, beside a function `f`, a *type* `f` that implements [`Function`]
//! by naming the passing mode of each parameter. Everything else follows from these modes.

use std::marker::PhantomData;

use crate::lengths::{Extent, Lengths};
use crate::output::Output;
use crate::shadow::{Differentiable, Ignored, Shadow};
use crate::tangent::{Tangent, Value};
use crate::untouched::Untouched;

/// The signature of a function that has a rule.
pub trait Function: Sized + 'static {
    /// A tuple of [`Parameter`] modes, in the order of the function's parameters.
    type Parameters: Parameters;
    /// What the function returns.
    type Output: Output;
    /// The function's name, for messages.
    const NAME: &'static str;
    /// What it does itself to the lengths of vectors behind references.
    #[doc(hidden)]
    const LENGTHS: Lengths = Lengths::Kept;
    /// Whether it passes on references through which others may do so.
    #[doc(hidden)]
    const LENDS: bool = false;

    /// The function itself, the *primal*.
    fn primal(args: Args<'_, Self>) -> Self::Output;
}

/// The arguments of one call of `F`, as a tuple.
pub type Args<'a, F> = <<F as Function>::Parameters as Parameters>::Args<'a>;
/// The shadows of the arguments of one call of `F`: one entry for each parameter, [`Ignored`] unless the
/// parameter is an active reference.
pub type Shadows<'a, F> = <<F as Function>::Parameters as Parameters>::Shadows<'a>;
/// What a pullback of `F` returns: one entry for each parameter, `()` unless the parameter is passed by value.
pub type Gradients<F> = <<F as Function>::Parameters as Parameters>::Gradients;
/// Storage for the shadows of the by-reference parameters of `F`.
pub type Buffers<F> = <<F as Function>::Parameters as Parameters>::Buffers;
/// The gradient with respect to the output of `F`, with which a pullback starts.
pub type Cotangent<'a, F> = <<F as Function>::Output as Output>::Cotangent<'a>;

/// How one parameter is passed, and hence how its gradient is passed back.
pub trait Parameter: 'static {
    /// The argument.
    type Arg<'a>;
    /// What the pullback gets for this argument beside the argument itself.
    type Shadow<'a>;
    /// What the pullback returns for this argument.
    type Gradient: Tangent;
    /// Storage for the shadow, kept between calls.
    type Buffer: Send;

    /// Storage that holds nothing yet.
    fn buffer() -> Self::Buffer;
    /// A shorter borrow of the same argument, so that forward and pullback can both have it.
    fn reborrow<'b>(arg: &'b mut Self::Arg<'_>) -> Self::Arg<'b>;
    /// The same where `arg` has just been stored for a call that goes by pointer: numbers are loaded one by one. In pairs, as
    /// the compiler likes to, they would be waited for until all that the processor does before is done.
    #[inline(always)]
    fn receive<'b>(arg: &'b mut Self::Arg<'_>) -> Self::Arg<'b> {
        Self::reborrow(arg)
    }
    /// Brings `buffer` to the shape of `arg`, filled with zeros.
    fn prepare(buffer: &mut Self::Buffer, arg: &Self::Arg<'_>);
    /// Brings `buffer` to the shape of `arg`; what is in it does not matter.
    fn prepare_to_overwrite(buffer: &mut Self::Buffer, arg: &Self::Arg<'_>) {
        Self::prepare(buffer, arg);
    }
    /// The shadow that lives in `buffer`.
    fn shadow(buffer: &mut Self::Buffer) -> Self::Shadow<'_>;
    /// Whether the function may change the lengths of vectors in the argument.
    const RESIZES: bool = false;
    /// How much room functions among the arguments ask for, see [`State::least_room`](crate::State::least_room).
    #[inline(always)]
    fn least_room(_arg: &Self::Arg<'_>) -> usize {
        0
    }
    /// See [`Differentiable::fit`].
    #[inline(always)]
    fn fit(_buffer: &mut Self::Buffer, _arg: &Self::Arg<'_>, _to: Extent) {}
    /// How many bytes of the heap `buffer` owns.
    fn buffer_size(_buffer: &Self::Buffer) -> usize {
        0
    }
    /// `shadow`, which has the shape of `arg`, in a form that tells the optimiser so: one check that they agree makes
    /// those in a loop redundant.
    #[inline(always)]
    fn align<'a>(_arg: &Self::Arg<'_>, shadow: Self::Shadow<'a>) -> Self::Shadow<'a> {
        shadow
    }
}

/// Parameters that are passed by value, each with its bounds, the type of its gradient, and how it is copied and received.
macro_rules! by_value {
    ($($(#[$doc:meta])* $Name:ident: [$($bounds:tt)*] => $Gradient:ty, $copy:path, $receive:path;)*) => {$(
        $(#[$doc])*
        pub struct $Name<T>(PhantomData<T>);

        impl<T: $($bounds)*> Parameter for $Name<T> {
            type Arg<'a> = T;
            type Shadow<'a> = Ignored;
            type Gradient = $Gradient;
            type Buffer = ();

            fn buffer() {}
            #[inline(always)]
            fn reborrow(arg: &mut T) -> T {
                $copy(arg)
            }
            #[inline(always)]
            fn receive(arg: &mut T) -> T {
                $receive(arg)
            }
            fn prepare((): &mut (), _: &T) {}
            fn shadow((): &mut ()) -> Ignored {
                Ignored
            }
        }
    )*};
}
by_value! {
    /// `x: T`. The pullback returns the gradient.
    Val: [Value + Clone + 'static] => T::Tangent, T::clone, T::received;
    /// `#[constant] x: T` of a float. Its gradient is zero whatever the caller passes.
    Held: [Value + Copy + 'static] => T::Tangent, T::clone, one_by_one;
    /// `#[constant] x: T`, or a type that carries no gradient.
    ConstVal: [Copy + 'static] => (), T::clone, one_by_one;
    /// The same of a type that may own memory, or is no more than `Clone` otherwise, such as an error.
    ConstCloned: [Clone + 'static] => (), T::clone, T::clone;
}

/// `x: &T`. The pullback adds the gradient to the shadow.
pub struct Ref<T: ?Sized>(PhantomData<T>);

impl<T: Differentiable + ?Sized + 'static> Parameter for Ref<T> {
    type Arg<'a> = &'a T;
    type Shadow<'a> = Shadow<T::Shadow<'a>>;
    type Gradient = ();
    type Buffer = T::Gradient;

    fn buffer() -> T::Gradient {
        T::empty()
    }
    #[inline(always)]
    fn reborrow<'b>(arg: &'b mut &T) -> &'b T {
        arg
    }
    fn prepare(buffer: &mut T::Gradient, arg: &&T) {
        arg.prepare(buffer);
    }
    fn prepare_to_overwrite(buffer: &mut T::Gradient, arg: &&T) {
        arg.prepare_to_overwrite(buffer);
    }
    fn shadow(buffer: &mut T::Gradient) -> Shadow<T::Shadow<'_>> {
        Shadow::new(T::shadow(buffer))
    }
    fn buffer_size(buffer: &T::Gradient) -> usize {
        T::gradient_size(buffer)
    }
    #[inline(always)]
    fn align<'a>(arg: &Self::Arg<'_>, shadow: Shadow<T::Shadow<'a>>) -> Shadow<T::Shadow<'a>> {
        shadow.map(|view| arg.align(view))
    }
}

/// `x: &mut T`. On entry of the pullback the shadow holds the gradient with respect to the value at the call's exit,
/// afterwards the gradient with respect to the value at its entry; the pullback brings the entry value back.
pub struct Mut<T: ?Sized>(PhantomData<T>);

impl<T: Differentiable + ?Sized + 'static> Parameter for Mut<T> {
    type Arg<'a> = &'a mut T;
    type Shadow<'a> = Shadow<T::Shadow<'a>>;
    type Gradient = ();
    type Buffer = T::Gradient;
    const RESIZES: bool = T::RESIZES;

    fn buffer() -> T::Gradient {
        T::empty()
    }
    #[inline(always)]
    fn reborrow<'b>(arg: &'b mut &mut T) -> &'b mut T {
        arg
    }
    fn prepare(buffer: &mut T::Gradient, arg: &&mut T) {
        arg.prepare(buffer);
    }
    #[inline]
    fn fit(buffer: &mut T::Gradient, arg: &&mut T, to: Extent) {
        arg.fit(buffer, to);
    }
    fn shadow(buffer: &mut T::Gradient) -> Shadow<T::Shadow<'_>> {
        Shadow::new(T::shadow(buffer))
    }
    fn buffer_size(buffer: &T::Gradient) -> usize {
        T::gradient_size(buffer)
    }
    #[inline(always)]
    fn align<'a>(arg: &Self::Arg<'_>, shadow: Shadow<T::Shadow<'a>>) -> Shadow<T::Shadow<'a>> {
        shadow.map(|view| arg.align(view))
    }
}

/// `#[constant] x: &T`.
pub struct ConstRef<T: ?Sized>(PhantomData<T>);

impl<T: ?Sized + 'static> Parameter for ConstRef<T> {
    type Arg<'a> = &'a T;
    type Shadow<'a> = Ignored;
    type Gradient = ();
    type Buffer = ();

    fn buffer() {}
    #[inline(always)]
    fn reborrow<'b>(arg: &'b mut &T) -> &'b T {
        arg
    }
    fn prepare((): &mut (), _: &&T) {}
    fn shadow((): &mut ()) -> Ignored {
        Ignored
    }
}

/// `#[constant] x: &mut T`, or of a type that carries no gradient. The pullback brings the entry value back.
pub struct ConstMut<T: ?Sized>(PhantomData<T>);

impl<T: ?Sized + 'static> Parameter for ConstMut<T> {
    type Arg<'a> = &'a mut T;
    type Shadow<'a> = Untouched;
    type Gradient = ();
    type Buffer = ();

    fn buffer() {}
    #[inline(always)]
    fn reborrow<'b>(arg: &'b mut &mut T) -> &'b mut T {
        arg
    }
    fn prepare((): &mut (), _: &&mut T) {}
    fn shadow((): &mut ()) -> Untouched {
        Untouched
    }
}

/// A copy of `number`, which the compiler does not load along with others.
#[inline(always)]
pub(crate) fn one_by_one<T: Copy>(number: &T) -> T {
    if size_of::<T>() > size_of::<u64>() {
        return *number;
    }
    // SAFETY: it is behind a reference, and can be copied.
    unsafe { std::ptr::read_volatile(number) }
}

/// A tuple of [`Parameter`]s; implemented for up to sixteen.
pub trait Parameters: 'static {
    /// See [`Parameter::Arg`].
    type Args<'a>;
    /// See [`Parameter::Shadow`].
    type Shadows<'a>;
    /// See [`Parameter::Gradient`].
    type Gradients: Tangent;
    /// See [`Parameter::Buffer`].
    type Buffers: Send;

    /// See [`Parameter::buffer`].
    fn buffers() -> Self::Buffers;
    /// See [`Parameter::reborrow`].
    fn reborrow<'b>(args: &'b mut Self::Args<'_>) -> Self::Args<'b>;
    /// See [`Parameter::receive`].
    fn receive<'b>(args: &'b mut Self::Args<'_>) -> Self::Args<'b>;
    /// See [`Parameter::prepare`].
    fn prepare(buffers: &mut Self::Buffers, args: &Self::Args<'_>);
    /// See [`Parameter::prepare_to_overwrite`], for parameters whose bits in `overwritten` are set; see [`Parameter::prepare`] for
    /// the others.
    fn prepare_to_overwrite(buffers: &mut Self::Buffers, args: &Self::Args<'_>, overwritten: u32);
    /// See [`Parameter::RESIZES`].
    const RESIZES: bool;
    /// See [`Parameter::least_room`].
    fn least_room(args: &Self::Args<'_>) -> usize;
    /// See [`Parameter::fit`].
    fn fit(buffers: &mut Self::Buffers, args: &Self::Args<'_>, to: Extent);
    /// How many there are.
    const COUNT: usize;
    /// Those whose gradients the pullback returns, as bits.
    const RETURNED: u32;
    /// Those whose gradients come to shadows.
    const SHADOWED: u32;
    /// See [`Parameter::align`].
    fn align<'a>(args: &Self::Args<'_>, shadows: Self::Shadows<'a>) -> Self::Shadows<'a>;
    /// See [`Parameter::shadow`].
    fn shadows(buffers: &mut Self::Buffers) -> Self::Shadows<'_>;
    /// See [`Parameter::buffer_size`].
    fn buffers_size(buffers: &Self::Buffers) -> usize;
}

macro_rules! parameters {
    ($($P:ident $i:tt),*) => {
        impl<$($P: Parameter),*> Parameters for ($($P,)*) {
            type Args<'a> = ($($P::Arg<'a>,)*);
            type Shadows<'a> = ($($P::Shadow<'a>,)*);
            type Gradients = ($($P::Gradient,)*);
            type Buffers = ($($P::Buffer,)*);

            #[allow(clippy::unused_unit, reason = "the empty list")]
            fn buffers() -> Self::Buffers {
                ($($P::buffer(),)*)
            }
            #[inline(always)]
            #[allow(clippy::unused_unit, reason = "the empty list")]
            fn reborrow<'b>(_args: &'b mut Self::Args<'_>) -> Self::Args<'b> {
                ($($P::reborrow(&mut _args.$i),)*)
            }
            #[inline(always)]
            #[allow(clippy::unused_unit, reason = "the empty list")]
            fn receive<'b>(_args: &'b mut Self::Args<'_>) -> Self::Args<'b> {
                ($($P::receive(&mut _args.$i),)*)
            }
            #[inline]
            fn prepare(_buffers: &mut Self::Buffers, _args: &Self::Args<'_>) {
                $($P::prepare(&mut _buffers.$i, &_args.$i);)*
            }
            fn prepare_to_overwrite(_buffers: &mut Self::Buffers, _args: &Self::Args<'_>, _overwritten: u32) {
                $(if _overwritten >> $i & 1 == 1 {
                    $P::prepare_to_overwrite(&mut _buffers.$i, &_args.$i);
                } else {
                    $P::prepare(&mut _buffers.$i, &_args.$i);
                })*
            }
            const RESIZES: bool = false $(|| $P::RESIZES)*;
            #[inline]
            fn least_room(_args: &Self::Args<'_>) -> usize {
                0 $(.max($P::least_room(&_args.$i)))*
            }
            #[inline]
            fn fit(_buffers: &mut Self::Buffers, _args: &Self::Args<'_>, _to: Extent) {
                $($P::fit(&mut _buffers.$i, &_args.$i, _to);)*
            }
            const COUNT: usize = {
                let numbers: &[usize] = &[$($i),*];
                numbers.len()
            };
            const RETURNED: u32 = 0 $(| ((size_of::<$P::Gradient>() > 0) as u32) << $i)*;
            const SHADOWED: u32 = 0 $(| ((size_of::<$P::Shadow<'static>>() > 0) as u32) << $i)*;
            #[inline(always)]
            #[allow(clippy::unused_unit, reason = "the empty list")]
            fn align<'a>(_args: &Self::Args<'_>, _shadows: Self::Shadows<'a>) -> Self::Shadows<'a> {
                ($($P::align(&_args.$i, _shadows.$i),)*)
            }
            #[inline]
            #[allow(clippy::unused_unit, reason = "the empty list")]
            fn shadows(_buffers: &mut Self::Buffers) -> Self::Shadows<'_> {
                ($($P::shadow(&mut _buffers.$i),)*)
            }
            fn buffers_size(_buffers: &Self::Buffers) -> usize {
                0 $(+ $P::buffer_size(&_buffers.$i))*
            }
        }
    };
}

/// Implements a macro's argument list `A 0, B 1, …` for every length up to sixteen.
macro_rules! for_tuples {
    ($macro:ident) => {
        $macro!();
        $macro!(A 0);
        $macro!(A 0, B 1);
        $macro!(A 0, B 1, C 2);
        $macro!(A 0, B 1, C 2, D 3);
        $macro!(A 0, B 1, C 2, D 3, E 4);
        $macro!(A 0, B 1, C 2, D 3, E 4, F 5);
        $macro!(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
        $macro!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
        $macro!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8);
        $macro!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9);
        $macro!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10);
        $macro!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11);
        $macro!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11, M 12);
        $macro!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11, M 12, N 13);
        $macro!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11, M 12, N 13, O 14);
        $macro!(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11, M 12, N 13, O 14, P 15);
    };
}
pub(crate) use for_tuples;

for_tuples!(parameters);
