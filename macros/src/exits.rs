//! Ways out of a block: `return`, `break`, `continue` and `?`.
//!
//! The forward pass leaves as the user wrote it, and hands over what each block has kept so far. The reverse pass is
//! structured: what follows a statement that may leave the block is a block of its own, the *rest*, which is undone if it
//! was reached.

use crate::errors::Errors;
use crate::program::*;

/// Reports vectors that are taken out of a block which is left early.
pub(crate) fn report(program: &Program, errors: &mut Errors) {
    const WHY: &str =
        "a vector cannot leave a block early yet: declare a variable before, and fill it in the block";
    for expr in &program.exprs {
        if let ExprKind::Exit { value: Some(value), .. } = expr.kind
            && program.owns(value)
        {
            errors.push(&program.exprs[value].syntax, WHY);
        }
    }
    for statement in program.blocks.iter().flat_map(|block| &block.statements) {
        if let StatementKind::Let(Let { variables, init: Some(init), .. }) = &statement.kind
            && variables
                .iter()
                .flatten()
                .any(|id| program.variables[*id].heap && program.variables[*id].active)
            && program.blocks_of(*init).into_iter().any(|block| !program.exits(block).is_empty())
        {
            errors.push(&program.exprs[*init].syntax, WHY);
        }
    }
}

impl Program {
    /// The block in whose scope the statements of `block` stand.
    pub(crate) fn scope_of(&self, mut block: BlockId) -> BlockId {
        while let Some(outer) = self.continues.get(&block) {
            block = *outer;
        }
        block
    }

    /// The function is left early somewhere, or a block of it.
    pub(crate) fn has_exits(&self) -> bool {
        self.exprs.iter().any(|e| matches!(e.kind, ExprKind::Exit { .. } | ExprKind::Try(_)))
    }

    /// What `value` returns from the function, at whose end it stands.
    pub(crate) fn returned_value(&self, value: ExprId) -> ExprId {
        match self.exprs[self.peel(value)].kind {
            ExprKind::Exit { value: Some(returned), .. } => returned,
            _ => value,
        }
    }

    /// A way out may pass where the name of this variable means another one.
    pub(crate) fn hidden(&self, id: VarId) -> bool {
        let Variable { name, block, .. } = &self.variables[id];
        let mut later = self.variables[id + 1..].iter().filter(|v| v.name == *name).peekable();
        later.peek().is_some() && self.has_exits() && {
            let within = self.nested(*block);
            later.any(|v| within.contains(&v.block))
        }
    }

    /// The exits in `block`, with the blocks in which they stand.
    pub(crate) fn exits(&self, block: BlockId) -> Vec<Target> {
        let mut found = Vec::new();
        for block in self.nested(block) {
            for root in self.roots(block) {
                match &self.exprs[root].kind {
                    ExprKind::Exit { target, .. } => found.push(*target),
                    ExprKind::Try(_) => found.push(self.around(block)),
                    _ => {}
                }
            }
        }
        found
    }

    /// What `return` and `?` in `block` leave: the function, or a closure, or where the function's results come together.
    pub(crate) fn around(&self, block: BlockId) -> Target {
        let body = self.closures.get(&block).copied().or_else(|| self.landing_block());
        body.map_or(Target::Function, Target::Break)
    }

    /// What puts the function's result inside an `Option` or a `Result`, if it is there.
    pub(crate) fn filling(&self) -> Option<ExprId> {
        self.landing.as_ref().and(self.blocks[BODY].value)
    }

    /// The block that the function leaves instead of returning.
    pub(crate) fn landing_block(&self) -> Option<BlockId> {
        let landing = self.landing.as_ref()?;
        self.labels.iter().find(|(_, label)| label.name == landing.label).map(|(block, _)| *block)
    }

    /// Something leaves the loop of this body before it is through.
    pub(crate) fn left_early(&self, body: BlockId) -> bool {
        let within = self.nested(body);
        self.exits(body).into_iter().any(|target| match target {
            Target::Function => true,
            Target::Break(block) => block == body || !within.contains(&block),
            Target::Continue(block) => block != body && !within.contains(&block),
        })
    }

    /// The values with which `break` leaves a loop or a block.
    pub(crate) fn broken(&self, block: BlockId) -> impl Iterator<Item = ExprId> + '_ {
        self.exprs.iter().filter_map(move |e| match e.kind {
            ExprKind::Exit { target: Target::Break(target), value } if target == block => value,
            _ => None,
        })
    }

    /// The expression, as a statement or at the end of a block, goes on elsewhere.
    pub(crate) fn leaves(&self, expr: ExprId) -> bool {
        match &self.exprs[self.peel(expr)].kind {
            ExprKind::Exit { .. } => true,
            ExprKind::Rest(block) => self.is_left(*block),
            ExprKind::Block(block) => {
                self.is_left(*block) && !self.exits(*block).contains(&Target::Break(*block))
            }
            ExprKind::If { then, otherwise: Some(otherwise), .. } => {
                self.is_left(*then) && self.is_left(*otherwise)
            }
            ExprKind::Match(m) => !m.arms.is_empty() && m.arms.iter().all(|arm| self.is_left(arm.body)),
            ExprKind::Loop { body, .. } => !self.exits(*body).contains(&Target::Break(*body)),
            _ => false,
        }
    }

    /// The end of the block is never reached.
    pub(crate) fn is_left(&self, block: BlockId) -> bool {
        let block = &self.blocks[block];
        let last = block.statements.last().and_then(|s| match s.kind {
            StatementKind::Expr(expr, _) => Some(expr),
            _ => None,
        });
        block.value.or(last).is_some_and(|expr| self.leaves(expr))
    }

    /// What the variables hold at the end of `block`: memory as whatever stands there leaves it, other variables as they
    /// were when only this block had been at work.
    pub(crate) fn at_end(&self, id: BlockId) -> Versions {
        let block = &self.blocks[id];
        let rest = block.value.is_some_and(|value| matches!(self.exprs[value].kind, ExprKind::Rest(_)));
        let known = match block.statements.last() {
            Some(split) if rest => &split.before.versions,
            _ => &block.tail.versions,
        };
        let memory = block.end.versions.iter().filter(|(id, _)| self.variables[**id].memory);
        let others = known.iter().filter(|(id, _)| !self.variables[**id].memory);
        memory.chain(others).map(|(id, version)| (*id, *version)).collect()
    }

    /// What stands at the end of a block goes on in its scope.
    pub(crate) fn goes_on(&self, expr: ExprId) -> bool {
        match &self.exprs[expr].kind {
            ExprKind::Rest(_) => true,
            ExprKind::If { .. } => self.guards.contains(&expr),
            ExprKind::Match(m) => matches!(m.style, Style::LetElse | Style::Let),
            _ => false,
        }
    }

    /// What a value that is computed by `expr` carries a gradient from: its blocks may be active for what they do alone.
    pub(crate) fn carries(&self, expr: ExprId) -> bool {
        let expr = self.peel(expr);
        let value = |block: BlockId| self.blocks[block].value.is_some_and(|value| self.carries(value));
        let broken = |block| self.broken(block).any(|value| self.exprs[value].active);
        match &self.exprs[expr].kind {
            ExprKind::If { then, otherwise, .. } => value(*then) || otherwise.is_some_and(value),
            ExprKind::Match(m) => m.arms.iter().any(|arm| value(arm.body)),
            ExprKind::Block(block) => value(*block) || broken(*block),
            ExprKind::Rest(block) => value(*block),
            ExprKind::Loop { body, .. } => broken(*body),
            ExprKind::Exit { .. } => false,
            _ => self.exprs[expr].active,
        }
    }
}
