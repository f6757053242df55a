//! Lengths that a loop over `0..n` relies on: `x[i]` in each of its iterations.
//!
//! That all of them are within bounds the forward pass has found out, but the optimiser cannot see it. One check before the loop, in
//! the reverse pass, stands for those in it, and lets it run in vectors.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

use crate::gather::mentions;
use crate::iterators::source::is_zero;
use crate::program::*;
use crate::reverse::Reverse;
use crate::sweep::bounds;

impl Reverse<'_> {
    /// What stands before the reverse pass `body` of the loop `f`, which stands at `before`.
    pub(crate) fn reach(&mut self, f: &For, before: &At, body: &TokenStream) -> TokenStream {
        let program = self.program;
        let (level, blocks) = (self.top(), program.nested(f.body));
        let innermost = !program.loops().any(|inner| inner != f.body && blocks.contains(&inner));
        let counts = bounds(program, f)
            .is_some_and(|bounds| bounds.start.as_ref().is_some_and(|start| is_zero(start)));
        let bare = blocks.iter().all(|b| self.kept.is_empty(*b));
        if !(innermost && counts && bare && self.captured.is_empty()) || program.generic() {
            return TokenStream::new();
        }
        let Some(index) = program.counter(f).filter(|_| self.replayable(f.range, before, level)) else {
            return TokenStream::new();
        };
        let range = self.text(f.range, before, level);
        let Ok(syn::ExprRange { end: Some(end), .. }) = syn::parse2(range) else { return TokenStream::new() };
        let mut checks = TokenStream::new();
        for id in program.gone_through(f.body, index) {
            let variable = &program.variables[id];
            let (name, shadow) = (&variable.unique, &variable.shadow);
            let occurs =
                |names: &[&syn::Ident]| mentions(body, &names.iter().map(|name| name.to_string()).collect());
            let array = match variable.by_reference() {
                true if occurs(&[name, shadow]) => quote!(#name.len()),
                false if occurs(&[shadow]) => quote!(#shadow.len()),
                _ => continue,
            };
            // Otherwise the optimiser can tell by itself.
            if !mentions(&end.to_token_stream(), &[name.to_string()].into()) {
                checks.extend(quote!(__pb::reaches(#array, #end);));
            }
        }
        checks
    }
}

impl Program {
    /// The slices and vectors of numbers of which each iteration of a loop over `index` has the element there.
    fn gone_through(&self, body: BlockId, index: VarId) -> Vec<VarId> {
        let mut found = Vec::new();
        let mut add = |place: &Place| {
            let [Projection::Index(position)] = place.projections[..] else { return };
            let variable = &self.variables[place.base];
            let array = variable.by_reference() && variable.slice || self.vectors.contains(&place.base);
            let numbers = variable.kind == Kind::Sequence(Box::new(Kind::Float));
            let here = self.offset(position, index) == Some(0) && !self.frozen.contains_key(&position);
            if array && numbers && here && !found.contains(&place.base) {
                found.push(place.base);
            }
        };
        for statement in &self.blocks[body].statements {
            if let StatementKind::Assign(assign) = &statement.kind {
                add(&assign.place);
            }
        }
        for e in self.roots(body).into_iter().flat_map(|root| self.tree(root)) {
            if let ExprKind::Read(place) = &self.exprs[e].kind {
                add(place);
            }
        }
        found
    }
}
