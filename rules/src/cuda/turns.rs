//! Threads that share a device take turns.

use std::ops::Deref;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

/// A lock that a thread may take again while it holds it.
#[derive(Default)]
pub(super) struct Turns {
    /// Who holds it, and how many times.
    holder: Mutex<Option<(ThreadId, usize)>>,
    free: Condvar,
}

impl Turns {
    fn holder(&self) -> MutexGuard<'_, Option<(ThreadId, usize)>> {
        self.holder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until no other thread holds it.
    pub(super) fn take(&self) -> Turn<'_> {
        let this = thread::current().id();
        let others =
            |holder: &mut Option<(ThreadId, usize)>| holder.is_some_and(|(thread, _)| thread != this);
        let mut holder = self.free.wait_while(self.holder(), others).unwrap_or_else(PoisonError::into_inner);
        let (_, times) = holder.get_or_insert((this, 0));
        *times += 1;
        Turn(self)
    }
}

/// For as long as it is there, other threads wait.
pub(super) struct Turn<'a>(&'a Turns);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut holder = self.0.holder();
        match &mut *holder {
            Some((_, times)) if *times > 1 => *times -= 1,
            _ => {
                *holder = None;
                self.0.free.notify_one();
            }
        }
    }
}

/// Something that is used in turn.
pub(super) struct InTurn<'a, X> {
    pub(super) used: X,
    pub(super) _turn: Turn<'a>,
}

impl<X: Deref> Deref for InTurn<'_, X> {
    type Target = X::Target;
    fn deref(&self) -> &X::Target {
        &self.used
    }
}

impl<X: std::ops::DerefMut> std::ops::DerefMut for InTurn<'_, X> {
    fn deref_mut(&mut self) -> &mut X::Target {
        &mut self.used
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::Turns;

    #[test]
    fn one_thread_at_a_time_and_that_again() {
        let turns = Turns::default();
        let (say, heard) = mpsc::channel();
        std::thread::scope(|scope| {
            let first = turns.take();
            let again = turns.take();
            scope.spawn(|| {
                let _turn = turns.take();
                say.send(()).expect("it is heard");
            });
            drop(again);
            let early = heard.recv_timeout(Duration::from_millis(50));
            assert!(early.is_err(), "the turn is not over yet");
            drop(first);
            heard.recv_timeout(Duration::from_secs(60)).expect("it is the other one's turn");
        });
    }
}
