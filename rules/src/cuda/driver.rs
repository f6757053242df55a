//! What a device is asked to do: by [`hardware`](super::hardware), or in tests by the simulator.

use super::Error;
use super::staging::Stage;

/// A device with one stream: what it is asked to do happens in that order. Addresses are those of the device.
pub(super) trait Driver: Send + Sync {
    /// `bytes` of memory, with whatever in it; at an address that is a multiple of 256.
    fn allocate(&self, bytes: usize) -> Result<u64, Error>;
    /// Gives memory back, once what was asked for before is done.
    fn free(&self, address: u64);
    fn zero(&self, address: u64, bytes: usize) -> Result<(), Error>;
    /// Memory of the host's for copies of up to so many bytes.
    fn stage(&self, bytes: usize) -> Result<Stage, Error>;
    /// Gives it back, once the last copy is done.
    fn unstage(&self, stage: Stage);
    /// Copies bytes from there.
    ///
    /// # Safety
    /// As many are there, and nobody writes to them before the copy is [done](Driver::wait); as many are at the address.
    unsafe fn upload(&self, address: u64, from: &Stage, bytes: usize) -> Result<(), Error>;
    /// Copies bytes to there.
    ///
    /// # Safety
    /// There is room for as many, which nobody reads or writes before the copy is done; as many are at the address.
    unsafe fn download(&self, to: &Stage, address: u64, bytes: usize) -> Result<(), Error>;
    /// Waits until the last copy from or to there is done.
    fn wait(&self, stage: &Stage) -> Result<(), Error>;
    fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<(), Error>;
    fn synchronize(&self) -> Result<(), Error>;

    /// The kernel `name` in `source`.
    fn kernel(&self, source: &str, name: &str) -> Result<Kernel, Error>;
    /// Starts a kernel with these words as its only argument, a struct.
    fn launch(&self, kernel: Kernel, grid: (u32, u32), block: (u32, u32), words: &[u64])
    -> Result<(), Error>;
    /// *Cᵢ ← α·op(Aᵢ)·op(Bᵢ) + β·Cᵢ*, as cuBLAS defines it.
    fn gemm(&self, product: &Gemm) -> Result<(), Error>;

    /// How a product of that [kind](LtMatmul::kind) is to be computed, or that there is no way.
    fn plan(&self, product: &LtMatmul) -> Result<Option<Box<dyn Planned>>, Error>;

    /// How a convolution of that [kind](Convolution::kind) is to be computed, or that there is no way.
    fn plan_convolution(
        &self,
        convolution: &Convolution,
    ) -> Result<Option<Box<dyn PlannedConvolution>>, Error>;

    /// Begins to record instead of doing.
    fn begin_capture(&self) -> Result<(), Error>;
    /// What was asked for since then.
    fn end_capture(&self) -> Result<Box<dyn Recording>, Error>;
}

/// A compiled kernel, as its driver knows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Kernel(pub(super) u64);

/// A way to compute products of one [kind](LtMatmul::kind), on the device that found it.
pub(super) trait Planned: Send {
    fn run(&mut self, product: &LtMatmul) -> Result<(), Error>;
}

/// A way to compute convolutions of one [kind](Convolution::kind), on the device that found it.
pub(super) trait PlannedConvolution: Send {
    /// How many bytes of memory it takes.
    fn workspace(&self) -> usize;
    fn run(&mut self, convolution: &Convolution, workspace: u64) -> Result<(), Error>;
}

/// What was recorded: a CUDA graph.
pub(super) trait Recording: Send {
    /// Does it.
    fn replay(&self) -> Result<(), Error>;
}

/// Products of matrices that are stored by columns.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Gemm {
    pub(super) double: bool,
    pub(super) transposed: [bool; 2],
    pub(super) m: usize,
    pub(super) n: usize,
    pub(super) k: usize,
    /// The bits of numbers of the elements' type.
    pub(super) alpha: u64,
    pub(super) beta: u64,
    /// Where each begins, and how far its columns are apart: *A*, *B* and *C*.
    pub(super) starts: [u64; 3],
    pub(super) leading: [usize; 3],
    /// How many products there are,
    pub(super) count: usize,
    /// and how many elements the matrices are apart that one begins with and the next.
    pub(super) apart: [usize; 3],
}

/// *D ← e(α·op(A)·op(B) + β·C)*, all of them stored by columns, as cuBLASLt defines it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct LtMatmul {
    pub(super) gemm: Gemm,
    /// Where D begins, and how far its columns are apart.
    pub(super) result: u64,
    pub(super) leading: usize,
    pub(super) ending: Ending,
    /// The vector that is added or written.
    pub(super) vector: u64,
    /// Where what a gradient takes is left or found, and how many elements, or bits, its columns are apart.
    pub(super) aux: u64,
    pub(super) aux_leading: usize,
}

/// The epilogue, by cuBLASLt's names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ending {
    Bias,
    ReluAuxBias,
    GeluAuxBias,
    DreluBgrad,
    DgeluBgrad,
    Bgrada,
    Bgradb,
}

/// A convolution, as cuDNN defines cross-correlation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Convolution {
    pub(super) double: bool,
    pub(super) pass: Pass,
    pub(super) x: Planes,
    /// Output channels, input channels of one group, height and width; without gaps.
    pub(super) kernel: Planes,
    pub(super) y: Planes,
    /// Down and across.
    pub(super) padding: [i32; 2],
    pub(super) stride: [i32; 2],
    pub(super) dilation: [i32; 2],
    pub(super) groups: i32,
    /// The bits of numbers of the elements' type: what is written is *α* times the result plus *β* times what is there.
    pub(super) alpha: u64,
    pub(super) beta: u64,
}

/// Which of the three is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pass {
    /// *y*
    Forward,
    /// The gradient in the place of *x*, of that in the place of *y*,
    BackwardData,
    /// or in the place of the kernel.
    BackwardFilter,
}

/// Images: batch, channels, height and width.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Planes {
    pub(super) address: u64,
    pub(super) lengths: [i32; 4],
    pub(super) strides: [i32; 4],
}
