//! References as the optimiser likes them.

macro_rules! apart {
    ($($name:ident($($ty:ident $value:ident),*))*) => {$(
        /// Calls `body` with these arguments.
        ///
        /// Nobody writes to what a `&` refers to, and nobody but its holder touches what a `&mut` refers to. The compiler tells the optimiser
        /// so of parameters, but not of the parts of a tuple, in which the arguments of a rule come.
        #[inline(always)]
        pub fn $name<$($ty,)* R>($($value: $ty,)* body: impl FnOnce($($ty),*) -> R) -> R {
            body($($value),*)
        }
    )*};
}

apart! {
    apart1(A a)
    apart2(A a, B b)
    apart3(A a, B b, C c)
    apart4(A a, B b, C c, D d)
    apart5(A a, B b, C c, D d, E e)
    apart6(A a, B b, C c, D d, E e, F f)
}
