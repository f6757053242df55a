//! Several ways to say the same, as one.
//!
//! Parentheses around what is looked into say nothing: `match (x[0]) { … }`, `if let Some(v) = (x.first()) { … }`, `*(x.first().unwrap())`.
//! Nor does a function that returns what it is given, `std::hint::black_box(x)`; `Mul::mul(x, y)` says no more than `x * y`, and
//! `Some(x).into_iter()` no more than `[x].into_iter()`, nor `if let Some(v) = o.as_ref()` more than `if let Some(v) = &o`.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, Pat, Path, Token, UnOp, parse_quote, parse_quote_spanned};

use crate::contents::wraps;
use crate::of_std::{self, Named};

/// `body`, plainly.
pub(crate) fn in_plain_words(body: &Block) -> Block {
    let mut body = body.clone();
    let mut plain = Plain { traits: Vec::new() };
    plain.visit_block_mut(&mut body);
    for (of, operator) in plain.traits {
        let arguments = match operator {
            Named::Neg => quote!(Output = f64),
            Named::Between(_) => quote!(f64, Output = f64),
        };
        body.stmts.insert(0, parse_quote_spanned!(of.span()=> const _: fn() = || { fn is_operator<T: #of<#arguments>>() {} is_operator::<f64>() };));
    }
    body
}

struct Plain {
    /// The traits of operators, which the compiler is to confirm.
    traits: Vec<(TokenStream, Named)>,
}

impl Plain {
    /// What such a function, or that of an operator, does with these arguments.
    fn written_out(&mut self, function: &Path, arguments: &Punctuated<Expr, Token![,]>) -> Option<Expr> {
        let operator = Named::of_trait(function);
        let applied = match (operator, &arguments.iter().collect::<Vec<_>>()[..]) {
            (None, [argument]) if of_std::returns_argument(function) => parse_quote!((#argument)),
            (Some(Named::Neg), [x]) => parse_quote!((-(#x))),
            (Some(Named::Between(op)), [x, y]) => parse_quote!(((#x) #op (#y))),
            _ => return None,
        };
        if let Some(operator) = operator {
            let mut of = function.clone();
            of.segments.pop();
            of.segments.pop_punct();
            let of = of.into_token_stream();
            if !self.traits.iter().any(|(known, _)| known.to_string() == of.to_string()) {
                self.traits.push((of, operator));
            }
        }
        Some(applied)
    }
}

impl VisitMut for Plain {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Call(call) => {
                if let Expr::Path(function) = &*call.func
                    && let Some(bare) = self.written_out(&function.path, &call.args)
                {
                    *expr = bare;
                }
            }
            Expr::MethodCall(call) => match (call.method.to_string().as_str(), call.args.first_mut()) {
                ("iter" | "into_iter", None) => one_item(&mut call.receiver),
                ("chain" | "extend", Some(items)) => one_item(items),
                ("unwrap_or", Some(Expr::Reference(other))) if matches!(&*other.expr, Expr::Lit(_)) => {
                    let (whole, other) = (&mut *call.receiver, &other.expr);
                    borrowed(whole);
                    if let Expr::Reference(option) = whole {
                        let option = &option.expr;
                        *expr = parse_quote!((&#option.unwrap_or(#other)));
                    }
                }
                _ => {}
            },
            Expr::Path(function) => {
                let operands: [Expr; 2] = [parse_quote!(a), parse_quote!(b)];
                let applied = (1..=2).find_map(|n| {
                    let operands = operands[..n].iter().cloned().collect();
                    Some((self.written_out(&function.path, &operands)?, operands))
                });
                if let Some((body, operands)) = applied {
                    *expr = parse_quote!(|#operands| #body);
                }
            }
            _ => {}
        }
        visit_mut::visit_expr_mut(self, expr);
        if let Expr::Unary(unary) = expr
            && let UnOp::Deref(_) = unary.op
            && let Expr::Paren(paren) = &*unary.expr
            && let Expr::Reference(of) = &*paren.expr
            && let Expr::MethodCall(_) = &*of.expr
        {
            *expr = (*of.expr).clone();
        }
    }
    fn visit_expr_match_mut(&mut self, expr: &mut syn::ExprMatch) {
        strip(&mut expr.expr);
        if expr.arms.iter().any(|arm| is_of_outcome(&arm.pat)) {
            borrowed(&mut expr.expr);
        }
        visit_mut::visit_expr_match_mut(self, expr);
    }
    fn visit_expr_let_mut(&mut self, expr: &mut syn::ExprLet) {
        strip(&mut expr.expr);
        if is_of_outcome(&expr.pat) {
            borrowed(&mut expr.expr);
        }
        visit_mut::visit_expr_let_mut(self, expr);
    }
    fn visit_local_mut(&mut self, local: &mut syn::Local) {
        if let Some(init) = &mut local.init {
            strip(&mut init.expr);
            if is_of_outcome(&local.pat) {
                borrowed(&mut init.expr);
            }
        }
        visit_mut::visit_local_mut(self, local);
    }
    fn visit_expr_unary_mut(&mut self, unary: &mut syn::ExprUnary) {
        if matches!(unary.op, UnOp::Deref(_)) {
            strip(&mut unary.expr);
        }
        visit_mut::visit_expr_unary_mut(self, unary);
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// The pattern is one of an `Option` or a `Result`.
fn is_of_outcome(pattern: &Pat) -> bool {
    match pattern {
        Pat::TupleStruct(part) => part.path.get_ident().is_some_and(wraps),
        Pat::Paren(paren) => is_of_outcome(&paren.pat),
        _ => false,
    }
}

/// `o.as_ref()` as `&o`.
fn borrowed(outcome: &mut Expr) {
    if let Expr::MethodCall(call) = outcome
        && call.method == "as_ref"
        && call.args.is_empty()
        && matches!(&*call.receiver, Expr::Path(_) | Expr::Field(_) | Expr::Index(_))
    {
        let place = &call.receiver;
        *outcome = parse_quote!(&#place);
    }
}

/// `Some(x)` as what has one item.
fn one_item(expr: &mut Expr) {
    if let Expr::Call(one) = expr
        && matches!(&*one.func, Expr::Path(path) if path.path.is_ident("Some"))
        && let Some(item) = one.args.first()
    {
        *expr = parse_quote!([#item]);
    }
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
