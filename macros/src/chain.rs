//! Blocks of iterations that hand numbers on, backward.
//!
//! The gradients with respect to these numbers come from the iteration behind, by a linear map: *ṡ ← Jᵀ·ṡ*, where *J* is the derivative of
//! what an iteration makes of them. Nothing in *J* waits for a gradient. So for all iterations of a block *J* is computed first, and with it
//! the derivatives with respect to everything else, in vectors; then *ṡ* goes back through the block; and in vectors again goes what each
//! *ṡ* contributes to the rest.

use std::collections::HashMap;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

use crate::blocks::Blocks;
use crate::cotangent::Cotangent;
use crate::forms::{Slope, sum};
use crate::kept::Kept;
use crate::program::*;
use crate::recurrence::Recurrence;
use crate::reverse::Reverse;

/// The parts of a block but for the last one.
pub(crate) struct Chain {
    /// What stands before all blocks.
    pub(crate) before: TokenStream,
    /// The derivatives of an iteration.
    pub(crate) derivatives: TokenStream,
    /// What goes from the gradients behind an iteration to those before it.
    pub(crate) step: TokenStream,
}

impl Reverse<'_> {
    /// An iteration of a block is undone, behind which the gradients are `given`. What goes to others stands behind what is returned.
    pub(crate) fn end_block(&mut self, given: &[(VarId, usize)], blocks: &Blocks) -> Chain {
        let (program, lane, zero) = (self.program, &blocks.lane, self.program.zero());
        let Recurrence { mut forms, waiting, .. } = self.recurrence.take().expect("within an iteration");
        let ends: Vec<_> = given
            .iter()
            .map(|(id, source)| {
                let form = forms.remove(id).unwrap_or_default();
                (*id, *source, form.is(*source), self.totals(&form))
            })
            .collect();
        let at = At { block: self.levels[self.top()].block, ..At::default() };
        let whole = |base| Place { base, projections: Vec::new() };
        let numbers = forms.into_iter().map(|(id, form)| (whole(id), at.clone(), form));
        let others: Vec<_> =
            numbers.chain(waiting).map(|(place, at, form)| (place, at, self.totals(&form))).collect();

        let mut chain =
            Chain { before: TokenStream::new(), derivatives: self.put_aside(), step: TokenStream::new() };
        // By source: the gradient at each iteration, if it is not the same at all of them.
        let mut gradients = HashMap::new();
        for (id, source, same, _) in &ends {
            let shadow = &program.variables[*id].shadow;
            let text = match same {
                true => quote!(#shadow),
                false => {
                    let row = self.kept.fresh("behind");
                    chain.before.extend(quote!(let mut #row = __pb::row_of_block();));
                    chain.step.extend(quote!(#row[#lane] = #shadow;));
                    quote!(#row[#lane])
                }
            };
            gradients.insert(*source, (shadow, text));
        }
        let mut rows = HashMap::new();
        let mut in_rows = |terms: Vec<(usize, Slope)>, chain: &mut Chain, kept: &mut Kept| {
            let in_row = |(source, slope): (usize, Slope)| match slope {
                Slope::Atom(slope) => {
                    let row = rows.entry(slope.to_string()).or_insert_with(|| {
                        let row = kept.fresh("slopes");
                        chain.before.extend(quote!(let mut #row = __pb::row_of_block();));
                        chain.derivatives.extend(quote!(#row[#lane] = #slope;));
                        row
                    });
                    (source, Slope::Atom(quote!(#row[#lane])))
                }
                slope => (source, slope),
            };
            terms.into_iter().map(in_row).collect::<Vec<_>>()
        };
        let mut next = TokenStream::new();
        for (id, _, same, terms) in ends {
            if same {
                continue;
            }
            let terms = in_rows(terms, &mut chain, &mut self.kept);
            let name = self.kept.fresh("d");
            let shadow = &program.variables[id].shadow;
            let terms =
                terms.into_iter().map(|(source, slope)| (slope, gradients[&source].0.to_token_stream()));
            let sum = if terms.len() == 0 { zero.clone() } else { sum(terms) };
            chain.step.extend(quote!(let #name = #sum;));
            next.extend(quote!(#shadow = #name;));
        }
        chain.step.extend(next);
        for (place, at, terms) in others {
            let terms = in_rows(terms, &mut chain, &mut self.kept);
            let d = sum(terms.into_iter().map(|(source, slope)| (slope, gradients[&source].1.clone())));
            self.accumulate(&place, &Cotangent::term(d), &at);
        }
        chain
    }
}
