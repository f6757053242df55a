//! The primals, on flat slices: the same shapes in every tool.

use pullback::prelude::*;

pub(crate) const MM: usize = 64;
pub(crate) const M_IN: usize = 32;
pub(crate) const M_H: usize = 64;
pub(crate) const GD: usize = 10;
pub(crate) const GK: usize = 25;
pub(crate) const GI: usize = 55;
pub(crate) const GPN: usize = 64;
pub(crate) const GPD: usize = 3;

#[differentiable]
pub(crate) fn sumsin(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for &v in x {
        s += v.sin();
    }
    s
}

#[differentiable]
pub(crate) fn sumsq(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for &v in x {
        s += v * v;
    }
    s
}

#[differentiable]
pub(crate) fn rosen(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for i in 0..x.len() - 1 {
        let a = x[i + 1] - x[i] * x[i];
        let b = 1.0 - x[i];
        s += 100.0 * a * a + b * b;
    }
    s
}

#[differentiable]
pub(crate) fn mmsum(x: &[f64]) -> f64 {
    let (a, b) = x.split_at(MM * MM);
    let mut s = 0.0;
    for i in 0..MM {
        for j in 0..MM {
            let mut acc = 0.0;
            for k in 0..MM {
                acc += a[i * MM + k] * b[k * MM + j];
            }
            s += acc;
        }
    }
    s
}

#[differentiable]
pub(crate) fn mmsq(x: &[f64]) -> f64 {
    let (a, b) = x.split_at(MM * MM);
    let mut c = [0.0f64; MM * MM];
    for i in 0..MM {
        for k in 0..MM {
            let av = a[i * MM + k];
            for j in 0..MM {
                c[i * MM + j] += av * b[k * MM + j];
            }
        }
    }
    let mut s = 0.0;
    for v in c.iter() {
        s += v * v;
    }
    s
}

#[differentiable]
pub(crate) fn mlp(x: &[f64], m: usize, #[constant] c: &[f64]) -> f64 {
    let (w1, r) = x.split_at(M_H * M_IN);
    let (b1, r) = r.split_at(M_H);
    let (w2, r) = r.split_at(M_H * M_H);
    let (b2, r) = r.split_at(M_H);
    let (w3, b3) = r.split_at(M_H);
    let mut loss = 0.0;
    for s in 0..m {
        let inp = &c[s * (M_IN + 1)..(s + 1) * (M_IN + 1)];
        let mut h1 = [0.0; M_H];
        let mut h2 = [0.0; M_H];
        for i in 0..M_H {
            let mut a = b1[i];
            for j in 0..M_IN {
                a += w1[i * M_IN + j] * inp[j];
            }
            h1[i] = a.tanh();
        }
        for i in 0..M_H {
            let mut a = b2[i];
            for j in 0..M_H {
                a += w2[i * M_H + j] * h1[j];
            }
            h2[i] = a.tanh();
        }
        let mut y = b3[0];
        for j in 0..M_H {
            y += w3[j] * h2[j];
        }
        let e = y - inp[M_IN];
        loss += 0.5 * e * e;
    }
    loss
}

#[differentiable]
pub(crate) fn gmm(x: &[f64], n: usize, #[constant] c: &[f64]) -> f64 {
    let (al, r) = x.split_at(GK);
    let (mu, icf) = r.split_at(GK * GD);
    let (gamma, m) = (c[0], c[1]);
    let xs = &c[3..];
    let mut qd = [0.0; GK * GD];
    let mut sq = [0.0; GK];
    for k in 0..GK {
        let mut s = 0.0;
        for d in 0..GD {
            let q = icf[k * GI + d];
            s += q;
            qd[k * GD + d] = q.exp();
        }
        sq[k] = s;
    }
    let mut slse = 0.0;
    for p in 0..n {
        let mut mt = [0.0; GK];
        for k in 0..GK {
            let mut xc = [0.0; GD];
            let mut qx = [0.0; GD];
            for d in 0..GD {
                xc[d] = xs[p * GD + d] - mu[k * GD + d];
            }
            for d in 0..GD {
                qx[d] = qd[k * GD + d] * xc[d];
            }
            let mut l = k * GI + GD;
            for i in 0..GD {
                for j in i + 1..GD {
                    qx[j] += icf[l] * xc[i];
                    l += 1;
                }
            }
            let mut nn = 0.0;
            for d in 0..GD {
                nn += qx[d] * qx[d];
            }
            mt[k] = al[k] + sq[k] - 0.5 * nn;
        }
        let mut mx = mt[0];
        for k in 1..GK {
            if mt[k] > mx {
                mx = mt[k];
            }
        }
        let mut se = 0.0;
        for k in 0..GK {
            se += (mt[k] - mx).exp();
        }
        slse += se.ln() + mx;
    }
    let mut amx = al[0];
    for k in 1..GK {
        if al[k] > amx {
            amx = al[k];
        }
    }
    let mut ase = 0.0;
    for k in 0..GK {
        ase += (al[k] - amx).exp();
    }
    let lsea = ase.ln() + amx;
    let mut pr = 0.0;
    for k in 0..GK {
        let mut fro = 0.0;
        for d in 0..GD {
            fro += qd[k * GD + d] * qd[k * GD + d];
        }
        for l in GD..GI {
            fro += icf[k * GI + l] * icf[k * GI + l];
        }
        pr += 0.5 * gamma * gamma * fro - m * sq[k];
    }
    c[2] + slse - n as f64 * lsea + pr
}

#[differentiable]
pub(crate) fn bruss(x: &[f64], n: usize, #[constant] dt: f64) -> f64 {
    let (a, b, mut u, mut v) = (x[0], x[1], x[2], x[3]);
    for _ in 0..n {
        let uuv = u * u * v;
        let du = a + uuv - (b + 1.0) * u;
        let dv = b * u - uuv;
        u += dt * du;
        v += dt * dv;
    }
    u * u + v * v
}

#[differentiable]
pub(crate) fn lvrk4(x: &[f64], n: usize, #[constant] h: f64) -> f64 {
    let (a, b, g, d, mut p, mut q) = (x[0], x[1], x[2], x[3], x[4], x[5]);
    for _ in 0..n {
        let k1p = a * p - b * p * q;
        let k1q = d * p * q - g * q;
        let p2 = p + 0.5 * h * k1p;
        let q2 = q + 0.5 * h * k1q;
        let k2p = a * p2 - b * p2 * q2;
        let k2q = d * p2 * q2 - g * q2;
        let p3 = p + 0.5 * h * k2p;
        let q3 = q + 0.5 * h * k2q;
        let k3p = a * p3 - b * p3 * q3;
        let k3q = d * p3 * q3 - g * q3;
        let p4 = p + h * k3p;
        let q4 = q + h * k3q;
        let k4p = a * p4 - b * p4 * q4;
        let k4q = d * p4 * q4 - g * q4;
        p += (h / 6.0) * (k1p + 2.0 * k2p + 2.0 * k3p + k4p);
        q += (h / 6.0) * (k1q + 2.0 * k2q + 2.0 * k3q + k4q);
    }
    p * p + q * q
}

#[differentiable]
pub(crate) fn lse(x: &[f64]) -> f64 {
    let mut m = x[0];
    for &v in &x[1..] {
        if v > m {
            m = v;
        }
    }
    let mut s = 0.0;
    for &v in x {
        s += (v - m).exp();
    }
    m + s.ln()
}

#[differentiable]
pub(crate) fn gp(x: &[f64], #[constant] c: &[f64]) -> f64 {
    let xs = &c[..GPN * GPD];
    let y = &c[GPN * GPD..];
    let s2 = (2.0 * x[0]).exp();
    let sn2 = (2.0 * x[4]).exp();
    let mut il2 = [0.0; GPD];
    for d in 0..GPD {
        il2[d] = (-2.0 * x[1 + d]).exp();
    }
    let mut l = [0.0f64; GPN * GPN];
    let mut z = [0.0f64; GPN];
    for i in 0..GPN {
        for j in 0..=i {
            let mut r = 0.0;
            for d in 0..GPD {
                let df = xs[i * GPD + d] - xs[j * GPD + d];
                r += (df * df) * il2[d];
            }
            let mut k = s2 * (-0.5 * r).exp();
            if i == j {
                k += sn2;
            }
            l[i * GPN + j] = k;
        }
    }
    for i in 0..GPN {
        for j in 0..=i {
            let mut s = l[i * GPN + j];
            for k in 0..j {
                s -= l[i * GPN + k] * l[j * GPN + k];
            }
            if i == j {
                l[i * GPN + i] = s.sqrt();
            } else {
                l[i * GPN + j] = s / l[j * GPN + j];
            }
        }
    }
    let mut f = 0.0;
    for i in 0..GPN {
        let mut s = y[i];
        for k in 0..i {
            s -= l[i * GPN + k] * z[k];
        }
        z[i] = s / l[i * GPN + i];
        f = f - 0.5 * z[i] * z[i] - l[i * GPN + i].ln();
    }
    f - 0.5 * GPN as f64 * 1.837_877_066_409_345_5
}

/// The residual of one observation of bundle adjustment.
#[differentiable(dual)]
pub(crate) fn observation(cam: &[f64; 11], x: &[f64; 3], w: f64, #[constant] feat: &[f64; 2]) -> [f64; 2] {
    let d = [x[0] - cam[3], x[1] - cam[4], x[2] - cam[5]];
    let square = cam[0] * cam[0] + cam[1] * cam[1] + cam[2] * cam[2];
    let angle = square.sqrt();
    let (sin, cos) = angle.sin_cos();
    let r = [cam[0] / angle, cam[1] / angle, cam[2] / angle];
    let c = [r[1] * d[2] - r[2] * d[1], r[2] * d[0] - r[0] * d[2], r[0] * d[1] - r[1] * d[0]];
    let along = (r[0] * d[0] + r[1] * d[1] + r[2] * d[2]) * (1.0 - cos);
    let mut p = [0.0; 3];
    for i in 0..3 {
        p[i] = d[i] * cos + c[i] * sin + r[i] * along;
    }
    let (u, v) = (p[0] / p[2], p[1] / p[2]);
    let n = u * u + v * v;
    let scale = cam[6] * (1.0 + cam[9] * n + cam[10] * n * n);
    [w * (scale * u + cam[7] - feat[0]), w * (scale * v + cam[8] - feat[1])]
}
