//! The functions of [`nn`](super) for arrays in any memory: ndarray's [`Array`](ndarray::Array), and those on a device. They take arrays, and no views
//! of the host's.
//!
//! ```
//! use ndarray::{Array2, Axis, Ix2, array};
//! use pullback_rules::nn::generic::softmax;
//! use pullback_rules::Array;
//!
//! fn probabilities<A: Array<f64>>(y: &mut A, x: &A) {
//!     softmax(y, x, Axis(1));
//! }
//!
//! let mut y = Array2::zeros((1, 2));
//! probabilities(&mut y, &array![[0.0, 3.0_f64.ln()]]);
//! assert!((y - array![[0.25, 0.75]]).iter().all(|error| error.abs() < 1e-15));
//! ```

pub use super::activations::generic::*;
pub use super::anywhere::*;
pub use super::gather::{Indices, embedding};
pub use super::losses::generic::*;
pub use super::recurrent::generic::*;
pub use super::rows::generic::*;
pub use crate::matrices::Activation;

/// Fused functions, twice: for ndarray's arrays and views, and in the module `generic` for arrays in any memory.
macro_rules! fused_and_generic {
    ($($(#[$attribute:meta])* pub fn $name:ident($($arguments:tt)*) { $($body:tt)* })*) => {
        pullback_macros::fused! {
            $($(#[$attribute])* pub fn $name($($arguments)*) { $($body)* })*
        }

        pub(super) mod generic {
            pullback_macros::fused! {
                $(
                    #[doc = concat!("[`nn::", stringify!($name), "`](fn@crate::nn::", stringify!($name), ") for arrays in any memory.")]
                    pub fn $name<A>($($arguments)*) { $($body)* }
                )*
            }
        }
    };
}
pub(super) use fused_and_generic;
