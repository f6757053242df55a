//! The forward pass through blocks that may be left early: each hands over what it has kept by then.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::quote;

use crate::arms::taken;
use crate::forward::{Forward, Rescue, followed_by};
use crate::kept::{Item, group};
use crate::program::*;

/// A block that is being written, and where its residual goes.
pub(crate) struct Frame {
    pub(crate) block: BlockId,
    pub(crate) link: Link,
}

pub(crate) enum Link {
    /// The value of the function, or of a closure, is returned.
    Function,
    /// Onto the stack of a loop.
    Iteration(StmtId),
    /// Into a variable of the block around it.
    Part(Part),
}

/// A block of an expression: the expression, the block in which that stands, the number of the block among how many.
pub(crate) type Part = (ExprId, BlockId, usize, usize);

impl Forward<'_> {
    /// The residual of `block`, as an expression.
    pub(crate) fn residual(&mut self, block: BlockId) -> TokenStream {
        let items = self.reverse.kept.items(block);
        let mut names = Vec::new();
        for (item, name) in items {
            let name = match item {
                Item::Final(id) if !self.rescued.contains(id) => {
                    self.report_hidden(*id);
                    &self.program.variables[*id].name
                }
                Item::Definition(def) => self.program.stays(*def).map_or(name, |variable| &variable.name),
                _ => name,
            };
            names.push(self.program.as_kept(*item, name));
        }
        group(names)
    }

    /// Reports a name that means something else where the block is left.
    fn report_hidden(&mut self, id: VarId) {
        let variable = &self.program.variables[id];
        let scope = self.program.scope_of(variable.block);
        // Blocks within that of the variable.
        let other = self
            .frames
            .iter()
            .rev()
            .map(|frame| frame.block)
            .take_while(|b| self.program.scope_of(*b) != scope)
            .find_map(|block| {
                self.program.variables[id + 1..].iter().find(|v| v.block == block && v.name == variable.name)
            });
        if let Some(other) = other {
            self.errors.push(
                &other.name,
                "this hides an array which is needed where the block is left: give one of them another name",
            );
        }
    }

    /// The variable that counts the iterations of a loop: its declaration, and what each iteration does to it.
    pub(crate) fn count(&self, block: BlockId, id: StmtId) -> (TokenStream, TokenStream) {
        match self.reverse.kept.name(block, Item::Count(id)) {
            Some(count) => (quote!(let mut #count = 0_usize;), quote!(#count += 1;)),
            None => Default::default(),
        }
    }

    /// Hands the residual of an iteration to the loop.
    pub(crate) fn push(&mut self, body: BlockId, statement: StmtId) -> Option<TokenStream> {
        let stack = self.reverse.stacks.get(&statement)?;
        let residual = self.residual(body);
        Some(quote!(#stack.push(#residual);))
    }

    /// A block of an expression, with what it keeps.
    pub(crate) fn arm(&mut self, block: BlockId, part: Part) -> TokenStream {
        let (expr, around, arm, count) = part;
        let outer = std::mem::take(&mut self.before);
        self.frames.push(Frame { block, link: Link::Part(part) });
        let statements = self.statements(block);
        let value = self.program.blocks[block].value.map(|value| self.tail(value, block));
        let left = self.program.is_left(block);
        let keep = self
            .reverse
            .kept
            .name(around, Item::Branch(expr))
            .filter(|_| !left && !self.program.goes_on(expr))
            .map(|name| {
                let residual = taken(arm, count, self.residual(block));
                quote!(#name = #residual;)
            });
        self.frames.pop();
        self.before = outer;
        match (value, keep) {
            (Some((before, value)), Some(keep)) if !value.is_empty() => {
                let name = Program::fresh("value");
                quote!(#statements #before let #name = #value; #keep #name)
            }
            (Some((before, value)), keep) => quote!(#statements #before #value #keep),
            (None, keep) => quote!(#statements #keep),
        }
    }

    pub(crate) fn matched(&mut self, expr: ExprId, m: &Match, block: BlockId) -> TokenStream {
        let scrutinee = self.expr(m.scrutinee, block);
        if let (Some(name), false) =
            (self.reverse.kept.name(block, Item::Branch(expr)), self.program.leaves(expr))
        {
            self.before.extend(quote!(let #name;));
        }
        let count = m.arms.len();
        let bodies: Vec<_> =
            m.arms.iter().enumerate().map(|(i, arm)| self.arm(arm.body, (expr, block, i, count))).collect();
        if m.style == Style::IfLet {
            let (pattern, then, otherwise) = (&m.arms[0].pattern, &bodies[0], &bodies[1]);
            let otherwise = (!otherwise.is_empty()).then(|| quote!(else { #otherwise }));
            return quote!(if let #pattern = #scrutinee { #then } #otherwise);
        }
        let arms = m.arms.iter().zip(bodies).map(|(arm, body)| {
            let pattern = &arm.pattern;
            let guard = arm.guard.map(|guard| {
                let guard = &self.program.exprs[guard].syntax;
                quote!(if #guard)
            });
            quote!(#pattern #guard => { #body })
        });
        quote!(match #scrutinee { #(#arms)* })
    }

    /// `e?`
    pub(crate) fn tried(&mut self, e: ExprId, block: BlockId) -> TokenStream {
        let tried = self.expr(e, block);
        let (value, stop) = (Program::fresh("value"), Program::fresh("stop"));
        let stopped = match (&self.program.landing, self.program.around(block)) {
            (Some(Landing { label, outcome }), Target::Break(landing))
                if self.program.landing_block() == Some(landing) =>
            {
                let (before, keep) = self.unwind_to(self.frame_of(landing));
                quote!(#before #keep #outcome = __pb::stop(#stop); break #label)
            }
            _ => {
                let (before, residual) = self.unwind(self.function());
                let returned = self.returned(quote!(__pb::stop(#stop)), residual);
                quote!(#before return #returned)
            }
        };
        quote! {
            match __pb::Try::branch(#tried) {
                __pb::ControlFlow::Continue(#value) => #value,
                __pb::ControlFlow::Break(#stop) => { #stopped }
            }
        }
    }

    /// What stands at the end of a block and goes on elsewhere, or in the same scope: what comes before the value, and the
    /// value.
    pub(crate) fn ending(&mut self, expr: ExprId, block: BlockId) -> Option<(TokenStream, TokenStream)> {
        let program = self.program;
        match &program.exprs[expr].kind {
            ExprKind::Exit { target, value } => {
                Some((self.leave(expr, *target, *value, block), TokenStream::new()))
            }
            ExprKind::Rest(rest) => Some(self.rest(*rest, (expr, block, 0, 2))),
            ExprKind::If { cond, then, otherwise: Some(otherwise) } if program.guards.contains(&expr) => {
                let taken = self.reverse.kept.name(block, Item::Value(*cond));
                let syntax = &program.exprs[*cond].syntax;
                let test = match taken {
                    Some(taken) => quote!(let #taken = #syntax; if #taken),
                    None => quote!(if #syntax),
                };
                let then = self.arm(*then, (expr, block, 0, 2));
                let (before, value) = self.rest(*otherwise, (expr, block, 1, 2));
                Some((quote!(#test { #then } #before), value))
            }
            ExprKind::Match(m) if program.goes_on(expr) => {
                let new: Vec<_> = m.arms[0].bindings.iter().map(|binding| binding.variable).collect();
                let Rescue { before: rescued, moves, variables } =
                    self.rescue_from(block, &new, &program.exprs[m.scrutinee].syntax);
                let outer = std::mem::take(&mut self.before);
                let scrutinee = followed_by(&moves, self.expr(m.scrutinee, block));
                let declared = std::mem::replace(&mut self.before, outer);
                self.rescued.extend(variables);
                let pattern = &m.arms[0].pattern;
                let count = m.arms.len();
                let otherwise = m.arms.get(1).map(|arm| {
                    let body = self.arm(arm.body, (expr, block, 1, count));
                    quote!(else { #body })
                });
                let otherwise = otherwise.or_else(|| m.panic.as_ref().map(|panic| quote!(else #panic)));
                let scrutinee = if otherwise.is_some() { before_else(scrutinee) } else { scrutinee };
                let (before, value) = self.rest(m.arms[0].body, (expr, block, 0, count));
                Some((quote!(#declared #rescued let #pattern = #scrutinee #otherwise; #before), value))
            }
            _ => None,
        }
    }

    /// A block in the scope of the one that it continues.
    fn rest(&mut self, rest: BlockId, part: Part) -> (TokenStream, TokenStream) {
        let (expr, around, arm, count) = part;
        self.frames.push(Frame { block: rest, link: Link::Part(part) });
        let statements = self.statements(rest);
        let tail = self.program.blocks[rest].value.map(|value| self.tail(value, rest));
        let left = self.program.is_left(rest);
        let keep = self.reverse.kept.name(around, Item::Branch(expr)).filter(|_| !left).map(|name| {
            let residual = taken(arm, count, self.residual(rest));
            quote!(let #name = #residual;)
        });
        self.frames.pop();
        match tail {
            Some((before, value)) if !value.is_empty() => {
                let bound = self.bound(rest, &value);
                let name = Program::fresh("value");
                (quote!(#statements #before #bound #keep), quote!(#name))
            }
            Some((before, _)) => (quote!(#statements #before #keep), TokenStream::new()),
            None => (quote!(#statements #keep), TokenStream::new()),
        }
    }

    /// Gives the value of a block the name `value`, unless the block that it goes on with has done so.
    pub(crate) fn bound(&self, block: BlockId, value: &TokenStream) -> Option<TokenStream> {
        let name = Program::fresh("value");
        let named = self.program.blocks[block].value.is_some_and(|value| self.program.goes_on(value));
        (!named).then(|| quote!(let #name = #value;))
    }

    /// Hands over the residuals of all blocks within frame number `to`, and gives that of its block.
    fn unwind(&mut self, to: usize) -> (TokenStream, TokenStream) {
        let mut out = TokenStream::new();
        let mut inner = None;
        for i in (to..self.frames.len()).rev() {
            let block = self.frames[i].block;
            if let Some(end) = self.program.blocks[block].value
                && let ExprKind::Rest(rest) = self.program.exprs[end].kind
                && inner != Some(rest)
                && let Some(name) = self.reverse.kept.name(block, Item::Branch(end))
            {
                out.extend(quote!(let #name = __pb::Branch::Else(());));
            }
            inner = Some(block);
            let residual = self.residual(block);
            if i == to {
                return (out, residual);
            }
            match self.frames[i].link {
                Link::Function => {}
                Link::Iteration(statement) => {
                    if let Some(stack) = self.reverse.stacks.get(&statement) {
                        out.extend(quote!(#stack.push(#residual);));
                    }
                }
                Link::Part((expr, around, arm, count)) => {
                    if let Some(name) = self.reverse.kept.name(around, Item::Branch(expr)) {
                        let residual = taken(arm, count, residual);
                        out.extend(quote!(let #name = #residual;));
                    }
                }
            }
        }
        unreachable!("the target is among the blocks around")
    }

    /// The frame of the function, or of the closure that is being written.
    fn function(&self) -> usize {
        let function = |frame: &Frame| matches!(frame.link, Link::Function);
        self.frames.iter().rposition(function).expect("the outermost frame is the function's")
    }

    /// The frame of `block`, which is among those around.
    fn frame_of(&self, block: BlockId) -> usize {
        self.frames
            .iter()
            .rposition(|frame| frame.block == block)
            .expect("the target is among the blocks around")
    }

    /// Hands over the residuals of all blocks within frame number `to`, and that of its block, which is no function's.
    fn unwind_to(&mut self, to: usize) -> (TokenStream, Option<TokenStream>) {
        let (unwound, residual) = self.unwind(to);
        let keep = match self.frames[to].link {
            Link::Function => unreachable!("a function returns its residual"),
            Link::Iteration(statement) => {
                self.reverse.stacks.get(&statement).map(|stack| quote!(#stack.push(#residual);))
            }
            Link::Part((expr, around, arm, count)) => {
                let residual = taken(arm, count, residual);
                self.reverse.kept.name(around, Item::Branch(expr)).map(|name| quote!(#name = #residual;))
            }
        };
        (unwound, keep)
    }

    /// `return`, `break` and `continue`.
    fn leave(&mut self, expr: ExprId, target: Target, value: Option<ExprId>, block: BlockId) -> TokenStream {
        let (before, value) = match value {
            Some(value) => {
                let (before, value) = self.tail(value, block);
                (before, Some(value))
            }
            None => (TokenStream::new(), None),
        };
        let to = match target {
            Target::Function => 0,
            Target::Break(block) | Target::Continue(block) => self.frame_of(block),
        };
        if let Link::Function = self.frames[to].link {
            let (unwound, residual) = self.unwind(to);
            let value = value.unwrap_or(quote!(()));
            if unwound.is_empty() {
                let returned = self.returned(value, residual);
                return quote!(#before return #returned;);
            }
            let name = Program::fresh("value");
            let returned = self.returned(&name, residual);
            return quote!(#before let #name = #value; #unwound return #returned;);
        }
        let (unwound, keep) = self.unwind_to(to);
        let jump = match &self.program.exprs[expr].syntax {
            syn::Expr::Break(jump) => {
                let label = &jump.label;
                quote!(break #label)
            }
            syn::Expr::Continue(jump) => {
                let label = &jump.label;
                quote!(continue #label)
            }
            _ => unreachable!("`return` leaves the function"),
        };
        match value {
            Some(value) if keep.is_some() || !unwound.is_empty() => {
                let name = Program::fresh("value");
                quote!(#before let #name = #value; #unwound #keep #jump #name;)
            }
            value => quote!(#before #unwound #keep #jump #value;),
        }
    }
}

/// In front of an `else` no brace may stand.
fn before_else(value: TokenStream) -> TokenStream {
    match value.clone().into_iter().last() {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => quote!((#value)),
        _ => value,
    }
}
