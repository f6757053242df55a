//! What becomes of arguments that calls take by value.
//!
//! A rule has them lent, and where its function moves one, or changes it, the rule makes a copy. When an argument is of no more use, its
//! memory goes to the rule for the next copy: by way of callers that have had it lent themselves, in their order.

use std::collections::HashMap;

use proc_macro2::TokenStream;
use quote::quote;
use syn::Ident;

use crate::calls::Callee;
use crate::program::*;
use crate::reverse::Reverse;
use crate::signature::Signature;

/// A rule that has something lent, or a part of it.
#[derive(PartialEq)]
struct Taker {
    rule: Ident,
    parameter: usize,
    fields: Vec<syn::Member>,
}

impl Taker {
    fn takes_part(&self) -> bool {
        !self.fields.is_empty()
    }

    /// Hands `argument` to the rule.
    fn reclaim(&self, argument: &Ident) -> TokenStream {
        let Taker { rule, parameter, .. } = self;
        quote!(#rule.reclaim_argument(#parameter, #argument))
    }

    /// Whether the rule waits for something.
    fn waits(&self) -> TokenStream {
        let Taker { rule, parameter, .. } = self;
        quote!(#rule.reclaim_argument(#parameter, &mut ()))
    }

    /// Hands the part of `whole` to the rule.
    fn reclaim_part(&self, whole: &Ident) -> TokenStream {
        let Taker { rule, parameter, fields } = self;
        quote!(#rule.reclaim_argument(#parameter, &mut ::core::option::Option::Some(#whole #(.#fields)*)))
    }
}

impl Reverse<'_> {
    /// What becomes of the memory of `vector`, which is of no more use: it goes back to the `slot`, if it is from there, or to a call that
    /// has taken what was moved to this variable.
    pub(crate) fn given_back(
        &mut self,
        slot: Option<&Ident>,
        vector: &TokenStream,
        id: Option<VarId>,
    ) -> TokenStream {
        let (rest, argument) = (Program::fresh("rest"), Program::fresh("argument"));
        let takers = id.map(|id| self.takers(id)).unwrap_or_default();
        let reclaims: Vec<_> = takers.iter().map(|taker| taker.reclaim(&argument)).collect();
        match (slot, reclaims.is_empty()) {
            (None, true) => quote!(),
            (Some(slot), true) => quote!(#slot.give(#vector);),
            (None, false) => quote!(__pb::unless_reclaimed(#vector, |#argument| #(#reclaims)||*);),
            (Some(slot), false) => quote! {
                if let Some(#rest) = #slot.give(#vector) {
                    __pb::unless_reclaimed(#rest, |#argument| #(#reclaims)||*);
                }
            },
        }
    }

    /// The rules of calls that take the vector by value, or one that it may be moved to.
    fn takers(&mut self, id: VarId) -> Vec<Taker> {
        let program = self.program;
        if program.taken.is_empty() {
            return Vec::new();
        }
        let pool = |id: VarId| program.variables[id].pool;
        // With its rows.
        let whole = program.variables[id].row_of.unwrap_or(id);
        let taken = |arg: ExprId, place: &Place| {
            program.taken.contains(&arg) && [pool(id), pool(whole)].contains(&pool(place.base))
        };
        let (mut found, later) = self.lent_to(taken);
        self.later_takers.extend(later);
        found.retain(|taker| !taker.takes_part());
        found
    }

    /// The struct is taken apart into active locals.
    pub(crate) fn moves_parts(&self, literal: &StructLiteral) -> bool {
        let program = self.program;
        let active = |id: VarId| program.variables[id].active;
        literal.fields.iter().any(|(_, field)| program.moved_in(*field).into_iter().any(|(_, id)| active(id)))
    }

    /// Some call certainly takes the variable by value, or one that it may be moved to: a method with such a name, or any function.
    pub(crate) fn is_taken(&self, id: VarId) -> bool {
        let program = self.program;
        let pool = |id: VarId| program.variables[id].pool;
        program.exprs.iter().any(|expr| {
            let ExprKind::Call { function, args } = &expr.kind else { return false };
            args.iter().enumerate().any(|(i, arg)| {
                let by_method = match function {
                    Callee::Method(name, _) | Callee::OfPart(name, _) if i == 0 => {
                        let name = name.to_string();
                        !name.starts_with("with_") && !name.starts_with("into_")
                    }
                    _ => false,
                };
                let ExprKind::Borrow { place, .. } = &program.exprs[*arg].kind else { return false };
                program.taken.contains(arg) && pool(place.base) == pool(id) && !by_method
            })
        })
    }

    /// The same for what a call has returned, and another has taken.
    pub(crate) fn result_given_back(&mut self, id: VarId) -> TokenStream {
        let variable = &self.program.variables[id];
        let owns = variable.memory || self.program.may_own(id);
        let level = self.level_of(variable.block);
        // Of several that one `let` binds the first has taken them all back.
        let there = self.levels[level].current.contains_key(&id);
        // Those that are vectors here and carry a gradient have a slot.
        let slot = variable.heap && variable.active;
        let constant = !variable.heap && !variable.active;
        if !owns || slot || constant || !there || self.takers(id).is_empty() {
            return TokenStream::new();
        }
        let value = self.any_value(id);
        self.given_back(None, &value, Some(id))
    }

    fn is_slot(&self, name: &Ident) -> bool {
        self.slots.iter().any(|slot| slot.name == *name)
    }

    /// The rules of all calls that have a slot.
    pub(crate) fn names_of_rules(&self) -> HashMap<ExprId, Ident> {
        let named = self.rules.iter().filter(|(_, rule)| self.is_slot(rule));
        named.map(|(call, rule)| (*call, rule.clone())).collect()
    }

    /// Something was given back before it was known to which rules it might go.
    pub(crate) fn missed_takers(&self) -> bool {
        self.later_takers.iter().any(|call| self.rules.contains_key(call))
    }

    /// The rules of calls with arguments such as `taken` says, which are variables or fields; and the calls that the reverse pass has not come
    /// to yet.
    fn lent_to(&self, taken: impl Fn(ExprId, &Place) -> bool) -> (Vec<Taker>, Vec<ExprId>) {
        let program = self.program;
        let (mut found, mut later) = (Vec::new(), Vec::new());
        for (call, expr) in program.exprs.iter().enumerate() {
            let ExprKind::Call { function, args } = &expr.kind else { continue };
            if matches!(function, Callee::Parameter(..)) || program.with_closures(args) {
                continue;
            }
            let rule = self.rules.get(&call);
            if rule.is_some_and(|rule| !self.is_slot(rule)) {
                continue;
            }
            let rule = rule.or_else(|| self.rule_names.get(&call));
            for (i, &arg) in args.iter().enumerate() {
                let (ExprKind::Borrow { place, .. } | ExprKind::Read(place)) = &program.exprs[arg].kind
                else {
                    continue;
                };
                let mut followed = place.projections.iter().filter(|p| !matches!(p, Projection::Deref));
                let field = |projection: &Projection| match projection {
                    Projection::Field(member) => Some(member.clone()),
                    _ => None,
                };
                let Some(fields) = followed.try_fold(Vec::new(), |mut fields, projection| {
                    fields.push(field(projection)?);
                    Some(fields)
                }) else {
                    continue;
                };
                if !taken(arg, place) {
                    continue;
                }
                match rule.map(|rule| Taker { rule: rule.clone(), parameter: i, fields }) {
                    Some(taker) if !found.contains(&taker) => found.push(taker),
                    Some(_) => {}
                    None => later.push(call),
                }
            }
        }
        (found, later)
    }

    /// The arms of a `match` on the number of a parameter that the function owns: what its memory may serve.
    pub(crate) fn reclaiming(&self, signature: &Signature) -> Option<TokenStream> {
        let argument = Program::fresh("argument");
        let parameters = signature.parameters.iter().zip(&self.program.parameters).enumerate();
        let arms: Vec<_> = parameters
            .filter_map(|(number, (parameter, id))| {
                let id = id.filter(|_| parameter.owned)?;
                let takers = self.lent_to(|_, place| place.base == id).0;
                let (parts, wholes): (Vec<_>, Vec<_>) = takers.iter().partition(|taker| taker.takes_part());
                let mut reclaims: Vec<_> = wholes.iter().map(|taker| taker.reclaim(&argument)).collect();
                if !parts.is_empty() {
                    let (ty, whole) = (&parameter.ty, Program::fresh("whole"));
                    let wait = parts.iter().map(|taker| taker.waits());
                    let parts = parts.iter().map(|taker| taker.reclaim_part(&whole));
                    reclaims.push(
                        quote!(__pb::reclaim_parts(#argument, #(#wait)||*, |#whole: #ty| { #(#parts;)* })),
                    );
                }
                (!reclaims.is_empty())
                    .then(|| quote!(__pb::Request::Reclaim(#number, #argument) => #(#reclaims)||*,))
            })
            .collect();
        (!arms.is_empty()).then(|| quote!(#(#arms)*))
    }
}
