//! The functions of one number that fused expressions may apply, with their derivatives.

use super::graph::{Graph, NodeId, Test};

macro_rules! functions {
    ($($Name:ident $method:literal;)*) => {
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub(crate) enum Function { $($Name),* }

        impl Function {
            /// The function that is called `name` as a method.
            pub(crate) fn named(name: &str) -> Option<Self> {
                match name {
                    $($method => Some(Function::$Name),)*
                    _ => None,
                }
            }

            /// What it is called as a method.
            pub(crate) fn name(self) -> &'static str {
                match self {
                    $(Function::$Name => $method,)*
                }
            }
        }
    };
}
functions! {
    Exp "exp";
    Exp2 "exp2";
    ExpM1 "exp_m1";
    Ln "ln";
    Ln1p "ln_1p";
    Log2 "log2";
    Log10 "log10";
    Sin "sin";
    Cos "cos";
    Tan "tan";
    Asin "asin";
    Acos "acos";
    Atan "atan";
    Sinh "sinh";
    Cosh "cosh";
    Tanh "tanh";
    Asinh "asinh";
    Acosh "acosh";
    Atanh "atanh";
    Sqrt "sqrt";
    Cbrt "cbrt";
    Recip "recip";
    Abs "abs";
    Signum "signum";
    Floor "floor";
    Sigmoid "sigmoid";
    Softplus "softplus";
    LogSigmoid "log_sigmoid";
    Erf "erf";
    Erfc "erfc";
}

impl Function {
    /// Large arguments take another way.
    pub(crate) fn is_periodic(self) -> bool {
        matches!(self, Function::Sin | Function::Cos | Function::Tan)
    }

    /// It takes longer to compute than to read from memory.
    pub(crate) fn is_costly(self) -> bool {
        !matches!(self, Function::Sqrt | Function::Recip | Function::Abs | Function::Signum | Function::Floor)
    }

    /// The derivative at `x`, where the function's value is `y`.
    pub(crate) fn slope(self, g: &mut Graph, x: NodeId, y: NodeId) -> NodeId {
        let one = g.literal(1.0);
        match self {
            Function::Exp => y,
            Function::Exp2 => {
                let ln_2 = g.literal(std::f64::consts::LN_2);
                g.product(y, ln_2)
            }
            Function::ExpM1 => g.sum(y, one),
            Function::Ln => g.apply(Function::Recip, x),
            Function::Ln1p => {
                let argument = g.sum(one, x);
                g.apply(Function::Recip, argument)
            }
            Function::Log2 => {
                let scale = g.literal(std::f64::consts::LOG2_E);
                g.quotient(scale, x)
            }
            Function::Log10 => {
                let scale = g.literal(std::f64::consts::LOG10_E);
                g.quotient(scale, x)
            }
            Function::Sin => g.apply(Function::Cos, x),
            Function::Cos => {
                let sine = g.apply(Function::Sin, x);
                g.negative(sine)
            }
            Function::Tan => {
                let square = g.product(y, y);
                g.sum(one, square)
            }
            Function::Asin | Function::Acos => {
                let square = g.product(x, x);
                let rest = g.difference(one, square);
                let root = g.apply(Function::Sqrt, rest);
                let slope = g.apply(Function::Recip, root);
                if self == Function::Asin { slope } else { g.negative(slope) }
            }
            Function::Atan => {
                let square = g.product(x, x);
                let rest = g.sum(one, square);
                g.apply(Function::Recip, rest)
            }
            Function::Sinh => g.apply(Function::Cosh, x),
            Function::Cosh => g.apply(Function::Sinh, x),
            Function::Tanh => {
                let square = g.product(y, y);
                g.difference(one, square)
            }
            Function::Asinh => {
                let square = g.product(x, x);
                let rest = g.sum(square, one);
                let root = g.apply(Function::Sqrt, rest);
                g.apply(Function::Recip, root)
            }
            Function::Acosh => {
                let square = g.product(x, x);
                let rest = g.difference(square, one);
                let root = g.apply(Function::Sqrt, rest);
                g.apply(Function::Recip, root)
            }
            Function::Atanh => {
                let square = g.product(x, x);
                let rest = g.difference(one, square);
                g.apply(Function::Recip, rest)
            }
            Function::Sqrt => {
                let half = g.literal(0.5);
                g.quotient(half, y)
            }
            Function::Cbrt => {
                let (three, square) = (g.literal(3.0), g.product(y, y));
                let triple = g.product(three, square);
                g.apply(Function::Recip, triple)
            }
            Function::Recip => {
                let square = g.product(y, y);
                g.negative(square)
            }
            Function::Abs => {
                // Zero at zero, as everywhere in this workspace.
                let zero = g.literal(0.0);
                let minus = g.literal(-1.0);
                let negative = g.select((x, Test::Less, zero), minus, zero);
                g.select((zero, Test::Less, x), one, negative)
            }
            Function::Signum | Function::Floor => g.literal(0.0),
            Function::Sigmoid => {
                let rest = g.difference(one, y);
                g.product(y, rest)
            }
            Function::Softplus => g.apply(Function::Sigmoid, x),
            Function::LogSigmoid => {
                let minus = g.negative(x);
                g.apply(Function::Sigmoid, minus)
            }
            Function::Erf | Function::Erfc => {
                let square = g.product(x, x);
                let minus = g.negative(square);
                let bell = g.apply(Function::Exp, minus);
                let scale = std::f64::consts::FRAC_2_SQRT_PI;
                let scale = g.literal(if self == Function::Erf { scale } else { -scale });
                g.product(scale, bell)
            }
        }
    }
}
