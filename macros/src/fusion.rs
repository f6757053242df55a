//! One pass where one is enough.
//!
//! A loop that sums up independent terms, `for i … { total += term(i) }`, knows the gradient with respect to `total`
//! before it starts if what follows is linear. Each iteration can then run backward right after it has run forward: its
//! values are still in registers, nothing is kept, and data is read once. The split rule (forward now, pullback later) cannot
//! do that; this is a third closure for callers that have the seed at hand.
//!
//! Likewise for calls whose own rule may have such a closure, at the end of the function or in such a loop; see [`crate::linear`]. Where a
//! function ends with an `if`, each branch goes its own way.

use std::collections::HashSet;

use proc_macro2::TokenStream;
use quote::quote;
use syn::Ident;

use crate::forward::Forward;
use crate::kept::Item;
use crate::overwriting::Firsts;
use crate::plan::{Plan, follows, for_loop, sinking_loop};
use crate::program::*;
use crate::reverse::{Branched, Reverse};
use crate::values::replace;

/// Both passes as one.
pub(crate) struct Both {
    /// The body of the closure that runs them.
    pub(crate) body: TokenStream,
    /// The parameters whose shadows it sets where they are fresh.
    pub(crate) sets: HashSet<VarId>,
    /// The locals that calls come to first.
    pub(crate) firsts: Firsts,
}

/// The closure that runs both passes, if there is a way to do that.
pub(crate) fn fuse(program: &Program, reverse: &Reverse) -> Option<Both> {
    let given = |v: &Variable| matches!(v.origin, Origin::Value | Origin::Shared);
    if program.parameters.iter().flatten().any(|id| !given(&program.variables[*id])) {
        return None;
    }
    if !program.returned.is_empty() || program.annotated {
        return None;
    }
    let sunk = sinking_loop(program, reverse).map(|index| Plan::of_loop(program, index));
    [sunk, Plan::of_end(program)].into_iter().flatten().find_map(|plan| plan.settle(program, reverse))
}

/// The names that the reverse pass has for the parameters.
fn names(program: &Program) -> TokenStream {
    let parameters = program.parameters.iter().flatten();
    parameters
        .map(|id| {
            let Variable { unique, name, .. } = &program.variables[*id];
            match program.cloned.contains(id) {
                true => quote!(let #unique = ::core::clone::Clone::clone(&#name);),
                false => quote!(let #unique = #name;),
            }
        })
        .collect()
}

/// The body of the closure, as `fused` has it.
pub(crate) fn both(program: &Program, fused: &Reverse, gradients: &TokenStream) -> TokenStream {
    let parameters = names(program);
    let vectors = vectors(program, fused);
    let mut writer = Writer { program, fused, forward: Forward::new(program, fused), vectors };
    let value = writer.end(BODY);
    let gradients = replace(gradients.clone(), &writer.vectors);
    let (result, given) = (Program::fresh("value"), Program::fresh("gradients"));
    quote! {
        #parameters
        #value
        let #given = { #gradients };
        (#result, #given)
    }
}

/// Writes both passes as one.
struct Writer<'p> {
    program: &'p Program,
    fused: &'p Reverse<'p>,
    forward: Forward<'p>,
    /// See [`vectors`].
    vectors: Vec<(Ident, TokenStream)>,
}

impl Writer<'_> {
    /// A block at the function's end: its statements, with both passes of what has been put aside, and its value, by that name.
    fn end(&mut self, block: BlockId) -> TokenStream {
        let plan = &self.fused.plan;
        if plan.loops.contains_key(&block) {
            let statements = self.around_loop(block);
            let value = self.forward.result(block);
            return quote!(#statements #value);
        }
        let statements = self.forward.statements(block);
        let Some(branch) = plan.branches.get(&block) else {
            let value = self.forward.result(block);
            let locals = self.locals(block);
            return quote!(#statements #value #locals);
        };
        let ExprKind::If { cond, then, otherwise: Some(otherwise) } = self.program.exprs[*branch].kind else {
            unreachable!("chosen for its branches")
        };
        let (locals, cond) = (self.locals(block), self.forward.expr(cond, block));
        let declared = std::mem::take(&mut self.forward.before);
        let Branched { before, then: undo_then, otherwise: undo_otherwise } = &self.fused.branched[&block];
        let before = self.renamed(before);
        let then = self.branch(then, undo_then);
        let otherwise = self.branch(otherwise, undo_otherwise);
        let name = Program::fresh("value");
        quote!(#statements #locals #before #declared let #name = if #cond { #then } else { #otherwise };)
    }

    /// Both passes of a branch.
    fn branch(&mut self, block: BlockId, backward: &TokenStream) -> TokenStream {
        let (statements, backward) = (self.end(block), self.renamed(backward));
        let name = Program::fresh("value");
        quote!(#statements #backward #name)
    }

    /// The statements of a block, with both passes of a loop in it and of those within.
    fn around_loop(&mut self, block: BlockId) -> TokenStream {
        let (program, fused) = (self.program, self.fused);
        let index = fused.plan.loops[&block];
        let statements = &program.blocks[block].statements;
        let f = for_loop(program, block, index);
        let parts = &fused.fused[&block];
        let mut before = self.forward.entries(block);
        before.extend(self.forward.range(block, 0..index));
        let sinks = follows(program, block, index);
        if sinks {
            before.extend(self.forward.range(block, index + 1..statements.len()));
        }
        let innermost = !fused.plan.loops.contains_key(&f.body);
        let iteration = if innermost { self.forward.iteration(f.body) } else { self.around_loop(f.body) };
        let after =
            if sinks { TokenStream::new() } else { self.forward.range(block, index + 1..statements.len()) };
        let locals = self.locals(block);
        // The block with a loop in it has given its locals their names before that loop.
        let inner = if innermost { self.locals(f.body) } else { TokenStream::new() };
        let index = f.index.map(|id| {
            let variable = &program.variables[id];
            let (unique, name) = (&variable.unique, &variable.name);
            quote!(let #unique = #name;)
        });
        let [suffix, backward, closing] =
            [&parts.suffix, &parts.body, &parts.after].map(|tokens| self.renamed(tokens));
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

    fn renamed(&self, tokens: &TokenStream) -> TokenStream {
        replace(tokens.clone(), &self.vectors)
    }

    /// The names that the reverse pass uses for what the forward pass leaves in a block's locals, vectors aside.
    fn locals(&self, block: BlockId) -> TokenStream {
        let program = self.program;
        let local = |(item, kept): &(Item, Ident)| {
            let name = match item {
                _ if self.vectors.iter().any(|(vector, _)| vector == kept) => return None,
                Item::Final(id) if !program.shadowed(*id) => &program.variables[*id].name,
                Item::Definition(def) => program.stays(*def).map_or(kept, |variable| &variable.name),
                _ => kept,
            };
            let last = matches!(item, Item::Final(_));
            let mutable = last.then(|| quote!(mut));
            let (value, referred) = (program.as_kept(*item, name), program.keeps_referred(*item));
            (referred || last || !std::ptr::eq(name, kept)).then(|| quote!(let #mutable #kept = #value;))
        };
        self.fused.kept.items(block).iter().filter_map(local).collect()
    }
}

impl Reverse<'_> {
    /// The forward pass of a fused loop has left the value under the user's name.
    pub(crate) fn at_hand(&self, def: DefId) -> bool {
        let program = self.program;
        let Some(variable) = program.stays(def) else { return false };
        let block = &variable.block;
        let moves = variable.kind != Kind::Float && (variable.active || variable.moved);
        if moves || is_hidden(program, variable) {
            return false;
        }
        let defines = |s: &Statement| s.defines.contains(&def);
        match self.plan.loops.get(block) {
            Some(index) => first(program, *block, *index).any(defines),
            // The iteration has come to its end.
            None => {
                let mut loops = self.plan.loops.iter();
                loops.any(|(outer, index)| for_loop(program, *outer, *index).body == *block)
            }
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

/// What the reverse pass asks a block for has a name there: of a vector both passes have the vector itself, by the user's name.
pub(crate) fn in_reach(program: &Program, fused: &Reverse, block: BlockId) -> bool {
    let out_of_sight = |item: &Item| matches!(item, Item::Final(id) if program.variables[*id].heap && !in_sight(program, *id));
    !fused.kept.items(block).iter().any(|(item, _)| out_of_sight(item))
}

/// What the reverse pass asks for before and within the loop is known by then.
pub(crate) fn available(
    program: &Program,
    fused: &Reverse,
    (block, index): (BlockId, usize),
    kept: usize,
) -> bool {
    if !in_reach(program, fused, block) {
        return false;
    }
    let defined: Vec<_> = first(program, block, index).flat_map(|s| s.defines.iter().copied()).collect();
    fused.kept.items(block)[..kept].iter().all(|(item, _)| match item {
        // Copied, so that both passes can have it.
        Item::Definition(def) => defined.contains(def) && program.stays(*def).is_none_or(is_number),
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
    !variable.moved && !is_hidden(program, variable)
}

/// The name of the variable means another one somewhere in its block, or in one within.
fn is_hidden(program: &Program, variable: &Variable) -> bool {
    let blocks = program.nested(variable.block);
    program.variables.iter().filter(|v| v.name == variable.name && blocks.contains(&v.block)).count() > 1
}

fn is_number(variable: &Variable) -> bool {
    matches!(variable.kind, Kind::Float | Kind::Inert)
}

/// The names of the reverse pass for vectors, and what may own such, of the blocks of the plan, and the user's: they are not copied.
fn vectors(program: &Program, fused: &Reverse) -> Vec<(Ident, TokenStream)> {
    let items = fused.plan.blocks().flat_map(|block| fused.kept.items(*block));
    let owns = |id: VarId| {
        let variable = &program.variables[id];
        variable.heap || variable.memory && variable.of_user || program.may_own(id)
    };
    let vectors = items.filter_map(|(item, kept)| match item {
        Item::Final(id) if owns(*id) => {
            let name = &program.variables[*id].name;
            Some((kept.clone(), quote!(#name)))
        }
        Item::Definition(def) => {
            let variable = program.stays(*def).filter(|variable| !is_number(variable) && !variable.found)?;
            let name = &variable.name;
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
