//! gmm: blocks of points as in the primal, with the same products of matrices. A block keeps *Qₖ(x − μₖ)* of all components; its
//! reverse pass runs at once, since the seed is known.

use gradbench::input;
use gradbench::task::{self, Task};
use ndarray::{Array2, ArrayRef2, s};
use pullback::{Trans, gemm, mul_into};
use serde_json::{Value, json};

/// How many points are taken at a time.
const POINTS: usize = 128;

struct Mixture {
    alpha: Vec<f64>,
    mu: Vec<f64>,
    q: Vec<f64>,
    l: Vec<f64>,
    /// Blocks of points, as columns above a row of ones.
    x: Vec<Array2<f64>>,
    count: usize,
    dimension: usize,
    gamma: f64,
    m: f64,
}

struct Gradient {
    alpha: Vec<f64>,
    mu: Vec<f64>,
    q: Vec<f64>,
    l: Vec<f64>,
}

/// What is used again from one call to the next.
struct Room {
    /// *[Q, −Q·μ]* of all components, and the gradient with respect to that.
    factors: Array2<f64>,
    d_factors: Array2<f64>,
    log_weights: Vec<f64>,
    d_log_weights: Vec<f64>,
    y: Array2<f64>,
    terms: Array2<f64>,
}

impl Mixture {
    fn room(&self) -> Room {
        let (k, d) = (self.alpha.len(), self.dimension);
        Room {
            factors: Array2::zeros((k * d, d + 1)),
            d_factors: Array2::zeros((k * d, d + 1)),
            log_weights: vec![0.0; k],
            d_log_weights: vec![0.0; k],
            y: Array2::zeros((k * d, POINTS)),
            terms: Array2::zeros((k, POINTS)),
        }
    }

    fn gradient(&self, room: &mut Room, result: &mut Gradient) {
        self.fill(room);
        room.d_factors.fill(0.0);
        room.d_log_weights.fill(0.0);
        for x in &self.x {
            block(x, self.dimension, room);
        }
        self.backward(room, result);
    }

    /// The factors, and the logarithm of each component's weight times its determinant.
    fn fill(&self, room: &mut Room) {
        let (k, d) = (self.alpha.len(), self.dimension);
        let mut below = self.l.iter();
        for c in 0..k {
            let (q, mu) = (&self.q[c * d..(c + 1) * d], &self.mu[c * d..(c + 1) * d]);
            let mut factor = room.factors.slice_mut(s![c * d..(c + 1) * d, ..]);
            for j in 0..d {
                factor[[j, j]] = q[j].exp();
                for (i, l) in (j + 1..d).zip(&mut below) {
                    factor[[i, j]] = *l;
                }
            }
            for i in 0..d {
                factor[[i, d]] = -(0..=i).map(|j| factor[[i, j]] * mu[j]).sum::<f64>();
            }
            room.log_weights[c] = self.alpha[c] + q.iter().sum::<f64>();
        }
    }

    /// From the factors to the parameters, with what the prior adds.
    fn backward(&self, room: &Room, result: &mut Gradient) {
        let (k, d) = (self.alpha.len(), self.dimension);
        let weights: f64 = self.alpha.iter().map(|alpha| alpha.exp()).sum();
        let square = self.gamma * self.gamma;
        let mut below = self.l.iter().zip(&mut result.l);
        for c in 0..k {
            let d_weight = room.d_log_weights[c];
            result.alpha[c] = d_weight - self.count as f64 * self.alpha[c].exp() / weights;
            let factor = room.factors.slice(s![c * d..(c + 1) * d, ..]);
            let d_factor = room.d_factors.slice(s![c * d..(c + 1) * d, ..]);
            for j in 0..d {
                let (mu, exp) = (self.mu[c * d + j], factor[[j, j]]);
                let mut d_mu = -exp * d_factor[[j, d]];
                let d_exp = d_factor[[j, j]] - d_factor[[j, d]] * mu;
                result.q[c * d + j] = d_exp * exp + d_weight + self.m - square * exp * exp;
                for (i, (l, d_l)) in (j + 1..d).zip(&mut below) {
                    d_mu -= l * d_factor[[i, d]];
                    *d_l = d_factor[[i, j]] - d_factor[[i, d]] * mu - square * l;
                }
                result.mu[c * d + j] = d_mu;
            }
        }
    }
}

/// Adds what some points contribute to the gradient with respect to the factors and weights.
fn block(x: &ArrayRef2<f64>, d: usize, room: &mut Room) {
    let (k, n) = (room.log_weights.len(), x.ncols());
    let mut terms = room.terms.slice_mut(s![.., ..n]);
    let mut y = room.y.slice_mut(s![.., ..n]);
    for c in 0..k {
        let mut y = y.slice_mut(s![c * d..(c + 1) * d, ..]);
        mul_into(&mut y, &room.factors.slice(s![c * d..(c + 1) * d, ..]), x);
        let mut terms = terms.row_mut(c);
        terms.fill(room.log_weights[c]);
        for y in y.rows() {
            terms.zip_mut_with(&y, |term, y| *term -= 0.5 * y * y);
        }
    }
    // From the terms to the share of each component in each point.
    let (mut top, mut sum) = ([f64::NEG_INFINITY; POINTS], [0.0; POINTS]);
    for terms in terms.rows() {
        top.iter_mut().zip(terms).for_each(|(top, &term)| *top = top.max(term));
    }
    for mut terms in terms.rows_mut() {
        for ((term, top), sum) in terms.iter_mut().zip(&top).zip(&mut sum) {
            let exp = (*term - top).exp();
            // Products with numbers that are too small to be normal take a hundred times as long.
            *term = if exp < f64::MIN_POSITIVE { 0.0 } else { exp };
            *sum += *term;
        }
    }
    sum.iter_mut().for_each(|sum| *sum = 1.0 / *sum);
    for c in 0..k {
        let mut shares = terms.row_mut(c);
        shares.iter_mut().zip(&sum).for_each(|(share, inverse)| *share *= inverse);
        room.d_log_weights[c] += shares.sum();
        let mut d_y = y.slice_mut(s![c * d..(c + 1) * d, ..]);
        for mut row in d_y.rows_mut() {
            row.zip_mut_with(&shares, |y, share| *y *= -share);
        }
        let mut d_factor = room.d_factors.slice_mut(s![c * d..(c + 1) * d, ..]);
        gemm(Trans::No, Trans::Yes, 1.0, &d_y, x, 1.0, &mut d_factor);
    }
}

pub(super) fn task(input: &Value) -> Result<Box<dyn Task>, String> {
    let x = input::matrix(input, "x")?;
    let (d, count) = (x.columns, x.rows);
    let blocks = x.entries.chunks(POINTS * d).map(|points| {
        let n = points.len() / d;
        Array2::from_shape_fn((d + 1, n), |(i, p)| if i < d { points[p * d + i] } else { 1.0 })
    });
    let mixture = Mixture {
        alpha: input::vector(input, "alpha")?,
        mu: input::matrix(input, "mu")?.entries,
        q: input::matrix(input, "q")?.entries,
        l: input::matrix(input, "l")?.entries,
        x: blocks.collect(),
        count,
        dimension: d,
        gamma: input::number(input, "gamma")?,
        m: input::number(input, "m")?,
    };
    let result = Gradient {
        alpha: mixture.alpha.clone(),
        mu: mixture.mu.clone(),
        q: mixture.q.clone(),
        l: mixture.l.clone(),
    };
    let mut room = mixture.room();
    let run = move |result: &mut Gradient| mixture.gradient(&mut room, result);
    Ok(task::task(result, run, move |Gradient { alpha, mu, q, l }| {
        json!({
            "alpha": alpha,
            "mu": task::rows(mu, d),
            "q": task::rows(q, d),
            "l": task::rows(l, d * (d - 1) / 2),
        })
    }))
}
