//! Loops that are run again from checkpoints.
//!
//! The forward pass runs such a loop as the user wrote it, and before every so many iterations it keeps what these start from.
//! The reverse pass takes the segments one after the other, the last one first: it goes back to where the segment
//! started, runs it again, this time keeping what each iteration has to keep, and undoes it. With n iterations and a
//! checkpoint every √n of them, both what is kept and the time are of the order of √n times an iteration's state and of
//! twice the primal (Griewank, *Achieving logarithmic growth of temporal and spatial complexity in reverse automatic
//! differentiation*, 1992, section 2).
//!
//! With a bounded number of checkpoints a segment is one iteration, and the reverse pass places further checkpoints on its
//! way to it: `rules/src/schedule.rs` says where.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Ident;

use crate::calls::Callee;
use crate::forward::Forward;
use crate::kept::Item;
use crate::parse::Parser;
use crate::program::*;
use crate::reverse::Reverse;
use crate::values::replace;

/// What one loop keeps at its checkpoints.
#[derive(Clone)]
pub(crate) struct Checkpoints {
    /// The slot of the variables that are numbers or arrays, and these.
    states: (Ident, Vec<VarId>),
    /// Those that own memory or refer to it, each with its slot.
    snapshots: Vec<(VarId, Ident)>,
    /// The slot of the schedule by which a bounded number of checkpoints is placed.
    schedule: Option<Ident>,
}

/// A loop, as far as running it again is concerned.
pub(crate) struct Segmented<'a> {
    pub(crate) body: BlockId,
    pub(crate) placement: Placement,
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
        let &Segmented { body, placement, ref range, index } = segmented;
        let (Placement::Every(n) | Placement::Binomial(n)) = placement;
        let program = self.program;
        let (at, level) = (&statement.before, self.top());
        if let Some(why) = self.not_repeatable(body) {
            return self.errors.push(&program.exprs[n].syntax, why);
        }
        let count = self.kept.keep(at.block, Item::Count(statement.id), "count");
        let n = self.text(n, at, level);
        let checkpoints = self.checkpoints_of(body, statement, placement);

        let Checkpoints { states: (states, numbers), snapshots, schedule } = &checkpoints;
        let step = Program::fresh("step");
        let mut restore = TokenStream::new();
        let (mut names, mut there, mut back) = (Vec::new(), TokenStream::new(), TokenStream::new());
        // What the segment has by its name, and gives back at its end.
        let mut moved = Vec::new();
        for id in numbers {
            let name = &program.variables[*id].name;
            names.push(quote!(mut #name));
        }
        for (id, slot) in snapshots {
            let unique = &program.variables[*id].unique;
            let place =
                if program.variables[*id].by_reference() { quote!(#unique) } else { quote!(&mut #unique) };
            restore.extend(match schedule {
                Some(_) => quote!(#slot.go_back(#place, #step.is_last());),
                None => quote!(#slot.restore(#place);),
            });
        }
        let places = program.names_for_places(body);
        for id in program.mentioned(body) {
            let variable = &program.variables[id];
            let (name, unique) = (&variable.name, &variable.unique);
            // What has a second name is borrowed by that, and the loop does not change it.
            let borrowed = places.iter().any(|(_, place)| place.base == id);
            let changes = numbers.contains(&id) || snapshots.iter().any(|(other, _)| *other == id);
            if variable.memory && !changes {
                self.reads_memory(id, at, level);
            }
            match variable.origin {
                Origin::Shared => there.extend(quote!(let #name = #unique;)),
                Origin::Unique if borrowed => there.extend(quote!(let #name = &*#unique;)),
                Origin::Unique => there.extend(quote!(let #name = &mut *#unique;)),
                _ if variable.memory => {
                    self.present(id);
                    if !numbers.contains(&id) {
                        there.extend(quote!(let mut #name = #unique;));
                    }
                    back.extend(quote!(#unique = #name;));
                    moved.push((unique.clone(), quote!(#name)));
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
        for (name, place) in places {
            let reference = place.projections.is_empty() && program.variables[place.base].by_reference();
            let place = replace(self.place(place, at, level), &moved);
            there.extend(if reference { quote!(let #name = #place;) } else { quote!(let #name = &#place;) });
        }
        if !numbers.is_empty() {
            let state = match schedule {
                Some(_) => quote!(#states.go_back(#step.is_last())),
                None => quote!(#states.pop()),
            };
            restore.extend(quote!(let (#(#names,)*) = #state;));
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
        let part = |start: TokenStream, len: TokenStream| match range {
            Some((_, range)) => quote!((#range).clone().skip(#start).take(#len)),
            None => quote!(#start..#start + #len),
        };
        let all = range.as_ref().map_or(quote!(_), |(pattern, _)| quote!(#pattern));
        let text = match schedule {
            None => {
                let part = part(quote!(#segment.start), quote!(#segment.len()));
                quote! {
                    for #segment in __pb::segments(#count, #n) {
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
                }
            }
            Some(schedule) => {
                let part = part(quote!(#step.from), quote!(#step.iterations()));
                let hint = hint(range.as_ref().map(|(_, range)| range));
                let (keep, number) = (checkpoints.keep(program), Program::fresh("number"));
                let bare = Reverse::bare(program);
                let iteration = Forward::new(program, &bare).iteration(body);
                quote! {
                    #schedule.turn(#count, #n, #hint);
                    while let Some(#step) = #schedule.step() {
                        {
                            let #indices = #part;
                            #restore
                            #there
                            for (#number, #all) in (#step.from..).zip(#indices) {
                                if #number < #step.at {
                                    if #schedule.keeps(#number) { #keep }
                                    #iteration
                                } else {
                                    #forward
                                    #stack.push(#pushed);
                                }
                            }
                            #back
                        }
                        let #popped = #stack.pop();
                        #backward
                    }
                }
            }
        };
        self.checkpoints.insert(statement.id, checkpoints);
        self.emit(text);
    }

    /// Why running the loop a second time would be something else than the first time.
    fn not_repeatable(&self, body: BlockId) -> Option<&'static str> {
        let program = self.program;
        let exits = program.left_early(body) || program.exits(body).contains(&Target::Continue(body));
        if exits {
            return Some(
                "a loop that is left early, or whose iterations end early by `continue`, cannot be run again from a checkpoint: put what follows in an `if`, or leave out the annotation",
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
            if variable.heap && variable.active && (variable.moved || program.is_returned(id)) {
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

    fn checkpoints_of(&mut self, body: BlockId, statement: &Statement, placement: Placement) -> Checkpoints {
        if let Some(known) = self.checkpoints.get(&statement.id) {
            return known.clone();
        }
        let program = self.program;
        let (mut numbers, mut snapshots) = (Vec::new(), Vec::new());
        for id in program.written(body) {
            let variable = &program.variables[id];
            if variable.by_reference() || variable.heap {
                let slot = self.slot(
                    "snapshots",
                    match program.is_whole(id) {
                        true => quote!(__pb::WholeSnapshots::new()),
                        false => quote!(__pb::Snapshots::new()),
                    },
                );
                snapshots.push((id, slot));
            } else if statement.before.versions.contains_key(&id) {
                numbers.push(id);
            }
        }
        let states = match numbers.is_empty() {
            true => Program::fresh("states"),
            false => self.slot("states", quote!(__pb::Stack::new())),
        };
        let schedule = match placement {
            Placement::Every(_) => None,
            Placement::Binomial(_) => Some(self.slot("schedule", quote!(__pb::Schedule::new()))),
        };
        Checkpoints { states: (states, numbers), snapshots, schedule }
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

impl Checkpoints {
    /// Keeps what the next iteration starts from.
    fn keep(&self, program: &Program) -> TokenStream {
        let name = |id: &VarId| &program.variables[*id].name;
        let Checkpoints { states: (states, numbers), snapshots, .. } = self;
        let mut keep = TokenStream::new();
        if !numbers.is_empty() {
            let names = numbers.iter().map(name);
            keep.extend(quote!(#states.push((#(#names,)*));));
        }
        for (id, slot) in snapshots {
            let name = name(id);
            let reference = program.variables[*id].by_reference();
            let place = if reference { quote!(&*#name) } else { quote!(&#name) };
            keep.extend(quote!(#slot.save(#place);));
        }
        keep
    }

    /// Drops every second one of so many checkpoints.
    fn thin(&self, count: &Ident) -> TokenStream {
        let states = (!self.states.1.is_empty()).then_some(&self.states.0);
        let slots = states.into_iter().chain(self.snapshots.iter().map(|(_, slot)| slot));
        quote!(#(#slots.thin(#count);)*)
    }
}

/// How many iterations a loop over `range` has, as far as that is known beforehand.
fn hint(range: Option<&TokenStream>) -> TokenStream {
    range.map_or(quote!((0, None)), |range| quote!(Iterator::size_hint(&(#range))))
}

impl Forward<'_> {
    /// A loop as the user wrote it, with its checkpoints.
    pub(crate) fn segments(&mut self, placement: Placement, statement: &Statement) -> TokenStream {
        let reverse = self.reverse;
        let checkpoints = &reverse.checkpoints[&statement.id];
        let keep = checkpoints.keep(self.program);
        let block = statement.before.block;
        let (mut before, mut hint_of) = (TokenStream::new(), None);
        let (head, body) = match &statement.kind {
            StatementKind::For(f) => {
                let (pattern, mut range) = (&f.pattern, self.expr(f.range, block));
                if let Some(kept) = reverse.kept.name(block, Item::Range(statement.id)) {
                    self.before.extend(quote!(let #kept = #range;));
                    range = quote!(#kept.clone());
                }
                if checkpoints.schedule.is_some() {
                    let indices = Program::fresh("indices");
                    before = quote!(let #indices = #range;);
                    range = quote!(#indices);
                    hint_of = Some(range.clone());
                }
                (quote!(for #pattern in #range), f.body)
            }
            StatementKind::While(w) => {
                let cond = self.expr(w.cond, block);
                (quote!(while #cond), w.body)
            }
            _ => unreachable!("a loop"),
        };
        let (start, count) = self.count(block, statement.id);
        let counter = reverse.kept.name(block, Item::Count(statement.id));
        let bare = Reverse::bare(self.program);
        let iteration = Forward::new(self.program, &bare).iteration(body);
        let (Placement::Every(n) | Placement::Binomial(n)) = placement;
        let n = self.expr(n, block);
        match &checkpoints.schedule {
            Some(schedule) => {
                let (hint, crowd) = (hint(hint_of.as_ref()), Program::fresh("crowd"));
                let thin = checkpoints.thin(&crowd);
                quote! {
                    #start
                    #before
                    #schedule.begin(#n, #hint);
                    #head {
                        if let Some(#crowd) = #schedule.crowded(#counter) { #thin }
                        if #schedule.keeps(#counter) { #keep }
                        #count
                        #iteration
                    }
                }
            }
            None => {
                let spacing = Program::fresh("every");
                quote! {
                    #start
                    let #spacing = __pb::spacing(#n);
                    #head {
                        if #counter % #spacing == 0 { #keep }
                        #count
                        #iteration
                    }
                }
            }
        }
    }
}

impl Parser<'_> {
    /// The call in `checkpoint(…)`, of which nothing is kept.
    pub(crate) fn checkpointed(&mut self, call: &syn::Expr) -> ExprId {
        let id = self.expr(call);
        match &self.program.exprs[id].kind {
            ExprKind::Call {
                function: Callee::Function(_)
                    | Callee::Associated(_)
                    | Callee::Method(..)
                    | Callee::OfPart(..)
                    | Callee::Gradient(..),
                ..
            } => {
                self.program.checkpointed.insert(id);
            }
            ExprKind::Method { .. } => {
                self.program.checkpointed.insert(id);
            }
            _ => self.errors.push(
                call,
                "`checkpoint` takes the call of a function or a method that has a rule: bind other arguments with `let` first",
            ),
        }
        id
    }
}

impl Program {
    /// A struct, or a vector of vectors: it does not consist of elements that are copied out and in.
    fn is_whole(&self, id: VarId) -> bool {
        match &self.variables[id].kind {
            Kind::Unknown => self.variables[id].general.is_none(),
            Kind::Sequence(element) => matches!(**element, Kind::Sequence(_)),
            _ => false,
        }
    }

    /// The variables from outside that `block` mentions.
    pub(crate) fn mentioned(&self, block: BlockId) -> Vec<VarId> {
        let blocks = self.nested(block);
        let mut found = self.written(block);
        for &block in &blocks {
            let named = self.blocks[block].statements.iter().filter_map(|statement| match &statement.kind {
                StatementKind::Let(l) => Some(l.aliases.iter().map(|(_, place)| place)),
                _ => None,
            });
            let named: Vec<_> = named.flatten().collect();
            found.extend(named.iter().map(|place| place.base));
            let roots = self.roots(block).into_iter().chain(named.into_iter().flat_map(Place::indices));
            for expr in roots.flat_map(|root| self.tree(root)) {
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
