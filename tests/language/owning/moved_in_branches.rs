//! What calls return, moved in a branch out of the block around it: the better of two, the best so far, those that are kept.

use pullback::prelude::*;
use pullback::testing::check_rule;

#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Fit {
    cost: f64,
    v: Vec<f64>,
}

/// Plain data, which may be used again.
#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
struct Hit {
    t: f64,
    albedo: f64,
}

#[derive(Clone, Debug, PartialEq, Differentiable)]
enum Data {
    Many(Vec<f64>),
    One(f64),
}

#[differentiable]
fn fit(p: &[f64]) -> Fit {
    Fit { cost: p[0] * p[1], v: p.iter().map(|x| x * x).collect() }
}

#[differentiable]
impl Fit {
    fn refined(&self, k: f64) -> Fit {
        Fit { cost: self.cost * k, v: self.v.iter().map(|x| x * k).collect() }
    }
}

#[differentiable]
fn squares(p: &[f64]) -> Vec<f64> {
    p.iter().map(|x| x * x).collect()
}

#[differentiable]
fn with_cost(p: &[f64]) -> (f64, Vec<f64>) {
    (p[0] * p[1], p.iter().map(|x| x.sin()).collect())
}

#[differentiable]
fn hit(p: &[f64]) -> Hit {
    Hit { t: p[0] * p[1], albedo: p[1].sin() }
}

#[differentiable]
fn data(p: &[f64]) -> Data {
    if p[0] > 0.35 { Data::Many(p.to_vec()) } else { Data::One(p[1] * p[1]) }
}

/// Pairs of which one or the other is better, of several lengths.
fn pairs() -> Vec<(Vec<f64>, Vec<f64>)> {
    vec![
        (vec![0.3, 0.2], vec![-0.4, 0.9]),
        (vec![0.8, 0.2], vec![0.4, 0.1, 0.2]),
        (vec![-0.8, 0.9, 0.3], vec![0.5, 0.6]),
    ]
}

/// The same for [`data`], all of one variant.
fn of_one_variant() -> Vec<(Vec<f64>, Vec<f64>)> {
    vec![
        (vec![0.4, 0.2], vec![0.5, 0.9]),
        (vec![0.8, 0.2], vec![0.4, 0.1, 0.2]),
        (vec![0.9, 0.9], vec![0.6, 0.5]),
    ]
}

fn starts() -> Vec<(Vec<Vec<f64>>,)> {
    vec![
        (vec![vec![0.3, 0.9], vec![-0.4, 0.9], vec![0.1, 0.7, 0.4]],),
        (vec![vec![1.3, 0.9, 0.2], vec![0.9, 1.1], vec![0.8, 1.5], vec![0.2, 0.3]],),
    ]
}

mod chosen {
    use super::*;

    #[differentiable]
    fn better(p: &[f64], q: &[f64]) -> Fit {
        let a = fit(p);
        let b = fit(q);
        if a.cost < b.cost { a } else { b }
    }

    #[differentiable]
    fn never_looked_at(p: &[f64], q: &[f64]) -> Fit {
        let a = fit(p);
        let b = fit(q);
        if p[0] < q[0] { a } else { b }
    }

    #[differentiable]
    fn smaller(p: &[f64], q: &[f64]) -> Vec<f64> {
        let a = squares(p);
        let b = squares(q);
        if a[0] < b[0] { a } else { b }
    }

    #[differentiable]
    fn best_of_three(p: &[f64], q: &[f64]) -> Fit {
        let a = fit(p);
        let b = fit(q);
        let c = a.refined(-0.5);
        if a.cost < b.cost && a.cost < c.cost {
            a
        } else if b.cost < c.cost {
            b
        } else {
            c
        }
    }

    #[differentiable]
    fn by_number(p: &[f64], q: &[f64], k: usize) -> Fit {
        let a = fit(p);
        let b = a.refined(2.0);
        let c = fit(q);
        match k {
            0 => a,
            1 => b,
            _ => c,
        }
    }

    #[differentiable]
    fn bound(p: &[f64], q: &[f64]) -> f64 {
        let a = fit(p);
        let b = fit(q);
        let best = if a.cost < b.cost { a } else { b };
        let v = squares(p);
        let longer = if v[0] < 0.3 { v } else { squares(q) };
        best.cost * best.v[0] * longer[1]
    }

    #[differentiable]
    fn near_and_far(p: &[f64], q: &[f64]) -> f64 {
        let a = fit(p);
        let b = fit(q);
        let (near, far) = if a.cost < b.cost { (a, b) } else { (b, a) };
        near.cost * far.v[0] + near.v[1]
    }

    #[differentiable]
    fn short_and_long(p: &[f64], q: &[f64]) -> f64 {
        let a = squares(p);
        let b = squares(q);
        let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
        short.iter().zip(&long).map(|(s, l)| s * l * l).sum::<f64>() + long[0]
    }

    /// What the function itself returns.
    #[differentiable]
    fn of_its_own(p: &[f64], k: f64, depth: usize) -> Vec<f64> {
        if depth == 0 {
            return vec![p[0] * k, p[1].cos()];
        }
        let mut a = of_its_own(p, k * 0.9, depth - 1);
        let b = of_its_own(p, k * k, depth - 1);
        if k < 0.4 {
            a = b;
        }
        a[0] *= k;
        a
    }

    /// What has been chosen is one of those that the next choice is made of.
    #[differentiable]
    fn one_after_the_other(p: &[f64], q: &[f64]) -> f64 {
        let a = fit(p);
        let b = fit(q);
        let mut s = 0.0;
        let c = match a.v.len() {
            2 => {
                s += a.v[0] * b.v[1];
                b
            }
            _ => {
                s -= b.cost;
                a
            }
        };
        let d = fit(&c.v);
        let total = c.cost * s;
        let e = if d.cost > c.cost { d } else { c };
        total + e.v[0].sin()
    }

    #[differentiable]
    fn made_otherwise(p: &[f64], q: &[f64]) -> Fit {
        let a = fit(p);
        if a.cost > 0.1 { fit(q) } else { a }
    }

    #[differentiable]
    fn after_an_exit(p: &[f64], q: &[f64]) -> Vec<f64> {
        let a = squares(p);
        if a[0] > 0.3 {
            return a;
        }
        let b = squares(q);
        if b[0] > 0.2 { b } else { p.to_vec() }
    }

    #[differentiable]
    fn of_variants(p: &[f64], q: &[f64]) -> Data {
        let a = data(p);
        let b = data(q);
        if p[0] < q[0] { a } else { b }
    }

    #[differentiable]
    fn plain(p: &[f64], q: &[f64]) -> f64 {
        let a = hit(p);
        let b = hit(q);
        let nearest = if a.t < b.t { a } else { b };
        nearest.t * nearest.albedo + a.t
    }

    #[test]
    fn owners() {
        check_rule(better::rule, pairs());
        check_rule(never_looked_at::rule, pairs());
        check_rule(smaller::rule, pairs());
        check_rule(best_of_three::rule, pairs());
        check_rule(by_number::rule, pairs().into_iter().enumerate().map(|(k, (p, q))| (p, q, k)));
    }

    #[test]
    fn under_a_name() {
        check_rule(bound::rule, pairs());
        check_rule(
            of_its_own::rule,
            [(vec![0.8, 0.2], 0.3, 1), (vec![0.8, 0.2], 0.77, 2), (vec![0.3, 0.9], 0.5, 0)],
        );
        check_rule(near_and_far::rule, pairs());
        check_rule(short_and_long::rule, pairs());
        check_rule(one_after_the_other::rule, pairs());
        check_rule(made_otherwise::rule, pairs());
        check_rule(after_an_exit::rule, pairs());
        check_rule(of_variants::rule, of_one_variant());
        check_rule(plain::rule, pairs());
    }
}

mod so_far {
    use super::*;

    #[differentiable]
    fn several_starts(starts: &[Vec<f64>]) -> Fit {
        let mut best = fit(&starts[0]);
        for start in &starts[1..] {
            let next = fit(start);
            if next.cost < best.cost {
                best = next;
            }
        }
        best
    }

    #[differentiable]
    fn refinements(p: &[f64], ks: &[f64]) -> f64 {
        let mut state = fit(p);
        let mut refused = 0.0;
        for &k in ks {
            let proposal = state.refined(k);
            if proposal.cost < state.cost {
                state = proposal;
            } else {
                refused += proposal.v[1];
            }
        }
        state.cost + state.v[1] * refused
    }

    /// What is accepted is changed, and what was there before has been used.
    #[differentiable]
    fn accepted_and_changed(p: &[f64], ks: &[f64]) -> f64 {
        let mut best = fit(p);
        let mut total = 0.0;
        for k in ks {
            let next = fit(&best.v);
            total += best.cost * next.v[0] * k;
            if next.cost * k < best.cost {
                total += best.v[1];
                best = next;
                best.cost *= k;
                best.v[0] += total;
            }
            total += best.v[0] * best.cost;
        }
        total + best.cost
    }

    /// Each gets another value in the branch that moves it.
    #[differentiable]
    fn alternating(p: &[f64], q: &[f64], n: usize) -> f64 {
        let mut current = fit(p);
        let mut other = fit(q);
        let mut total = 0.0;
        for i in 0..n {
            let next = fit(&current.v);
            if i % 2 == 0 {
                total += current.cost * other.v[0];
                other = current;
                current = next;
            } else {
                current = other;
                other = next;
            }
            total += other.cost;
        }
        total * current.v[0]
    }

    #[differentiable]
    fn kept_or_not(p: &[f64], ks: &[f64]) -> Fit {
        let mut best = fit(p);
        for k in ks {
            let next = best.refined(*k);
            best = if next.cost < best.cost { next } else { best };
        }
        best
    }

    #[differentiable]
    fn vectors(p: &[f64], ks: &[f64]) -> f64 {
        let mut best = squares(p);
        for k in ks {
            let next: Vec<f64> = best.iter().map(|b| b * k).collect();
            let other = squares(&next);
            best = if other[0] < best[0] {
                other
            } else if next[0] < best[0] {
                next
            } else {
                best
            };
        }
        best[0] * best[1]
    }

    #[differentiable]
    fn with_its_cost(starts: &[Vec<f64>]) -> Vec<f64> {
        let (mut cost, mut best) = with_cost(&starts[0]);
        for start in starts {
            let (c, v) = with_cost(start);
            if c < cost {
                cost = c;
                best = v;
            }
        }
        best[0] *= cost;
        best
    }

    #[differentiable]
    fn line_search(p: &[f64]) -> f64 {
        let mut x = p.to_vec();
        let mut f = x.iter().map(|v| v * v).sum::<f64>();
        let mut step = 1.0;
        for _ in 0..5 {
            let g = squares(&x);
            let trial: Vec<f64> = x.iter().zip(&g).map(|(x, g)| x - step * g).collect();
            let f_trial = trial.iter().map(|v| v * v).sum::<f64>();
            if f_trial < f {
                x = trial;
                f = f_trial;
                step *= 1.2;
            } else {
                step *= 0.5;
            }
        }
        f + x[0]
    }

    #[differentiable]
    fn plain(starts: &[Vec<f64>]) -> f64 {
        let mut nearest = hit(&starts[0]);
        for start in starts {
            let next = hit(start);
            if next.t < nearest.t {
                nearest = next;
            }
        }
        nearest.t * nearest.albedo
    }

    #[test]
    fn structs() {
        check_rule(several_starts::rule, starts());
        let steps = [
            (vec![0.3, 0.2], vec![0.4, 1.9, 0.7]),
            (vec![1.9, 0.4, 0.1], vec![1.2]),
            (vec![-0.5, 0.8], vec![1.2, -0.4, 2.0, 0.1]),
        ];
        check_rule(refinements::rule, steps.clone());
        check_rule(accepted_and_changed::rule, steps.clone());
        check_rule(
            alternating::rule,
            [(vec![0.3, 0.9], vec![-0.4, 0.9], 3), (vec![0.8, 0.2], vec![0.4, 0.1], 4)],
        );
        check_rule(kept_or_not::rule, steps.clone());
        check_rule(vectors::rule, steps);
    }

    #[test]
    fn with_numbers() {
        check_rule(with_its_cost::rule, starts());
        check_rule(line_search::rule, [(vec![0.3, 0.2],), (vec![1.9, 0.4, 0.1],)]);
        check_rule(plain::rule, starts());
    }
}

mod kept {
    use super::*;

    #[differentiable]
    fn returned(starts: &[Vec<f64>]) -> Vec<Fit> {
        let mut kept = Vec::new();
        for start in starts {
            let candidate = fit(start);
            if candidate.cost < 0.5 {
                kept.push(candidate);
            }
        }
        kept
    }

    #[differentiable]
    fn summed(starts: &[Vec<f64>]) -> f64 {
        let mut kept = Vec::new();
        for start in starts {
            let candidate = fit(start);
            if candidate.cost < 0.5 {
                kept.push(candidate);
            }
        }
        kept.iter().map(|k| k.cost * k.v[0]).sum()
    }

    #[differentiable]
    fn better_ones(starts: &[Vec<f64>]) -> f64 {
        let mut out = Vec::new();
        for start in starts {
            let a = fit(start);
            let b = a.refined(-1.5);
            out.push(if a.cost < b.cost { a } else { b });
        }
        out.iter().map(|f| f.cost * f.v[0]).sum()
    }

    /// What is plain data may be pushed again, and used afterwards.
    #[differentiable]
    fn plain(p: &[f64]) -> f64 {
        let a = hit(p);
        let mut out = Vec::new();
        for i in 0..3 {
            if p[0] > 0.1 * i as f64 {
                out.push(a);
            }
        }
        out.push(a);
        out.iter().map(|h| h.t * h.albedo).sum::<f64>() * a.albedo
    }

    #[test]
    fn in_vectors() {
        check_rule(returned::rule, starts());
        check_rule(summed::rule, starts());
        check_rule(better_ones::rule, starts());
        check_rule(plain::rule, [(vec![0.15, 0.7],), (vec![0.9, 0.3],)]);
    }
}

mod inside {
    use super::*;

    #[differentiable]
    fn good_enough(p: &[f64]) -> Option<Fit> {
        let a = fit(p);
        if a.cost > 0.5 { None } else { Some(a) }
    }

    #[differentiable]
    fn first_good(starts: &[Vec<f64>]) -> Option<Fit> {
        for start in starts {
            let candidate = fit(start);
            if candidate.cost < 0.1 {
                return Some(candidate);
            }
        }
        None
    }

    #[differentiable]
    fn better(p: &[f64], q: &[f64]) -> Result<Fit, String> {
        let a = fit(p);
        let b = fit(q);
        if a.cost > 5.0 {
            return Err("too far".into());
        }
        if a.cost < b.cost { Ok(a) } else { Ok(b) }
    }

    #[differentiable]
    fn smaller(p: &[f64], q: &[f64]) -> Result<Vec<f64>, String> {
        let a = squares(p);
        let b = squares(q);
        if a[0] > 5.0 {
            return Err("too far".into());
        }
        Ok(if a[0] < b[0] { a } else { b })
    }

    #[differentiable]
    fn plain(starts: &[Vec<f64>]) -> Option<Hit> {
        for start in starts {
            let next = hit(start);
            if next.t < 0.1 {
                return Some(next);
            }
        }
        None
    }

    #[differentiable]
    fn of_variants(p: &[f64], q: &[f64]) -> Option<Data> {
        let a = data(p);
        let b = data(q);
        if q[0] > 5.0 {
            None
        } else if q[0] > 0.45 {
            Some(a)
        } else {
            Some(b)
        }
    }

    #[test]
    fn options_and_results() {
        check_rule(good_enough::rule, [(vec![0.3, 0.2],), (vec![0.8, 0.1, 0.4],)]);
        check_rule(first_good::rule, starts());
        check_rule(better::rule, pairs());
        check_rule(smaller::rule, pairs());
        check_rule(plain::rule, starts());
        check_rule(of_variants::rule, of_one_variant());
    }
}
