//! What is done with a vector of references, written for a vector of places.

use syn::punctuated::Punctuated;
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, ExprClosure, ExprMethodCall, Ident, Pat, Stmt, Token, parse_quote};

use super::{Of, is_name};
use crate::rename::{Names, Occurrences, bound, path};

/// A vector of references, or a part of one, under a name.
#[derive(Clone)]
pub(super) struct List {
    pub(super) name: Ident,
    /// What is called like this stands for it: the places.
    pub(super) places: Ident,
    /// The slice that they are places of.
    pub(super) whole: Ident,
    pub(super) of: Of,
}

/// Methods that tell something about the vector.
const TELL: [&str; 2] = ["len", "is_empty"];

/// Methods that change it, whatever its items are.
const CHANGE: [&str; 6] = ["reverse", "swap", "truncate", "clear", "rotate_left", "rotate_right"];

/// Methods that change it as a function of references to items says.
const CHANGE_BY_ITEMS: [&str; 6] =
    ["sort_by", "sort_unstable_by", "sort_by_key", "sort_unstable_by_key", "sort_by_cached_key", "retain"];

/// Methods that hand out parts of the vector.
const PARTS: [&str; 3] = ["windows", "chunks", "chunks_exact"];

/// Adapters that hand on the items, or references to them, to what comes behind.
const HANDS_ON: [&str; 7] = ["filter", "skip", "take", "rev", "step_by", "skip_while", "take_while"];

impl List {
    /// The places, where `expr` is the vector, or a part of it, or a reference to one of these.
    fn places_of(&self, expr: &Expr) -> Option<Expr> {
        Some(match expr {
            expr if is_name(expr, &self.name) => path(&self.places),
            Expr::Paren(paren) => self.places_of(&paren.expr)?,
            Expr::Reference(reference) if reference.mutability.is_none() => {
                let places = self.places_of(&reference.expr)?;
                parse_quote!(&#places)
            }
            Expr::Index(index) if matches!(&*index.index, Expr::Range(_)) => {
                let (places, range) = (self.places_of(&index.expr)?, &index.index);
                parse_quote!(#places[#range])
            }
            Expr::MethodCall(call) if call.method == "as_slice" => self.places_of(&call.receiver)?,
            _ => return None,
        })
    }

    /// What is at the place that `at` is.
    fn referent(&self, at: &Expr) -> Expr {
        let whole = &self.whole;
        match self.of {
            Of::Parts => parse_quote!(#whole[#at.0..#at.1]),
            Of::Elements => parse_quote!(#whole[#at]),
        }
    }

    /// What is at the place that something called `at` refers to.
    fn behind(&self, at: &Ident) -> Expr {
        match self.of {
            Of::Parts => self.referent(&path(at)),
            Of::Elements => self.referent(&parse_quote!(*#at)),
        }
    }

    /// What an item refers to, where `expr` is one: `rows[i]`.
    fn item(&self, expr: &Expr) -> Option<Expr> {
        match expr {
            Expr::Paren(paren) => self.item(&paren.expr),
            Expr::Index(index) if !matches!(&*index.index, Expr::Range(_)) => {
                let (places, at) = (self.places_of(&index.expr)?, &index.index);
                Some(self.referent(&parse_quote!(#places[#at])))
            }
            _ => None,
        }
    }
}

/// Writes the uses of one vector anew.
pub(super) struct Uses<'n> {
    list: List,
    names: &'n mut Names,
    /// The vector itself is changed.
    pub(super) changes: bool,
    /// The first use that is not known.
    left: Option<proc_macro2::TokenStream>,
}

impl<'n> Uses<'n> {
    pub(super) fn new(list: List, names: &'n mut Names) -> Self {
        Uses { list, names, changes: false, left: None }
    }

    /// The first use that is not known.
    pub(super) fn left(self) -> Option<proc_macro2::TokenStream> {
        self.left
    }

    /// Statements of one block, where each may give the vector, or a part of it, another name for those behind, or its name to something else.
    pub(super) fn statements(&mut self, stmts: &mut [Stmt]) {
        for at in 0..stmts.len() {
            let (before, behind) = stmts.split_at_mut(at + 1);
            let stmt = &mut before[at];
            if let Stmt::Local(local) = &mut *stmt {
                self.name_part(local, behind);
                let hidden = bound(&local.pat).contains(&self.list.name);
                if hidden && local.init.as_ref().is_none_or(|init| init.diverge.is_none()) {
                    local.init.iter_mut().for_each(|init| self.visit_expr_mut(&mut init.expr));
                    return;
                }
            }
            self.visit_stmt_mut(stmt);
        }
    }

    /// `let part = &rows[1..];`: what is called so in `behind`.
    fn name_part(&mut self, local: &mut syn::Local, behind: &mut [Stmt]) {
        let (Pat::Ident(name), Some(init)) = (&mut local.pat, &mut local.init) else { return };
        let Some(places) = self.list.places_of(&init.expr).filter(|_| name.mutability.is_none()) else {
            return;
        };
        *init.expr = match &*init.expr {
            Expr::Reference(_) => places,
            _ => parse_quote!(&#places),
        };
        self.name(name, |uses| uses.statements(behind));
    }

    /// Does `within` for a part of the vector that is called `name` there, and gives it a name of its own.
    fn name(&mut self, name: &mut syn::PatIdent, within: impl FnOnce(&mut Uses)) {
        let places = self.names.fresh("places");
        let old = std::mem::replace(&mut name.ident, places.clone());
        let mut uses = Uses::new(List { name: old, places, ..self.list.clone() }, self.names);
        within(&mut uses);
        let left = uses.left;
        self.left = self.left.take().or(left);
    }

    fn leave(&mut self, what: impl quote::ToTokens) {
        self.left.get_or_insert_with(|| what.into_token_stream());
    }

    /// An iterator over references to the items, or over the items, in which `places` are.
    fn iterated(&mut self, places: &Expr, by_value: bool) -> Expr {
        let at = self.names.fresh("at");
        let referent = self.list.behind(&at);
        let places = match places {
            Expr::Reference(reference) => &reference.expr,
            places => places,
        };
        match by_value {
            true => parse_quote!(#places.iter().map(|#at| &#referent)),
            false => parse_quote!(#places.iter().map(|#at| &&#referent)),
        }
    }

    /// What a `for`, a `zip` or the like goes through, if that is the vector.
    fn gone_through(&mut self, expr: &Expr) -> Option<Expr> {
        let places = self.list.places_of(expr)?;
        Some(self.iterated(&places, !matches!(expr, Expr::Reference(_))))
    }

    /// A method of the vector.
    fn method(&mut self, call: &mut ExprMethodCall) -> Option<Expr> {
        let places = self.list.places_of(&call.receiver)?;
        let method = call.method.to_string();
        match (method.as_str(), call.args.len()) {
            ("iter", 0) => return Some(self.iterated(&places, false)),
            ("into_iter", 0) => {
                let lent = matches!(&*call.receiver, Expr::Paren(paren) if matches!(&*paren.expr, Expr::Reference(_)));
                return Some(self.iterated(&places, !lent));
            }
            ("first" | "last", 0) | ("get", 1) => return Some(self.optional(&places, call)),
            (name, 1) if CHANGE_BY_ITEMS.contains(&name) => {
                match &mut call.args[0] {
                    Expr::Closure(closure) => self.given_items(closure),
                    other => self.leave(&*other),
                }
                self.changes = true;
            }
            (name, _) if CHANGE.contains(&name) => self.changes = true,
            (name, _) if TELL.contains(&name) || PARTS.contains(&name) => {}
            _ => return None,
        }
        *call.receiver = places;
        None
    }

    /// An item that may not be there, which is what nothing in the slice is then.
    fn optional(&mut self, places: &Expr, call: &ExprMethodCall) -> Expr {
        let (whole, method, index) = (&self.list.whole, &call.method, &call.args);
        let place: Expr = parse_quote!(#places.#method(#index));
        match self.list.of {
            Of::Elements => parse_quote!(#whole.get(#place.copied().unwrap_or(usize::MAX))),
            Of::Parts => {
                let at = self.names.fresh("at");
                parse_quote!(#whole.get(#place.map_or(usize::MAX, |#at| #at.0)..#place.map_or(usize::MAX, |#at| #at.1)))
            }
        }
    }

    /// `rows.first()` and the like, without what copies the reference to an item.
    fn is_optional(&self, expr: &Expr) -> bool {
        matches!(expr, Expr::MethodCall(call)
            if ["first", "last", "get"].iter().any(|name| call.method == name) && self.list.places_of(&call.receiver).is_some())
    }

    /// The closure is given places instead of references to items.
    fn given_items(&mut self, closure: &mut ExprClosure) {
        let mut bound: Vec<Stmt> = Vec::new();
        for input in &mut closure.inputs {
            let at = self.names.fresh("at");
            let referent = self.list.behind(&at);
            bound.push(parse_quote!(let #input = &&#referent;));
            *input = parse_quote!(#at);
        }
        let body = &closure.body;
        closure.body = parse_quote!({ #(#bound)* #body });
    }

    /// How many tuples, of a number and an item each, there are around the parts of the vector that `chain` hands out, if it does.
    fn hands_out_parts(&self, chain: &Expr) -> Option<usize> {
        let Expr::MethodCall(call) = chain else { return None };
        let method = call.method.to_string();
        match method.as_str() {
            "enumerate" => Some(self.hands_out_parts(&call.receiver)? + 1),
            name if PARTS.contains(&name) => self.list.places_of(&call.receiver).map(|_| 0),
            name if HANDS_ON.contains(&name) => self.hands_out_parts(&call.receiver),
            _ => None,
        }
    }

    /// A `for` over the items, or over parts of the vector.
    fn loop_over(&mut self, f: &mut syn::ExprForLoop) {
        if let Some(tuples) = self.hands_out_parts(&f.expr) {
            let body = &mut f.body;
            self.given_part(&mut f.pat, tuples, |uses| uses.visit_block_mut(body));
        } else if let Some(chain) = self.gone_through(&f.expr) {
            *f.expr = chain;
        }
    }

    /// What a method is given to do with items, or with parts of the vector.
    fn hand_on(&mut self, call: &mut ExprMethodCall) {
        let tuples = self.hands_out_parts(&call.receiver);
        for arg in &mut call.args {
            match (arg, tuples) {
                (Expr::Closure(closure), Some(tuples)) => {
                    let body = &mut closure.body;
                    if let Some(input) = closure.inputs.last_mut() {
                        self.given_part(input, tuples, |uses| uses.visit_expr_mut(body));
                    }
                }
                (arg, _) if call.method == "zip" || call.method == "chain" => {
                    if let Some(chain) = self.gone_through(arg) {
                        *arg = chain;
                    }
                }
                _ => {}
            }
        }
    }

    /// `pattern` is given a part of the vector, in so many tuples, for `within`.
    fn given_part(&mut self, pattern: &mut Pat, tuples: usize, within: impl FnOnce(&mut Uses)) {
        match (pattern, tuples) {
            (Pat::Tuple(tuple), 1..) if tuple.elems.len() == 2 => {
                self.given_part(&mut tuple.elems[1], tuples - 1, within)
            }
            (Pat::Reference(reference), _) => self.given_part(&mut reference.pat, tuples, within),
            (Pat::Paren(paren), _) => self.given_part(&mut paren.pat, tuples, within),
            (Pat::Ident(name), 0) if name.by_ref.is_none() && name.subpat.is_none() => {
                self.name(name, within)
            }
            (Pat::Wild(_), _) => {}
            (pattern, _) => self.leave(pattern),
        }
    }
}

impl VisitMut for Uses<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::ForLoop(f) => self.loop_over(f),
            Expr::MethodCall(call) => {
                self.hand_on(call);
                let same = call.method == "copied" || call.method == "cloned";
                if same && self.is_optional(&call.receiver) {
                    *expr = (*call.receiver).clone();
                    return self.visit_expr_mut(expr);
                }
                if let Some(written) = self.method(call) {
                    *expr = written;
                } else if let Some(item) = self.list.item(&call.receiver) {
                    *call.receiver = item;
                }
            }
            Expr::Index(index) if let Some(item) = self.list.item(&index.expr) => *index.expr = item,
            Expr::Field(field) if let Some(item) = self.list.item(&field.base) => *field.base = item,
            Expr::Unary(unary)
                if matches!(unary.op, syn::UnOp::Deref(_))
                    && let Some(item) = self.list.item(&unary.expr) =>
            {
                *expr = item;
            }
            _ => {}
        }
        if let Some(item) = self.list.item(expr) {
            *expr = parse_quote!(&#item);
        }
        if is_name(expr, &self.list.name) {
            self.leave(&*expr);
        }
        visit_mut::visit_expr_mut(self, expr);
    }

    fn visit_expr_for_loop_mut(&mut self, f: &mut syn::ExprForLoop) {
        self.visit_expr_mut(&mut f.expr);
        if !bound(&f.pat).contains(&self.list.name) {
            self.visit_block_mut(&mut f.body);
        }
    }

    fn visit_expr_closure_mut(&mut self, closure: &mut ExprClosure) {
        if !closure.inputs.iter().flat_map(bound).any(|name| name == self.list.name) {
            self.visit_expr_mut(&mut closure.body);
        }
    }

    fn visit_arm_mut(&mut self, arm: &mut syn::Arm) {
        if !bound(&arm.pat).contains(&self.list.name) {
            visit_mut::visit_arm_mut(self, arm);
        }
    }

    fn visit_block_mut(&mut self, block: &mut Block) {
        self.statements(&mut block.stmts);
    }

    fn visit_pat_ident_mut(&mut self, pattern: &mut syn::PatIdent) {
        // Another variable takes the name, in a scope that is not followed.
        if pattern.ident == self.list.name {
            self.leave(pattern);
        }
    }

    fn visit_field_value_mut(&mut self, field: &mut syn::FieldValue) {
        field.colon_token.get_or_insert_default();
        visit_mut::visit_field_value_mut(self, field);
    }

    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        if Occurrences::of(&mac.tokens).count(&self.list.name) == 0 {
            return;
        }
        if let Ok(mut repeated) = mac.parse_body::<Repeated>() {
            self.visit_expr_mut(&mut repeated.0);
            self.visit_expr_mut(&mut repeated.1);
            let Repeated(value, times) = repeated;
            mac.tokens = quote::quote!(#value; #times);
        } else if let Ok(mut args) = mac.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated) {
            args.iter_mut().for_each(|arg| self.visit_expr_mut(arg));
            mac.tokens = quote::quote!(#args);
        }
        // Not known to consist of expressions, or named within a format string.
        if Occurrences::of(&mac.tokens).count(&self.list.name) > 0 {
            self.leave(&mac.tokens);
        }
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// The operands of `vec![value; times]`.
struct Repeated(Expr, Expr);

impl syn::parse::Parse for Repeated {
    fn parse(input: syn::parse::ParseStream) -> syn::Result<Self> {
        let value = input.parse()?;
        input.parse::<Token![;]>()?;
        Ok(Repeated(value, input.parse()?))
    }
}
