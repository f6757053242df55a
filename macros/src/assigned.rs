//! Values that the place still holds which they were assigned to: `y[i] = x[i].exp()`, `l[j] = s / l[k]`.
//!
//! The pullback of the function or of the quotient reads its value. Before an assignment is undone it is there to be read, so that it need
//! neither be computed again nor what it was computed from be kept.

use quote::quote;

use crate::program::*;
use crate::reverse::Reverse;

impl Reverse<'_> {
    /// The value that `assign` has just given to a place in memory has a name for its pullback, if that reads it.
    pub(crate) fn reuse_assigned(&mut self, assign: &Assign, value: ExprId, at: &At) {
        let program = self.program;
        let (id, level) = (assign.place.base, self.top());
        let after = At { block: at.block, versions: std::rc::Rc::new(self.levels[level].current.clone()) };
        let unique = program.variables[id].origin == Origin::Unique;
        let there = assign.op.is_none()
            && program.exprs[value].active
            && match program.exprs[value].kind {
                ExprKind::Method { .. } => unique,
                // It must not be in the way of a loop that brings everything back at once.
                ExprKind::Binary { op: Op::Div, right, .. } => {
                    program.exprs[right].active
                        && !program.by_rule(value)
                        && program.kind_of_place(&assign.place) == Kind::Float
                        && self.sweeping(id).is_none()
                        && self.intact(id, &after, level)
                        && (unique || self.is_read_anyway(id, &after))
                }
                _ => false,
            };
        if !there {
            return;
        }
        self.reads_memory(id, &after, level);
        let place = self.place_now(&assign.place, false, at, level);
        let name = self.kept.fresh("y");
        self.emit(quote!(let #name = #place;));
        self.levels[level].temporaries.insert(value, name);
    }

    /// Whatever has to be undone for someone to find the variable as it was at `after` has to be in any case.
    fn is_read_anyway(&self, id: VarId, after: &At) -> bool {
        let storage = self.program.variables[id].storage;
        let (loops, version) = (self.loops(self.top()), after.versions.get(&id).copied().unwrap_or(0));
        self.known.iter().flatten().any(|read| {
            self.program.variables[read.variable].storage == storage
                && read.version <= version
                && loops.iter().all(|body| read.loops.contains(body))
        })
    }
}
