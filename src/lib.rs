//! pullback

#[doc(hidden)]
pub use pullback_rules::__private;
