//! Functions at random, each with a test of its own.

#![allow(warnings, clippy::all, reason = "functions that nobody has written")]

use pullback::prelude::*;
use pullback::testing::{CheckRule, CountingAllocator, check_pushforward, check_rule};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// What is to throw by `&mut self`.
#[derive(Clone, Debug)]
pub struct Dice(usize);

impl Dice {
    fn throw(&mut self) -> usize {
        self.0 = (self.0 * 5 + 3) % 16;
        self.0 % 6
    }
}

/// What is to throw behind a shared reference.
pub struct Cup(std::cell::Cell<usize>);

impl Cup {
    fn throw(&self) -> usize {
        self.0.set((self.0.get() * 5 + 3) % 16);
        self.0.get() % 6
    }
}

include!(env!("PULLBACK_FUZZ_PROGRAM"));
