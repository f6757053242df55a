//! A gradient beside central differences, for arguments that the tester of rules does not make: those of users' own types.

/// Fails unless `gradient` is that of `f` at `x`.
pub(crate) fn check<const N: usize>(x: [f64; N], f: impl Fn([f64; N]) -> f64, gradient: [f64; N]) {
    for i in 0..N {
        let h = 1e-6;
        let (mut up, mut down) = (x, x);
        up[i] += h;
        down[i] -= h;
        let expected = (f(up) - f(down)) / (2.0 * h);
        let error = (gradient[i] - expected).abs();
        assert!(error < 1e-6 * (1.0 + expected.abs()), "{i}: {} instead of {expected}", gradient[i]);
    }
}
