//! What carries no gradient: parameters marked so, integers, and code that touches nothing else.

use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

#[differentiable]
fn marked(
    #[constant] a: f64,
    #[constant] x: &[f64],
    w: &[f64],
    #[constant] b: [f64; 2],
    #[constant] k: &f64,
) -> f64 {
    let mut total = a * b[1];
    for i in 0..x.len() {
        total += (x[i] * a).sin() * w[i] * *k + b[0] * w[0];
    }
    total
}

#[differentiable]
fn permuted(x: &[f64], y: &mut [f64]) -> f64 {
    let order = vec![2_usize, 0, 1];
    let table = [1.5, 0.5, 2.5];
    for i in 0..3 {
        y[order[i]] = x[i] * table[order[i]] * y[i];
    }
    y[order[0]] * y[order[1]] + x[order[2]]
}

fn next(state: &mut u64) -> f64 {
    *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*state >> 40) as f64 / (1_u64 << 24) as f64
}

#[derive(Clone)]
struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        next(&mut self.0)
    }
}

#[differentiable]
fn random_by_function(x: &[f64], n: usize) -> f64 {
    let mut seed = 7;
    let mut total = 0.0;
    for i in 0..n {
        let u = next(&mut seed);
        let v = next(&mut seed) * x[i % x.len()];
        total = total * u + v * x[0];
    }
    total * (seed % 5) as f64
}

#[differentiable]
fn random_by_method(x: &[f64], n: usize) -> f64 {
    let mut rng = Random(3);
    let mut total = 0.0;
    for i in 0..n {
        let u = rng.uniform();
        let mut v = u * x[i % x.len()];
        v *= v * rng.uniform();
        total = total * u + v * x[0];
    }
    total
}

macro_rules! tick {
    ($counter:ident) => {{
        $counter += 1;
        $counter as f64
    }};
}

#[differentiable]
fn counted_by_macro(x: &[f64], n: usize) -> f64 {
    let mut counter = 0;
    let mut s = 1.0;
    for i in 0..n {
        let k = tick!(counter);
        s = s * x[i % x.len()] + k * s;
        tick!(counter);
        s *= counter as f64 * 0.1;
    }
    s
}

/// A constant array that constant code changes.
fn advance(h: &mut [f64; 2]) {
    *h = [h[1] + 1.0, h[0] * 0.5];
}

#[differentiable]
fn constant_array_changed_by_a_function(x: f64, n: usize) -> f64 {
    let mut h = [1.0, 2.0];
    let mut s = x;
    for _ in 0..n {
        advance(&mut h);
        s = s * h[0] * x + h[1];
        advance(&mut h);
        s *= h[1] * x;
    }
    s
}

#[differentiable]
fn constant_array(x: f64, n: usize) -> f64 {
    let mut weights = [0.0; 3];
    let mut fibonacci = [1.0, 1.0];
    for i in 0..3 {
        weights[i] = 1.0 / (i + 1) as f64;
    }
    let mut s = x;
    for i in 0..n {
        s = s * weights[i % 3] + x * fibonacci[1];
        let next = fibonacci[0] + fibonacci[1];
        fibonacci[0] = fibonacci[1];
        fibonacci[1] = next;
        weights[i % 3] *= 0.5;
        s *= s * fibonacci[0];
    }
    s
}

#[differentiable]
fn constant_statements(x: &[f64], n: usize) -> f64 {
    let mut log: Vec<usize> = Vec::with_capacity(4);
    let mut names = 0;
    for i in 0..n {
        log.push(i * 2);
        if log.len() > 2 {
            log.clear();
        }
        match i {
            0 => names += 2,
            _ => names += 1,
        }
    }
    let mut label = 0;
    loop {
        label += names;
        if label > 10 || names == 0 {
            break;
        }
    }
    let last = log.last().copied().unwrap_or(0);
    let sum: usize = log.iter().sum();
    let squares: Vec<f64> = (0..x.len()).map(|i| (i * i) as f64).collect();
    let mut total = 0.0;
    for i in 0..x.len() {
        total += x[i] * x[i] * squares[i] * label as f64;
    }
    total * last as f64 + x[0] * sum as f64
}

#[differentiable]
fn watched(x: &[f64], y: f64) -> f64 {
    assert!(!x.is_empty(), "no data for {y}");
    debug_assert!(y.is_finite());
    let s = x[0] * y;
    assert_eq!(x.len() % 2, 0, "an odd number: {}", x.len());
    if s.is_nan() {
        println!("{s} {:?}", x);
    }
    debug_assert_ne!(s, 1e300);
    s * s
}

#[differentiable]
fn integers(x: &[f64], n: usize, shift: i32, flag: bool) -> f64 {
    let m = n * 2 + 1;
    let k = (m / 3) % x.len();
    let offset = (shift.abs() as usize).min(x.len() - 1);
    let bits = (n << 2) ^ 5 & 7;
    let sign = if flag && !(n > 3) { -1.0 } else { 1.0 };
    let from_float = (x[0].abs() * 10.0) as usize % x.len();
    let wide = n as u64 as f32 as f64;
    let negative = -shift as f64;
    x[k] * x[offset] * sign * bits as f64 + x[from_float] * wide * negative
}

/// How many numbers are positive: carries no gradient.
fn count(x: &[f64], threshold: f64) -> usize {
    x.iter().filter(|x| **x > threshold).count()
}
non_differentiable!(fn count(x: &[f64], threshold: f64) -> usize);

#[differentiable]
fn counting(x: &[f64], y: f64) -> f64 {
    let n = count(x, y);
    let mut total = y;
    for i in 0..n {
        total += x[i] * y;
    }
    total * n as f64 + count(x, 0.0) as f64 * y
}

#[differentiable]
fn held_constant(x: f64, y: f64) -> f64 {
    let scale = constant(x * y);
    x * scale + constant(y) * y
}

fn constant<T>(x: T) -> T {
    x
}

#[differentiable]
fn activity_ends(x: f64, y: f64) -> f64 {
    let mut a = x;
    a *= y;
    let b = a * 2.0;
    a = 1.0;
    a += 2.0;
    a * b
}

#[test]
fn parameters() {
    check_rule(
        marked::rule,
        [(0.5, vec![0.3, 0.4], vec![0.7, 0.8], [1.0, 2.0], 0.6), (0.5, vec![], vec![0.7], [1.0, 2.0], 0.6)],
    );
}

#[test]
fn data_and_state() {
    check_rule(
        permuted::rule,
        [(vec![0.5, 0.2, 0.3], vec![1.0, 0.4, 0.3]), (vec![0.4, 0.2, 0.1, 1.0], vec![0.3, 0.2, 0.9])],
    );
    check_rule(random_by_function::rule, [(vec![0.5, 0.2, 0.3], 4), (vec![0.4], 0), (vec![0.9], 1)]);
    check_rule(random_by_method::rule, [(vec![0.5, 0.2, 0.3], 4), (vec![0.4], 0), (vec![0.9], 1)]);
    check_rule(counted_by_macro::rule, [(vec![0.5, 0.2, 0.3], 4), (vec![0.4], 0), (vec![0.9], 1)]);
    check_rule(constant_array_changed_by_a_function::rule, [(0.5, 4), (0.7, 0), (0.3, 1)]);
    check_rule(constant_array::rule, [(0.5, 4), (0.7, 0), (0.3, 1)]);
}

#[test]
fn statements() {
    check_rule(constant_statements::rule, [(vec![0.5, 0.2, 0.3], 4), (vec![0.4], 0), (vec![0.9], 2)]);
    CheckRule::new(watched::rule)
        .inputs([(vec![0.5, 0.2], 0.7), (vec![0.4, 0.2, 0.1, 1.0], 0.2)])
        .panicking((vec![], 0.5))
        .panicking((vec![1.0], 0.5))
        .run();
}

#[test]
fn numbers() {
    check_rule(
        integers::rule,
        [(vec![0.52, 0.2, 0.3], 4, -2, true), (vec![0.4], 0, 1, true), (vec![0.94, 0.5], 2, 0, false)],
    );
    check_rule(counting::rule, [(vec![0.5, -0.2, 0.3], 0.25), (vec![], 0.4), (vec![0.9], 2.0)]);
    check_rule(activity_ends::rule, [(0.5, 0.4), (1.5, -2.0)]);
}

/// Items without gradient, whatever they are; and constants whose types are told beside them.
#[differentiable]
fn of_words(x: &[f64], #[constant] words: &[&str], #[constant] text: &str) -> f64 {
    let n: usize = text.trim().parse().unwrap();
    let mut total = x[0].powi(n as i32);
    for (i, word) in words.iter().enumerate() {
        total += x[i % x.len()].powi(word.len() as i32);
        if word.starts_with('a') {
            total *= x[0];
        }
    }
    total
}

#[differentiable]
fn of_collected(
    x: f64,
    #[constant] text: &str,
    #[constant] weights: &std::collections::BTreeMap<usize, f64>,
) -> f64 {
    let mut total = 0.0;
    let words: Vec<&str> = text.split_whitespace().collect();
    for word in &words {
        total += x.powi(word.len() as i32);
    }
    let entries: Vec<(usize, f64)> = weights.iter().map(|(k, v)| (*k, *v)).collect();
    for &(k, w) in &entries {
        total += w * x.powi(k as i32);
    }
    total
}

#[test]
fn items() {
    check_rule(
        of_words::rule,
        [
            (vec![0.3, 0.4], vec!["abc", "de", "a"], "3".to_string()),
            (vec![0.7, 0.4, 0.6], vec![], " 2 ".to_string()),
        ],
    );
    let weights = std::collections::BTreeMap::from([(1, 5.0), (3, 0.5)]);
    let mut g = of_collected::gradient();
    let (value, d) = g.value_and_gradient(2.0, "ab c", &weights);
    assert_eq!((value, d.x), (4.0 + 2.0 + 10.0 + 4.0, 4.0 + 1.0 + 5.0 + 6.0));
    assert_eq!(g.value_and_gradient(2.0, "", &weights).1.x, 11.0);
}

/// What is held constant has no finite differences to compare with.
#[test]
fn by_request() {
    let mut gradient = held_constant::gradient();
    let (_, d) = gradient.value_and_gradient(3.0, 2.0);
    assert_eq!((d.x, d.y), (6.0, 2.0));
}

struct Game {
    players: [usize; 2],
    score: f64,
}

enum Event {
    Played(Game),
    Left { player: usize },
}

/// Patterns on references bind references.
#[differentiable]
fn ratings(start: &[f64], k: f64, #[constant] games: &[Game], #[constant] events: &[Event]) -> f64 {
    let mut r = start.to_vec();
    for Game { players: [one, other], score } in games {
        let expected = 1.0 / (1.0 + (r[*other] - r[*one]).exp());
        r[*one] += k * (score - expected);
    }
    for event in events.iter() {
        match event {
            Event::Played(Game { players, score }) => r[players[0]] *= k * score,
            Event::Left { player } => r[*player] -= k * r[*player],
        }
    }
    r.iter().map(|r| r * r).sum()
}

fn played(n: usize) -> Vec<Game> {
    (0..n).map(|i| Game { players: [i, i + 1], score: 0.5 * i as f64 }).collect()
}

/// What is made for a call is there for its pullback.
#[differentiable]
fn of_a_season(start: &[f64], k: f64) -> f64 {
    let event = Event::Played(Game { players: [1, 0], score: 0.4 });
    ratings(start, k, &played(start.len() - 1), &[event, Event::Left { player: 0 }])
}

#[test]
fn of_users_types() {
    check_rule(of_a_season::rule, [(vec![0.5, 0.2, 0.9], 0.3), (vec![0.1, 0.7], 0.5)]);
}

const FACTORS: &[f64] = &[0.3, 0.4];
static SHIFTS: &[f64; 3] = &[0.3, 0.4, 0.6];

trait Quadrature {
    const NODES: &'static [f64];
    const WEIGHTS: &'static [f64];
    const ENDS: [f64; 2];
    const PAIRS: &'static [(f64, f64)];
}

struct Gauss;

impl Quadrature for Gauss {
    const NODES: &'static [f64] = &[-0.6, 0.6];
    const WEIGHTS: &'static [f64] = &[1.0, 0.8];
    const ENDS: [f64; 2] = [1.0, 0.5];
    const PAIRS: &'static [(f64, f64)] = &[(0.3, 0.4), (0.5, 0.6), (0.2, 0.1)];
}

/// Whether these are references only the type tells.
#[differentiable]
fn items_of_constants<Q: Quadrature>(k: f64, x: &[f64]) -> f64 {
    let mut total = Q::NODES.iter().zip(Q::WEIGHTS).map(|(&x, &w)| w * k * x * k).sum::<f64>();
    total += Q::NODES.iter().zip(Q::ENDS).map(|(x, w)| w * k * x * k).sum::<f64>();
    for &w in Q::WEIGHTS {
        total += w * k.sin() * k;
    }
    for w in Q::ENDS {
        total += w.sin() * k * total;
    }
    for &(a, b) in Q::PAIRS {
        total += a * k * b * total;
    }
    for (x, &w) in x.iter().zip(FACTORS) {
        total += w * x;
    }
    for w in SHIFTS {
        total += w * k.powf(*w);
    }
    total
}

#[test]
fn constants_of_types() {
    check_rule(items_of_constants::<Gauss>::rule, [(0.4, vec![0.3]), (0.5, vec![0.2, 0.4, 0.9])]);
}

/// Constants that are changed between two loops, where nothing undoes that: the numbers are copied.
#[differentiable]
fn changed_in_between(n: usize, x: &[f64]) -> f64 {
    let mut s = 0.0_f64;
    let mut w: Vec<f64> = vec![0.5; n];
    w.push(2.0);
    for (&v, x) in w.iter().zip(x) {
        s += v * x * x * s.exp();
    }
    w[0] = 3.0;
    for (v, x) in w.iter().copied().zip(x) {
        s += v * x * x * s.exp();
    }
    for v in &w {
        s += v * s.sin();
    }
    s
}

#[test]
fn changed_constants() {
    check_rule(changed_in_between::rule, [(3, vec![0.5]), (2, vec![0.3, 0.2])]);
}

const EFFICIENCY: [[f64; 3]; 2] = [[0.52, 0.63, 0.58], [0.60, 0.74, 0.70]];

/// The cell of a table, and where in it.
#[differentiable]
fn located(x: f64) -> Option<(usize, f64)> {
    if x < 0.0 {
        return None;
    }
    Some((usize::from(x > 1.0), x * x))
}

/// Nothing but the table tells that parts of what a call returns are its indices.
#[differentiable]
fn interpolated(x: f64, y: f64) -> Option<f64> {
    let (i, u) = located(x)?;
    let (j, v) = located(y)?;
    Some(EFFICIENCY[i][j] * u * (1.0 - v) + EFFICIENCY[i][j + 1] * v)
}

#[test]
fn tables_tell_what_their_indices_are() {
    check_rule(interpolated::rule, [(0.3, 1.2), (2.0, 0.4), (-1.0, 0.3)]);
}

#[derive(Clone, Debug, PartialEq)]
enum OutOfRange {
    Axis { name: &'static str },
}

/// What lasts for ever gets into an error.
#[differentiable]
fn within(x: f64, name: &'static str) -> Result<f64, OutOfRange> {
    if x > 1.0 {
        return Err(OutOfRange::Axis { name });
    }
    Ok(x * x)
}

/// The field has the name of a parameter.
#[differentiable]
fn cell(name: &[f64], x: f64, axis: &'static str) -> Result<(usize, f64), OutOfRange> {
    match name.windows(2).position(|w| w[0] <= x && x <= w[1]) {
        Some(i) => Ok((i, (x - name[i]) / (name[i + 1] - name[i]))),
        None => Err(OutOfRange::Axis { name: axis }),
    }
}

#[differentiable]
fn both_within(x: f64, y: f64) -> Result<f64, OutOfRange> {
    Ok(within(x, "speed")? * within(x * y, "torque")?)
}

#[test]
fn names_that_last_for_ever_are_taken() {
    check_rule(within::rule, [(0.3, "speed"), (2.0, "torque")]);
    check_rule(cell::rule, [(vec![0.0, 0.3, 0.7], 0.4, "speed"), (vec![0.0, 0.3, 0.7], 0.9, "torque")]);
    check_rule(both_within::rule, [(0.3, 0.7), (2.0, 0.4), (0.9, 4.0)]);
}

/// Pairs of indices carry no gradient, whatever they are made of.
#[derive(Clone, Debug, Differentiable)]
struct Edge {
    from: usize,
    to: usize,
    weight: f64,
}

fn sources(n: usize, pairs: &[(usize, usize)]) -> Vec<usize> {
    pairs.iter().map(|pair| pair.0.min(n - 1)).collect()
}

#[differentiable]
fn along(x: &[f64], edges: &[Edge]) -> f64 {
    let pairs: Vec<(usize, usize)> = edges.iter().map(|e| (e.from, e.to)).collect();
    let order = sources(x.len(), &pairs);
    let mut y = x.to_vec();
    for v in order {
        y[v] = y[v] * y[0] * edges[0].weight + 1.0;
    }
    y[0] * y[1]
}

#[differentiable]
fn paired(x: &[f64], pairs: &[(usize, usize)], k: f64) -> f64 {
    let mut work = pairs.to_vec();
    work.sort_by_key(|pair| pair.1);
    let mut last: (usize, usize) = (0, 0);
    let mut s = 0.0;
    for &(a, b) in &work {
        s += x[a] * x[b] * k * x[last.0];
        last = (b, a);
    }
    while let Some((a, b)) = work.pop() {
        s += s * x[a] + x[b];
    }
    s * x[last.1]
}

#[test]
fn pairs_of_indices_are_constants() {
    let edge = |from, to, weight| Edge { from, to, weight };
    check_rule(
        along::rule,
        [
            (vec![0.2, 0.3, 0.7], vec![edge(0, 1, 0.3), edge(1, 2, 0.3)]),
            (vec![0.2, 0.3], vec![edge(1, 0, 0.6)]),
        ],
    );
    check_rule(
        paired::rule,
        [(vec![0.2, 0.3, 0.7], vec![(0, 1), (2, 1)], 0.4), (vec![0.2, 0.3], vec![(1, 0)], 0.7)],
    );
}

/// Held constant by those that have it in a field, though its methods are differentiable.
#[derive(Clone, Copy, Debug, Differentiable)]
struct Spring {
    stiffness: f64,
    rest: f64,
}

#[differentiable]
impl Spring {
    fn force(&self, x: f64) -> f64 {
        -self.stiffness * (x - self.rest)
    }
    fn period(&self) -> f64 {
        6.0 / self.stiffness.sqrt()
    }
}

#[derive(Clone, Debug, Differentiable)]
enum Curve {
    Flat(f64),
    Table(Vec<f64>),
}

#[differentiable]
impl Curve {
    fn at(&self, x: f64) -> f64 {
        match self {
            Curve::Flat(v) => *v * x,
            Curve::Table(table) => table[0] * x * x + table[1],
        }
    }
}

#[derive(Clone, Copy, Debug, Differentiable)]
struct Bob {
    x: f64,
    #[constant]
    spring: Spring,
}

#[derive(Clone, Debug, Differentiable)]
struct Track {
    heights: Vec<f64>,
    #[constant]
    curve: Curve,
    #[constant]
    last: Bob,
}

#[differentiable]
fn pull(bobs: &[Bob], h: f64) -> f64 {
    let total: f64 = bobs.iter().map(|bob| bob.spring.force(bob.x) * h).sum();
    total * bobs[0].spring.period()
}

#[differentiable]
impl Track {
    fn follow(&self, h: f64) -> f64 {
        let mut x = h;
        for y in &self.heights {
            x += h * self.curve.at(x + y) + y * self.last.pulled(x);
        }
        x
    }
}

#[differentiable]
impl Bob {
    fn pulled(&self, h: f64) -> f64 {
        self.x + h * self.spring.force(self.x) * self.spring.period()
    }
}

#[test]
fn constant_fields_have_differentiable_methods() {
    let bob = Bob { x: 0.3, spring: Spring { stiffness: 1.3, rest: 0.4 } };
    check_rule(pull::rule, [(vec![bob], 0.2), (vec![bob, Bob { x: 0.9, ..bob }], 0.7)]);
    check_rule(Bob::pulled_rule, [(bob, 0.2), (Bob { x: -0.4, ..bob }, 0.5)]);
    let track = |heights, curve| Track { heights, curve, last: bob };
    check_rule(
        Track::follow_rule,
        [
            (track(vec![0.3, 0.8], Curve::Flat(0.7)), 0.2),
            (track(vec![0.3, 0.8, 0.1], Curve::Table(vec![0.4, 1.2])), 0.5),
        ],
    );
}

#[differentiable]
fn of_constant_rows(#[constant] pairs: &[[Vec<f64>; 2]], #[constant] data: &[(&[f64], f64)], k: f64) -> f64 {
    let mut sum = 0.0;
    for [a, b] in pairs {
        for (u, v) in a.iter().zip(b) {
            sum += (u * v * k).sin();
        }
    }
    for pair in pairs {
        sum += pair[0][0] * k;
    }
    sum + data.iter().map(|(x, y)| (x.iter().sum::<f64>() * k - y).powi(2)).sum::<f64>()
}

/// Constant elements that hold slices and vectors.
#[test]
fn rows_in_arrays_and_tuples() {
    let pairs = || vec![[vec![0.3, 0.8], vec![0.2, 0.6]], [vec![0.4], vec![0.9]]];
    check_rule(
        of_constant_rows::rule,
        [(pairs(), vec![(&[0.3, 0.5][..], 0.4)], 0.7), (pairs(), vec![], 0.2)],
    );
}

trait Advance {
    fn advance(&mut self) -> usize;
}

impl Advance for usize {
    fn advance(&mut self) -> usize {
        *self += 1;
        *self
    }
}

/// A generator of random numbers.
struct Generator(u64);

impl Generator {
    fn flip(&mut self) -> bool {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0 >> 63 == 1
    }
}

/// Texts that get longer by methods whose names do not tell.
#[differentiable]
fn longer_texts(x: f64, n: usize) -> f64 {
    let mut text = "ab".to_string();
    let mut total = 0.5;
    for _ in 0..n {
        text.insert_str(0, "xy");
        total = total * x * text.len() as f64 + x;
        let tail = text.split_off(3);
        total += x * total * tail.len() as f64;
        text.make_ascii_uppercase();
        let upper = text.starts_with('X');
        total *= if upper { x } else { 2.0 };
    }
    total
}

/// Integers, and elements, that methods of users' traits and types change.
#[differentiable]
fn advanced(x: f64, n: usize) -> f64 {
    let (mut k, mut counts) = (n, [1_usize, 4]);
    let mut generators = vec![Generator(3), Generator(5)];
    let mut total = x;
    for i in 0..n {
        k.advance();
        counts[i % 2].advance();
        total = total * x * counts[0] as f64 + x * counts[1] as f64;
        match counts[1].advance() % 2 {
            0 => total += x,
            _ => total *= x,
        }
        if generators[i % 2].flip() {
            total = total * x + k as f64;
        }
    }
    total * x.powi(k as i32)
}

#[test]
fn changed_by_methods() {
    check_rule(longer_texts::rule, [(1.25, 1), (0.5, 3)]);
    check_rule(advanced::rule, [(1.25, 1), (0.5, 4)]);
}
