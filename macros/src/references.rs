//! `&mut` references as values. What is written through a name is followed where that stands for one place: `let r = &mut a;`. A
//! reference that comes out of a branch, a block or a tuple, or that a variable gets later, could be that of any place, and what is
//! written through it would be missed.

use crate::errors::Errors;
use crate::program::*;

const CHOSEN: &str = "what a `&mut` refers to is followed where it is bound to a place, `let r = &mut a;`, or passed to a function: choose an \
     index, as in `&mut v[i]`, write to the variables themselves, in each branch, or let a function have the reference";

const SLICES: &str = "an array of slices is differentiable where it is used up at once, `for w in [x, y] { … }`, `let [p, q] = [x, y].map(f);`, \
     `[x, y].iter().map(f).sum()`: give each slice a name, or choose the part of one slice by an index";

/// Reports references that may be written through, where nothing follows them.
pub(crate) fn report(program: &Program, errors: &mut Errors) {
    let mut values: Vec<ExprId> = Vec::new();
    for block in &program.blocks {
        let statements = block.statements.iter().filter_map(|statement| match &statement.kind {
            StatementKind::Let(Let { init, .. }) => *init,
            StatementKind::Assign(assign) => Some(assign.value),
            _ => None,
        });
        values.extend(statements.chain(block.value));
    }
    for (expr, node) in program.exprs.iter().enumerate() {
        let given = matches!(
            node.kind,
            ExprKind::Call { .. }
                | ExprKind::Method { .. }
                | ExprKind::Mutation { .. }
                | ExprKind::Match(_)
                | ExprKind::Paren(_)
        );
        if !given {
            values.extend(program.operands(expr));
        }
    }
    for node in program.exprs.iter().filter(|node| node.active) {
        let ExprKind::Array(elements) = &node.kind else { continue };
        if let Some(slice) = elements.iter().find(|element| program.is_lent_slice(**element)) {
            errors.push(&program.exprs[*slice].syntax, SLICES);
        }
    }
    for value in values {
        let node = &program.exprs[program.peel(value)];
        if matches!(&node.kind, ExprKind::Borrow { unique: true, .. }) {
            errors.push(&node.syntax, CHOSEN);
        }
    }
}

impl Program {
    /// A reference to a part of a slice, or the name of a parameter that is one.
    fn is_lent_slice(&self, expr: ExprId) -> bool {
        match &self.exprs[expr].kind {
            ExprKind::Borrow { place, unique: false } => match place.projections.last() {
                Some(Projection::Index(index)) => matches!(self.exprs[*index].syntax, syn::Expr::Range(_)),
                Some(_) => false,
                None => self.is_slice_by_reference(place.base),
            },
            ExprKind::Read(place) => place.projections.is_empty() && self.is_slice_by_reference(place.base),
            _ => false,
        }
    }

    fn is_slice_by_reference(&self, id: VarId) -> bool {
        self.variables[id].slice && self.variables[id].by_reference()
    }
}
