//! Contenders, timed in rounds.

use std::hint::black_box;
use std::time::{Duration, Instant};

use pullback::testing::{CountingAllocator, allocations_in};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// What everything is measured against.
pub(crate) const PRIMAL: &str = "primal";
/// What a gradient is measured against.
pub(crate) const HAND_WRITTEN: &str = "hand-written";

const SAMPLE: Duration = Duration::from_micros(100);
const LONGEST: Duration = Duration::from_secs(20);
const FEWEST_ROUNDS: usize = 20;

/// One way to do the work.
pub(crate) struct Contender<'a> {
    #[allow(dead_code, reason = "not every program shows it")]
    pub(crate) name: &'static str,
    pub(crate) run: Box<dyn FnMut(u64) -> Duration + 'a>,
}

/// `work` under the name `name`.
pub(crate) fn contender<'a, T>(name: &'static str, mut work: impl FnMut() -> T + 'a) -> Contender<'a> {
    let run = move |calls| {
        let start = clock();
        for _ in 0..calls {
            black_box(work());
        }
        clock() - start
    };
    Contender { name, run: Box::new(run) }
}

/// One way to do the work that is timed elsewhere: `run` takes a number of calls and returns how long they took.
#[allow(dead_code, reason = "not every program has one")]
pub(crate) fn timed<'a>(name: &'static str, run: impl FnMut(u64) -> Duration + 'a) -> Contender<'a> {
    Contender { name, run: Box::new(run) }
}

impl Contender<'_> {
    /// How often one call allocates.
    pub(crate) fn allocations(&mut self) -> usize {
        allocations_in(|| (self.run)(1)).1
    }
}

/// The times of each contender in each round.
pub(crate) struct Times(Vec<Vec<f64>>);

impl Times {
    /// As many rounds as this, or fewer if they take long.
    pub(crate) fn of(contenders: &mut [Contender<'_>], rounds: usize) -> Self {
        let calls: Vec<u64> = contenders.iter_mut().map(calls_per_sample).collect();
        let mut times = vec![Vec::with_capacity(rounds); contenders.len()];
        let start = Instant::now();
        for round in 0..rounds {
            if round > FEWEST_ROUNDS && start.elapsed() > LONGEST {
                break;
            }
            for ((contender, &calls), times) in contenders.iter_mut().zip(&calls).zip(&mut times) {
                times.push((contender.run)(calls).as_secs_f64() * 1e9 / calls as f64);
            }
        }
        Times(times)
    }

    /// Nanoseconds.
    pub(crate) fn median(&self, i: usize) -> f64 {
        median(self.0[i].clone())
    }

    /// The median of the rounds' ratios.
    pub(crate) fn ratio(&self, i: usize, j: usize) -> f64 {
        median(self.0[i].iter().zip(&self.0[j]).map(|(a, b)| a / b).collect())
    }
}

/// As many as fill a sample; warms up on the way.
fn calls_per_sample(contender: &mut Contender<'_>) -> u64 {
    let mut calls = 1;
    while (contender.run)(calls) < SAMPLE {
        calls *= 2;
    }
    calls
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

/// How long this thread has been computing: on a busy machine others do so in between.
#[cfg(target_os = "linux")]
fn clock() -> Duration {
    #[repr(C)]
    struct Time {
        seconds: std::ffi::c_long,
        nanoseconds: std::ffi::c_long,
    }
    unsafe extern "C" {
        fn clock_gettime(clock: std::ffi::c_int, time: *mut Time) -> std::ffi::c_int;
    }
    const OF_THREAD: std::ffi::c_int = 3;
    let mut time = Time { seconds: 0, nanoseconds: 0 };
    // SAFETY: the function of the C library, with a place for its result.
    let failed = unsafe { clock_gettime(OF_THREAD, &raw mut time) };
    assert!(failed == 0, "there is a clock of the thread");
    Duration::new(time.seconds as u64, time.nanoseconds as u32)
}

#[cfg(not(target_os = "linux"))]
fn clock() -> Duration {
    static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    START.elapsed()
}
