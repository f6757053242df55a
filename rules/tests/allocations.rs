//! From the second call on, nothing is allocated.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use ndarray::Array2;
use pullback_rules::{Args, Cotangent, Ignored, Rule, Shadow, Shadows, Trans, gemm, mul_into};

/// Counts the allocations of each thread.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: the system's allocator does it all.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: as the caller guarantees.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller guarantees.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(f: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.get();
    f();
    ALLOCATIONS.get() - before
}

const SIZES: [(usize, usize, usize); 4] = [(2, 3, 4), (16, 8, 32), (40, 50, 60), (130, 1, 300)];

#[test]
fn mul_into_allocates_once() {
    for (m, n, k) in SIZES {
        let (a, b) = (Array2::<f64>::ones((m, k)), Array2::<f64>::ones((k, n)));
        let (mut c, mut da, mut db, mut dc) =
            (Array2::zeros((m, n)), a.clone(), b.clone(), Array2::ones((m, n)));
        let mut rule = mul_into::rule();
        let mut call = || {
            rule.forward(mul_into::args(&mut c, &a, &b));
            let shadows: Shadows<'_, mul_into<f64>> =
                (Shadow::new(dc.cell_view()), Shadow::new(da.cell_view()), Shadow::new(db.cell_view()));
            let args: Args<'_, mul_into<f64>> = mul_into::args(&mut c, &a, &b);
            let seed: Cotangent<mul_into<f64>> = ();
            rule.pullback((), args, shadows, seed);
        };
        let first = allocations(&mut call);
        assert!(first > 0, "the test counts nothing");
        assert_eq!(allocations(&mut call), 0, "{m}×{n}×{k}");
        assert_eq!(allocations(|| mul_into(&mut c, &a, &b)), 0, "{m}×{n}×{k}");
    }
}

#[test]
fn gemm_allocates_once() {
    for (m, n, k) in SIZES {
        // Everything is transposed.
        let (a, b) = (Array2::<f32>::ones((k, m)), Array2::<f32>::ones((n, k)));
        let mut c = Array2::zeros((m, n));
        let (mut da, mut db, mut dc) = (a.clone(), b.clone(), Array2::ones((m, n)));
        let mut rule = gemm::rule();
        let mut call = || {
            rule.forward(gemm::args(Trans::Yes, Trans::Yes, 2.0, &a, &b, 0.5, &mut c));
            let (da, db, dc) =
                (Shadow::new(da.cell_view()), Shadow::new(db.cell_view()), Shadow::new(dc.cell_view()));
            let args = gemm::args(Trans::Yes, Trans::Yes, 2.0, &a, &b, 0.5, &mut c);
            rule.pullback((), args, (Ignored, Ignored, Ignored, da, db, Ignored, dc), ());
        };
        call();
        assert_eq!(allocations(&mut call), 0, "{m}×{n}×{k}");
        assert_eq!(allocations(|| gemm(Trans::Yes, Trans::Yes, 2.0, &a, &b, 0.5, &mut c)), 0, "{m}×{n}×{k}");
    }
}
