fn kepler(anomalies: &[f64], eccentricity: f64) -> f64 {
    let mut total = 0.0;
    for i in 0..anomalies.len() {
        let squared = eccentricity * eccentricity;
        #[pullback(recompute)]
        let e = zero(|e| e - squared * e.sin() - anomalies[i], 0.0, 7.0, 1e-15);
        total += e * e;
    }
    total
}
