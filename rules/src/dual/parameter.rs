//! Arguments on their way to a function of dual numbers, and derivatives on their way back.

use crate::dual::direction::Direction;
use crate::dual::lift::{Lift, LiftRef};
use crate::dual::number::DualNumber;
use crate::dual::numbers::Numbers;
use crate::float::Float;
use crate::function::{
    ConstCloned, ConstMut, ConstRef, ConstVal, Held, Mut, Parameter, Parameters, Ref, Val, for_tuples,
};
use crate::optional_references::ConstOptRef;
use crate::shadow::Differentiable;
use crate::tangent::{Tangent, Value};
use crate::whole::{Cloned, Restorable};

/// A parameter whose argument may be made of dual numbers with components `T` and `N` directions. Visitors get coordinates that lie side
/// by side together.
pub trait LiftParameter<const N: usize, T: Float = f64>: Parameter {
    /// How the function of dual numbers takes it.
    type Dual: Parameter;
    /// Where the argument in dual numbers lives, from call to call.
    type Store: Default + Send;

    /// Brings the argument to `store`. The derivatives of its coordinates are to be set.
    fn load(store: &mut Self::Store, arg: &Self::Arg<'_>);
    /// Both [`load`](Self::load) and [`direct`](Self::direct), in the direction number 0.
    ///
    /// # Panics
    /// If `direction` has another size.
    #[inline]
    fn load_along(
        store: &mut Self::Store,
        arg: &Self::Arg<'_>,
        direction: &dyn Direction,
        flat: &mut Vec<f64>,
        function: &str,
    ) {
        Self::load(store, arg);
        Self::direct(store, 0, direction, flat, function);
    }
    /// The argument of the function of dual numbers.
    fn lend<'a>(store: &'a mut Self::Store, arg: Self::Arg<'a>) -> <Self::Dual as Parameter>::Arg<'a>;
    /// Brings what the function has written back to a `&mut` argument.
    fn unload(arg: &mut Self::Arg<'_>, store: &Self::Store);
    /// Brings a `&mut` argument back that is passed as it is.
    #[inline]
    fn restore(_arg: &mut Self::Arg<'_>, _store: &Self::Store) {}
    /// How many bytes of the heap `store` owns.
    #[inline]
    fn store_size(_store: &Self::Store) -> usize {
        0
    }
    /// Visits the coordinates of an active argument.
    fn visit_duals<F: FnMut(&mut [DualNumber<T, N>])>(store: &mut Self::Store, visitor: &mut F);
    /// Sets the derivatives number `k` of an argument of `function`, by way of `flat` where `direction` does not lie in one piece.
    ///
    /// # Panics
    /// If `direction` has another size.
    #[inline]
    fn direct(
        store: &mut Self::Store,
        k: usize,
        direction: &dyn Direction,
        flat: &mut Vec<f64>,
        function: &str,
    ) {
        let components = direction.as_run().unwrap_or_else(|| {
            flat.clear();
            direction.append_to(flat);
            flat
        });
        let (mut rest, mut size) = (components, 0);
        Self::visit_duals(store, &mut |run| {
            size += run.len();
            let (own, others) = rest.split_at(run.len().min(rest.len()));
            for (x, component) in run.iter_mut().zip(own) {
                x.set_part(k, T::from_f64(*component));
            }
            rest = others;
        });
        if components.len() != size {
            other_size(function, components.len(), size);
        }
    }
    /// The same, of an active `&mut` argument.
    fn visit_outputs<F: FnMut(&mut [DualNumber<T, N>])>(store: &mut Self::Store, visitor: &mut F);
    /// Visits the coordinates of its gradient in dual numbers.
    fn visit_dual_gradient<F: FnMut(&mut [DualNumber<T, N>])>(
        gradient: &mut <Self::Dual as Parameter>::Gradient,
        buffer: &mut <Self::Dual as Parameter>::Buffer,
        visitor: &mut F,
    );
    /// The same, of an active `&mut` argument.
    fn visit_dual_written<F: FnMut(&mut [DualNumber<T, N>])>(
        buffer: &mut <Self::Dual as Parameter>::Buffer,
        visitor: &mut F,
    );
    /// Visits the coordinates of its gradient.
    fn visit_gradient<F: FnMut(&mut [f64])>(
        gradient: &mut Self::Gradient,
        buffer: &mut Self::Buffer,
        visitor: &mut F,
    );
    /// Brings the buffer of an active `&mut` argument to its shape; what is in it does not matter.
    #[inline]
    fn prepare_written(_buffer: &mut Self::Buffer, _arg: &Self::Arg<'_>) {}
    /// Visits the coordinates of the gradient of an active `&mut` argument.
    fn visit_written<F: FnMut(&mut [f64])>(buffer: &mut Self::Buffer, visitor: &mut F);
}

#[cold]
fn other_size(function: &str, given: usize, size: usize) -> ! {
    panic!("`{function}`: a direction has {given} components, and its argument has {size}")
}

impl<A, T: Float, const N: usize> LiftParameter<N, T> for Val<A>
where
    A: Value<Tangent: Numbers<f64>> + Copy + 'static,
    A: Lift<T, N, Dual: Value<Tangent: Numbers<DualNumber<T, N>>> + Numbers<DualNumber<T, N>> + Copy>,
{
    type Dual = Val<A::Dual>;
    type Store = Option<A::Dual>;

    #[inline]
    fn load(store: &mut Self::Store, arg: &A) {
        *store = Some(arg.lift());
    }
    #[inline]
    fn lend(store: &mut Self::Store, _arg: A) -> A::Dual {
        store.expect("loaded before")
    }
    #[inline]
    fn unload(_arg: &mut A, _store: &Self::Store) {}
    #[inline]
    fn visit_duals<F: FnMut(&mut [DualNumber<T, N>])>(store: &mut Self::Store, visitor: &mut F) {
        store.visit_runs(visitor);
    }
    #[inline]
    fn visit_outputs<F: FnMut(&mut [DualNumber<T, N>])>(_store: &mut Self::Store, _visitor: &mut F) {}
    #[inline]
    fn visit_dual_gradient<F: FnMut(&mut [DualNumber<T, N>])>(
        gradient: &mut <A::Dual as Value>::Tangent,
        (): &mut (),
        visitor: &mut F,
    ) {
        gradient.visit_runs(visitor);
    }
    #[inline]
    fn visit_dual_written<F: FnMut(&mut [DualNumber<T, N>])>((): &mut (), _visitor: &mut F) {}
    #[inline]
    fn visit_gradient<F: FnMut(&mut [f64])>(gradient: &mut A::Tangent, (): &mut (), visitor: &mut F) {
        gradient.visit_runs(visitor);
    }
    #[inline]
    fn visit_written<F: FnMut(&mut [f64])>((): &mut (), _visitor: &mut F) {}
}

macro_rules! by_reference {
    ($Mode:ident, $unload:expr, $outputs:expr) => {
        impl<A, T: Float, const N: usize> LiftParameter<N, T> for $Mode<A>
        where
            A: Differentiable<Gradient: Numbers<f64>> + ?Sized + 'static,
            A: LiftRef<
                    T,
                    N,
                    Dual: Differentiable<Gradient: Numbers<DualNumber<T, N>>>
                              + Numbers<DualNumber<T, N>>
                              + 'static,
                >,
        {
            type Dual = $Mode<A::Dual>;
            type Store = A::Store;

            #[inline]
            fn load(store: &mut Self::Store, arg: &Self::Arg<'_>) {
                A::load(arg, store);
            }
            #[inline]
            fn load_along(
                store: &mut Self::Store,
                arg: &Self::Arg<'_>,
                direction: &dyn Direction,
                flat: &mut Vec<f64>,
                function: &str,
            ) {
                if !direction.as_run().is_some_and(|tangents| A::load_along(arg, store, tangents)) {
                    A::load(arg, store);
                    Self::direct(store, 0, direction, flat, function);
                }
            }
            #[inline]
            fn lend<'a>(
                store: &'a mut Self::Store,
                _arg: Self::Arg<'a>,
            ) -> <Self::Dual as Parameter>::Arg<'a> {
                A::lend(store)
            }
            #[inline]
            fn unload(arg: &mut Self::Arg<'_>, store: &Self::Store) {
                let unload: fn(&mut Self::Arg<'_>, &A::Store) = $unload;
                unload(arg, store);
            }
            #[inline]
            fn store_size(store: &Self::Store) -> usize {
                A::store_size(store)
            }
            #[inline]
            fn visit_duals<F: FnMut(&mut [DualNumber<T, N>])>(store: &mut Self::Store, visitor: &mut F) {
                A::lend(store).visit_runs(visitor);
            }
            #[inline]
            fn visit_outputs<F: FnMut(&mut [DualNumber<T, N>])>(store: &mut Self::Store, visitor: &mut F) {
                if $outputs {
                    A::lend(store).visit_runs(visitor);
                }
            }
            #[inline]
            fn visit_dual_gradient<F: FnMut(&mut [DualNumber<T, N>])>(
                (): &mut (),
                buffer: &mut <A::Dual as Differentiable>::Gradient,
                visitor: &mut F,
            ) {
                buffer.visit_runs(visitor);
            }
            #[inline]
            fn visit_dual_written<F: FnMut(&mut [DualNumber<T, N>])>(
                buffer: &mut <A::Dual as Differentiable>::Gradient,
                visitor: &mut F,
            ) {
                if $outputs {
                    buffer.visit_runs(visitor);
                }
            }
            #[inline]
            fn visit_gradient<F: FnMut(&mut [f64])>((): &mut (), buffer: &mut A::Gradient, visitor: &mut F) {
                buffer.visit_runs(visitor);
            }
            #[inline]
            fn prepare_written(buffer: &mut A::Gradient, arg: &Self::Arg<'_>) {
                if $outputs {
                    arg.prepare_to_overwrite(buffer);
                }
            }
            #[inline]
            fn visit_written<F: FnMut(&mut [f64])>(buffer: &mut A::Gradient, visitor: &mut F) {
                if $outputs {
                    buffer.visit_runs(visitor);
                }
            }
        }
    };
}
by_reference!(Ref, |_, _| {}, false);
by_reference!(Mut, |arg, store| A::unload(arg, store), true);

/// What carries no gradient is passed as it is.
macro_rules! passed {
    ([$($generics:tt)*] $Mode:ident<$A:ident>, $Store:ty, load: $load:expr, restore: $restore:expr $(, size: $size:expr)?) => {
        impl<$($generics)*, T: Float, const N: usize> LiftParameter<N, T> for $Mode<$A> {
            type Dual = Self;
            type Store = $Store;

            #[inline]
            fn load(store: &mut Self::Store, arg: &Self::Arg<'_>) {
                let load: fn(&mut Self::Store, &Self::Arg<'_>) = $load;
                load(store, arg);
            }
            #[inline]
            fn lend<'a>(_store: &'a mut Self::Store, arg: Self::Arg<'a>) -> Self::Arg<'a> {
                arg
            }
            #[inline]
            fn unload(_arg: &mut Self::Arg<'_>, _store: &Self::Store) {}
            #[inline]
            fn restore(arg: &mut Self::Arg<'_>, store: &Self::Store) {
                let restore: fn(&mut Self::Arg<'_>, &Self::Store) = $restore;
                restore(arg, store);
            }
            $(
                #[inline]
                fn store_size(store: &Self::Store) -> usize {
                    store.as_ref().map_or(0, $size)
                }
            )?
            #[inline]
            fn visit_duals<F: FnMut(&mut [DualNumber<T, N>])>(_store: &mut Self::Store, _visitor: &mut F) {}
            #[inline]
            fn visit_outputs<F: FnMut(&mut [DualNumber<T, N>])>(_store: &mut Self::Store, _visitor: &mut F) {}
            #[inline]
            fn visit_dual_gradient<F: FnMut(&mut [DualNumber<T, N>])>(
                _gradient: &mut Self::Gradient,
                _buffer: &mut Self::Buffer,
                _visitor: &mut F,
            ) {
            }
            #[inline]
            fn visit_dual_written<F: FnMut(&mut [DualNumber<T, N>])>(_buffer: &mut Self::Buffer, _visitor: &mut F) {}
            #[inline]
            fn visit_gradient<F: FnMut(&mut [f64])>(
                _gradient: &mut Self::Gradient,
                _buffer: &mut Self::Buffer,
                _visitor: &mut F,
            ) {
            }
            #[inline]
            fn visit_written<F: FnMut(&mut [f64])>(_buffer: &mut Self::Buffer, _visitor: &mut F) {}
        }
    };
}
passed!([A: Value + Copy + 'static] Held<A>, (), load: |_, _| {}, restore: |_, _| {});
passed!([A: Copy + 'static] ConstVal<A>, (), load: |_, _| {}, restore: |_, _| {});
passed!([A: Clone + 'static] ConstCloned<A>, (), load: |_, _| {}, restore: |_, _| {});
passed!([A: ?Sized + 'static] ConstOptRef<A>, (), load: |_, _| {}, restore: |_, _| {});
passed!([A: ?Sized + 'static] ConstRef<A>, (), load: |_, _| {}, restore: |_, _| {});
passed! {
    [A: Restorable<Cloned> + ?Sized + 'static] ConstMut<A>, Option<<A as Restorable<Cloned>>::Copy>,
    load: |store, arg| match store {
        Some(copy) => arg.copy_to(copy),
        None => *store = Some(arg.copied()),
    },
    restore: |arg, store| arg.bring_back(store.as_ref().expect("loaded before")),
    size: A::copy_size
}

/// A tuple of [`LiftParameter`]s.
pub trait LiftParameters<const N: usize, T: Float = f64>: Parameters {
    /// See [`LiftParameter::Dual`].
    type Dual: Parameters;
    /// See [`LiftParameter::Store`].
    type Stores: Default + Send;

    /// See [`LiftParameter::load`].
    fn load(stores: &mut Self::Stores, args: &Self::Args<'_>);
    /// See [`LiftParameter::load_along`]: there is a direction for each parameter.
    fn load_along(
        stores: &mut Self::Stores,
        args: &Self::Args<'_>,
        directions: &[&dyn Direction],
        flat: &mut Vec<f64>,
        function: &str,
    );
    /// See [`LiftParameter::lend`].
    fn lend<'a>(stores: &'a mut Self::Stores, args: Self::Args<'a>) -> <Self::Dual as Parameters>::Args<'a>;
    /// See [`LiftParameter::unload`].
    fn unload(args: &mut Self::Args<'_>, stores: &Self::Stores);
    /// See [`LiftParameter::restore`].
    fn restore(args: &mut Self::Args<'_>, stores: &Self::Stores);
    /// See [`LiftParameter::store_size`].
    fn stores_size(stores: &Self::Stores) -> usize;
    /// See [`LiftParameter::visit_duals`].
    fn visit_duals<F: FnMut(&mut [DualNumber<T, N>])>(stores: &mut Self::Stores, visitor: &mut F);
    /// See [`LiftParameter::direct`]: there is a direction for each parameter.
    fn direct(
        stores: &mut Self::Stores,
        k: usize,
        directions: &[&dyn Direction],
        flat: &mut Vec<f64>,
        function: &str,
    );
    /// See [`LiftParameter::visit_outputs`].
    fn visit_outputs<F: FnMut(&mut [DualNumber<T, N>])>(stores: &mut Self::Stores, visitor: &mut F);
    /// See [`LiftParameter::visit_dual_gradient`].
    fn visit_dual_gradient<F: FnMut(&mut [DualNumber<T, N>])>(
        gradients: &mut <Self::Dual as Parameters>::Gradients,
        buffers: &mut <Self::Dual as Parameters>::Buffers,
        visitor: &mut F,
    );
    /// See [`LiftParameter::visit_dual_written`].
    fn visit_dual_written<F: FnMut(&mut [DualNumber<T, N>])>(
        buffers: &mut <Self::Dual as Parameters>::Buffers,
        visitor: &mut F,
    );
    /// Gradients of parameters passed by value, all zero.
    fn zeros() -> Self::Gradients;
    /// See [`LiftParameter::visit_gradient`].
    fn visit_gradient<F: FnMut(&mut [f64])>(
        gradients: &mut Self::Gradients,
        buffers: &mut Self::Buffers,
        visitor: &mut F,
    );
    /// See [`LiftParameter::prepare_written`].
    fn prepare_written(buffers: &mut Self::Buffers, args: &Self::Args<'_>);
    /// See [`LiftParameter::visit_written`].
    fn visit_written<F: FnMut(&mut [f64])>(buffers: &mut Self::Buffers, visitor: &mut F);
}

macro_rules! parameters {
    ($($P:ident $i:tt),*) => {
        impl<const WIDTH: usize, Component: Float, $($P: LiftParameter<WIDTH, Component>),*> LiftParameters<WIDTH, Component> for ($($P,)*) {
            type Dual = ($($P::Dual,)*);
            type Stores = Nested<($(Nested<$P::Store>,)*)>;

            #[inline(always)]
            fn load(_stores: &mut Self::Stores, _args: &Self::Args<'_>) {
                $($P::load(&mut _stores.0.$i.0, &_args.$i);)*
            }
            #[inline]
            fn load_along(
                _stores: &mut Self::Stores,
                _args: &Self::Args<'_>,
                _directions: &[&dyn Direction],
                _flat: &mut Vec<f64>,
                _function: &str,
            ) {
                $($P::load_along(&mut _stores.0.$i.0, &_args.$i, _directions[$i], _flat, _function);)*
            }
            #[inline(always)]
            #[allow(clippy::unused_unit, reason = "the empty list")]
            fn lend<'a>(_stores: &'a mut Self::Stores, _args: Self::Args<'a>) -> <Self::Dual as Parameters>::Args<'a> {
                ($($P::lend(&mut _stores.0.$i.0, _args.$i),)*)
            }
            fn unload(_args: &mut Self::Args<'_>, _stores: &Self::Stores) {
                $($P::unload(&mut _args.$i, &_stores.0.$i.0);)*
            }
            fn restore(_args: &mut Self::Args<'_>, _stores: &Self::Stores) {
                $($P::restore(&mut _args.$i, &_stores.0.$i.0);)*
            }
            fn stores_size(_stores: &Self::Stores) -> usize {
                0 $(+ $P::store_size(&_stores.0.$i.0))*
            }
            #[inline(always)]
            fn visit_duals<Visitor: FnMut(&mut [DualNumber<Component, WIDTH>])>(_stores: &mut Self::Stores, _visitor: &mut Visitor) {
                $($P::visit_duals(&mut _stores.0.$i.0, _visitor);)*
            }
            #[inline]
            fn direct(
                _stores: &mut Self::Stores,
                _k: usize,
                _directions: &[&dyn Direction],
                _flat: &mut Vec<f64>,
                _function: &str,
            ) {
                $($P::direct(&mut _stores.0.$i.0, _k, _directions[$i], _flat, _function);)*
            }
            fn visit_outputs<Visitor: FnMut(&mut [DualNumber<Component, WIDTH>])>(_stores: &mut Self::Stores, _visitor: &mut Visitor) {
                $($P::visit_outputs(&mut _stores.0.$i.0, _visitor);)*
            }
            #[inline(always)]
            fn visit_dual_gradient<Visitor: FnMut(&mut [DualNumber<Component, WIDTH>])>(
                _gradients: &mut <Self::Dual as Parameters>::Gradients,
                _buffers: &mut <Self::Dual as Parameters>::Buffers,
                _visitor: &mut Visitor,
            ) {
                $($P::visit_dual_gradient(&mut _gradients.$i, &mut _buffers.$i, _visitor);)*
            }
            fn visit_dual_written<Visitor: FnMut(&mut [DualNumber<Component, WIDTH>])>(
                _buffers: &mut <Self::Dual as Parameters>::Buffers,
                _visitor: &mut Visitor,
            ) {
                $($P::visit_dual_written(&mut _buffers.$i, _visitor);)*
            }
            #[allow(clippy::unused_unit, reason = "the empty list")]
            fn zeros() -> Self::Gradients {
                ($(<$P::Gradient as Tangent>::zero(),)*)
            }
            fn visit_gradient<Visitor: FnMut(&mut [f64])>(
                _gradients: &mut Self::Gradients,
                _buffers: &mut Self::Buffers,
                _visitor: &mut Visitor,
            ) {
                $($P::visit_gradient(&mut _gradients.$i, &mut _buffers.$i, _visitor);)*
            }
            fn prepare_written(_buffers: &mut Self::Buffers, _args: &Self::Args<'_>) {
                $($P::prepare_written(&mut _buffers.$i, &_args.$i);)*
            }
            fn visit_written<Visitor: FnMut(&mut [f64])>(_buffers: &mut Self::Buffers, _visitor: &mut Visitor) {
                $($P::visit_written(&mut _buffers.$i, _visitor);)*
            }
        }

        impl<$($P: Default),*> Default for Nested<($(Nested<$P>,)*)> {
            #[allow(clippy::unused_unit, reason = "the empty list")]
            fn default() -> Self {
                Nested(($(Nested($P::default()),)*))
            }
        }
    };
}

/// Tuples of more than twelve elements have no `Default` of their own.
#[derive(Debug)]
pub struct Nested<T>(T);

for_tuples!(parameters);
