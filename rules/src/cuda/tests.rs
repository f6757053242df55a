//! Every kernel is compiled by NVRTC where that is found, and run by the simulator: what a device computes is what the host computes.

mod deferred;
mod device;
mod expressions;
mod fused;
mod images;
mod layers;
mod linear;
mod lookup;
mod nvrtc;
mod products;
