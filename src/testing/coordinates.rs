//! Things made of numbers, number by number.

use ndarray::{Array, Dimension};

use crate::{Differentiable, Rows, Tangent, Value};

/// One number in a [`Coordinates`].
#[derive(Debug)]
pub enum Coordinate<'a> {
    /// A number that has a derivative.
    F32(&'a mut f32),
    /// A number that has a derivative.
    F64(&'a mut f64),
    /// Something that has none: only compared.
    Discrete(u128),
    /// What only the gradient has, a number of a variant that an enum is not: zero.
    Absent,
}

impl Coordinate<'_> {
    /// A number of the gradient that the value does not have.
    #[doc(hidden)]
    pub fn absent(self) -> Coordinate<'static> {
        match self {
            Coordinate::Discrete(number) => Coordinate::Discrete(number),
            _ => Coordinate::Absent,
        }
    }
}

/// Something made of numbers: an argument, an output or a gradient of a function under test.
///
/// A type of your own visits its fields:
///
/// ```
/// use pullback::testing::{Coordinate, Coordinates};
///
/// struct Body { mass: f64, position: [f64; 3], id: usize }
///
/// impl Coordinates for Body {
///     fn visit(&mut self, visitor: &mut dyn FnMut(Coordinate<'_>)) {
///         self.mass.visit(visitor);
///         self.position.visit(visitor);
///         self.id.visit(visitor);
///     }
/// }
///
/// let mut count = 0;
/// Body { mass: 1.0, position: [0.0; 3], id: 7 }.visit(&mut |_| count += 1);
/// assert_eq!(count, 5);
/// ```
pub trait Coordinates {
    /// Visits every number once. A value and its gradient list their floating-point numbers in the same order, which
    /// must not depend on the numbers.
    fn visit(&mut self, visitor: &mut dyn FnMut(Coordinate<'_>));

    /// Visits, in the place of a value that is not there, what the gradient with respect to it has.
    #[doc(hidden)]
    fn visit_missing(visitor: &mut dyn FnMut(Coordinate<'_>))
    where
        Self: Sized,
    {
        visitor(Coordinate::Discrete(MISSING));
    }
}

macro_rules! real {
    ($($t:ty, $variant:ident);*) => {$(
        impl Coordinates for $t {
            fn visit(&mut self, visitor: &mut dyn FnMut(Coordinate<'_>)) {
                visitor(Coordinate::$variant(self));
            }
            fn visit_missing(visitor: &mut dyn FnMut(Coordinate<'_>)) {
                visitor(Coordinate::Absent);
            }
        }
    )*};
}
real!(f32, F32; f64, F64);

macro_rules! discrete {
    ($($t:ty),*) => {$(
        impl Coordinates for $t {
            fn visit(&mut self, visitor: &mut dyn FnMut(Coordinate<'_>)) {
                visitor(Coordinate::Discrete(*self as u128));
            }
        }
    )*};
}
discrete!(bool, char, i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize);

impl Coordinates for &'static str {
    fn visit(&mut self, visitor: &mut dyn FnMut(Coordinate<'_>)) {
        self.bytes().for_each(|byte| visitor(Coordinate::Discrete(byte.into())));
    }
}

impl<T: Coordinates> Coordinates for [T] {
    fn visit(&mut self, visitor: &mut dyn FnMut(Coordinate<'_>)) {
        self.iter_mut().for_each(|element| element.visit(visitor));
    }
}

impl<T: Coordinates, const N: usize> Coordinates for [T; N] {
    fn visit(&mut self, visitor: &mut dyn FnMut(Coordinate<'_>)) {
        self.as_mut_slice().visit(visitor);
    }
    fn visit_missing(visitor: &mut dyn FnMut(Coordinate<'_>)) {
        (0..N).for_each(|_| T::visit_missing(visitor));
    }
}

/// In the place of what is not there: no vector is so long.
pub(super) const MISSING: u128 = u128::MAX;

/// Those of the value, if there is one.
impl<T: Coordinates> Coordinates for Option<T> {
    fn visit(&mut self, visitor: &mut dyn FnMut(Coordinate<'_>)) {
        match self {
            Some(value) => {
                visitor(Coordinate::Discrete(1));
                value.visit(visitor);
            }
            None => T::visit_missing(visitor),
        }
    }
    fn visit_missing(visitor: &mut dyn FnMut(Coordinate<'_>)) {
        T::visit_missing(visitor);
    }
}

/// Those of what is in it. Of one that is missing the gradient has none.
impl<T: Coordinates> Coordinates for Box<T> {
    fn visit(&mut self, visitor: &mut dyn FnMut(Coordinate<'_>)) {
        (**self).visit(visitor);
    }
}

/// Those of an `Option` in a struct, whose gradient is that of the value: zero, if there is none.
#[doc(hidden)]
pub fn visit_optional<T: Coordinates + Value<Tangent: Coordinates>>(
    option: &mut Option<T>,
    visitor: &mut dyn FnMut(Coordinate<'_>),
) {
    visitor(Coordinate::Discrete(u128::from(option.is_some())));
    match option {
        Some(value) => value.visit(visitor),
        None => T::Tangent::zero().visit(&mut |coordinate| visitor(coordinate.absent())),
    }
}

/// Those of the value, if there is one; errors are not looked at.
impl<T: Coordinates, E> Coordinates for Result<T, E> {
    fn visit(&mut self, visitor: &mut dyn FnMut(Coordinate<'_>)) {
        visitor(Coordinate::Discrete(u128::from(self.is_ok())));
        match self {
            Ok(value) => value.visit(visitor),
            Err(_) => T::visit_missing(visitor),
        }
    }
    fn visit_missing(visitor: &mut dyn FnMut(Coordinate<'_>)) {
        T::visit_missing(visitor);
    }
}

impl<T: Coordinates> Coordinates for Vec<T> {
    fn visit(&mut self, visitor: &mut dyn FnMut(Coordinate<'_>)) {
        self.as_mut_slice().visit(visitor);
        visitor(Coordinate::Discrete(self.len() as u128));
    }
}

impl<T: Coordinates, D: Dimension> Coordinates for Array<T, D> {
    /// In logical order, whatever the strides.
    fn visit(&mut self, visitor: &mut dyn FnMut(Coordinate<'_>)) {
        self.iter_mut().for_each(|element| element.visit(visitor));
        self.shape().iter().for_each(|&len| visitor(Coordinate::Discrete(len as u128)));
    }
}

impl<T: Differentiable<Gradient: Coordinates>> Coordinates for Rows<T> {
    fn visit(&mut self, visitor: &mut dyn FnMut(Coordinate<'_>)) {
        self[..].visit(visitor);
        visitor(Coordinate::Discrete(self.len() as u128));
    }
}

macro_rules! tuple {
    ($($T:ident $i:tt),*) => {
        impl<$($T: Coordinates),*> Coordinates for ($($T,)*) {
            fn visit(&mut self, _visitor: &mut dyn FnMut(Coordinate<'_>)) {
                $(self.$i.visit(_visitor);)*
            }
            fn visit_missing(_visitor: &mut dyn FnMut(Coordinate<'_>)) {
                $($T::visit_missing(_visitor);)*
            }
        }
    };
}
for_tuples!(tuple);

/// A [`Coordinate`] taken out.
#[derive(Clone, Copy)]
pub(super) enum Number {
    F32(f32),
    F64(f64),
    Discrete(u128),
    Absent,
}

impl From<Coordinate<'_>> for Number {
    fn from(coordinate: Coordinate<'_>) -> Self {
        match coordinate {
            Coordinate::F32(x) => Number::F32(*x),
            Coordinate::F64(x) => Number::F64(*x),
            Coordinate::Discrete(x) => Number::Discrete(x),
            Coordinate::Absent => Number::Absent,
        }
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            // The bits tell one NaN from another.
            Number::F32(x) if x.is_nan() => write!(f, "NaN (bits {:#x})", x.to_bits()),
            Number::F64(x) if x.is_nan() => write!(f, "NaN (bits {:#x})", x.to_bits()),
            Number::F32(x) => write!(f, "{x:?}"),
            Number::F64(x) => write!(f, "{x:?}"),
            Number::Discrete(x) => write!(f, "{x}"),
            Number::Absent => write!(f, "nothing"),
        }
    }
}

impl Number {
    /// Its value, if it has a derivative.
    pub(super) fn real(self) -> Option<f64> {
        match self {
            Number::F32(x) => Some(x.into()),
            Number::F64(x) => Some(x),
            Number::Absent => Some(0.0),
            Number::Discrete(_) => None,
        }
    }

    pub(super) fn is_absent(self) -> bool {
        matches!(self, Number::Absent)
    }

    pub(super) fn is_single(self) -> bool {
        matches!(self, Number::F32(_))
    }

    /// Equal bit for bit.
    pub(super) fn identical(self, other: Number) -> bool {
        match (self, other) {
            (Number::F32(x), Number::F32(y)) => x.to_bits() == y.to_bits(),
            (Number::F64(x), Number::F64(y)) => x.to_bits() == y.to_bits(),
            (Number::Discrete(x), Number::Discrete(y)) => x == y,
            (Number::Absent, Number::Absent) => true,
            _ => false,
        }
    }

    /// Equal bit for bit as a result: which NaN an operation gives is unspecified.
    pub(super) fn same(self, other: Number) -> bool {
        self.identical(other)
            || matches!((self.real(), other.real()), (Some(x), Some(y)) if x.is_nan() && y.is_nan())
    }
}

/// The number as one that has no derivative.
pub(super) fn compared(coordinate: Coordinate<'_>) -> Coordinate<'_> {
    match coordinate {
        Coordinate::F32(x) => Coordinate::Discrete(x.to_bits().into()),
        Coordinate::F64(x) => Coordinate::Discrete(x.to_bits().into()),
        discrete => discrete,
    }
}

/// All numbers of `x`.
pub(super) fn numbers(x: &mut dyn Coordinates) -> Vec<Number> {
    let mut numbers = Vec::new();
    x.visit(&mut |coordinate| numbers.push(coordinate.into()));
    numbers
}

/// Those among `numbers` that have a derivative.
pub(super) fn reals(numbers: &[Number]) -> Vec<f64> {
    numbers.iter().filter_map(|number| number.real()).collect()
}

/// Replaces each number that has a derivative by what `f` makes of its index and itself.
pub(super) fn replace(x: &mut dyn Coordinates, f: &mut dyn FnMut(usize, f64) -> f64) {
    let mut index = 0;
    x.visit(&mut |coordinate| replace_one(coordinate, &mut index, f));
}

/// [`replace`] for one coordinate, the reals before which number `index`.
pub(super) fn replace_one(
    coordinate: Coordinate<'_>,
    index: &mut usize,
    f: &mut dyn FnMut(usize, f64) -> f64,
) {
    match coordinate {
        Coordinate::F32(x) => *x = f(*index, (*x).into()) as f32,
        Coordinate::F64(x) => *x = f(*index, *x),
        Coordinate::Absent => {}
        Coordinate::Discrete(_) => return,
    }
    *index += 1;
}
