//! `f(x).map(g)`, where something else tells that this is an `Option` or a `Result`: what is done with it under its name, or what a chain makes
//! of such items. It is written as a `match` then.

use quote::ToTokens;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, Ident, Pat, Stmt, parse_quote};

use crate::escape::escapes;
use crate::options::{applied, mapped};
use crate::rename::{Occurrences, bound};
use crate::suspects::Suspects;
use crate::temporaries::unused_start;

/// What such a value is told to be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    /// An `Option`, or something of which only matters whether there is a value.
    Option,
    /// A `Result`.
    Result,
}

/// `body` with a `match` in the place of `f(x).map(g)` in `let v = f(x).map(g);`, where all that is done with `v` tells what it is.
pub(crate) fn with_told(mut body: Block, suspects: &Suspects) -> Block {
    Write { suspects }.visit_block_mut(&mut body);
    body
}

/// Writes the functions at the end of `value`, `f(x).map(g)`, as a `match`.
pub(crate) fn write(value: &mut Expr, told: Told) {
    match value {
        Expr::Block(block) if block.label.is_none() => {
            if let Some(Stmt::Expr(value, None)) = block.block.stmts.last_mut() {
                write(value, told);
            }
        }
        Expr::MethodCall(call) if call.method == "map" && call.args.len() == 1 => {
            let start = unused_start(&call.to_token_stream().to_string());
            let (outcome, mut functions) = mapped(&call.receiver);
            functions.extend(&call.args);
            let [there, error] =
                ["there", "error"].map(|role| Ident::new(&format!("{start}_{role}"), call.method.span()));
            let Some(inside) = applied(&functions, parse_quote!(#there)) else { return };
            *value = match (told, outcome) {
                // A `Result` does as well.
                (Told::Option, Expr::Call(_)) => parse_quote! {
                    match #outcome.maybe() { Some(#there) => Some(#inside), None => None }
                },
                (Told::Option, _) => {
                    parse_quote!(match #outcome { Some(#there) => Some(#inside), None => None })
                }
                (Told::Result, _) => parse_quote! {
                    match #outcome { Ok(#there) => Ok(#inside), Err(#error) => Err(#error) }
                },
            };
        }
        _ => {}
    }
}

/// Finds such statements.
struct Write<'s> {
    suspects: &'s Suspects,
}

impl VisitMut for Write<'_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        for at in 0..block.stmts.len() {
            let (before, behind) = block.stmts.split_at_mut(at + 1);
            let Some(Stmt::Local(local)) = before.last_mut() else { continue };
            let (Pat::Ident(name), Some(init)) = (&local.pat, &mut local.init) else { continue };
            if init.diverge.is_none()
                && is_call_mapped(&init.expr)
                && self.suspects.any(&init.expr)
                && let Some(told) = Uses::of(&name.ident, behind)
            {
                write(&mut init.expr, told);
            }
        }
        visit_mut::visit_block_mut(self, block);
    }
    fn visit_expr_match_mut(&mut self, m: &mut syn::ExprMatch) {
        self.taken_apart(&mut m.expr, m.arms.iter().map(|arm| &arm.pat));
        visit_mut::visit_expr_match_mut(self, m);
    }
    fn visit_expr_let_mut(&mut self, test: &mut syn::ExprLet) {
        self.taken_apart(&mut test.expr, std::iter::once(&*test.pat));
        visit_mut::visit_expr_let_mut(self, test);
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

impl Write<'_> {
    /// The patterns that take `value` apart tell what it is.
    fn taken_apart<'p>(&self, value: &mut Expr, mut patterns: impl Iterator<Item = &'p Pat>) {
        if is_call_mapped(value)
            && self.suspects.any(&*value)
            && let Some(told) = patterns.find_map(told_by)
        {
            write(value, told);
        }
    }
}

/// `f(x).map(g)`, of a function by its path.
fn is_call_mapped(expr: &Expr) -> bool {
    let Expr::MethodCall(call) = expr else { return false };
    let root = mapped(expr).0;
    call.method == "map"
        && matches!(root, Expr::Call(call) if matches!(&*call.func, Expr::Path(_)))
        && !escapes(root)
}

/// What is done with a name that tells what it is.
struct Uses<'n> {
    name: &'n Ident,
    options: usize,
    results: usize,
    all: usize,
}

impl<'n> Uses<'n> {
    /// What all that `statements` do with the name tells.
    fn of(name: &'n Ident, statements: &[Stmt]) -> Option<Told> {
        let mut uses = Uses { name, options: 0, results: 0, all: 0 };
        uses.visit_statements(statements);
        match (uses.options, uses.results) {
            (options, 0) if options > 0 && options == uses.all => Some(Told::Option),
            (0, results) if results > 0 && results == uses.all => Some(Told::Result),
            _ => None,
        }
    }

    /// As far as the name means the same.
    fn visit_statements(&mut self, statements: &[Stmt]) {
        for statement in statements {
            self.visit_stmt(statement);
            if matches!(statement, Stmt::Local(local) if self.is_bound_by(&local.pat)) {
                return;
            }
        }
    }

    fn is_bound_by(&self, pattern: &Pat) -> bool {
        bound(pattern).contains(self.name)
    }

    fn is(&self, expr: &Expr) -> bool {
        matches!(expr, Expr::Path(path) if path.path.is_ident(self.name))
    }

    /// The name is taken apart by `pattern`.
    fn taken_apart<'p>(&mut self, mut patterns: impl Iterator<Item = &'p Pat>) {
        match patterns.find_map(told_by) {
            Some(Told::Option) => self.options += 1,
            Some(Told::Result) => self.results += 1,
            None => {}
        }
    }
}

impl<'a> Visit<'a> for Uses<'_> {
    fn visit_block(&mut self, block: &'a Block) {
        self.visit_statements(&block.stmts);
    }
    fn visit_path(&mut self, path: &'a syn::Path) {
        self.all += usize::from(path.is_ident(self.name));
        visit::visit_path(self, path);
    }
    fn visit_macro(&mut self, mac: &'a syn::Macro) {
        self.all += Occurrences::of(mac.tokens.clone()).count(self.name);
    }
    fn visit_arm(&mut self, arm: &'a syn::Arm) {
        if !self.is_bound_by(&arm.pat) {
            visit::visit_arm(self, arm);
        }
    }
    fn visit_expr_if(&mut self, branch: &'a syn::ExprIf) {
        match &*branch.cond {
            Expr::Let(test) if self.is_bound_by(&test.pat) => {
                self.visit_expr(&branch.cond);
                branch.else_branch.iter().for_each(|(_, otherwise)| self.visit_expr(otherwise));
            }
            _ => visit::visit_expr_if(self, branch),
        }
    }
    fn visit_expr_method_call(&mut self, call: &'a syn::ExprMethodCall) {
        const OF_EITHER: [&str; 3] = ["unwrap_or", "unwrap_or_default", "map_or"];
        const OF_OPTIONS: [&str; 6] = ["is_some", "is_none", "ok_or", "ok_or_else", "or", "filter"];
        let is = |names: &[&str]| names.iter().any(|name| call.method == name);
        if self.is(&call.receiver) {
            self.options += usize::from(is(&OF_EITHER) || is(&OF_OPTIONS));
            self.results += usize::from(is(&["is_ok", "is_err", "map_err"]));
        }
        visit::visit_expr_method_call(self, call);
    }
    fn visit_expr_match(&mut self, m: &'a syn::ExprMatch) {
        if self.is(&m.expr) {
            self.taken_apart(m.arms.iter().map(|arm| &arm.pat));
        }
        visit::visit_expr_match(self, m);
    }
    fn visit_expr_let(&mut self, test: &'a syn::ExprLet) {
        if self.is(&test.expr) {
            self.taken_apart(std::iter::once(&*test.pat));
        }
        visit::visit_expr_let(self, test);
    }
    fn visit_local(&mut self, local: &'a syn::Local) {
        if let Some(init) = &local.init
            && self.is(&init.expr)
        {
            self.taken_apart(std::iter::once(&local.pat));
        }
        visit::visit_local(self, local);
    }
}

/// What the variant that a pattern asks for tells.
fn told_by(pattern: &Pat) -> Option<Told> {
    match variant(pattern)?.as_str() {
        "Some" | "None" => Some(Told::Option),
        "Ok" | "Err" => Some(Told::Result),
        _ => None,
    }
}

/// The name of the variant that a pattern asks for.
fn variant(pattern: &Pat) -> Option<String> {
    match pattern {
        Pat::TupleStruct(with) => Some(with.path.segments.last()?.ident.to_string()),
        Pat::Ident(name) => Some(name.ident.to_string()),
        Pat::Paren(paren) => variant(&paren.pat),
        _ => None,
    }
}
