//! The same work again and again, as one CUDA graph.

use super::Error;
use super::array::DeviceArray;
use super::device::Device;
use super::driver::Recording;
use crate::fused::{Rank, Real};

/// Work on a device that is repeated, a gradient above all: from the third run on it is one CUDA graph, so that the processor starts it
/// with a single call.
///
/// The arrays that change between runs, or may, are the `arguments`; what else the work uses it borrows, so that it stays where it is. A run
/// whose arguments are at other places or have other shapes than those of the last one, or among which a number is another one, goes
/// without the graph, which is recorded again once they stay. So does work that allocates memory on the device, or copies from or to the host,
/// as one does that yields a number of the host's: it is never recorded, see [`is_recorded`](Repeated::is_recorded).
///
/// What the work does on the host, it does not do again when the graph is replayed.
///
/// ```
/// use pullback_rules::cuda::{Device, DeviceArray, Repeated};
/// use pullback_rules::product;
///
/// # fn run() -> Result<(), pullback_rules::cuda::Error> {
/// let device = Device::new(0)?;
/// let a = DeviceArray::from_array(&device, &ndarray::array![[1.0, 2.0], [3.0, 4.0]])?;
/// let c = DeviceArray::zeros(&device, (2, 2))?;
/// let mut square = Repeated::new(&device, (c, a), |(c, a)| product(c, a, a));
/// for _ in 0..5 {
///     square.arguments().1.copy_from(&ndarray::array![[0.5, 1.0], [0.0, 2.0]])?;
///     square.run()?;
/// }
/// # Ok(())
/// # }
/// # let _ = run();
/// ```
pub struct Repeated<A, F> {
    device: Device,
    arguments: A,
    work: F,
    /// What the arguments were the last time, and in how many runs they have been that.
    last: Vec<u64>,
    now: Vec<u64>,
    runs: usize,
    /// The last run did nothing that a graph cannot.
    records: bool,
    graph: Option<Box<dyn Recording>>,
}

impl<A: Arguments, F: FnMut(&mut A)> Repeated<A, F> {
    /// Repeats `work` with `arguments` that are on `device`.
    pub fn new(device: &Device, arguments: A, work: F) -> Self {
        Repeated {
            device: device.clone(),
            arguments,
            work,
            last: Vec::new(),
            now: Vec::new(),
            runs: 0,
            records: false,
            graph: None,
        }
    }

    /// The arguments of the next run.
    pub fn arguments(&mut self) -> &mut A {
        &mut self.arguments
    }

    /// Whether the next run is going to be that of a graph, if the arguments stay.
    pub fn is_recorded(&self) -> bool {
        self.graph.is_some()
    }

    /// Does it once more.
    ///
    /// While it is recorded, what other threads ask of the device waits.
    ///
    /// # Errors
    /// [`Error::Driver`] if recording or replaying fails, [`Error::Capture`] if the work gives memory back while it is recorded.
    ///
    /// # Panics
    /// If the work does.
    pub fn run(&mut self) -> Result<(), Error> {
        self.now.clear();
        self.arguments.describe(&mut self.now);
        if self.now != self.last {
            self.graph = None;
            self.runs = 0;
            std::mem::swap(&mut self.now, &mut self.last);
        }
        self.runs += 1;
        if let Some(graph) = &self.graph {
            return self.device.replay(&**graph);
        }
        if self.runs < 3 || !self.records {
            let before = self.device.obstacles();
            (self.work)(&mut self.arguments);
            self.records = self.device.obstacles() == before;
            return Ok(());
        }
        // If it fails, the next run is an ordinary one.
        self.records = false;
        let recorder = self.device.record()?;
        (self.work)(&mut self.arguments);
        let graph = recorder.finish()?;
        self.device.replay(&*graph)?;
        self.records = true;
        self.graph = Some(graph);
        Ok(())
    }
}

/// What [`Repeated`] work is done with: arrays on a device, numbers, and tuples and vectors of these.
pub trait Arguments {
    /// Appends all that a recorded run depends on.
    #[doc(hidden)]
    fn describe(&self, words: &mut Vec<u64>);
}

impl<T: Real, D: Rank> Arguments for DeviceArray<T, D> {
    fn describe(&self, words: &mut Vec<u64>) {
        let place = self.place();
        words.push(place.start.addr() as u64);
        words.extend(self.shape().iter().map(|n| *n as u64));
        words.extend(self.strides().iter().map(|n| *n as u64));
    }
}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        impl Arguments for $number {
            fn describe(&self, words: &mut Vec<u64>) {
                words.push(self.to_bits().into());
            }
        }
    )*};
}
numbers!(f32 f64);

impl<A: Arguments> Arguments for Vec<A> {
    fn describe(&self, words: &mut Vec<u64>) {
        words.push(self.len() as u64);
        self.iter().for_each(|argument| argument.describe(words));
    }
}

macro_rules! tuples {
    ($($A:ident $i:tt),*) => {
        impl<$($A: Arguments),*> Arguments for ($($A,)*) {
            fn describe(&self, _words: &mut Vec<u64>) {
                $(self.$i.describe(_words);)*
            }
        }
    };
}
crate::function::for_tuples!(tuples);
