//! pullback

#[doc(hidden)]
pub use pullback_rules::__private;
pub use pullback_rules::*;

pub mod testing;
