//! Containers of the standard library that hold no number with a gradient: maps, cells, and shared or locked memory. Derived code that puts
//! one there finds a method here, whose bound says so.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList};
use std::rc::Rc;
use std::sync::{Arc, Mutex, OnceLock, RwLock};

use crate::call::Call;
use crate::function::Function;

/// A container whose elements carry gradients. No type that is listed here is one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` holds no numbers that carry a gradient",
    label = "a number with a gradient is put into it",
    note = "keep such numbers in a `Vec`, whose indices a map holds: `v[m[&key]]`",
    note = "what is written behind a shared reference is a variable, or a parameter `&mut`; `Box` is as good as what is in it"
)]
pub trait HoldsGradients {}

macro_rules! method {
    ($name:ident($($arg:ident),*)) => {
        /// The name tells of which method.
        fn $name<'a, F: Function $(, $arg)*>(&mut self $(, _: $arg)*) -> Call<'a, F>
        where
            Self: HoldsGradients,
        {
            unreachable!("no such type implements the trait of the bound")
        }
    };
}

/// What derived code calls beside a method of such a container.
pub trait Unheld: Sized {
    method!(insert_has_no_rule_mark_its_impl_differentiable(A, B));
    method!(entry_has_no_rule_mark_its_impl_differentiable(A));
    method!(extend_has_no_rule_mark_its_impl_differentiable(A));
    method!(reserve_has_no_rule_mark_its_impl_differentiable(A));
    method!(push_has_no_rule_mark_its_impl_differentiable(A));
    method!(push_back_has_no_rule_mark_its_impl_differentiable(A));
    method!(set_has_no_rule_mark_its_impl_differentiable(A));
    method!(replace_has_no_rule_mark_its_impl_differentiable(A));

    /// `Rc::new(x)`
    fn new_has_no_rule_mark_its_impl_differentiable<'a, F: Function, A>(_: A) -> Call<'a, F>
    where
        Self: HoldsGradients,
    {
        unreachable!("no such type implements the trait of the bound")
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
