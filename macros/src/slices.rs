//! Patterns of slices: `if let [first, .., last] = x { … }` is a condition on the length and a name for each part.

use quote::quote;
use syn::{Expr as Syn, Pat, PatSlice, Stmt, parse_quote};

use crate::iterators::item::Item;
use crate::parse::Parser;
use crate::program::Kind;
use crate::rename::path;
use crate::uses::is_name;
use crate::variants::{alternatives, guarded};
use crate::views::irrefutable;

impl Parser<'_> {
    /// For a slice that a pattern takes apart: what stands before the test, the test, and the statements that bind the names.
    pub(crate) fn slice_there(
        &mut self,
        scrutinee: &Syn,
        pattern: &Pat,
    ) -> Option<(Vec<Stmt>, Syn, Vec<Stmt>)> {
        let (slice, by_value) = match pattern {
            Pat::Slice(slice) => (slice, false),
            Pat::Reference(reference) => match &*reference.pat {
                Pat::Slice(slice) => (slice, true),
                _ => return None,
            },
            _ => return None,
        };
        let (x, referred) = self.sliced(scrutinee)?;
        let referred = referred && !by_value;
        let mut out = Vec::new();
        let n = self.names.fresh("n");
        out.push(parse_quote!(let #n = #x.len();));
        let (test, inner) = self.slice_parts(slice, &x, &path(&n), referred)?;
        Some((out, test, inner))
    }

    /// `match x { [] => …, [one] => …, [first, rest @ ..] => … }` as a chain of conditions; the last one holds if no other does.
    pub(crate) fn match_slice(&mut self, m: &syn::ExprMatch) -> Option<Syn> {
        let arms: Vec<_> = m.arms.iter().flat_map(alternatives).collect();
        let taken_apart = |arm: &syn::Arm| matches!(guarded(&arm.pat).0, Pat::Slice(_) | Pat::Reference(_));
        if !arms.iter().any(taken_apart) || !self.suspects.any(&m.expr) {
            return None;
        }
        let (x, referred) = self.sliced(&m.expr)?;
        let n = self.names.fresh("n");
        let len = path(&n);
        let mut links = Vec::new();
        for arm in &arms {
            let body = &arm.body;
            let (pattern, guard) = guarded(&arm.pat);
            let (test, inner) = match pattern {
                // Those that bind names are arms of their own.
                Pat::Or(cases) => {
                    let cases = cases.cases.iter().map(|case| self.slice_case(case, &x, &len, referred));
                    let tests = cases.map(|case| Some(case?.0)).collect::<Option<Vec<_>>>()?;
                    (parse_quote!((#(#tests)||*)), Vec::new())
                }
                pattern => self.slice_case(pattern, &x, &len, referred)?,
            };
            let test = match guard {
                Some(guard) => parse_quote!(#test && { #(#inner)* #guard }),
                None => test,
            };
            links.push((test, quote!({ #(#inner)* #body })));
        }
        let (_, last) = links.pop()?;
        let chain = links
            .into_iter()
            .rev()
            .fold(last, |otherwise, (test, then)| quote!({ if #test #then else #otherwise }));
        Some(parse_quote!({ let #n = #x.len(); #chain }))
    }

    /// The test that an arm makes of a slice with `len` elements, and its names for the parts.
    fn slice_case(&mut self, pattern: &Pat, x: &Syn, len: &Syn, referred: bool) -> Option<(Syn, Vec<Stmt>)> {
        match pattern {
            Pat::Slice(slice) => self.slice_parts(slice, x, len, referred),
            Pat::Reference(reference) => match &*reference.pat {
                Pat::Slice(slice) => self.slice_parts(slice, x, len, false),
                _ => None,
            },
            Pat::Wild(_) => Some((parse_quote!(true), Vec::new())),
            // A name for the whole.
            Pat::Ident(name) if referred && is_name(pattern) => {
                Some((parse_quote!(true), vec![parse_quote!(let #name = &#x[..];)]))
            }
            _ => None,
        }
    }

    /// `let [first, .., last] = x;` of an array, where there is something behind the `..`.
    pub(crate) fn let_slice(&mut self, local: &syn::Local) -> Option<Vec<Stmt>> {
        let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
        let Pat::Slice(slice) = &local.pat else { return None };
        let gap = slice.elems.iter().position(is_gap)?;
        let plain = matches!(slice.elems[gap], Pat::Rest(_)) && gap + 1 == slice.elems.len();
        if plain || !self.suspects.any(&init.expr) {
            return None;
        }
        let (x, referred) = self.sliced(&init.expr)?;
        let n = self.names.fresh("n");
        let (_, inner) = self.slice_parts(slice, &x, &path(&n), referred)?;
        let mut out: Vec<Stmt> = vec![parse_quote!(let #n = #x.len();)];
        out.extend(inner);
        Some(out)
    }

    /// What a pattern takes apart, and whether it binds references.
    fn sliced(&mut self, scrutinee: &Syn) -> Option<(Syn, bool)> {
        let told = matches!(scrutinee, Syn::MethodCall(_));
        let (x, referred) = match scrutinee {
            Syn::Paren(paren) => return self.sliced(&paren.expr),
            Syn::Reference(reference) if reference.mutability.is_none() => ((*reference.expr).clone(), true),
            Syn::MethodCall(call) if call.method == "as_slice" && call.args.is_empty() => {
                ((*call.receiver).clone(), true)
            }
            Syn::Path(name) => {
                let name = name.path.get_ident()?;
                // Names for what is to be written to would have to be taken off the slice one by one.
                if self.is_unique(name) {
                    return None;
                }
                (scrutinee.clone(), self.is_reference(name))
            }
            Syn::Index(_) | Syn::Field(_) => (scrutinee.clone(), false),
            _ => return None,
        };
        let place = self.place(&x)?;
        let sequence = match self.program.kind_of_place(&place) {
            Kind::Sequence(_) => true,
            kind => told && kind == Kind::Unknown,
        };
        (sequence && self.is_pure(&x)).then_some((x, referred))
    }

    /// The test that a pattern makes of a slice with `len` elements, and its names for the parts.
    fn slice_parts(
        &mut self,
        slice: &PatSlice,
        x: &Syn,
        len: &Syn,
        referred: bool,
    ) -> Option<(Syn, Vec<Stmt>)> {
        let count = slice.elems.len();
        let gap = slice.elems.iter().position(is_gap);
        let mut inner = Vec::new();
        for (i, pattern) in slice.elems.iter().enumerate() {
            let place: Syn = match gap {
                Some(gap) if i == gap => {
                    let Pat::Ident(rest) = pattern else { continue };
                    let (name, behind) = (&rest.ident, syn::Index::from(count - 1 - gap));
                    let (gap, last) = (syn::Index::from(gap), behind.index == 0);
                    if rest.mutability.is_some() {
                        return None;
                    }
                    inner.push(match last {
                        true => parse_quote!(let #name = &#x[#gap..];),
                        false => parse_quote!(let #name = &#x[#gap..#len - #behind];),
                    });
                    continue;
                }
                Some(gap) if i > gap => {
                    let behind = syn::Index::from(count - i);
                    parse_quote!(#x[#len - #behind])
                }
                _ => {
                    let i = syn::Index::from(i);
                    parse_quote!(#x[#i])
                }
            };
            if !irrefutable(pattern) {
                return None;
            }
            let item = if referred { Item::Place { place, unique: false } } else { Item::Value(place) };
            self.bind_parts(pattern, item, &mut inner);
        }
        let known = syn::Index::from(count - usize::from(gap.is_some()));
        let test = match gap {
            Some(_) => parse_quote!(#len >= #known),
            None => parse_quote!(#len == #known),
        };
        Some((test, inner))
    }
}

/// `..`, or a name for what is there.
fn is_gap(pattern: &Pat) -> bool {
    match pattern {
        Pat::Rest(_) => true,
        Pat::Ident(name) => name.subpat.as_ref().is_some_and(|(_, inner)| matches!(**inner, Pat::Rest(_))),
        _ => false,
    }
}
