//! The two forms of a function: one returns an array, the other writes to one.

/// For a function whose *kernel* `$Kernel` has
///
/// * `NAME`, for messages,
/// * `fn shape(…)`, the shape of the result, which panics where the arguments do not fit each other,
/// * `fn forward(&mut self, …, y)`, which computes it and keeps what the pullback reads,
/// * `fn pullback(&mut self, …, seed)`, which adds to the shadows of the arguments,
///
/// this makes both functions, and their rules.
macro_rules! forms {
    (
        $(#[$doc:meta])*
        fn $name:ident = $Rule:ident;
        $(#[$into_doc:meta])*
        fn $name_into:ident = $RuleInto:ident;
        kernel $Kernel:ident <$($G:ident: $B:ident $(<$BP:ident>)?),*>;
        constants ($($c:ident: [$($C:tt)*]),*);
        arguments ($($a:ident: & $A:ident <$($P:ident),*>),*);
        result $Y:ident <$T:ty $(, $D:ident)?> / $YR:ident $dim:ty;
    ) => {
        $(#[$doc])*
        pub fn $name<$($G: $B $(<$BP>)?),*>($($c: $($C)*,)* $($a: &$A<$($P),*>),*) -> $Y<$T $(, $D)?> {
            crate::reused::with::<$Rule<$($G),*>, _>(<$T>::CARRIES, |rule| rule.forward($($c,)* $($a),*))
        }

        #[derive(Default, pullback_macros::Rule)]
        #[rule(pub fn $name<$($G: $B $(<$BP>)?),*>($(#[constant] $c: $($C)*,)* $($a: &$A<$($P),*>),*) -> $Y<$T $(, $D)?>)]
        struct $Rule<$($G: $B $(<$BP>)?),*> {
            kernel: $Kernel<$($G),*>,
        }

        impl<$($G: $B $(<$BP>)?),*> $Rule<$($G),*> {
            fn forward(&mut self, $($c: $($C)*,)* $($a: &$A<$($P),*>),*) -> $Y<$T $(, $D)?> {
                let shape = $Kernel::<$($G),*>::shape(stringify!($name), $($c,)* $($a),*);
                let mut y = $Y::from_elem(shape, <$T as crate::float::Float>::zero());
                self.kernel.forward(stringify!($name), $($c,)* $($a,)* &mut y);
                crate::blas::products::leave_vector_registers_clean();
                y
            }
            fn pullback(
                &mut self,
                $($c: $($C)*,)*
                $($a: crate::activation::Dual<'_, $A<$($P),*>>,)*
                seed: &$Y<$T $(, $D)?>,
            ) {
                self.kernel.pullback($($c,)* $($a,)* super::packed::Seed::Lent(seed));
                crate::blas::products::leave_vector_registers_clean();
            }
        }

        $(#[$into_doc])*
        pub fn $name_into<$($G: $B $(<$BP>)?),*>(y: &mut $YR<$T $(, $D)?>, $($c: $($C)*,)* $($a: &$A<$($P),*>),*) {
            crate::reused::with::<$RuleInto<$($G),*>, _>(<$T>::CARRIES, |rule| rule.compute(y, $($c,)* $($a),*));
        }

        #[derive(Default, pullback_macros::Rule)]
        #[rule(pub fn $name_into<$($G: $B $(<$BP>)?),*>(y: &mut $YR<$T $(, $D)?>, $(#[constant] $c: $($C)*,)* $($a: &$A<$($P),*>),*))]
        struct $RuleInto<$($G: $B $(<$BP>)?),*> {
            #[rule(restores = y)]
            old: crate::saved::Saved<$T>,
            kernel: $Kernel<$($G),*>,
        }

        impl<$($G: $B $(<$BP>)?),*> $RuleInto<$($G),*> {
            fn compute(&mut self, y: &mut $YR<$T $(, $D)?>, $($c: $($C)*,)* $($a: &$A<$($P),*>),*) {
                let shape: $dim = $Kernel::<$($G),*>::shape(stringify!($name_into), $($c,)* $($a),*);
                super::packed::has_shape(stringify!($name_into), y, &shape);
                self.kernel.forward(stringify!($name_into), $($c,)* $($a,)* y);
                crate::blas::products::leave_vector_registers_clean();
            }
            fn forward(&mut self, y: &mut $YR<$T $(, $D)?>, $($c: $($C)*,)* $($a: &$A<$($P),*>),*) {
                self.old.save_to_restore(y);
                self.compute(y, $($c,)* $($a),*);
            }
            fn pullback(
                &mut self,
                y: crate::activation::DualMut<'_, $YR<$T $(, $D)?>>,
                $($c: $($C)*,)*
                $($a: crate::activation::Dual<'_, $A<$($P),*>>),*
            ) {
                if let Some(cells) = y.shadow.get() {
                    self.kernel.pullback($($c,)* $($a,)* super::packed::Seed::Cells(cells));
                    cells.for_each(|cell| cell.set(<$T as crate::float::Float>::zero()));
                    crate::blas::products::leave_vector_registers_clean();
                }
                self.old.restore(y.value);
            }
        }
    };
}
pub(super) use forms;
