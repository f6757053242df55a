//! Operators of structs that own memory, as calls: their rules have the operands lent.
//!
//! What is one is guessed by its syntax. Of numbers a call does the same as the operator.

use proc_macro2::Span;
use syn::{BinOp, Expr as Syn, Ident, UnOp};

use crate::calls::{Callee, Operator};
use crate::matrices::{on_heap, on_stack};
use crate::parse::{Binding, Parser};
use crate::program::*;

impl Parser<'_> {
    /// One of the operands may own memory.
    pub(crate) fn operates_on_owners(&self, operands: &[&Syn]) -> bool {
        operands.iter().any(|operand| self.suspects.any(operand) && self.may_be_owner(operand))
    }

    fn may_be_owner(&self, operand: &Syn) -> bool {
        match operand {
            Syn::Paren(paren) => self.may_be_owner(&paren.expr),
            Syn::Group(group) => self.may_be_owner(&group.expr),
            Syn::Reference(reference) => {
                self.names_owner(root(&reference.expr), true) || self.may_be_owner(&reference.expr)
            }
            Syn::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => self.may_be_owner(&unary.expr),
            Syn::Binary(binary)
                if matches!(binary.op, BinOp::Add(_) | BinOp::Sub(_) | BinOp::Mul(_) | BinOp::Div(_)) =>
            {
                self.may_be_owner(&binary.left) || self.may_be_owner(&binary.right)
            }
            Syn::Call(call) => match &*call.func {
                Syn::Path(path) => {
                    let owner = path.path.segments.iter().rev().nth(1);
                    owner.is_some_and(|owner| self.program.owners.know(&owner.ident))
                }
                _ => false,
            },
            Syn::Path(_) => self.names_owner(operand, false),
            _ => false,
        }
    }

    /// A variable that may be one, which is `referred` to.
    fn names_owner(&self, place: &Syn, referred: bool) -> bool {
        let Syn::Path(path) = place else { return false };
        let Some(Binding::Variable(id)) = path.path.get_ident().and_then(|name| self.lookup(name)) else {
            return false;
        };
        let variable = &self.program.variables[*id];
        let name = self.types.get(id).map(|ty| crate::signature::type_name(ty).to_string());
        let of_nalgebra = name.is_some_and(|name| on_heap(&name) || on_stack(&name));
        if variable.kind != Kind::Unknown || variable.general.is_some() || of_nalgebra {
            return false;
        }
        let of_reference = variable.by_reference() && variable.of_user;
        let of_call = referred && variable.origin == Origin::Local;
        of_reference || of_call || self.is_owner(*id) || self.program.own_parameters.contains(id)
    }

    /// `left += right` is the call of an operator of what may own memory: as the left operand is known to, or the right one is a reference.
    pub(crate) fn changes_owner(&self, left: &Syn, right: &Syn) -> bool {
        let whole = |left: &Syn| match without_parentheses(left) {
            Syn::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => self.names_owner(&unary.expr, false),
            left => self.names_owner(left, false),
        };
        let referred = match without_parentheses(right) {
            Syn::Path(_) => self.names_owner(right, false),
            Syn::Reference(_) => self.may_be_owner(right),
            _ => false,
        };
        self.suspects.any(left) && (whole(left) || referred)
    }

    /// `left op= right`
    pub(crate) fn operator_onto(&mut self, expr: &Syn, op: Op, left: &Syn, right: &Syn) -> ExprId {
        self.operator_call(expr, Operator::Onto(op), &[&syn::parse_quote!(&mut #left), right])
    }

    /// An operator as a call.
    pub(crate) fn operator_call(&mut self, expr: &Syn, operator: Operator, operands: &[&Syn]) -> ExprId {
        let name = match operator {
            Operator::Negation => "neg",
            Operator::Between(op) => op.method(),
            Operator::Onto(_) => "assign",
        };
        let args = operands.iter().map(|operand| self.argument(without_reference(operand))).collect();
        let function = Callee::Operator(operator, Ident::new(name, Span::mixed_site()));
        self.add(expr, ExprKind::Call { function, args })
    }
}

/// Of a temporary value the reference says nothing.
fn without_reference(operand: &Syn) -> &Syn {
    match operand {
        Syn::Paren(paren) => without_reference(&paren.expr),
        Syn::Group(group) => without_reference(&group.expr),
        Syn::Reference(reference) => match without_parentheses(&reference.expr) {
            inner @ (Syn::Binary(_) | Syn::Unary(_) | Syn::Call(_) | Syn::MethodCall(_))
                if !is_deref(inner) =>
            {
                inner
            }
            _ => operand,
        },
        operand => operand,
    }
}

fn without_parentheses(expr: &Syn) -> &Syn {
    match expr {
        Syn::Paren(paren) => without_parentheses(&paren.expr),
        Syn::Group(group) => without_parentheses(&group.expr),
        expr => expr,
    }
}

pub(crate) fn is_deref(expr: &Syn) -> bool {
    matches!(expr, Syn::Unary(unary) if matches!(unary.op, UnOp::Deref(_)))
}

/// The variable of which a place is a field.
fn root(place: &Syn) -> &Syn {
    match place {
        Syn::Field(field) => root(&field.base),
        place => place,
    }
}
