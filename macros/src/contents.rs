//! Vectors in an `Option` or a `Result`: what a pattern moves out of what a call has returned.
//!
//! `match f(x) { Some(v) => …, None => … }` becomes
//!
//! ```text
//! let (outcome, mut inside) = split(f(x));
//! if inside.is_some() { let v = take_out(&mut inside); … } else { … }
//! ```
//!
//! and so do `if let` and `let … else`. The reverse pass puts back what was taken out, along with its shadow. That `v` owns memory
//! is guessed from what is done with it; of plain data, the same code would be right.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Expr as Syn, Ident, Pat, Stmt, parse_quote};

use crate::escape::is_left;
use crate::kind::changes_receiver;
use crate::mutation::{Action, owned_type};
use crate::parse::Parser;
use crate::program::*;
use crate::uses::is_name;

/// The pattern of what is inside, and the rest of the arms.
struct Parted<'s> {
    inside: &'s Pat,
    then: Syn,
    otherwise: Otherwise<'s>,
}

/// What is done where there is nothing inside.
enum Otherwise<'s> {
    Always(Syn),
    /// By the error.
    Errors(Vec<(&'s Pat, &'s Syn)>),
}

/// Where a vector may be taken out.
struct Source {
    /// What goes before.
    split: Option<Stmt>,
    /// There is one.
    exists: Syn,
    /// It, taken out.
    taken: Syn,
    /// How the call ended that has returned it.
    outcome: Option<Ident>,
}

impl Parser<'_> {
    /// `if let Some(v) = f(x) { … } else { … }`
    pub(crate) fn if_inside(&mut self, branch: &syn::ExprIf) -> Option<Syn> {
        let Syn::Let(binding) = &*branch.cond else { return None };
        let (inside, block) = (inside(&binding.pat)?, &branch.then_branch);
        let source = self.source_of(&binding.expr, inside, &block.stmts)?;
        let otherwise = match &branch.else_branch {
            Some((_, otherwise)) => (**otherwise).clone(),
            None => parse_quote!({}),
        };
        Some(
            Parted { inside, then: parse_quote!(#block), otherwise: Otherwise::Always(otherwise) }
                .tokens(source),
        )
    }

    /// `match f(x) { Some(v) => …, None => … }`
    pub(crate) fn match_inside(&mut self, m: &syn::ExprMatch) -> Option<Syn> {
        let parted = arms(m)?;
        let source = self.source_of(&m.expr, parted.inside, &[Stmt::Expr(parted.then.clone(), None)])?;
        Some(parted.tokens(source))
    }

    /// `let Some(v) = f(x) else { … };`, `let v = f(x)?;` and `let v = match f(x) { Some(v) => v, None => … };`, in front of `rest`.
    pub(crate) fn let_inside<'s>(
        &mut self,
        local: &syn::Local,
        rest: impl IntoIterator<Item = &'s Stmt>,
    ) -> Option<Vec<Stmt>> {
        let init = local.init.as_ref()?;
        let (pattern, ty) = match &local.pat {
            Pat::Type(typed) => (&*typed.pat, Some(&typed.ty)),
            pattern => (pattern, None),
        };
        let told = ty.is_some_and(|ty| owned_type(ty)) && is_name(pattern);
        let (pattern, whole, parted) = match (&init.diverge, &*init.expr) {
            (Some(_), whole) => (inside(pattern)?, whole, None),
            (None, Syn::Try(tried)) => (pattern, &*tried.expr, None),
            (None, Syn::Match(m)) => (pattern, &*m.expr, Some(arms(m)?)),
            _ => return None,
        };
        if parted.as_ref().is_some_and(|parted| !parted.yields()) {
            return None;
        }
        let Source { split, exists, taken, outcome } = match told {
            true => self.halves(whole)?,
            false => self.source_of(whole, pattern, rest)?,
        };
        let otherwise = match (&init.diverge, &parted) {
            (Some((_, diverge)), _) => quote!(#diverge),
            (None, None) => {
                let stop = self.stop(parse_quote!(::pullback::__private::stop_with(#outcome)));
                quote!({ #stop })
            }
            (None, Some(parted)) => parted.otherwise.tokens(outcome.as_ref()),
        };
        let ty = ty.map(|ty| quote!(: #ty));
        let mut out: Vec<Stmt> = split.into_iter().collect();
        if parted.is_none_or(|parted| parted.otherwise.leaves()) {
            out.push(parse_quote!(if !(#exists) #otherwise));
            out.push(parse_quote!(let #pattern #ty = #taken;));
        } else {
            out.push(parse_quote!(let #pattern #ty = if #exists { #taken } else #otherwise;));
        }
        Some(out)
    }

    /// Where `whole` may have a vector that `pattern` gets, as what is done with that in `scope` tells.
    fn source_of<'s>(
        &mut self,
        whole: &Syn,
        pattern: &Pat,
        scope: impl IntoIterator<Item = &'s Stmt>,
    ) -> Option<Source> {
        if !is_name(pattern) {
            return None;
        }
        if let Some(rows) = self.popped_from(whole) {
            let (exists, taken) = (parse_quote!(!#rows.is_empty()), parse_quote!(#whole.unwrap()));
            return Some(Source { split: None, exists, taken, outcome: None });
        }
        if self.is_handled(pattern, scope) { self.halves(whole) } else { None }
    }

    /// `let (outcome, mut inside) = split(whole);`, if `whole` is a call that may carry a gradient.
    fn halves(&mut self, whole: &Syn) -> Option<Source> {
        let called = match whole {
            Syn::Call(call) => {
                let fills =
                    |path: &syn::ExprPath| path.path.segments.last().is_some_and(|last| wraps(&last.ident));
                self.closure(&call.func).is_none()
                    && !self.chooses(call)
                    && !matches!(&*call.func, Syn::Path(path) if fills(path))
            }
            Syn::MethodCall(call) => !changes_receiver(&call.method.to_string()),
            _ => false,
        };
        if !called || !self.suspects.any(whole) {
            return None;
        }
        let (outcome, inside) = (self.parts.fresh("outcome"), self.parts.fresh("inside"));
        Some(Source {
            split: Some(parse_quote!(let (#outcome, mut #inside) = ::pullback::__private::split(#whole);)),
            exists: parse_quote!(#inside.is_some()),
            taken: parse_quote!(::pullback::__private::take_out(&mut #inside)),
            outcome: Some(outcome),
        })
    }

    /// The calls that this module writes.
    pub(crate) fn contents(
        &mut self,
        expr: &Syn,
        call: &syn::ExprCall,
        function: &syn::Path,
    ) -> Option<ExprId> {
        let [_, module, name] = &function.segments.iter().collect::<Vec<_>>()[..] else { return None };
        if function.leading_colon.is_none() || module.ident != "__private" {
            return None;
        }
        match name.ident.to_string().as_str() {
            "split" => {
                let whole = self.expr(&call.args[0]);
                Some(self.add(expr, ExprKind::Split(whole)))
            }
            "fill" => {
                let args = call.args.iter().map(|arg| self.expr(arg)).collect();
                Some(self.add(expr, ExprKind::Wrap(function.clone(), args)))
            }
            "take_out" => {
                let args = vec![self.expr(&call.args[0])];
                Some(self.add(expr, ExprKind::Mutation { action: Action::TakeOut, args }))
            }
            _ => None,
        }
    }
}

impl Parted<'_> {
    fn tokens(&self, source: Source) -> Syn {
        let Source { split, exists, taken, outcome } = source;
        let (pattern, otherwise) = (self.inside, self.otherwise.tokens(outcome.as_ref()));
        let then = match &self.then {
            Syn::Block(syn::ExprBlock { label: None, block, .. }) => block.stmts.clone(),
            then => vec![Stmt::Expr(then.clone(), None)],
        };
        let test: Syn = parse_quote!(if #exists { let #pattern = #taken; #(#then)* } else #otherwise);
        match split {
            Some(split) => parse_quote!({ #split #test }),
            None => test,
        }
    }

    /// What is inside is all that comes of it: `Some(v) => v`
    fn yields(&self) -> bool {
        match (self.inside, &self.then) {
            (Pat::Ident(name), Syn::Path(value)) => value.path.get_ident() == Some(&name.ident),
            _ => false,
        }
    }
}

impl Otherwise<'_> {
    /// Nothing comes after it.
    fn leaves(&self) -> bool {
        match self {
            Otherwise::Always(value) => leaves(value),
            Otherwise::Errors(arms) => arms.iter().all(|(_, value)| leaves(value)),
        }
    }

    fn tokens(&self, outcome: Option<&Ident>) -> TokenStream {
        let error = quote!(::pullback::__private::error_of(#outcome));
        match self {
            Otherwise::Always(value @ (Syn::Block(syn::ExprBlock { label: None, .. }) | Syn::If(_))) => {
                quote!(#value)
            }
            Otherwise::Always(value) => quote!({ #value }),
            Otherwise::Errors(arms) => match &arms[..] {
                [(pattern @ Pat::Ident(_), value)] => quote!({ let #pattern = #error; #value }),
                arms => {
                    let arms = arms.iter().map(|(pattern, value)| quote!(#pattern => #value,));
                    quote!({ match #error { #(#arms)* } })
                }
            },
        }
    }
}

/// `Some`, `Ok` or `Err`
pub(crate) fn wraps(name: &Ident) -> bool {
    ["Some", "Ok", "Err"].iter().any(|known| name == known)
}

/// What comes after is never reached.
pub(crate) fn leaves(value: &Syn) -> bool {
    is_left(&parse_quote!({ #value }))
}

/// What a pattern binds that matches `Some` or `Ok`.
fn inside(pattern: &Pat) -> Option<&Pat> {
    match pattern {
        Pat::TupleStruct(whole) if whole.elems.len() == 1 => {
            let known = whole.path.is_ident("Some") || whole.path.is_ident("Ok");
            known.then(|| &whole.elems[0])
        }
        Pat::Paren(paren) => inside(&paren.pat),
        _ => None,
    }
}

/// The arms of a `match` on an `Option` or a `Result`.
fn arms(m: &syn::ExprMatch) -> Option<Parted<'_>> {
    let (with, without): (Vec<_>, Vec<_>) = m.arms.iter().partition(|arm| inside(&arm.pat).is_some());
    let [arm] = with[..] else { return None };
    let error = |arm: &syn::Arm| matches!(&arm.pat, Pat::TupleStruct(whole) if whole.path.is_ident("Err") && whole.elems.len() == 1);
    let nothing = |pattern: &Pat| match pattern {
        Pat::Ident(name) => name.ident == "None",
        Pat::TupleStruct(whole) => {
            whole.path.is_ident("Err") && matches!(whole.elems.first(), Some(Pat::Wild(_)))
        }
        pattern => matches!(pattern, Pat::Wild(_)),
    };
    let otherwise = match &without[..] {
        [other] if nothing(&other.pat) => Otherwise::Always((*other.body).clone()),
        others if !others.is_empty() && others.iter().all(|arm| error(arm)) => {
            let errors = others.iter().filter_map(|arm| match &arm.pat {
                Pat::TupleStruct(whole) => Some((&whole.elems[0], &*arm.body)),
                _ => None,
            });
            Otherwise::Errors(errors.collect())
        }
        _ => return None,
    };
    Some(Parted { inside: inside(&arm.pat)?, then: (*arm.body).clone(), otherwise })
}
