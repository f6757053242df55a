//! pullback
