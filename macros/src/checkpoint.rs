//! Loops that are run again from checkpoints.
//!
//! The forward pass runs such a loop as the user wrote it, and before every so many iterations it keeps what these start from.
//! The reverse pass takes the segments one after the other, the last one first: it goes back to where the segment
//! started, runs it again, this time keeping what each iteration has to keep, and undoes it. With n iterations and a
//! checkpoint every √n of them, both what is kept and the time are of the order of √n times an iteration's state and of
//! twice the primal (Griewank, *Achieving logarithmic growth of temporal and spatial complexity in reverse automatic
//! differentiation*, 1992, section 2).

use proc_macro2::TokenStream;
use quote::quote;
use syn::Ident;

use crate::forward::Forward;
use crate::kept::Item;
use crate::program::*;
use crate::reverse::Reverse;

/// What one loop keeps at its checkpoints.
#[derive(Clone)]
pub(crate) struct Checkpoints {
    /// The slot of the variables that are numbers or arrays, and these.
    states: (Ident, Vec<VarId>),
    /// Those that own memory or refer to it, each with its slot.
    snapshots: Vec<(VarId, Ident)>,
}

/// A loop, as far as running it again is concerned.
pub(crate) struct Segmented<'a> {
    pub(crate) body: BlockId,
    pub(crate) every: ExprId,
    /// The pattern, and the range in the reverse pass; `None` for a `while` loop.
    pub(crate) range: Option<(&'a syn::Pat, TokenStream)>,
    pub(crate) index: Option<VarId>,
}

impl Reverse<'_> {
    /// Undoes a loop; `backward` undoes an iteration.
    pub(crate) fn undo_segments(
        &mut self,
        segmented: &Segmented<'_>,
        statement: &Statement,
        backward: &TokenStream,
    ) {
        let &Segmented { body, every, ref range, index } = segmented;
        let program = self.program;
        let (at, level) = (&statement.before, self.top());
        if let Some(why) = self.not_repeatable(body) {
            return self.errors.push(&program.exprs[every].syntax, why);
        }
        let count = self.kept.keep(at.block, Item::Count(statement.id), "count");
        let every = self.text(every, at, level);
        let checkpoints = self.checkpoints_of(body, statement);

        let Checkpoints { states: (states, numbers), snapshots } = &checkpoints;
        let mut restore = TokenStream::new();
        let (mut names, mut there, mut back) = (Vec::new(), TokenStream::new(), TokenStream::new());
        for id in numbers {
            let name = &program.variables[*id].name;
            names.push(quote!(mut #name));
        }
        for (id, slot) in snapshots {
            let unique = &program.variables[*id].unique;
            let place =
                if program.variables[*id].by_reference() { quote!(#unique) } else { quote!(&mut #unique) };
            restore.extend(quote!(#slot.restore(#place);));
        }
        for id in program.mentioned(body) {
            let variable = &program.variables[id];
            let (name, unique) = (&variable.name, &variable.unique);
            let changes = numbers.contains(&id) || snapshots.iter().any(|(other, _)| *other == id);
            if variable.memory && !changes {
                self.reads_memory(id, at, level);
            }
            match variable.origin {
                Origin::Shared => there.extend(quote!(let #name = #unique;)),
                Origin::Unique => there.extend(quote!(let #name = &mut *#unique;)),
                _ if variable.memory => {
                    self.present(id);
                    if !numbers.contains(&id) {
                        there.extend(quote!(let mut #name = #unique;));
                    }
                    back.extend(quote!(#unique = #name;));
                }
                _ if changes => {}
                _ => match at.versions.get(&id) {
                    Some(def) => {
                        let value = self.definition(*def);
                        there.extend(quote!(let #name = #value;));
                    }
                    // Each iteration gives it a value.
                    None => there.extend(quote!(let mut #name;)),
                },
            }
        }
        for (name, place) in program.names_for_places(body) {
            let reference = place.projections.is_empty() && program.variables[place.base].by_reference();
            let place = self.place(place, at, level);
            there.extend(if reference { quote!(let #name = #place;) } else { quote!(let #name = &#place;) });
        }
        if !numbers.is_empty() {
            restore.extend(quote!(let (#(#names,)*) = #states.pop();));
        }
        let (forward, residual) = self.iteration_again(body, statement.id);
        let (kept, stack) = (self.kept.pattern(body), self.stack(statement.id));
        let (pushed, popped) = match index {
            Some(id) => {
                let Variable { name, unique, .. } = &program.variables[id];
                (quote!((#name, #residual)), quote!((#unique, #kept)))
            }
            None => (residual, kept),
        };
        let (segment, indices) = (Program::fresh("segment"), Program::fresh("indices"));
        let (all, part) = match range {
            Some((pattern, range)) => {
                let start = quote!(#segment.start);
                (quote!(#pattern), quote!((#range).clone().skip(#start).take(#segment.len())))
            }
            None => (quote!(_), quote!(#segment.clone())),
        };
        self.checkpoints.insert(statement.id, checkpoints);
        self.emit(quote! {
            for #segment in __pb::segments(#count, #every) {
                {
                    let #indices = #part;
                    #restore
                    #there
                    let mut #stack = #stack.room(&#indices);
                    for #all in #indices { #forward #stack.push(#pushed); }
                    #back
                }
                for (_, #popped) in #stack.unwind(#segment) { #backward }
            }
        });
    }

    /// Why running the loop a second time would be something else than the first time.
    fn not_repeatable(&self, body: BlockId) -> Option<&'static str> {
        let program = self.program;
        let exits = program
            .nested(body)
            .into_iter()
            .flat_map(|block| program.roots(block))
            .flat_map(|root| program.tree(root))
            .any(|e| matches!(program.exprs[e].kind, ExprKind::Exit { .. } | ExprKind::Try(_)));
        if exits {
            return Some(
                "a loop with `break`, `continue`, `return` or `?` in it cannot be run again from a checkpoint: leave out the annotation",
            );
        }
        let function = |id: &VarId| program.variables[*id].origin == Origin::Function;
        if !program.called_within(body).is_empty() || program.mentioned(body).iter().any(function) {
            return Some(
                "a function that is a parameter is lent for one pass at a time, so that this loop cannot be run again from a checkpoint: leave out the annotation",
            );
        }
        for id in program.mentioned(body) {
            let variable = &program.variables[id];
            if variable.disturbed || variable.unrestored {
                return Some(
                    "this loop changes something by constant code, which a second run would find changed: leave out the annotation",
                );
            }
            if variable.heap && variable.active && (variable.moved || program.returned == Some(id)) {
                return Some(
                    "vectors that are moved, swapped or returned cannot be kept at checkpoints: copy their elements, or leave out the annotation",
                );
            }
        }
        let written = program.written(body);
        program.names_for_places(body).iter().any(|(_, place)| written.contains(&place.base)).then_some(
            "this loop changes a variable for which there is a second name from before the loop: introduce that name in the loop",
        )
    }

    fn checkpoints_of(&mut self, body: BlockId, statement: &Statement) -> Checkpoints {
        if let Some(known) = self.checkpoints.get(&statement.id) {
            return known.clone();
        }
        let program = self.program;
        let (mut numbers, mut snapshots) = (Vec::new(), Vec::new());
        for id in program.written(body) {
            let variable = &program.variables[id];
            if variable.by_reference() || variable.heap {
                let slot = self.slot("snapshots", quote!(__pb::Snapshots::new()));
                snapshots.push((id, slot));
            } else if statement.before.versions.contains_key(&id) {
                numbers.push(id);
            }
        }
        let states = match numbers.is_empty() {
            true => Program::fresh("states"),
            false => self.slot("states", quote!(__pb::Stack::new())),
        };
        Checkpoints { states: (states, numbers), snapshots }
    }

    /// The forward pass of an iteration under the user's names, and its residual.
    fn iteration_again(&mut self, body: BlockId, statement: StmtId) -> (TokenStream, TokenStream) {
        let mut forward = Forward::new(self.program, self);
        let (iteration, residual) = forward.closed(body, statement);
        if let Err(error) = forward.errors.finish() {
            self.errors.add(error);
        }
        (iteration, residual)
    }
}

impl Forward<'_> {
    /// A loop as the user wrote it, with its checkpoints.
    pub(crate) fn segments(&mut self, every: ExprId, statement: &Statement) -> TokenStream {
        let reverse = self.reverse;
        let Checkpoints { states: (states, numbers), snapshots } = &reverse.checkpoints[&statement.id];
        let name = |id: &VarId| &self.program.variables[*id].name;
        let mut keep = TokenStream::new();
        if !numbers.is_empty() {
            let names = numbers.iter().map(name);
            keep.extend(quote!(#states.push((#(#names,)*));));
        }
        for (id, slot) in snapshots {
            let name = name(id);
            let reference = self.program.variables[*id].by_reference();
            let place = if reference { quote!(&*#name) } else { quote!(&#name) };
            keep.extend(quote!(#slot.save(#place);));
        }
        let block = statement.before.block;
        let (head, body) = match &statement.kind {
            StatementKind::For(f) => {
                let (pattern, range) = (&f.pattern, self.expr(f.range, block));
                let (before, range) = match reverse.kept.name(block, Item::Range(statement.id)) {
                    Some(kept) => (quote!(let #kept = #range;), quote!(#kept.clone())),
                    None => (TokenStream::new(), range),
                };
                self.before.extend(before);
                (quote!(for #pattern in #range), f.body)
            }
            StatementKind::While(w) => {
                let cond = self.expr(w.cond, block);
                (quote!(while #cond), w.body)
            }
            _ => unreachable!("a loop"),
        };
        let (spacing, every) = (Program::fresh("every"), self.expr(every, block));
        let (start, count) = self.count(block, statement.id);
        let counter = reverse.kept.name(block, Item::Count(statement.id));
        let bare = Reverse::bare(self.program);
        let iteration = Forward::new(self.program, &bare).iteration(body);
        quote! {
            #start
            let #spacing = __pb::spacing(#every);
            #head {
                if #counter % #spacing == 0 { #keep }
                #count
                #iteration
            }
        }
    }
}

impl Program {
    /// The variables from outside that `block` mentions.
    pub(crate) fn mentioned(&self, block: BlockId) -> Vec<VarId> {
        let blocks = self.nested(block);
        let mut found = self.written(block);
        for &block in &blocks {
            for expr in self.roots(block).into_iter().flat_map(|root| self.tree(root)) {
                match &self.exprs[expr].kind {
                    ExprKind::Read(place) | ExprKind::Borrow { place, .. } => found.push(place.base),
                    ExprKind::Constant(constant) => found.extend(&constant.mentions),
                    _ => {}
                }
            }
            for statement in &self.blocks[block].statements {
                if let StatementKind::Opaque(opaque) = &statement.kind {
                    found.extend(&opaque.mentions);
                }
            }
        }
        found.retain(|id| !blocks.contains(&self.variables[*id].block));
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The names for places that `block` has from outside.
    pub(crate) fn names_for_places(&self, block: BlockId) -> &[(Ident, Place)] {
        self.names.get(&block).map_or(&[], Vec::as_slice)
    }
}
