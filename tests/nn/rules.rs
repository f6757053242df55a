//! The rules that are not fused keep the contract of rules, on the cases that their files end with.

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
}
