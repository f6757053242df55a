//! Arrays on CUDA devices, and what differentiable functions do with them.
//!
//! The guide says how to use them. All of CUDA is loaded when the first [`Device`] is made: where there is none, that returns an error.
//!
//! `source` makes the text of kernels for the shapes at hand out of what `fused!` wrote, `plan` decides which kernels a call takes, `run`
//! starts them. They ask a `driver` for everything, for some of it as late as may be (`deferred`): `hardware`, which is CUDA's, or in tests a simulator that compiles the same text
//! for the CPU.

mod array;
mod cache;
mod compiler;
mod convolution;
mod cudnn;
mod deferred;
mod device;
mod driver;
mod epilogue;
mod error;
mod hardware;
mod indices;
mod layers;
mod lt;
mod matrix;
mod plan;
mod planning;
mod recordings;
mod repeated;
mod run;
#[doc(hidden)]
pub mod simulator;
mod source;
mod staging;
#[cfg(test)]
mod tests;
mod turns;

pub use array::{DeviceArray, DeviceRef, DeviceShadow, DeviceView, DeviceViewMut};
pub use device::Device;
pub use error::Error;
pub use indices::DeviceIndices;
pub use repeated::{Arguments, Repeated};

/// What kernels have in common.
const PRELUDE: &str = include_str!("prelude.cu");

/// What a fused function keeps of each row for the pullback.
#[doc(hidden)]
#[derive(Default, Debug)]
pub struct Kept {
    memory: array::Backup,
}

/// It is the memory of the device.
impl crate::HeapSize for Kept {
    fn heap_size(&self) -> usize {
        0
    }
}
