//! Roots, integrals, interpolation, filters and transforms.

use pullback::prelude::*;
use pullback::testing::{CheckRule, check_rule};

/// Where x³ + p·x equals q: bisection tells where, its last step how it moves.
#[differentiable]
fn bisection(p: f64, q: f64) -> f64 {
    let mut low = -10.0;
    let mut high = 10.0;
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if middle * middle * middle + p * middle < q {
            low = middle;
        } else {
            high = middle;
        }
    }
    let x = 0.5 * (low + high);
    x - (x * x * x + p * x - q) / (3.0 * x * x + p)
}

#[differentiable]
fn horner(coefficients: &[f64], x: f64) -> f64 {
    let mut y = 0.0;
    for i in (0..coefficients.len()).rev() {
        y = y * x + coefficients[i];
    }
    y
}

/// The value and the derivative of a polynomial in one go.
#[differentiable]
fn horner_twice(coefficients: &[f64], x: f64) -> (f64, f64) {
    let (mut p, mut dp) = (0.0, 0.0);
    for i in (0..coefficients.len()).rev() {
        dp = dp * x + p;
        p = p * x + coefficients[i];
    }
    (p, dp)
}

/// Clenshaw's recurrence for a series of Chebyshev polynomials.
#[differentiable]
fn clenshaw(c: &[f64], x: f64) -> f64 {
    let (mut b1, mut b2) = (0.0, 0.0);
    for k in (1..c.len()).rev() {
        let b0 = c[k] + 2.0 * x * b1 - b2;
        b2 = b1;
        b1 = b0;
    }
    c[0] + x * b1 - b2
}

#[differentiable]
fn integrand(x: f64, a: f64) -> f64 {
    (-a * x * x).exp() * (3.0 * x).cos()
}

#[differentiable]
fn trapezoid(from: f64, to: f64, a: f64, intervals: usize) -> f64 {
    let h = (to - from) / intervals as f64;
    let mut sum = 0.5 * (integrand(from, a) + integrand(to, a));
    for i in 1..intervals {
        sum += integrand(from + i as f64 * h, a);
    }
    h * sum
}

#[differentiable]
fn simpson(from: f64, to: f64, a: f64, intervals: usize) -> f64 {
    let h = (to - from) / intervals as f64;
    let mut sum = integrand(from, a) + integrand(to, a);
    for i in 1..intervals {
        let weight = if i % 2 == 0 { 2.0 } else { 4.0 };
        sum += weight * integrand(from + i as f64 * h, a);
    }
    sum * h / 3.0
}

const NODES: [f64; 3] = [0.238_619_186_083_196_9, 0.661_209_386_466_264_5, 0.932_469_514_203_152];
const WEIGHTS: [f64; 3] = [0.467_913_934_572_691, 0.360_761_573_048_138_6, 0.171_324_492_379_170_36];

/// Gauss and Legendre with six points on each part.
#[differentiable]
fn gauss(from: f64, to: f64, a: f64, parts: usize) -> f64 {
    let half = 0.5 * (to - from) / parts as f64;
    let mut sum = 0.0;
    for part in 0..parts {
        let centre = from + (2 * part + 1) as f64 * half;
        for k in 0..NODES.len() {
            let d = half * NODES[k];
            sum += WEIGHTS[k] * (integrand(centre - d, a) + integrand(centre + d, a));
        }
    }
    half * sum
}

/// Runge's function between equidistant points by Lagrange's polynomial.
#[differentiable]
fn runge(x: f64, steepness: f64, n: usize) -> f64 {
    let mut total = 0.0;
    for i in 0..n {
        let xi = -1.0 + 2.0 * i as f64 / (n - 1) as f64;
        let mut basis = 1.0 / (1.0 + steepness * xi * xi);
        for j in 0..n {
            if j != i {
                let xj = -1.0 + 2.0 * j as f64 / (n - 1) as f64;
                basis *= (x - xj) / (xi - xj);
            }
        }
        total += basis;
    }
    total
}

/// Newton's divided differences: the coefficients in place, then Horner's scheme.
#[differentiable]
fn divided_differences(nodes: &[f64], values: &mut [f64], x: f64) -> f64 {
    let n = nodes.len();
    for level in 1..n {
        for i in (level..n).rev() {
            values[i] = (values[i] - values[i - 1]) / (nodes[i] - nodes[i - level]);
        }
    }
    let mut y = values[n - 1];
    for i in (0..n - 1).rev() {
        y = y * (x - nodes[i]) + values[i];
    }
    y
}

/// A natural cubic spline: second derivatives from a tridiagonal system, then the value at `x`.
#[differentiable]
fn spline(knots: &[f64], values: &[f64], x: f64) -> f64 {
    let n = knots.len();
    let mut second = vec![0.0; n];
    let mut ratio = vec![0.0; n];
    for i in 1..n - 1 {
        let before = knots[i] - knots[i - 1];
        let after = knots[i + 1] - knots[i];
        let bend = (values[i + 1] - values[i]) / after - (values[i] - values[i - 1]) / before;
        let pivot = 2.0 * (before + after) - before * ratio[i - 1];
        ratio[i] = after / pivot;
        second[i] = (6.0 * bend - before * second[i - 1]) / pivot;
    }
    for i in (1..n - 1).rev() {
        second[i] -= ratio[i] * second[i + 1];
    }
    let mut at = 0;
    while at + 2 < n && x > knots[at + 1] {
        at += 1;
    }
    let h = knots[at + 1] - knots[at];
    let b = (x - knots[at]) / h;
    let a = 1.0 - b;
    a * values[at]
        + b * values[at + 1]
        + ((a * a * a - a) * second[at] + (b * b * b - b) * second[at + 1]) * h * h / 6.0
}

/// Convolution with a kernel, the borders mirrored.
#[differentiable]
fn fir(signal: &[f64], kernel: &[f64], out: &mut [f64]) {
    let n = signal.len() as isize;
    let half = kernel.len() as isize / 2;
    for i in 0..n {
        let mut s = 0.0;
        for k in -half..=half {
            let mut at = i + k;
            if at < 0 {
                at = -at;
            }
            if at >= n {
                at = 2 * n - 2 - at;
            }
            s += kernel[(k + half) as usize] * signal[at as usize];
        }
        out[i as usize] = s;
    }
}

const SAVITZKY_GOLAY: [f64; 5] = [-3.0 / 35.0, 12.0 / 35.0, 17.0 / 35.0, 12.0 / 35.0, -3.0 / 35.0];

/// What is left of a signal once it has been smoothed.
#[differentiable]
fn roughness(signal: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 2..signal.len() - 2 {
        let mut smooth = 0.0;
        for k in 0..5 {
            smooth += SAVITZKY_GOLAY[k] * signal[i + k - 2];
        }
        total += (signal[i] - smooth).powi(2);
    }
    total
}

/// A filter with feedback, two poles; peak of what comes out, softened.
#[differentiable]
fn biquad(signal: &[f64], b: [f64; 3], a: [f64; 2]) -> f64 {
    let (mut z1, mut z2) = (0.0, 0.0);
    let mut power = 0.0;
    for i in 0..signal.len() {
        let x = signal[i];
        let y = b[0] * x + z1;
        z1 = b[1] * x - a[0] * y + z2;
        z2 = b[2] * x - a[1] * y;
        power += y.powi(4);
    }
    power.powf(0.25)
}

/// Fourier's transform in place, radix two, decimation in time.
#[differentiable]
fn fft(re: &mut [f64], im: &mut [f64]) {
    let n = re.len();
    let mut j = 0;
    for i in 1..n {
        let mut bit = n / 2;
        while j & bit != 0 {
            j ^= bit;
            bit /= 2;
        }
        j ^= bit;
        if i < j {
            re.swap(i, j);
            im.swap(i, j);
        }
    }
    let mut half = 1;
    while half < n {
        let angle = -std::f64::consts::PI / half as f64;
        for start in (0..n).step_by(2 * half) {
            for k in 0..half {
                let (s, c) = (angle * k as f64).sin_cos();
                let (p, q) = (start + k, start + k + half);
                let a = c * re[q] - s * im[q];
                let b = c * im[q] + s * re[q];
                re[q] = re[p] - a;
                im[q] = im[p] - b;
                re[p] += a;
                im[p] += b;
            }
        }
        half *= 2;
    }
}

/// How much of a signal's power lies in its upper half.
#[differentiable]
fn treble(re: &mut [f64], im: &mut [f64]) -> f64 {
    fft(re, im);
    let n = re.len();
    let mut upper = 0.0;
    let mut all = 0.0;
    for k in 0..=n / 2 {
        let power = re[k] * re[k] + im[k] * im[k];
        all += power;
        if 4 * k > n {
            upper += power;
        }
    }
    upper / all
}

/// The arithmetic and geometric mean: an elliptic integral in a few rounds.
#[differentiable]
fn agm(a: f64, b: f64) -> f64 {
    let (mut a, mut b) = (a, b);
    while (a - b).abs() > 1e-15 * a {
        let mean = 0.5 * (a + b);
        b = (a * b).sqrt();
        a = mean;
    }
    std::f64::consts::FRAC_PI_2 / a
}

/// A continued fraction from the inside out.
#[differentiable]
fn continued_fraction(x: f64, terms: &[f64]) -> f64 {
    let mut f = 1.0;
    for k in (0..terms.len()).rev() {
        f = terms[k] + x * x / (f + 1.0);
    }
    x / f
}

/// Richardson's extrapolation of difference quotients.
#[differentiable]
fn richardson(x: f64, h: f64, levels: usize) -> f64 {
    let mut table = [[0.0; 5]; 5];
    let mut step = h;
    for i in 0..levels {
        table[i][0] = ((x + step).sin() * (x + step) - (x - step).sin() * (x - step)) / (2.0 * step);
        let mut factor = 4.0;
        for k in 1..=i {
            table[i][k] = table[i][k - 1] + (table[i][k - 1] - table[i - 1][k - 1]) / (factor - 1.0);
            factor *= 4.0;
        }
        step *= 0.5;
    }
    table[levels - 1][levels - 1]
}

/// The Bézier curve of some points by de Casteljau, in place: squared distance from the origin.
#[differentiable]
fn bezier(points: &mut [[f64; 2]], t: f64) -> f64 {
    let n = points.len();
    for level in 1..n {
        for i in 0..n - level {
            for k in 0..2 {
                points[i][k] = (1.0 - t) * points[i][k] + t * points[i + 1][k];
            }
        }
    }
    points[0][0] * points[0][0] + points[0][1] * points[0][1]
}

fn wave(n: usize) -> Vec<f64> {
    (0..n).map(|i| (0.7 * i as f64 + 0.3).sin()).collect()
}

#[test]
fn roots() {
    check_rule(bisection::rule, [(1.0, 2.0), (3.0, -5.0)]);
    check_rule(agm::rule, [(1.0, 0.6), (2.0, 5.0), (1.5, 1.4)]);
}

#[test]
fn series() {
    check_rule(horner::rule, [(wave(5), 0.7), (vec![], 0.7), (wave(1), 2.0)]);
    check_rule(horner_twice::rule, [(wave(5), 0.7), (vec![], 0.7), (wave(1), 2.0)]);
    check_rule(clenshaw::rule, [(wave(5), 0.7), (wave(1), 2.0)]);
    check_rule(continued_fraction::rule, [(0.5, vec![1.0, 3.0, 5.0, 7.0]), (0.7, vec![]), (0.7, vec![2.0])]);
    check_rule(richardson::rule, [(0.7, 0.5, 4), (1.5, 0.1, 1)]);
}

#[test]
fn integrals() {
    check_rule(trapezoid::rule, [(0.1, 1.3, 0.7, 10), (-0.4, 0.5, 1.5, 1)]);
    check_rule(simpson::rule, [(0.1, 1.3, 0.7, 10), (-0.4, 0.5, 1.5, 2)]);
    check_rule(gauss::rule, [(0.1, 1.3, 0.7, 3), (-0.4, 0.5, 1.5, 1)]);
}

#[test]
fn interpolation() {
    check_rule(runge::rule, [(0.33, 25.0, 7), (0.8, 5.0, 2)]);
    check_rule(
        divided_differences::rule,
        [(vec![0.0, 0.4, 1.1, 1.5], wave(4), 0.7), (vec![0.3], wave(1), 0.7)],
    );
    check_rule(spline::rule, [(vec![0.0, 0.4, 1.1, 1.5, 2.2], wave(5), 1.3), (vec![0.3, 0.9], wave(2), 0.7)]);
    check_rule(
        bezier::rule,
        [(vec![[0.0, 0.1], [0.5, 1.0], [1.2, 0.8], [1.0, 0.0]], 0.3), (vec![[0.3, 0.4]], 0.6)],
    );
}

#[test]
fn signals() {
    check_rule(
        fir::rule,
        [(wave(6), vec![0.2, 0.5, 0.3], wave(6)), (wave(3), vec![0.1, 0.2, 0.4, 0.2, 0.1], wave(3))],
    );
    check_rule(roughness::rule, [(wave(9),), (wave(5),)]);
    check_rule(
        biquad::rule,
        [(wave(8), [0.3, 0.2, 0.1], [-0.5, 0.3]), (wave(1), [0.5, 0.1, 0.2], [0.4, -0.2])],
    );
    check_rule(fft::rule, [(wave(8), wave(8)), (wave(2), wave(2)), (wave(1), wave(1))]);
    check_rule(treble::rule, [(wave(8), vec![0.0; 8]), (wave(4), wave(4))]);
}
