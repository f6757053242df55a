//! Shadows that need not be emptied first.
//!
//! Where all that a function does with a parameter `x: &T` is to pass it to one call, once, the pullback of that call is alone in
//! contributing to the shadow of `x`. If the callee's rule can write instead of adding, nobody has to fill the shadow with zeros.

use proc_macro2::TokenStream;
use quote::quote;

use crate::kept::Item;
use crate::program::*;
use crate::reverse::Reverse;

/// The arms of a `match` on the number of a parameter: whether the rule of the call that has it overwrites its shadow.
pub(crate) fn overwriting(program: &Program, reverse: &Reverse) -> Option<TokenStream> {
    // Each call has to happen.
    if program.has_exits() {
        return None;
    }
    let calls: Vec<ExprId> = program
        .roots(BODY)
        .into_iter()
        .flat_map(|root| program.tree(root))
        .filter(|e| program.exprs[*e].active && matches!(program.exprs[*e].kind, ExprKind::Call { .. }))
        .collect();
    let mut arms = TokenStream::new();
    for (number, id) in program.parameters.iter().enumerate() {
        let Some(id) = *id else { continue };
        let variable = &program.variables[id];
        if variable.origin != Origin::Shared || !variable.active || uses(program, id) != 1 {
            continue;
        }
        for call in &calls {
            let ExprKind::Call { args, .. } = &program.exprs[*call].kind else { continue };
            let whole = |arg: &ExprId| {
                matches!(&program.exprs[*arg].kind, ExprKind::Borrow { place, unique: false }
                    if place.base == id && place.projections.is_empty())
            };
            let rule = reverse.rules.get(call).filter(|rule| reverse.slots.iter().any(|s| s.name == **rule));
            // A call with a residual has a pullback, which is called.
            let kept = reverse.kept.name(BODY, Item::Residual(*call)).is_some();
            if let (Some(position), Some(rule), true) = (args.iter().position(whole), rule, kept)
                && !program.with_closures(args)
            {
                arms.extend(quote!(#number => #rule.overwrite(#position),));
            }
        }
    }
    (!arms.is_empty()).then_some(arms)
}

/// How often what a variable holds is used.
fn uses(program: &Program, id: VarId) -> usize {
    let uses = |e: &&Expr| match &e.kind {
        ExprKind::Read(place) | ExprKind::Borrow { place, .. } => place.base == id,
        _ => false,
    };
    program.exprs.iter().filter(uses).count()
}
