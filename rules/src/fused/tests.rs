use ndarray::{Array1, Array2, Array3, ArrayView2, ArrayViewMut2, Axis, MathCell, ShapeBuilder, Zip, s};

use super::Real;
use crate::nn::{layer_norm, softmax};
use crate::{DualNumber, Ignored, Rule, Shadow};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Layout {
    C,
    F,
    Gaps,
    Reversed,
}

const LAYOUTS: [Layout; 4] = [Layout::C, Layout::F, Layout::Gaps, Layout::Reversed];

fn part<U>(base: ArrayView2<'_, U>, layout: Layout) -> ArrayView2<'_, U> {
    match layout {
        Layout::C => base,
        Layout::F => base.reversed_axes(),
        Layout::Gaps => base.slice_move(s![1..;2, ..;3]),
        Layout::Reversed => base.slice_move(s![..;-1, ..;-1]),
    }
}

fn part_mut<U>(base: &mut Array2<U>, layout: Layout) -> ArrayViewMut2<'_, U> {
    match layout {
        Layout::C => base.view_mut(),
        Layout::F => base.view_mut().reversed_axes(),
        Layout::Gaps => base.slice_mut(s![1..;2, ..;3]),
        Layout::Reversed => base.slice_mut(s![..;-1, ..;-1]),
    }
}

fn waves<T: Real>(rows: usize, columns: usize, seed: f64) -> Array2<T> {
    Array2::from_shape_fn((rows, columns), |(i, j)| T::of((seed + 0.7 * i as f64 + 0.31 * j as f64).sin()))
}

/// `elements` as a part of an array of that layout, with something else between them.
fn laid<T: Real>(elements: &Array2<T>, layout: Layout) -> Array2<T> {
    let (rows, columns) = elements.dim();
    let shape = match layout {
        Layout::C | Layout::Reversed => (rows, columns),
        Layout::F => (columns, rows),
        Layout::Gaps => (2 * rows + 1, 3 * columns),
    };
    let mut base = Array2::from_elem(shape, T::of(7.0));
    part_mut(&mut base, layout).assign(elements);
    base
}

/// What a call of `layer_norm` computes with arrays of these layouts: *y*, and what is in the shadows of *y*, *x*, gain and
/// bias afterwards, and *ε̇*.
fn call<T: Real>(shape: (usize, usize), axis: Axis, layouts: [Layout; 4]) -> (Vec<Array2<T>>, T) {
    let (rows, columns) = shape;
    let shapes = [shape, shape, (1, columns), (rows, 1)];
    let array = |i: usize, seed: f64| waves::<T>(shapes[i].0, shapes[i].1, seed + i as f64);
    let mut y = laid(&array(0, 0.1), layouts[0]);
    let before = y.clone();
    let operands: Vec<Array2<T>> = (1..4).map(|i| laid(&array(i, 0.1), layouts[i])).collect();
    let x: Vec<_> = operands.iter().zip(&layouts[1..]).map(|(x, l)| part(x.view(), *l)).collect();
    let epsilon = T::of(0.1);
    let mut rule = layer_norm::rule();
    rule.forward(layer_norm::args(&mut part_mut(&mut y, layouts[0]), &x[0], &x[1], &x[2], epsilon, axis));
    let value = part(y.view(), layouts[0]).to_owned();

    let mut shadows: [Array2<T>; 4] = std::array::from_fn(|i| laid(&array(i, 0.5), layouts[i]));
    let cells: Vec<ArrayView2<'_, MathCell<T>>> =
        shadows.iter_mut().zip(layouts).map(|(shadow, l)| part(shadow.cell_view(), l)).collect();
    let shadow = |i: usize| Shadow::new(cells[i]);
    let gradients = rule.pullback(
        (),
        layer_norm::args(&mut part_mut(&mut y, layouts[0]), &x[0], &x[1], &x[2], epsilon, axis),
        (shadow(0), shadow(1), shadow(2), shadow(3), Ignored, Ignored),
        (),
    );
    assert!(y == before, "restored");
    let mut results = vec![value];
    for (shadow, layout) in shadows.iter_mut().zip(layouts) {
        let elements = part(shadow.view(), layout).to_owned();
        part_mut(shadow, layout).fill(T::of(7.0));
        assert!(shadow.iter().all(|x| *x == T::of(7.0)), "nothing is written between elements");
        results.push(elements);
    }
    (results, gradients.4)
}

fn in_every_layout<T: Real + std::fmt::Debug>() {
    for shape in [(3, 5), (1, 1), (2, 32), (33, 3), (4, 70), (0, 4)] {
        for axis in [Axis(0), Axis(1)] {
            let (expected, d_epsilon) = call::<T>(shape, axis, [Layout::C; 4]);
            for number in (0..4usize.pow(4)).step_by(5) {
                let layouts = std::array::from_fn(|i| LAYOUTS[number / 4usize.pow(i as u32) % 4]);
                let (results, d) = call::<T>(shape, axis, layouts);
                // Rows are summed up in another order, if the arrays are.
                let tolerance = T::of(if size_of::<T>() == 4 { 1e-5 } else { 1e-14 });
                let close = |a: &T, b: &T| {
                    let (error, size) = (*a - *b, if *b < T::of(0.0) { -*b } else { *b });
                    error <= tolerance * (T::of(1.0) + size) && -error <= tolerance * (T::of(1.0) + size)
                };
                // A row without elements has no mean.
                assert!(close(&d, &d_epsilon) || shape.0 == 0, "{shape:?} {axis:?} {layouts:?}");
                for (result, expected) in results.iter().zip(&expected) {
                    let same = result.iter().zip(expected).all(|(a, b)| close(a, b));
                    assert!(same, "{shape:?} {axis:?} {layouts:?}: {result:?} instead of {expected:?}");
                }
                assert!(results[1].iter().all(|d| *d == T::of(0.0)), "y is overwritten");
            }
        }
    }
}

#[test]
fn layouts_f64() {
    in_every_layout::<f64>();
}

#[test]
fn layouts_f32() {
    in_every_layout::<f32>();
}

#[test]
fn layouts_of_dual_numbers() {
    in_every_layout::<DualNumber<f64, 1>>();
}

/// The value and what comes for it may be laid out in different ways: what is kept of each row finds it again.
#[test]
fn gradients_laid_out_otherwise() {
    let shape = (3, 5, 40);
    let element = |seed: f64| {
        move |(i, j, k): (usize, usize, usize)| {
            (seed + 0.7 * i as f64 + 0.31 * j as f64 + 1.3 * k as f64).sin()
        }
    };
    for axis in [Axis(0), Axis(1), Axis(2)] {
        for orders in (0..8).map(|bits| [1, 2, 4].map(|bit| bits & bit != 0)) {
            let of = |by_columns: bool| shape.set_f(by_columns);
            let x = Array3::from_shape_fn(of(orders[0]), element(0.1));
            let mut y = Array3::zeros(of(orders[1]));
            let mut dy = Array3::from_shape_fn(of(orders[2]), element(0.5));
            let mut expected = Array3::zeros(shape);
            Zip::from(expected.lanes_mut(axis)).and(x.lanes(axis)).and(dy.lanes(axis)).for_each(
                |mut dx, x, dy| {
                    let e = x.mapv(f64::exp);
                    let p = &e / e.sum();
                    let mean = p.dot(&dy);
                    dx.assign(&(&p * &(&dy - mean)));
                },
            );
            let mut dx = Array3::zeros(shape);
            let mut rule = softmax::rule();
            rule.forward(softmax::args(&mut y, &x, axis));
            let shadows = (Shadow::new(dy.cell_view()), Shadow::new(dx.cell_view()), Ignored);
            rule.pullback((), softmax::args(&mut y, &x, axis), shadows, ());
            let error = (&dx - &expected).fold(0.0, |most: f64, e| most.max(e.abs()));
            assert!(error < 1e-15, "{axis:?} {orders:?}: {error}");
        }
    }
}

pullback_macros::fused! {
    fn energy(x, k: T) {
        let largest = constant(max(x));
        k * sum((k * x).tanh() * x) + largest + sum((x - largest).exp()).ln()
    }
}

fn gradient<T: Real>(x: &Array1<T>) -> Array1<T> {
    let (mut rule, k, mut d) = (energy::rule(), T::of(0.7), Array1::from_elem(x.len(), T::of(0.0)));
    rule.forward(energy::args(x, k));
    rule.pullback((), energy::args(x, k), (Shadow::new(d.cell_view()), Ignored), T::of(1.0));
    d
}

/// Forward over forward over reverse.
#[test]
fn dual_numbers_of_dual_numbers() {
    let [x, v, w] = [0.1, 0.5, 0.9].map(|seed| waves::<f64>(1, 40, seed).row(0).to_owned());
    let one = |x: f64, v: f64| DualNumber::variable(x, [v]);
    let once = |t: f64| gradient(&Zip::from(&(&x + t * &w)).and(&v).map_collect(|x, v| one(*x, *v)));
    let two = |x: &f64, v: &f64, w: &f64| DualNumber::variable(one(*x, *v), [one(*w, 0.0)]);
    let twice = gradient(&Zip::from(&x).and(&v).and(&w).map_collect(two));
    let (h, d, expected) = (1e-5, once(0.0), gradient(&x));
    let (before, after) = (once(-h), once(h));
    for i in 0..x.len() {
        let [by_w] = twice[i].tangent();
        assert_eq!(twice[i].value().value().to_bits(), expected[i].to_bits());
        assert!((twice[i].value().tangent()[0] - d[i].tangent()[0]).abs() < 1e-14);
        let third = (after[i].tangent()[0] - before[i].tangent()[0]) / (2.0 * h);
        assert!((by_w.tangent()[0] - third).abs() < 1e-8 * third.abs().max(1.0), "{by_w:?} {third}");
    }
}

/// All rows of an operand are the same row of memory, and so are those of its shadow and of the gradient that comes in.
#[test]
fn repeated_rows() {
    fn repeated<U>(row: &[U]) -> ArrayView2<'_, U> {
        ArrayView2::from_shape((3, row.len()).strides((0, 1)), row).expect("read only")
    }
    for columns in [4, 64, 67] {
        let (x, gain, bias) = (waves::<f64>(1, columns, 0.1), waves(1, columns, 0.2), waves(1, 1, 0.3));
        let dy = waves::<f64>(3, columns, 0.4);
        let run = |x: ArrayView2<'_, f64>, dx: ArrayView2<'_, MathCell<f64>>| {
            let mut y = Array2::zeros((3, columns));
            let mut rule = layer_norm::rule();
            rule.forward(layer_norm::args(&mut y, &x, &gain, &bias, 0.1, Axis(1)));
            let mut dy = dy.clone();
            let shadows = (
                Shadow::new(dy.cell_view()),
                Shadow::new(dx),
                Shadow::default(),
                Shadow::default(),
                Ignored,
                Ignored,
            );
            rule.pullback((), layer_norm::args(&mut y, &x, &gain, &bias, 0.1, Axis(1)), shadows, ());
        };
        let mut whole = Array2::zeros((3, columns));
        run(x.broadcast((3, columns)).expect("rows").to_owned().view(), whole.cell_view());
        let mut dx = Array2::zeros((1, columns));
        run(repeated(x.as_slice().expect("a row")), repeated(dx.cell_view().to_slice().expect("a row")));
        let expected = whole.sum_axis(Axis(0));
        assert!(
            dx.row(0).iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-13),
            "{dx} instead of {expected}"
        );
    }
}
