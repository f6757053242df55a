fn greatest(x: &DVector<f64>) -> f64 {
    x.max()
}

fn behind_a_reference(a: &DMatrix<f64>, x: &mut DVector<f64>) {
    *x = a * &*x;
}

fn next_to_a_write(a: &DMatrix<f64>, x: &mut DVector<f64>) -> f64 {
    changed(x) * (a * &*x).norm()
}

fn next_to_a_borrow(a: &DMatrix<f64>, mut s: f64, x: &DVector<f64>) -> f64 {
    std::mem::replace(&mut s, 1.0) * (a * x).norm() + s
}
