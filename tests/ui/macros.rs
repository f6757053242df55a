//! Names of a macro's own and names that it is given.

use pullback::prelude::*;

macro_rules! doubled {
    ($name:ident, $t:ident, $value:expr) => {
        #[differentiable]
        fn $name($t: f64) -> f64 {
            let t = 2.0 * $t;
            t * $value
        }
    };
}

doubled!(other_name, x, x * x);
doubled!(same_name, t, t * t);

fn main() {
    let _ = other_name::gradient().value_and_gradient(1.0);
}
