//! Rules that call back into the derivatives of the functions they are given.

#![allow(unused, unreachable_pub, dropping_copy_types, clippy::all, reason = "functions as users write them")]

use pullback::testing::CountingAllocator;

mod captures;
mod equations;
mod minima;
mod own;
mod time;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// The message with which `f` panics.
fn panic_of(f: impl FnOnce()) -> String {
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)).expect_err("no panic");
    panic
        .downcast_ref::<String>()
        .cloned()
        .unwrap_or_else(|| panic.downcast_ref::<&str>().unwrap().to_string())
}

/// Whether both agree to that relative precision.
#[track_caller]
fn close(a: f64, b: f64, precision: f64) {
    assert!((a - b).abs() <= precision * (1.0 + b.abs()), "{a} and {b} differ by {:e}", a - b);
}
