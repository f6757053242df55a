fn ring(u: &[f64], next: &mut [f64], rate: f64) {
    let n = u.len();
    for i in 0..n {
        let left = if i == 0 { n - 1 } else { i - 1 };
        next[i] = u[i] + rate * (u[left] - 2.0 * u[i] + u[(i + 1) % n]);
    }
}
