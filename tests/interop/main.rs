//! Functions of a point, as solvers call them: by `&self`, from any thread, with data beside.

#![allow(missing_docs, unreachable_pub, reason = "functions as users write them")]

use ndarray::{Array2, array};
use pullback::interop::Problem;
use pullback::prelude::*;
use pullback::testing::{CountingAllocator, allocations_in};

#[cfg(feature = "argmin")]
mod argmin;
#[cfg(feature = "argmin-nalgebra")]
mod argmin_nalgebra;
#[cfg(feature = "basin")]
mod basin;
#[cfg(feature = "diffsol")]
mod diffsol;
#[cfg(feature = "levenberg-marquardt")]
mod levenberg_marquardt;
#[cfg(any(feature = "argmin", feature = "basin"))]
mod valley;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Parameters of every kind, constant ones between them.
#[differentiable(dual)]
fn mixture(
    a: f64,
    #[constant] data: &[f64],
    w: &[f64],
    #[constant] scale: f64,
    pair: [f64; 2],
    power: i32,
    m: &Array2<f64>,
) -> f64 {
    let mut total = (a * pair[0]).sin();
    for i in 0..w.len() {
        let miss = w[i].exp() * m[[i, 0]] - data[i] * pair[1];
        total += scale * miss.powi(power) + m[[i, 1]] * m[[i, 1]] * w[i];
    }
    total
}

/// A function of a vector that is not run on dual numbers.
#[differentiable]
fn bowl(x: &[f64], #[constant] centre: &[f64]) -> f64 {
    assert!(x[0] >= 0.0, "outside");
    let mut total = 0.0;
    for i in 0..x.len() {
        let d = x[i] - centre[i];
        total += (i + 1) as f64 * d * d * d * d;
    }
    total
}

/// As many numbers as `x` has, and two.
#[differentiable(dual)]
fn outputs(x: &[f64], y: f64) -> Vec<f64> {
    let mut made = Vec::new();
    made.push(x[0] * y);
    made.push(x[1] / y);
    for i in 0..x.len() {
        made.push(x[i] * y.sin() * x[0]);
    }
    made
}

/// Numbers in an array.
#[differentiable(dual)]
fn polar(x: f64, y: f64) -> [f64; 2] {
    [x.hypot(y), y.atan2(x)]
}

const DATA: [f64; 3] = [0.5, -0.25, 1.5];
const W: [f64; 3] = [0.1, 0.2, -0.3];

fn matrix() -> Array2<f64> {
    array![[1.0, 0.5], [2.0, -0.5], [0.25, 1.5]]
}

#[test]
fn the_point_is_all_active_arguments_in_order() {
    let m = matrix();
    let problem = Problem::<mixture>::new((0.7, &DATA, &W, 0.5, [1.1, 0.9], 3, &m));
    assert_eq!(problem.point(), [0.7, 0.1, 0.2, -0.3, 1.1, 0.9, 1.0, 0.5, 2.0, -0.5, 0.25, 1.5]);

    // Elsewhere than at the start.
    let x: Vec<f64> = problem.point().iter().enumerate().map(|(i, x)| x + 0.01 * i as f64).collect();
    let (w, m) = ([x[1], x[2], x[3]], Array2::from_shape_vec((3, 2), x[6..].to_vec()).unwrap());
    let mut g = mixture::hessian();
    let (value, d, h) = g.value_gradient_and_hessian(x[0], &DATA, &w, 0.5, [x[4], x[5]], 3, &m);
    let expected: Vec<f64> = [d.a].iter().chain(d.w).chain(&d.pair).chain(d.m.iter()).copied().collect();
    let h = h.to_owned();

    assert_eq!(problem.value(&x), value);
    let mut gradient = vec![f64::NAN; x.len()];
    assert_eq!(problem.value_and_gradient(&x, &mut gradient), value);
    assert_eq!(gradient, expected);

    gradient.fill(f64::NAN);
    let (same, hessian) = problem.value_gradient_and_hessian(&x, &mut gradient, |h| h.to_owned());
    assert_eq!((same, &hessian), (value, &h));
    assert_eq!(gradient, expected);

    let direction: Vec<f64> = (0..x.len()).map(|i| (i as f64).cos()).collect();
    let mut product = vec![f64::NAN; x.len()];
    assert_eq!(problem.value_and_hvp(&x, &direction, &mut product), value);
    for (p, e) in product.iter().zip(h.dot(&ndarray::aview1(&direction))) {
        assert!((p - e).abs() < 1e-13 * (1.0 + e.abs()), "{p} and {e}");
    }
}

#[test]
fn residuals_are_all_that_is_returned() {
    let problem = Problem::<outputs>::new((&[1.0, 2.0, 3.0], 0.5));
    let x = [1.5, -2.0, 0.25, 0.75];
    let (mut r, mut again) = (vec![0.0; 9], Vec::new());
    problem.residuals(&x, &mut r);
    assert_eq!(r, outputs(&x[..3], x[3]));
    let j = problem.residuals_and_jacobian(&x, &mut again, |j| j.to_owned());
    assert_eq!(again, r);
    assert_eq!(j, outputs::jacobian().value_and_jacobian(&x[..3], x[3]).1);
    assert_eq!(j.dim(), (5, 4));

    let problem = Problem::<polar>::new((3.0, 4.0));
    let j = problem.residuals_and_jacobian(&[3.0, 4.0], &mut r, |j| j.to_owned());
    assert_eq!(r, polar(3.0, 4.0));
    assert_eq!(j, array![[0.6, 0.8], [-0.16, 0.12]]);
}

#[test]
fn only_first_calls_allocate() {
    let m = matrix();
    let problem = Problem::<mixture>::new((0.7, &DATA, &W, 0.5, [1.1, 0.9], 3, &m));
    let x = problem.point();
    let (mut gradient, mut product) = (vec![0.0; x.len()], vec![0.0; x.len()]);
    let mut all = || {
        problem.value(x)
            + problem.value_and_gradient(x, &mut gradient)
            + problem.value_and_hvp(x, x, &mut product)
            + problem.value_gradient_and_hessian(x, &mut gradient, |h| h[[0, 1]]).1
    };
    let first = all();
    let (second, allocations) = allocations_in(all);
    assert_eq!((first, allocations), (second, 0));
}

#[test]
fn memory_is_what_is_held() {
    let m = matrix();
    let start = CountingAllocator::so_far().held();
    let held = || usize::try_from(CountingAllocator::so_far().held() - start).unwrap();
    let mut problem = Problem::<mixture>::new((0.7, &DATA, &W, 0.5, [1.1, 0.9], 3, &m));
    let fresh = problem.memory();
    assert_eq!(fresh, held());
    let x = [0.5; 12];
    let (mut gradient, mut used) = ([0.0; 12], 0);
    for round in 0..3 {
        problem.value_and_gradient(&x, &mut gradient);
        let first = problem.memory();
        assert_eq!(first, held());
        problem.value_gradient_and_hessian(&x, &mut gradient, |_| {
            // One object for each caller at a time.
            problem.value_and_gradient(&x, &mut [0.0; 12]);
        });
        assert!(problem.memory() > first && first > fresh);
        assert_eq!(problem.memory(), held());
        assert!(round == 0 || problem.memory() == used);
        used = problem.memory();
        problem.shrink();
        assert_eq!((problem.memory(), held()), (fresh, fresh));
    }
}

#[test]
fn threads_have_rules_of_their_own() {
    let centre: Vec<f64> = (0..50).map(|i| (i as f64).sin()).collect();
    let start = vec![0.0; 50];
    let problem = &Problem::<bowl>::new((&start, &centre));
    let point = move |k: usize| (0..50).map(|i| (i * k) as f64 / 100.0).collect::<Vec<_>>();
    let gradient = move |k: usize| {
        let mut gradient = vec![0.0; 50];
        problem.value_and_gradient(&point(k), &mut gradient);
        gradient
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4)
            .map(|t| scope.spawn(move || (0..200).map(|k| gradient(4 * k + t)).collect::<Vec<_>>()))
            .collect();
        for (t, worker) in workers.into_iter().enumerate() {
            for (k, found) in worker.join().unwrap().into_iter().enumerate() {
                let x = point(4 * k + t);
                let expected: Vec<f64> =
                    (0..50).map(|i| 4.0 * (i + 1) as f64 * (x[i] - centre[i]).powi(3)).collect();
                for (f, e) in found.iter().zip(expected) {
                    assert!((f - e).abs() <= 1e-14 * e.abs(), "{f} and {e}");
                }
            }
        }
    });
}

#[test]
fn calls_may_be_nested() {
    let centre = [1.0, 2.0];
    let outer = Problem::<bowl>::new((&[0.0, 0.0], &centre));
    let (mut gradient, mut inner) = (vec![0.0; 2], vec![0.0; 2]);
    outer.value_and_gradient(&[3.0, 3.0], &mut gradient);
    let residuals = Problem::<outputs>::new((&[0.5, 1.5, -1.0], 1.0));
    let rows = residuals.residuals_and_jacobian(residuals.point(), &mut Vec::new(), |j| {
        // The rule of this problem is at work: another is made.
        residuals.residuals_and_jacobian(residuals.point(), &mut Vec::new(), |k| assert_eq!(j, k));
        outer.value_and_gradient(&[3.0, 3.0], &mut inner);
        j.nrows()
    });
    assert_eq!((rows, gradient), (5, inner));
}

#[test]
fn a_panic_leaves_the_problem_usable() {
    let centre = [1.0, 2.0];
    let problem = Problem::<bowl>::new((&[0.0, 0.0], &centre));
    let gradient = |x: [f64; 2]| {
        let mut gradient = [0.0; 2];
        problem.value_and_gradient(&x, &mut gradient);
        gradient
    };
    let before = gradient([0.5, 0.5]);
    let panics = |x: &[f64]| {
        let call = std::panic::AssertUnwindSafe(|| problem.value(x));
        *std::panic::catch_unwind(call).expect_err("no panic").downcast::<String>().expect("a message")
    };
    let other_length = "`bowl`: the point has 3 coordinates, and the active arguments have 2";
    assert_eq!(panics(&[1.0, 2.0, 3.0]), other_length);
    for len in [1, 3] {
        let call =
            std::panic::AssertUnwindSafe(|| problem.value_and_gradient(&[1.0, 2.0], &mut vec![0.0; len]));
        assert!(std::panic::catch_unwind(call).is_err(), "memory for {len} coordinates");
    }
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| gradient([-1.0, 0.0]))).is_err());
    assert_eq!(gradient([0.5, 0.5]), before);
}

#[test]
fn a_problem_can_be_moved() {
    let centre = [1.0, 2.0];
    let mut problem = Problem::<bowl>::new((&[0.0, 0.0], &centre));
    problem.move_to(&[3.0, 4.0]);
    assert_eq!(problem.point(), [3.0, 4.0]);
    assert_eq!(problem.value(problem.point()), bowl(&[3.0, 4.0], &centre));
}
