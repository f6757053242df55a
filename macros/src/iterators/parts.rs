//! What an array of several dimensions is gone through by, other than elements and rows: elements with their indices, windows, chunks.

use proc_macro2::Literal;
use syn::{Expr, ExprMethodCall, Stmt, parse_quote};

use super::source::{Access, Source};
use crate::parse::Parser;

pub(super) enum OfArray {
    /// `x.indexed_iter()`, with the number of dimensions
    Indexed(usize, Access),
    /// `x.windows((2, 2))`, or `x.exact_chunks((2, 2))`: side by side
    Parts(Vec<Expr>, bool),
    /// `x.axis_chunks_iter(axis, 2)`
    Chunked(Box<[Expr; 2]>),
}

impl Parser<'_> {
    /// What an array is gone through by, if that is neither its elements alone nor views of one dimension less.
    pub(super) fn parts_of_array(&self, call: &ExprMethodCall) -> Option<OfArray> {
        let rank = self.rank(&call.receiver).filter(|rank| *rank > 0)?;
        let sizes = |arg: &Expr| match arg {
            Expr::Tuple(tuple) if tuple.elems.len() == rank => Some(tuple.elems.iter().cloned().collect()),
            Expr::Array(array) if array.elems.len() == rank => Some(array.elems.iter().cloned().collect()),
            Expr::Tuple(_) | Expr::Array(_) => None,
            size => (rank == 1).then(|| vec![size.clone()]),
        };
        Some(match (call.method.to_string().as_str(), call.args.len()) {
            ("indexed_iter", 0) => OfArray::Indexed(rank, Access::Shared),
            ("indexed_iter_mut", 0) => OfArray::Indexed(rank, Access::Unique),
            ("windows", 1) => OfArray::Parts(sizes(&call.args[0])?, false),
            ("exact_chunks", 1) => OfArray::Parts(sizes(&call.args[0])?, true),
            ("axis_chunks_iter", 2) => {
                OfArray::Chunked(Box::new([call.args[0].clone(), call.args[1].clone()]))
            }
            _ => return None,
        })
    }

    pub(super) fn array_source(
        &mut self,
        call: &ExprMethodCall,
        parts: OfArray,
        out: &mut Vec<Stmt>,
    ) -> Source {
        let access = if let OfArray::Indexed(_, access) = parts { access } else { Access::Shared };
        let base = self.base(&call.receiver, access, out);
        match parts {
            OfArray::Indexed(rank, access) => {
                let lengths = (1..rank).map(|axis| {
                    let (name, axis) = (self.names.fresh("n"), Literal::usize_unsuffixed(axis));
                    out.push(parse_quote!(let #name = #base.shape()[#axis];));
                    name
                });
                Source::Indexed { lengths: lengths.collect(), base, access }
            }
            OfArray::Parts(sizes, side_by_side) => {
                let sizes = sizes.iter().map(|one| self.size_of_part(one, out)).collect();
                Source::Parts { base, sizes, side_by_side }
            }
            OfArray::Chunked(arguments) => {
                let [axis, size] = *arguments;
                Source::Chunked { base, axis, size: self.size_of_part(&size, out) }
            }
        }
    }
}
