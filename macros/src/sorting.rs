//! Sorting, in both passes: `x.sort_by(|a, b| a.total_cmp(b))` and its like. The order carries no gradient; the rule keeps it.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Expr as Syn, ExprMethodCall, Member, Pat, Stmt, parse_quote};

use crate::forward::Forward;
use crate::iterators::item::Item;
use crate::mutation::Action;
use crate::parse::Parser;
use crate::program::*;
use crate::reverse::{Reverse, Slot};

/// The methods of slices that reorder the elements as a function tells.
const SORTING: &[&str] = &[
    "sort_by",
    "sort_unstable_by",
    "sort_by_key",
    "sort_by_cached_key",
    "sort_unstable_by_key",
    "select_nth_unstable_by",
    "select_nth_unstable_by_key",
];

/// Those that keep the order of elements which compare as equal.
const STABLE: &[&str] = &["sort_by", "sort_by_key", "sort_by_cached_key"];

impl Parser<'_> {
    /// A method that sorts its receiver.
    pub(crate) fn sorting_method(&mut self, expr: &Syn, call: &ExprMethodCall) -> Option<ExprId> {
        let name = call.method.to_string();
        let arity = 1 + usize::from(name.starts_with("select"));
        if !SORTING.contains(&name.as_str()) || call.args.len() != arity {
            return None;
        }
        let place = self.written_sequence(&call.receiver)?;
        let mut args = vec![self.lend(&call.receiver, place)];
        args.extend(call.args.iter().map(|arg| self.inert_expr(arg)));
        Some(self.add(expr, ExprKind::Mutation { action: Action::Sort, args }))
    }

    /// `let m = *x.select_nth_unstable_by(k, …).1;` and `let (_, m, _) = x.select_nth_unstable_by(k, …);`: the method by itself,
    /// and a name for the part in question.
    pub(crate) fn selected(&mut self, stmt: &Stmt) -> Option<Vec<Stmt>> {
        let Stmt::Local(local) = stmt else { return None };
        let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
        let (value, followed) = match &*init.expr {
            Syn::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => (&*unary.expr, true),
            value => (value, false),
        };
        let (call, number, pattern) = match (value, &local.pat) {
            (Syn::Field(field), pattern) => {
                let (Syn::MethodCall(call), Member::Unnamed(index)) = (&*field.base, &field.member) else {
                    return None;
                };
                (call, index.index as usize, pattern)
            }
            (Syn::MethodCall(call), Pat::Tuple(parts)) if !followed && parts.elems.len() == 3 => {
                let mut named = parts.elems.iter().enumerate().filter(|(_, p)| !matches!(p, Pat::Wild(_)));
                let (Some((number, pattern)), None) = (named.next(), named.next()) else { return None };
                (call, number, pattern)
            }
            _ => return None,
        };
        let selects = call.method == "select_nth_unstable_by" || call.method == "select_nth_unstable_by_key";
        if !selects || call.args.len() != 2 || !self.suspects.any(&call.receiver) {
            return None;
        }
        let (x, method, middle, order) = (&call.receiver, &call.method, &call.args[0], &call.args[1]);
        let at = self.names.fresh("at");
        let mut out: Vec<Stmt> =
            vec![parse_quote!(let #at: usize = #middle;), parse_quote!(#x.#method(#at, #order);)];
        let place = match number {
            0 => parse_quote!(#x[..#at]),
            1 => parse_quote!(#x[#at]),
            _ => parse_quote!(#x[#at + 1..]),
        };
        let item = Item::Place { place, unique: !followed };
        self.bind_parts(pattern, if followed { item.copied() } else { item }, &mut out);
        Some(out)
    }
}

impl Reverse<'_> {
    /// Undoes what has sorted a slice.
    pub(crate) fn pull_sorting(&mut self, expr: ExprId, args: &[ExprId], at: &At) {
        let program = self.program;
        let ExprKind::Borrow { place, .. } = &program.exprs[args[0]].kind else {
            unreachable!("a mutation borrows what it changes")
        };
        let level = self.top();
        let after = At { block: at.block, versions: std::rc::Rc::new(self.levels[level].current.clone()) };
        let local = match program.variables[place.base].active && self.view(place.base).is_none() {
            true => {
                let (whole, name) = (self.local_shadow(place.base, at), self.kept.fresh("cells"));
                self.emit(quote!(let #name = #whole;));
                Some(name)
            }
            false => None,
        };
        let x = self.borrow_after(place, at, &after);
        let span = program.exprs[args[0]].span;
        let shadow = self.shadow_argument(place, (true, span), at, local.as_ref());
        let slot = match self.removed.get(&expr) {
            Some(slot) => slot.clone(),
            None => {
                let slot = self.kept.fresh("sorted");
                self.slots.push(Slot { name: slot.clone(), init: quote!(__pb::Sorted::new()) });
                self.removed.insert(expr, slot.clone());
                slot
            }
        };
        self.emit(quote!(#slot.undo(#x, #shadow);));
        self.levels[level].current = (*at.versions).clone();
    }
}

impl Forward<'_> {
    /// The method, within what finds out how it has changed the order.
    pub(crate) fn sorting(
        &mut self,
        expr: ExprId,
        call: &ExprMethodCall,
        args: &[ExprId],
        block: BlockId,
    ) -> TokenStream {
        let x = self.expr(args[0], block);
        let rest: Vec<_> = args[1..].iter().map(|arg| self.expr(*arg, block)).collect();
        let (method, unsorted) = (&call.method, Program::fresh("unsorted"));
        match self.reverse.removed.get(&expr) {
            Some(slot) if STABLE.contains(&method.to_string().as_str()) => {
                quote!(#slot.#method(#x, #(#rest),*))
            }
            Some(slot) => quote_spanned! {method.span()=>
                #slot.sort(#x, |#unsorted: &mut [_]| { #unsorted.#method(#(#rest),*); })
            },
            None => quote!((#x).#method(#(#rest),*)),
        }
    }
}
