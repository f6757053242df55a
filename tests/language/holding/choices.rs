//! Enums that own memory: what their variants hold is looked at, handed on and changed, and moved to variants that are made.

use ndarray::{Array1, Array2, array};
use pullback::prelude::*;
use pullback::testing::check_rule;

#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Dense {
    w: Vec<f64>,
    b: Vec<f64>,
}

/// It holds another type that owns memory, which a macro cannot see.
#[derive(Clone, Debug, PartialEq, Differentiable)]
#[pullback(by_reference)]
enum Layer {
    Dense(Dense),
    Scale(f64),
    Repeat { k: f64, times: usize },
    Relu,
}

#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Net {
    layers: Vec<Layer>,
    gain: f64,
}

#[differentiable]
impl Dense {
    fn forward(&self, x: &[f64]) -> Vec<f64> {
        (0..self.b.len())
            .map(|i| {
                self.b[i]
                    + self.w[i * x.len()..(i + 1) * x.len()].iter().zip(x).map(|(w, x)| w * x).sum::<f64>()
            })
            .collect()
    }
}

#[differentiable]
impl Layer {
    fn forward(&self, x: &[f64]) -> Vec<f64> {
        match self {
            Self::Dense(dense) => dense.forward(x),
            Self::Relu => x.iter().map(|v| v.max(0.0)).collect(),
            Self::Scale(k) => {
                let mut y = x.to_vec();
                for v in y.iter_mut() {
                    *v *= k;
                }
                y
            }
            Self::Repeat { k, times } => x.iter().map(|v| v * k * *times as f64).collect(),
        }
    }

    fn penalty(&self) -> f64 {
        match self {
            Layer::Dense(Dense { w, .. }) => w.iter().map(|w| w * w).sum(),
            Layer::Scale(k) | Layer::Repeat { k, .. } => k * k,
            Layer::Relu => 0.0,
        }
    }
}

#[differentiable]
impl Net {
    fn forward(&self, x: &[f64]) -> Vec<f64> {
        self.layers.iter().fold(x.to_vec(), |h, layer| layer.forward(&h))
    }

    fn loss(&self, x: &[f64], target: &[f64]) -> f64 {
        let y = self.forward(x);
        let error: f64 = y.iter().zip(target).map(|(a, b)| (a - b).powi(2)).sum();
        error * self.gain + 0.1 * self.layers.iter().map(|layer| layer.penalty()).sum::<f64>()
    }
}

#[derive(Clone, Debug, PartialEq, Differentiable)]
enum Term {
    Polynomial(Vec<f64>),
    Wave { a: f64, f: f64 },
    Table { x: Vec<f64>, y: Vec<f64> },
    Nothing,
}

/// Within closures, and with ways out of the loop.
#[differentiable]
fn series(terms: &[Term], t: f64) -> f64 {
    let sum: f64 = terms
        .iter()
        .map(|term| match term {
            Term::Polynomial(c) => c.iter().rev().fold(0.0, |s, c| s * t + c),
            Term::Wave { a, f } => a * (f * t).sin(),
            Term::Table { y, .. } => y[0] * t,
            Term::Nothing => t,
        })
        .sum();
    let mut product = 1.0;
    for (i, term) in terms.iter().enumerate() {
        let factor = match term {
            Term::Polynomial(c) if c.is_empty() => continue,
            Term::Polynomial(c) if c[0] > 0.5 => c[0] * c[0],
            Term::Polynomial(c) => c[0],
            Term::Wave { a, .. } => *a,
            Term::Table { x, y } => x[0] * y[0],
            Term::Nothing => break,
        };
        product *= factor + i as f64;
    }
    let first = if let Term::Polynomial(c) = &terms[0] { c[1] * c.len() as f64 } else { t };
    sum * product + first
}

#[differentiable]
impl Term {
    /// One arm alone goes on.
    fn interpolated(&self, t: f64) -> Option<f64> {
        let (x, y) = match self {
            Term::Wave { a, .. } => return Some(*a),
            Term::Table { x, y } => (x, y),
            _ => return None,
        };
        let i = x.windows(2).position(|w| w[0] <= t && t < w[1])?;
        Some(y[i] + (y[i + 1] - y[i]) * (t - x[i]) / (x[i + 1] - x[i]))
    }

    fn or_else(&self, t: f64) -> f64 {
        let Term::Table { x, y } = self else { return t * t };
        let Some(v) = self.interpolated(t) else { return x[0] * y[1] };
        v * v * x.len() as f64
    }
}

/// Two at once.
#[differentiable]
fn pairs(terms: &[Term], k: f64) -> f64 {
    let mut total = 0.0;
    for i in 0..terms.len() {
        for j in 0..i {
            total += match (&terms[i], &terms[j]) {
                (Term::Polynomial(x), Term::Polynomial(y)) if x.len() == y.len() => {
                    let mut s = 0.0;
                    for i in 0..x.len() {
                        s += x[i] * y[i];
                    }
                    s * k
                }
                (Term::Polynomial(x), Term::Wave { a, .. }) | (Term::Wave { a, .. }, Term::Polynomial(x)) => {
                    x[0] * a
                }
                (Term::Wave { a, f }, Term::Wave { a: b, f: g }) => a * g + b * f,
                _ => k,
            };
        }
    }
    total
}

/// Written to, several parts of a variant among them.
#[differentiable]
fn trained(layers: &mut [Layer], rate: f64, steps: usize) -> f64 {
    for _ in 0..steps {
        for i in 0..layers.len() {
            match &mut layers[i] {
                Layer::Dense(Dense { w, b }) => {
                    for j in 0..b.len() {
                        w[j] -= rate * b[j];
                    }
                    b[0] *= w[1];
                }
                Layer::Scale(k) => *k -= rate,
                Layer::Repeat { k, times } => {
                    *k *= 0.5 + rate;
                    *times += 1;
                }
                Layer::Relu => {}
            }
        }
        for layer in layers.iter_mut() {
            if let Layer::Dense(dense) = layer {
                dense.b[1] *= rate;
            }
        }
    }
    let mut total = 0.0;
    for layer in layers.iter() {
        total += match layer {
            Layer::Dense(dense) => dense.w[0] * dense.b[0] * dense.b[1],
            Layer::Scale(k) => k * k,
            Layer::Repeat { k, times } => *k * *times as f64,
            Layer::Relu => rate,
        };
    }
    total
}

/// Several parts of one variant at once, and a name for all others.
#[differentiable]
fn rewritten(term: &mut Term, k: f64) -> f64 {
    let mut total = k;
    total += match term {
        Term::Polynomial(c) if c.len() > 3 && c[0] > 0.0 => {
            c.push(total);
            c[0] * c[4]
        }
        Term::Polynomial(c) => {
            c[0] *= total;
            c[0] * c[1]
        }
        Term::Table { x, y } => {
            for value in y.iter_mut() {
                *value *= x[1];
            }
            x[0] += y[0];
            y[0]
        }
        other => {
            let Term::Wave { a, f } = other else { return total };
            *a * *f
        }
    };
    total
}

/// Copied.
#[differentiable]
fn copied(layers: &[Layer], x: &[f64]) -> f64 {
    let mut others = layers.to_vec();
    let mut total = 1.0;
    for layer in others.iter_mut() {
        if let Layer::Dense(dense) = layer {
            dense.w[0] *= x[0];
            total += dense.w[0] * dense.w[1];
        }
    }
    let first = layers[0].clone();
    if let Layer::Dense(dense) = &first {
        total *= dense.b[0];
    }
    total
}

/// Arrays of ndarray's, told by what is done with them.
#[derive(Clone, Debug, PartialEq, Differentiable)]
enum Block {
    Affine { w: Array2<f64>, b: Array1<f64> },
    Tanh,
}

#[differentiable]
fn blocks(blocks: &[Block], x: &Array1<f64>) -> f64 {
    let mut h = x.clone();
    for block in blocks {
        h = match block {
            Block::Affine { w, b } => w.dot(&h) + b,
            Block::Tanh => h.mapv(f64::tanh),
        };
    }
    h.sum()
}

#[differentiable]
fn decayed(block: &mut Block, x: &Array1<f64>, rate: f64) -> f64 {
    if let Block::Affine { w, b } = block {
        *b -= &(x * rate);
        w.mapv_inplace(|w| w * rate);
    }
    let Block::Affine { w, b } = block else { return rate };
    w.dot(x).dot(&*b)
}

/// A constant, text and an integer, of which nothing is asked; a struct with a field that is an enum; generic.
#[derive(Clone, Debug, PartialEq, Differentiable)]
enum Kernel<T> {
    Weighted {
        w: Vec<T>,
        #[constant]
        k: f64,
        name: String,
        n: usize,
    },
    Radial(T),
}

#[derive(Clone, Debug, PartialEq, Differentiable)]
#[pullback(by_reference)]
struct Process {
    kernel: Kernel<f64>,
    noise: f64,
}

#[differentiable]
impl Process {
    fn covariance(&self, t: f64) -> f64 {
        let value = match &self.kernel {
            Kernel::Weighted { w, k, name, n } => {
                let mut sum = 0.0;
                for i in 0..*n {
                    sum += w[i] * *k * t;
                }
                sum * name.len() as f64
            }
            Kernel::Radial(length) => (-t * t / length).exp(),
        };
        value + self.noise
    }
}

#[differentiable]
fn generic<T: pullback::Float>(kernel: &Kernel<T>, x: &[T]) -> T {
    match kernel {
        Kernel::Weighted { w, .. } => {
            let mut sum = x[0];
            for i in 0..w.len() {
                sum += w[i] * x[i];
            }
            sum
        }
        Kernel::Radial(length) => (x[0] / *length).exp(),
    }
}

fn layers() -> Vec<Layer> {
    let dense = |w: &[f64], b: &[f64]| Layer::Dense(Dense { w: w.to_vec(), b: b.to_vec() });
    vec![
        dense(&[0.1, 0.2, 0.3, 0.4], &[0.5, 0.6]),
        Layer::Relu,
        Layer::Scale(0.7),
        Layer::Repeat { k: 0.4, times: 2 },
        dense(&[0.3, 0.1, 0.2, 0.4], &[0.2, 0.9]),
    ]
}

#[test]
fn what_variants_hold() {
    let fewer = || vec![layers()[2].clone(), layers()[0].clone()];
    let net = |layers, gain| Net { layers, gain };
    let target = || vec![0.2, 0.1];
    check_rule(
        Net::loss_rule,
        [(net(layers(), 0.8), vec![0.3, 0.4], target()), (net(fewer(), 0.5), vec![0.3, 0.1], target())],
    );
    check_rule(trained::rule, [(layers(), 0.3, 2), (fewer(), 0.7, 1)]);
    check_rule(copied::rule, [(fewer(), vec![0.3]), (layers(), vec![0.4])]);
}

#[test]
fn terms() {
    let polynomial = || Term::Polynomial(vec![0.6, 0.2, 0.3]);
    let wave = || Term::Wave { a: 0.4, f: 1.3 };
    let table = || Term::Table { x: vec![0.1, 1.0, 2.5], y: vec![0.1, 0.4, 0.2] };
    check_rule(
        series::rule,
        [
            (vec![polynomial(), wave(), table(), Term::Polynomial(vec![]), Term::Nothing, wave()], 0.7),
            (vec![wave(), table()], 0.2),
        ],
    );
    check_rule(Term::or_else_rule, [(table(), 1.3), (wave(), 1.0), (table(), 9.0), (polynomial(), 0.4)]);
    let longer = Term::Polynomial(vec![0.6, 0.2, 0.3, 0.5]);
    check_rule(
        rewritten::rule,
        [(polynomial(), 0.3), (longer, 0.2), (wave(), 0.4), (table(), 0.2), (Term::Nothing, 0.6)],
    );
    check_rule(
        pairs::rule,
        [(vec![polynomial(), wave(), polynomial(), Term::Nothing, wave(), Term::Polynomial(vec![0.6])], 0.3)],
    );
}

#[test]
fn arrays_constants_and_generics() {
    let affine = || Block::Affine { w: array![[0.1, 0.2], [0.3, 0.1]], b: array![0.5, 0.2] };
    check_rule(blocks::rule, [(vec![affine(), Block::Tanh, affine()], array![0.3, 0.4])]);
    check_rule(decayed::rule, [(affine(), array![0.3, 0.4], 0.2), (Block::Tanh, array![0.3, 0.4], 0.6)]);
    let weighted = || Kernel::Weighted { w: vec![0.1, 0.2], k: 0.5, name: "linear".into(), n: 2 };
    let process = |kernel| Process { kernel, noise: 0.1 };
    check_rule(Process::covariance_rule, [(process(weighted()), 0.3), (process(Kernel::Radial(0.4)), 0.2)]);
    check_rule(generic::<f64>::rule, [(weighted(), vec![0.3, 0.4]), (Kernel::Radial(0.4), vec![0.2])]);
}

#[test]
fn the_gradient_has_the_variants_by_name() {
    let mut g = Net::loss_gradient();
    let net = Net { layers: layers()[2..].to_vec(), gain: 1.0 };
    let (_, d) = g.value_and_gradient(&net, &[1.0, 2.0], &[0.5, 0.5]);
    assert_eq!(d.self_.layers[0].Dense.0.w, [0.0; 0]);
    assert_ne!(d.self_.layers[0].Scale.0, 0.0);
    assert_eq!(d.self_.layers[0].Repeat.k, 0.0);
    assert_eq!(d.self_.layers[2].Dense.0.b.len(), 2);
}

/// Each variant mentions some of the parameters.
#[derive(Clone, Debug, PartialEq, Differentiable)]
enum Basis<T, K> {
    Sums(Vec<T>),
    Scaled { by: K },
    Both(Vec<T>, K),
    Fixed(f64),
    Nothing,
}

#[differentiable]
fn at(basis: &Basis<f64, f64>, x: f64) -> f64 {
    match basis {
        Basis::Sums(w) => w.iter().map(|w| w * x).sum(),
        Basis::Scaled { by } => by * x,
        Basis::Both(w, k) => w[0] * x + k,
        Basis::Fixed(value) => *value,
        Basis::Nothing => x,
    }
}

/// Numbers alone are bound, of what may own memory.
#[differentiable]
fn tempered(layers: &mut [Layer], k: f64) {
    for layer in layers.iter_mut() {
        if let Layer::Scale(scale) = layer {
            *scale *= k;
        }
    }
    if let Layer::Repeat { k: factor, times } = &mut layers[0] {
        *factor += k;
        *times += 1;
    }
    let Layer::Scale(scale) = &mut layers[1] else { return };
    *scale += k * k;
}

#[test]
fn parameters_of_some_variants() {
    let all = [
        Basis::Sums(vec![0.3, 0.4]),
        Basis::Scaled { by: 0.3 },
        Basis::Both(vec![0.2], 0.1),
        Basis::Fixed(0.3),
        Basis::Nothing,
    ];
    check_rule(at::rule, all.map(|basis| (basis, 0.6)));
}

#[test]
fn numbers_that_are_written_to() {
    let repeat = || Layer::Repeat { k: 0.4, times: 2 };
    check_rule(
        tempered::rule,
        [(vec![repeat(), Layer::Scale(0.3)], 0.6), (vec![Layer::Relu, repeat(), Layer::Scale(0.2)], 0.4)],
    );
}

#[derive(Clone, Debug, Differentiable)]
enum Stage {
    Linear { weight: Vec<Vec<f64>>, bias: Vec<f64> },
    Bias(Vec<f64>),
    Pair([f64; 2]),
    Relu,
}

/// What a variant holds is zipped with by its name alone.
#[differentiable]
fn zipped(stage: &Stage, x: &[f64]) -> Vec<f64> {
    match stage {
        Stage::Linear { weight, bias } => {
            let mut out = bias.clone();
            for (o, row) in out.iter_mut().zip(weight) {
                for (w, x) in row.iter().zip(x) {
                    *o += w * x;
                }
            }
            out
        }
        Stage::Bias(b) => x.iter().zip(b).map(|(x, b)| x * b).collect(),
        Stage::Pair(p) => x.iter().zip(p).map(|(x, p)| x * p).collect(),
        Stage::Relu => x.iter().map(|x| x.max(0.0)).collect(),
    }
}

#[test]
fn zipped_with() {
    let linear = Stage::Linear { weight: vec![vec![0.5, 0.3]], bias: vec![0.2] };
    let stages = [linear, Stage::Bias(vec![0.4, 0.6]), Stage::Pair([0.3, 0.8]), Stage::Relu];
    check_rule(zipped::rule, stages.map(|stage| (stage, vec![0.7, -0.4])));
}

#[derive(Clone, Debug, Differentiable)]
struct Coefficients(Vec<f64>);

/// Copies of structs that branches change and return.
#[differentiable]
fn sum_of(p: &Coefficients, q: &Coefficients) -> Coefficients {
    if p.0.len() >= q.0.len() {
        let mut long = p.clone();
        for (l, s) in long.0.iter_mut().zip(&q.0) {
            *l += *s * *l;
        }
        long
    } else {
        let (mut long, short) = (q.clone(), p.clone());
        for (l, s) in long.0.iter_mut().zip(&short.0) {
            *l += *s;
        }
        long
    }
}

#[differentiable]
fn one_changed(p: &Coefficients, q: &Coefficients, k: f64, n: usize) -> Coefficients {
    let changed = match n {
        0 => {
            let mut p = p.clone();
            p.0[0] *= k;
            p
        }
        1 => p.clone(),
        _ => q.clone(),
    };
    changed
}

#[differentiable]
fn all_changed(p: &Coefficients, q: &Coefficients, k: f64, n: usize) -> f64 {
    let mut s = 0.0;
    for i in 0..n {
        let changed = one_changed(p, q, k, i);
        s += changed.0[0] * k;
    }
    s
}

#[derive(Clone, Debug, Differentiable)]
struct Plain {
    x: f64,
    y: f64,
}

/// Likewise of numbers.
#[differentiable]
fn changed_plainly(p: &Plain, q: &Plain, k: f64) -> Plain {
    if k > 0.5 {
        let mut changed = p.clone();
        changed.x *= k;
        changed
    } else if k > 0.2 {
        let mut changed = q.clone();
        changed.y *= k;
        changed
    } else {
        Plain { x: k, y: k }
    }
}

#[test]
fn copies_changed_in_branches() {
    let (p, q) = (Coefficients(vec![0.3]), Coefficients(vec![0.4, 0.5]));
    check_rule(sum_of::rule, [(p.clone(), q.clone()), (q.clone(), p.clone())]);
    check_rule(one_changed::rule, [0, 1, 2].map(|n| (p.clone(), q.clone(), 0.4, n)));
    check_rule(all_changed::rule, [(p, q, 0.4, 3)]);
    let (p, q) = (Plain { x: 0.3, y: 0.4 }, Plain { x: 0.3, y: 0.5 });
    check_rule(changed_plainly::rule, [0.6, 0.3, 0.1].map(|k| (p.clone(), q.clone(), k)));
}

#[test]
fn made_of_locals() {
    #[derive(Clone, Debug, Differentiable)]
    enum Shape {
        Poly(Vec<f64>),
        Disc { r: f64, holes: Vec<f64> },
    }
    #[differentiable]
    fn area(s: &Shape) -> f64 {
        match s {
            Shape::Poly(v) => v.iter().map(|x| x * x).sum::<f64>(),
            Shape::Disc { r, holes } => r * r - holes.iter().sum::<f64>(),
        }
    }
    #[differentiable]
    fn make(x: &[f64]) -> Shape {
        let v: Vec<f64> = x.iter().map(|x| x.sin()).collect();
        Shape::Disc { r: x[0] * x[1], holes: v }
    }
    #[differentiable]
    fn both(x: &[f64]) -> f64 {
        let s = make(x);
        let v: Vec<f64> = x.iter().map(|x| x.sin()).collect();
        let k = v[0] * v[1];
        let t = Shape::Poly(v);
        area(&s) * area(&t) * k
    }
    #[differentiable]
    fn chosen(x: &[f64]) -> f64 {
        let t = if x.len() > 2 {
            let w: Vec<f64> = x.iter().map(|x| x.exp()).collect();
            Shape::Poly(w)
        } else {
            let w: Vec<f64> = x.iter().map(|x| x.cos()).collect();
            Shape::Disc { r: x[0], holes: w }
        };
        area(&t)
    }
    let inputs = || [(vec![0.3, 0.7],), (vec![0.1, 0.2, 0.3, 0.4],)];
    check_rule(make::rule, inputs());
    check_rule(both::rule, inputs());
    check_rule(chosen::rule, inputs());
}
