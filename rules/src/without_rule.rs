//! What has no rule, and says so: derived code finds a method here, whose bound no type meets.
//!
//! Containers of the standard library hold no number with a gradient: maps, cells, and shared or locked memory. Numeric methods have no rule by
//! the path of another name for a float, `type Real = f64; Real::max(x, y)`: only the compiler knows what the name stands for.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList};
use std::rc::Rc;
use std::sync::{Arc, Mutex, OnceLock, RwLock};

use crate::call::Call;
use crate::function::Function;

macro_rules! method {
    ($bound:ident: $name:ident($($arg:ident),*)) => {
        /// The name tells of which method.
        fn $name<'a, F: Function $(, $arg)*>(self $(, _: $arg)*) -> Call<'a, F>
        where
            Self: $bound,
        {
            unreachable!("no type implements the trait of the bound")
        }
    };
}

/// A container whose elements carry gradients. No type that is listed here is one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` holds no numbers that carry a gradient",
    label = "a number with a gradient is put into it",
    note = "keep such numbers in a `Vec`, whose indices a map holds: `v[m[&key]]`",
    note = "what is written behind a shared reference is a variable, or a parameter `&mut`; `Box` is as good as what is in it"
)]
pub trait HoldsGradients {}

/// What derived code calls beside a method of such a container.
pub trait Unheld: Sized {
    method!(HoldsGradients: insert_has_no_rule_mark_its_impl_differentiable(A, B));
    method!(HoldsGradients: entry_has_no_rule_mark_its_impl_differentiable(A));
    method!(HoldsGradients: extend_has_no_rule_mark_its_impl_differentiable(A));
    method!(HoldsGradients: reserve_has_no_rule_mark_its_impl_differentiable(A));
    method!(HoldsGradients: push_has_no_rule_mark_its_impl_differentiable(A));
    method!(HoldsGradients: push_back_has_no_rule_mark_its_impl_differentiable(A));
    method!(HoldsGradients: set_has_no_rule_mark_its_impl_differentiable(A));
    method!(HoldsGradients: replace_has_no_rule_mark_its_impl_differentiable(A));

    /// `Rc::new(x)`
    fn new_has_no_rule_mark_its_impl_differentiable<'a, F: Function, A>(_: A) -> Call<'a, F>
    where
        Self: HoldsGradients,
    {
        unreachable!("no type implements the trait of the bound")
    }
}

impl<K, V, S> Unheld for HashMap<K, V, S> {}
impl<K, V> Unheld for BTreeMap<K, V> {}
impl<K, S> Unheld for HashSet<K, S> {}
impl<K> Unheld for BTreeSet<K> {}
impl<T> Unheld for BinaryHeap<T> {}
impl<T> Unheld for LinkedList<T> {}
impl<T> Unheld for Cell<T> {}
impl<T> Unheld for RefCell<T> {}
impl<T> Unheld for OnceCell<T> {}
impl<T> Unheld for Rc<T> {}
impl<T> Unheld for Arc<T> {}
impl<T> Unheld for Mutex<T> {}
impl<T> Unheld for RwLock<T> {}
impl<T> Unheld for OnceLock<T> {}

/// A type whose numeric methods have rules that paths find. No float is one.
#[diagnostic::on_unimplemented(
    message = "a numeric method by the path of another name for `{Self}` has no rule",
    label = "called by its path",
    note = "call it as a method, `x.max(y)`, or by the path of the type itself, `f64::max(x, y)`"
)]
pub trait HasRulesByPath {}

/// What derived code calls beside a numeric method.
pub trait Aliased: Sized {
    method!(HasRulesByPath: abs_has_no_rule_mark_its_impl_differentiable());
    method!(HasRulesByPath: sqrt_has_no_rule_mark_its_impl_differentiable());
    method!(HasRulesByPath: cbrt_has_no_rule_mark_its_impl_differentiable());
    method!(HasRulesByPath: recip_has_no_rule_mark_its_impl_differentiable());
    method!(HasRulesByPath: exp_has_no_rule_mark_its_impl_differentiable());
    method!(HasRulesByPath: ln_has_no_rule_mark_its_impl_differentiable());
    method!(HasRulesByPath: log10_has_no_rule_mark_its_impl_differentiable());
    method!(HasRulesByPath: sin_has_no_rule_mark_its_impl_differentiable());
    method!(HasRulesByPath: cos_has_no_rule_mark_its_impl_differentiable());
    method!(HasRulesByPath: tan_has_no_rule_mark_its_impl_differentiable());
    method!(HasRulesByPath: tanh_has_no_rule_mark_its_impl_differentiable());
    method!(HasRulesByPath: atan2_has_no_rule_mark_its_impl_differentiable(A));
    method!(HasRulesByPath: hypot_has_no_rule_mark_its_impl_differentiable(A));
    method!(HasRulesByPath: powi_has_no_rule_mark_its_impl_differentiable(A));
    method!(HasRulesByPath: powf_has_no_rule_mark_its_impl_differentiable(A));
    method!(HasRulesByPath: max_has_no_rule_mark_its_impl_differentiable(A));
    method!(HasRulesByPath: min_has_no_rule_mark_its_impl_differentiable(A));
    method!(HasRulesByPath: mul_add_has_no_rule_mark_its_impl_differentiable(A, B));
    method!(HasRulesByPath: clamp_has_no_rule_mark_its_impl_differentiable(A, B));
}

impl Aliased for f32 {}
impl Aliased for f64 {}
