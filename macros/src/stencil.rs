//! Neighbouring elements: `x[i]` and `x[i + 1]` in one loop.
//!
//! The gradients of an iteration go to elements that the next iteration touches as well. Through memory, each iteration
//! would wait for the stores of the one before; so contributions are gathered in registers that move along with the
//! index, and each element of the shadow is written once.

use std::collections::BTreeMap;

use proc_macro2::{Literal, TokenStream};
use quote::quote;
use syn::Ident;

use crate::kept::Kept;
use crate::program::*;

/// The contributions of one iteration, by array and by offset from the loop's index.
#[derive(Default)]
pub(crate) struct Stencil {
    gathered: BTreeMap<VarId, BTreeMap<i64, Ident>>,
}

/// What a stencil adds to a loop.
#[derive(Default)]
pub(crate) struct Moves {
    pub(crate) before: TokenStream,
    /// At the end of each iteration.
    pub(crate) within: TokenStream,
    pub(crate) after: TokenStream,
}

/// The widest stencil that is carried in registers.
const WIDEST: i64 = 4;

impl Program {
    /// The offset of `expr` from the variable `index`: `i`, `i + 1`, `i - 2`.
    pub(crate) fn offset(&self, expr: ExprId, index: VarId) -> Option<i64> {
        let expr = self.peel(expr);
        match &self.exprs[expr].kind {
            ExprKind::Read(place) => (place.base == index && place.projections.is_empty()).then_some(0),
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

    /// Hands the sums on, in a loop over `index` that ascends or descends through `range`.
    pub(crate) fn finish(
        self,
        program: &Program,
        index: VarId,
        range: Option<&syn::ExprRange>,
        ascending: bool,
        kept: &mut Kept,
    ) -> Moves {
        let mut moves = Moves::default();
        let zero = program.zero();
        let index = &program.variables[index].unique;
        for (array, sums) in self.gathered {
            let shadow = &program.variables[array].shadow;
            let write = |at: TokenStream, sum: &Ident| {
                let cells = Program::fresh("d");
                quote!(#shadow.accumulate(|#cells| &#cells[#at], #sum);)
            };
            let (least, most) =
                (*sums.keys().next().expect("gathered"), *sums.keys().last().expect("gathered"));
            let bounds = range.and_then(|r| Some((r.start.as_ref()?, r.end.as_ref()?, &r.limits)));
            let Some((start, end, limits)) = bounds.filter(|_| least < most && most - least <= WIDEST) else {
                for (offset, sum) in &sums {
                    moves.within.extend(write(shifted(quote!(#index), *offset), sum));
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
            let cells = Program::fresh("d");
            let (at, sum) = (shifted(quote!(#index), done), total(done));
            moves.within.extend(quote!(#shadow.accumulate(|#cells| &#cells[#at], #sum);));
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
                flush.extend(write(beside(bound, offset - step - beyond), carry));
            }
            let ran = match limits {
                syn::RangeLimits::HalfOpen(_) => quote!(#start < #end),
                syn::RangeLimits::Closed(_) => quote!(#start <= #end),
            };
            moves.after.extend(quote!(if #ran { #flush }));
        }
        moves
    }
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
fn shifted(base: TokenStream, offset: i64) -> TokenStream {
    let distance = Literal::u64_unsuffixed(offset.unsigned_abs());
    match offset {
        0 => base,
        1.. => quote!(#base + #distance),
        _ => quote!(#base - #distance),
    }
}
