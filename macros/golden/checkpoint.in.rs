fn checkpoint(u: &mut [f64], rate: f64, steps: usize) -> f64 {
    let mut total = 0.0;
    #[pullback(checkpoint = 10)]
    for step in 0..steps {
        u[0] *= rate * u[step % u.len()];
        total += u[0].sin();
    }
    total
}
