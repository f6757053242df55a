//! What multiplies matrices. Small ones, and those with long sums along adjacent elements: kernels of our own, and `nano-gemm` where
//! the machine lacks the instructions or *C* has gaps. Others: loops of our own where there is one column, else `faer`, or OpenBLAS with
//! the feature `openblas` and a layout that BLAS knows.
//!
//! [`multiply`] is the only entrance and the only place that chooses. The choice depends on shapes and strides alone,
//! never on who asks: therefore the forward of a rule computes bit for bit what the function computes.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

use nano_gemm::Plan;
use ndarray::ArrayRef2;
use ndarray::linalg::general_mat_mul;

use super::constants::{self, Way};
use super::matvec::MatVec;
use super::operand::Operand;
use crate::float::Scalar;

/// An element of the matrices that this crate multiplies: `f32`, `f64`, and dual numbers.
#[diagnostic::on_unimplemented(
    message = "matrices of `{Self}` are not multiplied by rules",
    note = "products of matrices are for `f32`, `f64`, and dual numbers"
)]
pub trait MatrixScalar: sealed::Sealed + Scalar {}

impl MatrixScalar for f32 {}
impl MatrixScalar for f64 {}

static THREADS: AtomicUsize = AtomicUsize::new(1);

/// Sets on how many threads a large matrix product may run, in all of the process: 1 unless this says otherwise, 0 for as
/// many as the machine has.
///
/// It takes the feature `openblas` or `rayon` to have more than one. With `openblas` this sets OpenBLAS's own,
/// process-wide number, of which other users of OpenBLAS in the process are aware, too. The last bits of a product may
/// depend on the number of threads: do not change it between a forward and what its value is compared with.
pub fn set_threads(threads: usize) {
    let available = || std::thread::available_parallelism().map_or(1, |n| n.get());
    THREADS.store(if threads == 0 { available() } else { threads }, Ordering::Relaxed);
}

/// *C ← α·A·B + β·C*, with *C* m×n and *k* columns in *A*.
#[derive(Clone, Copy)]
pub(super) struct Product<'a, T> {
    pub(super) alpha: T,
    pub(super) a: Operand<'a, T>,
    pub(super) b: Operand<'a, T>,
    pub(super) beta: T,
    pub(super) c: Operand<'a, T>,
    /// Where to copy what *C* holds before it is overwritten: packed, [in order](Operand::in_order).
    pub(super) keep: Option<NonNull<T>>,
}

impl<T: MatrixScalar> Product<'_, T> {
    pub(super) fn size(&self) -> (usize, usize, usize) {
        (self.c.rows, self.c.columns, self.a.columns)
    }

    /// The same product such that *C*'s rows are nearer to each other than its columns, which is what the back ends like
    /// best, and such that neither they nor the columns of *A* run backwards: Cᵀ = Bᵀ·Aᵀ, and reversing two axes that
    /// belong together changes nothing.
    #[inline(always)]
    fn canonical(mut self) -> Self {
        let (_, _, k) = self.size();
        if self.c.by_rows() {
            (self.a, self.b, self.c) = (self.b.t(), self.a.t(), self.c.t());
        }
        if self.c.row_stride < 0 {
            (self.a, self.c) = (self.a.reverse_rows(), self.c.reverse_rows());
        }
        if self.c.column_stride < 0 {
            (self.b, self.c) = (self.b.reverse_columns(), self.c.reverse_columns());
        }
        if self.a.column_stride < 0 {
            (self.a, self.b) = (self.a.reverse_columns(), self.b.reverse_rows());
        }
        debug_assert_eq!(k, self.a.columns);
        self
    }

    /// Copies what *C* holds to where it is to be kept.
    ///
    /// # Safety
    /// As for [`MatMul::run`].
    #[inline]
    pub(super) unsafe fn keep(&self) {
        if let Some(keep) = self.keep {
            let c = self.c.in_order();
            // SAFETY: as the caller guarantees.
            unsafe { Operand::packed(keep.as_ptr(), c.rows, c.columns).assign(c) }
        }
    }
}

/// Something that multiplies matrices.
///
/// # Contract
/// * `run` computes *C ← α·A·B + β·C* for canonical products with m, n, k > 0 and α ≠ 0 that the back end `takes`.
/// * If β is 0, *C* is not read: it may hold anything, NaN included.
/// * What *C* held is [kept](Product::keep) where the product asks for that.
/// * `run` does not allocate from the second call on.
/// * The same product has the same bits, whatever ran before.
pub(super) trait MatMul<T> {
    /// Whether this back end can and should compute `product`.
    fn takes(&self, product: &Product<'_, T>) -> bool;

    /// Computes it.
    ///
    /// # Safety
    /// The operands are valid for their lifetimes, *C* for writes; *C* overlaps neither *A* nor *B* nor itself; `keep` has
    /// room for *C* and overlaps nothing; `takes` said yes.
    unsafe fn run(&mut self, product: &Product<'_, T>);
}

/// *C ← α·A·B + β·C* for any layout and any size. As in BLAS, *A* and *B* are not read if α is 0, nor is *C* if β is 0.
/// `plan` spares planning if it saw a product of this size last time. What *C* held is written to `keep`, from where
/// [`restore`] brings it back.
///
/// Inlined, because operands should not pass through memory: words that were written one by one and are read in pairs have to
/// wait until all that was written before has reached the cache.
///
/// # Safety
/// The operands are valid for their lifetimes, `c` for writes. `c` overlaps neither `a` nor `b` nor itself.
#[inline(always)]
pub(super) unsafe fn multiply<T: MatrixScalar>(
    plan: &mut SmallPlan<T>,
    alpha: T,
    a: Operand<'_, T>,
    b: Operand<'_, T>,
    beta: T,
    c: Operand<'_, T>,
    keep: Option<&mut [T]>,
) {
    debug_assert!(
        a.rows == c.rows && a.columns == b.rows && b.columns == c.columns,
        "the caller checks shapes"
    );
    debug_assert!(!c.may_overlap_itself());
    let keep = keep.map(|place| {
        assert_eq!(place.len(), c.rows * c.columns, "room for C");
        NonNull::from(place).cast()
    });
    if c.rows == 0 || c.columns == 0 {
        return;
    }
    // SAFETY: what the caller guarantees is what is asked for; making a product canonical changes the order of the
    // elements only.
    unsafe {
        if a.columns == 0 || alpha.is_zero() {
            return nothing_but_c(beta, c, keep);
        }
        let product = Product { alpha, a, b, beta, c, keep };
        T::multiply(plan, &product.canonical());
    }
}

/// *C ← β·C*
///
/// # Safety
/// As for [`multiply`].
#[cold]
unsafe fn nothing_but_c<T: MatrixScalar>(beta: T, c: Operand<'_, T>, keep: Option<NonNull<T>>) {
    // SAFETY: as the caller guarantees.
    unsafe {
        Product { alpha: T::ZERO, a: c, b: c, beta, c, keep }.keep();
        scale(beta, c);
    }
}

/// The products that are not small.
///
/// # Safety
/// As for [`MatMul::run`].
#[inline(never)]
unsafe fn large<T: Native>(product: &Product<'_, T>) {
    // SAFETY: as the caller guarantees.
    unsafe {
        if MatVec.takes(product) {
            return MatVec.run(product);
        }
        #[cfg(feature = "openblas")]
        if super::openblas::OpenBlas.takes(product) {
            return super::openblas::OpenBlas.run(product);
        }
        Faer.run(product);
    }
}

/// Copies what *C* holds to `place`.
///
/// # Panics
/// If there is not room for exactly that.
///
/// # Safety
/// *C* is valid and does not overlap the place.
#[inline]
pub(super) unsafe fn keep<T: MatrixScalar>(c: Operand<'_, T>, place: &mut [T]) {
    assert_eq!(place.len(), c.rows * c.columns, "room for C");
    let c = c.in_order();
    // SAFETY: as the caller guarantees.
    unsafe { Operand::packed(place.as_mut_ptr(), c.rows, c.columns).assign(c) }
}

/// Brings back what [`multiply`] or [`keep`] has kept.
///
/// # Panics
/// If *C* has another number of elements than what was kept.
///
/// # Safety
/// *C* is valid for writes and does not overlap itself.
#[inline]
pub(super) unsafe fn restore<T: MatrixScalar>(c: Operand<'_, T>, kept: &[T]) {
    assert_eq!(kept.len(), c.rows * c.columns, "restored with another shape than saved");
    let c = c.in_order();
    // SAFETY: as the caller guarantees. What was kept is only read.
    unsafe { c.assign(Operand::packed(kept.as_ptr().cast_mut(), c.rows, c.columns)) }
}

/// *C += α·A·B* where *C* is a shadow: unlike other matrices, it may have elements in common with itself, for instance
/// where the primal is broadcast.
///
/// # Safety
/// The operands are valid for their lifetimes, `c` for writes. `c` overlaps neither `a` nor `b`.
#[inline(always)]
pub(super) unsafe fn accumulate<T: MatrixScalar>(
    plan: &mut SmallPlan<T>,
    alpha: T,
    a: Operand<'_, T>,
    b: Operand<'_, T>,
    c: Operand<'_, T>,
) {
    assert!(
        a.rows == c.rows && a.columns == b.rows && b.columns == c.columns,
        "a shadow has the shape of its primal"
    );
    if !c.may_overlap_itself() {
        // SAFETY: as the caller guarantees.
        return unsafe { multiply(plan, alpha, a, b, T::ONE, c, None) };
    }
    if alpha.is_zero() {
        return;
    }
    for i in 0..c.rows {
        for j in 0..c.columns {
            let mut sum = T::ZERO;
            // SAFETY: the indices are within the shapes; one element of C is read and written at a time.
            unsafe {
                for l in 0..a.columns {
                    sum += *a.at(i, l) * *b.at(l, j);
                }
                *c.at(i, j) += alpha * sum;
            }
        }
    }
}

/// *C ← α·A·B* for a shadow, as [`accumulate`].
///
/// # Safety
/// As for [`accumulate`].
pub(super) unsafe fn replace<T: MatrixScalar>(
    plan: &mut SmallPlan<T>,
    alpha: T,
    a: Operand<'_, T>,
    b: Operand<'_, T>,
    c: Operand<'_, T>,
) {
    // SAFETY: as the caller guarantees; the indices are within the shape.
    unsafe {
        if !c.may_overlap_itself() {
            return multiply(plan, alpha, a, b, T::ZERO, c, None);
        }
        for i in 0..c.rows {
            for j in 0..c.columns {
                *c.at(i, j) = T::ZERO;
            }
        }
        accumulate(plan, alpha, a, b, c);
    }
}

/// *C ← β·C*. If β is 0, *C* is not read.
///
/// # Safety
/// *C* is valid for reads and writes and does not overlap itself.
#[inline]
pub(super) unsafe fn scale<T: MatrixScalar>(beta: T, c: Operand<'_, T>) {
    if beta.is_one() {
        return;
    }
    let c = if c.row_stride.unsigned_abs() > c.column_stride.unsigned_abs() { c.t() } else { c };
    // SAFETY: the indices are within the shape. A column with unit stride is a slice that nobody else has.
    unsafe {
        let dense = c.row_stride == 1 && c.column_stride == c.rows as isize;
        let (columns, rows) = if dense { (1, c.rows * c.columns) } else { (c.columns, c.rows) };
        if c.rows == 0 || c.columns == 0 {
            return;
        }
        for j in 0..columns {
            if c.row_stride == 1 {
                let column = std::slice::from_raw_parts_mut(c.at(0, j), rows);
                if beta.is_zero() {
                    column.fill(T::ZERO);
                } else {
                    column.iter_mut().for_each(|c| *c = beta.scaling(*c));
                }
            } else {
                for i in 0..rows {
                    let c = c.at(i, j);
                    *c = if beta.is_zero() { T::ZERO } else { beta.scaling(*c) };
                }
            }
        }
    }
}

/// The back end for small products. What our own kernels do not take, a `nano-gemm` plan computes, which names the kernels
/// for one size and is kept for the next time.
pub(super) struct SmallPlan<T> {
    /// m, n, k and whether A and C have unit strides.
    of: (usize, usize, usize, bool),
    plan: Option<Plan<T>>,
}

// SAFETY: the raw pointers in a plan refer to constants.
unsafe impl<T> Send for SmallPlan<T> {}

impl<T> Default for SmallPlan<T> {
    fn default() -> Self {
        SmallPlan { of: (0, 0, 0, false), plan: None }
    }
}

impl<T: MatrixScalar> SmallPlan<T> {
    /// Up to here a product is small: from then on blocking for the caches pays.
    pub(super) const VOLUME: usize = 16 * 16 * 16;

    /// Whether our own kernels compute a canonical product, given the instructions, without rearranging anything.
    pub(super) fn direct(product: &Product<'_, T>) -> bool {
        product.a.row_stride == 1 && product.c.row_stride == 1 && Self::is_for(product)
    }

    /// Whether it is for such back ends.
    #[inline]
    pub(super) fn is_for(product: &Product<'_, T>) -> bool {
        let (m, n, k) = product.size();
        let small = m.saturating_mul(n).saturating_mul(k) <= Self::VOLUME;
        // A vector is worth a pass over the matrix, but not to rearrange it before.
        small && (n > 1 || m.max(k) <= 16 || product.a.row_stride == 1 || !MatVec.takes(product))
    }
}

impl<T: Native> SmallPlan<T> {
    /// # Safety
    /// As for [`MatMul::run`].
    #[inline(never)]
    pub(super) unsafe fn execute(&mut self, product: &Product<'_, T>) {
        // SAFETY: as the caller guarantees.
        unsafe { product.keep() }
        let Product { alpha, a, b, beta, c, .. } = *product;
        let (m, n, k) = product.size();
        let direct = a.row_stride == 1 && c.row_stride == 1;
        let of = (m, n, k, direct);
        let plan = match &mut self.plan {
            Some(plan) if self.of == of => plan,
            plan => {
                self.of = of;
                plan.insert(T::plan(m, n, k, direct))
            }
        };
        // SAFETY: the plan is for this size, with unit strides only where there are some; the rest is up to the caller.
        // What nano-gemm calls alpha belongs to C.
        unsafe {
            plan.execute_unchecked(
                m,
                n,
                k,
                c.pointer,
                c.row_stride,
                c.column_stride,
                a.pointer,
                a.row_stride,
                a.column_stride,
                b.pointer,
                b.row_stride,
                b.column_stride,
                beta,
                alpha,
                false,
                false,
            );
        }
    }
}

impl<T: Native> MatMul<T> for SmallPlan<T> {
    #[inline]
    fn takes(&self, product: &Product<'_, T>) -> bool {
        Self::is_for(product)
    }

    #[inline]
    unsafe fn run(&mut self, product: &Product<'_, T>) {
        // SAFETY: as the caller guarantees.
        unsafe {
            #[cfg(target_arch = "x86_64")]
            if super::simd::takes(product) && T::simd(product) {
                return;
            }
            self.execute(product);
        }
    }
}

/// The back end for everything else, in pure Rust.
struct Faer;

impl<T: Native> MatMul<T> for Faer {
    fn takes(&self, _: &Product<'_, T>) -> bool {
        true
    }

    unsafe fn run(&mut self, product: &Product<'_, T>) {
        let Product { alpha, a, b, beta, c, .. } = *product;
        // SAFETY: as the caller guarantees.
        unsafe {
            product.keep();
            let accumulate = if beta.is_zero() {
                faer::Accum::Replace
            } else {
                scale(beta, c);
                faer::Accum::Add
            };
            T::faer(alpha, a, b, accumulate, c);
        }
        leave_vector_registers_clean();
    }
}

/// faer's kernels for x86 end with something in the upper halves of the vector registers. What the compiler makes of
/// other code, and the mathematical library of the system, use the lower halves alone, and depend on the upper ones as long
/// as there is something in them: `tanh` takes four times as long.
#[inline]
pub(crate) fn leave_vector_registers_clean() {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx")]
        fn clean() {
            std::arch::x86_64::_mm256_zeroupper();
        }
        if std::arch::is_x86_feature_detected!("avx") {
            // SAFETY: the processor has the instruction.
            unsafe { clean() }
        }
    }
}

pub(crate) fn parallelism() -> faer::Par {
    #[cfg(feature = "rayon")]
    if let Some(threads) =
        std::num::NonZeroUsize::new(THREADS.load(Ordering::Relaxed)).filter(|n| n.get() > 1)
    {
        return faer::Par::Rayon(threads);
    }
    faer::Par::Seq
}

#[cfg(feature = "openblas")]
pub(super) fn threads() -> usize {
    THREADS.load(Ordering::Relaxed)
}

pub(super) mod sealed {
    use ndarray::ArrayRef2;

    use super::{Product, SmallPlan};
    #[cfg(feature = "openblas")]
    use crate::blas::cblas::Cblas;
    use crate::blas::constants::Way;
    use crate::blas::operand::Operand;
    use crate::blas::planned::Kernels;

    /// What differs between the types of scalars.
    pub trait Sealed: Sized {
        const ZERO: Self;
        const ONE: Self;
        /// The smallest positive normal number.
        const SMALLEST: Self;
        /// The distance of 1 and the next larger number.
        const SPACING: Self;
        /// Computes a canonical product.
        ///
        /// # Safety
        /// As for `MatMul::run`.
        #[allow(private_interfaces, reason = "sealed")]
        unsafe fn multiply(plan: &mut SmallPlan<Self>, product: &Product<'_, Self>);
        /// *C ← A·B*, values by ndarray's kernels.
        fn by_ndarray(a: &ArrayRef2<Self>, b: &ArrayRef2<Self>, c: &mut ArrayRef2<Self>);
        /// *C ← A·B* or *C += A·B*, where *B* consists of constants.
        ///
        /// # Safety
        /// As for `accumulate`.
        #[allow(private_interfaces, reason = "sealed")]
        unsafe fn by_constants(a: Operand<'_, Self>, b: Operand<'_, f64>, c: Operand<'_, Self>, way: Way);
        /// The kernels for canonical products of the size and strides of this one, in which nothing has to be rearranged.
        #[allow(private_interfaces, reason = "sealed")]
        fn kernels(_product: &Product<'_, Self>) -> Option<Kernels<Self>> {
            None
        }
        /// The functions of OpenBLAS.
        #[cfg(feature = "openblas")]
        #[allow(private_interfaces, reason = "sealed")]
        fn cblas() -> Option<Cblas<Self>> {
            None
        }
        /// 0, in all parts.
        fn is_zero(&self) -> bool;
        /// 1, whatever happens.
        fn is_one(&self) -> bool;
        /// *self·x*, where 0 times anything is 0, as in BLAS.
        fn scaling(self, x: Self) -> Self;
        /// The number nearest to `x`.
        fn of(x: f64) -> Self;
        /// |x|
        fn magnitude(self) -> Self;
        /// √x
        fn root(self) -> Self;
    }
}

/// What the back ends compute with.
pub(super) trait Native: MatrixScalar {
    fn plan(m: usize, n: usize, k: usize, direct: bool) -> Plan<Self>;
    /// Computes a small product if the machine has the instructions for it, and says whether.
    ///
    /// # Safety
    /// As for [`MatMul::run`], and `simd::takes` said yes.
    #[cfg(target_arch = "x86_64")]
    unsafe fn simd(product: &Product<'_, Self>) -> bool;
    /// # Safety
    /// As for [`MatMul::run`].
    unsafe fn faer(
        alpha: Self,
        a: Operand<'_, Self>,
        b: Operand<'_, Self>,
        accumulate: faer::Accum,
        c: Operand<'_, Self>,
    );
}

macro_rules! scalar {
    ($T:ident, $simd:ident, $dots:ident, $kernels:ident, $plan:ident, $cblas:ident, $constants:ident) => {
        impl sealed::Sealed for $T {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const SMALLEST: Self = $T::MIN_POSITIVE;
            const SPACING: Self = $T::EPSILON;

            #[inline(always)]
            #[allow(private_interfaces, reason = "sealed")]
            unsafe fn multiply(plan: &mut SmallPlan<Self>, product: &Product<'_, Self>) {
                // SAFETY: as the caller guarantees.
                unsafe {
                    #[cfg(target_arch = "x86_64")]
                    if super::simd::dots::takes(product) && super::simd::dots::$dots(product) {
                        return;
                    }
                    if plan.takes(product) {
                        return plan.run(product);
                    }
                    large(product);
                }
            }

            fn by_ndarray(a: &ArrayRef2<Self>, b: &ArrayRef2<Self>, c: &mut ArrayRef2<Self>) {
                general_mat_mul(1.0, a, b, 0.0, c);
            }

            #[allow(private_interfaces, reason = "sealed")]
            unsafe fn by_constants(
                a: Operand<'_, Self>,
                b: Operand<'_, f64>,
                c: Operand<'_, Self>,
                way: Way,
            ) {
                // SAFETY: as the caller guarantees.
                unsafe { constants::$constants(a, b, c, way) }
            }

            #[allow(private_interfaces, reason = "sealed")]
            fn kernels(product: &Product<'_, Self>) -> Option<super::planned::Kernels<Self>> {
                #[cfg(target_arch = "x86_64")]
                return super::simd::$kernels(product);
                #[cfg(not(target_arch = "x86_64"))]
                {
                    let _ = product;
                    None
                }
            }

            #[cfg(feature = "openblas")]
            #[allow(private_interfaces, reason = "sealed")]
            fn cblas() -> Option<super::cblas::Cblas<Self>> {
                Some(super::cblas::$cblas)
            }

            #[inline(always)]
            fn is_zero(&self) -> bool {
                *self == 0.0
            }

            #[inline(always)]
            fn is_one(&self) -> bool {
                *self == 1.0
            }

            #[inline(always)]
            fn scaling(self, x: Self) -> Self {
                if self == 0.0 { 0.0 } else { self * x }
            }

            #[inline(always)]
            fn of(x: f64) -> Self {
                x as $T
            }

            #[inline(always)]
            fn magnitude(self) -> Self {
                self.abs()
            }

            #[inline(always)]
            fn root(self) -> Self {
                self.sqrt()
            }
        }

        impl Native for $T {
            #[inline]
            fn plan(m: usize, n: usize, k: usize, direct: bool) -> Plan<Self> {
                Plan::$plan(m, n, k, direct)
            }

            #[cfg(target_arch = "x86_64")]
            #[inline]
            unsafe fn simd(product: &Product<'_, Self>) -> bool {
                // SAFETY: as the caller guarantees.
                unsafe { super::simd::$simd(product) }
            }

            unsafe fn faer(
                alpha: Self,
                a: Operand<'_, Self>,
                b: Operand<'_, Self>,
                accumulate: faer::Accum,
                c: Operand<'_, Self>,
            ) {
                let read = |m: Operand<'_, Self>| {
                    // SAFETY: the operand is valid, as the caller guarantees.
                    unsafe {
                        let (rows, columns) = (m.rows, m.columns);
                        faer::MatRef::from_raw_parts(m.pointer, rows, columns, m.row_stride, m.column_stride)
                    }
                };
                // SAFETY: C is valid for writes and overlaps neither A nor B, as the caller guarantees.
                let c = unsafe {
                    faer::MatMut::from_raw_parts_mut(
                        c.pointer,
                        c.rows,
                        c.columns,
                        c.row_stride,
                        c.column_stride,
                    )
                };
                faer::linalg::matmul::matmul(c, accumulate, read(a), read(b), alpha, parallelism());
            }
        }
    };
}
scalar!(f32, small_f32, dots_f32, kernels_f32, new_f32_impl, SINGLE, singles);
scalar!(f64, small_f64, dots_f64, kernels_f64, new_f64_impl, DOUBLE, doubles);
