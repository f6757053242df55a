//! Calls of fused functions with arrays on a device.

use std::collections::HashMap;

use super::array::{DeviceRef, bytes_mut, same_bytes};
use super::deferred::{Access, Reach};
use super::device::{Device, Places, Prepared, State};
use super::driver::Kernel;
use super::plan::{Launch, Plan, Request, Word};
use super::source::{Seed, Space};
use super::{Error, Kept};
use crate::fused::layout::{Each, Layout, Shape};
use crate::fused::operand::{Owner, Place};
use crate::fused::{
    Along, FusedKernel, Job, Memory, Numbers, PassText, Rank, Real, Reduction, Sink, Source, Text,
};

/// What a rule does about a device that fails: rules have no errors to return.
#[cold]
pub(super) fn failed<X>(error: Error) -> X {
    panic!("{error}")
}

impl Memory for Device {
    type Kept<T: Real> = Kept;

    #[allow(private_interfaces, reason = "nobody else implements it")]
    fn room<T: Real>(&self, kept: &mut Kept, lengths: &[usize]) -> Place<T> {
        let bytes = lengths.iter().product::<usize>() * size_of::<T>();
        let start = std::ptr::without_provenance_mut(kept.memory.room(self, bytes) as usize);
        Place { owner: Owner::Device(self.identity()), ..Place::packed(start, lengths) }
    }

    fn run<L, const R: usize, const K: usize, T: Real, const I: usize, const O: usize>(
        &self,
        job: Job<'_, T, Kept, I, O>,
    ) where
        L: FusedKernel<T, I, O, R>,
    {
        run(self, L::TEXT, K, job).unwrap_or_else(failed);
    }
}

/// What becomes of a call's results that are numbers of the host's.
struct Numbered<T> {
    place: *mut T,
    slot: usize,
    adds: bool,
}

fn is_array<T>(place: &&Place<T>) -> bool {
    matches!(place.owner, Owner::Device(_))
}

impl<T, const I: usize, const O: usize> Each<Option<Place<T>>, I, O> {
    /// Those that are not numbers of the host's.
    fn arrays(&self) -> impl Iterator<Item = &Place<T>> + Clone {
        self.iter().flatten().filter(is_array)
    }
}

fn run<T: Real, const I: usize, const O: usize>(
    device: &Device,
    text: &'static Text,
    kept: usize,
    job: Job<'_, T, Kept, I, O>,
) -> Result<(), Error> {
    let (places, layout, like) = job.arrange();
    let mut places = places.map(|place| place.copied());
    let Job { name, sinks, numbers, of_rows, .. } = job;
    for place in places.iter().flatten() {
        match place.owner {
            Owner::Device(owner) if owner != device.identity() && place.lengths().iter().all(|n| *n > 0) => {
                panic!("{name}: {}", Error::OtherDevice)
            }
            Owner::Host => panic!("{name}: an array is not on the device"),
            _ => {}
        }
    }
    let number = |place: &Option<Place<T>>| place.filter(|place| matches!(place.owner, Owner::Number));
    let pulls = matches!(numbers, Numbers::Given(_));
    let seed = of_rows.filter(|_| pulls).map(|place| match place.owner {
        Owner::Number => Seed::Number,
        _ => Seed::Array,
    });

    // Results that are numbers go to memory of the device first.
    let mut read_back: [Option<Numbered<T>>; O] = [const { None }; O];
    for (o, sink) in sinks.iter().enumerate() {
        if let Some(place) = number(&sink.place) {
            read_back[o] = Some(Numbered { place: place.start, slot: o, adds: true });
        }
    }
    let value = of_rows.filter(|_| !pulls).and_then(|place| number(&Some(place)));
    let value = value.map(|place| Numbered { place: place.start, slot: O, adds: false });

    let mut state = device.state();
    let State { kernels, plans, scratch, key, words } = &mut *state;
    let wanted: [bool; O] = std::array::from_fn(|o| sinks[o].place.is_some() && read_back[o].is_none());
    let mut adds: [bool; O] = std::array::from_fn(|o| sinks[o].adds);
    let aligned = places.arrays().all(|place| place.start.addr().is_multiple_of(16));
    let overlapping = overlap(&places.written, &wanted);
    // What would be added to nothing but zeros is written, if that is one element for each step, which nobody else touches.
    let all = layout.steps();
    for o in 0..O {
        let whole = |place: &Place<T>| place.lengths().iter().product::<usize>() == all;
        let reach = places.written[o].filter(whole).as_ref().and_then(Reach::whole);
        let Some(reach) = reach.filter(|_| adds[o] && wanted[o] && text.writes(o)) else { continue };
        let meeting = places.arrays().filter(|place| Reach::of(*place).meets(reach)).count();
        if meeting == 1 {
            adds[o] = !device.take_zeros(reach);
        }
    }
    let keeps = matches!(numbers, Numbers::Kept(_));
    let results = of_rows.is_some() && !pulls;

    // All that the plan depends on.
    key.clear();
    key.extend([std::ptr::from_ref(text).addr() as u64, size_of::<T>() as u64, kept as u64, like as u64]);
    let facts = [aligned, overlapping, keeps, pulls, results];
    key.extend(facts.iter().chain(&wanted).chain(&adds).map(|flag| u64::from(*flag)));
    key.push(seed.map_or(0, |seed| seed as u64 + 1));
    for axes in [&layout.outer, &layout.inner] {
        key.push(axes.count as u64);
        for axis in 0..axes.count {
            key.push(axes.lengths[axis] as u64);
            key.extend(axes.strides[axis].iter().map(|stride| *stride as u64));
        }
    }
    if !plans.contains_key(&key[..]) {
        let space = space(&layout);
        let (wanted, adds) = (&wanted[..], &adds[..]);
        let plan = Plan::new(Request {
            text,
            space: &space,
            double: size_of::<T>() == 8,
            aligned,
            overlapping,
            wanted,
            adds,
            kept,
            keeps,
            pulls,
            results,
            seed,
            like,
        });
        let mut compiled = Vec::new();
        for Launch { source, name, .. } in &plan.launches {
            compiled.push(kernel(device, kernels, name, || source.clone())?);
        }
        plans.insert(key.clone().into_boxed_slice(), Prepared { plan, kernels: compiled });
    }
    let Prepared { plan, kernels } = &plans[&key[..]];

    let size = size_of::<T>();
    let kept = match numbers {
        Numbers::Kept(kept) if plan.kept > 0 => kept.memory.room(device, plan.kept * size),
        Numbers::Given(kept) if plan.kept > 0 => kept.memory.address(),
        _ => 0,
    };
    let room = [plan.counters * 4, (O + 1) * size, plan.rows * size, plan.partials * size];
    let at = scratch.places(device, room)?;
    let total = |slot: usize| at.totals + (slot * size) as u64;
    if let Some(Numbered { slot, .. }) = value {
        places.of_rows = Some(Place {
            start: std::ptr::without_provenance_mut(total(slot) as usize),
            ..of_rows.expect("a value")
        });
    }
    let written = places.written.iter().chain([&places.of_rows]).flatten().filter(is_array);
    let accesses = places.arrays().map(|place| Access::Read(Reach::of(place)));
    let accesses = accesses.chain(written.map(|place| Access::Write(Reach::of(place))));
    let driver = device.driver_for(accesses)?;
    for (launch, kernel) in plan.launches.iter().zip(kernels) {
        words.clear();
        for word in &launch.words {
            words.push(resolve(*word, &places, of_rows, at, kept, &total));
        }
        driver.launch(*kernel, launch.grid, launch.block, words)?;
    }
    for number in read_back.into_iter().chain([value]).flatten() {
        if plan.launches.is_empty() {
            continue;
        }
        let mut result = [T::of(0.0)];
        device.download(total(number.slot), bytes_mut(&mut result))?;
        // SAFETY: the place is that of a number which the caller lent to be written.
        unsafe {
            let [result] = result;
            *number.place = if number.adds { *number.place + result } else { result };
        }
    }
    Ok(())
}

/// The kernel `name`, which is compiled if it is asked for the first time.
pub(super) fn kernel(
    device: &Device,
    kernels: &mut HashMap<String, Kernel>,
    name: &str,
    source: impl FnOnce() -> String,
) -> Result<Kernel, Error> {
    if let Some(kernel) = kernels.get(name) {
        return Ok(*kernel);
    }
    device.at_once("it compiles a kernel")?;
    let kernel = device.driver().kernel(&[super::PRELUDE, &source()].concat(), name)?;
    kernels.insert(name.to_owned(), kernel);
    Ok(kernel)
}

fn resolve<T: Real, const I: usize, const O: usize>(
    word: Word,
    places: &Each<Option<Place<T>>, I, O>,
    of_rows: Option<Place<T>>,
    at: Places,
    kept: u64,
    total: &dyn Fn(usize) -> u64,
) -> u64 {
    // SAFETY: the place is that of a number which the caller lent.
    let number = |place: Option<Place<T>>| bits(unsafe { *place.expect("a number").start });
    match word {
        Word::Value(value) => value,
        Word::Array(array) => places[array].map_or(0, |place| place.start.addr() as u64),
        Word::Number(i) => number(places[i]),
        Word::Seed => number(of_rows),
        Word::Kept => kept,
        Word::Counters => at.counters,
        Word::Rows => at.rows,
        Word::Partials => at.partials,
        Word::Total(port) => total(port),
    }
}

/// The bits of a number, in a word.
pub(super) fn bits<T: Real>(number: T) -> u64 {
    let mut word = [0; 8];
    word[..size_of::<T>()].copy_from_slice(bytes_mut(&mut [number]));
    u64::from_le_bytes(word)
}

fn space<const I: usize, const O: usize>(layout: &Layout<I, O>) -> Space {
    let axes = || {
        [&layout.outer, &layout.inner].into_iter().flat_map(|axes| (0..axes.count).map(move |i| (axes, i)))
    };
    let lengths: Vec<usize> = axes().map(|(axes, i)| axes.lengths[i]).collect();
    let mut strides: Vec<Vec<isize>> =
        (0..=I + O).map(|array| axes().map(|(axes, i)| axes.strides[i][array]).collect()).collect();
    let outer = layout.outer.count;
    let mut row = vec![0; lengths.len()];
    let mut next = 1;
    for axis in (0..outer).rev() {
        row[axis] = next;
        next *= lengths[axis] as isize;
    }
    strides.push(row);
    Space { lengths, strides, inputs: I, outputs: O, outer }
}

/// Whether two of the results have elements in common without being the same.
fn overlap<T: Real>(sinks: &[Option<Place<T>>], wanted: &[bool]) -> bool {
    let places =
        || sinks.iter().zip(wanted).filter(|(_, wanted)| **wanted).filter_map(|(place, _)| place.as_ref());
    places().enumerate().any(|(i, a)| {
        places().skip(i + 1).any(|b| {
            let same = a.start == b.start
                && a.lengths() == b.lengths()
                && a.strides[..a.axes] == b.strides[..b.axes];
            !same && Reach::of(a).meets(Reach::of(b))
        })
    })
}

/// A function of elements that is written by hand.
const fn elements(name: &'static str, numbers: &'static [usize], passes: &'static [PassText; 2]) -> Text {
    Text { name, slots: 0, numbers, passes, totals: &[] }
}

/// Nothing comes before the elements of a row.
const BEFORE: PassText =
    PassText { reads: &[false; 2], writes: &[false], reductions: &[], elements: "", then: "" };

/// *y ← x*
static COPY: Text = elements(
    "copy",
    &[],
    &[BEFORE, PassText { reads: &[true], writes: &[true], elements: "y0 = x0;\n", ..BEFORE }],
);

/// *y ← s*
static FILL: Text =
    elements("fill", &[0], &[BEFORE, PassText { writes: &[true], elements: "y0 = n0;\n", ..BEFORE }]);

/// *y ← s·x*, or *y += s·x*
static SCALE: Text = elements(
    "scale",
    &[0],
    &[BEFORE, PassText { reads: &[false, true], writes: &[true], elements: "y0 = n0 * x1;\n", ..BEFORE }],
);

/// *Σ x·y*
static INNER: Text = Text {
    name: "inner",
    slots: 1,
    numbers: &[],
    passes: &[
        PassText { writes: &[], ..BEFORE },
        PassText {
            reads: &[true; 2],
            writes: &[],
            reductions: &[(Reduction::Sum, 0)],
            elements: "s0 = x0 * x1;\n",
            then: "",
        },
    ],
    totals: &[],
};

fn write<T: Real, const I: usize>(
    device: &Device,
    text: &'static Text,
    to: Place<T>,
    adds: bool,
    sources: [Source<'_, T>; I],
) {
    let job = Job {
        name: text.name,
        shape: Shape::of(to.lengths()),
        along: Along::All,
        sources,
        sinks: [Sink::at(Some(to), adds)],
        numbers: Numbers::Forgotten,
        of_rows: None,
        value: Some(I),
    };
    run(device, text, 0, job).unwrap_or_else(failed);
}

/// Copies what is at `from`, which has the same shape.
pub(super) fn copy<T: Real>(device: &Device, to: Place<T>, from: Place<T>) {
    device.check([to, from]);
    let bytes = to.lengths().iter().product::<usize>() * size_of::<T>();
    if bytes == 0 {
    } else if same_bytes(&to, &from) {
        let (to, from) = (to.start.addr() as u64, from.start.addr() as u64);
        device.copy(to, from, bytes).unwrap_or_else(failed);
    } else {
        write(device, &COPY, to, false, [Source::at(from)]);
    }
}

/// Makes all elements `value`.
pub(super) fn fill<T: Real>(device: &Device, place: Place<T>, value: T) {
    match Reach::whole(&place) {
        Some(reach) if bits(value) == 0 => {
            device.check([place]);
            device.zero(reach).unwrap_or_else(failed);
        }
        _ => write(device, &FILL, place, false, [Source::number(&value)]),
    }
}

/// *y ← s·x*, or *y += s·x* if it `adds`, for arrays of the same shape; *y* may be *x*.
pub(super) fn scale<T: Real>(device: &Device, y: Place<T>, factor: T, x: Place<T>, adds: bool) {
    write(device, &SCALE, y, adds, [Source::number(&factor), Source::at(x)]);
}

/// *Σ x·y* for arrays of the same shape, on the host.
pub(super) fn inner<T: Real>(device: &Device, x: Place<T>, y: Place<T>) -> T {
    let mut sum = T::of(0.0);
    let job = Job {
        name: INNER.name,
        shape: Shape::of(x.lengths()),
        along: Along::All,
        sources: [Source::at(x), Source::at(y)],
        sinks: [],
        numbers: Numbers::Forgotten,
        of_rows: Sink::number(&mut sum).place,
        value: None,
    };
    run(device, &INNER, 0, job).unwrap_or_else(failed);
    sum
}

/// Copies an array of the same shape.
pub(super) fn assign<T: Real, D: Rank>(to: &mut DeviceRef<T, D>, from: &DeviceRef<T, D>) {
    if !to.is_empty() {
        copy(&to.device().clone(), to.place(), from.place());
    }
}
