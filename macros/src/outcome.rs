//! Functions that return an `Option` or a `Result` of a vector: what is inside is a local.
//!
//! Where such a function ends in several ways, each of them says how in one variable, puts its vector, if there is one, into
//! another, and leaves a block whose end puts the two together.

use proc_macro2::Span;
use syn::visit::{self, Visit};
use syn::{Expr as Syn, Ident, Stmt, parse_quote};

use crate::chosen::each_end;
use crate::contents::{leaves, wraps};
use crate::escape::statement_escapes;
use crate::holdable::{declared, name_of};
use crate::mutation::owned_type;
use crate::parse::Parser;
use crate::program::*;
use crate::rename::path;
use crate::returned::{Leaving, is_split, untold};

/// Names for what a function that returns an `Option` or a `Result` leaves behind.
pub(crate) struct Outcome {
    /// The variable that tells how the function ended.
    name: Ident,
    /// How a call has ended whose result is returned, and what was inside.
    how: Ident,
    inside: Ident,
    /// `Some` or `Ok`
    filled: Ident,
    /// The names of options that are flags and values: see [`crate::held`].
    held: Vec<Ident>,
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
        if let (false, Some(Stmt::Expr(Syn::Call(call), None))) = (ends_early(body), body.stmts.last())
            && let (Syn::Path(path), [value]) = (&*call.func, &call.args.iter().collect::<Vec<_>>()[..])
            && (path.path.is_ident("Some") || path.path.is_ident("Ok"))
        {
            let (before, returned) = (&body.stmts[..body.stmts.len() - 1], self.parts.fresh("returned"));
            return parse_quote!({ #(#before)* let #returned: #ty = #value; #path(#returned) });
        }
        let leaving = self.leaving_by_outcome(untold(ty), output, body);
        let (returned, blank) = (&leaving.returned, blank(ty));
        self.left_by_landing(
            &leaving,
            output,
            body,
            &[parse_quote!(let mut #returned: #ty = #blank;)],
            &path(returned),
        )
    }

    /// The same of a tuple with vectors in it, of which each part is a local; `None` if the function has one end, where they are.
    pub(crate) fn returning_parts_inside(
        &mut self,
        body: &syn::Block,
        output: &syn::Type,
    ) -> Option<syn::Block> {
        let chosen = |value: &Syn| matches!(value, Syn::If(_) | Syn::Match(_) | Syn::Block(_));
        let one_end =
            !ends_early(body) && !matches!(body.stmts.last(), Some(Stmt::Expr(value, None)) if chosen(value));
        let types = self.returned_parts(&inside_type(output)?).filter(|_| !one_end)?;
        let mut leaving = self.leaving_by_outcome(None, output, body);
        leaving.parts = self.locals_of_parts(&types);
        let names = leaving.parts.iter().map(|(name, _)| name);
        let locals: Vec<Stmt> = names
            .clone()
            .zip(&types)
            .map(|(name, ty)| {
                let blank = blank_part(&self.program, ty);
                parse_quote!(let mut #name: #ty = #blank;)
            })
            .collect();
        Some(self.left_by_landing(&leaving, output, body, &locals, &parse_quote!((#(#names),*))))
    }

    /// Names for what is left that is an `output`, an `Option` or a `Result` of a `ty`.
    fn leaving_by_outcome(
        &mut self,
        ty: Option<&syn::Type>,
        output: &syn::Type,
        body: &syn::Block,
    ) -> Leaving {
        let [name, how, inside] = ["outcome", "how", "inside"].map(|name| self.parts.fresh(name));
        let filled = Ident::new(if is_option(output) { "Some" } else { "Ok" }, Span::call_site());
        let held = if is_option(output) { declared(body) } else { Vec::new() };
        self.leaving(ty, Some(Outcome { name, how, inside, filled, held }))
    }

    /// The block that the function leaves instead of returning, behind the `locals` for what is inside, and what puts `inside` in its place.
    fn left_by_landing(
        &mut self,
        leaving: &Leaving,
        output: &syn::Type,
        body: &syn::Block,
        locals: &[Stmt],
        inside: &Syn,
    ) -> syn::Block {
        let body = leaving.body(body);
        let (label, how) = (&leaving.label, outcome_type(output));
        let outcome = &leaving.outcome.as_ref().expect("there is one").name;
        self.program.landing = Some(Landing { label: label.clone(), outcome: outcome.clone() });
        parse_quote!({
            #(#locals)*
            let #outcome: #how;
            #label: #body
            ::pullback::__private::fill(#inside, #outcome)
        })
    }
}

/// The function ends in other places than its last.
fn ends_early(body: &syn::Block) -> bool {
    let splits = |stmt: &Stmt| matches!(stmt, Stmt::Local(local) if is_split(local));
    body.stmts.iter().any(|stmt| splits(stmt) || statement_escapes(stmt))
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
            Syn::Path(path) if path.path.get_ident().is_some_and(|name| outcome.held.contains(name)) => {
                let inside = Program::fresh("held");
                let taken = parse_quote!(match #value { Some(#inside) => Some(#inside), None => None });
                self.leave_with(outcome, &taken, names)
            }
            value if !self.parts.is_empty() => {
                let filled = &outcome.filled;
                let exchange = self.exchange(&parse_quote!(#value?), names);
                parse_quote!({ #exchange #name = #filled(()); break #label; })
            }
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

/// `Some(x)` or `Ok(x)` stands in a branch, of an `x` that holds what a call has returned, in a block around that.
pub(crate) fn wraps_local_of_outer_block(body: &syn::Block) -> bool {
    #[derive(Default)]
    struct Wrapped {
        /// The names of what calls have returned, by the blocks that bind them.
        scopes: Vec<Vec<Ident>>,
        found: bool,
    }
    impl Wrapped {
        fn note(&mut self, value: &Syn, within: bool) {
            let Syn::Path(path) = value else { return };
            let outer = self.scopes.len() - usize::from(!within);
            let bound = |scope: &Vec<Ident>| scope.iter().any(|name| path.path.is_ident(name));
            self.found |= self.scopes[..outer].iter().any(bound);
        }
    }
    impl<'ast> Visit<'ast> for Wrapped {
        fn visit_block(&mut self, block: &'ast syn::Block) {
            self.scopes.push(Vec::new());
            visit::visit_block(self, block);
            self.scopes.pop();
        }
        fn visit_local(&mut self, local: &'ast syn::Local) {
            visit::visit_local(self, local);
            if let (Some(name), Some(init)) = (name_of(&local.pat), &local.init)
                && matches!(&*init.expr, Syn::Call(_) | Syn::MethodCall(_) | Syn::Try(_))
            {
                self.scopes.last_mut().expect("within a block").push(name.clone());
            }
        }
        fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
            visit::visit_expr_call(self, call);
            let wraps = matches!(&*call.func, Syn::Path(path) if path.path.is_ident("Some") || path.path.is_ident("Ok"));
            for value in call.args.iter().filter(|_| wraps) {
                let branches = matches!(value, Syn::If(_) | Syn::Match(_));
                each_end(&mut value.clone(), &mut |end| self.note(end, branches));
            }
        }
        fn visit_item(&mut self, _: &'ast syn::Item) {}
        fn visit_expr_closure(&mut self, _: &'ast syn::ExprClosure) {}
    }
    let mut wrapped = Wrapped::default();
    wrapped.visit_block(body);
    wrapped.found
}

/// What a local of this type, which owns memory, holds before it gets what is returned.
pub(crate) fn blank(ty: &syn::Type) -> Syn {
    match owned_type(ty) {
        true => parse_quote!(::core::default::Default::default()),
        false => parse_quote!((&::pullback::__private::Blanks::<#ty>::OF).blank()),
    }
}

/// The same of a part of a tuple, which may be a number.
fn blank_part(program: &Program, ty: &syn::Type) -> Syn {
    match program.kind_of_type(ty) {
        Kind::Float => parse_quote!(::pullback::__private::zero::<#ty>()),
        _ => parse_quote!(::core::default::Default::default()),
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
