//! What takes long to compute in one pass waits for a later one, at the place that a gradient is going to be written to.

use super::graph::*;
use super::schedule::Schedule;

/// The schedule of both passes of a function of one row, see [`Schedule::new`], whose elements wait at the place of the array `port`.
pub(crate) struct Staged {
    pub(crate) schedule: Schedule,
    pub(crate) port: usize,
}

/// Such a schedule instead of `plain`, if something in it is worth it. The place is read as the array of the number `input`.
pub(crate) fn staged(
    graph: &mut Graph,
    plain: &Schedule,
    input: usize,
    outputs: &[(usize, NodeId)],
    (results, first, known): (&[NodeId], &[NodeId], &[NodeId]),
) -> Option<Staged> {
    let worth = |graph: &Graph, id: NodeId| {
        matches!(graph.node(id), Node::Apply(function, _) if function.is_costly())
            && plain.reducing(graph, id).is_some()
    };
    let (port, waiting) = outputs.iter().find_map(|(port, id)| {
        // What depends on others comes after these.
        Some((*port, graph.elements(&[*id]).into_iter().rev().find(|id| worth(graph, *id))?))
    })?;
    let read = graph.add(Node::Input(input));
    let outputs: Vec<_> =
        outputs.iter().map(|(port, id)| (*port, graph.replaced_in_element(*id, waiting, read))).collect();
    let mut schedule = Schedule::new(graph, &outputs, results, first, known);
    let pass = schedule.reducing(graph, waiting)?;
    let again =
        schedule.passes[pass + 1..].iter().any(|later| graph.elements(&later.roots()).contains(&waiting));
    schedule.passes[pass].outputs.push((port, waiting));
    (!again).then_some(Staged { schedule, port })
}

#[cfg(test)]
mod tests {
    use super::super::{Fused, derivative};
    use super::*;

    /// The operand at whose gradient's place something waits, and what is computed once less for it.
    fn waiting(text: &str) -> Option<(usize, &'static str)> {
        let function: Fused = syn::parse_str(text).expect("a fused function");
        let (mut graph, value) = function.graph().expect("an expression");
        let arrays = function.operands.len();
        let inputs: Vec<NodeId> =
            function.operands.iter().enumerate().map(|(i, o)| graph.add(o.node(i))).collect();
        let seed = graph.add(Node::Given(0));
        let gradients = derivative::gradients(&mut graph, value, seed, &inputs);
        let (totals, outputs): (Vec<_>, Vec<_>) =
            gradients.into_iter().enumerate().partition(|(i, _)| function.operands[*i].scalar);
        let own = graph.add(Node::Own(value));
        let results: Vec<_> = totals.iter().map(|(_, id)| *id).chain([own]).collect();
        let rows = (&results[..], &[seed, own][..], &[seed][..]);
        let plain = Schedule::new(&graph, &outputs, rows.0, rows.1, rows.2);
        let Staged { schedule, port } = staged(&mut graph, &plain, arrays, &outputs, rows)?;
        let applied = |schedule: &Schedule| -> Vec<&'static str> {
            let elements = schedule.passes.iter().flat_map(|pass| graph.elements(&pass.roots()));
            let mut names: Vec<_> = elements
                .filter_map(|id| match graph.node(id) {
                    Node::Apply(function, _) if function.is_costly() => Some(function.name()),
                    _ => None,
                })
                .collect();
            names.sort_unstable();
            names
        };
        let (mut before, after) = (applied(&plain), applied(&schedule));
        for name in after {
            before.remove(
                before.iter().position(|other| *other == name).expect("nothing is computed more often"),
            );
        }
        assert_eq!(before.len(), 1, "{before:?}");
        Some((port, before[0]))
    }

    #[test]
    fn what_two_passes_compute_is_computed_once() {
        let log_sum_exp = "fn f(x) { let m = constant(max(x)); m + sum((x - m).exp()).ln() }";
        assert_eq!(waiting(log_sum_exp), Some((0, "exp")));
        let known_at_once = "fn f(s: T, t, x) { let m = constant(max(x)); sum(t * (x - m).tanh()) * m * s }";
        assert_eq!(waiting(known_at_once), None);
        let squared = "fn f(k: T, t, x) { let s = sum(t * x.tanh()); s * s * k }";
        assert_eq!(waiting(squared), Some((1, "tanh")));
    }

    #[test]
    fn what_one_pass_computes_does_not_wait() {
        for text in
            ["fn f(x) { sum(x.exp()) }", "fn f(x) { mean(x.sin() * x) }", "fn f(x) { sum(x * x).sqrt() }"]
        {
            assert_eq!(waiting(text), None, "{text}");
        }
    }
}
