//! Closures that choose a part of something, `let row = |i: usize| &x[i * n..(i + 1) * n];`: what they are called with stands in that part,
//! wherever they are called. `row(k).iter()` becomes `x[k * n..(k + 1) * n].iter()`.

use quote::format_ident;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, Ident, Pat, Stmt, UnOp, parse_quote};

use crate::kind::{assigns, inert_method, numeric_method};
use crate::rename::{Bindings, Occurrences, Replace, Substitute};
use crate::signature::Signature;
use crate::suspects::Suspects;

/// `body` without such closures.
pub(crate) fn with_chosen_parts(signature: &Signature, body: &Block) -> Block {
    let mut closures = Closures::default();
    closures.visit_block(body);
    if closures.found.is_empty() {
        return body.clone();
    }
    let suspects = Suspects::of(signature, body);
    let mut body = body.clone();
    for closure in closures.found {
        if suspects.any(&closure.part)
            && closure.means_the_same(signature, &body)
            && let Some(without) = closure.put_into(&body)
        {
            body = without;
        }
    }
    body
}

/// `let name = |parameters| &part;`
struct Chooses {
    name: Ident,
    parameters: Vec<Ident>,
    part: Expr,
}

impl Chooses {
    fn of(local: &syn::Local) -> Option<Self> {
        let (Pat::Ident(name), Some(init)) = (&local.pat, &local.init) else { return None };
        let Expr::Closure(closure) = &*init.expr else { return None };
        // What is moved into it may change behind it.
        if closure.capture.is_some() || closure.asyncness.is_some() || init.diverge.is_some() {
            return None;
        }
        let part = match sole(&closure.body) {
            Expr::Reference(reference) if reference.mutability.is_none() => (*reference.expr).clone(),
            _ => return None,
        };
        let chosen = matches!(part, Expr::Index(_) | Expr::Field(_)) && is_pure(&part);
        let parameters = closure.inputs.iter().map(named).collect::<Option<Vec<_>>>()?;
        chosen.then(|| Chooses { name: name.ident.clone(), parameters, part })
    }

    /// No name in the part is that of something else where the closure is called.
    fn means_the_same(&self, signature: &Signature, body: &Block) -> bool {
        let once = |name: &Ident| {
            let mut bindings = Bindings::of(name);
            bindings.visit_block(body);
            let given = signature.parameters.iter().filter(|p| p.name.as_ref() == Some(name)).count();
            bindings.count + given <= 1
        };
        let mut names = Names(Vec::new());
        names.visit_expr(&self.part);
        names.0.retain(|name| !self.parameters.contains(name));
        once(&self.name) && names.0.iter().all(once)
    }

    /// `body`, where the part stands in place of each call; `None` if something else is done with the closure.
    fn put_into(&self, body: &Block) -> Option<Block> {
        let mut body = body.clone();
        let mut calls = Calls { of: self, refused: false };
        calls.visit_block_mut(&mut body);
        (!calls.refused && Occurrences::of(&body).count(&self.name) == 0).then_some(body)
    }

    /// What a call with these arguments refers to.
    fn called(&self, args: Vec<&Expr>) -> Option<Expr> {
        let mut part = self.part.clone();
        // An argument may have the name of another parameter.
        let own: Vec<Ident> = (0..args.len()).map(|i| format_ident!("pullback_parameter_{i}")).collect();
        for (parameter, own) in self.parameters.iter().zip(&own) {
            Replace::new(parameter, &Substitute::Name(own.clone())).visit_expr_mut(&mut part);
        }
        for (own, arg) in own.iter().zip(&args) {
            if !is_pure(arg) {
                return None;
            }
            let by = match arg {
                Expr::Path(_) | Expr::Lit(_) => (*arg).clone(),
                arg => parse_quote!((#arg)),
            };
            Replace::new(own, &Substitute::Expr(by)).visit_expr_mut(&mut part);
        }
        (args.len() == self.parameters.len()).then_some(part)
    }
}

/// The expression that a block consists of.
fn sole(body: &Expr) -> &Expr {
    match body {
        Expr::Block(block) => match &block.block.stmts[..] {
            [Stmt::Expr(expr, None)] => sole(expr),
            _ => body,
        },
        Expr::Paren(paren) => sole(&paren.expr),
        body => body,
    }
}

/// The name of a parameter that is one.
fn named(parameter: &Pat) -> Option<Ident> {
    match parameter {
        Pat::Type(typed) => named(&typed.pat),
        Pat::Ident(name) if name.by_ref.is_none() && name.mutability.is_none() => Some(name.ident.clone()),
        _ => None,
    }
}

/// It may stand in another place, or in several.
fn is_pure(expr: &Expr) -> bool {
    match expr {
        Expr::Path(_) | Expr::Lit(_) => true,
        Expr::Paren(inner) => is_pure(&inner.expr),
        Expr::Field(inner) => is_pure(&inner.base),
        Expr::Unary(inner) => is_pure(&inner.expr),
        Expr::Cast(inner) => is_pure(&inner.expr),
        Expr::Index(inner) => is_pure(&inner.expr) && is_pure(&inner.index),
        Expr::Binary(inner) => !assigns(&inner.op) && is_pure(&inner.left) && is_pure(&inner.right),
        Expr::Range(range) => [&range.start, &range.end].into_iter().flatten().all(|end| is_pure(end)),
        Expr::MethodCall(call) => {
            let name = call.method.to_string();
            (inert_method(&name) || numeric_method(&name))
                && is_pure(&call.receiver)
                && call.args.iter().all(is_pure)
        }
        _ => false,
    }
}

#[derive(Default)]
struct Closures {
    found: Vec<Chooses>,
}

impl<'ast> Visit<'ast> for Closures {
    fn visit_local(&mut self, local: &'ast syn::Local) {
        self.found.extend(Chooses::of(local));
        visit::visit_local(self, local);
    }
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

struct Names(Vec<Ident>);

impl<'ast> Visit<'ast> for Names {
    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        self.0.extend(path.path.get_ident().cloned());
    }
}

/// Puts parts in place of calls, and takes the closure away.
struct Calls<'c> {
    of: &'c Chooses,
    /// A call has something that cannot stand in the part.
    refused: bool,
}

impl Calls<'_> {
    /// What the call refers to, if `expr` is one.
    fn part(&mut self, expr: &mut Expr) -> Option<Expr> {
        let Expr::Call(call) = expr else { return None };
        if !matches!(&*call.func, Expr::Path(path) if path.path.is_ident(&self.of.name)) {
            return None;
        }
        call.args.iter_mut().for_each(|arg| self.visit_expr_mut(arg));
        let part = self.of.called(call.args.iter().collect());
        self.refused |= part.is_none();
        part
    }
}

impl VisitMut for Calls<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if let Some(part) = self.part(expr) {
            *expr = parse_quote!(&#part);
            return;
        }
        let behind = match expr {
            Expr::MethodCall(call) => Some(&mut *call.receiver),
            Expr::Index(index) => Some(&mut *index.expr),
            Expr::Field(field) => Some(&mut *field.base),
            _ => None,
        };
        if let Some(inner) = behind
            && let Some(part) = self.part(inner)
        {
            *inner = part;
        }
        if let Expr::Unary(unary) = expr
            && matches!(unary.op, UnOp::Deref(_))
            && let Some(part) = self.part(&mut unary.expr)
        {
            *expr = part;
            return;
        }
        visit_mut::visit_expr_mut(self, expr);
    }
    fn visit_block_mut(&mut self, block: &mut Block) {
        let taken = |stmt: &Stmt| matches!(stmt, Stmt::Local(local) if Chooses::of(local).is_some_and(|c| c.name == self.of.name));
        block.stmts.retain(|stmt| !taken(stmt));
        visit_mut::visit_block_mut(self, block);
    }
}
