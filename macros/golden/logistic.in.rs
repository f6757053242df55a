fn logistic(start: f64, rate: f64, steps: usize) -> f64 {
    let mut p = start;
    for _ in 0..steps {
        let growth = rate * p * (1.0 - p);
        p += 0.1 * growth;
    }
    p
}
