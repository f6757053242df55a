//! Parentheses around what is looked into say nothing: `match (x[0]) { … }`, `if let Some(v) = (x.first()) { … }`, `*(x.first().unwrap())`.

use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, UnOp};

/// `body` without them.
pub(crate) fn without_parentheses(body: &Block) -> Block {
    let mut body = body.clone();
    Strip.visit_block_mut(&mut body);
    body
}

struct Strip;

impl VisitMut for Strip {
    fn visit_expr_match_mut(&mut self, expr: &mut syn::ExprMatch) {
        strip(&mut expr.expr);
        visit_mut::visit_expr_match_mut(self, expr);
    }
    fn visit_expr_let_mut(&mut self, expr: &mut syn::ExprLet) {
        strip(&mut expr.expr);
        visit_mut::visit_expr_let_mut(self, expr);
    }
    fn visit_local_init_mut(&mut self, init: &mut syn::LocalInit) {
        strip(&mut init.expr);
        visit_mut::visit_local_init_mut(self, init);
    }
    fn visit_expr_unary_mut(&mut self, unary: &mut syn::ExprUnary) {
        if matches!(unary.op, UnOp::Deref(_)) {
            strip(&mut unary.expr);
        }
        visit_mut::visit_expr_unary_mut(self, unary);
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// Takes away what stands around a place, a reference or a call: others may be something else without.
fn strip(expr: &mut Expr) {
    while let Expr::Paren(paren) = expr {
        let bare = match &*paren.expr {
            Expr::Paren(_) | Expr::Path(_) | Expr::MethodCall(_) | Expr::Call(_) | Expr::Index(_) => true,
            Expr::Field(_) | Expr::Reference(_) => true,
            Expr::Unary(unary) => matches!(unary.op, UnOp::Deref(_)),
            _ => false,
        };
        if !bare {
            return;
        }
        *expr = (*paren.expr).clone();
    }
}
