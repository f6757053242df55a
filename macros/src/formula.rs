//! Functions of one number.
//!
//! Their gradient is the derivative times the gradient of the value. What calls them has that gradient late: it depends on what
//! follows. The derivative depends on the argument alone, so that the processor can compute it beside the value, while other
//! things are waited for.

use crate::program::*;

/// The number of operations from which on it matters what they wait for.
const LONG: usize = 8;

impl Program {
    /// A formula in one active number, without loops, long enough for its derivative to be computed apart.
    pub(crate) fn is_long_formula(&self) -> bool {
        let mut active = self.parameters.iter().flatten().map(|id| &self.variables[*id]).filter(|v| v.active);
        let (Some(number), None) = (active.next(), active.next()) else { return false };
        let by_value = number.origin == Origin::Value && number.kind == Kind::Float;
        let returns_number = self.blocks[BODY].value.is_some_and(|value| self.kind_of(value) == Kind::Float);
        let operation = |e: &&Expr| {
            e.active
                && matches!(e.kind, ExprKind::Binary { .. } | ExprKind::Method { .. } | ExprKind::Call { .. })
        };
        by_value
            && returns_number
            && !self.generic()
            && !self.has_exits()
            && self.loops().next().is_none()
            && self.exprs.iter().filter(operation).count() >= LONG
    }
}
