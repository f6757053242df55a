//! Structs that own or borrow arrays, vectors of vectors, and structs of these.

use ndarray::{Array1, Array2, ArrayView1, array};
use pullback::prelude::*;
use pullback::testing::{check_gradient, check_rule};

#[derive(Clone, Debug, Differentiable)]
struct Layer {
    weights: Array2<f64>,
    bias: Vec<f64>,
    gain: f64,
    name: String,
}

fn layer(outputs: usize, inputs: usize, seed: f64) -> Layer {
    Layer {
        weights: Array2::from_shape_fn((outputs, inputs), |(i, j)| (seed + i as f64 - 0.7 * j as f64).sin()),
        bias: (0..outputs).map(|i| (seed * 3.0 + i as f64).cos()).collect(),
        gain: 0.5 + 0.1 * seed,
        name: "dense".into(),
    }
}

#[derive(Clone, Debug, Differentiable)]
struct Mlp {
    layers: Vec<Layer>,
    rows: Vec<Vec<f64>>,
    n: usize,
}

fn mlp(sizes: &[usize]) -> Mlp {
    Mlp {
        layers: sizes.windows(2).enumerate().map(|(i, s)| layer(s[1], s[0], i as f64)).collect(),
        rows: sizes.iter().map(|&n| (0..n).map(|i| 0.5 + 0.1 * i as f64).collect()).collect(),
        n: 2,
    }
}

/// A macro cannot see that a `Layer` holds arrays.
#[derive(Clone, Debug, Differentiable)]
#[pullback(by_reference)]
struct Pair(Layer, Layer, [f64; 2]);

#[derive(Differentiable)]
struct Data<'a> {
    x: &'a [f64],
    y: &'a [f64],
    scale: f64,
    #[constant]
    label: &'a str,
    offset: &'a f64,
}

#[derive(Clone, Debug, Differentiable)]
struct Grid<T> {
    cells: Vec<T>,
    width: usize,
    #[constant]
    mask: Vec<f64>,
    spacing: T,
}

#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
struct Spring {
    ends: (usize, usize),
    stiffness: f64,
    length: f64,
}

#[derive(Clone, Debug, Differentiable)]
struct Network {
    nodes: Vec<[f64; 2]>,
    springs: Vec<Spring>,
    pinned: Vec<bool>,
    gravity: [f64; 2],
}

fn network() -> Network {
    let spring = |a, b, stiffness| Spring { ends: (a, b), stiffness, length: 0.9 };
    Network {
        nodes: vec![[0.0, 0.0], [1.0, 0.2], [0.1, 1.1], [0.9, 1.3]],
        springs: vec![
            spring(0, 1, 2.0),
            spring(1, 3, 1.0),
            spring(2, 3, 1.5),
            spring(0, 2, 0.5),
            spring(0, 3, 0.7),
        ],
        pinned: vec![true, false, false, false],
        gravity: [0.0, -0.3],
    }
}

// By shared reference.

#[differentiable]
fn dense(layer: &Layer, x: &[f64], out: &mut [f64]) {
    for i in 0..layer.bias.len() {
        let mut total = layer.bias[i];
        for j in 0..x.len() {
            total += layer.weights[[i, j]] * x[j];
        }
        out[i] = layer.gain * total.tanh();
    }
}

#[differentiable]
fn single_layer(layer: &Layer, x: &[f64], out: &mut Vec<f64>) -> f64 {
    dense(layer, x, out);
    let mut total = sum(&layer.bias);
    for i in 0..out.len() {
        total += out[i] * out[i];
    }
    total + entry(&layer.weights)
}

#[differentiable]
fn sum(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        total += x[i] * x[i];
    }
    total
}

#[differentiable]
fn entry(a: &Array2<f64>) -> f64 {
    a[[0, 0]] * a[[0, 0]]
}

#[differentiable]
fn forward(model: &Mlp, x: &[f64], a: &mut [f64], b: &mut [f64]) -> f64 {
    for i in 0..x.len() {
        a[i] = x[i];
    }
    for l in 0..model.layers.len() {
        let layer = &model.layers[l];
        let (inputs, outputs) = (layer.weights.ncols(), layer.bias.len());
        dense(layer, &a[..inputs], &mut b[..outputs]);
        for i in 0..outputs {
            a[i] = b[i] * model.rows[l][0] + model.layers[l].bias[i];
        }
    }
    sum(&a[..]) + sum(&model.rows[1]) + model.n as f64 * model.rows[0][1]
}

/// Slices in boxes.
#[differentiable]
fn boxed_slices(x: f64, k: f64) -> f64 {
    let fixed = vec![x, k].into_boxed_slice();
    let v = vec![x, k * x];
    let mut b: Box<[f64]> = v.into_boxed_slice();
    b[0] *= k;
    let mut c: Box<[f64]> = Box::new([x, k]);
    c[1] *= x;
    b[0] * b[1] + c.iter().sum::<f64>() * fixed[0] * fixed[1]
}

#[test]
fn boxes_of_slices() {
    check_rule(boxed_slices::rule, [(0.4, 0.3), (-0.2, 0.7)]);
}

#[test]
fn models() {
    check_rule(
        single_layer::rule,
        [(layer(2, 3, 0.5), vec![0.5, -1.0, 2.0], vec![0.0; 2]), (layer(3, 1, 0.2), vec![0.5], vec![0.0; 3])],
    );
    check_rule(
        forward::rule,
        [
            (mlp(&[2, 3, 2]), vec![0.5, -1.0], vec![0.0; 3], vec![0.0; 3]),
            (mlp(&[3, 1]), vec![0.5, -1.0, 0.2], vec![0.0; 4], vec![0.0; 4]),
            (mlp(&[2, 4, 3, 2]), vec![0.5, 0.7], vec![0.0; 4], vec![0.0; 4]),
        ],
    );
}

#[test]
fn the_gradient_has_the_fields_of_the_model() {
    let model = mlp(&[2, 3, 2]);
    let mut g = forward::gradient();
    let (_, d) = g.value_and_gradient(&model, &[0.5, -1.0], &mut [0.0; 3], &mut [0.0; 3]);
    assert_eq!(d.model.layers.len(), 2);
    assert_eq!(d.model.layers[0].weights.dim(), (3, 2));
    assert_eq!(d.model.rows.iter().map(|row| row.len()).collect::<Vec<_>>(), [2, 3, 2]);
    assert_eq!(d.model.rows[0][1], 2.0);
    assert!(d.model.layers[1].bias[0] != 0.0 && d.model.layers[0].gain != 0.0);
    let rate = 0.1;
    let mut next = model.clone();
    for (layer, d) in next.layers.iter_mut().zip(d.model.layers.iter()) {
        layer.weights.scaled_add(-rate, &d.weights);
        layer.bias.iter_mut().zip(&d.bias).for_each(|(b, d)| *b -= rate * d);
    }
}

// By unique reference.

#[differentiable]
fn shrink(layer: &mut Layer, k: f64) -> f64 {
    for i in 0..layer.bias.len() {
        layer.bias[i] *= k;
        layer.weights[[i, 0]] += layer.bias[i] * layer.gain;
    }
    layer.gain = layer.bias[0] * k;
    layer.gain * layer.weights[[0, 0]]
}

#[differentiable]
fn shrink_all(model: &mut Mlp, k: f64) -> f64 {
    let mut total = 0.0;
    for l in 0..model.layers.len() {
        total += model.layers[l].gain * model.layers[l].gain;
        let value = shrink(&mut model.layers[l], k);
        total += value * model.layers[l].gain;
        model.rows[l][1] *= value;
        scale(&mut model.rows[l], k);
    }
    total * model.rows[0][1]
}

#[differentiable]
fn scale(x: &mut [f64], k: f64) {
    for i in 0..x.len() {
        x[i] *= k;
    }
}

#[differentiable]
fn exchange(pair: &mut Pair, k: f64) -> f64 {
    let first = shrink(&mut pair.0, k);
    pair.2[1] *= first * pair.1.gain;
    pair.1.gain += pair.2[1] * pair.2[0];
    let second = shrink(&mut pair.1, pair.0.gain);
    second * sum(&pair.2)
}

#[test]
fn models_are_restored() {
    check_rule(shrink::rule, [(layer(2, 3, 0.5), 0.7), (layer(3, 1, 0.2), 1.2)]);
    check_rule(shrink_all::rule, [(mlp(&[2, 3, 2]), 0.7), (mlp(&[2, 2]), 1.2), (mlp(&[2, 3, 2, 2]), 0.9)]);
    check_rule(exchange::rule, [(Pair(layer(2, 3, 0.5), layer(1, 2, 0.3), [0.5, 1.5]), 0.7)]);
}

#[differentiable]
fn relax(net: &mut Network, rate: f64, steps: usize) -> f64 {
    for _ in 0..steps {
        for s in 0..net.springs.len() {
            let (a, b) = (net.springs[s].ends.0, net.springs[s].ends.1);
            let dx = net.nodes[b][0] - net.nodes[a][0];
            let dy = net.nodes[b][1] - net.nodes[a][1];
            let length = dx.hypot(dy);
            let force = rate * net.springs[s].stiffness * (length - net.springs[s].length) / length;
            if !net.pinned[a] {
                net.nodes[a][0] += force * dx;
                net.nodes[a][1] += force * dy + rate * net.gravity[1];
            }
            if !net.pinned[b] {
                net.nodes[b][0] -= force * dx;
                net.nodes[b][1] -= force * dy;
            }
        }
    }
    let mut total = 0.0;
    for i in 0..net.nodes.len() {
        total += sum(&net.nodes[i]);
    }
    total
}

#[test]
fn spring_networks() {
    check_rule(relax::rule, [(network(), 0.1, 3), (network(), 0.2, 0), (network(), 0.05, 1)]);
    let mut net = network();
    let mut g = relax::gradient();
    let (_, d) = g.value_and_gradient(&mut net, 0.1, 3);
    assert_eq!((d.net.nodes.len(), d.net.springs.len(), d.net.gravity[0]), (4, 5, 0.0));
    assert!(d.net.springs[4].stiffness != 0.0);
}

// Vectors of vectors and of arrays.

#[differentiable]
fn trace(a: &Vec<Vec<f64>>, k: f64) -> f64 {
    let mut total = 0.0;
    for i in 0..a.len() {
        total += a[i][i] * k * a[0][i];
        total += sum(&a[i]) + sum(&a[i][1..]);
    }
    total
}

#[differentiable]
fn eliminate(a: &mut [Vec<f64>]) -> f64 {
    let n = a.len();
    for k in 0..n {
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            for j in k..n {
                a[i][j] -= factor * a[k][j];
            }
        }
    }
    let mut det = 1.0;
    for k in 0..n {
        det *= a[k][k];
    }
    det
}

#[differentiable]
fn of_arrays(a: &[Array2<f64>], b: &mut Vec<Array1<f64>>) -> f64 {
    let mut total = 0.0;
    for i in 0..a.len() {
        total += entry(&a[i]) * b[i][0];
        b[i][0] *= a[i][[0, 0]];
    }
    total
}

#[differentiable]
fn deep(a: &Vec<Vec<Vec<f64>>>) -> f64 {
    trace(&a[0], a[1][0][0]) * sum(&a[1][0])
}

#[test]
fn vectors_of_vectors() {
    let a = vec![vec![2.0, 0.5, 1.0], vec![0.3, 1.5, -0.2], vec![0.1, 0.4, 1.2]];
    let b = vec![vec![1.5, 0.5], vec![0.7, 2.0]];
    check_rule(trace::rule, [(a.clone(), 0.7), (b.clone(), 1.2), (vec![], 1.0)]);
    check_rule(eliminate::rule, [(a.clone(),), (b.clone(),)]);
    check_rule(
        of_arrays::rule,
        [(vec![array![[0.5, 1.0]], array![[2.0], [1.0]]], vec![array![1.5, 1.0], array![0.7]])],
    );
    check_rule(deep::rule, [(vec![b, vec![vec![0.5]]],)]);
    let mut g = trace::gradient();
    let (_, d) = g.value_and_gradient(&a, 0.7);
    assert_eq!(d.a[1][0], 2.0 * 0.3);
    assert_eq!(d.a.len(), 3);
}

#[test]
fn seeds_of_vectors_of_vectors() {
    let mut a = vec![vec![2.0, 0.5], vec![1.0, 1.5]];
    let mut g = eliminate::pullback();
    let (_, d) = g.value_and_pullback(&mut a, 0.0, &[vec![0.0; 2], vec![0.0, 1.0]]);
    // What is left at (1, 1) is 1.5 − 1·0.5/2.
    assert_eq!(d.a, [vec![0.125, -0.5], vec![-0.25, 1.0]]);
}

// Borrowed fields.

#[differentiable]
fn misfit(data: &Data<'_>, slope: f64) -> f64 {
    let mut total = 0.0;
    for i in 0..data.x.len() {
        let miss = slope * data.x[i] + *data.offset - data.y[i];
        total += data.scale * miss * miss;
    }
    total
}

#[differentiable]
fn misfits<'a>(data: &Data<'a>, slope: f64) -> f64 {
    if data.label.is_empty() { 0.0 } else { misfit(data, slope) * sum(&data.x[..]) }
}

#[differentiable]
fn of_view(x: &ArrayView1<'_, f64>, k: f64) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        total += k * x[i] * x[i];
    }
    total
}

#[test]
fn borrowed_fields() {
    let mut g = misfits::gradient();
    check_gradient(
        |(x, y, scale, offset, slope): &mut (Vec<f64>, Vec<f64>, f64, f64, f64)| {
            misfits(&Data { x, y, scale: *scale, label: "points", offset }, *slope)
        },
        |(x, y, scale, offset, slope)| {
            let data = Data { x, y, scale: *scale, label: "points", offset };
            let (value, d) = g.value_and_gradient(&data, *slope);
            (value, (d.data.x.clone(), d.data.y.clone(), d.data.scale, d.data.offset, d.slope))
        },
        [(vec![0.5, 1.0, 2.0], vec![1.0, 2.0, 2.5], 0.7, 0.1, 1.5), (vec![0.5], vec![0.3], 1.2, -0.2, 0.5)],
    );
    let x = array![0.5, 1.5, 2.5];
    let mut g = of_view::gradient();
    assert_eq!(g.value_and_gradient(&x.slice(ndarray::s![..;2]), 0.5).1.x, &array![0.5, 2.5]);
}

// Generic containers, and fields that are constant.

#[differentiable]
fn diffuse(grid: &mut Grid<f64>, rate: f64, steps: usize) -> f64 {
    for _ in 0..steps {
        for i in 1..grid.cells.len() {
            let flow = rate * (grid.cells[i] - grid.cells[i - 1]) / grid.spacing * grid.mask[i];
            grid.cells[i] -= flow;
            grid.cells[i - 1] += flow;
        }
    }
    grid.cells[grid.width - 1] * grid.cells[0] + sum(&grid.mask)
}

#[test]
fn generic_containers() {
    let grid = |n: usize| Grid {
        cells: (0..n).map(|i| 1.0 + 0.3 * (i as f64).sin()).collect(),
        width: n,
        mask: vec![0.5; n],
        spacing: 1.5,
    };
    check_rule(diffuse::rule, [(grid(4), 0.2, 3), (grid(2), 0.3, 1), (grid(3), 0.1, 0)]);
    let mut g = diffuse::gradient();
    let (_, d) = g.value_and_gradient(&mut grid(3), 0.2, 1);
    assert_eq!(d.grid.cells.len(), 3);
    assert_eq!(format!("{:?}", d.grid.mask), "Constant");
}

#[derive(Clone, Copy, Debug, Differentiable)]
struct Depth {
    h: f64,
    hu: f64,
    side: usize,
}

#[differentiable]
impl Depth {
    fn mirrored(self) -> Depth {
        Depth { hu: -self.hu, ..self }
    }
}

/// Extended by a slice of structs.
#[differentiable]
fn padded(cells: &[Depth], k: f64) -> Vec<Depth> {
    let mut padded = Vec::with_capacity(2 * cells.len() + 2);
    padded.push(cells[0].mirrored());
    for i in 0..2 {
        padded.extend_from_slice(&cells[i..]);
        padded[i].h *= k;
    }
    padded.push(cells[cells.len() - 1].mirrored());
    padded
}

#[differentiable]
fn twice_the_pairs(pairs: &[(f64, f64)], k: f64) -> f64 {
    let mut twice = pairs.to_vec();
    twice.extend_from_slice(pairs);
    twice[0].0 *= k;
    twice.iter().map(|(a, b)| a * b).sum()
}

#[test]
fn extended_by_structs() {
    let depth = |h, hu| Depth { h, hu, side: 1 };
    let cells = vec![depth(0.3, 0.4), depth(0.5, 0.7)];
    check_rule(padded::rule, [(cells.clone(), 0.3), ([cells, vec![depth(0.9, 0.2)]].concat(), 0.6)]);
    check_rule(twice_the_pairs::rule, [(vec![(0.3, 0.4)], 0.3), (vec![(0.3, 0.4), (0.5, 0.7)], 1.2)]);
}
