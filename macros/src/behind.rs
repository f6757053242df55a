//! Vectors behind `&mut` parameters that become longer or shorter, and the calls of functions which do that to what they borrow.
//!
//! The shadow of a reference is a view of cells: what is undone here moves gradients among them. For the rest see
//! `rules/src/lengths.rs`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::Expr as Syn;

use crate::apart::is_whole;
use crate::calls::Callee;
use crate::cotangent::Cotangent;
use crate::iterators::SOURCES;
use crate::kept::Item;
use crate::kind::{inert, inert_method, numeric_call, of_float};
use crate::methods::unwraps;
use crate::mutation::Action;
use crate::of_std::name_in;
use crate::parse::Parser;
use crate::passing::{Parameter, Passing};
use crate::program::*;
use crate::reverse::Reverse;
use crate::signature::Signature;

/// What a function may do to the lengths of vectors behind references.
#[derive(Clone, Copy, Default)]
pub(crate) struct Lengths {
    grow: bool,
    shrink: bool,
    /// It passes on references through which others may do so.
    lends: bool,
}

impl Lengths {
    /// What an `impl Function` says of it.
    pub(crate) fn constants(self) -> TokenStream {
        let own = match (self.grow, self.shrink) {
            (_, true) => quote!(
                const LENGTHS: __pb::Lengths = __pb::Lengths::Change.within::<Self::Parameters>();
            ),
            (true, false) => quote!(
                const LENGTHS: __pb::Lengths = __pb::Lengths::Grow;
            ),
            (false, false) => quote!(),
        };
        let lends = self.lends.then(|| {
            quote!(
                const LENDS: bool = true;
            )
        });
        quote!(#own #lends)
    }
}

impl Parameter {
    /// It lends vectors, which may be given another length.
    pub(crate) fn may_be_resized(&self) -> bool {
        self.passing == Passing::Unique && may_grow(&self.ty)
    }
}

/// The call is that of our function of this name.
pub(crate) fn is_of_ours(call: &Syn, name: &str) -> bool {
    let Syn::Call(call) = call else { return false };
    let Syn::Path(function) = &*call.func else { return false };
    let segments = &function.path.segments;
    segments.iter().nth(1).is_some_and(|s| s.ident == "__private")
        && segments.last().is_some_and(|s| s.ident == name)
}

/// The type may hold vectors.
fn may_grow(ty: &syn::Type) -> bool {
    match ty {
        syn::Type::Slice(slice) => may_grow(&slice.elem),
        syn::Type::Array(array) => may_grow(&array.elem),
        syn::Type::Group(group) => may_grow(&group.elem),
        syn::Type::Paren(paren) => may_grow(&paren.elem),
        syn::Type::Path(path) => !path.path.get_ident().is_some_and(|name| name == "f64" || name == "f32"),
        _ => true,
    }
}

impl Parser<'_> {
    /// `value` is what a call returns, of which nothing tells what it is: it may own memory, and gives that to a place behind a reference, or to
    /// a field of a local that owns some.
    pub(crate) fn renews(&self, place: &Place, value: &Syn) -> bool {
        let call = match value {
            Syn::Call(call) => match &*call.func {
                Syn::Path(path) => {
                    let name = &path.path.segments.last().expect("a path has a segment").ident;
                    let closure = path.path.get_ident().is_some_and(|name| self.lookup(name).is_some());
                    let made = name.to_string().starts_with(char::is_uppercase);
                    !closure
                        && !made
                        && !is_whole(call)
                        && !of_float(&path.path)
                        && name_in("mem", &path.path).is_none()
                }
                _ => false,
            },
            Syn::Path(_) => self.variable(value).is_some_and(|id| {
                let variable = &self.program.variables[id];
                let local = variable.origin == Origin::Local && variable.kind == Kind::Unknown;
                local && variable.block == self.block && self.program.is_from_call(id)
            }),
            Syn::MethodCall(call) => {
                let name = call.method.to_string();
                crate::statements::is_plain_place(&call.receiver)
                    && !numeric_call(&name, call.args.len())
                    && !inert_method(&name)
                    && !unwraps(&name)
                    && !["clone", "pop"].contains(&name.as_str())
                    && !SOURCES.contains(&name.as_str())
            }
            _ => false,
        };
        let whole = matches!(place.projections.last(), None | Some(Projection::Field(_) | Projection::Deref));
        let by_reference = self.program.variables[place.base].by_reference();
        call && whole
            && (self.program.is_lent(place.base) || !by_reference && self.is_owner(place.base))
            && self.program.kind_of_place(place) == Kind::Unknown
            && self.suspects.any(value)
    }
}

impl Program {
    /// It is a `&mut` parameter of the function, or of a closure that is passed on.
    pub(crate) fn is_lent(&self, id: VarId) -> bool {
        self.variables[id].origin == Origin::Unique
    }

    /// The local starts as what a call returns.
    fn is_from_call(&self, id: VarId) -> bool {
        self.init_of(id).is_some_and(|init| self.is_call(init))
    }

    /// What the function does to the lengths of vectors behind references.
    pub(crate) fn lengths(&self, signature: &Signature) -> Lengths {
        let mut lengths = Lengths::default();
        let may_grow = |id: VarId| {
            let mut own = signature.parameters.iter().zip(&self.parameters);
            own.any(|(parameter, own)| *own == Some(id) && parameter.may_be_resized())
        };
        let lent = |arg: &ExprId| match &self.exprs[*arg].kind {
            ExprKind::Borrow { place, unique: true } => may_grow(place.base) && !self.is_range(place),
            _ => false,
        };
        for expr in &self.exprs {
            let (action, args) = match &expr.kind {
                ExprKind::Mutation { action, args } => (Some(*action), args),
                // What it does is not known.
                ExprKind::Call { function: Callee::Parameter(id, _), args } => {
                    lengths.shrink |= self.functions[id].resizing && args.iter().any(lent);
                    continue;
                }
                ExprKind::Call { args, .. } | ExprKind::Method { args, .. } => (None, args),
                _ => continue,
            };
            let borrowed = args.iter().any(lent);
            match action.filter(|_| borrowed) {
                Some(Action::Push | Action::Insert | Action::Extend) => lengths.grow = true,
                Some(action) if action.takes_out() => lengths.shrink = true,
                Some(_) => {}
                None => lengths.lends |= borrowed,
            }
        }
        lengths
    }

    /// It is a slice, by its syntax.
    fn is_range(&self, place: &Place) -> bool {
        matches!(place.projections.last(), Some(Projection::Index(i)) if matches!(self.exprs[*i].syntax, syn::Expr::Range(_)))
    }

    /// A call may change the lengths of what the local holds, or of what changes places with that.
    pub(crate) fn may_be_resized(&self, id: VarId) -> bool {
        let pool = self.variables[id].pool;
        let borrows =
            |arg: ExprId| self.resized(arg).is_some_and(|place| self.variables[place.base].pool == pool);
        (0..self.exprs.len()).any(borrows)
    }

    /// The local of which a call may change the lengths, or those of its vectors: without parts of structs, which may be constant.
    fn resized(&self, arg: ExprId) -> Option<Place> {
        let ExprKind::Borrow { place, unique: true } = &self.exprs[arg].kind else { return None };
        let variable = &self.variables[place.base];
        let fixed = variable.zero.is_some() || matches!(variable.kind, Kind::Float | Kind::Matrix(_));
        if !variable.active
            || variable.by_reference()
            || fixed
            || inert(&variable.kind)
            || self.is_range(place)
        {
            return None;
        }
        let one = |p: &&Projection| matches!(p, Projection::Index(i) if !matches!(self.exprs[*i].syntax, syn::Expr::Range(_)));
        let projections = place.projections.iter().take_while(one).cloned().collect();
        Some(Place { base: place.base, projections })
    }
}

impl Reverse<'_> {
    /// What stands before and behind the pullback of a call with these arguments: the shadows of locals get the lengths that it needs, and
    /// those that it leaves. Functions that it calls ask for the room `called`.
    pub(crate) fn resizing(
        &mut self,
        function: &Callee,
        args: &[ExprId],
        rule: &syn::Ident,
        called: &TokenStream,
        at: &At,
    ) -> (TokenStream, TokenStream) {
        let (mut before, mut behind) = (TokenStream::new(), TokenStream::new());
        for arg in args {
            let Some(place) = self.program.resized(*arg) else { continue };
            assert!(self.view(place.base).is_none(), "a closure that writes to a variable owns it meanwhile");
            let (v, shadow) = self.grown(&place, at);
            let held = match place.projections.is_empty() {
                true => self.shaped(place.base, &v),
                false => quote!(&#v),
            };
            let (room, fit) = match function {
                Callee::Parameter(..) => (
                    quote!(fit_to(#held, &mut #shadow, __pb::Extent::Room(#rule.least_room()))),
                    quote!(fit_to(#held, &mut #shadow, __pb::Extent::Length)),
                ),
                _ => (
                    quote!(make_room(&*#rule, #called, #held, &mut #shadow)),
                    quote!(fit(&*#rule, #held, &mut #shadow)),
                ),
            };
            before.extend(quote!(__pb::#room;));
            behind.extend(quote!(__pb::#fit;));
        }
        (before, behind)
    }

    /// The vector behind a reference at which an action has been, and its shadow.
    fn behind(&mut self, place: &Place, at: &At) -> (TokenStream, TokenStream) {
        let after =
            At { block: at.block, versions: std::rc::Rc::new(self.levels[self.top()].current.clone()) };
        (self.borrow_after(place, at, &after), self.shadow_behind(place, at))
    }

    /// Undoes what has moved `args[1]`, or may have done so, to a vector behind a reference or to the place of one, and hands its gradient on.
    fn undo_move_behind(&mut self, expr: ExprId, (action, args): (Action, &[ExprId]), at: &At) {
        let (program, value) = (self.program, args[1]);
        let place = self.place_of(args[0]);
        let span = program.exprs[expr].span;
        let (v, shadow) = self.behind(place, at);
        let pool = match program.moves(value) {
            Some(id) => self.pool(id),
            None => self.slot("moved", quote!(__pb::Pool::new())),
        };
        let (row, gradient) = (self.kept.fresh("row"), self.kept.fresh("d"));
        let undone = match action {
            Action::Renew => {
                let slot = self.undoing(expr, "renewed", quote!(__pb::Renewed::new()));
                let undo = match is_of_ours(&program.exprs[expr].syntax, "renew_box") {
                    true => quote!(undo_box),
                    false => quote!(undo),
                };
                quote_spanned!(span=> #slot.#undo(#v, #shadow, #pool))
            }
            _ => quote_spanned!(span=> __pb::unpush_any_behind(#v, #shadow, #pool)),
        };
        self.emit(quote!(let (mut #row, mut #gradient) = #undone;));
        let level = self.top();
        self.levels[level].current = (*at.versions).clone();
        let d = Cotangent { owned: true, ..Cotangent::atom(quote!(#gradient)) };
        if !program.exprs[value].active {
            return self.emit(quote!(#pool.give(#gradient);));
        }
        if program.moves(value).is_some() || program.owns(value) || program.pushes_row(place, value) {
            let moved = Some(self.moved_behind(row, pool));
            return self.pull(value, &Cotangent { moved, ..d }, at);
        }
        self.pull(value, &d, at);
        self.emit(quote!(#pool.give(#gradient);));
    }

    /// Puts a vector back that was taken away from behind a reference.
    pub(crate) fn put_back_behind(
        &mut self,
        (expr, place): (ExprId, ExprId),
        value: &TokenStream,
        (d, pool): (&Cotangent, &syn::Ident),
        at: &At,
    ) {
        let (v, shadow) = self.behind(self.place_of(place), at);
        let slot = self.undoing(expr, "away", quote!(__pb::TakenAway::new()));
        let (undo, lent) = match is_of_ours(&self.program.exprs[expr].syntax, "take_box") {
            true => (quote!(put_back_box), quote!(&mut #d)),
            false => (quote!(put_back), quote!(&#d)),
        };
        let span = self.program.exprs[expr].span;
        self.emit(quote_spanned!(span=> #slot.#undo(#v, #value, #shadow, #lent); #pool.give(#d);));
        let level = self.top();
        self.levels[level].current = (*at.versions).clone();
    }

    /// Undoes what changed the length of a vector behind a reference. Returns the gradient with respect to what came into it.
    pub(crate) fn undo_behind(
        &mut self,
        expr: ExprId,
        (action, args): (Action, &[ExprId]),
        d: &Cotangent,
        at: &At,
    ) -> Option<(ExprId, syn::Ident)> {
        let program = self.program;
        let (place, span) = (self.place_of(args[0]), program.exprs[expr].span);
        let pushed =
            action.value(args).filter(|value| action == Action::Push && program.exprs[*value].active);
        let owned = |value: ExprId| {
            program.moves(value).is_some() || program.pushes_row(place, value) || program.may_push_row(value)
        };
        if action == Action::Renew || pushed.is_some_and(owned) {
            self.undo_move_behind(expr, (action, args), at);
            return None;
        }
        let (v, shadow) = self.behind(place, at);
        let gradient = self.kept.fresh("d");
        let mut handed_on = action.value(args).map(|value| (value, gradient.clone()));
        // Where it is put aside, nobody has looked at it.
        let d = if program.drops_element(expr) { quote!(__pb::zero()) } else { quote!(#d) };
        let undone = match action {
            // There is nothing to hand on.
            Action::Push if pushed.is_none() => quote!((#v).pop();),
            Action::Push => quote_spanned!(span=> let #gradient = __pb::unpush_behind(#v, #shadow);),
            Action::Insert => {
                let index = self.value(args[1], at);
                quote_spanned!(span=> let #gradient = __pb::uninsert_behind(#v, #index, #shadow);)
            }
            Action::Pop => {
                let popped = self.kept.keep(at.block, Item::Undo(expr), "popped");
                quote_spanned!(span=> __pb::unpop_behind(#v, #popped, #shadow, #d);)
            }
            Action::Remove => {
                let removed = self.kept.keep(at.block, Item::Undo(expr), "removed");
                let index = self.value(args[1], at);
                quote_spanned!(span=> __pb::unremove_behind(#v, #index, #removed, #shadow, #d);)
            }
            Action::Extend => {
                let len = self.kept.keep(at.block, Item::Undo(expr), "len");
                let active = matches!(&program.exprs[args[1]].kind, ExprKind::Borrow { place, .. } if program.variables[place.base].active);
                let hand_on = match active {
                    true => {
                        let from = self.source(args[1], at);
                        quote!(__pb::handing_on(#from))
                    }
                    false => quote!(|_, _| ()),
                };
                quote_spanned!(span=> __pb::unextend_behind(#v, #len, #shadow, #hand_on);)
            }
            Action::Truncate | Action::Clear | Action::Resize => {
                let slot = self.cut_off(expr);
                quote!(let #gradient = #slot.undo_behind(#v, #shadow);)
            }
            Action::Renew | Action::TakeAll => unreachable!("undone by moves"),
            Action::Swap | Action::Sort | Action::Exchange | Action::TakeOut => {
                unreachable!("these keep the length")
            }
        };
        self.emit(undone);
        handed_on.take_if(|(value, _)| !program.exprs[*value].active);
        handed_on
    }

    /// The shadow of a part of a parameter.
    fn shadow_behind(&mut self, place: &Place, at: &At) -> TokenStream {
        let level = self.top();
        let whole = self.program.variables[place.base].shadow.clone();
        let (whole, rest) = self.viewed(&whole, place, true, at);
        let projections = self.projections(rest, at, level);
        if projections.is_empty() {
            return quote!(#whole);
        }
        let cells = Program::fresh("d");
        quote!(#whole.part(|#cells| &#cells #projections))
    }
}
