//! References that change what they refer to: `let mut rest = x; … rest = tail;`, `let mut best = &points[0]; … best = p;`.
//!
//! Such a reference is a part of one slice all the time, or one of its elements. So it becomes what tells where: two integers, between which
//! `x[from..to]` stands in the place of its name, or one, with `points[at]` in that place. An assignment finds out where the new part
//! is, which carries no gradient. A part of anything else is refused.

use std::collections::VecDeque;

use quote::quote;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, ExprCall, Ident, Pat, Stmt, parse_quote};

use crate::captured::with_captured;
use crate::chosen::each_end;
use crate::contents::leaves;
use crate::iterators::integers::is_private;
use crate::kind::inert;
use crate::parse::Parser;
use crate::program::{Kind, Projection};
use crate::rename::{in_tokens, is_name};
use crate::views::CHANGES;

/// The functions of `pullback_rules::__private` that tell where a part of a slice is.
const PLACES: [&str; 3] = ["start_of_part", "end_of_part", "place_of_element"];

const IN_FORMAT: &str = "the name of a reference that changes what it refers to cannot stand in a format string: write it behind, `\"{:?}\", rest`";

const ELSEWHERE: &str = "this is not known to be a part of the one slice that such references are followed in: let an index change, or hold indices, \
                         `Vec<usize>`";

/// Whether `path` is that of a function which tells where a part of a slice is.
pub(crate) fn is_place_of_part(path: &syn::Path) -> bool {
    PLACES.iter().any(|name| is_private(path, name))
}

impl Parser<'_> {
    /// What stands in place of `let mut rest = x;`, where `later` gives another part of `x` to `rest`: in `later` its name is replaced.
    pub(crate) fn advancing(&mut self, local: &syn::Local, later: &mut VecDeque<Stmt>) -> Option<Vec<Stmt>> {
        let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
        let pattern = match &local.pat {
            Pat::Type(typed) => &*typed.pat,
            pattern => pattern,
        };
        let Pat::Ident(name) = pattern else { return None };
        let plain = name.mutability.is_some() && name.by_ref.is_none() && name.subpat.is_none();
        if !plain || !self.suspects.any(&init.expr) || !is_assigned(&name.ident, later) {
            return None;
        }
        self.is_reference_to(&init.expr)?;
        let (whole, element) = self.divided(&init.expr)?;
        let (of, next) = (self.hidden("whole"), self.hidden("next"));
        let mut moving = Moving {
            name: name.ident.clone(),
            next: self.hidden("next"),
            where_to: match element {
                true => Where::At(self.names.fresh("at")),
                false => Where::Between(self.names.fresh("from"), self.names.fresh("to")),
            },
            whole: of.clone(),
            left: None,
        };
        let mut replaced: VecDeque<Stmt> = later.clone();
        replaced.iter_mut().for_each(|stmt| moving.visit_stmt_mut(stmt));
        if let Some(why) = moving.left {
            self.errors.push(&name.ident, why);
            return None;
        }
        *later = replaced;
        let init = referred(&init.expr);
        let mut out: Vec<Stmt> = vec![parse_quote!(let #of = #whole;), parse_quote!(let #next = #init;)];
        out.extend(moving.places(&next).map(|(at, place)| parse_quote!(let mut #at: usize = #place;)));
        Some(out)
    }

    /// The slice of which `init` is a part, borrowed, and whether it is one of the elements.
    fn divided(&mut self, init: &Expr) -> Option<(Expr, bool)> {
        let (mut whole, mut element) = (init, false);
        loop {
            whole = match whole {
                Expr::Paren(paren) => &paren.expr,
                Expr::Reference(reference) if reference.mutability.is_none() => &reference.expr,
                Expr::Index(index) if !element => {
                    element = !matches!(&*index.index, Expr::Range(_));
                    &index.expr
                }
                Expr::MethodCall(call) if call.method == "as_slice" => &call.receiver,
                Expr::Path(_) | Expr::Field(_) => break,
                _ => return None,
            };
        }
        let place = self.place(whole)?;
        let unique = matches!(whole, Expr::Path(path) if path.path.get_ident().is_some_and(|name| self.is_unique(name)));
        let kind = self.program.kind_of_place(&place);
        let slice = matches!(kind, Kind::Sequence(_)) && !inert(&kind);
        (slice && !unique).then(|| (parse_quote!(&#whole), element))
    }

    /// Refuses to look for a part of one slice in another.
    pub(crate) fn check_place_of_part(&mut self, call: &ExprCall) {
        let mut places = call.args.iter().map(|arg| match arg {
            Expr::Reference(reference) => match &*reference.expr {
                Expr::Index(index) => self.place(&index.expr),
                _ => None,
            },
            arg => self.place(arg),
        });
        let (Some(Some(whole)), Some(part)) = (places.next(), places.next()) else { return };
        drop(places);
        let within = part.is_some_and(|part| {
            let (shared, more) =
                part.projections.split_at(whole.projections.len().min(part.projections.len()));
            let elements = more.iter().filter(|projection| !self.is_range(projection)).count();
            let single = matches!(&*call.func, Expr::Path(path) if is_private(&path.path, PLACES[2]));
            let last = more.last().is_some_and(|projection| !self.is_range(projection));
            part.base == whole.base
                && shared.len() == whole.projections.len()
                && shared.iter().zip(&whole.projections).all(|(one, other)| one.is(other))
                && more.iter().all(|projection| matches!(projection, Projection::Index(_)))
                && elements == usize::from(single)
                && last == single
        });
        if !within {
            self.errors.push(&call.args[1], ELSEWHERE);
        }
    }

    /// The projection is an index by a range.
    fn is_range(&self, projection: &Projection) -> bool {
        matches!(projection, Projection::Index(index) if matches!(self.program.exprs[*index].syntax, Expr::Range(_)))
    }
}

/// `&x` for `x.as_slice()`.
fn referred(init: &Expr) -> Expr {
    match init {
        Expr::MethodCall(call) if call.method == "as_slice" => {
            let vector = &call.receiver;
            parse_quote!(&#vector)
        }
        init => init.clone(),
    }
}

/// Whether `later` gives another value to what is called `name`.
fn is_assigned(name: &Ident, later: &VecDeque<Stmt>) -> bool {
    struct Assigned<'n>(&'n Ident, bool);
    impl<'ast> Visit<'ast> for Assigned<'_> {
        fn visit_expr_assign(&mut self, assign: &'ast syn::ExprAssign) {
            self.1 |= is_name(&assign.left, self.0);
            visit::visit_expr_assign(self, assign);
        }
    }
    let mut assigned = Assigned(name, false);
    later.iter().for_each(|stmt| assigned.visit_stmt(stmt));
    assigned.1
}

/// Where a reference is within its slice.
enum Where {
    Between(Ident, Ident),
    At(Ident),
}

/// Replaces the name of a reference by the part that it refers to.
struct Moving {
    name: Ident,
    /// The name of what is assigned, while it is found out where that is.
    next: Ident,
    whole: Ident,
    where_to: Where,
    /// Why something could not be replaced.
    left: Option<&'static str>,
}

impl Moving {
    /// The part that it refers to.
    fn part(&self) -> Expr {
        let whole = &self.whole;
        match &self.where_to {
            Where::Between(from, to) => parse_quote!(#whole[#from..#to]),
            Where::At(at) => parse_quote!(#whole[#at]),
        }
    }

    /// The integers that tell where it is, and what they are for the part that is called `next`.
    fn places<'n>(&'n self, next: &'n Ident) -> impl Iterator<Item = (&'n Ident, Expr)> {
        let names = match &self.where_to {
            Where::Between(from, to) => vec![(from, PLACES[0]), (to, PLACES[1])],
            Where::At(at) => vec![(at, PLACES[2])],
        };
        names.into_iter().map(move |(at, function)| {
            let (whole, function) = (&self.whole, quote::format_ident!("{function}"));
            (at, parse_quote!(::pullback::__private::#function(&#whole[..], #next)))
        })
    }

    /// What notes that it now refers to `value`.
    fn moved_to(&self, value: &Expr) -> Expr {
        let mut next = self.next.clone();
        next.set_span(value.span().resolved_at(next.span()));
        let places = self.places(&next).map(|(at, place)| quote!(#at = #place;));
        parse_quote!({ let #next = #value; #(#places)* })
    }

    /// `rest.len()` and `rest.is_empty()`
    fn shape(&self, call: &syn::ExprMethodCall) -> Option<Expr> {
        let Where::Between(from, to) = &self.where_to else { return None };
        match call.method.to_string().as_str() {
            _ if !is_name(&call.receiver, &self.name) => None,
            "len" => Some(parse_quote!((#to - #from))),
            "is_empty" => Some(parse_quote!((#from == #to))),
            _ => None,
        }
    }
}

impl VisitMut for Moving {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if let Expr::MethodCall(call) = expr
            && let Some(shape) = self.shape(call)
        {
            *expr = shape;
            return;
        }
        let part = self.part();
        match expr {
            Expr::MethodCall(call) if is_name(&call.receiver, &self.name) => {
                *call.receiver = part;
                call.args.iter_mut().for_each(|arg| self.visit_expr_mut(arg));
            }
            Expr::Index(index) if is_name(&index.expr, &self.name) => {
                *index.expr = part;
                self.visit_expr_mut(&mut index.index);
            }
            Expr::Field(field) if is_name(&field.base, &self.name) => *field.base = part,
            Expr::Unary(unary)
                if matches!(unary.op, syn::UnOp::Deref(_)) && is_name(&unary.expr, &self.name) =>
            {
                *expr = part;
            }
            Expr::Reference(reference) if is_name(&reference.expr, &self.name) => *reference.expr = part,
            Expr::Assign(assign) if is_name(&assign.left, &self.name) => {
                self.visit_expr_mut(&mut assign.right);
                let mut value = (*assign.right).clone();
                each_end(&mut value, &mut |end| {
                    if !leaves(end) {
                        *end = self.moved_to(end);
                    }
                });
                *expr = value;
            }
            expr if is_name(expr, &self.name) => *expr = parse_quote!(&#part),
            expr => visit_mut::visit_expr_mut(self, expr),
        }
    }

    fn visit_pat_ident_mut(&mut self, pattern: &mut syn::PatIdent) {
        // Another variable takes the name.
        if pattern.ident == self.name {
            self.left = Some(CHANGES);
        }
    }

    fn visit_field_value_mut(&mut self, field: &mut syn::FieldValue) {
        field.colon_token.get_or_insert_default();
        visit_mut::visit_field_value_mut(self, field);
    }

    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        let part = self.part();
        let part = quote!((&#part));
        mac.tokens = in_tokens(with_captured(mac, &self.name), &self.name, &mut |ident| {
            if ident.is_none() {
                self.left = Some(IN_FORMAT);
            }
            ident.map(|_| part.clone())
        });
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}
