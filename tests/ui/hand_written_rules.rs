use pullback::prelude::*;
use pullback::{Dual, DualMut, Saved};

pub fn scale(x: &mut [f64], k: f64) {
    x.iter_mut().for_each(|x| *x *= k);
}

mod no_pullback {
    use super::*;

    #[derive(Default, Rule)]
    #[rule(fn scale(x: &mut [f64], k: f64))]
    struct Scale {
        old: Saved<f64>,
    }

    impl Scale {
        fn forward(&mut self, x: &mut [f64], k: f64) {
            self.old.save(x);
            scale(x, k);
        }
    }
}

mod an_argument_is_missing {
    use super::*;

    #[derive(Default, Rule)]
    #[rule(fn scale(x: &mut [f64], k: f64))]
    struct Scale {
        old: Saved<f64>,
    }

    impl Scale {
        fn forward(&mut self, x: &mut [f64], k: f64) {
            self.old.save(x);
            scale(x, k);
        }
        fn pullback(&mut self, x: DualMut<'_, [f64]>) -> f64 {
            self.old.restore(x.value);
            0.0
        }
    }
}

mod an_argument_of_the_wrong_type {
    use super::*;

    #[derive(Default, Rule)]
    #[rule(fn scale(x: &mut [f64], k: f64))]
    struct Scale;

    impl Scale {
        fn forward(&mut self, x: &mut [f64], k: f64) {
            scale(x, k);
        }
        fn pullback(&mut self, x: Dual<'_, [f64]>, k: f64) -> f64 {
            x.shadow.accumulate(|x| &x[0], k);
            0.0
        }
    }
}

mod no_gradient_is_returned {
    use super::*;

    #[derive(Default, Rule)]
    #[rule(fn scale(x: &mut [f64], k: f64))]
    struct Scale;

    impl Scale {
        fn forward(&mut self, x: &mut [f64], k: f64) {
            scale(x, k);
        }
        fn pullback(&mut self, _x: DualMut<'_, [f64]>, _k: f64) {}
    }
}

mod not_default {
    use super::*;

    #[derive(Rule)]
    #[rule(fn scale(x: &mut [f64], k: f64))]
    struct Scale;

    impl Scale {
        fn forward(&mut self, x: &mut [f64], k: f64) {
            scale(x, k);
        }
        fn pullback(&mut self, _x: DualMut<'_, [f64]>, _k: f64) -> f64 {
            0.0
        }
    }
}

mod another_signature {
    use super::*;

    #[derive(Default, Rule)]
    #[rule(fn scale(x: &mut [f32], k: f64))]
    struct Scale;

    impl Scale {
        fn forward(&mut self, _x: &mut [f32], _k: f64) {}
        fn pullback(&mut self, _x: DualMut<'_, [f32]>, _k: f64) -> f64 {
            0.0
        }
    }
}

mod no_signature {
    use super::*;

    #[derive(Default, Rule)]
    struct Scale;
}

mod nothing_to_restore {
    use super::*;

    #[derive(Default, Rule)]
    #[rule(fn scale(x: &mut [f64], k: f64))]
    struct Scale {
        #[rule(restores = k)]
        old: Saved<f64>,
    }
}

fn main() {}
