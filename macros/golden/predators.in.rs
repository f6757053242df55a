fn predators(prey: f64, predators: f64, rate: f64, steps: usize) -> f64 {
    let (mut p, mut q) = (prey, predators);
    for _ in 0..steps {
        let (dp, dq) = (rate * p - p * q, p * q - rate * q);
        let (half_p, half_q) = (p + 0.05 * dp, q + 0.05 * dq);
        p += 0.1 * (rate * half_p - half_p * half_q);
        q += 0.1 * (half_p * half_q - rate * half_q);
    }
    p + q
}
