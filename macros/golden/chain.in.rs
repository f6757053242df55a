fn chain(x: &[f64]) -> f64 {
    x.iter().map(|v| v * v).sum()
}
