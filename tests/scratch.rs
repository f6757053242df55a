use pullback as _;
use pullback::prelude::*;

#[differentiable]
fn sumsin(x: &[f64]) -> f64 {
    let mut acc = 0.0;
    for i in 0..x.len() {
        acc += x[i].sin();
    }
    acc
}
#[differentiable]
fn step(s: f64, p: f64) -> f64 {
    s + 0.01 * (p * s).sin()
}
#[differentiable]
fn simulate(s0: f64, p: f64, n: usize) -> f64 {
    let mut s = s0;
    for _ in 0..n {
        s = step(s, p);
    }
    s
}
#[differentiable]
fn rosen(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for i in 0..x.len() - 1 {
        let a = x[i + 1] - x[i] * x[i];
        let b = 1.0 - x[i];
        s += 100.0 * a * a + b * b;
    }
    s
}
#[differentiable]
fn lse(x: &[f64]) -> f64 {
    let mut m = x[0];
    for i in 1..x.len() {
        let v = x[i];
        if v > m {
            m = v;
        }
    }
    let mut s = 0.0;
    for i in 0..x.len() {
        s += (x[i] - m).exp();
    }
    m + s.ln()
}
#[differentiable]
fn bruss(x: &[f64], n: usize, #[constant] dt: f64) -> f64 {
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
fn normalise(x: &mut [f64], k: f64) {
    for i in 0..x.len() {
        x[i] = (x[i] * k).tanh();
    }
    for i in 1..x.len() {
        x[i] *= x[i - 1];
    }
}
#[differentiable]
fn uses_normalise(x: &mut [f64], k: f64) -> f64 {
    normalise(x, k);
    let y = x[0] * x[1];
    normalise(&mut x[1..], y);
    let mut t = 0.0;
    for i in 0..x.len() {
        t += x[i] * x[i] * k;
    }
    t
}
#[differentiable]
fn swap(x: f64, y: f64) -> (f64, f64) {
    if x > y { (x * y, y) } else { (y.exp(), x / y) }
}
#[differentiable]
fn pairs(x: f64, y: f64, n: usize) -> f64 {
    let mut a = x;
    let mut b = y;
    let mut k = 0;
    while k < n {
        let (c, d) = swap(a, b);
        a = 0.3 * d;
        b = c.sin() + 0.1;
        k += 1;
    }
    let z = if a > 0.2 {
        let q = a * b;
        q.sqrt()
    } else {
        b * b
    };
    a * b + z
}
#[differentiable]
fn local_array(x: &[f64]) -> f64 {
    let mut h = [0.0; 4];
    for i in 0..4 {
        let mut a = 0.0;
        for j in 0..x.len() {
            a += x[j] * ((i + j) as f64);
        }
        h[i] = a.tanh();
    }
    let mut g = [[0.0; 2]; 2];
    for i in 0..2 {
        for j in 0..2 {
            g[i][j] = h[2 * i + j] * h[j];
            g[i][j] += h[0];
        }
    }
    h[0] = h[1] * h[2];
    h[1] = h[0] * h[0];
    h[0] + h[1] * h[3] + g[0][0] * g[1][1] - g[0][1] / (2.0 + g[1][0])
}
#[differentiable]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut t = 0.0;
    for i in 0..a.len() {
        t += a[i] * b[i];
    }
    t
}
#[differentiable]
fn aliased(x: &[f64]) -> f64 {
    let c = [x[0] * 2.0, x[1], x[2]];
    let mut e = [1.0, 2.0, 3.0];
    e[1] = dot(&c, x);
    dot(x, x) * dot(&x[1..], &x[..x.len() - 1]) + dot(&c, &c) * e[1] + dot(&e, &e)
}
#[differentiable]
fn scalar_mut(y: &mut f64, x: f64) -> f64 {
    *y = *y * x;
    *y += x * x;
    let a = *y;
    *y *= a;
    *y + a
}
#[differentiable]
fn by_array(mut x: [f64; 3], k: f32) -> f64 {
    let y = x[0] * x[1];
    x[2] = x[2] * y;
    x[0] = x[2] * x[1] + x[0];
    (k * 2.0) as f64 * x[0] + x[2]
}

fn fd(f: impl Fn(&[f64]) -> f64, x: &[f64]) -> Vec<f64> {
    (0..x.len())
        .map(|i| {
            let h = 1e-4;
            let g = |k: f64| {
                let mut y = x.to_vec();
                y[i] += k * h;
                f(&y)
            };
            (8.0 * (g(1.0) - g(-1.0)) - (g(2.0) - g(-2.0))) / (12.0 * h)
        })
        .collect()
}
fn close(a: &[f64], b: &[f64]) {
    assert_eq!(a.len(), b.len());
    for (x, y) in a.iter().zip(b) {
        assert!((x - y).abs() < 1e-7 * (1.0 + x.abs() + y.abs()), "{a:?} {b:?}");
    }
}

#[test]
fn slices() {
    let x = [0.3, -0.2, 1.4, 0.9];
    for _ in 0..2 {
        let mut g = sumsin::gradient();
        for _ in 0..2 {
            let (v, d) = g.value_and_gradient(&x);
            assert_eq!(v, sumsin(&x));
            close(d.x, &fd(|x| sumsin(x), &x));
        }
        let mut g = rosen::gradient();
        for _ in 0..2 {
            close(g.value_and_gradient(&x).1.x, &fd(|x| rosen(x), &x));
        }
        let mut g = lse::gradient();
        for _ in 0..2 {
            close(g.value_and_gradient(&x).1.x, &fd(|x| lse(x), &x));
        }
        let mut g = local_array::gradient();
        for _ in 0..2 {
            close(g.value_and_gradient(&x).1.x, &fd(|x| local_array(x), &x));
        }
        let mut g = aliased::gradient();
        for _ in 0..2 {
            close(g.value_and_gradient(&x[..3]).1.x, &fd(|x| aliased(x), &x[..3]));
        }
        let x = [1.0, 1.7, 1.2, 3.1];
        let mut g = bruss::gradient();
        for _ in 0..2 {
            close(g.value_and_gradient(&x, 20, 0.01).1.x, &fd(|x| bruss(x, 20, 0.01), &x));
        }
    }
}
#[test]
fn scalars() {
    let mut g = simulate::gradient();
    let (_, d) = g.value_and_gradient(0.3, 1.1, 50);
    close(&[d.s0, d.p], &fd(|x| simulate(x[0], x[1], 50), &[0.3, 1.1]));
    let mut g = pairs::gradient();
    for n in [0, 1, 2, 5, 3] {
        let (v, d) = g.value_and_gradient(0.7, 0.4, n);
        assert_eq!(v, pairs(0.7, 0.4, n));
        close(&[d.x, d.y], &fd(|x| pairs(x[0], x[1], n), &[0.7, 0.4]));
    }
    let mut g = scalar_mut::gradient();
    let mut y = 0.7;
    let (_, d) = g.value_and_gradient(&mut y, 1.3);
    assert_eq!(y, 0.7);
    close(
        &[d.y, d.x],
        &fd(
            |x| {
                let mut y = x[0];
                scalar_mut(&mut y, x[1])
            },
            &[0.7, 1.3],
        ),
    );
    let mut g = by_array::gradient();
    let (_, d) = g.value_and_gradient([0.4, 0.5, 0.6], 1.5);
    close(&d.x, &fd(|x| by_array([x[0], x[1], x[2]], 1.5), &[0.4, 0.5, 0.6]));
    close(&[d.k as f64], &[(by_array([0.4, 0.5, 0.6], 2.5) - by_array([0.4, 0.5, 0.6], 1.5)) as f32 as f64]);
}
#[test]
fn mutation() {
    let x = [0.3, -0.2, 1.4, 0.9, 0.5];
    let mut g = uses_normalise::gradient();
    for _ in 0..2 {
        let mut y = x[..4].to_vec();
        let (v, d) = g.value_and_gradient(&mut y, x[4]);
        assert_eq!(y, &x[..4]);
        let mut all = d.x.to_vec();
        all.push(d.k);
        let f = |x: &[f64]| {
            let mut y = x[..4].to_vec();
            uses_normalise(&mut y, x[4])
        };
        assert_eq!(v, f(&x));
        close(&all, &fd(f, &x));
    }
}
mod more {
    use ndarray::{Array1, Array2};
    use pullback::prelude::*;
    use pullback::testing::{CountingAllocator, allocations_in, check_rule};
    #[global_allocator]
    static A: CountingAllocator = CountingAllocator;
    #[differentiable]
    fn fresh(a: &Array2<f64>, b: &Array2<f64>, s: f64) -> f64 {
        let mut c = Array2::zeros((a.nrows(), b.ncols()));
        mul_into(&mut c, a, b);
        let mut t = 0.0;
        for i in 0..c.nrows() {
            for j in 0..c.ncols() {
                t += c[[i, j]] * c[[i, j]] * s;
            }
        }
        t
    }
    #[differentiable]
    fn vecs(x: &[f64], n: usize) -> f64 {
        let mut h = vec![0.0; n];
        for i in 0..n {
            h[i] = x[i % x.len()].exp();
        }
        for i in 1..n {
            h[i] = h[i] * h[i - 1];
        }
        h[n - 1]
    }
    #[differentiable]
    fn scaled(x: &Array1<f64>, k: f64) -> f64 {
        let mut c = Array2::zeros((1, 1));
        let two = Array2::from_elem((1, 1), 2.0);
        let mut t = 0.0;
        for i in 0..x.len() {
            gemm(Trans::No, Trans::No, k, &two, &two, 0.0, &mut c);
            t += x[i] * c[[0, 0]];
        }
        t
    }
    #[test]
    fn fresh_array() {
        let a = Array2::from_shape_fn((3, 4), |(i, j)| 0.1 * i as f64 - 0.2 * j as f64 + 0.3);
        let b = Array2::from_shape_fn((4, 2), |(i, j)| 0.3 * i as f64 + 0.2 * j as f64 - 0.5);
        check_rule(fresh::rule, [(a.clone(), b.clone(), 0.7)]);
        check_rule(vecs::rule, [(vec![0.1, 0.2, -0.3], 5_usize), (vec![0.1], 1)]);
        let mut g = fresh::gradient();
        g.value_and_gradient(&a, &b, 0.7);
        let (_, n) = allocations_in(|| g.value_and_gradient(&a, &b, 0.7).0);
        let (_, m) = allocations_in(|| fresh(&a, &b, 0.7));
        assert_eq!(n, m);
        check_rule(scaled::rule, [(Array1::from(vec![0.1, 0.4]), 1.5)]);
    }
}
mod fused {
    use pullback::prelude::*;
    use pullback::testing::check_rule;
    struct Lcg(u64);
    impl Lcg {
        fn below(&mut self, n: usize) -> usize {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (self.0 >> 33) as usize % n
        }
    }
    #[differentiable]
    fn random(x: &[f64], seed: u64) -> f64 {
        let mut rng = Lcg(seed);
        let mut t = 0.0;
        for i in 0..x.len() {
            let k = rng.below(x.len());
            t += x[k] * x[i] * x[rng.below(x.len())];
        }
        t
    }
    #[differentiable]
    fn permuted(x: &[f64]) -> f64 {
        let mut idx = [0, 1, 2];
        let a = x[idx[0]];
        idx.swap(0, 1);
        let b = x[idx[0]];
        let mut c = [2, 0, 1];
        c.reverse();
        a * b * b * x[c[0]]
    }
    fn shuffle(idx: &mut [usize]) {
        idx.rotate_left(1);
    }
    #[differentiable]
    fn shuffled(x: &[f64]) -> f64 {
        let mut idx = vec![0, 1, 2];
        let mut t = 1.0;
        for i in 0..3 {
            t = t * x[idx[i]] + x[idx[0]];
            shuffle(&mut idx);
        }
        t
    }
    #[differentiable]
    fn inner(w: &[f64], x: &[f64], y: &[f64], b: f64) -> f64 {
        let scale = b.exp();
        let m = y.len();
        let mut loss = 0.0;
        for s in 0..m {
            let mut h = [0.0; 3];
            for i in 0..3 {
                let mut a = 0.0;
                for j in 0..2 {
                    a += w[i * 2 + j] * x[s * 2 + j];
                }
                h[i] = a.tanh();
            }
            h[0] *= h[1];
            let mut z = scale;
            let mut k = 0;
            while z < 3.0 {
                z = z * 1.7 + h[2];
                k += 1;
                if z < 0.1 {
                    z += 1.0;
                }
            }
            let e = h[0] * h[2] + z - y[s] * (k as f64);
            if e > 0.0 {
                loss += 0.5 * e * e;
            } else {
                loss -= e * b;
            }
        }
        0.5 * loss / m as f64
    }
    #[differentiable]
    fn stencil(x: &[f64], c: f64) -> f64 {
        let mut t = 0.0;
        let n = x.len();
        for i in 2..n - 2 {
            let l = x[i - 2] - 2.0 * x[i] + x[i + 2];
            t += c * l * l * x[i + 1];
        }
        t
    }
    #[differentiable]
    fn stencil_split(x: &[f64], c: f64) -> f64 {
        let mut t = 0.0;
        let n = x.len();
        for i in 1..=n - 2 {
            let l = x[i - 1] * x[i] * x[i + 1];
            t = t * c + l;
        }
        t * t
    }
    #[test]
    fn all() {
        check_rule(random::rule, [(vec![0.1, 0.4, 0.7, -0.3], 5_u64), (vec![0.1, 0.4, -0.3], 7)]);
        check_rule(permuted::rule, [(vec![0.1, 0.4, 0.7],)]);
        check_rule(shuffled::rule, [(vec![0.1, 0.4, 0.7],)]);
        check_rule(
            inner::rule,
            [(
                vec![0.1, 0.4, 0.7, -0.3, 0.2, 0.5],
                vec![0.3, 0.1, -0.4, 0.6, 0.9, 0.2],
                vec![0.4, 0.1, 0.2],
                0.3,
            )],
        );
        check_rule(
            stencil::rule,
            [
                (vec![0.1, 0.4, 0.7, -0.3, 0.2, 0.5], 0.3),
                (vec![0.1, 0.4, 0.7, -0.3], 0.3),
                (vec![0.1, 0.4, 0.7, -0.3, 1.0], 0.3),
            ],
        );
        check_rule(
            stencil_split::rule,
            [(vec![0.1, 0.4, 0.7, -0.3, 0.2, 0.5], 0.3), (vec![0.1, 0.4], 0.3), (vec![0.1, 0.4, 0.7], 0.3)],
        );
    }
}
