//! Iterators of any type whose items carry no gradient, at the head of chains whose closures do: `pairs(n).map(|(i, j)| x[i] * x[j]).sum()`.

use proc_macro2::Span;
use syn::{Expr, ExprCall, Ident, parse_quote};

use crate::iterators::adapters::ADAPTERS;
use crate::iterators::flow::{Flow, Origin};
use crate::parse::Parser;

/// Adapters that options, arrays and numbers have as well.
const SHARED: &[&str] = &["map", "filter", "zip", "flatten", "inspect", "copied", "cloned", "take", "rev"];

/// Marks the head of a chain, until it is taken apart.
const MARK: &str = "__pb_constant";

impl Parser<'_> {
    /// The chain with its head marked, if that carries no gradient. `evident`: what the chain ends in tells that it is an iterator.
    pub(super) fn over_constants(&self, chain: &Expr, evident: bool) -> Option<Expr> {
        let mut chain = chain.clone();
        self.mark(&mut chain, evident).then_some(chain)
    }

    fn mark(&self, expr: &mut Expr, evident: bool) -> bool {
        if !self.suspects.any_outside(expr) {
            // A name may be that of something of the user's with methods called like these.
            let untold =
                matches!(expr, Expr::Call(_) | Expr::MethodCall(_) | Expr::Struct(_) | Expr::Macro(_));
            if evident && untold && self.shape_of(expr).is_none() {
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
