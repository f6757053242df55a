//! Devices, and their memory.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Error;
use super::deferred::{Access, Deferred, Move, Reach};
use super::driver::{Driver, Kernel, Recording};
use super::plan::Plan;
use super::staging::Staging;
use super::turns::{InTurn, Turns};

/// A CUDA device with a stream of its own, on which everything happens in the order in which it was asked for. Clones are the same
/// device.
///
/// ```
/// use pullback_rules::cuda::{Device, DeviceArray};
///
/// match Device::new(0) {
///     Ok(device) => {
///         let x = DeviceArray::from_array(&device, &ndarray::array![[1.0_f32, 2.0]])?;
///         assert_eq!(x.to_array()?, ndarray::array![[1.0, 2.0]]);
///     }
///     Err(error) => println!("no device: {error}"),
/// }
/// # Ok::<(), pullback_rules::cuda::Error>(())
/// ```
#[derive(Clone)]
pub struct Device(Arc<Inner>);

struct Inner {
    /// Whoever asks for something has this first, and other locks afterwards; who records a graph has it until that is done.
    turns: Turns,
    state: Mutex<State>,
    allocations: AtomicUsize,
    /// How often something was copied from or to the host.
    transfers: AtomicUsize,
    /// A graph is being recorded: nothing is done at once.
    recording: AtomicBool,
    /// Memory that is given back once it is recorded: the driver refuses to do so meanwhile.
    late: Mutex<Vec<u64>>,
    staging: Mutex<Staging>,
    deferred: Mutex<Deferred>,
    driver: Box<dyn Driver>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.staging.get_mut().unwrap_or_else(PoisonError::into_inner).clear(&*self.driver);
        let Scratch { counters, totals, rows, partials } =
            &self.state.get_mut().unwrap_or_else(PoisonError::into_inner).scratch;
        for room in [counters, totals, rows, partials] {
            room.all.iter().for_each(|address| self.driver.free(*address));
        }
    }
}

/// What calls share.
#[derive(Default)]
pub(super) struct State {
    /// Kernels by their names, which differ where the sources do.
    pub(super) kernels: HashMap<String, Kernel>,
    /// Calls by all that decides about them.
    pub(super) plans: HashMap<Box<[u64]>, Prepared>,
    pub(super) scratch: Scratch,
    /// Memory that is used again, so that calls allocate nothing on the host.
    pub(super) key: Vec<u64>,
    pub(super) words: Vec<u64>,
}

/// A plan whose kernels are compiled.
pub(super) struct Prepared {
    pub(super) plan: Plan,
    pub(super) kernels: Vec<Kernel>,
}

/// Memory for the time of one call. As calls come one after the other on the stream, they may all have the same.
#[derive(Default)]
pub(super) struct Scratch {
    counters: Room,
    totals: Room,
    rows: Room,
    partials: Room,
}

#[derive(Default)]
struct Room {
    /// The last one is used now.
    all: Vec<u64>,
    bytes: usize,
}

/// Addresses of the scratch memory.
#[derive(Clone, Copy)]
pub(super) struct Places {
    pub(super) counters: u64,
    pub(super) totals: u64,
    pub(super) rows: u64,
    pub(super) partials: u64,
}

impl Scratch {
    /// Makes room. What was there before stays allocated, because a recorded gradient may refer to it; sizes double, so that this is as
    /// much again at most.
    pub(super) fn places(
        &mut self,
        device: &Device,
        [counters, totals, rows, partials]: [usize; 4],
    ) -> Result<Places, Error> {
        Ok(Places {
            counters: self.counters.at_least(device, counters, true)?,
            totals: self.totals.at_least(device, totals, true)?,
            rows: self.rows.at_least(device, rows, false)?,
            partials: self.partials.at_least(device, partials, false)?,
        })
    }
}

impl Room {
    fn at_least(&mut self, device: &Device, bytes: usize, zero: bool) -> Result<u64, Error> {
        if self.bytes < bytes {
            let bytes = bytes.next_power_of_two().max(256);
            let address = device.allocate(bytes)?;
            if zero {
                device.driver().zero(address, bytes)?;
            }
            self.all.push(address);
            self.bytes = bytes;
        }
        Ok(self.all.last().copied().unwrap_or(0))
    }
}

impl Device {
    /// The CUDA device number `ordinal`, counted from 0.
    ///
    /// # Errors
    /// [`Error::Missing`] on a machine without driver or without CUDA's libraries, [`Error::NoDevice`] if there are not as many devices.
    pub fn new(ordinal: usize) -> Result<Self, Error> {
        Ok(Device::with(Box::new(super::hardware::Hardware::new(ordinal)?)))
    }

    pub(super) fn with(driver: Box<dyn Driver>) -> Self {
        Device(Arc::new(Inner {
            turns: Turns::default(),
            state: Mutex::default(),
            allocations: AtomicUsize::new(0),
            transfers: AtomicUsize::new(0),
            recording: AtomicBool::new(false),
            late: Mutex::default(),
            staging: Mutex::default(),
            deferred: Mutex::default(),
            driver,
        }))
    }

    /// The driver, once no other thread uses it; for what has nothing to do with the contents of memory.
    pub(super) fn driver(&self) -> InTurn<'_, &dyn Driver> {
        InTurn { _turn: self.0.turns.take(), used: &*self.0.driver }
    }

    /// The driver, once it has been asked for all that was put off.
    pub(super) fn after_all(&self) -> Result<InTurn<'_, &dyn Driver>, Error> {
        let driver = self.driver();
        self.deferred().all(driver.used, self.is_recording())?;
        Ok(driver)
    }

    /// The driver for what has these accesses to memory, once it has been asked for what comes before them.
    pub(super) fn driver_for(
        &self,
        accesses: impl Iterator<Item = Access> + Clone,
    ) -> Result<InTurn<'_, &dyn Driver>, Error> {
        let driver = self.driver();
        self.deferred().before(driver.used, accesses, self.is_recording())?;
        Ok(driver)
    }

    fn put_off(&self, to: Reach, from: Option<u64>) -> Result<(), Error> {
        let driver = self.driver();
        self.deferred().put_off(driver.used, Move { to, from }, self.is_recording())
    }

    /// Clears memory.
    pub(super) fn zero(&self, reach: Reach) -> Result<(), Error> {
        self.put_off(reach, None)
    }

    /// Copies within the device, where both do not overlap.
    pub(super) fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<(), Error> {
        self.put_off(Reach::new(to, bytes), Some(from))
    }

    /// Whether there would be nothing but zeros in an array, had they been written. Then they are never going to be: whoever asks writes
    /// what is to be added to them.
    pub(super) fn take_zeros(&self, reach: Reach) -> bool {
        let _turn = self.0.turns.take();
        self.deferred().take_zeros(reach)
    }

    fn deferred(&self) -> MutexGuard<'_, Deferred> {
        self.0.deferred.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_recording(&self) -> bool {
        self.0.recording.load(Ordering::Relaxed)
    }

    /// The state, once no other thread uses it or the driver.
    pub(super) fn state(&self) -> InTurn<'_, MutexGuard<'_, State>> {
        InTurn {
            _turn: self.0.turns.take(),
            used: self.0.state.lock().unwrap_or_else(PoisonError::into_inner),
        }
    }

    /// A number that no other device has at the same time.
    pub(super) fn identity(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// Refuses what a graph cannot do.
    pub(super) fn at_once(&self, reason: &'static str) -> Result<(), Error> {
        match self.is_recording() {
            true => Err(Error::Capture { reason }),
            false => Ok(()),
        }
    }

    pub(super) fn allocate(&self, bytes: usize) -> Result<u64, Error> {
        let driver = self.driver();
        self.at_once("it allocates memory")?;
        self.0.allocations.fetch_add(1, Ordering::Relaxed);
        driver.allocate(bytes)
    }

    fn free(&self, address: u64, reach: Reach) {
        let driver = self.driver();
        self.deferred().before_quietly(driver.used, [Access::Write(reach)].into_iter(), self.is_recording());
        match self.is_recording() {
            true => self.late().push(address),
            false => driver.free(address),
        }
    }

    fn late(&self) -> MutexGuard<'_, Vec<u64>> {
        self.0.late.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn staging(&self, access: Access) -> Result<InTurn<'_, MutexGuard<'_, Staging>>, Error> {
        let turn = self.0.turns.take();
        self.at_once("it copies from or to the host")?;
        self.0.transfers.fetch_add(1, Ordering::Relaxed);
        drop(self.driver_for([access].into_iter())?);
        Ok(InTurn { _turn: turn, used: self.0.staging.lock().unwrap_or_else(PoisonError::into_inner) })
    }

    /// Copies `bytes`, which are free again when this returns, after all that was asked for before.
    pub(super) fn upload(&self, address: u64, bytes: &[u8]) -> Result<(), Error> {
        self.staging(Access::Write(Reach::new(address, bytes.len())))?.upload(&*self.0.driver, address, bytes)
    }

    pub(super) fn download(&self, address: u64, bytes: &mut [u8]) -> Result<(), Error> {
        self.staging(Access::Read(Reach::new(address, bytes.len())))?.download(
            &*self.0.driver,
            address,
            bytes,
        )
    }

    /// Begins to record what this thread asks for. Others wait until that is done.
    pub(super) fn record(&self) -> Result<Recorder<'_>, Error> {
        self.at_once("it records another graph")?;
        let driver = self.after_all()?;
        driver.begin_capture()?;
        self.0.recording.store(true, Ordering::Relaxed);
        Ok(Recorder { device: self, driver, ended: false })
    }

    /// Does what was recorded.
    pub(super) fn replay(&self, recording: &dyn Recording) -> Result<(), Error> {
        self.at_once("it replays another graph")?;
        let _turn = self.after_all()?;
        recording.replay()
    }

    /// What there was so far of what cannot be recorded.
    pub(super) fn obstacles(&self) -> (usize, usize) {
        (self.allocations(), self.0.transfers.load(Ordering::Relaxed))
    }

    /// How many times memory was allocated on the device so far. A test takes the difference over a call: from the second one on it is 0.
    pub fn allocations(&self) -> usize {
        self.0.allocations.load(Ordering::Relaxed)
    }

    /// Waits until all that was asked for is done.
    ///
    /// # Errors
    /// [`Error::Driver`] if something of that failed.
    pub fn synchronize(&self) -> Result<(), Error> {
        self.at_once("it waits for the device")?;
        self.after_all()?.synchronize()
    }
}

/// A recording, which ends with this whatever happens.
pub(super) struct Recorder<'a> {
    device: &'a Device,
    driver: InTurn<'a, &'a dyn Driver>,
    ended: bool,
}

impl Recorder<'_> {
    fn end(&mut self) -> Result<Box<dyn Recording>, Error> {
        self.ended = true;
        let all = self.device.after_all().map(drop);
        self.device.0.recording.store(false, Ordering::Relaxed);
        let recorded = self.driver.end_capture();
        let recorded = all.and(recorded);
        let late = std::mem::take(&mut *self.device.late());
        late.iter().for_each(|address| self.driver.free(*address));
        // What has been recorded may use that memory.
        if late.is_empty() { recorded } else { Err(Error::Capture { reason: "it gives memory back" }) }
    }

    /// What was asked for meanwhile.
    pub(super) fn finish(mut self) -> Result<Box<dyn Recording>, Error> {
        self.end()
    }
}

impl Drop for Recorder<'_> {
    fn drop(&mut self) {
        if !self.ended {
            drop(self.end());
        }
    }
}

impl PartialEq for Device {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Device {}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({:#x})", self.identity())
    }
}

/// Memory of a device. It is given back in the order of the stream.
#[derive(Debug)]
pub(super) struct Buffer {
    device: Device,
    address: u64,
    bytes: usize,
}

impl Buffer {
    pub(super) fn new(device: &Device, bytes: usize) -> Result<Self, Error> {
        let address = if bytes == 0 { 0 } else { device.allocate(bytes)? };
        Ok(Buffer { device: device.clone(), address, bytes })
    }

    pub(super) fn address(&self) -> u64 {
        self.address
    }

    pub(super) fn reach(&self) -> Reach {
        Reach::new(self.address, self.bytes)
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn device(&self) -> &Device {
        &self.device
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if self.address != 0 {
            self.device.free(self.address, self.reach());
        }
    }
}
