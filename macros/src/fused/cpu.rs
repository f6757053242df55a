//! Rust code for a schedule: what the engine in the rule library calls for each block of elements.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use super::graph::*;
use super::schedule::{Pass, Schedule};

/// The kernel `name`: a type, for `inputs` arrays that are read and `outputs` that are written; to those of `totals` each row adds
/// a number. With an `axis` there may be several rows.
pub(crate) fn kernel(
    name: &Ident,
    axis: bool,
    graph: &Graph,
    schedule: &Schedule,
    totals: &[(usize, NodeId)],
    (inputs, outputs): (usize, usize),
) -> TokenStream {
    let rows = schedule.slots.len();
    let fused = quote!(::pullback::__private::fused);
    let mut types = TokenStream::new();
    let mut steps = TokenStream::new();
    for (number, pass) in schedule.passes.iter().enumerate() {
        if !(pass.reductions.is_empty() && pass.outputs.is_empty()) {
            let ty = format_ident!("{name}{number}");
            types.extend(block(&ty, graph, schedule, pass, (inputs, outputs)));
            let results = pass.reductions.iter().map(|(.., slot)| {
                let slot = Literal::usize_unsuffixed(*slot);
                quote!(r[#slot])
            });
            let count = Literal::usize_unsuffixed(pass.reductions.len());
            steps.extend(quote!([#(#results),*] = row.pass::<#ty, #count, #rows>(r);));
        }
        for id in &pass.then {
            let slot = Literal::usize_unsuffixed(schedule.slots[id]);
            let value = value(graph, *id, &|id| number_of_row(graph, schedule, id));
            steps.extend(quote! {
                for l in 0..N::ROWS {
                    let value = #value;
                    #fused::PerRow::set(&mut r[#slot], l, value);
                }
            });
        }
    }
    for (port, id) in totals {
        let (port, value) = (Literal::usize_unsuffixed(*port), number_of_row(graph, schedule, *id));
        steps.extend(quote! {
            for l in 0..row.rows() {
                row.add(#port, #value);
            }
        });
    }
    quote! {
        struct #name;
        #types
        impl<T: #fused::Real> #fused::Kernel<T, #inputs, #outputs, #rows> for #name {
            const AXIS: bool = #axis;
            #[inline(always)]
            fn row<N: #fused::PerRow<T>>(row: &mut #fused::Row<'_, T, N, #inputs, #outputs>, r: &mut [N; #rows]) {
                #steps
            }
        }
    }
}

/// What happens to a block of elements in one pass.
fn block(
    name: &Ident,
    graph: &Graph,
    schedule: &Schedule,
    pass: &Pass,
    (inputs, outputs): (usize, usize),
) -> TokenStream {
    let fused = quote!(::pullback::__private::fused);
    let rows = schedule.slots.len();
    let sums = pass.reductions.len();
    let nodes = graph.elements(&pass.roots());
    let reads = (0..inputs).map(|i| nodes.iter().any(|id| graph.node(*id) == Node::Input(i)));
    let writes = (0..outputs).map(|o| pass.outputs.iter().any(|(port, _)| *port == o));
    let kinds = pass.reductions.iter().map(|(reduction, ..)| match reduction {
        Reduction::Sum => quote!(#fused::Reduction::Sum),
        Reduction::Max => quote!(#fused::Reduction::Max),
        Reduction::Min => quote!(#fused::Reduction::Min),
    });
    let near = elements(graph, schedule, pass, &nodes, true);
    // Only functions that are periodic have a way of their own to deal with large arguments.
    let periodic = nodes.iter().any(|id| matches!(graph.node(*id), Node::Apply(f, _) if f.is_periodic()));
    let far = periodic.then(|| {
        let far = elements(graph, schedule, pass, &nodes, false);
        quote! {
            #[allow(unused_variables)]
            fn far<N: #fused::PerRow<T>>(
                x: [&#fused::Block<T>; #inputs],
                r: &[N; #rows],
                y: &mut [#fused::Block<T>; #outputs],
                s: &mut [#fused::Block<T>; #sums],
            ) {
                for l in 0..#fused::LANES {
                    #far
                }
            }
        }
    });
    quote! {
        struct #name;
        impl<T: #fused::Real> #fused::Pass<T, #inputs, #outputs, #sums, #rows> for #name {
            const READS: [bool; #inputs] = [#(#reads),*];
            const WRITES: [bool; #outputs] = [#(#writes),*];
            const REDUCTIONS: [#fused::Reduction; #sums] = [#(#kinds),*];
            #[inline(always)]
            #[allow(unused_variables, unused_mut)]
            fn near<N: #fused::PerRow<T>>(
                x: [&#fused::Block<T>; #inputs],
                r: &[N; #rows],
                y: &mut [#fused::Block<T>; #outputs],
                s: &mut [#fused::Block<T>; #sums],
            ) -> bool {
                let mut near = true;
                for l in 0..#fused::LANES {
                    #near
                }
                near
            }
            #far
        }
    }
}

/// The code for element `l` of a block. If all arguments are to be `near` zero, it tells whether they are.
fn elements(graph: &Graph, schedule: &Schedule, pass: &Pass, nodes: &[NodeId], near: bool) -> TokenStream {
    let real = quote!(::pullback::__private::fused::Real);
    let mut body = TokenStream::new();
    for id in nodes {
        let name = element(*id);
        let value = match graph.node(*id) {
            Node::Input(i) => {
                let i = Literal::usize_unsuffixed(i);
                quote!(x[#i][l])
            }
            Node::Apply(function, a) if near && function.is_periodic() => {
                let (method, a) = (format_ident!("{}_near", function.name()), operand(graph, schedule, a));
                body.extend(quote!(near &= #real::abs(#a) <= T::NEAR;));
                quote!(#real::#method(#a))
            }
            _ => value(graph, *id, &|id| operand(graph, schedule, id)),
        };
        body.extend(quote!(let #name = #value;));
    }
    for (port, id) in &pass.outputs {
        let (port, value) = (Literal::usize_unsuffixed(*port), operand(graph, schedule, *id));
        body.extend(quote!(y[#port][l] = #value;));
    }
    for (i, (_, id, _)) in pass.reductions.iter().enumerate() {
        let (i, value) = (Literal::usize_unsuffixed(i), operand(graph, schedule, *id));
        body.extend(quote!(s[#i][l] = #value;));
    }
    body
}

fn element(id: NodeId) -> Ident {
    format_ident!("e{id}")
}

/// A node as an operand in the code for an element.
fn operand(graph: &Graph, schedule: &Schedule, id: NodeId) -> TokenStream {
    if graph.level(id) == Level::Element {
        let name = element(id);
        return quote!(#name);
    }
    number_of_row(graph, schedule, id)
}

/// A node as an operand in the code for row `l`.
fn number_of_row(graph: &Graph, schedule: &Schedule, id: NodeId) -> TokenStream {
    match graph.node(id) {
        Node::Literal(bits) => {
            let number = Literal::f64_suffixed(f64::from_bits(bits).abs());
            let minus = f64::from_bits(bits).is_sign_negative().then(|| quote!(-));
            quote!(T::of(#minus #number))
        }
        _ => match schedule.slots.get(&id) {
            Some(slot) => {
                let slot = Literal::usize_unsuffixed(*slot);
                quote!(::pullback::__private::fused::PerRow::of(&r[#slot], l))
            }
            // An expression of numbers in the source.
            None => value(graph, id, &|id| number_of_row(graph, schedule, id)),
        },
    }
}

/// What a node computes out of its operands.
fn value(graph: &Graph, id: NodeId, operand: &dyn Fn(NodeId) -> TokenStream) -> TokenStream {
    let real = quote!(::pullback::__private::fused::Real);
    match graph.node(id) {
        Node::Neg(a) => {
            let a = operand(a);
            quote!((-#a))
        }
        Node::Constant(a) => {
            let a = operand(a);
            quote!(#real::detached(#a))
        }
        Node::Own(a) => operand(a),
        Node::Binary(op, a, b) => {
            let (a, b) = (operand(a), operand(b));
            match op {
                Binary::Add => quote!((#a + #b)),
                Binary::Sub => quote!((#a - #b)),
                Binary::Mul => quote!((#a * #b)),
                Binary::Div => quote!((#a / #b)),
                Binary::Pow => quote!(#real::powf(#a, #b)),
                Binary::Atan2 => quote!(#real::atan2(#a, #b)),
            }
        }
        Node::Apply(function, a) => {
            let (name, a) = (format_ident!("{}", function.name()), operand(a));
            quote!(#real::#name(#a))
        }
        Node::Select { test, left, right, then, otherwise } => {
            let (left, right, then, otherwise) =
                (operand(left), operand(right), operand(then), operand(otherwise));
            let test = match test {
                Test::Less => quote!(<),
                Test::LessOrEqual => quote!(<=),
                Test::Equal => quote!(==),
            };
            quote!((if #left #test #right { #then } else { #otherwise }))
        }
        Node::Count => quote!(row.count()),
        Node::Number(i) => {
            let i = Literal::usize_unsuffixed(i);
            quote!(row.number(#i))
        }
        Node::Input(_) | Node::Given(_) | Node::Literal(_) | Node::Reduce(..) => {
            unreachable!("neither computed nor without a name")
        }
    }
}
