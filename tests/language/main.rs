//! The Rust that `#[differentiable]` accepts: functions as users write them, each through the tester of rules.

#![allow(
    unused,
    unreachable_pub,
    clippy::all,
    reason = "functions as users write them, and some that nobody should write"
)]

use pullback::testing::CountingAllocator;

#[macro_use]
mod check_all;

mod advancing;
mod arrays;
mod bindings;
mod branches;
mod buffers;
mod changed_constants;
mod chosen;
mod configured;
mod constants;
mod corners;
mod crossed;
mod cursors;
mod differences;
mod errors;
mod exits;
mod fallible;
mod fragments;
mod ignored_results;
mod imported;
mod inferred;
mod integers;
mod iterators;
mod let_else;
mod lookups;
mod loops;
mod mapped_outcomes;
mod matrices;
mod mutation;
mod names;
mod odds;
mod optional_references;
mod options;
mod other_iterators;
mod patterns;
mod picked_items;
mod polynomials;
mod queues;
mod reference_vectors;
mod referred;
mod referred_constants;
mod scalars;
mod scratch;
mod several_references;
mod shapes;
mod synonyms;
mod taken_apart;
mod tangent;
mod through;
mod together;
mod uncounted;
mod unpacked;
mod unseen;
mod untold_parts;
mod views;
mod windows;
mod written_out;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
