//! `f(&[x, y], &g(x))`: what is borrowed for a call gets a name, as if written
//! `{ let a = [x, y]; let b = g(x); f(&a, &b) }`. Likewise for methods.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr as Syn, ExprAssign, Stmt, Token, UnOp};

use crate::escape::writes;
use crate::holdable::name_of;
use crate::kind::{changes_receiver, inert};
use crate::parse::{Binding, Parser};
use crate::program::{Kind, Program};
use crate::rename::Occurrences;
use crate::suspects::variable_of;

impl Parser<'_> {
    /// The call with names for the temporary values that it borrows, if there are any and nothing that is evaluated before
    /// them has an effect.
    pub(crate) fn with_named_temporaries(&mut self, call: &syn::ExprCall) -> Option<Syn> {
        let mut named = call.clone();
        let statements = self.name_temporaries(&mut named.args, &call.to_token_stream().to_string())?;
        Some(syn::parse_quote_spanned!(call.span()=> { #(#statements)* #named }))
    }

    /// The same for the call of a method, whose receiver is evaluated first.
    pub(crate) fn with_named_temporaries_of_method(&mut self, call: &syn::ExprMethodCall) -> Option<Syn> {
        let mut named = call.clone();
        // What unwraps the result stands behind the call.
        if let Syn::Call(inner) = &mut *named.receiver
            && let Some(statements) =
                self.name_temporaries(&mut inner.args, &call.to_token_stream().to_string())
        {
            return Some(syn::parse_quote_spanned!(call.span()=> { #(#statements)* #named }));
        }
        // An argument that writes would have to wait for the receiver.
        if !self.is_pure(&call.receiver) || call.args.iter().any(writes) {
            return None;
        }
        let mut named = call.clone();
        let statements = self.name_temporaries(&mut named.args, &call.to_token_stream().to_string())?;
        Some(syn::parse_quote_spanned!(call.span()=> { #(#statements)* #named }))
    }

    /// `acc = acc.times(&q.power(t));` with the temporaries in statements before it: what is assigned is the call then, which may have
    /// a reference to what it replaces.
    pub(crate) fn assigned_call(&mut self, assign: &ExprAssign) -> Option<Vec<Stmt>> {
        let name = variable_of(&assign.left)?;
        if Occurrences::of(&assign.right).count(name) == 0 {
            return None;
        }
        let named = match &*assign.right {
            Syn::Call(call) => self.with_named_temporaries(call)?,
            Syn::MethodCall(call) => self.with_named_temporaries_of_method(call)?,
            _ => return None,
        };
        let Syn::Block(mut named) = named else { return None };
        let Some(Stmt::Expr(call, None)) = named.block.stmts.pop() else { return None };
        let left = &assign.left;
        named.block.stmts.push(syn::parse_quote!(#left = #call;));
        Some(named.block.stmts)
    }

    /// `v.copy_from_slice(&[x, y]);` as `let value = [x, y]; v.copy_from_slice(&value);`
    pub(crate) fn write_of_temporary(
        &mut self,
        call: &syn::ExprMethodCall,
        semi: Option<Token![;]>,
    ) -> Option<Vec<Stmt>> {
        let (mut call, mut out) = (call.clone(), Vec::new());
        for arg in &mut call.args {
            let Syn::Reference(reference) = arg else { continue };
            if !self.suspects.any(&reference.expr) || !self.names_value(&reference.expr) {
                continue;
            }
            let (made, value, mutability) = (self.hidden("value"), &reference.expr, &reference.mutability);
            self.suspects.insert(&made);
            out.push(syn::parse_quote!(let #mutability #made = #value;));
            *reference.expr = syn::parse_quote!(#made);
        }
        if out.is_empty() || !changes_receiver(&call.method.to_string()) {
            return None;
        }
        out.push(Stmt::Expr(Syn::MethodCall(call), semi));
        Some(out)
    }

    /// The value is made where it is borrowed, and is no view.
    fn names_value(&self, value: &Syn) -> bool {
        let made = is_temporary(value) || matches!(value, Syn::Macro(mac) if mac.mac.path.is_ident("vec"));
        made && !matches!(value, Syn::MethodCall(call) if self.viewed(call).is_some())
    }

    /// `let w = &layer(x);` as `let value = layer(x); let w = &value;`
    pub(crate) fn let_temporary(&mut self, local: &syn::Local) -> Option<Vec<Stmt>> {
        let Syn::Reference(reference) = &*local.init.as_ref().filter(|init| init.diverge.is_none())?.expr
        else {
            return None;
        };
        let (pattern, mutability, value) = (&local.pat, &reference.mutability, &reference.expr);
        let name = name_of(pattern)?;
        if !self.names_value(value) || !self.suspects.contains(name) {
            return None;
        }
        let made = self.hidden("value");
        self.suspects.insert(&made);
        Some(vec![
            syn::parse_quote!(let #mutability #made = #value;),
            syn::parse_quote!(let #pattern = &#mutability #made;),
        ])
    }

    fn name_temporaries(&mut self, args: &mut Punctuated<Syn, Token![,]>, text: &str) -> Option<Vec<Stmt>> {
        let mut statements: Vec<Stmt> = Vec::new();
        let start = unused_start(text);
        let carries = args.iter().any(|arg| self.suspects.any(arg));
        for i in 0..args.len() {
            if carries && (makes_vector(&args[i]) || self.clones_constants(&args[i])) {
                let (name, value) = (Program::fresh(&format!("{start}_{i}")), &args[i]);
                // Of constants nothing else tells that they are a vector.
                let ty: Option<TokenStream> =
                    (!self.suspects.any(value)).then(|| quote!(: ::std::vec::Vec<_>));
                statements.push(syn::parse_quote!(let #name #ty = #value;));
                args[i] = syn::parse_quote!(#name);
                continue;
            }
            if args.iter().take(i).all(|before| self.is_pure(before))
                && let Some(named) = self.referred_call(&mut args[i])
            {
                statements.push(named);
                continue;
            }
            let Syn::Reference(reference) = &args[i] else {
                if !self.is_pure(&args[i]) && args.iter().skip(i).any(|later| self.borrows_temporary(later)) {
                    return None;
                }
                continue;
            };
            // What has no gradient is there for both passes as well, though making it again may do something else.
            let made = is_temporary(&reference.expr) || matches!(&*reference.expr, Syn::Macro(_));
            let once = made
                && !self.suspects.any(&reference.expr)
                && (!self.is_pure(&reference.expr) || allocates(&reference.expr));
            if !(self.borrows_temporary(&args[i]) || once && carries) {
                continue;
            }
            let name = Program::fresh(&format!("{start}_{i}"));
            let (mutability, value) = (&reference.mutability, &reference.expr);
            statements.push(syn::parse_quote!(let #mutability #name = #value;));
            let Syn::Reference(reference) = &mut args[i] else { unreachable!("as above") };
            *reference.expr = syn::parse_quote!(#name);
        }
        (!statements.is_empty()).then_some(statements)
    }

    /// A copy of a vector of constants.
    fn clones_constants(&self, arg: &Syn) -> bool {
        let Syn::MethodCall(call) = arg else { return false };
        let Syn::Path(path) = &*call.receiver else { return false };
        let constants = |kind: &Kind| matches!(kind, Kind::Sequence(_)) && inert(kind);
        call.method == "clone"
            && path.path.get_ident().is_some_and(|name| {
                matches!(self.lookup(name), Some(Binding::Variable(id)) if constants(&self.program.variables[*id].kind))
            })
    }

    /// `&value`, `value` being computed from variables with gradients, possibly.
    fn borrows_temporary(&self, arg: &Syn) -> bool {
        let Syn::Reference(reference) = arg else { return false };
        let carries = |id: usize| !inert(&self.program.variables[id].kind);
        let view = matches!(&*reference.expr, Syn::MethodCall(call) if self.viewed(call).is_some());
        is_temporary(&reference.expr)
            && !view
            && self.mentions(reference.expr.to_token_stream()).into_iter().any(carries)
    }
}

/// How names may start that occur nowhere in `text`.
pub(crate) fn unused_start(text: &str) -> String {
    let free = (0..).map(|n| format!("temporary{n}")).find(|start| !text.contains(start.as_str()));
    free.expect("there are enough numbers")
}

/// A vector by value, made where it is passed.
fn makes_vector(arg: &Syn) -> bool {
    match arg {
        Syn::Macro(mac) => mac.mac.path.is_ident("vec"),
        Syn::MethodCall(call) => call.method == "to_vec" && call.args.is_empty(),
        _ => false,
    }
}

/// The value owns memory that is allocated each time.
fn allocates(value: &Syn) -> bool {
    matches!(value, Syn::MethodCall(call) if ["collect", "to_owned", "to_string", "to_vec"].iter().any(|name| call.method == name))
}

fn is_temporary(value: &Syn) -> bool {
    match value {
        Syn::Paren(paren) => is_temporary(&paren.expr),
        Syn::Group(group) => is_temporary(&group.expr),
        Syn::Array(_) | Syn::Repeat(_) | Syn::Tuple(_) | Syn::Call(_) | Syn::MethodCall(_) => true,
        // What borrows cannot be bound.
        Syn::Struct(literal) => literal.fields.iter().all(|field| !matches!(field.expr, Syn::Reference(_))),
        Syn::Binary(_) | Syn::Cast(_) => true,
        Syn::Unary(unary) => matches!(unary.op, UnOp::Neg(_)),
        _ => false,
    }
}
