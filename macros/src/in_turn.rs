//! Calls of functions that are lent stand in statements of their own. They share what the function keeps, and their pullbacks have
//! to run in reverse order, which they do from statement to statement alone: `f(a) * f(b)` becomes `let part = f(a); part * f(b)`.

use std::collections::VecDeque;

use quote::ToTokens;
use syn::visit_mut::VisitMut;
use syn::{Expr, Stmt, parse_quote};

use crate::apart::{is_whole, value_of};
use crate::calls::Callee;
use crate::errors::Errors;
use crate::listed::as_array;
use crate::parse::{Parser, arithmetic};
use crate::program::*;
use crate::sequence::operands;

impl Parser<'_> {
    /// The statements that do what `stmt` does, if several such calls are in one expression of it.
    pub(crate) fn in_turn(&mut self, stmt: &Stmt) -> Option<VecDeque<Stmt>> {
        if self.program.functions.is_empty() {
            return None;
        }
        let mut stmt = stmt.clone();
        let root = value_of(&mut stmt)?;
        if !self.suspects.any(&*root) {
            return None;
        }
        let mut before = VecDeque::new();
        self.take_turns(root, &mut before);
        (!before.is_empty()).then(|| {
            before.push_back(stmt);
            before
        })
    }

    /// Names what calls such a function in `expr` and is evaluated before something else that does.
    fn take_turns(&mut self, expr: &mut Expr, before: &mut VecDeque<Stmt>) {
        if let Expr::Macro(vec) = expr {
            let Some(Expr::Array(mut array)) = as_array(&vec.mac) else { return };
            self.take_turns_among(array.elems.iter_mut().collect(), before);
            vec.mac.tokens = array.elems.into_token_stream();
            return;
        }
        self.take_turns_among(evaluated(expr), before);
    }

    fn take_turns_among(&mut self, operands: Vec<&mut Expr>, before: &mut VecDeque<Stmt>) {
        let mut calling: VecDeque<_> =
            operands.into_iter().filter(|operand| self.calls_lent(operand)).collect();
        let Some(last) = calling.pop_back() else { return };
        for operand in calling {
            let operand = referent(operand);
            let part = self.parts.fresh("part");
            self.suspects.insert(&part);
            let value = std::mem::replace(operand, parse_quote!(#part));
            before.push_back(parse_quote!(let #part = #value;));
        }
        self.take_turns(last, before);
    }

    /// A function that is a parameter is called in `expr`, or passed on to what may call it. What an index is computed by has no
    /// pullback.
    fn calls_lent(&self, expr: &Expr) -> bool {
        let passed = match expr {
            Expr::Reference(reference) => &*reference.expr,
            expr => expr,
        };
        let lent = |id: VarId| self.program.variables[id].origin == Origin::Function;
        let calls = |expr: &Expr| {
            let mut expr = expr.clone();
            WithoutIndices.visit_expr_mut(&mut expr);
            self.mentions(expr.into_token_stream()).into_iter().any(lent)
        };
        !matches!(passed, Expr::Path(_) | Expr::Closure(_)) && calls(expr)
    }
}

struct WithoutIndices;

impl VisitMut for WithoutIndices {
    fn visit_expr_index_mut(&mut self, index: &mut syn::ExprIndex) {
        self.visit_expr_mut(&mut index.expr);
        *index.index = parse_quote!(0);
    }
}

fn referent(expr: &mut Expr) -> &mut Expr {
    match expr {
        Expr::Paren(paren) => referent(&mut paren.expr),
        Expr::Reference(reference) => referent(&mut reference.expr),
        expr => expr,
    }
}

/// What `expr` evaluates in any case, and hands a gradient to.
fn evaluated(expr: &mut Expr) -> Vec<&mut Expr> {
    match expr {
        Expr::Binary(binary) if arithmetic(&binary.op).is_none() => Vec::new(),
        Expr::Call(call) if is_whole(call) => Vec::new(),
        Expr::Index(inner) => vec![&mut inner.expr],
        Expr::Let(test) => vec![&mut test.expr],
        Expr::If(branch) => vec![&mut branch.cond],
        Expr::Match(m) => vec![&mut m.expr],
        Expr::Return(syn::ExprReturn { expr: Some(value), .. })
        | Expr::Break(syn::ExprBreak { expr: Some(value), .. }) => vec![value],
        expr => operands(expr),
    }
}

/// Reports what would be undone in another than the reverse order.
pub(crate) fn report(program: &Program, errors: &mut Errors) {
    let roots = (0..program.blocks.len()).flat_map(|block| program.roots(block));
    for expr in roots.flat_map(|root| program.tree(root)) {
        let operands = program.operands(expr);
        if let Some(again) = operands.iter().filter(|operand| program.calls_lent(**operand)).nth(1) {
            errors.push(
                &program.exprs[*again].syntax,
                "calls of functions that are parameters are undone one after the other, and this one stands beside another in an \
                 expression: bind it with `let` first",
            );
        }
    }
}

impl Program {
    /// The pullback of `expr` calls one of a function that is a parameter.
    fn calls_lent(&self, expr: ExprId) -> bool {
        let calls = |e: ExprId| match &self.exprs[e].kind {
            ExprKind::Call { function: Callee::Parameter(..), .. } => true,
            ExprKind::Call { args, .. } => args.iter().any(|arg| match &self.exprs[*arg].kind {
                ExprKind::Callback(Callback::Parameter(_)) => true,
                ExprKind::Callback(Callback::Closure { body, .. }) => !self.called_within(*body).is_empty(),
                _ => false,
            }),
            _ => false,
        };
        let within = |e: ExprId| {
            let blocks = match self.exprs[e].kind {
                ExprKind::Callback(_) => Vec::new(),
                _ => self.blocks_of(e),
            };
            blocks.into_iter().flat_map(|block| self.nested(block)).flat_map(|block| self.roots(block))
        };
        self.exprs[expr].active
            && self.tree(expr).into_iter().any(|e| {
                self.exprs[e].active && calls(e)
                    || within(e).flat_map(|root| self.tree(root)).any(|e| self.exprs[e].active && calls(e))
            })
    }
}
