//! Matrices of all layouts for tests, and a comparison of what rules do in each.

use ndarray::{Array2, ArrayView2, ArrayViewMut2, ShapeBuilder, s};

use super::backend::MatrixScalar;

/// Numbers for which rules are tested.
pub(super) trait Tested: MatrixScalar + std::fmt::Debug {
    const EPSILON: f64;
    fn to(self) -> f64;
}

impl Tested for f32 {
    const EPSILON: f64 = f32::EPSILON as f64;
    fn to(self) -> f64 {
        self.into()
    }
}

impl Tested for f64 {
    const EPSILON: f64 = f64::EPSILON;
    fn to(self) -> f64 {
        self
    }
}

pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next<T: Tested>(&mut self) -> T {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        T::of((self.0 >> 40) as f64 / (1u64 << 23) as f64 - 1.0)
    }

    pub(super) fn index(&mut self, len: usize) -> usize {
        ((self.next::<f64>() + 1.0) / 2.0 * len as f64) as usize % len.max(1)
    }

    pub(super) fn matrix<T: Tested>(&mut self, (rows, columns): (usize, usize), layout: Layout) -> Matrix<T> {
        let base = match layout {
            Layout::C | Layout::Reversed => (rows, columns),
            Layout::F => (columns, rows),
            Layout::Gaps => (2 * rows + 1, 3 * columns + 2),
            Layout::Stepping => (3 * columns, rows + 3),
            Layout::Broadcast => (1, columns),
        };
        Matrix { base: Array2::from_shape_simple_fn(base, || self.next()), shape: (rows, columns), layout }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Layout {
    C,
    F,
    /// No stride is one.
    Gaps,
    /// Both strides are negative.
    Reversed,
    /// By columns, with room between them, which run backwards.
    Stepping,
    /// All rows are the same one.
    Broadcast,
}

pub(super) const LAYOUTS: [Layout; 6] =
    [Layout::C, Layout::F, Layout::Gaps, Layout::Reversed, Layout::Stepping, Layout::Broadcast];

#[derive(Clone)]
pub(super) struct Matrix<T> {
    pub(super) base: Array2<T>,
    pub(super) shape: (usize, usize),
    pub(super) layout: Layout,
}

impl<T> Matrix<T> {
    pub(super) fn project<'a, U>(&self, base: ArrayView2<'a, U>) -> ArrayView2<'a, U> {
        let (rows, columns) = self.shape;
        match self.layout {
            Layout::C => base,
            Layout::F => base.reversed_axes(),
            Layout::Gaps => base.slice_move(s![1..;2, 1..1 + 3 * columns;3]),
            Layout::Reversed => base.slice_move(s![..;-1, ..;-1]),
            Layout::Stepping => base.slice_move(s![..;-3, 2..2 + rows]).reversed_axes(),
            Layout::Broadcast => {
                let row = base.to_slice().expect("one row");
                ArrayView2::from_shape((rows, columns).strides((0, 1)), row).expect("read only")
            }
        }
    }

    pub(super) fn view(&self) -> ArrayView2<'_, T> {
        self.project(self.base.view())
    }

    pub(super) fn view_mut(&mut self) -> ArrayViewMut2<'_, T> {
        let (rows, columns) = self.shape;
        let base = self.base.view_mut();
        match self.layout {
            Layout::C => base,
            Layout::F => base.reversed_axes(),
            Layout::Gaps => base.slice_move(s![1..;2, 1..1 + 3 * columns;3]),
            Layout::Reversed => base.slice_move(s![..;-1, ..;-1]),
            Layout::Stepping => base.slice_move(s![..;-3, 2..2 + rows]).reversed_axes(),
            Layout::Broadcast => unreachable!("never mutable"),
        }
    }
}

impl<T: Tested> Matrix<T> {
    /// The same elements, row after row.
    pub(super) fn packed(&self) -> Matrix<T> {
        let base = Array2::from_shape_vec(self.shape, self.view().iter().copied().collect());
        Matrix { base: base.expect("as many"), shape: self.shape, layout: Layout::C }
    }

    pub(super) fn f64(&self) -> Array2<f64> {
        self.view().map(|x| x.to())
    }

    pub(super) fn bits(&self) -> Vec<u64> {
        self.base.iter().map(|x| x.to().to_bits()).collect()
    }

    /// What is in place after `gradient` was added to `self`.
    pub(super) fn plus(&self, gradient: &Array2<f64>) -> Array2<f64> {
        let mut sum = self.f64();
        if self.layout == Layout::Broadcast {
            sum += &gradient.sum_axis(ndarray::Axis(0));
        } else {
            sum += gradient;
        }
        sum
    }
}

/// A shadow of the matrix.
macro_rules! shadow {
    ($matrix:expr) => {{
        let shape = $matrix.clone_shape();
        $crate::Shadow::new(shape.project($matrix.base.cell_view()))
    }};
}
pub(super) use shadow;

impl<T> Matrix<T> {
    pub(super) fn clone_shape(&self) -> Matrix<f64> {
        Matrix { base: Array2::zeros((0, 0)), shape: self.shape, layout: self.layout }
    }
}

pub(super) fn naive(a: &Array2<f64>, b: &Array2<f64>) -> Array2<f64> {
    Array2::from_shape_fn((a.nrows(), b.ncols()), |(i, j)| {
        (0..a.ncols()).map(|k| a[[i, k]] * b[[k, j]]).sum()
    })
}

pub(super) fn inner(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[track_caller]
pub(super) fn assert_close<T: Tested>(found: &Array2<f64>, expected: &Array2<f64>, terms: usize, what: &str) {
    assert_eq!(found.dim(), expected.dim());
    let tolerance = 32.0 * T::EPSILON * (terms + 4) as f64;
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() <= tolerance, "{what}: {found} instead of {expected}");
    }
}

/// The arguments of a call, vectors being matrices with one column, and their shadows.
#[derive(Clone)]
pub(super) struct Arguments<T> {
    pub(super) values: Vec<Matrix<T>>,
    pub(super) shadows: Vec<Matrix<T>>,
    /// What mutable arguments hold after the forward, one after the other.
    pub(super) left: Vec<Array2<f64>>,
}

/// Whether rules do the same in all layouts.
pub(super) struct Everywhere<'a, T> {
    /// Of which shape the arguments are, and whether they are mutable.
    pub(super) shapes: &'a [((usize, usize), bool)],
    /// Changes the numbers in one argument.
    pub(super) adjust: &'a dyn Fn(usize, ArrayViewMut2<'_, T>),
    /// Calls forward and pullback, and returns what these return.
    pub(super) call: &'a dyn Fn(&mut Arguments<T>) -> Vec<T>,
    /// How many terms are added up.
    pub(super) terms: usize,
}

impl<T: Tested> Everywhere<'_, T> {
    /// Calls the rule with arguments and shadows of `count` combinations of layouts, and compares with what it does with
    /// packed ones. Returns the arguments, and what it left, of all calls.
    pub(super) fn check(&self, random: &mut Random, count: usize, what: &str) -> Vec<Arguments<T>> {
        (0..count).map(|number| self.check_one(random, &format!("{what}, combination {number}"))).collect()
    }

    fn check_one(&self, random: &mut Random, what: &str) -> Arguments<T> {
        let layout =
            |random: &mut Random, mutable: bool| LAYOUTS[random.index(LAYOUTS.len() - usize::from(mutable))];
        let mut here = Arguments { values: Vec::new(), shadows: Vec::new(), left: Vec::new() };
        for (i, &(shape, mutable)) in self.shapes.iter().enumerate() {
            let value_layout = layout(random, mutable);
            let mut value = random.matrix(shape, value_layout);
            // What is broadcast cannot be adjusted.
            if value_layout == Layout::Broadcast {
                let mut adjusted: Matrix<T> = random.matrix(shape, Layout::C);
                adjusted.view_mut().assign(&value.view());
                (self.adjust)(i, adjusted.view_mut());
                if adjusted.bits() != value.packed().bits() {
                    value = adjusted;
                }
            } else {
                (self.adjust)(i, value.view_mut());
            }
            here.values.push(value);
            let shadow_layout = layout(random, mutable);
            here.shadows.push(random.matrix(shape, shadow_layout));
        }
        let layouts: Vec<_> =
            here.values.iter().zip(&here.shadows).map(|(v, s)| (v.layout, s.layout)).collect();
        let what = format!("{what}: {:?} {layouts:?}", self.shapes);
        let mut packed = here.clone();
        for matrix in packed.values.iter_mut().chain(&mut packed.shadows) {
            *matrix = matrix.packed();
        }
        // What is added to a broadcast shadow is the sum over what it is broadcast to.
        for (i, shadow) in here.shadows.iter().enumerate() {
            if shadow.layout == Layout::Broadcast {
                packed.shadows[i].base.fill(T::ZERO);
            }
        }
        let before = here.clone();
        let (returned, expected) = ((self.call)(&mut here), (self.call)(&mut packed));
        let close = |found: &Array2<f64>, expected: &Array2<f64>, of: &str| {
            assert_close::<T>(found, expected, self.terms, &format!("{what}, {of}"));
        };
        for i in 0..self.shapes.len() {
            assert_eq!(
                here.values[i].bits(),
                before.values[i].bits(),
                "{what}, argument {i} is not restored"
            );
            let expected = match here.shadows[i].layout {
                Layout::Broadcast => before.shadows[i].plus(&packed.shadows[i].f64()),
                _ => packed.shadows[i].f64(),
            };
            close(&here.shadows[i].f64(), &expected, &format!("shadow {i}"));
        }
        for (left, expected) in here.left.iter().zip(&packed.left) {
            // What is not referenced may hold anything.
            let nan = |x: &Array2<f64>| x.map(|x| x.is_nan());
            let finite = |x: &Array2<f64>| x.map(|&x| if x.is_nan() { 0.0 } else { x });
            assert_eq!(nan(left), nan(expected), "{what}, what is left");
            close(&finite(left), &finite(expected), "what is left");
        }
        for (returned, expected) in returned.iter().zip(&expected) {
            let array = |x: &T| Array2::from_elem((1, 1), x.to());
            close(&array(returned), &array(expected), "what is returned");
        }
        here
    }
}
