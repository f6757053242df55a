//! What calls are handed by value: locals that own memory, or may. Their rules have these lent, as the compiler finds out by the types.

use std::collections::HashSet;

use crate::calls::Callee;
use crate::kind::numeric_call;
use crate::program::*;

impl Program {
    /// What is handed on is a copy of a local or of a parameter, which may be a struct that is no more than `Clone`.
    pub(crate) fn copies(&self, arg: ExprId) -> bool {
        let ExprKind::Read(place) = &self.exprs[self.peel(arg)].kind else { return false };
        place.projections.is_empty() && self.is_cloned(place.base)
    }

    /// What is kept of the variable is a clone. What may own memory is moved.
    pub(crate) fn is_kept_as_clone(&self, id: VarId) -> bool {
        let variable = &self.variables[id];
        let may_own =
            variable.heap || variable.memory || self.results.contains(&id) || self.called.contains(&id);
        self.is_cloned(id) && !may_own
    }

    /// Copies of the variable are clones: it may be a struct of numbers that is not `Copy`, or a constant that may own memory.
    fn is_cloned(&self, id: VarId) -> bool {
        let variable = &self.variables[id];
        let numbers = variable.active
            && variable.kind == Kind::Unknown
            && variable.general.is_none()
            && matches!(variable.origin, Origin::Local | Origin::Value);
        numbers || self.cloned.contains(&id)
    }

    /// What is handed on may be `self`, by value, of an associated function: that its rule has lent, as its signature tells.
    pub(crate) fn hands(&self, function: &Callee, arg: ExprId, number: usize) -> bool {
        let Callee::Associated(path) = function else { return false };
        let converts = path.path.segments.last().is_some_and(|last| last.ident == "from");
        let by_value = match &self.exprs[self.peel(arg)].kind {
            ExprKind::Borrow { .. } => self.given.contains(&arg),
            ExprKind::Read(place) => !self.variables[place.base].by_reference(),
            ExprKind::Callback(_) => false,
            _ => true,
        };
        number == 0 && !converts && by_value && self.kind_of(arg) == Kind::Unknown
    }

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
