//! Operators of types that are not known to be floats: the compiler selects their rules by the operands.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::Ident;

use crate::calls::{Callee, is_associated};
use crate::cotangent::Cotangent;
use crate::forward::Forward;
use crate::kept::Item;
use crate::kind::numeric_call;
use crate::program::*;
use crate::reverse::Reverse;

impl Op {
    /// The operator as a type.
    pub(crate) fn marker(self) -> TokenStream {
        match self {
            Op::Add => quote!(__pb::operator::Add),
            Op::Sub => quote!(__pb::operator::Sub),
            Op::Mul => quote!(__pb::operator::Mul),
            Op::Div => quote!(__pb::operator::Div),
            Op::Rem => quote!(__pb::operator::Rem),
        }
    }

    /// The name of its method.
    pub(crate) fn method(self) -> &'static str {
        match self {
            Op::Add => "add",
            Op::Sub => "sub",
            Op::Mul => "mul",
            Op::Div => "div",
            Op::Rem => "rem",
        }
    }
}

impl Program {
    /// The operator may be a user's. Where a float is involved the types of the gradients tell it from one of floats, except
    /// for a product with a float, which may be of any type, also with a constant of another type.
    pub(crate) fn by_rule(&self, expr: ExprId) -> bool {
        let float = |e: ExprId| self.kind_of(e) == Kind::Float;
        let other = |e: ExprId| self.exprs[e].active && !float(e);
        match &self.exprs[expr].kind {
            ExprKind::Neg(e) => other(*e),
            ExprKind::Binary { op: Op::Add | Op::Sub, left, right } => {
                !float(*left) && !float(*right) || self.of_user(expr)
            }
            ExprKind::Binary { op: Op::Mul, left, right } => {
                [*left, *right].into_iter().any(|e| other(e) || self.may_be_no_number(e))
            }
            ExprKind::Binary { left, right, .. } => other(*left) || other(*right),
            _ => false,
        }
    }
}

impl Program {
    /// The value is of a type that has a name of the user's, as far as declarations tell: its sum with a float may be anything.
    pub(crate) fn of_user(&self, expr: ExprId) -> bool {
        match &self.exprs[expr].kind {
            ExprKind::Read(place) | ExprKind::Borrow { place, .. } => {
                place.projections.iter().all(|p| matches!(p, Projection::Deref))
                    && self.variables[place.base].of_user
            }
            ExprKind::Paren(e) | ExprKind::Neg(e) => self.of_user(*e),
            ExprKind::Binary { left, right, .. } => self.of_user(*left) || self.of_user(*right),
            ExprKind::Struct(literal) => literal.variant().is_none(),
            _ => false,
        }
    }

    /// The sum of a constant float and of what may be no float.
    pub(crate) fn sum_with_constant(&self, expr: ExprId) -> bool {
        let ExprKind::Binary { op: Op::Add | Op::Sub, left, right } = self.exprs[expr].kind else {
            return false;
        };
        let constant = |e: ExprId| !self.exprs[e].active && self.kind_of(e) == Kind::Float;
        let unknown = |e: ExprId| self.exprs[e].active && self.kind_of(e) == Kind::Unknown;
        constant(left) && unknown(right) || constant(right) && unknown(left)
    }

    /// A constant that is no number, for all that its syntax tells: `Vector3::z()`, or a variable.
    pub(crate) fn may_be_no_number(&self, expr: ExprId) -> bool {
        let expr = self.peel(expr);
        let node = &self.exprs[expr];
        if node.active || self.kind_of(expr) != Kind::Unknown {
            return false;
        }
        match (&node.kind, &node.syntax) {
            (ExprKind::Read(_) | ExprKind::Neg(_) | ExprKind::Binary { .. }, _) => true,
            (ExprKind::Method { name, args, .. }, _) => !numeric_call(&name.to_string(), args.len()),
            (ExprKind::Call { function, .. }, _) => matches!(function, Callee::Associated(_)),
            (ExprKind::Constant(_), syn::Expr::MethodCall(call)) => {
                !numeric_call(&call.method.to_string(), call.args.len())
            }
            (ExprKind::Constant(_), syn::Expr::Call(call)) => match &*call.func {
                syn::Expr::Path(path) => is_associated(path) && !self.of_scalar(&path.path),
                _ => false,
            },
            (ExprKind::Constant(_), syn::Expr::Path(path)) => is_associated(path),
            _ => false,
        }
    }
}

impl Reverse<'_> {
    /// Where the pullback of an operator has an operand from. `needed` is whether the one of floats reads it.
    fn operand(&mut self, operand: ExprId, item: Item, needed: bool, at: &At) -> TokenStream {
        let by_mut = |e: ExprId| matches!(&self.program.exprs[e].kind, ExprKind::Read(place) if place.is_selected_mut());
        // Two closures cannot borrow what a method takes by `&mut`.
        if needed || self.program.tree(operand).into_iter().any(by_mut) {
            let value = self.value(operand, at);
            return quote!(|| #value);
        }
        let level = self.top();
        if self.free(operand, at, level) || self.is_float_variable(operand) {
            let text = self.text(operand, at, level);
            return quote!(|| #text);
        }
        let name = self.kept.keep(at.block, item, "operand");
        quote!(#name)
    }

    /// What would be kept of it is a number in any case.
    fn is_float_variable(&self, expr: ExprId) -> bool {
        let program = self.program;
        match &program.exprs[expr].kind {
            ExprKind::Read(place) => {
                let variable = &program.variables[place.base];
                place.projections.is_empty()
                    && variable.kind == Kind::Float
                    && !variable.memory
                    && !variable.by_reference()
            }
            _ => false,
        }
    }

    pub(crate) fn pull_negation(&mut self, expr: ExprId, operand: ExprId, d: &Cotangent, at: &At) {
        let source = self.operand(operand, Item::Left(expr), false, at);
        let call = quote!(__pb::pull_left(#source, || (), #d, __pb::operator::Neg));
        self.pull(operand, &Cotangent::term(call), at);
    }

    pub(crate) fn pull_operator(
        &mut self,
        expr: ExprId,
        op: Op,
        (left, right): (ExprId, ExprId),
        d: &Cotangent,
        at: &At,
    ) {
        let program = self.program;
        let (to_left, to_right) = (program.exprs[left].active, program.exprs[right].active);
        let (reads_left, reads_right) = match op {
            Op::Add | Op::Sub => (false, false),
            Op::Mul => (to_right, to_left),
            Op::Div => (to_right, true),
            Op::Rem => (to_right, to_right),
        };
        let of_left = self.operand(left, Item::Left(expr), reads_left, at);
        let of_right = self.operand(right, Item::Right(expr), reads_right, at);
        let marker = op.marker();
        match (to_left, to_right) {
            (true, true) => {
                let (first, second) = (self.kept.fresh("d"), self.kept.fresh("d"));
                self.emit(quote! {
                    let (#first, #second) = __pb::pull_both(#of_left, #of_right, #d, #marker);
                });
                self.pull(left, &Cotangent::atom(quote!(#first)), at);
                self.pull(right, &Cotangent::atom(quote!(#second)), at);
            }
            (true, false) => {
                let call = quote!(__pb::pull_left(#of_left, #of_right, #d, #marker));
                self.pull(left, &Cotangent::term(call), at);
            }
            (false, _) => {
                let call = quote!(__pb::pull_right(#of_left, #of_right, #d, #marker));
                self.pull(right, &Cotangent::term(call), at);
            }
        }
    }
}

impl Forward<'_> {
    /// The operands that the operator `expr` keeps.
    pub(crate) fn kept_operands(&self, expr: ExprId, block: BlockId) -> Vec<(Ident, TokenStream)> {
        let kept = |item, side: TokenStream| self.reverse.kept.name(block, item).map(|name| (name, side));
        kept(Item::Left(expr), quote!(left))
            .into_iter()
            .chain(kept(Item::Right(expr), quote!(right)))
            .collect()
    }

    /// Statements that keep them. Their declarations go before the statement.
    pub(crate) fn keep_operands(
        &mut self,
        kept: &[(Ident, TokenStream)],
        left: impl ToTokens,
        right: impl ToTokens,
    ) -> TokenStream {
        let mut out = TokenStream::new();
        for (name, side) in kept {
            self.before.extend(quote!(let #name;));
            out.extend(quote!(#name = (&__pb::Operands(&#left, &#right)).#side();));
        }
        out
    }

    /// The operand is a reference to a variable, of which the value is kept.
    pub(crate) fn is_borrow(&self, operand: ExprId) -> bool {
        matches!(self.program.exprs[self.program.peel(operand)].kind, ExprKind::Borrow { .. })
    }

    /// `left op right`, or `-left`, where an operand is kept; `referred` tells which are references.
    pub(crate) fn operator(
        &mut self,
        kept: &[(Ident, TokenStream)],
        op: Option<Op>,
        (left, right): (TokenStream, TokenStream),
        referred: (bool, bool),
    ) -> TokenStream {
        let (l, r) = (Program::fresh("left"), Program::fresh("right"));
        let value = |name: &Ident, referred: bool| if referred { quote!(*#name) } else { quote!(#name) };
        let keep = self.keep_operands(kept, value(&l, referred.0), value(&r, referred.1));
        match op {
            // In parentheses, since it may begin a statement.
            Some(op) => quote!(({ let (#l, #r) = (#left, #right); #keep #l #op #r })),
            None => quote!(({ let (#l, #r) = (#left, ()); #keep -#l })),
        }
    }
}
