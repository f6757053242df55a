//! Operators of values that own memory become calls of functions that have rules, in statements of their own: those of matrices,
//! see [`crate::matrices`], and of arrays, see [`crate::arrays`].

use syn::visit_mut::VisitMut;
use syn::{Expr, Stmt, UnOp};

use crate::arrays;
use crate::escape::writes;
use crate::matrices;
use crate::parse::{Parser, assign_op};
use crate::program::*;
use crate::suspects::Suspects;

/// What takes operators out of expressions: it visits these, and gathers the statements that have to go before.
pub(crate) trait Lowering: VisitMut {
    /// There are such values at all.
    const KNOWN: bool;
    /// For messages.
    const WHAT: &'static str;

    /// `place op= value` is an operator of theirs.
    fn is_changed(&self, place: &Expr) -> bool;
    /// Names that may carry a gradient.
    fn suspects(&self) -> &Suspects;
    /// `place op= value`, as a statement.
    fn change(&mut self, place: &Expr, op: Op, value: &Expr);
    /// Reports that a value behind a reference is replaced.
    fn replaced(&mut self, place: &Expr);
    /// The initialiser of a `let`, or what is assigned.
    fn value(&mut self, value: &mut Expr) {
        self.visit_expr_mut(value);
    }
    /// An expression has become a call.
    fn changed(&self) -> bool {
        false
    }
    /// The statements.
    fn before(self) -> Vec<Stmt>;
}

impl Parser<'_> {
    /// The statements that do what `stmt` does, if there are such operators in it.
    pub(crate) fn lowered(&mut self, stmt: &Stmt) -> Option<Vec<Stmt>> {
        let of_matrices = lowered(matrices::Lower::new(self), stmt);
        let Lowered { statements, mixed } =
            of_matrices.or_else(|| lowered(arrays::Lower::new(self), stmt))?;
        if let Some(what) = mixed {
            let why = format!(
                "this writes to a variable next to operators of {what}: bind what it yields with `let` first"
            );
            self.errors.push(stmt, why);
        }
        Some(statements)
    }
}

struct Lowered {
    statements: Vec<Stmt>,
    /// A variable is written to within the statement, next to operators of these.
    mixed: Option<&'static str>,
}

fn lowered<L: Lowering>(mut lower: L, stmt: &Stmt) -> Option<Lowered> {
    if !L::KNOWN {
        return None;
    }
    let mut stmt = stmt.clone();
    let mixed = match &mut stmt {
        Stmt::Local(local) => {
            let init = local.init.as_mut().filter(|init| init.diverge.is_none())?;
            let mixed = writes(&init.expr);
            lower.value(&mut init.expr);
            mixed
        }
        Stmt::Expr(Expr::Assign(assign), _) => {
            let behind = matches!(&*assign.left, Expr::Unary(unary) if matches!(unary.op, UnOp::Deref(_)));
            if behind && lower.is_changed(&assign.left) && lower.suspects().any(&*assign) {
                lower.replaced(&assign.left);
                return None;
            }
            let mixed = writes(&assign.right);
            lower.value(&mut assign.right);
            mixed
        }
        Stmt::Expr(Expr::Binary(binary), Some(_)) if assign_op(&binary.op).is_some() => {
            let mixed = writes(&binary.right);
            let (left, op) = (binary.left.clone(), assign_op(&binary.op)?);
            if lower.is_changed(&left) && lower.suspects().any(&*binary) {
                lower.change(&left, op, &binary.right);
                return Some(Lowered { statements: lower.before(), mixed: mixed.then_some(L::WHAT) });
            }
            lower.visit_expr_mut(&mut binary.right);
            mixed
        }
        Stmt::Expr(Expr::ForLoop(_) | Expr::While(_), _) => return None,
        Stmt::Expr(expr, _) => {
            let mixed = writes(expr);
            lower.visit_expr_mut(expr);
            mixed
        }
        _ => return None,
    };
    let changed = lower.changed();
    let mut statements = lower.before();
    if statements.is_empty() && !changed {
        return None;
    }
    statements.push(stmt);
    Some(Lowered { statements, mixed: mixed.then_some(L::WHAT) })
}
