//! Neighbouring elements: `x[i]` and `x[i + 1]` in one loop.
//!
//! The gradients of an iteration go to elements that the next iteration touches as well. Through memory, each iteration
//! would wait for the stores of the one before; so contributions are gathered in registers that move along with the
//! index, and each element of the shadow is written once.

use std::collections::{BTreeMap, HashMap};

use proc_macro2::{Literal, TokenStream};
use quote::quote;
use syn::Ident;

use crate::blocks::Blocks;
use crate::kept::Kept;
use crate::program::*;

/// The contributions of one iteration, by array and by offset from the loop's index.
#[derive(Default)]
pub(crate) struct Stencil {
    gathered: BTreeMap<VarId, BTreeMap<i64, Ident>>,
    /// To numbers from outside.
    common: BTreeMap<VarId, Ident>,
}

/// What a stencil adds to a loop.
#[derive(Default)]
pub(crate) struct Moves {
    pub(crate) before: TokenStream,
    /// At the end of each iteration.
    pub(crate) within: TokenStream,
    /// At the end of each block.
    pub(crate) block: TokenStream,
    pub(crate) after: TokenStream,
}

/// The widest stencil that is carried in registers.
pub(crate) const WIDEST: i64 = 4;

impl Program {
    /// The offset of `expr` from the variable `index`: `i`, `i + 1`, `i - 2`, or a name for one of these.
    pub(crate) fn offset(&self, expr: ExprId, index: VarId) -> Option<i64> {
        let expr = self.peel(expr);
        match &self.exprs[expr].kind {
            ExprKind::Read(place) if !place.projections.is_empty() => None,
            ExprKind::Read(place) if place.base == index => Some(0),
            ExprKind::Read(place) => self.offset(self.bound_once(place.base)?, index),
            ExprKind::Binary { op: op @ (Op::Add | Op::Sub), left, right } => {
                let start = self.offset(*left, index)?;
                let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(step), .. }) =
                    &self.exprs[*right].syntax
                else {
                    return None;
                };
                let step: i64 = step.base10_parse().ok()?;
                Some(if *op == Op::Add { start + step } else { start - step })
            }
            _ => None,
        }
    }
}

impl Program {
    /// What a variable is bound to that does not change.
    fn bound_once(&self, id: VarId) -> Option<ExprId> {
        let variable = &self.variables[id];
        let constant = variable.origin == Origin::Local && !variable.mutable && !variable.active;
        let statements = self.blocks[variable.block].statements.iter().filter(|_| constant);
        statements.into_iter().find_map(|statement| match &statement.kind {
            StatementKind::Let(l) if !l.tuple && l.variables[..] == [Some(id)] => l.init,
            _ => None,
        })
    }
}

impl Stencil {
    /// Adds `d` to what goes to the element of `array` at `offset`.
    pub(crate) fn gather(
        &mut self,
        array: VarId,
        offset: i64,
        d: &TokenStream,
        kept: &mut Kept,
    ) -> TokenStream {
        let places = self.gathered.entry(array).or_default();
        if let Some(sum) = places.get(&offset) {
            return quote!(#sum += #d;);
        }
        let sum = kept.fresh("sum");
        places.insert(offset, sum.clone());
        quote!(let mut #sum = #d;)
    }

    /// Adds `d` to what goes to the number `id`.
    pub(crate) fn gather_common(&mut self, id: VarId, d: &TokenStream, kept: &mut Kept) -> TokenStream {
        if let Some(sum) = self.common.get(&id) {
            return quote!(#sum += #d;);
        }
        let sum = kept.fresh("sum");
        self.common.insert(id, sum.clone());
        quote!(let mut #sum = #d;)
    }

    /// The arrays of which a loop through a range writes each element once that it adds to.
    pub(crate) fn written_once(&self) -> Vec<VarId> {
        let once =
            |sums: &BTreeMap<i64, Ident>| matches!(ends(sums), (least, most) if most - least <= WIDEST);
        self.gathered.iter().filter(|(_, sums)| once(sums)).map(|(array, _)| *array).collect()
    }

    /// Hands the sums on, in a loop through `bounds` that runs in blocks. Elements of arrays in `fresh` are set, if these flags say so.
    pub(crate) fn finish_blocks(
        self,
        program: &Program,
        blocks: &Blocks,
        bounds: Bounds<'_>,
        fresh: &HashMap<VarId, Ident>,
        kept: &mut Kept,
    ) -> Moves {
        let (mut moves, Blocks { first, len, lane, .. }) = (Moves::default(), blocks);
        let ran = ran(bounds);
        for (array, sums) in self.gathered {
            let (shadow, near) = (&program.variables[array].shadow, kept.fresh("near"));
            let (least, most) = ends(&sums);
            let width = usize::try_from(most - least + 1).expect("not negative");
            moves.before.extend(quote!(let mut #near = __pb::Near::<_, #width>::new();));
            let fresh = match fresh.get(&array) {
                Some(fresh) => {
                    let written = reached(bounds, least, most);
                    moves.before.extend(quote!(#shadow.clear_around(#fresh, #written);));
                    quote!(#fresh)
                }
                None => quote!(false),
            };
            for (offset, sum) in &sums {
                let number = Literal::i64_unsuffixed(offset - least);
                moves.within.extend(quote!(#near.put(#number, #lane, #sum);));
            }
            let cells = Program::fresh("d");
            let row = |start: TokenStream, len: TokenStream| quote!(#shadow.map(|#cells| __pb::row_of(#cells, || #start, #len)));
            let done = row(shifted(quote!(#first), least), quote!(#len));
            moves.block.extend(quote!(#near.spread(#done, #fresh, #len);));
            if width > 1 {
                let open = width - 1;
                let rest = row(beside(bounds.1, least), quote!(#open));
                moves.after.extend(quote!(if #ran { #near.finish(#rest, #fresh); }));
            }
        }
        for (number, sum) in self.common {
            let (shadow, common) = (&program.variables[number].shadow, kept.fresh("common"));
            moves.before.extend(quote!(let mut #common = __pb::Common::new();));
            moves.within.extend(quote!(#common.sums[#lane] = #sum;));
            moves.block.extend(quote!(#common.gather(#len);));
            moves.after.extend(quote!(#shadow += #common.total();));
        }
        moves
    }

    /// Hands the sums on, in a loop over `index` that ascends or descends through `range`. Elements of arrays in `fresh` are set,
    /// if these flags say so.
    pub(crate) fn finish(
        self,
        program: &Program,
        index: VarId,
        range: Option<&syn::ExprRange>,
        ascending: bool,
        fresh: &HashMap<VarId, Ident>,
        kept: &mut Kept,
    ) -> Moves {
        let mut moves = Moves::default();
        let zero = program.zero();
        let index = &program.variables[index].unique;
        for (array, sums) in self.gathered {
            let (shadow, fresh) = (&program.variables[array].shadow, fresh.get(&array));
            let write = |at: TokenStream, sum: TokenStream| {
                let cells = Program::fresh("d");
                match fresh {
                    Some(fresh) => quote!(#shadow.put(#fresh, |#cells| &#cells[#at], #sum);),
                    None => quote!(#shadow.accumulate(|#cells| &#cells[#at], #sum);),
                }
            };
            let (least, most) = ends(&sums);
            let bounds = range.and_then(ends_of);
            if let (Some(fresh), Some(bounds)) = (fresh, bounds) {
                let written = reached(bounds, least, most);
                moves.before.extend(quote!(#shadow.clear_around(#fresh, #written);));
            }
            let Some((start, end, limits)) = bounds.filter(|_| least < most && most - least <= WIDEST) else {
                for (offset, sum) in &sums {
                    moves.within.extend(write(shifted(quote!(#index), *offset), quote!(#sum)));
                }
                continue;
            };
            // An element is complete once its last iteration has come; until then its sum moves on, to the offset that the
            // element has in the next iteration.
            let (done, step) = if ascending { (least, -1) } else { (most, 1) };
            let mut open: Vec<i64> = (least..=most).filter(|offset| *offset != done).collect();
            if !ascending {
                open.reverse();
            }
            let carries: BTreeMap<i64, Ident> =
                open.iter().map(|c| (c + step, kept.fresh("carry"))).collect();
            for carry in carries.values() {
                moves.before.extend(quote!(let mut #carry = #zero;));
            }
            let total = |offset: i64| match (sums.get(&offset), carries.get(&offset)) {
                (Some(sum), Some(carry)) => quote!(#sum + #carry),
                (Some(one), None) | (None, Some(one)) => quote!(#one),
                (None, None) => zero.clone(),
            };
            moves.within.extend(write(shifted(quote!(#index), done), total(done)));
            for offset in &open {
                let (carry, sum) = (&carries[&(offset + step)], total(*offset));
                moves.within.extend(quote!(#carry = #sum;));
            }
            // The last index, or one behind.
            let (bound, beyond) = match (ascending, limits) {
                (true, syn::RangeLimits::HalfOpen(_)) => (end, 1),
                (true, syn::RangeLimits::Closed(_)) => (end, 0),
                (false, _) => (start, 0),
            };
            let mut flush = TokenStream::new();
            for (offset, carry) in &carries {
                flush.extend(write(beside(bound, offset - step - beyond), quote!(#carry)));
            }
            let ran = ran((start, end, limits));
            moves.after.extend(quote!(if #ran { #flush }));
        }
        moves
    }
}

/// The least and the greatest offset.
fn ends(sums: &BTreeMap<i64, Ident>) -> (i64, i64) {
    (*sums.keys().next().expect("gathered"), *sums.keys().last().expect("gathered"))
}

/// A range, of which both ends are written out.
pub(crate) type Bounds<'a> = (&'a syn::Expr, &'a syn::Expr, &'a syn::RangeLimits);

/// The range, if its ends are written out.
pub(crate) fn ends_of(range: &syn::ExprRange) -> Option<Bounds<'_>> {
    Some((range.start.as_deref()?, range.end.as_deref()?, &range.limits))
}

/// Whether a loop has iterations.
fn ran((start, end, limits): Bounds<'_>) -> TokenStream {
    match limits {
        syn::RangeLimits::HalfOpen(_) => quote!(#start < #end),
        syn::RangeLimits::Closed(_) => quote!(#start <= #end),
    }
}

/// The elements from `least` beside the first index to `most` beside the last one.
fn reached(bounds: Bounds<'_>, least: i64, most: i64) -> TokenStream {
    let (start, end, limits) = bounds;
    let beyond = match limits {
        syn::RangeLimits::HalfOpen(_) => most,
        syn::RangeLimits::Closed(_) => most + 1,
    };
    let (first, last) = (beside(start, least), beside(end, beyond));
    if (least, beyond) == (0, 0) {
        return quote!(#first..#last);
    }
    // Without iterations there may be no such elements.
    let ran = ran(bounds);
    quote!(if #ran { #first..#last } else { 0..0 })
}

/// `bound + offset`
fn beside(bound: &syn::Expr, offset: i64) -> TokenStream {
    match bound {
        syn::Expr::Path(_) | syn::Expr::Lit(_) | syn::Expr::MethodCall(_) => shifted(quote!(#bound), offset),
        _ if offset == 0 => quote!(#bound),
        _ => shifted(quote!((#bound)), offset),
    }
}

/// `base + offset`
pub(crate) fn shifted(base: TokenStream, offset: i64) -> TokenStream {
    let distance = Literal::u64_unsuffixed(offset.unsigned_abs());
    match offset {
        0 => base,
        1.. => quote!(#base + #distance),
        _ => quote!(#base - #distance),
    }
}
