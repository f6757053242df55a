//! Loops whose iterations can be undone in any order: then they are undone in the order in which they ran.
//!
//! The optimiser prefers that. It moves the checks that two rows of an inner loop do not overlap out of the outer one only where the
//! rows ascend; otherwise it makes no vectors.

use crate::fusion::{added_to, read_in};
use crate::kept::Item;
use crate::program::*;
use crate::reverse::Reverse;

impl Reverse<'_> {
    /// The iterations of the loop `f`, which stands at `before` and has been undone, have only sums in common, and nothing to take
    /// back from where it was put.
    pub(crate) fn in_any_order(&self, f: &For, before: &At) -> bool {
        let program = self.program;
        let blocks = program.nested(f.body);
        let within = |body: &BlockId| *body != f.body && blocks.contains(body);
        // Of numbers it does not matter in which order they come back.
        let number = |item: &Item| match item {
            Item::Slope(..) => true,
            Item::Value(e) => matches!(program.kind_of(*e), Kind::Float | Kind::Inert),
            Item::Definition(def) => program.is_number(*def),
            _ => false,
        };
        let kept = self.kept.items(f.body);
        let inner = |body: &BlockId| within(body) && !self.kept.is_empty(*body);
        // In a loop without another one within, the last index is the one to check first.
        let pays = program.loops().any(|body| within(&body));
        let exchangeable = pays && kept.iter().all(|(item, _)| number(item));
        if !(kept.is_empty() || exchangeable) {
            return false;
        }
        if blocks.iter().any(inner) || self.sweeps.keys().any(|(body, _)| within(body)) {
            return false;
        }
        let written = program.written(f.body);
        let lasting = |id: &VarId| program.variables[*id].disturbed || program.variables[*id].unrestored;
        if written.iter().any(lasting) {
            return false;
        }
        let (memory, numbers): (Vec<_>, Vec<_>) =
            written.into_iter().partition(|id| program.variables[*id].memory);
        if !memory.is_empty() && (!pays || !self.captured.is_empty() || self.writes_elsewhere(&blocks)) {
            return false;
        }
        let active = |id: &VarId| program.variables[*id].active;
        let numbers: Vec<_> = numbers.into_iter().filter(active).collect();
        added_to(program, &blocks, &numbers)
            && !read_in(program, &blocks, &numbers)
            && memory.iter().filter(|id| active(id)).all(|id| self.is_shared_out(*id, f, before, &blocks))
    }

    /// Something but assignments to elements changes memory.
    fn writes_elsewhere(&self, blocks: &[BlockId]) -> bool {
        let program = self.program;
        let roots = blocks.iter().flat_map(|b| program.roots(*b));
        roots.flat_map(|root| program.tree(root)).any(|e| {
            matches!(
                &program.exprs[e].kind,
                ExprKind::Mutation { .. } | ExprKind::Borrow { unique: true, .. } | ExprKind::Call { .. }
            )
        })
    }

    /// Each iteration of `f` has elements of the array to itself, or all of them do nothing but add to it.
    fn is_shared_out(&self, id: VarId, f: &For, before: &At, blocks: &[BlockId]) -> bool {
        let program = self.program;
        if !program.is_flat(id) {
            return false;
        }
        let storage = program.variables[id].storage;
        let sharing: Vec<_> = (0..program.variables.len())
            .filter(|other| program.variables[*other].storage == storage)
            .collect();
        if added_to(program, blocks, &sharing) && !read_in(program, blocks, &sharing) {
            return true;
        }
        let Some(index) = program.counter(f) else { return false };
        let mut first = None;
        let mut own = |place: &Place, at: &At| {
            let [Projection::Index(position)] = place.projections[..] else { return false };
            let run = program.run(position, index).filter(|run| {
                let fixed = |e: ExprId| crate::rows::same_before(program, e, at, before);
                // A step may be zero.
                run.stride.is_none() && run.parts().all(fixed) && !program.frozen.contains_key(&position)
            });
            let Some(run) = run.filter(|_| place.base == id) else { return false };
            program.same_run(first.get_or_insert(run), &run, at, before)
        };
        let shares = |place: &Place| sharing.contains(&place.base);
        for statement in blocks.iter().flat_map(|b| &program.blocks[*b].statements) {
            if let StatementKind::Assign(a) = &statement.kind
                && shares(&a.place)
                && !own(&a.place, &statement.before)
            {
                return false;
            }
        }
        program.placed_roots(blocks).into_iter().all(|(root, at)| {
            program.tree(root).into_iter().all(|e| match &program.exprs[e].kind {
                ExprKind::Read(place) if shares(place) => own(place, &at),
                ExprKind::Borrow { place, .. } => !shares(place),
                _ => true,
            })
        })
    }
}

impl Program {
    /// The definition is that of a number.
    fn is_number(&self, def: DefId) -> bool {
        let (Definition::Given { variable }
        | Definition::Computed { variable, .. }
        | Definition::Bound { variable, .. }
        | Definition::Entry { variable, .. }
        | Definition::Merged { variable, .. }) = &self.definitions[def];
        matches!(self.variables[*variable].kind, Kind::Float | Kind::Inert)
    }

    /// The expressions that stand directly in the statements of the blocks, and where they are.
    fn placed_roots(&self, blocks: &[BlockId]) -> Vec<(ExprId, At)> {
        let mut found = Vec::new();
        for block in blocks.iter().map(|b| &self.blocks[*b]) {
            for statement in &block.statements {
                let mut root = |e: ExprId| found.push((e, statement.before.clone()));
                match &statement.kind {
                    StatementKind::Let(l) => l.init.into_iter().for_each(root),
                    StatementKind::Assign(a) => a.place.indices().chain([a.value]).for_each(root),
                    StatementKind::Expr(e, _) => root(*e),
                    StatementKind::For(f) => root(f.range),
                    StatementKind::While(w) => root(w.cond),
                    StatementKind::Opaque(_) => {}
                }
            }
            found.extend(block.value.map(|value| (value, block.tail.clone())));
        }
        found
    }
}
