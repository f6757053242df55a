//! Copies between the host and a device, by way of memory of the host's that stays where it is: the device fetches from there, and brings
//! there, while the host does something else.

use std::ptr::NonNull;

use super::Error;
use super::driver::Driver;

/// Memory of the host's that the device reaches by itself, and an event: the last copy from or to there is done.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) memory: NonNull<u8>,
    pub(super) event: u64,
}

// SAFETY: the memory is the stage's, and any thread may use it and the event.
unsafe impl Send for Stage {}

/// How many bytes a stage has room for: enough that starting a copy takes little of its time.
const ROOM: usize = 1 << 21;
/// While one is filled or emptied, the device is at another.
const STAGES: usize = 2;

/// The stages of a device, which take turns.
#[derive(Default)]
pub(super) struct Staging {
    stages: Vec<Stage>,
    next: usize,
}

impl Staging {
    /// The stage whose turn it is, once the copy that it was used for is done.
    fn turn(&mut self, driver: &dyn Driver) -> Result<&Stage, Error> {
        let turn = self.next;
        if turn == self.stages.len() {
            self.stages.push(driver.stage(ROOM)?);
        }
        self.next = (turn + 1) % STAGES;
        let stage = &self.stages[turn];
        driver.wait(stage)?;
        Ok(stage)
    }

    /// Copies `bytes` to `address`. It waits for no more than stages.
    pub(super) fn upload(&mut self, driver: &dyn Driver, address: u64, bytes: &[u8]) -> Result<(), Error> {
        for (part, to) in bytes.chunks(ROOM).zip((address..).step_by(ROOM)) {
            let stage = self.turn(driver)?;
            // SAFETY: nobody uses the stage, which has room for a part.
            unsafe {
                stage.memory.copy_from_nonoverlapping(NonNull::from(part).cast(), part.len());
                driver.upload(to, stage, part.len())?;
            }
        }
        Ok(())
    }

    /// Copies what is at `address` to `bytes`, once all that was asked for before is done.
    pub(super) fn download(
        &mut self,
        driver: &dyn Driver,
        address: u64,
        bytes: &mut [u8],
    ) -> Result<(), Error> {
        let (count, parts) = (bytes.len(), bytes.len().div_ceil(ROOM));
        let range = |part: usize| part * ROOM..(part * ROOM + ROOM).min(count);
        let first = self.next;
        // The device is one part ahead.
        for part in 0..parts + 1 {
            if part < parts {
                let stage = self.turn(driver)?;
                let range = range(part);
                // SAFETY: nobody uses the stage, which has room for a part.
                unsafe { driver.download(stage, address + range.start as u64, range.len())? };
            }
            if part > 0 {
                let stage = &self.stages[(first + part - 1) % STAGES];
                driver.wait(stage)?;
                let to = &mut bytes[range(part - 1)];
                // SAFETY: it holds so many bytes, and the device is done with it.
                unsafe { stage.memory.copy_to_nonoverlapping(NonNull::from(&mut *to).cast(), to.len()) }
            }
        }
        Ok(())
    }

    /// Gives the memory back.
    pub(super) fn clear(&mut self, driver: &dyn Driver) {
        self.next = 0;
        self.stages.drain(..).for_each(|stage| driver.unstage(stage));
    }
}
