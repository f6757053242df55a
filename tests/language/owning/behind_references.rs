//! Vectors behind `&mut` parameters that become longer and shorter, and who owns them.

use pullback::prelude::*;
use pullback::testing::{CheckRule, check_pushforward, check_rule, check_second_order};

#[differentiable]
fn add(v: &mut Vec<f64>, x: f64) {
    v.push(x * x);
}

/// The callee's vectors are locals, which are read, grown and read again between calls.
#[differentiable]
fn owner(x: f64, n: usize) -> f64 {
    let mut v = Vec::new();
    v.push(x);
    let mut total = 0.0;
    for i in 0..n {
        add(&mut v, x + i as f64);
        total += v[v.len() - 1] * v[0];
        v.push(total);
        add(&mut v, total * 0.1);
    }
    for (i, a) in v.iter().enumerate() {
        total += a * (i + 1) as f64;
    }
    total
}

#[test]
fn pushed() {
    check_rule(add::rule, [(vec![1.0, 2.0], 1.5), (vec![], 0.3)]);
    check_rule(owner::rule, [(1.3, 3), (0.4, 1), (0.4, 0)]);
}

/// All that changes a length, with what comes between.
#[differentiable]
fn everything(v: &mut Vec<f64>, x: f64) -> f64 {
    v.push(x * 2.0);
    let a = v.pop().unwrap();
    v.insert(1, a * x);
    let b = v.remove(0);
    let three = [a, b, a * b];
    v.extend_from_slice(&three);
    v.reverse();
    v.truncate(3);
    v.resize(5, x * x);
    v.rotate_left(2);
    let c = v.pop().unwrap();
    v.sort_by(|a, b| a.partial_cmp(b).unwrap());
    v.retain(|a| *a < 50.0);
    v.drain(..1);
    v.extend(three.iter().map(|a| a * x));
    v.dedup();
    c * b + v[0] * v.iter().sum::<f64>()
}

#[test]
fn all_methods() {
    check_rule(everything::rule, [(vec![1.1, 2.0], 1.5), (vec![0.4, 3.0, 0.7, 2.2], 0.3)]);
}

/// Memory of the caller's: what was in it before does not matter.
#[differentiable]
fn squares(x: &[f64], out: &mut Vec<f64>) {
    out.clear();
    for a in x {
        out.push(a * a);
    }
}

#[differentiable]
fn reused(x: &[f64], n: usize) -> f64 {
    let mut buffer = vec![1.0; n];
    let mut total = 0.0;
    for k in 0..3 {
        total += buffer.iter().sum::<f64>() * (k + 1) as f64;
        squares(&x[k % 2..], &mut buffer);
        total += buffer[0] * buffer[buffer.len() - 1];
    }
    total
}

/// What is handed back has had more elements than it has now.
#[differentiable]
fn handed_back(x: &[f64], n: usize) -> Vec<f64> {
    let mut buffer = vec![x[0]; n];
    buffer[n - 1] *= x[1];
    let last = buffer[n - 1] * buffer[0];
    squares(x, &mut buffer);
    buffer[0] *= last;
    buffer
}

#[test]
fn refilled() {
    check_rule(squares::rule, [(vec![1.5, 0.5], vec![1.0, 2.0, 3.0]), (vec![1.5, 0.5, 2.0], vec![])]);
    check_rule(reused::rule, [(vec![1.0, 2.0, 0.5], 7), (vec![0.3, 1.1], 1)]);
    check_rule(handed_back::rule, [(vec![1.0, 2.0, 0.5], 7), (vec![0.3, 1.1], 1)]);
}

#[derive(Clone, Differentiable)]
struct Log {
    seen: Vec<f64>,
    scale: f64,
    #[constant]
    hits: Vec<f64>,
    counts: Vec<usize>,
}

#[differentiable]
impl Log {
    fn record(&mut self, x: f64) {
        self.seen.push(x * self.scale);
        self.hits.push(3.0);
        self.hits.extend_from_slice(&[1.0]);
        self.hits.pop();
        self.counts.push(self.seen.len());
    }

    fn twice(&mut self, x: f64) {
        self.record(x);
        self.record(x * x);
        self.scale *= 1.5;
    }

    fn total(&self) -> f64 {
        self.seen.iter().zip(&self.hits).map(|(x, hit)| x * x * hit).sum()
    }
}

#[differentiable]
fn logged(x: f64, n: usize) -> f64 {
    let mut log = Log { seen: Vec::new(), scale: x, hits: Vec::new(), counts: Vec::new() };
    for i in 0..n {
        log.twice(x + i as f64);
        log.seen.push(x);
        log.hits.push(1.0);
    }
    log.total() * log.seen[log.seen.len() - 1]
}

#[test]
fn fields_of_self() {
    let log = Log { seen: vec![1.0], scale: 0.5, hits: vec![2.0], counts: vec![] };
    check_rule(Log::twice_rule, [(log, 1.5)]);
    check_rule(logged::rule, [(0.6, 3), (1.1, 1)]);
}

/// A calculator with a stack.
#[derive(Clone, Differentiable)]
struct Stack {
    items: Vec<f64>,
}

#[differentiable]
impl Stack {
    fn push(&mut self, x: f64) {
        self.items.push(x);
    }

    fn pop(&mut self) -> f64 {
        self.items.pop().unwrap()
    }

    fn add(&mut self) {
        let (b, a) = (self.pop(), self.pop());
        self.push(a + b);
    }

    fn mul(&mut self) {
        let b = self.pop();
        let a = self.pop();
        self.push(a * b);
    }
}

#[differentiable]
fn calculated(x: f64, y: f64) -> f64 {
    let mut stack = Stack { items: Vec::new() };
    stack.push(x);
    stack.push(y);
    stack.mul();
    stack.push(x);
    stack.add();
    stack.push(y);
    stack.mul();
    stack.pop()
}

#[test]
fn stack_machine() {
    check_rule(calculated::rule, [(1.2, 0.7), (0.3, 2.0)]);
}

#[derive(Clone, Differentiable)]
struct Layer {
    w: Vec<f64>,
    outputs: Vec<f64>,
}

#[derive(Clone, Differentiable)]
struct Net {
    layers: Vec<Layer>,
    x: f64,
}

#[differentiable]
impl Layer {
    fn run(&mut self, x: f64) -> f64 {
        let mut y = x;
        for w in &self.w {
            y = (y * w).sin();
            self.outputs.push(y);
        }
        y
    }
}

#[differentiable]
impl Net {
    fn run(&mut self) {
        for i in 0..self.layers.len() {
            let y = self.layers[i].run(self.x);
            self.x = y;
        }
    }

    fn total(&self) -> f64 {
        let mut total = 0.0;
        for layer in &self.layers {
            for y in &layer.outputs {
                total += y;
            }
        }
        total * self.x
    }
}

#[differentiable]
fn run(net: &mut Net, k: usize) -> f64 {
    for _ in 0..k {
        net.run();
    }
    net.total()
}

#[differentiable]
fn local_layers(a: f64, k: usize) -> f64 {
    let mut layers =
        vec![Layer { w: vec![a, 0.5], outputs: vec![] }, Layer { w: vec![0.3 * a], outputs: vec![1.0] }];
    let mut y = a;
    for _ in 0..k {
        y = layers[1].run(y);
    }
    y * layers[1].outputs.iter().sum::<f64>() * layers[0].w[0]
}

/// Parts of parts: by name, by row, by field, by a reference.
#[derive(Clone, Differentiable)]
struct Outer {
    inner: Inner,
    rows: Vec<Vec<f64>>,
}

#[derive(Clone, Differentiable)]
struct Inner {
    log: Vec<f64>,
    k: f64,
}

#[differentiable]
impl Inner {
    fn record(&mut self, x: f64) {
        self.log.push(self.k * x);
    }
}

#[differentiable]
fn parts(o: &mut Outer, x: f64) -> f64 {
    o.inner.record(x);
    let log = &mut o.inner.log;
    add(log, x);
    add(&mut o.rows[1], x * 3.0);
    add(&mut o.inner.log, 0.5 * x);
    o.inner.record(o.rows[1][1]);
    let t = o.inner.log[0] * o.rows[0][1];
    o.inner.log.push(x);
    t * o.inner.log.iter().map(|a| a * a).sum::<f64>() + o.rows[1].iter().sum::<f64>()
}

#[differentiable]
fn local_parts(x: f64) -> f64 {
    let mut inner = Inner { log: vec![x], k: 2.0 * x };
    inner.record(x);
    let log = &mut inner.log;
    add(log, x);
    inner.log.push(x);
    inner.record(x * x);
    inner.log.iter().map(|a| a * a).sum::<f64>() * inner.log[3]
}

#[differentiable]
fn rows(v: &mut Vec<Vec<f64>>, x: f64) {
    v[0].push(x);
    let k = v.len() - 1;
    v[k].push(2.0 * x);
}

#[differentiable]
fn local_rows(x: f64) -> f64 {
    let mut v = vec![vec![x], vec![]];
    rows(&mut v, x);
    rows(&mut v, x * x);
    v[0][0] * v[1][1] + v[0][2]
}

#[test]
fn parts_of_parts() {
    let layers =
        vec![Layer { w: vec![1.2, 0.5], outputs: vec![] }, Layer { w: vec![0.7], outputs: vec![1.0] }];
    let net = Net { layers, x: 0.8 };
    check_rule(run::rule, [(net.clone(), 2), (net, 1)]);
    check_rule(local_layers::rule, [(0.7, 2), (1.4, 1)]);
    let outer = Outer { inner: Inner { log: vec![0.3], k: 0.8 }, rows: vec![vec![1.0, 0.4], vec![0.7]] };
    check_rule(parts::rule, [(outer, 0.7)]);
    check_rule(local_parts::rule, [(0.7,), (1.1,)]);
    check_rule(rows::rule, [(vec![vec![1.0], vec![0.4, 0.3]], 0.7)]);
    check_rule(local_rows::rule, [(0.6,)]);
}

/// Elements that are plain data.
#[derive(Clone, Copy, Differentiable)]
struct Body {
    x: f64,
    v: [f64; 2],
}

#[differentiable]
fn bodies(a: &mut Vec<Body>, b: &mut Vec<[f64; 2]>, x: f64) -> f64 {
    let mut s = 0.0;
    while let Some(p) = a.pop() {
        s += p.x * p.v[0];
        b.push([p.v[1] * s, x]);
    }
    a.push(Body { x, v: [s, 1.0] });
    let q = b.remove(0);
    b.insert(1, [q[1], q[0] * x]);
    b.truncate(3);
    s + b[1][1]
}

/// The same of a local.
#[differentiable]
fn pairs(x: f64) -> f64 {
    let mut b = Vec::new();
    b.push([x, 2.0]);
    b.push([x, x]);
    let q = b.remove(0);
    b.insert(1, [q[1], q[0] * x]);
    let r = b.pop().unwrap();
    b.truncate(1);
    r[1] * b[0][1]
}

#[test]
fn plain_data() {
    let both = vec![Body { x: 0.3, v: [1.0, 0.2] }, Body { x: 0.5, v: [0.4, 0.9] }];
    let b = vec![[0.1, 0.2], [0.3, 0.4]];
    check_rule(bodies::rule, [(both, b.clone(), 0.7), (vec![], b, 0.7)]);
    check_rule(pairs::rule, [(0.7,)]);
}

#[differentiable]
trait Sink {
    fn put(&mut self, x: f64);
    fn sum(&self) -> f64;
    fn both(&mut self, x: f64) {
        self.put(x);
        self.put(x * x);
    }
}

#[derive(Clone, Differentiable)]
struct Sines {
    v: Vec<f64>,
}

#[differentiable]
impl Sink for Sines {
    fn put(&mut self, x: f64) {
        self.v.push(x.sin());
    }
    fn sum(&self) -> f64 {
        self.v.iter().sum()
    }
}

#[differentiable]
fn feed<S: Sink>(sink: &mut S, x: f64) {
    sink.both(x);
    sink.put(x);
}

#[differentiable]
fn fed(x: f64) -> f64 {
    let mut sink = Sines { v: vec![x] };
    feed(&mut sink, x);
    sink.put(x);
    sink.sum() * sink.v[1]
}

#[test]
fn traits() {
    check_rule(fed::rule, [(0.6,), (1.1,)]);
}

/// A tree, in the order in which it is walked.
#[differentiable]
fn visit(v: &mut Vec<f64>, x: &[f64], i: usize) {
    if i < x.len() {
        v.push(x[i]);
        visit(v, x, 2 * i + 1);
        v.push(x[i] * x[i]);
        visit(v, x, 2 * i + 2);
        if v.len() > 6 {
            v.pop();
        }
    }
}

#[differentiable]
fn visited(x: &[f64]) -> f64 {
    let mut v = vec![];
    visit(&mut v, x, 0);
    let mut total = 0.0;
    for (i, a) in v.iter().enumerate() {
        total += a * (i + 1) as f64;
    }
    total
}

#[test]
fn recursive() {
    check_rule(visited::rule, [(vec![0.3, 0.5, 1.0, 2.0],), (vec![0.1],)]);
}

/// What leaves early.
#[differentiable]
fn collect(v: &mut Vec<f64>, x: &[f64], limit: f64) -> Option<f64> {
    let mut s = 0.0;
    for a in x {
        if *a < 0.0 {
            return None;
        }
        if s > limit {
            break;
        }
        let y = a.sqrt() * a;
        s += y;
        if v.len() < 3 {
            v.push(y);
        } else {
            v[0] += y;
        }
    }
    while v.len() > 2 {
        v.pop();
    }
    let last = v.last()?;
    Some(s * last)
}

#[test]
fn exits() {
    let long = vec![0.5, 0.7, 1.1, 0.3];
    let inputs = [
        (vec![], long, 10.0),
        (vec![1.0, 2.0, 3.0], vec![0.5, 0.7], 0.1),
        (vec![1.0], vec![0.5, -0.7], 10.0),
    ];
    check_rule(collect::rule, inputs);
}

#[differentiable]
impl Inner {
    fn step(&mut self, k: f64) {
        self.k -= k * self.k * self.k;
        self.log.push(self.k);
    }

    fn advance(&mut self, n: usize, k: f64) -> f64 {
        #[pullback(checkpoint = 3)]
        for _ in 0..n {
            self.step(k);
        }
        self.log.iter().sum()
    }
}

#[differentiable]
fn checkpointed(x: f64, n: usize) -> f64 {
    let mut s = Inner { log: vec![], k: x };
    #[pullback(checkpoint = 2)]
    for _ in 0..n {
        s.step(0.3 * x);
    }
    s.log.iter().map(|a| a * a).sum()
}

#[test]
fn checkpoints() {
    check_rule(Inner::advance_rule, [(Inner { log: vec![], k: 1.0 }, 7, 0.2)]);
    check_rule(checkpointed::rule, [(0.6, 5)]);
}

/// Owners that have come by value, that go to the caller, that change places.
#[differentiable]
fn by_value(mut v: Vec<f64>, x: f64) -> Vec<f64> {
    add(&mut v, x);
    v.push(x * v[0]);
    v
}

#[differentiable]
fn swapped(x: f64, n: usize) -> f64 {
    let mut a = vec![x];
    let mut b = vec![2.0 * x];
    for i in 0..n {
        add(&mut a, x * b[0] * (i + 1) as f64);
        std::mem::swap(&mut a, &mut b);
    }
    a.iter().sum::<f64>() * b.len() as f64 * b[b.len() - 1]
}

/// A window over the latest elements, which is returned.
#[differentiable]
fn window(v: &mut Vec<f64>, x: f64) -> f64 {
    if v.len() == 3 {
        v.remove(0);
    }
    v.push(x);
    v.iter().sum::<f64>() / v.len() as f64
}

#[differentiable]
fn smooth(x: &[f64]) -> Vec<f64> {
    let mut latest = Vec::with_capacity(3);
    let mut s = 0.0;
    for a in x {
        let mean = window(&mut latest, *a);
        s += mean * mean;
    }
    latest[0] *= s;
    latest
}

#[test]
fn owners() {
    check_rule(by_value::rule, [(vec![0.4], 0.7)]);
    check_rule(swapped::rule, [(0.3, 5), (0.7, 2)]);
    check_rule(smooth::rule, [(vec![0.7, 0.2, 0.4, 0.9, 1.3],), (vec![0.7, 0.2],)]);
}

/// Functions of which nothing is known here.
#[differentiable]
fn apply(f: impl Fn(&mut Vec<f64>, f64), x: f64) -> f64 {
    let mut v = vec![x];
    v.push(x);
    f(&mut v, x);
    v.push(3.0 * x);
    f(&mut v, 2.0 * x);
    f(&mut v, x);
    v.push(x);
    v.iter().map(|a| a * a).sum()
}

#[differentiable]
fn replace_last(v: &mut Vec<f64>, x: f64) {
    v.pop();
    v.pop();
    v.push(x * x);
}

#[differentiable]
fn applied(x: f64) -> f64 {
    let k = 0.5 * x;
    apply(add, x)
        + apply(replace_last, x)
        + apply(
            |w, a| {
                replace_last(w, a * k);
                w[0] *= 2.0;
            },
            x,
        )
}

#[differentiable]
fn each(x: &[f64], mut f: impl FnMut(f64)) {
    for a in x {
        f(*a);
    }
}

#[differentiable]
fn captured(x: &[f64], v: &mut Vec<f64>) -> f64 {
    let mut w = vec![];
    each(x, |a| w.push(a * a));
    each(x, |a| add(&mut w, a));
    let mut record = |a: f64| v.push(a * w[0]);
    record(2.0);
    record(w[1]);
    v.iter().sum::<f64>() * w.iter().map(|a| a * a).sum::<f64>()
}

#[test]
fn functions() {
    check_rule(applied::rule, [(0.7,)]);
    check_rule(captured::rule, [(vec![0.7, 0.3], vec![]), (vec![0.7, 0.3], vec![0.2])]);
}

#[differentiable(dual)]
fn cubes(v: &mut Vec<f64>, y: f64) -> f64 {
    v.push(y * y);
    let a = v.remove(0);
    v.pop();
    v.push(a * y);
    v.push(y);
    v.iter().map(|a| a * a * a).sum()
}

/// What the entry points of a user's give: the gradient is that with respect to what there is before the call.
#[test]
fn entry_points() {
    let mut v = vec![0.5, 0.2, 0.4];
    let mut g = cubes::gradient();
    let (value, d) = g.value_and_gradient(&mut v, 2.0);
    assert_eq!(value, 0.2_f64.powi(3) + 0.4_f64.powi(3) + 1.0 + 8.0);
    let expected = [3.0 * 2.0, 3.0 * 0.2 * 0.2, 3.0 * 0.4 * 0.4];
    assert_eq!(d.v.len(), 3);
    for (d, expected) in d.v.iter().zip(expected) {
        assert!((d - expected).abs() < 1e-14);
    }
    assert_eq!(v, [0.5, 0.2, 0.4]);

    let mut pullback = squares::pullback();
    let ((), d) = pullback.value_and_pullback(&[1.0, 2.0], &mut v, &[10.0, 100.0][..]);
    assert_eq!((d.x[..].to_vec(), d.out.to_vec()), (vec![20.0, 400.0], vec![0.0; 3]));

    let mut jacobian = cubes::jacobian();
    let (_, rows) = jacobian.value_and_jacobian(&mut v, 2.0);
    assert_eq!(rows.shape(), [5, 4]);
    assert_eq!(rows.row(1).to_vec(), [0.0, 1.0, 0.0, 0.0]);
    assert_eq!(rows.row(3).to_vec(), [2.0, 0.0, 0.0, 0.5]);
    check_pushforward(cubes::rule, [(vec![0.5, 0.2, 0.4], 0.7)]);
    check_second_order(cubes::rule, [(vec![0.5, 0.2, 0.4], 0.7), (vec![0.3], 0.2)]);
}

/// What reads lengths and elements between changes of the length.
#[differentiable]
fn doubled(v: &mut Vec<f64>, x: f64) -> f64 {
    for i in 0..v.len() {
        let y = v[i] * x;
        v.push(y * 2.0);
    }
    let k = v.len() as f64;
    v.push(x);
    let n = v.len();
    v.extend_from_slice(&[1.0, 2.0]);
    v[n] = k * x;
    let mut s = k * x * v[n - 1] * n as f64;
    let mut i = 0;
    while i < v.len() {
        s += v[i] * (v.len() - i) as f64;
        if v.len() < 9 {
            v.push(s * 0.1);
        }
        i += 2;
    }
    for w in v.windows(2) {
        s += w[0] * w[1];
    }
    v.truncate(n);
    for c in v.chunks(2) {
        s += c[0] * c.len() as f64;
    }
    for (i, a) in v.iter().enumerate() {
        s += a * i as f64;
    }
    let m = v.iter().cloned().fold(f64::MIN, f64::max);
    v.push(m);
    let half = v.len() / 2;
    let (a, b) = v.split_at(half);
    s += a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    v.clear();
    s / k
}

#[derive(Clone, Differentiable)]
struct Run {
    log: Vec<f64>,
    v: Vec<f64>,
    t: f64,
}
#[differentiable]
impl Run {
    fn record(&mut self, x: f64) {
        self.log.push(x * self.t);
        self.t += 0.1;
    }
    fn reset(&mut self, x: f64) {
        self.log.clear();
        self.log.resize(2, x);
    }
    fn run(&mut self, x: f64) -> f64 {
        let n = self.log.len();
        self.record(x);
        let mut y = self.log[n] * (n + 1) as f64;
        for i in 0..self.log.len() {
            let a = self.log[i] * y;
            self.record(a);
            y += 0.01 * a;
        }
        for i in 0..self.v.len() {
            self.v[i] *= self.log[i];
        }
        let norm: f64 = self.log.iter().map(|a| a * a).sum();
        self.v.iter_mut().for_each(|a| *a *= norm);
        self.reset(y);
        self.log[0] *= self.v[0];
        y += self.log.iter().sum::<f64>() * self.t;
        for a in self.v.iter() {
            y += a;
        }
        y
    }
}

#[differentiable]
fn sorted_out(v: &mut Vec<f64>, w: &mut Vec<f64>, x: &[f64]) -> f64 {
    let start = v.len();
    for a in x {
        if *a > 0.5 {
            v.push(a * a);
        } else {
            w.push(a.sin());
            continue;
        }
        if v.len() > 4 {
            break;
        }
    }
    let tail = &v[start..];
    let mut s: f64 = tail.iter().sum();
    w.extend(v.iter().map(|a| a * 2.0));
    w.extend_from_slice(v);
    if let Some(last) = w.last() {
        s *= last;
    }
    if let Some(first) = w.first_mut() {
        *first *= s;
    }
    v.swap(0, 1);
    s += w[0] * v[1];
    std::mem::swap(&mut v[0], &mut w[1]);
    w.pop();
    let k = w.len();
    w.insert(k / 2, s);
    for (a, b) in v.iter_mut().zip(w.iter()) {
        *a += b;
    }
    s * v[0] + w[k / 2]
}

#[differentiable]
fn newton(trace: &mut Vec<f64>, a: f64) -> f64 {
    let mut x = a;
    loop {
        let next = 0.5 * (x + a / x);
        trace.push(next);
        if trace.len() >= 2 && (trace[trace.len() - 1] - trace[trace.len() - 2]).abs() < 1e-3 {
            return next;
        }
        if trace.len() > 20 {
            break;
        }
        x = next;
    }
    x
}
#[differentiable]
fn two(a: f64) -> f64 {
    let mut t = Vec::new();
    let x = newton(&mut t, a);
    let n = t.len();
    let y = newton(&mut t, x);
    t[n] * y + t.len() as f64 * x
}

#[test]
fn read_in_between() {
    check_rule(doubled::rule, [(vec![1.0, 2.0], 1.5), (vec![0.4, 3.0, 0.7], 0.3)]);
    let three = Run { log: vec![0.3, 0.4, 0.5], v: vec![1.0, 2.0], t: 0.5 };
    let none = Run { log: vec![], v: vec![1.0], t: 0.5 };
    check_rule(Run::run_rule, [(three, 0.7), (none, 0.7)]);
    let many = (vec![0.3, 0.4], vec![1.0], vec![0.7, 0.2, 0.9, 1.1, 0.6]);
    check_rule(sorted_out::rule, [many, (vec![0.3, 0.4], vec![1.0, 0.9, 0.8], vec![0.2])]);
    check_rule(newton::rule, [(vec![], 2.0), (vec![1.0, 4.0], 3.0)]);
    check_rule(two::rule, [(2.0,)]);
}

/// Several calls of methods that write, of the `impl` itself, in one expression.
#[derive(Clone, Differentiable)]
struct Machine {
    items: Vec<f64>,
    k: f64,
}

#[differentiable]
impl Machine {
    fn pop(&mut self) -> f64 {
        self.k *= 1.1;
        let top = self.items.pop().unwrap();
        top * self.k
    }

    fn total(&mut self, x: f64) -> f64 {
        let (a, b) = (self.pop(), self.pop());
        self.items.push(a);
        a - b * self.k + self.pop() * x * self.pop().sin()
    }

    fn compared(&mut self, x: f64) -> f64 {
        if self.pop() > 1.0 {
            return self.pop() / self.pop();
        }
        let y = self.k * self.pop() + self.k;
        self.items.push(self.k * y);
        -self.pop() * x
    }
}

#[test]
fn methods_within_expressions() {
    let machine = |last| Machine { items: vec![1.0, 2.0, 0.7, 0.4, last], k: 0.9 };
    check_rule(Machine::total_rule, [(machine(0.2), 0.7)]);
    check_rule(Machine::compared_rule, [(machine(0.2), 0.7), (machine(3.2), 0.7)]);
}
