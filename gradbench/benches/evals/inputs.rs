//! Inputs of the official shapes and sizes, from a generator of our own.

use serde_json::{Value, json};

/// One input of an eval.
pub(crate) struct Case {
    pub(crate) eval: &'static str,
    /// The function without derivatives; `None` if the eval asks for none.
    pub(crate) primal: Option<&'static str>,
    pub(crate) derivative: &'static str,
    pub(crate) size: String,
    pub(crate) input: Value,
}

/// A linear congruential generator (Knuth's constants).
struct Random(u64);

impl Random {
    /// Between 0 and 1.
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 * 2f64.powi(-53)
    }

    /// About normal: the sum of twelve uniform numbers.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }

    fn vector(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.uniform()).collect()
    }

    fn rows(&mut self, rows: usize, columns: usize) -> Vec<Vec<f64>> {
        (0..rows).map(|_| self.vector(columns)).collect()
    }

    fn normal_rows(&mut self, rows: usize, columns: usize) -> Vec<Vec<f64>> {
        (0..rows).map(|_| (0..columns).map(|_| self.normal()).collect()).collect()
    }
}

/// All cases; `large` adds those that take longer.
pub(crate) fn cases(large: bool) -> Vec<Case> {
    let mut random = Random(42);
    let mut cases = Vec::new();
    let mut add = |eval, primal, derivative, size, input| {
        cases.push(Case { eval, primal: Some(primal), derivative, size, input });
    };
    for n in sizes(&[16, 1024, 4096], &[16392], large) {
        let input = json!({ "x": random.vector(128), "n": n });
        add("llsq", "primal", "gradient", format!("n = {n}"), input);
    }
    for n in sizes(&[2500, 40_000], &[1_280_000], large) {
        add("lse", "primal", "gradient", format!("n = {n}"), json!({ "x": random.vector(n) }));
    }
    for (n, s) in sizes(&[(1000, 10), (1000, 100), (10_000, 100)], &[(100_000, 100)], large) {
        let input = json!({ "x": random.vector(n), "s": s });
        add("ode", "primal", "gradient", format!("n = {n}, s = {s}"), input);
    }
    for ell in sizes(&[5, 8, 9], &[10, 11], large) {
        let input = json!({ "A": random.vector(ell * ell), "ell": ell });
        add("det", "primal", "gradient", format!("ℓ = {ell}"), input);
    }
    for (k, n, d) in
        sizes(&[(10, 1000, 8), (100, 10_000, 8), (100, 10_000, 16)], &[(1000, 10_000, 16)], large)
    {
        let points = random.rows(n, d);
        let centroids = points[n - k..].to_vec();
        let input = json!({ "points": points, "centroids": centroids });
        add("kmeans", "cost", "dir", format!("k = {k}, n = {n}, d = {d}"), input);
    }
    for (d, k) in sizes(&[(2, 5), (10, 25), (20, 50), (32, 25), (64, 25)], &[(64, 100)], large) {
        let n = 1000;
        let input = json!({
            "d": d, "k": k, "n": n, "m": 0, "gamma": 1.0,
            "x": random.normal_rows(n, d),
            "alpha": random.normal_rows(1, k)[0],
            "mu": random.rows(k, d),
            "q": random.normal_rows(k, d),
            "l": random.normal_rows(k, d * (d - 1) / 2),
        });
        add("gmm", "objective", "jacobian", format!("d = {d}, k = {k}, n = {n}"), input);
    }
    for (l, c) in sizes(&[(2, 1024), (4, 1024)], &[(6, 8192)], large) {
        let b = 14;
        let sequence: Vec<Vec<f64>> =
            (0..c).map(|_| (0..b).map(|_| random.uniform().round()).collect()).collect();
        let input = json!({
            "main_params": random.rows(2 * l, 4 * b),
            "extra_params": random.rows(3, b),
            "state": random.rows(2 * l, b),
            "sequence": sequence,
        });
        add("lstm", "objective", "jacobian", format!("l = {l}, c = {c}"), input);
    }
    for hands in sizes(&[100, 1600], &[100_000], large) {
        let input = hand(&mut random, hands);
        add("ht", "objective", "jacobian", format!("N = {hands}, triangles"), input);
    }
    for (n, m, p) in sizes(&[(49, 7776, 31_843)], &[(356, 226_730, 1_255_268)], large) {
        let input = json!({
            "n": n, "m": m, "p": p,
            "cam": [-0.76, -1.11, -0.85, 34.6, 39.7, 53.9, 419.2, 5.9, -8.5, 0.088, 0.0027],
            "x": [7.2, 0.0011, 3.0], "w": 0.417, "feat": [271.8, 834.2],
        });
        add("ba", "objective", "jacobian", format!("p = {p}"), input);
    }
    for (eval, input) in [("particle", json!({ "w": 0.0 })), ("saddle", json!({ "start": [1.0, 1.0] }))] {
        for modes in ["rr", "rf", "fr", "ff"] {
            let (size, input) = (modes.to_owned(), input.clone());
            cases.push(Case { eval, primal: None, derivative: modes, size, input });
        }
    }
    cases
}

/// Points of the sample's hand.
fn hand(random: &mut Random, count: usize) -> Value {
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/samples/ht-complicated-jacobian-1.in.json");
    let sample = std::fs::read_to_string(sample).expect("the sample is there");
    let mut input: Value = serde_json::from_str(&sample).expect("samples are JSON");
    let triangles = input["data"]["model"]["triangles"].as_array().map_or(0, Vec::len);
    let some = |random: &mut Random| (random.uniform() * triangles as f64) as usize;
    input["data"]["correspondences"] = (0..count).map(|_| some(random)).collect();
    input["data"]["points"] = json!(random.rows(count, 3));
    input["us"] =
        json!((0..count).map(|_| [0.5 * random.uniform(), 0.5 * random.uniform()]).collect::<Vec<_>>());
    input
}

fn sizes<T: Copy>(some: &[T], more: &[T], large: bool) -> Vec<T> {
    [some, if large { more } else { &[] }].concat()
}
