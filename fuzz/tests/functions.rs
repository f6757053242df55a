//! Functions at random, each with a test of its own.

#![allow(warnings, clippy::all, reason = "functions that nobody has written")]

use pullback::prelude::*;
use pullback::testing::{CheckRule, CountingAllocator, check_pushforward, check_rule};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

include!(env!("PULLBACK_FUZZ_PROGRAM"));
