//! Rows that are taken out of a vector of vectors, where they stand as the user may write them.

use syn::{Expr as Syn, ExprMethodCall, Stmt, parse_quote};

use crate::parse::Parser;
use crate::rename::path;

impl Parser<'_> {
    /// The vector of vectors that `rows.pop()` takes a row out of.
    pub(crate) fn popped_from<'s>(&mut self, expr: &'s Syn) -> Option<&'s Syn> {
        let Syn::MethodCall(call) = expr else { return None };
        (call.method == "pop" && self.holds_rows(&call.receiver)).then_some(&call.receiver)
    }

    fn holds_rows(&mut self, expr: &Syn) -> bool {
        let Some(place) = self.place(expr) else { return false };
        self.program.of_rows(&place) && !self.program.variables[place.base].by_reference()
    }

    /// What `rows.pop().unwrap()` and `rows.remove(i)` return: it gets a name.
    pub(crate) fn taken_row(&mut self, expr: &Syn, out: &mut Vec<Stmt>) -> Option<Syn> {
        let Syn::MethodCall(call) = expr else { return None };
        if self.popped_from(&call.receiver).is_none() && !self.removes(call) {
            return None;
        }
        let taken = self.hidden("taken");
        out.push(parse_quote!(let #taken = #expr;));
        Some(path(&taken))
    }

    /// `rows.pop();` and `rows.remove(i);`, whose row nobody looks at.
    pub(crate) fn dropped_row(&mut self, stmt: &Stmt) -> Option<Vec<Stmt>> {
        let Stmt::Expr(expr @ Syn::MethodCall(call), Some(_)) = stmt else { return None };
        if let Some(rows) = self.popped_from(expr) {
            return Some(vec![parse_quote!(#rows.truncate(usize::saturating_sub(#rows.len(), 1));)]);
        }
        self.removes(call).then(|| {
            let dropped = self.hidden("dropped");
            vec![parse_quote!(let #dropped = #call;)]
        })
    }

    fn removes(&mut self, call: &ExprMethodCall) -> bool {
        call.method == "remove" && self.holds_rows(&call.receiver)
    }
}
