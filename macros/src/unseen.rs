//! What constant code writes to variables of which nothing tells that they are numbers: the compiler confirms that it carries no gradient.

use proc_macro2::Span;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, Token};

use crate::effects::Written;
use crate::given_to_macros::visit_given;
use crate::kind::{assigns, changes_receiver, inert, inert_method};
use crate::suspects::variable_of;

/// Wraps what is written where it may carry a gradient.
pub(crate) struct Unseen<'w, 'p> {
    pub(crate) written: &'w Written<'p>,
    /// There is any.
    pub(crate) any: bool,
}

impl Unseen<'_, '_> {
    /// `value` becomes of the variable that `place` is a part of, or of those in a pattern.
    fn into<'v>(&mut self, place: &Expr, values: impl IntoIterator<Item = &'v mut Expr>) {
        if !self.untold(place) {
            return;
        }
        for value in values {
            if !matches!(value, Expr::Reference(reference) if reference.mutability.is_some())
                && self.written.carries([&*value])
            {
                let confirmed = syn::parse_quote_spanned!(value.span().resolved_at(Span::call_site())=> ::pullback::__private::unseen(#value));
                *value = confirmed;
                self.any = true;
            }
        }
    }

    fn untold(&self, place: &Expr) -> bool {
        if let Expr::Tuple(tuple) = place {
            return tuple.elems.iter().any(|element| self.untold(element));
        }
        let Written { program, mentions, aliases, .. } = self.written;
        let id = variable_of(place).and_then(|name| program.meant_by(name, mentions, aliases));
        id.is_some_and(|id| {
            let variable = &program.variables[id];
            !variable.active && !variable.constant && !inert(&variable.kind)
        })
    }
}

impl VisitMut for Unseen<'_, '_> {
    fn visit_expr_assign_mut(&mut self, assign: &mut syn::ExprAssign) {
        visit_mut::visit_expr_assign_mut(self, assign);
        self.into(&assign.left, [&mut *assign.right]);
    }
    fn visit_expr_binary_mut(&mut self, binary: &mut syn::ExprBinary) {
        visit_mut::visit_expr_binary_mut(self, binary);
        if assigns(&binary.op) {
            self.into(&binary.left, [&mut *binary.right]);
        }
    }
    fn visit_expr_method_call_mut(&mut self, call: &mut syn::ExprMethodCall) {
        visit_mut::visit_expr_method_call_mut(self, call);
        let method = call.method.to_string();
        self.lent(&method, &mut call.receiver);
        if changes_receiver(&method)
            || !inert_method(&method) && self.written.may_change(&call.receiver, &method)
        {
            self.into(&call.receiver, &mut call.args);
        }
        self.arguments(&mut call.args);
    }
    fn visit_expr_call_mut(&mut self, call: &mut syn::ExprCall) {
        visit_mut::visit_expr_call_mut(self, call);
        self.arguments(&mut call.args);
    }
    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        visit_given(mac, |arg| self.visit_expr_mut(arg));
    }
}

/// Methods that change what is not declared `mut`, or lend it to be changed.
const INTERIOR: &[&str] = &["borrow_mut", "set", "replace", "swap", "update", "lock", "write", "store"];

impl Unseen<'_, '_> {
    /// A method that lends what it is called on, or a part of it, to be changed: anything may become of that.
    fn lent(&mut self, method: &str, receiver: &mut Expr) {
        let Written { program, mentions, aliases, active, .. } = self.written;
        let id = variable_of(receiver).and_then(|name| program.meant_by(name, mentions, aliases));
        let Some(id) = id.filter(|_| *active && self.untold(receiver)) else { return };
        let lent: Expr = match program.variables[id].mutable {
            true if method.ends_with("_mut") || method == "entry" => {
                syn::parse_quote_spanned!(receiver.span()=> &mut #receiver)
            }
            false if INTERIOR.contains(&method) => syn::parse_quote_spanned!(receiver.span()=> &#receiver),
            _ => return,
        };
        *receiver = syn::parse_quote_spanned!(receiver.span().resolved_at(Span::call_site())=> (*::pullback::__private::unseen(#lent)));
        self.any = true;
    }

    /// What a call is given beside a `&mut` may become of that.
    fn arguments(&mut self, args: &mut Punctuated<Expr, Token![,]>) {
        let unique =
            |arg: &&Expr| matches!(arg, Expr::Reference(reference) if reference.mutability.is_some());
        let places: Vec<Expr> = args.iter().filter(unique).cloned().collect();
        for place in places {
            self.into(&place, &mut *args);
        }
    }
}
