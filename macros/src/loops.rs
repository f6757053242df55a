//! Loops in the reverse pass: their iterations are undone, the last one first.

use std::collections::HashMap;

use proc_macro2::TokenStream;
use quote::quote;
use syn::Ident;

use crate::blocks::Blocks;
use crate::chain::Chain;
use crate::checkpoint::Segmented;
use crate::counts::Count;
use crate::gather::Hoisted;
use crate::kept::Item;
use crate::program::*;
use crate::reverse::{Fused, Reverse};
use crate::stencil::{Moves, Stencil, ends_of};

/// An iteration of a `for` loop, undone.
struct Undone {
    body: TokenStream,
    stencil: Stencil,
    hoisted: Hoisted,
    /// What stands before the loop so that it counts back.
    counting: TokenStream,
    /// What stands before each block of a loop that runs in blocks.
    rows: TokenStream,
    /// The parts of a block but for `body`, if its iterations hand numbers on.
    chain: Option<Chain>,
}

impl Reverse<'_> {
    pub(crate) fn undo_for(&mut self, f: &For, statement: &Statement) {
        if self.undo_latest(f, statement) {
            return;
        }
        let at = &statement.before;
        let counts = if f.strategy.is_none() { self.counts(f.body, statement) } else { Vec::new() };
        let blocks = if counts.is_empty() { self.blocks(f, at) } else { None };
        let if_many = blocks.as_ref().is_some_and(|blocks| blocks.if_many);
        let whole = self.undone(f, statement, counts, blocks);
        if !if_many || whole.is_empty() {
            return self.emit(whole);
        }
        // Few iterations do not fill vectors, and there are more derivatives than an iteration by itself asks for.
        let plain = self.undone(f, statement, Vec::new(), None);
        let range = self.text(f.range, at, self.top());
        self.emit(quote!(if __pb::are_few(#range) { #plain } else { #whole }));
    }

    /// The code that undoes a loop, in `blocks` or not.
    fn undone(
        &mut self,
        f: &For,
        statement: &Statement,
        counts: Vec<Count>,
        blocks: Option<Blocks>,
    ) -> TokenStream {
        let at = &statement.before;
        let Undone { body, stencil, hoisted, counting, rows, chain } =
            self.undo_iteration(f, at, counts, blocks.clone());
        if blocks.as_ref().is_some_and(|blocks| !self.keeps_numbers_alone(f.body, blocks)) {
            self.missed |= self.unblocked.insert(f.body);
        }
        if body.is_empty() && chain.is_none() && self.kept.is_empty(f.body) {
            let Hoisted { before, after } = hoisted;
            return quote!(#before #after);
        }
        let level = self.top();
        let early = self.program.left_early(f.body);
        let range = if self.replayable(f.range, at, level) {
            self.text(f.range, at, level)
        } else {
            let name = self.kept.keep(at.block, Item::Range(statement.id), "range");
            quote!(#name)
        };
        if let (Some(Strategy::Checkpoint(placement)), false) = (f.strategy, self.kept.is_empty(f.body)) {
            let range = Some((&f.pattern, range));
            self.undo_segments(
                &Segmented { body: f.body, placement, range, index: f.index },
                statement,
                &body,
            );
            return TokenStream::new();
        }
        let pattern = match f.index {
            Some(index) => {
                let name = &self.program.variables[index].unique;
                quote!(#name)
            }
            None => quote!(_),
        };
        let bounds = syn::parse2::<syn::ExprRange>(range.clone()).ok().filter(|_| !early);
        let ascending = bounds.is_some() && counting.is_empty() && self.in_any_order(f, at);
        let fresh = self.set_by(&stencil, f.body, bounds.as_ref(), &[&hoisted.before, &body]);
        if let (Some(blocks), Some(bounds)) = (&blocks, &bounds) {
            let bounds = ends_of(bounds).expect("written out");
            let moves = stencil.finish_blocks(self.program, blocks, bounds, &fresh, &mut self.kept);
            let Moves { before, within, block, after } = moves;
            let index = f.index.map(|index| &self.program.variables[index].unique);
            let residuals =
                (!self.kept.is_empty(f.body)).then(|| (self.stack(statement.id), self.kept.pattern(f.body)));
            let whole =
                blocks.run((index, &range), residuals, &rows, (chain, &quote!(#body #within)), &block);
            let Hoisted { before: copies, after: back } = hoisted;
            return quote!(#before #copies #whole #after #back);
        }
        let moves = self.finish(stencil, f, bounds.as_ref(), ascending, &fresh);
        let range = match bounds {
            Some(_) if ascending => range,
            _ if early => {
                let count = self.kept.keep(at.block, Item::Count(statement.id), "count");
                quote!(__pb::first(#range, #count))
            }
            Some(_) => quote!((#range).rev()),
            None if steps_inclusively(&self.program.exprs[f.range].syntax) => quote!(__pb::backwards(#range)),
            None => quote!(#range.rev()),
        };
        let Moves { before, within, after, .. } = moves;
        let reach = self.reach(f, at, &body);
        let Hoisted { before: sums, after: totals } = hoisted;
        let (pattern, range) = match self.kept.is_empty(f.body) {
            true => (pattern, range),
            false => {
                let (residual, stack) = (self.kept.pattern(f.body), self.stack(statement.id));
                let unwind = Program::fresh(if ascending { "run_through" } else { "unwind" });
                (quote!((#pattern, #residual)), quote!(#stack.#unwind(#range)))
            }
        };
        quote!(#counting #reach #before #sums for #pattern in #range { #body #within } #after #totals)
    }

    pub(crate) fn undo_fused(&mut self, f: &For, at: &At) {
        // What happens at once has no need to count back.
        let Undone { body, stencil, hoisted, .. } = self.undo_iteration(f, at, Vec::new(), None);
        let level = self.top();
        let kept = self.kept.items(at.block).len();
        let range = if self.replayable(f.range, at, level) {
            self.text(f.range, at, level)
        } else {
            TokenStream::new()
        };
        let bounds = syn::parse2::<syn::ExprRange>(range).ok();
        let fresh = self.set_by(&stencil, f.body, bounds.as_ref(), &[&hoisted.before, &body]);
        let Moves { before, within, after, .. } = self.finish(stencil, f, bounds.as_ref(), true, &fresh);
        let suffix = self.put_aside();
        let Hoisted { before: sums, after: totals } = hoisted;
        let fused = Fused {
            suffix: quote!(#suffix #before #sums),
            body: quote!(#body #within),
            after: quote!(#after #totals),
            kept,
        };
        self.fused.insert(at.block, fused);
    }

    /// What has been written of the innermost block so far.
    pub(crate) fn put_aside(&mut self) -> TokenStream {
        let (facts, level) = (self.facts(), self.top());
        std::mem::take(&mut self.levels[level].out).finish(self.program, &mut self.kept, &facts)
    }

    /// One iteration of a loop, undone; what it adds to elements near the index is gathered.
    fn undo_iteration(&mut self, f: &For, at: &At, counts: Vec<Count>, blocks: Option<Blocks>) -> Undone {
        let (rows, swept) = (self.rows(f, at, blocks.clone()), self.swept_by(f, at));
        self.open(f.body, true);
        // The stencil of a loop that goes on from checkpoints would have to be carried across these.
        self.levels.last_mut().expect("just opened").index =
            self.program.counter(f).filter(|_| f.strategy.is_none());
        self.levels.last_mut().expect("just opened").rows = rows;
        self.levels.last_mut().expect("just opened").swept = swept;
        self.levels.last_mut().expect("just opened").counts = counts;
        self.levels.last_mut().expect("just opened").counter =
            f.index.map(|index| (index, f.range, at.clone()));
        let chain = self.undo_body(f.body, blocks.as_ref());
        let facts = self.facts();
        let level = self.levels.last_mut().expect("opened above");
        let (stencil, counts) = (std::mem::take(&mut level.stencil), std::mem::take(&mut level.counts));
        let mut hoisted = match f.strategy {
            None => level.out.hoist(self.program, &mut self.kept, &facts, (f.body, at)),
            Some(_) => Hoisted::default(),
        };
        self.add_to_rows();
        let top = self.top();
        let rows = std::mem::take(&mut self.levels[top].rows);
        let body = self.close();
        let rows = if blocks.is_some() {
            rows.out
        } else {
            self.emit(rows.out);
            TokenStream::new()
        };
        let (before, after) = self.bring_back(f, at);
        hoisted.before.extend(before);
        hoisted.after.extend(after);
        Undone { body, stencil, hoisted, counting: self.counting(counts), rows, chain }
    }

    fn finish(
        &mut self,
        stencil: Stencil,
        f: &For,
        range: Option<&syn::ExprRange>,
        ascending: bool,
        fresh: &HashMap<VarId, Ident>,
    ) -> Moves {
        match f.index {
            Some(index) => stencil.finish(self.program, index, range, ascending, fresh, &mut self.kept),
            None => Moves::default(),
        }
    }

    pub(crate) fn undo_while(&mut self, w: &While, statement: &Statement) {
        let counts = if w.strategy.is_none() { self.counts(w.body, statement) } else { Vec::new() };
        self.open(w.body, true);
        self.levels.last_mut().expect("just opened").counts = counts;
        self.undo_body(w.body, None);
        let counts = std::mem::take(&mut self.levels.last_mut().expect("opened above").counts);
        let body = self.close();
        let counting = self.counting(counts);
        if body.is_empty() && self.kept.is_empty(w.body) {
            return;
        }
        if let (Some(Strategy::Checkpoint(placement)), false) = (w.strategy, self.kept.is_empty(w.body)) {
            let segmented = Segmented { body: w.body, placement, range: None, index: None };
            return self.undo_segments(&segmented, statement, &body);
        }
        let count = self.kept.keep(statement.before.block, Item::Count(statement.id), "count");
        let pop = self.pop(w.body, statement.id);
        self.emit(quote!(#counting for _ in 0..#count { #pop #body }));
    }
}

/// `(a..=b).step_by(n)`, which the standard library does not reverse.
fn steps_inclusively(range: &syn::Expr) -> bool {
    fn inclusive(range: &syn::Expr) -> bool {
        match range {
            syn::Expr::Range(range) => matches!(range.limits, syn::RangeLimits::Closed(_)),
            syn::Expr::Paren(paren) => inclusive(&paren.expr),
            syn::Expr::MethodCall(call) => inclusive(&call.receiver),
            _ => false,
        }
    }
    match range {
        syn::Expr::Paren(paren) => steps_inclusively(&paren.expr),
        syn::Expr::MethodCall(call) if call.method == "step_by" => inclusive(&call.receiver),
        syn::Expr::MethodCall(call) => steps_inclusively(&call.receiver),
        _ => false,
    }
}
