//! Where a part of a slice is within the whole.

/// How many bytes `part` starts behind `whole`, in elements.
#[inline(always)]
fn distance<T>(whole: &[T], part: *const T) -> usize {
    (part.addr() - whole.as_ptr().addr()).checked_div(size_of::<T>()).unwrap_or(0)
}

/// Where `part` of `whole` starts.
#[inline(always)]
pub fn start_of_part<T>(whole: &[T], part: &[T]) -> usize {
    distance(whole, part.as_ptr())
}

/// Where `part` of `whole` ends.
#[inline(always)]
pub fn end_of_part<T>(whole: &[T], part: &[T]) -> usize {
    distance(whole, part.as_ptr()) + part.len()
}

/// Which of the elements of `whole` this is.
#[inline(always)]
pub fn place_of_element<T>(whole: &[T], element: &T) -> usize {
    distance(whole, element)
}
