//! CUDA itself, by cudarc.

use super::Error;
use super::driver::{Driver, Gemm, Kernel, Recording};

/// A device, its context, and a stream of it.
pub(super) struct Hardware;

impl Hardware {
    pub(super) fn new(ordinal: usize) -> Result<Self, Error> {
        let _ = ordinal;
        Err(Error::Missing { library: "libcuda" })
    }
}
impl Driver for Hardware {
    fn allocate(&self, _: usize) -> Result<u64, Error> { todo!() }
    fn free(&self, _: u64) {}
    fn zero(&self, _: u64, _: usize) -> Result<(), Error> { todo!() }
    fn upload(&self, _: u64, _: &[u8]) -> Result<(), Error> { todo!() }
    fn download(&self, _: u64, _: &mut [u8]) -> Result<(), Error> { todo!() }
    fn copy(&self, _: u64, _: u64, _: usize) -> Result<(), Error> { todo!() }
    fn synchronize(&self) -> Result<(), Error> { todo!() }
    fn kernel(&self, _: &str, _: &str) -> Result<Kernel, Error> { todo!() }
    fn launch(&self, _: Kernel, _: (u32, u32), _: (u32, u32), _: &[u64]) -> Result<(), Error> { todo!() }
    fn gemm(&self, _: &Gemm) -> Result<(), Error> { todo!() }
    fn begin_capture(&self) -> Result<(), Error> { todo!() }
    fn end_capture(&self) -> Result<Box<dyn Recording>, Error> { todo!() }
}
