//! Copies of what changes and cannot be undone: of `&mut` arguments without gradient on entry, and at checkpoints of what is no row of
//! elements.

use std::marker::PhantomData;

use crate::output::Output;
use crate::state::State;

/// Copies, of which the latest comes back first. Their memory is used again.
pub struct WholeCopies<C, How> {
    copies: Vec<C>,
    /// Those that are still to come back; the others are there for their memory.
    pending: usize,
    /// What one of them owns.
    size: fn(&C) -> usize,
    how: PhantomData<How>,
}

/// Of one argument, one for each activation that is pending.
pub type Entries<C> = WholeCopies<C, Cloned>;

/// The same as [`Snapshots`](crate::snapshots::Snapshots) of structs and of vectors of vectors.
pub type WholeSnapshots<C> = WholeCopies<C, Reused>;

/// As `Clone` does it, which anything may be.
pub struct Cloned;

/// In the memory that the copy has, which what a function may return knows how to do: where `Clone` is derived, `clone_from` allocates.
pub struct Reused;

impl<C, How> WholeCopies<C, How> {
    /// No copy, and nothing allocated.
    pub const fn new() -> Self {
        WholeCopies { copies: Vec::new(), pending: 0, size: |_| 0, how: PhantomData }
    }

    /// Copies `value`.
    pub fn save<T: Restorable<How, Copy = C> + ?Sized>(&mut self, value: &T) {
        self.size = T::copy_size;
        match self.copies.get_mut(self.pending) {
            Some(copy) => value.copy_to(copy),
            None => self.copies.push(value.copied()),
        }
        self.pending += 1;
    }

    /// Brings back the latest copy that is still here.
    pub fn restore<T: Restorable<How, Copy = C> + ?Sized>(&mut self, value: &mut T) {
        self.go_back(value, true);
    }

    /// Brings back the latest copy, which stays here unless it `is_last` to be asked for.
    pub fn go_back<T: Restorable<How, Copy = C> + ?Sized>(&mut self, value: &mut T, is_last: bool) {
        let last = self.pending.checked_sub(1).expect("a pullback follows its forward");
        value.bring_back(&self.copies[last]);
        if is_last {
            self.pending = last;
        }
    }

    /// Drops every second one of the latest `count` copies.
    pub fn thin(&mut self, count: usize) {
        let first = self.pending - count;
        for i in (2..count).step_by(2) {
            self.copies.swap(first + i / 2, first + i);
        }
        self.pending = first + count.div_ceil(2);
    }
}

impl<C, How> Default for WholeCopies<C, How> {
    fn default() -> Self {
        Self::new()
    }
}

impl<C: Send, How: Send> State for WholeCopies<C, How> {
    fn reset(&mut self) {
        self.pending = 0;
    }
    fn shrink(&mut self) {
        *self = Self::new();
    }
    fn pending(&self) -> usize {
        self.copies[..self.pending].iter().map(|copy| size_of::<C>() + (self.size)(copy)).sum()
    }
    fn memory(&self) -> usize {
        self.copies.capacity() * size_of::<C>() + self.copies.iter().map(self.size).sum::<usize>()
    }
}

/// What can be copied as a whole, and brought back.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is changed by code that cannot be undone, and cannot be copied either",
    label = "to be brought back, this `&mut` argument is copied on entry",
    note = "what is `Clone` can be copied, and slices of that; assignments to elements and fields are undone without a copy"
)]
pub trait Restorable<How> {
    /// What owns a copy.
    type Copy: Send;
    /// A first copy.
    fn copied(&self) -> Self::Copy;
    /// A copy in the place of an older one.
    fn copy_to(&self, copy: &mut Self::Copy);
    /// Becomes what `copy` is.
    fn bring_back(&mut self, copy: &Self::Copy);
    /// How many bytes of the heap `copy` owns, as far as its type tells.
    fn copy_size(copy: &Self::Copy) -> usize;
}

impl<T: Clone + Send> Restorable<Cloned> for T {
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

impl<T: Clone + Send> Restorable<Cloned> for [T] {
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

impl<T: Output + Clone + Send> Restorable<Reused> for T {
    type Copy = T;
    fn copied(&self) -> T {
        self.clone()
    }
    fn copy_to(&self, copy: &mut T) {
        Output::copy_to(self, copy);
    }
    fn bring_back(&mut self, copy: &T) {
        Output::copy_to(copy, self);
    }
    fn copy_size(copy: &T) -> usize {
        T::size(copy)
    }
}

impl<T: Output + Clone + Send> Restorable<Reused> for [T] {
    type Copy = Vec<T>;
    fn copied(&self) -> Vec<T> {
        self.to_vec()
    }
    fn copy_to(&self, copy: &mut Vec<T>) {
        match copy.len() == self.len() {
            true => self.iter().zip(copy).for_each(|(part, copy)| Output::copy_to(part, copy)),
            false => self.clone_into(copy),
        }
    }
    fn bring_back(&mut self, copy: &Vec<T>) {
        assert_eq!(self.len(), copy.len(), "restored with another shape than saved");
        self.iter_mut().zip(copy).for_each(|(part, copy)| Output::copy_to(copy, part));
    }
    fn copy_size(copy: &Vec<T>) -> usize {
        copy.capacity() * size_of::<T>() + copy.iter().map(T::size).sum::<usize>()
    }
}

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
            assert_eq!(entries.pending(), 2 * (size_of::<Vec<i32>>() + 8));
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

    #[test]
    fn copies_are_thinned_and_their_memory_stays() {
        let mut copies = WholeSnapshots::new();
        let rows = |n: usize| vec![vec![n as f64; n]; 3];
        for _ in 0..2 {
            (0..8).for_each(|n| copies.save(&rows(n)));
            // The first three belong to an earlier loop.
            copies.thin(5);
            let mut x = vec![];
            for n in [7, 5, 3, 2, 1, 0] {
                for is_last in [false, true] {
                    copies.go_back(&mut x, is_last);
                    assert_eq!(x, rows(n));
                }
            }
            assert_eq!((copies.pending(), copies.copies.len()), (0, 8));
        }
    }
}
