/// The determinant of what is left of the rows from `row` on, along the first one.
fn minor(a: &[f64], ell: usize, row: usize, columns: u32) -> f64 {
    let first = row * ell + columns.trailing_zeros() as usize;
    if row + 1 == ell {
        return a[first];
    }
    let mut total = 0.0;
    let mut sign = 1.0;
    for column in 0..ell {
        if columns >> column & 1 == 1 {
            total += sign * a[row * ell + column] * minor(a, ell, row + 1, columns ^ 1 << column);
            sign = -sign;
        }
    }
    total
}
