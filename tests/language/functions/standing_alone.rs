//! Calls that write within expressions, parts of what operators return, and folds by the operators of users' types.

use pullback::prelude::*;
use pullback::testing::check_rule;

#[derive(Clone)]
struct Generator(u64);

impl Generator {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[differentiable]
fn draw(x: f64, #[constant] generator: &mut Generator) -> f64 {
    x * generator.uniform()
}

#[differentiable]
fn draws(x: &[f64], #[constant] generator: &mut Generator) -> Vec<f64> {
    x.iter().map(|x| x * generator.uniform()).collect()
}

#[differentiable]
fn twice(x: f64, #[constant] generator: &mut Generator) -> f64 {
    draw(x, generator) + draw(x * x, generator)
}

/// A local that goes on to hold constants.
#[differentiable]
fn simulated(x: &[f64], n: usize) -> f64 {
    let mut generator = constant(Generator(42));
    let mut total = 0.0;
    for _ in 0..n {
        total += draw(x[0], &mut generator) - draw(x[1] * x[0], &mut generator);
    }
    let all = draws(x, &mut generator);
    total * all[0] + twice(x[1], &mut generator)
}

#[differentiable]
fn raise(x: &mut f64) -> f64 {
    *x *= 1.5;
    *x + 1.0
}

/// What stands before a call reads what that changes, and what stands behind it reads it, too.
#[differentiable]
fn in_order(x: f64) -> f64 {
    let mut y = x * x;
    y * raise(&mut y) + y.sin() - 2.0 * raise(&mut y) * y
}

#[differentiable]
fn within(x: f64) -> f64 {
    let mut y = x * x;
    let z = (y, raise(&mut y), y).0 * (raise(&mut y) + (y, raise(&mut y)).1).sin();
    if z > 0.3 { y * raise(&mut y) } else { (raise(&mut y) * y).max(-z * raise(&mut y)) }
}

#[differentiable]
fn conditions(x: f64) -> f64 {
    let mut y = x;
    if raise(&mut y) > 1.5 {
        y *= x;
    }
    let z = if raise(&mut y) * y > 2.0 { y } else { x };
    match raise(&mut y) as i32 {
        1 => y * z,
        n => z * n as f64 + y,
    }
}

#[derive(Clone, Copy, Debug, Differentiable)]
struct Complex {
    re: f64,
    im: f64,
}

#[differentiable]
impl std::ops::Add for Complex {
    type Output = Complex;
    fn add(self, other: Complex) -> Complex {
        Complex { re: self.re + other.re, im: self.im + other.im }
    }
}

#[differentiable]
impl std::ops::Mul for Complex {
    type Output = Complex;
    fn mul(self, other: Complex) -> Complex {
        Complex { re: self.re * other.re - self.im * other.im, im: self.re * other.im + self.im * other.re }
    }
}

#[differentiable]
impl Complex {
    fn new(re: f64, im: f64) -> Complex {
        Complex { re, im }
    }
}

#[differentiable]
fn parts(x: f64) -> f64 {
    let a = Complex { re: x, im: x.sin() };
    let cubed = (a * a * a).im;
    cubed * (a * a).re + (a + a).im.cos()
}

/// Of types that have operators, and none that assign.
#[differentiable]
fn folds(x: &[f64]) -> f64 {
    let product = x.iter().fold(Complex::new(1.0, x[0]), |t, &q| t * Complex { re: q, im: q * q });
    let (sum, other) = x.iter().fold((Complex::new(x[1], 0.0), Complex::new(x[0], 1.0)), |(s, p), &q| {
        (s + Complex::new(q, 1.0), p * Complex::new(q, 0.5))
    });
    let all = x.iter().map(|q| Complex::new(*q, q.cos())).reduce(|a, b| a * b).unwrap();
    let some = [sum, other, all];
    product.re + some.iter().copied().reduce(|a, b| a + b).unwrap().im * all.re
}

#[differentiable]
fn scaled(x: f64, k: f64) -> f64 {
    x.sin() * k
}

/// Elements that are taken out of vectors within expressions, in order.
#[differentiable]
fn taken_out(x: &[f64], k: f64) -> f64 {
    let mut stack = x.to_vec();
    let mut ids = vec![0usize, 1, 2, 0];
    let d = stack[0] * stack.pop().unwrap() - stack.pop().unwrap() / k;
    let (a, b) = (stack.pop().unwrap(), stack.remove(0));
    let mut out = [0.0; 2];
    out[0] = stack.pop().unwrap() * 2.0 + stack.len() as f64;
    out[1] += scaled(stack.pop().unwrap(), k) * x[ids.pop().unwrap()];
    let mut total = a - b * d + out[0] * out[1];
    if stack.pop().unwrap() > 0.5 {
        total *= x[ids.pop().unwrap()];
    }
    total + stack.pop().unwrap_or(1.0) * x[ids.remove(0)] * stack.pop().unwrap_or(3.0)
}

#[differentiable]
fn taken_out_of_what_may_be_empty(x: &[f64], k: f64) -> Result<f64, &'static str> {
    let mut stack = x.to_vec();
    let a = stack.pop().ok_or("empty")? * k;
    let b = stack.pop().ok_or_else(|| "one alone")?.sin() - a;
    Ok(stack.pop().ok_or("two alone")? * a + b * stack.swap_remove(0))
}

/// A machine with a stack: the numbers on it, and operators.
#[derive(Clone, Debug, Differentiable)]
struct Machine {
    stack: Vec<f64>,
    scale: f64,
}

#[differentiable]
impl Machine {
    fn run(&mut self, code: &[u8]) -> f64 {
        for &op in code {
            match op {
                b'+' => {
                    let sum = self.stack.pop().unwrap() + self.stack.pop().unwrap();
                    self.stack.push(sum);
                }
                b'-' => {
                    let minus = self.stack.pop().unwrap() - self.stack.pop().unwrap();
                    self.stack.push(minus);
                }
                _ => {
                    let scaled = self.stack.pop().unwrap() * self.scale;
                    self.stack.push(scaled);
                }
            }
        }
        self.stack.pop().unwrap() * self.scale
    }
}

#[differentiable]
fn of_machine(x: &[f64], k: f64, code: &[u8]) -> f64 {
    let mut machine = Machine { stack: x.to_vec(), scale: k };
    machine.run(code)
}

#[test]
fn elements_that_are_taken_out() {
    let x = vec![0.1, 0.2, 0.7, 0.4, 0.5, 0.6, 0.7];
    check_rule(taken_out::rule, [(x.clone(), 0.7), ([&x[..], &[0.8]].concat(), 1.1)]);
    check_rule(taken_out_of_what_may_be_empty::rule, [(x.clone(), 0.7), (vec![0.3], 0.2)]);
    check_rule(of_machine::rule, [(x.clone(), 0.7, b"+-*+-".to_vec()), (x, 0.7, b"*".to_vec())]);
}

#[test]
fn writes() {
    check_rule(simulated::rule, [(vec![0.4, 0.3], 3), (vec![0.4, 0.3, 0.9], 0)]);
    check_rule(in_order::rule, [(0.4,), (-1.2,)]);
    check_rule(within::rule, [(0.4,), (-1.2,), (1.7,)]);
    check_rule(conditions::rule, [(0.2,), (-1.2,), (1.1,)]);
}

#[test]
fn operators() {
    check_rule(parts::rule, [(0.4,), (-1.2,)]);
    check_rule(folds::rule, [(vec![0.4, 0.3],), (vec![0.4, 0.3, -0.9],)]);
}

/// What is not known to read is taken to write.
#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Sums {
    total: f64,
    count: f64,
}

#[differentiable]
impl Sums {
    fn new(x: f64) -> Self {
        Sums { total: x * x, count: 1.0 }
    }
    fn add(&mut self, x: f64) -> f64 {
        self.total += x * self.count;
        self.total
    }
    fn flush(&mut self) -> f64 {
        let total = self.total;
        self.total = 0.0;
        self.count += 1.0;
        total * total
    }
    fn mean(&self) -> f64 {
        self.total / self.count
    }
}

#[differentiable]
fn of_reference(sums: &mut Sums, x: &[f64]) -> f64 {
    let mut t = 0.0;
    for v in x {
        t += sums.add(*v) * v + sums.mean();
        t += sums.flush() * v;
    }
    t + sums.total * sums.add(2.0) - sums.mean()
}

#[differentiable]
fn of_locals(x: f64) -> f64 {
    let mut a = Sums { total: x, count: 1.0 };
    let mut b = a.clone();
    let mut made = Sums::new(x);
    a.add(x) * b.add(x * 2.0) + a.flush() * b.mean() - made.add(a.total) * made.flush()
}

#[differentiable]
trait Step {
    fn step(&mut self, x: f64) -> f64;
    fn value(&self) -> f64;
}

#[differentiable]
impl Step for Sums {
    fn step(&mut self, x: f64) -> f64 {
        // Of another `impl`.
        self.add(x) * 2.0 - self.mean()
    }
    fn value(&self) -> f64 {
        self.total
    }
}

#[differentiable]
fn of_any<S: Step>(s: &mut S, x: f64) -> f64 {
    let a = 1.0 + s.step(x) * s.value();
    a * s.step(a) + s.value().sin()
}

#[differentiable]
fn stepped(sums: &mut Sums, x: f64) -> f64 {
    of_any(sums, x) * of_any(sums, x + 1.0)
}

#[test]
fn methods_of_other_objects() {
    let sums = Sums { total: 0.4, count: 1.3 };
    check_rule(of_reference::rule, [(sums.clone(), vec![0.2, 0.7]), (sums.clone(), vec![])]);
    check_rule(of_locals::rule, [(0.3,), (-1.2,)]);
    check_rule(stepped::rule, [(sums.clone(), 0.3), (sums, -0.7)]);
}
