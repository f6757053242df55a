//! Arrays that are written out where they are used up. Their elements may be anything then, as no array holds them.
//!
//! `let [p, q] = [x, y].map(|w| f(w));` takes a tuple apart. Of references, `for w in [&x, &y] { … }` does the same to one after
//! the other, and `[x, y].iter().map(|w| f(w))` is an array of what the closure returns.

use quote::quote;
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, ExprClosure, ExprForLoop, Ident, Lifetime, Local, Pat, Stmt, parse_quote};

use crate::escape::{escapes, writes};
use crate::normal::Parts;
use crate::passing::Passing;
use crate::signature::Signature;
use crate::slices::is_gap;

/// A body of a loop is written out for each of so many elements at most.
const MOST: usize = 8;

/// Has `body` do without such arrays.
pub(crate) fn without_arrays(signature: &Signature, body: &Block) -> Block {
    let mut body = body.clone();
    let lent = signature.parameters.iter().filter(|parameter| parameter.passing != Passing::Value);
    let references = lent.filter_map(|parameter| parameter.name.clone()).collect();
    Arrays { references, names: Parts::of(&body) }.visit_block_mut(&mut body);
    body
}

struct Arrays {
    /// Parameters that are references.
    references: Vec<Ident>,
    names: Parts,
}

impl Arrays {
    /// The expression is a reference, or a tuple with one in it.
    fn refers(&self, element: &Expr) -> bool {
        match element {
            Expr::Reference(_) => true,
            Expr::Path(path) => path.path.get_ident().is_some_and(|name| self.references.contains(name)),
            Expr::Tuple(tuple) => tuple.elems.iter().any(|part| self.refers(part)),
            _ => false,
        }
    }

    /// The elements of an array of references that is gone through, and whether by reference.
    fn references(&self, items: &Expr) -> Option<(Vec<Expr>, bool)> {
        let (array, by_reference) = match items {
            Expr::Reference(reference) if reference.mutability.is_none() => (&*reference.expr, true),
            Expr::MethodCall(call) if call.args.is_empty() && call.method == "iter" => {
                (&*call.receiver, true)
            }
            Expr::MethodCall(call) if call.args.is_empty() && call.method == "into_iter" => {
                (&*call.receiver, false)
            }
            items => (items, false),
        };
        let Expr::Array(array) = array else { return None };
        let elements: Vec<Expr> = array.elems.iter().cloned().collect();
        (elements.len() <= MOST && elements.iter().any(|element| self.refers(element)))
            .then_some((elements, by_reference))
    }

    /// `{ let (w, b) = (w1, b1); … } { let (w, b) = (w2, b2); … }`
    fn one_by_one(&mut self, for_loop: &ExprForLoop) -> Option<Vec<Stmt>> {
        let (mut elements, by_reference) = self.references(&for_loop.expr)?;
        if for_loop.label.is_some() || !for_loop.attrs.is_empty() {
            return None;
        }
        let mut out = Vec::new();
        elements.iter_mut().for_each(|element| self.name_parts(element, &mut out));
        let mut body = for_loop.body.clone();
        let mut jumps =
            Jumps { end: self.label("end"), next: self.label("next"), ends: false, goes_on: false };
        jumps.visit_block_mut(&mut body);
        let (pattern, body) = (item(&for_loop.pat, by_reference), &body.stmts);
        let next = Some(&jumps.next).filter(|_| jumps.goes_on).map(|label| quote!(#label:));
        out.extend(
            elements
                .iter()
                .map(|element| -> Stmt { parse_quote!(#next { let #pattern = #element; #(#body)* }) }),
        );
        let end = &jumps.end;
        Some(if jumps.ends { vec![parse_quote!(#end: { #(#out)* })] } else { out })
    }

    fn label(&mut self, name: &str) -> Lifetime {
        let name = self.names.fresh(name);
        Lifetime::new(&format!("'{name}"), name.span())
    }

    /// What is evaluated before the loop gets a name.
    fn name_parts(&mut self, element: &mut Expr, out: &mut Vec<Stmt>) {
        match element {
            Expr::Lit(_) => {}
            Expr::Tuple(tuple) => tuple.elems.iter_mut().for_each(|part| self.name_parts(part, out)),
            part => {
                let name = self.names.fresh("part");
                out.push(parse_quote!(let #name = #part;));
                *part = parse_quote!(#name);
            }
        }
    }

    /// `[x, y].map(f)` as `[f(x), f(y)]`, and `[x, y].iter().map(f)` as `[f(x), f(y)].into_iter()`.
    fn mapped(&self, call: &syn::ExprMethodCall) -> Option<Expr> {
        let closure = inlined(call)?;
        let (elements, by_reference) = self.references(&call.receiver)?;
        let mapped = elements.iter().map(|element| applied(closure, element, by_reference));
        let items = (!matches!(&*call.receiver, Expr::Array(_))).then(|| quote!(.into_iter()));
        Some(parse_quote!([#(#mapped),*] #items))
    }
}

/// `break` and `continue`, in what is no loop any more.
struct Jumps {
    end: Lifetime,
    next: Lifetime,
    ends: bool,
    goes_on: bool,
}

impl VisitMut for Jumps {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Break(jump) if jump.label.is_none() => {
                self.ends = true;
                jump.label = Some(self.end.clone());
            }
            Expr::Continue(jump) if jump.label.is_none() => {
                self.goes_on = true;
                let next = &self.next;
                *expr = parse_quote!(break #next);
            }
            Expr::ForLoop(_) | Expr::While(_) | Expr::Loop(_) | Expr::Closure(_) => {}
            _ => visit_mut::visit_expr_mut(self, expr),
        }
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// The closure of `map`, if it may stand where it is called.
fn inlined(call: &syn::ExprMethodCall) -> Option<&ExprClosure> {
    match call.args.first().filter(|_| call.method == "map")? {
        Expr::Closure(closure) if closure.inputs.len() == 1 => {
            (!writes(&closure.body) && !escapes(&closure.body)).then_some(closure)
        }
        _ => None,
    }
}

fn applied(closure: &ExprClosure, element: &Expr, by_reference: bool) -> Expr {
    let (pattern, body) = (item(&closure.inputs[0], by_reference), &closure.body);
    parse_quote!({ let #pattern = #element; #body })
}

/// The pattern of an element, of that of an item.
fn item(pattern: &Pat, by_reference: bool) -> &Pat {
    match pattern {
        Pat::Reference(reference) if by_reference => &reference.pat,
        pattern => pattern,
    }
}

/// What the elements of an array are that is written out.
fn elements(array: &Expr) -> Option<Vec<Expr>> {
    match array {
        Expr::Paren(paren) => elements(&paren.expr),
        Expr::Array(array) => Some(array.elems.iter().cloned().collect()),
        Expr::MethodCall(call) => {
            let (closure, elements) = (inlined(call)?, elements(&call.receiver)?);
            Some(elements.iter().map(|element| applied(closure, element, false)).collect())
        }
        _ => None,
    }
}

impl VisitMut for Arrays {
    fn visit_block_mut(&mut self, block: &mut Block) {
        visit_mut::visit_block_mut(self, block);
        for stmt in std::mem::take(&mut block.stmts) {
            match &stmt {
                Stmt::Expr(Expr::ForLoop(for_loop), _) => match self.one_by_one(for_loop) {
                    Some(stmts) => block.stmts.extend(stmts),
                    None => block.stmts.push(stmt),
                },
                _ => block.stmts.push(stmt),
            }
        }
    }
    fn visit_stmt_mut(&mut self, stmt: &mut Stmt) {
        visit_mut::visit_stmt_mut(self, stmt);
        let Stmt::Local(Local { pat: Pat::Slice(slice), init: Some(init), .. }) = stmt else { return };
        let (patterns, whole) = (slice.elems.iter(), !slice.elems.iter().any(is_gap));
        if let Some(elements) = elements(&init.expr).filter(|e| whole && e.len() == patterns.len()) {
            *stmt = parse_quote!(let (#(#patterns,)*) = (#(#elements,)*););
        }
    }
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        visit_mut::visit_expr_mut(self, expr);
        if let Expr::MethodCall(call) = expr
            && let Some(mapped) = self.mapped(call)
        {
            *expr = mapped;
        }
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}
