//! What code without gradient calls methods on: nothing undoes what these change, so that they must not change anything.

use std::ops::Deref;

/// Something to be read. A method that takes `&mut self` does not compile on it, and the compiler's message shows the name.
#[repr(transparent)]
pub struct BindTheResultWithLetFirst<T: ?Sized>(T);

impl<T: ?Sized> BindTheResultWithLetFirst<T> {
    /// The same thing, to be followed, `(*of(&x)).method()`: references have methods of their own.
    #[inline(always)]
    pub fn of(place: &T) -> &Self {
        // SAFETY: `repr(transparent)` gives both types one layout, and the reference the metadata of the other.
        unsafe { &*(std::ptr::from_ref(place) as *const Self) }
    }
}

impl<T: ?Sized> Deref for BindTheResultWithLetFirst<T> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::BindTheResultWithLetFirst as OnlyRead;

    #[test]
    fn reads_what_it_is() {
        let (name, mut numbers) = (String::from("name"), vec![3_i32, 1, 2]);
        let whole: &str = (*OnlyRead::of(&name)).as_str();
        assert_eq!((whole, (*OnlyRead::of("str")).len()), ("name", 3));
        assert_eq!(
            ((*OnlyRead::of(&numbers)).iter().max(), (*OnlyRead::of(&numbers[..])).first()),
            (Some(&3), Some(&3))
        );
        assert_eq!((*OnlyRead::of(&numbers[1])).pow(2), 1);
        // Not of the reference.
        assert_eq!((*OnlyRead::of(&name)).clone(), name);
        numbers.sort_unstable();
        assert_eq!(numbers, [1, 2, 3]);
    }
}
