//! A product that is computed again and again: what computes it is chosen when its sizes and strides are first seen.

use std::ptr::NonNull;

use ndarray::{ArrayRef2, ArrayView2, MathCell};

use super::backend::{MatrixScalar, Product, SmallPlan};
use super::operand::Operand;

/// C is m×n, A is m×k, B is k×n.
#[derive(Clone, Copy)]
pub(super) struct Size {
    pub(super) m: usize,
    pub(super) n: usize,
    pub(super) k: usize,
}

/// The kernels for one size, which the machine has the instructions for.
pub(super) struct Kernels<T> {
    /// Computes a canonical product of the sizes and strides that this was chosen for.
    ///
    /// # Safety
    /// As for `MatMul::run`.
    pub(super) product: unsafe fn(&Product<'_, T>),
    /// For matrices all of whose elements are adjacent.
    pub(super) gradients: Option<Gradients<T>>,
    /// Copies adjacent elements, as many as the last argument says.
    ///
    /// # Safety
    /// As many are valid and do not overlap.
    pub(super) copy: unsafe fn(*const T, *mut T, usize),
    /// Makes adjacent elements 0.
    ///
    /// # Safety
    /// As many are valid.
    pub(super) clear: unsafe fn(*mut T, usize),
}

/// See [`Gradients::of_a`].
pub(super) type OfA<T> = unsafe fn(&Size, *const T, *const T, *mut T);

/// Both are for the size that they were chosen for.
///
/// # Safety
/// The matrices are valid, all elements of each are adjacent, and the shadows overlap neither each other nor what is read.
pub(super) struct Gradients<T> {
    /// Ȧ += Ċ·Bᵀ, given Ċ, B, Ȧ.
    pub(super) of_a: OfA<T>,
    /// Ḃ += Aᵀ·Ċ and Ċ ← 0, given A, Ċ, Ḃ; and something else is copied.
    pub(super) of_b: unsafe fn(&Size, *const T, *mut T, *mut T, Copied<T>),
}

/// Adjacent elements that are copied while other things are computed.
pub(super) struct Copied<T> {
    pub(super) from: *const T,
    pub(super) to: *mut T,
    pub(super) len: usize,
}

/// Sizes and strides of a matrix.
type Form = [isize; 4];

/// The kernels for a small product C ← A·B whose matrices have adjacent elements in each row, as ndarray's have by default.
pub(super) struct Planned<T: 'static> {
    /// Of C, A and B.
    forms: [Form; 3],
    chosen: Option<Chosen<T>>,
}

struct Chosen<T: 'static> {
    size: Size,
    kernels: Kernels<T>,
    /// To be computed again; its pointers are those of the last time.
    product: Product<'static, T>,
}

// SAFETY: nobody follows the pointers before they are replaced.
unsafe impl<T: Send> Send for Chosen<T> {}

impl<T> Default for Planned<T> {
    fn default() -> Self {
        Planned { forms: [[0; 4]; 3], chosen: None }
    }
}

impl<T: MatrixScalar> Planned<T> {
    /// Computes C ← A·B and writes what C held to `keep`, if that is what was planned. The same kernels compute it as
    /// [`multiply`](super::backend::multiply) chooses, so that the bits are the same.
    #[inline(always)]
    pub(super) fn product(
        &mut self,
        c: &mut ArrayRef2<T>,
        a: &ArrayRef2<T>,
        b: &ArrayRef2<T>,
        keep: Option<&mut [T]>,
    ) -> bool {
        let Some(Chosen { kernels, product, .. }) = &mut self.chosen else { return false };
        if !self.forms.iter().zip([form(c), form(a), form(b)]).all(|(planned, form)| same(planned, form)) {
            return false;
        }
        assert!(keep.as_ref().is_none_or(|keep| keep.len() == c.len()), "room for C");
        product.a.pointer = b.as_ptr().cast_mut();
        product.b.pointer = a.as_ptr().cast_mut();
        product.c.pointer = c.as_mut_ptr();
        product.keep = keep.map(|place| NonNull::from(place).cast());
        // SAFETY: the kernel was chosen for matrices of these forms, and the shapes fit. C is borrowed uniquely and does
        // not overlap itself.
        unsafe { (kernels.product)(product) }
        true
    }

    /// Chooses for C ← A·B, of which the shapes fit.
    #[inline(never)]
    pub(super) fn plan(&mut self, c: &mut ArrayRef2<T>, a: &ArrayRef2<T>, b: &ArrayRef2<T>) {
        self.forms = [form(c), form(a), form(b)];
        self.chosen = None;
        let size @ Size { m, n, k } = Size { m: c.nrows(), n: c.ncols(), k: a.ncols() };
        let adjacent = self.forms.iter().all(|&[.., rows, columns]| columns == 1 && rows > 0);
        // With a single row or column a stride means nothing, and there is little to gain.
        if adjacent && m > 1 && n > 1 && k > 0 && c.strides()[0] > 1 {
            // Cᵀ ← Bᵀ·Aᵀ, which is canonical.
            let product = Product {
                alpha: T::ONE,
                a: Operand::read(b).t().anywhere(),
                b: Operand::read(a).t().anywhere(),
                beta: T::ZERO,
                c: Operand::write(c).t().anywhere(),
                keep: None,
            };
            if SmallPlan::direct(&product) {
                self.chosen = T::kernels(&product).map(|kernels| Chosen { size, kernels, product });
            }
        }
        let dense = self.forms.iter().all(|&[_, columns, row_stride, _]| row_stride == columns);
        if let (false, Some(chosen)) = (dense, &mut self.chosen) {
            chosen.kernels.gradients = None;
        }
    }

    /// Brings back what [`product`](Planned::product) has kept, if that is what was planned and anything was kept.
    #[inline(always)]
    pub(super) fn restore(&self, c: &mut ArrayRef2<T>, kept: &[T]) -> bool {
        let Some(Chosen { kernels, .. }) = &self.chosen else { return false };
        let [rows, columns, row_stride, column_stride] = form(c);
        if row_stride != columns || column_stride != 1 || kept.len().cast_signed() != rows * columns {
            return false;
        }
        // SAFETY: both have as many elements, all of them adjacent, and C is borrowed uniquely.
        unsafe { (kernels.copy)(kept.as_ptr(), c.as_mut_ptr(), kept.len()) }
        true
    }

    /// Ȧ += Ċ·Bᵀ and Ḃ += Aᵀ·Ċ, or = instead of += where it is said that a shadow is overwritten, each of them if there is a
    /// shadow; then Ċ ← 0, unless C is overwritten, and C becomes what was kept, if anything was. All of that, or nothing if there are no kernels for it.
    ///
    /// # Safety
    /// Shadows overlap no primal, and Ċ not the others. Ȧ and Ḃ may be the same cells.
    #[inline(always)]
    pub(super) unsafe fn gradients(
        &self,
        (c, dc, overwrites_c): (&mut ArrayRef2<T>, Cells<'_, T>, bool),
        (a, da, overwrites_a): (&ArrayRef2<T>, Option<Cells<'_, T>>, bool),
        (b, db, overwrites_b): (&ArrayRef2<T>, Option<Cells<'_, T>>, bool),
        kept: &[T],
    ) -> bool {
        let Some(Chosen { size, kernels, .. }) = &self.chosen else { return false };
        let Some(Gradients { of_a, of_b }) = &kernels.gradients else { return false };
        let size @ &Size { m, n, k } = size;
        let [form_c, form_a, form_b] = &self.forms;
        let fit = same(form_c, form(c))
            && same(form_c, form(&dc))
            && same(form_a, form(a))
            && same(form_b, form(b))
            && da.is_none_or(|da| same(form_a, form(&da)))
            && db.is_none_or(|db| same(form_b, form(&db)))
            && (kept.is_empty() || kept.len() == m * n);
        if !fit {
            return false;
        }
        let (a, b, dc) = (a.as_ptr(), b.as_ptr(), pointer(dc));
        let copied = Copied { from: kept.as_ptr(), to: c.as_mut_ptr(), len: kept.len() };
        // SAFETY: the kernels were chosen for matrices of these forms, all of whose elements are adjacent; what was kept has as
        // many as C, which is borrowed uniquely. The rest is up to the caller.
        unsafe {
            if let Some(da) = da.map(pointer) {
                if overwrites_a {
                    (kernels.clear)(da, m * k);
                }
                of_a(size, dc, b, da);
            }
            if let Some(db) = db.map(pointer) {
                if overwrites_b {
                    (kernels.clear)(db, k * n);
                }
                of_b(size, a, dc, db, copied);
            } else {
                (kernels.copy)(copied.from, copied.to, copied.len);
                if !overwrites_c {
                    (kernels.clear)(dc, m * n);
                }
            }
        }
        true
    }
}

/// The cells of a shadow.
type Cells<'a, T> = ArrayView2<'a, MathCell<T>>;

#[inline(always)]
fn pointer<T>(cells: Cells<'_, T>) -> *mut T {
    // A `MathCell` is a transparent `Cell`, which is a transparent `UnsafeCell`.
    cells.as_ptr().cast_mut().cast()
}

#[inline(always)]
fn same(planned: &Form, form: Form) -> bool {
    // Without branches, which are more work than the rest of the comparison.
    planned.iter().zip(form).fold(0, |differences, (planned, here)| differences | (planned ^ here)) == 0
}

#[inline(always)]
fn form<T>(matrix: &ArrayRef2<T>) -> Form {
    let ((rows, columns), strides) = (matrix.dim(), matrix.strides());
    [rows.cast_signed(), columns.cast_signed(), strides[0], strides[1]]
}
