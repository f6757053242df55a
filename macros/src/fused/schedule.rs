//! When what is computed: a row is gone through as often as reductions depend on each other.

use std::collections::HashMap;

use super::graph::*;

/// One pass through a row.
#[derive(Default)]
pub(crate) struct Pass {
    /// What is reduced, and the slot of the result.
    pub(crate) reductions: Vec<(Reduction, NodeId, usize)>,
    /// What goes to which array.
    pub(crate) outputs: Vec<(usize, NodeId)>,
    /// What can be computed of the row once this is done, and before the next pass, in order.
    pub(crate) then: Vec<NodeId>,
}

impl Pass {
    /// What it takes of each element.
    pub(crate) fn roots(&self) -> Vec<NodeId> {
        let reduced = self.reductions.iter().map(|(_, id, _)| *id);
        reduced.chain(self.outputs.iter().map(|(_, id)| *id)).collect()
    }
}

pub(crate) struct Schedule {
    /// The first one goes through nothing.
    pub(crate) passes: Vec<Pass>,
    /// Where numbers of the row are kept.
    pub(crate) slots: HashMap<NodeId, usize>,
}

impl Schedule {
    /// Computes `outputs`, each for the array of its number, and `results`, which are numbers of the row.
    ///
    /// The nodes `first` have the first slots; of these `known` are there from the beginning.
    pub(crate) fn new(
        graph: &Graph,
        outputs: &[(usize, NodeId)],
        results: &[NodeId],
        first: &[NodeId],
        known: &[NodeId],
    ) -> Self {
        let roots: Vec<NodeId> = outputs.iter().map(|(_, id)| *id).chain(results.iter().copied()).collect();
        let needed = graph.needed(&roots, &|id| known.contains(&id));
        let mut slots: HashMap<NodeId, usize> =
            first.iter().enumerate().map(|(slot, id)| (*id, slot)).collect();
        for id in &needed {
            if graph.level(*id) == Level::Row {
                let next = slots.len();
                slots.entry(*id).or_insert(next);
            }
        }
        let mut stages = HashMap::new();
        for id in &needed {
            let before =
                operands(graph.node(*id)).iter().filter_map(|o| stages.get(o)).copied().max().unwrap_or(0);
            let stage = match graph.node(*id) {
                _ if known.contains(id) => 0,
                Node::Reduce(..) => before + 1,
                _ => before,
            };
            stages.insert(*id, stage);
        }
        let last = stages.values().copied().max().unwrap_or(0);
        let mut passes: Vec<Pass> = (0..=last + 1).map(|_| Pass::default()).collect();
        for id in &needed {
            let stage: usize = stages[id];
            match graph.node(*id) {
                _ if known.contains(id) || graph.level(*id) != Level::Row => {}
                Node::Reduce(reduction, of) => passes[stage].reductions.push((reduction, of, slots[id])),
                _ => passes[stage].then.push(*id),
            }
        }
        // Arrays are written in one pass, when all of what goes to them is known, and nobody reads what is overwritten any more.
        let writing = outputs.iter().map(|(_, id)| (stages[id] + 1).max(last)).max().unwrap_or(0);
        passes[writing].outputs = outputs.to_vec();
        while passes
            .last()
            .is_some_and(|p| p.reductions.is_empty() && p.outputs.is_empty() && p.then.is_empty())
        {
            passes.pop();
        }
        Schedule { passes, slots }
    }

    /// The first pass that reduces something that depends on the element `id`, if arrays are written in a later one.
    pub(crate) fn reducing(&self, graph: &Graph, id: NodeId) -> Option<usize> {
        let reduces = |pass: &Pass| {
            let reduced: Vec<NodeId> = pass.reductions.iter().map(|(_, of, _)| *of).collect();
            graph.elements(&reduced).contains(&id)
        };
        let first = self.passes.iter().position(reduces)?;
        self.passes[first + 1..].iter().any(|pass| !pass.outputs.is_empty()).then_some(first)
    }
}
