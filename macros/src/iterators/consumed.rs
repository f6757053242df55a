//! Arrays that change while their elements are gone through by value: `for v in a { a[1] = v; }`. The iterator has a copy, which gets a name.

use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, Ident, Stmt, parse_quote};

use crate::iterators::SOURCES;
use crate::iterators::source::Access;
use crate::kind::{inert_method, numeric_method};
use crate::parse::{Parser, assign_op};
use crate::rename::path;
use crate::suspects::variable_of;

/// Why a chain is refused that changes what it goes through.
pub(super) const CONSUMED: &str = "this changes what the iterator has a copy of: give that copy a name before, `let items = a;`, or write a loop";

impl Parser<'_> {
    /// `let items = a; for v in items { … }` for a loop that changes `a`.
    pub(super) fn over_a_copy(&mut self, f: &syn::ExprForLoop) -> Option<Vec<Stmt>> {
        let source = self.consumed(&f.expr, true).filter(|source| self.changes_base(&f.body, source))?;
        let (name, mut copied) = (self.hidden("items"), f.clone());
        Renamed { source, name: path(&name) }.visit_expr_mut(&mut copied.expr);
        Some(vec![parse_quote!(let #name = #source;), Stmt::Expr(Expr::ForLoop(copied), None)])
    }

    /// A chain that changes what it consumes.
    pub(super) fn changes_consumed(&self, chain: &Expr) -> bool {
        let source = self.consumed(chain, false);
        source.is_some_and(|source| self.changes_base(&parse_quote!({ #chain }), source))
    }

    /// What a chain goes through by value, if that is a place; `whole` tells that the chain itself may be one.
    fn consumed<'x>(&self, chain: &'x Expr, whole: bool) -> Option<&'x Expr> {
        match chain {
            Expr::MethodCall(call) if call.method == "into_iter" => self.consumed(&call.receiver, true),
            Expr::MethodCall(call) if SOURCES.contains(&call.method.to_string().as_str()) => None,
            Expr::MethodCall(call) => {
                let zipped = call.method == "zip" || call.method == "chain";
                match self.consumed(&call.receiver, false) {
                    None if zipped => self.consumed(call.args.first()?, true),
                    found => found,
                }
            }
            Expr::Paren(paren) => self.consumed(&paren.expr, whole),
            Expr::Path(_) | Expr::Field(_) | Expr::Index(_) | Expr::Unary(_) if whole => {
                (self.access(chain) == Access::Value && variable_of(chain).is_some()).then_some(chain)
            }
            _ => None,
        }
    }

    /// The code may change the variable that `source` is, or is a part of.
    fn changes_base(&self, code: &syn::Block, source: &Expr) -> bool {
        let Some(name) = variable_of(source) else { return false };
        let mut changes = Changes { name, unique: self.is_unique(name), found: false };
        changes.visit_block(code);
        changes.found
    }
}

/// Gives what is gone through another name.
struct Renamed<'x> {
    source: &'x Expr,
    name: Expr,
}

impl VisitMut for Renamed<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if expr.to_token_stream().to_string() == self.source.to_token_stream().to_string() {
            *expr = self.name.clone();
        } else {
            visit_mut::visit_expr_mut(self, expr);
        }
    }
}

/// Whether code may change a variable.
struct Changes<'n> {
    name: &'n Ident,
    /// It is a `&mut`.
    unique: bool,
    found: bool,
}

impl Changes<'_> {
    fn is_part(&self, expr: &Expr) -> bool {
        variable_of(expr) == Some(self.name)
    }
}

impl<'ast> Visit<'ast> for Changes<'_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        self.found |= match expr {
            Expr::Assign(assign) => self.is_part(&assign.left),
            Expr::Binary(binary) => assign_op(&binary.op).is_some() && self.is_part(&binary.left),
            Expr::Reference(reference) => reference.mutability.is_some() && self.is_part(&reference.expr),
            Expr::MethodCall(call) => {
                let method = call.method.to_string();
                let reads = inert_method(&method)
                    || numeric_method(&method)
                    || method != "iter_mut" && SOURCES.contains(&method.as_str());
                !reads && self.is_part(&call.receiver)
            }
            Expr::Call(call) => {
                self.unique && call.args.iter().any(|arg| matches!(arg, Expr::Path(_)) && self.is_part(arg))
            }
            _ => false,
        };
        visit::visit_expr(self, expr);
    }
}
