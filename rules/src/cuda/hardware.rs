//! CUDA itself, by cudarc.

use std::ffi::{CString, c_void};
use std::ptr::NonNull;
use std::sync::{Arc, OnceLock};

use cudarc::cublas::{self, CudaBlas};
use cudarc::driver::{self, CudaContext, CudaGraph, CudaStream, DriverError};

use super::cudnn::Cudnn;
use super::driver::{Convolution, Driver, Gemm, Kernel, LtMatmul, Planned, PlannedConvolution, Recording};
use super::lt::Lt;
use super::staging::Stage;
use super::{Error, cache, compiler, recordings};

/// As much as NVIDIA recommends for Hopper. With memory of its own cuBLAS allocates none, not even while a graph is recorded.
const BLAS_WORKSPACE: usize = 32 << 20;

/// The first version of the driver that has all that it is asked for.
const LEAST_DRIVER: i32 = 11_040;

/// A device, its context, and a stream of it. The libraries' handles go first: they belong to the stream, which belongs to the context.
pub(super) struct Hardware {
    blas: OnceLock<CudaBlas>,
    lt: OnceLock<Option<Arc<Lt>>>,
    cudnn: OnceLock<Option<Arc<Cudnn>>>,
    /// Of cuBLAS and cuBLASLt, which take turns on the stream.
    workspace: OnceLock<u64>,
    stream: Arc<CudaStream>,
    context: Arc<CudaContext>,
}

impl Drop for Hardware {
    fn drop(&mut self) {
        // Handles are destroyed where they were created.
        self.context.record_err(self.context.bind_to_thread());
        if let Some(blas) = self.blas.take() {
            recordings::apart(move || drop(blas));
        }
        if let Some(workspace) = self.workspace.get() {
            self.free(*workspace);
        }
    }
}

/// Without a library cudarc panics, whatever it is asked for.
fn found(library: &'static str, is_present: bool) -> Result<(), Error> {
    if is_present { Ok(()) } else { Err(Error::Missing { library }) }
}

/// 11.4 is 11040.
fn recent(version: i32) -> Result<(), Error> {
    let written = |version: i32| format!("{}.{}", version / 1000, version % 1000 / 10);
    let (doing, least) = ("use the driver", written(LEAST_DRIVER));
    match version >= LEAST_DRIVER {
        true => Ok(()),
        false => {
            let message = format!("it is for CUDA {}, and the least is {least}", written(version));
            Err(Error::Driver { doing, message })
        }
    }
}

pub(super) fn doing<X>(doing: &'static str, result: Result<X, DriverError>) -> Result<X, Error> {
    result.map_err(|error| Error::Driver { doing, message: error.to_string() })
}

impl Hardware {
    pub(super) fn new(ordinal: usize) -> Result<Self, Error> {
        // SAFETY: it loads a library that is meant to be loaded.
        found("libcuda", unsafe { driver::sys::is_culib_present() })?;
        let mut version = 0;
        // SAFETY: it is a place for a number.
        let asked = unsafe { driver::sys::cuDriverGetVersion(&mut version) };
        doing("ask for the driver's version", asked.result())?;
        recent(version)?;
        let devices = match CudaContext::device_count() {
            Err(DriverError(driver::sys::CUresult::CUDA_ERROR_NO_DEVICE)) => 0,
            count => doing("count devices", count)?.max(0) as usize,
        };
        if ordinal >= devices {
            return Err(Error::NoDevice { ordinal, devices });
        }
        let context = doing("open the device", CudaContext::new(ordinal))?;
        // SAFETY: memory is not cudarc's here, whose events would order the uses of it. With them it waits for the whole context, which ends
        // what other threads record.
        unsafe { context.disable_event_tracking() };
        let stream = doing("make a stream", context.new_stream())?;
        Ok(Hardware {
            context,
            stream,
            blas: OnceLock::new(),
            lt: OnceLock::new(),
            cudnn: OnceLock::new(),
            workspace: OnceLock::new(),
        })
    }

    fn bind(&self) -> Result<(), Error> {
        doing("use the device", self.context.bind_to_thread())
    }

    fn blas(&self) -> Result<&CudaBlas, Error> {
        if let Some(blas) = self.blas.get() {
            return Ok(blas);
        }
        // SAFETY: as for the driver.
        found("libcublas", unsafe { cublas::sys::is_culib_present() })?;
        let failed = |error: cublas::result::CublasError| Error::Blas { message: error.to_string() };
        let blas = CudaBlas::new(self.stream.clone()).map_err(failed)?;
        let workspace = self.workspace()?;
        // SAFETY: the memory is there for good, and whoever else uses it does so on the same stream.
        unsafe {
            cublas::sys::cublasSetWorkspace_v2(*blas.handle(), workspace as *mut c_void, BLAS_WORKSPACE)
        }
        .result()
        .map_err(failed)?;
        Ok(self.blas.get_or_init(|| blas))
    }

    fn workspace(&self) -> Result<u64, Error> {
        match self.workspace.get() {
            Some(workspace) => Ok(*workspace),
            None => {
                let workspace = self.allocate(BLAS_WORKSPACE)?;
                Ok(*self.workspace.get_or_init(|| workspace))
            }
        }
    }
}

impl Driver for Hardware {
    fn allocate(&self, bytes: usize) -> Result<u64, Error> {
        self.bind()?;
        // SAFETY: the context is bound; nobody takes the contents for anything.
        let result = unsafe {
            if self.context.has_async_alloc() {
                driver::result::malloc_async(self.stream.cu_stream(), bytes)
            } else {
                driver::result::malloc_sync(bytes)
            }
        };
        doing("allocate memory", result)
    }

    fn free(&self, address: u64) {
        let done = self.context.bind_to_thread().and_then(|()| {
            if self.context.has_async_alloc() {
                // SAFETY: the address is one that was allocated, and its owner is gone; what uses it comes before on the stream.
                unsafe { driver::result::free_async(address, self.stream.cu_stream()) }
            } else {
                self.stream.synchronize()?;
                // SAFETY: as above, and nothing uses it any more.
                unsafe { driver::result::free_sync(address) }
            }
        });
        // There is nobody to tell but whoever synchronises next.
        self.context.record_err(done);
    }

    fn zero(&self, address: u64, bytes: usize) -> Result<(), Error> {
        self.bind()?;
        // SAFETY: so many bytes are there.
        doing("clear memory", unsafe {
            driver::result::memset_d8_async(address, 0, bytes, self.stream.cu_stream())
        })
    }

    fn stage(&self, bytes: usize) -> Result<Stage, Error> {
        self.bind()?;
        // SAFETY: the context is bound; nobody takes the contents for anything.
        let memory = doing("allocate memory of the host", unsafe { driver::result::malloc_host(bytes, 0) })?;
        let flags = driver::sys::CUevent_flags::CU_EVENT_DISABLE_TIMING;
        let event = driver::result::event::create(flags).inspect_err(|_| {
            // SAFETY: it has just been allocated, and is nobody's.
            let _ = unsafe { driver::result::free_host(memory) };
        });
        let event = doing("make an event", event)? as u64;
        Ok(Stage { memory: NonNull::new(memory.cast()).expect("memory"), event })
    }

    fn unstage(&self, stage: Stage) {
        let done = self.context.bind_to_thread().and_then(|()| {
            let Stage { memory, event } = stage;
            // SAFETY: both were made by `stage` and are used no more, as the last copy is done.
            unsafe {
                driver::result::event::synchronize(event as driver::sys::CUevent)?;
                driver::result::event::destroy(event as driver::sys::CUevent)?;
                driver::result::free_host(memory.as_ptr().cast())
            }
        });
        // There is nobody to tell but whoever synchronises next.
        self.context.record_err(done);
    }

    unsafe fn upload(&self, address: u64, from: &Stage, bytes: usize) -> Result<(), Error> {
        self.bind()?;
        let stream = self.stream.cu_stream();
        // SAFETY: as the caller guarantees.
        let copied = unsafe {
            let bytes = std::slice::from_raw_parts(from.memory.as_ptr(), bytes);
            driver::result::memcpy_htod_async(address, bytes, stream)
                .and_then(|()| driver::result::event::record(from.event as driver::sys::CUevent, stream))
        };
        doing("copy to the device", copied)
    }

    unsafe fn download(&self, to: &Stage, address: u64, bytes: usize) -> Result<(), Error> {
        self.bind()?;
        let stream = self.stream.cu_stream();
        // SAFETY: as the caller guarantees.
        let copied = unsafe {
            let bytes = std::slice::from_raw_parts_mut(to.memory.as_ptr(), bytes);
            driver::result::memcpy_dtoh_async(bytes, address, stream)
                .and_then(|()| driver::result::event::record(to.event as driver::sys::CUevent, stream))
        };
        doing("copy from the device", copied)
    }

    fn wait(&self, stage: &Stage) -> Result<(), Error> {
        self.bind()?;
        // SAFETY: the event is one. If nothing has been recorded there is nothing to wait for.
        doing("wait for a copy", unsafe {
            driver::result::event::synchronize(stage.event as driver::sys::CUevent)
        })
    }

    fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<(), Error> {
        self.bind()?;
        // SAFETY: so many bytes are there, and they do not overlap.
        doing("copy on the device", unsafe {
            driver::result::memcpy_dtod_async(to, from, bytes, self.stream.cu_stream())
        })
    }

    fn synchronize(&self) -> Result<(), Error> {
        doing("finish", self.stream.synchronize().and_then(|()| self.context.check_err()))
    }

    fn kernel(&self, source: &str, name: &str) -> Result<Kernel, Error> {
        let (major, minor) = doing("ask for the architecture", self.context.compute_capability())?;
        let code = compiler::compile(source, name, &format!("compute_{major}{minor}"), cache::folder())?;
        self.bind()?;
        let text = |text: String| CString::new(text).expect("code without zeros");
        // SAFETY: the code ends with a zero. The module is never unloaded, so that the function stays valid.
        let function = unsafe {
            let image = text(code);
            driver::result::module::load_data(image.as_ptr().cast())
                .and_then(|module| driver::result::module::get_function(module, text(name.to_owned())))
        };
        doing("load a kernel", function.map(|function| Kernel(function as u64)))
    }

    fn launch(
        &self,
        kernel: Kernel,
        grid: (u32, u32),
        block: (u32, u32),
        words: &[u64],
    ) -> Result<(), Error> {
        self.bind()?;
        let mut arguments = [words.as_ptr().cast_mut().cast::<c_void>()];
        // SAFETY: the kernel takes one struct of these words, which the driver copies; it reads and writes what the plan says.
        doing("start a kernel", unsafe {
            driver::result::launch_kernel(
                kernel.0 as driver::sys::CUfunction,
                (grid.0, grid.1, 1),
                (block.0, block.1, 1),
                0,
                self.stream.cu_stream(),
                &mut arguments,
            )
        })
    }

    fn gemm(&self, product: &Gemm) -> Result<(), Error> {
        self.bind()?;
        let blas = *self.blas()?.handle();
        let Gemm { double, transposed, m, n, k, alpha, beta, starts, leading, count, apart } = *product;
        let int = |n: usize| {
            i32::try_from(n).map_err(|_| Error::Blas { message: format!("{n} is more than it can count") })
        };
        let [ta, tb] = transposed.map(|transposed| match transposed {
            true => cublas::sys::cublasOperation_t::CUBLAS_OP_T,
            false => cublas::sys::cublasOperation_t::CUBLAS_OP_N,
        });
        let (m, n, k) = (int(m)?, int(n)?, int(k)?);
        let [lda, ldb, ldc] = [int(leading[0])?, int(leading[1])?, int(leading[2])?];
        let [a, b, c] = starts;
        let count = int(count)?;
        let [to_a, to_b, to_c] = apart.map(|apart| apart as i64);
        // SAFETY: the matrices are there; the factors are read before the call returns, as the pointer mode is that of the host.
        let done = unsafe {
            if double {
                let (alpha, beta) = (f64::from_bits(alpha), f64::from_bits(beta));
                let (a, b, c) = (a as *const f64, b as *const f64, c as *mut f64);
                match count {
                    1 => cublas::result::dgemm(blas, ta, tb, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc),
                    _ => cublas::result::dgemm_strided_batched(
                        blas, ta, tb, m, n, k, &alpha, a, lda, to_a, b, ldb, to_b, &beta, c, ldc, to_c, count,
                    ),
                }
            } else {
                let (alpha, beta) = (f32::from_bits(alpha as u32), f32::from_bits(beta as u32));
                let (a, b, c) = (a as *const f32, b as *const f32, c as *mut f32);
                match count {
                    1 => cublas::result::sgemm(blas, ta, tb, m, n, k, &alpha, a, lda, b, ldb, &beta, c, ldc),
                    _ => cublas::result::sgemm_strided_batched(
                        blas, ta, tb, m, n, k, &alpha, a, lda, to_a, b, ldb, to_b, &beta, c, ldc, to_c, count,
                    ),
                }
            }
        };
        done.map_err(|error| Error::Blas { message: error.to_string() })
    }

    fn plan(&self, product: &LtMatmul) -> Result<Option<Box<dyn Planned>>, Error> {
        self.bind()?;
        if self.lt.get().is_none() {
            let lt = Lt::new(&self.context)?;
            self.lt.get_or_init(|| lt);
        }
        let Some(Some(lt)) = self.lt.get() else { return Ok(None) };
        lt.plan(&self.context, &self.stream, (self.workspace()?, BLAS_WORKSPACE), product)
    }

    fn plan_convolution(&self, asked: &Convolution) -> Result<Option<Box<dyn PlannedConvolution>>, Error> {
        self.bind()?;
        if self.cudnn.get().is_none() {
            let cudnn = Cudnn::new(&self.stream)?;
            self.cudnn.get_or_init(|| cudnn);
        }
        let Some(Some(cudnn)) = self.cudnn.get() else { return Ok(None) };
        cudnn.plan(asked)
    }

    fn begin_capture(&self) -> Result<(), Error> {
        let mode = driver::sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        recordings::begin();
        doing("begin to record", self.stream.begin_capture(mode)).inspect_err(|_| recordings::end())
    }

    fn end_capture(&self) -> Result<Box<dyn Recording>, Error> {
        let graph = self.stream.end_capture(driver::sys::CUgraphInstantiate_flags(0));
        recordings::end();
        let graph = doing("record", graph)?;
        let graph = graph.ok_or(Error::Capture { reason: "nothing was asked for" })?;
        Ok(Box::new(Graph(graph)))
    }
}

struct Graph(CudaGraph);

// SAFETY: the driver lets any thread use a graph, one at a time, and `Graph` cannot be shared.
unsafe impl Send for Graph {}

impl Recording for Graph {
    fn replay(&self) -> Result<(), Error> {
        doing("replay", self.0.launch())
    }
}

#[cfg(test)]
mod tests {
    use super::{found, recent};
    use crate::cuda::Error;

    #[test]
    fn what_is_missing_or_too_old_is_an_error() {
        assert_eq!((found("libcublas", true), recent(11_040), recent(13_000)), (Ok(()), Ok(()), Ok(())));
        assert_eq!(found("libcublas", false), Err(Error::Missing { library: "libcublas" }));
        let error = recent(10_020).expect_err("it is too old");
        assert_eq!(
            error.to_string(),
            "CUDA failed to use the driver: it is for CUDA 10.2, and the least is 11.4"
        );
    }
}
