//! Vectors that are made, grown, shrunk and moved, in both passes.
//!
//! The shadow of a local vector grows and shrinks along with it: undoing a `push` takes the last element off both, and what
//! the shadow held is the gradient of what was pushed. A vector that was moved comes back by the opposite move, and so does
//! its shadow; nothing is copied.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::Ident;

use crate::cotangent::Cotangent;
use crate::forward::Forward;
use crate::kept::Item;
use crate::mutation::{Action, CANNOT_MOVE, nested_type};
use crate::outcome::blank;
use crate::passed_over::Goes;
use crate::program::*;
use crate::reverse::Reverse;

/// A vector on its way back to where it was moved from, along with its shadow.
#[derive(Clone)]
pub(crate) struct Moved {
    /// The vector itself.
    value: TokenStream,
    /// The reverse pass has it.
    present: bool,
    /// Where its shadow goes once it is of no more use.
    pool: Ident,
    /// It may be the copy of this local that the function returned: the first such vector that is of no more use is.
    copy: Option<VarId>,
    /// Where it goes itself once it is of no more use, if it was part of such a copy.
    spare: Option<Ident>,
    /// What tells whether its shadow came from the pool.
    filled: Option<Ident>,
    /// Where the shadows of its rows go, if rows are taken out of it.
    stock: Option<Ident>,
    /// It may have been moved out of an enclosing block.
    left: bool,
    /// One of the variables that it has been moved to, if it is not a row.
    group: Option<VarId>,
}

impl<'p> Reverse<'p> {
    /// What has been moved to a vector behind a reference, or to the place of one.
    pub(crate) fn moved_behind(&self, row: Ident, pool: Ident) -> Moved {
        Moved {
            value: quote!(#row),
            pool,
            copy: None,
            spare: None,
            filled: None,
            stock: None,
            left: false,
            group: None,
            present: true,
        }
    }

    /// The gradient with respect to a vector: `shadow` owns it, and `value` the vector.
    fn moved(&mut self, id: VarId, shadow: TokenStream, value: TokenStream) -> Cotangent {
        let pool = self.pool(id);
        let variables = &self.program.variables;
        let group = |returned: &&Returned| variables[returned.id].pool == variables[id].pool;
        let copy = self.program.returned.iter().find(group).map(|returned| returned.id);
        let spare = self.spare_of(id);
        let stock = self.program.loses_rows(id).then(|| self.pool_of_rows(id));
        let left = self.program.may_be_left(id) && !self.program.takes_rows(id);
        Cotangent {
            moved: Some(Moved {
                value,
                pool,
                copy,
                spare,
                filled: None,
                stock,
                left,
                group: Some(id),
                present: true,
            }),
            owned: true,
            ..Cotangent::atom(shadow)
        }
    }

    /// The shadow of a vector that the function, or a closure with this `body`, returns starts as what the caller hands in. Tells whether that is all of it.
    pub(crate) fn receive(&mut self, body: BlockId, seed: &Cotangent) -> bool {
        let program = self.program;
        for Returned { id, part, ty, .. } in program.returned_by(body) {
            if !program.variables[*id].active {
                continue;
            }
            let pool = self.pool(*id);
            let function = program.own.as_ref().map(|own| &own.ty);
            let received = match (part, ty) {
                (None, _) if body != BODY => quote!(__pb::Received::receive(#seed, #pool)),
                (part, _) if program.takes_rows(*id) => {
                    let (stock, filling) = (self.pool_of_rows(*id), program.filling());
                    // The gradient with respect to a struct holds that of a field, that of a tuple refers to it.
                    let seed = match (part, ty) {
                        (None, _) => quote!(#seed),
                        (Some(part), Some(_)) => quote!(#seed #part),
                        (Some(part), None) => quote!(&#seed #part),
                    };
                    self.present(*id);
                    let name = &program.variables[*id].unique;
                    let rows = quote!(__pb::returned_rows(&#name, #pool, #stock, #seed));
                    match filling.map(|value| self.kept.keep(BODY, Item::Undo(value), "filled")) {
                        Some(filled) => {
                            quote!(if #filled { #rows } else { ::core::default::Default::default() })
                        }
                        None => rows,
                    }
                }
                (None, _) if let Some(value) = program.filling() => {
                    let filled = self.kept.keep(BODY, Item::Undo(value), "filled");
                    quote!(__pb::returned_inside::<#function>(#filled, #pool, #seed))
                }
                (None, _) => quote!(__pb::returned::<#function>(#pool, #seed)),
                (Some(part), Some(ty)) if let Some(value) = program.filling() => {
                    let filled = self.kept.keep(BODY, Item::Undo(value), "filled");
                    quote!(__pb::received_inside::<#ty>(#filled, #pool, #seed #part))
                }
                (Some(part), Some(ty)) => quote!(__pb::received::<#ty>(#pool, #seed #part)),
                (Some(part), None) => quote!(__pb::received_part(#pool, &#seed #part)),
            };
            let shadow = &program.variables[*id].shadow;
            self.emit(quote!(let mut #shadow = #received;));
            let level = self.top();
            self.levels[level].declared.insert(*id);
            self.lent.insert(*id);
        }
        program.returned_by(body).any(|returned| returned.part.is_none())
    }

    /// The copy that the pullback has of what the function returned is kept for the next call, if it is still there.
    pub(crate) fn give_back_copy(&mut self, body: BlockId) {
        for Returned { id, .. } in self.program.returned_by(body) {
            if let (Some(slot), false) = (self.copies.get(id).cloned(), self.copy_moves(body, *id)) {
                let name = &self.program.variables[*id].unique;
                let given = match self.maker_of(*id) {
                    Some(rule) => quote!(if let Some(rest) = #slot.give(#name) { #rule.reclaim(rest); }),
                    None => self.given_back(Some(&slot), &name.to_token_stream(), Some(*id)),
                };
                self.emit(given);
            }
        }
    }

    /// The rule of ours that has made the array which the local `id` holds at first, where others may have come in its place.
    fn maker_of(&self, id: VarId) -> Option<Ident> {
        let program = self.program;
        if !program.taken.is_empty() {
            return None;
        }
        let statements = || program.blocks.iter().flat_map(|block| &block.statements);
        let replaced = statements().any(|statement| match &statement.kind {
            StatementKind::Assign(assign) => assign.place.base == id && assign.place.projections.is_empty(),
            _ => false,
        });
        let init = statements().find_map(|statement| match &statement.kind {
            StatementKind::Let(l) if l.variables == [Some(id)] => l.init,
            _ => None,
        });
        let made = init.filter(|init| replaced && program.is_reclaimed(*init))?;
        self.rules.get(&made).cloned()
    }

    /// The copies of what the function returned, where the pullback reads it.
    pub(crate) fn copy(&self, body: BlockId) -> TokenStream {
        let copies = self.program.returned_by(body).filter_map(|Returned { id, ty, .. }| {
            let (slot, name) = (self.copies.get(id)?, &self.program.variables[*id].unique);
            Some(match self.filled().filter(|_| body == BODY) {
                Some(filled) => {
                    let blank = blank(ty.as_ref().expect("what is inside has a type"));
                    quote!(let mut #name = if #filled { #slot.take() } else { #blank };)
                }
                None => quote!(let mut #name = #slot.take();),
            })
        });
        copies.collect()
    }

    /// What tells whether the function returned something inside an `Option` or a `Result`, if it may return nothing.
    fn filled(&self) -> Option<Ident> {
        self.kept.name(BODY, Item::Undo(self.program.filling()?))
    }

    /// The slot of copies of a local that the function returns.
    pub(crate) fn copies(&mut self, id: VarId) -> Ident {
        if let Some(slot) = self.copies.get(&id) {
            return slot.clone();
        }
        let slot = self.slot("copies", quote!(__pb::Copies::new()));
        self.copies.insert(id, slot.clone());
        let typed =
            self.program.returned.iter().find(|returned| returned.id == id).and_then(|r| r.ty.as_deref());
        if self.program.takes_rows(id) || typed.is_some_and(nested_type) {
            let spares = self.slot("row_spares", quote!(__pb::RowSpares::new()));
            self.row_spares.insert(id, spares);
        }
        slot
    }

    /// The slot of copies of a local that the function returns, of which one may have come to another local by an exchange.
    pub(crate) fn copies_exchanged(&mut self, id: VarId) -> Option<Ident> {
        let (program, variables) = (self.program, &self.program.variables);
        let group = |returned: &&Returned| variables[returned.id].pool == variables[id].pool;
        let returned = program.returned.iter().find(group)?.id;
        (program.is_exchanged_whole(id) && !program.is_returned(id)).then(|| self.copies(returned))
    }

    /// The slot for the rows of copies: if `id` is such a copy, or may change places or rows with one.
    pub(crate) fn row_spares(&self, id: VarId) -> Option<Ident> {
        let rows = |id: VarId| self.program.variables[id].rows;
        self.row_spares
            .iter()
            .find(|(returned, _)| rows(**returned) == rows(id))
            .map(|(_, slot)| slot.clone())
    }

    /// What the function returns was moved to the local that it is returned from, and goes back there.
    fn copy_moves(&self, body: BlockId, returned: VarId) -> bool {
        self.program.blocks[body].statements.iter().any(|statement| match &statement.kind {
            StatementKind::Let(Let { variables, tuple, init: Some(init), .. }) => {
                let inits = match &self.program.exprs[*init].kind {
                    ExprKind::Tuple(elements) if *tuple => elements.clone(),
                    _ => vec![*init],
                };
                let mut pairs = variables.iter().zip(inits);
                pairs.any(|(id, init)| *id == Some(returned) && self.brings_back(init))
            }
            _ => false,
        })
    }

    /// The gradient with respect to the vector that a `let` binds to `id`; nothing if there is none, and nothing to
    /// bring back either.
    pub(crate) fn bound_vector(&mut self, id: VarId, init: ExprId) -> Option<Cotangent> {
        let level = self.level_of(self.program.variables[id].block);
        if !self.levels[level].declared.contains(&id) {
            if !self.brings_back(init) {
                return None;
            }
            self.declare(id);
        }
        // The pullback does not have what the function returned, unless it asks for a copy.
        let present = !self.program.is_returned(id) || self.brings_back(init);
        if present {
            self.present(id);
        }
        let variable = &self.program.variables[id];
        let (shadow, value) = (&variable.shadow, &variable.unique);
        let mut d = self.moved(id, quote!(#shadow), quote!(#value));
        if let (Some(moved), false) = (&mut d.moved, present) {
            (moved.copy, moved.spare, moved.present) = (None, None, false);
        }
        if let (Some(moved), true) = (&mut d.moved, self.program.is_returned(id)) {
            moved.filled = self.filled();
        }
        Some(d)
    }

    /// `expr` moves a vector that the reverse pass has to have back.
    fn brings_back(&self, expr: ExprId) -> bool {
        let program = self.program;
        let active = program.moved_in(expr).into_iter().any(|(_, id)| program.variables[id].active);
        let taken = program.takes_out(expr) && program.exprs[expr].active;
        let blocks = program.blocks_of(program.peel(expr));
        active
            || taken
            || blocks.iter().filter_map(|b| program.blocks[*b].value).any(|value| self.brings_back(value))
    }

    /// Undoes `a = vector`.
    pub(crate) fn undo_vector_assign(&mut self, assign: &Assign, statement: &Statement) {
        let id = assign.place.base;
        let at = &statement.before;
        self.declare(id);
        self.present(id);
        let old = self.kept.keep(at.block, Item::Old(statement.id), "old");
        let (value, gradient) = (self.kept.fresh("moved"), self.kept.fresh("d"));
        let variable = &self.program.variables[id];
        let (name, shadow) = (&variable.unique, &variable.shadow);
        let empty = self.shadow_from_pool(id);
        self.emit(quote! {
            let mut #value = ::core::mem::replace(&mut #name, #old);
            let mut #gradient = ::core::mem::replace(&mut #shadow, #empty);
        });
        let top = self.top();
        self.levels[top].current = (*at.versions).clone();
        let d = self.moved(id, quote!(#gradient), quote!(#value));
        self.pull_root(assign.value, Some(d), at);
    }

    /// Hands the gradient with respect to a vector on to what it was made of.
    pub(crate) fn pull_vector(&mut self, expr: ExprId, d: &Cotangent, moved: &Moved, at: &At) {
        let program = self.program;
        let expr = program.peel(expr);
        let Moved { value, pool, present, .. } = moved;
        let plain = Cotangent { moved: None, ..d.clone() };
        match &program.exprs[expr].kind {
            ExprKind::If { cond, then, otherwise } => {
                return self.pull_if(expr, *cond, *then, *otherwise, d, at);
            }
            ExprKind::Block(block) => return self.pull_block(expr, *block, d, at),
            ExprKind::Match(m) => return self.pull_match(expr, m, d, at),
            ExprKind::Read(_) => {
                let moved = program.moves(expr);
                if moved.is_none() && program.exprs[expr].active {
                    self.errors.push(&program.exprs[expr].syntax, CANNOT_MOVE);
                }
                if let Some(id) = moved
                    && program.variables[id].active
                {
                    let (name, shadow) = (&program.variables[id].unique, &program.variables[id].shadow);
                    self.emit(quote!(let mut #name = #value; let mut #shadow = #d;));
                    let level = self.level_of(program.variables[id].block);
                    self.levels[level].declared.insert(id);
                    return;
                }
            }
            ExprKind::Vector { elements, len } => self.pull_elements(elements, len.is_some(), &plain, at),
            ExprKind::Mutation { action: Action::TakeAll, args } => {
                return self.put_back_behind((expr, args[0]), value, (&plain, pool), at);
            }
            ExprKind::Mutation { action, args } if program.takes_out(expr) => {
                return self.put_back(*action, args, value, d, at);
            }
            ExprKind::Struct(literal) => {
                let copy = moved.copy.map(|returned| self.copies(returned));
                let given = match (copy.as_ref().or(moved.spare.as_ref()), moved.group.filter(|_| *present)) {
                    (Some(slot), _) => quote!(#slot.give(#value);),
                    (None, Some(id)) if !self.moves_parts(literal) || self.is_taken(id) => {
                        self.given_back(None, value, Some(id))
                    }
                    _ => TokenStream::new(),
                };
                self.take_apart(literal, (&plain, pool), value, given, at);
                return self.emit(quote!(#pool.give(#d);));
            }
            _ => self.pull(expr, &plain, at),
        }
        let slot = self.slot_of(moved);
        // Arrays go to what has made them, without which there would be another one each time.
        let maker = self.rules.get(&expr).filter(|_| *present && program.is_reclaimed(expr)).cloned();
        let given = match (maker, &slot) {
            (Some(rule), None) => quote!(#rule.reclaim(#value);),
            (Some(rule), Some(slot)) if program.taken.is_empty() => {
                let rest = Program::fresh("rest");
                quote!(if let Some(#rest) = #slot.give(#value) { #rule.reclaim(#rest); })
            }
            (_, slot) => self.given_back(slot.as_ref(), value, moved.group.filter(|_| *present)),
        };
        self.emit(given);
        let given = match (&moved.filled, &moved.stock) {
            (Some(filled), _) => quote!(if #filled { #pool.give(#d); }),
            (None, Some(stock)) => quote!(#pool.give_rows(#d, #stock);),
            (None, None) if moved.left => quote!(#pool.give_rest(#d);),
            (None, None) => quote!(#pool.give(#d);),
        };
        match moved.group.is_some_and(|id| self.kept_last.contains(&id)) {
            true => {
                let top = self.top();
                self.levels[top].last.extend(given);
            }
            false => self.emit(given),
        }
    }

    /// Where the gradients of what the vector `whole` consists of go, if that is known to own memory.
    fn stock_of(&mut self, whole: ExprId) -> Option<Ident> {
        let base = self.place_of(whole).base;
        self.program.grown.contains(&base).then(|| self.pool_of_rows(base))
    }

    /// Puts a vector back that was taken out of an option or of a vector of vectors.
    fn put_back(&mut self, action: Action, args: &[ExprId], value: &TokenStream, d: &Cotangent, at: &At) {
        let (whole, shadow) = self.grown(self.place_of(args[0]), at);
        let base = self.place_of(args[0]).base;
        let undone = match action {
            Action::TakeOut if self.program.departing.contains(&base) => {
                let pool = self.pool(base);
                quote!((&&&__pb::Leaving::of(&#whole)).come_back(&mut #whole, #value, &mut #shadow, #d, #pool);)
            }
            Action::TakeOut => quote!(__pb::put_back(&mut #whole, #value, &mut #shadow, #d);),
            Action::Pop => {
                let stock = self.pool_of_rows(base);
                quote!(__pb::unpop_row(&mut #whole, #value, &mut #shadow, #d, #stock);)
            }
            _ => {
                let (index, stock) = (self.value(args[1], at), self.pool_of_rows(base));
                quote!(__pb::unremove_row(&mut #whole, #index, #value, &mut #shadow, #d, #stock);)
            }
        };
        self.emit(undone);
        let top = self.top();
        self.levels[top].current = (*at.versions).clone();
    }

    /// The slot to which a vector goes that is of no more use.
    fn slot_of(&mut self, moved: &Moved) -> Option<Ident> {
        match moved.copy {
            Some(returned) => Some(self.copies(returned)),
            None => moved.spare.clone().filter(|_| moved.present),
        }
    }

    /// Undoes `let (outcome, mut inside) = split(whole)`.
    pub(crate) fn undo_split(&mut self, l: &Let, whole: ExprId, at: &At) {
        if l.variables.len() > 2 {
            return self.undo_split_parts(l, whole, at);
        }
        let Some(id) = l.variables[1].filter(|id| self.program.variables[*id].active) else {
            return self.pull_root(whole, None, at);
        };
        self.declare(id);
        let shadow = &self.program.variables[id].shadow;
        self.pull_root(whole, Some(Cotangent { owned: true, ..Cotangent::atom(quote!(#shadow)) }), at);
        self.give_back_inside(id, quote!(#shadow));
    }

    /// Keeps what is left of a local that something was taken out of, and its gradient, for other calls.
    pub(crate) fn give_back_inside(&mut self, id: VarId, gradient: TokenStream) {
        let name = &self.program.variables[id].unique;
        let d = self.moved(id, gradient.clone(), quote!(#name));
        let moved = d.moved.expect("just made");
        let pool = &moved.pool;
        self.emit(quote!(#pool.give_rest(#gradient);));
        let slot = self.slot_of(&moved);
        let given = self.given_back(slot.as_ref(), &quote!(value), moved.group);
        if !given.is_empty() {
            self.emit(quote!(#name.into_iter().for_each(|value| { #given });));
        }
    }

    pub(crate) fn pull_elements(&mut self, elements: &[ExprId], repeated: bool, d: &Cotangent, at: &At) {
        for (i, &element) in elements.iter().enumerate() {
            if !self.program.exprs[element].active {
                continue;
            }
            let i = proc_macro2::Literal::usize_unsuffixed(i);
            match &self.program.exprs[element].kind {
                ExprKind::Vector { elements, len } if !repeated => {
                    self.pull_elements(elements, len.is_some(), &Cotangent::atom(quote!(#d[#i])), at);
                }
                ExprKind::Vector { elements, len } => {
                    self.pull_rows(elements, len.is_some(), &quote!(#d[..].iter()), at);
                }
                _ if repeated => self.pull(element, &Cotangent::term(quote!(__pb::total(&#d[..]))), at),
                _ => {
                    let owned = self.program.owns(element) || self.program.may_return_owner(element);
                    self.pull(element, &Cotangent { owned, ..Cotangent::atom(quote!(#d[#i])) }, at);
                }
            }
        }
    }

    /// Likewise for the elements of a vector that is repeated, with what goes through the gradients of its copies.
    fn pull_rows(&mut self, elements: &[ExprId], repeated: bool, rows: &TokenStream, at: &At) {
        for (i, &element) in elements.iter().enumerate().filter(|(_, e)| self.program.exprs[**e].active) {
            let (i, row) = (proc_macro2::Literal::usize_unsuffixed(i), Program::fresh("row"));
            if let ExprKind::Vector { elements, len } = &self.program.exprs[element].kind {
                let inner = match repeated {
                    true => quote!(#rows.flat_map(|#row| #row.iter())),
                    false => quote!(#rows.map(|#row| &#row[#i])),
                };
                self.pull_rows(elements, len.is_some(), &inner, at);
                continue;
            }
            let numbers = match repeated {
                true => quote!(#rows.flat_map(|#row| &#row[..])),
                false => quote!(#rows.map(|#row| &#row[#i])),
            };
            self.pull(element, &Cotangent::term(quote!(__pb::total(#numbers))), at);
        }
    }

    /// Undoes `push` to a vector that nobody looks at: it need not be there, but for its gradient.
    fn pull_unseen(&mut self, args: &[ExprId], at: &At) {
        let (place, gradient) = (self.place_of(args[0]), self.kept.fresh("d"));
        let anything = self.program.pushes_anything(place, args[1]);
        let shadow = &self.program.variables[place.base].shadow;
        self.declare(place.base);
        self.emit(quote!(let #gradient = __pb::unpush_unseen(&mut #shadow);));
        let top = self.top();
        self.levels[top].current = (*at.versions).clone();
        let d = Cotangent { owned: anything, ..Cotangent::atom(gradient.to_token_stream()) };
        self.pull(args[1], &d, at);
        match anything {
            true => self.emit(quote!(__pb::keep_pushed(&mut #shadow, #gradient);)),
            false => self.keep_pushed_struct(place.base, args[1], &gradient),
        }
    }

    /// What a pushed struct may own stays in memory, though parts of its `gradient` are of use in the rest of the block.
    fn keep_pushed_struct(&mut self, vector: VarId, value: ExprId, gradient: &Ident) {
        let (program, top) = (self.program, self.top());
        let Some(value) = program.literal_of_results(value, self.levels[top].block) else { return };
        let variable = &program.variables[vector];
        let here = variable.block == self.levels[top].block;
        if here && !program.is_made_here(vector) {
            return;
        }
        let (shadow, gradient) =
            (&variable.shadow, value.map_or(gradient, |id| &program.variables[id].shadow));
        self.levels[top].last.extend(quote!(__pb::keep_pushed(&mut #shadow, #gradient);));
        if here {
            self.kept_last.insert(vector);
        }
    }

    /// Undoes a method that changes the length of a vector. `d` is the gradient with respect to its value.
    pub(crate) fn pull_mutation(
        &mut self,
        expr: ExprId,
        action: Action,
        args: &[ExprId],
        d: &Cotangent,
        at: &At,
    ) {
        if action == Action::Sort {
            return self.pull_sorting(expr, args, at);
        }
        let program = self.program;
        if action == Action::Push && program.only_pushed(self.place_of(args[0]).base) {
            return self.pull_unseen(args, at);
        }
        if program.is_lent(self.place_of(args[0]).base) {
            let handed_on = self.undo_behind(expr, (action, args), d, at);
            let level = self.top();
            self.levels[level].current = (*at.versions).clone();
            if let Some((value, gradient)) = handed_on {
                let d = Cotangent::atom(quote!(#gradient));
                self.unless_unseen(value, Goes::Memory, &d, |reverse, d| reverse.pull(value, d, at));
            }
            return;
        }
        let (v, shadow) = self.grown(self.place_of(args[0]), at);
        let level = self.top();
        let mut handed_on = None;
        let (unknown, span) = (program.of_unknown(self.place_of(args[0])), program.exprs[expr].span);
        let stock = program.drops_element(expr).then(|| self.stock_of(args[0])).flatten();
        match action {
            Action::Push | Action::Insert
                if let Some(value) = action.value(args)
                    && program.pushes_row(self.place_of(args[0]), value) =>
            {
                let (row, gradient) = (self.kept.fresh("row"), self.kept.fresh("d"));
                let undone = match action {
                    Action::Push => quote!(__pb::unpush_row(&mut #v, &mut #shadow)),
                    _ => {
                        let index = self.value(args[1], at);
                        quote!(__pb::uninsert_row(&mut #v, #index, &mut #shadow))
                    }
                };
                self.emit(quote!(let (mut #row, mut #gradient) = #undone;));
                self.levels[level].current = (*at.versions).clone();
                let base = self.place_of(args[0]).base;
                let (pool, spare) = (self.pool_of_rows(base), self.row_spares(base));
                let moved = Moved {
                    value: quote!(#row),
                    pool,
                    copy: None,
                    spare,
                    filled: None,
                    stock: None,
                    group: Some(base),
                    left: false,
                    present: true,
                };
                let tokens = quote!(#gradient);
                let d = Cotangent { moved: Some(moved), owned: true, ..Cotangent::atom(tokens) };
                return self.pull(value, &d, at);
            }
            Action::Push
                if let Some(id) = program.moves(args[1]).filter(|id| program.pushed.contains(id)) =>
            {
                let pool = self.pool(id);
                let variable = &program.variables[id];
                let (name, gradient) = (&variable.unique, &variable.shadow);
                self.emit(quote!(let (mut #name, mut #gradient) = __pb::unpush_moved(&mut #v, &mut #shadow, #pool);));
                self.levels[level].current = (*at.versions).clone();
                let home = self.level_of(variable.block);
                self.levels[home].declared.insert(id);
                return;
            }
            Action::Push if program.pushes_anything(self.place_of(args[0]), args[1]) => {
                let gradient = self.kept.fresh("d");
                self.emit(quote!(let #gradient = __pb::unpush(&mut #v, &mut #shadow);));
                self.levels[level].current = (*at.versions).clone();
                let d = Cotangent { owned: true, ..Cotangent::atom(gradient.to_token_stream()) };
                self.pull(args[1], &d, at);
                return self.emit(quote!(__pb::keep_pushed(&mut #shadow, #gradient);));
            }
            Action::Push => {
                let gradient = self.kept.fresh("d");
                let undone = match program.moves_result(args[1]) {
                    true => {
                        let span = program.exprs[args[1]].span;
                        quote_spanned!(span=> __pb::plain(__pb::unpush(&mut #v, &mut #shadow)))
                    }
                    false => quote!(__pb::unpush(&mut #v, &mut #shadow)),
                };
                self.emit(quote!(let #gradient = #undone;));
                handed_on = Some((args[1], gradient));
            }
            Action::Insert => {
                let (gradient, index) = (self.kept.fresh("d"), self.value(args[1], at));
                self.emit(quote!(#v.remove(#index); let #gradient = #shadow.remove(#index);));
                handed_on = Some((args[2], gradient));
            }
            Action::Pop => {
                let popped = self.kept.keep(at.block, Item::Undo(expr), "popped");
                let undone = match program.drops_element(expr) {
                    true if let Some(stock) = &stock => quote! {
                        if let Some(#popped) = #popped {
                            __pb::undrop_row(&mut #v, usize::MAX, #popped, &mut #shadow, #stock);
                        }
                    },
                    true => quote!(__pb::undrop_last(&mut #v, #popped, &mut #shadow);),
                    false if unknown => {
                        quote_spanned!(span=> __pb::unpop_plain(&mut #v, #popped, &mut #shadow, #d);)
                    }
                    false => quote!(__pb::unpop(&mut #v, #popped, &mut #shadow, #d);),
                };
                self.emit(undone);
            }
            Action::Remove => {
                let removed = self.kept.keep(at.block, Item::Undo(expr), "removed");
                let index = self.value(args[1], at);
                let undone = match program.drops_element(expr) {
                    true if let Some(stock) = &stock => {
                        quote!(__pb::undrop_row(&mut #v, #index, #removed, &mut #shadow, #stock);)
                    }
                    true => quote!(__pb::undrop(&mut #v, #index, #removed, &mut #shadow);),
                    false if unknown => {
                        quote_spanned!(span=> __pb::unremove_plain(&mut #v, #index, #removed, &mut #shadow, #d);)
                    }
                    false => quote!(#v.insert(#index, #removed); #shadow.insert(#index, #d);),
                };
                self.emit(undone);
            }
            Action::Extend => {
                let len = self.kept.keep(at.block, Item::Undo(expr), "len");
                let from = self.source(args[1], at);
                self.emit(quote!(__pb::unextend(&mut #v, #len, &mut #shadow, #from);));
            }
            Action::Truncate | Action::Clear => {
                let (slot, place) = (self.cut_off(expr), self.place_of(args[0]));
                if program.of_rows(place) {
                    let stock = self.pool_of_rows(place.base);
                    self.emit(quote!(#slot.undo_rows(&mut #v, &mut #shadow, #stock);));
                } else {
                    self.emit(quote!(#slot.undo(&mut #v, &mut #shadow);));
                }
            }
            Action::Resize => {
                let (slot, gradient) = (self.cut_off(expr), self.kept.fresh("d"));
                self.emit(quote!(let #gradient = #slot.undo(&mut #v, &mut #shadow);));
                handed_on = Some((args[2], gradient));
            }
            Action::Sort | Action::TakeOut | Action::Renew | Action::TakeAll => {
                unreachable!("undone elsewhere")
            }
            Action::Swap => {
                let (i, j) = (self.value(args[1], at), self.value(args[2], at));
                self.emit(quote!(#v.swap(#i, #j); #shadow.swap(#i, #j);));
            }
            Action::Exchange => {
                let (w, other) = self.grown(self.place_of(args[1]), at);
                let of_field = |arg: &ExprId| {
                    self.place_of(*arg).projections.iter().any(|p| matches!(p, Projection::Field(_)))
                };
                let undone = match args.iter().any(of_field) {
                    true => {
                        let slot = self.exchanges(expr);
                        let boxed = args.iter().any(|arg| {
                            let place = self.place_of(*arg);
                            place.projections.is_empty() && program.boxes.contains(&place.base)
                        });
                        let undo = if boxed { quote!(undo_boxes) } else { quote!(undo) };
                        quote!(#slot.#undo(&mut #v, &mut #w, &mut #shadow, &mut #other);)
                    }
                    false => {
                        quote!(::core::mem::swap(&mut #v, &mut #w); ::core::mem::swap(&mut #shadow, &mut #other);)
                    }
                };
                self.emit(undone);
            }
        }
        self.levels[level].current = (*at.versions).clone();
        if let Some((value, gradient)) = handed_on
            && program.exprs[value].active
        {
            let d = Cotangent::atom(quote!(#gradient));
            self.unless_unseen(value, Goes::Memory, &d, |reverse, d| reverse.pull(value, d, at));
            let vector = self.place_of(args[0]);
            if action == Action::Push && vector.projections.is_empty() {
                self.keep_pushed_struct(vector.base, value, &gradient);
            }
        }
    }

    /// What a mutation changes.
    pub(crate) fn place_of(&self, borrow: ExprId) -> &'p Place {
        let ExprKind::Borrow { place, .. } = &self.program.exprs[borrow].kind else {
            unreachable!("a mutation borrows what it changes")
        };
        place
    }

    /// A part of a local and its shadow, both as they are after the statement.
    pub(crate) fn grown(&mut self, place: &Place, at: &At) -> (TokenStream, TokenStream) {
        self.declare(place.base);
        self.present(place.base);
        let level = self.top();
        let projections = self.projections(&place.projections, at, level);
        let variable = &self.program.variables[place.base];
        let (name, shadow) = (&variable.unique, &variable.shadow);
        (quote!(#name #projections), quote!(#shadow #projections))
    }

    /// The shadow of the slice that a vector was extended by.
    pub(crate) fn source(&mut self, arg: ExprId, at: &At) -> TokenStream {
        let program = self.program;
        let ExprKind::Borrow { place, .. } = &program.exprs[arg].kind else { return quote!(__pb::none()) };
        let variable = &program.variables[place.base];
        let shared = (false, program.exprs[arg].span);
        if !variable.active || self.view(place.base).is_some() {
            return self.shadow_argument(place, shared, at, None);
        }
        let (whole, name) = (self.local_shadow(place.base, at), self.kept.fresh("cells"));
        self.emit(quote!(let #name = #whole;));
        self.shadow_argument(place, shared, at, Some(&name))
    }

    /// The slot for the exchange of a field.
    fn exchanges(&mut self, expr: ExprId) -> Ident {
        if let Some(slot) = self.exchanges.get(&expr) {
            return slot.clone();
        }
        let slot = self.slot("exchanges", quote!(__pb::Exchanges::new()));
        self.exchanges.insert(expr, slot.clone());
        slot
    }

    /// The slot for what is cut off a vector.
    pub(crate) fn cut_off(&mut self, expr: ExprId) -> Ident {
        self.undoing(expr, "removed", quote!(__pb::Removed::new()))
    }

    /// The slot that stands in place of the vector where it is changed, and undoes that.
    pub(crate) fn undoing(&mut self, expr: ExprId, name: &str, init: TokenStream) -> Ident {
        if let Some(slot) = self.removed.get(&expr) {
            return slot.clone();
        }
        let slot = self.slot(name, init);
        self.removed.insert(expr, slot.clone());
        slot
    }
}

impl Forward<'_> {
    /// The copy of what the function returns, if the pullback reads that.
    pub(crate) fn copy_of_returned(&self, body: BlockId) -> TokenStream {
        let copies = self.program.returned_by(body).filter_map(|Returned { id, .. }| {
            let (slot, name) = (self.reverse.copies.get(id)?, &self.program.variables[*id].name);
            let copy = match self.reverse.row_spares(*id) {
                Some(spares) => quote!(#slot.copy_rows(&#name, #spares);),
                None => quote!(#slot.copy(&#name);),
            };
            let reserve = self.program.may_be_resized(*id).then(|| quote!(#slot.reserve_as(&#name);));
            let copy = quote!(#copy #reserve);
            Some(match self.reverse.filled().filter(|_| body == BODY) {
                Some(filled) => quote!(if #filled { #copy }),
                None => copy,
            })
        });
        copies.collect()
    }

    /// A method that changes the length of a vector, with what undoing it takes.
    pub(crate) fn mutation(
        &mut self,
        expr: ExprId,
        action: Action,
        args: &[ExprId],
        block: BlockId,
    ) -> TokenStream {
        let program = self.program;
        let syntax = &program.exprs[expr].syntax;
        if action == Action::TakeOut && matches!(syntax, syn::Expr::MethodCall(_)) {
            return syntax.to_token_stream();
        }
        let (call, outer) = match syntax {
            syn::Expr::MethodCall(call) => match &*call.receiver {
                syn::Expr::MethodCall(inner) if action == Action::Pop && call.method != "pop" => {
                    (inner, Some(call))
                }
                _ => (call, None),
            },
            syn::Expr::Call(call) => {
                let args: Vec<_> = args.iter().map(|arg| self.expr(*arg, block)).collect();
                let function = &*call.func;
                return match (self.reverse.removed.get(&expr), action) {
                    (slot, Action::Renew) => {
                        let (place, new) = (&args[0], &args[1]);
                        match slot {
                            Some(slot) => {
                                let method = called(function);
                                quote!(#slot.#method(#new, #place))
                            }
                            None => quote!(#function(#new, #place)),
                        }
                    }
                    (Some(slot), Action::TakeAll) => {
                        let method = called(function);
                        quote!(#slot.#method(#(#args),*))
                    }
                    _ => quote!(#function(#(#args),*)),
                };
            }
            _ => unreachable!("parsed as a call"),
        };
        if action == Action::Sort {
            return self.sorting(expr, call, args, block);
        }
        let ExprKind::Borrow { place, .. } = &program.exprs[args[0]].kind else {
            unreachable!("a mutation borrows what it changes")
        };
        let v = self.place(&call.receiver, &place.projections, block);
        let borrowed = self.expr(args[0], block);
        let rest: Vec<_> = args[1..].iter().map(|arg| self.expr(*arg, block)).collect();
        let method = &call.method;
        let undo = self.reverse.kept.name(block, Item::Undo(expr));
        let mut tokens = match (self.reverse.removed.get(&expr), undo) {
            (Some(slot), _) if action == Action::Clear => quote!(#slot.truncate(#borrowed, 0)),
            (Some(slot), _) => {
                // They may look at the vector.
                let names: Vec<_> = (0..rest.len()).map(|i| Program::fresh(&format!("a{i}"))).collect();
                quote!({ let (#(#names,)*) = (#(#rest,)*); #slot.#method(#borrowed, #(#names),*) })
            }
            (None, Some(len)) if action == Action::Extend => {
                self.before.extend(quote!(let #len = #v.len();));
                quote!(#v.#method(#(#rest),*))
            }
            (None, Some(old)) => {
                self.before.extend(quote!(let #old;));
                match program.drops_element(expr) {
                    true => return quote!({ #old = #v.#method(#(#rest),*); }),
                    false if program.of_unknown(place) => {
                        let span = program.exprs[expr].span;
                        let taken = quote_spanned!(span=> __pb::taken(&#old));
                        quote!({ #old = #v.#method(#(#rest),*); *#taken })
                    }
                    false => quote!({ #old = #v.#method(#(#rest),*); #old }),
                }
            }
            (None, None) => quote!(#v.#method(#(#rest),*)),
        };
        if let Some(outer) = outer {
            let (method, args) = (&outer.method, &outer.args);
            tokens = quote!(#tokens.#method(#args));
        }
        tokens
    }

    /// `vec![…]`, with elements that are not as the user wrote them.
    pub(crate) fn vector(&mut self, elements: &[ExprId], len: Option<ExprId>, block: BlockId) -> TokenStream {
        let elements: Vec<_> = elements.iter().map(|e| self.expr(*e, block)).collect();
        match len {
            Some(len) => {
                let len = self.program.exprs[len].syntax.to_token_stream();
                quote!(::std::vec![#(#elements)*; #len])
            }
            None => quote!(::std::vec![#(#elements),*]),
        }
    }
}

/// The name of a function of ours.
fn called(function: &syn::Expr) -> &Ident {
    let syn::Expr::Path(path) = function else { unreachable!("parsed as a path") };
    &path.path.segments.last().expect("a path has a segment").ident
}
