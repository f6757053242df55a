//! Which locals own memory, which lose it, and whose gradients share memory.

use std::collections::{HashMap, HashSet};

use quote::ToTokens;

use crate::aggregates::looks_at;
use crate::calls::Callee;
use crate::iterators::integers::is_item_of_constant;
use crate::kind::inert;
use crate::mutation::Action;
use crate::parse::Parser;
use crate::program::*;

impl Program {
    /// Marks the locals that own memory, and those that lose it.
    pub(crate) fn settle_owners(&mut self, output: &syn::Type) {
        for statement in self.blocks.iter().flat_map(|block| &block.statements) {
            let StatementKind::Let(l) = &statement.kind else { continue };
            if let (syn::Pat::Type(typed), [Some(id)]) = (&l.syntax.pat, &l.variables[..])
                && self.owners.own(&typed.ty)
            {
                self.variables[*id].heap = true;
            }
        }
        self.settle_pushed();
        let boxes = self.boxes.iter().filter(|id| self.variables[**id].origin == Origin::Local);
        for id in
            self.inside.union(&self.emptied).chain(&self.departing).chain(boxes).copied().collect::<Vec<_>>()
        {
            self.variables[id].heap = true;
        }
        let (results, others) = self.results();
        self.results.extend(&results);
        self.called.extend(others);
        self.settle_swapped(output);
        let roots = self.moving_roots();
        self.settle_pushed_results();
        self.settle_replaced();
        self.settle_literals();
        let swapped: Vec<_> = self.exprs.iter().filter_map(|expr| self.swapped(expr)).collect();
        // Until nothing changes: a vector may be moved several times.
        for _ in 0..self.variables.len() {
            self.settle_parts(&results, &roots);
            self.settle_pairs(&swapped);
            for (expr, target) in &roots {
                let Some(id) = *target else { continue };
                if self.owns(*expr) && !inert(&self.variables[id].kind) {
                    self.variables[id].heap = true;
                }
                if let (true, ExprKind::Read(place)) =
                    (self.variables[id].heap, &self.exprs[self.peel(*expr)].kind)
                    && place.projections.is_empty()
                    && self.variables[place.base].origin == Origin::Local
                {
                    self.variables[place.base].heap = true;
                }
            }
        }
        self.settle_returned(output, &results);
        swapped.iter().for_each(|_| self.settle_pairs(&swapped));
        for variable in &mut self.variables {
            variable.memory |= variable.heap;
        }
        self.settle_given();
        self.settle_results();
        self.settle_unused();
        for (expr, _) in self.moving_roots() {
            if let Some(id) = self.moves(expr).filter(|id| !self.is_returned(*id)) {
                self.variables[id].moved = true;
            }
        }
        let roots = self.moving_roots();
        let moves = roots.iter().filter_map(|(expr, target)| Some((self.moves(*expr)?, (*target)?)));
        let inside = self.taken_out().filter(|(action, ..)| *action == Action::TakeOut);
        let mut moves: Vec<_> = moves.chain(inside.map(|(_, whole, part)| (whole, part))).collect();
        let exchanged = self.exprs.iter().filter_map(|expr| {
            let ExprKind::Mutation { action, args } = &expr.kind else { return None };
            let ExprKind::Borrow { place, .. } = &self.exprs[args[0]].kind else { return None };
            match (action, args.get(1).map(|arg| &self.exprs[*arg].kind)) {
                (Action::Exchange, Some(ExprKind::Borrow { place: other, .. })) => {
                    Some((place.base, other.base))
                }
                _ => Some((place.base, self.moves(action.value(args)?)?)),
            }
        });
        let exchanged: Vec<_> = exchanged.collect();
        let parts = self.moved_parts(&roots);
        let shared: Vec<_> = moves.iter().chain(&exchanged).chain(&parts).copied().collect();
        // What is returned early takes the place of the local that is returned, what is taken leaves an empty vector behind:
        // where the memory for the gradient of one goes, the other is to find it.
        let empty = self.made_empty();
        let replaced: Vec<_> = (0..self.variables.len())
            .filter(|id| self.is_returned(*id) || empty.contains(id) || self.boxes.contains(id))
            .collect();
        join(&mut self.variables, &moves, |variable| &mut variable.pool);
        loop {
            let pool = |id: VarId| self.variables[id].pool;
            let pools: HashSet<_> = replaced.iter().copied().map(pool).collect();
            let apart = exchanged.iter().filter(|(one, other)| pool(*one) != pool(*other));
            let whole = apart.filter(|pair| swapped.contains(pair));
            let found: Vec<_> = whole
                .filter(|(one, other)| pools.contains(&pool(*one)) || pools.contains(&pool(*other)))
                .copied()
                .collect();
            if found.is_empty() {
                break;
            }
            moves.extend(found);
            join(&mut self.variables, &moves, |variable| &mut variable.pool);
        }
        join(&mut self.variables, &shared, |variable| &mut variable.storage);
        self.settle_rows(&moves);
    }

    /// Where one of two locals owns memory that change places, the other does.
    fn settle_pairs(&mut self, swapped: &[(VarId, VarId)]) {
        for (one, other) in swapped {
            let pair = [one, other].map(|id| &self.variables[*id]);
            if pair.iter().all(|variable| variable.origin == Origin::Local)
                && pair.iter().any(|variable| variable.heap)
            {
                self.variables[*one].heap = true;
                self.variables[*other].heap = true;
            }
        }
    }

    /// The variables whose whole values `expr` exchanges.
    fn swapped(&self, expr: &Expr) -> Option<(VarId, VarId)> {
        let ExprKind::Mutation { action: Action::Exchange, args } = &expr.kind else { return None };
        let whole = |arg: ExprId| match &self.exprs[arg].kind {
            ExprKind::Borrow { place, .. } if place.projections.is_empty() => Some(place.base),
            _ => None,
        };
        Some((whole(args[0])?, whole(*args.get(1)?)?))
    }

    /// The local changes places with another.
    pub(crate) fn is_exchanged_whole(&self, id: VarId) -> bool {
        self.exprs.iter().filter_map(|expr| self.swapped(expr)).any(|(one, other)| one == id || other == id)
    }

    /// What something is taken out of, with the locals that get it.
    pub(crate) fn taken_out(&self) -> impl Iterator<Item = (Action, VarId, VarId)> + '_ {
        self.moving_roots().into_iter().filter(|(expr, _)| self.takes_out(*expr)).filter_map(
            |(expr, target)| {
                let ExprKind::Mutation { action, args } = &self.exprs[self.peel(expr)].kind else {
                    return None;
                };
                let ExprKind::Borrow { place, .. } = &self.exprs[args[0]].kind else { return None };
                Some((*action, place.base, target?))
            },
        )
    }

    /// The locals that start as `Vec::new()`.
    fn made_empty(&self) -> Vec<VarId> {
        let lets = self.blocks.iter().flat_map(|block| &block.statements).filter_map(|s| match &s.kind {
            StatementKind::Let(Let { variables, init: Some(init), .. }) => {
                Some((*variables.first()?.as_ref()?, *init))
            }
            _ => None,
        });
        let made = |init: ExprId| match &self.exprs[init].kind {
            ExprKind::Call { function: Callee::Associated(path), args } => {
                args.is_empty() && path.path.segments.iter().rev().nth(1).is_some_and(|s| s.ident == "Vec")
            }
            _ => false,
        };
        lets.filter(|(_, init)| made(*init)).map(|(id, _)| id).collect()
    }

    /// What is pushed to a vector of vectors is one.
    fn settle_pushed(&mut self) {
        for expr in &self.exprs {
            if let ExprKind::Mutation { action: action @ (Action::Push | Action::Insert), args } = &expr.kind
                && let Some(value) = action.value(args)
                && let (ExprKind::Borrow { place, .. }, ExprKind::Read(row)) =
                    (&self.exprs[args[0]].kind, &self.exprs[self.peel(value)].kind)
                && row.projections.is_empty()
                && self.pushes_row(place, value)
                && !inert(&self.variables[row.base].kind)
            {
                self.variables[row.base].heap |= self.variables[row.base].origin == Origin::Local;
            }
        }
    }

    /// A struct that a call returns, and that is pushed to a vector in the end, is moved there, as it has to be if it owns memory.
    fn settle_pushed_results(&mut self) {
        let mut found = Vec::new();
        for block in 0..self.blocks.len() {
            for (i, statement) in self.blocks[block].statements.iter().enumerate() {
                let StatementKind::Expr(expr, _) = statement.kind else { continue };
                let ExprKind::Mutation { action: Action::Push | Action::Renew, args } =
                    &self.exprs[self.peel(expr)].kind
                else {
                    continue;
                };
                let (ExprKind::Borrow { place, .. }, ExprKind::Read(value)) =
                    (&self.exprs[args[0]].kind, &self.exprs[self.peel(args[1])].kind)
                else {
                    continue;
                };
                let id = value.base;
                let local = place.projections.is_empty()
                    && self.variables[place.base].origin == Origin::Local
                    && !self.nested.contains(&place.base);
                if (local || self.is_lent(place.base))
                    && self.moves_result(args[1])
                    && self.variables[id].block == block
                    && !self.read_as_a_whole(id, args[1])
                    && !self.mentioned_behind(id, block, i)
                {
                    found.push(id);
                }
            }
        }
        for id in found {
            self.variables[id].heap = true;
            self.pushed.insert(id);
        }
    }

    /// Some expression but for `except` copies or moves all of the variable, or something looks at it that is not understood.
    pub(crate) fn read_as_a_whole(&self, id: VarId, except: ExprId) -> bool {
        let constant_code = |e: ExprId| self.exprs[e].syntax.to_token_stream();
        let looked_at = (0..self.exprs.len()).any(|e| match &self.exprs[e].kind {
            ExprKind::Read(place) => {
                place.base == id
                    && place.projections.is_empty()
                    && e != self.peel(except)
                    && !self.is_receiver(e)
            }
            ExprKind::Constant(constant) => {
                let looks = || looks_at(constant_code(e), &self.variables[id].name);
                constant.mentions.contains(&id) && !looks()
            }
            _ => false,
        });
        let statements = || self.blocks.iter().flat_map(|block| &block.statements);
        looked_at
            || statements().any(|statement| match &statement.kind {
                StatementKind::Opaque(opaque) => opaque.mentions.contains(&id),
                StatementKind::Assign(assign) => {
                    assign.place.base == id && assign.place.projections.is_empty()
                }
                _ => false,
            })
    }

    pub(crate) fn is_receiver(&self, expr: ExprId) -> bool {
        self.exprs.iter().any(|e| matches!(&e.kind, ExprKind::Method { receiver, .. } if *receiver == expr))
    }

    /// The variable is mentioned behind the statement of this number.
    pub(crate) fn mentioned_behind(&self, id: VarId, block: BlockId, number: usize) -> bool {
        let content = &self.blocks[block];
        self.mentioned_among(id, &content.statements[number + 1..], content.value)
    }

    /// The next statement behind that of this number to mention the variable gives it another value, whatever it holds.
    pub(crate) fn is_replaced_next(&self, id: VarId, block: BlockId, number: usize) -> bool {
        for statement in &self.blocks[block].statements[number + 1..] {
            let statement = std::slice::from_ref(statement);
            if let [Statement { kind: StatementKind::Assign(Assign { place, op: None, .. }), .. }] = statement
                && place.base == id
                && place.projections.is_empty()
            {
                return !self.exprs_among(statement, None).into_iter().any(|e| self.mentions(e, id));
            }
            if self.mentioned_among(id, statement, None) {
                return false;
            }
        }
        false
    }

    /// The variable is mentioned in the statements, or in the value.
    fn mentioned_among(&self, id: VarId, statements: &[Statement], value: Option<ExprId>) -> bool {
        let named = |s: &Statement| match &s.kind {
            StatementKind::Let(l) => l.aliases.iter().any(|(_, place)| place.base == id),
            StatementKind::Assign(assign) => assign.place.base == id,
            StatementKind::Opaque(opaque) => opaque.mentions.contains(&id),
            _ => false,
        };
        let inner = self.blocks_among(statements, value);
        inner.iter().flat_map(|block| &self.blocks[*block].statements).chain(statements).any(named)
            || self.exprs_among(statements, value).into_iter().any(|e| self.mentions(e, id))
    }

    /// The expressions behind the statement of this number, in blocks as well.
    pub(crate) fn exprs_behind(&self, block: BlockId, number: usize) -> Vec<ExprId> {
        let content = &self.blocks[block];
        self.exprs_among(&content.statements[number + 1..], content.value)
    }

    /// The expressions in the statements and in the value, those in blocks as well.
    fn exprs_among(&self, statements: &[Statement], value: Option<ExprId>) -> Vec<ExprId> {
        let inner = self.blocks_among(statements, value);
        let inner = inner.iter().flat_map(|block| self.roots(*block));
        let roots = statements.iter().flat_map(Statement::roots);
        roots.chain(value).chain(inner).flat_map(|root| self.tree(root)).collect()
    }

    /// The blocks in the statements and in the value, and those in them.
    fn blocks_among(&self, statements: &[Statement], value: Option<ExprId>) -> Vec<BlockId> {
        let loops = statements.iter().filter_map(|statement| match &statement.kind {
            StatementKind::For(f) => Some(f.body),
            StatementKind::While(w) => Some(w.body),
            _ => None,
        });
        let roots = statements.iter().flat_map(Statement::roots).chain(value);
        let branches = roots.flat_map(|root| self.tree(root)).flat_map(|e| self.blocks_of(e));
        loops.chain(branches).flat_map(|block| self.nested(block)).collect()
    }

    /// Finds out which vectors rows are pushed to, and which vectors become rows.
    fn settle_rows(&mut self, moves: &[(VarId, VarId)]) {
        let (mut connected, mut rows) = (moves.to_vec(), HashMap::new());
        for expr in &self.exprs {
            let ExprKind::Mutation { action, args } = &expr.kind else { continue };
            let ExprKind::Borrow { place, .. } = &self.exprs[args[0]].kind else { continue };
            match (action, args.get(1).map(|arg| &self.exprs[*arg].kind)) {
                (Action::Exchange, Some(ExprKind::Borrow { place: other, .. }))
                    if place.projections.is_empty() && other.projections.is_empty() =>
                {
                    connected.push((place.base, other.base));
                }
                (Action::Push | Action::Insert, _)
                    if let Some(value) = action.value(args)
                        && self.pushes_row(place, value) =>
                {
                    self.grown.insert(place.base);
                    if let Some(row) = self.moves(value)
                        && let Some(another) = rows.insert(self.variables[row].pool, place.base)
                    {
                        connected.push((place.base, another));
                    }
                }
                (Action::Truncate | Action::Clear, _) if self.of_rows(place) => {
                    self.grown.insert(place.base);
                }
                _ => {}
            }
        }
        for (action, whole, row) in self.taken_out().collect::<Vec<_>>() {
            if !matches!(action, Action::TakeOut | Action::TakeAll) {
                self.grown.insert(whole);
                if let Some(another) = rows.insert(self.variables[row].pool, whole) {
                    connected.push((whole, another));
                }
            }
        }
        join(&mut self.variables, &connected, |variable| &mut variable.rows);
        for variable in &mut self.variables {
            variable.row_of = rows.get(&variable.pool).copied();
        }
    }

    /// The `let`s that bind one name, and what to.
    pub(crate) fn lets(&self) -> impl Iterator<Item = (&Let, ExprId)> {
        let statements = self.blocks.iter().flat_map(|block| &block.statements);
        statements.filter_map(|statement| match &statement.kind {
            StatementKind::Let(l) if !l.tuple => Some((l, l.init?)),
            _ => None,
        })
    }

    /// The variables that are borrowed or indexed.
    fn with_parts(&self) -> Vec<VarId> {
        let parts = self.exprs.iter().filter_map(|expr| match &expr.kind {
            ExprKind::Borrow { place, .. } => Some(place.base),
            ExprKind::Read(place) if matches!(place.projections.first(), Some(Projection::Index(_))) => {
                Some(place.base)
            }
            _ => None,
        });
        parts.collect()
    }

    /// The constants that a loop goes through by value.
    fn iterated_by_value(&self) -> impl Iterator<Item = VarId> {
        self.exprs
            .iter()
            .flat_map(|expr| match &expr.kind {
                ExprKind::Constant(constant) if is_item_of_constant(&expr.syntax) => &constant.mentions[..],
                _ => &[],
            })
            .copied()
    }

    /// What a call returns may be a vector as well, if it is borrowed or indexed.
    fn settle_results(&mut self) {
        let parts = self.with_parts();
        for block in 0..self.blocks.len() {
            for i in 0..self.blocks[block].statements.len() {
                let StatementKind::Let(l) = &self.blocks[block].statements[i].kind else { continue };
                if let (Some(init), true) = (l.init, l.tuple) {
                    let ids: Vec<_> = l.variables.iter().flatten().copied().collect();
                    if let ExprKind::Tuple(values) = &self.exprs[init].kind {
                        let called =
                            l.variables.iter().zip(values).filter(|(_, value)| self.is_call(**value));
                        let ids: Vec<_> =
                            called.filter_map(|(id, _)| *id).filter(|id| parts.contains(id)).collect();
                        self.settle_tuple(&ids, &parts);
                    } else if self.is_unwrapped_call(init) {
                        self.settle_tuple(&ids, &parts);
                    }
                    continue;
                }
                let ([Some(id)], Some(init), false) = (&l.variables[..], l.init, l.tuple) else { continue };
                let method = matches!(self.exprs[self.peel(init)].kind, ExprKind::Method { .. });
                let call = self.is_call(init) && !method;
                let variable = &mut self.variables[*id];
                let number = matches!(variable.kind, Kind::Float | Kind::Inert);
                if call && !number && !inert(&variable.kind) && parts.contains(id) {
                    variable.memory = true;
                }
            }
        }
    }

    /// A call, or what is inside of what it returns, as it stands: `f(x).unwrap()`
    pub(crate) fn is_unwrapped_call(&self, expr: ExprId) -> bool {
        match &self.exprs[self.peel(expr)].kind {
            ExprKind::Call { .. } => true,
            ExprKind::Method { receiver, name, .. } => {
                (name == "unwrap" || name == "expect") && self.is_unwrapped_call(*receiver)
            }
            _ => false,
        }
    }

    /// What a call returns and nobody looks at carries no gradient, whatever it is, if the call does nothing else.
    fn settle_unused(&mut self) {
        let mut seen = HashSet::new();
        for expr in &self.exprs {
            match &expr.kind {
                ExprKind::Read(place) | ExprKind::Borrow { place, .. } => _ = seen.insert(place.base),
                ExprKind::Constant(constant) => seen.extend(&constant.mentions),
                _ => {}
            }
        }
        let mut unused = Vec::new();
        for statement in self.blocks.iter().flat_map(|block| &block.statements) {
            match &statement.kind {
                StatementKind::Let(l) => {
                    seen.extend(l.aliases.iter().map(|(_, place)| place.base));
                    if let ([Some(id)], Some(init), false) = (&l.variables[..], l.init, l.tuple) {
                        unused.push((*id, init));
                    }
                }
                StatementKind::Assign(assign) => _ = seen.insert(assign.place.base),
                StatementKind::Opaque(opaque) => seen.extend(&opaque.mentions),
                _ => {}
            }
        }
        let reads = |e: &ExprId| match &self.exprs[*e].kind {
            ExprKind::Borrow { unique, .. } => !unique,
            ExprKind::Read(_) | ExprKind::Constant(_) => true,
            _ => false,
        };
        unused.retain(|(id, init)| {
            let call = matches!(self.exprs[*init].kind, ExprKind::Call { .. } | ExprKind::Method { .. });
            call && !seen.contains(id)
        });
        let only_reads = |(_, init): &(VarId, ExprId)| {
            self.operands(*init).iter().all(reads) && self.may_change_receiver(*init).is_none()
        };
        let (pure, others): (Vec<_>, Vec<_>) = unused.into_iter().partition(only_reads);
        self.unused = pure.into_iter().map(|(_, init)| init).collect();
        // What it writes to is brought back, by a pullback that takes a gradient.
        for (id, _) in others {
            self.variables[id].memory |= matches!(self.variables[id].kind, Kind::Sequence(_));
        }
    }

    /// The values that a statement gives to places, and the variables that get them as a whole.
    fn bound_by(&self, statement: &StatementKind) -> Vec<(ExprId, Option<VarId>)> {
        match statement {
            StatementKind::Let(Let { variables, tuple, init: Some(init), .. }) => {
                match (&self.exprs[*init].kind, tuple) {
                    (ExprKind::Tuple(elements), true) => {
                        elements.iter().copied().zip(variables.iter().copied()).collect()
                    }
                    (_, false) => vec![(*init, variables[0])],
                    _ => Vec::new(),
                }
            }
            StatementKind::Assign(assign) => {
                let whole = assign.place.projections.is_empty() && assign.op.is_none();
                vec![(assign.value, whole.then_some(assign.place.base))]
            }
            _ => Vec::new(),
        }
    }

    /// The locals that a statement moves elsewhere: they are not there until the reverse pass has undone it.
    pub(crate) fn moved_away(&self, statement: &StatementKind) -> Vec<VarId> {
        let mut values: Vec<_> = self.bound_by(statement).into_iter().map(|(value, _)| value).collect();
        if let StatementKind::Expr(expr, _) = statement
            && let ExprKind::Mutation { action, args } = &self.exprs[self.peel(*expr)].kind
        {
            values.extend(action.value(args));
        }
        let moved = values.into_iter().flat_map(|value| self.moved_in(value));
        moved.map(|(_, id)| id).filter(|id| self.variables[*id].active && self.variables[*id].moved).collect()
    }

    /// What stands in the tuple that the function returns, or inside an `Option` or a `Result`, in which there may be a tuple as well.
    fn returned_elements(&self) -> Vec<ExprId> {
        let within = |value: &ExprId| match &self.exprs[*value].kind {
            ExprKind::Tuple(elements) | ExprKind::Wrap(_, elements) => elements.clone(),
            _ => Vec::new(),
        };
        let elements = self.blocks[BODY].value.iter().flat_map(within).collect::<Vec<_>>();
        let wrapped =
            self.blocks[BODY].value.is_some_and(|value| matches!(self.exprs[value].kind, ExprKind::Wrap(..)));
        let inner = elements.iter().filter(|_| wrapped).flat_map(within).collect::<Vec<_>>();
        elements.into_iter().chain(inner).collect()
    }

    /// The expressions whose value may be a vector on its way, and the variable that gets it.
    pub(crate) fn moving_roots(&self) -> Vec<(ExprId, Option<VarId>)> {
        let mut roots = Vec::new();
        for block in &self.blocks {
            roots.extend(block.statements.iter().flat_map(|statement| self.bound_by(&statement.kind)));
            roots.extend(block.value.map(|value| (value, None)));
        }
        roots.extend(self.returned_elements().into_iter().map(|value| (value, None)));
        for expr in &self.exprs {
            if let ExprKind::Mutation { action, args } = &expr.kind {
                roots.extend(action.value(args).map(|value| (value, None)));
            }
        }
        // The value of a block goes where the block's value goes.
        let mut next = 0;
        while next < roots.len() {
            let (expr, target) = roots[next];
            if let ExprKind::Struct(literal) = &self.exprs[self.peel(expr)].kind
                && self.owns(expr)
            {
                roots.extend(literal.fields.iter().map(|(_, value)| (*value, None)));
            }
            for block in self.blocks_of(self.peel(expr)) {
                if target.is_some() {
                    roots.extend(self.blocks[block].value.map(|value| (value, target)));
                }
            }
            next += 1;
        }
        roots
    }
}

impl Parser<'_> {
    /// Constants that have come out of an outcome or a branch under a name of ours, and are borrowed, indexed or gone through under one of
    /// the user's, may own memory: they are kept where they are, and not copied.
    pub(crate) fn settle_constants(&mut self) {
        let mut parts = self.program.with_parts();
        parts.extend(self.program.iterated_by_value());
        let constant = |id: VarId| {
            self.program.lets().any(|(l, init)| {
                l.variables[..] == [Some(id)] && !self.suspects.any(&self.program.exprs[init].syntax)
            })
        };
        let handed_on = self.program.lets().filter_map(|(l, init)| {
            let (&[Some(id)], ExprKind::Read(place)) = (&l.variables[..], &self.program.exprs[init].kind)
            else {
                return None;
            };
            let Variable { kind, mutable, .. } = &self.program.variables[id];
            let vector = matches!(kind, Kind::Sequence(element) if inert(element));
            let may_own = (*kind == Kind::Unknown || vector) && !mutable && parts.contains(&id);
            (may_own && place.projections.is_empty() && constant(place.base)).then_some(id)
        });
        for id in handed_on.collect::<Vec<_>>() {
            self.program.variables[id].memory = true;
        }
    }
}

/// Gives all variables that `pairs` connect one representative.
fn join(variables: &mut [Variable], pairs: &[(VarId, VarId)], group: fn(&mut Variable) -> &mut VarId) {
    for &(a, b) in pairs {
        let (from, to) = (*group(&mut variables[a]), *group(&mut variables[b]));
        for variable in &mut *variables {
            let group = group(variable);
            if *group == from {
                *group = to;
            }
        }
    }
}
