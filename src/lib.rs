//! pullback

pub use pullback_rules::*;

pub mod testing;
