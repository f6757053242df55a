//! Patterns on `&mut`: what they bind becomes a variable, which goes back to where it is from at the end of the arm.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit::Visit;
use syn::visit_mut::VisitMut;
use syn::{Expr as Syn, Ident, Local, Pat, Stmt, parse_quote};

use crate::escape::escapes;
use crate::parse::{Parser, assign_op, is_assignment};

impl Parser<'_> {
    /// `match &mut shape { Shape::Disc { radius } => *radius += 1.0, … }` or `if let Some(x) = &mut option { … }`, which has no value,
    /// with arms that match the value and put another in its place.
    pub(crate) fn through(&mut self, expr: &Syn) -> Option<Syn> {
        match expr {
            Syn::Match(m) => {
                let place = self.written_place(&m.expr)?;
                // What is only read may stay where it is.
                if matches!(&*m.expr, Syn::Path(_)) && !m.arms.iter().any(|arm| writes(&arm.pat, &arm.body)) {
                    return None;
                }
                if m.arms.iter().any(|arm| self.refers_inside(&arm.pat, &m.expr, &arm.body)) {
                    return None;
                }
                let mut m = m.clone();
                for arm in &mut m.arms {
                    if matches!(arm.pat, Pat::Guard(_) | Pat::Or(_)) || !is_unit(&arm.body) {
                        return None;
                    }
                    let body: syn::Block = match &*arm.body {
                        Syn::Block(block) => block.block.clone(),
                        body => parse_quote!({ #body; }),
                    };
                    let body = put_back(&mut arm.pat, body, &place)?;
                    arm.body = parse_quote!(#body);
                }
                *m.expr = place;
                Some(Syn::Match(m))
            }
            Syn::If(branch) => {
                let Syn::Let(condition) = &*branch.cond else { return None };
                let body = &branch.then_branch;
                let body: Syn = parse_quote!(#body);
                let read = matches!(&*condition.expr, Syn::Path(_)) && !writes(&condition.pat, &body);
                if read || !is_unit(&body) || self.refers_inside(&condition.pat, &condition.expr, &body) {
                    return None;
                }
                let place = self.written_place(&condition.expr)?;
                let (mut branch, mut condition) = (branch.clone(), condition.clone());
                branch.then_branch = put_back(&mut condition.pat, branch.then_branch, &place)?;
                *condition.expr = place;
                *branch.cond = Syn::Let(condition);
                Some(Syn::If(branch))
            }
            _ => None,
        }
    }

    /// What a pattern is matched against by a reference through which it can be written to.
    fn written_place(&mut self, scrutinee: &Syn) -> Option<Syn> {
        let place: Syn = match scrutinee {
            Syn::Reference(reference) if reference.mutability.is_some() => (*reference.expr).clone(),
            Syn::MethodCall(call) if call.method == "as_mut" && call.args.is_empty() => {
                (*call.receiver).clone()
            }
            Syn::Path(path) if path.path.get_ident().is_some_and(|name| self.is_unique(name)) => {
                parse_quote!(*#path)
            }
            _ => return None,
        };
        self.place(&place).map(|_| place)
    }
}

/// Something is written through a name that `pattern` binds, or handed to a function that may do so.
fn writes(pattern: &Pat, body: &Syn) -> bool {
    let mut names = Vec::new();
    if value_of(&mut pattern.clone(), &mut names, &mut 0).is_none() {
        return false;
    }
    let mut found = Writes(names, false);
    found.visit_expr(body);
    found.1
}

/// Finds out whether something is assigned to through one of the names, or under another name of these, or handed to a function that may do so.
struct Writes(Vec<Ident>, bool);

impl Writes {
    fn of(&self, expr: &Syn) -> bool {
        match expr {
            Syn::Path(path) => path.path.get_ident().is_some_and(|name| self.0.contains(name)),
            Syn::Unary(unary) => self.of(&unary.expr),
            Syn::Paren(paren) => self.of(&paren.expr),
            Syn::Field(field) => self.of(&field.base),
            Syn::Index(index) => self.of(&index.expr),
            _ => false,
        }
    }
}

impl<'ast> Visit<'ast> for Writes {
    fn visit_local(&mut self, local: &'ast Local) {
        syn::visit::visit_local(self, local);
        let name = named_anew(local, &self.0).cloned();
        self.0.extend(name);
    }
    fn visit_expr(&mut self, expr: &'ast Syn) {
        self.1 |= match expr {
            Syn::Assign(assign) => self.of(&assign.left),
            Syn::Binary(binary) => assign_op(&binary.op).is_some() && self.of(&binary.left),
            Syn::Call(call) => call.args.iter().any(|arg| matches!(arg, Syn::Path(_)) && self.of(arg)),
            Syn::Reference(reference) => reference.mutability.is_some() && self.of(&reference.expr),
            _ => false,
        };
        syn::visit::visit_expr(self, expr);
    }
}

/// The names in `tokens`.
fn mentioned(tokens: TokenStream) -> Vec<Ident> {
    let names = tokens.into_iter().flat_map(|token| match token {
        TokenTree::Ident(name) => vec![name],
        TokenTree::Group(group) => mentioned(group.stream()),
        _ => Vec::new(),
    });
    names.collect()
}

/// The expression has no value, as far as its syntax tells.
fn is_unit(expr: &Syn) -> bool {
    match expr {
        Syn::Block(block) => match block.block.stmts.last() {
            Some(Stmt::Expr(value, None)) => is_unit(value),
            _ => true,
        },
        Syn::If(branch) => match &branch.else_branch {
            Some((_, otherwise)) => is_unit(otherwise),
            None => true,
        },
        Syn::Match(m) => m.arms.iter().all(|arm| is_unit(&arm.body)),
        Syn::Tuple(tuple) => tuple.elems.is_empty(),
        Syn::ForLoop(_) | Syn::While(_) => true,
        expr => is_assignment(expr),
    }
}

/// The body of an arm that ends with putting what the pattern has bound back to `place`; `None` if that cannot be written.
fn put_back(pattern: &mut Pat, mut body: syn::Block, place: &Syn) -> Option<syn::Block> {
    let (mut names, mut unnamed) = (Vec::new(), 0);
    // The place has to stay the same.
    let mentioned = mentioned(place.to_token_stream());
    let mut moves = Writes(mentioned.clone(), false);
    moves.visit_block(&body);
    if moves.1 {
        return None;
    }
    let mut named = pattern.clone();
    let value = value_of(&mut named, &mut names, &mut unnamed)?;
    if names.is_empty() {
        return Some(body);
    }
    *pattern = named;
    if names.iter().any(|name| mentioned.contains(name)) {
        return None;
    }
    if escapes(&Syn::Block(parse_quote!(#body))) {
        return None;
    }
    Followed(&names).visit_block_mut(&mut body);
    let statements = &body.stmts;
    Some(parse_quote!({
        #(let mut #names = #names;)*
        { #(#statements)* }
        #place = #value;
    }))
}

/// The value that a pattern matches, in terms of what it binds. What it leaves out gets a name.
fn value_of(pattern: &mut Pat, names: &mut Vec<Ident>, unnamed: &mut usize) -> Option<Syn> {
    let mut all = |elements: &mut syn::punctuated::Punctuated<Pat, syn::Token![,]>| {
        elements.iter_mut().map(|element| value_of(element, names, unnamed)).collect::<Option<Vec<_>>>()
    };
    Some(match pattern {
        Pat::Ident(ident) if ident.ident.to_string().starts_with(char::is_uppercase) => {
            let name = &ident.ident;
            parse_quote!(#name)
        }
        Pat::Ident(ident) if ident.by_ref.is_none() && ident.mutability.is_none() => {
            if ident.subpat.is_some() {
                return None;
            }
            let name = ident.ident.clone();
            names.push(name.clone());
            parse_quote!(#name)
        }
        Pat::Wild(_) => {
            let name = quote::format_ident!("unnamed_part_{unnamed}", span = proc_macro2::Span::mixed_site());
            *unnamed += 1;
            *pattern = parse_quote!(#name);
            parse_quote!(#name)
        }
        Pat::Path(path) => parse_quote!(#path),
        Pat::Paren(paren) => return value_of(&mut paren.pat, names, unnamed),
        Pat::Tuple(tuple) => {
            let elements = all(&mut tuple.elems)?;
            parse_quote!((#(#elements,)*))
        }
        Pat::TupleStruct(inner) => {
            let elements = all(&mut inner.elems)?;
            let path = &inner.path;
            parse_quote!(#path(#(#elements),*))
        }
        Pat::Struct(inner) if inner.rest.is_none() => {
            let mut values = Vec::new();
            for field in &mut inner.fields {
                let value = value_of(&mut field.pat, names, unnamed)?;
                field.colon_token.get_or_insert_with(Default::default);
                let member = &field.member;
                values.push(quote::quote!(#member: #value));
            }
            let path = &inner.path;
            parse_quote!(#path { #(#values),* })
        }
        _ => return None,
    })
}

/// The name in `let r = x;` of what another one is given to, if that is one of `names`.
fn named_anew<'l>(local: &'l Local, names: &[Ident]) -> Option<&'l Ident> {
    let (Pat::Ident(new), Syn::Path(path)) = (&local.pat, &*local.init.as_ref()?.expr) else { return None };
    let name = path.path.get_ident().filter(|name| names.contains(name))?;
    (new.ident != *name).then_some(&new.ident)
}

/// Reads and writes variables where there were references.
struct Followed<'n>(&'n [Ident]);

impl VisitMut for Followed<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Syn) {
        if let Syn::Unary(unary) = expr
            && matches!(unary.op, syn::UnOp::Deref(_))
            && let Syn::Path(path) = &*unary.expr
            && path.path.get_ident().is_some_and(|name| self.0.contains(name))
        {
            *expr = Syn::Path(path.clone());
            return;
        }
        syn::visit_mut::visit_expr_mut(self, expr);
        // Where a call takes the reference itself, it takes one to the variable.
        if let Syn::Call(call) = expr {
            for argument in &mut call.args {
                if let Syn::Path(path) = &*argument
                    && path.path.get_ident().is_some_and(|name| self.0.contains(name))
                {
                    *argument = parse_quote!(&mut #path);
                }
            }
        }
    }
    fn visit_local_mut(&mut self, local: &mut Local) {
        syn::visit_mut::visit_local_mut(self, local);
        if named_anew(local, self.0).is_some()
            && let Some(init) = &mut local.init
        {
            let variable = &init.expr;
            *init.expr = parse_quote!(&mut #variable);
        }
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}
