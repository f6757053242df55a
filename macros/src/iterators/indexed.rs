//! Names of which something tells that they are no `Option`: `k[i]`, `k.iter()`, and what `map` makes of them, `let y = k.map(f);`.
//!
//! A wrong guess does not compile.

use std::collections::HashSet;

use syn::visit::{self, Visit};
use syn::{Block, Expr, Ident, Pat, Stmt, Type};

use crate::options::mapped;

/// The names of what is indexed or gone through somewhere.
#[derive(Default)]
pub(crate) struct Indexed {
    names: HashSet<Ident>,
    /// What `map` makes of what: if one is such a name, so is the other.
    alike: Vec<(Ident, Ident)>,
}

impl Indexed {
    /// Those in the body of a function that returns `output`.
    pub(crate) fn of(body: &Block, output: &Type) -> Self {
        let mut indexed = Indexed::default();
        indexed.visit_block(body);
        if let (Type::Array(_), Some(Stmt::Expr(value, None))) = (output, body.stmts.last()) {
            indexed.note(mapped(value).0);
        }
        loop {
            let before = indexed.names.len();
            for (one, other) in &indexed.alike {
                if indexed.names.contains(one) || indexed.names.contains(other) {
                    indexed.names.extend([one.clone(), other.clone()]);
                }
            }
            if indexed.names.len() == before {
                return indexed;
            }
        }
    }

    /// The expression is such a name.
    pub(crate) fn has(&self, expr: &Expr) -> bool {
        name_of(expr).is_some_and(|name| self.names.contains(name))
    }

    fn note(&mut self, expr: &Expr) {
        self.names.extend(name_of(expr).cloned());
    }
}

/// The name that an expression is, also behind `&`.
fn name_of(expr: &Expr) -> Option<&Ident> {
    match expr {
        Expr::Path(path) => path.path.get_ident(),
        Expr::Reference(reference) => name_of(&reference.expr),
        Expr::Paren(paren) => name_of(&paren.expr),
        _ => None,
    }
}

impl<'a> Visit<'a> for Indexed {
    fn visit_local(&mut self, local: &'a syn::Local) {
        if let Some(init) = &local.init {
            let of = name_of(mapped(&init.expr).0);
            match &local.pat {
                Pat::Slice(_) => self.note(&init.expr),
                Pat::Ident(name) if matches!(*init.expr, Expr::MethodCall(_)) => {
                    self.alike.extend(of.map(|of| (name.ident.clone(), of.clone())));
                }
                _ => {}
            }
        }
        visit::visit_local(self, local);
    }
    fn visit_expr_index(&mut self, index: &'a syn::ExprIndex) {
        self.note(&index.expr);
        visit::visit_expr_index(self, index);
    }
    fn visit_expr_method_call(&mut self, call: &'a syn::ExprMethodCall) {
        if ["iter", "iter_mut", "into_iter"].iter().any(|name| call.method == name) && call.args.is_empty() {
            self.note(&call.receiver);
        }
        visit::visit_expr_method_call(self, call);
    }
    fn visit_expr_for_loop(&mut self, f: &'a syn::ExprForLoop) {
        self.note(&f.expr);
        visit::visit_expr_for_loop(self, f);
    }
}
