//! `state = next;`, where both are what calls have returned, of which nothing tells the type: what is done with them may tell that it owns
//! memory, and is moved. Of plain data the same code is right where nobody asks for `next` later.

use crate::mutation::Action;
use crate::program::*;

impl Program {
    /// The locals that are moved like this, or may be.
    pub(crate) fn settle_replaced(&mut self) {
        let returned =
            |id: &VarId| self.results.contains(id) || self.called.contains(id) || self.variables[*id].heap;
        let unknown = |id: &VarId| {
            let variable = &self.variables[*id];
            variable.origin == Origin::Local && variable.kind == Kind::Unknown && returned(id)
        };
        let mut moved = Vec::new();
        for (block, content) in self.blocks.iter().enumerate() {
            for (i, statement) in content.statements.iter().enumerate() {
                // `s.x = next;`, as an exchange with another name for `next`.
                if let StatementKind::Let(Let { variables, init: Some(init), tuple: false, .. }) =
                    &statement.kind
                    && let (&[Some(id)], ExprKind::Read(place)) =
                        (&variables[..], &self.exprs[self.peel(*init)].kind)
                    && place.projections.is_empty()
                    && unknown(&place.base)
                    && self.variables[place.base].block == block
                    && self.is_exchanged(id)
                    && !self.read_as_a_whole(place.base, *init)
                    && !self.mentioned_behind(place.base, block, i)
                {
                    moved.push(place.base);
                }
                let StatementKind::Assign(assign) = &statement.kind else { continue };
                let ExprKind::Read(place) = &self.exprs[self.peel(assign.value)].kind else { continue };
                let (next, state) = (place.base, assign.place.base);
                let whole = place.projections.is_empty() && assign.place.projections.is_empty();
                if whole
                    && assign.op.is_none()
                    && [next, state].iter().all(unknown)
                    && self.variables[next].block == block
                    && (self.may_own(next) || self.may_own(state))
                    && !self.mentioned_behind(next, block, i)
                {
                    moved.extend([next, state]);
                }
            }
        }
        for id in moved {
            self.variables[id].heap = true;
        }
    }

    /// The local changes places with a part of something.
    fn is_exchanged(&self, id: VarId) -> bool {
        let is = |arg: ExprId, whole: bool| match &self.exprs[arg].kind {
            ExprKind::Borrow { place, .. } => whole == (place.base == id && place.projections.is_empty()),
            _ => false,
        };
        self.exprs.iter().any(|e| match &e.kind {
            ExprKind::Mutation { action: Action::Exchange, args } => is(args[0], false) && is(args[1], true),
            _ => false,
        })
    }
}
