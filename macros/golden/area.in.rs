fn area(p: &[f64], k: f64, n: usize) -> f64 {
    let scale = k * k;
    integrate(|t: f64| p[0] * t + scale * g(t * k), 0.0, k, n)
}
