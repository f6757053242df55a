//! Statements that change constants where nothing names a place: `*counts.entry(key).or_insert(0) += 1;`,
//! `if let Some(left) = stock.get_mut(key) { *left -= 1; }`. The forward pass runs them as they are written, and nothing undoes it.

use syn::visit::{Visit, visit_expr_assign, visit_expr_binary};
use syn::{Expr, Ident, Stmt};

use crate::escape::statement_escapes;
use crate::kind::assigns;
use crate::parse::Parser;
use crate::program::{Origin, StatementKind};
use crate::rename::bound;
use crate::suspects::variable_of;

pub(crate) const UNNAMED: &str =
    "cannot assign to this expression differentiably: assign to a variable or an element";

pub(crate) const THROUGH_PATTERN: &str =
    "this writes through a reference that a pattern has bound: assign to the variable itself, by its name";

impl Parser<'_> {
    /// `stmt`, if it writes through what a pattern has bound, or a name that is no place.
    pub(crate) fn changed_constants(&mut self, stmt: &Stmt) -> Option<StatementKind> {
        let Stmt::Expr(expr, semi) = stmt else { return None };
        let why = match expr {
            Expr::Assign(assign) if self.follows_name(&assign.left) => UNNAMED,
            Expr::Binary(binary) if assigns(&binary.op) && self.follows_name(&binary.left) => UNNAMED,
            Expr::If(_) | Expr::Match(_)
                if (semi.is_some() || yields_nothing(expr))
                    && writes_through_pattern(expr)
                    && !self.suspects.any(stmt) =>
            {
                THROUGH_PATTERN
            }
            _ => return None,
        };
        (!statement_escapes(stmt)).then(|| self.opaque(stmt, why.into()))
    }

    /// `*count`, where a call has returned the reference.
    fn follows_name(&mut self, left: &Expr) -> bool {
        match left {
            Expr::Index(index) => self.follows_name(&index.expr),
            Expr::Field(field) => self.follows_name(&field.base),
            Expr::Paren(paren) => self.follows_name(&paren.expr),
            Expr::Unary(unary) => {
                let Some(id) = self.variable(&unary.expr) else { return false };
                let variable = &self.program.variables[id];
                // What a box holds that carries a gradient is a part of it.
                let boxed = variable.mutable && self.suspects.contains(&variable.name);
                let follows = variable.origin == Origin::Local && !variable.memory && !boxed;
                let variable = &mut self.program.variables[id];
                variable.found |= follows;
                follows
            }
            _ => false,
        }
    }
}

/// One of the arms shows that there is no value.
fn yields_nothing(expr: &Expr) -> bool {
    match expr {
        Expr::Assign(_) => true,
        Expr::Binary(binary) => assigns(&binary.op),
        Expr::Block(block) => ends_in_nothing(&block.block),
        Expr::If(branch) => {
            ends_in_nothing(&branch.then_branch)
                || branch.else_branch.as_ref().is_none_or(|(_, otherwise)| yields_nothing(otherwise))
        }
        Expr::Match(matched) => matched.arms.iter().any(|arm| yields_nothing(&arm.body)),
        _ => false,
    }
}

fn ends_in_nothing(block: &syn::Block) -> bool {
    match block.stmts.last() {
        Some(Stmt::Expr(expr, None)) => yields_nothing(expr),
        Some(Stmt::Macro(mac)) => mac.semi_token.is_some(),
        _ => true,
    }
}

/// One of the patterns binds what is written through.
fn writes_through_pattern(expr: &Expr) -> bool {
    struct Through {
        names: Vec<Ident>,
        found: bool,
    }
    impl Through {
        fn to(&mut self, left: &Expr) {
            let name = variable_of(left).filter(|_| !matches!(left, Expr::Path(_)));
            self.found |= name.is_some_and(|name| self.names.contains(name));
        }
    }
    impl<'ast> Visit<'ast> for Through {
        fn visit_expr_let(&mut self, condition: &'ast syn::ExprLet) {
            self.names.extend(bound(&condition.pat));
        }
        fn visit_arm(&mut self, arm: &'ast syn::Arm) {
            self.names.extend(bound(&arm.pat));
            syn::visit::visit_arm(self, arm);
        }
        fn visit_expr_assign(&mut self, assign: &'ast syn::ExprAssign) {
            self.to(&assign.left);
            visit_expr_assign(self, assign);
        }
        fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
            if assigns(&binary.op) {
                self.to(&binary.left);
            }
            visit_expr_binary(self, binary);
        }
    }
    let mut through = Through { names: Vec::new(), found: false };
    through.visit_expr(expr);
    through.found
}
