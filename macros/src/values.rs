//! The values that a pullback reads: evaluated again where what they are computed from is still there, kept otherwise.

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::Ident;
use syn::visit::Visit;

use crate::escape::is_panic;
use crate::iterators::integers::is_other_type;
use crate::kept::Item;
use crate::kind::reused_method;
use crate::program::*;
use crate::rename::Bindings;
use crate::reverse::Reverse;
use crate::rows::Holder;
use crate::sweep::{MemoryRead, Moment};

const CHANGED: &str = "what this refers to is changed by code that cannot be undone: copy the number, `let v = w[i];`, `for &v in &w`, or \
     change a copy of the whole, under a name of its own";

impl Reverse<'_> {
    /// The innermost level of the reverse pass.
    pub(crate) fn top(&self) -> usize {
        self.levels.len() - 1
    }

    pub(crate) fn level_of(&self, block: BlockId) -> usize {
        self.levels
            .iter()
            .rposition(|level| level.block == block)
            .expect("a variable is used within its block")
    }

    /// What a variable in memory held at `at` is what it holds now, in the reverse pass of `level`.
    pub(crate) fn intact(&self, variable: VarId, at: &At, level: usize) -> bool {
        let variable_is = &self.program.variables[variable];
        if variable_is.disturbed {
            return false;
        }
        let version = at.versions.get(&variable);
        if variable_is.unrestored
            && version != self.program.blocks[variable_is.block].end.versions.get(&variable)
        {
            return false;
        }
        !variable_is.memory || version == self.levels[level].current.get(&variable)
    }

    /// Records that the reverse pass reads memory as it is at `at`, so that later writes have to be undone.
    pub(crate) fn reads_memory(&mut self, variable: VarId, at: &At, level: usize) {
        self.reads_part(variable, at, level, Vec::new());
    }

    /// Likewise, where only elements of its own are read in the iterations of some loops.
    fn reads_part(&mut self, variable: VarId, at: &At, level: usize, own: Vec<(BlockId, Moment)>) {
        if !self.program.variables[variable].memory {
            return;
        }
        let Some(&version) = at.versions.get(&variable) else { return };
        let loops = self.loops(level);
        self.reads.push(MemoryRead { variable, version, loops, own });
        self.present(variable);
    }

    /// Makes a local that lives in memory available to the reverse pass.
    pub(crate) fn present(&mut self, id: VarId) {
        let variable = &self.program.variables[id];
        // What was moved comes back by the opposite move.
        if self.program.is_returned(id) {
            if self.program.boxes.contains(&id) {
                self.errors.push(&variable.name, crate::boxing::READ);
            }
            self.copies(id);
        } else if variable.memory && !variable.by_reference() && !(variable.moved && variable.active) {
            let name = &variable.unique;
            if self.program.is_referred(id) && self.kept.name(variable.block, Item::Final(id)).is_none() {
                let level = self.level_of(variable.block);
                self.levels[level].out.extend(quote!(let mut #name = #name.again();));
            }
            self.kept.keep_as(variable.block, Item::Final(id), name.clone());
        }
    }

    /// `expr` can be evaluated again in the reverse pass of `level`, out of what is there or kept.
    pub(crate) fn replayable(&self, expr: ExprId, at: &At, level: usize) -> bool {
        if self.kept.name(at.block, Item::Value(expr)).is_some()
            || self.levels[level].temporaries.contains_key(&expr)
        {
            return true;
        }
        match &self.program.exprs[expr].kind {
            ExprKind::Constant(constant) => {
                let there = |id: &VarId| {
                    self.program.shape_alone(constant, *id)
                        || self.intact(*id, at, level)
                        || self.looked_at(expr, *id, at).is_some_and(|place| self.is_back(place, at))
                };
                let found =
                    |id: &VarId| self.program.is_referred(*id) && self.program.kind_of(expr) != Kind::Unknown;
                constant.pure && constant.mentions.iter().all(there) && !constant.mentions.iter().any(found)
            }
            // What has been found may be lent: a part of it is kept instead.
            ExprKind::Read(place)
                if !place.projections.is_empty() && self.program.is_referred(place.base) =>
            {
                false
            }
            ExprKind::Read(place) | ExprKind::Borrow { place, unique: false } => {
                (self.intact(place.base, at, level) || self.is_back(place, at))
                    && place
                        .indices()
                        .all(|i| self.replayable(i, self.program.frozen.get(&i).unwrap_or(at), level))
            }
            // What else is made of it can be.
            _ if self.is_stored(expr, at) => self.is_reused(expr, at),
            ExprKind::Borrow { .. } => false,
            kind if kind.happens_once() => false,
            ExprKind::If { .. } | ExprKind::Block(_) => {
                self.program.operands(expr).into_iter().all(|e| self.replayable(e, at, level))
                    && self.program.blocks_of(expr).into_iter().all(|b| {
                        let block = &self.program.blocks[b];
                        block.statements.is_empty()
                            && block.value.is_some_and(|v| self.replayable(v, at, level))
                    })
            }
            ExprKind::Match(m) if m.arms.iter().any(|arm| self.program.hands_on(arm)) => false,
            _ => self.program.operands(expr).into_iter().all(|e| self.replayable(e, at, level)),
        }
    }

    /// This is kept rather than computed again: it takes long, and something is kept anyway, or the user says so.
    fn is_stored(&self, expr: ExprId, at: &At) -> bool {
        let ExprKind::Method { name, .. } = &self.program.exprs[expr].kind else { return false };
        let kept = self.program.stored.contains(&at.block) || self.keeping.keeps(at.block, &name.to_string());
        // A branch of what is computed again is a block of its own.
        kept && self.program.stands_in(expr, at.block)
    }

    /// Likewise, by itself, so that what is made of it can be computed again.
    fn is_reused(&self, expr: ExprId, at: &At) -> bool {
        let method = matches!(&self.program.exprs[expr].kind, ExprKind::Method { name, .. } if reused_method(&name.to_string()));
        method && self.keeping.reuses(at.block)
    }

    /// The derivatives of the method `expr` are kept: what `operands`, of which some carry gradients, are multiplied by.
    pub(crate) fn slopes(
        &mut self,
        expr: ExprId,
        operands: &[ExprId],
        at: &At,
    ) -> Option<Vec<Option<TokenStream>>> {
        let float = operands.iter().any(|e| self.program.kind_of(*e) == Kind::Float);
        let single =
            !matches!(&self.program.exprs[expr].kind, ExprKind::Method { name, .. } if name == "sin_cos");
        if !(single && float && self.is_stored(expr, at)) {
            return None;
        }
        if let Some(slope) = self.slope_at_hand(expr, operands[0], at) {
            return Some(vec![Some(slope)]);
        }
        let active = |e: &ExprId| self.program.exprs[*e].active;
        let active: Vec<_> = operands.iter().map(active).collect();
        let mut keep = |(i, active): (usize, &bool)| {
            active.then(|| self.kept.keep(at.block, Item::Slope(expr, i), "slope"))
        };
        Some(
            active.iter().enumerate().map(&mut keep).map(|slope| slope.map(|slope| quote!(#slope))).collect(),
        )
    }

    /// The derivative of a method whose value is kept, if it is a value that is kept itself: its own, in the case of `exp`, or that of
    /// the `cos` which stands beside a `sin`.
    fn slope_at_hand(&mut self, expr: ExprId, operand: ExprId, at: &At) -> Option<TokenStream> {
        let program = self.program;
        let ExprKind::Method { name, .. } = &program.exprs[expr].kind else { return None };
        let level = self.top();
        let partner = match &*name.to_string() {
            "exp" => return Some(self.text(expr, at, level)),
            "sin" => "cos",
            "cos" => "sin",
            _ => return None,
        };
        let number = |e: ExprId| match &program.exprs[program.peel(e)].kind {
            ExprKind::Read(place)
                if place.projections.is_empty() && !program.variables[place.base].memory =>
            {
                Some(place.base)
            }
            _ => None,
        };
        let id = number(operand)?;
        let found = program.blocks[at.block].statements.iter().find_map(|statement| {
            let initial = match &statement.kind {
                StatementKind::Let(l) => l.init?,
                StatementKind::Assign(assign) => assign.value,
                _ => return None,
            };
            let same = statement.before.versions.get(&id)? == at.versions.get(&id)?;
            let is_partner = |e: &ExprId| match &program.exprs[*e].kind {
                ExprKind::Method { receiver, name, .. } => name == partner && number(*receiver) == Some(id),
                _ => false,
            };
            let other = program.tree(initial).into_iter().find(is_partner).filter(|_| same)?;
            Some((other, statement.before.clone()))
        });
        let (other, at) = found?;
        let value = self.text(other, &at, level);
        Some(if partner == "sin" { quote!(-#value) } else { value })
    }

    /// Evaluating `expr` again asks for nothing that would have to be kept.
    pub(crate) fn free(&self, expr: ExprId, at: &At, level: usize) -> bool {
        if !self.replayable(expr, at, level) {
            return false;
        }
        if self.is_reused(expr, at) {
            // Its own pullback reads it.
            return self.program.exprs[expr].active;
        }
        let mentioned: Vec<VarId> = match &self.program.exprs[expr].kind {
            ExprKind::Constant(constant) => constant.mentions.clone(),
            ExprKind::Read(place) | ExprKind::Borrow { place, .. } => vec![place.base],
            _ => Vec::new(),
        };
        mentioned.into_iter().all(|id| {
            let variable = &self.program.variables[id];
            if variable.memory {
                return variable.by_reference();
            }
            match at.versions.get(&id).map(|def| &self.program.definitions[*def]) {
                Some(Definition::Given { .. }) => true,
                Some(Definition::Computed { expr, at, .. }) => {
                    let level = self.levels.iter().rposition(|l| l.block == at.block);
                    level.is_some_and(|level| self.free(*expr, at, level))
                }
                _ => false,
            }
        }) && self.program.operands(expr).into_iter().all(|e| self.free(e, at, level))
            && self
                .program
                .blocks_of(expr)
                .into_iter()
                .all(|b| self.program.blocks[b].value.is_some_and(|v| self.free(v, at, level)))
    }

    /// The name under which the value of a definition is known in the reverse pass.
    pub(crate) fn definition(&mut self, def: DefId) -> Ident {
        let program = self.program;
        match &program.definitions[def] {
            Definition::Given { variable } => program.variables[*variable].unique.clone(),
            Definition::Entry { variable, block } => {
                if let Some(name) = self.counted(def, *variable) {
                    return name;
                }
                self.keep_definition(def, *variable, *block, "in")
            }
            Definition::Merged { variable, block } => self.keep_definition(def, *variable, *block, "out"),
            Definition::Bound { variable, expr, arm, at } => self.bound(def, *variable, (*expr, *arm), at),
            Definition::Computed { variable, expr, at } => {
                if self.at_hand(def) {
                    return program.variables[*variable].name.clone();
                }
                let level = self.level_of(at.block);
                if let Some(name) = self.levels[level].names.get(&def) {
                    return name.clone();
                }
                if !self.replayable(*expr, at, level) && !self.is_stored(*expr, at) {
                    self.refuse_disturbed(*expr);
                    return self.keep_definition(def, *variable, at.block, "at");
                }
                let variable = &program.variables[*variable];
                let first = !self.named.contains(&variable.unique.to_string());
                let name = if first {
                    variable.unique.clone()
                } else {
                    self.kept.fresh(&variable.unique.to_string())
                };
                self.named.insert(variable.unique.to_string());
                let text = self.text(*expr, at, level);
                // What is evaluated as it was written may be inferred from its type, `let n: usize = text.parse().unwrap();`.
                let Expr { kind, active, .. } = &program.exprs[*expr];
                let inferred = !active && matches!(kind, ExprKind::Constant(_) | ExprKind::Method { .. });
                // Methods of an integer need its type.
                let integer = !active && variable.ty.as_deref().is_some_and(is_other_type);
                let ty = variable.ty.as_ref().filter(|_| inferred || integer || program.only_literals(*expr));
                let ty = ty.map(|ty| crate::passing::at("'_", ty)).map(|ty| quote!(: #ty));
                self.levels[level].out.extend(quote!(let #name #ty = #text;));
                self.levels[level].names.insert(def, name.clone());
                name
            }
        }
    }

    /// Keeps what `block` has as the value of `variable`.
    pub(crate) fn keep_definition(
        &mut self,
        def: DefId,
        variable: VarId,
        block: BlockId,
        when: &str,
    ) -> Ident {
        let (referred, variable) = (self.program.is_referred(variable), &self.program.variables[variable]);
        let level = self.level_of(block);
        if let Some(name) = self.levels[level].names.get(&def).filter(|_| referred) {
            return name.clone();
        }
        let kept = self.kept.keep(block, Item::Definition(def), &format!("{}_{when}", variable.unique));
        if !referred {
            return kept;
        }
        let name = self.kept.fresh(&variable.unique.to_string());
        self.levels[level].out.extend(quote!(let #name = #kept.again();));
        self.levels[level].names.insert(def, name.clone());
        name
    }

    /// The place, as an expression of the reverse pass.
    pub(crate) fn place(&mut self, place: &Place, at: &At, level: usize) -> TokenStream {
        self.place_to(place, false, at, level)
    }

    fn place_mut(&mut self, place: &Place, at: &At, level: usize) -> TokenStream {
        self.place_to(place, true, at, level)
    }

    fn place_to(&mut self, place: &Place, unique: bool, at: &At, level: usize) -> TokenStream {
        let variable = &self.program.variables[place.base];
        let stored = variable.memory || variable.by_reference();
        if stored {
            let own = self.own_elements(place, at);
            self.reads_part(place.base, at, level, own);
        }
        if let (false, Some((row, index))) = (unique, self.element_of_row(place, at, level, Holder::Value)) {
            return quote!(#row[#index]);
        }
        let base = if stored { variable.unique.clone() } else { self.definition(at.versions[&place.base]) };
        let deref = matches!(place.projections.first(), Some(Projection::Deref));
        let base = if deref { quote!((*#base)) } else { quote!(#base) };
        self.part(base, &place.projections, unique, at, level)
    }

    /// The part of `base` that `projections` lead to.
    pub(crate) fn part(
        &mut self,
        base: TokenStream,
        projections: &[Projection],
        unique: bool,
        at: &At,
        level: usize,
    ) -> TokenStream {
        let selected = projections.iter().enumerate().rev().find_map(|(i, p)| match p {
            Projection::Selected(method, args, _) => Some((i, method, args)),
            _ => None,
        });
        if let Some(i) = projections.iter().rposition(|p| matches!(p, Projection::Deref)).filter(|i| *i > 0)
            && selected.is_none_or(|(selected, ..)| selected < i)
        {
            let whole = self.part(base, &projections[..i], unique, at, level);
            let projections = self.projections_to(&projections[i + 1..], unique, at, level);
            return quote!((*#whole) #projections);
        }
        let Some((i, method, args)) = selected else {
            let projections = self.projections_to(projections, unique, at, level);
            return quote!(#base #projections);
        };
        let whole = self.part(base, &projections[..i], unique, at, level);
        let args: Vec<_> = args.iter().map(|arg| self.position(*arg, at, level)).collect();
        let projections = self.projections_to(&projections[i + 1..], unique, at, level);
        quote!((*#whole.#method(#(#args),*)) #projections)
    }

    /// `[i].field…`
    pub(crate) fn projections(&mut self, projections: &[Projection], at: &At, level: usize) -> TokenStream {
        self.projections_to(projections, false, at, level)
    }

    /// Likewise, for a place that is written to.
    pub(crate) fn projections_mut(
        &mut self,
        projections: &[Projection],
        at: &At,
        level: usize,
    ) -> TokenStream {
        self.projections_to(projections, true, at, level)
    }

    pub(crate) fn projections_to(
        &mut self,
        projections: &[Projection],
        unique: bool,
        at: &At,
        level: usize,
    ) -> TokenStream {
        let mut tokens = TokenStream::new();
        for projection in projections {
            match projection {
                Projection::Index(index) | Projection::Indexed(index, _) => {
                    let index = self.position(*index, at, level);
                    tokens.extend(quote!([#index]));
                }
                Projection::Field(member) => tokens.extend(quote!(.#member)),
                Projection::Deref => {}
                Projection::View(view, args) => {
                    let view = if unique { crate::arrays::written(view) } else { view.clone() };
                    let args: Vec<_> = args.iter().map(|arg| self.position(*arg, at, level)).collect();
                    tokens.extend(quote!(.#view(#(#args),*)));
                }
                Projection::Selected(..) => unreachable!("what stands before it has been put in front"),
            }
        }
        tokens
    }

    /// What a part is selected by.
    pub(crate) fn position(&mut self, index: ExprId, at: &At, level: usize) -> TokenStream {
        let at = self.program.frozen.get(&index).unwrap_or(at);
        let text = self.text(index, at, level);
        let kept = self.kept.name(at.block, Item::Value(index)).is_some();
        // A range is not `Copy`.
        let range = kept && matches!(self.program.exprs[index].syntax, syn::Expr::Range(_));
        if range { quote!(#text.clone()) } else { text }
    }

    /// An expression for the value that `expr` had at `at`, for use at `level`.
    pub(crate) fn text(&mut self, expr: ExprId, at: &At, level: usize) -> TokenStream {
        if let Some(name) = self.kept.name(at.block, Item::Value(expr)) {
            return self.program.kept_value(expr, &name);
        }
        if let Some(name) = self.levels[level].temporaries.get(&expr) {
            return quote!(#name);
        }
        let program = self.program;
        let node = &program.exprs[expr];
        // Of a `Result` that a call returns, the error need not be `Copy`.
        let made_option = matches!(&node.kind, ExprKind::Method { name, .. } if name == "ok");
        let whole = !node.active || self.is_leaf(expr) || self.is_stored(expr, at) || made_option;
        let again = self.replayable(expr, at, level) && !self.is_reused(expr, at) && !made_option;
        if whole && !matches!(node.kind, ExprKind::Borrow { .. }) && !again {
            let name = self.kept.keep(at.block, Item::Value(expr), "value");
            return program.kept_value(expr, &name);
        }
        if !again {
            self.refuse_disturbed(expr);
        }
        let text = self.evaluated(expr, at, level);
        program.lifted(expr, text)
    }

    /// Reports a reference to a constant that is needed as it has been, and that code changes which nothing undoes.
    fn refuse_disturbed(&mut self, expr: ExprId) {
        let node = &self.program.exprs[expr];
        let ExprKind::Borrow { place, unique: false } = &node.kind else { return };
        let variable = &self.program.variables[place.base];
        // A reference that is written out is an argument, of which the pullback of the call tells.
        let named = !matches!(node.syntax, syn::Expr::Reference(_));
        if named
            && !variable.active
            && (variable.disturbed || variable.unrestored)
            && variable.origin == Origin::Local
        {
            self.errors.push(&node.syntax, CHANGED);
        }
    }

    fn evaluated(&mut self, expr: ExprId, at: &At, level: usize) -> TokenStream {
        let program = self.program;
        let node = &program.exprs[expr];
        match &node.kind {
            ExprKind::Constant(_) if matches!(&node.syntax, syn::Expr::Macro(m) if is_panic(&m.mac)) => {
                quote!(::core::unreachable!())
            }
            ExprKind::Constant(constant) => {
                for id in &constant.mentions {
                    if !program.shape_alone(constant, *id) {
                        let own = self.looked_at(expr, *id, at).map(|place| self.own_elements(place, at));
                        self.reads_part(*id, at, level, own.unwrap_or_default());
                    }
                }
                self.substitute(node.syntax.to_token_stream(), constant, at, level)
            }
            ExprKind::Read(place) => {
                let text = self.place(place, at, level);
                let deref = place.projections.is_empty() && program.variables[place.base].by_reference();
                if deref && program.kind_of(expr) == Kind::Float { quote!((*#text)) } else { text }
            }
            ExprKind::Borrow { place, unique } => {
                let text = match unique {
                    true => self.place_mut(place, at, level),
                    false => self.place(place, at, level),
                };
                let variable = &program.variables[place.base];
                let reference = place.projections.is_empty() && variable.by_reference();
                let referred =
                    variable.origin == Origin::Either && matches!(node.syntax, syn::Expr::Reference(_));
                match (reference && !referred, unique) {
                    (true, true) => text,
                    (true, false) => text,
                    (false, true) => quote!(&mut #text),
                    (false, false) => quote!(&#text),
                }
            }
            ExprKind::Neg(e) => {
                let e = self.text(*e, at, level);
                quote!(-#e)
            }
            ExprKind::Paren(e) => {
                let inner = self.text(*e, at, level);
                if self.levels[level].temporaries.contains_key(e) { inner } else { quote!((#inner)) }
            }
            ExprKind::Binary { op, left, right } => {
                let (left, right) = (self.text(*left, at, level), self.text(*right, at, level));
                quote!(#left #op #right)
            }
            ExprKind::Cast(e, ty) => {
                let e = self.text(*e, at, level);
                program.cast(expr, e, ty)
            }
            ExprKind::Method { receiver, args, .. } => {
                let receiver = self.text(*receiver, at, level);
                let args: Vec<_> = args.iter().map(|a| self.text(*a, at, level)).collect();
                program.method_call(expr, receiver, &args)
            }
            ExprKind::If { cond, then, otherwise } => {
                let cond = self.text(*cond, at, level);
                let then = self.block_text(*then, at, level);
                let otherwise = otherwise.map(|b| {
                    let block = self.block_text(b, at, level);
                    quote!(else { #block })
                });
                quote!(if #cond { #then } #otherwise)
            }
            ExprKind::Block(block) => {
                let text = self.block_text(*block, at, level);
                quote!({ #text })
            }
            ExprKind::Tuple(elements) => {
                let elements: Vec<_> = elements.iter().map(|e| self.text(*e, at, level)).collect();
                quote!((#(#elements,)*))
            }
            ExprKind::Array(elements) => {
                let elements: Vec<_> = elements.iter().map(|e| self.text(*e, at, level)).collect();
                quote!([#(#elements),*])
            }
            ExprKind::Repeat(element, len) => {
                let element = self.text(*element, at, level);
                quote!([#element; #len])
            }
            ExprKind::Struct(literal) => {
                let values: Vec<_> = literal.fields.iter().map(|(_, e)| self.text(*e, at, level)).collect();
                let rest = literal.rest.map(|rest| self.text(rest, at, level));
                literal.tokens(&values, rest)
            }
            ExprKind::Wrap(path, args) => {
                let args: Vec<_> = args.iter().map(|arg| self.text(*arg, at, level)).collect();
                quote!(#path(#(#args),*))
            }
            ExprKind::Call { .. }
            | ExprKind::Mutation { .. }
            | ExprKind::Vector { .. }
            | ExprKind::Match(_)
            | ExprKind::Loop { .. }
            | ExprKind::Rest(_)
            | ExprKind::Exit { .. }
            | ExprKind::Callback(_)
            | ExprKind::Try(_)
            | ExprKind::Split(_) => unreachable!("kept above"),
        }
    }

    fn block_text(&mut self, block: BlockId, at: &At, level: usize) -> TokenStream {
        let Some(value) = self.program.blocks[block].value else { return TokenStream::new() };
        self.conditional += 1;
        let text = self.text(value, at, level);
        self.conditional -= 1;
        text
    }

    /// Kept as a whole when it cannot be evaluated again; of anything else the parts are.
    fn is_leaf(&self, expr: ExprId) -> bool {
        matches!(
            self.program.exprs[expr].kind,
            ExprKind::Constant(_)
                | ExprKind::Read(_)
                | ExprKind::Call { .. }
                | ExprKind::Mutation { .. }
                | ExprKind::Vector { .. }
                | ExprKind::If { .. }
                | ExprKind::Block(_)
                | ExprKind::Match(_)
                | ExprKind::Loop { .. }
                | ExprKind::Try(_)
                | ExprKind::Split(_)
        )
    }

    /// The value of `expr` at the innermost level as something that can be written several times: a name or an element.
    pub(crate) fn value(&mut self, expr: ExprId, at: &At) -> TokenStream {
        let expr = self.program.peel(expr);
        let level = self.top();
        let simple = match &self.program.exprs[expr].kind {
            ExprKind::Read(place) => !place.is_selected_mut(),
            ExprKind::Constant(_) => {
                matches!(self.program.exprs[expr].syntax, syn::Expr::Lit(_) | syn::Expr::Path(_))
            }
            _ => false,
        };
        if simple || self.levels[level].temporaries.contains_key(&expr) {
            return self.text(expr, at, level);
        }
        let text = self.text(expr, at, level);
        if let Ok(name) = syn::parse2::<Ident>(text.clone()) {
            return quote!(#name);
        }
        let name = self.kept.fresh("t");
        self.levels[level].out.extend(quote!(let #name = #text;));
        self.levels[level].temporaries.insert(expr, name.clone());
        quote!(#name)
    }

    /// Constant code with its names replaced by what stands for them in the reverse pass.
    fn substitute(&mut self, tokens: TokenStream, constant: &Constant, at: &At, level: usize) -> TokenStream {
        let (mut names, mut lets) = (Vec::new(), TokenStream::new());
        for (name, place) in &constant.aliases {
            let place = self.place(place, at, level);
            match binds(&tokens, name) {
                // Some pattern in there takes the name.
                true => lets.extend(quote!(let #name = &#place;)),
                false => names.push((name.clone(), quote!((&#place)))),
            }
        }
        for id in &constant.mentions {
            let variable = &self.program.variables[*id];
            let name = if variable.memory || variable.by_reference() {
                variable.unique.clone()
            } else {
                match at.versions.get(id) {
                    Some(def) => self.definition(*def),
                    None => continue,
                }
            };
            // What a pattern on a reference has bound is a copy here, and is written as what refers to it.
            names.push((
                variable.name.clone(),
                if variable.refers { quote!((&#name)) } else { quote!(#name) },
            ));
        }
        let replaced = replace(tokens, &names);
        if lets.is_empty() { replaced } else { quote!({ #lets #replaced }) }
    }
}

/// A pattern in the code binds `name`.
fn binds(code: &TokenStream, name: &Ident) -> bool {
    let mut bindings = Bindings::of(name);
    if let Ok(expr) = syn::parse2::<syn::Expr>(code.clone()) {
        bindings.visit_expr(&expr);
    }
    bindings.count > 0
}

/// Replaces names, but not those of fields and methods.
pub(crate) fn replace(tokens: TokenStream, names: &[(Ident, TokenStream)]) -> TokenStream {
    let mut dots = 0;
    let mut replaced = TokenStream::new();
    for token in tokens {
        let field = dots == 1;
        dots = match &token {
            TokenTree::Punct(punct) if punct.as_char() == '.' => dots + 1,
            _ => 0,
        };
        match token {
            TokenTree::Ident(ident) => match names.iter().find(|(name, _)| !field && *name == ident) {
                Some((_, text)) => replaced.extend(text.clone()),
                None => replaced.extend([ident]),
            },
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), replace(group.stream(), names));
                inner.set_span(group.span());
                replaced.extend([TokenTree::Group(inner)]);
            }
            token => replaced.extend([token]),
        }
    }
    replaced
}
