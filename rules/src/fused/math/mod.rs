//! Elementary functions that the compiler turns into packed instructions.
//!
//! Those of std are calls, and a loop with a call is not vectorised. These are straight-line code: both sides of a choice are
//! computed and one is selected, nothing is looked up in tables, exponents are taken apart and put together by integer operations
//! that every instruction set has for all lanes. So `for i in 0..n { y[i] = Real::exp(x[i]) }` becomes packed code in a function
//! for any `#[target_feature]`, on x86-64 from AVX2 with FMA on; the functions are `#[inline(always)]` and take on the features of
//! whoever calls them.
//!
//! - **The same bits everywhere.** Only operations that IEEE 754 rounds correctly are used, in the order that is written: with
//!   one lane or eight, whatever the instruction set and whatever the level of optimisation, the result is the same, apart from
//!   the sign and payload of NaN. One of them is the fused multiplication and addition. For x86-64 without FMA, which is older than AVX2,
//!   it is a call of the system's library: as exact, and slow.
//! - **Errors** are stated with each function, in units in the last place (ulp) of the result, and hold for all arguments,
//!   subnormal arguments and results included. For `f32` they are at most 0.51, as the arithmetic is that of `f64`. Special values
//!   are those of std: zeros keep their sign, and what overflows is infinite. `exp`, `sigmoid` and `softplus` are 0 where they would
//!   not be normal numbers (below 2^−1021.5, for `f32` below 2⁻¹²⁶), whose arithmetic is slow.
//! - **Sine, cosine and tangent** of large arguments need as many digits of π as the exponent says. Their vectorised forms end in
//!   `_near`: they are for arguments up to [`Real::NEAR`], and NaN beyond. A loop decides before it starts with
//!   [`Real::all_near`], or else uses the forms without `_near`, which are the same up to there and call std beyond, and are not
//!   vectorised.
//!
//! Polynomials interpolate, in high precision, at Chebyshev's points; degree, interval and error are stated at each.
//!
//! To see that a loop is vectorised, look at it: `objdump -d --disassemble=SYMBOL` of an optimised build shows `mulpd` and
//! `addpd` (`vmulpd` on `ymm` or `zmm` with AVX2 or AVX-512), no `call`, and `mulsd` only for the elements that are left over. What
//! prevents it: a branch whose sides LLVM does not compute both, conversions between `f64` and `i64`, comparisons of 64-bit
//! integers, `f64::clamp` (it can panic), and rounding, which SSE2 has no instruction for.

mod arithmetic;
mod dual;
mod error_function;
mod exponential;
mod implementations;
mod inverse_trigonometric;
mod logarithm;
mod power;
mod real;
mod rounding;
mod single;
#[cfg(test)]
mod tests;
mod trigonometric;

pub use real::Real;
