//! Where a loop with a bounded number of checkpoints has them, and how its reverse pass goes back to them.
//!
//! With *s* checkpoints and at most *r* runs of each iteration, *β(s, r) = (s + r)! / (s! r!)* iterations can be undone. For
//! *l* iterations with *β(s, r − 1) < l ≤ β(s, r)* no schedule takes fewer than *r l − β(s + 1, r − 1)* runs of an iteration,
//! apart from the one of each that is undone at once, and this one takes as many: Griewank and Walther, *Algorithm 799: revolve*, ACM Transactions on Mathematical
//! Software 26 (2000), section 2. It has the first checkpoint where the loop starts and the next one after *m* iterations,
//! such that these can be undone in *r − 1* runs and the rest with *s − 1* checkpoints. Since the reverse pass does not
//! follow at once, the few iterations behind the last checkpoint are run once more than there.
//!
//! A loop whose length shows only at its end has a checkpoint every *d* iterations, and whenever there is no more room
//! every second one is dropped. What the reverse pass finds between two of them is undone by the schedule above, with the
//! checkpoints that have become free.

use crate::heap::HeapSize;
use crate::state::State;

/// The checkpoints of one loop.
pub struct Schedule {
    /// How many checkpoints there may be.
    limit: usize,
    /// The iterations before which there is one, in order.
    positions: Vec<usize>,
    next: Next,
    /// How many iterations have not been undone.
    end: usize,
}

/// Where the next checkpoint comes.
#[derive(Clone, Copy)]
enum Next {
    At(usize),
    /// At multiples of this.
    Every(usize),
}

/// How the reverse pass comes to the last iteration that it has not undone.
pub struct Step {
    /// The iteration before which the latest checkpoint is.
    pub from: usize,
    /// The iteration to be undone.
    pub at: usize,
}

impl Step {
    /// The number of iterations to run from there, the one to be undone among them.
    pub fn iterations(&self) -> usize {
        self.at + 1 - self.from
    }

    /// Nothing starts from this checkpoint any more.
    pub fn is_last(&self) -> bool {
        self.from == self.at
    }
}

impl Schedule {
    /// Nothing allocated.
    pub const fn new() -> Self {
        Schedule { limit: 1, positions: Vec::new(), next: Next::At(0), end: 0 }
    }

    /// The forward pass begins, of a loop of so many iterations as the hint of its iterator says. It may have `limit`
    /// checkpoints; it has one at least.
    pub fn begin(&mut self, limit: usize, hint: (usize, Option<usize>)) {
        self.limit = limit.max(1);
        self.positions.clear();
        let known = hint.1 == Some(hint.0);
        self.end = hint.0;
        self.next = if known { Next::At(0) } else { Next::Every(1) };
    }

    /// Whether every second checkpoint has to be dropped before iteration `i`: how many there are, then.
    #[inline]
    pub fn crowded(&mut self, i: usize) -> Option<usize> {
        let Next::Every(spacing) = &mut self.next else { return None };
        let count = self.positions.len();
        if count < self.limit || !i.is_multiple_of(*spacing) {
            return None;
        }
        *spacing *= 2;
        thin(&mut self.positions, count);
        Some(count)
    }

    /// Whether there is a checkpoint before iteration `i`: asked once for each iteration that is run on the way.
    #[inline]
    pub fn keeps(&mut self, i: usize) -> bool {
        let keeps = match self.next {
            Next::At(next) => i == next,
            Next::Every(spacing) => i.is_multiple_of(spacing) && self.positions.len() < self.limit,
        };
        if keeps {
            self.positions.push(i);
            if let Next::At(_) = self.next {
                self.look_ahead();
            }
        }
        keeps
    }

    /// The reverse pass begins, after `count` iterations. What had begun with the same arguments has left checkpoints.
    pub fn turn(&mut self, count: usize, limit: usize, hint: (usize, Option<usize>)) {
        self.begin(limit, hint);
        match self.next {
            Next::At(_) => {
                while let Next::At(next) = self.next
                    && next < count
                {
                    self.keeps(next);
                }
            }
            Next::Every(_) => {
                let mut spacing = 1;
                while count.div_ceil(spacing) > self.limit {
                    spacing *= 2;
                }
                self.positions.extend((0..count).step_by(spacing));
            }
        }
        self.end = count;
    }

    /// The next iteration to be undone; `None` once all are.
    pub fn step(&mut self) -> Option<Step> {
        self.end = self.end.checked_sub(1)?;
        let step = Step { from: *self.positions.last()?, at: self.end };
        if step.is_last() {
            self.positions.pop();
        } else {
            // It is counted in while checkpoints on the way to it are looked for.
            self.end += 1;
            self.look_ahead();
            self.end -= 1;
        }
        Some(step)
    }

    /// Looks for the place of the checkpoint behind the latest one, for what is between that and the end.
    fn look_ahead(&mut self) {
        let from = self.positions.last().copied().unwrap_or(0);
        let checkpoints = self.limit + 1 - self.positions.len();
        self.next = Next::At(advance(self.end - from, checkpoints).map_or(usize::MAX, |m| from + m));
    }
}

/// After how many of `len` iterations the second one of so many checkpoints comes, the first one being where they start.
fn advance(len: usize, checkpoints: usize) -> Option<usize> {
    let (s, l) = (checkpoints as u128, len as u128);
    if s < 2 || l < 2 {
        return None;
    }
    // β(s, r) for the smallest r for which that is at least l
    let (mut r, mut beta) = (0, 1);
    while beta < l {
        r += 1;
        beta = beta * (s + r) / r;
    }
    let fewer_runs = beta * r / (s + r);
    let fewer_of_both = fewer_runs * s / (s + r - 1);
    let m = fewer_runs.min(l - fewer_of_both);
    Some(usize::try_from(m).expect("at most the number of iterations"))
}

impl Default for Schedule {
    fn default() -> Self {
        Self::new()
    }
}

impl State for Schedule {
    fn reset(&mut self) {}
    fn shrink(&mut self) {
        *self = Self::new();
    }
    fn pending(&self) -> usize {
        0
    }
    fn memory(&self) -> usize {
        self.positions.heap_size()
    }
}

/// Keeps the first, the third, … of the last `count` elements.
pub(crate) fn thin<T>(elements: &mut Vec<T>, count: usize) {
    let start = elements.len() - count;
    let mut index = 0;
    elements.retain(|_| {
        index += 1;
        index <= start || (index - start) % 2 == 1
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNKNOWN: (usize, Option<usize>) = (0, None);

    /// Runs a loop of `count` iterations and its reverse pass: how many times an iteration was run without being undone
    /// at once, less those behind the last checkpoint of the forward pass, and how many checkpoints there were at most.
    fn simulate(count: usize, limit: usize, hint: (usize, Option<usize>)) -> (usize, usize) {
        let mut schedule = Schedule::new();
        let (mut checkpoints, mut most) = (vec![], 0);
        schedule.begin(limit, hint);
        for i in 0..count {
            if let Some(crowd) = schedule.crowded(i) {
                thin(&mut checkpoints, crowd);
            }
            if schedule.keeps(i) {
                checkpoints.push(i);
            }
            most = most.max(checkpoints.len());
        }
        // Whatever happened in between, it comes to the same checkpoints.
        schedule = Schedule::new();
        schedule.turn(count, limit, hint);
        assert_eq!(schedule.positions, checkpoints);
        let (mut left, mut runs) = (count, checkpoints.last().copied().unwrap_or(0));
        while let Some(step) = schedule.step() {
            assert_eq!((step.at, step.from), (left - 1, *checkpoints.last().unwrap()));
            if step.is_last() {
                checkpoints.pop();
            }
            for i in step.from..step.at {
                if schedule.keeps(i) {
                    checkpoints.push(i);
                }
                runs += 1;
            }
            most = most.max(checkpoints.len());
            left -= 1;
        }
        assert!(left == 0 && checkpoints.is_empty());
        (runs, most)
    }

    /// The least number of runs, by the recurrence that defines it.
    fn least(len: usize, checkpoints: usize) -> usize {
        let mut table = vec![vec![0; len + 1]; checkpoints + 1];
        for s in 1..=checkpoints {
            for l in 2..=len {
                let alone = l * (l - 1) / 2;
                table[s][l] = match s {
                    1 => alone,
                    _ => (1..l).map(|m| m + table[s - 1][l - m] + table[s][m]).min().unwrap(),
                };
            }
        }
        table[checkpoints][len]
    }

    #[test]
    fn no_schedule_takes_fewer_runs() {
        for count in 0..40 {
            for limit in 1..9 {
                let (runs, most) = simulate(count, limit, (count, Some(count)));
                assert_eq!(runs, least(count, limit), "{count} iterations, {limit} checkpoints");
                assert!(most <= limit);
            }
        }
        assert_eq!(simulate(5, 0, (5, Some(5))), (10, 1));
    }

    #[test]
    fn a_million_iterations() {
        let (count, limit, r) = (1_000_000, 20, 8);
        let beta = |s: usize, r: usize| (1..=r).fold(1, |beta, k| beta * (s + k) / k);
        assert!(beta(limit, r - 1) < count && count <= beta(limit, r));
        let (runs, most) = simulate(count, limit, (count, Some(count)));
        assert_eq!((runs, most), (r * count - beta(limit + 1, r - 1), limit));
    }

    #[test]
    fn a_loop_of_unknown_length() {
        for count in 0..100 {
            for limit in 1..9 {
                let (runs, most) = simulate(count, limit, UNKNOWN);
                let best = least(count, limit);
                assert!(most <= limit && runs >= best, "{count} iterations, {limit} checkpoints");
                assert!(runs <= 2 * best + count, "{runs} runs, not {best}: {count}, {limit}");
            }
        }
    }
}
