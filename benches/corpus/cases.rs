//! Each model on one input: the primal, the derived gradient and that by hand, which have to agree.

use std::hint::black_box;

use super::{by_hand, by_hand_arrays, models};

/// What is done with the three of a model once they agree. Numbers are hidden from the optimiser: gradients are called for numbers that it does
/// not know, and what it inlines would else be folded.
pub(crate) trait Contest {
    fn case<P, D, H>(
        &mut self,
        name: &'static str,
        primal: impl FnMut() -> P,
        derived: impl FnMut() -> D,
        by_hand: impl FnMut() -> H,
    );
}

pub(crate) fn all(contest: &mut impl Contest) {
    black_scholes(contest);
    runge_kutta(contest);
    lennard_jones(contest);
    robot_arm(contest);
    garch(contest);
    gray_scott(contest);
    total_variation(contest);
    graph_laplacian(contest);
    mlp::<false>(contest, "network, 16-32-4, 16 samples");
    mlp::<true>(contest, "network, units off skipped");
    gaussian_process(contest);
}

fn wave(n: usize) -> Vec<f64> {
    (0..n).map(|i| (0.7 * i as f64 + 0.3).sin()).collect()
}

fn assert_close(derived: &[f64], by_hand: &[f64]) {
    assert_eq!(derived.len(), by_hand.len());
    let scale = by_hand.iter().fold(0.0, |scale: f64, d| scale.max(d.abs()));
    for (derived, by_hand) in derived.iter().zip(by_hand) {
        assert!((derived - by_hand).abs() <= 1e-9 * scale, "derived: {derived}, by hand: {by_hand}");
    }
}

fn black_scholes(contest: &mut impl Contest) {
    let inputs @ (spot, strike, rate, sigma, years) = (100.0, 95.0, 0.03, 0.2, 0.75);
    let mut g = models::black_scholes::gradient();
    let (value, d) = g.value_and_gradient(spot, strike, rate, sigma, years);
    let (expected, by_hand) = by_hand::black_scholes(spot, strike, rate, sigma, years);
    assert_close(&[value, d.spot, d.strike, d.rate, d.sigma, d.years], &[&[expected], &by_hand[..]].concat());
    contest.case(
        "Black-Scholes",
        || {
            let (spot, strike, rate, sigma, years) = black_box(inputs);
            models::black_scholes(spot, strike, rate, sigma, years)
        },
        || {
            let (spot, strike, rate, sigma, years) = black_box(inputs);
            let (value, d) = g.value_and_gradient(spot, strike, rate, sigma, years);
            (value, [d.spot, d.strike, d.rate, d.sigma, d.years])
        },
        || {
            let (spot, strike, rate, sigma, years) = black_box(inputs);
            by_hand::black_scholes(spot, strike, rate, sigma, years)
        },
    );
}

fn runge_kutta(contest: &mut impl Contest) {
    let (start, p, dt) = ([1.0, 0.8], [0.7, 0.5, 0.3, 0.6], 0.1);
    let observed: Vec<[f64; 2]> = wave(100).into_iter().map(|x| [1.0 + x, 1.0 - x]).collect();
    let mut kept = vec![[0.0; 2]; observed.len()];
    let mut g = models::runge_kutta::gradient();
    let (value, d) = g.value_and_gradient(start, &p, &observed, dt);
    let (expected, d_start, d_p, d_dt) = by_hand::runge_kutta(start, &p, &observed, dt, &mut kept);
    let flat = |value, start: [f64; 2], p: [f64; 4], dt| [&[value, dt], &start[..], &p[..]].concat();
    assert_close(&flat(value, d.start, d.p, d.dt), &flat(expected, d_start, d_p, d_dt));
    contest.case(
        "Runge-Kutta, 100 steps",
        || models::runge_kutta(black_box(start), black_box(&p), &observed, black_box(dt)),
        || {
            let (value, d) = g.value_and_gradient(black_box(start), black_box(&p), &observed, black_box(dt));
            (value, d.start, d.dt)
        },
        || by_hand::runge_kutta(black_box(start), black_box(&p), &observed, black_box(dt), &mut kept),
    );
}

fn lennard_jones(contest: &mut impl Contest) {
    let at = |i: usize| {
        let shake = 0.1 * (1.3 * i as f64).sin();
        [(i % 4) as f64 + shake, (i / 4 % 4) as f64 - shake, (i / 16) as f64 + 0.5 * shake]
    };
    let positions: Vec<[f64; 3]> = (0..64).map(at).collect();
    let numbers @ (epsilon, sigma, cutoff) = (0.9, 0.95, 2.2);
    let mut d_positions = vec![[0.0; 3]; positions.len()];
    let mut g = models::lennard_jones::gradient();
    let (value, d) = g.value_and_gradient(&positions, epsilon, sigma, cutoff);
    let (expected, d_epsilon, d_sigma) =
        by_hand::lennard_jones(&positions, epsilon, sigma, cutoff, &mut d_positions);
    assert_close(&[value, d.epsilon, d.sigma], &[expected, d_epsilon, d_sigma]);
    assert_close(d.positions.as_flattened(), d_positions.as_flattened());
    contest.case(
        "Lennard-Jones, 64 atoms",
        || {
            let (epsilon, sigma, cutoff) = black_box(numbers);
            models::lennard_jones(black_box(&positions), epsilon, sigma, cutoff)
        },
        || {
            let (epsilon, sigma, cutoff) = black_box(numbers);
            let (value, d) = g.value_and_gradient(black_box(&positions), epsilon, sigma, cutoff);
            (value, d.epsilon, d.sigma)
        },
        || {
            let (epsilon, sigma, cutoff) = black_box(numbers);
            let derivatives =
                by_hand::lennard_jones(black_box(&positions), epsilon, sigma, cutoff, &mut d_positions);
            black_box(&mut d_positions);
            derivatives
        },
    );
}

fn robot_arm(contest: &mut impl Contest) {
    let n = 100;
    let (angles, lengths, target) = (wave(n), vec![0.7; n], [1.2, 0.7]);
    let (mut kept, mut d_angles, mut d_lengths) = (vec![(0.0, 0.0); n], vec![0.0; n], vec![0.0; n]);
    let mut g = models::robot_arm::gradient();
    let (value, d) = g.value_and_gradient(&angles, &lengths, target);
    let (expected, d_target) =
        by_hand::robot_arm(&angles, &lengths, target, &mut kept, &mut d_angles, &mut d_lengths);
    assert_close(&[value, d.target[0], d.target[1]], &[expected, d_target[0], d_target[1]]);
    assert_close(d.angles, &d_angles);
    assert_close(d.lengths, &d_lengths);
    contest.case(
        "robot arm, 100 joints",
        || models::robot_arm(black_box(&angles), &lengths, black_box(target)),
        || {
            let (value, d) = g.value_and_gradient(black_box(&angles), &lengths, black_box(target));
            (value, d.target)
        },
        || {
            let kept = &mut kept;
            let derivatives = by_hand::robot_arm(
                black_box(&angles),
                &lengths,
                black_box(target),
                kept,
                &mut d_angles,
                &mut d_lengths,
            );
            black_box((&mut d_angles, &mut d_lengths));
            derivatives
        },
    );
}

fn garch(contest: &mut impl Contest) {
    let returns = wave(1000);
    let numbers @ (omega, alpha, beta, mean) = (0.05, 0.2, 0.7, 0.02);
    let (mut kept, mut d_returns) = (vec![0.0; 1000], vec![0.0; 1000]);
    let mut g = models::garch::gradient();
    let (value, d) = g.value_and_gradient(omega, alpha, beta, mean, &returns);
    let (expected, by_hand) = by_hand::garch(omega, alpha, beta, mean, &returns, &mut kept, &mut d_returns);
    assert_close(&[value, d.omega, d.alpha, d.beta, d.mean], &[&[expected], &by_hand[..]].concat());
    assert_close(d.returns, &d_returns);
    contest.case(
        "GARCH, 1000 returns",
        || {
            let (omega, alpha, beta, mean) = black_box(numbers);
            models::garch(omega, alpha, beta, mean, &returns)
        },
        || {
            let (omega, alpha, beta, mean) = black_box(numbers);
            let (value, d) = g.value_and_gradient(omega, alpha, beta, mean, &returns);
            (value, [d.omega, d.alpha, d.beta, d.mean])
        },
        || {
            let (omega, alpha, beta, mean) = black_box(numbers);
            let derivatives = by_hand::garch(omega, alpha, beta, mean, &returns, &mut kept, &mut d_returns);
            black_box(&mut d_returns);
            derivatives
        },
    );
}

fn gray_scott(contest: &mut impl Contest) {
    let (n, steps) = (100, 20);
    let rates @ (feed, kill) = (0.04, 0.06);
    let mut u: Vec<f64> = wave(n).iter().map(|x| 0.7 + 0.2 * x).collect();
    let mut v: Vec<f64> = wave(n).iter().map(|x| 0.3 - 0.1 * x).collect();
    let mut kept = vec![0.0; 2 * n * steps];
    let mut d = [(); 4].map(|()| vec![0.0; n]);
    let mut g = models::gray_scott::gradient();
    let (value, derived) = g.value_and_gradient(&mut u, &mut v, feed, kill, steps);
    let (expected, d_feed, d_kill) =
        by_hand_arrays::gray_scott(&mut u, &mut v, feed, kill, &mut kept, d.each_mut().map(|d| &mut d[..]));
    assert_close(&[value, derived.feed, derived.kill], &[expected, d_feed, d_kill]);
    assert_close(derived.u, &d[0]);
    assert_close(derived.v, &d[1]);
    let (start, mut at) = ((u.clone(), v.clone()), (u.clone(), v.clone()));
    let mut by_hand_at = start.clone();
    contest.case(
        "Gray-Scott, 100 × 20",
        || {
            at.0.copy_from_slice(&start.0);
            at.1.copy_from_slice(&start.1);
            let (feed, kill) = black_box(rates);
            models::gray_scott(black_box(&mut at.0), &mut at.1, feed, kill, steps)
        },
        || {
            let (feed, kill) = black_box(rates);
            let (value, d) = g.value_and_gradient(black_box(&mut u), &mut v, feed, kill, steps);
            (value, d.feed, d.kill)
        },
        || {
            let (feed, kill) = black_box(rates);
            let (u, v) = (black_box(&mut by_hand_at.0), &mut by_hand_at.1);
            let derivatives =
                by_hand_arrays::gray_scott(u, v, feed, kill, &mut kept, d.each_mut().map(|d| &mut d[..]));
            black_box(&mut d);
            derivatives
        },
    );
}

fn total_variation(contest: &mut impl Contest) {
    let numbers @ (weight, epsilon) = (0.7, 0.1);
    let (image, seen) = (wave(32 * 32), wave(33 * 32)[32..].to_vec());
    let (mut d_image, mut d_seen) = (image.clone(), image.clone());
    let mut g = models::total_variation::gradient();
    let (value, d) = g.value_and_gradient(&image, &seen, 32, weight, epsilon);
    let (expected, d_weight, d_epsilon) =
        by_hand_arrays::total_variation(&image, &seen, 32, weight, epsilon, &mut d_image, &mut d_seen);
    assert_close(&[value, d.weight, d.epsilon], &[expected, d_weight, d_epsilon]);
    assert_close(d.image, &d_image);
    assert_close(d.seen, &d_seen);
    contest.case(
        "total variation, 32 × 32",
        || {
            let (weight, epsilon) = black_box(numbers);
            models::total_variation(black_box(&image), &seen, 32, weight, epsilon)
        },
        || {
            let (weight, epsilon) = black_box(numbers);
            let (value, d) = g.value_and_gradient(black_box(&image), &seen, 32, weight, epsilon);
            (value, d.weight, d.epsilon)
        },
        || {
            let (image, (weight, epsilon)) = (black_box(&image), black_box(numbers));
            let derivatives =
                by_hand_arrays::total_variation(image, &seen, 32, weight, epsilon, &mut d_image, &mut d_seen);
            black_box((&mut d_image, &mut d_seen));
            derivatives
        },
    );
}

fn graph_laplacian(contest: &mut impl Contest) {
    let (n, degree) = (200, 5);
    let x = wave(n);
    let starts: Vec<usize> = (0..=n).map(|i| degree * i).collect();
    let targets: Vec<usize> = (0..degree * n).map(|e| (e * 37 + 11) % n).collect();
    let weights: Vec<f64> = wave(degree * n).iter().map(|w| 1.5 + w).collect();
    let (mut dx, mut d_weights) = (x.clone(), weights.clone());
    let mut g = models::graph_laplacian::gradient();
    let (value, d) = g.value_and_gradient(&x, &starts, &targets, &weights);
    let expected = by_hand_arrays::graph_laplacian(&x, &starts, &targets, &weights, &mut dx, &mut d_weights);
    assert_close(&[value], &[expected]);
    assert_close(d.x, &dx);
    assert_close(d.weights, &d_weights);
    contest.case(
        "graph, 1000 edges",
        || models::graph_laplacian(black_box(&x), &starts, &targets, &weights),
        || g.value_and_gradient(black_box(&x), &starts, &targets, &weights).0,
        || {
            let x = black_box(&x);
            let value =
                by_hand_arrays::graph_laplacian(x, &starts, &targets, &weights, &mut dx, &mut d_weights);
            black_box((&mut dx, &mut d_weights));
            value
        },
    );
}

fn mlp<const SKIP: bool>(contest: &mut impl Contest, name: &'static str) {
    let (inputs, hidden, out, samples) = (16, 32, 4, 16);
    let (w1, b1, w2, b2) = (wave(inputs * hidden), wave(hidden), wave(hidden * out), wave(out));
    let (x, targets) = (wave(inputs * samples), wave(out * samples));
    let mut d = (w1.clone(), b1.clone(), w2.clone(), b2.clone());
    let mut room = (b1.clone(), b1.clone(), b2.clone());
    let mut g = models::mlp::gradient();
    let (value, derived) = g.value_and_gradient(&w1, &b1, &w2, &b2, &x, &targets);
    let layers = (&w1[..], &b1[..], &w2[..], &b2[..]);
    let mut by_hand = |d: &mut (Vec<f64>, Vec<f64>, Vec<f64>, Vec<f64>)| {
        let d = (&mut d.0[..], &mut d.1[..], &mut d.2[..], &mut d.3[..]);
        let room = [&mut room.0[..], &mut room.1[..], &mut room.2[..]];
        by_hand_arrays::mlp::<SKIP>(black_box(layers), &x, &targets, room, d)
    };
    assert_close(&[value], &[by_hand(&mut d)]);
    assert_close(derived.w1, &d.0);
    assert_close(derived.b1, &d.1);
    assert_close(derived.w2, &d.2);
    assert_close(derived.b2, &d.3);
    contest.case(
        name,
        || models::mlp(black_box(&w1), &b1, &w2, &b2, &x, &targets),
        || g.value_and_gradient(black_box(&w1), &b1, &w2, &b2, &x, &targets).0,
        || {
            let value = by_hand(&mut d);
            black_box(&mut d);
            value
        },
    );
}

fn gaussian_process(contest: &mut impl Contest) {
    let n = 32;
    let x: Vec<f64> = wave(n).iter().enumerate().map(|(i, x)| 0.3 * i as f64 + 0.1 * x).collect();
    let (y, logarithms) = (wave(n), [0.1, 0.2, -1.0]);
    let mut room = (vec![0.0; n * n], vec![0.0; n * n], vec![0.0; n]);
    let (mut dx, mut dy) = (vec![0.0; n], vec![0.0; n]);
    let mut g = models::gaussian_process::gradient();
    let (value, d) = g.value_and_gradient(0.1, 0.2, -1.0, &x, &y);
    let mut by_hand = |dx: &mut [f64], dy: &mut [f64]| {
        let room = [&mut room.0[..], &mut room.1[..], &mut room.2[..]];
        by_hand_arrays::gaussian_process(black_box(logarithms), &x, &y, room, dx, dy)
    };
    let (expected, d_logarithms) = by_hand(&mut dx, &mut dy);
    assert_close(
        &[value, d.log_length, d.log_signal, d.log_noise],
        &[&[expected], &d_logarithms[..]].concat(),
    );
    assert_close(d.x, &dx);
    assert_close(d.y, &dy);
    contest.case(
        "Gaussian process, n = 32",
        || {
            let [length, signal, noise] = black_box(logarithms);
            models::gaussian_process(length, signal, noise, &x, &y)
        },
        || {
            let [length, signal, noise] = black_box(logarithms);
            let (value, d) = g.value_and_gradient(length, signal, noise, &x, &y);
            (value, d.log_length, d.log_signal, d.log_noise)
        },
        || {
            let derivatives = by_hand(&mut dx, &mut dy);
            black_box((&mut dx, &mut dy));
            derivatives
        },
    );
}
