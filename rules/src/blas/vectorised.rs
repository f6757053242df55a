//! Loops that are compiled for the vector instructions that the machine turns out to have.

/// A loop. `run` has to be `#[inline(always)]`.
pub(crate) trait Kernel {
    type Output;
    fn run(self) -> Self::Output;
}

/// Runs the loop. The instructions make no difference to its result: nothing is fused or reordered.
#[inline]
pub(crate) fn vectorised<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2")]
        fn wide<K: Kernel>(kernel: K) -> K::Output {
            kernel.run()
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has the instructions.
            return unsafe { wide(kernel) };
        }
    }
    kernel.run()
}
