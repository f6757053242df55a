//! Which constant code may run again, and what of it carries no gradient.

use proc_macro2::{TokenStream, TokenTree};
use syn::Expr as Syn;

use crate::iterators::integers::{is_constant_item, is_private};
use crate::iterators::made::is_blank;
use crate::kind::{assigns, changes_receiver, inert_method, is_check, may_change_inert};
use crate::parse::{Binding, Parser};
use crate::program::*;
use crate::suspects::part_of;

impl Parser<'_> {
    /// Whether evaluating the expression again gives the same value and has no effect. Functions and macros are not
    /// trusted, nor are methods of variables that can change.
    pub(crate) fn is_pure(&self, expr: &Syn) -> bool {
        struct Impure<'p, 'e>(&'p Parser<'e>, bool);
        impl<'ast> syn::visit::Visit<'ast> for Impure<'_, '_> {
            fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
                if matches!(&*call.func, Syn::Path(path) if is_private(&path.path, "once_more")) {
                    return;
                }
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
                self.1 |= self.0.may_be_changed_by(call);
                syn::visit::visit_expr_method_call(self, call);
            }
        }
        let mut visitor = Impure(self, false);
        syn::visit::Visit::visit_expr(&mut visitor, expr);
        !visitor.1
    }

    /// The method may change what it is called on, if that is a variable, a part of one, or something that is there for all functions.
    fn may_be_changed_by(&self, call: &syn::ExprMethodCall) -> bool {
        let method = call.method.to_string();
        let Syn::Path(whole) = part_of(&call.receiver) else { return false };
        let part = !matches!(*call.receiver, Syn::Path(_));
        let (id, part) = match whole.path.get_ident().and_then(|name| self.lookup(name)) {
            Some(Binding::Variable(id)) => (*id, part),
            Some(Binding::Alias { place, .. }) => (place.base, part || !place.projections.is_empty()),
            Some(Binding::Closure(_) | Binding::Held(_)) => return false,
            None => return !only_looks(call),
        };
        let variable = &self.program.variables[id];
        let kind = if part { variable.kind.of_parts() } else { &variable.kind };
        let changed = match part {
            true => *kind == Kind::Inert && may_change_inert(&method),
            false => kind.may_be_changed_by(&method),
        };
        variable.mutable && changed && !inert_method(&method)
            || !part && changes_receiver(&method)
            // There may be a cell inside.
            || *kind == Kind::Unknown && !only_looks(call)
    }
}

/// The method only looks at what it is called on, whatever that is, as far as its name tells.
fn only_looks(call: &syn::ExprMethodCall) -> bool {
    const LOOKING: &[&str] = &[
        "at",
        "cols",
        "contains_key",
        "first",
        "get",
        "height",
        "idx",
        "index",
        "iter",
        "keys",
        "offset",
        "rows",
        "size",
        "values",
        "width",
    ];
    // Those of cells.
    const WITHOUT_ARGUMENTS: &[&str] = &["get", "take"];
    let name = call.method.to_string();
    let of_cell = call.args.is_empty() && WITHOUT_ARGUMENTS.contains(&&name[..]);
    let looks = inert_method(&name)
        || !may_change_inert(&name)
        || LOOKING.contains(&&name[..])
        || crate::matrices::reads(&call.method);
    looks && !of_cell
}

/// What is asked of something that has a name.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Asked {
    Value,
    /// Bits carry no gradient, but a float may be made of them again.
    Bits,
    /// `x.len()` and the like carry no gradient, nor does what stands in `constant(…)`.
    Shape,
}

/// Calls `found` with each name and each literal in `tokens`, and with what is asked of it.
pub(crate) fn each_name(tokens: TokenStream, found: &mut dyn FnMut(&TokenTree, Asked)) {
    within(tokens, Asked::Value, found);
}

fn within(tokens: TokenStream, around: Asked, found: &mut dyn FnMut(&TokenTree, Asked)) {
    let tokens: Vec<_> = tokens.into_iter().collect();
    for (i, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => {
                let constant =
                    i > 0 && matches!(&tokens[i - 1], TokenTree::Ident(name) if name == "constant");
                within(group.stream(), if constant { Asked::Shape } else { around }, found);
            }
            TokenTree::Ident(_) => {
                let own = match tokens.get(i + 1..i + 3) {
                    Some([TokenTree::Punct(dot), TokenTree::Ident(method)]) if dot.as_char() == '.' => {
                        asked_by(&method.to_string())
                    }
                    _ => Asked::Value,
                };
                found(token, if own == Asked::Value { around } else { own });
            }
            TokenTree::Literal(_) => found(token, around),
            TokenTree::Punct(_) => {}
        }
    }
}

/// What a method of this name asks.
pub(crate) fn asked_by(method: &str) -> Asked {
    match method {
        "to_bits" => Asked::Bits,
        method if inert_method(method) => Asked::Shape,
        _ => Asked::Value,
    }
}
