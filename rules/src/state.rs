//! What a rule keeps between calls.

use crate::function::for_tuples;

/// State that lasts from call to call: saved values, pending activations, plans.
pub trait State: Send {
    /// Drops all pending activations, keeping the memory: afterwards the object behaves as if nothing had been called.
    /// A driver calls this when an earlier call was left unfinished.
    fn reset(&mut self);
    /// Resets, and gives the memory back.
    fn release(&mut self);
    /// The bytes that pending activations keep here: residuals of loops and frames of hand-written rules, without what
    /// those have on the heap in turn.
    fn pending(&self) -> usize;
}

macro_rules! tuple {
    ($($S:ident $i:tt),*) => {
        impl<$($S: State),*> State for ($($S,)*) {
            fn reset(&mut self) {
                $(self.$i.reset();)*
            }
            fn release(&mut self) {
                $(self.$i.release();)*
            }
            fn pending(&self) -> usize {
                0 $(+ self.$i.pending())*
            }
        }
    };
}
for_tuples!(tuple);

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

    /// Keeps the residual of one iteration for each of `indices`. That makes room beforehand, so that a short iteration takes
    /// no longer than without a residual.
    #[inline(always)]
    pub fn extend<I: Iterator>(&mut self, indices: I, iteration: impl FnMut(I::Item) -> T) {
        self.0.extend(indices.map(iteration));
    }

    /// `indices`, already reversed and of a length that is known, each with the residual of its iteration.
    #[inline(always)]
    pub fn unwind<I: Iterator>(&mut self, indices: I) -> impl Iterator<Item = (I::Item, T)> {
        let start = self.0.len().checked_sub(indices.size_hint().0).expect("a pullback follows its forward");
        indices.zip(self.0.drain(start..).rev())
    }

    /// The latest residual that is still here.
    #[inline(always)]
    pub fn pop(&mut self) -> T {
        self.0.pop().expect("a pullback follows its forward")
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
    fn release(&mut self) {
        self.0 = Vec::new();
    }
    fn pending(&self) -> usize {
        size_of_val(&self.0[..])
    }
}
