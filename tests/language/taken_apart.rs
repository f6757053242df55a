//! Patterns that take apart what a loop, a closure or an arm has bound, and slices that are written to.

use pullback::prelude::*;
use pullback::testing::check_rule;

#[differentiable]
fn grey(image: &mut [f64], k: f64) {
    for pixel in image.chunks_exact_mut(3) {
        if let [r, g, b] = pixel {
            let y = 0.3 * *r + 0.6 * *g + 0.1 * *b;
            *r += k * (y - *r);
            *g += k * (y - *g) * *r;
            *b += k * (y - *b);
        }
    }
    image.chunks_exact_mut(2).for_each(|pair| {
        let [a, b] = pair else { return };
        *a *= *b;
    });
}

#[differentiable]
fn scale(x: &mut [f64], k: &mut f64) {
    for x in x.iter_mut() {
        *x *= *k;
    }
    *k += 1.0;
}

#[differentiable]
fn by_length(x: &mut [f64]) -> f64 {
    match x {
        [] => 0.0,
        [a] => {
            *a *= 3.0;
            1.0
        }
        [a, b] if *a > *b => {
            std::mem::swap(a, b);
            *a * *b
        }
        [a, middle @ .., b] if *a > 0.5 => {
            scale(middle, a);
            scale(middle, b);
            *a - *b
        }
        [_, rest @ ..] => {
            rest[0] *= rest[0];
            rest[0]
        }
    }
}

#[differentiable]
fn or_else(x: &mut [f64]) -> f64 {
    if let [a, b, ..] = x {
        if *a > 0.5 {
            return *a * *b;
        }
        *a *= *b;
    }
    let [p, q] = x else { return 2.0 * x[0] };
    *p -= *q;
    x[0] * x[1]
}

#[differentiable]
fn rows(x: &mut [Vec<f64>], k: f64) {
    for row in x.iter_mut() {
        if let [a, .., z] = row.as_mut_slice() {
            let t = *a;
            *a = *z * k;
            *z = t * t;
        }
    }
    if let [first, .., last] = x {
        for (a, b) in first.iter_mut().zip(last.iter()) {
            *a += b * b;
        }
        last[0] *= first[0];
    }
}

#[derive(Clone, Differentiable)]
struct Filter {
    weights: Vec<f64>,
    tail: [f64; 3],
}

#[differentiable]
impl Filter {
    fn step(&mut self, x: f64) -> f64 {
        let [a, .., b] = self.weights.as_mut_slice() else { return x };
        *a += x * *b;
        *b *= 0.5;
        if let [c, d, ..] = &mut self.weights[..] {
            *c *= *d;
        }
        let [u, _, v] = &mut self.tail;
        *u += x * *v;
        *v -= *u;
        let [first, .., last] = &self.tail;
        match self.weights[..] {
            [w, ..] => w * first * last,
            [] => 0.0,
        }
    }
}

#[differentiable]
fn filtered(filter: &mut Filter, x: &[f64]) -> f64 {
    let mut total = 0.0;
    for x in x {
        total += filter.step(*x);
    }
    total
}

#[differentiable]
fn of_arrays(x: &mut [f64; 2], k: f64) -> f64 {
    let [a, _] = x;
    *a *= k;
    let [a, b] = &mut *x;
    *a *= *b;
    x[0] * k
}

/// The slice that is taken apart becomes shorter.
#[differentiable]
fn folded(x: &[f64]) -> f64 {
    let (mut v, mut i, mut total) = (x.to_vec(), 0, 0.0);
    while let [a, .., b] = &mut v[i..] {
        *a += *b;
        total += *a * *b;
        i += 1;
    }
    total
}

#[test]
fn slices() {
    let x = [0.8, 0.7, 0.2, 0.4, 0.1, 0.9];
    check_rule(grey::rule, [2, 3, 6].map(|n| (x[..n].to_vec(), 0.5)));
    check_rule(by_length::rule, [0, 1, 2, 3, 5].map(|n| (x[..n].to_vec(),)));
    check_rule(by_length::rule, [2, 3].map(|i| (x[i..4].to_vec(),)));
    check_rule(or_else::rule, [(0, 1), (0, 3), (2, 3), (2, 4), (2, 5)].map(|(i, j)| (x[i..j].to_vec(),)));
    let three = vec![x[..3].to_vec(), x[3..4].to_vec(), x[4..].to_vec()];
    check_rule(rows::rule, [(three.clone(), 0.5), (three[..1].to_vec(), 0.3), (Vec::new(), 0.5)]);
    let filter = |n: usize| Filter { weights: x[..n].to_vec(), tail: [0.3, 0.2, 0.6] };
    check_rule(filtered::rule, [1, 2, 4].map(|n| (filter(n), x[2..].to_vec())));
    check_rule(of_arrays::rule, [([0.3, 0.6], 0.5)]);
    check_rule(folded::rule, [1, 4].map(|n| (x[..n].to_vec(),)));
}

#[differentiable]
fn pixels(image: &mut [[f64; 3]], k: f64) {
    for pixel in image.iter_mut() {
        let [r, g, b] = pixel;
        let y = 0.3 * *r + 0.6 * *g;
        *r += k * (y - *r);
        *b *= *g;
    }
    for [r, _, b] in image {
        *r *= *b;
    }
}

#[differentiable]
fn mix(a: &mut f64, b: &mut f64) {
    *a += *b;
    *b *= *a;
}

#[differentiable]
fn pairs(x: &mut [(f64, f64)], counted: &mut Vec<(usize, f64)>, nested: &mut [(f64, [f64; 2])]) -> f64 {
    for (a, b) in x.iter_mut() {
        mix(a, b);
    }
    for (i, (a, _)) in x.iter_mut().enumerate().rev() {
        *a *= 2.0 + i as f64;
    }
    for pair in x.iter_mut() {
        let (a, b) = pair;
        *b -= *a;
    }
    if let [(a, b), .., (c, d)] = x {
        *a *= *d;
        *b -= *c;
    }
    if let Some((a, b)) = x.last_mut() {
        std::mem::swap(a, b);
    }
    let mut total = 0.0;
    for (n, w) in counted.iter_mut() {
        *w *= *w;
        total += *w * *n as f64;
    }
    for (m, [x, y]) in nested.iter_mut() {
        *x += *m * *y;
        *y *= *x;
    }
    nested.iter_mut().for_each(|(m, [_, y])| *m *= *y);
    total
}

#[test]
fn items_that_are_written_to() {
    check_rule(pixels::rule, [(vec![[0.3, 0.7, 0.2], [0.4, 0.1, 0.9]], 0.5)]);
    let pairs_of = |n: usize| [(0.4, 0.3), (0.2, 0.7), (0.6, 0.1)][..n].to_vec();
    let arguments = |n| (pairs_of(n), vec![(2, 0.3), (3, 0.4)], vec![(0.3, [0.2, 0.6])]);
    check_rule(pairs::rule, [0, 1, 3].map(arguments));
}

#[derive(Clone, Copy, Differentiable)]
struct Point {
    x: f64,
    y: f64,
}

#[derive(Clone, Copy, Differentiable)]
enum Shape {
    At(Point),
    Disc { centre: Point, radius: f64 },
}

/// What a loop has bound is a reference or a value.
#[differentiable]
fn read(points: &[Point], shape: &Shape, last: Option<Point>) -> f64 {
    let mut total = 0.0;
    for p in points {
        let Point { x, y } = p;
        total += *x * y.sin();
    }
    for p in points.iter().copied() {
        let Point { x, y } = p;
        total += x - y * x;
    }
    // A part may be called as the whole.
    for x in points {
        let Point { x, y } = x;
        total += *x / *y;
    }
    total += points.iter().map(|Point { x, y }| *x + *y).product::<f64>();
    total += points
        .iter()
        .map(|p| {
            let Point { x, y } = p;
            *x * *y
        })
        .sum::<f64>();
    total *= match shape {
        Shape::At(p) => {
            let Point { x, y } = p;
            *x * *y
        }
        Shape::Disc { centre, radius } => {
            let Point { x, .. } = centre;
            *x * *radius
        }
    };
    if let Some(p) = last {
        let Point { x, y } = p;
        total += x * y * y;
    }
    total
}

#[differentiable]
fn write(points: &mut [Point]) {
    for Point { x, y } in points.iter_mut() {
        *x += 0.1 * *y * *x;
        *y -= *x;
    }
    for (i, p) in points.iter_mut().enumerate() {
        let Point { x, y } = p;
        *x *= 2.0 + i as f64;
        mix(x, y);
    }
    points.iter_mut().for_each(|p| {
        let Point { y, .. } = p;
        *y *= *y;
    });
    if let Some(p) = points.first_mut() {
        let Point { x, y } = p;
        *x *= *y;
    }
}

#[derive(Clone, Differentiable)]
struct Layer {
    weights: Vec<f64>,
    bias: f64,
}

#[differentiable]
fn of_layers(layers: &mut [Layer], k: f64) -> f64 {
    for Layer { weights, bias } in layers.iter_mut() {
        *bias *= weights[0];
    }
    for layer in layers.iter_mut() {
        let Layer { weights, bias } = layer;
        for w in weights.iter_mut() {
            *w *= k;
        }
        *bias += weights[0];
    }
    let mut total = 0.0;
    for layer in layers.iter() {
        let Layer { weights, bias } = layer;
        total += weights.iter().sum::<f64>() * *bias;
    }
    total
}

#[test]
fn structs() {
    let points = [Point { x: 0.2, y: 0.4 }, Point { x: 0.5, y: 0.3 }];
    let disc = Shape::Disc { centre: points[1], radius: 0.6 };
    check_rule(
        read::rule,
        [(points.to_vec(), Shape::At(points[0]), None), (points.to_vec(), disc, Some(points[0]))],
    );
    check_rule(write::rule, [0, 1, 2].map(|n| (points[..n].to_vec(),)));
    let layer = Layer { weights: vec![0.3, 0.6], bias: 0.2 };
    check_rule(of_layers::rule, [(vec![layer.clone(), layer], 0.4)]);
}

/// What stands behind a `..`, of arrays that calls return, that references are to, and within others.
#[differentiable]
fn product(a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
    [a[0] * b[3] + b[1], a[1] * b[2], a[2].sin() * b[1], a[3] * b[0] - a[0]]
}

#[differentiable]
fn of_calls(q: [f64; 4], p: [f64; 4]) -> f64 {
    let [.., i, j, k] = product(q, p);
    let r = product(p, p);
    let [w, .., z] = r;
    let [a, rest @ .., _] = product([i, j, k, w], q);
    let [s, ..] = product(q, q);
    let [.., u, v] = q.map(|x| x * x);
    i * j + k.sin() * z + a * rest[1] + rest[0] + s * u - v
}

#[differentiable]
fn corners(a: f64) -> [Point; 4] {
    std::array::from_fn(|i| Point { x: a * i as f64, y: a.powi(i as i32) })
}

#[differentiable]
fn of_structs(a: f64, rows: [[f64; 2]; 3]) -> f64 {
    let [first, .., Point { x, y }] = corners(a);
    let [.., [u, v], last] = rows;
    let [.., w] = last;
    first.x + x * y + u * v * w + first.y
}

#[differentiable]
fn of_references(x: &[f64; 5], m: &[[f64; 3]; 2]) -> f64 {
    let [.., a, b] = x;
    let [c, .., d] = *x;
    let [_, [e, .., g]] = m;
    let [.., row] = m;
    a * b + c * d + e * g + row[1]
}

#[differentiable]
fn written_to(x: &mut [f64; 4], k: f64) -> f64 {
    let [first, .., last] = x;
    *first *= k * *last;
    *last += *first;
    let [.., before, last] = *x;
    before * last
}

#[test]
fn behind_the_gap() {
    check_rule(of_calls::rule, [([0.1, 0.5, -0.3, 0.9], [0.4, 0.2, 0.8, -0.6])]);
    check_rule(of_structs::rule, [(0.3, [[0.6, 0.2], [0.7, -0.4], [0.1, 1.3]])]);
    check_rule(of_references::rule, [([0.1, 0.5, -0.3, 0.9, 0.3], [[0.4, 0.2, 0.8], [-0.6, 0.1, 0.2]])]);
    check_rule(written_to::rule, [([0.2, 0.5, 0.4, 0.7], 1.3)]);
}

#[derive(Clone, Copy, Differentiable)]
struct Nested {
    x: f64,
    inner: (f64, f64),
}

#[differentiable]
fn of_an_option(q: &mut Option<Nested>, k: f64) -> f64 {
    if let Some(p) = q {
        let Nested { x, inner } = p;
        *x *= 2.0 * k;
        let (a, b) = inner;
        *a *= *b + *x;
        *b += 1.0;
        p.x += p.inner.0;
    }
    match q.as_mut() {
        Some(p) => {
            let Nested { x, inner: (a, b) } = p;
            *x *= 2.0 * k;
            *a *= *b + *x;
        }
        None => {}
    }
    let last = if let Some(p) = q {
        let Nested { x, .. } = p;
        *x *= k;
        *x
    } else {
        1.0
    };
    k * last
}

#[differentiable]
fn behind_let_else(q: &mut Option<(f64, f64)>, k: f64) -> f64 {
    let Some(p) = q else { return k };
    let (x, y) = p;
    *x *= 2.0 * k;
    *y += *x;
    k * k
}

#[differentiable]
fn left_early(q: &mut Option<(f64, f64)>, k: f64) -> f64 {
    if let Some(p) = q {
        let (x, y) = p;
        if k > 1.0 {
            return *x;
        }
        *x *= 2.0 * k;
        *y += *x;
    }
    k * k
}

#[differentiable]
fn of_a_local(k: f64) -> f64 {
    let mut q = if k > 0.5 { Some(Point { x: k, y: k * k }) } else { None };
    if let Some(p) = &mut q {
        let Point { x, y } = p;
        *x *= 2.0 * k;
        *y += *x;
    }
    match q {
        Some(p) => p.x * p.y,
        None => k,
    }
}

#[derive(Clone, Copy, Differentiable)]
enum Move {
    By((f64, f64)),
    Times(f64),
}

#[differentiable]
fn of_variants(m: &mut Move, k: f64) -> f64 {
    match m {
        Move::By(p) => {
            let (x, y) = p;
            *x *= 2.0 * k;
            *y += *x;
        }
        Move::Times(z) => *z *= k,
    }
    k * k
}

/// Another name for what a pattern has bound.
#[differentiable]
fn named_anew(q: &mut Option<(f64, f64)>, k: f64) -> f64 {
    if let Some((x, y)) = q {
        *x *= 2.0 * k;
        let sum = y;
        *sum += *x;
    }
    k * k
}

#[test]
fn what_a_pattern_on_a_reference_has_bound() {
    let some = |x, a, b| Some(Nested { x, inner: (a, b) });
    check_rule(of_an_option::rule, [(some(0.3, 0.5, 0.7), 0.9), (some(1.1, -0.5, 0.2), 0.4)]);
    let pairs = || [(Some((0.3, 0.6)), 0.8), (Some((0.3, 0.6)), 1.2)];
    check_rule(behind_let_else::rule, pairs());
    check_rule(left_early::rule, pairs());
    check_rule(named_anew::rule, pairs());
    check_rule(behind_let_else::rule, [(None, 0.8)]);
    check_rule(left_early::rule, [(None, 0.8)]);
    check_rule(named_anew::rule, [(None, 0.8)]);
    check_rule(of_a_local::rule, [(0.7,), (0.4,)]);
    check_rule(of_variants::rule, [(Move::By((0.3, 0.6)), 0.8)]);
    check_rule(of_variants::rule, [(Move::Times(0.3), 0.8)]);
}
