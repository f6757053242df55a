//! Plans of the libraries of CUDA, which are made once for all calls of one kind.

use super::{Device, Error, run};

/// The last plan that was made, for which device and which kind of call, or that there is none for these.
pub(super) struct Planning<K, P: ?Sized> {
    last: Option<(Device, K, Option<Box<P>>)>,
}

impl<K, P: ?Sized> Default for Planning<K, P> {
    fn default() -> Self {
        Planning { last: None }
    }
}

impl<K: PartialEq, P: ?Sized> Planning<K, P> {
    /// The plan for that kind of call, which is made by `find` unless it is the last one.
    pub(super) fn of(
        &mut self,
        device: &Device,
        kind: K,
        find: impl FnOnce() -> Result<Option<Box<P>>, Error>,
    ) -> Option<&mut P> {
        if !self.last.as_ref().is_some_and(|(on, last, _)| on == device && *last == kind) {
            self.last = Some((device.clone(), kind, find().unwrap_or_else(run::failed)));
        }
        self.last.as_mut().and_then(|(_, _, plan)| plan.as_deref_mut())
    }
}
