//! Literals of vectors whose elements own memory, as pushes: `vec![a, b]` is `let mut v = Vec::with_capacity(2); v.push(a); v.push(b);`.
//! What is moved into a vector comes back by the opposite move, which only statements have.

use std::collections::VecDeque;

use quote::quote;
use syn::visit_mut::VisitMut;
use syn::{Expr, Ident, Local, Pat, Stmt, parse_quote};

use crate::escape::writes;
use crate::parse::{Binding, Parser};
use crate::program::{Kind, Origin};
use crate::rename::{Occurrences, is_name, path};
use crate::tails::makes_vector;

/// What stands in `vec![…]`, as an array.
pub(crate) fn as_array(mac: &syn::Macro) -> Option<Expr> {
    let elements = &mac.tokens;
    if mac.path.is_ident("vec") { syn::parse2(quote!([#elements])).ok() } else { None }
}

impl Parser<'_> {
    /// The statement with such literals before it, or in place of it.
    pub(crate) fn listed(&mut self, stmt: &Stmt) -> Option<Vec<Stmt>> {
        let mut stmt = stmt.clone();
        let value = match &mut stmt {
            Stmt::Local(Local { pat, init: Some(init), .. }) if init.diverge.is_none() => {
                let name = match &*pat {
                    Pat::Type(typed) => &*typed.pat,
                    pattern => pattern,
                };
                if let Pat::Ident(name) = name
                    && Occurrences::of(&init.expr).count(&name.ident) == 0
                    && let Some(made) = self.pushed(&name.ident, Some(pat), &init.expr)
                {
                    return Some(made);
                }
                &mut *init.expr
            }
            Stmt::Expr(Expr::Assign(assign), _) => &mut *assign.right,
            Stmt::Expr(value, _) => value,
            _ => return None,
        };
        if !matches!(value, Expr::Struct(_) | Expr::Call(_) | Expr::MethodCall(_) | Expr::Macro(_)) {
            return None;
        }
        let mut within = Within { parser: self, out: Vec::new(), passed: Vec::new() };
        within.visit_expr_mut(value);
        let mut out = within.out;
        (!out.is_empty()).then(|| {
            out.push(stmt);
            out
        })
    }

    /// `let l = f(x); v.push(l);` as `v.push(f(x));`: whether what a call returns owns memory shows where it is used.
    pub(crate) fn pushed_at_once(&self, local: &Local, rest: &VecDeque<Stmt>) -> Option<Stmt> {
        let (Pat::Ident(name), Some(init)) = (&local.pat, &local.init) else { return None };
        let Expr::Call(called) = &*init.expr else { return None };
        // What functions that are parameters change takes place in statements of their own.
        let lends = |arg: &Expr| matches!(arg, Expr::Closure(_)) || self.function_parameter(arg).is_some();
        let lent = lends(&called.func) || called.args.iter().any(lends);
        let call = !lent && init.diverge.is_none() && self.suspects.any(&init.expr);
        let Some(Stmt::Expr(Expr::MethodCall(push), Some(_))) = rest.front() else { return None };
        let alone = push.method == "push" && push.args.len() == 1 && is_name(&push.args[0], &name.ident);
        let within = Occurrences::of(&init.expr);
        let apart = matches!(&*push.receiver, Expr::Path(v) if v.path.get_ident().is_some_and(|v| within.count(v) == 0));
        let later = rest.iter().skip(1).any(|stmt| Occurrences::of(stmt).count(&name.ident) > 0);
        if !call || writes(&init.expr) || !alone || !apart || later || self.calls_closure(&init.expr) {
            return None;
        }
        let (receiver, value) = (&push.receiver, &init.expr);
        Some(parse_quote!(#receiver.push(#value);))
    }

    /// The statements that make the vector `name`, if elements of it own memory that natively would have to be moved there.
    fn pushed(&mut self, name: &Ident, pattern: Option<&Pat>, literal: &Expr) -> Option<Vec<Stmt>> {
        let Expr::Macro(mac) = literal else { return None };
        let listed = as_array(&mac.mac).filter(|_| self.suspects.any(literal))?;
        let ty = match pattern {
            Some(Pat::Type(typed)) => Some(&typed.ty),
            _ => None,
        };
        let ty = ty.map(|ty| quote!(: #ty));
        let mut out = Vec::new();
        match listed {
            Expr::Array(array) if array.elems.iter().any(|element| self.is_moved(element)) => {
                let len = array.elems.len();
                out.push(parse_quote!(let mut #name #ty = Vec::with_capacity(#len);));
                for element in array.elems {
                    let value = match &element {
                        Expr::Struct(_) => {
                            let item = self.hidden("item");
                            out.push(parse_quote!(let #item = #element;));
                            path(&item)
                        }
                        _ => element,
                    };
                    out.push(parse_quote!(#name.push(#value);));
                }
            }
            Expr::Repeat(syn::ExprRepeat { expr: element, len, .. })
                if makes_copy(&element) || self.is_local_vector(&element) =>
            {
                let n = self.names.fresh("n");
                out.push(parse_quote!(let #n: usize = #len;));
                out.push(parse_quote!(let mut #name #ty = Vec::with_capacity(#n);));
                match self.is_local_vector(&element) {
                    true => {
                        out.push(parse_quote!(for _ in 1..#n { #name.push(#element.clone()); }));
                        out.push(parse_quote!(if #n > 0 { #name.push(#element); }));
                    }
                    false => out.push(parse_quote!(for _ in 0..#n { #name.push(#element); })),
                }
            }
            _ => return None,
        }
        Some(out)
    }

    /// A local vector, by its name.
    fn is_local_vector(&self, expr: &Expr) -> bool {
        self.local_named(expr).is_some_and(|id| self.program.vectors.contains(&id))
    }

    fn local_named(&self, expr: &Expr) -> Option<usize> {
        let Expr::Path(path) = expr else { return None };
        match self.lookup(path.path.get_ident()?)? {
            Binding::Variable(id) => (self.program.variables[*id].origin == Origin::Local).then_some(*id),
            _ => None,
        }
    }

    /// The name is that of a local which may own memory.
    fn may_be_moved(&self, name: &str) -> bool {
        let known = self.scopes.iter().rev().find_map(|scope| scope.get(name));
        matches!(known, Some(Binding::Variable(id)) if self.program.vectors.contains(id)
            || self.program.variables[*id].origin == Origin::Local && self.program.variables[*id].kind == Kind::Unknown)
    }

    /// A local that may own memory, or a struct literal that does.
    fn is_moved(&self, element: &Expr) -> bool {
        match element {
            Expr::Struct(literal) => {
                let value = |field: &syn::FieldValue| makes_vector(&field.expr) || self.is_moved(&field.expr);
                literal.fields.iter().any(value)
            }
            element => self.local_named(element).is_some_and(|id| {
                self.program.vectors.contains(&id) || self.program.variables[id].kind == Kind::Unknown
            }),
        }
    }
}

/// A vector that is made anew each time.
fn makes_copy(element: &Expr) -> bool {
    matches!(element, Expr::MethodCall(call) if call.args.is_empty() && (call.method == "to_vec" || call.method == "clone"))
}

/// Gives literals within another expression names.
struct Within<'p, 'e> {
    parser: &'p mut Parser<'e>,
    out: Vec<Stmt>,
    /// What is evaluated before the literal at hand.
    passed: Vec<Expr>,
}

impl VisitMut for Within<'_, '_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if let Expr::Macro(_) = expr {
            let names = Occurrences::of(&*expr);
            let apart = |earlier: &Expr| {
                let earlier = Occurrences::of(earlier);
                !names.names().any(|name| earlier.contains(name) && self.parser.may_be_moved(name))
            };
            if self.passed.iter().all(apart) {
                let name = self.parser.hidden("listed");
                if let Some(made) = self.parser.pushed(&name, None, expr) {
                    self.out.extend(made);
                    *expr = path(&name);
                }
            }
            return;
        }
        let parts: Vec<&mut Expr> = match expr {
            Expr::Struct(literal) => literal.fields.iter_mut().map(|field| &mut field.expr).collect(),
            Expr::Call(call) => call.args.iter_mut().collect(),
            Expr::MethodCall(call) => std::iter::once(&mut *call.receiver).chain(&mut call.args).collect(),
            Expr::Paren(paren) => vec![&mut *paren.expr],
            Expr::Reference(reference) => vec![&mut *reference.expr],
            Expr::Tuple(tuple) => tuple.elems.iter_mut().collect(),
            _ => Vec::new(),
        };
        for part in parts {
            let written = part.clone();
            self.visit_expr_mut(part);
            self.passed.push(written);
        }
    }
}
