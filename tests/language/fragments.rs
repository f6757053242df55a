//! Functions that `macro_rules!` make, out of fragments of all kinds.

use pullback::prelude::*;
use pullback::testing::check_rule;

#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
struct Scale {
    a: f64,
}

macro_rules! of_block {
    ($name:ident, $x:ident: $t:ty, $body:block) => {
        #[differentiable]
        fn $name($x: $t) -> f64 $body
    };
}
of_block!(square, x: f64, { x * x });
of_block!(product, x: &[f64], { x[0] * x[1] });

macro_rules! of_statements {
    ($name:ident, $x:ident: $t:ty, $value:expr, $($statement:stmt;)*) => {
        #[differentiable]
        fn $name($x: $t) -> f64 {
            $($statement;)*
            $value * 2.0
        }
    };
}
of_statements!(stepwise, x: f64, x + y, let y = x * x; let y: f64 = y.sin(););

macro_rules! of_parts {
    ($name:ident, $x:ident: $t:ty, $pattern:pat, $value:expr, $block:block) => {
        #[differentiable]
        fn $name($x: $t, $pattern: ($t, $t)) -> $t {
            let power = |$x: $t| $block;
            let least: $t = if $x > 1.0 { 2.0 } else $block;
            match 3 {
                1 => $block,
                _ => power(least) * power(0.5) + $value,
            }
        }
    };
}
of_parts!(arms, x: f64, (u, v), u * v, { x * x });

macro_rules! of_self {
    ($name:ident, $this:ident, $body:block, $t:ty) => {
        #[differentiable]
        impl Scale {
            fn $name(&$this, by: &$t) -> f64 $body
        }
    };
}
of_self!(first, self, { self.a * self.a }, [f64]);

#[test]
fn made_by_macros() {
    check_rule(square::rule, [(0.7,)]);
    check_rule(product::rule, [(vec![0.7, 0.4],)]);
    check_rule(stepwise::rule, [(0.7,)]);
    check_rule(arms::rule, [(0.7, (0.3, 0.4)), (1.7, (0.3, 0.4))]);
    check_rule(Scale::first_rule, [(Scale { a: 0.6 }, vec![1.0])]);
}
