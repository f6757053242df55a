//! Arrays and vectors that are made whole, chains under a name, and what chains end in besides numbers.

use pullback::prelude::*;
use pullback::testing::{check_gradient, check_rule};

#[differentiable]
fn powers(x: &[f64]) -> [f64; 4] {
    std::array::from_fn(|k| x.iter().map(|v| v.powi(k as i32)).sum())
}

#[differentiable]
fn arrays(x: &[f64], a: [f64; 3]) -> f64 {
    let m: [[f64; 3]; 2] = core::array::from_fn(|i| std::array::from_fn(|j| a[j] * x[i]));
    let b = a.map(|v| {
        let w = v * x[0];
        w.sin()
    });
    let c = [x[0], x[1]].map(f64::exp);
    let squares: f64 = a.map(|v| v * v).iter().sum();
    powers(x).iter().sum::<f64>() + m[1][2] * b[0] + c[1] * squares
}

#[differentiable]
fn norm(a: [f64; 3]) -> f64 {
    a[0] * a[1] + a[2]
}

#[differentiable]
fn dot(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    a[0] * b[1] + a[2] * b[2]
}

#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
struct Place {
    x: [f64; 3],
    weight: f64,
}

#[differentiable]
impl Place {
    fn at(self, x: [f64; 3]) -> Place {
        Place { x, ..self }
    }
}

/// Arrays of as many numbers as what takes them asks for.
#[differentiable]
fn asked_for(x: &[f64; 3], place: Place) -> f64 {
    let other = Place { x: std::array::from_fn(|i| x[i] * x[2 - i]), weight: x[0] };
    let moved = place.at(std::array::from_fn(|i| x[i] * place.x[2 - i]));
    let named = std::array::from_fn(|i| x[i] + i as f64);
    norm(std::array::from_fn(|i| x[i].sin() * i as f64)) * dot(x, &std::array::from_fn(|i| x[i].exp()))
        + norm(other.x) * other.weight
        + norm(moved.x) * moved.weight * norm(named)
}

/// Of structs, arrays and tuples, also where what takes them tells the type.
#[derive(Clone, Copy, Differentiable)]
struct Matrix([[f64; 2]; 2]);

#[differentiable]
fn places(a: f64) -> [Place; 4] {
    std::array::from_fn(|i| Place { x: [a, a * i as f64, 1.0], weight: a.powi(i as i32) })
}

#[differentiable]
fn of_plain_data(a: f64, x: &[f64; 3]) -> f64 {
    let first = places(a);
    let moved: [Place; 3] = std::array::from_fn(|i| first[i].at([x[i], a, x[2 - i] * first[i + 1].weight]));
    let rows = std::array::from_fn(|i| [x[i], moved[i].weight]);
    let told: [[f64; 2]; 3] = rows;
    let pairs: [(f64, f64); 3] = std::array::from_fn(|i| (x[i], told[i][1] * moved[i].x[2]));
    let m = Matrix(std::array::from_fn(|i| std::array::from_fn(|j| a * (i + 2 * j) as f64 * pairs[i].1)));
    m.0[0][1] * m.0[1][1] + pairs[2].0 * pairs[1].1
}

#[differentiable]
fn concatenated(x: &[f64], y: &[f64]) -> f64 {
    let rows: Vec<Vec<f64>> = x.iter().map(|&a| vec![a, a * a]).collect();
    let flat: Vec<f64> = rows.concat();
    let both = [x, &flat[1..], y, flat.as_slice()].concat();
    both.iter().enumerate().map(|(i, v)| v * v * i as f64).sum()
}

/// Rows of a slice of vectors, copied; the copies are written to.
#[differentiable]
fn copied_rows(a: &[Vec<f64>], b: &Vec<Vec<f64>>) -> f64 {
    let mut m = a.to_vec();
    let mut rest: Vec<Vec<f64>> = b.iter().skip(1).cloned().collect();
    let mut whole = b.clone();
    m[0][1] *= whole[0][0];
    whole[1][0] += m[0][1];
    rest[0][0] *= whole[1][0];
    rest.push(m[1].clone());
    m.iter().flatten().sum::<f64>() * rest[0][0] + rest[1][0] * whole[1][1]
}

#[differentiable]
fn parted(x: &[f64]) -> f64 {
    let (mut large, small): (Vec<f64>, Vec<f64>) = x.iter().copied().partition(|&v| v > 0.3);
    let (sines, squares): (Vec<f64>, Vec<f64>) = x.iter().map(|v| (v.sin(), v * v)).unzip();
    large.push(x[0]);
    large.iter().product::<f64>() * small.iter().map(|v| v * v).sum::<f64>()
        + sines.iter().zip(&squares).map(|(a, b)| a * b).sum::<f64>()
}

/// `None` as soon as a number is not positive.
#[differentiable]
fn folded(x: &[f64]) -> f64 {
    let both = x.iter().try_fold((1.0, 0.0), |(p, s), &a| (a > 0.0).then(|| (p * a, s + p)));
    let one = x.iter().try_fold(x[0], |total, &a| {
        let next = total * a;
        if next < 0.3 { None } else { Some(next + a) }
    });
    let last = one.unwrap_or(2.0 * x[1]);
    if let Some((p, s)) = both { p * s * last } else { x[0] * last }
}

/// Each of these names means what it meant outside of the closures.
#[differentiable]
fn best_of_pairs(x: &[f64]) -> f64 {
    let (i, m) = x.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).unwrap();
    let k = x.iter().enumerate().min_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(i, _)| i).unwrap();
    let (j, least) =
        x.iter().enumerate().map(|(i, v)| (i, v * v)).min_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
    let sums = x.iter().map(|&v| (v, v.sin())).reduce(|(a, b), (c, d)| (a + c, b * d)).unwrap();
    let pair = x.iter().map(|&v| [v, v.cos()]).reduce(|a, b| [a[0] * b[0], a[1] + b[1]]).unwrap_or([0.0; 2]);
    let from_one = (1..x.len()).max_by(|&a, &b| x[a].total_cmp(&x[b])).unwrap();
    m * x[i] * x[k] + least * x[j] + sums.0 * sums.1 + pair[0] * pair[1] * x[from_one]
}

/// Options of numbers under a name.
#[differentiable]
fn kept_options(x: &[f64]) -> f64 {
    let largest = x.iter().copied().reduce(f64::max);
    let last = x.iter().copied().last();
    let Some(largest) = largest else { return 0.0 };
    largest * last.unwrap_or(1.0)
}

#[differentiable]
fn named_chains(x: &[f64], n: usize) -> f64 {
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    let deviations = x.iter().map(|v| v - mean);
    let squares = deviations.map(|d| d * d);
    let pairs = x.iter().zip(x.iter().skip(1));
    let mut total = squares.sum::<f64>();
    for (a, b) in pairs {
        total += a * b;
    }
    for i in 0..n {
        let even = x[i..].iter().enumerate().filter(|(j, _)| j % 2 == 0).map(|(_, v)| v * v);
        total += even.sum::<f64>() * x[i];
    }
    total
}

#[differentiable]
fn endless(x: &[f64], y: &[f64], k: f64) -> f64 {
    let around: f64 = x.iter().zip(y.iter().cycle()).map(|(a, b)| a * b).sum();
    let skipped: f64 = y.iter().cycle().skip(1).take(5).map(|v| v * v).sum();
    let powers: Vec<f64> = std::iter::successors(Some(1.0), |p| Some(p * k)).take(4).collect();
    let mut state = x[0];
    let halves: f64 = std::iter::from_fn(|| {
        state *= 0.5;
        Some(state)
    })
    .take(3)
    .sum();
    let same: f64 = std::iter::repeat_with(|| x[1] * k).take(2).product();
    around + skipped * powers.iter().sum::<f64>() + halves * same * state
}

#[differentiable]
fn matched(x: &[f64], k: f64) -> f64 {
    match x {
        [a, b] if a > b => a * k,
        [a, .., b] if *a < 0.3 || b > &k => a * b,
        [a, rest @ ..] if rest.len() > 1 => rest[0] * a,
        [a, ..] => *a,
        _ => k,
    }
}

/// A smoothed mean: the state is an option.
#[differentiable]
fn smoothed(x: &[f64], alpha: f64) -> f64 {
    let means: Vec<f64> = x
        .iter()
        .scan(None, |state: &mut Option<f64>, &v| {
            let s = match *state {
                None => v,
                Some(before) => alpha * v + (1.0 - alpha) * before,
            };
            *state = Some(s);
            Some(s)
        })
        .collect();
    means.iter().map(|m| m * m).sum()
}

/// The least is only compared with.
#[differentiable]
fn cheapest(x: &[f64]) -> f64 {
    let (mut least, mut largest) = (f64::INFINITY, std::f64::MIN);
    let mut chosen = 0.0;
    for (i, v) in x.iter().enumerate() {
        let cost = v * v;
        if cost < least {
            least = cost;
            chosen = v * i as f64 + x[0];
        }
        if cost > largest {
            largest = cost;
        }
    }
    chosen * chosen
}

#[differentiable]
fn searched(xs: &[f64], ys: &[f64], x: f64) -> f64 {
    let i = xs.partition_point(|&p| p < x).clamp(1, xs.len() - 1);
    let j = match xs.binary_search_by(|p| p.partial_cmp(&x).unwrap()) {
        Ok(j) => return ys[j],
        Err(j) => j.min(ys.len() - 1),
    };
    let t = (x - xs[i - 1]) / (xs[i] - xs[i - 1]);
    ys[i - 1] + (ys[i] - ys[i - 1]) * t * t * ys[j]
}

#[differentiable]
fn converted(x: f32, n: u32) -> f64 {
    let y: f64 = x.into();
    y * y * f64::from(n)
}

#[test]
fn whole() {
    check_rule(arrays::rule, [(vec![0.5, 0.7], [0.1, 0.2, 0.3]), (vec![0.4, 0.3, 0.8], [0.4, 0.6, 0.2])]);
    check_rule(concatenated::rule, [(vec![0.5, 0.2], vec![0.4]), (vec![0.7, 0.1, 0.3], vec![])]);
    check_rule(
        copied_rows::rule,
        [
            (vec![vec![0.1, 1.2], vec![0.9, 0.3]], vec![vec![0.4, 0.2], vec![0.6, 0.7]]),
            (vec![vec![0.3, 0.2], vec![0.5]], vec![vec![0.4], vec![0.6, 0.7], vec![0.2]]),
        ],
    );
}

#[test]
fn chains() {
    check_all!([vec![0.5, 0.2, 0.9], vec![0.7, 0.1]]; parted, best_of_pairs, kept_options, cheapest);
    check_all!([vec![0.9, 0.8, 0.9], vec![0.7, -0.1]]; folded);
    check_rule(named_chains::rule, [(vec![0.5, 0.2, 0.9], 3), (vec![0.7, 0.1], 1)]);
    check_rule(
        endless::rule,
        [(vec![0.9, 0.8, 0.9], vec![0.3, 0.5], 0.6), (vec![0.7, -0.1], vec![0.4], 0.3)],
    );
    check_rule(smoothed::rule, [(vec![0.5, 0.2, 0.9], 0.4), (vec![0.7], 0.1)]);
    assert_eq!(kept_options(&[]), kept_options::gradient().value_and_gradient(&[]).0);
}

#[test]
fn arrays_as_arguments() {
    check_rule(of_plain_data::rule, [(0.7, [0.3, 0.5, -0.4]), (1.2, [0.1, -0.6, 0.8])]);
    check_rule(asked_for::rule, [([0.4, 0.9, 0.3], Place { x: [0.2, 0.5, 1.1], weight: 0.7 })]);
}

#[test]
fn parts() {
    let inputs = [&[0.5, 0.2, 0.9][..], &[0.7, 0.1], &[0.5, 0.2, 0.1], &[0.5], &[]];
    check_rule(matched::rule, inputs.map(|x| (x.to_vec(), 0.3)));
    check_rule(
        searched::rule,
        [(vec![0.0, 1.0, 2.5], vec![0.3, 0.4, 0.9], 1.4), (vec![0.0, 1.0], vec![0.2, 0.9], 0.4)],
    );
    let mut g = converted::gradient();
    assert_eq!(g.value_and_gradient(0.5, 3).1.x, 3.0);
}

/// Parts of slices as arrays.
#[differentiable]
fn as_arrays(x: &[f64], k: f64) -> f64 {
    let a: [f64; 2] = x[..2].try_into().unwrap();
    let mut b: [f64; 2] = (&x[1..3]).try_into().expect("there are three");
    b[0] *= k * a[1];
    let mut total = b[0] * b[1];
    for chunk in x.chunks_exact(2) {
        let pair: [f64; 2] = chunk.try_into().unwrap();
        total += pair[0] * pair[1] * total;
    }
    total
}

#[test]
fn slices_as_arrays() {
    check_rule(as_arrays::rule, [(vec![0.5, 0.2, 0.9], 0.4), (vec![0.7, 0.3, 0.2, 0.8, 0.5, 0.3], 0.1)]);
}

/// A struct whose fields are arrays, of numbers and of structs.
#[derive(Clone, Copy, Debug, Differentiable)]
struct Quaternion {
    w: f64,
    v: [f64; 3],
}

#[differentiable]
impl Quaternion {
    fn conjugate(self) -> Quaternion {
        Quaternion { v: self.v.map(|c| -c), ..self }
    }
    fn scale(&mut self, k: f64) {
        self.v = self.v.map(|c| c * k + c * c);
        self.w *= k;
    }
}

#[derive(Clone, Copy, Debug, Differentiable)]
struct Vertex {
    position: [f64; 2],
    weight: f64,
}

#[derive(Clone, Copy, Debug, Differentiable)]
struct Triangle {
    vertices: [Vertex; 3],
}

/// `map` of arrays of which nothing in the function tells that they are such.
#[differentiable]
fn maps_of_fields(q: Quaternion, t: &Triangle, k: f64) -> f64 {
    let mut p = q.conjugate();
    p.scale(k);
    let sines = p.v.map(f64::sin);
    let [a, b, c] = t.vertices.map(|v| v.position);
    let squares: [f64; 3] = t.vertices.map(|v| v.weight * v.weight);
    let ends = t.vertices.map(|v| v.position[0] * v.weight * k);
    p.w * sines[0] * sines[2] + a[0] * b[1] - c[0] * squares[2] * ends[1]
}

/// The same of parameters, in a loop, and with results of another type than the elements.
#[differentiable]
fn maps_to_others(m: &[[f64; 3]; 3], x: [f64; 3], vertices: &[Vertex; 2]) -> f64 {
    let mut h = x;
    for _ in 0..3 {
        h = m.map(|row| row.iter().zip(&h).map(|(a, b)| a * b).sum());
    }
    let [a, b] = vertices.map(|v| v.position);
    let s = scaled(m, a[0]);
    let squares = s[1].map(|v| v * v);
    h[0] * a[1] + h[2] * h[1] * b[0] + squares[2]
}

#[differentiable]
fn scaled(m: &[[f64; 3]; 3], k: f64) -> [[f64; 3]; 3] {
    let mut out = *m;
    for v in out.iter_mut().flatten() {
        *v *= k;
    }
    out
}

#[test]
fn maps_of_untold_arrays() {
    let vertex = |a, b, weight| Vertex { position: [a, b], weight };
    let vertices = [vertex(0.1, 0.2, 0.3), vertex(0.4, -0.2, 0.7), vertex(0.5, 0.1, 0.9)];
    let q = |w, v| Quaternion { w, v };
    check_rule(
        maps_of_fields::rule,
        [
            (q(0.4, [0.3, 0.5, 0.2]), Triangle { vertices }, 0.4),
            (q(0.8, [0.1, -0.5, 0.2]), Triangle { vertices }, 0.7),
        ],
    );
    let m = [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [0.2, 0.4, 0.1]];
    let two = [vertices[0], vertices[1]];
    check_rule(maps_to_others::rule, [(m, [0.3, 0.2, 0.5], two), (m, [-0.3, 1.2, 0.5], two)]);
}

#[derive(Clone, Copy, Differentiable)]
pub struct Weighted {
    weight: f64,
    at: f64,
}

/// Two closures with patterns that name the same field.
#[differentiable]
fn fields_named_twice(points: &[Weighted; 3], x: f64) -> f64 {
    let total: f64 = points.iter().map(|Weighted { weight, .. }| weight).sum();
    let shares = points.map(|Weighted { weight, at }| weight * at * x / total);
    shares[0] * shares[1] + shares[2]
}

#[test]
fn patterns_of_structs_in_closures() {
    let point = Weighted { weight: 0.3, at: 0.8 };
    check_rule(fields_named_twice::rule, [([point, Weighted { at: 0.2, ..point }, point], 0.3)]);
}

/// Of an array behind a reference, and of indices.
#[differentiable]
fn mapped_reference(r: &[f64; 3], mu: f64) -> [f64; 3] {
    let d: f64 = r.iter().map(|c| c * c).sum();
    let k = -mu / (d * d.sqrt());
    r.map(|c| k * c)
}

#[differentiable]
fn mapped_indices(x: &[f64], k: f64) -> f64 {
    let y = [0, 2].map(|i| x[i] * k);
    let line = |a: f64, b: f64| [0, 1, 2].map(|i| a * x[i] + b);
    let z = line(k, y[0]);
    z[0] * z[1] + y[1] * z[2]
}

#[differentiable]
fn mapped_indices_at_the_end(x: &[f64], k: f64) -> [f64; 3] {
    [0, 1, 2].map(|i| x[i] * k)
}

#[test]
fn references_and_indices_are_mapped() {
    check_rule(mapped_reference::rule, [([0.2, -0.3, 0.5], 0.3), ([0.7, 0.1, -0.4], 1.2)]);
    let inputs = [(vec![0.2, -0.3, 0.5], 0.3), (vec![0.7, 0.1, -0.4, 0.9], 1.2)];
    check_rule(mapped_indices::rule, inputs.clone());
    check_rule(mapped_indices_at_the_end::rule, inputs);
}

#[derive(Clone, Copy, Debug, Differentiable)]
struct Corner {
    x: f64,
    y: f64,
}

#[differentiable]
fn corners_of(points: &[Corner], face: &[usize; 3]) -> [Corner; 3] {
    face.map(|i| points[i])
}

#[differentiable]
fn area_of(points: &[Corner], face: [usize; 3]) -> f64 {
    let [a, b, c] = face.map(|i| points[i]);
    0.5 * ((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x))
}

/// Into structs that have no `Default`.
#[test]
fn indices_are_mapped_to_structs() {
    let corner = |x, y| Corner { x, y };
    let points = vec![corner(0.1, 0.3), corner(0.9, 0.2), corner(0.4, 1.1)];
    check_rule(corners_of::rule, [(points.clone(), [2, 0, 1]), (points[1..].to_vec(), [1, 0, 1])]);
    check_rule(area_of::rule, [(points.clone(), [2, 0, 1]), (points, [1, 2, 0])]);
}

#[differentiable]
fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[differentiable]
fn outer<T: num_traits::Float>(a: [T; 3], b: [T; 3]) -> [[T; 3]; 3] {
    a.map(|x| b.map(|y| x * y))
}

#[differentiable]
fn turned(u: [f64; 3], v: [f64; 3], w: f64) -> [f64; 3] {
    let t = cross(u, v).map(|c| 2.0 * c);
    let back = cross(u, cross(t, v).map(|c| c.sin()).map(|c| w * c));
    let m = outer(u, back);
    let mut sum: [f64; 3] = [0.0; 3];
    for k in 0..2 {
        let rows = m.map(|row| row.iter().zip(v).map(|(a, b)| a * b).sum::<f64>());
        sum[k] = rows[k] + outer(v, t)[k].map(|c| c.cos())[1];
    }
    let shifted = cross(sum, t);
    shifted.map(|c| c + w)
}

#[differentiable]
fn squared_trace<T: num_traits::Float>(a: [T; 3], b: [T; 3]) -> T {
    let m = outer(a, b);
    let squares = m.map(|row| row[1] * row[1]);
    squares[0] + squares[1] * squares[2]
}

#[differentiable]
fn pairs_and_rows(x: [f64; 3]) -> f64 {
    let pairs = x.map(|v| (v, v * v));
    let rows = [x[0], pairs[1].1].map(|v| [v, v.sin()]);
    pairs[0].1 * rows[1][1] + rows[0][0]
}

#[test]
fn what_calls_return_is_mapped() {
    let (u, v) = ([0.3, -0.8, 1.1], [0.5, 0.4, -0.9]);
    check_rule(turned::rule, [(u, v, 0.7), (v, u, 1.2)]);
    check_rule(pairs_and_rows::rule, [(u,), (v,)]);
    check_rule(squared_trace::<f64>::rule, [(u, v), (v, u)]);
    check_rule(squared_trace::<f32>::rule, [([0.3, -0.8, 1.1], [0.5, 0.4, -0.9])]);
}
