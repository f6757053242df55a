//! Iterators of any type whose items carry no gradient, at the head of chains whose closures do: `pairs(n).map(|(i, j)| x[i] * x[j]).sum()`.

use proc_macro2::Span;
use syn::{Expr, ExprCall, Ident, parse_quote};

use crate::iterators::adapters::ADAPTERS;
use crate::iterators::flow::{Flow, Origin};
use crate::parse::Parser;

/// Adapters that options, arrays and numbers have as well.
const SHARED: &[&str] = &["map", "filter", "zip", "flatten", "inspect", "copied", "cloned", "take", "rev"];

/// Why a `for` is refused.
pub(crate) const UNKNOWN_ITERATOR: &str = "a loop over this iterator is not differentiable: take its items as a slice, `#[constant] items: &[_]`, or \
     `collect` them before, `let items: Vec<_> = …;`, and loop over that";

/// Marks the head of a chain, until it is taken apart.
const MARK: &str = "__pb_constant";

impl Parser<'_> {
    /// The chain with its head marked, if that carries no gradient. `evident`: what the chain ends in tells that it is an iterator.
    pub(super) fn over_constants(&self, chain: &Expr, evident: bool) -> Option<Expr> {
        let mut chain = chain.clone();
        self.mark(&mut chain, evident).then_some(chain)
    }

    /// The iterator that a `for` asks, where it goes through what carries no gradient and has no index: `for (i, j) in pairs(n)`,
    /// `for c in text.chars()`, `for (name, weight) in &map`.
    pub(super) fn constant_items(&self, expr: &Expr) -> Option<Expr> {
        let constant =
            !self.suspects.any_outside(expr) && (self.is_made_there(expr) || self.is_of_other_type(expr));
        constant.then(|| parse_quote!(::pullback::__private::items_of_constants(#expr)))
    }

    /// By its type, it is no slice, and nothing like it.
    fn is_of_other_type(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Paren(paren) => self.is_of_other_type(&paren.expr),
            Expr::Reference(reference) if reference.mutability.is_none() => {
                self.is_of_other_type(&reference.expr)
            }
            expr => self.is_told_to_be_of_user(expr),
        }
    }

    /// It has no name, which may be that of something of the user's with methods called like those of iterators.
    fn is_made_there(&self, expr: &Expr) -> bool {
        let made = matches!(expr, Expr::Call(_) | Expr::MethodCall(_) | Expr::Struct(_) | Expr::Macro(_));
        made && self.shape_of(expr).is_none()
    }

    fn mark(&self, expr: &mut Expr, evident: bool) -> bool {
        if !self.suspects.any_outside(expr) {
            if evident && self.is_made_there(expr) {
                let mark = Ident::new(MARK, Span::call_site());
                *expr = parse_quote!(#mark(#expr));
                return true;
            }
            return false;
        }
        match expr {
            Expr::Paren(paren) => self.mark(&mut paren.expr, evident),
            Expr::MethodCall(call) if ADAPTERS.iter().any(|name| call.method == name) => {
                let evident = evident || !SHARED.iter().any(|name| call.method == name);
                self.mark(&mut call.receiver, evident)
            }
            _ => false,
        }
    }
}

/// What a `for` goes through has an adapter that arrays lack.
pub(super) fn is_gone_through(expr: &Expr) -> bool {
    match expr {
        Expr::Paren(paren) => is_gone_through(&paren.expr),
        Expr::MethodCall(call) => {
            ADAPTERS.iter().any(|name| call.method == name)
                && (call.method != "map" || is_gone_through(&call.receiver))
        }
        _ => false,
    }
}

/// What [`Parser::over_constants`] has marked.
pub(super) fn marked(call: &ExprCall) -> Option<Flow> {
    let is =
        matches!(&*call.func, Expr::Path(path) if path.path.segments.last().is_some_and(|s| s.ident == MARK));
    (is && call.args.len() == 1).then(|| constant(&call.args[0]))
}

/// The items of an iterator that is none of those that are known.
pub(super) fn constant(iterator: &Expr) -> Flow {
    Flow { origin: Origin::Constant(Box::new(iterator.clone())), stages: Vec::new() }
}
