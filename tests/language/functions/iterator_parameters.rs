//! Parameters that are iterators, and what may be passed to them.

use pullback::Float;
use pullback::prelude::*;
use pullback::testing::check_rule;

#[differentiable]
fn mean(xs: impl ExactSizeIterator<Item = f64>) -> f64 {
    let n = xs.len() as f64;
    xs.map(|x| x * x).sum::<f64>() / n
}

#[differentiable]
fn norm<'a>(xs: impl IntoIterator<Item = &'a f64>) -> f64 {
    xs.into_iter().map(|x| x * x).sum::<f64>().sqrt()
}

#[differentiable]
fn covariance<I, J>(a: I, b: J) -> f64
where
    I: ExactSizeIterator<Item = f64> + Clone,
    J: ExactSizeIterator<Item = f64> + Clone,
{
    let ma = mean(a.clone());
    let mb = mean(b.clone());
    mean(a.zip(b).map(|(x, y)| (x - ma) * (y - mb)))
}

/// The first product of a sum and an item that is large; some items may not be asked for.
#[differentiable]
fn first_large(xs: impl Iterator<Item = f64>, k: f64) -> Option<f64> {
    let mut t = 0.0;
    for x in xs {
        t += x * k;
        if t > 1.0 {
            return Some(t * x);
        }
    }
    None
}

/// By themselves they have slices.
#[test]
fn functions() {
    check_rule(mean::rule, [(vec![0.3, 0.4],), (vec![0.3, 0.4, 0.9],)]);
    check_rule(norm::rule, [(vec![0.3, 0.4],), (vec![0.3, 0.4, 0.9],)]);
    check_rule(
        covariance::rule,
        [(vec![0.3, 0.4], vec![0.7, 0.8]), (vec![0.3, 0.4, 0.9], vec![0.7, 0.8, 0.1])],
    );
    check_rule(first_large::rule, [(vec![0.3, 0.4, 0.9], 1.3), (vec![0.3], 1.3)]);
    let mut g = norm::gradient();
    let (value, d) = g.value_and_gradient(&[3.0, 4.0]);
    assert_eq!((value, d.xs.len()), (5.0, 2));
    assert!((d.xs[0] - 0.6).abs() < 1e-15 && (d.xs[1] - 0.8).abs() < 1e-15);
}

/// What a chain goes through, all of it, is lent.
#[test]
fn whole() {
    #[differentiable]
    fn f(xs: &[f64], rows: &[Vec<f64>]) -> f64 {
        let v: Vec<f64> = xs.iter().map(|x| x * 2.0).collect();
        let mut t = mean(xs.iter().copied()) * norm(xs) + norm(&v) + norm(v.iter());
        for i in 0..rows.len() {
            t += mean(rows[i].iter().cloned()) * norm(&rows[i]);
        }
        for row in rows {
            t += mean(row.iter().cloned()) * norm(row);
        }
        t + mean(v.into_iter())
    }

    check_rule(
        f::rule,
        [
            (vec![0.3, 0.4], vec![vec![0.3, 0.4, 0.7], vec![0.3, 0.4, 0.1]]),
            (vec![0.3, 0.4, 0.6], vec![vec![0.3, 0.4]]),
        ],
    );
}

/// Other items are gathered, in memory that is there again for the next call.
#[test]
fn gathered() {
    #[differentiable]
    fn log_sum_exp(xs: impl Iterator<Item = f64>) -> f64 {
        xs.map(|x| x.exp()).sum::<f64>().ln()
    }

    #[differentiable]
    fn both_ways(s: &[Vec<f64>], t: f64) -> f64 {
        let mut total = 0.0;
        for i in 0..s.len() {
            let by_row = log_sum_exp((0..s.len()).map(|j| s[i][j] * t));
            total += 0.5 * (by_row + log_sum_exp(s.iter().map(|row| row[i] * t)));
        }
        total
    }

    check_rule(
        both_ways::rule,
        [
            (vec![vec![0.3, 0.4], vec![0.3, 0.7]], 1.5),
            (vec![vec![0.3, 0.4, 0.1], vec![0.3, 0.7, 0.5], vec![0.2, 0.9, 0.8]], 0.7),
        ],
    );

    #[differentiable]
    fn adapted(xs: &[f64], k: f64) -> Option<f64> {
        let a = first_large(xs.iter().copied().take_while(|x| *x < 0.8), k)?;
        let b = first_large(xs.iter().flat_map(|x| [x * k, x * x]), k)?;
        let c = first_large(std::iter::once(k).chain(xs.iter().copied()), a).unwrap_or(1.0);
        let powers = (0..4).map(|i| xs[i % xs.len()] * k.powi(i as i32));
        let d = first_large(powers, b).unwrap_or(1.0);
        let sums = xs.iter().scan(0.0, |sum, x| {
            *sum += x * k;
            Some(*sum)
        });
        Some(a * b * c * d * first_large(sums, b).unwrap_or(1.0))
    }

    check_rule(adapted::rule, [(vec![0.3, 0.4, 0.7, 0.9], 1.7), (vec![0.5, 0.9, 0.7], 2.7)]);
}

/// In conditions, and within closures.
#[test]
fn everywhere() {
    #[differentiable]
    fn f(rows: &[Vec<f64>], k: f64) -> Vec<f64> {
        let mut n = 0;
        while n < 3 && mean(rows[0].iter().map(|x| x * n as f64)) < 10.0 {
            n += 1;
        }
        rows.iter()
            .map(|row| mean(row.iter().map(|x| x * k * n as f64)) * mean(row.iter().copied()))
            .collect()
    }

    check_rule(f::rule, [(vec![vec![0.3, 0.4], vec![0.7, 0.8, 0.1]], 0.6), (vec![vec![0.9]], 0.6)]);
}

/// Some arguments carry no gradient.
#[test]
fn constants() {
    #[differentiable]
    fn beta(asset: &[f64], #[constant] market: &[f64]) -> f64 {
        covariance(asset.iter().copied(), market.iter().copied())
            / covariance(market.iter().copied(), market.iter().map(|m| m * 2.0))
    }

    check_rule(beta::rule, [(vec![0.3, 0.4], vec![0.7, 0.8]), (vec![0.3, 0.4, 0.1], vec![0.7, 0.8, 0.2])]);
}

#[test]
fn pairs() {
    #[differentiable]
    fn of_values(pairs: impl Iterator<Item = (f64, f64)>) -> f64 {
        let mut s = 0.0;
        for (a, b) in pairs {
            s += a * b * a;
        }
        s
    }

    #[differentiable]
    fn of_references<'a>(pairs: impl Iterator<Item = (&'a f64, &'a f64)>) -> f64 {
        pairs.map(|(a, b)| a * b).sum()
    }

    #[differentiable]
    fn f(xs: &[f64], k: f64) -> f64 {
        of_values(xs.iter().zip(xs).map(|(x, y)| (x * k, *y))) * of_references(xs.iter().zip(xs.iter().rev()))
    }

    check_rule(of_values::rule, [(vec![(0.3, 0.4), (0.2, 0.9)],), (vec![(0.3, 0.4)],)]);
    check_rule(of_references::rule, [(vec![(0.3, 0.4), (0.2, 0.9)],), (vec![(0.3, 0.4)],)]);
    check_rule(f::rule, [(vec![0.3, 0.4, 0.9], 1.5), (vec![0.3, 0.4], 0.5)]);
}

#[test]
fn structs() {
    #[derive(Clone, Copy, Debug, Differentiable)]
    struct Body {
        m: f64,
        x: [f64; 2],
    }

    #[differentiable]
    fn energy<'a>(bodies: impl Iterator<Item = &'a Body>) -> f64 {
        bodies.map(|b| b.m * (b.x[0] * b.x[0] + b.x[1])).sum()
    }

    #[differentiable]
    fn product(bodies: impl Iterator<Item = Body>) -> f64 {
        let mut e = 1.0;
        for b in bodies {
            e *= b.m + b.x[1];
        }
        e
    }

    #[differentiable]
    fn f(bodies: &[Body], k: f64) -> f64 {
        let heavy = energy(bodies.iter().filter(|b| b.m > 0.4));
        let others = product(bodies.iter().map(|b| Body { m: b.m * k, x: [b.x[1], k] }));
        energy(bodies.iter()) * heavy + product(bodies.iter().copied()) * others
    }

    let body = |m: f64| Body { m, x: [m * 0.7, 0.2] };
    check_rule(f::rule, [(vec![body(0.5), body(0.3)], 0.5), (vec![body(0.5), body(0.6), body(0.1)], 0.8)]);
}

#[test]
fn type_parameters() {
    #[differentiable]
    fn folded<T: Float, I: Iterator<Item = T>>(xs: I, k: T) -> T {
        xs.fold(k, |a, x| a * k + x * x)
    }

    #[differentiable]
    fn f<T: Float>(xs: &[T], k: T) -> T {
        folded(xs.windows(2).map(|w| w[0] * w[1]), k) + folded(xs.iter().copied(), k)
    }

    #[differentiable]
    fn made<I: IntoIterator<Item = f64>>(xs: I) -> f64
    where
        I::IntoIter: ExactSizeIterator,
    {
        let xs = xs.into_iter();
        let n = xs.len() as f64;
        xs.map(|x| x * x).sum::<f64>() / n
    }

    check_rule(folded::<f64>::rule, [(vec![0.3, 0.4], 0.7), (vec![0.3], 0.7)]);
    check_rule(f::<f64>::rule, [(vec![0.3, 0.4], 0.7), (vec![0.3, 0.4, 0.1], 0.7)]);
    check_rule(f::<f32>::rule, [(vec![0.3, 0.4], 0.7), (vec![0.3, 0.4, 0.1], 0.7)]);
    check_rule(made::rule, [(vec![0.3, 0.4],), (vec![0.3],)]);
}

#[test]
fn methods() {
    #[derive(Clone, Debug, Differentiable)]
    struct Net {
        w: Vec<f64>,
        b: f64,
    }

    #[differentiable]
    impl Net {
        fn feed(&self, xs: impl Iterator<Item = f64>) -> f64 {
            xs.zip(&self.w).map(|(x, w)| x * w).sum::<f64>() + self.b
        }

        fn recurrence<I: Iterator<Item = f64>>(&self, mut xs: I) -> f64 {
            let mut t = xs.next().unwrap_or(0.0);
            for x in xs {
                t = t * self.b + x;
            }
            t
        }
    }

    #[differentiable]
    fn f(net: &Net, y: &[f64]) -> f64 {
        let mut t = net.recurrence(net.w.iter().copied());
        for i in 0..y.len() {
            t += net.feed(y.iter().map(|v| v * y[i])) + net.recurrence(y[i..].iter().map(|v| v * t));
        }
        t
    }

    let net = Net { w: vec![0.5, 0.2], b: 0.3 };
    check_rule(Net::feed_rule, [(net.clone(), vec![0.5, 0.7])]);
    check_rule(f::rule, [(net.clone(), vec![0.5, 0.7]), (net, vec![0.5, 0.7, 0.1])]);
}

/// Rows behind `&mut`, which the items are read from.
#[test]
fn rows_that_are_written_to() {
    #[differentiable]
    fn log_sum(terms: impl Iterator<Item = f64>) -> f64 {
        terms.map(|t| t.exp()).sum::<f64>().ln()
    }

    #[differentiable]
    fn of_references<'a>(terms: impl Iterator<Item = &'a f64>) -> f64 {
        terms.map(|t| t.exp()).sum::<f64>().ln()
    }

    #[differentiable]
    fn normalised(logits: [[f64; 2]; 2]) -> [[f64; 2]; 2] {
        let mut out = logits;
        for row in out.iter_mut() {
            let z = log_sum(row.iter().copied());
            for v in row {
                *v -= z;
            }
        }
        out
    }

    #[differentiable]
    fn scaled(rows: &mut [Vec<f64>], y: &mut [f64], z: &mut Vec<f64>) -> f64 {
        for row in rows.iter_mut() {
            let k = log_sum(row.iter().copied()) * of_references(row.iter());
            row[0] *= k;
        }
        let part = &mut y[1..];
        part[0] *= of_references(part.iter()) + log_sum(part.iter().map(|x| x * x));
        let all = z;
        all[0] *= log_sum(all.iter().copied());
        log_sum(y.iter().copied())
    }

    check_rule(normalised::rule, [([[1.0, 2.0], [0.3, 0.4]],), ([[0.7, -0.2], [0.1, 0.9]],)]);
    let rows = vec![vec![1.0, 0.4], vec![0.3, 0.7]];
    check_rule(
        scaled::rule,
        [(rows[1..].to_vec(), vec![0.3, 0.6, 0.2], vec![0.1, 0.8]), (rows, vec![0.3, 0.6], vec![0.4])],
    );
}
