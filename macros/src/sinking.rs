//! A loop that can as well stand behind the statements which follow it.

use std::collections::HashSet;

use quote::ToTokens;

use crate::gather::idents;
use crate::program::*;

/// All that some statements consist of.
#[derive(Default)]
struct Extent<'p> {
    statements: Vec<&'p Statement>,
    exprs: Vec<ExprId>,
    blocks: Vec<BlockId>,
}

impl Program {
    /// Nothing is different if `rest`, which follows `first`, comes before it, nor if all that `rest` has written to memory is
    /// undone by the end.
    pub(crate) fn sinks(&self, first: &Statement, rest: &[Statement]) -> bool {
        let (above, below) = (self.extent(std::slice::from_ref(first)), self.extent(rest));
        let (written, mentioned) = (self.written_in(&below), self.mentioned_in(&below));
        let lasting = |id: &VarId| {
            let variable = &self.variables[*id];
            variable.memory && !below.blocks.contains(&variable.block)
        };
        // Neither takes it away from the other.
        let stays = |id: &VarId| {
            let variable = &self.variables[*id];
            let number = !variable.memory && matches!(variable.kind, Kind::Float | Kind::Inert);
            variable.by_reference() || number || variable.zero.is_some() && !variable.heap
        };
        let looked_at = self.mentioned_in(&above);
        let mut bound = HashSet::new();
        for statement in rest {
            if let StatementKind::Let(l) = &statement.kind {
                idents(&l.syntax.pat.to_token_stream(), &mut bound);
            }
        }
        for keyword in ["mut", "ref"] {
            bound.remove(keyword);
        }
        // What constant code may change it may also change by other names.
        let changeable = |id: &VarId| self.variables[*id].disturbed || self.variables[*id].unrestored;
        if mentioned.iter().chain(&looked_at).any(changeable)
            || self.has_effects(&above) && self.has_effects(&below)
        {
            return false;
        }
        !written.iter().any(lasting)
            && written.is_disjoint(&looked_at)
            && mentioned.is_disjoint(&self.written_in(&above))
            && mentioned.intersection(&looked_at).all(stays)
            && bound.is_disjoint(&self.idents_in(&above))
    }

    /// The variables that statements are about, those in blocks among them.
    pub(crate) fn mentioned_by(&self, statements: &[Statement]) -> HashSet<VarId> {
        self.mentioned_in(&self.extent(statements))
    }

    fn extent<'p>(&'p self, statements: &'p [Statement]) -> Extent<'p> {
        let mut extent = Extent::default();
        self.extend(&mut extent, statements, None);
        extent
    }

    fn extend<'p>(&'p self, extent: &mut Extent<'p>, statements: &'p [Statement], value: Option<ExprId>) {
        let roots = statements.iter().flat_map(Statement::roots).chain(value);
        let exprs: Vec<_> = roots.flat_map(|root| self.tree(root)).collect();
        let mut blocks: Vec<_> = exprs.iter().flat_map(|e| self.blocks_of(*e)).collect();
        blocks.extend(statements.iter().filter_map(|statement| match &statement.kind {
            StatementKind::For(f) => Some(f.body),
            StatementKind::While(w) => Some(w.body),
            _ => None,
        }));
        extent.statements.extend(statements);
        extent.exprs.extend(exprs);
        for block in blocks {
            extent.blocks.push(block);
            let block = &self.blocks[block];
            self.extend(extent, &block.statements, block.value);
        }
    }

    /// Constant code may do something that code elsewhere can notice.
    fn has_effects(&self, extent: &Extent<'_>) -> bool {
        let impure =
            |e: &ExprId| matches!(&self.exprs[*e].kind, ExprKind::Constant(constant) if !constant.pure);
        let called =
            |e: &ExprId| matches!(&self.exprs[*e].kind, ExprKind::Call { .. } | ExprKind::Callback(_));
        let opaque = |s: &&Statement| matches!(&s.kind, StatementKind::Opaque(_));
        extent.exprs.iter().any(|e| impure(e) || called(e)) || extent.statements.iter().any(opaque)
    }

    fn written_in(&self, extent: &Extent<'_>) -> HashSet<VarId> {
        self.writes(extent.statements.iter().copied(), extent.exprs.iter().copied()).into_iter().collect()
    }

    fn mentioned_in(&self, extent: &Extent<'_>) -> HashSet<VarId> {
        let mut mentioned = self.written_in(extent);
        let bases =
            |aliases: &[(syn::Ident, Place)]| aliases.iter().map(|(_, place)| place.base).collect::<Vec<_>>();
        for e in &extent.exprs {
            match &self.exprs[*e].kind {
                ExprKind::Read(place) | ExprKind::Borrow { place, .. } => _ = mentioned.insert(place.base),
                ExprKind::Callback(Callback::Parameter(id)) => _ = mentioned.insert(*id),
                ExprKind::Constant(constant) => {
                    mentioned.extend(&constant.mentions);
                    mentioned.extend(bases(&constant.aliases));
                }
                _ => {}
            }
        }
        for statement in &extent.statements {
            match &statement.kind {
                StatementKind::Opaque(opaque) => {
                    mentioned.extend(&opaque.mentions);
                    mentioned.extend(bases(&opaque.aliases));
                }
                StatementKind::Let(l) => mentioned.extend(bases(&l.aliases)),
                _ => {}
            }
        }
        mentioned
    }

    /// The names in the text.
    fn idents_in(&self, extent: &Extent<'_>) -> HashSet<String> {
        let mut found = HashSet::new();
        for statement in &extent.statements {
            match &statement.kind {
                StatementKind::Let(l) => idents(&l.syntax.to_token_stream(), &mut found),
                StatementKind::Assign(assign) => idents(&assign.syntax.to_token_stream(), &mut found),
                StatementKind::Opaque(opaque) => idents(&opaque.syntax.to_token_stream(), &mut found),
                _ => {}
            }
        }
        for e in &extent.exprs {
            idents(&self.exprs[*e].syntax.to_token_stream(), &mut found);
        }
        found
    }
}
