//! The same code for several instruction sets.

use super::math::Real;

/// Something to be compiled for each of them.
pub(super) trait Task {
    /// Does it. To be inlined, so that it is compiled for its caller's instruction set.
    fn run(self);
}

/// Does `task`, which is about numbers of type `T`, with the best instructions that this machine has. Functions of dual numbers are not
/// vectorised, and compiled once.
#[inline]
pub(super) fn run<T: Real>(task: impl Task) {
    #[cfg(target_arch = "x86_64")]
    if !T::CARRIES {
        let fma = std::arch::is_x86_feature_detected!("fma");
        if fma
            && std::arch::is_x86_feature_detected!("avx512f")
            && std::arch::is_x86_feature_detected!("avx512dq")
            && std::arch::is_x86_feature_detected!("avx512vl")
        {
            // SAFETY: the machine has these instructions.
            return unsafe { with_avx512(task) };
        }
        if fma && std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the machine has these instructions.
            return unsafe { with_avx2(task) };
        }
    }
    task.run();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "fma,avx512f,avx512dq,avx512vl")]
fn with_avx512(task: impl Task) {
    task.run();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "fma,avx2")]
fn with_avx2(task: impl Task) {
    task.run();
}
