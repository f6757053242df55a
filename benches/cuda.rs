//! Fused functions, matrix products, rows by their indices, copies and networks on a CUDA device: `cargo bench --features cuda --bench cuda`. Without a device it
//! says so and does nothing. If `PULLBACK_PEERS` names a Python that has PyTorch, networks are compared with that in the same run.
//!
//! Figures are medians of whole runs, with the device waited for at the end of each. Copies of the same size tell what the card can do.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use ndarray::{Array1, Ix1, Ix2, Ix3};
use pullback::cuda::{Device, DeviceArray, DeviceIndices, Error, Repeated};
use pullback::nn::generic::{Activation, Indices, embedding, feed_forward};
use pullback::{Array, Matrices, Matrix, Trans, differentiable, fused, general_product, product};

fused! {
    fn copied<A>(x) { x }

    fn affine_tanh<A>(x, w, b) { (x * w + b).tanh() }

    fn bias_tanh<A>(z, b) { (z + b).tanh() }

    fn bias_gelu<A>(z, b) {
        let s = z + b;
        0.5 * s * (1.0 + (0.7978845608028654 * (s + 0.044715 * s * s * s)).tanh())
    }

    fn biased<A>(z, b) { z + b }
}

#[differentiable]
fn affine<M: Matrix<f32>>(y: &mut M, x: &M, w: &M, b: &M) {
    affine_tanh(y, x, w, b);
}

#[differentiable]
fn multiplied<M: Matrix<f32>>(c: &mut M, a: &M, b: &M) {
    product(c, a, b);
}

#[differentiable]
fn updated<A, B, C>(c: &mut C, a: &A, b: &B)
where
    A: Matrices<f32>,
    B: Matrices<f32, Memory = A::Memory>,
    C: Matrices<f32, Memory = A::Memory>,
{
    general_product(Trans::No, Trans::No, 1.0, a, b, 0.0, c);
}

#[differentiable]
fn looked_up<M: Matrix<f32>, I: Indices<Memory = M::Memory>>(y: &mut M, table: &M, #[constant] words: &I) {
    embedding(y, table, words);
}

/// Two layers; what they need room for are the first parameters.
#[differentiable]
fn network<M: Matrix<f32>, V: Array<f32, Memory = M::Memory>>(
    z: &mut M,
    h: &mut M,
    y: &mut M,
    x: &M,
    w1: &M,
    b1: &V,
    w2: &M,
) {
    product(z, x, w1);
    bias_tanh(h, &*z, b1);
    product(y, &*h, w2);
}

#[differentiable]
fn fed_forward<M: Matrix<f32>, V: Array<f32, Memory = M::Memory>>(
    y: &mut M,
    h: &mut M,
    x: &M,
    w1: &M,
    b1: &V,
    w2: &M,
    b2: &V,
) {
    feed_forward(y, h, x, w1, b1, w2, b2, Activation::GeluTanh);
}

/// The same, by products and fused functions.
#[differentiable]
#[allow(clippy::too_many_arguments)]
fn in_turn<M: Matrix<f32>, V: Array<f32, Memory = M::Memory>>(
    y: &mut M,
    h: &mut M,
    z: &mut M,
    x: &M,
    w1: &M,
    b1: &V,
    w2: &M,
    b2: &V,
) {
    product(z, x, w1);
    bias_gelu(h, &*z, b1);
    product(z, &*h, w2);
    biased(y, &*z, b2);
}

type Matrix32 = DeviceArray<f32, Ix2>;

/// The median time of a run in seconds.
fn median(device: &Device, mut run: impl FnMut() -> Result<(), Error>) -> Result<f64, Error> {
    for _ in 0..5 {
        run()?;
    }
    device.synchronize()?;
    let mut times = Vec::new();
    for _ in 0..20 {
        let begin = Instant::now();
        run()?;
        device.synchronize()?;
        times.push(begin.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

/// Elements of 2 GB in all arrays together, or few where benchmarks are tests.
fn bandwidth(device: &Device, elements: usize) -> Result<(), Error> {
    let zeros = || Matrix32::zeros(device, (elements / 1024, 1024));
    let (mut y, x) = (zeros()?, zeros()?);
    let gigabytes = |arrays: usize, seconds: f64| 4e-9 * (arrays * elements) as f64 / seconds;
    let copy = gigabytes(
        2,
        median(device, || {
            copied(&mut y, &x);
            Ok(())
        })?,
    );
    println!("copy: {copy:.0} GB/s");
    let (w, b, seed) = (zeros()?, zeros()?, zeros()?);
    let forward = gigabytes(
        4,
        median(device, || {
            affine_tanh(&mut y, &x, &w, &b);
            Ok(())
        })?,
    );
    println!(
        "tanh(x·w + b), forward: {forward:.0} GB/s, {:.0} % of the copy (the aim: at least 90 %)",
        100.0 * forward / copy
    );
    let mut g = affine::<Matrix32>::pullback();
    let both = median(device, || {
        g.value_and_pullback(&mut y, &x, &w, &b, &seed);
        Ok(())
    })?;
    // The seed is copied: 2; y is saved and restored: 4; forward: 4; backward reads 5 arrays, and writes 3 shadows and the seed.
    let both = gigabytes(2 + 4 + 4 + 5 + 4, both);
    println!(
        "tanh(x·w + b), gradient: {both:.0} GB/s, {:.0} % of the copy (the aim: at least 90 %)",
        100.0 * both / copy
    );
    Ok(())
}

fn products(device: &Device, n: usize) -> Result<(), Error> {
    let zeros = || Matrix32::zeros(device, (n, n));
    let (mut c, a, b, seed) = (zeros()?, zeros()?, zeros()?, zeros()?);
    let forward = median(device, || {
        product(&mut c, &a, &b);
        Ok(())
    })?;
    let mut g = multiplied::<Matrix32>::pullback();
    let gradient = median(device, || {
        g.value_and_pullback(&mut c, &a, &b, &seed);
        Ok(())
    })?;
    println!(
        "product, n = {n}: {:.3} ms, with gradient {:.3} ms, {:.0} % of three",
        1e3 * forward,
        1e3 * gradient,
        300.0 * forward / gradient
    );
    // Nothing but what cuBLAS is asked for: C ← A·B, Ȧ += Ċ·Bᵀ, Ḃ += Aᵀ·Ċ.
    let (mut da, mut db) = (zeros()?, zeros()?);
    let calls = median(device, || {
        general_product(Trans::No, Trans::No, 1.0, &a, &b, 0.0, &mut c);
        general_product(Trans::No, Trans::Yes, 1.0, &seed, &b, 1.0, &mut da);
        general_product(Trans::Yes, Trans::No, 1.0, &a, &seed, 1.0, &mut db);
        Ok(())
    })?;
    let mut g = updated::<Matrix32, Matrix32, Matrix32>::pullback();
    let general = median(device, || {
        g.value_and_pullback(&mut c, &a, &b, &seed);
        Ok(())
    })?;
    println!(
        "the same products by themselves {:.3} ms: {:.0} % of the gradient (the aim: at least 95 %), {:.0} % of that of a general product",
        1e3 * calls,
        100.0 * calls / gradient,
        100.0 * calls / general
    );
    Ok(())
}

/// Many small products with the same weights or with weights of their own, and their gradients.
fn stacks(device: &Device, count: usize, n: usize) -> Result<(), Error> {
    let many = || DeviceArray::<f32, Ix3>::zeros(device, (count, n, n));
    let (mut c, a, b, seed, weights) = (many()?, many()?, many()?, many()?, Matrix32::zeros(device, (n, n))?);
    let mut own = updated::<DeviceArray<f32, Ix3>, DeviceArray<f32, Ix3>, DeviceArray<f32, Ix3>>::pullback();
    let mut same = updated::<DeviceArray<f32, Ix3>, Matrix32, DeviceArray<f32, Ix3>>::pullback();
    let teraflops = |seconds: f64| 6e-12 * count as f64 * (n as f64).powi(3) / seconds;
    let own = teraflops(median(device, || {
        own.value_and_pullback(&mut c, &a, &b, &seed);
        Ok(())
    })?);
    let same = teraflops(median(device, || {
        same.value_and_pullback(&mut c, &a, &weights, &seed);
        Ok(())
    })?);
    println!("{count} products, n = {n}, with gradients: {own:.1} TFLOP/s, with the same weights {same:.1}");
    Ok(())
}

/// Rows of a table, and their gradients added up: the words of a text, of which few are most.
fn lookups(device: &Device, count: usize, rows: usize, columns: usize) -> Result<(), Error> {
    let zeros = |rows| Matrix32::zeros(device, (rows, columns));
    let (mut y, table, seed) = (zeros(count)?, zeros(rows)?, zeros(count)?);
    let words: Vec<usize> =
        (0..count).map(|i| (rows as f64).powf((i as f64 * 0.618_034).fract()) as usize - 1).collect();
    let words = DeviceIndices::new(device, &words, rows)?;
    let mut g = looked_up::<Matrix32, DeviceIndices>::pullback();
    let forward = median(device, || {
        embedding(&mut y, &table, &words);
        Ok(())
    })?;
    let both = median(device, || {
        g.value_and_pullback(&mut y, &table, &words, &seed);
        Ok(())
    })?;
    let gigabytes = 8e-9 * (count * columns) as f64 / forward;
    println!(
        "{count} rows of {columns} among {rows}: forward {gigabytes:.0} GB/s, gradient {:.3} ms",
        1e3 * both
    );
    Ok(())
}

/// Copies from and to the host.
fn transfers(device: &Device, elements: usize) -> Result<(), Error> {
    let mut host = Array1::<f32>::zeros(elements);
    let mut array = DeviceArray::<f32, Ix1>::zeros(device, elements)?;
    let gigabytes = |seconds: f64| 4e-9 * elements as f64 / seconds;
    let there = gigabytes(median(device, || array.copy_from(&host))?);
    let back = gigabytes(median(device, || array.copy_to(&mut host))?);
    println!("{elements} numbers: {there:.1} GB/s to the device, {back:.1} GB/s back");
    Ok(())
}

fn networks(device: &Device, batch: usize, d: usize) -> Result<(), Error> {
    let zeros = |rows| Matrix32::zeros(device, (rows, d));
    let (z, h, y) = (zeros(batch)?, zeros(batch)?, zeros(batch)?);
    let (x, w1, w2, seed) = (zeros(batch)?, zeros(d)?, zeros(d)?, zeros(batch)?);
    let b1 = DeviceArray::<f32, Ix1>::zeros(device, d)?;
    let mut g = network::<Matrix32, DeviceArray<f32, Ix1>>::pullback();
    let mut step = Repeated::new(device, (z, h, y), |(z, h, y)| {
        g.value_and_pullback(z, h, y, &x, &w1, &b1, &w2, &seed, &seed, &seed);
    });
    // Two runs come before the graph.
    let begin = Instant::now();
    step.run()?;
    device.synchronize()?;
    let first = begin.elapsed().as_secs_f64();
    let graph = median(device, || step.run())?;
    drop(step);
    let (mut z, mut h, mut y) = (zeros(batch)?, zeros(batch)?, zeros(batch)?);
    let apart = median(device, || {
        g.value_and_pullback(&mut z, &mut h, &mut y, &x, &w1, &b1, &w2, &seed, &seed, &seed);
        Ok(())
    })?;
    println!(
        "network, batch {batch}, d = {d}: first run {:.3} ms, later ones {:.4} ms, as a graph {:.4} ms",
        1e3 * first,
        1e3 * apart,
        1e3 * graph
    );
    match peers(batch, d) {
        Ok(times) => {
            let [eager, compiled, graphed] = times;
            // What is small waits for launches.
            let aim = if d <= 64 { " (the aim: at most 0.50)" } else { "" };
            for (name, time, aim) in
                [("eager", eager, ""), ("compiled", compiled, ""), ("as a graph", graphed, aim)]
            {
                println!(
                    "    PyTorch {name} {:.4} ms: ours takes {:.2} of that{aim}",
                    1e3 * time,
                    graph / time
                );
            }
        }
        Err(reason) => println!("    SKIPPED, nothing is compared with PyTorch: {reason}"),
    }
    Ok(())
}

/// The times of the same network in PyTorch, in this run.
fn peers(batch: usize, d: usize) -> Result<[f64; 3], String> {
    let python = std::env::var_os("PULLBACK_PEERS").ok_or("PULLBACK_PEERS names no Python that has it")?;
    // Beside the binary where that is carried to a machine.
    let scripts = ["benches/cuda_peers.py", "cuda_peers.py"];
    let script =
        scripts.into_iter().find(|path| Path::new(path).exists()).ok_or("there is no cuda_peers.py")?;
    let run = Command::new(python).arg(script).args([batch, d].map(|n| n.to_string())).output();
    let run = run.map_err(|error| error.to_string())?;
    if !run.status.success() {
        return Err(String::from_utf8_lossy(&run.stderr).into_owned());
    }
    let text = String::from_utf8_lossy(&run.stdout);
    let times: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    if times.iter().any(|time| time.is_nan()) {
        eprintln!("{}", String::from_utf8_lossy(&run.stderr));
    }
    times.try_into().map_err(|_| format!("it says {text:?}"))
}

/// Two layers with an activation between them, in one function by epilogues of cuBLASLt and one after the other.
fn layers(device: &Device, batch: usize, d: usize) -> Result<(), Error> {
    let zeros = |rows| Matrix32::zeros(device, (rows, d));
    let (mut y, mut h, mut z, x) = (zeros(batch)?, zeros(batch)?, zeros(batch)?, zeros(batch)?);
    let (w1, w2, seed) = (zeros(d)?, zeros(d)?, zeros(batch)?);
    let b = DeviceArray::<f32, Ix1>::zeros(device, d)?;
    let mut at_once = fed_forward::<Matrix32, DeviceArray<f32, Ix1>>::pullback();
    let at_once = median(device, || {
        at_once.value_and_pullback(&mut y, &mut h, &x, &w1, &b, &w2, &b, &seed, &seed);
        Ok(())
    })?;
    let mut apart = in_turn::<Matrix32, DeviceArray<f32, Ix1>>::pullback();
    let apart = median(device, || {
        apart.value_and_pullback(&mut y, &mut h, &mut z, &x, &w1, &b, &w2, &b, &seed, &seed, &seed);
        Ok(())
    })?;
    println!(
        "feed_forward, batch {batch}, d = {d}: {:.4} ms, {:.2} of {:.4} ms for its parts",
        1e3 * at_once,
        at_once / apart,
        1e3 * apart
    );
    Ok(())
}

fn main() -> Result<(), Error> {
    let device = match Device::new(0) {
        Ok(device) => device,
        Err(error) if std::env::var_os("PULLBACK_DEVICE_ONLY").is_some() => return Err(error),
        Err(error) => {
            println!("SKIPPED, nothing is measured: {error}");
            return Ok(());
        }
    };
    let measures = std::env::args().any(|arg| arg == "--bench");
    bandwidth(&device, if measures { 1 << 27 } else { 1 << 12 })?;
    for n in if measures { &[512, 1024, 4096][..] } else { &[16] } {
        products(&device, *n)?;
    }
    for (count, n) in if measures { &[(4096, 32), (256, 256)][..] } else { &[(3, 4)] } {
        stacks(&device, *count, *n)?;
    }
    let (count, rows, columns) = if measures { (1 << 15, 50_000, 1024) } else { (10, 5, 3) };
    lookups(&device, count, rows, columns)?;
    for elements in if measures { &[1 << 10, 1 << 20, 1 << 26][..] } else { &[100] } {
        transfers(&device, *elements)?;
    }
    for (batch, d) in if measures { &[(16, 64), (256, 1024), (256, 4096)][..] } else { &[(2, 8)] } {
        networks(&device, *batch, *d)?;
        layers(&device, *batch, *d)?;
    }
    Ok(())
}
