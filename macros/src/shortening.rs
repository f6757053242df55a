//! Methods that take elements out of a vector, in terms of those that have a pullback: what stays changes places with what goes,
//! which is then cut off. `v.retain(f)` is
//!
//! ```text
//! let mut kept = 0;
//! for i in 0..v.len() { if f(&v[i]) { v.swap(kept, i); kept += 1; } }
//! v.truncate(kept);
//! ```

use syn::visit::Visit;
use syn::visit_mut::VisitMut;
use syn::{Expr, ExprMethodCall, ExprRange, Ident, RangeLimits, Stmt, parse_quote};

use crate::iterators::consumers::changes;
use crate::parse::Parser;
use crate::program::{Kind, Projection};
use crate::rename::{Replace, Substitute, path};

const OF_ROWS: &str = "this takes vectors out of a vector: take them one by one, by `pop` or `remove`";

impl Parser<'_> {
    /// What is to stand in place of a statement with such a method.
    pub(crate) fn shortened(&mut self, stmt: &Stmt) -> Option<Vec<Stmt>> {
        if let Stmt::Expr(Expr::MethodCall(call), _) = stmt
            && let Some(out) = self.kept(call).or_else(|| self.appended(call))
        {
            return Some(out);
        }
        self.swap_removed(stmt).or_else(|| self.split_off(stmt)).or_else(|| self.drained(stmt))
    }

    /// `v` is a vector that may carry a gradient. Of a field it is the method that tells so.
    fn shortens(&mut self, v: &Expr) -> bool {
        self.suspects.any(v)
            && self.is_pure(v)
            && self.written_sequence(v).is_some_and(|place| match self.program.kind_of_place(&place) {
                Kind::Sequence(_) => true,
                Kind::Unknown if matches!(place.projections.last(), Some(Projection::Field(_))) => true,
                _ => self.program.is_vector_at(&place).0,
            })
    }

    /// Reports a vector of vectors; tells whether it is one.
    fn refuses_rows(&mut self, v: &Expr, call: &ExprMethodCall) -> bool {
        let rows = self.place(v).is_some_and(|place| self.program.of_rows(&place));
        if rows {
            self.errors.push(&call.method, OF_ROWS);
        }
        rows
    }

    /// `retain`, and `dedup` and its like.
    fn kept(&mut self, call: &ExprMethodCall) -> Option<Vec<Stmt>> {
        let (v, name) = (&call.receiver, call.method.to_string());
        let (first, function) = match (name.as_str(), call.args.first()) {
            ("retain", Some(function)) => (0, Some(function)),
            ("dedup_by" | "dedup_by_key", Some(function)) => (1, Some(function)),
            ("dedup", None) => (1, None),
            _ => return None,
        };
        if call.args.len() > 1 || !self.shortens(v) {
            return None;
        }
        if let Some(function) = function.filter(|function| changes(function)) {
            self.errors.push(function, "this function changes something: write a loop");
            return Some(Vec::new());
        }
        let (kept, i) = (self.names.fresh("kept"), self.names.fresh("i"));
        let (new, old): (Expr, Expr) = (parse_quote!(&#v[#i]), parse_quote!(&#v[#kept - 1]));
        let test = match (name.as_str(), function) {
            ("retain", Some(test)) => self.predicate(test, &[new]),
            ("dedup_by", Some(same)) => self.predicate(same, &[new, old]).map(|same| parse_quote!(!(#same))),
            ("dedup_by_key", Some(key)) => self.predicate(key, &[new]).and_then(|new| {
                let old = self.predicate(key, &[old])?;
                Ok(parse_quote!((#new) != (#old)))
            }),
            _ => Ok(parse_quote!(#new != #old)),
        };
        let test = match test {
            Ok(test) => test,
            Err((tokens, why)) => {
                self.errors.push(tokens, why);
                return Some(Vec::new());
            }
        };
        let first = syn::Index::from(first);
        Some(vec![
            parse_quote!(let mut #kept = usize::min(#first, #v.len());),
            parse_quote!(for #i in #first..#v.len() { if #test { #v.swap(#kept, #i); #kept += 1; } }),
            parse_quote!(#v.truncate(#kept);),
        ])
    }

    /// `v.append(&mut w);`
    fn appended(&mut self, call: &ExprMethodCall) -> Option<Vec<Stmt>> {
        let (v, Some(Expr::Reference(other))) = (&call.receiver, call.args.first()) else { return None };
        if call.method != "append" || call.args.len() != 1 || !self.shortens(v) && !self.shortens(&other.expr)
        {
            return None;
        }
        let w = &other.expr;
        Some(vec![parse_quote!(#v.extend_from_slice(&#w);), parse_quote!(#w.clear();)])
    }

    /// `let x = v.swap_remove(i);`
    fn swap_removed(&mut self, stmt: &Stmt) -> Option<Vec<Stmt>> {
        let mut stmt = stmt.clone();
        let removed = match &mut stmt {
            Stmt::Local(local) => &mut *local.init.as_mut()?.expr,
            Stmt::Expr(Expr::Assign(assign), _) => &mut *assign.right,
            Stmt::Expr(Expr::Binary(binary), _) if crate::kind::assigns(&binary.op) => &mut *binary.right,
            Stmt::Expr(expr, _) => expr,
            _ => return None,
        };
        let Expr::MethodCall(call) = &*removed else { return None };
        if call.method != "swap_remove" || call.args.len() != 1 || !self.shortens(&call.receiver) {
            return None;
        }
        let (v, index) = (call.receiver.clone(), call.args[0].clone());
        let (at, last) = (self.names.fresh("at"), self.names.fresh("last"));
        *removed = parse_quote!(#v.pop().unwrap());
        Some(vec![
            parse_quote!(let #at: usize = #index;),
            parse_quote!(let #last = #v.len() - 1;),
            parse_quote!(#v.swap(#at, #last);),
            stmt,
        ])
    }

    /// `let w = v.split_off(at);`
    fn split_off(&mut self, stmt: &Stmt) -> Option<Vec<Stmt>> {
        let Stmt::Local(local) = stmt else { return None };
        let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
        let Expr::MethodCall(call) = &*init.expr else { return None };
        let (v, pattern) = (&call.receiver, &local.pat);
        if call.method != "split_off" || call.args.len() != 1 || !self.shortens(v) {
            return None;
        }
        if self.refuses_rows(v, call) {
            return Some(Vec::new());
        }
        let (at, given) = (self.names.fresh("at"), &call.args[0]);
        Some(vec![
            parse_quote!(let #at: usize = #given;),
            parse_quote!(let #pattern = #v[#at..].to_vec();),
            parse_quote!(#v.truncate(#at);),
        ])
    }

    /// A statement that goes through `v.drain(a..b)`: through these elements, which are then taken out.
    fn drained(&mut self, stmt: &Stmt) -> Option<Vec<Stmt>> {
        let mut stmt = stmt.clone();
        let drained = match &mut stmt {
            Stmt::Local(local) => &mut local.init.as_mut().filter(|init| init.diverge.is_none())?.expr,
            Stmt::Expr(Expr::ForLoop(f), _) => &mut f.expr,
            Stmt::Expr(Expr::Assign(assign), Some(_)) => &mut assign.right,
            Stmt::Expr(Expr::MethodCall(call), Some(_)) => {
                if call.method == "drain" && self.shortens(&call.receiver) {
                    let call = call.clone();
                    return self.without(&call).map(|(before, _, after)| [before, after].concat());
                }
                match call.args.first_mut() {
                    Some(first) if call.method == "extend" => first,
                    _ => &mut call.receiver,
                }
            }
            _ => return None,
        };
        let mut drains = Drains { by: self.names.fresh("drained"), call: None };
        drains.visit_expr_mut(drained);
        let Drains { by, call } = drains;
        let call = call.filter(|call| self.shortens(&call.receiver))?;
        let (before, elements, after) = self.without(&call)?;
        Replace::new(&by, &Substitute::Expr(elements)).visit_expr_mut(drained);
        if let Stmt::Expr(Expr::ForLoop(f), _) = &stmt
            && let Some(label) = leaves_by_label(f)
        {
            let why = "this leaves a loop that drains a vector for another one: bind what is drained with `let` first";
            self.errors.push(label, why);
        }
        Some([before, vec![stmt], after].concat())
    }

    /// What names the bounds of `v.drain(a..b)`, these elements, and what takes them out.
    fn without(&mut self, call: &ExprMethodCall) -> Option<(Vec<Stmt>, Expr, Vec<Stmt>)> {
        let v = &call.receiver;
        let (Some(Expr::Range(range)), 1) = (call.args.first(), call.args.len()) else { return None };
        if self.refuses_rows(v, call) {
            return Some((Vec::new(), parse_quote!(#v.iter().cloned()), Vec::new()));
        }
        let ExprRange { start, end, limits, .. } = range;
        let mut before = Vec::new();
        let mut bound = |name, value: &Option<Box<Expr>>| {
            let value = value.as_ref()?;
            let name = self.names.fresh(name);
            before.push(parse_quote!(let #name: usize = #value;));
            Some(path(&name))
        };
        let (from, to) = (bound("start", start), bound("end", end));
        let to = to.map(|to| match limits {
            RangeLimits::HalfOpen(_) => to,
            RangeLimits::Closed(_) => parse_quote!((#to + 1)),
        });
        let elements = match (&from, &to) {
            (None, None) => parse_quote!(#v.iter().copied()),
            _ => parse_quote!(#v[#from..#to].iter().copied()),
        };
        let after = match (from, to) {
            (None, None) => vec![parse_quote!(#v.clear();)],
            (Some(from), None) => vec![parse_quote!(#v.truncate(#from);)],
            (from, Some(to)) => {
                let left = self.names.fresh("left");
                let from = from.unwrap_or_else(|| parse_quote!(0));
                vec![
                    parse_quote!(let #left = #v.len() - (#to - #from);),
                    parse_quote!(#v[#from..].rotate_left(#to - #from);),
                    parse_quote!(#v.truncate(#left);),
                ]
            }
        };
        Some((before, elements, after))
    }
}

/// Puts a name in place of the first `drain` of an expression.
struct Drains {
    by: Ident,
    call: Option<ExprMethodCall>,
}

impl VisitMut for Drains {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::MethodCall(call) if call.method == "drain" && self.call.is_none() => {
                self.call = Some(call.clone());
                *expr = path(&self.by);
            }
            Expr::Closure(_) | Expr::Block(_) => {}
            _ => syn::visit_mut::visit_expr_mut(self, expr),
        }
    }
}

/// A jump in the body to a label other than the loop's own.
fn leaves_by_label(f: &syn::ExprForLoop) -> Option<syn::Lifetime> {
    struct Jumps<'a>(Option<&'a syn::Lifetime>, Option<syn::Lifetime>);
    impl<'ast> Visit<'ast> for Jumps<'_> {
        fn visit_expr(&mut self, expr: &'ast Expr) {
            let label = match expr {
                Expr::Break(jump) => jump.label.as_ref(),
                Expr::Continue(jump) => jump.label.as_ref(),
                _ => None,
            };
            if let Some(label) = label.filter(|label| Some(*label) != self.0) {
                self.1.get_or_insert_with(|| label.clone());
            }
            syn::visit::visit_expr(self, expr);
        }
    }
    let mut jumps = Jumps(f.label.as_ref().map(|label| &label.name), None);
    jumps.visit_block(&f.body);
    jumps.1
}
