fn triangle(l: &[f64], x: &[f64]) -> f64 {
    let mut total = 0.0;
    let mut k = 0;
    for i in 0..x.len() {
        for j in i + 1..x.len() {
            total += l[k] * x[i] * x[j];
            k += 1;
        }
    }
    total * total
}
