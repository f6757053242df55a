//! Where both passes of a function run at once: loops whose iterations do, calls that do, and the branches that these are in.

use std::collections::{BTreeMap, BTreeSet};

use crate::fusion::{Both, available, both, in_reach, separable};
use crate::kept::Item;
use crate::program::*;
use crate::reverse::Reverse;

/// Where both passes run at once.
#[derive(Clone, Default)]
pub(crate) struct Plan {
    /// Loops: the block in which each stands, and the number of its statement there.
    pub(crate) loops: BTreeMap<BlockId, usize>,
    /// Calls; see [`crate::linear`].
    pub(crate) calls: BTreeSet<ExprId>,
    /// Blocks at the function's end that end with an `if`, in both branches of which this goes on.
    pub(crate) branches: BTreeMap<BlockId, ExprId>,
    /// The blocks at the function's end that do not.
    ends: Vec<BlockId>,
    /// Expressions whose calls need a forward pass of their own.
    split: BTreeSet<ExprId>,
}

impl Plan {
    /// A loop of the function's, and loops within loops.
    pub(crate) fn of_loop(program: &Program, index: usize) -> Plan {
        let mut plan = Plan { ends: vec![BODY], ..Plan::default() };
        plan.add_loops(program, BODY, Some(index));
        plan.find_calls(program);
        plan
    }

    /// What stands at the end of the function, if it is left nowhere else.
    pub(crate) fn of_end(program: &Program) -> Option<Plan> {
        let mut plan = Plan::default();
        plan.add_end(program, BODY);
        plan.find_calls(program);
        let ways_out = |e: &&Expr| matches!(e.kind, ExprKind::Exit { .. } | ExprKind::Try(_));
        let at_end = |block: &&BlockId| {
            let value = program.blocks[**block].value;
            value.is_some_and(|e| {
                matches!(program.exprs[e].kind, ExprKind::Exit { target: Target::Function, value: Some(_) })
            })
        };
        let all = program.exprs.iter().filter(ways_out).count() == plan.ends.iter().filter(at_end).count();
        all.then_some(plan)
    }

    fn add_end(&mut self, program: &Program, block: BlockId) {
        let value = program.blocks[block].value.map(|value| program.peel(value));
        if let Some(value) = value
            && let Expr { kind: ExprKind::If { then, otherwise: Some(otherwise), .. }, active: true, .. } =
                program.exprs[value]
            && ![then, otherwise].iter().any(|branch| writes_outside(program, *branch))
        {
            self.branches.insert(block, value);
            self.add_end(program, then);
            return self.add_end(program, otherwise);
        }
        self.ends.push(block);
        self.add_loops(program, block, last_loop(program, block));
    }

    fn add_loops(&mut self, program: &Program, mut block: BlockId, mut next: Option<usize>) {
        while let Some(index) = next {
            self.loops.insert(block, index);
            block = for_loop(program, block, index).body;
            next = if program.blocks[block].value.is_none() { last_loop(program, block) } else { None };
        }
    }

    /// The loop in `block` and those in it, the outermost one first.
    fn chain(&self, program: &Program, mut block: BlockId) -> Vec<(BlockId, usize)> {
        let mut found = Vec::new();
        while let Some(index) = self.loops.get(&block) {
            found.push((block, *index));
            block = for_loop(program, block, *index).body;
        }
        found
    }

    /// Each expression with calls that can run at once, the block in which it stands, and the calls.
    fn roots(&self, program: &Program) -> Vec<(BlockId, ExprId, Vec<ExprId>)> {
        let mut found = Vec::new();
        for end in &self.ends {
            let chain = self.chain(program, *end);
            match (chain.first(), program.blocks[*end].value) {
                (Some((block, index)), _) => {
                    let outer = for_loop(program, *block, *index).body;
                    found.extend(chain.iter().flat_map(|(block, index)| {
                        program.sums_of_calls(outer, for_loop(program, *block, *index).body)
                    }));
                }
                (None, Some(value)) => {
                    let value = program.returned_value(value);
                    found.push((*end, value, program.linear_calls(value)));
                }
                (None, None) => {}
            }
        }
        found.retain(|(_, root, calls)| !calls.is_empty() && !self.split.contains(root));
        found
    }

    fn find_calls(&mut self, program: &Program) {
        self.calls = self.roots(program).into_iter().flat_map(|(_, _, calls)| calls).collect();
    }

    /// The blocks that the function's end consists of, and those of loops in which other loops stand.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = &BlockId> {
        self.loops.keys().chain(self.branches.keys()).chain(&self.ends)
    }

    /// Nothing is won.
    pub(crate) fn is_empty(&self) -> bool {
        self.loops.is_empty() && self.calls.is_empty()
    }

    /// The closure, with as much of the plan as works.
    pub(crate) fn settle(mut self, program: &Program, reverse: &Reverse) -> Option<Both> {
        while !self.is_empty() {
            let (fused, gradients) = reverse.fusing(&self);
            if self.branches.keys().any(|block| !in_reach(program, &fused, *block)) {
                return None;
            }
            let split: Vec<_> =
                self.roots(program).into_iter().filter(|root| !ready(program, &fused, root)).collect();
            let (chains, ends): (Vec<_>, Vec<_>) = self
                .ends
                .iter()
                .map(|end| (self.chain(program, *end), *end))
                .partition(|(chain, _)| !chain.is_empty());
            let failing: Vec<_> = chains
                .into_iter()
                .filter_map(|(chain, _)| (!runs(program, &fused, &chain)).then(|| chain[chain.len() - 1].0))
                .collect();
            if split.is_empty() && failing.is_empty() {
                if ends.iter().any(|(_, end)| !in_reach(program, &fused, *end)) {
                    return None;
                }
                let body = both(program, &fused, &gradients);
                return Some(Both { body, sets: fused.sets, firsts: fused.firsts });
            }
            self.split.extend(split.into_iter().map(|(_, root, _)| root));
            failing.iter().for_each(|block| _ = self.loops.remove(block));
            self.find_calls(program);
        }
        None
    }
}

/// The branch writes to what lives in memory around it: shadows are made before it, of the shapes that it leaves.
fn writes_outside(program: &Program, branch: BlockId) -> bool {
    let in_memory = |v: &Variable| v.memory || v.heap;
    program.written(branch).into_iter().any(|id| in_memory(&program.variables[id]))
}

/// The loop with this number.
pub(crate) fn for_loop(program: &Program, block: BlockId, index: usize) -> &For {
    match &program.blocks[block].statements[index].kind {
        StatementKind::For(f) => f,
        _ => unreachable!("chosen as a loop"),
    }
}

/// Both passes of these loops can run at once, and there is something to run.
fn runs(program: &Program, fused: &Reverse, chain: &[(BlockId, usize)]) -> bool {
    let (innermost, _) = chain[chain.len() - 1];
    let ready = |(block, index): &(BlockId, usize)| {
        available(program, fused, (*block, *index), fused.fused[block].kept)
    };
    !fused.fused[&innermost].body.is_empty() && chain.iter().all(ready)
}

/// The reverse pass asks for nothing that the forward pass would have to compute with what it leaves out.
fn ready(program: &Program, fused: &Reverse, (block, root, _): &(BlockId, ExprId, Vec<ExprId>)) -> bool {
    let tree = program.tree(*root);
    !fused.kept.items(*block).iter().any(|(item, _)| item.expr().is_some_and(|e| tree.contains(&e)))
}

/// The loop at the end of a block, if its iterations can run backward one by one.
fn last_loop(program: &Program, block: BlockId) -> Option<usize> {
    let statements = &program.blocks[block].statements;
    let index = statements.iter().rposition(|s| !matches!(s.kind, StatementKind::Opaque(_)))?;
    match &statements[index].kind {
        StatementKind::For(f) if separable(program, f.body) => Some(index),
        _ => None,
    }
}

/// The loop of the function that keeps most and can as well come last, if that is not where it stands: the last one that keeps what rules
/// do, or else the last one that keeps something.
pub(crate) fn sinking_loop(program: &Program, reverse: &Reverse) -> Option<usize> {
    if program.has_exits() {
        return None;
    }
    let statements = &program.blocks[BODY].statements;
    let last = |keeps: &dyn Fn(BlockId) -> bool| {
        statements.iter().rposition(|statement| match &statement.kind {
            StatementKind::For(f) => program.nested(f.body).iter().any(|block| keeps(*block)),
            _ => false,
        })
    };
    let of_rules =
        |block| reverse.kept.items(block).iter().any(|(item, _)| matches!(item, Item::Residual(_)));
    let found = [last(&of_rules), last(&|block| !reverse.kept.is_empty(block))];
    found.into_iter().flatten().find(|index| {
        follows(program, BODY, *index)
            && separable(program, for_loop(program, BODY, *index).body)
            && program.sinks(&statements[*index], &statements[index + 1..])
    })
}

/// Statements that matter follow the one with this number.
pub(crate) fn follows(program: &Program, block: BlockId, index: usize) -> bool {
    let statements = &program.blocks[block].statements;
    statements[index + 1..].iter().any(|s| !matches!(s.kind, StatementKind::Opaque(_)))
}
