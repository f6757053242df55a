//! Vectors and matrices of nalgebra on the heap.

/// Names of types whose values are on the heap: `DVector`, `Matrix3xX`.
pub(crate) fn on_heap(name: &str) -> bool {
    ["DVector", "DMatrix", "RowDVector"].contains(&name)
        || name.strip_prefix("Matrix").is_some_and(|sizes| sizes.starts_with("Xx") || sizes.ends_with("xX"))
}
