//! Functions, closures and methods, called and passed on; generics, traits, and the types that users write for them.

#![allow(
    unused,
    unreachable_pub,
    clippy::all,
    missing_docs,
    reason = "functions as users write them, and some that nobody should write"
)]

use pullback::testing::CountingAllocator;

#[macro_use]
#[path = "../check_all.rs"]
mod check_all;
#[path = "../differences.rs"]
mod differences;

mod callables;
mod calls;
mod changing_closures;
mod closures;
mod composed;
mod conversions;
mod defaults;
mod functions;
mod generics;
mod in_turn;
mod iterator_parameters;
mod methods;
mod methods_with_functions;
mod nested;
mod objects;
mod operators;
mod parameters;
mod parts_of_calls;
mod passed_closures;
mod privacy;
mod recursion;
mod references;
mod returning_closures;
mod selected;
mod standing_alone;
mod std_names;
mod structs;
mod temporaries;
mod traits;
mod unmarked;
mod variants;
mod vector_spaces;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
