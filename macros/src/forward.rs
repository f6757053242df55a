//! The forward pass: the function as written, with calls replaced by their rules and with what the reverse pass asked for
//! kept on the way.

use std::collections::HashSet;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::Ident;

use crate::kept::Item;
use crate::program::*;
use crate::reverse::Reverse;

pub(crate) struct Forward<'p> {
    program: &'p Program,
    reverse: &'p Reverse<'p>,
    /// Declarations that stand before the current statement.
    before: TokenStream,
    /// Indices that have been kept.
    kept: HashSet<ExprId>,
}

/// Writes the body of the forward closure.
pub(crate) fn forward(program: &Program, reverse: &Reverse) -> TokenStream {
    let mut forward = Forward { program, reverse, before: TokenStream::new(), kept: HashSet::new() };
    let (statements, finals) = forward.statements(BODY);
    let residual = reverse.kept.residual(BODY);
    match program.blocks[BODY].value {
        Some(value) => {
            let (before, value) = forward.tail(value, BODY);
            if reverse.kept.is_empty(BODY) {
                quote!(#statements #before (#value, ()))
            } else {
                let name = Program::fresh("value");
                quote!(#statements #before let #name = #value; #finals (#name, #residual))
            }
        }
        None => quote!(#statements #finals ((), #residual)),
    }
}

impl Forward<'_> {
    /// The statements of a block, with what it keeps, and what is kept behind its value.
    fn statements(&mut self, id: BlockId) -> (TokenStream, TokenStream) {
        let block = &self.program.blocks[id];
        let mut out = TokenStream::new();
        for (variable, def) in &block.entries {
            out.extend(self.capture(id, *variable, *def));
        }
        for statement in &block.statements {
            let tokens = self.statement(statement);
            out.extend(std::mem::take(&mut self.before));
            out.extend(tokens);
            for &def in &statement.defines {
                let variable = match &self.program.definitions[def] {
                    Definition::Computed { variable, .. } | Definition::Merged { variable, .. } => *variable,
                    Definition::Given { variable } | Definition::Entry { variable, .. } => *variable,
                };
                out.extend(self.capture(id, variable, def));
            }
        }
        let mut finals = TokenStream::new();
        for variable in self.finals(id).filter(|v| !v.taken_over) {
            let (unique, name) = (&variable.unique, &variable.name);
            finals.extend(quote!(let #unique = #name;));
        }
        (out, finals)
    }

    /// The variables of a block that are kept as it leaves them, under another name than theirs.
    fn finals(&self, block: BlockId) -> impl Iterator<Item = &Variable> {
        let variables = self.program.variables.iter().enumerate();
        let finals = variables.filter(move |(id, variable)| {
            let kept = variable.block == block && self.reverse.kept.name(block, Item::Final(*id)).is_some();
            kept && variable.unique != variable.name
        });
        finals.map(|(_, variable)| variable)
    }

    fn capture(&self, block: BlockId, variable: VarId, def: DefId) -> TokenStream {
        let name = &self.program.variables[variable].name;
        match self.reverse.kept.name(block, Item::Definition(def)) {
            Some(kept) => quote!(let #kept = #name;),
            None => TokenStream::new(),
        }
    }

    fn statement(&mut self, statement: &Statement) -> TokenStream {
        let block = statement.before.block;
        match &statement.kind {
            StatementKind::Let(l) => self.local(l, block),
            StatementKind::Assign(assign) => self.assign(assign, statement),
            StatementKind::Expr(expr, semi) => self.expr_statement(*expr, *semi, block),
            StatementKind::For(f) => {
                let (pattern, range) = (&f.pattern, self.expr(f.range, block));
                let body = self.loop_body(f.body, statement.id);
                match self.reverse.kept.name(block, Item::Range(statement.id)) {
                    Some(name) => quote!(let #name = #range; for #pattern in #name.clone() { #body }),
                    None => quote!(for #pattern in #range { #body }),
                }
            }
            StatementKind::While(w) => {
                let cond = self.expr(w.cond, block);
                let body = self.loop_body(w.body, statement.id);
                match self.reverse.kept.name(block, Item::Count(statement.id)) {
                    Some(count) => quote!(let mut #count = 0_usize; while #cond { #count += 1; #body }),
                    None => quote!(while #cond { #body }),
                }
            }
            StatementKind::Opaque(opaque) => opaque.syntax.to_token_stream(),
        }
    }

    fn loop_body(&mut self, body: BlockId, statement: StmtId) -> TokenStream {
        let outer = std::mem::take(&mut self.before);
        let (statements, finals) = self.statements(body);
        let tail = self.program.blocks[body].value.map(|value| {
            let (before, value) = self.tail(value, body);
            quote!(#before #value;)
        });
        self.before = outer;
        let push = self.reverse.stacks.get(&statement).map(|stack| {
            let residual = self.reverse.kept.residual(body);
            quote!(#stack.push(#residual);)
        });
        quote!(#statements #tail #finals #push)
    }

    fn local(&mut self, l: &Let, block: BlockId) -> TokenStream {
        if let Some(place) = &l.alias {
            self.keep_indices(place, block);
        }
        let Some(init) = l.init else { return l.syntax.to_token_stream() };
        // Whose names this takes over is kept when the new value is there.
        let names: Vec<_> = l.variables.iter().flatten().map(|v| &self.program.variables[*v].name).collect();
        let first = l.variables.iter().flatten().min().copied().unwrap_or(0);
        let next = |old: &&Variable| {
            let same = |(_, v): &(usize, &Variable)| v.block == block && v.name == old.name;
            let mut same = self.program.variables.iter().enumerate().filter(same);
            names.contains(&&old.name)
                && same.any(|(_, v)| v.unique == old.unique)
                && same.next().is_some_and(|(id, _)| id >= first && l.variables.contains(&Some(id)))
        };
        let (mut uniques, mut keep) = (TokenStream::new(), TokenStream::new());
        for Variable { unique, name, .. } in self.finals(block).filter(|v| v.taken_over).filter(next) {
            uniques.extend(quote!(let #unique;));
            keep.extend(quote!(#unique = #name;));
        }
        if !keep.is_empty() {
            let value = Program::fresh("value");
            let wrap = |init: TokenStream| quote!({ let #value = #init; #keep #value });
            let pattern = &l.syntax.pat;
            let root = self.program.peel(init);
            let init = match self.rule_call(root, block) {
                Some((call, residual)) => {
                    self.before.extend(quote!(let #residual;));
                    wrap(quote!({ let (#value, pending) = #call; #residual = pending; #value }))
                }
                None => wrap(self.root(init, block)),
            };
            self.before.extend(uniques);
            return quote!(let #pattern = #init;);
        }
        if !self.touched(init, block) {
            return l.syntax.to_token_stream();
        }
        let pattern = &l.syntax.pat;
        let root = self.program.peel(init);
        match (self.rule_call(root, block), pattern) {
            (Some((call, residual)), syn::Pat::Type(typed)) => {
                let (pattern, ty) = (&typed.pat, &typed.ty);
                quote!(let (#pattern, #residual): (#ty, _) = #call;)
            }
            (Some((call, residual)), pattern) => quote!(let (#pattern, #residual) = #call;),
            (None, pattern) => {
                let init = self.root(init, block);
                quote!(let #pattern = #init;)
            }
        }
    }

    fn assign(&mut self, assign: &Assign, statement: &Statement) -> TokenStream {
        let block = statement.before.block;
        self.keep_indices(&assign.place, block);
        let left = match &assign.syntax {
            syn::Expr::Assign(a) => &a.left,
            syn::Expr::Binary(b) => &b.left,
            _ => unreachable!("parsed as an assignment"),
        };
        let old = self
            .reverse
            .kept
            .name(block, Item::Old(statement.id))
            .map(|old| quote!(let #old = #left;))
            .unwrap_or_default();
        if !self.touched(assign.value, block) {
            let syntax = &assign.syntax;
            return quote!(#old #syntax;);
        }
        let root = self.program.peel(assign.value);
        match (assign.op, self.rule_call(root, block)) {
            // The call may write to the place as well.
            (None, Some((call, residual))) if !old.is_empty() => {
                let value = Program::fresh("value");
                quote!(let (#value, #residual) = #call; #old #left = #value;)
            }
            (None, Some((call, residual))) => quote!(let #residual; (#left, #residual) = #call;),
            (op, _) => {
                let value = self.root(assign.value, block);
                let op = match op {
                    None => quote!(=),
                    Some(Op::Add) => quote!(+=),
                    Some(Op::Sub) => quote!(-=),
                    Some(Op::Mul) => quote!(*=),
                    Some(Op::Div) => quote!(/=),
                    Some(Op::Rem) => quote!(%=),
                };
                quote!(#old #left #op #value;)
            }
        }
    }

    fn expr_statement(&mut self, expr: ExprId, semi: bool, block: BlockId) -> TokenStream {
        let root = self.program.peel(expr);
        if let Some((call, residual)) = self.rule_call(root, block) {
            return quote!(let (_, #residual) = #call;);
        }
        let tokens = self.root(expr, block);
        let semi = semi.then(|| quote!(;));
        quote!(#tokens #semi)
    }

    /// The value of a block, and what has to stand before it.
    fn tail(&mut self, value: ExprId, block: BlockId) -> (TokenStream, TokenStream) {
        let outer = std::mem::take(&mut self.before);
        let root = self.program.peel(value);
        let tokens = match self.rule_call(root, block) {
            Some((call, residual)) => {
                let name = Program::fresh("value");
                self.before.extend(quote!(let (#name, #residual) = #call;));
                quote!(#name)
            }
            None => self.root(value, block),
        };
        (std::mem::replace(&mut self.before, outer), tokens)
    }

    /// The call of a rule, and the name of its residual, if `expr` is a differentiated call.
    fn rule_call(&mut self, expr: ExprId, block: BlockId) -> Option<(TokenStream, Ident)> {
        let rule = self.reverse.rules.get(&expr)?;
        let residual = self.reverse.kept.name(block, Item::Residual(expr)).expect("kept with the rule");
        let ExprKind::Call { function, args } = &self.program.exprs[expr].kind else {
            unreachable!("a call")
        };
        let span = self.program.exprs[expr].span;
        let args: Vec<_> = args.iter().map(|a| self.expr(*a, block)).collect();
        Some((quote_spanned!(span=> #rule.forward(#function::args(#(#args),*))), residual))
    }

    /// `expr` at the root of a statement, where the condition of an `if` can be kept by a statement before it.
    fn root(&mut self, expr: ExprId, block: BlockId) -> TokenStream {
        if let ExprKind::If { cond, .. } = self.program.exprs[expr].kind {
            if let Some(taken) = self.reverse.kept.name(block, Item::Value(cond)) {
                let syntax = &self.program.exprs[cond].syntax;
                self.before.extend(quote!(let #taken = #syntax;));
                return self.branch(expr, quote!(#taken), block);
            }
        }
        self.expr(expr, block)
    }

    /// Differs from what the user wrote.
    fn touched(&self, expr: ExprId, block: BlockId) -> bool {
        let kept = &self.reverse.kept;
        self.program.tree(expr).into_iter().any(|e| {
            self.reverse.rules.contains_key(&e)
                || kept.name(block, Item::Value(e)).is_some()
                || kept.name(block, Item::Branch(e)).is_some()
                || self.program.blocks_of(e).into_iter().flat_map(|b| self.program.nested(b)).any(|b| {
                    !kept.is_empty(b) || self.program.roots(b).into_iter().any(|root| self.touched(root, b))
                })
        })
    }

    fn expr(&mut self, expr: ExprId, block: BlockId) -> TokenStream {
        let tokens = self.unkept(expr, block);
        match self.reverse.kept.name(block, Item::Value(expr)) {
            Some(name) => {
                self.before.extend(quote!(let #name;));
                quote!({ #name = #tokens; #name })
            }
            None => tokens,
        }
    }

    /// An index that is kept is evaluated first; the place itself is as written.
    fn keep_indices(&mut self, place: &Place, block: BlockId) {
        for index in place.indices() {
            let home = self.program.frozen.get(&index).is_none_or(|at| at.block == block);
            if home && self.kept.insert(index) && self.touched(index, block) {
                let keep = match self.reverse.kept.name(block, Item::Value(index)) {
                    Some(name) => {
                        let index = self.unkept(index, block);
                        quote!(let #name = #index;)
                    }
                    None => {
                        let index = self.expr(index, block);
                        quote!(let _ = #index;)
                    }
                };
                self.before.extend(keep);
            }
        }
    }

    fn unkept(&mut self, expr: ExprId, block: BlockId) -> TokenStream {
        let program = self.program;
        let node = &program.exprs[expr];
        if !self.touched(expr, block) || matches!(node.kind, ExprKind::Constant(_)) {
            return node.syntax.to_token_stream();
        }
        if let Some((call, residual)) = self.rule_call(expr, block) {
            let (value, inner) = (Program::fresh("value"), Program::fresh("pending"));
            self.before.extend(quote!(let #residual;));
            return quote!({ let (#value, #inner) = #call; #residual = #inner; #value });
        }
        match &node.kind {
            ExprKind::Constant(_) => node.syntax.to_token_stream(),
            ExprKind::Read(place) | ExprKind::Borrow { place, .. } => {
                self.keep_indices(place, block);
                node.syntax.to_token_stream()
            }
            ExprKind::Neg(e) => {
                let e = self.expr(*e, block);
                quote!(-#e)
            }
            ExprKind::Paren(e) => {
                let e = self.expr(*e, block);
                quote!((#e))
            }
            ExprKind::Binary { op, left, right } => {
                let (left, right) = (self.expr(*left, block), self.expr(*right, block));
                quote!(#left #op #right)
            }
            ExprKind::Cast(e, ty) => {
                let e = self.expr(*e, block);
                quote!((#e) as #ty)
            }
            ExprKind::Method { receiver, name, args } => {
                let receiver = self.expr(*receiver, block);
                let args: Vec<_> = args.iter().map(|a| self.expr(*a, block)).collect();
                quote!(#receiver.#name(#(#args),*))
            }
            ExprKind::Call { function, args } => {
                let args: Vec<_> = args.iter().map(|a| self.expr(*a, block)).collect();
                quote!(#function(#(#args),*))
            }
            ExprKind::If { cond, .. } => {
                let cond = self.expr(*cond, block);
                self.branch(expr, cond, block)
            }
            ExprKind::Block(inner) => {
                let name = self.reverse.kept.name(block, Item::Branch(expr));
                if let Some(name) = &name {
                    self.before.extend(quote!(let #name;));
                }
                let body = self.arm(
                    *inner,
                    name.map(|name| {
                        let residual = self.reverse.kept.residual(*inner);
                        quote!(#name = #residual;)
                    }),
                );
                quote!({ #body })
            }
            ExprKind::Tuple(elements) => {
                let elements: Vec<_> = elements.iter().map(|e| self.expr(*e, block)).collect();
                quote!((#(#elements,)*))
            }
            ExprKind::Array(elements) => {
                let elements: Vec<_> = elements.iter().map(|e| self.expr(*e, block)).collect();
                quote!([#(#elements),*])
            }
            ExprKind::Repeat(element, len) => {
                let element = self.expr(*element, block);
                quote!([#element; #len])
            }
        }
    }

    fn branch(&mut self, expr: ExprId, cond: TokenStream, block: BlockId) -> TokenStream {
        let ExprKind::If { then, otherwise, .. } = self.program.exprs[expr].kind else {
            unreachable!("called for branches")
        };
        let name = self.reverse.kept.name(block, Item::Branch(expr));
        if let Some(name) = &name {
            self.before.extend(quote!(let #name;));
        }
        let then_residual = self.reverse.kept.residual(then);
        let then =
            self.arm(then, name.as_ref().map(|name| quote!(#name = __pb::Branch::Then(#then_residual);)));
        let otherwise = match (otherwise, &name) {
            (Some(otherwise), _) => {
                let residual = self.reverse.kept.residual(otherwise);
                let body = self
                    .arm(otherwise, name.as_ref().map(|name| quote!(#name = __pb::Branch::Else(#residual);)));
                Some(quote!(else { #body }))
            }
            (None, Some(name)) => Some(quote!(else { #name = __pb::Branch::Else(()); })),
            (None, None) => None,
        };
        quote!(if #cond { #then } #otherwise)
    }

    fn arm(&mut self, block: BlockId, keep: Option<TokenStream>) -> TokenStream {
        let outer = std::mem::take(&mut self.before);
        let (statements, finals) = self.statements(block);
        let value = self.program.blocks[block].value.map(|value| self.tail(value, block));
        self.before = outer;
        match (value, keep) {
            (Some((before, value)), Some(keep)) => {
                let name = Program::fresh("value");
                quote!(#statements #before let #name = #value; #finals #keep #name)
            }
            (Some((before, value)), None) => quote!(#statements #before #value),
            (None, keep) => quote!(#statements #finals #keep),
        }
    }
}
