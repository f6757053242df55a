//! What calls are handed by value: locals that own memory, or may. Their rules have these lent, as the compiler finds out by the types.

use crate::calls::Callee;
use crate::program::*;

impl Program {
    /// What calls take by value of a local that owns memory, or may, their rules have lent.
    pub(crate) fn settle_given(&mut self) {
        loop {
            let mut given = Vec::new();
            for expr in &self.exprs {
                let (args, operator) = match &expr.kind {
                    ExprKind::Call { function, args } => (args, matches!(function, Callee::Operator(..))),
                    ExprKind::Method { args, .. } => (args, false),
                    _ => continue,
                };
                for &arg in args {
                    let ExprKind::Read(place) = &self.exprs[arg].kind else { continue };
                    let variable = &self.variables[place.base];
                    let whole = place.projections.is_empty() && variable.origin == Origin::Local;
                    let may_own = |id: VarId| {
                        variable.heap
                            || self.results.contains(&id)
                            || self.called.contains(&id)
                            || self.may_own(id)
                            || self.comes_of_owner(id)
                    };
                    if whole && variable.kind == Kind::Unknown && (operator || may_own(place.base)) {
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

    /// The local holds what a call has returned that may be a struct which owns memory.
    fn comes_of_owner(&self, id: VarId) -> bool {
        if !self.results.contains(&id) && !self.called.contains(&id) {
            return false;
        }
        let mut lets = self.blocks.iter().flat_map(|block| &block.statements).filter_map(|s| match &s.kind {
            StatementKind::Let(Let { variables, init: Some(init), .. }) => Some((variables, *init)),
            _ => None,
        });
        self.variables[id].of_user
            || lets.any(|(ids, init)| ids.contains(&Some(id)) && self.is_of_owner(init))
    }

    /// The call is given a struct that owns memory, or its function is one of the type of such.
    fn is_of_owner(&self, call: ExprId) -> bool {
        let is_owner = |arg: &ExprId| match &self.exprs[self.peel(*arg)].kind {
            ExprKind::Read(place) | ExprKind::Borrow { place, .. } => {
                let (variable, base) = (&self.variables[place.base], place.base);
                let by_value = variable.heap || self.given.iter().any(|given| self.borrows(*given, base));
                let owns =
                    variable.kind == Kind::Unknown && (by_value || self.own_parameters.contains(&base));
                owns && place.projections.is_empty() && !self.vectors.contains(&base)
            }
            _ => false,
        };
        match &self.exprs[self.peel(call)].kind {
            ExprKind::Call { function: Callee::Associated(path), args } => {
                let owner = path.path.segments.iter().rev().nth(1);
                owner.is_some_and(|owner| self.owners.know(&owner.ident)) || args.iter().any(is_owner)
            }
            ExprKind::Call { function: Callee::Operator(..), .. } => true,
            ExprKind::Call { args, .. } => args.iter().any(is_owner),
            ExprKind::Method { receiver, args, .. } => is_owner(receiver) || args.iter().any(is_owner),
            _ => false,
        }
    }

    fn borrows(&self, expr: ExprId, id: VarId) -> bool {
        matches!(&self.exprs[expr].kind, ExprKind::Borrow { place, .. } if place.base == id)
    }
}
