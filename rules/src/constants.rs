//! What a `for` gets out of constants of which the macro does not know whether they are references.

/// Something that is gone through by an index, behind a reference: the items are what its `IntoIterator` hands out.
#[diagnostic::on_unimplemented(
    message = "a loop over this constant is not differentiable",
    label = "neither a slice, an array or a `Vec`, nor a reference to one",
    note = "`collect` its items before, `let items: Vec<_> = …;`, and loop over that"
)]
pub trait Constants {
    /// A reference, or the element itself.
    type Item;
    /// How many there are.
    fn count(self) -> usize;
    /// The item at `index`.
    fn item(self, index: usize) -> Self::Item;
}

impl<'a, T> Constants for &&'a [T] {
    type Item = &'a T;
    #[inline(always)]
    fn count(self) -> usize {
        self[..].len()
    }
    #[inline(always)]
    fn item(self, index: usize) -> &'a T {
        &self[index]
    }
}

impl<'a, T> Constants for &&'a Vec<T> {
    type Item = &'a T;
    #[inline(always)]
    fn count(self) -> usize {
        self[..].len()
    }
    #[inline(always)]
    fn item(self, index: usize) -> &'a T {
        &self[index]
    }
}

impl<'a, T, const N: usize> Constants for &&'a [T; N] {
    type Item = &'a T;
    #[inline(always)]
    fn count(self) -> usize {
        self[..].len()
    }
    #[inline(always)]
    fn item(self, index: usize) -> &'a T {
        &self[index]
    }
}

impl<T: Clone> Constants for &Vec<T> {
    type Item = T;
    #[inline(always)]
    fn count(self) -> usize {
        self[..].len()
    }
    #[inline(always)]
    fn item(self, index: usize) -> T {
        self[index].clone()
    }
}

impl<T: Clone, const N: usize> Constants for &[T; N] {
    type Item = T;
    #[inline(always)]
    fn count(self) -> usize {
        self[..].len()
    }
    #[inline(always)]
    fn item(self, index: usize) -> T {
        self[index].clone()
    }
}

/// The item of `constants` at `index`.
#[inline(always)]
pub fn item_of_constant<C: Constants>(constants: C, index: usize) -> C::Item {
    constants.item(index)
}

/// How many items `constants` has.
#[inline(always)]
pub fn len_of_constants<C: Constants>(constants: C) -> usize {
    constants.count()
}

/// The iterator that a `for` asks for the items of `constants`, of any type: no call of the user's.
#[inline(always)]
pub fn items_of_constants<C: IntoIterator>(constants: C) -> C::IntoIter {
    constants.into_iter()
}
