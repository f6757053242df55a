//! Patterns of slices: `if let [first, .., last] = x { … }` is a condition on the length and a name for each part. What is to be written to is split
//! off, part by part, as only `split_at_mut` may borrow several parts of one slice.

use quote::quote;
use syn::{Expr as Syn, Pat, PatSlice, Stmt, parse_quote};

use crate::iterators::item::Item;
use crate::parse::Parser;
use crate::program::Kind;
use crate::rename::path;
use crate::uses::is_name;
use crate::variants::{alternatives, guarded};
use crate::views::irrefutable;

/// What the names in a pattern are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Binds {
    Values,
    Shared,
    Unique,
}

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
        let (x, binds) = self.sliced(scrutinee)?;
        let binds = if by_value { Binds::Values } else { binds };
        let mut out = Vec::new();
        let n = self.names.fresh("n");
        out.push(parse_quote!(let #n = #x.len();));
        let (test, inner) =
            told_by_length(slice).then(|| self.slice_parts(slice, &x, &path(&n), binds)).flatten()?;
        Some((out, test, inner))
    }

    /// `match x { [] => …, [one] => …, [first, rest @ ..] => … }` as a chain of conditions; the last one holds if no other does.
    pub(crate) fn match_slice(&mut self, m: &syn::ExprMatch) -> Option<Syn> {
        let arms: Vec<_> = m.arms.iter().flat_map(alternatives).collect();
        let taken_apart = |arm: &syn::Arm| matches!(guarded(&arm.pat).0, Pat::Slice(_) | Pat::Reference(_));
        if !arms.iter().any(taken_apart) || !self.suspects.any(&m.expr) {
            return None;
        }
        let (x, binds) = self.sliced(&m.expr)?;
        let n = self.names.fresh("n");
        let len = path(&n);
        let mut links = Vec::new();
        for arm in &arms {
            let body = &arm.body;
            let (pattern, guard) = guarded(&arm.pat);
            let (test, inner) = match pattern {
                // Those that bind names are arms of their own.
                Pat::Or(cases) => {
                    let cases = cases.cases.iter().map(|case| self.slice_case(case, &x, &len, binds));
                    let tests = cases.map(|case| Some(case?.0)).collect::<Option<Vec<_>>>()?;
                    (parse_quote!((#(#tests)||*)), Vec::new())
                }
                pattern => self.slice_case(pattern, &x, &len, binds)?,
            };
            let test = match guard {
                // A guard only looks.
                Some(guard) if binds == Binds::Unique => {
                    let (_, seen) = self.slice_case(pattern, &x, &len, Binds::Shared)?;
                    parse_quote!(#test && { #(#seen)* #guard })
                }
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
    fn slice_case(&mut self, pattern: &Pat, x: &Syn, len: &Syn, binds: Binds) -> Option<(Syn, Vec<Stmt>)> {
        match pattern {
            Pat::Slice(slice) if told_by_length(slice) => self.slice_parts(slice, x, len, binds),
            Pat::Reference(reference) => match &*reference.pat {
                Pat::Slice(slice) if told_by_length(slice) => self.slice_parts(slice, x, len, Binds::Values),
                _ => None,
            },
            Pat::Wild(_) => Some((parse_quote!(true), Vec::new())),
            // A name for the whole.
            Pat::Ident(name) if binds != Binds::Values && is_name(pattern) => {
                let whole =
                    Item::Place { place: parse_quote!(#x[..]), unique: binds == Binds::Unique }.expr();
                Some((parse_quote!(true), vec![parse_quote!(let #name = #whole;)]))
            }
            _ => None,
        }
    }

    /// `let [first, .., last] = x;` of an array, where there is something behind the `..`, or it is to be written to.
    pub(crate) fn let_slice(&mut self, local: &syn::Local) -> Option<Vec<Stmt>> {
        let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
        let Pat::Slice(slice) = &local.pat else { return None };
        let plain = is_counted_from_the_start(slice);
        if !self.suspects.any(&init.expr) {
            return None;
        }
        if !plain
            && matches!(&*init.expr, Syn::Call(_) | Syn::MethodCall(_))
            && self.sliced(&init.expr).is_none()
        {
            let (whole, value) = (self.hidden("whole"), &init.expr);
            return Some(vec![parse_quote!(let #whole = #value;), parse_quote!(let #slice = #whole;)]);
        }
        // Without `else` what is no reference is an array.
        let (x, binds) = self.sliced_or(&init.expr, true)?;
        // A part that has as many elements as the pattern is that of `array_windows`.
        if plain && binds != Binds::Unique && !is_part(&x) {
            return None;
        }
        let n = self.names.fresh("n");
        let (_, inner) = self.slice_parts(slice, &x, &path(&n), binds)?;
        let mut out: Vec<Stmt> = vec![parse_quote!(let #n = #x.len();)];
        out.extend(inner);
        Some(out)
    }

    /// `let all = x.as_slice();` as `let all = &x[..];`
    pub(crate) fn let_whole(&mut self, local: &syn::Local) -> Option<Vec<Stmt>> {
        let Syn::MethodCall(call) = &*local.init.as_ref().filter(|init| init.diverge.is_none())?.expr else {
            return None;
        };
        let unique = match call.method.to_string().as_str() {
            "as_slice" => None,
            "as_mut_slice" => Some(quote!(mut)),
            _ => return None,
        };
        let (pattern, x) = (&local.pat, &call.receiver);
        let kind = self.place(x).map(|place| self.program.kind_of_place(&place));
        // Those of ndarray may not have one.
        let sequence = matches!(kind, Some(Kind::Sequence(_))) && self.shape_of(x).is_none();
        (sequence && self.suspects.any(x)).then(|| vec![parse_quote!(let #pattern = &#unique #x[..];)])
    }

    /// What a pattern takes apart, and what it binds.
    fn sliced(&mut self, scrutinee: &Syn) -> Option<(Syn, Binds)> {
        self.sliced_or(scrutinee, false)
    }

    /// The same, of what is known to be `taken_apart`.
    fn sliced_or(&mut self, scrutinee: &Syn, taken_apart: bool) -> Option<(Syn, Binds)> {
        let (x, binds) = match scrutinee {
            Syn::Paren(paren) => return self.sliced_or(&paren.expr, taken_apart),
            Syn::Reference(reference) => {
                let binds = if reference.mutability.is_some() { Binds::Unique } else { Binds::Shared };
                // `&mut *x`
                let x = match &*reference.expr {
                    Syn::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => &unary.expr,
                    _ => &reference.expr,
                };
                ((**x).clone(), binds)
            }
            Syn::MethodCall(call) if call.method == "as_slice" && call.args.is_empty() => {
                ((*call.receiver).clone(), Binds::Shared)
            }
            Syn::MethodCall(call) if call.method == "as_mut_slice" && call.args.is_empty() => {
                ((*call.receiver).clone(), Binds::Unique)
            }
            // `*x` is a copy.
            Syn::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => {
                ((*unary.expr).clone(), Binds::Values)
            }
            Syn::Path(name) => {
                let name = name.path.get_ident()?;
                let binds = match self.is_reference(name) {
                    true if self.is_unique(name) => Binds::Unique,
                    true => Binds::Shared,
                    false => Binds::Values,
                };
                (scrutinee.clone(), binds)
            }
            Syn::Index(_) | Syn::Field(_) => (scrutinee.clone(), Binds::Values),
            _ => return None,
        };
        let told = taken_apart
            || is_part(&x)
            || binds == Binds::Unique
            || matches!(scrutinee, Syn::MethodCall(_) | Syn::Reference(_));
        let place = self.place(&x)?;
        let sequence = match self.program.kind_of_place(&place) {
            Kind::Sequence(_) => true,
            kind => told && kind == Kind::Unknown,
        };
        (sequence && self.is_pure(&x)).then_some((x, binds))
    }

    /// The test that a pattern makes of a slice with `len` elements, and its names for the parts.
    fn slice_parts(
        &mut self,
        slice: &PatSlice,
        x: &Syn,
        len: &Syn,
        binds: Binds,
    ) -> Option<(Syn, Vec<Stmt>)> {
        let count = slice.elems.len();
        let gap = slice.elems.iter().position(is_gap);
        let known = syn::Index::from(count - usize::from(gap.is_some()));
        let test = match gap {
            Some(_) => parse_quote!(#len >= #known),
            None => parse_quote!(#len == #known),
        };
        if binds == Binds::Unique {
            return Some((test, self.split_parts(slice, x, len)?));
        }
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
            let item = match binds {
                Binds::Values => Item::Value(place),
                _ => Item::Place { place, unique: false },
            };
            self.bind_parts(pattern, item, &mut inner);
        }
        Some((test, inner))
    }

    /// The names for the parts of a slice with `len` elements that may be written to.
    fn split_parts(&mut self, slice: &PatSlice, x: &Syn, len: &Syn) -> Option<Vec<Stmt>> {
        let last = slice.elems.iter().rposition(|pattern| !matches!(pattern, Pat::Rest(_) | Pat::Wild(_)));
        let (mut left, known) = (x.clone(), slice.elems.iter().filter(|pattern| !is_gap(pattern)).count());
        let mut out = Vec::new();
        for pattern in slice.elems.iter().take(last.map_or(0, |last| last + 1)) {
            let (part, rest) = (self.hidden("part"), self.hidden("rest"));
            let middle: Syn = match is_gap(pattern) {
                true => {
                    let (middle, known) = (self.names.fresh("middle"), syn::Index::from(known));
                    out.push(parse_quote!(let #middle = #len - #known;));
                    path(&middle)
                }
                false => parse_quote!(1),
            };
            out.push(parse_quote!(let (#part, #rest) = #left.split_at_mut(#middle);));
            left = path(&rest);
            let place: Syn = match pattern {
                Pat::Rest(_) => continue,
                Pat::Ident(name) if is_gap(pattern) => {
                    let name = (name.by_ref.is_none() && name.mutability.is_none()).then_some(&name.ident)?;
                    out.push(parse_quote!(let #name = &mut #part[..];));
                    continue;
                }
                _ => parse_quote!(#part[0]),
            };
            self.bind_parts(pattern, Item::Place { place, unique: true }, &mut out);
        }
        Some(out)
    }
}

/// Whether there are as many elements is all that the pattern asks.
fn told_by_length(slice: &PatSlice) -> bool {
    slice.elems.iter().all(|pattern| is_gap(pattern) || irrefutable(pattern))
}

/// Nothing stands behind a `..`, and no name is given to what there is.
fn is_counted_from_the_start(slice: &PatSlice) -> bool {
    let gap = slice.elems.iter().position(is_gap);
    gap.is_none_or(|gap| matches!(slice.elems[gap], Pat::Rest(_)) && gap + 1 == slice.elems.len())
        && slice.elems.iter().all(|element| match element {
            Pat::Slice(inner) => is_counted_from_the_start(inner),
            _ => true,
        })
}

/// `x[a..b]`
fn is_part(x: &Syn) -> bool {
    matches!(x, Syn::Index(part) if matches!(&*part.index, Syn::Range(_)))
}

/// `..`, or a name for what is there.
pub(crate) fn is_gap(pattern: &Pat) -> bool {
    match pattern {
        Pat::Rest(_) => true,
        Pat::Ident(name) => name.subpat.as_ref().is_some_and(|(_, inner)| matches!(**inner, Pat::Rest(_))),
        _ => false,
    }
}
