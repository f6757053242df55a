//! What searches find in constants, `weights.iter().max_by(…)`, `table.get(&k)`: references, which cannot be kept.

use proc_macro2::TokenStream;
use quote::quote;
use syn::visit::{self, Visit};
use syn::{Expr, Ident, Local, Pat, Stmt, Type};

use crate::kept::Item;
use crate::outcome::{inside_type, is_option};
use crate::parse::{Binding, Parser};
use crate::program::*;
use crate::rename::bound;
use crate::views::CHANGES;

impl Parser<'_> {
    /// As far as the syntax tells, `expr` may be a reference into what is constant, or have one within.
    pub(crate) fn is_found(&self, expr: ExprId) -> bool {
        let node = &self.program.exprs[expr];
        match &node.kind {
            ExprKind::Constant(_) => self.finds(&node.syntax),
            ExprKind::Method { .. } | ExprKind::Try(_) => {
                self.finds(&node.syntax) && !self.searches_suspects(&node.syntax)
            }
            ExprKind::Read(place) => place.projections.is_empty() && self.program.variables[place.base].found,
            ExprKind::If { .. } | ExprKind::Match(_) | ExprKind::Block(_) => {
                let values =
                    self.program.blocks_of(expr).into_iter().filter_map(|b| self.program.blocks[b].value);
                values.into_iter().any(|value| self.is_found(value) || self.refers_to_constant(value))
            }
            _ => false,
        }
    }

    /// The variable has been given what a search has found, whatever was searched.
    pub(crate) fn is_made_by_search(&self, id: VarId) -> bool {
        self.program.init_of(id).is_some_and(|init| finds(&self.program.exprs[init].syntax, &|_| false))
    }

    /// What is searched may carry a gradient, whatever the key.
    fn searches_suspects(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Paren(paren) => self.searches_suspects(&paren.expr),
            Expr::Try(tried) => self.searches_suspects(&tried.expr),
            Expr::MethodCall(call) if call.method == "get" || call.method.to_string().starts_with("get_") => {
                self.suspects.any(&call.receiver)
            }
            Expr::MethodCall(call)
                if call.args.is_empty() || call.method.to_string().starts_with("ok_or") =>
            {
                self.searches_suspects(&call.receiver)
            }
            expr => self.suspects.any(expr),
        }
    }

    /// `&k[0]` of what carries no gradient.
    pub(crate) fn refers_to_constant(&self, expr: ExprId) -> bool {
        let node = &self.program.exprs[expr];
        let reference = match &node.kind {
            ExprKind::Borrow { unique, .. } => !unique,
            ExprKind::Constant(_) => matches!(node.syntax, Expr::Reference(_)),
            _ => false,
        };
        reference && !self.suspects.any(&node.syntax)
    }

    /// Likewise element number `i`, where it is a tuple.
    pub(crate) fn is_found_in(&self, expr: ExprId, i: usize) -> bool {
        match &self.program.exprs[expr].kind {
            ExprKind::Tuple(elements) => elements
                .get(i)
                .is_some_and(|element| self.is_found(*element) || self.refers_to_constant(*element)),
            _ => self.is_found(expr),
        }
    }

    /// `let mut best: Option<&usize> = None;`
    pub(crate) fn declared_as_found(&self, pattern: &Pat, ty: &Type) -> bool {
        let inside = inside_type(ty).filter(|_| is_option(ty));
        matches!(inside.as_ref().unwrap_or(ty), Type::Reference(_)) && !self.suspects.any(pattern)
    }

    /// `let pattern = *found;` in the place of `let &pattern = found;`.
    pub(crate) fn followed(&self, local: &Local) -> Option<Local> {
        let (Pat::Reference(pattern), Some(init)) = (&local.pat, &local.init) else { return None };
        if init.diverge.is_some() || !self.finds(&init.expr) || self.searches_suspects(&init.expr) {
            return None;
        }
        let (pattern, found) = (&pattern.pat, &init.expr);
        let statement: Stmt = syn::parse_quote!(let #pattern = *#found;);
        let Stmt::Local(local) = statement else { unreachable!("it begins with `let`") };
        Some(local)
    }

    pub(crate) fn is_alias(&self, name: &Ident) -> bool {
        matches!(self.lookup(name), Some(Binding::Alias { .. }))
    }

    /// Refuses constant code that makes a reference, whose name stands for a place here, refer to another one.
    pub(crate) fn refuse_moved_names(&mut self, visit: impl FnOnce(&mut Moved)) {
        let mut moved = Moved::default();
        visit(&mut moved);
        moved.assigned.retain(|name| self.is_alias(name));
        moved.assigned.iter().for_each(|name| self.errors.push(name, CHANGES));
    }

    fn finds(&self, expr: &Expr) -> bool {
        finds(expr, &|name| self.variable(name).is_some_and(|id| self.program.variables[id].found))
    }
}

/// As far as the syntax tells, `expr` is what a search has found; `named` tells of names.
fn finds(expr: &Expr, named: &dyn Fn(&Expr) -> bool) -> bool {
    const SEARCHES: &[&str] = &[
        "as_slice",
        "back",
        "find",
        "first",
        "first_key_value",
        "front",
        "get",
        "get_key_value",
        "last",
        "last_key_value",
        "max_by",
        "max_by_key",
        "min_by",
        "min_by_key",
        "next",
        "nth",
        "peek",
        "reduce",
        "split_first",
        "split_last",
    ];
    // What they return may be written through, or stands behind a guard.
    const LENT: &[&str] = &[
        "back_mut",
        "borrow",
        "borrow_mut",
        "first_mut",
        "front_mut",
        "get_mut",
        "get_or_insert",
        "get_or_insert_with",
        "insert",
        "last_mut",
        "lock",
        "or_default",
        "or_insert",
        "or_insert_with",
        "read",
        "write",
    ];
    const OPTIONS: &[&str] = &[
        "expect",
        "filter",
        "maybe",
        "ok_or",
        "ok_or_else",
        "or",
        "or_else",
        "unwrap",
        "unwrap_or",
        "unwrap_or_else",
    ];
    match expr {
        Expr::MethodCall(call) => {
            let name = call.method.to_string();
            SEARCHES.contains(&&*name)
                || LENT.contains(&&*name)
                || (name == "max" || name == "min") && call.args.is_empty()
                || OPTIONS.contains(&&*name) && finds(&call.receiver, named)
        }
        Expr::Try(tried) => finds(&tried.expr, named),
        Expr::Paren(paren) => finds(&paren.expr, named),
        expr => named(expr),
    }
}

/// The names from outside of what is visited that are assigned to there.
#[derive(Default)]
pub(crate) struct Moved {
    assigned: Vec<Ident>,
    /// What is bound on the way, innermost last.
    scopes: Vec<Vec<Ident>>,
}

impl Moved {
    pub(crate) fn in_block(block: &syn::Block) -> Self {
        let mut moved = Moved::default();
        moved.visit_block(block);
        moved
    }

    pub(crate) fn assigns(&self, name: &Ident) -> bool {
        self.assigned.contains(name)
    }

    fn assign(&mut self, target: &Expr) {
        match target {
            Expr::Path(path) => {
                let name = path.path.get_ident();
                let inner = name.is_some_and(|name| self.scopes.iter().flatten().any(|bound| bound == name));
                self.assigned.extend(name.filter(|_| !inner).cloned());
            }
            Expr::Paren(paren) => self.assign(&paren.expr),
            Expr::Tuple(tuple) => tuple.elems.iter().for_each(|element| self.assign(element)),
            Expr::Array(array) => array.elems.iter().for_each(|element| self.assign(element)),
            _ => {}
        }
    }

    fn within(&mut self, visit: impl FnOnce(&mut Self)) {
        self.scopes.push(Vec::new());
        visit(self);
        self.scopes.pop();
    }
}

impl<'ast> Visit<'ast> for Moved {
    fn visit_expr_assign(&mut self, assign: &'ast syn::ExprAssign) {
        self.assign(&assign.left);
        visit::visit_expr_assign(self, assign);
    }
    fn visit_block(&mut self, block: &'ast syn::Block) {
        self.within(|this| visit::visit_block(this, block));
    }
    fn visit_local(&mut self, local: &'ast Local) {
        // What is bound is not known in what it is bound to.
        if let Some(init) = &local.init {
            visit::visit_local_init(self, init);
        }
        self.visit_pat(&local.pat);
    }
    fn visit_expr_if(&mut self, branch: &'ast syn::ExprIf) {
        self.within(|this| {
            this.visit_expr(&branch.cond);
            this.visit_block(&branch.then_branch);
        });
        if let Some((_, otherwise)) = &branch.else_branch {
            self.visit_expr(otherwise);
        }
    }
    fn visit_expr_let(&mut self, condition: &'ast syn::ExprLet) {
        self.visit_expr(&condition.expr);
        self.visit_pat(&condition.pat);
    }
    fn visit_expr_while(&mut self, repeated: &'ast syn::ExprWhile) {
        self.within(|this| visit::visit_expr_while(this, repeated));
    }
    fn visit_expr_for_loop(&mut self, repeated: &'ast syn::ExprForLoop) {
        self.visit_expr(&repeated.expr);
        self.within(|this| {
            this.visit_pat(&repeated.pat);
            this.visit_block(&repeated.body);
        });
    }
    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        self.within(|this| visit::visit_arm(this, arm));
    }
    fn visit_expr_closure(&mut self, closure: &'ast syn::ExprClosure) {
        self.within(|this| visit::visit_expr_closure(this, closure));
    }
    fn visit_item(&mut self, _: &'ast syn::Item) {}
    fn visit_pat_ident(&mut self, name: &'ast syn::PatIdent) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.push(name.ident.clone());
        }
        visit::visit_pat_ident(self, name);
    }
}

impl Program {
    /// A constant that may be a reference: what it refers to is kept.
    pub(crate) fn is_referred(&self, id: VarId) -> bool {
        self.variables[id].found && !self.variables[id].active
    }

    /// What has been kept of the value of `expr`.
    pub(crate) fn kept_value(&self, expr: ExprId, kept: &Ident) -> TokenStream {
        match self.may_refer(expr) {
            true => quote!(#kept.again()),
            false => quote!(#kept),
        }
    }

    /// The value of a constant may be a reference, of which what it refers to is kept.
    fn may_refer(&self, expr: ExprId) -> bool {
        let node = &self.exprs[expr];
        match &node.kind {
            ExprKind::Read(place) => place.projections.is_empty() && self.is_referred(place.base),
            ExprKind::Constant(_) | ExprKind::Method { .. } => {
                !node.active && finds(&node.syntax, &|_| false)
            }
            _ => false,
        }
    }

    /// What is kept under the name that the forward pass has for an item.
    pub(crate) fn as_kept(&self, item: Item, name: &Ident) -> TokenStream {
        match self.keeps_referred(item) {
            true => quote!({ use __pb::KeepUnreferred as _; __pb::Found(#name).keep() }),
            false => quote!(#name),
        }
    }

    /// What the item may refer to is kept.
    pub(crate) fn keeps_referred(&self, item: Item) -> bool {
        match item {
            Item::Final(id) => self.is_referred(id),
            Item::Value(expr) => self.may_refer(expr),
            Item::Definition(def) => {
                let (Definition::Given { variable }
                | Definition::Entry { variable, .. }
                | Definition::Merged { variable, .. }
                | Definition::Bound { variable, .. }
                | Definition::Computed { variable, .. }) = self.definitions[def];
                self.is_referred(variable)
            }
            _ => false,
        }
    }
}

/// The names that a pattern binds to copies, `Some(&i)`.
pub(crate) fn copied(pattern: &Pat) -> Vec<Ident> {
    struct Copied(Vec<Ident>);
    impl<'ast> Visit<'ast> for Copied {
        fn visit_pat_reference(&mut self, reference: &'ast syn::PatReference) {
            self.0.extend(bound(&reference.pat));
        }
    }
    let mut copied = Copied(Vec::new());
    copied.visit_pat(pattern);
    copied.0
}
