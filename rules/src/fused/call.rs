//! A call of a fused function: shapes, rows, and what is kept of each row.

use std::marker::PhantomData;

use ndarray::Axis;

use super::dispatch::{self, Task};
use super::layout::{Each, Layout, Shape};
use super::memory::{FusedKernel, Host, Memory};
use super::operand::{MOST_AXES, Place, Sink, Source};
use super::row::{Kernel, PerRow, Row};
use super::{Block, Rank, Real};
use crate::shadow::ArrayCells;

/// One call: what it is called in messages, along which axes rows run, and where its arrays are.
pub struct Call<M, const N: usize> {
    name: &'static str,
    operands: [&'static str; N],
    along: Along,
    memory: M,
}

/// The axes along which rows run.
#[derive(Clone, Copy, Debug)]
pub enum Along {
    /// All of them: everything is one row.
    All,
    /// This one.
    One(Axis),
    /// These.
    Several(&'static [usize]),
}

impl Along {
    pub(super) fn contains(self, axis: usize) -> bool {
        match self {
            Along::All => true,
            Along::One(one) => one.index() == axis,
            Along::Several(axes) => axes.contains(&axis),
        }
    }
}

/// What happens to the numbers of a row.
pub enum Numbers<'a, K> {
    /// They are forgotten.
    Forgotten,
    /// The first ones are kept.
    Kept(&'a mut K),
    /// The first ones are those that were kept.
    Given(&'a K),
}

/// What a call comes down to, once shapes are checked: arrays that are read, arrays that are written, and one more array that
/// has the value of each row, or the gradient with respect to it.
pub struct Job<'a, T, K, const I: usize, const O: usize> {
    #[cfg_attr(not(feature = "cuda"), allow(dead_code))]
    pub(crate) name: &'static str,
    pub(crate) shape: Shape,
    pub(crate) along: Along,
    pub(crate) sources: [Source<'a, T>; I],
    pub(crate) sinks: [Sink<'a, T>; O],
    pub(crate) numbers: Numbers<'a, K>,
    pub(crate) of_rows: Option<Place<T>>,
    /// Which of the arrays is the function's value. Forward and pullback go by how it lies, whatever else they read and write: so
    /// rows come in the same order, in which their numbers are kept.
    pub(crate) value: Option<usize>,
}

impl<T: Real, K, const I: usize, const O: usize> Job<'_, T, K, I, O> {
    /// Where all arrays are, and the order in which their elements are gone through.
    pub(crate) fn arrange(&self) -> (Places<'_, T, I, O>, Layout<I, O>, usize) {
        let Job { shape, along, sources, sinks, of_rows, value, .. } = self;
        arrange(shape, *along, sources, sinks, of_rows.as_ref(), *value)
    }
}

/// Where arrays are, unless nobody wants them.
type Places<'a, T, const I: usize, const O: usize> = Each<Option<&'a Place<T>>, I, O>;

fn arrange<'a, T: Real, const I: usize, const O: usize>(
    shape: &Shape,
    along: Along,
    sources: &'a [Source<'_, T>; I],
    sinks: &'a [Sink<'_, T>; O],
    of_rows: Option<&'a Place<T>>,
    value: Option<usize>,
) -> (Places<'a, T, I, O>, Layout<I, O>, usize) {
    let places = Each {
        read: sources.each_ref().map(|source| Some(&source.place)),
        written: sinks.each_ref().map(|sink| sink.place.as_ref()),
        of_rows,
    };
    // Or else the first operand with the most elements.
    let like = value.unwrap_or_else(|| {
        (0..I).rev().max_by_key(|i| sources[*i].place.lengths().iter().product::<usize>()).unwrap_or(0)
    });
    let layout = Layout::new(shape, along, &places, like);
    (places, layout, like)
}

impl<M: Memory, const N: usize> Call<M, N> {
    /// A call of the function `name` with the operands of these names.
    pub fn new(memory: M, name: &'static str, operands: [&'static str; N], along: Along) -> Self {
        Call { name, operands, along, memory }
    }

    /// The forward pass of a function of elements. `keep` gets the first `K` numbers of each row.
    pub fn elements<L, const R: usize, const K: usize, T: Real>(
        &self,
        sources: [Source<'_, T>; N],
        y: Sink<'_, T>,
        keep: Option<&mut M::Kept<T>>,
    ) where
        L: FusedKernel<T, N, 1, R>,
    {
        let lengths = self.lengths(&sources, y.place.as_ref(), false);
        let numbers = keep.map_or(Numbers::Forgotten, Numbers::Kept);
        self.run::<L, R, K, T, N, 1>(lengths, sources, [y], numbers, None, Some(N));
    }

    /// The forward pass of a function of rows: the number behind the `K` that are kept goes to `y`.
    pub fn rows<L, const R: usize, const K: usize, T: Real>(
        &self,
        sources: [Source<'_, T>; N],
        y: Sink<'_, T>,
        keep: Option<&mut M::Kept<T>>,
    ) where
        L: FusedKernel<T, N, 0, R>,
    {
        let lengths = self.lengths(&sources, y.place.as_ref(), true);
        let numbers = keep.map_or(Numbers::Forgotten, Numbers::Kept);
        self.run::<L, R, K, T, N, 0>(lengths, sources, [], numbers, y.place, None);
    }

    /// The pullback of a function of elements. Behind the operands come the function's value and the gradient with respect
    /// to it, and behind the shadows the latter once more.
    pub fn pull_elements<L, const R: usize, const K: usize, T: Real, const I: usize, const O: usize>(
        &self,
        sources: [Source<'_, T>; I],
        sinks: [Sink<'_, T>; O],
        kept: &M::Kept<T>,
    ) where
        L: FusedKernel<T, I, O, R>,
    {
        let lengths = Shape::of(sources[N].place.lengths());
        self.run::<L, R, K, T, I, O>(lengths, sources, sinks, Numbers::Given(kept), None, Some(N));
    }

    /// The pullback of a function of rows; the gradient with respect to the value of a row becomes the number behind the
    /// `K` that were kept.
    pub fn pull_rows<L, const R: usize, const K: usize, T: Real>(
        &self,
        sources: [Source<'_, T>; N],
        sinks: [Sink<'_, T>; N],
        dy: Source<'_, T>,
        kept: &M::Kept<T>,
    ) where
        L: FusedKernel<T, N, N, R>,
    {
        let lengths = self.lengths(&sources, Some(&dy.place), true);
        self.run::<L, R, K, T, N, N>(lengths, sources, sinks, Numbers::Given(kept), Some(dy.place), None);
    }

    /// The shape of what is gone through. `y` has that shape, or length 1 along the axis if it is `reduced`.
    fn lengths<T: Real>(&self, sources: &[Source<'_, T>; N], y: Option<&Place<T>>, reduced: bool) -> Shape {
        let y = y.filter(|y| y.axes > 0 || !reduced);
        let axes = y.map_or(0, |y| y.axes);
        let mut shape = Shape::of(&[1; MOST_AXES][..axes]);
        for (source, operand) in sources.iter().zip(self.operands) {
            let lengths = source.place.lengths();
            if shape.broadcast(lengths).is_none() {
                panic!("{}: `{operand}` is {lengths:?}, which does not go with {:?}", self.name, &*shape);
            }
        }
        if let Along::One(Axis(axis)) = self.along
            && axis >= shape.len()
        {
            panic!("{}: there is no axis {axis} among {}", self.name, shape.len());
        }
        if let Some(y) = y {
            let mut expected = shape;
            if reduced {
                (0..shape.len())
                    .filter(|axis| self.along.contains(*axis))
                    .for_each(|axis| expected[axis] = 1);
            }
            // Operands may be broadcast to the result.
            let fits = y.axes == expected.len()
                && y.lengths().iter().zip(&*expected).all(|(y, e)| y == e || !reduced && *e == 1);
            if !fits {
                panic!(
                    "{}: the result is {:?}, but the operands make {:?}",
                    self.name,
                    y.lengths(),
                    &*expected
                );
            }
            if !reduced {
                return Shape::of(y.lengths());
            }
        }
        shape
    }

    fn run<L, const R: usize, const K: usize, T: Real, const I: usize, const O: usize>(
        &self,
        shape: Shape,
        sources: [Source<'_, T>; I],
        sinks: [Sink<'_, T>; O],
        numbers: Numbers<'_, M::Kept<T>>,
        of_rows: Option<Place<T>>,
        value: Option<usize>,
    ) where
        L: FusedKernel<T, I, O, R>,
    {
        let Call { name, along, .. } = *self;
        self.memory.run::<L, R, K, T, I, O>(Job {
            name,
            shape,
            along,
            sources,
            sinks,
            numbers,
            of_rows,
            value,
        });
    }
}

impl<const N: usize> Call<Host, N> {
    /// Where elements may wait from one pass of [`both`](Self::both) to the next: at the place of the gradient `sink`, if that has room
    /// for all of them and nothing in it.
    pub fn stage<'a, T: Real>(
        &self,
        sources: &[Source<'_, T>; N],
        sink: &Sink<'a, T>,
    ) -> Option<Source<'a, T>> {
        let elements = |lengths: &[usize]| lengths.iter().product::<usize>();
        let shape = self.lengths(sources, None, true);
        sink.place.filter(|place| !sink.adds && elements(place.lengths()) == elements(&shape)).map(Source::at)
    }

    /// Both passes of a function of one row: its value, for the gradient `seed` with respect to it. The value is that of the forward
    /// pass; if that adds in another order than this, nothing is done. Behind the operands may come a [`stage`](Self::stage).
    pub fn both<L, const R: usize, T: Real, const I: usize>(
        &self,
        sources: [Source<'_, T>; I],
        sinks: [Sink<'_, T>; N],
        seed: T,
    ) -> Option<T>
    where
        L: Kernel<T, I, N, R>,
    {
        let operands = std::array::from_fn(|i| sources[i]);
        let shape = self.lengths(&operands, None, true);
        let (_, alone, _) = arrange(&shape, Along::All, &operands, &[], None, None);
        let (places, layout, _) = arrange(&shape, Along::All, &sources, &sinks, None, None);
        if !alone.inner.goes_like(&layout.inner) {
            return None;
        }
        let mut value = T::of(0.0);
        let numbers = OfRow::Seeded(seed, &mut value);
        through::<L, R, 0, T, I, N>(&layout, starts(places), &shape, &sinks, numbers, false);
        Some(value)
    }
}

impl Memory for Host {
    type Kept<T: Real> = Vec<T>;

    #[allow(private_interfaces, reason = "nobody else implements it")]
    fn room<T: Real>(&self, kept: &mut Vec<T>, lengths: &[usize]) -> Place<T> {
        let count = lengths.iter().product();
        if kept.len() < count {
            kept.resize(count, T::of(0.0));
        }
        Place::packed(kept.as_mut_ptr(), lengths)
    }

    fn run<L, const R: usize, const K: usize, T: Real, const I: usize, const O: usize>(
        &self,
        job: Job<'_, T, Vec<T>, I, O>,
    ) where
        L: FusedKernel<T, I, O, R>,
    {
        let (places, layout, _) = job.arrange();
        let starts = starts(places);
        let Job { shape, sinks, numbers, of_rows, .. } = job;
        let numbers = match numbers {
            Numbers::Forgotten => OfRow::Forgotten,
            Numbers::Given(given) => OfRow::Given(given),
            Numbers::Kept(keep) => {
                let count = layout.outer.all().len() * K;
                if keep.len() != count {
                    keep.clear();
                    keep.resize(count, T::of(0.0));
                }
                OfRow::Kept(keep)
            }
        };
        through::<L, R, K, T, I, O>(&layout, starts, &shape, &sinks, numbers, of_rows.is_some());
    }
}

/// The first elements, of arrays that somebody wants.
fn starts<T, const I: usize, const O: usize>(places: Places<'_, T, I, O>) -> Each<*mut T, I, O> {
    places.map(|place| place.map_or(std::ptr::null_mut(), |place| place.start))
}

/// Goes through the rows of a call.
fn through<L, const R: usize, const K: usize, T: Real, const I: usize, const O: usize>(
    layout: &Layout<I, O>,
    starts: Each<*mut T, I, O>,
    shape: &Shape,
    sinks: &[Sink<'_, T>; O],
    numbers: OfRow<'_, T>,
    of_rows: bool,
) where
    L: Kernel<T, I, O, R>,
{
    let rows = Rows::<L, T, I, O, R, K> {
        layout,
        starts,
        wanted: std::array::from_fn(|o| sinks[o].place.is_some()),
        adds: std::array::from_fn(|o| sinks[o].adds || emptied(&sinks[o], shape)),
        numbers,
        of_rows,
        kernel: PhantomData,
    };
    // What goes element by element has no use for vector instructions.
    dispatch::run::<T>(rows);
}

/// What happens to the numbers of a row in the host's memory.
enum OfRow<'a, T> {
    /// They are forgotten.
    Forgotten,
    /// The first ones are kept.
    Kept(&'a mut [T]),
    /// The first ones are those that were kept.
    Given(&'a [T]),
    /// There is one row. The first one is the gradient with respect to its value, and the second becomes the value.
    Seeded(T, &'a mut T),
}

/// What is to be overwritten, but is gone through several times, as it is broadcast, is emptied first: then it can be added to.
fn emptied<T: Real>(sink: &Sink<'_, T>, shape: &Shape) -> bool {
    let Some(place) = sink.place.as_ref().filter(|_| !sink.adds && !sink.is_result) else { return false };
    if place.lengths().iter().product::<usize>() == shape.iter().product::<usize>() {
        return false;
    }
    let places: Places<'_, T, 1, 0> = Each { read: [Some(place)], written: [], of_rows: None };
    let layout = Layout::new(place.lengths(), Along::All, &places, 0);
    let (lines, length, strides) = layout.inner.split();
    let mut steps = lines.steps();
    while steps.next() {
        let line = place.start.wrapping_offset(steps.offsets.read[0]);
        for i in 0..length {
            // SAFETY: the layout says that this is an element of the array, which may be written.
            unsafe { *line.wrapping_offset(i as isize * strides.read[0]) = T::of(0.0) }
        }
    }
    true
}

/// All rows of a call.
struct Rows<'a, L, T, const I: usize, const O: usize, const R: usize, const K: usize> {
    layout: &'a Layout<I, O>,
    starts: Each<*mut T, I, O>,
    wanted: [bool; O],
    adds: [bool; O],
    numbers: OfRow<'a, T>,
    /// One more array holds the number behind those that are kept.
    of_rows: bool,
    kernel: PhantomData<L>,
}

impl<L, T: Real, const I: usize, const O: usize, const R: usize, const K: usize> Task
    for Rows<'_, L, T, I, O, R, K>
where
    L: Kernel<T, I, O, R>,
{
    #[inline(always)]
    fn run(self) {
        if L::AXIS && self.layout.side_by_side { self.through::<Block<T>>() } else { self.through::<T>() }
    }
}

impl<L, T: Real, const I: usize, const O: usize, const R: usize, const K: usize> Rows<'_, L, T, I, O, R, K>
where
    L: Kernel<T, I, O, R>,
{
    /// One row at a time, or as many as there are lanes.
    #[inline(always)]
    fn through<N: PerRow<T>>(mut self) {
        let Layout { outer, inner, .. } = self.layout;
        let (lines, length, strides) = inner.split();
        let (outer, all, across) = if N::ROWS == 1 { (outer.all(), 1, Each::ZERO) } else { outer.split() };
        let mut number = 0;
        let mut steps = outer.steps();
        while steps.next() {
            let mut first = 0;
            while first < all {
                let rows = N::ROWS.min(all - first);
                let mut offsets = steps.offsets;
                offsets.go(&across, first as isize);
                self.some::<N>(
                    Row {
                        starts: self.starts.offset(&offsets),
                        wanted: self.wanted,
                        adds: self.adds,
                        lines,
                        length,
                        strides,
                        rows,
                        across,
                        numbers: PhantomData,
                    },
                    number,
                );
                number += rows;
                first += rows;
            }
        }
    }

    /// The rows from `number` on.
    #[inline(always)]
    fn some<N: PerRow<T>>(&mut self, mut rows: Row<'_, T, N, I, O>, number: usize) {
        // That of each row, if there is such an array.
        let (start, across) = (rows.starts.of_rows, rows.across.of_rows);
        let of_rows = |row: usize| start.wrapping_offset(row as isize * across);
        let mut r = [N::splat(T::of(0.0)); R];
        match &self.numbers {
            OfRow::Seeded(seed, _) => r[0] = N::splat(*seed),
            OfRow::Given(given) => {
                for l in 0..N::ROWS {
                    // Lanes without a row of their own go along with the first one.
                    let row = if l < rows.rows() { l } else { 0 };
                    for k in 0..K {
                        r[k].set(l, given[(number + row) * K + k]);
                    }
                    if self.of_rows {
                        // SAFETY: the layout says that this is an element of the array.
                        r[K].set(l, unsafe { *of_rows(row) });
                    }
                }
            }
            OfRow::Forgotten | OfRow::Kept(_) => {}
        }
        L::row(&mut rows, &mut r);
        match &mut self.numbers {
            OfRow::Given(_) => {}
            OfRow::Seeded(_, value) => **value = r[1].of(0),
            numbers => {
                for row in 0..rows.rows() {
                    if let OfRow::Kept(keep) = numbers {
                        for k in 0..K {
                            keep[(number + row) * K + k] = r[k].of(row);
                        }
                    }
                    if self.of_rows {
                        // SAFETY: the layout says that this is an element of the array, which may be written.
                        unsafe { *of_rows(row) = r[K].of(row) }
                    }
                }
            }
        }
    }
}

/// Empties a shadow.
pub(super) fn clear<T: Real, D: Rank>(cells: &ArrayCells<'_, T, D>) {
    let zero = T::of(0.0);
    match cells.as_slice_memory_order() {
        // Elements side by side are emptied in vectors.
        Some(cells) => cells.iter().for_each(|cell| cell.set(zero)),
        None => cells.iter().for_each(|cell| cell.set(zero)),
    }
}
