//! A call of a fused function: shapes, rows, and what is kept of each row.

use ndarray::Axis;

use super::dispatch::{self, Task};
use super::layout::{Each, Layout, MOST_ARRAYS, Shape};
use super::memory::{FusedKernel, Host, Memory};
use super::operand::{MOST_AXES, Place, Sink, Source};
use super::row::{Kernel, Row};
use super::{Rank, Real};
use crate::shadow::ArrayCells;

/// One call: what it is called in messages, along which axis rows run, if not through everything, and where its arrays are.
pub struct Call<M, const N: usize> {
    name: &'static str,
    operands: [&'static str; N],
    axis: Option<Axis>,
    memory: M,
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
    pub(crate) name: &'static str,
    pub(crate) shape: Shape,
    pub(crate) axis: Option<Axis>,
    pub(crate) sources: [Source<'a, T>; I],
    pub(crate) sinks: [Sink<'a, T>; O],
    pub(crate) numbers: Numbers<'a, K>,
    pub(crate) of_rows: Option<Place<T>>,
}

impl<T: Real, K, const I: usize, const O: usize> Job<'_, T, K, I, O> {
    /// Where all arrays are, and the order in which their elements are gone through.
    pub(crate) fn arrange(&self) -> (Each<Option<Place<T>>>, Layout, usize) {
        let arrays = I + O + 1;
        assert!(arrays <= MOST_ARRAYS, "{}: too many operands", self.name);
        let mut places: Each<Option<Place<T>>> = [None; MOST_ARRAYS];
        places[..I].iter_mut().zip(&self.sources).for_each(|(place, source)| *place = Some(source.place));
        places[I..I + O].iter_mut().zip(&self.sinks).for_each(|(place, sink)| *place = sink.place);
        places[I + O] = self.of_rows;
        // The result, or else the operand with the most elements.
        let like = match self.sinks.iter().any(|sink| !sink.adds) {
            true => I + O - 1,
            false => {
                let elements = |i: &usize| self.sources[*i].place.lengths().iter().product::<usize>();
                (0..I).max_by_key(elements).unwrap_or(0)
            }
        };
        let layout = Layout::new(&self.shape, self.axis.map(|axis| axis.index()), &places[..arrays], like);
        (places, layout, like)
    }
}

impl<M: Memory, const N: usize> Call<M, N> {
    /// A call of the function `name` with the operands of these names.
    pub fn new(memory: M, name: &'static str, operands: [&'static str; N], axis: Option<Axis>) -> Self {
        Call { name, operands, axis, memory }
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
        self.run::<L, R, K, T, N, 1>(lengths, sources, [y], numbers, None);
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
        self.run::<L, R, K, T, N, 0>(lengths, sources, [], numbers, y.place);
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
        self.run::<L, R, K, T, I, O>(lengths, sources, sinks, Numbers::Given(kept), None);
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
        self.run::<L, R, K, T, N, N>(lengths, sources, sinks, Numbers::Given(kept), Some(dy.place));
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
        if let Some(Axis(axis)) = self.axis
            && axis >= shape.len()
        {
            panic!("{}: there is no axis {axis} among {}", self.name, shape.len());
        }
        if let Some(y) = y {
            let mut expected = shape;
            if let (true, Some(axis)) = (reduced, self.axis) {
                expected[axis.index()] = 1;
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
    ) where
        L: FusedKernel<T, I, O, R>,
    {
        let Call { name, axis, .. } = *self;
        self.memory.run::<L, R, K, T, I, O>(Job { name, shape, axis, sources, sinks, numbers, of_rows });
    }
}

impl Memory for Host {
    type Kept<T: Real> = Vec<T>;

    fn run<L, const R: usize, const K: usize, T: Real, const I: usize, const O: usize>(
        &self,
        job: Job<'_, T, Vec<T>, I, O>,
    ) where
        L: FusedKernel<T, I, O, R>,
    {
        let (places, layout, _) = job.arrange();
        let Job { sinks, mut numbers, of_rows, .. } = job;
        let rows = layout.outer.len();
        if let Numbers::Kept(keep) = &mut numbers
            && keep.len() != rows * K
        {
            keep.clear();
            keep.resize(rows * K, T::of(0.0));
        }
        dispatch::run(Rows::<L, T, I, O, R, K> {
            layout: &layout,
            starts: places.map(|place| place.map_or(std::ptr::null_mut(), |place| place.start)),
            wanted: std::array::from_fn(|o| sinks[o].place.is_some()),
            adds: std::array::from_fn(|o| sinks[o].adds),
            numbers,
            of_rows: of_rows.is_some(),
            kernel: std::marker::PhantomData,
        });
    }
}

/// All rows of a call.
struct Rows<'a, L, T, const I: usize, const O: usize, const R: usize, const K: usize> {
    layout: &'a Layout,
    starts: Each<*mut T>,
    wanted: [bool; O],
    adds: [bool; O],
    numbers: Numbers<'a, Vec<T>>,
    /// One more array holds the number behind those that are kept.
    of_rows: bool,
    kernel: std::marker::PhantomData<L>,
}

impl<L, T: Real, const I: usize, const O: usize, const R: usize, const K: usize> Task
    for Rows<'_, L, T, I, O, R, K>
where
    L: Kernel<T, I, O, R>,
{
    #[inline(always)]
    fn run(mut self) {
        let Layout { outer, inner } = self.layout;
        let (lines, length, strides) = inner.split();
        let mut number = 0;
        let mut steps = outer.steps();
        while steps.next() {
            let mut starts = self.starts;
            for i in 0..=I + O {
                starts[i] = starts[i].wrapping_offset(steps.offsets[i]);
            }
            let mut row =
                Row { starts, wanted: self.wanted, adds: self.adds, lines: &lines, length, strides };
            let mut r = [T::of(0.0); R];
            let kept = number * K..(number + 1) * K;
            if let Numbers::Given(given) = &self.numbers {
                r[..K].copy_from_slice(&given[kept.clone()]);
                if self.of_rows {
                    // SAFETY: the layout says that this is an element of the array.
                    r[K] = unsafe { *starts[I + O] };
                }
            }
            L::row(&mut row, &mut r);
            match &mut self.numbers {
                Numbers::Given(_) => {}
                numbers => {
                    if let Numbers::Kept(keep) = numbers {
                        keep[kept].copy_from_slice(&r[..K]);
                    }
                    if self.of_rows {
                        // SAFETY: the layout says that this is an element of the array, which may be written.
                        unsafe { *starts[I + O] = r[K] }
                    }
                }
            }
            number += 1;
        }
    }
}

/// Empties a shadow.
pub(super) fn clear<T: Real, D: Rank>(cells: &ArrayCells<'_, T, D>) {
    for cell in cells {
        cell.set(T::of(0.0));
    }
}
