//! References that may be missing as arguments: `f(x, Some(&w))`, `f(x, model.bias.as_deref())`, and `f(x, w)` of a parameter that is one.
//! `f(x, None)` is a value like others.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Expr as Syn, Ident};

use crate::parse::Parser;
use crate::program::{ExprId, ExprKind, Kind, Program};

/// How an argument is made of a reference.
pub(crate) enum Missing {
    /// `Some(&w)`
    There,
    /// The reference is to the argument itself.
    Itself,
    /// `bias.as_deref()`: by this method of what is referred to.
    By(Ident),
}

impl Parser<'_> {
    /// The reference that `arg` is made of, if it is one that may be missing.
    pub(crate) fn optional_argument(&mut self, arg: &Syn) -> Option<ExprId> {
        let (inner, made) = match arg {
            Syn::Call(call)
                if call.args.len() == 1 && is_some(&call.func) && self.refers_to_array(&call.args[0]) =>
            {
                (call.args[0].clone(), Missing::There)
            }
            Syn::MethodCall(call) if call.args.is_empty() && is_view(&call.method) => {
                let receiver = &call.receiver;
                self.place(receiver).filter(|_| self.suspects.any(receiver))?;
                (syn::parse_quote!(&#receiver), Missing::By(call.method.clone()))
            }
            arg if self.may_be_missing(arg) => (arg.clone(), Missing::Itself),
            _ => return None,
        };
        let id = self.argument_itself(&inner);
        let borrowed = matches!(self.program.exprs[id].kind, ExprKind::Borrow { unique: false, .. });
        if borrowed {
            self.program.optional.insert(id, made);
        }
        borrowed.then_some(id)
    }

    /// It is the name of a parameter that is such a reference.
    pub(crate) fn may_be_missing(&self, expr: &Syn) -> bool {
        self.variable(expr).is_some_and(|id| self.program.variables[id].optional)
    }

    /// `&w` and `&w[1..]`, and names of references to what is more than a number.
    fn refers_to_array(&mut self, inner: &Syn) -> bool {
        match inner {
            Syn::Reference(reference) => reference.mutability.is_none() && self.suspects.any(inner),
            Syn::Path(path) => {
                let name = path.path.get_ident();
                let reference = name.is_some_and(|name| self.is_reference(name));
                let place = self.place(inner).filter(|_| reference);
                place.is_some_and(|place| {
                    let itself = place.projections.is_empty() && self.program.variables[place.base].optional;
                    !itself && self.program.kind_of_place(&place) != Kind::Float
                })
            }
            _ => false,
        }
    }
}

impl Parser<'_> {
    /// Refuses what else is done with such parameters as a whole.
    pub(crate) fn refuse_optional_values(&mut self) {
        for node in &self.program.exprs {
            if let ExprKind::Read(place) = &node.kind
                && self.program.variables[place.base].optional
                && place.projections.is_empty()
            {
                self.errors.push(
                    &node.syntax,
                    "an `Option` of a reference is differentiable where it is taken apart, by `match`, `if let`, `let … else`, `map_or` and the \
                     like, and as an argument, by its name",
                );
            }
        }
    }
}

impl Program {
    /// The argument, of the reference that it is made of.
    pub(crate) fn made_optional(&self, arg: ExprId, reference: TokenStream) -> TokenStream {
        match self.optional.get(&arg) {
            Some(Missing::There) => quote!(Some(#reference)),
            Some(Missing::Itself) => quote!(*#reference),
            Some(Missing::By(method)) => quote!((#reference).#method()),
            None => reference,
        }
    }
}

/// `&value`, or an `Option` of it.
pub(crate) fn refers_to_value(arg: &Syn) -> bool {
    match arg {
        Syn::Call(call) => is_some(&call.func) && call.args.first().is_some_and(refers_to_value),
        arg => matches!(arg, Syn::Reference(_)),
    }
}

fn is_some(function: &Syn) -> bool {
    matches!(function, Syn::Path(path) if path.path.is_ident("Some"))
}

fn is_view(method: &Ident) -> bool {
    method == "as_ref" || method == "as_deref"
}
