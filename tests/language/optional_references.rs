//! Parameters that are references which may be missing: `weights: Option<&[f64]>`.

use ndarray::{Array1, Array2, array};
use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

#[differentiable]
fn mean(x: &[f64], weights: Option<&[f64]>) -> f64 {
    match weights {
        Some(w) => x.iter().zip(w).map(|(a, b)| a * b).sum::<f64>() / w.iter().sum::<f64>(),
        None => x.iter().map(|a| a * a).sum(),
    }
}

#[differentiable]
fn passed_on(x: &[f64], y: &[f64], w: Option<&[f64]>) -> f64 {
    mean(x, w) * mean(y, Some(x)) + mean(x, Some(&y[1..])) * mean(x, None) + mean(x, Some(&[1.0, 2.0, 1.0]))
}

#[test]
fn they_are_there_or_not() {
    let x = vec![0.2, -0.3, 0.5];
    check_rule(mean::rule, [(x.clone(), Some(vec![0.1, 0.3, 0.2])), (x.clone(), None)]);
    let y = vec![0.1, 0.2, 0.7];
    check_rule(passed_on::rule, [(x.clone(), y.clone(), Some(vec![0.1, 0.3, 0.2])), (x, y, None)]);
}

/// Taken apart by `if let`, `let … else` and methods, several times, in loops, and with a default.
#[differentiable]
fn looked_into(x: &[f64], w: Option<&[f64]>) -> f64 {
    let mut t = 0.0;
    let scale = w.map_or(1.0, |w| w.iter().sum());
    if let Some(w) = w {
        for i in 0..x.len() {
            t += w[i] * x[i] * x[i];
        }
    }
    for (i, a) in x.iter().enumerate() {
        t += w.map_or(1.0, |w| w[i]) * a;
    }
    let Some(w) = w else { return t };
    if w.is_empty() {
        return 0.0;
    }
    t * scale * w[0]
}

#[differentiable]
fn defaulted(x: &[f64], w: Option<&[f64]>) -> f64 {
    let w = w.unwrap_or(x);
    x.iter().zip(w).map(|(a, b)| a * b * b).sum()
}

#[test]
fn they_are_looked_into() {
    let x = vec![0.2, -0.3, 0.5];
    let inputs = [(x.clone(), Some(vec![0.1, 0.3, 0.2])), (x.clone(), None)];
    check_rule(looked_into::rule, inputs.clone());
    check_rule(defaulted::rule, inputs);
}

#[differentiable]
fn guarded(x: &[f64], w: Option<&[f64]>) -> f64 {
    match w {
        Some(w) if w.len() > 1 && w[0] > 0.0 => x.iter().zip(w).map(|(a, b)| a * b).sum::<f64>() / w[1],
        Some(w) if w.len() == 1 => w[0] * x[0],
        Some(_) => x[1],
        None => x.iter().map(|a| a * a).sum::<f64>(),
    }
}

/// Of a vector that the `Option` owns.
#[differentiable]
fn guarded_owner(x: &[f64], w: &Option<Vec<f64>>) -> f64 {
    match w {
        Some(w) if w.len() > 1 => w[0] * w[1] * x[0],
        _ => x.iter().map(|a| a * a).sum::<f64>(),
    }
}

#[test]
fn guards_look_into_them() {
    let x = vec![0.2, -0.3, 0.5];
    let of = |w: Option<&[f64]>| (x.clone(), w.map(<[f64]>::to_vec));
    let inputs = [of(Some(&[0.1, 0.3, 0.2])), of(None), of(Some(&[0.7])), of(Some(&[]))];
    check_rule(guarded::rule, inputs.clone());
    check_rule(guarded_owner::rule, inputs);
}

#[derive(Clone, Debug, Differentiable)]
struct Layer {
    weights: Vec<f64>,
    bias: Option<Vec<f64>>,
    scale: Option<Vec<f64>>,
}

#[differentiable]
impl Layer {
    fn weighted(&self, x: &[f64], w: Option<&[f64]>) -> f64 {
        let k = match w {
            None => 1.0,
            Some(w) => w[0],
        };
        if let Some(w) = w {
            return k * mean(x, Some(w)) * guarded(x, self.bias.as_deref());
        }
        guarded(x, self.bias.as_deref()) * k + mean(x, w) + of_vector(x, self.scale.as_ref())
    }

    fn all(&self, x: &[f64]) -> f64 {
        self.weighted(x, Some(&self.weights))
            + self.weighted(x, None)
            + self.weighted(x, self.scale.as_deref())
    }
}

#[differentiable]
fn of_vector(x: &[f64], w: Option<&Vec<f64>>) -> f64 {
    let mut s = 1.0;
    if let Some(w) = w {
        s += w[0] * x[0];
    }
    s
}

#[differentiable]
fn of_struct(x: &[f64], layer: Option<&Layer>) -> f64 {
    match layer {
        Some(layer) => layer.weights[0] * x[0] * layer.all(x),
        None => x[0],
    }
}

#[differentiable]
fn of_number_and_array(x: f64, k: Option<&f64>, a: Option<&[f64; 2]>) -> f64 {
    let k = k.map_or(1.0, |k| k * k);
    match a {
        Some(a) => k * x * a[0] / a[1],
        None => k * x,
    }
}

#[test]
fn fields_are_passed_and_structs_are_referred_to() {
    let x = vec![0.2, -0.3, 0.5];
    let one = Layer { weights: vec![0.3, 0.2], bias: Some(vec![0.1, 0.3, 0.2]), scale: None };
    let other = Layer { weights: vec![0.1], bias: None, scale: Some(vec![0.3, 0.2]) };
    check_rule(Layer::all_rule, [(one.clone(), x.clone()), (other.clone(), x.clone())]);
    check_rule(of_struct::rule, [(x.clone(), Some(one)), (x, Some(other))]);
    check_rule(of_number_and_array::rule, [(0.4, Some(0.3), None), (0.4, None, Some([0.2, 0.7]))]);
}

#[differentiable]
fn loss(y: &Array1<f64>, w: Option<&Array1<f64>>, m: Option<&Array2<f64>>) -> f64 {
    let mut s = 0.0;
    if let Some(w) = w {
        for i in 0..y.len() {
            s += w[i] * y[i] * y[i];
        }
    }
    if let Some(m) = m {
        s += m.dot(y).sum();
    }
    s
}

#[differentiable]
fn losses(y: &Array1<f64>, w: &Array1<f64>, m: &Array2<f64>) -> f64 {
    loss(y, Some(w), None) + loss(w, None, Some(m)) * loss(y, Some(&(y + w)), Some(m))
}

#[test]
fn they_are_arrays() {
    let (y, w, m) = (array![0.1, 0.2], array![0.3, 0.4], array![[0.1, 0.2], [0.4, 0.3]]);
    check_rule(loss::rule, [(y.clone(), Some(w.clone()), Some(m.clone())), (y.clone(), None, None)]);
    check_rule(losses::rule, [(y.clone(), w.clone(), m.clone()), (w, y, m)]);
}

#[differentiable]
fn axpy(y: &mut [f64], x: &[f64], scale: Option<&[f64]>) {
    match scale {
        Some(s) => {
            for ((y, x), s) in y.iter_mut().zip(x).zip(s) {
                *y += s * x;
            }
        }
        None => {
            for (y, x) in y.iter_mut().zip(x) {
                *y += x;
            }
        }
    }
}

#[differentiable]
fn in_a_loop(rows: &[Vec<f64>], s: Option<&[f64]>, m: Option<&[Vec<f64>]>) -> Vec<f64> {
    let mut y = vec![0.0; rows[0].len()];
    for (i, row) in rows.iter().enumerate() {
        axpy(&mut y, row, s);
        axpy(&mut y, &rows[0], Some(row));
        if let Some(m) = m {
            axpy(&mut y, &m[i], Some(&m[0]));
        }
    }
    y
}

#[test]
fn they_are_passed_in_loops() {
    let rows = vec![vec![0.2, -0.3, 0.5], vec![0.3, 0.7, 0.1]];
    let inputs = [(rows.clone(), Some(vec![0.1, 0.3, 0.2]), None), (rows.clone(), None, Some(rows))];
    check_rule(in_a_loop::rule, inputs);
}

#[differentiable]
fn generic<T: pullback::Float>(x: &[T], w: Option<&[T]>) -> T {
    let mut s = T::zero();
    for i in 0..x.len() {
        s = s + match w {
            Some(w) => w[i] * x[i],
            None => x[i],
        };
    }
    s
}

#[differentiable]
fn of_singles(x: &[f32], w: Option<&[f32]>) -> f32 {
    generic(x, w).exp() + generic(x, Some(x))
}

/// The gradient with respect to what is missing is empty.
#[test]
fn they_are_generic() {
    let x = vec![0.2, -0.3, 0.5];
    check_rule(generic::<f64>::rule, [(x.clone(), Some(vec![0.1, 0.3, 0.2])), (x, None)]);
    let x = vec![0.2, -0.3, 0.5];
    check_rule(of_singles::rule, [(x.clone(), Some(vec![0.1, 0.3, 0.2])), (x, None)]);
    let (x, mut gradient) = ([1.0, 2.0], generic::<f64>::gradient());
    let (value, d) = gradient.value_and_gradient(&x, Some(&x));
    assert_eq!((value, d.x, d.w), (5.0, &x[..], &x[..]));
    let (value, d) = gradient.value_and_gradient(&x, None);
    assert_eq!((value, d.x, d.w), (3.0, &[1.0, 1.0][..], &[][..]));
}

#[differentiable]
fn constant_weights(x: &[f64], #[constant] w: Option<&[f64]>) -> f64 {
    x[0] * match w {
        Some(w) => w[0],
        None => x[1],
    }
}

#[derive(Clone, Debug)]
struct Unmarked(f64);

#[differentiable]
fn constants_of_types(x: f64, #[constant] v: Option<&Vec<f64>>, #[constant] u: Option<&Unmarked>) -> f64 {
    x * match (v, u) {
        (Some(v), Some(u)) => v[0] * u.0,
        (Some(v), None) => v.iter().sum(),
        _ => 0.5,
    }
}

#[differentiable]
fn given_active_weights(x: &[f64], w: Option<&[f64]>) -> f64 {
    constant_weights(x, w) + constant_weights(x, None) + constant_weights(x, Some(&x[1..]))
}

#[test]
fn they_are_constant() {
    let x = vec![0.2, -0.3, 0.5];
    check_rule(constant_weights::rule, [(x.clone(), Some(vec![0.4])), (x, None)]);
    let inputs =
        [(0.3, Some(vec![0.4, 0.7]), Some(Unmarked(0.2))), (0.3, Some(vec![0.4]), None), (0.3, None, None)];
    check_rule(constants_of_types::rule, inputs);
    let mut gradient = given_active_weights::gradient();
    let (_, d) = gradient.value_and_gradient(&[2.0, 3.0], Some(&[5.0]));
    assert_eq!((d.x, d.w), (&[5.0 + 3.0 + 3.0, 2.0][..], &[0.0][..]));
}
