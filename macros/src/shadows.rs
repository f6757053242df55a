//! The shadows of variables in the reverse pass: where they are declared, added to, read and emptied.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::Ident;

use crate::cotangent::Cotangent;
use crate::gather::{Contribution, Element};
use crate::program::*;
use crate::reverse::{Level, Reverse, Slot};
use crate::rows::Holder;

impl Reverse<'_> {
    /// Whether gradients have come, or may still come, to a variable.
    pub(crate) fn has_shadow(&mut self, id: VarId) -> bool {
        let variable = &self.program.variables[id];
        if self.view(id).is_some() {
            return true;
        }
        let level = self.level_of(variable.block);
        if level < self.top() {
            // A later round of a loop, or the other branch, may contribute.
            self.declare(id);
        }
        self.levels[level].declared.contains(&id)
    }

    /// Declares the shadow of a local or by-value parameter in the block of the variable.
    pub(crate) fn declare(&mut self, id: VarId) {
        let program = self.program;
        let variable = &program.variables[id];
        let level = self.level_of(variable.block);
        if !self.levels[level].declared.insert(id) {
            return;
        }
        let shadow = &variable.shadow;
        let zero = match (&variable.zero, &variable.kind) {
            (Some(zero), _) => zero_tokens(zero, &program.zero()),
            (None, Kind::Float) => program.zero(),
            _ if self.is_pooled(id) => {
                self.present(id);
                self.lent.insert(id);
                self.shadow_from_pool(id)
            }
            // It may be a struct that owns memory.
            _ if program.may_own(id) => {
                let (pool, name) = (self.pool(id), self.any_value(id));
                self.lent.insert(id);
                self.taken_from(&pool, id, &name)
            }
            // The compiler has to know the type before it sees a part of it.
            (None, kind)
                if matches!(kind, Kind::Sequence(_) | Kind::Matrix(_))
                    || variable.parted
                    || program.is_put_together(id) =>
            {
                self.zero_of_its_type(id, level)
            }
            _ => {
                let span = if program.is_result(id) { variable.name.span() } else { Span::call_site() };
                quote_spanned!(span=> __pb::zero())
            }
        };
        self.levels[level].out.extend(quote!(let mut #shadow = #zero;));
    }

    /// A zero for the shadow of a variable of this level, of the type that a value tells.
    fn zero_of_its_type(&mut self, id: VarId, level: usize) -> TokenStream {
        let variable = &self.program.variables[id];
        if variable.memory || self.levels[level].current.contains_key(&id) {
            let name = self.any_value(id);
            return quote!(__pb::zero_of(&#name));
        }
        // A statement that may leave the block has given the value, which is there in the block's rest only.
        let top = self.top();
        let current = At {
            block: self.levels[top].block,
            versions: std::rc::Rc::new(self.levels[top].current.clone()),
        };
        let name = self.place(&Place { base: id, projections: Vec::new() }, &current, top);
        let shadow = &variable.shadow;
        self.emit(quote!(__pb::is_gradient_of(&#shadow, &#name);));
        quote!(__pb::zero())
    }

    /// The shadow of a local comes from a pool: it may own memory.
    pub(crate) fn is_pooled(&self, id: VarId) -> bool {
        let variable = &self.program.variables[id];
        let plain = variable.zero.is_some() || variable.kind == Kind::Float || !variable.memory;
        !plain && (variable.origin == Origin::Local || !matches!(variable.kind, Kind::Sequence(_)))
    }

    /// Some value of the variable, to tell its type.
    pub(crate) fn any_value(&mut self, id: VarId) -> TokenStream {
        let variable = &self.program.variables[id];
        if variable.memory {
            self.present(id);
        }
        let level = self.level_of(variable.block);
        let mut versions = self.levels[level].current.clone();
        if let Some(definition) = versions.get_mut(&id).filter(|_| !variable.memory) {
            *definition = self.program.lasting(*definition);
        }
        let current = At { block: variable.block, versions: std::rc::Rc::new(versions) };
        let place = Place { base: id, projections: Vec::new() };
        if variable.memory {
            let name = &variable.unique;
            quote!(#name)
        } else {
            self.place(&place, &current, level)
        }
    }

    /// The shadow of a variable, where it is a view: that of a reference, or of what a closure has captured.
    pub(crate) fn view(&self, id: VarId) -> Option<Ident> {
        let variable = &self.program.variables[id];
        if variable.by_reference() { Some(variable.shadow.clone()) } else { self.captured.get(&id).cloned() }
    }

    /// A shadow for what a local holds, full of zeros.
    pub(crate) fn shadow_from_pool(&mut self, id: VarId) -> TokenStream {
        let (pool, name) = (self.pool(id), &self.program.variables[id].unique);
        if self.program.departing.contains(&id) {
            return quote!((&&&__pb::Leaving::of(&#name)).rest(&#name, #pool));
        }
        if self.program.may_be_left(id) && !self.program.takes_rows(id) {
            return quote!(#pool.take_rest(&#name));
        }
        if self.program.takes_rows(id) {
            let (stock, returns_rows) = (self.pool_of_rows(id), self.row_spares(id).is_some());
            let take = Program::fresh(if returns_rows { "fit_rows" } else { "take_rows" });
            return quote!(#pool.#take(&#name, #stock));
        }
        self.taken_from(&pool, id, &name.to_token_stream())
    }

    /// A zero shadow from the pool of a local with this `value`.
    fn taken_from(&self, pool: &Ident, id: VarId, value: &TokenStream) -> TokenStream {
        let held = self.shaped(id, value);
        if self.program.hands_boxes_on(id) {
            return quote!(#pool.take_held(#held));
        }
        match self.program.variables[id].positional && self.program.is_result(id) {
            true => quote!(#pool.take_returned(#held)),
            false => quote!(#pool.take(#held)),
        }
    }

    /// What takes the place of the shadow of a local where that is a part of another shadow which goes to the pool `of_whole`. With one pool for
    /// both, as where a list gets longer, there is nothing: the whole goes there without the part.
    pub(crate) fn in_place_of_part(&mut self, id: VarId, of_whole: &Ident) -> TokenStream {
        if *of_whole == self.pool(id) && self.program.hands_boxes_on(id) {
            return quote!(::core::default::Default::default());
        }
        self.shadow_from_pool(id)
    }

    /// A reference to what tells the shape of the shadow of a local with this `value`.
    pub(crate) fn shaped(&self, id: VarId, value: &TokenStream) -> TokenStream {
        if self.program.boxes.contains(&id) { quote!(__pb::in_box(&#value)) } else { quote!(&#value) }
    }

    /// The shadow of the last view on the way to a place, out of that of the whole variable, and what follows the view. The place may be
    /// one to be written to.
    pub(crate) fn viewed<'a>(
        &mut self,
        whole: &Ident,
        place: &'a Place,
        unique: bool,
        at: &At,
    ) -> (Ident, &'a [Projection]) {
        let (mut shadow, mut first) = (whole.clone(), 0);
        for (i, projection) in place.projections.iter().enumerate() {
            shadow = match projection {
                Projection::View(..) => {
                    let level = self.top();
                    let path = self.projections(&place.projections[first..=i], at, level);
                    let (part, cells) = (self.kept.fresh("cells"), Program::fresh("d"));
                    self.emit(quote!(let #part = #shadow.project(|#cells| #cells #path);));
                    part
                }
                projection if projection.is_of_user() => {
                    self.selected(&shadow, place, (first, i), unique, at)
                }
                _ => continue,
            };
            first = i + 1;
        }
        (shadow, &place.projections[first..])
    }

    /// Likewise for a variable that may hold its shadow itself: views of that need no names. The shadow of a variable is a view of cells
    /// if the last part is true.
    fn held<'a>(&mut self, place: &'a Place, unique: bool, at: &At) -> (Ident, &'a [Projection], bool) {
        let variable = &self.program.variables[place.base];
        if variable.by_reference() {
            let (shadow, rest) = self.viewed(&variable.shadow, place, unique, at);
            return (shadow, rest, true);
        }
        if place.projections.iter().any(Projection::is_of_user) {
            let whole = self.view_of(place.base, at);
            let (shadow, rest) = self.viewed(&whole, place, unique, at);
            return (shadow, rest, true);
        }
        (variable.shadow.clone(), &place.projections, false)
    }

    /// The slot that keeps the shadow of a local between calls.
    pub(crate) fn pool(&mut self, id: VarId) -> Ident {
        let variables = &self.program.variables;
        if let Some(whole) = variables[id].row_of {
            return self.pool_of_rows(whole);
        }
        self.named_pool(format_ident!("pool_{}", variables[variables[id].pool].shadow))
    }

    /// The slot that keeps the shadows of rows that are pushed to a local.
    pub(crate) fn pool_of_rows(&mut self, id: VarId) -> Ident {
        let variables = &self.program.variables;
        self.named_pool(format_ident!("rows_of_{}", variables[variables[id].rows].shadow))
    }

    fn named_pool(&mut self, name: Ident) -> Ident {
        if !self.slots.iter().any(|slot| slot.name == name) {
            self.slots.push(Slot { name: name.clone(), init: quote!(__pb::Pool::new()) });
        }
        name
    }

    pub(crate) fn give_back(&mut self, id: VarId) {
        if self.lent.contains(&id) {
            let (pool, shadow) = (self.pool(id), &self.program.variables[id].shadow);
            self.emit(quote!(#pool.give(#shadow);));
        }
    }

    pub(crate) fn accumulate(&mut self, place: &Place, d: &Cotangent, at: &At) {
        let program = self.program;
        let variable = &program.variables[place.base];
        if !variable.active {
            return;
        }
        if self.comes_to_form(place, d) {
            return;
        }
        let d = &self.where_seen(place, d);
        let level = self.top();
        if let Some(offset) = self.near_index(place) {
            let Level { stencil, out, .. } = &mut self.levels[level];
            out.extend(stencil.gather(place.base, offset, &d.tokens, &mut self.kept));
            return;
        }
        if self.is_common(place) {
            self.declare(place.base);
            let Level { stencil, out, .. } = &mut self.levels[level];
            out.extend(stencil.gather_common(place.base, &d.tokens, &mut self.kept));
            return;
        }
        if let Some((row, index)) = self.element_of_row(place, at, level, Holder::Shadow) {
            let cells = Program::fresh("d");
            return self.emit(quote!(#row.accumulate(|#cells| &#cells[#index], #d);));
        }
        if place.projections.iter().any(Projection::is_of_user) {
            let whole = self.view_of(place.base, at);
            let (shadow, rest) = self.viewed(&whole, place, false, at);
            let projections = self.projections(rest, at, level);
            return self.add_to_cells(&shadow, &projections, d);
        }
        let viewed = place.projections.iter().any(|p| matches!(p, Projection::View(..)));
        let projections = self.projections_mut(&place.projections, at, level);
        let shadow = &variable.shadow;
        let number = program.kind_of_place(place) == Kind::Float && !program.generic();
        let gathered = number
            && !viewed
            && (!projections.is_empty() || self.waits_for_sums(place.base))
            && self.captured.is_empty()
            && program.settled(place);
        let contribution = |shadow: Ident, element: Element| Contribution {
            place: place.clone(),
            at: at.clone(),
            shadow,
            projections: projections.clone(),
            element,
            d: d.tokens.clone(),
        };
        if let Some(shadow) = self.view(place.base) {
            if gathered {
                return self.levels[level].out.contribute(contribution(shadow, Element::View));
            }
            let (shadow, rest) = self.viewed(&shadow, place, false, at);
            let projections = if viewed { self.projections(rest, at, level) } else { projections };
            return self.add_to_cells(&shadow, &projections, d);
        }
        let home = self.level_of(variable.block);
        if projections.is_empty() && home == level && self.levels[home].declared.insert(place.base) {
            return self.emit(quote!(let mut #shadow = #d;));
        }
        self.declare(place.base);
        // A zero whose type is still to be inferred takes no operators.
        if gathered {
            self.levels[level].out.contribute(contribution(shadow.clone(), Element::Number));
        } else if number {
            self.emit(quote!(#shadow #projections += #d;));
        } else if place.projections.iter().any(|p| matches!(p, Projection::Field(_))) {
            self.emit(quote!(__pb::accumulate_part(&mut #shadow #projections, #d);));
        } else if projections.is_empty() && program.is_result(place.base) {
            // What owns memory has no such sum.
            let span = variable.name.span();
            self.emit(quote_spanned!(span=> __pb::accumulate(&mut #shadow, #d);));
        } else {
            self.emit(quote!(__pb::accumulate(&mut #shadow #projections, #d);));
        }
    }

    /// Adds to a part of a shadow that is a view.
    fn add_to_cells(&mut self, shadow: &Ident, projections: &TokenStream, d: &Cotangent) {
        let cells = Program::fresh("d");
        let part = if projections.is_empty() { quote!(*#cells) } else { quote!(&#cells #projections) };
        self.emit(quote!(#shadow.accumulate(|#cells| #part, #d);));
    }

    /// The offset of an element from the index of the innermost loop, of an array that this does not write. Nobody reads its shadow
    /// meanwhile, so that additions to it can wait.
    pub(crate) fn near_index(&self, place: &Place) -> Option<i64> {
        let level = &self.levels[self.top()];
        let index = level.index?;
        let [Projection::Index(position)] = place.projections[..] else { return None };
        let floats = self.program.kind_of_place(place) == Kind::Float;
        let waits = self.program.variables[place.base].by_reference()
            && self.program.only_reads(level.block, place.base);
        (floats && waits).then(|| self.program.offset(position, index))?
    }

    /// The additions to this number are what iterations of the innermost loop wait for: nothing else is handed on from one to the next.
    fn waits_for_sums(&self, id: VarId) -> bool {
        let (program, level) = (self.program, &self.levels[self.top()]);
        let number = |id: VarId| !program.variables[id].memory && program.variables[id].active;
        level.index.is_some()
            && program.variables[id].block != level.block
            && !program.variables[id].by_reference()
            && !program.written(level.block).into_iter().any(number)
    }

    pub(crate) fn read_shadow(&mut self, place: &Place, at: &At) -> Cotangent {
        let variable = &self.program.variables[place.base];
        if place.projections.is_empty() && !variable.by_reference() {
            let shadow = &variable.shadow;
            return Cotangent::atom(quote!(#shadow));
        }
        self.out_of_shadow(place, at, false)
    }

    pub(crate) fn take_shadow(&mut self, place: &Place, at: &At) -> Cotangent {
        self.out_of_shadow(place, at, true)
    }

    /// The gradient with respect to a place, which is zero afterwards if it is `taken`.
    fn out_of_shadow(&mut self, place: &Place, at: &At, taken: bool) -> Cotangent {
        let level = self.top();
        let (shadow, projections, view) = match self.own_element(place, level) {
            Some((row, lane)) => (row, quote!([#lane]), self.program.variables[place.base].by_reference()),
            None => {
                let (shadow, rest, view) = self.held(place, true, at);
                (shadow, self.projections_to(rest, taken, at, level), view)
            }
        };
        let name = self.kept.fresh("d");
        let value = if view {
            let (cells, method) = (Program::fresh("d"), Program::fresh(if taken { "take" } else { "read" }));
            let part = if projections.is_empty() { quote!(*#cells) } else { quote!(&#cells #projections) };
            quote!(#shadow.#method(|#cells| #part))
        } else if taken {
            quote!(__pb::take(&mut #shadow #projections))
        } else {
            quote!(#shadow #projections)
        };
        self.levels[level].out.access(place, at, quote!(let #name = #value;));
        Cotangent::atom(quote!(#name))
    }
}

impl Program {
    /// The variable is assigned a tuple or a struct as a whole, each part of which has the gradient of one of the variable's.
    fn is_put_together(&self, id: VarId) -> bool {
        let mut statements = self.blocks.iter().flat_map(|block| &block.statements);
        statements.any(|statement| match &statement.kind {
            StatementKind::Assign(Assign { place, value, .. }) if place.base == id => {
                let made = &self.exprs[self.peel(*value)].kind;
                place.projections.is_empty() && matches!(made, ExprKind::Tuple(_) | ExprKind::Struct(_))
            }
            _ => false,
        })
    }
}

fn zero_tokens(zero: &Zero, scalar: &TokenStream) -> TokenStream {
    match zero {
        Zero::Scalar => scalar.clone(),
        Zero::Repeat(element, len) => {
            let element = zero_tokens(element, scalar);
            quote!([#element; #len])
        }
        Zero::List(elements) => {
            let elements = elements.iter().map(|element| zero_tokens(element, scalar));
            quote!([#(#elements),*])
        }
    }
}
