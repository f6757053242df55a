//! Operators where the types are not known by their syntax: of floats, and of users' types.

use std::cell::Cell;
use std::ops::{Add, Div, Mul, Neg, Rem, Sub};

use pullback::prelude::*;
use pullback::testing::{allocations_in, check_rule};
use pullback::{Accumulate, Element, Float, Scalar, Tangent, Value};

use crate::methods::plain;

use crate::differences::check;

plain!(Complex<T>, ComplexCells { re, im });

/// A rule by hand, for what takes a struct literal.
fn complex<T: Scalar>(re: T, im: T) -> Complex<T> {
    Complex { re, im }
}

#[derive(Rule, Default)]
#[rule(fn complex<T: Scalar>(re: T, im: T) -> Complex<T>)]
struct MakeComplex<T: Scalar> {
    marker: std::marker::PhantomData<fn() -> T>,
}

impl<T: Scalar> MakeComplex<T> {
    fn forward(&mut self, re: T, im: T) -> Complex<T> {
        complex(re, im)
    }
    fn pullback(&mut self, _re: T, _im: T, d: Complex<T>) -> (T, T) {
        (d.re, d.im)
    }
}

#[differentiable]
impl<T: Float> Add for Complex<T> {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        complex(self.re + other.re, self.im + other.im)
    }
}

#[differentiable]
impl<T: Float> Sub for Complex<T> {
    type Output = Complex<T>;
    fn sub(self, other: Complex<T>) -> Self::Output {
        complex(self.re - other.re, self.im - other.im)
    }
}

/// The gradient of this one is no product of the same kind: it has a conjugate.
#[differentiable]
impl<T: Float> Mul for Complex<T> {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        complex(self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re)
    }
}

#[differentiable]
impl Div<f64> for Complex<f64> {
    type Output = Self;
    fn div(self, by: f64) -> Self {
        complex(self.re / by, self.im / by)
    }
}

/// With a float on the left, and a meaning of its own: a rotation.
#[differentiable]
impl Mul<Complex<f64>> for f64 {
    type Output = Complex<f64>;
    fn mul(self, z: Complex<f64>) -> Complex<f64> {
        let (sin, cos) = self.sin_cos();
        complex(z.re * cos - z.im * sin, z.re * sin + z.im * cos)
    }
}

/// Not linear, so that the pullback has to have the operand.
#[differentiable]
impl Neg for Complex<f64> {
    type Output = Self;
    fn neg(self) -> Self {
        complex(self.im * self.im, self.re * self.im)
    }
}

/// Returns something else.
#[differentiable]
impl Rem<f64> for Complex<f64> {
    type Output = f64;
    fn rem(self, x: f64) -> f64 {
        self.re * self.im * x
    }
}

#[differentiable]
fn straight(a: Complex<f64>, b: Complex<f64>, x: f64) -> f64 {
    let sum = a + b * a - b;
    let turned = x * sum;
    let z = turned * sum / (x + 2.0) + 0.5 * b;
    -z % x - x
}

#[differentiable]
fn in_loops(start: Complex<f64>, c: Complex<f64>, n: usize) -> f64 {
    let mut z = start;
    let mut total = 0.0;
    for i in 0..n {
        z = z * z + c;
        if total < 10.0 {
            z = -z + z / 3.0;
        }
        z = z - 0.1 * c;
        total += z.re * z.im + z % 1.5;
    }
    total
}

#[differentiable]
fn through_references(a: &Complex<f64>, z: &mut [Complex<f64>], x: f64) -> f64 {
    let mut total = x;
    for i in 0..z.len() {
        let before = z[i];
        z[i] = *a * before + z[0];
        total += (z[i] / total) % x;
    }
    total
}

/// Of floats whose kind is unknown: results of calls, parts of tuples and fields.
#[differentiable]
fn of_unknown_floats(z: Complex<f64>, x: &[f64], pair: (f64, f64)) -> f64 {
    let mut s = half(z.re) + half(z.im);
    let mut t = pair.0 * pair.1;
    for i in 0..x.len() {
        s += half(x[i]) * half(s) - half(t);
        s = -half(s) * 3.0 + 2.0 * half(x[i]) / half(t) - x[i] / half(s);
        t -= z.re * pair.1;
        t *= half(z.im);
        t /= half(x[i]) + 2.0;
        s += s % half(x[i]) + half(s) % 0.7;
    }
    (s + t) * z.re - z.im / pair.0
}

#[differentiable]
fn half(x: f64) -> f64 {
    0.5 * x
}

#[differentiable]
fn generic<T: Float>(z: Complex<T>, x: T) -> T {
    let w = z * z + z;
    let s = w.re * x - w.im / x;
    s * w.im
}

const Z: Complex<f64> = Complex { re: 0.4, im: 0.7 };
const C: Complex<f64> = Complex { re: -0.3, im: 0.2 };
#[test]
fn of_types_of_users() {
    let at = [Z.re, Z.im, C.re, C.im, 0.6];
    let of = |p: [f64; 5]| straight(complex(p[0], p[1]), complex(p[2], p[3]), p[4]);
    let mut g = straight::gradient();
    let (value, d) = g.value_and_gradient(Z, C, 0.6);
    assert_eq!(value, of(at));
    check(at, of, [d.a.re, d.a.im, d.b.re, d.b.im, d.x]);

    for n in [0, 1, 4] {
        let of = |p: [f64; 4]| in_loops(complex(p[0], p[1]), complex(p[2], p[3]), n);
        let mut g = in_loops::gradient();
        let (value, d) = g.value_and_gradient(Z, C, n);
        assert_eq!(value, in_loops(Z, C, n));
        check([Z.re, Z.im, C.re, C.im], of, [d.start.re, d.start.im, d.c.re, d.c.im]);
        assert_eq!(allocations_in(|| g.value_and_gradient(Z, C, n).0), (value, 0));
    }

    let of = |p: [f64; 7]| {
        through_references(&complex(p[0], p[1]), &mut [complex(p[2], p[3]), complex(p[4], p[5])], p[6])
    };
    let mut g = through_references::gradient();
    let mut z = [C, Z];
    let (value, d) = g.value_and_gradient(&Z, &mut z, 0.6);
    let at = [Z.re, Z.im, C.re, C.im, Z.re, Z.im, 0.6];
    assert_eq!((value, z), (of(at), [C, Z]));
    check(at, of, [d.a.re, d.a.im, d.z[0].re, d.z[0].im, d.z[1].re, d.z[1].im, d.x]);
}

#[test]
fn of_floats() {
    let of = |p: [f64; 6]| of_unknown_floats(complex(p[0], p[1]), &p[2..4], (p[4], p[5]));
    let mut g = of_unknown_floats::gradient();
    let at = [0.4, 0.7, 0.9, 1.3, 0.8, 1.1];
    let (value, d) = g.value_and_gradient(Z, &at[2..4], (0.8, 1.1));
    assert_eq!(value, of(at));
    check(at, of, [d.z.re, d.z.im, d.x[0], d.x[1], d.pair.0, d.pair.1]);
    assert_eq!(allocations_in(|| g.value_and_gradient(Z, &at[2..4], (0.8, 1.1)).0), (value, 0));

    let of = |p: [f64; 3]| generic(complex(p[0], p[1]), p[2]);
    let mut g = generic::<f64>::gradient();
    let (value, d) = g.value_and_gradient(Z, 0.6);
    assert_eq!(value, generic(Z, 0.6));
    check([0.4, 0.7, 0.6], of, [d.z.re, d.z.im, d.x]);
}

/// `AddAssign` and its like, marked beside the operators that they stand for.
mod onto {
    use std::ops::{Add, AddAssign, Mul, MulAssign, Sub, SubAssign};

    use pullback::prelude::*;

    #[derive(Clone, Copy, Debug, Differentiable)]
    pub struct Vec2 {
        pub x: f64,
        pub y: f64,
    }
    #[derive(Clone, Copy, Debug, Differentiable)]
    pub struct Vector<const N: usize>(pub [f64; N]);

    #[differentiable]
    impl Add for Vec2 {
        type Output = Vec2;
        fn add(self, o: Vec2) -> Vec2 {
            Vec2 { x: self.x + o.x, y: self.y + o.y }
        }
    }
    #[differentiable]
    impl AddAssign for Vec2 {
        fn add_assign(&mut self, o: Vec2) {
            self.x += o.x;
            self.y += o.y;
        }
    }
    #[differentiable]
    impl Sub for Vec2 {
        type Output = Vec2;
        fn sub(self, o: Vec2) -> Vec2 {
            Vec2 { x: self.x - o.x, y: self.y - o.y }
        }
    }
    #[differentiable]
    impl SubAssign for Vec2 {
        fn sub_assign(&mut self, o: Vec2) {
            *self = *self - o;
        }
    }
    #[differentiable]
    impl Mul<f64> for Vec2 {
        type Output = Vec2;
        fn mul(self, k: f64) -> Vec2 {
            Vec2 { x: self.x * k, y: self.y * k }
        }
    }
    #[differentiable]
    impl MulAssign<f64> for Vec2 {
        fn mul_assign(&mut self, k: f64) {
            *self = Vec2 { x: self.x * k, y: self.y * k };
        }
    }
    #[differentiable]
    impl<const N: usize> Add for Vector<N> {
        type Output = Self;
        fn add(self, o: Self) -> Self {
            let mut sum = self.0;
            for i in 0..N {
                sum[i] += o.0[i];
            }
            Vector(sum)
        }
    }
    #[differentiable]
    impl<const N: usize> AddAssign for Vector<N> {
        fn add_assign(&mut self, o: Self) {
            for i in 0..N {
                self.0[i] += o.0[i];
            }
        }
    }

    #[differentiable]
    impl<const N: usize> SubAssign for Vector<N> {
        fn sub_assign(&mut self, o: Self) {
            for (a, b) in self.0.iter_mut().zip(o.0) {
                *a -= b;
            }
        }
    }
    #[differentiable]
    impl<const N: usize> Sub for Vector<N> {
        type Output = Self;
        fn sub(self, o: Self) -> Self {
            Vector(std::array::from_fn(|i| self.0[i] - o.0[i]))
        }
    }

    #[differentiable]
    pub fn spring(start: Vec2, anchor: Vec2, k: f64, steps: usize) -> Vec2 {
        let (mut x, mut v) = (start, Vec2 { x: 0.0, y: 0.0 });
        for _ in 0..steps {
            v += (anchor - x) * k;
            x += v * 0.1;
            v *= 0.9;
            v -= x * (0.01 * k);
        }
        x
    }

    #[differentiable]
    pub fn sums(rows: &[Vector<3>]) -> f64 {
        let mut total = Vector([0.1, 0.2, 0.3]);
        for row in rows {
            total += *row;
            total -= Vector([row.0[1]; 3]);
        }
        total.0[0] * total.0[1] - total.0[2]
    }
}

#[test]
fn marked_assignments() {
    let at = |x, y| onto::Vec2 { x, y };
    check_rule(
        onto::spring::rule,
        [(at(0.7, 0.4), at(0.1, 1.0), 0.8, 3), (at(0.2, 0.5), at(0.4, 0.3), 0.3, 0)],
    );
    let rows = vec![onto::Vector([0.1, 0.5, 0.3]), onto::Vector([0.7, 0.2, -0.4])];
    check_rule(onto::sums::rule, [(rows.clone(),), (rows[..1].to_vec(),)]);
}

/// The rules of operators that keep something for their pullbacks do so in memory that serves the next ones.
#[test]
fn of_loops_in_place() {
    #[derive(Differentiable, Clone, Copy, Debug)]
    struct Mat<const R: usize, const C: usize>([[f64; C]; R]);

    #[differentiable]
    impl<const R: usize, const C: usize> std::ops::Add for Mat<R, C> {
        type Output = Self;
        fn add(mut self, other: Self) -> Self {
            for (a, b) in self.0.iter_mut().zip(other.0.iter()) {
                for (x, y) in a.iter_mut().zip(b.iter()) {
                    *x += *y;
                }
            }
            self
        }
    }

    #[differentiable]
    impl<const R: usize, const C: usize> std::ops::Mul<f64> for Mat<R, C> {
        type Output = Self;
        fn mul(mut self, k: f64) -> Self {
            for row in &mut self.0 {
                row.iter_mut().for_each(|x| *x *= k * *x);
            }
            self
        }
    }

    #[differentiable]
    fn iterated(a: Mat<2, 3>, b: Mat<2, 3>, n: usize) -> f64 {
        let mut c = a;
        for _ in 0..n {
            c = c * 0.7 + b * c.0[0][0];
        }
        c.0[1].iter().sum()
    }

    let a = Mat([[0.5, -0.3, 0.8], [1.1, 0.2, -0.6]]);
    let b = Mat([[0.4, 0.9, -0.7], [0.3, 0.1, -1.2]]);
    check_rule(iterated::rule, [(a, b, 3), (b, a, 2)]);
}

#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
struct Spin {
    re: f64,
    im: f64,
}

impl Spin {
    const UNIT: Spin = Spin { re: 0.5, im: 1.0 };
}

#[differentiable]
impl Mul<f64> for Spin {
    type Output = Spin;
    fn mul(self, k: f64) -> Spin {
        Spin { re: self.re * k, im: self.im * k }
    }
}

struct Gravity;

impl Gravity {
    const ON_EARTH: f64 = 9.81;
}

/// A constant of a type may be one of that type, or a number.
#[differentiable]
fn constants_of_types(x: &[f64]) -> f64 {
    let spin = Spin::UNIT * x[0];
    let turned = spin * (x[0] * x[1]);
    let fall = Gravity::ON_EARTH * x[1] - 2.0 * Gravity::ON_EARTH;
    spin.re * turned.im + fall * fall
}

#[test]
fn constants_as_operands() {
    check_rule(constants_of_types::rule, [(vec![0.3, 0.5],)]);
}

/// Parts of what operators return, without a name for the whole.
#[differentiable]
fn parts(a: Spin, b: Spin, x: &[f64]) -> f64 {
    let mut sum = (a * x[0]).re * (b * x[1]).im;
    for i in 0..x.len() {
        sum += (a * sum).im - ([a, b][i % 2] * x[i]).re;
    }
    let scaled = |k: f64| (a * k * x[0]).re;
    if (b * sum).re > 1.0 { scaled(sum) } else { scaled(2.0) * sum }
}

#[test]
fn parts_of_what_operators_return() {
    let (a, b) = (Spin { re: 0.3, im: -0.5 }, Spin { re: 1.2, im: 0.7 });
    check_rule(parts::rule, [(a, b, vec![0.3, 0.5]), (b, a, vec![1.3, 2.5, -0.5])]);
}
