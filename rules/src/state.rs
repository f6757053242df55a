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
