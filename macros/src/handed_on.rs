//! What calls are handed by value: locals that own memory, or may. Their rules have these lent, as the compiler finds out by the types.

use std::collections::HashSet;

use crate::calls::Callee;
use crate::kind::numeric_call;
use crate::program::*;

impl Program {
    /// What calls take by value of a local that owns memory, or may, their rules have lent.
    pub(crate) fn settle_given(&mut self) {
        loop {
            let taken_out = self.taken_out().map(|(_, _, target)| target);
            let may_own: HashSet<VarId> =
                self.results.iter().chain(&self.called).copied().chain(taken_out).collect();
            let mut given = Vec::new();
            for expr in &self.exprs {
                let (args, operator) = match &expr.kind {
                    ExprKind::Call { function, args } => (args, matches!(function, Callee::Operator(..))),
                    ExprKind::Method { name, args, .. } if !numeric_call(&name.to_string(), args.len()) => {
                        (args, false)
                    }
                    _ => continue,
                };
                for &arg in args {
                    let ExprKind::Read(place) = &self.exprs[arg].kind else { continue };
                    let variable = &self.variables[place.base];
                    let whole = place.projections.is_empty() && variable.origin == Origin::Local;
                    if whole
                        && variable.kind == Kind::Unknown
                        && (operator || variable.heap || may_own.contains(&place.base))
                    {
                        given.push((arg, place.clone()));
                    }
                }
            }
            if given.is_empty() && !self.bind_given() {
                return;
            }
            for (arg, place) in given {
                let value = &self.exprs[arg].syntax;
                self.exprs[arg].syntax = syn::parse_quote!(&#value);
                self.exprs[arg].kind = ExprKind::Borrow { place, unique: false };
                self.given.insert(arg);
                self.taken.insert(arg);
            }
        }
    }

    /// `energy(step(state))` is `{ let argument = step(state); energy(argument) }`, where something that owns memory may be
    /// returned. Tells whether there was any.
    fn bind_given(&mut self) -> bool {
        let found = self.exprs.iter().enumerate().find_map(|(expr, node)| {
            let ExprKind::Call { function, args } = &node.kind else { return None };
            let operator = matches!(function, Callee::Operator(..));
            let made = |arg: &ExprId| self.is_call(*arg) && (operator || self.kind_of(*arg) == Kind::Unknown);
            let i = args.iter().position(made)?;
            Some((expr, function.clone(), args.clone(), i))
        });
        let Some((expr, function, mut args, i)) = found else { return false };
        let name = format!("argument_{}", self.variables.len());
        let (bound, block) = self.bind_operand(expr, args[i], &name);
        args[i] = bound;
        let inner = self.blocks[block].value.expect("the value of `expr`");
        self.exprs[inner].kind = ExprKind::Call { function, args };
        true
    }
}
