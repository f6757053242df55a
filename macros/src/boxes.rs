//! `let b = Box::new(e);` as `let b = e;`: what is in the box is the same without it. Likewise `v.into_boxed_slice()`.

use std::collections::VecDeque;

use proc_macro2::{Group, TokenStream, TokenTree};
use syn::visit::Visit;
use syn::visit_mut::VisitMut;
use syn::{Block, Expr, GenericArgument, Ident, Local, Pat, PathArguments, Stmt, Type, UnOp, parse_quote};

use crate::functions::is_box;
use crate::parse::{Binding, Parser};
use crate::rename::bound;
use crate::returned::constructs;

pub(crate) const BOXED: &str = "a `Box` is made differentiably as the value of a `let` alone, where it makes no difference: leave it out, or make the \
                                struct outside and pass a reference";

impl Parser<'_> {
    /// The statement without the box; what follows, `rest`, does without it as well.
    pub(crate) fn unboxed(&self, local: &Local, rest: &mut VecDeque<Stmt>) -> Option<Stmt> {
        let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
        // A slice in a box is a vector that keeps its length.
        let (value, slice) = match &*init.expr {
            Expr::Call(call) if is_box(&call.func) && call.args.len() == 1 => (&call.args[0], false),
            Expr::MethodCall(call) if call.method == "into_boxed_slice" => (&*call.receiver, true),
            _ => return None,
        };
        if !self.suspects.any(value) {
            return None;
        }
        let is_value = match value {
            Expr::Closure(_) => false,
            Expr::Path(path) => {
                let known = path.path.get_ident().and_then(|name| self.lookup(name));
                matches!(known, Some(Binding::Variable(_))) && self.function_parameter(value).is_none()
            }
            _ => true,
        };
        let mut local = local.clone();
        let name = match &mut local.pat {
            Pat::Type(typed) => {
                match content(&typed.ty) {
                    Some(Type::Slice(inner)) if slice => {
                        let element = inner.elem;
                        *typed.ty = parse_quote!(::std::vec::Vec<#element>);
                    }
                    Some(Type::Slice(_)) => *typed.ty = parse_quote!(_),
                    Some(inner) => *typed.ty = inner,
                    None => {}
                }
                &*typed.pat
            }
            name => name,
        };
        let (Pat::Ident(name), true) = (name, is_value) else { return None };
        let mut unbox = Unbox { name: name.ident.clone() };
        for stmt in rest.iter_mut() {
            unbox.visit_stmt_mut(stmt);
            if binds(stmt, &unbox.name) {
                break;
            }
        }
        *local.init.as_mut()?.expr = value.clone();
        Some(Stmt::Local(local))
    }
}

/// `T` of `Box<T>`.
fn content(ty: &Type) -> Option<Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == "Box")?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty.clone()),
        _ => None,
    })
}

/// What patterns have bound to boxes, `**name` in `body`, is a reference to what is in them afterwards: `*name`. Tells whether there are such
/// among the `names`.
pub(crate) fn referred_to_inside(names: &[Ident], body: &mut [Stmt]) -> bool {
    let mut any = false;
    for name in names {
        let mut looking = LookingThrough { name, found: false };
        body.iter().for_each(|stmt| looking.visit_stmt(stmt));
        if looking.found {
            let mut unbox = Unbox { name: name.clone() };
            body.iter_mut().for_each(|stmt| unbox.visit_stmt_mut(stmt));
            any = true;
        }
    }
    any
}

/// Looks for `**name`.
struct LookingThrough<'n> {
    name: &'n Ident,
    found: bool,
}

impl Visit<'_> for LookingThrough<'_> {
    fn visit_expr_unary(&mut self, outer: &syn::ExprUnary) {
        let through = |expr: &Expr| matches!(expr, Expr::Path(path) if path.path.is_ident(self.name));
        self.found |= matches!(outer.op, UnOp::Deref(_))
            && matches!(&*outer.expr, Expr::Unary(inner) if matches!(inner.op, UnOp::Deref(_)) && through(&inner.expr));
        syn::visit::visit_expr_unary(self, outer);
    }
}

/// From here on the name is that of another variable.
fn binds(stmt: &Stmt, name: &Ident) -> bool {
    matches!(stmt, Stmt::Local(local) if bound(&local.pat).contains(name))
}

/// `*b` becomes `b`.
struct Unbox {
    name: Ident,
}

impl Unbox {
    /// What is moved elsewhere is in a box there.
    fn moved(&self, value: &mut Expr) {
        if matches!(value, Expr::Path(path) if path.path.is_ident(&self.name)) {
            *value = parse_quote!(Box::new(#value));
        }
    }

    /// The same in what a macro is given, where the star is no product.
    fn within(&self, tokens: TokenStream) -> TokenStream {
        let tokens: Vec<_> = tokens.into_iter().collect();
        let star = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == '*');
        let named = |i: usize| matches!(tokens.get(i), Some(TokenTree::Ident(ident)) if *ident == self.name);
        let first = |i: usize| i == 0 || matches!(&tokens[i - 1], TokenTree::Punct(_));
        let kept = tokens.iter().enumerate().filter(|(i, token)| !(star(token) && named(i + 1) && first(*i)));
        let kept = kept.map(|(_, token)| match token {
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), self.within(group.stream()));
                inner.set_span(group.span());
                TokenTree::Group(inner)
            }
            token => token.clone(),
        });
        kept.collect()
    }
}

impl VisitMut for Unbox {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Call(call) if constructs(call) => call.args.iter_mut().for_each(|arg| self.moved(arg)),
            Expr::Struct(literal) => {
                for field in &mut literal.fields {
                    self.moved(&mut field.expr);
                    field.colon_token.get_or_insert_with(Default::default);
                }
            }
            _ => {}
        }
        if let Expr::Unary(unary) = expr
            && matches!(unary.op, UnOp::Deref(_))
            && matches!(&*unary.expr, Expr::Path(path) if path.path.is_ident(&self.name))
        {
            let name = &self.name;
            *expr = parse_quote!(#name);
            return;
        }
        syn::visit_mut::visit_expr_mut(self, expr);
    }
    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        mac.tokens = self.within(mac.tokens.clone());
    }
    fn visit_block_mut(&mut self, block: &mut Block) {
        for stmt in &mut block.stmts {
            self.visit_stmt_mut(stmt);
            if binds(stmt, &self.name) {
                return;
            }
        }
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}
