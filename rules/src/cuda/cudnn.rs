//! cuDNN, by cudarc.

use std::ffi::c_void;
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::cudnn::result::CudnnError;
use cudarc::cudnn::sys::{
    self, cudnnConvolutionBwdDataAlgo_t, cudnnConvolutionBwdFilterAlgo_t, cudnnConvolutionDescriptor_t,
    cudnnConvolutionFwdAlgo_t, cudnnConvolutionMode_t, cudnnDataType_t, cudnnDeterminism_t,
    cudnnFilterDescriptor_t, cudnnHandle_t, cudnnMathType_t, cudnnStatus_t, cudnnTensorDescriptor_t,
    cudnnTensorFormat_t,
};
use cudarc::driver::CudaStream;

use super::driver::{Convolution, Pass, Planes, PlannedConvolution};
use super::{Error, recordings};

/// No algorithm gets more memory.
const MOST_WORKSPACE: usize = 1 << 28;
/// Of each pass the library has fewer algorithms.
const ALGORITHMS: usize = 16;

fn checked(status: cudnnStatus_t) -> Result<(), Error> {
    status.result().map_err(|error: CudnnError| Error::Dnn { message: error.to_string() })
}

/// The library's handle, for one stream, which has to outlive it. Calls take turns: it is for one thread at a time.
pub(super) struct Cudnn {
    handle: Mutex<cudnnHandle_t>,
    stream: Arc<CudaStream>,
}

// SAFETY: a handle is not bound to a thread.
unsafe impl Send for Cudnn {}
// SAFETY: what is used is what the mutex guards.
unsafe impl Sync for Cudnn {}

impl Drop for Cudnn {
    fn drop(&mut self) {
        let handle = *self.handle.get_mut().unwrap_or_else(PoisonError::into_inner);
        let (address, stream) = (handle.expose_provenance(), self.stream.clone());
        recordings::apart(move || {
            let context = stream.context();
            context.record_err(context.bind_to_thread());
            // SAFETY: it was created by `new`, and is used no more: plans have a share in it.
            let _ = unsafe { sys::cudnnDestroy(std::ptr::with_exposed_provenance_mut(address)) };
        });
    }
}

/// Something of the library's that is destroyed with this.
struct Owned<X: Copy>(X, unsafe fn(X) -> cudnnStatus_t);

impl<X: Copy> Owned<X> {
    fn new(
        create: unsafe fn(*mut X) -> cudnnStatus_t,
        destroy: unsafe fn(X) -> cudnnStatus_t,
    ) -> Result<Self, Error> {
        let mut made = std::mem::MaybeUninit::uninit();
        // SAFETY: it is written to if the call succeeds.
        unsafe {
            checked(create(made.as_mut_ptr()))?;
            Ok(Owned(made.assume_init(), destroy))
        }
    }
}

impl<X: Copy> Drop for Owned<X> {
    fn drop(&mut self) {
        // SAFETY: it was created, and nobody else has it.
        let _ = unsafe { (self.1)(self.0) };
    }
}

/// One for each pass.
#[derive(Clone, Copy)]
enum Algorithm {
    Forward(cudnnConvolutionFwdAlgo_t),
    BackwardData(cudnnConvolutionBwdDataAlgo_t),
    BackwardFilter(cudnnConvolutionBwdFilterAlgo_t),
}

struct Plan {
    cudnn: Arc<Cudnn>,
    x: Owned<cudnnTensorDescriptor_t>,
    kernel: Owned<cudnnFilterDescriptor_t>,
    y: Owned<cudnnTensorDescriptor_t>,
    convolution: Owned<cudnnConvolutionDescriptor_t>,
    algorithm: Algorithm,
    workspace: usize,
}

// SAFETY: descriptions are memory that any thread may use, one at a time, and `Plan` is used through a unique reference.
unsafe impl Send for Plan {}

impl Cudnn {
    /// A handle, unless there is no such library of the versions 8 or 9, which have the functions that are called here.
    ///
    /// The context is current.
    pub(super) fn new(stream: &Arc<CudaStream>) -> Result<Option<Arc<Cudnn>>, Error> {
        // SAFETY: it loads a library that is meant to be loaded.
        if !unsafe { sys::is_culib_present() } {
            return Ok(None);
        }
        // SAFETY: it takes no arguments.
        let version = unsafe { sys::cudnnGetVersion() };
        // 8.9.7 is 8907, 9.1.0 is 90100.
        if !(8000..9000).contains(&version) && !(90000..100_000).contains(&version) {
            return Ok(None);
        }
        let mut handle = std::ptr::null_mut();
        // SAFETY: the handle is written to; the stream is one.
        unsafe {
            checked(sys::cudnnCreate(&mut handle))?;
            let cudnn = Cudnn { handle: Mutex::new(handle), stream: stream.clone() };
            checked(sys::cudnnSetStream(handle, stream.cu_stream().cast()))?;
            Ok(Some(Arc::new(cudnn)))
        }
    }

    /// A plan for convolutions of that kind, if the library has an algorithm for them that gives the same bits each time.
    ///
    /// The context is current.
    pub(super) fn plan(
        self: &Arc<Cudnn>,
        asked: &Convolution,
    ) -> Result<Option<Box<dyn PlannedConvolution>>, Error> {
        let ty = match asked.double {
            true => cudnnDataType_t::CUDNN_DATA_DOUBLE,
            false => cudnnDataType_t::CUDNN_DATA_FLOAT,
        };
        let tensor = |planes: Planes| {
            let tensor = Owned::new(sys::cudnnCreateTensorDescriptor, sys::cudnnDestroyTensorDescriptor)?;
            let ([n, c, h, w], [of_n, of_c, of_h, of_w]) = (planes.lengths, planes.strides);
            // SAFETY: the description is there.
            checked(unsafe {
                sys::cudnnSetTensor4dDescriptorEx(tensor.0, ty, n, c, h, w, of_n, of_c, of_h, of_w)
            })?;
            Ok::<_, Error>(tensor)
        };
        let (x, y) = (tensor(asked.x)?, tensor(asked.y)?);
        let kernel = Owned::new(sys::cudnnCreateFilterDescriptor, sys::cudnnDestroyFilterDescriptor)?;
        let convolution =
            Owned::new(sys::cudnnCreateConvolutionDescriptor, sys::cudnnDestroyConvolutionDescriptor)?;
        let [k, c, h, w] = asked.kernel.lengths;
        let Convolution { padding, stride, dilation, .. } = *asked;
        // SAFETY: the descriptions are there.
        unsafe {
            let format = cudnnTensorFormat_t::CUDNN_TENSOR_NCHW;
            checked(sys::cudnnSetFilter4dDescriptor(kernel.0, ty, format, k, c, h, w))?;
            checked(sys::cudnnSetConvolution2dDescriptor(
                convolution.0,
                padding[0],
                padding[1],
                stride[0],
                stride[1],
                dilation[0],
                dilation[1],
                cudnnConvolutionMode_t::CUDNN_CROSS_CORRELATION,
                ty,
            ))?;
            checked(sys::cudnnSetConvolutionGroupCount(convolution.0, asked.groups))?;
            // With the precision of the type.
            checked(sys::cudnnSetConvolutionMathType(convolution.0, cudnnMathType_t::CUDNN_FMA_MATH))?;
        }
        let handle = self.handle.lock().unwrap_or_else(PoisonError::into_inner);
        // The first one of those that the library recommends for a pass: it and how much memory it takes.
        macro_rules! recommended {
            ($search:ident($($description:expr),*) -> $Answer:ident as $algorithm:ident) => {{
                let mut count = 0;
                let mut found = [const { std::mem::MaybeUninit::<sys::$Answer>::uninit() }; ALGORITHMS];
                // SAFETY: the descriptions are there, and room for so many answers.
                let status = unsafe {
                    sys::$search(
                        *handle, $($description,)* ALGORITHMS as i32, &mut count, found.as_mut_ptr().cast(),
                    )
                };
                // It may have none for what it is asked for.
                let count = if status.result().is_ok() { count.clamp(0, ALGORITHMS as i32) } else { 0 };
                found[..count as usize]
                    .iter()
                    // SAFETY: as many have been written.
                    .map(|answer| unsafe { answer.assume_init() })
                    .find(|answer| {
                        answer.status.result().is_ok()
                            && answer.determinism == cudnnDeterminism_t::CUDNN_DETERMINISTIC
                            && answer.memory <= MOST_WORKSPACE
                    })
                    .map(|answer| (Algorithm::$algorithm(answer.algo), answer.memory))
            }};
        }
        let (of_x, of_y, of_kernel, of_convolution) = (x.0, y.0, kernel.0, convolution.0);
        let found = match asked.pass {
            Pass::Forward => {
                recommended!(
                    cudnnGetConvolutionForwardAlgorithm_v7(of_x, of_kernel, of_convolution, of_y) -> cudnnConvolutionFwdAlgoPerf_t as Forward
                )
            }
            Pass::BackwardData => {
                recommended!(cudnnGetConvolutionBackwardDataAlgorithm_v7(
                    of_kernel,
                    of_y,
                    of_convolution,
                    of_x
                ) -> cudnnConvolutionBwdDataAlgoPerf_t as BackwardData)
            }
            Pass::BackwardFilter => {
                recommended!(cudnnGetConvolutionBackwardFilterAlgorithm_v7(
                    of_x,
                    of_y,
                    of_convolution,
                    of_kernel
                ) -> cudnnConvolutionBwdFilterAlgoPerf_t as BackwardFilter)
            }
        };
        let Some((algorithm, workspace)) = found else { return Ok(None) };
        let cudnn = self.clone();
        Ok(Some(Box::new(Plan { cudnn, x, kernel, y, convolution, algorithm, workspace })))
    }
}

impl PlannedConvolution for Plan {
    fn workspace(&self) -> usize {
        self.workspace
    }

    fn run(&mut self, asked: &Convolution, workspace: u64) -> Result<(), Error> {
        super::hardware::doing("use the device", self.cudnn.stream.context().bind_to_thread())?;
        let handle = self.cudnn.handle.lock().unwrap_or_else(PoisonError::into_inner);
        // Factors of single precision are the first bytes of their words.
        let (alpha, beta) = (asked.alpha.to_le_bytes(), asked.beta.to_le_bytes());
        let (alpha, beta) = (Factor(alpha), Factor(beta));
        let (alpha, beta): (*const c_void, *const c_void) =
            ((&raw const alpha).cast(), (&raw const beta).cast());
        let [x, kernel, y] = [asked.x, asked.kernel, asked.y].map(|planes| planes.address as *mut c_void);
        let (room, size) = (workspace as *mut c_void, self.workspace);
        let Plan { x: of_x, kernel: of_kernel, y: of_y, convolution, algorithm, .. } = self;
        let (of_x, of_kernel, of_y, convolution) = (of_x.0, of_kernel.0, of_y.0, convolution.0);
        // SAFETY: images and kernel are at these addresses, with the lengths and strides of their descriptions; the workspace has that size, and
        // is nobody else's; the factors are read before the call returns.
        checked(unsafe {
            match *algorithm {
                Algorithm::Forward(algorithm) => sys::cudnnConvolutionForward(
                    *handle,
                    alpha,
                    of_x,
                    x,
                    of_kernel,
                    kernel,
                    convolution,
                    algorithm,
                    room,
                    size,
                    beta,
                    of_y,
                    y,
                ),
                Algorithm::BackwardData(algorithm) => sys::cudnnConvolutionBackwardData(
                    *handle,
                    alpha,
                    of_kernel,
                    kernel,
                    of_y,
                    y,
                    convolution,
                    algorithm,
                    room,
                    size,
                    beta,
                    of_x,
                    x,
                ),
                Algorithm::BackwardFilter(algorithm) => sys::cudnnConvolutionBackwardFilter(
                    *handle,
                    alpha,
                    of_x,
                    x,
                    of_y,
                    y,
                    convolution,
                    algorithm,
                    room,
                    size,
                    beta,
                    of_kernel,
                    kernel,
                ),
            }
        })
    }
}

/// A factor of either precision, where the library reads it.
#[repr(C, align(8))]
struct Factor([u8; 8]);
