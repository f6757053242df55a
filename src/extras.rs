//! What a gradient object keeps for its other methods, made on the first use of each.

use std::any::Any;

/// Objects of different types, one of each.
#[derive(Default)]
pub struct Extras(Vec<Box<dyn Any + Send>>);

impl Extras {
    /// Nothing yet.
    pub const fn new() -> Self {
        Extras(Vec::new())
    }

    /// The one of type `X`.
    pub fn get<X: Default + Send + 'static>(&mut self) -> &mut X {
        let found = self.0.iter().position(|extra| extra.is::<X>());
        let index = found.unwrap_or_else(|| {
            self.0.push(Box::<X>::default());
            self.0.len() - 1
        });
        self.0[index].downcast_mut().expect("looked for by its type")
    }

    /// Gives back all memory.
    pub fn release(&mut self) {
        self.0 = Vec::new();
    }
}
