fn simulate(start: f64, p: f64, steps: usize, trace: &mut [f64]) -> f64 {
    let mut s = start;
    for i in 0..steps {
        s = step(s, p);
        if s > 1.0 {
            s = s / p;
        }
        trace[i] = s * s;
    }
    s + trace[0]
}
