//! The exponential of a matrix.

use ndarray::{Array2, ArrayRef2, Ix2};

use super::backend::Lu;
use super::cases::{Argument, Case, Kind};
use super::forms::forms;
use super::packed::{Packed, Scratch, Seed, add, square, times};
use super::scalar::Number;
use super::symmetric::finite;
use crate::activation::Dual;
use crate::heap::{HeapSize, heap_size};

forms! {
    /// *exp A = Σₖ Aᵏ/k!*, by scaling and squaring with Padé approximants.
    ///
    /// *A* is n×n and may have any layout.
    ///
    /// ```
    /// use ndarray::array;
    /// use pullback_rules::linalg;
    ///
    /// // A rotation by 1
    /// let y = linalg::expm(&array![[0.0, -1.0], [1.0, 0.0]]);
    /// assert!((y[[0, 0]] - 1.0_f64.cos()).abs() + (y[[1, 0]] - 1.0_f64.sin()).abs() < 1e-14);
    /// ```
    ///
    /// # Gradient
    /// With *L(A, E)* for the derivative of exp at *A* in the direction *E*: *Ȧ += L(Aᵀ, Ẏ)*, which is *L(A, Ẏᵀ)ᵀ*. It is computed by differentiating
    /// the algorithm, whose powers, factors and squares are kept (Al-Mohy and Higham, *Computing the Fréchet derivative of the matrix exponential, with an
    /// application to condition number estimation*, 2009, algorithm 6.4). The degree of the approximant is chosen such that it is accurate to
    /// rounding for the derivative, too.
    ///
    /// # Panics
    /// If *A* is not square, or if an entry of it is not finite.
    fn expm = Expm;
    /// The exponential as of [`expm()`], written to `y`.
    ///
    /// # Panics
    /// As [`expm()`] does, and if `y` has another shape.
    fn expm_into = ExpmInto;
    kernel ExpmKernel<T: Number>;
    constants ();
    arguments (a: &ArrayRef2<T>);
    result Array2<T> / ArrayRef2 Ix2;
}

/// Coefficients of a numerator; the denominator is that of −A. And up to which 1-norm of A it is accurate.
struct Approximant {
    bound: f64,
    coefficients: &'static [f64],
}

/// Those up to degree 9, which take the powers of A² one by one; the bounds are from the paper's table 4.1.
const SMALL: [Approximant; 4] = [
    Approximant { bound: 1.08e-2, coefficients: &[120.0, 60.0, 12.0, 1.0] },
    Approximant { bound: 2.00e-1, coefficients: &[30240.0, 15120.0, 3360.0, 420.0, 30.0, 1.0] },
    Approximant {
        bound: 7.83e-1,
        coefficients: &[17297280.0, 8648640.0, 1995840.0, 277200.0, 25200.0, 1512.0, 56.0, 1.0],
    },
    Approximant {
        bound: 1.78,
        coefficients: &[
            17643225600.0,
            8821612800.0,
            2075673600.0,
            302702400.0,
            30270240.0,
            2162160.0,
            110880.0,
            3960.0,
            90.0,
            1.0,
        ],
    },
];

/// Degree 13, which takes A², A⁴ and A⁶ alone.
const LARGE: Approximant = Approximant {
    bound: 4.74,
    coefficients: &[
        64764752532480000.0,
        32382376266240000.0,
        7771770303897600.0,
        1187353796428800.0,
        129060195264000.0,
        10559470521600.0,
        670442572800.0,
        33522128640.0,
        1323241920.0,
        40840800.0,
        960960.0,
        16380.0,
        182.0,
        1.0,
    ],
};

#[derive(Default)]
struct ExpmKernel<T> {
    /// 0 to 3 for small ones, 4 for the large one.
    approximant: usize,
    /// By which power of two it is scaled.
    squarings: i32,
    a: Packed<T>,
    /// A², A⁴, A⁶, A⁸ as far as needed.
    powers: [Packed<T>; 4],
    /// The odd part is A times this.
    odd: Packed<T>,
    /// What A⁶ is multiplied by in the large approximant: of the odd and of the even part.
    high: [Packed<T>; 2],
    denominator: Lu<T>,
    scratch: Scratch,
    room: Packed<T>,
    /// The approximant, and its squares.
    squares: Vec<Packed<T>>,
    /// For the derivatives of all that.
    d: Derivatives<T>,
    work: [Packed<T>; 2],
}

#[derive(Default)]
struct Derivatives<T> {
    e: Packed<T>,
    powers: [Packed<T>; 4],
    odd: Packed<T>,
    even: Packed<T>,
    result: Packed<T>,
}

/// *S ← constant·1 + Σ coefficientₖ·termₖ*, where the coefficients are every other one.
fn combine<T: Number>(s: &mut Packed<T>, n: usize, constant: f64, coefficients: &[f64], terms: &[Packed<T>]) {
    s.zeros(n, n);
    for (&coefficient, term) in coefficients.iter().step_by(2).zip(terms) {
        let coefficient = T::from_f64(coefficient);
        for j in 0..n {
            s.column_mut(j).iter_mut().zip(term.column(j)).for_each(|(s, &x)| *s += coefficient * x);
        }
    }
    (0..n).for_each(|i| s.column_mut(i)[i] += T::from_f64(constant));
}

/// *C ← A·B*, or *C += A·B*
fn multiply<T: Number>(c: &mut Packed<T>, a: &Packed<T>, b: &Packed<T>, add: bool) {
    if !add {
        c.resize(a.rows(), b.columns());
    }
    times(T::ONE, &a.view(), &b.view(), if add { T::ONE } else { T::ZERO }, &mut c.view_mut());
}

/// *A ← A + sign·B*
fn add_to<T: Number>(a: &mut Packed<T>, sign: T, b: &Packed<T>) {
    a.view_mut().zip_mut_with(&b.view(), |a, &b| *a += sign * b);
}

impl<T: Number> ExpmKernel<T> {
    fn shape(function: &str, a: &ArrayRef2<T>) -> Ix2 {
        let n = square(function, a);
        Ix2(n, n)
    }

    fn forward(&mut self, function: &str, a: &ArrayRef2<T>, y: &mut ArrayRef2<T>) {
        let n = a.nrows();
        self.a.assign(a);
        let column = |j: usize| self.a.column(j).iter().map(|x| x.abs().to_f64()).sum::<f64>();
        let norms = || (0..n).map(column);
        finite(function, norms().all(f64::is_finite));
        let norm = norms().fold(0.0, f64::max);
        self.approximant = SMALL.iter().position(|small| norm <= small.bound).unwrap_or(SMALL.len());
        self.squarings = (norm / LARGE.bound).log2().ceil().max(0.0) as i32;
        let factor = T::from_f64(0.5_f64.powi(self.squarings));
        self.a.slice_mut().iter_mut().for_each(|x| *x *= factor);

        let ExpmKernel { a, powers, odd, high, denominator, scratch, room, work: [u, v], .. } = self;
        let terms = if self.approximant < SMALL.len() { self.approximant + 1 } else { 3 };
        multiply(&mut powers[0], a, a, false);
        for k in 1..terms {
            let (lower, upper) = powers.split_at_mut(k);
            let (x, y) = factors_of(k);
            multiply(&mut upper[0], &lower[x], &lower[y], false);
        }
        match SMALL.get(self.approximant) {
            Some(Approximant { coefficients: c, .. }) => {
                combine(odd, n, c[1], &c[3..], &powers[..terms]);
                combine(v, n, c[0], &c[2..], &powers[..terms]);
            }
            None => {
                let c = LARGE.coefficients;
                combine(&mut high[0], n, 0.0, &c[9..], &powers[..3]);
                combine(&mut high[1], n, 0.0, &c[8..], &powers[..3]);
                combine(odd, n, c[1], &c[3..8], &powers[..3]);
                combine(v, n, c[0], &c[2..7], &powers[..3]);
                multiply(odd, &powers[2], &high[0], true);
                multiply(v, &powers[2], &high[1], true);
            }
        }
        multiply(u, a, odd, false);

        let count = self.squarings as usize + 1;
        if self.squares.len() < count {
            self.squares.resize_with(count, Packed::default);
        }
        denominator.factors.copy(v);
        add_to(&mut denominator.factors, -T::ONE, u);
        denominator.factor(scratch);
        let first = &mut self.squares[0];
        first.copy(v);
        add_to(first, T::ONE, u);
        denominator.solve(first, room);
        for i in 1..count {
            let (before, behind) = self.squares.split_at_mut(i);
            multiply(&mut behind[0], &before[i - 1], &before[i - 1], false);
        }
        y.assign(&self.squares[count - 1].view());
    }

    fn pullback(&mut self, a: Dual<'_, ArrayRef2<T>>, seed: Seed<'_, T, Ix2>) {
        let Some(da) = a.shadow.get() else { return };
        let ExpmKernel { a, powers, odd, high, denominator, room, squares, d, work: [work, other], .. } =
            self;
        let Derivatives { e, powers: m, odd: d_odd, even, result } = d;
        let n = a.rows();
        // The direction is the transpose of the seed, scaled as A is.
        seed.load(work);
        e.assign(&work.view().t());
        let factor = T::from_f64(0.5_f64.powi(self.squarings));
        e.slice_mut().iter_mut().for_each(|x| *x *= factor);

        let terms = if self.approximant < SMALL.len() { self.approximant + 1 } else { 3 };
        multiply(&mut m[0], a, e, false);
        multiply(&mut m[0], e, a, true);
        for k in 1..terms {
            let (x, y) = factors_of(k);
            let (lower, upper) = m.split_at_mut(k);
            multiply(&mut upper[0], &powers[x], &lower[y], false);
            multiply(&mut upper[0], &lower[x], &powers[y], true);
        }
        match SMALL.get(self.approximant) {
            Some(Approximant { coefficients: c, .. }) => {
                combine(d_odd, n, 0.0, &c[3..], &m[..terms]);
                combine(even, n, 0.0, &c[2..], &m[..terms]);
            }
            None => {
                let c = LARGE.coefficients;
                combine(d_odd, n, 0.0, &c[3..8], &m[..3]);
                combine(even, n, 0.0, &c[2..7], &m[..3]);
                for (part, high, c) in [(&mut *d_odd, &high[0], &c[9..]), (&mut *even, &high[1], &c[8..])] {
                    combine(other, n, 0.0, c, &m[..3]);
                    multiply(part, &powers[2], other, true);
                    multiply(part, &m[2], high, true);
                }
            }
        }
        // The derivative of the odd part, A·odd, in `work`.
        multiply(work, a, d_odd, false);
        multiply(work, e, odd, true);
        // (V − U)·L = L_V + L_U + (L_U − L_V)·R
        result.copy(even);
        add_to(result, T::ONE, work);
        add_to(work, -T::ONE, even);
        multiply(result, work, &squares[0], true);
        denominator.solve(result, room);
        for square in &squares[..self.squarings as usize] {
            multiply(work, square, result, false);
            multiply(work, result, square, true);
            std::mem::swap(work, result);
        }
        add(da, &result.view().t());
    }
}

/// Of which two even powers, by their numbers, number k is the product.
fn factors_of(k: usize) -> (usize, usize) {
    // A⁴ = A²·A², A⁶ = A⁴·A², A⁸ = A⁴·A⁴
    [(0, 0), (0, 0), (1, 0), (1, 1)][k]
}

pub(super) const CASES: &[Case] = &[Case {
    name: "expm",
    arguments: &[Argument::Matrix(Kind::Regular, 0, 0)],
    sizes: &[[3, 0, 0], [0, 0, 0], [1, 0, 0], [20, 0, 0], [5, 0, 0]],
    allocations: 1,
    benchmark: &[[8, 0, 0], [64, 0, 0], [256, 0, 0]],
}];

heap_size! { [T: Copy] Derivatives<T> { e, powers, odd, even, result } }

impl<T: Copy> HeapSize for ExpmKernel<T> {
    fn heap_size(&self) -> usize {
        let ExpmKernel { a, powers, odd, high, denominator, scratch, room, squares, d, work, .. } = self;
        let matrices = a.heap_size() + powers.heap_size() + odd.heap_size() + high.heap_size();
        let squared = squares.capacity() * size_of::<Packed<T>>() + squares[..].heap_size();
        let rest = denominator.heap_size() + scratch.heap_size() + room.heap_size() + work.heap_size();
        matrices + squared + rest + d.heap_size()
    }
}
