//! `collect()` at the end of a function: what it makes is told by what the function returns.

use syn::visit_mut::VisitMut;
use syn::{Block, Expr, Pat, Stmt, Type, parse_quote};

use crate::iterators::collect::element_of_vec;

/// `body` with the type behind each `collect` whose value a function returns, if `output` is a vector.
pub(crate) fn with_types(output: &Type, mut body: Block) -> Block {
    if element_of_vec(output).is_some() {
        tell_block(&mut body, output);
        Returns(output).visit_block_mut(&mut body);
    }
    body
}

struct Returns<'t>(&'t Type);

impl VisitMut for Returns<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        syn::visit_mut::visit_expr_mut(self, expr);
        if let Expr::Return(jump) = expr {
            jump.expr.iter_mut().for_each(|value| tell(value, self.0));
        }
    }
    fn visit_expr_closure_mut(&mut self, _: &mut syn::ExprClosure) {}
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

fn tell(value: &mut Expr, ty: &Type) {
    match value {
        Expr::MethodCall(call) if call.method == "collect" && call.turbofish.is_none() => {
            call.turbofish = Some(parse_quote!(::<#ty>));
        }
        Expr::Block(inner) => tell_block(&mut inner.block, ty),
        Expr::Paren(inner) => tell(&mut inner.expr, ty),
        Expr::If(branch) => {
            tell_block(&mut branch.then_branch, ty);
            branch.else_branch.iter_mut().for_each(|(_, otherwise)| tell(otherwise, ty));
        }
        Expr::Match(m) => m.arms.iter_mut().for_each(|arm| tell(&mut arm.body, ty)),
        _ => {}
    }
}

fn tell_block(block: &mut Block, ty: &Type) {
    let Some((Stmt::Expr(value, None), before)) = block.stmts.split_last_mut() else { return };
    tell(value, ty);
    let Expr::Path(path) = value else { return };
    let Some(name) = path.path.get_ident() else { return };
    // The variable's type is that of the value.
    let bound = before.iter_mut().rev().find_map(|stmt| match stmt {
        Stmt::Local(local) if matches!(&local.pat, Pat::Ident(ident) if ident.ident == *name) => Some(local),
        _ => None,
    });
    if let Some(init) = bound.and_then(|local| local.init.as_mut()) {
        tell(&mut init.expr, ty);
    }
}
