//! The rules of BLAS keep the contract of rules, on the cases that their files end with.

use pullback::blas::cases::{self, Allocates, Case};
use pullback::testing::{
    CheckRule, CountingAllocator, InputOf, TestFunction, TestParameters, allocations_in,
};
use pullback::{Function, Rule, blas};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// Checks the rule on the case, and that the function allocates nothing.
fn check<R: Rule<Function: TestFunction>>(rule: impl Fn() -> R, case: Case<InputOf<R>>) {
    let Case { name, inputs, panicking, sized, .. } = case;
    assert_eq!(name, R::Function::NAME);
    let mut large = sized(100);
    for arguments in inputs.iter().chain([&large]) {
        let mut arguments = arguments.clone();
        let mut call = || {
            R::Function::primal(<R::Function as Function>::Parameters::lend(&mut arguments));
        };
        call();
        assert_eq!(allocations_in(call).1, 0, "{name}");
    }
    let _ = &mut large;
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
checks! { dot nrm2 asum iamax scal axpy copy swap rot gemv ger symv syr trmv trsv gemm_batched symm syrk trmm trsm }
