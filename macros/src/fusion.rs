//! One pass where one is enough.
//!
//! A loop that sums up independent terms, `for i … { total += term(i) }`, knows the gradient with respect to `total`
//! before it starts if what follows is linear. Each iteration can then run backward right after it has run forward: its
//! values are still in registers, nothing is kept, and data is read once. The split rule (forward now, pullback later) cannot
//! do that; this is a third closure for callers that have the seed at hand.

use proc_macro2::TokenStream;
use quote::quote;

use crate::forward::Forward;
use crate::kept::Item;
use crate::program::*;
use crate::reverse::Reverse;

/// The body of the closure that runs both passes, if the function has such a loop.
pub(crate) fn fuse(program: &Program, reverse: &Reverse) -> Option<TokenStream> {
    let given = |v: &Variable| matches!(v.origin, Origin::Value | Origin::Shared);
    // Both passes go through each iteration to its end.
    if program.has_exits() || program.parameters.iter().flatten().any(|id| !given(&program.variables[*id])) {
        return None;
    }
    if program.returned.is_some() || program.annotated {
        return None;
    }
    let body = &program.blocks[BODY];
    let index = body.statements.iter().rposition(|s| !matches!(s.kind, StatementKind::Opaque(_)))?;
    let StatementKind::For(f) = &body.statements[index].kind else { return None };
    if !separable(program, f.body) {
        return None;
    }
    let (fused, prefix) = reverse.fusing(index);
    let parts = fused.fused.as_ref()?;
    if parts.body.is_empty() || !available(program, &fused, index, parts.kept) {
        return None;
    }
    let parameters = program.parameters.iter().flatten().map(|id| {
        let variable = &program.variables[*id];
        let (unique, name) = (&variable.unique, &variable.name);
        quote!(let #unique = #name;)
    });
    let mut forward = Forward::new(program, &fused);
    let before = forward.range(BODY, 0..index);
    let iteration = forward.iteration(f.body);
    let after = forward.range(BODY, index + 1..body.statements.len());
    let value = forward.result(BODY);
    let result = Program::fresh("value");
    let (suffix, backward, closing) = (&parts.suffix, &parts.body, &parts.after);
    let locals = locals(program, &fused, BODY);
    let inner = locals_of_iteration(program, &fused, f);
    let (pattern, range) = (&f.pattern, &program.exprs[f.range].syntax);
    Some(quote! {
        #(#parameters)*
        #before
        #locals
        #suffix
        for #pattern in #range {
            #iteration
            #inner
            #backward
        }
        #closing
        #after
        #value
        (#result, { #prefix })
    })
}

/// The iterations of a loop do not depend on each other, but for sums that they add to.
fn separable(program: &Program, body: BlockId) -> bool {
    let blocks = program.nested(body);
    let written = program.written(body);
    if written.iter().any(|id| program.variables[*id].memory || program.variables[*id].disturbed) {
        return false;
    }
    let sums: Vec<_> = written.into_iter().filter(|id| program.variables[*id].active).collect();
    let reads = |expr: ExprId| {
        program.tree(expr).into_iter().any(|e| match &program.exprs[e].kind {
            ExprKind::Read(place) | ExprKind::Borrow { place, .. } => sums.contains(&place.base),
            ExprKind::Constant(constant) => constant.mentions.iter().any(|id| sums.contains(id)),
            _ => false,
        })
    };
    let only_added_to = blocks.iter().flat_map(|b| &program.blocks[*b].statements).all(|s| match &s.kind {
        StatementKind::Assign(a) if sums.contains(&a.place.base) => {
            matches!(a.op, Some(Op::Add | Op::Sub)) && !program.by_rule(a.result)
        }
        _ => true,
    });
    only_added_to && !blocks.iter().flat_map(|b| program.roots(*b)).any(reads)
}

/// What the reverse pass asks for before and within the loop is known by then.
fn available(program: &Program, fused: &Reverse, index: usize, kept: usize) -> bool {
    let heap = |item: &Item| matches!(item, Item::Final(id) if program.variables[*id].heap);
    if fused.kept.items(BODY).iter().any(|(item, _)| heap(item)) {
        return false;
    }
    let defined: Vec<_> =
        program.blocks[BODY].statements[..index].iter().flat_map(|s| s.defines.iter().copied()).collect();
    fused.kept.items(BODY)[..kept].iter().all(|(item, _)| match item {
        // Copied, so that both passes can have it.
        Item::Definition(def) => {
            let number = |v: &Variable| matches!(v.kind, Kind::Float | Kind::Inert);
            defined.contains(def) && program.stays(*def).is_none_or(number)
        }
        Item::Final(id) => {
            let variable = &program.variables[*id];
            variable.zero.is_some() && !program.shadowed(*id)
        }
        _ => false,
    })
}

/// The names that the reverse pass uses for what the forward pass leaves in a block's locals.
fn locals(program: &Program, fused: &Reverse, block: BlockId) -> TokenStream {
    fused
        .kept
        .items(block)
        .iter()
        .filter_map(|(item, kept)| match item {
            Item::Final(id) if !program.shadowed(*id) => {
                let name = &program.variables[*id].name;
                Some(quote!(let mut #kept = #name;))
            }
            Item::Definition(def) => {
                let name = &program.stays(*def)?.name;
                Some(quote!(let #kept = #name;))
            }
            _ => None,
        })
        .collect()
}

fn locals_of_iteration(program: &Program, fused: &Reverse, f: &For) -> TokenStream {
    let index = f.index.map(|id| {
        let variable = &program.variables[id];
        let (unique, name) = (&variable.unique, &variable.name);
        quote!(let #unique = #name;)
    });
    let locals = locals(program, fused, f.body);
    quote!(#index #locals)
}
