fn windows(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for w in x.windows(2) {
        total += (w[1] - w[0]).powi(2);
    }
    total
}
