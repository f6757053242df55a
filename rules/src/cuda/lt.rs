//! cuBLASLt, by cudarc.

use std::ffi::c_void;
use std::sync::Arc;

use cudarc::cublas::sys::cublasOperation_t;
use cudarc::cublaslt::result::{self, CublasError};
use cudarc::cublaslt::sys::{
    self, cublasComputeType_t, cublasLtEpilogue_t, cublasLtMatmulAlgo_t, cublasLtMatmulDesc_t,
    cublasLtMatmulDescAttributes_t as Attribute, cublasLtMatmulPreferenceAttributes_t as Preference,
    cublasLtMatrixLayout_t, cudaDataType,
};
use cudarc::driver::{CudaContext, CudaStream};

use super::driver::{Ending, LtMatmul, Planned};
use super::{Error, recordings};

/// Before this architecture some versions of the library leave out part of a bias.
const LEAST_ARCHITECTURE: i32 = 8;

/// The library's handle.
#[derive(Debug)]
pub(super) struct Lt(sys::cublasLtHandle_t);

// SAFETY: a handle is used by any thread, and by several at once.
unsafe impl Send for Lt {}
// SAFETY: as above.
unsafe impl Sync for Lt {}

impl Drop for Lt {
    fn drop(&mut self) {
        let address = self.0.expose_provenance();
        recordings::apart(move || {
            // SAFETY: it was created by `new` and is used no more: plans have a share in it.
            let _ = unsafe { result::destroy_handle(std::ptr::with_exposed_provenance_mut(address)) };
        });
    }
}

fn checked<X>(result: Result<X, CublasError>) -> Result<X, Error> {
    result.map_err(|error| Error::Blas { message: format!("cuBLASLt, {error}") })
}

/// Something of the library's that is destroyed with this.
struct Owned<X: Copy>(X, unsafe fn(X) -> Result<(), CublasError>);

impl<X: Copy> Drop for Owned<X> {
    fn drop(&mut self) {
        // SAFETY: it was created, and nobody else has it.
        let _ = unsafe { (self.1)(self.0) };
    }
}

/// What is known about products of one kind. It belongs to the stream of its device.
struct Plan {
    lt: Arc<Lt>,
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    description: Owned<cublasLtMatmulDesc_t>,
    /// Of A, B, C and D.
    layouts: [Owned<cublasLtMatrixLayout_t>; 4],
    algorithm: cublasLtMatmulAlgo_t,
    workspace: (u64, usize),
}

// SAFETY: what the library describes is memory that any thread may use, one at a time, and `Plan` is used through a unique reference.
unsafe impl Send for Plan {}

impl Lt {
    /// A handle, unless there is no such library, or the device is too old.
    ///
    /// The context is current.
    pub(super) fn new(context: &CudaContext) -> Result<Option<Arc<Lt>>, Error> {
        let architecture = super::hardware::doing("ask for the architecture", context.compute_capability())?;
        // SAFETY: it loads a library that is meant to be loaded.
        if architecture.0 < LEAST_ARCHITECTURE || !unsafe { sys::is_culib_present() } {
            return Ok(None);
        }
        Ok(Some(Arc::new(Lt(checked(result::create_handle())?))))
    }

    /// A plan for products of that kind, if the library has an algorithm for them that takes no more than the workspace.
    ///
    /// The context is current.
    pub(super) fn plan(
        self: &Arc<Lt>,
        context: &Arc<CudaContext>,
        stream: &Arc<CudaStream>,
        workspace: (u64, usize),
        product: &LtMatmul,
    ) -> Result<Option<Box<dyn Planned>>, Error> {
        let single = cudaDataType::CUDA_R_32F;
        let gemm = &product.gemm;
        let description =
            checked(result::create_matmul_desc(cublasComputeType_t::CUBLAS_COMPUTE_32F, single))?;
        let description = Owned(description, result::destroy_matmul_desc);
        let operation = |transposed: bool| match transposed {
            true => cublasOperation_t::CUBLAS_OP_T,
            false => cublasOperation_t::CUBLAS_OP_N,
        };
        set(&description, Attribute::CUBLASLT_MATMUL_DESC_TRANSA, &(operation(gemm.transposed[0]) as i32))?;
        set(&description, Attribute::CUBLASLT_MATMUL_DESC_TRANSB, &(operation(gemm.transposed[1]) as i32))?;
        set(&description, Attribute::CUBLASLT_MATMUL_DESC_EPILOGUE, &(epilogue(product.ending) as u32))?;
        if product.aux != 0 {
            let leading = product.aux_leading as i64;
            set(&description, Attribute::CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &leading)?;
        }
        // The search takes from the addresses how they are aligned.
        addresses(&description, product)?;

        let layout = |rows: usize, columns: usize, leading: usize| {
            let layout = result::create_matrix_layout(single, rows as u64, columns as u64, leading as i64);
            checked(layout).map(|layout| Owned(layout, result::destroy_matrix_layout))
        };
        // As they are stored, before they are transposed.
        let stored = |transposed, rows, columns| if transposed { (columns, rows) } else { (rows, columns) };
        let (rows_a, columns_a) = stored(gemm.transposed[0], gemm.m, gemm.k);
        let (rows_b, columns_b) = stored(gemm.transposed[1], gemm.k, gemm.n);
        let layouts = [
            layout(rows_a, columns_a, gemm.leading[0])?,
            layout(rows_b, columns_b, gemm.leading[1])?,
            layout(gemm.m, gemm.n, gemm.leading[2])?,
            layout(gemm.m, gemm.n, product.leading)?,
        ];

        let preference = Owned(checked(result::create_matmul_pref())?, result::destroy_matmul_pref);
        let prefer = |what: Preference, value: *const c_void, size: usize| {
            // SAFETY: the preference is there, and so many bytes of the value.
            checked(unsafe { result::set_matmul_pref_attribute(preference.0, what, value, size) })
        };
        let most = workspace.1 as u64;
        prefer(
            Preference::CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
            (&raw const most).cast(),
            size_of::<u64>(),
        )?;
        let [a, b, c] = product.gemm.starts;
        for (what, address) in [
            (Preference::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, a),
            (Preference::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, b),
            (Preference::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, c),
            (Preference::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, product.result),
        ] {
            let alignment = (1_u32 << address.trailing_zeros().min(8)).min(256);
            prefer(what, (&raw const alignment).cast(), size_of::<u32>())?;
        }
        // SAFETY: all of these have been created above, and are for matrices of these shapes.
        let found = unsafe {
            let [a, b, c, d] = &layouts;
            result::get_matmul_algo_heuristic(self.0, description.0, a.0, b.0, c.0, d.0, preference.0)
        };
        // There is none, or it is refused.
        let Ok(found) = found else { return Ok(None) };
        Ok(Some(Box::new(Plan {
            lt: self.clone(),
            context: context.clone(),
            stream: stream.clone(),
            description,
            layouts,
            algorithm: found.algo,
            workspace,
        })))
    }
}

fn epilogue(ending: Ending) -> cublasLtEpilogue_t {
    match ending {
        Ending::Bias => cublasLtEpilogue_t::CUBLASLT_EPILOGUE_BIAS,
        Ending::ReluAuxBias => cublasLtEpilogue_t::CUBLASLT_EPILOGUE_RELU_AUX_BIAS,
        Ending::GeluAuxBias => cublasLtEpilogue_t::CUBLASLT_EPILOGUE_GELU_AUX_BIAS,
        Ending::DreluBgrad => cublasLtEpilogue_t::CUBLASLT_EPILOGUE_DRELU_BGRAD,
        Ending::DgeluBgrad => cublasLtEpilogue_t::CUBLASLT_EPILOGUE_DGELU_BGRAD,
        Ending::Bgrada => cublasLtEpilogue_t::CUBLASLT_EPILOGUE_BGRADA,
        Ending::Bgradb => cublasLtEpilogue_t::CUBLASLT_EPILOGUE_BGRADB,
    }
}

/// Sets an attribute to a value, whose type is the one that the library documents for it.
fn set<X>(description: &Owned<cublasLtMatmulDesc_t>, attribute: Attribute, value: &X) -> Result<(), Error> {
    // SAFETY: the description is there, and the value has as many bytes.
    checked(unsafe {
        result::set_matmul_desc_attribute(
            description.0,
            attribute,
            std::ptr::from_ref(value).cast(),
            size_of::<X>(),
        )
    })
}

/// Sets where the vector is, and what is left for the gradient: both are addresses on the device.
fn addresses(description: &Owned<cublasLtMatmulDesc_t>, product: &LtMatmul) -> Result<(), Error> {
    set(description, Attribute::CUBLASLT_MATMUL_DESC_BIAS_POINTER, &product.vector)?;
    if product.aux != 0 {
        set(description, Attribute::CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &product.aux)?;
    }
    Ok(())
}

impl Planned for Plan {
    fn run(&mut self, product: &LtMatmul) -> Result<(), Error> {
        super::hardware::doing("use the device", self.context.bind_to_thread())?;
        addresses(&self.description, product)?;
        let [a, b, c] = product.gemm.starts;
        let factors = [product.gemm.alpha, product.gemm.beta].map(|bits| f32::from_bits(bits as u32));
        let [of_a, of_b, of_c, of_d] = &self.layouts;
        // SAFETY: matrices, vector and what is left are at these addresses, in the shapes that the layouts have; the factors are read before
        // the call returns, as the pointer mode is that of the host; the workspace is used by one product after the other, on one stream.
        checked(unsafe {
            result::matmul(
                self.lt.0,
                self.description.0,
                (&raw const factors[0]).cast(),
                (&raw const factors[1]).cast(),
                a as *const c_void,
                of_a.0,
                b as *const c_void,
                of_b.0,
                c as *const c_void,
                of_c.0,
                product.result as *mut c_void,
                of_d.0,
                &self.algorithm,
                self.workspace.0 as *mut c_void,
                self.workspace.1,
                self.stream.cu_stream().cast(),
            )
        })
    }
}
