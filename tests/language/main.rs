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
mod callables;
mod calls;
mod changing_closures;
mod chosen;
mod closures;
mod composed;
mod constants;
mod conversions;
mod corners;
mod crossed;
mod cursors;
mod defaults;
mod differences;
mod errors;
mod exits;
mod fallible;
mod fragments;
mod functions;
mod generics;
mod ignored_results;
mod imported;
mod inferred;
mod integers;
mod iterator_parameters;
mod iterators;
mod let_else;
mod lookups;
mod loops;
mod mapped_outcomes;
mod matrices;
mod methods;
mod methods_with_functions;
mod mutation;
mod names;
mod nested;
mod objects;
mod odds;
mod operators;
mod optional_references;
mod options;
mod parameters;
mod parts_of_calls;
mod passed_closures;
mod patterns;
mod picked_items;
mod polynomials;
mod privacy;
mod recursion;
mod reference_vectors;
mod references;
mod referred;
mod returning_closures;
mod scalars;
mod scratch;
mod selected;
mod several_references;
mod shapes;
mod standing_alone;
mod std_names;
mod structs;
mod taken_apart;
mod tangent;
mod temporaries;
mod through;
mod together;
mod traits;
mod uncounted;
mod unmarked;
mod unpacked;
mod unseen;
mod untold_parts;
mod variants;
mod vector_spaces;
mod views;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
