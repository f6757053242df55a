fn sum_of_sines(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        total += x[i].sin();
    }
    total
}
