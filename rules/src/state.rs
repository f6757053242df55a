//! What a rule keeps between calls.

use std::marker::PhantomData;
use std::ops::Range;
use std::vec::Drain;

use crate::function::for_tuples;
use crate::lengths::Lengths;
use crate::schedule::thin;

/// State that lasts from call to call: saved values, pending activations, plans.
pub trait State: Send {
    /// What the functions whose rules these are may do to vectors behind references.
    #[doc(hidden)]
    const LENGTHS: Lengths = Lengths::Kept;

    /// How much room the shadow of a vector behind a reference needs at least, where that has changed places with another one.
    #[doc(hidden)]
    fn least_room(&self) -> usize {
        0
    }
    /// Drops all pending activations, keeping the memory: afterwards the object behaves as if nothing had been called.
    /// A driver calls this when an earlier call was left unfinished.
    fn reset(&mut self);
    /// Resets, and gives the memory back.
    fn shrink(&mut self);
    /// The bytes that pending activations keep here: residuals of loops and frames of hand-written rules, without what
    /// those have on the heap in turn.
    fn pending(&self) -> usize;
    /// The bytes of the heap that it owns, used or not, without what residuals of pending activations own in turn.
    fn memory(&self) -> usize;
}

macro_rules! tuple {
    ($($S:ident $i:tt),*) => {
        impl<$($S: State),*> State for ($($S,)*) {
            const LENGTHS: Lengths = Lengths::Kept$(.and($S::LENGTHS))*;

            fn least_room(&self) -> usize {
                0 $(.max(self.$i.least_room()))*
            }
            fn reset(&mut self) {
                $(self.$i.reset();)*
            }
            fn shrink(&mut self) {
                $(self.$i.shrink();)*
            }
            fn pending(&self) -> usize {
                0 $(+ self.$i.pending())*
            }
            fn memory(&self) -> usize {
                0 $(+ self.$i.memory())*
            }
        }
    };
}
for_tuples!(tuple);

/// Makes something a [`State`] that consists of the one in a field, of the type `$within`.
macro_rules! state_within {
    ([$($generics:tt)*] $Type:ty { $field:tt: $within:ty } $($lengths:expr)?) => {
        impl<$($generics)*> crate::state::State for $Type {
            const LENGTHS: crate::lengths::Lengths = crate::state::state_within!(@lengths $within $(, $lengths)?);

            fn least_room(&self) -> usize {
                self.$field.least_room()
            }
            fn reset(&mut self) {
                self.$field.reset();
            }
            fn shrink(&mut self) {
                self.$field.shrink();
            }
            fn pending(&self) -> usize {
                self.$field.pending()
            }
            fn memory(&self) -> usize {
                self.$field.memory()
            }
        }
    };
    (@lengths $within:ty) => { <$within as crate::state::State>::LENGTHS };
    (@lengths $within:ty, $lengths:expr) => { $lengths };
}
pub(crate) use state_within;

/// The residuals of a loop: what each iteration hands to its counterpart in the reverse pass, last in, first out.
pub struct Stack<T>(Vec<T>);

impl<T> Stack<T> {
    /// An empty stack, which has allocated nothing.
    pub const fn new() -> Self {
        Stack(Vec::new())
    }

    /// Keeps `residual` for the reverse pass.
    #[inline(always)]
    pub fn push(&mut self, residual: T) {
        self.0.push(residual);
    }

    /// What a loop over `indices` pushes to, of which there are as many as `indices` says.
    #[inline(always)]
    pub fn room<I: Iterator>(&mut self, indices: &I) -> Room<'_, T> {
        let count = indices.size_hint().0;
        self.0.reserve(count);
        let len = self.0.len();
        Room { pointer: self.0.as_mut_ptr(), len, end: len + count, stack: &mut self.0 }
    }

    /// `indices`, already reversed, each with the residual of its iteration. There are as many as `indices` says.
    #[inline(always)]
    pub fn unwind<I: Iterator>(&mut self, indices: I) -> impl Iterator<Item = (I::Item, T)> {
        let residuals = self.take(indices.size_hint().0);
        indices.zip(residuals)
    }

    /// The same for `indices` in the order in which the iterations ran.
    #[inline(always)]
    pub fn run_through<I: Iterator>(&mut self, indices: I) -> impl Iterator<Item = (I::Item, T)> {
        let residuals = self.take(indices.size_hint().0);
        indices.zip(InOrder { next: 0, residuals })
    }

    /// The residuals of all iterations over `indices`, in the order in which these ran.
    #[inline(always)]
    pub fn all<I: Iterator>(&mut self, indices: &I) -> Drain<'_, T> {
        let count = indices.size_hint().0;
        let start = self.0.len().checked_sub(count).expect("a pullback follows its forward");
        self.0.drain(start..)
    }

    /// Takes the latest `count` off.
    #[inline(always)]
    fn take(&mut self, count: usize) -> Residuals<'_, T> {
        let start = self.0.len().checked_sub(count).expect("a pullback follows its forward");
        // SAFETY: these elements are here, and no longer the vector's.
        let first = unsafe {
            self.0.set_len(start);
            self.0.as_ptr().add(start)
        };
        Residuals { first, left: count, stack: PhantomData }
    }

    /// Keeps the elements of `array` that a loop over `indices` may overwrite, which are counted from `start`. Where there are none
    /// the loop itself finds out.
    #[inline(always)]
    pub fn keep(&mut self, indices: Range<usize>, start: impl FnOnce() -> usize, array: &[T])
    where
        T: Copy,
    {
        self.0.extend_from_slice(&array[within(array.len(), start, indices)]);
    }

    /// Brings back the elements that the matching [`keep`](Self::keep) has seen.
    #[inline(always)]
    pub fn bring_back(&mut self, indices: Range<usize>, start: impl FnOnce() -> usize, array: &mut [T])
    where
        T: Copy,
    {
        let range = within(array.len(), start, indices);
        let elements = &mut array[range];
        let first = self.0.len().checked_sub(elements.len()).expect("a pullback follows its forward");
        elements.copy_from_slice(&self.0[first..]);
        self.0.truncate(first);
    }

    /// The same for elements that are a step apart: `positions` are the start and the step.
    #[inline(always)]
    pub fn keep_steps(
        &mut self,
        indices: Range<usize>,
        positions: impl FnOnce() -> (usize, usize),
        array: &[T],
    ) where
        T: Copy,
    {
        if let Some((first, step, count)) = steps(array.len(), positions, indices) {
            self.0.extend(array[first..].iter().step_by(step).take(count));
        }
    }

    /// Brings back the elements that the matching [`keep_steps`](Self::keep_steps) has seen.
    #[inline(always)]
    pub fn bring_steps_back(
        &mut self,
        indices: Range<usize>,
        positions: impl FnOnce() -> (usize, usize),
        array: &mut [T],
    ) where
        T: Copy,
    {
        let Some((first, step, count)) = steps(array.len(), positions, indices) else { return };
        let start = self.0.len().checked_sub(count).expect("a pullback follows its forward");
        let elements = array[first..].iter_mut().step_by(step);
        elements.zip(&self.0[start..]).for_each(|(element, old)| *element = *old);
        self.0.truncate(start);
    }

    /// Keeps the element of `array` at `position`, which a loop over `indices` will overwrite in each iteration.
    #[inline(always)]
    pub fn keep_one(&mut self, indices: Range<usize>, position: impl FnOnce() -> usize, array: &[T])
    where
        T: Copy,
    {
        self.keep(0..indices.len().min(1), position, array);
    }

    /// Brings back the element that the matching [`keep_one`](Self::keep_one) has seen.
    #[inline(always)]
    pub fn bring_one_back(&mut self, indices: Range<usize>, position: impl FnOnce() -> usize, array: &mut [T])
    where
        T: Copy,
    {
        self.bring_back(0..indices.len().min(1), position, array);
    }

    /// The latest residual that is still here.
    #[inline(always)]
    pub fn pop(&mut self) -> T {
        self.0.pop().expect("a pullback follows its forward")
    }

    /// The latest, which stays here unless it `is_last` to be asked for.
    pub fn go_back(&mut self, is_last: bool) -> T
    where
        T: Copy,
    {
        let latest = self.pop();
        if !is_last {
            self.push(latest);
        }
        latest
    }

    /// Drops every second one of the latest `count`.
    pub fn thin(&mut self, count: usize) {
        thin(&mut self.0, count);
    }
}

/// Those of `indices`, counted from `start`, that an array of length `len` has. Without iterations nobody asks for `start`.
#[inline(always)]
fn within(len: usize, start: impl FnOnce() -> usize, indices: Range<usize>) -> Range<usize> {
    if indices.is_empty() {
        return 0..0;
    }
    let start = start();
    let end = start.saturating_add(indices.end).min(len);
    start.saturating_add(indices.start).min(end)..end
}

/// Likewise for elements that are a step apart: the first, the step, which is not zero, and how many there are, if there are any.
#[inline(always)]
fn steps(
    len: usize,
    positions: impl FnOnce() -> (usize, usize),
    indices: Range<usize>,
) -> Option<(usize, usize, usize)> {
    if indices.is_empty() {
        return None;
    }
    let (start, step) = positions();
    let first = indices.start.checked_mul(step)?.checked_add(start).filter(|first| *first < len)?;
    // Without a step it is one element again and again.
    let there = if step == 0 { 1 } else { (len - first).div_ceil(step) };
    Some((first, step.max(1), indices.len().min(there)))
}

/// A [`Stack`] while a loop pushes to it. Where it ends stays in a register: an iteration does not have to wait for what
/// the last one has written to memory. Nor does it grow: beside a call that may return the loop would keep its numbers in memory.
pub struct Room<'a, T> {
    stack: &'a mut Vec<T>,
    pointer: *mut T,
    len: usize,
    end: usize,
}

impl<T> Room<'_, T> {
    /// Keeps `residual` for the reverse pass.
    ///
    /// # Panics
    /// If there is one more than announced.
    #[inline(always)]
    pub fn push(&mut self, residual: T) {
        if self.len == self.end {
            full();
        }
        // Of an aligned place the compiler makes the output of `sincos`, and then reads both numbers at once where they have just been
        // written one by one, which processors are slow at.
        // SAFETY: there is room for those before the end.
        unsafe { self.pointer.add(self.len).write_unaligned(residual) }
        self.len += 1;
    }
}

#[cold]
#[inline(never)]
fn full() -> ! {
    panic!("a range has as many indices as it says")
}

impl<T> Drop for Room<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: so many have been written.
        unsafe { self.stack.set_len(self.len) }
    }
}

/// Residuals taken off a stack, the latest first. Those that nobody asks for are never dropped.
struct Residuals<'a, T> {
    first: *const T,
    left: usize,
    stack: PhantomData<&'a mut Vec<T>>,
}

impl<T> Iterator for Residuals<'_, T> {
    type Item = T;

    #[inline(always)]
    fn next(&mut self) -> Option<T> {
        self.left = self.left.checked_sub(1)?;
        // SAFETY: one of those taken off, and each is read once.
        Some(unsafe { self.first.add(self.left).read() })
    }

    #[inline(always)]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

/// The same, the earliest first.
struct InOrder<'a, T> {
    next: usize,
    residuals: Residuals<'a, T>,
}

impl<T> Iterator for InOrder<'_, T> {
    type Item = T;

    #[inline(always)]
    fn next(&mut self) -> Option<T> {
        let Residuals { first, left, .. } = self.residuals;
        let number = self.next;
        if number == left {
            return None;
        }
        self.next += 1;
        // SAFETY: one of those taken off, and each is read once.
        Some(unsafe { first.add(number).read() })
    }

    #[inline(always)]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.residuals.left - self.next;
        (left, Some(left))
    }
}

impl<T> Default for Stack<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Send> State for Stack<T> {
    fn reset(&mut self) {
        self.0.clear();
    }
    fn shrink(&mut self) {
        self.0 = Vec::new();
    }
    fn pending(&self) -> usize {
        size_of_val(&self.0[..])
    }
    fn memory(&self) -> usize {
        self.0.capacity() * size_of::<T>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn what_is_overwritten_comes_back_as_far_as_it_is_there() {
        let mut stack = Stack::new();
        let before = [1.0, 2.0, 3.0, 4.0, 5.0];
        let empty = Range { start: 2, end: 1 };
        for (start, indices) in
            [(0, 0..5), (1, 1..3), (2, 0..9), (4, 3..8), (usize::MAX, 1..2), (0, 0..0), (3, 2..2), (3, empty)]
        {
            let mut array = before;
            stack.push(0.0);
            stack.keep(indices.clone(), || start, &array);
            for i in indices.clone() {
                if let Some(element) = array.get_mut(start.saturating_add(i)) {
                    *element = -1.0;
                }
            }
            stack.bring_back(indices, || start, &mut array);
            assert_eq!(array, before);
            assert_eq!((stack.pop(), stack.pending()), (0.0, 0));
        }
        stack.bring_back(7..7, || panic!("nobody asks"), &mut []);
    }

    #[test]
    fn what_is_overwritten_in_steps_comes_back() {
        let mut stack = Stack::new();
        let before = [1.0, 2.0, 3.0, 4.0, 5.0];
        let empty = Range { start: 2, end: 1 };
        for (positions, indices) in [
            ((0, 1), 0..5),
            ((1, 2), 0..2),
            ((1, 2), 1..9),
            ((0, 5), 0..3),
            ((2, 0), 0..4),
            ((7, 3), 0..2),
            ((usize::MAX, 2), 0..2),
            ((0, usize::MAX), 0..3),
            ((1, usize::MAX), 1..3),
            ((1, usize::MAX), 0..3),
            ((0, 1), 5..5),
            ((0, 2), empty),
        ] {
            let mut array = before;
            stack.push(0.0);
            stack.keep_steps(indices.clone(), || positions, &array);
            for i in indices.clone() {
                let position = i.checked_mul(positions.1).and_then(|p| p.checked_add(positions.0));
                if let Some(element) = position.and_then(|p| array.get_mut(p)) {
                    *element = -1.0;
                }
            }
            stack.bring_steps_back(indices, || positions, &mut array);
            assert_eq!(array, before);
            assert_eq!((stack.pop(), stack.pending()), (0.0, 0));
        }
        stack.bring_steps_back(7..7, || panic!("nobody asks"), &mut []);
    }

    #[test]
    fn residuals_come_back_in_reverse_order() {
        let mut stack = Stack::new();
        for count in [0, 1, 5, 300] {
            stack.push("before".to_string());
            {
                let mut room = stack.room(&(0..count));
                (0..count).for_each(|i| room.push(i.to_string()));
            }
            assert_eq!(stack.0.len(), count + 1);
            let mut indices = Vec::new();
            for (i, residual) in stack.unwind((0..count).rev()) {
                assert_eq!(i.to_string(), residual);
                indices.push(i);
            }
            assert_eq!(indices.len(), count);
            assert_eq!(stack.pop(), "before");
            assert_eq!(stack.pending(), 0);
        }
    }

    #[test]
    fn a_loop_that_panics_leaves_what_it_has_pushed() {
        let mut stack = Stack::new();
        let result = catch_unwind(AssertUnwindSafe(|| {
            let mut room = stack.room(&(0..10));
            for i in 0..10 {
                assert!(i < 3);
                room.push(vec![i]);
            }
        }));
        assert!(result.is_err());
        assert_eq!(stack.0, [[0], [1], [2]]);
        stack.reset();
        let mut room = stack.room(&(0..1));
        room.push(vec![7]);
        drop(room);
        assert_eq!(stack.unwind(0..1).next(), Some((0, vec![7])));
    }

    #[test]
    fn all_residuals_in_their_order() {
        let mut stack = Stack::new();
        for count in [0, 1, 40] {
            stack.push(7);
            (0..count).for_each(|i| stack.push(i));
            assert_eq!(stack.all(&(0..count)).as_slice(), (0..count).collect::<Vec<_>>());
            assert_eq!((stack.pop(), stack.pending()), (7, 0));
        }
    }

    /// Memory may have room for it, of an earlier call.
    #[test]
    #[should_panic(expected = "as many indices as it says")]
    fn more_than_announced() {
        let mut stack = Stack::new();
        stack.room(&(0..3)).push(1.0);
        let mut room = stack.room(&(0..1));
        room.push(2.0);
        room.push(3.0);
    }

    #[test]
    #[should_panic(expected = "a pullback follows its forward")]
    fn more_than_there_is() {
        let mut stack = Stack::new();
        stack.push(1.0);
        let _ = stack.unwind(0..2).count();
    }
}
