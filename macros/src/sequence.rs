//! Calls of functions that may change something, `f: impl FnMut(f64) -> f64`, by statements of their own: `f(a) + 2.0 * f(b)` becomes
//! `let u = f(a); let v = f(b); u + 2.0 * v`.
//!
//! What they change is undone in the reverse order of the calls, which statements are taken back in, but not the parts of an expression. And
//! code without gradient, such as a condition, has to call them by their forward, too. Those that change nothing: [`crate::in_turn`].

use std::collections::HashSet;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit::Visit;
use syn::{Block, Expr, Ident, Pat, Stmt, parse_quote};

use crate::errors::Errors;
use crate::escape::{escapes, writes};
use crate::lending::CALL_FIRST;
use crate::passing::Passing;
use crate::program::Program;
use crate::signature::Signature;
use crate::temporaries::unused_start;

/// `block` with such calls in sequence.
pub(crate) fn in_sequence(signature: &Signature, block: &Block, errors: &mut Errors) -> Block {
    let mut block = block.clone();
    let changing: Vec<_> = signature.callables().filter(|(_, callable)| callable.changing).collect();
    let name = |i: usize| Some(signature.parameters[i].name.as_ref()?.to_string());
    let names: HashSet<_> = changing.iter().filter_map(|(i, _)| name(*i)).collect();
    if names.is_empty() {
        return block;
    }
    let mut inputs = changing.iter().flat_map(|(_, callable)| &callable.inputs);
    let writing = inputs.any(|input| input.passing == Passing::Unique);
    let start = unused_start(&block.to_token_stream().to_string());
    Sequence { names, writing, start, count: 0, errors }.block(&mut block);
    block
}

struct Sequence<'e> {
    /// The functions, and other names for them.
    names: HashSet<String>,
    /// They may take arguments by `&mut`.
    writing: bool,
    /// How the names of values start.
    start: String,
    count: usize,
    errors: &'e mut Errors,
}

/// Statements that go before the one at hand.
type Before = Vec<Stmt>;

impl Sequence<'_> {
    fn mentions(&self, syntax: impl ToTokens) -> bool {
        fn any(tokens: TokenStream, names: &HashSet<String>) -> bool {
            tokens.into_iter().any(|token| match token {
                TokenTree::Group(group) => any(group.stream(), names),
                TokenTree::Ident(ident) => names.contains(&ident.to_string()),
                _ => false,
            })
        }
        any(syntax.to_token_stream(), &self.names)
    }

    /// The function itself, or a reference to it.
    fn is_function(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Path(path) => {
                path.path.get_ident().is_some_and(|name| self.names.contains(&name.to_string()))
            }
            Expr::Paren(paren) => self.is_function(&paren.expr),
            Expr::Group(group) => self.is_function(&group.expr),
            Expr::Reference(reference) => self.is_function(&reference.expr),
            Expr::Unary(unary) => self.is_function(&unary.expr),
            _ => false,
        }
    }

    /// The argument is the function, or a closure that calls it.
    fn passes(&self, argument: &Expr) -> bool {
        let closure = match argument {
            Expr::Reference(reference) => &reference.expr,
            argument => argument,
        };
        self.is_function(argument) || matches!(closure, Expr::Closure(_)) && self.mentions(closure)
    }

    /// A method that is given the function, or one of what such a method returns: a chain of iterators, which is one thing.
    fn is_chain(&self, expr: &Expr) -> bool {
        let Expr::MethodCall(call) = expr else { return false };
        call.args.iter().any(|a| self.passes(a)) || self.is_chain(&call.receiver)
    }

    /// The value of the expression comes of calls of the function, itself or by way of another one.
    fn calls(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Call(call) => self.is_function(&call.func) || call.args.iter().any(|a| self.passes(a)),
            Expr::MethodCall(_) => self.is_chain(expr),
            Expr::Try(tried) => self.calls(&tried.expr),
            Expr::Paren(paren) => self.calls(&paren.expr),
            Expr::Group(group) => self.calls(&group.expr),
            _ => false,
        }
    }

    fn refuse(&mut self, syntax: impl ToTokens) {
        let why = format!(
            "what this calls may change something, which takes a place in the order of events: {CALL_FIRST}"
        );
        self.errors.push(syntax, why);
    }

    fn block(&mut self, block: &mut Block) {
        for mut statement in std::mem::take(&mut block.stmts) {
            let mut before = Before::new();
            if self.mentions(&statement) {
                self.statement(&mut statement, &mut before);
            }
            block.stmts.append(&mut before);
            block.stmts.push(statement);
        }
    }

    fn statement(&mut self, statement: &mut Stmt, before: &mut Before) {
        match statement {
            Stmt::Local(local) => {
                let Some(init) = &mut local.init else { return };
                self.root(&mut init.expr, before);
                if let Some((_, diverge)) = &mut init.diverge {
                    self.branch(diverge);
                }
                let name = match &local.pat {
                    Pat::Type(typed) => &*typed.pat,
                    pattern => pattern,
                };
                if let Pat::Ident(name) = name
                    && (self.is_function(&init.expr) || matches!(&*init.expr, Expr::Closure(_)))
                    && self.mentions(&init.expr)
                {
                    self.names.insert(name.ident.to_string());
                }
            }
            Stmt::Expr(expr, _) => self.root(expr, before),
            Stmt::Macro(_) | Stmt::Item(_) => {}
        }
    }

    /// An expression that is a statement, the value of one or of a block: a call may stay there.
    fn root(&mut self, expr: &mut Expr, before: &mut Before) {
        if !self.mentions(&*expr) {
            return;
        }
        if self.calls(expr) {
            return self.call(expr, before);
        }
        match expr {
            Expr::Assign(assign) => {
                self.root(&mut assign.right, before);
            }
            Expr::Binary(binary) if crate::parse::assign_op(&binary.op).is_some() => {
                self.value(&mut binary.right, before);
            }
            Expr::Binary(_) => self.value(expr, before),
            Expr::Return(jump) => jump.expr.iter_mut().for_each(|value| self.root(value, before)),
            Expr::Break(jump) => jump.expr.iter_mut().for_each(|value| self.root(value, before)),
            Expr::Paren(paren) => self.root(&mut paren.expr, before),
            Expr::Group(group) => self.root(&mut group.expr, before),
            Expr::If(branch) => {
                self.condition(&mut branch.cond, before);
                self.block(&mut branch.then_branch);
                if let Some((_, otherwise)) = &mut branch.else_branch {
                    self.branch(otherwise);
                }
            }
            Expr::Match(m) => {
                self.root(&mut m.expr, before);
                m.arms.iter_mut().for_each(|arm| self.branch(&mut arm.body));
            }
            Expr::Block(block) => self.block(&mut block.block),
            Expr::Loop(l) => self.block(&mut l.body),
            Expr::While(w) => {
                self.block(&mut w.body);
                let mut again = Before::new();
                self.condition(&mut w.cond, &mut again);
                if let (Expr::Let(_), false) = (&*w.cond, again.is_empty()) {
                    self.refuse(&w.cond);
                } else if !again.is_empty() {
                    let (label, cond, body) = (&w.label, &w.cond, &w.body.stmts);
                    *expr = parse_quote!(#label loop { #(#again)* if !(#cond) { break; } #(#body)* });
                }
            }
            Expr::ForLoop(f) => {
                self.root(&mut f.expr, before);
                self.block(&mut f.body);
            }
            Expr::Closure(closure) => self.branch(&mut closure.body),
            _ if self.is_function(expr) => {}
            _ => self.parts(expr, before),
        }
    }

    /// A call that stays where it is, or all of a chain of iterators: only what it is given goes before it.
    fn call(&mut self, expr: &mut Expr, before: &mut Before) {
        match expr {
            Expr::Call(call) => {
                let mut arguments = call.args.iter_mut().collect::<Vec<_>>();
                self.in_order(&mut arguments, before);
            }
            Expr::MethodCall(call) => {
                let receiver = self.is_chain(&call.receiver);
                if receiver {
                    self.call(&mut call.receiver, before);
                } else {
                    self.value(&mut call.receiver, before);
                }
                for argument in &mut call.args {
                    if receiver && self.mentions(&*argument) && !self.passes(argument) {
                        self.refuse(&*argument);
                    }
                    self.value(argument, before);
                }
            }
            Expr::Try(tried) => self.call(&mut tried.expr, before),
            Expr::Paren(paren) => self.call(&mut paren.expr, before),
            Expr::Group(group) => self.call(&mut group.expr, before),
            _ => {}
        }
    }

    /// A branch, or the body of a closure: calls in it stay there.
    fn branch(&mut self, expr: &mut Expr) {
        if let Expr::Block(_) = expr {
            return self.root(expr, &mut Before::new());
        }
        let mut within = Before::new();
        self.root(expr, &mut within);
        if !within.is_empty() {
            *expr = parse_quote!({ #(#within)* #expr });
        }
    }

    /// The condition of an `if` or a `while`, which may be a `let` itself.
    fn condition(&mut self, expr: &mut Expr, before: &mut Before) {
        match expr {
            Expr::Let(binding) => self.root(&mut binding.expr, before),
            _ => self.value(expr, before),
        }
    }

    /// An expression within another one: each call in it becomes a statement.
    fn value(&mut self, expr: &mut Expr, before: &mut Before) {
        if !self.mentions(&*expr) || self.is_function(expr) {
            return;
        }
        if self.calls(expr) {
            self.call(expr, before);
            return self.named(expr, before);
        }
        match expr {
            Expr::Closure(closure) => self.branch(&mut closure.body),
            Expr::If(_) | Expr::Match(_) | Expr::Block(_) | Expr::Loop(_) => {
                self.root(expr, before);
                self.named(expr, before);
            }
            Expr::Binary(binary) if self.mentions(&binary.right) => {
                let (left, right) = (&binary.left, &binary.right);
                let chosen: Expr = match binary.op {
                    syn::BinOp::And(_) => parse_quote!(if #left { #right } else { false }),
                    syn::BinOp::Or(_) => parse_quote!(if #left { true } else { #right }),
                    _ => return self.parts(expr, before),
                };
                *expr = chosen;
                self.root(expr, before);
                self.named(expr, before);
            }
            _ => self.parts(expr, before),
        }
    }

    /// Gives the value a name.
    fn named(&mut self, expr: &mut Expr, before: &mut Before) {
        let name: Ident = Program::fresh(&format!("{}_{}", self.start, self.count));
        self.count += 1;
        before.push(parse_quote!(let #name = #expr;));
        *expr = parse_quote!(#name);
    }

    fn parts(&mut self, expr: &mut Expr, before: &mut Before) {
        // What has none is constant, and where that must not call anything an error says so.
        self.in_order(&mut operands(expr), before);
    }

    /// Operands that are evaluated one after the other: what goes before a later one goes before the earlier ones as well.
    fn in_order(&mut self, operands: &mut [&mut Expr], before: &mut Before) {
        for i in 0..operands.len() {
            let (count, written) = (before.len(), operands[i].clone());
            self.value(operands[i], before);
            let changed = before[count..].iter().any(|statement| self.writes(statement));
            let late = |earlier: &Expr| {
                escapes(earlier) || writes(earlier) || changed && !matches!(earlier, Expr::Lit(_))
            };
            if before.len() > count && operands[..i].iter().any(|earlier| late(earlier)) {
                self.refuse(written);
            }
        }
    }

    /// The statement may change more than what functions have captured.
    fn writes(&self, statement: &Stmt) -> bool {
        struct Writes<'x>(&'x Sequence<'x>, bool);
        impl<'ast> Visit<'ast> for Writes<'_> {
            fn visit_expr_reference(&mut self, reference: &'ast syn::ExprReference) {
                let function =
                    self.0.is_function(&reference.expr) || matches!(&*reference.expr, Expr::Closure(_));
                self.1 |= reference.mutability.is_some() && !function;
                syn::visit::visit_expr_reference(self, reference);
            }
        }
        let mut visitor = Writes(self, self.writing);
        visitor.visit_stmt(statement);
        visitor.1
    }
}

/// The operands of an expression, in the order in which they are evaluated.
pub(crate) fn operands(expr: &mut Expr) -> Vec<&mut Expr> {
    match expr {
        Expr::Array(array) => array.elems.iter_mut().collect(),
        Expr::Tuple(tuple) => tuple.elems.iter_mut().collect(),
        Expr::Call(call) => call.args.iter_mut().collect(),
        Expr::MethodCall(call) => std::iter::once(&mut *call.receiver).chain(&mut call.args).collect(),
        Expr::Binary(binary) => vec![&mut binary.left, &mut binary.right],
        Expr::Index(index) => vec![&mut index.expr, &mut index.index],
        Expr::Struct(literal) => {
            let fields = literal.fields.iter_mut().map(|field| &mut field.expr);
            fields.chain(literal.rest.as_deref_mut()).collect()
        }
        Expr::Range(range) => range.start.iter_mut().chain(&mut range.end).map(|e| &mut **e).collect(),
        Expr::Cast(cast) => vec![&mut cast.expr],
        Expr::Field(field) => vec![&mut field.base],
        Expr::Group(group) => vec![&mut group.expr],
        Expr::Paren(paren) => vec![&mut paren.expr],
        Expr::Reference(reference) => vec![&mut reference.expr],
        Expr::Repeat(repeat) => vec![&mut repeat.expr],
        Expr::Try(tried) => vec![&mut tried.expr],
        Expr::Unary(unary) => vec![&mut unary.expr],
        _ => Vec::new(),
    }
}
