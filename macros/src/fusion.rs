//! One pass where one is enough.
//!
//! A loop that sums up independent terms, `for i … { total += term(i) }`, knows the gradient with respect to `total`
//! before it starts if what follows is linear. Each iteration can then run backward right after it has run forward: its
//! values are still in registers, nothing is kept, and data is read once. The split rule (forward now, pullback later) cannot
//! do that; this is a third closure for callers that have the seed at hand.
//!
//! Likewise for calls whose own rule may have such a closure, at the end of the function or in such a loop; see [`crate::linear`]. Where a
//! function ends with an `if`, each branch goes its own way.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use proc_macro2::TokenStream;
use quote::quote;
use syn::Ident;

use crate::forward::Forward;
use crate::kept::Item;
use crate::program::*;
use crate::reverse::{Branched, Reverse};
use crate::values::replace;

/// Both passes as one.
pub(crate) struct Both {
    /// The body of the closure that runs them.
    pub(crate) body: TokenStream,
    /// The parameters whose shadows it sets where they are fresh.
    pub(crate) sets: HashSet<VarId>,
}

/// Where both passes run at once.
#[derive(Clone, Default)]
pub(crate) struct Plan {
    /// Loops: the block in which each stands, and the number of its statement there.
    pub(crate) loops: BTreeMap<BlockId, usize>,
    /// Calls; see [`crate::linear`].
    pub(crate) calls: BTreeSet<ExprId>,
    /// Blocks at the function's end that end with an `if`, in both branches of which this goes on.
    pub(crate) branches: BTreeMap<BlockId, ExprId>,
    /// The blocks at the function's end that do not.
    ends: Vec<BlockId>,
    /// Expressions whose calls need a forward pass of their own.
    split: BTreeSet<ExprId>,
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

impl Plan {
    /// A loop of the function's, and loops within loops.
    fn of_loop(program: &Program, index: usize) -> Plan {
        let mut plan = Plan { ends: vec![BODY], ..Plan::default() };
        plan.add_loops(program, BODY, Some(index));
        plan.find_calls(program);
        plan
    }

    /// What stands at the end of the function, if it is left nowhere else.
    fn of_end(program: &Program) -> Option<Plan> {
        let mut plan = Plan::default();
        plan.add_end(program, BODY);
        plan.find_calls(program);
        let ways_out = |e: &&Expr| matches!(e.kind, ExprKind::Exit { .. } | ExprKind::Try(_));
        let at_end = |block: &&BlockId| {
            let value = program.blocks[**block].value;
            value.is_some_and(|e| {
                matches!(program.exprs[e].kind, ExprKind::Exit { target: Target::Function, value: Some(_) })
            })
        };
        let all = program.exprs.iter().filter(ways_out).count() == plan.ends.iter().filter(at_end).count();
        all.then_some(plan)
    }

    fn add_end(&mut self, program: &Program, block: BlockId) {
        let value = program.blocks[block].value.map(|value| program.peel(value));
        if let Some(value) = value
            && let Expr { kind: ExprKind::If { then, otherwise: Some(otherwise), .. }, active: true, .. } =
                program.exprs[value]
            && ![then, otherwise].iter().any(|branch| writes_outside(program, *branch))
        {
            self.branches.insert(block, value);
            self.add_end(program, then);
            return self.add_end(program, otherwise);
        }
        self.ends.push(block);
        self.add_loops(program, block, last_loop(program, block));
    }

    fn add_loops(&mut self, program: &Program, mut block: BlockId, mut next: Option<usize>) {
        while let Some(index) = next {
            self.loops.insert(block, index);
            block = for_loop(program, block, index).body;
            next = if program.blocks[block].value.is_none() { last_loop(program, block) } else { None };
        }
    }

    /// The loop in `block` and those in it, the outermost one first.
    fn chain(&self, program: &Program, mut block: BlockId) -> Vec<(BlockId, usize)> {
        let mut found = Vec::new();
        while let Some(index) = self.loops.get(&block) {
            found.push((block, *index));
            block = for_loop(program, block, *index).body;
        }
        found
    }

    /// Each expression with calls that can run at once, the block in which it stands, and the calls.
    fn roots(&self, program: &Program) -> Vec<(BlockId, ExprId, Vec<ExprId>)> {
        let mut found = Vec::new();
        for end in &self.ends {
            let chain = self.chain(program, *end);
            match (chain.first(), program.blocks[*end].value) {
                (Some((block, index)), _) => {
                    let outer = for_loop(program, *block, *index).body;
                    found.extend(chain.iter().flat_map(|(block, index)| {
                        program.sums_of_calls(outer, for_loop(program, *block, *index).body)
                    }));
                }
                (None, Some(value)) => {
                    let value = program.returned_value(value);
                    found.push((*end, value, program.linear_calls(value)));
                }
                (None, None) => {}
            }
        }
        found.retain(|(_, root, _)| !self.split.contains(root));
        found
    }

    fn find_calls(&mut self, program: &Program) {
        self.calls = self.roots(program).into_iter().flat_map(|(_, _, calls)| calls).collect();
    }

    /// Nothing is won.
    pub(crate) fn is_empty(&self) -> bool {
        self.loops.is_empty() && self.calls.is_empty()
    }

    /// The closure, with as much of the plan as works.
    fn settle(mut self, program: &Program, reverse: &Reverse) -> Option<Both> {
        while !self.is_empty() {
            let (fused, gradients) = reverse.fusing(&self);
            if self.branches.keys().any(|block| !in_reach(program, &fused, *block)) {
                return None;
            }
            let split: Vec<_> =
                self.roots(program).into_iter().filter(|root| !ready(program, &fused, root)).collect();
            let (chains, ends): (Vec<_>, Vec<_>) = self
                .ends
                .iter()
                .map(|end| (self.chain(program, *end), *end))
                .partition(|(chain, _)| !chain.is_empty());
            let failing: Vec<_> = chains
                .into_iter()
                .filter_map(|(chain, _)| (!runs(program, &fused, &chain)).then(|| chain[chain.len() - 1].0))
                .collect();
            if split.is_empty() && failing.is_empty() {
                if ends.iter().any(|(_, end)| !in_reach(program, &fused, *end)) {
                    return None;
                }
                let body = both(program, &fused, &gradients);
                return Some(Both { body, sets: fused.sets });
            }
            self.split.extend(split.into_iter().map(|(_, root, _)| root));
            failing.iter().for_each(|block| _ = self.loops.remove(block));
            self.find_calls(program);
        }
        None
    }
}

/// The branch writes to what lives in memory around it: shadows are made before it, of the shapes that it leaves.
fn writes_outside(program: &Program, branch: BlockId) -> bool {
    let in_memory = |v: &Variable| v.memory || v.heap;
    program.written(branch).into_iter().any(|id| in_memory(&program.variables[id]))
}

/// The loop with this number.
fn for_loop(program: &Program, block: BlockId, index: usize) -> &For {
    match &program.blocks[block].statements[index].kind {
        StatementKind::For(f) => f,
        _ => unreachable!("chosen as a loop"),
    }
}

/// Both passes of these loops can run at once, and there is something to run.
fn runs(program: &Program, fused: &Reverse, chain: &[(BlockId, usize)]) -> bool {
    let (innermost, _) = chain[chain.len() - 1];
    let ready = |(block, index): &(BlockId, usize)| {
        available(program, fused, (*block, *index), fused.fused[block].kept)
    };
    !fused.fused[&innermost].body.is_empty() && chain.iter().all(ready)
}

/// The reverse pass asks for nothing that the forward pass would have to compute with what it leaves out.
fn ready(program: &Program, fused: &Reverse, (block, root, _): &(BlockId, ExprId, Vec<ExprId>)) -> bool {
    let tree = program.tree(*root);
    !fused.kept.items(*block).iter().any(|(item, _)| item.expr().is_some_and(|e| tree.contains(&e)))
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
fn last_loop(program: &Program, block: BlockId) -> Option<usize> {
    let statements = &program.blocks[block].statements;
    let index = statements.iter().rposition(|s| !matches!(s.kind, StatementKind::Opaque(_)))?;
    match &statements[index].kind {
        StatementKind::For(f) if separable(program, f.body) => Some(index),
        _ => None,
    }
}

/// The last loop of the function that keeps something and can as well come last, if that is not where it stands.
fn sinking_loop(program: &Program, reverse: &Reverse) -> Option<usize> {
    if program.has_exits() {
        return None;
    }
    let statements = &program.blocks[BODY].statements;
    let found = statements.iter().enumerate().rev().find_map(|(index, statement)| match &statement.kind {
        StatementKind::For(f) if program.nested(f.body).iter().any(|b| !reverse.kept.is_empty(*b)) => {
            Some((index, f))
        }
        _ => None,
    });
    let found = found.filter(|(index, f)| {
        follows(program, BODY, *index)
            && separable(program, f.body)
            && program.sinks(&statements[*index], &statements[index + 1..])
    });
    found.map(|(index, _)| index)
}

/// Statements that matter follow the one with this number.
fn follows(program: &Program, block: BlockId, index: usize) -> bool {
    let statements = &program.blocks[block].statements;
    statements[index + 1..].iter().any(|s| !matches!(s.kind, StatementKind::Opaque(_)))
}

fn both(program: &Program, fused: &Reverse, gradients: &TokenStream) -> TokenStream {
    let parameters = names(program);
    let blocks = fused.plan.loops.keys().chain(fused.plan.branches.keys()).chain(&fused.plan.ends);
    let vectors = vectors(program, fused, blocks);
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
        let local = |(item, kept): &(Item, Ident)| match item {
            Item::Final(id)
                if !program.shadowed(*id) && !self.vectors.iter().any(|(vector, _)| vector == kept) =>
            {
                let name = &program.variables[*id].name;
                Some(quote!(let mut #kept = #name;))
            }
            Item::Definition(def) => {
                let name = &program.stays(*def)?.name;
                Some(quote!(let #kept = #name;))
            }
            _ => None,
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
fn in_reach(program: &Program, fused: &Reverse, block: BlockId) -> bool {
    let out_of_sight = |item: &Item| matches!(item, Item::Final(id) if program.variables[*id].heap && !in_sight(program, *id));
    !fused.kept.items(block).iter().any(|(item, _)| out_of_sight(item))
}

/// What the reverse pass asks for before and within the loop is known by then.
fn available(program: &Program, fused: &Reverse, (block, index): (BlockId, usize), kept: usize) -> bool {
    if !in_reach(program, fused, block) {
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
    !variable.moved && !is_hidden(program, variable)
}

/// The name of the variable means another one somewhere in its block, or in one within.
fn is_hidden(program: &Program, variable: &Variable) -> bool {
    let blocks = program.nested(variable.block);
    program.variables.iter().filter(|v| v.name == variable.name && blocks.contains(&v.block)).count() > 1
}

/// The names of the reverse pass for vectors of these blocks, and the user's.
fn vectors<'b>(
    program: &Program,
    fused: &Reverse,
    blocks: impl Iterator<Item = &'b BlockId>,
) -> Vec<(Ident, TokenStream)> {
    let items = blocks.flat_map(|block| fused.kept.items(*block));
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
