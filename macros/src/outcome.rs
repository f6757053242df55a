//! Functions that return an `Option` or a `Result` of a vector: what is inside is a local.
//!
//! Where such a function ends in several ways, each of them says how in one variable, puts its vector, if there is one, into
//! another, and leaves a block whose end puts the two together.

use syn::{Expr as Syn, Ident, Stmt, parse_quote};

use crate::contents::{leaves, wraps};
use crate::escape::statement_escapes;
use crate::mutation::owned_type;
use crate::parse::Parser;
use crate::program::*;
use crate::returned::{Leaving, is_split, untold};

/// Names for what a function that returns an `Option` or a `Result` leaves behind.
pub(crate) struct Outcome {
    /// The variable that tells how the function ended.
    name: Ident,
    /// How a call has ended whose result is returned, and what was inside.
    how: Ident,
    inside: Ident,
}

impl Parser<'_> {
    /// What ends the function with `value`, which carries no gradient.
    pub(crate) fn stop(&self, value: Syn) -> Stmt {
        match &self.program.landing {
            Some(Landing { label, outcome }) if self.closure_body.is_none() => {
                Stmt::Expr(parse_quote!({ #outcome = #value; break #label; }), None)
            }
            _ => parse_quote!(return #value;),
        }
    }

    /// The statement is the block that the function leaves instead of returning, and so is never left itself.
    pub(crate) fn is_landing(&self, stmt: &Stmt) -> bool {
        matches!((stmt, &self.program.landing), (Stmt::Expr(Syn::Block(syn::ExprBlock { label: Some(label), .. }), _), Some(landing))
            if label.name == landing.label)
    }

    /// The body of a function that returns an `Option` or a `Result` of a `ty`: what is inside is a local.
    pub(crate) fn returning_inside(
        &mut self,
        body: &syn::Block,
        output: &syn::Type,
        ty: &syn::Type,
    ) -> syn::Block {
        let splits = |stmt: &Stmt| matches!(stmt, Stmt::Local(local) if is_split(local));
        let early = body.stmts.iter().any(|stmt| splits(stmt) || statement_escapes(stmt));
        if let (false, Some(Stmt::Expr(Syn::Call(call), None))) = (early, body.stmts.last())
            && let (Syn::Path(path), [value]) = (&*call.func, &call.args.iter().collect::<Vec<_>>()[..])
            && (path.path.is_ident("Some") || path.path.is_ident("Ok"))
        {
            let (before, returned) = (&body.stmts[..body.stmts.len() - 1], self.parts.fresh("returned"));
            return parse_quote!({ #(#before)* let #returned: #ty = #value; #path(#returned) });
        }
        let [outcome, how, inside] = ["outcome", "how", "inside"].map(|name| self.parts.fresh(name));
        let leaving = self.leaving(untold(ty), Some(Outcome { name: outcome.clone(), how, inside }));
        let body = leaving.body(body);
        let Leaving { returned, label, .. } = leaving;
        let how = outcome_type(output);
        self.program.landing = Some(Landing { label: label.clone(), outcome: outcome.clone() });
        let blank = blank(ty);
        parse_quote!({
            let mut #returned: #ty = #blank;
            let #outcome: #how;
            #label: #body
            ::pullback::__private::fill(#returned, #outcome)
        })
    }
}

impl Leaving {
    /// What a `return` of `value`, an `Option` or a `Result`, becomes.
    pub(crate) fn leave_with(&self, outcome: &Outcome, value: &Syn, names: &mut Vec<Ident>) -> syn::Block {
        let (label, name) = (&self.label, &outcome.name);
        match value {
            Syn::Paren(paren) => self.leave_with(outcome, &paren.expr, names),
            Syn::Path(path) if path.path.is_ident("None") => {
                parse_quote!({ #name = None; break #label; })
            }
            Syn::Call(call)
                if let (Syn::Path(path), Some(inner)) = (&*call.func, call.args.first())
                    && path.path.get_ident().is_some_and(wraps) =>
            {
                if path.path.is_ident("Err") {
                    return parse_quote!({ #name = #value; break #label; });
                }
                let exchange = self.exchange(inner, names);
                parse_quote!({ #exchange #name = #path(()); break #label; })
            }
            Syn::If(branch) if let Some((_, otherwise)) = &branch.else_branch => {
                let cond = &branch.cond;
                let then = self.leave_block(outcome, &branch.then_branch, names);
                let otherwise = self.leave_with(outcome, otherwise, names);
                parse_quote!({ if #cond #then else #otherwise })
            }
            Syn::Match(m) => {
                let mut m = m.clone();
                for arm in &mut m.arms {
                    let body = self.leave_with(outcome, &arm.body, names);
                    *arm.body = parse_quote!(#body);
                }
                parse_quote!({ #m })
            }
            Syn::Block(block) if block.label.is_none() => self.leave_block(outcome, &block.block, names),
            value if leaves(value) => parse_quote!({ #value }),
            value => {
                let Outcome { how, inside, .. } = outcome;
                let (returned, early) = (&self.returned, Program::fresh("early"));
                parse_quote!({
                    let (#how, mut #inside) = ::pullback::__private::split(#value);
                    if #inside.is_some() {
                        let mut #early = ::pullback::__private::take_out(&mut #inside);
                        ::core::mem::swap(&mut #returned, &mut #early);
                    }
                    #name = #how;
                    break #label;
                })
            }
        }
    }

    fn leave_block(&self, outcome: &Outcome, block: &syn::Block, names: &mut Vec<Ident>) -> syn::Block {
        let mut block = block.clone();
        if let Some(Stmt::Expr(value, None)) = block.stmts.pop_if(|last| matches!(last, Stmt::Expr(_, None)))
        {
            block.stmts.extend(self.leave_with(outcome, &value, names).stmts);
        }
        block
    }
}

/// What a local of this type, which owns memory, holds before it gets what is returned.
pub(crate) fn blank(ty: &syn::Type) -> Syn {
    match owned_type(ty) {
        true => parse_quote!(::core::default::Default::default()),
        false => parse_quote!((&::pullback::__private::Blanks::<#ty>::OF).blank()),
    }
}

/// What is inside a type that is an `Option` or a `Result`.
pub(crate) fn inside_type(ty: &syn::Type) -> Option<syn::Type> {
    let mut arguments = arguments(ty)?.args.iter();
    arguments.find_map(|argument| match argument {
        syn::GenericArgument::Type(ty) => Some(ty.clone()),
        _ => None,
    })
}

/// It is an `Option`, by its name.
pub(crate) fn is_option(ty: &syn::Type) -> bool {
    matches!(ty, syn::Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Option"))
}

fn arguments(ty: &syn::Type) -> Option<&syn::AngleBracketedGenericArguments> {
    let syn::Type::Path(path) = ty else { return None };
    let last = path.path.segments.last()?;
    match &last.arguments {
        syn::PathArguments::AngleBracketed(arguments) if last.ident == "Option" || last.ident == "Result" => {
            Some(arguments)
        }
        _ => None,
    }
}

/// The same type with nothing inside.
fn outcome_type(output: &syn::Type) -> syn::Type {
    let mut output = output.clone();
    if let syn::Type::Path(path) = &mut output
        && let Some(last) = path.path.segments.last_mut()
        && let syn::PathArguments::AngleBracketed(arguments) = &mut last.arguments
        && let Some(inside) =
            arguments.args.iter_mut().find(|argument| matches!(argument, syn::GenericArgument::Type(_)))
    {
        *inside = parse_quote!(());
    }
    output
}
