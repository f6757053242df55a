//! One pass where one is enough.
//!
//! A loop that sums up independent terms, `for i … { total += term(i) }`, knows the gradient with respect to `total`
//! before it starts if what follows is linear. Each iteration can then run backward right after it has run forward: its
//! values are still in registers, nothing is kept, and data is read once. The split rule (forward now, pullback later) cannot
//! do that; this is a third closure for callers that have the seed at hand.

use std::collections::HashSet;

use proc_macro2::TokenStream;
use quote::quote;
use syn::Ident;

use crate::calls::Callee;
use crate::forward::Forward;
use crate::kept::Item;
use crate::program::*;
use crate::reverse::Reverse;
use crate::values::replace;

/// Both passes as one.
pub(crate) struct Both {
    /// The body of the closure that runs them.
    pub(crate) body: TokenStream,
    /// The parameters whose shadows it sets where they are fresh.
    pub(crate) sets: HashSet<VarId>,
}

/// The closure that runs both passes, if the function has such a loop.
pub(crate) fn fuse(program: &Program, reverse: &Reverse) -> Option<Both> {
    let given = |v: &Variable| matches!(v.origin, Origin::Value | Origin::Shared);
    // Both passes go through each iteration to its end.
    if program.has_exits() || program.parameters.iter().flatten().any(|id| !given(&program.variables[*id])) {
        return None;
    }
    if !program.returned.is_empty() || program.annotated {
        return None;
    }
    let loops = sinking_loop(program, reverse).into_iter().chain(last_loop(program, BODY));
    loops
        .into_iter()
        .find_map(|outer| fuse_from(program, reverse, outer))
        .or_else(|| last_call(program, reverse))
}

/// The same, for a loop of the function's and loops within loops, as far as they go.
fn fuse_from(program: &Program, reverse: &Reverse, outer: (usize, &For)) -> Option<Both> {
    let (mut loops, mut block, mut next) = (Vec::new(), BODY, Some(outer));
    while let Some((index, f)) = next {
        loops.push((block, index));
        block = f.body;
        next = last_loop(program, block);
    }
    while !loops.is_empty() {
        let (fused, prefix) = reverse.fusing(&loops);
        let ready = |(block, index): &(BlockId, usize)| {
            available(program, &fused, (*block, *index), fused.fused[block].kept)
        };
        let idle = fused.fused[&loops[loops.len() - 1].0].body.is_empty();
        if !idle && loops.iter().all(ready) {
            let body = both(program, &fused, &loops, &prefix);
            return Some(Both { body, sets: fused.sets });
        }
        loops.pop();
    }
    None
}

/// The same for a function that ends with a call, if that call is all that matters to the reverse pass: its rule may have a way
/// to run both passes at once.
fn last_call(program: &Program, reverse: &Reverse) -> Option<Both> {
    let call = program.peel(program.blocks[BODY].value?);
    let ExprKind::Call { function: Callee::Function(_), args } = &program.exprs[call].kind else {
        return None;
    };
    let alone = matches!(reverse.kept.items(BODY), [(Item::Residual(residual), _)] if *residual == call);
    if !alone || program.with_closures(args) || program.is_reclaimed(call) {
        return None;
    }
    let (reverse, backward) = reverse.at_once(call);
    if !reverse.kept.is_empty(BODY) {
        return None;
    }
    let names = names(program);
    let statements = Forward::new(program, &reverse).statements(BODY);
    // The reverse pass begins with the call, but for what its arguments need.
    let (value, gradients) = (Program::fresh("value"), Program::fresh("gradients"));
    let body = quote! {
        #names
        #statements
        let #value;
        let #gradients = { #backward };
        (#value, #gradients)
    };
    Some(Both { body, sets: reverse.sets })
}

/// The names that the reverse pass has for the parameters.
fn names(program: &Program) -> TokenStream {
    let parameters = program.parameters.iter().flatten();
    parameters
        .map(|id| {
            let Variable { unique, name, .. } = &program.variables[*id];
            quote!(let #unique = #name;)
        })
        .collect()
}

/// The loop at the end of a block, if its iterations can run backward one by one.
fn last_loop(program: &Program, block: BlockId) -> Option<(usize, &For)> {
    if block != BODY && program.blocks[block].value.is_some() {
        return None;
    }
    let statements = &program.blocks[block].statements;
    let index = statements.iter().rposition(|s| !matches!(s.kind, StatementKind::Opaque(_)))?;
    match &statements[index].kind {
        StatementKind::For(f) if separable(program, f.body) => Some((index, f)),
        _ => None,
    }
}

/// The last loop of the function that keeps something and can as well come last, if that is not where it stands.
fn sinking_loop<'p>(program: &'p Program, reverse: &Reverse) -> Option<(usize, &'p For)> {
    let statements = &program.blocks[BODY].statements;
    let found = statements.iter().enumerate().rev().find_map(|(index, statement)| match &statement.kind {
        StatementKind::For(f) if program.nested(f.body).iter().any(|b| !reverse.kept.is_empty(*b)) => {
            Some((index, f))
        }
        _ => None,
    });
    found.filter(|(index, f)| {
        follows(program, BODY, *index)
            && separable(program, f.body)
            && program.sinks(&statements[*index], &statements[index + 1..])
    })
}

/// Statements that matter follow the one with this number.
fn follows(program: &Program, block: BlockId, index: usize) -> bool {
    let statements = &program.blocks[block].statements;
    statements[index + 1..].iter().any(|s| !matches!(s.kind, StatementKind::Opaque(_)))
}

fn both(program: &Program, fused: &Reverse, loops: &[(BlockId, usize)], prefix: &TokenStream) -> TokenStream {
    let parameters = names(program);
    let mut forward = Forward::new(program, fused);
    let vectors = vectors(program, fused, loops);
    let statements = within(program, fused, &mut forward, loops, &vectors);
    let value = forward.result(BODY);
    let result = Program::fresh("value");
    let prefix = replace(prefix.clone(), &vectors);
    quote! {
        #parameters
        #statements
        #value
        (#result, { #prefix })
    }
}

/// The statements of the block of the first of `loops`, with both passes of that loop and of those in it.
fn within(
    program: &Program,
    fused: &Reverse,
    forward: &mut Forward<'_>,
    loops: &[(BlockId, usize)],
    vectors: &[(Ident, TokenStream)],
) -> TokenStream {
    let (block, index) = loops[0];
    let statements = &program.blocks[block].statements;
    let StatementKind::For(f) = &statements[index].kind else { unreachable!("chosen above") };
    let parts = &fused.fused[&block];
    let mut before = forward.range(block, 0..index);
    let sinks = follows(program, block, index);
    if sinks {
        before.extend(forward.range(block, index + 1..statements.len()));
    }
    let iteration = match &loops[1..] {
        [] => forward.iteration(f.body),
        inner => within(program, fused, forward, inner, vectors),
    };
    let after = if sinks { TokenStream::new() } else { forward.range(block, index + 1..statements.len()) };
    let locals = locals(program, fused, block, vectors);
    // The block with a loop in it has given its locals their names before that loop.
    let inner =
        if loops.len() > 1 { TokenStream::new() } else { self::locals(program, fused, f.body, vectors) };
    let index = f.index.map(|id| {
        let variable = &program.variables[id];
        let (unique, name) = (&variable.unique, &variable.name);
        quote!(let #unique = #name;)
    });
    let [suffix, backward, closing] =
        [&parts.suffix, &parts.body, &parts.after].map(|tokens| replace(tokens.clone(), vectors));
    let (pattern, range) = (&f.pattern, &program.exprs[f.range].syntax);
    quote! {
        #before
        #locals
        #suffix
        for #pattern in #range {
            #index
            #iteration
            #inner
            #backward
        }
        #closing
        #after
    }
}

impl Reverse<'_> {
    /// The forward pass of a fused loop has left the value under the user's name.
    pub(crate) fn at_hand(&self, def: DefId) -> bool {
        let program = self.program;
        let Some(variable) = program.stays(def) else { return false };
        let block = &variable.block;
        if variable.kind != Kind::Float && (variable.active || variable.moved) {
            return false;
        }
        let defines = |s: &Statement| s.defines.contains(&def);
        match self.fuse.get(block) {
            Some(index) => first(program, *block, *index).any(defines),
            // The iteration has come to its end.
            None => self.fuse.iter().any(|(outer, index)| {
                matches!(&program.blocks[*outer].statements[*index].kind, StatementKind::For(f) if f.body == *block)
            }),
        }
    }
}

/// The iterations of a loop do not depend on each other, but for sums that they add to.
pub(crate) fn separable(program: &Program, body: BlockId) -> bool {
    let blocks = program.nested(body);
    let written = program.written(body);
    if written.iter().any(|id| program.variables[*id].memory || program.variables[*id].disturbed) {
        return false;
    }
    let sums: Vec<_> = written.into_iter().filter(|id| program.variables[*id].active).collect();
    added_to(program, &blocks, &sums) && !read_in(program, &blocks, &sums)
}

/// All that happens to these variables is that something is added.
pub(crate) fn added_to(program: &Program, blocks: &[BlockId], sums: &[VarId]) -> bool {
    blocks.iter().flat_map(|b| &program.blocks[*b].statements).all(|s| match &s.kind {
        StatementKind::Assign(a) if sums.contains(&a.place.base) => {
            matches!(a.op, Some(Op::Add | Op::Sub)) && !program.by_rule(a.result)
        }
        _ => true,
    })
}

/// Someone looks at one of the variables.
pub(crate) fn read_in(program: &Program, blocks: &[BlockId], variables: &[VarId]) -> bool {
    blocks.iter().flat_map(|b| program.roots(*b)).flat_map(|root| program.tree(root)).any(|e| match &program
        .exprs[e]
        .kind
    {
        ExprKind::Read(place) | ExprKind::Borrow { place, .. } => variables.contains(&place.base),
        ExprKind::Constant(constant) => constant.mentions.iter().any(|id| variables.contains(id)),
        _ => false,
    })
}

/// What the reverse pass asks for before and within the loop is known by then.
fn available(program: &Program, fused: &Reverse, (block, index): (BlockId, usize), kept: usize) -> bool {
    // Both passes have the vector itself, by the user's name.
    let out_of_sight = |item: &Item| matches!(item, Item::Final(id) if program.variables[*id].heap && !in_sight(program, *id));
    if fused.kept.items(block).iter().any(|(item, _)| out_of_sight(item)) {
        return false;
    }
    let defined: Vec<_> = first(program, block, index).flat_map(|s| s.defines.iter().copied()).collect();
    fused.kept.items(block)[..kept].iter().all(|(item, _)| match item {
        // Copied, so that both passes can have it.
        Item::Definition(def) => {
            let number = |v: &Variable| matches!(v.kind, Kind::Float | Kind::Inert);
            defined.contains(def) && program.stays(*def).is_none_or(number)
        }
        Item::Final(id) => {
            let variable = &program.variables[*id];
            (variable.zero.is_some() || variable.heap) && !program.shadowed(*id)
        }
        Item::Last(statement) => first(program, block, index).any(|s| s.id == *statement),
        _ => false,
    })
}

/// The name of the vector stands for it wherever its block is left, or one within.
fn in_sight(program: &Program, id: VarId) -> bool {
    let variable = &program.variables[id];
    let mut within = program.nested(variable.block).into_iter();
    let hides = |block: BlockId| {
        program
            .variables
            .iter()
            .enumerate()
            .any(|(other, v)| other != id && v.block == block && v.name == variable.name)
    };
    !variable.moved && !within.any(hides)
}

/// The names of the reverse pass for vectors of these blocks, and the user's.
fn vectors(program: &Program, fused: &Reverse, loops: &[(BlockId, usize)]) -> Vec<(Ident, TokenStream)> {
    let items = loops.iter().flat_map(|(block, _)| fused.kept.items(*block));
    let vectors = items.filter_map(|(item, kept)| match item {
        Item::Final(id) if program.variables[*id].heap => {
            let name = &program.variables[*id].name;
            Some((kept.clone(), quote!(#name)))
        }
        _ => None,
    });
    vectors.collect()
}

/// The statements of a block that are through before the loop with this number.
fn first(program: &Program, block: BlockId, index: usize) -> impl Iterator<Item = &Statement> {
    let statements = &program.blocks[block].statements;
    let after = if follows(program, block, index) { &statements[index + 1..] } else { &[] };
    statements[..index].iter().chain(after)
}

/// The names that the reverse pass uses for what the forward pass leaves in a block's locals, `vectors` aside.
fn locals(
    program: &Program,
    fused: &Reverse,
    block: BlockId,
    vectors: &[(Ident, TokenStream)],
) -> TokenStream {
    fused
        .kept
        .items(block)
        .iter()
        .filter_map(|(item, kept)| match item {
            Item::Final(id)
                if !program.shadowed(*id) && !vectors.iter().any(|(vector, _)| vector == kept) =>
            {
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
