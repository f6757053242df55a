//! An allocator that counts.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, which also counts how often each thread allocates.
///
/// Install it in a test binary to have [`check_rule`](super::check_rule) and [`check_gradient`](super::check_gradient)
/// assert that a second call allocates nothing:
///
/// ```
/// use pullback::testing::{CountingAllocator, allocations_in};
///
/// #[global_allocator]
/// static ALLOCATOR: CountingAllocator = CountingAllocator;
///
/// let mut v = Vec::with_capacity(2);
/// assert_eq!(allocations_in(|| v.extend([1, 2])), ((), 0));
/// assert_eq!(allocations_in(|| v.push(3)), ((), 1));
/// ```
///
/// Threads are counted apart, because tests run side by side. What a rule allocates on threads of its own is therefore
/// not seen.
#[derive(Clone, Copy, Debug, Default)]
pub struct CountingAllocator;

/// What a thread has asked of the allocator. Growing or shrinking in place counts as an allocation and a deallocation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allocations {
    /// How often it allocated.
    pub allocations: usize,
    /// How often it gave memory back.
    pub deallocations: usize,
    /// How many bytes it asked for, those given back included.
    pub bytes: usize,
    /// How many bytes it gave back.
    pub bytes_back: usize,
}

impl Allocations {
    /// How many bytes it has asked for and not given back: less than none where it gave back what another one asked for.
    pub fn held(&self) -> isize {
        self.bytes.wrapping_sub(self.bytes_back).cast_signed()
    }
}

thread_local! {
    // Initialised at compile time and without a destructor: using it never allocates, at no time of a thread's life.
    static COUNT: Cell<Allocations> =
        const { Cell::new(Allocations { allocations: 0, deallocations: 0, bytes: 0, bytes_back: 0 }) };
}

fn allocated(bytes: usize) {
    COUNT.with(|count| {
        let old = count.get();
        count.set(Allocations {
            allocations: old.allocations + 1,
            bytes: old.bytes.wrapping_add(bytes),
            ..old
        });
    });
}

fn deallocated(bytes: usize) {
    COUNT.with(|count| {
        let old = count.get();
        count.set(Allocations {
            deallocations: old.deallocations + 1,
            bytes_back: old.bytes_back.wrapping_add(bytes),
            ..old
        });
    });
}

// SAFETY: every request goes to `System` unchanged; counting neither allocates nor unwinds.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        allocated(layout.size());
        // SAFETY: the caller keeps the contract of `GlobalAlloc`, which is that of `System`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        allocated(layout.size());
        // SAFETY: as in `alloc`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        deallocated(layout.size());
        allocated(size);
        // SAFETY: as in `alloc`; `pointer` came from `System`, since all memory does.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        deallocated(layout.size());
        // SAFETY: as in `realloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

impl CountingAllocator {
    /// Whether it is the global allocator of this program; if it is not, all counts stay zero.
    pub fn is_installed() -> bool {
        // Optimisation may remove an allocation that nobody looks at.
        allocations_in(|| drop(std::hint::black_box(Box::new(0_u8)))).1 > 0
    }

    /// What the current thread has asked for since it started.
    pub fn so_far() -> Allocations {
        COUNT.get()
    }
}

/// Calls `f`, and says how often it allocated on the current thread: zero, unless [`CountingAllocator`] is installed.
pub fn allocations_in<T>(f: impl FnOnce() -> T) -> (T, usize) {
    let before = CountingAllocator::so_far().allocations;
    let result = f();
    (result, CountingAllocator::so_far().allocations - before)
}
