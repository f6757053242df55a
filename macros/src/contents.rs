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

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{Expr as Syn, Ident, Pat, Stmt, parse_quote};

use crate::boxes::referred_to_inside;
use crate::escape::{escapes, is_left};
use crate::kind::{changes_receiver, kind_of_type};
use crate::mutation::{Action, owned_type};
use crate::outcome::inside_type;
use crate::parse::{Binding, Parser};
use crate::program::*;
use crate::rename::path;
use crate::selected::{INSIDE, INSIDE_MUT, REFERRED};
use crate::uses::is_name;
use crate::variants::{guarded, is_part};

/// The pattern of what is inside, and the rest of the arms.
pub(crate) struct Parted<'s> {
    pub(crate) inside: &'s Pat,
    pub(crate) then: Syn,
    otherwise: Otherwise<'s>,
}

/// What is done where there is nothing inside.
pub(crate) enum Otherwise<'s> {
    Always(Syn),
    /// By the error.
    Errors(Vec<(&'s Pat, &'s Syn)>),
}

/// Where a vector may be taken out.
pub(crate) struct Source {
    /// What goes before.
    split: Option<Stmt>,
    /// There is one.
    exists: Syn,
    /// It, taken out.
    taken: Taken,
    /// How the call ended that has returned it.
    outcome: Option<Ident>,
    /// What is taken out is referred to by the pattern.
    by_reference: bool,
    /// Its type, if that is known to be an array.
    ty: Option<TokenStream>,
}

/// What is taken out.
pub(crate) enum Taken {
    Whole(Syn),
    /// The parts of a tuple: see [`crate::parts_inside`].
    Parts(Vec<Syn>),
}

impl Source {
    /// Of a tuple.
    pub(crate) fn of_parts(outcome: Ident, parts: Vec<Syn>, split: Stmt) -> Self {
        Source {
            split: Some(split),
            exists: parse_quote!(::pullback::__private::is_filled(&#outcome)),
            taken: Taken::Parts(parts),
            outcome: Some(outcome),
            by_reference: false,
            ty: None,
        }
    }

    fn of(outcome: Ident, inside: Ident, split: Option<Stmt>, by_reference: bool) -> Self {
        Source {
            split,
            exists: parse_quote!(#inside.is_some()),
            taken: Taken::Whole(parse_quote!(::pullback::__private::take_out(&mut #inside))),
            outcome: Some(outcome),
            by_reference,
            ty: None,
        }
    }

    /// Binds what is inside.
    fn bind(&self, pattern: &Pat, ty: Option<&syn::Type>) -> Vec<Stmt> {
        let taken = match &self.taken {
            Taken::Whole(taken) => taken,
            Taken::Parts(parts) => return Taken::bind_parts(parts, pattern, ty),
        };
        let ty = ty.map(|ty| quote!(: #ty)).or_else(|| self.ty.clone());
        if self.by_reference {
            let owned = Program::fresh("owned");
            return vec![parse_quote!(let #owned = #taken;), parse_quote!(let #pattern #ty = &#owned;)];
        }
        vec![parse_quote!(let #pattern #ty = #taken;)]
    }
}

impl Parser<'_> {
    /// `if let Some(v) = f(x) { … } else { … }`
    pub(crate) fn if_inside(&mut self, branch: &syn::ExprIf) -> Option<Syn> {
        let Syn::Let(binding) = &*branch.cond else { return None };
        let (inside, mut block) = (inside(&binding.pat)?, branch.then_branch.clone());
        let source = match self.unboxes(inside, &binding.expr, &mut block.stmts) {
            true => self.halves(&binding.expr)?,
            false => self.source_of(&binding.expr, inside, &block.stmts)?,
        };
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
        if let Some(branch) = self.match_guarded(m) {
            return Some(branch);
        }
        let mut parted = arms(m)?;
        let mut body = [Stmt::Expr(parted.then, None)];
        let source = match self.unboxes(parted.inside, &m.expr, &mut body) {
            true => self.halves(&m.expr)?,
            false => self.source_of(&m.expr, parted.inside, &body)?,
        };
        let [Stmt::Expr(then, None)] = body else { unreachable!("it stays an expression") };
        parted.then = then;
        Some(parted.tokens(source))
    }

    /// What `name` refers to in `body` is in a box inside of `whole`, an option that stays where it is: `**name`, which becomes `*name`.
    fn unboxes(&mut self, name: &Pat, whole: &Syn, body: &mut [Stmt]) -> bool {
        let Pat::Ident(name) = name else { return false };
        let referred = self.referred_option(whole).is_some_and(|(option, _)| !self.may_be_missing(option));
        referred && referred_to_inside(std::slice::from_ref(&name.ident), body)
    }

    /// `match option { Some(v) if c => …, rest }` of what stays where it is: `if let Some(v) = option && c { … } else { match option { rest } }`
    fn match_guarded(&mut self, m: &syn::ExprMatch) -> Option<Syn> {
        let (first, rest) = m.arms.split_first()?;
        let (pattern, guard) = guarded(&first.pat);
        let (guard, whole, then) = (guard?, &m.expr, &*first.body);
        if rest.is_empty() || !self.refers_inside(pattern, whole, then) {
            return None;
        }
        let otherwise: Syn = match rest {
            [last] if matches!(last.pat, Pat::Wild(_)) => (*last.body).clone(),
            _ => parse_quote!(match #whole { #(#rest)* }),
        };
        Some(parse_quote!(if let #pattern = #whole && #guard { #then } else { #otherwise }))
    }

    /// `let Some(v) = f(x) else { … };`, `let v = f(x)?;`, `let v = match f(x) { Some(v) => v, None => … };` and
    /// `let v = f(x).unwrap_or_else(|| …);`, in front of `rest`.
    pub(crate) fn let_inside<'s>(
        &mut self,
        local: &syn::Local,
        rest: impl IntoIterator<Item = &'s Stmt> + Clone,
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
            (None, Syn::MethodCall(call)) => {
                let otherwise = Otherwise::Always(self.default_of(call)?);
                let then = match pattern {
                    Pat::Ident(name) => path(&name.ident),
                    // It panics, or each name gets its part.
                    Pat::Tuple(names) if otherwise.leaves() => parse_quote!(#names),
                    _ => return None,
                };
                (pattern, &*call.receiver, Some(Parted { inside: pattern, then, otherwise }))
            }
            _ => return None,
        };
        if parted
            .as_ref()
            .is_some_and(|parted| !parted.yields() || self.is_number_otherwise(&parted.otherwise))
        {
            return None;
        }
        // `_` is what is taken for a number.
        if ty.is_some_and(|ty| {
            matches!(kind_of_type(ty), Kind::Float | Kind::Inert) || matches!(**ty, syn::Type::Infer(_))
        }) {
            return None;
        }
        let mut source = match (told, pattern) {
            (true, _) => self.halves(whole)?,
            (false, Pat::Tuple(names)) => self.source_of_parts(whole, names, ty.map(|ty| &**ty), rest)?,
            (false, _) => self.source_of(whole, pattern, rest)?,
        };
        let (split, exists, outcome) = (source.split.take(), &source.exists, &source.outcome);
        let otherwise = match (&init.diverge, &parted) {
            (Some((_, diverge)), _) => quote!(#diverge),
            (None, None) => {
                let outcome = outcome.as_ref().map_or(parse_quote!(::core::option::Option::None::<()>), path);
                let stop = self.stop(parse_quote!(::pullback::__private::stop_with(#outcome)));
                quote!({ #stop })
            }
            (None, Some(parted)) => parted.otherwise.tokens(outcome.as_ref()),
        };
        let mut out: Vec<Stmt> = split.into_iter().collect();
        if parted.is_none_or(|parted| parted.otherwise.leaves()) {
            out.push(parse_quote!(if !(#exists) #otherwise));
            out.extend(source.bind(pattern, ty.map(|ty| &**ty)));
        } else {
            let Taken::Whole(taken) = &source.taken else { return None };
            let ty = ty.map(|ty| quote!(: #ty));
            out.push(parse_quote!(let #pattern #ty = if #exists { #taken } else #otherwise;));
        }
        Some(out)
    }

    /// There is a number where there is nothing inside, as its syntax tells.
    fn is_number_otherwise(&self, otherwise: &Otherwise<'_>) -> bool {
        match otherwise {
            Otherwise::Always(value) => self.is_number(value),
            Otherwise::Errors(arms) => arms.iter().any(|(_, value)| self.is_number(value)),
        }
    }

    /// What stands for what is not inside: `other` of `option.unwrap_or(other)` and the like.
    fn default_of(&mut self, call: &syn::ExprMethodCall) -> Option<Syn> {
        match (call.method.to_string().as_str(), call.args.first()) {
            ("unwrap_or_default", None) => Some(parse_quote!(::core::default::Default::default())),
            ("unwrap" | "expect", _) => {
                // It panics as the primal does.
                let outcome: Syn = match self.named_halves(&call.receiver) {
                    Some((outcome, ..)) => path(&outcome),
                    None if self.referred_option(&call.receiver).is_some() => {
                        parse_quote!(::core::option::Option::None::<()>)
                    }
                    None => return None,
                };
                let (method, args) = (&call.method, &call.args);
                Some(parse_quote!({
                    #outcome.#method(#args);
                    unreachable!()
                }))
            }
            ("unwrap_or", Some(other)) if self.is_pure(other) => Some(other.clone()),
            ("unwrap_or_else", Some(Syn::Closure(other))) => {
                let ignores = other.inputs.iter().all(|input| matches!(input, Pat::Wild(_)));
                (ignores && !escapes(&other.body)).then(|| (*other.body).clone())
            }
            _ => None,
        }
    }

    /// Where `whole` may have a vector that `pattern` gets, as what is done with that in `scope` tells.
    fn source_of<'s>(
        &mut self,
        whole: &Syn,
        pattern: &Pat,
        scope: impl IntoIterator<Item = &'s Stmt> + Clone,
    ) -> Option<Source> {
        if let Pat::Tuple(names) = pattern {
            return self.source_of_parts(whole, names, None, scope);
        }
        let ignored = matches!(pattern, Pat::Wild(_)) && self.may_be_missing(whole);
        if !ignored && !is_name(pattern) {
            return None;
        }
        if let Some(rows) = self.popped_from(whole) {
            let (exists, taken) =
                (parse_quote!(!#rows.is_empty()), Taken::Whole(parse_quote!(#whole.unwrap())));
            return Some(Source { split: None, exists, taken, outcome: None, by_reference: false, ty: None });
        }
        let array = referred(whole).is_some_and(|(option, _)| self.evidence.shape_of(option).is_some());
        let told = array || self.is_told_to_own(whole);
        let field = self.is_struct(pattern, scope.clone()) && self.referred_option(whole).is_some();
        if told || field || self.is_handled(pattern, scope) { self.halves(whole) } else { None }
    }

    /// `let (outcome, mut inside) = split(whole);`, if `whole` is a call that may carry a gradient.
    fn halves(&mut self, whole: &Syn) -> Option<Source> {
        if let Some((outcome, inside, by_reference)) = self.named_halves(whole) {
            return Some(Source::of(outcome, inside, None, by_reference));
        }
        if let Some((option, unique)) = self.referred_option(whole) {
            let inside = match self.may_be_missing(option) {
                true => REFERRED,
                false if unique => INSIDE_MUT,
                false => INSIDE,
            };
            let inside = Ident::new(inside, Span::mixed_site());
            let reference: Syn = match unique {
                true => parse_quote!(&mut *#option.#inside()),
                false => parse_quote!(&*#option.#inside()),
            };
            let array = self.evidence.shape_of(option).map(|shape| shape.to_type());
            return Some(Source {
                split: None,
                exists: parse_quote!(#option.is_some()),
                taken: Taken::Whole(reference),
                outcome: None,
                by_reference: false,
                ty: array.map(|ty| quote!(: &::pullback::__private::ndarray::#ty)),
            });
        }
        if !self.may_be_split(whole) {
            return None;
        }
        let (outcome, inside) = (self.parts.fresh("outcome"), self.parts.fresh("inside"));
        let split = parse_quote!(let (#outcome, mut #inside) = ::pullback::__private::split(#whole););
        Some(Source::of(outcome, inside, Some(split), false))
    }

    /// `pattern` refers to what is inside of `whole`, which stays where it is, and handles that as a vector in `body`.
    pub(crate) fn refers_inside(&mut self, pattern: &Pat, whole: &Syn, body: &Syn) -> bool {
        let Some(pattern) = inside(pattern) else { return false };
        let (told, body) = (self.is_told_to_own(whole), [&Stmt::Expr(body.clone(), None)]);
        (told || self.is_struct(pattern, body) || self.is_handled(pattern, body))
            && self.referred_option(whole).is_some()
    }

    /// `whole` is a parameter `&Option<Vec<f64>>` or `Option<&[f64]>`, by its name.
    fn is_told_to_own(&self, whole: &Syn) -> bool {
        let Some(Syn::Path(name)) = referred(whole).map(|(option, _)| option) else { return false };
        let Some(Binding::Variable(id)) = name.path.get_ident().and_then(|name| self.lookup(name)) else {
            return false;
        };
        let (variable, inside) = (&self.program.variables[*id], self.types.get(id).and_then(inside_type));
        variable.optional || variable.by_reference() && inside.is_some_and(|inside| owned_type(&inside))
    }

    /// The place in `&place` and `place.as_ref()`, if that is a field, or what a parameter refers to: an `Option` that stays where it is; and
    /// whether it may be written to.
    fn referred_option<'w>(&mut self, whole: &'w Syn) -> Option<(&'w Syn, bool)> {
        let (option, mut unique) = referred(whole)?;
        let place = self.place(option).filter(|_| self.suspects.any(option))?;
        if let Syn::Path(path) = whole {
            unique = self.is_unique(path.path.get_ident()?);
        }
        let told = self.types.get(&place.base).is_some_and(|ty| inside_type(ty).is_some());
        let whole = place.projections.is_empty() && self.program.variables[place.base].by_reference() && told;
        let part = match place.projections.last() {
            Some(Projection::Field(_) | Projection::Index(_)) => true,
            Some(Projection::Selected(method, ..)) => is_part(method),
            _ => false,
        };
        let is_variable = matches!(option, Syn::Path(path) if matches!(self.lookup(path.path.get_ident()?), Some(Binding::Variable(_))));
        let boxed = place.projections.is_empty() && self.program.boxes.contains(&place.base);
        (part && !is_variable || whole || boxed).then_some((option, unique))
    }

    /// It is a call that may carry a gradient, and return an `Option` or a `Result`.
    pub(crate) fn may_be_split(&self, whole: &Syn) -> bool {
        let called = match whole {
            Syn::Call(call) => {
                let fills =
                    |path: &syn::ExprPath| path.path.segments.last().is_some_and(|last| wraps(&last.ident));
                self.closure(&call.func).is_none()
                    && !self.chooses(call)
                    && !matches!(&*call.func, Syn::Path(path) if fills(path))
            }
            Syn::MethodCall(call) => !changes_receiver(&call.method.to_string()) && !self.picks(call),
            _ => false,
        };
        called && self.suspects.any(whole)
    }

    /// The calls that this module writes.
    pub(crate) fn contents(
        &mut self,
        expr: &Syn,
        call: &syn::ExprCall,
        function: &syn::Path,
    ) -> Option<ExprId> {
        match of_ours(function)?.to_string().as_str() {
            "split" | "split_parts" => {
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
            // As above, of what need not be a vector.
            "move_out" => {
                let args = vec![self.expr(&call.args[0])];
                let ExprKind::Borrow { place, .. } = &self.program.exprs[args[0]].kind else { return None };
                let (id, name) = (place.base, &self.program.variables[place.base].name);
                let moved = parse_quote!((&&&::pullback::__private::Leaving::of(&#name)).leave(&mut #name));
                self.program.departing.insert(id);
                let moved = self.add(&moved, ExprKind::Mutation { action: Action::TakeOut, args });
                self.program.rewritten.insert(moved);
                Some(moved)
            }
            _ => None,
        }
    }
}

impl Parted<'_> {
    fn tokens(&self, source: Source) -> Syn {
        let bound = source.bind(self.inside, None);
        let Source { split, exists, outcome, .. } = source;
        let otherwise = self.otherwise.tokens(outcome.as_ref());
        let then = match &self.then {
            Syn::Block(syn::ExprBlock { label: None, block, .. }) => block.stmts.clone(),
            then => vec![Stmt::Expr(then.clone(), None)],
        };
        let test: Syn = parse_quote!(if #exists { #(#bound)* #(#then)* } else #otherwise);
        match split {
            Some(split) => parse_quote!({ #split #test }),
            None => test,
        }
    }

    /// What is inside is all that comes of it: `Some(v) => v`
    fn yields(&self) -> bool {
        let same = |name: &Pat, value: &Syn| match (name, value) {
            (Pat::Ident(name), Syn::Path(value)) => value.path.get_ident() == Some(&name.ident),
            _ => false,
        };
        match (self.inside, &self.then) {
            (Pat::Tuple(names), Syn::Tuple(values)) => {
                names.elems.len() == values.elems.len()
                    && names.elems.iter().zip(&values.elems).all(|(name, value)| same(name, value))
            }
            (name, value) => same(name, value),
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

/// The name of a function of ours, as this module and others call it: `::pullback::__private::split`
pub(crate) fn of_ours(function: &syn::Path) -> Option<&Ident> {
    let [_, module, name] = &function.segments.iter().collect::<Vec<_>>()[..] else { return None };
    (function.leading_colon.is_some() && module.ident == "__private").then_some(&name.ident)
}

/// The function by which this module takes what is inside from how a call ended.
pub(crate) fn splits(function: &Syn) -> bool {
    matches!(function, Syn::Path(path) if of_ours(&path.path).is_some_and(|name| name == "split" || name == "split_parts"))
}

/// `Some`, `Ok` or `Err`
pub(crate) fn wraps(name: &Ident) -> bool {
    ["Some", "Ok", "Err"].iter().any(|known| name == known)
}

/// What comes after is never reached.
pub(crate) fn leaves(value: &Syn) -> bool {
    is_left(&parse_quote!({ #value }))
}

/// What is looked at in `&option`, `option.as_ref()`, and where the option is a variable that refers to one; and whether it may be written to.
pub(crate) fn referred(whole: &Syn) -> Option<(&Syn, bool)> {
    match whole {
        Syn::Reference(reference) => Some((&reference.expr, reference.mutability.is_some())),
        Syn::MethodCall(call) if call.args.is_empty() => match call.method.to_string().as_str() {
            "as_ref" | "as_deref" => Some((&call.receiver, false)),
            "as_mut" | "as_deref_mut" => Some((&call.receiver, true)),
            _ => None,
        },
        Syn::Path(_) => Some((whole, false)),
        _ => None,
    }
}

/// What a pattern binds that matches `Some` or `Ok`.
pub(crate) fn inside(pattern: &Pat) -> Option<&Pat> {
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
pub(crate) fn arms(m: &syn::ExprMatch) -> Option<Parted<'_>> {
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
