//! Random numbers that are functions of a seed, so that a pullback makes them again rather than keep them.
//!
//! A call is told a `seed` and the number of its `draw`, both `u64`. The same two give the same numbers, on all machines; another draw gives
//! others that have nothing to do with them, and so does another seed. A program usually has one seed, and numbers its draws: those of each step of training
//! and of each layer are different. Nothing is shared, so that threads need not wait for each other.
//!
//! Which number an element gets depends on its index alone, row by row, and not on how the array is laid out. The words are those of
//! Philox-4×32-10 (Salmon et al., *Parallel random numbers: as easy as 1, 2, 3*, 2011) with the seed as its key and as its counter the draw
//! and the number of the block.

mod fills;
mod philox;
mod sequences;

pub use fills::{normal, uniform};
pub(crate) use sequences::uniforms;
