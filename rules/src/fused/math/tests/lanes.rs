//! Loops have the same bits as single calls, for each instruction set that this machine has. Only an optimised build
//! vectorises them: `cargo test --release`.

use super::*;

/// The loops over a function for one instruction set each, the least of which is that of the target.
pub(super) type Loops<T> = Vec<(&'static str, unsafe fn(&[T], &mut [T]))>;

macro_rules! loops {
    ($float:ty, $name:ident) => {{
        fn baseline(x: &[$float], y: &mut [$float]) {
            for (y, x) in y.iter_mut().zip(x) {
                *y = Real::$name(*x);
            }
        }
        #[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
        fn avx2(x: &[$float], y: &mut [$float]) {
            for (y, x) in y.iter_mut().zip(x) {
                *y = Real::$name(*x);
            }
        }
        #[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx512f,avx512dq,avx512vl,fma"))]
        fn avx512(x: &[$float], y: &mut [$float]) {
            for (y, x) in y.iter_mut().zip(x) {
                *y = Real::$name(*x);
            }
        }
        let all: Loops<$float> = vec![("baseline", baseline), ("avx2", avx2), ("avx512", avx512)];
        all
    }};
}
pub(super) use loops;

fn available(name: &str) -> bool {
    #[cfg(target_arch = "x86_64")]
    match name {
        "avx2" => return is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
        "avx512" => {
            return is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("fma");
        }
        _ => {}
    }
    name == "baseline"
}

#[test]
fn loops_have_the_bits_of_single_calls() {
    for Function { name, double, single, range, double_loops, single_loops, .. } in functions() {
        let mut random = Random::new();
        // Some are left over, however many lanes there are.
        let x: Vec<f64> = (0..3001).map(|_| random.argument(range)).collect();
        let x_single: Vec<f32> = x.iter().map(|x| *x as f32).collect();
        let (mut y, mut y_single) = (vec![0.0; x.len()], vec![0.0; x.len()]);
        for (set, run) in double_loops.into_iter().filter(|(set, _)| available(set)) {
            // SAFETY: this machine has the instructions.
            unsafe { run(&x, &mut y) };
            for (x, y) in x.iter().zip(&y) {
                assert!(same(*y, double(std::hint::black_box(*x))), "{name}({x:e}) with {set}");
            }
        }
        for (set, run) in single_loops.into_iter().filter(|(set, _)| available(set)) {
            // SAFETY: as above.
            unsafe { run(&x_single, &mut y_single) };
            for (x, y) in x_single.iter().zip(&y_single) {
                let alone = single(std::hint::black_box(*x));
                assert!(same(f64::from(*y), f64::from(alone)), "{name}({x:e}) of f32 with {set}");
            }
        }
    }
}
