//! Numeric methods by the path of another name for a float, `type Real = f64; Real::max(x, y)`: only the compiler knows what the name stands
//! for, and says what to write.

use crate::call::Call;
use crate::function::Function;

/// A type whose numeric methods have rules that paths find. No float is one.
#[diagnostic::on_unimplemented(
    message = "a numeric method by the path of another name for `{Self}` has no rule",
    label = "called by its path",
    note = "call it as a method, `x.max(y)`, or by the path of the type itself, `f64::max(x, y)`"
)]
pub trait HasRulesByPath {}

macro_rules! method {
    ($name:ident($($arg:ident),*)) => {
        /// The name tells of which method.
        fn $name<'a, F: Function $(, $arg)*>(self $(, _: $arg)*) -> Call<'a, F>
        where
            Self: HasRulesByPath,
        {
            unreachable!("no float implements the trait of the bound")
        }
    };
}

/// What derived code calls beside a numeric method.
pub trait Aliased: Sized {
    method!(abs_has_no_rule_mark_its_impl_differentiable());
    method!(sqrt_has_no_rule_mark_its_impl_differentiable());
    method!(cbrt_has_no_rule_mark_its_impl_differentiable());
    method!(recip_has_no_rule_mark_its_impl_differentiable());
    method!(exp_has_no_rule_mark_its_impl_differentiable());
    method!(ln_has_no_rule_mark_its_impl_differentiable());
    method!(log10_has_no_rule_mark_its_impl_differentiable());
    method!(sin_has_no_rule_mark_its_impl_differentiable());
    method!(cos_has_no_rule_mark_its_impl_differentiable());
    method!(tan_has_no_rule_mark_its_impl_differentiable());
    method!(tanh_has_no_rule_mark_its_impl_differentiable());
    method!(atan2_has_no_rule_mark_its_impl_differentiable(A));
    method!(hypot_has_no_rule_mark_its_impl_differentiable(A));
    method!(powi_has_no_rule_mark_its_impl_differentiable(A));
    method!(powf_has_no_rule_mark_its_impl_differentiable(A));
    method!(max_has_no_rule_mark_its_impl_differentiable(A));
    method!(min_has_no_rule_mark_its_impl_differentiable(A));
    method!(mul_add_has_no_rule_mark_its_impl_differentiable(A, B));
    method!(clamp_has_no_rule_mark_its_impl_differentiable(A, B));
}

impl Aliased for f32 {}
impl Aliased for f64 {}
