//! Ways through a program: the operands of expressions, the blocks within others, and what is written where.

use crate::program::*;

impl Program {
    /// The direct operands of an expression, blocks left out.
    pub(crate) fn operands(&self, expr: ExprId) -> Vec<ExprId> {
        match &self.exprs[expr].kind {
            ExprKind::Constant(_) => Vec::new(),
            ExprKind::Read(place) | ExprKind::Borrow { place, .. } => place.indices().collect(),
            ExprKind::Neg(e)
            | ExprKind::Paren(e)
            | ExprKind::Cast(e, _)
            | ExprKind::Repeat(e, _)
            | ExprKind::Try(e)
            | ExprKind::Split(e) => vec![*e],
            ExprKind::Exit { value, .. } => value.iter().copied().collect(),
            ExprKind::Match(m) => {
                std::iter::once(m.scrutinee).chain(m.arms.iter().filter_map(|arm| arm.guard)).collect()
            }
            ExprKind::Binary { left, right, .. } => vec![*left, *right],
            ExprKind::Method { receiver, args, .. } => {
                std::iter::once(*receiver).chain(args.iter().copied()).collect()
            }
            ExprKind::Call { args, .. }
            | ExprKind::Mutation { args, .. }
            | ExprKind::Wrap(_, args)
            | ExprKind::Tuple(args)
            | ExprKind::Array(args) => args.clone(),
            ExprKind::Vector { elements, len } => elements.iter().chain(len).copied().collect(),
            ExprKind::Struct(literal) => {
                literal.fields.iter().map(|(_, value)| *value).chain(literal.rest).collect()
            }
            ExprKind::If { cond, .. } => vec![*cond],
            ExprKind::Block(_) | ExprKind::Loop { .. } | ExprKind::Rest(_) | ExprKind::Callback(_) => {
                Vec::new()
            }
        }
    }

    /// The blocks of an expression.
    pub(crate) fn blocks_of(&self, expr: ExprId) -> Vec<BlockId> {
        match &self.exprs[expr].kind {
            ExprKind::If { then, otherwise, .. } => std::iter::once(*then).chain(*otherwise).collect(),
            ExprKind::Block(block) | ExprKind::Rest(block) | ExprKind::Loop { body: block, .. } => {
                vec![*block]
            }
            ExprKind::Match(m) => m.arms.iter().map(|arm| arm.body).collect(),
            ExprKind::Callback(Callback::Closure { body, .. }) => vec![*body],
            _ => Vec::new(),
        }
    }

    /// `expr` stands in `block` itself.
    pub(crate) fn stands_in(&self, expr: ExprId, block: BlockId) -> bool {
        self.roots(block).into_iter().any(|root| self.tree(root).contains(&expr))
    }

    /// `expr` without parentheses around it.
    pub(crate) fn peel(&self, mut expr: ExprId) -> ExprId {
        while let ExprKind::Paren(inner) = self.exprs[expr].kind {
            expr = inner;
        }
        expr
    }

    /// Nothing in `expr` but its literals tells its type.
    pub(crate) fn only_literals(&self, expr: ExprId) -> bool {
        self.tree(expr).into_iter().all(|e| match &self.exprs[e].kind {
            ExprKind::Constant(_) => matches!(self.exprs[e].syntax, syn::Expr::Lit(_)),
            _ => !self.operands(e).is_empty(),
        })
    }

    /// `expr` and all expressions in it, those in its blocks left out.
    pub(crate) fn tree(&self, expr: ExprId) -> Vec<ExprId> {
        let mut found = vec![expr];
        let mut next = 0;
        while next < found.len() {
            found.extend(self.operands(found[next]));
            next += 1;
        }
        found
    }

    /// `expr` itself, without its operands, is about the variable.
    pub(crate) fn mentions(&self, expr: ExprId, id: VarId) -> bool {
        match &self.exprs[expr].kind {
            ExprKind::Read(place) | ExprKind::Borrow { place, .. } => place.base == id,
            ExprKind::Constant(constant) => constant.mentions.contains(&id),
            _ => false,
        }
    }

    /// The expressions that stand directly in the statements of `block`, and its value.
    pub(crate) fn roots(&self, block: BlockId) -> Vec<ExprId> {
        let block = &self.blocks[block];
        block.statements.iter().flat_map(Statement::roots).chain(block.value).collect()
    }

    /// `block` and all blocks in it.
    pub(crate) fn nested(&self, block: BlockId) -> Vec<BlockId> {
        let mut found = vec![block];
        let mut next = 0;
        while next < found.len() {
            let block = found[next];
            for statement in &self.blocks[block].statements {
                match &statement.kind {
                    StatementKind::For(f) => found.push(f.body),
                    StatementKind::While(w) => found.push(w.body),
                    _ => {}
                }
            }
            for root in self.roots(block) {
                found.extend(self.tree(root).into_iter().flat_map(|e| self.blocks_of(e)));
            }
            next += 1;
        }
        found
    }

    /// The bodies of all loops.
    pub(crate) fn loops(&self) -> impl Iterator<Item = BlockId> + '_ {
        let statements = self.blocks.iter().flat_map(|block| &block.statements);
        let bodies = statements.filter_map(|statement| match &statement.kind {
            StatementKind::For(f) => Some(f.body),
            StatementKind::While(w) => Some(w.body),
            _ => None,
        });
        bodies.chain(self.exprs.iter().filter_map(|e| match e.kind {
            ExprKind::Loop { body, .. } => Some(body),
            _ => None,
        }))
    }

    /// The variables from outside that `block` writes.
    pub(crate) fn written(&self, block: BlockId) -> Vec<VarId> {
        let blocks = self.nested(block);
        let mut written = self.writes_in(block);
        written.retain(|id| !blocks.contains(&self.variables[*id].block));
        written.sort_unstable();
        written.dedup();
        written
    }

    /// The variables that a block writes to, as often as something in it does.
    pub(crate) fn writes_in(&self, block: BlockId) -> Vec<VarId> {
        let blocks = self.nested(block);
        let statements = blocks.iter().flat_map(|block| &self.blocks[*block].statements);
        let exprs = blocks.iter().flat_map(|block| self.roots(*block)).flat_map(|root| self.tree(root));
        self.writes(statements, exprs)
    }

    /// Likewise those that `statements` write to, whose expressions are `exprs`.
    pub(crate) fn writes<'p>(
        &self,
        statements: impl Iterator<Item = &'p Statement>,
        exprs: impl Iterator<Item = ExprId>,
    ) -> Vec<VarId> {
        let mut written = Vec::new();
        for statement in statements {
            match &statement.kind {
                StatementKind::Assign(assign) => written.push(assign.place.base),
                StatementKind::Opaque(opaque) => written.extend(self.disturbed(opaque)),
                _ => {}
            }
        }
        written.extend(exprs.filter_map(|e| match &self.exprs[e].kind {
            ExprKind::Borrow { place, unique: true } => Some(place.base),
            _ => None,
        }));
        written
    }

    /// `block` does not write what the variable, which comes from outside, shares its memory with.
    pub(crate) fn only_reads(&self, block: BlockId, id: VarId) -> bool {
        let storage = |id: VarId| self.variables[id].storage;
        self.variables[id].origin == Origin::Shared
            || self.written(block).into_iter().all(|written| storage(written) != storage(id))
    }

    /// What constant code that is not understood may write.
    pub(crate) fn disturbed(&self, opaque: &Opaque) -> impl Iterator<Item = VarId> + '_ {
        let mentions = if opaque.why.is_some() { opaque.mentions.clone() } else { Vec::new() };
        mentions.into_iter().filter(|id| {
            let variable = &self.variables[*id];
            variable.mutable || variable.origin == Origin::Unique
        })
    }
}

impl Statement {
    /// The expressions that stand directly in it.
    pub(crate) fn roots(&self) -> Vec<ExprId> {
        match &self.kind {
            StatementKind::Let(l) => l.init.into_iter().collect(),
            StatementKind::Assign(a) => a.place.indices().chain([a.value]).collect(),
            StatementKind::Expr(e, _) => vec![*e],
            StatementKind::For(f) => {
                [f.range].into_iter().chain(f.strategy.and_then(Strategy::operand)).collect()
            }
            StatementKind::While(w) => {
                [w.cond].into_iter().chain(w.strategy.and_then(Strategy::operand)).collect()
            }
            StatementKind::Opaque(_) => Vec::new(),
        }
    }
}

impl Place {
    /// The index expressions on the way to the place.
    pub(crate) fn indices(&self) -> impl Iterator<Item = ExprId> + '_ {
        self.projections.iter().flat_map(|p| match p {
            Projection::Index(e) | Projection::Indexed(e, _) => std::slice::from_ref(e).iter().copied(),
            Projection::View(_, args) | Projection::Selected(_, args, _) => args.iter().copied(),
            Projection::Field(_) | Projection::Deref => [].iter().copied(),
        })
    }
}
