//! What a gradient object keeps for its other methods, made on the first use of each.

use std::any::{Any, TypeId};

/// An object that is kept.
pub trait Extra: Any + Send {
    /// The bytes of the heap that it owns.
    fn memory(&self) -> usize;
}

/// Objects of different types, one of each.
#[derive(Default)]
pub struct Extras(Vec<(TypeId, Box<dyn Extra>)>);

impl Extras {
    /// Nothing yet.
    pub const fn new() -> Self {
        Extras(Vec::new())
    }

    /// The one of type `X`.
    pub fn get<X: Extra + Default>(&mut self) -> &mut X {
        let id = TypeId::of::<X>();
        let found = self.0.iter().position(|extra| extra.0 == id);
        let index = found.unwrap_or_else(|| self.add(id, Box::<X>::default));
        let extra: &mut dyn Any = &mut *self.0[index].1;
        extra.downcast_mut().expect("looked for by its type")
    }

    #[cold]
    fn add<X: Extra>(&mut self, id: TypeId, make: fn() -> Box<X>) -> usize {
        self.0.push((id, make()));
        self.0.len() - 1
    }

    /// Gives back all memory.
    pub fn shrink(&mut self) {
        self.0 = Vec::new();
    }

    /// The bytes of the heap that are held.
    pub fn memory(&self) -> usize {
        let held: usize = self.0.iter().map(|(_, extra)| size_of_val(&**extra) + extra.memory()).sum();
        self.0.capacity() * size_of::<(TypeId, Box<dyn Extra>)>() + held
    }
}
