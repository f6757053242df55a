//! The arguments of a function in dual numbers, and the directions in which it is differentiated.

use std::mem::needs_drop;

use pullback_rules::__private::{Direction, DualNumber, LiftParameters, Liftable, Numbers};
use pullback_rules::{Args, Float, Function, HeapSize, Parameters};

/// A visitor of coordinates, one by one, as one of coordinates that lie side by side.
pub(crate) fn each<S>(mut visitor: impl FnMut(&mut S)) -> impl FnMut(&mut [S]) {
    move |run| run.iter_mut().for_each(&mut visitor)
}

/// The arguments of `F` in dual numbers with components `T` and `N` directions.
pub struct Lifted<F: Liftable<N, T>, const N: usize, T: Float = f64> {
    stores: <F::Parameters as LiftParameters<N, T>>::Stores,
    /// A direction, or the part of one that does not lie in one piece.
    flat: Vec<f64>,
}

impl<F: Liftable<N, T>, const N: usize, T: Float> Default for Lifted<F, N, T> {
    fn default() -> Self {
        Lifted { stores: Default::default(), flat: Vec::new() }
    }
}

impl<F: Liftable<N, T>, const N: usize, T: Float> Lifted<F, N, T> {
    /// Whether the arguments in dual numbers are on the heap.
    pub(crate) const ON_HEAP: bool = needs_drop::<<F::Parameters as LiftParameters<N, T>>::Stores>();

    /// The bytes of the heap that it owns.
    pub(crate) fn memory(&self) -> usize {
        F::Parameters::stores_size(&self.stores) + self.flat.heap_size()
    }

    /// Takes over the values of the arguments. Their derivatives are to be set.
    pub(crate) fn load(&mut self, args: &Args<'_, F>) {
        F::Parameters::load(&mut self.stores, args);
    }

    /// How many coordinates the active arguments have.
    pub(crate) fn dimension(&mut self) -> usize {
        let mut count = 0;
        F::Parameters::visit_duals(&mut self.stores, &mut |run| count += run.len());
        count
    }

    /// Runs the function, which leaves `args` as they are. What it makes is to be [visited](Self::visit_made).
    pub(crate) fn run(&mut self, mut args: Args<'_, F>) -> <F::Dual as Function>::Output {
        let output = <F::Dual as Function>::primal(self.lend(F::Parameters::reborrow(&mut args)));
        self.restore(&mut args);
        output
    }

    /// Visits what the function has made: its value, and what it has written to its `&mut` arguments.
    pub(crate) fn visit_made(
        &mut self,
        output: &mut <F::Dual as Function>::Output,
        visitor: &mut impl FnMut(&mut DualNumber<T, N>),
    ) {
        output.visit(visitor);
        self.visit_outputs(visitor);
    }

    /// The arguments of the function of dual numbers.
    pub(crate) fn lend<'a>(&'a mut self, args: Args<'a, F>) -> Args<'a, F::Dual> {
        F::Parameters::lend(&mut self.stores, args)
    }

    /// Brings what the function has written back to its `&mut` arguments.
    pub(crate) fn unload(&self, args: &mut Args<'_, F>) {
        F::Parameters::unload(args, &self.stores);
    }

    /// Brings `&mut` arguments back that the function of dual numbers has as they are.
    pub(crate) fn restore(&self, args: &mut Args<'_, F>) {
        F::Parameters::restore(args, &self.stores);
    }

    /// Visits what the function has written to its `&mut` arguments.
    pub(crate) fn visit_outputs(&mut self, visitor: &mut impl FnMut(&mut DualNumber<T, N>)) {
        F::Parameters::visit_outputs(&mut self.stores, &mut each(visitor));
    }
}

impl<F: Liftable<N>, const N: usize> Lifted<F, N> {
    /// Sets the derivatives in the direction number `k`, which consists of one for each argument.
    ///
    /// # Panics
    /// If one has another size than its argument.
    #[inline]
    pub fn direct(&mut self, k: usize, directions: &[&dyn Direction]) {
        F::Parameters::direct(&mut self.stores, k, directions, &mut self.flat, F::NAME);
    }

    /// Takes over the values of the arguments, with their derivatives in a single direction, which consists of one for each argument.
    ///
    /// # Panics
    /// If one has another size than its argument.
    #[inline]
    pub(crate) fn load_along(&mut self, args: &Args<'_, F>, directions: &[&dyn Direction]) {
        F::Parameters::load_along(&mut self.stores, args, directions, &mut self.flat, F::NAME);
    }

    /// Sets the derivatives in the direction number `k` to what `append` appends to a list: a number for each coordinate.
    ///
    /// # Panics
    /// If that are more or fewer.
    #[inline]
    pub(crate) fn direct_flat(&mut self, k: usize, append: impl FnOnce(&mut Vec<f64>)) {
        let Lifted { stores, flat } = self;
        flat.clear();
        append(flat);
        let mut components = flat.iter();
        let mut missing = 0;
        let visitor = |x: &mut DualNumber<f64, N>| match components.next() {
            Some(component) => x.set_part(k, *component),
            None => missing += 1,
        };
        F::Parameters::visit_duals(stores, &mut each(visitor));
        let (given, needed) = (flat.len(), flat.len() - components.len() + missing);
        assert!(
            given == needed,
            "`{}`: the direction has {given} components, and the active arguments have {needed}",
            F::NAME
        );
    }

    /// Sets the derivatives of each coordinate to what `tangent` says, which gets its number.
    pub(crate) fn direct_each(&mut self, mut tangent: impl FnMut(usize) -> [f64; N]) {
        let mut index = 0;
        let visitor = |x: &mut DualNumber<f64, N>| {
            x.set_tangent(tangent(index));
            index += 1;
        };
        F::Parameters::visit_duals(&mut self.stores, &mut each(visitor));
    }

    /// Sets the derivatives of each coordinate to those with respect to the coordinates from number `first` on.
    pub(crate) fn direct_along(&mut self, first: usize) {
        self.direct_each(|index| std::array::from_fn(|k| if index == first + k { 1.0 } else { 0.0 }));
    }
}
