//! `fused!`: element-wise functions of arrays and their gradients, in as few passes over memory as they need.
//!
//! [`parse`] makes a [`graph`] of the expression, [`derivative`] adds its gradients to that graph, [`schedule`] finds out how often each row
//! is gone through, [`staging`] what one pass leaves for another, [`cpu`] writes the code for one block of elements, and [`cuda`] the same as CUDA C. The engines are in the rule library.

mod cpu;
mod cuda;
mod derivative;
mod emit;
mod functions;
mod graph;
mod parse;
mod schedule;
mod staging;

use proc_macro2::TokenStream;
use quote::format_ident;

use self::graph::{Level, Node, NodeId};
use self::parse::{Arrays, Functions, Fused};
use self::schedule::Schedule;

pub(crate) fn expand(functions: Functions) -> syn::Result<TokenStream> {
    let mut out = TokenStream::new();
    let mut errors = crate::errors::Errors::default();
    for function in &functions.0 {
        match function.expand() {
            Ok(tokens) => out.extend(tokens),
            Err(error) => errors.add(error),
        }
    }
    errors.finish()?;
    Ok(out)
}

/// What a fused function returns.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Result {
    /// An array of the shape that the operands have together.
    Elements,
    /// The same, of length 1 along the axis.
    Rows,
    /// A number.
    Number,
}

/// The two passes of a fused function.
struct Kernels {
    result: Result,
    /// How many numbers of each row the forward leaves for the pullback.
    kept: usize,
    forward: TokenStream,
    backward: TokenStream,
    /// Both at once, if the value is a number.
    both: Option<TokenStream>,
    /// Likewise, where something waits at the place of the gradient with respect to the operand of this number.
    staged: Option<(usize, TokenStream)>,
}

impl Fused {
    fn expand(&self) -> syn::Result<TokenStream> {
        let (mut graph, value) = self.graph()?;
        let result = match (graph.level(value), self.axis) {
            (Level::Element, _) => Result::Elements,
            (Level::Row, true) => Result::Rows,
            (Level::Row, false) => Result::Number,
            (Level::Literal, _) => {
                return Err(syn::Error::new_spanned(&self.body, "the value depends on no operand"));
            }
        };
        if let Some(operand) = self.operands.iter().find(|o| o.name == "y" && result != Result::Number) {
            return Err(syn::Error::new_spanned(
                &operand.name,
                "the result is called `y`: give this operand another name",
            ));
        }
        let arrays = self.operands.len();
        let inputs: Vec<NodeId> =
            self.operands.iter().enumerate().map(|(i, operand)| graph.add(operand.node(i))).collect();
        let of_forward = graph.len();

        // The pullback: what it reads beside the operands is the function's value and the gradient with respect to that.
        let output = graph.add(Node::Input(arrays));
        let seed = match result {
            Result::Elements => graph.add(Node::Input(arrays + 1)),
            Result::Rows | Result::Number => graph.add(Node::Given(0)),
        };
        let mut gradients = derivative::gradients(&mut graph, value, seed, &inputs);
        let computed = result == Result::Elements && !matches!(graph.node(value), Node::Input(_));
        if computed {
            gradients = graph.replaced(&gradients, value, output);
        }
        let gradients = graph.with_reciprocals(&gradients);
        let gradients = graph.with_sums_apart(&gradients, of_forward);
        // What the forward knows of each row, the pullback does not find out again.
        let kept = graph.frontier(&gradients, of_forward);

        let forward_outputs = if result == Result::Elements { vec![(0, value)] } else { Vec::new() };
        let mut forward_results = kept.clone();
        if result != Result::Elements {
            // A slot of its own, even if it is kept, too.
            forward_results.push(graph.add(Node::Own(value)));
        }
        let forward = Schedule::new(&graph, &forward_outputs, &forward_results, &forward_results, &[]);
        let mut given = kept.clone();
        if result != Result::Elements {
            given.push(seed);
        }
        // Those with respect to numbers are numbers of the row.
        let (of_numbers, mut backward_outputs): (Vec<_>, Vec<_>) =
            gradients.iter().copied().enumerate().partition(|(i, _)| self.operands[*i].scalar);
        let totals: Vec<NodeId> = of_numbers.iter().map(|(_, id)| *id).collect();
        if result == Result::Elements {
            // The gradient with respect to what is overwritten.
            backward_outputs.push((arrays, graph.literal(0.0)));
        }
        let (both, staged) = match result {
            Result::Number => {
                let own = graph.add(Node::Own(value));
                let results: Vec<NodeId> = totals.iter().copied().chain([own]).collect();
                let rows = (&results[..], &[seed, own][..], &[seed][..]);
                let plain = Schedule::new(&graph, &backward_outputs, rows.0, rows.1, rows.2);
                let staged = staging::staged(&mut graph, &plain, arrays, &backward_outputs, rows);
                let kernel = |name: &str, schedule: &Schedule, inputs: usize| {
                    cpu::kernel(
                        &format_ident!("{name}"),
                        self.axis,
                        &graph,
                        schedule,
                        &of_numbers,
                        (inputs, arrays),
                    )
                };
                let staged = staged.map(|s| (s.port, kernel("Staged", &s.schedule, arrays + 1)));
                (Some(kernel("Both", &plain, arrays)), staged)
            }
            Result::Elements | Result::Rows => (None, None),
        };
        let backward = Schedule::new(&graph, &backward_outputs, &totals, &given, &given);

        let (written, read_back, added) = match result {
            Result::Elements => (1, arrays + 2, arrays + 1),
            Result::Rows | Result::Number => (0, arrays, arrays),
        };
        let kernel = |name: &str, schedule: &Schedule, totals: &[(usize, NodeId)], ports| {
            let name = format_ident!("{name}");
            let mut code = cpu::kernel(&name, self.axis, &graph, schedule, totals, ports);
            code.extend(cuda::kernel(&name, &self.name, &graph, schedule, totals, ports));
            code
        };
        let kernels = Kernels {
            result,
            kept: kept.len(),
            forward: kernel("Forward", &forward, &[], (arrays, written)),
            backward: kernel("Backward", &backward, &of_numbers, (read_back, added)),
            both,
            staged,
        };
        Ok(match self.arrays {
            Arrays::Places => emit::passes(self, &kernels),
            Arrays::Host | Arrays::Anywhere => emit::function(self, &kernels),
        })
    }
}
