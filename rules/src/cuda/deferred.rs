//! What is to be cleared or copied on a device is put off until something needs it: then much of it is one launch. Zeros that nobody has
//! needed until something is added to them are never written: what was to be added is written instead.

use super::driver::{Driver, Kernel};
use super::{Error, PRELUDE, source};
use crate::fused::operand::Place;

/// So many bytes of a device's memory from an address on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Reach {
    start: u64,
    bytes: u64,
}

impl Reach {
    pub(super) fn new(start: u64, bytes: usize) -> Self {
        Reach { start, bytes: bytes as u64 }
    }

    /// From the first byte of an array to the last.
    pub(super) fn of<T>(place: &Place<T>) -> Self {
        let size = size_of::<T>() as i64;
        let (mut first, mut last) = (0, size);
        for axis in 0..place.axes {
            if place.lengths[axis] == 0 {
                return Reach::new(place.start.addr() as u64, 0);
            }
            let way = (place.lengths[axis] as i64 - 1) * place.strides[axis] as i64 * size;
            first += way.min(0);
            last += way.max(0);
        }
        Reach { start: (place.start.addr() as u64).wrapping_add_signed(first), bytes: (last - first) as u64 }
    }

    /// The same for an array all of whose elements are different ones, without gaps between them.
    pub(super) fn whole<T>(place: &Place<T>) -> Option<Self> {
        let reach = Reach::of(place);
        let bytes = place.lengths().iter().product::<usize>() * size_of::<T>();
        let repeats = (0..place.axes).any(|axis| place.lengths[axis] > 1 && place.strides[axis] == 0);
        (!repeats && reach.bytes == bytes as u64).then_some(reach)
    }

    /// Whether both have bytes in common.
    pub(super) fn meets(self, other: Reach) -> bool {
        self.bytes > 0
            && other.bytes > 0
            && self.start < other.start + other.bytes
            && other.start < self.start + self.bytes
    }

    fn includes(self, other: Reach) -> bool {
        self.start <= other.start && other.start + other.bytes <= self.start + self.bytes
    }
}

/// Memory that is read or written.
#[derive(Clone, Copy, Debug)]
pub(super) enum Access {
    Read(Reach),
    Write(Reach),
}

/// Some bytes become those that are elsewhere, or zeros.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Move {
    pub(super) to: Reach,
    pub(super) from: Option<u64>,
}

impl Move {
    fn source(self) -> Option<Reach> {
        self.from.map(|start| Reach { start, ..self.to })
    }

    fn reads(self, reach: Reach) -> bool {
        self.source().is_some_and(|source| source.meets(reach))
    }

    /// Whether it has to be done before that.
    fn precedes(self, access: Access) -> bool {
        match access {
            Access::Read(reach) => self.to.meets(reach),
            Access::Write(reach) => self.to.meets(reach) || self.reads(reach),
        }
    }

    fn run(self, driver: &dyn Driver) -> Result<(), Error> {
        let Move { to, from } = self;
        match from {
            Some(from) => driver.copy(to.start, from, to.bytes as usize),
            None => driver.zero(to.start, to.bytes as usize),
        }
    }
}

/// More bytes take longer than a launch, and the driver is best at moving them.
const LARGE: u64 = 1 << 20;
/// As many zeros take about as long to write as to add to, so that they are not worth being waited with.
const FEW_ZEROS: u64 = 1 << 16;
/// How many moves one launch takes.
const MOST: usize = 16;
const THREADS: u64 = 256;
const BLOCKS: u64 = 256;

/// What is put off. No move writes what another one reads or writes, so that their order does not matter.
#[derive(Default)]
pub(super) struct Deferred {
    moves: Vec<Move>,
    mover: Mover,
    words: Vec<u64>,
    /// What went wrong where nobody could be told.
    failure: Option<Error>,
}

/// The kernel that does several moves.
#[derive(Default)]
enum Mover {
    #[default]
    Unknown,
    Found(Kernel),
    Missing,
}

impl Deferred {
    /// Puts a move off.
    pub(super) fn put_off(&mut self, driver: &dyn Driver, new: Move, recording: bool) -> Result<(), Error> {
        if new.to.bytes == 0 {
            return Ok(());
        }
        // What is written over before anybody reads it need not be written.
        self.moves.retain(|old| !new.to.includes(old.to) || new.reads(old.to));
        let write = Access::Write(new.to);
        let read = new.source().map(Access::Read);
        self.before(driver, [write].into_iter().chain(read), recording)?;
        if new.from.is_some() && new.to.bytes > LARGE {
            return new.run(driver);
        }
        if self.moves.len() == MOST {
            self.all(driver, recording)?;
        }
        self.moves.push(new);
        Ok(())
    }

    /// Forgets zeros that were to be written exactly there, and says whether there were any: who asks is going to write there.
    pub(super) fn take_zeros(&mut self, reach: Reach) -> bool {
        let count = self.moves.len();
        self.moves.retain(|old| old.from.is_some() || old.to != reach);
        self.moves.len() < count
    }

    /// Has the driver do what has to come before these accesses, and with it whatever does not pay to be put off longer.
    pub(super) fn before(
        &mut self,
        driver: &dyn Driver,
        accesses: impl Iterator<Item = Access> + Clone,
        recording: bool,
    ) -> Result<(), Error> {
        let precedes = |old: &Move| accesses.clone().any(|access| old.precedes(access));
        if !self.moves.iter().any(precedes) {
            return Ok(());
        }
        self.run(driver, recording, |old| old.from.is_some() || old.to.bytes <= FEW_ZEROS || precedes(old))
    }

    /// Has the driver do everything.
    pub(super) fn all(&mut self, driver: &dyn Driver, recording: bool) -> Result<(), Error> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        self.run(driver, recording, |_| true)
    }

    /// The same where nobody can be told of an error: the next one is, who asks for everything.
    pub(super) fn before_quietly(
        &mut self,
        driver: &dyn Driver,
        accesses: impl Iterator<Item = Access> + Clone,
        recording: bool,
    ) {
        if let Err(error) = self.before(driver, accesses, recording) {
            self.failure.get_or_insert(error);
        }
    }

    fn run(
        &mut self,
        driver: &dyn Driver,
        recording: bool,
        chosen: impl Fn(&Move) -> bool,
    ) -> Result<(), Error> {
        let small = |old: &Move| old.to.bytes <= LARGE;
        let together = self.moves.iter().filter(|old| chosen(old) && small(old)).count() > 1;
        if together && let Some(kernel) = self.mover(driver, recording)? {
            self.words.clear();
            let mut most = 0;
            for Move { to, from } in self.moves.iter().filter(|old| chosen(old) && small(old)) {
                self.words.extend([to.start, from.unwrap_or(0), to.bytes]);
                most = most.max(to.bytes);
            }
            let blocks = most.div_ceil(16 * THREADS).min(BLOCKS) as u32;
            let count = self.words.len() as u32 / 3;
            self.words.resize(3 * MOST, 0);
            driver.launch(kernel, (blocks, count), (THREADS as u32, 1), &self.words)?;
            self.moves.retain(|old| !(chosen(old) && small(old)));
        }
        for old in self.moves.iter().filter(|old| chosen(old)) {
            old.run(driver)?;
        }
        self.moves.retain(|old| !chosen(old));
        Ok(())
    }

    /// The kernel, unless there is no compiler, or it would be compiled while a graph is recorded.
    fn mover(&mut self, driver: &dyn Driver, recording: bool) -> Result<Option<Kernel>, Error> {
        if matches!(self.mover, Mover::Unknown) && !recording {
            let declarations = format!("{DECLARATIONS}struct Arguments {{ Move moves[{MOST}]; }};\n");
            let text = source::kernel(NAME, &declarations, &BODY.replace("{MOST}", &MOST.to_string()));
            self.mover = match driver.kernel(&[PRELUDE, &text].concat(), NAME) {
                Ok(kernel) => Mover::Found(kernel),
                Err(Error::Missing { .. }) => Mover::Missing,
                Err(error) => return Err(error),
            };
        }
        Ok(match self.mover {
            Mover::Found(kernel) => Some(kernel),
            Mover::Unknown | Mover::Missing => None,
        })
    }
}

const NAME: &str = "pb_move";

const DECLARATIONS: &str = "struct Move { char *to; const char *from; long long bytes; };
template <typename V> __device__ inline void move_all(const Move &move, V zero) {
    const long long count = move.bytes / (long long)sizeof(V), step = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
        ((V *)move.to)[i] = move.from ? ((const V *)move.from)[i] : zero;
}
";

/// Blocks along the second axis have a move each. Which one is looked up without an index that is known late: that would put all
/// arguments into slow memory. Elements have four bytes or eight.
const BODY: &str = "Move move = a.moves[0];
#pragma unroll
for (int i = 1; i < {MOST}; ++i) if (blockIdx.y == i) move = a.moves[i];
if (((unsigned long long)move.to | (unsigned long long)move.from | (unsigned long long)move.bytes) % 16 == 0)
    move_all(move, pb_vector<unsigned, 4>{{0, 0, 0, 0}});
else
    move_all(move, 0u);
";
