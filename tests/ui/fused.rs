use pullback::fused;

fused! {
    fn loops(x) { for i in 0..3 { x } }
}

fused! {
    fn unknown(x) { x.bessel() + z }
}

fused! {
    fn remainder(x, k: f64) { x % 2.0 }
}

fused! {
    fn nothing(x) { 2.0 }
}

fused! {
    fn result(y) { y.exp() }
}

fused! {
    fn exponent(x, n: T; axis) { x.powi(n) + product(x) }
}

fused! {
    fn condition(x) { if x.is_nan() { 0.0 } else { x } }
    fn half(x) { if x > 0.0 { x } }
}

fused! {
    fn axes(x; rows) { sum(x) }
}

fn main() {}
