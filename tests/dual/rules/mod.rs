//! Rules of the library, each on several kinds of dual numbers.

mod arrays;
mod constants;
mod fused;
mod layers;
mod linear_algebra;
mod nn;
mod orthogonal;
mod products;
