//! `let w = constant(rand::random());` where a call is given `w`: what is no number may be gone then, and is made again for the reverse pass,
//! while a number, which could be another one, is kept. Only the compiler knows which it is: see `rules/src/once.rs`.

use syn::visit::{self, Visit};
use syn::{Expr, Ident, Local, Pat, Stmt, parse_quote};

use crate::escape::escapes;
use crate::lift::is_held_constant;
use crate::parse::Parser;

impl Parser<'_> {
    /// The statements that do what `local` does, in front of `rest`.
    pub(crate) fn held_once<'s>(
        &mut self,
        local: &Local,
        rest: impl IntoIterator<Item = &'s Stmt>,
    ) -> Option<Vec<Stmt>> {
        let pattern = &local.pat;
        let name = match pattern {
            Pat::Type(typed) => &*typed.pat,
            pattern => pattern,
        };
        let (Pat::Ident(name), Expr::Call(call)) = (name, &*local.init.as_ref()?.expr) else { return None };
        if !is_held_constant(call) || call.args.len() != 1 || name.mutability.is_some() {
            return None;
        }
        let (function, value) = (&call.func, &call.args[0]);
        let kept_already = matches!(value, Expr::MethodCall(call) if call.method == "evaluate_once");
        if kept_already || escapes(value) || self.is_pure(value) || !is_given_away(&name.ident, rest) {
            return None;
        }
        let kept = self.parts.fresh("kept");
        let ty = match pattern {
            Pat::Type(typed) => typed.ty.clone(),
            _ => parse_quote!(_),
        };
        let keep = parse_quote! {
            let #kept = #function(::pullback::__private::Once(|| -> #ty { #value }).evaluate_once());
        };
        let again =
            parse_quote!(let #pattern = #function(::pullback::__private::once_more(#kept, || #value)););
        Some(vec![keep, again])
    }
}

/// The name is an argument, or a part of what is made.
fn is_given_away<'s>(name: &Ident, statements: impl IntoIterator<Item = &'s Stmt>) -> bool {
    struct Given<'n>(&'n Ident, bool);
    impl Given<'_> {
        fn any<'e>(&mut self, values: impl IntoIterator<Item = &'e Expr>) {
            let is = |value: &Expr| matches!(value, Expr::Path(path) if path.path.is_ident(self.0));
            self.1 |= values.into_iter().any(is);
        }
    }
    impl<'ast> Visit<'ast> for Given<'_> {
        fn visit_expr(&mut self, expr: &'ast Expr) {
            match expr {
                Expr::Call(call) => self.any(&call.args),
                Expr::MethodCall(call) => self.any(&call.args),
                Expr::Struct(literal) => self.any(literal.fields.iter().map(|field| &field.expr)),
                Expr::Tuple(tuple) => self.any(&tuple.elems),
                Expr::Array(array) => self.any(&array.elems),
                Expr::Assign(assign) => self.any([&*assign.right]),
                _ => {}
            }
            visit::visit_expr(self, expr);
        }
        fn visit_local(&mut self, local: &'ast Local) {
            self.any(local.init.as_ref().map(|init| &*init.expr));
            visit::visit_local(self, local);
        }
    }
    let mut given = Given(name, false);
    statements.into_iter().for_each(|statement| given.visit_stmt(statement));
    given.1
}
