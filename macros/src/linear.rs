//! Calls whose gradient is known before their value, `total += a[i] * f(x);`: what they stand in is a linear function of each.
//!
//! Where the gradient with respect to the whole is known as well, such a call runs both of its passes at once, and keeps nothing. A function
//! that calls itself that way has no need of stacks.

use quote::quote;

use crate::calls::Callee;
use crate::forward::assignment;
use crate::program::*;
use crate::reverse::Reverse;

impl Program {
    /// The calls that `expr` is a linear function of, each by itself.
    pub(crate) fn linear_calls(&self, expr: ExprId) -> Vec<ExprId> {
        let node = &self.exprs[expr];
        if !node.active || self.by_rule(expr) {
            return Vec::new();
        }
        match &node.kind {
            ExprKind::Paren(e) | ExprKind::Neg(e) => self.linear_calls(*e),
            ExprKind::Binary { op: Op::Add | Op::Sub, left, right } => {
                [*left, *right].into_iter().flat_map(|e| self.linear_calls(e)).collect()
            }
            ExprKind::Binary { op: Op::Mul, left, right } => {
                match (self.linear_calls(*left), self.linear_calls(*right)) {
                    (left, right) if right.is_empty() => left,
                    (left, right) if left.is_empty() => right,
                    // The gradient with respect to one is the value of the other.
                    _ => Vec::new(),
                }
            }
            ExprKind::Binary { op: Op::Div, left, right } if !self.exprs[*right].active => {
                self.linear_calls(*left)
            }
            ExprKind::Call { function, args }
                if self.goes_alone(function, args) && !self.is_reclaimed(expr) =>
            {
                vec![expr]
            }
            _ => Vec::new(),
        }
    }

    /// The call does nothing but compute its value, of arguments that are no functions.
    fn goes_alone(&self, function: &Callee, args: &[ExprId]) -> bool {
        let has_rule = !matches!(function, Callee::Parameter(..) | Callee::Gradient(..));
        has_rule
            && args.iter().all(|arg| {
                !matches!(
                    self.exprs[*arg].kind,
                    ExprKind::Callback(_) | ExprKind::Borrow { unique: true, .. }
                )
            })
    }

    /// The sums that an iteration adds such calls to, `total += …`, each by one statement alone: the block of the statement, what is added,
    /// and the calls in it. `outer` is the body of the loop, or of one around it that the sums belong to.
    pub(crate) fn sums_of_calls(&self, outer: BlockId, body: BlockId) -> Vec<(BlockId, ExprId, Vec<ExprId>)> {
        let mut found = Vec::new();
        for statement in &self.blocks[body].statements {
            match &statement.kind {
                StatementKind::Assign(a) if matches!(a.op, Some(Op::Add | Op::Sub)) => {
                    let calls = self.linear_calls(a.value);
                    if !calls.is_empty() && !self.by_rule(a.result) && self.assigned_once(outer, a) {
                        found.push((body, a.value, calls));
                    }
                }
                StatementKind::Expr(expr, _) => {
                    let inner = self.plain_blocks(*expr).into_iter();
                    found.extend(inner.flat_map(|block| self.sums_of_calls(outer, block)));
                }
                _ => {}
            }
        }
        let end = self.blocks[body].value.into_iter().flat_map(|value| self.plain_blocks(value));
        found.extend(end.flat_map(|block| self.sums_of_calls(outer, block)));
        found
    }

    /// The blocks of a statement that are run once at most.
    fn plain_blocks(&self, expr: ExprId) -> Vec<BlockId> {
        let expr = self.peel(expr);
        match self.exprs[expr].kind {
            ExprKind::If { .. } => self.blocks_of(expr),
            _ => Vec::new(),
        }
    }

    /// The variable is in sight wherever the body is, and no other statement in it adds to the variable.
    fn assigned_once(&self, body: BlockId, assign: &Assign) -> bool {
        let id = assign.place.base;
        let blocks = self.nested(body);
        let assigned = blocks.iter().flat_map(|b| &self.blocks[*b].statements);
        let times =
            assigned.filter(|s| matches!(&s.kind, StatementKind::Assign(a) if a.place.base == id)).count();
        let name = &self.variables[id].name;
        let hidden = self.variables.iter().any(|v| v.name == *name && blocks.contains(&v.block));
        assign.place.projections.is_empty() && !self.variables[id].by_reference() && times == 1 && !hidden
    }
}

impl Reverse<'_> {
    /// Calls in `expr` run both of their passes in the reverse pass, so that the forward pass leaves it out.
    pub(crate) fn has_calls_at_once(&self, expr: ExprId) -> bool {
        !self.plan.calls.is_empty() && self.program.tree(expr).iter().any(|e| self.plan.calls.contains(e))
    }

    /// The value of a block at the function's end, where the forward pass has left it out.
    pub(crate) fn tell_value(&mut self, value: ExprId, at: &At) {
        let value = self.program.returned_value(value);
        if self.has_calls_at_once(value) {
            let (text, name) = (self.text(value, at, self.top()), Program::fresh("value"));
            self.emit(quote!(#name = #text;));
        }
    }

    /// What is added to a sum, likewise.
    pub(crate) fn add_now(&mut self, assign: &Assign, op: Op, at: &At) {
        if self.has_calls_at_once(assign.value) {
            let (text, op) = (self.text(assign.value, at, self.top()), assignment(Some(op)));
            let name = &self.program.variables[assign.place.base].name;
            self.emit(quote!(#name #op #text;));
        }
    }
}
