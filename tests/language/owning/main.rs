//! Values that own memory, vectors, structs and options of these: made, moved, taken by value, changed and returned; from the second call on
//! a gradient allocates what the function does.

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

mod allocations;
mod behind_references;
mod constants;
mod deferred;
mod dropped;
mod elements;
mod leaving;
mod leaving_with_pairs;
mod lent_to_functions;
mod made;
mod moved_in_branches;
mod outcomes_of_writes;
mod owned;
mod parts_of_calls;
mod read_before_moved;
mod refilled;
mod renewed;
mod results;
mod returned;
mod room;
mod rows_behind_references;
mod rows_of_calls;
mod shortening;
mod sorting;
mod stacked;
mod taken;
mod told_by_use;
mod trajectories;
mod untold;
mod used_up;
mod vectors;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
