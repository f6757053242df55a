//! Rows of matrices in the forward pass: `s -= l[i * n + k] * l[j * n + k]` in a loop over `k`.
//!
//! The forward pass does not know yet that indices are within bounds, and where one is not, it has to panic just as the function does. So it
//! asks before an innermost loop whether all rows that this reads from its first iteration on are there. Out of one loop that
//! reads its elements there, if so, or else by their indices, the optimiser makes two, of which the first has no checks.

use proc_macro2::{Literal, TokenStream};
use quote::quote;
use syn::Ident;

use crate::forward::Forward;
use crate::iterators::source::is_zero;
use crate::program::*;
use crate::rows::same_before;
use crate::sweep::bounds;

/// The name of the rows of a loop.
fn whole_rows() -> Ident {
    Program::fresh("whole_rows")
}

impl Forward<'_> {
    /// What stands before the loop `f`, which stands at `before`: its rows.
    pub(crate) fn rows(&mut self, f: &For, before: &At) -> TokenStream {
        let program = self.program;
        let nested = program.nested(f.body);
        let innermost = !program.loops().any(|body| body != f.body && nested.contains(&body));
        let (Some(index), Some(range), false, true) =
            (program.counter(f), bounds(program, f), self.plain, innermost)
        else {
            return TokenStream::new();
        };
        if !range.start.as_deref().is_some_and(is_zero) {
            return TokenStream::new();
        }
        let count = &range.end;
        let mut rows: Vec<String> = Vec::new();
        let mut whole = TokenStream::new();
        for statement in &program.blocks[f.body].statements {
            for e in statement.roots().into_iter().flat_map(|root| program.tree(root)) {
                let Some((array, start)) = self.read_of_row(e, index, f.body, (&statement.before, before))
                else {
                    continue;
                };
                let row = quote!(__pb::whole_row(&#array[..], || #start, #count)?,);
                let text = row.to_string();
                let number = rows.iter().position(|other| *other == text).unwrap_or_else(|| {
                    rows.push(text);
                    whole.extend(row);
                    rows.len() - 1
                });
                self.of_rows.insert(e, (number, program.variables[index].name.clone()));
            }
        }
        if rows.is_empty() {
            return TokenStream::new();
        }
        let name = whole_rows();
        quote!(let #name = (|| ::core::option::Option::Some((#whole)))();)
    }

    /// The name of the array of which the expression in a loop over `index` reads the next element in each iteration, and where the first
    /// one is, if both are known before the loop.
    fn read_of_row(
        &self,
        expr: ExprId,
        index: VarId,
        body: BlockId,
        (at, before): (&At, &At),
    ) -> Option<(Ident, TokenStream)> {
        let program = self.program;
        let node = &program.exprs[expr];
        let (ExprKind::Read(place), syn::Expr::Index(element)) = (&node.kind, &node.syntax) else {
            return None;
        };
        let syn::Expr::Path(array) = &*element.expr else { return None };
        let array = array.path.get_ident()?;
        let number = program.kind_of_place(place) == Kind::Float;
        let there = before.versions.contains_key(&place.base) && program.only_reads(body, place.base);
        let (around, start) = program.row(place, index).filter(|_| number && there)?;
        let within = program.nested(body);
        let bound_before = match around.projections.is_empty() {
            true => *array == program.variables[place.base].name,
            false => around.indices().all(|range| !within.contains(&program.frozen[&range].block)),
        };
        if !bound_before {
            return None;
        }
        let Some(Projection::Index(position)) = place.projections.last() else { return None };
        let start = match start {
            Some(start) if same_before(program, start, at, before) => {
                let start = &program.exprs[start].syntax;
                quote!(#start)
            }
            None if program.is_read_of(*position, index) => quote!(0),
            _ => return None,
        };
        Some((array.clone(), start))
    }

    /// An element that is read of a row, which by its index is `element`.
    pub(crate) fn of_row(&self, expr: ExprId, element: TokenStream) -> TokenStream {
        let Some((number, index)) = self.of_rows.get(&expr) else { return element };
        let (rows, number) = (whole_rows(), Literal::usize_unsuffixed(*number));
        quote! {
            (match #rows {
                ::core::option::Option::Some(#rows) => #rows.#number[#index],
                ::core::option::Option::None => #element,
            })
        }
    }
}
