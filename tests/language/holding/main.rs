//! Types that own memory, and what holds others: structs, enums, boxes, tuples and options with vectors in them.

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

mod aggregates;
mod best_so_far;
mod boxes;
mod boxes_in_place;
mod boxes_made;
mod choices;
mod cloned;
mod containers;
mod contents;
mod fields;
mod given;
mod held;
mod literals;
mod moved_into_literals;
mod nested;
mod optional;
mod ordered;
mod outcomes_of_structs;
mod owning_operators;
mod pairs_inside;
mod recursive_types;
mod structs_by_value;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
