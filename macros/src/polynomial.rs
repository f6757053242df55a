//! Polynomials in one number, Horner's scheme above all. Their slope does not wait for the gradient that it is multiplied by, and takes half as many
//! operations as to hand that on from power to power.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

use crate::cotangent::Cotangent;
use crate::program::*;
use crate::reverse::Reverse;

/// A number that is read less often is handed its gradient as anywhere.
const OFTEN: usize = 3;

/// A derivative with respect to the number.
enum Derivative {
    Zero,
    One,
    Other(TokenStream),
}

impl Derivative {
    fn plus(self, other: Derivative) -> Derivative {
        match (self, other) {
            (Derivative::Zero, slope) | (slope, Derivative::Zero) => slope,
            (Derivative::One, Derivative::One) => Derivative::Other(quote!(2.0)),
            (Derivative::One, Derivative::Other(slope)) | (Derivative::Other(slope), Derivative::One) => {
                Derivative::Other(quote!((1.0 + #slope)))
            }
            (Derivative::Other(a), Derivative::Other(b)) => Derivative::Other(quote!((#a + #b))),
        }
    }

    fn minus(self, other: Derivative) -> Derivative {
        match (self, other) {
            (derivative, Derivative::Zero) => derivative,
            (Derivative::Zero, Derivative::One) => Derivative::Other(quote!((-1.0))),
            (Derivative::Zero, Derivative::Other(b)) => Derivative::Other(quote!((-#b))),
            (Derivative::One, Derivative::One) => Derivative::Zero,
            (Derivative::One, Derivative::Other(b)) => Derivative::Other(quote!((1.0 - #b))),
            (Derivative::Other(a), Derivative::One) => Derivative::Other(quote!((#a - 1.0))),
            (Derivative::Other(a), Derivative::Other(b)) => Derivative::Other(quote!((#a - #b))),
        }
    }

    fn times(self, factor: impl FnOnce() -> TokenStream) -> Derivative {
        match self {
            Derivative::Zero => Derivative::Zero,
            Derivative::One => Derivative::Other(factor()),
            Derivative::Other(slope) => {
                let factor = factor();
                Derivative::Other(quote!((#slope * #factor)))
            }
        }
    }
}

impl Program {
    /// The places where a polynomial in one number reads it, or where an expression that is none reads what it may.
    fn reads_of_number(&self, expr: ExprId, reads: &mut Vec<ExprId>) -> bool {
        let expr = self.peel(expr);
        let node = &self.exprs[expr];
        match &node.kind {
            _ if !node.active => true,
            _ if self.kind_of(expr) != Kind::Float || self.by_rule(expr) => false,
            ExprKind::Read(_) => {
                let syntax = |read: ExprId| self.exprs[read].syntax.to_token_stream().to_string();
                let same = reads.first().is_none_or(|first| syntax(*first) == syntax(expr));
                reads.push(expr);
                same
            }
            ExprKind::Neg(e) => self.reads_of_number(*e, reads),
            ExprKind::Binary { op: Op::Div, left, right } => {
                !self.exprs[*right].active && self.reads_of_number(*left, reads)
            }
            ExprKind::Binary { op: Op::Add | Op::Sub | Op::Mul, left, right } => {
                self.reads_of_number(*left, reads) && self.reads_of_number(*right, reads)
            }
            _ => false,
        }
    }
}

impl Reverse<'_> {
    /// Hands `d` on to the number in which `expr` is a polynomial, if it is one.
    pub(crate) fn pull_polynomial(&mut self, expr: ExprId, d: &Cotangent, at: &At) -> bool {
        let program = self.program;
        let mut reads = Vec::new();
        if program.generic()
            || d.is_nothing()
            || !program.reads_of_number(expr, &mut reads)
            || reads.len() < OFTEN
        {
            return false;
        }
        let Derivative::Other(slope) = self.derivative(expr, at) else { return false };
        let d = match self.of_seed(d) {
            true => quote!(__pb::by_seed(#d, #slope)),
            false => quote!(#d * #slope),
        };
        self.pull(reads[0], &Cotangent::term(d), at);
        true
    }

    fn derivative(&mut self, expr: ExprId, at: &At) -> Derivative {
        let program = self.program;
        let expr = program.peel(expr);
        let node = &program.exprs[expr];
        match node.kind {
            _ if !node.active => Derivative::Zero,
            ExprKind::Neg(e) => Derivative::Zero.minus(self.derivative(e, at)),
            ExprKind::Binary { op: Op::Add, left, right } => {
                self.derivative(left, at).plus(self.derivative(right, at))
            }
            ExprKind::Binary { op: Op::Sub, left, right } => {
                self.derivative(left, at).minus(self.derivative(right, at))
            }
            ExprKind::Binary { op: Op::Mul, left, right } => {
                let of_left = self.derivative(left, at).times(|| self.value(right, at));
                of_left.plus(self.derivative(right, at).times(|| self.value(left, at)))
            }
            ExprKind::Binary { op: Op::Div, left, right } => self.derivative(left, at).times(|| {
                let divisor = self.value(right, at);
                quote!((1.0 / #divisor))
            }),
            _ => Derivative::One,
        }
    }
}
