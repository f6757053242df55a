//! Random programs.
#![allow(unused, clippy::all)]
use pullback::prelude::*;
use pullback::testing::*;
#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[derive(Clone, Copy, Differentiable)]
struct S { p: f64, q: f64 }

#[differentiable]
fn h1(p: f64, q: f64) -> f64 { (p * 0.5).sin() * q + (q - p).tanh() }
#[differentiable]
fn h2(w: &[f64], q: f64) -> f64 { let mut t = q; for i in 0..w.len() { t += (w[i] * t).sin() * 0.3; } t }
#[differentiable]
fn h3(w: &mut [f64], q: f64) { for i in 1..w.len() { w[i] += (w[i - 1] * q).sin(); } }
#[differentiable]
fn h4(w: &mut [f64], q: f64) -> f64 { w[0] *= 0.5 + q.sin(); w[1] = w[0] * q; w[0].tanh() }

#[differentiable]
fn f0(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    let mut w1 = [y[0]; 3];
    let w2 = x.to_vec();
    w1.iter_mut().for_each(|e| *e *= 1.5_f64 + 0.1);
    w1[3 - 1] = (x.iter().zip(x).map(|(p, q)| p * q).sum::<f64>() + (m0 - w2[n - 1]));
    m0 /= 1.5 + (a).sin();
    if x[0] < x[n - 1] {
        let mut v3 = ((m0).tanh() * w1[3 - 1] - h1(0.25_f64, b));
        w1[0] = (if b > 1.5_f64 { a / (1.0 + a * a) } else { 0.3_f64 * 0.5_f64 });
    } else {
        m0 += 1.0_f64;
    }
    (m0).powi(3) + a.sin() + b.sin() + m0.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + w1[0] * 0.3 + w1.iter().sum::<f64>() + w2[0] * 0.3 + w2.iter().sum::<f64>() + m0
}

#[test]
fn t0() {
    CheckRule::new(f0::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f1(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    let mut v1 = (y[0]).cos();
    let mut w2 = vec![y[n - 1]; n];
    let w3 = [a; 3];
    let v4 = match n % 3 {
        0 => w2[0],
        1 => x[0] / (1.0 + x[0] * x[0]) * (0.3_f64 - y[0]),
        _ => y[1],
    };
    let v5 = x[1];
    v1 = ((m0).powi(2)).abs();
    w2.fill(v4);
    (-a * a).exp() * (a).powi(3) + a.sin() + b.sin() + m0.sin() + v1.sin() + v4.sin() + v5.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + w2[0] * 0.3 + w2.iter().sum::<f64>() + w3[0] * 0.3 + w3.iter().sum::<f64>() + m0
}

#[test]
fn t1() {
    CheckRule::new(f1::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f2(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    let t1 = ((m0).cos() * (a - a), (((-0.5_f64)).powi(3) - (0.75_f64 - y[1])));
    for i2 in 0..=2 {
        let v3 = std::mem::replace(&mut m0, (t1.0).powi(2));
        y.swap(0, (i2 * 2 + 1) % n);
        if n > 2 {
            let mut v4 = (-1.0_f64 * 1.0_f64).exp() * v3;
            for (i, e) in y.iter_mut().enumerate() {
                *e += (a).sin() * (i as f64);
            }
            y[1] *= 0.9 + 0.1 * (v4).cos();
            break;
        }
    }
    m0 /= 1.5 + (0.3_f64).cos();
    let mut m0 = ((a + b) + (b).abs());
    (m0).powi(3) + a.sin() + b.sin() + m0.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + m0
}

#[test]
fn t2() {
    CheckRule::new(f2::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f5(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    for i1 in 0..=2 {
        let g2 = |z: f64| x.iter().map(|e| e * (i1 as f64 * 0.1)).sum::<f64>();
    }
    let v3 = a;
    let mut v4 = (if b > 1.0_f64 { x[n - 1] } else { 0.25_f64 }) * (-0.5_f64);
    if a > 0.75_f64 {
        m0 /= 1.5 + (-b * b).exp();
        y[n - 1] -= (m0).tanh();
    }
    for i5 in (0..n).step_by(2) {
        #[pullback(store)]
        for i6 in 0..n {
            m0 /= 1.5 + (a * 1.5_f64).sin();
        }
        y[(i5 + 1) % n] += ((-0.5_f64)).max(y[i5 % n]) * 0.5;
        y.swap(n - 1, i5 % n);
        let v3 = (if b < (i5 as f64 * 0.1) { (i5 as f64 * 0.1) } else { (x[(i5 * 2 + 1) % n]).sin() * a });
    }
    y[n - 1] += (0.25_f64).cos() * (v3 * 1.0_f64).sin() * 0.5;
    if n > 2 {
        let (v7, v8) = (a, (0.5_f64).cos() * (x[1] - b));
        let v9 = match n % 3 {
            0 => a,
            1 => (b).powi(3),
            _ => (m0).powi(2),
        };
        return ((y[1] * (-0.5_f64)).sin() - (a * 0.5_f64).sin());
    }
    if m0 > 0.25_f64 {
        v4 += 0.3_f64;
    }
    b + a.sin() + b.sin() + m0.sin() + v3.sin() + v4.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + m0
}

#[test]
fn t5() {
    CheckRule::new(f5::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f6(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    if m0 > 0.5_f64 {
        if n > 2 {
            y.swap(n - 1, 0);
        } else {
            let mut v1 = m0;
            y.reverse();
        }
        m0 = ((y[1] + a) + x.iter().map(|e| e * 0.5_f64).sum::<f64>());
        let w2 = [0.0; 4];
        let v3 = match n % 3 {
            0 => y.iter().zip(x).map(|(p, q)| p * q).sum::<f64>(),
            1 => ((a).powi(2)).max(h2(&y, b)),
            _ => (h2(&x, m0) - w2[4 - 1]),
        };
    }
    m0 -= (-a * a).exp();
    let w4 = [b; 3];
    y[n - 1] *= 0.9 + 0.1 * a / (1.0 + a * a);
    let mut i5 = 0;
    while i5 < 3 && m0 < 5.0 {
        if i5 % 3 == 1 && (i5 as f64 * 0.1) > 0.1 {
            let mut v6 = x.iter().sum::<f64>();
        } else {
            m0 += 1.5_f64;
        }
        i5 += 1;
    }
    h1(y[1] * 0.75_f64, w4[3 - 1]) + a.sin() + b.sin() + m0.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + w4[0] * 0.3 + w4.iter().sum::<f64>() + m0
}

#[test]
fn t6() {
    CheckRule::new(f6::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f7(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    y.swap(n - 1, 1);
    for e in y.iter_mut() {
        *e = (0.5_f64).tanh() + *e * 0.5;
    }
    m0 *= 0.9 + 0.1 * x[n - 1] / (1.0 + x[n - 1] * x[n - 1]);
    let v1 = match n % 3 {
        0 => (h2(&x, 0.3_f64) - (m0).powi(2)),
        1 => h1((0.75_f64).tanh() * x[0], a),
        _ => ((a).tanh() * 1.0_f64 - (b - b)),
    };
    m0 = y[1] / (1.0 + y[1] * y[1]);
    y[0] *= 0.9 + 0.1 * x[1] / (1.0 + x[1] * x[1]);
    let (v2, v3) = ((a).powi(3), h1((v1).tanh(), v1));
    m0 *= 0.9 + 0.1 * (0.25_f64 * 0.75_f64).sin();
    m0 -= (m0 * 0.75_f64).sin();
    let mut w4 = x.to_vec();
    m0 -= ((-0.5_f64) * 0.75_f64).sin();
    m0 -= (-0.5_f64 * 0.5_f64).exp();
    w4[n - 1] -= (b).sin();
    let v5 = match n % 3 {
        0 => ((1.0_f64 - m0) + (v3 * 0.3_f64).sin() * m0),
        1 => (w4.iter().fold(0.0, |t, e| t * 0.5 + e * 0.5_f64) - 1.0_f64),
        _ => (b / (1.0 + b * b) * m0 - w4.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
    };
    w4[1] *= 0.9 + 0.1 * (-0.25_f64 * 0.25_f64).exp();
    m0 /= 1.5 + (-v1 * v1).exp();
    1.5_f64 + a.sin() + b.sin() + m0.sin() + v1.sin() + v2.sin() + v3.sin() + v5.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + w4[0] * 0.3 + w4.iter().sum::<f64>() + m0
}

#[test]
fn t7() {
    CheckRule::new(f7::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f8(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    let v1 = std::mem::replace(&mut m0, ((x[n - 1] + b)).abs());
    y[n - 1] += h1(1.0_f64 / (1.0 + 1.0_f64 * 1.0_f64) * y[n - 1], y[n - 1]) * 0.5;
    y.iter_mut().for_each(|e| *e *= 1.5_f64 + 0.1);
    let mut v2 = a;
    v2 = v1;
    if n > 2 {
        y[0] += h1((v2).tanh() * b, v2) * 0.5;
    } else {
        let mut i3 = 0;
        while i3 < 3 && b < 5.0 {
            y.swap(n - 1, (i3 * 2 + 1) % n);
            i3 += 1;
        }
    }
    let t4 = ((v1).powi(3), (if n > 2 { v2 * (-0.5_f64) } else { h1(x[1], b) }));
    y[0] -= (a).tanh();
    y.swap(n - 1, 0);
    let t5 = (((1.0_f64 * 0.3_f64).sin() * t4.1 - (if 1.0_f64 < t4.0 { a } else { a })), ((y[n - 1]).cos()).abs());
    m0 += (h1(0.5_f64, a) + h1(m0, x[0])) * 0.5;
    if m0 < m0 {
        v2 /= 1.5 + (t4.0 * 0.5_f64).sin();
        m0 += v1 * 0.5;
        for i6 in (0..n).step_by(2) {
            m0 += 1.0_f64;
        }
    }
    (t5.1 - h1(v2, 0.75_f64)) + a.sin() + b.sin() + m0.sin() + v1.sin() + v2.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + m0
}

#[test]
fn t8() {
    CheckRule::new(f8::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f9(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    y.swap(1, 0);
    y.rotate_left(1);
    y[n - 1] -= b / (1.0 + b * b);
    if a > 1.0_f64 {
        if m0 > 0.75_f64 {
            y[0] -= (m0).sin();
            let mut i1 = 0;
            while i1 < 3 && a < 5.0 {
                let v2 = std::mem::replace(&mut m0, ((i1 as f64 * 0.1)).powi(2));
                m0 += 0.5;
                m0 += 0.5;
                i1 += 1;
            }
            let v3 = h1(h1(m0, y[1]), 0.25_f64);
            return y[0];
        }
    } else {
        if a < m0 {
            m0 *= 0.9 + 0.1 * (m0).sin();
            return ((y[0]).tanh() * 1.0_f64).min((a - m0));
        }
        m0 = x[1];
        let mut w4 = vec![a; n];
        let mut w5 = [0.5_f64; 3];
    }
    let g6 = |z: f64| h1((-a * a).exp() * a, x[1]);
    a + a.sin() + b.sin() + m0.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + m0
}

#[test]
fn t9() {
    CheckRule::new(f9::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f10(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    y.reverse();
    for i1 in (0..n).rev() {
        m0 /= 1.5 + a / (1.0 + a * a);
        let v2 = match i1 % 3 {
            0 => a,
            1 => h2(&y, b),
            _ => (((i1 as f64 * 0.1)).tanh() + ((i1 as f64 * 0.1) - y[1])),
        };
        y[(i1 * 2 + 1) % n] += x.iter().enumerate().filter(|(i, _)| i % 2 == 0).map(|(_, e)| e.sin()).sum::<f64>() * 0.5;
    }
    let v3 = std::mem::replace(&mut m0, (y[n - 1]).tanh());
    if y[n - 1] > 0.75_f64 {
        let v3 = (-v3 * v3).exp() * (m0).powi(3);
        y.fill(v3);
        let mut v4 = (m0 * 1.5_f64).max((y[0]).min(m0));
        return (a).cos() * h2(&x, 1.0_f64);
    }
    y.swap(0, 0);
    y[n - 1] *= 0.9 + 0.1 * (-a * a).exp();
    let v5 = std::mem::replace(&mut m0, (v3).powi(3));
    y[0] += ((v5 - a) + 1.0_f64 * 1.0_f64) * 0.5;
    m0 -= (-y[0] * y[0]).exp();
    let mut v6 = a;
    let v7 = x[1];
    let mut v8 = x.iter().zip(x).map(|(p, q)| p * q).sum::<f64>();
    (m0).tanh() * v3 + a.sin() + b.sin() + m0.sin() + v3.sin() + v5.sin() + v6.sin() + v7.sin() + v8.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + m0
}

#[test]
fn t10() {
    CheckRule::new(f10::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f11(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    y.rotate_left(1);
    #[pullback(recompute)]
    for i1 in 0..n {
        y[(i1 * 2 + 1) % n] *= 0.9 + 0.1 * ((i1 as f64 * 0.1)).cos();
        let mut v2 = (x[(i1 + 1) % n]).powi(3);
        m0 -= ((i1 as f64 * 0.1)).sin();
        y.swap(0, n - 1);
    }
    if a > 0.75_f64 {
        y[n - 1] *= 0.9 + 0.1 * (a).tanh();
        if a < m0 {
            let mut i3 = 0;
            let v4 = loop {
                y[i3 % n] = ((i3 as f64 * 0.1)).sin() * ((i3 as f64 * 0.1)).sin();
                m0 /= 1.5 + (-0.3_f64 * 0.3_f64).exp();
                i3 += 1;
                if i3 > 2 || m0 > 3.0 {
                    break m0 / (1.0 + m0 * m0) * (b).powi(2);
                }
            };
            for i5 in 1..n {
                m0 += 0.5_f64;
            }
        }
    } else {
        m0 += 0.25_f64;
    }
    y.iter().fold(0.0, |t, e| t * 0.5 + e * 1.0_f64) + a.sin() + b.sin() + m0.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + m0
}

#[test]
fn t11() {
    CheckRule::new(f11::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f12(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    let v1 = std::mem::replace(&mut m0, (-x[1] * x[1]).exp() * 1.5_f64);
    m0 /= 1.5 + (0.3_f64 * 0.25_f64).sin();
    y[1] *= 0.9 + 0.1 * (b * 0.3_f64).sin();
    let mut v2 = ((y[n - 1]).sin()).max(m0 * 0.5_f64);
    let v3 = std::mem::replace(&mut m0, (b).sin());
    y[0] -= (b).tanh();
    v2 /= 1.5 + (a).tanh();
    let v4 = match n % 3 {
        0 => v1,
        1 => (y[0] * 0.25_f64 - (if n > 2 { v3 } else { v1 })),
        _ => (h1(v2, 0.25_f64) + (v1 - m0)),
    };
    let g5 = |z: f64| (h2(&x, b) - (z).min(v1));
    m0 = v4;
    std::mem::swap(&mut m0, &mut v2);
    y[n - 1] = ((v2 - m0) - (v3).powi(2));
    y.swap(1, 1);
    v2 -= (0.75_f64).cos();
    v2 -= (v3).cos();
    std::mem::swap(&mut m0, &mut v2);
    let mut w6 = [a; 4];
    (if y[0] > 0.3_f64 { v4 / (1.0 + v4 * v4) } else { (x[n - 1]).powi(2) }) + a.sin() + b.sin() + m0.sin() + v1.sin() + v2.sin() + v3.sin() + v4.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + w6[0] * 0.3 + w6.iter().sum::<f64>() + m0
}

#[test]
fn t12() {
    CheckRule::new(f12::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f13(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    if m0 < 0.5_f64 {
        y.swap(1, 0);
    } else {
        if 0.25_f64 > 0.3_f64 {
            let (v1, v2) = (((y[1] - m0) + (if n > 2 { m0 } else { x[n - 1] })), ((a).abs() + (-y[0] * y[0]).exp()));
        } else {
            if m0 > (-0.5_f64) {
                let mut v3 = ((b - y[0]) + (a * (-0.5_f64)).sin() * y[0]);
            }
        }
    }
    h2(&x, m0) + a.sin() + b.sin() + m0.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + m0
}

#[test]
fn t13() {
    CheckRule::new(f13::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f14(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    for i1 in (0..n).rev() {
        let t2 = (((y[n - 1]).tanh() - (m0).cos()), (x[0]).powi(2));
    }
    let v3 = std::mem::replace(&mut m0, (0.25_f64).cos() * (a - b));
    let (v4, v5) = (h1(0.3_f64, (-0.5_f64)), h2(&y, v3));
    if n > 2 {
        y.fill(x[n - 1]);
    } else {
        m0 -= (v3 * (-0.5_f64)).sin();
        #[pullback(recompute)]
        for i6 in (0..n).step_by(2) {
            let mut v7 = (v4 * 1.0_f64).sin() * h1(b, v3);
            y[n - 1] += h2(&y, v3) * 0.5;
            let mut v8 = (if i6 % 3 == 1 && b > 0.1 { (x[0] + (i6 as f64 * 0.1)) } else { (m0 - v7) });
        }
        #[pullback(checkpoint = 2)]
        for i9 in 0..3 {
            m0 *= 0.9 + 0.1 * (b).tanh();
            if i9 > 1 {
                m0 += (-0.5_f64);
            } else {
                m0 += 0.75_f64;
            }
        }
    }
    ((b).sin() + (if n > 2 { v5 } else { x[0] })) + a.sin() + b.sin() + m0.sin() + v3.sin() + v4.sin() + v5.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + m0
}

#[test]
fn t14() {
    CheckRule::new(f14::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f15(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    let g1 = |z: f64| (b).tanh();
    let mut i2 = 0;
    while i2 < 3 && a < 5.0 {
        y[i2 % n] = h1(((i2 as f64 * 0.1)).abs(), (i2 as f64 * 0.1));
        i2 += 1;
    }
    let mut i3 = 0;
    while i3 < 3 && m0 < 5.0 {
        for i4 in (0..n).rev() {
            let v5 = std::mem::replace(&mut m0, a);
        }
        i3 += 1;
    }
    (m0 + y.windows(2).map(|w| w[0] * w[1]).sum::<f64>()) + a.sin() + b.sin() + m0.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + m0
}

#[test]
fn t15() {
    CheckRule::new(f15::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f16(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    y[1] = a / (1.0 + a * a);
    let mut i1 = 0;
    while i1 < 3 && m0 < 5.0 {
        let v2 = match i1 % 3 {
            0 => ((i1 as f64 * 0.1)).sin() * (m0).max((i1 as f64 * 0.1)),
            1 => a,
            _ => h2(&y, (i1 as f64 * 0.1)),
        };
        if i1 > 1 {
            m0 -= (-0.25_f64 * 0.25_f64).exp();
            if i1 > 1 {
                m0 += 0.5;
                m0 *= 0.9 + 0.1 * (-(i1 as f64 * 0.1) * (i1 as f64 * 0.1)).exp();
            }
        } else {
            m0 += 1.5_f64;
        }
        i1 += 1;
    }
    x.iter().map(|e| e * m0).sum::<f64>() + a.sin() + b.sin() + m0.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + m0
}

#[test]
fn t16() {
    CheckRule::new(f16::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f17(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    y.fill(m0);
    let (v1, v2) = (y[0], ((b).powi(2) - (if a > 0.5_f64 { a } else { m0 })));
    let w3 = x.to_vec();
    y.fill(b);
    let w4 = [0.0; 3];
    if v2 < m0 {
        y.reverse();
        m0 += h1(a, m0) * 0.5;
        for i5 in 0..=2 {
            let mut i6 = 0;
            let v7 = loop {
                m0 += 0.5_f64;
                i6 += 1;
                if i6 > 2 || m0 > 3.0 {
                    break (v2 * 0.75_f64 + m0 * 0.25_f64);
                }
            };
        }
    } else {
        m0 += 0.3_f64;
    }
    (v2).abs() + a.sin() + b.sin() + m0.sin() + v1.sin() + v2.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + w3[0] * 0.3 + w3.iter().sum::<f64>() + w4[0] * 0.3 + w4.iter().sum::<f64>() + m0
}

#[test]
fn t17() {
    CheckRule::new(f17::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f18(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    m0 -= x[1] / (1.0 + x[1] * x[1]);
    for i1 in 1..n {
        y.iter_mut().for_each(|e| *e *= 0.25_f64 + 0.1);
    }
    let t2 = (b, b);
    y.swap(0, n - 1);
    y[1] = (a).powi(3);
    m0 += h1(m0 / (1.0 + m0 * m0), a) * 0.5;
    if n > 2 {
        let (v3, v4) = (1.0_f64, (0.5_f64).cos() * a / (1.0 + a * a) * b);
        y.swap(n - 1, n - 1);
        y.reverse();
        m0 /= 1.5 + b / (1.0 + b * b);
        return (x[1]).sin();
    }
    h1((b).abs(), t2.1) + a.sin() + b.sin() + m0.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + m0
}

#[test]
fn t18() {
    CheckRule::new(f18::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f19(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    let mut m0 = (b - x[n - 1]);
    if b < m0 {
        for (e, q) in y.iter_mut().zip(x) {
            *e = *e * 0.5 + *q * 0.75_f64;
        }
        m0 += h1((a * 0.25_f64).sin(), a) * 0.5;
    } else {
        y.fill(1.0_f64);
        m0 += h1((a + x[0]), b) * 0.5;
    }
    if y[1] < a {
        let v1 = std::mem::replace(&mut m0, (-y[1] * y[1]).exp() * (1.5_f64).abs());
        #[pullback(recompute)]
        for i2 in 0..3 {
            let mut w3 = [a, x[1], x[(i2 + 1) % n], (i2 as f64 * 0.1)];
            if n > 2 {
                m0 += (-0.5_f64);
            } else {
                m0 += 1.0_f64;
            }
        }
    }
    (if 1.5_f64 < 1.5_f64 { (a).abs() } else { 0.5_f64 }) + a.sin() + b.sin() + m0.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + m0
}

#[test]
fn t19() {
    CheckRule::new(f19::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f20(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    m0 = (a * 0.75_f64).sin() * h1(a, a);
    let v1 = (-m0 * m0).exp();
    let mut v2 = m0;
    m0 = (b - (m0 + 0.3_f64));
    let mut v3 = ((b).tanh() * v2 - (0.25_f64 - v2));
    v2 /= 1.5 + (b).tanh();
    let t4 = S { p: (-b * b).exp() * m0 / (1.0 + m0 * m0) * v2, q: (y[0] - v2) * 0.5_f64 };
    let mut v5 = (h1((-0.5_f64), v1)).max(m0);
    y[n - 1] += x.iter().fold(0.0, |t, e| t * 0.5 + e * (-0.5_f64)) * 0.5;
    let g6 = |z: f64| (t4.p).powi(3);
    (g6(v3)).min(g6(b)) + a.sin() + b.sin() + m0.sin() + v1.sin() + v2.sin() + v3.sin() + v5.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + m0
}

#[test]
fn t20() {
    CheckRule::new(f20::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f21(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    let v1 = std::mem::replace(&mut m0, 0.3_f64);
    y[1] += h1(v1, y[1]) * 0.5;
    let (v2, v3) = ((0.75_f64 * 0.5_f64).sin() * m0, y.iter().enumerate().filter(|(i, _)| i % 2 == 0).map(|(_, e)| e.sin()).sum::<f64>());
    let g4 = |z: f64| (if n > 2 { z * 0.3_f64 } else { (-v3 * v3).exp() * z });
    let mut i5 = 0;
    let v8 = loop {
        let v6 = std::mem::replace(&mut m0, (((i5 as f64 * 0.1)).max((i5 as f64 * 0.1))).abs());
        let v7 = v3;
        i5 += 1;
        if i5 > 2 || m0 > 3.0 {
            break ((-m0 * m0).exp() - (a).max(v3));
        }
    };
    x.iter().zip(x).map(|(p, q)| p * q).sum::<f64>() + a.sin() + b.sin() + m0.sin() + v1.sin() + v2.sin() + v3.sin() + v8.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + m0
}

#[test]
fn t21() {
    CheckRule::new(f21::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f22(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    y[0] += h2(&x, a) * 0.5;
    let mut i1 = 0;
    let v4 = loop {
        let mut v2 = (x[(i1 + 1) % n]).sin() * h2(&y, (i1 as f64 * 0.1));
        y[(i1 + 1) % n] = (h2(&y, v2) + h2(&x, (i1 as f64 * 0.1)));
        let mut v3 = ((if (i1 as f64 * 0.1) < (i1 as f64 * 0.1) { a } else { m0 }) + (0.3_f64).max((i1 as f64 * 0.1)));
        i1 += 1;
        if i1 > 2 || m0 > 3.0 {
            break b;
        }
    };
    m0 += ((x[0] - y[1]) - b) * 0.5;
    m0 = (a - m0);
    if a > 0.75_f64 {
        let w5 = [b; 3];
    }
    for e in y.iter_mut() {
        *e = (v4).tanh() + *e * 0.5;
    }
    for (e, q) in y.iter_mut().zip(x) {
        *e = *e * 0.5 + *q * a;
    }
    let mut w6 = x.to_vec();
    (a).min(h2(&x, x[0])) + a.sin() + b.sin() + m0.sin() + v4.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + w6[0] * 0.3 + w6.iter().sum::<f64>() + m0
}

#[test]
fn t22() {
    CheckRule::new(f22::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f23(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    m0 *= 0.9 + 0.1 * (y[1] * 0.3_f64).sin();
    let mut v1 = (b).max((x[1] + b));
    if n > 2 {
        y.reverse();
        for i2 in 0..=2 {
            #[pullback(recompute)]
            for i3 in 0..=2 {
                v1 += 0.5;
            }
        }
    } else {
        m0 += 1.5_f64;
    }
    v1 + a.sin() + b.sin() + m0.sin() + v1.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + m0
}

#[test]
fn t23() {
    CheckRule::new(f23::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f24(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    let v1 = match n % 3 {
        0 => (if n > 2 { (x[0]).max(m0) } else { (b - x[1]) }),
        1 => h2(&x, a),
        _ => (-0.75_f64 * 0.75_f64).exp() * a,
    };
    let v2 = match n % 3 {
        0 => v1,
        1 => ((v1).cos()).abs(),
        _ => ((m0).powi(3) + (-0.3_f64 * 0.3_f64).exp() * 0.3_f64),
    };
    y[0] -= (v2).cos();
    m0 = a;
    let (v3, v4) = (((m0).powi(2) + (a).min(0.5_f64)), ((0.75_f64 - a) - x.iter().enumerate().filter(|(i, _)| i % 2 == 0).map(|(_, e)| e.sin()).sum::<f64>()));
    let mut w5 = [m0, b, v3];
    let mut v6 = (-a * a).exp();
    w5[0] = v4;
    w5.iter().enumerate().filter(|(i, _)| i % 2 == 0).map(|(_, e)| e.sin()).sum::<f64>() + a.sin() + b.sin() + m0.sin() + v1.sin() + v2.sin() + v3.sin() + v4.sin() + v6.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + w5[0] * 0.3 + w5.iter().sum::<f64>() + m0
}

#[test]
fn t24() {
    CheckRule::new(f24::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f25(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    y.swap(0, 0);
    y[1] = (x[n - 1] * 1.0_f64).sin() * (m0).powi(2);
    #[pullback(store)]
    for i1 in (0..n).step_by(2) {
        let g2 = |z: f64| (z).powi(3);
        m0 -= (b).cos();
        if x[(i1 + 1) % n] > 0.75_f64 {
            if i1 > 1 {
                y.swap(1, 0);
            }
            let (v3, v4) = (h1((y[0]).abs(), a), h1(m0 * 1.5_f64, (i1 as f64 * 0.1)));
            if i1 % 3 == 1 && a > 0.1 {
                let v5 = std::mem::replace(&mut m0, ((b - v3) + (0.5_f64).sin()));
                m0 += 0.5;
                m0 += (-x[(i1 + 1) % n] * x[(i1 + 1) % n]).exp() * (i1 as f64 * 0.1) / (1.0 + (i1 as f64 * 0.1) * (i1 as f64 * 0.1)) * v3 * 0.5;
            }
            m0 += h2(&x, (i1 as f64 * 0.1)) * 0.5;
        } else {
            m0 += 0.3_f64;
        }
    }
    (b + 1.0_f64) + a.sin() + b.sin() + m0.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + m0
}

#[test]
fn t25() {
    CheckRule::new(f25::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f27(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    let mut i1 = 0;
    let v3 = loop {
        let mut v2 = h1((i1 as f64 * 0.1), (i1 as f64 * 0.1));
        i1 += 1;
        if i1 > 2 || m0 > 3.0 {
            break (b).tanh();
        }
    };
    for i4 in 0..=2 {
        let g5 = |z: f64| (i4 as f64 * 0.1);
        if m0 < (i4 as f64 * 0.1) {
            if i4 > 1 {
                y[i4 % n] *= 0.9 + 0.1 * ((i4 as f64 * 0.1)).tanh();
                m0 += 0.5;
            } else {
                m0 += 0.5;
                y[i4 % n] += ((i4 as f64 * 0.1)).powi(3) * 0.5;
            }
        }
    }
    (m0 + (a * 0.75_f64).sin() * b) + a.sin() + b.sin() + m0.sin() + v3.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + m0
}

#[test]
fn t27() {
    CheckRule::new(f27::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f28(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    let (v1, v2) = (a, h1(b, 1.0_f64) * 0.3_f64);
    let g3 = |z: f64| a;
    let t4 = S { p: m0, q: x.iter().copied().fold(f64::NEG_INFINITY, f64::max) };
    for i5 in 0..3 {
        m0 *= 0.9 + 0.1 * (t4.q).sin();
        m0 += (a).tanh() * (-a * a).exp() * 0.5;
        m0 /= 1.5 + (a).tanh();
    }
    if n > 2 {
        m0 += (-0.5_f64);
    }
    ((y[n - 1] + x[1]) + v1) + a.sin() + b.sin() + m0.sin() + v1.sin() + v2.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + m0
}

#[test]
fn t28() {
    CheckRule::new(f28::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f29(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    y[0] += h1((x[0] * 1.0_f64).sin() * m0, 0.5_f64) * 0.5;
    for (e, q) in y.iter_mut().zip(x) {
        *e = *e * 0.5 + *q * b;
    }
    m0 -= (0.5_f64).sin();
    if (-0.5_f64) > 0.5_f64 {
        y[0] *= 0.9 + 0.1 * (-m0 * m0).exp();
        y.reverse();
    } else {
        m0 += (-0.5_f64);
    }
    (a).cos() + a.sin() + b.sin() + m0.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + m0
}

#[test]
fn t29() {
    CheckRule::new(f29::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f30(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    if n > 2 {
        #[pullback(checkpoint = 2)]
        for i1 in 1..n {
            let t2 = (x[0], b);
            m0 -= (y[0]).sin();
        }
        let w3 = [0.0; 3];
    } else {
        y.iter_mut().for_each(|e| *e *= 0.3_f64 + 0.1);
        let v4 = std::mem::replace(&mut m0, (a / (1.0 + a * a) - x[1]));
        let mut i5 = 0;
        while i5 < 3 && v4 < 5.0 {
            y.swap(1, i5 % n);
            i5 += 1;
        }
    }
    h2(&x, x[1]) + a.sin() + b.sin() + m0.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + m0
}

#[test]
fn t30() {
    CheckRule::new(f30::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f31(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    m0 /= 1.5 + (m0).tanh();
    let mut i1 = 0;
    let v2 = loop {
        y[i1 % n] -= ((i1 as f64 * 0.1)).tanh();
        y.swap((i1 * 2 + 1) % n, (i1 * 2 + 1) % n);
        i1 += 1;
        if i1 > 2 || m0 > 3.0 {
            break (x[n - 1] * (-0.5_f64) - (b - x[0]));
        }
    };
    y[n - 1] = b;
    let v3 = match n % 3 {
        0 => h1((0.25_f64 - 0.3_f64), b),
        1 => h1((x[0]).sin() * m0, v2),
        _ => y[n - 1],
    };
    (v3).abs() + a.sin() + b.sin() + m0.sin() + v2.sin() + v3.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + m0
}

#[test]
fn t31() {
    CheckRule::new(f31::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f32(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    m0 += m0 * 0.3_f64 * 0.5;
    for (i, e) in y.iter_mut().enumerate() {
        *e += (-m0 * m0).exp() * (i as f64);
    }
    if y[1] > 1.0_f64 {
        for i1 in 0..3 {
            if i1 % 3 == 1 && (i1 as f64 * 0.1) > 0.1 {
                m0 = (((i1 as f64 * 0.1)).powi(3) - y[(i1 * 2 + 1) % n]);
                return (i1 as f64 * 0.1);
            }
        }
    }
    h1((a - b), m0) + a.sin() + b.sin() + m0.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + m0
}

#[test]
fn t32() {
    CheckRule::new(f32::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f33(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    for i1 in 0..n {
        if i1 % 2 == 0 {
            let mut w2 = [0.0; 3];
            if n > 2 {
                y[(i1 * 2 + 1) % n] = ((b + x[(i1 + 1) % n]) - m0);
                m0 += 0.5;
                m0 /= 1.5 + (-(-0.5_f64) * (-0.5_f64)).exp();
            }
            return h2(&x, (i1 as f64 * 0.1));
        }
    }
    (y[n - 1] * 1.0_f64).sin() + a.sin() + b.sin() + m0.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + m0
}

#[test]
fn t33() {
    CheckRule::new(f33::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f34(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    y[1] -= (b).cos();
    y.rotate_left(1);
    y[n - 1] += ((1.5_f64).sin()).abs() * 0.5;
    let g1 = |z: f64| ((0.3_f64).abs() + (x[n - 1] + b));
    let v2 = match n % 3 {
        0 => (-b * b).exp() * b * 0.25_f64,
        1 => h2(&x, x[n - 1]),
        _ => h2(&x, a),
    };
    if n > 2 {
        if n > 2 {
            m0 = (v2).tanh() * y[1];
        }
    }
    1.5_f64 + a.sin() + b.sin() + m0.sin() + v2.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + m0
}

#[test]
fn t34() {
    CheckRule::new(f34::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f35(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    m0 = y[1] / (1.0 + y[1] * y[1]);
    let v1 = std::mem::replace(&mut m0, 0.3_f64);
    for (e, q) in y.iter_mut().zip(x) {
        *e = *e * 0.5 + *q * b;
    }
    m0 *= 0.9 + 0.1 * (a).cos();
    m0 += b / (1.0 + b * b) * 0.5;
    m0 = ((y[n - 1] * 0.75_f64).sin() - (0.5_f64).cos());
    let v2 = match n % 3 {
        0 => 1.0_f64,
        1 => x.windows(2).map(|w| w[0] * w[1]).sum::<f64>(),
        _ => h2(&x, m0),
    };
    let (v3, v4) = (h1((a + v1), b), (a).powi(3));
    m0 = (v3).powi(3);
    (v3 + v1 / (1.0 + v1 * v1) * v2) + a.sin() + b.sin() + m0.sin() + v1.sin() + v2.sin() + v3.sin() + v4.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + m0
}

#[test]
fn t35() {
    CheckRule::new(f35::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f36(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    m0 *= 0.9 + 0.1 * (-m0 * m0).exp();
    let mut v1 = 0.75_f64;
    y[1] += (y[n - 1]).cos() * h1(v1, v1) * 0.5;
    std::mem::swap(&mut v1, &mut m0);
    y[n - 1] -= (y[1]).cos();
    y[1] -= (-v1 * v1).exp();
    let mut i2 = 0;
    let v3 = loop {
        y.swap(1, 1);
        i2 += 1;
        if i2 > 2 || m0 > 3.0 {
            break a;
        }
    };
    ((b).abs()).abs() + a.sin() + b.sin() + m0.sin() + v1.sin() + v3.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + m0
}

#[test]
fn t36() {
    CheckRule::new(f36::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f37(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    for i1 in (0..n).step_by(2) {
        let mut v2 = ((m0 + 1.0_f64) + (y[(i1 * 2 + 1) % n]).powi(2));
        for i3 in (0..n).rev() {
            y[(i1 * 2 + 1) % n] -= (v2).sin();
        }
        let mut i4 = 0;
        while i4 < 3 && b < 5.0 {
            y[n - 1] *= 0.9 + 0.1 * (-(i4 as f64 * 0.1) * (i4 as f64 * 0.1)).exp();
            i4 += 1;
        }
    }
    (if x[0] > 1.5_f64 { m0 } else { (y[n - 1] - m0) }) + a.sin() + b.sin() + m0.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + m0
}

#[test]
fn t37() {
    CheckRule::new(f37::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f38(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    m0 = (h1(a, x[n - 1])).min((m0 - (-0.5_f64)));
    if n > 2 {
        y.rotate_left(1);
        let g1 = |z: f64| (if z > 0.5_f64 { (a - a) } else { z });
    } else {
        y[n - 1] *= 0.9 + 0.1 * (-m0 * m0).exp();
        let mut i2 = 0;
        let v4 = loop {
            let mut v3 = ((b + b) - ((i2 as f64 * 0.1)).max(m0));
            i2 += 1;
            if i2 > 2 || m0 > 3.0 {
                break m0;
            }
        };
    }
    (-m0 * m0).exp() + a.sin() + b.sin() + m0.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + m0
}

#[test]
fn t38() {
    CheckRule::new(f38::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f39(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    let mut v1 = b;
    v1 = (h1(v1, v1)).max((a).sin() * m0);
    m0 /= 1.5 + (x[n - 1]).cos();
    let mut v2 = (v1).powi(3);
    let mut m0 = (-1.0_f64 * 1.0_f64).exp() * h2(&x, v1);
    let (v3, v4) = ((x[0]).tanh() * h2(&y, b), (h1(b, v1) + m0));
    v1 = b;
    let mut w5 = vec![b; n];
    if (-0.5_f64) < v2 {
        std::mem::swap(&mut m0, &mut v2);
        if v1 < w5[n - 1] {
            m0 += 1.0_f64;
        } else {
            v1 += 0.5_f64;
        }
    }
    (-b * b).exp() + a.sin() + b.sin() + m0.sin() + v1.sin() + v2.sin() + v3.sin() + v4.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + w5[0] * 0.3 + w5.iter().sum::<f64>() + m0
}

#[test]
fn t39() {
    CheckRule::new(f39::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f40(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    if n > 2 {
        y.fill(m0);
        m0 /= 1.5 + (-b * b).exp();
        m0 = (m0).tanh();
    }
    m0 = (y[1]).cos() * m0;
    if b < 0.75_f64 {
        y.reverse();
        let v1 = ((0.25_f64).abs() + (b + m0));
    } else {
        let g2 = |z: f64| (if n > 2 { (z - x[0]) } else { h1(x[0], (-0.5_f64)) });
        for i3 in 0..n {
            for e in y.iter_mut() {
                *e = (m0).sin() + *e * 0.5;
            }
        }
    }
    (if n > 2 { h2(&x, b) } else { (m0).max(m0) }) + a.sin() + b.sin() + m0.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + m0
}

#[test]
fn t40() {
    CheckRule::new(f40::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f42(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    let mut m0 = (y[n - 1]).tanh() * h1(0.25_f64, b);
    m0 /= 1.5 + (m0).tanh();
    let mut m0 = (x[1] - a) * 0.75_f64;
    #[pullback(recompute)]
    for i1 in 1..n {
        let mut m0 = (i1 as f64 * 0.1);
    }
    y.swap(0, 1);
    let m0 = b / (1.0 + b * b) * (m0 + b);
    let mut v2 = h1(b, b);
    if n > 2 {
        y.iter_mut().for_each(|e| *e *= 0.3_f64 + 0.1);
        for i3 in 0..n {
            y[n - 1] = (m0).powi(3);
            let v4 = m0;
            let v5 = b;
            v2 += ((0.5_f64 - (i3 as f64 * 0.1)) - y[(i3 + 1) % n] * (-0.5_f64)) * 0.5;
        }
        v2 -= v2 / (1.0 + v2 * v2);
        v2 = a;
    }
    (m0).powi(3) + a.sin() + b.sin() + m0.sin() + v2.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + m0
}

#[test]
fn t42() {
    CheckRule::new(f42::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f43(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    y.swap(1, 0);
    if m0 < b {
        y[1] = h1(y.iter().sum::<f64>(), m0);
        y[0] += (b + (1.0_f64 * 0.25_f64).sin() * y[0]) * 0.5;
        if m0 < a {
            let t1 = S { p: ((-y[1] * y[1]).exp() * a + (a * 0.5_f64).sin() * a), q: (m0).max(h1(x[0], m0)) };
            y.swap(0, 0);
            if m0 > 1.5_f64 {
                m0 += 0.5;
            } else {
                y[0] += b / (1.0 + b * b) * (m0).cos() * 0.5;
            }
        }
    }
    let mut v2 = h2(&x, y[1]);
    m0 = (a).sin() * (a).sin() * m0;
    let mut i3 = 0;
    while i3 < 3 && b < 5.0 {
        v2 += 1.5_f64;
        i3 += 1;
    }
    v2 + a.sin() + b.sin() + m0.sin() + v2.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + m0
}

#[test]
fn t43() {
    CheckRule::new(f43::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f44(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    y.rotate_left(1);
    let g1 = |z: f64| b;
    m0 += (if x[1] > 0.3_f64 { g1(y[n - 1]) } else { y.windows(2).map(|w| w[0] * w[1]).sum::<f64>() }) * 0.5;
    y.swap(n - 1, 0);
    let v2 = std::mem::replace(&mut m0, 0.75_f64);
    for i3 in (0..n).rev() {
        for i4 in 1..n {
            m0 *= 0.9 + 0.1 * (i4 as f64 * 0.1) / (1.0 + (i4 as f64 * 0.1) * (i4 as f64 * 0.1));
            let v5 = std::mem::replace(&mut m0, ((i4 as f64 * 0.1)).tanh());
            let mut i6 = 0;
            let v7 = loop {
                y.iter_mut().for_each(|e| *e *= 1.0_f64 + 0.1);
                i6 += 1;
                if i6 > 2 || m0 > 3.0 {
                    break (g1((i4 as f64 * 0.1))).abs();
                }
            };
        }
        for i8 in 0..3 {
            let mut w9 = vec![(i8 as f64 * 0.1); n];
            let v10 = (v2 * 1.5_f64).sin() * ((i3 as f64 * 0.1)).powi(3);
        }
    }
    y[n - 1] -= (-y[0] * y[0]).exp();
    y[n - 1] -= (x[1]).sin();
    y[1] += 1.5_f64 * 0.5;
    (v2).tanh() + a.sin() + b.sin() + m0.sin() + v2.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + m0
}

#[test]
fn t44() {
    CheckRule::new(f44::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f46(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    let mut w1 = x.to_vec();
    for i2 in (0..n).rev() {
        if (i2 as f64 * 0.1) < x[i2 % n] {
            let (v3, v4) = ((h1((i2 as f64 * 0.1), (i2 as f64 * 0.1)) - (0.5_f64).max(w1[1])), a);
            for i5 in 0..n {
                y[(i5 * 2 + 1) % n] = (h2(&y, (i2 as f64 * 0.1)) + v4);
            }
        } else {
            let v6 = std::mem::replace(&mut m0, a);
        }
    }
    (a).cos() * (0.25_f64 + m0) + a.sin() + b.sin() + m0.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + w1[0] * 0.3 + w1.iter().sum::<f64>() + m0
}

#[test]
fn t46() {
    CheckRule::new(f46::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f47(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    m0 = ((m0).sin()).min(b);
    let v1 = (if y[n - 1] > 0.75_f64 { y.windows(2).map(|w| w[0] * w[1]).sum::<f64>() } else { m0 / (1.0 + m0 * m0) * x[n - 1] });
    let v2 = std::mem::replace(&mut m0, (if a < v1 { (v1 * 1.5_f64).sin() * y[1] } else { b }));
    let mut v2 = (b).powi(3);
    y.reverse();
    #[pullback(recompute)]
    for i4 in 1..n {
        let v5 = (i4 as f64 * 0.1);
        #[pullback(binomial = 2)]
        for i6 in 1..n {
            std::mem::swap(&mut m0, &mut v2);
        }
    }
    v2 + a.sin() + b.sin() + m0.sin() + v1.sin() + v2.sin() + v3.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + m0
}

#[test]
fn t47() {
    CheckRule::new(f47::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f48(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    y[n - 1] -= (b * 1.5_f64).sin();
    let mut v1 = b;
    m0 /= 1.5 + (v1).sin();
    y[0] *= 0.9 + 0.1 * b / (1.0 + b * b);
    std::mem::swap(&mut m0, &mut v1);
    y[n - 1] += (if m0 < v1 { (m0 - b) } else { (v1).tanh() * m0 }) * 0.5;
    y[1] *= 0.9 + 0.1 * (x[0]).tanh();
    let mut i2 = 0;
    while i2 < 3 && 0.25_f64 < 5.0 {
        m0 = ((i2 as f64 * 0.1)).powi(2);
        m0 += (i2 as f64 * 0.1) * 0.5;
        i2 += 1;
    }
    v1 -= (m0 * 1.0_f64).sin();
    for i3 in 0..n {
        m0 += 0.25_f64;
    }
    ((m0).powi(2)).abs() + a.sin() + b.sin() + m0.sin() + v1.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + m0
}

#[test]
fn t48() {
    CheckRule::new(f48::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f49(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    let mut i1 = 0;
    while i1 < 3 && a < 5.0 {
        y[1] += (0.75_f64 * 1.0_f64).sin() * 0.5;
        m0 = (m0).max((i1 as f64 * 0.1));
        i1 += 1;
    }
    m0 *= 0.9 + 0.1 * (0.5_f64 * 1.0_f64).sin();
    let g2 = |z: f64| b;
    #[pullback(recompute)]
    for i3 in 0..n {
        #[pullback(checkpoint = 2)]
        for i4 in 1..n {
            let v5 = (0.25_f64 - a);
            let v6 = std::mem::replace(&mut m0, (-v5 * v5).exp() * ((i3 as f64 * 0.1)).min(b));
        }
        y.reverse();
        for i7 in 0..n {
            m0 = x[0];
            y[(i3 * 2 + 1) % n] -= (0.75_f64).tanh();
            let v8 = std::mem::replace(&mut m0, (i7 as f64 * 0.1));
            y.reverse();
        }
        y[(i3 * 2 + 1) % n] *= 0.9 + 0.1 * (b).sin();
    }
    (a).tanh() * (m0).sin() * m0 + a.sin() + b.sin() + m0.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + m0
}

#[test]
fn t49() {
    CheckRule::new(f49::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f50(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    y[n - 1] = m0;
    #[pullback(binomial = 2)]
    for i1 in 0..=2 {
        y[(i1 + 1) % n] *= 0.9 + 0.1 * (-a * a).exp();
        y[(i1 + 1) % n] = (((i1 as f64 * 0.1) - a) - (a).cos() * (i1 as f64 * 0.1));
    }
    if y[1] < b {
        y.reverse();
        let v2 = match n % 3 {
            0 => (if b > 0.25_f64 { a } else { b }) * 0.75_f64,
            1 => (0.5_f64).powi(2),
            _ => h2(&y, m0),
        };
        let v3 = (0.5_f64 - a);
        m0 += (h2(&y, v2) + v3 / (1.0 + v3 * v3)) * 0.5;
        return h1((b).tanh(), a);
    }
    if m0 < 0.75_f64 {
        let mut i4 = 0;
        while i4 < 3 && x[1] < 5.0 {
            m0 = (((i4 as f64 * 0.1)).sin() * (i4 as f64 * 0.1) + (b * 0.3_f64).sin() * a);
            i4 += 1;
        }
    }
    ((b).powi(3) + (x[1]).cos() * 0.5_f64) + a.sin() + b.sin() + m0.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + m0
}

#[test]
fn t50() {
    CheckRule::new(f50::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f51(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    m0 = x.iter().map(|e| e * 1.0_f64).sum::<f64>();
    if b < a {
        let mut m0 = m0 / (1.0 + m0 * m0);
        if n > 2 {
            y.swap(1, 1);
            if n > 2 {
                y[1] = m0;
                m0 *= 0.9 + 0.1 * b / (1.0 + b * b);
                let mut v1 = b;
                v1 -= (1.5_f64).cos();
            } else {
                m0 += (if n > 2 { y[n - 1] } else { h1(a, b) }) * 0.5;
                let mut m0 = h1(h1(a, a), a);
                m0 += 0.5;
            }
            for i2 in 0..n {
                m0 += 0.5;
                m0 += 0.5;
            }
            y.swap(1, 0);
        } else {
            m0 += 0.25_f64;
        }
    } else {
        m0 += 1.5_f64;
    }
    (b).powi(2) + a.sin() + b.sin() + m0.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + m0
}

#[test]
fn t51() {
    CheckRule::new(f51::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f52(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    y[1] -= b / (1.0 + b * b);
    y[0] += (y[0]).tanh() * (m0).powi(2) * 0.5;
    if (-0.5_f64) < m0 {
        let v1 = std::mem::replace(&mut m0, 0.75_f64);
        let v2 = v1;
        for (i, e) in y.iter_mut().enumerate() {
            *e += (m0 * 1.0_f64).sin() * (i as f64);
        }
    }
    let mut v3 = m0 / (1.0 + m0 * m0) * y.iter().enumerate().filter(|(i, _)| i % 2 == 0).map(|(_, e)| e.sin()).sum::<f64>();
    v3 /= 1.5 + (m0).cos();
    y.reverse();
    let mut v5 = h1((v4).tanh() * a, y[n - 1]);
    let g6 = |z: f64| ((if v4 < b { 0.5_f64 } else { z })).min(h1(b, a));
    std::mem::swap(&mut v3, &mut m0);
    (0.75_f64 * 0.25_f64 + y.iter().map(|e| e * v5).sum::<f64>()) + a.sin() + b.sin() + m0.sin() + v3.sin() + v4.sin() + v5.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + m0
}

#[test]
fn t52() {
    CheckRule::new(f52::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f53(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    y[1] *= 0.9 + 0.1 * (-m0 * m0).exp();
    let v1 = match n % 3 {
        0 => a,
        1 => x.iter().map(|e| e * 1.5_f64).sum::<f64>(),
        _ => y.windows(2).map(|w| w[0] * w[1]).sum::<f64>(),
    };
    y[1] *= 0.9 + 0.1 * (m0 * 0.75_f64).sin();
    let w2 = [v1, m0, b];
    let t3 = ((if m0 < v1 { (1.5_f64).sin() } else { (v1 - m0) }), h1(v1, 0.25_f64));
    let g4 = |z: f64| (x[0]).sin() * (b - z);
    let (v5, v6) = (w2.iter().fold(0.0, |t, e| t * 0.5 + e * 0.3_f64), ((t3.1).sin() * t3.0).min((if n > 2 { x[1] } else { v1 })));
    let v7 = std::mem::replace(&mut m0, (v6 + (v5 - v1)));
    let (v8, v9) = (w2[3 - 1] / (1.0 + w2[3 - 1] * w2[3 - 1]) * y.iter().fold(0.0, |t, e| t * 0.5 + e * 0.25_f64), (t3.1).sin());
    for i10 in (0..n).step_by(2) {
        let v11 = y.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut v12 = ((i10 as f64 * 0.1) * 1.0_f64).sin() * h2(&y, (i10 as f64 * 0.1));
        m0 += ((i10 as f64 * 0.1) + (v5 + v1)) * 0.5;
        let mut w13 = [0.0; 3];
    }
    h2(&y, v1) + b.sin() + m0.sin() + v1.sin() + v5.sin() + v6.sin() + v7.sin() + v8.sin() + v9.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + w2[0] * 0.3 + w2.iter().sum::<f64>() + m0
}

#[test]
fn t53() {
    CheckRule::new(f53::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f54(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    let mut v1 = (y[0]).cos() * (-0.5_f64) * 1.0_f64;
    v1 *= 0.9 + 0.1 * (m0).cos();
    if n > 2 {
        y[0] *= 0.9 + 0.1 * (m0 * 1.5_f64).sin();
        for i2 in (0..n).rev() {
            #[pullback(checkpoint = 2)]
            for i3 in 0..=2 {
                v1 += 0.75_f64;
            }
        }
    } else {
        v1 += 0.25_f64;
    }
    x[0] + a.sin() + b.sin() + m0.sin() + v1.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + m0
}

#[test]
fn t54() {
    CheckRule::new(f54::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f55(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    let mut i1 = 0;
    let v3 = loop {
        let mut v2 = (((i1 as f64 * 0.1) - 1.0_f64) + (m0 - m0));
        v2 -= ((i1 as f64 * 0.1) * 0.5_f64).sin();
        v2 -= y[(i1 * 2 + 1) % n] / (1.0 + y[(i1 * 2 + 1) % n] * y[(i1 * 2 + 1) % n]);
        i1 += 1;
        if i1 > 2 || m0 > 3.0 {
            break (((-0.5_f64) + m0) - h1(x[0], x[n - 1]));
        }
    };
    let mut w4 = x.to_vec();
    w4[n - 1] -= (w4[0]).sin();
    let (v5, v6) = (((a).abs() - h1(0.3_f64, y[1])), (h1(m0, b) + (w4[1]).min(y[n - 1])));
    let w7 = vec![v5; n];
    for i8 in (0..n).rev() {
        m0 += 1.0_f64;
    }
    ((if a < (-0.5_f64) { v5 } else { v6 }) + v3) + a.sin() + b.sin() + m0.sin() + v3.sin() + v5.sin() + v6.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + w4[0] * 0.3 + w4.iter().sum::<f64>() + w7[0] * 0.3 + w7.iter().sum::<f64>() + m0
}

#[test]
fn t55() {
    CheckRule::new(f55::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f56(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    let v1 = (m0).powi(2);
    for e in y.iter_mut() {
        *e = (-a * a).exp() + *e * 0.5;
    }
    let v2 = (if n > 2 { a } else { (0.3_f64).cos() * v1 });
    y[1] += ((-v2 * v2).exp() * m0 + (v1).powi(3)) * 0.5;
    if v1 > 0.25_f64 {
        m0 /= 1.5 + (x[0]).cos();
        let mut i3 = 0;
        let v4 = loop {
            y[(i3 + 1) % n] = (0.3_f64 / (1.0 + 0.3_f64 * 0.3_f64) - ((i3 as f64 * 0.1) - 1.0_f64));
            i3 += 1;
            if i3 > 2 || m0 > 3.0 {
                break a;
            }
        };
        let mut v5 = h2(&y, v4);
        y[1] = (v4).cos() * y[n - 1];
    } else {
        m0 /= 1.5 + (m0).cos();
        m0 = (v2).sin() * ((-0.5_f64)).abs();
        m0 /= 1.5 + (-y[0] * y[0]).exp();
        m0 = h1(x.iter().fold(0.0, |t, e| t * 0.5 + e * 0.75_f64), v2);
    }
    let mut v6 = ((b).sin() + h2(&x, a));
    for (e, q) in y.iter_mut().zip(x) {
        *e = *e * 0.5 + *q * m0;
    }
    ((m0 + v1) - (m0).powi(2)) + a.sin() + b.sin() + m0.sin() + v1.sin() + v2.sin() + v6.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + m0
}

#[test]
fn t56() {
    CheckRule::new(f56::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f57(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    m0 = h2(&y, 1.5_f64);
    m0 = (m0).powi(3);
    for (e, q) in y.iter_mut().zip(x) {
        *e = *e * 0.5 + *q * b;
    }
    for e in y.iter_mut() {
        *e = (m0).cos() + *e * 0.5;
    }
    #[pullback(binomial = 2)]
    for i1 in 1..n {
        let g2 = |z: f64| z;
    }
    a / (1.0 + a * a) + a.sin() + b.sin() + m0.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + m0
}

#[test]
fn t57() {
    CheckRule::new(f57::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f58(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    y[0] *= 0.9 + 0.1 * a / (1.0 + a * a);
    y[0] += ((-m0 * m0).exp() - (m0).sin() * a) * 0.5;
    let t1 = S { p: ((if n > 2 { b } else { b }) - m0), q: x.iter().fold(0.0, |t, e| t * 0.5 + e * 0.5_f64) };
    let t2 = (((a + y[n - 1]) - h1(a, t1.q)), h1((b + m0), b));
    let v3 = x.iter().sum::<f64>();
    let v4 = match n % 3 {
        0 => (v3).tanh() * (b).powi(2),
        1 => (-b * b).exp() * h1(m0, a),
        _ => v3,
    };
    y[n - 1] *= 0.9 + 0.1 * (b).tanh();
    let v3 = y[n - 1];
    let g5 = |z: f64| (t1.q).powi(3);
    m0 *= 0.9 + 0.1 * (-b * b).exp();
    let v6 = (m0).cos() * (x[n - 1] + a);
    for e in y.iter_mut() {
        *e = (0.5_f64 * 0.25_f64).sin() + *e * 0.5;
    }
    for i7 in 0..=2 {
        y[(i7 * 2 + 1) % n] = (i7 as f64 * 0.1);
    }
    v6 + a.sin() + b.sin() + m0.sin() + v3.sin() + v4.sin() + v6.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + m0
}

#[test]
fn t58() {
    CheckRule::new(f58::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

#[differentiable]
fn f59(x: &[f64], y: &mut [f64], a: f64, b: f64) -> f64 {
    let mut m0 = a * 0.5;
    let n = x.len();
    y.iter_mut().for_each(|e| *e *= 0.75_f64 + 0.1);
    if a < m0 {
        let g1 = |z: f64| (0.3_f64).powi(2);
        let mut w2 = [0.0; 3];
        let mut i3 = 0;
        let v5 = loop {
            y.reverse();
            w2[i3 % 3] = ((i3 as f64 * 0.1)).powi(2);
            #[pullback(binomial = 2)]
            for i4 in 0..3 {
                m0 += 0.5;
                m0 += 0.5;
            }
            i3 += 1;
            if i3 > 2 || m0 > 3.0 {
                break h1((b).sin(), m0);
            }
        };
    }
    if m0 > 0.75_f64 {
        let mut i6 = 0;
        while i6 < 3 && 1.0_f64 < 5.0 {
            let v7 = std::mem::replace(&mut m0, (i6 as f64 * 0.1));
            y.swap((i6 * 2 + 1) % n, n - 1);
            i6 += 1;
        }
    }
    h1((0.75_f64).sin() * b, a) + a.sin() + b.sin() + m0.sin() + y[0] * 0.3 + y.iter().sum::<f64>() + m0
}

#[test]
fn t59() {
    CheckRule::new(f59::rule).input((vec![0.3, -0.7, 1.1, 0.2], vec![0.6, 0.9, -0.4, 0.15], 0.7, -0.35)).input((vec![1.2, 0.4, -0.6], vec![-0.8, 0.33, 0.5], -0.45, 1.3)).input((vec![0.21, 0.47], vec![0.83, -0.53], 1.4, 0.62)).tolerance(1e-6).run();
}

