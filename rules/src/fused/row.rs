//! Rows of a fused function, in passes over blocks of elements: those of one row, or one of each of several rows that lie side by side.

use std::marker::PhantomData;

use super::layout::{Each, Lines};
use super::{Block, LANES, Real};

/// What is computed of each row.
pub trait Kernel<T: Real, const I: usize, const O: usize, const R: usize> {
    /// There may be more rows than one.
    const AXIS: bool;
    /// Goes through `row` as often as need be. `numbers` are those of the row: some are given, the others are computed.
    fn row<N: PerRow<T>>(row: &mut Row<'_, T, N, I, O>, numbers: &mut [N; R]);
}

/// A number of a row; or, for a block of rows side by side, one of each.
pub trait PerRow<T>: Copy {
    /// Of how many rows.
    const ROWS: usize;
    /// The same for all.
    fn splat(number: T) -> Self;
    /// That of a row.
    fn of(&self, row: usize) -> T;
    /// Sets that of a row.
    fn set(&mut self, row: usize, number: T);
    /// What lanes of results amount to.
    fn reduced(lanes: Block<T>, reduction: Reduction) -> Self;
}

impl<T: Real> PerRow<T> for T {
    const ROWS: usize = 1;

    #[inline(always)]
    fn splat(number: T) -> T {
        number
    }
    #[inline(always)]
    fn of(&self, _: usize) -> T {
        *self
    }
    #[inline(always)]
    fn set(&mut self, _: usize, number: T) {
        *self = number;
    }
    #[inline(always)]
    fn reduced(lanes: Block<T>, reduction: Reduction) -> T {
        reduction.all(lanes)
    }
}

impl<T: Real> PerRow<T> for Block<T> {
    const ROWS: usize = LANES;

    #[inline(always)]
    fn splat(number: T) -> Block<T> {
        [number; LANES]
    }
    #[inline(always)]
    fn of(&self, row: usize) -> T {
        self[row]
    }
    #[inline(always)]
    fn set(&mut self, row: usize, number: T) {
        self[row] = number;
    }
    #[inline(always)]
    fn reduced(lanes: Block<T>, _: Reduction) -> Block<T> {
        lanes
    }
}

/// One pass through a row: what is computed of a block of elements, and what becomes of it.
pub trait Pass<T: Real, const I: usize, const O: usize, const S: usize, const R: usize> {
    /// Which arrays are read,
    const READS: [bool; I];
    /// and which are written.
    const WRITES: [bool; O];
    /// How the results of all elements become one.
    const REDUCTIONS: [Reduction; S];
    /// Computes `y` and what is reduced, `s`, out of `x` and the numbers `r` of the row or rows. The block may be longer than what there is.
    ///
    /// Tells whether it could: vector code for periodic functions stops at [`Real::NEAR`].
    fn near<N: PerRow<T>>(
        x: [&Block<T>; I],
        r: &[N; R],
        y: &mut [Block<T>; O],
        s: &mut [Block<T>; S],
    ) -> bool;
    /// Likewise, whatever the arguments.
    fn far<N: PerRow<T>>(x: [&Block<T>; I], r: &[N; R], y: &mut [Block<T>; O], s: &mut [Block<T>; S]) {
        let _ = (x, r, y, s);
        unreachable!("without periodic functions nothing is far");
    }
}

/// How many become one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reduction {
    /// *Σ x*
    Sum,
    /// The largest one.
    Max,
    /// The smallest one.
    Min,
}

impl Reduction {
    #[inline(always)]
    fn neutral<T: Real>(self) -> T {
        match self {
            Reduction::Sum => T::of(0.0),
            Reduction::Max => T::of(f64::NEG_INFINITY),
            Reduction::Min => T::of(f64::INFINITY),
        }
    }

    #[inline(always)]
    fn combine<T: Real>(self, a: T, b: T) -> T {
        match self {
            Reduction::Sum => a + b,
            Reduction::Max => {
                if a < b {
                    b
                } else {
                    a
                }
            }
            Reduction::Min => {
                if b < a {
                    b
                } else {
                    a
                }
            }
        }
    }

    /// Of all lanes, in pairs.
    #[inline(always)]
    fn all<T: Real>(self, mut lanes: Block<T>) -> T {
        let mut half = LANES / 2;
        while half > 0 {
            for l in 0..half {
                lanes[l] = self.combine(lanes[l], lanes[l + half]);
            }
            half /= 2;
        }
        lanes[0]
    }
}

/// The derivatives of the largest or smallest element: those of elements that are equal to it have the same share each, as in a gradient.
#[derive(Clone, Copy)]
struct Ties<T> {
    extremum: T,
    derivatives: T,
    count: f64,
}

impl<T: Real> Ties<T> {
    #[inline(always)]
    fn none() -> Self {
        Ties { extremum: T::of(0.0), derivatives: T::of(-0.0), count: 0.0 }
    }

    fn add(&mut self, reduction: Reduction, x: T) {
        // That of NaN, which nothing is equal to, is none.
        if self.count == 0.0 || reduction.combine(self.extremum, x) != self.extremum {
            *self = Ties { extremum: x, ..Self::none() };
        }
        if x == self.extremum {
            self.derivatives += x.derivatives();
            self.count += 1.0;
        }
    }

    /// Gives `extremum` their mean.
    fn share(self, extremum: T) -> T {
        extremum.detached() + self.derivatives / T::of(self.count.max(1.0))
    }
}

/// Blocks that begin where a line of the cache does: vectors within them lie in one line each, wherever the stack happens to be.
#[repr(align(64))]
struct Aligned<B>(B);

/// A row of the arrays that go together, or several rows side by side: the first `I` arrays are read, the other `O` are written.
pub struct Row<'a, T, N, const I: usize, const O: usize> {
    pub(super) starts: Each<*mut T, I, O>,
    /// Somebody wants what is computed for the array.
    pub(super) wanted: [bool; O],
    /// It is added to what is there.
    pub(super) adds: [bool; O],
    /// The axes of a row but for the innermost,
    pub(super) lines: Lines<'a, I, O>,
    /// and that one.
    pub(super) length: usize,
    pub(super) strides: Each<isize, I, O>,
    /// How many rows there are,
    pub(super) rows: usize,
    /// and the way from one to the next.
    pub(super) across: Each<isize, I, O>,
    pub(super) numbers: PhantomData<N>,
}

impl<T: Real, N: PerRow<T>, const I: usize, const O: usize> Row<'_, T, N, I, O> {
    /// Blocks consist of elements of several rows.
    const SIDE_BY_SIDE: bool = N::ROWS > 1;

    /// How many elements the row has.
    #[inline(always)]
    pub fn count(&self) -> T {
        T::of((self.lines.len() * self.length) as f64)
    }

    /// Operand `i`, which is a number.
    #[inline(always)]
    pub fn number(&self, i: usize) -> T {
        // SAFETY: a number is there whatever the row.
        unsafe { *self.starts.read[i] }
    }

    /// How many rows there are.
    #[inline(always)]
    pub fn rows(&self) -> usize {
        if Self::SIDE_BY_SIDE { self.rows } else { 1 }
    }

    /// Adds `value` to array `o` of those that are written, which is a number, if somebody wants it.
    #[inline(always)]
    pub fn add(&mut self, o: usize, value: T) {
        if self.wanted[o] {
            // SAFETY: as above.
            unsafe { *self.starts.written[o] += value }
        }
    }

    /// Goes through the row once.
    #[inline(always)]
    pub fn pass<P: Pass<T, I, O, S, R>, const S: usize, const R: usize>(
        &mut self,
        numbers: &[N; R],
    ) -> [N; S] {
        let zeros = [T::of(0.0); LANES];
        let Aligned(buffers) = &mut Aligned([zeros; I]);
        // What is computed of a block, which overwrites that of the one before.
        let (Aligned(y), Aligned(s)) = (&mut Aligned([zeros; O]), &mut Aligned([zeros; S]));
        let Aligned(results) = &mut Aligned([zeros; S]);
        for i in 0..S {
            results[i] = [P::REDUCTIONS[i].neutral(); LANES];
        }
        let mut ties = [[Ties::none(); LANES]; S];
        // From one element of a block to the next, and from one block to the next.
        let (within, step) = if Self::SIDE_BY_SIDE { (self.across, 1) } else { (self.strides, LANES) };
        let mut lines = self.lines.steps();
        while self.length > 0 && lines.next() {
            let starts = self.starts.offset(&lines.offsets);
            // What is the same all along the line is read once.
            for i in 0..I {
                if P::READS[i] && within.read[i] == 0 {
                    // SAFETY: the layout says that this is an element of the array, as the line is not empty.
                    buffers[i] = [unsafe { *starts.read[i] }; LANES];
                }
            }
            // What is added to one element all along the line.
            let mut totals = [zeros; O];
            let mut begin = 0;
            while begin < self.length {
                let n = if Self::SIDE_BY_SIDE { self.rows } else { LANES.min(self.length - begin) };
                let mut places: [*const Block<T>; I] = [&zeros; I];
                for i in 0..I {
                    if !P::READS[i] {
                        continue;
                    }
                    let place = starts.read[i].wrapping_offset(begin as isize * self.strides.read[i]);
                    let whole = n == LANES && within.read[i] == 1;
                    if within.read[i] == 0 {
                        if Self::SIDE_BY_SIDE && self.strides.read[i] != 0 {
                            // SAFETY: the layout says that this is an element of the array.
                            buffers[i] = [unsafe { *place }; LANES];
                        }
                    } else if !whole {
                        // SAFETY: the layout says that these elements are the array's.
                        unsafe { read(place, within.read[i], n, &mut buffers[i]) }
                    }
                    places[i] = if whole { place.cast() } else { &buffers[i] };
                }
                // No `map`, which would not be compiled for the instructions of its caller.
                let mut x = [&zeros; I];
                for i in 0..I {
                    // SAFETY: a whole block is there, in the array or in a buffer; nothing is written as long as this is borrowed.
                    x[i] = unsafe { &*places[i] };
                }
                if !P::near(x, numbers, y, s) {
                    P::far(x, numbers, y, s);
                }
                for i in 0..S {
                    if T::CARRIES && P::REDUCTIONS[i] != Reduction::Sum {
                        for l in 0..n {
                            ties[i][if Self::SIDE_BY_SIDE { l } else { 0 }].add(P::REDUCTIONS[i], s[i][l]);
                        }
                    }
                    // Of rows that are not there, anything may be computed.
                    if Self::SIDE_BY_SIDE || n == LANES {
                        for l in 0..LANES {
                            results[i][l] = P::REDUCTIONS[i].combine(results[i][l], s[i][l]);
                        }
                    } else {
                        for l in 0..n {
                            results[i][l] = P::REDUCTIONS[i].combine(results[i][l], s[i][l]);
                        }
                    }
                }
                for o in 0..O {
                    if !P::WRITES[o] || !self.wanted[o] {
                        continue;
                    }
                    let place = starts.written[o].wrapping_offset(begin as isize * self.strides.written[o]);
                    if self.adds[o] && within.written[o] == 0 {
                        for l in 0..n {
                            totals[o][l] += y[o][l];
                        }
                        if Self::SIDE_BY_SIDE {
                            // SAFETY: the layout says that this is an element of the array, which may be written.
                            unsafe { *place += Reduction::Sum.all(std::mem::replace(&mut totals[o], zeros)) }
                        }
                        continue;
                    }
                    // SAFETY: the layout says that these elements are the array's, which may be written.
                    unsafe {
                        if n == LANES && within.written[o] == 1 {
                            write(place, &y[o], self.adds[o]);
                        } else {
                            write_some(place, within.written[o], n, &y[o], self.adds[o]);
                        }
                    }
                }
                begin += step;
            }
            for o in 0..O {
                let one = P::WRITES[o] && self.wanted[o] && self.adds[o] && within.written[o] == 0;
                if one && !Self::SIDE_BY_SIDE {
                    // SAFETY: as above.
                    unsafe { *starts.written[o] += Reduction::Sum.all(totals[o]) }
                }
            }
        }
        let mut all = [N::splat(T::of(0.0)); S];
        for i in 0..S {
            all[i] = N::reduced(results[i], P::REDUCTIONS[i]);
            if T::CARRIES && P::REDUCTIONS[i] != Reduction::Sum {
                for row in 0..N::ROWS {
                    all[i].set(row, ties[i][row].share(all[i].of(row)));
                }
            }
        }
        all
    }
}

/// Reads `n` elements. What is behind them in the block becomes the first one, so that nothing comes up that is not in the array.
///
/// # Safety
/// They are there, and `n` is 1 to `LANES`.
#[inline(never)]
unsafe fn read<T: Real>(start: *const T, stride: isize, n: usize, block: &mut Block<T>) {
    // SAFETY: there is at least one.
    *block = [unsafe { *start }; LANES];
    if stride == 1 {
        // SAFETY: as the caller guarantees.
        return unsafe { block.as_mut_ptr().copy_from_nonoverlapping(start, n) };
    }
    for l in 0..n {
        // SAFETY: as the caller guarantees.
        block[l] = unsafe { *start.offset(l as isize * stride) };
    }
}

/// Writes a block of elements, or adds to them.
///
/// # Safety
/// They may be written.
#[inline(always)]
unsafe fn write<T: Real>(start: *mut T, block: &Block<T>, adds: bool) {
    if adds {
        for l in 0..LANES {
            // SAFETY: as the caller guarantees.
            unsafe { *start.add(l) += block[l] }
        }
        return;
    }
    // In parts that are a few instructions each: a loop would become a call.
    const PART: usize = LANES / 4;
    let from = block.as_ptr();
    // SAFETY: as the caller guarantees.
    unsafe {
        start.copy_from_nonoverlapping(from, PART);
        start.add(PART).copy_from_nonoverlapping(from.add(PART), PART);
        start.add(2 * PART).copy_from_nonoverlapping(from.add(2 * PART), PART);
        start.add(3 * PART).copy_from_nonoverlapping(from.add(3 * PART), PART);
    }
}

/// Writes the first `n` elements of a block, or adds to them.
///
/// # Safety
/// They may be written.
#[inline(never)]
unsafe fn write_some<T: Real>(start: *mut T, stride: isize, n: usize, block: &Block<T>, adds: bool) {
    if stride == 1 && !adds {
        // SAFETY: as the caller guarantees.
        return unsafe { start.copy_from_nonoverlapping(block.as_ptr(), n) };
    }
    for l in 0..n {
        // SAFETY: as the caller guarantees.
        unsafe {
            let place = start.offset(l as isize * stride);
            *place = if adds { *place + block[l] } else { block[l] };
        }
    }
}
