//! As [`by_hand`](super::by_hand), for the models of many numbers.

/// The derivatives by feed and kill; restores `u` and `v`. `kept` has room for both at each step, `adjoints` for two of each.
pub(crate) fn gray_scott(
    u: &mut [f64],
    v: &mut [f64],
    feed: f64,
    kill: f64,
    kept: &mut [f64],
    d: [&mut [f64]; 4],
) -> (f64, f64, f64) {
    let n = u.len();
    let [du, dv, next_du, next_dv] = d;
    let around = |i: usize| (if i == 0 { n - 1 } else { i - 1 }, if i + 1 == n { 0 } else { i + 1 });
    for kept in kept.chunks_exact_mut(2 * n) {
        let (old_u, old_v) = kept.split_at_mut(n);
        old_u.copy_from_slice(u);
        old_v.copy_from_slice(v);
        for i in 0..n {
            let (left, right) = around(i);
            let reaction = old_u[i] * old_v[i] * old_v[i];
            u[i] += 0.16 * (old_u[left] + old_u[right] - 2.0 * old_u[i]) - reaction + feed * (1.0 - old_u[i]);
            v[i] +=
                0.08 * (old_v[left] + old_v[right] - 2.0 * old_v[i]) + reaction - (feed + kill) * old_v[i];
        }
    }
    let mut mixed = 0.0;
    for i in 0..n {
        mixed += u[i] * v[i];
        du[i] = v[i];
        dv[i] = u[i];
    }
    let (mut d_feed, mut d_kill) = (0.0, 0.0);
    for kept in kept.chunks_exact(2 * n).rev() {
        let (u, v) = kept.split_at(n);
        for i in 0..n {
            let (left, right) = around(i);
            let d_reaction = dv[i] - du[i];
            d_feed += du[i] * (1.0 - u[i]) - dv[i] * v[i];
            d_kill -= dv[i] * v[i];
            next_du[i] =
                du[i] * (1.0 - feed) + 0.16 * (du[left] + du[right] - 2.0 * du[i]) + d_reaction * v[i] * v[i];
            next_dv[i] = dv[i] * (1.0 - feed - kill)
                + 0.08 * (dv[left] + dv[right] - 2.0 * dv[i])
                + 2.0 * d_reaction * u[i] * v[i];
        }
        du.copy_from_slice(next_du);
        dv.copy_from_slice(next_dv);
    }
    if let Some((old_u, old_v)) = kept.get(..2 * n).map(|first| first.split_at(n)) {
        u.copy_from_slice(old_u);
        v.copy_from_slice(old_v);
    }
    (mixed, d_feed, d_kill)
}

/// The derivatives by weight and ε.
pub(crate) fn total_variation(
    image: &[f64],
    seen: &[f64],
    width: usize,
    weight: f64,
    epsilon: f64,
    d_image: &mut [f64],
    d_seen: &mut [f64],
) -> (f64, f64, f64) {
    let height = image.len() / width;
    d_image.fill(0.0);
    let (mut cost, mut d_weight, mut d_epsilon) = (0.0, 0.0, 0.0);
    for y in 0..height {
        for x in 0..width {
            let at = y * width + x;
            let dx = if x + 1 < width { image[at + 1] - image[at] } else { 0.0 };
            let dy = if y + 1 < height { image[at + width] - image[at] } else { 0.0 };
            let off = image[at] - seen[at];
            let norm = (dx * dx + dy * dy + epsilon * epsilon).sqrt();
            cost += weight * norm + 0.5 * off * off;
            d_weight += norm;
            let share = weight / norm;
            d_epsilon += share * epsilon;
            if x + 1 < width {
                d_image[at + 1] += share * dx;
            }
            if y + 1 < height {
                d_image[at + width] += share * dy;
            }
            d_image[at] += off - share * (dx + dy);
            d_seen[at] = -off;
        }
    }
    (cost, d_weight, d_epsilon)
}

pub(crate) fn graph_laplacian(
    x: &[f64],
    starts: &[usize],
    targets: &[usize],
    weights: &[f64],
    dx: &mut [f64],
    d_weights: &mut [f64],
) -> f64 {
    dx.fill(0.0);
    let mut energy = 0.0;
    for i in 0..x.len() {
        for e in starts[i]..starts[i + 1] {
            let d = x[i] - x[targets[e]];
            energy += 0.5 * weights[e] * d * d;
            d_weights[e] = 0.5 * d * d;
            dx[i] += weights[e] * d;
            dx[targets[e]] -= weights[e] * d;
        }
    }
    energy
}

/// Weights and biases of both layers.
pub(crate) type Layers<S> = (S, S, S, S);

/// `h` and `y` have room for one sample each, and `dh` for the gradient of `h`. The forward pass is the model's.
///
/// `SKIP`: units that are off are passed over in the reverse pass, since nothing finite makes a difference there. That is more than
/// reverse mode by the book, and pays where many are.
pub(crate) fn mlp<const SKIP: bool>(
    (w1, b1, w2, b2): Layers<&[f64]>,
    x: &[f64],
    targets: &[f64],
    [h, dh, y]: [&mut [f64]; 3],
    (d_w1, d_b1, d_w2, d_b2): Layers<&mut [f64]>,
) -> f64 {
    let inputs = w1.len() / b1.len();
    let samples = x.len() / inputs;
    d_w1.fill(0.0);
    d_b1.fill(0.0);
    d_w2.fill(0.0);
    d_b2.fill(0.0);
    let mut loss = 0.0;
    for (x, targets) in x.chunks_exact(inputs).zip(targets.chunks_exact(b2.len())) {
        super::models::dense(w1, b1, x, h);
        super::models::relu(h);
        super::models::dense(w2, b2, h, y);
        dh.fill(0.0);
        for (k, w) in w2.chunks_exact(h.len()).enumerate() {
            let error = y[k] - targets[k];
            loss += error * error;
            let d = 2.0 * error / samples as f64;
            d_b2[k] += d;
            let d_row = &mut d_w2[k * h.len()..][..h.len()];
            for i in 0..h.len() {
                d_row[i] += d * h[i];
                dh[i] += d * w[i];
            }
        }
        for i in 0..h.len() {
            let on = h[i] > 0.0;
            if SKIP && !on {
                continue;
            }
            let d = if on { dh[i] } else { 0.0 };
            d_b1[i] += d;
            for (d_w, x) in d_w1[i * inputs..][..inputs].iter_mut().zip(x) {
                *d_w += d * x;
            }
        }
    }
    loss / samples as f64
}

/// The derivatives by the three logarithms; `l` and `dl` have room for a matrix each, `alpha` for a vector.
pub(crate) fn gaussian_process(
    logarithms: [f64; 3],
    x: &[f64],
    y: &[f64],
    [l, dl, alpha]: [&mut [f64]; 3],
    dx: &mut [f64],
    dy: &mut [f64],
) -> (f64, [f64; 3]) {
    let n = x.len();
    let length = logarithms[0].exp();
    let signal = (2.0 * logarithms[1]).exp();
    let noise = (2.0 * logarithms[2]).exp();
    for i in 0..n {
        for j in 0..=i {
            let d = (x[i] - x[j]) / length;
            l[i * n + j] = signal * (-0.5 * d * d).exp();
        }
        l[i * n + i] += noise;
    }
    super::models::cholesky(l, n);
    alpha.copy_from_slice(y);
    super::models::forward_substitution(l, alpha, n);
    let mut value = -0.5 * n as f64 * (2.0 * std::f64::consts::PI).ln();
    for i in 0..n {
        value -= 0.5 * alpha[i] * alpha[i] + l[i * n + i].ln();
    }

    dl.fill(0.0);
    for i in 0..n {
        dl[i * n + i] = -1.0 / l[i * n + i];
        dy[i] = -alpha[i];
    }
    for i in (0..n).rev() {
        dy[i] /= l[i * n + i];
        dl[i * n + i] -= dy[i] * alpha[i];
        for j in 0..i {
            dl[i * n + j] -= dy[i] * alpha[j];
            dy[j] -= dy[i] * l[i * n + j];
        }
    }
    for j in (0..n).rev() {
        let pivot = l[j * n + j];
        let mut d_pivot = dl[j * n + j];
        for i in j + 1..n {
            dl[i * n + j] /= pivot;
            d_pivot -= dl[i * n + j] * l[i * n + j];
        }
        dl[j * n + j] = 0.5 * d_pivot / pivot;
        for i in j..n {
            let d = dl[i * n + j];
            for k in 0..j {
                dl[i * n + k] -= d * l[j * n + k];
                dl[j * n + k] -= d * l[i * n + k];
            }
        }
    }
    dx.fill(0.0);
    let mut d = [0.0; 3];
    for i in 0..n {
        for j in 0..i {
            let distance = (x[i] - x[j]) / length;
            let by_kernel = dl[i * n + j] * signal * (-0.5 * distance * distance).exp();
            d[0] += by_kernel * distance * distance;
            d[1] += 2.0 * by_kernel;
            let pull = by_kernel * distance / length;
            dx[i] -= pull;
            dx[j] += pull;
        }
        d[1] += 2.0 * dl[i * n + i] * signal;
        d[2] += 2.0 * dl[i * n + i] * noise;
    }
    (value, d)
}
