//! Polynomials: sums of products of numbers, in which the slope in the direction of each of them depends on the others alone. So it does not wait
//! for the gradient that it is multiplied by, which comes late: it depends on all that follows.

use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens, quote};

use crate::cotangent::Cotangent;
use crate::program::*;
use crate::reverse::Reverse;

/// Of a number that is read so often, above all by Horner's scheme, the slope takes fewer operations than to hand the gradient on from power to
/// power.
const OFTEN: usize = 3;
/// Of a product of so many factors it takes one more operation, and the gradient waits for one less.
const FACTORS: usize = 3;
const MOST_OPERANDS: usize = 6;

/// What a polynomial consists of: the places of each operand.
#[derive(Default)]
struct Operands {
    places: Vec<Vec<ExprId>>,
    /// How many factors the longest product has.
    factors: usize,
}

/// A derivative with respect to an operand.
enum Derivative {
    Number(i32),
    Other(TokenStream),
}

impl Derivative {
    const NONE: Derivative = Derivative::Number(0);

    fn tokens(self) -> TokenStream {
        match self {
            Derivative::Number(n) => {
                let magnitude = Literal::f64_unsuffixed(f64::from(n.abs()));
                if n < 0 { quote!((-#magnitude)) } else { quote!(#magnitude) }
            }
            Derivative::Other(tokens) => tokens,
        }
    }

    fn plus(self, other: Derivative) -> Derivative {
        match (self, other) {
            (Derivative::Number(a), Derivative::Number(b)) => Derivative::Number(a + b),
            (Derivative::Number(0), other) | (other, Derivative::Number(0)) => other,
            (a, b) => {
                let (a, b) = (a.tokens(), b.tokens());
                Derivative::Other(quote!((#a + #b)))
            }
        }
    }

    fn minus(self, other: Derivative) -> Derivative {
        match (self, other) {
            (Derivative::Number(a), Derivative::Number(b)) => Derivative::Number(a - b),
            (a, Derivative::Number(0)) => a,
            (Derivative::Number(0), Derivative::Other(b)) => Derivative::Other(quote!((-#b))),
            (a, b) => {
                let (a, b) = (a.tokens(), b.tokens());
                Derivative::Other(quote!((#a - #b)))
            }
        }
    }

    fn times(self, factor: impl FnOnce() -> TokenStream) -> Derivative {
        if let Derivative::Number(0) = self {
            return self;
        }
        let factor = factor();
        Derivative::Other(match self {
            Derivative::Number(1) => factor,
            Derivative::Number(-1) => quote!((-#factor)),
            other => {
                let other = other.tokens();
                quote!((#other * #factor))
            }
        })
    }
}

impl Program {
    /// Finds what a polynomial consists of, as one of so many `factors`, or says that it is none.
    fn find_operands(&self, expr: ExprId, factors: usize, found: &mut Operands) -> bool {
        let expr = self.peel(expr);
        let node = &self.exprs[expr];
        match &node.kind {
            _ if !node.active => true,
            _ if self.kind_of(expr) != Kind::Float || self.by_rule(expr) => false,
            ExprKind::Read(_) => {
                let syntax = |read: ExprId| self.exprs[read].syntax.to_token_stream().to_string();
                let own = syntax(expr);
                match found.places.iter_mut().find(|places| syntax(places[0]) == own) {
                    Some(places) => places.push(expr),
                    None => found.places.push(vec![expr]),
                }
                found.factors = found.factors.max(factors);
                true
            }
            ExprKind::Neg(e) => self.find_operands(*e, factors, found),
            ExprKind::Binary { op: Op::Add | Op::Sub, left, right } => {
                self.find_operands(*left, 1, found) && self.find_operands(*right, 1, found)
            }
            ExprKind::Binary { op: Op::Mul, left, right } => {
                // Twice a number, or half of it, is no more to wait for than its square.
                let is_literal =
                    |other: ExprId| matches!(self.exprs[self.peel(other)].syntax, syn::Expr::Lit(_));
                let more = |other: ExprId| factors + usize::from(!is_literal(other));
                self.find_operands(*left, more(*right), found)
                    && self.find_operands(*right, more(*left), found)
            }
            ExprKind::Binary { op: Op::Div, left, right } => {
                !self.exprs[*right].active && self.find_operands(*left, factors + 1, found)
            }
            _ => false,
        }
    }
}

impl Reverse<'_> {
    /// Hands `d` on to what `expr` is a polynomial of, where that pays.
    pub(crate) fn pull_polynomial(&mut self, expr: ExprId, d: &Cotangent, at: &At) -> bool {
        let program = self.program;
        let mut operands = Operands::default();
        if program.generic() || d.is_nothing() || !program.find_operands(expr, 1, &mut operands) {
            return false;
        }
        let Operands { places, factors } = operands;
        // In loops it is often not one gradient that is waited for, but many at a time.
        let in_loop = self.levels.iter().any(|level| level.is_loop);
        let pays = match &places[..] {
            [only] => only.len() >= OFTEN,
            several => factors == FACTORS && several.len() <= MOST_OPERANDS && !in_loop,
        };
        if !pays {
            return false;
        }
        let d = if places.len() > 1 { self.bind(d) } else { d.clone() };
        for places in places {
            let d = match self.derivative(expr, &places, at) {
                Derivative::Number(0) => continue,
                Derivative::Number(1) => d.clone(),
                Derivative::Number(-1) => program.negate(d.clone()),
                slope => {
                    let slope = slope.tokens();
                    Cotangent::term(match self.of_seed(&d) {
                        true => quote!(__pb::by_seed(#d, #slope)),
                        false => quote!(#d * #slope),
                    })
                }
            };
            self.pull(places[0], &d, at);
        }
        true
    }

    fn derivative(&mut self, expr: ExprId, operand: &[ExprId], at: &At) -> Derivative {
        let program = self.program;
        let expr = program.peel(expr);
        match program.exprs[expr].kind {
            _ if operand.contains(&expr) => Derivative::Number(1),
            ExprKind::Neg(e) => Derivative::NONE.minus(self.derivative(e, operand, at)),
            ExprKind::Binary { op: Op::Add, left, right } => {
                self.derivative(left, operand, at).plus(self.derivative(right, operand, at))
            }
            ExprKind::Binary { op: Op::Sub, left, right } => {
                self.derivative(left, operand, at).minus(self.derivative(right, operand, at))
            }
            ExprKind::Binary { op: Op::Mul, left, right } => {
                let of_left = self.derivative(left, operand, at).times(|| self.value(right, at));
                of_left.plus(self.derivative(right, operand, at).times(|| self.value(left, at)))
            }
            ExprKind::Binary { op: Op::Div, left, right } => self.derivative(left, operand, at).times(|| {
                let divisor = self.value(right, at);
                quote!((1.0 / #divisor))
            }),
            _ => Derivative::NONE,
        }
    }
}
