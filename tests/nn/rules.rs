//! The rules that are not fused keep the contract of rules, on the cases that their files end with.

use ndarray::{Array1, Array2, Array3, Array4, Ix2, Ix4};
use pullback::nn::{self, cases};
use pullback::testing::{CheckRule, InputOf, TestFunction};
use pullback::{Rule, nn::cases::Case};

fn check<R: Rule<Function: TestFunction>>(rule: impl Fn() -> R, case: Case<InputOf<R>>) {
    let check = CheckRule::new(rule).allocating(0).inputs(case.inputs);
    case.panicking.into_iter().fold(check, CheckRule::panicking).run();
}

macro_rules! checks {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            check(nn::$name::<f64>::rule, cases::$name());
            check(nn::$name::<f32>::rule, cases::$name());
        }
    )*};
}
checks! {
    conv1d conv2d
    avg_pool1d avg_pool2d max_pool1d max_pool2d
    embedding negative_log_likelihood sparse_cross_entropy
    attention
}

/// For arrays in any memory, of which the host's is one.
#[test]
fn generic() {
    check(nn::generic::embedding::<f64, Array2<f64>, Vec<usize>>::rule, cases::embedding());
    check(nn::generic::embedding::<f32, Array2<f32>, Vec<usize>>::rule, cases::embedding());
}

#[test]
fn layers_in_any_memory() {
    use nn::generic::*;
    check(conv1d::<f64, Array3<f64>, Array1<f64>>::rule, cases::conv1d());
    check(conv2d::<f64, Array4<f64>, Array1<f64>>::rule, cases::conv2d());
    check(conv2d::<f32, Array4<f32>, Array1<f32>>::rule, cases::conv2d());
    check(avg_pool1d::<f64, Array3<f64>>::rule, cases::avg_pool1d());
    check(max_pool1d::<f64, Array3<f64>>::rule, cases::max_pool1d());
    check(avg_pool2d::<f32, Array4<f32>>::rule, cases::avg_pool2d());
    check(max_pool2d::<f64, Array4<f64>>::rule, cases::max_pool2d());
    check(dropout::<f64, Array2<f64>>::rule, cases::dropout());
    check(dropout::<f32, Array2<f32>>::rule, cases::dropout());
    check(attention::<f64, Array4<f64>>::rule, cases::attention());
    check(attention::<f32, Array4<f32>>::rule, cases::attention());
    let (features, planes) = cases::batch_norm();
    check(batch_norm::<f64, Array2<f64>, Array1<f64>>::rule, features);
    check(batch_norm::<f64, Array4<f64>, Array1<f64>>::rule, planes);
    check(batch_norm::<f32, Array4<f32>, Array1<f32>>::rule, cases::batch_norm().1);
    let (features, planes) = cases::group_norm();
    check(group_norm::<f64, Array2<f64>, Array1<f64>>::rule, features);
    check(group_norm::<f64, Array4<f64>, Array1<f64>>::rule, planes);
    check(group_norm::<f32, Array4<f32>, Array1<f32>>::rule, cases::group_norm().1);
}

#[test]
fn linear() {
    check(nn::generic::linear::<f64, Array2<f64>, Array1<f64>>::rule, cases::linear());
    check(nn::generic::linear::<f32, Array2<f32>, Array1<f32>>::rule, cases::linear());
    check(nn::generic::feed_forward::<f64, Array2<f64>, Array1<f64>>::rule, cases::feed_forward());
    check(nn::generic::feed_forward::<f32, Array2<f32>, Array1<f32>>::rule, cases::feed_forward());
}

#[test]
fn dropout() {
    check(nn::dropout::<f64, Ix2>::rule, cases::dropout());
    check(nn::dropout::<f32, Ix2>::rule, cases::dropout());
}

#[test]
fn norms() {
    let (features, planes) = cases::batch_norm();
    check(nn::batch_norm::<f64, Ix2>::rule, features);
    check(nn::batch_norm::<f64, Ix4>::rule, planes);
    check(nn::batch_norm::<f32, Ix4>::rule, cases::batch_norm().1);
    check(nn::batch_norm_inference::<f64, Ix4>::rule, cases::batch_norm_inference());
    check(nn::batch_norm_inference::<f32, Ix4>::rule, cases::batch_norm_inference());
    let (features, planes) = cases::group_norm();
    check(nn::group_norm::<f64, Ix2>::rule, features);
    check(nn::group_norm::<f64, Ix4>::rule, planes);
    check(nn::group_norm::<f32, Ix4>::rule, cases::group_norm().1);
}
