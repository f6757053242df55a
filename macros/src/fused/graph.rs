//! Expressions over the elements of arrays, as a graph without repetitions: what the code of all back ends is made from.
//!
//! A *row* is what reductions run over: the elements along one axis, or all there are. Nodes are either the same for all elements
//! of a row or not, see [`Level`].

use std::collections::HashMap;

use super::functions::Function;

pub(crate) type NodeId = usize;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Node {
    /// An element of an array.
    Input(usize),
    /// An operand that is a number.
    Number(usize),
    /// A number of the row that is known beforehand.
    Given(usize),
    /// A number, by its bits.
    Literal(u64),
    /// How many elements the row has.
    Count,
    Neg(NodeId),
    Binary(Binary, NodeId, NodeId),
    Apply(Function, NodeId),
    /// `if left ? right { then } else { otherwise }`
    Select {
        test: Test,
        left: NodeId,
        right: NodeId,
        then: NodeId,
        otherwise: NodeId,
    },
    Reduce(Reduction, NodeId),
    /// The value of a node, taken to be constant.
    Constant(NodeId),
    /// A node once more, in a slot of its own.
    Own(NodeId),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    /// `x.powf(y)`
    Pow,
    Atan2,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Test {
    Less,
    LessOrEqual,
    Equal,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Reduction {
    Sum,
    Max,
    Min,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Level {
    /// A number in the source.
    Literal,
    /// One number for each row.
    Row,
    /// One for each element.
    Element,
}

#[derive(Default)]
pub(crate) struct Graph {
    nodes: Vec<Node>,
    levels: Vec<Level>,
    ids: HashMap<Node, NodeId>,
}

impl Graph {
    pub(crate) fn node(&self, id: NodeId) -> Node {
        self.nodes[id]
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn level(&self, id: NodeId) -> Level {
        self.levels[id]
    }

    /// The id of `node`, as it stands.
    pub(crate) fn add(&mut self, node: Node) -> NodeId {
        if let Some(id) = self.ids.get(&node) {
            return *id;
        }
        let level = match node {
            Node::Input(_) => Level::Element,
            Node::Number(_) | Node::Given(_) | Node::Count | Node::Reduce(..) => Level::Row,
            Node::Literal(_) => Level::Literal,
            _ => operands(node).into_iter().map(|id| self.level(id)).max().expect("operands"),
        };
        let id = self.nodes.len();
        self.nodes.push(node);
        self.levels.push(level);
        self.ids.insert(node, id);
        id
    }

    pub(crate) fn literal(&mut self, value: f64) -> NodeId {
        self.add(Node::Literal(value.to_bits()))
    }

    fn value(&self, id: NodeId) -> Option<f64> {
        match self.node(id) {
            Node::Literal(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    // The derivative is written with these, which leave out what changes nothing.

    pub(crate) fn sum(&mut self, left: NodeId, right: NodeId) -> NodeId {
        match (self.value(left), self.value(right), self.node(left), self.node(right)) {
            (Some(0.0), ..) => right,
            (_, Some(0.0), ..) => left,
            (.., Node::Neg(right)) => self.difference(left, right),
            (_, _, Node::Neg(left), _) => self.difference(right, left),
            _ => self.add(Node::Binary(Binary::Add, left, right)),
        }
    }

    pub(crate) fn difference(&mut self, left: NodeId, right: NodeId) -> NodeId {
        match self.value(right) {
            Some(0.0) => left,
            _ => self.add(Node::Binary(Binary::Sub, left, right)),
        }
    }

    pub(crate) fn product(&mut self, left: NodeId, right: NodeId) -> NodeId {
        match (self.value(left), self.value(right), self.node(left), self.node(right)) {
            (Some(1.0), ..) => right,
            (_, Some(1.0), ..) => left,
            (Some(-1.0), ..) => self.negative(right),
            (_, Some(-1.0), ..) => self.negative(left),
            (Some(0.0), ..) => left,
            (_, Some(0.0), ..) => right,
            (.., Node::Neg(right)) => {
                let product = self.product(left, right);
                self.negative(product)
            }
            (_, _, Node::Neg(left), _) => {
                let product = self.product(left, right);
                self.negative(product)
            }
            _ => self.add(Node::Binary(Binary::Mul, left, right)),
        }
    }

    pub(crate) fn quotient(&mut self, left: NodeId, right: NodeId) -> NodeId {
        match (self.value(right), self.node(left)) {
            (Some(1.0), _) => left,
            (_, Node::Neg(left)) => {
                let quotient = self.quotient(left, right);
                self.negative(quotient)
            }
            _ => self.add(Node::Binary(Binary::Div, left, right)),
        }
    }

    pub(crate) fn negative(&mut self, id: NodeId) -> NodeId {
        match (self.node(id), self.value(id)) {
            (Node::Neg(id), _) => id,
            (_, Some(value)) => self.literal(-value),
            _ => self.add(Node::Neg(id)),
        }
    }

    pub(crate) fn apply(&mut self, function: Function, id: NodeId) -> NodeId {
        self.add(Node::Apply(function, id))
    }

    pub(crate) fn select(
        &mut self,
        (left, test, right): (NodeId, Test, NodeId),
        then: NodeId,
        otherwise: NodeId,
    ) -> NodeId {
        self.add(Node::Select { test, left, right, then, otherwise })
    }

    /// The reduction of a row; of one whose elements are all the same, without going through it.
    pub(crate) fn reduce(&mut self, reduction: Reduction, id: NodeId) -> NodeId {
        match (self.level(id), reduction) {
            (Level::Element, _) => self.add(Node::Reduce(reduction, id)),
            (_, Reduction::Sum) => {
                let count = self.add(Node::Count);
                self.product(count, id)
            }
            (_, Reduction::Max | Reduction::Min) => id,
        }
    }

    /// All that the nodes `roots` depend on, without what only `known` nodes depend on, in order of computation.
    pub(crate) fn needed(&self, roots: &[NodeId], known: &dyn Fn(NodeId) -> bool) -> Vec<NodeId> {
        let mut needed = vec![false; self.len()];
        let mut open = roots.to_vec();
        while let Some(id) = open.pop() {
            if !std::mem::replace(&mut needed[id], true) && !known(id) {
                open.extend(operands(self.node(id)));
            }
        }
        (0..self.len()).filter(|id| needed[*id]).collect()
    }

    /// `roots` with `by` in the place of `old`, wherever they depend on it.
    pub(crate) fn replaced(&mut self, roots: &[NodeId], old: NodeId, by: NodeId) -> Vec<NodeId> {
        self.rewritten(roots, |_, id, _| (id == old).then_some(by))
    }

    /// The element `root` with `by` in the place of the element `old`. Numbers of the row remain what they are.
    pub(crate) fn replaced_in_element(&mut self, root: NodeId, old: NodeId, by: NodeId) -> NodeId {
        self.rewritten(&[root], |graph, id, _| match graph.level(id) {
            Level::Element => (id == old).then_some(by),
            _ => Some(id),
        })[0]
    }

    /// Which of the nodes up to `root` it depends on whatever is selected.
    pub(crate) fn seen_by(&self, root: NodeId) -> Vec<bool> {
        let mut seen = vec![false; root + 1];
        seen[root] = true;
        for id in (0..=root).rev() {
            if seen[id] && !matches!(self.node(id), Node::Select { .. }) {
                operands(self.node(id)).into_iter().for_each(|operand| seen[operand] = true);
            }
        }
        seen
    }

    /// The elements that `roots` depend on, but for those that only numbers of the row depend on.
    pub(crate) fn elements(&self, roots: &[NodeId]) -> Vec<NodeId> {
        let element = |id: NodeId| self.level(id) == Level::Element;
        let mut elements = self.needed(roots, &|id| !element(id));
        elements.retain(|id| element(*id));
        elements
    }

    /// `roots` with one division for all elements of a row: elements are multiplied by the reciprocal. That rounds differently, which
    /// matters to values and not to gradients.
    pub(crate) fn with_reciprocals(&mut self, roots: &[NodeId]) -> Vec<NodeId> {
        self.rewritten(roots, |graph, _, node| match node {
            Node::Binary(Binary::Div, a, b)
                if graph.level(a) == Level::Element && graph.level(b) == Level::Row =>
            {
                let inverse = graph.apply(Function::Recip, b);
                Some(graph.add(Node::Binary(Binary::Mul, a, inverse)))
            }
            _ => None,
        })
    }

    /// `roots` with fewer sums that wait for others, among what stands behind the first `count` nodes: a number of the row that takes a
    /// sum to be known is multiplied by the sum of its factors, *Σ (aᵢ + k·bᵢ) = Σ aᵢ + k·Σ bᵢ*, so that one pass through the row has all
    /// three. That rounds differently, too.
    pub(crate) fn with_sums_apart(&mut self, roots: &[NodeId], count: usize) -> Vec<NodeId> {
        self.rewritten(roots, |graph, id, node| match node {
            Node::Reduce(Reduction::Sum, of) if id >= count => Some(graph.sum_apart(of, count)),
            _ => None,
        })
    }

    fn sum_apart(&mut self, id: NodeId, count: usize) -> NodeId {
        if !self.waits(id, count) {
            return self.reduce(Reduction::Sum, id);
        }
        match self.node(id) {
            Node::Neg(a) => {
                let sum = self.sum_apart(a, count);
                self.negative(sum)
            }
            Node::Binary(Binary::Add, a, b) => {
                let (a, b) = (self.sum_apart(a, count), self.sum_apart(b, count));
                self.sum(a, b)
            }
            Node::Binary(Binary::Sub, a, b) => {
                let (a, b) = (self.sum_apart(a, count), self.sum_apart(b, count));
                self.difference(a, b)
            }
            Node::Binary(Binary::Mul, a, b) if self.level(a) != Level::Element => {
                let sum = self.sum_apart(b, count);
                self.product(a, sum)
            }
            Node::Binary(Binary::Mul, a, b) if self.level(b) != Level::Element => {
                let sum = self.sum_apart(a, count);
                self.product(sum, b)
            }
            _ => self.reduce(Reduction::Sum, id),
        }
    }

    /// It takes a reduction behind the first `count` nodes to know it.
    fn waits(&self, id: NodeId, count: usize) -> bool {
        let behind = |id: NodeId| id >= count && matches!(self.node(id), Node::Reduce(..));
        self.needed(&[id], &|id| id < count).into_iter().any(behind)
    }

    /// `roots` with other nodes in the place of those for which `rule` has one; it gets a node with its operands rewritten.
    fn rewritten(
        &mut self,
        roots: &[NodeId],
        rule: impl Fn(&mut Self, NodeId, Node) -> Option<NodeId>,
    ) -> Vec<NodeId> {
        let mut rewritten = HashMap::new();
        for id in self.needed(roots, &|_| false) {
            let mut node = self.node(id);
            for operand in operands_mut(&mut node) {
                *operand = rewritten[operand];
            }
            let new = rule(self, id, node).unwrap_or_else(|| self.add(node));
            rewritten.insert(id, new);
        }
        roots.iter().map(|id| rewritten[id]).collect()
    }

    /// The numbers of the row among the first `count` nodes that `roots` read and that it took a reduction to know.
    pub(crate) fn frontier(&self, roots: &[NodeId], count: usize) -> Vec<NodeId> {
        let reduced = |id: NodeId| {
            self.needed(&[id], &|_| false).into_iter().any(|id| matches!(self.node(id), Node::Reduce(..)))
        };
        let known = |id: NodeId| id < count && self.level(id) == Level::Row && reduced(id);
        self.needed(roots, &known).into_iter().filter(|id| known(*id)).collect()
    }
}

pub(crate) fn operands(node: Node) -> Vec<NodeId> {
    match node {
        Node::Input(_) | Node::Number(_) | Node::Given(_) | Node::Literal(_) | Node::Count => Vec::new(),
        Node::Neg(a) | Node::Apply(_, a) | Node::Reduce(_, a) | Node::Constant(a) | Node::Own(a) => vec![a],
        Node::Binary(_, a, b) => vec![a, b],
        Node::Select { left, right, then, otherwise, .. } => vec![left, right, then, otherwise],
    }
}

fn operands_mut(node: &mut Node) -> Vec<&mut NodeId> {
    match node {
        Node::Input(_) | Node::Number(_) | Node::Given(_) | Node::Literal(_) | Node::Count => Vec::new(),
        Node::Neg(a) | Node::Apply(_, a) | Node::Reduce(_, a) | Node::Constant(a) | Node::Own(a) => vec![a],
        Node::Binary(_, a, b) => vec![a, b],
        Node::Select { left, right, then, otherwise, .. } => vec![left, right, then, otherwise],
    }
}
