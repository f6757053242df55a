//! Layers for arrays in any memory that are not fused functions: they work on places.

mod attended;
mod convolution;
mod dropped;
mod layers;
mod memory;
mod norms;
mod places;
mod pooling;
mod samples;

pub use attended::attention;
pub use convolution::{conv1d, conv2d};
pub use dropped::dropout;
pub use layers::{feed_forward, linear};
pub use memory::LayerMemory;
#[cfg(feature = "cuda")]
pub(crate) use memory::{Convolving, Pool, Task, Wanted};
pub use norms::{batch_norm, group_norm};
pub use places::Images;
pub use pooling::{avg_pool1d, avg_pool2d, max_pool1d, max_pool2d};
pub use samples::Samples;

pub(super) mod cases {
    pub use super::layers::{feed_forward_case, linear_case};
}
