//! Struct patterns in a `let`, and patterns of tuples behind references or with a `..` at their end, become a `let` for each name: `let Point { x, y } = p;` is
//! `let x = p.x; let y = p.y;`.

use std::collections::{HashMap, HashSet};

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident};
use syn::visit_mut::VisitMut;
use syn::{Block, Expr, Ident, Local, Pat, Stmt, parse_quote};

use crate::passing::Passing;
use crate::program::variant;
use crate::rename::bound;
use crate::signature::Signature;

/// `block` with the struct patterns of its `let`s taken apart, where that can be done by naming the parts. The others stay.
pub(crate) fn destructured(signature: &Signature, block: &Block) -> Block {
    let mut block = block.clone();
    let references = signature.parameters.iter().filter(|p| !p.owned).filter_map(|p| {
        let referred = match p.passing {
            Passing::Value => return None,
            Passing::Shared => Referred::Shared,
            Passing::Unique => Referred::Unique,
        };
        Some((p.name.as_ref()?.to_string(), Some(referred)))
    });
    let mut pass = Destructure { references: references.collect(), used: HashSet::new() };
    collect(block.to_token_stream(), &mut pass.used);
    pass.visit_block_mut(&mut block);
    block
}

struct Destructure {
    /// The names of references: a pattern binds references to their parts. Of what a loop, a closure or an arm binds nothing tells here whether
    /// it is one.
    references: HashMap<String, Option<Referred>>,
    used: HashSet<String>,
}

fn collect(tokens: TokenStream, used: &mut HashSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => collect(group.stream(), used),
            TokenTree::Ident(ident) => drop(used.insert(ident.to_string())),
            _ => {}
        }
    }
}

impl VisitMut for Destructure {
    fn visit_block_mut(&mut self, block: &mut Block) {
        for mut statement in std::mem::take(&mut block.stmts) {
            self.visit_stmt_mut(&mut statement);
            let parts = match &statement {
                Stmt::Local(local) => self.apart(local),
                _ => None,
            };
            block.stmts.extend(parts.unwrap_or_else(|| vec![statement]));
        }
    }
    fn visit_expr_for_loop_mut(&mut self, for_loop: &mut syn::ExprForLoop) {
        self.visit_expr_mut(&mut for_loop.expr);
        self.within(&[(&for_loop.pat, None)], |pass| pass.visit_block_mut(&mut for_loop.body));
    }
    fn visit_expr_closure_mut(&mut self, closure: &mut syn::ExprClosure) {
        let inputs: Vec<_> = closure.inputs.iter().map(|input| (input, None)).collect();
        self.within(&inputs, |pass| pass.visit_expr_mut(&mut closure.body));
    }
    fn visit_expr_match_mut(&mut self, m: &mut syn::ExprMatch) {
        self.visit_expr_mut(&mut m.expr);
        for arm in &mut m.arms {
            self.within(&[(&arm.pat, Some(&*m.expr))], |pass| pass.visit_expr_mut(&mut arm.body));
        }
    }
    fn visit_expr_if_mut(&mut self, branch: &mut syn::ExprIf) {
        self.visit_expr_mut(&mut branch.cond);
        let patterns = patterns(&branch.cond);
        self.within(&patterns, |pass| pass.visit_block_mut(&mut branch.then_branch));
        if let Some((_, otherwise)) = &mut branch.else_branch {
            self.visit_expr_mut(otherwise);
        }
    }
    fn visit_expr_while_mut(&mut self, while_loop: &mut syn::ExprWhile) {
        self.visit_expr_mut(&mut while_loop.cond);
        let patterns = patterns(&while_loop.cond);
        self.within(&patterns, |pass| pass.visit_block_mut(&mut while_loop.body));
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// The patterns of a condition, and what is matched against them.
fn patterns(condition: &Expr) -> Vec<(&Pat, Option<&Expr>)> {
    match condition {
        Expr::Let(condition) => vec![(&*condition.pat, Some(&*condition.expr))],
        Expr::Binary(both) => [patterns(&both.left), patterns(&both.right)].concat(),
        _ => Vec::new(),
    }
}

impl Destructure {
    /// Goes on where the names that the patterns bind are visible.
    fn within(&mut self, patterns: &[(&Pat, Option<&Expr>)], visit: impl FnOnce(&mut Self)) {
        let outside = self.references.clone();
        for (pattern, whole) in patterns {
            // Through what a pattern on `&mut` binds something may be written.
            let unique = whole.is_some_and(|whole| self.referred(whole) == Some(Referred::Unique));
            let referred = (unique && !binds_values(pattern)).then_some(Referred::Unique);
            for name in bound(pattern) {
                self.references.insert(name.to_string(), referred);
            }
        }
        visit(self);
        self.references = outside;
    }

    fn apart(&mut self, local: &Local) -> Option<Vec<Stmt>> {
        let (pattern, ty) = match &local.pat {
            Pat::Type(typed) => (&*typed.pat, Some(&typed.ty)),
            pattern => (pattern, None),
        };
        let init = local.init.as_ref()?;
        if init.diverge.is_some() {
            let unique = self.referred(&init.expr) == Some(Referred::Unique) && !binds_values(pattern);
            let referred = unique.then_some(Referred::Unique);
            self.references.extend(bound(pattern).iter().map(|name| (name.to_string(), referred)));
            return None;
        }
        if let Pat::Ident(name) = pattern {
            match self.referred(&init.expr) {
                Some(Referred::No) => self.references.remove(&name.ident.to_string()),
                referred => self.references.insert(name.ident.to_string(), referred),
            };
        }
        let referred = self.referred(&init.expr)?;
        // Of `&(a, b)` and `&f(x)` the parts are known by themselves.
        let of_place = match &*init.expr {
            Expr::Reference(reference) => is_place(&reference.expr),
            _ => referred != Referred::No,
        };
        let named = has_struct(pattern) || is_gapped(pattern) || of_place && matches!(pattern, Pat::Tuple(_));
        if !named {
            return self.field_of_call(local, &init.expr);
        }
        let mut parts = Vec::new();
        let mut statements = Vec::new();
        let whole: Expr = match &*init.expr {
            // Some name of the pattern may be that of the variable.
            Expr::Path(path)
                if ty.is_none() && path.path.get_ident().is_some_and(|name| !binds(pattern, name)) =>
            {
                (*init.expr).clone()
            }
            Expr::Reference(reference) if ty.is_none() && is_place(&reference.expr) => {
                (*reference.expr).clone()
            }
            value => {
                let name = self.fresh();
                let ty = ty.map(|ty| quote::quote!(: #ty));
                statements.push(parse_quote!(let #name #ty = #value;));
                parse_quote!(#name)
            }
        };
        if !name_parts(pattern, &whole, referred, &mut parts) {
            return None;
        }
        statements.extend(parts);
        Some(statements)
    }

    /// Whether `init` is a reference, as its syntax tells, if it does.
    fn referred(&self, init: &Expr) -> Option<Referred> {
        match init {
            Expr::Reference(reference) if reference.mutability.is_some() => Some(Referred::Unique),
            Expr::Reference(_) => Some(Referred::Shared),
            Expr::MethodCall(call) if call.method == "as_mut" => Some(Referred::Unique),
            Expr::Path(path) => {
                let name = path.path.get_ident().map(Ident::to_string);
                name.and_then(|name| self.references.get(&name).copied()).unwrap_or(Some(Referred::No))
            }
            _ => Some(Referred::No),
        }
    }

    /// `let w = build(x).weights;`
    fn field_of_call(&mut self, local: &Local, init: &Expr) -> Option<Vec<Stmt>> {
        let Expr::Field(field) = init else { return None };
        let Expr::Call(call) = &*field.base else { return None };
        let (whole, member, pattern) = (self.fresh(), &field.member, &local.pat);
        Some(vec![parse_quote!(let #whole = #call;), parse_quote!(let #pattern = #whole.#member;)])
    }

    fn fresh(&mut self) -> Ident {
        let names = (1..).map(|n| format!("whole_{n}"));
        let name =
            names.into_iter().find(|name| !self.used.contains(name)).expect("there are enough numbers");
        self.used.insert(name.clone());
        format_ident!("{name}", span = Span::mixed_site())
    }
}

fn has_struct(pattern: &Pat) -> bool {
    match pattern {
        Pat::Struct(_) | Pat::TupleStruct(_) => true,
        Pat::Tuple(tuple) => tuple.elems.iter().any(has_struct),
        Pat::Slice(slice) => slice.elems.iter().any(has_struct),
        Pat::Paren(paren) => has_struct(&paren.pat),
        _ => false,
    }
}

/// A tuple's, which tells of the first parts alone.
fn is_gapped(pattern: &Pat) -> bool {
    matches!(pattern, Pat::Tuple(tuple) if matches!(tuple.elems.last(), Some(Pat::Rest(_))))
}

/// Of what a reference leads to, by `&mut pattern`, `ref name` or `name @ …`.
fn binds_values(pattern: &Pat) -> bool {
    match pattern {
        Pat::Ident(name) => name.by_ref.is_some() || name.mutability.is_some() || name.subpat.is_some(),
        Pat::Paren(paren) => binds_values(&paren.pat),
        Pat::Tuple(tuple) => tuple.elems.iter().any(binds_values),
        Pat::TupleStruct(inner) => inner.elems.iter().any(binds_values),
        Pat::Struct(inner) => inner.fields.iter().any(|field| binds_values(&field.pat)),
        Pat::Wild(_) | Pat::Rest(_) | Pat::Path(_) | Pat::Lit(_) => false,
        _ => true,
    }
}

fn binds(pattern: &Pat, name: &Ident) -> bool {
    let mut used = HashSet::new();
    collect(pattern.to_token_stream(), &mut used);
    used.contains(&name.to_string())
}

/// A variable, or a part of it that has a name.
fn is_place(expr: &Expr) -> bool {
    match expr {
        Expr::Path(_) => true,
        Expr::Field(field) => is_place(&field.base),
        Expr::Paren(paren) => is_place(&paren.expr),
        _ => false,
    }
}

/// What a pattern binds: values, or references.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Referred {
    No,
    Shared,
    Unique,
}

/// Names the parts of `whole`, by reference if it is `referred` to; tells whether that can be done.
pub(crate) fn name_parts(pattern: &Pat, whole: &Expr, referred: Referred, parts: &mut Vec<Stmt>) -> bool {
    let mut all = |elements: Vec<(&Pat, Expr)>| {
        elements.into_iter().all(|(element, part)| name_parts(element, &part, referred, parts))
    };
    match pattern {
        Pat::Ident(ident) if ident.subpat.is_none() && ident.by_ref.is_none() => {
            parts.push(match referred {
                Referred::No => parse_quote!(let #ident = #whole;),
                _ if ident.mutability.is_some() => return false,
                Referred::Shared => parse_quote!(let #ident = &#whole;),
                Referred::Unique => parse_quote!(let #ident = &mut #whole;),
            });
            true
        }
        Pat::Wild(_) | Pat::Rest(_) => true,
        Pat::Paren(paren) => name_parts(&paren.pat, whole, referred, parts),
        Pat::Slice(slice) => all(elements(slice, whole)),
        pattern => fields(pattern, whole).is_some_and(&mut all),
    }
}

/// The patterns of the fields of `whole`, with these, where `pattern` is that of a tuple or a struct.
pub(crate) fn fields<'p>(pattern: &'p Pat, whole: &Expr) -> Option<Vec<(&'p Pat, Expr)>> {
    let field = |i| {
        let index = syn::Index::from(i);
        parse_quote!(#whole.#index)
    };
    match pattern {
        Pat::Tuple(tuple) => numbered(&tuple.elems, field),
        Pat::TupleStruct(inner) if is_struct(&inner.path) => numbered(&inner.elems, field),
        Pat::Struct(inner) if is_struct(&inner.path) => {
            let fields = inner.fields.iter().map(|field| {
                let member = &field.member;
                (&*field.pat, parse_quote!(#whole.#member))
            });
            Some(fields.collect())
        }
        _ => None,
    }
}

/// The elements before a `..`, with what `part` makes of their numbers; `None` if there are others behind it.
fn numbered(
    elements: &syn::punctuated::Punctuated<Pat, syn::Token![,]>,
    part: impl Fn(usize) -> Expr,
) -> Option<Vec<(&Pat, Expr)>> {
    let gap = elements.iter().position(|e| matches!(e, Pat::Rest(_)));
    let known = gap.is_none_or(|gap| gap + 1 == elements.len());
    known.then(|| elements.iter().enumerate().map(|(i, element)| (element, part(i))).collect())
}

/// The patterns of the elements of the array `whole`, with these.
fn elements<'p>(slice: &'p syn::PatSlice, whole: &Expr) -> Vec<(&'p Pat, Expr)> {
    let count = slice.elems.len();
    let gap = slice.elems.iter().position(|e| matches!(e, Pat::Rest(_))).unwrap_or(count);
    let element = |i| match i < gap {
        true => {
            let i = syn::Index::from(i);
            parse_quote!(#whole[#i])
        }
        false => {
            let behind = syn::Index::from(count - i);
            parse_quote!(#whole[#whole.len() - #behind])
        }
    };
    slice.elems.iter().enumerate().map(|(i, pattern)| (pattern, element(i))).collect()
}

/// The path of a struct rather than of a variant.
fn is_struct(path: &syn::Path) -> bool {
    let last = path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
    variant(path).is_none() && !["Some", "Ok", "Err"].contains(&&*last)
}
