//! Boxes that are made as parts of others: `Node { value, left: Some(Box::new(leaf)) }`.
//!
//! A box is like a struct with one field: what is in it has been moved there, and the reverse pass takes it out again. Its gradient is that of
//! a slice of one, and that of an `Option` of a box the same, or that of none.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::visit::Visit;
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, ExprAssign, ExprCall, Ident, Local, Member, Pat, Stmt, UnOp, parse_quote};

use crate::behind::is_of_ours;
use crate::boxes::BOXED;
use crate::calls::Callee;
use crate::contents::of_ours;
use crate::derive::in_optional_box;
use crate::exchange::taken;
use crate::functions::is_box;
use crate::parse::Parser;
use crate::program::{ExprId, ExprKind, Kind, Origin, Program, StructLiteral, VarId};
use crate::rename::{Occurrences, Replace, Substitute, is_name};
use crate::suspects::base;

impl Parser<'_> {
    /// `Box::new(x)`, or `Some(Box::new(x))`, of what carries a gradient.
    pub(crate) fn boxing(&mut self, expr: &Expr, call: &ExprCall) -> Option<ExprId> {
        let (value, function) = match (&call.args.first()?, is_some(call)) {
            (Expr::Call(inner), true) if is_box(&inner.func) => (inner.args.first()?, "some_boxed"),
            (value, false) if is_box(&call.func) => (*value, "boxed"),
            _ => return None,
        };
        if !self.suspects.any(value) || matches!(value, Expr::Closure(_)) {
            return None;
        }
        let value = self.expr(value);
        let content = self.program.peel(value);
        // The gradient of what is always there is that of a slice where it is of a type that holds others of its own alone.
        if function == "boxed" && self.program.kind_of(value) != Kind::Unknown {
            return Some(self.constant(expr, false, Some(BOXED)));
        }
        if matches!(self.program.exprs[content].kind, ExprKind::Struct(_)) {
            self.program.owning.insert(content);
        }
        let function = Ident::new(function, Span::call_site());
        let path = parse_quote!(::pullback::__private::#function);
        let literal =
            StructLiteral { path, fields: vec![(Member::from(0), value)], rest: None, called: true };
        Some(self.add(expr, ExprKind::Struct(Box::new(literal))))
    }
}

impl Parser<'_> {
    /// `head = Some(Box::new(Cell { value, next: head }));` of a local: what it holds changes places with what it gets, and is moved from there.
    pub(crate) fn replaced_box(&mut self, assign: &ExprAssign) -> Option<Vec<Stmt>> {
        let id = self.variable(&assign.left)?;
        let Expr::Path(path) = &*assign.left else { return None };
        let head = path.path.get_ident()?;
        let local = self.program.variables[id].origin == Origin::Local && self.program.boxes.contains(&id);
        let none = matches!(&*assign.right, Expr::Path(none) if none.path.is_ident("None"));
        if !local || !self.suspects.any(assign) || !(none || some_in_box(&assign.right)) {
            return None;
        }
        let (mut value, mut out, new) = ((*assign.right).clone(), Vec::new(), self.hidden("boxed"));
        if Occurrences::of(&value).count(head) > 0 {
            let taken = self.box_taken_from(head, &mut out);
            let mut elsewhere = Elsewhere { name: head, found: false };
            elsewhere.visit_expr_mut(&mut value);
            if elsewhere.found && Occurrences::of(&value).count(head) > 1 {
                self.errors.push(&assign.right, BESIDE);
            }
            Replace::new(head, &Substitute::Name(taken)).visit_expr_mut(&mut value);
        }
        out.push(parse_quote!(let mut #new: ::core::option::Option<::std::boxed::Box<_>> = #value;));
        out.push(parse_quote!(::core::mem::swap(&mut #head, &mut #new);));
        Some(out)
    }
}

impl Parser<'_> {
    /// The name of what a local that may hold a box has held.
    fn box_taken_from(&mut self, head: &Ident, out: &mut Vec<Stmt>) -> Ident {
        let taken = self.hidden("taken");
        out.push(parse_quote!(let mut #taken: ::core::option::Option<::std::boxed::Box<_>> = ::core::option::Option::None;));
        out.push(parse_quote!(::core::mem::swap(&mut #head, &mut #taken);));
        taken
    }

    /// `let next = head.take();` of a local that may hold a box.
    pub(crate) fn taken_local_box(&mut self, init: &Expr, out: &mut Vec<Stmt>) -> Option<Expr> {
        let place = taken_box(init)?;
        let id = self.variable(place)?;
        let local = self.program.variables[id].origin == Origin::Local && self.program.boxes.contains(&id);
        let Expr::Path(path) = place else { return None };
        let head = path.path.get_ident().filter(|_| local)?.clone();
        let taken = self.box_taken_from(&head, out);
        Some(crate::rename::path(&taken))
    }

    /// `let next: Option<Box<Cell>> = cell.next.take();`, and likewise `std::mem::replace`, where that type or `Some(Box::new(…))` tells that it is a box.
    pub(crate) fn taken_box_of_field(&mut self, local: &Local) -> Option<Vec<Stmt>> {
        let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
        let (field, new) = match taken(&init.expr) {
            Some(taken) => taken,
            None => (taken_box(&init.expr)?, None),
        };
        let told = matches!(&local.pat, Pat::Type(typed) if in_optional_box(&typed.ty).is_some());
        if !matches!(field, Expr::Field(_))
            || !told && !new.is_some_and(some_in_box)
            || !self.suspects.any(field)
        {
            return None;
        }
        let lent = self.place(field).map(|place| self.program.is_lent(place.base))?;
        if lent && new.is_none_or(|new| !some_in_box(new)) {
            self.errors.push(&init.expr, AWAY);
        }
        let (taken, next) = (self.hidden("taken"), self.hidden("boxed"));
        let new = new.cloned().unwrap_or_else(|| parse_quote!(::core::option::Option::None));
        let boxed: syn::Type = parse_quote!(::core::option::Option<::std::boxed::Box<_>>);
        let mut out: Vec<Stmt> = match lent {
            true => parse_quote! {
                let #next: #boxed = #new;
                let mut #taken = ::pullback::__private::renewed::take_box(&mut #field);
                ::pullback::__private::renewed::renew_box(#next, &mut #field);
            },
            false => parse_quote! {
                let mut #taken: #boxed = #new;
                ::core::mem::swap(&mut #field, &mut #taken);
            },
        };
        let mut local = local.clone();
        *local.init.as_mut()?.expr = crate::rename::path(&taken);
        out.push(Stmt::Local(local));
        Some(out)
    }
}

/// Has `taken` in `value` where that takes what is at `place`. Tells whether it does.
pub(crate) fn moved_on(value: &mut Expr, place: &Expr, taken: &Ident) -> bool {
    struct Moved<'m> {
        place: String,
        taken: &'m Ident,
        found: bool,
    }
    impl VisitMut for Moved<'_> {
        fn visit_expr_mut(&mut self, expr: &mut Expr) {
            let is = |place: &Expr| referent(place).to_token_stream().to_string() == self.place;
            if taken_box(expr).is_some_and(is) {
                *expr = crate::rename::path(self.taken);
                self.found = true;
                return;
            }
            visit_mut::visit_expr_mut(self, expr);
        }
    }
    let mut moved = Moved { place: referent(place).to_token_stream().to_string(), taken, found: false };
    moved.visit_expr_mut(value);
    moved.found
}

/// Something in `value` may read what is at `place`, from where it is taken before.
pub(crate) fn read_beside(value: &Expr, place: &Expr) -> bool {
    struct Reads {
        place: String,
        root: Option<Ident>,
        found: bool,
    }
    impl Visit<'_> for Reads {
        fn visit_expr(&mut self, expr: &Expr) {
            match expr {
                Expr::Field(field) => {
                    let part = field.to_token_stream().to_string();
                    self.found |= part == self.place || self.place.starts_with(&format!("{part} ."));
                    if !matches!(&*field.base, Expr::Path(_)) {
                        syn::visit::visit_expr(self, expr);
                    }
                }
                Expr::Macro(mac) => {
                    let mentioned = Occurrences::of(&mac.mac.tokens);
                    self.found |= self.root.as_ref().is_some_and(|root| mentioned.count(root) > 0);
                }
                Expr::Path(path) => self.found |= path.path.get_ident() == self.root.as_ref(),
                _ => syn::visit::visit_expr(self, expr),
            }
        }
    }
    let place = referent(place);
    let mut reads =
        Reads { place: place.to_token_stream().to_string(), root: base(place).cloned(), found: false };
    reads.visit_expr(value);
    reads.found
}

/// `list` of `*list`, by which methods are called the same.
fn referent(place: &Expr) -> &Expr {
    match place {
        Expr::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => &unary.expr,
        Expr::Paren(paren) => referent(&paren.expr),
        place => place,
    }
}

/// `place = Some(Box::new(Cell { next: place.take(), … }));`
pub(crate) fn takes_own_box(stmt: &Stmt) -> bool {
    let Stmt::Expr(Expr::Assign(assign), _) = stmt else { return false };
    let field = matches!(&*assign.left, Expr::Field(_) | Expr::Unary(_));
    let unused = Ident::new("taken", Span::call_site());
    field && some_in_box(&assign.right) && moved_on(&mut (*assign.right).clone(), &assign.left, &unused)
}

/// The place of `place.take()`, or of `std::mem::take(&mut place)`.
pub(crate) fn taken_box(expr: &Expr) -> Option<&Expr> {
    match expr {
        Expr::MethodCall(call) if call.method == "take" && call.args.is_empty() => Some(&call.receiver),
        Expr::Paren(paren) => taken_box(&paren.expr),
        _ => taken(expr).filter(|(_, new)| new.is_none()).map(|(place, _)| place),
    }
}

/// What was in the variable `name` is in another one: `name.take()` moves it from there, as `name` does.
struct Elsewhere<'n> {
    name: &'n Ident,
    found: bool,
}

impl VisitMut for Elsewhere<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if let Some(place) = taken_box(expr)
            && is_name(place, self.name)
        {
            *expr = place.clone();
            self.found = true;
        }
        visit_mut::visit_expr_mut(self, expr);
    }
}

pub(crate) const REPLACED: &str = "a variable that holds an `Option` of a box gets differentiably another one as `Some(Box::new(x))` or `None`, or by \
                                   `std::mem::swap`: write this, or let a function that calls itself make the boxes from the inside out";

const AWAY: &str = "behind a reference a box is taken away differentiably where it goes on in what comes there, `s.head = Some(Box::new(Cell { next: s.head.take(), value }));`, \
                    or where another one does, by `std::mem::replace`: otherwise take it from a local";

pub(crate) const BESIDE: &str =
    "what may read the box that is taken here stands beside it: bind that by a `let` before";

pub(crate) const READ: &str = "what is in this box is read or gets something else before the function returns it, which is not differentiable: let a function \
                               that calls itself make it from the inside out, or one make it behind a `&mut`, and the caller read it";

/// The function by which derived code makes a box.
pub(crate) fn makes(path: &syn::Path) -> bool {
    of_ours(path).is_some_and(|name| name == "boxed" || name == "some_boxed")
}

impl Program {
    /// A box is taken away from behind a reference.
    pub(crate) fn takes_box(&self, expr: ExprId) -> bool {
        is_of_ours(&self.exprs[self.peel(expr)].syntax, "take_box")
    }

    /// The value is an `Option` of a box, as its syntax tells.
    pub(crate) fn gives_box(&self, expr: ExprId) -> bool {
        let expr = self.peel(expr);
        match &self.exprs[expr].kind {
            ExprKind::Struct(literal) => of_ours(&literal.path).is_some_and(|name| name == "some_boxed"),
            ExprKind::Call { function, args } => {
                let boxed = self.own.as_ref().is_some_and(|own| own.boxed);
                let named = || {
                    self.calls_itself(function, args) || self.may_call_itself(expr, function, args).is_some()
                };
                boxed && (matches!(function, Callee::Itself(_)) || named())
            }
            ExprKind::Read(place) => place.projections.is_empty() && self.boxes.contains(&place.base),
            ExprKind::Mutation { .. } => self.takes_box(expr),
            ExprKind::If { .. } | ExprKind::Match(_) | ExprKind::Block(_) => {
                let mut values =
                    self.blocks_of(expr).into_iter().filter_map(|block| self.blocks[block].value);
                values.any(|value| self.gives_box(value))
            }
            _ => false,
        }
    }
}

impl Program {
    /// The local holds a box that other locals hold before or afterwards, and that goes into a struct, as where a list gets longer.
    pub(crate) fn hands_boxes_on(&self, id: VarId) -> bool {
        let pool = self.variables[id].pool;
        let alike = |other: VarId| self.boxes.contains(&other) && self.variables[other].pool == pool;
        let held = |part: &ExprId| matches!(&self.exprs[*part].kind, ExprKind::Read(place) if place.projections.is_empty() && alike(place.base));
        let literal = |expr: ExprId| match &self.exprs[expr].kind {
            ExprKind::Struct(_) => self.operands(expr).iter().any(|part| held(&self.peel(*part))),
            _ => false,
        };
        self.boxes.contains(&id)
            && self.boxes.iter().any(|other| *other != id && alike(*other))
            && (0..self.exprs.len()).any(literal)
    }
}

/// A struct that gets a name right before it is put in a box, `let node = Node { … }; Some(Box::new(node))`, without that name: nothing but
/// the box has to be taken apart.
pub(crate) struct Unnamed;

impl VisitMut for Unnamed {
    fn visit_block_mut(&mut self, block: &mut Block) {
        visit_mut::visit_block_mut(self, block);
        for i in (1..block.stmts.len()).rev() {
            let (before, rest) = block.stmts.split_at_mut(i);
            let (Some((name, made)), [Stmt::Expr(next, _), later @ ..]) = (made(&before[i - 1]), rest) else {
                continue;
            };
            let later: TokenStream = later.iter().map(ToTokens::to_token_stream).collect();
            if Occurrences::of(&later).count(name) == 0 && put_in_box(next, name, made) {
                block.stmts.remove(i - 1);
            }
        }
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// `let old = s.head.take(); s.head = Some(Box::new(Cell { next: old, … }));` without the name: what is taken goes on in what the place gets.
pub(crate) struct MovedOn;

impl VisitMut for MovedOn {
    fn visit_block_mut(&mut self, block: &mut Block) {
        visit_mut::visit_block_mut(self, block);
        for i in (1..block.stmts.len()).rev() {
            let (before, rest) = block.stmts.split_at_mut(i);
            let Stmt::Local(Local { pat: Pat::Ident(name), init: Some(init), .. }) = &before[i - 1] else {
                continue;
            };
            let [Stmt::Expr(Expr::Assign(assign), _), later @ ..] = rest else { continue };
            let same = |place: &Expr| {
                place.to_token_stream().to_string() == assign.left.to_token_stream().to_string()
            };
            let field = matches!(&*assign.left, Expr::Field(_) | Expr::Unary(_));
            let later: TokenStream = later.iter().map(ToTokens::to_token_stream).collect();
            if field
                && taken_box(&init.expr).is_some_and(same)
                && some_in_box(&assign.right)
                && Occurrences::of(&assign.right).count(&name.ident) == 1
                && Occurrences::of(&later).count(&name.ident) == 0
            {
                let taken = Substitute::Expr((*init.expr).clone());
                let name = name.ident.clone();
                Replace::new(&name, &taken).visit_expr_mut(&mut assign.right);
                block.stmts.remove(i - 1);
            }
        }
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// `let mut head = None;`, or a constant, that gets a box later has its type.
pub(crate) struct Told;

impl VisitMut for Told {
    fn visit_block_mut(&mut self, block: &mut Block) {
        visit_mut::visit_block_mut(self, block);
        for i in 0..block.stmts.len() {
            let (before, later) = block.stmts.split_at_mut(i + 1);
            let Stmt::Local(Local { pat, init: Some(init), .. }) = &mut before[i] else { continue };
            let Pat::Ident(name) = &*pat else { continue };
            let none = matches!(&*init.expr, Expr::Path(none) if none.path.is_ident("None"));
            let mut gets = GetsBox { name: &name.ident, found: false };
            later.iter().for_each(|stmt| gets.visit_stmt(stmt));
            if gets.found && (none || some_in_box(&init.expr)) {
                *pat = Pat::Type(syn::PatType {
                    attrs: Vec::new(),
                    colon_token: Default::default(),
                    ty: parse_quote!(::core::option::Option<::std::boxed::Box<_>>),
                    pat: Box::new(pat.clone()),
                });
            }
        }
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// Looks for `name = Some(Box::new(x))`.
struct GetsBox<'n> {
    name: &'n Ident,
    found: bool,
}

impl Visit<'_> for GetsBox<'_> {
    fn visit_expr_assign(&mut self, assign: &ExprAssign) {
        self.found |= is_name(&assign.left, self.name) && some_in_box(&assign.right);
        syn::visit::visit_expr_assign(self, assign);
    }
}

/// The name and the value of a struct that a statement makes.
fn made(stmt: &Stmt) -> Option<(&Ident, &Expr)> {
    let Stmt::Local(Local { pat: Pat::Ident(name), init: Some(init), .. }) = stmt else { return None };
    matches!(*init.expr, Expr::Struct(_)).then_some((&name.ident, &*init.expr))
}

/// Puts `made` in the place of `name` in a box that is all of `value`, or all that is assigned. Tells whether it is there.
fn put_in_box(value: &mut Expr, name: &Ident, made: &Expr) -> bool {
    match value {
        Expr::Assign(assign) => put_in_box(&mut assign.right, name, made),
        Expr::Return(syn::ExprReturn { expr: Some(value), .. }) => put_in_box(value, name, made),
        Expr::Call(call) if is_box(&call.func) || is_some(call) => match call.args.first_mut() {
            Some(inside) if is_box(&call.func) && is_name(inside, name) => {
                *inside = made.clone();
                true
            }
            Some(inside) => put_in_box(inside, name, made),
            None => false,
        },
        _ => false,
    }
}

/// `Some(Box::new(x))`
pub(crate) fn some_in_box(value: &Expr) -> bool {
    match value {
        Expr::Call(call) if is_some(call) => {
            matches!(call.args.first(), Some(Expr::Call(inner)) if is_box(&inner.func))
        }
        Expr::Paren(paren) => some_in_box(&paren.expr),
        _ => false,
    }
}

/// `Some(x)`
fn is_some(call: &ExprCall) -> bool {
    matches!(&*call.func, Expr::Path(path) if path.path.is_ident("Some"))
}
