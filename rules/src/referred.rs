//! What is kept of a constant that a search has found, `weights.iter().max_by(…)`: a reference may not outlive the call, and a copy of what it
//! refers to does.

/// Something constant that may be a reference.
pub struct Found<V>(pub V);

/// Something that is no reference.
#[derive(Clone, Copy)]
pub struct Unreferred<V>(V);

/// What a method of [`Found`] itself goes before.
pub trait KeepUnreferred<V> {
    /// Keeps the value.
    fn keep(self) -> Unreferred<V>;
}

impl<V> KeepUnreferred<V> for Found<V> {
    #[inline(always)]
    fn keep(self) -> Unreferred<V> {
        Unreferred(self.0)
    }
}

impl<V> Unreferred<V> {
    /// What was kept.
    #[inline(always)]
    pub fn again(self) -> V {
        self.0
    }
}

/// `references` are kept as `$Kept`, which holds the values and refers to them from then on.
macro_rules! referred {
    ($Kept:ident <$($T:ident),*> of $references:ty, $values:ty; $keep:expr, $again:expr) => {
        #[doc = concat!("What `", stringify!($references), "` refers to.")]
        pub struct $Kept<$($T),*>($values);

        impl<'a, $($T: Clone),*> Found<$references> {
            /// Keeps what it refers to.
            #[inline(always)]
            pub fn keep(self) -> $Kept<$($T),*> {
                let keep: fn($references) -> $values = $keep;
                $Kept(keep(self.0))
            }
        }

        impl<$($T),*> $Kept<$($T),*> {
            /// A reference to what was kept.
            #[inline(always)]
            pub fn again<'a>(&'a self) -> $references {
                let again: fn(&'a $values) -> $references = $again;
                again(&self.0)
            }
        }
    };
}

referred!(Referred<T> of &'a T, T; T::clone, |value| value);
referred!(ReferredSlice<T> of &'a [T], Vec<T>; <[T]>::to_vec, Vec::as_slice);
referred!(ReferredText<> of &'a str, String; str::to_string, String::as_str);
referred!(ReferredInside<T> of Option<&'a T>, Option<T>; |value| value.cloned(), Option::as_ref);
referred!(ReferredPair<A, B> of (&'a A, &'a B), (A, B); |(a, b)| (a.clone(), b.clone()), |(a, b)| (a, b));
referred!(ReferredPairInside<A, B> of Option<(&'a A, &'a B)>, Option<(A, B)>;
    |pair| pair.map(|(a, b)| (a.clone(), b.clone())), |pair| pair.as_ref().map(|(a, b)| (a, b)));
