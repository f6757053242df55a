//! On what the rules that are not fused are tested: each file ends with its own cases.

pub(super) use crate::blas::cases::{LAYOUTS, Random};

pub use super::anywhere::cases::{feed_forward_case as feed_forward, linear_case as linear};
pub use super::classification::{
    negative_log_likelihood_case as negative_log_likelihood,
    sparse_cross_entropy_case as sparse_cross_entropy,
};
pub use super::convolution::{conv1d_case as conv1d, conv2d_case as conv2d};
pub use super::heads::attention_case as attention;
pub use super::lookup::embedding_case as embedding;
pub use super::noise::dropout_case as dropout;
pub use super::norms::batch::{
    batch_norm_case as batch_norm, batch_norm_inference_case as batch_norm_inference,
};
pub use super::norms::group::group_norm_case as group_norm;
pub use super::pooling::{
    pool1d_case as avg_pool1d, pool1d_case as max_pool1d, pool2d_case as avg_pool2d,
    pool2d_case as max_pool2d,
};

/// A function, by the tuples of arguments that it is called with.
pub struct Case<I> {
    /// Every option and every layout that an owned array can have.
    pub inputs: Vec<I>,
    /// Arguments that do not fit.
    pub panicking: Vec<I>,
}
