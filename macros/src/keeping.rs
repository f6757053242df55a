//! Which loops keep the values of methods that they could evaluate again.

use std::collections::HashSet;

use crate::kind::{costly_method, reused_method};
use crate::program::*;
use crate::reverse::Reverse;

/// By blocks, what is kept rather than computed again.
#[derive(Clone, Default)]
pub(crate) struct Keeping {
    /// Whatever takes long, as the innermost loop around the block keeps something of each iteration anyway.
    costly: HashSet<BlockId>,
    /// What the derivative is made of, which is one number for each element of an array whose gradient has as many.
    reused: HashSet<BlockId>,
}

impl Keeping {
    /// What to keep beside what `reverse` has to.
    pub(crate) fn beside(reverse: &Reverse) -> Keeping {
        let program = reverse.program;
        let mut costly = HashSet::new();
        let mut loops: Vec<_> = program.loops().map(|body| (body, program.nested(body))).collect();
        // What is said of an inner loop comes last.
        loops.sort_by_key(|(_, within)| std::cmp::Reverse(within.len()));
        for (body, within) in loops {
            if reverse.kept.is_empty(body) {
                costly.retain(|block| !within.contains(block));
            } else {
                costly.extend(within);
            }
        }
        let outermost = program.blocks.iter().enumerate().filter(|(block, _)| !program.in_loop(*block));
        let loops = outermost.flat_map(|(_, block)| &block.statements).filter_map(|s| match &s.kind {
            StatementKind::For(f) if f.strategy.is_none() => Some(f),
            _ => None,
        });
        let reused = loops.filter(|f| program.visits_elements(f)).map(|f| f.body);
        let reused = reused.filter(|body| !costly.contains(body)).collect();
        Keeping { costly, reused }
    }

    /// Something of `program` is to be kept.
    pub(crate) fn any(&self, program: &Program) -> bool {
        let of = |block: BlockId| program.roots(block).into_iter().flat_map(|root| program.tree(root));
        let blocks = self.costly.union(&self.reused);
        blocks.into_iter().any(|block| {
            of(*block).any(|e| match &program.exprs[e].kind {
                ExprKind::Method { name, .. } => {
                    program.exprs[e].active && self.keeps(*block, &name.to_string())
                }
                _ => false,
            })
        })
    }

    /// The value of a method called `name` that stands in `block` is kept.
    pub(crate) fn keeps(&self, block: BlockId, name: &str) -> bool {
        self.costly.contains(&block) && costly_method(name)
            || self.reused.contains(&block) && reused_method(name)
    }

    /// What is kept in `block` is a part of values that are computed again.
    pub(crate) fn reuses(&self, block: BlockId) -> bool {
        self.reused.contains(&block)
    }
}

impl Program {
    fn in_loop(&self, block: BlockId) -> bool {
        self.loops().any(|body| self.nested(body).contains(&block))
    }

    /// Each iteration of `f` reads an element of its own of an array with gradient.
    fn visits_elements(&self, f: &For) -> bool {
        let Some(index) = self.counter(f) else { return false };
        let mut read = self.roots(f.body).into_iter().flat_map(|root| self.tree(root));
        read.any(|e| match &self.exprs[e].kind {
            ExprKind::Read(place) => {
                self.exprs[e].active
                    && matches!(place.projections[..], [Projection::Index(i)] if self.offset(i, index).is_some())
            }
            _ => false,
        })
    }
}
