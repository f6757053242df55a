//! Copies of what `&mut` arguments without gradient hold on entry, where code that cannot be undone changes them.

use crate::shadow::{Ignored, Shadow};
use crate::state::State;

/// Copies of one argument, one for each activation that is pending. Their memory is used again.
pub struct Entries<C> {
    copies: Vec<C>,
    pending: usize,
    /// What one of them owns.
    measure: Option<fn(&C) -> usize>,
}

impl<C> Entries<C> {
    /// No copy, and nothing allocated.
    pub const fn new() -> Self {
        Entries { copies: Vec::new(), pending: 0, measure: None }
    }

    /// Copies `argument`.
    pub fn save<T: Restorable<Copy = C> + ?Sized>(&mut self, argument: &T) {
        self.measure = Some(T::copy_size);
        match self.copies.get_mut(self.pending) {
            Some(copy) => argument.copy_to(copy),
            None => self.copies.push(argument.copied()),
        }
        self.pending += 1;
    }

    /// Brings the latest copy back.
    pub fn restore<T: Restorable<Copy = C> + ?Sized>(&mut self, argument: &mut T) {
        self.pending = self.pending.checked_sub(1).expect("a pullback follows its forward");
        argument.bring_back(&self.copies[self.pending]);
    }
}

impl<C> Default for Entries<C> {
    fn default() -> Self {
        Self::new()
    }
}

impl<C: Send> State for Entries<C> {
    fn reset(&mut self) {
        self.pending = 0;
    }
    fn shrink(&mut self) {
        *self = Self::new();
    }
    fn pending(&self) -> usize {
        size_of_val(&self.copies[..self.pending])
    }
    fn memory(&self) -> usize {
        self.copies.capacity() * size_of::<C>()
            + self.measure.map_or(0, |measure| self.copies.iter().map(measure).sum())
    }
}

/// An argument that can be copied and brought back.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is changed by code that cannot be undone, and cannot be copied either",
    label = "to be brought back, this `&mut` argument is copied on entry",
    note = "what is `Clone` can be copied, and slices of that; assignments to elements and fields are undone without a copy"
)]
pub trait Restorable {
    /// What owns a copy.
    type Copy: Send;
    /// A first copy.
    fn copied(&self) -> Self::Copy;
    /// A copy in the place of an older one.
    fn copy_to(&self, copy: &mut Self::Copy);
    /// Makes the argument what `copy` is.
    fn bring_back(&mut self, copy: &Self::Copy);
    /// How many bytes of the heap `copy` owns, as far as its type tells.
    fn copy_size(copy: &Self::Copy) -> usize;
}

impl<T: Clone + Send> Restorable for T {
    type Copy = T;
    fn copied(&self) -> T {
        self.clone()
    }
    fn copy_to(&self, copy: &mut T) {
        copy.clone_from(self);
    }
    fn bring_back(&mut self, copy: &T) {
        self.clone_from(copy);
    }
    fn copy_size(_copy: &T) -> usize {
        0
    }
}

impl<T: Clone + Send> Restorable for [T] {
    type Copy = Vec<T>;
    fn copied(&self) -> Vec<T> {
        self.to_vec()
    }
    fn copy_to(&self, copy: &mut Vec<T>) {
        self.clone_into(copy);
    }
    fn bring_back(&mut self, copy: &Vec<T>) {
        self.clone_from_slice(copy);
    }
    fn copy_size(copy: &Vec<T>) -> usize {
        copy.capacity() * size_of::<T>()
    }
}

/// In the place of a shadow, for a `&mut` argument without gradient.
#[derive(Clone, Copy, Debug, Default)]
pub struct Untouched;

impl<V: Inactive> From<Shadow<V>> for Untouched {
    fn from(_: Shadow<V>) -> Self {
        Untouched
    }
}

/// No shadow is that of an inactive argument: this is for the message alone.
#[diagnostic::on_unimplemented(
    message = "an active argument is written to by a function whose parameter carries no gradient",
    label = "what is written here would lose its gradient",
    note = "leave out `#[constant]` on the parameter, or pass a variable that only ever holds constants"
)]
pub trait Inactive {}

/// In the place of the shadow of a constant that a call may write to: the callee holds it constant as well.
#[inline(always)]
pub fn untouched<T: HeldConstant>() -> T {
    T::default()
}

/// The shadow of a parameter that is held constant.
#[diagnostic::on_unimplemented(
    message = "a call with active arguments may write to this `#[constant]` parameter, and what it writes would lose its gradient",
    label = "gets a `#[constant]` parameter",
    note = "leave out `#[constant]`, or put it on the parameter of the function that is called as well",
    note = "pass `&*` of the parameter if the call only reads it"
)]
pub trait HeldConstant: Default {}

impl HeldConstant for Ignored {}
impl HeldConstant for Untouched {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_copy_comes_back_first() {
        let mut entries = Entries::new();
        for _ in 0..2 {
            let mut x = vec![1, 2];
            entries.save(&x[..]);
            x[0] = 5;
            entries.save(&x[..]);
            x[1] = 6;
            assert_eq!(entries.pending(), 2 * size_of::<Vec<i32>>());
            entries.restore(&mut x[..]);
            assert_eq!(x, [5, 2]);
            entries.restore(&mut x[..]);
            assert_eq!(x, [1, 2]);
            entries.save(&x[..]);
            entries.reset();
            assert_eq!(entries.pending(), 0);
        }
    }

    #[test]
    fn a_vector_gets_its_length_back() {
        let mut entries = Entries::new();
        let mut x = vec![1, 2];
        entries.save(&x);
        x.extend([3, 4]);
        entries.restore(&mut x);
        assert_eq!(x, [1, 2]);
    }
}
