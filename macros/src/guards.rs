//! What an iteration computes only for an `if` at its end: `let r = …; if r < cutoff { total += f(r); }`.
//!
//! Where the branch is not taken no gradient comes to `r`, so that nothing of what `r` was computed from has to be undone.

use proc_macro2::TokenStream;
use quote::quote;

use crate::cotangent::Cotangent;
use crate::kept::Item;
use crate::program::*;
use crate::reverse::Reverse;

impl Reverse<'_> {
    /// `expr` as such an `if`, if it follows `number` statements of a loop's body and no gradients come from behind it.
    fn guard(&self, block: BlockId, expr: ExprId, number: usize) -> Option<(ExprId, ExprId, BlockId)> {
        let program = self.program;
        let expr = program.peel(expr);
        let ExprKind::If { cond, then, otherwise: None } = program.exprs[expr].kind else { return None };
        let level = &self.levels[self.top()];
        let first = level.is_loop && level.declared.iter().all(|id| program.variables[*id].block != block);
        let alone =
            (0..number).all(|i| self.only_for_later(block, &program.blocks[block].statements[i].kind));
        (number > 0 && first && alone && !program.yields_value(then)).then_some((expr, cond, then))
    }

    /// The statement does nothing but give values to variables of `block`.
    fn only_for_later(&self, block: BlockId, statement: &StatementKind) -> bool {
        let program = self.program;
        let own = |id: VarId| {
            let variable = &program.variables[id];
            variable.block == block && variable.origin == Origin::Local && !variable.memory && !variable.heap
        };
        let plain = |expr: ExprId| {
            program.tree(expr).into_iter().all(|e| {
                let kind = &program.exprs[e].kind;
                !kind.happens_once() && !matches!(kind, ExprKind::Borrow { .. })
            })
        };
        match statement {
            StatementKind::Let(l) => {
                l.variables.iter().flatten().all(|id| own(*id))
                    && l.init.is_none_or(|e| plain(e) && program.blocks_of(e).is_empty())
            }
            StatementKind::Assign(a) => own(a.place.base) && a.place.projections.is_empty() && plain(a.value),
            StatementKind::For(f) => {
                let inside = program.nested(f.body);
                program.written(f.body).into_iter().all(own)
                    && inside.iter().flat_map(|b| program.roots(*b)).all(plain)
                    && inside.iter().flat_map(|b| &program.blocks[*b].statements).all(|s| {
                        matches!(
                            s.kind,
                            StatementKind::Let(_) | StatementKind::Assign(_) | StatementKind::For(_)
                        )
                    })
            }
            StatementKind::Opaque(_) => true,
            StatementKind::Expr(..) | StatementKind::While(_) => false,
        }
    }

    /// Undoes `expr`, which stands in `block` at `at`, and the `number` statements before it, if it is such an `if`. Tells
    /// whether it was.
    pub(crate) fn undo_guarded(&mut self, block: BlockId, expr: ExprId, at: &At, number: usize) -> bool {
        let Some((expr, cond, then)) = self.guard(block, expr, number) else { return false };
        let program = self.program;
        let level = self.top();
        self.open(then, false);
        self.undo_block(then, Some(&Cotangent::nothing()));
        let mut body = self.close();
        let test = if !self.kept.is_empty(then) {
            None
        } else if self.free(cond, at, level) {
            Some(self.text(cond, at, level))
        } else {
            let name = self.kept.keep(at.block, Item::Value(cond), "taken");
            Some(quote!(#name))
        };
        self.levels[level].current = (*at.versions).clone();
        let before = std::mem::take(&mut self.levels[level].out);
        // What is within a branch is not gathered for all iterations.
        let index = self.levels[level].index.take();
        self.undo_statements(block, number);
        let facts = self.facts();
        let rest =
            std::mem::replace(&mut self.levels[level].out, before).finish(program, &mut self.kept, &facts);
        self.levels[level].index = index;
        // What iterations of inner loops have kept has to be taken off their stacks in any case.
        let inner =
            program.nested(block).into_iter().filter(|b| *b != block && !program.nested(then).contains(b));
        let lean = inner.into_iter().all(|b| self.kept.is_empty(b));
        let behind = if lean {
            body.extend(rest);
            TokenStream::new()
        } else {
            rest
        };
        match test {
            _ if body.is_empty() && self.kept.is_empty(then) => {}
            Some(test) => self.emit(quote!(if #test { #body })),
            None => {
                let residual = self.kept.keep(at.block, Item::Branch(expr), "branch");
                let pattern = self.kept.pattern(then);
                self.emit(quote!(if let __pb::Branch::Then(#pattern) = #residual { #body }));
            }
        }
        self.emit(behind);
        true
    }
}

impl Program {
    /// The block has a value, as that of a branch.
    fn yields_value(&self, block: BlockId) -> bool {
        self.blocks[block].value.is_some_and(|value| self.exprs[value].active)
    }
}
