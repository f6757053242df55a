//! C ← A·B

use ndarray::{Array2, ArrayRef2};

use crate::activation::{Dual, DualMut};
use crate::blas::backend::{MatrixScalar, SmallPlan, accumulate, multiply, replace, restore, scale};
use crate::blas::cases::{Allocates, Case, LAYOUTS, Layout, Random};
use crate::blas::operand::Operand;
use crate::blas::planned::Planned;
use crate::heap::heap_size;
use crate::saved::Saved;

/// *C ← A·B*, for *A* m×k, *B* k×n and *C* m×n.
///
/// The matrices may have any layout: row- or column-major, transposed, sliced, reversed; *A* and *B* may be broadcast. What
/// *C* held is not read, so that it may be anything. If k is 0, *C* becomes 0. Nothing is allocated.
///
/// ```
/// use ndarray::{Array2, array};
/// use pullback_rules::mul_into;
///
/// let a = array![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]];
/// let b = array![[1.0, 0.0], [1.0, 2.0]];
/// let mut c = Array2::zeros((3, 2));
/// mul_into(&mut c, &a, &b);
/// assert_eq!(c, array![[3.0, 4.0], [7.0, 8.0], [11.0, 12.0]]);
/// ```
///
/// # Gradient
/// With *Ċ* for the gradient with respect to *C*: *Ȧ += Ċ·Bᵀ*, *Ḃ += Aᵀ·Ċ*, *Ċ ← 0* (Giles, *Collected matrix derivative
/// results for forward and reverse mode algorithmic differentiation*, 2008, section 2.2.2).
///
/// # Panics
/// If the shapes do not fit.
#[inline]
pub fn mul_into<T: MatrixScalar>(c: &mut ArrayRef2<T>, a: &ArrayRef2<T>, b: &ArrayRef2<T>) {
    run(&mut SmallPlan::default(), c, a, b, None);
}

#[inline(never)]
fn run<T: MatrixScalar>(
    plan: &mut SmallPlan<T>,
    c: &mut ArrayRef2<T>,
    a: &ArrayRef2<T>,
    b: &ArrayRef2<T>,
    keep: Option<&mut [T]>,
) {
    let ((m, k), (l, n)) = (a.dim(), b.dim());
    if k != l || c.dim() != (m, n) {
        mismatch(c.dim(), (m, k), (l, n));
    }
    // SAFETY: `c` is borrowed uniquely and, being mutable, does not overlap itself.
    unsafe {
        multiply(plan, T::ONE, Operand::read(a), Operand::read(b), T::ZERO, Operand::write(c), keep);
    }
}

#[cold]
#[track_caller]
fn mismatch(c: (usize, usize), a: (usize, usize), b: (usize, usize)) -> ! {
    if a.1 != b.0 {
        panic!("mul_into: A is {}×{} but B is {}×{}", a.0, a.1, b.0, b.1);
    }
    panic!("mul_into: A·B is {}×{} but C is {}×{}", a.0, b.1, c.0, c.1);
}

/// C ← A·B
#[derive(pullback_macros::Rule, Default)]
#[rule(pub fn mul_into<T: MatrixScalar>(c: &mut ArrayRef2<T>, a: &ArrayRef2<T>, b: &ArrayRef2<T>))]
pub struct MulInto<T: MatrixScalar> {
    #[rule(restores = c)]
    old_c: Saved<T>,
    /// What the sizes of the last call allow.
    planned: Planned<T>,
    /// For the products that give C, Ȧ and Ḃ otherwise.
    plans: [SmallPlan<T>; 3],
    #[rule(overwrites = a)]
    overwrites_a: bool,
    #[rule(overwrites = b)]
    overwrites_b: bool,
    #[rule(overwrites = c)]
    overwrites_c: bool,
}

impl<T: MatrixScalar> MulInto<T> {
    pub(crate) fn forgo(&mut self) {
        self.old_c.forgo();
    }

    #[inline]
    pub(crate) fn forward(&mut self, c: &mut ArrayRef2<T>, a: &ArrayRef2<T>, b: &ArrayRef2<T>) {
        let mut keep = self.old_c.buffer_to_restore(c.len(), T::ZERO);
        if !self.planned.product(c, a, b, keep.as_deref_mut()) {
            run(&mut self.plans[0], c, a, b, keep);
            self.planned.plan(c, a, b);
        }
    }

    #[inline]
    pub(crate) fn pullback(
        &mut self,
        c: DualMut<'_, ArrayRef2<T>>,
        a: Dual<'_, ArrayRef2<T>>,
        b: Dual<'_, ArrayRef2<T>>,
    ) {
        let MulInto { old_c, planned, plans: [_, plan_a, plan_b], .. } = self;
        let (overwrites_a, overwrites_b, overwrites_c) =
            (self.overwrites_a, self.overwrites_b, self.overwrites_c);
        // Nothing, where it was forgone.
        let old_c = old_c.take().unwrap_or_default();
        // SAFETY: no shadow overlaps a primal, and the shadow of C none of the others. Those of A and B may be the same
        // cells, and are updated one after the other.
        unsafe {
            if let Some(dc) = c.shadow.get() {
                let (da, db) = (a.shadow.get(), b.shadow.get());
                let (of_a, of_b) = ((a.value, da, overwrites_a), (b.value, db, overwrites_b));
                if planned.gradients((c.value, dc, overwrites_c), of_a, of_b, old_c) {
                    return;
                }
                let (a, b, dc) = (Operand::read(a.value), Operand::read(b.value), Operand::cells(dc));
                let da = da.map(|da| (Operand::cells(da), overwrites_a));
                let db = db.map(|db| (Operand::cells(db), overwrites_b));
                add_gradients([plan_a, plan_b], [a, b, dc], da, db);
                if !overwrites_c {
                    scale(T::ZERO, dc);
                }
            }
        }
        if !old_c.is_empty() && !planned.restore(c.value, old_c) {
            restore_any(c.value, old_c);
        }
    }
}

#[inline(never)]
fn restore_any<T: MatrixScalar>(c: &mut ArrayRef2<T>, old_c: &[T]) {
    // SAFETY: `c` is borrowed uniquely and, being mutable, does not overlap itself.
    unsafe { restore(Operand::write(c), old_c) }
}

/// *Ȧ += Ċ·Bᵀ*, *Ḃ += Aᵀ·Ċ* for A, B and Ċ of any layout; and whether the gradients replace what a shadow holds.
///
/// # Safety
/// As for [`Planned::gradients`].
#[inline(never)]
unsafe fn add_gradients<T: MatrixScalar>(
    [plan_a, plan_b]: [&mut SmallPlan<T>; 2],
    [a, b, dc]: [Operand<'_, T>; 3],
    da: Option<(Operand<'_, T>, bool)>,
    db: Option<(Operand<'_, T>, bool)>,
) {
    // SAFETY: as the caller guarantees.
    unsafe {
        if let Some((da, overwrites)) = da {
            add(plan_a, dc, b.t(), overwrites, da);
        }
        if let Some((db, overwrites)) = db {
            add(plan_b, a.t(), dc, overwrites, db);
        }
    }
}

/// *C += A·B* or *C ← A·B* for a shadow *C*.
///
/// # Safety
/// As for [`accumulate`].
unsafe fn add<T: MatrixScalar>(
    plan: &mut SmallPlan<T>,
    a: Operand<'_, T>,
    b: Operand<'_, T>,
    overwrites: bool,
    c: Operand<'_, T>,
) {
    // SAFETY: as the caller guarantees.
    unsafe {
        match overwrites {
            true => replace(plan, T::ONE, a, b, c),
            false => accumulate(plan, T::ONE, a, b, c),
        }
    }
}

/// What tests and benchmarks call it on.
pub fn case<T: MatrixScalar>() -> Case<(Array2<T>, Array2<T>, Array2<T>)> {
    let random = &mut Random::new();
    let mut inputs = Vec::new();
    for variant in 0..16 {
        let (m, n, k) =
            [(2, 3, 4), (1, 1, 1), (20, 1, 2), (0, 2, 2), (17, 16, 17), (3, 3, 0), (4, 40, 3)][variant % 7];
        let c = random.matrix((m, n), LAYOUTS[(variant / 3 + 1) % 4]);
        let a = random.matrix((m, k), LAYOUTS[variant % 4]);
        inputs.push((c, a, random.matrix((k, n), LAYOUTS[variant / 4])));
    }
    let mut matrices = |shapes: [(usize, usize); 3]| {
        let [c, a, b] = shapes.map(|shape| random.matrix(shape, Layout::C));
        (c, a, b)
    };
    Case {
        name: "mul_into",
        allocates: Allocates::Once,
        inputs,
        panicking: vec![matrices([(2, 3), (2, 3), (2, 3)]), matrices([(3, 2), (2, 2), (2, 3)])],
        sizes: &[4, 8, 16, 32, 128, 512],
        sized: |n| {
            let random = &mut Random::new();
            let [c, a, b] = [(); 3].map(|()| random.matrix((n, n), Layout::C));
            (c, a, b)
        },
    }
}

heap_size! { [T: MatrixScalar] MulInto<T> { old_c } }
