//! Small realistic programs of many fields, each through the tester of rules. A test of its own, so that the tests of the
//! language compile fast.

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

mod algebra;
mod buffers;
mod by_hand;
mod chains;
mod control;
mod dynamics;
mod everyday;
mod exits;
mod fields;
mod finance;
mod found;
mod inference;
mod learning;
mod markets;
mod mechanics;
mod networks;
mod numerics;
mod pharmacology;
mod physics;
mod programs;
mod recursive;
mod robotics;
mod rows;
mod statistics;
mod structures;
mod vision;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
