//! Variants without the name of their enum in front, after `use Event::*;`: `match e { Accrue { rate } => …, Reset(x) => … }`.
//!
//! Nothing in `Reset(x)` tells it from the pattern of a struct, but what stands beside it does: a value of a struct matches no other name.
//! Such paths become `Reset::<>(x)`, which is the same to the compiler, and which [`crate::program::variant`] knows.

use std::collections::HashSet;

use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Pat, Path, PathArguments, UseTree, parse_quote};

/// `body` with such variants marked, in patterns and in literals.
pub(crate) fn with_imported_variants(body: &Block) -> Block {
    let mut found = Variants::default();
    found.visit_block(body);
    let mut body = body.clone();
    if !found.names.is_empty() {
        Marked(found.names).visit_block_mut(&mut body);
    }
    body
}

/// The path is marked as that of a variant.
pub(crate) fn is_marked(path: &Path) -> bool {
    let last = path.segments.last().map(|last| &last.arguments);
    matches!(last, Some(PathArguments::AngleBracketed(generics)) if generics.args.is_empty())
}

/// The name, if it stands alone and may be that of a variant of the user's.
fn alone(path: &Path) -> Option<String> {
    let name = path.get_ident()?.to_string();
    let of_std = ["Some", "Ok", "Err", "None", "Self"].contains(&&*name);
    (name.starts_with(char::is_uppercase) && !of_std).then_some(name)
}

/// The names that must be those of variants.
#[derive(Default)]
struct Variants {
    names: HashSet<String>,
    /// Some enum has been imported as a whole.
    whole: bool,
}

impl Variants {
    /// What patterns tell that are tried on a value one after the other, and maybe something else after these.
    fn compare(&mut self, patterns: &[&Pat], others: bool) {
        let cases: Vec<_> = patterns.iter().flat_map(|pattern| cases(pattern, true)).collect();
        let names: HashSet<_> = cases.iter().filter_map(|(case, _)| name(case)).collect();
        let before = if others { &cases[..] } else { &cases[..cases.len().saturating_sub(1)] };
        // A struct whose parts only have names would leave nothing to what comes next.
        let leaves = before.iter().any(|(case, always)| *always && takes_parts(case));
        if names.len() > 1 || leaves || self.whole {
            self.names.extend(names);
        }
        let width = cases.iter().map(|(case, _)| parts(case).len()).max().unwrap_or_default();
        for number in 0..width {
            let of_part: Vec<_> =
                cases.iter().filter_map(|(case, _)| parts(case).get(number).copied()).collect();
            let names = of_part.iter().flat_map(|part| cases_of_names(part)).collect::<HashSet<_>>();
            if names.len() > 1 {
                self.names.extend(names);
            }
        }
    }

    /// `use Event::{Accrue, Reset};`
    fn import(&mut self, tree: &UseTree, of_type: bool) {
        match tree {
            UseTree::Path(path) => {
                self.import(&path.tree, path.ident.to_string().starts_with(char::is_uppercase));
            }
            UseTree::Name(name) if of_type => drop(self.names.insert(name.ident.to_string())),
            UseTree::Glob(_) => self.whole |= of_type,
            UseTree::Group(group) => group.items.iter().for_each(|item| self.import(item, of_type)),
            _ => {}
        }
    }
}

impl<'ast> Visit<'ast> for Variants {
    fn visit_block(&mut self, block: &'ast Block) {
        // A `use` holds in the whole block.
        for statement in &block.stmts {
            if let syn::Stmt::Item(syn::Item::Use(import)) = statement {
                self.import(&import.tree, false);
            }
        }
        visit::visit_block(self, block);
    }
    fn visit_expr_match(&mut self, m: &'ast syn::ExprMatch) {
        let patterns: Vec<_> = m.arms.iter().map(|arm| &arm.pat).collect();
        self.compare(&patterns, false);
        visit::visit_expr_match(self, m);
    }
    fn visit_expr_let(&mut self, condition: &'ast syn::ExprLet) {
        self.compare(&[&condition.pat], true);
        visit::visit_expr_let(self, condition);
    }
    fn visit_local(&mut self, local: &'ast syn::Local) {
        if local.init.as_ref().is_some_and(|init| init.diverge.is_some()) {
            self.compare(&[&local.pat], true);
        }
        visit::visit_local(self, local);
    }
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// The alternatives of a pattern, and whether each is taken by all that it matches.
fn cases(pattern: &Pat, always: bool) -> Vec<(&Pat, bool)> {
    match pattern {
        Pat::Guard(guarded) => cases(&guarded.pat, false),
        Pat::Or(or) => or.cases.iter().flat_map(|case| cases(case, always)).collect(),
        Pat::Paren(paren) => cases(&paren.pat, always),
        Pat::Reference(reference) => cases(&reference.pat, always),
        Pat::Ident(syn::PatIdent { subpat: Some((_, inner)), .. }) => cases(inner, always),
        pattern => vec![(pattern, always)],
    }
}

/// The constructors and constants that a pattern may be.
fn cases_of_names(pattern: &Pat) -> Vec<String> {
    cases(pattern, true).into_iter().filter_map(|(case, _)| name(case)).collect()
}

/// What the pattern names, be it with parts or without.
fn name(pattern: &Pat) -> Option<String> {
    match pattern {
        Pat::TupleStruct(inner) => alone(&inner.path),
        Pat::Struct(inner) => alone(&inner.path),
        Pat::Path(inner) => alone(&inner.path),
        Pat::Ident(inner) => alone(&Path::from(inner.ident.clone())),
        _ => None,
    }
}

/// The pattern takes something apart, and only gives names to the parts.
fn takes_parts(pattern: &Pat) -> bool {
    let named = |part: &Pat| match part {
        Pat::Rest(_) => true,
        part => crate::views::irrefutable(part),
    };
    match pattern {
        Pat::TupleStruct(inner) => inner.elems.iter().all(named),
        Pat::Struct(inner) => inner.fields.iter().all(|field| named(&field.pat)),
        _ => false,
    }
}

/// The parts of a tuple, or what is in a `Some`.
fn parts(pattern: &Pat) -> Vec<&Pat> {
    let elements = match pattern {
        Pat::Tuple(tuple) => &tuple.elems,
        Pat::TupleStruct(inner)
            if inner.path.get_ident().is_some_and(|name| name == "Some" || name == "Ok") =>
        {
            &inner.elems
        }
        _ => return Vec::new(),
    };
    match elements.iter().any(|element| matches!(element, Pat::Rest(_))) {
        true => Vec::new(),
        false => elements.iter().collect(),
    }
}

/// Marks the names.
struct Marked(HashSet<String>);

impl Marked {
    fn mark(&self, path: &mut Path) {
        if let Some(name) = path.get_ident()
            && self.0.contains(&name.to_string())
        {
            *path = parse_quote!(#name::<>);
        }
    }
}

impl VisitMut for Marked {
    fn visit_pat_tuple_struct_mut(&mut self, pattern: &mut syn::PatTupleStruct) {
        self.mark(&mut pattern.path);
        visit_mut::visit_pat_tuple_struct_mut(self, pattern);
    }
    fn visit_pat_struct_mut(&mut self, pattern: &mut syn::PatStruct) {
        self.mark(&mut pattern.path);
        visit_mut::visit_pat_struct_mut(self, pattern);
    }
    fn visit_expr_struct_mut(&mut self, literal: &mut syn::ExprStruct) {
        self.mark(&mut literal.path);
        visit_mut::visit_expr_struct_mut(self, literal);
    }
    fn visit_expr_call_mut(&mut self, call: &mut syn::ExprCall) {
        if let syn::Expr::Path(function) = &mut *call.func {
            self.mark(&mut function.path);
        }
        visit_mut::visit_expr_call_mut(self, call);
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}
