//! Objects that change when they are used, for callers that hold `&self`.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// As many objects as have been at work at the same time. They are lent to one caller each, who gets the one that was used last.
pub(super) struct Pool<T> {
    idle: Mutex<Vec<Box<T>>>,
}

impl<T> Pool<T> {
    /// Without objects.
    pub(super) const fn new() -> Self {
        Pool { idle: Mutex::new(Vec::new()) }
    }

    /// Does some work with an object, which is made if all that there are are at work. A panic in `work` costs the object.
    pub(super) fn with<R>(&self, make: impl FnOnce() -> T, work: impl FnOnce(&mut T) -> R) -> R {
        let taken = self.idle().pop();
        let mut object = taken.unwrap_or_else(|| Box::new(make()));
        let result = work(&mut object);
        self.idle().push(object);
        result
    }

    /// The bytes of the heap that idle objects take, of which each owns as many as `size` says.
    pub(super) fn memory(&self, size: impl Fn(&T) -> usize) -> usize {
        let idle = self.idle();
        let objects: usize = idle.iter().map(|object| size_of::<T>() + size(object)).sum();
        idle.capacity() * size_of::<Box<T>>() + objects
    }

    /// Gives all objects back.
    pub(super) fn shrink(&mut self) {
        *self.idle() = Vec::new();
    }

    /// Nobody works while this is locked.
    fn idle(&self) -> MutexGuard<'_, Vec<Box<T>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
