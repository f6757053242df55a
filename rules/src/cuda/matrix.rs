//! Products of matrices on a device, by cuBLAS.

use ndarray::{Ix2, Ix3};

use super::array::{Backup, DeviceArray, DeviceRef};
use super::deferred::{Access, Reach};
use super::device::Device;
use super::driver::{Gemm, LtMatmul, Planned};
use super::planning::Planning;
use super::{epilogue, run};
use crate::fused::operand::{Owner, Place};
use crate::fused::{Array, Real};
use crate::heap::heap_size;
use crate::matrices::{Factor, Fused, Matrices, Matrix, Multiply, Read, Stack, Update, terms};
use crate::{Dual, DualMut, MatrixScalar, Trans};

/// What cuBLAS is asked for, one after the other, in place of *Cᵢ ← α·Aᵢ·Bᵢ + β·Cᵢ*, for matrices whose elements are adjacent in each row or
/// in each column.
///
/// cuBLAS takes all of them to be stored by columns: of a matrix that is stored by rows it sees the transpose.
fn requests<'a, T: Real>(
    alpha: T,
    a: Stack<'a, T>,
    b: Stack<'a, T>,
    beta: T,
    c: Stack<'a, T>,
) -> impl Iterator<Item = Gemm> + use<'a, T> {
    let [a, b, c] = joined(a, b, c);
    // Cᵀ = Bᵀ·Aᵀ, if C is stored by rows.
    let (a, b, c) = if columns(c).is_some() { (a, b, c) } else { (b.t(), a.t(), c.t()) };
    let [(ta, lda), (tb, ldb), (_, ldc)] =
        [a, b, c].map(|stack| operand(stack).unwrap_or_else(|| panic!("a matrix has gaps along both axes")));
    let ((count, m, n), (_, _, k)) = (c.shape(), a.shape());
    // Products that are added up are one request each.
    let each = if count == 1 { terms(a, b, c) } else { 1 };
    (0..each).map(move |i| Gemm {
        double: size_of::<T>() == 8,
        transposed: [ta, tb],
        m,
        n,
        k,
        alpha: run::bits(alpha),
        beta: run::bits(if i > 0 { T::of(1.0) } else { beta }),
        starts: [a, b, c].map(|stack| stack.start(i).addr() as u64),
        leading: [lda, ldb, ldc],
        count,
        // The same matrix again and again is no distance away.
        apart: [a, b, c].map(|stack| match stack.shape().0 {
            1 => 0,
            _ => stack.place.strides[0] as usize,
        }),
    })
}

/// One product in place of many, where memory allows it: their sum is that of the matrices side by side, *[A₁ A₂ …]·[B₁ B₂ …]ᵀ*; with the same *B*
/// for all, those of *A* are one below the other, and with the same *A* those of *B* side by side.
fn joined<'a, T: Real>(a: Stack<'a, T>, b: Stack<'a, T>, c: Stack<'a, T>) -> [Stack<'a, T>; 3] {
    let joined = match [a, b, c].map(|stack| stack.shape().0 == 1) {
        [false, false, true] => join(a, 2).zip(join(b, 1)).map(|(a, b)| [a, b, c]),
        [false, true, false] => join(a, 1).zip(join(c, 1)).map(|(a, c)| [a, b, c]),
        [true, false, false] => join(b, 2).zip(join(c, 2)).map(|(b, c)| [a, b, c]),
        _ => None,
    };
    joined.unwrap_or([a, b, c])
}

/// The matrices as one, next to each other along `axis`.
fn join<'a, T: Real>(stack: Stack<'a, T>, axis: usize) -> Option<Stack<'a, T>> {
    let mut one = stack;
    let (lengths, strides) = (&mut one.place.lengths, &mut one.place.strides);
    if lengths[axis] == 1 {
        strides[axis] = strides[0];
    }
    if strides[0] != lengths[axis] as isize * strides[axis] {
        return None;
    }
    lengths[axis] *= lengths[0];
    lengths[0] = 1;
    let countable = i32::try_from(lengths[axis]).is_ok();
    (countable && (columns(one).is_some() || columns(one.t()).is_some())).then_some(one)
}

/// Whether a matrix is to be transposed, and how far its columns are apart, or those of the transpose; `None` if it has gaps along both axes.
pub(super) fn operand<T: Real>(stack: Stack<'_, T>) -> Option<(bool, usize)> {
    let by_columns = columns(stack);
    Some((by_columns.is_none(), by_columns.or_else(|| columns(stack.t()))?))
}

/// How far the columns of each matrix are apart, if its elements are adjacent in each column; `None` if they are not.
pub(super) fn columns<T: Real>(stack: Stack<'_, T>) -> Option<usize> {
    let ((_, rows, columns), [_, down, along, ..]) = (stack.shape(), stack.place.strides);
    let least = rows.max(1) as isize;
    let apart = if columns <= 1 { least } else { along };
    ((rows <= 1 || down == 1) && apart >= least).then_some(apart as usize)
}

/// What products of one shape keep: memory for one, and what cuBLASLt has planned.
#[derive(Default)]
pub struct Room {
    memory: Backup,
    plans: Planning<LtMatmul, dyn Planned>,
}

heap_size! { [] Room { memory } }

impl Device {
    /// # Panics
    /// If one of the places is somewhere else.
    pub(super) fn check<T: Real, const N: usize>(&self, places: [Place<T>; N]) {
        let elsewhere = |place: &Place<T>| place.owner != Owner::Device(self.identity());
        if places.iter().any(|place| elsewhere(place) && place.lengths().iter().all(|n| *n > 0)) {
            run::failed(super::Error::OtherDevice)
        }
    }
}

/// What a product reads, and writes.
fn accesses<T>([a, b, c]: [Stack<'_, T>; 3]) -> [Access; 3] {
    let [a, b, c] = [a, b, c].map(|stack| Reach::of(&stack.place));
    [Access::Read(a), Access::Read(b), Access::Write(c)]
}

impl<T: Real + MatrixScalar> Multiply<T> for Device {
    type Room = Room;

    #[allow(private_interfaces, reason = "nobody else implements it")]
    unsafe fn multiply(
        &self,
        _: &mut Room,
        alpha: T,
        a: Stack<'_, T>,
        b: Stack<'_, T>,
        beta: T,
        c: Stack<'_, T>,
    ) {
        self.check([a, b, c].map(|stack| stack.place));
        if alpha == T::ZERO || a.len() == 0 || b.len() == 0 {
            // SAFETY: as the caller guarantees.
            return unsafe { self.scale(beta, c) };
        }
        if c.len() > 0 {
            let (accesses, all_of_c) = (accesses([a, b, c]), Reach::whole(&c.place));
            let beta = match all_of_c {
                Some(c) if beta == T::ONE && self.take_zeros(c) => T::ZERO,
                _ => beta,
            };
            let driver = self.driver_for(accesses.into_iter()).unwrap_or_else(run::failed);
            for request in requests(alpha, a, b, beta, c) {
                driver.gemm(&request).unwrap_or_else(run::failed);
            }
        }
    }

    #[allow(private_interfaces, reason = "nobody else implements it")]
    unsafe fn multiply_at_once(&self, room: &mut Room, product: Fused<'_, T>) -> bool {
        let Fused { a, b, beta, c, d, epilogue } = product;
        // What would be added to nothing but zeros is written.
        let cleared = Reach::whole(&d.place).filter(|reach| {
            let in_place = c.place.start == d.place.start && c.place.strides == d.place.strides;
            beta == T::ONE && in_place && self.take_zeros(*reach)
        });
        let beta = if cleared.is_some() { T::ZERO } else { beta };
        let find = |request: &LtMatmul| self.driver().plan(request);
        let plan = epilogue::request(&Fused { beta, ..product })
            .and_then(|request| Some((request, room.plans.of(self, request.kind(), || find(&request))?)));
        let Some((request, plan)) = plan else {
            if let Some(reach) = cleared {
                self.zero(reach).unwrap_or_else(run::failed);
            }
            return false;
        };
        self.check([a.place, b.place, c.place, d.place, epilogue.vector()]);
        let vectors = epilogue.places().map(|place| Access::Write(Reach::of(&place)));
        let read = Access::Read(Reach::of(&c.place));
        let all = accesses([a, b, d]).into_iter().chain(vectors).chain([read]);
        let _turn = self.driver_for(all).unwrap_or_else(run::failed);
        plan.run(&request).unwrap_or_else(run::failed);
        true
    }

    #[allow(private_interfaces, reason = "nobody else implements it")]
    unsafe fn inner(&self, x: Stack<'_, T>, y: Stack<'_, T>) -> T {
        if x.len() == 0 { T::ZERO } else { run::inner(self, x.place, y.place) }
    }

    #[allow(private_interfaces, reason = "nobody else implements it")]
    unsafe fn scale(&self, alpha: T, x: Stack<'_, T>) {
        if x.len() == 0 || alpha == T::ONE {
        } else if alpha == T::ZERO {
            run::fill(self, x.place, alpha);
        } else {
            run::scale(self, x.place, alpha, x.place, false);
        }
    }

    #[allow(private_interfaces, reason = "nobody else implements it")]
    unsafe fn by_product(
        &self,
        room: &mut Room,
        alpha: T,
        [a, b]: [Stack<'_, T>; 2],
        x: Stack<'_, T>,
        shadow: Option<Stack<'_, T>>,
    ) -> T {
        if x.len() == 0 {
            return T::ZERO;
        }
        let start = room.memory.room(self, x.len() * size_of::<T>()) as usize;
        let mut product = Stack::packed(std::ptr::without_provenance_mut(start), x.shape());
        product.place.owner = Owner::Device(self.identity());
        // SAFETY: as the caller guarantees; the place is nobody else's.
        unsafe {
            self.multiply(room, T::ONE, a, b, T::ZERO, product);
            if let Some(shadow) = shadow {
                run::scale(self, shadow.place, alpha, product.place, true);
            }
            self.inner(product, x)
        }
    }
}

macro_rules! on_device {
    ($array:ident) => {
        impl<T: Real + MatrixScalar> Matrices<T> for $array<T, Ix2> {}
        impl<T: Real + MatrixScalar> Matrices<T> for $array<T, Ix3> {}

        /// *1·A·B + 0·C*: there is nothing to keep but C.
        impl<T: Real + MatrixScalar> Matrix<T> for $array<T, Ix2> {
            type Product = Backup;

            fn multiply(c: &mut Self, a: &Self, b: &Self) {
                let [a, b, place] = [&*a, b, c].map(|matrix| Stack::new(matrix.place()));
                let (a, b) = ((Trans::No, a), (Trans::No, b));
                // SAFETY: `c` is borrowed uniquely.
                unsafe { Update::default().run("product", c.device(), T::ONE, a, b, T::ZERO, place) }
            }
            fn forward(old: &mut Backup, c: &mut Self, a: &Self, b: &Self) {
                Array::save(c, old);
                Self::multiply(c, a, b);
            }
            fn pull(old: &mut Backup, c: DualMut<'_, Self>, a: Dual<'_, Self>, b: Dual<'_, Self>) {
                Array::restore(c.value, old);
                let Some(dc) = c.shadow.get() else { return };
                let factors = [T::ONE, T::ZERO].map(|value| Factor { value, is_constant: true });
                let [a, b] = [(a.value, a.shadow), (b.value, b.shadow)].map(|(value, shadow)| Read {
                    trans: Trans::No,
                    value: Stack::new(value.place()),
                    shadow: shadow.get().map(|shadow| Stack::new(shadow.place())),
                });
                let (old, dc) = (Stack::new(c.value.place()), Stack::new(dc.place()));
                // SAFETY: no shadow overlaps a primal, and that of C none of the others.
                unsafe { Update::default().pull(c.value.device(), factors, a, b, old, dc) };
            }
            fn forgo(old: &mut Backup) {
                <Self as Array<T>>::forgo(old);
            }
        }
    };
}
on_device!(DeviceRef);
on_device!(DeviceArray);

#[cfg(test)]
mod tests {
    use super::{Gemm, requests};
    use crate::fused::operand::Place;
    use crate::matrices::{Stack, terms};

    /// By rows, by columns, with gaps between rows or columns; and matrices that follow one another with or without gaps, or where a row of
    /// one follows that of another.
    fn layouts(count: usize, rows: usize, columns: usize) -> Vec<Stack<'static, f64>> {
        let (n, r, c) = (count as isize, rows as isize, columns as isize);
        let strides = [
            [r * c, c, 1],
            [r * c, 1, r],
            [r * (c + 2), c + 2, 1],
            [(r + 3) * c + 1, 1, r + 3],
            [c, n * c, 1],
            [r, 1, n * r],
        ];
        strides.map(|s| Stack::new(Place::new(std::ptr::null_mut(), &[count, rows, columns], &s))).into()
    }

    fn value(stack: usize, i: usize, row: usize, column: usize) -> f64 {
        ((7 * stack + 5 * i + 3 * row + column) % 11) as f64 - 4.0
    }

    /// Where element `row`, `column` of matrix `i` is.
    fn place(stack: Stack<'_, f64>, i: usize, row: usize, column: usize) -> usize {
        let [_, down, along, ..] = stack.place.strides;
        stack.start(i).addr() / 8 + row * down as usize + column * along as usize
    }

    /// The matrices as memory, in which elements that are not theirs are NaN.
    fn memory(number: usize, stack: Stack<'_, f64>) -> Vec<f64> {
        let (count, rows, columns) = stack.shape();
        let mut memory = vec![f64::NAN; 400];
        for i in 0..count {
            for row in 0..rows {
                for column in 0..columns {
                    memory[place(stack, i, row, column)] = value(number, i, row, column);
                }
            }
        }
        memory
    }

    /// What the documentation of `cublas<t>gemmStridedBatched` says, with addresses as indices of elements.
    fn interpret(request: &Gemm, first: &[f64], second: &[f64], result: &mut [f64]) {
        let Gemm { double, transposed, m, n, k, alpha, beta, starts, leading, count, apart } = *request;
        assert!(double);
        for (transposed, leading, rows, columns) in
            [(transposed[0], leading[0], m, k), (transposed[1], leading[1], k, n), (false, leading[2], m, n)]
        {
            assert!(leading >= if transposed { columns } else { rows }.max(1), "it refuses others");
        }
        let [alpha, beta] = [alpha, beta].map(f64::from_bits);
        let at = |memory: &[f64], which: usize, i: usize, row: usize, column: usize| {
            let (down, along) = if transposed[which] { (leading[which], 1) } else { (1, leading[which]) };
            memory[starts[which] as usize / 8 + i * apart[which] + row * down + column * along]
        };
        for i in 0..count {
            for column in 0..n {
                for row in 0..m {
                    let terms = (0..k).map(|l| at(first, 0, i, row, l) * at(second, 1, i, l, column));
                    let place = starts[2] as usize / 8 + i * apart[2] + column * leading[2] + row;
                    let old = if beta == 0.0 { 0.0 } else { beta * result[place] };
                    result[place] = alpha * terms.sum::<f64>() + old;
                }
            }
        }
    }

    #[test]
    fn what_cublas_is_asked_for_is_the_product() {
        let sizes = [(2, 3, 4), (1, 3, 2), (3, 1, 2), (2, 2, 1), (1, 1, 1)];
        let counts = [(1, 1, 1), (3, 3, 3), (1, 3, 3), (3, 1, 3), (1, 1, 3), (3, 3, 1), (1, 3, 1), (3, 1, 1)];
        for ((m, n, k), (of_a, of_b, of_c)) in
            sizes.into_iter().flat_map(|size| counts.map(|count| (size, count)))
        {
            let (all_a, all_b, all_c) = (layouts(of_a, m, k), layouts(of_b, k, n), layouts(of_c, m, n));
            for number in 0..all_a.len() * all_b.len() * all_c.len() {
                let (a, b, c) = (all_a[number % 6], all_b[number / 6 % 6], all_c[number / 36]);
                let beta = [0.0, 1.0, -0.5][number % 3];
                let (memory_a, memory_b) = (memory(1, a), memory(2, b));
                let mut result = memory(3, c);
                let mut expected = result.clone();
                for i in 0..terms(a, b, c) {
                    for row in 0..m {
                        for column in 0..n {
                            let of = |stack: Stack<'_, f64>, memory: &[f64], row, column| {
                                memory[place(stack, i, row, column)]
                            };
                            let terms =
                                (0..k).map(|l| of(a, &memory_a, row, l) * of(b, &memory_b, l, column));
                            let c = &mut expected[place(c, i, row, column)];
                            let beta = if i > 0 && of_c == 1 { 1.0 } else { beta };
                            *c = 2.0 * terms.sum::<f64>() + beta * *c;
                        }
                    }
                }
                for request in requests(2.0, a, b, beta, c) {
                    // Which of the two it takes for A says where C is stored by rows.
                    let swapped = super::columns(super::joined(a, b, c)[2]).is_none();
                    let (first, second) =
                        if swapped { (&memory_b, &memory_a) } else { (&memory_a, &memory_b) };
                    interpret(&request, first, second, &mut result);
                }
                for (found, expected) in result.iter().zip(&expected) {
                    let same = found == expected || found.is_nan() && expected.is_nan();
                    assert!(same, "{m} {n} {k}, {of_a} {of_b} {of_c}, {number}: {found} not {expected}");
                }
            }
        }
    }

    /// What becomes one product, with all matrices by rows and without gaps, and what is one request for a stack.
    #[test]
    fn products_are_joined() {
        let requested = |of_a, of_b, of_c| {
            let (a, b, c) = (layouts(of_a, 2, 4)[0], layouts(of_b, 4, 5)[0], layouts(of_c, 2, 5)[0]);
            requests(1.0, a, b, 1.0, c).map(|r| (r.count, r.m, r.n, r.k)).collect::<Vec<_>>()
        };
        // Seen by columns, the matrices are transposed: m and n change places.
        assert_eq!(requested(3, 1, 3), [(1, 5, 6, 4)], "the same weights for all");
        assert_eq!(requested(3, 3, 3), [(3, 5, 2, 4)], "a stack");
        assert_eq!(requested(1, 3, 3), [(3, 5, 2, 4)], "B is not side by side");
        assert_eq!(requested(3, 3, 1), [(1, 5, 2, 4); 3], "A is not side by side");
        let (x, dy) = (layouts(3, 2, 4)[0].t(), layouts(3, 2, 5)[0]);
        let gradient: Vec<_> = requests(1.0, x, dy, 1.0, layouts(1, 4, 5)[0]).collect();
        assert_eq!(gradient.len(), 1, "the gradient of these weights");
        assert_eq!((gradient[0].count, gradient[0].k), (1, 6));
    }
}
