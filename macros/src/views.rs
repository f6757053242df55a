//! Parts of slices: those that methods such as `first` and `split_last` single out, and the two that `split_at_mut` makes.
//!
//! `x.first()` is there unless `x` is empty, and stands for `x[0]`. What an `if let`, a `match`, a `let … else` or a `?` makes of
//! such an `Option` becomes a condition and names for places, before anything is analysed. So do the two parts of a slice,
//! but for those of `split_at_mut`: the forward pass has them from the method, which alone may borrow both, and so has the
//! reverse pass, where a call gets both.

use std::collections::HashMap;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Expr as Syn, ExprMethodCall, Ident, Pat, Stmt, parse_quote};

use crate::calls::Callee;
use crate::contents::wraps;
use crate::destructure::{Referred, fields, name_parts};
use crate::forward::Forward;
use crate::iterators::item::Item;
use crate::iterators::optional::{Found, Located};
use crate::kind::inert;
use crate::options::is_constructor;
use crate::parse::{Binding, Parser};
use crate::program::*;
use crate::rename::{Occurrences, bound, path};
use crate::reverse::Reverse;

/// The methods of slices whose result is an `Option` of a reference to a part, or of two.
const OPTIONAL: &[&str] = &[
    "first",
    "last",
    "get",
    "first_mut",
    "last_mut",
    "get_mut",
    "split_first",
    "split_last",
    "split_first_mut",
    "split_last_mut",
];

pub(crate) const CHANGES: &str = "a reference that changes what it refers to is not differentiable: let an index change, or swap the vectors themselves";

/// Whether a method called `name` singles out a part that may not be there.
pub(crate) fn is_optional(name: &str) -> bool {
    OPTIONAL.contains(&name)
}

impl Parser<'_> {
    /// The part that a method of a slice singles out.
    pub(crate) fn optional_part(&mut self, call: &ExprMethodCall, out: &mut Vec<Stmt>) -> Option<Found> {
        let name = call.method.to_string();
        let inert = self.is_inert_sequence(&call.receiver) && !name.ends_with("_mut");
        let sequence = inert || self.suspects.any(call) && self.is_sequence(&call.receiver);
        if !is_optional(&name) || !sequence {
            return None;
        }
        let (kind, unique) = match name.strip_suffix("_mut") {
            Some(kind) => (kind, true),
            None => (name.as_str(), false),
        };
        let x = &call.receiver;
        let index = match (kind, call.args.first()) {
            ("get", Some(index)) if call.args.len() == 1 && !is_key(index) => Some(index),
            ("get", _) => return None,
            (_, None) => None,
            _ => return None,
        };
        let place = |place: Syn, unique| Item::Place { place, unique };
        let last = |parser: &mut Self, out: &mut Vec<Stmt>| {
            let last = parser.names.fresh("last");
            out.push(parse_quote!(let #last = usize::wrapping_sub(#x.len(), 1);));
            last
        };
        let (exists, item): (Syn, Item) = match (kind, index) {
            (
                "get",
                Some(Syn::Tuple(syn::ExprTuple { elems, .. }) | Syn::Array(syn::ExprArray { elems, .. })),
            ) => {
                let (mut exists, mut at_all) = (Vec::new(), Vec::new());
                for (axis, index) in elems.iter().enumerate() {
                    let (at, axis) = (self.names.fresh("at"), syn::Index::from(axis));
                    out.push(parse_quote!(let #at: usize = #index;));
                    exists.push(quote!(#at < #x.shape()[#axis]));
                    at_all.push(at);
                }
                (parse_quote!(#(#exists)&&*), place(parse_quote!(#x[[#(#at_all),*]]), unique))
            }
            ("get", Some(Syn::Range(range))) => {
                let (from, to) = (self.names.fresh("from"), self.names.fresh("to"));
                let start = range.start.as_deref().cloned().unwrap_or(parse_quote!(0));
                let end: Syn = match (&range.end, range.limits) {
                    (None, _) => parse_quote!(#x.len()),
                    (Some(end), syn::RangeLimits::HalfOpen(_)) => (**end).clone(),
                    (Some(last), syn::RangeLimits::Closed(_)) => parse_quote!((#last) + 1),
                };
                out.extend([parse_quote!(let #from: usize = #start;), parse_quote!(let #to: usize = #end;)]);
                (parse_quote!(#from <= #to && #to <= #x.len()), place(parse_quote!(#x[#from..#to]), unique))
            }
            ("get", Some(index)) => {
                let at = self.names.fresh("at");
                out.push(parse_quote!(let #at: usize = #index;));
                (parse_quote!(#at < #x.len()), place(parse_quote!(#x[#at]), unique))
            }
            ("first", _) => (parse_quote!(!#x.is_empty()), place(parse_quote!(#x[0]), unique)),
            ("last", _) => {
                let last = last(self, out);
                (parse_quote!(!#x.is_empty()), place(parse_quote!(#x[#last]), unique))
            }
            ("split_first", _) => {
                let (first, rest) = (parse_quote!(#x[0]), parse_quote!(#x[1..]));
                (parse_quote!(!#x.is_empty()), Item::Tuple(vec![place(first, unique), place(rest, unique)]))
            }
            _ => {
                let last = last(self, out);
                let (last, rest) = (parse_quote!(#x[#last]), parse_quote!(#x[..#last]));
                (parse_quote!(!#x.is_empty()), Item::Tuple(vec![place(last, unique), place(rest, unique)]))
            }
        };
        Some(Found { exists, item: Located::There(item) })
    }

    /// `expr` may be a slice, an array or a vector of what carries gradients, as far as syntax tells.
    fn is_sequence(&mut self, expr: &Syn) -> bool {
        let Some(place) = self.place(expr) else { return false };
        let kind = self.program.kind_of_place(&place);
        let base = &self.program.variables[place.base];
        // A type that has been told, and is none of these, may have methods of such names itself.
        let other = self.is_keyed(expr)
            || kind == Kind::Unknown
                && place.projections.is_empty()
                && (base.ty.is_some()
                    || !matches!(base.origin, Origin::Local)
                    || self.is_made_by_type(place.base));
        matches!(kind, Kind::Sequence(_) | Kind::Unknown) && !inert(&kind) && !other && self.is_pure(expr)
    }

    /// The local is bound to a struct, or to what a function of a user's type has made: `let grid = Grid::filled(n, x);`
    pub(crate) fn is_made_by_type(&self, id: VarId) -> bool {
        let program = &self.program;
        let made = |init: ExprId| match &program.exprs[program.peel(init)].kind {
            ExprKind::Struct(_) => true,
            _ if is_constructed(&program.exprs[program.peel(init)].syntax) => true,
            ExprKind::Call { function: Callee::Associated(path), .. } => {
                let of = path.path.segments.iter().rev().nth(1).map(|segment| segment.ident.to_string());
                of.is_some_and(|of| of != "Vec" && of != "Box" && !of.starts_with("Array"))
            }
            _ => false,
        };
        program.init_of(id).is_some_and(made)
    }

    /// Likewise of what carries none, and is lent: a reference to a part of it cannot be kept, but its place has a name.
    fn is_inert_sequence(&mut self, expr: &Syn) -> bool {
        let Syn::Path(_) = expr else { return false };
        let Some(place) = self.place(expr) else { return false };
        let base = &self.program.variables[place.base];
        let sequence = matches!(self.program.kind_of_place(&place), Kind::Sequence(_));
        let constant = base.constant || inert(&self.program.kind_of_place(&place));
        sequence && constant && base.origin == Origin::Shared
    }

    /// `test.then_some(x)` and `test.then(|| x)` as what they are: `if test { Some(x) } else { None }`.
    pub(crate) fn then(&mut self, call: &ExprMethodCall) -> Option<Syn> {
        let (test, arg) = (&call.receiver, call.args.first()?);
        let value = match (call.method.to_string().as_str(), arg) {
            ("then_some", value) if self.is_pure(value) => value,
            ("then", Syn::Closure(closure)) if closure.inputs.is_empty() => &*closure.body,
            _ => return None,
        };
        let test = tested(test);
        (call.args.len() == 1 && self.suspects.any(value))
            .then(|| parse_quote!(if #test { Some(#value) } else { None }))
    }

    /// `if let Some(part) = x.first() { … } else { … }`, with a condition in its place.
    pub(crate) fn if_there(&mut self, branch: &syn::ExprIf) -> Option<Syn> {
        let Syn::Let(binding) = &*branch.cond else { return None };
        let (out, exists, inner) = self.there(&binding.expr, &binding.pat)?;
        let then = &branch.then_branch.stmts;
        let otherwise = branch.else_branch.as_ref().map(|(_, otherwise)| quote!(else #otherwise));
        let test: Syn = parse_quote!(if #exists { #(#inner)* #(#then)* } #otherwise);
        Some(if out.is_empty() { test } else { parse_quote!({ #(#out)* #test }) })
    }

    /// `match x.first() { Some(part) => …, None => … }`, likewise.
    pub(crate) fn match_there(&mut self, m: &syn::ExprMatch) -> Option<Syn> {
        if let Some(chain) = self.match_slice(m) {
            return Some(chain);
        }
        if let Some(chain) = self.match_named(m) {
            return Some(chain);
        }
        if let Some(chain) = self.match_items(m) {
            return Some(chain);
        }
        let plain = |pattern: &Pat| !matches!(pattern, Pat::Guard(_));
        let [one, other] = &m.arms.iter().collect::<Vec<_>>()[..] else { return None };
        let some_of_all =
            matches!((&*m.expr, &one.pat, &other.pat), (Syn::Tuple(_), Pat::Tuple(_), Pat::Wild(_)));
        let (some, none) = match (inside(&one.pat), inside(&other.pat)) {
            (Some(_), _) if is_none(&other.pat) => (one, other),
            _ if some_of_all => (one, other),
            (_, Some(_)) if matches!(&one.pat, Pat::Ident(name) if name.ident == "None") => (other, one),
            _ => return None,
        };
        if !plain(&some.pat) || !plain(&none.pat) {
            return None;
        }
        let (out, exists, inner) = self.there(&m.expr, &some.pat)?;
        let (then, otherwise) = (&some.body, &none.body);
        Some(parse_quote!({ #(#out)* if #exists { #(#inner)* #then } else { #otherwise } }))
    }

    /// `let Some(part) = x.first() else { … };` and `let part = x.first()?;`, likewise.
    pub(crate) fn let_there(&mut self, local: &syn::Local) -> Option<Vec<Stmt>> {
        if let Some(named) = self.let_element_of_call(local) {
            return Some(named);
        }
        let init = local.init.as_ref()?;
        let (scrutinee, pattern, otherwise): (_, Pat, Syn) = match (&init.diverge, &*init.expr) {
            (Some((_, diverge)), scrutinee) => (scrutinee, local.pat.clone(), (**diverge).clone()),
            (None, Syn::Try(tried)) => {
                let some = syn::PatTupleStruct {
                    attrs: Vec::new(),
                    qself: None,
                    path: parse_quote!(Some),
                    paren_token: Default::default(),
                    elems: std::iter::once(local.pat.clone()).collect(),
                };
                (&*tried.expr, Pat::TupleStruct(some), {
                    let stop = self.stop(parse_quote!(None));
                    parse_quote!({ #stop })
                })
            }
            _ => return None,
        };
        let (mut out, exists, inner) = self.there(scrutinee, &pattern)?;
        out.push(match otherwise {
            Syn::Block(block) if block.label.is_none() => {
                let block = &block.block;
                Stmt::Expr(parse_quote!(if !(#exists) #block), None)
            }
            other => Stmt::Expr(parse_quote!(if !(#exists) { #other }), None),
        });
        out.extend(inner);
        Some(out)
    }

    /// The name in `let part = x.get(i)?;` may stand for a part that carries a gradient.
    pub(crate) fn suspect_part(&mut self, stmt: &Stmt) {
        if let Stmt::Local(syn::Local { pat: Pat::Ident(name), init: Some(init), .. }) = stmt
            && let Syn::Try(tried) = &*init.expr
            && let Syn::MethodCall(call) = &*tried.expr
            && is_optional(&call.method.to_string())
            && self.suspects.any(call)
        {
            self.suspects.insert(&name.ident);
        }
    }

    /// `*x.last_mut().unwrap()` as the place of an assignment: `x[last]`. Tells whether there was such a thing.
    pub(crate) fn place_there(&mut self, place: &mut Syn, out: &mut Vec<Stmt>) -> bool {
        let inner = match place {
            Syn::Paren(paren) => &mut paren.expr,
            Syn::Field(field) => &mut field.base,
            Syn::Index(index) => &mut index.expr,
            Syn::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => {
                if let Some(there) = self.unwrapped_place(&unary.expr, out) {
                    *place = there;
                    return true;
                }
                return false;
            }
            other => {
                let Some(there) = self.unwrapped_place(other, out) else { return false };
                *other = there;
                return true;
            }
        };
        self.place_there(inner, out)
    }

    fn unwrapped_place(&mut self, expr: &Syn, out: &mut Vec<Stmt>) -> Option<Syn> {
        let Syn::MethodCall(outer) = expr else { return None };
        let Syn::MethodCall(call) = &*outer.receiver else { return None };
        let message: Syn = match (outer.method.to_string().as_str(), outer.args.first()) {
            ("unwrap", None) => parse_quote!("called `Option::unwrap()` on a `None` value"),
            ("expect", Some(message)) => message.clone(),
            _ => return None,
        };
        let Found { exists, item: Located::There(Item::Place { place, .. }) } =
            self.optional_part(call, out)?
        else {
            return None;
        };
        out.push(parse_quote!(assert!(#exists, "{}", #message);));
        Some(place)
    }

    /// For an optional item: what stands before the test, the test, and the statements that bind `pattern` to the item.
    pub(crate) fn there(&mut self, scrutinee: &Syn, pattern: &Pat) -> Option<(Vec<Stmt>, Syn, Vec<Stmt>)> {
        if matches!(pattern, Pat::Slice(_) | Pat::Reference(_)) && self.suspects.any(scrutinee) {
            return self.slice_there(scrutinee, pattern);
        }
        if let (Syn::Tuple(whole), Pat::Tuple(patterns)) = (scrutinee, pattern) {
            return self.all_there(whole, patterns);
        }
        let pattern = inside(pattern)?;
        let inert = matches!(scrutinee, Syn::MethodCall(call) if self.is_inert_sequence(&call.receiver));
        if !irrefutable(pattern) || !inert && !self.suspects.any(scrutinee) {
            return None;
        }
        let (mut out, mut inner) = (Vec::new(), Vec::new());
        let (exists, item) = match self.optional_item(scrutinee, &mut out, &mut inner)? {
            Ok(found) => found,
            Err((tokens, why)) => {
                self.errors.push(tokens, why);
                return None;
            }
        };
        self.bind_parts(pattern, item, &mut inner);
        Some((out, exists, inner))
    }

    /// `let pattern = item;`, item by item.
    pub(crate) fn bind_parts(&mut self, pattern: &Pat, item: Item, out: &mut Vec<Stmt>) {
        match (pattern, item) {
            (Pat::Paren(paren), item) => self.bind_parts(&paren.pat, item, out),
            (Pat::Type(typed), item) => self.bind_parts(&typed.pat, item, out),
            (Pat::Wild(_), _) => {}
            (Pat::Reference(reference), item) => self.bind_parts(&reference.pat, item.copied(), out),
            (Pat::Tuple(tuple), Item::Tuple(items)) if tuple.elems.len() == items.len() => {
                if let [Item::Place { place: one, unique: true }, Item::Place { place: rest, unique: true }] =
                    &items[..]
                    && matches!(rest, Syn::Index(rest) if matches!(&*rest.index, Syn::Range(_)))
                {
                    return self.bind_split_off(tuple, one.clone(), rest, out);
                }
                // One name must not hide what the next is a part of.
                let whole = Item::Tuple(items.clone()).expr();
                let mentioned = Occurrences::of(&whole);
                let hides = bound(pattern).iter().any(|name| mentioned.count(name) > 0);
                let items = match hides {
                    true => items.into_iter().map(|item| self.under_own_name(item, out)).collect(),
                    false => items,
                };
                for (pattern, item) in tuple.elems.iter().zip(items) {
                    self.bind_parts(pattern, item, out);
                }
            }
            (pattern, Item::Place { place, unique: true }) if fields(pattern, &place).is_some() => {
                for (pattern, item) in self.fields_to_write(pattern, &place, out) {
                    self.bind_parts(pattern, item, out);
                }
            }
            (pattern, item) => {
                let value = item.expr();
                out.push(parse_quote!(let #pattern = #value;));
            }
        }
    }

    /// The same item, by names that nobody else has.
    fn under_own_name(&mut self, item: Item, out: &mut Vec<Stmt>) -> Item {
        match item {
            Item::Tuple(items) => {
                Item::Tuple(items.into_iter().map(|item| self.under_own_name(item, out)).collect())
            }
            item => {
                let (name, value) = (self.hidden("part"), item.expr());
                out.push(parse_quote!(let #name = #value;));
                Item::Value(path(&name))
            }
        }
    }

    /// `let (one, rest) = …`, where both are borrowed to be written to: `x[0]` and `x[1..]`, or the last one and those before.
    fn bind_split_off(&mut self, tuple: &syn::PatTuple, one: Syn, rest: &Syn, out: &mut Vec<Stmt>) {
        let (Syn::Index(one), Syn::Index(syn::ExprIndex { index: range, .. })) = (one, rest) else {
            unreachable!("a part is selected by an index")
        };
        let (x, single) = (&one.expr, self.hidden("part"));
        let (pattern, others) = (&tuple.elems[0], &tuple.elems[1]);
        let Syn::Range(range) = &**range else { unreachable!("the rest is a range") };
        let (name, more) = match others {
            Pat::Ident(name) if name.subpat.is_none() => (name.ident.clone(), None),
            other => (self.hidden("part"), Some(other)),
        };
        out.push(match &range.end {
            None => parse_quote!(let (#single, #name) = #x.split_at_mut(1);),
            Some(last) => parse_quote!(let (#name, #single) = #x.split_at_mut(#last);),
        });
        if let Some(more) = more {
            self.bind_parts(more, Item::Place { place: path(&name), unique: true }, out);
        }
        self.bind_parts(pattern, Item::Place { place: parse_quote!(#single[0]), unique: true }, out);
    }

    /// `let (left, right) = x.split_at(k);` and tuples of references: a `let` for each name. Of `split_at_mut` the middle gets a
    /// name.
    pub(crate) fn let_parts(&mut self, local: &syn::Local) -> Option<Vec<Stmt>> {
        let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
        // The parts of constants are references as well, which cannot be kept.
        let divides = matches!(&*init.expr, Syn::MethodCall(call) if call.method == "split_at")
            || matches!(&*init.expr, Syn::Tuple(_));
        if !divides && !self.suspects.any(&init.expr) {
            return None;
        }
        let mut out = Vec::new();
        match (&local.pat, &*init.expr) {
            (Pat::Tuple(names), Syn::Tuple(values)) if names.elems.len() == values.elems.len() => {
                let reference = |value: &Syn| {
                    matches!(value, Syn::Reference(_))
                        || matches!(value, Syn::Path(_)) && self.refers_to_part(value)
                };
                if !values.elems.iter().any(|value| reference(value) || self.hands_out(value)) {
                    return None;
                }
                let clash = names.elems.iter().enumerate().any(|(i, name)| {
                    let later = Occurrences::of(
                        values.elems.iter().skip(i + 1).map(Syn::to_token_stream).collect::<TokenStream>(),
                    );
                    bound(name).iter().any(|name| later.count(name) > 0)
                });
                if clash {
                    return None;
                }
                for (name, value) in names.elems.iter().zip(&values.elems) {
                    out.push(parse_quote!(let #name = #value;));
                }
            }
            // Parameters and locals have been taken apart before.
            (pattern, Syn::Path(name)) if fields(pattern, &init.expr).is_some() => {
                let name = name.path.get_ident()?;
                let refers = self.variable(&init.expr).is_some_and(|id| self.program.variables[id].refers);
                let referred = match self.is_reference(name) || refers {
                    true if self.is_unique(name) => Referred::Unique,
                    true => Referred::Shared,
                    false => Referred::No,
                };
                if referred == Referred::Unique {
                    let item = Item::Place { place: parse_quote!(*#name), unique: true };
                    self.bind_parts(pattern, item, &mut out);
                } else if matches!(pattern, Pat::Struct(_) | Pat::TupleStruct(_)) {
                    let whole = match bound(pattern).contains(name) {
                        true => {
                            let whole = self.hidden("whole");
                            out.push(parse_quote!(let #whole = #name;));
                            whole
                        }
                        false => name.clone(),
                    };
                    if !name_parts(pattern, &path(&whole), referred, &mut out) {
                        return None;
                    }
                } else {
                    return None;
                }
            }
            (pattern, Syn::Field(field)) => {
                let (Syn::MethodCall(call), syn::Member::Unnamed(index)) = (&*field.base, &field.member)
                else {
                    return None;
                };
                let (x, middle, unique) = self.split(call)?;
                let range = if index.index == 0 { quote!(..#middle) } else { quote!(#middle..) };
                let mutability = unique.then(|| quote!(mut));
                out.push(parse_quote!(let #pattern = &#mutability #x[#range];));
            }
            (Pat::Tuple(names), Syn::MethodCall(call)) if names.elems.len() == 2 => {
                let (x, middle, unique) = self.split(call)?;
                if self.is_cut(local) {
                    return None;
                }
                let at = if self.is_fixed(&middle) {
                    middle
                } else {
                    let at = self.names.fresh("middle");
                    out.push(parse_quote!(let #at: usize = #middle;));
                    path(&at)
                };
                if unique {
                    let mut parts: Vec<Stmt> = Vec::new();
                    let names = names.elems.iter().map(|pattern| match pattern {
                        Pat::Ident(name) if is_name(name) => name.ident.clone(),
                        pattern => {
                            let name = self.hidden("part");
                            let item = Item::Place { place: path(&name), unique: true };
                            self.bind_parts(pattern, item, &mut parts);
                            name
                        }
                    });
                    let names: Vec<_> = names.collect();
                    out.push(parse_quote!(let (#(#names),*) = #x.split_at_mut(#at);));
                    out.extend(parts);
                } else {
                    let left = Item::Place { place: parse_quote!(#x[..#at]), unique };
                    let right = Item::Place { place: parse_quote!(#x[#at..]), unique };
                    self.bind_parts(&local.pat, Item::Tuple(vec![left, right]), &mut out);
                }
            }
            _ => return None,
        }
        Some(out)
    }

    /// It is an iterator, or an optional item of one or of a slice.
    fn hands_out(&self, value: &Syn) -> bool {
        self.goes_through(value)
            || matches!(value, Syn::MethodCall(call) if self.picks(call) || is_optional(&call.method.to_string()))
    }

    /// The name is that of a place.
    fn refers_to_part(&self, expr: &Syn) -> bool {
        matches!(expr, Syn::Path(path) if path.path.get_ident().is_some_and(|name| self.is_reference(name)))
    }

    /// `x.split_at(k)` and `x.split_at_mut(k)`: what is split, where, and whether to be written to.
    fn split(&mut self, call: &ExprMethodCall) -> Option<(Syn, Syn, bool)> {
        let unique = call.method == "split_at_mut";
        if !(unique || call.method == "split_at") || call.args.len() != 1 || !self.is_sequence(&call.receiver)
        {
            return None;
        }
        Some(((*call.receiver).clone(), call.args[0].clone(), unique))
    }

    /// The places that the names in `let (left, right) = x.split_at_mut(k);` stand for, in the form that [`Parser::let_parts`]
    /// makes of it.
    pub(crate) fn cut(&mut self, local: &syn::Local) -> Option<Vec<(Ident, Place)>> {
        let (Pat::Tuple(names), Syn::MethodCall(call)) = (&local.pat, &*local.init.as_ref()?.expr) else {
            return None;
        };
        if !self.is_cut(local) || !self.suspects.any(call) {
            return None;
        }
        let (x, at, _) = self.split(call)?;
        let place = self.place(&x)?;
        self.program.variables[place.base].memory = true;
        self.program.variables[place.base].parted = true;
        let middle = self.inert_expr(&at);
        let mut parts = Vec::new();
        for (i, name) in names.elems.iter().enumerate() {
            let (left, Pat::Ident(name)) = (i == 0, name) else { continue };
            let range: Syn = if left { parse_quote!(..#at) } else { parse_quote!(#at..) };
            let range = self.inert_expr(&range);
            self.program.cuts.insert(range, Cut { middle, left });
            let mut part = place.clone();
            part.projections.push(Projection::Index(range));
            parts.push((name.ident.clone(), part));
        }
        Some(parts)
    }

    /// `let (left, right) = x.split_at_mut(k);` with names, where `k` stays what it is.
    fn is_cut(&self, local: &syn::Local) -> bool {
        let init = local.init.as_ref().map(|init| &*init.expr);
        let (Pat::Tuple(names), Some(Syn::MethodCall(call))) = (&local.pat, init) else { return false };
        call.method == "split_at_mut"
            && names.elems.len() == 2
            && names.elems.iter().all(is_name_or_ignored)
            && call.args.iter().all(|middle| self.is_fixed(middle))
    }

    /// A literal, or a variable that does not change.
    fn is_fixed(&self, expr: &Syn) -> bool {
        match expr {
            Syn::Lit(_) => true,
            Syn::Path(path) => match path.path.get_ident().and_then(|name| self.lookup(name)) {
                Some(Binding::Variable(id)) => {
                    let variable = &self.program.variables[*id];
                    !variable.mutable && !variable.by_reference()
                }
                _ => false,
            },
            _ => false,
        }
    }
}

/// The condition that `then` and `then_some` are called on, which may be a reference to one.
pub(crate) fn tested(condition: &Syn) -> Syn {
    match condition {
        Syn::Paren(paren) => tested(&paren.expr),
        Syn::Reference(reference) => (*reference.expr).clone(),
        name @ Syn::Path(_) => parse_quote!(#name.then_some(()).is_some()),
        condition => condition.clone(),
    }
}

/// A name, and nothing else.
fn is_name(pattern: &syn::PatIdent) -> bool {
    pattern.by_ref.is_none() && pattern.mutability.is_none() && pattern.subpat.is_none()
}

/// A name, or `_`.
pub(crate) fn is_name_or_ignored(pattern: &Pat) -> bool {
    match pattern {
        Pat::Ident(name) => is_name(name),
        pattern => matches!(pattern, Pat::Wild(_)),
    }
}

/// `pattern` in `Some(pattern)`.
pub(crate) fn inside(pattern: &Pat) -> Option<&Pat> {
    match pattern {
        Pat::TupleStruct(some) if some.path.is_ident("Some") && some.elems.len() == 1 => Some(&some.elems[0]),
        Pat::Paren(paren) => inside(&paren.pat),
        _ => None,
    }
}

pub(crate) fn is_none(pattern: &Pat) -> bool {
    match pattern {
        Pat::Ident(name) => name.ident == "None",
        pattern => matches!(pattern, Pat::Wild(_)),
    }
}

/// The pattern matches whatever there is, as far as syntax tells.
pub(crate) fn irrefutable(pattern: &Pat) -> bool {
    match pattern {
        Pat::Ident(name) => {
            name.by_ref.is_none()
                && name.subpat.is_none()
                && !name.ident.to_string().starts_with(char::is_uppercase)
        }
        Pat::Wild(_) => true,
        Pat::Reference(reference) => irrefutable(&reference.pat),
        Pat::Paren(paren) => irrefutable(&paren.pat),
        Pat::Type(typed) => irrefutable(&typed.pat),
        Pat::Tuple(tuple) => tuple.elems.iter().all(irrefutable),
        _ => false,
    }
}

/// What `get` is given is no position: it may be the key of a map, or a range.
fn is_key(index: &Syn) -> bool {
    matches!(index, Syn::Reference(_))
        || matches!(index, Syn::Lit(lit) if !matches!(lit.lit, syn::Lit::Int(_)))
}

impl Forward<'_> {
    /// `x.split_at_mut(k)` with the indices on the way to `x` kept; `projections` are those of one of the parts.
    pub(crate) fn cut(
        &mut self,
        call: &ExprMethodCall,
        projections: &[Projection],
        block: BlockId,
    ) -> TokenStream {
        let x = self.place(&call.receiver, &projections[..projections.len() - 1], block);
        let (method, args) = (&call.method, &call.args);
        quote!(#x.#method(#args))
    }
}

/// The number of an argument that is borrowed, its place, and whether it may be written to.
type Borrowed = (usize, Place, bool);

impl Reverse<'_> {
    /// Places for the arguments of a call that borrows several parts of one slice, or of one element of a vector, at least one of them to
    /// write to it: the slice is cut as the forward pass has done, and the element is borrowed once.
    pub(crate) fn apart(&mut self, args: &[ExprId], at: &At) -> HashMap<usize, TokenStream> {
        let program = self.program;
        let mut groups: HashMap<VarId, Vec<Borrowed>> = HashMap::new();
        for (i, arg) in args.iter().enumerate() {
            if let ExprKind::Borrow { place, unique } = &program.exprs[*arg].kind {
                groups.entry(place.base).or_default().push((i, place.clone(), *unique));
            }
        }
        let mut groups: Vec<_> = groups.into_iter().collect();
        groups.sort_by_key(|(base, _)| *base);
        let mut found = HashMap::new();
        for (base, group) in groups {
            let several = group.len() > 1 && group.iter().any(|(.., unique)| *unique);
            let cut = group.iter().any(|(_, place, _)| program.cut_of(place).is_some());
            if several && (cut || shares_element(&group)) {
                self.present(base);
                let name = &program.variables[base].unique;
                self.separate(group, 0, quote!(#name), at, &mut found);
            }
        }
        found
    }

    /// Finds places for a `group` of arguments that have the first `depth` projections in common, which lead to `whole`.
    fn separate(
        &mut self,
        mut group: Vec<Borrowed>,
        depth: usize,
        whole: TokenStream,
        at: &At,
        found: &mut HashMap<usize, TokenStream>,
    ) {
        let level = self.top();
        while !group.is_empty() {
            let (i, place, _) = &group[0];
            let Some(projection) = place.projections.get(depth) else {
                found.insert(*i, whole.clone());
                group.remove(0);
                continue;
            };
            let (cut, projection) = (self.program.cut_at(projection), projection.clone());
            if let (Some(cut), true) = (cut, group.len() > 1) {
                let of_cut = |place: &Place| {
                    let cut_at = place.projections.get(depth).and_then(|p| self.program.cut_at(p));
                    cut_at.filter(|other| other.middle == cut.middle)
                };
                let (same, others): (Vec<_>, Vec<_>) =
                    group.into_iter().partition(|(_, place, _)| of_cut(place).is_some());
                let (left, right): (Vec<_>, Vec<_>) =
                    same.into_iter().partition(|(_, place, _)| of_cut(place).is_some_and(|cut| cut.left));
                let (one, other) = (self.kept.fresh("left"), self.kept.fresh("right"));
                let middle = self.text(cut.middle, at, level);
                self.emit(quote!(let (#one, #other) = #whole.split_at_mut(#middle);));
                self.separate(left, depth + 1, quote!((*#one)), at, found);
                self.separate(right, depth + 1, quote!((*#other)), at, found);
                group = others;
                continue;
            }
            let (same, others): (Vec<_>, Vec<_>) = group.into_iter().partition(|(_, place, _)| {
                place.projections.get(depth).is_some_and(|other| other.is(&projection))
            });
            let part = self.projections(std::slice::from_ref(&projection), at, level);
            let mut part = quote!(#whole #part);
            let written = same.len() > 1 && same.iter().any(|(.., unique)| *unique);
            if written && matches!(projection, Projection::Index(_)) {
                let element = self.kept.fresh("element");
                self.emit(quote!(let #element = &mut #part;));
                part = quote!((*#element));
            }
            self.separate(same, depth + 1, part, at, found);
            group = others;
        }
    }
}

/// Two of the places, one of which may be written to, are within one element of an array or a vector, where only the former may be
/// indexed once for each.
fn shares_element(group: &[Borrowed]) -> bool {
    group.iter().enumerate().any(|(i, (_, one, written))| {
        group[..i].iter().any(|(_, other, also_written)| {
            let mut common =
                one.projections.iter().zip(&other.projections).take_while(|(one, other)| one.is(other));
            (*written || *also_written) && common.any(|(one, _)| matches!(one, Projection::Index(_)))
        })
    })
}

impl Projection {
    /// The two are one and the same.
    pub(crate) fn is(&self, other: &Projection) -> bool {
        match (self, other) {
            (Projection::Index(one), Projection::Index(other)) => one == other,
            (Projection::Field(one), Projection::Field(other)) => one == other,
            (Projection::Deref, Projection::Deref) => true,
            _ => false,
        }
    }
}

impl Program {
    fn cut_at(&self, projection: &Projection) -> Option<Cut> {
        match projection {
            Projection::Index(index) => self.cuts.get(index).copied(),
            _ => None,
        }
    }

    /// One of the arguments is such a part, borrowed to be written to.
    pub(crate) fn writes_to_part(&self, args: &[ExprId]) -> bool {
        args.iter().any(|arg| {
            matches!(&self.exprs[*arg].kind, ExprKind::Borrow { place, unique: true } if self.cut_of(place).is_some())
        })
    }

    /// The place is within one of two parts that `split_at_mut` has made.
    pub(crate) fn cut_of(&self, place: &Place) -> Option<Cut> {
        place.projections.iter().find_map(|projection| self.cut_at(projection))
    }
}

/// `Pairs(n)`, by its name a struct or a variant of an enum of the user's.
fn is_constructed(expr: &Syn) -> bool {
    matches!(expr, Syn::Call(call) if is_constructor(&call.func)
        && !matches!(&*call.func, Syn::Path(path) if path.path.get_ident().is_some_and(wraps)))
}
