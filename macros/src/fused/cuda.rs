//! CUDA C for a schedule: the text of each pass, out of which the rule library makes kernels for the shapes that come up.
//!
//! An element of array `i` is `x{i}`, that of a result `y{o}`, what is reduced `s{n}`, the numbers of the row are `r[…]`, operands that
//! are numbers `n{i}`, and `count` is how many elements the row has. All are of type `T`.

use std::fmt::Write;

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::graph::*;
use super::schedule::{Pass, Schedule};

/// The text of the kernel `name`, for whoever builds the rule library with CUDA, and nothing for others.
pub(crate) fn kernel(
    name: &Ident,
    function: &Ident,
    graph: &Graph,
    schedule: &Schedule,
    totals: &[(usize, NodeId)],
    (inputs, outputs): (usize, usize),
) -> TokenStream {
    let fused = quote!(::pullback::__private::fused);
    let entry = format!("{function}_{name}").to_lowercase();
    let entry = Literal::string(entry.strip_prefix("r#").unwrap_or(&entry));
    let slots = Literal::usize_unsuffixed(schedule.slots.len());
    let text = Text { graph, schedule };
    let passes = schedule.passes.iter().map(|pass| {
        let nodes = text.nodes(pass);
        let reads = (0..inputs).map(|i| nodes.iter().any(|id| graph.node(*id) == Node::Input(i)));
        let writes = (0..outputs).map(|o| pass.outputs.iter().any(|(port, _)| *port == o));
        let reductions = pass.reductions.iter().map(|(reduction, _, slot)| {
            let slot = Literal::usize_unsuffixed(*slot);
            match reduction {
                Reduction::Sum => quote!((#fused::Reduction::Sum, #slot)),
                Reduction::Max => quote!((#fused::Reduction::Max, #slot)),
                Reduction::Min => quote!((#fused::Reduction::Min, #slot)),
            }
        });
        let elements = Literal::string(&text.elements(pass, &nodes));
        let then = Literal::string(&text.then(pass));
        quote!(#fused::PassText {
            reads: &[#(#reads),*],
            writes: &[#(#writes),*],
            reductions: &[#(#reductions),*],
            elements: #elements,
            then: #then,
        })
    });
    let totals = totals.iter().map(|(port, id)| {
        let (port, value) = (Literal::usize_unsuffixed(*port), Literal::string(&text.number_of_row(*id)));
        quote!((#port, #value))
    });
    let numbers = (0..inputs).filter(|i| (0..graph.len()).any(|id| graph.node(id) == Node::Number(*i)));
    let numbers = numbers.map(Literal::usize_unsuffixed);
    quote! {
        ::pullback::__private::with_cuda! {
            impl #fused::DeviceKernel for #name {
                const TEXT: &'static #fused::Text = &#fused::Text {
                    name: #entry,
                    slots: #slots,
                    numbers: &[#(#numbers),*],
                    passes: &[#(#passes),*],
                    totals: &[#(#totals),*],
                };
            }
        }
    }
}

struct Text<'a> {
    graph: &'a Graph,
    schedule: &'a Schedule,
}

impl Text<'_> {
    /// What is computed of each element in one pass.
    fn nodes(&self, pass: &Pass) -> Vec<NodeId> {
        self.graph.elements(&pass.roots())
    }

    fn elements(&self, pass: &Pass, nodes: &[NodeId]) -> String {
        let mut text = String::new();
        for id in nodes {
            let value = match self.graph.node(*id) {
                Node::Input(i) => format!("x{i}"),
                _ => self.value(*id, &|id| self.operand(id)),
            };
            writeln!(text, "const T e{id} = {value};").expect("a string");
        }
        for (port, id) in &pass.outputs {
            writeln!(text, "y{port} = {};", self.operand(*id)).expect("a string");
        }
        for (i, (_, id, _)) in pass.reductions.iter().enumerate() {
            writeln!(text, "s{i} = {};", self.operand(*id)).expect("a string");
        }
        text
    }

    fn then(&self, pass: &Pass) -> String {
        let mut text = String::new();
        for id in &pass.then {
            let value = self.value(*id, &|id| self.number_of_row(id));
            writeln!(text, "r[{}] = {value};", self.schedule.slots[id]).expect("a string");
        }
        text
    }

    fn operand(&self, id: NodeId) -> String {
        match self.graph.level(id) {
            Level::Element => format!("e{id}"),
            _ => self.number_of_row(id),
        }
    }

    fn number_of_row(&self, id: NodeId) -> String {
        match (self.graph.node(id), self.schedule.slots.get(&id)) {
            (Node::Literal(bits), _) => literal(f64::from_bits(bits)),
            (_, Some(slot)) => format!("r[{slot}]"),
            // An expression of numbers in the source.
            _ => self.value(id, &|id| self.number_of_row(id)),
        }
    }

    fn value(&self, id: NodeId, operand: &dyn Fn(NodeId) -> String) -> String {
        match self.graph.node(id) {
            Node::Neg(a) => format!("(-{})", operand(a)),
            Node::Constant(a) | Node::Own(a) => operand(a),
            Node::Binary(op, a, b) => {
                let (a, b) = (operand(a), operand(b));
                match op {
                    Binary::Add => format!("({a} + {b})"),
                    Binary::Sub => format!("({a} - {b})"),
                    Binary::Mul => format!("({a} * {b})"),
                    Binary::Div => format!("({a} / {b})"),
                    Binary::Pow => format!("pb_powf({a}, {b})"),
                    Binary::Atan2 => format!("pb_atan2({a}, {b})"),
                }
            }
            Node::Apply(function, a) => format!("pb_{}({})", function.name(), operand(a)),
            Node::Select { test, left, right, then, otherwise } => {
                let test = match test {
                    Test::Less => "<",
                    Test::LessOrEqual => "<=",
                    Test::Equal => "==",
                };
                let (left, right) = (operand(left), operand(right));
                format!("({left} {test} {right} ? {} : {})", operand(then), operand(otherwise))
            }
            Node::Count => "count".to_owned(),
            Node::Number(i) => format!("n{i}"),
            Node::Input(_) | Node::Given(_) | Node::Literal(_) | Node::Reduce(..) => {
                unreachable!("neither computed nor without a name")
            }
        }
    }
}

/// A number, exactly.
fn literal(value: f64) -> String {
    // Seventeen digits: C has no other way to write all of them that every compiler takes.
    match value {
        _ if value.is_finite() => format!("((T){value:.17e})"),
        _ if value > 0.0 => "((T)PB_INFINITY)".to_owned(),
        _ => "(-(T)PB_INFINITY)".to_owned(),
    }
}
