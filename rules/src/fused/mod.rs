//! Element-wise functions of broadcast arrays, reductions, and functions of what is reduced: the engine behind `fused!`.
//!
//! The macro writes, for each function, a [`Kernel`]: code for a block of elements, as often as a row has to be gone through.
//! Everything else is here, once for all functions: [`operand`] what an array is, [`layout`] in what order elements are gone through,
//! [`row`] how blocks are read, written and summed up, [`call`] how rows become a call, [`constants`] what meets dual numbers. The code is compiled for several
//! instruction sets, of which [`dispatch`] chooses; all give the same bits.

mod call;
mod constants;
mod dispatch;
mod exponentials;
pub(crate) mod layout;
pub mod math;
mod memory;
pub(crate) mod operand;
mod row;
#[cfg(feature = "cuda")]
mod text;

pub use crate::arrays::Rank;
pub use call::{Along, Call, Job, Numbers};
pub use constants::{Operand, in_rooms};
pub use exponentials::Exponentials;
pub use math::Real;
pub use memory::{Array, FusedKernel, Host, Memory, Old};
pub use operand::{Sink, Source};
pub use row::{Kernel, Pass, PerRow, Reduction, Row};
#[cfg(feature = "cuda")]
pub use text::{DeviceKernel, PassText, Text};

/// How many elements are computed together.
pub const LANES: usize = 32;

/// As many elements.
pub type Block<T> = [T; LANES];

#[cfg(test)]
mod tests;
