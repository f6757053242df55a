//! What neural networks do to arrays: to each element, to rows, to windows of images, to channels; and to all of an array at the end.
//!
//! A result *y* is written in place, the pullback brings back what it held. Losses return a number. All functions are for `f32` and `f64` and all
//! layouts, and run on dual numbers. Nothing is allocated from the second call on.
//!
//! What is done to each element, or to rows, and most losses are [fused](pullback_macros::fused): one or two passes over memory, in vector
//! instructions; operands are broadcast. The others keep their memory in the rule. A function without its rule makes it anew each time: convolutions,
//! norms of channels and attention. Most functions are there for arrays in any memory as well: see [`generic`].

mod activations;
mod anywhere;
#[doc(hidden)]
pub mod cases;
mod classification;
mod convolution;
mod gather;
pub mod generic;
mod heads;
mod lookup;
mod losses;
mod noise;
mod norms;
mod pooling;
mod recurrent;
mod rows;
pub(crate) mod windows;

pub use activations::{
    elu, gelu, gelu_tanh, glu, hard_sigmoid, hard_swish, leaky_relu, mish, relu, selu, silu, softplus,
    softsign, swiglu,
};
#[cfg(feature = "cuda")]
pub(crate) use anywhere::{Convolving, Pool, Task, Wanted};
pub use classification::{negative_log_likelihood, sparse_cross_entropy};
pub use convolution::{Convolution, conv1d, conv2d};
pub use heads::{Mask, attention};
pub use lookup::embedding;
pub use losses::{
    binary_cross_entropy, binary_cross_entropy_with_logits, huber, kl_divergence, mean_absolute_error,
    mean_squared_error, smooth_l1,
};
pub use noise::dropout;
pub use norms::Channels;
pub use norms::batch::{batch_norm, batch_norm_inference};
pub use norms::group::group_norm;
pub use pooling::{Pooling, avg_pool1d, avg_pool2d, max_pool1d, max_pool2d};
pub use recurrent::{gru, lstm_output, lstm_state};
pub use rows::{cross_entropy, layer_norm, log_softmax, log_sum_exp, rms_norm, softmax};
