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

mod aggregates;
mod allocations;
mod annotations;
mod arrays;
mod at_once;
mod bindings;
mod binomial;
mod blocks;
mod branches;
mod buffers;
mod callables;
mod calls;
mod changing_closures;
mod checkpoints;
mod chosen;
mod cloned;
mod closures;
mod columns;
mod constants;
mod containers;
mod contents;
mod conversions;
mod corners;
mod counts;
mod defaults;
mod differences;
mod dropped;
mod elements;
mod ends;
mod errors;
mod exits;
mod fallible;
mod fields;
mod filled;
mod firsts;
mod fragments;
mod fresh;
mod functions;
mod fusion;
mod gathered;
mod generics;
mod given;
mod held;
mod inferred;
mod integers;
mod iterators;
mod latest;
mod leaving;
mod leaving_with_pairs;
mod lengths;
mod literals;
mod lookups;
mod loops;
mod made;
mod matrices;
mod methods;
mod methods_with_functions;
mod mutation;
mod nested;
mod objects;
mod odds;
mod operators;
mod options;
mod order;
mod ordered;
mod overwriting;
mod owned;
mod owning_operators;
mod parameters;
mod parts;
mod passed_closures;
mod patterns;
mod privacy;
mod recurrences;
mod recursion;
mod references;
mod referred;
mod refilled;
mod results;
mod returned;
mod returning_closures;
mod rows;
mod scalars;
mod scratch;
mod selected;
mod shapes;
mod shortening;
mod sinking;
mod sorting;
mod stacked;
mod standing_alone;
mod std_names;
mod structs;
mod structs_by_value;
mod sweeps;
mod taken;
mod tangent;
mod temporaries;
mod through;
mod together;
mod traits;
mod trajectories;
mod unpacked;
mod untold;
mod used_up;
mod variants;
mod vectors;
mod views;
mod whole;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
