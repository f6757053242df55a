//! Several optional items at once: `match (x.get(i), x.get(i + 1)) { (Some(a), Some(b)) => …, (Some(a), None) => …, _ => … }`.

use syn::{Expr as Syn, Pat, Stmt, parse_quote};

use crate::parse::Parser;
use crate::rename::{Occurrences, bound, path};
use crate::variants::{alternatives, guarded};
use crate::views::{inside, irrefutable, is_none};

impl Parser<'_> {
    /// The same for a tuple of optional items, all of which have to be there: `if let (Some(a), Some(b)) = (x.first(), y.first())`.
    pub(crate) fn all_there(
        &mut self,
        whole: &syn::ExprTuple,
        patterns: &syn::PatTuple,
    ) -> Option<(Vec<Stmt>, Syn, Vec<Stmt>)> {
        if whole.elems.is_empty() || whole.elems.len() != patterns.elems.len() {
            return None;
        }
        let (mut out, mut all, mut inner) = (Vec::new(), Vec::new(), Vec::new());
        for (scrutinee, pattern) in whole.elems.iter().zip(&patterns.elems) {
            let (before, exists, bound) = self.there(scrutinee, pattern)?;
            out.extend(before);
            all.push(exists);
            inner.extend(bound);
        }
        Some((out, parse_quote!(#((#all))&&*), inner))
    }

    /// A `match` on a tuple of optional items, whose arms, of which one may have a guard, ask which of them are there.
    pub(crate) fn match_items(&mut self, m: &syn::ExprMatch) -> Option<Syn> {
        let Syn::Tuple(whole) = &*m.expr else { return None };
        let arms: Vec<_> = m.arms.iter().flat_map(alternatives).collect();
        let asked = arms.iter().map(|arm| Asked::all(guarded(&arm.pat).0, whole.elems.len()));
        let asked: Vec<Vec<Asked>> = asked.collect::<Option<_>>()?;
        // A name must not hide what another item is a part of.
        let mentioned = Occurrences::of(whole);
        let hides = |arm: &syn::Arm| bound(&arm.pat).iter().any(|name| mentioned.count(name) > 0);
        if arms.iter().any(hides) {
            return None;
        }
        // What comes behind a guard is there twice.
        let guards = arms.iter().filter(|arm| guarded(&arm.pat).1.is_some()).count();
        if whole.elems.is_empty() || arms.len() < 2 || guards > 1 || !self.suspects.any(whole) {
            return None;
        }
        let (mut out, mut items) = (Vec::new(), Vec::new());
        for element in &whole.elems {
            let (there, mut inner) = (self.hidden("there"), Vec::new());
            match self.optional_item(element, &mut out, &mut inner)? {
                Ok((exists, item)) => {
                    out.push(parse_quote!(let #there: bool = #exists;));
                    items.push((path(&there), inner, item));
                }
                Err((tokens, why)) => {
                    self.errors.push(tokens, why);
                    return None;
                }
            }
        }
        let mut chosen: Option<Syn> = None;
        for (arm, asked) in arms.iter().zip(asked).rev() {
            let (mut tests, mut bound): (Vec<Syn>, Vec<Stmt>) = (Vec::new(), Vec::new());
            for ((there, inner, item), asked) in items.iter().zip(asked) {
                match asked {
                    Asked::There(pattern) => {
                        tests.push(there.clone());
                        bound.extend(inner.iter().cloned());
                        self.bind_parts(pattern, item.clone(), &mut bound);
                    }
                    Asked::Missing => tests.push(parse_quote!(!#there)),
                    Asked::Nothing => {}
                }
            }
            let test: Syn = if tests.is_empty() { parse_quote!(true) } else { parse_quote!(#(#tests)&&*) };
            let body = &arm.body;
            chosen = Some(match (chosen, guarded(&arm.pat).1) {
                // The arms are for whatever there may be.
                (None, _) => parse_quote!({ #(#bound)* #body }),
                (Some(otherwise), None) => {
                    parse_quote!(if #test { #(#bound)* #body } else { #otherwise })
                }
                (Some(otherwise), Some(guard)) => {
                    let chosen: Syn = parse_quote!(if #guard { #body } else { #otherwise });
                    parse_quote!(if #test { #(#bound)* #chosen } else { #otherwise })
                }
            });
        }
        Some(parse_quote!({ #(#out)* #chosen }))
    }
}

/// What a pattern asks of an optional item.
enum Asked<'p> {
    /// It is there, and bound to this.
    There(&'p Pat),
    Missing,
    Nothing,
}

impl<'p> Asked<'p> {
    /// What `pattern` asks of each of `count` items.
    fn all(pattern: &'p Pat, count: usize) -> Option<Vec<Self>> {
        match pattern {
            Pat::Wild(_) => Some((0..count).map(|_| Asked::Nothing).collect()),
            Pat::Tuple(tuple) if tuple.elems.len() == count => tuple.elems.iter().map(Asked::of).collect(),
            _ => None,
        }
    }

    fn of(pattern: &'p Pat) -> Option<Self> {
        match pattern {
            Pat::Wild(_) => Some(Asked::Nothing),
            pattern if is_none(pattern) => Some(Asked::Missing),
            pattern => inside(pattern).filter(|inside| irrefutable(inside)).map(Asked::There),
        }
    }
}
