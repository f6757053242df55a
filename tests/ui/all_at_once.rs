use pullback::prelude::*;

#[differentiable]
fn several<T>((x, y): (f64, f64), z: &[f64], s: f64) -> f64 {
    let scale = |q: f64| q * s;
    let n = match z.len() {
        0 => s,
        _ => z[0],
    };
    for z in z.iter() {
        if *z > 0.0 {
            return s;
        }
    }
    z.iter().sum::<f64>() + dbg!(s)
}

fn main() {}
