//! Tests for rules and gradients, for the test suites of those who write them.
//!
//! * [`check_rule`] tests a rule, hand-written or derived, against everything that a rule [promises](crate::Rule#contract):
//!   values, gradients, restored arguments, nested activations, changing sizes, panics, allocations. [`CheckRule`] is the
//!   same with options.
//! * [`check_gradient`] tests whatever computes a gradient, and [`CheckGradient`] does so with options.
//! * [`check_second_order`] tests second derivatives and [`check_pushforward`] forward mode, of a `#[differentiable(dual)]` function.
//! * [`CountingAllocator`] lets both assert that only first calls allocate.
//!
//! ```
//! use pullback::testing::{CheckRule, CountingAllocator};
//! use pullback::{Dual, DualMut, Rule, Saved};
//!
//! // Once in each test binary.
//! #[global_allocator]
//! static ALLOCATOR: CountingAllocator = CountingAllocator;
//!
//! /// y ← y·x, element by element
//! pub fn multiply_by(y: &mut [f64], x: &[f64]) {
//!     assert_eq!(y.len(), x.len());
//!     y.iter_mut().zip(x).for_each(|(y, x)| *y *= x);
//! }
//!
//! #[derive(Rule, Default)]
//! #[rule(pub fn multiply_by(y: &mut [f64], x: &[f64]))]
//! struct MultiplyBy {
//!     old_y: Saved<f64>,
//! }
//!
//! impl MultiplyBy {
//!     fn forward(&mut self, y: &mut [f64], x: &[f64]) {
//!         self.old_y.save(y);
//!         multiply_by(y, x);
//!     }
//!
//!     fn pullback(&mut self, y: DualMut<'_, [f64]>, x: Dual<'_, [f64]>) {
//!         self.old_y.restore(y.value);
//!         for i in 0..y.value.len() {
//!             let dy = y.shadow.take(|dy| &dy[i]);
//!             x.shadow.accumulate(|dx| &dx[i], dy * y.value[i]);
//!             y.shadow.accumulate(|old_dy| &old_dy[i], dy * x.value[i]);
//!         }
//!     }
//! }
//!
//! CheckRule::new(multiply_by::rule)
//!     .input((vec![1.0, -2.0, 0.5], vec![3.0, 0.25, -1.0]))
//!     .input((vec![2.0], vec![0.0]))
//!     .panicking((vec![1.0, 2.0], vec![3.0]))
//!     .run();
//! ```
//!
//! An input owns what the function borrows: a `Vec` is for a slice, an `Array` of any layout for ndarray's `ArrayRef`. For
//! a type of your own, implement [`Coordinates`] for it and for its gradient.

mod allocator;
mod check;
mod checks;
mod coordinates;
mod differences;
mod dual;
mod gradient;
#[cfg(feature = "nalgebra")]
mod nalgebra;
mod parameter;
mod random;
mod specimen;
mod trial;

pub use allocator::{Allocations, CountingAllocator, allocations_in};
pub use check::{CheckRule, InputOf, check_rule};
#[doc(hidden)]
pub use coordinates::visit_optional;
pub use coordinates::{Coordinate, Coordinates};
pub use dual::{TestDual, check_pushforward, check_second_order};
pub use gradient::{CheckGradient, check_gradient};
pub use parameter::{Mode, TestFunction, TestParameter, TestParameters};
