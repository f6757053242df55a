//! What most functions of one slice go through.

/// Tests functions of one slice on `inputs`: the gradients, by one object again and again, and the rules.
macro_rules! check_all {
    ($inputs:expr; $($f:ident),*) => {$({
        let inputs = $inputs;
        let mut g = $f::gradient();
        check_gradient(
            |x| $f(x),
            |x| {
                let (value, d) = g.value_and_gradient(x);
                (value, d.x.to_vec())
            },
            inputs.clone(),
        );
        check_rule($f::rule, inputs.map(|x| (x,)));
    })*};
}
