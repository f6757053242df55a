//! Methods that constant code calls on what carries a gradient: a condition, a cast, an assertion. What they change nothing would undo, and
//! whether they change anything only the compiler knows. So they get something to read, which has none of those that take `&mut self`.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::visit_mut::{self, VisitMut};
use syn::{Expr as Syn, Ident};

use crate::calls::Callee;
use crate::given_to_macros::visit_given;
use crate::kind::reads_receiver;
use crate::program::*;
use crate::suspects::variable_of;

/// Has all constant code read only.
pub(crate) fn confine(program: &mut Program) {
    for expr in 0..program.exprs.len() {
        let ExprKind::Constant(constant) = &program.exprs[expr].kind else { continue };
        let mut syntax = program.exprs[expr].syntax.clone();
        let mut confine = Confine::new(program, &constant.mentions, &constant.aliases);
        confine.visit_expr_mut(&mut syntax);
        if confine.changed {
            program.exprs[expr].syntax = syntax;
            program.rewritten.insert(expr);
        }
    }
    for (block, statement) in program.observers() {
        let StatementKind::Opaque(opaque) = &program.blocks[block].statements[statement].kind else {
            continue;
        };
        let mut syntax = opaque.syntax.clone();
        let mut confine = Confine::new(program, &opaque.mentions, &opaque.aliases);
        confine.visit_stmt_mut(&mut syntax);
        if confine.changed {
            let block = &mut program.blocks[block];
            block.rewritten = true;
            if let StatementKind::Opaque(opaque) = &mut block.statements[statement].kind {
                opaque.syntax = syntax;
            }
        }
    }
}

/// `place`, of which methods that take `&mut self` are not to be called.
pub(crate) fn only_read(place: impl ToTokens, span: Span) -> TokenStream {
    quote_spanned!(span=> (*::pullback::__private::BindTheResultWithLetFirst::of(&#place)))
}

impl Program {
    /// The call is one of a method, of a type that the compiler knows, which may write to what it is called on. That need not carry a gradient.
    pub(crate) fn may_change_receiver(&self, call: ExprId) -> Option<&Variable> {
        let (receiver, name) = match &self.exprs[call].kind {
            ExprKind::Call { function: Callee::Method(name, _) | Callee::OfPart(name, _), args } => {
                (args[0], name)
            }
            ExprKind::Method { receiver, name, .. } => (*receiver, name),
            _ => return None,
        };
        let (ExprKind::Read(place) | ExprKind::Borrow { place, unique: false }) = &self.exprs[receiver].kind
        else {
            return None;
        };
        let variable = &self.variables[place.base];
        let unknown = self.kind_of_place(place) == Kind::Unknown && !reads_receiver(&name.to_string());
        (unknown && may_be_written(variable)).then_some(variable)
    }
}

/// It is not there to be read only.
fn may_be_written(variable: &Variable) -> bool {
    variable.mutable || variable.origin == Origin::Unique
}

/// The variable carries a gradient, and is, or a part of it, of a type whose methods may write to it.
fn may_change(variable: &Variable, part: bool) -> bool {
    let kind = if part { variable.kind.of_parts() } else { &variable.kind };
    variable.active && may_be_written(variable) && *kind == Kind::Unknown
}

/// Puts receivers of methods where they can be read only.
struct Confine<'p> {
    program: &'p Program,
    mentions: &'p [VarId],
    aliases: &'p [(Ident, Place)],
    changed: bool,
}

impl<'p> Confine<'p> {
    fn new(program: &'p Program, mentions: &'p [VarId], aliases: &'p [(Ident, Place)]) -> Self {
        Confine { program, mentions, aliases, changed: false }
    }

    /// See [`may_change`].
    fn may_be_changed(&self, receiver: &Syn) -> bool {
        let (Some(name), part) = (variable_of(receiver), !matches!(receiver, Syn::Path(_))) else {
            return false;
        };
        let Some(id) = self.program.meant_by(name, self.mentions, self.aliases) else { return false };
        may_change(&self.program.variables[id], part)
    }
}

impl VisitMut for Confine<'_> {
    fn visit_expr_method_call_mut(&mut self, call: &mut syn::ExprMethodCall) {
        visit_mut::visit_expr_method_call_mut(self, call);
        if reads_receiver(&call.method.to_string()) || !self.may_be_changed(&call.receiver) {
            return;
        }
        *call.receiver = Syn::Verbatim(only_read(&call.receiver, call.method.span()));
        self.changed = true;
    }
    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        visit_given(mac, |arg| self.visit_expr_mut(arg));
    }
}
