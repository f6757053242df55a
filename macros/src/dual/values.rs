//! Code that carries no gradient looks at the values of dual numbers.

use std::collections::HashMap;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::visit_mut::VisitMut;
use syn::{Expr as Syn, Ident};

use crate::calls::{Callee, is_associated};
use crate::chosen::{each_end, ends_of};
use crate::contents::leaves;
use crate::dual::companion::ON_DUALS;
use crate::given_to_macros::visit_given;
use crate::kind::numeric_method;
use crate::lift::is_held_constant;
use crate::program::Kind;
use crate::rename::bound;

/// Puts the values of dual numbers in their place: those of variables that the syntax tells to be numbers, and of elements. What is
/// left compares as its value does.
pub(super) struct Values {
    /// The active variables.
    pub(super) known: HashMap<String, Kind>,
    /// Within `constant(…)`, where functions are called that are generic, and have no rule.
    pub(super) held: bool,
}

impl Values {
    fn kind(&self, expr: &Syn) -> Kind {
        match expr {
            Syn::Path(path) => {
                let name = path.path.get_ident().map(ToString::to_string);
                name.and_then(|name| self.known.get(&name)).cloned().unwrap_or(Kind::Unknown)
            }
            Syn::Paren(paren) => self.kind(&paren.expr),
            Syn::Reference(reference) => self.kind(&reference.expr),
            Syn::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => self.kind(&unary.expr),
            Syn::Index(index) => match self.kind(&index.expr) {
                Kind::Sequence(_) if matches!(&*index.index, Syn::Range(_)) => self.kind(&index.expr),
                Kind::Sequence(element) => *element,
                _ => Kind::Unknown,
            },
            _ => Kind::Unknown,
        }
    }

    /// The call of a function of the user's, which is given more than numbers.
    fn takes_dual_numbers(&self, call: &syn::ExprCall) -> bool {
        fn whole(arg: &Syn) -> Option<&Ident> {
            match arg {
                Syn::Path(path) => path.path.get_ident(),
                Syn::Paren(paren) => whole(&paren.expr),
                Syn::Reference(reference) => whole(&reference.expr),
                Syn::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => whole(&unary.expr),
                Syn::Index(index) if matches!(&*index.index, Syn::Range(_)) => whole(&index.expr),
                _ => None,
            }
        }
        let given = |arg: &Syn| {
            let kind = whole(arg).and_then(|name| self.known.get(&name.to_string()));
            kind.is_some_and(|kind| matches!(kind, Kind::Sequence(_)))
        };
        let of_user = |path: &syn::ExprPath| {
            let last = path.path.segments.last().map(|last| last.ident.to_string());
            !is_associated(path) && last.is_some_and(|last| last.starts_with(char::is_lowercase))
        };
        !self.held && matches!(&*call.func, Syn::Path(path) if of_user(path)) && call.args.iter().any(given)
    }

    /// `x.get(i).copied()`
    fn is_option_of_number(&self, expr: &Syn) -> bool {
        let Syn::MethodCall(copied) = expr else { return false };
        let Syn::MethodCall(part) = &*copied.receiver else { return false };
        let one = |call: &syn::ExprMethodCall, names: &[&str]| names.iter().any(|name| call.method == name);
        one(copied, &["copied", "cloned"])
            && one(part, &["get", "first", "last"])
            && !part.args.iter().any(|arg| matches!(arg, Syn::Range(_)))
            && matches!(self.kind(&part.receiver), Kind::Sequence(element) if *element == Kind::Float)
    }
}

impl Values {
    /// Active variables are in it.
    fn is_active(&self, expr: &Syn) -> bool {
        let mut names = expr.to_token_stream().into_iter().collect::<Vec<_>>();
        let mut active = false;
        while let Some(token) = names.pop() {
            match token {
                TokenTree::Group(group) => names.extend(group.stream()),
                TokenTree::Ident(name) => active |= self.known.contains_key(&name.to_string()),
                _ => {}
            }
        }
        active
    }

    /// `chain.next().unwrap_or(0.5)`, of a chain that may be one of dual numbers, which the other number is not, or will not be.
    fn is_number_or_other(&self, call: &syn::ExprMethodCall) -> bool {
        call.method == "unwrap_or"
            && call.args.len() == 1
            && self.is_float(&call.args[0])
            && self.is_active(&call.receiver)
    }

    /// `x.iter()`, and the same in another order or without some, whose items are references to numbers.
    fn is_iterator_of_numbers(&self, expr: &Syn) -> bool {
        let Syn::MethodCall(call) = expr else { return false };
        match &*call.method.to_string() {
            "iter" => matches!(self.kind(&call.receiver), Kind::Sequence(element) if *element == Kind::Float),
            "rev" | "skip" | "take" | "step_by" | "filter" | "skip_while" | "take_while" => {
                self.is_iterator_of_numbers(&call.receiver)
            }
            _ => false,
        }
    }

    /// `sum::<f64>()`, or the product.
    fn is_sum_of_floats(&self, call: &syn::ExprMethodCall) -> bool {
        let of_floats = |types: &syn::AngleBracketedGenericArguments| matches!(types.args.first(), Some(syn::GenericArgument::Type(syn::Type::Path(ty))) if ty.path.is_ident("f64"));
        (call.method == "sum" || call.method == "product")
            && call.turbofish.as_ref().is_some_and(of_floats)
            && self.is_active(&call.receiver)
    }

    /// What items of an iterator, and arguments of closures, come to is computed with floats.
    fn visit_chain(&mut self, call: &mut syn::ExprMethodCall) {
        let receiver = &call.receiver;
        let name = call.method.to_string();
        if let ("copied" | "cloned", true) = (&*name, self.is_iterator_of_numbers(receiver)) {
            call.method = syn::Ident::new("map", call.method.span());
            call.args.push(syn::parse_quote!(__pb::value_of));
        } else if self.is_sum_of_floats(call) {
            *call.receiver = syn::parse_quote!(#receiver.map(__pb::value_of));
        } else if numeric_method(&name) && self.is_float(receiver) {
            for arg in call.args.iter_mut().filter(|arg| self.is_active(arg)) {
                *arg = syn::parse_quote!(__pb::value_of(#arg));
            }
        }
    }

    /// A float, as far as the syntax tells.
    fn is_float(&self, expr: &Syn) -> bool {
        match expr {
            Syn::Lit(lit) => matches!(lit.lit, syn::Lit::Float(_)),
            // `f64::INFINITY`
            Syn::Path(path) if path.path.segments.len() == 2 => path.path.segments[0].ident == "f64",
            Syn::Paren(paren) => self.is_float(&paren.expr),
            Syn::Unary(unary) => self.kind(expr) == Kind::Float || self.is_float(&unary.expr),
            Syn::Binary(binary) => {
                use syn::BinOp::{Add, Div, Mul, Rem, Sub};
                matches!(binary.op, Add(_) | Sub(_) | Mul(_) | Div(_) | Rem(_))
                    && (self.is_float(&binary.left) || self.is_float(&binary.right))
            }
            Syn::MethodCall(call) => {
                numeric_method(&call.method.to_string()) && self.is_float(&call.receiver)
            }
            expr => self.kind(expr) == Kind::Float,
        }
    }

    /// `chain.fold(0.0, |sum, x| …)` of a chain with active variables, where what is summed up is a float.
    fn is_fold_of_floats(&self, call: &syn::ExprMethodCall) -> bool {
        call.method == "fold"
            && call.args.len() == 2
            && matches!(&call.args[1], Syn::Closure(closure) if closure.inputs.len() == 2)
            && self.is_float(&call.args[0])
            && self.is_active(&call.receiver)
    }

    fn visit_fold(&mut self, call: &mut syn::ExprMethodCall) {
        let item = if self.is_iterator_of_numbers(&call.receiver) { Kind::Float } else { Kind::Unknown };
        self.visit_expr_mut(&mut call.receiver);
        self.visit_expr_mut(&mut call.args[0]);
        let Syn::Closure(closure) = &mut call.args[1] else { unreachable!("as asked before") };
        let bound_to = |i: usize| bound(&closure.inputs[i]);
        let own = bound_to(0).into_iter().map(|name| (name, Kind::Float));
        let own = own.chain(bound_to(1).into_iter().map(|name| (name, item.clone())));
        let outer = self.known.clone();
        self.known.extend(own.map(|(name, kind)| (name.to_string(), kind)));
        self.visit_expr_mut(&mut closure.body);
        self.known = outer;
        let body = &closure.body;
        *closure.body = syn::parse_quote!(__pb::value_of(#body));
    }

    /// Where branches end in floats, all do: those of which nothing tells that they end in dual numbers as well.
    fn agree(&self, branches: &mut Syn) {
        let mut ends = Vec::new();
        ends_of(branches, &mut ends);
        if !ends.into_iter().any(|end| self.is_float(end)) {
            return;
        }
        each_end(branches, &mut |end| {
            if self.is_active(end) && self.kind(end) != Kind::Float && !leaves(end) {
                *end = syn::parse_quote!(__pb::value_of(#end));
            }
        });
    }

    /// The indices in front of a last one.
    fn visit_indices(&mut self, expr: &mut Syn) {
        match expr {
            Syn::Index(index) => {
                self.visit_expr_mut(&mut index.index);
                self.visit_indices(&mut index.expr);
            }
            Syn::Paren(paren) => self.visit_indices(&mut paren.expr),
            Syn::Unary(unary) => self.visit_indices(&mut unary.expr),
            _ => {}
        }
    }
}

impl VisitMut for Values {
    fn visit_expr_mut(&mut self, expr: &mut Syn) {
        match expr {
            Syn::Path(_) if self.kind(expr) == Kind::Float => {
                *expr = syn::parse_quote!(__pb::value_of(#expr))
            }
            Syn::Unary(unary) if self.kind(expr_of(unary)) == Kind::Float => {
                if let (syn::UnOp::Deref(_), Syn::Path(_)) = (&unary.op, &*unary.expr) {
                    // Read through whatever reference it is.
                    *expr = syn::parse_quote!(__pb::value_of(&#unary));
                    return;
                }
                if matches!(unary.op, syn::UnOp::Deref(_)) {
                    *expr = (*unary.expr).clone();
                    return self.visit_expr_mut(expr);
                }
                syn::visit_mut::visit_expr_mut(self, expr);
            }
            Syn::Index(index) => {
                let number = self.kind(&Syn::Index(index.clone())) == Kind::Float;
                self.visit_expr_mut(&mut index.index);
                if number {
                    self.visit_indices(&mut index.expr);
                    *expr = syn::parse_quote!(__pb::value_of(#expr));
                } else {
                    syn::visit_mut::visit_expr_mut(self, expr);
                }
            }
            Syn::MethodCall(call)
                if self.is_option_of_number(&call.receiver) || self.is_number_or_other(call) =>
            {
                syn::visit_mut::visit_expr_mut(self, expr);
                let Syn::MethodCall(call) = expr else { return };
                let option = &call.receiver;
                *call.receiver = syn::parse_quote!(#option.map(__pb::value_of));
                if let ("unwrap_or", Some(other)) = (&*call.method.to_string(), call.args.first_mut())
                    && !matches!(other, Syn::Lit(_))
                {
                    *other = syn::parse_quote!(__pb::value_of(#other));
                }
            }
            Syn::If(_) => {
                self.agree(expr);
                syn::visit_mut::visit_expr_mut(self, expr);
            }
            Syn::Match(m) => {
                let number = self.is_float(&m.expr);
                self.visit_expr_mut(&mut m.expr);
                let outer = self.known.clone();
                if number {
                    let names = m.arms.iter().flat_map(|arm| bound(&arm.pat));
                    self.known.extend(names.map(|name| (name.to_string(), Kind::Float)));
                }
                self.agree(expr);
                if let Syn::Match(m) = expr {
                    m.arms.iter_mut().for_each(|arm| self.visit_arm_mut(arm));
                }
                self.known = outer;
            }
            Syn::MethodCall(call) if self.is_fold_of_floats(call) => self.visit_fold(call),
            Syn::MethodCall(call) => {
                self.visit_chain(call);
                syn::visit_mut::visit_expr_mut(self, expr);
            }
            Syn::Call(call) if is_held_constant(call) => {
                let outer = std::mem::replace(&mut self.held, true);
                syn::visit_mut::visit_expr_call_mut(self, call);
                self.held = outer;
            }
            Syn::Call(call) if self.takes_dual_numbers(call) => {
                call.args.iter_mut().for_each(|arg| self.visit_expr_mut(arg));
                let Syn::Path(function) = &mut *call.func else { unreachable!("as above") };
                of_floats(&mut function.path);
                let args: Vec<_> = call.args.iter().map(ToTokens::to_token_stream).collect();
                *expr = Syn::Verbatim(Callee::OnDuals(function.path.clone()).primal(&args));
            }
            Syn::Call(call) => {
                if let Syn::Path(function) = &mut *call.func {
                    of_floats(&mut function.path);
                }
                syn::visit_mut::visit_expr_call_mut(self, call);
            }
            Syn::Closure(closure) => {
                let parameters = closure.inputs.iter().flat_map(bound);
                let hidden: Vec<_> =
                    parameters.filter_map(|name| self.known.remove_entry(&name.to_string())).collect();
                syn::visit_mut::visit_expr_closure_mut(self, closure);
                self.known.extend(hidden);
            }
            Syn::Cast(_) => {
                syn::visit_mut::visit_expr_mut(self, expr);
                let Syn::Cast(cast) = expr else { return };
                if !matches!(&*cast.expr, Syn::Lit(_)) {
                    let (value, ty) = (&cast.expr, &cast.ty);
                    *expr = syn::parse_quote!(__pb::Cast::<#ty>::cast(#value));
                }
            }
            _ => syn::visit_mut::visit_expr_mut(self, expr),
        }
    }
    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        visit_given(mac, |arg| self.visit_expr_mut(arg));
    }
}

/// The function itself is called, by the name of its companion.
pub(super) fn calls_itself(code: impl ToTokens) -> bool {
    fn named(tokens: TokenStream) -> bool {
        tokens.into_iter().any(|token| match token {
            TokenTree::Group(group) => named(group.stream()),
            TokenTree::Ident(name) => name.to_string().ends_with(ON_DUALS),
            _ => false,
        })
    }
    named(code.into_token_stream())
}

/// The function that a companion is of.
pub(super) fn of_floats(function: &mut syn::Path) {
    if let Some(last) = function.segments.last_mut()
        && let Some(own) = last.ident.to_string().strip_suffix(ON_DUALS)
    {
        last.ident = Ident::new(own, last.ident.span());
    }
}

fn expr_of(unary: &syn::ExprUnary) -> &Syn {
    &unary.expr
}
