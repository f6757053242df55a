fn cholesky(l: &mut [f64], n: usize) -> f64 {
    let mut log_determinant = 0.0;
    for i in 0..n {
        for j in 0..=i {
            let mut s = l[i * n + j];
            for k in 0..j {
                s -= l[i * n + k] * l[j * n + k];
            }
            l[i * n + j] = if i == j { s.sqrt() } else { s / l[j * n + j] };
        }
        log_determinant += l[i * n + i].ln();
    }
    log_determinant
}
