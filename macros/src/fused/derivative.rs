//! The derivative of a graph, as more nodes of the graph.

use super::functions::Function;
use super::graph::*;
use crate::passed_over::STEEP;

/// Adds to `graph` the gradients with respect to `inputs`, for the gradient `seed` with respect to `root`.
///
/// What is the same for all elements of a row gets the sum of what they contribute.
pub(crate) fn gradients(graph: &mut Graph, root: NodeId, seed: NodeId, inputs: &[NodeId]) -> Vec<NodeId> {
    let zero = graph.literal(0.0);
    let mut adjoints = Adjoints {
        of_rows: vec![zero; root + 1],
        of_elements: vec![zero; root + 1],
        zero,
        seen: graph.seen_by(root),
    };
    adjoints.add(graph, root, root, seed);
    for id in (0..=root).rev() {
        let d = adjoints.total(graph, id);
        if d != zero {
            adjoints.propagate(graph, id, d);
        }
    }
    inputs.iter().map(|input| if *input <= root { adjoints.total(graph, *input) } else { zero }).collect()
}

struct Adjoints {
    /// The same for all elements.
    of_rows: Vec<NodeId>,
    /// Another for each element.
    of_elements: Vec<NodeId>,
    zero: NodeId,
    /// What counts whatever is selected.
    seen: Vec<bool>,
}

impl Adjoints {
    /// What the node `user` contributes to the gradient with respect to its operand `id`.
    fn add(&mut self, graph: &mut Graph, user: NodeId, id: NodeId, d: NodeId) {
        if graph.level(d) == Level::Element {
            self.of_elements[id] = graph.sum(self.of_elements[id], d);
        } else {
            // Each element of the row contributes as much.
            let all = graph.level(user) == Level::Element && graph.level(id) != Level::Element;
            let d = if all { graph.reduce(Reduction::Sum, d) } else { d };
            self.of_rows[id] = graph.sum(self.of_rows[id], d);
        }
    }

    fn total(&self, graph: &mut Graph, id: NodeId) -> NodeId {
        let (row, elements) = (self.of_rows[id], self.of_elements[id]);
        match graph.level(id) {
            Level::Element => graph.sum(row, elements),
            // Nobody asks for the gradient of a number in the source.
            Level::Literal => self.zero,
            Level::Row if elements == self.zero => row,
            Level::Row => {
                let sum = graph.reduce(Reduction::Sum, elements);
                graph.sum(row, sum)
            }
        }
    }

    /// Hands `d`, the gradient with respect to a node, to its operands.
    fn propagate(&mut self, graph: &mut Graph, id: NodeId, d: NodeId) {
        match graph.node(id) {
            Node::Input(_)
            | Node::Number(_)
            | Node::Given(_)
            | Node::Literal(_)
            | Node::Count
            | Node::Constant(_)
            | Node::Own(_) => {}
            Node::Neg(a) => {
                let d = graph.negative(d);
                self.add(graph, id, a, d);
            }
            Node::Binary(op, a, b) => self.binary(graph, (op, a, b), id, d),
            Node::Apply(function, a) => {
                // A quotient is more exact than a product with the reciprocal.
                let by_a = match function {
                    Function::Ln => graph.quotient(d, a),
                    _ => {
                        let slope = function.slope(graph, a, id);
                        graph.product(d, slope)
                    }
                };
                let by_a = if STEEP.contains(&function.name()) {
                    self.where_seen(graph, (id, d), by_a)
                } else {
                    by_a
                };
                self.add(graph, id, a, by_a);
            }
            Node::Select { test, left, right, then, otherwise } => {
                let zero = self.zero;
                let by_then = graph.select((left, test, right), d, zero);
                let by_otherwise = graph.select((left, test, right), zero, d);
                self.add(graph, id, then, by_then);
                self.add(graph, id, otherwise, by_otherwise);
            }
            Node::Reduce(Reduction::Sum, a) => self.add(graph, id, a, d),
            Node::Reduce(Reduction::Max | Reduction::Min, a) => {
                // Elements that are equally large have equal shares.
                let (zero, one) = (self.zero, graph.literal(1.0));
                let chosen = graph.select((a, Test::Equal, id), one, zero);
                let ties = graph.reduce(Reduction::Sum, chosen);
                let share = graph.quotient(d, ties);
                let d = graph.select((a, Test::Equal, id), share, zero);
                self.add(graph, id, a, d);
            }
        }
    }

    /// `gradient`, which the node `id` hands on: zero if `d`, its own, is zero since something else has been selected. It would be 0·∞
    /// where a derivative is infinite.
    fn where_seen(&self, graph: &mut Graph, (id, d): (NodeId, NodeId), gradient: NodeId) -> NodeId {
        match self.seen[id] {
            true => gradient,
            false => graph.select((d, Test::Equal, self.zero), self.zero, gradient),
        }
    }

    fn binary(&mut self, graph: &mut Graph, (op, a, b): (Binary, NodeId, NodeId), id: NodeId, d: NodeId) {
        let (by_a, by_b) = match op {
            Binary::Add => (d, d),
            Binary::Sub => (d, graph.negative(d)),
            Binary::Mul => (graph.product(d, b), graph.product(d, a)),
            Binary::Div => {
                let by_a = graph.quotient(d, b);
                let change = graph.product(by_a, id);
                let by_b = graph.negative(change);
                (self.where_seen(graph, (id, d), by_a), self.where_seen(graph, (id, d), by_b))
            }
            Binary::Pow => {
                // b·aᵇ⁻¹ and aᵇ·ln a, which is taken to be 0 at a = 0.
                let (one, zero) = (graph.literal(1.0), self.zero);
                let less = graph.difference(b, one);
                let power = graph.add(Node::Binary(Binary::Pow, a, less));
                let slope = graph.product(b, power);
                let by_a = graph.product(d, slope);
                let by_a = self.where_seen(graph, (id, d), by_a);
                let logarithm = graph.apply(Function::Ln, a);
                let growth = graph.product(id, logarithm);
                let growth = graph.select((a, Test::Equal, zero), zero, growth);
                let by_b = graph.product(d, growth);
                (by_a, self.where_seen(graph, (id, d), by_b))
            }
            Binary::Atan2 => {
                let (aa, bb) = (graph.product(a, a), graph.product(b, b));
                let square = graph.sum(aa, bb);
                let share = graph.quotient(d, square);
                let share = self.where_seen(graph, (id, d), share);
                let by_b = graph.product(share, a);
                (graph.product(share, b), graph.negative(by_b))
            }
        };
        self.add(graph, id, a, by_a);
        // An operand that is a number in the source has no use for it.
        if graph.level(b) != Level::Literal {
            self.add(graph, id, b, by_b);
        }
    }
}
