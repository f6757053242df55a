//! Which options under a name a flag and a value beside it may stand for: see [`crate::held`]. Of vectors all of them, which nothing else
//! would serve for; of structs those with which no more is done than that allows, since plain data has other ways.

use std::collections::HashSet;

use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, Ident, Pat, Stmt, Type, parse_quote};

use crate::held::content;
use crate::iterators::collect::element_of_vec;
use crate::kind::{kind_of_type, names_other_type};
use crate::outcome::{inside_type, is_option};
use crate::rename::{Occurrences, bound};

/// The names in a body that stand for options of what is no vector, as it is declared with its type, and done with what a flag and a
/// value beside it serve for.
pub(crate) fn holdable(body: &Block, output: &Type) -> HashSet<String> {
    let mut bound = Bound(HashSet::new());
    bound.visit_block(body);
    let fits = |name: &&Ident| {
        let mut scope = body.clone();
        InScope(name).visit_block_mut(&mut scope);
        let mut uses = Uses { name, returned: is_option(output), bound: &bound.0, known: 0, moved: 0 };
        uses.visit_block(&scope);
        if uses.returned && matches!(scope.stmts.last(), Some(Stmt::Expr(value, None)) if uses.is(value)) {
            uses.known += 1;
        }
        Occurrences::of(&scope).count(name) == uses.known + 1 && uses.moved <= 1
    };
    let structs = |ty: &Type| names_other_type(ty, &kind_of_type(ty));
    names_of_options(body, &structs).iter().filter(fits).map(Ident::to_string).collect()
}

/// The function returns one of these names as it is.
pub(crate) fn returns_one_of(names: &HashSet<String>, body: &Block) -> bool {
    struct Returned<'n>(&'n HashSet<String>, bool);
    impl Returned<'_> {
        fn note(&mut self, value: &Expr) {
            let Expr::Path(path) = value else { return };
            self.1 |= path.path.get_ident().is_some_and(|name| self.0.contains(&name.to_string()));
        }
    }
    impl<'ast> Visit<'ast> for Returned<'_> {
        fn visit_expr_return(&mut self, expr: &'ast syn::ExprReturn) {
            visit::visit_expr_return(self, expr);
            expr.expr.iter().for_each(|value| self.note(value));
        }
    }
    let mut returned = Returned(names, false);
    returned.visit_block(body);
    if let Some(Stmt::Expr(value, None)) = body.stmts.last() {
        returned.note(value);
    }
    returned.1
}

/// The names in a body that may stand for a flag and a value.
pub(crate) fn declared(body: &Block) -> Vec<Ident> {
    names_of_options(body, &|ty| element_of_vec(ty).is_some() || names_other_type(ty, &kind_of_type(ty)))
}

fn names_of_options(body: &Block, inside: &dyn Fn(&Type) -> bool) -> Vec<Ident> {
    let mut declared = Declared(Vec::new(), inside);
    declared.visit_block(body);
    declared.0
}

/// The names that are declared as options of such types, and hold nothing to begin with.
struct Declared<'i>(Vec<Ident>, &'i dyn Fn(&Type) -> bool);

impl<'ast> Visit<'ast> for Declared<'_> {
    fn visit_local(&mut self, local: &'ast syn::Local) {
        visit::visit_local(self, local);
        if let (Pat::Type(typed), Some(init)) = (&local.pat, &local.init)
            && let Pat::Ident(name) = &*typed.pat
            && matches!(content(&init.expr), Some(None))
            && is_option(&typed.ty)
            && inside_type(&typed.ty).is_some_and(|ty| self.1(&ty))
        {
            self.0.push(name.ident.clone());
        }
    }
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// Leaves out where the name means something else, since a pattern has bound it again.
struct InScope<'n>(&'n Ident);

impl InScope<'_> {
    fn is_bound(&self, pattern: &Pat) -> bool {
        bound(pattern).contains(self.0)
    }
}

impl VisitMut for InScope<'_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        let declares = |local: &syn::Local| {
            local.init.as_ref().is_some_and(|init| matches!(content(&init.expr), Some(None)))
        };
        let again =
            |stmt: &Stmt| matches!(stmt, Stmt::Local(local) if self.is_bound(&local.pat) && !declares(local));
        if let Some(at) = block.stmts.iter().position(again) {
            block.stmts.truncate(at + 1);
            if let Some(Stmt::Local(local)) = block.stmts.last_mut() {
                local.pat = parse_quote!(_);
            }
        }
        visit_mut::visit_block_mut(self, block);
    }
    fn visit_expr_if_mut(&mut self, branch: &mut syn::ExprIf) {
        if let Expr::Let(binding) = &mut *branch.cond
            && self.is_bound(&binding.pat)
        {
            *binding.pat = parse_quote!(_);
            branch.then_branch.stmts.clear();
        }
        visit_mut::visit_expr_if_mut(self, branch);
    }
    fn visit_arm_mut(&mut self, arm: &mut syn::Arm) {
        if self.is_bound(&arm.pat) {
            (arm.pat, *arm.body) = (parse_quote!(_), parse_quote!(()));
        }
        visit_mut::visit_arm_mut(self, arm);
    }
}

/// The name that a `let` binds, if it is one.
pub(crate) fn name_of(pattern: &Pat) -> Option<&Ident> {
    match pattern {
        Pat::Type(typed) => name_of(&typed.pat),
        Pat::Ident(name) => Some(&name.ident),
        _ => None,
    }
}

/// The names of what calls return, and literals make.
struct Bound(HashSet<String>);

impl<'ast> Visit<'ast> for Bound {
    fn visit_local(&mut self, local: &'ast syn::Local) {
        visit::visit_local(self, local);
        if let (Some(name), Some(init)) = (name_of(&local.pat), &local.init)
            && is_made(&init.expr)
        {
            self.0.insert(name.to_string());
        }
    }
}

fn is_made(value: &Expr) -> bool {
    matches!(value, Expr::Call(_) | Expr::MethodCall(_) | Expr::Struct(_) | Expr::Try(_))
}

/// What is done with such a name.
struct Uses<'n> {
    name: &'n Ident,
    /// It may be returned as it is.
    returned: bool,
    /// Names of what it may get.
    bound: &'n HashSet<String>,
    known: usize,
    /// How often it is taken as it is.
    moved: usize,
}

impl Uses<'_> {
    /// It may get this value.
    fn gets(&self, value: Option<&Expr>) -> bool {
        match value {
            Some(Expr::Path(path)) => {
                path.path.get_ident().is_some_and(|name| self.bound.contains(&name.to_string()))
            }
            Some(value) => is_made(value),
            None => true,
        }
    }

    fn is(&self, expr: &Expr) -> bool {
        matches!(expr, Expr::Path(path) if path.path.is_ident(self.name))
    }

    /// It is taken apart, as it is or by reference.
    fn taken_apart(&mut self, expr: &Expr) {
        let by_reference = matches!(expr, Expr::Reference(reference) if self.is(&reference.expr));
        self.moved += usize::from(self.is(expr));
        self.known += usize::from(by_reference || self.is(expr));
    }
}

impl<'ast> Visit<'ast> for Uses<'_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        visit::visit_expr(self, expr);
        match expr {
            Expr::Match(m) if m.arms.iter().all(|arm| !matches!(arm.pat, Pat::Guard(_))) => {
                self.taken_apart(&m.expr);
            }
            Expr::Let(binding) => self.taken_apart(&binding.expr),
            Expr::Assign(assign) if self.is(&assign.left) => {
                self.known += usize::from(content(&assign.right).is_some_and(|value| self.gets(value)));
            }
            Expr::Return(syn::ExprReturn { expr: Some(value), .. }) if self.is(value) => {
                self.known += usize::from(self.returned);
            }
            Expr::MethodCall(call) if self.is(&call.receiver) => {
                let is = |names: &[&str]| names.iter().any(|name| call.method == name);
                let taken = is(&["unwrap", "expect", "map_or"]);
                self.moved += usize::from(taken);
                self.known += usize::from(taken || is(&["is_some", "is_none", "as_ref", "as_mut"]));
            }
            _ => {}
        }
    }
    fn visit_local(&mut self, local: &'ast syn::Local) {
        visit::visit_local(self, local);
        if let Some(init) = local.init.as_ref().filter(|init| init.diverge.is_some()) {
            self.taken_apart(&init.expr);
        }
    }
}
