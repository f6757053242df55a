//! The checks that a function on dual numbers must pass: pushforwards, Jacobians, and second derivatives.

use std::fmt::Display;
use std::ops::Deref;

use ndarray::{ArrayView2, aview1};
use pullback_rules::__private::{Liftable, Numbers};

use super::allocator::{CountingAllocator, allocations_in};
use super::check::InputOf;
use super::coordinates::{Coordinate, Number, numbers, reals, replace, replace_one};
use super::differences::{self, Displacement, Objective, Precision};
use super::parameter::{Mode, TestFunction, TestParameters};
use super::random::Random;
use super::specimen::Owned;
use crate::gradient::Driver;
use crate::hessian::{Hessian, Products};
use crate::jacobian::Jacobian;
use crate::pushforward::Pushforward;
use crate::rows::{HasRows, LANES};
use crate::sparse::hessian::SparseHessian;
use crate::sparse::jacobian::SparseJacobian;
use crate::sparse::{HessianColouring, JacobianColouring};
use crate::{Args, Buffers, Function, Gradients, Output, Rule};

/// A [`TestFunction`] that runs on dual numbers, as `#[differentiable(dual)]` functions do.
pub trait TestDual:
    TestFunction<Output: Output<Gradient: Numbers<f64>>> + Liftable<1> + Liftable<4> + Liftable<8> + HasRows
{
}

impl<F> TestDual for F where
    F: TestFunction<Output: Output<Gradient: Numbers<f64>>>
        + Liftable<1>
        + Liftable<4>
        + Liftable<8>
        + HasRows
{
}

/// Checks forward mode and Jacobians of a `#[differentiable(dual)]` function, on each of `inputs`:
///
/// * `value_and_jacobian`, `value_and_pushforward` and `value_and_pushforwards` give the value of the primal, bit for bit; the first leaves
///   the arguments alone, the others leave in them what the primal leaves there.
/// * Each row of the Jacobian is the gradient that reverse mode computes, and the pushforward in a random direction is the product with
///   that.
/// * The sparse Jacobian, in the places of the pattern that is detected there, is the same matrix.
/// * When they are called again, with other sizes in between, the results are the same, and nothing is allocated that the primal
///   would not allocate. This is checked where the test binary installs the [`CountingAllocator`].
///
/// `rule` is what [`check_rule`](super::check_rule) takes: `f::rule`.
///
/// # Panics
/// If one fails, with a message that says where.
///
/// # Examples
/// ```
/// use pullback::prelude::*;
/// use pullback::testing::check_pushforward;
///
/// #[differentiable(dual)]
/// fn polar(radius: f64, angle: f64) -> (f64, f64) {
///     (radius * angle.cos(), radius * angle.sin())
/// }
///
/// check_pushforward(polar::rule, [(2.0, 0.3), (0.5, -1.0)]);
/// ```
pub fn check_pushforward<R: Rule<Function: TestDual> + 'static>(
    rule: impl Fn() -> R,
    inputs: impl IntoIterator<Item = InputOf<R>>,
) {
    let cases = cases(inputs);
    let mut tester = FirstOrder::<R::Function>::new(&rule);
    cases.iter().for_each(|case| tester.check(case, false));
    cases.iter().rev().for_each(|case| tester.check(case, true));
}

/// Checks second derivatives of a `#[differentiable(dual)]` function of one number, on each of `inputs`, and all that
/// [`check_pushforward`] checks:
///
/// * `value_gradient_and_hvp` and `value_gradient_and_hessian` give the value of the primal, bit for bit, and leave the arguments
///   alone. The gradient is that of `value_and_gradient`.
/// * The product of the Hessian with a random direction agrees with [finite differences](super::CheckRule#finite-differences) of the
///   gradient, and is what the Hessian, which is symmetric, makes of it. So is the sparse Hessian, and the diagonal is the Hessian's.
/// * When they are called again, with other sizes in between, the results are the same, and nothing is allocated that the gradient
///   would not allocate.
///
/// # Panics
/// If one fails, with a message that says where.
///
/// # Examples
/// ```
/// use pullback::prelude::*;
/// use pullback::testing::check_second_order;
///
/// #[differentiable(dual)]
/// fn energy(x: &[f64], stiffness: f64) -> f64 {
///     x.iter().map(|x| 0.5 * stiffness * x.powi(4)).sum()
/// }
///
/// check_second_order(energy::rule, [(vec![1.0, -2.0], 3.0), (vec![0.5], 2.0)]);
/// ```
pub fn check_second_order<R: Rule<Function: TestDual + Function<Output = f64>> + 'static>(
    rule: impl Fn() -> R,
    inputs: impl IntoIterator<Item = InputOf<R>>,
) {
    let inputs: Vec<_> = inputs.into_iter().collect();
    check_pushforward(&rule, inputs.clone());
    let cases = cases(inputs);
    let mut tester = SecondOrder::<R::Function>::new(&rule);
    cases.iter().for_each(|case| tester.check(case, false));
    cases.iter().rev().for_each(|case| tester.check(case, true));
}

/// Everything agrees to within this, relative to the largest number around, except with differences.
const TOLERANCE: f64 = 1e-10;

/// An input, and what to expect of it.
struct Case<F: TestFunction> {
    input: Owned<F>,
    expected: Expected,
}

/// What is compared, whatever the function: compiled once for all.
struct Expected {
    name: &'static str,
    index: usize,
    /// The numbers of the active arguments.
    point: Vec<f64>,
    direction: Vec<f64>,
    /// The value, and what the arguments hold before and afterwards.
    result: Vec<Number>,
    held: Vec<Number>,
    left: Vec<Number>,
    /// How many numbers the value and the `&mut` arguments have.
    outputs: usize,
    /// How often the primal allocates.
    allocations: usize,
}

fn cases<F: TestFunction>(inputs: impl IntoIterator<Item = Owned<F>>) -> Vec<Case<F>> {
    let cases: Vec<_> = inputs.into_iter().enumerate().map(|(i, input)| Case::new(i, input)).collect();
    assert!(!cases.is_empty(), "`{}`: no input to test on", F::NAME);
    cases
}

impl<F: TestFunction> Case<F> {
    fn new(index: usize, input: Owned<F>) -> Self {
        let held = all::<F>(&mut input.clone());
        let point = reals(&held);
        let direction = Random::new(index as u64 + 1).weights(point.len());
        F::primal(lend::<F>(&mut input.clone()));
        let mut args = input.clone();
        let (mut output, allocations) = allocations_in(|| F::primal(lend::<F>(&mut args)));
        let result = numbers(&mut output);
        let mut written = Vec::new();
        F::Parameters::visit(&mut args, &mut listing(&mut written, is_written::<F>));
        let outputs = reals(&result).len() + reals(&written).len();
        let left = all::<F>(&mut args);
        let name = F::NAME;
        let expected = Expected { name, index, point, direction, result, held, left, outputs, allocations };
        Case { input, expected }
    }

    /// `args` hold what they held.
    fn untouched(&self, what: &str, args: &mut Owned<F>) {
        self.same(&format!("{what}, what an argument holds afterwards"), &self.held, &all::<F>(args));
    }
}

impl<F: TestFunction> Deref for Case<F> {
    type Target = Expected;

    fn deref(&self) -> &Expected {
        &self.expected
    }
}

impl Expected {
    fn fail(&self, what: impl Display) -> ! {
        panic!("`{}`, input {}: {what}", self.name, self.index)
    }

    /// `got` is that of the primal, bit for bit.
    fn same(&self, what: &str, expected: &[Number], got: &[Number]) {
        if expected.len() != got.len() {
            self.fail(format!("{what}: expected {} numbers, got {}", expected.len(), got.len()));
        }
        for (i, (expected, got)) in expected.iter().zip(got).enumerate() {
            if !expected.same(*got) {
                self.fail(format!("{what} differs: number {i}: expected {expected}, got {got}"));
            }
        }
    }

    fn close(&self, what: &str, expected: &[f64], got: &[f64]) {
        if expected.len() != got.len() {
            self.fail(format!("{what}: expected {} numbers, got {}", expected.len(), got.len()));
        }
        let scale = expected.iter().fold(1e-3, |scale: f64, x| scale.max(x.abs()));
        for (i, (&expected, &got)) in expected.iter().zip(got).enumerate() {
            let close = (expected - got).abs() <= TOLERANCE * scale;
            if !close && !Number::F64(expected).same(Number::F64(got)) {
                self.fail(format!("{what}: number {i}: expected {expected:?}, got {got:?}"));
            }
        }
    }

    /// Row by row.
    fn all_close(&self, what: &str, expected: ArrayView2<'_, f64>, got: ArrayView2<'_, f64>) {
        if expected.dim() != got.dim() {
            self.fail(format!("{what}: expected {:?} numbers, got {:?}", expected.dim(), got.dim()));
        }
        for (i, (expected, got)) in expected.rows().into_iter().zip(got.rows()).enumerate() {
            self.close(&format!("row {i} of {what}"), &expected.to_vec(), &got.to_vec());
        }
    }

    fn allocates(&self, what: &str, got: usize, allowed: usize) {
        if CountingAllocator::is_installed() && got > allowed {
            self.fail(format!("a later call of {what} allocates {got} times, instead of {allowed}"));
        }
    }
}

fn lend<F: TestFunction>(owned: &mut Owned<F>) -> Args<'_, F> {
    F::Parameters::lend(owned)
}

/// A visitor that lists what belongs to some of the parameters.
fn listing(list: &mut Vec<Number>, of: impl Fn(usize) -> bool) -> impl FnMut(usize, Coordinate<'_>) {
    move |parameter, coordinate| {
        if of(parameter) {
            list.push(coordinate.into());
        }
    }
}

/// What the arguments hold.
fn all<F: TestFunction>(args: &mut Owned<F>) -> Vec<Number> {
    let mut list = Vec::new();
    F::Parameters::visit(args, &mut listing(&mut list, |_| true));
    list
}

fn is_written<F: TestFunction>(parameter: usize) -> bool {
    F::Parameters::MODES[parameter] == Mode::Mutable
}

/// A gradient, parameter by parameter.
fn flat<F: TestFunction>(mut gradients: Gradients<F>, buffers: &mut Buffers<F>) -> Vec<f64> {
    let mut parts = vec![Vec::new(); F::Parameters::MODES.len()];
    let mut list = |parameter: usize, coordinate: Coordinate<'_>| {
        parts[parameter].extend(Number::from(coordinate).real());
    };
    F::Parameters::visit_buffers(buffers, &mut list);
    F::Parameters::visit_returned(&mut gradients, &mut list);
    parts.concat()
}

/// The objects under test, which last from input to input.
struct FirstOrder<F: TestDual> {
    /// To compare with.
    driver: Driver<F>,
    jacobian: Jacobian<F>,
    rows: Jacobian<F>,
    sparse: SparseJacobian<F>,
    pushforward: Pushforward<F>,
    several: Pushforward<F, 4>,
}

impl<F: TestDual> FirstOrder<F> {
    fn new<R: Rule<Function = F> + 'static>(rule: impl Fn() -> R) -> Self {
        FirstOrder {
            driver: Driver::new(rule()),
            jacobian: Jacobian::default(),
            rows: Jacobian::default(),
            sparse: SparseJacobian::default(),
            pushforward: Pushforward::default(),
            several: Pushforward::default(),
        }
    }

    fn check(&mut self, case: &Case<F>, later: bool) {
        let FirstOrder { driver, jacobian, rows, sparse, pushforward, several } = self;
        // A result that owns memory comes in dual numbers, too, and with its derivative.
        let once = if case.result.len() == 1 { case.allocations } else { 3 * case.allocations };

        let mut args = case.input.clone();
        let ((mut value, matrix), allocations) = allocations_in(|| jacobian.run(lend::<F>(&mut args)));
        case.same("the value with the Jacobian", &case.result, &numbers(&mut value));
        case.untouched("the Jacobian", &mut args);
        if matrix.dim() != (case.outputs, case.point.len()) {
            case.fail(format!("the Jacobian is {:?}", matrix.dim()));
        }
        if later {
            let runs = case.point.len().div_ceil(8).max(1) + case.outputs;
            case.allocates("the Jacobian", allocations, runs * once);
        }
        rows_agree(case, driver, &value, matrix);

        let mut args = case.input.clone();
        let (mut value, allocations) = allocations_in(|| rows.by_rows(&mut lend::<F>(&mut args)));
        case.untouched("the Jacobian by rows", &mut args);
        case.same("the value with the Jacobian by rows", &case.result, &numbers(&mut value));
        case.all_close("the Jacobian by rows", matrix, rows.view());
        if later {
            let runs = case.outputs.div_ceil(LANES).max(1);
            case.allocates("the Jacobian by rows", allocations, runs * once);
        }

        let colouring = JacobianColouring::new(sparse.pattern(lend::<F>(&mut case.input.clone())));
        let mut args = case.input.clone();
        let ((mut value, entries), allocations) =
            allocations_in(|| sparse.run(lend::<F>(&mut args), &colouring));
        case.same("the value with the sparse Jacobian", &case.result, &numbers(&mut value));
        case.untouched("the sparse Jacobian", &mut args);
        case.all_close("the sparse Jacobian", matrix, colouring.pattern().dense(&entries).view());
        if later {
            case.allocates("the sparse Jacobian", allocations, colouring.runs() * once);
        }

        pushed(case, pushforward, matrix, later);
        pushed(case, several, matrix, later);
    }
}

/// Compares pushforwards in several directions with products of the Jacobian.
fn pushed<F: TestDual + Liftable<N>, const N: usize>(
    case: &Case<F>,
    pushforward: &mut Pushforward<F, N>,
    jacobian: ArrayView2<'_, f64>,
    later: bool,
) {
    let mut random = Random::new(case.index as u64 + N as u64);
    let directions: [_; N] = std::array::from_fn(|_| random.weights(case.point.len()));
    let mut args = case.input.clone();
    let ((mut value, tangents, buffers), allocations) = allocations_in(|| {
        pushforward.run(lend::<F>(&mut args), |lifted| {
            for (k, direction) in directions.iter().enumerate() {
                lifted.direct_flat(k, |flat| flat.extend(direction));
            }
        })
    });
    case.same("the value with the pushforward", &case.result, &numbers(&mut value));
    case.same("the pushforward, what an argument holds afterwards", &case.left, &all::<F>(&mut args));
    for ((mut tangent, buffers), direction) in tangents.into_iter().zip(buffers).zip(&directions) {
        let mut got = numbers(&mut tangent);
        F::Parameters::visit_buffers(buffers, &mut listing(&mut got, is_written::<F>));
        case.close("the pushforward", &jacobian.dot(&aview1(direction)).to_vec(), &reals(&got));
    }
    if later {
        // A result that owns memory comes in dual numbers, too, and with each derivative.
        let copies = if case.result.len() == 1 { 1 } else { N + 2 };
        case.allocates("the pushforward", allocations, copies * case.allocations);
    }
}

/// Compares a Jacobian with what reverse mode makes of unit seeds.
fn rows_agree<F: TestDual>(
    case: &Case<F>,
    driver: &mut Driver<F>,
    value: &F::Output,
    matrix: ArrayView2<'_, f64>,
) {
    let mut seed = F::Output::empty();
    value.prepare(&mut seed);
    let of_value = reals(&numbers(&mut seed)).len();
    for (r, row) in matrix.rows().into_iter().enumerate() {
        let unit = |i: usize, _| if i == r { 1.0 } else { 0.0 };
        replace(&mut seed, &mut { unit });
        let mut args = case.input.clone();
        let (_, gradients, buffers) =
            driver.pullback(lend::<F>(&mut args), F::Output::lend(&seed), |buffers| {
                let mut index = of_value;
                F::Parameters::visit_buffers(buffers, &mut |parameter, coordinate| {
                    if is_written::<F>(parameter) {
                        replace_one(coordinate, &mut index, &mut { unit });
                    }
                });
            });
        case.close(&format!("row {r} of the Jacobian"), &flat::<F>(gradients, buffers), &row.to_vec());
    }
}

struct SecondOrder<F: TestDual + Function<Output = f64>> {
    driver: Driver<F>,
    products: Products<F>,
    hessian: Hessian<F>,
    diagonal: Hessian<F>,
    sparse: SparseHessian<F>,
}

impl<F: TestDual + Function<Output = f64>> SecondOrder<F> {
    fn new<R: Rule<Function = F> + 'static>(rule: impl Fn() -> R) -> Self {
        SecondOrder {
            driver: Driver::new(rule()),
            products: Products::default(),
            hessian: Hessian::default(),
            diagonal: Hessian::default(),
            sparse: SparseHessian::default(),
        }
    }

    fn check(&mut self, case: &Case<F>, later: bool) {
        let SecondOrder { driver, products, hessian, diagonal, sparse } = self;
        let mut args = case.input.clone();
        let ((_, gradients, buffers), once) = allocations_in(|| driver.gradient(lend::<F>(&mut args)));
        let expected = flat::<F>(gradients, buffers);

        let mut args = case.input.clone();
        let ((value, (g, g_buffers), (p, p_buffers)), allocations) =
            allocations_in(|| products.run_flat(lend::<F>(&mut args), |flat| flat.extend(&case.direction)));
        case.same("the value with the product", &case.result, &[Number::F64(value)]);
        case.untouched("the product", &mut args);
        case.close("the gradient with the product", &expected, &flat::<F>(g, g_buffers));
        let product = flat::<F>(p, p_buffers);
        if later {
            case.allocates("the product", allocations, once.max(case.allocations));
        } else {
            differences_agree(case, driver, &product);
        }

        let mut args = case.input.clone();
        let ((value, (g, g_buffers), matrix), allocations) =
            allocations_in(|| hessian.run(lend::<F>(&mut args)));
        case.same("the value with the Hessian", &case.result, &[Number::F64(value)]);
        case.untouched("the Hessian", &mut args);
        case.close("the gradient with the Hessian", &expected, &flat::<F>(g, g_buffers));
        case.close("the product", &matrix.dot(&aview1(&case.direction)).to_vec(), &product);
        case.all_close("the Hessian", matrix.t(), matrix);
        let runs = case.point.len().div_ceil(4).max(1);
        if later {
            case.allocates("the Hessian", allocations, runs * once.max(case.allocations));
        }

        let mut args = case.input.clone();
        let ((value, (g, g_buffers), (d, d_buffers)), allocations) =
            allocations_in(|| diagonal.diagonal(lend::<F>(&mut args)));
        case.same("the value with the diagonal of the Hessian", &case.result, &[Number::F64(value)]);
        case.untouched("the diagonal of the Hessian", &mut args);
        case.close("the gradient with the diagonal of the Hessian", &expected, &flat::<F>(g, g_buffers));
        case.close("the diagonal of the Hessian", &matrix.diag().to_vec(), &flat::<F>(d, d_buffers));
        if later {
            case.allocates("the diagonal of the Hessian", allocations, runs * once.max(case.allocations));
        }

        let colouring = HessianColouring::new(sparse.pattern(lend::<F>(&mut case.input.clone())));
        let mut args = case.input.clone();
        let ((value, (g, g_buffers), entries), allocations) =
            allocations_in(|| sparse.run(lend::<F>(&mut args), &colouring));
        case.same("the value with the sparse Hessian", &case.result, &[Number::F64(value)]);
        case.untouched("the sparse Hessian", &mut args);
        case.close("the gradient with the sparse Hessian", &expected, &flat::<F>(g, g_buffers));
        case.all_close("the sparse Hessian", matrix, colouring.pattern().dense(&entries).view());
        if later {
            case.allocates("the sparse Hessian", allocations, colouring.runs() * once.max(case.allocations));
        }
    }
}

/// Compares a product of the Hessian with differences of gradients: it is itself the gradient of *∇f · v*.
fn differences_agree<F: TestDual + Function<Output = f64>>(
    case: &Case<F>,
    driver: &mut Driver<F>,
    product: &[f64],
) {
    let mut objective = |_, displacement: Displacement<'_>| {
        let (mut args, mut index) = (case.input.clone(), 0);
        F::Parameters::visit(&mut args, &mut |_, coordinate| {
            replace_one(coordinate, &mut index, &mut |i, x| x + displacement(i));
        });
        let (_, gradients, buffers) = driver.gradient(lend::<F>(&mut args));
        let terms = flat::<F>(gradients, buffers).into_iter().zip(&case.direction).map(|(d, v)| d * v);
        let mut objective = Objective { value: 0.0, magnitude: 0.0 };
        for term in terms {
            objective.value += term;
            objective.magnitude += term.abs();
        }
        objective
    };
    let (point, product) = ([case.point.clone()], [product.to_vec()]);
    let (precision, mut random) = (Precision::new(false, None), Random::new(0));
    if let Some(found) = differences::compare(precision, &point, &product, &mut random, &mut objective) {
        case.fail(format!(
            "the product of the Hessian with a direction: {}",
            found.describe(&|_, place| place.to_string())
        ));
    }
}
