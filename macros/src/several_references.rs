//! Several references matched at once, `match (left, right) { (Some(i), Some(j)) => …, _ => … }` with `left: &Option<usize>`: which arm it is, and then
//! one pattern for each reference.
//!
//! ```text
//! if matches!((left, right), (Some(i), Some(j))) { let Some(i) = left else { unreachable!() }; let Some(j) = right else { unreachable!() }; … } else { … }
//! ```
//!
//! What a pattern on one reference binds is known to either pass.

use quote::quote;
use syn::{Expr as Syn, Pat, Stmt, parse_quote};

use crate::control::takes_fields;
use crate::parse::Parser;
use crate::program::*;
use crate::uses::is_name;
use crate::variants::{alternatives, binds, guarded};

impl Parser<'_> {
    /// `match (left, right) { … }`
    pub(crate) fn match_references(&mut self, m: &syn::ExprMatch) -> Option<Syn> {
        let Syn::Tuple(whole) = &*m.expr else { return None };
        let arms: Vec<_> = m.arms.iter().flat_map(alternatives).collect();
        let patterns: Vec<_> = arms.iter().map(|arm| guarded(&arm.pat).0).collect();
        if !self.refers_to_several(whole, &patterns) {
            return None;
        }
        let (before, whole) = self.evaluated_once(whole);
        let mut chosen: Option<Syn> = None;
        for arm in arms.iter().rev() {
            let (pattern, guard) = guarded(&arm.pat);
            let (test, lets, body) = (test(&whole, pattern, guard), one_by_one(&whole, pattern)?, &arm.body);
            chosen = Some(match chosen {
                // The arms are for whatever there may be.
                None => parse_quote!({ #(#lets)* #body }),
                Some(otherwise) => parse_quote!(if #test { #(#lets)* #body } else { #otherwise }),
            });
        }
        match before.is_empty() {
            true => chosen,
            false => chosen.map(|chosen| parse_quote!({ #(#before)* #chosen })),
        }
    }

    /// `if let (Some(i), Some(j)) = (left, right) { … }`
    pub(crate) fn if_references(&mut self, branch: &syn::ExprIf) -> Option<Syn> {
        let Syn::Let(binding) = &*branch.cond else { return None };
        let Syn::Tuple(whole) = &*binding.expr else { return None };
        let pattern = &*binding.pat;
        if !self.refers_to_several(whole, &[pattern]) {
            return None;
        }
        let (before, whole) = self.evaluated_once(whole);
        let lets = one_by_one(&whole, pattern)?;
        let mut branch = branch.clone();
        *branch.cond = test(&whole, pattern, None);
        branch.then_branch.stmts.splice(0..0, lets);
        match before.is_empty() {
            true => Some(Syn::If(branch)),
            false => Some(parse_quote!({ #(#before)* #branch })),
        }
    }

    /// `let (Some(i), Some(j)) = (left, right) else { … };`
    pub(crate) fn let_references(&mut self, local: &syn::Local) -> Option<Vec<Stmt>> {
        let init = local.init.as_ref()?;
        let (Syn::Tuple(whole), Some((_, otherwise)), pattern) = (&*init.expr, &init.diverge, &local.pat)
        else {
            return None;
        };
        if !self.refers_to_several(whole, &[pattern]) {
            return None;
        }
        let (before, whole) = self.evaluated_once(whole);
        let (test, lets) = (test(&whole, pattern, None), one_by_one(&whole, pattern)?);
        let left: Stmt = parse_quote!(if !#test #otherwise);
        Some(before.into_iter().chain([left]).chain(lets).collect())
    }

    /// What comes of the elements that may not be evaluated again gets a name.
    fn evaluated_once(&mut self, whole: &syn::ExprTuple) -> (Vec<Stmt>, syn::ExprTuple) {
        let (mut before, mut whole) = (Vec::new(), whole.clone());
        for element in &mut whole.elems {
            if self.is_pure(element) {
                continue;
            }
            let part = self.parts.fresh("part");
            before.push(parse_quote!(let #part = #element;));
            *element = parse_quote!(#part);
        }
        (before, whole)
    }

    /// All elements of a tuple are references to what is there, or numbers, where a pattern binds them, and one is made there of what is no
    /// constant, or a pattern looks into it.
    fn refers_to_several(&mut self, whole: &syn::ExprTuple, patterns: &[&Pat]) -> bool {
        let mut any = false;
        for (i, element) in whole.elems.iter().enumerate() {
            let part = |pattern: &Pat| match pattern {
                Pat::Tuple(tuple) => tuple.elems.get(i).cloned(),
                _ => None,
            };
            let parts: Vec<Pat> = patterns.iter().filter_map(|pattern| part(pattern)).filter(binds).collect();
            if parts.is_empty() {
                continue;
            }
            let place = match element {
                Syn::Reference(reference) if reference.mutability.is_none() => self.place(&reference.expr),
                Syn::Path(path)
                    if path
                        .path
                        .get_ident()
                        .is_some_and(|name| self.is_reference(name) && !self.is_unique(name)) =>
                {
                    self.place(element)
                }
                element if self.kind_of_syntax(element) != Kind::Unknown && self.place(element).is_some() => {
                    continue;
                }
                _ => return false,
            };
            let Some(place) = place else { return false };
            let looks = matches!(element, Syn::Reference(_)) || parts.iter().any(takes_fields);
            any |= !self.program.variables[place.base].constant && looks;
        }
        any
    }
}

/// Whether the pattern is the one.
fn test(whole: &syn::ExprTuple, pattern: &Pat, guard: Option<&Syn>) -> Syn {
    let guard = guard.map(|guard| quote!(if #guard));
    parse_quote!(::core::matches!(#whole, #pattern #guard))
}

/// Binds the names in a pattern that holds, element by element.
fn one_by_one(whole: &syn::ExprTuple, pattern: &Pat) -> Option<Vec<Stmt>> {
    let tuple = match pattern {
        Pat::Tuple(tuple) if tuple.elems.len() == whole.elems.len() => tuple,
        pattern if !binds(pattern) => return Some(Vec::new()),
        _ => return None,
    };
    let binding = tuple.elems.iter().zip(&whole.elems).filter(|(pattern, _)| binds(pattern));
    let bound = binding.map(|(pattern, element)| match pattern {
        pattern if is_name(pattern) => parse_quote!(let #pattern = #element;),
        pattern => parse_quote!(let #pattern = #element else { ::core::unreachable!() };),
    });
    Some(bound.collect())
}
