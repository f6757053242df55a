//! A product that is computed again and again: what computes it is chosen when its sizes and strides are first seen.

use std::ptr::NonNull;

use ndarray::ArrayRef2;

use super::backend::{MatrixScalar, Product, SmallPlan};
use super::operand::Operand;

/// C is m×n, A is m×k, B is k×n.
#[derive(Clone, Copy)]
pub(super) struct Size {
    pub(super) m: usize,
    pub(super) n: usize,
    pub(super) k: usize,
}

/// A matrix with adjacent elements in each row: where it begins and how far its rows are apart.
pub(super) type Rows<T> = (*mut T, isize);

/// The kernels for one size, which the machine has the instructions for.
pub(super) struct Kernels<T> {
    /// Computes a canonical product of the sizes and strides that this was chosen for.
    ///
    /// # Safety
    /// As for `MatMul::run`.
    pub(super) product: unsafe fn(&Product<'_, T>),
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

/// Both are for the size that they were chosen for.
///
/// # Safety
/// The matrices are valid, the last one for writes; it does not overlap itself or the others.
pub(super) struct Gradients<T> {
    /// Ȧ += Ċ·Bᵀ, given Ċ, B, Ȧ.
    pub(super) of_a: unsafe fn(&Size, Rows<T>, Rows<T>, Rows<T>),
    /// Ḃ += Aᵀ·Ċ and Ċ ← 0, given A, Ċ, Ḃ; and something else is copied.
    pub(super) of_b: GradientOfB<T>,
}

type GradientOfB<T> = unsafe fn(&Size, Rows<T>, Rows<T>, Rows<T>, Copied<T>);

/// Adjacent elements that are copied while other things are computed.
pub(super) struct Copied<T> {
    pub(super) from: *const T,
    pub(super) to: *mut T,
    pub(super) len: usize,
}

/// Sizes and strides of a matrix.
type Form = ((usize, usize), [isize; 2]);

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
        Planned { forms: [((0, 0), [0; 2]); 3], chosen: None }
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
        if self.forms != [form(c), form(a), form(b)] {
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
        let [((m, n), c_strides), ((_, k), a_strides), (_, b_strides)] = self.forms;
        let adjacent =
            [c_strides, a_strides, b_strides].iter().all(|&[rows, columns]| columns == 1 && rows > 0);
        self.chosen = None;
        // With a single row or column a stride means nothing, and there is little to gain.
        if adjacent && m > 1 && n > 1 && k > 0 && c_strides[0] > 1 {
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
                self.chosen =
                    T::kernels(&product).map(|kernels| Chosen { size: Size { m, n, k }, kernels, product });
            }
        }
    }

    /// Brings back what [`product`](Planned::product) has kept, if that is what was planned.
    #[inline(always)]
    pub(super) fn restore(&self, c: &mut ArrayRef2<T>, kept: &[T]) -> bool {
        let (Some(Chosen { kernels, .. }), Some(Copied { from, to, len })) = (&self.chosen, copied(c, kept))
        else {
            return false;
        };
        // SAFETY: both have as many elements, all of them adjacent, and C is borrowed uniquely.
        unsafe { (kernels.copy)(from, to, len) }
        true
    }

    /// Ȧ += Ċ·Bᵀ, if there is a kernel for that.
    ///
    /// # Safety
    /// The operands are valid for their lifetimes, `da` for writes, and does not overlap the others.
    #[inline(always)]
    pub(super) unsafe fn gradient_of_a(
        &self,
        dc: Operand<'_, T>,
        b: Operand<'_, T>,
        da: Operand<'_, T>,
    ) -> bool {
        let Some(Chosen { size, kernels: Kernels { gradients: Some(kernels), .. }, .. }) = &self.chosen
        else {
            return false;
        };
        let &Size { m, n, k } = size;
        let (Some(dc), Some(b), Some(da)) = (rows(dc, m, n), rows(b, k, n), rows(da, m, k)) else {
            return false;
        };
        // SAFETY: the kernel was chosen for these shapes; the rest is up to the caller.
        unsafe { (kernels.of_a)(size, dc, b, da) }
        true
    }

    /// Ḃ += Aᵀ·Ċ, Ċ ← 0, and C becomes what was kept, if anything was; if there is a kernel for all of that.
    ///
    /// # Safety
    /// The operands are valid for their lifetimes, `dc` and `db` for writes; these overlap neither each other nor the others.
    #[inline(always)]
    pub(super) unsafe fn gradient_of_b(
        &self,
        a: Operand<'_, T>,
        dc: Operand<'_, T>,
        db: Operand<'_, T>,
        c: &mut ArrayRef2<T>,
        kept: &[T],
    ) -> bool {
        let Some(Chosen { size, kernels: Kernels { gradients: Some(kernels), .. }, .. }) = &self.chosen
        else {
            return false;
        };
        let &Size { m, n, k } = size;
        let (Some(a), Some(dc), Some(db), Some(copied)) =
            (rows(a, m, k), rows(dc, m, n), rows(db, k, n), copied(c, kept))
        else {
            return false;
        };
        // SAFETY: the kernel was chosen for these shapes; what was kept has as many elements as C, all of them adjacent, and C
        // is borrowed uniquely; the rest is up to the caller.
        unsafe { (kernels.of_b)(size, a, dc, db, copied) }
        true
    }

    /// Ċ ← 0, if there is a kernel for that.
    ///
    /// # Safety
    /// The operand is valid for writes.
    #[inline(always)]
    pub(super) unsafe fn clear(&self, dc: Operand<'_, T>) -> bool {
        let Some(Chosen { kernels, .. }) = &self.chosen else { return false };
        if dc.column_stride != 1 || dc.row_stride != dc.columns.cast_signed() {
            return false;
        }
        // SAFETY: all elements are adjacent.
        unsafe { (kernels.clear)(dc.pointer, dc.rows * dc.columns) }
        true
    }
}

/// A matrix that has this shape, adjacent elements in each row and no element in two rows.
#[inline(always)]
fn rows<T>(of: Operand<'_, T>, rows: usize, columns: usize) -> Option<Rows<T>> {
    let fits = of.rows == rows
        && of.columns == columns
        && of.column_stride == 1
        && of.row_stride >= columns.cast_signed();
    fits.then_some((of.pointer, of.row_stride))
}

/// C becomes what was kept, if its elements are adjacent; if nothing was kept, nothing is copied.
#[inline(always)]
fn copied<T>(c: &mut ArrayRef2<T>, kept: &[T]) -> Option<Copied<T>> {
    let ((rows, columns), strides) = form(c);
    let fits = strides == [columns.cast_signed(), 1] && kept.len() == rows * columns;
    (fits || kept.is_empty()).then(|| Copied { from: kept.as_ptr(), to: c.as_mut_ptr(), len: kept.len() })
}

#[inline(always)]
fn form<T>(matrix: &ArrayRef2<T>) -> Form {
    let strides = matrix.strides();
    (matrix.dim(), [strides[0], strides[1]])
}
