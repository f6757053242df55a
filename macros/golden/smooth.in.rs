fn smooth(u: &[f64], next: &mut [f64], k: f64) {
    for i in 1..u.len() - 1 {
        let left = u[i - 1];
        let right = u[i + 1];
        let slope = right - left;
        let reaction = u[i] * (1.0 - u[i]) * (u[i] - 0.3);
        let viscosity = (slope * slope + 0.01).sqrt();
        let bend = left - 2.0 * u[i] + right;
        let flux = bend * viscosity - slope * slope * u[i];
        next[i] = u[i] + k * (flux + reaction / (1.0 + u[i] * u[i])) - 0.1 * bend * bend * slope;
    }
}
