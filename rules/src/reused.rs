//! What functions work in where they are called without their rules.

use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::collections::HashMap;
use std::mem::needs_drop;

thread_local! {
    static WORKSPACES: RefCell<HashMap<TypeId, Box<dyn Any>>> = RefCell::default();
}

/// Computes in a new workspace, or in that of the last call on this thread, where it is `kept`. So it is on dual numbers: forward mode runs a
/// function as it is, again and again, and is to allocate no more than the function of floats does.
pub(crate) fn with<W: Default + 'static, Y>(kept: bool, compute: impl FnOnce(&mut W) -> Y) -> Y {
    if !kept {
        return compute(&mut W::default());
    }
    with_last(W::default, compute)
}

/// Computes in what is made by `new`, or in that of the last call on this thread, where it has memory to be kept.
#[inline]
pub(crate) fn with_memory<W: 'static, Y>(new: impl FnOnce() -> W, compute: impl FnOnce(&mut W) -> Y) -> Y {
    match needs_drop::<W>() {
        true => with_last(new, compute),
        false => compute(&mut new()),
    }
}

/// Computes in that of the last call on this thread.
fn with_last<W: 'static, Y>(new: impl FnOnce() -> W, compute: impl FnOnce(&mut W) -> Y) -> Y {
    let key = TypeId::of::<W>();
    let last = WORKSPACES.with_borrow_mut(|workspaces| workspaces.remove(&key));
    let mut workspace = last.and_then(|last| last.downcast::<W>().ok()).unwrap_or_else(|| Box::new(new()));
    let y = compute(&mut workspace);
    // Not after a panic.
    WORKSPACES.with_borrow_mut(|workspaces| workspaces.insert(key, workspace));
    y
}
