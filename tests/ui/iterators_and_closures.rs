use pullback::prelude::*;

#[differentiable]
fn unknown_adapter(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).peekable().sum()
}

#[differentiable]
fn unknown_consumer(x: &[f64]) -> f64 {
    x.iter().map(|x| x * 2.0).try_fold(0.0, |a, b| if b > 0.0 { Ok(a + b) } else { Err(0) }).unwrap()
}

#[differentiable]
fn loop_over_what_is_not_known(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for part in x.split(|v| *v < 0.0) {
        total += part[0];
    }
    total
}

#[differentiable]
fn zip_after_filter(x: &[f64], y: &[f64]) -> f64 {
    x.iter().filter(|v| **v > 0.0).zip(y.iter().filter(|v| **v > 0.0)).map(|(a, b)| a * b).sum()
}

#[differentiable]
fn option(x: &[f64]) -> f64 {
    let first = x.iter().next();
    let options = [first, x.last()];
    *options[0].unwrap()
}

#[differentiable]
fn counted(x: &[f64], t: f64) -> f64 {
    let mut c = 0.0;
    let last = x.iter().map(|v| { c += 1.0; v * c }).last();
    last.unwrap() * c * t
}

#[differentiable]
fn searched_by_and_by(x: &[f64], t: f64) -> f64 {
    let mut items = x.iter();
    let first = items.find(|v| **v > t);
    first.unwrap() * items.sum::<f64>()
}

#[differentiable]
fn collection(x: &[f64]) -> f64 {
    let sorted: Box<[f64]> = x.iter().copied().collect();
    sorted[0]
}

#[differentiable]
fn endless(x: f64) -> f64 {
    std::iter::repeat(x).map(|x| x * x).sum()
}

#[differentiable]
fn leaves_early(x: f64, y: f64) -> f64 {
    let scale = |z: f64| {
        let w = (z > 1.0).then_some(z)?;
        let scaled = Some(w * y);
        scaled
    };
    scale(x).unwrap_or(0.0)
}

#[differentiable]
fn in_a_macro(x: f64, y: f64) -> f64 {
    let scale = |z: f64| z * y;
    assert!(scale(x) > 0.0);
    scale(x)
}

#[differentiable]
fn in_a_format_string(x: &[f64], v: f64) -> f64 {
    x.iter().map(|v| { println!("{}", format!("{v}")); v * 2.0 }).map(|w| w * v).sum()
}

#[differentiable]
fn square(x: f64) -> f64 {
    x * x
}

#[differentiable]
fn in_a_tuple(x: f64, y: f64) -> f64 {
    let named = ("square", square);
    (named.1)(x) * y
}

#[differentiable]
fn chosen_anew(x: f64, y: f64) -> f64 {
    let mut f: fn(f64) -> f64 = square;
    if y > 0.0 {
        f = f64::sin;
    }
    f(x)
}

#[differentiable]
fn chosen_in_a_macro(x: f64, y: f64) -> f64 {
    let functions = [square, f64::sin];
    assert!(functions[1](x) > 0.0);
    functions[0](x) * y
}

#[differentiable]
fn hidden_by_another(x: f64, y: f64) -> f64 {
    let f = square;
    let square = |z: f64| z * y;
    f(x) * square(x)
}

#[differentiable]
fn moved_with_its_state(x: f64, y: f64) -> f64 {
    let mut k = y;
    let mut f = move |z: f64| {
        k *= z;
        k
    };
    let mut g = f;
    f(x) * g(x)
}

#[differentiable]
fn array_of_vectors(x: &[f64]) -> f64 {
    let rows: [Vec<f64>; 2] = std::array::from_fn(|i| vec![x[i]; i + 1]);
    rows[0][0] * rows[1][1]
}

#[differentiable]
fn successors_of_pairs(x: f64) -> f64 {
    std::iter::successors(Some((x, x)), |&(a, b)| Some((b, a * b))).map(|(a, _)| a).take(4).sum()
}

#[differentiable]
fn unzipped_into_one_name(x: &[f64]) -> f64 {
    let both: (Vec<f64>, Vec<f64>) = x.iter().map(|v| (v.sin(), v.cos())).unzip();
    both.0[0]
}

#[differentiable]
fn chain_that_another_changes(x: &[f64]) -> f64 {
    let mut n = 1;
    let some = x.iter().take(n);
    n += 1;
    some.sum::<f64>() * n as f64
}

#[differentiable]
fn rows_by_reference(x: &[f64], y: &[f64]) -> f64 {
    let rows: Vec<&[f64]> = x.chunks_exact(2).chain(y.chunks_exact(2)).collect();
    rows[0][1]
}

#[differentiable]
fn first(x: [f64; 3]) -> f64 {
    x[0]
}

#[differentiable]
fn converts_without_a_type(x: &[f64]) -> f64 {
    let a = x[..3].try_into().unwrap();
    first(a)
}

#[differentiable]
fn gathers_for_later(x: &[f64]) -> f64 {
    let roots: Option<Vec<f64>> = x.iter().map(|v| if *v < 0.0 { None } else { Some(v.sqrt()) }).collect();
    let n = x.len() as f64;
    if let Some(roots) = roots { roots[0] * n } else { n }
}

/// How often these change what they change, loops that go on to the end would not know.
#[differentiable]
fn counted_on_the_way(x: &[f64], y: &[f64]) -> f64 {
    let (mut calls, mut log) = (0.0, Vec::new());
    let total: f64 = x.iter().map(|v| { calls += 1.0; v * calls }).chain(y.iter().copied()).take_while(|v| *v < 1.0).sum();
    let zipped: f64 = x.iter().filter(|v| **v > 0.0).zip(y.iter().map(|v| { calls += 1.0; v * calls })).map(|(a, b)| a * b).sum();
    let found = x.iter().map(|v| { log.push(*v); v * 2.0 }).find(|v| *v > 0.3).unwrap_or(0.3);
    total * zipped * found * log[0]
}

fn main() {}
