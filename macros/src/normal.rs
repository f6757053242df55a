//! Control flow within expressions becomes statements: `f(x)? + y` is `let part = f(x)?; part + y`.
//!
//! Afterwards whatever may leave a block is a statement, the initialiser of a `let`, or the value of a block.

use std::collections::VecDeque;

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit_mut::{self, VisitMut};
use syn::{BinOp, Expr, Ident, Pat, Stmt, parse_quote};

use crate::errors::Errors;
use crate::escape::{acts, escapes, statement_escapes, writes};

/// Names for parts of expressions, which the function does not use.
#[derive(Default)]
pub(crate) struct Parts {
    used: Vec<String>,
    names: Vec<Ident>,
}

impl Parts {
    /// For a function with this body.
    pub(crate) fn of(body: &syn::Block) -> Self {
        fn collect(tokens: TokenStream, used: &mut Vec<String>) {
            for token in tokens {
                match token {
                    TokenTree::Group(group) => collect(group.stream(), used),
                    TokenTree::Ident(ident) => used.push(ident.to_string()),
                    _ => {}
                }
            }
        }
        let mut used = Vec::new();
        collect(body.to_token_stream(), &mut used);
        Parts { used, names: Vec::new() }
    }

    pub(crate) fn fresh(&mut self, name: &str) -> Ident {
        let name = std::iter::once(name.to_string())
            .chain((2..).map(|n| format!("{name}_{n}")))
            .find(|text| !self.used.contains(text))
            .expect("there are enough numbers");
        self.used.push(name.clone());
        let ident = Ident::new(&name, Span::mixed_site());
        self.names.push(ident.clone());
        ident
    }

    /// The pattern is a name of our own.
    fn made(&self, pattern: &Pat) -> bool {
        matches!(pattern, Pat::Ident(ident) if self.names.contains(&ident.ident))
    }

    /// The statements that do what `stmt` does, if it has to be taken apart. `last`: its value is the block's.
    pub(crate) fn split(&mut self, stmt: &Stmt, last: bool, errors: &mut Errors) -> Option<VecDeque<Stmt>> {
        if !statement_escapes(stmt) && !repeats(stmt) {
            return None;
        }
        let mut stmt = stmt.clone();
        let mut hoist = Hoist { parts: self, before: VecDeque::new(), errors };
        match &mut stmt {
            Stmt::Local(local) => {
                let pattern = match &local.pat {
                    Pat::Type(typed) => &*typed.pat,
                    pattern => pattern,
                };
                let made = hoist.parts.made(pattern);
                let init = local.init.as_mut()?;
                if init.diverge.is_none() && made {
                    hoist.root(&mut init.expr);
                } else {
                    hoist.operand(&mut init.expr);
                }
            }
            Stmt::Expr(Expr::ForLoop(f), _) => hoist.operand(&mut f.expr),
            Stmt::Expr(Expr::While(w), semi) if escapes(&w.cond) || has_let(&w.cond) => {
                let (attrs, label, cond, body) = (&w.attrs, &w.label, &w.cond, &w.body);
                let turned: Expr = parse_quote!(#(#attrs)* #label loop { if #cond #body else { break } });
                let semi = *semi;
                return Some([Stmt::Expr(turned, semi)].into());
            }
            Stmt::Expr(Expr::While(_), _) => {}
            Stmt::Expr(Expr::Try(_), Some(_)) => {
                let Stmt::Expr(Expr::Try(tried), _) = &stmt else { unreachable!("matched above") };
                let part = hoist.parts.fresh("part");
                return Some([parse_quote!(let #part = #tried;)].into());
            }
            Stmt::Expr(expr, semi) => {
                let value = last && semi.is_none();
                match expr {
                    Expr::Return(jump) => hoist.value(&mut jump.expr),
                    Expr::Break(jump) => hoist.value(&mut jump.expr),
                    Expr::Assign(assign) => {
                        hoist.operand(&mut assign.right);
                        hoist.place(&mut assign.left);
                    }
                    Expr::Binary(binary) if crate::parse::assign_op(&binary.op).is_some() => {
                        hoist.operand(&mut binary.right);
                        hoist.place(&mut binary.left);
                    }
                    _ if value && !is_control(expr) => hoist.operand(expr),
                    _ => hoist.root(expr),
                }
            }
            _ => {}
        }
        let mut statements = hoist.before;
        if statements.is_empty() {
            return None;
        }
        statements.push_back(stmt);
        Some(statements)
    }
}

/// There is a `loop` among the operands, or a `while let`.
fn repeats(stmt: &Stmt) -> bool {
    struct Loops(bool);
    impl<'ast> syn::visit::Visit<'ast> for Loops {
        fn visit_expr_loop(&mut self, _: &'ast syn::ExprLoop) {
            self.0 = true;
        }
        fn visit_block(&mut self, _: &'ast syn::Block) {}
        fn visit_expr_closure(&mut self, _: &'ast syn::ExprClosure) {}
        fn visit_arm(&mut self, _: &'ast syn::Arm) {}
    }
    if let Stmt::Expr(Expr::While(w), _) = stmt {
        return has_let(&w.cond);
    }
    let mut visitor = Loops(false);
    syn::visit::Visit::visit_stmt(&mut visitor, stmt);
    visitor.0
}

/// The condition binds names.
pub(crate) fn has_let(cond: &Expr) -> bool {
    match cond {
        Expr::Let(_) => true,
        Expr::Binary(binary) if matches!(binary.op, BinOp::And(_)) => {
            has_let(&binary.left) || has_let(&binary.right)
        }
        _ => false,
    }
}

fn is_control(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::If(_)
            | Expr::Match(_)
            | Expr::Loop(_)
            | Expr::Block(_)
            | Expr::ForLoop(_)
            | Expr::While(_)
            | Expr::Return(_)
            | Expr::Break(_)
            | Expr::Continue(_)
    )
}

struct Hoist<'p, 'e> {
    parts: &'p mut Parts,
    before: VecDeque<Stmt>,
    errors: &'e mut Errors,
}

impl Hoist<'_, '_> {
    /// An expression where control flow may stand; its operands may not.
    fn root(&mut self, expr: &mut Expr) {
        match expr {
            Expr::If(branch) => self.cond(&mut branch.cond),
            Expr::Match(m) => self.operand(&mut m.expr),
            Expr::Try(tried) => self.operand(&mut tried.expr),
            Expr::Paren(paren) => self.root(&mut paren.expr),
            Expr::Return(jump) => self.value(&mut jump.expr),
            Expr::Break(jump) => self.value(&mut jump.expr),
            Expr::Block(_) | Expr::Loop(_) | Expr::Continue(_) => {}
            _ => self.operand(expr),
        }
    }

    /// What a `return` or `break` takes along.
    fn value(&mut self, value: &mut Option<Box<Expr>>) {
        if let Some(value) = value {
            self.operand(value);
        }
    }

    /// A condition: its first part is evaluated in any case.
    fn cond(&mut self, cond: &mut Expr) {
        match cond {
            Expr::Let(binding) => self.operand(&mut binding.expr),
            // Taken apart later.
            Expr::Binary(_) if has_let(cond) => {}
            _ => self.operand(cond),
        }
    }

    /// The place of an assignment, evaluated after its value.
    fn place(&mut self, place: &mut Expr) {
        if escapes(place) {
            self.errors.push(
                place,
                "this leaves the block within the left-hand side: bind the index with `let` first",
            );
        }
    }

    fn operand(&mut self, expr: &mut Expr) {
        self.visit_expr_mut(expr);
    }

    fn bind(&mut self, expr: &mut Expr) {
        let part = self.parts.fresh("part");
        let init = std::mem::replace(expr, parse_quote!(#part));
        self.before.push_back(parse_quote!(let #part = #init;));
    }

    /// Operands that are evaluated before one which leaves are evaluated before it.
    fn in_order(&mut self, operands: Vec<&mut Expr>) {
        let last = operands.iter().rposition(|e| escapes(e));
        for (i, operand) in operands.into_iter().enumerate() {
            match last {
                Some(last) if i < last && !escapes(operand) => {
                    if acts(operand) {
                        self.bind(operand);
                    }
                }
                _ => self.operand(operand),
            }
        }
    }
}

impl VisitMut for Hoist<'_, '_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let is_loop = matches!(expr, Expr::Loop(_));
        if !escapes(expr) && !is_loop {
            if !is_control(expr) {
                visit_mut::visit_expr_mut(self, expr);
            }
            return;
        }
        match expr {
            Expr::Try(tried) => {
                if writes(&tried.expr) && !self.before.is_empty() {
                    self.errors.push(&*tried, "this writes to a variable within an expression: bind it with `let` first");
                }
                self.operand(&mut tried.expr);
                self.bind(expr);
            }
            Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) => {
                let jump = std::mem::replace(expr, parse_quote!(::core::unreachable!()));
                self.before.push_back(Stmt::Expr(jump, Some(Default::default())));
            }
            Expr::If(_) | Expr::Match(_) | Expr::Loop(_) | Expr::Block(_) => self.bind(expr),
            Expr::ForLoop(_) | Expr::While(_) => self.bind(expr),
            Expr::Binary(binary) if matches!(binary.op, BinOp::And(_) | BinOp::Or(_)) => {
                self.operand(&mut binary.left);
                if escapes(&binary.right) {
                    let (left, right, part) = (&binary.left, &binary.right, self.parts.fresh("part"));
                    self.before.push_back(match binary.op {
                        BinOp::And(_) => parse_quote!(let #part: bool = if #left { #right } else { false };),
                        _ => parse_quote!(let #part: bool = if #left { true } else { #right };),
                    });
                    *expr = parse_quote!(#part);
                }
            }
            Expr::Binary(binary) => self.in_order(vec![&mut binary.left, &mut binary.right]),
            Expr::Call(call) => self.in_order(call.args.iter_mut().collect()),
            Expr::MethodCall(call) => {
                let operands = std::iter::once(&mut *call.receiver).chain(call.args.iter_mut()).collect();
                self.in_order(operands);
            }
            Expr::Tuple(tuple) => self.in_order(tuple.elems.iter_mut().collect()),
            Expr::Array(array) => self.in_order(array.elems.iter_mut().collect()),
            Expr::Struct(literal) => self.in_order(literal.fields.iter_mut().map(|f| &mut f.expr).collect()),
            Expr::Index(index) => self.in_order(vec![&mut index.expr, &mut index.index]),
            Expr::Paren(_)
            | Expr::Group(_)
            | Expr::Unary(_)
            | Expr::Reference(_)
            | Expr::Cast(_)
            | Expr::Field(_)
            | Expr::Repeat(_) => visit_mut::visit_expr_mut(self, expr),
            other => self.errors.push(
                other,
                "this leaves the block in the middle of an expression: bind the part that does with `let` first",
            ),
        }
    }
    fn visit_block_mut(&mut self, _: &mut syn::Block) {}
    fn visit_expr_closure_mut(&mut self, _: &mut syn::ExprClosure) {}
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}
