//! Which constant code may run again, and what of it carries no gradient.

use proc_macro2::{TokenStream, TokenTree};
use syn::Expr as Syn;

use crate::iterators::integers::is_constant_item;
use crate::iterators::made::is_blank;
use crate::kind::{assigns, changes_receiver, inert_method, is_check};
use crate::parse::{Binding, Parser};
use crate::program::*;

impl Parser<'_> {
    /// Whether evaluating the expression again gives the same value and has no effect. Functions and macros are not
    /// trusted, nor are methods of variables that can change.
    pub(crate) fn is_pure(&self, expr: &Syn) -> bool {
        struct Impure<'p, 'e>(&'p Parser<'e>, bool);
        impl<'ast> syn::visit::Visit<'ast> for Impure<'_, '_> {
            fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
                let trusted = matches!(&*call.func, Syn::Path(path) if crate::arrays::is_selector(&path.path) || is_check(&path.path) || is_blank(&path.path) || is_constant_item(&path.path) || {
                    let first = path.path.segments.first().map(|s| s.ident.to_string()).unwrap_or_default();
                    self.0.program.of_scalar(&path.path) || path.path.segments.len() > 1 && first.starts_with(|c: char| "iuf".contains(c)) && first.len() < 6
                });
                self.1 |= !trusted;
                syn::visit::visit_expr_call(self, call);
            }
            fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
                // It is not to be had in the reverse pass.
                self.1 |= self.0.function_parameter(&Syn::Path(path.clone())).is_some();
            }
            fn visit_macro(&mut self, mac: &'ast syn::Macro) {
                self.1 |= !crate::arrays::is_pure_slice(mac);
            }
            fn visit_expr_assign(&mut self, _: &'ast syn::ExprAssign) {
                self.1 = true;
            }
            fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
                self.1 |= assigns(&binary.op);
                syn::visit::visit_expr_binary(self, binary);
            }
            fn visit_expr_reference(&mut self, reference: &'ast syn::ExprReference) {
                self.1 |= reference.mutability.is_some();
                syn::visit::visit_expr_reference(self, reference);
            }
            fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
                // What allocates is not made again.
                self.1 |= call.method == "collect";
                if let Syn::Path(path) = &*call.receiver
                    && let Some(Binding::Variable(id)) = path.path.get_ident().and_then(|n| self.0.lookup(n))
                {
                    let method = call.method.to_string();
                    let variable = &self.0.program.variables[*id];
                    let number = matches!(variable.kind, Kind::Float | Kind::Inert);
                    self.1 |=
                        variable.mutable && !number && !inert_method(&method) || changes_receiver(&method);
                }
                syn::visit::visit_expr_method_call(self, call);
            }
        }
        let mut visitor = Impure(self, false);
        syn::visit::Visit::visit_expr(&mut visitor, expr);
        !visitor.1
    }
}

/// `tokens` without `x.len()` and the like, which carry no gradient, and without what stands in `constant(…)`.
pub(crate) fn without_shapes(tokens: TokenStream) -> TokenStream {
    let tokens: Vec<_> = tokens.into_iter().collect();
    let shape = |i: usize| match tokens.get(i..i + 3) {
        Some([TokenTree::Ident(_), TokenTree::Punct(dot), TokenTree::Ident(method)]) => {
            dot.as_char() == '.' && inert_method(&method.to_string())
        }
        _ => false,
    };
    let mut kept = TokenStream::new();
    for (i, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(_)
                if i > 0 && matches!(&tokens[i - 1], TokenTree::Ident(name) if name == "constant") => {}
            TokenTree::Group(group) => {
                let inner = without_shapes(group.stream());
                kept.extend([TokenTree::Group(proc_macro2::Group::new(group.delimiter(), inner))]);
            }
            _ if shape(i) => {}
            token => kept.extend([token.clone()]),
        }
    }
    kept
}
