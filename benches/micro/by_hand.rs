//! The gradients by hand, as a person writes them: the value is returned, and the gradient written to `d`.

use super::functions::*;

pub(crate) fn sumsin(x: &[f64], d: &mut [f64]) -> f64 {
    let mut s = 0.0;
    for (x, d) in x.iter().zip(d) {
        let (sin, cos) = x.sin_cos();
        s += sin;
        *d = cos;
    }
    s
}

pub(crate) fn sumsq(x: &[f64], d: &mut [f64]) -> f64 {
    let mut s = 0.0;
    for (x, d) in x.iter().zip(d) {
        s += x * x;
        *d = 2.0 * x;
    }
    s
}

pub(crate) fn rosen(x: &[f64], d: &mut [f64]) -> f64 {
    let mut s = 0.0;
    let mut carry = 0.0;
    for i in 0..x.len() - 1 {
        let a = x[i + 1] - x[i] * x[i];
        let b = 1.0 - x[i];
        s += 100.0 * a * a + b * b;
        d[i] = carry - 400.0 * a * x[i] - 2.0 * b;
        carry = 200.0 * a;
    }
    d[x.len() - 1] = carry;
    s
}

/// ∂/∂aᵢₖ is the sum of row k of b, and ∂/∂bₖⱼ that of column k of a.
pub(crate) fn mmsum(x: &[f64], d: &mut [f64]) -> f64 {
    let s = super::functions::mmsum(x);
    let (a, b) = x.split_at(MM * MM);
    let (da, db) = d.split_at_mut(MM * MM);
    let mut rows = [0.0; MM];
    let mut columns = [0.0; MM];
    for k in 0..MM {
        rows[k] = b[k * MM..(k + 1) * MM].iter().sum();
        for i in 0..MM {
            columns[i] += a[k * MM + i];
        }
    }
    for k in 0..MM {
        da[k * MM..(k + 1) * MM].copy_from_slice(&rows);
        db[k * MM..(k + 1) * MM].fill(columns[k]);
    }
    s
}

pub(crate) fn mmsq(x: &[f64], d: &mut [f64]) -> f64 {
    let (a, b) = x.split_at(MM * MM);
    let (da, db) = d.split_at_mut(MM * MM);
    let mut c = [0.0; MM * MM];
    for i in 0..MM {
        for k in 0..MM {
            let av = a[i * MM + k];
            for j in 0..MM {
                c[i * MM + j] += av * b[k * MM + j];
            }
        }
    }
    let mut s = 0.0;
    for v in &mut c {
        s += *v * *v;
        *v *= 2.0;
    }
    db.fill(0.0);
    for i in 0..MM {
        let dc = &c[i * MM..(i + 1) * MM];
        for k in 0..MM {
            let (av, b) = (a[i * MM + k], &b[k * MM..(k + 1) * MM]);
            let db = &mut db[k * MM..(k + 1) * MM];
            for j in 0..MM {
                db[j] += av * dc[j];
            }
            let mut lanes = [0.0; 8];
            for (dc, b) in dc.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0) {
                for lane in 0..8 {
                    lanes[lane] += dc[lane] * b[lane];
                }
            }
            da[i * MM + k] = lanes.iter().sum();
        }
    }
    s
}

pub(crate) fn mlp(x: &[f64], m: usize, c: &[f64], d: &mut [f64]) -> f64 {
    let (w1, r) = x.split_at(M_H * M_IN);
    let (b1, r) = r.split_at(M_H);
    let (w2, r) = r.split_at(M_H * M_H);
    let (b2, r) = r.split_at(M_H);
    let (w3, b3) = r.split_at(M_H);
    d.fill(0.0);
    let (dw1, r) = d.split_at_mut(M_H * M_IN);
    let (db1, r) = r.split_at_mut(M_H);
    let (dw2, r) = r.split_at_mut(M_H * M_H);
    let (db2, r) = r.split_at_mut(M_H);
    let (dw3, db3) = r.split_at_mut(M_H);
    let mut loss = 0.0;
    for s in 0..m {
        let inp = &c[s * (M_IN + 1)..(s + 1) * (M_IN + 1)];
        let (mut h1, mut h2) = ([0.0; M_H], [0.0; M_H]);
        for i in 0..M_H {
            let row = &w1[i * M_IN..(i + 1) * M_IN];
            h1[i] = row.iter().zip(inp).fold(b1[i], |a, (w, x)| a + w * x).tanh();
        }
        for i in 0..M_H {
            let row = &w2[i * M_H..(i + 1) * M_H];
            h2[i] = row.iter().zip(&h1).fold(b2[i], |a, (w, h)| a + w * h).tanh();
        }
        let e = w3.iter().zip(&h2).fold(b3[0], |a, (w, h)| a + w * h) - inp[M_IN];
        loss += 0.5 * e * e;
        db3[0] += e;
        let mut dh1 = [0.0; M_H];
        for i in 0..M_H {
            dw3[i] += e * h2[i];
            let da = e * w3[i] * (1.0 - h2[i] * h2[i]);
            db2[i] += da;
            let (w, dw) = (&w2[i * M_H..(i + 1) * M_H], &mut dw2[i * M_H..(i + 1) * M_H]);
            for j in 0..M_H {
                dw[j] += da * h1[j];
                dh1[j] += da * w[j];
            }
        }
        for i in 0..M_H {
            let da = dh1[i] * (1.0 - h1[i] * h1[i]);
            db1[i] += da;
            for (dw, x) in dw1[i * M_IN..(i + 1) * M_IN].iter_mut().zip(inp) {
                *dw += da * x;
            }
        }
    }
    loss
}

pub(crate) fn gmm(x: &[f64], n: usize, c: &[f64], dx: &mut [f64]) -> f64 {
    let (al, r) = x.split_at(GK);
    let (mu, icf) = r.split_at(GK * GD);
    let (gamma, m) = (c[0], c[1]);
    let xs = &c[3..];
    dx.fill(0.0);
    let (dal, r) = dx.split_at_mut(GK);
    let (dmu, dicf) = r.split_at_mut(GK * GD);
    let (mut qd, mut sq) = ([0.0; GK * GD], [0.0; GK]);
    for k in 0..GK {
        for d in 0..GD {
            let q = icf[k * GI + d];
            sq[k] += q;
            qd[k * GD + d] = q.exp();
        }
    }
    let (mut dqd, mut dsq) = ([0.0; GK * GD], [0.0; GK]);
    let (mut xc, mut qx) = ([[0.0; GD]; GK], [[0.0; GD]; GK]);
    let mut slse = 0.0;
    for p in 0..n {
        let point = &xs[p * GD..(p + 1) * GD];
        let mut mt = [0.0; GK];
        for k in 0..GK {
            let (xc, qx) = (&mut xc[k], &mut qx[k]);
            for d in 0..GD {
                xc[d] = point[d] - mu[k * GD + d];
                qx[d] = qd[k * GD + d] * xc[d];
            }
            let mut l = k * GI + GD;
            for i in 0..GD {
                for j in i + 1..GD {
                    qx[j] += icf[l] * xc[i];
                    l += 1;
                }
            }
            mt[k] = al[k] + sq[k] - 0.5 * qx.iter().map(|q| q * q).sum::<f64>();
        }
        let mx = mt.iter().copied().fold(mt[0], f64::max);
        let mut se = 0.0;
        for t in &mut mt {
            *t = (*t - mx).exp();
            se += *t;
        }
        slse += se.ln() + mx;
        for k in 0..GK {
            let w = mt[k] / se;
            dal[k] += w;
            dsq[k] += w;
            let (xc, qx) = (&xc[k], &qx[k]);
            let mut dqx = [0.0; GD];
            let mut dxc = [0.0; GD];
            for d in 0..GD {
                dqx[d] = -w * qx[d];
                dqd[k * GD + d] += dqx[d] * xc[d];
                dxc[d] = dqx[d] * qd[k * GD + d];
            }
            let mut l = k * GI + GD;
            for i in 0..GD {
                for j in i + 1..GD {
                    dicf[l] += dqx[j] * xc[i];
                    dxc[i] += dqx[j] * icf[l];
                    l += 1;
                }
            }
            for d in 0..GD {
                dmu[k * GD + d] -= dxc[d];
            }
        }
    }
    let amx = al.iter().copied().fold(al[0], f64::max);
    let ase: f64 = al.iter().map(|a| (a - amx).exp()).sum();
    let mut pr = 0.0;
    for k in 0..GK {
        dal[k] -= n as f64 * (al[k] - amx).exp() / ase;
        let mut fro = 0.0;
        for d in 0..GD {
            let q = qd[k * GD + d];
            fro += q * q;
            dicf[k * GI + d] = (dqd[k * GD + d] + gamma * gamma * q) * q + dsq[k] - m;
        }
        for l in GD..GI {
            let v = icf[k * GI + l];
            fro += v * v;
            dicf[k * GI + l] += gamma * gamma * v;
        }
        pr += 0.5 * gamma * gamma * fro - m * sq[k];
    }
    c[2] + slse - n as f64 * (ase.ln() + amx) + pr
}

pub(crate) fn bruss(x: &[f64], n: usize, dt: f64, kept: &mut [[f64; 2]], d: &mut [f64]) -> f64 {
    let (a, b, mut u, mut v) = (x[0], x[1], x[2], x[3]);
    for kept in &mut kept[..n] {
        *kept = [u, v];
        let uuv = u * u * v;
        let du = a + uuv - (b + 1.0) * u;
        let dv = b * u - uuv;
        u += dt * du;
        v += dt * dv;
    }
    let (mut gu, mut gv, mut ga, mut gb) = (2.0 * u, 2.0 * v, 0.0, 0.0);
    for &[x, y] in kept[..n].iter().rev() {
        let (du, dv) = (dt * gu, dt * gv);
        let duuv = du - dv;
        ga += du;
        gb += (dv - du) * x;
        gu += (dv - du) * b - du + duuv * 2.0 * x * y;
        gv += duuv * x * x;
    }
    d.copy_from_slice(&[ga, gb, gu, gv]);
    u * u + v * v
}

pub(crate) fn lvrk4(x: &[f64], n: usize, h: f64, kept: &mut [[f64; 2]], grad: &mut [f64]) -> f64 {
    let (a, b, g, d, mut p, mut q) = (x[0], x[1], x[2], x[3], x[4], x[5]);
    let slope = |p: f64, q: f64| (a * p - b * p * q, d * p * q - g * q);
    for kept in &mut kept[..n] {
        *kept = [p, q];
        let (k1p, k1q) = slope(p, q);
        let (k2p, k2q) = slope(p + 0.5 * h * k1p, q + 0.5 * h * k1q);
        let (k3p, k3q) = slope(p + 0.5 * h * k2p, q + 0.5 * h * k2q);
        let (k4p, k4q) = slope(p + h * k3p, q + h * k3q);
        p += (h / 6.0) * (k1p + 2.0 * k2p + 2.0 * k3p + k4p);
        q += (h / 6.0) * (k1q + 2.0 * k2q + 2.0 * k3q + k4q);
    }
    let (mut dp, mut dq) = (2.0 * p, 2.0 * q);
    let mut sums = [0.0; 4];
    for &[p, q] in kept[..n].iter().rev() {
        let (k1p, k1q) = slope(p, q);
        let (p2, q2) = (p + 0.5 * h * k1p, q + 0.5 * h * k1q);
        let (k2p, k2q) = slope(p2, q2);
        let (p3, q3) = (p + 0.5 * h * k2p, q + 0.5 * h * k2q);
        let (k3p, k3q) = slope(p3, q3);
        let (p4, q4) = (p + h * k3p, q + h * k3q);
        let mut back = |p: f64, q: f64, dkp: f64, dkq: f64| {
            let (pq, difference) = (p * q, d * dkq - b * dkp);
            sums[0] += dkp * p;
            sums[1] -= dkp * pq;
            sums[2] -= dkq * q;
            sums[3] += dkq * pq;
            (a * dkp + q * difference, p * difference - g * dkq)
        };
        let (sp, sq) = (h / 6.0 * dp, h / 6.0 * dq);
        let (d4p, d4q) = back(p4, q4, sp, sq);
        let (d3p, d3q) = back(p3, q3, 2.0 * sp + h * d4p, 2.0 * sq + h * d4q);
        let (d2p, d2q) = back(p2, q2, 2.0 * sp + 0.5 * h * d3p, 2.0 * sq + 0.5 * h * d3q);
        let (d1p, d1q) = back(p, q, sp + 0.5 * h * d2p, sq + 0.5 * h * d2q);
        dp += d1p + d2p + d3p + d4p;
        dq += d1q + d2q + d3q + d4q;
    }
    grad.copy_from_slice(&[sums[0], sums[1], sums[2], sums[3], dp, dq]);
    p * p + q * q
}

pub(crate) fn lse(x: &[f64], d: &mut [f64]) -> f64 {
    let mut m = x[0];
    for &v in &x[1..] {
        if v > m {
            m = v;
        }
    }
    let mut s = 0.0;
    for (x, d) in x.iter().zip(&mut *d) {
        *d = (x - m).exp();
        s += *d;
    }
    let inverse = 1.0 / s;
    for d in d {
        *d *= inverse;
    }
    m + s.ln()
}

pub(crate) fn gp(x: &[f64], c: &[f64], d: &mut [f64]) -> f64 {
    let (xs, y) = c.split_at(GPN * GPD);
    let (s2, sn2) = ((2.0 * x[0]).exp(), (2.0 * x[4]).exp());
    let il2: [f64; GPD] = std::array::from_fn(|d| (-2.0 * x[1 + d]).exp());
    let mut covariance = [0.0; GPN * GPN];
    let (mut l, mut z) = ([0.0; GPN * GPN], [0.0; GPN]);
    for i in 0..GPN {
        for j in 0..=i {
            let mut r = 0.0;
            for d in 0..GPD {
                let df = xs[i * GPD + d] - xs[j * GPD + d];
                r += (df * df) * il2[d];
            }
            covariance[i * GPN + j] = s2 * (-0.5 * r).exp();
            l[i * GPN + j] = covariance[i * GPN + j];
        }
        l[i * GPN + i] += sn2;
    }
    let mut f = 0.0;
    for i in 0..GPN {
        let (above, row) = l.split_at_mut(i * GPN);
        for j in 0..i {
            let other = &above[j * GPN..j * GPN + j];
            let s = other.iter().zip(&*row).fold(row[j], |s, (a, b)| s - a * b);
            row[j] = s / above[j * GPN + j];
        }
        row[i] = row[..i].iter().fold(row[i], |s, a| s - a * a).sqrt();
        z[i] = row[..i].iter().zip(&z).fold(y[i], |s, (l, z)| s - l * z) / row[i];
        f = f - 0.5 * z[i] * z[i] - row[i].ln();
    }
    // Backward: z = L⁻¹y, then the decomposition, row by row.
    let mut dl = [0.0; GPN * GPN];
    let mut dz: [f64; GPN] = std::array::from_fn(|i| -z[i]);
    for i in (0..GPN).rev() {
        let inverse = 1.0 / l[i * GPN + i];
        let e = dz[i] * inverse;
        dl[i * GPN + i] -= e * z[i] + inverse;
        for k in 0..i {
            dl[i * GPN + k] -= e * z[k];
            dz[k] -= e * l[i * GPN + k];
        }
    }
    for i in (0..GPN).rev() {
        let (dabove, drow) = dl.split_at_mut(i * GPN);
        let row = &l[i * GPN..i * GPN + i + 1];
        let e = 0.5 * drow[i] / row[i];
        drow[i] = e;
        for k in 0..i {
            drow[k] -= 2.0 * e * row[k];
        }
        for j in (0..i).rev() {
            let inverse = 1.0 / l[j * GPN + j];
            let e = drow[j] * inverse;
            drow[j] = e;
            let (other, dother) = (&l[j * GPN..j * GPN + j], &mut dabove[j * GPN..j * GPN + j + 1]);
            dother[j] -= e * row[j];
            for k in 0..j {
                drow[k] -= e * other[k];
                dother[k] -= e * row[k];
            }
        }
    }
    d.fill(0.0);
    for i in 0..GPN {
        for j in 0..=i {
            let e = dl[i * GPN + j];
            if i == j {
                d[4] += 2.0 * sn2 * e;
            }
            let e = e * covariance[i * GPN + j];
            d[0] += 2.0 * e;
            for k in 0..GPD {
                let df = xs[i * GPD + k] - xs[j * GPD + k];
                d[1 + k] += e * df * df * il2[k];
            }
        }
    }
    f - 0.5 * GPN as f64 * 1.837_877_066_409_345_5
}

/// The residual, and the two rows of its Jacobian: camera, point, weight.
pub(crate) fn observation(
    cam: &[f64; 11],
    x: &[f64; 3],
    w: f64,
    feat: &[f64; 2],
) -> ([f64; 2], [[f64; 15]; 2]) {
    let d = [x[0] - cam[3], x[1] - cam[4], x[2] - cam[5]];
    let angle = (cam[0] * cam[0] + cam[1] * cam[1] + cam[2] * cam[2]).sqrt();
    let (sin, cos) = angle.sin_cos();
    let inverse = 1.0 / angle;
    let r = [cam[0] * inverse, cam[1] * inverse, cam[2] * inverse];
    let c = [r[1] * d[2] - r[2] * d[1], r[2] * d[0] - r[0] * d[2], r[0] * d[1] - r[1] * d[0]];
    let dot = r[0] * d[0] + r[1] * d[1] + r[2] * d[2];
    let along = dot * (1.0 - cos);
    let p: [f64; 3] = std::array::from_fn(|i| d[i] * cos + c[i] * sin + r[i] * along);
    let depth = 1.0 / p[2];
    let (u, v) = (p[0] * depth, p[1] * depth);
    let n = u * u + v * v;
    let radial = 1.0 + cam[9] * n + cam[10] * n * n;
    let scale = cam[6] * radial;
    let error = [scale * u + cam[7] - feat[0], scale * v + cam[8] - feat[1]];
    let bend = 2.0 * cam[6] * (cam[9] + 2.0 * cam[10] * n);
    let rows = [0, 1].map(|row| {
        let (du, dv, own) = match row {
            0 => (scale + bend * u * u, bend * u * v, u),
            _ => (bend * v * u, scale + bend * v * v, v),
        };
        let dp = [w * du * depth, w * dv * depth, -w * (du * u + dv * v) * depth];
        // p = d·cos + (r × d)·sin + r·(r·d)·(1 − cos)
        let along_p = dp[0] * r[0] + dp[1] * r[1] + dp[2] * r[2];
        let cross = [dp[1] * r[2] - dp[2] * r[1], dp[2] * r[0] - dp[0] * r[2], dp[0] * r[1] - dp[1] * r[0]];
        let dx: [f64; 3] =
            std::array::from_fn(|i| dp[i] * cos + cross[i] * sin + along_p * (1.0 - cos) * r[i]);
        let dr: [f64; 3] = std::array::from_fn(|i| {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            (d[j] * dp[k] - d[k] * dp[j]) * sin + (along_p * d[i] + dot * dp[i]) * (1.0 - cos)
        });
        let dangle: f64 = (0..3).map(|i| dp[i] * (c[i] * cos - d[i] * sin + r[i] * dot * sin)).sum();
        let radially = dr[0] * r[0] + dr[1] * r[1] + dr[2] * r[2];
        let mut out = [0.0; 15];
        for i in 0..3 {
            out[i] = (dr[i] - radially * r[i]) * inverse + dangle * r[i];
            out[3 + i] = -dx[i];
            out[11 + i] = dx[i];
        }
        out[6] = w * radial * own;
        out[7 + row] = w;
        out[9] = w * cam[6] * n * own;
        out[10] = w * cam[6] * n * n * own;
        out[14] = error[row];
        out
    });
    ([w * error[0], w * error[1]], rows)
}
