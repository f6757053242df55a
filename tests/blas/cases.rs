//! All rules keep the contract of rules, on the cases that their files end with.

use ndarray::{Array2, Array3};
use pullback::blas::cases::{self, Allocates, Case};
use pullback::testing::{CheckRule, InputOf, TestFunction, TestParameters, allocations_in};
use pullback::{Buffers, Function, Parameters, Rule, blas};

type List<R> = <<R as Rule>::Function as Function>::Parameters;

/// Checks the rule on the case, that the function allocates nothing, and what the rule does.
fn check<R: Rule<Function: TestFunction>>(rule: impl Fn() -> R, case: Case<InputOf<R>>)
where
    for<'a> pullback::Cotangent<'a, R::Function>: Default,
{
    let Case { name, allocates, inputs, panicking, sizes, sized } = case;
    assert_eq!(name, R::Function::NAME);
    assert!(!sizes.is_empty() && !inputs.is_empty(), "{name}");
    // Beyond what is done by kernels for small matrices.
    let large = sized(100);
    for arguments in inputs.iter().chain([&large]) {
        let mut arguments = arguments.clone();
        let mut call = || {
            R::Function::primal(List::<R>::lend(&mut arguments));
        };
        call();
        assert_eq!(allocations_in(call).1, 0, "{name}");
    }
    let mut arguments = large.clone();
    let mut rule_of_one = rule();
    let mut buffers: Buffers<R::Function> = List::<R>::buffers();
    List::<R>::prepare(&mut buffers, &List::<R>::lend(&mut arguments));
    let mut call = || {
        let (_, residual) = rule_of_one.forward(List::<R>::lend(&mut arguments));
        let args = List::<R>::lend(&mut arguments);
        rule_of_one.pullback(residual, args, List::<R>::shadows(&mut buffers), Default::default());
    };
    // The frame, and what is kept in it.
    let first = allocations_in(&mut call).1;
    assert_eq!(first > 1, allocates == Allocates::Once, "{name} allocates {first} times");
    assert_eq!(allocations_in(call).1, 0, "{name}");

    let mut check = CheckRule::new(rule).inputs(inputs);
    for input in panicking {
        check = check.panicking(input);
    }
    check.run();
}

macro_rules! checks {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            check(blas::$name::<f64>::rule, cases::$name());
            check(blas::$name::<f32>::rule, cases::$name());
        }
    )*};
}
checks! {
    dot nrm2 asum iamax scal axpy copy swap rot
    gemv ger symv syr trmv trsv
    gemm gemm_batched mul_into symm syrk trmm trsm
}

/// The function for matrices in any memory, and stacks of them, on what those for the host's are tested on.
macro_rules! general_product {
    ($($T:ty)*) => {$(
        let name = "general_product";
        let rule = pullback::general_product::<$T, Array2<$T>, Array2<$T>, Array2<$T>>::rule;
        check(rule, Case { name, ..cases::gemm() });
        let rule = pullback::general_product::<$T, Array3<$T>, Array3<$T>, Array3<$T>>::rule;
        check(rule, Case { name, ..cases::gemm_batched() });
    )*};
}

#[test]
fn general_product() {
    general_product!(f64 f32);
}
