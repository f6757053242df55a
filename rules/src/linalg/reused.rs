//! What functions work in where they are called without their rules.

use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::collections::HashMap;

use super::scalar::Number;

thread_local! {
    static WORKSPACES: RefCell<HashMap<TypeId, Box<dyn Any>>> = RefCell::default();
}

/// Computes in a new workspace, or, on dual numbers, in that of the last call on this thread: forward mode runs a function as it is, again
/// and again, and is to allocate no more than the function of floats does.
pub(super) fn with<T: Number, W: Default + 'static, Y>(compute: impl FnOnce(&mut W) -> Y) -> Y {
    if !T::CARRIES {
        return compute(&mut W::default());
    }
    let key = TypeId::of::<W>();
    let kept = WORKSPACES.with_borrow_mut(|workspaces| workspaces.remove(&key));
    let mut workspace = kept.and_then(|kept| kept.downcast::<W>().ok()).unwrap_or_default();
    let y = compute(&mut workspace);
    // Not after a panic.
    WORKSPACES.with_borrow_mut(|workspaces| workspaces.insert(key, workspace));
    y
}
