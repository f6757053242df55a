//! Some calls of CUDA's libraries wait for all that a process has asked of a card, which ends whatever is being recorded there, on
//! whichever stream. They wait until nobody records.

use std::sync::{Mutex, MutexGuard, PoisonError};

struct Recordings {
    /// How many there are now.
    now: usize,
    late: Vec<Box<dyn FnOnce() + Send>>,
}

static RECORDINGS: Mutex<Recordings> = Mutex::new(Recordings { now: 0, late: Vec::new() });

fn recordings() -> MutexGuard<'static, Recordings> {
    RECORDINGS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A recording begins.
pub(super) fn begin() {
    recordings().now += 1;
}

/// A recording has ended.
pub(super) fn end() {
    let mut recordings = recordings();
    recordings.now -= 1;
    if recordings.now == 0 {
        // None begins meanwhile.
        std::mem::take(&mut recordings.late).into_iter().for_each(|call| call());
    }
}

/// Does what waits for the card, now or once nobody records.
pub(super) fn apart(call: impl FnOnce() + Send + 'static) {
    let mut recordings = recordings();
    if recordings.now == 0 { call() } else { recordings.late.push(Box::new(call)) }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::{apart, begin, end};

    #[test]
    fn what_waits_for_the_card_waits_for_recordings() {
        let done = Arc::new(AtomicUsize::new(0));
        let ask = || {
            let done = done.clone();
            apart(move || {
                done.fetch_add(1, Ordering::Relaxed);
            });
        };
        begin();
        begin();
        ask();
        end();
        ask();
        assert_eq!(done.load(Ordering::Relaxed), 0);
        end();
        // Other tests may record at the same time.
        for _ in 0..1000 {
            if done.load(Ordering::Relaxed) == 2 {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        panic!("it is never done");
    }
}
